-- Loads: what is counted, errors and retries, variants compared, and what is refused.  Booleans and counts only, never a time.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE TEMP VIEW left_over AS
	SELECT (SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%') AS schemas,
		(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'rtbench worker') AS workers,
		(SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype IN ('advisory', 'userlock')) AS locks;
\set accounts 'CREATE TABLE accounts (id int PRIMARY KEY, v float8) WITH (fillfactor = 50); INSERT INTO accounts SELECT g, g FROM generate_series(1, 100) g'
-- what groups are made of
SELECT rtbench.load_group('w', rtbench.arm('a', 'SELECT 1'), 2, rate => 12.5, parameters => '{"n": 1}', variant => 'v');
SELECT rtbench.load_group('w', 'an_arm');
-- groups side by side
CALL rtbench.run_load(ARRAY[
	rtbench.load_group('writers', rtbench.arm('insert', 'INSERT INTO inserted VALUES (random())'), 2),
	rtbench.load_group('readers', rtbench.arm('read', rtbench.foreach('SELECT 1 + (random() * 99)::int FROM generate_series(1, :reads)', 'SELECT v FROM accounts WHERE id = $1')),
		parameters => '{"reads": 15}'),
	rtbench.load_group('by_rate', rtbench.arm('update', 'UPDATE accounts SET v = v + 1 WHERE id = 1 + (random() * 99)::int'), rate => 50)],
	duration => '400 ms', warmup => '50 ms', setup => :'accounts' || '; CREATE TABLE inserted (v float8)', label => 'three groups');
SELECT group_name, variant, arm, sessions, windows, transactions > 0 AS transactions, tps > 0 AS tps, rate, lag_ms >= 0 AS lag, errors, retries, verdict, notes
FROM rtbench.load_result();
-- every transaction of the writers has an id, none of the readers'
SELECT group_name, xids = transactions AS as_transactions, xids > 0 AS some, subxact_overflowed FROM rtbench.load_result() WHERE rate IS NULL;
SELECT group_name, 0 < p50_ms AND p50_ms <= p95_ms AND p95_ms <= p99_ms AND p99_ms <= max_ms AS in_order, mean_ms BETWEEN 0 AND max_ms AS mean, stddev_ms >= 0 AS stddev,
	(SELECT abs(sum(w.value::text::numeric) - 1) < 0.01 FROM jsonb_each(waits) w) AS waits_are_shares
FROM rtbench.load_result();
-- a session that does not wait is in its transactions all of the time
SELECT group_name, mean_ms * tps / 1000 / sessions BETWEEN 0.5 AND 1.001 AS all_the_time FROM rtbench.load_result() WHERE rate IS NULL;
SELECT label, scenario, compared IS NULL AS nothing_compared, settings ? 'synchronous_commit' AND settings ? 'fsync' AS settings_kept, owner::text = current_user AS own, run = (SELECT max(run) FROM rtbench.loads)
FROM rtbench.loads WHERE run = (SELECT max(run) FROM rtbench.loads);
SELECT count(*), bool_and(transactions = (SELECT sum(c) FROM unnest(latency_counts) c)) AS histogram_is_whole FROM rtbench.load_windows WHERE run = (SELECT max(run) FROM rtbench.loads);
TABLE left_over;
-- subtransactions, and a session that has more of them than others can see
CALL rtbench.run_load(ARRAY[
	rtbench.load_group('few', rtbench.arm('few', rtbench.foreach('SELECT generate_series(1, 64)', rtbench.step('INSERT INTO t VALUES ($1)', subtransaction => 'internal')))),
	rtbench.load_group('many', rtbench.arm('many', rtbench.foreach('SELECT generate_series(1, 65)', rtbench.step('INSERT INTO t VALUES ($1)', subtransaction => 'internal')))),
	rtbench.load_group('each', rtbench.arm('each', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 5)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit'))],
	duration => '300 ms', warmup => '0', setup => 'CREATE TABLE t (i int)');
SELECT group_name, xids / transactions AS xids, xids % transactions AS rest, subxact_overflowed FROM rtbench.load_result();
-- errors: some transactions fail, are rolled back and counted, and the group goes on
CALL rtbench.run_load(ARRAY[rtbench.load_group('unlucky', rtbench.arm('divide', 'INSERT INTO t SELECT 1 / (random() * 3)::int'), 2)],
	duration => '300 ms', warmup => '0', setup => 'CREATE TABLE t (i int)');
SELECT transactions > 0 AS some, (SELECT array_agg(k) FROM jsonb_object_keys(errors) k) AS sqlstates, (errors ->> '22012')::int > 0 AS counted, xids = transactions AS ids,
	notes ~ '% of the transactions failed with 22012: division by zero' AS told
FROM rtbench.load_result();
-- conflicts: serializable is carried over, and tried again if that is asked for
SET default_transaction_isolation = 'serializable';
CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'UPDATE t SET v = v + 1', 'SELECT pg_sleep(0.002)'), 3)],
	duration => '500 ms', warmup => '0', setup => 'CREATE TABLE t (v int); INSERT INTO t VALUES (0)');
SELECT transactions > 0 AS some, errors ? '40001' AS conflicts, retries FROM rtbench.load_result();
CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', 'UPDATE t SET v = v + 1', 'SELECT pg_sleep(0.002)'), 3)],
	duration => '500 ms', warmup => '0', setup => 'CREATE TABLE t (v int); INSERT INTO t VALUES (0)', retry => true);
SELECT transactions > 0 AS some, coalesce((errors ->> '40001')::int, 0) <= 3 AS but_at_the_end, retries > 0 AS retries FROM rtbench.load_result();
RESET default_transaction_isolation;
-- what is in conflict for ever does not make the load endless
SET statement_timeout = '1min';
CALL rtbench.run_load(ARRAY[rtbench.load_group('never', rtbench.arm('a', $$DO 'BEGIN RAISE SQLSTATE ''40001''; END'$$)), rtbench.load_group('good', rtbench.arm('b', 'SELECT 1'))],
	duration => '200 ms', warmup => '100 ms', setup => 'CREATE TABLE t (v int)', retry => true);
SELECT group_name, transactions > 0 AS some, errors, retries > 0 AS retries FROM rtbench.load_result();
RESET statement_timeout;
SET deadlock_timeout = '5ms';
CALL rtbench.run_load(ARRAY[
	rtbench.load_group('up', rtbench.arm('up', 'UPDATE accounts SET v = 0 WHERE id = 1', 'SELECT pg_sleep(random() * 0.01)', 'UPDATE accounts SET v = 0 WHERE id = 2')),
	rtbench.load_group('down', rtbench.arm('down', 'UPDATE accounts SET v = 0 WHERE id = 2', 'SELECT pg_sleep(random() * 0.01)', 'UPDATE accounts SET v = 0 WHERE id = 1'))],
	duration => '1 s', warmup => '0', setup => :'accounts');
SELECT bool_or(errors ? '40P01') AS deadlocks, bool_and(transactions > 0) AS both_go_on FROM rtbench.load_result();
RESET deadlock_timeout;
-- what stands before an arm, once in each session
CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', steps => ARRAY['SELECT 1 / (current_setting(''work_mem'') = ''7MB'')::int'], before => 'SET work_mem = ''7MB'''))],
	duration => '100 ms', warmup => '0', setup => 'CREATE TABLE t (i int)');
SELECT transactions > 0 AS some, errors FROM rtbench.load_result();
-- variants of a group compared: one is ten times the work
CALL rtbench.run_load_compare(ARRAY[
	rtbench.load_group('readers', rtbench.arm('read', 'SELECT count(*) FROM accounts')),
	rtbench.load_group('writers', rtbench.arm('write', rtbench.foreach('SELECT generate_series(1, :n)', 'UPDATE accounts SET v = v + 1 WHERE id = $1')), parameters => '{"n": 5}', variant => 'small'),
	rtbench.load_group('writers', rtbench.arm('write', rtbench.foreach('SELECT generate_series(1, :n)', 'UPDATE accounts SET v = v + 1 WHERE id = $1')), parameters => '{"n": 50}', variant => 'large')],
	duration => '2 s', warmup => '100 ms', rounds => 8, setup => :'accounts');
SELECT group_name, variant, arm, windows, transactions > 0 AS some, tps_stddev IS NOT NULL AS deviation, comparisons,
	CASE WHEN verdict = 'not comparable' THEN num_nonnulls(speedup, speedup_low, decrease_percent, level) = 0
		WHEN variant = 'small' THEN verdict = 'baseline' AND speedup = 1
		WHEN group_name = 'writers' THEN (verdict = 'slower') = (speedup_high < 1 / 1.02) AND verdict IN ('slower', 'slightly slower', 'no difference detected') AND decrease_percent > 0 AND decrease_low <= decrease_percent AND decrease_percent <= decrease_high
		ELSE verdict IS NOT NULL END AS verdict_is_right
FROM rtbench.load_result();
SELECT count(*) AS rounds, bool_and(a.variants = (SELECT array_agg(v ORDER BY o DESC) FROM unnest(b.variants) WITH ORDINALITY u (v, o))) AS mirrored
FROM (SELECT round, array_agg(variant || control ORDER BY "position") AS variants FROM rtbench.load_windows WHERE run = (SELECT max(run) FROM rtbench.loads) AND group_name = 'readers' GROUP BY 1) a
	JOIN (SELECT round, array_agg(variant || control ORDER BY "position") AS variants FROM rtbench.load_windows WHERE run = (SELECT max(run) FROM rtbench.loads) AND group_name = 'readers' GROUP BY 1) b
	ON a.round % 2 = 1 AND b.round = a.round + 1;
-- what does not equal itself is not compared: no verdict, no ratio
UPDATE rtbench.load_windows SET tps = 1e6 * tps WHERE control AND run = (SELECT max(run) FROM rtbench.loads);
SELECT group_name, variant, verdict, num_nonnulls(speedup, speedup_low, decrease_percent, level) AS figures, notes ~ 'control failed: the baseline beside itself' AS told FROM rtbench.load_result();
TABLE left_over;
-- a scenario: its arms are the groups, or groups take them by name
SELECT rtbench.create_scenario('for_load', :'accounts', parameters => '{"n": 3, "readers_sessions": 2, "writers_rate": 100}');
SELECT rtbench.add_arm('for_load', rtbench.arm('readers', 'SELECT count(*) FROM accounts WHERE id < :n'));
SELECT rtbench.add_arm('for_load', rtbench.arm('writers/one', 'UPDATE accounts SET v = 1 WHERE id = :n'));
SELECT rtbench.add_arm('for_load', rtbench.arm('writers/two', 'UPDATE accounts SET v = 1 WHERE id = :n', 'UPDATE accounts SET v = 2 WHERE id = :n'));
CALL rtbench.run_load('for_load', duration => '200 ms', warmup => '0');
SELECT group_name, arm, sessions, rate, transactions > 0 AS some FROM rtbench.load_result();
CALL rtbench.run_load('for_load', duration => '100 ms', warmup => '0', groups => ARRAY[rtbench.load_group('mine', 'writers/two', 2, parameters => '{"n": 4}'), rtbench.load_group('r', 'readers')], parameters => '{"n": 5}');
SELECT g ->> 'group' AS group_name, g ->> 'sessions' AS sessions, v ->> 'arm' AS arm, v -> 'work' -> 'arms' -> 0 -> 'steps' -> 0 ->> 'text' AS first_statement
FROM rtbench.loads, jsonb_array_elements(groups) g, jsonb_array_elements(g -> 'variants') v WHERE run = (SELECT max(run) FROM rtbench.loads);
CALL rtbench.run_load_compare('for_load', duration => '1 s', warmup => '0', rounds => 2, control => false);
SELECT group_name, variant, arm, windows, verdict FROM rtbench.load_result();
-- a load is a run, and no sweep
SELECT max(run) AS load FROM rtbench.loads \gset
DO $$ BEGIN PERFORM rtbench.result((SELECT max(run) FROM rtbench.loads)); EXCEPTION WHEN wrong_object_type THEN RAISE WARNING '%', regexp_replace(SQLERRM, '\d+', 'n'); END $$;
SELECT rtbench.forget(:load);
SELECT count(*) FROM rtbench.loads WHERE run = :load;
SELECT rtbench.load_result(0);
--
-- refused, before anything is made
--
CREATE TABLE users_own (id int);
CREATE SEQUENCE users_sequence;
SELECT rtbench.run_load('for_load');
BEGIN;
CALL rtbench.run_load('for_load');
ROLLBACK;
SET default_transaction_read_only = on;
CALL rtbench.run_load('for_load');
RESET default_transaction_read_only;
CALL rtbench.run_load(NULL::text);
CALL rtbench.run_load(NULL::jsonb[]);
CALL rtbench.run_load('{}'::jsonb[], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY[NULL::jsonb], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY['1'::jsonb], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY['{"group": "g"}'::jsonb], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY['{"group": "g", "arm": {"arm": "a", "steps": [{"statement": "SELECT 1"}]}, "session": 1}'::jsonb], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY['{"group": "g", "arm": {"arm": "a", "steps": [{"statement": "SELECT 1"}]}, "sessions": 0}'::jsonb], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY['{"group": "g", "arm": {"arm": "a", "steps": [{"statement": "SELECT 1"}]}, "rate": "x"}'::jsonb], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'))]);
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1')), rtbench.load_group('g', rtbench.arm('b', 'SELECT 1'))], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', 'no_scenario')], setup => 'SELECT 1');
CALL rtbench.run_load('for_load', groups => ARRAY[rtbench.load_group('g', 'writers')]);
CALL rtbench.run_load('for_load', groups => ARRAY[rtbench.load_group('g', 'readers', parameters => '{"m": 1}')]);
CALL rtbench.run_load('for_load', parameters => '{"m": 1}');
CALL rtbench.run_load('for_load', parameters => '{"readers_sessions": 0}');
CALL rtbench.run_load('for_load', parameters => '{"writers_rate": -1}');
CALL rtbench.run_load('no_such_scenario');
CALL rtbench.run_load('for_load', duration => '0');
CALL rtbench.run_load('for_load', duration => NULL);
CALL rtbench.run_load('for_load', duration => '-1 s');
CALL rtbench.run_load('for_load', warmup => NULL);
SELECT array_agg(rtbench.load_group('g' || i, rtbench.arm('a', 'SELECT 1'))) AS too_many FROM generate_series(1, 65) i \gset
CALL rtbench.run_load(:'too_many'::jsonb[], setup => 'SELECT 1');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'), 1000), rtbench.load_group('h', rtbench.arm('a', 'SELECT 1'))], setup => 'SELECT 1');
CALL rtbench.run_load_compare(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'))], setup => 'SELECT 1');
CALL rtbench.run_load_compare(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1')), rtbench.load_group('g', rtbench.arm('a', 'SELECT 2'))], setup => 'SELECT 1');
CALL rtbench.run_load_compare(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1')), rtbench.load_group('g', rtbench.arm('b', 'SELECT 2'), 2)], setup => 'SELECT 1');
CALL rtbench.run_load_compare(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1')), rtbench.load_group('g', rtbench.arm('b', 'SELECT 2')),
	rtbench.load_group('h', rtbench.arm('a', 'SELECT 1')), rtbench.load_group('h', rtbench.arm('b', 'SELECT 2'))], setup => 'SELECT 1');
CALL rtbench.run_load_compare('for_load', duration => '100 ms');
CALL rtbench.run_load_compare('for_load', rounds => 0);
CALL rtbench.run_load_compare('for_load', margin => 0);
SELECT rtbench.load_group('a name', rtbench.arm('a', 'SELECT 1'));
SELECT rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'), sessions => 0);
SELECT rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'), sessions => NULL);
SELECT rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'), rate => 0);
SELECT rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'), rate => 'NaN');
SELECT rtbench.load_group('g', NULL::jsonb);
SELECT rtbench.load_group('g', '{"arm": "a"}'::jsonb);
-- and what shows only when it runs: nothing is left, nothing is changed
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'))], setup => 'CREATE TABLE t (i int); SELECT 1 / 0');
CALL rtbench.run_load(ARRAY[rtbench.load_group('good', rtbench.arm('a', 'SELECT 1')), rtbench.load_group('bad', rtbench.arm('b', 'SELECT no_such_column FROM t'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'INSERT INTO users_own VALUES (1)'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', steps => ARRAY['DO $$ BEGIN INSERT INTO users_own VALUES (1); COMMIT; END $$'], ending => 'autocommit'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'CREATE TABLE public.made_by_load (i int)'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT nextval(''users_sequence'')'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', steps => ARRAY['SELECT 1'], before => 'INSERT INTO users_own VALUES (1)'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'DROP TABLE public.users_own'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', steps => ARRAY['SELECT 1'], before => 'DROP TABLE public.users_own'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'CALL rtbench.run_load(''for_load'')'))], setup => 'CREATE TABLE t (i int)');
SELECT count(*) AS users_rows, to_regclass('public.made_by_load') AS made FROM users_own;
TABLE left_over;
SELECT rtbench.drop_scenario('for_load');
DROP TABLE users_own;
DROP SEQUENCE users_sequence;
-- the built-in loads: one call each
CALL rtbench.run_load_compare('mixed_load', duration => '1 s', rounds => 2, warmup => '100 ms');
SELECT group_name, variant, sessions, windows, transactions > 0 AS some, errors, xids / transactions AS xids, xids % transactions AS rest FROM rtbench.load_result();
CALL rtbench.run_load('mixed_load', duration => '200 ms', warmup => '0', parameters => '{"rows": 100, "readers_sessions": 1, "writers_sessions": 1}');
SELECT group_name, arm, sessions, transactions > 0 AS some FROM rtbench.load_result();
CALL rtbench.run_load_compare('subtransaction_overflow', duration => '1 s', rounds => 2, warmup => '100 ms', parameters => '{"rows": 500, "hold_seconds": 0.01}');
SELECT group_name, variant, rate, transactions > 0 AS some, subxact_overflowed FROM rtbench.load_result();
TABLE left_over;
