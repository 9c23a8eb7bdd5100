/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parse the arguments of a USDT note. Each is N@OPERAND: N is the number of its bytes, negative if
 * it is signed, and may be missing; the operand is one of the assembler, for x86-64 and arm64.
 * Source: https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation
 */
#ifndef SKEIN_SYMBOLIZERS_PROBE_ARGUMENTS_H
#define SKEIN_SYMBOLIZERS_PROBE_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/probe_operand.h"

/* What the arguments of a note refer to. */
struct probe_arguments_context {
	uint16_t machine; /* EM_X86_64 or EM_AARCH64 */
	uint64_t address; /* of the probe */
	/* finds the address of a symbol; may be NULL */
	bool (*symbol)(void *context, const char *name, uint64_t *address);
	void *context;
};

/*
 * Parse at most PROBE_OPERANDS_MAX arguments; further ones are ignored. An operand that cannot be
 * understood becomes PROBE_OPERAND_NONE. Return their number.
 */
unsigned int probe_arguments_parse(struct probe_operand out[PROBE_OPERANDS_MAX], const char *text,
				   const struct probe_arguments_context *c);

/*
 * Set out to the arguments of a function at its entry, as integers and pointers, or to its result.
 * Return their number.
 */
unsigned int probe_arguments_of_entry(struct probe_operand out[PROBE_OPERANDS_MAX],
				      uint16_t machine);
unsigned int probe_arguments_of_return(struct probe_operand out[PROBE_OPERANDS_MAX],
				       uint16_t machine);

#endif
