// SPDX-License-Identifier: Apache-2.0
/*
 * Export samples and their stacks to Perfetto. Each event has its own sequence of packets, because
 * the reader takes the event's name from the sequence. A stack is described once in a sequence,
 * before the first sample that uses it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/perfetto.h"

#define FRAMES_MAX 2048 /* frames of a stack that are shown, from the innermost on */

enum { DEFAULTS_PERF_SAMPLE = 12 };
enum { SAMPLE_DEFAULTS_TIMEBASE = 1 };
enum { TIMEBASE_PERIOD = 1, TIMEBASE_FREQUENCY = 2, TIMEBASE_COUNTER = 4, TIMEBASE_NAME = 10 };
enum { COUNTER_CPU_CLOCK = 1 };
enum { SAMPLE_CPU = 1, SAMPLE_PID, SAMPLE_TID, SAMPLE_CALLSTACK, SAMPLE_CPU_MODE, SAMPLE_COUNT };
enum { MODE_KERNEL = 1, MODE_USER };
enum {
	INTERNED_FUNCTION_NAMES = 5,
	INTERNED_FRAMES = 6,
	INTERNED_CALLSTACKS = 7,
	INTERNED_BUILD_IDS = 16,
	INTERNED_PATHS = 17,
	INTERNED_SOURCES = 18,
	INTERNED_MAPPINGS = 19
};
enum { STRING_IID = 1, STRING_TEXT };
enum { MAPPING_IID = 1, MAPPING_BUILD_ID = 2, MAPPING_END_ADDRESS = 5, MAPPING_PATH = 7 };
enum { FRAME_IID = 1, FRAME_FUNCTION, FRAME_MAPPING, FRAME_REL_PC, FRAME_SOURCE, FRAME_LINE };
enum { CALLSTACK_IID = 1, CALLSTACK_FRAME };

/* Interned ids are indexes in the profile + 1; the ids of stand-ins for missing parts follow. */
static uint64_t end_frame(const struct profile *profile, unsigned int end)
{
	return (uint64_t)profile->count.frames + 1 + end;
}

static uint64_t no_mapping(const struct profile *profile)
{
	return (uint64_t)profile->count.mappings + 1;
}

static int allocate_event_flags(struct perfetto_event *e, const struct profile *profile)
{
	e->stacks = calloc(profile->count.stacks + 1, 1);
	e->frames = calloc(profile->count.frames + 1, 1);
	e->mappings = calloc(profile->count.mappings + 1, 1);
	e->functions = calloc(profile->count.functions + 1, 1);
	e->sources = calloc(profile->count.functions + 1, 1);
	return e->stacks && e->frames && e->mappings && e->functions && e->sources ? 0 : -ENOMEM;
}

unsigned int perfetto_sequence_of(const struct perfetto *p, const struct perfetto_event *e)
{
	return SEQUENCE_FIRST_EVENT + (unsigned int)(e - p->events);
}

/* Describe the samples of an event in the first packet of its sequence. */
static void begin_event_sequence(struct perfetto *p, struct perfetto_event *e)
{
	static const struct event unknown = {.name = "[unknown]"};
	size_t index = (size_t)(e - p->events);
	const struct event *r = index < p->timeline.profile->count.events
					? &p->timeline.profile->events[index]
					: &unknown;
	struct protobuf *buf = &p->packets.buf;
	size_t packet, defaults, samples, timebase;

	e->begun = true;
	perfetto_fail(p, allocate_event_flags(e, p->timeline.profile));
	packet = perfetto_begin_packet(p, 0, perfetto_sequence_of(p, e));
	protobuf_varint(buf, PACKET_SEQUENCE_FLAGS, FLAG_SEQUENCE_BEGINS);
	defaults = protobuf_begin(buf, PACKET_DEFAULTS);
	samples = protobuf_begin(buf, DEFAULTS_PERF_SAMPLE);
	timebase = protobuf_begin(buf, SAMPLE_DEFAULTS_TIMEBASE);
	if (r->frequency)
		protobuf_varint(buf, TIMEBASE_FREQUENCY, r->frequency);
	else
		protobuf_varint(buf, TIMEBASE_PERIOD, r->period);
	if (!strcmp(r->name, "cpu-clock"))
		protobuf_varint(buf, TIMEBASE_COUNTER, COUNTER_CPU_CLOCK);
	perfetto_text(p, buf, TIMEBASE_NAME, r->name);
	protobuf_end(buf, timebase);
	protobuf_end(buf, samples);
	protobuf_end(buf, defaults);
	perfetto_end_packet(p, packet);
}

/* Begin a packet that interns one item; end it by end_interned() with the result and marks. */
static size_t begin_interned(struct perfetto *p, const struct perfetto_event *e, unsigned int field,
			     uint64_t iid, size_t marks[2])
{
	struct protobuf *buf = &p->packets.buf;
	size_t mark;

	marks[0] = perfetto_begin_packet(p, 0, perfetto_sequence_of(p, e));
	protobuf_varint(buf, PACKET_SEQUENCE_FLAGS, FLAG_SEQUENCE_GOES_ON);
	marks[1] = protobuf_begin(buf, PACKET_INTERNED_DATA);
	mark = protobuf_begin(buf, field);
	/* The id has the same field number in the messages of all kinds of items. */
	protobuf_varint(buf, STRING_IID, iid);
	return mark;
}

static void end_interned(struct perfetto *p, size_t mark, const size_t marks[2])
{
	protobuf_end(&p->packets.buf, mark);
	protobuf_end(&p->packets.buf, marks[1]);
	perfetto_end_packet(p, marks[0]);
}

static void perfetto_intern_text(struct perfetto *p, const struct perfetto_event *e,
				 unsigned int field, uint64_t iid, const char *text)
{
	size_t marks[2], mark = begin_interned(p, e, field, iid, marks);

	perfetto_text(p, &p->packets.buf, STRING_TEXT, text);
	end_interned(p, mark, marks);
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Intern a build-id as bytes; return false if hex is not one to 64 bytes in lowercase hex. */
static bool perfetto_intern_build_id(struct perfetto *p, const struct perfetto_event *e,
				     uint64_t iid, const char *hex)
{
	unsigned char bytes[64];
	size_t size = strlen(hex) / 2, marks[2], mark;

	if (!size || size > sizeof(bytes) || strlen(hex) % 2)
		return false;
	for (size_t i = 0; i < size; i++) {
		int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		bytes[i] = (unsigned char)(high << 4 | low);
	}
	mark = begin_interned(p, e, INTERNED_BUILD_IDS, iid, marks);
	protobuf_bytes(&p->packets.buf, STRING_TEXT, bytes, size);
	end_interned(p, mark, marks);
	return true;
}

static void perfetto_intern_object(struct perfetto *p, const struct perfetto_event *e, uint64_t iid,
				   const char *path, const struct mapping *m)
{
	bool named = perfetto_intern_build_id(p, e, iid, m->build_id);
	size_t marks[2], mark;

	perfetto_intern_text(p, e, INTERNED_PATHS, iid, path);
	mark = begin_interned(p, e, INTERNED_MAPPINGS, iid, marks);
	if (named)
		protobuf_varint(&p->packets.buf, MAPPING_BUILD_ID, iid);
	protobuf_varint(&p->packets.buf, MAPPING_END_ADDRESS, m->size);
	protobuf_varint(&p->packets.buf, MAPPING_PATH, iid);
	end_interned(p, mark, marks);
}

/*
 * Return the id of a mapping, which is interned at its first use. PROFILE_NONE: a stand-in, since
 * every frame must have a mapping.
 */
static uint64_t perfetto_intern_mapping(struct perfetto *p, struct perfetto_event *e,
					uint32_t index)
{
	static const struct mapping none = {.build_id = ""};
	const struct profile *profile = p->timeline.profile;

	if (index == PROFILE_NONE) {
		if (!e->no_mapping)
			perfetto_intern_object(p, e, no_mapping(profile), "[unknown]", &none);
		e->no_mapping = true;
		return no_mapping(profile);
	}
	if (!e->mappings[index])
		perfetto_intern_object(p, e, (uint64_t)index + 1,
				       profile_module_path(profile, index),
				       &profile->mappings[index].m);
	e->mappings[index] = true;
	return (uint64_t)index + 1;
}

/* A frame to intern. */
struct perfetto_frame {
	uint64_t iid, function, mapping, source; /* ids; source is 0 for none */
	uint64_t address, line;
};

static void perfetto_write_frame(struct perfetto *p, const struct perfetto_event *e,
				 const struct perfetto_frame *f)
{
	struct protobuf *buf = &p->packets.buf;
	size_t marks[2], mark = begin_interned(p, e, INTERNED_FRAMES, f->iid, marks);

	protobuf_varint(buf, FRAME_FUNCTION, f->function);
	protobuf_varint(buf, FRAME_MAPPING, f->mapping);
	protobuf_varint(buf, FRAME_REL_PC, f->address);
	if (f->source)
		protobuf_varint(buf, FRAME_SOURCE, f->source);
	if (f->line)
		protobuf_varint(buf, FRAME_LINE, f->line & INT32_MAX);
	end_interned(p, mark, marks);
}

/*
 * Return the id of a function name. Names of functions are interned once; a name made up for one
 * frame is interned with the frame.
 */
static uint64_t perfetto_intern_function(struct perfetto *p, struct perfetto_event *e,
					 uint32_t frame)
{
	const struct profile *profile = p->timeline.profile;
	uint32_t function = profile->frames[frame].function;
	char text[512];
	const char *name = profile_frame_name(profile, frame, text, sizeof(text));
	uint64_t iid = (uint64_t)profile->count.functions + 1 + frame;

	if (profile_function_name(profile, frame) == name) {
		iid = (uint64_t)function + 1;
		if (e->functions[function])
			return iid;
		e->functions[function] = true;
	}
	perfetto_intern_text(p, e, INTERNED_FUNCTION_NAMES, iid, name);
	return iid;
}

/* Return the id of a frame's source file, interned once per function; 0 if unknown. */
static uint64_t perfetto_intern_source(struct perfetto *p, struct perfetto_event *e, uint32_t frame)
{
	const struct profile *profile = p->timeline.profile;
	uint32_t function = profile->frames[frame].function;
	const char *file = function == PROFILE_NONE ? "" : profile->functions[function].f.file;

	if (!*file)
		return 0;
	if (!e->sources[function])
		perfetto_intern_text(p, e, INTERNED_SOURCES, (uint64_t)function + 1, file);
	e->sources[function] = true;
	return (uint64_t)function + 1;
}

static uint64_t perfetto_intern_frame(struct perfetto *p, struct perfetto_event *e, uint32_t index)
{
	const struct profile *profile = p->timeline.profile;
	const struct profile_frame *f = &profile->frames[index];
	struct perfetto_frame out = {
		.iid = (uint64_t)index + 1, .address = f->f.address, .line = f->f.line};

	if (e->frames[index])
		return out.iid;
	e->frames[index] = true;
	/*
	 * The reader merges frames of equal name and address, and keeps one line. So frames whose
	 * name includes the first line of the function (Python) have that line.
	 */
	if (f->shown && f->shown == profile_function_name(profile, index))
		out.line = profile->functions[f->function].f.line;
	out.source = perfetto_intern_source(p, e, index);
	out.mapping = perfetto_intern_mapping(p, e, f->mapping);
	out.function = perfetto_intern_function(p, e, index);
	perfetto_write_frame(p, e, &out);
	return out.iid;
}

/* Stand-ins for missing parts of a stack in addition to enum stack_end. */
enum { NO_STACK = END_COUNT, NO_FRAME };

static uint64_t perfetto_intern_end(struct perfetto *p, struct perfetto_event *e, unsigned int end)
{
	const struct profile *profile = p->timeline.profile;
	struct perfetto_frame out = {.iid = end_frame(profile, end),
				     .function = (uint64_t)profile->count.functions + 1 +
						 profile->count.frames + end};
	char text[PROFILE_END_SIZE];

	if (e->ends[end])
		return out.iid;
	e->ends[end] = true;
	perfetto_intern_text(p, e, INTERNED_FUNCTION_NAMES, out.function,
			     end == NO_STACK   ? "[no stack]"
			     : end == NO_FRAME ? "[unknown]"
					       : profile_end_name(end, text));
	out.mapping = perfetto_intern_mapping(p, e, PROFILE_NONE);
	perfetto_write_frame(p, e, &out);
	return out.iid;
}

/* Intern the frames of a stack, and list their ids, innermost first, in p->path. */
static void collect_stack_frames(struct perfetto *p, struct perfetto_event *e, uint32_t stack)
{
	const struct profile *profile = p->timeline.profile;
	enum stack_end end = profile_stack_end(profile, stack);

	p->path.count = 0;
	if (stack == PROFILE_NONE) {
		perfetto_fail(p, vector_push(&p->path, perfetto_intern_end(p, e, NO_STACK)));
		return;
	}
	for (uint32_t at = stack; at != PROFILE_NONE; at = profile->stacks[at].parent) {
		uint32_t frame = profile->stacks[at].frame;

		if (p->path.count == FRAMES_MAX) {
			end = END_DEPTH;
			break;
		}
		if (frame == PROFILE_NONE)
			perfetto_fail(p,
				      vector_push(&p->path, perfetto_intern_end(p, e, NO_FRAME)));
		else if (profile->frames[frame].f.kind != FRAME_END)
			perfetto_fail(p, vector_push(&p->path, perfetto_intern_frame(p, e, frame)));
	}
	if (end != END_WALKED || !p->path.count)
		perfetto_fail(p, vector_push(&p->path, perfetto_intern_end(p, e, end)));
}

uint64_t perfetto_intern_stack(struct perfetto *p, struct perfetto_event *e, uint32_t stack)
{
	uint32_t at = stack == PROFILE_NONE ? p->timeline.profile->count.stacks : stack;
	size_t marks[2], mark;

	if (!e->stacks[at]) {
		e->stacks[at] = true;
		collect_stack_frames(p, e, stack);
		mark = begin_interned(p, e, INTERNED_CALLSTACKS, (uint64_t)at + 1, marks);
		for (size_t i = p->path.count; i-- > 0;)
			protobuf_varint(&p->packets.buf, CALLSTACK_FRAME, p->path.items[i]);
		end_interned(p, mark, marks);
	}
	return (uint64_t)at + 1;
}

/*
 * Add a sample to the event's counter on the sample's CPU, and return the counter: the weight of
 * all samples of the event on that CPU so far.
 */
static uint64_t add_to_counter(struct perfetto *p, struct perfetto_event *e, const struct sample *s)
{
	uint32_t at = index_get(&e->totals, s->cpu);

	if (at == INDEX_NONE) {
		at = (uint32_t)e->weights.count;
		if (vector_push(&e->weights, 0) < 0 || index_put(&e->totals, s->cpu, at) < 0) {
			perfetto_fail(p, -ENOMEM);
			return 0;
		}
	}
	return e->weights.items[at] += s->weight;
}

static void perfetto_write_sample(struct perfetto *p, struct perfetto_event *e,
				  const struct sample *s)
{
	uint32_t thread = index_get(&p->timeline.thread_of, s->thread);
	uint64_t stack =
		perfetto_intern_stack(p, e, profile_stack_by_id(p->timeline.profile, s->stack));
	struct timeline_identity identity = {0, 0, ""};
	struct protobuf *buf = &p->packets.buf;
	size_t packet, mark;

	if (thread != PROFILE_NONE)
		identity = timeline_identity(&p->timeline, thread);
	packet = perfetto_begin_packet(p, s->time, perfetto_sequence_of(p, e));
	protobuf_varint(buf, PACKET_SEQUENCE_FLAGS, FLAG_SEQUENCE_GOES_ON);
	mark = protobuf_begin(buf, PACKET_PERF_SAMPLE);
	protobuf_varint(buf, SAMPLE_CPU, s->cpu & UINT32_MAX);
	protobuf_varint(buf, SAMPLE_PID, identity.pid & INT32_MAX);
	protobuf_varint(buf, SAMPLE_TID, identity.tid & INT32_MAX);
	protobuf_varint(buf, SAMPLE_CALLSTACK, stack);
	protobuf_varint(buf, SAMPLE_CPU_MODE,
			s->flags & SAMPLE_FLAG_KERNEL ? MODE_KERNEL : MODE_USER);
	protobuf_varint(buf, SAMPLE_COUNT, add_to_counter(p, e, s));
	protobuf_end(buf, mark);
	perfetto_end_packet(p, packet);
}

int perfetto_sample(struct timeline *t, const struct sample *s)
{
	struct perfetto *p = (struct perfetto *)t;
	uint32_t event = index_get(&t->event_of, s->event);
	struct perfetto_event *e =
		&p->events[event == INDEX_NONE ? t->profile->count.events : event];

	if (!e->begun)
		begin_event_sequence(p, e);
	if (!p->error)
		perfetto_write_sample(p, e, s);
	if (perfetto_event_is_of_waits(p, e))
		perfetto_keep_wait(p, e, s);
	return p->error;
}

void perfetto_stacks_free(struct perfetto *p)
{
	if (!p->events)
		return;
	for (uint32_t i = 0; i <= p->timeline.profile->count.events; i++) {
		free(p->events[i].stacks);
		free(p->events[i].frames);
		free(p->events[i].mappings);
		free(p->events[i].functions);
		free(p->events[i].sources);
		index_free(&p->events[i].totals);
		vector_free(&p->events[i].weights);
	}
	free(p->events);
}
