/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic recording for the tests of the trace: deterministic, and of any length. */
#ifndef SKEIN_TESTS_SYNTHETIC_H
#define SKEIN_TESTS_SYNTHETIC_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene.h"

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
	struct scene scene;
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
	struct scene *to = &s->scene;

	*s = (struct synthetic){.scene = {sink, &s->err, 0},
				.random = 88172645463325252ULL,
				.time = SYNTHETIC_START};
	scene_host(to, .id = 1, .hostname = "machine", .cpus = 4, .start = SYNTHETIC_START);
	scene_event(to, 1, 1, "cpu-clock", "ns", 50000, 20000);
	scene_process(to, .id = 1, .host = 1, .pid = 100, .comm = "worker");
	scene_mapping(to, .id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/worker");
	for (uint64_t id = 1; id <= 40; id++)
		scene_thread(to, .id = id, .process = 1, .tid = 99 + id, .comm = "thread");
	for (uint64_t id = 1; id <= 100; id++) {
		char name[32];

		snprintf(name, sizeof(name), "function_%" PRIu64, id);
		scene_function(to, .id = id, .mapping = 1, .name = name);
		scene_frame(to, id, FRAME_NATIVE, 1, id * 64, id, 0, 0);
	}
	return to->ret;
}

/* Put samples at stacks 1 to distinct, each after its stack if that is new. */
static inline int synthetic_samples(struct synthetic *s, uint64_t count, uint64_t distinct)
{
	struct scene *to = &s->scene;

	for (uint64_t i = 0; !to->ret && i < count; i++) {
		uint64_t r = synthetic_random(&s->random), want = r % distinct + 1;

		s->time += 45000 + (r >> 40) % 10000;
		for (; !to->ret && s->stacks < want; s->stacks++)
			scene_stack(to, s->stacks + 1, s->stacks / 2, s->stacks % 100 + 1);
		scene_sample(to, s->time, 1, want % 40 + 1, (r >> 32) % 4, want, 50000,
			     (r >> 20) % 8 == 0 ? SAMPLE_FLAG_KERNEL : 0, 0, 0, 0, 0);
		s->samples += !to->ret;
	}
	return to->ret;
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

static inline void tally_init(struct tally *t)
{
	static const struct sink_ops ops = {.put = tally_put, .finish = tally_finish};

	*t = (struct tally){.sink = {&ops, WANTS(WANT_ALL)}};
}

#endif
