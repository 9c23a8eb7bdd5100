// SPDX-License-Identifier: Apache-2.0
/* Follow all paths through x86-64 code that HotSpot has generated. */
#include "symbolizers/unwind/code_flow.h"

#include <errno.h>
#include <string.h>

/* Most visits of one instruction, on average; each visit but the first one forgets something. */
#define STEPS_PER_BYTE 8
/* Bytes that are searched for the next place to visit, for which one visit less may be made. */
#define BYTES_PER_STEP 64

int code_flow_init(struct code_flow *f, const uint8_t *code, size_t size)
{
	*f = (struct code_flow){.code = code, .size = size, .steps = STEPS_PER_BYTE * size};
	if (size > CODE_FLOW_MAX)
		return -E2BIG;
	f->marks = calloc(size + 1, 1);
	f->sizes = calloc(size + 1, 1);
	f->after_calls = calloc(size + 1, 1);
	f->first_after_call = size;
	f->states = malloc((size + 1) * sizeof(*f->states));
	return f->marks && f->sizes && f->states && f->after_calls ? 0 : -ENOMEM;
}

void code_flow_free(struct code_flow *f)
{
	free(f->marks);
	free(f->sizes);
	free(f->after_calls);
	free(f->states);
	vector_free(&f->next);
	vector_free(&f->found);
	vector_free(&f->calls);
}

/*
 * Where two paths meet and the caller cannot be found on one of them, keep the state of the other
 * one, if that is allowed. Return 1 if that was done, 0 or -ENOMEM.
 */
static int keep_found(struct code_flow *f, uint64_t at, const struct code_state *state)
{
	const enum code_mark mark = f->marks[at];

	if (!f->keeps_found || (mark != CODE_NEW && mark != CODE_SEEN))
		return 0;
	if (code_state_is_hopeless(state))
		return 1;
	if (mark != CODE_NEW || !code_state_is_hopeless(&f->states[at]))
		return 0;
	f->states[at] = *state;
	return vector_push(&f->next, (uint32_t)at) < 0 ? -ENOMEM : 1;
}

/* A path comes to an offset with a state. Return 0 or -ENOMEM. */
static int arrive(struct code_flow *f, uint64_t at, const struct code_state *state)
{
	struct code_state known;
	int ret;

	if (at >= f->size || f->marks[at] == CODE_BAD)
		return 0; /* to other code */
	f->lost |= code_state_is_hopeless(state) && !f->keeps_found;
	ret = keep_found(f, at, state);
	if (ret)
		return ret < 0 ? ret : 0;
	switch (f->marks[at]) {
	case CODE_UNSEEN:
	case CODE_TRIED:
		f->marks[at] = CODE_NEW;
		f->states[at] = code_state_is_hopeless(state) ? code_state_lost : *state;
		if (vector_push(&f->found, (uint32_t)at) < 0)
			return -ENOMEM;
		return vector_push(&f->next, (uint32_t)at);
	case CODE_SEEN: /* what is known already must not change */
		known = f->states[at];
		f->failed |= code_state_join(&known, state);
		return 0;
	default:
		return code_state_join(&f->states[at], state) ? vector_push(&f->next, (uint32_t)at)
							      : 0;
	}
}

static bool is_jump(const struct x86_instruction *i, bool *conditional)
{
	*conditional = (i->map == 0 && i->opcode >= 0x70 && i->opcode < 0x80) ||
		       (i->map == 0 && i->opcode >= 0xe0 && i->opcode < 0xe4) ||
		       (i->map == 1 && i->opcode >= 0x80 && i->opcode < 0x90);
	return *conditional || (i->map == 0 && (i->opcode == 0xe9 || i->opcode == 0xeb));
}

/* Return whether no instruction follows: an indirect jump, ud2, hlt, int3. */
static bool ends_run(const struct x86_instruction *i)
{
	if (i->map == 1)
		return i->opcode == 0x0b;
	return !i->map && (i->opcode == 0xcc || i->opcode == 0xf4 ||
			   (i->opcode == 0xff && (i->modrm >> 3 & 6) == 4));
}

static bool is_return(const struct x86_instruction *i)
{
	return !i->map && (i->opcode == 0xc3 || i->opcode == 0xc2);
}

/* Return whether it is a call of other code than the next instruction. */
static bool is_direct_call(const struct x86_instruction *i)
{
	return !i->map && i->opcode == 0xe8 && i->immediate;
}

/* Return whether an instruction calls other code. */
static bool calls_code(const struct x86_instruction *i)
{
	return is_direct_call(i) || (!i->map && i->opcode == 0xff && (i->modrm >> 3 & 7) == 2);
}

static bool pushes_memory(const struct x86_instruction *i)
{
	return !i->map && i->opcode == 0xff && (i->modrm >> 3 & 7) == 6 && x86_mod(i) != 3;
}

/*
 * A call may return to an offset. Visit it last, and only if nothing else leads there: many calls
 * do not return (of uncommon traps, of what throws exceptions), and other code follows them.
 */
static int return_to(struct code_flow *f, size_t at, const struct code_state *state)
{
	if (at >= f->size || (f->marks[at] != CODE_UNSEEN && f->marks[at] != CODE_TRIED))
		return 0;
	f->states[at] = *state;
	f->after_calls[at] = 1;
	if (at < f->first_after_call)
		f->first_after_call = at;
	return vector_push(&f->calls, (uint32_t)at);
}

/*
 * When no offset is left to be visited, go on at the first one to which a call returns. Cold code,
 * in which calls do not return, comes last in a method. Return 0, -ENOMEM or -E2BIG.
 */
static int visit_after_calls(struct code_flow *f)
{
	int ret = 0;

	while (!ret && !f->next.count && f->first_after_call < f->size) {
		const size_t from = f->first_after_call;
		const uint8_t *found = memchr(f->after_calls + from, 1, f->size - from);
		const size_t at = found ? (size_t)(found - f->after_calls) : f->size;
		const uint64_t cost = (at - from) / BYTES_PER_STEP;
		const struct code_state state = f->states[at];

		if (cost > f->steps)
			return -E2BIG;
		f->steps -= cost;
		f->first_after_call = at;
		f->after_calls[at] = 0;
		if (found && f->marks[at] != CODE_SEEN && f->marks[at] != CODE_NEW)
			ret = arrive(f, at, &state);
	}
	return ret;
}

/* Follow the instruction at an offset. Return 0 or -ENOMEM. */
static int follow(struct code_flow *f, size_t at)
{
	struct code_state state = f->states[at];
	struct x86_instruction i;
	uint64_t after, target;
	bool conditional;
	int ret = 0;

	if (!x86_decode(f->code + at, f->size - at, &i)) {
		f->failed = true;
		return 0;
	}
	f->sizes[at] = i.size;
	after = at + i.size;
	target = after + (uint64_t)i.immediate;
	if (is_jump(&i, &conditional)) {
		ret = arrive(f, target, &state);
		return ret || !conditional ? ret : arrive(f, after, &state);
	}
	if (ends_run(&i))
		return 0;
	if (is_return(&i)) {
		f->failed |= !(state.flags & CODE_WHOLE) && !code_state_is_hopeless(&state) &&
			     !code_state_returns(&state);
		return 0;
	}
	if (!i.map && i.opcode == 0xc9 && !state.frame && !code_state_is_hopeless(&state))
		f->failed = true; /* leave: somebody else has made the frame */
	if (is_direct_call(&i) && f->calls_inside && state.flags & CODE_WHOLE)
		ret = arrive(f, target, &state);
	code_state_run(&state, &i);
	if (f->makes_frames && state.depth == CODE_UNKNOWN && pushes_memory(&i))
		state = code_state_function;
	if (!ret && calls_code(&i))
		return return_to(f, after, &state);
	return ret ? ret : arrive(f, after, &state);
}

static int follow_all(struct code_flow *f)
{
	int ret = 0;

	while (!ret && !f->failed) {
		ret = visit_after_calls(f);
		if (ret || !f->next.count)
			break;
		if (!f->steps)
			return -E2BIG;
		f->steps--;
		ret = follow(f, f->next.items[--f->next.count]);
	}
	return ret;
}

/* Forget what was to be visited. */
static void end_following(struct code_flow *f)
{
	for (size_t n = 0; n < f->calls.count; n++)
		f->after_calls[f->calls.items[n]] = 0;
	f->next.count = f->calls.count = 0;
	f->first_after_call = f->size;
}

/* Return whether an instruction that was found overlaps with one that was known. */
static bool overlaps(const struct code_flow *f, size_t at)
{
	for (size_t n = 1; n < f->sizes[at]; n++) {
		if (at + n < f->size &&
		    (f->marks[at + n] == CODE_SEEN || f->marks[at + n] == CODE_NEW))
			return true;
	}
	return false;
}

static int follow_as(struct code_flow *f, size_t at, const struct code_state *state, bool whole,
		     enum code_mark failure)
{
	int ret;

	f->failed = f->lost = false;
	f->found.count = 0;
	ret = arrive(f, at, state);
	if (!ret)
		ret = follow_all(f);
	end_following(f);
	for (size_t n = 0; !f->failed && n < f->found.count; n++)
		f->failed = overlaps(f, f->found.items[n]);
	f->failed |= f->lost && whole;
	for (size_t n = 0; n < f->found.count; n++)
		f->marks[f->found.items[n]] = (uint8_t)(f->failed || ret ? failure : CODE_SEEN);
	return ret;
}

int code_flow_follow(struct code_flow *f, size_t at, const struct code_state *state)
{
	return follow_as(f, at, state, false, CODE_BAD);
}

int code_flow_try(struct code_flow *f, size_t at, const struct code_state *state, bool whole,
		  bool *made_sense)
{
	int ret = follow_as(f, at, state, whole, CODE_TRIED);

	*made_sense = !f->failed;
	return ret;
}

/* Return the bytes of padding at an offset: nops, hlt, int3 or zeros. */
static size_t padding_at(const struct code_flow *f, size_t at)
{
	struct x86_instruction i;

	if (f->code[at] == 0xf4 || f->code[at] == 0xcc || !f->code[at])
		return 1;
	if (!x86_decode(f->code + at, f->size - at, &i))
		return 0;
	if ((!i.map && i.opcode == 0x90) || (i.map == 1 && i.opcode == 0x1f))
		return i.size;
	return 0;
}

bool code_flow_unseen(const struct code_flow *f, size_t *at)
{
	while (*at < f->size) {
		size_t skip = f->marks[*at] != CODE_UNSEEN ? f->sizes[*at] : padding_at(f, *at);

		if (!skip && f->marks[*at] == CODE_UNSEEN)
			return true;
		*at += skip ? skip : 1;
	}
	return false;
}

const struct code_state *code_flow_state(const struct code_flow *f, size_t at)
{
	for (size_t back = 0; back < X86_INSTRUCTION_MAX && back <= at; back++) {
		size_t begin = at - back;

		if (at < f->size && f->marks[begin] == CODE_SEEN && f->sizes[begin] > back)
			return &f->states[begin];
	}
	return NULL;
}
