-- A numeric parameter on an int column: no index, so a statement's work grows with the table; batching only hides it.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_31', 'CREATE TABLE data (id int PRIMARY KEY, v int); INSERT INTO data SELECT g, g FROM generate_series(1, :n * 1000) g',
	swept => 'n', points => '{5,20}') \g /dev/null
SELECT rtbench.add_arm('case_31', arm) FROM unnest(ARRAY[
	rtbench.arm('numeric_loop', rtbench.foreach('SELECT g * 7 FROM generate_series(1, :n) g', rtbench.step('SELECT v FROM data WHERE id = $1', types => '{numeric}'))),
	rtbench.arm('int_loop', rtbench.foreach('SELECT (g * 7)::numeric FROM generate_series(1, :n) g', rtbench.step('SELECT v FROM data WHERE id = $1', types => '{int}'))),
	rtbench.arm('inferred_loop', rtbench.foreach('SELECT (g * 7)::numeric FROM generate_series(1, :n) g', 'SELECT v FROM data WHERE id = $1')),
	rtbench.arm('literal_loop', rtbench.generated($$SELECT format('SELECT v FROM data WHERE id = %s', g * 7) FROM generate_series(1, :n) g$$)),
	rtbench.arm('numeric_array', rtbench.generated($$SELECT format('SELECT v FROM data WHERE id = ANY (%L::numeric[])', array_agg(g * 7)) FROM generate_series(1, :n) g$$)),
	rtbench.arm('int_array', rtbench.generated($$SELECT format('SELECT v FROM data WHERE id = ANY (%L::int[])', array_agg(g * 7)) FROM generate_series(1, :n) g$$))]) AS arm \g /dev/null

SELECT count(*) FROM rtbench.sweep('case_31', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
SELECT DISTINCT checked FROM rtbench.result();
-- the type decides between the table and its index, row by row or at once
SELECT arm, plan_shape FROM rtbench.result() WHERE point = 20;
-- pages a statement reads: with the table where the whole of it is read, a few where an index is
SELECT arm, round(max(buffers / statements) FILTER (WHERE point = 20)::numeric / max(buffers / statements) FILTER (WHERE point = 5)) > 2 AS grows
FROM rtbench.result() WHERE arm LIKE '%loop' OR arm = 'numeric_array' GROUP BY arm ORDER BY arm;

SELECT rtbench.drop_scenario('case_31');
