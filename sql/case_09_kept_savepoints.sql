-- Savepoints that are never released work for a while: each that has written holds an entry of the lock table.  Where that ends is the server's
-- setting, so that the end itself is in test/t/013_ceiling.pl.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_09', 'CREATE TABLE rb (a int, str text)', swept => 'n', points => '{50,200}') \g /dev/null
SELECT rtbench.add_arm('case_09', arm) FROM unnest(ARRAY[
	rtbench.arm('no_savepoint', ending => 'commit', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'INSERT INTO rb VALUES ($1, ''x'')')]),
	rtbench.arm('savepoint_released', ending => 'commit', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'SAVEPOINT pgjdbc', 'INSERT INTO rb VALUES ($1, ''x'')', 'RELEASE SAVEPOINT pgjdbc')]),
	rtbench.arm('savepoint_kept', ending => 'commit', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'SAVEPOINT pgjdbc', 'INSERT INTO rb VALUES ($1, ''x'')')]),
	rtbench.arm('kept_and_rolled_back', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'SAVEPOINT pgjdbc', 'INSERT INTO rb VALUES ($1, ''x'')')])]) AS arm \g /dev/null
CALL rtbench.run_sweep('case_09', rounds => 2);
SELECT * FROM told;
SELECT point, arm, transactions, xids, subxact_overflowed AS overflowed FROM rtbench.result();
-- rolled back, where nothing ends them: those that wrote have an id each, the others none
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('kept', rtbench.foreach('SELECT generate_series(1, 100)', 'SAVEPOINT s', 'INSERT INTO rb VALUES ($1)')),
	rtbench.arm('then_read', rtbench.foreach('SELECT generate_series(1, 100)', 'SAVEPOINT s', 'INSERT INTO rb VALUES ($1)'), rtbench.step('SAVEPOINT r'), rtbench.step('SAVEPOINT q'), rtbench.step('SELECT count(*) FROM rb')),
	rtbench.arm('then_undone', rtbench.step('SAVEPOINT r'), rtbench.step('INSERT INTO rb VALUES (0)'), rtbench.foreach('SELECT generate_series(1, 10)', 'SAVEPOINT s', 'INSERT INTO rb VALUES ($1)'), rtbench.step('ROLLBACK TO r'), rtbench.step('SAVEPOINT q'), rtbench.step('INSERT INTO rb SELECT generate_series(1, 100)')),
	rtbench.arm('only_read', rtbench.foreach('SELECT generate_series(1, 10)', 'SAVEPOINT s', 'SELECT $1::int'))],
	setup => 'CREATE TABLE rb (a int)', rounds => 2);
SELECT * FROM told;
SELECT arm, xids, subxact_overflowed AS overflowed FROM rtbench.result();

SELECT rtbench.drop_scenario('case_09');
