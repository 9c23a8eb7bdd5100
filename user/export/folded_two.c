// SPDX-License-Identifier: Apache-2.0
/* Write the folded stacks of two profiles side by side, by merging their sorted lines. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"
#include "export/folded.h"

/* The lines of one profile. */
struct folded_lines {
	char *text;
	size_t size;
	const char *at; /* start of the next line */
	const char *space; /* the space before the number in the next line; NULL at the end */
	uint64_t total; /* sum of all numbers */
	double scale; /* factor for numbers of BEFORE */
};

/* Set c->space for the line at c->at. */
static void find_count_space(struct folded_lines *c)
{
	const char *end = strchr(c->at, '\n');

	c->space = end;
	while (c->space && *c->space != ' ')
		c->space--;
}

static uint64_t take_folded_count(struct folded_lines *c)
{
	uint64_t count = strtoull(c->space + 1, NULL, 10);

	c->at = strchr(c->space, '\n') + 1;
	find_count_space(c);
	return count;
}

static void rewind_lines(struct folded_lines *c)
{
	c->at = c->text;
	find_count_space(c);
}

static int make_folded_lines(struct folded_lines *c, const struct profile *p,
			     const struct export_options *o, struct error *err)
{
	FILE *out = open_memstream(&c->text, &c->size);
	int ret = out ? folded_write_one(out, p, true, o, err) : 0;

	if ((!out || outfile_close_memory(out, &c->text) < 0) && !ret)
		ret = error_errno(err, -ENOMEM, "cannot write folded stacks");
	if (ret < 0)
		return ret;
	for (rewind_lines(c); *c->at;)
		c->total += take_folded_count(c);
	rewind_lines(c);
	return 0;
}

/*
 * Compare the stacks of the next lines of both profiles in the order in which lines are sorted: by
 * bytes, including the space. The end of a profile follows all lines.
 */
static int compare_folded_lines(const struct folded_lines *a, const struct folded_lines *b)
{
	size_t x, y;
	int order;

	if (!*a->at || !*b->at)
		return !*a->at - !*b->at;
	x = a->space - a->at + 1;
	y = b->space - b->at + 1;
	order = memcmp(a->at, b->at, x < y ? x : y);
	return order ? order : (x > y) - (x < y);
}

static void write_folded_line(FILE *out, struct folded_lines *before, struct folded_lines *after)
{
	int order = compare_folded_lines(before, after);
	const struct folded_lines *first = order <= 0 ? before : after;
	const char *stack = first->at;
	size_t size = first->space - first->at;
	uint64_t then = order <= 0 ? take_folded_count(before) : 0;
	uint64_t now = order >= 0 ? take_folded_count(after) : 0;

	fwrite(stack, 1, size, out);
	fprintf(out, " %.0f %" PRIu64 "\n", round((double)then * before->scale), now);
}

int folded_write_two(FILE *out, const struct profile *p, const struct profile *before,
		     const struct export_options *o, struct error *err)
{
	struct folded_lines then = {.scale = 1}, now = {.scale = 1};
	int ret = make_folded_lines(&then, before, o, err);

	if (!ret)
		ret = make_folded_lines(&now, p, o, err);
	if (!ret && o->normalize && then.total)
		then.scale = (double)now.total / (double)then.total;
	while (!ret && (*then.at || *now.at))
		write_folded_line(out, &then, &now);
	free(then.text);
	free(now.text);
	return ret;
}
