# A run that is cancelled, runs into statement_timeout, or loses its caller or its worker, wherever it is: within moments there is
# no worker, scratch schema, lock or prepared statement left, the session can be used, and the next run works.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $node = new_node('main');
$node->safe_psql('postgres', 'CREATE TABLE users (a int); INSERT INTO users SELECT generate_series(1, 10)');

# what sleeps where; VACUUM waits for another session's lock
my $sleep = 'SELECT pg_sleep(600)';
my %run = (
	'setup' => qq{rtbench.compare(ARRAY[rtbench.arm('a', 'PREPARE left_over AS SELECT 1', 'INSERT INTO t VALUES (1)')], setup => 'CREATE TABLE t (a int); $sleep'},
	'pass' => qq{rtbench.compare(ARRAY[rtbench.arm('a', 'PREPARE left_over AS SELECT 1', 'SELECT pg_advisory_lock(1)', 'INSERT INTO t VALUES (1)', '$sleep')], setup => 'CREATE TABLE t (a int)'},
	'check' => qq{rtbench.compare(ARRAY[rtbench.arm('a', 'PREPARE left_over AS SELECT 1', 'INSERT INTO t VALUES (1)')], setup => 'CREATE TABLE t (a int)', check_query => '$sleep'},
	'vacuum' => q{rtbench.compare(ARRAY[rtbench.arm('a', 'PREPARE left_over AS SELECT 1', 'UPDATE users SET a = a + 1')], rounds => 4});
my %reached = (
	'vacuum' => "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'users'::regclass AND mode = 'ShareUpdateExclusiveLock' AND NOT granted)");
my $sleeping = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')";

sub end_it
{
	my ($transport, $where, $how) = @_;
	my $what = "$transport, $where, $how";
	my $blocker;
	if ($where eq 'vacuum')
	{
		$blocker = background($node, 'blocker', "BEGIN; LOCK TABLE users IN SHARE UPDATE EXCLUSIVE MODE; SELECT pg_sleep(600);");
		seen($node, "SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'users'::regclass AND granted)");
	}
	my $limit = $how eq 'statement_timeout' ? "SET statement_timeout = '300ms';" : '';
	my $session = background($node, 'caller', "SET client_min_messages = error; $limit
SELECT 'ended' FROM $run{$where}, transport => '$transport');
RESET statement_timeout;
SELECT 'usable', count(*), (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory') FROM pg_prepared_statements;
SELECT 'next', count(*) FROM $fixture, transport => 'worker');
SELECT 'next', count(*) FROM $fixture, transport => 'caller');
");
	if ($how ne 'statement_timeout')
	{
		ok(defined seen($node, $reached{$where} // $sleeping), "$what: it got there");
		my $victim = $how =~ /worker/ ? pid_of($node, 'caller', 1) : pid_of($node, 'caller');
		my $function = $how =~ /terminate/ ? 'pg_terminate_backend' : 'pg_cancel_backend';
		$node->safe_psql('postgres', "SELECT $function($victim)");
	}
	if ($how eq 'terminate caller')
	{
		my ($out, $err) = finish($session, 10);
		is($out, '', "$what: the session ended");
		like($err, qr/57P01/, "$what: because it was told to");
		nothing_left($node, $what, but => ['blocker']);
		my $next = background($node, 'caller', "SET client_min_messages = error; SELECT 'next', count(*) FROM $fixture);");
		is((finish($next))[0], "next|2\n", "$what: the next run works");
	}
	else
	{
		my ($out, $err) = finish($session);
		my $state = $how eq 'terminate worker' ? '57P01' : '57014';
		is($out, "usable|0|0\nnext|2\nnext|2\n", "$what: the session can be used, the next runs work");
		is($err, "ERROR:  $state\n", "$what: the error is $state");
		nothing_left($node, $what, but => ['blocker']);
	}
	if ($blocker)
	{
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'blocker'");
		finish($blocker);
	}
}

for my $where ('setup', 'pass', 'check', 'vacuum')
{
	end_it('worker', $where, $_) for ('cancel caller', 'statement_timeout', 'terminate caller', 'terminate worker', 'cancel worker');
}
for my $where ('setup', 'pass', 'check')
{
	end_it('caller', $where, $_) for ('cancel caller', 'statement_timeout', 'terminate caller');
}
is($node->safe_psql('postgres', 'SELECT sum(a) FROM users'), '55', "the user's table is as it was");
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"), '0', 'no advisory lock is left');

$node->stop;
done_testing();
