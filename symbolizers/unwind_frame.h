/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What call frame information says of one place in the code, as far as rules
 * can say it: where the canonical frame address is, and where the caller's
 * frame pointer, base pointer and return address are.
 * DWARF 5, section 6.4; https://dwarfstd.org/doc/DWARF5.pdf
 */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_FRAME_H
#define SKEIN_SYMBOLIZERS_UNWIND_FRAME_H

#include <elfutils/libdw.h>

#include "symbolizers/unwind_reader.h"
#include "symbolizers/unwind_rows.h"
#include "symbolizers/unwind_source.h"

enum unwind_where {
	WHERE_SAME,	 /* not touched */
	WHERE_CFA,	 /* saved at CFA + offset */
	WHERE_REGISTER,	 /* in register reg */
	WHERE_ADDRESS,	 /* saved at register reg + offset */
	WHERE_UNDEFINED, /* lost; of the return address: there is none */
	WHERE_UNKNOWN,	 /* said in a way that rules cannot say */
};

struct unwind_place {
	enum unwind_where where;
	uint32_t reg;
	int32_t offset;
};

/* kind: UNWIND_CFA, UNWIND_DEREF, UNWIND_INDEXED, UNWIND_PLT, or UNWIND_BAD. */
struct unwind_cfa {
	enum unwind_kind kind;
	uint32_t reg, index;
	int32_t offset, second;
};

struct unwind_frame {
	struct unwind_cfa cfa;
	struct unwind_place fp, base, ra;
};

/* A CIE: what the functions that refer to it have in common. */
struct unwind_common {
	const struct unwind_machine *machine;
	uint64_t code_align;
	int64_t data_align;
	uint64_t bias;	  /* from where a byte of the section lies in memory to its address */
	uint8_t encoding; /* of addresses: DW_EH_PE_... */
	bool sized;	  /* augmentation data has its size in front */
	bool signal;	  /* the frames are those that the kernel makes for signal handlers */
	struct unwind_frame initial;
};

/* The rule of a frame. */
struct unwind_rule unwind_frame_rule(const struct unwind_common *c, const struct unwind_frame *f);

/* Run a CIE's own instructions, which make c->initial. false if they make no sense. */
bool unwind_frame_begin(struct unwind_common *c, struct reader instructions);

/*
 * Run the instructions of the function that was begun in rows, whose code is at address, as far
 * as they are about its first size bytes. 0; -EBADMSG: they make no sense; or what
 * unwind_rows_put() says.
 */
int unwind_frame_run(const struct unwind_common *c, struct reader instructions, uint64_t address,
		     uint64_t size, struct unwind_rows *rows);

/*
 * A pointer encoded as DW_EH_PE_... says; bias: see above. What no compiler writes into call frame
 * information sets r->bad. LSB core specification, section 10.5.
 */
uint64_t unwind_read_pointer(struct reader *r, uint8_t encoding, uint64_t bias);

/*
 * unwind_cfi.c: what the augmentation of a CIE says of the functions that refer to it: c->sized,
 * encoding and signal. false if it makes no sense.
 */
bool unwind_read_augmentation(struct unwind_common *c, const Dwarf_CIE *cie);

/* unwind_expression.c: what an expression says of the CFA (kind UNWIND_BAD: not understood). */
struct unwind_cfa unwind_expression_cfa(struct reader expression);
/* And of the address at which a register is saved. */
struct unwind_place unwind_expression_place(struct reader expression);

#endif
