# A run is seen by other sessions of its role and of pg_read_all_stats, by nobody else, and only as long as it goes on.

use strict;
use warnings;
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION rtbench;
	CREATE DATABASE "the other";
	CREATE ROLE runner LOGIN;
	CREATE ROLE member LOGIN IN ROLE runner;
	CREATE ROLE another LOGIN;
	CREATE ROLE watcher LOGIN IN ROLE pg_read_all_stats;
	GRANT CREATE ON DATABASE postgres TO runner, another;
});
$node->safe_psql('the other', 'CREATE EXTENSION rtbench');

# the answer that a role gets
sub ask
{
	my ($role, $sql, $database) = @_;
	return $node->safe_psql($database // 'postgres', $sql, extra_params => [ '-U', $role ]);
}

# start psql with a statement
sub begin
{
	my ($role, $sql) = @_;
	my %run = (out => '', err => '');
	$run{handle} = IPC::Run::start(
		[ 'psql', '-XAtq', '-v', 'ON_ERROR_STOP=1', '-U', $role, '-d', $node->connstr('postgres'), '-c', $sql ],
		'<', \undef, '>', \$run{out}, '2>', \$run{err});
	return \%run;
}

# the row of a role's run, once the condition holds
sub wait_for
{
	my ($role, $condition) = @_;
	my %row;
	for (my $end = time + 120; time < $end; sleep 0.05)
	{
		my @columns = qw(pid datname owner run scenario phase point session sessions_planned round passes_done passes_planned elapsed estimate);
		my $row = ask($role, "SELECT * FROM rtbench.progress WHERE owner = '$role'::regrole AND $condition");
		next if $row eq '';
		@row{@columns} = split /\|/, $row, -1;
		return \%row;
	}
	die "no progress of $role: $condition";
}

sub nothing_is_left
{
	my ($what) = @_;
	$node->poll_query_until('postgres', "SELECT count(*) = 0 FROM pg_stat_activity WHERE usename IN ('runner', 'another')")
		or die 'sessions go on';
	is(ask('postgres', 'SELECT count(*) FROM rtbench.progress'), 0, "no row $what");
	is(ask('postgres', "SELECT count(*) FROM pg_locks WHERE locktype IN ('userlock', 'advisory')"), 0, "no lock $what");
}

# about 30 ms a pass
sub sweep
{
	my ($options) = @_;
	return "SELECT point, arm FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(0.03)'),
		rtbench.arm('b', 'SELECT pg_sleep(0.03)')], points => '{1,2}', swept => 'n', $options)";
}
my $kept = sub { return ask('runner', "SELECT complete FROM rtbench.runs WHERE run = $_[0]") };

# a whole run
my $run = begin('runner', sweep('sessions => 5'));
my $row = wait_for('runner', "session > 1 AND round IS NOT NULL");
my $pid = ask('postgres', "SELECT pid FROM pg_stat_activity WHERE query LIKE '%pg_sleep(0.03)%' AND backend_type = 'client backend' AND pid <> pg_backend_pid()");
is("@$row{qw(pid datname owner scenario phase sessions_planned)}", "$pid postgres runner compare sessions 5", 'what is running');
like($row->{point}, qr/^[12]$/, 'the point');
like($row->{session}, qr/^[2-5]$/, 'the session');
cmp_ok($row->{passes_done}, '>', 20, 'passes done');
cmp_ok($row->{passes_planned}, '>', $row->{passes_done}, 'of more');
like($row->{elapsed}, qr/^00:00:/, 'the time it took');
like($row->{estimate}, qr/^00:00:/, 'the time it will take');
my $later = wait_for('runner', "passes_done > $row->{passes_done}");
cmp_ok($later->{elapsed}, 'gt', $row->{elapsed}, 'time passes');

# who sees it
my $count = 'SELECT count(*) FROM rtbench.progress';
is(ask('member', $count), 1, 'a role that has the privileges of its role');
is(ask('another', $count), 0, 'any role');
is(ask('watcher', $count), 1, 'a member of pg_read_all_stats');
is(ask('postgres', $count), 1, 'a superuser');
is(ask('runner', 'SELECT datname, pid FROM rtbench.progress', 'the other'), "postgres|$pid", 'from another database');
is(ask('another', $count, 'the other'), 0, 'any role from another database');
is(ask('another', 'SELECT count(*) FROM rtbench.runs'), 0, 'it is in no table yet');

# anyone may take the same key as an advisory lock, and other keys
my $key = ask('postgres', "SELECT classid::int || ',' || CASE WHEN objid > 2147483647 THEN objid::bigint - 4294967296 ELSE objid::bigint END FROM pg_locks WHERE locktype = 'userlock'");
is(ask('another', "SET lock_timeout = '2s'; SELECT pg_advisory_lock($key); SELECT pg_advisory_lock(1920230000, g) FROM generate_series(1, 100) g; $count") =~ tr/0-9//cdr,
	0, 'forged locks show nothing to who took them');
is(ask('postgres', "SELECT pg_advisory_lock($key); SELECT pid FROM rtbench.progress") =~ tr/0-9//cdr, $pid, 'nor change what is there');

IPC::Run::finish($run->{handle});
is($run->{out}, "1|a\n1|b\n2|a\n2|b\n", 'it ends with its result');
like($run->{err}, qr/^NOTICE:  run $row->{run}: session [2-5] of 5 done(, about \d+ s left)?$/m, 'its user was told of sessions');
is($kept->($row->{run}), 't', 'it is kept under the id it had');
nothing_is_left('after the end');

# ended by others: what is finished is kept under the same id
for my $transport ('worker', 'caller')
{
	my $options = $transport eq 'caller' ? "rounds => 20, transport => 'caller'" : 'sessions => 20';
	my $finished = $transport eq 'caller' ? 'point = 2' : 'session = 3';
	$run = begin('runner', sweep($options));
	$row = wait_for('runner', $finished);
	ask('runner', "SELECT pg_cancel_backend($row->{pid})");
	IPC::Run::finish($run->{handle});
	like($run->{err}, qr/canceling statement due to user request/, "$transport: cancelled");
	like($run->{err}, qr/WARNING:  run $row->{run} ended early/, "$transport: with the id that it had");
	is($kept->($row->{run}), 'f', "$transport: and kept under it");
	nothing_is_left("after a cancel ($transport)");

	$run = begin('runner', sweep($options));
	$row = wait_for('runner', $finished);
	ask('runner', "SELECT pg_terminate_backend($row->{pid})");
	IPC::Run::finish($run->{handle});
	like($run->{err}, qr/terminating connection/, "$transport: terminated");
	nothing_is_left("after termination ($transport)");
}

# two roles at once
$run = begin('runner', sweep('sessions => 4'));
my $other = begin('another', sweep("rounds => 30, transport => 'caller'"));
wait_for($_, 'passes_done > 0') for 'runner', 'another';
is(ask('runner', 'SELECT owner FROM rtbench.progress'), 'runner', 'each sees its own');
is(ask('another', 'SELECT owner FROM rtbench.progress'), 'another', 'and not the other');
is(ask('watcher', 'SELECT count(DISTINCT run), string_agg(owner::text, $$ $$ ORDER BY owner::text) FROM rtbench.progress'), '2|another runner', 'who may see both does');
IPC::Run::finish($_->{handle}) for $run, $other;
nothing_is_left('after both');

# short runs are silent about it
$run = begin('runner', "SELECT arm FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], sessions => 2)");
IPC::Run::finish($run->{handle});
unlike($run->{err}, qr/run \d+: (pilot|session|point)/, 'a short run tells of nothing but its end');
nothing_is_left('after a short run');

# workers go with their runs
is(ask('postgres', 'SELECT count(*) FROM pg_stat_activity WHERE backend_type LIKE $$rtbench%$$'), 0, 'no worker is left');

$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|was terminated by signal|TRAP|leak/, 'nothing was leaked, nobody crashed');
done_testing();
