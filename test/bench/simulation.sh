#!/bin/bash
# simulation.sh: what the verdicts promise, held against runs made up from models of noise (test/simulate).
#
# The same code judges them that judges real runs.  A pass takes 10 ms with a noise of 2 % (standard deviation of the
# logarithm), and what the model adds:
#	drift			the whole run becomes 20 % slower
#	outliers		one pass in twenty takes up to three times as long
#	trend, first place	the run becomes 20 % faster, and the first pass of each round takes 5 % longer
#	autocorrelated		0.9 of a pass's noise stays for the next pass
#	one arm autocorrelated	half of a pass's noise stays for the next pass of the same arm, and only of that: the worst
#				case for a method that pairs passes; no bound is kept to there
# With a bias, each arm is up to some percent faster or slower in each session.  control failed: the share of the runs in
# which the control said that the baseline is not comparable with itself; they have no verdict.
#
# EXPERIMENTS (10000): how many in each line, a fifth of that where they are long; three to five minutes.
cd "$(dirname "$0")/../.." || exit
. test/bench/common.bash

EXPERIMENTS=${EXPERIMENTS:-10000}
FEWER=$((EXPERIMENTS / 5))

make -s -C test/simulate PG_CONFIG="${PG_CONFIG:-pg_config}" with_llvm=no install >&2 &&
	sql -c 'SET client_min_messages = warning' -c 'DROP FUNCTION IF EXISTS simulate' -f test/simulate/setup.sql || exit

lines() # the lines that the SQL in standard input gives
{
	local out
	out=$(sql -F $'\t' -v n="$EXPERIMENTS" -v fewer="$FEWER") || report '  the simulation failed' f
	reports <<<"$out"
}

# percent(part, whole), and most(n): the most that a share of 1 % may show in so many, three standard errors up
sql <<'SQL'
CREATE SCHEMA IF NOT EXISTS simulation;
CREATE OR REPLACE FUNCTION simulation.percent(part numeric, whole numeric) RETURNS text LANGUAGE sql
RETURN to_char(100 * part / nullif(whole, 0), 'FM990.00') || ' %';
CREATE OR REPLACE FUNCTION simulation.most(n numeric) RETURNS numeric LANGUAGE sql
RETURN 0.01 * n + 3 * sqrt(0.01 * 0.99 * n);
SQL

printf 'false alarms at 99 %% (arms that take the same time)\n'
lines <<'SQL'
SELECT format('  %-22s %s: %s, half-width %s, control failed %s', model, form,
		simulation.percent(alarms, verdicts), simulation.percent((exp(half_width) - 1)::numeric, 1),
		simulation.percent(control_failed, verdicts + no_interval)),
	CASE WHEN model <> 'one arm autocorrelated' THEN alarms <= simulation.most(verdicts) END
FROM unnest('{independent,drift,outliers,"trend, first place",autocorrelated,one arm autocorrelated}'::text[])
		WITH ORDINALITY AS m(model, o),
	(VALUES ('12 sessions of 2 rounds, bias 1 %', 12, 2, 0.01, :n), ('12 sessions of 8 rounds          ', 12, 8, 0, :fewer),
		('48 sessions of 2 rounds          ', 48, 2, 0, :fewer), ('1 session of 20 rounds           ', 1, 20, 0, :n)) AS f(form, sessions, rounds, bias, n),
	LATERAL simulate(model, f.n, sessions => f.sessions, rounds => f.rounds, bias => f.bias) AS s
ORDER BY o, f.rounds * f.sessions;
SQL

printf 'coverage of a true speedup of 1.3 at 99 %%, 12 sessions of 2 rounds\n'
lines <<'SQL'
SELECT format('  %-22s %s', model, simulation.percent(verdicts - wrong, verdicts)), verdicts - wrong >= 0.98 * verdicts
FROM unnest('{independent,drift,outliers,"trend, first place",autocorrelated}'::text[]) WITH ORDINALITY AS m(model, o),
	LATERAL simulate(model, :n, speedup => 1.3, seed => 2) AS s
ORDER BY o;
SQL

printf 'what others do, and must be wrong here\n'
lines <<'SQL'
SELECT format('  AAAA BBBB, 20 passes each, drift: %s false alarms', simulation.percent(alarms, verdicts)), alarms > 0.2 * verdicts
FROM simulate('drift', :fewer, sessions => 1, rounds => 20, bias => 0, mirrored => false, control => false);
SELECT format('  200 rounds of one backend, each backend with a bias of 1 %%: %s false alarms', simulation.percent(alarms, verdicts)), alarms > 0.3 * verdicts
FROM simulate('independent', :fewer / 4, sessions => 1, rounds => 200);
SELECT format('  the same rounds in ten backends: %s', simulation.percent(alarms, verdicts)), alarms <= simulation.most(verdicts)
FROM simulate('independent', :fewer, sessions => 10, rounds => 20);
SQL

printf 'stopping at a half-width of 2 %%, looks at 8, 12, 16, 20, 24, 32, 48 sessions of 2 rounds, bias 1 %%\n'
lines <<'SQL'
SELECT format('  %-22s %s false alarms, %s sessions on average', model, simulation.percent(alarms, verdicts), round(units::numeric, 1)),
	alarms <= 0.015 * verdicts + 3 * sqrt(0.015 * 0.985 * verdicts)
FROM unnest('{independent,drift,outliers,"trend, first place",autocorrelated}'::text[]) WITH ORDINALITY AS m(model, o),
	LATERAL simulate(model, :fewer, sessions => 48, target => 0.02) AS s
ORDER BY o;
SQL

printf 'comparisons read together: runs in which any interval is wrong, 12 sessions of 2 rounds\n'
lines <<'SQL'
SELECT format('  %s arms, level %s: %s', arms, trim_scale(round(level::numeric, 4)), simulation.percent(runs_wrong, m)),
	runs_wrong <= 0.05 * m + 3 * sqrt(0.05 * 0.95 * m)
FROM unnest('{6,16}'::int[]) AS arms, LATERAL (SELECT :fewer * 2 / arms AS m) AS e, LATERAL simulate('independent', m, arms => arms) AS s;
SQL

printf 'power: how often a difference of 3 %% is found by n units with a standard deviation s\n'
lines <<'SQL'
SELECT format('  s = %s %%: n = 12 (s / 3 %%)^2 = %s: %s; n = 12.3 (s / 3 %%)^2 + 5 = %s: %s', round(100 * spread::numeric, 1),
		n, simulation.percent(a.alarms, a.verdicts), more, simulation.percent(b.alarms, b.verdicts)),
	b.alarms >= 0.8 * b.verdicts - 3 * sqrt(0.8 * 0.2 * b.verdicts)
FROM unnest('{0.027,0.030,0.045,0.057}'::float8[]) AS spread, LATERAL (SELECT ceil(12 * (spread / 0.03)^2)::int AS n, ceil(12.3 * (spread / 0.03)^2 + 5)::int AS more) AS planned,
	LATERAL simulate('independent', :fewer, sessions => n, noise => spread, bias => 0, speedup => exp(0.03), control => false) AS a,
	LATERAL simulate('independent', :fewer, sessions => more, noise => spread, bias => 0, speedup => exp(0.03), control => false) AS b;
SQL

printf 'the difference that "would have been seen 8 times in 10" is seen, by so many sessions, in\n'
lines <<'SQL'
SELECT format('  %s: %s', n, simulation.percent(s.alarms, s.verdicts)), s.alarms BETWEEN 0.75 * s.verdicts AND 0.85 * s.verdicts
FROM unnest('{8,12,16,24,48}'::int[]) AS n, LATERAL simulate('independent', :fewer, sessions => n) AS w,
	LATERAL simulate('independent', :fewer, sessions => n, speedup => exp(w.half_width * 1.3267), seed => 3) AS s;
SQL
sql -c 'SET client_min_messages = warning' -c 'DROP SCHEMA simulation CASCADE'
close
