# What takes longer than it was given, or says too much: passes longer than pass_timeout, a run longer than max_time, a flood of
# messages.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main');
my ($out, $err, $took);

sub run
{
	my ($sql) = @_;
	my $started = time();
	my ($out, $err) = finish(background($node, 'caller', "SET client_min_messages = warning;\n$sql", verbosity => 'verbose'));
	$err =~ s/^LOCATION:.*\n//mg;
	return ($out, $err, time() - $started);
}

#
# pass_timeout: ends a pass, in a statement, a loop, before the arm, in a deferred trigger; by both transports
#
for my $transport ('worker', 'caller')
{
	($out, $err) = run(qq{SELECT arm, verdict IN ('baseline', 'failed') AND (verdict = 'failed') = (arm <> 'good') FROM rtbench.compare(ARRAY[
		rtbench.arm('good', 'INSERT INTO t VALUES (1)'), rtbench.arm('sleep', 'INSERT INTO t VALUES (1)', 'SELECT pg_sleep(500)'),
		rtbench.arm('loop', 'DO ''BEGIN LOOP END LOOP; END'''), rtbench.arm('each', rtbench.foreach('SELECT generate_series(1, 1000000000)', 'SELECT 1')),
		rtbench.arm('before', steps => ARRAY['INSERT INTO t VALUES (1)'], before => 'SELECT pg_sleep(500)'), rtbench.arm('deferred', 'INSERT INTO t VALUES (2)')],
		setup => 'CREATE TABLE t (a int); CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN PERFORM pg_sleep(500); RETURN NULL; END'';
			CREATE CONSTRAINT TRIGGER d AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.a = 2) EXECUTE FUNCTION f()',
		pass_timeout => '300 ms', rounds => 2, transport => '$transport'); SELECT 'usable';});
	is($out, "good|t\nsleep|t\nloop|t\neach|t\nbefore|t\ndeferred|t\nusable\n", "pass_timeout, $transport: these have failed, the others go on");
	is(() = $err =~ /WARNING:  57014: arm "\w+" failed: pass took longer than pass_timeout \(300 ms\)/g, 5, "pass_timeout, $transport: each is said");
	is($node->safe_psql('postgres', "SELECT count(*) FROM rtbench.result() WHERE verdict = 'failed' AND notes ~ '57014' AND median_ms IS NULL"), 5, "pass_timeout, $transport: and noted");
	nothing_left($node, "pass_timeout, $transport");
}
# an arm's own statement_timeout is not that
($out, $err) = run(q{SET statement_timeout = '10 s'; SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('good', 'SELECT 1'),
	rtbench.arm('limited', 'SET statement_timeout = ''100ms''', 'SELECT pg_sleep(500)')], rounds => 2, pass_timeout => '5 s')});
is($out, "good|baseline\nlimited|failed\n", 'statement_timeout of an arm: it has failed');
like($err, qr/WARNING:  57014: arm "limited" failed: canceling statement due to statement timeout/, 'statement_timeout of an arm: it says so');

#
# a digest that takes seconds is no part of the passes that are repeated
#
is($node->safe_psql('postgres', q{SET client_min_messages = error; SELECT arm FROM rtbench.compare(ARRAY[rtbench.arm('quick', 'INSERT INTO t VALUES (1)')],
	setup => 'CREATE TABLE t (a int)', check_query => 'SELECT a FROM t WHERE pg_sleep(3.1) IS NOT NULL', rounds => 1, control => false);
	SELECT repetitions > 1 FROM rtbench.passes WHERE run = (SELECT max(run) FROM rtbench.runs) AND kind = 'last'}), "quick\nt", 'a slow digest: the pass is repeated');

#
# max_time: what is left of it is what a pass gets; points that no longer fit are named
#
for my $how ('rounds => 4', 'sessions => NULL')
{
	($out, $err, $took) = run(qq{SELECT point, arm, verdict = 'failed' FROM rtbench.compare(ARRAY[rtbench.arm('good', 'SELECT 1'),
		rtbench.arm('long', 'SELECT pg_sleep(CASE :n WHEN 1 THEN 0 ELSE 500 END)')], points => '{1,2,3}', max_time => '2 s', $how)});
	cmp_ok($took, '<', 12, "max_time, $how: the run ends");
	like($err, qr/WARNING:  57014: arm "long" failed at point 2: pass took longer than pass_timeout/, "max_time, $how: the pass that took too long is named");
	like($out, qr/^1\|good\|f\n1\|long\|f\n2\|good\|f\n2\|long\|t\n/, "max_time, $how: what was done is there");
	nothing_left($node, "max_time, $how");
}

#
# a flood of messages, from an arm that the user wants to see, from the setup, and of megabytes each
#
($out, $err) = run(q{SET client_min_messages = debug1; SET log_min_messages = fatal;
SELECT arm, statements FROM rtbench.compare(ARRAY[rtbench.arm('quiet', 'SELECT 1'),
	rtbench.arm('loud', 'DO ''BEGIN FOR i IN 1..20000 LOOP RAISE NOTICE ''''%'''', repeat(''''x'''', 100); END LOOP; FOR i IN 1..5 LOOP RAISE WARNING ''''%'''', repeat(''''x'''', 1000000); END LOOP; END''')],
	rounds => 2)});
is($out, "quiet|1\nloud|1\n", 'messages of an arm: the run works');
unlike($err, qr/xxx/, 'messages of an arm: none is shown');
($out, $err) = run(q{SET client_min_messages = notice; SET log_min_messages = fatal;
SELECT arm, statements FROM rtbench.compare(ARRAY[rtbench.arm('quiet', 'SELECT 1')], setup => 'DO ''BEGIN FOR i IN 1..20000 LOOP RAISE NOTICE ''''x%x'''', i; END LOOP;
	RAISE NOTICE ''''%'''', repeat(''''y'''', 1000000); END''', rounds => 2)});
is($out, "quiet|1\n", 'messages of the setup: the run works');
is(() = $err =~ /^NOTICE:  00000: x\d+x$/mg, 20000, 'messages of the setup: all are shown');
is(() = $err =~ /^NOTICE:  00000: y+$/mg, 1, 'messages of the setup: also long ones');
nothing_left($node, 'messages');

$node->stop;
done_testing();
