// SPDX-License-Identifier: Apache-2.0
/*
 * The client and its worker of sources: what the worker finds in this program, files that kill it,
 * and a worker that sends wrong data.
 */
#include <link.h>

#include "client.h"
#include "suite.h"

#define MEMORY (64ull << 20)
#define PLACES_SEEN 8

struct seen {
	unsigned int looked, answered, found;
	struct source_facts facts;
	unsigned int count; /* number of places in the last answer */
	char names[PLACES_SEEN][64];
	uint32_t lines[PLACES_SEEN];
	bool guest; /* some answer had guest() inlined into host() */
};

static volatile unsigned int value = 3;

static inline __attribute__((always_inline)) unsigned int guest(unsigned int x)
{
	for (unsigned int i = 0; i < value; i++)
		x = x * 31 + value;
	return x;
}

static __attribute__((noinline)) unsigned int host(unsigned int x)
{
	return guest(x) ^ 5;
}

static void on_sources(void *context, uint64_t object, const struct source_facts *f)
{
	struct seen *seen = context;

	(void)object;
	seen->looked++;
	seen->facts = *f;
}

static void on_places(void *context, uint64_t object, uint64_t address,
		      const struct source_place *p, unsigned int count)
{
	struct seen *seen = context;

	(void)object;
	(void)address;
	seen->answered++;
	seen->found += count > 0;
	seen->count = count;
	for (unsigned int i = 0; i < count && i < PLACES_SEEN; i++) {
		snprintf(seen->names[i], sizeof(seen->names[i]), "%s", p[i].name);
		seen->lines[i] = p[i].line;
	}
	seen->guest |= count == 2 && !strcmp(p[0].name, "guest") && !strcmp(p[1].name, "host") &&
		       p[0].line > 0 && p[1].line > p[0].line &&
		       strstr(p[0].declared, "test_symbolizer_sources.c") != NULL;
}

static struct symbolizer *start(struct seen *seen)
{
	const struct symbolizer_events events = {
		.sources = on_sources, .places = on_places, .context = seen};
	struct symbolizer *s = NULL;
	struct error err = {""};

	*seen = (struct seen){0};
	ck_assert_msg(!symbolizer_new_sources(&s, &events, MEMORY, &err), "%s", err.text);
	return s;
}

static void look(struct symbolizer *s, struct seen *seen, uint64_t object, int fd)
{
	unsigned int before = seen->looked;

	ck_assert_int_eq(symbolizer_add(s, object, OBJECT_ELF, fd), 0);
	ck_assert_int_eq(symbolizer_request_sources(s, object), 0);
	for (int i = 0; i < 6000 && seen->looked == before; i++)
		poll_once(s, 10);
	ck_assert_uint_gt(seen->looked, before);
}

static int to_offset(struct dl_phdr_info *info, size_t size, void *context)
{
	uint64_t *address = context, at = *address - info->dlpi_addr;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type != PT_LOAD || at < p->p_vaddr || at - p->p_vaddr >= p->p_filesz)
			continue;
		*address = at - p->p_vaddr + p->p_offset;
		return 1;
	}
	return 0;
}

/* Return the offset of host() in this file. */
static uint64_t host_offset(void)
{
	uint64_t address = (uint64_t)(uintptr_t)host;

	ck_assert_int_eq(dl_iterate_phdr(to_offset, &address), 1);
	return address;
}

static void ask_host(struct symbolizer *s, uint64_t object)
{
	uint64_t offset = host_offset();

	for (unsigned int i = 0; i < 64; i++)
		ck_assert_int_eq(symbolizer_lookup(s, object, offset + 5 * i), 0);
	finish(s);
}

START_TEST(itself)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);

	ck_assert_uint_ne(host(value), guest(value));
	look(s, &seen, 1, file_open("/proc/self/exe"));
	ck_assert_int_eq(seen.facts.status, 0);
	ck_assert_uint_gt(seen.facts.needed, 10000);
	ask_host(s, 1);
	ck_assert_uint_eq(seen.answered, 64);
	ck_assert(seen.guest);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	symbolizer_free(s);
}
END_TEST

START_TEST(another_descriptor)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	int fd;

	look(s, &seen, 1, file_open("/proc/self/exe"));
	fd = symbolizer_dup(s, 1);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(symbolizer_dup(s, 2), -ENOENT);
	look(s, &seen, 2, fd);
	ck_assert_int_eq(seen.facts.status, 0);
	symbolizer_free(s);
}
END_TEST

START_TEST(no_files_for_it)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);

	look(s, &seen, 1, file_open("/dev/null"));
	ck_assert_int_eq(seen.facts.status, -EBADMSG);
	look(s, &seen, 2, file_open("/bin/sh"));
	ck_assert_int_eq(seen.facts.status, -ENOENT);
	ck_assert(seen.facts.wants_debug);
	ck_assert_int_eq(symbolizer_lookup(s, 2, 0x1000), 0);
	finish(s);
	ck_assert_uint_eq(seen.count, 0);
	ck_assert_int_eq(symbolizer_request_sources(s, 3), -ENOENT);
	symbolizer_free(s);
}
END_TEST

/* A repeated request is answered once; a file that kills three workers is given up. */
START_TEST(workers_die)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);

	look(s, &seen, 1, file_open("/proc/self/exe"));
	ck_assert_int_eq(symbolizer_lookup(s, 1, host_offset()), 0);
	symbolizer_flush(s);
	strike(s);
	finish(s);
	ck_assert_uint_eq(seen.answered, 1);
	ck_assert_uint_eq(seen.found, 1);
	ck_assert_int_eq(symbolizer_lookup(s, 1, host_offset()), 0);
	symbolizer_flush(s);
	for (int i = 0; i < 3; i++)
		strike(s);
	finish(s);
	ck_assert_uint_eq(seen.answered, 2);
	ck_assert_uint_eq(seen.count, 0);
	look(s, &seen, 2, file_open("/proc/self/exe"));
	ask_host(s, 2);
	ck_assert(seen.guest);
	symbolizer_free(s);
}
END_TEST

/* Records of a worker: the second has the same address. */
struct lie {
	struct message_place first;
	char name[8];
	struct message_place second;
};

static bool places_believed(const struct lie *lie, size_t size, uint32_t count)
{
	struct seen seen;
	struct symbolizer *s = start(&seen);
	struct message m = {.type = MESSAGE_PLACES, .count = count, .object = 1};
	int socket = usurp(s);
	bool believed;

	ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_ELF, file_open("/bin/sh")), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0x1000), 0);
	symbolizer_flush(s);
	poll_once(s, 0);
	m.sequence = s->sequence;
	ck_assert_int_eq(message_send(socket, &m, lie, size), 0);
	for (int i = 0; i < 600 && !seen.answered && !symbolizer_stats(s)->restarts; i++)
		poll_once(s, 10);
	believed = !symbolizer_stats(s)->restarts;
	close(socket);
	symbolizer_free(s);
	return believed;
}

START_TEST(lies_are_not_believed)
{
	const struct lie fine = {
		.first = {.address = 0x1000, .line = 7, .flags = PLACE_KNOWN, .name = 8},
		.name = "inlined",
		.second = {.address = 0x1000, .flags = PLACE_KNOWN | PLACE_LAST},
	};
	struct lie lie = fine;

	ck_assert(places_believed(&fine, sizeof(fine), 2));
	ck_assert(!places_believed(&fine, sizeof(fine) - 1, 2));
	ck_assert(!places_believed(&fine, sizeof(fine), 3));
	lie.second.address++;
	ck_assert(!places_believed(&lie, sizeof(lie), 2));
	lie = fine;
	lie.first.line = UINT32_MAX;
	ck_assert(!places_believed(&lie, sizeof(lie), 2));
	lie = fine;
	lie.first.name = UINT16_MAX;
	ck_assert(!places_believed(&lie, sizeof(lie), 2));
	lie = fine;
	lie.second.flags = PLACE_LAST;
	ck_assert(!places_believed(&lie, sizeof(lie), 2));
	lie = fine;
	lie.first.flags |= PLACE_LAST;
	ck_assert(!places_believed(&lie, sizeof(lie), 2));
}
END_TEST

START_TEST(lies_about_files_are_not_believed)
{
	static const struct {
		size_t at;
		char byte;
		bool fine;
	} changes[] = {
		{offsetof(struct source_facts, split), 1, true},
		{offsetof(struct source_facts, wants_debug), 2, false},
		{offsetof(struct source_facts, wants_common), 77, false},
		{offsetof(struct source_facts, build_id), '/', false},
		{offsetof(struct source_facts, common_id), '.', false},
		{offsetof(struct source_facts, debuglink), '/', false},
		{offsetof(struct source_facts, status), 1, false},
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct message m = {.type = MESSAGE_SOURCE_FACTS, .count = 1, .object = 1};
		struct source_facts f;
		struct seen seen;
		struct symbolizer *s = start(&seen);
		int socket = usurp(s);

		memset(&f, 0, sizeof(f));
		((char *)&f)[changes[i].at] = changes[i].byte;
		ck_assert_int_eq(symbolizer_add(s, 1, OBJECT_ELF, file_open("/bin/sh")), 0);
		ck_assert_int_eq(symbolizer_request_sources(s, 1), 0);
		poll_once(s, 0);
		m.sequence = s->sequence;
		ck_assert_int_eq(message_send(socket, &m, &f, sizeof(f)), 0);
		for (int n = 0; n < 600 && !seen.looked && !symbolizer_stats(s)->restarts; n++)
			poll_once(s, 10);
		ck_assert_int_eq(!symbolizer_stats(s)->restarts, changes[i].fine);
		close(socket);
		symbolizer_free(s);
	}
}
END_TEST

SUITE("symbolizer_sources", itself, another_descriptor, no_files_for_it, workers_die,
      lies_are_not_believed, lies_about_files_are_not_believed)
