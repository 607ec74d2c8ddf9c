#!/bin/bash
# cluster.sh COMMAND...
#	A throw-away PostgreSQL with rtbench in it; run COMMAND against it, then remove it.
# cluster.sh end DIR
#	End the server in DIR that `make demo KEEP=1` left, and remove it.
#
# Sourced by demo.sh, run.sh and bench.sh; on its own it is for a quick look:
#	test/cluster.sh psql -c 'CREATE EXTENSION rtbench' -c '\dx+ rtbench'
#
# Everything lives in one directory, $W: a private copy of the server (PostgreSQL finds its files relative to its
# binaries, so the extension is installed into the copy and the machine's own server is never touched), a copy of this
# tree, the data and the socket.  As root all of it runs as user postgres, since the server refuses to run as root.
#
# PG_CONFIG=... chooses the server.

set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
W='' child=''
AS=()

# What a make above us was given is passed on by name; its flags would override ours.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES

say() { printf '%s\n' "$*"; }
die() { printf 'rtbench: %s\n' "$*" >&2; exit 2; }

# ---------------------------------------------------------------- what must be installed

apt_install() # apt_install PACKAGE... : installs them, or says how and stops
{
	command -v apt-get >/dev/null || die "missing: $* (as Debian calls them); install them and try again"
	[ "$(id -u)" = 0 ] || die "missing packages; install them with:
  sudo apt-get install --no-install-recommends $*"
	say "installing $*"
	local get=(env DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o Dpkg::Use-Pty=0
		-o Acquire::Retries=3 install --no-install-recommends "$@") log
	log=$(mktemp)
	# a list that was never fetched, or is too old, is fetched once
	"${get[@]}" </dev/null >"$log" 2>&1 ||
		{ apt-get -qq update </dev/null >>"$log" 2>&1; "${get[@]}" </dev/null >>"$log" 2>&1; } ||
		{ tail -20 "$log" >&2; rm -f "$log"; die "apt-get could not install $*"; }
	rm -f "$log"
}

usable_pg_config() # can extensions be built and a server be run with pg_config $1?
{
	local b p h
	# Debian's client package has pgxs.mk, too: what says that an extension can be built are the headers
	b=$("$1" --bindir 2>/dev/null) && p=$("$1" --pgxs 2>/dev/null) && h=$("$1" --includedir-server 2>/dev/null) &&
		[ -f "$p" ] && [ -f "$h/postgres.h" ] && [ -x "$b/initdb" ] && [ -x "$b/postgres" ] && [ -x "$b/psql" ]
}

find_pg() # sets PG_CONFIG; installs Debian's server when there is none
{
	local major
	if [ -n "${PG_CONFIG-}" ]; then
		PG_CONFIG=$(command -v "$PG_CONFIG") || die 'PG_CONFIG names no program'
		[[ $PG_CONFIG = /* ]] || PG_CONFIG=$PWD/$PG_CONFIG
		usable_pg_config "$PG_CONFIG" && return
		# of Debian's own servers we know which packages are missing
		[[ $("$PG_CONFIG" --bindir 2>/dev/null) =~ ^/usr/lib/postgresql/([0-9]+)/bin$ ]] ||
			die "$PG_CONFIG belongs to no server with its development files (PGXS)"
		major=${BASH_REMATCH[1]}
	else
		for PG_CONFIG in pg_config $(ls -vr /usr/lib/postgresql/*/bin/pg_config 2>/dev/null); do
			PG_CONFIG=$(command -v "$PG_CONFIG") && usable_pg_config "$PG_CONFIG" && return
		done
		# the major of a server that only lacks its development files, else the distribution's
		major=$(ls -vd /usr/lib/postgresql/*/bin/postgres 2>/dev/null | tail -n1 | cut -d/ -f5)
		if [ -z "$major" ] && command -v apt-cache >/dev/null; then
			[ -n "$(apt-cache depends postgresql 2>/dev/null)" ] || [ "$(id -u)" != 0 ] || apt-get -qq update </dev/null
			major=$(apt-cache depends postgresql 2>/dev/null | sed -n 's/.*Depends: postgresql-\([0-9]*\)$/\1/p' | head -n1)
		fi
	fi
	apt_install "postgresql-${major:-15}" "postgresql-server-dev-${major:-15}"
	PG_CONFIG=/usr/lib/postgresql/${major:-15}/bin/pg_config
	usable_pg_config "$PG_CONFIG" || die "$PG_CONFIG is still not usable"
}

need() # need demo|test : everything that the job uses
{
	local missing=()
	command -v make >/dev/null || missing+=(make)
	command -v gcc >/dev/null || missing+=(gcc libc6-dev)
	command -v setpriv >/dev/null || missing+=(util-linux)
	if [ "$1" = test ]; then
		command -v prove >/dev/null && perl -MTest::More -MJSON::PP -e1 2>/dev/null || missing+=(perl)
		perl -MIPC::Run -e1 2>/dev/null || missing+=(libipc-run-perl)
		# the Debian trees of other majors do without it: its test is skipped there
		[ -n "${WITHOUT_POOLER-}" ] || [ -x /usr/sbin/pgbouncer ] || command -v pgbouncer >/dev/null || missing+=(pgbouncer)
	fi
	[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
	find_pg
}

# ---------------------------------------------------------------- running and ending things

# run COMMAND... : in a process group of its own, so that a signal to this script ends all of it at once
run()
{
	local rc
	set -m
	"${AS[@]}" "$@" </dev/null &
	child=$!
	set +m
	wait "$child"; rc=$?
	child=''
	return $rc
}

kill_servers() # every server below $W, also those that a TAP test left
{
	local f pid
	while read -r f; do
		pid=$(head -n1 "$f" 2>/dev/null)
		[ -n "$pid" ] && kill -QUIT "$pid" 2>/dev/null || continue
		for _ in {1..100}; do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
	done < <(find "$W" -name postmaster.pid 2>/dev/null)
}

clean_up()
{
	trap '' INT TERM HUP PIPE
	[ -z "$child" ] || kill -TERM -- "-$child" 2>/dev/null
	[ -n "$W" ] && [ -d "$W" ] || return
	kill_servers
	rm -rf "$W"
}

work_dir() # sets W; from here on whatever happens ends in clean_up
{
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	trap 'exit 129' HUP
	trap 'exit 141' PIPE
	# not in $TMPDIR: user postgres may not be let in there, and a socket's path is at most 107 bytes long
	W=$(mktemp -d /tmp/rtbench.XXXXXX) || die "could not make a directory in /tmp"
	chmod 755 "$W"
	if [ "$(id -u)" = 0 ]; then
		local user=postgres
		id "$user" >/dev/null 2>&1 || user=nobody
		AS=(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups)
		chown "$user:" "$W"
	fi
	export HOME=$W LC_ALL=C.UTF-8
	cd "$W" || exit
}

# ---------------------------------------------------------------- the private copy of the server, with the extension

private_server() # copies PG_CONFIG's server below $W and makes PG_CONFIG, PGBIN and PATH name the copy
{
	local dir i
	for i in bindir pkglibdir sharedir; do
		dir=$("$PG_CONFIG" --$i)
		mkdir -p "$W/pg$dir" && cp -a "$dir/." "$W/pg$dir/" || die "could not copy $dir"
	done
	for i in libdir includedir; do
		dir=$("$PG_CONFIG" --$i)
		[ -e "$W/pg$dir" ] || { mkdir -p "$(dirname "$W/pg$dir")" && ln -s "$dir" "$W/pg$dir"; }
	done
	PGBIN=$W/pg$("$PG_CONFIG" --bindir)
	MACHINE_PSQL=$("$PG_CONFIG" --bindir)/psql
	PG_CONFIG=$PGBIN/pg_config
	# a copy of an installed rtbench must not stand in for this tree's
	rm -rf "$("$PG_CONFIG" --pkglibdir)"/{rtbench.so,bitcode/rtbench,bitcode/rtbench.index.bc} \
		"$("$PG_CONFIG" --sharedir)"/extension/rtbench*
	[ "$(id -u)" != 0 ] || chown -R "$(stat -c %U:%G "$W")" "$W/pg"
	PATH=$PGBIN:$PATH
	export PATH PG_CONFIG
}

tree() # tree DIR : a copy of this tree without anything built, in $W/DIR
{
	mkdir "$W/$1"
	(cd "$ROOT" && tar -cf - --exclude=./.git --exclude='*.o' --exclude='*.so' --exclude='*.bc' \
		--exclude=./results --exclude=./tmp_check .) | tar -xf - -C "$W/$1" --no-same-owner
	[ "$(id -u)" != 0 ] || chown -R "$(stat -c %U:%G "$W")" "$W/$1"
}

# pgxs DIR ARGUMENT... : make, quietly, in $W/DIR.  Without bitcode, which only the JIT inliner would read.
pgxs()
{
	local dir=$1
	shift
	run make -s -j"$(nproc)" -C "$W/$dir" PG_CONFIG="$PG_CONFIG" with_llvm=no "$@"
}

build() { tree src && pgxs src all && pgxs src install; }

# ---------------------------------------------------------------- the cluster

free_port()
{
	PGPORT=$((20000 + RANDOM % 20000))
	while (exec 3<>"/dev/tcp/127.0.0.1/$PGPORT") 2>/dev/null; do PGPORT=$((PGPORT + 1)); done
}

start() # start [SETTING=VALUE...] : a cluster with default settings, apart from those named
{
	local setting
	run initdb -D "$W/data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$W/initdb.log" 2>&1 ||
		{ cat "$W/initdb.log" >&2; die "initdb failed"; }
	run mkdir -m 700 "$W/socket"
	{
		# reached by its socket only: it trusts whoever can open it
		printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$W/socket'"
		for setting; do printf '%s\n' "${setting%%=*} = '${setting#*=}'"; done
	} >>"$W/data/postgresql.conf"
	free_port
	export PGHOST=$W/socket PGPORT PGUSER=postgres PGDATABASE=postgres
	run pg_ctl -D "$W/data" -l "$W/server.log" -o "-p $PGPORT" -w -t 120 start >"$W/start.log" 2>&1 ||
		{ cat "$W/start.log" "$W/server.log" >&2; die "the server did not start"; }
}

stop() # the end of what start made
{
	kill_servers
	rm -rf "$W/data" "$W/socket" "$W/server.log"
}

crashed() # did a server process die?  Prints what the log says about it
{
	grep -qE 'was terminated by signal|PANIC:|TRAP:' "$W/server.log" && tail -n 60 "$W/server.log"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	[ $# -gt 0 ] || die 'usage: test/cluster.sh COMMAND...'
	if [ "$1" = end ]; then
		[[ ${2-} =~ ^/tmp/rtbench\.[A-Za-z0-9]+$ && -d $2 ]] || die "there is no server in \"${2-}\""
		W=$2
		clean_up
		exit
	fi
	need demo
	work_dir
	private_server
	build || exit
	start fsync=off
	run "$@"
fi
