-- Runs in progress, looked at from inside: the arms look.  What other sessions see is tested with more than one.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE ROLE regress_rtbench_runner;
CREATE ROLE regress_rtbench_looker;
DO $$ BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO regress_rtbench_runner', current_database()); END $$;
CREATE SCHEMA regress_rtbench_seen AUTHORIZATION regress_rtbench_runner;
SET client_min_messages = error;
SET ROLE regress_rtbench_runner;

-- no run, nothing to see
SELECT * FROM rtbench.progress;

-- what an arm saw last: sequences keep what a rollback would take away
SET search_path = regress_rtbench_seen;
CREATE SEQUENCE run;
CREATE SEQUENCE pid;
CREATE SEQUENCE rows MINVALUE 0;
CREATE SEQUENCE passes MINVALUE 0;
CREATE FUNCTION look() RETURNS bigint LANGUAGE sql SET search_path = regress_rtbench_seen AS $$
	SELECT setval('rows', count(*)) FROM rtbench.progress;
	SELECT setval('passes', passes_done) FROM rtbench.progress;
	SELECT setval('pid', pid) FROM rtbench.progress;
	SELECT setval('run', run) FROM rtbench.progress
$$;
CREATE FUNCTION require(what boolean) RETURNS void LANGUAGE plpgsql AS $$ BEGIN ASSERT what; END $$;

-- one row, of this backend's, under the id that the run has in the end; from a worker and from the backend itself
CREATE FUNCTION seen() RETURNS TABLE (rows bigint, mine boolean, the_last boolean, scenario text, transport text, complete boolean, passes boolean)
LANGUAGE sql SET search_path = regress_rtbench_seen AS $$
	SELECT (SELECT last_value FROM rows), (SELECT last_value FROM pid) = pg_backend_pid(), r.run = (SELECT max(run) FROM rtbench.runs),
		r.scenario, r.transport, r.complete,
		(SELECT last_value FROM passes) BETWEEN 8 AND (SELECT count(*) FROM rtbench.passes p WHERE p.run = r.run)
	FROM rtbench.runs r WHERE r.run = (SELECT last_value FROM run)
$$;
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('look', 'SELECT regress_rtbench_seen.look()')], sessions => 2);
SELECT * FROM seen();
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('look', 'SELECT regress_rtbench_seen.look()')], rounds => 10, transport => 'caller');
SELECT * FROM seen();
SELECT * FROM rtbench.progress;

-- every column as it must be, before every statement that is measured; errors that an arm handles itself change nothing
SELECT point, arm, verdict = 'failed' AS failed FROM rtbench.compare(ARRAY[
	rtbench.arm('rows', 'SELECT regress_rtbench_seen.require(count(*) = 1) FROM rtbench.progress'),
	rtbench.arm('columns', $$SELECT regress_rtbench_seen.require(datname = current_database() AND owner = quote_ident(current_user)::regrole
		AND scenario = 'compare' AND phase IN ('pilot', 'rounds') AND point IN (3, 7) AND session = 1 AND sessions_planned = 1
		AND CASE phase WHEN 'pilot' THEN round IS NULL ELSE coalesce(round IN (1, 2), true) END
		AND passes_done BETWEEN 0 AND coalesce(passes_planned, 1000) AND (point = 3 OR passes_planned BETWEEN 60 AND 70)
		AND elapsed >= '0' AND estimate BETWEEN '0' AND interval '60 s' - elapsed IS NOT FALSE) FROM rtbench.progress$$),
	rtbench.arm('handled', 'DO $do$ BEGIN PERFORM 1 / 0; EXCEPTION WHEN division_by_zero THEN PERFORM regress_rtbench_seen.require(count(*) = 1) FROM rtbench.progress; END $do$'),
	rtbench.arm('locks', $$SELECT regress_rtbench_seen.require(count(*) = 1) FROM pg_locks WHERE locktype = 'userlock'$$),
	rtbench.arm('unlock', 'SELECT pg_advisory_unlock_all()', 'SELECT regress_rtbench_seen.require(count(*) = 1) FROM rtbench.progress')],
	points => '{3,7}', rounds => 2, transport => 'caller', control => false);
SELECT point, arm, notes FROM rtbench.result() WHERE verdict = 'failed';

-- gone when the run fails, also where the transaction goes on
BEGIN;
DO $$
BEGIN
	PERFORM rtbench.compare(ARRAY[rtbench.arm('look', 'SELECT look()')], setup => 'SELECT 1 / 0', transport => 'caller');
EXCEPTION WHEN division_by_zero THEN
	PERFORM regress_rtbench_seen.require(count(*) = 0) FROM rtbench.progress;
END $$;
SELECT count(*) FROM rtbench.progress;
SELECT count(*) FROM pg_locks WHERE locktype = 'userlock';
COMMIT;
-- one run in a subtransaction, then another
BEGIN;
SAVEPOINT a;
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('look', 'SELECT regress_rtbench_seen.look()')], rounds => 2, transport => 'caller');
SAVEPOINT b;
SELECT rtbench.compare(ARRAY[rtbench.arm('look', 'SELECT 1')], setup => 'SELECT 1 / 0', transport => 'caller');
ROLLBACK TO b;
SELECT count(*) FROM rtbench.progress;
RELEASE a;
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('look', 'SELECT regress_rtbench_seen.look()')], rounds => 2, transport => 'caller');
COMMIT;
SELECT rows, mine, the_last FROM seen();

-- a run that fails at its second point keeps the first under the id that it had
SELECT rtbench.compare(ARRAY[rtbench.arm('look', 'SELECT regress_rtbench_seen.look()')], setup => 'SELECT 1 / (2 - :n)', points => '{1,2}', rounds => 8);
SELECT * FROM seen();
SELECT * FROM rtbench.progress;

-- anybody may take advisory locks, with whatever key
SELECT pg_advisory_lock(1920230000, 4711), pg_advisory_lock(1920230000, -1), pg_advisory_lock(-1), pg_advisory_lock(0);
SELECT * FROM rtbench.progress;
SELECT pg_advisory_unlock_all();

-- ids come from the sequence, which only rtbench advances
SELECT rtbench.next_run() < rtbench.next_run() AS ascending;
SELECT nextval('rtbench.runs_run_seq');
SELECT setval('rtbench.runs_run_seq', 1);
-- of runs that went on at once the last is the one that ended last
CREATE FUNCTION keep(label text, finished timestamptz) RETURNS void LANGUAGE sql AS $$
	INSERT INTO rtbench.runs (label, scenario, transport, scope, arms, descriptions, points, baseline, margin, seed, started_at,
		finished_at, complete, server_version, options, settings, machine, documents)
	VALUES (label, 's', 't', 's', '{a}', '{NULL}', '{}', 'a', 0.02, 1, '2100-01-01', finished, true, '15', '{}', '{}', '{}', '{}')
$$;
SELECT keep('long', '2100-01-03'), keep('short', '2100-01-02'), keep('unfinished', NULL);
SELECT label FROM rtbench.runs WHERE run = (SELECT DISTINCT run FROM rtbench.result());

-- the view is for everyone, the rows are not
SET ROLE regress_rtbench_looker;
SELECT count(*) FROM rtbench.progress;
RESET ROLE;

DELETE FROM rtbench.runs WHERE owner = 'regress_rtbench_runner'::regrole;
DROP OWNED BY regress_rtbench_runner, regress_rtbench_looker;
DROP ROLE regress_rtbench_runner, regress_rtbench_looker;
