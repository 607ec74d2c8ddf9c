# A far end of another major: the built-in scenarios leave the same rows there, and are counted by its own rtbench.
#
# RTBENCH_OTHER_MAJOR="port=... password=..." names a server on 127.0.0.1 with rtbench in its database postgres, for its superuser
# postgres.  test/matrix.sh starts one.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use RtbTest;
use Test::More;
use Time::HiRes qw(sleep);

my ($port, $password) = ($ENV{RTBENCH_OTHER_MAJOR} // '') =~ /^port=(\d+) password=(\w+)$/;
plan skip_all => 'no server of another major: RTBENCH_OTHER_MAJOR is not set (test/matrix.sh sets it)' unless defined $password;

my $node = new_node('main', "max_worker_processes = 12\n");
$node->safe_psql('postgres', "CREATE SERVER other FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER other OPTIONS (user 'postgres', password '$password')");

sub run_sql
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = warning; $sql");
	return $rc == 0 ? $out : $err;
}

my $version = run_sql("SELECT server_version FROM rtbench.ask('SELECT 1', server => 'other')");
BAIL_OUT($version) unless $version =~ /^(\d+)/;
plan skip_all => "the server named by RTBENCH_OTHER_MAJOR is of this one's major" if $1 == int(run_sql('SHOW server_version_num') / 10000);
note("from $ENV{PG_CONFIG} to $version") if $ENV{PG_CONFIG};

# as the far end counts: fired statements by triggers and foreign keys, transaction ids, rows
my $counted = "SELECT string_agg(arm || ' ' || statements || ' ' || fired || ' ' || rows || ' ' || xids || ' ' || digest || ' ' || checked || ' ' || (verdict IN ('failed', 'not comparable')), E'\\n' ORDER BY arm) FROM rtbench.result()";
for my $scenario (
	[ 'delete_tree', 'SELECT count(*) FROM rtbench.sweep', q{points => '{40}', parameters => '{"other_documents": 5, "blocks_of_others": 5}'} ],
	[ 'statement_rollback', 'CALL rtbench.run_sweep', q{points => '{5}', parameters => '{"transactions": 3}', arms => '{transaction,savepoint,exception_block}'} ])
{
	my ($name, $call, $options) = @$scenario;
	my $here = run_sql("$call('$name', $options, rounds => 2, control => false); $counted");
	my $there = run_sql("$call('$name', $options, rounds => 2, control => false, server => 'other'); $counted");
	is($there, $here, "$name: the same statements, fired ones, rows, transaction ids and digests as here");
	like($here, qr/false/, "$name: which can be compared");
	is(run_sql("SELECT bool_and(buffers > 0 AND wal_records > 0 AND plan_shape <> '' AND notes LIKE '%were counted at the far end%') FROM rtbench.result(); SELECT server_version FROM rtbench.runs ORDER BY run DESC LIMIT 1"),
		"t\n$version", "$name: counted there, by the other major's rtbench");
	# the tests of several majors have that far end in common: schemas of others go in the end
	my $left = '';
	for (1 .. 100)
	{
		$left = run_sql("SELECT rows, rtbench.cleanup('other') FROM rtbench.ask('SELECT FROM pg_namespace WHERE nspname LIKE ''rtbench\\_scratch%''', server => 'other')");
		last if $left eq '0|0';
		sleep 0.2;
	}
	is($left, '0|0', "$name: nothing is left there");
}
nothing_left($node, 'at the end');
$node->stop;
done_testing();
