// SPDX-License-Identifier: Apache-2.0
/*
 * Walk a saved stack with hostile registers, memory, mappings and rows. The walk must end, and the
 * way in which it reads memory must not change its result.
 */
#include <string.h>

#include "capture/saved.h"
#include "fuzz.h"

static void walk(struct saved_stack *s)
{
	static struct finished_stack at_once, by_words;
	uint64_t read[FINISH_READ_WORDS] = {0};
	int ret = finish_stack(&at_once, &s->world, &s->begin);

	s->world.read = read;
	if (finish_stack(&by_words, &s->world, &s->begin) != ret)
		abort();
	if (ret)
		return;
	if (at_once.count > WIRE_MAX_USER || at_once.count != by_words.count ||
	    at_once.end != by_words.end ||
	    memcmp(at_once.frames, by_words.frames, at_once.count * sizeof(*at_once.frames)))
		abort();
	(void)saved_agrees(s, &at_once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct saved_stack *s;

	if (saved_read(&s, (const char *)data, size, NULL))
		return 0;
	walk(s);
	free(s);
	return 0;
}
