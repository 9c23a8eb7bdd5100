// SPDX-License-Identifier: Apache-2.0
/*
 * The client and its worker with memory made by the test: caches, memory that hangs, and a worker
 * that sends wrong data.
 */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "base/vector.h"
#include "bpf/event.h"
#include "client.h"
#include "suite.h"
#include "symbolizers/python_code.h"
#include "symbolizers/python_file.h"
#include "symbolizers/worker_python.h"

#define CODE_TYPE 0x4560
#define CODE_ROOM 0x10000 /* distance of two code objects, bytes */

struct answer {
	uint64_t object, address, place;
	uint32_t line;
	unsigned int flags;
	char name[32], file[32];
};

struct seen {
	VECTOR(struct answer) answers;
	unsigned int files, bad;
	size_t before; /* number of answers when the last file was reported */
	uint64_t last_file;
	struct python_file python;
};

static const struct python_layout *layout;

static void on_symbol(void *context, uint64_t object, uint64_t address, const struct symbol *s)
{
	struct seen *seen = context;
	struct answer a = {.object = object,
			   .address = address,
			   .place = s->place,
			   .line = s->line,
			   .flags = s->flags};

	snprintf(a.name, sizeof(a.name), "%s", s->name);
	snprintf(a.file, sizeof(a.file), "%s", s->file);
	ck_assert_int_eq(vector_push(&seen->answers, a), 0);
}

static void on_facts(void *context, uint64_t object, const struct object_facts *facts)
{
	struct seen *seen = context;

	(void)object;
	seen->bad += facts->bad;
}

static void on_python(void *context, uint64_t object, const struct python_file *f)
{
	struct seen *seen = context;

	seen->files++;
	seen->before = seen->answers.count;
	seen->last_file = object;
	seen->python = *f;
}

static struct symbolizer *start(struct seen *seen)
{
	struct symbolizer_events events = {
		.symbol = on_symbol, .facts = on_facts, .python = on_python, .context = seen};
	struct symbolizer *s;
	struct error err = {0};

	layout = python_layout_of(3, 12);
	*seen = (struct seen){0};
	ck_assert_msg(symbolizer_new(&s, &events, &err) == 0, "%s", err.text);
	return s;
}

static void stop(struct symbolizer *s, struct seen *seen)
{
	symbolizer_free(s);
	vector_free(&seen->answers);
}

static void put_word(char *bytes, size_t offset, uint64_t word)
{
	memcpy(bytes + offset, &word, sizeof(word));
}

static uint64_t put_text(char *bytes, uint64_t base, size_t offset, const char *text)
{
	put_word(bytes, offset + layout->text_length, strlen(text));
	put_word(bytes, offset + layout->text_state, (1 | 8 | 16) << 2);
	strcpy(bytes + offset + layout->text_ascii, text);
	return base + offset;
}

/*
 * Make the code object for address; bytes has CODE_ROOM bytes. All its code is on the first line,
 * 7.
 */
static void make_code(char *bytes, uint64_t address, const char *name, size_t lines)
{
	memset(bytes, 0, CODE_ROOM);
	put_word(bytes, 0, 1);
	put_word(bytes, PYTHON_OBJECT_TYPE, CODE_TYPE);
	put_word(bytes, layout->code_first_line & ~7u, 7ull << (layout->code_first_line & 7) * 8);
	put_word(bytes, layout->code_name, put_text(bytes, address, 512, name));
	put_word(bytes, layout->code_qualified_name, address + 512);
	put_word(bytes, layout->code_file, put_text(bytes, address, 640, "a.py"));
	put_word(bytes, layout->code_lines, address + 1024);
	put_word(bytes, 1024 + layout->bytes_size, lines);
	memset(bytes + 1024 + layout->bytes_data, 0x80 | 10 << 3, lines);
}

static uint64_t address_of(unsigned int number)
{
	return (uint64_t)CODE_ROOM * (number + 1);
}

/* Make memory with code objects f0, f1 ... */
static int memory_of(unsigned int codes, size_t lines)
{
	int fd = memfd_create("memory", MFD_CLOEXEC);
	char *bytes = malloc(CODE_ROOM), name[16];

	ck_assert_int_ge(fd, 0);
	for (unsigned int i = 0; i < codes; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		make_code(bytes, address_of(i), name, lines);
		ck_assert_int_eq(pwrite(fd, bytes, CODE_ROOM, (off_t)address_of(i)), CODE_ROOM);
	}
	free(bytes);
	return fd;
}

static uint32_t id_at(const char *bytes)
{
	__u64 words[PYTHON_ID_WORDS];

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		memcpy(&words[i], bytes + layout->code_id[i], sizeof(*words));
	return python_code_id(words);
}

static uint32_t id_of(int fd, unsigned int number)
{
	char bytes[PYTHON_CODE_BYTES];

	ck_assert_int_eq(pread(fd, bytes, sizeof(bytes), (off_t)address_of(number)), sizeof(bytes));
	return id_at(bytes);
}

static void add(struct symbolizer *s, uint64_t object, int fd)
{
	ck_assert_int_eq(symbolizer_add_python(s, object, fd, layout, CODE_TYPE), 0);
}

/* The symbolizer that reads the memory of processes; the first of them must have been added. */
static struct symbolizer *memory_reader(struct symbolizer *s)
{
	ck_assert_ptr_nonnull(s->others[OTHER_MEMORY]);
	return s->others[OTHER_MEMORY];
}

static void ask(struct symbolizer *s, uint64_t object, unsigned int number, uint32_t id)
{
	ck_assert_int_eq(
		symbolizer_lookup_python(s, object, address_of(number), PYTHON_PLACE(id, 0)), 0);
}

static void check_found(const struct answer *a, uint64_t object, unsigned int number)
{
	char name[16];

	snprintf(name, sizeof(name), "f%u", number);
	ck_assert_uint_eq(a->object, object);
	ck_assert_uint_eq(a->address, address_of(number));
	ck_assert_uint_eq(a->flags, SYMBOL_FOUND);
	ck_assert_str_eq(a->name, name);
	ck_assert_str_eq(a->file, "a.py");
	ck_assert_uint_eq(a->line, 7);
}

static void check_not_found(const struct answer *a, unsigned int flags)
{
	ck_assert_uint_eq(a->flags, flags);
	ck_assert_str_eq(a->name, "");
	ck_assert_str_eq(a->file, "");
	ck_assert_uint_eq(a->line, 0);
}

START_TEST(objects_are_checked)
{
	struct python_layout wrong;
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(1, 8);

	wrong = *layout;
	wrong.code_name = 1u << 30;
	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_PYTHON, dup(fd)), -EINVAL);
	ck_assert_int_eq(symbolizer_add_python(s, 1, -1, layout, CODE_TYPE), -EBADF);
	ck_assert_int_eq(symbolizer_lookup_python(s, 1, 0, 0), -ENOENT);
	add(s, 1, dup(fd));
	ck_assert_int_eq(symbolizer_add_python(s, 1, dup(fd), layout, CODE_TYPE), -EEXIST);
	ck_assert_int_eq(symbolizer_inspect(s, 1), -ENOENT);
	ck_assert_int_eq(symbolizer_add_python(s, 2, dup(fd), &wrong, CODE_TYPE), 0);
	ask(s, 1, 0, id_of(fd, 0));
	ask(s, 2, 0, id_of(fd, 0));
	finish(s);
	check_found(&seen.answers.items[0], 1, 0);
	check_not_found(&seen.answers.items[1], SYMBOL_BAD_OBJECT);
	close(fd);
	stop(s, &seen);
}
END_TEST

/* The cache of code objects is bounded, and keeps those requested last. */
START_TEST(what_is_remembered_is_bounded)
{
	const unsigned int codes = (32u << 20) / 60000 + 50; /* half of a recording's 64 MiB */
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(codes, 60000);
	uint32_t *ids = calloc(codes, sizeof(*ids));

	add(s, 1, dup(fd));
	for (unsigned int i = 0; i < codes; i++) {
		ids[i] = id_of(fd, i);
		ask(s, 1, i, ids[i]);
		ask(s, 1, 3, ids[3]);
	}
	finish(s);
	for (unsigned int i = 0; i < codes; i++)
		check_found(&seen.answers.items[2 * i], 1, i);
	/* the process ends */
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	seen.answers.count = 0;
	for (unsigned int i = 0; i < codes; i++)
		ask(s, 1, i, ids[i]);
	finish(s);
	for (unsigned int i = 0; i < codes; i++) {
		if (i == 3 || i > 60)
			check_found(&seen.answers.items[i], 1, i);
		else if (i < 40)
			check_not_found(&seen.answers.items[i], SYMBOL_FREED);
	}
	free(ids);
	close(fd);
	stop(s, &seen);
}
END_TEST

START_TEST(a_forgotten_process_gives_back_what_it_took)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(20, 60000);

	/* 100 times the size of the cache */
	for (uint64_t o = 1; o <= 2800; o++) {
		add(s, o, dup(fd));
		for (unsigned int i = 0; o % 100 == 0 && i < 20; i++)
			ask(s, o, i, id_of(fd, i));
		ask(s, o, 0, id_of(fd, 0));
		symbolizer_forget(s, o);
		if (o % 100 == 0)
			finish(s);
	}
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 2800 + 28 * 20);
	for (size_t i = 0; i < seen.answers.count; i++)
		ck_assert_uint_eq(seen.answers.items[i].flags, SYMBOL_FOUND);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	close(fd);
	stop(s, &seen);
}
END_TEST

START_TEST(open_memory_is_bounded)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(41, 8);

	for (uint64_t o = 1; o <= 20; o++) {
		add(s, o, dup(fd));
		memory_reader(s)->options.files_max = 8;
		ask(s, o, (unsigned int)o, id_of(fd, (unsigned int)o));
		finish(s);
		check_found(&seen.answers.items[o - 1], o, (unsigned int)o);
	}
	ck_assert_uint_eq(memory_reader(s)->files, 8);
	/* the first worker has all of them; the next one gets those that are open */
	kill(memory_worker_pid(s), SIGKILL);
	seen.answers.count = 0;
	for (uint64_t o = 1; o <= 20; o++)
		ask(s, o, 20 + (unsigned int)o, id_of(fd, 20 + (unsigned int)o));
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 20);
	for (size_t i = 0; i < 20; i++) {
		const struct answer *a = &seen.answers.items[i];

		if (a->object <= 12)
			check_not_found(a, SYMBOL_BAD_OBJECT);
		else
			check_found(a, a->object, 20 + (unsigned int)a->object);
	}
	close(fd);
	stop(s, &seen);
}
END_TEST

/* Reading memory may hang if its pages come from a file system that does not reply. */
START_TEST(memory_that_hangs_is_bad)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(10, 8), first;

	add(s, 1, dup(fd));
	first = memory_worker_pid(s);
	add(s, 2, dup(fd));
	kill(first, SIGSTOP);
	ask(s, 1, 0, id_of(fd, 0));
	for (unsigned int i = 0; i < 10; i++)
		ask(s, 2, i, id_of(fd, i));
	finish(s);
	ck_assert_int_ne(memory_worker_pid(s), first);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 1);
	ck_assert_uint_eq(seen.bad, 1);
	ck_assert_uint_eq(seen.answers.count, 11);
	for (unsigned int i = 0, found = 0; i < 11; i++) {
		if (seen.answers.items[i].object == 1)
			check_not_found(&seen.answers.items[i], SYMBOL_BAD_OBJECT);
		else
			check_found(&seen.answers.items[i], 2, found++);
	}
	close(fd);
	stop(s, &seen);
}
END_TEST

/* A page that another process must provide, and does not: the kernel does not wait for it. */
START_TEST(memory_that_nobody_gives_has_no_names)
{
	int hanging = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);
	char *page =
		mmap(NULL, CODE_ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = {.api = UFFD_API};
	struct uffdio_register wanted = {
		.range = {.start = (uintptr_t)page, .len = CODE_ROOM},
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(1, 8);

	if (hanging >= 0) {
		ck_assert_int_eq(ioctl(hanging, UFFDIO_API, &api), 0);
		ck_assert_int_eq(ioctl(hanging, UFFDIO_REGISTER, &wanted), 0);
	}
	add(s, 1, file_open("/proc/self/mem"));
	add(s, 2, dup(fd));
	ck_assert_int_eq(symbolizer_lookup_python(s, 1, (uintptr_t)page, 0), 0);
	ask(s, 2, 0, id_of(fd, 0));
	finish(s);
	check_not_found(&seen.answers.items[0],
			seen.answers.items[0].flags & (SYMBOL_BAD_OBJECT | SYMBOL_FREED));
	check_found(&seen.answers.items[1], 2, 0);
	if (hanging >= 0)
		close(hanging);
	munmap(page, CODE_ROOM);
	close(fd);
	stop(s, &seen);
}
END_TEST

static void wait_for_files(struct symbolizer *s, const struct seen *seen, unsigned int count)
{
	for (int i = 0; i < 600 && seen->files < count; i++)
		poll_once(s, 100);
	ck_assert_uint_eq(seen->files, count);
}

START_TEST(files_without_python)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);

	ck_assert_int_eq(symbolizer_inspect(s, 1), -ENOENT);
	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_ELF, file_open("/bin/sh")), 0);
	ck_assert_int_eq(symbolizer_add(s, 2, OBJECT_ELF, file_open("/etc/passwd")), 0);
	ck_assert_int_eq(symbolizer_add(s, 3, OBJECT_ELF, file_open("/bin/sh")), 0);
	for (uint64_t o = 1; o <= 3; o++)
		ck_assert_int_eq(symbolizer_inspect(s, o), 0);
	ck_assert_int_eq(symbolizer_inspect(s, 1), 0); /* a second request is merged */
	symbolizer_forget(s, 3);
	wait_for_files(s, &seen, 2);
	ck_assert_uint_eq(seen.last_file, 2);
	ck_assert_uint_eq(seen.python.support, PYTHON_NONE);
	for (int i = 0; i < 600 && HASH_COUNT(s->objects) > 2; i++)
		poll_once(s, 10);
	ck_assert_uint_eq(seen.files, 2);
	/* the same from another worker */
	kill(symbolizer_worker_pid(s), SIGKILL);
	ck_assert_int_eq(symbolizer_inspect(s, 1), 0);
	wait_for_files(s, &seen, 3);
	ck_assert_uint_eq(seen.last_file, 1);
	stop(s, &seen);
}
END_TEST

/* A forked process has the same code objects as its parent. */
START_TEST(what_one_process_has_told_another_has_too)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(2, 8), none = memory_of(0, 8);

	add(s, 1, dup(fd));
	ask(s, 1, 0, id_of(fd, 0));
	finish(s);
	add(s, 2, dup(none));
	ask(s, 2, 0, id_of(fd, 0));
	ask(s, 2, 1, id_of(fd, 1)); /* not read from any process */
	ask(s, 2, 0, id_of(fd, 0) + 1);
	/* another interpreter, although of the same version */
	ck_assert_int_eq(symbolizer_add_python(s, 3, dup(none), layout, CODE_TYPE + 8), 0);
	ask(s, 3, 0, id_of(fd, 0));
	finish(s);
	symbolizer_forget(s, 1);
	for (int i = 0; i < 600 && HASH_COUNT(memory_reader(s)->objects) > 2; i++)
		poll_once(s, 10);
	ask(s, 2, 0, id_of(fd, 0));
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 6);
	check_found(&seen.answers.items[1], 2, 0);
	check_not_found(&seen.answers.items[2], SYMBOL_FREED);
	check_not_found(&seen.answers.items[3], SYMBOL_FREED);
	check_not_found(&seen.answers.items[4], SYMBOL_FREED);
	check_not_found(&seen.answers.items[5], SYMBOL_FREED);
	close(fd);
	close(none);
	stop(s, &seen);
}
END_TEST

/* Names of a process's code do not wait for a file: code objects vanish, files stay. */
START_TEST(memory_does_not_wait_for_files)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd = memory_of(1, 8), names = symbolizer_worker_pid(s);

	kill(names, SIGSTOP);
	ck_assert_int_eq(symbolizer_add(s, 2, OBJECT_ELF, file_open("/bin/sh")), 0);
	ck_assert_int_eq(symbolizer_inspect(s, 2), 0);
	add(s, 1, dup(fd));
	for (unsigned int i = 0; i < LOOKUPS_MAX; i++)
		ask(s, 1, 0, id_of(fd, 0));
	finish(s);
	ck_assert_uint_eq(seen.files, 0);
	ck_assert_uint_eq(seen.answers.count, LOOKUPS_MAX);
	ck_assert_int_eq(symbolizer_worker_pid(s), names);
	kill(names, SIGCONT);
	wait_for_files(s, &seen, 1);
	close(fd);
	stop(s, &seen);
}
END_TEST

START_TEST(a_file_that_workers_die_of_has_no_python)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);

	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_ELF, file_open("/bin/sh")), 0);
	for (int i = 0; i < 100 && !seen.bad; i++) {
		ck_assert_int_eq(symbolizer_inspect(s, 1), 0);
		strike(s);
	}
	ck_assert_uint_eq(seen.bad, 1);
	ck_assert_int_eq(symbolizer_inspect(s, 1), 0);
	for (int i = 0; i < 600 && s->objects->requests.inspection; i++)
		poll_once(s, 100);
	ck_assert_uint_ge(seen.files, 1);
	ck_assert_uint_eq(seen.python.support, PYTHON_NONE);
	stop(s, &seen);
}
END_TEST

/* Return whether the client accepts a worker's description of a file, sent without its last bytes.
 */
static bool is_believed(const struct python_file *f, size_t cut)
{
	struct message m = {.type = MESSAGE_INSPECTED, .count = 1, .object = 1};
	struct inspected_file inspected;
	struct seen seen;
	struct symbolizer *s = start(&seen);
	uint64_t generation;
	bool believed;
	int socket;

	socket = usurp(s);
	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_ELF, file_open("/bin/sh")), 0);
	ck_assert_int_eq(symbolizer_inspect(s, 1), 0);
	poll_once(s, 0);
	m.sequence = s->sequence;
	generation = s->worker.generation;
	memset(&inspected, 0, sizeof(inspected));
	inspected.python = *f;
	ck_assert_int_eq(message_send(socket, &m, &inspected, sizeof(inspected) - cut), 0);
	for (int i = 0; i < 600 && !seen.files && s->worker.generation == generation; i++)
		poll_once(s, 10);
	believed = s->worker.generation == generation;
	ck_assert(!believed || seen.python.support == f->support);
	ck_assert(!believed || seen.python.loops == f->loops || f->support == PYTHON_OLD);
	if (f->support == PYTHON_OLD)
		ck_assert_uint_eq(seen.python.layout.version, 0);
	close(socket);
	stop(s, &seen);
	return believed;
}

START_TEST(lies_of_files_are_not_believed)
{
	struct python_file fine, lie;

	memset(&fine, 0, sizeof(fine));
	fine.support = PYTHON_READABLE;
	fine.loops = 2;
	fine.loop[0].start = fine.loop[1].start = 16;
	fine.loop[0].end = fine.loop[1].end = 32;
	fine.layout = *python_layout_of(3, 12);
	ck_assert(is_believed(&fine, 0));
	ck_assert(!is_believed(&fine, 1));
	lie = fine;
	lie.support = PYTHON_SUPPORT_COUNT;
	ck_assert(!is_believed(&lie, 0));
	lie = fine;
	lie.loops = PYTHON_LOOPS_MAX + 1;
	ck_assert(!is_believed(&lie, 0));
	lie = fine;
	lie.loop[1].end = 16;
	ck_assert(!is_believed(&lie, 0));
	lie = fine;
	lie.layout.code_bytes = PYTHON_CODE_BYTES + 8;
	ck_assert(!is_believed(&lie, 0));
	/* an unsupported version needs no other members */
	lie.support = PYTHON_OLD;
	ck_assert(is_believed(&lie, 0));
}
END_TEST

/* Send an answer about code objects that is plausible, with random wrong members. */
static void send_lie(int socket, const struct symbolizer *s, unsigned int *seed)
{
	struct message m = {
		.type = (uint32_t)(rand_r(seed) % 4 ? MESSAGE_CODE_REPLIES : MESSAGE_INSPECTED),
		.count = (uint32_t)(rand_r(seed) % 4 ? 1 : rand_r(seed)),
		.object = rand_r(seed) % 8 ? 1 : 2,
		.sequence = rand_r(seed) % 8 ? s->sequence : (uint64_t)rand_r(seed),
	};
	static char payload[PAYLOAD_MAX];
	size_t size = (size_t)rand_r(seed) % (rand_r(seed) % 2 ? 128 : PAYLOAD_MAX);
	struct message_code_reply a = {
		.lookup = {.address = rand_r(seed) % 8 ? address_of(0) : 5,
			   .place = (uint64_t)(rand_r(seed) % 2)},
		.name = (uint16_t)(rand_r(seed) % 3 ? rand_r(seed) % 40 : rand_r(seed)),
		.file = (uint16_t)(rand_r(seed) % 3 ? 0 : rand_r(seed)),
		.flags = (uint32_t)rand_r(seed),
	};

	for (size_t i = 0; i < size; i++)
		payload[i] = (char)rand_r(seed);
	memcpy(payload, &a, sizeof(a));
	(void)message_send_now(socket, &m, payload, size, -1);
}

START_TEST(a_worker_that_lies_is_replaced)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	struct symbolizer *reader;
	int fd = memory_of(3, 8);
	unsigned int seed = 1;

	add(s, 2, dup(fd));
	reader = memory_reader(s);
	for (int round = 0; round < 300; round++) {
		uint64_t generation = reader->worker.generation, object = 1000 + (uint64_t)round;
		int socket = usurp(reader);

		add(s, object, dup(fd));
		ask(s, object, 0, 0);
		ck_assert_int_eq(symbolizer_flush(s), 0);
		for (int i = 0; i < 4; i++) {
			poll_once(s, 0);
			send_lie(socket, reader, &seed);
		}
		close(socket);
		while (reader->worker.generation == generation) {
			reader->worker.deaths = 0; /* avoids the growing back-off */
			poll_once(s, 1);
		}
		symbolizer_forget(s, object);
	}
	finish(s);
	add(s, 1, dup(fd));
	seen.answers.count = 0;
	for (unsigned int i = 0; i < 3; i++)
		ask(s, 1, i, id_of(fd, i));
	finish(s);
	for (unsigned int i = 0; i < 3; i++)
		check_found(&seen.answers.items[i], 1, i);
	close(fd);
	stop(s, &seen);
}
END_TEST

SUITE("symbolizer_python", objects_are_checked, what_is_remembered_is_bounded,
      a_forgotten_process_gives_back_what_it_took, open_memory_is_bounded, memory_that_hangs_is_bad,
      memory_that_nobody_gives_has_no_names, files_without_python, memory_does_not_wait_for_files,
      what_one_process_has_told_another_has_too, a_file_that_workers_die_of_has_no_python,
      lies_of_files_are_not_believed, a_worker_that_lies_is_replaced)
