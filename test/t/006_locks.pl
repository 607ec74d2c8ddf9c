# What would wait for ever: locks of the caller's, for which his own worker waits, are an error soon; for those of others a run waits
# as any statement does.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main', "deadlock_timeout = '200ms'\n");
$node->safe_psql('postgres', q{CREATE TABLE held (a int PRIMARY KEY, b int); INSERT INTO held SELECT g, 0 FROM generate_series(1, 10) g; CREATE TABLE "He ld" (a int)});

sub run
{
	my ($sql) = @_;
	my $started = time();
	my ($out, $err) = finish(background($node, 'caller', "SET client_min_messages = warning;\n$sql", verbosity => 'verbose'));
	$err =~ s/^LOCATION:.*\n//mg;
	return ($out, $err, time() - $started);
}

#
# a lock of the caller's: an error soon, which names the relation
#
sub blocked
{
	my ($what, $before, $arm, $lock) = @_;
	my ($out, $err, $took) = run("BEGIN; $before SAVEPOINT s;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', \$arm\$$arm\$arm\$)], rounds => 2);
ROLLBACK TO s;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', \$arm\$$arm\$arm\$)], rounds => 2, transport => 'caller');
COMMIT; SELECT 'usable';");
	is($err, "ERROR:  55P03: this transaction blocks the rtbench worker that it waits for
DETAIL:  The worker waits for $lock.
HINT:  Commit first, or use transport => 'caller'.\n", "$what: named, with the way out");
	is($out, "1\nusable\n", "$what: the way out is one, the session can be used");
	cmp_ok($took, '<', 8, "$what: soon");
	nothing_left($node, $what);
}
blocked('table', 'LOCK TABLE "He ld";', 'INSERT INTO "He ld" VALUES (1)', 'relation "public.He ld"');
blocked('row', 'UPDATE held SET b = 1 WHERE a = 3;', 'UPDATE held SET b = 2', 'a row of relation "public.held"');
blocked('key', 'INSERT INTO held VALUES (11, 0);', 'INSERT INTO held VALUES (11, 1) ON CONFLICT DO NOTHING', 'a row of relation "public.held"');
# in the setup, and by way of another session, which waits for the caller and is waited for
my ($out, $err) = run(q{BEGIN; LOCK TABLE held; SAVEPOINT s;
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TABLE t AS TABLE held');
ROLLBACK TO s;
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'TABLE held'); ROLLBACK});
is(() = $err =~ /DETAIL:  The worker waits for relation "public\.held"\./g, 2, 'setup and check query');
my $middle = background($node, 'middle', q{BEGIN; LOCK TABLE "He ld"; UPDATE held SET b = 3 WHERE a = 3; COMMIT});
my $caller = background($node, 'caller', q{BEGIN; UPDATE held SET b = 4 WHERE a = 3; SELECT pg_sleep(1);
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO "He ld" VALUES (1)')], rounds => 2); ROLLBACK;}, verbosity => 'verbose');
# whoever comes first: either the caller holds the row, so that the chain closes, or nobody waits
(undef, $err) = finish($caller);
finish($middle);
unlike($err, qr/deadlock|57014/, 'a chain of three');
nothing_left($node, 'a chain of three');

#
# over a connection the far backend waits, and the run ends the same way; VACUUM is sent outside any transaction
#
for my $way (
	[ 'an arm', 'LOCK TABLE held;', 'UPDATE held SET b = 2', 'relation "public.held"' ],
	[ 'a VACUUM between passes', 'ANALYZE held;', 'UPDATE held SET b = 2', 'relation "public.held"' ],
	[ 'a row', 'UPDATE held SET b = 1 WHERE a = 3;', 'UPDATE held SET b = 2', 'a row of relation "public.held"' ])
{
	my ($what, $before, $arm, $lock) = @$way;
	my (undef, $err, $took) = run("BEGIN; $before SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', '$arm'), rtbench.arm('b', '$arm')], transport => 'unix', rounds => 2); COMMIT;");
	like($err, qr/^ERROR:  55P03: this transaction blocks the rtbench connection that it waits for\nDETAIL:  The connection waits for \Q$lock\E\./, "$what over a connection: named");
	cmp_ok($took, '<', 12, "$what over a connection: soon, at once for all arms");
	nothing_left($node, "$what over a connection");
}
# a load, whose sessions wait for the caller only after they have got on well
(undef, $err, my $load_took) = run(q{SELECT pg_advisory_lock(9);
CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('s', 'INSERT INTO x SELECT 1 FROM (SELECT CASE WHEN nextval(''calls'') > 100 THEN pg_advisory_xact_lock(9) END) l'), sessions => 2)],
	setup => 'CREATE TABLE x (i int); CREATE SEQUENCE calls', transport => 'unix', duration => '60 s', warmup => '0');});
like($err, qr/55P03: this transaction blocks the rtbench connection that it waits for/, 'a load that waits for the caller: named');
cmp_ok($load_took, '<', 20, 'a load that waits for the caller: soon');
nothing_left($node, 'a load that waits for the caller');

#
# a lock of somebody else's: wait, like any statement, and go on when it is free
#
my $other = background($node, 'other', 'BEGIN; LOCK TABLE held; SELECT pg_sleep(500)');
seen($node, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'held'::regclass AND mode = 'AccessExclusiveLock' AND granted)");
my $waits = background($node, 'caller', q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'UPDATE held SET b = 2')], rounds => 2)});
ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker' AND wait_event_type = 'Lock')"), 'another session holds the lock');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'other'");
finish($other);
is((finish($waits))[0], "1\n", 'the run goes on when it is free');
# lock_timeout is the arm's own
$other = background($node, 'other', 'BEGIN; LOCK TABLE held; SELECT pg_sleep(500)');
seen($node, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'held'::regclass AND mode = 'AccessExclusiveLock' AND granted)");
($out, $err) = run(q{SET lock_timeout = '100ms'; SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', 'UPDATE held SET b = 2'), rtbench.arm('b', 'SELECT 1')], baseline => 'b', rounds => 2)});
is($out, "a|failed\nb|baseline\n", 'lock_timeout: the arm has failed');
like($err, qr/WARNING:  55P03: arm "a" failed: canceling statement due to lock timeout/, 'lock_timeout: it says so');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'other'");
finish($other);

$node->stop;
done_testing();
