// SPDX-License-Identifier: Apache-2.0
/* Look up data in a finished profile: how a stack ended, the name of a frame. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/profile.h"

enum stack_end profile_stack_end(const struct profile *p, uint32_t stack)
{
	return stack == PROFILE_NONE ? END_UNKNOWN_ROOT : (enum stack_end)p->ends[stack];
}

uint32_t profile_stack_by_id(const struct profile *p, uint64_t id)
{
	uint32_t stack = id ? index_get(&p->stacks_by_id, id) : PROFILE_NONE;

	return stack != PROFILE_NONE && p->moved_stacks ? p->moved_stacks[stack] : stack;
}

_Static_assert(INDEX_NONE == PROFILE_NONE, "profile_stack_by_id()");

const char *module_short_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/*
 * Return a name for a mapping that is the same in every recording, so that recordings can be
 * compared, or NULL if the mapping's path is such a name. Names are needed for Python, for mappings
 * without a path, and for older traces, which have a pid in the paths of generated code and perf's
 * name for the kernel.
 */
static const char *special_mapping_name(const struct mapping *m)
{
	switch (m->kind) {
	case MAPPING_KERNEL:
		return *m->path && strcmp(m->path, "[kernel.kallsyms]") ? NULL : "[kernel]";
	case MAPPING_JIT:
		return *m->path && strncmp(m->path, "[jit:", 5) ? NULL : "[jit]";
	case MAPPING_VDSO:
		return *m->path ? NULL : "[vdso]";
	case MAPPING_PYTHON:
		return "[python]";
	case MAPPING_JAVA:
		return "[java]";
	default:
		return NULL;
	}
}

const char *profile_module_path(const struct profile *p, uint32_t mapping)
{
	const struct mapping *m = mapping == PROFILE_NONE ? NULL : &p->mappings[mapping].m;
	const char *name = m ? special_mapping_name(m) : "";

	return name ? name : m->path;
}

const char *profile_module_name(const struct profile *p, uint32_t mapping)
{
	return module_short_name(profile_module_path(p, mapping));
}

char *profile_end_name(uint64_t end, char *buf)
{
	const char *format = stack_end_is_whole(end) ? "[%s]" : "[truncated: %s]";

	snprintf(buf, PROFILE_END_SIZE, format, stack_end_word(end));
	return buf;
}

const char *profile_function_name(const struct profile *p, uint32_t frame)
{
	const struct profile_frame *f = frame == PROFILE_NONE ? NULL : &p->frames[frame];
	const struct profile_function *of =
		f && f->function != PROFILE_NONE ? &p->functions[f->function] : NULL;

	if (!of || !*of->f.name)
		return NULL;
	return of->shown && f->f.kind == FRAME_PYTHON ? of->shown : of->f.name;
}

/*
 * Name a frame without a name by its module and the start address of its function, or only by the
 * module if that address is not known. Freed Python code and frames without a module have fixed
 * names.
 */
static const char *nameless_frame_name(const struct profile *p, const struct profile_frame *f,
				       char *buf, size_t size)
{
	const char *module = profile_module_name(p, f->mapping);
	uint64_t start = f->function == PROFILE_NONE ? 0 : p->functions[f->function].f.address;
	char at[32] = "";
	int length;

	if (f->f.kind == FRAME_PYTHON && f->f.flags & FRAME_FLAG_FREED)
		return "[python: code freed]";
	if (f->f.kind == FRAME_JAVA)
		return "[unknown Java method]";
	if (!*module)
		return "[unknown]";
	/* "[kernel]" is already in brackets. */
	module += *module == '[';
	length = strlen(module);
	length -= length && module[length - 1] == ']';
	if (start)
		snprintf(at, sizeof(at), "+0x%" PRIx64, start);
	snprintf(buf, size, "[%.*s%s]", length, module, at);
	return buf;
}

const char *profile_frame_name(const struct profile *p, uint32_t frame, char *buf, size_t size)
{
	const struct profile_frame *f = frame == PROFILE_NONE ? NULL : &p->frames[frame];
	const char *name = profile_function_name(p, frame);

	if (!f)
		return "[unknown]";
	if (name)
		return f->shown ? f->shown : name;
	if (f->f.kind == FRAME_END)
		return profile_end_name(f->f.address, buf);
	return nameless_frame_name(p, f, buf, size);
}

void profile_event_total(const struct profile *p, uint32_t event, uint64_t *count, uint64_t *weight)
{
	*count = *weight = 0;
	for (uint32_t i = 0; i < p->count.sums; i++) {
		if (p->sums[i].event != event)
			continue;
		*count += p->sums[i].count;
		*weight += p->sums[i].weight;
	}
}

static bool event_has_samples(const struct profile *p, uint32_t event)
{
	for (uint32_t i = 0; i < p->count.sums; i++)
		if (p->sums[i].event == event)
			return true;
	return false;
}

/* Return 0 for times on CPUs, 1 for times of waiting, 2 for hits of probes. */
static int rank_of_event(const struct event *e)
{
	return event_is_of_hits(e->name) ? 2 : event_is_of_waits(e->name);
}

uint32_t profile_main_event(const struct profile *p)
{
	for (int rank = 0; rank < 3; rank++)
		for (uint32_t i = 0; i < p->count.events; i++)
			if (rank_of_event(&p->events[i]) == rank && event_has_samples(p, i))
				return i;
	return 0;
}

uint32_t profile_event_named(const struct profile *p, const char *name)
{
	for (uint32_t i = 0; name && i < p->count.events; i++)
		if (!strcmp(p->events[i].name, name))
			return i;
	return profile_main_event(p);
}
