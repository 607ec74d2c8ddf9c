-- The built-in scenario procedure_vs_statements: what its arms send, that they leave the same rows whatever the parameters, and the tables of both built-in scenarios that commit.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
SELECT part, step, statement FROM rtbench.show_scenario('procedure_vs_statements', 10) WHERE part LIKE 'arm %';
CREATE VIEW figures AS
	SELECT point, arm, round_trips, statements, rows, transactions, xids, digest = first_value(digest) OVER (PARTITION BY point) AS same_rows,
		   verdict <> ALL ('{failed,not comparable}') AS comparable
	FROM rtbench.result();
CALL rtbench.run_sweep('procedure_vs_statements', points => '{1,10}', parameters => '{"rows": 40}', rounds => 2);
SELECT * FROM figures;
SELECT DISTINCT notes ~ 'no socket: .* floor' AS floor_told FROM rtbench.result();
-- times of single executions: the first three beside all but the first, and what was parsed
SELECT arm, step, calls, first_us > 0 AS first, second_us > 0 AS second, third_us > 0 AS third, later_us > 0 AS later, prepare_us > 0 AS prepare, prepare_us < first_us AS a_part
FROM rtbench.step_result() WHERE point = 10;
-- keys made by the client, by the server; no payload at all; more rows than there are in a batch
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20, "key": "client_uuid", "columns": 0}', rounds => 2);
SELECT * FROM figures;
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20, "key": "server_uuid", "columns": 0}', rounds => 2);
SELECT * FROM figures;
CALL rtbench.run_sweep('procedure_vs_statements', points => '{50}', parameters => '{"rows": 20, "key": "server_uuid", "columns": 9, "unique": "yes", "constraints": "yes"}', rounds => 2);
SELECT * FROM figures;
SELECT statement FROM rtbench.step_result() WHERE arm IN ('sql', 'proc') AND step = 2;
-- by the number of payload columns
CALL rtbench.run_sweep('procedure_vs_statements', swept => 'columns', points => '{0,2,9}', parameters => '{"rows": 20, "statements": 10, "key": "client_uuid", "constraints": "yes", "unique": "yes"}', rounds => 2);
SELECT point, arm, round_trips, statements, same_rows, comparable FROM figures;
-- arguments as literals, with a cast or without: parsed for every call
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20, "sent": "text"}', arms => '{sql,proc,function}', rounds => 2);
SELECT * FROM figures;
SELECT arm, step, calls, statement, prepare_us IS NOT NULL AS parsed FROM rtbench.step_result() WHERE arm <> 'sql';
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20, "sent": "text", "cast": "implicit", "key": "client_uuid"}', rounds => 2);
SELECT * FROM figures;
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20, "cast": "implicit"}', rounds => 2);
SELECT arm, statement FROM rtbench.step_result() WHERE arm IN ('proc', 'function') AND step = 2;
SELECT catalog_reads IS NOT NULL AS catalog_reads FROM rtbench.result();
-- the same over a connection, unchanged: the same rows as by a worker, and the round trips that a client makes
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20}', rounds => 2);
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20}', rounds => 2, transport => 'unix');
SELECT c.arm, c.round_trips, c.statements, c.rows, c.transactions, c.digest = w.digest AS same_rows, c.verdict IN ('failed', 'not comparable') AS wrong
FROM rtbench.result() c JOIN rtbench.result((SELECT max(run) - 1 FROM rtbench.runs)) w USING (arm);
SELECT arm, first_us > 0 AS first, second_us > 0 AS second, third_us > 0 AS third, later_us > 0 AS later FROM rtbench.procedure_vs_statements_table();
-- one call for each of the two tables
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20, "cast": "implicit"}', rounds => 2);
SELECT point, arm, round_trips, mean_s > 0 AS mean, stddev_s IS NOT NULL AS stddev, median_s > 0 AS median, speedup > 0 AS speedup, us_per_statement > 0 AS us, first_us > 0 AS first, second_us > 0 AS second, third_us > 0 AS third, later_us > 0 AS later, prepare_us > 0 AS prepare, catalog_reads IS NOT NULL AS catalog_reads
FROM rtbench.procedure_vs_statements_table();
CALL rtbench.run_sweep('statement_rollback', points => '{10,65}', parameters => '{"transactions": 2, "work": "hot_update"}', rounds => 2);
SELECT statements, arm, tps_without > 0 AS without, tps_with > 0 AS "with", tps_stddev IS NOT NULL AS stddev, decrease_percent IS NOT NULL AS decrease, commit_percent > 0 AS commits, xids_per_transaction, overflowed, hot_percent
FROM rtbench.statement_rollback_table();
-- what fails in one batch of many: a duplicate key after some rounds, with its round
CREATE SEQUENCE batches;
\set VERBOSITY terse
SELECT arm, verdict FROM rtbench.compare(ARRAY[
		rtbench.arm('sql', 'INSERT INTO t VALUES (1)'),
		rtbench.arm('seventh', 'INSERT INTO t SELECT CASE nextval(''public.batches'') WHEN 7 THEN 0 ELSE 1 END')],
	setup => 'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (0)', check_query => 'SELECT * FROM t', rounds => 8, control => false, seed => 1);
SELECT sqlstate, kind, session, round > 0 AS round FROM rtbench.passes WHERE run = (SELECT max(run) FROM rtbench.runs) AND sqlstate IS NOT NULL;
SELECT regexp_replace(notes, 'in round \d+ of session \d+.*', 'in round N of session N') AS reason FROM rtbench.result() WHERE arm = 'seventh';
CALL rtbench.run_compare(ARRAY[
		rtbench.arm('sql', steps => ARRAY[rtbench.foreach('SELECT g % 95 FROM generate_series(1, 100) g', ARRAY['INSERT INTO t VALUES ($1)'], commit_every => 10)], ending => 'commit'),
		rtbench.arm('set', steps => ARRAY['INSERT INTO t SELECT g FROM generate_series(1, 100) g'], ending => 'commit')],
	setup => 'CREATE TABLE t (id int PRIMARY KEY)', rounds => 2);
SELECT arm, transactions, verdict, substring(notes FROM '^[^;]*') AS reason FROM rtbench.result();
DROP SEQUENCE batches;
-- refused
\set VERBOSITY default
SELECT rtbench.sweep('procedure_vs_statements');
CALL rtbench.run_sweep('procedure_vs_statements', parameters => '{"key": "serial"}');
CALL rtbench.run_sweep('procedure_vs_statements', parameters => '{"columns": 10}');
CALL rtbench.run_sweep('procedure_vs_statements', parameters => '{"cast": "maybe"}');
\set VERBOSITY terse
CALL rtbench.run_sweep('procedure_vs_statements', points => '{1}', parameters => '{"unique": "both", "rows": 10}');
CALL rtbench.run_sweep('procedure_vs_statements', points => '{0}', parameters => '{"rows": 10}');
CALL rtbench.run_sweep('procedure_vs_statements', swept => 'columns', points => '{1}');
SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
DROP VIEW figures;
