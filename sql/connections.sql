-- Connections: protocols, what is counted, errors and notices of the far end, servers and who may use them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\pset null null
\set SHOW_CONTEXT never
CREATE FUNCTION pg_temp.counts(statement text, VARIADIC options text[] DEFAULT '{}',
	OUT rows bigint, OUT affected bigint, OUT statements bigint, OUT round_trips bigint, OUT bytes_sent bigint, OUT bytes_received bigint)
LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE array_to_string(text 'SELECT a.rows, a.affected, a.statements, a.round_trips, a.bytes_sent, a.bytes_received FROM rtbench.ask($1' || options, ', ') || ') a'
	INTO rows, affected, statements, round_trips, bytes_sent, bytes_received USING statement;
END $$;

--
-- the same 1,000 statements by each protocol: a trip each, or a trip a batch
--
CREATE TABLE regress_rtb_far (id int PRIMARY KEY, v text);
INSERT INTO regress_rtb_far SELECT g, 'x' FROM generate_series(1, 1000) g;
SELECT p AS protocol, c.* FROM unnest('{simple,extended,prepared,pipeline,multi}'::text[]) p,
	pg_temp.counts('UPDATE regress_rtb_far SET v = v WHERE id = :n', format('protocol => %L', p), 'times => 1000') c;
-- the bytes of the first two, by the protocol's description, of one statement:
-- Query; RowDescription, DataRow, CommandComplete "SELECT 1", ReadyForQuery
SELECT c.bytes_sent, 5 + length('SELECT 1 AS a') + 1 AS expected_sent, c.bytes_received, (5 + 2 + 2 + 18) + (5 + 2 + 4 + 1) + (5 + 9) + 6 AS expected_received
FROM pg_temp.counts('SELECT 1 AS a', 'protocol => ''simple''') c;
-- Parse, Bind, Describe, Execute, Sync; ParseComplete and BindComplete more
SELECT c.bytes_sent, (5 + 1 + length('SELECT 1 AS a') + 1 + 2) + (5 + 1 + 1 + 2 + 2 + 4) + (5 + 2) + (5 + 1 + 4) + 5 AS expected_sent,
	c.bytes_received, 5 + 5 + (5 + 2 + 2 + 18) + (5 + 2 + 4 + 1) + (5 + 9) + 6 AS expected_received
FROM pg_temp.counts('SELECT 1 AS a', 'protocol => ''extended''') c;
-- a batch that is not full is one trip too
SELECT c.statements, c.round_trips FROM pg_temp.counts('SELECT :n::int', 'protocol => ''pipeline''', 'times => 25', 'batch => 10') c;
SELECT c.rows, c.statements, c.round_trips FROM pg_temp.counts('SELECT :n', 'protocol => ''multi''', 'times => 25', 'batch => 10') c;
-- several statements of one text, an empty one, one that returns no columns
SELECT c.rows, c.affected, c.round_trips FROM pg_temp.counts('SELECT 1; SELECT 2; DELETE FROM regress_rtb_far WHERE id < 3', 'protocol => ''simple''') c;
SELECT c.* FROM pg_temp.counts('', 'protocol => ''simple''') c;
SELECT c.* FROM pg_temp.counts('', 'protocol => ''extended''') c;
SELECT c.* FROM pg_temp.counts('SELECT FROM generate_series(1, 3)') c;
-- a cursor: DECLARE, a trip for every 50 rows and one that finds no more, CLOSE
SELECT c.rows, c.round_trips FROM pg_temp.counts('SELECT * FROM regress_rtb_far', 'protocol => ''simple''', 'fetch_size => 50') c;
-- rows in: a trip to begin, a trip for the rows
SELECT c.* FROM pg_temp.counts('COPY regress_rtb_far FROM STDIN', 'protocol => ''copy''', 'times => 5000', $$copy_row => E'-:n\trow :n'$$) c;
-- rows out
SELECT c.* FROM pg_temp.counts('COPY (SELECT 1 FROM generate_series(1, 3)) TO STDOUT', 'protocol => ''simple''') c;
-- all of that was rolled back; unless it is committed
SELECT count(*), min(id) FROM regress_rtb_far;
SELECT c.affected FROM pg_temp.counts('INSERT INTO regress_rtb_far VALUES (-:n, ''new'')', 'protocol => ''multi''', 'times => 3', 'transaction => false') c;
SELECT count(*), min(id) FROM regress_rtb_far;
-- a simulated round trip is waited for after each trip, and said
SELECT a.round_trips, a.delivered_ms >= 0.5 AS delivered, a.microseconds * 30 >= 5000 AS waited
FROM rtbench.ask('SELECT :n::int', protocol => 'pipeline', times => 30, batch => 3, round_trip_ms => 0.5) a;
SELECT a.delivered_ms, a.tls FROM rtbench.ask('SELECT 1') a;

--
-- the far end's errors are this server's, and nothing of them stays
--
CREATE FUNCTION pg_temp.error(text) RETURNS TABLE (state text, message text, detail text, hint text) LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE $1;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN NEXT;
END $$;
SELECT p AS protocol, e.* FROM unnest('{simple,extended,prepared,pipeline,multi}'::text[]) p,
	pg_temp.error(format('SELECT rtbench.ask(''INSERT INTO regress_rtb_far VALUES (:n + 900)'', protocol => %L, times => 200)', p)) e;
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('COPY regress_rtb_far FROM STDIN', protocol => 'copy', copy_row => E'7\tx')$$) e;
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('COPY regress_rtb_far FROM STDIN', protocol => 'simple')$$) e;
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', protocol => 'copy', copy_row => 'x')$$) e;
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1; SELECT 2', protocol => 'extended')$$) e;
SELECT rtbench.ask('SELECT nothing FROM regress_rtb_far', protocol => 'simple');
-- an error inside a caller's subtransaction: the connection goes with it
SELECT count(*) FROM generate_series(1, 100) i, pg_temp.error(format('SELECT rtbench.ask(''SELECT 1 / %s'')', i - i)) e WHERE e.state = '22012';
-- a transaction that the statement ends itself
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('ROLLBACK', protocol => 'simple')$$) e;
-- a deadlock that no detector sees: the far end waits for a lock of ours
BEGIN;
LOCK regress_rtb_far;
SELECT rtbench.ask('SELECT * FROM regress_rtb_far');
ROLLBACK;
DO $$ BEGIN
	FOR i IN 1..1000 LOOP
		PERFORM pg_sleep(0.01);
		PERFORM pg_stat_clear_snapshot();
		IF NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench' AND datname = current_database()) THEN RETURN; END IF;
	END LOOP;
	RAISE 'the far end goes on';
END $$;

--
-- the far end's notices: told, not too many of them
--
SELECT a.notices FROM rtbench.ask($x$DO $do$ BEGIN RAISE WARNING 'careful' USING HINT = 'Look.'; RAISE NOTICE 'done'; RAISE INFO 'so'; RAISE LOG 'silent'; END $do$ $x$) a;
SELECT a.notices FROM rtbench.ask($x$DO $do$ BEGIN FOR i IN 1..1000 LOOP RAISE NOTICE 'number %', i; END LOOP; END $do$ $x$) a;
-- a warning among those that are not shown is not lost where notices are not wanted
SET client_min_messages = warning;
SELECT a.notices FROM rtbench.ask($x$DO $do$ BEGIN FOR i IN 1..12 LOOP RAISE NOTICE 'number %', i; END LOOP; END $do$ $x$) a;
SELECT a.notices FROM rtbench.ask($x$DO $do$ BEGIN FOR i IN 1..12 LOOP RAISE NOTICE 'number %', i; END LOOP; RAISE WARNING 'the last'; END $do$ $x$) a;
RESET client_min_messages;

--
-- bad input
--
SELECT a AS arguments, e.* FROM unnest(ARRAY[$$NULL$$, $$'SELECT 1', transport => 'carrier pigeon'$$, $$'SELECT 1', protocol => 'x'$$, $$'SELECT 1', protocol => NULL$$,
	$$'SELECT 1', times => 0$$, $$'SELECT 1', batch => 0$$, $$'SELECT 1', fetch_size => 0$$, $$'SELECT 1', fetch_size => 5$$, $$'SELECT 1', protocol => 'copy'$$,
	$$'SELECT 1', round_trip_ms => -1$$, $$'SELECT 1', round_trip_ms => 'NaN'$$, $$'SELECT :m'$$, $$'SELECT 1', server => 'regress_rtb_none'$$,
	$$'SELECT 1', protocol => 'simple', fetch_size => 5, transaction => false$$]) a,
	pg_temp.error(format('SELECT rtbench.ask(%s)', a)) e;

--
-- servers: options of libpq, each in its place; a password is never shown
--
\set VERBOSITY terse
CREATE SERVER regress_rtb_loop FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host 'x', colour 'red');
CREATE SERVER regress_rtb_loop FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host 'x', password 'secret');
CREATE SERVER regress_rtb_loop FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (connect_timeout 'soon');
CREATE SERVER regress_rtb_loop FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (client_encoding 'LATIN1');
ALTER FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host 'x');
DO $$ BEGIN EXECUTE format('CREATE SERVER regress_rtb_loop FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host %L, port %L, dbname %L)',
	split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database()); END $$;
CREATE SERVER regress_rtb_nowhere FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '/nonexistent', connect_timeout '2');
CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_loop OPTIONS (host 'x');
\set VERBOSITY default
SELECT e.state, replace(e.message, current_user, 'me') AS message, e.hint FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', server => 'regress_rtb_loop')$$) e;
CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_loop;
CREATE USER MAPPING FOR PUBLIC SERVER regress_rtb_nowhere;
SELECT a.rows FROM rtbench.ask('SELECT 1', server => 'regress_rtb_loop') a;
SELECT e.state, e.message FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', server => 'regress_rtb_nowhere')$$) e;

-- a plain role: a password in the mapping, which the far end asks for, or nothing
CREATE ROLE regress_rtb_wire LOGIN PASSWORD 'secret';
SET ROLE regress_rtb_wire;
SELECT e.state, e.message, e.detail, regexp_replace(e.hint, 'port ''\d+''', 'port ''...''') AS hint FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1')$$) e;
SELECT e.state, e.message FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', server => 'regress_rtb_loop')$$) e;
CREATE SERVER regress_rtb_mine FOREIGN DATA WRAPPER rtbench_fdw;
RESET ROLE;
GRANT USAGE ON FOREIGN SERVER regress_rtb_loop TO regress_rtb_wire;
SET ROLE regress_rtb_wire;
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', server => 'regress_rtb_loop')$$) e;
CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_loop OPTIONS (user 'regress_rtb_wire');
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', server => 'regress_rtb_loop')$$) e;
ALTER USER MAPPING FOR CURRENT_USER SERVER regress_rtb_loop OPTIONS (ADD password 'wrong');
-- this server trusts whoever reaches its socket, so no password was asked for
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', server => 'regress_rtb_loop')$$) e;
RESET ROLE;

SET client_min_messages = warning;
DROP SERVER regress_rtb_loop CASCADE;
DROP SERVER regress_rtb_nowhere CASCADE;
DROP TABLE regress_rtb_far;
DROP ROLE regress_rtb_wire;
