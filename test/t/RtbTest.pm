# RtbTest.pm: what the tests of faults share.
# Sessions in the background, waits for what is seen in the server's views, and the rule that a run leaves nothing.

package RtbTest;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(sleep time);

our @EXPORT = qw(new_node background finish seen pid_of nothing_left $fixture);

# a fixture and two good arms, for a run that is to succeed
our $fixture = q{rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO t SELECT generate_series(1, 5)'),
	rtbench.arm('each', rtbench.foreach('SELECT generate_series(1, 5)', 'INSERT INTO t VALUES ($1)'))], setup => 'CREATE TABLE t (a int)', rounds => 1};

sub new_node
{
	my ($name, $conf) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name);
	$node->init;
	# what an ordinary server does after a crash; the tests' servers would stay down
	$node->append_conf('postgresql.conf', "restart_after_crash = on\nautovacuum = off\n" . ($conf // ''));
	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION rtbench');
	return $node;
}

# psql in the background, which runs a script and goes on after errors; errors come as their SQLSTATEs
my $sessions = 0;

sub background
{
	my ($node, $name, $sql, %opt) = @_;
	my $files = "$PostgreSQL::Test::Utils::tmp_check/session" . ++$sessions;
	my $self = { node => $node, name => $name, out => "$files.out", err => "$files.err" };
	my $user = $opt{user} ? " user=$opt{user}" : '';
	append_to_file("$files.sql", '\set VERBOSITY ' . ($opt{verbosity} // 'sqlstate') . "\n$sql\n");
	local $ENV{PGAPPNAME} = $name;
	$self->{h} = IPC::Run::start([ 'psql', '-XAtq', '-d', $node->connstr('postgres') . $user, '-f', "$files.sql" ],
		'<', '/dev/null', '>', $self->{out}, '2>', $self->{err});
	return $self;
}

# wait for it to end; what it printed, and its messages without file and line
sub finish
{
	my ($self, $limit) = @_;
	my $until = time() + ($limit // $PostgreSQL::Test::Utils::timeout_default);
	while ($self->{h}->pumpable && time() < $until)
	{
		# it complains when the process is gone
		eval { $self->{h}->pump_nb };
		sleep 0.01;
	}
	my $ended = !$self->{h}->pumpable;
	$self->{h}->kill_kill unless $ended;
	eval { $self->{h}->finish };
	my ($out, $err) = map { slurp_file($_) } @$self{qw(out err)};
	$err =~ s/^psql:[^ ]*: //mg;
	diag("$self->{name} did not end: $out $err") unless $ended;
	return ($out, $err);
}

# poll until a query is true; how long that took, or undef
sub seen
{
	my ($node, $query, $limit) = @_;
	my $started = time();
	$limit //= $PostgreSQL::Test::Utils::timeout_default;
	while (1)
	{
		# while a server comes up again psql may be gone before it has been given its input, of which the harness dies
		my ($rc, $out) = eval { $node->psql('postgres', "SELECT ($query)") };
		return time() - $started if defined $rc && $rc == 0 && $out eq 't';
		return undef if time() - $started > $limit;
		sleep 0.02;
	}
}

# process of a session in the background, or of its worker
sub pid_of
{
	my ($node, $name, $worker) = @_;
	my $caller = "SELECT pid FROM pg_stat_activity WHERE application_name = '$name' AND backend_type = 'client backend'";
	return $node->safe_psql('postgres', $caller) unless $worker;
	return $node->safe_psql('postgres', "SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker'
		AND application_name = 'rtbench worker for PID ' || ($caller)");
}

# no worker, no scratch schema, no lock of anybody else within some seconds
sub nothing_left
{
	my ($node, $what, %opt) = @_;
	my $others = join(', ', map { "'$_'" } '', @{ $opt{but} // [] });
	my $took = seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker')
			AND NOT EXISTS (SELECT FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%')
			AND NOT EXISTS (SELECT FROM rtbench.progress)
			AND NOT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)
				WHERE l.pid <> pg_backend_pid() AND l.locktype <> 'virtualxid' AND a.backend_type IN ('client backend', 'rtbench worker')
				AND a.application_name NOT IN ($others))", $opt{limit} // 5);
	ok(defined $took, "$what: nothing is left")
		or diag($node->safe_psql('postgres', "SELECT 'process', pid::text, backend_type, state, query FROM pg_stat_activity WHERE backend_type ~ 'rtbench'
			UNION ALL SELECT 'schema', nspname, '', '', '' FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'
			UNION ALL SELECT 'lock', pid::text, locktype, mode, relation::regclass::text FROM pg_locks WHERE pid <> pg_backend_pid()"));
	return $took;
}

1;
