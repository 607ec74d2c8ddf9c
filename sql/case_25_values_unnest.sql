-- Batches as VALUES and as unnest(): the same statements, rows and round trips, so what differs is not the number of statements.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_25', 'CREATE TABLE sensor (id int, ts timestamptz, value float8, note text)', swept => 'n', points => '{100,200}') \g /dev/null
SELECT rtbench.add_arm('case_25', arm) FROM unnest(ARRAY[
	rtbench.arm('values_50', rtbench.generated($$
		SELECT 'INSERT INTO sensor VALUES ' || string_agg(format('(%s, %L, %s, %L)', g, '2024-01-01 00:00Z'::timestamptz + g * interval '1 s', g * 0.5, 'n' || g), ',')
		FROM generate_series(1, :n) g GROUP BY (g - 1) / 50$$)),
	rtbench.arm('unnest_50', rtbench.generated($$
		SELECT format('INSERT INTO sensor SELECT * FROM unnest(%L::int[], %L::timestamptz[], %L::float8[], %L::text[])',
			array_agg(g), array_agg('2024-01-01 00:00Z'::timestamptz + g * interval '1 s'), array_agg(g * 0.5), array_agg('n' || g))
		FROM generate_series(1, :n) g GROUP BY (g - 1) / 50$$)),
	rtbench.arm('single_rows', rtbench.generated($$
		SELECT format('INSERT INTO sensor VALUES (%s, %L, %s, %L)', g, '2024-01-01 00:00Z'::timestamptz + g * interval '1 s', g * 0.5, 'n' || g)
		FROM generate_series(1, :n) g$$))]) AS arm \g /dev/null

SELECT count(*) FROM rtbench.sweep('case_25', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
SELECT point, arm, plan_shape FROM rtbench.result();
-- every statement is parsed and planned when it is sent: as many executions as statements, timed one by one
SELECT arm, calls, first_us > 0 AND later_us > 0 AS timed FROM rtbench.step_result() WHERE point = 200;

SELECT rtbench.drop_scenario('case_25');
