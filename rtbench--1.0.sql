/* rtbench--1.0.sql */

-- complain if script is sourced in psql, rather than via CREATE EXTENSION
\echo Use "CREATE EXTENSION rtbench" to load this file. \quit

--
-- Arithmetic: pure functions on arrays (stats.c)
--
CREATE FUNCTION rtbench.median(float8[])
RETURNS float8
AS 'MODULE_PATHNAME', 'rtb_sql_median'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.median(float8[]) IS
'Median; NULL of an empty array.';

CREATE FUNCTION rtbench.quantile(float8[], fraction float8)
RETURNS float8
AS 'MODULE_PATHNAME', 'rtb_sql_quantile'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.quantile(float8[], float8) IS
'Quantile of type 7, as percentile_cont() and R have it; NULL of an empty array.';

CREATE FUNCTION rtbench.mad(float8[])
RETURNS float8
AS 'MODULE_PATHNAME', 'rtb_sql_mad'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.mad(float8[]) IS
'Median absolute deviation from the median, not scaled (1.4826 times it estimates a standard deviation); NULL of an empty array.';

CREATE FUNCTION rtbench.outliers(float8[])
RETURNS int
AS 'MODULE_PATHNAME', 'rtb_sql_outliers'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.outliers(float8[]) IS
'Number of values beyond Q3 + 3 (Q3 - Q1).';

CREATE FUNCTION rtbench.autocorrelation(float8[])
RETURNS float8
AS 'MODULE_PATHNAME', 'rtb_sql_autocorrelation'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.autocorrelation(float8[]) IS
'Autocorrelation at lag 1; NULL of fewer than two values or values that are all the same.';

CREATE FUNCTION rtbench.hodges_lehmann(float8[])
RETURNS float8
AS 'MODULE_PATHNAME', 'rtb_sql_hodges_lehmann'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.hodges_lehmann(float8[]) IS
'Hodges-Lehmann estimate: the median of all (x_i + x_j) / 2, i <= j; NULL of an empty array.';

CREATE FUNCTION rtbench.signed_rank_critical(n int, level float8 DEFAULT 0.99)
RETURNS bigint
AS 'MODULE_PATHNAME', 'rtb_sql_signed_rank_critical'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.signed_rank_critical(int, float8) IS
'Largest c with P(V <= c) <= (1 - level) / 2 for the Wilcoxon signed-rank statistic of n units: exact up to 60 units, then by the normal approximation; NULL if there is none.';

CREATE FUNCTION rtbench.signed_rank_interval(float8[], level float8 DEFAULT 0.99, OUT low float8, OUT high float8)
AS 'MODULE_PATHNAME', 'rtb_sql_signed_rank_interval'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.signed_rank_interval(float8[], float8) IS
'Interval of the Hodges-Lehmann estimate by the Wilcoxon signed-rank test, zeros and ties kept; NULL if the values are too few for the level.';

CREATE FUNCTION rtbench.theil_sen(x float8[], y float8[])
RETURNS float8
AS 'MODULE_PATHNAME', 'rtb_sql_theil_sen'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.theil_sen(float8[], float8[]) IS
'Theil-Sen slope of y on x: the median of the slopes of all pairs; NULL if all x are the same.';

CREATE FUNCTION rtbench.kendall(x float8[], y float8[], OUT tau float8, OUT p_value float8)
AS 'MODULE_PATHNAME', 'rtb_sql_kendall'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.kendall(float8[], float8[]) IS
'Kendall''s tau-b and its two-sided p-value (exact below 50 values without ties); NULL if all x or all y are the same.';

CREATE FUNCTION rtbench.round_significant(float8, digits int)
RETURNS numeric
AS 'MODULE_PATHNAME', 'rtb_sql_round_significant'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.round_significant(float8, int) IS
'The number rounded to so many significant digits.';

--
-- Digests (digest.c)
--
CREATE FUNCTION rtbench.digest(query text, OUT rows bigint, OUT digest text,
	OUT columns text[], OUT column_digests text[])
RETURNS record
AS 'MODULE_PATHNAME', 'rtb_sql_digest'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION rtbench.digest(text) IS
'digest of the rows a query returns: whatever their order, equal digests mean equal rows, duplicates counted; run as the calling role';

CREATE FUNCTION rtbench.digest_compare(query_a text, query_b text, OUT equal boolean,
	OUT rows_a bigint, OUT rows_b bigint, OUT only_a bigint, OUT only_b bigint,
	OUT differing_columns text[])
RETURNS record
AS 'MODULE_PATHNAME', 'rtb_sql_digest_compare'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION rtbench.digest_compare(text, text) IS
'do two queries return the same rows, whatever their order? If not: the columns that differ, by position, and how many rows each has alone';

CREATE FUNCTION rtbench.digest_tables(VARIADIC tables regclass[], OUT rows bigint, OUT digest text,
	OUT columns text[], OUT column_digests text[])
RETURNS record
AS 'MODULE_PATHNAME', 'rtb_sql_digest_tables'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;

COMMENT ON FUNCTION rtbench.digest_tables(regclass[]) IS
'one digest of all rows and columns of several tables, in which their names count; column "table.*" stands for whole rows';

CREATE FUNCTION rtbench.digest_text_rows(text_rows text[], OUT rows bigint, OUT digest text,
	OUT columns text[], OUT column_digests text[])
RETURNS record
AS 'MODULE_PATHNAME', 'rtb_sql_digest_text_rows'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

COMMENT ON FUNCTION rtbench.digest_text_rows(text[]) IS
'digest of rows given as their columns'' text forms, an array for each row: the same as rtbench.digest of the rows they were written from';

--
-- Definitions: scenarios, arms, steps (scenario.c)
--
CREATE TABLE rtbench.scenario_definitions (
	id bigint GENERATED BY DEFAULT AS IDENTITY (START WITH 1000) PRIMARY KEY,
	owner regrole,
	builtin boolean NOT NULL DEFAULT false,
	name text NOT NULL,
	description text,
	setup text,
	check_query text,
	swept text,
	points bigint[],
	parameters jsonb NOT NULL DEFAULT '{}',
	CHECK (builtin = (owner IS NULL)),
	UNIQUE (owner, name)
);
CREATE UNIQUE INDEX scenario_definitions_builtin_idx
	ON rtbench.scenario_definitions (name) WHERE builtin;
COMMENT ON TABLE rtbench.scenario_definitions IS
	'scenarios as defined; built-in ones have no owner and ids below 1000';

CREATE TABLE rtbench.arm_definitions (
	scenario bigint NOT NULL REFERENCES rtbench.scenario_definitions ON DELETE CASCADE,
	"position" int NOT NULL,
	document jsonb NOT NULL,
	PRIMARY KEY (scenario, "position")
);
CREATE UNIQUE INDEX arm_definitions_name_idx
	ON rtbench.arm_definitions (scenario, (document ->> 'arm'));
COMMENT ON TABLE rtbench.arm_definitions IS
	'arms of scenarios, in order: documents as rtbench.arm() makes them';

ALTER TABLE rtbench.scenario_definitions ENABLE ROW LEVEL SECURITY;
CREATE POLICY see ON rtbench.scenario_definitions FOR SELECT
	USING (builtin OR pg_has_role(owner, 'MEMBER'));
CREATE POLICY add_own ON rtbench.scenario_definitions FOR INSERT
	WITH CHECK (owner = quote_ident(current_user)::regrole AND NOT builtin);
CREATE POLICY change_own ON rtbench.scenario_definitions FOR UPDATE
	USING (owner = quote_ident(current_user)::regrole)
	WITH CHECK (owner = quote_ident(current_user)::regrole AND NOT builtin);
CREATE POLICY drop_own ON rtbench.scenario_definitions FOR DELETE
	USING (owner = quote_ident(current_user)::regrole);

ALTER TABLE rtbench.arm_definitions ENABLE ROW LEVEL SECURITY;
CREATE POLICY see ON rtbench.arm_definitions FOR SELECT
	USING (EXISTS (SELECT FROM rtbench.scenario_definitions d WHERE d.id = scenario));
CREATE POLICY change_own ON rtbench.arm_definitions
	USING (EXISTS (SELECT FROM rtbench.scenario_definitions d
				   WHERE d.id = scenario AND d.owner = quote_ident(current_user)::regrole));

GRANT USAGE ON SCHEMA rtbench TO PUBLIC;
-- ids are always the next ones: nobody can take one that is to be another's
GRANT SELECT, DELETE,
	INSERT (owner, builtin, name, description, setup, check_query, swept, points, parameters),
	UPDATE (owner, builtin, name, description, setup, check_query, swept, points, parameters)
	ON rtbench.scenario_definitions TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON rtbench.arm_definitions TO PUBLIC;

-- A dump keeps what roles defined; the built-in ones come with the extension.
-- What a dropped role left stays behind: it has a number for an owner, which
-- may be another role where the dump is restored.
SELECT pg_extension_config_dump('rtbench.scenario_definitions',
	'WHERE NOT builtin AND owner::pg_catalog.oid IN (SELECT oid FROM pg_catalog.pg_roles)');
SELECT pg_extension_config_dump('rtbench.scenario_definitions_id_seq', '');
SELECT pg_extension_config_dump('rtbench.arm_definitions',
	'WHERE scenario IN (SELECT id FROM rtbench.scenario_definitions
						WHERE NOT builtin AND owner::pg_catalog.oid IN (SELECT oid FROM pg_catalog.pg_roles))');

CREATE VIEW rtbench.scenarios WITH (security_invoker) AS
	SELECT CASE WHEN d.builtin OR d.owner = quote_ident(current_user)::regrole THEN d.name
				ELSE d.owner::text || '.' || d.name END AS scenario,
		   d.owner,
		   d.builtin,
		   d.swept,
		   d.points,
		   d.parameters,
		   ARRAY(SELECT a.document ->> 'arm' FROM rtbench.arm_definitions a
				 WHERE a.scenario = d.id ORDER BY a."position") AS arms,
		   d.description
	FROM rtbench.scenario_definitions d;
COMMENT ON VIEW rtbench.scenarios IS 'scenarios that the current role may use, by the name it uses';
COMMENT ON COLUMN rtbench.scenarios.scenario IS 'the name to give to rtbench''s functions';
COMMENT ON COLUMN rtbench.scenarios.swept IS 'the parameter whose values are the points';
COMMENT ON COLUMN rtbench.scenarios.parameters IS 'the parameters'' default values';

CREATE VIEW rtbench.arms WITH (security_invoker) AS
	SELECT CASE WHEN d.builtin OR d.owner = quote_ident(current_user)::regrole THEN d.name
				ELSE d.owner::text || '.' || d.name END AS scenario,
		   a."position",
		   a.document ->> 'arm' AS arm,
		   a.document ->> 'description' AS description,
		   a.document
	FROM rtbench.arm_definitions a JOIN rtbench.scenario_definitions d ON d.id = a.scenario;
COMMENT ON VIEW rtbench.arms IS 'arms of the scenarios that the current role may use';
GRANT SELECT ON rtbench.scenarios, rtbench.arms TO PUBLIC;

CREATE FUNCTION rtbench.step(statement text, types text[] DEFAULT NULL, plans text DEFAULT NULL,
		subtransaction text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_step';
COMMENT ON FUNCTION rtbench.step(text, text[], text, text) IS
	'a step: a text sent as one message; types fixes the types of $1 ..., plans is ''fresh'' or ''kept'', subtransaction around each execution is ''none'', ''internal'' (begun and released in C) or ''savepoint'' (SAVEPOINT and RELEASE sent as statements)';

-- Texts have a form of their own, because literals without a type prefer it;
-- everything else comes to the second form, which names what is wrong.
CREATE FUNCTION rtbench.foreach(driver text, VARIADIC body text[])
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach';
COMMENT ON FUNCTION rtbench.foreach(text, text[]) IS
	'a step: for each row of the driver query, the statements of the body, with the row''s columns as $1 ...';

CREATE FUNCTION rtbench.foreach(driver text, VARIADIC body "any")
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach';
COMMENT ON FUNCTION rtbench.foreach(text, "any") IS
	'a step: for each row of the driver query, the steps of the body, with the row''s columns as $1 ...';

CREATE FUNCTION rtbench.foreach(driver text, body jsonb[], commit_every bigint)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(text, jsonb[], bigint) IS
	'a loop that commits after every so many rows of its driver, in an arm with ending => ''commit''';

CREATE FUNCTION rtbench.foreach(driver text, body jsonb[], commit_every text)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(text, jsonb[], text) IS
	'a loop that commits after every so many rows of its driver, the number being a parameter, '':name''';

-- "character" only so that arrays of texts without a type mean these
CREATE FUNCTION rtbench.foreach(driver character, body text[], commit_every bigint)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(character, text[], bigint) IS
	'a loop of statements that commits after every so many rows of its driver';

CREATE FUNCTION rtbench.foreach(driver character, body text[], commit_every text)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(character, text[], text) IS
	'a loop of statements that commits after every so many rows of its driver, the number being a parameter, '':name''';

CREATE FUNCTION rtbench.generated(query text)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_generated';
COMMENT ON FUNCTION rtbench.generated(text) IS
	'a step: each value that the query returns is the text of a statement to send, as with psql''s \gexec';

-- Texts have a form of their own, because literals without a type prefer it;
-- everything else comes to the second form, which names what is wrong.
CREATE FUNCTION rtbench.arm(name text, VARIADIC statements text[])
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_arm';
COMMENT ON FUNCTION rtbench.arm(text, text[]) IS 'an arm of statements';

CREATE FUNCTION rtbench.arm(name text, VARIADIC steps "any")
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_arm';
COMMENT ON FUNCTION rtbench.arm(text, "any") IS
	'an arm of steps, made by rtbench.step(), rtbench.foreach() and rtbench.generated()';

CREATE FUNCTION rtbench.arm(name text, steps jsonb[], description text DEFAULT NULL,
		ending text DEFAULT 'rollback', before text DEFAULT NULL, plans text DEFAULT 'fresh')
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_arm_with_options';
COMMENT ON FUNCTION rtbench.arm(text, jsonb[], text, text, text, text) IS
	'an arm of steps, with options: before runs untimed in the pass''s transaction, plans ''kept'' keeps its statements prepared';

-- "character" only so that VARIADIC ARRAY['...'] means the first form and not this
CREATE FUNCTION rtbench.arm(name character, steps text[], description text DEFAULT NULL,
		ending text DEFAULT 'rollback', before text DEFAULT NULL, plans text DEFAULT 'fresh')
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_arm_with_options';
COMMENT ON FUNCTION rtbench.arm(character, text[], text, text, text, text) IS
	'an arm of statements, with options';

CREATE FUNCTION rtbench.create_scenario(name text, setup text, check_query text DEFAULT NULL,
		swept text DEFAULT NULL, points bigint[] DEFAULT NULL, parameters jsonb DEFAULT '{}',
		description text DEFAULT NULL, replace boolean DEFAULT false)
	RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'rtb_create_scenario';
COMMENT ON FUNCTION rtbench.create_scenario(text, text, text, text, bigint[], jsonb, text, boolean) IS
	'define a scenario of the current role''s; replace defines it anew, without its arms';

CREATE FUNCTION rtbench.add_arm(scenario text, arm jsonb)
	RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'rtb_add_arm';
COMMENT ON FUNCTION rtbench.add_arm(text, jsonb) IS 'add an arm to a scenario of the current role''s';

CREATE FUNCTION rtbench.drop_scenario(name text)
	RETURNS void LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'rtb_drop_scenario';
COMMENT ON FUNCTION rtbench.drop_scenario(text) IS 'drop a scenario of the current role''s, with its arms';

CREATE FUNCTION rtbench.show_scenario(name text, point bigint DEFAULT NULL,
		OUT part text, OUT step int, OUT statement text)
	RETURNS SETOF record LANGUAGE c VOLATILE PARALLEL UNSAFE
	AS 'MODULE_PATHNAME', 'rtb_show_scenario';
COMMENT ON FUNCTION rtbench.show_scenario(text, bigint) IS
	'the SQL that a scenario runs at a point (the first one unless given), parameters filled in, bodies of loops indented';

--
-- What is kept: runs and their raw passes (ledger.c)
--
CREATE FUNCTION rtbench.next_run()
RETURNS bigint
AS 'MODULE_PATHNAME', 'rtb_next_run' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.next_run() IS
'the id of the run that is being kept: what rtbench.runs takes by default';

CREATE TABLE rtbench.runs (
	run bigint DEFAULT rtbench.next_run() PRIMARY KEY,
	owner regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
	label text,
	scenario text NOT NULL,
	transport text NOT NULL,
	scope text NOT NULL,
	arms text[] NOT NULL,
	descriptions text[] NOT NULL,
	points bigint[] NOT NULL,
	swept text,
	baseline text NOT NULL,
	margin float8 NOT NULL,
	max_time interval,
	seed bigint NOT NULL,
	started_at timestamptz NOT NULL,
	finished_at timestamptz,
	complete boolean NOT NULL,
	server_version text NOT NULL,
	options jsonb NOT NULL,
	settings jsonb NOT NULL,
	machine jsonb NOT NULL,
	documents jsonb NOT NULL
);

CREATE SEQUENCE rtbench.runs_run_seq OWNED BY rtbench.runs.run;
COMMENT ON SEQUENCE rtbench.runs_run_seq IS
'Ids of runs: a run has its id from its start.';

CREATE TABLE rtbench.passes (
	run bigint NOT NULL REFERENCES rtbench.runs ON DELETE CASCADE,
	pass int NOT NULL,
	session int NOT NULL,
	round int NOT NULL,
	"position" int NOT NULL,
	kind text NOT NULL CHECK (kind IN ('discovery', 'pilot', 'warmup', 'timed', 'last', 'closing')),
	control boolean NOT NULL,
	point bigint,
	arm text NOT NULL,
	elapsed_ns bigint,
	cpu_ns bigint,
	repetitions bigint,
	below_resolution boolean NOT NULL,
	round_trips bigint,
	statements bigint,
	fired bigint,
	loop_queries bigint,
	rows bigint,
	plannings bigint,
	buffers_hit bigint,
	buffers_read bigint,
	wal_records bigint,
	wal_fpi bigint,
	wal_bytes bigint,
	xids bigint,
	transactions bigint,
	commit_ns bigint,
	subxact_overflowed boolean,
	updates bigint,
	hot_updates bigint,
	catalog_reads bigint,
	plan_shape text,
	fired_shape text,
	digest text,
	returned text,
	sqlstate text,
	message text,
	failed_step int,
	failed_statement bigint,
	PRIMARY KEY (run, pass)
);

CREATE TABLE rtbench.findings (
	run bigint NOT NULL REFERENCES rtbench.runs ON DELETE CASCADE,
	number int NOT NULL,
	point bigint,
	arm text,
	finding text NOT NULL CHECK (finding IN ('note', 'checked', 'unstable', 'different', 'unreadable')),
	detail text NOT NULL,
	PRIMARY KEY (run, number)
);

CREATE TABLE rtbench.steps (
	run bigint NOT NULL REFERENCES rtbench.runs ON DELETE CASCADE,
	point bigint,
	arm text NOT NULL,
	step int NOT NULL,
	statement text NOT NULL,
	calls bigint NOT NULL,
	first_ns bigint,
	later_ns bigint,
	custom_plans bigint,
	generic_plans bigint,
	custom_ns bigint,
	generic_ns bigint
);
CREATE INDEX steps_run_idx ON rtbench.steps (run);

COMMENT ON TABLE rtbench.runs IS
'Runs that are kept: what was asked for, where, and with what settings. Each role sees its own.';
COMMENT ON TABLE rtbench.passes IS
'Every pass of every run as it was measured: times and work of one repetition.';
COMMENT ON TABLE rtbench.findings IS
'What was found beside the figures: what was checked, which arms differ and how.';
COMMENT ON TABLE rtbench.steps IS
'Times per execution of each step, from one untimed pass of each arm.';

-- a role keeps and sees its own runs, and what belongs to them
ALTER TABLE rtbench.runs ENABLE ROW LEVEL SECURITY;
ALTER TABLE rtbench.passes ENABLE ROW LEVEL SECURITY;
ALTER TABLE rtbench.findings ENABLE ROW LEVEL SECURITY;
ALTER TABLE rtbench.steps ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON rtbench.runs
	USING (owner = quote_ident(current_user)::regrole);
CREATE POLICY own ON rtbench.passes
	USING (EXISTS (SELECT FROM rtbench.runs AS r
				   WHERE r.run = passes.run AND r.owner = quote_ident(current_user)::regrole));
CREATE POLICY own ON rtbench.findings
	USING (EXISTS (SELECT FROM rtbench.runs AS r
				   WHERE r.run = findings.run AND r.owner = quote_ident(current_user)::regrole));
CREATE POLICY own ON rtbench.steps
	USING (EXISTS (SELECT FROM rtbench.runs AS r
				   WHERE r.run = steps.run AND r.owner = quote_ident(current_user)::regrole));

SELECT pg_catalog.pg_extension_config_dump('rtbench.runs', '');
SELECT pg_catalog.pg_extension_config_dump('rtbench.runs_run_seq', '');
SELECT pg_catalog.pg_extension_config_dump('rtbench.passes', '');
SELECT pg_catalog.pg_extension_config_dump('rtbench.findings', '');
SELECT pg_catalog.pg_extension_config_dump('rtbench.steps', '');

--
-- Results: verdicts recomputed from the passes (judge.c, result.c)
--
CREATE TYPE rtbench.verdict AS (
	point bigint,
	arm text,
	statements bigint,
	median_ms numeric,
	us_per_statement numeric,
	buffers bigint,
	speedup numeric,
	low numeric,
	high numeric,
	verdict text
);
COMMENT ON TYPE rtbench.verdict IS
'One arm at one point, as narrow as a terminal: what it asks, what it takes, how it stands beside the baseline.';

CREATE FUNCTION rtbench.result(run bigint DEFAULT NULL)
RETURNS TABLE (
	run bigint,
	point bigint,
	arm text,
	description text,
	round_trips bigint,
	statements bigint,
	fired bigint,
	rows bigint,
	passes int,
	rounds int,
	sessions int,
	first_ms numeric,
	median_ms numeric,
	mean_ms numeric,
	best_ms numeric,
	stddev_ms numeric,
	cpu_ms numeric,
	us_per_statement numeric,
	us_per_row numeric,
	buffers bigint,
	wal_records bigint,
	wal_bytes bigint,
	xids bigint,
	transactions bigint,
	tps numeric,
	tps_stddev numeric,
	commit_ms numeric,
	subxact_overflowed boolean,
	hot_percent numeric,
	catalog_reads bigint,
	plan_shape text,
	speedup numeric,
	speedup_low numeric,
	speedup_high numeric,
	decrease_percent numeric,
	decrease_low numeric,
	decrease_high numeric,
	cpu_speedup numeric,
	cpu_speedup_low numeric,
	cpu_speedup_high numeric,
	level numeric,
	comparisons bigint,
	scope text,
	verdict text,
	digest text,
	checked text,
	notes text
)
AS 'MODULE_PATHNAME', 'rtb_sql_result'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 30;
COMMENT ON FUNCTION rtbench.result(bigint) IS
'Every figure of a run, recomputed from its passes: one row for each point and arm. Without an id, of your own last run. NULL is what is not known. speedup is over the baseline (1.586: the arm takes 1/1.586 of its time), decrease_percent is 100 (1 - speedup).';

CREATE FUNCTION rtbench.step_result(run bigint DEFAULT NULL)
RETURNS TABLE (
	run bigint,
	point bigint,
	arm text,
	step int,
	statement text,
	calls bigint,
	first_us numeric,
	later_us numeric,
	custom_plans bigint,
	generic_plans bigint,
	custom_us numeric,
	generic_us numeric
)
AS 'MODULE_PATHNAME', 'rtb_sql_step_result'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION rtbench.step_result(bigint) IS
'Per arm and step, from one untimed pass: the first execution beside the median of the others, and executions under custom plans beside those under the generic one. Without an id, of your own last run.';

CREATE FUNCTION rtbench.scaling(run bigint DEFAULT NULL)
RETURNS TABLE (
	run bigint,
	arm text,
	points int,
	us numeric,
	us_low numeric,
	us_high numeric,
	per text,
	fixed_ms numeric,
	fixed_low numeric,
	fixed_high numeric,
	flatness text,
	doubling numeric,
	exponent numeric,
	exponent_low numeric,
	exponent_high numeric,
	speedup_growth numeric,
	speedup_growth_low numeric,
	speedup_growth_high numeric,
	level numeric,
	units text,
	word text,
	notes text
)
AS 'MODULE_PATHNAME', 'rtb_sql_scaling'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 6;
COMMENT ON FUNCTION rtbench.scaling(bigint) IS
'How each arm''s time grows over the points of a run. us: microseconds of one more statement, free of fixed cost; of one more unit of the swept parameter where statements do not vary (per says which). fixed_ms: what is left of no work at all. flatness: time per statement (or unit) at the largest point over that at the smallest, over how many times as large a point. doubling: T(2n)/T(n). exponent: of the time over the point, 1 is in proportion. speedup_growth: exponent of the speedup over the point, 0 is a speedup that stays. word: flat per statement (or unit); fixed cost dominates: twice the work costs 1.6 times as much at most; grows with size: 2.5 times as much at least, and the notes say what to look at; NULL where the interval is too wide to say. Without an id, of your own last run.';

CREATE VIEW rtbench.last AS
SELECT point, arm, statements, median_ms, us_per_statement, buffers, speedup,
	   speedup_low AS low, speedup_high AS high, verdict
FROM rtbench.result();
COMMENT ON VIEW rtbench.last IS
'The verdicts of your own last run, as sweep() and compare() return them.';

CREATE FUNCTION rtbench.project(round_trip_ms float8[], run bigint DEFAULT NULL)
RETURNS TABLE (
	run bigint,
	round_trip_ms float8,
	point bigint,
	arm text,
	round_trips bigint,
	floor_ms numeric,
	ms numeric,
	speedup numeric,
	factor numeric,
	basis text,
	remark text
)
AS 'MODULE_PATHNAME', 'rtb_sql_project'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION rtbench.project(float8[], bigint) IS
'Computed, not measured: what each arm of a run would take over a network with such round trips, as its median plus round trips times distance; the speedup over the baseline at that distance (NULL where they cannot be compared), and the factor over the floor. A lower bound. Without an id, of your own last run.';

CREATE FUNCTION rtbench.project_count(statements bigint, milliseconds float8)
RETURNS numeric
AS 'MODULE_PATHNAME', 'rtb_sql_project_count'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.project_count(bigint, float8) IS
'Seconds, as a bare product of a number of statements and a price of each in milliseconds: nothing is measured, and nothing else is in it.';

CREATE VIEW rtbench.history WITH (security_invoker) AS
SELECT r.run, r.started_at, r.label, r.scenario, r.transport, r.server_version, r.complete,
	   (SELECT string_agg(v.n || ' ' || v.verdict, ', ' ORDER BY v.n DESC, v.verdict)
		FROM (SELECT p.verdict, count(*) AS n FROM rtbench.result(r.run) AS p
			  WHERE p.verdict <> 'baseline' GROUP BY p.verdict) AS v) AS verdicts
FROM rtbench.runs AS r
WHERE r.owner = quote_ident(current_user)::regrole;
COMMENT ON VIEW rtbench.history IS
'Your own runs, with their verdicts counted. Compare some of one scenario with rtbench.compare_runs(), remove one with rtbench.forget().';

CREATE FUNCTION rtbench.comparable_runs(runs bigint[])
RETURNS bigint[]
AS 'MODULE_PATHNAME', 'rtb_sql_comparable_runs'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtbench.comparable_runs(bigint[]) IS
'The same runs if they may be compared; else an error that says why not: they must be of one scenario, with the same parameters and the same rows.';

CREATE FUNCTION rtbench.compare_runs(VARIADIC runs bigint[])
RETURNS TABLE (
	kind text,
	what text,
	point bigint,
	arm text,
	found text[],
	median_ms numeric[],
	percent numeric[],
	ratio numeric,
	low numeric,
	high numeric,
	verdict text
)
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED ROWS 30
BEGIN ATOMIC
	WITH chosen AS MATERIALIZED (
		SELECT c.run, c.i, r.margin, r.server_version, r.transport, r.settings, r.machine, r.documents
		FROM unnest(rtbench.comparable_runs($1)) WITH ORDINALITY AS c (run, i)
		JOIN rtbench.runs AS r ON r.run = c.run
	), facts AS (
		SELECT c.i, 1 AS place, 'server version' AS what, c.server_version AS found FROM chosen AS c
		UNION ALL
		SELECT c.i, 2, 'transport', c.transport FROM chosen AS c
		UNION ALL
		SELECT c.i, 3, 'setting ' || e.key, e.value FROM chosen AS c, LATERAL jsonb_each_text(c.settings) AS e
		UNION ALL
		SELECT c.i, 4, 'machine ' || e.key, e.value FROM chosen AS c, LATERAL jsonb_each_text(c.machine) AS e
		WHERE e.key NOT IN ('empty_statement_ns', 'clock_cost_ns', 'clock_step_ns')
		UNION ALL
		SELECT c.i, 5, 'definitions', md5(c.documents::text) FROM chosen AS c
	), figures AS MATERIALIZED (
		SELECT c.i, p.ordinality AS place, p.point, p.arm, p.median_ms, p.plan_shape, p.verdict
		FROM chosen AS c, LATERAL rtbench.result(c.run) WITH ORDINALITY AS p
	), differences AS (
		SELECT f.place, f.what, NULL::bigint AS point, NULL::text AS arm, array_agg(g.found ORDER BY c.i) AS found
		FROM (SELECT DISTINCT facts.place, facts.what FROM facts) AS f
		CROSS JOIN chosen AS c
		LEFT JOIN facts AS g ON g.i = c.i AND g.what = f.what
		GROUP BY f.place, f.what
		UNION ALL
		SELECT 6, 'plan shape', f.point, f.arm, array_agg(f.plan_shape ORDER BY f.i)
		FROM figures AS f WHERE f.verdict <> 'failed' GROUP BY f.point, f.arm
	), by_session AS (
		SELECT c.i, p.point, p.arm, p.session, array_agg(ln(p.elapsed_ns::float8) ORDER BY p.round, p."position") AS logs
		FROM chosen AS c JOIN rtbench.passes AS p ON p.run = c.run
		WHERE p.kind IN ('timed', 'last') AND NOT p.control AND p.sqlstate IS NULL AND p.elapsed_ns > 0
		GROUP BY c.i, p.point, p.arm, p.session
	), sessions AS (
		SELECT s.i, s.point, s.arm, array_agg(rtbench.hodges_lehmann(s.logs) ORDER BY s.session) AS logs
		FROM by_session AS s GROUP BY s.i, s.point, s.arm
	), units AS (
		SELECT s.i, s.point, s.arm, u.logs, rtbench.hodges_lehmann(u.logs) AS middle, v.low, v.high
		FROM sessions AS s,
			 LATERAL (SELECT CASE WHEN cardinality(s.logs) > 1 THEN s.logs ELSE
					  (SELECT b.logs FROM by_session AS b
					   WHERE b.i = s.i AND b.arm = s.arm AND b.point IS NOT DISTINCT FROM s.point) END AS logs) AS u,
			 LATERAL rtbench.signed_rank_interval(u.logs, 0.99) AS v
	), lines AS (
		SELECT min(f.place) FILTER (WHERE f.i = 1) AS place, f.point, f.arm,
			   array_agg(CASE WHEN f.verdict <> 'failed' THEN f.median_ms END ORDER BY f.i) AS median_ms,
			   bool_or(f.verdict = 'failed') AS failed,
			   bool_or(f.verdict IN ('failed', 'not comparable')) AS unusable
		FROM figures AS f GROUP BY f.point, f.arm
		HAVING count(*) = cardinality($1)
	), compared AS (
		SELECT l.*, exp(a.middle - b.middle) AS ratio, exp(a.low - b.high) AS low, exp(a.high - b.low) AS high
		FROM lines AS l
		LEFT JOIN units AS a ON a.i = 1 AND a.arm = l.arm AND a.point IS NOT DISTINCT FROM l.point
		LEFT JOIN units AS b ON b.i = cardinality($1) AND b.arm = l.arm AND b.point IS NOT DISTINCT FROM l.point
	), shown AS (
		SELECT 1 AS part, d.place::bigint AS place, 'difference' AS kind, d.what, d.point, d.arm, d.found,
			   NULL::numeric[] AS median_ms, NULL::float8 AS ratio, NULL::float8 AS low, NULL::float8 AS high, NULL::text AS verdict
		FROM differences AS d
		WHERE (SELECT count(DISTINCT coalesce(x, '')) FROM unnest(d.found) AS x) > 1
		UNION ALL
		SELECT 2, c.place, 'figure', NULL, c.point, c.arm, NULL, c.median_ms,
			   CASE WHEN NOT c.unusable THEN c.ratio END, CASE WHEN NOT c.unusable THEN c.low END, CASE WHEN NOT c.unusable THEN c.high END,
			   CASE WHEN c.failed THEN 'failed'
					WHEN c.unusable OR c.ratio IS NULL THEN 'not comparable'
					WHEN c.low IS NULL THEN 'more rounds needed'
					WHEN c.low > 1 + m.margin THEN 'faster'
					WHEN c.high < 1 / (1 + m.margin) THEN 'slower'
					WHEN c.low >= 1 / (1 + m.margin) AND c.high <= 1 + m.margin THEN 'same within ' || 100 * m.margin || '%'
					WHEN c.low > 1 THEN 'slightly faster'
					WHEN c.high < 1 THEN 'slightly slower'
					ELSE 'no difference detected' END
		FROM compared AS c, (SELECT chosen.margin FROM chosen WHERE chosen.i = 1) AS m
		UNION ALL
		SELECT 3, 0, 'total', count(*) || ' figures, those that no run lacks', NULL, NULL, NULL, t.median_ms,
			   (t.median_ms[1] / nullif(t.median_ms[cardinality($1)], 0))::float8, NULL, NULL, NULL
		FROM (SELECT array_agg(s.total ORDER BY s.i) AS median_ms, max(s.n) AS n
			  FROM (SELECT m.i, sum(m.ms) AS total, count(*) AS n
					FROM lines AS l, LATERAL unnest(l.median_ms) WITH ORDINALITY AS m (ms, i)
					WHERE array_position(l.median_ms, NULL) IS NULL GROUP BY m.i) AS s) AS t,
			 LATERAL generate_series(1, t.n)
		GROUP BY t.median_ms
	)
	SELECT s.kind, s.what, s.point, s.arm, s.found, s.median_ms,
		   (SELECT array_agg(round(100 * m.ms / nullif(s.median_ms[1], 0), 1) ORDER BY m.i)
			FROM unnest(s.median_ms) WITH ORDINALITY AS m (ms, i)),
		   round(s.ratio::numeric, 3), round(s.low::numeric, 3), round(s.high::numeric, 3), s.verdict
	FROM shown AS s
	ORDER BY s.part, s.place, s.what COLLATE "C", s.point, s.arm COLLATE "C";
END;
COMMENT ON FUNCTION rtbench.compare_runs(bigint[]) IS
'Runs of one scenario side by side, of several dates, servers or versions. First what differs between them (found: one value a run), then each point and arm that all have, and a total of those figures: median_ms and percent of the first, one a run. ratio is the first run''s time over the last one''s, so above 1 is faster now. Runs are not paired as arms are: low and high come from each run''s own 99 % interval, the furthest bounds of both, so that the words claim less than they do within a run, and nothing about what else has changed between the runs.';

CREATE FUNCTION rtbench.forget(run bigint)
RETURNS void
AS 'MODULE_PATHNAME', 'rtb_sql_forget'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.forget(bigint) IS
'Remove one of your own runs, with its passes, findings and steps.';

--
-- The main job (sweep.c)
--
CREATE FUNCTION rtbench.sweep(
	scenario text,
	points bigint[] DEFAULT NULL,
	parameters jsonb DEFAULT NULL,
	arms text[] DEFAULT NULL,
	swept text DEFAULT NULL,
	check_query text DEFAULT NULL,
	baseline text DEFAULT NULL,
	transport text DEFAULT 'worker',
	label text DEFAULT NULL,
	rounds int DEFAULT NULL,
	max_time interval DEFAULT '60 s',
	pass_timeout interval DEFAULT NULL,
	ignore_columns text[] DEFAULT NULL,
	compare_returned boolean DEFAULT false,
	vacuum boolean DEFAULT NULL,
	margin float8 DEFAULT 0.02,
	seed bigint DEFAULT NULL,
	sessions int DEFAULT NULL,
	target float8 DEFAULT 0.02,
	control boolean DEFAULT true)
RETURNS SETOF rtbench.verdict
AS 'MODULE_PATHNAME', 'rtb_sweep' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.sweep(text, bigint[], jsonb, text[], text, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean) IS
'run a scenario at every point, all its arms in turn, and say which ways are faster and whether they do the same';

CREATE FUNCTION rtbench.compare(
	arms jsonb[],
	setup text DEFAULT NULL,
	check_query text DEFAULT NULL,
	points bigint[] DEFAULT NULL,
	parameters jsonb DEFAULT NULL,
	swept text DEFAULT NULL,
	baseline text DEFAULT NULL,
	transport text DEFAULT 'worker',
	label text DEFAULT NULL,
	rounds int DEFAULT NULL,
	max_time interval DEFAULT '60 s',
	pass_timeout interval DEFAULT NULL,
	ignore_columns text[] DEFAULT NULL,
	compare_returned boolean DEFAULT false,
	vacuum boolean DEFAULT NULL,
	margin float8 DEFAULT 0.02,
	seed bigint DEFAULT NULL,
	sessions int DEFAULT NULL,
	target float8 DEFAULT 0.02,
	control boolean DEFAULT true)
RETURNS SETOF rtbench.verdict
AS 'MODULE_PATHNAME', 'rtb_compare' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.compare(jsonb[], text, text, bigint[], jsonb, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean) IS
'compare ad hoc arms on the caller''s own committed tables, or on a fixture that setup builds';

CREATE PROCEDURE rtbench.run_sweep(
	scenario text,
	points bigint[] DEFAULT NULL,
	parameters jsonb DEFAULT NULL,
	arms text[] DEFAULT NULL,
	swept text DEFAULT NULL,
	check_query text DEFAULT NULL,
	baseline text DEFAULT NULL,
	transport text DEFAULT 'worker',
	label text DEFAULT NULL,
	rounds int DEFAULT NULL,
	max_time interval DEFAULT '60 s',
	pass_timeout interval DEFAULT NULL,
	ignore_columns text[] DEFAULT NULL,
	compare_returned boolean DEFAULT false,
	vacuum boolean DEFAULT NULL,
	margin float8 DEFAULT 0.02,
	seed bigint DEFAULT NULL,
	sessions int DEFAULT NULL,
	target float8 DEFAULT 0.02,
	control boolean DEFAULT true)
AS 'MODULE_PATHNAME', 'rtb_run_sweep' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_sweep(text, bigint[], jsonb, text[], text, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean) IS
'sweep() by CALL, which arms that commit need: it commits first and then waits without a snapshot; the verdicts are in rtbench.last and rtbench.result() afterwards';

CREATE PROCEDURE rtbench.run_compare(
	arms jsonb[],
	setup text DEFAULT NULL,
	check_query text DEFAULT NULL,
	points bigint[] DEFAULT NULL,
	parameters jsonb DEFAULT NULL,
	swept text DEFAULT NULL,
	baseline text DEFAULT NULL,
	transport text DEFAULT 'worker',
	label text DEFAULT NULL,
	rounds int DEFAULT NULL,
	max_time interval DEFAULT '60 s',
	pass_timeout interval DEFAULT NULL,
	ignore_columns text[] DEFAULT NULL,
	compare_returned boolean DEFAULT false,
	vacuum boolean DEFAULT NULL,
	margin float8 DEFAULT 0.02,
	seed bigint DEFAULT NULL,
	sessions int DEFAULT NULL,
	target float8 DEFAULT 0.02,
	control boolean DEFAULT true)
AS 'MODULE_PATHNAME', 'rtb_run_compare' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_compare(jsonb[], text, text, bigint[], jsonb, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean) IS
'compare() by CALL, which arms that commit need: it commits first and then waits without a snapshot; the verdicts are in rtbench.last and rtbench.result() afterwards';


CREATE FUNCTION rtbench.compare(
	arms text[],
	setup text DEFAULT NULL,
	check_query text DEFAULT NULL,
	points bigint[] DEFAULT NULL,
	parameters jsonb DEFAULT NULL,
	swept text DEFAULT NULL,
	baseline text DEFAULT NULL,
	transport text DEFAULT 'worker',
	label text DEFAULT NULL,
	rounds int DEFAULT NULL,
	max_time interval DEFAULT '60 s',
	pass_timeout interval DEFAULT NULL,
	ignore_columns text[] DEFAULT NULL,
	compare_returned boolean DEFAULT false,
	vacuum boolean DEFAULT NULL,
	margin float8 DEFAULT 0.02,
	seed bigint DEFAULT NULL,
	sessions int DEFAULT NULL,
	target float8 DEFAULT 0.02,
	control boolean DEFAULT true)
RETURNS SETOF rtbench.verdict
AS 'MODULE_PATHNAME', 'rtb_compare_text' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.compare(text[], text, text, bigint[], jsonb, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean) IS
'refuses plain texts with a hint: arms are documents made by rtbench.arm()';

--
-- Runs that go on now (progress.c)
--
CREATE FUNCTION rtbench.progress_rows(OUT pid int, OUT datid oid, OUT owner regrole, OUT run bigint,
	OUT scenario text, OUT phase text, OUT point bigint, OUT session int, OUT sessions_planned int,
	OUT round int, OUT passes_done bigint, OUT passes_planned bigint, OUT elapsed interval,
	OUT estimate interval)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'rtb_progress_rows' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED ROWS 2;
COMMENT ON FUNCTION rtbench.progress_rows() IS 'what the view rtbench.progress shows';

CREATE VIEW rtbench.progress WITH (security_invoker) AS
	SELECT p.pid, d.datname, p.owner, p.run, p.scenario, p.phase, p.point, p.session,
		   p.sessions_planned, p.round, p.passes_done, p.passes_planned, p.elapsed, p.estimate
	FROM rtbench.progress_rows() AS p
	LEFT JOIN pg_catalog.pg_database AS d ON d.oid = p.datid;
COMMENT ON VIEW rtbench.progress IS
'Runs that go on now on this server: your roles'' own, all of them for members of pg_read_all_stats. A row is there as long as the run is.';
COMMENT ON COLUMN rtbench.progress.pid IS 'the backend whose statement the run is';
COMMENT ON COLUMN rtbench.progress.run IS 'the id under which the run will be kept, in its database';
COMMENT ON COLUMN rtbench.progress.phase IS
'starting, fixture, pilot, sessions (fresh backends visit the points), rounds (of one backend), cleaning, judging; keeping: the run has been ended early';
COMMENT ON COLUMN rtbench.progress.point IS 'the point that is being measured';
COMMENT ON COLUMN rtbench.progress.session IS 'the session that runs, from 1, the pilot''s';
COMMENT ON COLUMN rtbench.progress.sessions_planned IS 'sessions in all, as it looks now: fewer if intervals are narrow enough before; NULL until known';
COMMENT ON COLUMN rtbench.progress.round IS 'the round that runs, from 1, of this session at this point';
COMMENT ON COLUMN rtbench.progress.passes_done IS 'passes done, untimed ones included';
COMMENT ON COLUMN rtbench.progress.passes_planned IS
'passes in all, as it looks now: fewer if intervals are narrow enough before; NULL until known';
COMMENT ON COLUMN rtbench.progress.elapsed IS 'time since the run began';
COMMENT ON COLUMN rtbench.progress.estimate IS
'time left if passes go on taking what they took, less if intervals are narrow enough before; NULL until known';

--
-- Connections (connection.c)
--
CREATE FUNCTION rtbench.fdw_validator(options text[], catalog oid)
RETURNS void
AS 'MODULE_PATHNAME', 'rtb_fdw_validator' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.fdw_validator(text[], oid) IS
'checks the options of servers and user mappings of rtbench_fdw';

CREATE FOREIGN DATA WRAPPER rtbench_fdw VALIDATOR rtbench.fdw_validator;
COMMENT ON FOREIGN DATA WRAPPER rtbench_fdw IS
'for CREATE SERVER: where rtbench connects to (libpq''s options host, port, dbname, sslmode, connect_timeout ...), with a user mapping for as whom (user, password). It has no handler: no foreign tables.';

CREATE FUNCTION rtbench.ask(
	statement text,
	transport text DEFAULT 'unix',
	server text DEFAULT NULL,
	protocol text DEFAULT 'prepared',
	times int DEFAULT 1,
	batch int DEFAULT 100,
	fetch_size int DEFAULT NULL,
	copy_row text DEFAULT NULL,
	round_trip_ms float8 DEFAULT 0,
	transaction boolean DEFAULT true,
	OUT rows bigint, OUT affected bigint, OUT statements bigint, OUT round_trips bigint,
	OUT bytes_sent bigint, OUT bytes_received bigint, OUT notices bigint, OUT microseconds float8,
	OUT delivered_ms float8, OUT server_version text, OUT tls text)
AS 'MODULE_PATHNAME', 'rtb_ask' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.ask(text, text, text, text, int, int, int, text, float8, boolean) IS
'sends a statement over a connection of its own, so many times, and tells what was sent, received and waited for; microseconds are those of one execution. :n in the statement is its number. In a transaction that is rolled back, or, with transaction => false, each committed.';

--
-- Prices (price_list.c)
--
CREATE FUNCTION rtbench.price_list(
	servers text[] DEFAULT NULL,
	transports text[] DEFAULT '{caller,worker,unix,tcp,tls}',
	placements text[] DEFAULT '{free}',
	max_time interval DEFAULT '2 s',
	OUT transport text, OUT protocol text, OUT placement text, OUT statement text,
	OUT microseconds float8, OUT low float8, OUT high float8, OUT kind text, OUT notes text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'rtb_price_list' LANGUAGE C VOLATILE PARALLEL UNSAFE ROWS 75;
COMMENT ON FUNCTION rtbench.price_list(text[], text[], text[], interval) IS
'what an empty statement and a SELECT, INSERT, UPDATE and DELETE of one row by key cost by each transport and protocol, measured now on a scratch table that is rolled back; low and high: at 99 %, of sessions. A transport that cannot be used is one row with the reason in notes.';

CREATE FUNCTION rtbench.my_round_trip()
RETURNS float8
AS 'MODULE_PATHNAME', 'rtb_my_round_trip' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION rtbench.my_round_trip() IS
'milliseconds of a round trip between this backend and its client, the smallest that the kernel has seen lately on this connection; NULL on a unix socket';

CREATE FUNCTION rtbench.refuse(message text, hint text)
RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL SAFE AS $$
BEGIN
	RAISE EXCEPTION '%', message USING HINT = hint, ERRCODE = 'invalid_parameter_value';
END
$$;
COMMENT ON FUNCTION rtbench.refuse(text, text) IS 'an error, for functions in SQL';

CREATE FUNCTION rtbench.rows_of(relation text)
RETURNS SETOF jsonb
LANGUAGE sql VOLATILE STRICT PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp AS $$
	-- query_to_xml() is the one function that runs a text; base64 carries what XML cannot
	SELECT jsonb_array_elements(convert_from(decode(
		substring(query_to_xml(format(
			'SELECT encode(convert_to(coalesce(jsonb_agg(to_jsonb(r)), ''[]'')::text, ''UTF8''), ''base64'') AS j FROM %s AS r',
			relation), true, false, '')::text FROM '<j>(.*)</j>'),
		'base64'), 'UTF8')::jsonb)
$$;
COMMENT ON FUNCTION rtbench.rows_of(text) IS 'the rows of a relation, named as SQL would name it, as objects';

CREATE FUNCTION rtbench.statement_prices(
	round_trip_ms float8 DEFAULT NULL,
	since regclass DEFAULT NULL,
	source regclass DEFAULT NULL,
	top int DEFAULT 20)
RETURNS TABLE (query text, calls bigint, rows_per_call float8, total_exec_time float8, asking_ms float8,
	asking_percent float8, suspicion text, kind text, stats_reset timestamptz, "window" interval)
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp AS $$
	WITH extension AS (
		SELECT format('%I.pg_stat_statements', n.nspname) AS entries,
			format('%I.pg_stat_statements_info', n.nspname) AS info
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'pg_stat_statements'
	), given AS (
		SELECT CASE
				WHEN round_trip_ms < 0 OR round_trip_ms = 'NaN' THEN
					rtbench.refuse('round_trip_ms must be 0 or more', 'It is in milliseconds.')::float8
				ELSE coalesce(round_trip_ms, rtbench.my_round_trip(),
					rtbench.refuse('how long a round trip takes cannot be known on this connection',
						'Give round_trip_ms, in milliseconds: what ping says from where the clients are. It is known only to who is connected by TCP.')::float8)
			END AS ms,
			coalesce(source::text, (SELECT entries FROM extension),
				rtbench.refuse('extension "pg_stat_statements" is not installed in this database',
					'Add pg_stat_statements to shared_preload_libraries, restart the server and run CREATE EXTENSION pg_stat_statements; or give a copy of its view: source => ''...''.')) AS entries
	), latest AS (
		SELECT r->>'userid' AS userid, r->>'dbid' AS dbid, r->>'queryid' AS queryid, r->>'query' AS query,
			(r->>'calls')::bigint AS calls, (r->>'rows')::bigint AS rows,
			coalesce(r->>'total_exec_time', r->>'total_time')::float8 AS ms
		FROM given, rtbench.rows_of(given.entries) r
		-- what ran inside another statement never crossed the wire
		WHERE (r->>'toplevel')::boolean IS NOT FALSE
			AND (source IS NOT NULL OR (r->>'dbid')::oid = (SELECT oid FROM pg_database WHERE datname = current_database()))
	), earlier AS (
		SELECT r->>'userid' AS userid, r->>'dbid' AS dbid, r->>'queryid' AS queryid,
			sum((r->>'calls')::bigint) AS calls, sum((r->>'rows')::bigint) AS rows,
			sum(coalesce(r->>'total_exec_time', r->>'total_time')::float8) AS ms
		FROM rtbench.rows_of(since::text) r
		WHERE (r->>'toplevel')::boolean IS NOT FALSE
		GROUP BY 1, 2, 3
	), counted AS (
		-- one row for what several roles have run; what has been reset since counts from zero
		SELECT l.query, sum(l.calls - coalesce(e.calls, 0))::bigint AS calls,
			sum(l.rows - coalesce(e.rows, 0))::bigint AS rows, sum(l.ms - coalesce(e.ms, 0)) AS ms
		FROM latest l LEFT JOIN earlier e
			ON e.queryid = l.queryid AND e.userid = l.userid AND e.dbid = l.dbid AND e.calls <= l.calls
		GROUP BY l.queryid, l.query
		HAVING sum(l.calls - coalesce(e.calls, 0)) > 0
	), ranked AS (
		SELECT c.query, c.calls, c.rows, c.ms, c.calls * g.ms AS asking,
			row_number() OVER (ORDER BY c.ms + c.calls * g.ms DESC, c.query) AS place
		FROM counted c, given g
	), answer AS (
		SELECT r.place, r.query, r.calls, r.rows, r.ms, r.asking,
			CASE WHEN r.calls >= 1000 AND r.rows > 0 AND r.rows <= r.calls THEN 'one row per call, many calls' END AS suspicion
		FROM ranked r WHERE r.place <= top
		UNION ALL
		SELECT NULL, '[total]', sum(r.calls)::bigint, sum(r.rows)::bigint, sum(r.ms), sum(r.asking), NULL
		FROM ranked r
	)
	SELECT a.query, a.calls, a.rows::float8 / a.calls, a.ms, a.asking, 100 * a.asking / nullif(a.asking + a.ms, 0),
		a.suspicion, 'computed', i.reset, now() - i.reset
	FROM answer a LEFT JOIN (
		SELECT (rtbench.rows_of(x.info)->>'stats_reset')::timestamptz AS reset
		FROM extension x
		WHERE source IS NULL AND since IS NULL AND to_regclass(x.info) IS NOT NULL) i ON true
	ORDER BY a.place
$$;
COMMENT ON FUNCTION rtbench.statement_prices(float8, regclass, regclass, int) IS
'computed from pg_stat_statements: what asking for the database''s statements costs, calls times a round trip, beside the executor''s time. since: a copy of its view made earlier, whose counts are subtracted; source: a copy to read instead; top: rows beside [total], which is of all statements.';

--
-- Built-in scenarios
--
INSERT INTO rtbench.scenario_definitions (id, builtin, name, swept, points, parameters, description, setup)
VALUES (1, true, 'delete_tree', 'blocks', '{250,500,1000,2000,4000}',
	'{"other_documents": 100, "blocks_of_others": 100}',
	'Delete a document with its blocks, each with one attribute, out of a table of other documents. '
	'The foreign keys are declared ON DELETE CASCADE for every arm, so that all arms run on the same schema '
	'and must leave the same rows: the server checks each deleted document and block for rows that refer to it, '
	'and where an arm deleted the children first, its cascade finds none.',
$setup$
CREATE TABLE documents (
	id bigint PRIMARY KEY,
	title text NOT NULL
);
CREATE TABLE blocks (
	id bigint PRIMARY KEY,
	document_id bigint NOT NULL,
	place int NOT NULL,
	body text NOT NULL
);
CREATE TABLE attributes (
	id bigint PRIMARY KEY,
	block_id bigint NOT NULL,
	name text NOT NULL,
	value text NOT NULL
);

-- document 1 is the one under test
INSERT INTO documents
	SELECT d, 'document ' || d FROM generate_series(1, 1 + :other_documents) d;
INSERT INTO blocks
	SELECT row_number() OVER (ORDER BY d, place), d, place, repeat('text ', 20)
	FROM generate_series(1, 1 + :other_documents) d,
		 LATERAL generate_series(1, CASE d WHEN 1 THEN :blocks ELSE :blocks_of_others END) place;
INSERT INTO attributes
	SELECT id, id, 'style', 'paragraph ' || place FROM blocks;

CREATE INDEX blocks_document_id_idx ON blocks (document_id);
CREATE INDEX attributes_block_id_idx ON attributes (block_id);
ALTER TABLE blocks ADD FOREIGN KEY (document_id) REFERENCES documents ON DELETE CASCADE;
ALTER TABLE attributes ADD FOREIGN KEY (block_id) REFERENCES blocks ON DELETE CASCADE;
$setup$);

INSERT INTO rtbench.arm_definitions (scenario, "position", document) VALUES
	(1, 1, rtbench.arm('row_at_a_time', steps => ARRAY[
		rtbench.foreach(
			'SELECT a.id FROM attributes a JOIN blocks b ON b.id = a.block_id WHERE b.document_id = 1',
			'DELETE FROM attributes WHERE id = $1'),
		rtbench.foreach(
			'SELECT id FROM blocks WHERE document_id = 1',
			'DELETE FROM blocks WHERE id = $1'),
		rtbench.step('DELETE FROM documents WHERE id = 1')],
		description => 'as an ORM does it: load the ids of each level, then one DELETE a row')),
	(1, 2, rtbench.arm('do_block', steps => ARRAY[$do$DO $$
DECLARE
	r record;
BEGIN
	FOR r IN SELECT a.id FROM attributes a JOIN blocks b ON b.id = a.block_id WHERE b.document_id = 1 LOOP
		DELETE FROM attributes WHERE id = r.id;
	END LOOP;
	FOR r IN SELECT id FROM blocks WHERE document_id = 1 LOOP
		DELETE FROM blocks WHERE id = r.id;
	END LOOP;
	DELETE FROM documents WHERE id = 1;
END
$$$do$],
		description => 'the same statements in a DO block: one round trip')),
	(1, 3, rtbench.arm('set_based', steps => ARRAY[
		'DELETE FROM attributes a USING blocks b WHERE b.id = a.block_id AND b.document_id = 1',
		'DELETE FROM blocks WHERE document_id = 1',
		'DELETE FROM documents WHERE id = 1'],
		description => 'one DELETE a level')),
	(1, 4, rtbench.arm('any_array', steps => ARRAY[
		rtbench.foreach(
			'SELECT array_agg(a.id) FROM attributes a JOIN blocks b ON b.id = a.block_id WHERE b.document_id = 1',
			'DELETE FROM attributes WHERE id = ANY ($1)'),
		rtbench.foreach(
			'SELECT array_agg(id) FROM blocks WHERE document_id = 1',
			'DELETE FROM blocks WHERE id = ANY ($1)'),
		rtbench.step('DELETE FROM documents WHERE id = 1')],
		description => 'load the ids of each level, then one DELETE a level with all of them')),
	(1, 5, rtbench.arm('one_statement', steps => ARRAY[
'WITH deleted_attributes AS (
	DELETE FROM attributes a USING blocks b WHERE b.id = a.block_id AND b.document_id = 1
), deleted_blocks AS (
	DELETE FROM blocks WHERE document_id = 1
)
DELETE FROM documents WHERE id = 1'],
		description => 'all three in one statement')),
	(1, 6, rtbench.arm('on_delete_cascade', steps => ARRAY[
		'DELETE FROM documents WHERE id = 1'],
		description => 'delete the document; the foreign keys do the rest'));

--
-- Privileges
--
GRANT USAGE ON SCHEMA rtbench TO PUBLIC;
-- runs, passes, findings, steps: own rows only, by the policies above; a run's
-- id is always the next one, so that nobody can take another's
GRANT SELECT, DELETE, UPDATE (label),
	INSERT (owner, label, scenario, transport, scope, arms, descriptions, points, swept,
			baseline, margin, max_time, seed, started_at, finished_at, complete,
			server_version, options, settings, machine, documents)
	ON rtbench.runs TO PUBLIC;
GRANT SELECT, INSERT, DELETE ON rtbench.passes, rtbench.findings, rtbench.steps TO PUBLIC;
GRANT SELECT ON rtbench.last, rtbench.history TO PUBLIC;
-- whose runs it shows is decided row by row
GRANT SELECT ON rtbench.progress TO PUBLIC;
