-- digests: equal rows, and only equal rows, have equal digests
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
CREATE SCHEMA digest_test;
SET search_path = digest_test, public;

-- text of a digest, for comparing
CREATE FUNCTION d(query text) RETURNS text LANGUAGE sql AS 'SELECT digest FROM rtbench.digest(query)';
CREATE FUNCTION same(query_a text, query_b text) RETURNS boolean LANGUAGE sql AS 'SELECT d(query_a) = d(query_b)';

-- shape of the result
SELECT rows, digest ~ '^[0-9a-f]{32}$' AS digest, columns, cardinality(column_digests) AS column_digests
FROM rtbench.digest('SELECT g AS a, g::text AS "B b", NULL::int AS c FROM generate_series(1, 3) g');
SELECT rows, columns FROM rtbench.digest('VALUES (1, 2)');
SELECT rows, columns FROM rtbench.digest('TABLE pg_catalog.pg_am LIMIT 1');
SELECT * FROM rtbench.digest(NULL);

-- order does not matter
SELECT same('SELECT g FROM generate_series(1, 5000) g', 'SELECT g FROM generate_series(5000, 1, -1) g') AS same;
SELECT same('SELECT now() - g * interval ''1 s'' FROM generate_series(1, 5000) g',
			'SELECT now() - g * interval ''1 s'' FROM generate_series(5000, 1, -1) g') AS same;

-- NULL, '' and 'NULL' are three things
SELECT count(DISTINCT d(q)) AS distinct FROM unnest(ARRAY['SELECT NULL::text', 'SELECT ''''::text', 'SELECT ''NULL''::text',
	'SELECT ''\N''::text', 'SELECT WHERE false']) q;

-- values do not run into each other, and a value stays in its column
SELECT count(DISTINCT d(q)) AS distinct FROM unnest(ARRAY['VALUES (''ab'', ''c'')', 'VALUES (''a'', ''bc'')', 'VALUES (''abc'', '''')',
	'VALUES ('''', ''abc'')', 'VALUES (NULL, ''abc'')', 'VALUES (''abc'', NULL)', 'VALUES (''c'', ''ab'')', 'VALUES (''abc'')']) q;
-- zero bytes and padding: lengths around the words that are hashed
SELECT count(DISTINCT d(format('SELECT repeat(''x'', %s)', n))) AS distinct FROM generate_series(0, 40) n;
SELECT count(DISTINCT d(format('SELECT repeat(''x'', %s)', n))) AS distinct FROM generate_series(1020, 1030) n;

-- duplicates count: 2 + 1 against 1 + 2, and pairs do not cancel
SELECT * FROM rtbench.digest_compare('VALUES (1), (1), (2)', 'VALUES (1), (2), (2)');
SELECT * FROM rtbench.digest_compare('VALUES (1), (2)', 'VALUES (1), (2), (2)');
SELECT count(DISTINCT d(q)) AS distinct FROM unnest(ARRAY['SELECT WHERE false', 'VALUES (1), (1)', 'VALUES (2), (2)',
	'VALUES (1), (1), (1), (1)', 'VALUES (1)']) q;

-- swapped rows are the same set, swapped values are not
SELECT * FROM rtbench.digest_compare('VALUES (1, ''a''), (2, ''b'')', 'VALUES (2, ''b''), (1, ''a'')');
SELECT * FROM rtbench.digest_compare('VALUES (1, ''a''), (2, ''b'')', 'VALUES (1, ''b''), (2, ''a'')');
SELECT * FROM rtbench.digest_compare('VALUES (1, 2)', 'VALUES (2, 1)');

-- zero rows, zero columns
SELECT * FROM rtbench.digest('SELECT 1 AS a WHERE false');
SELECT * FROM rtbench.digest_compare('SELECT 1 WHERE false', 'SELECT ''a'', ''b'' WHERE false');
CREATE TABLE no_columns ();
INSERT INTO no_columns DEFAULT VALUES;
INSERT INTO no_columns DEFAULT VALUES;
SELECT rows, columns, column_digests FROM rtbench.digest('SELECT FROM no_columns');
SELECT * FROM rtbench.digest_compare('SELECT FROM no_columns', 'SELECT FROM no_columns LIMIT 1');
SELECT * FROM rtbench.digest_compare('SELECT FROM no_columns', 'SELECT NULL FROM no_columns');

-- the columns that differ; names that need quotes, names that come twice
SELECT * FROM rtbench.digest_compare('SELECT 1 AS a, 2 AS "B b", 3 AS "Größe", 4 AS "q""q"', 'SELECT 1, 20, 30, 40');
SELECT * FROM rtbench.digest_compare('SELECT 1 AS a, 2 AS a, 3 AS b', 'SELECT 1, 9, 9');
SELECT * FROM rtbench.digest_compare('SELECT 1 AS a, 2', 'SELECT 1, NULL');
SELECT * FROM rtbench.digest_compare('VALUES (1, NULL), (2, ''a'')', 'VALUES (2, ''a'')');
SELECT equal, only_a, only_b, differing_columns
FROM rtbench.digest_compare('SELECT g, g % 7 AS m FROM generate_series(1, 20000) g',
							'SELECT g, CASE WHEN g % 1000 = 0 THEN 99 ELSE g % 7 END FROM generate_series(1, 20000) g');

-- row hashes that do not fit work_mem are sorted on disk
SET work_mem = '64kB';
SELECT * FROM rtbench.digest_compare('SELECT g FROM generate_series(1, 30000) g', 'SELECT g FROM generate_series(11, 30020) g');
SELECT * FROM rtbench.digest_compare('SELECT g FROM generate_series(1, 30000) g', 'SELECT 30001 - g FROM generate_series(1, 30000) g');
RESET work_mem;

-- numbers
SELECT count(DISTINCT d(q)) AS distinct FROM unnest(ARRAY['SELECT 0::float8', 'SELECT ''-0''::float8', 'SELECT ''NaN''::float8',
	'SELECT ''Infinity''::float8', 'SELECT ''-Infinity''::float8', 'SELECT NULL::float8', 'SELECT 1e-300::float8']) q;
SELECT same('SELECT ''NaN''::float8', 'SELECT ''Infinity''::float8 - ''Infinity''::float8') AS same_nan;
SELECT same('SELECT 1.0::numeric', 'SELECT 1.00::numeric') AS same;
SELECT same('SELECT 0.1::float8 + 0.2', 'SELECT 0.3::float8') AS same;
SELECT count(DISTINCT d(q)) AS distinct FROM unnest(ARRAY['SELECT ''-9223372036854775808''::int8', 'SELECT 9223372036854775807',
	'SELECT ''-2147483648''::int4', 'SELECT 2147483647', 'SELECT -1', 'SELECT 0', 'SELECT 1']) q;

-- what the types' text forms are, not how they are stored
SET TimeZone = 'UTC';
SET DateStyle = 'ISO';
SET IntervalStyle = 'postgres';
SELECT q, d(format('SELECT %s', q)) = d(format('SELECT (%s)::text', q)) AS same
FROM unnest(ARRAY['1::int2', '-5', '-5000000000', '''abc''::varchar(10)', '''ab''::name', '12.50::numeric', '''{"b": 1, "a": [null, "x"]}''::jsonb',
	'''{ "b": 1 }''::json', '''\xdeadbeef''::bytea', '''{{1,2},{NULL,4}}''::int[]', '''{"a b",NULL,"NULL",""}''::text[]', 'ROW(1, NULL, ''a b'')',
	'''[1,5)''::int4range', '''{[1,5),[7,9)}''::int4multirange', '''2024-02-29''::date', '''1 year 2 days 03:04:05.6''::interval', '''a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11''::uuid', 'ARRAY[''2024-01-01 12:00+00''::timestamptz]',
	'''infinity''::timestamptz', '''10.0.0.1/8''::inet', '''101''::bit(3)', '''(1,2)''::point', '''a'' ::"char"', '42::oid', '''pg_class''::regclass']) q;
RESET TimeZone;
RESET DateStyle;
RESET IntervalStyle;
-- bpchar keeps its padding, bool is t or f
SELECT same('SELECT ''ab''::char(4)', 'SELECT ''ab  ''') AS padded, same('SELECT true, false', 'SELECT ''t'', ''f''') AS bool;

CREATE TYPE mood AS ENUM ('glad', 'sad');
CREATE DOMAIN small AS int CHECK (VALUE < 100);
CREATE DOMAIN short AS varchar(5);
CREATE TYPE pair AS (n int, words text[]);
CREATE DOMAIN pairs AS pair[];
SELECT same('SELECT ''glad''::mood', 'SELECT ''glad''') AS enum, same('SELECT 5::small, ''x''::short', 'SELECT 5, ''x''') AS domain,
	same('SELECT (1, ''{a,NULL}'')::pair', 'SELECT ''(1,"{a,NULL}")''') AS composite,
	same('SELECT ARRAY[(1, ''{a}'')::pair]::pairs', 'SELECT ''{"(1,{a})"}''') AS domain_over_array;
SELECT count(DISTINCT d(q)) AS distinct FROM unnest(ARRAY['SELECT (1, ''{a}'')::pair', 'SELECT (1, ''{b}'')::pair', 'SELECT (NULL, ''{a}'')::pair',
	'SELECT (NULL, NULL)::pair', 'SELECT NULL::pair', 'SELECT ROW()', 'SELECT ''{}''::int[]', 'SELECT ''{NULL}''::int[]', 'SELECT ''empty''::int4range']) q;

-- settings of the session do not change a digest
CREATE TYPE moment AS (n int, day date);
CREATE TABLE formatted AS
SELECT g AS id, '2024-03-31 01:30:00+00'::timestamptz + g * interval '1 hour' AS at, date '2024-01-02' + g AS day, g / 3.0::float8 AS ratio,
	(g / 7.0)::float4 AS small_ratio, decode(md5(g::text), 'hex') AS bytes, make_interval(days => g, mins => g) AS lasts,
	ARRAY['2024-01-02 00:00+00'::timestamptz] AS array_of, ROW(g, date '2024-01-02')::moment AS composite, tstzrange('2024-01-02 00:00+00', NULL) AS range,
	(g * 1234)::text::money AS money, 'digest_test.d'::regproc AS function, 'digest_test.mood'::regtype AS type,
	ARRAY['digest_test.no_columns'::regclass] AS tables
FROM generate_series(1, 2500) g;
CREATE FUNCTION under(setting text, value text, query text DEFAULT 'TABLE digest_test.formatted') RETURNS text LANGUAGE plpgsql AS $$
DECLARE answer text;
BEGIN
	PERFORM set_config(setting, value, false);
	SELECT digest INTO answer FROM rtbench.digest(query);
	IF current_setting(setting) NOT IN (value, replace(value, ',', ', ')) THEN
		RAISE EXCEPTION '% is now %', setting, current_setting(setting);
	END IF;
	RETURN answer;
END $$;
SELECT d('TABLE formatted') AS formatted, d('SELECT ROW(day, type) FROM formatted') AS records \gset
SELECT setting, value, digest_test.under(setting, value) = :'formatted' AS same,
	digest_test.under(setting, value, 'SELECT ROW(day, type) FROM digest_test.formatted') = :'records' AS same_records
FROM (VALUES ('TimeZone', 'Asia/Kolkata'), ('TimeZone', 'America/New_York'), ('DateStyle', 'SQL, DMY'), ('DateStyle', 'German, DMY'), ('DateStyle', 'Postgres, MDY'),
	('IntervalStyle', 'iso_8601'), ('extra_float_digits', '-5'), ('extra_float_digits', '0'), ('extra_float_digits', '3'),
	('bytea_output', 'escape'), ('quote_all_identifiers', 'on'),
	('search_path', 'public'), ('search_path', 'digest_test'), ('search_path', 'pg_catalog')) s (setting, value);
-- a SET that the query itself makes outlives it, and does not reach the digest
SELECT digest_test.d('SELECT *, set_config(''DateStyle'', ''SQL, MDY'', false) FROM digest_test.formatted')
	= digest_test.d('SELECT *, ''SQL, MDY'' FROM digest_test.formatted') AS same;
SHOW DateStyle;
-- the query itself runs under the session's settings
SELECT digest_test.under('TimeZone', 'UTC', 'SELECT ''2024-01-02 22:00+00''::timestamptz::date') = digest_test.d('SELECT ''2024-01-02''') AS utc,
	digest_test.under('TimeZone', 'Asia/Kolkata', 'SELECT ''2024-01-02 22:00+00''::timestamptz::date') = digest_test.d('SELECT ''2024-01-03''') AS kolkata;
RESET ALL;
SET search_path = digest_test, public;
-- nothing stays pinned after an error in the middle of a query
SET TimeZone = 'Asia/Kolkata';
SELECT rtbench.digest('SELECT now(), 1 / (g - 1500) FROM generate_series(1, 3000) g');
SHOW TimeZone;
SHOW search_path;
RESET TimeZone;

-- a parallel query, with and without settings to pin
SET max_parallel_workers_per_gather = 2;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS off) TABLE formatted;
SELECT d('TABLE formatted') = :'formatted' AS same;
SELECT same('SELECT id FROM formatted', 'SELECT g FROM generate_series(1, 2500) g') AS same;
RESET ALL;
SET search_path = digest_test, public;

-- dropped and added columns
CREATE TABLE dropped (a int, gone text, b text);
INSERT INTO dropped VALUES (1, 'x', 'one'), (2, 'y', 'two');
ALTER TABLE dropped DROP COLUMN gone;
ALTER TABLE dropped ADD COLUMN c int DEFAULT 7;
SELECT columns FROM rtbench.digest('TABLE dropped');
SELECT same('TABLE dropped', 'VALUES (1, ''one'', 7), (2, ''two'', 7)') AS same, same('SELECT dropped FROM dropped', 'VALUES (''(1,one,7)''), (''(2,two,7)'')') AS composite;

-- big values, stored out of line and compressed
CREATE TABLE big (id int, body text, raw bytea);
ALTER TABLE big ALTER COLUMN body SET STORAGE EXTERNAL;
INSERT INTO big SELECT g, (SELECT string_agg(md5((g * 1000 + i)::text), '') FROM generate_series(1, 300) i), decode(repeat('ab', 100000), 'hex') FROM generate_series(1, 20) g;
INSERT INTO big VALUES (21, repeat('compressible ', 20000), NULL), (22, '', '');
SELECT same('TABLE big', 'SELECT id, body || '''', raw || '''' FROM big ORDER BY id DESC') AS same;
SELECT * FROM rtbench.digest_compare('TABLE big', 'SELECT id, CASE id WHEN 7 THEN overlay(body PLACING ''!'' FROM 5000) ELSE body END, raw FROM big');
SELECT same('TABLE big', 'SELECT id, body, overlay(raw PLACING ''\x00'' FROM 50000) FROM big') AS same;

-- the same rows as text forms, as they would come over a connection
CREATE FUNCTION as_texts(query text) RETURNS text[] LANGUAGE plpgsql SET DateStyle = 'ISO' SET IntervalStyle = 'postgres' SET TimeZone = 'UTC'
	SET extra_float_digits = 1 SET bytea_output = 'hex' SET lc_monetary = 'C' SET search_path = pg_catalog AS $$
DECLARE answer text[]; line record; texts text[];
BEGIN
	FOR line IN EXECUTE format('SELECT * FROM (%s) t', query) LOOP
		-- a record writes its fields by their output functions
		SELECT array_agg(f.value ORDER BY f.ordinality) INTO texts FROM digest_test.fields(line) WITH ORDINALITY f (value);
		answer := answer || ARRAY[texts];
	END LOOP;
	RETURN answer;
END $$;
-- the fields of a record, taken apart from its text form
CREATE FUNCTION fields(line record) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	s text := substr(line::text, 2, length(line::text) - 2);
	c text; field text := NULL; quoted boolean := false; i int := 1;
BEGIN
	WHILE i <= length(s) LOOP
		c := substr(s, i, 1);
		IF quoted AND c IN ('"', '\') AND substr(s, i + 1, 1) = c THEN
			field := field || c; i := i + 1;
		ELSIF c = '"' THEN
			quoted := NOT quoted; field := coalesce(field, '');
		ELSIF c = ',' AND NOT quoted THEN
			RETURN NEXT field; field := NULL;
		ELSE
			field := coalesce(field, '') || c;
		END IF;
		i := i + 1;
	END LOOP;
	RETURN NEXT field;
END $$;
SELECT q, d(q) = (SELECT digest FROM rtbench.digest_text_rows(as_texts(q))) AS same
FROM unnest(ARRAY[
	'SELECT * FROM digest_test.formatted WHERE id <= 20',
	'SELECT * FROM digest_test.dropped',
	'SELECT id, left(body, 2000) AS body, left(body, 1024) AS edge FROM digest_test.big WHERE id > 18',
	'SELECT true AS a, NULL::int AS b, ''''::text AS c, ''NULL''::text AS d, ''a"b\c,d(''::text AS e, ''Größe''::char(9) AS f, -0.0::float8 AS g, ''NaN''::float4 AS h, 1.10 AS i, ''{"a": "\\"}''::jsonb AS j',
	'SELECT NULL::text AS a, NULL::text AS b UNION ALL SELECT NULL, NULL']) q;
SELECT rows, columns FROM rtbench.digest_text_rows('{{a,NULL},{"",b}}');
SELECT digest = d('SELECT 1 WHERE false') AS same FROM rtbench.digest_text_rows('{}');
SELECT rtbench.digest_text_rows('{a,b}');

-- several tables: which table holds what matters
CREATE TABLE "One" (a int, b text);
CREATE TABLE "Two" (a int, b text);
INSERT INTO "One" VALUES (1, 'x'), (2, 'y');
SELECT digest AS before FROM rtbench.digest_tables('"One"', '"Two"') \gset
SELECT rows, columns, digest = :'before' AS same FROM rtbench.digest_tables('"Two"', '"One"');
INSERT INTO "Two" SELECT * FROM "One";
SELECT rows, digest = :'before' AS same FROM rtbench.digest_tables('"One"', '"Two"');
DELETE FROM "One";
SELECT rows, digest = :'before' AS same FROM rtbench.digest_tables('"One"', '"Two"');
DELETE FROM "Two";
INSERT INTO "One" VALUES (2, 'y'), (1, 'x');
SELECT rows, digest = :'before' AS same FROM rtbench.digest_tables('"One"', '"Two"');
SELECT rows, columns FROM rtbench.digest_tables('"One"');
SELECT rows, columns FROM rtbench.digest_tables(VARIADIC '{}');
SELECT rtbench.digest_tables('"One"', NULL);
SELECT rtbench.digest_tables(0);

-- what is refused
SELECT rtbench.digest('SELECT 1; SELECT 2');
SELECT rtbench.digest('');
SELECT rtbench.digest('  -- nothing');
SELECT rtbench.digest('EXPLAIN SELECT 1');
SELECT rtbench.digest('SHOW work_mem');
SELECT rtbench.digest('CREATE TABLE digest_test.made AS SELECT 1');
SELECT rtbench.digest('SELECT 1 INTO digest_test.made');
SELECT rtbench.digest('DELETE FROM digest_test.dropped');
SELECT rtbench.digest('SELEC 1');
SELECT rtbench.digest('SELECT $1');
SELECT rtbench.digest('SELECT * FROM digest_test.nowhere');
SELECT rtbench.digest_compare('SELECT 1', 'SELECT * FROM digest_test.dropped FOR UPDATE');
SELECT rtbench.digest_compare('WITH d AS (DELETE FROM digest_test.dropped RETURNING *) SELECT * FROM d', 'SELECT 1');
SELECT count(*) FROM dropped;

-- DML with RETURNING
BEGIN;
SELECT rows, columns, digest = d('VALUES (1, ''one''), (2, ''two'')') AS same FROM rtbench.digest('DELETE FROM digest_test.dropped RETURNING a, b');
SELECT rows FROM rtbench.digest('WITH i AS (INSERT INTO digest_test.dropped VALUES (3) RETURNING a) SELECT * FROM i');
TABLE dropped;
ROLLBACK;

-- rights are the calling role's, and only visible rows count
CREATE ROLE regress_digest_reader;
GRANT USAGE ON SCHEMA digest_test, rtbench TO regress_digest_reader;
CREATE TABLE secrets (owner text, word text);
INSERT INTO secrets VALUES ('regress_digest_reader', 'mine'), ('somebody', 'hidden');
CREATE TABLE closed (a int);
GRANT SELECT ON secrets TO regress_digest_reader;
ALTER TABLE secrets ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secrets USING (owner = current_user);
SELECT rows FROM rtbench.digest('TABLE digest_test.secrets');
SET ROLE regress_digest_reader;
SELECT rows, digest = d('VALUES (''regress_digest_reader'', ''mine'')') AS same FROM rtbench.digest('TABLE digest_test.secrets');
\set VERBOSITY sqlstate
SELECT rtbench.digest('TABLE digest_test.closed');
SELECT rtbench.digest_compare('SELECT 1', 'TABLE digest_test.closed');
\set VERBOSITY default
RESET ROLE;

-- a query that is cancelled
SET statement_timeout = '200ms';
SELECT rtbench.digest('SELECT now() FROM pg_catalog.pg_class a, pg_catalog.pg_class b, pg_catalog.pg_class c, pg_catalog.pg_class d');
SELECT rtbench.digest_compare('SELECT 1', 'SELECT 1 FROM pg_catalog.pg_class a, pg_catalog.pg_class b, pg_catalog.pg_class c, pg_catalog.pg_class d');
RESET statement_timeout;

-- a query that digests
SELECT rows FROM rtbench.digest('SELECT (rtbench.digest(format(''SELECT now() FROM generate_series(1, %s)'', g))).rows FROM generate_series(1, 3) g');

-- everything public is described
SELECT p.oid::regprocedure FROM pg_proc p WHERE pronamespace = 'rtbench'::regnamespace AND proname LIKE 'digest%' AND obj_description(p.oid, 'pg_proc') IS NULL;

SET client_min_messages = warning;
DROP SCHEMA digest_test CASCADE;
REVOKE USAGE ON SCHEMA rtbench FROM regress_digest_reader;
DROP ROLE regress_digest_reader;
