/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labels of stacks for formats that merge stacks to a tree: the root frames above a thread's
 * stacks, [event;] [service;] [container;] process [;thread], the frames, and marks of missing
 * parts.
 */
#ifndef SKEIN_EXPORT_ROOTS_H
#define SKEIN_EXPORT_ROOTS_H

#include "analyze/names.h"
#include "analyze/tree.h"
#include "export/export.h"

#define ROOTS_MAX 4

/*
 * What the numbers of merged stacks are: samples; or us, of stacks of waits, or hits of probes,
 * whose samples have weights of their own. Only stacks of one kind are merged.
 */
enum stacks_of {
	STACKS_OF_SAMPLES,
	STACKS_OF_WAITS, /* where threads waited */
	STACKS_OF_WAKERS, /* what the threads did that ended the waits */
	STACKS_OF_WALL, /* time on CPUs and of waiting, the latter below a frame "[waiting]" */
	STACKS_OF_HITS, /* where exceptions or objects were made */
};

enum stacks_of roots_stacks_of_event(const struct event *e);
/* Return the first kind of which the profile has samples; STACKS_OF_WALL if that is asked for. */
enum stacks_of roots_stacks_of(const struct profile *p, const struct export_options *o);
/* Return whether the stacks of a sum are merged. */
bool roots_count(const struct profile *p, enum stacks_of of, const struct profile_sum *s);
/*
 * Return whether the samples of that kind are of more than one event. Each event then needs a root
 * frame.
 */
bool roots_need_events(const struct profile *p, enum stacks_of of);

/* Threads that have the same root frames. */
struct root_groups {
	const struct export_options *options;
	struct names keys; /* zeroed at first; for names_free() */
};

/* As wait_division.group; context is a struct root_groups. */
int roots_group(void *context, const struct process *p, const struct thread *t, uint32_t *out);

/* The labels of one profile, as numbers of names. */
struct stack_labels {
	const struct profile *profile;
	const struct export_options *options;
	bool common; /* frames have the names that two profiles have in common */
	enum stacks_of of;
	bool several_events; /* stacks have a root frame for their event */
	/*
	 * Return the number of a name; 0 after an error, which is kept in l->error. f is NULL
	 * unless name is that of a frame; suffix, which follows name, is NULL unless name is that
	 * of a root.
	 */
	uint32_t (*intern)(struct stack_labels *l, const struct profile_frame *f, const char *name,
			   const char *suffix);
	struct names *names; /* for intern(); the caller keeps it */
	uint32_t *of_frame; /* label by frame index */
	/* labels by thread index; the last entry is for samples without a thread */
	uint32_t (*of_thread)[ROOTS_MAX];
	uint32_t *of_event; /* label by event index */
	uint32_t ends[END_COUNT], no_stack, unknown, waiting;
	unsigned int thread_depth; /* number of labels per thread */
	int error; /* sticky */
};

/*
 * Label a profile and merge its stacks to a tree. Its counts are those of l->of. The caller sets
 * the members of l up to names; the others are working memory, zero at first. Return 0 or a
 * negative errno; *out, which must be zeroed before, is for tree_free() in both cases.
 */
int stack_labels_tree(struct tree *out, struct stack_labels *l);

#endif
