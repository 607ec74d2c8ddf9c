-- Included by tests: schema regress_rtb_decoys, whose operators and types stand in for those of pg_catalog wherever a path has them
-- first.  Whoever uses one is told.
CREATE SCHEMA regress_rtb_decoys;
DO $$
DECLARE
	l text; r text; op text;
	types text[] := '{oid,int4,int8,text,name,"\"char\"",xid,regclass,numeric,float8,timestamptz,pg_catalog.text[],pg_catalog.oid[],information_schema.sql_identifier,information_schema.yes_or_no,information_schema.character_data}';
BEGIN
	FOREACH l IN ARRAY types LOOP FOREACH r IN ARRAY types LOOP
		EXECUTE format('CREATE FUNCTION regress_rtb_decoys.decoy(%1$s, %2$s) RETURNS bool LANGUAGE plpgsql AS $f$ BEGIN RAISE EXCEPTION ''decoy of %% and %%'', %1$L, %2$L; END $f$', l, r);
		FOREACH op IN ARRAY '{=,<>,<,>=,||,*,-,~~}'::text[] LOOP
			EXECUTE format('CREATE OPERATOR regress_rtb_decoys.%s (leftarg = %s, rightarg = %s, function = regress_rtb_decoys.decoy)', op, l, r);
		END LOOP;
	END LOOP; END LOOP;
	FOREACH l IN ARRAY '{oid,text,xid,xid8,regclass,float8}'::text[] LOOP
		EXECUTE format('CREATE DOMAIN regress_rtb_decoys.%I AS pg_catalog.int4 CHECK (false)', l);
	END LOOP;
END $$;
