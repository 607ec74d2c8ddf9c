-- Sums of floating-point values differ in their last digits with the order of the additions: named as that, and not as different work.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

-- several sums, so that they cannot all be alike by chance
SELECT rtbench.create_scenario('case_37', $$
	CREATE TABLE reading (id int, k int, d float8);
	SELECT setseed(0.42);
	INSERT INTO reading SELECT g, g % 20, random() * 1e6 FROM generate_series(1, :n) g;
	CREATE TABLE total (k int, d float8)
$$, swept => 'n', points => '{4000}') \g /dev/null
SELECT rtbench.add_arm('case_37', arm) FROM unnest(ARRAY[
	rtbench.arm('one_order', 'SELECT k, avg(d), sum(d) FROM (SELECT * FROM reading ORDER BY id) q GROUP BY k'),
	rtbench.arm('other_order', 'SELECT k, avg(d), sum(d) FROM (SELECT * FROM reading ORDER BY d) q GROUP BY k'),
	rtbench.arm('any_order', 'SELECT k, avg(d), sum(d) FROM (SELECT * FROM reading ORDER BY random()) q GROUP BY k'),
	rtbench.arm('any_row_order', 'SELECT * FROM (SELECT k, avg(d), sum(d) FROM (SELECT * FROM reading ORDER BY id) q GROUP BY k) q ORDER BY random()'),
	rtbench.arm('other_values', 'SELECT k, avg(d), sum(d + 0.01) FROM (SELECT * FROM reading ORDER BY id) q GROUP BY k'),
	rtbench.arm('other_keys', 'SELECT 20 - k, avg(d), sum(d) FROM (SELECT * FROM reading ORDER BY id) q GROUP BY k')]) AS arm \g /dev/null
SELECT count(*) FROM rtbench.sweep('case_37', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
-- an arm that differs from itself as baseline: the others are not held against it
SELECT count(*) FROM rtbench.sweep('case_37', rounds => 2, baseline => 'any_order', arms => '{any_order,one_order}');
SELECT * FROM notes;

-- the way out: rounded, or added as numeric
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one_order', 'SELECT k, round(sum(d)::numeric, 3) FROM (SELECT * FROM reading ORDER BY id) q GROUP BY k'),
	rtbench.arm('any_order', 'SELECT k, round(sum(d)::numeric, 3) FROM (SELECT * FROM reading ORDER BY random()) q GROUP BY k'),
	rtbench.arm('as_numeric', 'SELECT k, round(sum(d::numeric), 3) FROM (SELECT * FROM reading ORDER BY random()) q GROUP BY k')],
	setup => 'CREATE TABLE reading (id int, k int, d float8); INSERT INTO reading SELECT g, g % 20, round((g * 1234.567 % 1000)::numeric, 4) FROM generate_series(1, 2000) g', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;

-- the same in a table: the check query leaves the sums out
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one_order', 'INSERT INTO total SELECT k, sum(d) FROM (SELECT * FROM reading ORDER BY id) q GROUP BY k'),
	rtbench.arm('any_order', 'INSERT INTO total SELECT k, sum(d) FROM (SELECT * FROM reading ORDER BY random()) q GROUP BY k')],
	setup => 'CREATE TABLE reading (id int, k int, d float8); SELECT setseed(0.42);
		INSERT INTO reading SELECT g, g % 20, random() * 1e6 FROM generate_series(1, 4000) g; CREATE TABLE total (k int, d float8)', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;

SELECT rtbench.drop_scenario('case_37');
