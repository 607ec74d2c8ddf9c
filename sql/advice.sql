-- Why a table is read whole: a missing index, a parameter's type, a volatile function: named where the plans show it, and only there.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\pset null -
CREATE TEMP VIEW advice AS
SELECT DISTINCT r.arm, n.note FROM rtbench.result() AS r, regexp_split_to_table(r.notes, '; ') AS n (note) WHERE n.note ~ '^index';

-- a foreign key without an index on its referencing side, behind a DELETE whose own plan shows nothing of it
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('per_parent', rtbench.generated('SELECT format(''DELETE FROM author WHERE id = %s'', i) FROM generate_series(1, :n) i')),
	rtbench.arm('set_delete', 'DELETE FROM author WHERE id <= :n'),
	rtbench.arm('children_first', 'DELETE FROM book WHERE author_id <= :n', 'DELETE FROM author WHERE id <= :n'),
	rtbench.arm('indexed', before => 'CREATE INDEX ON book (author_id)', steps => ARRAY[
		rtbench.generated('SELECT format(''DELETE FROM author WHERE id = %s'', i) FROM generate_series(1, :n) i')])],
	setup => $$
	CREATE TABLE author (id int PRIMARY KEY, name text NOT NULL);
	CREATE TABLE book (id int PRIMARY KEY, author_id int NOT NULL REFERENCES author ON DELETE CASCADE, title text);
	INSERT INTO author SELECT g, 'a' || g FROM generate_series(1, :n * 2) g;
	INSERT INTO book SELECT g, 1 + g % (:n * 2), repeat('t', 40) FROM generate_series(1, :n * 40) g;
$$, points => '{40,160}', rounds => 8, control => false);
SELECT * FROM advice ORDER BY 1, 2;
-- scaling says the same, and never that there are too many statements
SELECT arm, coalesce(notes ~ 'book is read whole by 160 fired statements', false) AS reads_whole, coalesce(notes ~ 'index missing: foreign key book\(author_id\) -> author', false) AS names_it, coalesce(notes, '') ~* 'too many' AS blames_statements
FROM rtbench.scaling() ORDER BY arm;

-- NO ACTION, several columns, names that need quotes, a partial index that does not help, one on a prefix that does
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('delete', 'DELETE FROM "Parent"')], setup => $$
	CREATE TABLE "Parent" (a int, "B" text, PRIMARY KEY (a, "B"));
	INSERT INTO "Parent" SELECT g, 'x' FROM generate_series(1, 3) g;
	CREATE TABLE no_index (a int, "b 2" text, FOREIGN KEY (a, "b 2") REFERENCES "Parent");
	CREATE TABLE partly (a int, b text, FOREIGN KEY (a, b) REFERENCES "Parent");
	CREATE INDEX ON partly (a) WHERE a > 5;
	CREATE TABLE helped (a int, b text, FOREIGN KEY (a, b) REFERENCES "Parent");
	CREATE INDEX ON helped (a);
$$, rounds => 2);
SELECT * FROM advice ORDER BY 1, 2;

-- a parameter's or literal's type that the column must be cast to
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('numeric_loop', rtbench.foreach('SELECT g * 7 FROM generate_series(1, 5) g', rtbench.step('SELECT v FROM data WHERE id = $1', types => '{numeric}'))),
	rtbench.arm('int_loop', rtbench.foreach('SELECT g * 7 FROM generate_series(1, 5) g', 'SELECT v FROM data WHERE id = $1')),
	rtbench.arm('literal', 'SELECT v FROM data WHERE 7.0 = id'),
	rtbench.arm('array', 'SELECT v FROM data WHERE id = ANY (''{7,14}''::numeric[])'),
	rtbench.arm('as_text', 'SELECT v FROM data WHERE id::text = ''7'''),
	rtbench.arm('not_indexed', 'SELECT v FROM data WHERE v = 7.0'),
	rtbench.arm('varchar', 'SELECT v FROM data WHERE name = ''7''::text'),
	rtbench.arm('other_column', 'SELECT a.v FROM data a JOIN data b ON a.id = b.v::numeric WHERE b.id = 1')],
	setup => 'CREATE TABLE data (id int PRIMARY KEY, v int, name varchar UNIQUE); INSERT INTO data SELECT g, g, g FROM generate_series(1, 2000) g', rounds => 2);
SELECT * FROM advice ORDER BY 1, 2;

-- a volatile function in the filter of an indexed column
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('volatile', 'SELECT id FROM demo WHERE id = fv(20, 30)'),
	rtbench.arm('stable', 'SELECT id FROM demo WHERE id = fs(20, 30)'),
	rtbench.arm('built_in', 'SELECT id FROM demo WHERE id > 3000 * (1 + random())::int'),
	rtbench.arm('once', 'SELECT id FROM demo WHERE id = (SELECT fv(20, 30))'),
	rtbench.arm('not_indexed', 'SELECT id FROM demo WHERE v = fv(20, 30)'),
	rtbench.arm('update_in_cte', 'WITH u AS (UPDATE demo SET v = 1 WHERE id = fv(20, 30) RETURNING id) SELECT * FROM u')],
	setup => $$
	CREATE TABLE demo AS SELECT g AS id, g AS v FROM generate_series(1, 2000) g;
	CREATE INDEX ON demo (id);
	CREATE FUNCTION fv(a int, b int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN greatest(a, b); END';
	CREATE FUNCTION fs(a int, b int) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN greatest(a, b); END';
$$, rounds => 2);
SELECT * FROM advice ORDER BY 1, 2;
