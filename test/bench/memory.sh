#!/bin/bash
# memory.sh [STATEMENTS]: resident growth of the process that runs passes of a million statements
#
# Runs of one arm and one round: the discovery, the pilot's two passes (one of which times every statement), the timed ones.  RssAnon of
# the worker, or for transport caller of the session itself, is read every 50 ms.  It grows from where it stands after a first run of a few
# statements in the same session (caller) or from the first reading (worker, which begins anew with every run).
# Must reach: less than 20 MB in each.

. "$(dirname "$0")/common.bash"
statements=${1:-1000000}
most_kb=20480
extension

sql <<SQL
CREATE TABLE t (id bigint PRIMARY KEY, v text NOT NULL);
INSERT INTO t SELECT id, 'twenty or so letters' FROM generate_series(1, 100000) id;
VACUUM ANALYZE t;
CREATE FUNCTION fails(bigint) RETURNS int LANGUAGE plpgsql AS 'BEGIN RETURN 1 / (\$1 - \$1); EXCEPTION WHEN division_by_zero THEN RETURN 0; END';
CREATE TABLE narrow (id bigint);
SQL

rss() { sed -n 's/^RssAnon:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null; }

# grows NAME TRANSPORT STEP OPTIONS
grows()
{
	local app=rtbench_bench_memory$RANDOM client pid='' first='' now most=0 began=$SECONDS file
	file=$(mktemp)
	local run="SELECT 'ran', count(*) FILTER (WHERE verdict = 'baseline') FROM rtbench.compare(ARRAY[rtbench.arm('a', steps => ARRAY[%s])], transport => '$2',
		rounds => 1, max_time => '30 min', check_query => 'SELECT count(*) FROM t'${4:+, $4})"
	PGAPPNAME=$app PGOPTIONS='-c client_min_messages=error' sql -c "$(printf "$run" "${3//:n/100}")" -c 'SELECT pg_sleep(0.5)' \
		-c "$(printf "$run" "${3//:n/$statements}")" >"$file" 2>&1 &
	client=$!
	while kill -0 "$client" 2>/dev/null; do
		# the session's pid is known once it has run the few statements
		if [ "$2" = caller ]; then
			[ -n "$pid" ] || pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE application_name = '$app' AND query LIKE '%pg_sleep%'")
		else
			[ -n "$pid" ] && [ -d "/proc/$pid" ] || { pid=$(sql -c "SELECT pid FROM pg_stat_activity WHERE backend_type LIKE 'rtbench%'" | head -n 1); first='' most=0; }
		fi
		now=${pid:+$(rss "$pid")}
		if [ -n "$now" ]; then
			first=${first:-$now}
			[ "$now" -le "$most" ] || most=$now
		fi
		sleep 0.05
	done
	wait "$client"
	local line ok=f
	line=$(tail -n 1 "$file")
	[ "$line" = 'ran|1' ] || cat "$file" >&2
	[ -n "$first" ] && [ "$line" = 'ran|1' ] && [ $((most - first)) -lt $most_kb ] && ok=t
	report "$(printf '%-52s %6s kB at first, %6d kB more at most (%d s)' "$1" "${first:--}" $((most - ${first:-0})) $((SECONDS - began)))" $ok
	rm -f "$file"
}

echo "$statements statements a pass; growth of less than $most_kb kB"
series="SELECT g FROM generate_series(1, :n) g"
select="SELECT v FROM t WHERE id = \$1"
grows 'foreach, SELECT by key' worker "rtbench.foreach('$series', '$select')"
grows 'foreach, SELECT by key, transport caller' caller "rtbench.foreach('$series', '$select')"
grows 'foreach, an exception caught in each' worker "rtbench.foreach('$series', 'SELECT fails(\$1)')"
grows 'foreach, an exception caught in each, transport caller' caller "rtbench.foreach('$series', 'SELECT fails(\$1)')"
grows 'foreach, values converted by way of text' worker "rtbench.foreach('SELECT g::text || '''' FROM generate_series(1, :n) g', '$select')"
grows 'foreach in foreach, a driver for each two statements' worker "rtbench.foreach('SELECT g FROM generate_series(1, :n / 2) g', rtbench.foreach('VALUES (\$1::bigint), (\$1 + 1)', '$select'))"
grows 'generated texts' worker "rtbench.generated('SELECT format(''SELECT v FROM t WHERE id = %%s'', g) FROM generate_series(1, :n) g')"
grows 'foreach, INSERT' worker "rtbench.foreach('$series', 'INSERT INTO narrow VALUES (\$1)')"
grows 'loop in a DO block' worker "rtbench.step('DO \$\$ DECLARE r record; BEGIN FOR r IN $series LOOP PERFORM v FROM t WHERE id = r.g; END LOOP; END \$\$')"
close
