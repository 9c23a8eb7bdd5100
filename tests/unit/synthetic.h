/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic recording for the tests of the trace: deterministic, and of any length. */
#ifndef SKEIN_TESTS_SYNTHETIC_H
#define SKEIN_TESTS_SYNTHETIC_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pipe.h"

#define SYNTHETIC_START 1000000000000ULL /* ns */

/* xorshift64*: https://doi.org/10.18637/jss.v072.i06 */
static inline uint64_t synthetic_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ULL;
}

struct synthetic {
	struct sink *sink;
	uint64_t random, time;
	uint64_t stacks; /* stacks put so far, with ids from 1 on */
	uint64_t samples;
	struct error err;
};

/* Fill every field of a record with numbers and texts that identify the record. */
static inline void synthetic_record(enum record_kind k, uint64_t seed, void *record,
				    char texts[16][64])
{
	for (unsigned int i = 0; i < kinds[k].field_count; i++) {
		const struct field *f = &kinds[k].fields[i];
		char *member = (char *)record + f->offset;

		snprintf(texts[i], 64, "%s.%s %" PRIu64, kinds[k].name, f->name, seed);
		if (f->type == FIELD_TEXT)
			*(const char **)member = texts[i];
		else
			*(uint64_t *)member = seed * 100 + i;
	}
}

static inline int synthetic_begin(struct synthetic *s, struct sink *sink)
{
	struct host host = {.id = 1, .hostname = "machine", .cpus = 4, .start = SYNTHETIC_START};
	struct event event = {.id = 1,
			      .host = 1,
			      .name = "cpu-clock",
			      .unit = "ns",
			      .period = 50000,
			      .frequency = 20000};
	struct process process = {.id = 1, .host = 1, .pid = 100, .comm = "worker"};
	struct mapping mapping = {.id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/worker"};
	int result;

	*s = (struct synthetic){
		.sink = sink, .random = 88172645463325252ULL, .time = SYNTHETIC_START};
	result = put_host(sink, &host, &s->err);
	if (!result)
		result = put_event(sink, &event, &s->err);
	if (!result)
		result = put_process(sink, &process, &s->err);
	if (!result)
		result = put_mapping(sink, &mapping, &s->err);
	for (uint64_t id = 1; !result && id <= 40; id++)
		result = put_thread(
			sink,
			&(struct thread){.id = id, .process = 1, .tid = 99 + id, .comm = "thread"},
			&s->err);
	for (uint64_t id = 1; !result && id <= 100; id++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%" PRIu64, id);
		result = put_function(
			sink, &(struct function){.id = id, .mapping = 1, .name = name}, &s->err);
		if (!result)
			result = put_frame(sink,
					   &(struct frame){.id = id,
							   .kind = FRAME_NATIVE,
							   .mapping = 1,
							   .function = id,
							   .address = id * 64},
					   &s->err);
	}
	return result;
}

/* Put samples at stacks 1 to distinct, each after its stack if that is new. */
static inline int synthetic_samples(struct synthetic *s, uint64_t count, uint64_t distinct)
{
	int result = 0;

	for (uint64_t i = 0; !result && i < count; i++) {
		uint64_t r = synthetic_random(&s->random), want = r % distinct + 1;
		struct sample sample = {.time = s->time += 45000 + (r >> 40) % 10000,
					.event = 1,
					.thread = want % 40 + 1,
					.cpu = (r >> 32) % 4,
					.stack = want,
					.weight = 50000,
					.flags = (r >> 20) % 8 == 0 ? SAMPLE_FLAG_KERNEL : 0};

		for (; !result && s->stacks < want; s->stacks++)
			result = put_stack(s->sink,
					   &(struct stack){.id = s->stacks + 1,
							   .parent = s->stacks / 2,
							   .frame = s->stacks % 100 + 1},
					   &s->err);
		if (!result)
			result = put_sample(s->sink, &sample, &s->err);
		s->samples += !result;
	}
	return result;
}

/* A sink that counts records, and adds up samples and sums. */
struct tally {
	struct sink sink;
	uint64_t counts[KIND_COUNT];
	uint64_t weight, sum_count, sum_weight, lost, highest_kind, disorder;
};

static inline int tally_put(struct sink *sink, enum record_kind kind, const void *record,
			    struct error *err)
{
	struct tally *t = (struct tally *)sink;

	(void)err;
	t->disorder += kind < t->highest_kind;
	/* Slices and edges come together. */
	t->highest_kind = kind == KIND_EDGE ? KIND_SLICE : kind;
	t->counts[kind]++;
	if (kind == KIND_SAMPLE)
		t->weight += ((const struct sample *)record)->weight;
	if (kind == KIND_SUM) {
		t->sum_count += ((const struct sum *)record)->count;
		t->sum_weight += ((const struct sum *)record)->weight;
	}
	if (kind == KIND_LOSS && ((const struct loss *)record)->reason == LOSS_UNREADABLE_CHUNK)
		t->lost += ((const struct loss *)record)->count;
	return 0;
}

static inline int tally_finish(struct sink *sink, struct error *err)
{
	(void)sink;
	(void)err;
	return 0;
}

static inline void tally_free(struct sink *sink)
{
	(void)sink;
}

static inline void tally_init(struct tally *t)
{
	static const struct sink_ops ops = {
		.put = tally_put, .finish = tally_finish, .free = tally_free};

	*t = (struct tally){.sink = {&ops, WANTS(WANT_ALL)}};
}

#endif
