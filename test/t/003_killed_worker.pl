# A worker killed by signal 9 takes the server down, and its scratch schema stays: the next run of the same role drops that one,
# but not another role's, nor one that a living run is using, nor a schema that merely has such a name.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $node = new_node('main');
my $path = '"regress ""strange"';
$node->safe_psql('postgres', qq{CREATE ROLE regress_one LOGIN; CREATE ROLE regress_two LOGIN; CREATE ROLE $path LOGIN;
	GRANT CREATE ON DATABASE postgres TO regress_one, regress_two, $path});
my $left = "SELECT string_agg(nspowner::regrole::text, ' ' ORDER BY nspowner::regrole::text) FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'";
my $sleeper = "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT pg_sleep(600)')], setup => 'CREATE TABLE t (a int); CREATE VIEW v AS TABLE t');";
my $good = "SET client_min_messages = error; SELECT count(*) FROM $fixture);";

sub run_ok
{
	my ($user, $what) = @_;
	is((finish(background($node, 'next', $good, user => $user)))[0], "2\n", $what);
}

# three roles' runs are at work when one of their workers is killed
my %run = map { $_ => background($node, "of $_", $sleeper, user => $_) } ('regress_one', 'regress_two', 'postgres');
ok(defined seen($node, "SELECT count(*) = 3 FROM pg_stat_activity WHERE backend_type = 'rtbench worker' AND wait_event = 'PgSleep'"), 'three runs at once in one database');
is($node->safe_psql('postgres', $left), 'postgres regress_one regress_two', 'each has its scratch schema');
# another run of the same role ends meanwhile, and leaves the others alone
run_ok('regress_one', 'a second run of one role');
is($node->safe_psql('postgres', $left), 'postgres regress_one regress_two', 'does not touch those in use');

my $victim = pid_of($node, 'of regress_one', 1);
is(PostgreSQL::Test::Utils::system_log('pg_ctl', 'kill', 'KILL', $victim), 0, 'a worker is killed');
finish($_) for values %run;
ok($node->poll_query_until('postgres', 'SELECT true', 't'), 'the server is there again');
is($node->safe_psql('postgres', $left), 'postgres regress_one regress_two', 'all three schemas stay');

# not one of ours: no comment, or somebody else's
$node->safe_psql('postgres', "CREATE SCHEMA rtbench_scratch_1_1 AUTHORIZATION regress_one; CREATE SCHEMA rtbench_scratch_2_1 AUTHORIZATION regress_one;
	COMMENT ON SCHEMA rtbench_scratch_2_1 IS 'of mine'");
run_ok('regress_one', 'the next run of that role');
is($node->safe_psql('postgres', $left), 'postgres regress_one regress_one regress_two', 'drops its own, and no others');
$node->safe_psql('postgres', 'DROP SCHEMA rtbench_scratch_1_1, rtbench_scratch_2_1');
run_ok('regress_two', 'the next run of the second role');
is($node->safe_psql('postgres', $left), 'postgres', 'drops its own');
run_ok('postgres', 'the next run of the superuser');
nothing_left($node, 'after the next runs');

# the killed process's number is in use again, by another process
$node->safe_psql('postgres', qq{SET ROLE $path; CREATE SCHEMA rtbench_scratch_3_1; CREATE TABLE rtbench_scratch_3_1.t (a int)});
my $other = background($node, 'other', 'SELECT pg_sleep(600)');
seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'other')");
$node->safe_psql('postgres', sprintf(q{COMMENT ON SCHEMA rtbench_scratch_3_1 IS 'rtbench scratch schema of process %d started at 1'}, pid_of($node, 'other')));
my $next = background($node, 'next', $good, user => 'postgres');
finish($next);
is($node->safe_psql('postgres', $left), '"regress ""strange"', "another role's stays");
# this role may not see when the process started unless it is one of its own
$node->safe_psql('postgres', "GRANT pg_read_all_stats TO $path");
is((finish(background($node, 'next', "SET ROLE $path; $good")))[0], "2\n", 'a role whose name needs quotes');
nothing_left($node, 'a process of that number that is another one', but => ['other']);
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'other'");
finish($other);

# the server is stopped while a run goes on: its worker still drops what it made
my $stopped = background($node, 'stopped', $sleeper);
ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker' AND wait_event = 'PgSleep')"), 'a run goes on');
my $started = time();
$node->stop('fast');
cmp_ok(time() - $started, '<', 10, 'the server stops soon');
finish($stopped);
$node->start;
nothing_left($node, 'after a stop');

# the client of a run is gone
my $gone = background($node, 'gone', "SET client_connection_check_interval = '100ms'; $sleeper");
ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker' AND wait_event = 'PgSleep')"), 'a run goes on');
$gone->{h}->signal('KILL');
finish($gone);
nothing_left($node, 'without its client');

# killed while the caller holds the results: the caller's session ends with the server, as any other
is($node->safe_psql('postgres', "SELECT count(*) FROM rtbench.runs WHERE NOT complete"), '0', 'no run is kept half');

$node->stop;
done_testing();
