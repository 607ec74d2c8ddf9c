# A run that ends early keeps the points that it has finished, whichever transport it uses and however it ends: although the
# transaction of the statement that started it is rolled back.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $node = new_node('main', "max_worker_processes = 3\n");
$node->safe_psql('postgres', 'CREATE ROLE regress_plain LOGIN; GRANT CREATE ON DATABASE postgres TO regress_plain');
my $arms = q{ARRAY[rtbench.arm('each', rtbench.foreach('SELECT generate_series(1, 10 * :n)', 'INSERT INTO t VALUES ($1)')),
	rtbench.arm('last_sleeps', 'INSERT INTO t SELECT generate_series(1, 10 * :n)', 'SELECT pg_sleep(CASE :n WHEN 3 THEN 600 ELSE 0 END)')]};
my $compare = "rtbench.compare($arms, setup => 'CREATE TABLE t (a int)', points => '{1,2,3}', rounds => 8";
my $sleeping = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')";

# what is kept of the last run: of each point and arm the rounds, and whether it was digested before and after them.  The
# verdict itself may be "not comparable" by chance: one control in a hundred fails.
my $kept = "SELECT r.complete, string_agg(format('%s %s %s %s', p.point, p.arm, p.rounds, coalesce(p.notes, '') !~ 'not measured|not digested'), ', ' ORDER BY p.point, p.arm)
	FROM rtbench.runs r, rtbench.result(r.run) p WHERE r.run = (SELECT max(run) FROM rtbench.runs) GROUP BY r.complete";
my $two_points = "f|1 each 8 t, 1 last_sleeps 8 t, 2 each 8 t, 2 last_sleeps 8 t, 3 each 0 f, 3 last_sleeps 0 f";

sub end_it
{
	my ($what, $transport, $how, %opt) = @_;
	my $session = background($node, 'caller', ($opt{before} // '') . "\nSELECT count(*) FROM $compare, transport => '$transport', label => '$what');\n" . ($opt{after} // ''),
		user => $opt{user}, verbosity => 'default');
	ok(defined seen($node, $sleeping), "$what: it got there");
	my $victim = pid_of($node, 'caller', $how =~ /worker/);
	my $function = $how =~ /terminate/ ? 'pg_terminate_backend' : 'pg_cancel_backend';
	$node->safe_psql('postgres', "SELECT $function($victim)") if $how;
	my ($out, $err) = finish($session);
	nothing_left($node, $what);
	return $err;
}

sub kept_ok
{
	my ($err, $what, $error, $user) = @_;
	like($err, qr/WARNING:  run (\d+) ended early and keeps what was finished\nDETAIL:  Finished points: 2 of 3\.\nHINT:  SELECT \* FROM rtbench\.result\(\1\);/, "$what: it says what is kept");
	like($err, qr/ERROR:  $error/, "$what: and why it ended");
	my ($run) = $err =~ /WARNING:  run (\d+)/;
	is($node->safe_psql('postgres', $user ? "SET ROLE $user; $kept" : $kept), $two_points, "$what: two points are kept")
		or diag $node->safe_psql('postgres', "SELECT point, arm, verdict, notes FROM rtbench.result($run)");
	is($node->safe_psql('postgres', "SELECT label FROM rtbench.runs WHERE run = $run"), $what, "$what: under the number that was said");
}

kept_ok(end_it('worker cancelled', 'worker', 'cancel caller'), 'worker cancelled', 'canceling statement due to user request');
kept_ok(end_it('caller cancelled', 'caller', 'cancel caller'), 'caller cancelled', 'canceling statement due to user request');
kept_ok(end_it('worker terminated', 'worker', 'terminate worker'), 'worker terminated', 'terminating background worker');
kept_ok(end_it('worker timeout', 'worker', '', before => "SET statement_timeout = '3s';"), 'worker timeout', 'canceling statement due to statement timeout');
kept_ok(end_it('caller timeout', 'caller', '', before => "SET statement_timeout = '3s';"), 'caller timeout', 'canceling statement due to statement timeout');
# the role's own run, also for a role that is not the session's
kept_ok(end_it('plain role', 'worker', 'cancel caller', user => 'regress_plain'), 'plain role', 'canceling', 'regress_plain');
kept_ok(end_it('set role', 'caller', 'cancel caller', before => 'SET ROLE regress_plain;'), 'set role', 'canceling', 'regress_plain');
is($node->safe_psql('postgres', "SELECT owner, count(*) FROM rtbench.runs GROUP BY owner ORDER BY 1"), "postgres|5\nregress_plain|2", 'owners');

# in a transaction that had done something, which is undone, and goes on after it
$node->safe_psql('postgres', 'CREATE TABLE done (a int)');
my $err = end_it('block', 'caller', 'cancel caller', before => "BEGIN; INSERT INTO done VALUES (1); SAVEPOINT s; INSERT INTO done VALUES (2);",
	after => "ROLLBACK TO s; INSERT INTO done VALUES (3); COMMIT;");
kept_ok($err, 'block', 'canceling');
is($node->safe_psql('postgres', 'SELECT string_agg(a::text, $$,$$) FROM done'), '1,3', 'the transaction went on');

# sessions as units: those that have ended are kept
my $many = background($node, 'caller', q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(0.01)'), rtbench.arm('b', 'SELECT pg_sleep(0.01)')],
	points => '{1,2}', sessions => 1000, rounds => 2)}, verbosity => 'default');
ok(defined seen($node, 'SELECT EXISTS (SELECT FROM rtbench.progress WHERE session >= 4)'), 'sessions: four have begun');
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . pid_of($node, 'caller') . ')');
(undef, $err) = finish($many);
like($err, qr/WARNING:  run \d+ ended early and keeps what was finished/, 'sessions: it says what is kept');
nothing_left($node, 'sessions');
is($node->safe_psql('postgres', "SELECT bool_and(sessions >= 3 AND rounds = 2 * sessions) FROM rtbench.result()"), 't', 'sessions: whole ones are kept');

# nothing finished, nothing kept
my $runs = $node->safe_psql('postgres', 'SELECT count(*) FROM rtbench.runs');
my $first = background($node, 'caller', "SELECT count(*) FROM rtbench.compare($arms, setup => 'CREATE TABLE t (a int)', points => '{3,4}', rounds => 2)", verbosity => 'default');
seen($node, $sleeping);
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . pid_of($node, 'caller') . ')');
my (undef, $said) = finish($first);
unlike($said, qr/WARNING/, 'no point finished: nothing to say');
is($node->safe_psql('postgres', 'SELECT count(*) FROM rtbench.runs'), $runs, 'no point finished: no run is kept');

# no worker can be had for it: the error is the one that ended the run all the same
my @busy = map { background($node, 'busy', "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(500)')])") } (1, 2);
ok(defined seen($node, "SELECT count(*) = 2 FROM pg_stat_activity WHERE backend_type = 'rtbench worker' AND wait_event = 'PgSleep'"), 'all slots are in use');
my $poor = background($node, 'caller', "SELECT count(*) FROM $compare, transport => 'caller'); SELECT 'usable';", verbosity => 'default');
seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = 'caller')");
$node->safe_psql('postgres', 'SELECT pg_cancel_backend(' . pid_of($node, 'caller') . ')');
(my $out, $said) = finish($poor);
like($said, qr/ERROR:  canceling statement due to user request/, 'no worker to be had: the error stays the same');
unlike($said, qr/WARNING/, 'no worker to be had: nothing is said to be kept');
is($out, "usable\n", 'no worker to be had: the session can be used');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'busy'");
finish($_) for @busy;
nothing_left($node, 'in the end');

$node->stop;
done_testing();
