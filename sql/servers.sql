-- The same scenario on several servers in one call: refused before anything starts, a run at each in lockstep, and what is put side by side.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\set SHOW_CONTEXT never
CREATE FUNCTION pg_temp.error(text) RETURNS TABLE (state text, message text, detail text, hint text) LANGUAGE plpgsql AS $$ BEGIN
	EXECUTE $1;
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RETURN NEXT;
END $$;
-- another database of this cluster is a good second server; the second name leads back here
CREATE DATABASE regress_rtb_second;
ALTER DATABASE regress_rtb_second SET work_mem = '1234kB';
DO $$ DECLARE socket text := split_part(current_setting('unix_socket_directories'), ',', 1); port text := current_setting('port'); BEGIN
	EXECUTE format('CREATE SERVER regress_rtb_second FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host %L, port %L, dbname ''regress_rtb_second'')', socket, port);
	EXECUTE format('CREATE SERVER regress_rtb_again FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host %L, port %L, dbname %L)', socket, port, current_database());
END $$;
CREATE SERVER regress_rtb_unmapped FOREIGN DATA WRAPPER rtbench_fdw;
CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_second;
CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_again;

--
-- refused, before anything starts
--
SELECT run AS before FROM (SELECT coalesce(max(run), 0) AS run FROM rtbench.runs) r \gset
\pset null null
SELECT a AS arguments, e.state, replace(e.message, current_user, 'me') AS message, e.detail, e.hint FROM unnest(ARRAY[$$'{}'$$, $$'{local,null}'$$, $$NULL::text[] || '{local,local}'$$,
	$$'{{local},{regress_rtb_second}}'$$, $$'{regress_rtb_none,local}'$$, $$'{local,regress_rtb_unmapped}'$$, $$'{local}', server => 'regress_rtb_second'$$, $$'{local}', transport => 'caller'$$,
	$$'{local}', transport => 'pigeon'$$, $$'{local}', transport => NULL$$, $$'{regress_rtb_second}', transport => 'unix'$$, $$'{local}', protocol => 'x'$$, $$'{local,regress_rtb_second}', sessions => 0$$]) a,
	pg_temp.error(format('SELECT rtbench.sweep(''delete_tree'', servers => %s)', a)) e;
CALL rtbench.run_sweep('delete_tree', servers => '{local,local}');
SELECT e.* FROM pg_temp.error($$SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], servers => '{local,regress_rtb_none}')$$) e;
-- more servers than there can be workers
DO $$ BEGIN
	FOR i IN 1 .. current_setting('max_worker_processes')::int LOOP
		EXECUTE format('CREATE SERVER regress_rtb_many_%s FOREIGN DATA WRAPPER rtbench_fdw', i);
		EXECUTE format('CREATE USER MAPPING FOR CURRENT_USER SERVER regress_rtb_many_%s', i);
	END LOOP;
END $$;
SELECT e.state, regexp_replace(e.message, '\d+', 'N') AS message, regexp_replace(e.detail, '\d+', 'N', 'g') AS detail, e.hint
FROM (SELECT array_agg(srvname) AS names FROM pg_foreign_server WHERE srvname LIKE 'regress_rtb_many_%') s, pg_temp.error(format('SELECT rtbench.sweep(''delete_tree'', servers => %L)', s.names)) e;
SELECT max(run) = :before AS nothing_was_kept FROM (SELECT run FROM rtbench.runs UNION ALL SELECT 0) r;
-- nothing to put side by side
SET client_min_messages = warning;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], rounds => 1);
RESET client_min_messages;
SELECT e.state, regexp_replace(e.message, '\d+', 'N') AS message, e.hint FROM pg_temp.error(format('SELECT rtbench.across_servers(%s)', (SELECT max(run) FROM rtbench.runs))) e;
SELECT e.* FROM pg_temp.error('SELECT rtbench.across_servers()') e;

--
-- one scenario, two servers: the first is what others are held against; statements are those sent where rtbench is not installed
--
\set small 'points => ''{20,40}'', arms => ''{row_at_a_time,set_based}'', parameters => ''{"other_documents": 3, "blocks_of_others": 5}'''
SET client_min_messages = warning;
-- a setting of this session, which does not reach through a connection
SET work_mem = '3333kB';
SELECT point, arm, statements, median_ms > 0 AS measured, speedup > 0 AS speedup, low, high, verdict
FROM rtbench.sweep('delete_tree', :small, rounds => 2, control => false, servers => '{local,regress_rtb_second}');
RESET client_min_messages;
SELECT run - first_value(run) OVER (ORDER BY run) AS run, together = min(run) OVER () AS together, server, transport, scope, complete, finished_at = max(finished_at) OVER () AS finished_together,
	settings ->> 'work_mem' = '1234' AS its_work_mem, settings ->> 'work_mem' = '3333' AS callers_work_mem, settings ? 'rtbench.pass_order' AS pass_order, machine ? 'system' AS system, machine ->> 'version' = version() AS version,
	server_version = current_setting('server_version') AS server_version
FROM rtbench.runs WHERE run > :before AND together IS NOT NULL ORDER BY run;
SELECT point, arm, server, round_trips, statements, median_ms > 0 AS measured, speedup > 0 AS speedup, CASE WHEN server = 'local' THEN times ELSE sign(times) END AS times, times_low, times_high,
	same_rows, server_version = current_setting('server_version') AS version, notes
FROM rtbench.across_servers();
-- any run of the call; the last one's is rtbench.last
SELECT (SELECT array_agg(a ORDER BY a) FROM rtbench.across_servers(r.together) a) = (SELECT array_agg(a ORDER BY a) FROM rtbench.across_servers(r.run) a) AS same,
	(SELECT array_agg(l.median_ms) FROM rtbench.last l) = (SELECT array_agg(p.median_ms) FROM rtbench.result(r.run) p) AS last
FROM rtbench.runs r WHERE run = (SELECT max(run) FROM rtbench.runs);
-- each is a run as any other
SELECT kind, what FROM rtbench.compare_runs((SELECT max(together) FROM rtbench.runs), (SELECT max(run) FROM rtbench.runs)) WHERE kind = 'difference' AND what IN ('transport', 'setting work_mem', 'server version', 'definitions');
SELECT point, arm, round_trips, ms > 0 AS ms FROM rtbench.project('{1}');
SELECT count(*), min(speedup) > 0 AS speedup FROM rtbench.result((SELECT max(together) FROM rtbench.runs));

--
-- sessions in turn: all have the same ones, a pair of each; too few for an interval, then enough
--
SET client_min_messages = warning;
SELECT count(*) FROM rtbench.sweep('delete_tree', :small, sessions => 3, rounds => 2, control => false, servers => '{regress_rtb_second,local,regress_rtb_again}');
SELECT arm, point, server, times IS NOT NULL AS times, times_low, same_rows, notes FROM rtbench.across_servers() WHERE point = 20;
SELECT count(DISTINCT passes) AS passes FROM (SELECT run, array_agg((session, round, point, arm) ORDER BY session, round, point, arm) AS passes
	FROM rtbench.passes WHERE run IN (SELECT run FROM rtbench.runs WHERE together = (SELECT max(together) FROM rtbench.runs)) AND round > 0 GROUP BY run) p;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t SELECT generate_series(1, 5)')], setup => 'CREATE TABLE t (i int)', sessions => 9, rounds => 2, servers => '{local,regress_rtb_second}');
RESET client_min_messages;
SELECT arm, server, round_trips, statements, times_low <= times AND times <= times_high AS interval, same_rows, coalesce(notes, '') ~ 'needs at least' AS too_few FROM rtbench.across_servers();
-- that is the public arithmetic over pairs of sessions
SELECT abs(a.times - exp(rtbench.hodges_lehmann(u.d))) <= 0.501 * 10.0 ^ -scale(a.times) AS times, abs(a.times_low - exp(i.low)) <= 0.501 * 10.0 ^ -scale(a.times_low) OR coalesce(a.notes, '') ~ 'correlated' AS low, abs(a.times_high - exp(i.high)) <= 0.501 * 10.0 ^ -scale(a.times_high) OR coalesce(a.notes, '') ~ 'correlated' AS high, cardinality(u.d)
FROM rtbench.across_servers() a, (
	SELECT array_agg(s.d ORDER BY s.session) AS d FROM (
		SELECT session, rtbench.hodges_lehmann(array_agg(ln(here.elapsed_ns::float8) - ln(first.elapsed_ns::float8))) AS d
		FROM rtbench.passes first JOIN rtbench.passes here USING (session, round, arm)
		WHERE first.round > 0 AND here.run = (SELECT max(run) FROM rtbench.runs) AND first.run = here.run - 1 GROUP BY session) s) u,
	rtbench.signed_rank_interval(u.d, 0.99) i
WHERE a.server = 'regress_rtb_second';

--
-- the same arm leaves other rows there, or fails there: no ratio
--
SELECT a.affected FROM rtbench.ask('CREATE TABLE public.regress_rtb_rows (i int)', server => 'regress_rtb_second', protocol => 'simple', transaction => false) a;
CREATE TABLE public.regress_rtb_rows (i int);
INSERT INTO public.regress_rtb_rows VALUES (7);
\set VERBOSITY terse
SET client_min_messages = warning;
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('other', 'INSERT INTO t SELECT count(*) FROM public.regress_rtb_rows'), rtbench.arm('fails', 'INSERT INTO t SELECT 1 / (SELECT count(*) FROM public.regress_rtb_rows)')],
	setup => 'CREATE TABLE t (i int)', rounds => 2, control => false, servers => '{local,regress_rtb_second}');
RESET client_min_messages;
\set VERBOSITY default
SELECT arm, server, median_ms > 0 AS measured, speedup > 0 AS speedup, times, times_low, times_high, same_rows, notes FROM rtbench.across_servers();
-- the first server's run is forgotten: nothing to hold the others against
SELECT rtbench.forget(max(together)) FROM rtbench.runs;
SELECT arm, server, times, same_rows, notes FROM rtbench.across_servers();

--
-- arms that commit, by CALL; the built-in scenarios with their tables
--
SET client_min_messages = warning;
CALL rtbench.run_sweep('statement_rollback', points => '{2}', arms => '{transaction,savepoint}', parameters => '{"rows": 10, "transactions": 2}', rounds => 2, control => false, servers => '{local,regress_rtb_again}');
SELECT arm, server, round_trips, statements, times > 0 AS times, same_rows FROM rtbench.across_servers();
SELECT r.server, t.arm, t.statements, t.tps_with > 0 AS tps FROM rtbench.runs r, rtbench.statement_rollback_table(r.run) t WHERE r.together = (SELECT max(together) FROM rtbench.runs) ORDER BY r.run, t.arm;
CALL rtbench.run_sweep('procedure_vs_statements', points => '{5}', parameters => '{"rows": 20}', rounds => 2, control => false, servers => '{local,regress_rtb_again}');
SELECT arm, server, round_trips, statements, times > 0 AS times, same_rows FROM rtbench.across_servers();
SELECT r.server, t.arm, t.round_trips, t.mean_s > 0 AS mean FROM rtbench.runs r, rtbench.procedure_vs_statements_table(r.run) t WHERE r.together = (SELECT max(together) FROM rtbench.runs) ORDER BY r.run, t.arm;
-- distances: each is a point at each server
SELECT point, arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], rounds => 1, round_trip_ms => '{0,1}', servers => '{local,regress_rtb_second}');
SELECT server, transport FROM rtbench.runs WHERE together = (SELECT max(together) FROM rtbench.runs) ORDER BY run;
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', 'SELECT 1')], rounds => 1, servers => '{regress_rtb_second}');
SELECT arm, server, times, same_rows, notes FROM rtbench.across_servers();
RESET client_min_messages;

-- another role's runs are not there
CREATE ROLE regress_rtb_across;
SELECT max(run) AS run FROM rtbench.runs \gset
SET ROLE regress_rtb_across;
SELECT e.state FROM pg_temp.error(format('SELECT rtbench.across_servers(%s)', :run)) e;
RESET ROLE;

SET client_min_messages = warning;
SELECT count(*) AS schemas FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
DROP TABLE public.regress_rtb_rows;
DROP ROLE regress_rtb_across;
DO $$ DECLARE s name; BEGIN
	FOR s IN SELECT srvname FROM pg_foreign_server WHERE srvname LIKE 'regress\_rtb\_%' LOOP EXECUTE format('DROP SERVER %I CASCADE', s); END LOOP;
END $$;
DROP DATABASE regress_rtb_second;
