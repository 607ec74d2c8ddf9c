#!/bin/bash
# cases.sh: what the times of real cases must show, as ratios of arms measured side by side in one run
#
# The regression tests case_*.sql assert what does not depend on times; here are the growths and ratios that the same
# cases are about, with bounds wide enough for a busy machine.
# The server is that of PGHOST, PGPORT, PGDATABASE, PGUSER, with rtbench installed.
set -eu

psql -X -q -A -t -v ON_ERROR_STOP=1 <<'SQL'
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
SET jit = off;
SET max_parallel_workers_per_gather = 0;
CREATE TEMP TABLE ratios (id serial, what text, ratio numeric, low numeric, high numeric);
-- of the last run: one arm's time over another's, the median of the rounds' ratios; at two points, of all pairs
CREATE FUNCTION pg_temp.note(what text, over text, over_point bigint, under text, under_point bigint, low numeric, high numeric,
	per_point boolean DEFAULT false) RETURNS void LANGUAGE sql AS $$
	INSERT INTO ratios (what, ratio, low, high)
	SELECT what, percentile_cont(0.5) WITHIN GROUP (ORDER BY a.elapsed_ns::float8 / b.elapsed_ns)
		   / CASE WHEN per_point THEN over_point::float8 / under_point ELSE 1 END, low, high
	FROM rtbench.passes a JOIN rtbench.passes b USING (run)
	WHERE run = (SELECT max(run) FROM rtbench.runs) AND a.kind IN ('timed', 'last') AND b.kind IN ('timed', 'last')
	  AND a.arm = over AND a.point IS NOT DISTINCT FROM over_point AND b.arm = under AND b.point IS NOT DISTINCT FROM under_point
	  AND (a.round = b.round OR a.point <> b.point)
	  AND (SELECT bool_and(verdict NOT IN ('failed', 'not comparable')) FROM rtbench.last)
$$;

-- no index on the referencing column
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('per_parent', rtbench.generated('SELECT format(''DELETE FROM author WHERE id = %s'', i) FROM generate_series(1, :n) i')),
	rtbench.arm('set', 'DELETE FROM author WHERE id <= :n'),
	rtbench.arm('children_first', 'DELETE FROM book WHERE author_id <= :n', 'DELETE FROM author WHERE id <= :n'),
	rtbench.arm('set_indexed', before => 'CREATE INDEX ON book (author_id)', steps => ARRAY['DELETE FROM author WHERE id <= :n'])],
	setup => $$CREATE TABLE author (id int PRIMARY KEY, name text NOT NULL);
		CREATE TABLE book (id int PRIMARY KEY, author_id int NOT NULL REFERENCES author ON DELETE CASCADE, title text);
		INSERT INTO author SELECT g, 'a' || g FROM generate_series(1, :n * 2) g;
		INSERT INTO book SELECT g, 1 + g % (:n * 2), repeat('t', 40) FROM generate_series(1, :n * 20) g$$,
	points => '{200,800}', rounds => 6) \g /dev/null
SELECT pg_temp.note('missing index: n statements over one', 'per_parent', 800, 'set', 800, 0.8, 2) \g /dev/null
SELECT pg_temp.note('missing index: one statement over children first', 'set', 800, 'children_first', 800, 0.8, 3) \g /dev/null
SELECT pg_temp.note('missing index: one statement without over with it', 'set', 800, 'set_indexed', 800, 5, 1000) \g /dev/null
SELECT pg_temp.note('missing index: time of a parent, 4 times the table, without', 'set', 800, 'set', 200, 2, 8, true) \g /dev/null
SELECT pg_temp.note('missing index: time of a parent, 4 times the table, with', 'set_indexed', 800, 'set_indexed', 200, 0.4, 2, true) \g /dev/null

-- ids of parents
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one_by_one', rtbench.foreach('INSERT INTO sheet (name) VALUES (''s1'') RETURNING id',
		rtbench.foreach('SELECT $1::int, i FROM generate_series(1, :n) i',
			rtbench.foreach('INSERT INTO cell (sheet_id, pos) VALUES ($1, $2) RETURNING id, pos', 'INSERT INTO comment (cell_id, pos) VALUES ($1, $2)')))),
	rtbench.arm('cte', $$WITH s AS (INSERT INTO sheet (name) VALUES ('s1') RETURNING id),
		c AS (INSERT INTO cell (sheet_id, pos) SELECT s.id, i FROM s, generate_series(1, :n) i RETURNING id, pos)
		INSERT INTO comment (cell_id, pos) SELECT c.id, c.pos FROM c$$)],
	setup => $$CREATE TABLE sheet (id serial PRIMARY KEY, name text);
		CREATE TABLE cell (id serial PRIMARY KEY, sheet_id int NOT NULL REFERENCES sheet, pos int NOT NULL);
		CREATE TABLE comment (id serial PRIMARY KEY, cell_id int NOT NULL REFERENCES cell, pos int NOT NULL);
		CREATE INDEX ON cell (sheet_id); CREATE INDEX ON comment (cell_id)$$,
	points => '{500,2000}', rounds => 6) \g /dev/null
SELECT pg_temp.note('parents'' ids: 2 n + 1 statements over one', 'one_by_one', 2000, 'cte', 2000, 1.1, 6) \g /dev/null
SELECT pg_temp.note('parents'' ids: time of a record, 4 times as many', 'one_by_one', 2000, 'one_by_one', 500, 0.5, 2, true) \g /dev/null

-- the sixth execution
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('prepared', rtbench.foreach('SELECT 1 FROM generate_series(1, 12)',
		'SELECT sum(d.amount) FROM item i JOIN detail d ON d.item_id = i.id WHERE i.tenant = $1'))],
	setup => $$CREATE TABLE item (id int PRIMARY KEY, tenant int NOT NULL, pad text);
		CREATE TABLE detail (item_id int NOT NULL, amount int, pad text);
		INSERT INTO item SELECT g, CASE WHEN g % 2 = 0 THEN 1 ELSE 2 + g % 6000 END, repeat('x', 60) FROM generate_series(1, 60000) g ORDER BY md5(g::text);
		INSERT INTO detail SELECT 1 + (g::bigint * 7919) % 60000, g % 100, repeat('y', 60) FROM generate_series(1, 120000) g ORDER BY md5(g::text);
		CREATE INDEX ON item (tenant); CREATE INDEX ON detail (item_id)$$, rounds => 1) \g /dev/null
INSERT INTO ratios (what, ratio, low, high)
SELECT 'plan changes: an execution after the sixth over one before', generic_us / custom_us, 2, 50 FROM rtbench.step_result() WHERE step = 2;

-- planning
SET join_collapse_limit = 11;
SET geqo = off;
SELECT 'SELECT t1.a, t11.a FROM t1 ' || string_agg(format('JOIN t%s ON t%1$s.id = t%s.next', k, k - 1), ' ' ORDER BY k)
	   || ' WHERE t1.id ' AS query FROM generate_series(2, 11) k \gset
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('text', rtbench.generated(format('SELECT %L || i FROM generate_series(1, 50) i', :'query' || '= '))),
	rtbench.arm('prepared', rtbench.foreach('SELECT i FROM generate_series(1, 50) i', :'query' || '= $1'))],
	setup => $$DO $do$ BEGIN FOR k IN 1..11 LOOP
		EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, next int, a text)', k);
		EXECUTE format('INSERT INTO t%s SELECT g, 1 + (g * 31) %% 2000, md5(g::text) FROM generate_series(1, 2000) g', k);
		EXECUTE format('CREATE INDEX ON t%s (next)', k); END LOOP; END $do$ $$, rounds => 6) \g /dev/null
SELECT pg_temp.note('planning: 50 texts over 50 prepared executions', 'text', NULL, 'prepared', NULL, 3, 100) \g /dev/null
INSERT INTO ratios (what, ratio, low, high)
SELECT 'planning: an execution before the sixth over one after', custom_us / generic_us, 10, 10000 FROM rtbench.step_result() WHERE arm = 'prepared' AND step = 2;

-- row and statement triggers
SELECT count(*) FROM rtbench.compare((
	SELECT array_agg(rtbench.arm(trigger || '_' || way, ARRAY[step], before => made))
	FROM (VALUES ('row', 'CREATE TRIGGER t AFTER UPDATE ON upd FOR EACH ROW EXECUTE FUNCTION log_row()'),
			('statement', 'CREATE TRIGGER t AFTER UPDATE ON upd REFERENCING NEW TABLE AS newtab FOR EACH STATEMENT EXECUTE FUNCTION log_stmt()')) t(trigger, made),
		(VALUES ('sent', rtbench.generated($$SELECT format('UPDATE upd SET val = val || ''x'' WHERE id = %s', i) FROM generate_series(1, 3000) i$$)),
			('set', rtbench.step($$UPDATE upd SET val = val || 'x'$$))) w(way, step)),
	setup => $$CREATE UNLOGGED TABLE upd (id int PRIMARY KEY, val text NOT NULL);
		CREATE UNLOGGED TABLE log (id int NOT NULL, new_val text NOT NULL);
		INSERT INTO upd SELECT g, 'text ' || g FROM generate_series(1, 3000) g;
		CREATE FUNCTION log_row() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN INSERT INTO log VALUES (NEW.id, NEW.val); RETURN NULL; END $f$;
		CREATE FUNCTION log_stmt() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN INSERT INTO log SELECT id, val FROM newtab; RETURN NULL; END $f$ $$,
	rounds => 20) \g /dev/null
SELECT pg_temp.note('triggers: row over statement, one set statement', 'row_set', NULL, 'statement_set', NULL, 1.15, 4) \g /dev/null
SELECT pg_temp.note('triggers: row over statement, single-row statements', 'row_sent', NULL, 'statement_sent', NULL, 0.7, 1.4) \g /dev/null

-- notifications
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('plain', 'INSERT INTO job SELECT i FROM generate_series(1, 10000) i'),
	rtbench.arm('notify', before => 'CREATE TRIGGER t AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION n_row()', steps => ARRAY['INSERT INTO job SELECT i FROM generate_series(1, 10000) i'])],
	setup => $$CREATE TABLE job (id int);
		CREATE FUNCTION n_row() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN PERFORM pg_notify('rtbench_case', NEW.id::text); RETURN NULL; END $f$ $$,
	rounds => 6) \g /dev/null
SELECT pg_temp.note('notifications: queued over none', 'notify', NULL, 'plain', NULL, 1.5, 20) \g /dev/null

-- TRUNCATE
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('truncate', rtbench.generated('SELECT ''TRUNCATE '' || string_agg(''m'' || k, '', '') FROM generate_series(1, 40) k')),
	rtbench.arm('delete', rtbench.generated('SELECT ''DELETE FROM m'' || k FROM generate_series(1, 40) k'))],
	setup => $$DO $do$ BEGIN FOR k IN 1..40 LOOP EXECUTE format('CREATE TABLE m%s (id serial PRIMARY KEY, name text)', k);
		EXECUTE format('INSERT INTO m%s (name) VALUES (''a''), (''b''), (''c'')', k); END LOOP; END $do$ $$, rounds => 6) \g /dev/null
SELECT pg_temp.note('TRUNCATE: one of 40 small tables over 40 DELETEs', 'truncate', NULL, 'delete', NULL, 4, 1000) \g /dev/null
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('truncate', 'TRUNCATE big'), rtbench.arm('delete', 'DELETE FROM big')],
	setup => 'CREATE TABLE big (id serial PRIMARY KEY, name text); INSERT INTO big (name) SELECT ''x'' FROM generate_series(1, 200000)', rounds => 4) \g /dev/null
SELECT pg_temp.note('TRUNCATE: DELETE of one large table over it', 'delete', NULL, 'truncate', NULL, 3, 10000) \g /dev/null

-- one string
SELECT string_agg(format('DELETE FROM m%s WHERE note <> ''x;y''', k), ';') AS one_string FROM generate_series(1, 200) k \gset
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one_by_one', rtbench.generated($$SELECT format('DELETE FROM m%s WHERE note <> ''x;y''', k) FROM generate_series(1, 200) k$$)),
	rtbench.arm('one_string', :'one_string')],
	setup => $$DO $do$ BEGIN FOR k IN 1..200 LOOP EXECUTE format('CREATE TABLE m%s (id int PRIMARY KEY, note text)', k); END LOOP; END $do$ $$, rounds => 10) \g /dev/null
SELECT pg_temp.note('one string: 200 statements apart over 200 in one (no network here)', 'one_by_one', NULL, 'one_string', NULL, 0.3, 3) \g /dev/null

-- a loop in the server
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('text', rtbench.generated('SELECT format(''INSERT INTO t (v) VALUES (%L)'', ''v'' || i) FROM generate_series(1, 2000) i')),
	rtbench.arm('prepared', rtbench.foreach('SELECT ''v'' || i FROM generate_series(1, 2000) i', 'INSERT INTO t (v) VALUES ($1)')),
	rtbench.arm('call', 'CALL p(2000)')],
	setup => $$CREATE TABLE t (k int GENERATED ALWAYS AS IDENTITY PRIMARY KEY, v varchar(100) NOT NULL);
		CREATE PROCEDURE p(m int) LANGUAGE plpgsql AS $f$ BEGIN FOR i IN 1..m LOOP INSERT INTO t (v) VALUES ('v' || i); END LOOP; END $f$ $$, rounds => 10) \g /dev/null
SELECT pg_temp.note('procedure: texts over CALL', 'text', NULL, 'call', NULL, 1.3, 6) \g /dev/null
SELECT pg_temp.note('procedure: prepared over CALL (no network here)', 'prepared', NULL, 'call', NULL, 0.6, 1.6) \g /dev/null

-- upserts
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('loop', rtbench.generated($$SELECT format('INSERT INTO contact (phone, name) VALUES (%s, %L) ON CONFLICT (phone) DO UPDATE SET name = excluded.name', phone, name) FROM input ORDER BY ord$$)),
	rtbench.arm('last_wins', 'INSERT INTO contact (phone, name) SELECT DISTINCT ON (phone) phone, name FROM input ORDER BY phone, ord DESC ON CONFLICT (phone) DO UPDATE SET name = excluded.name')],
	setup => $$CREATE TABLE contact (phone int PRIMARY KEY, name text, seen int DEFAULT 1);
		CREATE TABLE input (ord int PRIMARY KEY, phone int, name text);
		INSERT INTO input SELECT g, CASE WHEN g % 10 = 0 THEN g - 5 ELSE g END, 'n' || g FROM generate_series(1, 2000) g$$, rounds => 10) \g /dev/null
SELECT pg_temp.note('upserts: 2000 statements over one', 'loop', NULL, 'last_wins', NULL, 2, 50) \g /dev/null

SELECT format('%s %s  within %s to %s  %s', rpad(what, 66), lpad(coalesce(round(ratio, 2)::text, '?'), 8), low, high,
	CASE WHEN ratio BETWEEN low AND high THEN 'OK' ELSE 'NOT OK' END) FROM ratios ORDER BY id;
SELECT 1 / (count(*) FILTER (WHERE ratio BETWEEN low AND high) = count(*))::int FROM ratios \g /dev/null
SQL
