/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile: everything a source says of stacks and their weights, in memory,
 * with every path joined to its names. Reports and the formats of folded kind
 * are views of it. Pure: no I/O.
 *
 * A recorder that was killed may have left references to what it had not
 * written yet: they lead to an entity that has its id and nothing else, and
 * are counted. One path may stand under several ids, since a recorder forgets:
 * views merge by path and name.
 */
#ifndef SKEIN_ANALYZE_PROFILE_H
#define SKEIN_ANALYZE_PROFILE_H

#include <stdbool.h>

#include "analyze/index.h"
#include "base/pipe.h"

#define PROFILE_NONE UINT32_MAX /* no index */

struct profile_process { struct process p; }; /* texts owned by the profile, never NULL */
struct profile_thread { struct thread t; uint32_t process; }; /* index, PROFILE_NONE none */
struct profile_mapping {
	struct mapping m;
	uint32_t process;
	bool rebuilt; /* another build of it is in a profile that this one is compared with */
};
struct profile_function {
	struct function f;
	uint32_t mapping;
	const char *shown; /* of Python's: "function (file.py:line)"; else NULL */
};
/* Of a frame's record, what outputs ask for: there are hundreds of thousands. */
struct profile_code {
	uint64_t address, line;
	uint32_t kind, flags;
};
struct profile_frame {
	struct profile_code f;
	uint32_t mapping, function;
	const char *shown; /* named by the view: Python's, and native ones by line; else NULL */
	const char *file; /* source file of f.line; NULL or "": that of the function */
	uint32_t first_place; /* the first function at its address, among inlined */
	uint16_t place_count; /* 0: no more */
	bool inlined; /* of a function that the view took out of the frame of its caller */
};
/* A function at the address of a frame. Those of a frame are together, the innermost first. */
struct profile_inlined { struct inlined i; uint32_t frame, function; };

/*
 * A node of the calling-context tree. Children have higher indexes than their parents. There are
 * millions of them, so they are small: what few ask for stands beside them.
 */
struct profile_stack {
	uint32_t parent; /* index, PROFILE_NONE at a root; the next that is shown, see profile_view */
	uint32_t frame; /* index, PROFILE_NONE unknown */
};

struct profile_sum {
	uint32_t event, thread, stack; /* indexes; PROFILE_NONE: none, but for the event */
	uint32_t flags; /* SAMPLE_FLAGS_OF_RUNTIME */
	uint64_t count, weight;
};

struct profile {
	/*
	 * All hosts as one: the first, with the names, CPUs and memory of all, until the last ends.
	 * Also there if there is none: then with nothing in it.
	 */
	struct host host;
	struct host *hosts; /* each of them; whose a process is, process.host tells */
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
	uint32_t *roots; /* by the same: its outermost frame, marks and Python apart, or none */
	struct index stacks_by_id; /* see profile_stack_with(); where they were when they came */
	uint32_t *moved_stacks; /* by index of then: the index now; NULL: none has moved */
	struct profile_sum *sums;
	struct account *accounts;
	struct loss *losses;
	uint32_t host_count, event_count, info_count, process_count, thread_count, mapping_count,
		function_count, frame_count, inlined_count, stack_count, sum_count, account_count,
		loss_count;
	uint64_t total_count, total_weight; /* of all sums of event 0 (the first event) */
	uint64_t missing; /* entities that were referred to and never came */
};

/* How stacks are shown. Zeroed: what people want to see. */
struct profile_view {
	bool native; /* the frames of interpreters, too, for which frames of Python stand */
	bool python; /* nothing but Python's frames, in stacks that have some; goes before native */
	bool lines; /* frames go by where they stand; Python's, else, by where their function begins */
	bool no_inlines; /* inlined functions count as the function that they are in */
	bool joined; /* they stay in its frame; for formats that show several functions in one */
};

/*
 * Run the source to its end. view may be NULL: as zeroed. Free with profile_free(), also NULL or
 * half-built ones.
 */
int profile_read(struct profile **ret, struct source *source, const struct profile_view *view,
		 struct error *err);
/*
 * The same profile from sources of the same records that are read at the same time: one for
 * entities, one for stacks, one for sums. The losses that all report must be equal: if something
 * could not be read, read it all from one.
 */
struct profile_sources { struct source *entities, *stacks, *sums; };
int profile_read_parts(struct profile **ret, const struct profile_sources *from,
		       const struct profile_view *view, struct error *err);
void profile_free(struct profile *p);

/*
 * The same as a sink, for those that are handed records: when it is finished,
 * done() gets the profile, which belongs to the sink and goes with it.
 */
int profile_sink(struct sink **ret, const struct profile_view *view,
		 int (*done)(void *context, const struct profile *p, struct error *err),
		 void *context, struct error *err);

/* The index of the stack with that id in the trace; PROFILE_NONE if there is none. */
uint32_t profile_stack_with(const struct profile *p, uint64_t id);

/*
 * How the user part of a stack ended: END_WALKED if it is whole (or has no
 * user part by nature: kernel threads), else why it is not. PROFILE_NONE, no
 * stack at all, is END_UNKNOWN_ROOT.
 */
enum stack_end profile_stack_end(const struct profile *p, uint32_t stack);

/*
 * The frame that every output puts in front of a stack that did not end as
 * END_WALKED: "[truncated: reason]", or "[reason]" if it is whole all the same.
 * Returns buf, of PROFILE_END_SIZE bytes.
 */
#define PROFILE_END_SIZE 64
char *profile_end_name(uint64_t end, char *buf);

/*
 * The name of a frame as every output shows it: the function (of Python's with
 * its file and line), or "[module+0x1234]" with where a function without a name begins, "[module]"
 * where not even that is known, "[unknown]", or profile_end_name() for FRAME_END. Raw bytes: escape them. buf is used when
 * the name must be made up; size is at least PROFILE_END_SIZE.
 */
const char *profile_frame_name(const struct profile *p, uint32_t frame, char *buf, size_t size);

/* The name of a named frame's function, the same way; NULL if the frame has none. */
const char *profile_function_name(const struct profile *p, uint32_t frame);

/* A path without its folders. */
const char *module_short_name(const char *path);
/*
 * The path of a mapping; of what is no file "[kernel]", "[vdso]", "[jit]", "[python]", whatever
 * process it was of. "" for PROFILE_NONE.
 */
const char *profile_module_path(const struct profile *p, uint32_t mapping);
/* The same without its folders. */
const char *profile_module_name(const struct profile *p, uint32_t mapping);

/* The host of a process; NULL if there is but one, or it is not known. */
const struct host *profile_host_of(const struct profile *p, const struct process *process);

/*
 * Events of one name and unit, of several hosts or recordings, are one: samples, accounts and
 * losses are of the first. Which one that is.
 */
uint32_t profile_event_like(const struct profile *p, uint32_t event);

/* Samples and weight of one event. */
void profile_event_total(const struct profile *p, uint32_t event, uint64_t *count,
			 uint64_t *weight);

/* The first event that has samples; 0 if none has. */
uint32_t profile_main_event(const struct profile *p);
/* The event of that name; the main one without a name, or if there is none of it. */
uint32_t profile_event_named(const struct profile *p, const char *name);

#endif
