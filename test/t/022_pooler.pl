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
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = $port
unix_socket_dir =
auth_type = any
auth_file = $dir/users
logfile = $dir/log
pidfile = $dir/pid
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

# Arms through it, while others use the same sessions: in transaction mode each transaction may have another one.  What is prepared,
# counted or watched there must not be left to them.
my $small = q{points => '{40}', parameters => '{"other_documents": 5, "blocks_of_others": 5}', rounds => 2, control => false};
my $told = "SELECT string_agg(arm || ' ' || statements || ' ' || fired || ' ' || rows || ' ' || xids || ' ' || digest || ' ' || (verdict IN ('failed', 'not comparable')), E'\\n' ORDER BY arm) FROM rtbench.result()";
sub run_sql
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = warning; $sql");
	return $rc == 0 ? $out : $err;
}
my $inside = run_sql("SELECT count(*) FROM rtbench.sweep('delete_tree', $small); $told");
append_to_file("$dir/others.sql", "BEGIN;\nSELECT 1;\nCOMMIT;\n");
my $others = IPC::Run::start([ 'pgbench', '-n', '-f', "$dir/others.sql", '-c', 2, '-T', 600, '-h', '127.0.0.1', '-p', $port, 'transaction' ], '>', '/dev/null', '2>', "$dir/others");
foreach my $protocol ('prepared', 'extended', 'simple', 'pipeline', 'multi')
{
	is(run_sql("SELECT count(*) FROM rtbench.sweep('delete_tree', $small, server => 'transaction', protocol => '$protocol', batch => 10); $told"), $inside, "arms in transaction mode, $protocol: rows, digests and counts");
}
like(run_sql("CALL rtbench.run_sweep('statement_rollback', points => '{5}', parameters => '{\"transactions\": 3}', rounds => 2, server => 'transaction')"),
	qr/ERROR:  arms that commit cannot run through a pooler\n.*\nHINT:  Name a server/, 'arms that commit are refused: names could lead to tables of others');
# an arm that fails leaves its transaction, in which it was counted, to nobody
is(run_sql("SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1 / 0'), rtbench.arm('b', 'SELECT 1')], baseline => 'b', rounds => 2, control => false, server => 'transaction'); SELECT arm, verdict FROM rtbench.result()") =~ s/^WARNING.*\n//mgr,
	"2\na|failed\nb|baseline", 'an arm that fails');
ok($others->pumpable, 'the others go on');
$others->signal('INT');
$others->finish;
unlike(slurp_file("$dir/others"), qr/error/i, 'and were never disturbed');
nothing_left($node, 'after arms through the pooler');
$node->stop;
done_testing();
