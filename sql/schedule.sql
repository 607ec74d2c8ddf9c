-- The schedule: orders, positions, numbers of rounds and sessions, what is refused and what is left out.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
DO $$ BEGIN EXECUTE format('CREATE ROLE regress_rtb_schedule; GRANT CREATE, TEMP ON DATABASE %I TO regress_rtb_schedule', current_database()); END $$;
SET ROLE regress_rtb_schedule;
-- arms that take so many milliseconds; sleeping takes as long beside other load
CREATE FUNCTION pg_temp.sleepers(arms text[], ms text) RETURNS jsonb[] LANGUAGE sql AS $$
	SELECT array_agg(rtbench.arm(arm, format('SELECT pg_sleep(%s / 1000.0)', ms)) ORDER BY ordinality) FROM unnest(arms) WITH ORDINALITY AS a(arm)
$$;
CREATE FUNCTION pg_temp.last() RETURNS bigint LANGUAGE sql AS $$ SELECT max(run) FROM rtbench.runs $$;
CREATE FUNCTION pg_temp.timed() RETURNS SETOF rtbench.passes LANGUAGE sql AS $$
	SELECT * FROM rtbench.passes WHERE run = pg_temp.last() AND kind IN ('timed', 'last')
$$;
-- each round's order: the arms by position, the baseline's second pass as *
CREATE FUNCTION pg_temp.orders(of_run bigint) RETURNS TABLE (session int, point bigint, round int, arms text) LANGUAGE sql AS $$
	SELECT session, point, round, string_agg(CASE WHEN control THEN '*' ELSE arm END, '' ORDER BY "position")
	FROM rtbench.passes WHERE run = of_run AND kind IN ('timed', 'last') GROUP BY 1, 2, 3
$$;

--
-- refused
--
\set VERBOSITY terse
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), target => 1);
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), target => -0.02);
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), target => 'NaN');
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), target => NULL);
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), rounds => -1);
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), sessions => -1);
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), sessions => 1001);
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), sessions => 2, transport => 'caller');
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), max_time => '0');
SELECT rtbench.compare(pg_temp.sleepers('{a,b}', '1'), baseline => 'c');
SET rtbench.pass_order = 'random';
\set VERBOSITY default

--
-- order
--
-- an odd number of rounds is kept to
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b,c}', '1'), rounds => 7, seed => 42);
SELECT max(session) AS sessions, count(DISTINCT round) AS rounds, count(*) AS passes, count(*) FILTER (WHERE control) AS control FROM pg_temp.timed();
-- the arms of a round stand in places 1 to 4
SELECT count(*) AS rounds, min(length(arms)) AS shortest, max(length(arms)) AS longest FROM pg_temp.orders(pg_temp.last());
SELECT bool_and("position" BETWEEN 1 AND 4) AS in_place, count(DISTINCT (round, "position")) AS places FROM pg_temp.timed();
-- positions tell the order in which the passes ran
SELECT count(*) FROM (SELECT pass, lag(pass) OVER (PARTITION BY round ORDER BY "position") AS before FROM pg_temp.timed()) p WHERE before > pass;
-- every even round is the reverse of the odd one before it, and not all odd ones are alike
SELECT count(*) AS pairs, bool_and(e.arms = reverse(o.arms)) AS mirrored FROM pg_temp.orders(pg_temp.last()) o JOIN pg_temp.orders(pg_temp.last()) e ON e.round = o.round + 1 WHERE o.round % 2 = 1;
SELECT count(DISTINCT arms) > 1 AS several FROM pg_temp.orders(pg_temp.last()) WHERE round % 2 = 1;
-- the same seed, the same orders; another one, others
SELECT pg_temp.last() AS first \gset
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b,c}', '1'), rounds => 7, seed => 42);
SELECT count(*) AS rounds, bool_and(a.arms = b.arms) AS same FROM pg_temp.orders(:first) a JOIN pg_temp.orders(pg_temp.last()) b USING (round);
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b,c}', '1'), rounds => 7, seed => 43);
SELECT count(*) AS rounds, bool_and(a.arms = b.arms) AS same FROM pg_temp.orders(:first) a JOIN pg_temp.orders(pg_temp.last()) b USING (round);
-- without control
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b}', '1'), rounds => 2, control => false);
SELECT count(*) AS passes, count(*) FILTER (WHERE control) AS control FROM pg_temp.timed();
-- the setting that proves that order matters: all rounds of an arm, then all of the next
SET rtbench.pass_order = 'blocks';
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b}', '1'), rounds => 4);
RESET rtbench.pass_order;
SELECT string_agg(CASE WHEN control THEN '*' ELSE arm END, '' ORDER BY pass) FROM pg_temp.timed();

--
-- sessions
--
-- as many as asked for, in each so many rounds at each point, mirrored too; an untimed pass of each arm before
SELECT point, arm, verdict FROM rtbench.compare(pg_temp.sleepers('{a,b}', ':n'), points => '{1,2}', sessions => 3, rounds => 4);
SELECT session, point, count(*) AS passes, count(DISTINCT round) AS rounds FROM pg_temp.timed() GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(*) AS pairs, bool_and(e.arms = reverse(o.arms)) AS mirrored
FROM pg_temp.orders(pg_temp.last()) o JOIN pg_temp.orders(pg_temp.last()) e ON e.session = o.session AND e.point = o.point AND e.round = o.round + 1 WHERE o.round % 2 = 1;
SELECT session, kind, count(*) AS passes FROM rtbench.passes WHERE run = pg_temp.last() AND kind IN ('discovery', 'pilot', 'warmup') GROUP BY 1, 2 ORDER BY 1, 2;
-- the first look is where the first interval is: at 8 sessions, and at 9 where ten comparisons correct the level
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b}', '5'), target => 0.99);
SELECT sessions, rounds >= 16 AS pairs, level, comparisons, scope FROM rtbench.result() WHERE arm = 'b';
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b,c,d,e,f,g,h,i,j,k}', '1'), target => 0.99);
SELECT sessions IN (9, 12, 16) AS look, min(rounds) >= 18 AS pairs, level, comparisons, count(*) FROM rtbench.result() WHERE arm <> 'a' GROUP BY 1, 3, 4;
-- fewer sessions: the plain level, which is said
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b,c,d,e,f,g,h,i,j,k}', '1'), sessions => 8, rounds => 2, control => false);
SELECT DISTINCT sessions, level, comparisons, notes LIKE '%level not corrected%' AS said FROM rtbench.result() WHERE arm <> 'a';
-- one session: the rounds are the units, with looks from 20 on
SELECT count(*) AS rows FROM rtbench.compare(pg_temp.sleepers('{a,b}', '5 * :n'), points => '{1,2}', sessions => 1, target => 0.99);
SELECT DISTINCT sessions, rounds, scope FROM rtbench.result();
SELECT count(*) AS rows FROM rtbench.compare(pg_temp.sleepers('{a,b}', '5 * :n'), points => '{1,2}', transport => 'caller', target => 0.99);
SELECT DISTINCT sessions, rounds, scope FROM rtbench.result();

--
-- points
--
-- measured upwards, told as they were given
SELECT count(*) AS rows FROM rtbench.compare(pg_temp.sleepers('{a,b}', ':n'), points => '{3,1,2}', rounds => 2);
SELECT point, arm FROM rtbench.result();
SELECT array_agg(point ORDER BY first) FROM (SELECT point, min(pass) AS first FROM rtbench.passes WHERE run = pg_temp.last() GROUP BY point) p;
-- one that can't fit is not begun
SELECT point, arm FROM rtbench.compare(pg_temp.sleepers('{a,b}', ':n'), points => '{1000000000,10,20}', max_time => '4 s', sessions => 2, rounds => 2);
SELECT complete, points FROM rtbench.runs WHERE run = pg_temp.last();
-- a baseline that fails at one point: no speedups there, and everything as usual elsewhere
SELECT count(*) AS rows FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(0.001 / (2 - :n))'), rtbench.arm('b', 'SELECT pg_sleep(0.001)')], points => '{1,2}', rounds => 8, control => false);
SELECT point, arm, passes, verdict = 'failed' AS failed, speedup IS NOT NULL AS speedup, speedup_low IS NOT NULL AS interval FROM rtbench.result();

--
-- time
--
-- max_time ends rounds and sessions that were asked for; what it takes for an interval is there all the same
SET client_min_messages = error;
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b}', '2'), rounds => 10000, max_time => '500 ms');
SELECT DISTINCT rounds BETWEEN 8 AND 1000 AS fewer, verdict <> 'more rounds needed' AS verdict FROM rtbench.result();
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b}', '2'), sessions => 1000, max_time => '1 s');
SELECT DISTINCT sessions BETWEEN 8 AND 500 AS fewer, verdict <> 'more rounds needed' AS verdict FROM rtbench.result();
-- sessions don't fit: rounds of one backend
SELECT count(*) AS arms FROM rtbench.compare(pg_temp.sleepers('{a,b}', '30'), max_time => '1200 ms');
SELECT DISTINCT rounds BETWEEN 8 AND 16 AS enough, sessions, verdict <> 'more rounds needed' AS verdict, scope FROM rtbench.result();
-- what the arms leave is digested at the end, also where the rounds became so long that the last one was not known to be the last
CREATE SCHEMA regress_rtb_schedule;
CREATE SEQUENCE regress_rtb_schedule.ticks;
SELECT count(*) AS arms FROM rtbench.compare((SELECT array_agg(rtbench.arm(arm, 'UPDATE t SET n = n + 1',
	$$SELECT pg_sleep(CASE WHEN nextval('regress_rtb_schedule.ticks') > 108 THEN 0.15 ELSE 0.001 END)$$)) FROM unnest('{a,b}'::text[]) AS arm),
	setup => 'CREATE TABLE t AS SELECT 1 AS n', max_time => '2 s', sessions => 1, target => 0.0001, control => false);
SELECT kind, count(*) > 0 AS passes, bool_and(digest IS NOT NULL) AS digested FROM rtbench.passes WHERE run = pg_temp.last() AND kind IN ('pilot', 'closing') GROUP BY kind ORDER BY 1;
SELECT rounds BETWEEN 8 AND 60 AS some, verdict = 'not comparable' AS refused FROM rtbench.result() WHERE arm = 'b';
SET client_min_messages = warning;
-- an arm alone: figures, and nothing to compare them with, so no control
SELECT arm, speedup, low, verdict, median_ms BETWEEN 2 AND 50 AS time FROM rtbench.compare(pg_temp.sleepers('{a}', '2'));
SELECT passes = rounds AS no_control, sessions, rounds >= 16 AS pairs, comparisons FROM rtbench.result();

RESET ROLE;
DROP OWNED BY regress_rtb_schedule;
DROP ROLE regress_rtb_schedule;
