/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The walker of Python frames. For a process with a known interpreter and a thread of it, this
 * finds the thread's frames, innermost first, and writes each as a pair of words (event.h). It
 * reads the interpreter's own structures and needs neither the interpreter's lock nor a
 * thread-local variable: the thread is the entry of the interpreter's list whose ident is the
 * thread's pthread_self(), or in 3.11 and 3.12 the entry that runs on the thread's stack. One step
 * reads one interpreter, thread or frame, so that every build can bound the number of steps in its
 * own way.
 *
 * The memory of the process is not trusted: an object whose type is not PyCode_Type is not a code
 * object, and ends the walk with a reason.
 *
 * The file that includes this one must define these primitives before:
 *
 *   int python_read(struct python_walk *w, void *to, __u32 bytes, __u64 address)
 *                                   read the process's memory; 0 on success
 *   int python_read_part(struct python_walk *w, void *to, __u32 bytes, __u32 most, __u64 address)
 *                                   the same for a number of bytes that is not constant, but at
 *                                   most a constant
 *   int python_is_new_code(const struct python_walk *w, __u64 code, __u32 id)
 *                                   return whether this code object is new to the walker
 *   struct python_thread *python_cache_entry(const struct python_walk *w)
 *                                   return the cache entry of the thread; NULL: there is no cache
 */
#ifndef SKEIN_BPF_UNWIND_PYTHON_H
#define SKEIN_BPF_UNWIND_PYTHON_H

#include "bpf/unwind/python_register.h"

/*
 * Read those characters of a str that are part of an id into w->memory.characters. Return the size
 * of all characters in bytes; 0 on error, or if the str has none directly after its head.
 */
static __always_inline __u64 python_read_characters(struct python_walk *w, __u64 address)
{
	const __u32 half = PYTHON_CHARACTERS_MAX / 2;
	struct python_characters c;
	__u32 bytes;

	if (python_read(w, w->memory.text_head, sizeof(w->memory.text_head), address))
		return 0;
	c = python_find_characters(&w->layout, address, w->memory.text_head);
	if (c.size > PYTHON_CHARACTERS_MAX) {
		if (python_read(w, w->memory.characters, half, c.from) ||
		    python_read(w, w->memory.characters + half / 8, half, c.from + c.size - half))
			return 0;
		return c.size;
	}
	__builtin_memset(w->memory.characters, 0, sizeof(w->memory.characters));
	bytes = c.size;
	keep_in_register(bytes);
	if (bytes > PYTHON_CHARACTERS_MAX ||
	    python_read_part(w, w->memory.characters, bytes, PYTHON_CHARACTERS_MAX, c.from))
		return 0;
	return c.size;
}

static __always_inline __u64 python_read_text_id(struct python_walk *w, __u64 address)
{
	__u64 size = python_read_characters(w, address);

	return size ? python_text_id(size, w->memory.characters) : 0;
}

/*
 * Return the id of the file name of the code object that w has read. Most frames have the same file
 * as the frame before, so the last file name's id is kept.
 */
static __always_inline __u64 python_read_file_id(struct python_walk *w)
{
	__u64 file = python_code_word(w, w->layout.code_file);

	if (file != w->memory.file) {
		w->memory.file_id = python_read_text_id(w, file);
		w->memory.file = file;
	}
	return w->memory.file_id;
}

static __always_inline __u32 python_read_code_id(struct python_walk *w)
{
	const struct python_layout *l = &w->layout;
	__u64 id = 0, shown[PYTHON_SHOWN_COUNT] = {0}, name = python_code_word(w, l->code_name),
	      qualified = name;

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		id = python_hash_word(id, python_code_word(w, l->code_id[i]));
	if (!l->id_by_text)
		return id;
	if (l->code_qualified_name != PYTHON_ABSENT)
		qualified = python_code_word(w, l->code_qualified_name);
	shown[PYTHON_SHOWN_NAME] = python_read_text_id(w, name);
	if (qualified != name)
		shown[PYTHON_SHOWN_QUALIFIED] = python_read_text_id(w, qualified);
	shown[PYTHON_SHOWN_FILE] = python_read_file_id(w);
	return python_code_id_with_names(id, shown);
}

/* Return the place of the frame's instruction in its code, in code units; ~0: before the first. */
static __always_inline __u32 python_code_unit(const struct python_walk *w, __u64 code)
{
	__u64 value = python_frame_word(w, w->layout.frame_instruction);
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

static __always_inline __u64 python_frame_tag(const struct python_walk *w)
{
	const struct python_layout *l = &w->layout;

	if (l->frames == PYTHON_FRAME_EACH ||
	    (l->frames == PYTHON_FRAME_ENTRY && python_frame_owner(w)))
		return WIRE_TAG_PYTHON_ENTRY;
	return WIRE_TAG_PYTHON;
}

/*
 * Return whether the frame is _Py_InitCleanup, the interpreter's own frame between __init__() and
 * the code that makes the object, from 3.13 on: its name equals its file name, and its first line
 * is 0. Tracebacks omit this frame as well.
 */
static __always_inline int python_is_internal_frame(const struct python_walk *w)
{
	const struct python_layout *l = &w->layout;
	__u32 line = python_code_word(w, l->code_first_line) >> (l->code_first_line & 4) * 8;

	return l->frames == PYTHON_FRAME_SHIM && !line &&
	       python_code_word(w, l->code_name) == python_code_word(w, l->code_file);
}

/*
 * Check the end of the frames of the innermost native call (3.11): the next frame must also be the
 * one in the previous struct _PyCFrame (there is none at a thread's root). Otherwise the call has
 * just begun, and the frames found are left over from an earlier call in the same place of the
 * stack.
 */
static __always_inline int python_check_first_call(struct python_walk *w)
{
	__u64 cframe = w->cframe, before = 0, frame = 0;

	w->cframe = 0;
	if (!python_read_word(w, &before, cframe, w->layout.cframe_previous) && before &&
	    !python_read_word(w, &frame, before, w->layout.cframe_frame) && frame == w->frame)
		return 0;
	w->cframe = cframe;
	frame = w->frame;
	python_try_registers(w);
	w->registers.fallback_frame = frame;
	w->registers.fallback_complete = 1;
	return 0;
}

static __always_inline int python_write_frame(struct python_walk *w, __u64 *words, __u64 code)
{
	__u64 tag = python_frame_tag(w);
	__u32 id = python_read_code_id(w);

	w->bounded = tag == WIRE_TAG_PYTHON_ENTRY;
	if (python_is_new_code(w, code, id))
		w->flags |= WIRE_PYTHON_NEW;
	if (python_write_pair(w, words, tag << WIRE_TAG_SHIFT | code,
			      PYTHON_PLACE(id, python_code_unit(w, code))))
		return 1;
	return tag == WIRE_TAG_PYTHON_ENTRY && w->cframe ? python_check_first_call(w) : 0;
}

static __always_inline int python_leave_frame(struct python_walk *w, __u64 *words)
{
	const struct python_layout *l = &w->layout;
	__u64 code = python_frame_word(w, l->frame_code) & ~(__u64)l->executable_tag;

	if (code >> WIRE_TAG_SHIFT || python_read_code(w, code))
		return w->first_frame && w->cframe ? python_try_registers(w)
						   : python_end_unreadable(w);
	w->first_frame = 0;
	w->frame = python_frame_word(w, l->frame_previous);
	return python_is_internal_frame(w) ? 0 : python_write_frame(w, words, code);
}

/*
 * The chain of frames has ended. Only a thread's root struct _PyCFrame stays without a frame; any
 * other without one is about to get its first frame, so search the registers for that frame.
 */
static __always_inline int python_end_frames(struct python_walk *w)
{
	__u64 previous = 0;

	if (w->first_frame && w->cframe &&
	    (python_read_word(w, &previous, w->cframe, w->layout.cframe_previous) || previous))
		return python_try_registers(w);
	/*
	 * the chain ends inside of a native call: its frames are those of a generator that is not
	 * linked to its caller's frame
	 */
	if (w->at != w->state_from && !w->bounded)
		return python_walk_end(w, WALK_END_PYTHON);
	w->phase = PYTHON_PHASE_STATE;
	return 0;
}

/*
 * Leave a shim. In 3.12, a shim that is the innermost frame is left over from a call that has
 * ended. The next call may use the same place of the C stack and not have linked its frame yet; so
 * search the registers for a new frame.
 */
static __always_inline int python_leave_shim(struct python_walk *w, __u64 *words)
{
	__u64 previous = python_frame_word(w, w->layout.frame_previous);
	int in_doubt = w->first_frame && w->cframe;

	w->first_frame = 0;
	if (in_doubt) {
		python_try_registers(w);
		w->registers.fallback_frame = previous;
		w->registers.fallback_complete = !previous; /* no frames: the thread is ending */
		return 0;
	}
	w->cframe = 0;
	w->frame = previous;
	return python_write_shim(w, words);
}

static __always_inline int python_frame_step(struct python_walk *w, __u64 *words)
{
	const struct python_layout *l = &w->layout;

	if (!w->frame)
		return python_end_frames(w);
	if (python_read_frame(w, w->frame))
		return w->first_frame && w->cframe ? python_try_registers(w)
						   : python_end_unreadable(w);
	if (l->frames != PYTHON_FRAME_SHIM || python_frame_owner(w) < l->shim_owner)
		return python_leave_frame(w, words);
	return python_leave_shim(w, words);
}

/* Make one step; words has room for PYTHON_WORDS. Return 0 if there are more steps to make. */
static __always_inline int python_walk_step(struct python_walk *w, __u64 *words)
{
	switch (w->phase) {
	case PYTHON_PHASE_SEARCH:
		return python_search_step(w);
	case PYTHON_PHASE_STATE:
		return python_state_step(w);
	case PYTHON_PHASE_REGISTER:
		return python_register_step(w, words);
	default:
		return python_frame_step(w, words);
	}
}

#endif
