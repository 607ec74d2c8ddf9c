# Engines that speak the protocol and are not PostgreSQL: the built-in scenarios run there unchanged and leave the same rows, what is
# not known is NULL and said, and nothing is left.  Such an engine is made of a server behind a proxy that refuses, with an error of the
# server itself, every statement that uses what only PostgreSQL has.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use PostgreSQL::Test::Utils;
use RtbTest;
use WireProxy;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main', "listen_addresses = '127.0.0.1'\nmax_worker_processes = 12\n");
$node->safe_psql('postgres', 'CREATE DATABASE far');
$node->safe_psql('far', 'CREATE TABLE users_own (i int)');

# catalogs and functions that CockroachDB or YugabyteDB lack, or have without what is looked for in them; settings; other words
my $only_postgres = qr/\bpg_\w+|\brtbench\.|\breg(?:class|proc|role|type|procedure|namespace)\b|\bset_config\b|\bcurrent_setting\b|\bobj_description\b
	|\bhas_\w+_privilege\b|\bVACUUM\b|\bautovacuum|\bCOMMENT\s+ON\b|\bFROM\s+ONLY\b|\bSELECT\s+FROM\b|^\s*SELECT\s*$
	|\bSET\s+(?:LOCAL|SESSION)\s+(?:row_security|xmlbinary|lc_monetary|quote_all_identifiers)/xi;

sub engine
{
	my (%opt) = @_;
	my $also = $opt{also} // qr/(?!)/;
	my $name = $opt{name};
	my $proxy = WireProxy->start(
		to => $node->port,
		statement => $opt{statement} // sub { my ($text) = @_; return $text =~ /$only_postgres|$also/ ? 'SELECT that_is_no_function_here()' : $text },
		parameter => sub { my ($key, $value) = @_; return $key eq 'server_version' ? '13.0.0-other-engine' : $key =~ /^(?:client_encoding|DateStyle|standard_conforming_strings)$/ ? $value : undef },
		map { $_ => $opt{$_} } grep { exists $opt{$_} } qw(no_key cancel));
	$node->safe_psql('postgres', "CREATE SERVER $name FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '${\$proxy->port}', dbname 'far');
		CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
	return $proxy;
}

sub run_sql
{
	my ($sql) = @_;
	my ($rc, $out, $err) = $node->psql('postgres', "SET client_min_messages = warning; $sql");
	$err =~ s/^psql:[^ ]* //mg;
	return $rc == 0 ? $out : $err;
}

sub nothing_left_there
{
	my ($what) = @_;
	my $none = "SELECT count(*) = 0 FROM information_schema.schemata WHERE schema_name LIKE 'rtbench%'";
	my $left;
	for (1 .. 100) { $left = $node->safe_psql('far', $none); last if $left eq 't'; Time::HiRes::sleep 0.05 }
	is($left, 't', "$what: no schema is left there") or diag($node->safe_psql('far', "SELECT schema_name FROM information_schema.schemata WHERE schema_name LIKE 'rtbench%'"));
	nothing_left($node, $what);
	return;
}

my $engine = engine(name => 'engine');

#
# the built-in scenarios, unchanged
#
my @scenarios = (
	[ 'delete_tree', 'SELECT count(*) FROM rtbench.sweep', q{points => '{40}', parameters => '{"other_documents": 5, "blocks_of_others": 5}'} ],
	[ 'statement_rollback', 'CALL rtbench.run_sweep', q{points => '{5}', parameters => '{"transactions": 3}', arms => '{transaction,savepoint,exception_block}'} ],
	[ 'procedure_vs_statements', 'CALL rtbench.run_sweep', q{points => '{2}', parameters => '{"rows": 20}'} ]);
for my $scenario (@scenarios)
{
	my ($name, $call, $options) = @$scenario;
	my $told = "SELECT string_agg(arm || ' ' || digest || ' ' || checked || ' ' || (verdict IN ('failed', 'not comparable')), E'\\n' ORDER BY arm) FROM rtbench.result()";
	my $inside = run_sql("$call('$name', $options, rounds => 2, control => false); $told");
	my $there = run_sql("$call('$name', $options, rounds => 2, control => false, server => 'engine'); $told");
	is($there, $inside, "$name: the same rows and digests as in the worker, and verdicts");
	like($inside, qr/false/, "$name: which can be compared");
	is(run_sql("SELECT bool_and(fired IS NULL AND buffers IS NULL AND wal_records IS NULL AND wal_bytes IS NULL AND xids IS NULL AND plan_shape IS NULL AND cpu_ms IS NULL AND round_trips > 0 AND statements > 0 AND (rows > 0) IS DISTINCT FROM false AND (rows IS NULL) = (arm IN ('do_block', 'exception_block', 'proc'))
			AND notes LIKE '%the far end has no rtbench: fired statements, buffers, WAL and plans are not known%') FROM rtbench.result()"), 't', "$name: what is not known is NULL, and said");
	is(run_sql("SELECT bool_and(notes LIKE '%server \"engine\" reports version 13.0.0-other-engine%' AND notes LIKE '%it calls itself PostgreSQL%' AND notes LIKE '%another engine: what it spends inside itself is not seen%'
			AND notes LIKE '%not vacuumed between passes%') FROM rtbench.result()"), 't', "$name: what engine it is, and what is not looked at there");
	is(run_sql("SELECT server_version FROM rtbench.runs ORDER BY run DESC LIMIT 1"), '13.0.0-other-engine', "$name: its version is recorded");
	nothing_left_there($name);
}
for my $protocol ('simple', 'extended', 'pipeline', 'multi')
{
	is(run_sql("SELECT count(*) FROM rtbench.sweep('delete_tree', $scenarios[0][2], rounds => 2, control => false, server => 'engine', protocol => '$protocol', batch => 10);
		SELECT count(DISTINCT digest), bool_or(verdict IN ('failed', 'not comparable')), string_agg(arm || ': ' || notes, E'\\n') FILTER (WHERE verdict IN ('failed', 'not comparable')) FROM rtbench.result()"), "6\n1|f|", "delete_tree by protocol $protocol");
}

is(run_sql("SELECT count(*) FROM rtbench.sweep('delete_tree', $scenarios[0][2], rounds => 2, control => false, servers => '{local,engine}');
	SELECT count(DISTINCT r.digest), count(DISTINCT m.server_version), bool_or(r.verdict IN ('failed', 'not comparable')) FROM (SELECT * FROM rtbench.runs ORDER BY run DESC LIMIT 2) m, rtbench.result(m.run) r") =~ s/^\d+\n//r,
	'1|2|f', 'beside a run at home');
nothing_left_there('beside a run at home');

#
# arms that differ, that fail, that write what is not seen
#
my $table = q{setup => 'CREATE TABLE t (id int GENERATED BY DEFAULT AS IDENTITY, "B" text); INSERT INTO t ("B") SELECT ''x'' FROM generate_series(1, 10); CREATE TABLE other (i int)'};
is(run_sql(qq{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'DELETE FROM t WHERE id < 3'), rtbench.arm('b', 'DELETE FROM t WHERE id = 1', 'DELETE FROM t WHERE id = 2'), rtbench.arm('c', 'DELETE FROM t WHERE id < 4'),
		rtbench.arm('d', 'SELECT 1 / 0')], $table, rounds => 2, control => false, server => 'engine');
	SELECT arm, checked, verdict, coalesce(substring(notes FROM 'rows only in c: 0, only in a: 1|^22012: division by zero'), CASE WHEN verdict = 'not comparable' THEN notes END) FROM rtbench.result()} =~ s/\n\s*/ /gr) =~ s/^WARNING.*\n//mgr,
	"4\na|other, t|baseline|\nb|other, t|more rounds needed|\nc|other, t|not comparable|rows only in c: 0, only in a: 1\nd|other, t|failed|22012: division by zero", 'all tables of a setup are compared; an arm that fails does not stop the others');
# identity columns' sequences are no sequences in information_schema
my $draws = q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t ("B") VALUES (''y'')'), rtbench.arm('b', 'INSERT INTO t ("B") SELECT ''y''')],};
like(run_sql("$draws $table, rounds => 2, control => false, server => 'engine'); SELECT bool_and(verdict = 'not comparable'), min(notes) FROM rtbench.result()"),
	qr/^2\nt\|differs from itself \(t: column id\).*compare with check_query => 'SELECT/, 'identity columns cannot be set back: the check query without them is told');
$table =~ s/int GENERATED BY DEFAULT AS IDENTITY/serial/;
is(run_sql("$draws $table, rounds => 2, control => false, server => 'engine'); SELECT arm, verdict FROM rtbench.result()"), "2\na|baseline\nb|more rounds needed", 'sequences of a setup are set back before every pass');
like(run_sql(q{SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO users_own VALUES (1)'), rtbench.arm('b', 'INSERT INTO users_own SELECT 1')], rounds => 2, server => 'engine')}),
	qr/ERROR:  which tables the arms write cannot be told on "engine"\n.*\nHINT:  .*check_query/, 'arms that write tables of others are refused without a check query');
is(run_sql(q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO users_own VALUES (1)'), rtbench.arm('b', 'INSERT INTO users_own SELECT 1'), rtbench.arm('c', 'INSERT INTO users_own SELECT 2')],
		rounds => 2, control => false, check_query => 'SELECT i FROM users_own', server => 'engine'); SELECT arm, checked, verdict FROM rtbench.result()}),
	"3\na|check query|baseline\nb|check query|more rounds needed\nc|check query|not comparable", 'and compared by one');
is(run_sql(q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1'), rtbench.arm('b', 'SELECT 2 - 1')], rounds => 2, control => false, server => 'engine');
	SELECT arm, checked, verdict, notes LIKE '%if the arms write by functions or procedures, that is not compared%' FROM rtbench.result()}),
	"2\na|returned rows|baseline|t\nb|returned rows|more rounds needed|t", 'arms that only return rows: a note says what is not compared');
is($node->safe_psql('far', 'SELECT count(*) FROM users_own'), '0', 'nothing is committed');
# what is only checked at the end of the transaction belongs to the time
is(run_sql(q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)'), rtbench.arm('b', 'SELECT 1')], baseline => 'b', control => false,
		setup => 'CREATE TABLE p (i int PRIMARY KEY); CREATE TABLE t (i int REFERENCES p DEFERRABLE INITIALLY DEFERRED)', rounds => 2, server => 'engine'); SELECT arm, verdict, substring(notes FROM '^23503') FROM rtbench.result()}) =~ s/^WARNING.*\n//mgr,
	"2\na|failed|23503\nb|baseline|", 'deferred constraints are checked before the clock stops');
like(run_sql(q{SELECT count(*) FROM rtbench.price_list('{engine}', '{}', max_time => '1 ms')}), qr/^1[0-9]$/, 'a price list') ;
nothing_left_there('at the end of the runs');

#
# an engine without DISCARD ALL gets a new session instead; one whose pg_locks is empty is taken for what it is
#
my $lean = engine(name => 'lean', also => qr/DISCARD|ANALYZE|SET CONSTRAINTS/);
is(run_sql("CALL rtbench.run_sweep('statement_rollback', $scenarios[1][2], rounds => 2, control => false, server => 'lean'); SELECT count(*), bool_or(verdict IN ('failed', 'not comparable')) FROM rtbench.result()"), '3|f', 'without DISCARD ALL');
nothing_left_there('without DISCARD ALL');
my $empty = engine(name => 'empty', statement => sub { my ($text) = @_; $text =~ s/pg_catalog\.pg_locks\b/(SELECT * FROM pg_catalog.pg_locks WHERE false)/g; return $text =~ /\brtbench\./ ? 'SELECT that_is_no_function_here()' : $text });
like(run_sql(q{SELECT rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO users_own VALUES (1)'), rtbench.arm('b', 'SELECT 1')], rounds => 2, server => 'empty')}),
	qr/cannot be told on "empty"/, 'an empty pg_locks is not taken for arms that wrote nothing');

#
# cancel: it works; there is no key for it; it is ignored
#
my $slow = q{rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)', 'SELECT pg_sleep(600) /* engine */')], setup => 'CREATE TABLE t (i int)', max_time => '1000 s', server => };
my $sleeps = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE 'SELECT slow()%' AND application_name = 'rtbench' AND wait_event = 'PgSleep')";
$node->safe_psql('far', 'CREATE FUNCTION slow() RETURNS void LANGUAGE sql AS $$ SELECT pg_sleep(600) $$');
$slow =~ s/pg_sleep\(600\)/slow()/;
my $keyless = engine(name => 'keyless', no_key => 1);
my $deaf = engine(name => 'deaf', cancel => sub { 0 });
for my $case ([ 'engine', 3, 1 ], [ 'keyless', 25, 0 ], [ 'deaf', 25, 0 ])
{
	my ($name, $limit, $clean) = @$case;
	my $session = background($node, 'caller', "SELECT count(*) FROM $slow '$name');");
	ok(defined seen($node, $sleeps, 20), "$name: the arm runs there");
	my $started = time();
	$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'");
	my (undef, $err) = finish($session, 40);
	like($err, qr/57014/, "$name: a cancelled run says so");
	cmp_ok(time() - $started, '<', $limit, "$name: soon");
	unless ($clean)
	{
		# the far end goes on, and holds its locks: the run does not wait for it
		ok(defined seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker')", 20), "$name: the worker does not wait for what cannot be cancelled");
		$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rtbench'");
		seen($node, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'rtbench')", 10);
		is(run_sql("SELECT rtbench.cleanup('$name')"), '1', "$name: what it left can be dropped later");
	}
	nothing_left_there("$name: cancelled");
}
# what a killed worker leaves is known by its name
my $killed = background($node, 'killed', "SELECT count(*) FROM $slow 'engine');");
ok(defined seen($node, $sleeps, 20), 'killed: the arm runs there');
is(run_sql("SELECT rtbench.cleanup('engine')"), '0', 'killed: nothing to clean up while it runs');
kill 'KILL', pid_of($node, 'killed', 1);
finish($killed, 30);
$node->poll_query_until('postgres', 'SELECT true') or die 'no restart';
$node->safe_psql('postgres', "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'rtbench'");
is(run_sql("SELECT rtbench.cleanup('engine')"), '1', 'killed: what it left is dropped');
nothing_left_there('killed');
$_->stop for $engine, $lean, $empty, $keyless, $deaf;
$node->stop;
done_testing();
