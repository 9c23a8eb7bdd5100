/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The walker of Java frames: leaves one frame of the code cache of a JVM (HotSpot). Java and native
 * frames interleave, so this is a part of a step of the native walk. It reads the JVM's own
 * structures, and trusts none of them: what does not fit ends the walk with a reason. It never
 * follows a frame pointer through compiled code, where rbp is a register like any other, and never
 * searches the stack for what looks like a return address. x86-64 only.
 */
#ifndef SKEIN_BPF_UNWIND_HOTSPOT_H
#define SKEIN_BPF_UNWIND_HOTSPOT_H

#include "bpf/event.h"
#include "bpf/unwind/hotspot_blob.h"
#include "bpf/unwind/hotspot_code.h"

/*
 * DWARF number of the register in which the interpreter has the address of the bytecode and, at
 * the entry of a method, the caller's sp.
 */
#define HOTSPOT_REG_BCP 13 /* r13 */
#define HOTSPOT_REG_RETURN 0 /* rax: has the return address while arguments below it change */
/* Cookie of the stub of nmethods' entry barriers, between the saved rbp and the return address. */
#define HOTSPOT_BARRIER_COOKIE (~0ULL)

#define HOTSPOT_LEFT_STUB 1ULL /* in native_walk.java_left: sp is aligned */

static __always_inline int hotspot_put_words(struct native_walk *w, __u64 tag, __u64 address,
					     __u64 place)
{
	w->java.words[0] = tag << WIRE_TAG_SHIFT | (address & ((1ULL << WIRE_TAG_SHIFT) - 1));
	w->java.words[1] = place;
	w->java.found = 1;
	return WALK_CALLER;
}

/* Go on in the caller. There is one: no thread begins in code of the JVM. */
static __always_inline int hotspot_enter_caller(struct native_walk *w, __u64 pc, __u64 sp)
{
	/* equal: an entry of the interpreter that has just popped the return address */
	if (sp < w->sp || sp - w->sp > WALK_FRAME_MAX || (sp & 7))
		return native_walk_end(w, WALK_END_JAVA);
	w->pc = pc;
	w->sp = sp;
	w->base = 0; /* Java code does not save it */
	w->known = 0;
	return pc ? WALK_CALLER : native_walk_end(w, WALK_END_JAVA);
}

/* Leave a frame whose return address is the word below the caller's sp. fp_at: 0: fp is kept. */
static __always_inline int hotspot_leave_sized(struct native_walk *w, __u64 sp, __u64 fp_at)
{
	__u64 pc = 0;

	/* lower words first, so that one read has both */
	if ((fp_at && walk_read_word(w, fp_at, &w->fp)) || walk_read_word(w, sp - 8, &pc))
		return native_walk_end(w, WALK_END_UNREADABLE);
	return hotspot_enter_caller(w, pc, sp);
}

/* Leave a frame whose fp points to the saved fp, with the return address gap words above that. */
static __always_inline int hotspot_leave_by_fp(struct native_walk *w, __u32 gap)
{
	__u64 fp = w->fp;

	if ((fp & 7) || fp < w->sp || fp - w->sp > WALK_FRAME_MAX)
		return native_walk_end(w, WALK_END_JAVA);
	return hotspot_leave_sized(w, fp + 16 + 8 * gap, fp);
}

/*
 * If pc is one of the handlers to which a deoptimized frame returns, set *pc to the frame's own pc.
 * Return 0 unless that does not lie in the method's code.
 */
static __always_inline int hotspot_undo_deopt(struct native_walk *w, const struct hotspot_layout *l,
					      const struct hotspot_blob *b, __u64 *pc)
{
	__s32 offset = hotspot_int(w, l->block_bytes + l->nmethod_original_pc);

	if (*pc != hotspot_place(w, l, b->address, l->nmethod_deopt) &&
	    (l->nmethod_deopt_mh == HOTSPOT_ABSENT ||
	     *pc != hotspot_place(w, l, b->address, l->nmethod_deopt_mh)))
		return 0;
	if (offset < 0 || offset >= 8 * b->frame_size ||
	    walk_read_word(w, w->sp + (__u64)offset, pc))
		return -1;
	return *pc > b->code && *pc < b->end ? 0 : -1;
}

static __always_inline __s32 hotspot_frame_complete(const struct native_walk *w,
						    const struct hotspot_layout *l)
{
	__u32 offset = l->block_bytes + l->blob_frame_complete;

	return l->frame_complete_bytes == 2 ? hotspot_short(w, offset) : hotspot_int(w, offset);
}

/*
 * Return how much of its frame the method w->java.blob has, in which the thread was interrupted, as
 * an enum hotspot_progress. w->java.code: the code around pc; complete: address of the end of the
 * prologue.
 */
HOTSPOT_FUNCTION int hotspot_find_progress(struct native_walk *w, __u64 complete)
{
	const struct hotspot_blob *b;
	__u32 size;

	if (!w)
		return HOTSPOT_IN_DOUBT;
	b = &w->java.blob;
	size = 8 * (__u32)b->frame_size;
	if (w->pc < complete && complete <= b->end)
		return hotspot_in_prologue(w->java.code, complete - w->pc, size);
	return hotspot_in_body(w->java.code, size);
}

static __always_inline int hotspot_read_code(struct native_walk *w)
{
	return hotspot_read(w, w->java.code, sizeof(w->java.code), w->pc - HOTSPOT_CODE_BEFORE);
}

/* The same for a caller of a stub, to which C1 passes parameters by push. */
HOTSPOT_FUNCTION int hotspot_find_pushed(struct native_walk *w)
{
	if (!w || hotspot_read_code(w))
		return HOTSPOT_IN_DOUBT;
	return HOTSPOT_MOVED + hotspot_count_pops(w->java.code, 0);
}

static __always_inline __u64 hotspot_register(const struct native_walk *w, __u8 number)
{
	__u64 value = 0;

	return number == HOTSPOT_NO_REGISTER || walk_read_register(w, number, &value) ? 0 : value;
}

/* Find the row for pc in the blob w->java.blob. It is then w->java.row. Return 0 if it is known. */
HOTSPOT_FUNCTION int hotspot_find_code_row(struct native_walk *w, __u64 pc)
{
	const struct hotspot_code_rows *c = w ? hotspot_find_code_rows(w) : NULL;
	__u64 offset;
	__u32 before = 0;

	if (!w || !c)
		return -1;
	offset = pc - w->java.blob.code;
	if (offset >= c->end)
		return -1;
	for (__u32 step = HOTSPOT_CODE_ROWS_MAX; step; step /= 2) {
		__u32 last = before + step - 1, inside = mask_if_less(last, c->count);
		const struct hotspot_code_row *r =
			&c->rows[last & inside & (HOTSPOT_CODE_ROWS_MAX - 1)];

		before += step & inside & mask_if_less(r->offset, offset + 1);
	}
	if (!before)
		return -1;
	w->java.row = c->rows[(before - 1) & (HOTSPOT_CODE_ROWS_MAX - 1)];
	return w->java.row.return_word || w->java.row.return_register != HOTSPOT_NO_REGISTER ? 0
											     : -1;
}

/* Get the caller's sp by a row that has no depth. Return 0 on success. */
static __always_inline int hotspot_find_kept_sp(struct native_walk *w,
						const struct hotspot_code_row *r, __u64 *sp)
{
	if (!r->held)
		*sp = hotspot_register(w, r->sender_register);
	else if (walk_read_word(w, w->sp + 8 * (__s64)(r->held - 1), sp))
		return -1;
	*sp += 8 * (__s64)r->sender_words;
	return 0;
}

/* Leave the frame of code that was interrupted, by the row w->java.row. */
static __always_inline int hotspot_leave_by_code(struct native_walk *w)
{
	const struct hotspot_code_row *r = &w->java.row;
	__u64 sp = w->sp + 8 * (__s64)r->depth, pc = 0;

	if (r->depth == HOTSPOT_DEPTH_UNKNOWN && hotspot_find_kept_sp(w, r, &sp))
		return native_walk_end(w, WALK_END_UNREADABLE);
	if (!r->return_word)
		pc = hotspot_register(w, r->return_register);
	else if (walk_read_word(w, sp - 8 * (__s64)r->return_word, &pc))
		return native_walk_end(w, WALK_END_UNREADABLE);
	if (r->saved_fp && walk_read_word(w, sp - 8 * (__s64)r->saved_fp, &w->fp))
		return native_walk_end(w, WALK_END_UNREADABLE);
	return hotspot_enter_caller(w, pc, sp);
}

/*
 * The thread was interrupted in the method w->java.blob. Read the code there. If that is the stub
 * by which the method calls an interpreted one, go back to the call: the stub is no frame of its
 * own. Return 0 if the thread is in the method; 1 at its call; -1 if that is not known.
 */
HOTSPOT_FUNCTION int hotspot_leave_call_stub(struct native_walk *w)
{
	const struct hotspot_blob *b;
	__u64 pc = 0;

	if (!w)
		return -1;
	b = &w->java.blob;
	if (hotspot_read_code(w))
		return -1;
	if (!hotspot_in_call_stub(w->java.code, w->pc, b->code, b->end))
		return 0;
	if (walk_read_word(w, w->sp, &pc) || pc <= b->code || pc >= b->end)
		return -1;
	w->pc = pc;
	w->sp += 8;
	return 1;
}

static __always_inline int hotspot_leave_method(struct native_walk *w,
						const struct hotspot_layout *l,
						const struct hotspot_blob *b, int exact)
{
	int progress = HOTSPOT_WHOLE, called = exact ? hotspot_leave_call_stub(w) : 0;
	__u64 pc = w->pc, size = 8 * (__u64)b->frame_size;

	if (called < 0 || b->frame_size < 0 || b->frame_size > HOTSPOT_FRAME_WORDS_MAX)
		return native_walk_end(w, WALK_END_JAVA);
	if (called)
		exact = 0;
	if (!exact && hotspot_undo_deopt(w, l, b, &pc))
		return native_walk_end(w, WALK_END_JAVA);
	hotspot_put_words(w, WIRE_TAG_JAVA_COMPILED, b->address,
			  HOTSPOT_COMPILED_PLACE(b->id, pc - b->code));
	if (!exact && pc == w->pc && b->frame_size >= 2)
		hotspot_cache_blob(w, pc - 1, b, HOTSPOT_CACHED_FRAME(b->frame_size, pc - b->code));
	/* stubs, and native code behind barriers, are called where sp has moved, too */
	if ((exact || w->java_left != w->sp) && pc == w->pc &&
	    !hotspot_find_code_row(w, pc - !exact))
		return hotspot_leave_by_code(w);
	if (b->frame_size < 2) /* a method handle's linker has no frame */
		return hotspot_leave_sized(w, w->sp + 8, 0);
	if (exact)
		progress = hotspot_find_progress(w, b->code + (__s64)hotspot_frame_complete(w, l));
	else if (w->java_left == (w->sp | HOTSPOT_LEFT_STUB) && b->frame_size > 2)
		progress = hotspot_find_pushed(w);
	if (progress >= HOTSPOT_MOVED) {
		w->sp += 8 * (__u64)(progress - HOTSPOT_MOVED);
		progress = HOTSPOT_WHOLE;
	}
	switch (progress) {
	case HOTSPOT_WHOLE:
		return hotspot_leave_sized(w, w->sp + size, w->sp + size - 16);
	case HOTSPOT_BARE_RETURN:
		return hotspot_leave_sized(w, w->sp + 8, 0);
	case HOTSPOT_PUSHED:
		return hotspot_leave_sized(w, w->sp + 16, w->sp);
	case HOTSPOT_UNSAVED:
		return hotspot_leave_sized(w, w->sp + size, 0);
	default:
		return native_walk_end(w, WALK_END_JAVA);
	}
}

/* The last row at or before an offset; NULL: there is none. */
static __always_inline const struct hotspot_row *hotspot_find_row(const struct hotspot_process *p,
								  __u32 offset)
{
	__u32 before = 0;

	for (__u32 step = HOTSPOT_ROWS_MAX / 2; step; step /= 2) {
		__u32 last = before + step - 1;
		__u32 inside = mask_if_less(last, p->row_count);
		const struct hotspot_row *r = &p->rows[last & inside & (HOTSPOT_ROWS_MAX - 1)];

		before += step & inside & mask_if_less(r->offset, (__u64)offset + 1);
	}
	return before ? &p->rows[(before - 1) & (HOTSPOT_ROWS_MAX - 1)] : NULL;
}

static __always_inline __u16 hotspot_const_short(const struct native_walk *w, __u32 offset)
{
	return w->java.method[offset / 8 & (HOTSPOT_METHOD_BYTES / 8 - 1)] >> (offset & 6) * 8;
}

/* The Method of an interpreter's frame. */
struct hotspot_method {
	__u64 address, bytecodes;
	__u32 id;
	__u16 code_size;
};

/* Read how many classes the JVM has unloaded, once in a walk. Return 0 if that is known. */
static __always_inline int hotspot_read_unloads(struct native_walk *w,
						const struct hotspot_process *p)
{
	if (w->unloads)
		return 0;
	if (!p->unloads || hotspot_read(w, w->java.words, sizeof(w->java.words[0]), p->unloads))
		return -1;
	w->unloads = (__u32)w->java.words[0] | 1U << 31;
	return 0;
}

/*
 * Take a method's id and size from the cache. Return 0 if they are there. Its memory may be another
 * method's by now: of another class only if classes were unloaded meanwhile, and that changes the
 * hash; of the same class, if that was redefined: the reader of names then finds no method of the
 * old id, until a walk with skip_cache replaces it.
 */
static __always_inline int hotspot_cached_method(struct native_walk *w, struct hotspot_method *m,
						 __u64 hash)
{
	const struct hotspot_cached *c = &w->java.cached;

	if (hotspot_cache_load(hash, &w->java.cached) || c->rest != m->bytecodes)
		return -1;
	m->id = c->id;
	m->code_size = c->place;
	return 0;
}

static __always_inline void hotspot_cache_method(struct native_walk *w,
						 const struct hotspot_method *m, __u64 hash)
{
	struct hotspot_cached *c = &w->java.cached;

	c->id = m->id;
	c->place = m->code_size;
	c->rest = m->bytecodes;
	c->checked = hotspot_stamp(w);
	hotspot_cache_store(hash, c);
}

static __always_inline __u64 hotspot_method_hash(const struct native_walk *w, __u64 address)
{
	return hotspot_cache_hash(w, hotspot_hash_word(w->unloads, address));
}

/* Read the symbols of a method whose name has that index. Return 0 on success. */
static __always_inline int hotspot_read_symbols(struct native_walk *w,
						const struct hotspot_layout *l, __u64 constants)
{
	struct hotspot_method_symbols *s = &w->java.symbols;
	__u64 slot = w->java.numbers.name;

	return hotspot_read(w, &w->java.class, sizeof(w->java.class), constants + l->pool_holder) ||
	       hotspot_read(w, &s->class_name, sizeof(s->class_name),
			    w->java.class + l->class_name) ||
	       hotspot_read(w, &s->references, sizeof(s->references),
			    s->class_name + l->symbol_references) ||
	       hotspot_read(w, &s->name, sizeof(s->name), constants + l->pool_bytes + 8 * slot);
}

/*
 * Read the ConstMethod at an address. The method's id and size are then w->java.method_id and
 * w->java.method_size. Return 0 if there seems to be one.
 */
HOTSPOT_FUNCTION int hotspot_identify_method(struct native_walk *w, __u64 address)
{
	const struct hotspot_process *p = w ? hotspot_find_process(w) : NULL;
	const struct hotspot_layout *l = p ? hotspot_find_layout(p) : NULL;
	struct hotspot_method_numbers *numbers;
	__u64 constants;
	__u32 bytes;

	if (!w || !l)
		return -1;
	bytes = l->const_bytes;
	keep_in_register(bytes);
	if (bytes > HOTSPOT_METHOD_BYTES ||
	    hotspot_read_part(w, w->java.method, bytes, HOTSPOT_METHOD_BYTES, address))
		return -1;
	constants = w->java.method[l->const_constants / 8 & (HOTSPOT_METHOD_BYTES / 8 - 1)];
	if (!constants || (constants & 7) || constants >> 47)
		return -1;
	numbers = &w->java.numbers;
	numbers->code_size = hotspot_const_short(w, l->const_code_size);
	numbers->name = hotspot_const_short(w, l->const_name);
	numbers->signature = hotspot_const_short(w, l->const_signature);
	numbers->number = hotspot_const_short(w, l->const_number);
	w->java.method_size = numbers->code_size;
	w->java.method_id =
		hotspot_method_id(address, constants, numbers,
				  hotspot_read_symbols(w, l, constants) ? NULL : &w->java.symbols);
	return 0;
}

/* Read the Method at m->address. Return 0 if there seems to be one. */
static __always_inline int
hotspot_read_method(struct native_walk *w, const struct hotspot_layout *l, struct hotspot_method *m)
{
	__u64 *const_method = w->java.words, address, hash;
	int kept = w->unloads != 0, found;

	if (!m->address || (m->address & 7) || m->address >> 47 ||
	    hotspot_read(w, const_method, sizeof(*const_method), m->address + l->method_const))
		return -1;
	address = *const_method;
	if (!address || (address & 7) || address >> 47)
		return -1;
	m->bytecodes = address + l->const_bytes;
	hash = hotspot_method_hash(w, m->address);
	found = kept && !hotspot_cached_method(w, m, hash);
	if (found && !w->skip_cache) {
		hotspot_cache_method(w, m, hash);
		return 0;
	}
	if (hotspot_identify_method(w, address))
		return -1;
	w->java.fresh = kept && !(found && m->id == w->java.method_id);
	m->code_size = w->java.method_size;
	m->id = w->java.method_id;
	if (kept)
		hotspot_cache_method(w, m, hash);
	return 0;
}

/* Return the bytecode index of an address; HOTSPOT_BCI_UNKNOWN if it is not of this method. */
static __always_inline __u32 hotspot_bci(const struct hotspot_method *m, __u64 bcp)
{
	__u64 bci = bcp - m->bytecodes;

	return bci < m->code_size ? (__u32)bci : HOTSPOT_BCI_UNKNOWN;
}

static __always_inline int hotspot_has_fp(__u8 state)
{
	return state == HOTSPOT_FRAME || state == HOTSPOT_RETURN_AT_FP;
}

/* Write the words of an interpreted method's frame. Return 0 on success. */
static __always_inline int hotspot_name_interpreted(struct native_walk *w,
						    const struct hotspot_layout *l,
						    const struct hotspot_row *r, int exact)
{
	struct hotspot_method m = {.address = hotspot_register(w, r->method_register)};
	__u64 bcp = 0;
	__u32 bci;

	if (hotspot_has_fp(r->state) && r->method_register == HOTSPOT_NO_REGISTER &&
	    (walk_read_word(w, w->fp + HOTSPOT_SLOT_BCP, &bcp) ||
	     walk_read_word(w, w->fp + HOTSPOT_SLOT_METHOD, &m.address)))
		return -1;
	if (hotspot_read_method(w, l, &m))
		return -1;
	bci = r->method_register == HOTSPOT_NO_REGISTER ? hotspot_bci(&m, bcp) : 0;
	if (exact && r->state == HOTSPOT_FRAME) {
		__u32 now = hotspot_bci(&m, hotspot_register(w, HOTSPOT_REG_BCP));

		bci = now == HOTSPOT_BCI_UNKNOWN ? bci : now;
	}
	hotspot_put_words(w, WIRE_TAG_JAVA_INTERPRETED, m.address,
			  HOTSPOT_INTERPRETED_PLACE(m.id, bci));
	return 0;
}

/* Leave a frame of the interpreter that a row describes. */
static __always_inline int hotspot_leave_by_row(struct native_walk *w, const struct hotspot_row *r)
{
	__u64 sender = hotspot_register(w, r->sender_register), fp = w->fp, return_at = w->sp,
	      pc = 0;

	switch (r->state) {
	case HOTSPOT_FRAME:
	case HOTSPOT_RETURN_AT_FP:
		if ((fp & 7) || fp < w->sp || fp - w->sp > WALK_FRAME_MAX)
			return native_walk_end(w, WALK_END_JAVA);
		if (!sender && walk_read_word(w, fp + HOTSPOT_SLOT_SENDER, &sender))
			return native_walk_end(w, WALK_END_UNREADABLE);
		if (walk_read_word(w, fp, &w->fp))
			return native_walk_end(w, WALK_END_UNREADABLE);
		return_at = fp + HOTSPOT_SLOT_RETURN;
		break;
	case HOTSPOT_RETURN_ABOVE_FP:
		if (walk_read_word(w, w->sp, &w->fp))
			return native_walk_end(w, WALK_END_UNREADABLE);
		return_at = w->sp + 8;
		break;
	case HOTSPOT_RETURN_IN_REGISTER:
		pc = hotspot_register(w, r->return_register);
		return hotspot_enter_caller(w, pc, sender ? sender : w->sp);
	case HOTSPOT_RETURN_AT_SP:
		break;
	default:
		return native_walk_end(w, WALK_END_JAVA);
	}
	if (walk_read_word(w, return_at, &pc))
		return native_walk_end(w, WALK_END_UNREADABLE);
	return hotspot_enter_caller(w, pc, sender ? sender : return_at + 8);
}

/* The frame of an interpreted method that has called another one. */
static const struct hotspot_row hotspot_whole_frame = {
	.state = HOTSPOT_FRAME,
	.return_register = HOTSPOT_NO_REGISTER,
	.sender_register = HOTSPOT_NO_REGISTER,
	.method_register = HOTSPOT_NO_REGISTER,
};

static __always_inline int hotspot_leave_interpreter(struct native_walk *w,
						     const struct hotspot_process *p,
						     const struct hotspot_layout *l,
						     const struct hotspot_blob *b, int exact)
{
	struct hotspot_row whole = hotspot_whole_frame;
	const struct hotspot_row *r = NULL;

	if (exact && b->code == p->interpreter_low)
		r = hotspot_find_row(p, w->pc - b->code);
	if (r)
		whole = *r;
	if (hotspot_name_interpreted(w, l, &whole, exact)) {
		if (!b->address && hotspot_find_blob(w, w->pc - !exact))
			return native_walk_end(w, WALK_END_JAVA);
		hotspot_put_words(w, WIRE_TAG_JAVA_BLOB, b->address,
				  HOTSPOT_BLOB_PLACE(w->pc - b->address, b->kind));
	}
	return hotspot_leave_by_row(w, &whole);
}

/*
 * Leave a frame of code that is made once by its unwind table. Return as native_walk_step();
 * WALK_PENDING: the table has no rule for it.
 */
HOTSPOT_FUNCTION int hotspot_leave_by_table(struct native_walk *w, __u32 table, __u64 offset,
					    int exact)
{
	struct unwind_slot *slot = w ? walk_slot(w, table) : NULL;
	const struct unwind_rule *r;
	__u32 rule = UNWIND_RULE_GAP;

	if (!w || !slot || slot->state != UNWIND_TABLE_READY)
		return WALK_PENDING;
	slot->used = walk_now();
	if (walk_find_in_table(w, slot, offset, &rule) || rule < UNWIND_RULES_FIXED)
		return WALK_PENDING;
	r = walk_rule(w, rule);
	if (!r || r->kind == UNWIND_BAD || r->kind == UNWIND_GAP)
		return WALK_PENDING;
	return leave_by_rule(w, rule, exact);
}

/*
 * Leave the oldest mounted frame of a virtual thread: it returns to the return barrier, before
 * which no call stands, if older frames are in the heap. sp points to the thread's
 * ContinuationEntry, above which the frame of Continuation.enterSpecial() has the carrier's fp and
 * its return address. Return WALK_PENDING if pc is not the barrier.
 */
static __always_inline int hotspot_cross_barrier(struct native_walk *w,
						 const struct hotspot_process *p)
{
	__u64 at = w->sp + HOTSPOT_CONTINUATION_BYTES, *before = w->java.code;
	int ret;

	if (hotspot_read(w, before, sizeof(*before), w->pc - sizeof(*before)))
		return WALK_PENDING;
	/* call rel32; call register */
	if ((*before >> 24 & 0xff) == 0xe8 || (*before >> 48 & 0xf8ff) == 0xd0ff)
		return WALK_PENDING;
	ret = hotspot_leave_sized(w, at + 16, at);
	if (ret == WALK_CALLER && hotspot_find_range(w, p, w->pc))
		return native_walk_end(w, WALK_END_JAVA);
	return ret;
}

/*
 * Leave an entry of the interpreter for method handles. Its caller's sp is in r13, unless that is
 * an interpreter's frame, which is found by fp: then the argument that was removed lay above.
 */
static __always_inline int hotspot_leave_linker(struct native_walk *w)
{
	__u64 sender = hotspot_register(w, HOTSPOT_REG_BCP), pc = 0, least = w->sp;

	if (hotspot_read_code(w))
		return native_walk_end(w, WALK_END_JAVA);
	if (hotspot_return_is_popped(w->java.code)) {
		pc = hotspot_register(w, HOTSPOT_REG_RETURN);
	} else if (walk_read_word(w, w->sp, &pc)) {
		return native_walk_end(w, WALK_END_UNREADABLE);
	} else {
		least += 8;
	}
	return hotspot_enter_caller(w, pc, sender > least ? sender : least);
}

/* Leave other code than a method's, without an unwind table. */
static __always_inline int hotspot_leave_stub(struct native_walk *w, const struct hotspot_blob *b,
					      int exact)
{
	__u64 size = 8 * (__u64)b->frame_size, cookie = 0;

	if (b->kind == HOTSPOT_BARE)
		return hotspot_leave_sized(w, w->sp + 8, 0);
	if (b->kind == HOTSPOT_ADAPTER && !hotspot_find_code_row(w, w->pc - !exact))
		return hotspot_leave_by_code(w);
	if (exact && b->kind == HOTSPOT_LINKERS)
		return hotspot_leave_linker(w);
	if (exact)
		return native_walk_end(w, WALK_END_JAVA);
	/* most of StubRoutines have a frame pointer */
	if (b->kind == HOTSPOT_STUBS || b->kind == HOTSPOT_CONTINUATION) {
		if (walk_read_word(w, w->fp + 8, &cookie))
			return native_walk_end(w, WALK_END_UNREADABLE);
		return hotspot_leave_by_fp(w, cookie == HOTSPOT_BARRIER_COOKIE);
	}
	if (b->frame_size < 2 || b->frame_size > HOTSPOT_FRAME_WORDS_MAX)
		return native_walk_end(w, WALK_END_JAVA);
	return hotspot_leave_sized(w, w->sp + size, w->sp + size - 16);
}

static __always_inline int hotspot_leave_other(struct native_walk *w,
					       const struct hotspot_process *p,
					       const struct hotspot_blob *b, int exact)
{
	int ret = WALK_PENDING;

	hotspot_put_words(w, WIRE_TAG_JAVA_BLOB, b->address,
			  HOTSPOT_BLOB_PLACE(w->pc - b->address, b->kind));
	if (!exact && b->kind == HOTSPOT_CONTINUATION)
		ret = hotspot_cross_barrier(w, p);
	if (ret == WALK_PENDING)
		ret = hotspot_leave_by_table(w, p->table, w->pc - !exact - p->base, exact);
	return ret == WALK_PENDING ? hotspot_leave_stub(w, b, exact) : ret;
}

/*
 * Find the blob of pc as hotspot_find_blob() does. That of the interpreter, whose place is known,
 * has no address then: nothing in its header is needed.
 */
static __always_inline int hotspot_find_code(struct native_walk *w, const struct hotspot_process *p,
					     __u64 pc)
{
	struct hotspot_blob *b = &w->java.blob;

	if (pc < p->interpreter_low || pc >= p->interpreter_high)
		return hotspot_find_blob(w, pc);
	w->java.fresh = 0;
	b->address = 0;
	b->code = p->interpreter_low;
	b->kind = HOTSPOT_INTERPRETER;
	return 0;
}

/* Return whether the last frame that was left is of a JVM's code, as its caller probably is. */
static __always_inline int hotspot_expects_java(const struct native_walk *w)
{
	return !w->exact && (w->java_left & ~HOTSPOT_LEFT_STUB) == w->sp;
}

/* The same as hotspot_leave_known() for a frame of the interpreter. */
static __always_inline int hotspot_leave_known_interpreted(struct native_walk *w)
{
	const struct hotspot_cached *c = &w->java.cached;
	__u64 bcp = 0, method = 0, bci;

	if ((w->fp & 7) || walk_read_word(w, w->fp + HOTSPOT_SLOT_BCP, &bcp) ||
	    walk_read_word(w, w->fp + HOTSPOT_SLOT_METHOD, &method) ||
	    hotspot_cache_load(hotspot_method_hash(w, method), &w->java.cached) ||
	    !hotspot_was_checked(w, c))
		return WALK_JAVA;
	bci = bcp - c->rest;
	hotspot_put_words(
		w, WIRE_TAG_JAVA_INTERPRETED, method,
		HOTSPOT_INTERPRETED_PLACE(c->id, bci < c->place ? bci : HOTSPOT_BCI_UNKNOWN));
	return hotspot_leave_by_row(w, &hotspot_whole_frame);
}

/*
 * Leave a frame that has called a Java frame, if the cache has what is needed, and the JVM's memory
 * was compared with that lately: so most frames take no read of memory but the stack's. The method
 * may have been thrown away meanwhile, and another one lie there: then the reader of names finds
 * another compile id. Return as native_walk_step(), w->java.words are then the frame's words; or
 * WALK_JAVA with w unchanged.
 */
static __always_inline int hotspot_leave_known(struct native_walk *w)
{
	const struct hotspot_process *p = hotspot_find_process(w);
	struct hotspot_cached *c = &w->java.cached;
	__u64 pc = w->pc - 1, sp = w->sp;
	int ret;

	if (!p || w->exact || w->java_left != sp || !w->unloads || w->skip_cache)
		return WALK_JAVA;
	if (pc >= p->interpreter_low && pc < p->interpreter_high) {
		ret = hotspot_leave_known_interpreted(w);
	} else {
		if (hotspot_cache_load(hotspot_cache_hash(w, pc), c) || !hotspot_was_checked(w, c))
			return WALK_JAVA;
		hotspot_put_words(w, WIRE_TAG_JAVA_COMPILED, hotspot_cached_address(c, pc),
				  HOTSPOT_COMPILED_PLACE(c->id, c->rest));
		sp += 8 * (c->rest >> 32);
		ret = hotspot_leave_sized(w, sp, sp - 16);
	}
	w->java_left = w->sp;
	return ret;
}

/*
 * Leave the frame at w->pc, if that lies in the code cache of the process's JVM. Return
 * WALK_UNMAPPED if it does not; else as native_walk_step(). If w->java.found, w->java.words are the
 * frame's words.
 */
static __always_inline int hotspot_walk_step(struct native_walk *w)
{
	const struct hotspot_process *p = hotspot_find_process(w);
	const struct hotspot_layout *l = p ? hotspot_find_layout(p) : NULL;
	const struct hotspot_blob *b = &w->java.blob;
	int exact = w->exact, ret;

	w->java.found = 0;
	if (!l)
		return WALK_UNMAPPED;
	hotspot_read_unloads(w, p);
	ret = hotspot_find_code(w, p, w->pc - !exact);
	if (ret)
		return ret == WALK_UNMAPPED ? ret : native_walk_end(w, WALK_END_JAVA);
	w->exact = 0;
	if (hotspot_is_method(b->kind))
		ret = hotspot_leave_method(w, l, b, exact);
	else if (b->kind == HOTSPOT_INTERPRETER)
		ret = hotspot_leave_interpreter(w, p, l, b, exact);
	else
		ret = hotspot_leave_other(w, p, b, exact);
	w->java_left = w->sp;
	if (b->kind == HOTSPOT_OTHER || b->kind == HOTSPOT_STUBS)
		w->java_left |= HOTSPOT_LEFT_STUB;
	return ret;
}

#endif
