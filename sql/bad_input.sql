-- What sweep() and compare() refuse before anything runs, and what of it they say.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
DO $$ BEGIN EXECUTE format('CREATE ROLE regress_rtb_bad; GRANT CREATE, TEMP ON DATABASE %I TO regress_rtb_bad', current_database()); END $$;
SET ROLE regress_rtb_bad;
SELECT rtbench.create_scenario('rows', 'CREATE TABLE t (a int); INSERT INTO t SELECT generate_series(1, :n)', swept => 'n',
	points => '{1,2}', parameters => '{"by": 1}');
SELECT rtbench.add_arm('rows', rtbench.arm('update', 'UPDATE t SET a = a + :by'));
SELECT rtbench.add_arm('rows', rtbench.arm('insert', 'INSERT INTO t SELECT a FROM t'));
SELECT rtbench.create_scenario('without_arms', 'SELECT 1');

--
-- names that nothing has
--
\set VERBOSITY terse
SELECT rtbench.sweep('nothing');
SELECT rtbench.sweep('');
SELECT rtbench.sweep('no role.rows');
\set VERBOSITY default
-- the hint has the role's own and the built-in ones
DO $$
DECLARE hint text;
BEGIN
	PERFORM rtbench.sweep('nothing');
EXCEPTION WHEN undefined_object THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	IF hint IS DISTINCT FROM (SELECT 'Known scenarios: ' || string_agg(scenario, ', ' ORDER BY builtin, scenario) || '.' FROM rtbench.scenarios) THEN
		RAISE WARNING '%', hint;
	END IF;
END $$;
SELECT rtbench.sweep('rows', arms => '{update,upsert}');
SELECT rtbench.sweep('rows', arms => '{update,update}');
SELECT rtbench.sweep('rows', arms => '{}');
SELECT rtbench.sweep('rows', baseline => 'upsert');
SELECT rtbench.sweep('rows', arms => '{update}', baseline => 'insert');
SELECT rtbench.sweep('rows', parameters => '{"bye": 2}');
SELECT rtbench.sweep('rows', swept => 'm');
SELECT rtbench.sweep('rows', parameters => '{"n": 2}', swept => 'by');
SELECT rtbench.sweep('rows', parameters => '{"by": 2}', swept => 'by', points => '{1}');
SELECT rtbench.sweep('rows', swept => 'by', points => '{1}', rounds => 1);
SELECT rtbench.sweep('rows', parameters => '{"n": {}}', swept => 'by', points => '{1}');
SELECT rtbench.sweep('rows', check_query => 'SELECT :nothing');
-- another parameter swept, a value for the one that was
SELECT point, arm, statements FROM rtbench.sweep('rows', parameters => '{"n": 3}', swept => 'by', points => '{7}', rounds => 1);
SELECT point, arm, rows FROM rtbench.result();
SELECT rtbench.sweep('rows', transport => 'carrier pigeon');
SELECT rtbench.sweep('without_arms');

--
-- points
--
SELECT rtbench.sweep('rows', points => '{1,-1}');
SELECT rtbench.sweep('rows', points => '{9223372036854775808}');
SELECT rtbench.sweep('rows', points => '{1,2,1}');
SELECT rtbench.sweep('rows', points => '{}');
SELECT rtbench.sweep('rows', points => '{{1,2},{3,4}}');
SELECT rtbench.sweep('rows', points => '{1,NULL}');
SELECT rtbench.sweep('without_arms', points => '{1}');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], points => '{-9223372036854775808}');

--
-- figures out of range
--
SELECT rtbench.sweep('rows', rounds => 0);
SELECT rtbench.sweep('rows', rounds => 2147483647);
SELECT rtbench.sweep('rows', sessions => 0);
SELECT rtbench.sweep('rows', sessions => 2, transport => 'caller');
SELECT rtbench.sweep('rows', rounds => -1);
SELECT rtbench.sweep('rows', target => 0);
SELECT rtbench.sweep('rows', target => 1);
SELECT rtbench.sweep('rows', target => -0.02);
SELECT rtbench.sweep('rows', target => 'NaN');
SELECT rtbench.signed_rank_interval('{1,2,3}', level => 0), rtbench.signed_rank_interval('{1,2,3}', level => 0.9);
SELECT rtbench.signed_rank_interval('{1,2,3}', level => 1);
SELECT rtbench.signed_rank_critical(9, level => -0.5);
SELECT rtbench.sweep('rows', margin => 0);
SELECT rtbench.sweep('rows', margin => 1);
SELECT rtbench.sweep('rows', margin => 'NaN');
SELECT rtbench.sweep('rows', max_time => '0');
SELECT rtbench.sweep('rows', max_time => '-1 s');
SELECT rtbench.sweep('rows', max_time => '178000000 years');
SELECT rtbench.sweep('rows', pass_timeout => '0.5 ms');
SELECT rtbench.sweep('rows', pass_timeout => '-1 month');

-- less time than one pass takes: no figure for it, and the others have theirs
SELECT arm, verdict, median_ms IS NULL AS not_known FROM rtbench.compare(ARRAY[rtbench.arm('slow', 'SELECT pg_sleep(2)'), rtbench.arm('quick', 'SELECT 1')],
	baseline => 'quick', max_time => '200 ms', control => false);

-- a check query that would use up more than a tenth of it
\set VERBOSITY terse
SELECT rtbench.sweep('rows', check_query => 'SELECT pg_sleep(0.1)', max_time => '2 s');
\set VERBOSITY default

--
-- NULL: refused where a value is due, the default where it means "not given"
--
SELECT rtbench.sweep(NULL);
SELECT rtbench.compare(NULL::jsonb[]);
SELECT rtbench.compare(ARRAY[NULL]::jsonb[]);
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1'), NULL]);
SELECT rtbench.sweep('rows', transport => NULL);
SELECT rtbench.sweep('rows', margin => NULL);
SELECT rtbench.sweep('rows', target => NULL);
SELECT rtbench.sweep('rows', arms => '{update,NULL}');
SELECT rtbench.sweep('rows', ignore_columns => '{NULL}');
SELECT rtbench.arm(NULL, 'SELECT 1');
SELECT rtbench.arm('a', NULL);
SELECT rtbench.arm('a', VARIADIC NULL::text[]);
SELECT rtbench.arm('a', VARIADIC ARRAY['SELECT 1', NULL]);
SELECT rtbench.arm('a', VARIADIC ARRAY[NULL]::jsonb[]);
SELECT rtbench.arm('a', steps => NULL::jsonb[]);
SELECT rtbench.arm('a', steps => ARRAY[rtbench.step('SELECT 1')], ending => NULL);
SELECT rtbench.arm('a', steps => ARRAY[rtbench.step('SELECT 1')], plans => NULL);
SELECT rtbench.step(NULL);
SELECT rtbench.step('SELECT $1', types => '{NULL}');
SELECT rtbench.foreach(NULL, 'SELECT 1');
SELECT rtbench.foreach('SELECT 1', NULL);
SELECT rtbench.foreach('SELECT 1', VARIADIC NULL::text[]);
SELECT rtbench.foreach('SELECT 1', VARIADIC ARRAY['SELECT $1', NULL]);
SELECT rtbench.generated(NULL);
SELECT rtbench.create_scenario(NULL, 'SELECT 1');
SELECT rtbench.add_arm(NULL, rtbench.arm('a', 'SELECT 1'));
SELECT rtbench.add_arm('rows', NULL);
SELECT rtbench.drop_scenario(NULL);
SELECT rtbench.show_scenario(NULL);
SELECT rtbench.result(-1);
SELECT rtbench.step_result(-1);
SELECT arm, statements FROM rtbench.sweep('rows', points => NULL, parameters => NULL, arms => NULL, swept => NULL, check_query => NULL,
	baseline => NULL, label => NULL, rounds => 1, max_time => NULL, pass_timeout => NULL, ignore_columns => NULL,
	compare_returned => NULL, vacuum => NULL, seed => NULL);
SELECT arm, statements FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => NULL, check_query => NULL, points => NULL,
	parameters => NULL, swept => NULL, baseline => NULL, label => NULL, rounds => 1, max_time => NULL, pass_timeout => NULL,
	ignore_columns => NULL, compare_returned => NULL, vacuum => NULL, seed => NULL);
-- every argument of every function at once: an error that says so, or what is there without it
CREATE FUNCTION pg_temp.all_null(function regprocedure) RETURNS text LANGUAGE plpgsql AS $$
DECLARE arguments text;
BEGIN
	SELECT string_agg(format('NULL::%s', CASE type WHEN '"any"'::regtype THEN 'text' ELSE type::regtype::text END), ', ')
		INTO arguments FROM pg_proc p, unnest(p.proargtypes) type WHERE p.oid = function;
	EXECUTE format('SELECT %s(%s)', function::regproc, arguments);
	RETURN 'ok';
EXCEPTION WHEN OTHERS THEN
	RETURN CASE WHEN SQLSTATE IN ('22004', '42725') THEN 'ok' ELSE SQLSTATE || ' ' || SQLERRM END;
END $$;
SELECT p.oid::regprocedure, told FROM pg_proc p, pg_temp.all_null(p.oid) told
WHERE p.pronamespace = 'rtbench'::regnamespace AND p.prokind = 'f' AND told <> 'ok' ORDER BY p.oid::regprocedure::text COLLATE "C";

--
-- not an arm, not a query
--
SELECT rtbench.compare(ARRAY['SELECT 1', 'SELECT 2']);
SELECT rtbench.compare('{"SELECT 1"}'::text[], transport => 'caller');
SELECT rtbench.compare('{}'::jsonb[]);
SELECT rtbench.compare(ARRAY[[rtbench.arm('a', 'SELECT 1')]]);
SELECT rtbench.compare(ARRAY['1', '"SELECT 1"', '[]']::jsonb[]);
SELECT rtbench.compare(ARRAY['"SELECT 1"']::jsonb[]);
SELECT rtbench.compare(ARRAY['{}']::jsonb[]);
SELECT rtbench.compare(ARRAY['{"arm": "a"}']::jsonb[]);
SELECT rtbench.compare(ARRAY['{"arm": "a", "steps": []}']::jsonb[]);
SELECT rtbench.compare(ARRAY['{"arm": "a", "steps": [{}]}']::jsonb[]);
SELECT rtbench.compare(ARRAY['{"arm": "a", "steps": "SELECT 1"}']::jsonb[]);
SELECT rtbench.compare(ARRAY['{"arm": null, "steps": [{"statement": "SELECT 1"}]}']::jsonb[]);
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1'), rtbench.arm('a', 'SELECT 2')]);
\set VERBOSITY sqlstate
SELECT rtbench.arm('a');
\set VERBOSITY default
SELECT rtbench.arm('a', '');
SELECT rtbench.arm('a', ' -- nothing but a comment');
SELECT rtbench.arm('a', 'SELECT 1 FROM WHERE');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'DELETE FROM t');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => 'SELECT 1; SELECT 2');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], check_query => '');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TABEL t ()');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'VACUUM');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT :n')]);
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT :n')], points => '{1}', swept => 'm');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], swept => 'n');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], parameters => '[]');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], parameters => '{"n": {}}');

--
-- nothing was run but what was let through above, and nothing stands
--
SELECT scenario, swept, points FROM rtbench.runs ORDER BY run;
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%' AND nspowner = 'regress_rtb_bad'::regrole;
RESET ROLE;
DELETE FROM rtbench.runs WHERE owner = 'regress_rtb_bad'::regrole;
DELETE FROM rtbench.scenario_definitions WHERE owner = 'regress_rtb_bad'::regrole;
DROP OWNED BY regress_rtb_bad;
DROP ROLE regress_rtb_bad;
