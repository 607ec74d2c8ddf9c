-- Deleting parents whose children have no index on the referencing column: row work inside a trigger, which neither
-- the number of statements nor the plan of the DELETE shows.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;

SELECT rtbench.create_scenario('missing_index', swept => 'n', points => '{40,160}', setup => $$
	CREATE TABLE author (id int PRIMARY KEY, name text NOT NULL);
	CREATE TABLE book (id int PRIMARY KEY, author_id int NOT NULL REFERENCES author ON DELETE CASCADE, title text);
	INSERT INTO author SELECT g, 'a' || g FROM generate_series(1, :n * 2) g;
	INSERT INTO book SELECT g, 1 + g % (:n * 2), repeat('t', 40) FROM generate_series(1, :n * 20) g;
$$);
SELECT rtbench.add_arm('missing_index', arm) FROM unnest(ARRAY[
	rtbench.arm('per_parent',
		rtbench.generated('SELECT format(''DELETE FROM author WHERE id = %s'', i) FROM generate_series(1, :n) i')),
	rtbench.arm('set_delete', 'DELETE FROM author WHERE id <= :n'),
	rtbench.arm('children_first', 'DELETE FROM book WHERE author_id <= :n', 'DELETE FROM author WHERE id <= :n'),
	rtbench.arm('per_parent_indexed', before => 'CREATE INDEX ON book (author_id)', steps => ARRAY[
		rtbench.generated('SELECT format(''DELETE FROM author WHERE id = %s'', i) FROM generate_series(1, :n) i')]),
	rtbench.arm('set_delete_indexed', before => 'CREATE INDEX ON book (author_id)', steps => ARRAY[
		'DELETE FROM author WHERE id <= :n'])]) arm;
SELECT count(*) AS rows FROM rtbench.sweep('missing_index', rounds => 2);

-- one statement fires as many as n do, and all leave the same rows
SELECT point, arm, statements, round_trips, fired, rows, xids,
	   digest = first_value(digest) OVER (PARTITION BY point) AS same_rows, verdict = 'not comparable' AS not_comparable
FROM rtbench.result();

-- the DELETE's own plan shows nothing of the book table; what it fires scans all of it, once for each parent, also
-- when the children went first
SELECT point, arm, plan_shape ~ 'Delete\(author\)' AND plan_shape !~ 'Scan\(book' AS shows_nothing,
	   substring(notes FROM 'fired: (\d+) x Delete\(book\) -> Seq Scan\(book\)') AS scans_of_book,
	   coalesce(notes ~ 'fired: .*book_author_id_idx', false) AS by_index
FROM rtbench.result();

-- so the work for one parent grows with the table, and by the index it does not
SELECT arm, min(buffers / point) FILTER (WHERE point = 160) > 2 * min(buffers / point) FILTER (WHERE point = 40) AS grows
FROM rtbench.result() GROUP BY arm ORDER BY arm;

SELECT rtbench.drop_scenario('missing_index');
