-- Long names and names with quotes, blanks, semicolons and letters of several bytes: quoted by the server, cut at 63 bytes with a NOTICE, columns told by their position.
\getenv abs_srcdir PG_ABS_SRCDIR
\set case :abs_srcdir '/test/case.sql'
\set ECHO none
\i :case
\set ECHO all

SET client_min_messages = notice;
SELECT rtbench.create_scenario('case_44', $$
	CREATE TABLE "Sch""ön.e; Tabelle $1 %s ✓" ("Id" int PRIMARY KEY, "select" text, "имя столбца, которое довольно дл" int, "a.b""c" text DEFAULT ';');
	INSERT INTO "Sch""ön.e; Tabelle $1 %s ✓" SELECT g, 'x', 0 FROM generate_series(1, :n) g
$$, swept => 'n', points => '{20}') \g /dev/null
SELECT rtbench.add_arm('case_44', arm) FROM unnest(ARRAY[
	rtbench.arm('row_loop', rtbench.generated($q$
		SELECT format('UPDATE %I SET %I = %s, %I = %L WHERE %I = %s', 'Sch"ön.e; Tabelle $1 %s ✓', 'имя столбца, которое довольно дл', g, 'select', E'q''\\;✓', 'Id', g) FROM generate_series(1, :n) g$q$)),
	rtbench.arm('schleife_✓', rtbench.foreach($q$SELECT g AS "имя", E'q''\\;✓' AS "sel;ect" FROM generate_series(1, :n) g$q$,
		$q$UPDATE "Sch""ön.e; Tabelle $1 %s ✓" SET "имя столбца, которое довольно дл" = $1, "select" = $2 WHERE "Id" = $1$q$)),
	rtbench.arm('set_update', $q$UPDATE "Sch""ön.e; Tabelle $1 %s ✓" SET "имя столбца, которое довольно дл" = "Id", "select" = E'q''\\;✓'$q$),
	rtbench.arm('other_values', $q$UPDATE "Sch""ön.e; Tabelle $1 %s ✓" SET "имя столбца, которое довольно дл" = 1, "select" = E'q''\\;✓', "a.b""c" = 'x'$q$),
	rtbench.arm('clock', $q$UPDATE "Sch""ön.e; Tabelle $1 %s ✓" SET "имя столбца, которое довольно дл" = "Id", "select" = E'q''\\;✓', "a.b""c" = clock_timestamp()$q$)]) AS arm \g /dev/null
SET client_min_messages = warning;
SELECT count(*) FROM rtbench.sweep('case_44', rounds => 2);
SELECT * FROM told;
SELECT arm, regexp_replace(notes, '; (WAL records vary|plannings changed)[^;]*', '', 'g') AS notes FROM rtbench.result() WHERE verdict = 'not comparable';
SELECT arm, checked, plan_shape FROM rtbench.result();
-- the check query that was printed can be used as it is
SELECT substring(notes, $q$check_query => '(.* FROM [^']*)'$q$) AS query FROM rtbench.result() WHERE arm = 'clock' \gset
SELECT count(*) FROM rtbench.sweep('case_44', rounds => 2, check_query => :'query');
SELECT * FROM told;

-- names that are cut: said when they are written, once for each text; two columns of one name are told apart by position
SET client_min_messages = notice;
SELECT rtbench.add_arm('case_44', rtbench.arm('long', $q$UPDATE "Sch""ön.e; Tabelle $1 %s ✓" SET "имя столбца, которое довольно длинное а" = 1$q$)) \g /dev/null
SELECT rtbench.foreach('SELECT 1', $q$UPDATE t SET a_name_that_has_more_than_the_sixty_three_bytes_of_an_identifier = $1$q$) \g /dev/null
SET client_min_messages = warning;
SELECT $q$ARRAY[
	rtbench.arm('two_names', 'SELECT a AS invoice_line_customer_consumer_subscription_account_holder_details_name, b AS invoice_line_customer_consumer_subscription_account_holder_details_mail FROM t'),
	rtbench.arm('short_names', 'SELECT a AS x, b AS y FROM t'),
	rtbench.arm('second_differs', 'SELECT a AS invoice_line_customer_consumer_subscription_account_holder_details_name, upper(b) AS invoice_line_customer_consumer_subscription_account_holder_details_mail FROM t'),
	rtbench.arm('swapped', 'SELECT b, a FROM t'),
	rtbench.arm('ambiguous', 'SELECT invoice_line_customer_consumer_subscription_account_holder_details_name FROM (SELECT a AS invoice_line_customer_consumer_subscription_account_holder_details_name,
		b AS invoice_line_customer_consumer_subscription_account_holder_details_mail FROM t) q')]$q$ AS arms \gset
SELECT count(*) FROM rtbench.compare(:arms, setup => $$CREATE TABLE t (a int, b text); INSERT INTO t SELECT g, 'b' || g FROM generate_series(1, 20) g$$, rounds => 2);
SELECT * FROM told;
SELECT * FROM notes;

-- names of arms and scenarios are never cut, and their length is in bytes
SELECT rtbench.arm(repeat('ж', 31), 'SELECT 1')->>'arm' = repeat('ж', 31) AS kept;
SELECT rtbench.arm(repeat('ж', 32), 'SELECT 1');
SELECT rtbench.create_scenario(repeat('ж', 32), 'SELECT 1');

SELECT rtbench.drop_scenario('case_44');
