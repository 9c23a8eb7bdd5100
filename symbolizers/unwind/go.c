// SPDX-License-Identifier: Apache-2.0
/*
 * Make rows from Go's stack pointer deltas. In compiled functions, the delta gives the size of the
 * stack frame. A few assembler functions switch stacks and need special rules:
 *
 *  - Where a frame pointer was set up before the switch, the frame is found by the frame pointer,
 *    which is kept across the switch and leads back to the goroutine (systemstack, asmcgocall),
 *    to the C code that called (cgocallback), and out of the vDSO (nanotime1).
 *  - Go before 1.21 gave systemstack and asmcgocall no frame, and the frame pointer leads to the
 *    caller's caller: one frame is lost.
 *  - On arm64, asmcgocall (and systemstack before 1.21) changes the frame pointer along with the
 *    stack, so that there is no way back.
 *  - mcall, morestack and gogo leave one stack for good: after the switch there is no caller.
 *
 * The table agrees with the .debug_frame that Go's linker makes from it; neither describes the
 * switches. When C code calls back into Go and the goroutine's stack moves meanwhile, the C code's
 * frames keep old frame pointers, which lead to the old copy of the same frames.
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/go_table.h"
#include "symbolizers/unwind/go.h"
#include "symbolizers/unwind/go_code.h"

#define CODE_MAX 4096 /* bytes of a function that are searched for a stack switch */
#define DELTA_MAX ((1 << 30) + 4096) /* bytes; reflect's frames reach just over 1 GiB */
#define ROLE_NAME_MAX 64 /* bytes of a name in which _lib is searched */
#define NEVER UINT64_MAX

enum go_role {
	GO_PLAIN,
	GO_ROOT, /* there is no caller */
	GO_LEAVE, /* after the switch there is no caller */
	GO_SWITCH, /* switches to another stack and back */
	GO_CLONE,
	GO_SIGNAL, /* signal handlers return to this function */
};

static const struct {
	const char *name;
	enum go_role role;
} roles[] = {
	{"runtime.goexit", GO_ROOT},
	{"runtime.mstart", GO_ROOT},
	{"runtime.rt0_go", GO_ROOT},
	{"runtime.mcall", GO_LEAVE},
	{"runtime.morestack", GO_LEAVE},
	{"runtime.gogo", GO_LEAVE},
	{"gogo", GO_LEAVE},
	{"runtime.systemstack", GO_SWITCH},
	{"runtime.asmcgocall", GO_SWITCH},
	{"runtime.clone", GO_CLONE},
	{"runtime.sigreturn", GO_SIGNAL},
	{"runtime.sigreturn__sigaction", GO_SIGNAL},
};

/* The part of the code that was read last; functions are read in ascending order. */
struct code_window {
	uint64_t offset;
	size_t size;
	uint8_t bytes[1 << 16];
};

struct go_rows_maker {
	struct unwind_rows *rows;
	const struct unwind_source *source;
	const struct unwind_machine *machine;
	struct go_table table;
	struct code_window code;
};

/* The function being added. All positions are file offsets. */
struct go_rows_function {
	struct go_function go;
	uint64_t start, end;
	uint64_t saved; /* from this offset on, the caller's frame pointer is in memory; or NEVER */
	/* from this offset on, the frame pointer finds a frame (delta not 0); or NEVER */
	uint64_t set;
	/* from this offset on, the rule in last replaces those of Go's table; or NEVER */
	uint64_t stop;
	struct unwind_rule last;
	enum go_role role;
};

/* Return size bytes of code, or NULL if the file has fewer. Valid until the next call. */
static const uint8_t *go_code_at(struct go_rows_maker *m, uint64_t offset, size_t size)
{
	struct code_window *c = &m->code;
	const struct elf_image *image = m->source->image;

	if (size > sizeof(c->bytes) || offset > image->size || size > image->size - offset)
		return NULL;
	if (offset < c->offset || offset - c->offset > c->size ||
	    size > c->size - (offset - c->offset)) {
		uint64_t room = image->size - offset;

		c->offset = offset;
		c->size = room < sizeof(c->bytes) ? (size_t)room : sizeof(c->bytes);
		if (elf_image_read(image, offset, c->bytes, c->size) < 0) {
			c->size = 0;
			return NULL;
		}
	}
	return c->bytes + (offset - c->offset);
}

static enum go_role go_role_of(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		if (strcmp(name, roles[i].name) == 0)
			return roles[i].role;
	}
	/*
	 * Entry points have a name for each system; those of libraries (..._lib) have callers in C.
	 */
	if (strncmp(name, "_rt0_", 5) == 0 &&
	    !memmem(name, strnlen(name, ROLE_NAME_MAX), "_lib", 4))
		return GO_ROOT;
	return GO_PLAIN;
}

/*
 * Return the rule of a stack frame of delta bytes. x86-64: the return address and the saved frame
 * pointer are at the top of the frame. arm64: the link register is at its bottom, the saved frame
 * pointer below; without a frame, the return address is still in the link register. Go's functions
 * keep no other register for their callers.
 */
static struct unwind_rule go_frame_rule(const struct go_rows_maker *m, int32_t delta, bool saved)
{
	bool x86 = m->machine->elf == EM_X86_64;
	int32_t place = x86 ? -16 : -delta - 8;
	struct unwind_rule r = {
		.kind = UNWIND_CFA,
		.reg = m->machine->sp,
		.cfa_offset = x86 ? delta + 8 : delta,
		.second = x86 ? -8 : -delta,
		.base_offset = UNWIND_BASE_LOST,
		.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_AT_CFA),
	};

	if (saved && place < INT16_MIN) {
		r.saved = UNWIND_SAVED(UNWIND_FP_UNKNOWN, UNWIND_RA_AT_CFA);
	} else if (saved) {
		r.saved = UNWIND_SAVED(UNWIND_FP_AT_CFA, UNWIND_RA_AT_CFA);
		r.fp_offset = (int16_t)place;
	}
	if (!x86 && !delta) {
		r.second = 0;
		r.index = m->machine->ra;
		r.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_IN_REGISTER);
	}
	return r;
}

/*
 * Return a rule for the same stack frame as go_frame_rule() that uses the frame pointer, which
 * points to the saved frame pointer of the caller. On arm64, the return address is next to the
 * saved frame pointer, but that is not the end of the frame.
 */
static struct unwind_rule go_pointer_rule(const struct go_rows_maker *m, int32_t delta)
{
	struct unwind_rule r = go_frame_rule(m, delta, true);

	if (m->machine->elf == EM_X86_64)
		return (struct unwind_rule){.kind = UNWIND_FRAME};
	r.reg = m->machine->fp;
	r.cfa_offset = delta + 8;
	return r;
}

/*
 * Return the rule after the return address was popped into a register, as vfork() does, since the
 * child will overwrite the stack.
 */
static struct unwind_rule go_popped_rule(struct go_rows_maker *m, uint64_t at)
{
	const uint8_t *code = go_code_at(m, at - GO_CODE_BEFORE, GO_CODE_BEFORE);
	int reg = code ? go_code_popped(m->machine->elf, code + GO_CODE_BEFORE) : -1;
	struct unwind_rule r = go_frame_rule(m, -8, false);

	if (reg < 0)
		return (struct unwind_rule){.kind = UNWIND_BAD};
	r.second = 0;
	r.index = (uint8_t)reg;
	r.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_IN_REGISTER);
	return r;
}

static struct unwind_rule go_step_rule(struct go_rows_maker *m, uint64_t at, int32_t delta,
				       bool saved)
{
	if (delta == -8)
		return go_popped_rule(m, at);
	if (delta < 0 || delta > DELTA_MAX || delta % 8)
		return (struct unwind_rule){.kind = UNWIND_BAD};
	return go_frame_rule(m, delta, saved && delta);
}

/*
 * Put the rows of one step of the table: up to four, as the frame pointer is saved, set, and
 * restored before the stack frame is released.
 */
static int put_go_step(struct go_rows_maker *m, const struct go_rows_function *f, uint64_t at,
		       uint64_t end, int32_t delta)
{
	struct unwind_rule rule = go_step_rule(m, at, delta, at >= f->saved);
	int ret = unwind_rows_put(m->rows, at, &rule);
	const uint8_t *code;
	size_t close;

	if (ret || delta <= 0 || rule.kind == UNWIND_BAD)
		return ret;
	rule = go_frame_rule(m, delta, true);
	if (at < f->saved && f->saved < end)
		ret = unwind_rows_put(m->rows, f->saved, &rule);
	if (ret || f->set >= end)
		return ret;
	rule = go_pointer_rule(m, delta);
	ret = unwind_rows_put(m->rows, f->set > at ? f->set : at, &rule);
	/* Go before 1.21 restores the frame pointer before it releases the stack frame. */
	code = ret ? NULL : go_code_at(m, end - 8, 8);
	close = code && end - 8 >= at ? go_code_close(m->machine->elf, code + 8, 8) : 0;
	if (!close || end - close < f->set)
		return ret;
	rule = go_frame_rule(m, delta, true);
	return unwind_rows_put(m->rows, end - close, &rule);
}

static int put_go_steps(struct go_rows_maker *m, const struct go_rows_function *f)
{
	struct go_steps steps = go_steps_begin(&m->table, &f->go);
	uint64_t address;
	int32_t delta;
	int ret = 0;

	while (!ret && (ret = go_steps_next(&steps, &address, &delta)) > 0) {
		uint64_t at = f->start + (address - f->go.start);
		uint64_t end = f->start + (steps.address - f->go.start);

		if (at >= f->stop)
			break;
		ret = put_go_step(m, f, at, end < f->stop ? end : f->stop, delta);
	}
	if (ret >= 0 && f->stop < f->end)
		ret = unwind_rows_put(m->rows, f->stop, &f->last);
	return ret < 0 ? ret : 0;
}

/*
 * Determine from the code after the instruction that makes the function's first stack frame where
 * the function saves and sets the frame pointer, if it keeps one.
 */
static void find_go_frame(struct go_rows_maker *m, struct go_rows_function *f)
{
	struct go_steps steps = go_steps_begin(&m->table, &f->go);
	struct go_frame frame;
	const uint8_t *code;
	uint64_t address;
	int32_t delta = 0;

	while (delta <= 0) {
		if (go_steps_next(&steps, &address, &delta) <= 0)
			return;
	}
	address = f->start + (address - f->go.start);
	if (address < GO_CODE_BEFORE)
		return;
	code = go_code_at(m, address - GO_CODE_BEFORE, GO_CODE_BEFORE + GO_CODE_FRAME);
	if (!code || !go_code_frame(m->machine->elf, code + GO_CODE_BEFORE, delta, &frame))
		return;
	f->saved = address + frame.saved;
	if (frame.set != UINT32_MAX)
		f->set = address + frame.set;
}

/*
 * Find the first stack switch of the function, and the rule after the switch. If the frame pointer
 * is valid across the switch, the rules of Go's table continue; a function without a switch does
 * not use the frame pointer.
 */
static void find_go_switch(struct go_rows_maker *m, struct go_rows_function *f)
{
	size_t size = f->end - f->start < CODE_MAX ? f->end - f->start : CODE_MAX;
	const uint8_t *code = go_code_at(m, f->start, size);
	struct go_switch s = {.at = GO_CODE_NONE};
	bool framed = f->set != NEVER;

	if (code)
		s = go_code_switch(m->machine->elf, code, size);
	if (f->role != GO_LEAVE && framed && s.keeps_frame && s.at != GO_CODE_NONE)
		return;
	f->set = NEVER;
	if (s.at == GO_CODE_NONE)
		return;
	f->stop = f->start + s.at;
	if (f->role == GO_LEAVE)
		f->last.kind = UNWIND_END;
	else
		f->last.kind = UNWIND_BAD;
}

/*
 * Put the rows of a function without a stack frame that switches to another stack and comes back.
 * On the other stack, the frame pointer is still the caller's.
 */
static int put_go_switches(struct go_rows_maker *m, const struct go_rows_function *f)
{
	size_t size = f->end - f->start < CODE_MAX ? f->end - f->start : CODE_MAX, at = 0;
	const uint8_t *code = go_code_at(m, f->start, size);
	struct go_switch s = {.at = 0};
	bool away = false;
	int ret = 0;

	while (!ret && s.at != GO_CODE_NONE) {
		struct unwind_rule rule = away ? go_pointer_rule(m, 0) : go_frame_rule(m, 0, false);

		ret = unwind_rows_put(m->rows, f->start + at, &rule);
		s.at = GO_CODE_NONE;
		if (code)
			s = go_code_switch(m->machine->elf, code + at, size - at);
		at += s.at;
		away = s.aligns || !away;
	}
	return ret;
}

/*
 * Put the rows of clone(): after the system call there are two threads, and the child's stack is
 * empty.
 */
static int put_go_clone(struct go_rows_maker *m, const struct go_rows_function *f)
{
	size_t size = f->end - f->start < CODE_MAX ? f->end - f->start : CODE_MAX, both, child;
	const uint8_t *code = go_code_at(m, f->start, size);
	struct unwind_rule rule = go_frame_rule(m, 0, false);
	int ret;

	if (!code || !go_code_clone(m->machine->elf, code, size, &both, &child))
		return put_go_steps(m, f);
	ret = unwind_rows_put(m->rows, f->start, &rule);
	rule.kind = UNWIND_CLONE;
	if (!ret)
		ret = unwind_rows_put(m->rows, f->start + both, &rule);
	rule = (struct unwind_rule){.kind = UNWIND_END};
	return ret ? ret : unwind_rows_put(m->rows, f->start + child, &rule);
}

static int add_go_described(struct go_rows_maker *m, struct go_rows_function *f)
{
	int ret = unwind_rows_begin(m->rows, UNWIND_LAYER_LINES, f->start, f->end);

	if (ret)
		return ret;
	f->saved = f->set = f->stop = NEVER;
	find_go_frame(m, f);
	if (f->role != GO_PLAIN || (f->go.flags & GO_SP_WRITE))
		find_go_switch(m, f);
	else
		f->set = NEVER;
	if (f->role == GO_CLONE)
		ret = put_go_clone(m, f);
	else if (f->role == GO_SWITCH && f->saved == NEVER && m->machine->elf == EM_X86_64)
		ret = put_go_switches(m, f);
	else
		ret = put_go_steps(m, f);
	if (ret != -EBADMSG)
		return ret;
	unwind_rows_mark_bad(m->rows);
	return 0;
}

static int add_go_special(struct go_rows_maker *m, const struct go_rows_function *f)
{
	struct unwind_rule end = {.kind = UNWIND_END};
	struct unwind_rule signal = {
		.kind = UNWIND_SIGNAL,
		.cfa_offset = m->machine->signal_offset,
	};

	if (f->role == GO_ROOT)
		return unwind_rows_add(m->rows, UNWIND_LAYER_LINES, f->start, f->end, &end);
	/*
	 * Start one byte early, since callers are looked up one byte before their return address.
	 */
	return unwind_rows_add(m->rows, UNWIND_LAYER_STARTS, f->start - 1, f->end, &signal);
}

static int add_go_function(struct go_rows_maker *m, uint64_t i)
{
	struct go_rows_function f = {0};
	uint64_t room;
	int ret = go_table_function(&m->table, i, &f.go);

	if (ret)
		return ret == -ENOENT ? 0 : ret;
	if (!unwind_source_offset(m->source, f.go.start, &f.start, &room))
		return -EBADMSG;
	f.end = f.start + (f.go.end - f.go.start < room ? f.go.end - f.go.start : room);
	f.role = go_role_of(go_table_name(&m->table, &f.go));
	if (f.role == GO_ROOT || (f.role == GO_SIGNAL && f.start))
		return add_go_special(m, &f);
	return add_go_described(m, &f);
}

static int add_go_functions(struct go_rows_maker *m)
{
	int ret = 0;

	for (uint64_t i = 0; !ret && i < m->table.functions; i++) {
		ret = add_go_function(m, i);
		if (ret == -EBADMSG || ret == -EINVAL) {
			m->rows->refused++;
			ret = 0;
		}
		if (!(i & 1023))
			heartbeat_send(m->source->image->heartbeat);
	}
	return ret;
}

int unwind_go_add(struct unwind_rows *b, const struct unwind_source *s)
{
	struct go_rows_maker *m = malloc(sizeof(*m));
	int ret;

	if (!m)
		return -ENOMEM;
	m->rows = b;
	m->source = s;
	m->machine = unwind_source_machine(s);
	m->code.offset = m->code.size = 0;
	ret = go_table_open(&m->table, s->image);
	if (!ret)
		ret = add_go_functions(m);
	if (ret == -EBADMSG)
		b->refused++;
	go_table_close(&m->table);
	free(m);
	return ret == -ENOENT || ret == -EBADMSG ? 0 : ret;
}
