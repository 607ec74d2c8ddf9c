-- Parameters :name, :'name', :"name": where they are found, and what a value can do
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\pset tuples_only on
\pset format unaligned
\set SHOW_CONTEXT never

-- the statements of a setup, filled in
CREATE FUNCTION filled(setup text, parameters jsonb DEFAULT '{}') RETURNS SETOF text
LANGUAGE plpgsql AS $$
BEGIN
	PERFORM rtbench.create_scenario('p', setup, parameters => parameters, replace => true);
	RETURN QUERY SELECT statement FROM rtbench.show_scenario('p');
	PERFORM rtbench.drop_scenario('p');
END $$;

--
-- splitting
--
SELECT * FROM filled($$SELECT 1;;SELECT ';' AS ";"; -- a ; b
/* c ; d /* e ; */ */ SELECT $x$ ; $x$, $$ || '$$;$$' || $$ ; ;
/*+ SeqScan(t) */ SELECT 2 -- done;
$$);
SELECT * FROM filled($$CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; SELECT 2; END;
CREATE PROCEDURE p() BEGIN ATOMIC INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); END; SELECT 3$$);
SELECT * FROM filled('CREATE RULE r AS ON INSERT TO t DO ALSO (SELECT 1; SELECT 2); SELECT 3');

--
-- where parameters are found
--
SELECT * FROM filled($$SELECT :n, :'n', :"n", :s, :'s', :"s", :b, :'b', :z, :'z', :f$$,
	'{"n": 5, "s": "name", "b": true, "z": null, "f": -1.50}');
-- not in strings, comments, casts, quoted names, assignments, slices of numbers, operators
SELECT * FROM filled($$SELECT ':n', E':n', $x$:n$x$, ":n", 1::n, a[1:2], a[1: n], a[1 : n] /* :n */ -- :n
	, f(x := 1), U&':n', '12:30' || ':n'$$, '{"n": 5}');
SELECT * FROM filled('SELECT :n::text, :n:: int, (:n), a[1: :n], :n+:n, x.:t, :t.x, f(x => :n), :n', '{"n": 5, "t": "tab"}');
-- case and characters of a name as written
SELECT * FROM filled('SELECT :n, :N, :größe, :n_1', '{"n": 1, "N": 2, "größe": 3, "n_1": 4}');
-- a sign does not join an operator
SELECT * FROM filled('SELECT 1-:n, 1 -:n, 1@:n, 1=:n, -:n, (:n), :n-:n', '{"n": -5}');
-- key words as values, and names that need quotes
SELECT * FROM filled('SELECT 1 AS :"k", 2 AS :"q"', '{"k": "select", "q": "we\"ird \\ name"}');
-- the same parameter many times
SELECT length(s) FROM filled('SELECT ' || repeat(':n, ', 10000) || ':n', '{"n": 12345}') s;

--
-- bodies: known names are filled in, others left alone
--
SELECT * FROM filled($$DO $x$ BEGIN x := :n; y := a[1:m]; z := ':n'; w := :'s'; END $x$ LANGUAGE plpgsql$$, '{"n": 5, "s": "it''s"}');
SELECT * FROM filled($$DO 'BEGIN x := :n; y := :''s''; END'$$, '{"n": 5, "s": "it''s \\"}');
SELECT * FROM filled($$CREATE FUNCTION f(a int DEFAULT :n) RETURNS text LANGUAGE sql AS $x$ SELECT :'s' || :unknown $x$ COST :n$$, '{"n": 5, "s": "v"}');
SELECT * FROM filled($$CREATE PROCEDURE f() AS 'SELECT :n' LANGUAGE 'plpgsql'; SELECT ':n', :n$$, '{"n": 5}');
SELECT * FROM filled($$CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT :n; END$$, '{"n": 5}');
SELECT * FROM filled('DO $x$ BEGIN FOR i IN 1..:n LOOP END LOOP; END $x$', '{"n": 5}');
-- only SQL is read as SQL
SELECT * FROM filled($$CREATE FUNCTION f() RETURNS int AS 'x[1:n] # don''t' LANGUAGE plpython3u$$, '{"n": 5}');
-- a value that ends the body's quotes
SELECT * FROM filled('DO $x$ BEGIN PERFORM :''s''; END $x$', '{"s": "$x$; DROP TABLE t; --"}');
SELECT * FROM filled('DO $body1$ BEGIN PERFORM :''s''; END $body1$', '{"s": "$body1$ $body2$ $body"}');
SELECT * FROM filled('DO $$ BEGIN PERFORM :''s''; END $$', '{"s": "$$"}');

--
-- errors
--
SELECT * FROM filled('SELECT 1; SELECT :nn', '{"n": 1, "m": 2}');
SELECT * FROM filled('SELECT :n');
SELECT * FROM filled('SELECT ''größe'', :N', '{"n": 1}');
SELECT * FROM filled('SELECT t_:n', '{"n": 1}');
SELECT * FROM filled('SELECT a[1:n]', '{"n": 1}');
SELECT * FROM filled('SELECT :n''x''', '{"n": "E"}');
SELECT * FROM filled('SELECT ''a'':''n''', '{"n": 1}');
SELECT * FROM filled('SELECT :n$1', '{"n": 1}');
SELECT * FROM filled(E'SELECT :''n''\n''more''', '{"n": 1}');
SELECT * FROM filled('SELECT $:n$ x $1$', '{"n": "a"}');
SELECT * FROM filled('SELECT 1 AS :"n"', '{"n": null}');
SELECT * FROM filled('SELECT 1 AS :"n"', '{"n": ""}');
SELECT * FROM filled('SELECT :n', '{"n": [1]}');
SELECT * FROM filled('SELECT :n', '{"n": {}}');
SELECT * FROM filled('SELECT 1', '[1]');
SELECT * FROM filled('SELECT 1', '1');
SELECT * FROM filled('SELECT 1', '{"": 1}');
SELECT * FROM filled('SELECT 1', '{"a b": 1}');
SELECT * FROM filled('SELECT 1', '{"1": 1}');
-- a plain name that makes another statement of the text
SELECT * FROM filled('CREATE INDEX :n ON t (id)', '{"n": "concurrently"}');
SELECT * FROM filled('CREATE INDEX :"n" ON t (id)', '{"n": "concurrently"}');

--
-- hostile values: raw ones are refused, quoted ones are data
--
CREATE TEMP TABLE hostile (value text);
INSERT INTO hostile VALUES
	('; DROP TABLE t'), ('1; DROP TABLE t; --'), ('1 OR true'), ('1--'), ('--'), ('/*'), ('*/'), ('1/*'), (''''), (''' OR '''' = '''),
	('\'), ('\'' OR true --'), ('''\'), ('"'), ('" , "'), ('a"b'), ('a.b"'), ('$$'), ('$x$'), ('$x$; DROP TABLE t; $x$'), ('x$x$'),
	('a$x'), ('$1'), ('a$b'), (':n'), (':''v'''), ('::int'), ('a b'), ('a,b'), ('(1)'), ('f()'), ('a.'), ('.a'), ('a..b'), ('1e'), ('1.'), ('.5'),
	('1e+'), ('--5'), ('+-5'), ('0x1F'), ('1_000'), (' 1'), ('1 '), (E'1\n'), (E'a\tb'), (''), ('E''x'''), ('U&''x'''), ('a' || chr(39)), ('1a'), ('-'), ('-a'), ('%s'), ('{}');

DO $$
DECLARE
	v text;
	setting text;
	got text;
	statement text;
	refused int := 0;
	tried int := 0;
BEGIN
	FOREACH setting IN ARRAY ARRAY['on', 'off'] LOOP
		-- from 19 on there is one way only
		IF current_setting('server_version_num')::int < 190000 THEN
			PERFORM set_config('standard_conforming_strings', setting, true),
					set_config('escape_string_warning', 'off', true);
		END IF;
		FOR v IN SELECT value FROM hostile LOOP
			tried := tried + 1;

			-- raw: refused, also in a body
			FOREACH statement IN ARRAY ARRAY['SELECT 1 WHERE 1 = :v', 'DO $x$ BEGIN PERFORM :v; END $x$'] LOOP
				BEGIN
					PERFORM filled(statement, jsonb_build_object('v', v));
					RAISE EXCEPTION 'raw value accepted: %', v;
				EXCEPTION WHEN invalid_parameter_value THEN
					refused := refused + 1;
				END;
			END LOOP;

			-- as a literal: comes out as it went in
			FOREACH statement IN ARRAY ARRAY['SELECT :''v''', 'SELECT concat(:''v'')', 'SELECT''''||:''v''||''''',
				'SELECT current_setting(''a.b'') FROM set_config(''a.b'', :''v'', true)'] LOOP
				EXECUTE filled(statement, jsonb_build_object('v', v)) INTO STRICT got;
				IF got IS DISTINCT FROM v THEN
					RAISE EXCEPTION 'literal % came out as %', v, got;
				END IF;
			END LOOP;

			-- as a literal in a body, whatever quotes it has
			FOREACH statement IN ARRAY ARRAY[
				'DO $x$ BEGIN PERFORM set_config(''a.b'', :''v'', true); END $x$',
				'DO $' || '$ BEGIN PERFORM set_config(''a.b'', :''v'', true); END $' || '$',
				'DO E''BEGIN PERFORM set_config(''''a.b'''', :''''v'''', true); END''',
				'DO ''BEGIN PERFORM set_config(''''a.b'''', :''''v'''', true); END''',
				'DO $body1$ BEGIN PERFORM set_config($' || '$a.b$' || '$, :''v'', true); END $body1$'] LOOP
				PERFORM set_config('a.b', 'unset', true);
				EXECUTE filled(statement, jsonb_build_object('v', v));
				IF current_setting('a.b') IS DISTINCT FROM v THEN
					RAISE EXCEPTION 'literal % in a body came out as %', v, current_setting('a.b');
				END IF;
			END LOOP;

			-- as a name
			IF v <> '' THEN
				EXECUTE filled('CREATE TEMP TABLE named AS SELECT 1 AS :"v"', jsonb_build_object('v', v));
				SELECT attname INTO STRICT got FROM pg_attribute WHERE attrelid = 'pg_temp.named'::regclass AND attnum > 0;
				IF got IS DISTINCT FROM v THEN
					RAISE EXCEPTION 'name % came out as %', v, got;
				END IF;
				DROP TABLE named;
			END IF;
		END LOOP;
	END LOOP;
	RAISE NOTICE '% hostile values: % raw uses refused', tried, refused;
END $$;

-- numbers and plain names that a text may hold
SELECT * FROM filled('SELECT :a, :b, :c, :d, :e, :f',
	'{"a": "5", "b": "-5.25", "c": "1e-3", "d": "public.t", "e": "größe", "f": "+5"}');

DROP FUNCTION filled;
