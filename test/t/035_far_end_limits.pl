# What the far end of a run may be like, and what it may do to it: read-only, with time limits of its own, gone at the worst moment, behind
# an address that swallows packets, of another encoding, talkative, with many rows.  Each ends as it should, soon, and leaves nothing.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use IO::Socket::INET;
use PostgreSQL::Test::Utils;
use RtbTest;
use WireProxy;
use Test::More;
use Time::HiRes qw(time);

my $node = new_node('main', "listen_addresses = '127.0.0.1'\nmax_worker_processes = 12\n");
my $port = $node->port;

# what it says: results, then messages
sub run_sql
{
	my ($sql, %opt) = @_;
	my ($rc, $out, $err) = $node->psql($opt{db} // 'postgres', "SET client_min_messages = warning; $sql");
	$err =~ s/^psql:[^ ]* //mg;
	return $rc == 0 ? $out : $err;
}

sub server
{
	my ($name, $db, $at, %opt) = @_;
	my $more = join '', map { ", $_ '$opt{$_}'" } keys %opt;
	$node->safe_psql('postgres', "CREATE SERVER $name FOREIGN DATA WRAPPER rtbench_fdw OPTIONS (host '127.0.0.1', port '$at', dbname '$db'$more); CREATE USER MAPPING FOR CURRENT_USER SERVER $name");
	return;
}

sub far_database
{
	my ($name, $setting) = @_;
	$node->safe_psql('postgres', "CREATE DATABASE $name");
	$node->safe_psql('postgres', "ALTER DATABASE $name SET $setting");
	server($name, $name, $port);
	return;
}

sub nothing_left_in
{
	my ($db, $what) = @_;
	my $left;
	for (1 .. 60) { $left = $node->safe_psql($db, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'rtbench\\_scratch%'"); last if $left eq '0'; Time::HiRes::sleep 0.05 }
	is($left, '0', "$what: no schema is left there");
	nothing_left($node, $what);
	return;
}

my $table = q{setup => 'CREATE TABLE t (i int)', rounds => 2, control => false};
my $two = q{ARRAY[rtbench.arm('a', 'INSERT INTO t VALUES (1)'), rtbench.arm('b', 'INSERT INTO t SELECT 1')]};

#
# read-only
#
far_database('readonly', 'default_transaction_read_only = on');
like(run_sql("SELECT rtbench.compare($two, $table, server => 'readonly')"), qr/ERROR:  cannot set up a scenario on "readonly", which is read-only\nHINT:  There only arms that read/, 'a read-only far end: told before anything is tried');
is(run_sql("SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('reads', 'SELECT 1'), rtbench.arm('writes', 'CREATE TABLE t (i int)')], rounds => 2, control => false, server => 'readonly');
	SELECT arm, verdict, substring(notes FROM '^25006') FROM rtbench.result()") =~ s/^WARNING.*\n//mgr, "2\nreads|baseline|\nwrites|failed|25006", 'a read-only far end: arms that read run there');
nothing_left_in('readonly', 'a read-only far end');

#
# its own limits of time
#
far_database('hasty', "statement_timeout = '300ms'");
is(run_sql("SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('slow', 'SELECT pg_sleep(5)'), rtbench.arm('quick', 'SELECT 1')], baseline => 'quick', rounds => 2, control => false, server => 'hasty');
	SELECT arm, verdict, substring(notes FROM '^57014: canceling statement due to statement timeout') FROM rtbench.result()") =~ s/^WARNING.*\n//mgr,
	"2\nslow|failed|57014: canceling statement due to statement timeout\nquick|baseline|", "statement_timeout there ends an arm's statement, and the others go on");
like(run_sql("SELECT rtbench.compare($two, setup => 'CREATE TABLE t (i int); SELECT pg_sleep(5)', server => 'hasty')"), qr/ERROR:  canceling statement due to statement timeout\nCONTEXT:  .*connection "hasty"/s, 'statement_timeout there ends a setup, and the run');
like(run_sql("SELECT rtbench.compare($two, $table, check_query => 'SELECT pg_sleep(5)', server => 'hasty')"), qr/ERROR:  canceling statement due to statement timeout/, 'statement_timeout there ends a check query, and the run');
nothing_left_in('hasty', 'statement_timeout');
# the session that keeps the fixture has nothing to do while others run
far_database('idle', "idle_session_timeout = '300ms'");
is(run_sql("SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'INSERT INTO t SELECT generate_series(1, 10)', 'SELECT pg_sleep(0.1)'), rtbench.arm('b', 'INSERT INTO t SELECT generate_series(1, 10)', 'SELECT pg_sleep(0.1)')],
	setup => 'CREATE TABLE t (i int)', rounds => 2, sessions => 3, control => false, server => 'idle'); SELECT sessions, verdict IN ('failed', 'not comparable') FROM rtbench.result()"), "2\n3|f\n3|f", 'an idle session that is ended there is replaced');
nothing_left_in('idle', 'idle_session_timeout');

#
# gone between a pass and its check: never taken for a pass that was checked
#
my $checked = 0;
my $cut = WireProxy->start(to => $port, statement => sub { $_[0] =~ /checked_now/ && ++$checked > 3 ? undef : $_[0] });
$node->safe_psql('postgres', 'CREATE DATABASE cut');
server('cut', 'cut', $cut->port);
for my $call ("SELECT rtbench.compare($two, $table, check_query => 'SELECT i AS checked_now FROM t', server => 'cut')",
	q{CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit')], setup => 'CREATE TABLE t (i int)', check_query => 'SELECT i AS checked_now FROM t', rounds => 2, server => 'cut')})
{
	my $started = time();
	like(run_sql($call), qr/ERROR:  connection "cut" was lost/, 'the far end is gone between pass and check: an error');
	cmp_ok(time() - $started, '<', 5, 'the far end is gone between pass and check: soon');
	nothing_left_in('cut', 'the far end is gone between pass and check');
}
$cut->stop;

#
# an address that swallows packets: a listening socket whose queue is full
#
my $full = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1') or die $!;
my @waiting = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0) } 1 .. 8;
server('swallowed', 'postgres', $full->sockport, connect_timeout => 1, sslmode => 'disable');
server('swallowed_long', 'postgres', $full->sockport, connect_timeout => 60, sslmode => 'disable');
for my $call ("SELECT rtbench.ask('SELECT 1', server => 'swallowed')", "SELECT rtbench.compare($two, $table, server => 'swallowed')", "SELECT rtbench.cleanup('swallowed')")
{
	my $started = time();
	like(run_sql($call), qr/ERROR:  could not connect to "swallowed" within 1 s\nDETAIL: .*no answer\nHINT:  The server's option connect_timeout/, "packets are swallowed: " . ($call =~ /rtbench\.(\w+)/)[0]);
	cmp_ok(time() - $started, '<', 3, 'packets are swallowed: within the time to connect');
}
my $caller = background($node, 'caller', "SELECT rtbench.compare($two, $table, server => 'swallowed_long');");
ok(defined seen($node, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE backend_type = 'rtbench worker')"), 'packets are swallowed: under way');
my $started = time();
$node->safe_psql('postgres', "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'caller'");
my (undef, $err) = finish($caller, 10);
like($err, qr/57014/, 'packets are swallowed: cancelled');
cmp_ok(time() - $started, '<', 2, 'packets are swallowed: cancelled soon');
nothing_left($node, 'packets are swallowed');
close $_ for @waiting, $full;

#
# other encodings: the same digests by every transport
#
for my $encoding ('LATIN1', 'EUC_JP', 'SQL_ASCII', 'UTF8')
{
	my $db = lc "in_$encoding";
	$node->safe_psql('postgres', "CREATE DATABASE $db ENCODING '$encoding' LOCALE 'C' TEMPLATE template0");
	$node->safe_psql($db, 'CREATE EXTENSION rtbench');
	# two bytes that are two letters in LATIN1, one in the others
	my $letters = q{convert_from('\xc3a9', getdatabaseencoding())};
	my $arms = qq{ARRAY[rtbench.arm('a', format('INSERT INTO t VALUES (%L)', $letters)), rtbench.arm('b', format('INSERT INTO t SELECT c FROM (VALUES (%L)) v(c)', $letters)), rtbench.arm('c', 'INSERT INTO t VALUES (''e'')'),
		rtbench.arm('d', rtbench.foreach(format('SELECT %L::text AS %I', $letters, $letters), 'INSERT INTO t VALUES (\$1)'))]};
	my $got = join ' ', map { run_sql("SELECT count(*) FROM rtbench.compare($arms, setup => format('CREATE TABLE t (%I text)', $letters), rounds => 2, control => false, transport => '$_');
		SELECT string_agg(digest || ' ' || verdict, ',' ORDER BY arm) FROM rtbench.result()", db => $db) =~ s/\n/ /gr } 'worker', 'unix';
	like($got, qr/^(4 (\w+) baseline,\2 more rounds needed,(?!\2)\w+ not comparable,\2 more rounds needed) \1$/, "a database in $encoding: the same digests over a connection");
}

#
# talkative: ten notices are told, the others counted; an arm's by its first pass alone
#
my ($rc, $out, $told) = $node->psql('postgres', q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', 'SELECT 1'), rtbench.arm('b', $$DO 'BEGIN FOR i IN 1 .. 100000 LOOP RAISE NOTICE ''of an arm''; END LOOP; END'$$)],
	setup => $$DO 'BEGIN FOR i IN 1 .. 100000 LOOP RAISE NOTICE ''of the setup''; END LOOP; END'$$, rounds => 2, control => false, transport => 'unix')});
is(scalar(() = $told =~ /NOTICE:  of the setup/g), 10, 'a flood of notices of a setup: ten are told');
like($told, qr/99990 more notices of "unix" are not shown/, 'a flood of notices of a setup: the others are counted');
is(scalar(() = $told =~ /NOTICE:  of an arm/g), 10, "a flood of an arm's notices: ten are told, once, whatever the number of passes");
is(scalar(() = $told =~ /more notices/g), 2, "a flood of an arm's notices: the others are counted once");
is(run_sql('SELECT arm, notes ~ $$^(.*; )?100000 notices of the far end in a pass(;|$)$$, bytes_received > 4000000 FROM rtbench.result()'), "a|f|f\nb|t|t", "a flood of an arm's notices: a note tells how many");
# of a message each, and of those that rtbench sends itself
my $says = q{$$DO 'BEGIN RAISE WARNING ''heard''; RAISE NOTICE ''heard''; END'$$};
($rc, $out, $told) = $node->psql('postgres', "CALL rtbench.run_compare(ARRAY[rtbench.arm('a', steps => ARRAY[$says, 'INSERT INTO t VALUES (1)'], ending => 'commit'), rtbench.arm('b', steps => ARRAY['INSERT INTO t VALUES (1)'], ending => 'commit')], setup => 'CREATE TABLE t (i int)', rounds => 2, control => false, transport => 'unix')");
is(join(' ', $told =~ /(\w+):  heard/g), 'WARNING NOTICE', 'a warning and a notice of an arm that commits: told once');
unlike($told, qr/no transaction in progress/, 'what rtbench sends itself warns nobody');
is(run_sql('SELECT arm, substring(notes FROM $$(\d+) notices? of the far end in a pass$$) FROM rtbench.result() ORDER BY 1'), "a|2\nb|", 'a warning and a notice of an arm that commits: counted');
($rc, $out, $told) = $node->psql('postgres', "CALL rtbench.run_load(ARRAY[rtbench.load_group('g', rtbench.arm('a', $says), sessions => 2)], setup => 'CREATE TABLE t (i int)', duration => '300 ms', warmup => '0', transport => 'unix')");
unlike($told, qr/heard/, 'notices in a load: nobody is told');
like(run_sql('SELECT notes FROM rtbench.load_result()'), qr/\d+ notices of the far end, warm-up included/, 'notices in a load: counted');

#
# a hundred million bytes of rows: digested, counted, and of a driver put aside, in bounded memory
#
my $size = "SELECT max((regexp_match(pg_read_file('/proc/' || pid || '/status'), 'VmHWM:\\s+(\\d+)'))[1]::int) FROM pg_stat_activity WHERE backend_type = 'rtbench worker'";
for my $case ([ 'returned rows', q{'SELECT g, repeat(''x'', 100) FROM generate_series(1, 1000000) g'} ],
	[ 'returned rows by simple protocol', q{'SELECT g, repeat(''x'', 100) FROM generate_series(1, 1000000) g'}, q{, protocol => 'simple'} ],
	[ "a driver's rows", q{rtbench.foreach('SELECT g, repeat(''x'', 100), false FROM generate_series(1, 1000000) g', rtbench.step('SELECT $1', only_if => '{"$3": true}'))} ],
	map { [ "rows that a loop's statements return, by $_", q{rtbench.foreach('SELECT g FROM generate_series(1, 2) g', 'SELECT x, repeat(''x'', 400) FROM generate_series(1, 300000) x WHERE x > $1')}, ", protocol => '$_'" ] } 'prepared', 'multi', 'pipeline')
{
	my ($what, $arm, $more) = @$case;
	my $run = background($node, 'caller', "SET work_mem = '4MB'; SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('a', $arm)], rounds => 1, control => false, transport => 'unix'" . ($more // '') . ");");
	my $largest = 0;
	while ($run->{h}->pumpable)
	{
		eval { $run->{h}->pump_nb };
		my (undef, $kb) = $node->psql('postgres', $size);
		$largest = $kb if $kb && $kb > $largest;
		Time::HiRes::sleep 0.05;
	}
	my ($done, $errors) = finish($run);
	like($done, qr/^1$/, "many rows: $what") or diag($errors);
	cmp_ok($largest, '<', 100_000, "many rows: $what: the worker stays small (kB)");
}
nothing_left($node, 'at the end');
$node->stop;
done_testing();
