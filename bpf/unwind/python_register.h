/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Reads Python frames and code objects, and finds the innermost frame in the thread's registers if
 * the interpreter has not linked it yet.
 */
#ifndef SKEIN_BPF_UNWIND_PYTHON_REGISTER_H
#define SKEIN_BPF_UNWIND_PYTHON_REGISTER_H

#include "bpf/unwind/python_thread.h"

static __always_inline __u64 frame_word(const struct python_walk *w, __u32 offset)
{
	return w->frame_memory[(offset / 8) & (PYTHON_FRAME_BYTES / 8 - 1)];
}

static __always_inline __u64 code_word(const struct python_walk *w, __u32 offset)
{
	return w->memory[(offset / 8) & (PYTHON_CODE_BYTES / 8 - 1)];
}

static __always_inline __u8 frame_owner(const struct python_walk *w)
{
	return frame_word(w, w->layout.frame_owner) >> (w->layout.frame_owner & 7) * 8;
}

static __always_inline int put_pair(struct python_walk *w, __u64 *words, __u64 first,
				    __u64 second)
{
	__u32 at = w->at;

	keep_in_register(at);
	if (at - w->from >= 2 * WIRE_MAX_PYTHON || at > PYTHON_WORDS - 2)
		return end_python(w, WALK_END_DEPTH);
	words[at] = first;
	words[at + 1] = second;
	w->at = at + 2;
	return 0;
}

/* Read the head of the code object at an address. Return 0 if there is a code object. */
static __always_inline int read_code(struct python_walk *w, __u64 code)
{
	__u32 bytes = w->layout.code_bytes;

	keep_in_register(bytes);
	if (bytes > PYTHON_CODE_BYTES || python_read(w, w->memory, bytes, code))
		return -1;
	return code_word(w, PYTHON_OBJECT_TYPE) == w->process.code_type ? 0 : -1;
}

/*
 * Begin to search the registers. In 3.11 and 3.12, when the evaluation loop has just been called,
 * its struct _PyCFrame is linked, but the addresses of the new frame and of the previous struct
 * _PyCFrame are not stored in it yet. They are about to be stored, so registers hold them.
 */
static __always_inline int try_registers(struct python_walk *w)
{
	w->tried = 0;
	w->otherwise = 0;
	w->whole = 0;
	w->phase = PYTHON_REGISTER;
	return 0;
}

static __always_inline int read_frame(struct python_walk *w, __u64 frame)
{
	__u32 bytes = w->layout.frame_bytes;

	keep_in_register(bytes);
	return bytes > PYTHON_FRAME_BYTES || python_read(w, w->frame_memory, bytes, frame);
}

/* Read the frame at an address and its code object. Return whether both are valid. */
static __always_inline int is_frame(struct python_walk *w, __u64 frame)
{
	return frame && !(frame & 7) && !read_frame(w, frame) &&
	       !read_code(w, frame_word(w, w->layout.frame_code));
}

/*
 * Return whether address is a struct _PyCFrame farther up the C stack that has a valid frame, which
 * is the caller's. If so, w->frame becomes that frame.
 */
static __always_inline int is_cframe(struct python_walk *w, __u64 address)
{
	__u64 previous = 0;

	return address > w->cframe && !(address & 7) &&
	       !read_at(w, &w->frame, address, w->layout.cframe_frame) &&
	       !read_at(w, &previous, address, w->layout.cframe_previous) && previous &&
	       is_frame(w, w->frame);
}

/*
 * Return whether address is the new frame: its shim is on the C stack, and the shim is linked to
 * the caller's frame, if there is one (3.12). If so, w->frame becomes the new frame.
 */
static __always_inline int is_new_frame(struct python_walk *w, __u64 address)
{
	const struct python_layout *l = &w->layout;
	__u64 shim, previous;

	if (l->frames != PYTHON_FRAME_SHIM || !is_frame(w, address))
		return 0;
	shim = frame_word(w, l->frame_previous);
	if (shim - w->cframe > 4096 || read_frame(w, shim) || frame_owner(w) < l->shim_owner)
		return 0;
	previous = frame_word(w, l->frame_previous);
	w->frame = address;
	return !previous || is_frame(w, previous);
}

static __always_inline int put_shim(struct python_walk *w, __u64 *words)
{
	w->bounded = 1;
	return put_pair(w, words, (__u64)WIRE_TAG_PYTHON_SHIM << WIRE_TAG_SHIFT, 0);
}

/* Continue with w->otherwise, or end the walk, because no register holds a frame. */
static __always_inline int end_registers(struct python_walk *w, __u64 *words)
{
	if (!w->otherwise && !w->whole)
		return end_unreadable(w);
	w->frame = w->otherwise;
	w->cframe = 0;
	w->phase = PYTHON_WALK;
	return w->whole ? 0 : put_shim(w, words);
}

/*
 * Check one register per call: first every register for the address of the caller's struct
 * _PyCFrame, then every register for the address of the new frame.
 */
static __always_inline int register_step(struct python_walk *w, __u64 *words)
{
	__u32 tried = w->tried, number = tried & (UNWIND_REGISTERS - 1);

	if (tried >= 2 * UNWIND_REGISTERS)
		return end_registers(w, words);
	w->tried = tried + 1;
	keep_in_register(number);
	if (tried < UNWIND_REGISTERS ? !is_cframe(w, w->registers[number]) :
				       !is_new_frame(w, w->registers[number]))
		return 0;
	w->at = w->begun; /* the frames found before belong to a call that is over */
	w->cframe = 0;
	w->phase = PYTHON_WALK;
	return 0;
}

#endif
