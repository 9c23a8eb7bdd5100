/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks kept in small text files (skein record --save-bad-stacks), so that the walker can walk
 * them again, on any machine of the same architecture.
 *
 * A file consists of lines: a word, then values. Addresses, offsets and memory contents are
 * hexadecimal without 0x; other numbers are decimal. A line that others refer to comes before them;
 * lines that begin with # are comments.
 *
 *	skein-stack 1
 *	machine x86_64
 *	program NAME			of the thread
 *	end WORDS			how the walk ended: a word of STACK_ENDS
 *	at PC SP FP BASE		where the walk began
 *	registers VALUE...		by DWARF number
 *	stack ADDRESS BYTES		extent of the copied stack
 *	words ADDRESS VALUE...		words of the copied stack that the walk has read
 *	mapping START END OFFSET TABLE NAME
 *	table NUMBER STATE		ready, none, evicted, generated or pending
 *	row OFFSET KIND CFA SECOND FP BASE REG INDEX SAVED	of that table (bpf/unwind/rule.h)
 *	frame WORD [NAME+OFFSET]	a frame found, innermost first (bpf/event.h)
 *
 * Memory may hold secrets: the file has only the words that the walk reads; the others count as 0.
 * Values in those words and in the registers that are neither 0 nor an address of code or of the
 * copied stack are replaced by 1, unless that would change the walk. Of the rows, the file has
 * those that the walk used and their neighbours. Of the mappings, the file has those that the walk
 * used; if the walk ended outside of all mappings, also those next to its end.
 */
#ifndef SKEIN_CAPTURE_SAVED_H
#define SKEIN_CAPTURE_SAVED_H

#include <stdio.h>

#include "base/error.h"
#include "capture/finish.h"
#include "capture/space.h"

#define SAVED_VERSION 1
#define SAVED_NAME_MAX 64 /* bytes, with the NUL */

#if defined(__aarch64__)
#define SAVED_MACHINE "aarch64"
#else
#define SAVED_MACHINE "x86_64"
#endif

/* The words for enum unwind_kind and enum unwind_table_state, in the order of these enums. */
#define SAVED_KINDS(X) \
	X(GAP, "gap") \
	X(BAD, "bad") X(END, "end") X(CFA, "cfa") X(DEREF, "deref") X(INDEXED, "indexed") \
		X(PLT, "plt") X(SIGNAL, "signal") X(FRAME, "frame") X(CLONE, "clone")
#define SAVED_STATES(X) \
	X(PENDING, "pending") \
	X(READY, "ready") X(NONE, "none") X(EVICTED, "evicted") X(GENERATED, "generated")

extern const char *const saved_kind_words[UNWIND_KIND_COUNT];
extern const char *const saved_state_words[UNWIND_TABLE_GENERATED + 1];

/* A finished walk, to be written. */
struct ended_stack {
	const char *program;
	const struct space *space; /* world->mappings is the view of this space */
	struct unfinished_stack begin; /* the state in which the walk began, without frames */
	/* frames that the walk found, whether the BPF programs or user space made it */
	const uint64_t *frames;
	uint32_t count;
	enum stack_end end;
};

/*
 * Write a stack. again: the result of finish_stack() for this stack; world->read: a bit for each
 * word that finish_stack() read. Return 0 or -ENOMEM; the caller checks out for write errors.
 */
int saved_write(FILE *out, const struct finish_world *world, const struct ended_stack *e,
		const struct finished_stack *again);

/* A saved stack that was read from a file: a world for finish_stack(), and the expected result. */
struct saved_stack {
	char program[SAVED_NAME_MAX];
	struct finish_world world;
	struct unfinished_stack begin;
	uint32_t count;
	enum stack_end end;
	uint64_t frames[WIRE_MAX_USER];
	uint64_t stack[WIRE_STACK_BYTES / sizeof(uint64_t)];
	struct unwind_slot slots[UNWIND_SLOTS_MAX];
	struct unwind_rule rules[UNWIND_RULES_MAX];
	struct arena_chunk chunk;
};

/*
 * Parse a file; its text may be hostile. Return 0; -EBADMSG (err names the line, if one is at
 * fault); -ENOEXEC: another architecture; or -ENOMEM. The caller releases the stack with free().
 */
int saved_read(struct saved_stack **out, const char *text, size_t size, struct error *err);

/* Return whether a walk has the frames and the end that the file records. */
bool saved_agrees(const struct saved_stack *s, const struct finished_stack *f);

#endif
