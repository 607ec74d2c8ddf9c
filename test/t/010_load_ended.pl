# A load that is cancelled, runs into statement_timeout, or loses its caller, a session or its keeper: over within a second, with
# its error; no worker, scratch schema or lock is left, the session can be used, and the next load works.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main', "max_worker_processes = 12\n");
my $table = 'CREATE TABLE t (i int); INSERT INTO t VALUES (0)';
my %load = (
	'setup' => q{CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'))], setup => 'SELECT pg_sleep(600)')},
	'at work' => qq{CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT pg_advisory_lock_shared(1)'), 2), rtbench.load_group('r', rtbench.arm('b', 'SELECT count(*) FROM t'))], duration => '600 s', setup => '$table')},
	'long statement' => qq{CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'UPDATE t SET i = i + 1', 'SELECT pg_sleep(600)'), 2), rtbench.load_group('s', rtbench.arm('b', 'SELECT pg_sleep(600)'), rate => 0.01)], duration => '600 s', setup => '$table')},
	'compare' => qq{CALL rtbench.run_load_compare(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'INSERT INTO t VALUES (1)')), rtbench.load_group('w', rtbench.arm('b', 'INSERT INTO t VALUES (2)'))], duration => '600 s', setup => '$table')});
my $next = "CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'INSERT INTO t VALUES (1)'), 2)], duration => '100 ms', warmup => '0', setup => '$table');
SELECT 'next', transactions > 0 FROM rtbench.load_result();";

sub reached
{
	my ($where) = @_;
	return defined seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')") if $where eq 'setup';
	return defined seen($node, "SELECT EXISTS (SELECT FROM rtbench.progress WHERE phase = 'load' AND elapsed > '300 ms')");
}

sub end_it
{
	my ($where, $how) = @_;
	my $what = "$where, $how";
	my $limit = $how eq 'statement_timeout' ? "SET statement_timeout = '700ms';" : '';
	my $session = background($node, 'caller', "SET client_min_messages = error; $limit
$load{$where};
RESET statement_timeout;
SELECT 'usable', count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory';
$next");
	ok(reached($where), "$what: it got there") if $how ne 'statement_timeout';
	my $caller = pid_of($node, 'caller');
	# the keeper was started first, the sessions after it
	my $worker = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker' ORDER BY backend_start";
	my $victim = $how =~ /session/ ? $node->safe_psql('postgres', "$worker DESC LIMIT 1") : $how =~ /keeper/ ? $node->safe_psql('postgres', "$worker LIMIT 1") : $caller;
	my $started = time();
	if ($how ne 'statement_timeout')
	{
		my $function = $how =~ /terminate/ ? 'pg_terminate_backend' : 'pg_cancel_backend';
		$node->safe_psql('postgres', "SELECT $function($victim)");
		ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM rtbench.progress WHERE phase <> 'starting' AND elapsed > '300 ms')", 3), "$what: it ends");
		cmp_ok(time() - $started, '<', 2, "$what: within moments");
	}
	my ($out, $err) = finish($session, 20);
	if ($how eq 'terminate caller')
	{
		like($err, qr/57P01/, "$what: because it was told to");
		nothing_left($node, $what);
		return;
	}
	my $state = $how =~ /terminate (session|keeper)/ ? '57P01' : '57014';
	is($out, "usable|0\nnext|t\n", "$what: the session can be used, the next load works");
	is($err, "ERROR:  $state\n", "$what: the error is $state");
	nothing_left($node, $what);
}

for my $where ('setup', 'at work', 'long statement', 'compare')
{
	end_it($where, $_) for ('cancel caller', 'statement_timeout', 'terminate caller', 'terminate session', 'terminate keeper');
}

# a session killed outright takes the server down with it: what it left is swept up by the next load of the role
my $killed = background($node, 'caller', "$load{'at work'};");
ok(reached('at work'), 'kill: it got there');
my $victim = $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker' ORDER BY backend_start DESC LIMIT 1");
kill 'KILL', $victim;
finish($killed);
ok(defined seen($node, 'SELECT true'), 'kill: the server is back');
my $after = background($node, 'caller', "SET client_min_messages = error; $next");
is((finish($after))[0], "next|t\n", 'kill: the next load works');
nothing_left($node, 'kill');

# somebody cancels one statement of a session: an error of that transaction, and the load goes on
my $going = background($node, 'caller', "SET client_min_messages = error;
CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'SELECT pg_sleep(0.2)'))], duration => '1500 ms', warmup => '0', setup => '$table');
SELECT transactions > 0, errors FROM rtbench.load_result();");
ok(reached('at work'), 'one statement: it got there');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE backend_type = 'rtbench worker' AND wait_event = 'PgSleep'");
is((finish($going))[0], "t|{\"57014\": 1}\n", 'one statement: cancelled, counted');
nothing_left($node, 'one statement');

# the caller waits without a snapshot
my $waiting = background($node, 'caller', "$load{'at work'};");
ok(reached('at work'), 'snapshot: it got there');
is($node->safe_psql('postgres', "SELECT backend_xmin IS NULL, backend_xid IS NULL FROM pg_stat_activity WHERE application_name = 'caller' AND backend_type = 'client backend'"), 't|t', 'the caller holds no snapshot');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(" . pid_of($node, 'caller') . ")");
finish($waiting);
nothing_left($node, 'snapshot');

$node->stop;
done_testing();
