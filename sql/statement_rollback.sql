-- The built-in scenario statement_rollback: what each kind of work sends, in how many transactions, and that the arms leave the same rows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
SELECT part, step, statement FROM rtbench.show_scenario('statement_rollback', 10) WHERE part LIKE 'arm %';
CALL rtbench.run_sweep('statement_rollback', points => '{1,10,64,65}', parameters => '{"rows": 260, "transactions": 4}', rounds => 2);
SELECT point, arm, round_trips, statements, rows, transactions, xids, subxact_overflowed AS overflowed, tps > 0 AS tps, commit_ms > 0 AS commit_ms, digest = first_value(digest) OVER (PARTITION BY point) AS same_rows
FROM rtbench.result();
CALL rtbench.run_sweep('statement_rollback', points => '{15}', parameters => '{"rows": 30, "work": "hot_update"}', rounds => 2);
SELECT point, arm, statements, rows, transactions, xids, hot_percent, digest = first_value(digest) OVER () AS same_rows FROM rtbench.result();
CALL rtbench.run_sweep('statement_rollback', points => '{15}', parameters => '{"rows": 30, "work": "update"}', rounds => 2);
SELECT point, arm, statements, rows, transactions, xids, hot_percent, digest = first_value(digest) OVER () AS same_rows FROM rtbench.result();
CALL rtbench.run_sweep('statement_rollback', points => '{15}', parameters => '{"rows": 30, "work": "select"}', rounds => 2);
SELECT point, arm, statements, rows, transactions, xids, hot_percent, digest = first_value(digest) OVER () AS same_rows FROM rtbench.result();
-- mixed: 5 writes and 10 reads in each transaction
CALL rtbench.run_sweep('statement_rollback', points => '{15}', parameters => '{"rows": 30, "work": "mixed"}', rounds => 2);
SELECT point, arm, statements, rows, transactions, xids, hot_percent, digest = first_value(digest) OVER () AS same_rows FROM rtbench.result();
-- more statements than rows: one transaction
CALL rtbench.run_sweep('statement_rollback', points => '{300}', parameters => '{"rows": 10}', arms => '{transaction,statement}', rounds => 2);
SELECT point, arm, statements, transactions, xids FROM rtbench.result();
-- refused
SELECT rtbench.sweep('statement_rollback');
CALL rtbench.run_sweep('statement_rollback', parameters => '{"work": "delete"}');
CALL rtbench.run_sweep('statement_rollback', parameters => '{"work": ["insert"]}');
CALL rtbench.run_sweep('statement_rollback', points => '{0}');
--
-- steps under a condition
--
SELECT rtbench.foreach('SELECT 1, true', rtbench.step('SELECT 1', only_if => '$2'), rtbench.step('SELECT 2', only_if => '{"kind": ["a", "b"], "$2": true}'));
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('odd', rtbench.foreach('SELECT g, g % 2 = 1, NULL::boolean FROM generate_series(1, 9) g', rtbench.step('INSERT INTO t VALUES ($1)', only_if => '$2'), rtbench.step('INSERT INTO t VALUES (-1)', only_if => '$3'))),
	rtbench.arm('by_kind', rtbench.step('INSERT INTO t SELECT generate_series(1, 9, 2)', only_if => '{"kind": "a"}'), rtbench.step('INSERT INTO t SELECT 1', only_if => '{"kind": 5}'))],
	setup => 'CREATE TABLE t (i int)', parameters => '{"kind": "a"}', rounds => 2);
SELECT arm, statements, rows FROM rtbench.result();
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', rtbench.foreach('SELECT 1, 2', rtbench.step('SELECT $1::int', only_if => '$2')))], rounds => 2);
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', rtbench.foreach('SELECT 1, true', rtbench.step('SELECT $1::int', only_if => '$3')))], rounds => 2);
SELECT rtbench.arm('a', rtbench.step('SELECT 1', only_if => '$1'));
SELECT rtbench.step('SELECT 1', only_if => 'work = insert');
SELECT rtbench.step('SELECT 1', only_if => '{}');
SELECT rtbench.step('SELECT 1', only_if => '{"work": {"a": 1}}');
SELECT rtbench.step('SELECT 1', only_if => '{"work": []}');
SELECT rtbench.step('SELECT 1', only_if => '{"work": null}');
SELECT rtbench.step('SELECT 1', only_if => '{"$1": false}');
SELECT rtbench.step('SELECT 1', only_if => '{"x''y": 1}');
\set VERBOSITY terse
SELECT rtbench.step('SELECT 1', only_if => '{"work": "a"}, "plans": "kept"');
\set VERBOSITY default
SELECT rtbench.compare(ARRAY[rtbench.arm('a', rtbench.step('SELECT 1', only_if => '{"unknown": "x"}'))]);
