-- Procedures that commit or roll back: named and failed, the others go on, and nothing is left behind.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

SELECT rtbench.create_scenario('commits', swept => 'n', points => '{5,20}', setup => $$
	CREATE TABLE t (k int GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (k > 0), v varchar(100) NOT NULL);
	CREATE PROCEDURE p_plain(m int) LANGUAGE plpgsql AS $f$
		BEGIN FOR i IN 1..m LOOP INSERT INTO t (v) VALUES ('v' || i); END LOOP; END $f$;
	CREATE PROCEDURE p_commit(m int) LANGUAGE plpgsql AS $f$
		BEGIN FOR i IN 1..m LOOP INSERT INTO t (v) VALUES ('v' || i); IF i % 10 = 0 THEN COMMIT; END IF; END LOOP; END $f$;
	CREATE PROCEDURE p_rollback_first(m int) LANGUAGE plpgsql AS $f$
		BEGIN ROLLBACK; FOR i IN 1..m LOOP INSERT INTO t (v) VALUES ('v' || i); END LOOP; END $f$;
$$);
SELECT rtbench.add_arm('commits', arm) FROM unnest(ARRAY[
	rtbench.arm('prepared', rtbench.foreach('SELECT ''v'' || i FROM generate_series(1, :n) i', 'INSERT INTO t (v) VALUES ($1)')),
	rtbench.arm('text', rtbench.generated('SELECT format(''INSERT INTO t (v) VALUES (%L)'', ''v'' || i) FROM generate_series(1, :n) i')),
	rtbench.arm('call_plain', 'CALL p_plain(:n)'),
	rtbench.arm('call_commit', 'CALL p_commit(:n)'),
	rtbench.arm('do_commit', $$DO $do$ BEGIN FOR i IN 1..:n LOOP INSERT INTO t (v) VALUES ('v' || i);
		IF i % 10 = 0 THEN COMMIT; END IF; END LOOP; END $do$ $$),
	rtbench.arm('call_rollback_first', 'CALL p_rollback_first(:n)')]) arm;
-- a sent COMMIT is refused by name
SELECT rtbench.add_arm('commits', rtbench.arm('sent_commit', 'INSERT INTO t (v) VALUES (1)', 'COMMIT'));

-- where the COMMIT is not reached the arm works
SELECT count(*) AS rows FROM rtbench.sweep('commits', rounds => 2);
SELECT point, arm, round_trips, statements, rows, digest = first_value(digest) OVER (PARTITION BY point) AS same_rows,
	   CASE WHEN verdict IN ('failed', 'not comparable') THEN verdict END AS verdict, median_ms IS NULL AS no_time,
	   substring(notes FROM '2D000: .*') AS failure
FROM rtbench.result();

-- the same in the caller's own transaction, which goes on
BEGIN;
CREATE TABLE regress_case_17_mine (a int);
SELECT count(*) AS rows FROM rtbench.sweep('commits', points => '{20}', transport => 'caller', rounds => 1);
SELECT arm, verdict FROM rtbench.result() WHERE verdict IN ('failed', 'not comparable');
ROLLBACK;
SELECT to_regclass('regress_case_17_mine') AS not_committed;

-- nor on tables of one's own
CREATE SCHEMA regress_case_17;
CREATE TABLE regress_case_17.t (v text);
CREATE PROCEDURE regress_case_17.p() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO regress_case_17.t VALUES ('x'); COMMIT; END $$;
SELECT arm, verdict FROM rtbench.compare(ARRAY[
	rtbench.arm('insert', 'INSERT INTO regress_case_17.t VALUES (''x'')'),
	rtbench.arm('call', 'CALL regress_case_17.p()')], rounds => 1);
SELECT count(*) AS rows_left FROM regress_case_17.t;
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';

-- by CALL, and arms that commit, all of them can be measured: COMMIT and ROLLBACK inside, beside the same commits sent
SELECT rtbench.create_scenario('committed', (SELECT setup FROM rtbench.scenario_definitions WHERE name = 'commits'), swept => 'n', points => '{5,20}');
SELECT rtbench.add_arm('committed', arm) FROM unnest(ARRAY[
	rtbench.arm('sent', steps => ARRAY[rtbench.foreach('SELECT ''v'' || i FROM generate_series(1, :n) i', ARRAY['INSERT INTO t (v) VALUES ($1)'], commit_every => 10)], ending => 'commit'),
	rtbench.arm('call_plain', steps => ARRAY['CALL p_plain(:n)'], ending => 'commit'),
	rtbench.arm('call_commit', steps => ARRAY['CALL p_commit(:n)'], ending => 'autocommit'),
	rtbench.arm('do_commit', steps => ARRAY[$$DO $do$ BEGIN FOR i IN 1..:n LOOP INSERT INTO t (v) VALUES ('v' || i);
		IF i % 10 = 0 THEN COMMIT; END IF; END LOOP; END $do$ $$], ending => 'autocommit'),
	rtbench.arm('call_rollback_first', steps => ARRAY['CALL p_rollback_first(:n)'], ending => 'autocommit'),
	rtbench.arm('generated', steps => ARRAY[rtbench.generated('SELECT format(''CALL p_commit(%s)'', :n)')], ending => 'autocommit'),
	-- in a transaction that a client began, and among the statements of one message, COMMIT inside is an error for a client too
	rtbench.arm('call_in_a_block', steps => ARRAY['CALL p_commit(:n)', 'SELECT 1'], ending => 'commit'),
	rtbench.arm('call_in_a_message', steps => ARRAY['SELECT 1; CALL p_commit(:n)'], ending => 'autocommit'),
	rtbench.arm('generated_in_a_block', steps => ARRAY[rtbench.generated('SELECT format(''CALL p_commit(%s)'', :n)')], ending => 'commit'),
	rtbench.arm('generated_in_a_message', steps => ARRAY[rtbench.generated('SELECT format(''SELECT 1; CALL p_commit(%s)'', :n)')], ending => 'autocommit')]) arm \g /dev/null
CALL rtbench.run_sweep('committed', rounds => 2);
SELECT point, arm, round_trips, statements, rows, transactions, xids, digest = first_value(digest) OVER (PARTITION BY point) AS same_rows,
	   CASE WHEN verdict IN ('failed', 'not comparable') THEN verdict END AS verdict, substring(notes FROM '2D000: [^;]*') AS failure
FROM rtbench.result();
SELECT rtbench.drop_scenario('committed');

DROP SCHEMA regress_case_17 CASCADE;
SELECT rtbench.drop_scenario('commits');
