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

#include "bpf/unwind/python_state.h"

/*
 * Whether a thread state's ident is that of the thread with this thread pointer: pthread_self() is
 * the same number, or, where the thread's own data lie in front of it, a little less.
 */
static __always_inline int python_is_self(__u64 ident, __u64 self)
{
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
	return self - ident <= 4096;
#else
	return ident == self;
#endif
}

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

static __always_inline int read_at(struct python_walk *w, __u64 *to, __u64 object, __u32 offset)
{
	return python_read(w, to, sizeof(*to), object + offset);
}

static __always_inline int read_int(struct python_walk *w, __u32 *to, __u64 object, __u32 offset)
{
	return python_read(w, to, sizeof(*to), object + offset);
}

static __always_inline int end_python(struct python_walk *w, enum walk_end end)
{
	w->end = end;
	return 1;
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

/* Whether all that were found the last time still are states of this thread. */
static __always_inline int check_states(struct python_walk *w, const struct python_thread *t)
{
	for (__u32 i = 0; i < PYTHON_NESTED_MAX && i < t->count; i++) {
		__u64 ident = 0;

		w->states[i] = t->states[i];
		if (read_at(w, &ident, w->states[i], w->layout.thread_ident) ||
		    !python_is_self(ident, w->self))
			return -1;
		w->count = i + 1;
	}
	return 0;
}

/* The thread states that were found the last time, if they may still be this thread's. */
static __always_inline void recall_states(struct python_walk *w)
{
	const struct python_thread *t = python_recall(w);

	if (!t || t->tid != w->tid || t->runtime != w->process.runtime || t->born != w->born ||
	    t->head != w->head || !t->alone)
		return;
	if (check_states(w, t)) {
		w->count = 0;
		return;
	}
	if (!w->count &&
	    (t->first != w->first_thread || w->now - t->searched > PYTHON_SEARCH_PAUSE))
		return;
	w->recalled = 1; /* be it that there are none */
	w->phase = PYTHON_BEGIN;
}

static __always_inline void remember_states(const struct python_walk *w)
{
	struct python_thread *t = python_recall(w);

	if (!t)
		return;
	t->count = 0; /* nobody takes half of it */
	t->runtime = w->process.runtime;
	t->born = w->born;
	t->tid = w->tid;
	t->searched = w->now;
	t->head = w->head;
	t->first = w->first_thread;
	t->alone = w->alone;
	for (int i = 0; i < PYTHON_NESTED_MAX; i++)
		t->states[i] = w->states[i];
	t->count = w->count;
}

/*
 * 0: there are steps to make. The process, layout and thread are set. at: of the first word.
 */
static __always_inline int python_begin(struct python_walk *w, __u32 at)
{
	w->from = at;
	w->at = at;
	w->count = w->next = w->searched = 0;
	w->thread = w->frame = w->cframe = 0;
	w->phase = PYTHON_SEARCH;
	w->recalled = 0;
	w->flags = WIRE_PYTHON_PROCESS;
	w->end = WALK_END_PYTHON; /* if there are not steps enough */
	if (read_at(w, &w->head, w->process.runtime, w->layout.runtime_interpreters) || !w->head ||
	    read_at(w, &w->first_thread, w->head, w->layout.interpreter_threads))
		return 1; /* it has not begun yet, or is over */
	w->interpreter = w->head;
	w->idle = 0;
	w->alone = 0;
	recall_states(w);
	return 0;
}

/* The search has seen everything, or what it could. */
static __always_inline int end_search(struct python_walk *w)
{
	if (!w->count && w->idle) {
		w->states[0] = w->idle;
		w->count = 1;
	}
	remember_states(w);
	w->phase = PYTHON_BEGIN;
	w->next = 0;
	return 0;
}

/* Whether a state runs frames. */
static __always_inline int has_frames(struct python_walk *w, __u64 thread)
{
	const struct python_layout *l = &w->layout;
	__u64 frame = 0, cframe;

	if (read_at(w, &frame, thread, l->thread_frame) || !frame)
		return 0;
	if (l->cframe_frame == PYTHON_ABSENT)
		return 1;
	/* what is in there may not be linked yet; the root has none, and nothing before it */
	cframe = frame;
	return (!read_at(w, &frame, cframe, l->cframe_previous) && frame) ||
	       (!read_at(w, &frame, cframe, l->cframe_frame) && frame);
}

static __always_inline int search_interpreter(struct python_walk *w)
{
	__u64 interpreter = w->interpreter;

	if (!interpreter ||
	    read_at(w, &w->thread, interpreter, w->layout.interpreter_threads) ||
	    read_at(w, &w->interpreter, interpreter, w->layout.interpreter_next))
		return end_search(w);
	if (interpreter == w->head)
		w->alone = !w->interpreter;
	return 0;
}

/*
 * One interpreter's first thread, or one thread: whether it is the one that stands here. A thread
 * has one state in each interpreter that it has to do with; but up to 3.11 one that is about to
 * begin has its parent's ident. Neither has frames unless it runs. Other threads change the lists
 * meanwhile.
 */
static __always_inline int search_step(struct python_walk *w)
{
	__u64 thread = w->thread, ident = 0;
	__u32 count = w->count;

	keep_in_register(count);
	if (++w->searched > PYTHON_SEARCH_MAX || count >= PYTHON_NESTED_MAX)
		return end_search(w);
	if (!thread)
		return search_interpreter(w);
	if (read_at(w, &ident, thread, w->layout.thread_ident) ||
	    read_at(w, &w->thread, thread, w->layout.thread_next))
		return end_search(w);
	if (!python_is_self(ident, w->self))
		return 0;
	if (has_frames(w, thread)) {
		w->states[count] = thread;
		w->count = count + 1;
	} else {
		w->idle = thread;
	}
	if (w->layout.frames == PYTHON_FRAME_SHIM)
		w->thread = 0;
	return 0;
}

/* Whether a thread state holds the lock of its interpreter. */
static __always_inline int holds_lock(struct python_walk *w, __u64 thread, __u64 interpreter)
{
	const struct python_layout *l = &w->layout;
	__u64 holder = 0, gil = 0;
	__u32 locked = 0;

	if (l->runtime_holder != PYTHON_ABSENT)
		return !read_at(w, &holder, w->process.runtime, l->runtime_holder) &&
		       holder == thread;
	return !read_at(w, &gil, interpreter, l->interpreter_gil) &&
	       !read_at(w, &holder, gil, l->gil_holder) && holder == thread &&
	       !read_int(w, &locked, gil, l->gil_locked) && locked;
}

/* The interpreter's lock and collector, as far as this thread has to do with them. */
static __always_inline void look_at_lock(struct python_walk *w, __u64 thread, __u64 interpreter)
{
	const struct python_layout *l = &w->layout;
	__u32 collecting = 0;

	if (!holds_lock(w, thread, interpreter))
		return;
	w->flags |= WIRE_PYTHON_GIL;
	if (l->runtime_collecting != PYTHON_ABSENT)
		read_int(w, &collecting, w->process.runtime, l->runtime_collecting);
	else
		read_int(w, &collecting, interpreter, l->interpreter_collecting);
	if (collecting)
		w->flags |= WIRE_PYTHON_COLLECTING;
}

/* What was remembered is not so any more. */
static __always_inline int search_again(struct python_walk *w)
{
	w->recalled = 0;
	w->count = w->next = 0;
	w->flags = WIRE_PYTHON_PROCESS;
	w->interpreter = w->head;
	w->thread = 0;
	w->phase = PYTHON_SEARCH;
	return 0;
}

/*
 * No more states. If what was remembered has no frames, the thread has perhaps got another state
 * since: at once if there is a new first one, for free memory may still have the ident.
 */
static __always_inline int end_states(struct python_walk *w)
{
	const struct python_thread *t = python_recall(w);

	if (!w->recalled || !w->count || w->at != w->from || !t ||
	    (t->first == w->first_thread && w->now - t->searched <= PYTHON_SEARCH_PAUSE))
		return end_python(w, WALK_END_WALKED);
	return search_again(w);
}

/* A state that was remembered may have been freed, and its memory be used for something else. */
static __always_inline int end_unreadable(struct python_walk *w)
{
	if (w->recalled && w->at == w->from)
		return search_again(w);
	return end_python(w, WALK_END_PYTHON);
}

/* The innermost frame of the next state. */
static __always_inline int begin_step(struct python_walk *w)
{
	const struct python_layout *l = &w->layout;
	__u32 next = w->next;
	__u64 thread, interpreter = 0;

	keep_in_register(next);
	if (next >= w->count || next >= PYTHON_NESTED_MAX)
		return end_states(w);
	thread = w->states[next];
	w->next = next + 1;
	if (read_at(w, &interpreter, thread, l->thread_interpreter) ||
	    read_at(w, &w->frame, thread, l->thread_frame))
		return end_unreadable(w);
	w->flags |= WIRE_PYTHON_THREAD;
	w->begun = w->at;
	look_at_lock(w, thread, interpreter);
	w->cframe = 0;
	if (l->cframe_frame != PYTHON_ABSENT) {
		w->cframe = w->frame;
		if (read_at(w, &w->frame, w->cframe, l->cframe_frame))
			return end_unreadable(w);
	}
	w->first = 1;
	w->phase = PYTHON_WALK;
	return 0;
}

/* The head of the code object at an address: whether it is one. */
static __always_inline int read_code(struct python_walk *w, __u64 code)
{
	__u32 bytes = w->layout.code_bytes;

	keep_in_register(bytes);
	if (bytes > PYTHON_CODE_BYTES || python_read(w, w->memory, bytes, code))
		return -1;
	return code_word(w, PYTHON_OBJECT_TYPE) == w->process.code_type ? 0 : -1;
}

/*
 * The loop has just been called (3.11, 3.12): its struct _PyCFrame is linked, but has neither its
 * frame nor the one before yet. They are about to be stored, and so in registers.
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

/* Whether there is a frame that runs code; it is read. */
static __always_inline int is_frame(struct python_walk *w, __u64 frame)
{
	return frame && !(frame & 7) && !read_frame(w, frame) &&
	       !read_code(w, frame_word(w, w->layout.frame_code));
}

/* The caller's frame, if there is a struct _PyCFrame that has it: further up the C stack. */
static __always_inline int is_cframe(struct python_walk *w, __u64 address)
{
	__u64 previous = 0;

	return address > w->cframe && !(address & 7) &&
	       !read_at(w, &w->frame, address, w->layout.cframe_frame) &&
	       !read_at(w, &previous, address, w->layout.cframe_previous) && previous &&
	       is_frame(w, w->frame);
}

/* The new frame, if it is linked to its shim, and that to the caller's frame (3.12). */
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

/* No register had a frame. */
static __always_inline int end_registers(struct python_walk *w, __u64 *words)
{
	if (!w->otherwise && !w->whole)
		return end_unreadable(w);
	w->frame = w->otherwise;
	w->cframe = 0;
	w->phase = PYTHON_WALK;
	return w->whole ? 0 : put_shim(w, words);
}

/* First all that may be the one, then all that may be the other. */
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
	w->at = w->begun; /* what was found before was a call's that is over */
	w->cframe = 0;
	w->phase = PYTHON_WALK;
	return 0;
}

static __always_inline __u32 code_id(struct python_walk *w)
{
	__u64 id = 0;

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		id = python_mix(id, code_word(w, w->layout.code_id[i]));
	if (!w->layout.id_by_name ||
	    python_read(w, w->name, sizeof(w->name), code_word(w, w->layout.code_name)))
		return id;
	return python_name_id(id, w->name);
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
		     WIRE_PYTHON_PLACE(id, code_unit(w, code))))
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
