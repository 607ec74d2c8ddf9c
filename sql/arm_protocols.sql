-- Arms with a protocol of their own, rows sent to COPY, bytes: what is sent, what is counted, what is refused.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\pset format unaligned
\pset null -
-- one run, every way: values that COPY must escape, a null, an empty text, and columns in another order
SELECT count(*) FROM rtbench.compare(ARRAY[
	rtbench.arm('each', rtbench.foreach('SELECT * FROM given ORDER BY a', 'INSERT INTO taken VALUES ($1, $2, $3)')),
	rtbench.arm('parsed_each', steps => ARRAY[rtbench.foreach('SELECT * FROM given ORDER BY a', 'INSERT INTO taken VALUES ($1, $2, $3)')], protocol => 'extended'),
	rtbench.arm('as_text', steps => ARRAY[rtbench.foreach('SELECT * FROM given ORDER BY a', 'INSERT INTO taken VALUES ($1, $2, $3)')], protocol => 'simple'),
	rtbench.arm('pipeline', steps => ARRAY[rtbench.foreach('SELECT * FROM given ORDER BY a', 'INSERT INTO taken VALUES ($1, $2, $3)')], protocol => 'pipeline', batch => 50),
	rtbench.arm('multi', steps => ARRAY[rtbench.foreach('SELECT * FROM given ORDER BY a', 'INSERT INTO taken VALUES ($1, $2, $3)')], protocol => 'multi', batch => 50),
	rtbench.arm('cursor', steps => ARRAY[rtbench.foreach('SELECT * FROM given ORDER BY a', 'INSERT INTO taken VALUES ($1, $2, $3)')], fetch_size => 50),
	rtbench.arm('copied', rtbench.copy_rows('SELECT c, a, b FROM given', 'COPY taken (c, a, b) FROM STDIN')),
	rtbench.arm('copied_each', rtbench.foreach('SELECT a FROM given', rtbench.copy_rows('SELECT * FROM given WHERE a = $1', 'COPY taken FROM STDIN'))),
	rtbench.arm('one', 'INSERT INTO taken SELECT * FROM given'),
	rtbench.arm('other_rows', rtbench.copy_rows('SELECT a + 1, b, c FROM given', 'COPY taken FROM STDIN'))],
	setup => $$CREATE TABLE given (a int, b text, c numeric);
		INSERT INTO given SELECT g, CASE g % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN E'tab\tnewline\nreturn\r' WHEN 3 THEN E'\\N \\. \\' || repeat('x', 3000) ELSE 'naïve 日本' END, g / 3.0 FROM generate_series(1, 100) g;
		CREATE TABLE taken (a int, b text, c numeric)$$,
	transport => 'unix', rounds => 2, control => false);
-- two drivers' trips at most: BEGIN and COMMIT; a parse; 100, or 2 of 50, or a cursor's 1 + 3 + 1; COPY's two
SELECT arm, round_trips, statements, rows, verdict FROM rtbench.result();
SELECT count(DISTINCT digest) AS digests_of_nine FROM rtbench.result() WHERE arm <> 'other_rows';
-- the rows cross the wire and come back but where the server copies them itself; each way has its own price in bytes
SELECT arm, bytes_sent > 60000 AS sent_rows, bytes_received > 60000 AS received_rows FROM rtbench.result();
SELECT (SELECT bytes_sent FROM rtbench.result() WHERE arm = 'as_text') > (SELECT bytes_sent FROM rtbench.result() WHERE arm = 'copied') AS a_text_is_more_than_a_row,
	(SELECT bytes_sent FROM rtbench.result() WHERE arm = 'parsed_each') > (SELECT bytes_sent FROM rtbench.result() WHERE arm = 'each') AS a_text_each_time_is_more;
-- wide rows that a join repeats: few statements, many bytes
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('joined', 'SELECT p.wide, c.v FROM p JOIN c ON c.p = p.id'), rtbench.arm('two', 'SELECT wide FROM p', 'SELECT p, v FROM c')],
	setup => $$CREATE TABLE p (id int, wide text); INSERT INTO p SELECT g, repeat('w', 1000) FROM generate_series(1, 5) g; CREATE TABLE c (p int, v int); INSERT INTO c SELECT g % 5 + 1, g FROM generate_series(1, 100) g$$,
	check_query => 'SELECT 1', transport => 'unix', rounds => 1);
SELECT arm, round_trips, bytes_received / 10000 AS tens_of_thousands_of_bytes FROM rtbench.result();
-- no connection, no bytes
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], rounds => 1);
SELECT bytes_sent, bytes_received FROM rtbench.result();
-- the statements of a foreign table's server are not seen, which is said
CREATE EXTENSION file_fdw;
CREATE SERVER regress_rtb_files FOREIGN DATA WRAPPER file_fdw;
CREATE FOREIGN TABLE regress_rtb_file (a text) SERVER regress_rtb_files OPTIONS (program 'echo one');
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('far', 'SELECT a FROM regress_rtb_file'), rtbench.arm('not', $$SELECT text 'one'$$)], rounds => 1);
SELECT arm, notes ~ 'foreign tables are used' AS said FROM rtbench.result();
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('far', 'SELECT a FROM regress_rtb_file'), rtbench.arm('not', $$SELECT text 'one'$$)], rounds => 1, transport => 'unix');
SELECT arm, notes ~ 'foreign tables are used' AS said FROM rtbench.result();
DROP EXTENSION file_fdw CASCADE;
-- an arm that fails on a row: the connection goes on
SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('good', rtbench.copy_rows('SELECT generate_series(1, 10)', 'COPY t FROM STDIN')), rtbench.arm('too_many', rtbench.copy_rows('SELECT 1, 2', 'COPY t FROM STDIN')),
	rtbench.arm('wrong', rtbench.copy_rows($$SELECT 'x' FROM generate_series(1, 100000)$$, 'COPY t FROM STDIN')), rtbench.arm('none', rtbench.copy_rows('SELECT 1 WHERE false', 'COPY t FROM STDIN'))],
	setup => 'CREATE TABLE t (a int)', transport => 'unix', rounds => 1);
-- committed, each COPY in a transaction of its own
CALL rtbench.run_compare(ARRAY[rtbench.arm('copied', steps => ARRAY[rtbench.copy_rows('SELECT generate_series(1, 10)', 'COPY t FROM STDIN')], ending => 'autocommit'),
	rtbench.arm('each', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 10)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit')], setup => 'CREATE TABLE t (a int)', transport => 'unix', rounds => 2, control => false);
SELECT arm, round_trips, transactions, rows, verdict FROM rtbench.result();
\set VERBOSITY default
SELECT rtbench.create_scenario('regress_rtb_copies', 'CREATE TABLE t (a int)', swept => 'n', points => '{3}');
SELECT rtbench.add_arm('regress_rtb_copies', rtbench.arm('copied', steps => ARRAY[rtbench.copy_rows('SELECT generate_series(1, :n)', 'COPY t FROM STDIN')], protocol => 'simple'));
SELECT * FROM rtbench.show_scenario('regress_rtb_copies');
SELECT arm, statements FROM rtbench.sweep('regress_rtb_copies', transport => 'unix', rounds => 1);
-- refused before anything starts
SELECT rtbench.sweep('regress_rtb_copies');
SELECT rtbench.drop_scenario('regress_rtb_copies');
SELECT rtbench.compare(ARRAY[rtbench.arm('p', steps => ARRAY['SELECT 1'], protocol => 'multi')]);
SELECT rtbench.compare(ARRAY[rtbench.arm('p', steps => ARRAY['SELECT 1'], fetch_size => 10)], transport => 'caller');
SELECT rtbench.arm('p', steps => ARRAY['SELECT 1'], protocol => 'copy');
SELECT rtbench.arm('p', steps => ARRAY['SELECT 1'], protocol => 'simple', batch => 3);
SELECT rtbench.arm('p', steps => ARRAY['SELECT 1'], batch => 0);
SELECT rtbench.arm('p', steps => ARRAY['SELECT 1'], fetch_size => 1000001);
SELECT rtbench.arm('p', 'COPY t FROM STDIN');
SELECT rtbench.copy_rows('SELECT 1', 'COPY t FROM STDIN (FORMAT csv)');
SELECT rtbench.copy_rows('SELECT 1', 'COPY t FROM ''/etc/passwd''');
SELECT rtbench.copy_rows('SELECT 1', 'COPY t TO STDOUT');
SELECT rtbench.copy_rows('SELECT 1', 'COPY t FROM STDIN; COPY t FROM STDIN');
SELECT rtbench.copy_rows('SELECT 1', 'SELECT 1');
SELECT rtbench.copy_rows('DELETE FROM t', 'COPY t FROM STDIN');
SELECT rtbench.copy_rows('SELECT 1', 'COPY t FROM STDIN WHERE a = $1');
SELECT rtbench.copy_rows(NULL, 'COPY t FROM STDIN'), rtbench.copy_rows('SELECT 1', NULL);
SELECT rtbench.add_arm('x', '{"arm": "a", "steps": [{"rows": "SELECT 1"}]}');
-- where both ends run
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], placement => 'two cores');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], transport => 'unix', placement => 'x');
SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], transport => 'unix', placement => NULL);
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', rtbench.foreach('SELECT generate_series(1, 50)', 'SELECT $1::int'))], transport => 'unix', placement => 'same core', rounds => 2);
SELECT options ->> 'placement' AS placement, options ->> 'protocol' AS protocol, (SELECT count(DISTINCT core) = 1 AND bool_and(core = far_core) FROM rtbench.passes p WHERE p.run = r.run AND round > 0) AS on_one_core FROM rtbench.runs r ORDER BY run DESC LIMIT 1;
-- what would end a pass's transaction is refused before it is sent, in generated texts too
CREATE TABLE regress_rtb_own (a int);
\set VERBOSITY terse
SELECT text_sent, protocol, (SELECT string_agg(verdict, ' ') FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO regress_rtb_own VALUES (1)'),
		rtbench.arm('ends', rtbench.step('INSERT INTO regress_rtb_own VALUES (1)'), rtbench.generated(format('SELECT %L', text_sent)))], rounds => 2, control => false, transport => 'unix', protocol => protocol)) AS verdicts
FROM unnest(ARRAY['commit', 'END', '/* */ COMMIT;', 'commit and chain', 'SELECT 1; commit; begin', 'abort', 'prepare transaction ''x''', 'savepoint s', 'ROLLBACK', $$SELECT 'end', 1 AS "commit" -- begin$$]) text_sent,
	unnest('{prepared,simple,multi}'::text[]) protocol WHERE protocol = 'prepared' OR text_sent ~ 'COMMIT|chain';
SELECT count(*) FROM regress_rtb_own;
DROP TABLE regress_rtb_own;
-- a comment at the end of a text does not swallow the next one
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('loop', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 50)', 'INSERT INTO t VALUES ($1) -- one')], protocol => 'multi', batch => 20),
	rtbench.arm('one', 'INSERT INTO t SELECT generate_series(1, 50)')], setup => 'CREATE TABLE t (a int)', transport => 'unix', rounds => 1, control => false);
SELECT arm, statements, rows, verdict FROM rtbench.result();
SELECT rows, statements, round_trips FROM rtbench.ask('SELECT :n -- c', protocol => 'multi', times => 5);
-- a text of several statements is one message, whatever the protocol
SELECT protocol, (SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one_text', E'INSERT INTO t VALUES (1); UPDATE t SET a = 2; -- end\nSELECT a FROM t -- last'), rtbench.arm('each', 'INSERT INTO t VALUES (1)', 'UPDATE t SET a = 2', 'SELECT a FROM t')],
	setup => 'CREATE TABLE t (a int)', transport => 'unix', protocol => protocol, fetch_size => 10, rounds => 1, label => protocol)) AS arms
FROM unnest('{prepared,extended,simple,pipeline,multi}'::text[]) protocol;
SELECT label AS protocol, arm, round_trips, statements, rows, verdict = 'not comparable' AS differs FROM rtbench.runs r, rtbench.result(r.run) WHERE label IN ('prepared', 'extended', 'simple', 'pipeline', 'multi') ORDER BY r.run, arm;
CALL rtbench.run_compare(ARRAY[rtbench.arm('one_text', steps => ARRAY['INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)'], ending => 'autocommit'), rtbench.arm('block', steps => ARRAY['INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)', 'SELECT 1'], ending => 'commit')],
	setup => 'CREATE TABLE t (a int)', transport => 'unix', rounds => 1);
SELECT arm, round_trips, statements, transactions FROM rtbench.result();
-- by autocommit a message is a transaction, a batch one of all its statements, as ids show; 20 rows by 7, and the driver is none
CALL rtbench.run_compare(ARRAY[rtbench.arm('each', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit'),
	rtbench.arm('multi', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit', protocol => 'multi', batch => 7),
	rtbench.arm('pipeline', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit', protocol => 'pipeline', batch => 7),
	rtbench.arm('full_batches', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit', protocol => 'pipeline', batch => 10),
	rtbench.arm('texts', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 10)', 'INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)')], ending => 'autocommit', protocol => 'multi', batch => 8),
	rtbench.arm('generated', steps => ARRAY[rtbench.generated($$SELECT format('INSERT INTO t VALUES (%s)', g) FROM generate_series(1, 20) g$$)], ending => 'autocommit', protocol => 'multi', batch => 7),
	rtbench.arm('one_by_one', steps => ARRAY[rtbench.generated($$SELECT format('INSERT INTO t VALUES (%s)', g) FROM generate_series(1, 20) g$$)], ending => 'autocommit', protocol => 'pipeline', batch => 7)],
	setup => 'CREATE TABLE t (a int)', check_query => 'SELECT count(*) FROM t', transport => 'unix', rounds => 2);
SELECT arm, round_trips, statements, transactions, xids, tps > 0 AS tps FROM rtbench.result();
SELECT bool_and(transactions = xids) AS ids_agree FROM rtbench.passes WHERE run = (SELECT max(run) FROM rtbench.runs) AND xids IS NOT NULL;
-- generated texts in batches: what ends with semicolons or a comment does not reach into the next; those of several statements go alone
SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('each', rtbench.generated('SELECT x FROM texts ORDER BY n')),
	rtbench.arm('multi', steps => ARRAY[rtbench.generated('SELECT x FROM texts ORDER BY n')], protocol => 'multi', batch => 4),
	rtbench.arm('large', steps => ARRAY[rtbench.generated('SELECT x FROM texts ORDER BY n')], protocol => 'multi')],
	setup => $$CREATE TABLE t (a text); CREATE TABLE texts (n serial, x text);
		INSERT INTO texts (x) VALUES ('INSERT INTO t VALUES (1)'), ('INSERT INTO t VALUES (2);'), ('INSERT INTO t VALUES (3) -- ; no'), (' INSERT INTO t VALUES (4) ; ; -- end'), ('INSERT INTO t VALUES (''5;-- /*'')'),
			('INSERT INTO t VALUES (6); INSERT INTO t VALUES (7)'), ('SELECT a FROM t ORDER BY a'), ('UPDATE t SET a = a || ''x'' /* ; */'), (NULL)$$,
	transport => 'unix', rounds => 1);
SELECT arm, round_trips, statements, rows, verdict = 'not comparable' AS differs FROM rtbench.result();
-- an error among them, or the end of the transaction, is the arm's
SELECT text_sent, (SELECT string_agg(verdict, ' ') FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1'), rtbench.arm('b', steps => ARRAY[rtbench.generated(format('VALUES (%L), (%L), (%L)', 'SELECT 1', text_sent, 'SELECT 2'))], protocol => 'multi')], transport => 'unix', rounds => 1)) AS verdicts
FROM unnest(ARRAY['SELECT 1/0', 'COMMIT', 'commit; -- x', 'SELECT ''', 'SELECT /*', '/* */ ROLLBACK']) text_sent;
-- what a batching protocol cannot batch is said, and nothing where it can
SELECT protocol, (SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('loop', rtbench.foreach('SELECT generate_series(1, 3)', 'SELECT $1::int')),
	rtbench.arm('one', 'SELECT 1'), rtbench.arm('plain', 'SELECT 1', 'SELECT 2'), rtbench.arm('kept', rtbench.step('SELECT 1', plans => 'kept'), rtbench.step('SELECT 2', plans => 'kept')),
	rtbench.arm('generated', rtbench.generated($$VALUES ('SELECT 1'), ('SELECT 2')$$)),
	rtbench.arm('savepoints', rtbench.foreach('SELECT generate_series(1, 3)', rtbench.step('SELECT $1::int', subtransaction => 'savepoint'), rtbench.step('SELECT $1::int'))),
	rtbench.arm('texts', rtbench.foreach('SELECT generate_series(1, 3)', 'SELECT 1; SELECT 2')),
	rtbench.arm('nested', rtbench.foreach('SELECT generate_series(1, 3)', rtbench.foreach('SELECT generate_series(1, $1::int)', 'SELECT $1::int'), rtbench.generated('SELECT ''SELECT 1'''))),
	rtbench.arm('cursors', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 3)', 'SELECT $1::int')], fetch_size => 2)],
	check_query => 'SELECT 1', transport => 'unix', protocol => protocol, rounds => 1, label => 'batches by ' || protocol)) AS arms
FROM unnest('{prepared,multi,pipeline}'::text[]) protocol;
SELECT label, arm, substring(notes FROM 'protocol [a-z]+: [^;]*') AS note FROM rtbench.runs r, rtbench.result(r.run) WHERE label LIKE 'batches by %' AND notes ~ 'protocol [a-z]+: ' ORDER BY r.run, arm;
-- a cursor needs a transaction block
CALL rtbench.run_compare(ARRAY[rtbench.arm('autocommit', steps => ARRAY['SELECT a FROM t'], ending => 'autocommit', fetch_size => 2), rtbench.arm('writes', steps => ARRAY['UPDATE t SET a = a'], ending => 'autocommit', fetch_size => 2),
	rtbench.arm('block', steps => ARRAY['SELECT a FROM t'], ending => 'commit', fetch_size => 2)], setup => 'CREATE TABLE t (a int); INSERT INTO t SELECT generate_series(1, 5)', check_query => 'SELECT 1', transport => 'unix', rounds => 1);
SELECT arm, round_trips, substring(notes FROM 'fetch_size[^;]*') AS note FROM rtbench.result();
