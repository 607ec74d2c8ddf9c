# A dump keeps the scenarios and runs of all roles, leaves out what is built in, and what is restored goes on: new scenarios and
# runs get numbers of their own, roles see what is theirs.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $node = new_node('main');
my $role = '"regress Ünu""sual"';
$node->safe_psql('postgres', "CREATE ROLE $role LOGIN; GRANT CREATE ON DATABASE postgres TO $role");
for my $set ('RESET ROLE', "SET ROLE $role")
{
	$node->safe_psql('postgres', qq{$set;
		SELECT rtbench.create_scenario('kept', 'CREATE TABLE t (a int)', swept => 'n', points => '{1,2}', parameters => '{"by": "it''s \\\\ \\"x\\""}', description => '\$\$ E''\\\\');
		SELECT rtbench.add_arm('kept', rtbench.arm('one', 'INSERT INTO t SELECT generate_series(1, :n)'));
		SELECT rtbench.add_arm('kept', rtbench.arm('each', rtbench.foreach('SELECT generate_series(1, :n)', 'INSERT INTO t VALUES (\$1)')));
		SELECT count(*) FROM rtbench.sweep('kept', rounds => 2, label => 'before', transport => 'caller')});
}
# one that is half done
$node->safe_psql('postgres', "SELECT rtbench.create_scenario('empty', NULL)");

my @told = (
	'scenarios' => 'SELECT * FROM rtbench.scenarios ORDER BY scenario',
	'arms' => 'SELECT * FROM rtbench.arms ORDER BY scenario, "position"',
	'runs' => 'SELECT * FROM rtbench.runs ORDER BY run',
	'results' => 'SELECT r FROM rtbench.runs, rtbench.result(run) r ORDER BY 1',
	'steps' => 'SELECT r FROM rtbench.runs, rtbench.step_result(run) r ORDER BY 1');
my $dump = "$PostgreSQL::Test::Utils::tmp_check/all.sql";
for my $format ('plain', 'custom')
{
	$node->command_ok([ 'pg_dump', '-F', $format, '-f', $dump, '-d', $node->connstr('postgres') ], "$format: dump");
	unlike(PostgreSQL::Test::Utils::slurp_file($dump), qr/any_array/, "$format: built-in scenarios are left out") if $format eq 'plain';
	$node->safe_psql('postgres', "CREATE DATABASE $format");
	$node->command_ok($format eq 'plain' ? [ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $node->connstr($format) ]
		: [ 'pg_restore', '--exit-on-error', '-d', $node->connstr($format), $dump ], "$format: restore");
	for my $set ('RESET ROLE', "SET ROLE $role")
	{
		for (my $i = 0; $i < @told; $i += 2)
		{
			is($node->safe_psql($format, "$set; $told[$i + 1]"), $node->safe_psql('postgres', "$set; $told[$i + 1]"), "$format, $set: $told[$i]");
		}
		$node->safe_psql($format, "$set; SELECT rtbench.create_scenario('new', 'SELECT 1')");
	}
	is($node->safe_psql($format, "SELECT count(*) FROM rtbench.scenarios WHERE scenario = 'delete_tree'"), 1, "$format: built-in ones are there once");
	is($node->safe_psql($format, "SELECT count(*) FROM rtbench.sweep('kept', rounds => 1, label => 'after')"), 4, "$format: what was restored can be run");
	is($node->safe_psql($format, 'SELECT count(*), count(DISTINCT run) FROM rtbench.runs'), '3|3', "$format: under a number of its own");
}
# once more, from what was restored
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('custom') ], 'dump what was restored');

$node->stop;
done_testing();
