// SPDX-License-Identifier: Apache-2.0
/*
 * Run the instructions of call frame information (DWARF 5, section 6.4.2) once over each function.
 * Only the CFA, the frame pointer, the base register and the return address are tracked: rules
 * restore no other register.
 */
#include <dwarf.h>
#include <errno.h>

#include "symbolizers/unwind/frame.h"

#define REMEMBERED_MAX 8
/* Pointer authentication on arm64; not every dwarf.h has these. */
#define CFA_NEGATE_RA_STATE_WITH_PC 0x2c
#define CFA_NEGATE_RA_STATE 0x2d

struct cfi_run {
	const struct unwind_cie *cie;
	struct cfi_reader in;
	struct unwind_frame now, remembered[REMEMBERED_MAX];
	unsigned int depth;
	uint64_t moved; /* bytes of code since the start of the function */
	uint64_t address;
	bool bad;
};

static bool fits_cfa_offset(int64_t value)
{
	return value == (int32_t)value;
}

static void set_rule_fp(struct unwind_rule *rule, const struct unwind_machine *m,
			const struct unwind_frame *f, enum unwind_ra ra)
{
	enum unwind_fp fp = UNWIND_FP_UNKNOWN;

	if (f->fp.where == WHERE_SAME)
		fp = UNWIND_FP_SAME;
	else if (f->fp.where == WHERE_CFA)
		fp = UNWIND_FP_AT_CFA;
	else if (f->fp.where == WHERE_ADDRESS && f->fp.reg == m->fp)
		fp = UNWIND_FP_AT_FP;
	if (fp == UNWIND_FP_AT_CFA || fp == UNWIND_FP_AT_FP) {
		rule->fp_offset = (int16_t)f->fp.offset;
		if (rule->fp_offset != f->fp.offset)
			fp = UNWIND_FP_UNKNOWN;
	}
	rule->saved = (uint8_t)UNWIND_SAVED(fp, ra);
}

static void set_rule_base(struct unwind_rule *rule, const struct unwind_frame *f)
{
	int32_t offset = f->base.offset;

	if (f->base.where == WHERE_SAME)
		rule->base_offset = UNWIND_BASE_SAME;
	else if (f->base.where == WHERE_CFA && offset && !(offset & 1) && offset == (int16_t)offset)
		rule->base_offset = (int16_t)offset;
	else
		rule->base_offset = UNWIND_BASE_LOST;
}

/*
 * Set the return address of a rule. Return false if rules cannot express where the return address
 * is.
 */
static bool set_rule_ra(struct unwind_rule *rule, const struct unwind_machine *m,
			const struct unwind_frame *f, enum unwind_ra *out)
{
	uint32_t reg = f->ra.where == WHERE_SAME ? m->ra : f->ra.reg;

	*out = UNWIND_RA_AT_CFA;
	if (f->ra.where == WHERE_CFA) {
		if (rule->kind != UNWIND_CFA)
			return f->ra.offset == -8;
		rule->second = f->ra.offset;
		return true;
	}
	/* WHERE_SAME is valid if a call leaves the return address in a register. */
	if ((f->ra.where != WHERE_SAME && f->ra.where != WHERE_REGISTER) || reg >= m->registers ||
	    rule->kind != UNWIND_CFA)
		return false;
	*out = UNWIND_RA_IN_REGISTER;
	rule->index = (uint8_t)reg;
	return true;
}

/*
 * Return whether the frame is a signal frame. On x86-64 glibc defines the CFA as the sp in the
 * sigcontext, at offset 120, which gives the position of the sigcontext. arm64 has only one layout.
 */
static bool is_signal_frame(const struct unwind_cie *c, const struct unwind_cfa *cfa,
			    int32_t *offset)
{
	*offset = c->machine->signal_offset;
	if (!c->signal || c->machine->elf == EM_AARCH64)
		return c->signal;
	*offset = cfa->offset - 120;
	return cfa->kind == UNWIND_DEREF && cfa->reg == c->machine->sp && !cfa->second &&
	       cfa->offset >= 120;
}

/* Convert a frame to a rule; UNWIND_BAD if rules cannot express the frame. */
static struct unwind_rule unwind_frame_rule(const struct unwind_cie *c,
					    const struct unwind_frame *f)
{
	const struct unwind_machine *m = c->machine;
	const struct unwind_cfa *cfa = &f->cfa;
	struct unwind_rule rule = {
		.cfa_offset = cfa->offset,
		.second = cfa->second,
		.kind = (uint8_t)cfa->kind,
		.reg = (uint8_t)cfa->reg,
		.index = (uint8_t)cfa->index,
	};
	enum unwind_ra ra;
	int32_t offset;

	if (f->ra.where == WHERE_UNDEFINED)
		return (struct unwind_rule){.kind = UNWIND_END};
	if (is_signal_frame(c, cfa, &offset))
		return (struct unwind_rule){.kind = UNWIND_SIGNAL, .cfa_offset = offset};
	if (cfa->kind == UNWIND_BAD || cfa->reg >= m->registers || cfa->index >= m->registers ||
	    !set_rule_ra(&rule, m, f, &ra))
		return (struct unwind_rule){.kind = UNWIND_BAD};
	set_rule_fp(&rule, m, f, ra);
	set_rule_base(&rule, f);
	return rule;
}

static void set_register_place(struct cfi_run *r, uint64_t reg, struct unwind_place place)
{
	if (reg == r->cie->machine->fp)
		r->now.fp = place;
	else if (reg == r->cie->machine->base)
		r->now.base = place;
	else if (reg == r->cie->machine->ra)
		r->now.ra = place;
}

static void restore_register_place(struct cfi_run *r, uint64_t reg)
{
	const struct unwind_frame *initial = &r->cie->initial;

	if (reg == r->cie->machine->fp)
		r->now.fp = initial->fp;
	else if (reg == r->cie->machine->base)
		r->now.base = initial->base;
	else if (reg == r->cie->machine->ra)
		r->now.ra = initial->ra;
}

static void set_register_saved(struct cfi_run *r, uint64_t reg, int64_t factored)
{
	struct unwind_place place = {.where = WHERE_CFA};
	int64_t offset;

	if (__builtin_mul_overflow(factored, r->cie->data_align, &offset) ||
	    !fits_cfa_offset(offset))
		place.where = WHERE_UNKNOWN;
	else
		place.offset = (int32_t)offset;
	set_register_place(r, reg, place);
}

static void set_register_where(struct cfi_run *r, uint64_t reg, enum unwind_where where)
{
	set_register_place(r, reg, (struct unwind_place){.where = where});
}

static void set_cfa_offset(struct cfi_run *r, int64_t offset)
{
	if (r->now.cfa.kind != UNWIND_CFA || !fits_cfa_offset(offset))
		r->now.cfa = (struct unwind_cfa){.kind = UNWIND_BAD};
	else
		r->now.cfa.offset = (int32_t)offset;
}

static void set_cfa(struct cfi_run *r, uint64_t reg, int64_t offset)
{
	r->now.cfa = (struct unwind_cfa){
		.kind = reg <= UINT8_MAX ? UNWIND_CFA : UNWIND_BAD,
		.reg = (uint32_t)reg,
	};
	set_cfa_offset(r, offset);
}

static void set_cfa_factored(struct cfi_run *r, int64_t offset)
{
	if (__builtin_mul_overflow(offset, r->cie->data_align, &offset))
		r->bad = true;
	set_cfa_offset(r, offset);
}

static void advance_location(struct cfi_run *r, uint64_t factored)
{
	uint64_t by;

	if (__builtin_mul_overflow(factored, r->cie->code_align, &by) ||
	    __builtin_add_overflow(r->moved, by, &r->moved))
		r->bad = true;
}

/* Set the location to an address, which must not be lower than the current one. */
static void set_location(struct cfi_run *r)
{
	uint64_t to = cfi_read_pointer(&r->in, r->cie->encoding, r->cie->bias);

	if (to < r->address || to - r->address < r->moved)
		r->bad = true;
	else
		r->moved = to - r->address;
}

static void remember_frame(struct cfi_run *r)
{
	if (r->depth < REMEMBERED_MAX)
		r->remembered[r->depth++] = r->now;
	else
		r->bad = true;
}

static void restore_frame(struct cfi_run *r)
{
	if (r->depth)
		r->now = r->remembered[--r->depth];
	else
		r->bad = true;
}

static void define_cfa(struct cfi_run *r, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = cfi_read_uleb(&r->in);
		set_cfa(r, reg, (int64_t)cfi_read_uleb(&r->in));
		break;
	case DW_CFA_def_cfa_sf:
		reg = cfi_read_uleb(&r->in);
		set_cfa(r, reg, 0);
		set_cfa_factored(r, cfi_read_sleb(&r->in));
		break;
	case DW_CFA_def_cfa_register:
		reg = cfi_read_uleb(&r->in);
		set_cfa(r, r->now.cfa.kind == UNWIND_CFA ? reg : UINT64_MAX, r->now.cfa.offset);
		break;
	case DW_CFA_def_cfa_offset:
		set_cfa_offset(r, (int64_t)cfi_read_uleb(&r->in));
		break;
	case DW_CFA_def_cfa_offset_sf:
		set_cfa_factored(r, cfi_read_sleb(&r->in));
		break;
	default: /* DW_CFA_def_cfa_expression */
		r->now.cfa = unwind_expression_cfa(cfi_read_block(&r->in, cfi_read_uleb(&r->in)));
	}
}

/* Run an instruction whose first operand is a register number. */
static void define_register(struct cfi_run *r, uint8_t op)
{
	uint64_t reg = cfi_read_uleb(&r->in), from;

	switch (op) {
	case DW_CFA_offset_extended:
		set_register_saved(r, reg, (int64_t)cfi_read_uleb(&r->in));
		break;
	case DW_CFA_offset_extended_sf:
		set_register_saved(r, reg, cfi_read_sleb(&r->in));
		break;
	case DW_CFA_GNU_negative_offset_extended:
		set_register_saved(r, reg, -(int64_t)(cfi_read_uleb(&r->in) & INT64_MAX));
		break;
	case DW_CFA_restore_extended:
		restore_register_place(r, reg);
		break;
	case DW_CFA_undefined:
		set_register_where(r, reg, WHERE_UNDEFINED);
		break;
	case DW_CFA_same_value:
		set_register_where(r, reg, WHERE_SAME);
		break;
	case DW_CFA_register:
		from = cfi_read_uleb(&r->in);
		set_register_place(r, reg,
				   (struct unwind_place){
					   .where = WHERE_REGISTER,
					   .reg = from <= UINT8_MAX ? (uint32_t)from : UINT8_MAX,
				   });
		break;
	case DW_CFA_expression:
		set_register_place(
			r, reg,
			unwind_expression_place(cfi_read_block(&r->in, cfi_read_uleb(&r->in))));
		break;
	case DW_CFA_val_expression:
		cfi_read_block(&r->in, cfi_read_uleb(&r->in));
		set_register_where(r, reg, WHERE_UNKNOWN);
		break;
	default: /* DW_CFA_val_offset, DW_CFA_val_offset_sf: one number */
		cfi_read_uleb(&r->in);
		set_register_where(r, reg, WHERE_UNKNOWN);
	}
}

static void run_cfi_instruction(struct cfi_run *r)
{
	uint8_t op = cfi_read_byte(&r->in);

	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance_location(r, op & 0x3f);
		return;
	case DW_CFA_offset:
		set_register_saved(r, op & 0x3f, (int64_t)cfi_read_uleb(&r->in));
		return;
	case DW_CFA_restore:
		restore_register_place(r, op & 0x3f);
		return;
	}
	switch (op) {
	case DW_CFA_nop:
	case CFA_NEGATE_RA_STATE_WITH_PC:
	case CFA_NEGATE_RA_STATE: /* the walker strips the pointer authentication code */
		break;
	case DW_CFA_set_loc:
		set_location(r);
		break;
	case DW_CFA_advance_loc1:
		advance_location(r, cfi_read_fixed(&r->in, 1));
		break;
	case DW_CFA_advance_loc2:
		advance_location(r, cfi_read_fixed(&r->in, 2));
		break;
	case DW_CFA_advance_loc4:
		advance_location(r, cfi_read_fixed(&r->in, 4));
		break;
	case DW_CFA_remember_state:
		remember_frame(r);
		break;
	case DW_CFA_restore_state:
		restore_frame(r);
		break;
	case DW_CFA_def_cfa:
	case DW_CFA_def_cfa_sf:
	case DW_CFA_def_cfa_register:
	case DW_CFA_def_cfa_offset:
	case DW_CFA_def_cfa_offset_sf:
	case DW_CFA_def_cfa_expression:
		define_cfa(r, op);
		break;
	case DW_CFA_offset_extended:
	case DW_CFA_offset_extended_sf:
	case DW_CFA_GNU_negative_offset_extended:
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_register:
	case DW_CFA_expression:
	case DW_CFA_val_expression:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		define_register(r, op);
		break;
	case DW_CFA_GNU_args_size:
		cfi_read_uleb(&r->in);
		break;
	default:
		r->bad = true;
	}
}

bool unwind_frame_begin(struct unwind_cie *c, struct cfi_reader instructions)
{
	struct cfi_run r = {.cie = c, .in = instructions};

	/* The registers at the start of a function: all still hold the caller's values. */
	c->initial = (struct unwind_frame){.cfa.kind = UNWIND_BAD};
	r.now = c->initial;
	while (r.in.at < r.in.end && !r.bad && !r.in.bad)
		run_cfi_instruction(&r);
	c->initial = r.now;
	return !r.bad && !r.in.bad && !r.moved;
}

int unwind_frame_run(const struct unwind_cie *c, struct cfi_reader instructions, uint64_t address,
		     uint64_t size, struct unwind_rows *rows)
{
	struct cfi_run r = {.cie = c, .in = instructions, .now = c->initial, .address = address};
	uint64_t start = rows->open->start;
	struct unwind_rule rule;
	bool changed = true;
	int ret = 0;

	while (!ret && r.in.at < r.in.end && r.moved < size) {
		uint64_t before = r.moved;

		run_cfi_instruction(&r);
		if (r.bad || r.in.bad)
			return -EBADMSG;
		if (r.moved == before) {
			changed = true;
			continue;
		}
		/* An instruction that advances the location changes nothing else. */
		rule = unwind_frame_rule(c, &r.now);
		if (changed)
			ret = unwind_rows_put(rows, start + before, &rule);
		changed = false;
	}
	if (ret || r.moved >= size)
		return ret;
	rule = unwind_frame_rule(c, &r.now);
	return unwind_rows_put(rows, start + r.moved, &rule);
}

uint64_t cfi_read_pointer(struct cfi_reader *r, uint8_t encoding, uint64_t bias)
{
	uint64_t here = (uint64_t)(uintptr_t)r->at + bias, value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = cfi_read_fixed(r, 8);
		break;
	case DW_EH_PE_udata4:
		value = cfi_read_fixed(r, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)cfi_read_fixed_signed(r, 4);
		break;
	case DW_EH_PE_udata2:
		value = cfi_read_fixed(r, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)cfi_read_fixed_signed(r, 2);
		break;
	case DW_EH_PE_uleb128:
		value = cfi_read_uleb(r);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)cfi_read_sleb(r);
		break;
	default:
		r->bad = true;
		return 0;
	}
	if ((encoding & 0xf0) == DW_EH_PE_pcrel)
		return here + value;
	if (encoding & 0xf0)
		r->bad = true;
	return value;
}
