/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the places of a file at which probes can be attached: USDT notes (.note.stapsdt) and
 * functions. All bytes come from the file, which is hostile: everything is bounded and checked.
 */
#ifndef SKEIN_SYMBOLIZERS_PROBE_SITES_H
#define SKEIN_SYMBOLIZERS_PROBE_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/probes.h"
#include "bpf/probe_operand.h"

struct heartbeat;

/* Most sites of one file; further ones are counted only. */
#define PROBE_SITES_MAX 256
#define PROBE_LABEL_BYTES 64

/* A probe of the user: a glob of notes or of functions. */
struct probe_pattern {
	enum probe_origin origin;
	const char *provider; /* glob; of notes only */
	const char *name; /* glob */
};

/* The language runtime of a file, whose functions are looked for. */
enum probe_runtime { PROBE_RUNTIME_NONE, PROBE_RUNTIME_HOTSPOT, PROBE_RUNTIME_PYTHON };

/* X(NAME, "the first instruction of a site, in words", whether a hit is slow) */
#define PROBE_INSTRUCTIONS(X) \
	X(UNKNOWN, "unknown", true) \
	X(NOP, "nop", false) \
	X(PUSH, "push", false) \
	X(JUMP, "jump or call", false) /* the kernel emulates it */ \
	X(NOP5, "five-byte nop", false) \
	X(RETURN, "return", true) \
	/* the kernel executes it elsewhere, in a single step, which is 13 to 16 times slower */ \
	X(OTHER, "other", true)
#define PROBE_INSTRUCTION_ENUM(N, text, slow) PROBE_INSTRUCTION_##N,
enum probe_instruction { PROBE_INSTRUCTIONS(PROBE_INSTRUCTION_ENUM) PROBE_INSTRUCTION_COUNT };

/* X(NAME, "why a site is not attached") */
#define PROBE_REFUSALS(X) \
	X(NONE, "") \
	X(NOP5, "a five-byte nop in the middle of code: newer kernels overwrite the memory below " \
		"the stack pointer there, which the code may use") \
	X(OUTSIDE, "its address is outside of the file's code") \
	X(SEMAPHORE, "its counter is outside of the file's data") \
	X(ARGUMENTS, "an argument that is needed cannot be understood") \
	X(OVERLAPS, "it lies inside of an instruction that has another probe") \
	X(CODE, "the kernel cannot probe the instruction") \
	X(RETURNS, "not all returns of the function could be found") \
	X(KERNEL, "the kernel refused it")
#define PROBE_REFUSAL_ENUM(N, text) PROBE_REFUSED_##N,
enum probe_refusal { PROBE_REFUSALS(PROBE_REFUSAL_ENUM) PROBE_REFUSAL_COUNT };

/* What to look for. */
struct probe_wanted {
	uint32_t parts; /* enum probe_part: rows of the table */
	uint32_t runtime; /* enum probe_runtime */
	const struct probe_pattern *patterns; /* of the user */
	unsigned int count;
	uint64_t mask; /* bits: which of patterns */
};

struct probe_site {
	uint64_t offset; /* in the file, of the instruction */
	uint64_t semaphore; /* offset in the file of the counter of its users; 0: none */
	uint16_t row; /* index in probe_rows; from probe_row_count on: of the patterns */
	uint8_t instruction; /* enum probe_instruction */
	uint8_t refused; /* enum probe_refusal */
	uint8_t bytes; /* of the instruction */
	uint8_t count; /* of operands */
	uint8_t unused[2];
	struct probe_operand operands[PROBE_OPERANDS_MAX];
	char label[PROBE_LABEL_BYTES]; /* of a pattern: provider:name, or the function */
};

struct probe_sites {
	uint32_t count; /* of sites */
	uint32_t dropped; /* number of sites beyond PROBE_SITES_MAX */
	uint32_t malformed; /* number of notes that could not be understood */
	uint32_t unused;
	struct probe_site sites[PROBE_SITES_MAX];
};

/*
 * Find the sites of the file fd. Return 0, also if there are none; -EBADMSG: not an ELF file that
 * this machine executes, or a damaged one; or another negative errno.
 */
int probe_sites_find(struct probe_sites *out, const struct probe_wanted *w, int fd,
		     struct heartbeat *b);

/*
 * Check sites that were found by a process that cannot be trusted. size: bytes of the file.
 * patterns: number of them.
 */
bool probe_sites_check(const struct probe_sites *s, uint64_t size, unsigned int patterns);

/* Return the runtime to which a row of the table belongs. */
enum probe_runtime probe_row_runtime(const struct probe_row *row);

const char *probe_instruction_text(unsigned int instruction);
bool probe_instruction_is_slow(unsigned int instruction);
const char *probe_refusal_text(unsigned int refusal);

#endif
