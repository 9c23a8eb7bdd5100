// SPDX-License-Identifier: Apache-2.0
/* How to leave machine code that HotSpot has generated. */
#include "symbolizers/unwind/hotspot_paths.h"

#include <errno.h>
#include <string.h>

#include "symbolizers/unwind/code_flow.h"

static const struct code_state *state_at_begin(enum hotspot_once_kind kind)
{
	switch (kind) {
	case HOTSPOT_ONCE_CODELET:
		return &code_state_interpreter;
	case HOTSPOT_ONCE_LINKERS:
	case HOTSPOT_ONCE_ENTRY:
		return &code_state_method;
	default:
		return &code_state_function;
	}
}

/* Follow one function, of which it is a guess that it begins at an offset. */
static int follow_guess(struct code_flow *f, size_t at, const struct code_state *state)
{
	bool made_sense;
	int ret = code_flow_try(f, at, state, true, &made_sense);

	if (!ret && !made_sense && state == &code_state_function)
		ret = code_flow_try(f, at, &code_state_awaiting, true, &made_sense);
	return ret;
}

/*
 * Follow the functions that begin with push %rbp; mov %rsp,%rbp. Tables of numbers lie between
 * functions, and code that is searched for from their begin would be read from the wrong byte on.
 */
static int follow_frames(struct code_flow *f)
{
	const uint8_t *code = f->code;
	int ret = 0;

	for (size_t at = 0; !ret && at + 4 <= f->size; at++) {
		bool begins = code[at] == 0x55 && code[at + 1] == 0x48 &&
			      ((code[at + 2] == 0x8b && code[at + 3] == 0xec) ||
			       (code[at + 2] == 0x89 && code[at + 3] == 0xe5));

		if (begins && f->marks[at] == CODE_UNSEEN)
			ret = follow_guess(f, at, &code_state_function);
	}
	return ret;
}

/* Follow a blob of one function from its begin. */
static int follow_first(struct code_flow *f)
{
	static const struct code_state *const states[] = {&code_state_function,
							  &code_state_awaiting, &code_state_framed};
	bool made_sense = false;
	int ret = 0;

	for (size_t n = 0; !ret && !made_sense && n < sizeof(states) / sizeof(*states); n++)
		ret = code_flow_try(f, 0, states[n], false, &made_sense);
	return ret;
}

/*
 * Follow an adapter: from its begin, code that the interpreter enters to call compiled code; then
 * the entries of the opposite, whose caller is compiled. Where the latter has a call site patched,
 * it aligns the stack, saves all registers, and restores them and the stack pointer: there, the
 * caller is not found. That changes nothing for the instructions behind it, since without a frame
 * pointer an instruction has the same stack on each path.
 */
static int follow_adapter(struct code_flow *f)
{
	size_t at = 0;
	bool made_sense;
	int ret;

	f->keeps_found = true;
	ret = code_flow_try(f, 0, &code_state_adapter, true, &made_sense);
	while (!ret && code_flow_unseen(f, &at))
		ret = code_flow_try(f, at, &code_state_function, true, &made_sense);
	return ret;
}

/*
 * Follow the code from its begin, and then from each place that no path has led to: codelets have
 * many entries, and blobs may have several functions.
 */
int hotspot_paths_follow(struct code_flow *f, enum hotspot_once_kind kind)
{
	const struct code_state *state = state_at_begin(kind);
	size_t at = 0;
	int ret = 0;

	if (kind == HOTSPOT_ONCE_ADAPTER)
		return follow_adapter(f);
	if (kind == HOTSPOT_ONCE_EXCEPTION)
		return code_flow_follow(f, 0, &code_state_exception);
	f->makes_frames = kind == HOTSPOT_ONCE_UNPACKING;
	f->calls_inside = kind == HOTSPOT_ONCE_CODELET || kind == HOTSPOT_ONCE_ENTRY;
	if (kind == HOTSPOT_ONCE_FUNCTION || kind == HOTSPOT_ONCE_UNPACKING)
		ret = follow_first(f);
	if (!ret && kind == HOTSPOT_ONCE_FUNCTIONS)
		ret = follow_frames(f);
	while (!ret && code_flow_unseen(f, &at)) {
		if (kind == HOTSPOT_ONCE_CODELET || (at == 0 && kind == HOTSPOT_ONCE_ENTRY))
			ret = code_flow_follow(f, at, state);
		else
			ret = follow_guess(f, at, state);
	}
	return ret;
}

/* Put the rule of each instruction; code without a state is BAD, padding belongs to what is before.
 */
static int put_rules(struct unwind_rows *rows, const struct code_flow *f, uint64_t offset)
{
	const struct unwind_rule bad = {.kind = UNWIND_BAD};
	int ret = unwind_rows_begin(rows, UNWIND_LAYER_LINES, offset, offset + f->size);

	for (size_t at = 0; !ret && at < f->size;) {
		const struct code_state *state = code_flow_state(f, at);
		const struct unwind_rule rule = state ? code_state_rule(state) : bad;

		ret = unwind_rows_put(rows, offset + at, &rule);
		at += state ? f->sizes[at] : 1;
	}
	return ret == -EINVAL ? 0 : ret;
}

int hotspot_paths_add(struct unwind_rows *rows, const struct hotspot_once_code *code)
{
	struct code_flow f;
	int ret = code_flow_init(&f, code->bytes, code->size);

	if (!ret)
		ret = hotspot_paths_follow(&f, code->kind);
	if (!ret || ret == -E2BIG)
		ret = put_rules(rows, &f, code->offset);
	code_flow_free(&f);
	return ret;
}

static bool is_same_row(const struct hotspot_row *a, const struct hotspot_row *b)
{
	return a->state == b->state && a->return_register == b->return_register &&
	       a->sender_register == b->sender_register && a->method_register == b->method_register;
}

static int append_row(struct hotspot_paths_rows *rows, struct hotspot_row row, uint64_t offset)
{
	const size_t count = rows->items.count;

	if (count && is_same_row(&rows->items.items[count - 1], &row))
		return 0;
	row.offset = (uint32_t)offset;
	return vector_push(&rows->items, row);
}

int hotspot_paths_append(struct hotspot_paths_rows *rows, const struct hotspot_once_code *code)
{
	const struct code_state *state;
	struct code_flow f;
	int ret = code_flow_init(&f, code->bytes, code->size);

	if (!ret)
		ret = hotspot_paths_follow(&f, code->kind);
	for (size_t at = 0; !ret && at < f.size;) {
		state = code_flow_state(&f, at);
		ret = append_row(rows, code_state_row(state ? state : &code_state_lost),
				 code->offset + at);
		at += state ? f.sizes[at] : 1;
	}
	code_flow_free(&f);
	return ret;
}

/*
 * Return whether a stub begins at an offset that calls of the method lead to, as long as the callee
 * is not compiled: mov $Method*,%rbx; jmp. It has its caller's frame.
 */
static bool is_static_stub(const struct code_flow *f, size_t at)
{
	const uint8_t *code = f->code + at;

	return f->size - at >= 15 && code[0] == 0x48 && code[1] == 0xbb && code[10] == 0xe9;
}

/*
 * Follow what no path from the beginning leads to: handlers of exceptions, cases of a switch and
 * the like, which have the method's frame.
 */
static int follow_rest(struct code_flow *f, const struct code_state *body)
{
	bool made_sense;
	size_t at = 0;
	int ret = 0;

	while (!ret && code_flow_unseen(f, &at))
		ret = code_flow_try(f, at, is_static_stub(f, at) ? &code_state_function : body,
				    true, &made_sense);
	return ret;
}

/*
 * Follow a compiled method. Once it must not be entered any more, the JVM puts a jump over its
 * beginning, and nothing leads from there to its body.
 */
static int follow_compiled(struct code_flow *f, const struct hotspot_compiled *m)
{
	const struct code_state body = code_state_body((int16_t)m->frame_words);
	const size_t complete = m->complete > 0 ? (size_t)m->complete : m->size;
	bool made_sense;
	int ret = 0;

	if (m->frame_words < 2 || m->frame_words >= INT16_MAX)
		return 0;
	if (complete < m->size && f->marks[complete] != CODE_SEEN)
		ret = code_flow_try(f, complete, &body, false, &made_sense);
	return ret ? ret : follow_rest(f, &body);
}

int hotspot_compiled_follow(struct code_flow *f, const struct hotspot_compiled *m)
{
	int ret;

	if (m->kind == HOTSPOT_COMPILED_ADAPTER)
		return hotspot_paths_follow(f, HOTSPOT_ONCE_ADAPTER);
	ret = code_flow_follow(f, 0, &code_state_function);
	if (!ret && m->entry && m->entry < m->size && f->marks[m->entry] == CODE_UNSEEN)
		ret = code_flow_follow(f, m->entry, &code_state_function);
	if (ret)
		return ret;
	return m->kind == HOTSPOT_COMPILED_METHOD ? follow_compiled(f, m) : 0;
}

/* The same but for the offset. */
static bool is_same_code_row(const struct hotspot_code_row *a, struct hotspot_code_row b)
{
	b.offset = a->offset;
	return memcmp(a, &b, sizeof(b)) == 0;
}

/*
 * Add a row to a window of rows. Return false if the window is complete: at, the offset for which
 * it is made, is far enough before.
 */
static bool push_code_row(struct hotspot_code_rows *w, const struct hotspot_code_row *row,
			  uint32_t at)
{
	const uint32_t half = HOTSPOT_CODE_ROWS_MAX / 2;

	if (w->count && is_same_code_row(&w->rows[w->count - 1], *row))
		return true;
	if (w->count == HOTSPOT_CODE_ROWS_MAX) {
		if (w->rows[half].offset > at)
			return false;
		memmove(w->rows, w->rows + 1, sizeof(w->rows) - sizeof(*w->rows));
		w->count--;
	}
	w->rows[w->count++] = *row;
	return true;
}

/* Make the rows around an offset of code that was followed. */
static void make_window(struct hotspot_code_rows *out, const struct code_flow *f, uint32_t at)
{
	struct hotspot_code_rows w = {.end = (uint32_t)f->size};

	for (uint32_t offset = 0; offset < f->size;) {
		const struct code_state *state = code_flow_state(f, offset);
		struct hotspot_code_row row = code_state_code_row(state ? state : &code_state_lost);

		row.offset = offset;
		if (!push_code_row(&w, &row, at)) {
			w.end = offset;
			break;
		}
		offset += state ? f->sizes[offset] : 1;
	}
	*out = w;
}

int hotspot_compiled_rows(struct hotspot_code_rows *out, const struct hotspot_compiled *m,
			  uint32_t at)
{
	const struct code_state *state = NULL;
	struct code_flow f;
	int ret = code_flow_init(&f, m->code, m->size);

	if (!ret)
		ret = hotspot_compiled_follow(&f, m);
	if (!ret && at < m->size)
		state = code_flow_state(&f, at);
	if (!ret && (!state || code_state_is_lost(state)))
		ret = -ENOENT;
	if (!ret)
		make_window(out, &f, at);
	code_flow_free(&f);
	return ret;
}
