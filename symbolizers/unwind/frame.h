/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call frame information for one place in the code, as far as rules can express it: where the
 * canonical frame address is, and where the caller's frame pointer, base pointer and return address
 * are. Source: DWARF 5, section 6.4; https://dwarfstd.org/doc/DWARF5.pdf
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_FRAME_H
#define SKEIN_SYMBOLIZERS_UNWIND_FRAME_H

#include <elfutils/libdw.h>

#include "symbolizers/unwind/reader.h"
#include "symbolizers/unwind/rows.h"
#include "symbolizers/unwind/source.h"

enum unwind_where {
	WHERE_SAME, /* not touched */
	WHERE_CFA, /* saved at CFA + offset */
	WHERE_REGISTER, /* in register reg */
	WHERE_ADDRESS, /* saved at register reg + offset */
	WHERE_UNDEFINED, /* lost; for the return address: there is no caller */
	WHERE_UNKNOWN, /* described in a way that rules cannot express */
};

struct unwind_place {
	enum unwind_where where;
	uint32_t reg;
	int32_t offset;
};

/*
 * How to compute the CFA. kind: UNWIND_CFA, UNWIND_DEREF, UNWIND_INDEXED, UNWIND_PLT, or
 * UNWIND_BAD.
 */
struct unwind_cfa {
	enum unwind_kind kind;
	uint32_t reg, index;
	int32_t offset, second;
};

struct unwind_frame {
	struct unwind_cfa cfa;
	struct unwind_place fp, base, ra;
};

/* A CIE: the facts that all functions referring to it have in common. */
struct unwind_cie {
	const struct unwind_machine *machine;
	uint64_t code_align;
	int64_t data_align;
	uint64_t bias; /* virtual address of a byte of the section, less its address in memory */
	uint8_t encoding; /* encoding of addresses: DW_EH_PE_... */
	bool sized; /* augmentation data begins with its size */
	bool signal; /* the frames are those that the kernel makes for signal handlers */
	struct unwind_frame initial;
};

/* Run a CIE's initial instructions, which set c->initial. Return false if they make no sense. */
bool unwind_frame_begin(struct unwind_cie *c, struct cfi_reader instructions);

/*
 * Run the instructions of the function that is open in rows, whose code is at address, as far as
 * they concern its first size bytes. Return 0; -EBADMSG: the instructions are invalid; or an error
 * of unwind_rows_put().
 */
int unwind_frame_run(const struct unwind_cie *c, struct cfi_reader instructions, uint64_t address,
		     uint64_t size, struct unwind_rows *rows);

/*
 * Decode a pointer with a DW_EH_PE_... encoding; for bias see struct unwind_cie. Encodings that
 * no compiler writes into call frame information set r->bad. Source: LSB core specification,
 * section 10.5.
 */
uint64_t cfi_read_pointer(struct cfi_reader *r, uint8_t encoding, uint64_t bias);

/*
 * cfi.c: decode the augmentation of a CIE into the members sized, encoding and signal of c. Return
 * false if the augmentation is invalid or has an unknown letter.
 */
bool cfi_read_augmentation(struct unwind_cie *c, const Dwarf_CIE *cie);

/* expression.c: decode an expression for the CFA; kind is UNWIND_BAD if not understood. */
struct unwind_cfa unwind_expression_cfa(struct cfi_reader expression);
/*
 * expression.c: decode an expression for the address at which a register is saved; WHERE_UNKNOWN if
 * not understood.
 */
struct unwind_place unwind_expression_place(struct cfi_reader expression);

#endif
