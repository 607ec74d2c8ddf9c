-- statement_timeout goes for each message: the loop of a client passes under it where one message with the same work does not.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_41', $$
	CREATE TABLE w (id int, x int);
	INSERT INTO w SELECT g, 0 FROM generate_series(1, 400) g;
	CREATE FUNCTION work(k int) RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.01); UPDATE w SET x = x + 1 WHERE id = k; END';
	CREATE FUNCTION lifted(m int) RETURNS void LANGUAGE plpgsql AS 'BEGIN SET LOCAL statement_timeout = 0; FOR k IN 1..m LOOP PERFORM work(k); END LOOP; END'
$$, swept => 'n', points => '{2,20}') \g /dev/null
SELECT rtbench.add_arm('case_41', arm) FROM unnest(ARRAY[
	rtbench.arm('client_loop', rtbench.step('SET LOCAL statement_timeout = 150'), rtbench.foreach('SELECT generate_series(1, :n)', 'SELECT work($1)')),
	rtbench.arm('do_block', 'SET LOCAL statement_timeout = 150', 'DO $$ BEGIN FOR k IN 1..:n LOOP PERFORM work(k); END LOOP; END $$'),
	rtbench.arm('lifting_it', 'SET LOCAL statement_timeout = 150', 'SELECT lifted(:n)'),
	rtbench.arm('set_based', 'SET LOCAL statement_timeout = 150', 'UPDATE w SET x = x + 1 WHERE id <= :n')]) AS arm \g /dev/null
SELECT count(*) FROM rtbench.sweep('case_41', rounds => 1);
SELECT * FROM told;
SELECT * FROM notes;
-- a cancelled arm has no digest of that point, and no time
SELECT point, arm, digest IS NOT NULL AS digest, median_ms IS NOT NULL AS time FROM rtbench.result() WHERE arm = 'do_block';

-- rtbench's own limit goes for an arm as a whole, and is the same for all
\set VERBOSITY terse
SELECT count(*) FROM rtbench.sweep('case_41', rounds => 1, points => '{20}', pass_timeout => '100 ms', baseline => 'set_based');
\set VERBOSITY default
SELECT * FROM told;
SELECT arm, regexp_replace(note, 'statement \d+$', 'statement N') AS note FROM notes;

-- the limit of a message ends with it, also where the message lifted the setting
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('lifts', 'SET LOCAL statement_timeout = 40', 'SELECT lift()', 'SELECT pg_sleep(0.06)'),
	rtbench.arm('after', 'SELECT pg_sleep(0.06)')],
	setup => 'CREATE FUNCTION lift() RETURNS void LANGUAGE plpgsql AS ''BEGIN SET LOCAL statement_timeout = 0; END''', rounds => 1, check_query => 'SELECT 1');
SELECT * FROM told;
-- one that the session has goes for the arms' messages too, not for the run
SET statement_timeout = '1 min';
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT current_setting(''statement_timeout'')'), rtbench.arm('b', 'SELECT ''1min''')], rounds => 1);
RESET statement_timeout;
SELECT * FROM told;

SELECT rtbench.drop_scenario('case_41');
