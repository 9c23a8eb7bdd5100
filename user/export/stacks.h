/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as nodes, for formats that keep a table of them: equal paths share a node, and only the
 * requested stacks and their callers have nodes. An incomplete stack has its mark at the root.
 */
#ifndef SKEIN_EXPORT_STACKS_H
#define SKEIN_EXPORT_STACKS_H

#include "analyze/names.h"
#include "analyze/profile.h"

#define STACKS_NONE UINT32_MAX /* no node; parent of a root */

/* A frame as it is shown; frames with equal members are one. Texts are numbers in strings. */
struct shown_frame {
	uint32_t name; /* profile_frame_name(), or a mark such as "[no stack]" */
	uint32_t file; /* source file; "" if unknown */
	uint32_t module; /* path of the object; "" if none */
	uint32_t kind; /* enum frame_kind; END for marks, NONE for frames that the trace has lost */
	uint32_t line; /* where the function begins; 0 if unknown */
	uint32_t at; /* the line that ran, if lines are requested; 0 if unknown */
};

/* A node: a frame below its callers. Parents come before their children. */
struct stack_node {
	uint32_t parent; /* STACKS_NONE for a root */
	uint32_t frame; /* number for stacks_frame() */
};

struct stacks {
	const struct profile *profile;
	bool lines;
	struct names strings; /* clean texts */
	struct names frames; /* struct shown_frame, as bytes */
	VECTOR(struct stack_node) nodes;
	struct index children; /* (parent, frame) -> node */
	uint32_t *frame_of, *node_of; /* by profile's frame, stack index; STACKS_NONE until made */
	VECTOR(uint32_t) path; /* working memory */
};

/*
 * Begin with a profile, which must outlive s. lines: frames that differ only in the line that ran
 * are distinct. Return 0 or -ENOMEM; call stacks_free() in both cases.
 */
int stacks_begin(struct stacks *s, const struct profile *p, bool lines);
void stacks_free(struct stacks *s);

/*
 * Get the node of a stack by the stack's index; PROFILE_NONE gives the node of "[no stack]". This
 * function and stacks_string() return 0 or a negative errno.
 */
int stacks_node(struct stacks *s, uint32_t stack, uint32_t *out);
/* Get the number of a text, which is cleaned. */
int stacks_string(struct stacks *s, const char *text, uint32_t *out);

struct shown_frame stacks_frame(const struct stacks *s, uint32_t number);
const char *stacks_text(const struct stacks *s, uint32_t string);

#endif
