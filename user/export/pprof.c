// SPDX-License-Identifier: Apache-2.0
/*
 * Export to pprof: https://github.com/google/pprof/blob/main/proto/profile.proto. The output is
 * compressed outside of this file (EXPORT_GZIP).
 *
 * The fields of a message may have any order, so each entry is written when it first occurs, and
 * the string table, which grows until the end, is written last. Labels hold the process and
 * thread of a sample as strings, because pprof drops numbers that are 0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/broken.h"
#include "analyze/groups.h"
#include "analyze/names.h"
#include "analyze/tree.h"
#include "base/outfile.h"
#include "base/protobuf.h"
#include "export/export.h"
#include "export/main_program.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

/* Field numbers. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION,
	PROFILE_STRING_TABLE,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS,
	PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD,
	PROFILE_COMMENT,
	PROFILE_DEFAULT_SAMPLE_TYPE
};
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum {
	MAPPING_ID = 1,
	MAPPING_MEMORY_START,
	MAPPING_MEMORY_LIMIT,
	MAPPING_FILE_OFFSET,
	MAPPING_FILENAME,
	MAPPING_BUILD_ID,
	MAPPING_HAS_FUNCTIONS,
	MAPPING_HAS_FILENAMES,
	MAPPING_HAS_LINE_NUMBERS,
	MAPPING_HAS_INLINE_FRAMES
};
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };
enum {
	FUNCTION_ID = 1,
	FUNCTION_NAME,
	FUNCTION_SYSTEM_NAME,
	FUNCTION_FILENAME,
	FUNCTION_START_LINE
};

#define FLUSH_BYTES (1 << 20)
#define BREAKAGE_COMMENTS 10 /* at most */

#define LABELS(X) X(pid) X(tid) X(comm) X(thread) X(service) X(container_id) X(cgroup) X(python)
#define LABEL_MEMBER(name) uint32_t name;
struct label_set {
	LABELS(LABEL_MEMBER) /* numbers of strings; 0: the set has no such label */
};
#undef LABEL_MEMBER

/* The interpreter's state for the thread, with the text of the label python. */
#define PYTHON_STATES(X) \
	X(NONE, "") X(GIL, "gil") X(NO_GIL, "no gil") X(GC, "gc") X(UNREAD, "unread")
#define PYTHON_ENUM(NAME, text) PYTHON_##NAME,
enum python_state { PYTHON_STATES(PYTHON_ENUM) PYTHON_STATE_COUNT };
#undef PYTHON_ENUM

/* One mapping of the output, which stands for all mappings of the same object in the trace. */
struct pprof_object {
	uint32_t name, build_id; /* numbers of strings */
	uint64_t start, limit; /* addresses; limit is the first address after the object */
	bool looked_up; /* the symbolizer has looked up every frame in the object */
	bool filed, lined, inlined; /* some frames have files, lines, inlined functions */
};

struct pprof {
	const struct profile *profile;
	struct protobuf buf;
	FILE *out;
	struct names strings; /* number = index in the string table */
	struct names objects, functions, locations, label_sets; /* number + 1 = id */
	VECTOR(struct pprof_object) object_list;
	uint32_t *object_of; /* index in object_list by mapping index; INDEX_NONE if not used */
	uint32_t *location_of; /* id by frame index; 0 if not used */
	uint32_t *labels_of; /* number of a label set by pprof_label_index(); INDEX_NONE: none */
	uint32_t ends[END_COUNT], no_stack, unknown; /* ids of locations; 0 if not used */
	VECTOR(uint32_t) events; /* indexes of events with samples; if none, of the last event */
	VECTOR(uint64_t) path;
	VECTOR(uint64_t) place; /* key of the location under construction */
	bool wall; /* a column adds up all events, before theirs */
	int error; /* the first error; sticky */
};

static uint32_t pprof_fail(struct pprof *p, int rc)
{
	if (rc < 0 && !p->error)
		p->error = rc;
	return 0;
}

/* Return the number of a key; 0 after an error, which is kept in p->error. */
static uint32_t pprof_number(struct pprof *p, struct names *n, const void *data, size_t size)
{
	uint32_t ret = 0;
	int rc = names_intern(n, data, size, &ret);

	return rc < 0 ? pprof_fail(p, rc) : ret;
}

/*
 * Return the number of a string, which is cleaned, because pprof and similar tools print strings as
 * they are. Return 0 after an error.
 */
static uint32_t pprof_string(struct pprof *p, const char *text)
{
	uint32_t ret = 0;
	int rc = names_intern_clean(&p->strings, text, &ret);

	return rc < 0 ? pprof_fail(p, rc) : ret;
}

static uint32_t pprof_decimal(struct pprof *p, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return pprof_string(p, text);
}

static void pprof_field(struct pprof *p, unsigned int field_number, uint64_t value)
{
	if (value)
		protobuf_varint(&p->buf, field_number, value);
}

static void pprof_flush(struct pprof *p)
{
	pprof_fail(p, p->buf.error);
	if (!p->error && fwrite(p->buf.data, 1, p->buf.size, p->out) != p->buf.size)
		pprof_fail(p, outfile_flush(p->out, "a pprof profile", NULL));
	protobuf_reset(&p->buf);
}

/*
 * Return the id of a function; write the function if it is new. A name that was not mangled has no
 * system name: if both were equal, pprof would take the name for a mangled one and remove parts
 * that look like parameters.
 */
static uint64_t pprof_function(struct pprof *p, const char *name, const char *system_name,
			       const char *file, uint64_t line)
{
	struct {
		uint64_t name, system_name, file, line;
	} key = {pprof_string(p, name), pprof_string(p, system_name), pprof_string(p, file), line};
	uint32_t known = p->functions.texts.count;
	uint64_t id = 1 + (uint64_t)pprof_number(p, &p->functions, &key, sizeof(key));

	if (id > known && !p->error) {
		size_t mark = protobuf_begin(&p->buf, PROFILE_FUNCTION);

		pprof_field(p, FUNCTION_ID, id);
		pprof_field(p, FUNCTION_NAME, key.name);
		pprof_field(p, FUNCTION_SYSTEM_NAME, key.system_name);
		pprof_field(p, FUNCTION_FILENAME, key.file);
		pprof_field(p, FUNCTION_START_LINE, line);
		protobuf_end(&p->buf, mark);
	}
	return id;
}

/*
 * Begin a location, which consists of a mapping, an address and lines, the innermost function
 * first.
 */
static void pprof_begin_location(struct pprof *p, uint64_t mapping_id, uint64_t address)
{
	p->place.count = 0;
	pprof_fail(p, vector_push(&p->place, mapping_id));
	pprof_fail(p, vector_push(&p->place, address));
}

static void pprof_add_line(struct pprof *p, uint64_t function_id, uint64_t line)
{
	pprof_fail(p, vector_push(&p->place, function_id));
	pprof_fail(p, vector_push(&p->place, line));
}

static void pprof_write_location(struct pprof *p, uint32_t id)
{
	const uint64_t *place = p->place.items;
	size_t mark = protobuf_begin(&p->buf, PROFILE_LOCATION);

	pprof_field(p, LOCATION_ID, id);
	pprof_field(p, LOCATION_MAPPING_ID, place[0]);
	pprof_field(p, LOCATION_ADDRESS, place[1]);
	for (size_t i = 2; i + 1 < p->place.count; i += 2) {
		size_t line_mark = protobuf_begin(&p->buf, LOCATION_LINE);

		pprof_field(p, LINE_FUNCTION_ID, place[i]);
		pprof_field(p, LINE_LINE, place[i + 1]);
		protobuf_end(&p->buf, line_mark);
	}
	protobuf_end(&p->buf, mark);
}

/* Return the id of the location under construction; write the location if it is new. */
static uint32_t pprof_end_location(struct pprof *p)
{
	uint32_t known = p->locations.texts.count, id;

	if (p->error)
		return 0;
	id = 1 + pprof_number(p, &p->locations, p->place.items,
			      p->place.count * sizeof(*p->place.items));
	if (id > known && !p->error)
		pprof_write_location(p, id);
	return id;
}

/* Return the id of a location without an address, such as "[no stack]". */
static uint32_t pprof_remark(struct pprof *p, const char *text)
{
	pprof_begin_location(p, 0, 0);
	pprof_add_line(p, pprof_function(p, text, "", "", 0), 0);
	return pprof_end_location(p);
}

/* Return the source file of a frame; "" if unknown. */
static const char *pprof_frame_file(const struct profile *profile, const struct profile_frame *f)
{
	if (f->file && *f->file)
		return f->file;
	return f->function == PROFILE_NONE ? "" : profile->functions[f->function].f.file;
}

/* Set the object of a mapping; fresh is the object's initial value if it is new. */
static void pprof_add_object(struct pprof *p, uint32_t index, struct pprof_object fresh)
{
	if (p->object_of[index] != INDEX_NONE)
		return;
	fresh.name = pprof_string(p, profile_module_path(p->profile, index));
	fresh.build_id = pprof_string(p, p->profile->mappings[index].m.build_id);
	p->object_of[index] = pprof_number(p, &p->objects, &fresh.name, 2 * sizeof(uint32_t));
	if (p->object_of[index] == p->object_list.count)
		pprof_fail(p, vector_push(&p->object_list, fresh));
}

/*
 * Put the main program first, as the format requires; readers name the profile after it. The main
 * program is the one with the most weight, even if none of its own frames is shown.
 */
static void pprof_put_main_first(struct pprof *p)
{
	const struct profile *profile = p->profile;
	uint32_t index = PROFILE_NONE, number;
	struct pprof_object moved;

	pprof_fail(p, main_program_find(&index, profile, p->events.items[0], p->object_of));
	if (p->error || index == PROFILE_NONE)
		return;
	pprof_add_object(p, index, (struct pprof_object){.limit = profile->mappings[index].m.size});
	number = p->object_of[index];
	if (p->error || !number)
		return;
	moved = p->object_list.items[0];
	p->object_list.items[0] = p->object_list.items[number];
	p->object_list.items[number] = moved;
	for (uint32_t i = 0; i < profile->count.mappings; i++)
		if (!p->object_of[i])
			p->object_of[i] = number;
		else if (p->object_of[i] == number)
			p->object_of[i] = 0;
}

/* Set the object of a mapping and extend the object to cover the frame. */
static void pprof_use_mapping(struct pprof *p, uint32_t index, const struct profile_frame *frame)
{
	const struct profile_code *f = &frame->f;
	const struct mapping *m = &p->profile->mappings[index].m;
	bool absolute = m->kind == MAPPING_KERNEL || m->kind == MAPPING_JIT ||
			m->kind == MAPPING_PYTHON || m->kind == MAPPING_JAVA;
	struct pprof_object fresh = {.start = absolute ? f->address & ~4095ULL : 0,
				     .limit = absolute ? 0 : m->size,
				     .looked_up = true};
	struct pprof_object *o;

	pprof_add_object(p, index, fresh);
	if (p->error)
		return;
	o = &p->object_list.items[p->object_of[index]];
	if (f->address < o->start)
		o->start = f->address & ~4095ULL;
	if (f->address >= o->limit)
		o->limit = f->address == UINT64_MAX ? UINT64_MAX : f->address + 1;
	o->looked_up = o->looked_up &&
		       (frame->function != PROFILE_NONE || f->flags & FRAME_FLAG_LOOKED_UP);
	if (m->kind != MAPPING_FILE)
		return;
	o->lined = o->lined || f->line;
	o->filed = o->filed || *pprof_frame_file(p->profile, frame);
	o->inlined = o->inlined || frame->place_count > 1;
}

static void pprof_write_objects(struct pprof *p)
{
	for (size_t i = 0; i < p->object_list.count && !p->error; i++) {
		const struct pprof_object *o = &p->object_list.items[i];
		size_t mark = protobuf_begin(&p->buf, PROFILE_MAPPING);

		pprof_field(p, MAPPING_ID, i + 1);
		pprof_field(p, MAPPING_MEMORY_START, o->start);
		pprof_field(p, MAPPING_MEMORY_LIMIT, o->limit);
		pprof_field(p, MAPPING_FILENAME, o->name);
		pprof_field(p, MAPPING_BUILD_ID, o->build_id);
		pprof_field(p, MAPPING_HAS_FUNCTIONS, o->looked_up);
		pprof_field(p, MAPPING_HAS_FILENAMES, o->filed);
		pprof_field(p, MAPPING_HAS_LINE_NUMBERS, o->lined);
		pprof_field(p, MAPPING_HAS_INLINE_FRAMES, o->inlined);
		protobuf_end(&p->buf, mark);
	}
}

/*
 * Add the line of an inlined function. In the format a line has no file but that of its function,
 * so a line in another file gets a function of its own.
 */
static void pprof_add_inlined(struct pprof *p, const struct profile_inlined *place)
{
	static const struct function none = {.name = "", .system_name = "", .file = ""};
	const struct function *f =
		place->function == PROFILE_NONE ? &none : &p->profile->functions[place->function].f;

	pprof_add_line(p,
		       pprof_function(p, *f->name ? f->name : "[unknown]", f->system_name,
				      *place->i.file ? place->i.file : f->file, f->line),
		       place->i.line);
}

static void pprof_use_frame(struct pprof *p, uint32_t index)
{
	const struct profile *profile = p->profile;
	const struct profile_frame *f = &profile->frames[index];
	const struct function *named =
		f->function == PROFILE_NONE ? NULL : &profile->functions[f->function].f;
	uint64_t function_id;
	char text[512];

	pprof_begin_location(
		p, f->mapping == PROFILE_NONE ? 0 : 1 + (uint64_t)p->object_of[f->mapping],
		f->f.address);
	for (uint32_t i = 0; i + 1 < f->place_count; i++)
		pprof_add_inlined(p, &profile->inlined[f->first_place + i]);
	/*
	 * Readers merge functions by name, and many Python functions share a name. So the name of a
	 * Python function includes its file and first line; its plain name is the system name.
	 */
	if (named && *named->name)
		function_id =
			pprof_function(p, profile_function_name(profile, index),
				       f->f.kind == FRAME_PYTHON ? named->name : named->system_name,
				       pprof_frame_file(profile, f), named->line);
	else
		function_id = pprof_function(
			p, profile_frame_name(profile, index, text, sizeof(text)), "", "", 0);
	pprof_add_line(p, function_id, f->f.line);
	p->location_of[index] = pprof_end_location(p);
}

/*
 * Write the mappings and locations of the frames that samples use, and the main program's mapping.
 */
static int pprof_use_frames(struct pprof *p)
{
	const struct profile *profile = p->profile;
	bool *stacks = calloc(profile->count.stacks + 1, 1);
	bool *frames = calloc(profile->count.frames + 1, 1);
	int ret = stacks && frames ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile->count.sums && !ret; i++)
		for (uint32_t s = profile->sums[i].stack; s != PROFILE_NONE && !stacks[s];
		     s = profile->stacks[s].parent) {
			stacks[s] = true;
			if (profile->stacks[s].frame != PROFILE_NONE)
				frames[profile->stacks[s].frame] = true;
		}
	for (uint32_t i = 0; i < profile->count.frames && !ret; i++)
		if (frames[i] && profile->frames[i].mapping != PROFILE_NONE)
			pprof_use_mapping(p, profile->frames[i].mapping, &profile->frames[i]);
	if (!ret && p->events.count)
		pprof_put_main_first(p);
	if (!ret)
		pprof_write_objects(p);
	for (uint32_t i = 0; i < profile->count.frames && !ret; i++)
		if (frames[i] && profile->frames[i].f.kind != FRAME_END)
			pprof_use_frame(p, i);
	free(stacks);
	free(frames);
	return ret ? ret : p->error;
}

static enum python_state sample_python_state(uint64_t flags)
{
	if (!(flags & SAMPLE_FLAG_PYTHON))
		return flags & SAMPLE_FLAG_UNREAD ? PYTHON_UNREAD : PYTHON_NONE;
	return flags & SAMPLE_FLAG_COLLECTING ? PYTHON_GC
	       : flags & SAMPLE_FLAG_GIL      ? PYTHON_GIL
					      : PYTHON_NO_GIL;
}

/* Return the index in labels_of for the labels of a sum: one per thread and interpreter state. */
static size_t pprof_label_index(const struct profile *profile, const struct profile_sum *s)
{
	size_t thread = s->thread == PROFILE_NONE ? profile->count.threads : s->thread;

	return thread * PYTHON_STATE_COUNT + sample_python_state(s->flags);
}

static void pprof_label_thread(struct pprof *p, uint32_t thread, struct label_set *set)
{
	const struct thread *t = &p->profile->threads[thread].t;
	uint32_t process = p->profile->threads[thread].process;
	const struct process *of =
		process == PROFILE_NONE ? NULL : &p->profile->processes[process].p;

	set->thread = pprof_string(p, thread_display_name(t));
	if (!of)
		return;
	set->pid = pprof_decimal(p, of->pid);
	set->tid = pprof_decimal(p, t->tid);
	set->comm = pprof_string(p, process_name(of));
	set->service = pprof_string(p, of->service);
	set->container_id = pprof_string(p, of->container);
	set->cgroup = pprof_string(p, of->cgroup);
}

static void pprof_label_sums(struct pprof *p)
{
	static const char *const states[] = {
#define PYTHON_TEXT(NAME, text) text,
		PYTHON_STATES(PYTHON_TEXT)
#undef PYTHON_TEXT
	};

	for (uint32_t i = 0; i < p->profile->count.sums; i++) {
		const struct profile_sum *s = &p->profile->sums[i];
		uint32_t *labels = &p->labels_of[pprof_label_index(p->profile, s)];
		struct label_set set = {0};

		if (*labels != INDEX_NONE)
			continue;
		if (s->thread != PROFILE_NONE)
			pprof_label_thread(p, s->thread, &set);
		set.python = pprof_string(p, states[sample_python_state(s->flags)]);
		*labels = pprof_number(p, &p->label_sets, &set, sizeof(set));
	}
}

static unsigned int pprof_prefix(const void *context, const struct profile_sum *s, uint32_t *labels)
{
	const struct pprof *p = context;
	enum stack_end end = profile_stack_end(p->profile, s->stack);

	labels[0] = p->labels_of[pprof_label_index(p->profile, s)];
	if (s->stack == PROFILE_NONE)
		labels[1] = p->no_stack;
	else
		labels[1] = p->ends[end];
	return s->stack == PROFILE_NONE || end != END_WALKED ? 2 : 1;
}

static void pprof_write_labels(struct pprof *p, uint32_t label_set)
{
	struct label_set set;

	memcpy(&set, names_text(&p->label_sets, label_set), sizeof(set));
#define WRITE_LABEL(name) \
	if (set.name) { \
		size_t mark = protobuf_begin(&p->buf, SAMPLE_LABEL); \
		pprof_field(p, LABEL_KEY, pprof_string(p, #name)); \
		pprof_field(p, LABEL_STR, set.name); \
		protobuf_end(&p->buf, mark); \
	}
	LABELS(WRITE_LABEL)
#undef WRITE_LABEL
}

/*
 * Write one sample: the sum of all samples that end at a node of the tree of the column-th event.
 */
static void pprof_write_sample(struct pprof *p, const struct tree *t, uint32_t node, size_t column)
{
	const struct tree_node *nodes = t->nodes.items;
	size_t mark = protobuf_begin(&p->buf, PROFILE_SAMPLE);
	uint32_t at = node;

	p->path.count = 0;
	for (; nodes[at].parent; at = nodes[at].parent)
		pprof_fail(p, vector_push(&p->path, nodes[at].label));
	protobuf_packed(&p->buf, SAMPLE_LOCATION_ID, p->path.items, p->path.count);
	p->path.count = 0;
	if (p->wall) {
		pprof_fail(p, vector_push(&p->path, nodes[node].self_count));
		pprof_fail(p, vector_push(&p->path, nodes[node].self_weight));
	}
	for (size_t i = 0; i < p->events.count; i++) {
		pprof_fail(p, vector_push(&p->path, i == column ? nodes[node].self_count : 0));
		pprof_fail(p, vector_push(&p->path, i == column ? nodes[node].self_weight : 0));
	}
	protobuf_packed(&p->buf, SAMPLE_VALUE, p->path.items, p->path.count);
	pprof_write_labels(p, nodes[at].label);
	protobuf_end(&p->buf, mark);
	if (p->buf.size > FLUSH_BYTES)
		pprof_flush(p);
}

static int pprof_write_samples(struct pprof *p, size_t column)
{
	struct tree_view view = {.frame_labels = p->location_of,
				 .unknown_label = p->unknown,
				 .prefix = pprof_prefix,
				 .context = p};
	struct tree t = {0};
	int ret = tree_build(&t, p->profile, p->events.items[column], &view);

	for (uint32_t node = 1; node < t.nodes.count && !ret; node++) {
		if (t.nodes.items[node].self_count)
			pprof_write_sample(p, &t, node, column);
		ret = p->error;
	}
	tree_free(&t);
	return ret;
}

static void pprof_write_value_type(struct pprof *p, unsigned int in, uint32_t type,
				   const char *unit)
{
	size_t mark = protobuf_begin(&p->buf, in);

	pprof_field(p, VALUE_TYPE_TYPE, type);
	pprof_field(p, VALUE_TYPE_UNIT, pprof_string(p, unit));
	protobuf_end(&p->buf, mark);
}

/*
 * Write the name of an event as that of a value type to buf: "cpu" for clocks, else with '_'
 * instead of '-', which -sample_index would take for an option. Return buf.
 */
static char *pprof_type_name(const struct event *e, char *buf, size_t size)
{
	bool clock = !strcmp(e->unit, "ns") && strstr(e->name, "clock");

	snprintf(buf, size, "%s", clock ? "cpu" : e->name);
	for (char *at = buf; *at; at++)
		*at = *at == '-' ? '_' : *at;
	return buf;
}

/* Write the types of the first column, which a reader shows if it is not asked for others. */
static void pprof_write_first_types(struct pprof *p, const char *name, const char *unit)
{
	uint32_t type = pprof_string(p, name);

	pprof_write_value_type(p, PROFILE_SAMPLE_TYPE, pprof_string(p, "samples"), "count");
	pprof_write_value_type(p, PROFILE_SAMPLE_TYPE, type, unit);
	pprof_write_value_type(p, PROFILE_PERIOD_TYPE, type, unit);
	pprof_field(p, PROFILE_PERIOD, p->profile->events[p->events.items[0]].period);
	pprof_field(p, PROFILE_DEFAULT_SAMPLE_TYPE, type);
}

/* Write two value types per event: its samples, and their weight in the event's unit. */
static void pprof_write_types(struct pprof *p)
{
	if (p->wall)
		pprof_write_first_types(p, EVENT_WALL, "nanoseconds");
	for (size_t i = 0; i < p->events.count; i++) {
		const struct event *e = &p->profile->events[p->events.items[i]];
		bool clock = !strcmp(e->unit, "ns");
		const char *unit = clock ? "nanoseconds" : "count";
		char name[96], samples[128];

		pprof_type_name(e, name, sizeof(name));
		if (!i && !p->wall) {
			pprof_write_first_types(p, name, unit);
			continue;
		}
		snprintf(samples, sizeof(samples), "%s_samples", name);
		pprof_write_value_type(p, PROFILE_SAMPLE_TYPE, pprof_string(p, samples), "count");
		pprof_write_value_type(p, PROFILE_SAMPLE_TYPE, pprof_string(p, name), unit);
	}
}

static void pprof_write_comment(struct pprof *p, const char *text)
{
	protobuf_varint(&p->buf, PROFILE_COMMENT, pprof_string(p, text));
}

/* Write how many stacks are complete, and the most frequent reasons for the others. */
static void pprof_write_completeness(struct pprof *p, uint32_t event)
{
	struct completeness c;
	struct breakages broken = {0};
	char text[256];

	completeness_of(&c, p->profile, event);
	pprof_fail(p, breakages_of(&broken, p->profile, event));
	snprintf(text, sizeof(text), "complete stacks: %" PRIu64 " of %" PRIu64, c.complete, c.due);
	pprof_write_comment(p, text);
	for (size_t i = 0; i < broken.list.count && i < BREAKAGE_COMMENTS; i++) {
		const struct breakage *b = &broken.list.items[i];

		snprintf(text, sizeof(text), "broken stacks: %" PRIu64 " %s%s%.128s", b->count,
			 b->reason, *b->module ? " in " : "", b->module);
		pprof_write_comment(p, text);
	}
	breakages_free(&broken);
}

/* Write what was lost, by reason. what: a word for it; NULL: samples and records. */
static void pprof_write_lost(struct pprof *p, const uint64_t lost[LOSS_COUNT], const char *what)
{
	char text[128];

	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++) {
		if (!lost[reason])
			continue;
		snprintf(text, sizeof(text), "lost %" PRIu64 " %s: %s", lost[reason],
			 what			      ? what
			 : loss_reason_is_due(reason) ? "samples"
						      : "records",
			 loss_reason_word(reason));
		pprof_write_comment(p, text);
	}
}

/*
 * Write the time, the host and the recorder of the recording, and how many stacks of the first
 * event are incomplete and how many of its samples were lost.
 */
static void pprof_write_facts(struct pprof *p)
{
	const struct host *h = &p->profile->host;
	struct losses losses;
	char text[256];

	pprof_field(p, PROFILE_TIME_NANOS, h->start + h->realtime_offset);
	if (h->end > h->start)
		pprof_field(p, PROFILE_DURATION_NANOS, h->end - h->start);
	pprof_write_comment(p, "skein " SKEIN_VERSION);
	if (*h->hostname) {
		snprintf(text, sizeof(text), "host %.64s, Linux %.64s %.64s", h->hostname,
			 h->kernel, h->arch);
		pprof_write_comment(p, text);
	}
	pprof_write_completeness(p, p->events.items[0]);
	losses_of_event(&losses, p->profile, p->events.items[0]);
	pprof_write_lost(p, losses.by_reason, NULL);
	lost_waits(losses.by_reason, p->profile);
	if (p->wall)
		pprof_write_lost(p, losses.by_reason, "waits");
}

static void pprof_write_strings(struct pprof *p)
{
	for (size_t i = 0; i < p->strings.texts.count && !p->error; i++) {
		protobuf_text(&p->buf, PROFILE_STRING_TABLE, p->strings.texts.items[i]);
		if (p->buf.size > FLUSH_BYTES)
			pprof_flush(p);
	}
}

static int pprof_find_events(struct pprof *p)
{
	const struct profile *profile = p->profile;
	int ret = 0;

	for (uint32_t i = 0; i < profile->count.events && !ret; i++) {
		uint64_t count, weight;

		profile_event_total(profile, i, &count, &weight);
		if (count || (i + 1 == profile->count.events && !p->events.count))
			ret = vector_push(&p->events, i);
	}
	return ret;
}

/* Make the locations that stand for missing parts of stacks, if there are any. */
static void pprof_remark_ends(struct pprof *p)
{
	const struct profile *profile = p->profile;

	for (uint32_t i = 0; i < profile->count.sums; i++) {
		uint32_t stack = profile->sums[i].stack;
		enum stack_end end = profile_stack_end(profile, stack);
		char text[PROFILE_END_SIZE];

		if (stack == PROFILE_NONE && !p->no_stack)
			p->no_stack = pprof_remark(p, "[no stack]");
		else if (stack != PROFILE_NONE && end != END_WALKED && !p->ends[end])
			p->ends[end] = pprof_remark(p, profile_end_name(end, text));
	}
}

static int pprof_begin(struct pprof *p)
{
	const struct profile *profile = p->profile;
	size_t labels = ((size_t)profile->count.threads + 1) * PYTHON_STATE_COUNT;
	int rc = pprof_find_events(p);

	p->object_of = malloc((profile->count.mappings + 1) * sizeof(uint32_t));
	p->location_of = calloc(profile->count.frames + 1, sizeof(uint32_t));
	p->labels_of = malloc(labels * sizeof(uint32_t));
	if (rc < 0 || !p->object_of || !p->location_of || !p->labels_of)
		return -ENOMEM;
	memset(p->object_of, 0xff, (profile->count.mappings + 1) * sizeof(uint32_t));
	memset(p->labels_of, 0xff, labels * sizeof(uint32_t));
	/* The format requires string 0 to be "". */
	pprof_string(p, "");
	p->unknown = pprof_remark(p, "[unknown]");
	pprof_remark_ends(p);
	pprof_label_sums(p);
	return pprof_use_frames(p);
}

static int pprof_write_all(struct pprof *p)
{
	int ret = pprof_begin(p);

	if (!ret && !p->events.count)
		ret = -ENODATA;
	if (!ret) {
		pprof_write_types(p);
		pprof_write_facts(p);
	}
	for (size_t i = 0; i < p->events.count && !ret; i++)
		ret = pprof_write_samples(p, i);
	if (!ret) {
		pprof_write_strings(p);
		pprof_flush(p);
		ret = p->error;
	}
	return ret;
}

static void pprof_release(struct pprof *p)
{
	protobuf_free(&p->buf);
	names_free(&p->strings);
	names_free(&p->objects);
	names_free(&p->functions);
	names_free(&p->locations);
	names_free(&p->label_sets);
	vector_free(&p->object_list);
	vector_free(&p->events);
	vector_free(&p->path);
	vector_free(&p->place);
	free(p->object_of);
	free(p->location_of);
	free(p->labels_of);
}

static int pprof_write(FILE *out, const struct profile *profile, const struct export_options *o,
		       struct error *err)
{
	struct pprof p = {.profile = profile, .out = out, .wall = o->wall};
	int ret = pprof_write_all(&p);

	pprof_release(&p);
	if (ret == -ENODATA)
		return error_set(err, ret, "the trace has no event, so there is no profile");
	return ret < 0 ? error_errno(err, ret, "cannot write a pprof profile") : 0;
}

int pprof_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	struct export_options how = *o;

	how.view.joined = true;
	return profile_export(out, pprof_write, file, &how, err);
}
