-- DELETE and INSERT of the same keys in one statement: whether it works hangs on the final SELECT, and what it returns is the state before it.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SELECT rtbench.create_scenario('case_29', $$
	CREATE TABLE t (id int GENERATED ALWAYS AS IDENTITY, name text NOT NULL UNIQUE);
	INSERT INTO t (name) SELECT 'n' || g FROM generate_series(1, :n) g
$$, swept => 'n', points => '{50}') \g /dev/null
SELECT rtbench.add_arm('case_29', arm) FROM unnest(ARRAY[
	rtbench.arm('two_statements', 'DELETE FROM t', $$INSERT INTO t (name) SELECT 'n' || g FROM generate_series(1, :n) g$$),
	rtbench.arm('cte_select_1', $$WITH d AS (DELETE FROM t RETURNING id), i AS (INSERT INTO t (name) SELECT 'n' || g FROM generate_series(1, :n) g RETURNING id) SELECT 1$$),
	rtbench.arm('cte_select_from_delete', $$WITH d AS (DELETE FROM t RETURNING id), i AS (INSERT INTO t (name) SELECT 'n' || g FROM generate_series(1, :n) g RETURNING id) SELECT count(*) FROM d$$),
	rtbench.arm('cte_insert_joins_delete', 'WITH d AS (DELETE FROM t RETURNING name) INSERT INTO t (name) SELECT name FROM d'),
	rtbench.arm('upsert', $$INSERT INTO t (name) SELECT 'n' || g FROM generate_series(1, :n) g ON CONFLICT (name) DO UPDATE SET name = excluded.name$$)]) AS arm \g /dev/null

-- the upsert keeps the ids of its rows: other rows
SELECT count(*) FROM rtbench.sweep('case_29', rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
-- without the ids the same
SELECT count(*) FROM rtbench.sweep('case_29', rounds => 2, ignore_columns => '{id}');
SELECT * FROM told;
SELECT DISTINCT checked FROM rtbench.result();

-- the tables are the same, and only the returned counts tell that one was taken before the rows were gone
SELECT $$ARRAY[rtbench.arm('two_statements', 'DELETE FROM t WHERE id % 2 = 0', 'SELECT count(*) FROM t'),
	rtbench.arm('one_statement', 'WITH d AS (DELETE FROM t WHERE id % 2 = 0) SELECT count(*) AS still_seen FROM t')],
	setup => 'CREATE TABLE t (id int); INSERT INTO t SELECT generate_series(1, 50)', rounds => 2$$ AS arms \gset
SELECT count(*) FROM rtbench.compare(:arms);
SELECT * FROM told;
SELECT count(*) FROM rtbench.compare(:arms, compare_returned => true);
SELECT * FROM told;
SELECT * FROM notes;
SELECT DISTINCT checked FROM rtbench.result();

SELECT rtbench.drop_scenario('case_29');
