# A connection never holds up its process: cancel, timeouts, termination and a lost far end act within a second, in every state that it
# can be in, and leave nothing at the far end and no file open here.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use RtbTest;
use WireProxy;
use Test::More;
use Time::HiRes qw(time sleep);

my $node = new_node('main', "listen_addresses = '127.0.0.1'\nlog_min_messages = debug1\n");
$node->safe_psql('postgres', 'CREATE TABLE held (a int PRIMARY KEY); INSERT INTO held VALUES (1); CREATE TABLE filled (a int)');
my $holder = background($node, 'holder', 'BEGIN; LOCK held; SELECT pg_sleep(600);');
ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'held'::regclass AND granted)"), 'a lock is held');

my $far = "FROM pg_stat_activity WHERE application_name = 'rtbench'";
my $waits = "SELECT EXISTS (SELECT $far AND wait_event_type = 'Lock')";
my $copies = "SELECT EXISTS (SELECT $far AND state = 'active' AND query ~ '^COPY')";

# start a call, wait until it is where it should be, do something to it, and see it end as it should
sub fault
{
	my ($what, $call, $there, $do, $state, $recovered) = @_;
	my $log = -s $node->logfile;
	my $caller = background($node, 'caller', "SET client_min_messages = warning; $call;\nSELECT 'usable';");
	ok(defined seen($node, $there), "$what: under way") if defined $there;
	my $started = time();
	$node->safe_psql('postgres', $do) if defined $do;
	my ($out, $err) = finish($caller, 10);
	my $took = time() - $started;
	like($err, $state, "$what: its SQLSTATE");
	like($out, qr/^(1\n)?usable\n$/, "$what: the session can be used") unless $what =~ /terminated/;
	cmp_ok($took, '<', 1.5, "$what: soon");
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT $far)", 1), "$what: nothing at the far end");
	like(substr(slurp_file($node->logfile), $log), qr/connection ".*" is idle again/, "$what: the connection could be used again") if $recovered;
}

my $cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'";
my $terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'";
my $kill_far = "SELECT pg_terminate_backend(pid) $far";

foreach my $transport ('unix', 'tcp')
{
	foreach my $protocol ('simple', 'prepared', 'pipeline')
	{
		my $call = "SELECT rtbench.ask('DELETE FROM held', protocol => '$protocol', transport => '$transport', times => 5)";
		fault("$transport, $protocol: cancel", $call, $waits, $cancel, qr/ERROR:  57014/, 1);
		fault("$transport, $protocol: statement_timeout", "SET statement_timeout = '300ms'; $call", undef, undef, qr/ERROR:  57014/);
		fault("$transport, $protocol: far end killed", $call, $waits, $kill_far, qr/ERROR:  08006/);
	}
	my $call = "SELECT rtbench.ask('DELETE FROM held', transport => '$transport')";
	fault("$transport: terminated", $call, $waits, $terminate, qr/57P01|08006|server closed/);
	my $copy = "SELECT rtbench.ask('COPY filled FROM STDIN', protocol => 'copy', copy_row => ':n', times => 2000000000, transport => '$transport')";
	fault("$transport, copy: cancel", $copy, $copies, $cancel, qr/ERROR:  57014/, 1);
	fault("$transport, copy: far end killed", $copy, $copies, $kill_far, qr/ERROR:  08006/);
	fault("$transport, copy: terminated", $copy, $copies, $terminate, qr/57P01|08006|server closed/);
	fault("$transport, rows: cancel", "SELECT rtbench.ask('SELECT generate_series(1, 2000000000)', transport => '$transport')",
		"SELECT EXISTS (SELECT $far AND state = 'active' AND query ~ 'generate_series')", $cancel, qr/ERROR:  57014/, 1);
	fault("$transport, a round trip of a minute: cancel", "SELECT rtbench.ask('SELECT 1', round_trip_ms => 60000, transport => '$transport')",
		"SELECT EXISTS (SELECT $far AND state = 'idle in transaction')", $cancel, qr/ERROR:  57014/);
}
fault('price list: cancel', "SELECT count(*) FROM rtbench.price_list(transports => '{unix,tcp}', max_time => '1 h')", "SELECT EXISTS (SELECT $far)", $cancel, qr/ERROR:  57014/);
fault('price list: far end killed', "SELECT count(*) FROM rtbench.price_list(transports => '{unix}', max_time => '1 h')",
	"SELECT EXISTS (SELECT $far AND state <> 'idle' AND query ~ 'prices')", $kill_far, qr/ERROR:  08006|^$/);

# a process that was bound to a core is let go again, whatever ends the call
my $cores = "SELECT 'cores', (regexp_match(pg_read_file('/proc/self/status'), 'Cpus_allowed_list:\\s+(\\S+)'))[1];";
my ($free) = $node->safe_psql('postgres', $cores);
my $bound = background($node, 'caller', "SET client_min_messages = warning; SET statement_timeout = '400ms';
	SELECT count(*) FROM rtbench.price_list(transports => '{unix}', placements => '{same core}', max_time => '1 h'); $cores");
my ($bound_out, $bound_err) = finish($bound);
like($bound_err, qr/57014/, 'placed: ended by a timeout');
is($bound_out, "$free\n", 'placed: this process is let go');

# in connecting: to something that takes the connection and never answers, and that closes it
my $mute = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die $!;
$node->safe_psql('postgres', "CREATE SERVER mute FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '" . $mute->sockport . "', connect_timeout '1', sslmode 'disable');
	CREATE SERVER patient FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '" . $mute->sockport . "', connect_timeout '60', sslmode 'disable');
	CREATE USER MAPPING FOR PUBLIC SERVER mute; CREATE USER MAPPING FOR PUBLIC SERVER patient");
fault('connecting: no answer', "SELECT rtbench.ask('SELECT 1', server => 'mute')", undef, undef, qr/ERROR:  08001/);
my $calling = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'caller' AND state = 'active' AND wait_event = 'Extension')";
fault('connecting: cancel', "SELECT rtbench.ask('SELECT 1', server => 'patient')", $calling, $cancel, qr/ERROR:  57014/);
fault('connecting: terminated', "SELECT rtbench.ask('SELECT 1', server => 'patient')", $calling, $terminate, qr/57P01|server closed/);
my $port = $mute->sockport;
close($mute);
fault('connecting: nobody there', "SELECT rtbench.ask('SELECT 1', server => 'patient')", undef, undef, qr/ERROR:  08001/);

# A request to cancel that reaches the far end between two messages finds nothing to cancel there, and is lost: it is made again.
# Here a proxy loses the first of each connection's.
{
	my $lossy = WireProxy->start(to => $node->port, cancel => sub { $_[0] % 2 == 0 });
	$node->safe_psql('postgres', "CREATE SERVER lossy FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '${\$lossy->port}', dbname 'postgres'); CREATE USER MAPPING FOR PUBLIC SERVER lossy");
	foreach my $protocol ('simple', 'prepared', 'pipeline')
	{
		fault("a lost request to cancel, $protocol", "SELECT rtbench.ask('DELETE FROM held', protocol => '$protocol', server => 'lossy', times => 5)", $waits, $cancel, qr/ERROR:  57014/, 1);
		is($lossy->cancels, 2, "a lost request to cancel, $protocol: made twice");
	}
	my $caller = background($node, 'caller', "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'DELETE FROM held')], setup => 'CREATE TABLE t (i int)', server => 'lossy');");
	ok(defined seen($node, $waits), 'a lost request to cancel of a run: under way');
	my $started = time();
	$node->safe_psql('postgres', $cancel);
	my (undef, $err) = finish($caller, 10);
	cmp_ok(time() - $started, '<', 2, 'a lost request to cancel of a run: soon');
	like($err, qr/57014/, 'a lost request to cancel of a run: reported');
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT $far)", 2), 'a lost request to cancel of a run: nothing at the far end');
	cmp_ok($lossy->cancels, '>=', 2, 'a lost request to cancel of a run: made again');
	nothing_left($node, 'a lost request to cancel of a run', but => ['holder']);
	$lossy->stop;
}

# a far end that waits for the caller of the worker that waits for it
my $blocked = background($node, 'caller', "BEGIN; CREATE TABLE mine (a int); COMMIT; BEGIN; LOCK mine; SELECT a.verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', \$\$SELECT rtbench.ask('DELETE FROM mine')\$\$)], rounds => 2) a; COMMIT; DROP TABLE mine;", verbosity => 'verbose');
my ($blocked_out, $blocked_err) = finish($blocked, 20);
like($blocked_err, qr/55P03: .*this transaction blocks the rtbench connection that it waits for/, 'a deadlock through a worker: named');
nothing_left($node, 'a deadlock through a worker', but => ['holder']);

# batches of a million statements are filled, not sent, for seconds
for my $protocol ('pipeline', 'multi')
{
	my $began = time();
	my (undef, $said) = finish(background($node, 'caller', "SET statement_timeout = '500ms'; SELECT rtbench.ask('SELECT :n::int', protocol => '$protocol', times => 100000000, batch => 1000000);", verbosity => 'verbose'), 30);
	like($said, qr/57014/, "a large batch by $protocol: a timeout ends it");
	cmp_ok(time() - $began, '<', 4, "a large batch by $protocol: soon");
	nothing_left($node, "a large batch by $protocol", but => ['holder']);
}

# no file stays open: of errors, of cancelled waits, of simulated distances
my ($out, $err) = finish(background($node, 'caller', q{
SET client_min_messages = warning; SET statement_timeout = '200ms';
SELECT rtbench.ask('SELECT 1');
SELECT rtbench.ask('DELETE FROM held', round_trip_ms => 1);
CREATE TEMP TABLE before AS SELECT 0 AS files;
DROP TABLE before;
CREATE TEMP TABLE before AS SELECT count(*) AS files FROM pg_ls_dir('/proc/self/fd');
} . ("SELECT rtbench.ask('SELECT 1/0', round_trip_ms => 1);\nSELECT rtbench.ask('DELETE FROM held', round_trip_ms => 1);\nSELECT rtbench.ask('SELECT 1', server => 'patient');\n" x 20) . q{
RESET statement_timeout;
SELECT (SELECT count(*) FROM pg_ls_dir('/proc/self/fd')) - files FROM before;
}));
# the server itself opens some files of its catalogs at first use
cmp_ok((split /\n/, $out)[-1], '<', 10, 'no file stays open');
# a busy machine may be too slow for one of them
cmp_ok(scalar(() = $err =~ /ERROR:  22012/g), '>=', 15, 'errors came as they should');

$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
finish($holder);
nothing_left($node, 'at the end');
$node->stop;
done_testing();
