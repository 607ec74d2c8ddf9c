-- The histogram of latencies, against sorted values: nearest rank, within half a percent.
\set VERBOSITY terse
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
CREATE FUNCTION pg_temp.worst(milliseconds float8[], fractions float8[]) RETURNS float8 LANGUAGE sql AS $$
	SELECT max(CASE WHEN s.exact = 0 THEN q.found ELSE abs(q.found / s.exact - 1) END)
	FROM unnest(rtbench.latency_quantiles($1, $2), $2) AS q (found, fraction),
		 LATERAL (SELECT percentile_disc(q.fraction) WITHIN GROUP (ORDER BY v) AS exact FROM unnest($1) v) s
$$;
\set fractions 'ARRAY[0, 0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1]::float8[]'
SELECT setseed(0.42);
-- of several shapes, some of them with few values; in whole nanoseconds
SELECT name, n, pg_temp.worst(array_agg(round(v::numeric, 6)::float8), :fractions) < 0.004 AS close
FROM (SELECT 'uniform' AS name, n, random() * 10 AS v FROM (VALUES (1), (2), (3), (10), (1000), (20000)) s (n), generate_series(1, n)
	UNION ALL SELECT 'exponential', n, -ln(1 - random()) FROM (VALUES (10), (20000)) s (n), generate_series(1, n)
	UNION ALL SELECT 'twelve decades', n, 10 ^ (random() * 12 - 6) FROM (VALUES (10), (20000)) s (n), generate_series(1, n)
	UNION ALL SELECT 'the same', n, 1.5 FROM (VALUES (1), (5), (1000)) s (n), generate_series(1, n)
	UNION ALL SELECT 'two humps', n, CASE WHEN random() < 0.97 THEN 0.2 + random() / 10 ELSE 40 + random() END FROM (VALUES (1000), (20000)) s (n), generate_series(1, n)) t
GROUP BY name, n ORDER BY name, n;
-- every value is in the bucket that it should be in: one at a time, at and around the bounds of octaves
SELECT count(*), count(*) FILTER (WHERE abs((rtbench.latency_quantiles(ARRAY[ns / 1e6, 1e9], '{0.5}'))[1] * 1e6 - ns) > 0.004 * ns) AS wrong
FROM (SELECT 2::float8 ^ e + d AS ns FROM generate_series(0, 43) e, generate_series(-3, 3) d WHERE 2::float8 ^ e + d > 0) v;
-- values that are exact: small ones, none at all of nothing, the largest
SELECT rtbench.latency_quantiles(ARRAY[0, 0.000001, 0.000255], '{0.3,0.6,1}');
SELECT rtbench.latency_quantiles(ARRAY[0.1, 123.456789], '{1}');
SELECT rtbench.latency_quantiles('{}', '{0.5}') IS NULL AS none;
SELECT rtbench.latency_quantiles('{1,2,3}', '{}');
-- beyond what is told apart, the largest is known all the same
SELECT (rtbench.latency_quantiles('{1, 90000000, 99000000}', '{0.6, 1}'))[2];
-- a quantile is never above the largest value
SELECT bool_and((rtbench.latency_quantiles(ARRAY[v, v], '{0.5}'))[1] <= v) FROM generate_series(1, 5000) g, LATERAL (SELECT g * 0.0137 AS v) x;
-- refused
SELECT rtbench.latency_quantiles('{1,-1}', '{0.5}');
SELECT rtbench.latency_quantiles('{1,NaN}', '{0.5}');
SELECT rtbench.latency_quantiles('{1,Infinity}', '{0.5}');
SELECT rtbench.latency_quantiles('{1,NULL}', '{0.5}');
SELECT rtbench.latency_quantiles('{{1,2},{3,4}}', '{0.5}');
SELECT rtbench.latency_quantiles('{1}', '{1.5}');
