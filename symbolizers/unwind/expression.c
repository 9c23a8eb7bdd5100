// SPDX-License-Identifier: Apache-2.0
/*
 * Decode the DWARF expressions that compilers and assembler code use in call frame information
 * (DWARF 5, section 2.5): sums of a register, a scaled register and constants, perhaps read from
 * memory, plus another constant.
 */
#include <dwarf.h>

#include "symbolizers/unwind/frame.h"

#define DEPTH 4
#define OPERATIONS_MAX 16

/*
 * A value on the expression's stack: add, reg + add, 8 * index + add, or reg + 8 * index + add;
 * with deref set, the word at that address, plus second.
 */
struct term {
	bool has_reg, has_index, deref;
	uint32_t reg, index;
	int64_t add, second;
};

struct evaluation {
	struct term stack[DEPTH];
	unsigned int depth;
	bool bad;
};

static void push_term(struct evaluation *e, struct term t)
{
	if (e->depth < DEPTH)
		e->stack[e->depth++] = t;
	else
		e->bad = true;
}

static struct term pop_term(struct evaluation *e)
{
	if (e->depth)
		return e->stack[--e->depth];
	e->bad = true;
	return (struct term){0};
}

static bool is_constant_term(const struct term *t)
{
	return !t->has_reg && !t->has_index && !t->deref;
}

static void add_constant(struct evaluation *e, struct term *t, int64_t value)
{
	int64_t *sum = t->deref ? &t->second : &t->add;

	if (__builtin_add_overflow(*sum, value, sum))
		e->bad = true;
}

static void add_terms(struct evaluation *e)
{
	struct term b = pop_term(e), a = pop_term(e);

	if (is_constant_term(&a)) {
		struct term t = a;

		a = b;
		b = t;
	}
	if (is_constant_term(&b)) {
		add_constant(e, &a, b.add);
	} else if (!a.deref && !b.deref && a.has_reg != b.has_reg && a.has_index != b.has_index) {
		add_constant(e, &a, b.add);
		a.reg |= b.reg;
		a.index |= b.index;
		a.has_reg = a.has_index = true;
	} else {
		e->bad = true;
	}
	push_term(e, a);
}

/*
 * Multiply a register by 8, for an index into an array of pointers; other factors are not
 * supported. by: the operand that stands for 8, which for a shift is 3.
 */
static void multiply_term(struct evaluation *e, int64_t by)
{
	struct term b = pop_term(e), a = pop_term(e);

	if (!is_constant_term(&b) || b.add != by || a.deref || a.has_index || !a.has_reg || a.add)
		e->bad = true;
	push_term(e, (struct term){.has_index = true, .index = a.reg});
}

static void dereference_term(struct evaluation *e)
{
	struct term t = pop_term(e);

	if (t.deref || is_constant_term(&t))
		e->bad = true;
	t.deref = true;
	push_term(e, t);
}

static void evaluate_operation(struct evaluation *e, struct cfi_reader *r)
{
	uint8_t op = cfi_read_byte(r);
	struct term t = {0};

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		t.has_reg = true;
		t.reg = op - DW_OP_breg0;
		t.add = cfi_read_sleb(r);
		push_term(e, t);
	} else if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		t.add = op - DW_OP_lit0;
		push_term(e, t);
	} else if (op == DW_OP_const1u || op == DW_OP_const2u) {
		t.add = (int64_t)cfi_read_fixed(r, op == DW_OP_const1u ? 1 : 2);
		push_term(e, t);
	} else if (op == DW_OP_const1s || op == DW_OP_const2s) {
		t.add = cfi_read_fixed_signed(r, op == DW_OP_const1s ? 1 : 2);
		push_term(e, t);
	} else if (op == DW_OP_consts) {
		t.add = cfi_read_sleb(r);
		push_term(e, t);
	} else if (op == DW_OP_plus_uconst) {
		t = pop_term(e);
		add_constant(e, &t, (int64_t)cfi_read_uleb(r));
		push_term(e, t);
	} else if (op == DW_OP_plus) {
		add_terms(e);
	} else if (op == DW_OP_mul || op == DW_OP_shl) {
		multiply_term(e, op == DW_OP_mul ? 8 : 3);
	} else if (op == DW_OP_deref) {
		dereference_term(e);
	} else {
		e->bad = true;
	}
}

/* Evaluate an expression. Return false if it is not of a supported form. */
static bool evaluate_expression(struct cfi_reader r, struct term *out)
{
	struct evaluation e = {.depth = 0};

	for (int i = 0; i < OPERATIONS_MAX && r.at < r.end && !e.bad; i++)
		evaluate_operation(&e, &r);
	if (e.bad || r.bad || r.at < r.end || e.depth != 1)
		return false;
	*out = e.stack[0];
	return out->add == (int32_t)out->add && out->second == (int32_t)out->second;
}

/*
 * Return whether the expression is the one that linkers write for the PLT: sp + 8, and 8 more once
 * the stub of 16 bytes has pushed its number. lit is the offset in the stub after that push.
 */
static bool is_plt_expression(const struct cfi_reader *r, struct unwind_cfa *out)
{
	static const uint8_t before[] = {
		DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and,
	};
	static const uint8_t after[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};
	const uint8_t *lit = r->at + sizeof(before);

	if ((size_t)(r->end - r->at) != sizeof(before) + 1 + sizeof(after) ||
	    memcmp(r->at, before, sizeof(before)) != 0 || *lit < DW_OP_lit0 || *lit > DW_OP_lit15 ||
	    memcmp(lit + 1, after, sizeof(after)) != 0)
		return false;
	*out = (struct unwind_cfa){
		.kind = UNWIND_PLT,
		.reg = 7,
		.offset = 8,
		.second = *lit - DW_OP_lit0,
	};
	return true;
}

struct unwind_cfa unwind_expression_cfa(struct cfi_reader expression)
{
	struct unwind_cfa cfa = {.kind = UNWIND_BAD};
	struct term t;

	if (is_plt_expression(&expression, &cfa) || !evaluate_expression(expression, &t) ||
	    !t.has_reg)
		return cfa;
	if (t.has_index && !t.deref)
		return cfa;
	return (struct unwind_cfa){
		.kind = t.has_index ? UNWIND_INDEXED
			: t.deref   ? UNWIND_DEREF
				    : UNWIND_CFA,
		.reg = t.reg,
		.index = t.index,
		.offset = (int32_t)t.add,
		.second = (int32_t)t.second,
	};
}

struct unwind_place unwind_expression_place(struct cfi_reader expression)
{
	struct term t;

	if (!evaluate_expression(expression, &t) || !t.has_reg || t.has_index || t.deref)
		return (struct unwind_place){.where = WHERE_UNKNOWN};
	return (struct unwind_place){
		.where = WHERE_ADDRESS,
		.reg = t.reg,
		.offset = (int32_t)t.add,
	};
}
