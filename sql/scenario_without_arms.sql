-- A scenario that has no arms yet cannot be swept.
SET client_min_messages = warning;
CREATE EXTENSION IF NOT EXISTS rtbench;
SELECT rtbench.create_scenario('no_arms_yet', setup => 'CREATE TABLE t (a int)');
SELECT * FROM rtbench.sweep('no_arms_yet');
SELECT rtbench.drop_scenario('no_arms_yet');
