#!/bin/bash
# run.sh [PART...]
#	The tests.  Ends with the line `N passed, N failed`, and with status 1 when anything failed.
#
# PART, by default all of them:
#	build	gcc with every warning an error, and the install
#	checks	the tree keeps its own rules (checks.sh)
#	clang	the same compiler flags with clang, where there is one
#	regress	sql/*.sql against expected/ in a throw-away cluster
#	simulate	made-up runs judged by the code that judges runs (test/simulate)
#	tap	test/t/*.pl, each of which makes clusters of its own
# Each regression test, TAP file, build and check counts as one.

. "$(dirname "${BASH_SOURCE[0]}")/cluster.sh"
. "$ROOT/test/checks.sh"

passed=0 failed=0

# PGXS hands out the flags and attributes of the gcc that built the server; what clang doesn't know of them is no fault
# of ours
CLANG_COPT='-Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-unused-command-line-argument'
CLANG_COPT+=' -Wno-ignored-attributes'

ok() { passed=$((passed + 1)); say "ok      $*"; }
not_ok() { failed=$((failed + 1)); say "FAILED  $*"; }

# verdict NAME STATUS LOG : one line, and what was printed when it failed
verdict()
{
	if [ "$2" = 0 ]; then ok "$1"; else not_ok "$1"; tail -n 100 "$3"; fi
}

close()
{
	say "$passed passed, $failed failed"
	[ "$failed" = 0 ]
	exit
}

part_build()
{
	build >"$W/build.log" 2>&1
	verdict 'build with gcc, install' $? "$W/build.log"
	[ "$failed" = 0 ] || close
}

part_checks()
{
	local check
	for check in "${CHECKS[@]}"; do
		(cd "$ROOT" && "check_$check") >"$W/check.log" 2>&1
		verdict "check: ${check//_/ }" $? "$W/check.log"
	done
	(cd "$ROOT" && long_files)
}

part_clang()
{
	local clang
	clang=$(command -v clang || ls -v /usr/bin/clang-[0-9]* 2>/dev/null | tail -n1)
	[ -n "$clang" ] || { say 'note: no clang here, not compiled with it'; return; }
	tree clang
	pgxs clang all CC="$clang" COPT="$CLANG_COPT" \
		>"$W/clang.log" 2>&1
	verdict 'build with clang' $? "$W/clang.log"
}

part_regress()
{
	local rc n word name before=$((passed + failed)) failed_before=$failed
	ls "$W"/src/sql/*.sql >/dev/null 2>&1 || return
	start fsync=off
	run timeout 900 make -s -C "$W/src" PG_CONFIG="$PG_CONFIG" with_llvm=no installcheck >"$W/regress.log" 2>&1
	rc=$?
	# one line a test: `test NAME ... ok 12 ms` up to PostgreSQL 15, `ok 1 - NAME 12 ms` from 16 on
	while read -r word name; do
		case $word in ok) ok "regress: $name" ;; *) not_ok "regress: $name" ;; esac
	done < <(sed -nE 's/^(test)? +([^ ]+) +\.\.\. (ok|FAILED).*/\3 \2/p; s/^(ok|not ok) +[0-9]+ +[-+] ([^ ]+).*/\1 \2/p' "$W/regress.log" |
		sed 's/^not ok/FAILED/')
	n=$((passed + failed - before))
	[ "$rc" = 0 ] || cat "$W/src/regression.diffs" 2>/dev/null
	# it can fail without saying of which test: no connection, a time-out
	if [ "$rc" != 0 ] && [ "$failed" = "$failed_before" ] || [ "$n" = 0 ]; then
		not_ok "regress: ended with status $rc after $n tests"
		tail -n 40 "$W/regress.log"
	fi
	crashed >"$W/crash.log"
	verdict 'regress: no server process crashed' $((1 - $?)) "$W/crash.log"
}

part_simulate()
{
	[ -d "$W/data" ] || start fsync=off
	{
		pgxs src/test/simulate all && pgxs src/test/simulate install &&
			pgxs src/test/simulate installcheck
	} >"$W/simulate.log" 2>&1
	verdict 'simulate: what the verdicts promise holds' $? "$W/simulate.log"
	cat "$W/src/test/simulate/regression.diffs" 2>/dev/null
}

part_tap()
{
	local file name pgxs rc
	pgxs=$(dirname "$("$PG_CONFIG" --pgxs)")/../..
	for file in "$W"/src/test/t/*.pl; do
		[ -e "$file" ] || return
		name=$(basename "$file" .pl)
		run mkdir -p "$W/tap/$name/log"
		# what PGXS's prove_installcheck would set, on old and new majors; tests start in the tree's top directory
		run env -C "$W/src" PGPORT=65432 TESTDIR="$W/tap/$name" TESTDATADIR="$W/tap/$name" TESTLOGDIR="$W/tap/$name/log" \
			PG_REGRESS="$pgxs/src/test/regress/pg_regress" \
			timeout 900 prove -I "$pgxs/src/test/perl" -I "$W/src/test/t" "$file" >"$W/tap/$name.log" 2>&1
		rc=$?
		verdict "tap: $name" $rc "$W/tap/$name.log"
		[ "$rc" = 0 ] || find "$W/tap/$name" -name '*.log' -print -exec tail -n 40 {} \;
	done
}

need test
work_dir
private_server
say "rtbench on $("$PG_CONFIG" --version), $(gcc --version | head -n1)"
[ $# -gt 0 ] || set -- build checks clang regress simulate tap
for part; do
	SECONDS=0
	"part_$part"
	say "        ($part: $SECONDS s)"
done
close
