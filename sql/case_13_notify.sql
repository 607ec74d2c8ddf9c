-- Triggers that notify: a pass that is rolled back hides what notifications cost at commit, and sends none.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

SELECT rtbench.create_scenario('notify', swept => 'n', points => '{100}', setup => $$
	CREATE TABLE job (id int, queue text);
	CREATE FUNCTION n_row() RETURNS trigger LANGUAGE plpgsql AS $f$
		BEGIN PERFORM pg_notify('rtbench_case', NEW.id::text); RETURN NULL; END $f$;
	CREATE FUNCTION n_stmt() RETURNS trigger LANGUAGE plpgsql AS $f$
		BEGIN PERFORM pg_notify('rtbench_case', 'insert'); RETURN NULL; END $f$;
$$);
SELECT rtbench.add_arm('notify', arm) FROM unnest(ARRAY[
	rtbench.arm('no_trigger', 'INSERT INTO job SELECT i, ''q'' FROM generate_series(1, :n) i'),
	rtbench.arm('each_row', before => 'CREATE TRIGGER t AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION n_row()',
		steps => ARRAY['INSERT INTO job SELECT i, ''q'' FROM generate_series(1, :n) i']),
	rtbench.arm('each_statement', before => 'CREATE TRIGGER t AFTER INSERT ON job FOR EACH STATEMENT EXECUTE FUNCTION n_stmt()',
		steps => ARRAY['INSERT INTO job SELECT i, ''q'' FROM generate_series(1, :n) i']),
	rtbench.arm('sent', before => 'CREATE TRIGGER t AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION n_row()',
		steps => ARRAY[rtbench.generated('SELECT format(''INSERT INTO job VALUES (%s, ''''q'''')'', i) FROM generate_series(1, :n) i')]),
	rtbench.arm('by_command', 'INSERT INTO job SELECT i, ''q'' FROM generate_series(1, :n) i', 'NOTIFY rtbench_case')]) arm;

LISTEN rtbench_case;
SELECT count(*) AS rows FROM rtbench.sweep('notify', rounds => 2);
SELECT arm, statements, fired, rows, coalesce(notes ~ 'notifications queued: their cost and serialisation at commit are not measured', false) AS told,
	   digest = first_value(digest) OVER () AS same_rows, verdict = 'not comparable' AS not_comparable
FROM rtbench.result();

-- in this very backend, too; psql would say here that a notification came
BEGIN;
SELECT count(*) AS rows FROM rtbench.sweep('notify', transport => 'caller', rounds => 1);
SELECT arm, notes ~ 'notifications queued' AS told FROM rtbench.result();
COMMIT;
SELECT 'quiet' AS listener;
UNLISTEN *;

-- committed, what was hidden is in the figures, and notifications do go out
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('no_trigger', steps => ARRAY['INSERT INTO plain SELECT i, ''q'' FROM generate_series(1, 100) i'], ending => 'commit'),
	rtbench.arm('each_row', steps => ARRAY['INSERT INTO job SELECT i, ''q'' FROM generate_series(1, 100) i'], ending => 'commit')],
	check_query => 'SELECT * FROM plain UNION ALL SELECT * FROM job', rounds => 2,
	setup => $$CREATE TABLE plain (id int, queue text); CREATE TABLE job (id int, queue text);
		CREATE FUNCTION n_row() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_notify('rtbench_case', NEW.id::text); RETURN NULL; END $f$;
		CREATE TRIGGER t AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION n_row()$$);
SELECT arm, transactions, fired, commit_ms > 0 AS commit_ms, notes ~ 'not measured' AS not_measured, notes ~ 'notifications are committed: sessions that listen get them' AS told,
	   digest = first_value(digest) OVER () AS same_rows FROM rtbench.result();

SELECT rtbench.drop_scenario('notify');
