-- Operators and types of others in the arms' path: rtbench's own statements at a far end neither run them nor believe them.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\getenv abs_srcdir PG_ABS_SRCDIR
\set decoys :abs_srcdir '/test/decoys.sql'
\i :decoys
DO $$ BEGIN EXECUTE format('CREATE SERVER regress_rtb_decoyed FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host %L, port %L, dbname %L)',
	split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()); END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_decoyed;
-- they work, with pg_catalog after them, the worst that a path can be
DO $$ BEGIN EXECUTE format('ALTER ROLE %I IN DATABASE %I SET search_path = regress_rtb_decoys, public, pg_catalog', current_user, current_database()); END $$;
SELECT rtbench.ask('SELECT 1 FROM pg_catalog.pg_class WHERE oid = 1', server => 'regress_rtb_decoyed');
CREATE FUNCTION pg_temp.error(statement text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN EXECUTE statement; RETURN 'none'; EXCEPTION WHEN OTHERS THEN RETURN SQLERRM; END $$;
CREATE TABLE regress_rtb_written (a int, b text);
-- arms that write, make tables, draw from sequences, and differ
CREATE FUNCTION pg_temp.arms() RETURNS jsonb[] LANGUAGE sql AS $$
	SELECT array_agg(rtbench.arm(n, steps => ARRAY[format('INSERT INTO t VALUES (%s)', v), 'INSERT INTO regress_rtb_written VALUES (1, ''x'')', 'SAVEPOINT s', 'CREATE TABLE made AS SELECT 1 AS one', 'RELEASE s', 'SELECT pg_catalog.nextval(''s'')'])
		ORDER BY n) FROM (VALUES ('a', 1), ('b', 2), ('c', 1)) a (n, v)
$$;
SELECT count(*) FROM rtbench.compare(pg_temp.arms(), setup => 'CREATE TABLE t (i int); CREATE SEQUENCE s', rounds => 2, control => false, transport => 'unix', label => 'decoys by unix');
SELECT count(*) FROM rtbench.compare(pg_temp.arms(), setup => 'CREATE TABLE t (i int); CREATE SEQUENCE s', rounds => 2, control => false, server => 'regress_rtb_decoyed', label => 'decoys by server');
SELECT count(*) FROM rtbench.compare(pg_temp.arms(), setup => 'CREATE TABLE t (i int); CREATE SEQUENCE s', rounds => 2, control => false, label => 'decoys by worker');
SELECT label, arm, rows, checked, verdict = 'not comparable' AS differs, substring(notes FROM 'differs from the baseline[^:]*') AS reason, settings ? 'work_mem' AS settings, notes ~ 'engine' AS engine, digest = first_value(digest) OVER (PARTITION BY arm) AS same_digest
FROM rtbench.runs r, rtbench.result(r.run) WHERE label IN ('decoys by unix', 'decoys by server', 'decoys by worker') ORDER BY r.run, arm;
-- arms that commit
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit'), rtbench.arm('b', steps => ARRAY['INSERT INTO t VALUES (2)'], ending => 'commit')],
	setup => 'CREATE TABLE t (i int)', rounds => 2, control => false, server => 'regress_rtb_decoyed');
SELECT arm, verdict, checked FROM rtbench.result();
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'INSERT INTO t VALUES (1)'))], setup => 'CREATE TABLE t (i int)', duration => '200 ms', warmup => '0', server => 'regress_rtb_decoyed');
SELECT transactions > 0 AS some, errors FROM rtbench.load_result();
SET search_path = regress_rtb_decoys, public, pg_catalog;
CREATE TEMP TABLE prices AS SELECT * FROM rtbench.price_list('{regress_rtb_decoyed}', '{caller,worker,unix}', max_time => '1 ms');
SHOW search_path;
RESET search_path;
SET search_path = public;
SELECT transport, pg_catalog.count(*) FROM prices WHERE kind = 'measured' GROUP BY 1 ORDER BY 1;
SELECT rtbench.cleanup('regress_rtb_decoyed') AS cleaned;
SELECT pg_temp.error($$SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'INSERT INTO regress_rtb_written VALUES (2)', server => 'regress_rtb_decoyed')$$) AS outside;
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';

DO $$ BEGIN EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET search_path', current_user, current_database()); END $$;
DROP SERVER regress_rtb_decoyed CASCADE;
DROP TABLE regress_rtb_written;
DROP SCHEMA regress_rtb_decoys CASCADE;
