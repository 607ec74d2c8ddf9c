-- Session-level advisory locks survive the rollback and stack up: told as a side effect of the arm, and released.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_35', 'CREATE TABLE mig (id int)', swept => 'n', points => '{20}') \g /dev/null
SELECT rtbench.add_arm('case_35', arm) FROM unnest(ARRAY[
	rtbench.arm('lock_unlock', 'SELECT pg_advisory_lock(4242)', 'INSERT INTO mig SELECT generate_series(1, :n)', 'SELECT pg_advisory_unlock(4242)'),
	rtbench.arm('lock_no_unlock', 'SELECT pg_advisory_lock(4242)', 'INSERT INTO mig SELECT generate_series(1, :n)'),
	rtbench.arm('lock_no_unlock_again', 'SELECT pg_advisory_lock(4242)', 'INSERT INTO mig SELECT generate_series(1, :n)'),
	rtbench.arm('locks_of_two_kinds', 'SELECT pg_advisory_lock(4242), pg_advisory_lock(4242), pg_advisory_lock_shared(1, 2)', 'INSERT INTO mig SELECT generate_series(1, :n)'),
	rtbench.arm('xact_lock', 'SELECT pg_advisory_xact_lock(4343)', 'INSERT INTO mig SELECT generate_series(1, :n)'),
	rtbench.arm('lock_then_error', 'SELECT pg_advisory_lock(4444)', 'INSERT INTO mig SELECT 1 / (:n - :n)', 'SELECT pg_advisory_unlock(4444)'),
	rtbench.arm('pairs', rtbench.foreach('SELECT generate_series(1, :n)', 'SELECT pg_advisory_lock(7)', 'INSERT INTO mig VALUES ($1)', 'SELECT pg_advisory_unlock(7)')),
	rtbench.arm('settings', 'SET work_mem = ''7MB''', 'SET LOCAL application_name = ''leak''', 'INSERT INTO mig SELECT generate_series(1, :n)'),
	rtbench.arm('prepared', 'PREPARE leak AS INSERT INTO mig SELECT generate_series(1, :n)', 'EXECUTE leak')]) AS arm \g /dev/null

SELECT count(*) FROM rtbench.sweep('case_35', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
-- in the caller's own session: what he holds stays, what the arms took goes
SELECT pg_advisory_lock(4242), set_config('application_name', 'regress', false) \g /dev/null
SELECT count(*) FROM rtbench.sweep('case_35', rounds => 2, transport => 'caller');
SELECT * FROM told;
SELECT * FROM notes WHERE note !~ '^dead rows';
SELECT classid, objid, mode FROM pg_locks WHERE locktype = 'advisory';
SELECT pg_advisory_unlock(4242) AS once;
SELECT count(*) AS held FROM pg_locks WHERE locktype = 'advisory';
SELECT current_setting('work_mem') = '7MB' AS set, current_setting('application_name') AS application_name, count(*) AS prepared FROM pg_prepared_statements;

SELECT rtbench.drop_scenario('case_35');
