-- Rows taken all at once, or by a cursor in portions: one statement, a round trip for each portion, and perhaps another plan.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\pset format unaligned
\pset null -
SELECT rtbench.create_scenario('case_51', $$CREATE TABLE big (id int PRIMARY KEY, k int, pad text);
	INSERT INTO big SELECT g, (g::bigint * 7919) % 1000003, repeat('p', 1000) FROM generate_series(1, :n) g;
	CREATE INDEX ON big (k);
	ANALYZE big$$, swept => 'n', points => '{2000}');
SELECT count(*) FROM (SELECT rtbench.add_arm('case_51', arm) FROM unnest(ARRAY[
	rtbench.arm('all_at_once', 'SELECT id, k FROM big'),
	rtbench.arm('fetch_10', steps => ARRAY['SELECT id, k FROM big'], fetch_size => 10),
	rtbench.arm('fetch_100', steps => ARRAY['SELECT id, k FROM big'], fetch_size => 100),
	rtbench.arm('fetch_1000', steps => ARRAY['SELECT id, k FROM big'], fetch_size => 1000),
	rtbench.arm('sorted', 'SELECT id, k FROM big ORDER BY k'),
	rtbench.arm('sorted_fetch', steps => ARRAY['SELECT id, k FROM big ORDER BY k'], fetch_size => 100),
	rtbench.arm('wide', 'SELECT * FROM big'),
	rtbench.arm('count_only', 'SELECT count(*) FROM big')]) arm) x;
-- it needs a connection
SELECT rtbench.sweep('case_51');
SELECT count(*) FROM rtbench.sweep('case_51', transport => 'unix', rounds => 2, control => false);
-- BEGIN, DECLARE, n / f + 1 FETCHes as the last one finds none, CLOSE, COMMIT
SELECT arm, round_trips, statements, rows, verdict = 'not comparable' AS other_rows FROM rtbench.result();
-- what crosses the wire is the same but for the messages around each portion; the count alone moves nothing
SELECT arm, round(bytes_received, -4) AS bytes_received FROM rtbench.result();
-- a cursor is planned for a quick first row
SELECT arm, plan_shape FROM rtbench.result() WHERE arm ~ 'sorted';
-- drivers that write cannot be cursors, and are read at once; committing arms fetch in their transaction
CALL rtbench.run_compare(ARRAY[
	rtbench.arm('returning', steps => ARRAY[rtbench.foreach('INSERT INTO t SELECT generate_series(1, 5) RETURNING a', 'UPDATE t SET a = a WHERE a = $1')], ending => 'commit'),
	rtbench.arm('query', steps => ARRAY['INSERT INTO t SELECT generate_series(1, 5)', 'SELECT a FROM t'], ending => 'commit'),
	rtbench.arm('alone', steps => ARRAY['SELECT a FROM t'], ending => 'commit'),
	rtbench.arm('each_alone', steps => ARRAY['SELECT a FROM t'], ending => 'autocommit')], setup => 'CREATE TABLE t (a int); INSERT INTO t SELECT generate_series(1, 5)', transport => 'unix', fetch_size => 2, rounds => 1);
SELECT arm, round_trips, statements, rows FROM rtbench.result();
SELECT rtbench.drop_scenario('case_51');
