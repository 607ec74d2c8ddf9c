# shellcheck shell=bash disable=SC2034,SC2010,SC2046
# checks.sh: rules that the tree keeps about itself.  Sourced by run.sh, which runs each check_NAME of CHECKS in the top
# directory.  A check prints what offends and returns false; one that finds nothing to look at is false too.

CHECKS=(one_version one_file_names_PG_VERSION_NUM only_connections_include_libpq tests_have_expected_output functions_of_at_most_120_lines)

# The version stands in rtbench.control; the others must agree.
check_one_version()
{
	local v rc=0
	v=$(sed -n "s/^default_version = '\(.*\)'$/\1/p" rtbench.control)
	[ -n "$v" ] || { echo 'rtbench.control has no default_version'; return 1; }
	[ -f "rtbench--$v.sql" ] || { echo "rtbench--$v.sql is missing"; rc=1; }
	perl -MJSON::PP -0777 -e '
		my $v = shift; my $m = decode_json(<STDIN>); my $e = $m->{provides}{rtbench};
		my @bad = grep { $_->[1] ne $_->[2] } (
			["version", $m->{version}, "$v.0"], ["provides.rtbench.version", $e->{version}, "$v.0"],
			["provides.rtbench.file", $e->{file}, "rtbench--$v.sql"]);
		print "META.json: $_->[0] is \"$_->[1]\", not \"$_->[2]\"\n" for @bad;
		exit(@bad ? 1 : 0)' "$v" <META.json || rc=1
	# the newest entry
	[[ $(grep -m1 '^## ' CHANGELOG.md) =~ ^"## $v.0"( |$) ]] || { echo "CHANGELOG.md does not begin with $v.0"; rc=1; }
	return $rc
}

check_one_file_names_PG_VERSION_NUM()
{
	grep -q PG_VERSION_NUM src/compat.h && ! grep -n PG_VERSION_NUM $(ls src/*.[ch] | grep -vx src/compat.h)
}

# libpq in a backend needs care (never block, never leak a connection): it is taken in the files of the connection alone
check_only_connections_include_libpq()
{
	grep -q 'libpq-fe\.h' src/connection_private.h &&
		! grep -nE '#[[:space:]]*include.*(libpq-(fe|events)|connection_private)\.h' $(ls src/*.[ch] | grep -vE '^src/connection(_private\.h|(_[a-z]+)?\.c)$') &&
		! grep -nE '#[[:space:]]*include.*libpq-(fe|events)\.h' $(ls src/connection*.c)
}

check_tests_have_expected_output()
{
	local f rc=0
	for f in sql/*.sql; do
		[ -f "expected/$(basename "$f" .sql).out" ] || { echo "$f has no expected output"; rc=1; }
	done
	for f in expected/*.out; do
		# NAME_1.out and so on are other right answers of NAME
		[ -f "sql/$(basename "$f" .out | sed 's/_[0-9]$//').sql" ] || { echo "$f belongs to no test"; rc=1; }
	done
	return $rc
}

# In PostgreSQL's layout a function's braces stand in the first column, and the line before the first ends with ")".
check_functions_of_at_most_120_lines()
{
	awk 'FNR == 1 { begin = 0; last = "" }
		/^\{/ { if (last ~ /\)[[:space:]]*$/) { begin = FNR; name = head; functions++ } }
		/^\}/ { if (begin && FNR - begin + 1 > 120) { printf "%s:%d: %s: %d lines\n", FILENAME, begin, name, FNR - begin + 1; bad = 1 } begin = 0 }
		/^[A-Za-z_]/ { head = $0; sub(/\(.*/, "", head) }
		NF { last = $0 }
		END { exit bad || !functions }' src/*.c
}

# Not a check: worth a look.
long_files()
{
	wc -l src/*.[ch] | awk '$1 > 600 && $2 != "total" { print "note: " $2 " has " $1 " lines" }'
}
