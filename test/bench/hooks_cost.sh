#!/bin/bash
# hooks_cost.sh [ROWS [SESSIONS [ROUNDS]]]: what counting costs a pass
#
# The hand-written loop of spi_loop/spi_loop.c and a loop in plpgsql, each with rtbench's hooks and, taken off by the loop while it runs,
# without, in turn in one worker.  A ratio is CPU time with counting over CPU time without.  Reported, without a bound: foreach.sh holds
# a counted loop against one that isn't.

. "$(dirname "$0")/common.bash"
rows=${1:-4000} sessions=${2:-12} rounds=${3:-10}
extension
spi_loop

# measure NAME COUNTED UNCOUNTED : two statements
measure()
{
	sql -v rows="$rows" -v counted="$2" -v uncounted="$3" -v rounds="$rounds" -v sessions="$sessions" <<'SQL' >/dev/null || exit
SET client_min_messages = warning;
SELECT * FROM rtbench.compare(ARRAY[rtbench.arm('counted', :'counted'), rtbench.arm('uncounted', :'uncounted')],
	setup => format('CREATE TABLE keys AS SELECT id::bigint FROM generate_series(1, %s) id;
		CREATE TABLE t (id bigint PRIMARY KEY, n int NOT NULL, v text NOT NULL) WITH (fillfactor = 50);
		INSERT INTO t SELECT id, id, %L FROM keys;', :'rows', 'twenty or so letters'),
	check_query => 'SELECT * FROM t', rounds => :rounds, sessions => :sessions, max_time => '10 min');
SQL
	sql -F $'\t' -v name="$1" -v rows="$rows" <<'SQL' | reports
SELECT format('%-16s counted/uncounted %s [%s, %s]   wall %s [%s, %s]   %s ns a statement more', :'name',
		to_char(cpu_speedup, 'FM0.000'), to_char(cpu_speedup_low, 'FM0.000'), to_char(cpu_speedup_high, 'FM0.000'),
		to_char(speedup, 'FM0.000'), to_char(speedup_low, 'FM0.000'), to_char(speedup_high, 'FM0.000'),
		round((cpu_speedup - 1) * (SELECT rtbench.median(array_agg(cpu_ns::float8)) FROM rtbench.passes p
			WHERE p.run = r.run AND p.arm = r.arm AND kind IN ('timed', 'last'))::numeric / :rows)), NULL
FROM rtbench.result() r WHERE arm = 'uncounted';
SQL
}

# loops NAME STATEMENT : in C and in plpgsql
loops()
{
	local driver='SELECT id FROM keys' statement=$2 do_loop=${2//\$1/r.id}
	do_loop="DO \$do\$ DECLARE r record; BEGIN FOR r IN $driver LOOP ${do_loop/#SELECT/PERFORM}; END LOOP; END \$do\$"
	measure "$1 in C" "SELECT spi_loop('$driver', '$statement', true)" "SELECT spi_loop('$driver', '$statement', false)"
	measure "$1 in plpgsql" "SELECT run(\$x\$$do_loop\$x\$, true)" "SELECT run(\$x\$$do_loop\$x\$, false)"
}

echo "$sessions sessions of $rounds rounds, $rows statements a pass"
loops SELECT 'SELECT v FROM t WHERE id = $1'
loops UPDATE 'UPDATE t SET n = n + 1 WHERE id = $1'
close
