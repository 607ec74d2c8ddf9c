#!/bin/bash
# commits.sh [SESSIONS [ROUNDS]]: what a transaction of an arm that commits costs, and the price of subtransactions beside pgbench's
#
# 1. A one-row INSERT that is committed, by worker, beside a procedure written by hand in C that runs a saved plan and calls SPI_commit()
#    (spi_loop/spi_loop.c), both arms of one run; the procedure takes counting off while it runs.  CPU time decides, wall time stands beside it.
#    Must reach: at most 1.05.
# 2. How many transactions a second fewer come through when each INSERT has a savepoint: by statement_rollback in a worker, where there is no
#    socket (the floor); the same with the socket's price for each round trip added (computed); by statement_rollback over a socket
#    (transport unix); and by pgbench -M prepared over the same socket, with and without in turn, several times.
#    Must reach: rtbench's interval over the socket and that of pgbench's runs overlap.
# synchronous_commit is off: disks are not what is compared.

. "$(dirname "$0")/common.bash"
sessions=${1:-12} rounds=${2:-8} n=10 turns=6 seconds=2
extension
spi_loop
export PGOPTIONS="$PGOPTIONS -c synchronous_commit=off"

# ---- 1 ----

sql -v rounds="$rounds" -v sessions="$sessions" <<'SQL' || exit
SET client_min_messages = warning;
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('by_hand', steps => ARRAY['CALL bench.commit_loop(''SELECT id FROM keys'', ''INSERT INTO t VALUES ($1, 1)'')'], ending => 'autocommit'),
	rtbench.arm('commit_every', steps => ARRAY[rtbench.foreach('SELECT id FROM keys', ARRAY['INSERT INTO t VALUES ($1, 1)'], commit_every => 1)], ending => 'commit'),
	rtbench.arm('autocommit', steps => ARRAY[rtbench.foreach('SELECT id FROM keys', 'INSERT INTO t VALUES ($1, 1)')], ending => 'autocommit')],
	setup => 'CREATE TABLE keys AS SELECT id FROM generate_series(1, 4000) id; CREATE TABLE t (id int PRIMARY KEY, n int NOT NULL)',
	check_query => 'SELECT * FROM t', rounds => :rounds, sessions => :sessions, max_time => '10 min');
SQL
sql -F $'\t' <<'SQL' | reports
SELECT format('committed INSERT %-12s / by hand  %s [%s, %s]   wall %s [%s, %s]   %s us each   at most 1.05', arm,
		round(1 / cpu_speedup, 3), round(1 / cpu_speedup_high, 3), round(1 / cpu_speedup_low, 3),
		round(1 / speedup, 3), round(1 / speedup_high, 3), round(1 / speedup_low, 3), round(cpu_ms * 1000 / 4000, 2)),
	1 / cpu_speedup <= 1.05 AND verdict NOT IN ('failed', 'not comparable')
FROM rtbench.result() WHERE arm <> 'by_hand';
SQL

# ---- 2 ----

# scenario TRANSPORT : prints the run's id
scenario()
{
	sql -v transport="$1" -v n="$n" <<'SQL'
SET client_min_messages = error;
CALL rtbench.run_sweep('statement_rollback', points => ARRAY[:n], parameters => '{"transactions": 200}', arms => '{transaction,savepoint}',
	transport => :'transport', sessions => 12, rounds => 4, max_time => '5 min');
SELECT max(run) FROM rtbench.runs;
SQL
}
worker=$(scenario worker) && socket=$(scenario unix) || exit

W=$(mktemp -d) || exit
trap 'rm -rf "$W"' EXIT
sql -c 'CREATE TABLE entries (id int PRIMARY KEY, v int NOT NULL)' || exit
{
	echo 'BEGIN;'
	for ((i = 0; i < n; i++)); do printf '\\set i :i + 1\nINSERT INTO entries VALUES (:i, :i);\n'; done
	echo 'COMMIT;'
} >"$W/transaction.sql"
sed 's/^INSERT.*/SAVEPOINT s;\n&\nRELEASE SAVEPOINT s;/' "$W/transaction.sql" >"$W/savepoint.sql"

tps() # tps SCRIPT
{
	sql -c 'TRUNCATE entries' && pgbench -n -M prepared -D i=0 -T "$seconds" -f "$W/$1.sql" 2>/dev/null | sed -n 's/^tps = \([0-9.]*\).*/\1/p'
}
ratios=''
for ((turn = 0; turn < turns; turn++)); do
	if ((turn % 2)); then b=$(tps savepoint) a=$(tps transaction); else a=$(tps transaction) b=$(tps savepoint); fi
	ratios+="${ratios:+,}$b/$a"
done

sql -F $'\t' -v worker="$worker" -v socket="$socket" -v n="$n" <<SQL | reports
WITH w AS (SELECT *, median_ms * 1000 / transactions AS us FROM rtbench.result(:worker)), u AS (SELECT * FROM rtbench.result(:socket)),
	-- an empty statement by each way: the difference is the socket
	price AS (SELECT (max(microseconds) FILTER (WHERE transport = 'unix') - max(microseconds) FILTER (WHERE transport = 'worker'))::numeric AS us
		FROM rtbench.price_list(transports => '{worker,unix}') WHERE statement = 'empty' AND protocol IN ('saved plan', 'prepared')),
	p AS (SELECT array_agg(r ORDER BY r) AS ratios, exp(avg(ln(r))) AS ratio, exp(stddev(ln(r)) / sqrt(count(*)::numeric) * 4) AS within FROM unnest(ARRAY[$ratios]::numeric[]) r)
SELECT line, ok FROM (
	SELECT 1 AS i, format('%s INSERTs with savepoints, worker: %s%% fewer transactions [%s, %s], the floor', :n, decrease_percent, decrease_low, decrease_high) AS line, NULL::boolean AS ok FROM w WHERE arm = 'savepoint'
	UNION ALL
	SELECT 2, format('the same with %s us for each round trip added: %s%% (computed)', round(price.us, 1),
		round(100 * (1 - (a.us + price.us * a.round_trips / a.transactions) / (b.us + price.us * b.round_trips / b.transactions)), 1)), NULL
	FROM w a, w b, price WHERE a.arm = 'transaction' AND b.arm = 'savepoint'
	UNION ALL
	SELECT 3, format('over a socket: rtbench %s%% [%s, %s], pgbench %s%% [%s, %s] in %s turns   must overlap', u.decrease_percent, u.decrease_low, u.decrease_high,
			round(100 * (1 - p.ratio), 1), round(100 * (1 - p.ratio * p.within), 1), round(100 * (1 - p.ratio / p.within), 1), array_length(p.ratios, 1)),
		u.decrease_low <= 100 * (1 - p.ratio / p.within) AND u.decrease_high >= 100 * (1 - p.ratio * p.within)
	FROM u, p WHERE u.arm = 'savepoint') lines ORDER BY i;
SQL
close
