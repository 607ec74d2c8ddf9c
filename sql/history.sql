-- Runs beside runs, and what a run would take over a network: from hand-made passes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE ROLE regress_rtbench_history;
RESET client_min_messages;
SET ROLE regress_rtbench_history;
\pset null -
\getenv abs_srcdir PG_ABS_SRCDIR
\set hand_made :abs_srcdir '/test/hand_made.sql'
\set ECHO none
\i :hand_made
\set ECHO all

-- a projection is floor and round trips times distance
SELECT pg_temp.keep('projected', '{base,one,fails,differs}') AS run \gset
SELECT pg_temp.passes(:run, 'base', pg_temp.about(10), '{"round_trips": 100}'), pg_temp.passes(:run, 'one', pg_temp.about(5), '{"round_trips": 1}'), pg_temp.passes(:run, 'differs', pg_temp.about(5), '{"round_trips": 1}', digest => 'd1'),
	pg_temp.pass(:run, 'pilot', 0, 'fails', '{"sqlstate": "53200", "message": "no memory"}') \g /dev/null
SELECT round_trip_ms, arm, round_trips, floor_ms, ms, speedup, factor, basis FROM rtbench.project('{0, 0.2, 2.9}', :run);
SELECT DISTINCT remark, run = :run AS last_run FROM rtbench.project('{1}');
-- there is no floor where a distance was simulated: it would be in there twice
SELECT pg_temp.keep('distances', '{base,one}', '{0,400}') AS distances \gset
SELECT pg_temp.passes(:distances, arm, pg_temp.about(ms), jsonb_build_object('point', p, 'round_trips', 10)) FROM (VALUES ('base', 10), ('one', 5)) AS v (arm, ms), unnest('{0,400}'::int[]) AS p \g /dev/null
RESET ROLE;
UPDATE rtbench.runs SET transport = 'unix, simulated distance', swept = 'round_trip_us' WHERE run = :distances;
SET ROLE regress_rtbench_history;
SELECT point, arm, floor_ms, ms, speedup, factor, remark FROM rtbench.project('{0.4}', :distances);
SELECT rtbench.forget(:distances);
SELECT rtbench.project_count(133973, 2.9), rtbench.project_count(0, 1), rtbench.project_count(1, NULL);
SELECT * FROM rtbench.project('{1,-1}');
SELECT * FROM rtbench.project('{NaN}');
SELECT * FROM rtbench.project('{Infinity}');
SELECT * FROM rtbench.project('{1,NULL}');
SELECT * FROM rtbench.project('{}');
SELECT * FROM rtbench.project(NULL);
SELECT * FROM rtbench.project('{1}', -1);
SELECT rtbench.project_count(-1, 1);
SELECT rtbench.project_count(1, -1);
SELECT rtbench.project_count(1, 'NaN');

-- the same scenario on three dates: what differs, then figures, then a total
SELECT pg_temp.keep('before', '{base,arm,fails}', '{1,2}') AS before, pg_temp.keep('between', '{base,arm,fails}', '{1,2}') AS between, pg_temp.keep('after', '{base,arm,fails,new}', '{1,2,3}') AS after \gset
SELECT pg_temp.passes(run, arm, pg_temp.about(ms * p, phase => (ms * p)::int), jsonb_build_object('point', p, 'plan_shape', CASE WHEN run = :after AND arm = 'arm' THEN '10 x Delete(t) -> Seq Scan(t)' ELSE '10 x Delete(t) -> Index Scan(t_pkey)' END))
FROM (VALUES (:before, 'base', 10), (:before, 'arm', 5), (:between, 'base', 10), (:between, 'arm', 5), (:after, 'base', 10), (:after, 'arm', 8)) AS v (run, arm, ms), generate_series(1, 2) AS p \g /dev/null
SELECT pg_temp.pass(run, 'pilot', 0, 'fails', '{"point": 1, "sqlstate": "53200", "message": "no memory"}') FROM unnest(ARRAY[:before, :between, :after]) AS run \g /dev/null
RESET ROLE;
UPDATE rtbench.runs SET server_version = '17.1', settings = '{"jit": "on", "work_mem": "4096"}' WHERE run = :after;
UPDATE rtbench.runs SET settings = '{"jit": "off", "work_mem": "4096"}' WHERE run <> :after;
SET ROLE regress_rtbench_history;
SELECT kind, what, point, arm, found FROM rtbench.compare_runs(:before, :between, :after) WHERE kind = 'difference';
SELECT kind, what, point, arm, median_ms, percent, ratio, low, high, verdict FROM rtbench.compare_runs(:before, :between, :after) WHERE kind <> 'difference';
SELECT arm, ratio, verdict FROM rtbench.compare_runs(:after, :before) WHERE point = 1;

-- an arm that cannot be compared in its own run is not compared between runs
RESET ROLE;
UPDATE rtbench.passes SET rows = 7 WHERE run = :before AND point = 1 AND arm = 'arm' AND round = 3;
SET ROLE regress_rtbench_history;
SELECT point, arm, median_ms, ratio, low, high, verdict FROM rtbench.compare_runs(:before, :after) WHERE arm = 'arm' AND kind = 'figure';
-- nor by its percent, nor in the total
SELECT kind, what, point, arm, median_ms, percent, ratio FROM rtbench.compare_runs(:before, :after) WHERE point = 1 AND arm = 'arm' AND kind = 'figure' OR kind = 'total';

-- definitions are those of the points and arms that all runs have
RESET ROLE;
UPDATE rtbench.runs SET documents = '{"1": {"setup": ["s"], "arms": [{"name": "base", "steps": 1}]}}' WHERE run = :before;
UPDATE rtbench.runs SET documents = '{"1": {"setup": ["s"], "arms": [{"name": "new", "steps": 3}, {"name": "base", "steps": 1}]}, "3": {"setup": ["t"], "arms": [{"name": "base", "steps": 2}]}}' WHERE run = :after;
SET ROLE regress_rtbench_history;
SELECT count(*) FROM rtbench.compare_runs(:before, :after) WHERE what = 'definitions';
RESET ROLE;
UPDATE rtbench.runs SET documents = jsonb_set(documents, '{1,setup}', '["u"]') WHERE run = :before;
SET ROLE regress_rtbench_history;
SELECT count(*) FROM rtbench.compare_runs(:before, :after) WHERE what = 'definitions';
RESET ROLE;
UPDATE rtbench.runs SET documents = jsonb_set(documents, '{1}', '{"setup": ["s"], "arms": [{"name": "base", "steps": 9}]}') WHERE run = :before;
SET ROLE regress_rtbench_history;
SELECT count(*) FROM rtbench.compare_runs(:before, :after) WHERE what = 'definitions';

-- how a connection was used: protocol, fetch_size and placement as they were given, NULL where there was none; batch where messages have one
CREATE FUNCTION pg_temp.ways(one bigint, one_options jsonb, other bigint, other_options jsonb, documents jsonb DEFAULT '{}')
RETURNS TABLE (what text, found text[]) LANGUAGE plpgsql AS $$
BEGIN
	SET LOCAL ROLE NONE;
	UPDATE rtbench.runs SET options = CASE run WHEN one THEN one_options ELSE other_options END, documents = ways.documents WHERE run IN (one, other);
	SET LOCAL ROLE regress_rtbench_history;
	RETURN QUERY SELECT c.what, c.found FROM rtbench.compare_runs(one, other) AS c WHERE c.kind = 'difference' AND c.what <> 'plan shape' AND c.what !~ '^(setting|server) ';
END $$;
SELECT * FROM pg_temp.ways(:before, '{"protocol": "prepared", "batch": 100, "fetch_size": null, "placement": "free"}', :after, '{"protocol": "simple", "batch": 5, "fetch_size": 50, "placement": "same core"}');
SELECT * FROM pg_temp.ways(:before, '{"protocol": "prepared", "batch": 100, "fetch_size": null, "placement": "free"}', :after, '{}');
SELECT * FROM pg_temp.ways(:before, '{"protocol": "pipeline", "batch": 100}', :after, '{"protocol": "pipeline", "batch": 5}');
SELECT * FROM pg_temp.ways(:before, '{"protocol": "multi", "batch": 100}', :after, '{"protocol": "prepared", "batch": 100}');
-- an arm with a protocol of its own takes the run's batch unless it has one
SELECT * FROM pg_temp.ways(:before, '{"protocol": "prepared", "batch": 100}', :after, '{"protocol": "prepared", "batch": 5}', '{"1": {"arms": [{"name": "base", "protocol": 4, "batch": 0}]}}');
SELECT * FROM pg_temp.ways(:before, '{"protocol": "prepared", "batch": 100}', :after, '{"protocol": "prepared", "batch": 5}', '{"1": {"arms": [{"name": "base", "protocol": 4, "batch": 7}]}}');

-- refused: other scenario, parameters, rows; nothing in common; too few, unknown, twice
CREATE FUNCTION pg_temp.refusal(VARIADIC runs bigint[]) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	detail text; hint text; code text;
BEGIN
	PERFORM * FROM rtbench.compare_runs(VARIADIC runs);
	RETURN 'compared';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT, code = RETURNED_SQLSTATE;
	RETURN concat_ws(' / ', code, regexp_replace(sqlerrm, '-?\d+', 'N', 'g'), detail, hint);
END $$;
SELECT pg_temp.keep('a', '{base}') AS a, pg_temp.keep('scenario', '{base}') AS scenario, pg_temp.keep('parameters', '{base}') AS parameters, pg_temp.keep('rows', '{base}') AS rows, pg_temp.keep('other arm', '{other}') AS other \gset
SELECT pg_temp.passes(run, 'base', pg_temp.about(10), digest => CASE WHEN run = :rows THEN 'd1' ELSE 'd0' END) FROM unnest(ARRAY[:a, :scenario, :parameters, :rows]) AS run \g /dev/null
RESET ROLE;
UPDATE rtbench.runs SET scenario = 'delete_tree' WHERE run = :scenario;
UPDATE rtbench.runs SET options = '{"parameters": {"n": 3}}' WHERE run = :parameters;
SET ROLE regress_rtbench_history;
SELECT pg_temp.refusal(:a, other) AS refusal FROM unnest(ARRAY[:scenario, :parameters, :rows, :other, :a, -1]) AS other;
SELECT pg_temp.refusal(:a), pg_temp.refusal(:a, NULL);
-- by a role that has no run at all, too
RESET ROLE;
CREATE ROLE regress_rtbench_none;
SET ROLE regress_rtbench_none;
DO $$ BEGIN PERFORM * FROM rtbench.compare_runs(-1, -2); EXCEPTION WHEN undefined_object THEN RAISE NOTICE '%', sqlerrm; END $$;
RESET ROLE;
DROP ROLE regress_rtbench_none;
SET ROLE regress_rtbench_history;

-- history, in short, and forgetting
SELECT label, scenario, transport, server_version, verdicts FROM rtbench.history ORDER BY run;
SELECT rtbench.forget(:a);
SELECT count(*) FROM rtbench.passes WHERE run = :a;
DO $$ BEGIN PERFORM rtbench.forget(-1); EXCEPTION WHEN undefined_object THEN RAISE NOTICE '%', sqlerrm; END $$;
-- another's runs are neither shown nor forgotten, not even by a superuser
RESET ROLE;
SELECT count(*) FROM rtbench.history WHERE run = :before;
SELECT set_config('test.run', :'before', false) IS NULL AS none;
DO $$ BEGIN PERFORM rtbench.forget(current_setting('test.run')::bigint); EXCEPTION WHEN undefined_object THEN RAISE NOTICE 'not his'; END $$;

DELETE FROM rtbench.runs WHERE owner = 'regress_rtbench_history'::regrole;
DROP OWNED BY regress_rtbench_history;
DROP ROLE regress_rtbench_history;
