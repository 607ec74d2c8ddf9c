# Many runs in one session, good ones, failing ones and ones that end early: neither memory nor plans, shared memory segments
# nor worker slots are used up by them.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

# segments are files then
my $node = new_node('main', "dynamic_shared_memory_type = mmap\n");
my $data = $node->data_dir;
my $kept = q{steps => ARRAY[rtbench.foreach('SELECT a FROM p', 'INSERT INTO t VALUES ($1)')], plans => 'kept'};
my @run = (
	# arms of every kind
	q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO t SELECT a FROM p'), rtbench.arm('kept', } . $kept . q{),
		rtbench.arm('generated', rtbench.generated('SELECT format(''INSERT INTO t VALUES (%s)'', a) FROM p')),
		rtbench.arm('other', 'PREPARE s AS SELECT 1', 'SELECT pg_advisory_lock(1)', 'INSERT INTO t SELECT 7 FROM p')],
		setup => 'CREATE TABLE p (a serial); INSERT INTO p SELECT generate_series(1, 8); CREATE TABLE t (a int)', rounds => 1, compare_returned => true, transport => '%s')},
	# one fails in a loop, with a cursor open
	q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'INSERT INTO t SELECT a FROM p'), rtbench.arm('fails', rtbench.foreach('SELECT a FROM p', 'INSERT INTO t VALUES (1 / (5 - $1))'))],
		setup => 'CREATE TABLE p (a int); INSERT INTO p SELECT generate_series(1, 8); CREATE TABLE t (a int)', rounds => 1, transport => '%s')},
	# the run fails: in the setup, in the check, in a pass
	q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT 1')], setup => 'CREATE TABLE t (a int); SELECT 1/0', rounds => 1, transport => '%s')},
	q{SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', } . $kept . q{)], setup => 'CREATE TABLE p (a int); INSERT INTO p VALUES (1); CREATE TABLE t (a int)',
		check_query => 'SELECT 1 / (count(*) - 1) FROM t', rounds => 1, transport => '%s')},
	q{SET statement_timeout = '60ms'; SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', } . $kept . q{, before => 'PREPARE s AS SELECT 1'), rtbench.arm('sleeps', 'SELECT pg_sleep(5)')],
		setup => 'CREATE TABLE p (a int); INSERT INTO p VALUES (1); CREATE TABLE t (a int)', rounds => 1, transport => '%s'); RESET statement_timeout},
	# in a block that is rolled back to where it began
	q{BEGIN; SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT 1')], transport => '%s', rounds => 1); SAVEPOINT a; SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT 1')], check_query => 'SELECT 1/0', transport => '%s');
		ROLLBACK TO a; SELECT count(*) FROM rtbench.compare(ARRAY[rtbench.arm('one', 'SELECT 1')], transport => '%s', rounds => 1); ROLLBACK});

my $times = 6;
for my $transport ('worker', 'caller')
{
	my $script = "SET client_min_messages = warning; SELECT pg_backend_pid();\n";
	my $once = join('', map { (my $sql = $_) =~ s/%s(?!\))/$transport/g; "\\o /dev/null\n$sql;\n\\o\n" } @run);
	# bytes of what lives longer than a statement; contexts of plans and of our own (foreign keys keep theirs)
	my $measure = q{SELECT (SELECT sum(used_bytes) FROM pg_backend_memory_contexts WHERE name IN ('TopMemoryContext', 'CacheMemoryContext', 'TopTransactionContext')),
		(SELECT count(*) FROM pg_backend_memory_contexts WHERE name ~ 'CachedPlan|SPI Plan|rtbench'),
		(SELECT count(*) FROM pg_backend_memory_contexts WHERE name ~ 'CachedPlan|SPI Plan|rtbench' AND ident !~ '^SELECT 1 FROM ONLY "rtbench"."runs"'),
		(SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype NOT IN ('relation', 'virtualxid')), (SELECT count(*) FROM pg_prepared_statements)} . ";\n";
	# the first ones fill caches and load what is loaded once
	$script .= $once x 2 . $measure . $once x $times . $measure;
	my ($out, $err) = finish(background($node, 'many', $script, verbosity => 'verbose'));
	my ($pid, $before, $after) = split /\n/, $out;
	unlike($err, qr/leak|not closed|still referenced|is not owned|XX000/, "$transport: no reference is left");
	is(() = $err =~ /ERROR: /g, 4 * (2 + $times), "$transport: no error but those that are meant");
	my ($bytes_before, @before) = split /\|/, $before;
	my ($bytes_after, @after) = split /\|/, $after;
	# some stays in caches, but less than a run needs
	cmp_ok($bytes_after - $bytes_before, '<', 4096 * $times, "$transport: memory does not grow with the runs") or diag("$bytes_before, then $bytes_after");
	is("@after", "@before", "$transport: contexts, locks and prepared statements are as many as before");
	is("@after[1 .. 3]", '0 0 0', "$transport: of a run there are none");
	nothing_left($node, $transport);
	# the server's own statistics are in such segments, too
	my @segments = glob("$data/pg_dynshmem/mmap.*");
	cmp_ok(scalar(@segments), '<=', 4, "$transport: no segment of shared memory is left");
}
# a slot is free for each
is($node->safe_psql('postgres', "SET client_min_messages = error; SELECT count(*) FROM $fixture)"), 2, 'the next run works');

$node->stop;
done_testing();
