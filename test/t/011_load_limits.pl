# Loads at the limits: too few worker slots, two loads at once, plain roles, each with its own.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

# one slot is the logical replication launcher's
my $node = new_node('main', "max_worker_processes = 6\n");
$node->safe_psql('postgres', 'CREATE ROLE regress_plain LOGIN; CREATE ROLE regress_other LOGIN; CREATE ROLE regress_nothing LOGIN;
	GRANT CREATE ON DATABASE postgres TO regress_plain, regress_other; CREATE TABLE users (i int); CREATE TABLE granted (i int); GRANT INSERT ON granted TO regress_plain');

sub load
{
	my ($sessions, %opt) = @_;
	my $statement = $opt{statement} // 'INSERT INTO t VALUES (1)';
	return background($node, $opt{name} // 'load', "SET client_min_messages = error;
CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', '$statement'), $sessions)], duration => '" . ($opt{duration} // '200 ms') . "', warmup => '0', setup => 'CREATE TABLE t (i int)');
SELECT sessions, transactions > 0 FROM rtbench.load_result(); SELECT 'usable';", user => $opt{user}, verbosity => 'verbose');
}

my ($out, $err) = finish(load(4));
is("$err$out", "4|t\nusable\n", 'as many sessions as there are slots, and one for the fixture');
nothing_left($node, 'all slots');
($out, $err) = finish(load(5));
like($err, qr/ERROR:  53400: not enough background worker slots: 6 are needed and 5 were free\nDETAIL:  The load has 5 sessions, and one worker keeps its fixture; max_worker_processes is 6\.\nHINT:  Raise max_worker_processes by 1 or more/,
	'one more: what is needed and what there is');
like($out, qr/usable\n$/, 'the session can be used');
nothing_left($node, 'one too many');
($out, $err) = finish(load(100));
like($err, qr/ERROR:  53400: not enough background worker slots: 101 are needed\nDETAIL:  .*max_worker_processes is 6\.\nHINT:  Raise max_worker_processes to more than 101/, 'many more');
nothing_left($node, 'many too many');

# two at once, of two roles: each has its own schema and sees its own results
my $one = load(1, user => 'regress_plain', name => 'one', duration => '1 s');
my $two = load(2, user => 'regress_other', name => 'two', duration => '1 s');
ok(defined seen($node, "SELECT count(*) = 2 FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'"), 'two loads at once: two schemas');
is(join('', finish($one)), "1|t\nusable\n", 'two at once: one');
is(join('', finish($two)), "2|t\nusable\n", 'two at once: the other');
nothing_left($node, 'two at once');
is($node->safe_psql('postgres', 'SELECT count(*) FROM rtbench.loads', extra_params => [ '-U', 'regress_plain' ]), 1, 'a role sees its own loads');
is($node->safe_psql('postgres', 'SELECT count(DISTINCT run) FROM rtbench.load_windows', extra_params => [ '-U', 'regress_other' ]), 1, 'and their windows');
my $others = $node->safe_psql('postgres', "SELECT run FROM rtbench.loads WHERE owner = 'regress_other'::regrole");
my (undef, undef, $error) = $node->psql('postgres', "SELECT * FROM rtbench.load_result($others)", extra_params => [ '-U', 'regress_plain' ]);
like($error, qr/load $others does not exist/, "another's does not exist for it");
(undef, undef, $error) = $node->psql('postgres', "SELECT rtbench.forget($others)", extra_params => [ '-U', 'regress_plain' ]);
like($error, qr/run $others does not exist/, 'nor can it be forgotten');

# a role's rights are its sessions' rights
($out, $err) = finish(load(1, user => 'regress_plain', statement => 'INSERT INTO users VALUES (1)'));
like($err, qr/ERROR:  42501: permission denied for table users\nCONTEXT:  .*\nsession 1 of the load, group "w"/, 'no more rights than the caller');
($out, $err) = finish(load(1, user => 'regress_plain', statement => 'INSERT INTO granted VALUES (1)'));
like($err, qr/ERROR:  0A000: an arm that commits may write only what its scenario's setup made\n.*public\.granted/s, "nobody's tables are written");
($out, $err) = finish(load(1, user => 'regress_nothing'));
like($err, qr/ERROR:  42501: permission denied for database postgres/, 'a role that may not create schemas');
is($node->safe_psql('postgres', 'SELECT (SELECT count(*) FROM users), (SELECT count(*) FROM granted)'), '0|0', 'nothing was written');
nothing_left($node, 'in the end');

# what is kept outlives a dump
my $dump = "$PostgreSQL::Test::Utils::tmp_check/loads.sql";
$node->command_ok([ 'pg_dump', '-f', $dump, '-d', $node->connstr('postgres') ], 'dump');
$node->safe_psql('postgres', 'CREATE DATABASE restored');
$node->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr('restored') ], 'restore');
my $result = "SELECT r FROM (SELECT rtbench.load_result(max(run)) AS r FROM rtbench.loads WHERE owner = 'regress_other'::regrole) x";
my $as = [ '-U', 'regress_other' ];
is($node->safe_psql('restored', $result, extra_params => $as), $node->safe_psql('postgres', $result, extra_params => $as), 'the same figures');

$node->stop;
done_testing();
