/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognize special functions by their machine code where no description exists (the patterns are
 * explained in starts.c).
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CODE_H
#define SKEIN_SYMBOLIZERS_UNWIND_CODE_H

#include "symbolizers/unwind/source.h"

/* An upper bound of the length of every pattern, in bytes. */
#define UNWIND_CODE_PATTERN_MAX 64

enum unwind_found_kind {
	UNWIND_FOUND_RESTORER, /* code to which signal handlers return; child is its size */
	UNWIND_FOUND_CLONE, /* clone(), in which a thread begins */
	/* the calls of a thread's function and of the function that ends the thread, up to end */
	UNWIND_FOUND_OUTERMOST,
};

/* A special function that was found. Numbers are byte offsets from at, unless stated otherwise. */
struct unwind_found {
	uint64_t at; /* start of the function: offset in the code that was searched */
	enum unwind_found_kind kind;
	uint32_t call_end; /* the end of the system call instruction */
	uint32_t child, end; /* start and end of the code that only the child runs */
	uint32_t tail; /* bytes from end on that only the parent runs */
};

/*
 * Search code for special functions of all kinds of enum unwind_found_kind. Return how many were
 * found, at most max.
 */
size_t unwind_code_search(const struct unwind_machine *m, const uint8_t *code, size_t size,
			  struct unwind_found *out, size_t max);

/* Return whether the code contains a system call instruction. */
bool unwind_code_has_syscall(const struct unwind_machine *m, const uint8_t *code, size_t size);
/* Return whether these four bytes begin the code to which signal handlers return. */
bool unwind_code_is_restorer(const struct unwind_machine *m, const uint8_t *code);
/*
 * Return whether these four bytes clear the frame pointer, as the ABI requires where a stack begins
 * (System V ABI, AMD64 supplement, section 3.4.1).
 */
bool unwind_code_begins_stack(const struct unwind_machine *m, const uint8_t *code);
/*
 * Return the number of bytes before the padding that assemblers put between functions; size if
 * there is no padding.
 */
size_t unwind_code_until_padding(const struct unwind_machine *m, const uint8_t *code, size_t size);

#endif
