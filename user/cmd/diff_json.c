// SPDX-License-Identifier: Apache-2.0
/*
 * Write the comparison as JSON: every row, significant or not, unless --limit is given, with the
 * values that the text shows.
 */
#include <errno.h>

#include "base/json.h"
#include "cmd/diff.h"
#include "cmd/report.h"

static void diff_json_put_trace(struct json *j, const struct diff_trace *t)
{
	json_object(j);
	json_key_text(j, "file", t->path);
	json_key_text(j, "hostname", t->profile->host.hostname);
	json_key_text(j, "kernel", t->profile->host.kernel);
	json_key_uint(j, "cpus", t->profile->host.cpus);
	json_key_text(j, "event", t->event ? t->event->name : "");
	json_key_text(j, "unit", t->event ? t->event->unit : "");
	json_key_uint(j, "frequency", t->event ? t->event->frequency : 0);
	json_key_uint(j, "time", t->time);
	json_key_uint(j, "samples", t->count);
	json_key_uint(j, "weight", t->weight);
	json_key_uint(j, "stacks_due", t->completeness.due);
	json_key_uint(j, "stacks_complete", t->completeness.complete);
	json_key_uint(j, "samples_lost", t->losses.due);
	json_key_uint(j, "stretches", t->stretch_count);
	json_object_end(j);
}

static void diff_json_put_side(struct json *j, const struct comparison *c, int side)
{
	size_t first = side == AFTER ? c->count[BEFORE] : 0;

	json_key(j, side == AFTER ? "after" : "before");
	json_array(j);
	for (size_t i = 0; i < c->count[side]; i++)
		diff_json_put_trace(j, &c->traces[first + i]);
	json_array_end(j);
}

static void diff_json_put_change(struct json *j, const char *key, const struct diff_change *c)
{
	json_key(j, key);
	json_object(j);
	json_key_uint(j, "samples_before", c->count[BEFORE]);
	json_key_uint(j, "samples_after", c->count[AFTER]);
	json_key_real(j, "before", c->value[BEFORE]);
	json_key_real(j, "after", c->value[AFTER]);
	json_key_real(j, "change", c->change);
	json_key_real(j, "low", c->low);
	json_key_real(j, "high", c->high);
	json_key_real(j, "p", c->p);
	json_key(j, "q"); /* null if the change was not tested */
	if (c->tested)
		json_real(j, c->q);
	else
		json_null(j);
	json_key(j, "significant");
	json_bool(j, diff_is_significant(c));
	json_object_end(j);
}

static void diff_json_put_row(struct json *j, const struct comparison *c,
			      const struct diff_row *row)
{
	json_object(j);
	json_key_text(j, "name", row->name);
	json_key_text(j, "more", row->more);
	json_key(j, "kernel");
	json_bool(j, row->kernel);
	if (c->diff.costs[DIFF_SELF])
		diff_json_put_change(j, "self", &row->cost[DIFF_SELF]);
	diff_json_put_change(j, "total", &row->cost[DIFF_TOTAL]);
	json_object_end(j);
}

int diff_json(const struct comparison *c, FILE *out, struct error *err)
{
	uint64_t limit = c->options->limit == LIMIT_UNSET ? 0 : c->options->limit;
	struct json j;
	int ret;

	json_begin(&j, out, true);
	json_object(&j);
	diff_json_put_side(&j, c, BEFORE);
	diff_json_put_side(&j, c, AFTER);
	json_key_text(&j, "by", diff_by_word(c->criteria.by));
	json_key_text(&j, "normalize", diff_measure_word(c->criteria.measure));
	json_key_text(&j, "values_in", diff_unit_name(c));
	json_key_real(&j, "level", DIFF_SIGNIFICANCE);
	json_key_real(&j, "least", c->criteria.least);
	/* null if a side has several runs, because the variation is then measured */
	json_key(&j, "runs_differ_by");
	if (diff_is_weak(c))
		json_real(&j, diff_is_of_waits(c) ? DIFF_ASSUMED_KERNEL : DIFF_ASSUMED_PROGRAM);
	else
		json_null(&j);
	json_key(&j, "runs_differ_by_in_kernel");
	if (diff_is_weak(c))
		json_real(&j, DIFF_ASSUMED_KERNEL);
	else
		json_null(&j);
	json_key_uint(&j, "tested", c->diff.tested[0]);
	json_key_uint(&j, "tested_kernel", c->diff.tested[1]);
	json_key(&j, "differences");
	json_array(&j);
	for (size_t i = 0; i < c->differences.count; i++)
		json_text(&j, c->differences.items[i]);
	json_array_end(&j);
	json_key(&j, "changes");
	json_array(&j);
	for (size_t i = 0; i < c->diff.rows.count && (!limit || i < limit); i++)
		diff_json_put_row(&j, c, &c->diff.rows.items[i]);
	json_array_end(&j);
	json_object_end(&j);
	ret = json_end(&j);
	return ret < 0 ? error_errno(err, ret, "cannot write what changed") : 0;
}
