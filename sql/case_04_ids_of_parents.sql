-- Children that need the ids of their parents: the same work although ids are drawn from sequences, which no rollback
-- sets back.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

CREATE TEMP TABLE ways (position int, arm jsonb);
INSERT INTO ways VALUES
	(1, rtbench.arm('one_by_one',
		rtbench.step('INSERT INTO sheet (name) VALUES (''s1'') RETURNING id'),
		rtbench.generated($$SELECT
			format('INSERT INTO cell (sheet_id, pos, val) VALUES (currval(''sheet_id_seq''), %s, %L) RETURNING id', i, 'v' || i),
			format('INSERT INTO comment (cell_id, body) VALUES (currval(''cell_id_seq''), %L) RETURNING id', 'c' || i)
			FROM generate_series(1, :n) i$$))),
	(2, rtbench.arm('nested',
		rtbench.foreach('INSERT INTO sheet (name) VALUES (''s1'') RETURNING id',
			rtbench.foreach('INSERT INTO cell (sheet_id, pos, val) SELECT $1, i, ''v'' || i FROM generate_series(1, :n) i RETURNING id, pos',
				'INSERT INTO comment (cell_id, body) VALUES ($1, ''c'' || $2)')))),
	(3, rtbench.arm('three_multirow',
		rtbench.foreach('INSERT INTO sheet (name) VALUES (''s1'') RETURNING id',
			rtbench.generated($$SELECT 'INSERT INTO cell (sheet_id, pos, val) VALUES '
				|| string_agg(format('(%s, %s, %L)', $1, i, 'v' || i), ', ' ORDER BY i) FROM generate_series(1, :n) i$$),
			rtbench.generated($$SELECT 'INSERT INTO comment (cell_id, body) SELECT c.id, v.b FROM cell c JOIN (VALUES '
				|| string_agg(format('(%s, %L)', i, 'c' || i), ', ' ORDER BY i) || ') v(pos, b) USING (pos) WHERE c.sheet_id = '
				|| $1 || ' ORDER BY c.id' FROM generate_series(1, :n) i$$)))),
	(4, rtbench.arm('cte_chain', $$
		WITH s AS (INSERT INTO sheet (name) VALUES ('s1') RETURNING id),
			 c AS (INSERT INTO cell (sheet_id, pos, val) SELECT s.id, i, 'v' || i FROM s, generate_series(1, :n) i RETURNING id, pos)
		INSERT INTO comment (cell_id, body) SELECT c.id, 'c' || c.pos FROM c$$));
SELECT $$
	CREATE TABLE sheet (id serial PRIMARY KEY, name text);
	CREATE TABLE cell (id serial PRIMARY KEY, sheet_id int NOT NULL REFERENCES sheet, pos int NOT NULL, val text);
	CREATE TABLE comment (id serial PRIMARY KEY, cell_id int NOT NULL REFERENCES cell, body text);
	CREATE INDEX ON cell (sheet_id);
	CREATE INDEX ON comment (cell_id);
$$ AS tables \gset

-- in a fixture sequences are set back before each pass, so that even the ids are equal; what a driver that inserts
-- fires (the foreign key's check of each row, up to PostgreSQL 18: later it is no statement) is counted as for any other statement
SELECT count(*) AS rows FROM rtbench.compare((SELECT array_agg(arm ORDER BY position) FROM ways), :'tables', points => '{5,50}', rounds => 2);
SELECT point, arm, round_trips, statements, fired = CASE WHEN current_setting('server_version_num')::int < 190000 THEN 2 * point ELSE 0 END AS fired, xids, digest = first_value(digest) OVER (PARTITION BY point) AS same_rows,
	   verdict = 'not comparable' AS not_comparable, checked
FROM rtbench.result();

-- on tables of one's own the ids go on from pass to pass: no arm is the same as itself, and what differs is named
CREATE SCHEMA regress_case_04;
SET search_path = regress_case_04;
:tables
SELECT arm, verdict FROM rtbench.compare((SELECT array_agg(arm ORDER BY position) FROM ways), parameters => '{"n": 20}', rounds => 2);
SELECT arm, notes ~ 'cell.*\mid\M.*\msheet_id\M.*comment.*\mid\M.*\mcell_id\M.*sheet.*\mid\M' AS names_the_ids,
	   notes !~ '\m(pos|val|body|name)\M.*rows only' AS and_nothing_else,
	   notes ~ 'advances sequence regress_case_04.cell_id_seq, which no rollback sets back' AS sequences_told
FROM rtbench.result();

-- the check query without them is given, ready for use
SELECT DISTINCT substring(notes FROM 'check_query => (''.*''\)?)(?:;|$)') IS NOT NULL AS given FROM rtbench.result();
SELECT substring(notes FROM 'check_query => ''(.*?[^''])''(?:[^'']|$)') AS check_query FROM rtbench.result() LIMIT 1 \gset
SELECT replace(:'check_query', '''''', '''') AS check_query \gset
\echo :check_query
SELECT count(*) AS rows FROM rtbench.compare((SELECT array_agg(arm ORDER BY position) FROM ways), parameters => '{"n": 20}',
	check_query => :'check_query', rounds => 2);
SELECT arm, verdict = 'not comparable' AS not_comparable, checked FROM rtbench.result();

-- leaving columns out by name does the same
SELECT count(*) AS rows FROM rtbench.compare((SELECT array_agg(arm ORDER BY position) FROM ways), parameters => '{"n": 20}',
	ignore_columns => '{id,sheet_id,cell_id}', rounds => 2);
SELECT arm, verdict = 'not comparable' AS not_comparable, checked FROM rtbench.result();
SELECT count(*) AS rows_left FROM sheet;

-- a parameter that is used as two types fails as it does for any client, and the way out is told
SELECT arm, verdict FROM rtbench.compare(ARRAY[
	rtbench.arm('two_types', rtbench.foreach('SELECT 1, 2', 'INSERT INTO cell (sheet_id, pos, val) VALUES ($1, $2, ''v'' || $2)'))], rounds => 1);
SELECT arm, notes ~ '42P08.*step 2' AS told FROM rtbench.result();

RESET search_path;
DROP SCHEMA regress_case_04 CASCADE;
