#!/bin/sh
# digest.sh [ROWS [TIMES]]: speed and memory of rtbench.digest beside sum(hashtext(t::text))
#
# Both read the same rows in one backend without parallel workers, in turn, TIMES times.
# Must reach: at least half the speed, and less than 20 MB of resident growth.
# The server is that of PGHOST, PGPORT, PGDATABASE, PGUSER, on this machine, with rtbench installed.
set -eu

rows=${1:-10000000}
times=${2:-5}
most_growth_kb=20480
app=rtbench_bench_digest
out=$(mktemp)
trap 'rm -f "$out"' EXIT

sql() {
	psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"
}

sql <<SQL
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
DROP TABLE IF EXISTS rtbench_bench_digest;
CREATE UNLOGGED TABLE rtbench_bench_digest AS
SELECT g AS id, (g * 7919 % 100000)::int AS part, 'customer ' || g AS name, md5(g::text)::varchar(40) AS code, g % 3 = 0 AS flag,
	(g % 1000000)::numeric / 100 AS price, '2024-01-01 00:00+00'::timestamptz + g * interval '1 s' AS at, g / 7.0::float8 AS ratio
FROM generate_series(1, ${rows}::bigint) g;
VACUUM (ANALYZE) rtbench_bench_digest;
SQL

# the statements of one comparison, their times in turn; then the digests alone, watched
compare() {
	columns=$2
	query="SELECT $columns FROM rtbench_bench_digest"
	{
		printf '%s\n' 'SET max_parallel_workers_per_gather = 0;' '\timing on'
		i=0
		while [ $i -lt "$times" ]; do
			echo "SELECT sum(hashtext(t::text)) FROM ($query) t;"
			echo "SELECT rows FROM rtbench.digest('$query');"
			i=$((i + 1))
		done
	} | sql | sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' > "$out"
	awk -v name="$1" '
		{ t[NR] = $1 }
		END {
			for (i = 1; i < NR; i += 2) {
				n++; r[n] = t[i] / t[i + 1]; h += t[i]; d += t[i + 1]
			}
			for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (r[j] < r[i]) { x = r[i]; r[i] = r[j]; r[j] = x }
			m = n % 2 ? r[(n + 1) / 2] : (r[n / 2] + r[n / 2 + 1]) / 2
			printf "%-28s hashtext %8.0f ms  digest %8.0f ms  speed of digest over hashtext: median %.2f (%.2f to %.2f) of %d  %s\n",
				name, h / n, d / n, m, r[1], r[n], n, (m >= 0.5 ? "OK" : "NOT OK")
		}' "$out"
}

# resident growth of a backend between its first digest, of a few rows, and its highest during a whole one
growth() {
	PGAPPNAME=$app sql -c "SET max_parallel_workers_per_gather = 0" \
		-c "SELECT rows FROM rtbench.digest('SELECT * FROM rtbench_bench_digest LIMIT 1000')" -c "SELECT pg_sleep(1)" \
		-c "SELECT rows FROM rtbench.digest('SELECT * FROM rtbench_bench_digest')" > /dev/null &
	client=$!
	sleep 0.5
	pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE application_name = '$app'")
	first=
	most=0
	while now=$(sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$pid/status" 2> /dev/null) && [ -n "$now" ]; do
		first=${first:-$now}
		[ "$now" -gt "$most" ] && most=$now
		sleep 0.1
	done
	wait "$client"
	grown=$((most - first))
	verdict=OK
	[ "$grown" -lt "$most_growth_kb" ] || verdict="NOT OK"
	echo "resident growth of the backend over $rows rows: $grown kB, at most $most_growth_kb kB  $verdict"
}

{
	compare "int, bigint, text, bool" "id, part, name, code, flag"
	compare "all, with dates and floats" "*"
	growth
} | tee "$out.result"
status=1
[ "$(grep -c ' OK$' "$out.result")" -eq 3 ] && ! grep -q 'NOT OK$' "$out.result" && status=0
rm -f "$out.result"
sql -c "DROP TABLE rtbench_bench_digest"
exit $status
