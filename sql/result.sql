-- Verdicts from hand-made passes, kept by a plain role under the tables' row security.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE ROLE "regress_rtbench Keeper";
CREATE ROLE regress_rtbench_other;
RESET client_min_messages;

SET ROLE "regress_rtbench Keeper";
-- no run yet
SELECT * FROM rtbench.result();
SELECT * FROM rtbench.step_result();
SELECT * FROM rtbench.last;

-- keep(), pass(), passes(), about()
\getenv abs_srcdir PG_ABS_SRCDIR
\set hand_made :abs_srcdir '/test/hand_made.sql'
\set ECHO none
\i :hand_made
\set ECHO all

-- the words, from intervals on every side of the margins
SELECT pg_temp.keep('words', '{base,faster,slower,same,slightly_faster,slightly_slower,unseen}') AS run \gset
SELECT pg_temp.passes(:run, 'base', pg_temp.about(10)),
       pg_temp.passes(:run, 'faster', pg_temp.about(6.3, phase => 1)),
       pg_temp.passes(:run, 'slower', pg_temp.about(12.5, phase => 2)),
       pg_temp.passes(:run, 'same', pg_temp.about(10, phase => 3)),
       pg_temp.passes(:run, 'slightly_faster', pg_temp.about(9.8, phase => 4)),
       pg_temp.passes(:run, 'slightly_slower', pg_temp.about(10.2, phase => 5)),
       pg_temp.passes(:run, 'unseen', pg_temp.about(10, spread => 0.2, phase => 6)) \g /dev/null
SELECT arm, median_ms, us_per_statement AS us_stmt, speedup, speedup_low AS low, speedup_high AS high, decrease_percent, level, comparisons, verdict, notes FROM rtbench.result(:run);
-- the narrow rows are those of the last run, and agree
SELECT * FROM rtbench.last;
SELECT bool_and(r.verdict = l.verdict AND (r.speedup, r.speedup_low) IS NOT DISTINCT FROM (l.speedup, l.low)) FROM rtbench.result() AS r JOIN rtbench.last AS l USING (arm);
-- the interval is that of the public arithmetic over the same passes
SELECT arm, abs(speedup - exp(rtbench.hodges_lehmann(d))) < 0.0006 AS estimate, abs(speedup_low - exp(i.low)) < 0.0006 AS low, abs(speedup_high - exp(i.high)) < 0.0006 AS high
FROM rtbench.result(:run) JOIN (
	SELECT a.arm, array_agg(ln(b.elapsed_ns) - ln(a.elapsed_ns)) AS d
	FROM rtbench.passes AS a JOIN rtbench.passes AS b USING (run, session, round)
	WHERE run = :run AND round > 0 AND b.arm = 'base' AND a.arm <> 'base' GROUP BY a.arm) AS units USING (arm), LATERAL rtbench.signed_rank_interval(d, 1 - 0.05 / 6) AS i;
-- every other column
SELECT arm, description, round_trips, statements, fired, rows, passes, rounds, sessions, first_ms, median_ms, mean_ms, best_ms, stddev_ms, cpu_ms FROM rtbench.result(:run) WHERE arm = 'faster';
SELECT arm, us_per_statement, us_per_row, buffers, wal_records, wal_bytes, xids, plan_shape, cpu_speedup, cpu_speedup_low, cpu_speedup_high, scope, digest, checked FROM rtbench.result(:run) WHERE arm = 'faster';

-- levels: 1 comparison, 25 comparisons, too few rounds for the corrected level, too few for any
SELECT pg_temp.keep('one comparison', '{base,arm}') AS run \gset
SELECT pg_temp.passes(:run, 'base', pg_temp.about(10, 8)), pg_temp.passes(:run, 'arm', pg_temp.about(5, 8, phase => 1)) \g /dev/null
SELECT arm, speedup, speedup_low, speedup_high, level, comparisons, verdict, notes FROM rtbench.result(:run);
SELECT pg_temp.keep('ten rounds', '{base,a,b,c,d,e}', '{1,2,3,4,5}') AS ten, pg_temp.keep('nine rounds', '{base,a,b,c,d,e}', '{1,2,3,4,5}') AS nine, pg_temp.keep('seven rounds', '{base,a}') AS seven \gset
SELECT pg_temp.passes(run, arm, pg_temp.about(10, n), jsonb_build_object('point', point))
FROM (VALUES (:ten, 10), (:nine, 9)) AS r(run, n), unnest('{base,a,b,c,d,e}'::text[]) AS arm, generate_series(1, 5) AS point \g /dev/null
SELECT pg_temp.passes(:seven, arm, pg_temp.about(10, 7)) FROM unnest('{base,a}'::text[]) AS arm \g /dev/null
SELECT DISTINCT k.run = :ten AS ten, speedup, speedup_low, speedup_high, level, comparisons, verdict, notes FROM rtbench.runs AS k, rtbench.result(k.run) AS r WHERE k.run IN (:ten, :nine) AND arm <> 'base' ORDER BY 1 DESC;
SELECT arm, speedup, speedup_low, speedup_high, level, comparisons, verdict, notes FROM rtbench.result(:seven);
-- several sessions: each is a unit, however many rounds it has
SELECT pg_temp.keep('sessions', '{base,arm}') AS run \gset
SELECT pg_temp.passes(:run, arm, pg_temp.about(CASE arm WHEN 'base' THEN 10 ELSE 8 END, 6, phase => s), jsonb_build_object('session', s)) FROM unnest('{base,arm}'::text[]) AS arm, generate_series(1, 8) AS s \g /dev/null
SELECT arm, passes, rounds, sessions, speedup, level, verdict, notes FROM rtbench.result(:run);
DELETE FROM rtbench.passes WHERE run = :run AND session = 8;
SELECT arm, passes, rounds, sessions, speedup, level, verdict, notes FROM rtbench.result(:run);

-- an arm that fails, at one point only, and the others that go on
SELECT pg_temp.keep('failed', '{base,late,fine}', '{10,20}') AS run \gset
SELECT pg_temp.passes(:run, arm, pg_temp.about(10), jsonb_build_object('point', point)) FROM unnest('{base,fine}'::text[]) AS arm, unnest(ARRAY[10, 20]) AS point \g /dev/null
SELECT pg_temp.passes(:run, 'late', pg_temp.about(5), '{"point": 10}') \g /dev/null
SELECT pg_temp.pass(:run, 'discovery', 0, 'late', '{"point": 20, "sqlstate": "53200", "message": "out of shared memory", "failed_step": 2, "failed_statement": 3000, "elapsed_ns": null}') \g /dev/null
SELECT point, arm, passes, first_ms, median_ms, cpu_ms, speedup, verdict, notes FROM rtbench.result(:run);
-- one that fails after passes that were timed has no times either
SELECT pg_temp.pass(:run, 'timed', 21, 'late', '{"point": 10, "sqlstate": "57014", "message": "canceling statement due to timeout", "elapsed_ns": 7}') \g /dev/null
SELECT point, arm, passes, statements, median_ms, best_ms, speedup, verdict, notes FROM rtbench.result(:run) WHERE arm = 'late';
-- the baseline fails
SELECT pg_temp.keep('baseline failed', '{base,arm}') AS run \gset
SELECT pg_temp.passes(:run, 'arm', pg_temp.about(10)), pg_temp.pass(:run, 'pilot', 0, 'base', '{"sqlstate": "42P01", "message": "relation \"t\" does not exist"}') \g /dev/null
SELECT arm, median_ms IS NULL AS no_time, speedup, speedup_low, verdict, notes FROM rtbench.result(:run);
-- the baseline, an arm, a whole point not measured
SELECT pg_temp.keep('not measured', '{base,arm}', '{1,2}') AS run \gset
SELECT pg_temp.passes(:run, 'base', pg_temp.about(10), '{"point": 1}') \g /dev/null
SELECT point, arm, passes, rows, median_ms, speedup, verdict, notes FROM rtbench.result(:run);

-- not comparable in all its forms: a run each, and what the notes say
CREATE FUNCTION pg_temp.case(label text, arm_told jsonb DEFAULT '{}', arm_rounds jsonb DEFAULT '{}', arm_digest text DEFAULT 'd0', base_told jsonb DEFAULT '{}', base_rounds jsonb DEFAULT '{}', machine jsonb DEFAULT '{}')
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	run bigint := pg_temp.keep(label, '{base,arm}', machine => machine);
BEGIN
	PERFORM pg_temp.passes(run, 'base', pg_temp.about(10), base_told, base_rounds);
	PERFORM pg_temp.passes(run, 'arm', pg_temp.about(5, phase => 1), arm_told, arm_rounds, arm_digest);
	RETURN run;
END $$;
CREATE FUNCTION pg_temp.verdicts(from_run bigint)
RETURNS TABLE (label text, arm text, speedup numeric, verdict text, notes text) LANGUAGE sql AS $$
	SELECT k.label, r.arm, r.speedup, r.verdict, r.notes FROM rtbench.runs AS k, rtbench.result(k.run) AS r
	WHERE k.run >= from_run AND (r.arm = 'arm' OR r.verdict <> 'baseline') ORDER BY k.run, r.arm
$$;
SELECT pg_temp.case('nothing wrong') AS first \gset
SELECT pg_temp.case('digest differs, nothing found', arm_digest => 'd1'),
       pg_temp.case('digest changed', arm_rounds => '{"20": {"digest": "d9"}}'),
       pg_temp.case('never digested', arm_told => '{"digest": null}'),
       pg_temp.case('not digested at the end', arm_rounds => '{"20": {"digest": null}}'),
       pg_temp.case('below resolution', arm_rounds => '{"3": {"below_resolution": true}}'),
       pg_temp.case('below resolution in the baseline', base_rounds => '{"3": {"below_resolution": true}}'),
       pg_temp.case('no time at all', arm_rounds => '{"3": {"elapsed_ns": 0}}'),
       pg_temp.case('impossible', machine => '{"empty_statement_ns": 700000}'),
       pg_temp.case('just possible', machine => '{"empty_statement_ns": 600000}'),
       pg_temp.case('many statements in few messages', arm_told => '{"round_trips": 4, "bytes_sent": 100, "bytes_received": 100}', base_told => '{"round_trips": 4, "bytes_sent": 100}', machine => '{"empty_statement_ns": 700000}'),
       pg_temp.case('impossible over a connection', arm_told => '{"round_trips": 12, "bytes_sent": 100, "bytes_received": 100}', base_told => '{"round_trips": 4, "bytes_sent": 100}', machine => '{"empty_statement_ns": 2600000}'),
       pg_temp.case('price unknown', machine => '{"empty_statement_ns": null}'),
       pg_temp.case('rows', arm_rounds => '{"7": {"rows": 0}}'),
       pg_temp.case('statements', arm_rounds => '{"7": {"statements": 9}}'),
       pg_temp.case('round trips', arm_rounds => '{"7": {"round_trips": 9}}'),
       pg_temp.case('fired', arm_rounds => '{"7": {"fired": 3}}'),
       pg_temp.case('loop queries', arm_rounds => '{"7": {"loop_queries": 3}}'),
       pg_temp.case('plan shape', arm_rounds => '{"7": {"plan_shape": "10 x Delete(t) -> Seq Scan(t)"}}'),
       pg_temp.case('fired shape', arm_rounds => '{"7": {"fired_shape": "3 x Seq Scan(u)"}}'),
       pg_temp.case('work of the baseline', base_rounds => '{"1": {"rows": 0}}'),
       pg_temp.case('shape unknown in a pass', arm_rounds => '{"7": {"plan_shape": null}}') \g /dev/null
SELECT * FROM pg_temp.verdicts(:first);

-- where both ends of a connection ran: sessions of two kinds are told of where they differ
CREATE FUNCTION pg_temp.on_cores(label text, far_core int, slow float8) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	on_cores bigint := pg_temp.keep(label, '{base,arm}');
	of_sessions jsonb := (SELECT jsonb_object_agg(s, jsonb_build_object('session', s, 'far_core', CASE WHEN s > 6 THEN far_core ELSE 0 END)) FROM generate_series(1, 20) s);
BEGIN
	PERFORM pg_temp.passes(on_cores, arm, (SELECT array_agg(x * CASE WHEN s > 6 THEN slow ELSE 1 END ORDER BY s) FROM unnest(pg_temp.about(10)) WITH ORDINALITY u (x, s)), '{"core": 0, "bytes_sent": 1}', of_sessions)
		FROM unnest('{base,arm}'::text[]) arm;
	RETURN (SELECT string_agg(substring(notes FROM 'sessions fall[^;]*'), ', ') FROM rtbench.result(on_cores) WHERE arm = 'base');
END $$;
SELECT pg_temp.on_cores('two groups', 1, 2.5) AS two_groups, pg_temp.on_cores('one core', 0, 2.5) AS one_core, pg_temp.on_cores('no difference', 1, 1.1) AS no_difference, pg_temp.on_cores('not known', NULL, 2.5) AS not_known;

-- WAL: equal but for full-page images, server's clean-up, changed work
SELECT pg_temp.case('WAL: checkpoint', arm_rounds => '{"7": {"wal_fpi": 53, "wal_bytes": 429006}}') AS first \gset
SELECT pg_temp.case('WAL: hint bits after a checkpoint', arm_rounds => '{"7": {"wal_records": 453, "wal_fpi": 60}}'),
       pg_temp.case('WAL: a sequence', arm_rounds => '{"7": {"wal_records": 401}}'),
       pg_temp.case('WAL: pruning', arm_told => '{"wal_records": 10070}', arm_rounds => '{"7": {"wal_records": 10276, "wal_fpi": 1}}'),
       pg_temp.case('WAL: a reader that prunes', arm_told => '{"wal_records": 0, "xids": 0}', arm_rounds => '{"7": {"wal_records": 120}}'),
       pg_temp.case('WAL: nothing left to do', arm_rounds => '{"7": {"wal_records": 0}}'),
       pg_temp.case('WAL: more than the images explain', arm_rounds => '{"7": {"wal_records": 453, "wal_fpi": 20}}'),
       pg_temp.case('WAL: twice the work behind fired statements', arm_rounds => '{"7": {"wal_records": 800}}'),
       pg_temp.case('WAL: rows that no longer fit on their pages', arm_told => '{"updates": 400, "hot_updates": 400}', arm_rounds => '{"7": {"wal_records": 1200, "hot_updates": 0}}'),
       pg_temp.case('WAL: the same with more updates', arm_told => '{"updates": 400, "hot_updates": 400}', arm_rounds => '{"7": {"wal_records": 1200, "updates": 500, "hot_updates": 0}}'),
       pg_temp.case('WAL: fewer records where fewer updates were HOT', arm_told => '{"updates": 400, "hot_updates": 400}', arm_rounds => '{"7": {"wal_records": 200, "hot_updates": 0}}'),
       pg_temp.case('WAL: unknown', arm_rounds => '{"7": {"wal_records": null}}') \g /dev/null
SELECT * FROM pg_temp.verdicts(:first);

-- what was found beside the figures
SELECT pg_temp.case('unstable') AS unstable, pg_temp.case('different', arm_digest => 'd1') AS different, pg_temp.case('unreadable', arm_told => '{"digest": null}') AS unreadable,
       pg_temp.case('unstable baseline') AS baseline, pg_temp.case('notes') AS notes \gset
INSERT INTO rtbench.findings VALUES
(:unstable, 1, NULL, 'arm', 'unstable', 'differs from itself in column "id"'),
(:different, 1, NULL, 'arm', 'different', 'differs from the baseline: 3 rows only here, 5 only there'),
(:unreadable, 1, NULL, NULL, 'unreadable', 'no privilege to read "t"'),
(:baseline, 1, NULL, 'base', 'unstable', 'differs from itself in column "at"'),
(:notes, 1, NULL, NULL, 'checked', 'table t'),
(:notes, 2, NULL, 'arm', 'checked', 'table u'),
(:notes, 3, NULL, 'arm', 'note', 'took 1 session advisory lock'),
(:notes, 4, NULL, NULL, 'note', 'tables grew'),
(:notes, 5, 77, NULL, 'note', 'of another point');
SELECT * FROM pg_temp.verdicts(:unstable);
SELECT arm, checked, notes FROM rtbench.result(:notes);

-- an arm that did nothing, arms that all did nothing, work told in notes
SELECT pg_temp.case('did nothing', arm_told => '{"rows": 0, "xids": 0, "wal_records": 0}') AS first \gset
SELECT pg_temp.case('no rows, yet written: TRUNCATE', arm_told => '{"rows": 0, "xids": 1}'),
       pg_temp.case('nobody', arm_told => '{"rows": 0, "xids": 0}', base_told => '{"rows": 0, "xids": 0}'),
       pg_temp.case('rows unknown', arm_told => '{"rows": 0, "xids": 0}', base_told => '{"rows": null}'),
       pg_temp.case('loops, fired, plannings', arm_told => '{"loop_queries": 251, "fired": 2, "fired_shape": "2 x Delete(u) -> Index Scan(u_fk)"}', arm_rounds => '{"7": {"plannings": 13}}') \g /dev/null
SELECT * FROM pg_temp.verdicts(:first);
SELECT us_per_row IS NULL AS no_row, us_per_statement FROM rtbench.result(:first) WHERE arm = 'arm';

-- outliers are counted, and a total that says the opposite is said; only CPU time resolves a difference
SELECT pg_temp.case('outlier', arm_rounds => '{"7": {"elapsed_ns": 900000000}}') AS first \gset
SELECT pg_temp.keep('cpu', '{base,arm}') AS run \gset
SELECT pg_temp.passes(:run, 'base', pg_temp.about(10, spread => 0.3), round_told => jsonb_object_agg(r, jsonb_build_object('cpu_ns', 9000000 + 10000 * (r % 7)))),
       pg_temp.passes(:run, 'arm', pg_temp.about(9.5, spread => 0.3, phase => 4), round_told => jsonb_object_agg(r, jsonb_build_object('cpu_ns', 8000000 + 10000 * (r % 5))))
FROM generate_series(1, 20) AS r \g /dev/null
SELECT * FROM pg_temp.verdicts(:first);
-- CPU time is not known where parallel workers took part
SELECT pg_temp.case('parallel', arm_rounds => '{"7": {"cpu_ns": null}}') AS run \gset
SELECT arm, cpu_ms, cpu_speedup, cpu_speedup_low, verdict FROM rtbench.result(:run);
-- unknown is NULL
SELECT pg_temp.case('unknown', arm_told => '{"statements": null, "fired": null, "buffers_read": null, "wal_bytes": null, "xids": null, "plan_shape": null}') AS run \gset
SELECT statements, fired, us_per_statement, buffers, wal_bytes, xids, plan_shape, verdict FROM rtbench.result(:run) WHERE arm = 'arm';
-- an arm alone
SELECT pg_temp.keep('alone', '{base}') AS run \gset
SELECT pg_temp.passes(:run, 'base', pg_temp.about(10)) \g /dev/null
SELECT arm, median_ms, speedup, level, comparisons, verdict FROM rtbench.result(:run);

-- printed times: three digits at most, fewer where the interval is wide, never fewer than one
SELECT pg_temp.keep('digits', '{base,wide,wider,tight,big}') AS run \gset
SELECT pg_temp.passes(:run, 'base', pg_temp.about(12.34567, spread => 0.02)), pg_temp.passes(:run, 'wide', pg_temp.about(12.34567, spread => 0.3)),
       pg_temp.passes(:run, 'wider', pg_temp.about(12.34567, spread => 3)), pg_temp.passes(:run, 'tight', pg_temp.about(12.34567, spread => 0)),
       pg_temp.passes(:run, 'big', pg_temp.about(1234567.8, spread => 0.001)) \g /dev/null
SELECT arm, median_ms, us_per_statement, speedup, speedup_low, speedup_high, verdict FROM rtbench.result(:run);

-- no bound is rounded onto 1 or a margin that it does not reach
SELECT pg_temp.keep('bounds', '{base,above,below,beyond,within}') AS run \gset
SELECT pg_temp.passes(:run, arm, array_fill(ms, ARRAY[20]))
FROM (VALUES ('base', 10.0::float8), ('above', 9.9996), ('below', 10.0004), ('beyond', 10 / 1.02003), ('within', 10 / 1.01997)) AS a(arm, ms) \g /dev/null
SELECT arm, speedup, speedup_low, speedup_high, verdict FROM rtbench.result(:run);

-- per-step times
INSERT INTO rtbench.steps VALUES
(:run, NULL, 'above', 2, 'DELETE FROM t WHERE id = $1', 10, 812345, 31234, 22345, 21234, 9876, 5, 5, 20000, 25000),
(:run, NULL, 'above', 1, 'SELECT 1', 1, 5123, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
(:run, NULL, 'base', 1, 'SELECT 2', 1, 6000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT arm, step, statement, calls, first_us, second_us, third_us, later_us, prepare_us, custom_plans, generic_plans, custom_us, generic_us FROM rtbench.step_result();

-- nobody else sees or touches them
SELECT max(run) AS last FROM rtbench.runs \gset
GRANT USAGE ON SEQUENCE ordinals TO regress_rtbench_other;
SET ROLE regress_rtbench_other;
SELECT (SELECT count(*) FROM rtbench.runs) AS runs, (SELECT count(*) FROM rtbench.passes) AS passes,
       (SELECT count(*) FROM rtbench.findings) AS findings, (SELECT count(*) FROM rtbench.steps) AS steps;
CREATE FUNCTION pg_temp.seen(run bigint) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	RETURN (SELECT count(*) FROM rtbench.result(run));
EXCEPTION WHEN undefined_object THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN replace(sqlerrm, run::text, 'N') || ' / ' || hint;
END $$;
SELECT pg_temp.seen(:last) AS another_roles, pg_temp.seen(999999999) AS nobodys, pg_temp.seen(-1) AS impossible;
SELECT * FROM rtbench.result();
DELETE FROM rtbench.runs WHERE run = :last;
INSERT INTO rtbench.passes (run, pass, session, round, "position", kind, control, arm, below_resolution) VALUES (:last, 1000, 1, 1, 1, 'timed', false, 'arm', false);
INSERT INTO rtbench.findings VALUES (:last, 1000, NULL, NULL, 'note', 'smuggled');
INSERT INTO rtbench.steps VALUES (:last, NULL, 'wide', 3, 'smuggled', 1);
-- nor can a run be kept in another's name, or under an id of one's choice
INSERT INTO rtbench.runs (owner, scenario, transport, scope, arms, descriptions, points, baseline, margin, seed, started_at, complete, server_version, options, settings, machine, documents)
VALUES ('"regress_rtbench Keeper"', 's', 't', 's', '{a}', '{NULL}', '{}', 'a', 0.02, 1, now(), true, '15', '{}', '{}', '{}', '{}');
INSERT INTO rtbench.runs (run, scenario, transport, scope, arms, descriptions, points, baseline, margin, seed, started_at, complete, server_version, options, settings, machine, documents)
VALUES (1000000, 's', 't', 's', '{a}', '{NULL}', '{}', 'a', 0.02, 1, now(), true, '15', '{}', '{}', '{}', '{}');
-- its own runs are its own
SELECT pg_temp.keep('other', '{only}') AS other \gset
SELECT pg_temp.passes(:other, 'only', pg_temp.about(10)) \g /dev/null
SELECT pg_temp.seen(:other), (SELECT count(*) FROM rtbench.last) AS last, (SELECT count(*) FROM rtbench.runs) AS runs;
-- row_security = off does not turn the policies into an error
SET row_security = off;
SELECT pg_temp.seen(:other), pg_temp.seen(:last) AS another_roles;
RESET row_security;
-- a hostile search_path changes nothing
CREATE TEMP TABLE runs (run bigint);
RESET ROLE;
CREATE SCHEMA regress_rtbench_hostile AUTHORIZATION regress_rtbench_other;
SET ROLE regress_rtbench_other;
CREATE FUNCTION regress_rtbench_hostile.hostile(bigint, bigint) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'hostile operator called'; END $$;
CREATE OPERATOR regress_rtbench_hostile.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = regress_rtbench_hostile.hostile);
SET search_path = regress_rtbench_hostile, pg_temp, pg_catalog;
SELECT 1::bigint = 1::bigint;
SELECT arm, verdict FROM rtbench.result();
SHOW search_path;
RESET search_path;
-- the label is the owner's to change, and his runs are his to remove, with all that belongs to them
UPDATE rtbench.runs SET label = 'renamed';
UPDATE rtbench.runs SET scenario = 'forged';
DELETE FROM rtbench.runs;
RESET ROLE;
-- a superuser sees the runs of others by their ids, and has none of his own by default
SELECT count(*) > 0 AS seen FROM rtbench.result(:last);
SELECT count(*) AS left_over FROM rtbench.passes WHERE run = :other;
-- what is kept without fitting together
INSERT INTO rtbench.passes (run, pass, session, round, "position", kind, control, arm, below_resolution) VALUES (:last, 1000, 1, 1, 1, 'timed', false, 'nobody', false);
DO $$ BEGIN PERFORM rtbench.result(max(run)) FROM rtbench.runs WHERE owner = '"regress_rtbench Keeper"'::regrole; EXCEPTION WHEN data_corrupted THEN RAISE NOTICE '%', regexp_replace(sqlerrm, '\d+', 'N'); END $$;
-- arms without a name, or more arms than descriptions: what a role keeps by itself must not end the server
SET ROLE regress_rtbench_other;
INSERT INTO rtbench.runs (scenario, transport, scope, arms, descriptions, points, baseline, margin, seed, started_at, complete, server_version, options, settings, machine, documents)
SELECT 's', 't', 's', arms, descriptions, '{}', 'a', 0.02, 1, now(), true, '15', '{}', '{}', '{}', '{}'
FROM (VALUES ('{a,NULL}'::text[], '{NULL,NULL}'::text[]), ('{NULL,a}', '{x,NULL}'), ('{a,b}', '{NULL}'), ('{a,b}', '{x,y,z}')) AS v(arms, descriptions);
DO $$
DECLARE
	kept bigint;
BEGIN
	FOR kept IN SELECT run FROM rtbench.runs ORDER BY run LOOP
		BEGIN
			PERFORM rtbench.result(kept);
			RAISE WARNING 'it was read';
		EXCEPTION WHEN data_corrupted THEN
			RAISE NOTICE '%', regexp_replace(sqlerrm, '\d+', 'N');
		END;
	END LOOP;
END $$;
DELETE FROM rtbench.runs;
RESET ROLE;
\set VERBOSITY terse
INSERT INTO rtbench.passes (run, pass, session, round, "position", kind, control, arm, below_resolution) VALUES (:last, 1001, 1, 1, 1, 'unheard of', false, 'base', false);
\set VERBOSITY default

DELETE FROM rtbench.runs WHERE owner = '"regress_rtbench Keeper"'::regrole;
DROP OWNED BY "regress_rtbench Keeper", regress_rtbench_other;
DROP ROLE "regress_rtbench Keeper", regress_rtbench_other;
