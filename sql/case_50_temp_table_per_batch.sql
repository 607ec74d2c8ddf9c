-- A temporary table for each batch: statements that change the catalogs, whose dead rows stay; no staging table at all needs none of them.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_50', $$
	CREATE TABLE target (id int PRIMARY KEY, v text);
	INSERT INTO target SELECT g, 'old' FROM generate_series(1, :n, 2) g
$$, swept => 'n', points => '{100}') \g /dev/null
SELECT rtbench.add_arm('case_50', arm) FROM unnest(ARRAY[
	rtbench.arm('temp_per_batch', rtbench.generated($$SELECT unnest(ARRAY[format('CREATE TEMP TABLE stg_%s (id int, v text)', b),
		format('INSERT INTO stg_%s SELECT g, ''new'' FROM generate_series(%s, %s) g', b, b * 20 + 1, b * 20 + 20),
		format('INSERT INTO target SELECT * FROM stg_%s ON CONFLICT (id) DO UPDATE SET v = excluded.v', b), format('DROP TABLE stg_%s', b)]) FROM generate_series(0, :n / 20 - 1) b$$)),
	rtbench.arm('temp_truncated', rtbench.step('CREATE TEMP TABLE stg (id int, v text) ON COMMIT DROP'), rtbench.generated($$SELECT unnest(ARRAY['TRUNCATE stg',
		format('INSERT INTO stg SELECT g, ''new'' FROM generate_series(%s, %s) g', b * 20 + 1, b * 20 + 20),
		'INSERT INTO target SELECT * FROM stg ON CONFLICT (id) DO UPDATE SET v = excluded.v']) FROM generate_series(0, :n / 20 - 1) b$$)),
	rtbench.arm('unnest_per_batch', rtbench.generated($$SELECT format('INSERT INTO target SELECT u, ''new'' FROM unnest(%L::int[]) u ON CONFLICT (id) DO UPDATE SET v = excluded.v', array_agg(g))
		FROM generate_series(1, :n) g GROUP BY (g - 1) / 20$$)),
	rtbench.arm('one_batch', 'INSERT INTO target SELECT g, ''new'' FROM generate_series(1, :n) g ON CONFLICT (id) DO UPDATE SET v = excluded.v')]) AS arm \g /dev/null
SELECT count(*) FROM rtbench.sweep('case_50', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
SELECT DISTINCT checked FROM rtbench.result();
SELECT arm, array_to_string(ARRAY(SELECT s FROM regexp_split_to_table(plan_shape, ' \| ') s WHERE s ~ 'TABLE'), ', ') AS ddl FROM rtbench.result();
-- no such table is left
SELECT count(*) AS left_over FROM pg_class WHERE relname LIKE 'stg%';

SELECT rtbench.drop_scenario('case_50');
