# Where connections go: TCP, TLS, servers by name, with passwords and without; what a proxy in between sees of what is counted; results
# that are larger than memory should be; pg_stat_statements.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use IO::Select;
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use RtbTest;
use Test::More;
use Time::HiRes qw(sleep);

my $has_tls = system('openssl version >/dev/null 2>&1') == 0;
my $conf = "listen_addresses = '127.0.0.1'\nshared_preload_libraries = 'pg_stat_statements'\nlog_statement = all\nlog_min_messages = debug1\n";
my $node = new_node('main', $conf);
my $data = $node->data_dir;
my $port = $node->port;

sub ask
{
	my ($arguments, %opt) = @_;
	my ($rc, $out, $err) = $node->psql($opt{db} // 'postgres', ($opt{before} // '') . "SELECT " . ($opt{what} // 'a.rows') . " FROM rtbench.ask($arguments) a");
	$err =~ s/^psql:[^ ]* //mg;
	return $rc == 0 ? $out : $err;
}

#
# transports
#
is(ask("'SELECT 1', transport => 'tcp'"), '1', 'tcp');
is(ask("'SELECT inet_client_addr() IS NULL', transport => 'tcp', protocol => 'simple'", what => 'a.tls IS NULL'), 't', 'tcp has no TLS');
like(ask("'SELECT 1', transport => 'tls'"), qr/ERROR:  cannot connect by transport "tls"\nDETAIL:  this server has TLS switched off: ssl is off/, 'tls when it is off');
$node->safe_psql('postgres', "CREATE SERVER insists FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'postgres', sslmode 'require');
	CREATE USER MAPPING FOR CURRENT_USER SERVER insists");
like(ask("'SELECT 1', server => 'insists'"), qr/ERROR:  could not connect to "insists"\nDETAIL:  .*server does not support SSL, but SSL was required/, 'TLS required and missing');
SKIP:
{
	skip 'no openssl', 3 unless $has_tls;
	system("openssl req -new -x509 -days 2 -nodes -subj /CN=localhost -keyout '$data/server.key' -out '$data/server.crt' >/dev/null 2>&1");
	chmod 0600, "$data/server.key";
	$node->append_conf('postgresql.conf', "ssl = on\n");
	$node->restart;
	like(ask("'SELECT 1', transport => 'tls'", what => 'a.tls'), qr/^TLSv1\.\d, /, 'tls');
	is(ask("'SELECT :n::int', transport => 'tls', times => 100", what => '(a.bytes_sent, a.bytes_received)'),
		ask("'SELECT :n::int', transport => 'unix', times => 100", what => '(a.bytes_sent, a.bytes_received)'), 'bytes are those of the protocol, whatever is around them');
	is(ask("'SELECT 1', server => 'insists'"), '1', 'TLS required and there');
}

#
# a plain role, a password that is asked for; wrong ones; nothing of it is shown or logged
#
$node->safe_psql('postgres', "SET log_statement = none; CREATE ROLE plain LOGIN PASSWORD 'open sesame'; GRANT USAGE ON FOREIGN SERVER insists TO plain;
	CREATE SERVER plain_loop FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'postgres'); GRANT USAGE ON FOREIGN SERVER plain_loop TO plain;
	CREATE USER MAPPING FOR plain SERVER plain_loop OPTIONS (user 'plain', password 'open sesame')");
my $hba = slurp_file("$data/pg_hba.conf");
open my $fh, '>', "$data/pg_hba.conf" or die;
print $fh "host all plain 127.0.0.1/32 scram-sha-256\n$hba";
close $fh;
$node->reload;
is(ask("'SELECT 1', server => 'plain_loop'", before => 'SET ROLE plain; '), '1', 'a plain role with its password');
is(ask("'SELECT session_user', server => 'plain_loop'", before => 'SET ROLE plain; ', what => 'a.notices'), '0', 'and again');
$node->safe_psql('postgres', "SET log_statement = none; ALTER USER MAPPING FOR plain SERVER plain_loop OPTIONS (SET password 'close sesame')");
my $wrong = ask("'SELECT 1', server => 'plain_loop'", before => 'SET ROLE plain; ');
like($wrong, qr/could not connect to "plain_loop"\nDETAIL:  .*password authentication failed for user "plain"/, 'a wrong password');
$node->safe_psql('postgres', "ALTER USER MAPPING FOR plain SERVER plain_loop OPTIONS (DROP password)");
like(ask("'SELECT 1', server => 'plain_loop'", before => 'SET ROLE plain; '), qr/password is required/, 'no password');
$node->safe_psql('postgres', "CREATE USER MAPPING FOR PUBLIC SERVER plain_loop OPTIONS (user 'plain')");
like(ask("'SELECT 1', server => 'plain_loop'"), qr/no password supplied\nHINT:  Give the password: ALTER USER MAPPING/, 'a superuser without the password that is asked for');
unlike($wrong . slurp_file($node->logfile), qr/sesame/, 'no password is shown or logged');

#
# counted bytes against those that a proxy sees: the difference of two calls, so that the session's start is not in
#
my $listen = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die $!;
my $seen_file = "$PostgreSQL::Test::Utils::tmp_check/proxy";
my $proxy = fork() // die;
if ($proxy == 0)
{
	while (my $client = $listen->accept)
	{
		my $server = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port") or die $!;
		my %bytes = ($client => 0, $server => 0);
		my $select = IO::Select->new($client, $server);
		CONNECTION: while (1)
		{
			foreach my $from ($select->can_read)
			{
				my $n = sysread($from, my $buffer, 65536);
				last CONNECTION unless $n;
				$bytes{$from} += $n;
				my $to = $from == $client ? $server : $client;
				for (my $done = 0; $done < $n;) { $done += syswrite($to, $buffer, $n - $done, $done) // last CONNECTION }
			}
		}
		close $server;
		append_to_file($seen_file, "$bytes{$client} $bytes{$server}\n");
		close $client;
	}
	require POSIX;
	POSIX::_exit(0);
}
$node->safe_psql('postgres', "CREATE SERVER proxy FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '" . $listen->sockport . "', dbname 'postgres', sslmode 'disable', gssencmode 'disable');
	CREATE USER MAPPING FOR PUBLIC SERVER proxy; CREATE TABLE kept (a int, b text)");
my $calls = 0;
foreach my $call ("'SELECT :n::int, NULL, repeat(''x'', :n::int)', protocol => 'simple'", "'SELECT :n::int, NULL, repeat(''x'', :n::int)', protocol => 'extended'",
	"'SELECT :n::int, NULL, repeat(''x'', :n::int)', protocol => 'prepared'", "'UPDATE kept SET a = 1 WHERE a = :n', protocol => 'pipeline', batch => 7",
	"'DELETE FROM kept WHERE a = :n', protocol => 'multi', batch => 7", "'COPY kept FROM STDIN', protocol => 'copy', copy_row => E':n\\t:n'",
	"'SELECT generate_series(1, 20)', protocol => 'simple', fetch_size => 6", "'COPY (SELECT 1, 2 FROM generate_series(1, 20)) TO STDOUT', protocol => 'simple'",
	# some results whole, some row by row
	(map { "'SELECT generate_series(1, CASE :n::int % 5 WHEN 0 THEN 2000 ELSE 1 END)', protocol => '$_', batch => 7" } 'prepared', 'multi', 'pipeline'),
	"'DO \$x\$ BEGIN RAISE NOTICE ''told''; END \$x\$', protocol => 'prepared'")
{
	my @counted = map { [ split / /, ask("$call, server => 'proxy', times => $_", what => "a.bytes_sent || ' ' || a.bytes_received", before => 'SET client_min_messages = error; ') ] } (1, 150);
	$calls += 2;
	for (1 .. 100) { last if -e $seen_file && (() = slurp_file($seen_file) =~ /\n/g) >= $calls; sleep 0.05 }
	my @passed = map { [ split ] } (split /\n/, slurp_file($seen_file))[-2, -1];
	is("@{[ map { $counted[1][$_] - $counted[0][$_] } 0, 1 ]}", "@{[ map { $passed[1][$_] - $passed[0][$_] } 0, 1 ]}", "bytes sent and received: $call");
}
kill 'KILL', $proxy;
waitpid $proxy, 0;

#
# ten million bytes of rows are not held: the backend's size after and before
#
my $size = "SELECT (regexp_match(pg_read_file('/proc/self/status'), 'VmHWM:\\s+(\\d+)'))[1]::int AS";
my $grown = $node->safe_psql('postgres', "SELECT a.rows FROM rtbench.ask('SELECT 1') a; $size before \\gset
	SELECT a.rows FROM rtbench.ask('SELECT g, repeat(''x'', 50) FROM generate_series(1, 1000000) g') a;
	SELECT a.rows FROM rtbench.ask('SELECT g, repeat(''x'', 50) FROM generate_series(1, 300000) g', protocol => 'simple', fetch_size => 1000) a;
	SELECT a.affected FROM rtbench.ask('COPY kept FROM STDIN', protocol => 'copy', copy_row => E':n\\txxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', times => 1000000) a;
	$size after \\gset\nSELECT :after - :before");
my @grown = split /\n/, $grown;
is("@grown[1 .. 3]", '1000000 300000 1000000', 'a million rows out and in');
cmp_ok($grown[4], '<', 8192, 'take no memory (kB)');
# nor is a result held where statements repeat, whatever they are sent by; each in a session of its own, whose size has not been larger
my $many = q{'SELECT g, repeat(''x'', 50) FROM generate_series(1, 300000) g'};
foreach my $call ((map { "$many, protocol => '$_', times => 2" } 'simple', 'extended', 'prepared', 'multi', 'pipeline'),
	# batches that are smaller, and a cursor whose portions are large
	"$many, protocol => 'multi', times => 2, batch => 1", "$many, protocol => 'pipeline', times => 2, batch => 1", "$many, protocol => 'simple', times => 2, fetch_size => 300000")
{
	my ($rows, $more) = split /\|/, $node->safe_psql('postgres', "SELECT a.rows FROM rtbench.ask('SELECT 1') a \\g /dev/null\n$size before \\gset
		SELECT a.rows FROM rtbench.ask($call) a \\gset\n$size after \\gset\nSELECT :rows, :after - :before");
	is($rows, 600000, "many rows, twice: $call");
	cmp_ok($more, '<', 8192, "many rows, twice, take no memory (kB): $call");
}
# of statements in one batch those that follow a large result
is(ask("'SELECT generate_series(1, CASE WHEN :n::int = 2 THEN 3000 ELSE :n::int END)', protocol => '$_', times => 7, batch => 5", what => "a.rows || ' ' || a.affected"), '3026 3026', "one large result among small ones: $_") foreach 'simple', 'extended', 'prepared', 'multi', 'pipeline';

#
# other encodings: the far end speaks the database's
#
$node->safe_psql('postgres', "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0; CREATE DATABASE ascii ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0");
foreach my $db ('latin', 'ascii')
{
	$node->safe_psql($db, 'CREATE EXTENSION rtbench');
	is(ask("convert_from('\\x53454c45435420312041532022e922', getdatabaseencoding()), protocol => 'simple'", db => $db, what => 'a.bytes_received'), 5 + 2 + 2 + 18 + 12 + 14 + 6, "$db: a column's name with one byte of its own");
}
$node->safe_psql('postgres', "CREATE SERVER latin FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'latin'); CREATE USER MAPPING FOR PUBLIC SERVER latin;
	CREATE DATABASE utf ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0");
$node->safe_psql('latin', "CREATE SERVER utf FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'utf'); CREATE USER MAPPING FOR PUBLIC SERVER utf");
like(ask("U&'DO \$x\$ BEGIN RAISE EXCEPTION ''\\00e9t\\00e9''; END \$x\$', server => 'utf'", db => 'latin', before => "SET client_encoding = 'UTF8'; "), qr/ERROR:  (\xe9t\xe9|\xc3\xa9t\xc3\xa9)\n/, 'an error of a server with another encoding');

#
# pg_stat_statements, and the round trip that the kernel knows
#
$node->safe_psql('postgres', 'CREATE EXTENSION pg_stat_statements; CREATE TABLE many (id int PRIMARY KEY); INSERT INTO many SELECT generate_series(1, 2000)');
$node->safe_psql('postgres', q{CREATE FUNCTION nested() RETURNS void LANGUAGE plpgsql AS $$ BEGIN FOR i IN 1..5000 LOOP PERFORM FROM many WHERE id = i; END LOOP; END $$;
SET pg_stat_statements.track = 'all'; SELECT pg_stat_statements_reset(); SELECT nested(); SELECT a.rows FROM rtbench.ask('DELETE FROM many WHERE id = :n', times => 1500) a});
my $prices = $node->safe_psql('postgres', "SELECT query, calls, rows_per_call, asking_ms, suspicion, \"window\" < '1 h' FROM rtbench.statement_prices(2) WHERE query ~ 'many|nested|total'");
like($prices, qr/^DELETE FROM many WHERE id = \$1\|1500\|1\.000\|3000\|one row per call, many calls\|t$/m, 'statement_prices: what was asked one by one');
like($prices, qr/^SELECT nested\(\)\|1\|1\.000\|2\.000\|\|t$/m, 'statement_prices: what was asked once');
unlike($prices, qr/PERFORM|5000/, 'statement_prices: nothing that was asked inside');
my $by_tcp = "host=127.0.0.1 port=$port dbname=postgres";
my $distance = $node->safe_psql('postgres', 'SELECT rtbench.my_round_trip() BETWEEN 0.001 AND 20, (SELECT asking_ms > 0 FROM rtbench.statement_prices(top => 0))', connstr => $by_tcp);
is($distance, 't|t', 'my_round_trip: by TCP it is known, and used');
is($node->safe_psql('postgres', 'SELECT rtbench.my_round_trip() IS NULL'), 't', 'my_round_trip: not on a unix socket');

# the price list with every way there is
my $ways = $node->safe_psql('postgres', "SELECT string_agg(DISTINCT transport, ' ' ORDER BY transport), count(*), count(microseconds) FROM rtbench.price_list('{latin}', max_time => '1 ms')");
is($ways, 'caller latin tcp tls unix worker|90|90', 'price list: every way') if $has_tls;
$node->stop;
done_testing();
