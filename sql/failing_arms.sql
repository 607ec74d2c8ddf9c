-- Arms that fail, or have nothing to do: named, never ranked, never dropped, and the others go on.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset null null
-- what is the same at every run; "compared" is any verdict on a ratio
CREATE TEMP VIEW told AS
SELECT point, arm, round_trips, statements, rows, median_ms IS NOT NULL AS timed, speedup IS NOT NULL AS ratio,
	CASE WHEN verdict IN ('baseline', 'failed', 'not comparable') THEN verdict ELSE 'compared' END AS verdict
FROM rtbench.result();
CREATE TEMP VIEW reasons AS
SELECT point, arm, notes FROM rtbench.result() WHERE verdict IN ('failed', 'not comparable');

--
-- at statement 3,000, its row inserted last
--
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('all_at_once', 'INSERT INTO t SELECT g FROM generate_series(1, 2997) g'),
	rtbench.arm('one_by_one', rtbench.step('SELECT 1'), rtbench.foreach('SELECT g FROM generate_series(1, 4000) g', 'INSERT INTO t VALUES ($1)')),
	rtbench.arm('in_a_block', 'DO $$ BEGIN FOR i IN 1..4000 LOOP INSERT INTO t VALUES (i); END LOOP; END $$'),
	rtbench.arm('other', 'INSERT INTO t SELECT generate_series(1, 2997)')],
	setup => 'CREATE TABLE t (a int CHECK (a < 2998))', rounds => 2);
SELECT * FROM told;
SELECT * FROM reasons;

--
-- at the largest point only
--
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('by_key', 'UPDATE t SET b = b + 1 WHERE a <= :n'),
	rtbench.arm('small_int', 'UPDATE t SET b = b + 1 WHERE a <= :n AND (a * 300)::int2 > 0')],
	setup => 'CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t SELECT g, 0 FROM generate_series(1, 300) g',
	points => '{10,100,200}', rounds => 2);
SELECT * FROM told;
SELECT * FROM reasons;

--
-- the baseline fails: nothing to compare with, and the others are timed
--
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t SELECT 1/0'), rtbench.arm('b', 'INSERT INTO t SELECT 1'),
	rtbench.arm('c', 'INSERT INTO t SELECT 1')], setup => 'CREATE TABLE t (a int)', rounds => 2);
SELECT * FROM told;
SELECT * FROM reasons;
-- all fail
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1/0'), rtbench.arm('b', 'SELECT * FROM nowhere')], rounds => 2);
SELECT * FROM reasons;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1/0'), rtbench.arm('b', 'SELECT * FROM nowhere')], rounds => 2, transport => 'caller');
SELECT * FROM reasons;

--
-- from the second pass of an arm on, and in a timed pass only (a sequence of the user's counts them)
--
CREATE SEQUENCE passes;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t SELECT 1'),
	rtbench.arm('b', 'INSERT INTO t SELECT 1 / CASE nextval(''passes'') WHEN 2 THEN 0 ELSE 1 END')], setup => 'CREATE TABLE t (a int)', rounds => 2);
SELECT * FROM told;
SELECT * FROM reasons;
ALTER SEQUENCE passes RESTART;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t SELECT 1'),
	rtbench.arm('b', 'INSERT INTO t SELECT 1 / CASE nextval(''passes'') WHEN 5 THEN 0 ELSE 1 END')], setup => 'CREATE TABLE t (a int)', rounds => 2);
SELECT * FROM told;
SELECT * FROM reasons;
DROP SEQUENCE passes;

--
-- deferred: it fails when triggers are made immediate, before the clock stops
--
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('good', 'INSERT INTO t VALUES (2, 1)'), rtbench.arm('orphan', 'INSERT INTO t VALUES (2, 3)')],
	setup => 'CREATE TABLE t (a int PRIMARY KEY, b int REFERENCES t DEFERRABLE INITIALLY DEFERRED); INSERT INTO t VALUES (1, 1)', rounds => 2);
SELECT * FROM reasons;

--
-- errors that an arm handles itself are normal
--
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('on_conflict', 'INSERT INTO t SELECT generate_series(1, 20) ON CONFLICT DO NOTHING'),
	rtbench.arm('exception', 'DO $$ BEGIN FOR i IN 1..20 LOOP BEGIN INSERT INTO t VALUES (i); EXCEPTION WHEN unique_violation THEN NULL; END; END LOOP; END $$')],
	setup => 'CREATE TABLE t (a int PRIMARY KEY); INSERT INTO t SELECT 2 * g FROM generate_series(1, 10) g', rounds => 2);
SELECT * FROM told;

--
-- a driver without rows; a fixture without rows; arms that do nothing at all
--
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('no_rows', rtbench.foreach('SELECT a FROM t WHERE a > 10', 'DELETE FROM t WHERE a = $1')),
	rtbench.arm('one', 'DELETE FROM t WHERE a > 10')],
	setup => 'CREATE TABLE t (a int); INSERT INTO t SELECT generate_series(1, 10)', rounds => 2);
SELECT * FROM told;
SELECT arm, (regexp_matches(notes, 'no rows affected|did nothing[^;]*'))[1], checked FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('each', rtbench.foreach('SELECT a FROM t', 'DELETE FROM t WHERE a = $1')),
	rtbench.arm('all', 'DELETE FROM t'), rtbench.arm('truncate', 'TRUNCATE t')],
	setup => 'CREATE TABLE t (a int)', rounds => 2);
SELECT * FROM told;
SELECT arm, (regexp_matches(notes, 'no rows affected|did nothing[^;]*'))[1], checked FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('full', 'DELETE FROM t'), rtbench.arm('idle', 'DELETE FROM t WHERE false')],
	setup => 'CREATE TABLE t (a int); INSERT INTO t VALUES (1), (2)', rounds => 2);
SELECT * FROM told;
SELECT * FROM reasons;

--
-- a failing setup or check query ends the run
--
SELECT * FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TABLE t (a int); SELECT 1/0');
SELECT * FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TABLE t (a int); SELECT 1/0', transport => 'caller');
SELECT * FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'SELECT 1/0');
SELECT * FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'SELECT 1/0', transport => 'caller');
SELECT * FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'SELECT * FROM nowhere');
SELECT * FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'SELECT * FROM nowhere', transport => 'caller');
-- what stands before an arm fails as the arm does
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('b', steps => ARRAY['INSERT INTO t VALUES (1)'], before => 'SELECT 1/0')], setup => 'CREATE TABLE t (a int)', rounds => 2);
SELECT * FROM reasons;

SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker';
SELECT count(*) FROM pg_prepared_statements;
