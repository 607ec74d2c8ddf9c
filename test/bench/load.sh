#!/bin/bash
# load.sh [SECONDS [ROUNDS]]: what the sessions of a load reach, beside pgbench; its percentiles, beside sorted latencies; and what more than
# 64 subtransactions of one session cost another
#
# tps: the same statement by rtbench.run_load() and by pgbench -M prepared with as many clients, in turn, ROUNDS times; the ratio is the
# median of the rounds' ratios.  synchronous_commit is off, so that it is not the disk that is measured.  Must reach: at least 1.
# percentiles: latencies that pgbench logged, sorted, beside rtbench.latency_quantiles() of them.  Must reach: within 1 %.
# overflow: scans of rows that a transaction of 65 subtransactions holds, beside those of 64: a factor near 2, as long as others commit.

. "$(dirname "$0")/common.bash"
seconds=${1:-2} rounds=${2:-3}
extension
export PGOPTIONS="$PGOPTIONS -c synchronous_commit=off"
logs=$(mktemp -d) || exit
trap 'rm -rf "$logs"' EXIT

setup='CREATE TABLE inserted (v float8); CREATE TABLE accounts (id int PRIMARY KEY, v float8) WITH (fillfactor = 50); INSERT INTO accounts SELECT g, g FROM generate_series(1, 10000) g'

# run_pgbench CLIENTS STATEMENT [OPTION...] : tps
run_pgbench()
{
	local clients=$1 statement=$2
	shift 2
	sql -c 'SET client_min_messages = warning' -c 'DROP TABLE IF EXISTS inserted, accounts' -c "$setup" -c 'VACUUM ANALYZE accounts' >&2
	pgbench -n -M prepared -c "$clients" -j "$clients" -T "$seconds" "$@" -f - <<<"$statement;" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}

# run_load SESSIONS STATEMENT : tps
run_load()
{
	sql -v n="$1" -v statement="$2" -v setup="$setup" -v duration="$seconds s" <<'SQL'
SET client_min_messages = warning;
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', :'statement'), :n)], duration => :'duration', warmup => '200 ms', setup => :'setup');
SELECT tps FROM rtbench.load_result() WHERE errors = '{}';
SQL
}

# measure NAME STATEMENT
measure()
{
	local clients round pairs
	for clients in 1 2 4; do
		pairs=()
		for ((round = 0; round < rounds; round++)); do
			# mirrored, as rtbench itself does it
			if ((round % 2)); then
				pairs+=("$(run_load "$clients" "$2"),$(run_pgbench "$clients" "$2")")
			else
				local other
				other=$(run_pgbench "$clients" "$2")
				pairs+=("$(run_load "$clients" "$2"),$other")
			fi
		done
		sql -F $'\t' -v name="$1" -v clients="$clients" -v pairs="$(printf '(%s),' "${pairs[@]}")(NULL,NULL)" <<'SQL' | reports
SELECT format('%-7s %s sessions: load/pgbench %s   (%s and %s transactions a second)', :'name', :clients, to_char(r, 'FM990.00'), round(load), round(pgbench)), r >= 1
FROM (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY l / p) AS r, percentile_cont(0.5) WITHIN GROUP (ORDER BY l) AS load, percentile_cont(0.5) WITHIN GROUP (ORDER BY p) AS pgbench
	FROM (VALUES :pairs) v (l, p)) m;
SQL
	done
}

# of latencies that pgbench logs, in microseconds
percentiles()
{
	run_pgbench 2 'UPDATE accounts SET v = v + 1 WHERE id = (SELECT 1 + (random() * 9999)::int)' -l --log-prefix="$logs/log" >/dev/null
	sql -c 'CREATE TABLE logged (us float8)'
	cat "$logs"/log* | awk '{ print $3 }' | sql -c 'COPY logged FROM STDIN'
	sql -F $'\t' <<'SQL' | reports
SELECT format('p%s of %s latencies: sorted %s us, histogram %s us   at most 1 %% apart', 100 * f, n, exact, round(found::numeric, 1)), abs(found / exact - 1) <= 0.01
FROM (SELECT f, count(*) AS n, percentile_disc(f) WITHIN GROUP (ORDER BY us) AS exact, 1000 * (rtbench.latency_quantiles(array_agg(us / 1000), ARRAY[f]))[1] AS found
	FROM logged, unnest('{0.5,0.95,0.99,0.999}'::float8[]) f GROUP BY f) q ORDER BY f;
SQL
}

# overflow STATEMENTS GROUPS MUST TEXT
overflow()
{
	sql -F $'\t' -v statements="$1" -v groups="$2" -v text="$4" <<SQL | reports
SET client_min_messages = warning;
CALL rtbench.run_load_compare('subtransaction_overflow', duration => '15 s', parameters => jsonb_build_object('statements', :statements), groups => :groups) \g /dev/null
SELECT format('scan of the rows that %s subtransactions hold, beside 64%s: median %s times as long, mean %s [%s, %s]', :statements, :'text', round(factor, 2),
		round(1 / latency_speedup, 2), round(1 / latency_high, 2), round(1 / latency_low, 2)), $3
FROM (SELECT *, p50_ms / first_value(p50_ms) OVER () AS factor FROM rtbench.load_result() WHERE group_name = 'readers') r WHERE variant = 'statements';
SQL
}

echo "$rounds rounds of $seconds s each"
measure INSERT 'INSERT INTO inserted VALUES (random())'
measure UPDATE 'UPDATE accounts SET v = v + 1 WHERE id = (SELECT 1 + (random() * 9999)::int)'
percentiles
overflow 65 NULL "factor BETWEEN 1.5 AND 3" ''
overflow 1000 NULL "factor > 1.3" ''
overflow 65 "ARRAY[rtbench.load_group('writer', 'writer/64_statements', variant => '64_statements'), rtbench.load_group('writer', 'writer/statements', variant => 'statements'),
	rtbench.load_group('readers', 'readers')]" "factor < 1.25" ', while nobody else commits'
sql <<'SQL'
SET client_min_messages = warning;
CALL rtbench.run_load_compare('mixed_load', duration => '15 s');
SQL
sql -F $'\t' <<'SQL' | reports
SELECT format('mixed_load: %s with writers/%s: %s transactions a second, decrease %s %% [%s, %s]: %s', group_name, variant, tps, decrease_percent, decrease_low, decrease_high, verdict), NULL
FROM rtbench.load_result();
SQL
close
