// SPDX-License-Identifier: Apache-2.0
/* End a recording that runs out of room; see shortage.h. */
#include "trace/shortage.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/units.h"
#include "trace/trace.h"

int shortage_arm(struct shortage *s, const char *path, struct error *err)
{
	struct rlimit limit;
	int ret = reserve_take(&s->reserve, path, err);

	if (ret < 0)
		return ret;
	s->armed = true;
	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		s->file_limit = limit.rlim_cur;
	return 0;
}

void shortage_free(struct shortage *s)
{
	reserve_release(&s->reserve);
	unstored_free(&s->unstored);
}

static uint64_t stream_record_time(enum record_kind kind, const void *record)
{
	switch (kind) {
	case KIND_SLICE:
		return slice_order(record);
	case KIND_SPAN:
		return span_order(record);
	case KIND_SAMPLE:
	case KIND_EDGE:
	case KIND_COUNTER:
		return *(const uint64_t *)record;
	default:
		return 0;
	}
}

static void note_host_times(struct shortage *s, const struct host *h)
{
	s->host.id = h->id;
	s->host.start = h->start;
	s->host.end = h->end;
}

int shortage_put(struct shortage *s, enum record_kind kind, const void *record)
{
	if (!s->armed)
		return 0;
	if (kind == KIND_HOST)
		note_host_times(s, record);
	shortage_tick(s, stream_record_time(kind, record));
	/* In a shortage nothing is committed any more, so the record is lost at once. */
	if (unstored_put(&s->unstored, kind, record) < 0)
		return -ENOMEM;
	if (s->code)
		unstored_given_up(&s->unstored);
	return 0;
}

void shortage_tick(struct shortage *s, uint64_t time)
{
	if (time > s->time)
		s->time = time;
}

void shortage_committed(struct shortage *s)
{
	s->stored = s->time;
	if (s->armed)
		unstored_committed(&s->unstored);
}

bool shortage_fits(const struct shortage *s, uint64_t bytes)
{
	return !s->file_limit || bytes + s->reserve.bytes <= s->file_limit;
}

bool shortage_begin(struct shortage *s, int code)
{
	if (!s->armed || s->code || (code != -ENOSPC && code != -EDQUOT && code != -EFBIG))
		return false;
	s->code = code;
	unstored_given_up(&s->unstored);
	return true;
}

/* Return the time until which the recording is stored, ns; not before start. */
static uint64_t stored_until(const struct shortage *s, uint64_t start)
{
	return s->stored > start ? s->stored : start;
}

static const char *shortage_cause(int code)
{
	switch (code) {
	case -EDQUOT:
		return "the disk quota is used up";
	case -EFBIG:
		return "it has reached RLIMIT_FSIZE, the limit on the size of files";
	default:
		return "no space left on its disk";
	}
}

/*
 * Correct the times of a row that could not be written when it was put: its source did not know
 * where the stored part begins and ends. start: see shortage_rows().
 */
static void correct_row(const struct shortage *s, uint64_t start, const struct unstored_row *row)
{
	struct host *h = row->record;
	struct loss *l = row->record;

	if (row->kind == KIND_HOST) {
		h->start = h->start > start ? h->start : start;
		h->end = h->end ? stored_until(s, h->start) : 0;
	}
	if (row->kind == KIND_LOSS &&
	    (l->reason == LOSS_NOT_STORED || l->reason == LOSS_SWITCHES_NOT_STORED ||
	     l->reason == LOSS_SPANS_NOT_STORED))
		l->time = stored_until(s, s->host.start);
}

int shortage_rows(struct shortage *s, uint64_t start,
		  int (*put)(void *context, enum record_kind kind, const void *record,
			     struct error *err),
		  void *context, struct error *err)
{
	char ended_at[32];
	struct info why = {
		.host = s->host.id, .key = TRACE_ENDED, .value = shortage_cause(s->code)};
	struct info when = {.host = s->host.id, .key = TRACE_ENDED_AT, .value = ended_at};
	int ret = 0;

	reserve_release(&s->reserve);
	for (size_t i = 0; ret == 0 && i < s->unstored.rows.count; i++) {
		const struct unstored_row *row = &s->unstored.rows.items[i];

		correct_row(s, start, row);
		ret = put(context, row->kind, row->record, err);
	}
	snprintf(ended_at, sizeof(ended_at), "%" PRIu64, s->host.end);
	if (ret == 0)
		ret = put(context, KIND_INFO, &why, err);
	return ret < 0 ? ret : put(context, KIND_INFO, &when, err);
}

int shortage_report(const struct shortage *s, const char *path, struct error *err)
{
	uint64_t stored = stored_until(s, s->host.start) - s->host.start;
	uint64_t all = s->host.end > s->host.start ? s->host.end - s->host.start : stored;
	char recorded[32], kept[32];

	return error_set(err, s->code, "%s: %s: %s recorded, %s of it in the trace", path,
			 shortage_cause(s->code), show_duration(all, recorded, sizeof(recorded)),
			 show_duration(stored < all ? stored : all, kept, sizeof(kept)));
}
