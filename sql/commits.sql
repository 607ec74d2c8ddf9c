-- Arms that commit: their transactions, what is counted, the fixture rebuilt, and what is refused.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
-- the forms: a loop that commits after every so many rows, a whole pass, every message by itself
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('every_10', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 100)', ARRAY['INSERT INTO t VALUES ($1)'], commit_every => 10)], ending => 'commit'),
	rtbench.arm('every_30', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 100)', ARRAY['INSERT INTO t VALUES ($1)'], commit_every => 30)], ending => 'commit'),
	rtbench.arm('at_the_end', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 100)', 'INSERT INTO t VALUES ($1)')], ending => 'commit'),
	rtbench.arm('each', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 100)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit'),
	rtbench.arm('internal', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 100)', ARRAY[rtbench.step('INSERT INTO t VALUES ($1)', subtransaction => 'internal')], commit_every => 100)], ending => 'commit'),
	rtbench.arm('savepoint', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 100)', ARRAY[rtbench.step('INSERT INTO t VALUES ($1)', subtransaction => 'savepoint')], commit_every => 100)], ending => 'commit'),
	rtbench.arm('sent_savepoints', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 100)', ARRAY['SAVEPOINT s', 'INSERT INTO t VALUES ($1)', 'RELEASE s'], commit_every => 100)], ending => 'commit'),
	rtbench.arm('rolled_back', rtbench.foreach('SELECT generate_series(1, 100)', 'INSERT INTO t VALUES ($1)')),
	rtbench.arm('one_text', steps => ARRAY['INSERT INTO t SELECT generate_series(1, 50); INSERT INTO t SELECT generate_series(51, 100)'], ending => 'commit')],
	setup => 'CREATE TABLE t (id int PRIMARY KEY)', rounds => 2);
SELECT arm, round_trips, statements, rows, transactions, xids, subxact_overflowed AS overflowed, tps IS NOT NULL AS tps, commit_ms IS NOT NULL AS commit_ms,
	digest = first_value(digest) OVER () AS same_rows, verdict
FROM rtbench.result();
SELECT r.commit_ms < r.mean_ms AS a_part, abs(r.tps / avg(p.transactions * 1e9 / p.elapsed_ns) - 1) < 0.6 AS tps_is_transactions_over_time
FROM rtbench.result() r JOIN rtbench.passes p USING (run, arm) WHERE r.arm = 'every_10' AND p.kind IN ('timed', 'last') AND NOT p.control GROUP BY r.commit_ms, r.mean_ms, r.tps;
SELECT r.settings ? 'synchronous_commit' AND r.settings ? 'fsync' AS shown, n.notes ~ 'synchronous_commit = ' AS noted
FROM rtbench.runs r, rtbench.result(r.run) n WHERE r.run = (SELECT max(run) FROM rtbench.runs) AND n.arm = 'each';
-- procedures and DO blocks that commit inside, with parameters, sent as texts, and with a result
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('sent', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 90)', ARRAY['INSERT INTO t VALUES ($1)'], commit_every => 9)], ending => 'commit'),
	rtbench.arm('procedure', steps => ARRAY['CALL fill(1, 90)'], ending => 'autocommit'),
	rtbench.arm('in_a_loop', steps => ARRAY[rtbench.foreach('VALUES (1, 45), (46, 90)', 'CALL fill($1, $2)')], ending => 'autocommit'),
	rtbench.arm('generated', steps => ARRAY[rtbench.generated($$SELECT format('CALL fill(%s, %s)', g, g + 44) FROM generate_series(1, 90, 45) g$$)], ending => 'autocommit'),
	rtbench.arm('do_block', steps => ARRAY['DO $$ BEGIN FOR i IN 1 .. 90 LOOP INSERT INTO t VALUES (i); IF i % 9 = 0 THEN COMMIT; END IF; END LOOP; END $$'], ending => 'autocommit')],
	setup => 'CREATE TABLE t (id int PRIMARY KEY); CREATE PROCEDURE fill(a int, b int, INOUT filled int DEFAULT NULL) LANGUAGE plpgsql AS
		''BEGIN FOR i IN a .. b LOOP INSERT INTO t VALUES (i); IF i % 9 = 0 THEN COMMIT; END IF; END LOOP; filled := b - a + 1; END''', rounds => 2);
SELECT arm, round_trips, statements, transactions, xids, digest = first_value(digest) OVER () AS same_rows, verdict <> ALL ('{failed,not comparable}') AS comparable
FROM rtbench.result();
-- a DO block that commits is an arm's own failure where the pass is rolled back
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', 'DO $$ BEGIN COMMIT; END $$'), rtbench.arm('b', 'SELECT 1')], rounds => 2) WHERE arm = 'a';
-- sequences, generated keys and settings: every pass starts from the same state, and nothing stays in the session
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('a', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', ARRAY['INSERT INTO t (v) VALUES ($1)'], commit_every => 3)], ending => 'commit'),
	rtbench.arm('leaves', steps => ARRAY['SET work_mem = ''5MB''; SET ROLE pg_read_all_data; RESET ROLE; CREATE TEMP TABLE scratch_of_mine (i int); PREPARE p AS SELECT 1; SELECT pg_advisory_lock(7)',
		'INSERT INTO t (v) SELECT generate_series(1, 20)'], ending => 'autocommit')],
	setup => 'CREATE TABLE t (id serial PRIMARY KEY, v int)', rounds => 2);
SELECT arm, verdict, notes ~ 'advisory lock' AS lock_told FROM rtbench.result();
-- types that the setup makes have other OIDs each time it is built
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('sent', steps => ARRAY[rtbench.foreach('SELECT g, ''x'' FROM generate_series(1, 20) g', 'INSERT INTO t VALUES ($1, $2)')], ending => 'commit'),
	rtbench.arm('array', steps => ARRAY[rtbench.foreach('SELECT array_agg(ROW(g, ''x'')::item) FROM generate_series(1, 20) g', 'CALL fill($1)')], ending => 'autocommit'),
	rtbench.arm('rolled_back', rtbench.foreach('SELECT array_agg(ROW(g, ''x'')::item) FROM generate_series(1, 20) g', 'CALL fill($1)'))],
	setup => 'CREATE TYPE item AS (a int, b text); CREATE TABLE t OF item; CREATE PROCEDURE fill(items item[]) BEGIN ATOMIC INSERT INTO t SELECT * FROM unnest(items); END', rounds => 2);
SELECT arm, rows, digest = first_value(digest) OVER () AS same_rows, notes ~ 'cache lookup' AS lost FROM rtbench.result();
-- tables that an arm makes and commits are compared, and gone in the next pass
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('a', steps => ARRAY['CREATE TABLE made AS SELECT generate_series(1, 10) AS i'], ending => 'commit'),
	rtbench.arm('b', steps => ARRAY['CREATE TABLE made (i int)', 'INSERT INTO made SELECT generate_series(1, 10)'], ending => 'commit'),
	rtbench.arm('c', steps => ARRAY['CREATE TABLE made (i int)', 'INSERT INTO made SELECT generate_series(1, 11)'], ending => 'commit')],
	setup => 'CREATE TABLE t (id int)', rounds => 2);
SELECT arm, checked, verdict, substring(notes FROM 'rows only in c: [^;]*') AS alone FROM rtbench.result();
-- HOT updates, and updates that are none
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('hot', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', ARRAY['UPDATE t SET v = v + 1 WHERE id = $1'], commit_every => 5)], ending => 'commit'),
	rtbench.arm('rolled_back', rtbench.foreach('SELECT generate_series(1, 20)', 'UPDATE t SET v = v + 1 WHERE id = $1')),
	rtbench.arm('indexed', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', ARRAY['UPDATE t SET k = k WHERE id = $1', 'UPDATE t SET v = v + 1, k = -k WHERE id = $1', 'UPDATE t SET k = -k WHERE id = $1'], commit_every => 5)], ending => 'commit'),
	rtbench.arm('reads', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', ARRAY['SELECT v FROM t WHERE id = $1'], commit_every => 5)], ending => 'commit')],
	setup => 'CREATE TABLE t (id int PRIMARY KEY, v int, k int) WITH (fillfactor = 50); INSERT INTO t SELECT i, 0, i FROM generate_series(1, 20) i; CREATE INDEX ON t (k)', rounds => 2);
SELECT arm, transactions, xids, hot_percent FROM rtbench.result();
-- more subtransactions than other sessions can see: from the 65th on
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('sub', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', ARRAY[rtbench.step('INSERT INTO t VALUES ($1)', subtransaction => 'internal')], commit_every => ':n')], ending => 'commit')],
	setup => 'CREATE TABLE t (id int)', points => '{64,65}', rounds => 2);
SELECT point, transactions, xids, subxact_overflowed FROM rtbench.result();
--
-- refused, and nothing is left or changed
--
CREATE TABLE users_own (id int);
CREATE SEQUENCE users_sequence;
SELECT rtbench.compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit')], setup => 'CREATE TABLE t (id int)');
BEGIN;
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit')], setup => 'CREATE TABLE t (id int)');
ROLLBACK;
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO users_own VALUES (1)'], ending => 'commit')]);
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO public.users_own VALUES (1)'], ending => 'commit')], setup => 'CREATE TABLE t (id int)');
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['DO $$ BEGIN INSERT INTO public.users_own VALUES (1); COMMIT; END $$'], ending => 'autocommit')], setup => 'CREATE TABLE t (id int)');
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['CREATE TABLE public.made_by_arm (i int)'], ending => 'commit')], setup => 'CREATE TABLE t (id int)');
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['SELECT nextval(''users_sequence'')'], ending => 'commit')], setup => 'CREATE TABLE t (id int)');
SELECT count(*) FROM users_own;
SELECT to_regclass('public.made_by_arm');
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit')], setup => 'CREATE TABLE t (id int)', transport => 'caller');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SAVEPOINT s')], transport => 'caller');
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['UPDATE t SET v = 0'], ending => 'commit')], setup => 'CREATE TABLE t AS SELECT random() AS v', rounds => 2);
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit')], setup => 'CREATE TABLE t (i int, at timestamptz DEFAULT clock_timestamp()); INSERT INTO t VALUES (0)', rounds => 2, ignore_columns => '{at}');
SELECT arm, verdict FROM rtbench.last;
SELECT rtbench.foreach('SELECT 1', ARRAY['SELECT 1'], commit_every => 0);
SELECT rtbench.foreach('SELECT 1', ARRAY['SELECT 1'], commit_every => -5);
SELECT rtbench.foreach('SELECT 1', ARRAY['SELECT 1'], commit_every => 'ten');
SELECT rtbench.step('SELECT 1', subtransaction => 'nested');
SELECT rtbench.arm('a', rtbench.foreach('SELECT 1', ARRAY['SELECT 1'], commit_every => 5));
SELECT rtbench.arm('a', steps => ARRAY['SAVEPOINT s'], ending => 'autocommit');
SELECT rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)', 'COMMIT'], ending => 'commit');
SELECT rtbench.arm('a', steps => ARRAY['PREPARE TRANSACTION ''x'''], ending => 'commit');
SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
-- what a client does with an error: the savepoint alone is rolled back
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('kept', 'INSERT INTO t VALUES (1)', 'INSERT INTO t VALUES (3)'),
	rtbench.arm('undone', 'INSERT INTO t VALUES (1)', 'SAVEPOINT s', 'INSERT INTO t VALUES (2)', 'ROLLBACK TO s', 'INSERT INTO t VALUES (3)', 'RELEASE s'),
	rtbench.arm('internal', rtbench.foreach('VALUES (1), (3)', rtbench.step('INSERT INTO t VALUES ($1)', subtransaction => 'internal')))],
	setup => 'CREATE TABLE t (id int)', rounds => 2);
SELECT arm, statements, round_trips, rows, xids, digest = first_value(digest) OVER () AS same_rows FROM rtbench.result();
DROP TABLE users_own;
DROP SEQUENCE users_sequence;
-- what a scenario shows
SELECT rtbench.create_scenario('shown', 'CREATE TABLE t (id int)', swept => 'n', points => '{5}');
SELECT rtbench.add_arm('shown', rtbench.arm('a', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 10)',
	ARRAY[rtbench.step('INSERT INTO t VALUES ($1)', subtransaction => 'savepoint')], commit_every => ':n')], ending => 'commit'));
SELECT rtbench.add_arm('shown', rtbench.arm('b', steps => ARRAY[rtbench.foreach('SELECT 1', ARRAY['SELECT 1'], commit_every => ':m')], ending => 'commit'));
SELECT * FROM rtbench.show_scenario('shown', 7);
SELECT rtbench.drop_scenario('shown');
