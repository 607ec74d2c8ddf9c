-- A COMMIT cannot be hidden in a string that the far end reads in another way: texts are sent only where they are read as they were checked.
-- (PostgreSQL 19 has one way left, and another expected output)
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\pset format unaligned
CREATE TABLE regress_rtb_own (a int);
INSERT INTO regress_rtb_own SELECT generate_series(1, 5);
\set VERBOSITY default
CALL rtbench.run_compare(ARRAY[rtbench.arm('x', steps => ARRAY['DELETE FROM regress_rtb_own WHERE a = 1', $$SELECT '\' || ';COMMIT;BEGIN;--'$$], before => 'SET standard_conforming_strings = off', protocol => 'simple')], transport => 'unix', rounds => 1);
SELECT verdict FROM rtbench.compare(ARRAY[rtbench.arm('sj', steps => ARRAY['DELETE FROM regress_rtb_own WHERE a = 2', $$SELECT E'Á\'; COMMIT; BEGIN; --'$$], before => 'SET client_encoding = sjis', protocol => 'simple')], rounds => 1, transport => 'unix');
CALL rtbench.run_compare(ARRAY[rtbench.arm('sc', 'SELECT 1')], setup => $$CREATE TABLE t (a int); SET standard_conforming_strings = off; DELETE FROM regress_rtb_own WHERE a = 3; SELECT '\' || ';COMMIT;BEGIN;--'$$, rounds => 1, transport => 'unix');
SELECT verdict FROM rtbench.compare(ARRAY[rtbench.arm('gen', rtbench.generated($$SELECT unnest(ARRAY['SET standard_conforming_strings = off', 'DELETE FROM regress_rtb_own WHERE a = 4', 'SELECT ''' || chr(92) || ''' || '';COMMIT;--'''])$$))], rounds => 1, transport => 'unix');
-- not in a cursor's query, a COPY or a check query either
SELECT verdict FROM rtbench.compare(ARRAY[rtbench.arm('cursor', steps => ARRAY['DELETE FROM regress_rtb_own WHERE a = 5', $$SELECT '\' || ';COMMIT;BEGIN;--'$$], before => 'SET standard_conforming_strings = off', fetch_size => 5)], rounds => 1, transport => 'unix');
SELECT verdict FROM rtbench.compare(ARRAY[rtbench.arm('copied', steps => ARRAY[rtbench.step('DELETE FROM regress_rtb_own WHERE a = 5'), rtbench.copy_rows('SELECT 6', $$COPY regress_rtb_own FROM STDIN WHERE a::text <> '\' || ';COMMIT;BEGIN;--'$$)], before => 'SET standard_conforming_strings = off')], rounds => 1, transport => 'unix');
SELECT verdict FROM rtbench.compare(ARRAY[rtbench.arm('checked', steps => ARRAY['DELETE FROM regress_rtb_own WHERE a = 5'], before => 'SET standard_conforming_strings = off')], check_query => $$SELECT '\' || ';COMMIT;BEGIN;--'$$, rounds => 1, transport => 'unix');
-- nor by a generated text that leaves a quote open for the next one, in a pass that is timed
CREATE SEQUENCE regress_rtb_passes;
SELECT verdict FROM rtbench.compare(ARRAY[rtbench.arm('open', steps => ARRAY[rtbench.step('DELETE FROM regress_rtb_own WHERE a = 1'),
	rtbench.generated($$SELECT unnest(ARRAY[CASE WHEN nextval('regress_rtb_passes') > 4 THEN 'SELECT ''a' ELSE 'SELECT 1' END, 'SELECT ''; COMMIT; SELECT ''', CASE WHEN currval('regress_rtb_passes') > 4 THEN 'b''' ELSE 'SELECT 2' END])$$)], protocol => 'multi')], rounds => 4, transport => 'unix');
DROP SEQUENCE regress_rtb_passes;
SELECT array_agg(a ORDER BY a) AS nothing_is_gone FROM regress_rtb_own;
DROP TABLE regress_rtb_own;
