#!/bin/bash
# foreach.sh [ROWS [SESSIONS [ROUNDS]]]: what a statement costs in a foreach loop, beside the same loop written in plpgsql and in C
#
# Arms of one rtbench.compare(), so all are measured in the same worker, by the same clock, in turn:
#	foreach		rtbench.foreach(driver, statement)
#	plpgsql		DO: FOR r IN driver LOOP PERFORM ... or the DML itself; END LOOP
#	spi_loop	SELECT spi_loop(driver, statement): the loop somebody would write by hand with SPI, a saved plan and a receiver
#			of his own (spi_loop/spi_loop.c)
# rtbench counts what runs in all passes.  So that the hand-written loop has no counting, it takes the hooks off while it runs: in the
# processor's terms they are not there.  Counting is part of what foreach and plpgsql are measured with, and foreach is held against
# plpgsql as the tool shows both.  For comparison there is plpgsql without counting too.
#
# A ratio is the time of foreach over the time of the other.  CPU time of the worker decides, as that is what a statement costs on a machine that
# does other things too; wall time stands beside it.  The interval is rtbench's own: 99 %, over sessions; where it is wide there
# are more sessions.
# Must reach: foreach/plpgsql at most 1.00, foreach/spi_loop at most 1.02.

. "$(dirname "$0")/common.bash"
rows=${1:-4000} sessions=${2:-12} rounds=${3:-10}
extension
spi_loop

setup="
CREATE TABLE keys AS SELECT id::bigint, id::bigint + $rows AS new_id FROM generate_series(1, $rows) id;
CREATE TABLE t (id bigint PRIMARY KEY, n int NOT NULL, v text NOT NULL) WITH (fillfactor = 50);
INSERT INTO t SELECT id, id, 'twenty or so letters' FROM keys;"

# compare SESSIONS DRIVER STATEMENT LOOP : prints whether it is known closely enough
compare()
{
	sql -v setup="$setup" -v driver="$2" -v statement="$3" -v loop="$4" -v rounds="$rounds" -v sessions="$1" <<'SQL'
SET client_min_messages = warning;
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('foreach', rtbench.foreach(:'driver', :'statement')),
	rtbench.arm('plpgsql', :'loop'),
	rtbench.arm('spi_loop', format('SELECT spi_loop(%L, %L)', :'driver', :'statement')),
	rtbench.arm('plpgsql_uncounted', format('SELECT run(%L, false)', :'loop'))],
	setup => :'setup', check_query => 'SELECT * FROM t', rounds => :rounds, sessions => :sessions, max_time => '30 min') \g /dev/null
SELECT cpu_speedup_high / cpu_speedup_low < 1.03 FROM rtbench.result() WHERE arm = 'spi_loop';
SQL
}

# measure NAME DRIVER STATEMENT [PLPGSQL] : \$1 stands for the driver's column
measure()
{
	local loop="DO \$do\$ DECLARE r record; BEGIN FOR r IN $2 LOOP ${4:-$3}; END LOOP; END \$do\$" n close_enough
	loop=${loop//\$1/r.id}
	# on a busy machine more sessions are needed: what stops is how close the interval is, not what it says
	for n in "$sessions" $((sessions * 2)) $((sessions * 4)); do
		close_enough=$(compare "$n" "$2" "$3" "$loop") || exit
		[ "$close_enough" != t ] || break
	done
	sql -F $'\t' -v name="$1" -v rows="$rows" <<'SQL' | reports
SELECT format('%-7s foreach/%-18s %s [%s, %s]   wall %s [%s, %s]   %s us a statement%s', :'name', arm,
		to_char(cpu_speedup, 'FM0.000'), to_char(cpu_speedup_low, 'FM0.000'), to_char(cpu_speedup_high, 'FM0.000'),
		to_char(speedup, 'FM0.000'), to_char(speedup_low, 'FM0.000'), to_char(speedup_high, 'FM0.000'),
		round((SELECT rtbench.median(array_agg(cpu_ns::float8)) FROM rtbench.passes p
			WHERE p.run = r.run AND p.arm = r.arm AND kind IN ('timed', 'last'))::numeric / 1000 / :rows, 2),
		CASE WHEN bound IS NOT NULL THEN format('   at most %s', to_char(bound, 'FM0.00')) END),
	cpu_speedup <= bound AND verdict NOT IN ('failed', 'not comparable')
FROM rtbench.result() r
	JOIN (VALUES ('plpgsql', 1.00), ('spi_loop', 1.02), ('plpgsql_uncounted', NULL)) b (arm, bound) USING (arm)
ORDER BY bound IS NULL, bound;
SQL
}

echo "at least $sessions sessions of $rounds rounds, $rows statements a pass"
measure SELECT 'SELECT id FROM keys' 'SELECT v FROM t WHERE id = $1' 'PERFORM v FROM t WHERE id = $1'
measure INSERT 'SELECT new_id AS id FROM keys' "INSERT INTO t VALUES (\$1, 1, 'twenty or so letters')"
measure UPDATE 'SELECT id FROM keys' 'UPDATE t SET n = n + 1 WHERE id = $1'
measure DELETE 'SELECT id FROM keys' 'DELETE FROM t WHERE id = $1'
close
