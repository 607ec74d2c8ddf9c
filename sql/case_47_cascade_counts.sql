-- A cascade runs a statement for each parent and child table behind one DELETE: counted as fired, for every way of asking.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_47', $$
	CREATE TABLE parent (id int PRIMARY KEY);
	CREATE TABLE child1 (id int PRIMARY KEY, pid int REFERENCES parent ON DELETE CASCADE);
	CREATE TABLE child2 (id int PRIMARY KEY, pid int REFERENCES parent ON DELETE CASCADE);
	CREATE TABLE child3 (id int PRIMARY KEY, pid int REFERENCES parent ON DELETE CASCADE);
	CREATE INDEX ON child1 (pid);
	CREATE INDEX ON child2 (pid);
	CREATE INDEX ON child3 (pid);
	INSERT INTO parent SELECT generate_series(1, :n * 2);
	INSERT INTO child1 SELECT g, 1 + g % (:n * 2) FROM generate_series(1, :n * 4) g;
	INSERT INTO child2 SELECT g, 1 + g % (:n * 2) FROM generate_series(1, :n * 4) g;
	INSERT INTO child3 SELECT g, 1 + g % (:n * 2) FROM generate_series(1, :n * 4) g
$$, swept => 'n', points => '{20,60}') \g /dev/null
SELECT rtbench.add_arm('case_47', arm) FROM unnest(ARRAY[
	rtbench.arm('cascade_one_delete', 'DELETE FROM parent WHERE id <= :n'),
	rtbench.arm('children_first_set', 'DELETE FROM child1 WHERE pid <= :n', 'DELETE FROM child2 WHERE pid <= :n', 'DELETE FROM child3 WHERE pid <= :n', 'DELETE FROM parent WHERE id <= :n'),
	rtbench.arm('cte_one_statement', 'WITH a AS (DELETE FROM child1 WHERE pid <= :n), b AS (DELETE FROM child2 WHERE pid <= :n), c AS (DELETE FROM child3 WHERE pid <= :n) DELETE FROM parent WHERE id <= :n'),
	rtbench.arm('per_parent', rtbench.foreach('SELECT generate_series(1, :n)', 'DELETE FROM parent WHERE id = $1')),
	rtbench.arm('orm_style', rtbench.foreach('SELECT generate_series(1, :n)', 'DELETE FROM child1 WHERE pid = $1', 'DELETE FROM child2 WHERE pid = $1', 'DELETE FROM child3 WHERE pid = $1',
		'DELETE FROM parent WHERE id = $1'))]) AS arm \g /dev/null
SELECT count(*) FROM rtbench.sweep('case_47', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
SELECT DISTINCT checked FROM rtbench.result();
-- what was fired, by table
SELECT regexp_replace(f, ' -> .*', '') AS fired, count(*) AS arms
FROM rtbench.result(), regexp_split_to_table(notes, '; ') AS n, regexp_split_to_table(substr(n, 8), ' \| ') AS f WHERE point = 60 AND n LIKE 'fired: %' GROUP BY 1 ORDER BY 1;
-- three times the parents, three times the fired statements
SELECT arm, max(fired) FILTER (WHERE point = 60) = 3 * max(fired) FILTER (WHERE point = 20) AS linear FROM rtbench.result() GROUP BY arm ORDER BY arm;

SELECT rtbench.drop_scenario('case_47');
