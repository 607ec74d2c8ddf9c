-- What `make demo` shows.
\set ON_ERROR_STOP on
\pset pager off
\pset null '-'
\pset linestyle ascii
\set ECHO queries

CREATE EXTENSION rtbench;

:sweep;

-- the speedup of each arm over the first, one row a size; echoed by hand, since ECHO leaves \crosstabview out
\set ECHO none
\echo 'SELECT point, arm, round(speedup::numeric, 2) AS speedup FROM' :last '\\crosstabview point arm speedup'
SELECT point, arm, round(speedup::numeric, 2) AS speedup FROM :last \crosstabview point arm speedup
