/*
 * judge.h
 *	  From a run's raw passes to one result for each point and arm.
 */
#ifndef RTB_JUDGE_H
#define RTB_JUDGE_H

#include "postgres.h"

#include "nodes/pg_list.h"

#include "ledger.h"

/* a ratio of baseline's time to the arm's; NaN where it is not known */
typedef struct RtbRatio
{
	int			units;			/* that it rests on */
	double		estimate;
	double		low;
	double		high;
	double		level;			/* of the interval; NaN without one */
	bool		corrected;		/* the level is corrected for the run's comparisons */
	double		autocorrelation;	/* of the units, where it was made up for; else NaN */
	bool		averaged;		/* by averaging neighbours; else by widening */
} RtbRatio;

/* counts that are not known are RTB_UNKNOWN, times and ratios NaN, texts NULL */
typedef struct RtbResult
{
	bool		has_point;
	int64		point;
	int			arm;			/* index into the run's arms */

	/* what the arm does, in each pass */
	int64		round_trips;
	int64		bytes_sent;
	int64		bytes_received;
	int64		statements;
	int64		fired;
	int64		rows;
	int64		buffers;		/* hit and read */
	int64		wal_records;
	int64		wal_bytes;
	int64		xids;
	int64		transactions;
	int64		subxact_overflowed; /* 0, 1 or RTB_UNKNOWN */
	double		hot_percent;	/* of updates; NaN without any */
	int64		catalog_reads;
	char	   *plan_shape;

	/* times in nanoseconds, over the timed passes */
	int			passes;
	int			rounds;
	int			sessions;
	double		first_ns;
	double		median_ns;
	double		mean_ns;
	double		best_ns;
	double		stddev_ns;
	double		cpu_ns;
	double		commit_ns;
	double		tps;			/* mean of the passes */
	double		tps_stddev;
	int			digits;			/* significant digits that the times deserve, 1 to 3 */

	/* against the baseline */
	RtbRatio	speedup;
	RtbRatio	cpu_speedup;
	int64		comparisons;	/* verdicts read together */
	char	   *scope;			/* what the verdict holds for; NULL without passes */
	char	   *verdict;
	char	   *digest;
	char	   *checked;
	char	   *notes;
} RtbResult;

/* the level of a run whose comparisons are few is 1 - this */
#define RTB_ALPHA	0.01

extern List *rtb_judge(const RtbRun *run);
extern char *rtb_judge_word(const RtbRatio *ratio, double margin);
extern double rtb_judge_alpha(const RtbRun *run);
extern int	rtb_judge_needed(double alpha);
extern double rtb_judge_half_width(const RtbRun *run, bool has_point, int64 point);

#endif							/* RTB_JUDGE_H */
