-- How an arm's time grows over the points, from hand-made passes whose law is known.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE ROLE regress_rtbench_scaling;
RESET client_min_messages;
SET ROLE regress_rtbench_scaling;
\pset null -
SELECT * FROM rtbench.scaling();
SELECT * FROM rtbench.scaling(-1);

-- keep(), pass(), passes(), about()
\getenv abs_srcdir PG_ABS_SRCDIR
\set hand_made :abs_srcdir '/test/hand_made.sql'
\set ECHO none
\i :hand_made
\set ECHO all

-- an arm's passes at each point by the law of its time in ms
CREATE FUNCTION pg_temp.law(run bigint, arm text, points bigint[], fixed float8, linear float8, square float8, per_point float8, told jsonb DEFAULT '{}', spread float8 DEFAULT 0.002, n int DEFAULT 20)
RETURNS void LANGUAGE sql AS $$
	SELECT pg_temp.passes(run, arm, pg_temp.about(fixed + linear * p + square * p * p, n, spread, (p / 100)::int + ascii(arm)),
		jsonb_build_object('point', p, 'statements', CASE WHEN per_point = 0 THEN 3 ELSE per_point * p END, 'rows', p) || told)
	FROM unnest(points) AS p
$$;
\set points '{250,500,1000,2000,4000}'
SELECT pg_temp.keep('laws', '{by_row,nearly_fixed,square,set,whole}', :'points') AS run \gset
SELECT pg_temp.law(:run, 'by_row', :'points', 0.5, 0.010, 0, 2),
       pg_temp.law(:run, 'nearly_fixed', :'points', 20, 0.0005, 0, 1),
       pg_temp.law(:run, 'square', :'points', 0.5, 0.005, 0.00001, 1, '{"plan_shape": "250 x Delete(t) -> Index Scan(t_pkey) | 1 x Seq Scan(once)", "fired_shape": "7 x Hash Join [Seq Scan(\"odd | (name)\"), Hash -> Seq Scan(u)] | 3 x Delete(v) -> Parallel Seq Scan(u)"}'),
       pg_temp.law(:run, 'set', :'points', 0.3, 0.002, 0, 0),
       pg_temp.law(:run, 'whole', :'points', 0.1, 0.001, 0, 0, '{"rows": 5, "plan_shape": "5 x Seq Scan(demo)"}') \g /dev/null
INSERT INTO rtbench.findings VALUES
	(:run, 1, 4000, 'square', 'note', 'index missing: foreign key u(t_id) -> t has no index on u (t_id)'),
	(:run, 2, 4000, 'square', 'note', 'a note of another kind'),
	(:run, 3, 250, 'square', 'note', 'index missing: at another point');
SELECT arm, points, us, us_low, us_high, per, fixed_ms, fixed_low, fixed_high, level, units FROM rtbench.scaling(:run);
SELECT arm, flatness, doubling, exponent, exponent_low AS low, exponent_high AS high, word FROM rtbench.scaling(:run);
SELECT arm, notes FROM rtbench.scaling(:run) WHERE notes IS NOT NULL;
-- the figures are those of the law that the passes were made by
SELECT arm, abs(us - law_us) < 0.01 * law_us AS price, us_low <= law_us AND law_us <= us_high AS in_interval, abs(fixed_ms - law_ms) < 0.05 AS fixed
FROM rtbench.scaling(:run) JOIN (VALUES ('by_row', 5, 0.5), ('set', 2, 0.3), ('whole', 1, 0.1)) AS l (arm, law_us, law_ms) USING (arm);
-- the slope is that of the public arithmetic over the same passes, round by round
SELECT abs(s.us - rtbench.hodges_lehmann(slopes) / 1000) < 0.01 AS price, abs(s.us_low - i.low / 1000) < 0.01 AS low, abs(s.us_high - i.high / 1000) < 0.01 AS high
FROM rtbench.scaling(:run) AS s,
	(SELECT array_agg(slope) AS slopes FROM (SELECT rtbench.theil_sen(array_agg(statements::float8), array_agg(elapsed_ns::float8)) AS slope
		FROM rtbench.passes WHERE run = :run AND arm = 'by_row' AND round > 0 GROUP BY session, round) AS r) AS u,
	LATERAL rtbench.signed_rank_interval(slopes, 0.99) AS i
WHERE s.arm = 'by_row';
-- does the speedup grow? that of the set grows until the fixed costs no longer matter, that of the square arm falls, one that is a constant factor stays
SELECT arm, speedup_growth AS growth, speedup_growth_low AS low, speedup_growth_high AS high FROM rtbench.scaling(:run);
SELECT pg_temp.keep('constant', '{base,half}', :'points') AS constant \gset
SELECT pg_temp.law(:constant, 'base', :'points', 0, 0.010, 0, 2), pg_temp.law(:constant, 'half', :'points', 0, 0.005, 0, 1) \g /dev/null
SELECT arm, abs(speedup_growth) < 0.002 AS none, greatest(-speedup_growth_low, speedup_growth_high) < 0.005 AS narrow FROM rtbench.scaling(:constant);

-- a cascade has more to do at a larger point, though it is one statement and one row; what scatters too much for a word has none
SELECT pg_temp.keep('fired', '{cascade,wild}', '{100,200,400}') AS run \gset
SELECT pg_temp.passes(:run, 'cascade', pg_temp.about(0.02 * p, phase => p / 100), jsonb_build_object('point', p, 'statements', 1, 'rows', 1, 'fired', p)),
       pg_temp.passes(:run, 'wild', pg_temp.about(0.02 * p, spread => 2, phase => p / 100), jsonb_build_object('point', p, 'statements', p)) FROM unnest(ARRAY[100, 200, 400]) AS p \g /dev/null
SELECT arm, word, notes FROM rtbench.scaling(:run);

-- sessions are the units where there are several
SELECT pg_temp.keep('sessions', '{base}', :'points') AS run \gset
SELECT pg_temp.law(:run, 'base', :'points', 0.5, 0.010 + s * 0.00001, 0, 2, jsonb_build_object('session', s), n => 4) FROM generate_series(1, 8) AS s \g /dev/null
SELECT us, us_low, us_high, per, level, units, word FROM rtbench.scaling(:run);
-- too few rounds: figures, no interval, said
SELECT pg_temp.keep('few', '{base}', :'points') AS run \gset
SELECT pg_temp.law(:run, 'base', :'points', 0.5, 0.010, 0, 2, n => 3) \g /dev/null
SELECT us, us_low, us_high, exponent, exponent_low, level, units, word, notes FROM rtbench.scaling(:run);

-- points: one, none, equal ones, no double among them, none within, 0 and below
CREATE FUNCTION pg_temp.at(points bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	run bigint := pg_temp.keep(points::text, '{base}', points);
BEGIN
	PERFORM pg_temp.law(run, 'base', (SELECT array_agg(DISTINCT p) FROM unnest(points) AS p), 0, 0.01, 0, 1, spread => 0);
	RETURN run;
END $$;
SELECT pg_temp.at('{100}') AS first \gset
SELECT pg_temp.at('{100,100}'), pg_temp.at('{100,300,700}'), pg_temp.at('{400,100,200}'), pg_temp.at('{1000,1500}') \g /dev/null
SELECT label, s.points, us, flatness, doubling, exponent, word, notes FROM rtbench.runs AS r, rtbench.scaling(r.run) AS s WHERE r.run >= :first ORDER BY r.run;
SELECT pg_temp.keep('zero', '{base}', '{-10,0,10,20}') AS zero, pg_temp.keep('nothing swept', '{base,arm}') AS nothing, pg_temp.keep('not measured', '{base}', '{1,2}') AS unmeasured \gset
SELECT pg_temp.law(:zero, 'base', '{-10,0,10,20}', 5, 0.1, 0, 0), pg_temp.passes(:nothing, 'base', pg_temp.about(10)) \g /dev/null
SELECT label, arm, s.points, us, per, fixed_ms, flatness, doubling, exponent, units, word, notes FROM rtbench.runs AS r, rtbench.scaling(r.run) AS s WHERE r.run IN (:zero, :nothing, :unmeasured) ORDER BY r.run, arm;

-- a point that failed is left out; one that cannot be compared is the arm's own all the same, but has no speedup
SELECT pg_temp.keep('failed', '{base,fails,differs}', '{100,200,400,800}') AS run \gset
SELECT pg_temp.law(:run, 'base', '{100,200,400,800}', 0, 0.010, 0, 1), pg_temp.law(:run, 'fails', '{100,200,400}', 0, 0.020, 0, 1), pg_temp.law(:run, 'differs', '{100,200,400,800}', 0, 0.005, 0, 1) \g /dev/null
SELECT pg_temp.pass(:run, 'discovery', 0, 'fails', '{"point": 800, "sqlstate": "53200", "message": "out of shared memory"}') \g /dev/null
DELETE FROM rtbench.passes WHERE run = :run AND arm = 'differs' AND kind IN ('pilot', 'last') AND point > 100;
SELECT arm, points, round(us, 1) AS us, round(exponent, 2) AS exponent, speedup_growth IS NOT NULL AS growth, word, notes FROM rtbench.scaling(:run);

DELETE FROM rtbench.runs;
RESET ROLE;
DROP OWNED BY regress_rtbench_scaling;
DROP ROLE regress_rtbench_scaling;
