-- TRUNCATE of small tables beside DELETE: one statement and the slow one, not all of its time measured, and with
-- RESTART IDENTITY other work although the rows that are left are the same.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

SELECT rtbench.create_scenario('empty_tables', swept => 'n', points => '{4}', setup => $$
	DO $do$
	BEGIN
		FOR k IN 1..:n LOOP
			EXECUTE format('CREATE TABLE m%s (id serial PRIMARY KEY, name text)', k);
			EXECUTE format('INSERT INTO m%s (name) VALUES (''a''), (''b''), (''c'')', k);
		END LOOP;
	END
	$do$
$$);
SELECT rtbench.add_arm('empty_tables', arm) FROM unnest(ARRAY[
	rtbench.arm('truncate_list', rtbench.generated('SELECT ''TRUNCATE '' || string_agg(''m'' || k, '', '') FROM generate_series(1, :n) k')),
	rtbench.arm('truncate_each', rtbench.generated('SELECT ''TRUNCATE m'' || k FROM generate_series(1, :n) k')),
	rtbench.arm('delete_each', rtbench.generated('SELECT ''DELETE FROM m'' || k FROM generate_series(1, :n) k')),
	rtbench.arm('truncate_restart', rtbench.generated('SELECT ''TRUNCATE '' || string_agg(''m'' || k, '', '') || '' RESTART IDENTITY'' FROM generate_series(1, :n) k'))]) arm;
SELECT count(*) AS rows FROM rtbench.sweep('empty_tables', rounds => 8, control => false);

SELECT arm, statements, rows, digest = first_value(digest) OVER () AS same_rows,
	   CASE WHEN arm = 'truncate_restart' THEN verdict ELSE (verdict <> 'not comparable')::text END AS verdict,
	   coalesce(notes, '') ~ 'TRUNCATE: .* at commit is not measured, the time is a lower bound' AS lower_bound,
	   coalesce(notes, '') ~ 'ACCESS EXCLUSIVE lock keeps readers out' AS locks_told, coalesce(notes, '') ~ 'triggers on DELETE do not fire' AS triggers_told
FROM rtbench.result();
SELECT arm, substring(notes FROM 'sequences: [^;]*') AS sequences FROM rtbench.result();

-- also when all of pg_class is read to find them
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT arm, verdict FROM rtbench.sweep('empty_tables', arms => '{delete_each,truncate_restart}', rounds => 1);
RESET enable_indexscan;
RESET enable_bitmapscan;

-- whoever names a check query has said what counts: then it is told, no more
SELECT count(*) AS rows FROM rtbench.sweep('empty_tables', check_query => 'SELECT * FROM m1', arms => '{truncate_restart,delete_each}', rounds => 2);
SELECT arm, verdict = 'not comparable' AS not_comparable, substring(notes FROM 'sequences: [^;]*') AS sequences FROM rtbench.result();

-- on a table of one's own: the sequence is as it was, since TRUNCATE's transaction sets it back
CREATE SCHEMA regress_case_15;
CREATE TABLE regress_case_15.m (id serial PRIMARY KEY, name text);
INSERT INTO regress_case_15.m (name) VALUES ('a'), ('b'), ('c');
SELECT arm, verdict FROM rtbench.compare(ARRAY[
	rtbench.arm('delete', 'DELETE FROM regress_case_15.m'),
	rtbench.arm('truncate', 'TRUNCATE regress_case_15.m RESTART IDENTITY')], rounds => 1);
SELECT arm, substring(notes FROM 'sequences: [^;]*') AS sequences, coalesce(notes ~ 'advances sequence', false) AS advances FROM rtbench.result();
SELECT last_value, is_called FROM regress_case_15.m_id_seq;
SELECT count(*) AS rows FROM regress_case_15.m;

-- arms that draw other numbers of values, which is no more than a note; these do move the user's own sequence
SELECT count(*) AS rows FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO regress_case_15.m (name) VALUES (''x'')'),
	rtbench.arm('two', 'INSERT INTO regress_case_15.m (name) VALUES (''x'') ON CONFLICT DO NOTHING', 'SELECT nextval(''regress_case_15.m_id_seq'')')],
	ignore_columns => '{id}', rounds => 1);
SELECT arm, verdict = 'not comparable' AS not_comparable, substring(notes FROM 'values drawn [^;]*') AS drawn,
	   substring(notes FROM 'advances [^;]*') AS advances
FROM rtbench.result();

DROP SCHEMA regress_case_15 CASCADE;
-- committed, nothing is left out: new files, their removal and the locks' end; the tables are there again before every pass
SELECT rtbench.create_scenario('empty_tables_committed', swept => 'n', points => '{4}', setup => $$
	DO $do$
	BEGIN
		FOR k IN 1..:n LOOP
			EXECUTE format('CREATE TABLE m%s (id serial PRIMARY KEY, name text)', k);
			EXECUTE format('INSERT INTO m%s (name) VALUES (''a''), (''b''), (''c'')', k);
		END LOOP;
	END
	$do$
$$);
SELECT rtbench.add_arm('empty_tables_committed', rtbench.arm(a.name, steps => ARRAY[rtbench.generated(a.query)], ending => a.ending)) FROM (VALUES
	('delete_each', 'commit', 'SELECT ''DELETE FROM m'' || k FROM generate_series(1, :n) k'),
	('truncate_each', 'commit', 'SELECT ''TRUNCATE m'' || k FROM generate_series(1, :n) k'),
	('truncate_autocommit', 'autocommit', 'SELECT ''TRUNCATE m'' || k FROM generate_series(1, :n) k'),
	('truncate_list', 'commit', 'SELECT ''TRUNCATE '' || string_agg(''m'' || k, '', '') FROM generate_series(1, :n) k'),
	('truncate_restart', 'commit', 'SELECT ''TRUNCATE '' || string_agg(''m'' || k, '', '') || '' RESTART IDENTITY'' FROM generate_series(1, :n) k')) a (name, ending, query) \g /dev/null
CALL rtbench.run_sweep('empty_tables_committed', rounds => 2);
SELECT arm, statements, rows, transactions, xids, commit_ms > 0 AS commit_ms, digest = first_value(digest) OVER () AS same_rows,
	   CASE WHEN arm = 'truncate_restart' THEN verdict ELSE (verdict <> 'not comparable')::text END AS verdict, notes ~ 'lower bound' AS lower_bound
FROM rtbench.result();
SELECT rtbench.drop_scenario('empty_tables_committed');
SELECT rtbench.drop_scenario('empty_tables');
