// SPDX-License-Identifier: Apache-2.0
/* The stack at which a thread waited, for skein view. */
#include <errno.h>
#include <inttypes.h>

#include "cmd/view.h"

#define STACK_DEPTH 512 /* frames that are shown; the outermost of a deeper stack are left out */
#define NAME_SIZE 1024

/* Return the sum with the most time; NULL if there is none with a stack. */
static const struct profile_sum *heaviest_sum(const struct profile *p)
{
	const struct profile_sum *best = NULL;

	for (uint32_t i = 0; i < p->count.sums; i++) {
		const struct profile_sum *s = &p->sums[i];

		if (s->stack != PROFILE_NONE && (!best || s->weight > best->weight))
			best = s;
	}
	return best;
}

/* Write the names of a stack's frames, the outermost first. */
static void write_stack_frames(struct json *j, const struct profile *p, uint32_t stack)
{
	uint32_t frames[STACK_DEPTH];
	unsigned int count = 0;
	char name[NAME_SIZE];

	for (; stack != PROFILE_NONE && count < STACK_DEPTH; stack = p->stacks[stack].parent)
		if (p->stacks[stack].frame != PROFILE_NONE)
			frames[count++] = p->stacks[stack].frame;
	while (count)
		json_text(j, profile_frame_name(p, frames[--count], name, sizeof(name)));
}

void view_write_wait_stack(struct json *j, const struct view_server *v, const struct lane_thread *t,
			   uint64_t from, uint64_t to)
{
	const struct profile_view view = {0};
	struct filtered_input in = {0};
	struct profile *p = NULL;
	struct error err = {""};
	char tid[24];
	struct filter f = {.from = from, .to = to, .tids = tid, .event = EVENT_OFF_CPU};

	snprintf(tid, sizeof(tid), "%" PRIu64, t->tid);
	json_array(j);
	/* a recording without stacks of waits, or no stack of this one, is no error */
	if (!filtered_input_open(&in, v->path, &f, &err) &&
	    !filtered_input_read_profile(&p, &in, &view, &err)) {
		const struct profile_sum *sum = heaviest_sum(p);

		if (sum)
			write_stack_frames(j, p, sum->stack);
	}
	json_array_end(j);
	profile_free(p);
	filtered_input_close(&in);
}
