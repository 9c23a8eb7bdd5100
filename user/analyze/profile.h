/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile: everything a source says of stacks and their weights, in memory,
 * with every path joined to its names. Reports and the formats of folded kind
 * are views of it. Pure: no I/O.
 */
#ifndef SKEIN_ANALYZE_PROFILE_H
#define SKEIN_ANALYZE_PROFILE_H

#include "base/pipe.h"

struct profile_process { struct process p; }; /* texts owned by the profile */
struct profile_thread { struct thread t; uint32_t process; }; /* index, UINT32_MAX none */
struct profile_mapping { struct mapping m; };
struct profile_function { struct function f; uint32_t mapping; };
struct profile_frame { struct frame f; uint32_t mapping, function; };

/* A node of the calling-context tree. Children have higher indexes than their parents. */
struct profile_stack {
	uint64_t id;
	uint32_t parent; /* index, UINT32_MAX at a root */
	uint32_t frame;
};

struct profile_sum {
	uint32_t event, thread, stack; /* indexes; stack UINT32_MAX: none */
	uint64_t count, weight;
};

struct profile {
	struct host host; /* the first; traces of several hosts are told apart by process.host */
	struct event *events;
	struct info *infos;
	struct profile_process *processes;
	struct profile_thread *threads;
	struct profile_mapping *mappings;
	struct profile_function *functions;
	struct profile_frame *frames;
	struct profile_stack *stacks;
	struct profile_sum *sums;
	struct account *accounts;
	struct loss *losses;
	uint32_t event_count, info_count, process_count, thread_count, mapping_count,
		function_count, frame_count, stack_count, sum_count, account_count, loss_count;
	uint64_t total_count, total_weight; /* of all sums of event 0 (the first event) */
};

/* Run the source to its end. Free with profile_free(), also NULL or half-built ones. */
int profile_read(struct profile **ret, struct source *source, struct error *err);
void profile_free(struct profile *p);

/*
 * How the user part of a stack ended: END_WALKED if it is whole (or has no
 * user part by nature: kernel threads), else why it is not.
 */
enum stack_end profile_stack_end(const struct profile *p, uint32_t stack);

/*
 * The name of a frame as every output shows it: the function, or
 * "[module+0x1234]", or "[unknown]", or "[truncated: reason]" for FRAME_END.
 * Raw bytes: escape them. buf is used when the name must be made up.
 */
const char *profile_frame_name(const struct profile *p, uint32_t frame, char *buf, size_t size);

#endif
