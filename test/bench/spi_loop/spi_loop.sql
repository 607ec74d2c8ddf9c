-- the functions of spi_loop.c
CREATE OR REPLACE FUNCTION spi_loop(driver text, statement text, counted boolean DEFAULT false) RETURNS bigint
	AS '$libdir/spi_loop' LANGUAGE c VOLATILE STRICT;
CREATE OR REPLACE FUNCTION run(statement text, counted boolean) RETURNS void
	AS '$libdir/spi_loop' LANGUAGE c VOLATILE STRICT;
CREATE OR REPLACE FUNCTION loop_cpu_ns(driver text, statement text) RETURNS bigint
	AS '$libdir/spi_loop' LANGUAGE c VOLATILE STRICT;
CREATE OR REPLACE FUNCTION hooks_installed() RETURNS int
	AS '$libdir/spi_loop' LANGUAGE c VOLATILE STRICT;
CREATE OR REPLACE PROCEDURE commit_loop(driver text, statement text)
	AS '$libdir/spi_loop' LANGUAGE c;
