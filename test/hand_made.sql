-- Runs made by hand, for tests: sourced by sql/*.sql, as the role that is to keep them.

-- a run of these arms, the first the baseline
CREATE FUNCTION pg_temp.keep(label text, arms text[], points bigint[] DEFAULT '{}', machine jsonb DEFAULT '{}')
RETURNS bigint LANGUAGE sql AS $$
	INSERT INTO rtbench.runs (label, scenario, transport, scope, arms, descriptions, points, swept, baseline, margin, seed, started_at,
		finished_at, complete, server_version, options, settings, machine, documents)
	VALUES (label, 'compare', 'worker', 'this backend only', arms, array_fill(NULL::text, ARRAY[cardinality(arms)]), points,
		CASE WHEN points <> '{}' THEN 'n' END, arms[1], 0.02, 42, '2026-01-01', '2026-01-01', true, '15', '{}', '{}', machine, '{}')
	RETURNING run
$$;
CREATE TEMP SEQUENCE ordinals;
-- a pass with what is usual for one unless told otherwise
CREATE FUNCTION pg_temp.usual(run bigint, kind text, round int, arm text, told jsonb)
RETURNS rtbench.passes LANGUAGE sql AS $$
	SELECT jsonb_populate_record(NULL::rtbench.passes, jsonb_build_object('run', run, 'pass', nextval('ordinals'),
		'session', 1, 'round', round, 'position', 1, 'kind', kind, 'control', false, 'arm', arm, 'repetitions', 1, 'below_resolution', false,
		'round_trips', 10, 'statements', 10, 'fired', 0, 'loop_queries', 0, 'rows', 200, 'plannings', 10, 'buffers_hit', 900, 'buffers_read', 100,
		'wal_records', 400, 'wal_fpi', 0, 'wal_bytes', 40000, 'xids', 1, 'plan_shape', '10 x Delete(t) -> Index Scan(t_pkey)', 'fired_shape', '') || told)
$$;
CREATE FUNCTION pg_temp.pass(run bigint, kind text, round int, arm text, told jsonb)
RETURNS void LANGUAGE sql AS $$
	INSERT INTO rtbench.passes SELECT p.* FROM pg_temp.usual(run, kind, round, arm, told) AS p
$$;
-- two pilot passes, then a timed pass for each time in ms, the last digested;
-- told goes to all of them, round_told to the timed passes of single rounds
CREATE FUNCTION pg_temp.passes(run bigint, arm text, times float8[], told jsonb DEFAULT '{}', round_told jsonb DEFAULT '{}', digest text DEFAULT 'd0')
RETURNS void LANGUAGE sql AS $$
	INSERT INTO rtbench.passes
	SELECT p.* FROM generate_series(-1, cardinality(times)) AS r,
		LATERAL pg_temp.usual(run, CASE WHEN r <= 0 THEN 'pilot' WHEN r < cardinality(times) THEN 'timed' ELSE 'last' END, greatest(r, 0), arm,
			jsonb_build_object('elapsed_ns', CASE WHEN r <= 0 THEN 9999999 ELSE (times[r] * 1000000)::bigint END,
				'cpu_ns', CASE WHEN r > 0 THEN (times[r] * 900000)::bigint END, 'digest', CASE WHEN r <= 0 OR r = cardinality(times) THEN digest END)
			|| told || CASE WHEN r > 0 THEN coalesce(round_told -> r::text, '{}') ELSE '{}' END) AS p
	ORDER BY r
$$;
-- n rounds about a time in ms, scattered by as much as spread; each phase scatters in its own way
CREATE FUNCTION pg_temp.about(ms float8, n int DEFAULT 20, spread float8 DEFAULT 0.01, phase int DEFAULT 0)
RETURNS float8[] LANGUAGE sql IMMUTABLE AS $$
	SELECT array_agg(ms * exp(spread * ((r * r * 31 + r * (phase + 1) * 57 + 13) * 7919 % 1009 - 504) / 504.0) ORDER BY r) FROM generate_series(1, n) AS r
$$;
