/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The state of a walk over Python frames between two steps. */
#ifndef SKEIN_BPF_UNWIND_PYTHON_STATE_H
#define SKEIN_BPF_UNWIND_PYTHON_STATE_H

#include "bpf/event.h"
#include "bpf/unwind/python_layout.h"
#include "bpf/unwind/state.h"

/* Room for words, wherever the first of the walk stands. */
#define PYTHON_WORDS (WIRE_MAX_KERNEL + WIRE_MAX_USER + 2 * WIRE_MAX_PYTHON)
/* Steps of a search, whatever lists a process has, and of a walk as a whole. */
#define PYTHON_SEARCH_MAX 4096
#define PYTHON_STEPS_MAX 8192
/* Threads of several interpreters that one native thread may run, one inside the other. */
#define PYTHON_NESTED_MAX 4
/*
 * A thread that was not found is not looked for again for so long, ns, unless there is a new
 * thread: twice as long each time, since most are native threads of a library, but some have just
 * begun.
 */
#define PYTHON_PAUSE_LEAST 1000000
#define PYTHON_PAUSE_MOST 100000000

enum python_phase {
	PYTHON_SEARCH, /* for the thread among those of all interpreters */
	PYTHON_BEGIN, /* one of its thread states */
	PYTHON_WALK, /* a frame */
	PYTHON_REGISTER, /* a register that may hold what is not linked yet */
};

/* Where the states of a thread were found. Other CPUs may write it at once: all is checked. */
struct python_thread {
	__u64 runtime, born; /* whose */
	__u32 tid;
	__u32 count; /* of states */
	__u64 searched; /* when, ns */
	__u64 pause; /* until it is looked for again, ns */
	/* the first interpreter, and its first thread, then: new ones come before them */
	__u64 head, first;
	__u32 alone; /* there was one interpreter only; else states are looked for every time */
	__u32 unused;
	__u64 states[PYTHON_NESTED_MAX];
};

struct python_walk {
	struct python_process process;
	struct python_layout layout;
	__u64 born; /* of the process */
	__u64 now; /* ns */
	__u64 self; /* the thread pointer */
	__u32 tid;
	__u32 from, at; /* where the first word is, and the next */
	__u32 count, next; /* states found, and which comes next */
	__u64 states[PYTHON_NESTED_MAX]; /* the innermost interpreter's first */
	__u64 idle; /* a state without frames; 0: none was found */
	__u64 head; /* first interpreter */
	__u64 first_thread; /* its */
	__u64 interpreter, thread; /* that the search stands at */
	__u64 cframe; /* of 3.11 and 3.12, until its frame is known to be right; else 0 */
	__u64 registers[UNWIND_REGISTERS]; /* of the thread where it stood */
	__u64 frame;
	__u64 otherwise; /* if no register has the frame: this one; 0: none */
	__u32 searched; /* steps */
	__u32 alone; /* there is one interpreter only */
	__u32 tried; /* registers */
	__u32 begun; /* where the first word of this state is */
	__u8 phase; /* enum python_phase */
	__u8 recalled; /* states are what was remembered */
	__u8 first; /* no frame of this state was read yet */
	__u8 flags; /* enum wire_python */
	__u8 end; /* enum walk_end */
	__u8 missed; /* the search has found no state with frames */
	__u8 whole; /* if no register has the frame: there is no shim before the other one */
	__u8 bounded; /* the last word tells where a native call began */
	__u64 memory[PYTHON_CODE_BYTES / sizeof(__u64)]; /* a frame's, a code object's */
	__u64 text_head[PYTHON_TEXT_HEAD_WORDS]; /* of a str that is shown of a code object */
	__u64 characters[PYTHON_CHARACTERS_WORDS];
	__u64 file, file_id; /* of the frame before: address, python_text_id(); 0: none */
	__u64 frame_memory[PYTHON_FRAME_BYTES / sizeof(__u64)];
};

#endif
