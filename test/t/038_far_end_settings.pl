# What is set at a far end, how it is encoded, and what an arm takes away there: rtbench's own statements mean the same whatever the
# settings, text that is not valid here is shown and compared all the same, and a scratch schema that is gone is an error that says so.

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
#
# a far end without an encoding: what is not valid here is shown byte by byte, and compared as it is
#
sub encoded
{
	my ($name, $encoding) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name ENCODING '$encoding' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
	return;
}

sub run_in
{
	my ($db, $sql) = @_;
	my (undef, $stdout, $stderr) = $node->psql($db, "\\set VERBOSITY verbose\n$sql", on_error_stop => 0);
	$stderr =~ s/^psql:[^ ]* //mg;
	$stderr =~ s/^LOCATION:.*\n?//mg;
	return wantarray ? ($stdout, $stderr) : "$stdout$stderr";
}

encoded($_->[0], $_->[1]) for [ 'utf8', 'UTF8' ], [ 'latin1', 'LATIN1' ], [ 'bytes', 'SQL_ASCII' ], [ 'characters', 'UTF8' ];
for my $here ('utf8', 'latin1')
{
	$node->safe_psql($here, 'CREATE EXTENSION rtbench');
	$node->safe_psql($here, "CREATE SERVER $_ FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '$port', dbname '$_'); CREATE USER MAPPING FOR CURRENT_USER SERVER $_") for 'bytes', 'characters';
}
# two bytes that are nothing in UTF8
my $bad = 'chr(228) || chr(255)';

($out, $err) = run_in('utf8', "SELECT rtbench.ask(\$x\$DO \$y\$ BEGIN RAISE EXCEPTION '%', 'no ' || $bad || '.' USING DETAIL = 'd' || $bad, HINT = 'h' || $bad; END \$y\$ \$x\$, server => 'bytes')");
like($err, qr/ERROR:  P0001: no \\xe4\\xff\.\nDETAIL:  d\\xe4\\xff\nHINT:  h\\xe4\\xff\nCONTEXT: /, 'an error whose bytes are not valid here comes with its SQLSTATE and all it says');
($out, $err) = run_in('utf8', "SELECT a.notices FROM rtbench.ask(\$x\$DO \$y\$ BEGIN RAISE WARNING '%', '\x{c3}\x{a4} and ' || $bad USING HINT = $bad; END \$y\$ \$x\$, server => 'bytes') a");
is($out, '1', 'a notice whose bytes are not valid here is no error');
like($err, qr/WARNING:  01000: \x{c3}\x{a4} and \\xe4\\xff\nHINT:  \\xe4\\xff\n/, 'and it is told, what is valid as it is');
is(run_in('utf8', "SELECT a.rows FROM rtbench.ask('SELECT $bad AS \"\x{c3}\x{a4}\"', server => 'bytes', times => 3) a") =~ s/\s+$//r, '3', 'nor are rows');
like(run_in('utf8', "SELECT rtbench.ask('SELECT ''\x{c3}\x{a4}\x{c3}\x{a4}'', nothing', server => 'bytes', protocol => 'simple')"),
	qr/ERROR:  42703: column "nothing" does not exist\nLINE 1: (SELECT '\x{c3}\x{a4}\x{c3}\x{a4}', )nothing\n( *)\^/, 'an error has its place in a text that is not ASCII');
run_in('utf8', "SELECT rtbench.ask('SELECT ''\x{c3}\x{a4}\x{c3}\x{a4}'', nothing', server => 'bytes', protocol => 'simple')") =~ /^LINE 1: (.*)nothing\n( *)\^/m;
is(length($2 // ''), 8 + length("SELECT '..', "), 'which is counted in characters');

my $text_table = q{setup => 'CREATE TABLE t (id int, v text)', rounds => 2, control => false};
my @arms = ("rtbench.arm('a', 'INSERT INTO t VALUES (1, ''\x{c3}\x{a4}''), (2, $bad)')", "rtbench.arm('b', steps => ARRAY['INSERT INTO t VALUES (1, ''\x{c3}\x{a4}'')', 'INSERT INTO t VALUES (2, $bad)'])",
	"rtbench.arm('other', 'INSERT INTO t VALUES (1, ''\x{c3}\x{a4}''), (2, $bad || chr(254))')",
	q{rtbench.arm('fails', steps => ARRAY[$x$DO $y$ BEGIN RAISE EXCEPTION '%', chr(228); END $y$ $x$])},
	qq{rtbench.arm('warns', steps => ARRAY['INSERT INTO t VALUES (1, ''\x{c3}\x{a4}''), (2, $bad)', \$x\$DO \$y\$ BEGIN RAISE NOTICE 'so %', chr(228); END \$y\$ \$x\$])});
($out, $err) = run_in('utf8', "SELECT arm, CASE WHEN verdict::text IN ('not comparable', 'failed') THEN verdict::text ELSE 'good' END FROM rtbench.compare(ARRAY[" . join(', ', @arms) . "], $text_table, server => 'bytes')");
is($out, "a|good\nb|good\nother|not comparable\nfails|failed\nwarns|good", 'bytes that are not valid here are compared as they are, and an arm that tells of them is a good one') or diag($err);
like($err, qr/P0001.*\\xe4/s, 'a failed arm says why');
like($err, qr/NOTICE:  00000: so \\xe4\n/, "an arm's notice is told");
# reading it again checks each byte
like($node->safe_psql('utf8', "SELECT string_agg(convert_from(textsend(notes), 'UTF8'), ' ') FROM rtbench.result()"), qr/P0001.*\\xe4/s, 'no invalid text is kept');
nothing_left_in('bytes', 'bytes that are not valid here');

# one row set for the same text, wherever it lies
is((run_in('utf8', "SET client_min_messages = error; SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1, ''\x{c3}\x{a4}'')'), rtbench.arm('b', 'INSERT INTO t SELECT 1, ''\x{c3}\x{a4}''')], $text_table, servers => '{local,bytes,characters}');
	SELECT bool_and(same_rows) FROM rtbench.across_servers()"))[0], "6\nt", 'valid text is the same rows with and without an encoding');

# returned rows
($out, $err) = run_in('utf8', "SELECT arm, verdict = 'not comparable' FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT $bad AS \"\x{c3}\x{a4}\"'), rtbench.arm('b', 'SELECT chr(228) || chr(255)'), rtbench.arm('other', 'SELECT chr(229)')], rounds => 2, control => false, server => 'bytes')");
is($out, "a|f\nb|f\nother|t", 'rows that are returned are compared as they are') or diag($err);

# what a loop reads there it sends there, unchanged; what is to be read here first is refused
my $each = q{rtbench.foreach('SELECT id, v FROM s', 'INSERT INTO t VALUES ($1, $2)')};
for my $protocol ('simple', 'prepared', 'multi')
{
	($out, $err) = run_in('utf8', "SELECT arm, verdict::text NOT IN ('not comparable', 'failed') FROM rtbench.compare(ARRAY[rtbench.arm('sql', 'INSERT INTO t SELECT * FROM s'), rtbench.arm('loop', $each), rtbench.arm('copy', rtbench.copy_rows('SELECT * FROM s', 'COPY t FROM STDIN'))],
		setup => 'CREATE TABLE t (id int, v text); CREATE TABLE s AS SELECT 1 AS id, $bad AS v', rounds => 2, control => false, server => 'bytes', protocol => '$protocol')");
	is($out, "sql|t\nloop|t\ncopy|t", "protocol $protocol: rows that go there and back keep their bytes") or diag($err);
}
$err = run_in('utf8', "SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1'), rtbench.arm('generated', rtbench.generated('SELECT ''SELECT 1 /* '' || $bad || ''*/'''))], rounds => 2, control => false, server => 'bytes')");
like($err, qr/22021.*generated statement is not valid in this database's encoding.*\\xe4\\xff/s, 'a generated text that is not valid here is refused');
like($err, qr/generated *\| *failed/, 'and only its arm fails');

# a name is another matter: it would be shown, and stands in statements
$node->safe_psql('bytes', "DO \$\$ BEGIN EXECUTE format('CREATE TABLE %I (a int)', 'n' || $bad); END \$\$");
$err = run_in('utf8', "SELECT rtbench.compare(ARRAY[rtbench.arm('a', steps => ARRAY[\$x\$DO \$y\$ BEGIN EXECUTE format('INSERT INTO public.%I VALUES (1)', 'n' || $bad); END \$y\$ \$x\$]), rtbench.arm('b', 'SELECT 1')], rounds => 2, control => false, server => 'bytes')");
like($err, qr/ERROR:  22021: the far end answered with text that is not valid in this database's encoding: public\."n\\xe4\\xff"\nHINT:  /, 'a name that is not valid here is told') or diag($err);
nothing_left_in('bytes', 'a name that is not valid here');

# DISCARD ALL leaves the far end as it was
is((run_in('utf8', "SET client_min_messages = error; CALL rtbench.run_compare(ARRAY[rtbench.arm('commits', steps => ARRAY['INSERT INTO t VALUES (1, $bad)'], ending => 'commit'), rtbench.arm('too', steps => ARRAY['INSERT INTO t SELECT 1, $bad'], ending => 'commit')], $text_table, server => 'bytes');
	SELECT string_agg(arm, ' ') FROM rtbench.result() WHERE verdict NOT IN ('not comparable', 'failed')"))[0], 'commits too', 'arms that commit');

# another encoding: what has no equivalent here the far end itself refuses to send
$err = run_in('latin1', q{SELECT rtbench.ask($x$DO $y$ BEGIN RAISE EXCEPTION '%', chr(8364); END $y$ $x$, server => 'characters')});
like($err, qr/ERROR:  22P05: .*\nHINT:  The far end's encoding is UTF8, this database's is LATIN1\. /, 'what has no equivalent here: both encodings are named');
$err = run_in('latin1', "SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1, chr(8364))'), rtbench.arm('b', 'INSERT INTO t SELECT 1, chr(8364)')], $text_table, server => 'characters')");
like($err, qr/ERROR:  22P05: .*\nHINT: .*\nCONTEXT:  .*SQL statement "SELECT id, v FROM ONLY .*t"/s, 'and in rows, the table');
nothing_left_in('characters', 'no equivalent');
$node->stop;
done_testing();
