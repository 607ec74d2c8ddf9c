-- simulate(): see simulate.c.  verdicts: with an interval; wrong: it leaves out the true speedup; alarms: it leaves out 1.
CREATE FUNCTION simulate(model text, experiments int, sessions int DEFAULT 12, rounds int DEFAULT 2, arms int DEFAULT 2,
	noise float8 DEFAULT 0.02, speedup float8 DEFAULT 1, bias float8 DEFAULT 0.01, target float8 DEFAULT NULL,
	control boolean DEFAULT true, mirrored boolean DEFAULT true, seed bigint DEFAULT 1,
	OUT verdicts bigint, OUT wrong bigint, OUT alarms bigint, OUT runs_wrong bigint, OUT control_failed bigint, OUT no_interval bigint,
	OUT half_width float8, OUT units float8, OUT level float8)
AS 'rtb_simulate' LANGUAGE C;
