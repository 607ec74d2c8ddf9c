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

# one_core WORK [SETTING...] : server and what is started from here on share one core, and it listens at 127.0.0.1; log in WORK.
# Where the kernel puts two processes is a factor of two to four, and no property of either.  Sets core.
one_core()
{
	local data work=$1 setting
	shift
	data=$(sql -c 'SHOW data_directory') || exit
	for setting in "listen_addresses = '127.0.0.1'" "$@"; do sql -c "ALTER SYSTEM SET $setting" || exit; done
	core=$(taskset -cp $$ | sed 's/.*: *\([0-9]*\).*/\1/')
	taskset -cp "$core" $$ >/dev/null
	# libpq in a backend takes options from the environment that the server was started in
	env -u PGOPTIONS pg_ctl -D "$data" -l "$work/log" -o "-p $PGPORT" -m fast -w restart >/dev/null || exit
}

# pooler WORK : pgbouncer in session mode before the server, as foreign server `pooler`; false where there is none.  Sets bouncer (its
# process, to be ended) and bouncer_port.
pooler()
{
	local work=$1 user
	command -v pgbouncer >/dev/null || return 1
	bouncer_port=$((PGPORT + 1))
	while (exec 3<>"/dev/tcp/127.0.0.1/$bouncer_port") 2>/dev/null; do bouncer_port=$((bouncer_port + 1)); done
	user=$(sql -c 'SELECT current_user')
	printf '%s\n' '[databases]' "pooled = host=$PGHOST port=$PGPORT dbname=postgres user=$user pool_mode=session" '[pgbouncer]' \
		'listen_addr = 127.0.0.1' "listen_port = $bouncer_port" 'unix_socket_dir =' 'auth_type = any' "auth_file = $work/users" \
		"logfile = $work/bouncer.log" "pidfile = $work/bouncer.pid" >"$work/ini"
	: >"$work/users"
	pgbouncer -q -d "$work/ini" || exit
	for _ in {1..200}; do [ -s "$work/bouncer.pid" ] && break; sleep 0.1; done
	bouncer=$(cat "$work/bouncer.pid") || { cat "$work/bouncer.log"; exit 1; }
	sql -c 'SET client_min_messages = error' -c 'DROP SERVER IF EXISTS pooler CASCADE' -c "CREATE SERVER pooler FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$bouncer_port', dbname 'pooled', gssencmode 'disable')" \
		-c 'CREATE USER MAPPING FOR PUBLIC SERVER pooler' || exit
}
