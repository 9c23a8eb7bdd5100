// SPDX-License-Identifier: Apache-2.0
/* The stack at which a thread waited, for skein view. */
#include <errno.h>
#include <inttypes.h>

#include "cmd/view_samples.h"

#define STACK_DEPTH 512 /* frames that are shown; the outermost of a deeper stack are left out */
#define NAME_SIZE 1024

/* The longest wait with a stack among samples. */
struct longest_wait {
	const struct http_request *asked;
	const struct profile *names;
	uint64_t weight;
	uint32_t stack; /* index in names; PROFILE_NONE: none was found */
};

static int take_wait(void *context, const struct sample *s, const struct lane_thread *thread)
{
	struct longest_wait *w = context;
	uint32_t stack = profile_stack_by_id(w->names, s->stack);

	(void)thread;
	if (stack != PROFILE_NONE && (w->stack == PROFILE_NONE || s->weight > w->weight)) {
		w->stack = stack;
		w->weight = s->weight;
	}
	return 0;
}

static bool wait_search_stops(void *context)
{
	return http_request_expired(((const struct longest_wait *)context)->asked);
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

void view_write_wait_stack(struct json *j, const struct view_server *v,
			   const struct http_request *q, const struct lane_thread *t,
			   const struct view_wait *w)
{
	struct longest_wait longest = {.asked = q, .names = v->names, .stack = PROFILE_NONE};
	struct view_samples s = {
		.view = v,
		.choice = {.from = w->time,
			   .to = w->end,
			   .tid = t->tid,
			   .by_tid = true,
			   .event = EVENT_OFF_CPU},
		.columns = VIEW_COLUMN(stack) | VIEW_COLUMN(weight),
		.take = take_wait,
		.stop = wait_search_stops,
		.context = &longest,
	};
	struct error err = {""};

	json_array(j);
	/* a recording without stacks of waits, or no stack of this one, is no error */
	if (!view_samples_read(&s, &err) && longest.stack != PROFILE_NONE)
		write_stack_frames(j, v->names, longest.stack);
	json_array_end(j);
}
