// SPDX-License-Identifier: Apache-2.0
/*
 * Test how language runtimes are recognised, which of their samples count as without names, and
 * which of their stacks count as complete.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/broken.h"
#include "analyze/runtimes.h"
#include "scene.h"
#include "shown.h"
#include "suite.h"

START_TEST(files_are_recognised)
{
	static const struct {
		const char *path;
		enum runtime_kind kind;
	} files[] = {
		{"/usr/bin/node", RUNTIME_NODE},
		{"node", RUNTIME_NODE},
		{"/opt/node-20.1/bin/node20", RUNTIME_NODE},
		{"/usr/bin/node (deleted)", RUNTIME_NODE},
		{"/usr/lib/libnode.so.108", RUNTIME_NODE},
		{"/usr/bin/node_exporter", RUNTIME_COUNT},
		{"/usr/bin/node-exporter", RUNTIME_COUNT},
		{"/usr/lib/jvm/lib/server/libjvm.so", RUNTIME_JAVA},
		{"/usr/bin/python3.11", RUNTIME_PYTHON},
		{"/usr/lib/libpython3.11.so.1.0", RUNTIME_PYTHON},
		{"/usr/bin/ruby3.1", RUNTIME_RUBY},
		{"/usr/lib/libruby-3.1.so.3.1", RUNTIME_RUBY},
		{"/usr/lib/erlang/erts-13.1.5/bin/beam.smp", RUNTIME_ERLANG},
		{"/usr/share/dotnet/dotnet", RUNTIME_DOTNET},
		{"/usr/share/dotnet/shared/libcoreclr.so", RUNTIME_DOTNET},
		{"/usr/sbin/php-fpm8.2", RUNTIME_PHP},
		{"/usr/bin/php8.2", RUNTIME_PHP},
		{"/usr/bin/phpize", RUNTIME_COUNT},
		{"/usr/bin/pypy3", RUNTIME_PYPY},
		{"/usr/lib/libpypy3-c.so", RUNTIME_PYPY},
		{"/node/bin/program", RUNTIME_COUNT},
		{"[jit]", RUNTIME_COUNT},
		{"", RUNTIME_COUNT},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		ck_assert_msg(runtime_of_file(files[i].path) == files[i].kind, "%s", files[i].path);
}
END_TEST

START_TEST(all_but_python_say_what_gives_names)
{
	for (int i = 0; i < RUNTIME_COUNT; i++) {
		ck_assert_uint_gt(strlen(runtime_table[i].name), 0);
		ck_assert_int_eq(!*runtime_table[i].names, i == RUNTIME_PYTHON);
		/* "top" shows name, share and this in a fact of 96 bytes */
		ck_assert_uint_lt(strlen(runtime_table[i].name) + strlen(runtime_table[i].names) +
					  strlen(" 100.0 % without names: "),
				  96);
	}
}
END_TEST

/*
 * Process N has one thread N, whose stack is: START frame in the module, generated code. Samples
 * are a power of 2 for each, so that every sum of them is different.
 */
enum scene_process {
	NODE = 1,
	NAMED_NODE,
	JAVA,
	READ_JAVA,
	RUBY,
	YJIT,
	NAMED_YJIT,
	OTHER,
	EXE,
	PROCESSES
};

static const struct scene_runtime {
	const char *exe, *module;
	uint64_t generated; /* enum frame_kind; 0: the stack has none */
	bool named;
} scene_runtimes[PROCESSES] = {
	[NODE] = {"/usr/bin/node", "/usr/bin/node", FRAME_JIT, false},
	[NAMED_NODE] = {"/usr/bin/node", "/usr/bin/node", FRAME_JIT, true},
	[JAVA] = {"/usr/bin/java", "/usr/lib/jvm/libjvm.so", FRAME_JIT, false},
	[READ_JAVA] = {"/usr/bin/java", "/usr/lib/jvm/libjvm.so", FRAME_JAVA, true},
	[RUBY] = {"/usr/bin/ruby", "/usr/lib/libruby.so.3", 0, false},
	[YJIT] = {"/usr/bin/ruby", "/usr/lib/libc.so.6", FRAME_JIT, false},
	[NAMED_YJIT] = {"/usr/bin/ruby", "/usr/lib/libc.so.6", FRAME_JIT, true},
	[OTHER] = {"/usr/bin/other", "/usr/lib/libc.so.6", FRAME_JIT, false},
	[EXE] = {"/srv/app", "/usr/lib/libc.so.6", 0, false},
};

#define SAMPLES(process) (1ULL << (process))

static void put_runtime(struct scene *s, uint64_t i, const struct scene_runtime *of)
{
	uint64_t generated = of->generated == FRAME_JAVA ? MAPPING_JAVA : MAPPING_JIT;

	scene_process(s, .id = i, .host = 1, .pid = i, .exe = of->exe, .comm = "x");
	scene_thread(s, .id = i, .process = i, .tid = i, .comm = "x");
	scene_mapping(s, .id = 2 * i, .host = 1, .kind = MAPPING_FILE, .path = of->module);
	scene_mapping(s, .id = 2 * i + 1, .host = 1, .kind = generated, .process = i);
	scene_function(s, .id = i, .mapping = 2 * i + 1, .name = "method");
	scene_frame(s, .id = 2 * i, .kind = FRAME_NATIVE, .mapping = 2 * i, .address = i,
		    .flags = FRAME_FLAG_START);
	scene_stack(s, .id = 2 * i, .frame = 2 * i);
	if (of->generated) {
		scene_frame(s, .id = 2 * i + 1, .kind = of->generated, .mapping = 2 * i + 1,
			    .address = i, .function = of->named ? i : 0);
		scene_stack(s, .id = 2 * i + 1, .parent = 2 * i, .frame = 2 * i + 1);
	}
	scene_sum(s, .event = 1, .thread = i, .stack = 2 * i + (of->generated ? 1 : 0),
		  .count = SAMPLES(i), .weight = SAMPLES(i));
}

static void build_runtimes(struct scene *s, const void *context)
{
	(void)context;
	scene_host(s, .id = 1, .hostname = "h", .cpus = 1);
	scene_event(s, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns", .period = 1);
	for (uint64_t i = 1; i < PROCESSES; i++)
		put_runtime(s, i, &scene_runtimes[i]);
}

DEFINE_SCENE(runtimes_source, build_runtimes)

static struct profile *runtimes_profile(void)
{
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, runtimes_source(), NULL, &err), "%s", err.text);
	return p;
}

START_TEST(samples_without_names_are_counted)
{
	const uint64_t expected[RUNTIME_COUNT] = {
		[RUNTIME_NODE] = SAMPLES(NODE),
		[RUNTIME_JAVA] = SAMPLES(JAVA),
		[RUNTIME_RUBY] = SAMPLES(RUBY) + SAMPLES(YJIT),
	};
	struct profile *p = runtimes_profile();
	struct runtime_shares shares;

	ck_assert_int_eq(runtime_shares_of(&shares, p, 0), 0);
	for (int i = 0; i < RUNTIME_COUNT; i++)
		ck_assert_msg(shares.samples[i] == expected[i], "%s: %lu, not %lu",
			      runtime_table[i].name, (unsigned long)shares.samples[i],
			      (unsigned long)expected[i]);
	profile_free(p);
}
END_TEST

/* V8 keeps frame pointers; a JVM that is not read does not, and Ruby only with a perf map. */
START_TEST(stacks_that_may_lack_frames_are_not_complete)
{
	uint64_t lacking = SAMPLES(JAVA) + SAMPLES(RUBY) + SAMPLES(YJIT);
	struct profile *p = runtimes_profile();
	struct completeness c;

	completeness_of(&c, p, 0);
	ck_assert_uint_eq(c.broken[END_NO_WALKER], lacking);
	ck_assert_uint_eq(c.complete, c.due - lacking);
	ck_assert_uint_eq(c.due, SAMPLES(PROCESSES) - 2);
	profile_free(p);
}
END_TEST

static char *runtimes_report(bool json)
{
	const struct report_options o = {.by = BY_NOTHING, .limit = LIMIT_UNSET, .json = json};

	return report_shown(runtimes_source(), &o, 200, false);
}

START_TEST(report_shows_them)
{
	char *text = runtimes_report(false), *json = runtimes_report(true);

	/* 2 of 1,022 samples are too few for a line, but not for programs */
	ck_assert_ptr_null(strstr(text, "Node.js"));
	ck_assert_ptr_nonnull(strstr(json, "Node.js"));
	ck_assert_ptr_nonnull(
		strstr(text, "Ruby       9.4 % of samples without names (96): 'ruby --yjit-perf'"));
	ck_assert_ptr_nonnull(strstr(text, "runtime without a walker"));
	free(text);
	free(json);
}
END_TEST

SUITE("runtimes", files_are_recognised, all_but_python_say_what_gives_names,
      samples_without_names_are_counted, stacks_that_may_lack_frames_are_not_complete,
      report_shows_them)
