// SPDX-License-Identifier: Apache-2.0
/*
 * Add rules for functions in which threads begin and to which signal handlers return. The
 * functions are found by address and code, since stripped programs have no names.
 *
 * Observed in the machine code of C libraries (glibc 2.36, musl 1.2.3):
 *
 *  - The call frame information of _start in glibc's programs says that there is no caller. The
 *    _start of the dynamic linker and of musl has no description.
 *  - glibc ends the description of clone() and clone3() right before the system call, and begins
 *    another one, without a caller, where the child runs. In between are syscall;
 *    test %rax,%rax; jl; jz; ret, which the parent runs too.
 *  - musl describes no function. Its __clone continues after the system call with
 *    test %eax,%eax; jnz 1f; xor %ebp,%ebp ... 1: ret. The stack pointer is the caller's from the
 *    first instruction on.
 *  - musl calls main() and a thread's function, and then exit() or pthread_exit() with the result,
 *    from functions that nothing describes: the walk ends there.
 *  - Signal handlers return to mov $15,%rax; syscall. glibc describes this code, from one byte
 *    before it on; musl does not.
 */
#include <errno.h>

#include "symbolizers/elf.h"
#include "symbolizers/unwind/code.h"
#include "symbolizers/unwind/starts.h"

/*
 * Assumed size of the entry point's function in bytes, if nothing describes it: crt1's _start has
 * 34 to 61.
 */
#define ENTRY_MAX 64
#define CLONE_GAP_MAX 64
/* Maximum number of functions in one file that are treated as a clone() or a signal frame. */
#define CLONES_MAX 64
/* Minimum size of undescribed code in bytes; shorter code is padding. */
#define HOLE_MIN 16
/*
 * Maximum bytes of undescribed code that are searched in one file: musl has 0.4 MiB, programs
 * linked with musl some more.
 */
#define HOLES_SIZE_MAX (64u << 20)

static const struct unwind_rule rule_end = {.kind = UNWIND_END};

static struct unwind_rule signal_rule(const struct unwind_machine *m)
{
	return (struct unwind_rule){.kind = UNWIND_SIGNAL, .cfa_offset = m->signal_offset};
}

/*
 * Return the rule for a function that has not touched the stack: the return address is on top of
 * the stack (x86-64) or in its register (arm64).
 */
static struct unwind_rule leaf_rule(const struct unwind_machine *m, enum unwind_kind kind)
{
	struct unwind_rule rule = {.kind = (uint8_t)kind, .reg = m->sp};

	if (m->elf == EM_X86_64) {
		rule.cfa_offset = 8;
		rule.second = -8;
		rule.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_AT_CFA);
	} else {
		rule.index = m->ra;
		rule.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_IN_REGISTER);
	}
	return rule;
}

/* Add a rule. An invalid range is not an error: nothing is added. */
static int add_start_rule(struct unwind_rows *rows, uint64_t start, uint64_t end,
			  const struct unwind_rule *rule)
{
	int ret = unwind_rows_add(rows, UNWIND_LAYER_STARTS, start, end, rule);

	return ret == -EINVAL ? 0 : ret;
}

/* A visitor of unwind_rows_walk(): set *context to the start of the first function, then stop. */
static int find_first_function(void *context, uint64_t start, uint64_t end, enum unwind_layer layer,
			       struct unwind_extent *function)
{
	(void)end, (void)layer;
	if (!function)
		return 0;
	*(uint64_t *)context = start;
	return 1;
}

/*
 * Find the entry point of a program or dynamic linker. musl's dynamic linker is a shared library
 * like others, but the code at its entry point shows that a stack begins there. The entry point
 * that linkers set for other libraries is an arbitrary function.
 */
static bool find_entry_point(const struct unwind_source *s, uint64_t *out, uint64_t *out_size)
{
	uint8_t code[4];

	if (!s->image->header.e_entry ||
	    !unwind_source_offset(s, s->image->header.e_entry, out, out_size))
		return false;
	return elf_has_entry(s->image) ||
	       (!unwind_source_read(s, *out, code, sizeof(code)) &&
		unwind_code_begins_stack(unwind_source_machine(s), code));
}

/*
 * Return whether the descriptions at offset have been read: if s->parts is not empty, only those
 * in s->parts have been.
 */
static bool is_in_parts(const struct unwind_source *s, uint64_t offset)
{
	for (size_t i = 0; i < s->parts.count; i++)
		if (offset >= s->parts.items[i].start && offset < s->parts.items[i].end)
			return true;
	return !s->parts.count;
}

static int add_entry_point(struct unwind_rows *rows, const struct unwind_source *s)
{
	uint64_t entry, room, end;
	uint8_t code[ENTRY_MAX];

	if (!find_entry_point(s, &entry, &room) || !is_in_parts(s, entry))
		return 0;
	for (int layer = UNWIND_LAYERS - 1; layer >= 0; layer--) {
		const struct unwind_extent *e =
			unwind_rows_find(rows, (enum unwind_layer)layer, entry);

		if (e)
			return add_start_rule(rows, e->start, e->end, &rule_end);
	}
	end = entry + (room < ENTRY_MAX ? room : ENTRY_MAX);
	(void)unwind_rows_walk(rows, entry, end, find_first_function, &end);
	if (unwind_source_read(s, entry, code, end - entry))
		return 0;
	end = entry + unwind_code_until_padding(unwind_source_machine(s), code, end - entry);
	return add_start_rule(rows, entry, end, &rule_end);
}

static const struct unwind_rule *first_rule_of_extent(const struct unwind_rows *rows,
						      const struct unwind_extent *e)
{
	return &rows->rules.items[UNWIND_ROW_RULE(rows->rows.items[e->first])];
}

/*
 * Add a rule for the code from start to end, between the descriptions of the parent and of the
 * child, if it follows or contains a system call.
 */
static int add_clone_gap(struct unwind_rows *rows, const struct unwind_source *s, uint64_t start,
			 uint64_t end)
{
	struct unwind_rule rule = leaf_rule(unwind_source_machine(s), UNWIND_CLONE);
	uint8_t code[CLONE_GAP_MAX + 4];

	/* On arm64 the system call is the last instruction that is described. */
	if (start < 4 || end <= start || end - start > CLONE_GAP_MAX ||
	    unwind_source_read(s, start - 4, code, end - start + 4) ||
	    !unwind_code_has_syscall(unwind_source_machine(s), code, end - start + 4))
		return 0;
	return add_start_rule(rows, start, end, &rule);
}

/*
 * Extend the function to which a signal handler returns by one byte before its start, since return
 * addresses are looked up one byte earlier. No call precedes this code, so that the byte before it
 * belongs to another function. Nothing is added if the description already begins one byte before
 * the code, as glibc's does.
 */
static int add_early_byte(struct unwind_rows *rows, const struct unwind_source *s,
			  const struct unwind_extent *e)
{
	struct unwind_rule rule = *first_rule_of_extent(rows, e);
	uint64_t start = e->start;
	uint8_t first[4];

	if (!start || unwind_source_read(s, start, first, sizeof(first)) ||
	    !unwind_code_is_restorer(unwind_source_machine(s), first))
		return 0;
	return add_start_rule(rows, start - 1, start, &rule);
}

/* Add the rules that follow from existing descriptions. */
static int add_from_described(struct unwind_rows *rows, const struct unwind_source *s)
{
	size_t count = rows->layers[UNWIND_LAYER_FRAMES].count, found = 0;
	int ret = 0;

	for (size_t i = 1; !ret && i < count && found < CLONES_MAX; i++) {
		const struct unwind_extent *e = &rows->layers[UNWIND_LAYER_FRAMES].items[i];
		enum unwind_kind kind = first_rule_of_extent(rows, e)->kind;

		if (kind != UNWIND_END && kind != UNWIND_SIGNAL)
			continue;
		found++;
		if (kind == UNWIND_END)
			ret = add_clone_gap(rows, s, e[-1].end, e->start);
		else
			ret = add_early_byte(rows, s, e);
	}
	return ret;
}

struct holes {
	const struct unwind_source *source;
	bool runs; /* the file is a program, or a C library, whose entry point nothing describes */
	VECTOR(struct unwind_found) found;
	uint64_t left; /* bytes that may still be read */
};

static int search_hole(void *context, uint64_t start, uint64_t end, enum unwind_layer layer,
		       struct unwind_extent *function)
{
	struct holes *h = context;
	uint8_t code[1 << 16];
	int ret = 0;

	(void)layer;
	if (function || end - start < HOLE_MIN)
		return 0;
	while (!ret && start < end && h->left) {
		size_t size = end - start < sizeof(code) ? end - start : sizeof(code);
		struct unwind_found found[8];
		size_t count;

		if (unwind_source_read(h->source, start, code, size))
			return 0;
		count = unwind_code_search(unwind_source_machine(h->source), code, size, found, 8);
		for (size_t i = 0; !ret && i < count && h->found.count < CLONES_MAX; i++) {
			found[i].at += start;
			if (found[i].kind != UNWIND_FOUND_OUTERMOST || h->runs)
				ret = vector_push(&h->found, found[i]);
		}
		h->left -= size < h->left ? size : h->left;
		/* Blocks overlap, so that a pattern across the end of one is whole in the next. */
		start += size < end - start ? size - UNWIND_CODE_PATTERN_MAX : size;
	}
	return ret;
}

static int add_found_code(struct unwind_rows *rows, const struct unwind_machine *m,
			  const struct unwind_found *f)
{
	struct unwind_rule leaf = leaf_rule(m, UNWIND_CFA), clone = leaf_rule(m, UNWIND_CLONE);
	struct unwind_rule restorer = signal_rule(m);
	int ret;

	if (f->kind == UNWIND_FOUND_OUTERMOST)
		return add_start_rule(rows, f->at, f->at + f->end, &rule_end);
	if (f->kind == UNWIND_FOUND_RESTORER)
		return add_start_rule(rows, f->at - 1, f->at + f->child, &restorer);
	ret = add_start_rule(rows, f->at, f->at + f->call_end, &leaf);
	if (!ret)
		ret = add_start_rule(rows, f->at + f->call_end, f->at + f->child, &clone);
	if (!ret)
		ret = add_start_rule(rows, f->at + f->child, f->at + f->end, &rule_end);
	if (!ret)
		ret = add_start_rule(rows, f->at + f->end, f->at + f->end + f->tail, &leaf);
	return ret;
}

/* Return whether the file has an entry point that nothing describes, as files of musl have. */
static bool has_undescribed_entry(const struct unwind_rows *rows, const struct unwind_source *s)
{
	uint64_t entry, room;

	if (!find_entry_point(s, &entry, &room))
		return false;
	for (unsigned int layer = 0; layer < UNWIND_LAYERS; layer++)
		if (unwind_rows_find(rows, (enum unwind_layer)layer, entry))
			return false;
	return true;
}

/* Add functions without a description, which are recognized by their code. */
static int add_undescribed(struct unwind_rows *rows, const struct unwind_source *s)
{
	struct holes h = {
		.source = s, .runs = has_undescribed_entry(rows, s), .left = HOLES_SIZE_MAX};
	int ret = 0;

	for (size_t i = 0; !ret && i < s->segments.count && !s->parts.count; i++) {
		const struct unwind_segment *in = &s->segments.items[i];

		ret = unwind_rows_walk(rows, in->offset, in->offset + in->size, search_hole, &h);
	}
	for (size_t i = 0; !ret && i < s->parts.count; i++)
		ret = unwind_rows_walk(rows, s->parts.items[i].start, s->parts.items[i].end,
				       search_hole, &h);
	for (size_t i = 0; !ret && i < h.found.count; i++)
		ret = add_found_code(rows, unwind_source_machine(s), &h.found.items[i]);
	vector_free(&h.found);
	return ret;
}

int unwind_starts_add(struct unwind_rows *rows, const struct unwind_source *s)
{
	int ret;

	unwind_rows_sort(rows);
	ret = add_from_described(rows, s);
	if (!ret)
		ret = add_undescribed(rows, s);
	unwind_rows_sort(rows);
	return ret ? ret : add_entry_point(rows, s);
}
