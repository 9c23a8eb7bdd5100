// SPDX-License-Identifier: Apache-2.0
/*
 * Walk saved stacks again and print of each whether the result is the same and, if not, the new
 * result. The exit status is 0 if all are the same.
 *
 *   replay FILE...
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../unit/saved.h"

static void show_difference(const struct saved_stack *s, const struct finished_stack *f)
{
	uint32_t same = 0;

	while (same < f->count && same < s->count && f->frames[same] == s->frames[same])
		same++;
	printf("  was: %u frames, %s; is: %u frames, %s; the first %u are the same\n", s->count,
	       stack_end_word(s->end), f->count, stack_end_word(f->end), same);
	for (uint32_t i = same; i < f->count; i++)
		printf("  frame %" PRIx64 "\n", f->frames[i]);
}

static bool replay(const char *path)
{
	static struct finished_stack f;
	struct saved_stack *s;
	struct error err = {""};
	bool same;
	int ret;

	if (saved_load(&s, path, &err)) {
		printf("%s: %s\n", path, err.text);
		return false;
	}
	ret = finish_stack(&f, &s->world, &s->begin);
	same = !ret && saved_agrees(s, &f);
	printf("%s: %s, %u frames, %s\n", path, same ? "same" : "differs", s->count,
	       stack_end_word(s->end));
	if (ret)
		printf("  it waits for a table\n");
	else if (!same)
		show_difference(s, &f);
	free(s);
	return same;
}

int main(int argc, char **argv)
{
	int failed = argc < 2;

	for (int i = 1; i < argc; i++)
		failed |= !replay(argv[i]);
	return failed;
}
