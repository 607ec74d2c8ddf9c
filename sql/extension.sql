-- The extension as a whole: it comes, every object is described and in its schema, and it goes without a trace.
-- In a database of its own, so that no other test's extension is touched.
\set home :DBNAME
SET client_min_messages = warning;
DROP DATABASE IF EXISTS regress_rtbench_extension;
CREATE DATABASE regress_rtbench_extension;
\c regress_rtbench_extension

CREATE EXTENSION rtbench;
SELECT extname, extversion = (SELECT default_version FROM pg_available_extensions WHERE name = 'rtbench') AS is_default,
       extnamespace::regnamespace AS schema, extrelocatable
FROM pg_extension WHERE extname = 'rtbench';

CREATE TEMP VIEW members AS
SELECT d.classid, d.objid, pg_describe_object(d.classid, d.objid, 0) AS object, i.schema
FROM pg_depend d, pg_identify_object(d.classid, d.objid, 0) i
WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
  AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'rtbench');

-- there is something to look at
SELECT count(*) > 4 AS has_members FROM members;

-- objects without a description (an identity column's sequence and a table's row type are the table's)
SELECT object FROM members m
WHERE NOT EXISTS (SELECT FROM pg_description c WHERE (c.classoid, c.objoid, c.objsubid) = (m.classid, m.objid, 0))
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE (d.classid, d.objid, d.deptype) = (m.classid, m.objid, 'i'))
ORDER BY 1;

-- objects elsewhere than in the extension's schema
SELECT object FROM members WHERE schema <> 'rtbench' ORDER BY 1;

-- functions that would run with their owner's rights
SELECT p.oid::regprocedure FROM pg_proc p JOIN members m ON m.classid = 'pg_proc'::regclass AND m.objid = p.oid
WHERE p.prosecdef ORDER BY 1;

-- it leaves an empty schema, as every extension with a schema in its control file does, and nothing else
DROP VIEW members;
DROP EXTENSION rtbench;
DROP SCHEMA rtbench RESTRICT;
SELECT c.oid::regclass AS relation FROM pg_class c WHERE c.oid >= 16384;
SELECT p.oid::regprocedure AS function FROM pg_proc p WHERE p.oid >= 16384;
SELECT t.oid::regtype AS type FROM pg_type t WHERE t.oid >= 16384;
SELECT nspname FROM pg_namespace WHERE oid >= 16384 AND nspname !~ '^pg_(toast_)?temp_';

-- it can come again, also when the schema is there already, but never over somebody's object
CREATE SCHEMA rtbench;
CREATE TABLE rtbench.runs (mine int);
\set SHOW_CONTEXT never
CREATE EXTENSION rtbench;
DROP TABLE rtbench.runs;
CREATE EXTENSION rtbench;
DROP EXTENSION rtbench;

\c :home
DROP DATABASE regress_rtbench_extension;
