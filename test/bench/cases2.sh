#!/bin/sh
# cases2.sh: real cases at sizes where their right answer is a ratio of times or a growth (sql/case_NN_*.sql has the rest)
#
# Everything is told by rtbench's own results of one run each: a ratio stands beside the bounds that the case gives it.
# The server is that of PGHOST, PGPORT, PGDATABASE, PGUSER, with rtbench installed; the user must be a superuser.
set -eu

out=$(mktemp)
trap 'rm -f "$out"' EXIT

sql() {
	psql -X -q -A -t -F '|' -v ON_ERROR_STOP=1 "$@"
}

# the scenario that the case's test defines
define() {
	awk -v name="'case_$1'" '
		index($0, "rtbench.create_scenario(" name) { on = 1 }
		on { print }
		on && /\\g \/dev\/null$/ { if (++n == 2) exit }' sql/case_"$1"_*.sql |
		{ echo "SET client_min_messages = error; SELECT rtbench.drop_scenario('case_$1') FROM rtbench.scenarios WHERE scenario = 'case_$1';"; cat; } | sql >/dev/null
}

# run NUMBER OPTIONS: a sweep of the case, whose results are the last ones
run() {
	define "$1"
	sql -c "SET client_min_messages = error" -c "SELECT count(*) FROM rtbench.sweep('case_$1', $2)" >/dev/null
	case=$1
}

# ratio WHAT LEAST MOST QUERY: one number and what it should be
ratio() {
	value=$(sql -c "SELECT round(($4)::numeric, 3)")
	awk -v case="$case" -v what="$1" -v value="$value" -v least="$2" -v most="$3" 'BEGIN {
		ok = value != "" && value + 0 >= least + 0 && value + 0 <= most + 0
		printf "case %s  %-66s %9s  (%s to %s)  %s\n", case, what, value, least, most, ok ? "OK" : "NOT OK"
	}' | tee -a "$out"
}

# of the last run: median CPU time of an arm at a point, in ms: a loaded machine disturbs it least
of() {
	printf "(SELECT cpu_ms FROM rtbench.result() WHERE arm = '%s' AND point = %s)" "$1" "$2"
}

sql -c "SET client_min_messages = warning" -c "CREATE EXTENSION IF NOT EXISTS rtbench"

run 24 "points => '{10000}', rounds => 6, check_query => 'SELECT id, k, v, dbl FROM belief'"
ratio 'COPY over single INSERTs' 2 50 "$(of row_inserts 10000) / $(of copy 10000)"
ratio 'COPY over one multi-row INSERT' 1.1 10 "$(of multirow 10000) / $(of copy 10000)"
ratio 'COPY without the row trigger over COPY with it' 1.05 5 "$(of copy 10000) / $(of copy_no_trigger 10000)"
ratio 'COPY to a temporary table and upsert over single INSERTs' 1.5 30 "$(of row_inserts 10000) / $(of temp_copy_upsert 10000)"

run 25 "points => '{2000,10000}', rounds => 10"
ratio 'the same batches: unnest over VALUES' 1.15 6 "$(of values_50 10000) / $(of unnest_50 10000)"
ratio 'batches of VALUES over single rows' 1.3 30 "$(of single_rows 10000) / $(of values_50 10000)"

run 31 "points => '{10,50}', rounds => 6, max_time => '120 s'"
ratio 'table 5 times as large: a statement with the numeric parameter' 3 12 "$(of numeric_loop 50) / 50 / ($(of numeric_loop 10) / 10)"
ratio 'table 5 times as large: a statement with the int parameter' 0.2 2 "$(of int_loop 50) / 50 / ($(of int_loop 10) / 10)"
ratio 'int parameter over numeric parameter' 100 1e9 "$(of numeric_loop 50) / $(of int_loop 50)"
ratio 'batching hides it: one scan over one for each' 10 1e6 "$(of numeric_loop 50) / $(of numeric_array 50)"

run 45 "points => '{100,500}', rounds => 10"
ratio 'table 5 times as large: with the volatile function' 3 8 "$(of volatile_plpgsql 500) / $(of volatile_plpgsql 100)"
ratio 'table 5 times as large: with the stable function' 0.4 2 "$(of stable_plpgsql 500) / $(of stable_plpgsql 100)"
ratio 'stable over volatile' 50 1e6 "$(of volatile_plpgsql 500) / $(of stable_plpgsql 500)"

run 47 "points => '{200,3000}', rounds => 10"
ratio 'parents 15 times: cascade for each parent' 0.5 2 "$(of cascade_one_delete 3000) / 3000 / ($(of cascade_one_delete 200) / 200)"
ratio 'children first over one DELETE with cascade' 0.6 1.6 "$(of cascade_one_delete 3000) / $(of children_first_set 3000)"
ratio 'one statement with CTEs over one DELETE with cascade' 0.6 1.6 "$(of cascade_one_delete 3000) / $(of cte_one_statement 3000)"
ratio 'ORM style beside one DELETE with cascade' 0.05 0.95 "$(of cascade_one_delete 3000) / $(of orm_style 3000)"

run 50 "points => '{200,2000}', rounds => 10"
ratio 'no staging table over one for each batch' 4 100 "$(of temp_per_batch 2000) / $(of unnest_per_batch 2000)"
ratio 'one staging table truncated for each batch over one for each batch' 0.1 30 "$(of temp_per_batch 2000) / $(of temp_truncated 2000)"
ratio 'one batch over batches of 20' 1.1 20 "$(of unnest_per_batch 2000) / $(of one_batch 2000)"

case=54
sql <<'SQL'
SET client_min_messages = warning;
DROP TABLE IF EXISTS rtbench_bench_54;
CREATE TABLE rtbench_bench_54 (id int PRIMARY KEY, n int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO rtbench_bench_54 SELECT g, 0, repeat('x', 200) FROM generate_series(1, 20000) g;
VACUUM ANALYZE rtbench_bench_54;
SQL
# the last four rounds beside the first four, of an arm that only reads what the other one writes
for vacuum in true false; do
	sql -c "SET client_min_messages = error" -c "SET max_parallel_workers_per_gather = 0" -c "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('set', 'UPDATE rtbench_bench_54 SET n = n + 1'),
		rtbench.arm('read', 'SELECT sum(n) FROM rtbench_bench_54')], rounds => 20, vacuum => $vacuum)" >/dev/null
	drift="SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu_ns) FILTER (WHERE round > 16) /
		percentile_cont(0.5) WITHIN GROUP (ORDER BY cpu_ns) FILTER (WHERE round <= 4)
		FROM rtbench.passes WHERE run = (SELECT max(run) FROM rtbench.runs) AND round > 0 AND arm = 'read'"
	if [ $vacuum = true ]; then
		ratio 'vacuumed between passes: last reads beside the first ones' 0.6 1.6 "$drift"
		ratio 'pages of the table after it beside before' 1 1 "SELECT pg_relation_size('rtbench_bench_54') / 8192.0 / relpages FROM pg_class WHERE relname = 'rtbench_bench_54'"
	else
		ratio 'not vacuumed: last reads beside the first ones' 1.6 20 "$drift"
	fi
done
sql -c "DROP TABLE rtbench_bench_54"

for n in 24 25 31 45 47 50; do
	sql -c "SELECT rtbench.drop_scenario('case_$n')" >/dev/null
done
! grep -q 'NOT OK' "$out"
