-- Upserts of a batch that holds keys twice: one way fails, and of those that don't some leave other rows, as many.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

-- every tenth row repeats a key, so that 9 rows hold none twice
SELECT rtbench.create_scenario('upserts', swept => 'n', points => '{9,40}', setup => $$
	CREATE TABLE contact (phone int PRIMARY KEY, name text, seen int DEFAULT 1);
	CREATE TABLE input (ord int PRIMARY KEY, phone int, name text);
	INSERT INTO input SELECT g, CASE WHEN g % 10 = 0 THEN g - 5 ELSE g END, 'n' || g FROM generate_series(1, :n) g;
$$);
SELECT rtbench.add_arm('upserts', arm) FROM unnest(ARRAY[
	rtbench.arm('row_loop', rtbench.generated($$SELECT format('INSERT INTO contact (phone, name) VALUES (%s, %L) ON CONFLICT (phone) DO UPDATE SET name = excluded.name', phone, name)
		FROM input ORDER BY ord$$)),
	rtbench.arm('prepared_loop', rtbench.foreach('SELECT phone, name FROM input ORDER BY ord',
		'INSERT INTO contact (phone, name) VALUES ($1, $2) ON CONFLICT (phone) DO UPDATE SET name = excluded.name')),
	rtbench.arm('multirow', rtbench.generated($$SELECT 'INSERT INTO contact (phone, name) VALUES ' || string_agg(format('(%s, %L)', phone, name), ', ' ORDER BY ord)
		|| ' ON CONFLICT (phone) DO UPDATE SET name = excluded.name' FROM input$$)),
	rtbench.arm('last_wins', 'INSERT INTO contact (phone, name) SELECT DISTINCT ON (phone) phone, name FROM input ORDER BY phone, ord DESC
		ON CONFLICT (phone) DO UPDATE SET name = excluded.name'),
	rtbench.arm('first_wins', 'INSERT INTO contact (phone, name) SELECT DISTINCT ON (phone) phone, name FROM input ORDER BY phone, ord
		ON CONFLICT (phone) DO UPDATE SET name = excluded.name'),
	rtbench.arm('do_nothing', 'INSERT INTO contact (phone, name) SELECT phone, name FROM input ORDER BY ord ON CONFLICT (phone) DO NOTHING')]) arm;
SELECT count(*) AS rows FROM rtbench.sweep('upserts', rounds => 2);

SELECT point, arm, statements, rows, digest = first_value(digest) OVER (PARTITION BY point) AS same_rows,
	   CASE WHEN verdict IN ('failed', 'not comparable') THEN verdict END AS verdict,
	   median_ms IS NULL AS no_time, speedup IS NULL AS no_speedup, substring(notes FROM '21000: [^;]*') AS failure
FROM rtbench.result();

-- the column is named, and how many rows each side has alone
SELECT arm, notes ~ '\mcontact\M.*\mname\M' AS column_named, substring(notes FROM 'rows only in [^;]*') AS alone
FROM rtbench.result() WHERE point = 40 AND verdict = 'not comparable';

SELECT rtbench.drop_scenario('upserts');
