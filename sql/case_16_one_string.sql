-- Many statements in one string: as many statements, one round trip; and none of them touches a row.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

SELECT string_agg(format('DELETE FROM m%s WHERE note <> ''x;y'' /* ; */ -- ;', k), E'\n;' ORDER BY k) AS one_string FROM generate_series(1, 20) k \gset
SELECT count(*) AS rows FROM rtbench.compare(ARRAY[
	rtbench.arm('one_by_one', rtbench.generated($$SELECT format('DELETE FROM m%s WHERE note <> ''x;y'' /* ; */', k) FROM generate_series(1, 20) k$$)),
	rtbench.arm('one_string', :'one_string'),
	rtbench.arm('generated_string', rtbench.generated($$SELECT string_agg(format('DELETE FROM m%s WHERE note <> $q$x;y$q$ /* ; */', k), '; ') FROM generate_series(1, 20) k$$)),
	rtbench.arm('do_block', $$DO $do$ BEGIN FOR k IN 1..20 LOOP EXECUTE format('DELETE FROM m%s WHERE note <> ''x;y'' /* ; */', k); END LOOP; END $do$ $$)],
	setup => $$DO $do$ BEGIN FOR k IN 1..20 LOOP EXECUTE format('CREATE TABLE m%s (id int PRIMARY KEY, note text DEFAULT ''a;b'')', k); END LOOP; END $do$ $$,
	rounds => 2);
SELECT arm, round_trips, statements, rows, xids, digest = first_value(digest) OVER () AS same_rows,
	   verdict = 'not comparable' AS not_comparable, notes ~ 'no rows affected' AS flagged
FROM rtbench.result();
