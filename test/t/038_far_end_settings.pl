# What is set at a far end, and what an arm takes away there: rtbench's own statements mean the same whatever the settings, and a scratch
# schema that is gone is an error that says so.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use RtbTest;
use Test::More;

my $node = new_node('main', "max_worker_processes = 12\n");
my ($host, $port) = ($node->host, $node->port);

# a database without rtbench, as a server; each setting there is its default
sub far_database
{
	my ($name, @settings) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql('postgres', "ALTER DATABASE $name SET $_") for @settings;
	$node->safe_psql('postgres', "CREATE SERVER $name FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '$port', dbname '$name'); CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
	return;
}

sub run_sql
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = warning; $sql");
	$err =~ s/^psql:[^ ]* //mg;
	return $rc == 0 ? $out : $err;
}

sub nothing_left_in
{
	my ($db, $what) = @_;
	my $left;
	for (1 .. 60) { $left = $node->safe_psql($db, "SET search_path = pg_catalog; SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'"); last if $left eq '0'; Time::HiRes::sleep 0.05 }
	is($left, '0', "$what: no schema is left there");
	nothing_left($node, $what);
	return;
}

#
# the scratch schema is gone: an error, and no crash
#
far_database('plain');
my $started = $node->safe_psql('postgres', 'SELECT pg_postmaster_start_time()');
my $drops = q{'DO $x$ BEGIN EXECUTE format(''DROP SCHEMA %I CASCADE'', current_schema()); END $x$'};
like(run_sql("CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO tt VALUES (1)'], ending => 'commit'), rtbench.arm('b', steps => ARRAY[$drops], ending => 'commit')],
	setup => 'CREATE TABLE tt (a int)', rounds => 2, control => false, server => 'plain')"),
	qr/ERROR:  scratch schema "rtbench_scratch_\d+_\d+" is gone\n.*HINT:  An arm has dropped it, or /s, 'an arm that commits drops the scratch schema: told');
nothing_left_in('plain', 'an arm that commits drops the scratch schema');
is($node->safe_psql('postgres', "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'checkpointer' AND backend_start < '$started'::timestamptz + interval '10 s'"), '1', 'the server has not started again');

#
# operators and types of others before those of pg_catalog: nothing of rtbench's own runs them or believes them
#
far_database('decoyed', 'search_path = regress_rtb_decoys, public, pg_catalog');
$node->safe_psql('decoyed', PostgreSQL::Test::Utils::slurp_file("$FindBin::Bin/../decoys.sql"));
like(run_sql("SELECT rtbench.ask('SELECT 1 FROM pg_catalog.pg_class WHERE oid = 1', server => 'decoyed')"), qr/decoy of oid and int4/, 'decoys: they are met');
my $writes = "'CREATE TABLE made AS SELECT 1 AS one', 'SELECT pg_catalog.nextval(''s'')'";
is(run_sql("SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)', $writes), rtbench.arm('b', 'INSERT INTO t VALUES (2)', $writes)],
	setup => 'CREATE TABLE t (i int); CREATE SEQUENCE s', rounds => 2, control => false, server => 'decoyed');
	SELECT arm, verdict, checked, notes ~ 'engine', buffers IS NULL FROM rtbench.result()"),
	"2\na|baseline|t, made (made by an arm)|f|t\nb|not comparable|t, made (made by an arm)|f|t", 'decoys: what the arms write is seen');
is(run_sql("CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit'), rtbench.arm('b', steps => ARRAY['INSERT INTO t VALUES (2)'], ending => 'commit')],
	setup => 'CREATE TABLE t (i int)', rounds => 2, control => false, server => 'decoyed'); SELECT arm, verdict FROM rtbench.result()"), "a|baseline\nb|not comparable", 'decoys: arms that commit');
is(run_sql("SELECT count(*) FROM rtbench.price_list('{decoyed}', '{}', max_time => '1 ms') WHERE kind = 'measured'; SELECT rtbench.cleanup('decoyed')"), "15\n0", 'decoys: prices, and the cleanup');
nothing_left_in('decoyed', 'decoys');

#
# settings that change how literals are read, names are quoted, values are written
#
# 19 reads strings in one way only
my $one_way = $node->safe_psql('postgres', 'SHOW server_version_num') >= 190000;
far_database('odd', $one_way ? () : ('standard_conforming_strings = off', 'escape_string_warning = on'), 'quote_all_identifiers = on', "bytea_output = 'escape'", "DateStyle = 'SQL, DMY'", 'extra_float_digits = -3', "IntervalStyle = 'sql_standard'", 'transform_null_equals = on', 'array_nulls = off', "timezone = 'Asia/Kathmandu'", "lc_monetary = 'C'", "xmloption = 'document'");
$node->safe_psql('odd', q{CREATE SCHEMA rtbench_scratch_1_1; COMMENT ON SCHEMA rtbench_scratch_1_1 IS 'rtbench scratch schema of process 1 started at 1'; CREATE TABLE rtbench_scratch_1_1.t (); CREATE SCHEMA rtbench_scratch_1_2});
my ($rc, $out, $err) = $node->psql('postgres', "SELECT rtbench.cleanup('odd'), rtbench.cleanup('odd')");
is("$out $err", '1|0 ', 'what a run left is found and dropped, without a word');
is($node->safe_psql('odd', q{DROP SCHEMA rtbench_scratch_1_2; SELECT count(*) FROM pg_namespace WHERE nspname ~ '^rtbench'}), '0', 'and nothing else');
my $write = q{ARRAY[rtbench.arm('a', 'INSERT INTO "a Table" (plain, text) VALUES (1, E''e\\\\f'')'), rtbench.arm('b', 'INSERT INTO "a Table" (plain, text) SELECT 1, chr(101) || chr(92) || chr(102)')],
	setup => 'CREATE TABLE "a Table" ("select" serial, plain int, text text); CREATE TABLE rows (r int)',};
is(run_sql("SELECT count(*) FROM rtbench.compare($write rounds => 2, control => false, servers => '{local,plain,odd}'); SELECT bool_and(same_rows) FROM rtbench.across_servers()"), "6\nt", 'the same rows here and there, whatever the settings');
is(run_sql('SET quote_all_identifiers = on;' . ($one_way ? '' : ' SET standard_conforming_strings = off;') . "SELECT count(*) FROM rtbench.compare($write rounds => 2, control => false, servers => '{local,plain,odd}'); SELECT bool_and(same_rows) FROM rtbench.across_servers()"), "6\nt", 'nor do those of the caller matter');
is(run_sql(q{CREATE TABLE kept (a int); SELECT digest AS before FROM rtbench.digest_tables('kept') \gset
SET quote_all_identifiers = on; SELECT digest = :'before' FROM rtbench.digest_tables('kept')}), 't', "a table's digest is the same however names are quoted");
nothing_left_in('odd', 'settings');

#
# the same of the caller's session: hints look for names in messages
#
for my $conforming ('on', $one_way ? () : 'off')
{
	(undef, undef, my $said) = $node->psql('postgres', "SET standard_conforming_strings = $conforming; CREATE TEMP TABLE mine (a int);
		SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT * FROM mine'), rtbench.arm('b', 'SELECT 1')], rounds => 2, control => false)");
	like($said, qr/Only this session sees temporary table mine: use transport => 'caller'/, "standard_conforming_strings = $conforming: a temporary table is known");
}
$node->stop;
done_testing();
