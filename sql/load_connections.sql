-- Loads over connections: what they count and what they can't know, the same refusals, and nothing left at the far end. (Faults, other servers: test/t.)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\pset null null
\set SHOW_CONTEXT never
-- nothing may be left of a load: no worker, no scratch schema, no lock; far backends are gone as soon as they see that their client is
CREATE FUNCTION pg_temp.left_over(OUT processes bigint, OUT schemas bigint, OUT locks bigint) LANGUAGE plpgsql AS $$ BEGIN
	FOR i IN 1 .. 200 LOOP
		PERFORM pg_stat_clear_snapshot();
		SELECT count(*) INTO processes FROM pg_stat_activity WHERE backend_type = 'rtbench worker' OR application_name = 'rtbench';
		EXIT WHEN processes = 0;
		PERFORM pg_sleep(0.05);
	END LOOP;
	SELECT count(*) INTO schemas FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch\_%';
	SELECT count(*) INTO locks FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory';
END $$;
SET client_min_messages = warning;
SELECT coalesce(max(run), 0) AS before FROM rtbench.loads \gset
\set accounts 'CREATE TABLE accounts (id int PRIMARY KEY, v bigint); INSERT INTO accounts SELECT g, 0 FROM generate_series(1, 100) g'
\set writer 'rtbench.load_group(''writers'', rtbench.arm(''write'', rtbench.foreach(''SELECT g FROM generate_series(1, 5) g'', rtbench.step(''UPDATE accounts SET v = v + $1 WHERE id = $1'', types => ''{bigint}''))), 2)'
\set reader 'rtbench.load_group(''readers'', rtbench.arm(''read'', ''SELECT count(*) FROM accounts''), rate => 100)'
--
-- every protocol; ids and overflows are nobody's to count, waits are those of the far backends
--
SELECT format($$CALL rtbench.run_load(ARRAY[%s, %s], duration => '200 ms', warmup => '20 ms', setup => %L, transport => 'unix', protocol => %L, batch => 3, fetch_size => %s)$$,
	:'writer', :'reader', :'accounts', protocol, fetch_size)
FROM (VALUES ('prepared', 'NULL'), ('extended', 'NULL'), ('simple', 'NULL'), ('pipeline', 'NULL'), ('multi', 'NULL'), ('prepared', '2')) p (protocol, fetch_size) \gexec
SELECT transport, options ->> 'protocol' AS protocol, options ->> 'batch' AS batch, options ->> 'fetch_size' AS fetch_size, options -> 'notes' AS notes, group_name, r.transactions > 0 AS some, r.errors,
	num_nonnulls(r.xids, r.subxact_overflowed) AS known, r.waits ?| '{CPU,Client:ClientRead,schedule}' AS waits, r.waits::text ~ 'Extension' AS own_waits, r.notes
FROM rtbench.loads l, rtbench.load_result(l.run) r WHERE l.run > :before ORDER BY l.run, group_name;
SELECT count(*) FILTER (WHERE num_nonnulls(xids, subxact_overflowed) > 0) AS known FROM rtbench.load_windows WHERE run > :before;
SELECT * FROM pg_temp.left_over();
-- in process they are known, and there is nothing to say of a connection
CALL rtbench.run_load(ARRAY[:writer], duration => '100 ms', warmup => '0', setup => :'accounts', transport => 'worker');
SELECT l.transport, l.options ?| '{protocol,batch,fetch_size,round_trip_ms}' AS of_connections, r.xids = r.transactions AS ids, r.subxact_overflowed FROM rtbench.loads l, rtbench.load_result() r WHERE l.run = r.run;
-- arms with protocols of their own, and a client's COPY
CALL rtbench.run_load(ARRAY[rtbench.load_group('copy', rtbench.arm('copied', rtbench.copy_rows('SELECT g FROM generate_series(1, 20) g', 'COPY t FROM STDIN'))),
	rtbench.load_group('own', rtbench.arm('own', steps => ARRAY[rtbench.foreach('SELECT g FROM generate_series(1, 5) g', 'INSERT INTO t VALUES ($1)')], protocol => 'pipeline', batch => 5))],
	duration => '200 ms', warmup => '0', setup => 'CREATE TABLE t (i int)', transport => 'unix');
SELECT group_name, r.transactions > 0 AS some, r.errors, l.server_version = current_setting('server_version') AS version, l.settings ? 'synchronous_commit' AS settings FROM rtbench.load_result() r JOIN rtbench.loads l USING (run);
--
-- a simulated distance: BEGIN, the driver, 5 statements and COMMIT; a statement alone is one trip
--
CALL rtbench.run_load(ARRAY[:writer, rtbench.load_group('alone', rtbench.arm('alone', 'SELECT 1'))], duration => '500 ms', warmup => '50 ms', setup => :'accounts', transport => 'unix', round_trip_ms => 2);
SELECT l.transport, l.options ->> 'round_trip_ms' AS round_trip_ms, group_name, mean_ms >= 1.9 * CASE group_name WHEN 'alone' THEN 1 ELSE 8 END AS waited,
	substring(notes FROM 'round trips of 2 ms asked for') AS asked, substring(notes FROM '([0-9.]+) ms delivered')::float8 >= 1.99 AS delivered
FROM rtbench.loads l JOIN rtbench.load_result() r USING (run);
-- locks are held over it: the writers of one row wait for each other's COMMIT to arrive
CALL rtbench.run_load(ARRAY[rtbench.load_group('writers', rtbench.arm('w', 'UPDATE accounts SET v = v + 1 WHERE id = 1', 'SELECT 1'), 3)], duration => '500 ms', warmup => '50 ms', setup => :'accounts', transport => 'unix', round_trip_ms => 4);
SELECT group_name, waits::text ~ 'Lock:' AS wait_for_locks, p50_ms > 3 * 4 * 1.5 AS longer_than_alone FROM rtbench.load_result();
--
-- errors and conflicts
--
CALL rtbench.run_load(ARRAY[rtbench.load_group('unlucky', rtbench.arm('divide', 'INSERT INTO accounts SELECT -1, 1 / (random() * 3)::int FROM generate_series(1, 0 + (random() < 2)::int) ON CONFLICT DO NOTHING', 'SELECT 1'), 2)],
	duration => '300 ms', warmup => '0', setup => :'accounts', transport => 'unix');
SELECT transactions > 0 AS some, (SELECT array_agg(k) FROM jsonb_object_keys(errors) k) AS sqlstates, (errors ->> '22012')::int > 0 AS counted, notes ~ '% of the transactions failed with 22012: division by zero' AS told
FROM rtbench.load_result();
SELECT format($$CALL rtbench.run_load(ARRAY[rtbench.load_group('w', rtbench.arm('a', steps => ARRAY['UPDATE accounts SET v = v + 1 WHERE id = 1', 'SELECT pg_sleep(0.002)'], before => 'SET default_transaction_isolation = serializable'), 3)],
	duration => '500 ms', warmup => '0', setup => %L, transport => 'unix', retry => %L)$$, :'accounts', retry) FROM unnest('{false,true}'::boolean[]) retry \gexec
SELECT r.transactions > 0 AS some, coalesce((r.errors ->> '40001')::int, 0) > 3 AS conflicts, r.retries > 0 AS retries FROM (SELECT run FROM rtbench.loads ORDER BY run DESC LIMIT 2) l, rtbench.load_result(l.run) r ORDER BY l.run;
SELECT * FROM pg_temp.left_over();
--
-- variants compared; of a scenario's arms those are left out that no client can run, and named
--
CALL rtbench.run_load_compare(ARRAY[:reader,
	rtbench.load_group('writers', rtbench.arm('write', rtbench.foreach('SELECT generate_series(1, :n)', 'UPDATE accounts SET v = v + 1 WHERE id = $1')), parameters => '{"n": 1}', variant => 'small'),
	rtbench.load_group('writers', rtbench.arm('write', rtbench.foreach('SELECT generate_series(1, :n)', 'UPDATE accounts SET v = v + 1 WHERE id = $1')), parameters => '{"n": 50}', variant => 'large')],
	duration => '1600 ms', warmup => '50 ms', rounds => 8, control => false, setup => :'accounts', transport => 'unix');
SELECT group_name, variant, windows, transactions > 0 AS some, xids, CASE WHEN group_name = 'writers' AND variant = 'large' THEN verdict = 'slower' ELSE verdict IS NOT NULL END AS verdict_is_right FROM rtbench.load_result();
CALL rtbench.run_load_compare('mixed_load', duration => '500 ms', rounds => 2, warmup => '50 ms', parameters => '{"rows": 100, "readers_sessions": 1, "writers_sessions": 1}', transport => 'unix');
SELECT group_name, variant, transactions > 0 AS some, errors FROM rtbench.load_result();
CALL rtbench.run_load_compare('subtransaction_overflow', duration => '600 ms', rounds => 2, warmup => '50 ms', parameters => '{"rows": 200, "hold_seconds": 0.01}', transport => 'unix');
SELECT group_name, variant, transactions > 0 AS some, errors FROM rtbench.load_result();
SELECT * FROM pg_temp.left_over();
--
-- refused, before anything is made
--
\set one 'ARRAY[rtbench.load_group(''g'', rtbench.arm(''a'', ''SELECT 1''))], duration => ''100 ms'', warmup => ''0'', setup => ''CREATE TABLE t (i int)'''
CALL rtbench.run_load(:one, transport => 'caller');
CALL rtbench.run_load(:one, transport => 'pigeon');
CALL rtbench.run_load(:one, transport => NULL);
CALL rtbench.run_load(:one, server => 'no_such_server');
CALL rtbench.run_load(:one, server => 'no_such_server', transport => 'unix');
CALL rtbench.run_load(:one, protocol => 'extended');
CALL rtbench.run_load(:one, transport => 'unix', protocol => 'telepathy');
CALL rtbench.run_load(:one, transport => 'unix', batch => 0);
CALL rtbench.run_load(:one, transport => 'unix', fetch_size => 0);
CALL rtbench.run_load(:one, round_trip_ms => 1);
CALL rtbench.run_load(:one, transport => 'unix', round_trip_ms => -1);
CALL rtbench.run_load(:one, transport => 'unix', round_trip_ms => 'NaN');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', rtbench.foreach('SELECT 1', rtbench.step('SELECT $1', subtransaction => 'internal'))))], setup => 'CREATE TABLE t (i int)', transport => 'unix');
CALL rtbench.run_load('mixed_load', groups => ARRAY[rtbench.load_group('g', 'writers/statement')], transport => 'unix');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', steps => ARRAY['SELECT 1'], protocol => 'simple'))], setup => 'CREATE TABLE t (i int)');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', rtbench.copy_rows('SELECT 1', 'COPY t FROM STDIN')))], setup => 'CREATE TABLE t (i int)');
CREATE ROLE regress_rtb_load_plain;
SET ROLE regress_rtb_load_plain;
\set VERBOSITY terse
CALL rtbench.run_load(:one, transport => 'unix');
\set VERBOSITY default
RESET ROLE;
DROP ROLE regress_rtb_load_plain;
-- and what shows only when it runs: nothing is left, nothing is changed
CREATE TABLE users_own (id int);
CREATE SEQUENCE users_sequence;
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT 1'))], setup => 'CREATE TABLE t (i int); SELECT 1 / 0', transport => 'unix');
CALL rtbench.run_load(ARRAY[rtbench.load_group('good', rtbench.arm('a', 'SELECT 1')), rtbench.load_group('bad', rtbench.arm('b', 'SELECT no_such_column FROM t'))], setup => 'CREATE TABLE t (i int)', transport => 'unix');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'INSERT INTO users_own VALUES (1)'))], setup => 'CREATE TABLE t (i int)', transport => 'unix');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', steps => ARRAY['DO $$ BEGIN INSERT INTO users_own VALUES (1); COMMIT; END $$'], ending => 'autocommit'))], setup => 'CREATE TABLE t (i int)', transport => 'unix');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'CREATE TABLE public.made_by_load (i int)'))], setup => 'CREATE TABLE t (i int)', transport => 'unix', protocol => 'simple');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', 'SELECT nextval(''users_sequence'')'))], setup => 'CREATE TABLE t (i int)', transport => 'unix', protocol => 'extended');
CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', steps => ARRAY['SELECT 1'], before => 'DROP TABLE public.users_own'))], setup => 'CREATE TABLE t (i int)', transport => 'unix');
SELECT count(*) AS users_rows, to_regclass('public.made_by_load') AS made FROM users_own;
SELECT * FROM pg_temp.left_over();
DROP TABLE users_own;
DROP SEQUENCE users_sequence;
