-- Bad entries in a batch: errors that an arm handles itself are its normal work, one that it does not handle is its result.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_42', $$
	CREATE TABLE good (id int PRIMARY KEY, v int CHECK (v >= 0));
	CREATE TABLE entry (ord int PRIMARY KEY, id int, v int);
	INSERT INTO entry SELECT g, CASE WHEN g % 40 = 0 THEN g - 1 ELSE g END, CASE WHEN g % 40 = 20 THEN -1 ELSE g END FROM generate_series(1, :n) g
$$, swept => 'n', points => '{10,80}') \g /dev/null
SELECT rtbench.add_arm('case_42', arm) FROM unnest(ARRAY[
	rtbench.arm('block_per_entry', rtbench.generated($$
		SELECT format('DO $d$ BEGIN INSERT INTO good VALUES (%s, %s); EXCEPTION WHEN unique_violation OR check_violation THEN NULL; END $d$', id, v) FROM entry ORDER BY ord$$)),
	rtbench.arm('do_exception', $a$DO $d$ DECLARE r record; BEGIN FOR r IN SELECT * FROM entry ORDER BY ord LOOP
		BEGIN INSERT INTO good VALUES (r.id, r.v); EXCEPTION WHEN unique_violation OR check_violation THEN NULL; END; END LOOP; END $d$$a$),
	rtbench.arm('multirow', 'INSERT INTO good SELECT id, v FROM entry ORDER BY ord'),
	rtbench.arm('on_conflict_only', 'INSERT INTO good SELECT id, v FROM entry ORDER BY ord ON CONFLICT DO NOTHING'),
	rtbench.arm('filtered_set', 'INSERT INTO good SELECT id, v FROM entry WHERE v >= 0 ORDER BY ord ON CONFLICT DO NOTHING'),
	-- without a handler the pass's transaction is gone; SAVEPOINT from the client is not for a pass
	rtbench.arm('client_savepoints', rtbench.generated($$SELECT unnest(ARRAY['SAVEPOINT e', format('INSERT INTO good VALUES (%s, %s)', id, v), 'RELEASE SAVEPOINT e']) FROM entry ORDER BY ord$$))]) AS arm \g /dev/null
-- no bad entry at the first point: all arms that can run agree there
SELECT count(*) FROM rtbench.sweep('case_42', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
-- a transaction id for each entry that was inserted or refused while being inserted, and the failed ones have run as statements too
SELECT arm, xids, statements, "rows" FROM rtbench.result() WHERE point = 80 AND verdict <> 'failed';
-- a savepoint may be a step of its own, but not be generated
SELECT rtbench.arm('client_savepoints', 'SAVEPOINT e');

-- committed: a transaction for each entry, or for ten, that handles its bad ones; all as one, of which one bad entry loses everything
SELECT rtbench.create_scenario('case_42', (SELECT setup FROM rtbench.scenario_definitions WHERE name = 'case_42'), swept => 'n', points => '{80}', replace => true) \g /dev/null
SELECT rtbench.add_arm('case_42', arm) FROM unnest(ARRAY[
	rtbench.arm('entry_committed', steps => ARRAY[rtbench.generated($$
		SELECT format('DO $d$ BEGIN INSERT INTO good VALUES (%s, %s); EXCEPTION WHEN unique_violation OR check_violation THEN NULL; END $d$', id, v) FROM entry ORDER BY ord$$)], ending => 'autocommit'),
	rtbench.arm('ten_committed', steps => ARRAY[$a$DO $d$ DECLARE r record; BEGIN FOR r IN SELECT * FROM entry ORDER BY ord LOOP
		BEGIN INSERT INTO good VALUES (r.id, r.v); EXCEPTION WHEN unique_violation OR check_violation THEN NULL; END;
		IF r.ord % 10 = 0 THEN COMMIT; END IF; END LOOP; END $d$$a$], ending => 'autocommit'),
	rtbench.arm('filtered_set', steps => ARRAY['INSERT INTO good SELECT id, v FROM entry WHERE v >= 0 ORDER BY ord ON CONFLICT DO NOTHING'], ending => 'commit'),
	rtbench.arm('multirow', steps => ARRAY['INSERT INTO good SELECT id, v FROM entry ORDER BY ord'], ending => 'commit'),
	-- what was committed before the bad entry does not stay either: each pass begins anew
	rtbench.arm('until_the_first_bad', steps => ARRAY[rtbench.foreach('SELECT id, v FROM entry ORDER BY ord', ARRAY['INSERT INTO good VALUES ($1, $2)'], commit_every => 5)], ending => 'commit')]) AS arm \g /dev/null
CALL rtbench.run_sweep('case_42', rounds => 2);
SELECT * FROM told;
SELECT arm, transactions, xids FROM rtbench.result();

SELECT rtbench.drop_scenario('case_42');
