#!/bin/bash
# memory.sh [STATEMENTS]: resident growth of the process that runs passes of a million statements
#
# Runs of one arm and one round: the discovery, the pilot's two passes (one of which times every statement), the timed ones.  RssAnon of
# the worker, or for transport caller of the session itself, is read all the while.  It grows from where it stands after a first run of a few
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

# asked often: one session that stays
coproc ASK { sql; }
ask() { printf '%s;\n' "$1" >&"${ASK[1]}" && read -r answer <&"${ASK[0]}"; }

# grows NAME TRANSPORT STEP
grows()
{
	local app=rtbench_bench_memory$RANDOM began=$SECONDS client file line ok=f pid='' first='' now most=0 run
	file=$(mktemp)
	run="SELECT 'ran', count(*) FILTER (WHERE verdict = 'baseline') FROM rtbench.compare(ARRAY[rtbench.arm('a', steps => ARRAY[$3])],
		transport => '$2', rounds => 1, max_time => '30 min', check_query => 'SELECT count(*) FROM t')"
	PGAPPNAME=$app PGOPTIONS="$PGOPTIONS -c client_min_messages=error" sql -c "${run//:n/100}" -c 'SELECT pg_sleep(0.5)' \
		-c "${run//:n/$statements}" >"$file" 2>&1 &
	client=$!
	while kill -0 "$client" 2>/dev/null; do
		answer=''
		if [ "$2" = worker ] && [ ! -d "/proc/${pid:-none}" ]; then
			ask "SELECT max(pid) FROM pg_stat_activity WHERE backend_type LIKE 'rtbench%'"
		elif [ -z "$pid" ]; then
			ask "SELECT max(pid) FROM pg_stat_activity WHERE application_name = '$app' AND query LIKE '%pg_sleep%'"
		fi
		[ -z "$answer" ] || pid=$answer first='' most=0
		now=${pid:+$(rss "$pid")}
		if [ -n "$now" ]; then
			first=${first:-$now}
			[ "$now" -le "$most" ] || most=$now
		fi
		sleep 0.02
	done
	wait "$client"
	line=$(tail -n 1 "$file")
	[ "$line" = 'ran|1' ] || cat "$file" >&2
	[ -n "$first" ] && [ "$line" = 'ran|1' ] && [ $((most - first)) -lt $most_kb ] && ok=t
	report "$(printf '%-54s %6s kB at first, %6d kB more at most (%d s)' "$1" "${first:--}" $((most - ${first:-0})) $((SECONDS - began)))" $ok
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
grows 'generated texts, a quarter as many' worker "rtbench.generated('SELECT format(''SELECT v FROM t WHERE id = %s'', g) FROM generate_series(1, :n / 4) g')"
grows 'foreach, INSERT' worker "rtbench.foreach('$series', 'INSERT INTO narrow VALUES (\$1)')"
grows 'loop in a DO block' worker "rtbench.step('DO \$\$ DECLARE r record; BEGIN FOR r IN $series LOOP PERFORM v FROM t WHERE id = r.g; END LOOP; END \$\$')"
close
