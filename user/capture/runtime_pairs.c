// SPDX-License-Identifier: Apache-2.0
/*
 * Spans and instants of probes without a meaning of their own: those of the user, and of runtimes
 * and servers that have only rows. Begin and end pair per thread.
 */
#include "capture/runtime_meanings.h"

#include <stdio.h>
#include <string.h>

/*
 * Stack pointers farther apart than this belong to different stacks (coroutines, signal stacks), so
 * that they say nothing about each other's frames. It is the usual size of a thread's stack.
 */
#define STACK_BYTES (8ULL << 20)

/* Words that distinguish the names of a begin and of its end. */
static const char *const endings[] = {"__begin", "__end",   "__start",	"__done",  "__commit",
				      "__abort", "__entry", "__return", "__enter", "__exit"};

/* Write what the names of a begin and of its end have in common, such as "ruby:gc__mark". */
static void pair_name(const struct probe_event *e, char *out, size_t size)
{
	const struct probe_row *row = e->row;
	size_t length;

	if (e->label) {
		snprintf(out, size, "%s", e->label);
		return;
	}
	snprintf(out, size, "%s:%s", row->provider ? row->provider : "", row->name);
	length = strlen(out);
	for (size_t i = 0; row->origin == PROBE_NOTE && i < sizeof(endings) / sizeof(endings[0]);
	     i++) {
		size_t cut = strlen(endings[i]);

		if (length > cut && !strcmp(out + length - cut, endings[i])) {
			out[length - cut] = '\0';
			return;
		}
	}
}

/* Return the arguments of a probe as JSON, with texts in place of their addresses; NULL: none. */
static char *probe_args(struct runtime_events *r, const struct probe_event *e)
{
	struct json *j;

	if (!e->argument_count)
		return NULL;
	j = runtime_args_begin(r);
	json_key(j, "arguments");
	json_array(j);
	for (unsigned int i = 0; i < e->argument_count && i < PROBE_ARGUMENTS_MAX; i++) {
		const char *text = NULL;

		for (int n = 0; n < PROBE_TEXTS_MAX; n++)
			if (e->row->texts[n].address == i + 1)
				text = e->texts[n];
		if (text)
			json_text(j, text);
		else
			json_int(j, (int64_t)e->arguments[i]);
	}
	json_array_end(j);
	return runtime_args_end(r);
}

/*
 * Return whether an event shows that the frame in which an open span began is gone, although no end
 * came: it was cut off by longjmp() or an exception. Stacks grow down. A function that begins needs
 * the place of all frames above it. A note may lie in a function that its caller uses to begin
 * something, so only the same note in an outer frame, or again in the same one, counts.
 */
static bool is_cut_off(const struct open_span *s, const struct probe_event *e, uint64_t key,
		       bool begins)
{
	bool same = s->key == key, function = e->row->origin != PROBE_NOTE;

	if (s->kind != SPAN_PROBE || e->stack_pointer < s->stack_pointer ||
	    e->stack_pointer - s->stack_pointer > STACK_BYTES || !s->stack_pointer)
		return false;
	if (e->stack_pointer > s->stack_pointer)
		return s->origin == ORIGIN_FUNCTION || same;
	return begins && (same || (function && s->origin == ORIGIN_FUNCTION));
}

/* The key of an event's name, and the position + 1 of the span that it ends; 0: none. */
struct pair {
	uint64_t key;
	size_t ends;
};

/* End the spans of the thread whose frames an event shows to be gone, except that which it ends. */
static int end_cut_off(struct runtime_events *r, struct track *t, const struct probe_event *e,
		       struct pair pair, struct error *err)
{
	bool begins = e->row->meaning != PROBE_END;
	int ret = 0;

	for (size_t i = t->open.count; i > 0 && !ret; i--) {
		struct open_span *s = &t->open.items[i - 1];
		struct json *j;

		if (i == pair.ends || !is_cut_off(s, e, pair.key, begins))
			continue;
		j = runtime_args_begin(r);
		json_key(j, "cut_off");
		json_bool(j, true);
		free(s->args);
		s->args = runtime_args_end(r);
		ret = track_end_alone(r, t, i - 1, e->time, err);
		pair.ends -= pair.ends > i;
	}
	return ret;
}

static int begin_pair(struct runtime_events *r, struct track *t, const struct probe_event *e,
		      struct error *err)
{
	char name[RUNTIME_NAME_BYTES];
	struct open_span s = {.time = e->time,
			      .stack_pointer = e->stack_pointer,
			      .kind = SPAN_PROBE,
			      .origin = runtime_origin(e)};
	int ret;

	pair_name(e, name, sizeof(name));
	s.key = runtime_key(name);
	track_find(r, t, SPAN_PROBE, 0);
	ret = end_cut_off(r, t, e, (struct pair){s.key, 0}, err);
	if (ret)
		return ret;
	s.name = runtime_text(name);
	s.args = probe_args(r, e);
	return track_begin(r, t, &s, err);
}

/*
 * Return the position + 1 of the begin of an end: that in the same frame, else the innermost one,
 * unless begins were dropped. 0: none.
 */
static size_t find_begin(struct runtime_events *r, struct track *t, const struct probe_event *e,
			 uint64_t key)
{
	size_t innermost = track_find(r, t, SPAN_PROBE, key);

	for (size_t i = innermost; i > 0; i--) {
		const struct open_span *s = &t->open.items[i - 1];

		if (s->kind == SPAN_PROBE && s->key == key && s->stack_pointer == e->stack_pointer)
			return i;
	}
	return t->overflow ? 0 : innermost;
}

static int end_pair(struct runtime_events *r, struct runtime_thread *th,
		    const struct probe_event *e, struct error *err)
{
	struct track *t = &th->track;
	char name[RUNTIME_NAME_BYTES];
	uint64_t key;
	size_t found;
	int ret;

	pair_name(e, name, sizeof(name));
	key = runtime_key(name);
	found = find_begin(r, t, e, key);
	if (!found) {
		track_unpaired(r, t, e, SPAN_PROBE, th->old);
		return end_cut_off(r, t, e, (struct pair){key, 0}, err);
	}
	/* those inside of it end first */
	ret = end_cut_off(r, t, e, (struct pair){key, found}, err);
	if (ret)
		return ret;
	return track_end_alone(r, t, find_begin(r, t, e, key) - 1, e->time, err);
}

static int put_instant(struct runtime_events *r, struct track *t, const struct probe_event *e,
		       struct error *err)
{
	char name[RUNTIME_NAME_BYTES];
	struct open_span s = {.time = e->time,
			      .kind = probe_is_cue(e->row->meaning) ? SPAN_MARK : SPAN_PROBE,
			      .origin = runtime_origin(e)};
	int ret;

	pair_name(e, name, sizeof(name));
	track_find(r, t, SPAN_PROBE, 0);
	ret = end_cut_off(r, t, e, (struct pair){runtime_key(name), 0}, err);
	if (ret)
		return ret;
	s.name = name;
	s.args = probe_args(r, e);
	ret = runtime_put_span(r, t->lane, &s, e->time, err);
	free(s.args);
	return ret;
}

int runtime_pair_probe(struct runtime_lanes *p, const struct probe_event *e, struct error *err)
{
	struct runtime_thread *th;
	int ret = runtime_thread_of(p, e, &th, err);

	if (ret)
		return ret;
	if (!th) {
		runtime_count_unpaired(p->events, e->time, e->time);
		return 0;
	}
	switch (e->row->meaning) {
	case PROBE_BEGIN:
		return begin_pair(p->events, &th->track, e, err);
	case PROBE_END:
		return end_pair(p->events, th, e, err);
	default:
		return put_instant(p->events, &th->track, e, err);
	}
}
