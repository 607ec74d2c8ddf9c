# Arms over connections: the same rows as in process, by every protocol; simulated distances; what a
# cancelled, terminated or cut-off run leaves at the far end (nothing); who may connect; databases of another server.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use RtbTest;
use Test::More;
use Time::HiRes qw(sleep time);

my $node = new_node('main', "listen_addresses = '127.0.0.1'\nmax_worker_processes = 12\n");
my $port = $node->port;

sub run_sql
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = warning; $sql");
	$err =~ s/^psql:[^ ]* //mg;
	return $rc == 0 ? $out : $err;
}

my $small = q{'delete_tree', points => '{40}', parameters => '{"other_documents": 5, "blocks_of_others": 5}', rounds => 2, control => false};

#
# the same work, wherever it is asked from
#
my $inside = run_sql("SELECT count(*) FROM rtbench.sweep($small);
	SELECT string_agg(arm || ' ' || statements || ' ' || fired || ' ' || rows || ' ' || xids || ' ' || digest, E'\\n' ORDER BY arm) FROM rtbench.result()");
like($inside, qr/^6\n/, 'in the worker');
for my $transport ('unix', 'tcp')
{
	my $outside = run_sql("SELECT count(*) FROM rtbench.sweep($small, transport => '$transport');
		SELECT string_agg(arm || ' ' || statements || ' ' || fired || ' ' || rows || ' ' || xids || ' ' || digest, E'\\n' ORDER BY arm) FROM rtbench.result()");
	is($outside, $inside, "$transport: the same statements, fired statements, rows, transaction ids and digests");
}
# 2 drivers, 80 + 1 statements, BEGIN and COMMIT; a prepared statement is parsed in a round trip of its own
for my $way (['prepared', 88], ['extended', 85], ['simple', 85], ['pipeline', 15], ['multi', 15])
{
	my ($protocol, $trips) = @$way;
	my $got = run_sql("SELECT count(*) FROM rtbench.sweep($small, transport => 'unix', protocol => '$protocol', batch => 10);
		SELECT round_trips, statements, rows, digest = (SELECT digest FROM rtbench.result((SELECT min(run) FROM rtbench.runs)) LIMIT 1) FROM rtbench.result() WHERE arm = 'row_at_a_time'");
	like($got, qr/^6\n(\d+)\|81\|81\|t$/, "$protocol: statements, rows and digest");
	my ($seen) = $got =~ /\n(\d+)\|/;
	cmp_ok(abs(($seen // 0) - $trips), '<=', 3, "$protocol: about $trips round trips ($seen)");
}
is(run_sql("SELECT count(*) FROM rtbench.sweep($small, transport => 'unix', fetch_size => 10, arms => '{row_at_a_time}');
	SELECT statements, rows FROM rtbench.result()"), "1\n81|81", 'a cursor that fetches 10 rows at a time: the same statements and rows');
is(run_sql("CALL rtbench.run_sweep('statement_rollback', points => '{5}', parameters => '{\"transactions\": 3}', arms => '{transaction,savepoint,exception_block}', transport => 'unix', rounds => 2);
	SELECT arm, round_trips, statements, transactions, xids, verdict = 'failed' FROM rtbench.result()"),
	"transaction|23|15|3|3|f\nsavepoint|53|45|3|18|f\nexception_block|5|15|3|18|f", 'arms that commit: BEGIN and COMMIT are sent');
# what they leave is compared, and nothing but the scratch schema may be changed by what is committed there
$node->safe_psql('postgres', 'CREATE TABLE users_own (id int)');
is(run_sql(q{CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit'), rtbench.arm('other_row', steps => ARRAY['INSERT INTO t VALUES (2)'], ending => 'commit'),
		rtbench.arm('replaced', steps => ARRAY['DROP TABLE t', 'CREATE TABLE t (id int)', 'INSERT INTO t VALUES (1)'], ending => 'autocommit')],
		setup => 'CREATE TABLE t (id int)', rounds => 2, transport => 'unix'); SELECT arm, checked, verdict FROM rtbench.result()}),
	"a|t|baseline\nother_row|t|not comparable\nreplaced|t|more rounds needed", 'arms that commit: what they leave is compared');
for my $arm (q{steps => ARRAY['INSERT INTO public.users_own VALUES (1)'], ending => 'commit'}, q{steps => ARRAY['INSERT INTO public.users_own VALUES (1)'], ending => 'autocommit'},
	q{steps => ARRAY['DROP TABLE public.users_own'], ending => 'commit'}, q{steps => ARRAY['CREATE SCHEMA made_by_arm'], ending => 'commit'},
	q{steps => ARRAY['SELECT 1'], before => 'INSERT INTO public.users_own VALUES (1)', ending => 'commit'},
	q{steps => ARRAY['DO $$ BEGIN INSERT INTO t VALUES (1); COMMIT; INSERT INTO public.users_own VALUES (1); COMMIT; END $$'], ending => 'autocommit'})
{
	like(run_sql("CALL rtbench.run_compare(ARRAY[rtbench.arm('a', $arm)], setup => 'CREATE TABLE t (id int)', rounds => 2, transport => 'unix')"),
		qr/may write only what its scenario's setup made/, "refused: $arm");
}
# what follows an arm that failed before anything was committed is not its own
like(run_sql(q{CALL rtbench.run_compare(ARRAY[rtbench.arm('good', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit'), rtbench.arm('fails', steps => ARRAY['SELECT 1 / 0'], ending => 'commit'),
		rtbench.arm('fails_before', steps => ARRAY['SELECT 1'], before => 'SELECT 1 / 0', ending => 'commit')], setup => 'CREATE TABLE t (id int)', rounds => 2, transport => 'unix');
	SELECT arm, verdict FROM rtbench.result()}), qr/good\|baseline\nfails\|failed\nfails_before\|failed/, 'an arm that fails leaves no watch behind');
is($node->safe_psql('postgres', "SELECT count(*), to_regnamespace('made_by_arm') FROM users_own"), '0|', 'nothing is changed');
# where nobody looks at what is committed, the tables of the setup are compared, all of them
$node->safe_psql('postgres', "CREATE DATABASE plain; CREATE SERVER plain FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'plain'); CREATE USER MAPPING FOR CURRENT_USER SERVER plain");
is(run_sql(q{CALL rtbench.run_compare(ARRAY[rtbench.arm('each', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', 'INSERT INTO t VALUES ($1)')], ending => 'autocommit'),
		rtbench.arm('fives', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, 20)', ARRAY['INSERT INTO t VALUES ($1)'], commit_every => '5')], ending => 'commit'),
		rtbench.arm('fewer', steps => ARRAY['INSERT INTO t SELECT generate_series(1, 19)'], ending => 'commit'),
		rtbench.arm('elsewhere', steps => ARRAY['INSERT INTO t SELECT generate_series(1, 20)', 'INSERT INTO other VALUES (1)'], ending => 'commit')],
		setup => 'CREATE TABLE t (id int); CREATE TABLE other (id int)', rounds => 2, server => 'plain');
	SELECT arm, transactions, checked, verdict FROM rtbench.result()}),
	"each|20|other, t|baseline\nfives|4|other, t|more rounds needed\nfewer|1|other, t|not comparable\nelsewhere|1|other, t|not comparable", 'arms that commit where rtbench is not installed');
# what ended a connection is told of a run, too
like(run_sql(q{SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_terminate_backend(pg_backend_pid())')], transport => 'unix', rounds => 2)}),
	qr/ERROR:  connection "unix" was lost\nDETAIL:  terminating connection due to administrator command/, 'the reason of a lost connection');
$node->safe_psql('postgres', 'DROP TABLE users_own');
is(run_sql("SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT g, g::float8 / 3, now()::date FROM generate_series(1, 100) g'), rtbench.arm('b', 'SELECT g, g::float8 / 3, now()::date FROM generate_series(100, 1, -1) g'),
		rtbench.arm('c', 'SELECT g, g::float8 / 3, now()::date FROM generate_series(1, 101) g')], transport => 'unix', rounds => 2);
	SELECT arm, verdict = 'not comparable', substring(notes FROM 'rows only in c: [^;]*') FROM rtbench.result()"),
	"3\na|f|\nb|f|\nc|t|rows only in c: 1, only in a: 0", 'returned rows are compared, and counted where they differ');
nothing_left($node, 'after all ways');

$node->safe_psql('postgres', 'CREATE TABLE users_own AS SELECT 1 AS i');
like(run_sql("SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1')], setup => '$_', transport => 'unix')"), qr/ERROR:  a setup cannot change or drop (public\.users_own|a table), which is not in its scratch schema/, "a setup may not: $_")
	for ('UPDATE users_own SET i = 2', 'DROP TABLE public.users_own', 'TRUNCATE users_own', 'ALTER TABLE users_own ADD j int');
is($node->safe_psql('postgres', 'SELECT * FROM users_own'), '1', 'and has not');

# each session is another process, which must know of them too
is(run_sql(q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)'), rtbench.arm('b', 'INSERT INTO t SELECT 1')], sessions => 3, control => false, transport => 'unix', setup =>
		'CREATE TABLE t (i int); CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN PERFORM pg_sleep(0.02); RETURN NULL; END'';
		CREATE CONSTRAINT TRIGGER late AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION late()');
	SELECT count(DISTINCT session), bool_and(elapsed_ns > 20e6) FROM rtbench.passes WHERE run = (SELECT max(run) FROM rtbench.runs) AND round > 0}), "2\n3|t", 'deferred triggers are inside the clock, in every session');

#
# distances
#
my $distant = q{'delete_tree', points => '{40}', parameters => '{"other_documents": 5, "blocks_of_others": 5}', arms => '{row_at_a_time,do_block}', rounds => 2, control => false, protocol => 'extended'};
is(run_sql("SELECT count(*) FROM rtbench.sweep($distant, transport => 'unix', round_trip_ms => '{0,1,2.9}');
	SELECT bool_and(substring(notes FROM '([0-9.]+) ms delivered')::float8 / (point / 1000.0) BETWEEN 0.999 AND 1.5) FROM rtbench.result() WHERE point > 0"),
	"6\nt", 'simulated distances: no less delivered than asked for, which is told');
$node->safe_psql('postgres', "CREATE SERVER near FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'postgres'); CREATE USER MAPPING FOR CURRENT_USER SERVER near;
	CREATE SERVER distant FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$port', dbname 'postgres'); CREATE USER MAPPING FOR CURRENT_USER SERVER distant");

#
# faults
#
my $slow = q{rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT pg_sleep(600)')], setup => 'CREATE TABLE t (i int)', transport => 'unix', max_time => '1000 s')};
my $sleeps = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = 'rtbench')";
for my $fault (
	['cancel of the caller', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'", qr/57014/],
	['end of the caller', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'", qr/57P01|server closed|connection/],
	['end of the far backend', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rtbench'", qr/08006|57P01/],
	['end of the worker', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'rtbench worker'", qr/08006|57P01/])
{
	my ($what, $sql, $expected) = @$fault;
	my $session = background($node, 'caller', "SELECT count(*) FROM $slow;");
	ok(defined seen($node, $sleeps), "$what: the arm runs at the far end");
	$node->safe_psql('postgres', $sql);
	my (undef, $err) = finish($session, 20);
	like($err, $expected, "$what: reported");
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench')", 10), "$what: no far backend is left");
	nothing_left($node, $what);
}
my $limited = run_sql("SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT pg_sleep(600)'), rtbench.arm('b', 'SELECT 1')], transport => 'unix', pass_timeout => '500 ms', rounds => 2, baseline => 'b', control => false)");
like($limited, qr/a\|failed\nb\|baseline/, 'pass_timeout ends an arm, and the others go on');
is(run_sql("SELECT arm, verdict FROM rtbench.compare(ARRAY[rtbench.arm('bad', 'SELECT 1 / 0'), rtbench.arm('good', 'SELECT 1')], transport => 'unix', rounds => 2, baseline => 'good', control => false);
	SELECT substring(notes FROM '^22012: division by zero') FROM rtbench.result() WHERE arm = 'bad'") =~ s/^WARNING.*\n//mgr,
	"bad|failed\ngood|baseline\n22012: division by zero", 'an arm that fails keeps its SQLSTATE and message');

# another server: what a killed worker leaves there is dropped when asked for, and not before; what a running one has is left alone
{
	my $far = $slow =~ s/transport => 'unix'/server => 'near'/r;
	my $running = background($node, 'running', "SELECT count(*) FROM $far;");
	my $killed = background($node, 'killed', "SELECT count(*) FROM $far;");
	ok(defined seen($node, "SELECT count(*) = 2 FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND application_name = 'rtbench'"), 'two runs on a server');
	is($node->safe_psql('postgres', "SELECT rtbench.cleanup('near')"), '0', 'nothing to clean up while both run');
	# the far backends go with their workers' sockets, the schemas stay
	my $worker = pid_of($node, 'killed', 1);
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'running'");
	finish($running, 20);
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'"), '1', 'a cancelled one leaves nothing there');
	kill 'KILL', $worker;
	finish($killed, 30);
	$node->poll_query_until('postgres', 'SELECT true') or die 'no restart';
	ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench')", 20), 'a killed one is gone');
	is($node->safe_psql('postgres', "SELECT rtbench.cleanup('near')"), '1', 'what it left is dropped');
	is($node->safe_psql('postgres', "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'"), '0', 'and gone');
	my ($rc, undef, $err) = $node->psql('postgres', "SELECT rtbench.cleanup('nowhere')");
	like($err, qr/server "nowhere" does not exist/, 'an unknown server');
}

#
# who may
#
$node->safe_psql('postgres', "CREATE ROLE plain LOGIN PASSWORD 'geheim'; GRANT CREATE ON DATABASE postgres TO plain; GRANT USAGE ON FOREIGN SERVER near TO plain");
sub as_plain { my ($sql) = @_; my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = error; SET ROLE plain; $sql"); return $rc == 0 ? $out : $err; }
like(as_plain("SELECT rtbench.sweep($small, transport => 'unix')"), qr/password is required/, 'a plain role may not come in as the server\'s own user');
like(as_plain("SELECT rtbench.sweep($small, server => 'near')"), qr/user mapping/, 'nor without a mapping of its own');
like(as_plain("SELECT rtbench.sweep($small, server => 'distant')"), qr/permission denied for foreign server distant/, 'nor to a server that it may not use');
unlike(as_plain("CREATE USER MAPPING FOR plain SERVER near OPTIONS (user 'plain', password 'geheim'); SELECT rtbench.sweep($small, server => 'near')"), qr/geheim/, 'passwords are not shown');
unlike($node->safe_psql('postgres', "SELECT options::text || documents::text || settings::text || transport FROM rtbench.runs"), qr/geheim/, 'nor kept');
nothing_left($node, 'at the end');
done_testing();
