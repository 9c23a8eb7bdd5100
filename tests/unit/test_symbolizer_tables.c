// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind tables through the client: from a worker, from the cache, from a worker that sends wrong
 * data.
 */
#include <elf.h>
#include <errno.h>
#include <search.h>

#include <xxhash.h>

#include "base/vector.h"
#include "client.h"
#include "files.h"
#include "suite.h"
#include "table_find.h"

struct got {
	uint64_t object;
	int status;
	uint32_t rows;
	XXH128_hash_t hash; /* of the table's bytes */
	bool covers; /* the table has a rule for where_libc_runs */
};

struct seen {
	VECTOR(struct got) tables;
	unsigned int facts_count, bad_count;
};

static char libc_path[256];
static uint64_t where_libc_runs; /* file offset of a function in libc */

static void on_facts(void *context, uint64_t object, const struct object_facts *facts)
{
	struct seen *seen = context;

	(void)object;
	seen->facts_count++;
	seen->bad_count += facts->bad;
}

static void on_table(void *context, uint64_t object, int status, const struct unwind_table *t)
{
	struct seen *seen = context;
	struct got got = {.object = object, .status = status};

	ck_assert((status == 0) == (t != NULL));
	if (t) {
		got.rows = t->header->rows;
		got.hash = XXH3_128bits(t->header, t->size);
		got.covers = unwind_table_find(t, where_libc_runs) != NULL;
	}
	ck_assert_int_eq(vector_push(&seen->tables, got), 0);
}

static struct symbolizer *start(struct seen *seen)
{
	struct symbolizer_events events = {.facts = on_facts, .table = on_table, .context = seen};
	struct symbolizer *s;
	struct error err = {0};

	ck_assert_msg(symbolizer_new(&s, &events, &err) == 0, "%s", err.text);
	return s;
}

static void stop(struct symbolizer *s, struct seen *seen)
{
	symbolizer_free(s);
	vector_free(&seen->tables);
	*seen = (struct seen){0};
}

static void find_libc(void)
{
	uint64_t at = (uintptr_t)&lfind, from, to, offset;
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &from, &to, &offset, libc_path) ==
			    4 &&
		    at >= from && at < to)
			break;
	}
	fclose(f);
	where_libc_runs = at - from + offset;
	ck_assert_ptr_nonnull(strstr(libc_path, "libc"));
}

static void ask_file(struct symbolizer *s, uint64_t object, int fd)
{
	ck_assert_int_eq(symbolizer_add(s, object, OBJECT_ELF, fd), 0);
	ck_assert_int_eq(symbolizer_request_table(s, object), 0);
}

static void finish_tables(struct symbolizer *s)
{
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + 60000000000ull;

	while (symbolizer_tables_pending(s) && clock_ns(CLOCK_MONOTONIC) < until)
		poll_once(s, 100);
	ck_assert_uint_eq(symbolizer_tables_pending(s), 0);
}

/* Return the only answer for an object. */
static struct got answer_of(const struct seen *seen, uint64_t object)
{
	struct got got = {0};
	unsigned int count = 0;

	for (size_t i = 0; i < seen->tables.count; i++) {
		if (seen->tables.items[i].object != object)
			continue;
		got = seen->tables.items[i];
		count++;
	}
	ck_assert_msg(count == 1, "%u answers for %lu", count, (unsigned long)object);
	return got;
}

START_TEST(a_table_comes_without_symbols)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	struct got got;

	find_libc();
	ck_assert_int_eq(symbolizer_request_table(s, 1), -ENOENT);
	ask_file(s, 1, file_open(libc_path));
	/* the pending request answers both */
	ck_assert_int_eq(symbolizer_request_table(s, 1), 0);
	ck_assert_uint_eq(symbolizer_tables_pending(s), 1);
	ck_assert_uint_eq(symbolizer_pending(s), 0);
	finish_tables(s);
	got = answer_of(&seen, 1);
	ck_assert_int_eq(got.status, 0);
	ck_assert_uint_gt(got.rows, 5000);
	ck_assert(got.covers);
	ck_assert_uint_eq(seen.facts_count, 0);
	ck_assert_uint_eq(symbolizer_stats(s)->tables_made, 1);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	/* a new request, since the first is answered */
	ck_assert_int_eq(symbolizer_request_table(s, 1), 0);
	finish_tables(s);
	ck_assert_uint_eq(seen.tables.count, 2);
	ck_assert_int_eq(symbolizer_read(s, 1), 0);
	for (int i = 0; i < 600 && !seen.facts_count; i++)
		poll_once(s, 100);
	ck_assert_uint_eq(seen.facts_count, 1);
	ck_assert_uint_eq(seen.bad_count, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(only_elf_objects_have_tables)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_PERFMAP, file_of("1000 10 f\n", 10)), 0);
	ck_assert_int_eq(symbolizer_request_table(s, 1), -ENOENT);
	ck_assert_int_eq(symbolizer_read(s, 2), -ENOENT);
	stop(s, &seen);
}
END_TEST

/* Get libc's table from a client that uses the cache in ./cache. */
static struct got cached(uint64_t *made, uint64_t *from_cache)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	struct got got;

	ck_assert_int_eq(symbolizer_use_cache(s, "cache"), 0);
	ask_file(s, 1, file_open(libc_path));
	finish_tables(s);
	got = answer_of(&seen, 1);
	ck_assert_int_eq(got.status, 0);
	*made = symbolizer_stats(s)->tables_made;
	*from_cache = symbolizer_stats(s)->tables_cached;
	stop(s, &seen);
	return got;
}

START_TEST(the_cache_answers_the_second_time)
{
	uint64_t made, from_cache;
	struct got first, next;

	find_libc();
	files_begin();
	first = cached(&made, &from_cache);
	ck_assert_uint_eq(made, 1);
	ck_assert_uint_eq(from_cache, 0);
	next = cached(&made, &from_cache);
	ck_assert_uint_eq(made, 0);
	ck_assert_uint_eq(from_cache, 1);
	ck_assert(XXH128_isEqual(first.hash, next.hash));
	/* a damaged cache file is made again */
	shell("f=$(echo cache/*) && test $(echo $f | wc -w) = 1 && truncate -s -1 $f");
	for (int i = 0; i < 2; i++) {
		next = cached(&made, &from_cache);
		ck_assert_uint_eq(made, i == 0);
		ck_assert(XXH128_isEqual(first.hash, next.hash));
	}
}
END_TEST

/* Wait until the worker has answered, without taking the answer; MESSAGE_HEARTBEAT is not one. */
static void wait_for_worker(struct symbolizer *s)
{
	struct pollfd p = {.fd = s->worker.socket, .events = POLLIN};
	struct message m;

	for (;;) {
		ck_assert_int_eq(poll(&p, 1, 60000), 1);
		ck_assert_int_eq(recv(s->worker.socket, &m, sizeof(m), MSG_PEEK | MSG_TRUNC) >=
					 (ssize_t)sizeof(m),
				 1);
		if (m.type != MESSAGE_HEARTBEAT)
			return;
		ck_assert_int_eq(recv(s->worker.socket, &m, sizeof(m), 0), sizeof(m));
	}
}

/*
 * The file's content changes with the same size and time, after the worker has sent the key: the
 * new table must not be cached under that key.
 */
START_TEST(a_file_cannot_lend_its_key)
{
	struct seen seen = {0};
	struct symbolizer *s;
	XXH128_hash_t wrong;

	find_libc();
	files_begin();
	shell("cp %s libc && cp /proc/%d/exe other && truncate -s 24M libc other && cp libc file",
	      libc_path, (int)getpid());
	s = start(&seen);
	ck_assert_int_eq(symbolizer_use_cache(s, "cache"), 0);
	ask_file(s, 1, file_open("file"));
	poll_once(s, 0);
	wait_for_worker(s);
	shell("touch -r file times && cat other > file && touch -r times file");
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 1).status, 0);
	wrong = answer_of(&seen, 1).hash;
	ask_file(s, 2, file_open("libc"));
	ask_file(s, 3, file_open("other"));
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 2).status, 0);
	ck_assert(answer_of(&seen, 2).covers);
	ck_assert(!XXH128_isEqual(answer_of(&seen, 2).hash, wrong));
	/* the table is cached under its own key */
	ck_assert(XXH128_isEqual(answer_of(&seen, 3).hash, wrong));
	ck_assert_uint_eq(symbolizer_stats(s)->tables_made, 2);
	ck_assert_uint_eq(symbolizer_stats(s)->tables_cached, 1);
	stop(s, &seen);
}
END_TEST

START_TEST(a_directory_that_is_no_good_is_no_cache)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	files_begin();
	ck_assert_int_eq(symbolizer_use_cache(s, "no/parent"), -ENOENT);
	ask_file(s, 1, file_open("/proc/self/exe"));
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 1).status, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(hostile_files_are_told_as_such)
{
	static const char *const texts[] = {"", "#!/bin/sh\n", "\177ELF"};
	Elf64_Ehdr header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
			     .e_type = ET_DYN,
			     .e_machine = EM_X86_64,
			     .e_version = EV_CURRENT,
			     .e_phoff = 64,
			     .e_ehsize = 64,
			     .e_phentsize = 56,
			     .e_phnum = 0xffff};
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	for (uint64_t i = 0; i < 3; i++)
		ask_file(s, i, file_of(texts[i], strlen(texts[i])));
	ask_file(s, 3, file_of(&header, sizeof(header)));
	ask_file(s, 4, file_open("/proc/self/exe"));
	finish_tables(s);
	for (uint64_t i = 0; i < 4; i++)
		ck_assert_int_eq(answer_of(&seen, i).status, -EBADMSG);
	ck_assert_int_eq(answer_of(&seen, 4).status, 0);
	ck_assert_uint_eq(symbolizer_stats(s)->tables_failed, 4);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(a_file_that_changed_has_no_table)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	int fd;

	files_begin();
	shell("cp /proc/self/exe prog");
	fd = file_open("prog");
	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_ELF, fd), 0);
	shell("cat /proc/self/exe /proc/self/exe > prog");
	ck_assert_int_eq(symbolizer_request_table(s, 1), 0);
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 1).status, -ESTALE);
	stop(s, &seen);
}
END_TEST

START_TEST(killed_meanwhile_every_table_arrives_once)
{
	struct seen seen = {0};
	struct symbolizer *s;
	uint64_t object = 0;

	find_libc();
	files_begin();
	s = start(&seen);
	ck_assert_int_eq(symbolizer_use_cache(s, "cache"), 0);
	for (int kills = 0; kills < 20; kills++) {
		size_t before = seen.tables.count;

		ask_file(s, object++, file_open(libc_path));
		ask_file(s, object++, file_open("/proc/self/exe"));
		ask_file(s, object++, file_open(libc_path));
		/* during a request, but not twice during the same one */
		while (seen.tables.count == before || !s->worker.pid)
			poll_once(s, 100);
		kill(symbolizer_worker_pid(s), SIGKILL);
		if (kills % 2) /* every second time without the cache */
			shell("rm -f cache/*");
	}
	finish_tables(s);
	for (uint64_t i = 0; i < object; i++)
		ck_assert_int_eq(answer_of(&seen, i).status, 0);
	ck_assert_uint_ge(symbolizer_stats(s)->restarts, 15);
	ck_assert_uint_eq(symbolizer_stats(s)->bad_objects, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(workers_die_over_it)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + 60000000000ull;

	find_libc();
	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_ELF, file_open(libc_path)), 0);
	/* a worker confines itself first: it is mostly stopped before it replies */
	while (!seen.bad_count && clock_ns(CLOCK_MONOTONIC) < until) {
		seen.tables.count = 0;
		if (!symbolizer_tables_pending(s))
			ck_assert_int_eq(symbolizer_request_table(s, 1), 0);
		strike(s);
	}
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 1).status, -EIO);
	ck_assert_uint_eq(symbolizer_stats(s)->bad_objects, 1);
	ask_file(s, 2, file_open(libc_path));
	ck_assert_int_eq(symbolizer_request_table(s, 1), 0);
	seen.tables.count = 0;
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 1).status, -EIO);
	ck_assert_int_eq(answer_of(&seen, 2).status, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(a_worker_that_hangs_over_it_is_replaced)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	kill(symbolizer_worker_pid(s), SIGSTOP);
	ask_file(s, 1, file_open("/proc/self/exe"));
	ask_file(s, 2, file_open("/proc/self/exe"));
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 1).status, -EIO);
	ck_assert_int_eq(answer_of(&seen, 2).status, 0);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 1);
	stop(s, &seen);
}
END_TEST

START_TEST(what_is_forgotten_is_not_answered)
{
	struct seen seen = {0};
	struct symbolizer *s;

	files_begin();
	s = start(&seen);
	for (int cache = 0; cache < 2; cache++) {
		if (cache)
			ck_assert_int_eq(symbolizer_use_cache(s, "cache"), 0);
		for (uint64_t o = 1; o <= 50; o++) {
			ask_file(s, o, file_open("/proc/self/exe"));
			if (o % 2) /* also after it was sent */
				poll_once(s, 0);
			seen.tables.count = 0;
			symbolizer_forget(s, o);
		}
		finish_tables(s);
		for (int i = 0; i < 600 && s->objects; i++)
			poll_once(s, 10);
		ck_assert_ptr_null(s->objects);
		ck_assert_uint_eq(s->files, 0);
		ck_assert_uint_eq(seen.tables.count, 0);
	}
	stop(s, &seen);
}
END_TEST

START_TEST(files_of_what_has_its_table_may_be_closed)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	s->options.files_max = 8;
	for (uint64_t o = 1; o <= 40; o++) {
		ask_file(s, o, file_open("/proc/self/exe"));
		finish_tables(s);
		ck_assert_int_eq(answer_of(&seen, o).status, 0);
	}
	ck_assert_uint_eq(s->files, 8);
	/* the worker has all of them open; the next one gets the remaining ones */
	kill(symbolizer_worker_pid(s), SIGKILL);
	poll_once(s, 100);
	seen.tables.count = 0;
	for (uint64_t o = 1; o <= 40; o++)
		ck_assert_int_eq(symbolizer_request_table(s, o), 0);
	finish_tables(s);
	for (uint64_t o = 1; o <= 40; o++)
		ck_assert_int_eq(answer_of(&seen, o).status, o <= 32 ? -EIO : 0);
	ck_assert_uint_eq(seen.bad_count, 0);
	stop(s, &seen);
}
END_TEST

static struct message reply(const struct symbolizer *s, enum message_type type, uint32_t count)
{
	return (struct message){.type = type,
				.count = count,
				.object = request_first(&s->sent)->object->id,
				.sequence = request_first(&s->sent)->sequence};
}

/* Wrong replies to MESSAGE_TABLE or, with a cache, MESSAGE_KEY; ended by {0}. */
struct lie {
	enum message_type type;
	uint32_t count;
	size_t size;
};

static const struct lie lies[][3] = {
	{{MESSAGE_TABLE_PART, 0, 8}},
	{{MESSAGE_TABLE_PART, 8, 0}},
	{{MESSAGE_TABLE_PART, 8, 9}},
	{{MESSAGE_TABLE_PART, 16, 8}, {MESSAGE_TABLE_PART, 16, 9}},
	{{MESSAGE_TABLE_PART, 16, 8}, {MESSAGE_TABLE_PART, 17, 8}},
	{{MESSAGE_TABLE_PART, UNWIND_TABLE_MAX + 1, 8}},
	{{MESSAGE_NO_TABLE, 0, 0}},
	{{MESSAGE_NO_TABLE, 1, 1}},
	{{MESSAGE_NO_TABLE, 0x80000000, 0}},
	{{MESSAGE_FACTS, 1, sizeof(struct object_facts)}},
	{{MESSAGE_REPLIES, 1, sizeof(struct message_reply)}},
	{{MESSAGE_KEY_REPLY, 0, 1}},
	{{MESSAGE_KEY_REPLY, 0, sizeof(struct unwind_key)}}, /* its size is 0 */
	{{MESSAGE_TABLE, 8, 8}},
};

static void tell_lies(struct symbolizer *s, uint64_t object, const struct lie *lie)
{
	static const char payload[PAYLOAD_MAX];
	uint64_t generation = s->worker.generation;
	int socket = usurp(s);

	ask_file(s, object, file_open("/proc/self/exe"));
	poll_once(s, 0);
	for (; lie->type && s->worker.socket >= 0; lie++) {
		struct message m = reply(s, lie->type, lie->count);

		ck_assert_int_eq(message_send(socket, &m, payload, lie->size), 0);
		poll_once(s, 0);
	}
	ck_assert_int_eq(s->worker.socket, -1);
	close(socket);
	while (s->worker.generation == generation) {
		s->worker.deaths = 0; /* avoids the growing back-off */
		poll_once(s, 1);
	}
}

START_TEST(a_worker_that_lies_is_replaced)
{
	struct seen seen = {0};
	struct symbolizer *s;
	uint64_t object = 0;

	files_begin();
	s = start(&seen);
	for (int cache = 0; cache < 2; cache++) {
		if (cache)
			ck_assert_int_eq(symbolizer_use_cache(s, "cache"), 0);
		for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
			tell_lies(s, ++object, lies[i]);
			finish_tables(s);
			ck_assert_int_eq(answer_of(&seen, object).status, 0);
		}
	}
	stop(s, &seen);
}
END_TEST

/* The text of a key becomes a file name and must not contain a path. */
START_TEST(a_key_that_would_lead_elsewhere_is_a_lie)
{
	struct unwind_key key = {.build_id = "../../x"};
	struct seen seen = {0};
	struct symbolizer *s;
	struct message m;
	int socket;

	files_begin();
	s = start(&seen);
	ck_assert_int_eq(symbolizer_use_cache(s, "cache"), 0);
	socket = usurp(s);
	ask_file(s, 1, file_open("/proc/self/exe"));
	poll_once(s, 0);
	key.size = s->objects->stamp.size;
	m = reply(s, MESSAGE_KEY_REPLY, 0);
	ck_assert_int_eq(message_send(socket, &m, &key, sizeof(key)), 0);
	poll_once(s, 100);
	ck_assert_int_eq(s->worker.socket, -1);
	close(socket);
	finish_tables(s);
	ck_assert_int_eq(answer_of(&seen, 1).status, 0);
	stop(s, &seen);
}
END_TEST

/* Invalid bytes of a table: the answer is an error, and nothing is cached. */
START_TEST(a_table_that_is_none_is_refused)
{
	static const char zeros[4096];
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	int socket = usurp(s);
	struct message m;

	ask_file(s, 1, file_open("/proc/self/exe"));
	poll_once(s, 0);
	m = reply(s, MESSAGE_TABLE_PART, 2 * sizeof(zeros));
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(message_send(socket, &m, zeros, sizeof(zeros)), 0);
	poll_once(s, 100);
	ck_assert_int_eq(answer_of(&seen, 1).status, -EBADMSG);
	close(socket);
	stop(s, &seen);
}
END_TEST

SUITE("symbolizer_tables", a_table_comes_without_symbols, only_elf_objects_have_tables,
      the_cache_answers_the_second_time, a_file_cannot_lend_its_key,
      a_directory_that_is_no_good_is_no_cache, hostile_files_are_told_as_such,
      a_file_that_changed_has_no_table, killed_meanwhile_every_table_arrives_once,
      workers_die_over_it, a_worker_that_hangs_over_it_is_replaced,
      what_is_forgotten_is_not_answered, files_of_what_has_its_table_may_be_closed,
      a_worker_that_lies_is_replaced, a_key_that_would_lead_elsewhere_is_a_lie,
      a_table_that_is_none_is_refused)
