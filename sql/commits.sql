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
-- a table that a committing arm puts in another one's place, or drops for good, is compared by its name
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('inserts', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit'),
	rtbench.arm('replaces', steps => ARRAY['DROP TABLE t', 'CREATE TABLE t (id int)', 'INSERT INTO t VALUES (1)'], ending => 'autocommit'),
	rtbench.arm('replaces_otherwise', steps => ARRAY['CREATE TABLE other (id int); INSERT INTO other VALUES (7), (8); DROP TABLE t; ALTER TABLE other RENAME TO t'], ending => 'autocommit'),
	rtbench.arm('drops', steps => ARRAY['DROP TABLE t'], ending => 'commit')],
	setup => 'CREATE TABLE t (id int)', rounds => 2);
SELECT arm, checked, verdict, substring(notes FROM 'differs from the baseline [^:]*:[^:]*') AS differs FROM rtbench.result();
-- what stands before an arm is committed, too: the fixture is built anew even if the arm itself only reads
CALL rtbench.run_compare(ARRAY[rtbench.arm('reads', steps => ARRAY['SELECT count(*) FROM t'], before => 'INSERT INTO t VALUES (1)', ending => 'commit')],
	setup => 'CREATE TABLE t (id int)', rounds => 3);
SELECT arm, xids, verdict FROM rtbench.result();
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
-- nor anything else that is outside of the scratch schema: by "before", dropped, in no schema, or by privileges
CREATE FUNCTION users_function() RETURNS int LANGUAGE sql AS 'SELECT 1';
\set VERBOSITY default
\set SHOW_CONTEXT never
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['SELECT 1'], before => 'INSERT INTO public.users_own VALUES (1)', ending => 'commit')], setup => 'CREATE TABLE t (id int)');
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['SELECT 1'], before => 'DROP TABLE public.users_own', ending => 'commit')], setup => 'CREATE TABLE t (id int)');
\set VERBOSITY terse
\t on
SELECT format('CALL rtbench.run_compare(ARRAY[rtbench.arm(%L, steps => ARRAY[%L], ending => ''autocommit'')], setup => ''CREATE TABLE t (id int)'')', 'a', statement)
FROM (VALUES ('DROP TABLE public.users_own'), ('DROP SEQUENCE public.users_sequence'), ('DROP FUNCTION public.users_function'), ('ALTER FUNCTION public.users_function COST 7'),
	('CREATE FUNCTION public.made_by_arm() RETURNS int LANGUAGE sql AS ''SELECT 1'''), ('CREATE DOMAIN public.made_by_arm AS int'), ('CREATE SCHEMA made_by_arm'), ('SELECT lo_create(0)'),
	('GRANT SELECT ON public.users_own TO PUBLIC'), ('GRANT SELECT ON ALL TABLES IN SCHEMA public TO PUBLIC'), ('REVOKE EXECUTE ON FUNCTION public.users_function FROM PUBLIC'),
	('GRANT USAGE ON SCHEMA public TO PUBLIC'), ('COMMENT ON FUNCTION public.users_function IS ''made_by_arm'''), ('ALTER ROLE CURRENT_USER SET work_mem = ''5MB'''), ('ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC'),
	('DO $$ BEGIN EXECUTE ''DROP TABLE public.users_own''; COMMIT; EXECUTE ''CREATE TABLE public.users_own (id int)''; END $$')) s (statement) \gexec
\t off
SELECT count(*) AS users_rows, to_regclass('public.users_sequence') IS NOT NULL AS sequence, to_regproc('public.users_function') IS NOT NULL AS function,
	(SELECT relacl IS NULL FROM pg_class WHERE oid = 'users_own'::regclass) AS privileges, (SELECT count(*) FROM pg_namespace WHERE nspname = 'made_by_arm') AS schemas,
	(SELECT count(*) FROM pg_proc WHERE proname = 'made_by_arm') + (SELECT count(*) FROM pg_type WHERE typname = 'made_by_arm') AS made
FROM users_own;
-- nor in a later session only
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['DO $$ BEGIN INSERT INTO t VALUES (1); IF (SELECT session > 1 FROM rtbench.progress) THEN INSERT INTO public.users_own VALUES (1); END IF; END $$'], ending => 'commit')],
	setup => 'CREATE TABLE t (id int)', sessions => 2, rounds => 1);
SELECT count(*) AS users_rows FROM users_own;
-- inside of it, in the session's temporary schema, and undone by a savepoint, it may
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['CREATE FUNCTION made() RETURNS int LANGUAGE sql AS ''SELECT 1''', 'GRANT SELECT ON t TO PUBLIC', 'ALTER FUNCTION made() COST 7', 'COMMENT ON FUNCTION made() IS ''x''', 'COMMENT ON COLUMN t.id IS ''x''', 'DROP FUNCTION made, set_up',
		'CREATE TABLE other (id serial PRIMARY KEY, v text)', 'CREATE INDEX ON other (v)', 'CLUSTER other USING other_pkey', 'CREATE STATISTICS st ON id, v FROM other', 'CREATE RULE r AS ON DELETE TO other DO NOTHING',
		'CREATE POLICY p ON other', 'CREATE VIEW v AS SELECT * FROM other', 'TRUNCATE other', 'DROP TABLE other CASCADE', 'CREATE DOMAIN d AS int', 'DROP DOMAIN d',
		'CREATE TEMP TABLE tmp (id serial PRIMARY KEY, v text)', 'DROP TABLE tmp', 'CREATE TABLE public.at_once (i int); DROP TABLE public.at_once'], ending => 'autocommit'),
	rtbench.arm('b', steps => ARRAY['SAVEPOINT s', 'DROP TABLE public.users_own', 'CREATE SCHEMA made_by_arm', 'GRANT SELECT ON t TO PUBLIC', 'ROLLBACK TO s', 'INSERT INTO t VALUES (1)'], ending => 'commit')],
	setup => 'CREATE TABLE t (id int); CREATE FUNCTION set_up() RETURNS int LANGUAGE sql AS ''SELECT 1''', rounds => 2);
SELECT arm, transactions, verdict <> 'failed' AS works FROM rtbench.result();
DROP FUNCTION users_function;
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
-- what would end transactions by itself fails where it is generated, too
-- (the last words of what a REINDEX says differ between majors)
SET client_min_messages = error;
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('vacuum', steps => ARRAY[rtbench.generated($$SELECT 'VACUUM t'$$)], ending => 'autocommit'),
	rtbench.arm('concurrently', steps => ARRAY[rtbench.generated($$SELECT 'CREATE INDEX CONCURRENTLY ON t (id)'$$)], ending => 'autocommit'),
	rtbench.arm('of_partitions', steps => ARRAY[rtbench.generated($$SELECT 'REINDEX TABLE parted'$$)], ending => 'autocommit'),
	rtbench.arm('copy', steps => ARRAY[rtbench.generated($$SELECT 'COPY t FROM STDIN'$$)], ending => 'commit'),
	rtbench.arm('cursor', steps => ARRAY[rtbench.generated($$VALUES ('DECLARE c CURSOR FOR SELECT 1'), ('LOCK TABLE t'), ('FETCH c')$$)], ending => 'commit')],
	setup => 'CREATE TABLE t (id int); CREATE TABLE parted (id int) PARTITION BY RANGE (id); CREATE INDEX ON parted (id)', rounds => 2);
SET client_min_messages = warning;
SELECT arm, verdict, replace(substring(notes FROM '^[^;]*in step.*'), 'a function or procedure', 'a function') AS failure FROM rtbench.result();
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
