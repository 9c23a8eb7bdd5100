/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile holds everything that a source has about stacks and their weights in memory, with
 * references resolved to indexes. Reports and formats such as folded stacks are views of a profile.
 * Pure functions, no I/O.
 *
 * A killed recorder may have left references to entities that it had not written yet. These become
 * entities with only their id, and are counted. One path may have several ids, because a recorder
 * limits its memory and may write a path again; views merge by path and name.
 */
#ifndef SKEIN_ANALYZE_PROFILE_H
#define SKEIN_ANALYZE_PROFILE_H

#include <stdbool.h>

#include "analyze/index.h"
#include "base/pipe.h"

#define PROFILE_NONE UINT32_MAX /* no index */

struct profile_process {
	struct process p;
}; /* texts owned by the profile, never NULL */
struct profile_thread {
	struct thread t;
	uint32_t process;
}; /* process: index, or PROFILE_NONE */
struct profile_mapping {
	struct mapping m;
	uint32_t process;
	bool rebuilt; /* a compared profile has another build of the file */
};
struct profile_function {
	struct function f;
	uint32_t mapping;
	const char *shown; /* for Python functions: "function (file.py:line)"; else NULL */
};
/*
 * The part of a frame's record that outputs need; small, because there are hundreds of thousands.
 */
struct profile_code {
	uint64_t address, line;
	uint32_t kind, flags;
};
struct profile_frame {
	struct profile_code f;
	uint32_t mapping, function;
	const char *shown; /* name set by the view: Python frames, native ones by line; else NULL */
	const char *file; /* source file of f.line; NULL or "": the function's file */
	uint32_t first_place; /* index in inlined of the innermost function at the address */
	uint16_t place_count; /* number of functions at the address; 0: only the frame's own */
	bool inlined; /* inlined function that the view gave a frame of its own */
};
/* A function at the address of a frame. Those of one frame are adjacent, innermost first. */
struct profile_inlined {
	struct inlined i;
	uint32_t frame, function;
};

/*
 * A node of the calling-context tree. Children have higher indexes than their parents. There are
 * millions of nodes, so they are small; less used data are in separate arrays.
 */
struct profile_stack {
	uint32_t parent; /* index of the shown caller, see profile_view; or PROFILE_NONE */
	uint32_t frame; /* index of the frame; PROFILE_NONE if unknown */
};

struct profile_sum {
	uint32_t event, thread, stack; /* indexes; PROFILE_NONE: none (not for event) */
	uint16_t flags; /* SAMPLE_FLAGS_OF_RUNTIME */
	uint16_t wait; /* of waits and their wakers, enum wait_class; else 0 */
	uint64_t count, weight;
};

/* The number of items in each array of a profile, by the name of the array. */
struct profile_counts {
	uint32_t hosts, events, infos, processes, threads, mappings, functions, frames, inlined,
		stacks, sums, accounts, losses;
};

struct profile {
	/*
	 * All hosts as one: the first one, with the names, CPUs and memory of all, until the end of
	 * the last (0 if the end of any is not known). Empty if there are no hosts.
	 */
	struct host host;
	struct host *hosts; /* process.host is the id of a process's host */
	struct event *events;
	struct info *infos;
	struct profile_process *processes;
	struct profile_thread *threads;
	struct profile_mapping *mappings;
	struct profile_function *functions;
	struct profile_frame *frames;
	struct profile_inlined *inlined;
	struct profile_stack *stacks;
	uint8_t *ends; /* by index of stack, see profile_stack_end() */
	/*
	 * by index of stack: outermost frame that is neither a mark nor a Python frame; or
	 * PROFILE_NONE
	 */
	uint32_t *roots;
	struct index stacks_by_id; /* original indexes; see profile_stack_by_id() */
	uint32_t *moved_stacks; /* by original index: the current index; NULL: no stack has moved */
	struct profile_sum *sums;
	struct account *accounts;
	struct loss *losses;
	struct profile_counts count;
	uint64_t missing; /* number of entities that were referred to and never came */
};

/* How stacks are shown. The zeroed struct has the defaults. */
struct profile_view {
	bool native; /* keep the frames of interpreters that Python frames replace */
	bool python; /* show only Python frames, in stacks that have some; overrides native */
	/*
	 * name native frames by line, and Python frames by the line that runs instead of the first
	 * line of the function
	 */
	bool lines;
	bool no_inlines; /* count inlined functions as the function around them */
	bool joined; /* keep inlined functions in their frame, for formats that allow it */
};

/*
 * Run the source to its end and make its profile. view may be NULL: a zeroed view. Return 0 or a
 * negative errno. Free with profile_free(), which accepts NULL and unfinished profiles.
 */
int profile_read(struct profile **out, struct source *source, const struct profile_view *view,
		 struct error *err);
/*
 * Like profile_read(), from three sources of the same records that are read at the same time: one
 * for stacks, one for sums, and one for everything else, including losses and accounts. The losses
 * of the first two sources are ignored, so if a source could not read a part of the trace, discard
 * the profile and read everything from one source.
 */
struct profile_sources {
	struct source *entities, *stacks, *sums;
};
int profile_read_parts(struct profile **out, const struct profile_sources *from,
		       const struct profile_view *view, struct error *err);
void profile_free(struct profile *p);

/*
 * Make a sink that builds a profile, for callers that put records themselves. When the sink is
 * finished, done() is called with the profile, which belongs to the sink.
 */
int profile_sink(struct sink **out, const struct profile_view *view,
		 int (*done)(void *context, const struct profile *p, struct error *err),
		 void *context, struct error *err);

/* Return the index of the stack with that id in the trace; PROFILE_NONE if there is none. */
uint32_t profile_stack_by_id(const struct profile *p, uint64_t id);

/*
 * Return how the user part of a stack ended: END_WALKED if it is whole, or if there is none (kernel
 * threads), else the reason why it is not whole or missing. For PROFILE_NONE (no stack), return
 * END_UNKNOWN_ROOT.
 */
enum stack_end profile_stack_end(const struct profile *p, uint32_t stack);

/*
 * Write the name of the frame that every output puts above the root of a stack that did not end as
 * END_WALKED: "[truncated: reason]", or "[reason]" if the stack is whole. Return buf, of
 * PROFILE_END_SIZE bytes.
 */
#define PROFILE_END_SIZE 64
char *profile_end_name(uint64_t end, char *buf);

/*
 * Return the name of a frame as every output shows it: the function (for Python, and in a view by
 * lines, with file and line); "[module+0x1234]" with the start address of a function without a
 * name; "[module]" if that address is not known; "[python: code freed]"; "[unknown]"; or
 * profile_end_name() for FRAME_END. The name is raw bytes, which must be escaped. buf is used when
 * the name must be composed; size is at least PROFILE_END_SIZE.
 */
const char *profile_frame_name(const struct profile *p, uint32_t frame, char *buf, size_t size);

/*
 * Return the name of a frame's function: for Python with its file and first line, otherwise without
 * file and line, even in a view by lines. NULL if the function has no name.
 */
const char *profile_function_name(const struct profile *p, uint32_t frame);

/* Return the part of a path after the last slash, or the whole path if that part is empty. */
const char *module_short_name(const char *path);
/*
 * Return the path of a mapping; for a mapping that is no file, usually "[kernel]", "[vdso]",
 * "[jit]" or "[python]", the same for all processes. "" for PROFILE_NONE.
 */
const char *profile_module_path(const struct profile *p, uint32_t mapping);
/* Like profile_module_path() without the folders. */
const char *profile_module_name(const struct profile *p, uint32_t mapping);

/* Return the host of a process; NULL if there is only one host, or the host is not known. */
const struct host *profile_host_of(const struct profile *p, const struct process *process);

/*
 * Return the index of the first event with the name and unit of an event. Equal events of several
 * hosts, recordings or rates count as one: samples and losses belong to the first of them.
 */
uint32_t profile_event_like(const struct profile *p, uint32_t event);

/* Add up the samples and the weight of one event. */
void profile_event_total(const struct profile *p, uint32_t event, uint64_t *count,
			 uint64_t *weight);

/*
 * Return the index of the first event that has samples: of one of times on CPUs if there is one,
 * else of waits, else of hits of probes; 0 if none has.
 */
uint32_t profile_main_event(const struct profile *p);
/* Return the first event of that name; the main event if there is none, or if name is NULL. */
uint32_t profile_event_named(const struct profile *p, const char *name);

#endif
