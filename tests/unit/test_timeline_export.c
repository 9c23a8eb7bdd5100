// SPDX-License-Identifier: Apache-2.0
/* Formats that show time take whatever a damaged or forged trace may hold. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "suite.h"
#include "synthetic.h"
#include "timeline_scene.h"

static const char *const formats[] = {"perfetto", "chrome"};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

struct output {
	char *text;
	size_t size;
	FILE *out;
	struct sink *sink;
	struct error err;
};

static void begin(struct output *o, const char *format, const struct export_options *how)
{
	*o = (struct output){.out = NULL};
	o->out = open_memstream(&o->text, &o->size);
	ck_assert_int_eq(export_format_named(format)->sink(&o->sink, o->out, how, &o->err), 0);
}

static void end(struct output *o)
{
	sink_free(o->sink);
	fclose(o->out);
	free(o->text);
}

/* Numbers as a forged record has them: small, of another kind, near a border, or any. */
static uint64_t forged(uint64_t *random)
{
	static const uint64_t odd[] = {0,	   1,	       UINT64_MAX, INT64_MAX,
				       1ULL << 63, UINT32_MAX, 1ULL << 31, TL_START};
	uint64_t r = synthetic_random(random);

	switch (r >> 61) {
	case 0:
		return odd[r % 8];
	case 1:
		return synthetic_random(random);
	case 2:
	case 3:
		return AT(r % 100);
	default:
		return r % 20;
	}
}

static void forge(enum record_kind kind, uint64_t *random, void *record)
{
	static const char *const texts[] = {"", "a", "\xff\xfe", "</script>\x1b[2J", NULL};

	for (unsigned int i = 0; i < kinds[kind].field_count; i++) {
		const struct field *f = &kinds[kind].fields[i];
		char *member = (char *)record + f->offset;

		if (f->type == FIELD_TEXT)
			*(const char **)member = texts[synthetic_random(random) % 5];
		else
			*(uint64_t *)member = forged(random);
	}
}

/* Records that make some sense for most of the way, so that much is reached. */
static int put_forged(struct sink *to, uint64_t *random, struct error *err)
{
	static const enum record_kind entities[] = {KIND_HOST,	   KIND_EVENT, KIND_PROCESS,
						    KIND_THREAD,   KIND_LANE,  KIND_MAPPING,
						    KIND_FUNCTION, KIND_FRAME, KIND_STACK};
	static const enum record_kind records[] = {KIND_SAMPLE, KIND_SLICE, KIND_SLICE, KIND_EDGE,
						   KIND_LOSS};
	uint64_t words[32];
	int rc = 0;

	for (int n = 0; n < 60 && !rc; n++) {
		enum record_kind k = entities[n * 9 / 60];

		forge(k, random, words);
		if (k == KIND_STACK)
			words[0] = (uint64_t)n; /* the file's reader sees to it that they grow */
		if (k == KIND_LANE && n % 2)
			words[3] = 1 + (uint64_t)n % 5;
		rc = sink_put(to, k, words, err);
	}
	for (int n = 0; n < 200 && !rc; n++) {
		enum record_kind k = records[synthetic_random(random) % 5];

		forge(k, random, words);
		rc = sink_put(to, k, words, err);
	}
	return rc;
}

START_TEST(forged_records)
{
	uint64_t random = 88172645463325252ULL;

	for (int round = 0; round < 600; round++) {
		struct export_options how = {.from = round % 3 ? 0 : forged(&random),
					     .to = round % 5 ? 0 : forged(&random)};
		struct output o;
		int rc;

		begin(&o, formats[(size_t)round % FORMATS], &how);
		rc = put_forged(o.sink, &random, &o.err);
		if (!rc)
			rc = o.sink->ops->finish(o.sink, &o.err);
		ck_assert_msg(!rc || rc == -ENODATA, "round %d: %s", round, o.err.text);
		end(&o);
	}
}
END_TEST

/* The scene with its records in a wrong order, or some of them missing. */
START_TEST(shuffled_records)
{
	const size_t count = SCENE_COUNT(tl_records);
	uint64_t random = 88172645463325252ULL;

	for (int round = 0; round < 600; round++) {
		struct export_options how = {.from = 0};
		struct error err = {""};
		struct output o;
		struct scene s = {NULL, &err, 0};

		begin(&o, formats[(size_t)round % FORMATS], &how);
		s.to = o.sink;
		SCENE_PUT_ALL(&s, THREAD, tl_threads);
		SCENE_PUT_ALL(&s, LANE, tl_lanes);
		for (size_t i = 0; i < count; i++)
			scene_step(&s, &tl_records[synthetic_random(&random) % count]);
		if (!s.ret)
			s.ret = o.sink->ops->finish(o.sink, &err);
		ck_assert_msg(!s.ret || s.ret == -ENODATA, "round %d: %s", round, err.text);
		end(&o);
	}
}
END_TEST

START_TEST(given_up_half_way)
{
	for (size_t i = 0; i < FORMATS; i++) {
		struct export_options how = {.from = 0};
		struct output o;

		begin(&o, formats[i], &how);
		end(&o);
		begin(&o, formats[i], &how);
		ck_assert_int_eq(put_host(o.sink, &tl_hosts[0], &o.err), 0);
		ck_assert_int_eq(put_lane(o.sink, &tl_lanes[0], &o.err), 0);
		ck_assert_int_eq(put_slice(o.sink, &tl_records[3].slice, &o.err), 0);
		end(&o);
	}
}
END_TEST

START_TEST(an_empty_trace)
{
	for (size_t i = 0; i < FORMATS; i++) {
		struct export_options how = {.from = 0};
		struct output o;
		int rc;

		begin(&o, formats[i], &how);
		rc = o.sink->ops->finish(o.sink, &o.err);
		ck_assert_int_eq(rc, i ? -ENODATA : 0);
		end(&o);
	}
}
END_TEST

SUITE("timeline_export", forged_records, shuffled_records, given_up_half_way, an_empty_trace)
