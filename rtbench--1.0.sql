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
		subtransaction text DEFAULT NULL, only_if text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_step';
COMMENT ON FUNCTION rtbench.step(text, text[], text, text, text) IS
	'a step: a text sent as one message; types fixes the types of $1 ..., plans is ''fresh'' or ''kept'', subtransaction around each execution is ''none'', ''internal'' (begun and released in C) or ''savepoint'' (SAVEPOINT and RELEASE sent as statements); only_if is a boolean column of the driver''s row, ''$2'', or an object of parameters and the values at which the step is there';

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

CREATE FUNCTION rtbench.foreach(driver text, steps jsonb[], commit_every bigint DEFAULT NULL, only_if text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(text, jsonb[], bigint, text) IS
	'a loop that commits after every so many rows of its driver, if that is given, in an arm with ending => ''commit''';

CREATE FUNCTION rtbench.foreach(driver text, steps jsonb[], commit_every text, only_if text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(text, jsonb[], text, text) IS
	'a loop that commits after every so many rows of its driver, the number being a parameter, '':name''';

-- "character" only so that arrays of texts without a type mean these
CREATE FUNCTION rtbench.foreach(driver character, steps text[], commit_every bigint DEFAULT NULL, only_if text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(character, text[], bigint, text) IS
	'a loop of statements that commits after every so many rows of its driver, if that is given';

CREATE FUNCTION rtbench.foreach(driver character, steps text[], commit_every text, only_if text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_foreach_with_options';
COMMENT ON FUNCTION rtbench.foreach(character, text[], text, text) IS
	'a loop of statements that commits after every so many rows of its driver, the number being a parameter, '':name''';

CREATE FUNCTION rtbench.generated(query text, only_if text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_generated';
COMMENT ON FUNCTION rtbench.generated(text, text) IS
	'a step: each value that the query returns is the text of a statement to send, as with psql''s \gexec';

CREATE FUNCTION rtbench.copy_rows(query text, copy text, only_if text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_copy_rows';
COMMENT ON FUNCTION rtbench.copy_rows(text, text, text) IS
	'a step: the rows of the query are read and sent to COPY ... FROM STDIN, over a connection';

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
		ending text DEFAULT 'rollback', before text DEFAULT NULL, plans text DEFAULT 'fresh',
		protocol text DEFAULT NULL, batch int DEFAULT NULL, fetch_size int DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_arm_with_options';
COMMENT ON FUNCTION rtbench.arm(text, jsonb[], text, text, text, text, text, int, int) IS
	'an arm of steps, with options: before runs untimed in the pass''s transaction, plans ''kept'' keeps its statements prepared; protocol, batch and fetch_size are for runs over a connection, whose own hold where they are not given';

-- "character" only so that VARIADIC ARRAY['...'] means the first form and not this
CREATE FUNCTION rtbench.arm(name character, steps text[], description text DEFAULT NULL,
		ending text DEFAULT 'rollback', before text DEFAULT NULL, plans text DEFAULT 'fresh',
		protocol text DEFAULT NULL, batch int DEFAULT NULL, fetch_size int DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_arm_with_options';
COMMENT ON FUNCTION rtbench.arm(character, text[], text, text, text, text, text, int, int) IS
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
	together bigint,
	server text,
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
	server_version text,
	options jsonb NOT NULL,
	settings jsonb NOT NULL,
	machine jsonb NOT NULL,
	documents jsonb NOT NULL
);

CREATE INDEX runs_together_idx ON rtbench.runs (together) WHERE together IS NOT NULL;
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
	bytes_sent bigint,
	bytes_received bigint,
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
	core bigint,
	far_core bigint,
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
	second_ns bigint,
	third_ns bigint,
	later_ns bigint,
	prepare_ns bigint,
	custom_plans bigint,
	generic_plans bigint,
	custom_ns bigint,
	generic_ns bigint
);
CREATE INDEX steps_run_idx ON rtbench.steps (run);

COMMENT ON TABLE rtbench.runs IS
'Runs that are kept: what was asked for, where, and with what settings. Each role sees its own.';
COMMENT ON COLUMN rtbench.runs.together IS
'the first run of the call on several servers that this one was made by; NULL of a run alone';
COMMENT ON COLUMN rtbench.runs.server IS 'the server''s name in that call; NULL of a run alone';
COMMENT ON COLUMN rtbench.runs.server_version IS
'of the server where the arms ran, as it reports it; NULL if it does not';
COMMENT ON COLUMN rtbench.runs.settings IS
'settings where the arms ran: over a connection those of the session at its far end, {} if it does not tell';
COMMENT ON COLUMN rtbench.runs.machine IS
'the machine where the arms ran; of a foreign server only what version() says there, and the clock, which is always this side''s';
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
	bytes_sent bigint,
	bytes_received bigint,
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
	second_us numeric,
	third_us numeric,
	later_us numeric,
	prepare_us numeric,
	custom_plans bigint,
	generic_plans bigint,
	custom_us numeric,
	generic_us numeric
)
AS 'MODULE_PATHNAME', 'rtb_sql_step_result'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 100;
COMMENT ON FUNCTION rtbench.step_result(bigint) IS
'Per arm and step, from one untimed pass: the first three executions beside the median of all but the first, what parsing and analysing took where an execution began with it, and executions under custom plans beside those under the generic one. Without an id, of your own last run.';

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

CREATE FUNCTION rtbench.across_servers(run bigint DEFAULT NULL)
RETURNS TABLE (
	point bigint,
	arm text,
	server text,
	round_trips bigint,
	statements bigint,
	median_ms numeric,
	speedup numeric,
	times numeric,
	times_low numeric,
	times_high numeric,
	same_rows boolean,
	server_version text,
	notes text
)
AS 'MODULE_PATHNAME', 'rtb_sql_across_servers'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 30;
COMMENT ON FUNCTION rtbench.across_servers(bigint) IS
'The runs of a call with servers => ''{...}'' side by side, all measured: by any run of the call, without an id your own last such call. speedup is over the baseline at the same server; times: how many times as long as at the first server (above 1 is slower), with its 99 % interval, from pairs of sessions made in one turn. No ratio where the rows differ, or an arm failed or is not comparable at either.';

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
'Computed, not measured: what each arm of a run would take over a network with such round trips, as its median plus round trips times distance; the speedup over the baseline at that distance (NULL where they cannot be compared), and the factor over the floor. Low by what a statement after an idle wait is dearer. Without an id, of your own last run.';

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
		SELECT c.run, c.i, r.margin, r.server_version, r.transport, r.options, r.settings, r.machine, r.documents
		FROM unnest(rtbench.comparable_runs($1)) WITH ORDINALITY AS c (run, i)
		-- not an inner join: it would not call the function, which refuses, where no run is visible
		LEFT JOIN rtbench.runs AS r ON r.run = c.run
	), facts AS (
		SELECT c.i, 1 AS place, 'server version' AS what, c.server_version AS found FROM chosen AS c
		UNION ALL
		SELECT c.i, 2, 'transport', c.transport FROM chosen AS c
		UNION ALL
		SELECT c.i, 3, e.key, e.value FROM chosen AS c, LATERAL jsonb_each_text(c.options) AS e
		WHERE e.key IN ('protocol', 'fetch_size', 'placement')
		-- it is kept of all connections, and used by pipeline and multi alone: the run's, or (4 and 5) those of an arm that leaves its batch to the run
		   OR e.key = 'batch' AND (c.options ->> 'protocol' IN ('pipeline', 'multi')
								   OR jsonb_path_exists(c.documents, '$.*.arms[*] ? ((@.protocol == 4 || @.protocol == 5) && @.batch == 0)'))
		UNION ALL
		SELECT c.i, 4, 'setting ' || e.key, e.value FROM chosen AS c, LATERAL jsonb_each_text(c.settings) AS e
		UNION ALL
		SELECT c.i, 5, 'machine ' || e.key, e.value FROM chosen AS c, LATERAL jsonb_each_text(c.machine) AS e
		WHERE e.key NOT IN ('empty_statement_ns', 'clock_cost_ns', 'clock_step_ns')
		UNION ALL
		-- of the points and arms that all have: it is no difference that another run measured more of them
		SELECT c.i, 6, 'definitions', md5(string_agg((d.value - 'arms')::text || a.value::text, '' ORDER BY d.key COLLATE "C", a.value ->> 'name' COLLATE "C"))
		FROM chosen AS c, LATERAL jsonb_each(c.documents) AS d, LATERAL jsonb_array_elements(d.value -> 'arms') AS a
		WHERE NOT EXISTS (SELECT FROM chosen AS o
						  WHERE (o.documents -> d.key -> 'arms' @> jsonb_build_array(jsonb_build_object('name', a.value -> 'name'))) IS NOT TRUE)
		GROUP BY c.i
	), medians AS (
		-- what is computed is computed from these, not from what is rounded to be shown
		SELECT c.i, p.point, p.arm, percentile_cont(0.5) WITHIN GROUP (ORDER BY p.elapsed_ns::float8) AS ns
		FROM chosen AS c JOIN rtbench.passes AS p ON p.run = c.run
		WHERE p.kind IN ('timed', 'last') AND NOT p.control AND p.sqlstate IS NULL AND p.elapsed_ns > 0
		GROUP BY c.i, p.point, p.arm
	), figures AS MATERIALIZED (
		SELECT c.i, p.ordinality AS place, p.point, p.arm, p.median_ms, m.ns, p.plan_shape, p.verdict
		FROM chosen AS c CROSS JOIN LATERAL rtbench.result(c.run) WITH ORDINALITY AS p
		LEFT JOIN medians AS m ON m.i = c.i AND m.arm = p.arm AND m.point IS NOT DISTINCT FROM p.point
	), differences AS (
		SELECT f.place, f.what, NULL::bigint AS point, NULL::text AS arm, array_agg(g.found ORDER BY c.i) AS found
		FROM (SELECT DISTINCT facts.place, facts.what FROM facts) AS f
		CROSS JOIN chosen AS c
		LEFT JOIN facts AS g ON g.i = c.i AND g.what = f.what
		GROUP BY f.place, f.what
		UNION ALL
		SELECT 7, 'plan shape', f.point, f.arm, array_agg(f.plan_shape ORDER BY f.i)
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
			   array_agg(CASE WHEN f.verdict <> 'failed' THEN f.ns END ORDER BY f.i) AS ns,
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
			   NULL::numeric[] AS median_ms, NULL::float8[] AS ns, NULL::float8 AS ratio, NULL::float8 AS low, NULL::float8 AS high, NULL::text AS verdict
		FROM differences AS d
		WHERE (SELECT count(DISTINCT coalesce(x, '')) FROM unnest(d.found) AS x) > 1
		UNION ALL
		SELECT 2, c.place, 'figure', NULL, c.point, c.arm, NULL, c.median_ms, c.ns,
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
		SELECT 3, 0, 'total', t.n || ' figures, those that can be compared', NULL, NULL, NULL, t.median_ms, t.ns,
			   t.ns[1] / nullif(t.ns[cardinality($1)], 0), NULL, NULL, NULL
		FROM (SELECT array_agg(s.ms ORDER BY s.i) AS median_ms, array_agg(s.ns ORDER BY s.i) AS ns, max(s.n) AS n
			  FROM (SELECT m.i, sum(m.ms) AS ms, sum(m.ns) AS ns, count(*) AS n
					FROM compared AS c, LATERAL ROWS FROM (unnest(c.median_ms), unnest(c.ns)) WITH ORDINALITY AS m (ms, ns, i)
					WHERE NOT c.unusable AND c.ratio IS NOT NULL AND array_position(c.median_ms, NULL) IS NULL GROUP BY m.i) AS s) AS t
		WHERE t.n > 0
	)
	SELECT s.kind, s.what, s.point, s.arm, s.found, s.median_ms,
		   (SELECT array_agg(round((100 * m.ns / nullif(s.ns[1], 0))::numeric, 1) ORDER BY m.i)
			FROM unnest(s.ns) WITH ORDINALITY AS m (ns, i) WHERE s.verdict IS DISTINCT FROM 'not comparable'),
		   round(s.ratio::numeric, 3), round(s.low::numeric, 3), round(s.high::numeric, 3), s.verdict
	FROM shown AS s
	ORDER BY s.part, s.place, s.what COLLATE "C", s.point, s.arm COLLATE "C";
END;
COMMENT ON FUNCTION rtbench.compare_runs(bigint[]) IS
'Runs of one scenario side by side, of several dates, servers or versions. First what differs between them (found: one value a run), then each point and arm that all have, and a total of those that can be compared: median_ms and percent of the first, one a run. ratio is the first run''s time over the last one''s, so above 1 is faster now. Runs are not paired as arms are: low and high come from each run''s own 99 % interval, the furthest bounds of both, so that the words claim less than they do within a run, and nothing about what else has changed between the runs.';

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
	control boolean DEFAULT true,
	server text DEFAULT NULL,
	protocol text DEFAULT 'prepared',
	batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL,
	round_trip_ms float8[] DEFAULT NULL,
	placement text DEFAULT 'free',
	servers text[] DEFAULT NULL)
RETURNS SETOF rtbench.verdict
AS 'MODULE_PATHNAME', 'rtb_sweep' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.sweep(text, bigint[], jsonb, text[], text, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean, text, text, int, int, float8[], text, text[]) IS
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
	control boolean DEFAULT true,
	server text DEFAULT NULL,
	protocol text DEFAULT 'prepared',
	batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL,
	round_trip_ms float8[] DEFAULT NULL,
	placement text DEFAULT 'free',
	servers text[] DEFAULT NULL)
RETURNS SETOF rtbench.verdict
AS 'MODULE_PATHNAME', 'rtb_compare' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.compare(jsonb[], text, text, bigint[], jsonb, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean, text, text, int, int, float8[], text, text[]) IS
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
	control boolean DEFAULT true,
	server text DEFAULT NULL,
	protocol text DEFAULT 'prepared',
	batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL,
	round_trip_ms float8[] DEFAULT NULL,
	placement text DEFAULT 'free',
	servers text[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'rtb_run_sweep' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_sweep(text, bigint[], jsonb, text[], text, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean, text, text, int, int, float8[], text, text[]) IS
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
	control boolean DEFAULT true,
	server text DEFAULT NULL,
	protocol text DEFAULT 'prepared',
	batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL,
	round_trip_ms float8[] DEFAULT NULL,
	placement text DEFAULT 'free',
	servers text[] DEFAULT NULL)
AS 'MODULE_PATHNAME', 'rtb_run_compare' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_compare(jsonb[], text, text, bigint[], jsonb, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean, text, text, int, int, float8[], text, text[]) IS
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
	control boolean DEFAULT true,
	server text DEFAULT NULL,
	protocol text DEFAULT 'prepared',
	batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL,
	round_trip_ms float8[] DEFAULT NULL,
	placement text DEFAULT 'free',
	servers text[] DEFAULT NULL)
RETURNS SETOF rtbench.verdict
AS 'MODULE_PATHNAME', 'rtb_compare_text' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.compare(text[], text, text, bigint[], jsonb, text, text, text, text, int,
	interval, interval, text[], boolean, boolean, float8, bigint, int, float8, boolean, text, text, int, int, float8[], text, text[]) IS
'refuses plain texts with a hint: arms are documents made by rtbench.arm()';

--
-- What runs have left on another server (cleanup.c)
--
CREATE FUNCTION rtbench.cleanup(server text)
RETURNS int
AS 'MODULE_PATHNAME', 'rtb_cleanup' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.cleanup(text) IS
'drop scratch schemas that runs of the role at that server have left there because they, or their connection, were killed; returns how many';

--
-- Counting for a run elsewhere (far_counts.c)
--
CREATE PROCEDURE rtbench.count_begin(scratch text DEFAULT NULL, advise boolean DEFAULT false)
AS 'MODULE_PATHNAME', 'rtb_count_begin' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.count_begin(text, boolean) IS
'count what runs in this session from here on, refuse commits outside of a schema, and look for indexes that are missing or not used: a run whose arms go over a connection calls it at the far end';

CREATE PROCEDURE rtbench.count_end()
AS 'MODULE_PATHNAME', 'rtb_count_end' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.count_end() IS 'stop counting; rtbench.counted() tells what was seen';

CREATE FUNCTION rtbench.counted(OUT statements bigint, OUT fired bigint, OUT loop_queries bigint, OUT rows bigint,
	OUT plannings bigint, OUT xids bigint, OUT buffers_hit bigint, OUT buffers_read bigint, OUT wal_records bigint,
	OUT wal_fpi bigint, OUT wal_bytes bigint, OUT transactions bigint, OUT commit_ns bigint, OUT elapsed_ns bigint,
	OUT cpu_ns bigint, OUT subxact_overflowed boolean, OUT parallel boolean, OUT notifies boolean, OUT truncates boolean,
	OUT ddl boolean, OUT foreign_tables boolean, OUT plan_shape text, OUT fired_shape text, OUT written text, OUT advice text)
RETURNS record
AS 'MODULE_PATHNAME', 'rtb_counted' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION rtbench.counted() IS
'what was counted in this session between CALL rtbench.count_begin() and CALL rtbench.count_end()';

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
'starting, fixture, pilot, sessions (fresh backends visit the points), rounds (of one backend), cleaning, judging; keeping: the run has been ended early; load: the sessions of a load are at work';
COMMENT ON COLUMN rtbench.progress.point IS 'the point that is being measured';
COMMENT ON COLUMN rtbench.progress.session IS 'the session that runs, from 1, the pilot''s';
COMMENT ON COLUMN rtbench.progress.sessions_planned IS 'sessions in all, as it looks now: fewer if intervals are narrow enough before; NULL until known';
COMMENT ON COLUMN rtbench.progress.round IS 'the round that runs, from 1, of this session at this point, or of a load''s windows';
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
	OUT bytes_sent bigint, OUT bytes_received bigint, OUT notices bigint, OUT microseconds numeric,
	OUT cpu_microseconds numeric, OUT delivered_ms numeric, OUT server_version text, OUT tls text)
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
	OUT microseconds numeric, OUT low numeric, OUT high numeric, OUT kind text, OUT notes text)
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
RETURNS TABLE (query text, calls numeric, rows_per_call numeric, total_exec_time numeric, asking_ms numeric,
	asking_percent numeric, suspicion text, kind text, stats_reset timestamptz, "window" interval)
LANGUAGE sql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp AS $$
	WITH extension AS (
		SELECT format('%I.pg_stat_statements', n.nspname) AS entries,
			format('%I.pg_stat_statements_info', n.nspname) AS info
		FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
		WHERE e.extname = 'pg_stat_statements'
	), given AS (
		SELECT CASE
				-- NaN is above all numbers
				WHEN round_trip_ms NOT BETWEEN 0 AND 60000 THEN
					rtbench.refuse('round_trip_ms must be from 0 to 60000', 'It is in milliseconds: 0.2 within a data centre, 20 between cities.')::float8
				-- a copy that lacks columns would be one of nothing
				WHEN EXISTS (SELECT FROM unnest(ARRAY[source, since]) copy WHERE copy IS NOT NULL AND (
					SELECT count(*) FROM pg_attribute a WHERE a.attrelid = copy AND NOT a.attisdropped
						AND a.attname IN ('userid', 'dbid', 'queryid', 'query', 'calls', 'rows', 'total_exec_time', 'total_time')) < 7) THEN
					rtbench.refuse('source and since must be copies of the view pg_stat_statements, with its columns',
						'Make one by CREATE TABLE ... AS SELECT * FROM pg_stat_statements.')::float8
				ELSE coalesce(round_trip_ms, rtbench.my_round_trip(),
					rtbench.refuse('how long a round trip takes cannot be known on this connection',
						'Give round_trip_ms, in milliseconds: what ping says from where the clients are. It is known only to who is connected by TCP.')::float8)
			END AS ms,
			coalesce(source::text, (SELECT entries FROM extension),
				rtbench.refuse('extension "pg_stat_statements" is not installed in this database',
					'Add pg_stat_statements to shared_preload_libraries, restart the server and run CREATE EXTENSION pg_stat_statements; or give a copy of its view: source => ''...''.')) AS entries
	), seen AS (
		-- numeric: counts of years may be beyond bigint in sum, and a sum must not depend on the order of its rows
		SELECT false AS earlier, r->>'userid' AS userid, r->>'dbid' AS dbid, r->>'queryid' AS queryid, r->>'query' AS query,
			(r->>'calls')::numeric AS calls, (r->>'rows')::numeric AS rows,
			coalesce(r->>'total_exec_time', r->>'total_time')::numeric AS ms
		FROM given, rtbench.rows_of(given.entries) r
		-- what ran inside another statement never crossed the wire
		WHERE (r->>'toplevel')::boolean IS NOT FALSE
			AND (source IS NOT NULL OR (r->>'dbid')::oid = (SELECT oid FROM pg_database WHERE datname = current_database()))
		UNION ALL
		SELECT true, r->>'userid', r->>'dbid', r->>'queryid', r->>'query', (r->>'calls')::numeric, (r->>'rows')::numeric,
			coalesce(r->>'total_exec_time', r->>'total_time')::numeric
		FROM rtbench.rows_of(since::text) r
		WHERE (r->>'toplevel')::boolean IS NOT FALSE
	), hidden AS (
		-- who lacks pg_read_all_stats is shown other roles' counts, without queryid; if only in one of both copies, the other's queryids have nothing to be held against
		SELECT DISTINCT s.userid, s.dbid FROM seen s WHERE s.queryid IS NULL
	), entry AS (
		SELECT s.earlier, s.userid, s.dbid, CASE WHEN h.userid IS NULL THEN s.queryid ELSE 'hidden' END AS queryid,
			CASE WHEN h.userid IS NULL THEN max(s.query) ELSE '<insufficient privilege>' END AS query,
			sum(s.calls) AS calls, sum(s.rows) AS rows, sum(s.ms) AS ms
		FROM seen s LEFT JOIN hidden h ON h.userid = s.userid AND h.dbid = s.dbid
		GROUP BY s.earlier, s.userid, s.dbid, 4, h.userid
	), counted AS (
		-- one row for what several roles have run; what has been reset since counts from zero, and was if any count is less
		SELECT l.query, l.queryid = 'hidden' AS hidden, sum(l.calls - coalesce(e.calls, 0)) AS calls,
			sum(l.rows - coalesce(e.rows, 0)) AS rows, sum(l.ms - coalesce(e.ms, 0)) AS ms
		FROM entry l LEFT JOIN entry e
			ON e.earlier AND e.queryid = l.queryid AND e.userid = l.userid AND e.dbid = l.dbid
				AND e.calls <= l.calls AND e.rows <= l.rows AND e.ms <= l.ms
		WHERE NOT l.earlier
		GROUP BY l.queryid, l.query
		HAVING sum(l.calls - coalesce(e.calls, 0)) > 0
	), ranked AS (
		SELECT c.query, c.hidden, c.calls, c.rows, c.ms, c.calls * g.ms AS asking,
			row_number() OVER (ORDER BY c.ms + c.calls * g.ms DESC, c.query) AS place
		FROM counted c, given g
	), answer AS (
		-- those that are hidden are many statements: what one of them is like is not known
		SELECT r.place, r.query, r.calls, CASE WHEN NOT r.hidden THEN r.rows END AS rows, r.ms, r.asking,
			CASE WHEN NOT r.hidden AND r.calls >= 1000 AND r.rows > 0 AND r.rows <= r.calls THEN 'one row per call, many calls' END AS suspicion
		FROM ranked r WHERE r.place <= top
		UNION ALL
		SELECT NULL, '[total]', coalesce(sum(r.calls), 0), coalesce(sum(r.rows), 0), coalesce(sum(r.ms), 0), coalesce(sum(r.asking), 0), NULL
		FROM ranked r
	)
	SELECT a.query, a.calls, rtbench.round_significant(a.rows::float8 / nullif(a.calls, 0), 4), rtbench.round_significant(a.ms, 4),
		rtbench.round_significant(a.asking, 4), rtbench.round_significant(100 * a.asking / nullif(a.asking + a.ms, 0), 4),
		a.suspicion, 'computed', i.reset, now() - i.reset
	FROM answer a LEFT JOIN (
		SELECT (rtbench.rows_of(x.info)->>'stats_reset')::timestamptz AS reset
		FROM extension x
		WHERE source IS NULL AND since IS NULL AND to_regclass(x.info) IS NOT NULL) i ON true
	ORDER BY a.place
$$;
COMMENT ON FUNCTION rtbench.statement_prices(float8, regclass, regclass, int) IS
'computed from pg_stat_statements: what asking for the database''s statements costs, calls times a round trip, beside the executor''s time. since: a copy of its view made earlier, whose counts are subtracted; source: a copy to read instead; top: rows beside [total], which is of all statements. <insufficient privilege> is all that other roles ran, to whom may not see their statements.';

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

INSERT INTO rtbench.scenario_definitions (id, builtin, name, swept, points, parameters, description, check_query, setup)
VALUES (2, true, 'statement_rollback', 'statements', '{1,10,63,64,65,66,80,100,200,500,1000,10000}',
	'{"work": "insert", "rows": 10000, "transactions": 25}',
	'What a subtransaction for every statement costs, so that a failed statement can be rolled back alone. Swept: statements in a transaction. '
	'work is insert, hot_update, update (of an indexed column), select, or mixed (a third writes, two thirds read). '
	'A pass sends as many statements as make the given number of transactions, at most the given rows, at least one transaction.',
	'SELECT ''entries'', id, v FROM entries UNION ALL SELECT ''accounts'', id, v FROM accounts',
$setup$
CREATE TABLE entries (id int PRIMARY KEY, v int NOT NULL);
CREATE TABLE accounts (id int PRIMARY KEY, v int NOT NULL, balance int NOT NULL) WITH (fillfactor = 50);
INSERT INTO accounts SELECT g, g, 0
	FROM generate_series(1, CASE :'work' WHEN 'insert' THEN 1 ELSE greatest(:rows, :statements) END) g;
CREATE INDEX accounts_v_idx ON accounts (v);
-- the statements of a transaction, each in a block of its own that could handle its error
DO $make$ BEGIN
	EXECUTE format('CREATE PROCEDURE in_blocks(first int, last int) LANGUAGE plpgsql AS %L', format(
		'BEGIN FOR i IN first .. last LOOP BEGIN %s EXCEPTION WHEN division_by_zero THEN NULL; END; END LOOP; END',
		CASE :'work'
			WHEN 'insert' THEN 'INSERT INTO entries VALUES (i, i);'
			WHEN 'hot_update' THEN 'UPDATE accounts SET balance = balance + 1 WHERE id = i;'
			WHEN 'update' THEN 'UPDATE accounts SET v = v + 1 WHERE id = i;'
			WHEN 'select' THEN 'PERFORM balance FROM accounts WHERE id = i;'
			ELSE 'IF i % 3 = 0 THEN UPDATE accounts SET balance = balance + 1 WHERE id = i; ELSE PERFORM balance FROM accounts WHERE id = i; END IF;'
		END));
END $make$;
$setup$);

INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 2, a."position", rtbench.arm(a.name, steps => ARRAY[
		rtbench.foreach(
			'SELECT g, g % 3 = 0, g % 3 <> 0 FROM generate_series(1, greatest(:statements, least(:rows - :rows % :statements, :transactions * :statements))) g',
			ARRAY[
				rtbench.step('INSERT INTO entries VALUES ($1, $1)', subtransaction => a.kind, only_if => '{"work": "insert"}'),
				rtbench.step('UPDATE accounts SET balance = balance + 1 WHERE id = $1', subtransaction => a.kind, only_if => '{"work": "hot_update"}'),
				rtbench.step('UPDATE accounts SET v = v + 1 WHERE id = $1', subtransaction => a.kind, only_if => '{"work": "update"}'),
				rtbench.step('SELECT balance FROM accounts WHERE id = $1', subtransaction => a.kind, only_if => '{"work": "select"}'),
				rtbench.step('UPDATE accounts SET balance = balance + 1 WHERE id = $1', subtransaction => a.kind, only_if => '{"work": "mixed", "$2": true}'),
				rtbench.step('SELECT balance FROM accounts WHERE id = $1', subtransaction => a.kind, only_if => '{"work": "mixed", "$3": true}')],
			commit_every => ':statements')],
		ending => 'commit', description => a.description)
FROM (VALUES
	(1, 'transaction', 'none', 'each statement sent, no subtransaction'),
	(2, 'statement', 'internal', 'a subtransaction around each, begun and released inside the server'),
	(3, 'savepoint', 'savepoint', 'SAVEPOINT and RELEASE sent around each'))
	AS a ("position", name, kind, description);

INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 2, 4, rtbench.arm('exception_block', steps => ARRAY[
		rtbench.foreach(
			'SELECT g, g + :statements - 1 FROM generate_series(1, greatest(:statements, least(:rows - :rows % :statements, :transactions * :statements)), :statements) g',
			'CALL in_blocks($1, $2)')],
	ending => 'autocommit', description => 'a procedure called for each transaction: plpgsql with an EXCEPTION block around each statement');

--
-- procedure_vs_statements: the same INSERTs sent one by one, or asked for by one
-- call with an array for each transaction
--
INSERT INTO rtbench.scenario_definitions (id, builtin, name, swept, points, parameters, description, check_query, setup)
VALUES (3, true, 'procedure_vs_statements', 'statements', '{1,2,5,10,20,50,100}',
	'{"rows": 10000, "columns": 3, "key": "identity", "unique": "no", "constraints": "no", "sent": "prepared", "cast": "explicit"}',
	'Is a procedure faster than its statements sent one by one? Swept: statements (one row each) in a transaction, or by swept => ''columns'' the payload columns, 0 to 9. '
	'A pass is a batch of the given rows. key is identity, client_uuid (made by the client) or server_uuid (made by a default, left out of the check). '
	'unique: an index on the payload; constraints: CHECK and NOT NULL on it. sent is how calls are sent: prepared once a batch, or as text with the array as a literal; '
	'cast: with an explicit cast of the array or an implicit one. By transport worker there is no socket: the differences are the floor of those that a client sees.',
	'SELECT * FROM payload',
$setup$
DO $make$
DECLARE
	with_key boolean := :'key' = 'client_uuid';
	list text := (SELECT string_agg(format('c%s', c), ', ' ORDER BY c) FROM generate_series(1, :columns) c);
	payload text := (SELECT string_agg(format('c%s text%s', c, CASE :'constraints' WHEN 'yes' THEN format(' NOT NULL CHECK (c%s <> '''')', c) ELSE '' END), ', ' ORDER BY c)
		FROM generate_series(1, :columns) c);
	fields text := (SELECT string_agg(format('c%s text', c), ', ' ORDER BY c) FROM generate_series(1, :columns) c);
	made text := (SELECT string_agg(format('format(''%s of %%s'', n)', c), ', ' ORDER BY c) FROM generate_series(1, :columns) c);
	taken text := (SELECT string_agg(format('i.c%s', c), ', ' ORDER BY c) FROM generate_series(1, :columns) c);
	statement text;
	loop_text text;
	cast_text text := CASE :'cast' WHEN 'explicit' THEN '::item[]' ELSE '' END;
BEGIN
	IF :'unique' NOT IN ('yes', 'no') OR :'constraints' NOT IN ('yes', 'no') THEN
		RAISE EXCEPTION 'parameters "unique" and "constraints" are "yes" or "no"' USING ERRCODE = 'invalid_parameter_value';
	END IF;
	EXECUTE format('CREATE TABLE items (k %s%s)', CASE :'key'
			WHEN 'identity' THEN 'bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY'
			WHEN 'client_uuid' THEN 'uuid PRIMARY KEY'
			ELSE 'uuid DEFAULT gen_random_uuid() PRIMARY KEY' END, ', ' || payload);
	IF :'unique' = 'yes' AND :columns > 0 THEN
		EXECUTE format('CREATE UNIQUE INDEX ON items (%s)', list);
	END IF;
	-- what must be the same after every arm
	EXECUTE format('CREATE VIEW payload AS SELECT true AS row_is_there%s%s FROM items',
		CASE :'key' WHEN 'server_uuid' THEN '' ELSE ', k' END, ', ' || list);
	-- what the client has: rows, and the same rows in arrays, one for each transaction
	EXECUTE format('CREATE TYPE item AS (%s%sn int)', fields || ', ', CASE WHEN with_key THEN 'k uuid, ' END);
	CREATE TABLE lines OF item;
	EXECUTE format('INSERT INTO lines SELECT %s%sn FROM generate_series(1, $1) n',
		made || ', ', CASE WHEN with_key THEN 'md5(n::text)::uuid, ' END)
		USING greatest(:statements, :rows - :rows % :statements);
	statement := CASE WHEN with_key OR :columns > 0
		THEN format('INSERT INTO items (%s) VALUES (%s)', concat_ws(', ', list, CASE WHEN with_key THEN 'k' END), concat_ws(', ', taken, CASE WHEN with_key THEN 'i.k' END))
		ELSE 'INSERT INTO items DEFAULT VALUES' END;
	loop_text := format('BEGIN FOREACH i IN ARRAY batch LOOP %s; END LOOP; END', statement);
	EXECUTE format('CREATE PROCEDURE insert_items(batch item[]) LANGUAGE plpgsql AS %L', 'DECLARE i item; ' || loop_text);
	EXECUTE format('CREATE FUNCTION insert_all(batch item[]) RETURNS void LANGUAGE plpgsql AS %L', 'DECLARE i item; ' || loop_text);
	CREATE TABLE calls (call int PRIMARY KEY, batch item[] NOT NULL, call_text text, select_text text, do_text text NOT NULL);
	-- neither compressed nor looked at by ANALYZE: only read whole
	ALTER TABLE calls ALTER batch SET STORAGE EXTERNAL, ALTER call_text SET STORAGE EXTERNAL, ALTER select_text SET STORAGE EXTERNAL, ALTER do_text SET STORAGE EXTERNAL,
		ALTER batch SET STATISTICS 0, ALTER call_text SET STATISTICS 0, ALTER select_text SET STATISTICS 0, ALTER do_text SET STATISTICS 0;
	INSERT INTO calls
		SELECT call, batch, CASE :'sent' WHEN 'text' THEN format('CALL insert_items(%L%s)', batch, cast_text) END,
			   CASE :'sent' WHEN 'text' THEN format('SELECT insert_all(%L%s)', batch, cast_text) END,
			   format('DO %L', format('DECLARE batch item[] := %L%s; i item; %s', batch, cast_text, loop_text))
		FROM (SELECT (l.n - 1) / :statements, array_agg(l::item ORDER BY l.n) FROM lines l GROUP BY 1) b (call, batch) ORDER BY call;
END $make$;
$setup$);

INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 3, 1, rtbench.arm('sql', steps => ARRAY[
		rtbench.foreach('SELECT * FROM lines ORDER BY n',
			ARRAY(SELECT rtbench.step(
					CASE WHEN columns = 0 AND NOT with_key THEN 'INSERT INTO items DEFAULT VALUES'
						ELSE (SELECT format('INSERT INTO items (%s) VALUES (%s)', string_agg(CASE WHEN c > columns THEN 'k' ELSE format('c%s', c) END, ', ' ORDER BY c), string_agg(format('$%s', c), ', ' ORDER BY c))
							FROM generate_series(1, columns + with_key::int) c) END,
					only_if => format('{"columns": %s, "key": %s}', columns, CASE WHEN with_key THEN '"client_uuid"' ELSE '["identity", "server_uuid"]' END))
				FROM generate_series(0, 9) AS columns, (VALUES (true), (false)) AS k (with_key) ORDER BY columns, with_key),
			commit_every => ':statements')],
	ending => 'commit', description => 'each INSERT prepared and sent by itself, BEGIN and COMMIT around each transaction');

INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 3, a."position", rtbench.arm(a.name, steps => ARRAY[
		rtbench.foreach('SELECT batch FROM calls ORDER BY call', ARRAY[
				rtbench.step(a.call || '($1::item[])', only_if => '{"cast": "explicit"}'),
				rtbench.step(a.call || '($1)', only_if => '{"cast": "implicit"}')],
			commit_every => NULL::bigint, only_if => '{"sent": "prepared"}'),
		rtbench.generated(format('SELECT %I FROM calls ORDER BY call', a.texts), only_if => '{"sent": "text"}')],
	ending => 'autocommit', description => a.description)
FROM (VALUES
	(2, 'proc', 'CALL insert_items', 'call_text', 'a CALL for each transaction, with an array of its rows; the procedure runs the same INSERT for each'),
	(4, 'function', 'SELECT insert_all', 'select_text', 'the same in a function, by SELECT'))
	AS a ("position", name, call, texts, description);

INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 3, 3, rtbench.arm('do_block', steps => ARRAY[rtbench.generated('SELECT do_text FROM calls ORDER BY call')],
	ending => 'autocommit', description => 'the same in a DO block for each transaction, the array a literal in its text, compiled and planned anew each time');

--
-- What the scenarios above are asked for, as tables
--
CREATE FUNCTION rtbench.statement_rollback_table(run bigint DEFAULT NULL)
RETURNS TABLE (
	statements bigint,
	arm text,
	tps_without numeric,
	tps_with numeric,
	tps_stddev numeric,
	decrease_percent numeric,
	decrease_low numeric,
	decrease_high numeric,
	verdict text,
	commit_percent numeric,
	xids_per_transaction numeric,
	overflowed boolean,
	hot_percent numeric
)
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 36
BEGIN ATOMIC
	WITH r AS (SELECT * FROM rtbench.result(statement_rollback_table.run))
	SELECT w.point, w.arm, b.tps, w.tps, w.tps_stddev, w.decrease_percent, w.decrease_low, w.decrease_high, w.verdict,
		   (SELECT round(100 * sum(p.commit_ns) / sum(p.elapsed_ns), 1) FROM rtbench.passes p
				WHERE p.run = w.run AND p.arm = w.arm AND p.point IS NOT DISTINCT FROM w.point AND p.kind IN ('timed', 'last')),
		   trim_scale(round(w.xids::numeric / nullif(w.transactions, 0), 2)),
		   w.subxact_overflowed, w.hot_percent
	FROM r w LEFT JOIN r b ON b.arm = (SELECT runs.baseline FROM rtbench.runs WHERE runs.run = w.run) AND b.point IS NOT DISTINCT FROM w.point
	WHERE w.arm <> (SELECT runs.baseline FROM rtbench.runs WHERE runs.run = w.run)
	ORDER BY w.point, (SELECT array_position(runs.arms, w.arm) FROM rtbench.runs WHERE runs.run = w.run);
END;
COMMENT ON FUNCTION rtbench.statement_rollback_table(bigint) IS
'A run of arms that commit beside its baseline, one row for each point and other arm: transactions a second without (the baseline) and with, the decrease with its interval, the share of commits in the time, ids and overflow of subtransactions, share of HOT updates. Without an id, of your own last run.';

CREATE FUNCTION rtbench.procedure_vs_statements_table(run bigint DEFAULT NULL)
RETURNS TABLE (
	point bigint,
	arm text,
	round_trips bigint,
	mean_s numeric,
	stddev_s numeric,
	median_s numeric,
	speedup numeric,
	speedup_low numeric,
	speedup_high numeric,
	verdict text,
	us_per_statement numeric,
	first_us numeric,
	second_us numeric,
	third_us numeric,
	later_us numeric,
	prepare_us numeric,
	catalog_reads bigint
)
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 30
BEGIN ATOMIC
	SELECT r.point, r.arm, r.round_trips, trim_scale(r.mean_ms / 1000), trim_scale(r.stddev_ms / 1000), trim_scale(r.median_ms / 1000),
		   r.speedup, r.speedup_low, r.speedup_high, r.verdict, r.us_per_statement,
		   s.first_us, s.second_us, s.third_us, s.later_us, s.prepare_us, r.catalog_reads
	FROM rtbench.result(procedure_vs_statements_table.run) r
		LEFT JOIN (SELECT DISTINCT ON (t.point, t.arm) t.* FROM rtbench.step_result(procedure_vs_statements_table.run) t ORDER BY t.point, t.arm, t.step DESC) s
			ON s.arm = r.arm AND s.point IS NOT DISTINCT FROM r.point
	ORDER BY r.point, (SELECT array_position(runs.arms, r.arm) FROM rtbench.runs WHERE runs.run = r.run);
END;
COMMENT ON FUNCTION rtbench.procedure_vs_statements_table(bigint) IS
'A run in seconds for each batch, with the speedup over its baseline, and the first three executions of the last step beside later ones (the whole call of a procedure, one statement of sql), what parsing and analysing took of an execution, and index scans of system catalogs in a batch. Without an id, of your own last run.';

--
-- Privileges
--
GRANT USAGE ON SCHEMA rtbench TO PUBLIC;
-- runs, passes, findings, steps: own rows only, by the policies above; a run's
-- id is always the next one, so that nobody can take another's
GRANT SELECT, DELETE, UPDATE (label),
	INSERT (owner, together, server, label, scenario, transport, scope, arms, descriptions, points, swept,
			baseline, margin, max_time, seed, started_at, finished_at, complete,
			server_version, options, settings, machine, documents)
	ON rtbench.runs TO PUBLIC;
GRANT SELECT, INSERT, DELETE ON rtbench.passes, rtbench.findings, rtbench.steps TO PUBLIC;
GRANT SELECT ON rtbench.last, rtbench.history TO PUBLIC;
-- whose runs it shows is decided row by row
GRANT SELECT ON rtbench.progress TO PUBLIC;

--
-- Concurrent sessions (load.c)
--
CREATE FUNCTION rtbench.latency_quantiles(milliseconds float8[], fractions float8[])
RETURNS float8[]
AS 'MODULE_PATHNAME', 'rtb_sql_latency_quantiles'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION rtbench.latency_quantiles(float8[], float8[]) IS
'Quantiles by the histogram in which a load keeps its latencies: the smallest value that at least this share does not exceed, to within 0.4 % of it (0 and values below 256 ns, and the largest, are exact); NULL of no values.';

CREATE FUNCTION rtbench.load_group(name text, arm jsonb, sessions int DEFAULT 1, rate float8 DEFAULT NULL,
		parameters jsonb DEFAULT NULL, variant text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_sql_load_group';
COMMENT ON FUNCTION rtbench.load_group(text, jsonb, int, float8, jsonb, text) IS
	'a group of concurrent sessions that all run one arm, made by rtbench.arm(), again and again; rate: transactions a second of the whole group, at random times; variant: what it is called where groups of one name are compared, by default as the arm';

CREATE FUNCTION rtbench.load_group(name text, arm text, sessions int DEFAULT 1, rate float8 DEFAULT NULL,
		parameters jsonb DEFAULT NULL, variant text DEFAULT NULL)
	RETURNS jsonb LANGUAGE c STABLE PARALLEL SAFE
	AS 'MODULE_PATHNAME', 'rtb_sql_load_group';
COMMENT ON FUNCTION rtbench.load_group(text, text, int, float8, jsonb, text) IS
	'a group of concurrent sessions that run an arm of the load''s scenario, by its name';

CREATE TABLE rtbench.loads (
	run bigint DEFAULT rtbench.next_run() PRIMARY KEY,
	owner regrole NOT NULL DEFAULT quote_ident(current_user)::regrole,
	label text,
	scenario text NOT NULL,
	transport text NOT NULL,
	compared text,
	groups jsonb NOT NULL,
	margin float8 NOT NULL,
	seed bigint NOT NULL,
	started_at timestamptz NOT NULL,
	finished_at timestamptz NOT NULL,
	server_version text,
	options jsonb NOT NULL,
	settings jsonb,
	machine jsonb NOT NULL,
	setup jsonb NOT NULL
);
COMMENT ON TABLE rtbench.loads IS
'Loads that are kept: what was asked for, where, and with what settings. Each role sees its own. Ids are those of runs.';
COMMENT ON COLUMN rtbench.loads.transport IS 'worker, unix, tcp, tls, or a foreign server''s name; how its connections were used is in options';
COMMENT ON COLUMN rtbench.loads.compared IS 'the group whose variants were compared; NULL of a load that compares nothing';
COMMENT ON COLUMN rtbench.loads.groups IS 'the groups and their variants, with the exact SQL that their sessions ran';

CREATE TABLE rtbench.load_windows (
	run bigint NOT NULL REFERENCES rtbench.loads ON DELETE CASCADE,
	number int NOT NULL,
	round int NOT NULL,
	"position" int NOT NULL,
	control boolean NOT NULL,
	variant text NOT NULL,
	group_name text NOT NULL,
	sessions int NOT NULL,
	elapsed_ms float8 NOT NULL,
	tps float8 NOT NULL,
	transactions bigint NOT NULL,
	latency_max bigint NOT NULL,
	latency_sum float8 NOT NULL,
	latency_squares float8 NOT NULL,
	latency_buckets int[] NOT NULL,
	latency_counts bigint[] NOT NULL,
	lag_ms float8,
	lag_max_ms float8,
	retries bigint NOT NULL,
	xids bigint,
	subxact_overflowed boolean,
	errors jsonb NOT NULL,
	messages jsonb NOT NULL,
	waits jsonb,
	PRIMARY KEY (run, number, group_name)
);
COMMENT ON TABLE rtbench.load_windows IS
'What each group of a load did in each window that was counted, while a variant of the compared group was in force.';
COMMENT ON COLUMN rtbench.load_windows.tps IS 'sum of the sessions'' transactions by their own time, which ends with their last transaction';
COMMENT ON COLUMN rtbench.load_windows.latency_buckets IS
'numbers of the histogram''s buckets that hold something, of latencies in nanoseconds; latency_counts: how many';
COMMENT ON COLUMN rtbench.load_windows.xids IS 'NULL over a connection, where nobody counts them; as subxact_overflowed';
COMMENT ON COLUMN rtbench.load_windows.waits IS 'samples of what its sessions (over a loopback the backends at its far end) waited for; CPU: for nothing; NULL: on another server';

ALTER TABLE rtbench.loads ENABLE ROW LEVEL SECURITY;
ALTER TABLE rtbench.load_windows ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON rtbench.loads
	USING (owner = quote_ident(current_user)::regrole);
CREATE POLICY own ON rtbench.load_windows
	USING (EXISTS (SELECT FROM rtbench.loads AS l
				   WHERE l.run = load_windows.run AND l.owner = quote_ident(current_user)::regrole));
GRANT SELECT, DELETE, UPDATE (label),
	INSERT (owner, label, scenario, transport, compared, groups, margin, seed, started_at, finished_at,
			server_version, options, settings, machine, setup)
	ON rtbench.loads TO PUBLIC;
GRANT SELECT, INSERT, DELETE ON rtbench.load_windows TO PUBLIC;
SELECT pg_catalog.pg_extension_config_dump('rtbench.loads', '');
SELECT pg_catalog.pg_extension_config_dump('rtbench.load_windows', '');

CREATE FUNCTION rtbench.load_result(run bigint DEFAULT NULL)
RETURNS TABLE (
	run bigint,
	group_name text,
	variant text,
	arm text,
	sessions int,
	windows int,
	transactions bigint,
	tps numeric,
	tps_stddev numeric,
	mean_ms numeric,
	stddev_ms numeric,
	p50_ms numeric,
	p95_ms numeric,
	p99_ms numeric,
	max_ms numeric,
	rate numeric,
	lag_ms numeric,
	lag_max_ms numeric,
	errors jsonb,
	retries bigint,
	xids bigint,
	subxact_overflowed boolean,
	waits jsonb,
	speedup numeric,
	speedup_low numeric,
	speedup_high numeric,
	decrease_percent numeric,
	decrease_low numeric,
	decrease_high numeric,
	latency_speedup numeric,
	latency_low numeric,
	latency_high numeric,
	level numeric,
	comparisons bigint,
	verdict text,
	notes text
)
AS 'MODULE_PATHNAME', 'rtb_sql_load_result'
LANGUAGE C STABLE PARALLEL RESTRICTED ROWS 4;
COMMENT ON FUNCTION rtbench.load_result(bigint) IS
'Every figure of a load: one row for each group and, where variants of a group were compared, each variant that was in force, the compared group first. Latencies count from the scheduled time where there is a rate. waits: share of samples; CPU is a session that waited for nothing. speedup: transactions a second beside those under the first variant; latency_speedup: mean latency under the first variant over that of this one; the verdict is on the first, with a rate on the second. Without an id, of your own last load.';

CREATE PROCEDURE rtbench.run_load(groups jsonb[], duration interval DEFAULT '10 s', setup text DEFAULT NULL,
	parameters jsonb DEFAULT NULL, warmup interval DEFAULT '1 s', label text DEFAULT NULL, retry boolean DEFAULT false,
	transport text DEFAULT 'worker', server text DEFAULT NULL, protocol text DEFAULT 'prepared', batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL, round_trip_ms float8 DEFAULT NULL)
AS 'MODULE_PATHNAME', 'rtb_run_load' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_load(jsonb[], interval, text, jsonb, interval, text, boolean, text, text, text, int, int, float8) IS
'run groups of concurrent sessions, made by rtbench.load_group(), on tables that setup makes in a scratch schema; every transaction is committed; retry tries serialization failures and deadlocks again; transport, server, protocol, batch, fetch_size as in sweep(), round_trip_ms is one simulated distance; the figures are in rtbench.load_result() afterwards';

CREATE PROCEDURE rtbench.run_load(scenario text, duration interval DEFAULT '10 s', groups jsonb[] DEFAULT NULL,
	parameters jsonb DEFAULT NULL, warmup interval DEFAULT '1 s', label text DEFAULT NULL, retry boolean DEFAULT false,
	transport text DEFAULT 'worker', server text DEFAULT NULL, protocol text DEFAULT 'prepared', batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL, round_trip_ms float8 DEFAULT NULL)
AS 'MODULE_PATHNAME', 'rtb_run_load' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_load(text, interval, jsonb[], jsonb, interval, text, boolean, text, text, text, int, int, float8) IS
'the same with a scenario''s setup and arms: by default each arm is a group, of arms called group/variant the first of a group; parameters called group_sessions and group_rate are the groups''';

CREATE PROCEDURE rtbench.run_load_compare(groups jsonb[], duration interval DEFAULT '30 s', setup text DEFAULT NULL,
	parameters jsonb DEFAULT NULL, warmup interval DEFAULT '1 s', label text DEFAULT NULL, retry boolean DEFAULT false,
	rounds int DEFAULT 12, margin float8 DEFAULT 0.02, control boolean DEFAULT true, seed bigint DEFAULT NULL,
	transport text DEFAULT 'worker', server text DEFAULT NULL, protocol text DEFAULT 'prepared', batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL, round_trip_ms float8 DEFAULT NULL)
AS 'MODULE_PATHNAME', 'rtb_run_load_compare' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_load_compare(jsonb[], interval, text, jsonb, interval, text, boolean, int, float8, boolean, bigint, text, text, text, int, int, float8) IS
'compare variants of one group, which are groups of one name, while the others stay: the same sessions go on and change what they do from window to window, in mirrored rounds; the figures, also those of the other groups under each variant, are in rtbench.load_result() afterwards';

CREATE PROCEDURE rtbench.run_load_compare(scenario text, duration interval DEFAULT '30 s', groups jsonb[] DEFAULT NULL,
	parameters jsonb DEFAULT NULL, warmup interval DEFAULT '1 s', label text DEFAULT NULL, retry boolean DEFAULT false,
	rounds int DEFAULT 12, margin float8 DEFAULT 0.02, control boolean DEFAULT true, seed bigint DEFAULT NULL,
	transport text DEFAULT 'worker', server text DEFAULT NULL, protocol text DEFAULT 'prepared', batch int DEFAULT NULL,
	fetch_size int DEFAULT NULL, round_trip_ms float8 DEFAULT NULL)
AS 'MODULE_PATHNAME', 'rtb_run_load_compare' LANGUAGE C;
COMMENT ON PROCEDURE rtbench.run_load_compare(text, interval, jsonb[], jsonb, interval, text, boolean, int, float8, boolean, bigint, text, text, text, int, int, float8) IS
'the same with a scenario''s setup and arms: arms called group/variant are the variants of a group';

INSERT INTO rtbench.scenario_definitions (id, builtin, name, parameters, description, setup)
VALUES (20, true, 'mixed_load', '{"rows": 10000, "readers_sessions": 2, "writers_sessions": 2}',
	'A load: readers of 15 SELECTs a transaction beside writers of 5 UPDATEs and 10 SELECTs, without and with a subtransaction for every statement. '
	'CALL rtbench.run_load_compare(''mixed_load'') tells what that costs the writers, and the readers. '
	'A transaction of the writers updates its rows in order, so that there are no deadlocks.',
$setup$
CREATE TABLE accounts (id int PRIMARY KEY, balance int NOT NULL, filler text NOT NULL) WITH (fillfactor = 50);
INSERT INTO accounts SELECT g, 0, repeat('x', 80) FROM generate_series(1, :rows) g;
$setup$),
	(21, true, 'subtransaction_overflow', '{"rows": 5000, "statements": 65, "hold_seconds": 0.1, "readers_sessions": 1, "committers_rate": 200}',
	'A load: a writer changes all rows of a table, each statement in a subtransaction, and holds them; readers scan the table meanwhile. '
	'Other sessions see the ids of 64 subtransactions of a transaction in shared memory; of one that has more they must look up whose each id is. '
	'It shows only when a later transaction has committed, as the committers'' do. '
	'CALL rtbench.run_load_compare(''subtransaction_overflow'') compares 64 statements with the parameter''s, 65.',
$setup$
CREATE TABLE held (id int PRIMARY KEY, v int NOT NULL) WITH (fillfactor = 30);
INSERT INTO held SELECT g, 0 FROM generate_series(1, :rows) g;
CREATE TABLE counter (v int NOT NULL) WITH (fillfactor = 10);
INSERT INTO counter VALUES (0);
$setup$);

INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 20, a."position", rtbench.arm(a.name, steps => ARRAY[
		rtbench.foreach('SELECT r.id FROM (SELECT 1 + (random() * (:rows - 1))::int AS id FROM generate_series(1, 5)) r ORDER BY r.id',
			rtbench.step('UPDATE accounts SET balance = balance + 1 WHERE id = $1', subtransaction => a.kind)),
		rtbench.foreach('SELECT 1 + (random() * (:rows - 1))::int FROM generate_series(1, 10)',
			rtbench.step('SELECT balance FROM accounts WHERE id = $1', subtransaction => a.kind))],
	ending => 'commit', description => a.description)
FROM (VALUES
	(1, 'writers/transaction', 'none', '5 UPDATEs and 10 SELECTs a transaction, no subtransaction'),
	(2, 'writers/statement', 'internal', 'the same with a subtransaction around each statement, inside the server'),
	(3, 'writers/savepoint', 'savepoint', 'the same by SAVEPOINT and RELEASE, as clients have it'))
	AS a ("position", name, kind, description);
INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 20, 4, rtbench.arm('readers', steps => ARRAY[
		rtbench.foreach('SELECT 1 + (random() * (:rows - 1))::int FROM generate_series(1, 15)', 'SELECT balance FROM accounts WHERE id = $1')],
	ending => 'commit', description => '15 SELECTs a transaction');

INSERT INTO rtbench.arm_definitions (scenario, "position", document)
SELECT 21, a."position", rtbench.arm(a.name, steps => ARRAY[
		rtbench.foreach(format('SELECT 1 + (g - 1) * :rows / %1$s, g * :rows / %1$s FROM generate_series(1, %1$s) g', a.statements),
			rtbench.step('UPDATE held SET v = v + 1 WHERE id BETWEEN $1 AND $2', subtransaction => 'savepoint')),
		rtbench.step('SELECT pg_sleep(:hold_seconds)')],
	ending => 'commit', description => a.description)
FROM (VALUES
	(1, 'writer/64_statements', '64', 'changes all rows in 64 subtransactions and holds them'),
	(2, 'writer/statements', ':statements', 'the same in as many subtransactions as the parameter says'))
	AS a ("position", name, statements, description);
INSERT INTO rtbench.arm_definitions (scenario, "position", document) VALUES
	(21, 3, rtbench.arm('readers', steps => ARRAY['SELECT sum(v) FROM held'],
		ending => 'commit', description => 'scans the rows that the writer holds')),
	(21, 4, rtbench.arm('committers', steps => ARRAY['UPDATE counter SET v = v + 1'],
		ending => 'commit', description => 'commits, so that the writer''s ids are no longer the newest'));
