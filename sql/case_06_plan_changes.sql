-- A prepared statement whose sixth execution gets a generic plan that is worse: fewer executions measure another plan.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
SET jit = off;
SET max_parallel_workers_per_gather = 0;

-- half of the items belong to one tenant, which the generic plan takes for an average one
SELECT rtbench.create_scenario('plan_changes', swept => 'n', points => '{5,8}', setup => $$
	CREATE TABLE item (id int PRIMARY KEY, tenant int NOT NULL, pad text);
	CREATE TABLE detail (item_id int NOT NULL, amount int, pad text);
	INSERT INTO item SELECT g, CASE WHEN g % 2 = 0 THEN 1 ELSE 2 + g % 600 END, repeat('x', 60) FROM generate_series(1, 4000) g ORDER BY md5(g::text);
	INSERT INTO detail SELECT 1 + (g::bigint * 7919) % 4000, g % 100, repeat('y', 60) FROM generate_series(1, 8000) g ORDER BY md5(g::text);
	CREATE INDEX ON item (tenant);
	CREATE INDEX ON detail (item_id);
$$);
CREATE FUNCTION pg_temp.loop() RETURNS jsonb LANGUAGE sql AS $$
	SELECT rtbench.foreach('SELECT 1 FROM generate_series(1, :n)',
		'SELECT sum(d.amount) FROM item i JOIN detail d ON d.item_id = i.id WHERE i.tenant = $1')
$$;
SELECT rtbench.add_arm('plan_changes', arm) FROM unnest(ARRAY[
	rtbench.arm('prepared', pg_temp.loop()),
	rtbench.arm('custom', before => 'SET LOCAL plan_cache_mode = force_custom_plan', steps => ARRAY[pg_temp.loop()]),
	rtbench.arm('kept', plans => 'kept', steps => ARRAY[pg_temp.loop()]),
	rtbench.arm('by_sql',
		rtbench.step('PREPARE q (int) AS SELECT sum(d.amount) FROM item i JOIN detail d ON d.item_id = i.id WHERE i.tenant = $1'),
		rtbench.generated('SELECT ''EXECUTE q (1)'' FROM generate_series(1, :n)')),
	rtbench.arm('unprepared',
		rtbench.generated('SELECT ''SELECT sum(d.amount) FROM item i JOIN detail d ON d.item_id = i.id WHERE i.tenant = 1'' FROM generate_series(1, :n)'))]) arm;
SELECT count(*) AS rows FROM rtbench.sweep('plan_changes', rounds => 2);

-- every pass starts without plans, so that each shows five custom ones first, whoever prepares; kept plans have changed
-- before they are timed
SELECT point, arm, statements, substring(plan_shape FROM '(\d+) x Aggregate -> Hash Join') AS hash_joins,
	   substring(plan_shape FROM '(\d+) x Aggregate -> Nested Loop') AS nested_loops, verdict = 'not comparable' AS not_comparable
FROM rtbench.result();

-- the change is named, with what an execution takes before and after
SELECT point, arm, coalesce(notes ~ 'step 2 changed from custom to generic plan at execution 6: [0-9.]+ [um]?s an execution before, [0-9.]+ [um]?s after; fewer executions measure another plan',
				false) AS change_told,
	   coalesce(notes ~ 'plans kept from earlier passes', false) AS kept_told
FROM rtbench.result();
SELECT point, arm, step, calls, custom_plans, generic_plans, first_us > 0 AS first, later_us > 0 AS later,
	   custom_us > 0 AS under_custom, generic_us > 0 AS under_generic
FROM rtbench.step_result();

SELECT rtbench.drop_scenario('plan_changes');
