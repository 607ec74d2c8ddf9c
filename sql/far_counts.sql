-- Counting in a session of its own, as a run over a connection has it done: the same rules, and the calls themselves are left out.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE TABLE counted_rows (id int PRIMARY KEY, v int);
CREATE TABLE counted_children (parent int REFERENCES counted_rows ON DELETE CASCADE);
INSERT INTO counted_rows SELECT g, 0 FROM generate_series(1, 100) g;
SELECT statements IS NULL AS nothing_yet FROM rtbench.counted();
CALL rtbench.count_end();
CALL rtbench.count_begin();
UPDATE counted_rows SET v = 1 WHERE id <= 10;
DELETE FROM counted_rows WHERE id IN (1, 2);
DO $$ BEGIN FOR i IN 11 .. 15 LOOP UPDATE counted_rows SET v = i WHERE id = i; END LOOP; END $$;
SELECT v FROM counted_rows WHERE id = 20;
CALL rtbench.count_end();
SELECT statements, fired, rows, transactions, xids, subxact_overflowed, ddl, buffers_hit > 0 AS buffers, wal_records > 0 AS wal, elapsed_ns > 0 AS elapsed, plan_shape, fired_shape FROM rtbench.counted();
-- in one transaction that is rolled back, and one that fails
BEGIN;
CALL rtbench.count_begin();
INSERT INTO counted_rows VALUES (1000, 1);
SAVEPOINT s;
INSERT INTO counted_rows VALUES (1001, 1);
RELEASE s;
CALL rtbench.count_end();
SELECT statements, rows, xids, transactions FROM rtbench.counted();
ROLLBACK;
CALL rtbench.count_begin();
BEGIN;
SELECT 1 / 0;
ROLLBACK;
CALL rtbench.count_end();
SELECT statements >= 1 AS counted FROM rtbench.counted();
-- begun and never ended: the next one counts from zero
CALL rtbench.count_begin();
SELECT 1;
CALL rtbench.count_begin();
CALL rtbench.count_end();
SELECT statements FROM rtbench.counted();
-- what keeps statements from an index is looked for when asked for
CALL rtbench.count_begin(advise => true);
DELETE FROM counted_rows WHERE id = 3;
CALL rtbench.count_end();
SELECT advice FROM rtbench.counted();
CALL rtbench.count_begin();
DELETE FROM counted_rows WHERE id = 4;
CALL rtbench.count_end();
SELECT advice FROM rtbench.counted();
DROP TABLE counted_children, counted_rows;
-- a run over a connection notes the same causes as one in a worker, and what triggers and foreign keys ran
CREATE TEMP TABLE told (transport text, arm text, fired bigint, plan_shape text, note text);
SELECT count(*) FROM unnest('{worker,unix}'::text[]) transport, rtbench.compare(ARRAY[
	rtbench.arm('whole', 'DELETE FROM p WHERE id <= 50'), rtbench.arm('numeric', 'DELETE FROM p WHERE id <= 50.0')], $$
	CREATE TABLE p (id int PRIMARY KEY);
	CREATE TABLE ch (p_id int REFERENCES p ON DELETE CASCADE);
	INSERT INTO p SELECT generate_series(1, 1000);
	INSERT INTO ch SELECT 1 + g % 1000 FROM generate_series(1, 5000) g$$, rounds => 2, transport => transport);
INSERT INTO told SELECT r.transport, arm, fired, plan_shape, note FROM rtbench.runs r, rtbench.result(r.run), regexp_split_to_table(notes, '; ') note
	WHERE r.run > (SELECT max(run) - 2 FROM rtbench.runs) AND note ~ '^(index|fired)';
SELECT transport, arm, fired, plan_shape, note FROM told ORDER BY arm, note, transport;
