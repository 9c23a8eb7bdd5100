// SPDX-License-Identifier: Apache-2.0
/*
 * cpu_times.c, label.c, metrics.c and listen.c: what the metrics of the service show of CPU time
 * adds up, only grows, and stays small, whatever the names are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "serve/label.h"
#include "serve/listen.h"
#include "serve/metrics.h"
#include "serve/on_demand.h"
#include "suite.h"

#define SECOND 1000000000ULL

static struct cpu_times times;

static uint32_t service_named(const char *name)
{
	uint32_t at;

	ck_assert_int_eq(cpu_times_find_service(&times, name, &at), 0);
	return at;
}

/* Add ns of a function, also to its service. */
static void add_time(const char *service, const char *function, uint64_t ns)
{
	const uint64_t both[] = {ns, 2 * ns};
	uint32_t at = service_named(service);

	ck_assert_int_eq(cpu_times_add(&times, at, function, both), 0);
	times.services.items[at].time += ns;
}

static const struct function_time *function_named(const char *name)
{
	for (size_t i = 0; i < times.functions.count; i++)
		if (!strcmp(times.functions.items[i].name, name))
			return &times.functions.items[i];
	return NULL;
}

static size_t count_listed(enum function_time_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < times.functions.count; i++)
		count += times.functions.items[i].listed[kind];
	return count;
}

/* Each service's time is that of its listed functions and of the rest. */
static void check_sums(void)
{
	for (size_t i = 0; i < times.services.count; i++) {
		const struct service_cpu *s = &times.services.items[i];
		uint64_t sum = s->other + s->retired;

		for (size_t k = 0; k < times.functions.count; k++) {
			const struct function_time *f = &times.functions.items[k];

			if (f->service == i && f->listed[FUNCTION_SELF])
				sum += f->time[FUNCTION_SELF];
		}
		ck_assert_uint_eq(sum, s->time);
	}
}

static void choose(unsigned int top)
{
	ck_assert_int_eq(cpu_times_choose(&times, top), 0);
	cpu_times_settle(&times);
	check_sums();
}

static void clear_times(void)
{
	cpu_times_free(&times);
	times = (struct cpu_times){.dropped = 0};
}

START_TEST(top_functions_are_listed)
{
	char name[32];

	for (unsigned int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		add_time("a", name, 100 - i);
	}
	add_time("b", "alone", 1);
	choose(3);
	ck_assert_uint_eq(count_listed(FUNCTION_SELF), 4);
	ck_assert_uint_eq(count_listed(FUNCTION_INCLUSIVE), 3 * CPU_TIMES_MORE + 1);
	ck_assert_uint_eq(function_named("f2")->time[FUNCTION_SELF], 98);
	ck_assert_uint_eq(function_named("f2")->time[FUNCTION_INCLUSIVE], 196);
	ck_assert(!function_named("f3")->listed[FUNCTION_SELF]);
	ck_assert(function_named("alone")->listed[FUNCTION_SELF]);
	clear_times();
}
END_TEST

/* A function leaves its place after six choices far from the top, and continues when it is back. */
START_TEST(functions_leave_and_return)
{
	add_time("a", "old", 70);
	choose(1);
	for (unsigned int i = 0; i < 6; i++) {
		ck_assert(function_named("old")->listed[FUNCTION_SELF]);
		ck_assert(!i || !function_named("new")->listed[FUNCTION_SELF]);
		add_time("a", "new", 10);
		choose(1);
	}
	ck_assert(!function_named("old")->listed[FUNCTION_SELF]);
	ck_assert(function_named("new")->listed[FUNCTION_SELF]);
	ck_assert_uint_eq(times.services.items[0].retired, 70);
	ck_assert_uint_eq(times.services.items[0].other, 50);
	for (unsigned int i = 0; i < 6; i++) {
		add_time("a", "old", 100);
		choose(1);
	}
	ck_assert(function_named("old")->listed[FUNCTION_SELF]);
	ck_assert_uint_eq(function_named("old")->time[FUNCTION_SELF], 170);
	ck_assert_uint_eq(times.services.items[0].retired, 10);
	clear_times();
}
END_TEST

/* Random times: what is shown only grows while it is shown, and adds up after every step. */
START_TEST(times_only_grow_and_add_up)
{
	static uint64_t before[2][64];
	unsigned int seed = 1;
	char name[32];

	for (unsigned int step = 0; step < 2000; step++) {
		for (unsigned int k = 0; k < 10; k++) {
			unsigned int f = (unsigned int)rand_r(&seed) % 64;

			snprintf(name, sizeof(name), "f%u", (f + step / 8) % 64);
			add_time(f % 2 ? "odd" : "even", name, (uint64_t)rand_r(&seed) % SECOND);
		}
		if (rand_r(&seed) % 2)
			choose(4);
		cpu_times_settle(&times);
		check_sums();
		ck_assert_uint_le(count_listed(FUNCTION_SELF), 8);
		for (size_t i = 0; i < times.functions.count; i++) {
			const struct function_time *f = &times.functions.items[i];
			unsigned int number = (unsigned int)atoi(f->name + 1);

			ck_assert_uint_ge(f->time[FUNCTION_SELF], before[f->service][number]);
			before[f->service][number] = f->time[FUNCTION_SELF];
		}
	}
	clear_times();
}
END_TEST

/* 10,000 services, and functions without an end: memory and page stay small, sums stay right. */
START_TEST(hostile_names_stay_within_a_page)
{
	struct on_demand d = {.top = 10};
	struct metrics_page m = {.open = true, .window = "20261127T094500Z-60s.skein"};
	char service[400], function[400], *text;
	size_t size;
	unsigned int seed = 1;

	for (unsigned int i = 0; i < 10000; i++) {
		memset(service, "\"\\\n<\x80"[i % 5], 300);
		memset(function, "\\\"\x01{\xff"[i % 5], 300);
		snprintf(service + 300, 100, "%u", i);
		snprintf(function + 300, 100, "%u", i * 7);
		add_time(service, function, (uint64_t)rand_r(&seed));
		snprintf(function + 300, 100, "%u", i * 7 + 1);
		add_time(service, function, (uint64_t)rand_r(&seed));
		if (i % 1000 == 999)
			choose(10);
	}
	ck_assert_uint_le(times.services.count, CPU_TIMES_SERVICES + 1);
	ck_assert_uint_le(times.functions.count, CPU_TIMES_KNOWN);
	ck_assert_uint_le(count_listed(FUNCTION_SELF), CPU_TIMES_LISTED);
	ck_assert_uint_le(count_listed(FUNCTION_INCLUSIVE), CPU_TIMES_LISTED);
	d.functions.table = times;
	m.out = open_memstream(&text, &size);
	metrics_write_times(&m, &d);
	fclose(m.out);
	ck_assert_uint_le(size, METRICS_MAX);
	ck_assert_uint_gt(size, 100000);
	free(text);
	clear_times();
}
END_TEST

/* Functions that are in use survive the end of the room; others are forgotten, with their names. */
START_TEST(idle_functions_are_forgotten)
{
	char name[32];

	for (unsigned int round = 0; round < 8; round++) {
		add_time("a", "hot", SECOND);
		for (unsigned int i = 0; i < CPU_TIMES_KNOWN / 2; i++) {
			snprintf(name, sizeof(name), "jit%u", round * CPU_TIMES_KNOWN + i);
			add_time("a", name, 1);
		}
		choose(2);
		choose(2);
	}
	ck_assert_uint_le(times.functions.count, 10);
	ck_assert_uint_eq(function_named("hot")->time[FUNCTION_SELF], 8 * SECOND);
	clear_times();
}
END_TEST

static const char *label_of(const char *name)
{
	static char *text;
	size_t size;
	FILE *out;

	free(text);
	out = open_memstream(&text, &size);
	label_write(out, name);
	fclose(out);
	return text;
}

START_TEST(labels_stay_different)
{
	char a[300], b[300], *first;

	ck_assert_str_eq(label_of("plain::name<int>(char)"), "\"plain::name<int>(char)\"");
	ck_assert_str_eq(label_of("a\"b\\c"), "\"a\\\"b\\\\c\"");
	ck_assert_ptr_null(strchr(label_of("a\nb"), '\n'));
	memset(a, 'x', sizeof(a));
	memset(b, 'x', sizeof(b));
	a[299] = b[299] = '\0';
	b[298] = 'y';
	first = strdup(label_of(a));
	ck_assert_str_ne(first, label_of(b));
	ck_assert_uint_le(strlen(first), LABEL_MAX + 20);
	free(first);
	first = strdup(label_of("a\xff"));
	ck_assert_str_ne(first, label_of("a\xfe"));
	free(first);
}
END_TEST

START_TEST(addresses_are_parsed)
{
	static const struct {
		const char *text;
		bool fits, local, server;
	} cases[] = {
		{"127.0.0.1:7117", true, true, true},
		{"7117", true, true, true},
		{"[::1]:7117", true, true, true},
		{"0.0.0.0:80", true, false, true},
		{"[::]:80", true, false, true},
		{"192.0.2.1:80", true, false, true},
		{"unix:/run/skein/http", true, true, true},
		{"none", true, false, false},
		{"", false, false, false},
		{"localhost:80", false, false, false},
		{"127.0.0.1", false, false, false},
		{"127.0.0.1:65536", false, false, false},
		{"127.0.0.1:", false, false, false},
		{"::1:80", false, false, false},
		{"[::1]80", false, false, false},
		{"unix:relative", false, false, false},
		{"-1", false, false, false},
	};
	struct listen_address a;
	struct error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = listen_parse(&a, cases[i].text, &err);

		ck_assert_msg((ret == 0) == cases[i].fits, "%s", cases[i].text);
		if (ret)
			continue;
		ck_assert_msg(a.local == cases[i].local, "%s", cases[i].text);
		ck_assert_msg((a.size != 0) == cases[i].server, "%s", cases[i].text);
	}
}
END_TEST

SUITE("cpu times", top_functions_are_listed, functions_leave_and_return, times_only_grow_and_add_up,
      hostile_names_stay_within_a_page, idle_functions_are_forgotten, labels_stay_different,
      addresses_are_parsed)
