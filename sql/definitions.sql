-- Constructors of arms and steps: documents, their shape and their checks
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\pset tuples_only on
\pset format unaligned

--
-- every spelling of rtbench.arm()
--
SELECT rtbench.arm('sql', 'DELETE FROM t');
SELECT rtbench.arm('sql'::text, 'SELECT 1', 'SELECT 2; SELECT 3');
SELECT rtbench.arm('sql'::varchar, 'SELECT 1'::varchar, 'SELECT 2'::text);
SELECT rtbench.arm('sql'::name, format('SELECT %s', 1));
SELECT rtbench.arm('orm', rtbench.foreach('SELECT id FROM t', 'DELETE FROM t WHERE id = $1'));
SELECT rtbench.arm('orm', rtbench.foreach('SELECT id FROM t', 'DELETE FROM t WHERE id = $1'),
	rtbench.step('SELECT 1'));
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1', 'SELECT 2'], description => 'two texts');
SELECT rtbench.arm('sql', steps => ARRAY[rtbench.step('SELECT 1')], description => 'a step');
SELECT rtbench.arm(name => 'sql', steps => ARRAY['SELECT 1']);
SELECT rtbench.arm('sql', ARRAY['SELECT 1']);
SELECT rtbench.arm('sql', ARRAY[rtbench.step('SELECT 1')], 'described');
SELECT rtbench.arm('sql', VARIADIC ARRAY['SELECT 1', 'SELECT 2']);
SELECT rtbench.arm('sql', VARIADIC ARRAY[rtbench.step('SELECT 1')]);
-- options that say what holds anyway leave no trace
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], ending => 'rollback', plans => 'fresh');
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], plans => 'kept', before => 'SET work_mem = ''1MB''; SELECT 1');

--
-- steps
--
SELECT rtbench.step('SELECT $1, $2', types => '{bigint,numeric(10)}');
SELECT rtbench.step('SELECT $1 + $2', types => '{"double precision",int[]}', plans => 'kept');
SELECT rtbench.step('SELECT 1', plans => 'fresh');
SELECT rtbench.generated('SELECT format(''DELETE FROM t WHERE id = %s'', id) FROM t');
SELECT rtbench.foreach('INSERT INTO p DEFAULT VALUES RETURNING id', 'INSERT INTO c (p) VALUES ($1)', 'SELECT $1');
SELECT rtbench.foreach('VALUES (1), (2)', rtbench.foreach('SELECT g FROM generate_series(1, $1) g',
	rtbench.step('DELETE FROM t WHERE id = $1'), rtbench.generated('SELECT ''SELECT '' || $1')));
SELECT rtbench.foreach('TABLE t', VARIADIC ARRAY['SELECT 1', 'SELECT 2']);
-- options by their names, of statements and of steps; each may be left out
SELECT rtbench.foreach('TABLE t', steps => ARRAY['SELECT 1', 'SELECT 2']);
SELECT rtbench.foreach('TABLE t', steps => ARRAY[rtbench.step('SELECT 1')], only_if => '$1');
SELECT rtbench.foreach('TABLE t', steps => ARRAY['SELECT 1'], commit_every => 10);
SELECT rtbench.foreach('TABLE t', steps => ARRAY[rtbench.step('SELECT 1')], commit_every => ':n');
-- $n of a function's own
SELECT rtbench.arm('f', 'CREATE FUNCTION f(int) RETURNS int BEGIN ATOMIC SELECT 1; SELECT $1; END',
	'PREPARE p(int) AS SELECT $1', 'DO $$ BEGIN PERFORM $1; END $$');

--
-- what is no arm
--
\set VERBOSITY sqlstate
SELECT rtbench.arm('sql');
\set VERBOSITY default
SELECT rtbench.arm('sql', NULL);
SELECT rtbench.arm('sql', 'SELECT 1', NULL);
SELECT rtbench.arm('sql', VARIADIC NULL::text[]);
SELECT rtbench.arm(NULL, 'SELECT 1');
SELECT rtbench.arm('sql', steps => NULL::jsonb[]);
SELECT rtbench.arm('sql', steps => '{}'::jsonb[]);
SELECT rtbench.arm('sql', steps => '{}'::text[]);
SELECT rtbench.arm('sql', steps => '{NULL}'::jsonb[]);
SELECT rtbench.arm('sql', 1);
SELECT rtbench.arm('sql', 'SELECT 1', rtbench.step('SELECT 1'));
SELECT rtbench.arm('sql', rtbench.step('SELECT 1'), 'SELECT 1');
SELECT rtbench.arm('sql', rtbench.arm('sql', 'SELECT 1'));
SELECT rtbench.arm('sql', '"SELECT 1"'::jsonb);
SELECT rtbench.arm('sql', '{}'::jsonb);
SELECT rtbench.foreach('SELECT 1', ARRAY[1]);
SELECT rtbench.foreach('SELECT 1', 'SELECT 1', rtbench.step('SELECT 1'));
SELECT rtbench.foreach('SELECT 1', VARIADIC '{}'::text[]);
SELECT rtbench.foreach(NULL, 'SELECT 1');
SELECT rtbench.foreach('SELECT 1', NULL);
SELECT rtbench.step(NULL);
SELECT rtbench.generated(NULL);

--
-- names
--
SELECT rtbench.arm('', 'SELECT 1');
SELECT rtbench.arm('two words', 'SELECT 1');
SELECT rtbench.arm('a,b', 'SELECT 1');
SELECT rtbench.arm('{a}', 'SELECT 1');
SELECT rtbench.arm('"a"', 'SELECT 1');
SELECT rtbench.arm('it''s', 'SELECT 1');
SELECT rtbench.arm(E'a\\b', 'SELECT 1');
SELECT rtbench.arm(E'a\nb', 'SELECT 1');
SELECT rtbench.arm('Null', 'SELECT 1');
SELECT rtbench.arm(repeat('a', 64), 'SELECT 1');
SELECT rtbench.arm(repeat('a', 63), 'SELECT 1') IS NOT NULL;
SELECT rtbench.arm('größe-1.5', 'SELECT 1') ->> 'arm';

--
-- texts: position of an error, and where it stands
--
SELECT rtbench.arm('sql', 'SELECT 1', 'SELECT 2; SELEC 3');
SELECT rtbench.arm('sql', 'SELECT ''größe'' FROM');
SELECT rtbench.arm('sql', 'SELECT ''open');
SELECT rtbench.arm('sql', 'SELECT $$open');
SELECT rtbench.arm('orm', rtbench.foreach('SELECT 1', 'SELEC'));
SELECT rtbench.arm('orm', rtbench.foreach('SELEC', 'SELECT 1'));
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], before => 'SELEC');
SELECT rtbench.arm('sql', 'SELECT :a, :''b'', FROM');
SELECT rtbench.arm('sql', '');
SELECT rtbench.arm('sql', E' \n ; -- nothing\n /* at /* all */ */ ;');
SELECT rtbench.arm('sql', '{"statement": "SELECT 1"}');

-- parameters stand for names or numbers, whichever parses
SELECT rtbench.arm('sql', 'CREATE TABLE :t (a varchar(:n), b numeric(:n, :m)) WITH (fillfactor = :f)',
	'SELECT * FROM :s.:t LIMIT :n', 'CREATE FUNCTION f() RETURNS int AS '':x'' LANGUAGE sql COST :c',
	'COPY :"t" FROM :''file''') -> 'arm';

--
-- columns of drivers
--
SELECT rtbench.arm('sql', 'SELECT 1', 'DELETE FROM t WHERE id = $1');
SELECT rtbench.arm('orm', rtbench.foreach('SELECT $1', 'SELECT $1'));
SELECT rtbench.arm('orm', rtbench.generated('SELECT $2'));
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], before => 'SELECT $1');
SELECT rtbench.step('SELECT $5000');
SELECT rtbench.step('SELECT 1', types => '{int}');
SELECT rtbench.step('SELECT $1', types => '{int,int}');
SELECT rtbench.step('SELECT $1', types => '{NULL}');
SELECT rtbench.step('SELECT $1', types => '{"no, type"}');

--
-- drivers and generating queries return rows
--
SELECT rtbench.foreach('DELETE FROM t', 'SELECT 1');
SELECT rtbench.foreach('SELECT 1 INTO x', 'SELECT 1');
SELECT rtbench.foreach('SELECT 1; SELECT 2', 'SELECT 1');
SELECT rtbench.foreach('CREATE TABLE t ()', 'SELECT 1');
SELECT rtbench.generated('INSERT INTO t VALUES (1) RETURNING id');

--
-- options
--
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], ending => 'commit');
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], ending => 'never');
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], plans => 'old');
SELECT rtbench.step('SELECT 1', plans => 'old');

--
-- what cannot be rolled back, each by name
--
DO $$
DECLARE
	statement text;
	message text;
	hint text;
BEGIN
	FOREACH statement IN ARRAY ARRAY[
		'BEGIN', 'START TRANSACTION', 'COMMIT', 'END', 'ROLLBACK', 'ABORT',
		'PREPARE TRANSACTION ''a''', 'COMMIT PREPARED ''a''', 'ROLLBACK PREPARED ''a''',
		'VACUUM', 'VACUUM FULL t', 'VACUUM (ANALYZE) t',
		'CREATE INDEX CONCURRENTLY ON t (id)', 'CREATE UNIQUE INDEX CONCURRENTLY i ON t (id)',
		'DROP INDEX CONCURRENTLY i', 'REINDEX TABLE CONCURRENTLY t', 'REINDEX (CONCURRENTLY) INDEX i',
		'REINDEX SCHEMA s', 'REINDEX DATABASE d', 'REINDEX SYSTEM d',
		'ALTER TABLE t DETACH PARTITION u CONCURRENTLY',
		'CLUSTER', 'COPY t FROM STDIN', 'COPY t TO STDOUT', 'COPY (SELECT 1) TO STDOUT',
		'CREATE DATABASE d', 'DROP DATABASE d', 'ALTER DATABASE d SET work_mem = 64',
		'ALTER DATABASE d CONNECTION LIMIT 1', 'CREATE TABLESPACE s LOCATION ''/x''', 'DROP TABLESPACE s',
		'ALTER SYSTEM SET work_mem = 64', 'CREATE SUBSCRIPTION s CONNECTION '''' PUBLICATION p',
		'ALTER SUBSCRIPTION s DISABLE', 'DROP SUBSCRIPTION s', 'DISCARD ALL', 'LISTEN c']
	LOOP
		BEGIN
			PERFORM rtbench.arm('a', 'SELECT 1; ' || statement);
			RAISE EXCEPTION 'not refused: %', statement;
		EXCEPTION WHEN feature_not_supported THEN
			GET STACKED DIAGNOSTICS message = MESSAGE_TEXT, hint = PG_EXCEPTION_HINT;
			RAISE NOTICE E'%\n   %\n   %', statement, message, hint;
		END;
	END LOOP;
END $$;
SELECT rtbench.foreach('SELECT 1', 'SELECT 1', 'VACUUM');
SELECT rtbench.arm('sql', steps => ARRAY['SELECT 1'], before => 'COMMIT');
-- and what can
SELECT rtbench.arm('allowed',
	'ANALYZE t', 'CREATE INDEX ON t (id)', 'DROP INDEX i', 'REINDEX TABLE t', 'CLUSTER t USING i',
	'COPY t FROM ''/file''', 'COPY t TO PROGRAM ''cat''', 'EXPLAIN ANALYZE SELECT 1', 'PREPARE p AS SELECT 1',
	'EXECUTE p', 'DEALLOCATE p', 'DECLARE c CURSOR FOR SELECT 1', 'FETCH c', 'LOCK TABLE t', 'SET work_mem = 64',
	'NOTIFY c', 'UNLISTEN c', 'DISCARD TEMP', 'LOAD ''x''', 'TRUNCATE t', 'SET CONSTRAINTS ALL IMMEDIATE',
	'REFRESH MATERIALIZED VIEW CONCURRENTLY m', 'CALL p()', 'CHECKPOINT', 'MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE'
	) -> 'steps' -> 24 ->> 'statement';
