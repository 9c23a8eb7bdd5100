/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The walker of native stacks; one step leaves one frame. The same code runs in the BPF programs at
 * sampling time, in user space for stacks that could not be finished there, and in tests on
 * captured stacks. The file that includes this one must define these primitives before:
 *
 *   int walk_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
 *                                   read the thread's memory; 0 on success
 *   int walk_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most, __u64 address)
 *                                   the same for a number of bytes that is not constant, but at
 *                                   most a constant
 *   const struct arena_chunk *walk_chunk(const struct native_walk *w, __u32 number)
 *   struct unwind_slot *walk_slot(const struct native_walk *w, __u32 number)
 *   const struct unwind_rule *walk_rule(const struct native_walk *w, __u32 number)
 *                                   each returns NULL if there is none
 *   __u64 walk_now(void)
 *                                   return CLOCK_BOOTTIME, ns
 *   int walk_cache_lookup(const struct native_walk *w, __u64 pc, __u32 *rule)
 *                                   find pc in the pc -> rule cache; 0 if *rule is set
 *   void walk_cache_store(const struct native_walk *w, __u64 pc, __u32 rule)
 *                                   put a rule into the cache, if there is one
 *
 * It may define WALK_WINDOW_READ, the most bytes of a window that it can read at once, and then
 * also WALK_WINDOW_FUNCTION, how the function that reads windows is declared.
 */
#ifndef SKEIN_BPF_UNWIND_WALK_H
#define SKEIN_BPF_UNWIND_WALK_H

#include "bpf/unwind/arch.h"
#include "bpf/unwind/state.h"
#include "bpf/unwind/world.h"

/*
 * Sizes of the first step of the binary searches: there are at most 2^14 mappings, and 2^16 rows in
 * a page.
 */
#define MAPPING_STEP (1U << 14)
#define ROW_STEP (1U << 16)

/*
 * Return all ones if a is less than b, else 0; both are less than 2^63. The binary searches use
 * this instead of branches, because the verifier would follow both sides of each branch.
 */
static __always_inline __u32 mask_if_less(__u64 a, __u64 b)
{
	__u64 difference = a - b, mask;

	keep_in_register(difference);
	mask = (__s64)difference >> 63;
	keep_in_register(mask);
	return (__u32)mask;
}

static __always_inline const struct unwind_mapping *mapping_at(const struct arena_chunk *chunk,
							       __u32 place)
{
	/* User space has aligned the place; the mask shows this to the verifier. */
	__u32 at = place & (ARENA_CHUNK_WORDS - 1) & ~(UNWIND_MAPPING_WORDS - 1);

	return (const struct unwind_mapping *)&chunk->words[at];
}

/* Return the last mapping that begins at or before pc, if it contains pc; else NULL. */
static __always_inline const struct unwind_mapping *walk_find_mapping(const struct native_walk *w,
								      __u64 pc)
{
	const struct arena_chunk *chunk = walk_chunk(w, w->mappings >> ARENA_CHUNK_SHIFT);
	const struct unwind_mapping *m;
	__u32 before = 0; /* number of mappings that begin at or before pc */

	if (!chunk)
		return NULL;
	for (__u32 step = MAPPING_STEP; step; step /= 2) {
		__u32 last = before + step - 1, inside = mask_if_less(last, w->mapping_count);

		m = mapping_at(chunk, w->mappings + (last & inside) * UNWIND_MAPPING_WORDS);
		before += step & inside & mask_if_less(m->start, pc + 1);
	}
	if (!before)
		return NULL;
	m = mapping_at(chunk, w->mappings + (before - 1) * UNWIND_MAPPING_WORDS);
	return pc >= m->start && pc < m->end ? m : NULL;
}

static __always_inline __u32 row_at(const struct arena_chunk *chunk, __u32 place)
{
	return chunk->words[place & (ARENA_CHUNK_WORDS - 1)];
}

/*
 * Return the number of the rule at an offset in a page: that of the last row that begins at or
 * before the offset; UNWIND_RULE_GAP if there is none.
 */
static __always_inline __u32 walk_find_in_page(const struct native_walk *w, __u32 first,
					       __u32 count, __u32 offset)
{
	const struct arena_chunk *chunk = walk_chunk(w, first >> ARENA_CHUNK_SHIFT);
	__u32 before = 0;

	if (!chunk)
		return UNWIND_RULE_GAP;
	for (__u32 step = ROW_STEP; step; step /= 2) {
		__u32 last = before + step - 1, inside = mask_if_less(last, count);
		__u32 row = row_at(chunk, first + (last & inside));

		before += step & inside & mask_if_less(UNWIND_ROW_LOW(row), offset + 1);
	}
	return before ? UNWIND_ROW_RULE(row_at(chunk, first + before - 1)) : UNWIND_RULE_GAP;
}

typedef __u64 __attribute__((may_alias)) page_word;

/*
 * Return the page that contains an offset in the file, as a word (UNWIND_PAGE_WORD); outside of the
 * table 0, which is a page without rows.
 */
static __always_inline __u64 walk_find_page(const struct native_walk *w,
					    const struct unwind_slot *slot, __u64 offset)
{
	__u64 number = (offset >> UNWIND_PAGE_SHIFT) - slot->first_page;
	const struct arena_chunk *chunk = walk_chunk(w, slot->pages >> ARENA_CHUNK_SHIFT);
	__u32 place;

	if (!chunk || number >= slot->page_count)
		return 0;
	place = (slot->pages + (__u32)number * 2) & (ARENA_CHUNK_WORDS - 1) & ~1U;
	return *(const volatile page_word *)&chunk->words[place];
}

/*
 * Find the rule at an offset in the file. Return 0, or WALK_PENDING if the page is not made yet:
 * user space then continues the walk once the page is made.
 */
static __always_inline int walk_find_in_table(const struct native_walk *w,
					      const struct unwind_slot *slot, __u64 offset,
					      __u32 *rule)
{
	__u64 page = walk_find_page(w, slot, offset);
	__u32 count = page >> 32;

	if (count == UNWIND_PAGE_UNMADE)
		return WALK_PENDING;
	*rule = walk_find_in_page(w, (__u32)page, count, offset & (UNWIND_PAGE_SIZE - 1));
	return 0;
}

/*
 * Find the rule of the code at pc. Return 0, WALK_UNMAPPED or WALK_PENDING. Rules that may change
 * without a new version of the address space are not put into the cache.
 */
static __always_inline int walk_find_rule(const struct native_walk *w, __u64 pc, __u32 *rule)
{
	const struct unwind_mapping *m = walk_find_mapping(w, pc);
	struct unwind_slot *slot = m ? walk_slot(w, m->table) : NULL;

	if (!slot)
		return WALK_UNMAPPED;
	switch (slot->state) {
	case UNWIND_TABLE_PENDING:
		slot->used = walk_now();
		return WALK_PENDING;
	case UNWIND_TABLE_READY:
		slot->used = walk_now();
		if (walk_find_in_table(w, slot, pc - m->start + m->offset, rule))
			return WALK_PENDING;
		break;
	case UNWIND_TABLE_GENERATED:
		*rule = UNWIND_RULE_GENERATED;
		break;
	case UNWIND_TABLE_EVICTED:
		slot->used = walk_now();
		*rule = UNWIND_RULE_EVICTED;
		return 0;
	default:
		*rule = UNWIND_RULE_NO_TABLE;
		return 0;
	}
	walk_cache_store(w, pc, *rule);
	return 0;
}

#ifndef WALK_WINDOW_READ
#define WALK_WINDOW_READ WALK_WINDOW_BYTES
#define WALK_WINDOW_FUNCTION WALK_FUNCTION
#endif
#define WALK_PAGE 4096 /* the memory behind a page may not be there: stacks end with a page */

/* Let the window begin at an aligned address. Return 0 on success. */
WALK_WINDOW_FUNCTION int walk_move_window(struct native_walk *w, __u64 address)
{
	__u32 bytes = WALK_PAGE - (address & (WALK_PAGE - 1));

	if (!w)
		return -1;
	w->window.at = address;
	w->window.bytes = WALK_WINDOW_READ;
	if (!walk_read(w, w->window.words, WALK_WINDOW_READ, address))
		return 0;
	keep_in_register(bytes);
	if (bytes < WALK_WINDOW_READ) {
		w->window.bytes = bytes;
		if (!walk_read_part(w, w->window.words, bytes, WALK_WINDOW_READ, address))
			return 0;
	}
	w->window.at = WALK_NO_WINDOW;
	return -1;
}

/*
 * Read one word of the stack through the window, a copy of the memory around it: frames are small
 * and adjacent, and every read of user memory costs more than all other work of a frame, however
 * little it reads. Return 0 on success.
 */
static __always_inline int walk_read_word(struct native_walk *w, __u64 address, __u64 *out)
{
	__u64 offset = address - w->window.at, index;

	/* a misaligned address is forged, or not on a stack; windows hold aligned words only */
	if (address & 7)
		return walk_read(w, out, sizeof(*out), address);
	if (offset >= w->window.bytes || (offset & 7)) {
		if (walk_move_window(w, address))
			return walk_read(w, out, sizeof(*out), address);
		offset = 0;
	}
	index = offset >> 3;
	keep_in_register(index);
	*out = w->window.words[index & (WALK_WINDOW_WORDS - 1)];
	return 0;
}

static __always_inline int walk_read_register(const struct native_walk *w, __u8 number, __u64 *out)
{
	if (number == UNWIND_REG_SP)
		*out = w->sp;
	else if (number == UNWIND_REG_FP)
		*out = w->fp;
	else if (number == UNWIND_REG_BASE)
		*out = w->base;
	else if (w->known)
		*out = w->registers[number & (UNWIND_REGISTERS - 1)];
	else
		return -1;
	return 0;
}

static __always_inline int native_walk_end(struct native_walk *w, enum walk_end end)
{
	w->end = end;
	return WALK_FINISHED;
}

/* Return the reason why a walk ends in code that has neither a rule nor a frame pointer. */
static __always_inline enum walk_end end_without_rule(__u32 rule)
{
	if (rule == UNWIND_RULE_GENERATED)
		return WALK_END_GENERATED;
	return rule == UNWIND_RULE_EVICTED ? WALK_END_EVICTED : WALK_END_NO_TABLE;
}

/* Leave a frame by its frame pointer, which may lead to another stack. Return 0 on success. */
static __always_inline int follow_frame_pointer(struct native_walk *w)
{
	__u64 fp = w->fp, next, pc;

	if ((fp & 7) || walk_read_word(w, fp, &next) || walk_read_word(w, fp + 8, &pc))
		return -1;
	w->sp = fp + 16;
	w->fp = next;
	w->pc = pc & WALK_PC_MASK;
	w->known = 0;
	return 0;
}

/*
 * Leave a frame of code without a rule by the frame pointer, if the register's value can be one. By
 * the ABI, the frame pointer is 0 in the outermost frame; user space decides later, by the address,
 * whether a thread really begins there.
 */
static __always_inline int leave_by_frame_pointer(struct native_walk *w, __u32 rule)
{
	if (!w->fp)
		return native_walk_end(w, WALK_END_WALKED);
	if (w->fp < w->sp || w->fp - w->sp > WALK_FRAME_MAX || follow_frame_pointer(w))
		return native_walk_end(w, end_without_rule(rule));
	return WALK_CALLER;
}

static __always_inline int compute_indirect_cfa(struct native_walk *w, const struct unwind_rule *r,
						__u64 *cfa)
{
	__u64 base, index = 0, value;

	if (walk_read_register(w, r->reg, &base))
		return native_walk_end(w, WALK_END_BAD_ROW);
	if (r->kind == UNWIND_INDEXED && walk_read_register(w, r->index, &index))
		return native_walk_end(w, WALK_END_BAD_ROW);
	if (walk_read_word(w, base + 8 * index + (__s64)r->cfa_offset, &value))
		return native_walk_end(w, WALK_END_UNREADABLE);
	*cfa = value + (__s64)r->second;
	return WALK_CALLER;
}

static __always_inline int compute_cfa(struct native_walk *w, const struct unwind_rule *r,
				       __u64 *cfa)
{
	__u64 base;

	switch (r->kind) {
	case UNWIND_CFA:
		if (walk_read_register(w, r->reg, &base))
			return native_walk_end(w, WALK_END_BAD_ROW);
		*cfa = base + (__s64)r->cfa_offset;
		return WALK_CALLER;
	case UNWIND_DEREF:
	case UNWIND_INDEXED:
		return compute_indirect_cfa(w, r, cfa);
	case UNWIND_PLT:
		*cfa = w->sp + (__s64)r->cfa_offset + ((w->pc & 15) >= (__u32)r->second ? 8 : 0);
		return WALK_CALLER;
	case UNWIND_CLONE:
		*cfa = w->sp + (__s64)r->cfa_offset;
		return WALK_CALLER;
	default:
		return native_walk_end(w, WALK_END_BAD_ROW);
	}
}

static __always_inline int find_return_address(struct native_walk *w, const struct unwind_rule *r,
					       __u64 cfa, __u64 *pc)
{
	__s64 offset = r->kind == UNWIND_CFA ? r->second : -8;

	if (UNWIND_SAVED_RA(r->saved) == UNWIND_RA_IN_REGISTER)
		return walk_read_register(w, r->index, pc) ? native_walk_end(w, WALK_END_BAD_ROW)
							   : WALK_CALLER;
	return walk_read_word(w, cfa + offset, pc) ? native_walk_end(w, WALK_END_UNREADABLE)
						   : WALK_CALLER;
}

static __always_inline int restore_frame_pointer(struct native_walk *w, const struct unwind_rule *r,
						 __u64 cfa)
{
	__u64 place = cfa;

	switch (UNWIND_SAVED_FP(r->saved)) {
	case UNWIND_FP_SAME:
		return WALK_CALLER;
	case UNWIND_FP_AT_CFA:
		break;
	case UNWIND_FP_AT_FP:
		place = w->fp;
		break;
	default:
		w->fp = 0;
		return WALK_CALLER;
	}
	if (walk_read_word(w, place + (__s64)r->fp_offset, &w->fp))
		return native_walk_end(w, WALK_END_UNREADABLE);
	return WALK_CALLER;
}

/*
 * Find the caller's base register. If the register is lost, w->base becomes 0: a CFA computed from
 * 0 lies below the stack pointer and ends the walk.
 */
static __always_inline int restore_base_register(struct native_walk *w, const struct unwind_rule *r,
						 __u64 cfa)
{
	if (r->base_offset == UNWIND_BASE_SAME)
		return WALK_CALLER;
	if (r->base_offset == UNWIND_BASE_LOST)
		w->base = 0;
	else if (walk_read_word(w, cfa + (__s64)r->base_offset, &w->base))
		return native_walk_end(w, WALK_END_UNREADABLE);
	return WALK_CALLER;
}

/*
 * Return whether a frame holds only its return address. Such a frame has saved no register, so all
 * registers still have the caller's values. libcrypto's AES-GCM finds its frame by rax, which its
 * helpers do not change.
 */
static __always_inline int is_bare_frame(const struct unwind_rule *r)
{
	return r->kind == UNWIND_CFA && r->reg == UNWIND_REG_SP && r->cfa_offset == 8;
}

/* Leave a frame by its CFA, from which the caller's registers are found. */
static __always_inline int leave_by_cfa(struct native_walk *w, const struct unwind_rule *r)
{
	__u64 cfa = 0, pc = 0;
	int ret = compute_cfa(w, r, &cfa);

	/*
	 * Stacks grow down: a caller's frame lies above, and a walk that does not move up might
	 * never end. Only a frame whose registers are all known may be empty (arm64).
	 */
	if (ret == WALK_CALLER && (cfa < w->sp || (cfa == w->sp && !w->known)))
		return native_walk_end(w, WALK_END_BAD_ROW);
	/*
	 * Read the saved registers first: they lie below the return address, so the part of the
	 * stack that walk_read_word() then caches also holds the return address.
	 */
	if (ret == WALK_CALLER)
		ret = restore_base_register(w, r, cfa);
	if (ret == WALK_CALLER)
		ret = restore_frame_pointer(w, r, cfa);
	if (ret == WALK_CALLER)
		ret = find_return_address(w, r, cfa, &pc);
	if (ret != WALK_CALLER)
		return ret;
	w->pc = pc & WALK_PC_MASK;
	w->sp = cfa;
	if (!is_bare_frame(r))
		w->known = 0;
	return WALK_CALLER;
}

/*
 * Leave a frame by a rule. exact: pc was interrupted, and is not a return address. Return WALK_JAVA
 * with w unchanged if the code may be that of a JVM.
 */
static __always_inline int leave_by_rule(struct native_walk *w, __u32 number, int exact)
{
	const struct unwind_rule *r = walk_rule(w, number);

	if (!r || r->kind == UNWIND_BAD)
		return native_walk_end(w, WALK_END_BAD_ROW);
	switch (r->kind) {
	case UNWIND_END:
		return native_walk_end(w, WALK_END_WALKED);
	case UNWIND_GAP:
		if (number == UNWIND_RULE_GENERATED && w->hotspot)
			return WALK_JAVA;
		return leave_by_frame_pointer(w, number);
	case UNWIND_FRAME:
		/* the frame pointer may point down, since Go's runtime switches stacks */
		return follow_frame_pointer(w) ? native_walk_end(w, WALK_END_UNREADABLE)
					       : WALK_CALLER;
	case UNWIND_SIGNAL:
		return leave_signal_frame(w, w->sp + (__s64)r->cfa_offset);
	case UNWIND_CLONE:
		if (!exact || w->registers[UNWIND_REG_RESULT] == 0)
			return native_walk_end(w, WALK_END_WALKED);
	}
	return leave_by_cfa(w, r);
}

/*
 * Leave the frame at w->pc. Return WALK_CALLER, WALK_FINISHED (w->end has the reason), or another
 * enum walk_status with w unchanged, so that another build of the walker can continue.
 */
static __always_inline int native_walk_step(struct native_walk *w)
{
	int exact = w->exact, ret;
	__u64 pc = w->pc - !exact;
	__u32 rule = 0;

	if (w->skip_cache || walk_cache_lookup(w, pc, &rule)) {
		ret = walk_find_rule(w, pc, &rule);
		if (ret)
			return ret;
	}
	w->exact = 0;
	ret = leave_by_rule(w, rule, exact);
	if (ret != WALK_CALLER) {
		if (ret == WALK_JAVA)
			w->exact = exact;
		return ret;
	}
	if (w->exact) /* after a signal frame, all registers are known */
		w->known = 1;
	return w->pc ? WALK_CALLER : native_walk_end(w, WALK_END_WALKED);
}

#endif
