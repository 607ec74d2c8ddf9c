-- WHERE id = f(...) with a volatile function reads the whole table with a call for each row, which looks as if functions were slow.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_45', $$
	CREATE TABLE demo AS SELECT g AS id FROM generate_series(1, :n * 200) g;
	CREATE INDEX ON demo (id);
	CREATE FUNCTION fv(a int, b int) RETURNS int LANGUAGE plpgsql VOLATILE AS 'BEGIN RETURN greatest(a, b); END';
	CREATE FUNCTION fs(a int, b int) RETURNS int LANGUAGE plpgsql STABLE AS 'BEGIN RETURN greatest(a, b); END';
	CREATE FUNCTION fi(a int, b int) RETURNS int LANGUAGE plpgsql IMMUTABLE AS 'BEGIN RETURN greatest(a, b); END';
	CREATE FUNCTION fq(a int, b int) RETURNS int LANGUAGE sql VOLATILE AS 'SELECT greatest(a, b)';
	CREATE FUNCTION fn(a int, b int) RETURNS int LANGUAGE sql VOLATILE STRICT AS 'SELECT greatest(a, b)'
$$, swept => 'n', points => '{10,40}') \g /dev/null
SELECT rtbench.add_arm('case_45', rtbench.arm(name, rtbench.foreach('SELECT FROM generate_series(1, 5)', format('SELECT id FROM demo WHERE id = %s', f))))
FROM (VALUES ('literal', '30'), ('volatile_plpgsql', 'fv(20, 30)'), ('stable_plpgsql', 'fs(20, 30)'), ('immutable_plpgsql', 'fi(20, 30)'), ('inlined_sql', 'fq(20, 30)')) AS v (name, f) \g /dev/null
SELECT count(*) FROM rtbench.sweep('case_45', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
-- the volatile one reads the table, and grows with it; rtbench runs the SQL as it is written: what is inlined or folded stays so
SELECT arm, regexp_replace(string_agg(DISTINCT plan_shape, ' and '), ' Only', '') AS plan_shape, (max(buffers) - min(buffers))::numeric / min(buffers) > 1 AS grows
FROM rtbench.result() GROUP BY arm ORDER BY arm;
SELECT arm, count(*) FILTER (WHERE speedup < 0.5) AS slower FROM rtbench.result() WHERE arm = 'volatile_plpgsql' AND point = 40 GROUP BY arm;

-- a call for each row: one statement all the same, but for SQL functions that cannot be inlined, which is said
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('per_row_plpgsql', 'SELECT sum(fv(id, 3)) FROM demo'),
	rtbench.arm('per_row_sql', 'SELECT sum(fq(id, 3)) FROM demo'),
	rtbench.arm('per_row_sql_strict', 'SELECT sum(fn(id, 3)) FROM demo')],
	setup => (SELECT s.setup FROM rtbench.scenario_definitions s WHERE name = 'case_45'), points => '{10}', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;

SELECT rtbench.drop_scenario('case_45');
