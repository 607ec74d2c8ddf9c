# Savepoints that are never released, until the lock table is full: the arm has failed, with the statement that did not fit; the others have their
# figures, and nothing is left.

use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use RtbTest;
use Test::More;

my $node = new_node('main', "max_locks_per_transaction = 10\nmax_connections = 20\n");
my $run = q{SET client_min_messages = warning; CALL rtbench.run_compare(ARRAY[
	rtbench.arm('none', ending => 'commit', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'INSERT INTO rb VALUES ($1)')]),
	rtbench.arm('released', ending => 'commit', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'SAVEPOINT s', 'INSERT INTO rb VALUES ($1)', 'RELEASE SAVEPOINT s')]),
	rtbench.arm('kept', ending => 'commit', steps => ARRAY[rtbench.foreach('SELECT generate_series(1, :n)', 'SAVEPOINT s', 'INSERT INTO rb VALUES ($1)')])],
	setup => 'CREATE TABLE rb (a int)', points => '{100,20000}', rounds => 1);
	SELECT point, arm, rows, transactions, median_ms > 0, speedup IS NULL, CASE verdict WHEN 'failed' THEN verdict END FROM rtbench.result();
	SELECT failed_statement > 100 FROM rtbench.passes WHERE sqlstate = '53200';
	SELECT notes ~ '^53200: out of shared memory \(a ceiling, set by max_locks_per_transaction\), in step [34], statement \d+' FROM rtbench.result() WHERE verdict = 'failed'};
my ($out, $err) = finish(background($node, 'run', "$run;", verbosity => 'verbose'));
is($out, join("\n", '100|none|100|1|t|f|', '100|released|100|1|t|f|', '100|kept|100|1|t|f|', '20000|none|20000|1|t|f|', '20000|released|20000|1|t|f|',
	'20000|kept|||' . '|t|failed', 't', 't', ''), 'a ceiling, and the others go on');
like($err, qr/WARNING:  53200: arm "kept" failed at point 20000: out of shared memory/, 'with a warning');
nothing_left($node, 'the lock table was full');
like((finish(background($node, 'next', "SET client_min_messages = error; SELECT count(*) FROM $fixture);")))[0], qr/^2$/, 'the next run works');
nothing_left($node, 'in the end');

$node->stop;
done_testing();
