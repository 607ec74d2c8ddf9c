# Runs of arms that commit: the caller waits without a snapshot; ended in any way, during a pass or while the fixture is built anew, they leave nothing,
# and the next run works; plain roles, two runs at once, other isolation levels, and transactions that are prepared for two phases.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $node = new_node('main', "max_prepared_transactions = 2\n");
$node->safe_psql('postgres', 'CREATE ROLE regress_plain LOGIN; CREATE ROLE regress_poor LOGIN; GRANT CREATE ON DATABASE postgres TO regress_plain;
	CREATE TABLE signals (to_rebuild boolean); GRANT SELECT ON signals TO PUBLIC');

# sleeps in its first pass until a signal; building the fixture anew then sleeps, holding an advisory lock for us to see
my $waits = q{CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)',
	'DO $$ BEGIN WHILE NOT EXISTS (SELECT FROM public.signals) LOOP PERFORM pg_sleep(0.02); END LOOP; END $$', 'INSERT INTO t VALUES (2)'], ending => 'autocommit')],
	setup => 'CREATE TABLE t (a int); SELECT pg_advisory_lock(77), pg_sleep(600) FROM public.signals', rounds => 1)};
my $good = q{CALL rtbench.run_compare(ARRAY[
	rtbench.arm('each', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', ARRAY['INSERT INTO t VALUES ($1)'], commit_every => 5)], ending => 'commit'),
	rtbench.arm('block', steps => ARRAY['DO $$ BEGIN FOR i IN 1 .. 20 LOOP INSERT INTO t VALUES (i); IF i % 5 = 0 THEN COMMIT; END IF; END LOOP; END $$'], ending => 'autocommit')],
	setup => 'CREATE TABLE t (a int PRIMARY KEY)', rounds => 2)};
my $look = q{SELECT arm, transactions, xids, rows, digest = first_value(digest) OVER (), verdict FROM rtbench.result()};
my $right = "each|4|4|20|t|baseline\nblock|4|4|20|t|more rounds needed\n";

sub works
{
	my ($user, $what, $before) = @_;
	my ($out, $err) = finish(background($node, 'good', "SET client_min_messages = warning; " . ($before // '') . "\n$good;\n$look;", user => $user));
	is("$err$out", $right, $what);
}

sub in_pass { return seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker' AND wait_event = 'PgSleep')"); }
sub in_rebuild { return seen($node, "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = 77 AND granted)"); }

# ---- without a snapshot ----

my $run = background($node, 'caller', "SET client_min_messages = warning; $waits; SELECT 'usable';");
ok(defined in_pass(), 'a pass goes on');
my $caller = "SELECT backend_xmin IS NULL AND backend_xid IS NULL FROM pg_stat_activity WHERE application_name = 'caller'";
is($node->safe_psql('postgres', $caller), 't', 'the caller waits without a snapshot');
# what is dead is removed, though the run began before it died: only the pass itself, in a transaction of its own, may hold it back
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'");
my ($out, $err) = finish($run);
is("$err$out", "ERROR:  57014\nusable\n", 'the run is cancelled, its session usable');
nothing_left($node, 'cancelled in a pass');
my $selects = background($node, 'caller', q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(600)')])});
ok(defined in_pass(), 'a pass of a run by SELECT goes on');
is($node->safe_psql('postgres', $caller), 'f', 'there the caller has one: the test can fail');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'");
finish($selects);
nothing_left($node, 'terminated');

# ---- ended early ----

for my $where ('a pass', 'the rebuild')
{
	for my $how ('cancel the caller', 'terminate the caller', 'terminate the worker', 'kill the worker', 'leave')
	{
		$node->safe_psql('postgres', 'TRUNCATE signals');
		my $ended = background($node, 'ended', "SET client_connection_check_interval = '100ms'; $waits;", user => 'regress_plain');
		ok(defined in_pass(), "$how in $where: it goes on");
		if ($where eq 'the rebuild')
		{
			$node->safe_psql('postgres', 'INSERT INTO signals VALUES (true)');
			ok(defined in_rebuild(), "$how in $where: it is there");
		}
		my $pid = pid_of($node, 'ended', $how =~ /worker/);
		if ($how =~ /^kill/)
		{
			PostgreSQL::Test::Utils::system_log('pg_ctl', 'kill', 'KILL', $pid);
		}
		elsif ($how eq 'leave')
		{
			$ended->{h}->signal('KILL');
		}
		else
		{
			$node->safe_psql('postgres', sprintf('SELECT pg_%s_backend(%d)', $how =~ /^(\w+)/, $pid));
		}
		finish($ended);
		# a process that was killed cannot drop its schema: the next run does
		$node->poll_query_until('postgres', 'SELECT true', 't') if $how =~ /^kill/;
		nothing_left($node, "$how in $where") unless $how =~ /^kill/;
		$node->safe_psql('postgres', 'TRUNCATE signals');
		works('regress_plain', "$how in $where: the next run works");
		nothing_left($node, "$how in $where, and a run");
	}
}
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_locks WHERE locktype = \'advisory\''), '0', 'no advisory lock is left');

# ---- roles, isolation, two at once ----

works('postgres', 'a superuser');
my ($poor_out, $poor_err) = finish(background($node, 'poor', "$good;", user => 'regress_poor'));
like($poor_err, qr/ERROR:  42501/, 'without CREATE on the database: refused');
for my $level ('repeatable read', 'serializable')
{
	works('regress_plain', $level, "SET default_transaction_isolation = '$level';");
}
works('regress_plain', 'deferrable, with synchronous_commit off', "SET default_transaction_deferrable = on; SET synchronous_commit = off;");
($out, $err) = finish(background($node, 'read only', "SET default_transaction_read_only = on; $good;", user => 'regress_plain'));
like($err, qr/ERROR:  25006/, 'read only: refused');
nothing_left($node, 'roles and levels');

my $sweep = q{SET client_min_messages = error; CALL rtbench.run_sweep('%s', points => '{10}', parameters => '{"rows": 100}', rounds => 3);
	SELECT count(*), count(DISTINCT digest), bool_and(verdict NOT IN ('failed', 'not comparable')) FROM rtbench.result((SELECT max(run) FROM rtbench.runs WHERE scenario = '%s'));};
my %both = map { $_ => background($node, $_, sprintf($sweep, $_, $_), user => 'regress_plain') } ('statement_rollback', 'procedure_vs_statements');
my $third = background($node, 'third', sprintf($sweep, 'procedure_vs_statements', 'procedure_vs_statements'));
is(join('', finish($_)), "4|1|t\n", "at once: $_->{name}") for values %both, $third;
nothing_left($node, 'at once');

# ---- two phases ----

($out, $err) = finish(background($node, 'two phases', q{CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)', 'PREPARE TRANSACTION ''regress''' ], ending => 'commit')], setup => 'CREATE TABLE t (a int)');
	CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY[rtbench.generated('SELECT ''PREPARE TRANSACTION ''''regress''''''')], ending => 'autocommit')], setup => 'CREATE TABLE t (a int)', rounds => 1);
	CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['COMMIT PREPARED ''regress'''], ending => 'autocommit')], setup => 'CREATE TABLE t (a int)');},
	verbosity => 'default'));
like($err, qr/ERROR: .*PREPARE TRANSACTION/, 'PREPARE TRANSACTION is refused by name');
like($err, qr/WARNING:  arm "a" failed: .*PREPARE TRANSACTION/, 'also where it is generated');
like($err, qr/ERROR: .*COMMIT PREPARED/, 'COMMIT PREPARED is refused by name');
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), '0', 'nothing is prepared');
# somebody else's stays as it is
$node->safe_psql('postgres', "BEGIN; CREATE TABLE of_others (a int); PREPARE TRANSACTION 'regress_others'");
works('regress_plain', 'beside a prepared transaction');
is($node->safe_psql('postgres', 'SELECT gid FROM pg_prepared_xacts'), 'regress_others', 'which stays');
$node->safe_psql('postgres', "ROLLBACK PREPARED 'regress_others'");
nothing_left($node, 'in the end');

$node->stop;
done_testing();
