-- Scenarios belong to roles: what a plain role sees and may change
SET client_min_messages = error;
CREATE EXTENSION IF NOT EXISTS rtbench;
DROP ROLE IF EXISTS regress_rtb_alice, regress_rtb_bob, "regress_rtb Ché.f";
RESET client_min_messages;
\pset tuples_only on
\pset format unaligned
CREATE ROLE regress_rtb_alice;
CREATE ROLE regress_rtb_bob;
CREATE ROLE "regress_rtb Ché.f";

SET ROLE regress_rtb_alice;
SELECT rtbench.create_scenario('work', 'SELECT ''alice'''), rtbench.add_arm('work', rtbench.arm('a', 'SELECT 1'));
SELECT rtbench.create_scenario('alone', 'SELECT 1');
SET ROLE regress_rtb_bob;
SELECT rtbench.create_scenario('work', 'SELECT ''bob''');
SET ROLE "regress_rtb Ché.f";
SELECT rtbench.create_scenario('hers', 'SELECT ''Ché.f''');
SELECT statement FROM rtbench.show_scenario('hers');
SELECT scenario FROM rtbench.scenarios ORDER BY scenario COLLATE "C";

--
-- a role sees its own and the built-in ones
--
SET ROLE regress_rtb_bob;
SELECT scenario, owner FROM rtbench.scenarios WHERE NOT builtin;
SELECT count(*) > 0 FROM rtbench.scenarios WHERE builtin;
SELECT arm FROM rtbench.arms WHERE scenario NOT IN (SELECT scenario FROM rtbench.scenarios WHERE builtin) ORDER BY arm;
SELECT name FROM rtbench.scenario_definitions WHERE NOT builtin;
SELECT * FROM rtbench.show_scenario('work');
SELECT count(*) > 0 FROM rtbench.show_scenario('delete_tree');
SELECT * FROM rtbench.show_scenario('regress_rtb_bob.work');
SELECT * FROM rtbench.show_scenario('regress_rtb_alice.work');
SELECT * FROM rtbench.show_scenario('alone');
SELECT * FROM rtbench.show_scenario('nobody.work');
SELECT rtbench.drop_scenario('regress_rtb_alice.work');
SELECT rtbench.add_arm('regress_rtb_alice.work', rtbench.arm('b', 'SELECT 1'));

--
-- nor does he change theirs, or the built-in ones, by writing to the tables
--
INSERT INTO rtbench.scenario_definitions (owner, name) VALUES ('regress_rtb_alice', 'planted');
INSERT INTO rtbench.scenario_definitions (owner, builtin, name) VALUES (NULL, true, 'planted');
INSERT INTO rtbench.scenario_definitions (owner, builtin, name) VALUES ('regress_rtb_bob', true, 'planted');
-- not even an id that is free: it is a built-in scenario's or another role's to come
INSERT INTO rtbench.scenario_definitions (id, owner, name) VALUES (2, current_user::regrole, 'planted');
UPDATE rtbench.scenario_definitions SET id = id + 1;
UPDATE rtbench.scenario_definitions SET owner = 'regress_rtb_alice';
UPDATE rtbench.scenario_definitions SET builtin = true, owner = NULL;
WITH changed AS (UPDATE rtbench.scenario_definitions SET setup = 'SELECT ''changed''' RETURNING 1) SELECT count(*) FROM changed;
WITH gone AS (DELETE FROM rtbench.scenario_definitions WHERE name <> 'work' RETURNING 1) SELECT count(*) FROM gone;
INSERT INTO rtbench.arm_definitions SELECT id, 99, rtbench.arm('planted', 'SELECT 1') FROM rtbench.scenario_definitions WHERE builtin;
WITH changed AS (UPDATE rtbench.arm_definitions SET document = '{}' RETURNING 1) SELECT count(*) FROM changed;
WITH gone AS (DELETE FROM rtbench.arm_definitions RETURNING 1) SELECT count(*) FROM gone;
RESET ROLE;
-- not even knowing the key of another's row
SELECT id AS alices FROM rtbench.scenario_definitions WHERE owner = 'regress_rtb_alice'::regrole AND name = 'work' \gset
SET ROLE regress_rtb_bob;
INSERT INTO rtbench.arm_definitions VALUES (:alices, 99, rtbench.arm('planted', 'SELECT 1'));
SELECT rtbench.drop_scenario('delete_tree');
SELECT rtbench.create_scenario('delete_tree', 'SELECT 1', replace => true);

--
-- a member sees, but does not change
--
RESET ROLE;
GRANT regress_rtb_alice TO regress_rtb_bob;
SET ROLE regress_rtb_bob;
SELECT scenario, owner FROM rtbench.scenarios WHERE NOT builtin ORDER BY scenario COLLATE "C";
SELECT * FROM rtbench.show_scenario('work');
SELECT * FROM rtbench.show_scenario('regress_rtb_alice.work');
SELECT * FROM rtbench.show_scenario('alone');
SELECT rtbench.drop_scenario('regress_rtb_alice.work');
SELECT rtbench.add_arm('regress_rtb_alice.work', rtbench.arm('b', 'SELECT 1'));
SELECT rtbench.create_scenario('regress_rtb_alice.new', 'SELECT 1');

--
-- a superuser: a bare name is never another's
--
RESET ROLE;
SELECT scenario FROM rtbench.scenarios WHERE owner::text LIKE '%regress_rtb%' ORDER BY scenario COLLATE "C";
SELECT * FROM rtbench.show_scenario('work');
SELECT * FROM rtbench.show_scenario('alone');
SELECT * FROM rtbench.show_scenario('hers');
SELECT * FROM rtbench.show_scenario('regress_rtb_alice.alone');
SELECT * FROM rtbench.show_scenario('"regress_rtb Ché.f".hers');
SELECT * FROM rtbench.show_scenario('regress_rtb Ché.f.hers');
SELECT rtbench.drop_scenario('alone');
SELECT rtbench.drop_scenario('regress_rtb_alice.alone');

--
-- a hostile search_path
--
CREATE SCHEMA regress_rtb_hostile;
CREATE FUNCTION regress_rtb_hostile.called(text, text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'hostile operator called';
END $$;
CREATE FUNCTION regress_rtb_hostile.called(oid, oid) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'hostile operator called';
END $$;
CREATE FUNCTION regress_rtb_hostile.quote_ident(text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	RAISE EXCEPTION 'hostile function called';
END $$;
CREATE OPERATOR regress_rtb_hostile.= (LEFTARG = text, RIGHTARG = text, FUNCTION = regress_rtb_hostile.called);
CREATE OPERATOR regress_rtb_hostile.= (LEFTARG = oid, RIGHTARG = oid, FUNCTION = regress_rtb_hostile.called);
CREATE TABLE regress_rtb_hostile.scenario_definitions ();
GRANT USAGE ON SCHEMA regress_rtb_hostile TO PUBLIC;
SET search_path = regress_rtb_hostile, pg_catalog, public;
SELECT quote_ident('is it first?');
SET ROLE regress_rtb_bob;
SELECT rtbench.create_scenario('path', 'SELECT 1'), rtbench.add_arm('path', rtbench.arm('a', 'SELECT 1'));
SELECT * FROM rtbench.show_scenario('path');
SELECT scenario FROM rtbench.scenarios ORDER BY scenario COLLATE pg_catalog."C";
SELECT rtbench.drop_scenario('path');
-- the setting is the caller's again, also after an error
SELECT rtbench.drop_scenario('path');
SHOW search_path;
RESET search_path;

--
-- a dropped role's scenarios are nobody's
--
RESET ROLE;
SET client_min_messages = error;
DROP SCHEMA regress_rtb_hostile CASCADE;
RESET client_min_messages;
DROP ROLE regress_rtb_alice, regress_rtb_bob, "regress_rtb Ché.f";
SELECT count(*) FROM rtbench.scenario_definitions WHERE NOT builtin AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = owner);
DELETE FROM rtbench.scenario_definitions WHERE NOT builtin;
