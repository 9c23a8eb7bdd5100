// SPDX-License-Identifier: Apache-2.0
/*
 * The symbolizer client with a real worker: replies, deaths, hangs, and a worker that sends wrong
 * data.
 */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/vector.h"
#include "client.h"
#include "files.h"
#include "suite.h"

/* AddressSanitizer would print a long report for SIGSEGV. */
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED true
#define CRASH SIGSYS
#else
#define SANITIZED false
#define CRASH SIGSEGV
#endif

static const char source[] =
	"#include <vector>\n"
	"#include <string>\n"
	"namespace shop { template <typename T> __attribute__((noinline)) int sell(T v) {\n"
	"  std::vector<T> all(3, v); return all.size(); } }\n"
	"int main() { return shop::sell(1) + shop::sell(std::string(\"x\")); }\n";

static const char rust_source[] = "mod shop { #[inline(never)] pub fn sell(n: u64) -> u64 {\n"
				  "  unsafe { std::ptr::read_volatile(&n) + 1 } } }\n"
				  "fn main() { println!(\"{}\", shop::sell(3)); }\n";

struct answer {
	uint64_t object, address, start, size;
	unsigned int flags;
	char name[96], system_name[96];
};

struct seen {
	VECTOR(struct answer) answers;
	unsigned int facts_count, bad_count;
	struct object_facts facts;
};

static void on_symbol(void *context, uint64_t object, uint64_t address, const struct symbol *s)
{
	struct seen *seen = context;
	struct answer a = {.object = object,
			   .address = address,
			   .start = s->start,
			   .size = s->size,
			   .flags = s->flags};

	snprintf(a.name, sizeof(a.name), "%s", s->name);
	snprintf(a.system_name, sizeof(a.system_name), "%s", s->system_name);
	ck_assert_int_eq(vector_push(&seen->answers, a), 0);
}

static void on_facts(void *context, uint64_t object, const struct object_facts *facts)
{
	struct seen *seen = context;

	(void)object;
	seen->facts_count++;
	seen->bad_count += facts->bad;
	seen->facts = *facts;
}

static struct symbolizer *start(struct seen *seen)
{
	struct symbolizer_events events = {.symbol = on_symbol, .facts = on_facts, .context = seen};
	struct symbolizer *s;
	struct error err = {0};

	ck_assert_msg(symbolizer_new(&s, &events, &err) == 0, "%s", err.text);
	return s;
}

/* Add an object and read its symbols at once. */
static int add(struct symbolizer *s, uint64_t object, enum object_kind kind, int fd)
{
	int rc = symbolizer_add(s, object, kind, fd);

	return rc ? rc : symbolizer_read(s, object);
}

static void wait_for_facts(struct symbolizer *s, struct seen *seen, unsigned int count)
{
	for (int i = 0; i < 600 && seen->facts_count < count; i++)
		poll_once(s, 100);
	ck_assert_uint_eq(seen->facts_count, count);
}

static void stop(struct symbolizer *s, struct seen *seen)
{
	symbolizer_free(s);
	vector_free(&seen->answers);
}

/* Make a perf map: f0 at 0x1000, f1 ..., each of 16 bytes. */
static int map_of(unsigned int functions)
{
	char *text = malloc(functions * 32 + 1), *p = text;
	int fd;

	for (unsigned int i = 0; i < functions; i++)
		p += sprintf(p, "%x 10 f%u\n", 0x1000 + i * 16, i);
	fd = file_of(text, (size_t)(p - text));
	free(text);
	return fd;
}

static void check_map_answers(const struct seen *seen, uint64_t object, size_t first)
{
	char name[32];

	for (size_t i = first; i < seen->answers.count; i++) {
		const struct answer *a = &seen->answers.items[i];

		if (a->object != object)
			continue;
		snprintf(name, sizeof(name), "f%u", (unsigned int)(a->address - 0x1000) / 16);
		ck_assert_uint_eq(a->flags, SYMBOL_FOUND);
		ck_assert_str_eq(a->name, name);
		ck_assert_uint_eq(a->start, a->address & ~15ull);
		ck_assert_uint_eq(a->size, 16);
	}
}

static void ask_map(struct symbolizer *s, uint64_t object, unsigned int functions)
{
	for (unsigned int i = 0; i < functions; i++)
		ck_assert_int_eq(symbolizer_lookup(s, object, 0x1000 + i * 16 + i % 16), 0);
}

START_TEST(answers_come_in_order_and_once)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	ck_assert_int_eq(add(s, 7, OBJECT_PERFMAP, map_of(5000)), 0);
	ck_assert_int_eq(add(s, 7, OBJECT_PERFMAP, map_of(1)), -EEXIST);
	ck_assert_int_eq(symbolizer_lookup(s, 8, 1), -ENOENT);
	ask_map(s, 7, 5000);
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 5000);
	for (unsigned int i = 0; i < 5000; i++)
		ck_assert_uint_eq(seen.answers.items[i].address, 0x1000 + i * 16 + i % 16);
	check_map_answers(&seen, 7, 0);
	ck_assert_uint_eq(seen.facts_count, 1);
	ck_assert_uint_eq(seen.facts.symbols, 5000);
	ck_assert_uint_eq(symbolizer_stats(s)->replied, 5000);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(a_map_that_grows_is_refreshed)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	int fd = map_of(1);

	ck_assert_int_eq(add(s, 1, OBJECT_PERFMAP, dup(fd)), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0x2000), 0);
	finish(s);
	ck_assert_uint_eq(seen.answers.items[0].flags, 0);
	ck_assert_int_gt(lseek(fd, 0, SEEK_END), 0);
	ck_assert_int_eq(write(fd, "2000 8 late\n", 12), 12);
	ck_assert_int_eq(symbolizer_refresh(s, 1, -1), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0x2000), 0);
	finish(s);
	ck_assert_str_eq(seen.answers.items[1].name, "late");
	ck_assert_int_eq(symbolizer_refresh(s, 1, map_of(3)), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0x2000), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0x1020), 0);
	finish(s);
	ck_assert_uint_eq(seen.answers.items[2].flags, 0);
	ck_assert_str_eq(seen.answers.items[3].name, "f2");
	close(fd);
	stop(s, &seen);
}
END_TEST

static uint64_t offset_of(const char *path, const char *symbol)
{
	char command[512];
	unsigned long value, delta;
	FILE *f;

	/* virtual address of the symbol, less (address - offset) of the executable segment */
	snprintf(command, sizeof(command),
		 "nm %s | awk '/%s/ && / [tTW] / {print $1; exit}';"
		 "readelf -lW %s | awk '/LOAD.*R E/ {print $3, $2}'",
		 path, symbol, path);
	f = popen(command, "re");
	ck_assert_int_eq(fscanf(f, "%lx", &value), 1);
	ck_assert_int_eq(fscanf(f, "%lx", &delta), 1);
	value -= delta;
	ck_assert_int_eq(fscanf(f, "%lx", &delta), 1);
	pclose(f);
	return value + delta;
}

START_TEST(names_are_demangled)
{
	struct seen seen = {0};
	struct symbolizer *s;

	files_begin();
	file_write("a.cc", source, sizeof(source) - 1);
	shell("g++ -O1 -o prog a.cc");
	s = start(&seen);
	ck_assert_int_eq(add(s, 1, OBJECT_ELF, file_open("prog")), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, offset_of("prog", "4sellIi") + 1), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, offset_of("prog", " main") + 1), 0);
	finish(s);
	ck_assert_str_eq(seen.answers.items[0].name, "int shop::sell<int>(int)");
	ck_assert_str_eq(seen.answers.items[0].system_name, "_ZN4shop4sellIiEEiT_");
	ck_assert_uint_eq(seen.answers.items[0].start, offset_of("prog", "4sellIi"));
	ck_assert_str_eq(seen.answers.items[1].name, "main");
	ck_assert_str_eq(seen.answers.items[1].system_name, "");
	stop(s, &seen);
}
END_TEST

START_TEST(rust_names_are_demangled)
{
	static const char *const schemes[] = {"legacy", "v0"};
	struct seen seen = {0};
	struct symbolizer *s;

	if (system("rustc --version > /dev/null 2>&1") != 0)
		return; /* no Rust compiler here; test_demangle has its names */
	files_begin();
	file_write("a.rs", rust_source, sizeof(rust_source) - 1);
	for (uint64_t i = 0; i < 2; i++) {
		seen = (struct seen){0};
		shell("rustc -O -C symbol-mangling-version=%s -Z unstable-options -o prog a.rs"
		      " 2>/dev/null || rustc -O -C symbol-mangling-version=%s -o prog a.rs"
		      " 2>/dev/null || rustc -O -o prog a.rs",
		      schemes[i], schemes[i]);
		s = start(&seen);
		ck_assert_int_eq(add(s, 1, OBJECT_ELF, file_open("prog")), 0);
		ck_assert_int_eq(symbolizer_lookup(s, 1, offset_of("prog", "4shop4sell") + 1), 0);
		finish(s);
		ck_assert_str_eq(seen.answers.items[0].name, "a::shop::sell");
		stop(s, &seen);
	}
}
END_TEST

START_TEST(a_debug_file_makes_names_better)
{
	struct seen seen = {0};
	struct symbolizer *s;
	uint64_t at;

	files_begin();
	file_write("a.cc", source, sizeof(source) - 1);
	shell("g++ -O1 -o full a.cc && strip -o prog full && objcopy --only-keep-debug full debug");
	at = offset_of("full", "4sellIi");
	s = start(&seen);
	ck_assert_int_eq(add(s, 1, OBJECT_ELF, file_open("prog")), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, at), 0);
	finish(s);
	ck_assert_str_eq(seen.answers.items[0].name, "");
	ck_assert(seen.facts.wants_debug);
	ck_assert_uint_eq(strlen(seen.facts.build_id), 40);
	ck_assert_int_eq(symbolizer_add_debug(s, 1, file_open("debug")), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, at), 0);
	finish(s);
	ck_assert_str_eq(seen.answers.items[1].name, "int shop::sell<int>(int)");
	ck_assert(!seen.facts.wants_debug);
	/* the same after a restart */
	kill(symbolizer_worker_pid(s), SIGKILL);
	ck_assert_int_eq(symbolizer_lookup(s, 1, at), 0);
	finish(s);
	ck_assert_str_eq(seen.answers.items[2].name, "int shop::sell<int>(int)");
	stop(s, &seen);
}
END_TEST

START_TEST(kernel_symbols_are_added_and_kept)
{
	static const char text[] = "ffffffff81000000 T first\nffffffff81001000 T second\n";
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	ck_assert_int_eq(add(s, 1, OBJECT_KERNEL, file_of(text, sizeof(text) - 1)), 0);
	for (int round = 0; round < 3; round++) {
		if (round == 1)
			ck_assert_int_eq(symbolizer_add_kernel_symbol(s, 1, 0xffffffff81000100, 64,
								      "bpf_prog_x [bpf]"),
					 0);
		if (round == 2)
			kill(symbolizer_worker_pid(s), SIGKILL);
		ck_assert_int_eq(symbolizer_lookup(s, 1, 0xffffffff81000110), 0);
		finish(s);
		ck_assert_str_eq(seen.answers.items[round].name,
				 round ? "bpf_prog_x [bpf]" : "first");
	}
	stop(s, &seen);
}
END_TEST

START_TEST(hidden_kernel_addresses_are_told)
{
	static const char text[] = "0000000000000000 T first\n";
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	ck_assert_int_eq(add(s, 1, OBJECT_KERNEL, file_of(text, sizeof(text) - 1)), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0xffffffff81000110), 0);
	finish(s);
	ck_assert(seen.facts.bad);
	ck_assert(seen.facts.hidden);
	ck_assert_uint_eq(seen.answers.items[0].flags, SYMBOL_BAD_OBJECT);
	stop(s, &seen);
}
END_TEST

START_TEST(a_bad_object_is_told_once_and_harms_nobody)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	ck_assert_int_eq(add(s, 1, OBJECT_ELF, file_open("/etc/passwd")), 0);
	ck_assert_int_eq(add(s, 2, OBJECT_PERFMAP, map_of(100)), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0x1000), 0);
	ask_map(s, 2, 100);
	finish(s);
	ck_assert_int_eq(symbolizer_lookup(s, 1, 0x1001), 0);
	finish(s);
	ck_assert_uint_eq(seen.bad_count, 1);
	ck_assert_uint_eq(seen.facts_count, 2);
	ck_assert_uint_eq(symbolizer_stats(s)->bad_objects, 1);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	for (size_t i = 0; i < seen.answers.count; i++) {
		if (seen.answers.items[i].object == 1)
			ck_assert_uint_eq(seen.answers.items[i].flags, SYMBOL_BAD_OBJECT);
	}
	check_map_answers(&seen, 2, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(killed_a_hundred_times_every_answer_arrives)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	size_t asked = 0;

	for (uint64_t o = 1; o <= 4; o++)
		ck_assert_int_eq(add(s, o, OBJECT_PERFMAP, map_of(250)), 0);
	for (int kills = 0; kills < 100; kills++) {
		size_t before = seen.answers.count;

		for (uint64_t o = 1; o <= 4; o++)
			ask_map(s, o, 250);
		asked += 1000;
		ck_assert_int_eq(symbolizer_flush(s), 0);
		/* during a request, but not twice during the same one */
		while (seen.answers.count == before || !s->worker.pid)
			poll_once(s, 100);
		kill(symbolizer_worker_pid(s), kills % 2 ? SIGKILL : CRASH);
	}
	finish(s);
	ck_assert_uint_eq(seen.answers.count, asked);
	for (uint64_t o = 1; o <= 4; o++)
		check_map_answers(&seen, o, 0);
	ck_assert_uint_ge(symbolizer_stats(s)->restarts, 90);
	ck_assert_uint_eq(symbolizer_stats(s)->bad_objects, 0);
	stop(s, &seen);
}
END_TEST

/* The worker hangs, as when the server of a file does not reply. */
START_TEST(a_worker_that_hangs_is_replaced_and_its_object_is_bad)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	int first = symbolizer_worker_pid(s);

	ck_assert_int_eq(add(s, 1, OBJECT_PERFMAP, map_of(10)), 0);
	ck_assert_int_eq(add(s, 2, OBJECT_PERFMAP, map_of(10)), 0);
	wait_for_facts(s, &seen, 2);
	kill(first, SIGSTOP);
	ask_map(s, 1, 10);
	ask_map(s, 2, 10);
	finish(s);
	ck_assert_int_ne(symbolizer_worker_pid(s), first);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 1);
	ck_assert_uint_eq(symbolizer_stats(s)->bad_objects, 1);
	ck_assert_uint_eq(seen.bad_count, 1);
	ck_assert_uint_eq(seen.answers.count, 20);
	for (int i = 0; i < 20; i++) {
		if (seen.answers.items[i].object == 1)
			ck_assert_uint_eq(seen.answers.items[i].flags, SYMBOL_BAD_OBJECT);
	}
	check_map_answers(&seen, 2, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(an_object_that_workers_die_of_is_bad)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	uint64_t until = clock_ns(CLOCK_MONOTONIC) + 60000000000ull;

	ck_assert_int_eq(add(s, 1, OBJECT_PERFMAP, map_of(10)), 0);
	ck_assert_int_eq(add(s, 2, OBJECT_PERFMAP, map_of(10)), 0);
	wait_for_facts(s, &seen, 2);
	/* a worker confines itself first: it is mostly stopped before it replies */
	while (!seen.bad_count && clock_ns(CLOCK_MONOTONIC) < until) {
		if (!symbolizer_pending(s)) {
			ck_assert_int_eq(symbolizer_lookup(s, 1, 0x1000), 0);
			ck_assert_int_eq(symbolizer_flush(s), 0);
		}
		strike(s);
	}
	ck_assert_uint_eq(seen.bad_count, 1);
	ck_assert_uint_eq(symbolizer_stats(s)->bad_objects, 1);
	ck_assert_uint_ge(symbolizer_stats(s)->restarts, 3);
	ask_map(s, 2, 10);
	finish(s);
	check_map_answers(&seen, 2, 0);
	stop(s, &seen);
}
END_TEST

/* However often a worker is replaced over a request: no object is blamed, every answer arrives. */
START_TEST(a_worker_is_replaced_on_request)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	pid_t pids[SYMBOLIZER_WORKERS_MAX], pid;

	ck_assert_int_eq(add(s, 1, OBJECT_PERFMAP, map_of(10)), 0);
	wait_for_facts(s, &seen, 1);
	ck_assert(!symbolizer_replace_worker(s, getpid()));
	for (int i = 0; i < 10; i++) {
		ask_map(s, 1, 10);
		ck_assert_int_eq(symbolizer_flush(s), 0);
		while (!symbolizer_worker_pid(s))
			poll_once(s, 10);
		pid = symbolizer_worker_pid(s);
		kill(pid, SIGSTOP);
		poll_once(s, 0); /* sends the request */
		ck_assert_uint_eq(symbolizer_pids(s, pids), 1);
		ck_assert_int_eq(pids[0], pid);
		ck_assert(symbolizer_replace_worker(s, pid));
		ck_assert(!symbolizer_replace_worker(s, pid));
		ck_assert_uint_eq(symbolizer_pids(s, pids), 0);
	}
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 100);
	check_map_answers(&seen, 1, 0);
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 10);
	ck_assert_uint_eq(symbolizer_stats(s)->bad_objects, 0);
	stop(s, &seen);
}
END_TEST

/* Bytes of the heap and the stack of a process, /proc/PID/status. */
static size_t anonymous_of(pid_t pid)
{
	char path[64], line[256];
	size_t kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "RssAnon: %zu", &kib) == 1)
			break;
	fclose(f);
	return kib << 10;
}

/*
 * A limit makes a worker that has nothing to do forget, and return the memory; the one that
 * replaces it has the limit, too. Names are found as before.
 */
START_TEST(a_worker_forgets_what_is_above_its_limit)
{
	enum { MAPS = 8, LINES = 20000 }; /* 8 * 1.4 MiB */
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	size_t before, after;

	for (uint64_t o = 1; o <= MAPS; o++) {
		ck_assert_int_eq(add(s, o, OBJECT_PERFMAP, map_of(LINES)), 0);
		wait_for_facts(s, &seen, (unsigned int)o);
		ask_map(s, o, 1);
	}
	finish(s);
	before = anonymous_of(symbolizer_worker_pid(s));
	ck_assert(!symbolizer_limit_worker(s, getpid(), 1 << 20));
	ck_assert(symbolizer_limit_worker(s, symbolizer_worker_pid(s), 1 << 20));
	for (int i = 0; i < 1000 && s->limit_unsent; i++)
		poll_once(s, 10);
	ask_map(s, MAPS, 1); /* its reply comes after the limit */
	finish(s);
	after = anonymous_of(symbolizer_worker_pid(s));
	if (!SANITIZED) /* it keeps what was freed */
		ck_assert_uint_lt(after + (4 << 20), before);
	for (uint64_t o = 1; o <= MAPS; o++)
		ask_map(s, o, 1);
	finish(s);
	if (!SANITIZED)
		ck_assert_uint_lt(anonymous_of(symbolizer_worker_pid(s)), after + (4 << 20));
	ck_assert_uint_eq(symbolizer_stats(s)->restarts, 0);
	ck_assert(symbolizer_replace_worker(s, symbolizer_worker_pid(s)));
	for (uint64_t o = 1; o <= MAPS; o++)
		ask_map(s, o, 1);
	finish(s);
	if (!SANITIZED)
		ck_assert_uint_lt(anonymous_of(symbolizer_worker_pid(s)), after + (4 << 20));
	ck_assert_uint_eq(seen.answers.count, 3 * MAPS + 1);
	stop(s, &seen);
}
END_TEST

START_TEST(what_is_forgotten_is_answered_and_gone)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	for (uint64_t o = 1; o <= 300; o++) {
		ck_assert_int_eq(add(s, o, OBJECT_PERFMAP, map_of(10)), 0);
		ask_map(s, o, 10);
		symbolizer_forget(s, o);
		ck_assert_int_eq(symbolizer_lookup(s, o, 1), -ENOENT);
	}
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 3000);
	for (int i = 0; i < 100 && s->objects; i++)
		poll_once(s, 10);
	ck_assert_ptr_null(s->objects);
	ck_assert_uint_eq(s->files, 0);
	stop(s, &seen);
}
END_TEST

/* Requests for which the queue had no memory wait, and keep their order, until the next poll. */
START_TEST(a_lack_of_memory_delays_requests)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	struct request *r;

	for (uint64_t o = 1; o <= 3; o++) {
		ck_assert_int_eq(add(s, o, OBJECT_PERFMAP, map_of(10)), 0);
		ask_map(s, o, 10);
	}
	ck_assert_int_eq(symbolizer_flush(s), 0);
	while ((r = (struct request *)fair_drain(&s->waiting)))
		request_enqueue(&s->delayed, r);
	for (uint64_t o = 1; o <= 3; o++)
		symbolizer_forget(s, o);
	ck_assert_uint_eq(s->waiting.count, 0);
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 30);
	for (uint64_t o = 1; o <= 3; o++)
		check_map_answers(&seen, o, 0);
	for (int i = 0; i < 100 && s->objects; i++)
		poll_once(s, 10);
	ck_assert_ptr_null(s->objects);
	ck_assert_uint_eq(seen.bad_count, 0);
	stop(s, &seen);
}
END_TEST

START_TEST(open_files_are_bounded)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);

	s->options.files_max = 8;
	for (uint64_t o = 1; o <= 40; o++) {
		ck_assert_int_eq(add(s, o, OBJECT_PERFMAP, map_of(10)), 0);
		wait_for_facts(s, &seen, (unsigned int)o);
	}
	ck_assert_uint_eq(s->files, 8);
	/* the worker has all of them open */
	for (uint64_t o = 1; o <= 40; o++)
		ask_map(s, o, 10);
	finish(s);
	for (uint64_t o = 1; o <= 40; o++)
		check_map_answers(&seen, o, 0);
	/* the next worker has not, and closed ones cannot be passed to it */
	kill(symbolizer_worker_pid(s), SIGKILL);
	seen.answers.count = 0;
	for (uint64_t o = 1; o <= 40; o++)
		ck_assert_int_eq(symbolizer_lookup(s, o, 0x1000), 0);
	finish(s);
	ck_assert_uint_eq(seen.bad_count, 32);
	stop(s, &seen);
}
END_TEST

/* Send a message that is plausible, with random wrong members. */
static void send_lie(int socket, const struct symbolizer *s, unsigned int *seed)
{
	struct message m = {
		.type = (uint32_t)(MESSAGE_HEARTBEAT +
				   rand_r(seed) % (MESSAGE_INSPECTED - MESSAGE_HEARTBEAT + 1)),
		.count = (uint32_t)(rand_r(seed) % 4 ? 1 : rand_r(seed)),
		.object = rand_r(seed) % 8 ? 1 : (uint64_t)rand_r(seed),
		.sequence = rand_r(seed) % 8 ? s->sequence : (uint64_t)rand_r(seed),
	};
	static char payload[PAYLOAD_MAX];
	size_t size = (size_t)rand_r(seed) % (rand_r(seed) % 2 ? 128 : PAYLOAD_MAX);
	struct message_reply a = {
		.address = rand_r(seed) % 8 ? 0x1000 : 5,
		.name = (uint16_t)(rand_r(seed) % 3 ? rand_r(seed) % 40 : rand_r(seed)),
		.system_name = (uint16_t)(rand_r(seed) % 3 ? 0 : rand_r(seed)),
		.flags = (uint32_t)rand_r(seed),
	};

	for (size_t i = 0; i < size; i++)
		payload[i] = (char)rand_r(seed);
	memcpy(payload, &a, sizeof(a));
	if (rand_r(seed) % 8 == 0)
		size = sizeof(struct object_facts);
	(void)message_send_now(socket, &m, payload, size, rand_r(seed) % 8 ? -1 : 0);
}

START_TEST(a_worker_that_lies_is_replaced)
{
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	unsigned int seed = 1;
	int socket;

	for (int round = 0; round < 300; round++) {
		uint64_t generation = s->worker.generation;

		socket = usurp(s);
		ck_assert_int_eq(add(s, 1000 + (uint64_t)round, OBJECT_PERFMAP, map_of(1)), 0);
		for (int i = 0; i < 4; i++) {
			poll_once(s, 0);
			send_lie(socket, s, &seed);
		}
		close(socket);
		while (s->worker.generation == generation) {
			s->worker.deaths = 0; /* avoids the growing back-off */
			poll_once(s, 1);
		}
		symbolizer_forget(s, 1000 + (uint64_t)round);
	}
	ck_assert_int_eq(add(s, 1, OBJECT_PERFMAP, map_of(10)), 0);
	seen.answers.count = 0;
	ask_map(s, 1, 10);
	finish(s);
	check_map_answers(&seen, 1, 0);
	ck_assert_uint_eq(seen.answers.count, 10);
	stop(s, &seen);
}
END_TEST

/* A worker dies in the middle of a reply: the next one sends the rest. */
START_TEST(what_was_answered_before_a_death_counts)
{
	struct message m = {.type = MESSAGE_REPLIES, .count = 1, .object = 1};
	struct message_reply a = {.address = 0x1000, .flags = SYMBOL_FOUND};
	char byte;
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	int socket;

	ck_assert_int_eq(add(s, 1, OBJECT_PERFMAP, map_of(10)), 0);
	wait_for_facts(s, &seen, 1);
	socket = usurp(s);
	ask_map(s, 1, 10);
	ck_assert_int_eq(symbolizer_flush(s), 0);
	poll_once(s, 0);
	m.sequence = s->sequence;
	ck_assert_int_eq(message_send(socket, &m, &a, sizeof(a)), 0);
	/* closing a socket with unread requests would discard the sent data */
	while (recv(socket, &byte, 1, MSG_DONTWAIT) > 0)
		;
	close(socket);
	finish(s);
	ck_assert_uint_eq(seen.answers.count, 10);
	ck_assert_str_eq(seen.answers.items[0].name, "");
	check_map_answers(&seen, 1, 1);
	for (unsigned int i = 0; i < 10; i++)
		ck_assert_uint_eq(seen.answers.items[i].address, 0x1000 + i * 17);
	stop(s, &seen);
}
END_TEST

/*
 * A file that was replaced by another library is not read again: its names would be wrong for the
 * samples.
 */
START_TEST(a_replaced_file_is_not_read_again)
{
	struct seen seen = {0};
	struct symbolizer *s;
	uint64_t at;

	files_begin();
	file_write("a.cc", source, sizeof(source) - 1);
	shell("g++ -O1 -o prog a.cc && g++ -O0 -o other a.cc");
	at = offset_of("prog", "4sellIi");
	s = start(&seen);
	ck_assert_int_eq(add(s, 1, OBJECT_ELF, file_open("prog")), 0);
	ck_assert_int_eq(symbolizer_lookup(s, 1, at), 0);
	finish(s);
	ck_assert_uint_eq(seen.answers.items[0].flags, SYMBOL_FOUND);
	ck_assert(symbolizer_is_unchanged(s, 1));
	ck_assert(!symbolizer_is_unchanged(s, 2));
	shell("cat other > prog");
	ck_assert(!symbolizer_is_unchanged(s, 1));
	kill(symbolizer_worker_pid(s), SIGKILL);
	ck_assert_int_eq(symbolizer_lookup(s, 1, at), 0);
	finish(s);
	ck_assert_uint_eq(seen.answers.items[1].flags, SYMBOL_BAD_OBJECT);
	stop(s, &seen);
}
END_TEST

/* Facts become paths: only plain file names are accepted. */
START_TEST(facts_that_would_lead_elsewhere_are_dropped)
{
	static const char *const links[] = {"../../etc/shadow", "/etc/shadow", "..", "."};
	struct message m = {.type = MESSAGE_FACTS, .count = 1};
	struct object_facts lie = {.build_id = "../../x"};
	struct seen seen = {0};
	struct symbolizer *s = start(&seen);
	int socket = usurp(s);

	for (uint64_t i = 0; i < 4; i++) {
		snprintf(lie.debuglink, sizeof(lie.debuglink), "%s", links[i]);
		ck_assert_int_eq(add(s, i + 1, OBJECT_PERFMAP, map_of(1)), 0);
		poll_once(s, 0);
		m.object = i + 1;
		m.sequence = s->sequence;
		ck_assert_int_eq(message_send(socket, &m, &lie, sizeof(lie)), 0);
		poll_once(s, 1000);
		ck_assert_uint_eq(seen.facts_count, i + 1);
		ck_assert_str_eq(seen.facts.build_id, "");
		ck_assert_str_eq(seen.facts.debuglink, "");
	}
	close(socket);
	stop(s, &seen);
}
END_TEST

SUITE("symbolizer", answers_come_in_order_and_once, a_map_that_grows_is_refreshed,
      names_are_demangled, rust_names_are_demangled, a_debug_file_makes_names_better,
      kernel_symbols_are_added_and_kept, hidden_kernel_addresses_are_told,
      a_bad_object_is_told_once_and_harms_nobody, killed_a_hundred_times_every_answer_arrives,
      a_worker_that_hangs_is_replaced_and_its_object_is_bad, an_object_that_workers_die_of_is_bad,
      a_worker_is_replaced_on_request, what_is_forgotten_is_answered_and_gone,
      a_lack_of_memory_delays_requests, open_files_are_bounded, a_worker_that_lies_is_replaced,
      a_worker_forgets_what_is_above_its_limit, facts_that_would_lead_elsewhere_are_dropped,
      what_was_answered_before_a_death_counts, a_replaced_file_is_not_read_again)
