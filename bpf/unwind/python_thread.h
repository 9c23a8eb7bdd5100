/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Finds the interpreter states of the sampled thread, and whether the thread holds the
 * interpreter's lock. The states found are cached by thread id.
 */
#ifndef SKEIN_BPF_UNWIND_PYTHON_THREAD_H
#define SKEIN_BPF_UNWIND_PYTHON_THREAD_H

#include "bpf/unwind/python_state.h"

/*
 * Return whether a thread state's ident belongs to the thread with this thread pointer (self).
 * ident is pthread_self(), which is the same number, or, on arm64, where the C library's thread
 * data precede the thread pointer, a little less.
 */
static __always_inline int python_is_self(__u64 ident, __u64 self)
{
#if defined(__TARGET_ARCH_arm64) || defined(__aarch64__)
	return self - ident <= 4096;
#else
	return ident == self;
#endif
}

static __always_inline int python_read_word(struct python_walk *w, __u64 *to, __u64 object,
					    __u32 offset)
{
	return python_read(w, to, sizeof(*to), object + offset);
}

static __always_inline int python_read_int(struct python_walk *w, __u32 *to, __u64 object,
					   __u32 offset)
{
	return python_read(w, to, sizeof(*to), object + offset);
}

static __always_inline int python_walk_end(struct python_walk *w, enum walk_end end)
{
	w->end = end;
	return 1;
}

/*
 * Upper bound, bytes, of the size of a PyThreadState, which contains its root struct _PyCFrame, the
 * only one without frames.
 */
#define PYTHON_STATE_BYTES 4096

/*
 * Return whether the sampled thread runs this thread state, which has that ident. ident names the
 * thread that the state was made for, but 3.12's module for interpreters lets any thread run the
 * state that another one has made. In 3.11 and 3.12 the innermost struct _PyCFrame is on the stack
 * of the thread that runs the state. ident decides where there is no such struct _PyCFrame, or the
 * stack pointer is not known.
 */
static __always_inline int python_is_own_state(struct python_walk *w, __u64 thread, __u64 ident)
{
	__u64 sp = w->registers.values[UNWIND_REG_SP], cframe = 0;

	if (w->layout.cframe_frame == PYTHON_ABSENT || !sp || sp >= w->stack_end ||
	    python_read_word(w, &cframe, thread, w->layout.thread_frame) || !cframe ||
	    cframe - thread < PYTHON_STATE_BYTES)
		return python_is_self(ident, w->self);
	return cframe >= sp && cframe < w->stack_end;
}

/* Copy the cached states to w. Return 0 if all of them still belong to this thread. */
static __always_inline int python_take_cached(struct python_walk *w, const struct python_thread *t)
{
	for (__u32 i = 0; i < PYTHON_NESTED_MAX && i < t->count; i++) {
		__u64 ident = 0;

		w->search.found[i] = t->states[i];
		if (python_read_word(w, &ident, w->search.found[i], w->layout.thread_ident) ||
		    !python_is_own_state(w, w->search.found[i], ident))
			return -1;
		w->search.count = i + 1;
	}
	return 0;
}

/* Use the cached states of the thread if they may still be valid. */
static __always_inline void python_use_cache(struct python_walk *w)
{
	const struct python_thread *t = python_cache_entry(w);

	if (!t || t->tid != w->tid || t->runtime != w->process.runtime || t->born != w->born ||
	    t->first_interpreter != w->search.first_interpreter || !t->one_interpreter)
		return;
	if (python_take_cached(w, t)) {
		w->search.count = 0;
		return;
	}
	if (!w->search.count &&
	    (t->first_thread != w->search.first_thread || w->now - t->searched_at > t->pause))
		return;
	/* another CPU may have written the entry meanwhile */
	if (*(const volatile __u32 *)&t->tid != w->tid) {
		w->search.count = 0;
		return;
	}
	w->search.from_cache = 1; /* also if the cache says that there are none */
	w->phase = PYTHON_PHASE_STATE;
}

/*
 * Return the back-off (ns) after a search. The back-off doubles if this search has found no state
 * with frames and t has the result of an earlier search for the same thread.
 */
static __always_inline __u64 python_search_pause(const struct python_walk *w,
						 const struct python_thread *t)
{
	if (!w->search.missed || t->tid != w->tid || t->runtime != w->process.runtime ||
	    t->born != w->born || !t->pause)
		return PYTHON_PAUSE_LEAST;
	return t->pause < PYTHON_PAUSE_MOST / 2 ? 2 * t->pause : PYTHON_PAUSE_MOST;
}

static __always_inline void python_update_cache(const struct python_walk *w)
{
	struct python_thread *t = python_cache_entry(w);

	if (!t)
		return;
	t->pause = python_search_pause(w, t);
	/*
	 * A program on another CPU may read the entry meanwhile: without a thread id it belongs to
	 * no thread.
	 */
	*(volatile __u32 *)&t->tid = 0;
	t->runtime = w->process.runtime;
	t->born = w->born;
	t->searched_at = w->now;
	t->first_interpreter = w->search.first_interpreter;
	t->first_thread = w->search.first_thread;
	t->one_interpreter = w->search.one_interpreter;
	for (int i = 0; i < PYTHON_NESTED_MAX; i++)
		t->states[i] = w->search.found[i];
	t->count = w->search.count;
	*(volatile __u32 *)&t->tid = w->tid;
}

/*
 * Begin a walk; the process, layout and thread are set. at: index of the first word. Return 0 if
 * there are steps to make.
 */
static __always_inline int python_walk_begin(struct python_walk *w, __u32 at)
{
	w->from = at;
	w->at = at;
	w->search.count = w->search.next = w->search.steps = 0;
	w->search.thread = w->frame = w->cframe = 0;
	w->memory.file = w->memory.file_id = 0;
	w->phase = PYTHON_PHASE_SEARCH;
	w->search.from_cache = 0;
	w->flags = WIRE_PYTHON_PROCESS;
	w->end = WALK_END_PYTHON; /* the result if the steps are used up */
	if (python_read_word(w, &w->search.first_interpreter, w->process.runtime,
			     w->layout.runtime_interpreters) ||
	    !w->search.first_interpreter ||
	    python_read_word(w, &w->search.first_thread, w->search.first_interpreter,
			     w->layout.interpreter_threads))
		return 1; /* the interpreter has not begun yet, or is over */
	w->search.interpreter = w->search.first_interpreter;
	w->search.idle_state = 0;
	w->search.one_interpreter = 0;
	python_use_cache(w);
	return 0;
}

/* End the search, after all lists have been searched or at its limit of steps. */
static __always_inline int python_end_search(struct python_walk *w)
{
	w->search.missed = !w->search.count;
	if (!w->search.count && w->search.idle_state) {
		w->search.found[0] = w->search.idle_state;
		w->search.count = 1;
	}
	python_update_cache(w);
	w->phase = PYTHON_PHASE_STATE;
	w->search.next = 0;
	return 0;
}

/* Return whether a thread state runs frames. */
static __always_inline int python_has_frames(struct python_walk *w, __u64 thread)
{
	const struct python_layout *l = &w->layout;
	__u64 frame = 0, cframe;

	if (python_read_word(w, &frame, thread, l->thread_frame) || !frame)
		return 0;
	if (l->cframe_frame == PYTHON_ABSENT)
		return 1;
	/*
	 * a struct _PyCFrame may have no frame linked yet; only the root has neither a frame nor a
	 * previous one
	 */
	cframe = frame;
	return (!python_read_word(w, &frame, cframe, l->cframe_previous) && frame) ||
	       (!python_read_word(w, &frame, cframe, l->cframe_frame) && frame);
}

static __always_inline int python_search_interpreter(struct python_walk *w)
{
	__u64 interpreter = w->search.interpreter;

	if (!interpreter ||
	    python_read_word(w, &w->search.thread, interpreter, w->layout.interpreter_threads) ||
	    python_read_word(w, &w->search.interpreter, interpreter, w->layout.interpreter_next))
		return python_end_search(w);
	if (interpreter == w->search.first_interpreter)
		w->search.one_interpreter = !w->search.interpreter;
	return 0;
}

/*
 * Check one thread state for the sampled thread, or go on to the next interpreter's list. A thread
 * has one state in each interpreter that it uses; but up to 3.11, the state of a thread that is
 * about to begin has the ident of the parent thread. Only the state that the thread runs has
 * frames. The list may change meanwhile: an unreadable state ends the search.
 */
static __always_inline int python_search_step(struct python_walk *w)
{
	__u64 thread = w->search.thread, ident = 0;
	__u32 count = w->search.count;

	keep_in_register(count);
	if (++w->search.steps > PYTHON_SEARCH_MAX || count >= PYTHON_NESTED_MAX)
		return python_end_search(w);
	if (!thread)
		return python_search_interpreter(w);
	if (python_read_word(w, &ident, thread, w->layout.thread_ident) ||
	    python_read_word(w, &w->search.thread, thread, w->layout.thread_next))
		return python_end_search(w);
	if (!python_is_own_state(w, thread, ident))
		return 0;
	if (python_has_frames(w, thread)) {
		w->search.found[count] = thread;
		w->search.count = count + 1;
	} else {
		w->search.idle_state = thread;
	}
	if (w->layout.frames == PYTHON_FRAME_SHIM)
		w->search.thread = 0;
	return 0;
}

/* Return whether a thread state holds the lock of its interpreter. */
static __always_inline int python_holds_gil(struct python_walk *w, __u64 thread, __u64 interpreter)
{
	const struct python_layout *l = &w->layout;
	__u64 holder = 0, gil = 0;
	__u32 locked = 0;

	if (l->runtime_holder != PYTHON_ABSENT)
		return !python_read_word(w, &holder, w->process.runtime, l->runtime_holder) &&
		       holder == thread;
	return !python_read_word(w, &gil, interpreter, l->interpreter_gil) &&
	       !python_read_word(w, &holder, gil, l->gil_holder) && holder == thread &&
	       !python_read_int(w, &locked, gil, l->gil_locked) && locked;
}

/* Set the flags for the interpreter's lock and garbage collector, if this thread holds the lock. */
static __always_inline void python_set_gil_flags(struct python_walk *w, __u64 thread,
						 __u64 interpreter)
{
	const struct python_layout *l = &w->layout;
	__u32 collecting = 0;

	if (!python_holds_gil(w, thread, interpreter))
		return;
	w->flags |= WIRE_PYTHON_GIL;
	if (l->runtime_collecting != PYTHON_ABSENT)
		python_read_int(w, &collecting, w->process.runtime, l->runtime_collecting);
	else
		python_read_int(w, &collecting, interpreter, l->interpreter_collecting);
	if (collecting)
		w->flags |= WIRE_PYTHON_COLLECTING;
}

/* Discard the cached states and search again. */
static __always_inline int python_search_again(struct python_walk *w)
{
	w->search.from_cache = 0;
	w->search.count = w->search.next = 0;
	w->flags = WIRE_PYTHON_PROCESS;
	w->search.interpreter = w->search.first_interpreter;
	w->search.thread = 0;
	w->phase = PYTHON_PHASE_SEARCH;
	return 0;
}

/*
 * End the walk after the last state. If cached states have no frames, the thread may have got
 * another state since; search at once if there is a new first thread, because a freed state may
 * still contain the ident.
 */
static __always_inline int python_end_states(struct python_walk *w)
{
	const struct python_thread *t = python_cache_entry(w);

	if (!w->search.from_cache || !w->search.count || w->at != w->from || !t ||
	    (t->first_thread == w->search.first_thread && w->now - t->searched_at <= t->pause))
		return python_walk_end(w, WALK_END_WALKED);
	return python_search_again(w);
}

/*
 * Handle unreadable memory: search again if the state came from the cache and no frame has been
 * written, since a cached state may have been freed and its memory reused. Otherwise end the walk.
 */
static __always_inline int python_end_unreadable(struct python_walk *w)
{
	if (w->search.from_cache && w->at == w->from)
		return python_search_again(w);
	return python_walk_end(w, WALK_END_PYTHON);
}

/* Begin to walk the next state, at its innermost frame. */
static __always_inline int python_state_step(struct python_walk *w)
{
	const struct python_layout *l = &w->layout;
	__u32 next = w->search.next;
	__u64 thread, interpreter = 0;

	keep_in_register(next);
	if (next >= w->search.count || next >= PYTHON_NESTED_MAX)
		return python_end_states(w);
	thread = w->search.found[next];
	w->search.next = next + 1;
	if (python_read_word(w, &interpreter, thread, l->thread_interpreter) ||
	    python_read_word(w, &w->frame, thread, l->thread_frame))
		return python_end_unreadable(w);
	w->flags |= WIRE_PYTHON_THREAD;
	w->state_from = w->at;
	python_set_gil_flags(w, thread, interpreter);
	w->cframe = 0;
	if (l->cframe_frame != PYTHON_ABSENT) {
		w->cframe = w->frame;
		if (python_read_word(w, &w->frame, w->cframe, l->cframe_frame))
			return python_end_unreadable(w);
	}
	w->first_frame = 1;
	w->phase = PYTHON_PHASE_FRAME;
	return 0;
}

#endif
