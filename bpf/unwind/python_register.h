/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Reads Python frames and code objects, and finds the innermost frame in the thread's registers if
 * the interpreter has not linked it yet.
 */
#ifndef SKEIN_BPF_UNWIND_PYTHON_REGISTER_H
#define SKEIN_BPF_UNWIND_PYTHON_REGISTER_H

#include "bpf/unwind/python_thread.h"

static __always_inline __u64 python_frame_word(const struct python_walk *w, __u32 offset)
{
	return w->memory.frame[(offset / 8) & (PYTHON_FRAME_BYTES / 8 - 1)];
}

static __always_inline __u64 python_code_word(const struct python_walk *w, __u32 offset)
{
	return w->memory.code[(offset / 8) & (PYTHON_CODE_BYTES / 8 - 1)];
}

static __always_inline __u8 python_frame_owner(const struct python_walk *w)
{
	return python_frame_word(w, w->layout.frame_owner) >> (w->layout.frame_owner & 7) * 8;
}

static __always_inline int python_write_pair(struct python_walk *w, __u64 *words, __u64 first,
					     __u64 second)
{
	__u32 at = w->at;

	keep_in_register(at);
	if (at - w->from >= 2 * WIRE_MAX_PYTHON || at > PYTHON_WORDS - 2)
		return python_walk_end(w, WALK_END_DEPTH);
	words[at] = first;
	words[at + 1] = second;
	w->at = at + 2;
	return 0;
}

/* Read the head of the code object at an address. Return 0 if there is a code object. */
static __always_inline int python_read_code(struct python_walk *w, __u64 code)
{
	__u32 bytes = w->layout.code_bytes;

	keep_in_register(bytes);
	if (bytes > PYTHON_CODE_BYTES ||
	    python_read_part(w, w->memory.code, bytes, PYTHON_CODE_BYTES, code))
		return -1;
	return python_code_word(w, PYTHON_OBJECT_TYPE) == w->process.code_type ? 0 : -1;
}

/*
 * Begin to search the registers. In 3.11 and 3.12, when the evaluation loop has just been called,
 * its struct _PyCFrame is linked, but the addresses of the new frame and of the previous struct
 * _PyCFrame are not stored there yet. Both addresses are about to be stored, so registers hold
 * them.
 */
static __always_inline int python_try_registers(struct python_walk *w)
{
	w->registers.tried = 0;
	w->registers.fallback_frame = 0;
	w->registers.fallback_complete = 0;
	w->phase = PYTHON_PHASE_REGISTER;
	return 0;
}

static __always_inline int python_read_frame(struct python_walk *w, __u64 frame)
{
	__u32 bytes = w->layout.frame_bytes;

	keep_in_register(bytes);
	return bytes > PYTHON_FRAME_BYTES ||
	       python_read_part(w, w->memory.frame, bytes, PYTHON_FRAME_BYTES, frame);
}

/* Read the frame at an address and its code object. Return whether both are valid. */
static __always_inline int python_is_frame(struct python_walk *w, __u64 frame)
{
	return frame && !(frame & 7) && !python_read_frame(w, frame) &&
	       !python_read_code(w, python_frame_word(w, w->layout.frame_code));
}

/*
 * Return whether address is a struct _PyCFrame farther up the C stack that has a valid frame, which
 * is the caller's. If so, w->frame is that frame; if not, w->frame has no meaning.
 */
static __always_inline int python_is_cframe(struct python_walk *w, __u64 address)
{
	__u64 previous = 0;

	return address > w->cframe && !(address & 7) &&
	       !python_read_word(w, &w->frame, address, w->layout.cframe_frame) &&
	       !python_read_word(w, &previous, address, w->layout.cframe_previous) && previous &&
	       python_is_frame(w, w->frame);
}

/*
 * Return whether address is the new frame: its shim is on the C stack, at most 4096 bytes above
 * w->cframe, and the shim is linked to the caller's frame, if there is one (3.12). If so, w->frame
 * becomes the new frame.
 */
static __always_inline int python_is_new_frame(struct python_walk *w, __u64 address)
{
	const struct python_layout *l = &w->layout;
	__u64 shim, previous;

	if (l->frames != PYTHON_FRAME_SHIM || !python_is_frame(w, address))
		return 0;
	shim = python_frame_word(w, l->frame_previous);
	if (shim - w->cframe > 4096 || python_read_frame(w, shim) ||
	    python_frame_owner(w) < l->shim_owner)
		return 0;
	previous = python_frame_word(w, l->frame_previous);
	w->frame = address;
	return !previous || python_is_frame(w, previous);
}

static __always_inline int python_write_shim(struct python_walk *w, __u64 *words)
{
	w->bounded = 1;
	return python_write_pair(w, words, (__u64)WIRE_TAG_PYTHON_SHIM << WIRE_TAG_SHIFT, 0);
}

/* No register holds a frame: continue with w->registers.fallback_frame, or end the walk. */
static __always_inline int python_end_registers(struct python_walk *w, __u64 *words)
{
	if (!w->registers.fallback_frame && !w->registers.fallback_complete)
		return python_end_unreadable(w);
	w->frame = w->registers.fallback_frame;
	w->cframe = 0;
	w->phase = PYTHON_PHASE_FRAME;
	return w->registers.fallback_complete ? 0 : python_write_shim(w, words);
}

/*
 * Check one register per call: first every register for the address of the caller's struct
 * _PyCFrame, then every register for the address of the new frame.
 */
static __always_inline int python_register_step(struct python_walk *w, __u64 *words)
{
	__u32 tried = w->registers.tried, number = tried & (UNWIND_REGISTERS - 1);

	if (tried >= 2 * UNWIND_REGISTERS)
		return python_end_registers(w, words);
	w->registers.tried = tried + 1;
	keep_in_register(number);
	if (tried < UNWIND_REGISTERS ? !python_is_cframe(w, w->registers.values[number])
				     : !python_is_new_frame(w, w->registers.values[number]))
		return 0;
	w->at = w->state_from; /* the frames found before belong to a call that is over */
	w->cframe = 0;
	w->phase = PYTHON_PHASE_FRAME;
	return 0;
}

#endif
