-- Row and statement triggers that keep a log, under single-row and set statements: what fired, and that arms without a
-- trigger do other work.  Triggers are made by the arms' before option.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

SELECT rtbench.create_scenario('audit', swept => 'n', points => '{50}', setup => $$
	CREATE UNLOGGED TABLE upd (id int PRIMARY KEY, val text NOT NULL);
	CREATE UNLOGGED TABLE log (id int NOT NULL, new_val text NOT NULL);
	INSERT INTO upd SELECT g, 'text ' || g FROM generate_series(1, :n) g;
	CREATE FUNCTION log_row() RETURNS trigger LANGUAGE plpgsql AS $f$
		BEGIN INSERT INTO log VALUES (NEW.id, NEW.val); RETURN NULL; END $f$;
	CREATE FUNCTION log_stmt() RETURNS trigger LANGUAGE plpgsql AS $f$
		BEGIN INSERT INTO log SELECT id, val FROM newtab; RETURN NULL; END $f$;
$$);
SELECT rtbench.add_arm('audit', rtbench.arm(trigger || '_' || way, ARRAY[step], before => made))
FROM (VALUES
	(1, 'row', 'CREATE TRIGGER t AFTER UPDATE ON upd FOR EACH ROW EXECUTE FUNCTION log_row()'),
	(2, 'statement', 'CREATE TRIGGER t AFTER UPDATE ON upd REFERENCING NEW TABLE AS newtab FOR EACH STATEMENT EXECUTE FUNCTION log_stmt()'),
	(3, 'no', NULL)) t(position, trigger, made),
	(VALUES
	(1, 'sent', rtbench.generated($$SELECT format('UPDATE upd SET val = val || ''x'' WHERE id = %s', i) FROM generate_series(1, :n) i$$)),
	(2, 'loop', rtbench.step($$DO $do$ BEGIN FOR i IN 1..:n LOOP UPDATE upd SET val = val || 'x' WHERE id = i; END LOOP; END $do$ $$)),
	(3, 'set', rtbench.step($$UPDATE upd SET val = val || 'x'$$))) w(place, way, step)
ORDER BY place, t.position;
SELECT count(*) AS rows FROM rtbench.sweep('audit', rounds => 2);

-- the statement trigger fires once for a set statement, and as often as the row trigger for single rows
SELECT arm, round_trips, statements, fired, rows, xids, substring(notes FROM 'fired: ([^;]*)') AS what_fired FROM rtbench.result();

-- without a trigger no log is written, which is other work
SELECT arm, digest = first_value(digest) OVER () AS same_rows, verdict = 'not comparable' AS not_comparable,
	   coalesce(notes ~ '\mlog\M.*\m50\M', false) AS log_named, checked
FROM rtbench.result();

-- dead rows are cleaned before every pass, so that none finds the table longer, although what is done before, and not
-- the arm, gets the transaction id; nor does that id hide that an arm did nothing
SELECT count(*) AS rows FROM rtbench.compare(ARRAY[
	rtbench.arm('inserts', before => 'CREATE TABLE other (a int)', steps => ARRAY[
		'INSERT INTO t SELECT generate_series(1001, 3000)', 'SELECT pg_relation_size(''t'')']),
	rtbench.arm('does_nothing', before => 'CREATE TABLE other (a int)', steps => ARRAY['DELETE FROM t WHERE id < 0'])],
	setup => 'CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t SELECT generate_series(1, 1000)',
	compare_returned => true, rounds => 2);
SELECT arm, xids, rows, verdict, coalesce(notes ~ 'did nothing: no rows, where others have 2001', false) AS did_nothing FROM rtbench.result();

SELECT rtbench.drop_scenario('audit');
