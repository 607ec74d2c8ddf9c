#!/bin/bash
# demo.sh: the main job on a throw-away server with default settings, so that the figures are real.
#
# KEEP=1	leave the server running to play with
# SWEEP=... LAST=...	another statement in the sweep's place, and what holds its result

. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

need demo
work_dir
private_server
say "building rtbench for $("$PG_CONFIG" --version)"
build >"$W/build.log" 2>&1 || { cat "$W/build.log" >&2; die 'it does not build'; }
start
run psql -X -q -f "$W/src/test/demo.sql" -v sweep="${SWEEP:-"SELECT * FROM rtbench.sweep('delete_tree')"}" \
	-v last="${LAST:-rtbench.last}" || { crashed >&2; die 'the demo failed'; }

if [ -z "${KEEP-}" ]; then
	say "To play with the server that this ran on: make demo KEEP=1"
	exit
fi
trap - EXIT
sudo=${SUDO_USER:+sudo }
cat <<END
The server is still running.
  connect:                ${sudo}$MACHINE_PSQL -h $PGHOST -p $PGPORT -U postgres postgres
  stop and remove it:     ${sudo}$ROOT/test/cluster.sh end $W
END
