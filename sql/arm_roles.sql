-- An arm that takes another role is digested as who runs it: by every transport, whether it commits or not.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE ROLE regress_rtb_poor;
\set SHOW_CONTEXT never
SELECT t.transport, s.statement, (SELECT string_agg(verdict, ', ') FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)'), rtbench.arm('b', 'INSERT INTO t VALUES (1)', s.statement), rtbench.arm('c', 'INSERT INTO t VALUES (2)')],
	setup => 'CREATE TABLE t (a int)', rounds => 1, control => false, transport => t.transport)) AS verdicts
FROM unnest('{worker,caller,unix}'::text[]) t(transport), unnest('{SET ROLE regress_rtb_poor,SET LOCAL ROLE regress_rtb_poor,SET SESSION AUTHORIZATION regress_rtb_poor}'::text[]) s(statement);
CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit'), rtbench.arm('b', steps => ARRAY['INSERT INTO t VALUES (1)', 'SET ROLE regress_rtb_poor'], ending => 'commit'),
	rtbench.arm('c', steps => ARRAY['INSERT INTO t VALUES (1)', 'SET SESSION AUTHORIZATION regress_rtb_poor'], ending => 'commit')], setup => 'CREATE TABLE t (a int)', rounds => 1, control => false, transport => 'unix');
SELECT arm, verdict FROM rtbench.result();
-- what it may not do as that role is its own failure
SELECT (SELECT string_agg(verdict, ', ') FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)'), rtbench.arm('b', 'SET ROLE regress_rtb_poor', 'CREATE TABLE t2 ()')],
	setup => 'CREATE TABLE t (a int)', rounds => 1, control => false, transport => t)) AS verdicts FROM unnest('{worker,unix}'::text[]) t;
DROP ROLE regress_rtb_poor;
