# Loads over connections: what is counted is what was committed there; another server with and without rtbench; who may; too few connections;
# and whatever ends a load (cancel, timeout, the end of the caller, of a session, of the keeper, of a far backend, kill -9), nothing is left at either end.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtbTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main', "max_worker_processes = 16\n");
# another server, at first without rtbench
my $far = PostgreSQL::Test::Cluster->new('far');
$far->init;
$far->append_conf('postgresql.conf', "autovacuum = off\nmax_connections = 12\nsuperuser_reserved_connections = 0\nmax_wal_senders = 0\n");
$far->start;
my ($host, $port) = ($far->host, $far->port);
$node->safe_psql('postgres', "CREATE SERVER far FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '$port', dbname 'postgres'); CREATE USER MAPPING FOR CURRENT_USER SERVER far");

sub run_sql
{
	my ($sql, %opt) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', 'SET client_min_messages = ' . ($opt{messages} // 'warning') . ";\n$sql", on_error_stop => 0);
	$err =~ s/^psql:[^ ]* //mg;
	return $err eq '' ? $out : "$out\n$err";
}

# as psql sends them, each a message of its own: CALL commits
sub load
{
	my ($groups, $rest, %opt) = @_;
	return "CALL rtbench.run_load(ARRAY[$groups], warmup => '0', $rest);\n";
}

sub far_is_clean
{
	my ($what) = @_;
	ok(defined seen($far, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench') AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%')", 10),
		"$what: nothing is left at the far end");
}

my $table = "setup => 'CREATE TABLE t (i int); INSERT INTO t VALUES (0)'";
my $insert = "rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT 1'), 3)";

#
# without rtbench there: what is committed is not looked at, which is said; so a log of all commits can be kept
#
$far->safe_psql('postgres', 'CREATE TABLE log (i int)');
my $logged = run_sql(load("rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO log VALUES (1)', 'SELECT 1'), 3)", "duration => '500 ms', server => 'far', $table")
	. "SELECT transactions > 0, transactions, errors, xids, waits, notes FROM rtbench.load_result();", messages => 'notice');
like($logged, qr/^t\|(\d+)\|\{\}\|\|\|what sessions wait for on another server is not seen; the far end has no rtbench: what transactions commit outside the scratch schema is not seen\n/, 'another server: what is not seen is NULL and said');
like($logged, qr/NOTICE:  the far end has no rtbench: what transactions commit/, 'also at once');
my ($counted) = $logged =~ /^t\|(\d+)/;
my $rows = $far->safe_psql('postgres', 'SELECT count(*) FROM log');
cmp_ok($rows, '>=', $counted // 1e9, 'every transaction that was counted was committed there');
cmp_ok($rows, '<=', 2 * ($counted // 0) + 100, 'and not many more than were counted');
far_is_clean('another server');
is($node->safe_psql('postgres', "SELECT transport, options ->> 'protocol' FROM rtbench.loads"), 'far|prepared', 'recorded');
# with it, they are
$far->safe_psql('postgres', 'CREATE EXTENSION rtbench; TRUNCATE log');
like(run_sql(load("rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO log VALUES (1)'))", "duration => '500 ms', server => 'far', $table")),
	qr/may write only what its scenario's setup made.*commit changes of public\.log/s, 'with rtbench there: a commit of what is not its own is refused');
is($far->safe_psql('postgres', 'SELECT count(*) FROM log'), '0', 'and was not made');
is(run_sql(load($insert, "duration => '200 ms', server => 'far', $table") . "SELECT transactions > 0, notes FROM rtbench.load_result();"), 't|what sessions wait for on another server is not seen', 'with rtbench there: no note');
far_is_clean('with rtbench there');

#
# refused, before anything is made
#
my $many = "rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO t VALUES (1)'), 13)";
like(run_sql(load($many, "duration => '1 s', server => 'far', $table")), qr/could not connect to "far"\nDETAIL:  .*too many.*\nHINT:  The load needs 14 connections at the far end.*raise max_connections/, 'too few connections');
far_is_clean('too few connections');
nothing_left($node, 'too few connections');
$far->safe_psql('postgres', "CREATE ROLE reads LOGIN SUPERUSER; ALTER ROLE reads SET default_transaction_read_only = on; CREATE ROLE plain LOGIN PASSWORD 'open sesame'; GRANT CREATE ON DATABASE postgres TO plain");
$node->safe_psql('postgres', "CREATE SERVER reading FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '$port', dbname 'postgres'); CREATE USER MAPPING FOR CURRENT_USER SERVER reading OPTIONS (user 'reads');
	CREATE SERVER nowhere FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '1', dbname 'postgres'); CREATE USER MAPPING FOR CURRENT_USER SERVER nowhere;
	CREATE SERVER unmapped FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '$port')");
like(run_sql(load($insert, "server => 'reading', $table")), qr/ERROR:  cannot set up a scenario on "reading", which is read-only/, 'a far server that is read only');
like(run_sql(load($insert, "server => 'nowhere', $table")), qr/ERROR:  could not connect to "nowhere"/, 'one that is not there');
like(run_sql(load($insert, "server => 'unmapped', $table")), qr/ERROR:  server "unmapped" has no user mapping/, 'one without a mapping');
is($node->safe_psql('postgres', 'SELECT count(*) FROM rtbench.loads'), '2', 'nothing of these is kept');
far_is_clean('refused');

# a plain role, by a password that is asked for
my $hba = slurp_file($far->data_dir . '/pg_hba.conf');
open my $fh, '>', $far->data_dir . '/pg_hba.conf' or die;
print $fh "local all plain scram-sha-256\n$hba";
close $fh;
$far->reload;
$node->safe_psql('postgres', "CREATE ROLE plain LOGIN; GRANT USAGE ON FOREIGN SERVER far TO plain");
like(run_sql("SET ROLE plain;\n" . load($insert, "transport => 'unix', $table")), qr/ERROR:  password is required/, 'a plain role: not by the server\'s own user');
like(run_sql("SET ROLE plain;\n" . load($insert, "server => 'far', $table")), qr/ERROR:  server "far" has no user mapping/, 'nor without a mapping');
$node->safe_psql('postgres', "CREATE USER MAPPING FOR plain SERVER far OPTIONS (user 'plain', password 'wrong')");
like(run_sql("SET ROLE plain;\n" . load($insert, "server => 'far', $table")), qr/ERROR:  could not connect to "far"\nDETAIL:  .*password authentication failed/, 'nor by a wrong password');
$node->safe_psql('postgres', "ALTER USER MAPPING FOR plain SERVER far OPTIONS (SET password 'open sesame')");
my $plain = run_sql("SET ROLE plain;\n" . load($insert, "duration => '200 ms', server => 'far', $table") . "SELECT transactions > 0, errors FROM rtbench.load_result();");
is($plain, 't|{}', 'a plain role by its password');
unlike($node->safe_psql('postgres', 'SELECT string_agg(l::text, \'\') FROM rtbench.loads l') . $plain, qr/sesame/, 'which is not kept or shown');
far_is_clean('plain role');

# arms that no client can run are named
like(run_sql("CALL rtbench.run_load_compare('mixed_load', duration => '400 ms', rounds => 2, warmup => '0', parameters => '{\"rows\": 100}', transport => 'unix');", messages => 'notice'),
	qr/NOTICE:  arm "writers\/statement" is left out: it has internal subtransactions/, 'arms that no client can run are left out, and named');
# what was prepared and is gone is not counted as errors of the arm
like(run_sql(load("rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'DO ''BEGIN EXECUTE \$q\$DEALLOCATE ALL\$q\$; END'''))", "transport => 'unix', $table")),
	qr/ERROR:  prepared statement "\w+" does not exist\nHINT:  A pooler .*use protocol => 'extended' or 'simple'/, 'what was prepared and is gone');
# as long as a statement is prepared for a transaction only, that is none of its business
is(run_sql(load("rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'DO ''BEGIN EXECUTE \$q\$DEALLOCATE ALL\$q\$; END'''))", "duration => '200 ms', transport => 'unix', protocol => 'extended', $table")
	. 'SELECT transactions > 0, errors FROM rtbench.load_result();'), 't|{}', 'by protocol extended nothing is missed');

#
# ended: within moments, and nothing is left
#
my %load = (
	'setup' => sub { "CALL rtbench.run_load(ARRAY[$insert], setup => 'CREATE TABLE t (i int); SELECT pg_sleep(600)', $_[0])" },
	'at work' => sub { "CALL rtbench.run_load(ARRAY[$insert, rtbench.load_group('r', rtbench.arm('b', 'SELECT count(*) FROM t'))], duration => '600 s', $table, $_[0])" },
	'long statement' => sub { "CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'UPDATE t SET i = i + 1', 'SELECT pg_sleep(600)'), 2)], duration => '600 s', $table, $_[0])" },
	'distance' => sub { "CALL rtbench.run_load(ARRAY[$insert], duration => '600 s', round_trip_ms => 3000, $table, $_[0])" });
my $next = "CALL rtbench.run_load(ARRAY[$insert], duration => '100 ms', warmup => '0', $table, transport => 'unix');
SELECT 'next', transactions > 0 FROM rtbench.load_result();";

sub reached
{
	my ($where, $at) = @_;
	return defined seen($at, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = 'rtbench')") if $where eq 'setup';
	return defined seen($node, "SELECT EXISTS (SELECT FROM rtbench.progress WHERE phase = 'load' AND elapsed > '300 ms')");
}

sub end_it
{
	my ($where, $how, $way) = @_;
	my $what = "$where, $how, $way";
	my $at = $way =~ /server/ ? $far : $node;
	my $limit = $how eq 'statement_timeout' ? "SET statement_timeout = '700ms';" : '';
	my $session = background($node, 'caller', "SET client_min_messages = error; $limit
${\$load{$where}->($way)};
RESET statement_timeout;
SELECT 'usable', count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory';
$next");
	if ($how ne 'statement_timeout')
	{
		ok(reached($where, $at), "$what: it got there");
		my $worker = "backend_type = 'rtbench worker' ORDER BY backend_start";
		my $client = "application_name = 'rtbench' ORDER BY backend_start";
		my %victim = (
			'caller' => [$node, "application_name = 'caller'"],
			'session' => [$node, "$worker DESC LIMIT 1"], 'keeper' => [$node, "$worker LIMIT 1"],
			'far backend' => [$at, "$client DESC LIMIT 1"], "keeper's far backend" => [$at, "$client LIMIT 1"]);
		my ($does, $whom) = $how =~ /(\w+) (.*)/;
		my ($on, $which) = @{ $victim{$whom} };
		# nobody misses an idle one before the fixture is to be dropped
		my $unmissed = $whom eq "keeper's far backend" && $where ne 'setup';
		my $started = time();
		$on->safe_psql('postgres', "SELECT pg_${does}_backend(pid) FROM (SELECT pid FROM pg_stat_activity WHERE $which) v");
		ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM rtbench.progress WHERE phase <> 'starting' AND elapsed > '300 ms')", 5), "$what: it ends")
			unless $unmissed;
		cmp_ok(time() - $started, '<', 3, "$what: within moments") unless $unmissed;
		$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'") if $unmissed;
	}
	my ($out, $err) = finish($session, 30);
	if ($how eq 'terminate caller')
	{
		like($err, qr/57P01/, "$what: because it was told to");
	}
	else
	{
		is($out, "usable|0\nnext|t\n", "$what: the session can be used, the next load works");
		like($err, $how =~ /terminate (session|keeper)$/ ? qr/^ERROR:  57P01$/ : $how =~ /terminate far/ || "$where $how" =~ /setup .*far backend/ ? qr/^ERROR:  (08006|57P01)$/ : qr/^ERROR:  57014$/, "$what: the error says why");
	}
	nothing_left($node, $what);
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench')", 10), "$what: no far backend is left here");
	far_is_clean($what);
}

for my $way ("transport => 'unix'", "server => 'far'")
{
	end_it('at work', $_, $way) for ('cancel caller', 'statement_timeout', 'terminate caller', 'terminate session', 'terminate keeper', 'terminate far backend', "terminate keeper's far backend");
	end_it('long statement', $_, $way) for ('cancel caller', 'terminate caller', 'terminate far backend');
}
end_it('setup', $_, "transport => 'unix'") for ('cancel caller', 'statement_timeout', 'terminate keeper', "terminate keeper's far backend");
end_it('distance', $_, "transport => 'unix'") for ('cancel caller', 'terminate session');

# one statement is cancelled at the far end: an error of that transaction, and the load goes on
my $going = background($node, 'caller', "SET client_min_messages = error;
CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'SELECT pg_sleep(0.2)'))], duration => '3 s', warmup => '0', $table, transport => 'unix');
SELECT transactions > 0, errors FROM rtbench.load_result();");
ok(reached('at work', $node), 'one statement: it got there');
# one may come when its statement has just ended
$node->poll_query_until('postgres', "SELECT count(pg_cancel_backend(pid)) = 1 FROM pg_stat_activity WHERE application_name = 'rtbench' AND wait_event = 'PgSleep'") for 1 .. 3;
like((finish($going))[0], qr/^t\|\{"57014": [1-3]\}\n$/, 'one statement: cancelled, counted');
nothing_left($node, 'one statement');

# the connection that keeps the fixture is ended: the load's figures are kept, and the fixture is dropped over another one
$going = background($node, 'caller', "SET client_min_messages = error;
CALL rtbench.run_load(ARRAY[$insert], duration => '1500 ms', warmup => '0', $table, server => 'far');
SELECT transactions > 0, errors FROM rtbench.load_result();");
ok(reached('at work', $node), 'keeper: it got there');
$far->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rtbench' ORDER BY backend_start LIMIT 1");
is((finish($going))[0], "t|{}\n", "keeper: its connection is not missed");
far_is_clean('keeper');

# killed outright: the server restarts, and the next load of the role drops what that one left
my $killed = background($node, 'caller', $load{'at work'}->("transport => 'unix'") . ';');
ok(reached('at work', $node), 'kill: it got there');
kill 'KILL', $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker' ORDER BY backend_start DESC LIMIT 1");
finish($killed);
ok(defined seen($node, 'SELECT true'), 'kill: the server is back');
is((finish(background($node, 'caller', "SET client_min_messages = error; $next")))[0], "next|t\n", 'kill: the next load works');
nothing_left($node, 'kill');

# of one to another server cleanup() does
$killed = background($node, 'caller', $load{'at work'}->("server => 'far'") . ';');
ok(reached('at work', $node), 'kill, another server: it got there');
is($node->safe_psql('postgres', "SELECT rtbench.cleanup('far')"), '0', 'nothing to clean up while it runs');
kill 'KILL', $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker' ORDER BY backend_start LIMIT 1");
finish($killed);
ok(defined seen($node, 'SELECT true'), 'kill, another server: the server is back');
ok(defined seen($far, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench')", 10), 'its far backends are gone');
is($node->safe_psql('postgres', "SELECT rtbench.cleanup('far')"), '1', 'what it left there is dropped');
far_is_clean('kill, another server');

$node->stop;
$far->stop;
done_testing();
