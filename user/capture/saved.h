/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks kept in small files (skein record --save-bad-stacks), so that the
 * walker can be sent over them again, on any machine of the architecture.
 *
 * A file is lines of text: a word, then values. Addresses, offsets and what
 * memory held are hexadecimal without 0x; other numbers are decimal. What a
 * line belongs to comes before it; lines that begin with # are for people.
 *
 *	skein-stack 1
 *	machine x86_64
 *	program NAME			of the thread
 *	end WORDS			how the walk ended: a word of STACK_ENDS
 *	at PC SP FP BASE		where it began
 *	registers VALUE...		by their DWARF number
 *	stack ADDRESS BYTES		what was copied of it
 *	words ADDRESS VALUE...		what of that the walk has read
 *	mapping START END OFFSET TABLE NAME
 *	table NUMBER STATE		ready, none, evicted, generated or pending
 *	row OFFSET KIND CFA SECOND FP BASE REG INDEX SAVED	of that table (bpf/unwind/rule.h)
 *	frame WORD [NAME+OFFSET]	what the walk has found, innermost first (bpf/event.h)
 *
 * Memory may hold secrets: only the words that the walk reads are there, the
 * others count as 0. Of those, and of the registers, what is neither 0 nor an
 * address of code or of the copied stack is replaced by 1, unless the walk
 * then takes another way. Of mappings and rows there are those that the walk
 * has met and their neighbours.
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

/* The words of enum unwind_kind and enum unwind_state, in their order. */
#define SAVED_KINDS(X) \
	X(GAP, "gap") \
	X(BAD, "bad") X(END, "end") X(CFA, "cfa") X(DEREF, "deref") X(INDEXED, "indexed") \
		X(PLT, "plt") X(SIGNAL, "signal") X(FRAME, "frame") X(CLONE, "clone")
#define SAVED_STATES(X) \
	X(PENDING, "pending") \
	X(READY, "ready") X(NONE, "none") X(EVICTED, "evicted") X(GENERATED, "generated")

extern const char *const saved_kind_words[UNWIND_KIND_COUNT];
extern const char *const saved_state_words[UNWIND_TABLE_GENERATED + 1];

/* A walk that is over: what is written. */
struct ended_stack {
	const char *program;
	const struct space *space; /* the world's mappings are the view of it */
	struct unfinished begin;   /* no frames */
	const uint64_t *frames;	   /* what the walk has found, wherever it was done */
	uint32_t count;
	enum stack_end end;
};

/* again: finish_stack() of it, with what it has read in world->read. 0 or -ENOMEM. */
int saved_write(FILE *out, const struct finish_world *world, const struct ended_stack *e,
		const struct finished *again);

/* A file that was read: a world for finish_stack(), and what it is to find there. */
struct saved_stack {
	char program[SAVED_NAME_MAX];
	struct finish_world world;
	struct unfinished begin;
	uint32_t count;
	enum stack_end end;
	uint64_t frames[WIRE_MAX_USER];
	uint64_t stack[WIRE_STACK_BYTES / sizeof(uint64_t)];
	struct unwind_slot slots[UNWIND_SLOTS_MAX];
	struct unwind_rule rules[UNWIND_RULES_MAX];
	struct arena_chunk chunk;
};

/*
 * Text that may be hostile. 0, -EBADMSG (err names the line), -ENOEXEC: it is of another
 * architecture, or -ENOMEM. The stack is free()d by the caller.
 */
int saved_read(struct saved_stack **ret, const char *text, size_t size, struct error *err);

/* Whether a walk has come to what the file says. */
bool saved_agrees(const struct saved_stack *s, const struct finished *f);

#endif
