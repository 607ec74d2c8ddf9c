# The library may be loaded when the server starts, and a database with the extension can be dumped and restored.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'rtbench'");
$node->start;
$node->safe_psql('postgres', 'CREATE DATABASE here');
$node->safe_psql('postgres', 'CREATE DATABASE there');
$node->safe_psql('here', 'CREATE EXTENSION rtbench');

my $members = q{SELECT count(*) FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
	WHERE e.extname = 'rtbench' AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'};
my $dump = "$PostgreSQL::Test::Utils::tmp_check/here.dump";
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('here') ], 'dump');
$node->command_ok([ 'pg_restore', '--exit-on-error', '-d', $node->connstr('there'), $dump ], 'restore');
cmp_ok($node->safe_psql('there', $members), '>', 0, 'the extension came along');
is($node->safe_psql('there', $members), $node->safe_psql('here', $members), 'with all its members');

$node->stop;
done_testing();
