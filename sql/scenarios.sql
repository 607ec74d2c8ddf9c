-- Scenarios: created, extended, shown, dropped; built-in ones
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;
\pset tuples_only on
\pset format unaligned

--
-- one of every part
--
SELECT rtbench.create_scenario('lines',
	setup => $$CREATE TABLE orders (id int PRIMARY KEY);
		INSERT INTO orders SELECT generate_series(1, :orders);
		CREATE TABLE lines (id int PRIMARY KEY, order_id int REFERENCES orders, note text DEFAULT :'note');
		INSERT INTO lines SELECT g, 1 + g % :orders FROM generate_series(1, :lines) g$$,
	check_query => 'SELECT id, order_id FROM lines',
	swept => 'lines', points => '{100,10,1000}',
	parameters => '{"orders": 10, "note": "it''s"}',
	description => 'lines of an order');
SELECT rtbench.add_arm('lines', rtbench.arm('orm',
	rtbench.foreach('SELECT id FROM orders WHERE id <= :orders',
		rtbench.foreach('SELECT id FROM lines WHERE order_id = $1', 'DELETE FROM lines WHERE id = $1'),
		rtbench.step('DELETE FROM orders WHERE id = $1', types => '{int}')),
	rtbench.generated('SELECT format(''DELETE FROM orders WHERE id = %s'', id) FROM orders')));
SELECT rtbench.add_arm('lines', rtbench.arm('sql', steps => ARRAY['DELETE FROM lines; DELETE FROM orders'],
	before => 'SET LOCAL work_mem = ''1MB''; ANALYZE lines', description => 'all at once'));
-- at the first point, and at another, which need not be one of the points
\pset format aligned
\pset tuples_only off
SELECT * FROM rtbench.show_scenario('lines');
\pset tuples_only on
\pset format unaligned
SELECT statement FROM rtbench.show_scenario('lines', 7) WHERE part = 'setup' AND step = 4;
SELECT scenario, owner = quote_ident(current_user)::regrole, swept, points, parameters, arms, description FROM rtbench.scenarios WHERE NOT builtin;
SELECT * FROM rtbench.arms WHERE scenario = 'lines';
-- several at once, each seeing the ones before
SELECT rtbench.create_scenario('many', NULL), rtbench.add_arm('many', rtbench.arm('a1', 'SELECT 1'));
SELECT count(rtbench.add_arm('many', rtbench.arm('b' || g, 'SELECT 1'))) FROM generate_series(1, 3) g;
SELECT count(rtbench.add_arm('many', rtbench.arm('b', 'SELECT 1'))) FROM generate_series(1, 3) g;
SELECT arms FROM rtbench.scenarios WHERE scenario = 'many';
SELECT * FROM rtbench.show_scenario('many');
SELECT rtbench.drop_scenario('many');

--
-- replaced and dropped
--
SELECT rtbench.create_scenario('lines', 'SELECT 1');
SELECT rtbench.create_scenario('lines', 'SELECT 1', replace => true);
SELECT * FROM rtbench.show_scenario('lines');
SELECT arms FROM rtbench.scenarios WHERE scenario = 'lines';
SELECT rtbench.drop_scenario('lines');
SELECT rtbench.drop_scenario('lines');
SELECT * FROM rtbench.show_scenario('lines');
SELECT count(*) FROM rtbench.arm_definitions a JOIN rtbench.scenario_definitions d ON d.id = a.scenario WHERE NOT d.builtin;

--
-- bad scenarios
--
SELECT rtbench.create_scenario(NULL, 'SELECT 1');
SELECT rtbench.create_scenario('', 'SELECT 1');
SELECT rtbench.create_scenario('a b', 'SELECT 1');
SELECT rtbench.create_scenario('a.b', 'SELECT 1');
SELECT rtbench.create_scenario(repeat('x', 64), 'SELECT 1');
SELECT rtbench.create_scenario('s', '');
SELECT rtbench.create_scenario('s', 'SELEC 1');
SELECT rtbench.create_scenario('s', 'SELECT 1; VACUUM');
SELECT rtbench.create_scenario('s', 'SELECT 1; COMMIT');
SELECT rtbench.create_scenario('s', 'SELECT $1');
SELECT rtbench.create_scenario('s', 'SELECT 1', check_query => 'DELETE FROM t RETURNING *');
SELECT rtbench.create_scenario('s', 'SELECT 1', check_query => 'WITH w AS (DELETE FROM t RETURNING *) SELECT * FROM w');
SELECT rtbench.create_scenario('s', 'SELECT 1', check_query => 'SELECT 1; SELECT 2');
SELECT rtbench.create_scenario('s', 'SELECT 1', check_query => 'SELECT FROM WHERE');
SELECT rtbench.create_scenario('s', 'SELECT 1', check_query => 'SELECT :n');
SELECT rtbench.create_scenario('s', 'SELECT 1', swept => 'n');
SELECT rtbench.create_scenario('s', 'SELECT 1', swept => 'n', points => '{}');
SELECT rtbench.create_scenario('s', 'SELECT 1', points => '{1}');
SELECT rtbench.create_scenario('s', 'SELECT 1', swept => 'n', points => '{1,-1}');
SELECT rtbench.create_scenario('s', 'SELECT 1', swept => 'n', points => '{1,2,1}');
SELECT rtbench.create_scenario('s', 'SELECT 1', swept => 'n', points => '{1,NULL}');
SELECT rtbench.create_scenario('s', 'SELECT 1', swept => 'n', points => '{9223372036854775808}');
SELECT rtbench.create_scenario('s', 'SELECT 1', swept => 'two words', points => '{1}');
SELECT rtbench.create_scenario('s', 'SELECT :m', swept => 'n', points => '{1}', parameters => '{"o": 1}');
SELECT rtbench.create_scenario('s', 'SELECT 1', parameters => '{"n": {"m": 1}}');

--
-- points at the edges; a default for the swept parameter does no harm
--
SELECT rtbench.create_scenario('s', 'SELECT :n', swept => 'n', points => '{9223372036854775807,0}', parameters => '{"n": 5}');
SELECT * FROM rtbench.show_scenario('s');
SELECT * FROM rtbench.show_scenario('s', 0);
SELECT * FROM rtbench.show_scenario('s', -1);
SELECT * FROM rtbench.show_scenario(NULL);
SELECT rtbench.create_scenario('u', 'SELECT 1');
SELECT * FROM rtbench.show_scenario('u', 1);
SELECT rtbench.drop_scenario('u');

--
-- bad arms
--
SELECT rtbench.add_arm('s', NULL);
SELECT rtbench.add_arm(NULL, rtbench.arm('a', 'SELECT 1'));
SELECT rtbench.add_arm('t', rtbench.arm('a', 'SELECT 1'));
SELECT rtbench.add_arm('s', '"DELETE FROM t"');
SELECT rtbench.add_arm('s', '["DELETE FROM t"]');
SELECT rtbench.add_arm('s', 'null');
SELECT rtbench.add_arm('s', rtbench.step('SELECT 1'));
SELECT rtbench.add_arm('s', rtbench.arm('a', 'SELECT 1', 'SELECT :nn'));
SELECT rtbench.add_arm('s', rtbench.arm('a', rtbench.foreach('SELECT :nn', 'SELECT 1')));
SELECT rtbench.add_arm('s', rtbench.arm('a', rtbench.foreach('SELECT :n', 'SELECT :nn')));
SELECT rtbench.add_arm('s', rtbench.arm('a', rtbench.generated('SELECT :nn')));
SELECT rtbench.add_arm('s', rtbench.arm('a', steps => ARRAY['SELECT 1'], before => 'SELECT :nn'));
-- what parses with some values, but not with this one
SELECT rtbench.add_arm('s', rtbench.arm('a', 'SELECT * FROM :n'));
-- by hand
SELECT rtbench.add_arm('s', '{"arm": "a", "step": []}');
SELECT rtbench.add_arm('s', '{"arm": "a"}');
SELECT rtbench.add_arm('s', '{"arm": 1, "steps": []}');
SELECT rtbench.add_arm('s', '{"arm": "a,b", "steps": []}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": {}}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": ["SELECT 1"]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [[]]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "SELECT 1", "type": []}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": 1}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "SELECT 1", "foreach": "SELECT 1"}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"foreach": "SELECT 1", "plans": "kept", "body": []}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"foreach": "SELECT 1"}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"foreach": "SELECT 1", "body": "SELECT 1"}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"generated": "SELECT 1", "types": []}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "SELECT 1", "types": ["int"]}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "SELECT 1", "plans": "old"}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "SELECT $1"}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "VACUUM"}]}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "SELECT 1"}], "ending": "sometimes"}');
SELECT rtbench.add_arm('s', '{"arm": "a", "steps": [{"statement": "SELECT 1", "types": null}], "description": null, "ending": "rollback"}');
SELECT rtbench.add_arm('s', rtbench.arm('a', 'SELECT 2'));
SELECT arms FROM rtbench.scenarios WHERE scenario = 's';
-- deep nesting ends in an error, not a crash
DO $$
DECLARE
	body text := '{"statement": "SELECT 1"}';
BEGIN
	SET LOCAL max_stack_depth = '100kB';
	body := repeat('{"foreach": "SELECT 1", "body": [', 3000) || body || repeat(']}', 3000);
	PERFORM rtbench.add_arm('s', ('{"arm": "deep", "steps": [' || body || ']}')::jsonb);
	RAISE EXCEPTION 'accepted';
EXCEPTION WHEN statement_too_complex THEN
	RAISE NOTICE '%', SQLERRM;
END $$;

--
-- a row that was not written by these functions is checked when it is used
--
INSERT INTO rtbench.scenario_definitions (owner, name, setup) VALUES (current_user::regrole, 'raw', 'SELECT :n');
SELECT * FROM rtbench.show_scenario('raw');
SELECT rtbench.drop_scenario('raw');
INSERT INTO rtbench.arm_definitions SELECT id, 9, '{"arm": "raw", "steps": 1}' FROM rtbench.scenario_definitions WHERE name = 's';
SELECT * FROM rtbench.show_scenario('s');
SELECT rtbench.drop_scenario('s');

--
-- built in
--
SELECT scenario, owner, builtin, swept, points, arms FROM rtbench.scenarios WHERE builtin;
SELECT rtbench.drop_scenario('delete_tree');
SELECT rtbench.create_scenario('delete_tree', 'SELECT 1');
SELECT rtbench.create_scenario('delete_tree', 'SELECT 1', replace => true);
SELECT rtbench.add_arm('delete_tree', rtbench.arm('mine', 'SELECT 1'));
-- its arms that need no driver, on its fixture: each leaves the other documents
BEGIN;
CREATE SCHEMA regress_delete_tree;
SET LOCAL search_path = regress_delete_tree;
SELECT statement FROM rtbench.show_scenario('delete_tree', 5) WHERE part = 'setup' \gexec
CREATE FUNCTION left_over(arm text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	statement text;
	found text;
BEGIN
	FOR statement IN SELECT s.statement FROM rtbench.show_scenario('delete_tree', 5) s WHERE part = 'arm ' || arm LOOP
		EXECUTE statement;
	END LOOP;
	SELECT format('%s %s %s, %s of document 1', (SELECT count(*) FROM documents), (SELECT count(*) FROM blocks),
		(SELECT count(*) FROM attributes), (SELECT count(*) FROM documents WHERE id = 1)) INTO found;
	RAISE EXCEPTION SQLSTATE 'UNDO1' USING MESSAGE = found;
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
	RETURN SQLERRM;
END $$;
SELECT count(*), count(*) FILTER (WHERE document_id = 1) FROM blocks;
SELECT arm, left_over(arm) FROM unnest('{do_block,set_based,one_statement,on_delete_cascade}'::text[]) arm;
SELECT step, statement FROM rtbench.show_scenario('delete_tree', 5) WHERE part IN ('arm row_at_a_time', 'arm any_array');
ROLLBACK;
