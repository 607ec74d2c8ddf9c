/*
 * whole_reads.c
 *	  From the text of plan shapes to the relations read whole, again and again.
 *
 * A shape that ran once reads what it must; one that ran many times and scans a
 * relation from end to end each time makes a statement's price grow with it.
 *
 * Memory: everything is palloc'd in the current context.
 */
#include "postgres.h"

#include "scaling.h"

#include "lib/stringinfo.h"

#define SCAN			"Seq Scan("
#define BETWEEN_SHAPES	" | "

typedef struct WholeRead
{
	char	   *relation;		/* as it stands in the text, quoted where need be */
	int64		times;
} WholeRead;

/* past the quoted name that begins here, or one character on */
static const char *
step_over(const char *at)
{
	if (*at == '"')
	{
		const char *end = strchr(at + 1, '"');

		return end ? end + 1 : at + strlen(at);
	}
	return at + 1;
}

/* the name in parentheses that begins here */
static char *
name_at(const char *at)
{
	const char *end = at;

	while (*end != '\0' && *end != ')')
		end = step_over(end);
	return pnstrdup(at, end - at);
}

static List *
add_read(List *reads, char *relation, int64 times)
{
	WholeRead  *read;
	ListCell   *lc;

	foreach(lc, reads)
	{
		read = lfirst(lc);
		if (strcmp(read->relation, relation) == 0)
		{
			read->times += times;
			return reads;
		}
	}
	read = palloc(sizeof(WholeRead));
	read->relation = relation;
	read->times = times;
	return lappend(reads, read);
}

/*
 * Phrases about the relations that the statements of these shapes ("4000 x
 * Delete(t) -> Seq Scan(t) | ...") read whole more than once, NIL if there are
 * none or no text.
 */
List *
rtb_whole_reads(const char *shapes, bool fired)
{
	List	   *reads = NIL;
	List	   *phrases = NIL;
	const char *at = shapes;
	int64		times = 0;
	ListCell   *lc;

	while (at && *at != '\0')
	{
		if (at == shapes || strncmp(at, BETWEEN_SHAPES, strlen(BETWEEN_SHAPES)) == 0)
		{
			if (at != shapes)
				at += strlen(BETWEEN_SHAPES);
			times = strtoi64(at, NULL, 10);
		}
		if (times > 1 && strncmp(at, SCAN, strlen(SCAN)) == 0)
		{
			at += strlen(SCAN);
			reads = add_read(reads, name_at(at), times);
		}
		at = *at == '\0' ? at : step_over(at);
	}
	foreach(lc, reads)
	{
		const WholeRead *read = lfirst(lc);

		phrases = lappend(phrases, psprintf("%s is read whole by " INT64_FORMAT " %sstatements",
											read->relation, read->times, fired ? "fired " : ""));
	}
	return phrases;
}
