-- What counts as a statement, whatever form the work is asked for in.
CREATE EXTENSION IF NOT EXISTS rtbench;
SET client_min_messages = warning;

-- The setup of all runs below, and what is shown of each of them.
SELECT $setup$
	CREATE TABLE t (id int PRIMARY KEY, v int);
	CREATE TABLE c (id int PRIMARY KEY, t_id int REFERENCES t ON DELETE CASCADE);
	CREATE INDEX c_t_id ON c (t_id);
	CREATE TABLE l (id int, w text);
	INSERT INTO t SELECT i, 0 FROM generate_series(1, 1000) i;
	INSERT INTO c SELECT i, i FROM generate_series(1, 1000) i;

	CREATE FUNCTION touch(int) RETURNS void LANGUAGE plpgsql AS $$
	BEGIN
		UPDATE t SET v = v + 1 WHERE id = $1;
	END $$;
	CREATE FUNCTION value_of(int) RETURNS int LANGUAGE plpgsql AS $$
	DECLARE
		x int;
	BEGIN
		SELECT v INTO x FROM t WHERE id = $1;
		RETURN x;
	END $$;
	CREATE FUNCTION loop_f(int) RETURNS void LANGUAGE plpgsql AS $$
	DECLARE
		r record;
	BEGIN
		FOR r IN SELECT id FROM t WHERE id <= $1 LOOP
			UPDATE t SET v = v + 1 WHERE id = r.id;
		END LOOP;
	END $$;
	CREATE PROCEDURE loop_p(int) LANGUAGE plpgsql AS $$
	DECLARE
		r record;
	BEGIN
		FOR r IN SELECT id FROM t WHERE id <= $1 LOOP
			UPDATE t SET v = v + 1 WHERE id = r.id;
		END LOOP;
	END $$;
	CREATE FUNCTION nothing() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;
	CREATE FUNCTION sql_touch(int) RETURNS void LANGUAGE sql AS $$
		UPDATE t SET v = v + 1 WHERE id = $1;
		DELETE FROM l;
	$$;
	CREATE FUNCTION sql_inline(int) RETURNS int LANGUAGE sql STABLE AS $$ SELECT $1 + 1 $$;

	CREATE FUNCTION three_and_one() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE
		r record;
	BEGIN
		FOR r IN SELECT id FROM t WHERE id <= 3 LOOP
			PERFORM touch(r.id);
		END LOOP;
		INSERT INTO l VALUES (NEW.id, 'fired');
		RETURN NEW;
	END $$;
	CREATE TABLE before_row (id int);
	CREATE TRIGGER three_and_one BEFORE INSERT ON before_row
		FOR EACH ROW EXECUTE FUNCTION three_and_one();
	CREATE TABLE after_row (id int);
	CREATE TRIGGER three_and_one AFTER INSERT ON after_row
		FOR EACH ROW EXECUTE FUNCTION three_and_one();
	CREATE TABLE deferred_row (id int);
	CREATE CONSTRAINT TRIGGER three_and_one AFTER INSERT ON deferred_row
		DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION three_and_one();
	CREATE VIEW seen AS SELECT id FROM l;
	CREATE TRIGGER three_and_one INSTEAD OF INSERT ON seen
		FOR EACH ROW EXECUTE FUNCTION three_and_one();
	CREATE FUNCTION only_loop() RETURNS trigger LANGUAGE plpgsql AS $$
	DECLARE
		r record;
	BEGIN
		FOR r IN SELECT id FROM t WHERE id <= 3 LOOP
			NULL;
		END LOOP;
		RETURN NULL;
	END $$;
	CREATE TABLE loop_row (id int);
	CREATE TRIGGER only_loop AFTER INSERT ON loop_row FOR EACH ROW EXECUTE FUNCTION only_loop();

	CREATE TABLE ruled (id int);
	CREATE RULE also AS ON INSERT TO ruled DO ALSO INSERT INTO l VALUES (NEW.id, 'rule');
$setup$ AS setup \gset
\set counts 'SELECT arm, round_trips, statements, fired, rows FROM rtbench.result() ORDER BY point, arm;'
\set shapes 'SELECT arm, statements, plan_shape FROM rtbench.result() ORDER BY point, arm;'

-- Six forms of one loop, the sent form, and some more: 20 statements each.
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('a_sent', rtbench.foreach('SELECT id FROM t WHERE id <= 20',
		'UPDATE t SET v = v + 1 WHERE id = $1')),
	rtbench.arm('b_for_query', 'DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT id FROM t WHERE id <= 20 LOOP
			UPDATE t SET v = v + 1 WHERE id = r.id;
		END LOOP; END $$'),
	rtbench.arm('c_nested_for', 'DO $$ DECLARE r record; s record; BEGIN
		FOR r IN SELECT id FROM t WHERE id <= 4 LOOP
			FOR s IN SELECT id FROM t WHERE id BETWEEN r.id * 5 - 4 AND r.id * 5 LOOP
				UPDATE t SET v = v + 1 WHERE id = s.id;
			END LOOP;
		END LOOP; END $$'),
	rtbench.arm('d_integer_for', 'DO $$ BEGIN FOR i IN 1 .. 20 LOOP
			UPDATE t SET v = v + 1 WHERE id = i;
		END LOOP; END $$'),
	rtbench.arm('e_foreach', 'DO $$ DECLARE
		ids int[] := ''{1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20}''; i int;
		BEGIN FOREACH i IN ARRAY ids LOOP
			UPDATE t SET v = v + 1 WHERE id = i;
		END LOOP; END $$'),
	rtbench.arm('f_function', 'SELECT loop_f(20)'),
	rtbench.arm('g_procedure', 'CALL loop_p(20)'),
	rtbench.arm('h_perform', 'DO $$ BEGIN FOR i IN 1 .. 20 LOOP PERFORM touch(i); END LOOP; END $$'),
	rtbench.arm('i_callers_of_callers', 'DO $$ BEGIN PERFORM loop_f(20); END $$'),
	rtbench.arm('j_execute', 'DO $$ DECLARE r record; BEGIN
		FOR r IN EXECUTE ''SELECT id FROM t WHERE id <= 20'' LOOP
			EXECUTE ''UPDATE t SET v = v + 1 WHERE id = $1'' USING r.id;
		END LOOP; END $$'),
	rtbench.arm('k_cursor', 'DO $$ DECLARE k CURSOR FOR SELECT id FROM t WHERE id <= 20; x int; BEGIN
		OPEN k;
		LOOP
			FETCH k INTO x;
			EXIT WHEN NOT FOUND;
			UPDATE t SET v = v + 1 WHERE id = x;
		END LOOP;
		CLOSE k; END $$')
], setup => :'setup', rounds => 2);
:counts
:shapes

-- A function called in an expression is no statement, what it runs is.
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('assignment', 'DO $$ DECLARE x int; BEGIN
		FOR i IN 1 .. 5 LOOP x := value_of(i); END LOOP; END $$'),
	rtbench.arm('sent', rtbench.foreach('SELECT id FROM t WHERE id <= 5', 'SELECT value_of($1)'))
], setup => :'setup', rounds => 2);
:counts

-- Loops: a query that changes data does work; where nothing else ran, loops count.
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('a_only_loop', 'DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT id FROM t WHERE id <= 20 LOOP NULL; END LOOP; END $$'),
	rtbench.arm('b_two_loops', 'DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT id FROM t WHERE id <= 20 LOOP NULL; END LOOP;
		FOR r IN SELECT id FROM t WHERE id <= 20 LOOP NULL; END LOOP; END $$'),
	rtbench.arm('c_returning', 'DO $$ DECLARE r record; BEGIN
		FOR r IN UPDATE t SET v = 1 WHERE id <= 20 RETURNING id LOOP
			UPDATE t SET v = v + 1 WHERE id = r.id;
		END LOOP; END $$'),
	rtbench.arm('d_returning_sent', rtbench.foreach(
		'UPDATE t SET v = 1 WHERE id <= 20 RETURNING id', 'UPDATE t SET v = v + 1 WHERE id = $1')),
	rtbench.arm('e_cte', 'DO $$ DECLARE r record; BEGIN
		FOR r IN WITH u AS (UPDATE t SET v = 1 WHERE id <= 20 RETURNING id) SELECT id FROM u LOOP
			UPDATE t SET v = v + 1 WHERE id = r.id;
		END LOOP; END $$'),
	rtbench.arm('f_cte_sent', rtbench.foreach(
		'WITH u AS (UPDATE t SET v = 1 WHERE id <= 20 RETURNING id) SELECT id FROM u',
		'UPDATE t SET v = v + 1 WHERE id = $1')),
	rtbench.arm('g_two_in_the_body', rtbench.foreach('SELECT id FROM t WHERE id <= 5',
		'UPDATE t SET v = v + 1 WHERE id = $1', 'DELETE FROM c WHERE t_id = $1'))
], setup => :'setup', rounds => 2);
:counts
:shapes

-- Callers that call nothing, and those that read something themselves.
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('a_nothing', 'SELECT nothing()'),
	rtbench.arm('b_do_nothing', 'DO $$ BEGIN NULL; END $$'),
	rtbench.arm('c_constant', 'SELECT 1'),
	rtbench.arm('d_subquery', 'SELECT (SELECT count(*) FROM t)'),
	rtbench.arm('e_from_table', 'SELECT touch(id) FROM t WHERE id = 1'),
	rtbench.arm('f_from_function', 'SELECT * FROM value_of(1)'),
	rtbench.arm('g_sql_function', 'SELECT sql_touch(1)'),
	rtbench.arm('h_sql_inlined', 'SELECT sql_inline(id) FROM t WHERE id = 1'),
	rtbench.arm('i_rule', 'INSERT INTO ruled VALUES (1)')
], setup => :'setup', rounds => 2);
:counts
:shapes

-- Triggers and foreign keys fire statements, which count apart, callers and loops left out.
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('a_cascade', 'DELETE FROM t WHERE id <= 10'),
	rtbench.arm('b_cascade_in_loop', 'DO $$ BEGIN FOR i IN 1 .. 10 LOOP
		DELETE FROM t WHERE id = i; END LOOP; END $$'),
	rtbench.arm('d_before', 'INSERT INTO before_row VALUES (1)'),
	rtbench.arm('e_after', 'INSERT INTO after_row VALUES (1), (2)'),
	rtbench.arm('f_deferred', 'INSERT INTO deferred_row VALUES (1)'),
	rtbench.arm('g_instead', 'INSERT INTO seen VALUES (1)'),
	rtbench.arm('h_only_loop', 'INSERT INTO loop_row VALUES (1)'),
	rtbench.arm('i_by_execute', 'PREPARE p AS INSERT INTO after_row VALUES (1)', 'EXECUTE p', 'DEALLOCATE p')
], setup => :'setup', rounds => 2);
:counts
:shapes
-- the check of a foreign key is one, too, until PostgreSQL 19 does it without
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('check', 'INSERT INTO c VALUES (2000, 5)')], setup => :'setup', rounds => 2);
SELECT round_trips, statements, fired = (current_setting('server_version_num')::int < 190000)::int AS fired, rows FROM rtbench.result();

-- Utilities count unless an executor statement ran for them.
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('a_create', 'CREATE TABLE n (id serial PRIMARY KEY, x int UNIQUE)',
		'INSERT INTO n (x) VALUES (1)', 'TRUNCATE n', 'DROP TABLE n'),
	rtbench.arm('b_create_as', 'CREATE TABLE n AS SELECT id FROM t'),
	rtbench.arm('c_cursor', 'DECLARE k CURSOR FOR SELECT id FROM t', 'FETCH 10 FROM k', 'FETCH ALL FROM k',
		'CLOSE k'),
	rtbench.arm('d_copy_to', 'COPY t TO PROGRAM ''cat > /dev/null'''),
	rtbench.arm('e_copy_query', 'COPY (SELECT id FROM t) TO PROGRAM ''cat > /dev/null'''),
	rtbench.arm('f_copy_from', 'COPY after_row FROM PROGRAM ''echo 1; echo 2'''),
	rtbench.arm('g_explain', 'EXPLAIN SELECT id FROM t'),
	rtbench.arm('h_explain_analyze', 'EXPLAIN ANALYZE SELECT id FROM t'),
	rtbench.arm('i_in_do', 'DO $$ BEGIN TRUNCATE l; TRUNCATE l; END $$'),
	rtbench.arm('j_notify', 'NOTIFY x', 'SELECT pg_notify(''x'', ''y'')'),
	rtbench.arm('k_made_anew', 'DO $$ BEGIN FOR i IN 1 .. 3 LOOP
		CREATE TEMP TABLE made (id int); INSERT INTO made VALUES (1); DROP TABLE made; END LOOP; END $$')
], setup => :'setup', rounds => 2);
:counts
:shapes

-- What fails and is caught has been a statement; what was under way then is forgotten.
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('a_caught', 'DO $$ BEGIN FOR i IN 1 .. 10 LOOP BEGIN
			INSERT INTO t VALUES (1, 1);
		EXCEPTION WHEN unique_violation THEN
			IF i <= 5 THEN UPDATE t SET v = 1 WHERE id = i; END IF;
		END; END LOOP; END $$'),
	rtbench.arm('b_caught_deep', 'DO $$ DECLARE r record; BEGIN FOR i IN 1 .. 2 LOOP BEGIN
			FOR r IN SELECT id FROM t LOOP
				PERFORM touch(r.id);
				PERFORM 1 / (r.id - 5);
			END LOOP;
		EXCEPTION WHEN division_by_zero THEN
			FOR r IN SELECT id FROM t WHERE id <= 2 LOOP
				DELETE FROM l;
			END LOOP;
		END; END LOOP; END $$'),
	rtbench.arm('c_utility', 'DO $$ BEGIN
			CREATE TABLE t (id int);
		EXCEPTION WHEN duplicate_table THEN
			TRUNCATE l;
		END $$'),
	rtbench.arm('d_cursors', 'DO $$ DECLARE ks refcursor[]; k refcursor; x int; BEGIN
		FOR i IN 1 .. 10 LOOP
			k := NULL;
			OPEN k FOR SELECT value_of(id) FROM t WHERE id < 5;
			ks[i] := k;
		END LOOP;
		FOR i IN 1 .. 10 LOOP k := ks[i]; FETCH k INTO x; END LOOP;
		FOR i IN 1 .. 10 LOOP k := ks[(i * 7) % 10 + 1]; CLOSE k; END LOOP; END $$')
], setup => :'setup', rounds => 2);
:counts
:shapes
