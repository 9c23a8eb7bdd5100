// SPDX-License-Identifier: Apache-2.0
/*
 * Find the evaluation loop: _PyEval_EvalFrameDefault(), and the parts that the compiler split off
 * because they seldom run. Parts without a symbol are found by jumps from the loop: such a part is
 * code that call frame information describes as a function of its own, but whose unwind rule at the
 * target of the jump is the one that the loop has at the jump.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/python_file_private.h"
#include "symbolizers/unwind/cfi.h"

#define LOOP_MAX (4u << 20) /* bytes of one part of the loop */
#define JUMP_SIZE 6 /* bytes of the longest jump that jump_target() decodes */

static int add_loop(struct python_file *f, uint64_t start, uint64_t end)
{
	for (unsigned int i = 0; i < f->loops; i++) {
		if (f->loop[i].start <= start && end <= f->loop[i].end)
			return 0;
	}
	if (f->loops >= PYTHON_LOOPS_MAX)
		return -ENOENT;
	f->loop[f->loops].start = start;
	f->loop[f->loops].end = end;
	f->loops++;
	return 0;
}

/*
 * Add the file offsets of a range of code addresses to f->loop. Return 0, or -ENOENT if the range
 * is not in one segment, has more than LOOP_MAX bytes, or f->loop is full.
 */
static int add_loop_code(struct python_file *f, const struct unwind_source *s,
			 const struct python_extent *code)
{
	uint64_t offset, left;

	if (!unwind_source_offset(s, code->start, &offset, &left) ||
	    code->end - code->start > left || code->end - code->start > LOOP_MAX)
		return -ENOENT;
	if (!f->loops)
		f->code_delta = code->start - offset;
	return add_loop(f, offset, offset + (code->end - code->start));
}

/*
 * The state of the search for split-off parts by jumps from the main part of the loop, which is
 * size bytes at file offset start.
 */
struct jump_search {
	struct python_file *file;
	const struct unwind_source *source;
	struct unwind_rows rows;
	uint64_t start, size;
	uint8_t *code; /* those bytes */
};

/* Return the number of the unwind rule at a file offset, which must lie within e. */
static uint32_t rule_at(const struct unwind_rows *rows, const struct unwind_extent *e,
			uint64_t offset)
{
	uint64_t page = e->start & ~(uint64_t)(UNWIND_PAGE_SIZE - 1);
	uint32_t rule = UNWIND_RULE_GAP;

	for (uint32_t i = 0; i < e->count; i++) {
		uint32_t row = rows->rows.items[e->first + i];

		/* every further page of the function has a row at the first byte of the page */
		if (i && !UNWIND_ROW_LOW(row))
			page += UNWIND_PAGE_SIZE;
		if (page + UNWIND_ROW_LOW(row) > offset)
			break;
		rule = UNWIND_ROW_RULE(row);
	}
	return rule;
}

/*
 * Get the file offset of the target of an x86-64 jump (jcc rel32 or jmp rel32) at s->code + at.
 * Return false if there is no such jump, or its target is within s->code.
 */
static bool jump_target(const struct jump_search *s, uint64_t at, uint64_t *out)
{
	const uint8_t *p = s->code + at;
	size_t size = p[0] == 0x0f && (p[1] & 0xf0) == 0x80 ? 6 : p[0] == 0xe9 ? 5 : 0;
	int32_t distance;

	if (!size)
		return false;
	memcpy(&distance, p + size - sizeof(distance), sizeof(distance));
	*out = s->start + at + size + (uint64_t)(int64_t)distance;
	return *out < s->start || *out >= s->start + s->size;
}

/*
 * Add the code at the target of a jump to the loop if the target has the same unwind rule as the
 * jump, and is not in a function of its own. Bytes that only look like a jump have a target with
 * another rule, or with none. Return 0, or -ENOENT if there are too many parts.
 */
static int follow_jump(struct jump_search *s, uint64_t from, uint64_t target)
{
	const struct unwind_extent *there, *here;
	uint32_t rule;

	there = unwind_rows_find(&s->rows, UNWIND_LAYER_FRAMES, target);
	here = unwind_rows_find(&s->rows, UNWIND_LAYER_FRAMES, from);
	if (!there || !here || there->start == here->start)
		return 0;
	rule = rule_at(&s->rows, here, from);
	if (rule == UNWIND_RULE_GAP || rule == UNWIND_RULE_BAD ||
	    rule_at(&s->rows, there, target) != rule ||
	    /* at its first byte a function has no frame yet, a split-off part has one */
	    rule == rule_at(&s->rows, here, here->start) ||
	    rule_at(&s->rows, there, there->start) == rule_at(&s->rows, here, here->start))
		return 0;
	return add_loop(s->file, there->start, there->end);
}

static int follow_jumps(struct jump_search *s)
{
	uint64_t target;
	int ret = 0;

	s->code = malloc(s->size);
	if (!s->code)
		return -ENOMEM;
	ret = elf_image_read(s->source->image, s->start, s->code, s->size);
	for (uint64_t at = 0; !ret && at + JUMP_SIZE <= s->size; at++) {
		if (jump_target(s, at, &target))
			ret = follow_jump(s, s->start + at, target);
	}
	free(s->code);
	return ret;
}

/*
 * Find parts without a symbol, and the size of a loop whose symbol has no size. On arm64, parts
 * without a symbol are not searched for: in stripped files only the main part of the loop is found.
 */
static int search_frames(struct python_file *f, const struct unwind_source *source,
			 const struct python_extent *loop)
{
	struct jump_search s = {.file = f, .source = source};
	const struct unwind_extent *e;
	uint64_t offset;
	int ret = unwind_rows_init(&s.rows);

	if (!ret)
		ret = unwind_cfi_read(&s.rows, source);
	if (!ret) {
		unwind_rows_sort(&s.rows);
		ret = unwind_source_offset(source, loop->start, &offset, NULL) ? 0 : -ENOENT;
	}
	e = ret ? NULL : unwind_rows_find(&s.rows, UNWIND_LAYER_FRAMES, offset);
	if (!ret && loop->start == loop->end)
		ret = e ? add_loop_code(f, source,
					&(struct python_extent){loop->start,
								loop->start + (e->end - offset)})
			: -ENOENT;
	if (!ret && e && source->image->header.e_machine == EM_X86_64) {
		s.start = f->loop[0].start;
		s.size = f->loop[0].end - f->loop[0].start;
		ret = follow_jumps(&s);
	}
	unwind_rows_free(&s.rows);
	return ret;
}

/*
 * Return whether the code has a jump to a computed address: jmp *%reg, or jmp *table(,%reg,8). The
 * prefix that r8 to r15 need precedes the bytes compared here.
 */
static bool has_jump_x86_64(const uint8_t *code, uint64_t size)
{
	for (uint64_t i = 0; i + 2 < size; i++) {
		if (code[i] == 0xff && ((code[i + 1] & 0xf8) == 0xe0 ||
					(code[i + 1] == 0x24 && code[i + 2] >> 6 == 3)))
			return true;
	}
	return false;
}

/* Return whether the code has a jump to a computed address: br xN. */
static bool has_jump_arm64(const uint8_t *code, uint64_t size)
{
	uint32_t word;

	for (uint64_t i = 0; i + sizeof(word) <= size; i += sizeof(word)) {
		memcpy(&word, code + i, sizeof(word));
		if ((word & 0xfffffc1f) == 0xd61f0000)
			return true;
	}
	return false;
}

/*
 * Check that the loop contains a jump to a computed address, by which interpreters reach the code
 * of the next bytecode instruction. Return 0, or -ENOENT if there is no such jump: then the code
 * found is not the loop, or not all of it. Sizes cannot decide this: in Debian's 3.14 the part with
 * the symbol has 1,184 bytes, and the part split off 84,423. Builds whose loop is many functions
 * that end with calls of each other (--with-tail-call-interp) are rejected, too.
 */
static int find_dispatch(const struct python_file *f, const struct elf_image *image)
{
	bool found = false;
	int ret = 0;

	for (unsigned int i = 0; !ret && !found && i < f->loops; i++) {
		uint64_t size = f->loop[i].end - f->loop[i].start;
		uint8_t *code = size <= LOOP_MAX ? malloc(size) : NULL;

		if (size > LOOP_MAX)
			return -ENOENT;
		ret = code ? elf_image_read(image, f->loop[i].start, code, size) : -ENOMEM;
		if (!ret)
			found = image->header.e_machine == EM_X86_64 ? has_jump_x86_64(code, size)
								     : has_jump_arm64(code, size);
		free(code);
	}
	return ret ? ret : found ? 0 : -ENOENT;
}

static int find_loops(struct python_file *f, const struct unwind_source *source,
		      const struct python_symbols *symbols)
{
	const struct python_extent *loop = &symbols->at[PYTHON_NAME_LOOP];
	int ret = symbols->parts_count > PYTHON_LOOPS_MAX ? -ENOENT : 0;

	if (!ret && loop->start < loop->end)
		ret = add_loop_code(f, source, loop);
	for (uint32_t i = 0; !ret && i < symbols->parts_count; i++)
		ret = add_loop_code(f, source, &symbols->parts[i]);
	/*
	 * A file has the whole .symtab or none: if one part has a symbol, all parts have one.
	 */
	if (!ret && !symbols->parts_count)
		ret = search_frames(f, source, loop);
	return ret ? ret : find_dispatch(f, source->image);
}

int python_loops_find(struct python_file *out, struct elf_image *image,
		      const struct python_symbols *symbols)
{
	struct python_file f = *out;
	struct unwind_source source;
	int ret = unwind_source_open(&source, image);

	if (!ret)
		ret = find_loops(&f, &source, symbols);
	unwind_source_free(&source);
	if (!ret)
		*out = f;
	return ret;
}
