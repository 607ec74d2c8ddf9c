-- Over connections: types of parameters that are given, and plans that are kept from pass to pass, as in process.
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
CREATE FUNCTION pg_temp.loop(body jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT rtbench.foreach('SELECT g, -g FROM generate_series(1, 20) g', body) $$;

--
-- types: by every protocol the rows that a worker gets; of a length only the type is the parameter's
--
CREATE FUNCTION pg_temp.given(transport text, protocol text, OUT same boolean, OUT digest text) LANGUAGE plpgsql AS $$ BEGIN
	PERFORM rtbench.compare(ARRAY[
		rtbench.arm('given', pg_temp.loop(rtbench.step('SELECT pg_typeof($1), $1 / 2, pg_typeof($2), ($2 || ''|''), ''$1 is no parameter''', types => '{bigint,"character varying(1)"}'))),
		rtbench.arm('cast', pg_temp.loop(rtbench.step('SELECT pg_typeof($1::bigint), $1::bigint / 2, pg_typeof($2::varchar), ($2::varchar || ''|''), ''$1 is no parameter''')))],
		transport => transport, protocol => protocol, rounds => 1, control => false);
	SELECT count(DISTINCT r.digest) = 1 AND bool_and(verdict NOT IN ('failed', 'not comparable')), min(r.digest) INTO same, digest FROM rtbench.result() r;
END $$;
SELECT digest FROM pg_temp.given('worker', 'prepared') \gset
SELECT p AS protocol, g.same, g.digest = :'digest' AS as_in_process FROM unnest('{prepared,extended,simple,pipeline,multi}'::text[]) p, pg_temp.given('unix', p) g;
-- a type that is the fixture's own; one that does not exist
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', pg_temp.loop(rtbench.step('INSERT INTO t VALUES ($1)', types => '{mine}')))],
	setup => 'CREATE DOMAIN mine AS int CHECK (value < 21); CREATE TABLE t (i int)', transport => 'unix', rounds => 1, control => false);
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', pg_temp.loop(rtbench.step('INSERT INTO t VALUES ($1)', types => '{no_such_type}')))],
	setup => 'CREATE TABLE t (i int)', transport => 'unix', rounds => 1, control => false);
SELECT substring(notes FROM '42704: type "no_such_type" does not exist') AS failed_because FROM rtbench.result();

--
-- plans: a kept statement is parsed in no timed pass, others in each; neither takes the other's away
--
\set insert 'rtbench.step(''INSERT INTO t VALUES ($1)'')'
SELECT arm, verdict NOT IN ('failed', 'not comparable') AS comparable FROM rtbench.compare(ARRAY[rtbench.arm('fresh', pg_temp.loop(:insert)), rtbench.arm('kept', steps => ARRAY[pg_temp.loop(:insert)], plans => 'kept')],
	setup => 'CREATE TABLE t (i int)', transport => 'unix', rounds => 2, control => false);
SELECT arm, round_trips, statements, notes ~ 'plans kept from earlier passes' AS told FROM rtbench.result();
SELECT arm, verdict NOT IN ('failed', 'not comparable') AS comparable FROM rtbench.compare(ARRAY[rtbench.arm('fresh', pg_temp.loop(:insert)), rtbench.arm('kept', steps => ARRAY[pg_temp.loop(:insert)], plans => 'kept')],
	setup => 'CREATE TABLE t (i int)', transport => 'unix', protocol => 'pipeline', batch => 10, rounds => 2, control => false);
SELECT arm, round_trips, statements FROM rtbench.result();
-- of arms that commit, though everything else of their session is forgotten and the tables are made anew
CALL rtbench.run_compare(ARRAY[rtbench.arm('fresh', steps => ARRAY[pg_temp.loop(:insert), rtbench.step('SET work_mem = ''7MB'''), rtbench.step('PREPARE own AS SELECT 1')], ending => 'commit'),
	rtbench.arm('kept', steps => ARRAY[pg_temp.loop(:insert), rtbench.step('SET work_mem = ''7MB'''), rtbench.step('PREPARE own AS SELECT 1')], ending => 'commit', plans => 'kept'),
	rtbench.arm('clean', steps => ARRAY['INSERT INTO t SELECT 1 / (current_setting(''work_mem'') <> ''7MB'')::int FROM generate_series(1, 20) WHERE NOT EXISTS (SELECT FROM pg_prepared_statements WHERE name = ''own'')'], ending => 'commit')],
	setup => 'CREATE TABLE t (i int)', transport => 'unix', rounds => 2, control => false);
SELECT arm, verdict = 'failed' AS failed, round_trips, rows FROM rtbench.result();
-- what was prepared and is gone
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('kept', steps => ARRAY['INSERT INTO t VALUES (1)', 'DO $$BEGIN EXECUTE ''DEALLOCATE ALL''; END$$'], plans => 'kept')],
	setup => 'CREATE TABLE t (i int)', transport => 'unix', rounds => 1, control => false);
SELECT regexp_replace(substring(notes FROM '26000: [^;]*'), 'rtbench_\w+', 'name') AS failed_because FROM rtbench.result();
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'rtbench\_scratch%';
