-- A subtransaction for each row: flat and small inside the server, an id for each; by savepoints two more round trips for each row.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_08', 'CREATE TABLE target (id int, body text)', swept => 'n', points => '{64,65}') \g /dev/null
CREATE FUNCTION pg_temp.arms(ending text) RETURNS SETOF jsonb LANGUAGE sql AS $f$ SELECT unnest(ARRAY[
	rtbench.arm('do_plain', ending => ending, steps => ARRAY['DO $$ BEGIN FOR i IN 1 .. :n LOOP INSERT INTO target VALUES (i, ''b''); END LOOP; END $$']),
	rtbench.arm('do_exception', ending => ending, steps => ARRAY['DO $$ BEGIN FOR i IN 1 .. :n LOOP BEGIN INSERT INTO target VALUES (i, ''b''); EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END $$']),
	rtbench.arm('client_plain', ending => ending, steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'INSERT INTO target VALUES ($1, ''b'')')]),
	rtbench.arm('client_savepoint', ending => ending, steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'SAVEPOINT s', 'INSERT INTO target VALUES ($1, ''b'')', 'RELEASE SAVEPOINT s')]),
	rtbench.arm('internal', ending => ending, steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', rtbench.step('INSERT INTO target VALUES ($1, ''b'')', subtransaction => 'internal'))]),
	rtbench.arm('set_insert', ending => ending, steps => ARRAY['INSERT INTO target SELECT i, ''b'' FROM generate_series(1, :n) i'])]) $f$;
SELECT rtbench.add_arm('case_08', arm) FROM pg_temp.arms('rollback') arm \g /dev/null
SELECT count(*) FROM rtbench.sweep('case_08', rounds => 2);
SELECT * FROM told;
SELECT point, arm, xids, subxact_overflowed AS overflowed FROM rtbench.result();
-- from the 65th on it harms other sessions, and that is said
SELECT * FROM notes;

-- committed: the same work, and commits for figures
SELECT rtbench.create_scenario('case_08', 'CREATE TABLE target (id int, body text)', swept => 'n', points => '{65}', replace => true) \g /dev/null
SELECT rtbench.add_arm('case_08', arm) FROM pg_temp.arms('commit') arm \g /dev/null
CALL rtbench.run_sweep('case_08', rounds => 2);
SELECT * FROM told;
SELECT arm, transactions, xids, subxact_overflowed AS overflowed, commit_ms > 0 AS commit_ms FROM rtbench.result();

SELECT rtbench.drop_scenario('case_08');
