-- What asking costs, computed from pg_stat_statements or a copy of it: nothing here is measured.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\pset null null
\set SHOW_CONTEXT never
CREATE TABLE regress_rtb_copy (userid oid, dbid oid, toplevel boolean, queryid bigint, query text, calls bigint, total_exec_time float8, rows bigint);
INSERT INTO regress_rtb_copy VALUES
	(10, 1, true, 1, 'DELETE FROM lines WHERE id = $1', 133973, 4421.1, 133973),
	(11, 1, true, 1, 'DELETE FROM lines WHERE id = $1', 27, 0.9, 27),
	(10, 1, true, -2, E'SELECT <b>&\x01 "é" FROM t', 10, 5000, 100000),
	(10, 1, false, 3, 'nested: never crossed a wire', 1000000, 9999, 1000000),
	(10, 1, true, 4, 'COMMIT', 2000, 1, 0),
	(10, 1, true, 5, 'never ran', 0, 0, 0);
-- the incident: 33 us there, 2.9 ms here
SELECT query, calls, rows_per_call, total_exec_time, asking_ms, asking_percent, suspicion, kind, stats_reset, "window"
FROM rtbench.statement_prices(2.9, source => 'regress_rtb_copy');
-- the total is of all statements, whatever is shown
SELECT query, calls FROM rtbench.statement_prices(2.9, source => 'regress_rtb_copy', top => 1);
SELECT query, calls, asking_ms FROM rtbench.statement_prices(0, source => 'regress_rtb_copy', top => 0);
-- only what came after an earlier copy; what was reset in between counts from zero
CREATE TABLE regress_rtb_earlier AS SELECT * FROM regress_rtb_copy;
UPDATE regress_rtb_copy SET calls = calls + 50, rows = rows + 50, total_exec_time = total_exec_time + 2 WHERE queryid = 1 AND userid = 10;
UPDATE regress_rtb_copy SET calls = 3, rows = 6, total_exec_time = 1 WHERE queryid = -2;
SELECT query, calls, rows_per_call, total_exec_time, asking_ms
FROM rtbench.statement_prices(1, since => 'regress_rtb_earlier', source => 'regress_rtb_copy');
-- an empty one; an older one's columns
CREATE TABLE regress_rtb_old AS SELECT userid, dbid, queryid, query, calls, total_exec_time AS total_time, rows FROM regress_rtb_copy WHERE toplevel;
SELECT query, calls, total_exec_time FROM rtbench.statement_prices(1, source => 'regress_rtb_old', top => 1);
TRUNCATE regress_rtb_old;
SELECT query, calls, rows_per_call, total_exec_time, asking_ms FROM rtbench.statement_prices(1, source => 'regress_rtb_old');
-- what a caller without pg_read_all_stats sees of others: counts without queryid and text, which are many statements and no suspicious one
CREATE TABLE regress_rtb_hidden AS SELECT userid, dbid, toplevel, CASE WHEN userid = 10 THEN queryid END AS queryid,
	CASE WHEN userid = 10 THEN query ELSE '<insufficient privilege>' END AS query, calls, total_exec_time, rows FROM regress_rtb_copy;
INSERT INTO regress_rtb_hidden SELECT 11 + g % 2, 1, true, NULL, '<insufficient privilege>', 1000, 0.1, 1000 FROM generate_series(1, 20) g;
SELECT query, calls, rows_per_call, total_exec_time, asking_ms, suspicion FROM rtbench.statement_prices(1, source => 'regress_rtb_hidden');
-- what came after: nothing; new statements of a role; one of which a reset has made less; one who is hidden in one copy only
CREATE TABLE regress_rtb_hidden_earlier AS SELECT * FROM regress_rtb_hidden;
SELECT query, calls FROM rtbench.statement_prices(1, since => 'regress_rtb_hidden_earlier', source => 'regress_rtb_hidden');
INSERT INTO regress_rtb_hidden VALUES (11, 1, true, NULL, '<insufficient privilege>', 7, 0.25, 14), (10, 1, true, 6, 'COPY', 1, 0.25, 1);
SELECT query, calls, rows_per_call, total_exec_time FROM rtbench.statement_prices(1, since => 'regress_rtb_hidden_earlier', source => 'regress_rtb_hidden');
DELETE FROM regress_rtb_hidden WHERE userid = 12;
INSERT INTO regress_rtb_hidden VALUES (12, 1, true, NULL, '<insufficient privilege>', 3, 0.5, 3);
SELECT query, calls, rows_per_call, total_exec_time FROM rtbench.statement_prices(1, since => 'regress_rtb_hidden_earlier', source => 'regress_rtb_hidden');
UPDATE regress_rtb_hidden SET queryid = calls, query = 'seen since' WHERE userid = 11;
SELECT query, calls FROM rtbench.statement_prices(1, since => 'regress_rtb_hidden_earlier', source => 'regress_rtb_hidden');
INSERT INTO regress_rtb_hidden_earlier VALUES (11, 1, true, NULL, '<insufficient privilege>', 100, 9, 100);
SELECT query, calls FROM rtbench.statement_prices(1, since => 'regress_rtb_hidden', source => 'regress_rtb_hidden_earlier');
-- as many calls as before but less of another count: it was reset, too
UPDATE regress_rtb_hidden_earlier SET total_exec_time = total_exec_time + 9000 WHERE queryid = 4;
SELECT query, calls, total_exec_time FROM rtbench.statement_prices(1, since => 'regress_rtb_hidden_earlier', source => 'regress_rtb_copy') WHERE query = 'COMMIT';
-- a name that needs quotes, a search path without it
CREATE SCHEMA "regress_rtb Ü";
ALTER TABLE regress_rtb_copy SET SCHEMA "regress_rtb Ü";
ALTER TABLE "regress_rtb Ü".regress_rtb_copy RENAME TO "Cöpy ""of""";
SELECT query, calls FROM rtbench.statement_prices(1, source => '"regress_rtb Ü"."Cöpy ""of"""', top => 1);
-- bad input
SELECT rtbench.statement_prices(-1, source => 'regress_rtb_old');
SELECT rtbench.statement_prices('NaN', source => 'regress_rtb_old');
SELECT rtbench.statement_prices('Infinity', source => 'regress_rtb_old');
SELECT rtbench.statement_prices(1e308, source => 'regress_rtb_old');
SELECT rtbench.statement_prices(60000.1, source => 'regress_rtb_old');
SELECT query, asking_ms FROM rtbench.statement_prices(60000, source => 'regress_rtb_old');
-- counts beyond bigint in sum
INSERT INTO regress_rtb_old SELECT u, 1, 1, 'SELECT $1', 9223372036854775807, 1e12, 9223372036854775807 FROM generate_series(1, 3) u;
SELECT query, calls, rows_per_call, total_exec_time, asking_ms, asking_percent FROM rtbench.statement_prices(60000, source => 'regress_rtb_old');
SELECT query, calls FROM rtbench.statement_prices(1, since => 'regress_rtb_old', source => 'regress_rtb_old');
CREATE TABLE regress_rtb_other AS SELECT 1 AS k, 'x' AS query, 5 AS calls;
SELECT rtbench.statement_prices(2, source => 'regress_rtb_other');
SELECT rtbench.statement_prices(2, since => 'regress_rtb_other', source => 'regress_rtb_old');
-- this test's own connection may be by TCP or not
SELECT rtbench.my_round_trip() IS NULL OR rtbench.my_round_trip() BETWEEN 0.001 AND 1000 AS plausible,
	rtbench.my_round_trip() IS NULL = (inet_client_addr() IS NULL) AS by_tcp;
DO $$ BEGIN
	IF inet_client_addr() IS NULL THEN
		PERFORM * FROM rtbench.statement_prices(source => 'regress_rtb_old');
	ELSE
		RAISE 'how long a round trip takes cannot be known on this connection' USING HINT = 'Give round_trip_ms, in milliseconds: what ping says from where the clients are. It is known only to who is connected by TCP.';
	END IF;
END $$;
-- without the extension
SELECT CASE WHEN EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements') THEN
	rtbench.refuse('extension "pg_stat_statements" is not installed in this database', 'Add pg_stat_statements to shared_preload_libraries, restart the server and run CREATE EXTENSION pg_stat_statements; or give a copy of its view: source => ''...''.')
	ELSE (SELECT query FROM rtbench.statement_prices(1) LIMIT 1) END;
-- a role that may not read the copy
CREATE ROLE regress_rtb_reader;
SET ROLE regress_rtb_reader;
SELECT rtbench.statement_prices(1, source => 'regress_rtb_old');
RESET ROLE;
DROP ROLE regress_rtb_reader;
DROP TABLE regress_rtb_other, regress_rtb_old, regress_rtb_earlier, regress_rtb_hidden, regress_rtb_hidden_earlier;
SET client_min_messages = warning;
DROP SCHEMA "regress_rtb Ü" CASCADE;
