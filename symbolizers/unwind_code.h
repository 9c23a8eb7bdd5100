/* SPDX-License-Identifier: Apache-2.0 */
/* What machine code tells where nothing else does (see unwind_starts.c for where it is from). */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_CODE_H
#define SKEIN_SYMBOLIZERS_UNWIND_CODE_H

#include "symbolizers/unwind_source.h"

/* No pattern is longer, from its first byte to its last. */
#define UNWIND_CODE_LONGEST 64

enum unwind_what {
	UNWIND_FOUND_RESTORER, /* signal handlers return here; child: its size */
	UNWIND_FOUND_CLONE,
};

/* Bytes are counted from at. */
struct unwind_found {
	uint64_t at; /* in the code that was searched */
	enum unwind_what what;
	uint32_t behind;     /* behind the system call */
	uint32_t child, end; /* where only the child runs */
	uint32_t tail;	     /* how much of the function follows, where only the parent runs */
};

/* Search code for either. Returns how many were found, at most max. */
size_t unwind_code_search(const struct unwind_machine *m, const uint8_t *code, size_t size,
			  struct unwind_found *ret, size_t max);

bool unwind_code_has_syscall(const struct unwind_machine *m, const uint8_t *code, size_t size);
/* Whether four bytes are the first of what signal handlers return to. */
bool unwind_code_restores(const struct unwind_machine *m, const uint8_t *code);
/*
 * Whether four bytes clear the frame pointer first of all, as the ABI wants it where a stack begins
 * (System V ABI, AMD64 supplement, section 3.4.1).
 */
bool unwind_code_begins_stack(const struct unwind_machine *m, const uint8_t *code);
/* How many bytes there are before what assemblers put between functions. */
size_t unwind_code_until_padding(const struct unwind_machine *m, const uint8_t *code, size_t size);

#endif
