#!/bin/bash
# bench.sh: runs the benchmarks, test/bench/*.sh, each on a server of its own with default settings.
#
# A benchmark is a script that finds PGHOST, PGPORT, PGUSER, PGDATABASE and the server's programs in PATH, and stands in
# the top directory of a copy of this tree.  It prints ratios of what it measured side by side in one run, and fails
# when one is out of its bounds.
#
# BENCH="test/bench/x.sh ..."	these only

. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"

cd "$ROOT" || exit
read -ra benchmarks <<<"${BENCH:-$(echo test/bench/*.sh)}"
[ -e "${benchmarks[0]}" ] || die "no such benchmark: ${benchmarks[0]}"
need demo
work_dir
private_server
build >"$W/build.log" 2>&1 || { cat "$W/build.log" >&2; die 'it does not build'; }
passed=0 failed=0
for benchmark in "${benchmarks[@]}"; do
	start
	say "== $(basename "$benchmark" .sh)"
	if run env -C "$W/src" bash "$benchmark" && ! crashed; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		say "FAILED  $(basename "$benchmark" .sh)"
	fi
	stop
done
say "$passed passed, $failed failed"
[ "$failed" = 0 ]
