-- Runs made up from models of noise, judged by the code that judges runs: what the verdicts promise must hold.
\getenv abs_srcdir PG_ABS_SRCDIR
\set setup :abs_srcdir '/setup.sql'
\set ECHO none
\i :setup
\set ECHO all

-- The share of wrong intervals may exceed 1 % by three standard errors of that share.
CREATE FUNCTION at_most_1_percent(wrong bigint, n bigint) RETURNS boolean LANGUAGE sql
RETURN wrong <= 0.01 * n + 3 * sqrt(0.01 * 0.99 * n);

-- False alarms, sessions as units, each backend with a bias of its own and without, and rounds of one session.
SELECT model, at_most_1_percent(s.alarms, s.verdicts) AS sessions, at_most_1_percent(b.alarms, b.verdicts) AS biased,
	at_most_1_percent(r.alarms, r.verdicts) AS rounds, s.verdicts > 900 AND b.verdicts > 900 AND r.verdicts > 900 AS judged
FROM unnest('{independent,drift,outliers,"trend, first place",autocorrelated}'::text[]) AS model,
	LATERAL simulate(model, 1000, sessions => 12, rounds => 2, bias => 0) AS s,
	LATERAL simulate(model, 1000, sessions => 12, rounds => 2, bias => 0.01, seed => 3) AS b,
	LATERAL simulate(model, 1000, sessions => 1, rounds => 20, bias => 0) AS r;

-- Coverage of a true ratio: at least 98 % at 99 %.
SELECT model, s.wrong <= 0.02 * s.verdicts AS sessions, r.wrong <= 0.02 * r.verdicts AS rounds
FROM unnest('{independent,drift,outliers,"trend, first place",autocorrelated}'::text[]) AS model,
	LATERAL simulate(model, 1000, sessions => 12, rounds => 2, speedup => 1.3, bias => 0, seed => 2) AS s,
	LATERAL simulate(model, 1000, sessions => 1, rounds => 20, speedup => 1.3, bias => 0, seed => 2) AS r;

-- A backend that carries a bias of its own: many rounds of one are wrong about it, ten backends are not.
SELECT at_most_1_percent(s.alarms, s.verdicts) AS ten_sessions, r.alarms > 0.3 * r.verdicts AS one_session_is_wrong
FROM simulate('independent', 1000, sessions => 10, rounds => 4, bias => 0.01) AS s,
	simulate('independent', 200, sessions => 1, rounds => 200, bias => 0.01) AS r;

-- Stopping at a width, never at a significance: the looks bring no false alarms.
SELECT at_most_1_percent(alarms, verdicts) AS looks, units < 48 AS stopped
FROM simulate('independent', 1000, sessions => 48, rounds => 2, bias => 0.01, target => 0.02);

-- One arm after the other, as other harnesses do it, fails the same test.
SELECT NOT at_most_1_percent(alarms, verdicts) AS blocks_are_wrong, alarms > 0.2 * verdicts AS often
FROM simulate('drift', 1000, sessions => 1, rounds => 20, bias => 0, mirrored => false, control => false);

-- A difference of 3 % is found 8 times in 10 by 12.3 (s / delta)^2 + 5 units, where normal theory, 12 (s / delta)^2, plans
-- fewer: so few units pay for the rank test's discreteness and for not knowing s.
SELECT s, normal.alarms >= 0.8 * normal.verdicts AS normal_theory, more.alarms >= 0.8 * more.verdicts AS found
FROM unnest('{0.03,0.045}'::float8[]) AS s,
	LATERAL simulate('independent', 1000, sessions => ceil(12 * (s / 0.03)^2)::int, noise => s, speedup => exp(0.03), bias => 0) AS normal,
	LATERAL simulate('independent', 1000, sessions => ceil(12.3 * (s / 0.03)^2 + 5)::int, noise => s, speedup => exp(0.03), bias => 0) AS more;

-- The difference that "would have been seen 8 times in 10", 1.33 half-widths at 99 %, is.
SELECT n, s.alarms BETWEEN 0.74 * s.verdicts AND 0.86 * s.verdicts AS seen
FROM unnest('{8,12,24}'::int[]) AS n, LATERAL simulate('independent', 500, sessions => n) AS w,
	LATERAL simulate('independent', 1000, sessions => n, speedup => exp(w.half_width * 1.3267), seed => 4) AS s;

-- Many comparisons read together: of runs with eleven of them few have a wrong one.
SELECT runs_wrong <= 0.05 * 300 + 3 * sqrt(0.05 * 0.95 * 300) AS together, level > 0.99 AS corrected
FROM simulate('independent', 300, sessions => 12, rounds => 2, arms => 12, bias => 0);
