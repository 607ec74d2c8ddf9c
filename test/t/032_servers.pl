# Several servers in one call: cancel, a far server that is killed in the middle, one that is not there; nothing is left at any of them, what was
# finished is kept; other rows at one of them give no ratio; what a far server says of itself is its own.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $here = new_node('here', "max_worker_processes = 5\nlog_line_prefix = '%p %d '\n");
my $far = new_node('far', "max_worker_processes = 4\nwork_mem = '1234kB'\n");
my ($host, $port) = ($far->host, $far->port);
$here->safe_psql('postgres', "CREATE SERVER far FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '$port', dbname 'postgres');
	CREATE USER MAPPING FOR CURRENT_USER SERVER far");

sub run_sql
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $here->psql('postgres', "SET client_min_messages = warning; $sql");
	return $rc == 0 ? $out : $err;
}

# scratch schemas and connections at the far end
sub nothing_there
{
	my ($what) = @_;
	ok(defined seen($far, "SELECT NOT EXISTS (SELECT FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%')
		AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench')", 10), "$what: nothing is left at the far server")
		or diag($far->safe_psql('postgres', "SELECT nspname FROM pg_namespace UNION ALL SELECT query FROM pg_stat_activity"));
}

my $small = q{'delete_tree', arms => '{row_at_a_time,set_based}', parameters => '{"other_documents": 3, "blocks_of_others": 5}', control => false};

#
# what is measured, in turns
#
is(run_sql("SELECT count(*) FROM rtbench.sweep($small, points => '{20,40}', sessions => 9, rounds => 2, servers => '{local,far}')"), '8', 'every arm at every point of both');
is(run_sql("SELECT count(*), bool_and(same_rows), bool_and(times_low <= times AND times <= times_high), bool_and(times > 0 AND median_ms > 0) FROM rtbench.across_servers() WHERE server = 'far'"),
	'4|t|t|t', 'a ratio with an interval where the rows are the same');
is(run_sql("SELECT string_agg(DISTINCT server || ' ' || (settings ->> 'work_mem') || ' ' || (settings ->> 'max_worker_processes'), ', ') FROM rtbench.runs WHERE together IS NOT NULL"),
	'far 1234 4, local 4096 5', 'settings are those of where the arms ran');
# all have the same sessions and rounds
my $turns = q{SELECT p.session, string_agg(DISTINCT r.server, ' ') AS turn FROM rtbench.runs r JOIN rtbench.passes p USING (run) WHERE r.together IS NOT NULL AND p.session > 1 GROUP BY 1};
is(run_sql("SELECT count(*) FROM ($turns) t WHERE turn ~ 'local' AND turn ~ 'far'"), '8', 'all sessions are at both');
nothing_left($here, 'a run');
nothing_there('a run');

# sessions of one number follow one another, the first of them is not always the same; each backend of either database says in the log that it is at work
$here->safe_psql('postgres', "CREATE DATABASE second; CREATE SERVER second FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '${\$here->host}', port '${\$here->port}', dbname 'second');
	CREATE USER MAPPING FOR CURRENT_USER SERVER second");
is(run_sql("SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'DO \$\$ BEGIN RAISE LOG ''at work''; END \$\$')], sessions => 9, rounds => 2, servers => '{local,second}')"), '2', 'a run of one arm');
my @backends;
for my $line (PostgreSQL::Test::Utils::slurp_file($here->logfile) =~ /^(\d+ \S+) LOG:  at work/mg)
{
	push @backends, $line unless @backends && $backends[-1] eq $line;
}
# the keepers come first; then 8 sessions at each
my %keepers = ($backends[0] => 1);
$keepers{(grep { !$keepers{$_} } @backends)[0]} = 1;
my @visitors = map { (split)[1] } grep { !$keepers{$_} } @backends;
my @pairs = map { "@visitors[2 * $_, 2 * $_ + 1]" } 0 .. @visitors / 2 - 1;
is(scalar(grep { $_ eq 'postgres second' || $_ eq 'second postgres' } @pairs), 8, 'a session here, a session there, in turns') or diag "@backends";
ok((grep { $_ eq 'postgres second' } @pairs) >= 3 && (grep { $_ eq 'second postgres' } @pairs) >= 3, 'in mirrored order') or diag join ', ', @pairs;

#
# rows: a trigger at the far server changes them
#
$far->safe_psql('postgres', q{CREATE TABLE kept (a int, b int); CREATE FUNCTION other() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN NEW.b := NEW.b + 1; RETURN NEW; END';
	CREATE TRIGGER other BEFORE INSERT ON kept FOR EACH ROW WHEN (NEW.a > 3) EXECUTE FUNCTION other()});
$here->safe_psql('postgres', 'CREATE TABLE kept (a int, b int)');
my $kept = q{rtbench.compare(ARRAY[rtbench.arm('hit', 'INSERT INTO kept SELECT g, g FROM generate_series(1, 5) g'), rtbench.arm('spared', 'INSERT INTO kept SELECT g, g FROM generate_series(1, 3) g')],
	sessions => 2, rounds => 2, control => false, servers => '{local,far}')};
is(run_sql("SELECT count(*) FROM $kept"), '4', 'a run with a trigger at one of them');
is(run_sql("SELECT arm, same_rows, times IS NULL, times_low IS NULL, notes ~ 'rows differ' FROM rtbench.across_servers() WHERE server = 'far' AND arm = 'hit'"),
	'hit|f|t|t|t', 'other rows at one of them: no ratio');
is(run_sql("SELECT count(*) FROM rtbench.across_servers() WHERE arm = 'spared' AND times IS NOT NULL"), '0', 'an arm that is not comparable within its server: none either');
is(run_sql("SELECT count(*) FROM ${\($kept =~ s/g FROM generate_series\(1, 5\)/g FROM generate_series(1, 2)/r =~ s/generate_series\(1, 3\)/generate_series(1, 2)/r)}"), '4', 'rows that it does not touch');
is(run_sql("SELECT bool_and(same_rows AND times > 0) FROM rtbench.across_servers()"), 't', 'the same rows: a ratio');
is($here->safe_psql('postgres', 'SELECT count(*) FROM kept') . $far->safe_psql('postgres', 'SELECT count(*) FROM kept'), '00', 'nothing lasts');

#
# faults
#
my $sleep = q{rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT pg_sleep(0.02)')], setup => 'CREATE TABLE t (i int)', points => '{1,2}', sessions => 1000, rounds => 2,
	max_time => '1000 s', servers => '{local,far}')};
my $fourth = 'SELECT EXISTS (SELECT FROM rtbench.progress WHERE session >= 4)';
for my $fault (
	['cancel of the caller', $here, "SELECT bool_or(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE application_name = 'caller' AND backend_type = 'client backend'", qr/canceling statement/],
	['end of the caller', $here, "SELECT bool_or(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'caller' AND backend_type = 'client backend'", qr/terminating connection|server closed/],
	['end of the far backends', $far, "SELECT coalesce(bool_or(pg_terminate_backend(pid)), false) FROM pg_stat_activity a WHERE application_name = 'rtbench'
		AND EXISTS (SELECT FROM pg_stat_activity b WHERE b.wait_event = 'PgSleep')", qr/terminating connection|connection/],
	['end of a worker', $here, "SELECT bool_or(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE backend_type = 'rtbench worker'", qr/terminating background worker|worker/])
{
	my ($what, $node, $sql, $expected) = @$fault;
	my $runs = $here->safe_psql('postgres', 'SELECT count(*) FROM rtbench.runs');
	my $session = background($here, 'caller', "SELECT count(*) FROM $sleep;", verbosity => 'default');
	ok(defined seen($here, $fourth), "$what: sessions have begun");
	seen($node, $sql);
	my (undef, $err) = finish($session, 30);
	like($err, $expected, "$what: reported");
	nothing_left($here, $what);
	nothing_there($what);
	next if $what eq 'end of the caller';
	my ($first, $second) = $err =~ /run (\d+) ended early and keeps/g;
	ok(defined $second, "$what: both runs are kept") or diag $err;
	is($here->safe_psql('postgres', "SELECT count(DISTINCT passes), count(*), bool_and(together = $first AND NOT complete) FROM (
		SELECT r.run, r.together, r.complete, array_agg((p.session, p.round, p.point) ORDER BY p.session, p.round, p.point) AS passes
		FROM rtbench.runs r JOIN rtbench.passes p USING (run) WHERE r.run IN ($first, $second) AND p.round > 0 GROUP BY r.run) s"), '1|2|t', "$what: with the same sessions");
	# what ended in the middle may have a point without a ratio: then it says why
	is($here->safe_psql('postgres', "SELECT count(*), bool_and(times > 0 OR notes <> '') FROM rtbench.across_servers($second)"), '4|t', "$what: side by side, or why not");
}

# the whole far server is killed in the middle: its disk keeps a schema, which goes when it is asked to
{
	my $session = background($here, 'caller', "SELECT count(*) FROM $sleep;", verbosity => 'default');
	ok(defined seen($here, $fourth), 'killed far server: sessions have begun');
	$far->stop('immediate');
	my (undef, $err) = finish($session, 40);
	like($err, qr/ERROR:/, 'killed far server: reported');
	like($err, qr/CONTEXT:.*at server "far"/s, 'killed far server: by its name');
	nothing_left($here, 'killed far server', limit => 20);
	like(run_sql("SELECT rtbench.sweep($small, points => '{20}', servers => '{local,far}')"), qr/far/, 'a server that is down: an error that names it');
	nothing_left($here, 'a server that is down');
	$far->start;
	run_sql("SELECT rtbench.cleanup('far')");
	nothing_there('killed far server, after cleanup()');
}

# a setup that fails at one of them
{
	my $err = run_sql("SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TABLE t AS SELECT 1 / (2 - count(*)) FROM pg_class WHERE relname = ''kept'' OR relname = ''only_there''', servers => '{local,far}')");
	unlike($err, qr/ERROR/, 'a setup that works at both');
	$far->safe_psql('postgres', 'CREATE TABLE only_there (i int)');
	$err = run_sql("SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => 'CREATE TABLE t AS SELECT 1 / (2 - count(*)) FROM pg_class WHERE relname = ''kept'' OR relname = ''only_there''', servers => '{local,far}')");
	like($err, qr/division by zero.*at server "far"/s, 'a setup that fails at one of them: which');
	nothing_left($here, 'a setup that fails');
	nothing_there('a setup that fails');
}

#
# worker slots: one for each server, and one more
#
{
	$here->safe_psql('postgres', join(';', map { "CREATE SERVER s$_ FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '$host', port '$port', dbname 'postgres'); CREATE USER MAPPING FOR CURRENT_USER SERVER s$_" } 1 .. 5));
	like(run_sql("SELECT rtbench.sweep($small, points => '{20}', servers => '{s1,s2,s3,s4,s5}')"), qr/not enough background worker slots: 6 are needed.*max_worker_processes is 5.*Raise max_worker_processes/s, 'too many servers: refused before anything starts');
	# one is the server's own: four are left
	my (undef, undef, $err) = $here->psql('postgres', "SELECT count(*) FROM rtbench.sweep($small, points => '{20}', servers => '{s1,s2,s3,s4}', sessions => 3, rounds => 2)");
	like($err, qr/no background worker slot was free for session 2.*needs 5 at a time/s, 'no slot for fresh sessions: said');
	is(run_sql("SELECT count(DISTINCT sessions), max(sessions) FROM rtbench.runs r, rtbench.result(r.run) WHERE r.together = (SELECT max(together) FROM rtbench.runs)"), '1|1', 'and all have the one session');
	like(run_sql("SELECT rtbench.sweep($small, points => '{20}', servers => '{local,s1,s2,s3,s4}', rounds => 2)"), qr/no background worker slot is free/, 'no slot for a server: an error');
	nothing_left($here, 'too few slots');
	nothing_there('too few slots');
}

# a dump keeps what ties them together
my $dump = "$PostgreSQL::Test::Utils::tmp_check/together.sql";
$here->command_ok([ 'pg_dump', '-f', $dump, '-d', $here->connstr('postgres') ], 'dump');
$here->safe_psql('postgres', 'CREATE DATABASE copy');
$here->command_ok([ 'psql', '-Xq', '-v', 'ON_ERROR_STOP=1', '-f', $dump, '-d', $here->connstr('copy') ], 'restore');
my $all = 'SELECT a FROM (SELECT DISTINCT together FROM rtbench.runs WHERE together IS NOT NULL) r, rtbench.across_servers(r.together) a ORDER BY r.together, 1';
is($here->safe_psql('copy', $all), $here->safe_psql('postgres', $all), 'side by side as before');

done_testing();
