-- What a setup may do is done in its scratch schema: a worker commits it, and nothing would bring back what is elsewhere.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset tuples_only on
CREATE SCHEMA regress_setup;
SET search_path = regress_setup;
CREATE TABLE mine (id int PRIMARY KEY, v int);
INSERT INTO mine SELECT generate_series(1, 10), 0;
CREATE TABLE parted (a int) PARTITION BY RANGE (a);
CREATE TABLE parted_1 PARTITION OF parted FOR VALUES FROM (0) TO (10);
INSERT INTO parted VALUES (1);
CREATE VIEW shown AS SELECT * FROM mine;
CREATE SEQUENCE numbers;
CREATE FUNCTION pg_temp.refusal(setup text, transport text DEFAULT 'worker') RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	PERFORM FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)')], setup => 'CREATE TABLE t (a int); ' || setup, transport => transport, rounds => 1);
	RETURN 'done';
EXCEPTION WHEN feature_not_supported THEN
	RETURN sqlerrm;
END $$;

--
-- rows and definitions of others
--
\set VERBOSITY default
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TABLE t (a int); UPDATE mine SET v = 1', rounds => 1);
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TEMP TABLE t (a int)', rounds => 1);
SELECT setup, pg_temp.refusal(setup) FROM unnest(ARRAY[
	'INSERT INTO mine VALUES (11)',
	'UPDATE shown SET v = 1',
	'UPDATE mine SET v = 1; CREATE TABLE child (id int REFERENCES mine)',
	'DO $do$ BEGIN DELETE FROM mine; END $do$',
	'DELETE FROM parted',
	'TRUNCATE mine',
	'ALTER TABLE mine ADD w int',
	'CREATE INDEX ON mine (v)',
	'DROP TABLE mine CASCADE',
	'DROP VIEW shown',
	'CREATE OR REPLACE VIEW regress_setup.shown AS SELECT *, 1 AS one FROM mine',
	'CREATE TABLE regress_setup.other (a int)',
	'SET search_path = regress_setup; CREATE TABLE t (a int)',
	'CREATE TEMP VIEW seen AS SELECT 1']) AS setup;

--
-- what reads others, and does what it likes at home
--
SELECT setup, pg_temp.refusal(setup) FROM unnest(ARRAY[
	'CREATE TABLE mine AS TABLE regress_setup.mine; UPDATE mine SET v = 1; TRUNCATE mine; DROP TABLE mine',
	'CREATE TABLE child (id int REFERENCES mine); INSERT INTO child VALUES (1)',
	'ALTER TABLE t ADD b text; CREATE INDEX ON t (a); INSERT INTO t SELECT nextval(''numbers''), repeat(''long'', 1000000)',
	'CREATE VIEW shown AS TABLE t; CREATE OR REPLACE VIEW shown AS SELECT a, 1 AS one FROM t; CREATE MATERIALIZED VIEW kept AS TABLE mine; REFRESH MATERIALIZED VIEW kept',
	'CREATE TABLE part (a int) PARTITION BY RANGE (a); CREATE TABLE part_1 PARTITION OF part DEFAULT; INSERT INTO part VALUES (1); DROP TABLE part']) AS setup;

--
-- the caller's transaction rolls it back
--
SELECT pg_temp.refusal('UPDATE mine SET v = 1; CREATE TEMP TABLE u (a int)', 'caller');

SELECT count(*), sum(v), (SELECT count(*) FROM parted) AS parted FROM mine;
SELECT relname FROM pg_class WHERE relnamespace = 'regress_setup'::regnamespace ORDER BY 1;
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
DROP SCHEMA regress_setup CASCADE;
