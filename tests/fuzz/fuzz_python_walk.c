// SPDX-License-Identifier: Apache-2.0
/*
 * Walk the frames of an interpreter's state, and read their names. The input is a saved state
 * (tests/unit/python_state.h), or else: a version, changes to its layout, and memory in which every
 * address is mapped somewhere.
 */
#include <string.h>

#include "fuzz.h"
#include "symbolizers/python_file.h"
#include "tests/unit/python_state.h"
#include "tests/unit/python_walker.h"

#define PIECE 64 /* bytes of memory at which addresses wrap around */
#define NAMED_MAX 16 /* frames to name */
#define THREADS_MAX 8

struct memory {
	const uint8_t *bytes;
	size_t pieces;
};

/* The upper part of an address chooses a piece of memory; one choice is unreadable. */
static bool read_pieces(void *context, void *to, size_t size, uint64_t address)
{
	const struct memory *m = context;

	for (size_t i = 0; i < size; i++, address++) {
		uint64_t piece = address / PIECE % (m->pieces + 1);

		if (piece == m->pieces || address >> 48)
			return false;
		((uint8_t *)to)[i] = m->bytes[piece * PIECE + address % PIECE];
	}
	return true;
}

static void check_words(const struct python_walker *w)
{
	const struct python_walk *walk = &w->walk;

	if (walk->at % 2 || walk->at > 2 * WIRE_MAX_PYTHON || w->steps > PYTHON_STEPS_MAX + 1 ||
	    w->reads > 8 * (PYTHON_STEPS_MAX + 1) ||
	    (walk->end != WALK_END_WALKED && walk->end != WALK_END_DEPTH &&
	     walk->end != WALK_END_PYTHON))
		abort();
	for (uint32_t i = 0; i < walk->at; i += 2) {
		uint64_t tag = w->words[i] >> WIRE_TAG_SHIFT;

		if (tag == WIRE_TAG_PYTHON_SHIM
			    ? w->words[i + 1] != 0
			    : tag != WIRE_TAG_PYTHON && tag != WIRE_TAG_PYTHON_ENTRY)
			abort();
	}
}

static void read_names(const struct python_walker *w, const struct python_layout *l,
		       uint64_t code_type)
{
	for (uint32_t i = 0; i < w->walk.at && i < 2 * NAMED_MAX; i += 2) {
		struct python_code code;

		if (w->words[i] >> WIRE_TAG_SHIFT == WIRE_TAG_PYTHON_SHIM ||
		    python_code_read(&code, w->memory, &(struct python_interpreter){*l, code_type},
				     w->words[i] << 8 >> 8, PYTHON_PLACE_ID(w->words[i + 1])))
			continue;
		if (strlen(code.name) >= PYTHON_NAME_MAX || strlen(code.file) >= PYTHON_FILE_MAX)
			abort();
		(void)python_code_line(&code, l, PYTHON_PLACE_UNIT(w->words[i + 1]));
		python_code_free(&code);
	}
}

/*
 * Walk once without memory of earlier walks, then with it: the results must be equal, if the lists
 * were short enough to be walked completely.
 */
static void walk(const struct python_memory *memory, const struct python_layout *layout,
		 const struct python_process *process, uint64_t self, const uint64_t *registers)
{
	static struct python_walker first, second;
	static struct python_thread remembered;

	memset(&remembered, 0, sizeof(remembered));
	first.memory = second.memory = memory;
	second.remembered = &remembered;
	walker_walk(&first, layout, process, self, registers);
	check_words(&first);
	for (int i = 0; i < 2; i++) {
		walker_walk(&second, layout, process, self, registers);
		check_words(&second);
		if (first.steps >= PYTHON_STEPS_MAX)
			continue;
		if (first.walk.at != second.walk.at || first.walk.end != second.walk.end ||
		    memcmp(first.words, second.words, first.walk.at * sizeof(first.words[0])))
			abort();
	}
	read_names(&first, layout, process->code_type);
}

static void walk_text(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	struct python_state s;

	if (!text)
		abort();
	if (!state_parse(&s, text, NULL) && python_layout_check(&s.layout)) {
		const struct python_memory memory = {state_read, &s};
		const struct python_process process = {
			.runtime = s.runtime, .code_type = s.code_type, .layout = 1};

		for (size_t i = 0; i < s.threads.count && i < THREADS_MAX; i++)
			walk(&memory, &s.layout, &process, s.threads.items[i].ident,
			     s.threads.items[i].registers);
	}
	state_free(&s);
	free(text);
}

/* Change one member of the layout by three bytes: its number and its value. */
static void change(struct python_layout *l, const uint8_t *change)
{
	const struct state_member *m = &state_members[change[0] % STATE_MEMBERS];
	uint32_t value = change[1] | change[2] << 8;

	state_put_member(l, m, value == 0xffff ? PYTHON_ABSENT : value);
}

static void walk_bytes(const uint8_t *data, size_t size)
{
	const struct python_layout *known = python_layout_of(3, 8 + data[0] % 5);
	size_t changes = data[1] % 16, used = 2 + 3 * changes;
	struct python_process process = {.layout = 1};
	struct python_layout layout;
	struct memory m;
	uint64_t numbers[3 + UNWIND_REGISTERS];

	if (!known || size < used + sizeof(numbers) + PIECE)
		return;
	layout = *known;
	for (size_t i = 0; i < changes; i++)
		change(&layout, &data[2 + 3 * i]);
	memcpy(numbers, &data[used], sizeof(numbers));
	used += sizeof(numbers);
	process.runtime = numbers[0];
	process.code_type = numbers[1];
	m = (struct memory){&data[used], (size - used) / PIECE};
	if (python_layout_check(&layout)) {
		const struct python_memory memory = {read_pieces, &m};

		walk(&memory, &layout, &process, numbers[2], numbers + 3);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char text[] = "skein-python ";

	if (size > sizeof(text) && !memcmp(data, text, sizeof(text) - 1))
		walk_text(data, size);
	else if (size > 2)
		walk_bytes(data, size);
	return 0;
}
