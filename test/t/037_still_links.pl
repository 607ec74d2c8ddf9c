# A link or a far end that stands still, as a stopped process or a lost wire do: nobody says no, nobody answers.  Cancel, termination and
# timeouts of the caller act all the same, in bounded time; what cannot be dropped then is told, and goes when the far end wakes, or
# with rtbench.cleanup().

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use RtbTest;
use WireProxy;
use Test::More;
use Time::HiRes qw(time sleep);

my $node = new_node('main', "listen_addresses = '127.0.0.1'\n");
my $other = new_node('other');
my $proxy = WireProxy->start(to => $node->port);
$node->safe_psql('postgres', "CREATE SERVER prox FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '${\$proxy->port}', dbname 'postgres', sslmode 'disable');
	CREATE SERVER other FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '${\$other->host}', port '${\$other->port}', dbname 'postgres');
	CREATE USER MAPPING FOR PUBLIC SERVER prox; CREATE USER MAPPING FOR PUBLIC SERVER other");

my $far = "FROM pg_stat_activity WHERE application_name = 'rtbench' AND state = 'active' AND query ~ 'pg_sleep'";
my $cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'";
my $terminate = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'";

# the process that stands still: the proxy, a postmaster, or the far backend
sub still
{
	my ($what, $at) = @_;
	return $proxy->{pid} if $what eq 'proxy';
	return (split /\n/, slurp_file($at->data_dir . '/postmaster.pid'))[0] if $what eq 'postmaster';
	return $at->safe_psql('postgres', "SELECT pid $far LIMIT 1");
}

# start a call, stop what it goes over when it is under way, end the call; it ends as it should, and soon
sub stands_still
{
	my ($name, $call, $what, $do, $state, $within, %opt) = @_;
	my $at = $opt{at} // $node;
	my $caller = background($node, 'caller', "$call;\nSELECT 'usable';");
	ok(defined seen($at, "SELECT EXISTS (SELECT $far)"), "$name: under way");
	my $pid = still($what, $at);
	kill 'STOP', $pid;
	my $started = time();
	$node->safe_psql('postgres', $do) if defined $do;
	my ($out, $err) = finish($caller, 20);
	my $took = time() - $started;
	note(sprintf '%s: %.1f s', $name, $took);
	like($err, $state, "$name: its SQLSTATE");
	like($out, qr/usable\n$/, "$name: the session can be used") unless $do && $do eq $terminate;
	cmp_ok($took, '<', $within, "$name: soon");
	kill 'CONT', $pid;
	# what no request could reach goes on until it has something to say
	$at->safe_psql('postgres', "SELECT pg_terminate_backend(pid) $far") unless $what eq 'backend';
	ok(defined seen($at, "SELECT NOT EXISTS (SELECT $far)", 5), "$name: nothing runs when it wakes");
	return $err;
}

my $ask = "SELECT rtbench.ask('SELECT pg_sleep(20)', server => '%s')";
stands_still('a proxy: cancel', sprintf($ask, 'prox'), 'proxy', $cancel, qr/ERROR:  57014/, 2.5);
stands_still('a proxy: terminate', sprintf($ask, 'prox'), 'proxy', $terminate, qr/57P01|server closed/, 2.5);
stands_still('a proxy: statement_timeout', "SET statement_timeout = '1s'; " . sprintf($ask, 'prox'), 'proxy', undef, qr/ERROR:  57014/, 3.5);
stands_still('a postmaster by its unix socket: cancel', sprintf($ask, 'other'), 'postmaster', $cancel, qr/ERROR:  57014/, 2.5, at => $other);
stands_still('a backend: cancel', sprintf($ask, 'other'), 'backend', $cancel, qr/ERROR:  57014/, 2.5, at => $other);

# runs: the arm has written, so that its locks are in the way of dropping the fixture
my $run = "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT pg_sleep(20)'), rtbench.arm('b', 'INSERT INTO t VALUES (1)')], setup => 'CREATE TABLE t (i int)', %s)";
for my $what ('backend', 'proxy')
{
	my $told = stands_still("a run, $what: cancel", sprintf($run, "server => 'prox'"), $what, $cancel, qr/ERROR:  57014/, 3.5);
	like($told, qr/^WARNING:  01000$/m, "a run, $what: it is told that something goes on alone");
	stands_still("a run, $what: statement_timeout", "SET statement_timeout = '2s'; " . sprintf($run, "server => 'prox'"), $what, undef, qr/ERROR:  57014/, 5.5);
	my $err = stands_still("a run, $what: pass_timeout", sprintf($run, "server => 'prox', pass_timeout => '1 s'"), $what, undef, qr/ERROR:  08006/, 5);
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker')", 12), "a run, $what: no worker stays");
	$node->safe_psql('postgres', "SELECT rtbench.cleanup('prox')");
	nothing_left($node, "a run, $what");
}
stands_still('a run by tcp, backend: cancel', sprintf($run, "transport => 'tcp'"), 'backend', $cancel, qr/ERROR:  57014/, 3.5);
nothing_left($node, 'a run by tcp, backend', limit => 10);

# loads
my $load = "CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT pg_sleep(20)'), sessions => 3)], setup => 'CREATE TABLE t (i int)', duration => '30 s', warmup => '0', server => 'prox')";
for my $what ('backend', 'proxy')
{
	stands_still("a load, $what: cancel", $load, $what, $cancel, qr/ERROR:  57014/, 3.5);
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker')", 12), "a load, $what: no worker stays");
	$node->safe_psql('postgres', "SELECT rtbench.cleanup('prox')");
	nothing_left($node, "a load, $what");
}
$proxy->stop;
$other->stop;
$node->stop;
done_testing();
