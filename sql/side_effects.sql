-- What a rolled-back pass could leave behind: session locks, settings, temporary tables, prepared statements, cursors, listeners.
-- Each with both transports: in a worker it would reach later passes, in the caller's backend his own session.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset null null
CREATE TEMP VIEW told AS
SELECT (SELECT transport FROM rtbench.runs r WHERE r.run = p.run), p.arm, p.statements, p.rows,
	CASE WHEN verdict IN ('baseline', 'failed', 'not comparable') THEN verdict ELSE 'compared' END AS verdict,
	(SELECT string_agg(n, '; ') FROM regexp_split_to_table(p.notes, '; ') n
	 WHERE n ~ 'side effect|sequence|catalogs|notif' OR n !~ 'WAL records|dead rows' AND verdict IN ('failed', 'not comparable')) AS notes
FROM rtbench.result() p;
-- what this session has
CREATE TEMP VIEW mine AS
SELECT (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory') AS locks,
	(SELECT string_agg(name, ', ' ORDER BY name) FROM pg_prepared_statements) AS prepared,
	(SELECT string_agg(name, ', ' ORDER BY name) FROM pg_cursors WHERE name LIKE 'left%') AS cursors,
	(SELECT string_agg(relname, ', ' ORDER BY relname) FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relname LIKE 'left%') AS tables,
	(SELECT string_agg(c, ', ' ORDER BY c) FROM pg_listening_channels() c) AS channels,
	current_setting('work_mem') AS work_mem, current_setting('search_path') AS search_path, nullif(current_setting('leftover.setting', true), '') AS custom,
	current_user, session_user = current_user AS session, current_setting('application_name') AS application_name;
-- what the session has before, and must have after
SET work_mem = '5MB';
SET search_path = public;
SET application_name = 'regress_rtb';
PREPARE mine_too AS SELECT 1;
SELECT pg_advisory_lock(41), pg_advisory_lock_shared(42), pg_advisory_lock(42);
LISTEN mine_too;
CREATE ROLE regress_rtb_side;
TABLE mine;

CREATE FUNCTION pg_temp.both(arms jsonb[], setup text DEFAULT 'CREATE TABLE t (a int)') RETURNS SETOF told LANGUAGE plpgsql AS $$
DECLARE transport text;
BEGIN
	FOREACH transport IN ARRAY ARRAY['worker', 'caller'] LOOP
		PERFORM rtbench.compare(arms, setup, transport => transport, rounds => 2);
		RETURN QUERY SELECT * FROM told;
	END LOOP;
END $$;

--
-- session-level advisory locks, one of them twice over
--
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('locks', 'SELECT pg_advisory_lock(1), pg_advisory_lock(1), pg_advisory_lock_shared(2)', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('xact_lock', 'SELECT pg_advisory_xact_lock(3)', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('again', 'SELECT pg_try_advisory_lock(1)', 'INSERT INTO t SELECT 1 WHERE pg_try_advisory_lock_shared(2)')]);
TABLE mine;
-- the arm fails with a lock in hand
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('locks', 'SELECT pg_advisory_lock(1)', 'INSERT INTO t SELECT 1/0')]);
TABLE mine;
-- an arm in the session's own backend gives back what the session holds
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'SELECT pg_advisory_unlock(41)', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('all', 'SELECT pg_advisory_unlock_all()', 'INSERT INTO t VALUES (1)')],
	setup => 'CREATE TABLE t (a int)', transport => 'caller', rounds => 2);
TABLE mine;

--
-- settings and roles
--
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('sets', 'SET work_mem = ''7MB''', 'SET leftover.setting = ''yes''', 'SET ROLE regress_rtb_side', 'RESET ROLE',
		'RESET work_mem', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('set_config', 'SELECT set_config(''work_mem'', ''8MB'', false)', 'SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('sees_none', 'INSERT INTO t SELECT 1 WHERE current_setting(''work_mem'') = ''5MB'' AND COALESCE(current_setting(''leftover.setting'', true), '''') = ''''')]);
TABLE mine;
-- an arm that stays in another role or path is digested as the caller all the same
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('role', 'INSERT INTO t VALUES (1)', 'SET ROLE regress_rtb_side'),
	rtbench.arm('authorization', 'INSERT INTO t VALUES (1)', 'SET SESSION AUTHORIZATION regress_rtb_side'),
	rtbench.arm('path', 'INSERT INTO t VALUES (1)', 'SET search_path = ''''', 'SET row_security = off', 'SET datestyle = ''German''')]);
TABLE mine;

--
-- temporary tables, whatever their end would be
--
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('temp', 'CREATE TEMP TABLE left_1 (a int)', 'INSERT INTO left_1 VALUES (1)', 'INSERT INTO t SELECT a FROM left_1'),
	rtbench.arm('on_commit', 'CREATE TEMP TABLE left_2 ON COMMIT DROP AS SELECT 1 AS a', 'CREATE TEMP TABLE left_3 (a int) ON COMMIT DELETE ROWS', 'INSERT INTO t TABLE left_2')]);
TABLE mine;
-- a temporary table is a means, and is not compared
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('one', 'CREATE TEMP TABLE left_1 AS SELECT 1 AS a', 'INSERT INTO t TABLE left_1'),
	rtbench.arm('two', 'CREATE TEMP TABLE left_1 AS SELECT 2 AS a', 'INSERT INTO t VALUES (1)')]);
TABLE mine;

--
-- prepared statements and cursors
--
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('prepares', 'PREPARE left_1 (int) AS INSERT INTO t VALUES ($1)', 'EXECUTE left_1 (1)'),
	rtbench.arm('declares', 'DECLARE left_1 CURSOR WITH HOLD FOR SELECT 1', 'DECLARE left_2 CURSOR FOR SELECT 1', 'FETCH left_1', 'INSERT INTO t VALUES (1)')]);
TABLE mine;
-- the arm fails after PREPARE; it takes away what was there before
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('prepares', 'PREPARE left_1 AS SELECT 1', 'INSERT INTO t SELECT 1/0')]);
TABLE mine;
-- DISCARD, DEALLOCATE; all prepared statements would be those of the session too
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('discards', 'DISCARD PLANS', 'DISCARD SEQUENCES', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('deallocates', 'PREPARE left_1 AS SELECT 1', 'DEALLOCATE left_1', 'INSERT INTO t VALUES (1)')]);
SELECT rtbench.arm('a', 'DEALLOCATE ALL');
TABLE mine;

--
-- sequences: those of the fixture are set back, the user's are told
--
CREATE SEQUENCE ticks;
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('default', 'INSERT INTO t DEFAULT VALUES'),
	rtbench.arm('nextval', 'INSERT INTO t SELECT nextval(''s'')')],
	setup => 'CREATE SEQUENCE s CACHE 5; CREATE TABLE t (a int DEFAULT nextval(''s'')); SELECT nextval(''s'')');
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('ticks', 'SELECT nextval(''ticks'')', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('setval', 'SELECT setval(''ticks'', 1000)', 'INSERT INTO t VALUES (1)')]);
SELECT last_value >= 1000 AS advanced FROM ticks;
-- what only drops it does not advance it, and after that nobody knows
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('drops', 'DROP SEQUENCE ticks', 'INSERT INTO t VALUES (1)')]);

--
-- NOTIFY
--
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('notifies', 'NOTIFY mine_too, ''never sent''', 'SELECT pg_notify(''mine_too'', ''nor this'')', 'INSERT INTO t VALUES (1)')]);
TABLE mine;

--
-- the catalogs
--
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('ddl', 'CREATE INDEX ON t (a)', 'ALTER TABLE t ADD b int', 'INSERT INTO t VALUES (1)', 'ALTER TABLE t DROP b'),
	rtbench.arm('drops', 'DROP TABLE t', 'CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1)')]);
-- tables that the arms make are digested while they are there
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('ctas', 'CREATE TABLE left_1 AS SELECT 1 AS a'),
	rtbench.arm('insert', 'CREATE TABLE left_1 (a int)', 'INSERT INTO left_1 VALUES (1)'),
	rtbench.arm('other', 'CREATE TABLE left_1 (a int)', 'INSERT INTO left_1 VALUES (2)'),
	rtbench.arm('view', 'CREATE MATERIALIZED VIEW left_1 AS SELECT 1 AS a')], NULL);
SELECT arm, checked FROM rtbench.result();
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('plain', 'CREATE TABLE left_1 (a int)', 'INSERT INTO left_1 VALUES (1)'),
	rtbench.arm('elsewhere', 'CREATE TABLE public.left_2 (a int)', 'INSERT INTO public.left_2 VALUES (1)'),
	rtbench.arm('gone', 'CREATE TABLE left_1 (a int)', 'DROP TABLE left_1'),
	rtbench.arm('undone', 'DO $$BEGIN CREATE TABLE left_1 (a int); RAISE ''x''; EXCEPTION WHEN raise_exception THEN NULL; END$$')]);
SELECT arm, checked FROM rtbench.result();
SELECT relname FROM pg_class WHERE relname LIKE 'left%';

--
-- many NOTICEs: none comes through, none is timed as a message
--
SET client_min_messages = warning;
DO $$
BEGIN
	PERFORM rtbench.compare(ARRAY[
		rtbench.arm('quiet', 'INSERT INTO t SELECT generate_series(1, 100)'),
		rtbench.arm('loud', 'DO ''BEGIN FOR i IN 1..100 LOOP RAISE NOTICE ''''%'''', i; RAISE WARNING ''''%'''', i; INSERT INTO t VALUES (i); END LOOP; END''')],
		'CREATE TABLE t (a int); DO ''BEGIN RAISE WARNING ''''of the setup''''; END''', rounds => 2);
	RAISE WARNING 'done';
END $$;
SELECT * FROM told;

SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
SELECT pid FROM pg_stat_activity WHERE backend_type = 'rtbench worker';
TABLE mine;
DROP SEQUENCE ticks;
UNLISTEN *;
DROP ROLE regress_rtb_side;
