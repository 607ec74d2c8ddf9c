-- Sessions as units, the control, drift and order, from hand-made passes.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE ROLE "regress_rtbench Sessions";
RESET client_min_messages;
SET ROLE "regress_rtbench Sessions";
-- keep(), pass(), passes(), about()
\getenv abs_srcdir PG_ABS_SRCDIR
\set hand_made :abs_srcdir '/test/hand_made.sql'
\set ECHO none
\i :hand_made
\set ECHO all
-- s sessions of n rounds about a time, each session with a shift of its own
CREATE FUNCTION pg_temp.sessions(run bigint, arm text, ms float8, s int, n int DEFAULT 2, shift float8 DEFAULT 0.01, phase int DEFAULT 0, told jsonb DEFAULT '{}', round_told jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
	SELECT pg_temp.passes(run, arm, pg_temp.about(m, n, 0.002, phase + i::int), told || jsonb_build_object('session', i), round_told)
	FROM unnest(pg_temp.about(ms, s, shift, phase + 7)) WITH ORDINALITY AS u(m, i)
$$;
CREATE FUNCTION pg_temp.seen(run bigint)
RETURNS TABLE (arm text, passes int, rounds int, sessions int, speedup numeric, low numeric, high numeric, level numeric, scope text, verdict text, notes text) LANGUAGE sql AS $$
	SELECT arm, passes, rounds, sessions, speedup, speedup_low, speedup_high, level, scope, verdict, notes FROM rtbench.result(run)
$$;
\x on

-- twelve sessions are twelve units, however many rounds each has
SELECT pg_temp.keep('twelve', '{base,arm}') AS run \gset
SELECT pg_temp.sessions(:run, 'base', 10, 12, 4), pg_temp.sessions(:run, 'arm', 8, 12, 4, phase => 20) \g /dev/null
SELECT * FROM pg_temp.seen(:run);
SELECT abs(speedup - exp(rtbench.hodges_lehmann(theta))) < 0.0006 AS estimate, abs(speedup_low - exp(low)) < 0.0006 AS low, abs(speedup_high - exp(high)) < 0.0006 AS high
FROM rtbench.result(:run), (
	SELECT array_agg(t ORDER BY session) AS theta FROM (
		SELECT session, rtbench.hodges_lehmann(array_agg(ln(b.elapsed_ns) - ln(a.elapsed_ns))) AS t
		FROM rtbench.passes AS a JOIN rtbench.passes AS b USING (run, session, round)
		WHERE run = :run AND round > 0 AND b.arm = 'base' AND a.arm = 'arm' GROUP BY session) AS s) AS u, rtbench.signed_rank_interval(theta, 0.99) WHERE arm = 'arm';

-- too few sessions: no interval from them; the rounds of one of them where these are enough, and nothing else is claimed then
SELECT pg_temp.keep('seven', '{base,arm}') AS seven, pg_temp.keep('one of three', '{base,arm}') AS three \gset
SELECT pg_temp.sessions(:seven, arm, 10, 7, phase => length(arm)), pg_temp.sessions(:three, arm, 10, 2, phase => length(arm)),
       pg_temp.passes(:three, arm, pg_temp.about(10, 20, phase => length(arm)), '{"session": 3}') FROM unnest('{base,arm}'::text[]) AS arm \g /dev/null
SELECT * FROM pg_temp.seen(:seven) WHERE arm = 'arm';
SELECT * FROM pg_temp.seen(:three) WHERE arm = 'arm';

-- 25 comparisons need ten sessions; eight give the plain level, and say so
SELECT pg_temp.keep('ten', '{base,a,b,c,d,e}', '{1,2,3,4,5}') AS ten, pg_temp.keep('eight', '{base,a,b,c,d,e}', '{1,2,3,4,5}') AS eight \gset
SELECT pg_temp.sessions(run, arm, 10, n, told => jsonb_build_object('point', point))
FROM (VALUES (:ten, 10), (:eight, 8)) AS r(run, n), unnest('{base,a,b,c,d,e}'::text[]) AS arm, generate_series(1, 5) AS point \g /dev/null
\x off
SELECT DISTINCT k.label, r.level, r.comparisons, r.scope, r.verdict, r.notes FROM rtbench.runs AS k, rtbench.result(k.run) AS r WHERE k.run IN (:ten, :eight) AND arm <> 'base';
\x on

-- the control: the baseline's second passes stand beside its first, and say nothing about the arm; their half-width is the noise floor
SELECT pg_temp.keep('control', '{base,arm}') AS run \gset
SELECT pg_temp.sessions(:run, 'base', 10, 12), pg_temp.sessions(:run, 'base', 10, 12, phase => 40, told => '{"control": true}'), pg_temp.sessions(:run, 'arm', 8, 12, phase => 20) \g /dev/null
SELECT * FROM pg_temp.seen(:run);
SELECT round((100 * (exp((high - low) / 2) - 1))::numeric, 2) AS floor
FROM (
	SELECT array_agg(t ORDER BY session) AS theta FROM (
		SELECT session, rtbench.hodges_lehmann(array_agg(ln(b.elapsed_ns) - ln(c.elapsed_ns))) AS t
		FROM rtbench.passes AS b JOIN rtbench.passes AS c USING (run, session, round)
		WHERE run = :run AND round > 0 AND b.arm = 'base' AND NOT b.control AND c.control GROUP BY session) AS s) AS u, rtbench.signed_rank_interval(theta, 0.99);
-- it fails: no verdict at that point, and one at the other
SELECT pg_temp.keep('control failed', '{base,arm}', '{1,2}') AS run \gset
SELECT pg_temp.sessions(:run, 'base', 10, 12, told => told), pg_temp.sessions(:run, 'base', ms, 12, phase => 40, told => told || '{"control": true}'), pg_temp.sessions(:run, 'arm', 8, 12, phase => 20, told => told)
FROM (VALUES ('{"point": 1}'::jsonb, 10.3), ('{"point": 2}', 10)) AS p(told, ms) \g /dev/null
SELECT * FROM pg_temp.seen(:run);
-- its passes must do the same work as any other
SELECT pg_temp.keep('control did nothing', '{base,arm}') AS run \gset
SELECT pg_temp.sessions(:run, 'base', 10, 12), pg_temp.sessions(:run, 'base', 10, 12, phase => 40, told => '{"control": true}', round_told => '{"2": {"rows": 0}}'), pg_temp.sessions(:run, 'arm', 8, 12, phase => 20) \g /dev/null
SELECT verdict, notes FROM pg_temp.seen(:run);
-- in the rounds of one session it is the same; too few rounds say nothing about it
SELECT pg_temp.keep('control in rounds', '{base,arm}') AS run, pg_temp.keep('control in few rounds', '{base,arm}') AS few \gset
SELECT pg_temp.passes(run, 'base', pg_temp.about(10, n)), pg_temp.passes(run, 'base', pg_temp.about(10, n, phase => 40), told => '{"control": true}'), pg_temp.passes(run, 'arm', pg_temp.about(8, n, phase => 20))
FROM (VALUES (:run, 20), (:few, 4)) AS r(run, n) \g /dev/null
SELECT * FROM pg_temp.seen(:run);
SELECT verdict, notes FROM pg_temp.seen(:few);

-- a ratio that drifts over the sessions, and over rounds
SELECT pg_temp.keep('drift over sessions', '{base,arm}') AS run, pg_temp.keep('drift over rounds', '{base,arm}') AS rounds \gset
SELECT pg_temp.sessions(:run, 'base', 10, 12), pg_temp.passes(:rounds, 'base', pg_temp.about(10, 20)) \g /dev/null
SELECT pg_temp.passes(:run, 'arm', pg_temp.about(8 * exp(0.01 * s), 2, 0.001, s), jsonb_build_object('session', s)) FROM generate_series(1, 12) AS s \g /dev/null
SELECT pg_temp.passes(:rounds, 'arm', (SELECT array_agg(m * exp(0.01 * i) ORDER BY i) FROM unnest(pg_temp.about(8, 20, 0.001)) WITH ORDINALITY AS u(m, i))) \g /dev/null
SELECT speedup, low, high, notes FROM pg_temp.seen(:run) WHERE arm = 'arm';
SELECT speedup, low, high, notes FROM pg_temp.seen(:rounds) WHERE arm = 'arm';
-- correlation without a trend: pairs are averaged where that leaves enough, else the interval is widened
SELECT pg_temp.keep('waves', '{base,arm}') AS waves, pg_temp.keep('few waves', '{base,arm}') AS few \gset
SELECT pg_temp.passes(run, 'base', pg_temp.about(10, n)), pg_temp.passes(run, 'arm', (SELECT array_agg(8 * exp(0.05 * sin(i * step)) ORDER BY i) FROM generate_series(1, n) AS i))
FROM (VALUES (:waves, 40, 1), (:few, 12, 0.7)) AS r(run, n, step) \g /dev/null
SELECT speedup, low, high, level, notes FROM pg_temp.seen(:waves) WHERE arm = 'arm';
SELECT speedup, low, high, level, notes FROM pg_temp.seen(:few) WHERE arm = 'arm';
SELECT abs(r.low - exp(i.low)) < 0.0006 AS low, abs(r.high - exp(i.high)) < 0.0006 AS high
FROM pg_temp.seen(:waves) AS r, (
	SELECT array_agg(t ORDER BY pair) AS theta FROM (
		SELECT (round - 1) / 2 AS pair, avg(ln(b.elapsed_ns) - ln(a.elapsed_ns))::float8 AS t
		FROM rtbench.passes AS a JOIN rtbench.passes AS b USING (run, session, round)
		WHERE run = :waves AND round > 0 AND b.arm = 'base' AND a.arm = 'arm' GROUP BY 1) AS s) AS u, rtbench.signed_rank_interval(theta, 0.99) AS i WHERE r.arm = 'arm';

-- whoever runs first takes 5 % longer: mirrored rounds balance that, and it is said; half a percent is below the margin
SELECT pg_temp.keep('first place', '{base,arm}') AS run, pg_temp.keep('first place, a little', '{base,arm}') AS little \gset
SELECT pg_temp.passes(run, arm, pg_temp.about(10, 4, 0.001, phase => s + length(arm)), jsonb_build_object('session', s),
	(SELECT jsonb_object_agg(r, jsonb_build_object('position', place, 'elapsed_ns', (10000000 * exp(0.0001 * s + CASE place WHEN 1 THEN effect ELSE 0 END))::bigint))
	 FROM (SELECT r, CASE WHEN (r % 2 = 1) = (arm = 'base') THEN 1 ELSE 2 END AS place FROM generate_series(1, 4) AS r) AS p))
FROM (VALUES (:run, 0.05), (:little, 0.005)) AS e(run, effect), unnest('{base,arm}'::text[]) AS arm, generate_series(1, 12) AS s \g /dev/null
SELECT speedup, low, high, verdict, notes FROM pg_temp.seen(:run) WHERE arm = 'arm';
SELECT speedup, low, high, verdict, notes FROM pg_temp.seen(:little) WHERE arm = 'arm';

-- outliers, totals that say the opposite, and the CPU clock hold for sessions too
SELECT pg_temp.keep('outlier', '{base,arm}') AS run, pg_temp.keep('cpu', '{base,arm}') AS cpu \gset
SELECT pg_temp.sessions(:run, 'base', 10, 12), pg_temp.sessions(:run, 'arm', 9.5, 11, phase => 20),
       pg_temp.passes(:run, 'arm', '{900,9.5}', '{"session": 12}') \g /dev/null
SELECT speedup, verdict, notes FROM pg_temp.seen(:run) WHERE arm = 'arm';
SELECT pg_temp.passes(:cpu, arm, pg_temp.about(CASE arm WHEN 'base' THEN 10 ELSE 9.5 END, 2, 0.3, s + length(arm)), jsonb_build_object('session', s),
	jsonb_build_object('1', jsonb_build_object('cpu_ns', c), '2', jsonb_build_object('cpu_ns', c)))
FROM unnest('{base,arm}'::text[]) AS arm, generate_series(1, 12) AS s, LATERAL (SELECT (CASE arm WHEN 'base' THEN 9000000 ELSE 8000000 END) + 10000 * (s % 5) AS c) AS t \g /dev/null
SELECT speedup, verdict, notes FROM pg_temp.seen(:cpu) WHERE arm = 'arm';
-- digits: sessions that lie apart leave fewer of them than their passes would
SELECT pg_temp.keep('digits', '{base,apart}') AS run \gset
SELECT pg_temp.sessions(:run, 'base', 12.34567, 12, shift => 0.001), pg_temp.sessions(:run, 'apart', 12.34567, 12, 20, shift => 0.3) \g /dev/null
SELECT arm, median_ms, best_ms FROM rtbench.result(:run);

-- two rules catch a pass that had nothing left to do: the work changed, and the time is impossible.  Each alone:
SELECT pg_temp.keep('work changed', '{base,arm}') AS work, pg_temp.keep('work changed in all of them', '{base,arm}') AS all, pg_temp.keep('time impossible', '{base,arm}', machine => '{"empty_statement_ns": 900}') AS time \gset
SELECT pg_temp.sessions(:work, 'base', 10, 12), pg_temp.sessions(:work, 'arm', 10, 11, phase => 20), pg_temp.passes(:work, 'arm', '{10,10}', '{"session": 12}', '{"2": {"rows": 0}}') \g /dev/null
SELECT pg_temp.sessions(:all, 'base', 10, 12), pg_temp.sessions(:all, 'arm', 10, 12, phase => 20, round_told => '{"1": {"rows": 0}, "2": {"rows": 0}}') \g /dev/null
SELECT pg_temp.sessions(:time, 'base', 10, 12), pg_temp.sessions(:time, 'arm', 10, 11, phase => 20), pg_temp.passes(:time, 'arm', '{10,0.0071}', '{"session": 12}') \g /dev/null
SELECT verdict, notes FROM pg_temp.seen(:work) WHERE arm = 'arm' UNION ALL SELECT verdict, notes FROM pg_temp.seen(:all) WHERE arm = 'arm' UNION ALL SELECT verdict, notes FROM pg_temp.seen(:time) WHERE arm = 'arm';

DELETE FROM rtbench.runs;
RESET ROLE;
DROP OWNED BY "regress_rtbench Sessions";
DROP ROLE "regress_rtbench Sessions";
