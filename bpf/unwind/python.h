/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The walker of Python frames: from a process with a known interpreter and the
 * thread that stands there to its frames, innermost first, as pairs of words
 * (event.h). It reads the interpreter's own structures and needs neither its
 * lock nor a thread-local variable: the thread is the one of the interpreter's
 * list that has its pthread_self(). One step reads one interpreter, thread or
 * frame, so that every build can bound the steps in its own way.
 *
 * Nothing that is read is believed: what is not of type PyCode_Type is no code
 * object, and ends the walk with a reason.
 *
 * Whoever includes it has defined its primitives:
 *
 *   int python_read(struct python_walk *w, void *to, __u32 bytes, __u64 address)
 *                                   the process's memory; 0 if it could be read
 *   int python_new(const struct python_walk *w, __u64 code, __u32 id)
 *                                   whether this code object was not met before
 *   struct python_thread *python_recall(const struct python_walk *w)
 *                                   what is remembered of the thread; NULL: nothing can be
 */
#ifndef SKEIN_BPF_UNWIND_PYTHON_H
#define SKEIN_BPF_UNWIND_PYTHON_H

#include "bpf/unwind/python_register.h"

/* Those of a str's characters that are part of an id, into w->characters; how many bytes it has. */
static __always_inline __u64 read_characters(struct python_walk *w, __u64 address)
{
	const __u32 half = PYTHON_CHARACTERS_MAX / 2;
	struct python_characters c;
	__u32 bytes;

	if (python_read(w, w->text_head, sizeof(w->text_head), address))
		return 0;
	c = python_characters_of(&w->layout, address, w->text_head);
	if (c.size > PYTHON_CHARACTERS_MAX) {
		if (python_read(w, w->characters, half, c.from) ||
		    python_read(w, w->characters + half / 8, half, c.from + c.size - half))
			return 0;
		return c.size;
	}
	__builtin_memset(w->characters, 0, sizeof(w->characters));
	bytes = c.size;
	keep_in_register(bytes);
	if (bytes > PYTHON_CHARACTERS_MAX || python_read(w, w->characters, bytes, c.from))
		return 0;
	return c.size;
}

static __always_inline __u64 text_id(struct python_walk *w, __u64 address)
{
	__u64 size = read_characters(w, address);

	return size ? python_text_id(size, w->characters) : 0;
}

/* Most frames have the file of the one before. */
static __always_inline __u64 file_id(struct python_walk *w)
{
	__u64 file = code_word(w, w->layout.code_file);

	if (file != w->file) {
		w->file_id = text_id(w, file);
		w->file = file;
	}
	return w->file_id;
}

static __always_inline __u32 code_id(struct python_walk *w)
{
	const struct python_layout *l = &w->layout;
	__u64 id = 0, shown[PYTHON_SHOWN] = {0}, name = code_word(w, l->code_name), qualified = name;

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		id = python_mix(id, code_word(w, l->code_id[i]));
	if (!l->id_by_text)
		return id;
	if (l->code_qualified_name != PYTHON_ABSENT)
		qualified = code_word(w, l->code_qualified_name);
	shown[PYTHON_SHOWN_NAME] = text_id(w, name);
	if (qualified != name)
		shown[PYTHON_SHOWN_QUALIFIED] = text_id(w, qualified);
	shown[PYTHON_SHOWN_FILE] = file_id(w);
	return python_shown_id(id, shown);
}

/* In code units; ~0: before the first. */
static __always_inline __u32 code_unit(const struct python_walk *w, __u64 code)
{
	__u64 value = frame_word(w, w->layout.frame_instruction);
	__s32 offset = value >> (w->layout.frame_instruction & 4) * 8;

	switch (w->layout.instruction) {
	case PYTHON_INSTRUCTION_BYTE:
		return offset < 0 ? ~0U : (__u32)offset / 2;
	case PYTHON_INSTRUCTION_UNIT:
		return offset;
	default:
		value -= code + w->layout.code_units;
		return (__s64)value < 0 ? ~0U : (__u32)(value / 2);
	}
}

static __always_inline __u64 tag_of_frame(const struct python_walk *w)
{
	const struct python_layout *l = &w->layout;

	if (l->frames == PYTHON_FRAME_EACH || (l->frames == PYTHON_FRAME_ENTRY && frame_owner(w)))
		return WIRE_TAG_PYTHON_ENTRY;
	return WIRE_TAG_PYTHON;
}

/*
 * The interpreter's own frame between __init__() and who makes an object, from 3.13 on
 * (_Py_InitCleanup): its name is its file, and it begins in no line. Tracebacks have it neither.
 */
static __always_inline int is_internal(const struct python_walk *w)
{
	const struct python_layout *l = &w->layout;
	__u32 line = code_word(w, l->code_first_line) >> (l->code_first_line & 4) * 8;

	return l->frames == PYTHON_FRAME_SHIM && !line &&
	       code_word(w, l->code_name) == code_word(w, l->code_file);
}

/*
 * The frame behind the first native call of the loop is the one that the struct _PyCFrame before
 * has, too (none, of a thread's root), unless the call has just begun, and what was found is left
 * from one before in the same place of the stack (3.11).
 */
static __always_inline int end_of_first_call(struct python_walk *w)
{
	__u64 cframe = w->cframe, before = 0, frame = 0;

	w->cframe = 0;
	if (!read_at(w, &before, cframe, w->layout.cframe_previous) && before &&
	    !read_at(w, &frame, before, w->layout.cframe_frame) && frame == w->frame)
		return 0;
	w->cframe = cframe;
	frame = w->frame;
	try_registers(w);
	w->otherwise = frame;
	w->whole = 1;
	return 0;
}

static __always_inline int put_frame(struct python_walk *w, __u64 *words, __u64 code)
{
	__u64 tag = tag_of_frame(w);
	__u32 id = code_id(w);

	w->bounded = tag == WIRE_TAG_PYTHON_ENTRY;
	if (python_new(w, code, id))
		w->flags |= WIRE_PYTHON_NEW;
	if (put_pair(w, words, tag << WIRE_TAG_SHIFT | code,
		     PYTHON_PLACE(id, code_unit(w, code))))
		return 1;
	return tag == WIRE_TAG_PYTHON_ENTRY && w->cframe ? end_of_first_call(w) : 0;
}

static __always_inline int leave_frame(struct python_walk *w, __u64 *words)
{
	const struct python_layout *l = &w->layout;
	__u64 code = frame_word(w, l->frame_code) & ~(__u64)l->executable_tag;

	if (code >> WIRE_TAG_SHIFT || read_code(w, code))
		return w->first && w->cframe ? try_registers(w) : end_unreadable(w);
	w->first = 0;
	w->frame = frame_word(w, l->frame_previous);
	return is_internal(w) ? 0 : put_frame(w, words, code);
}

/* A thread's root has no frame; any other struct _PyCFrame is about to have one. */
static __always_inline int end_of_frames(struct python_walk *w)
{
	__u64 previous = 0;

	if (w->first && w->cframe && (read_at(w, &previous, w->cframe, w->layout.cframe_previous) ||
				      previous))
		return try_registers(w);
	if (w->at != w->begun && !w->bounded) /* a generator's that is not linked to its caller's */
		return end_python(w, WALK_END_PYTHON);
	w->phase = PYTHON_BEGIN;
	return 0;
}

/*
 * A shim that is the innermost frame is that of a call which is over, or of one before, in the same
 * place of the stack, where the new one is not linked yet.
 */
static __always_inline int leave_shim(struct python_walk *w, __u64 *words)
{
	__u64 previous = frame_word(w, w->layout.frame_previous);
	int in_doubt = w->first && w->cframe;

	w->first = 0;
	if (in_doubt) {
		try_registers(w);
		w->otherwise = previous;
		w->whole = !previous; /* of a thread that is at its end */
		return 0;
	}
	w->cframe = 0;
	w->frame = previous;
	return put_shim(w, words);
}

static __always_inline int walk_step_python(struct python_walk *w, __u64 *words)
{
	const struct python_layout *l = &w->layout;

	if (!w->frame)
		return end_of_frames(w);
	if (read_frame(w, w->frame))
		return w->first && w->cframe ? try_registers(w) : end_unreadable(w);
	if (l->frames != PYTHON_FRAME_SHIM || frame_owner(w) < l->shim_owner)
		return leave_frame(w, words);
	return leave_shim(w, words);
}

/* Make one step; words has room for PYTHON_WORDS. 0 if there are more. */
static __always_inline int python_step(struct python_walk *w, __u64 *words)
{
	switch (w->phase) {
	case PYTHON_SEARCH:
		return search_step(w);
	case PYTHON_BEGIN:
		return begin_step(w);
	case PYTHON_REGISTER:
		return register_step(w, words);
	default:
		return walk_step_python(w, words);
	}
}

#endif
