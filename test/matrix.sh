#!/bin/bash
# matrix.sh
#	The suite on other majors, each in a Debian tree of its own.  Ends with the line `N passed, N failed`.
#
# MAJORS="17 18 19?"	which; a major whose tree can't be made counts as a failure, but for one with a question mark, which may
#	not be in Debian yet
# PARTS="build regress tap"	parts of run.sh
#
# The trees are made when missing or older than a week, and kept in ${XDG_CACHE_HOME:-/var/cache}/rtbench (0.6 GB each);
# nothing in them is changed by a run.  Two majors run at a time, each one's output is shown when it has ended.
#
# Beside them runs a server of this machine's own major with rtbench in it, on 127.0.0.1: the far end of another major
# (test/t/034_other_major.pl).

. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

[ "$(id -u)" = 0 ] || die "Debian trees are made and entered as root: sudo make test-matrix"
command -v mmdebstrap >/dev/null || apt_install mmdebstrap
trees=${XDG_CACHE_HOME:-/var/cache}/rtbench
mkdir -p "$trees" || die "could not make $trees"

far_end() # a throw-away server with rtbench; sets FAR, how it is reached
{
	local password
	need demo
	work_dir
	private_server
	build >"$W/build.log" 2>&1 || { cat "$W/build.log"; return 1; }
	start listen_addresses=127.0.0.1 fsync=off
	password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
	"${AS[@]}" psql -qX -v ON_ERROR_STOP=1 <<<"SET log_statement = none; CREATE EXTENSION rtbench; ALTER ROLE postgres PASSWORD '$password'" || return
	printf '%s\n' 'local all all trust' 'host all all 127.0.0.1/32 scram-sha-256' >"$W/data/pg_hba.conf"
	run pg_ctl -D "$W/data" reload >/dev/null || return
	FAR="port=$PGPORT password=$password"
}

one() # one MAJOR : prints its tests
{
	local major=${1%\?} tree=$trees/${1%\?}
	exec 9>"$tree.lock"
	flock 9
	if [ ! -d "$tree" ] || [ -n "$(find "$tree" -maxdepth 0 -mtime +7)" ]; then
		if ! "$ROOT/test/mkroot.sh" "$major" "$tree" >"$tree.log" 2>&1; then
			cat "$tree.log"
			if [ ! -d "$tree" ]; then
				if [ "$major" != "$1" ]; then
					say "note: PostgreSQL $major is not to be had here, nothing was tested on it"
					say '0 passed, 0 failed'
					return
				fi
				say "FAILED  no tree for PostgreSQL $major"
				say '0 passed, 1 failed'
				return
			fi
			say "note: the tree is old, of $(date -r "$tree" +%F), and could not be made anew"
		fi
	fi
	# from here on others may use the tree too, but not make it anew
	flock -s 9
	timeout --foreground -s KILL "${TIMEOUT:-1200}" "$ROOT/test/in-root.sh" "$tree" \
		PG_CONFIG="/usr/lib/postgresql/$major/bin/pg_config" WITHOUT_POOLER=1 RTBENCH_OTHER_MAJOR="$FAR" /tmp/rtbench-src/test/run.sh ${PARTS:-build regress tap} 2>&1 9>&-
}

out=$(mktemp -d) || exit
pids=()
end_jobs()
{
	local pid
	trap '' INT TERM HUP
	for pid in "${pids[@]}"; do kill -TERM -- "-$pid" 2>/dev/null; done
	# what is in a namespace dies with the process that holds it
	for _ in {1..50}; do jobs -r | grep -q . || break; sleep 0.1; done
	for pid in "${pids[@]}"; do kill -KILL -- "-$pid" 2>/dev/null; done
	rm -rf "$out"
	clean_up
}
FAR=''
if ! far_end; then
	say 'FAILED  no server of another major for the tests in the trees'
	say '0 passed, 1 failed'
	exit 1
fi
trap end_jobs EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

read -ra majors <<<"${MAJORS:-17 18 19?}"
set -m
for major in "${majors[@]}"; do
	while [ "$(jobs -r | wc -l)" -ge 2 ]; do wait -n; done
	one "$major" </dev/null >"$out/$major" &
	pids+=($!)
done
set +m

passed=0 failed=0
for i in "${!majors[@]}"; do
	wait "${pids[$i]}"
	say "== PostgreSQL ${majors[$i]}"
	sed -E "s/^([0-9]+ passed, [0-9]+ failed)$/== PostgreSQL ${majors[$i]}: \1/" "$out/${majors[$i]}"
	if [[ $(tail -n1 "$out/${majors[$i]}") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
	else
		say "FAILED  PostgreSQL ${majors[$i]} did not come to its end"
		failed=$((failed + 1))
	fi
done
say "$passed passed, $failed failed"
[ "$failed" = 0 ]
