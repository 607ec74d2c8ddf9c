-- Included by the tests of real cases: what of a result is the same at every run.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
\set SHOW_CONTEXT never
\pset format unaligned
\pset null -
\pset tuples_only off

-- "compared" is any verdict on a ratio; "same" says whether the digest is the baseline's
CREATE TEMP VIEW told AS
SELECT p.point, p.arm, p.round_trips AS trips, p.statements, p.fired, p.rows, p.digest = b.digest AS same,
	CASE WHEN p.verdict IN ('baseline', 'failed', 'not comparable') THEN p.verdict ELSE 'compared' END AS verdict
FROM rtbench.result() WITH ORDINALITY AS p
JOIN rtbench.runs r ON r.run = p.run
LEFT JOIN rtbench.result() b ON b.arm = r.baseline AND b.point IS NOT DISTINCT FROM p.point
ORDER BY p.ordinality;

-- why an arm failed or cannot be compared, and what it does beside its work: without what depends on time or pages
CREATE TEMP VIEW notes AS
SELECT p.point, p.arm, n.note
FROM rtbench.result() WITH ORDINALITY AS p, regexp_split_to_table(p.notes, '; ') WITH ORDINALITY AS n (note, i)
WHERE n.note !~ '^(WAL records vary|plannings changed|loop queries|fired:|an interval at|ratio of total|\d+ of \d+ passes|only CPU time|step \d+ changed|fewer executions|noise floor|ratio drifts|order effect|(sessions|rounds) are correlated|sessions fall into|\d+ sessions are too few|no control|a difference of|level not)'
ORDER BY p.ordinality, n.i;
