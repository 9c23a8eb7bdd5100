// SPDX-License-Identifier: Apache-2.0
/*
 * Read the description of the interpreter's structs with which _PyRuntime begins from 3.13 on.
 * CPython makes it for debuggers and profilers: words of 64 bits, a few about the interpreter, then
 * for each struct its size and offsets. The order of words depends on the minor version. Source:
 * CPython,
 * Include/internal/pycore_debug_offsets.h (in 3.13 pycore_runtime.h).
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/python_file.h"

static const char cookie[8] = "xdebugpy";

enum { WORD_COOKIE, WORD_VERSION, WORD_FREE_THREADED, WORD_RUNTIME_SIZE };

/*
 * The words of one version. For each struct that is described, its member here is the number of the
 * first word of the description, which is the struct's size. interpreter_gc and interpreter_gil are
 * the numbers of words whose position in the description differs between versions.
 */
struct offset_words {
	uint16_t version; /* PYTHON_VERSION() */
	uint16_t count; /* number of words */
	uint8_t tag, shim; /* executable_tag and shim_owner of the layout, no word numbers */
	uint8_t interpreter, interpreter_gc, interpreter_gil; /* ceval.gil, 4 of its struct */
	uint8_t thread, frame, code, object, bytes, text, gc;
};

static const struct offset_words known[] = {
	{
		.version = PYTHON_VERSION(3, 13),
		.count = 73,
		.shim = PYTHON_OWNED_BY_C_STACK,
		.interpreter = 6,
		.interpreter_gc = 10,
		.interpreter_gil = 14,
		.thread = 19,
		.frame = 28,
		.code = 34,
		.object = 44,
		.bytes = 64,
		.text = 67,
		.gc = 71,
	},
	{
		.version = PYTHON_VERSION(3, 14),
		.count = 95,
		.tag = 3, /* bits in which _PyStackRef keeps the kind of a reference */
		.shim = 3, /* FRAME_OWNED_BY_INTERPRETER */
		.interpreter = 6,
		.interpreter_gc = 11,
		.interpreter_gil = 15,
		.thread = 22,
		.frame = 31,
		.code = 39,
		.object = 50,
		.bytes = 74,
		.text = 77,
		.gc = 81,
	},
};

struct debug_offsets {
	uint64_t words[128];
	const struct offset_words *of; /* the version of words */
	bool bad; /* a word was invalid */
};

/*
 * Return the word number index, which must be an offset less than the size in word number part;
 * otherwise set bad and return PYTHON_ABSENT.
 */
static uint32_t offset_member(struct debug_offsets *o, unsigned int part, unsigned int index)
{
	if (o->words[part] > 1u << 24 || o->words[index] >= o->words[part]) {
		o->bad = true;
		return PYTHON_ABSENT;
	}
	return (uint32_t)o->words[index];
}

static uint32_t offset_in_part(struct debug_offsets *o, unsigned int part, unsigned int index)
{
	return offset_member(o, part, part + index);
}

static void read_state_offsets(struct debug_offsets *o, struct python_layout *l)
{
	const struct offset_words *w = o->of;
	uint32_t gil = offset_member(o, w->interpreter, w->interpreter_gil + 1);

	l->runtime_interpreters = offset_in_part(o, WORD_RUNTIME_SIZE, 2);
	l->runtime_holder = l->runtime_collecting = PYTHON_ABSENT;
	l->interpreter_next = offset_in_part(o, w->interpreter, 2);
	l->interpreter_threads = offset_in_part(o, w->interpreter, 3);
	l->interpreter_gil = offset_member(o, w->interpreter, w->interpreter_gil);
	/* The two offsets are checked separately, so that their sum cannot overflow. */
	l->interpreter_collecting =
		offset_member(o, w->interpreter, w->interpreter_gc) + offset_in_part(o, w->gc, 1);
	l->gil_locked = offset_member(o, w->interpreter, w->interpreter_gil + 3) - gil;
	l->gil_holder = offset_member(o, w->interpreter, w->interpreter_gil + 4) - gil;
	if (l->interpreter_collecting >= o->words[w->interpreter])
		o->bad = true;
}

static void read_thread_offsets(struct debug_offsets *o, struct python_layout *l)
{
	const struct offset_words *w = o->of;

	l->thread_next = offset_in_part(o, w->thread, 2);
	l->thread_interpreter = offset_in_part(o, w->thread, 3);
	l->thread_frame = offset_in_part(o, w->thread, 4);
	l->thread_ident = offset_in_part(o, w->thread, 5);
	l->cframe_frame = l->cframe_previous = PYTHON_ABSENT;
	l->frame_previous = offset_in_part(o, w->frame, 1);
	l->frame_code = offset_in_part(o, w->frame, 2);
	l->frame_instruction = offset_in_part(o, w->frame, 3);
	l->frame_bytes = offset_in_part(o, w->frame, 4); /* up to localsplus, the last member */
	l->frame_owner = offset_in_part(o, w->frame, 5);
}

/*
 * Set the members of *l for code objects. The words of the id are members that the constructor sets
 * and that never change later.
 */
static void read_code_offsets(struct debug_offsets *o, struct python_layout *l)
{
	const unsigned int code = o->of->code;
	const uint32_t first_line = offset_in_part(o, code, 5),
		       arguments = offset_in_part(o, code, 6);
	const uint32_t id[PYTHON_ID_WORDS] = {
		arguments & ~7u,
		first_line & ~7u,
		offset_in_part(o, code, 7), /* co_localsplusnames */
		offset_in_part(o, code, 7) - 8, /* co_nfreevars, co_version (see python_layout.c) */
		offset_in_part(o, code, 1),
		offset_in_part(o, code, 2),
		offset_in_part(o, code, 3),
		offset_in_part(o, code, 4),
	};

	l->code_file = id[4];
	l->code_name = id[5];
	l->code_qualified_name = id[6];
	l->code_lines = id[7];
	l->code_first_line = first_line;
	l->code_units = offset_in_part(o, code, 9);
	memcpy(l->code_id, id, sizeof(id));
	for (int i = 0; i < PYTHON_ID_WORDS; i++) {
		if (l->code_bytes < id[i] + 8)
			l->code_bytes = id[i] + 8;
	}
}

static void read_text_offsets(struct debug_offsets *o, struct python_layout *l)
{
	const struct offset_words *w = o->of;

	l->bytes_size = offset_in_part(o, w->bytes, 1);
	l->bytes_data = offset_in_part(o, w->bytes, 2);
	l->text_state = offset_in_part(o, w->text, 1);
	l->text_length = offset_in_part(o, w->text, 2);
	l->text_ascii = offset_in_part(o, w->text, 3);
	l->text_shift = PYTHON_TEXT_SHIFT;
	/* PyCompactUnicodeObject adds the length of the UTF-8 form and a pointer to it. */
	l->text_compact = l->text_ascii + 16;
	if (l->text_compact >= o->words[w->text] ||
	    offset_in_part(o, w->object, 1) != PYTHON_OBJECT_TYPE)
		o->bad = true;
}

/*
 * Find the words of a version, given as PY_VERSION_HEX. Only releases and release candidates are
 * supported: alpha and beta versions had other words.
 */
static const struct offset_words *words_of_version(uint64_t version)
{
	unsigned int level = version >> 4 & 15;

	if (version >> 32 || level < 0xc)
		return NULL;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (known[i].version == version >> 16)
			return &known[i];
	}
	return NULL;
}

uint64_t python_runtime_size(const void *bytes)
{
	uint64_t words[WORD_RUNTIME_SIZE + 1];

	memcpy(words, bytes, sizeof(words));
	return words[WORD_RUNTIME_SIZE];
}

int python_layout_from_offsets(struct python_layout *out, const void *bytes, size_t size)
{
	struct debug_offsets o = {.bad = false};
	struct python_layout l = {
		.frames = PYTHON_FRAME_SHIM,
		.instruction = PYTHON_INSTRUCTION_POINTER,
		.lines = PYTHON_LINES_LOCATIONS,
	};

	if (size > sizeof(o.words))
		size = sizeof(o.words);
	memcpy(o.words, bytes, size);
	o.of = words_of_version(o.words[WORD_VERSION]);
	if (memcmp(&o.words[WORD_COOKIE], cookie, sizeof(cookie)) != 0 || !o.of ||
	    size < o.of->count * sizeof(*o.words) || o.words[WORD_FREE_THREADED] > 1)
		return -EBADMSG;
	if (o.words[WORD_FREE_THREADED])
		return -ENOTSUP;
	l.version = o.of->version;
	l.executable_tag = o.of->tag;
	l.shim_owner = o.of->shim;
	read_state_offsets(&o, &l);
	read_thread_offsets(&o, &l);
	read_code_offsets(&o, &l);
	read_text_offsets(&o, &l);
	if (o.bad || !python_layout_check(&l))
		return -EBADMSG;
	*out = l;
	return 0;
}
