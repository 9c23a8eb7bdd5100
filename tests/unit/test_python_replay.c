// SPDX-License-Identifier: Apache-2.0
/*
 * Interpreters of real programs, walked and named again: tests/replay/python-*.state has the memory
 * that was read from them (tests/readers/python_state.c); hostile states have a few words changed.
 */
#include <glob.h>

#include "python_state.h"
#include "python_walker.h"
#include "suite.h"
#include "symbolizers/python_file.h"

#define LEAST_STATES 40

/* Bound of the reads for any lengths of lists, for both the search and the walk of frames. */
#define READS_MAX (4 * PYTHON_STEPS_MAX)

static struct python_state loaded(const char *path)
{
	struct python_state s;
	struct error err = {""};

	ck_assert_msg(state_load(&s, path, &err) == 0, "%s: %s", path, err.text);
	return s;
}

static struct python_state loaded_named(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "tests/replay/python-%s.state", name);
	return loaded(path);
}

static void walk(struct python_walker *w, const struct python_state *s,
		 const struct state_thread *t)
{
	const struct python_memory memory = {state_read, (void *)s};
	const struct python_process process = {
		.runtime = s->runtime,
		.code_type = s->code_type,
		.layout = 1,
	};

	w->memory = &memory;
	walker_walk(w, &s->layout, &process, t->ident, t->registers);
	ck_assert_uint_le(w->steps, PYTHON_STEPS_MAX);
	ck_assert_uint_le(w->reads, READS_MAX);
}

static bool has_frame(const struct python_walker *w, size_t i, const struct state_frame *f)
{
	uint64_t first = (uint64_t)state_frame_tags[f->kind] << WIRE_TAG_SHIFT | f->code;
	uint64_t second = f->kind == 2 ? 0 : PYTHON_PLACE(f->id, f->unit);

	return w->words[2 * i] == first && w->words[2 * i + 1] == second;
}

static bool is_same(struct python_walker *w, const struct python_state *s,
		    const struct state_thread *t)
{
	walk(w, s, t);
	if (w->walk.at != 2 * t->count || w->walk.flags != t->flags || w->walk.end != t->end)
		return false;
	for (size_t i = 0; i < t->count; i++)
		if (!has_frame(w, i, &s->frames.items[t->first + i]))
			return false;
	return true;
}

static bool all_same(const struct python_state *s)
{
	static struct python_walker w;

	for (size_t i = 0; i < s->threads.count; i++)
		if (!is_same(&w, s, &s->threads.items[i]))
			return false;
	return true;
}

static void check_name(const char *path, const struct python_state *s, const struct state_frame *f)
{
	const struct python_memory memory = {state_read, (void *)s};
	char name[STATE_NAME_MAX], file[STATE_NAME_MAX];
	struct python_code code;
	int ret = python_code_read(&code, &memory,
				   &(struct python_interpreter){s->layout, s->code_type}, f->code,
				   f->id);

	if (*f->name == '[') { /* a hostile state, with the expected error */
		ck_assert_msg(ret == atoi(f->name + 1), "%s: %" PRIx64 ": %d", path, f->code, ret);
		return;
	}
	ck_assert_msg(ret == 0, "%s: %s: %d", path, f->name, ret);
	ck_assert_str_eq(state_clean(code.name, name), f->name);
	ck_assert_str_eq(state_clean(code.file, file), f->file);
	ck_assert_uint_eq(python_code_line(&code, &s->layout, f->unit), f->line);
	python_code_free(&code);

	/* another object that has taken this one's place */
	ck_assert_int_eq(python_code_read(&code, &memory,
					  &(struct python_interpreter){s->layout, s->code_type},
					  f->code, f->id ^ 1),
			 -ESTALE);
}

static void for_each_state(const char *pattern,
			   void (*use)(const char *path, const struct python_state *s),
			   size_t least)
{
	glob_t found;

	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	ck_assert_uint_ge(found.gl_pathc, least);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct python_state s = loaded(found.gl_pathv[i]);

		use(found.gl_pathv[i], &s);
		state_free(&s);
	}
	globfree(&found);
}

static uint32_t flags_seen, kinds_seen, ends_seen;

static void check_walk(const char *path, const struct python_state *s)
{
	static struct python_walker w;

	ck_assert_msg(python_layout_check(&s->layout), "%s", path);
	ck_assert_msg(s->threads.count > 0, "%s", path);
	for (size_t i = 0; i < s->threads.count; i++) {
		const struct state_thread *t = &s->threads.items[i];

		ck_assert_msg(is_same(&w, s, t),
			      "%s: thread %" PRIx64 ": %u frames, flags %x, %s; %" PRIu64 " steps",
			      path, t->ident, w.walk.at / 2, w.walk.flags,
			      stack_end_word(w.walk.end), w.steps);
		flags_seen |= t->flags;
		ends_seen |= 1U << t->end;
	}
	for (size_t i = 0; i < s->frames.count; i++)
		kinds_seen |= 1U << s->frames.items[i].kind;
}

START_TEST(every_state_is_walked_as_it_was)
{
	for_each_state("tests/replay/python-*.state", check_walk, LEAST_STATES);
	for (size_t i = 0; i < STATE_FLAGS; i++)
		ck_assert_msg(flags_seen & state_flags[i].flag, "no %s", state_flags[i].word);
	ck_assert_uint_eq(kinds_seen, 7);
	ck_assert_uint_eq(ends_seen, 1U << END_WALKED | 1U << END_DEPTH | 1U << END_PYTHON);
}
END_TEST

static void check_names(const char *path, const struct python_state *s)
{
	for (size_t i = 0; i < s->frames.count; i++)
		if (s->frames.items[i].kind != 2)
			check_name(path, s, &s->frames.items[i]);
}

START_TEST(every_frame_is_named_as_it_was)
{
	for_each_state("tests/replay/python-*.state", check_names, LEAST_STATES);
}
END_TEST

/* Walks with the cache give the same result, also if the entry belongs to another thread. */
static void check_remembering(const char *path, const struct python_state *s)
{
	static struct python_thread remembered;
	static struct python_walker w;

	memset(&remembered, 0, sizeof(remembered));
	w.remembered = &remembered;
	w.walk.now = 1;
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < s->threads.count; i++) {
			const struct state_thread *t = &s->threads.items[i];
			uint64_t reads;

			ck_assert_msg(is_same(&w, s, t), "%s: thread %zu", path, i);
			reads = w.reads;
			ck_assert_msg(is_same(&w, s, t), "%s: thread %zu again", path, i);
			/* a thread without frames is searched again after its back-off */
			ck_assert_msg(w.reads <= reads || !t->count, "%s: thread %zu", path, i);
		}
	w.remembered = NULL;
}

START_TEST(a_remembered_thread_is_the_same)
{
	for_each_state("tests/replay/python-*.state", check_remembering, LEAST_STATES);
}
END_TEST

/* Copy some words to another address; they are as readable as the old ones. */
static void copy_words(struct python_state *s, uint64_t from, uint64_t to, size_t bytes)
{
	size_t count = s->words.count;

	for (size_t i = 0; i < count; i++) {
		struct state_word word = s->words.items[i];

		word.address += to - from;
		if (word.address - to < bytes)
			ck_assert_int_eq(vector_push(&s->words, word), 0);
	}
	state_sort(s);
}

/* Like a C thread that calls Python now and then: it may get another state each time. */
START_TEST(a_new_state_of_a_known_thread_is_found_at_once)
{
	struct python_state s = loaded_named("3.8-recursion");
	const struct python_layout *l = &s.layout;
	static struct python_thread remembered;
	static struct python_walker w = {.remembered = &remembered};
	uint64_t interpreter, *first, old, new;

	ck_assert(is_same(&w, &s, &s.threads.items[0]));
	interpreter = state_word_at(&s, s.runtime + l->runtime_interpreters)->value;
	first = &state_word_at(&s, interpreter + l->interpreter_threads)->value;
	old = *first;
	new = *first = old + 0x100000;
	copy_words(&s, old, new, 0x200);
	state_word_at(&s, s.runtime + l->runtime_holder)->value = new;
	state_word_at(&s, old + l->thread_frame)->value = 0; /* a freed state keeps its ident */
	w.walk.now -= WALKER_PAUSE;
	ck_assert(is_same(&w, &s, &s.threads.items[0]));
	state_free(&s);
}
END_TEST

/* Check that a state of a version with built-in layout was captured with the current layout. */
static void check_layout(const char *path, const struct python_state *s)
{
	uint8_t minor = (uint8_t)s->layout.version;
	const struct python_layout *known = python_layout_of(3, minor);

	ck_assert_msg(known || minor >= 13, "%s", path);
	for (size_t i = 0; known && i < STATE_MEMBERS; i++)
		ck_assert_msg(state_get_member(known, &state_members[i]) ==
				      state_get_member(&s->layout, &state_members[i]),
			      "%s: %s", path, state_members[i].name);
}

START_TEST(good_states_have_the_layout_that_is_known)
{
	static const unsigned int minors[] = {8, 9, 10, 11, 12, 13};

	for (size_t i = 0; i < sizeof(minors) / sizeof(minors[0]); i++) {
		char pattern[64];

		snprintf(pattern, sizeof(pattern), "tests/replay/python-3.%u-*.state", minors[i]);
		for_each_state(pattern, check_layout, 5);
	}
}
END_TEST

/* Check that the tests above can fail: changed words of memory or layout change the result. */
START_TEST(another_word_or_layout_makes_another_stack)
{
	struct python_state s = loaded_named("3.12-classes");
	size_t differ = 0;

	ck_assert(all_same(&s));
	for (size_t i = 0; i < s.words.count; i++) {
		s.words.items[i].value ^= 0x10001;
		differ += !all_same(&s);
		s.words.items[i].value ^= 0x10001;
	}
	/* each frame depends on its code object, its place, and the next frame */
	ck_assert_uint_ge(differ, 3 * (s.threads.items[0].count - 1));
	for (size_t i = 0; i < STATE_MEMBERS; i++) {
		const struct state_member *m = &state_members[i];
		uint32_t value = state_get_member(&s.layout, m);
		bool walked = m->offset >= offsetof(struct python_layout, runtime_interpreters) &&
			      m->offset < offsetof(struct python_layout, code_first_line);

		if (!walked || value == PYTHON_ABSENT || !strcmp(m->name, "cframe_previous"))
			continue;
		state_put_member(&s.layout, m, value + 16);
		differ = !all_same(&s);
		state_put_member(&s.layout, m, value);
		ck_assert_msg(differ || strstr("frame_bytes code_bytes interpreter_collecting "
					       "thread_next interpreter_next",
					       m->name),
			      "%s", m->name);
	}
	state_free(&s);
}
END_TEST

START_TEST(texts_that_are_no_states_are_refused)
{
	static const char *const bad[] = {
		"",
		"skein-stack 1\n",
		"skein-python 2\n",
		"skein-python 1\nnonsense\n",
		"skein-python 1\nruntime\n",
		"skein-python 1\nruntime -1\n",
		"skein-python 1\nruntime 12345678123456789\n",
		"skein-python 1\nlayout version\n",
		"skein-python 1\nlayout version=-\n",
		"skein-python 1\nlayout version=70000\n",
		"skein-python 1\nlayout color=7\n",
		"skein-python 1\nwords 1004 1\n",
		"skein-python 1\nwords 1000 x\n",
		"skein-python 1\nthread 1 process\n",
		"skein-python 1\nthread 1 lazy walked\n",
		"skein-python 1\nregisters 1\n",
		"skein-python 1\nthread 1 - walked\nregisters 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\n",
		"skein-python 1\nthread 1 - walked\nagain 8\n",
		"skein-python 1\nframe frame 1 2 3 4 name file\n",
		"skein-python 1\nthread 1 - walked\nframe window 1 2 3 4 name file\n",
		"skein-python 1\nthread 1 - walked\nframe frame 1 100000000 3 4 name file\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char *text = strdup(bad[i]);
		struct python_state s;

		ck_assert_msg(state_parse(&s, text, NULL) == -EBADMSG, "%s", bad[i]);
		state_free(&s);
		free(text);
	}
}
END_TEST

START_TEST(what_is_written_is_read_again)
{
	struct python_state s = loaded_named("3.11-classes"), again;
	char *text, *copy;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	state_write(&s, out);
	fclose(out);
	copy = strdup(text);
	ck_assert_int_eq(state_parse(&again, copy, NULL), 0);
	ck_assert(all_same(&again));
	ck_assert_uint_eq(again.words.count, s.words.count);
	ck_assert_str_eq(again.program, s.program);
	ck_assert_mem_eq(&again.layout, &s.layout, sizeof(s.layout));
	free(copy);
	free(text);
	state_free(&again);
	state_free(&s);
}
END_TEST

SUITE("python_replay", every_state_is_walked_as_it_was, every_frame_is_named_as_it_was,
      a_remembered_thread_is_the_same, a_new_state_of_a_known_thread_is_found_at_once,
      good_states_have_the_layout_that_is_known, another_word_or_layout_makes_another_stack,
      texts_that_are_no_states_are_refused, what_is_written_is_read_again)
