// SPDX-License-Identifier: Apache-2.0
/*
 * A forged profile of Python: records with any ids, kinds, flags and references, shown in every
 * view. Each record is 6 bytes: its kind, and five numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "../unit/scene.h"
#include "analyze/functions.h"
#include "analyze/python.h"
#include "fuzz.h"

static const char *const texts[] = {"",	 "f",	    "_PyEval_Vector", "method_vectorcall.cold",
				    "/", "/a/b.py", "/c/b.py",	      "<string>",
				    ".", "a/",	    "\xff(:",	      "gen_iternext"};

static const char *text(uint8_t number)
{
	return texts[number % (sizeof(texts) / sizeof(texts[0]))];
}

struct input {
	const uint8_t *data;
	size_t size;
};

static void put(struct scene *s, const uint8_t *d)
{
	switch (d[0] % 5) {
	case 0:
		scene_mapping(s, .id = d[1] % 8, .kind = d[2] % 8, .process = d[3] % 4,
			      .path = text(d[4]));
		break;
	case 1:
		scene_function(s, .id = d[1] % 16, .mapping = d[2] % 8, .name = text(d[3]),
			       .file = text(d[4]), .line = d[5] % 3);
		break;
	case 2:
		scene_frame(s, .id = d[1] % 16, .kind = d[2] % 8, .mapping = d[3] % 8,
			    .function = d[4] % 16, .line = d[5] % 3, .address = d[5],
			    .flags = d[5] >> 4);
		break;
	case 3:
		scene_stack(s, d[1], d[2], d[3] % 16);
		break;
	default:
		scene_sum(s, .event = 1, .stack = d[1], .count = d[2], .weight = d[3],
			  .flags = d[4]);
	}
}

static void build(struct scene *s, const void *input)
{
	const struct input *in = input;

	for (size_t at = 0; at + 6 <= in->size && !s->ret; at += 6)
		put(s, in->data + at);
}

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_profile(const struct profile *p)
{
	struct python_share share;
	struct symbols symbols;
	struct tree tree;
	struct tree_view view = {0};
	uint64_t count, weight;

	for (uint32_t i = 0; i < p->count.stacks; i++)
		check(p->stacks[i].parent == PROFILE_NONE || p->stacks[i].parent < i);
	check(!python_share_of(&share, p, 0) && share.named <= share.frames);
	check(!symbols_of(&symbols, p));
	view.frame_labels = symbols.of_frame;
	view.unknown_label = symbols.unknown;
	check(!tree_build(&tree, p, 0, &view));
	profile_event_total(p, 0, &count, &weight);
	check(tree.nodes.items[0].count == count && tree.nodes.items[0].weight == weight);
	tree_free(&tree);
	symbols_free(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct input input = {data, size};
	struct scene_source source = SCENE_OF(build, &input);
	struct error err = {""};

	for (int view = 0; view < 4; view++) {
		struct profile_view how = {.native = view & 1, .lines = view & 2};
		struct profile *p = NULL;

		if (profile_read(&p, &source.source, &how, &err) == 0)
			check_profile(p);
		profile_free(p);
	}
	return 0;
}
