// SPDX-License-Identifier: Apache-2.0
/*
 * The struct layouts of CPython 3.8 to 3.12, from debug information (compared by
 * tools/python-layouts), for builds without Py_DEBUG. The layout is the same in all releases of a
 * minor version; those examined are 3.8.18, 3.9.18, 3.10.13, 3.11.7 and 3.12.1.
 *
 * The words of code_id are members of a code object that its constructor sets and that never change
 * later: not reference counts, caches, warm-up counters or instrumentation. From 3.12 on they
 * contain a number (co_version) that no other code object of the interpreter has. Pointers alone do
 * not suffice: a code object that reuses the address may have equal pointers and other names. So up
 * to 3.11, the names that are shown for a code object are part of the id.
 */
#include "symbolizers/python_file.h"

#define STATE_MAX (1u << 20) /* largest offset in _PyRuntime and interpreters: 3.12's have 460 kB \
			      */
#define OBJECT_MAX 4096 /* largest offset in all other structs */

/* The members that are the same in 3.8 to 3.10. */
#define LAYOUT_OF_OBJECTS \
	.frames = PYTHON_FRAME_EACH, .id_by_text = 1, .runtime_interpreters = 32, \
	.interpreter_next = 0, .interpreter_threads = 8, .interpreter_gil = PYTHON_ABSENT, \
	.gil_holder = 8, .gil_locked = 16, .thread_next = 8, .thread_interpreter = 16, \
	.thread_ident = 176, .thread_frame = 24, .cframe_frame = PYTHON_ABSENT, \
	.cframe_previous = PYTHON_ABSENT, .frame_previous = 24, .frame_code = 32, \
	.frame_owner = PYTHON_ABSENT, .code_bytes = 128, .code_units = PYTHON_ABSENT, \
	.code_id = {16, 32, 40, 48, 56, 104, 112, 120}, .code_first_line = 40, \
	.code_name = 112, .code_file = 104, .code_qualified_name = PYTHON_ABSENT, \
	.code_lines = 120, LAYOUT_OF_TEXT(48, 72)

#define LAYOUT_OF_TEXT(ascii, compact) \
	.text_length = 16, .text_state = 32, .text_ascii = (ascii), .text_compact = (compact), \
	.bytes_size = 16, .bytes_data = 32, .text_shift = PYTHON_TEXT_SHIFT

static const struct python_layout layouts[] = {
	{
		LAYOUT_OF_OBJECTS,
		.version = PYTHON_VERSION(3, 8),
		.instruction = PYTHON_INSTRUCTION_BYTE,
		.lines = PYTHON_LINES_LNOTAB,
		.runtime_holder = 1368,
		.runtime_collecting = 544,
		.interpreter_collecting = PYTHON_ABSENT,
		.frame_bytes = 112,
		.frame_instruction = 104,
	},
	{
		LAYOUT_OF_OBJECTS,
		.version = PYTHON_VERSION(3, 9),
		.instruction = PYTHON_INSTRUCTION_BYTE,
		.lines = PYTHON_LINES_LNOTAB,
		.runtime_holder = 568,
		.runtime_collecting = PYTHON_ABSENT,
		.interpreter_collecting = 816,
		.frame_bytes = 112,
		.frame_instruction = 104,
	},
	{
		LAYOUT_OF_OBJECTS,
		.version = PYTHON_VERSION(3, 10),
		.instruction = PYTHON_INSTRUCTION_UNIT,
		.lines = PYTHON_LINES_TABLE,
		.runtime_holder = 568,
		.runtime_collecting = PYTHON_ABSENT,
		.interpreter_collecting = 816,
		.frame_bytes = 104,
		.frame_instruction = 96,
	},
	{
		.version = PYTHON_VERSION(3, 11),
		.frames = PYTHON_FRAME_ENTRY,
		.id_by_text = 1,
		.instruction = PYTHON_INSTRUCTION_POINTER,
		.lines = PYTHON_LINES_LOCATIONS,
		.runtime_interpreters = 40,
		.runtime_holder = 576,
		.runtime_collecting = PYTHON_ABSENT,
		.interpreter_next = 0,
		.interpreter_threads = 16,
		.interpreter_gil = PYTHON_ABSENT,
		.interpreter_collecting = 848,
		.gil_holder = 8,
		.gil_locked = 16,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_ident = 152,
		.thread_frame = 56,
		.cframe_frame = 8,
		.cframe_previous = 16,
		.frame_bytes = 72,
		.frame_previous = 48,
		.frame_code = 32,
		.frame_instruction = 56,
		.frame_owner = 68,
		.code_bytes = 144,
		.code_units = 184,
		.code_id = {24, 56, 72, 96, 112, 120, 128, 136},
		.code_first_line = 72,
		.code_name = 120,
		.code_file = 112,
		.code_qualified_name = 128,
		.code_lines = 136,
		LAYOUT_OF_TEXT(48, 72),
	},
	{
		.version = PYTHON_VERSION(3, 12),
		.frames = PYTHON_FRAME_SHIM,
		.instruction = PYTHON_INSTRUCTION_POINTER,
		.lines = PYTHON_LINES_LOCATIONS,
		.shim_owner = PYTHON_OWNED_BY_C_STACK,
		.runtime_interpreters = 40,
		.runtime_holder = PYTHON_ABSENT,
		.runtime_collecting = PYTHON_ABSENT,
		.interpreter_next = 0,
		.interpreter_threads = 72,
		.interpreter_gil = 384,
		.interpreter_collecting = 312,
		.gil_holder = 8,
		.gil_locked = 16,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_ident = 136,
		.thread_frame = 56,
		.cframe_frame = 0,
		.cframe_previous = 8,
		.frame_bytes = 72,
		.frame_previous = 8,
		.frame_code = 0,
		.frame_instruction = 56,
		.frame_owner = 70,
		.code_bytes = 144,
		.code_units = 192,
		.code_id = {24, 64, 88, 96, 112, 120, 128, 136},
		.code_first_line = 68,
		.code_name = 120,
		.code_file = 112,
		.code_qualified_name = 128,
		.code_lines = 136,
		LAYOUT_OF_TEXT(40, 56),
	},
};

const struct python_layout *python_layout_of(uint8_t major, uint8_t minor)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++) {
		if (layouts[i].version == PYTHON_VERSION(major, minor))
			return &layouts[i];
	}
	return NULL;
}

/*
 * Return whether a member of size bytes, a power of two, at offset is aligned and ends within
 * limit.
 */
static bool is_member_valid(uint32_t offset, uint32_t size, uint32_t limit)
{
	return offset < limit && size <= limit - offset && offset % size == 0;
}

static bool is_member_valid_if(bool present, uint32_t offset, uint32_t size, uint32_t limit)
{
	return present ? is_member_valid(offset, size, limit) : offset == PYTHON_ABSENT;
}

/*
 * Check the offsets in the runtime, the interpreter and the GIL. The GIL and gc.collecting are each
 * in one of two places, depending on the version.
 */
static bool check_state_offsets(const struct python_layout *l)
{
	bool gil = l->runtime_holder == PYTHON_ABSENT;
	bool collecting = l->runtime_collecting == PYTHON_ABSENT;

	return is_member_valid(l->runtime_interpreters, 8, STATE_MAX) &&
	       is_member_valid_if(!gil, l->runtime_holder, 8, STATE_MAX) &&
	       is_member_valid_if(gil, l->interpreter_gil, 8, STATE_MAX) &&
	       is_member_valid_if(!collecting, l->runtime_collecting, 4, STATE_MAX) &&
	       is_member_valid_if(collecting, l->interpreter_collecting, 4, STATE_MAX) &&
	       is_member_valid(l->interpreter_next, 8, STATE_MAX) &&
	       is_member_valid(l->interpreter_threads, 8, STATE_MAX) &&
	       is_member_valid(l->gil_holder, 8, OBJECT_MAX) &&
	       is_member_valid(l->gil_locked, 4, OBJECT_MAX);
}

static bool check_thread_offsets(const struct python_layout *l)
{
	bool cframe = l->cframe_frame != PYTHON_ABSENT;

	return is_member_valid(l->thread_next, 8, OBJECT_MAX) &&
	       is_member_valid(l->thread_interpreter, 8, OBJECT_MAX) &&
	       is_member_valid(l->thread_ident, 8, OBJECT_MAX) &&
	       is_member_valid(l->thread_frame, 8, OBJECT_MAX) &&
	       is_member_valid_if(cframe, l->cframe_frame, 8, OBJECT_MAX) &&
	       is_member_valid_if(cframe, l->cframe_previous, 8, OBJECT_MAX);
}

static bool check_frame_offsets(const struct python_layout *l)
{
	bool pointer = l->instruction == PYTHON_INSTRUCTION_POINTER;
	uint32_t bytes = l->frame_bytes;

	return bytes <= PYTHON_FRAME_BYTES && is_member_valid(l->frame_previous, 8, bytes) &&
	       is_member_valid(l->frame_code, 8, bytes) &&
	       is_member_valid(l->frame_instruction, pointer ? 8 : 4, bytes) &&
	       is_member_valid_if(l->frames != PYTHON_FRAME_EACH, l->frame_owner, 1, bytes) &&
	       (l->frames == PYTHON_FRAME_SHIM) == (l->shim_owner != 0);
}

static bool check_code_offsets(const struct python_layout *l)
{
	if (l->code_bytes > PYTHON_CODE_BYTES ||
	    !is_member_valid_if(l->instruction == PYTHON_INSTRUCTION_POINTER, l->code_units, 2,
				OBJECT_MAX))
		return false;
	for (int i = 0; i < PYTHON_ID_WORDS; i++) {
		/* the word must not hold the reference count or the type */
		if (!is_member_valid(l->code_id[i], 8, l->code_bytes) ||
		    l->code_id[i] <= PYTHON_OBJECT_TYPE)
			return false;
	}
	return true;
}

static bool check_name_offsets(const struct python_layout *l)
{
	bool qualified = l->version >= PYTHON_VERSION(3, 11);

	return is_member_valid(l->code_first_line, 4, OBJECT_MAX) &&
	       is_member_valid(l->code_name, 8, OBJECT_MAX) &&
	       is_member_valid(l->code_file, 8, OBJECT_MAX) &&
	       is_member_valid(l->code_lines, 8, OBJECT_MAX) &&
	       is_member_valid_if(qualified, l->code_qualified_name, 8, OBJECT_MAX) &&
	       is_member_valid(l->text_length, 8, OBJECT_MAX) &&
	       is_member_valid(l->text_state, 4, OBJECT_MAX) &&
	       is_member_valid(l->text_ascii, 1, OBJECT_MAX) &&
	       is_member_valid(l->text_compact, 1, OBJECT_MAX) &&
	       is_member_valid(l->bytes_size, 8, OBJECT_MAX) &&
	       is_member_valid(l->bytes_data, 1, OBJECT_MAX) && l->text_shift &&
	       l->text_shift <= PYTHON_TEXT_SHIFT_MAX;
}

bool python_layout_check(const struct python_layout *l)
{
	return l->version >= PYTHON_VERSION(3, 8) && l->version < PYTHON_VERSION(4, 0) &&
	       l->frames && l->frames < PYTHON_FRAMES_COUNT && l->instruction &&
	       l->instruction < PYTHON_INSTRUCTIONS_COUNT && l->lines &&
	       l->lines < PYTHON_LINES_COUNT && l->executable_tag < 8 && l->id_by_text < 2 &&
	       check_state_offsets(l) && check_thread_offsets(l) && check_frame_offsets(l) &&
	       check_code_offsets(l) && check_name_offsets(l);
}
