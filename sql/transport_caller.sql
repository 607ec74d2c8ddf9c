-- Runs inside the caller's own transaction, whatever he is in the middle of, and what is his alone.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset null null
CREATE SCHEMA regress_rtb_caller;
SET search_path = regress_rtb_caller;
SELECT count(*) AS before FROM rtbench.runs WHERE transport = 'caller' \gset
CREATE TABLE kept (a int);
CREATE VIEW told AS
SELECT (SELECT transport FROM rtbench.runs r WHERE r.run = p.run), arm, statements, rows,
	CASE WHEN verdict IN ('baseline', 'failed', 'not comparable') THEN verdict ELSE 'compared' END AS verdict, checked,
	CASE WHEN verdict IN ('failed', 'not comparable') THEN notes END AS notes
FROM rtbench.result() p;
-- a run with two good arms, by either transport
CREATE FUNCTION good(transport text, setup text DEFAULT 'CREATE TABLE t (a int)') RETURNS bigint LANGUAGE sql AS $$
	SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO t SELECT generate_series(1, 10)'),
		rtbench.arm('each', rtbench.foreach('SELECT generate_series(1, 10)', 'INSERT INTO t VALUES ($1)'))], setup, transport => transport, rounds => 2)
$$;
-- one whose setup fails
CREATE FUNCTION bad(transport text) RETURNS bigint LANGUAGE sql AS $$ SELECT good(transport, 'CREATE TABLE t (a int); SELECT 1/0') $$;

--
-- in a transaction block: kept if it commits, gone if it rolls back, and nothing else of it stays
--
BEGIN;
INSERT INTO kept VALUES (1);
SELECT good('worker'), good('caller');
INSERT INTO kept VALUES (2);
COMMIT;
SELECT count(*) - :before AS more FROM rtbench.runs WHERE transport = 'caller';
BEGIN;
INSERT INTO kept VALUES (3);
SELECT good('caller');
SELECT * FROM told;
ROLLBACK;
SELECT count(*) - :before AS more FROM rtbench.runs WHERE transport = 'caller';
TABLE kept;
-- at every level of isolation
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT good('worker'), good('caller');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT good('worker'), good('caller');
COMMIT;
-- after a savepoint that is rolled back, and in one that is
BEGIN;
SAVEPOINT s;
SELECT bad('caller');
ROLLBACK TO s;
SELECT good('caller');
SAVEPOINT s;
SELECT good('caller');
ROLLBACK TO s;
INSERT INTO kept VALUES (4);
SELECT bad('worker');
ROLLBACK TO s;
SELECT good('worker');
COMMIT;
TABLE kept;

--
-- in functions, loops, and blocks with an EXCEPTION clause
--
DO $$
BEGIN
	FOR i IN 1..3 LOOP
		BEGIN
			PERFORM bad('caller');
		EXCEPTION WHEN division_by_zero THEN RAISE WARNING '% of the caller''s', i;
		END;
		BEGIN
			PERFORM bad('worker');
		EXCEPTION WHEN division_by_zero THEN RAISE WARNING '% of the worker''s', i;
		END;
		PERFORM good('caller');
		BEGIN
			PERFORM good('caller');
			RAISE division_by_zero;
		EXCEPTION WHEN division_by_zero THEN NULL;
		END;
	END LOOP;
	INSERT INTO kept VALUES (5);
END $$;
SELECT count(*) FROM kept WHERE a = 5;
-- several in one query, one for each row, and together with other work
SELECT g, r.arm, r.statements FROM generate_series(1, 2) g, rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)')], 'CREATE TABLE t (a int)', transport => 'caller', rounds => 1) r;
WITH w AS (INSERT INTO kept VALUES (6) RETURNING a) SELECT a, good('caller') FROM w;
SELECT count(*) FROM kept WHERE a = 6;
-- through a cursor
BEGIN;
DECLARE c CURSOR FOR SELECT good('caller') FROM generate_series(1, 3);
FETCH 1 FROM c;
FETCH 1 FROM c;
COMMIT;
-- in a procedure that commits
CREATE PROCEDURE steps() LANGUAGE plpgsql AS $$ BEGIN PERFORM good('caller'); COMMIT; PERFORM good('worker'); COMMIT; PERFORM good('caller'); END $$;
CALL steps();
-- prepared, executed often enough to get a generic plan
PREPARE run(text) AS SELECT good($1);
EXECUTE run('caller'); EXECUTE run('caller'); EXECUTE run('caller'); EXECUTE run('caller'); EXECUTE run('caller'); EXECUTE run('caller'); EXECUTE run('worker');
DEALLOCATE run;

--
-- what only the caller sees: uncommitted, temporary
--
BEGIN;
CREATE TABLE fresh (a int);
INSERT INTO fresh SELECT generate_series(1, 5);
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('delete', 'DELETE FROM fresh'), rtbench.arm('each', rtbench.foreach('SELECT a FROM fresh', 'DELETE FROM fresh WHERE a = $1'))],
	rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('delete', 'DELETE FROM fresh'), rtbench.arm('each', rtbench.foreach('SELECT a FROM fresh', 'DELETE FROM fresh WHERE a = $1'))],
	transport => 'caller', rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM fresh;
SAVEPOINT s;
SELECT good('worker', 'CREATE TABLE t AS TABLE fresh');
ROLLBACK TO s;
SELECT good('caller', 'CREATE TABLE t AS TABLE fresh');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'TABLE fresh');
ROLLBACK;
CREATE TEMP TABLE mine AS SELECT generate_series(1, 5) AS a;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'DELETE FROM mine'), rtbench.arm('other', 'DELETE FROM mine WHERE a > 0')], rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'DELETE FROM mine'), rtbench.arm('other', 'DELETE FROM mine WHERE a > 0')], transport => 'caller', rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM mine;
-- no such hint for what nobody has, nor for what all see
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT * FROM mine_not'), rtbench.arm('b', 'SELECT * FROM regress_rtb_nowhere.kept')], rounds => 2);
-- committed rows that the caller has deleted, and not committed, are there for the worker
BEGIN;
DELETE FROM kept;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('count', 'INSERT INTO t SELECT a FROM kept')], 'CREATE TABLE t (a int)', rounds => 2);
SELECT rows > 0 AS rows FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('count', 'INSERT INTO t SELECT a FROM kept')], 'CREATE TABLE t (a int)', transport => 'caller', rounds => 2);
SELECT rows > 0 AS rows FROM rtbench.result();
ROLLBACK;
-- a scenario of the same transaction works by either
BEGIN;
SELECT rtbench.create_scenario('regress_rtb_new', 'CREATE TABLE t (a int)'), rtbench.add_arm('regress_rtb_new', rtbench.arm('a', 'INSERT INTO t VALUES (1)'));
SELECT arm, statements FROM rtbench.sweep('regress_rtb_new', rounds => 1);
SELECT arm, statements FROM rtbench.sweep('regress_rtb_new', rounds => 1, transport => 'caller');
ROLLBACK;

--
-- dead rows of earlier passes fill the pages: that is not the arm's doing
--
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'UPDATE t SET b = b + 1'), rtbench.arm('b', 'UPDATE t SET b = b + 1')],
	setup => 'CREATE TABLE t (a int PRIMARY KEY, b int); INSERT INTO t SELECT generate_series(1, 20), 0', transport => 'caller', rounds => 10, control => false);
SELECT arm, verdict = 'not comparable' AS not_comparable FROM rtbench.result();

--
-- statements that a pass cannot have by either transport fail alike
--
CREATE PROCEDURE commits() LANGUAGE plpgsql AS 'BEGIN COMMIT; END';
SELECT good('caller');
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'CALL regress_rtb_caller.commits()'), rtbench.arm('b', 'DO ''BEGIN ROLLBACK; END''')], rounds => 2, transport => 'caller');
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'CALL regress_rtb_caller.commits()'), rtbench.arm('b', 'DO ''BEGIN ROLLBACK; END''')], rounds => 2);
-- a run inside a run
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT regress_rtb_caller.good(''caller'')'), rtbench.arm('b', 'SELECT regress_rtb_caller.good(''worker'')')], rounds => 2, transport => 'caller');
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT regress_rtb_caller.good(''caller'')'), rtbench.arm('b', 'SELECT regress_rtb_caller.good(''worker'')')], rounds => 2);
SELECT good('caller'), good('worker');
-- a run in the setup or the check query
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'SELECT regress_rtb_caller.good(''caller'')');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'SELECT regress_rtb_caller.good(''caller'')', transport => 'caller');
SELECT good('caller'), good('worker');

SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker';
SELECT count(*) FROM pg_prepared_statements;
SET client_min_messages = error;
DROP SCHEMA regress_rtb_caller CASCADE;
