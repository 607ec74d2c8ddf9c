-- Arithmetic on arrays.  Expected values are R's where an R call stands beside them.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
RESET client_min_messages;

-- c(n) at 95 and 99 %; "none" is NULL
-- R: sapply(c(6,8,10,12,16,20,30,40,60), function(n) qsignrank((1-level)/2, n) - 1)
SELECT n, rtbench.signed_rank_critical(n, 0.95) AS c95, rtbench.signed_rank_critical(n) AS c99
FROM unnest(ARRAY[6, 8, 10, 12, 16, 20, 30, 40, 60]) AS n;
-- R: sapply(c(10,12,24,48), function(n) qsignrank(0.001, n) - 1)
SELECT n, rtbench.signed_rank_critical(n, 0.998) FROM unnest(ARRAY[10, 12, 24, 48]) AS n;
-- the fewest units of a level: 1 + ceil(log2(1 / alpha))
SELECT level, min(n) AS needed, 1 + ceil(ln(1 / (1 - level)) / ln(2)) AS formula
FROM unnest(ARRAY[0.9, 0.95, 0.99, 0.998, 0.9999]::float8[]) AS level, generate_series(1, 60) AS n
WHERE rtbench.signed_rank_critical(n, level) IS NOT NULL GROUP BY level ORDER BY level;
-- a level that a number of units reaches exactly: 1 - 2^(1-n)
SELECT rtbench.signed_rank_critical(5, 0.9375) AS c, rtbench.signed_rank_critical(5, 0.938) AS none;
-- the normal approximation beyond 60 units joins the exact values
-- R: floor(M/2 - qnorm(0.995) * sqrt(n*(n+1)*(2*n+1)/24) - 0.5)
SELECT n, rtbench.signed_rank_critical(n) FROM unnest(ARRAY[61, 100, 1001, 2147483647]) AS n;
SELECT rtbench.signed_rank_critical(0) AS zero, rtbench.signed_rank_critical(61, 0.999999999999999) AS extreme;

-- R: wilcox.test(v, conf.int = TRUE, exact = TRUE, conf.level = level)[c("estimate", "conf.int")]
CREATE TEMP TABLE vectors (name text, v float8[]);
INSERT INTO vectors VALUES
('v8', '{0.31,-0.12,0.45,0.27,0.08,0.52,-0.03,0.19}'),
('v12', '{1.83,0.50,1.62,2.48,1.68,1.88,1.55,3.06,1.30,0.878,0.647,0.598}'),
('v20', '{0.0153,0.0211,-0.0042,0.0317,0.0098,0.0264,0.0007,0.0189,0.0402,0.0125,-0.0113,0.0236,0.0171,0.0059,0.0288,0.0346,0.0081,0.0222,-0.0027,0.0139}');
SELECT name, level, round(rtbench.hodges_lehmann(v)::numeric, 12) AS estimate,
       round(low::numeric, 12) AS low, round(high::numeric, 12) AS high
FROM vectors, unnest(ARRAY[0.95, 0.99]::float8[]) AS level, rtbench.signed_rank_interval(v, level)
ORDER BY cardinality(v), level;
-- six values reach 95 % but not 99 %
SELECT rtbench.signed_rank_interval(v[1:6], 0.95) AS c95, rtbench.signed_rank_interval(v[1:6]) AS c99 FROM vectors WHERE name = 'v8';

-- zeros and ties are values like any other (a closed interval of sorted Walsh averages)
-- R: v <- c(0,0,0.1,0.1,0.2,-0.1,0.3,0.4); W <- sort(outer(v,v,"+")[upper.tri(diag(8),TRUE)]/2); W[18:19]; W[4]; W[33]
SELECT rtbench.hodges_lehmann('{0,0,0.1,0.1,0.2,-0.1,0.3,0.4}'), rtbench.signed_rank_interval('{0,0,0.1,0.1,0.2,-0.1,0.3,0.4}', 0.95);
SELECT rtbench.hodges_lehmann(array_fill(0::float8, '{10}')), rtbench.signed_rank_interval(array_fill(0::float8, '{10}'));
SELECT rtbench.hodges_lehmann(array_fill(7::float8, '{10}')), rtbench.signed_rank_interval(array_fill(7::float8, '{10}'));
-- no minus zero
SELECT rtbench.hodges_lehmann('{-1,1}') AS zero, rtbench.hodges_lehmann('{-0}') AS zero, rtbench.median('{-2,2}') AS zero;

-- the same selection against every Walsh average formed, for even and odd numbers of them
SELECT n, rtbench.hodges_lehmann(v) = walsh.median AS equal, rtbench.signed_rank_interval(v) IS NOT DISTINCT FROM walsh.bounds AS bounds_equal
FROM unnest(ARRAY[1, 2, 3, 4, 9, 17, 33, 60, 100]) AS n,
LATERAL (SELECT array_agg(((i * 389) % 1009 - 500) / 7.0::float8 ORDER BY i) AS v FROM generate_series(1, n) AS i) AS s,
LATERAL (SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY (v[i] + v[j]) / 2) AS median,
                ROW((array_agg((v[i] + v[j]) / 2 ORDER BY (v[i] + v[j]) / 2))[c + 1],
                    (array_agg((v[i] + v[j]) / 2 ORDER BY (v[i] + v[j]) / 2))[count(*) - c]) AS bounds
         FROM generate_series(1, n) AS i, generate_series(i, n) AS j, rtbench.signed_rank_critical(n) AS c GROUP BY c) AS walsh;

-- long arrays: of 1..1000000 the bounds are counted by hand; R: b <- ((1:1001)*389) %% 1009; W <- sort(outer(b,b,"+")[upper.tri(diag(1001),TRUE)]/2); median(W); W[c+1]; W[M-c]
SELECT rtbench.hodges_lehmann(v), rtbench.signed_rank_interval(v)
FROM (SELECT array_agg((i * 389) % 1009 ORDER BY i)::float8[] AS v FROM generate_series(1, 1001) AS i) AS s;
SELECT rtbench.hodges_lehmann(v), rtbench.median(v), low, high
FROM (SELECT array_agg((i::bigint * 7919) % 1000001)::float8[] AS v FROM generate_series(1, 1000000) AS i) AS s, rtbench.signed_rank_interval(v);
-- extremes do not overflow
SELECT rtbench.hodges_lehmann('{1.7e308,1.7e308,1.6e308}') AS hl, rtbench.median('{1.7e308,1.7e308}'), rtbench.quantile('{-1.7e308,1.7e308}', 0.5);

-- R: quantile(v12, c(0, .1, .25, .5, .9, 1), type = 7); mad(v12, constant = 1); acf(v20, plot = FALSE)$acf[2]
SELECT array_agg(round(rtbench.quantile(v, q)::numeric, 12)) AS quantiles, round(rtbench.mad(v)::numeric, 12) AS mad
FROM vectors, unnest(ARRAY[0, 0.1, 0.25, 0.5, 0.9, 1]::float8[]) AS q WHERE name = 'v12' GROUP BY v;
SELECT round(rtbench.autocorrelation(v)::numeric, 12) FROM vectors WHERE name = 'v20';
SELECT rtbench.autocorrelation('{1}') AS one, rtbench.autocorrelation('{3,3,3}') AS constant, rtbench.autocorrelation('{1,2}') AS two;
SELECT rtbench.median('{3,1,2}') AS odd, rtbench.median('{4,1,3,2}') AS even, rtbench.median('{5}') AS one;

-- beyond Q3 + 3 (Q3 - Q1), and not on it: of 1..8 and x the quartiles are 3 and 7
SELECT rtbench.outliers('{1,2,3,4,5,6,7,8,19}') AS on_it, rtbench.outliers('{1,2,3,4,5,6,7,8,19.1}') AS beyond,
       rtbench.outliers('{-1000,1,2,3,4,5,6,7,8}') AS below, rtbench.outliers('{}') AS empty, rtbench.outliers('{1,1,1,1,1,1,1,1,2}') AS no_spread;

-- R: median of (y[j]-y[i])/(x[j]-x[i]), i < j; cor.test(x, y, method = "kendall")[c("estimate", "p.value")]
SELECT rtbench.theil_sen(x, y), round(tau::numeric, 12) AS tau, round(p_value::numeric, 12) AS p
FROM (VALUES ('{1,2,3,4,5,6,7,8,9,10}'::float8[], '{2.1,3.9,6.2,7.8,10.1,40,13.9,16.2,17.8,20.1}'::float8[])) AS d(x, y), rtbench.kendall(x, y);
SELECT round(tau::numeric, 12) AS tau, round(p_value::numeric, 12) AS p
FROM vectors, rtbench.kendall(v, (SELECT array_agg(i)::float8[] FROM generate_series(1, 20) AS i)) WHERE name = 'v20';
-- ties: cor.test(..., exact = FALSE)
SELECT round(tau::numeric, 12) AS tau, round(p_value::numeric, 12) AS p
FROM rtbench.kendall('{1,1,2,2,3,3,4,5,5,6}', '{3,1,2,2,5,4,4,6,7,7}');
-- 60 values: y <- (1:60*37) %% 61 + 1:60/3
SELECT round(tau::numeric, 12) AS tau, round(p_value::numeric, 12) AS p
FROM (SELECT array_agg(i)::float8[] AS x, array_agg((i * 37) % 61 + i / 3.0::float8)::float8[] AS y FROM generate_series(1, 60) AS i) AS d, rtbench.kendall(x, y);
SELECT rtbench.kendall('{1,2,3}', '{1,2,3}') AS up, rtbench.kendall('{1,2,3}', '{3,2,1}') AS down, rtbench.kendall('{1,2}', '{5,5}') AS flat, rtbench.kendall('{1}', '{1}') AS one;
-- equal x have no slope
SELECT rtbench.theil_sen('{1,1,2}', '{1,5,5}') AS two_slopes, rtbench.theil_sen('{1,1}', '{1,2}') AS none, rtbench.theil_sen('{}', '{}') AS empty;
-- long: y <- 3 * 1:1001 + ((1:1001)*389) %% 1009; median of all slopes
SELECT round(rtbench.theil_sen(x, y)::numeric, 12)
FROM (SELECT array_agg(i)::float8[] AS x, array_agg(3 * i + (i * 389) % 1009)::float8[] AS y FROM generate_series(1, 1001) AS i) AS d;
-- pairs of equal x are left out of a long array too
SELECT round(rtbench.theil_sen(x, y)::numeric, 9) AS slope, rtbench.theil_sen(array_fill(1::float8, '{2000}'), y) AS none
FROM (SELECT array_agg(i / 2)::float8[] AS x, array_agg(i / 2 * 5 - 7 + i % 2)::float8[] AS y FROM generate_series(1, 2000) AS i) AS d;

SELECT rtbench.round_significant(x, d) FROM (VALUES (12345.678, 3), (0.00123456, 3), (15.0, 3), (9.996, 3), (0, 3), (-1.5861, 3), (7, 1), ('NaN', 3), ('Infinity', 3)) AS r(x, d);

-- what cannot be known is NULL
SELECT rtbench.median('{}') AS median, rtbench.quantile('{}', 0.5) AS quantile, rtbench.mad('{}') AS mad, rtbench.hodges_lehmann('{}') AS hl,
       rtbench.signed_rank_interval('{}') AS interval, rtbench.median(NULL) AS strict;
-- what makes no sense is an error
DO $do$
DECLARE
	bad text;
	state text; message text; detail text; hint text;
BEGIN
	FOREACH bad IN ARRAY ARRAY[
		$$rtbench.median('{1,NULL}')$$, $$rtbench.median('{1,NaN}')$$, $$rtbench.hodges_lehmann('{1,Infinity}')$$, $$rtbench.median('{{1,2},{3,4}}')$$,
		$$rtbench.quantile('{1}', 1.5)$$, $$rtbench.quantile('{1}', 'NaN')$$, $$rtbench.signed_rank_interval('{1,2}', 99)$$, $$rtbench.signed_rank_critical(10, 0)$$,
		$$rtbench.signed_rank_critical(10, 1)$$, $$rtbench.signed_rank_critical(-1, 0.99)$$, $$rtbench.theil_sen('{1,2}', '{1}')$$,
		$$rtbench.theil_sen('{1,2}', '{-1.7e308,1.7e308}')$$, $$rtbench.kendall('{1}', '{1,2}')$$, $$rtbench.round_significant(1, 0)$$, $$rtbench.round_significant(1, 18)$$]
	LOOP
		BEGIN
			EXECUTE 'SELECT ' || bad;
			RAISE NOTICE '%: no error', bad;
		EXCEPTION WHEN OTHERS THEN
			GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
			RAISE INFO '%: % % % %', bad, state, message, detail, hint;
		END;
	END LOOP;
END
$do$;
-- an array that does not begin at 1 is an array
SELECT rtbench.median('[0:2]={3,1,2}'::float8[]);

-- every function says what it is, and is immutable, strict and parallel safe
SELECT count(*) > 10 AS some, bool_and(provolatile = 'i' AND proisstrict AND proparallel = 's') AS safe, bool_and(obj_description(oid, 'pg_proc') IS NOT NULL) AS told
FROM pg_proc WHERE pronamespace = 'rtbench'::regnamespace AND prosrc LIKE 'rtb_sql_%' AND prosrc ~ 'median|quantile|mad|outliers|autocorrelation|hodges|signed_rank|theil|kendall|round';
