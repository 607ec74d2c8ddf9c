-- The same text hits another table by search_path, SET in the arm, or a temporary table in front: the digest is of the tables that were really written.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

CREATE SCHEMA regress_rtb_a;
CREATE SCHEMA regress_rtb_b;
CREATE TABLE regress_rtb_a.acct (id int, bal int);
CREATE TABLE regress_rtb_b.acct (id int, bal int, note text);
INSERT INTO regress_rtb_a.acct SELECT g, 0 FROM generate_series(1, 10) g;
INSERT INTO regress_rtb_b.acct SELECT g, 0, 'x' FROM generate_series(1, 10) g;
SELECT $$ARRAY[
	rtbench.arm('path_a', 'SET LOCAL search_path = regress_rtb_a', 'UPDATE acct SET bal = bal + 1'),
	rtbench.arm('named_a', 'UPDATE regress_rtb_a.acct SET bal = bal + 1'),
	rtbench.arm('before_a', ARRAY['UPDATE acct SET bal = bal + 1'], before => 'SET search_path = regress_rtb_a'),
	rtbench.arm('path_b', 'SET LOCAL search_path = regress_rtb_b', 'UPDATE acct SET bal = bal + 1'),
	rtbench.arm('set_b', 'SET search_path = regress_rtb_b', 'UPDATE acct SET bal = bal + 1'),
	rtbench.arm('temp_shadow', 'SET LOCAL search_path = regress_rtb_a', 'CREATE TEMP TABLE acct (id int, bal int) ON COMMIT DROP', 'UPDATE acct SET bal = bal + 1'),
	rtbench.arm('prepared_a_run_b', 'SET LOCAL search_path = regress_rtb_a', 'PREPARE q AS SELECT * FROM acct LIMIT 1', 'EXECUTE q', 'SET LOCAL search_path = regress_rtb_b', 'EXECUTE q'),
	rtbench.arm('role_too', 'SET search_path = regress_rtb_a', 'SET ROLE regress_rtb_tenant', 'UPDATE acct SET bal = bal + 1')]$$ AS arms \gset
CREATE ROLE regress_rtb_tenant;
GRANT USAGE ON SCHEMA regress_rtb_a TO regress_rtb_tenant;
GRANT SELECT, UPDATE ON regress_rtb_a.acct TO regress_rtb_tenant;
SELECT count(*) FROM rtbench.compare(:arms, rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;
SELECT DISTINCT checked FROM rtbench.result();

-- a check query reads by the caller's own path, whatever the arm has set
SET search_path = regress_rtb_b, public;
SELECT count(*) FROM rtbench.compare((:arms)[1:5], rounds => 2, check_query => 'SELECT * FROM acct');
RESET search_path;
SELECT * FROM told;
SELECT * FROM notes;
-- kept with the run
SELECT settings->>'search_path' AS search_path, (settings->>'role')::regrole = current_user::regrole AS role FROM rtbench.runs ORDER BY run DESC LIMIT 1;
-- a shadowing table of the session's own does not reach a worker, and in the caller's session it is what is checked
CREATE TEMP TABLE acct (id int, bal int);
INSERT INTO acct VALUES (1, 1);
SET search_path = regress_rtb_a;
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'UPDATE acct SET bal = bal + 1'), rtbench.arm('other', 'UPDATE acct SET bal = 1')], rounds => 2);
SELECT arm, "rows", verdict FROM told;
SELECT DISTINCT checked FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'UPDATE acct SET bal = bal + 1'), rtbench.arm('other', 'UPDATE acct SET bal = 2')], rounds => 2, transport => 'caller');
SELECT arm, "rows", verdict FROM told;
SELECT DISTINCT checked FROM rtbench.result();
RESET search_path;
-- nothing lasts
SELECT sum(a.bal) AS a, sum(b.bal) AS b FROM regress_rtb_a.acct a JOIN regress_rtb_b.acct b USING (id);

DROP TABLE pg_temp.acct;
DROP SCHEMA regress_rtb_a, regress_rtb_b CASCADE;
DROP ROLE regress_rtb_tenant;
