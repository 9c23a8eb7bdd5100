/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The state of a walk over Python frames between two steps. */
#ifndef SKEIN_BPF_UNWIND_PYTHON_STATE_H
#define SKEIN_BPF_UNWIND_PYTHON_STATE_H

#include "bpf/event.h"
#include "bpf/unwind/python_layout.h"
#include "bpf/unwind/state.h"

/* Number of words of a sample's frames; the bound for every index of a word. */
#define PYTHON_WORDS (WIRE_MAX_KERNEL + WIRE_MAX_USER + 2 * WIRE_MAX_PYTHON)
/* Maximum number of steps of the searches in one walk, and of a whole walk (by bpf_loop()). */
#define PYTHON_SEARCH_MAX 4096
#define PYTHON_STEPS_MAX 8192
/* Maximum number of thread states of nested interpreters that one native thread may run. */
#define PYTHON_NESTED_MAX 4
/*
 * Bounds of the back-off, ns: if a search has found no state of a thread, the thread is not
 * searched again for this time, unless the interpreter has a new thread. The pause doubles each
 * time, since most such threads are native threads of a library, but some have just begun.
 */
#define PYTHON_PAUSE_LEAST 1000000
#define PYTHON_PAUSE_MOST 100000000

enum python_phase {
	PYTHON_PHASE_SEARCH, /* search the thread in the lists of all interpreters */
	PYTHON_PHASE_STATE, /* begin to walk the frames of one of the thread's states */
	PYTHON_PHASE_FRAME, /* walk one frame */
	PYTHON_PHASE_REGISTER, /* check one register for a frame that is not linked yet */
};

/*
 * Cached states of a thread. Other CPUs may write an entry at the same time, so readers check every
 * value that they use.
 */
struct python_thread {
	__u64 runtime, born; /* of the thread's process: address of _PyRuntime, and start time */
	__u32 tid;
	__u32 count; /* number of states */
	__u64 searched_at; /* time of the last search, ns */
	__u64 pause; /* until the next search, ns */
	/*
	 * The heads of the lists of interpreters, and of threads of the first one, at that search.
	 * CPython puts new ones at the head, so other heads mean that there is something new.
	 */
	__u64 first_interpreter, first_thread;
	/* there was one interpreter only; otherwise the states are searched every time */
	__u32 one_interpreter;
	__u32 unused;
	__u64 states[PYTHON_NESTED_MAX];
};

/* The thread's states, and the search for them in the lists of all interpreters. */
struct python_search {
	__u32 count, next; /* number of states found, and index of the next */
	__u64 found[PYTHON_NESTED_MAX]; /* innermost interpreter first */
	__u64 first_interpreter;
	__u64 first_thread; /* the first thread of first_interpreter */
	__u64 interpreter, thread; /* position in the lists: the next to read; 0: end of the list */
	__u64 idle_state; /* a state without frames; 0: none */
	__u32 steps;
	__u32 one_interpreter; /* there is one interpreter only */
	__u8 missed; /* the search has found no state with frames */
	__u8 from_cache; /* the states come from the cache */
};

/* The thread's registers at the sample, one of which may hold a frame that is not linked yet. */
struct python_registers {
	__u64 fallback_frame; /* frame to continue with if no register holds one; 0: none */
	__u32 tried; /* registers checked */
	/* fallback_frame continues the chain of frames; otherwise a shim is written before it */
	__u8 fallback_complete;
	__u64 values[UNWIND_REGISTERS];
};

/* The parts of the process's memory that the walker has read last. */
struct python_buffers {
	__u64 frame[PYTHON_FRAME_BYTES / sizeof(__u64)];
	__u64 code[PYTHON_CODE_BYTES / sizeof(__u64)]; /* of a code object */
	__u64 text_head[PYTHON_TEXT_HEAD_WORDS]; /* of a str shown for a code object */
	__u64 characters[PYTHON_CHARACTERS_WORDS];
	/* the file of the frame before: address of its str, and python_text_id(); 0: none */
	__u64 file, file_id;
};

struct python_walk {
	struct python_process process;
	struct python_layout layout;
	__u64 born; /* start time of the process, ns */
	__u64 now; /* ns */
	__u64 self; /* the thread pointer */
	__u64 stack_end; /* the thread's stack is below this address; ~0: not known (main thread) */
	__u32 tid;
	__u32 from, at; /* indexes of the walk's first word in the sample, and of the next */
	struct python_search search;
	/* 3.11 and 3.12: struct _PyCFrame whose frame has not been checked yet; else 0 */
	__u64 cframe;
	__u64 frame; /* address of the next frame; 0: the chain of frames has ended */
	__u32 state_from; /* index of this state's first word */
	__u8 phase; /* enum python_phase */
	__u8 first_frame; /* no frame of this state has been read yet */
	__u8 flags; /* enum wire_python */
	__u8 end; /* enum walk_end */
	__u8 bounded; /* the last pair written has the tag _ENTRY or _SHIM: a native call began */
	struct python_registers registers;
	struct python_buffers memory;
};

#endif
