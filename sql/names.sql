-- Names with quotes, Unicode, dots, percent signs and SQL in them, everywhere a name or text can be given.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset null null
CREATE SCHEMA "regress_rtb ""ñ%s.'";
SET search_path = "regress_rtb ""ñ%s.'";
CREATE TABLE canary (a int);
INSERT INTO canary VALUES (1);
CREATE VIEW told AS
SELECT arm, statements, rows, CASE WHEN verdict IN ('baseline', 'failed', 'not comparable') THEN verdict ELSE 'compared' END AS verdict, checked,
	(SELECT string_agg(n, '; ') FROM regexp_split_to_table(notes, '; (?!DROP)') n WHERE n ~ 'check_query' OR n !~ 'WAL records' AND verdict IN ('failed', 'not comparable')) AS notes,
	plan_shape
FROM rtbench.result();

--
-- tables and columns, in the fixture and of the user's
--
\set setup 'CREATE TABLE "Tä ble""; DROP TABLE canary; --" ("Cö l""umn" int PRIMARY KEY, "%s" text, "select" int, "a.b" int, "$1" int, ":n" int, "日本語" text DEFAULT ''日本'')'
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, ''%s'', g, g, g, g FROM generate_series(1, 10) g'),
	rtbench.arm('Zwölf', rtbench.foreach('SELECT g AS "Cö l""umn" FROM generate_series(1, 10) g', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" VALUES ($1, ''%s'', $1, $1, $1, $1)')),
	rtbench.arm('другой', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, ''%d'', g, g, g, g, ''日本国'' FROM generate_series(1, 10) g')],
	:'setup', rounds => 2);
SELECT * FROM told;
-- columns that differ from pass to pass: the check query that is offered works
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, random() FROM generate_series(1, 10) g'),
	rtbench.arm('other', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, random() FROM generate_series(10, 1, -1) g')],
	:'setup', rounds => 2);
SELECT arm, notes FROM told;
SELECT (regexp_match(notes, 'check_query => ''(.*)'))[1] AS offered FROM told WHERE arm = 'one' \gset
SELECT rtrim(replace(:'offered', '''''', ''''), '''') AS offered \gset
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, random() FROM generate_series(1, 10) g'),
	rtbench.arm('other', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, random() FROM generate_series(10, 1, -1) g')],
	:'setup', check_query => :'offered', rounds => 2);
SELECT arm, verdict, checked FROM told;
-- the same without it
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, random() FROM generate_series(1, 10) g'),
	rtbench.arm('other', 'INSERT INTO "Tä ble""; DROP TABLE canary; --" SELECT g, random() FROM generate_series(10, 1, -1) g')],
	:'setup', ignore_columns => ARRAY['%s', 'x'') OR true --', '"; DROP TABLE canary'], rounds => 2);
SELECT arm, verdict, checked FROM told;
-- the user's, in a schema of such a name, with a sequence, vacuumed between passes
CREATE TABLE "Tä ble%s.""'" ("Cö l""umn" serial, "a.b" text);
INSERT INTO "Tä ble%s.""'" ("a.b") VALUES ('x'), ('y');
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'UPDATE "Tä ble%s.""''" SET "a.b" = ''z'''), rtbench.arm('other', 'UPDATE "Tä ble%s.""''" SET "a.b" = ''z'' WHERE "Cö l""umn" > 0')], rounds => 2);
SELECT * FROM told;
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'UPDATE "Tä ble%s.""''" SET "a.b" = ''z'''), rtbench.arm('other', 'UPDATE "Tä ble%s.""''" SET "a.b" = ''z'' WHERE "Cö l""umn" > 0')], transport => 'caller', rounds => 2);
SELECT arm, verdict, checked FROM told;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO "Tä ble%s.""''" DEFAULT VALUES')], rounds => 2);
SELECT regexp_replace(notes, '; WAL records.*', '') FROM rtbench.result();
-- tables whose names would be the same without quotes, and one of the session's that has the name of one of the fixture's
CREATE SCHEMA "regress_rtb.x"; CREATE TABLE "regress_rtb.x".t (a int);
CREATE SCHEMA regress_rtb; CREATE TABLE regress_rtb."x.t" (a int);
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO regress_rtb."x.t" VALUES (1)', 'INSERT INTO "regress_rtb.x".t VALUES (1)'),
	rtbench.arm('same', 'INSERT INTO "regress_rtb.x".t VALUES (1)', 'INSERT INTO regress_rtb."x.t" VALUES (1)'),
	rtbench.arm('first', 'INSERT INTO regress_rtb."x.t" VALUES (2)', 'INSERT INTO "regress_rtb.x".t VALUES (1)'),
	rtbench.arm('second', 'INSERT INTO regress_rtb."x.t" VALUES (1)', 'INSERT INTO "regress_rtb.x".t VALUES (2)')], rounds => 2);
SELECT arm, verdict, checked, notes FROM told;
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO regress_rtb."x.t" VALUES (1)', 'INSERT INTO "regress_rtb.""x.t""" VALUES (1)'),
	rtbench.arm('other', 'INSERT INTO regress_rtb."x.t" VALUES (1)', 'INSERT INTO "regress_rtb.""x.t""" VALUES (2)')],
	'CREATE TABLE "regress_rtb.""x.t""" (a int)', rounds => 2);
SELECT arm, verdict, checked, notes FROM told;
DROP SCHEMA "regress_rtb.x", regress_rtb CASCADE;
CREATE TEMP TABLE twice (a int);
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('one', 'INSERT INTO pg_temp.twice VALUES (1)', 'INSERT INTO twice VALUES (1)'),
	rtbench.arm('temporary', 'INSERT INTO pg_temp.twice VALUES (2)', 'INSERT INTO twice VALUES (1)'),
	rtbench.arm('fixture', 'INSERT INTO pg_temp.twice VALUES (1)', 'INSERT INTO twice VALUES (2)')],
	'CREATE TABLE twice (a int)', transport => 'caller', rounds => 2);
SELECT arm, verdict, checked, notes FROM told;
DROP TABLE pg_temp.twice;
-- names of 62 and 63 bytes
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', format('INSERT INTO %I VALUES (1)', repeat('ñ', 31))), rtbench.arm('other', format('INSERT INTO %I VALUES (1)', repeat('ñ', 31)))],
	format('CREATE TABLE %I (%I int)', repeat('ñ', 31), repeat('日', 21)), rounds => 2);
SELECT arm, verdict, checked FROM told;
-- not committed, with such a name
BEGIN;
CREATE TABLE "fre sh""[.*+?(%s\" (a int);
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO "fre sh""[.*+?(%s\" VALUES (1)')], rounds => 2);
ROLLBACK;

--
-- text that is given as data stays data
--
SELECT rtbench.create_scenario('x''); DROP TABLE canary; --', 'SELECT 1');
SELECT rtbench.arm('x''); DROP TABLE canary; --', 'SELECT 1');
SELECT rtbench.arm('x}', 'SELECT 1');
\set VERBOSITY terse
SELECT rtbench.sweep('x''; DROP TABLE canary; --');
SELECT rtbench.sweep('x''.y');
SELECT rtbench.sweep('"x""'';".y');
SELECT rtbench.drop_scenario('x'' OR true --');
\set VERBOSITY default
SELECT rtbench.create_scenario('regress_rtb_names', 'CREATE TABLE t (a text)', description => 'x''); DROP TABLE canary; --', swept => 'n', points => '{1}',
	parameters => '{"value": "x''); DROP TABLE canary; --", "name": "t\"; DROP TABLE canary; --", "raw": "1; DROP TABLE canary"}');
SELECT rtbench.add_arm('regress_rtb_names', rtbench.arm('value', 'INSERT INTO t VALUES (:''value'')'));
SELECT rtbench.add_arm('regress_rtb_names', rtbench.arm('name', 'SELECT 1 AS :"name"', 'INSERT INTO t VALUES (''x''''); DROP TABLE canary; --'')'));
SELECT part, statement FROM rtbench.show_scenario('regress_rtb_names');
SELECT arm, statements FROM rtbench.sweep('regress_rtb_names', rounds => 2, label => 'x''); DROP TABLE canary; --', baseline => 'name');
SELECT label, scenario FROM rtbench.runs ORDER BY run DESC LIMIT 1;
SELECT * FROM told;
SELECT arm, step, statement FROM rtbench.step_result();
SELECT rtbench.sweep('regress_rtb_names', baseline => 'x''; DROP TABLE canary; --');
SELECT rtbench.sweep('regress_rtb_names', arms => ARRAY['value', 'x''; DROP TABLE canary; --']);
SELECT rtbench.sweep('regress_rtb_names', swept => 'x"; DROP TABLE canary; --');
SELECT rtbench.sweep('regress_rtb_names', parameters => '{"x\"; DROP TABLE canary; --": 1}');
SELECT rtbench.sweep('regress_rtb_names', check_query => 'SELECT 1; DROP TABLE canary');
SELECT rtbench.sweep('regress_rtb_names', check_query => 'SELECT 1) x; DROP TABLE canary; --');
SELECT rtbench.sweep('regress_rtb_names', transport => 'x''; DROP TABLE canary; --');
-- a parameter written as it is is SQL, but no more than one value of it
SELECT rtbench.add_arm('regress_rtb_names', rtbench.arm('raw', 'SELECT :raw'));
SELECT rtbench.show_scenario('regress_rtb_names');
-- a check query cannot write
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO canary VALUES (2)'), rtbench.arm('b', 'INSERT INTO canary VALUES (2)')],
	check_query => 'WITH d AS (DELETE FROM canary RETURNING a) SELECT a FROM d', rounds => 2);
SELECT arm, verdict FROM told;
TABLE canary;

DELETE FROM rtbench.runs WHERE scenario = 'regress_rtb_names';
SELECT rtbench.drop_scenario('regress_rtb_names');
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
SET client_min_messages = error;
DROP SCHEMA "regress_rtb ""ñ%s.'" CASCADE;
