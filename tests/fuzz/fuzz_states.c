// SPDX-License-Identifier: Apache-2.0
/*
 * Records in any order with any values. Every byte is a field: a small number, so that records
 * concern each other, or an extreme one. The stretches of a lane must never overlap, and any
 * snapshot must be accepted.
 */
#include <stdbool.h>
#include <string.h>

#include "analyze/states.h"
#include "fuzz.h"

struct input {
	const uint8_t *data;
	size_t size;
};

/* The end of the last stretch of each lane with an id below 256; others are not checked. */
struct reported {
	uint64_t until[256];
	struct states *copy;
};

static uint64_t number(struct input *in)
{
	static const uint64_t strange[] = {1ULL << 63, UINT64_MAX, UINT64_MAX - 1, 1ULL << 32,
					   UINT32_MAX, 1000000,	   65536,	   256};
	uint8_t byte = in->size ? *in->data : 0;

	in->data += in->size > 0;
	in->size -= in->size > 0;
	return byte < 248 ? byte : strange[byte - 248];
}

static int check(void *context, const struct stretch *s, struct error *err)
{
	struct reported *reported = context;

	(void)err;
	if (s->time >= s->end || !s->state || s->state >= STATE_COUNT || s->wait >= WAIT_COUNT)
		abort();
	if (s->lane >= 256)
		return 0;
	if (s->time < reported->until[s->lane])
		abort();
	reported->until[s->lane] = s->end;
	return 0;
}

static int resume(void *context, const struct stretch *s)
{
	struct reported *reported = context;

	return states_resume(reported->copy, s, NULL);
}

static void put(struct states *s, struct input *in, uint64_t kind)
{
	uint64_t record[sizeof(struct edge) / sizeof(uint64_t)];
	size_t fields = kinds[kind].size / sizeof(uint64_t);

	for (size_t i = 0; i < fields; i++)
		record[i] = number(in);
	if (states_put(s, (enum record_kind)kind, record, NULL) < 0)
		abort();
}

/* Put a lane and a thread one by one: put() fills all fields with numbers, but these have texts. */
static void put_lane(struct states *s, struct input *in)
{
	const struct lane r = {.id = number(in), .kind = number(in), .number = number(in)};

	if (states_put(s, KIND_LANE, &r, NULL) < 0)
		abort();
}

static void put_thread(struct states *s, struct input *in)
{
	const struct thread r = {.id = number(in), .end = number(in), .lane = number(in)};

	if (states_put(s, KIND_THREAD, &r, NULL) < 0)
		abort();
}

static void act(struct states *s, struct reported *reported, struct input *in)
{
	switch (number(in) % 8) {
	case 0:
		put_lane(s, in);
		put_lane(reported->copy, in);
		break;
	case 1:
		put_thread(s, in);
		break;
	case 2:
		if (states_cut(s, number(in), NULL) < 0)
			abort();
		break;
	case 3:
		if (states_each(s, resume, reported) < 0)
			abort();
		break;
	case 4:
		put(reported->copy, in, KIND_SLICE);
		break;
	case 5:
		put(s, in, KIND_EDGE);
		break;
	default:
		put(s, in, KIND_SLICE);
	}
}

static int ignore(void *context, const struct stretch *s, struct error *err)
{
	(void)context;
	(void)s;
	(void)err;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reported reported = {{0}};
	const struct states_events checked = {.stretch = check, .context = &reported};
	const struct states_events ignored = {.stretch = ignore};
	struct input in = {data, size};
	struct states *s;

	if (states_new(&s, &checked, NULL) < 0 || states_new(&reported.copy, &ignored, NULL) < 0)
		abort();
	while (in.size)
		act(s, &reported, &in);
	if (states_end(s, UINT64_MAX, NULL) < 0 || states_end(reported.copy, 300, NULL) < 0)
		abort();
	states_free(s);
	states_free(reported.copy);
	return 0;
}
