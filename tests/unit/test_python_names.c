// SPDX-License-Identifier: Apache-2.0
/*
 * Names and lines of code objects in every installed interpreter, read through the client and its
 * worker: equal to the interpreter's, none for other addresses, and kept after the end of the
 * process.
 */
#include "base/vector.h"
#include "bpf/event.h"
#include "client.h"
#include "python_walker.h"
#include "pythons.h"
#include "suite.h"
#include "symbolizers/python_code.h"
#include "symbolizers/python_file.h"

#define MEMORY 1 /* number of the object that stands for a process's memory */
#define FILES 100 /* first number of the files */

/* A place in a code object, as printed by the script. */
struct reported {
	uint64_t address, place;
	uint32_t first_line, line;
	char name[PYTHON_NAME_MAX], file[PYTHON_FILE_MAX];
};

struct answer {
	uint64_t object, address, place, start;
	uint32_t first_line, line;
	unsigned int flags;
	char name[PYTHON_NAME_MAX], file[PYTHON_FILE_MAX];
};

struct seen {
	VECTOR(struct answer) answers;
	unsigned int files;
	uint64_t interpreter; /* number of the interpreter's file */
	struct python_file python;
};

struct scene {
	struct python p;
	struct symbolizer *s;
	struct seen seen;
	VECTOR(struct reported) reported;
	int memory;
	uint64_t code_type;
	/* of the files' code mappings */
	uint64_t start[64], offset[64];
};

static void on_symbol(void *context, uint64_t object, uint64_t address, const struct symbol *s)
{
	struct seen *seen = context;
	struct answer a = {.object = object,
			   .address = address,
			   .place = s->place,
			   .start = s->start,
			   .first_line = s->first_line,
			   .line = s->line,
			   .flags = s->flags};

	ck_assert_str_eq(s->system_name, "");
	ck_assert_int_lt(snprintf(a.name, sizeof(a.name), "%s", s->name), sizeof(a.name));
	ck_assert_int_lt(snprintf(a.file, sizeof(a.file), "%s", s->file), sizeof(a.file));
	ck_assert_int_eq(vector_push(&seen->answers, a), 0);
}

static void on_python(void *context, uint64_t object, const struct python_file *f)
{
	struct seen *seen = context;

	seen->files++;
	if (f->support == PYTHON_NONE)
		return;
	ck_assert_uint_eq(f->support, PYTHON_READABLE);
	ck_assert_uint_eq(seen->interpreter, 0);
	seen->interpreter = object;
	seen->python = *f;
}

static void unhex(const char *text, char *ret)
{
	unsigned int byte;

	for (; sscanf(text, "%2x", &byte) == 1; text += 2)
		*ret++ = (char)byte;
	*ret = '\0';
}

/* Read lines of a kind up to "end". */
static void hear(struct scene *c, const char *kind)
{
	char *line = NULL, word[16], name[2 * PYTHON_NAME_MAX], file[2 * PYTHON_FILE_MAX];
	size_t room = 0;

	c->reported.count = 0;
	while (getline(&line, &room, c->p.out) > 0 && strcmp(line, "end\n") != 0) {
		struct reported t = {0};
		int unit;

		if (sscanf(line, "type %lx", &c->code_type) == 1)
			continue;
		name[0] = file[0] = '\0';
		ck_assert_int_ge(sscanf(line, "%15s %lx %u %d %u %1023[0-9a-f]%*1[ ]%2047[0-9a-f]",
					word, &t.address, &t.first_line, &unit, &t.line, name,
					file),
				 6);
		ck_assert_str_eq(word, kind);
		unhex(name, t.name);
		unhex(file, t.file);
		t.place = (uint32_t)unit;
		ck_assert_int_eq(vector_push(&c->reported, t), 0);
	}
	free(line);
}

static bool read_process(void *context, void *to, size_t size, uint64_t address)
{
	const struct scene *c = context;

	return pread(c->memory, to, size, (off_t)address) == (ssize_t)size;
}

/* Set the ids as the walker computes them. */
static void set_ids(struct scene *c)
{
	const struct python_memory memory = {.read = read_process, .context = c};
	static struct python_walker w;

	for (size_t i = 0; i < c->reported.count; i++) {
		struct reported *t = &c->reported.items[i];

		t->place = PYTHON_PLACE(walker_code_id(&w, &memory, &c->seen.python.layout,
						       c->code_type, t->address),
					t->place);
	}
}

/* Inspect every file of which the process has mapped code. */
static void inspect_files(struct scene *c)
{
	char path[600], line[1024], name[512];
	unsigned int files = 0;
	uint64_t start, offset;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)c->p.pid);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) && files < 64) {
		if (sscanf(line, "%lx-%*x r-xp %lx %*s %*s /%500s", &start, &offset, name) != 3)
			continue;
		snprintf(path, sizeof(path), "/%s", name);
		c->start[files] = start;
		c->offset[files] = offset;
		ck_assert_int_eq(symbolizer_add(c->s, FILES + files, OBJECT_ELF, file_open(path)),
				 0);
		ck_assert_int_eq(symbolizer_inspect(c->s, FILES + files), 0);
		files++;
	}
	fclose(f);
	for (int i = 0; i < 600 && c->seen.files < files; i++)
		poll_once(c->s, 100);
	ck_assert_uint_eq(c->seen.files, files);
	ck_assert_uint_ge(c->seen.interpreter, FILES);
}

/* Return the address of PyCode_Type by the file's data. */
static uint64_t type_of_file(const struct scene *c)
{
	const struct python_file *f = &c->seen.python;
	uint64_t at = c->seen.interpreter - FILES;

	return f->code_type + c->start[at] - (c->offset[at] + f->code_delta);
}

/* Begin with the interpreter at path. Return false if its version is not supported. */
static bool begin(struct scene *c, const char *path)
{
	struct symbolizer_events events = {
		.symbol = on_symbol, .python = on_python, .context = &c->seen};
	struct error err = {0};
	char memory[64];

	*c = (struct scene){0};
	if (!python_start(&c->p, path, "tests/unit/python_names.py"))
		return false;
	ck_assert_msg(symbolizer_new(&c->s, &events, &err) == 0, "%s", err.text);
	hear(c, "code");
	inspect_files(c);
	ck_assert_uint_eq(c->seen.python.minor, (unsigned int)c->p.minor);
	ck_assert_uint_eq(type_of_file(c), c->code_type);
	snprintf(memory, sizeof(memory), "/proc/%d/mem", (int)c->p.pid);
	c->memory = file_open(memory);
	set_ids(c);
	ck_assert_int_eq(symbolizer_add_python(c->s, MEMORY, dup(c->memory), &c->seen.python.layout,
					       c->code_type),
			 0);
	return true;
}

static void end(struct scene *c)
{
	symbolizer_free(c->s);
	ck_assert_int_eq(python_end(&c->p), 0);
	close(c->memory);
	vector_free(&c->reported);
	vector_free(&c->seen.answers);
}

static void ask(struct scene *c, const struct reported *t, uint64_t place)
{
	ck_assert_int_eq(symbolizer_lookup_python(c->s, MEMORY, t->address, place), 0);
}

static void wait_for(struct scene *c)
{
	finish(c->s);
}

static void check_found(const struct answer *a, const struct reported *t)
{
	ck_assert_uint_eq(a->object, MEMORY);
	ck_assert_uint_eq(a->address, t->address);
	ck_assert_uint_eq(a->place, t->place);
	ck_assert_uint_eq(a->flags, SYMBOL_FOUND);
	ck_assert_str_eq(a->name, t->name);
	ck_assert_str_eq(a->file, t->file);
	ck_assert_uint_eq(a->start, t->address);
	ck_assert_uint_eq(a->first_line, t->first_line);
	ck_assert_uint_eq(a->line, t->line);
}

static void check_not_found(const struct answer *a)
{
	ck_assert_uint_eq(a->flags & SYMBOL_FOUND, 0);
	ck_assert_str_eq(a->name, "");
	ck_assert_str_eq(a->file, "");
	ck_assert_uint_eq(a->first_line, 0);
	ck_assert_uint_eq(a->line, 0);
}

/* Request places from, from + step, ...; check whether they are found. */
static void check_all(struct scene *c, size_t from, size_t step, bool found)
{
	struct reported *reported = c->reported.items;

	c->seen.answers.count = 0;
	for (size_t i = from; i < c->reported.count; i += step)
		ask(c, &reported[i], reported[i].place);
	wait_for(c);
	for (size_t i = from, at = 0; i < c->reported.count; i += step, at++) {
		ck_assert_uint_lt(at, c->seen.answers.count);
		if (found)
			check_found(&c->seen.answers.items[at], &reported[i]);
		else
			check_not_found(&c->seen.answers.items[at]);
	}
}

/* Run the check in each installed version. */
static void in_every_version(void (*check)(struct scene *c))
{
	unsigned int versions = 0;
	struct scene c;
	glob_t all;

	pythons_find(&all);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		if (!begin(&c, all.gl_pathv[i]))
			continue;
		check(&c);
		end(&c);
		versions++;
	}
	ck_assert_uint_gt(versions, 0);
	globfree(&all);
}

static void check_named(struct scene *c)
{
	const struct reported *twins = &c->reported.items[c->reported.count - 2];

	ck_assert_uint_gt(c->reported.count, 500);
	/* two code objects that used the same memory; only ids from 3.12 on always differ */
	if (c->p.minor >= 12)
		ck_assert_uint_ne(PYTHON_PLACE_ID(twins[0].place), PYTHON_PLACE_ID(twins[1].place));
	check_all(c, 0, 1, true);
	/* the same from another worker */
	kill(memory_worker_pid(c->s), SIGKILL);
	check_all(c, 0, 1, true);
	ck_assert_uint_eq(symbolizer_stats(c->s)->restarts, 1);
}

START_TEST(code_objects_are_named)
{
	in_every_version(check_named);
}
END_TEST

/* Check other ids, other addresses, and objects that are not code objects. */
static void check_wrong(struct scene *c)
{
	struct reported type = {.address = c->code_type};

	for (size_t i = 0; i < c->reported.count; i++) {
		ask(c, &c->reported.items[i], c->reported.items[i].place ^ 1ull << 40);
		ask(c, &c->reported.items[i], PYTHON_PLACE_UNIT(c->reported.items[i].place));
		c->reported.items[i].address += 16;
		ask(c, &c->reported.items[i], c->reported.items[i].place);
	}
	ask(c, &type, 0);
	ck_assert_int_eq(symbolizer_lookup(c->s, MEMORY, c->reported.items[0].address), 0);
	ck_assert_int_eq(symbolizer_lookup_python(c->s, FILES, 0, 0), -ENOENT);
	wait_for(c);
	ck_assert_uint_eq(c->seen.answers.count, 3 * c->reported.count + 2);
	for (size_t i = 0; i < c->seen.answers.count; i++)
		check_not_found(&c->seen.answers.items[i]);
}

START_TEST(what_has_another_id_has_no_name)
{
	in_every_version(check_wrong);
}
END_TEST

/*
 * Code objects replace others: names that were read are kept, those that were not read are not
 * found, and no object gets another's name.
 */
static void check_taken(struct scene *c)
{
	VECTOR(struct reported) before;
	size_t count = c->reported.count;

	check_all(c, 0, 2, true);
	ck_assert_int_eq(write(c->p.in, "\n", 1), 1);
	before.items = c->reported.items;
	c->reported.items = NULL;
	c->reported.capacity = 0;
	hear(c, "taken");
	set_ids(c);
	ck_assert_uint_gt(c->reported.count, 0);
	check_all(c, 0, 1, true);
	c->seen.answers.count = 0;
	for (size_t i = 0; i < count; i++)
		ask(c, &before.items[i], before.items[i].place);
	wait_for(c);
	for (size_t i = 0; i < count; i++) {
		if (c->seen.answers.items[i].flags & SYMBOL_FOUND)
			check_found(&c->seen.answers.items[i], &before.items[i]);
		else
			check_not_found(&c->seen.answers.items[i]);
		ck_assert(i % 2 || c->seen.answers.items[i].flags == SYMBOL_FOUND);
	}
	free(before.items);
}

START_TEST(places_that_others_take_keep_their_names)
{
	in_every_version(check_taken);
}
END_TEST

static void check_ended(struct scene *c)
{
	check_all(c, 0, 2, true);
	kill(c->p.pid, SIGKILL);
	ck_assert_int_eq(waitid(P_PID, (id_t)c->p.pid, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
	check_all(c, 0, 2, true);
	/* many places are in one code object; reading one of them is enough for all */
	c->reported.items[0].address = c->code_type;
	c->seen.answers.count = 0;
	ask(c, &c->reported.items[0], c->reported.items[0].place);
	ask(c, &c->reported.items[c->reported.count - 1],
	    c->reported.items[c->reported.count - 1].place);
	wait_for(c);
	check_not_found(&c->seen.answers.items[0]);
	/* a new worker has no names */
	kill(memory_worker_pid(c->s), SIGKILL);
	check_all(c, 0, 2, false);
}

START_TEST(processes_end_and_names_stay)
{
	glob_t all;
	struct scene c;

	pythons_find(&all);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		if (!begin(&c, all.gl_pathv[i]))
			continue;
		check_ended(&c);
		symbolizer_free(c.s);
		ck_assert_int_eq(WTERMSIG(python_end(&c.p)), SIGKILL);
		close(c.memory);
		vector_free(&c.reported);
		vector_free(&c.seen.answers);
	}
	globfree(&all);
}
END_TEST

SUITE("python_names", code_objects_are_named, what_has_another_id_has_no_name,
      places_that_others_take_keep_their_names, processes_end_and_names_stay)
