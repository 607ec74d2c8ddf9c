-- Rolled-back passes leave dead rows: tables are vacuumed between passes and are at the end what they were; without that they grow, which is told.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

CREATE TABLE case_54 (id int PRIMARY KEY, n int, pad text) WITH (autovacuum_enabled = off);
INSERT INTO case_54 SELECT g, 0, repeat('x', 200) FROM generate_series(1, 500) g;
CREATE INDEX ON case_54 (n);
VACUUM ANALYZE case_54;
CREATE TEMP VIEW size AS
SELECT pg_relation_size('case_54') / 8192 AS pages, pg_indexes_size('case_54') / 8192 AS index_pages, pg_total_relation_size('case_54') / 1024 AS kb,
	(SELECT reltuples FROM pg_class WHERE oid = 'case_54'::regclass) AS tuples;
-- timed passes read and wrote about as many pages
CREATE TEMP VIEW flat AS
SELECT arm, max(buffers_hit + buffers_read) < 1.1 * min(buffers_hit + buffers_read) AS flat FROM rtbench.passes
WHERE run = (SELECT max(run) FROM rtbench.runs) AND kind IN ('timed', 'last') GROUP BY arm ORDER BY arm;
SELECT * FROM size \gset before_
SELECT $$ARRAY[
	rtbench.arm('loop', rtbench.foreach('SELECT id FROM case_54', 'UPDATE case_54 SET n = n + 1 WHERE id = $1')),
	rtbench.arm('set', 'UPDATE case_54 SET n = n + 1'),
	rtbench.arm('rest', ARRAY['UPDATE case_54 SET n = n + 1 WHERE id > 10'], before => 'UPDATE case_54 SET n = n + 1 WHERE id <= 10'),
	rtbench.arm('anew', 'DELETE FROM case_54', 'INSERT INTO case_54 SELECT g, 1, repeat(''x'', 200) FROM generate_series(1, 500) g')]$$ AS arms \gset

SELECT count(*) FROM rtbench.compare(:arms, rounds => 4);
SELECT * FROM told;
TABLE flat;
SELECT pages = :before_pages AS as_before, index_pages < 300 AS indexes_bounded, tuples FROM size;
-- one row of many, over and over: the planner's idea of the number of rows does not go astray
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'UPDATE case_54 SET n = n + 1 WHERE id = 3'), rtbench.arm('b', 'UPDATE case_54 SET n = 1 WHERE id = 3')], rounds => 4);
SELECT pages = :before_pages AS as_before, tuples FROM size;

REINDEX TABLE case_54;
VACUUM ANALYZE case_54;
SELECT * FROM size \gset before_
SELECT count(*) FROM rtbench.compare(:arms, rounds => 4, vacuum => false);
SELECT arm, verdict FROM told;
-- the size that is told is that from before anything was written
SELECT arm, replace(regexp_replace(note, 'to \d+ kB', 'to N kB'), :before_kb || ' kB', 'BEFORE kB') AS note FROM notes;
SELECT pages > 10 * :before_pages AS grown FROM size;
SELECT substring(note, 'to (\d+) kB')::bigint = kb AS to_now FROM notes, size WHERE arm = 'set' AND note ~ 'grew';
-- in the caller's transaction there is no VACUUM
VACUUM FULL case_54;
SELECT * FROM size \gset before_
SELECT count(*) FROM rtbench.compare(:arms, rounds => 4, transport => 'caller');
SELECT arm, replace(regexp_replace(note, 'to \d+ kB', 'to N kB'), :before_kb || ' kB', 'BEFORE kB') AS note FROM notes WHERE arm = 'set';

-- an arm that writes before the clock only has dead rows to clean too
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('a', ARRAY['SELECT count(*) FROM t'], before => 'UPDATE t SET n = n + 1'),
	rtbench.arm('b', ARRAY['SELECT sum(1) FROM t'], before => 'UPDATE t SET n = n + 1')],
	setup => 'CREATE TABLE t (n int); INSERT INTO t SELECT generate_series(1, 2000)', rounds => 4);
TABLE flat;

DROP VIEW size;
DROP TABLE case_54;
