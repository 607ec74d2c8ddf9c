#!/bin/bash
# connections.sh [PAIRS [STATEMENTS]]: what a statement costs over rtbench's connections, beside pgbench -c 1 with the same protocol
#
# Both send the same statements, each in a transaction of its own, by the same protocol, over a new connection each time, in turn.
# pgbench is the client that is written for nothing else; rtbench's is a backend, which must stay interruptible.  The keys are
# constants of pgbench's (a counter would cost it time), numbers that count up of rtbench's.  Statements of one batch by pipeline
# are one transaction.  Server and clients are bound to one core: where the kernel puts two processes is a factor of two, and no
# property of either client.
#
# A ratio is rtbench's time over pgbench's; the interval is 99.8 %, of PAIRS pairs, as there are many of them.  On a busy machine that interval is
# wide; what the client itself takes, its processor's time, stands beside it, pgbench's as far as milliseconds of a whole run tell.
# Must reach: 1.00 lies in the interval, or above it.
# A simulated round trip's mean must be within 1 % or 5 us of what was asked: the median of five means.

. "$(dirname "$0")/common.bash"
pairs=${1:-20} statements=${2:-3000}
work=$(mktemp -d) || exit
bouncer=''
end()
{
	[ -z "$bouncer" ] || kill -INT "$bouncer" 2>/dev/null
	rm -rf "$work"
}
trap end EXIT

# where the kernel puts it: on one core with others nobody wakes in time
extension
sql -F $'\t' <<'SQL' | reports
SELECT format('a simulated round trip of %s ms: %s ms   within 1 %% or 5 us', d, round(mean::numeric, 4)), abs(mean - d) <= greatest(0.01 * d, 0.005)
FROM (SELECT d, rtbench.median(array_agg(a.delivered_ms)) AS mean
	FROM generate_series(1, 5), unnest(ARRAY[0.2, 1, 2.9]) d, rtbench.ask('SELECT 1', times => 300, round_trip_ms => d) a GROUP BY d) m ORDER BY d;
SQL

# by TCP too, and on one core
one_core "$work" 'synchronous_commit = off'
extension
sql <<'SQL' || exit
CREATE TABLE t (id bigint PRIMARY KEY, v text NOT NULL);
INSERT INTO t SELECT g, 'twenty or so letters' FROM generate_series(1, 100000) g;
CREATE TABLE taken (id bigint, v text);
CREATE UNLOGGED TABLE measured (n serial, what text, client text, us float8, cpu float8);
VACUUM ANALYZE t;
SQL

# pgbench_once TRANSACTIONS : microseconds of a statement, and pgbench's own processor time in all; as measure has set things up
pgbench_once()
{
	local TIMEFORMAT='%U %S' us
	us=$({ time PGOPTIONS='' pgbench -n -c 1 -M "$theirs" -f "$work/script" -t "$1" -D n=5 -h "$host" -p "$port" "$db" 2>&1 |
		awk -v per="$per" '/^tps/ { print 1e6 / $3 / per }'; } 2>"$work/time")
	echo "$us $(awk '{ print ($1 + $2) * 1e6 }' "$work/time")"
}

theirs_once()
{
	local us cpu started
	# what it costs to start and connect
	read -r _ started < <(pgbench_once 1)
	read -r us cpu < <(pgbench_once $((statements / per)))
	sql -c "INSERT INTO bench.measured (what, client, us, cpu) VALUES ('$what', 'pgbench', $us, ($cpu - $started) / $statements)" || exit
}

# measure NAME TRANSPORT PROTOCOL STATEMENT : in turn, into table measured
measure()
{
	local what="$2 $3 $1" host=$PGHOST port=$PGPORT where="transport => '$2'" db=postgres mine=$3 theirs=$3 per=1 i
	case $2 in
		tcp) host=127.0.0.1 ;;
		pooler) host=127.0.0.1 port=$bouncer_port where="server => 'pooler'" db=pooled ;;
	esac
	printf '%s;\n' "${4//:n/:n::bigint}" >"$work/script"
	if [ "$3" = pipeline ]; then
		theirs=prepared per=100
		{ printf '%s\n' '\startpipeline'; for ((i = 0; i < 100; i++)); do cat "$work/script"; done; printf '%s\n' '\endpipeline'; } >"$work/pipeline"
		mv "$work/pipeline" "$work/script"
	fi
	for ((i = 0; i < pairs; i++)); do
		# whoever came second comes first in the next pair
		[ $((i % 2)) = 0 ] || theirs_once
		sql -c "INSERT INTO bench.measured (what, client, us, cpu) SELECT '$what', 'rtbench', microseconds, cpu_microseconds FROM rtbench.ask('${4//:n/:n::bigint}',
			$where, protocol => '$mine', times => $statements, batch => 100, transaction => false)" || exit
		[ $((i % 2)) = 1 ] || theirs_once
	done
}

measure_three() # measure_three TRANSPORT PROTOCOL
{
	measure SELECT "$1" "$2" 'SELECT v FROM bench.t WHERE id = :n'
	measure INSERT "$1" "$2" "INSERT INTO bench.taken VALUES (:n, \$\$letters\$\$)"
	measure DELETE "$1" "$2" 'DELETE FROM bench.t WHERE id = -:n'
}

for transport in unix tcp; do
	for protocol in simple extended prepared pipeline; do
		measure_three $transport $protocol
	done
done

if pooler "$work"; then
	for protocol in simple extended prepared; do
		measure_three pooler $protocol
	done
else
	report 'no pgbouncer here: nothing of it is measured' ''
fi

echo "$pairs pairs, $statements statements each"
sql -F $'\t' <<'SQL' | reports
WITH pair AS (
	SELECT what, client, us, cpu, row_number() OVER (PARTITION BY what, client ORDER BY n) AS i FROM bench.measured
), ratio AS (
	SELECT what, array_agg(ln(r.us / p.us)) AS logs, rtbench.median(array_agg(r.us)) AS mine, rtbench.median(array_agg(p.us)) AS theirs,
		rtbench.median(array_agg(r.cpu)) AS cpu_mine, rtbench.median(array_agg(p.cpu)) AS cpu_theirs
	FROM pair r JOIN pair p USING (what, i) WHERE r.client = 'rtbench' AND p.client = 'pgbench' GROUP BY what
)
SELECT format('%-24s %s us   pgbench %s us   ratio %s [%s, %s]   the client itself %s us   pgbench %s us', what, to_char(mine, '990.00'), to_char(theirs, '990.00'),
		to_char(exp(rtbench.hodges_lehmann(logs)), 'FM0.000'), to_char(exp(i.low), 'FM0.000'), to_char(exp(i.high), 'FM0.000'),
		to_char(cpu_mine, '990.00'), to_char(cpu_theirs, '990.00')),
	i.low <= 0
FROM ratio, rtbench.signed_rank_interval(logs, 0.998) i ORDER BY what;
SQL
close
