# Limits of the server, the database and the role: an error that names the limit and the way out, and no process left waiting.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $node = new_node('main', "max_worker_processes = 2\nmax_connections = 12\nsuperuser_reserved_connections = 3\n");
$node->safe_psql('postgres', 'CREATE ROLE regress_plain LOGIN; CREATE ROLE regress_one LOGIN CONNECTION LIMIT 1; CREATE ROLE regress_nobody;
	GRANT CREATE ON DATABASE postgres TO regress_plain, regress_one, regress_nobody; GRANT regress_nobody TO regress_plain');

sub run
{
	my ($user, $transport, $before) = @_;
	return finish(background($node, 'run', ($before // '') . "\nSET client_min_messages = error; SELECT count(*) FROM $fixture, transport => '$transport'); SELECT 'usable';",
		user => $user, verbosity => 'verbose'));
}

# a worker slot is taken by the logical replication launcher, the other by a run
my $busy = background($node, 'busy', "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(500)')]); SELECT 'ended'");
ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep')"), 'the only free slot is taken');
my ($out, $err) = run('regress_plain', 'worker');
like($err, qr/ERROR:  53400: could not start an rtbench worker: no background worker slot is free\nDETAIL:  max_worker_processes is 2\.\nHINT:  .*max_worker_processes.*transport => 'caller'/,
	'the limit and the ways out are named');
is($out, "usable\n", 'the session can be used');
($out, $err) = run('regress_plain', 'caller');
is("$err$out", "2\nusable\n", 'the way out is one');
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'busy'");
is((finish($busy))[0], "ended\n", 'the other run is over');
nothing_left($node, 'worker slots');
($out, $err) = run('regress_plain', 'worker');
is("$err$out", "2\nusable\n", 'the slot is free again');

# one free slot, where sessions need two: rounds of one session are the units
my $sessions = q{rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO t SELECT generate_series(1, 500)'), rtbench.arm('other', 'INSERT INTO t SELECT generate_series(1, 500)')],
	setup => 'CREATE TABLE t (a int)', max_time => '1 s'};
($out, $err) = finish(background($node, 'run', "SET client_min_messages = warning; SELECT count(*) FROM $sessions);", verbosity => 'terse'));
is($out, "2\n", 'one slot: the run has its results');
is($err, "WARNING:  no background worker slot was free for session 2 of the run\n", 'one slot: it says why it has no sessions');
is($node->safe_psql('postgres', 'SELECT DISTINCT scope FROM rtbench.result()'), 'this backend only', 'one slot: one backend');
nothing_left($node, 'one slot');

# limits of connections, of the role and of the database, count clients only
($out, $err) = run('regress_one', 'worker');
is("$err$out", "2\nusable\n", 'a role with one connection');
$node->safe_psql('postgres', 'ALTER DATABASE postgres CONNECTION LIMIT 1');
($out, $err) = run('regress_plain', 'worker');
is("$err$out", "2\nusable\n", 'a database with one connection');
$node->safe_psql('postgres', 'ALTER DATABASE postgres CONNECTION LIMIT -1');

# all connections but those of superusers are in use
my @idle = map { background($node, 'idle', 'SELECT pg_sleep(500)', user => 'regress_plain') } 1 .. 8;
ok(defined seen($node, "SELECT count(*) = 8 FROM pg_stat_activity WHERE application_name = 'idle'"), 'all but one connection are taken');
($out, $err) = run('regress_plain', 'worker');
is("$err$out", "2\nusable\n", 'the run works');
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'idle'");
finish($_) for @idle;

# the right to connect was taken away since
my $since = background($node, 'since', "SELECT pg_sleep(1); SET client_min_messages = error; SELECT count(*) FROM $fixture); SELECT count(*) FROM $fixture, transport => 'caller'); SELECT 'usable';",
	user => 'regress_plain', verbosity => 'verbose');
seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'since')");
$node->safe_psql('postgres', 'REVOKE CONNECT ON DATABASE postgres FROM PUBLIC');
($out, $err) = finish($since);
like($err, qr/ERROR:  42501: permission denied for database "postgres"/, 'the right to connect is checked');
is($out, "\n2\nusable\n", 'the session can be used');
$node->safe_psql('postgres', 'GRANT CONNECT ON DATABASE postgres TO PUBLIC');

# a role that cannot log in, of a session that can
($out, $err) = run('regress_plain', 'worker', 'SET ROLE regress_nobody;');
is("$err$out", "2\nusable\n", 'a role without LOGIN');
nothing_left($node, 'in the end');

$node->stop;
done_testing();
