# Through pgbouncer, in session and in transaction mode: every protocol, counted alike; errors, cancel, and nothing left in its pool.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use RtbTest;
use Test::More;
use Time::HiRes qw(time sleep);

my ($pgbouncer) = grep { -x } map { "$_/pgbouncer" } '/usr/sbin', split /:/, $ENV{PATH};
plan skip_all => 'no pgbouncer here' unless $pgbouncer;

my $node = new_node('main', "listen_addresses = '127.0.0.1'\n");
my $port = PostgreSQL::Test::Cluster::get_free_port();
my $dir = PostgreSQL::Test::Utils::tempdir();
append_to_file("$dir/ini", "[databases]
session = host=127.0.0.1 port=${\$node->port} dbname=postgres pool_mode=session pool_size=2
transaction = host=127.0.0.1 port=${\$node->port} dbname=postgres pool_mode=transaction pool_size=2
load_session = host=127.0.0.1 port=${\$node->port} dbname=postgres pool_mode=session pool_size=5
recycled = host=127.0.0.1 port=${\$node->port} dbname=postgres pool_mode=transaction pool_size=3
load_transaction = host=127.0.0.1 port=${\$node->port} dbname=postgres pool_mode=transaction pool_size=3
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
auth_file = $dir/users
logfile = $dir/log
pidfile = $dir/pid
server_lifetime = 1
");
append_to_file("$dir/users", '');
my $user = $node->safe_psql('postgres', 'SELECT current_user');
# auth_type any logs in as one user
my $ini = slurp_file("$dir/ini");
$ini =~ s/(dbname=postgres)/$1 user=$user/g;
unlink "$dir/ini";
append_to_file("$dir/ini", $ini);
system($pgbouncer, '-q', '-d', "$dir/ini") == 0 or BAIL_OUT('pgbouncer does not start: ' . (-e "$dir/log" ? slurp_file("$dir/log") : ''));
END
{
	if (defined $dir && -e "$dir/pid")
	{
		my $rc = $?;
		kill 'INT', slurp_file("$dir/pid") =~ /(\d+)/;
		$? = $rc;
	}
}

$node->safe_psql('postgres', "CREATE TABLE held (a int PRIMARY KEY); INSERT INTO held VALUES (1);
	CREATE SERVER direct FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '${\$node->port}', dbname 'postgres', gssencmode 'disable');
	CREATE USER MAPPING FOR PUBLIC SERVER direct");
foreach my $mode ('session', 'transaction')
{
	$node->safe_psql('postgres', "CREATE SERVER \"$mode\" FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname '$mode', gssencmode 'disable');
		CREATE USER MAPPING FOR PUBLIC SERVER \"$mode\"");
	foreach my $call (map({ "'SELECT :n::int', protocol => '$_', times => 250" } qw(simple extended prepared pipeline multi)),
		"'COPY held FROM STDIN', protocol => 'copy', copy_row => '1:n', times => 100", "'SELECT generate_series(1, 99)', protocol => 'simple', fetch_size => 10")
	{
		my ($through, $direct) = map { $node->safe_psql('postgres', "SELECT rows, affected, round_trips, bytes_sent, bytes_received FROM rtbench.ask($call, server => '$_')") } $mode, 'direct';
		is($through, $direct, "$mode: $call");
	}
	# again on the same connection of the pool: what was prepared is gone, or would be in the way
	is($node->safe_psql('postgres', "SELECT rows FROM rtbench.ask('SELECT 1', server => '$mode'), generate_series(1, 5)"), '1' . "\n1" x 4, "$mode: prepared again");
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT rtbench.ask('SELECT 1 / (:n::int - 150)', server => '$mode', protocol => 'pipeline', times => 200)");
	like($err, qr/ERROR:  division by zero/, "$mode: an error in a pipeline");
	is($node->safe_psql('postgres', "SELECT count(microseconds), count(DISTINCT protocol) FROM rtbench.price_list('{$mode}', '{}', max_time => '1 ms')"), '15|3', "$mode: prices");

	# cancel while the far end waits for a lock
	my $holder = background($node, 'holder', 'BEGIN; LOCK held; SELECT pg_sleep(60);');
	seen($node, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'held'::regclass AND granted)");
	my $caller = background($node, 'caller', "SELECT rtbench.ask('DELETE FROM held', server => '$mode');");
	ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock')"), "$mode: waits for a lock");
	my $started = time();
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'");
	($out, $err) = finish($caller, 10);
	like($err, qr/57014/, "$mode: cancelled");
	cmp_ok(time() - $started, '<', 1.5, "$mode: soon");
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' OR state ~ 'in transaction' AND application_name <> 'holder')", 2), "$mode: nothing goes on behind it");
	$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
	finish($holder);
}

# loads: three sessions that share two or three backends; search_path comes with each transaction, and stays with no other client
my $own = q{rtbench.arm('own', rtbench.foreach('SELECT generate_series(1, 3)', 'INSERT INTO t VALUES ($1)'))};
my $alone = q{rtbench.arm('alone', 'INSERT INTO t VALUES (1)')};
my $both = "rtbench.load_group('own', $own, 2), rtbench.load_group('alone', $alone)";
sub load
{
	my ($mode, $protocol, $groups, $messages) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = ${\($messages // 'warning')};
CALL rtbench.run_load(ARRAY[$groups], duration => '500 ms', warmup => '50 ms', setup => 'CREATE TABLE t (i int)', server => 'load_$mode', protocol => '$protocol');
SELECT string_agg(group_name || ' ' || (transactions > 0) || errors, ' ' ORDER BY group_name) FROM rtbench.load_result();", on_error_stop => 0);
	$err =~ s/^psql:[^ ]* //mg;
	return $err eq '' ? $out : $err;
}
foreach my $mode ('session', 'transaction')
{
	$node->safe_psql('postgres', "CREATE SERVER load_$mode FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'load_$mode', gssencmode 'disable');
		CREATE USER MAPPING FOR PUBLIC SERVER load_$mode");
	is(load($mode, $_, $both), 'alone true{} own true{}', "$mode: a load by protocol $_") for 'extended', 'simple', 'multi';
	like(load($mode, 'simple', $both, 'notice'), qr/NOTICE:  the far end is behind a pooler, which gets search_path with every BEGIN: what transactions commit outside the scratch schema is not seen/, "$mode: said");
}
is(load('session', 'prepared', $both), 'alone true{} own true{}', 'session: a load by protocol prepared');
# since 1.21 pgbouncer can carry prepared statements over
my ($version) = `$pgbouncer --version` =~ /(\d+\.\d+)/;
my $prepared = load('transaction', 'prepared', $both);
like($prepared, $version < 1.21 ? qr/^ERROR:  prepared statement "rtbench_\w+" does not exist\nHINT:  A pooler .*use protocol => 'extended' or 'simple'/ : qr/^alone true|^ERROR:  prepared statement .*\nHINT:  A pooler/,
	'transaction: what was prepared is lost, and the way out is said');
like(load('transaction', 'extended', "rtbench.load_group('g', rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'autocommit'))"),
	qr/ERROR:  arm "a" sends statements outside of a transaction block, which find no tables behind a pooler/, 'messages that are transactions of their own are refused');
is($node->safe_psql('postgres', "SELECT coalesce(sum(rows), 0) FROM generate_series(1, 6), rtbench.ask('SELECT 1 WHERE current_setting(''search_path'') ~ ''scratch''', server => 'load_transaction', protocol => 'simple')"), '0',
	'no other client has the scratch schema in its search_path');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'"), '0', 'no scratch schema is left');

# The pooler replaces the backends that a run began with: neither cleanup() nor the next run takes its schema for left over.
$node->safe_psql('postgres', "CREATE SERVER recycled FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'recycled', gssencmode 'disable');
	CREATE USER MAPPING FOR PUBLIC SERVER recycled");
my $in_use = "SELECT nspname, obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'";
my $pooled = qr/rtbench scratch schema made through a pooler, in use until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/;
my $slow = "rtbench.arm('a', 'SELECT pg_sleep(0.2)', 'INSERT INTO t VALUES (1)'), rtbench.arm('b', 'SELECT pg_sleep(0.2)', 'INSERT INTO t VALUES (1)')";
my %live = (
	run => "SELECT count(*) FROM rtbench.compare(ARRAY[$slow], setup => 'CREATE TABLE t (a int)', server => 'recycled', max_time => '8 s')",
	load => "CALL rtbench.run_load(ARRAY[rtbench.load_group('g', $alone)], duration => '6 s', setup => 'CREATE TABLE t (i int)', server => 'recycled', protocol => 'simple'); SELECT errors FROM rtbench.load_result()");
foreach my $what (sort keys %live)
{
	my $live = background($node, 'live', "SET client_min_messages = warning; $live{$what};", verbosity => 'default');
	ok(defined seen($node, "SELECT EXISTS ($in_use)"), "$what: under way");
	my @first = split /\|/, $node->safe_psql('postgres', $in_use);
	like($first[1], qr/^$pooled$/, "$what: its schema names no process");
	my ($until) = $first[1] =~ /until (.*) UTC$/;
	$until //= '-infinity';
	cmp_ok($node->safe_psql('postgres', "SELECT '$until' > now() AT TIME ZONE 'UTC' + interval '23 h 59 min'"), 'eq', 't', "$what: with room");
	sleep 3;
	my ($rc, $out, $err) = $node->psql('postgres', "SELECT rtbench.cleanup('direct'); SELECT rtbench.cleanup('recycled')");
	is($out, "0\n0", "$what: no cleanup() touches it");
	like($err, qr/NOTICE:  scratch schema $first[0] was made through a pooler, and counts as in use until \S+ \S+ UTC\n.*HINT:  If its run is known to be gone, drop it there: DROP SCHEMA $first[0] CASCADE\./s, "$what: and the way is said");
	is($node->safe_psql('postgres', "SET client_min_messages = error; SELECT count(*) FROM $fixture)"), '2', "$what: another run in between");
	($out, $err) = finish($live);
	is("$out$err", $what eq 'run' ? "2\n" : "{}\n", "$what: goes through");
	is($node->safe_psql('postgres', $in_use), '', "$what: and leaves nothing");
}

# a session puts the time off: the comment is another one as soon as the second session has begun
my $live = background($node, 'live', "SET client_min_messages = warning; SELECT count(*) FROM rtbench.compare(ARRAY[$slow], setup => 'CREATE TABLE t (a int)', server => 'recycled', sessions => 3, rounds => 3);", verbosity => 'default');
ok(defined seen($node, "SELECT EXISTS ($in_use)"), 'a run of three sessions');
my $first = $node->safe_psql('postgres', $in_use);
ok(defined seen($node, "SELECT (SELECT obj_description(oid, 'pg_namespace') FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%') > '" . (split /\|/, $first)[1] . "'"), 'the time is put off');
is(join('', finish($live)), "2\n", 'and the run goes through');

# when the time is past, both drop it
my $comment = 'rtbench scratch schema made through a pooler, in use until';
my $abandon = "CREATE SCHEMA rtbench_scratch_1_1; CREATE TABLE rtbench_scratch_1_1.t (a int); COMMENT ON SCHEMA rtbench_scratch_1_1 IS '$comment 2001-02-03 04:05:06 UTC'";
$node->safe_psql('postgres', $abandon);
is($node->safe_psql('postgres', "SELECT rtbench.cleanup('transaction')"), '1', 'past: cleanup() drops it');
$node->safe_psql('postgres', $abandon);
is($node->safe_psql('postgres', "SET client_min_messages = error; SELECT count(*) FROM $fixture)"), '2', 'past: a run');
is($node->safe_psql('postgres', $in_use), '', 'drops it too');

# what cannot be dropped is left, by name, and the rest is dropped; a run is not in the way of itself
$node->safe_psql('postgres', "$abandon; " . $abandon =~ s/scratch_1_1/scratch_1_2/gr);
my $holder = background($node, 'holder', 'BEGIN; LOCK rtbench_scratch_1_1.t IN ACCESS SHARE MODE; SELECT pg_sleep(60);');
ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'rtbench_scratch_1_1.t'::regclass AND granted)"), 'a table of one is locked');
my ($rc, $out, $err) = $node->psql('postgres', "SELECT rtbench.cleanup('direct')");
is($out, '1', 'cleanup() drops the other');
like($err, qr/WARNING:  could not drop scratch schema rtbench_scratch_1_1\nDETAIL:  The far end says: canceling statement due to lock timeout\nHINT:  It stays there: call rtbench.cleanup\('direct'\) again/, 'and names the one that stays');
foreach my $transport ('worker', 'unix')
{
	is($node->safe_psql('postgres', "SET client_min_messages = error; SELECT count(*) FROM " . $fixture . ", transport => '$transport')"), '2', "$transport: a run goes on without it");
}
like(slurp_file($node->logfile), qr/LOG:  could not drop scratch schema rtbench_scratch_1_1, which a run has left: canceling statement due to lock timeout/, 'and the log says so');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'");
finish($holder);
is($node->safe_psql('postgres', "SELECT rtbench.cleanup('direct')"), '1', 'it is dropped when nobody uses it');
$node->stop;
done_testing();
