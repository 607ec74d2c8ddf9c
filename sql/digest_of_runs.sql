-- Same rows or no speedup: what two arms may and may not leave or return.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA regress_rtb_digest;
SET search_path = regress_rtb_digest;
-- do two statements leave the same? "same", or why not
CREATE FUNCTION same(setup text, one text, other text, ignore_columns text[] DEFAULT NULL, check_query text DEFAULT NULL, compare_returned boolean DEFAULT false)
RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM rtbench.compare(ARRAY[rtbench.arm('one', one), rtbench.arm('other', other)], setup, check_query,
		ignore_columns => ignore_columns, compare_returned => compare_returned, rounds => 1);
	RETURN (SELECT CASE WHEN verdict = 'not comparable' THEN regexp_replace(notes, '; (changes the catalogs|did nothing|no rows|WAL records|fired:|loop queries).*', '')
			WHEN digest IS NULL THEN 'no digest' ELSE 'same' END FROM rtbench.result() WHERE arm = 'other');
END $$;

--
-- values
--
\set t 'CREATE TABLE t (a int, b text, c float8, d jsonb, e bytea, f int[], g pg_catalog.pg_lsn, h numeric)'
SELECT same(:'t', 'INSERT INTO t VALUES (NULL)', 'INSERT INTO t DEFAULT VALUES');
SELECT same(:'t', 'INSERT INTO t (a, b) VALUES (NULL, ''x'')', 'INSERT INTO t (a, b) VALUES (0, ''x'')');
SELECT same(:'t', 'INSERT INTO t (b) VALUES (NULL)', 'INSERT INTO t (b) VALUES ('''')');
SELECT same(:'t', 'INSERT INTO t (b) VALUES (''NULL'')', 'INSERT INTO t (b) VALUES (NULL)');
SELECT same(:'t', 'INSERT INTO t (c) VALUES (''NaN'')', 'INSERT INTO t (c) VALUES (''nan'')');
SELECT same(:'t', 'INSERT INTO t (c) VALUES (''NaN'')', 'INSERT INTO t (c) VALUES (NULL)');
SELECT same(:'t', 'INSERT INTO t (c) VALUES (0)', 'INSERT INTO t (c) VALUES (''-0'')');
SELECT same(:'t', 'INSERT INTO t (c) VALUES (0.1)', 'INSERT INTO t (c) VALUES (0.1 + 1e-17)');
SELECT same(:'t', 'INSERT INTO t (c) VALUES (0.1)', 'INSERT INTO t (c) VALUES (0.1 + 2e-17)');
SELECT same(:'t', 'INSERT INTO t (c) VALUES (0.3)', 'SET extra_float_digits = -15; INSERT INTO t (c) VALUES (0.1::float8 + 0.2::float8)');
SELECT same(:'t', 'INSERT INTO t (h) VALUES (1.0)', 'INSERT INTO t (h) VALUES (1.00)');
SELECT same(:'t', 'INSERT INTO t (d) VALUES (''{"b": 1, "a": null, "a": [2]}'')', 'INSERT INTO t (d) VALUES (''{"a":[2],"b":1}'')');
SELECT same(:'t', 'INSERT INTO t (d) VALUES (''{"a": 1}'')', 'INSERT INTO t (d) VALUES (''{"a": "1"}'')');
SELECT same(:'t', 'INSERT INTO t (e) VALUES (''\x00ff'')', 'SET bytea_output = escape; INSERT INTO t (e) VALUES (''\000\377'')');
SELECT same(:'t', 'INSERT INTO t (e) VALUES (''\x00'')', 'INSERT INTO t (e) VALUES (''\x0000'')');
SELECT same(:'t', 'INSERT INTO t (f) VALUES (''{1,NULL,2}'')', 'INSERT INTO t (f) VALUES (ARRAY[1, NULL, 2])');
SELECT same(:'t', 'INSERT INTO t (f) VALUES (''{1,2}'')', 'INSERT INTO t (f) VALUES (''{2,1}'')');
SELECT same(:'t', 'INSERT INTO t (f) VALUES (''{1,2}'')', 'INSERT INTO t (f) VALUES (''[0:1]={1,2}'')');
SELECT same(:'t', 'INSERT INTO t (f) VALUES (''{}'')', 'INSERT INTO t (f) VALUES (NULL)');
-- a row's text alone does not tell where one column ends
SELECT same('CREATE TABLE t (a text, b text)', 'INSERT INTO t VALUES (''a,b'', ''c'')', 'INSERT INTO t VALUES (''a'', ''b,c'')');
SELECT same('CREATE TABLE t (a text, b text)', 'INSERT INTO t VALUES (''ab'', '''')', 'INSERT INTO t VALUES (''a'', ''b'')');
-- composite, range, enum, domain, and values too long for a page
SELECT same('CREATE TYPE pair AS (x int, y text); CREATE TYPE mood AS ENUM (''sad'', ''glad''); CREATE DOMAIN small AS int CHECK (VALUE < 10); CREATE TABLE t (a pair, b int4range, c mood, d small, e pair[])',
	'INSERT INTO t VALUES (ROW(1, NULL), ''[1,3)'', ''sad'', 1, ARRAY[ROW(1, ''a''), NULL]::pair[])', 'INSERT INTO t VALUES (''(1,)'', ''[1,2]'', ''sad'', 1, ''{"(1,a)",NULL}'')');
SELECT same('CREATE TYPE pair AS (x int, y text); CREATE TABLE t (a pair)', 'INSERT INTO t VALUES (ROW(1, NULL))', 'INSERT INTO t VALUES (ROW(1, ''''))');
SELECT same('CREATE TABLE t (a text)', 'INSERT INTO t SELECT string_agg(md5(g::text), '''') FROM generate_series(1, 1000) g',
	'INSERT INTO t SELECT string_agg(md5(g::text), '''' ORDER BY g) FROM generate_series(1, 1000) g');
SELECT same('CREATE TABLE t (a text)', 'INSERT INTO t SELECT repeat(''x'', 100000)', 'INSERT INTO t SELECT repeat(''x'', 99999) || ''y''');
-- time zones and date styles of an arm are its own
SELECT same('CREATE TABLE t (a timestamptz)', 'INSERT INTO t VALUES (''2026-01-01 12:00+00'')', 'SET TimeZone = ''Asia/Tokyo''; SET DateStyle = ''German''; INSERT INTO t VALUES (''01.01.2026 21:00'')');
-- large objects are rows of a catalog
SELECT same(NULL, 'SELECT lo_from_bytea(1, ''one'')', 'SELECT lo_from_bytea(1, ''two'')');
SELECT same(NULL, 'SELECT lo_from_bytea(1, ''one'')', 'SELECT lo_from_bytea(1, ''o''); SELECT lo_put(1, 1, ''ne'')', compare_returned => false);
-- reading one writes nothing: what is read is compared
SELECT lo_from_bytea(2, 'three') IS NOT NULL \g /dev/null
SELECT same(NULL, 'SELECT lo_get(2, 0, 2)', 'SELECT lo_get(2, 0, 3)');
SELECT DISTINCT checked FROM rtbench.result();
SELECT lo_unlink(2) \g /dev/null
-- where no column is alike from pass to pass, the rows can still be counted
SELECT same('CREATE TABLE t (a float8)', 'INSERT INTO t VALUES (random())', 'INSERT INTO t SELECT random()');
-- a check query that no arm gives rows
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1)', 'INSERT INTO t VALUES (2)', check_query => 'SELECT a FROM t WHERE a > 2');
SELECT DISTINCT regexp_replace(notes, '^.*(the check query [^;]*).*$', '\1') FROM rtbench.result();
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1)', 'INSERT INTO t VALUES (2)', check_query => 'SELECT a FROM t WHERE a > 1');
-- no columns at all: rows still count
SELECT same('CREATE TABLE t ()', 'INSERT INTO t DEFAULT VALUES', 'INSERT INTO t DEFAULT VALUES; INSERT INTO t DEFAULT VALUES');
SELECT same('CREATE TABLE t ()', 'INSERT INTO t DEFAULT VALUES', 'INSERT INTO t SELECT');

--
-- rows: a multiset, in any order
--
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1), (2), (3)', 'INSERT INTO t VALUES (3), (1), (2)');
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1), (2)', 'INSERT INTO t VALUES (1), (2), (2)');
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1), (1), (2)', 'INSERT INTO t VALUES (1), (2), (2)');
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1), (1)', 'INSERT INTO t VALUES (2), (2)');
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t SELECT', 'INSERT INTO t SELECT FROM generate_series(1, 2)');
-- values of two rows exchanged: every column by itself is the same
SELECT same('CREATE TABLE t (a int, b int)', 'INSERT INTO t VALUES (1, 1), (2, 2)', 'INSERT INTO t VALUES (1, 2), (2, 1)');
SELECT same('CREATE TABLE t (a int, b int, c int, d int)', 'INSERT INTO t VALUES (1, 1, 0, 0), (2, 2, 0, 0)', 'INSERT INTO t VALUES (1, 2, 0, 0), (2, 1, 0, 0)');
-- values of two columns exchanged
SELECT same('CREATE TABLE t (a int, b int)', 'INSERT INTO t VALUES (1, 2)', 'INSERT INTO t VALUES (2, 1)');
-- the same rows in another table, in another partition's table
SELECT same('CREATE TABLE t (a int); CREATE TABLE u (a int)', 'INSERT INTO t VALUES (1)', 'INSERT INTO u VALUES (1)');
SELECT same('CREATE TABLE t (a int) PARTITION BY RANGE (a); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10); CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20)',
	'INSERT INTO t VALUES (1), (11)', 'INSERT INTO t1 VALUES (1); INSERT INTO t2 VALUES (11)');
SELECT same('CREATE TABLE t (a int) PARTITION BY RANGE (a); CREATE TABLE t1 PARTITION OF t FOR VALUES FROM (0) TO (10); CREATE TABLE t2 PARTITION OF t FOR VALUES FROM (10) TO (20)',
	'INSERT INTO t VALUES (1), (11)', 'INSERT INTO t VALUES (1)');
-- inherited rows belong to their own table
SELECT same('CREATE TABLE t (a int); CREATE TABLE child () INHERITS (t)', 'INSERT INTO t VALUES (1)', 'INSERT INTO child VALUES (1)');

--
-- what is written otherwise: cascades, triggers, rules, INSTEAD OF, views, COPY, TRUNCATE, DDL, undone subtransactions
--
SELECT same('CREATE TABLE p (a int PRIMARY KEY); CREATE TABLE c (a int REFERENCES p ON DELETE CASCADE); INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1), (2)',
	'DELETE FROM c WHERE a = 1; DELETE FROM p WHERE a = 1', 'DELETE FROM p WHERE a = 1');
SELECT same('CREATE TABLE p (a int PRIMARY KEY); CREATE TABLE c (a int REFERENCES p ON DELETE SET NULL); INSERT INTO p VALUES (1), (2); INSERT INTO c VALUES (1), (2)',
	'DELETE FROM c WHERE a = 1; DELETE FROM p WHERE a = 1', 'DELETE FROM p WHERE a = 1');
SELECT same('CREATE TABLE t (a int); CREATE TABLE log (a int); CREATE FUNCTION log() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN INSERT INTO log VALUES (NEW.a); RETURN NEW; END'';
		CREATE TRIGGER log BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION log()', 'INSERT INTO t VALUES (1)', 'ALTER TABLE t DISABLE TRIGGER log; INSERT INTO t VALUES (1)');
SELECT same('CREATE TABLE t (a int); CREATE TABLE log (a int); CREATE RULE log AS ON INSERT TO t DO ALSO INSERT INTO log VALUES (NEW.a)', 'INSERT INTO t VALUES (1)', 'INSERT INTO t VALUES (1); DELETE FROM log');
SELECT same('CREATE TABLE t (a int); CREATE VIEW v AS SELECT a FROM t', 'INSERT INTO t VALUES (1)', 'INSERT INTO v VALUES (1)');
SELECT same('CREATE TABLE t (a int); INSERT INTO t VALUES (1)', 'DELETE FROM t', 'TRUNCATE t');
SELECT same('CREATE TABLE t (a int); INSERT INTO t VALUES (1)', 'DELETE FROM t', 'DO ''BEGIN TRUNCATE t; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END''');
SELECT same('CREATE TABLE t (a int, b int DEFAULT 5); INSERT INTO t VALUES (1)', 'ALTER TABLE t DROP b', 'ALTER TABLE t ADD c int DEFAULT 5; ALTER TABLE t DROP b');
SELECT same('CREATE TABLE t (a int); INSERT INTO t VALUES (1)', 'DELETE FROM t', 'DROP TABLE t');
SELECT same('CREATE TABLE t (a int); CREATE MATERIALIZED VIEW m AS SELECT count(*) FROM t', 'INSERT INTO t VALUES (1)', 'INSERT INTO t VALUES (1); REFRESH MATERIALIZED VIEW m');
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1)', 'SELECT lo_create(4711); INSERT INTO t VALUES (1)');

--
-- ignore_columns, check_query, compare_returned
--
SELECT same('CREATE TABLE t (id serial, a int, at timestamptz DEFAULT clock_timestamp())', 'INSERT INTO t (a) VALUES (1)', 'INSERT INTO t (a) SELECT 1');
SELECT same('CREATE TABLE t (id serial, a int, at timestamptz DEFAULT clock_timestamp())', 'INSERT INTO t (a) VALUES (1)', 'INSERT INTO t (a) SELECT 1', '{at}');
SELECT same('CREATE TABLE t (id serial, a int, at timestamptz DEFAULT clock_timestamp())', 'INSERT INTO t (a) VALUES (1)', 'INSERT INTO t (a) SELECT 2', '{at}');
SELECT same('CREATE TABLE t (id serial, a int, at timestamptz DEFAULT clock_timestamp())', 'INSERT INTO t (a) VALUES (1)', 'INSERT INTO t (a) SELECT 2', '{at,a,no_such_column}');
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1)', 'INSERT INTO t VALUES (1), (2)', '{a}');
SELECT checked FROM rtbench.result() WHERE arm = 'one';
SELECT same('CREATE TABLE t (a int, b int)', 'INSERT INTO t VALUES (1, 1)', 'INSERT INTO t VALUES (1, 2)', NULL, 'SELECT a FROM t');
SELECT same('CREATE TABLE t (a int, b int)', 'INSERT INTO t VALUES (1, 1)', 'INSERT INTO t VALUES (1, 2)', NULL, 'SELECT a, b FROM t');
SELECT checked FROM rtbench.result() WHERE arm = 'one';
-- a check query in which only the order differs, and one of no rows and no columns
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1), (2)', 'INSERT INTO t VALUES (2), (1)', NULL, 'TABLE t');
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1), (2)', 'INSERT INTO t VALUES (3)', NULL, 'SELECT FROM t WHERE a > 5');
-- written tables agree, returned rows don't
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1) RETURNING a', 'INSERT INTO t VALUES (1) RETURNING a + 1', compare_returned => false);
SELECT same('CREATE TABLE t (a int)', 'INSERT INTO t VALUES (1) RETURNING a', 'INSERT INTO t VALUES (1) RETURNING a + 1', compare_returned => true);

--
-- an arm that differs from itself is named, with the columns
--
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('stable', 'INSERT INTO t VALUES (1, 2, 3)'), rtbench.arm('random', 'INSERT INTO t VALUES (1, random(), 3)')],
	'CREATE TABLE t (a int, b float8, c int)', rounds => 1);
SELECT arm, verdict, regexp_replace(notes, '; (changes|WAL).*', '') FROM rtbench.result();

--
-- tables of the user, at the end as they were
--
CREATE TABLE t (a int PRIMARY KEY, b text);
INSERT INTO t SELECT g, g FROM generate_series(1, 100) g;
CREATE TABLE before AS TABLE t;
SELECT same(NULL, 'UPDATE t SET b = b || ''x''', 'WITH d AS (DELETE FROM t RETURNING *) INSERT INTO t SELECT a + 1000, b FROM d');
SELECT same(NULL, 'DELETE FROM t WHERE a > 50', 'DELETE FROM t WHERE NOT a <= 50');
SELECT checked FROM rtbench.result() WHERE arm = 'one';
SELECT count(*) FROM (TABLE t EXCEPT TABLE before) x;
SELECT count(*) FROM (TABLE before EXCEPT TABLE t) x;
-- RLS of one's own table does not hide rows from its owner; FORCE does
CREATE ROLE regress_rtb_rls;
GRANT USAGE, CREATE ON SCHEMA regress_rtb_digest TO regress_rtb_rls;
SET ROLE regress_rtb_rls;
CREATE TABLE mine (a int, seen boolean);
INSERT INTO mine SELECT g, g % 2 = 0 FROM generate_series(1, 10) g;
ALTER TABLE mine ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON mine USING (seen);
SELECT same(NULL, 'DELETE FROM mine WHERE a > 5', 'DELETE FROM mine WHERE a >= 6');
SELECT checked FROM rtbench.result() WHERE arm = 'one';
ALTER TABLE mine FORCE ROW LEVEL SECURITY;
SELECT same(NULL, 'DELETE FROM mine WHERE a > 5', 'DELETE FROM mine WHERE a >= 6');
RESET ROLE;
DELETE FROM rtbench.runs WHERE owner = 'regress_rtb_rls'::regrole;
SET client_min_messages = error;
DROP SCHEMA regress_rtb_digest CASCADE;
DROP ROLE regress_rtb_rls;

-- what a check query does not see, and where there was nothing to compare
CREATE TABLE public.seen_or_not (v int);
INSERT INTO public.seen_or_not SELECT generate_series(1, 10);
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'DELETE FROM public.seen_or_not'), rtbench.arm('b', 'DELETE FROM public.seen_or_not WHERE v = 1')], check_query => 'SELECT 1', rounds => 2);
SELECT arm, verdict, notes ~ 'does not see what the arms write' AS told FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'DELETE FROM public.seen_or_not'), rtbench.arm('b', 'DELETE FROM public.seen_or_not WHERE v > 0')], check_query => 'SELECT * FROM public.seen_or_not', rounds => 2);
SELECT arm, verdict, notes ~ 'does not see|no rows' AS told FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'CREATE TEMP TABLE q AS SELECT 1 AS x'), rtbench.arm('b', 'CREATE TEMP TABLE q AS SELECT 2 AS x')], rounds => 2);
SELECT arm, verdict, notes ~ 'nothing was compared' AS told FROM rtbench.result();
-- a column to be ignored that no table has, and where there is none to leave out
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'DELETE FROM public.seen_or_not')], ignore_columns => '{v,"W","no such"}', rounds => 2);
SELECT substring(notes FROM 'ignore_columns.*?column "no such"') AS told, notes ~ 'column v' AS also_what_there_is FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'DELETE FROM public.seen_or_not')], ignore_columns => '{v}', check_query => 'SELECT * FROM public.seen_or_not', rounds => 2);
SELECT substring(notes FROM 'ignore_columns[^;]*') AS told FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT v FROM public.seen_or_not')], ignore_columns => '{v}', rounds => 2);
SELECT substring(notes FROM 'ignore_columns[^;]*') AS told FROM rtbench.result();
DROP TABLE public.seen_or_not;

-- a table that is written from the second pass on only is not among those that the first pass found
CREATE TABLE public.always (v int);
CREATE TABLE public.later (v int);
INSERT INTO public.later VALUES (1);
CREATE SEQUENCE public.passes;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO public.always VALUES (1)'),
	rtbench.arm('b', 'DO $$ BEGIN INSERT INTO public.always VALUES (1); IF nextval(''public.passes'') > 1 THEN UPDATE public.later SET v = 2; END IF; END $$')], rounds => 2);
SELECT arm, verdict = 'not comparable' AS not_comparable, substring(notes FROM 'statements changed[^;]*') AS told FROM rtbench.result();
DROP TABLE public.always, public.later;
DROP SEQUENCE public.passes;
