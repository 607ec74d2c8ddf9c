#!/bin/bash
# idle.sh [SESSIONS]: what rtbench costs sessions that don't use it, or no longer do
#
# 1. Hooks that are set in a session with the library loaded, and after runs by either transport, good, failed, cancelled: none.
# 2. A session after runs by both transports.  Two sessions take turns on one processor, one of them runs rtbench half-way while the other does
#    ordinary things, and the ratio of their times after is divided by that before, so that what each session and the time of day have of their
#    own cancels.  A statement is a SELECT by key as in pgbench -S, by SPI in a loop: without the client and the socket, so that the same
#    cost is a larger share than of pgbench's.  CPU time.
# 3. A session that has loaded the library and doesn't use it, in turns with one that hasn't: the same ratio, without before and after.  And
#    that a server which preloads the library sets no hook and starts no process.
# pgbench itself differs by tens of per cents from run to run on a machine that does other things; pairs on one processor by less than one.
# Ratios are Hodges-Lehmann estimates over pairs of sessions, with a 99 % interval.
# Must reach: no hooks; after a run at most 1.005; loaded and not used at most 1.005 and not above 1 for certain.

. "$(dirname "$0")/common.bash"
sessions=${1:-24}
extension
spi_loop
dir=$(mktemp -d)
out=$dir/out
trap 'rm -rf "$dir"' EXIT

# estimate NAME BOUND-CONDITION : over lines `a b` of positive numbers in $out; r, low and high are the ratio a/b and its interval
estimate()
{
	sql -F $'\t' -v data="$(tr '\n' ';' <"$out")" -v name="$1" -f - <<SQL | reports
WITH pairs AS (
	SELECT ln(split_part(line, ' ', 1)::float8 / split_part(line, ' ', 2)::float8) d
	FROM string_to_table(rtrim(:'data', ';'), ';') line),
	estimates AS (
	SELECT count(*) n, exp(rtbench.hodges_lehmann(array_agg(d))) r, exp((i).low) low, exp((i).high) high
	FROM (SELECT d, rtbench.signed_rank_interval(array_agg(d) OVER (), 0.99) i FROM pairs) p GROUP BY i)
SELECT format('%s  %s [%s, %s] of %s pairs', :'name', to_char(r, 'FM0.0000'), to_char(low, 'FM0.0000'), to_char(high, 'FM0.0000'), n), $2
FROM estimates;
SQL
}

# ---- no hook is set ----

sql -F $'\t' 2>/dev/null <<'SQL' | reports
LOAD 'rtbench';
SELECT format('hooks set once the library is loaded: %s', hooks_installed()), hooks_installed() = 0;
\set arms 'ARRAY[rtbench.arm(''a'', ''SELECT count(*) FROM pg_class''), rtbench.arm(''b'', ''SELECT count(oid) FROM pg_class'')]'
SELECT count(*) FROM rtbench.compare(:arms, transport => 'caller', rounds => 2) \g /dev/null
SELECT format('hooks set after a run by transport caller: %s', hooks_installed()), hooks_installed() = 0;
SELECT count(*) FROM rtbench.compare(:arms, rounds => 2) \g /dev/null
SELECT format('hooks set after a run by transport worker: %s', hooks_installed()), hooks_installed() = 0;
\set ON_ERROR_STOP off
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1 / (reltuples - reltuples) FROM pg_class')], check_query => 'SELECT 1 / 0',
	transport => 'caller', rounds => 2) \g /dev/null
SET statement_timeout = 200;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(1)')], transport => 'caller', rounds => 2) \g /dev/null
RESET statement_timeout;
SELECT format('hooks set after runs that failed and were cancelled: %s', hooks_installed()), hooks_installed() = 0;
SQL

# ---- a session after a run ----

sql <<'SQL'
CREATE TABLE keys AS SELECT id::bigint FROM generate_series(1, 2000) id;
CREATE TABLE t (id bigint PRIMARY KEY, v text NOT NULL);
INSERT INTO t SELECT id, 'twenty or so letters' FROM keys;
VACUUM ANALYZE keys, t;
SQL

open_sessions() # two psql, A and B, each with a pipe to it and one from it
{
	mkfifo "$dir/a" "$dir/b"
	exec {a_in}> >(sql >"$dir/a") {b_in}> >(sql >"$dir/b")
	exec {a_out}<"$dir/a" {b_out}<"$dir/b"
	# both on one processor: they never run at the same time
	tell_a 'SELECT pg_backend_pid();'; taskset -p 1 "$answer" >/dev/null
	tell_b 'SELECT pg_backend_pid();'; taskset -p 1 "$answer" >/dev/null
}
close_sessions() { exec {a_in}>&- {b_in}>&- {a_out}<&- {b_out}<&-; rm "$dir/a" "$dir/b"; }
tell_a() { printf '%s\n' "$1" >&"$a_in"; read -r answer <&"$a_out"; }
tell_b() { printf '%s\n' "$1" >&"$b_in"; read -r answer <&"$b_out"; }

loop="SELECT loop_cpu_ns('SELECT id FROM keys', 'SELECT v FROM t WHERE id = \$1');"
a_over_b() # the median over turns of A's time over B's
{
	local turn a
	for ((turn = 0; turn < 60; turn++)); do
		if ((turn % 2)); then tell_b "$loop"; b=$answer; tell_a "$loop"; a=$answer; else tell_a "$loop"; a=$answer; tell_b "$loop"; b=$answer; fi
		echo "$a $b"
	done | awk '{ print $1 / $2 }' | sort -g | awk '{ r[NR] = $1 } END { print (r[int((NR + 1) / 2)] + r[int(NR / 2) + 1]) / 2 }'
}

# Whatever a session does fills its caches and spreads its memory, which costs up to 2 % of such short statements for the rest of its life:
# so both do ordinary things first, and half-way again the one that doesn't run rtbench.
ordinary="SET client_min_messages = error;
\\o /dev/null
CREATE TEMP TABLE scratch (id bigint PRIMARY KEY, v text);
INSERT INTO scratch SELECT oid, relname FROM pg_class;
ANALYZE scratch;
DROP TABLE scratch;
SELECT count(*) FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE pg_table_is_visible(c.oid) AND format_type(a.atttypid, -1) > '';
DO 'BEGIN PERFORM FROM pg_class; EXCEPTION WHEN division_by_zero THEN NULL; END';
\\o
SELECT 'done';"
arms="ARRAY[rtbench.arm('a', 'SELECT count(*) FROM pg_class, generate_series(1, 100)'), rtbench.arm('b', 'SELECT count(oid) FROM pg_class')]"
runs="\\o /dev/null
SELECT count(*) FROM rtbench.compare($arms, transport => 'caller', rounds => 2);
SELECT count(*) FROM rtbench.compare($arms, rounds => 2);
\\o
SELECT 'done';"
for ((i = 0; i < sessions; i++)); do
	open_sessions
	tell_a "$ordinary"; tell_b "$ordinary"
	a_over_b >/dev/null
	before=$(a_over_b)
	tell_a "$runs"; tell_b "$ordinary"
	after=$(a_over_b)
	close_sessions
	printf '%s %s\n' "$after" "$before"
done >"$out"
[ -z "${VERBOSE-}" ] || cat "$out"
estimate 'SELECT by key after runs over before them:' 'r <= 1.005'

# ---- the library loaded, and not used ----

for ((i = 0; i < sessions; i++)); do
	open_sessions
	tell_a "LOAD 'rtbench'; SELECT 'done';"
	a_over_b >/dev/null
	ratio=$(a_over_b)
	close_sessions
	printf '%s 1\n' "$ratio"
done >"$out"
[ -z "${VERBOSE-}" ] || cat "$out"
estimate 'SELECT by key with the library loaded over without:' 'low <= 1 AND r <= 1.005'

data=$(sql -c 'SHOW data_directory')
restart() { pg_ctl -D "$data" -l "$data/../bench.log" -m fast -w -o "-p $PGPORT -c shared_preload_libraries='$1'" restart >/dev/null || exit; }
restart rtbench
sql -F $'\t' <<'SQL' | reports
SELECT format('hooks set in a session of a server that preloads the library: %s', hooks_installed()), hooks_installed() = 0;
SELECT format('its processes: %s', count(*)), count(*) = 0 FROM pg_stat_activity WHERE backend_type LIKE 'rtbench%';
SQL
restart ''
close
