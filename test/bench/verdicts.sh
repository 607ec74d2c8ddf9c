#!/bin/bash
# verdicts.sh [PART...]: can the verdicts be bet on?  Proved on a live server, beside other load.
#
#	aa	equal arms, measured as usual: at most 3 % of the experiments may find a difference at 99 %
#	teeth	the same with the passes in the order AAAA BBBB: must fail that test, or it could not fail at all
#	power	an arm that does 3 % more is found 8 times in 10 where enough units fit; one that does 1 % more is
#		never called faster
#	time	how long it takes until an interval is within 2 %, and what pgbench run for as long, A then B, says
#		of equal arms
#	sweep	sweep('delete_tree') with defaults beside a busy loop on every core: a minute, and a verdict in every row
#
# PARTS: those to run, as the arguments.  EXPERIMENTS (200), POWER (60), REPEATS (20): how many of each; AA_SECONDS (2), POWER_SECONDS (6), TIME_SECONDS (30): max_time.
# The server is that of PGHOST, PGPORT, PGDATABASE, PGUSER, with rtbench installed.

. "$(dirname "$0")/common.bash"

EXPERIMENTS=${EXPERIMENTS:-200}
POWER=${POWER:-60}
REPEATS=${REPEATS:-20}
READS=${READS:-1000}
WRITES=${WRITES:-300}
AA_SECONDS=${AA_SECONDS:-2}
POWER_SECONDS=${POWER_SECONDS:-6}
TIME_SECONDS=${TIME_SECONDS:-30}
LABEL="verdicts $$"

work=$(mktemp -d)
loads=()
child=''

# so that a signal is heeded at once, and ends the statement too
sql_file() # sql_file FILE
{
	sql -f "$1" >/dev/null &
	child=$!
	wait $child || exit
	child=''
}
say() { printf '%s\n' "$*"; }

# bound TEXT CONDITION : CONDITION is for awk
bound() { report "$1" "$(awk "BEGIN { print ($2) ? \"t\" : \"f\" }")"; }

# ---------------------------------------------------------------- other load

# load_on [steady] : a loop on every core.  It comes and goes about every second unless steady, because steady load is the
# same for all arms, whatever their order.  It ends with this script, even if that is killed.
load_on()
{
	for _ in $(seq "$(nproc)"); do
		(
			trap - EXIT
			while kill -0 $$ 2>/dev/null; do
				IFS=' .' read -r seconds hundredths _ </proc/uptime
				end=$((10#$seconds$hundredths + RANDOM % 160))
				while IFS=' .' read -r seconds hundredths _ </proc/uptime && ((10#$seconds$hundredths < end)); do :; done
				[ "${1-}" = steady ] || sleep "0.$((RANDOM % 9 + 1))"
			done
		) &
		loads+=($!)
	done
}

load_off()
{
	[ ${#loads[@]} = 0 ] && return
	kill "${loads[@]}" 2>/dev/null
	wait "${loads[@]}" 2>/dev/null
	loads=()
}

clean_up()
{
	trap '' INT TERM HUP
	[ -z "$child" ] || { kill "$child"; wait "$child"; } 2>/dev/null
	load_off
	sql -c "SET client_min_messages = error" -c "DELETE FROM rtbench.runs WHERE label LIKE '$LABEL%'" \
		-c "DROP SCHEMA IF EXISTS verdicts CASCADE" >/dev/null 2>&1
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---------------------------------------------------------------- equal arms

setup="CREATE TABLE t AS SELECT g AS id, 0 AS n, repeat('x', 50) AS pad FROM generate_series(1, 1000) g;
CREATE UNIQUE INDEX ON t (id)"
reading="rtbench.foreach('SELECT generate_series(1, $READS)', 'SELECT pad FROM t WHERE id = \$1')"
writing="rtbench.foreach('SELECT generate_series(1, $WRITES)', 'UPDATE t SET n = n + 1 WHERE id = \$1')"

# experiments NAME ORDER OPTIONS : two equal arms, in turn reading and writing
experiments()
{
	local i work_of
	{
		say 'SET client_min_messages = warning;'
		say "SET rtbench.pass_order = '$2';"
		for ((i = 1; i <= EXPERIMENTS; i++)); do
			((i % 2)) && work_of=$reading || work_of=$writing
			say "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', $work_of), rtbench.arm('b', $work_of)],
				setup => \$\$$setup\$\$, label => '$LABEL $1', $3);"
		done
	} >"$work/experiments.sql"
	sql_file "$work/experiments.sql"
}

# figures NAME : experiments, with an interval, wrong, refused by the control, median half-width in percent, seconds of one
figures()
{
	sql -F ' ' <<-SQL
		SELECT count(*), count(v.speedup_low), count(*) FILTER (WHERE v.speedup_low > 1 OR v.speedup_high < 1),
			count(*) FILTER (WHERE v.notes LIKE '%control failed%'),
			round((100 * percentile_cont(0.5) WITHIN GROUP (ORDER BY sqrt(v.speedup_high / v.speedup_low) - 1))::numeric, 1),
			round(avg(extract(epoch FROM r.finished_at - r.started_at)), 1)
		FROM rtbench.runs r, rtbench.result(r.run) v
		WHERE r.label = '$LABEL $1' AND v.arm = 'b'
	SQL
}

row='%-44s %11s %14s %6s %9s %8s %11s %8s\n'
head_of_rows() { printf "$row" '' experiments 'with interval' wrong coverage refused half-width seconds; }

# show TEXT NAME : a row of the table; sets n, intervals, wrong, refused
show()
{
	read -r n intervals wrong refused half seconds < <(figures "$2")
	printf "$row" "$1" "$n" "$intervals" "$wrong" \
		"$(awk "BEGIN { if ($intervals) printf \"%.1f%%\", 100 * (1 - $wrong / $intervals) }")" "$refused" "$half %" "$seconds"
}

part_aa()
{
	say '' 'Equal arms: "wrong" is an interval at 99 % that leaves out 1, "refused" a control that failed'
	load_on
	experiments aa mirrored "max_time => '$AA_SECONDS s'"
	load_off
	head_of_rows
	show 'as usual: sessions, mirrored order, control' aa
	bound "equal arms: $wrong of $n wrong, at most 3 %" "$wrong <= 0.03 * $n"
	bound "equal arms: $((intervals + refused)) of $n have an interval or were refused, all must" "$intervals + $refused == $n"
}

part_teeth()
{
	say '' 'Equal arms in one session of 20 rounds: what the order does'
	load_on
	experiments blocks blocks "rounds => 20, control => false"
	experiments mirrored mirrored "rounds => 20, control => false"
	experiments caught blocks "rounds => 20"
	load_off
	head_of_rows
	show 'mirrored order, no control' mirrored
	show 'AAAA BBBB, no control' blocks
	bound "AAAA BBBB: $wrong of $n wrong, more than 3 % or the test proves nothing" "$wrong > 0.03 * $n"
	show "AAAA BBBB A'A'A'A', control" caught
}

# ---------------------------------------------------------------- unequal arms

part_power()
{
	local i
	say '' 'Arms that do 3 % and 1 % more (a loop of so many more turns)'
	{
		say 'SET client_min_messages = warning;'
		for ((i = 1; i <= POWER; i++)); do
			say "SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('base', 'SELECT spin(100000)'),
				rtbench.arm('more1', 'SELECT spin(101000)'), rtbench.arm('more3', 'SELECT spin(103000)')],
				setup => \$\$CREATE FUNCTION spin(n int) RETURNS int LANGUAGE plpgsql AS
					'DECLARE x int := 0; BEGIN FOR i IN 1 .. n LOOP x := i; END LOOP; RETURN 1; END'\$\$,
				label => '$LABEL power', max_time => '$POWER_SECONDS s');"
		done
	} >"$work/experiments.sql"
	sql_file "$work/experiments.sql"
	sql <<-SQL
		CREATE SCHEMA IF NOT EXISTS verdicts;
		-- sees: a difference of so much would have been seen 8 times in 10, as verdicts say; planned: so many units see 3 %,
		-- 12.3 (s/d)^2 + 5 by simulation of the signed-rank interval (12 (s/d)^2 of a mean), if they scatter normally
		CREATE TABLE verdicts.power AS
		WITH rounds AS (
			SELECT p.run, p.session, o.arm, ln(p.elapsed_ns::float8 / o.elapsed_ns) AS d, o.cpu_ns::float8 / p.cpu_ns AS more
			FROM rtbench.runs r JOIN rtbench.passes p USING (run) JOIN rtbench.passes o USING (run, session, round)
			WHERE r.label = '$LABEL power' AND p.kind IN ('timed', 'last') AND o.kind IN ('timed', 'last')
				AND p.arm = 'base' AND NOT p.control AND o.arm <> 'base'
		), sessions AS (
			SELECT run, arm, session, rtbench.hodges_lehmann(array_agg(d)) AS theta, rtbench.median(array_agg(more)) AS more
			FROM rounds GROUP BY run, arm, session
		), runs AS (
			SELECT run, arm, count(*) AS units, 1.4826 * rtbench.mad(array_agg(theta)) AS spread, stddev(theta) AS deviation,
				rtbench.median(array_agg(more)) AS more
			FROM sessions GROUP BY run, arm
		)
		SELECT r.*, v.verdict, v.speedup_high < 1 AS found, exp(1.33 * ln(v.speedup_high / v.speedup_low) / 2) - 1 AS sees,
			12.3 * (spread / ln(1.03)) ^ 2 + 5 AS planned
		FROM runs r, rtbench.result(r.run) v WHERE v.arm = r.arm;
	SQL
	sql -A -F ' | ' -P tuples_only=off -P footer=off <<-SQL
		SELECT arm, count(*) AS experiments, round((100 * (rtbench.median(array_agg(more)) - 1))::numeric, 2) || ' %' AS "more CPU time",
			round((100 * rtbench.median(array_agg(spread)))::numeric, 2) || ' %' AS "spread of units, by MAD",
			round((100 * rtbench.median(array_agg(deviation)))::numeric, 2) || ' %' AS "standard deviation",
			min(units) || ' to ' || max(units) AS units, count(*) FILTER (WHERE found) AS found,
			count(*) FILTER (WHERE sees <= 0.03) || ', ' || count(*) FILTER (WHERE sees <= 0.03 AND found) AS "sees 3 %, found",
			count(*) FILTER (WHERE units >= planned) || ', ' || count(*) FILTER (WHERE units >= planned AND found) AS "planned units, found",
			count(*) FILTER (WHERE verdict LIKE '%faster') AS "called faster", count(*) FILTER (WHERE verdict = 'not comparable') AS refused
		FROM verdicts.power GROUP BY arm ORDER BY arm DESC
	SQL
	read -r n found < <(sql -F ' ' -c "SELECT count(*), count(*) FILTER (WHERE found) FROM verdicts.power WHERE arm = 'more3' AND sees <= 0.03")
	bound "3 % more: found in $found of the $n experiments that say they would see it 8 times in 10, at least 80 %" "$n > 0 && $found >= 0.8 * $n"
	n=$(sql -c "SELECT count(*) FROM verdicts.power WHERE verdict LIKE '%faster'")
	bound "1 % or 3 % more: $n called faster" "$n == 0"
}

# ---------------------------------------------------------------- time to a verdict, beside pgbench

# an arm of delete_tree as a file for pgbench, over the fixture in schema verdicts
pgbench_file() # pgbench_file ARM
{
	{
		say 'BEGIN;'
		sql -c "SELECT coalesce(s.value ->> 'statement', s.value ->> 'text') || ';' FROM rtbench.arms a,
			jsonb_array_elements(a.document -> 'steps') WITH ORDINALITY s WHERE a.scenario = 'delete_tree' AND a.arm = '$1' ORDER BY s.ordinality"
		say 'ROLLBACK;'
	} >"$work/$1.sql"
}

make_time_fixture()
{
	sql <<-SQL
		SET client_min_messages = error;
		DROP SCHEMA IF EXISTS verdicts CASCADE;
		CREATE SCHEMA verdicts;
		SET search_path = verdicts;
		SELECT statement FROM rtbench.show_scenario('delete_tree', 1000) WHERE part = 'setup' ORDER BY step \gexec
		VACUUM ANALYZE;
	SQL
}

# pgbench_run ARM SECONDS : transactions, mean and standard deviation of their latencies in ms
pgbench_run()
{
	rm -f "$work"/log.*
	(cd "$work" && PGOPTIONS='-c search_path=verdicts' pgbench -n -c 1 -T "$2" -f "$1.sql" -l --log-prefix=log >/dev/null 2>&1)
	awk '{ x = $3 / 1000; n++; s += x; q += x * x } END { m = s / n; printf "%d %.6f %.6f\n", n, m, sqrt((q - n * m * m) / (n - 1)) }' "$work"/log.*
}

# time_to_verdict KIND : rows of the table; KIND is quiet or loaded
time_to_verdict()
{
	local i seconds half out=$work/$1
	: >"$out"
	[ "$1" = quiet ] || load_on
	for ((i = 1; i <= REPEATS; i++)); do
		cat >"$work/experiment.sql" <<-SQL
			SET client_min_messages = warning;
			SELECT count(*) FROM rtbench.compare((SELECT array_agg(a.document || jsonb_build_object('arm', name) ORDER BY name)
				FROM rtbench.arms a, unnest('{a,b}'::text[]) name WHERE scenario = 'delete_tree' AND arm = 'do_block'),
				setup => (SELECT setup FROM rtbench.scenario_definitions WHERE builtin AND name = 'delete_tree'),
				points => '{1000}', swept => 'blocks', parameters => '{"other_documents": 100, "blocks_of_others": 100}',
				label => '$LABEL $1 $i', max_time => '$TIME_SECONDS s');
		SQL
		sql_file "$work/experiment.sql"
		seconds=$(sql -c "SELECT round(extract(epoch FROM finished_at - started_at)) FROM rtbench.runs WHERE label = '$LABEL $1 $i'")
		half=$((seconds > 4 ? (seconds + 1) / 2 : 2))
		echo "$seconds $(pgbench_run do_block $half) $(pgbench_run do_block $half)" >>"$out"
	done
	load_off
	sql -F ' ' -c "SELECT count(*), count(*) FILTER (WHERE v.speedup_low > 1 OR v.speedup_high < 1),
		count(*) FILTER (WHERE sqrt(v.speedup_high / v.speedup_low) <= 1.02),
		round((100 * percentile_cont(0.5) WITHIN GROUP (ORDER BY sqrt(v.speedup_high / v.speedup_low) - 1))::numeric, 1),
		round((percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM r.finished_at - r.started_at)))::numeric, 1)
		FROM rtbench.runs r, rtbench.result(r.run) v WHERE r.label LIKE '$LABEL $1 %' AND v.arm = 'b'" >"$out.rtbench"
	# both means of pgbench: apart by more than 2.58 standard errors (99 %), and by more than 2 %
	awk '{ d = $3 - $6; se = sqrt($4 ^ 2 / $2 + $7 ^ 2 / $5); if (d < 0) d = -d; half[NR] = 2.5758 * se / $3
		if (d > 2.5758 * se) errors++; if (d > 0.02 * ($3 < $6 ? $3 : $6)) eye++ }
		END { for (i = 1; i <= NR; i++) for (j = i + 1; j <= NR; j++) if (half[j] < half[i]) { h = half[i]; half[i] = half[j]; half[j] = h }
			printf "%d %d %d %.1f\n", NR, errors, eye, 100 * half[int((NR + 1) / 2)] }' "$out" >"$out.pgbench"
}

part_time()
{
	local kind n wrong narrow half seconds errors eye all=0 line='| %s | %s | %s | %s | %s |\n'
	say '' 'Time to a verdict: delete_tree, 1,000 blocks, equal arms (do_block); pgbench runs A, then B, as long as rtbench took in all'
	make_time_fixture
	pgbench_file do_block
	time_to_verdict quiet
	time_to_verdict loaded
	say ''
	printf "$line" machine tool 'seconds, median' 'claims to be within' 'equal arms called different'
	say '|--|--|--|--|--|'
	for kind in quiet loaded; do
		read -r n wrong narrow half seconds <"$work/$kind.rtbench"
		all=$((all + wrong))
		printf "$line" "$kind" 'rtbench, interval at 99 %' "$seconds ($narrow of $n within 2 %)" "$half %" "$wrong of $n"
		read -r n errors eye half <"$work/$kind.pgbench"
		printf "$line" "$kind" 'pgbench A, then B: means 2.58 standard errors apart (99 %)' "$seconds" "$half %" "$errors of $n"
		printf "$line" "$kind" 'pgbench A, then B: means 2 % apart' "$seconds" '' "$eye of $n"
	done
	bound "time to a verdict: $all of $((2 * REPEATS)) of rtbench's verdicts wrong, at most 3 % and one" \
		"$all <= 1 + 0.03 * 2 * $REPEATS"
}

# ---------------------------------------------------------------- the main job

part_sweep()
{
	local seconds rows verdicts
	say '' "sweep('delete_tree') with defaults, beside a busy loop on every core"
	load_on steady
	echo "SELECT * FROM rtbench.sweep('delete_tree', label => '$LABEL sweep');" >"$work/sweep.sql"
	sql_file "$work/sweep.sql"
	load_off
	read -r seconds rows verdicts < <(sql -F ' ' -c "SELECT round(extract(epoch FROM max(r.finished_at - r.started_at)), 1), count(*),
			count(*) FILTER (WHERE v.verdict <> ALL ('{failed,more rounds needed}') AND (v.speedup_low IS NOT NULL OR v.arm = r.baseline))
		FROM rtbench.runs r, rtbench.result(r.run) v WHERE r.label = '$LABEL sweep'")
	sql -F ' | ' -A -P tuples_only=off -P footer=off -c "SELECT v.verdict, count(*), min(v.scope) AS scope, min(v.level) AS level,
			round((100 * percentile_cont(0.5) WITHIN GROUP (ORDER BY sqrt(v.speedup_high / v.speedup_low) - 1))::numeric, 1) AS \"half-width, %\"
		FROM rtbench.runs r, rtbench.result(r.run) v WHERE r.label = '$LABEL sweep' GROUP BY v.verdict ORDER BY 1"
	bound "sweep: $seconds s, at most 72" "$seconds <= 72"
	bound "sweep: a verdict in $verdicts of $rows rows, in all 30" "$verdicts == 30"
}

# ---------------------------------------------------------------- all of it

# shellcheck disable=SC2086 # PARTS is a list
[ $# -gt 0 ] || set -- ${PARTS:-aa teeth power time sweep}
minutes=0
for part; do
	case $part in
		aa) seconds=$((EXPERIMENTS * (AA_SECONDS + 1))) ;;
		teeth) seconds=$((EXPERIMENTS * 3)) ;;
		power) seconds=$((POWER * (POWER_SECONDS + 1))) ;;
		time) seconds=$((REPEATS * TIME_SECONDS * 3)) ;;
		sweep) seconds=60 ;;
		*) say "no such part: $part"; exit 2 ;;
	esac
	minutes=$((minutes + seconds / 60 + 1))
done
say "$*: takes about $minutes minutes"
sql -c 'SET client_min_messages = warning' -c 'CREATE EXTENSION IF NOT EXISTS rtbench' || exit
for part; do "part_$part"; done
close
