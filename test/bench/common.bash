# shellcheck shell=bash
# common.bash: what the benchmarks share.  Sourced by them.
#
# shellcheck's SC2016: in single quotes \$1 is a parameter of SQL's.
#
# A benchmark prints a line for each thing that must be reached, ending in OK or NOT OK, and ends by calling close.

set -u
set -o pipefail
shopt -s lastpipe		# reports counts in this shell
not_ok=0 printed=0
SECONDS=0

sql() { psql -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# report TEXT OK? : one line; OK? is t or f, as SQL prints it, or empty where there is no bound
report()
{
	local word=''
	case $2 in
		t) word='  OK' ;;
		'') ;;
		*) word='  NOT OK'; not_ok=$((not_ok + 1)) ;;
	esac
	printed=$((printed + 1))
	printf '%s%s\n' "$1" "$word"
}

# reports : lines of TEXT<tab>OK?, from standard input
reports()
{
	local text ok lines=0
	while IFS=$'\t' read -r text ok; do report "$text" "$ok"; lines=$((lines + 1)); done
	[ $lines -gt 0 ] || report 'nothing was measured' f
}

close()
{
	printf '(%d s)\n' "$SECONDS"
	[ "$printed" -gt 0 ] && [ "$not_ok" = 0 ]
	exit
}

# the extension, and an empty schema for what a benchmark makes, first in the path
extension()
{
	sql -c 'SET client_min_messages = error' -c 'CREATE EXTENSION IF NOT EXISTS rtbench' \
		-c 'DROP SCHEMA IF EXISTS bench CASCADE' -c 'CREATE SCHEMA bench' || exit
	export PGOPTIONS='-c search_path=bench,public'
}

# the hand-written loop, built and installed into the server, which is a throw-away one
spi_loop()
{
	make -s -C test/bench/spi_loop PG_CONFIG="${PG_CONFIG:-pg_config}" with_llvm=no install >&2 &&
		sql -f test/bench/spi_loop/spi_loop.sql || exit
}
