#!/bin/bash
# duration.sh: how long the two commands of a newcomer take
#
# Both run as they are from this tree, packages installed.
# Must reach: make demo within 2 minutes, make test within 10, on 2 cores.

. "$(dirname "$0")/common.bash"
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# the_command TARGET SECONDS
the_command()
{
	local began=$SECONDS status took ok=f
	env -u PGHOST -u PGPORT -u PGUSER -u PGDATABASE make -s "$1" >"$log" 2>&1
	status=$?
	took=$((SECONDS - began))
	[ "$status" = 0 ] && [ "$took" -le "$2" ] && ok=t
	[ "$status" = 0 ] || tail -n 30 "$log" >&2
	report "$(printf 'make %-5s ended with status %d after %3d s, at most %3d s' "$1" "$status" "$took" "$2")" $ok
}

the_command demo 120
the_command test 600
close
