-- Runs as plain roles: what is read, written and seen with whose rights.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset null null
CREATE ROLE regress_rtb_owner;
CREATE ROLE regress_rtb_plain;
CREATE ROLE "regress_rtb Ünu""sual";
CREATE ROLE regress_rtb_nologin NOLOGIN;
DO $$ BEGIN EXECUTE format('GRANT CREATE, TEMP ON DATABASE %I TO regress_rtb_owner, regress_rtb_plain, "regress_rtb Ünu""sual", regress_rtb_nologin', current_database()); END $$;
CREATE SCHEMA regress_rtb_data AUTHORIZATION regress_rtb_owner;
GRANT USAGE ON SCHEMA regress_rtb_data TO PUBLIC;
CREATE TEMP VIEW told WITH (security_invoker) AS
SELECT arm, statements, rows, CASE WHEN verdict IN ('baseline', 'failed', 'not comparable') THEN verdict ELSE 'compared' END AS verdict, checked,
	(SELECT string_agg(n, '; ') FROM regexp_split_to_table(notes, '; ') n WHERE n ~ 'vacuumed' OR n !~ 'WAL records' AND verdict IN ('failed', 'not comparable')) AS notes
FROM rtbench.result();
GRANT SELECT ON told TO PUBLIC;

SET ROLE regress_rtb_owner;
SET search_path = regress_rtb_data;
CREATE TABLE secret (a int, b int);
CREATE TABLE readable (a int, b int);
CREATE TABLE half (a int, b int);
CREATE TABLE filtered (a int, whose text DEFAULT current_user);
CREATE TABLE log (a int);
INSERT INTO secret SELECT g, g FROM generate_series(1, 10) g;
INSERT INTO readable SELECT g, g FROM generate_series(1, 10) g;
INSERT INTO half SELECT g, g FROM generate_series(1, 10) g;
INSERT INTO filtered SELECT g, CASE WHEN g % 2 = 0 THEN 'regress_rtb_plain' ELSE 'regress_rtb_owner' END FROM generate_series(1, 10) g;
ALTER TABLE filtered ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON filtered USING (whose = current_user);
GRANT INSERT, UPDATE, DELETE ON secret, readable, half, filtered TO regress_rtb_plain;
GRANT SELECT ON readable, filtered TO regress_rtb_plain;
GRANT SELECT (a) ON half TO regress_rtb_plain;
-- writes a table that the caller may not read, on his behalf
CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN INSERT INTO regress_rtb_data.log VALUES (1); RETURN NULL; END $$;
CREATE TABLE logged (a int);
CREATE TRIGGER log AFTER INSERT ON logged FOR EACH STATEMENT EXECUTE FUNCTION log();
GRANT SELECT, INSERT ON logged TO regress_rtb_plain;

SET ROLE regress_rtb_plain;
--
-- what the caller may not read is not comparable, and named
--
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'DELETE FROM secret'), rtbench.arm('other', 'UPDATE secret SET b = 0')], rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'DELETE FROM secret'), rtbench.arm('other', 'DELETE FROM secret')], rounds => 2, transport => 'caller');
SELECT * FROM told;
-- a column; the same without it
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'DELETE FROM half'), rtbench.arm('other', 'DELETE FROM half WHERE a > 0')], rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'DELETE FROM half'), rtbench.arm('other', 'DELETE FROM half WHERE a > 0')],
	ignore_columns => '{b}', rounds => 2);
SELECT * FROM told;
-- rows that row-level security hides
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'UPDATE filtered SET a = 0'), rtbench.arm('other', 'UPDATE filtered SET a = 0 WHERE whose = current_user')], rounds => 2);
SELECT * FROM told;
-- a table of somebody else's function
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO logged VALUES (1)'), rtbench.arm('other', 'INSERT INTO logged SELECT 1')], rounds => 2);
SELECT * FROM told;
-- a check query says what counts
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO logged VALUES (1)'), rtbench.arm('other', 'INSERT INTO logged SELECT 1')],
	check_query => 'TABLE logged', rounds => 2);
SELECT * FROM told;
-- readable, but not the caller's to vacuum
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO readable VALUES (1, 2)'), rtbench.arm('other', 'INSERT INTO readable SELECT 1, 2')], rounds => 2);
SELECT * FROM told;
-- no rights at all: arm, setup, check query
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT count(*) FROM readable'), rtbench.arm('other', 'SELECT count(*) FROM log')], rounds => 2);
SELECT arm, notes FROM told WHERE verdict = 'failed';
SELECT rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT 1')], setup => 'CREATE TABLE t AS TABLE log');
SELECT rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT 1')], check_query => 'TABLE log');
RESET ROLE;

--
-- whose rights a run has: the current role's, also one that cannot log in, with a strange name, in a SECURITY DEFINER function
--
CREATE FUNCTION pg_temp.who(transport text) RETURNS TABLE (arm text, rows bigint, verdict text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM rtbench.compare(ARRAY[rtbench.arm('insert', 'INSERT INTO t SELECT current_user, current_setting(''is_superuser'')')],
		setup => 'CREATE TABLE t AS SELECT current_user::text AS who, current_setting(''is_superuser'') AS super',
		check_query => format('SELECT 1 / (SELECT count(*) FROM t WHERE who = %L AND super = %L)::int * 0', current_user, 'off'), transport => transport, rounds => 1);
	RETURN QUERY SELECT r.arm, r.rows, r.verdict FROM rtbench.result() r;
END $$;
SET ROLE regress_rtb_nologin;
SELECT pg_temp.who('worker'), pg_temp.who('caller');
SET ROLE "regress_rtb Ünu""sual";
SELECT pg_temp.who('worker'), pg_temp.who('caller');
RESET ROLE;
ALTER FUNCTION pg_temp.who SECURITY DEFINER;
ALTER FUNCTION pg_temp.who OWNER TO regress_rtb_owner;
SET ROLE regress_rtb_plain;
SELECT pg_temp.who('worker'), pg_temp.who('caller');
-- where an arm cannot become the session's user again
CREATE FUNCTION pg_temp.out(transport text) RETURNS TABLE (arm text, rows bigint, verdict text) LANGUAGE plpgsql AS $$
BEGIN
	PERFORM rtbench.compare(ARRAY[rtbench.arm('stays', 'INSERT INTO t SELECT current_user'), rtbench.arm('role', 'SET ROLE NONE', 'INSERT INTO t SELECT current_user'),
		rtbench.arm('session', 'SET SESSION AUTHORIZATION DEFAULT', 'INSERT INTO t SELECT current_user')], setup => 'CREATE TABLE t (who text)', transport => transport, rounds => 2);
	RETURN QUERY SELECT r.arm, r.rows, CASE WHEN r.verdict IN ('baseline', 'failed', 'not comparable') THEN r.verdict ELSE 'compared' END FROM rtbench.result() r;
END $$;
RESET ROLE;
ALTER FUNCTION pg_temp.out SECURITY DEFINER;
ALTER FUNCTION pg_temp.out OWNER TO regress_rtb_owner;
SET ROLE regress_rtb_plain;
SELECT pg_temp.out('worker');
SELECT pg_temp.out('caller');
-- the run is the function's owner's
SELECT count(*) FROM rtbench.runs WHERE owner = 'regress_rtb_owner'::regrole;
RESET ROLE;
SELECT owner, count(*) FROM rtbench.runs WHERE owner::text LIKE '%regress_rtb%' GROUP BY owner ORDER BY owner::text COLLATE "C";
-- not within a security-restricted operation
SET ROLE regress_rtb_owner;
CREATE FUNCTION regress_rtb_data.run() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], rounds => 1); RETURN 1; END $$;
CREATE MATERIALIZED VIEW regress_rtb_data.mv AS SELECT regress_rtb_data.run();
RESET ROLE;

--
-- runs are private
--
SET ROLE regress_rtb_owner;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('mine', 'INSERT INTO secret VALUES (0, 0)'), rtbench.arm('too', 'INSERT INTO secret VALUES (0, 1)')], rounds => 2, label => 'private');
SELECT run AS private FROM rtbench.runs WHERE label = 'private' \gset
SELECT (SELECT count(*) > 0 FROM rtbench.passes WHERE run = :private) AS passes, (SELECT count(*) > 0 FROM rtbench.findings WHERE run = :private) AS findings,
	(SELECT count(*) > 0 FROM rtbench.steps WHERE run = :private) AS steps;
SELECT rtbench.create_scenario('private', 'SELECT 1'), rtbench.add_arm('private', rtbench.arm('a', 'SELECT current_user'));
SET ROLE regress_rtb_plain;
SELECT count(*) FROM rtbench.runs WHERE label = 'private';
SELECT (SELECT count(*) FROM rtbench.passes WHERE run = :private) AS passes, (SELECT count(*) FROM rtbench.findings WHERE run = :private) AS findings,
	(SELECT count(*) FROM rtbench.steps WHERE run = :private) AS steps, (SELECT count(*) FROM rtbench.runs WHERE run = :private) AS runs;
\set VERBOSITY sqlstate
SELECT rtbench.result(:private);
SELECT rtbench.step_result(:private);
SELECT rtbench.sweep('private');
SELECT rtbench.sweep('regress_rtb_owner.private');
SELECT rtbench.show_scenario('regress_rtb_owner.private');
INSERT INTO rtbench.steps (run, arm, step, statement, calls) VALUES (:private, 'mine', 1, 'x', 1);
INSERT INTO rtbench.findings VALUES (:private, 99, NULL, 'mine', 'note', 'x');
INSERT INTO rtbench.passes (run, pass, session, round, "position", kind, control, arm, below_resolution) VALUES (:private, 99, 1, 1, 1, 'timed', false, 'mine', false);
UPDATE rtbench.runs SET owner = 'regress_rtb_plain'::regrole;
UPDATE rtbench.passes SET elapsed_ns = 1;
TRUNCATE rtbench.runs CASCADE;
\set VERBOSITY default
DELETE FROM rtbench.passes WHERE run = :private;
DELETE FROM rtbench.runs WHERE run = :private;
SELECT count(*) FROM rtbench.scenarios WHERE scenario LIKE '%private';
SELECT count(*) FROM rtbench.arms WHERE scenario LIKE '%private';
RESET ROLE;

--
-- a superuser who sweeps a name that only a plain role defined does not run that role's SQL
--
SET ROLE regress_rtb_plain;
SELECT rtbench.create_scenario('trap', 'CREATE TABLE public.regress_rtb_trapped ()'), rtbench.add_arm('trap', rtbench.arm('a', 'SELECT 1'));
RESET ROLE;
SELECT rtbench.sweep('trap');
SELECT rtbench.show_scenario('trap');
SELECT to_regclass('public.regress_rtb_trapped');
-- a plain role cannot put in a built-in one, nor one in another's name
SET ROLE regress_rtb_plain;
\set VERBOSITY sqlstate
INSERT INTO rtbench.scenario_definitions (builtin, name) VALUES (true, 'new');
INSERT INTO rtbench.scenario_definitions (owner, name) VALUES ('regress_rtb_owner', 'new');
UPDATE rtbench.scenario_definitions SET owner = 'regress_rtb_owner' WHERE name = 'trap';
\set VERBOSITY default
UPDATE rtbench.scenario_definitions SET setup = 'x' WHERE builtin;
RESET ROLE;

--
-- read-only
--
SET ROLE regress_rtb_owner;
SET default_transaction_read_only = on;
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')]);
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], transport => 'caller');
SELECT rtbench.sweep('private');
RESET default_transaction_read_only;
BEGIN READ ONLY;
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')]);
ROLLBACK;
RESET ROLE;

--
-- no CREATE on the database
--
DO $$ BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM regress_rtb_plain; REVOKE TEMP ON DATABASE %1$I FROM PUBLIC', current_database()); END $$;
SET ROLE regress_rtb_plain;
DO $$
DECLARE state text; message text; hint text;
BEGIN
	PERFORM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)')], setup => 'CREATE TABLE t (a int)');
EXCEPTION WHEN insufficient_privilege THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
	RAISE WARNING '%: %', state, replace(message, quote_ident(current_database()), 'here')
		USING HINT = replace(hint, quote_ident(current_database()), 'here');
END $$;
-- without a fixture none is needed
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO readable VALUES (1)'), rtbench.arm('other', 'INSERT INTO readable SELECT 1')], rounds => 2);
SELECT * FROM told;
-- in the caller's backend, tables are temporary
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO t SELECT generate_series(1, 10)'),
	rtbench.arm('each', rtbench.foreach('SELECT generate_series(1, 10)', 'INSERT INTO t VALUES ($1)')),
	rtbench.arm('default', rtbench.foreach('SELECT FROM generate_series(1, 10)', 'INSERT INTO t DEFAULT VALUES')), rtbench.arm('none', 'SELECT 1')],
	setup => 'CREATE TABLE t (a serial)', transport => 'caller', rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM pg_class WHERE relnamespace = pg_my_temp_schema() AND relname = 't';
-- nor without TEMP
RESET ROLE;
DO $$ BEGIN EXECUTE format('REVOKE TEMP ON DATABASE %I FROM regress_rtb_plain', current_database()); END $$;
SET ROLE regress_rtb_plain;
\set VERBOSITY sqlstate
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)')], setup => 'CREATE TABLE t (a int)', transport => 'caller');
\set VERBOSITY default
RESET ROLE;
DO $$ BEGIN EXECUTE format('GRANT TEMP ON DATABASE %I TO PUBLIC', current_database()); END $$;

DELETE FROM rtbench.runs WHERE owner::text LIKE '%regress_rtb%';
DELETE FROM rtbench.scenario_definitions WHERE owner::text LIKE '%regress_rtb%';
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
DROP FUNCTION pg_temp.who, pg_temp.out;
DROP VIEW told;
DROP OWNED BY regress_rtb_owner, regress_rtb_plain, "regress_rtb Ünu""sual", regress_rtb_nologin CASCADE;
DROP ROLE regress_rtb_owner, regress_rtb_plain, "regress_rtb Ünu""sual", regress_rtb_nologin;
