/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read and write saved states: the memory of an interpreter that a walk over Python frames reads,
 * in small text files (tests/replay/README.md), so that the walker and the reader of names can run
 * over it again.
 *
 * A file consists of lines: a word, then values. Addresses and the contents of memory are
 * hexadecimal without 0x; other numbers are decimal. Lines that begin with # are comments.
 *
 *	skein-python 1
 *	program NAME
 *	layout MEMBER=NUMBER...		of struct python_layout; "-" for PYTHON_ABSENT
 *	runtime ADDRESS			_PyRuntime
 *	type ADDRESS			PyCode_Type
 *	words ADDRESS VALUE...		memory, 8 bytes each; all other memory is unreadable
 *	thread IDENT FLAGS END		pthread_self(), words of STATE_FLAGS or "-", of STACK_ENDS
 *	registers VALUE...		of that thread, by DWARF number; default 0
 *	frame KIND CODE ID UNIT LINE NAME FILE	of that thread, innermost first (bpf/event.h)
 *	again COUNT			repeat the last frame up to so many frames
 */
#ifndef SKEIN_TESTS_PYTHON_STATE_H
#define SKEIN_TESTS_PYTHON_STATE_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/record.h"
#include "base/text.h"
#include "base/vector.h"
#include "bpf/event.h"
#include "bpf/unwind/python_layout.h"

#define STATE_VERSION 1
#define STATE_NAME_MAX 128 /* bytes, with the NUL */
#define STATE_WORDS_PER_LINE 8

struct state_word {
	uint64_t address, value;
};

struct state_frame {
	uint32_t kind; /* index into state_frame_kinds */
	uint64_t code;
	uint32_t id, unit, line;
	char name[STATE_NAME_MAX], file[STATE_NAME_MAX];
};

struct state_thread {
	uint64_t ident;
	uint32_t flags; /* enum wire_python */
	enum stack_end end;
	size_t first, count; /* range of frames */
	uint64_t registers[UNWIND_REGISTERS];
};

/* Free with state_free(). */
struct python_state {
	char program[STATE_NAME_MAX];
	struct python_layout layout;
	uint64_t runtime, code_type;
	VECTOR(struct state_word) words; /* sorted by address after reading */
	VECTOR(struct state_thread) threads;
	VECTOR(struct state_frame) frames;
};

static const char *const state_frame_kinds[] = {"frame", "entry", "shim"};
static const uint8_t state_frame_tags[] = {WIRE_TAG_PYTHON, WIRE_TAG_PYTHON_ENTRY,
					   WIRE_TAG_PYTHON_SHIM};
#define STATE_FRAME_KINDS 3

/* WIRE_PYTHON_NEW is left out: whether a code object is new is not part of the state. */
static const struct {
	const char *word;
	uint32_t flag;
} state_flags[] = {
	{"process", WIRE_PYTHON_PROCESS},
	{"thread", WIRE_PYTHON_THREAD},
	{"gil", WIRE_PYTHON_GIL},
	{"collecting", WIRE_PYTHON_COLLECTING},
};
#define STATE_FLAGS (sizeof(state_flags) / sizeof(state_flags[0]))

#define STATE_MEMBER(name) \
	{ \
		#name, offsetof(struct python_layout, name), \
			sizeof(((struct python_layout *)NULL)->name) \
	}
static const struct state_member {
	const char *name;
	size_t offset, size;
} state_members[] = {
	STATE_MEMBER(version),
	STATE_MEMBER(frames),
	STATE_MEMBER(instruction),
	STATE_MEMBER(lines),
	STATE_MEMBER(executable_tag),
	STATE_MEMBER(shim_owner),
	STATE_MEMBER(id_by_text),
	STATE_MEMBER(runtime_interpreters),
	STATE_MEMBER(runtime_holder),
	STATE_MEMBER(runtime_collecting),
	STATE_MEMBER(interpreter_next),
	STATE_MEMBER(interpreter_threads),
	STATE_MEMBER(interpreter_gil),
	STATE_MEMBER(interpreter_collecting),
	STATE_MEMBER(gil_holder),
	STATE_MEMBER(gil_locked),
	STATE_MEMBER(thread_next),
	STATE_MEMBER(thread_interpreter),
	STATE_MEMBER(thread_ident),
	STATE_MEMBER(thread_frame),
	STATE_MEMBER(cframe_frame),
	STATE_MEMBER(cframe_previous),
	STATE_MEMBER(frame_bytes),
	STATE_MEMBER(frame_previous),
	STATE_MEMBER(frame_code),
	STATE_MEMBER(frame_instruction),
	STATE_MEMBER(frame_owner),
	STATE_MEMBER(code_bytes),
	STATE_MEMBER(code_units),
	STATE_MEMBER(code_id[0]),
	STATE_MEMBER(code_id[1]),
	STATE_MEMBER(code_id[2]),
	STATE_MEMBER(code_id[3]),
	STATE_MEMBER(code_id[4]),
	STATE_MEMBER(code_id[5]),
	STATE_MEMBER(code_id[6]),
	STATE_MEMBER(code_id[7]),
	STATE_MEMBER(code_first_line),
	STATE_MEMBER(code_name),
	STATE_MEMBER(code_file),
	STATE_MEMBER(code_qualified_name),
	STATE_MEMBER(code_lines),
	STATE_MEMBER(text_length),
	STATE_MEMBER(text_state),
	STATE_MEMBER(text_ascii),
	STATE_MEMBER(text_compact),
	STATE_MEMBER(bytes_size),
	STATE_MEMBER(bytes_data),
	STATE_MEMBER(text_shift),
};
#define STATE_MEMBERS (sizeof(state_members) / sizeof(state_members[0]))

static inline void state_free(struct python_state *s)
{
	vector_free(&s->words);
	vector_free(&s->threads);
	vector_free(&s->frames);
}

static inline int state_compare_words(const void *a, const void *b)
{
	const struct state_word *one = a, *other = b;

	if (one->address != other->address)
		return one->address < other->address ? -1 : 1;
	return one->value < other->value ? -1 : one->value > other->value;
}

static inline void state_sort(struct python_state *s)
{
	if (s->words.count)
		qsort(s->words.items, s->words.count, sizeof(*s->words.items), state_compare_words);
}

/* Find the word at an aligned address; NULL: unreadable. */
static inline struct state_word *state_word_at(const struct python_state *s, uint64_t address)
{
	size_t low = 0, high = s->words.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->words.items[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->words.count || s->words.items[low].address != address)
		return NULL;
	return &s->words.items[low];
}

/* Implements python_memory.read of symbolizers/python_code.h; context is a struct python_state. */
static inline bool state_read(void *context, void *to, size_t size, uint64_t address)
{
	const struct python_state *s = context;
	uint64_t aligned = address & ~7ULL;
	size_t skip = address & 7;
	char *at = to;

	while (size) {
		const struct state_word *word = state_word_at(s, aligned);
		size_t bytes = 8 - skip < size ? 8 - skip : size;

		if (!word)
			return false;
		memcpy(at, (const char *)&word->value + skip, bytes);
		at += bytes;
		size -= bytes;
		aligned += 8;
		skip = 0;
	}
	return true;
}

/*
 * Write a name, or the last part of a path, to buf as one word of less than STATE_NAME_MAX bytes.
 * Return buf.
 */
static inline char *state_clean(const char *text, char *buf)
{
	const char *last = strrchr(text, '/');

	text = last && last[1] ? last + 1 : text;
	return text_clean_but(*text ? text : "-", " ", '_', buf, STATE_NAME_MAX);
}

/* Take the next word of a line; "" at its end. */
static inline char *state_take(char **at)
{
	char *word = *at + strspn(*at, " "), *end = word + strcspn(word, " ");

	*at = *end ? end + 1 : end;
	*end = '\0';
	return word;
}

static inline int state_number(const char *word, int base, uint64_t most, uint64_t *ret)
{
	const char *digits = base == 16 ? "0123456789abcdef" : "0123456789";
	size_t length = strspn(word, digits);

	if (!length || length > 16 || word[length])
		return -EBADMSG;
	*ret = strtoull(word, NULL, base);
	return *ret > most ? -EBADMSG : 0;
}

static inline int state_hex(char **at, uint64_t *ret)
{
	return state_number(state_take(at), 16, UINT64_MAX, ret);
}

static inline void state_put_member(struct python_layout *l, const struct state_member *m,
				    uint64_t value)
{
	memcpy((char *)l + m->offset, &value, m->size); /* saved states are little-endian */
}

static inline uint32_t state_get_member(const struct python_layout *l, const struct state_member *m)
{
	uint32_t value = 0;

	memcpy(&value, (const char *)l + m->offset, m->size);
	return value;
}

static inline int state_read_member(struct python_layout *l, char *word)
{
	char *value = strchr(word, '=');
	uint64_t number = PYTHON_ABSENT;

	if (!value)
		return -EBADMSG;
	*value++ = '\0';
	for (size_t i = 0; i < STATE_MEMBERS; i++) {
		const struct state_member *m = &state_members[i];

		if (strcmp(word, m->name))
			continue;
		if ((strcmp(value, "-") || m->size != sizeof(uint32_t)) &&
		    state_number(value, 10, (1ULL << m->size * 8) - 1, &number))
			return -EBADMSG;
		state_put_member(l, m, number);
		return 0;
	}
	return -EBADMSG;
}

static inline int state_read_words(struct python_state *s, char *at)
{
	struct state_word word;

	if (state_hex(&at, &word.address) || word.address % 8)
		return -EBADMSG;
	for (; *at; word.address += 8)
		if (state_hex(&at, &word.value) || vector_push(&s->words, word))
			return -EBADMSG;
	return 0;
}

static inline int state_read_flags(char *words, uint32_t *ret)
{
	char *at = words, *word;

	*ret = 0;
	if (!strcmp(words, "-"))
		return 0;
	while ((word = strsep(&at, ","))) {
		size_t i = 0;

		while (i < STATE_FLAGS && strcmp(word, state_flags[i].word))
			i++;
		if (i == STATE_FLAGS)
			return -EBADMSG;
		*ret |= state_flags[i].flag;
	}
	return 0;
}

static inline int state_read_thread(struct python_state *s, char *at)
{
	struct state_thread t = {.first = s->frames.count};
	uint64_t end = 0;

	if (state_hex(&at, &t.ident) || state_read_flags(state_take(&at), &t.flags))
		return -EBADMSG;
	while (end < END_COUNT && strcmp(at, stack_end_word(end)))
		end++;
	t.end = (enum stack_end)end;
	return end == END_COUNT ? -EBADMSG : vector_push(&s->threads, t);
}

static inline int state_read_frame(struct python_state *s, char *at)
{
	const char *kind = state_take(&at);
	struct state_frame f = {0};
	uint64_t id, unit, line;

	while (f.kind < STATE_FRAME_KINDS && strcmp(kind, state_frame_kinds[f.kind]))
		f.kind++;
	if (f.kind == STATE_FRAME_KINDS || !s->threads.count || state_hex(&at, &f.code) ||
	    state_number(state_take(&at), 16, UINT32_MAX, &id) ||
	    state_number(state_take(&at), 10, UINT32_MAX, &unit) ||
	    state_number(state_take(&at), 10, UINT32_MAX, &line))
		return -EBADMSG;
	f.id = (uint32_t)id;
	f.unit = (uint32_t)unit;
	f.line = (uint32_t)line;
	snprintf(f.name, sizeof(f.name), "%s", state_take(&at));
	snprintf(f.file, sizeof(f.file), "%s", state_take(&at));
	s->threads.items[s->threads.count - 1].count++;
	return vector_push(&s->frames, f);
}

static inline int state_read_registers(struct python_state *s, char *at)
{
	for (int i = 0; i < UNWIND_REGISTERS && *at; i++)
		if (!s->threads.count ||
		    state_hex(&at, &s->threads.items[s->threads.count - 1].registers[i]))
			return -EBADMSG;
	return *at ? -EBADMSG : 0;
}

static inline int state_read_again(struct python_state *s, char *at)
{
	struct state_thread *t;
	uint64_t count;

	if (state_number(state_take(&at), 10, WIRE_MAX_PYTHON, &count) || !s->threads.count)
		return -EBADMSG;
	t = &s->threads.items[s->threads.count - 1];
	if (!t->count)
		return -EBADMSG;
	for (; t->count < count; t->count++) {
		struct state_frame f = s->frames.items[s->frames.count - 1];

		if (vector_push(&s->frames, f))
			return -ENOMEM;
	}
	return 0;
}

static inline int state_read_line(struct python_state *s, char *line)
{
	const char *word = state_take(&line);

	if (!strcmp(word, "program")) {
		text_clean(line, s->program, sizeof(s->program));
		return 0;
	}
	if (!strcmp(word, "layout")) {
		while (*line)
			if (state_read_member(&s->layout, state_take(&line)))
				return -EBADMSG;
		return 0;
	}
	if (!strcmp(word, "runtime"))
		return state_hex(&line, &s->runtime);
	if (!strcmp(word, "type"))
		return state_hex(&line, &s->code_type);
	if (!strcmp(word, "words"))
		return state_read_words(s, line);
	if (!strcmp(word, "thread"))
		return state_read_thread(s, line);
	if (!strcmp(word, "registers"))
		return state_read_registers(s, line);
	if (!strcmp(word, "frame"))
		return state_read_frame(s, line);
	if (!strcmp(word, "again"))
		return state_read_again(s, line);
	return -EBADMSG;
}

/* Parse NUL-terminated text, which is modified. 0 or -EBADMSG; call state_free() in any case. */
static inline int state_parse(struct python_state *s, char *text, struct error *err)
{
	static const char first[] = "skein-python 1\n";
	unsigned int number = 1;
	char *line;

	*s = (struct python_state){.program = ""};
	if (strncmp(text, first, strlen(first)))
		return error_set(err, -EBADMSG, "no state of Python, or of another version");
	for (text += strlen(first); (line = strsep(&text, "\n"));) {
		number++;
		if (*line && *line != '#' && state_read_line(s, line))
			return error_set(err, -EBADMSG, "line %u", number);
	}
	state_sort(s);
	return 0;
}

static inline int state_load(struct python_state *s, const char *path, struct error *err)
{
	FILE *in = fopen(path, "re");
	size_t size = 0;
	char *text = NULL;
	int ret;

	*s = (struct python_state){.program = ""};
	if (!in)
		return error_errno(err, -errno, "opening %s", path);
	if (getdelim(&text, &size, '\0', in) < 0)
		ret = error_set(err, -EIO, "%s cannot be read", path);
	else
		ret = state_parse(s, text, err);
	free(text);
	fclose(in);
	return ret;
}

static inline void state_write_layout(const struct python_layout *l, FILE *out)
{
	for (size_t i = 0; i < STATE_MEMBERS; i++) {
		const struct state_member *m = &state_members[i];
		uint32_t value = state_get_member(l, m);

		fputs(i % 5 ? " " : i ? "\nlayout " : "layout ", out);
		if (value == PYTHON_ABSENT)
			fprintf(out, "%s=-", m->name);
		else
			fprintf(out, "%s=%u", m->name, value);
	}
	fputc('\n', out);
}

static inline void state_write_words(const struct python_state *s, FILE *out)
{
	size_t run = 0;

	for (size_t i = 0; i < s->words.count; i++) {
		const struct state_word *w = &s->words.items[i];
		bool next = i + 1 < s->words.count && w[1].address == w->address + 8;

		if (!run)
			fprintf(out, "words %" PRIx64, w->address);
		fprintf(out, " %" PRIx64, w->value);
		run = next && run + 1 < STATE_WORDS_PER_LINE ? run + 1 : 0;
		if (!run)
			fputc('\n', out);
	}
}

static inline void state_write_registers(const struct state_thread *t, FILE *out)
{
	int last = UNWIND_REGISTERS;

	while (last && !t->registers[last - 1])
		last--;
	for (int i = 0; i < last; i++)
		fprintf(out, "%s%" PRIx64 "%s", i ? " " : "registers ", t->registers[i],
			i + 1 < last ? "" : "\n");
}

static inline void state_write_threads(const struct python_state *s, FILE *out)
{
	for (size_t i = 0; i < s->threads.count; i++) {
		const struct state_thread *t = &s->threads.items[i];
		const char *comma = "";

		fprintf(out, "thread %" PRIx64 " ", t->ident);
		for (size_t n = 0; n < STATE_FLAGS; n++)
			if (t->flags & state_flags[n].flag) {
				fprintf(out, "%s%s", comma, state_flags[n].word);
				comma = ",";
			}
		fprintf(out, "%s %s\n", *comma ? "" : "-", stack_end_word(t->end));
		state_write_registers(t, out);
		for (size_t n = t->first; n < t->first + t->count; n++) {
			const struct state_frame *f = &s->frames.items[n];

			fprintf(out, "frame %s %" PRIx64 " %x %u %u %s %s\n",
				state_frame_kinds[f->kind], f->code, f->id, f->unit, f->line,
				f->name, f->file);
		}
	}
}

static inline void state_write(const struct python_state *s, FILE *out)
{
	fprintf(out, "skein-python %d\nprogram %s\n", STATE_VERSION, s->program);
	state_write_layout(&s->layout, out);
	fprintf(out, "runtime %" PRIx64 "\ntype %" PRIx64 "\n", s->runtime, s->code_type);
	state_write_words(s, out);
	state_write_threads(s, out);
}

#endif
