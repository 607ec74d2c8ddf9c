-- Over a connection it is seen as in a worker what arms have written: tables made inside subtransactions, and large objects.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE FUNCTION pg_temp.both(arms jsonb[]) RETURNS TABLE (arm text, worker text, unix text, same_digest boolean, checked text) LANGUAGE plpgsql AS $$
DECLARE
	runs bigint[];
	t text;
BEGIN
	FOREACH t IN ARRAY '{worker,unix}'::text[] LOOP
		PERFORM rtbench.compare(arms, setup => 'CREATE TABLE t (i int); INSERT INTO t VALUES (0)', rounds => 2, control => false, transport => t);
		runs := runs || (SELECT max(run) FROM rtbench.runs);
	END LOOP;
	RETURN QUERY SELECT w.arm, CASE WHEN w.verdict = 'not comparable' THEN regexp_replace(w.notes, '; .*', '') ELSE 'comparable' END,
		CASE WHEN u.verdict = 'not comparable' THEN regexp_replace(u.notes, '; .*', '') ELSE 'comparable' END, w.digest = u.digest, u.checked
		FROM rtbench.result(runs[1]) w JOIN rtbench.result(runs[2]) u USING (arm);
END $$;

SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('base', 'SAVEPOINT a', 'CREATE TABLE x AS SELECT 1 AS a', 'RELEASE a'),
	rtbench.arm('plain', 'CREATE TABLE x AS SELECT 1 AS a'),
	rtbench.arm('deep', 'SAVEPOINT a', 'SAVEPOINT b', 'CREATE TABLE y AS SELECT 2', 'ROLLBACK TO b', 'CREATE TABLE x AS SELECT 1 AS a', 'RELEASE a'),
	rtbench.arm('undone', 'SAVEPOINT a', 'CREATE TABLE x AS SELECT 1 AS a', 'ROLLBACK TO a', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('other_rows', 'DO $d$ BEGIN CREATE TABLE x AS SELECT 2 AS a; EXCEPTION WHEN division_by_zero THEN NULL; END $d$')]);
-- one that takes the place of another
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('base', 'UPDATE t SET i = 5'),
	rtbench.arm('again', 'SAVEPOINT a', 'DROP TABLE t', 'CREATE TABLE t (i int)', 'INSERT INTO t VALUES (5)', 'RELEASE a'),
	rtbench.arm('altered', 'SAVEPOINT a', 'ALTER TABLE t ALTER i TYPE bigint', 'UPDATE t SET i = 5', 'RELEASE a')]);
-- data that is in a catalog; only read, it is no reason
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('base', 'INSERT INTO t VALUES (1)', 'SELECT lo_from_bytea(424242, ''abc'')'),
	rtbench.arm('same', 'SELECT lo_from_bytea(424242, ''abc'')', 'INSERT INTO t VALUES (1)'),
	rtbench.arm('other', 'INSERT INTO t VALUES (1)', 'DO $d$ BEGIN PERFORM lo_from_bytea(424242, ''completely different''); END $d$')]);
SELECT lo_from_bytea(434343, 'kept') > 0 AS kept;
SELECT * FROM pg_temp.both(ARRAY[
	rtbench.arm('base', 'SELECT lo_get(434343)'),
	rtbench.arm('same', 'SELECT lo_get(434343)')]);
SELECT lo_unlink(434343);
