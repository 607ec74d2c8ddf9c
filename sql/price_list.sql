-- The price list: every way has every price, measured, and nothing stays.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\pset null null
\set SHOW_CONTEXT never
CREATE TABLE regress_rtb_prices AS SELECT * FROM rtbench.price_list(transports => '{caller,worker,unix}', max_time => '1 ms');
SELECT transport, protocol, placement, string_agg(statement, ' ' ORDER BY statement) AS statements, bool_and(microseconds > 0) AS positive,
	bool_and(low <= microseconds AND microseconds <= high) AS inside, string_agg(DISTINCT kind, ' ') AS kind
FROM regress_rtb_prices GROUP BY 1, 2, 3 ORDER BY 1, 2;
-- a wire has its price; asking for nothing is cheaper than for something
SELECT bool_and(w.low > i.high) AS dearer FROM regress_rtb_prices w, regress_rtb_prices i
WHERE w.transport = 'unix' AND i.transport IN ('caller', 'worker') AND i.protocol = 'saved plan' AND w.statement = i.statement AND i.statement = 'empty';
-- a server by name, placed and not
CREATE SERVER regress_rtb_list FOREIGN DATA WRAPPER rtbench_fdw;
DO $$ BEGIN EXECUTE format('ALTER SERVER regress_rtb_list OPTIONS (host %L, port %L, dbname %L)',
	split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()); END $$;
CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_list;
SELECT transport, placement, count(DISTINCT (protocol, statement)) AS prices
FROM rtbench.price_list('{regress_rtb_list}', '{}', '{same core,free}', max_time => '1 ms') GROUP BY 1, 2 ORDER BY 2;
-- nothing can be made at a far end that is read-only: what to do is told, as by a run
ALTER SERVER regress_rtb_list OPTIONS (ADD options '-c default_transaction_read_only=on');
SELECT rtbench.price_list('{regress_rtb_list}', '{}', max_time => '1 ms');
ALTER SERVER regress_rtb_list OPTIONS (DROP options);
-- nothing is left, here or there
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_price%';
-- a backend that has just been told goodbye needs a moment to go
DO $$ BEGIN FOR i IN 1 .. 200 LOOP
	PERFORM pg_stat_clear_snapshot();
	EXIT WHEN NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench' AND datname = current_database());
	PERFORM pg_sleep(0.05);
END LOOP; END $$;
SELECT count(*) FROM pg_stat_activity WHERE application_name = 'rtbench' AND datname = current_database();
-- bad input
SELECT rtbench.price_list('{regress_rtb_none}');
SELECT rtbench.price_list(transports => '{pigeon}');
SELECT rtbench.price_list(transports => '{NULL}');
SELECT rtbench.price_list(placements => '{here}');
SELECT rtbench.price_list(max_time => '-1 s');
SELECT rtbench.price_list(transports => '{}');
-- a plain role: the ways that it may not go are rows with the reason
CREATE ROLE regress_rtb_poor;
SET ROLE regress_rtb_poor;
SELECT DISTINCT transport, microseconds, notes FROM rtbench.price_list(transports => '{caller,unix}', max_time => '1 ms') ORDER BY 1;
SELECT rtbench.price_list('{regress_rtb_list}');
RESET ROLE;
DROP ROLE regress_rtb_poor;
SET client_min_messages = warning;
DROP SERVER regress_rtb_list CASCADE;
DROP TABLE regress_rtb_prices;
