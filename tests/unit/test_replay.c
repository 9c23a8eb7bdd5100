// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of real programs are walked again: tests/replay/ has those that `skein record
 * --save-bad-stacks` saved (and, with SKEIN_DEBUG_WALK=save-good, complete ones), each with the
 * result of the walk in the kernel. Then the format of the files is tested.
 */
#include <glob.h>
#include <sys/stat.h>

#include "capture/saver.h"
#include "files.h"
#include "saved.h"
#include "suite.h"

#define LEAST_STACKS 60
#define SECRET 0x5ec4e75ec4e7ULL

static char root[512]; /* the source tree; tests may change to another folder */

static struct saved_stack *load(const char *path)
{
	struct saved_stack *s = NULL;
	struct error err = {""};

	ck_assert_msg(saved_load(&s, path, &err) == 0, "%s: %s", path, err.text);
	return s;
}

static struct saved_stack *load_named(const char *name)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/tests/replay/%s-1.stack", root, name);
	return load(path);
}

static bool is_same(const struct saved_stack *s)
{
	static struct finished_stack f;

	return finish_stack(&f, &s->world, &s->begin) == 0 && saved_agrees(s, &f);
}

START_TEST(every_stack_is_walked_as_it_was)
{
	bool ends[END_COUNT] = {0};
	glob_t found;

	ck_assert_int_eq(glob("tests/replay/*.stack", 0, NULL, &found), 0);
	ck_assert_uint_ge(found.gl_pathc, LEAST_STACKS);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct saved_stack *s = load(found.gl_pathv[i]);

		ck_assert_msg(is_same(s), "%s", found.gl_pathv[i]);
		ck_assert_uint_gt(s->count, 0);
		ends[s->end] = true;
		free(s);
	}
	/*
	 * END_PYTHON is an end of Python frames, which have replays of their own; 32-bit code,
	 * threads outside of the namespace and those for which there is no time are not walked.
	 */
	for (int end = 0; end < END_COUNT; end++)
		if (end != END_NO_MEMORY_MAP && end != END_UNKNOWN_ROOT && end != END_NOT_READY &&
		    end != END_PYTHON && end != END_CODE_32_BIT && end != END_OUTSIDE &&
		    end != END_JAVA && end != END_NO_TIME && end != END_NOT_TAKEN &&
		    end != END_NO_WALKER)
			ck_assert_msg(ends[end], "no stack: %s", stack_end_word((uint64_t)end));
	globfree(&found);
}
END_TEST

/*
 * Check that the test above can fail: every rule and every word of the stack changes the result of
 * some stack.
 */
START_TEST(another_rule_or_word_makes_another_stack)
{
	struct saved_stack *s = load_named("openssl");
	uint32_t differ = 0, rules = 0, words = 0;

	for (uint32_t i = 0; i < 2048; i++) {
		if (!s->stack[i])
			continue;
		s->stack[i] ^= 8;
		differ += !is_same(s);
		s->stack[i] ^= 8;
		words++;
	}
	ck_assert_uint_gt(words, s->count);
	ck_assert_uint_ge(differ, s->count - 1); /* return addresses at least */
	differ = 0;
	for (uint32_t i = UNWIND_RULES_FIXED; i < 256; i++) {
		if (s->rules[i].kind != UNWIND_CFA)
			continue;
		s->rules[i].cfa_offset += 8;
		differ += !is_same(s);
		s->rules[i].cfa_offset -= 8;
		rules++;
	}
	/* of each rule in use there are two more that are not */
	ck_assert_uint_ge(differ, rules / 4);
	ck_assert(is_same(s));
	free(s);
}
END_TEST

START_TEST(texts_that_are_no_stacks_are_refused)
{
	static const char *const bad[] = {
		"",
		"skein-stack 2\nend walked\n",
		"end walked\n",
		"skein-stack 1\n",
		"skein-stack 1\nend of it\n",
		"skein-stack 1\nend walked\nat 1 2 3\n",
		"skein-stack 1\nend walked\nat 1 2 3 -4\n",
		"skein-stack 1\nend walked\nstack 1000 131073\n",
		"skein-stack 1\nend walked\nstack 1000 -8\n",
		"skein-stack 1\nend walked\nstack 1000 16\nwords 1010 1\n",
		"skein-stack 1\nend walked\nstack 1000 16\nwords ff8 1\n",
		"skein-stack 1\nend walked\nstack 1000 16\nwords 1004 1\n",
		"skein-stack 1\nend walked\nmapping 1 2 0 16384 x\n",
		"skein-stack 1\nend walked\ntable 5 broken\n",
		"skein-stack 1\nend walked\nrow 0 cfa 8 -8 0 0 7 0 0\n",
		"skein-stack 1\nend walked\ntable 5 ready\nrow 0 cfa 8 -8 0 0 7 0\n",
		"skein-stack 1\nend walked\ntable 5 ready\nrow 0 cfa 8 -8 99999 0 7 0 0\n",
		"skein-stack 1\nend walked\ntable 5 ready\nrow 8 end 0 0 0 0 0 0 0\n"
		"row 8 end 0 0 0 0 0 0 0\n",
		"skein-stack 1\nend walked\ntable 5 ready\nrow 0 end 0 0 0 0 0 0 0\n"
		"row ffffffffffffffff end 0 0 0 0 0 0 0\n",
		"skein-stack 1\nend walked\ntable 5 ready\nrow 0 end 0 0 0 0 0 0 0\ntable 5 none\n"
		"table 5 ready\nrow 0 end 0 0 0 0 0 0 0\n",
		"skein-stack 1\nend walked\nnonsense\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct saved_stack *s = NULL;

		ck_assert_msg(saved_read(&s, bad[i], strlen(bad[i]), NULL) == -EBADMSG, "%s",
			      bad[i]);
		ck_assert_ptr_null(s);
	}
}
END_TEST

START_TEST(another_machine_is_told_apart)
{
	const char *text = "skein-stack 1\nmachine pdp11\nend walked\n";
	struct saved_stack *s;
	struct error err;

	ck_assert_int_eq(saved_read(&s, text, strlen(text), &err), -ENOEXEC);
	ck_assert_str_eq(err.text, "a stack of another architecture");
}
END_TEST

/* A saved stack as an ended_stack of the recorder. */
struct ended {
	struct saved_stack *saved;
	struct space space;
	struct ended_stack stack;
	struct finished_stack again;
	uint64_t read[FINISH_READ_WORDS];
};

static void begin_ended(struct ended *e, const char *name)
{
	struct saved_stack *s = load_named(name);
	const struct unwind_mapping *m = (const void *)&s->chunk.words[s->world.mappings];

	memset(e, 0, sizeof(*e));
	e->saved = s;
	s->world.read = e->read;
	e->space.mappings.count = s->world.mapping_count;
	e->space.mappings.items = calloc(s->world.mapping_count, sizeof(struct space_mapping));
	for (uint32_t i = 0; i < s->world.mapping_count; i++)
		e->space.mappings.items[i] = (struct space_mapping){
			.start = m[i].start, .end = m[i].end, .offset = m[i].offset};
	e->stack = (struct ended_stack){
		.program = "a program",
		.space = &e->space,
		.begin = s->begin,
		.frames = s->frames,
		.count = s->count,
		.end = s->end,
	};
}

static void end_ended(struct ended *e)
{
	free(e->space.mappings.items);
	free(e->saved);
}

static char *write_ended(struct ended *e, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	memset(e->read, 0, sizeof(e->read));
	ck_assert_int_eq(finish_stack(&e->again, &e->saved->world, &e->stack.begin), 0);
	ck_assert_int_eq(saved_write(out, &e->saved->world, &e->stack, &e->again), 0);
	ck_assert_int_eq(fclose(out), 0);
	return text;
}

/*
 * Put a secret into the words that the walk does not read, and into those read that are not
 * addresses.
 */
static void put_secrets(struct ended *e)
{
	struct saved_stack *s = e->saved;
	size_t words = s->begin.at.bytes / sizeof(uint64_t), put = 0;

	for (size_t i = 0; i < words; i++)
		if (s->stack[i] <= 1) {
			s->stack[i] = SECRET;
			put++;
		}
	ck_assert_uint_gt(put, 100);
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		if (e->stack.begin.at.registers[i] <= 1)
			e->stack.begin.at.registers[i] = SECRET;
}

START_TEST(what_is_written_can_be_walked_and_tells_no_secrets)
{
	static const char *const names[] = {"openssl", "go", "python3", "vfork", "signals", "gap"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) - 1; i++) {
		struct saved_stack *again;
		struct ended e;
		char *text;
		size_t size;

		begin_ended(&e, names[i]);
		put_secrets(&e);
		text = write_ended(&e, &size);
		ck_assert_msg(!strstr(text, "5ec4e75ec4e7"), "%s: %s", names[i], text);
		ck_assert_int_eq(saved_read(&again, text, size, NULL), 0);
		ck_assert_str_eq(again->program, "a program");
		ck_assert_uint_eq(again->count, e.saved->count);
		ck_assert_msg(is_same(again), "%s: %s", names[i], text);
		free(again);
		free(text);
		end_ended(&e);
	}
}
END_TEST

static unsigned int count_files(const char *pattern)
{
	unsigned int count = 0;
	glob_t found;

	if (glob(pattern, 0, NULL, &found) == 0)
		count = (unsigned int)found.gl_pathc;
	globfree(&found);
	return count;
}

static void see(struct saver *s, struct ended *e, unsigned int times)
{
	while (times--)
		ck_assert_int_eq(saver_offer(s, &e->saved->world, &e->stack, NULL), 0);
}

START_TEST(enough_of_every_kind_is_kept_in_private)
{
	struct ended whole, broken;
	uint64_t seen, kept;
	struct saver *s;
	struct stat st;

	begin_ended(&whole, "openssl");
	begin_ended(&broken, "postgres-no-unwind-table");
	files_begin();
	ck_assert_int_eq(saver_new(&s, "kept", false, NULL), 0);
	see(s, &whole, 3);
	see(s, &broken, 25);
	saver_get_counts(s, &seen, &kept);
	ck_assert_uint_eq(seen, 25);
	ck_assert_uint_eq(kept, 20);
	saver_free(s);
	ck_assert_uint_eq(count_files("kept/no-unwind-table-a-program-*.stack"), 20);
	ck_assert_uint_eq(count_files("kept/*"), 20);
	ck_assert_int_eq(stat("kept", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0700);
	ck_assert_int_eq(stat("kept/no-unwind-table-a-program-0001.stack", &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0600);

	/* another recording does not overwrite files */
	ck_assert_int_eq(saver_new(&s, "kept", true, NULL), 0);
	see(s, &broken, 1);
	see(s, &whole, 1);
	saver_free(s);
	ck_assert_uint_eq(count_files("kept/*"), 22);
	ck_assert_uint_eq(count_files("kept/whole-*"), 1);
	end_ended(&whole);
	end_ended(&broken);
}
END_TEST

START_TEST(a_root_where_no_thread_begins_is_bad)
{
	struct ended e;
	struct saver *s;

	begin_ended(&e, "muslsort-unknown-root");
	files_begin();
	e.stack.program = "../x y";
	ck_assert_int_eq(saver_new(&s, "kept", false, NULL), 0);
	see(s, &e, 1);
	saver_free(s);
	ck_assert_uint_eq(count_files("kept/unknown-root-..-x-y-0001.stack"), 1);
	end_ended(&e);
}
END_TEST

START_TEST(failures_are_told)
{
	struct error err = {""};
	struct ended e;
	struct saver *s;

	begin_ended(&e, "gap-no-unwind-table");
	files_begin();
	shell("touch file");
	ck_assert_int_eq(saver_new(&s, "file", false, &err), -ENOTDIR);
	ck_assert_ptr_nonnull(strstr(err.text, "file"));
	ck_assert_int_eq(saver_new(&s, "not/there", false, &err), -ENOENT);
	ck_assert_int_eq(saver_new(&s, "kept", false, &err), 0);
	shell("rmdir kept");
	ck_assert_int_eq(saver_offer(s, &e.saved->world, &e.stack, &err), -ENOENT);
	saver_free(s);
	end_ended(&e);
}
END_TEST

/* SUITE() cannot run code before the tests. */
__attribute__((constructor)) static void remember_root(void)
{
	if (!getcwd(root, sizeof(root)))
		root[0] = '\0';
}

SUITE("replay", every_stack_is_walked_as_it_was, another_rule_or_word_makes_another_stack,
      texts_that_are_no_stacks_are_refused, another_machine_is_told_apart,
      what_is_written_can_be_walked_and_tells_no_secrets, enough_of_every_kind_is_kept_in_private,
      a_root_where_no_thread_begins_is_bad, failures_are_told)
