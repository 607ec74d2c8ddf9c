#!/bin/bash
# idle.sh [BACKENDS [PAIRS]]: what rtbench costs sessions that don't use it, or no longer do
#
# 1. Hooks that are set in a session with the library loaded, and after runs by either transport, good or failed: none.
# 2. pgbench -S with the library preloaded over pgbench -S without: the server is restarted for each, in pairs whose order is mirrored.
# 3. A session after a run, by both transports, over the same session before it.  A statement is a SELECT by key as in pgbench -S, by
#    SPI in a loop: without the client and the socket, so that a share of it is a larger share than of pgbench's.  CPU time.  What a session
#    does with time alone (its caches fill) is known from as many sessions that wait instead of running rtbench, in pairs whose order is
#    mirrored; the ratio is that of the two sessions' after/before.
# Ratios are Hodges-Lehmann estimates over pairs, with a 99 % interval.
# Must reach: no hooks; the preloaded server equal within noise (1 in the interval, or within 1 %); after a run at most 1.005.

. "$(dirname "$0")/common.bash"
backends=${1:-40} pairs=${2:-10}
extension
spi_loop
out=$(mktemp)
trap 'rm -f "$out"' EXIT

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

# session run|wait : prints after/before, from the medians of some loops each
session()
{
	local between='SELECT pg_sleep(0.3)'
	[ "$1" = wait ] || between="
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT count(*) FROM pg_class'), rtbench.arm('b', 'SELECT count(oid) FROM pg_class')],
	transport => 'caller', rounds => 2);
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT count(*) FROM pg_class'), rtbench.arm('b', 'SELECT count(oid) FROM pg_class')],
	rounds => 2)"
	sql <<SQL
SET client_min_messages = error;
LOAD 'rtbench';
\set loop 'loop_cpu_ns(''SELECT id FROM keys'', ''SELECT v FROM t WHERE id = \$1'')::float8 FROM generate_series(1, 40)'
SELECT count(x) FROM (SELECT :loop) t (x) \g /dev/null
SELECT rtbench.median(array_agg(x)) AS before FROM (SELECT :loop) t (x) \gset
$between \g /dev/null
SELECT rtbench.median(array_agg(x)) AS after FROM (SELECT :loop) t (x) \gset
SELECT :after / :before;
SQL
}

for ((i = 0; i < backends; i++)); do
	if ((i % 2)); then a=$(session run) b=$(session wait); else b=$(session wait) a=$(session run); fi
	printf '%s %s\n' "$a" "$b"
done >"$out"
estimate 'SELECT by key after runs over before them: ' 'r <= 1.005'

# ---- preloaded ----

data=$(sql -c 'SHOW data_directory')
restart() # restart LIBRARIES
{
	pg_ctl -D "$data" -l "$data/../bench.log" -m fast -w -o "-p $PGPORT -c shared_preload_libraries='$1'" restart >/dev/null || exit
	pgbench -n -S -M prepared -T 1 >/dev/null 2>&1
}
tps() { pgbench -n -S -M prepared -T 2 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'; }

pgbench -i -q -s 5 2>/dev/null
for ((i = 0; i < pairs; i++)); do
	if ((i % 2)); then restart rtbench; a=$(tps); restart ''; b=$(tps); else restart ''; b=$(tps); restart rtbench; a=$(tps); fi
	# times, not speeds
	printf '%s %s\n' "$b" "$a"
done >"$out"
estimate 'pgbench -S, library preloaded over not loaded:' '(low <= 1 AND high >= 1) OR abs(r - 1) <= 0.01'
restart rtbench
sql -F $'\t' -c "SELECT format('hooks set in a session of the preloaded server: %s', hooks_installed()), hooks_installed() = 0" | reports
restart ''
close
