-- Arguments of connections and prices that cannot be meant as they stand: refused before anything starts, with the way out.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\pset null null
\set SHOW_CONTEXT never
CREATE FUNCTION pg_temp.error(text) RETURNS TABLE (state text, message text, detail text, hint text) LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE $1;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN NEXT;
END $$;
CREATE FUNCTION pg_temp.compare_error(arguments text) RETURNS TABLE (state text, message text, detail text, hint text) LANGUAGE sql AS $$
	SELECT e.* FROM pg_temp.error(format('SELECT rtbench.compare(ARRAY[rtbench.arm(''a'', ''SELECT 1'')], rounds => 1, control => false, %s)', arguments)) e
$$;

--
-- foreign servers that are called like a transport: whose figures are they?
--
CREATE FUNCTION pg_temp.make_server(name) RETURNS name LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE format('CREATE SERVER %I FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host %L, port %L, dbname %L)',
		$1, split_part(current_setting('unix_socket_directories'), ',', 1), current_setting('port'), current_database());
	EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER %I', $1);
	RETURN $1;
END $$;
SELECT coalesce(max(run), 0) AS last_run FROM rtbench.runs \gset
SELECT count(pg_temp.make_server(n)) FROM unnest('{worker,caller,unix,tcp,tls,local}'::name[]) n;
SELECT n AS name, c.* FROM unnest('{worker,caller,unix,tcp,tls,local}'::name[]) n, pg_temp.compare_error(format('server => %L', n)) c;
SELECT n AS servers, c.state, c.message FROM unnest('{"{worker}","{local,unix}"}'::text[]) n, pg_temp.compare_error(format('servers => %L', n)) c;
SELECT a AS call, e.state, e.message FROM unnest(ARRAY[$$SELECT rtbench.price_list('{unix}', '{unix}')$$, $$SELECT rtbench.ask('SELECT 1', server => 'tcp')$$, $$SELECT rtbench.cleanup('local')$$]) a, pg_temp.error(a) e;
-- in servers, "local" is this very server
SELECT c.* FROM pg_temp.compare_error($$servers => '{local}'$$) c;
-- renamed it is one like any other
ALTER SERVER worker RENAME TO regress_rtb_worker;
SELECT c.* FROM pg_temp.compare_error($$server => 'regress_rtb_worker'$$) c;
SELECT server, transport FROM rtbench.runs WHERE run > :last_run ORDER BY run;
DROP SERVER regress_rtb_worker, caller, unix, tcp, tls, local CASCADE;

--
-- what belongs to a connection, without one; what is too small to be waited for
--
SELECT a AS arguments, c.* FROM unnest(ARRAY[$$transport => 'caller', batch => 5$$, $$batch => 100$$, $$transport => 'caller', protocol => 'multi'$$,
	$$transport => 'unix', protocol => NULL$$, $$protocol => NULL$$, $$transport => 'unix', batch => 0$$, $$transport => 'unix', batch => NULL$$, $$transport => 'unix', protocol => 'multi', batch => 1$$,
	$$transport => 'unix', round_trip_ms => '{0.0001,0.0002}'$$, $$transport => 'unix', round_trip_ms => '{0.0004}'$$, $$transport => 'unix', round_trip_ms => '{0.001,0.0012}'$$, $$transport => 'unix', round_trip_ms => '{0}'$$]) a
	LEFT JOIN LATERAL pg_temp.compare_error(a) c ON true;
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', round_trip_ms => 0.0004)$$) e;
SELECT e.* FROM pg_temp.error($$SELECT rtbench.ask('SELECT 1', fetch_size => 5)$$) e;

--
-- prices of nothing, and twice of the same
--
SELECT a AS arguments, e.* FROM unnest(ARRAY[$$NULL, '{}'$$, $$'{}', NULL$$, $$transports => '{caller,worker,caller}'$$, $$transports => '{unix}', placements => '{free,free}'$$, $$'{regress_rtb_a,regress_rtb_a}', '{}'$$]) a,
	pg_temp.error(format('SELECT rtbench.price_list(%s)', a)) e;

--
-- figures have the digits that they are good for
--
SELECT a.microseconds = rtbench.round_significant(a.microseconds::float8, 4) AS microseconds, a.cpu_microseconds = rtbench.round_significant(a.cpu_microseconds::float8, 4) AS cpu,
	a.delivered_ms = rtbench.round_significant(a.delivered_ms::float8, 4) AS delivered
FROM rtbench.ask('SELECT 1', times => 7, round_trip_ms => 0.01) a;

-- a distance costs its round trips, however small the one before it was
SELECT point, count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1'), rtbench.arm('b', 'SELECT 2')], transport => 'unix', round_trip_ms => '{0.001,3}', rounds => 2) GROUP BY 1 ORDER BY 1;

SELECT count(rtbench.forget(run)) FROM rtbench.runs WHERE run > :last_run;
SELECT count(*) AS schemas FROM pg_namespace WHERE nspname LIKE 'rtbench\_%';
