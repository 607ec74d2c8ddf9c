-- A statement whose planning takes far longer than its execution: the same change of plan as in case_06, and the
-- opposite advice.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
SET join_collapse_limit = 9;
SET geqo = off;
SET jit = off;

SELECT rtbench.create_scenario('planning_dominates', swept => 'n', points => '{12}', setup => $$
	DO $do$
	BEGIN
		FOR k IN 1..9 LOOP
			EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, next int, a text)', k);
			EXECUTE format('INSERT INTO t%s SELECT g, 1 + (g * 31) %% 500, md5(g::text) FROM generate_series(1, 500) g', k);
			EXECUTE format('CREATE INDEX ON t%s (next)', k);
		END LOOP;
	END
	$do$
$$);
SELECT 'SELECT t1.a, t9.a FROM t1 ' || string_agg(format('JOIN t%s ON t%1$s.id = t%s.next', k, k - 1), ' ' ORDER BY k)
	   || ' WHERE t1.id ' AS query FROM generate_series(2, 9) k \gset
CREATE FUNCTION pg_temp.loop(query text) RETURNS jsonb LANGUAGE sql AS $$
	SELECT rtbench.foreach('SELECT i FROM generate_series(1, :n) i', query || '= $1')
$$;
SELECT rtbench.add_arm('planning_dominates', arm) FROM unnest(ARRAY[
	rtbench.arm('text_each_time', rtbench.generated(format('SELECT %L || i FROM generate_series(1, :n) i', :'query' || '= '))),
	rtbench.arm('prepared', pg_temp.loop(:'query')),
	rtbench.arm('custom', before => 'SET LOCAL plan_cache_mode = force_custom_plan', steps => ARRAY[pg_temp.loop(:'query')]),
	rtbench.arm('generic', before => 'SET LOCAL plan_cache_mode = force_generic_plan', steps => ARRAY[pg_temp.loop(:'query')]),
	rtbench.arm('kept', plans => 'kept', steps => ARRAY[pg_temp.loop(:'query')]),
	rtbench.arm('one_query', :'query' || '<= :n')]) arm;
SELECT count(*) AS rows FROM rtbench.sweep('planning_dominates', rounds => 2);

SELECT arm, round_trips, statements, rows, digest = first_value(digest) OVER () AS same_rows, checked,
	   verdict = 'not comparable' AS not_comparable, coalesce(notes ~ 'changed from custom to generic plan at execution 6', false) AS change_told,
	   coalesce(notes ~ 'plans kept from earlier passes', false) AS kept_told
FROM rtbench.result();

-- the first execution beside the others, those under custom plans beside those under the generic one
SELECT arm, step, calls, first_us > 0 AS first, later_us > 0 AS later, custom_plans, generic_plans,
	   custom_us > 3 * generic_us AS planning_saved
FROM rtbench.step_result() WHERE step = 2 OR arm IN ('text_each_time', 'one_query');

SELECT rtbench.drop_scenario('planning_dominates');
