/* SPDX-License-Identifier: Apache-2.0 OR (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The offsets of one CPython version that the walker and the reader of names need. This header has
 * only layouts, so that programs that make or check a layout may include it. BPF programs include
 * vmlinux.h before it.
 *
 * Names are CPython's own (Include/internal): _PyRuntimeState has a list of interpreters
 * (PyInterpreterState), each of which has a list of threads (PyThreadState), each of which has the
 * frames that it runs, innermost first, each of which has a code object.
 */
#ifndef SKEIN_BPF_UNWIND_PYTHON_LAYOUT_H
#define SKEIN_BPF_UNWIND_PYTHON_LAYOUT_H

#ifndef __bpf__
#include <linux/types.h>
#endif

#define PYTHON_ABSENT 0xffffffffU /* value of an offset if this version has no such member */

#define PYTHON_VERSION(major, minor) ((major) << 8 | (minor))

/* How frames show which of them belong to one native call of the evaluation loop. */
enum python_frames {
	PYTHON_FRAME_EACH = 1, /* 3.8 to 3.10: every frame has a native call of its own */
	PYTHON_FRAME_ENTRY, /* 3.11: the frame with which a native call began is marked */
	/* from 3.12: a shim, owned by the C stack, follows the first frame of a native call */
	PYTHON_FRAME_SHIM,
	PYTHON_FRAMES_COUNT
};

/* How frames store their position. */
enum python_instruction {
	PYTHON_INSTRUCTION_BYTE = 1, /* s32, offset in bytes; 3.8, 3.9 */
	PYTHON_INSTRUCTION_UNIT, /* s32, offset in code units of 2 bytes; 3.10 */
	PYTHON_INSTRUCTION_POINTER, /* address of the code unit; from 3.11 */
	PYTHON_INSTRUCTIONS_COUNT
};

enum python_lines {
	PYTHON_LINES_LNOTAB = 1, /* up to 3.9: pairs of increments, Objects/lnotab_notes.txt */
	PYTHON_LINES_TABLE, /* 3.10: PEP 626 */
	PYTHON_LINES_LOCATIONS, /* from 3.11: PEP 657 */
	PYTHON_LINES_COUNT
};

#define PYTHON_FRAME_BYTES 128 /* a frame's relevant members end below this */
#define PYTHON_CODE_BYTES 256 /* a code object's relevant members end below this */
#define PYTHON_ID_WORDS 8

#define PYTHON_OWNED_BY_C_STACK 3 /* owner of a shim in 3.12 and 3.13: FRAME_OWNED_BY_CSTACK */

struct python_layout {
	__u16 version; /* PYTHON_VERSION() */
	__u8 frames; /* enum python_frames */
	__u8 instruction; /* enum python_instruction */
	__u8 lines; /* enum python_lines */
	/* bits of a frame's code pointer that are not part of the address; 0 before 3.14 */
	__u8 executable_tag;
	__u8 shim_owner; /* a frame with this value of frame_owner or more is a shim; from 3.12 */
	/*
	 * the id also depends on co_name, co_qualname and co_filename, since the other words of two
	 * code objects may be equal; up to 3.11
	 */
	__u8 id_by_text;
	/* offsets in _PyRuntimeState */
	__u32 runtime_interpreters; /* first interpreter */
	/* thread state that holds the GIL, gilstate.tstate_current; up to 3.11; else ABSENT */
	__u32 runtime_holder;
	__u32 runtime_collecting; /* int gc.collecting; 3.8; else PYTHON_ABSENT */
	/* offsets in PyInterpreterState */
	__u32 interpreter_next;
	__u32 interpreter_threads; /* first thread */
	__u32 interpreter_gil; /* pointer to struct _gil_runtime_state, from 3.12; else ABSENT */
	__u32 interpreter_collecting; /* int gc.collecting, from 3.9; else ABSENT */
	/* offsets in struct _gil_runtime_state; used if runtime_holder is ABSENT */
	__u32 gil_holder; /* the last thread state that held the lock */
	__u32 gil_locked; /* int */
	/* offsets in PyThreadState */
	__u32 thread_next;
	__u32 thread_interpreter;
	__u32 thread_ident; /* unsigned long: pthread_self() */
	__u32 thread_frame; /* innermost frame; with a cframe_frame, its struct _PyCFrame */
	/* offsets in struct _PyCFrame, 3.11 and 3.12; else PYTHON_ABSENT */
	__u32 cframe_frame;
	__u32 cframe_previous;
	/* offsets in a frame: PyFrameObject up to 3.10, else struct _PyInterpreterFrame */
	__u32 frame_bytes; /* size to read for the members below, at most PYTHON_FRAME_BYTES */
	__u32 frame_previous;
	__u32 frame_code;
	__u32 frame_instruction;
	__u32 frame_owner; /* u8 is_entry (3.11) or owner (from 3.12); else PYTHON_ABSENT */
	/* offsets in PyCodeObject */
	__u32 code_bytes; /* size to read for id and code_units, at most PYTHON_CODE_BYTES */
	__u32 code_units; /* co_code_adaptive, the base of PYTHON_INSTRUCTION_POINTER */
	/*
	 * Offsets (8-byte aligned, below code_bytes) of 64-bit words of a code object that never
	 * change during its life and distinguish it from others: see python_code_id(). From 3.12
	 * on, one of these words is a number that no other code object of the interpreter has.
	 */
	__u32 code_id[PYTHON_ID_WORDS];
	/* offsets in PyCodeObject; the BPF walker uses all of them but code_lines */
	__u32 code_first_line; /* int co_firstlineno */
	__u32 code_name, code_file; /* pointers to str objects */
	__u32 code_qualified_name; /* pointer to a str, from 3.11; else PYTHON_ABSENT */
	__u32 code_lines; /* pointer to a bytes object: co_lnotab or co_linetable */
	/* offsets in str (PyASCIIObject, PyCompactUnicodeObject) and bytes */
	__u32 text_length, text_state; /* Py_ssize_t; the bit field */
	__u32 text_ascii, text_compact; /* offset of the characters in ASCII and in other strings */
	__u32 bytes_size, bytes_data;
	/* number of bits of text_state below the bits with the width of a character */
	__u32 text_shift;
};

/*
 * The state of a str, shifted by text_shift: the bytes per character, and bits for "the characters
 * follow the head", "all characters are ASCII", and (from 3.12 on) "statically allocated".
 */
#define PYTHON_TEXT_WIDTH(state) ((state)&7)
#define PYTHON_TEXT_COMPACT 8
#define PYTHON_TEXT_ASCII 16
#define PYTHON_TEXT_STATIC 32
#define PYTHON_TEXT_SHIFT 2 /* up to 3.12; read from newer files: python_strings.c */
#define PYTHON_TEXT_SHIFT_MAX 26

/* Offset of an object's type: the same for every object in all supported versions. */
#define PYTHON_OBJECT_TYPE 8 /* ob_type */

/*
 * Return the hash id extended by a word. Ids of code objects and of texts are such hashes; an id
 * distinguishes a code object from another one that takes its address later. The walker and the
 * reader of names must compute the same ids.
 */
static inline __u64 python_hash_word(__u64 id, __u64 word)
{
	id = (id ^ word) * 0x9e3779b97f4a7c15ULL;
	return id ^ id >> 32;
}

/*
 * Return the id of a code object. words: the words at layout->code_id in the code object, in order.
 */
static inline __u32 python_code_id(const __u64 words[PYTHON_ID_WORDS])
{
	__u64 id = 0;

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		id = python_hash_word(id, words[i]);
	return (__u32)id;
}

/*
 * Up to 3.11, a code object that takes another's address may have the same words. In these
 * versions, the names that are shown for a code object (co_name, co_qualname, co_filename) are part
 * of its id: the size of each name and its characters, or, if they have more than this many bytes,
 * half of this many bytes from either end.
 */
#define PYTHON_CHARACTERS_MAX 128 /* bytes */
#define PYTHON_CHARACTERS_WORDS (PYTHON_CHARACTERS_MAX / 8)
#define PYTHON_TEXT_HEAD_WORDS 8 /* up to 3.11, the shortest str takes 64 bytes of memory */

/* The place of a str's characters. */
struct python_characters {
	__u64 from; /* address */
	__u64 size; /* bytes; 0: no characters directly after the head */
};

/*
 * Find the characters of the str at address. head: the first words of the str, read from address.
 */
static inline struct python_characters
python_find_characters(const struct python_layout *l, __u64 address,
		       const __u64 head[PYTHON_TEXT_HEAD_WORDS])
{
	const __u64 length = head[(l->text_length / 8) & (PYTHON_TEXT_HEAD_WORDS - 1)];
	const __u64 word = head[(l->text_state / 8) & (PYTHON_TEXT_HEAD_WORDS - 1)];
	const __u32 state = (__u32)(word >> (l->text_state & 4) * 8) >> (l->text_shift & 31);
	const __u32 start = state & PYTHON_TEXT_ASCII ? l->text_ascii : l->text_compact;
	struct python_characters c = {.from = address + start};

	if (state & PYTHON_TEXT_COMPACT)
		c.size = length * PYTHON_TEXT_WIDTH(state);
	return c;
}

/*
 * The names that are shown for a code object; arrays indexed by this hold python_text_id() of each,
 * 0: none.
 */
enum python_shown {
	PYTHON_SHOWN_NAME,
	PYTHON_SHOWN_QUALIFIED,
	PYTHON_SHOWN_FILE,
	PYTHON_SHOWN_COUNT
};

/*
 * Return the id of a code object from python_code_id() (id) and the ids of its names (shown), for
 * versions with id_by_text.
 */
static inline __u32 python_code_id_with_names(__u32 id, const __u64 shown[PYTHON_SHOWN_COUNT])
{
	__u64 mixed = id;

	for (int i = 0; i < PYTHON_SHOWN_COUNT; i++)
		mixed = python_hash_word(mixed, shown[i]);
	return (__u32)mixed;
}

/*
 * Return the id of a text. characters: the bytes that are part of the id, followed by zeros; size:
 * bytes of all characters.
 */
static inline __u64 python_text_id(__u64 size, const __u64 characters[PYTHON_CHARACTERS_WORDS])
{
	__u64 id = size;

	for (int i = 0; i < PYTHON_CHARACTERS_WORDS; i++)
		id = python_hash_word(id, characters[i]);
	return id;
}

/*
 * Position of a frame in its code object, stored besides the code object's address. id:
 * python_code_id() or python_code_id_with_names(); unit: index of the code unit (2 bytes), ~0
 * before the first.
 */
#define PYTHON_PLACE(id, unit) ((__u64)(id) << 32 | (__u32)(unit))
#define PYTHON_PLACE_ID(place) ((__u32)((place) >> 32))
#define PYTHON_PLACE_UNIT(place) ((__u32)(place))

/* The interpreter that a process has mapped, as walkers use it. Zeroed: the process has none. */
struct python_process {
	__u64 runtime; /* address of _PyRuntime */
	__u64 code_type; /* address of PyCode_Type: the type of all code objects */
	/* number + 1 of a struct python_layout; 0: no Python, or an unknown version */
	__u32 layout;
	__u32 runtime_bytes; /* size of _PyRuntime; 0: not known */
};

#define PYTHON_LAYOUTS_MAX 64

#endif
