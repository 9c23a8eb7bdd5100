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
 * Return whether there are samples of more than one event, which then need a root frame per
 * event.
 */
bool roots_need_events(const struct profile *p);

/* The labels of one profile, as numbers of names. */
struct stack_labels {
	const struct profile *profile;
	const struct export_options *options;
	bool common; /* frames have the names that two profiles have in common */
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
	uint32_t ends[END_COUNT], no_stack, unknown;
	unsigned int thread_depth; /* number of labels per thread */
	int error; /* sticky */
};

/*
 * Label a profile and merge its stacks to a tree. The caller sets the members of l up to names; the
 * others are working memory, zero at first. Return 0 or a negative errno; *out, which must be
 * zeroed before, is for tree_free() in both cases.
 */
int stack_labels_tree(struct tree *out, struct stack_labels *l);

#endif
