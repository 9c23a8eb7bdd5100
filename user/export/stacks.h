/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as they are shown, node by node, for formats that keep a table of them: equal paths are
 * one node, and only what is asked for is there. A stack that is not whole has its mark at the
 * root.
 */
#ifndef SKEIN_EXPORT_STACKS_H
#define SKEIN_EXPORT_STACKS_H

#include "analyze/names.h"
#include "analyze/profile.h"

#define STACKS_NONE UINT32_MAX /* no node: above a root */

/* A frame as it is shown: what is equal in all of this is one. Texts are numbers in strings. */
struct shown_frame {
	uint32_t name; /* profile_frame_name(), or a mark such as "[no stack]" */
	uint32_t file; /* the source's; "": not known */
	uint32_t module; /* path of the object; "": none */
	uint32_t kind; /* enum frame_kind; END for marks, NONE for what the trace has lost */
	uint32_t line; /* where its function begins; 0 not known */
	uint32_t at; /* the line that ran, if lines are asked for; 0 not known */
};

/* Parents come before their children. */
struct stack_node {
	uint32_t parent; /* STACKS_NONE at a root */
	uint32_t frame; /* its number: stacks_frame() */
};

struct stacks {
	const struct profile *profile;
	bool lines;
	struct names strings; /* clean texts */
	struct names frames; /* struct shown_frame, as bytes */
	VECTOR(struct stack_node) nodes;
	struct index children; /* (parent, frame) -> node */
	uint32_t *frame_of, *node_of; /* by index of frame and stack; STACKS_NONE: not yet */
	VECTOR(uint32_t) path; /* working memory */
};

/* Begin with a profile, which must outlive them. 0 or -ENOMEM; free it in both cases. */
int stacks_begin(struct stacks *s, const struct profile *p, bool lines);
void stacks_free(struct stacks *s);

/*
 * The node of a stack, by its index; of PROFILE_NONE that of "[no stack]". Each: 0, -ENOMEM or
 * -EOVERFLOW.
 */
int stacks_node(struct stacks *s, uint32_t stack, uint32_t *ret);
/* The number of a text, made clean. */
int stacks_string(struct stacks *s, const char *text, uint32_t *ret);

struct shown_frame stacks_frame(const struct stacks *s, uint32_t number);
const char *stacks_text(const struct stacks *s, uint32_t string);

#endif
