// SPDX-License-Identifier: Apache-2.0
/*
 * Test every way in which a stack ends, with a recording that has a stack of each: how the analysis
 * counts the stacks, and that every output marks them.
 *
 * The mark of END_N is the root of the stack "mark, work, leaf"; the stack of WALKED has a START
 * frame as its root. In addition there are a stack whose root is no START, a kernel thread, a
 * system call whose user part is missing, and a sample without a stack.
 */
#include <stdlib.h>
#include <string.h>

#include "analyze/broken.h"
#include "files.h"
#include "scene.h"
#include "shown.h"
#include "suite.h"
#include "totals.h"
#include "trace_file.h"

/* The number of samples of each kind of stack. */
#define RECORDED_ENDS END_NOT_TAKEN /* the ends of stacks that were recorded come first */
#define ENDS_OF(end) (100 + (uint64_t)(end))
#define ENDS_NO_START 7
#define ENDS_KERNEL_THREAD 6
#define ENDS_ONLY_KERNEL 5
#define ENDS_NO_STACK 4

enum { ENDS_START = 1, ENDS_WORK, ENDS_LEAF, ENDS_KERNEL, ENDS_GENERATED, ENDS_AGAIN, ENDS_MARK };

static void ends_entities(struct scene *s)
{
	static const struct mapping mappings[] = {{1, 1, MAPPING_FILE, 0, 9, "/bin/ends", ""},
						  {2, 1, MAPPING_FILE, 0, 9, "/lib/libwork.so", ""},
						  {3, 1, MAPPING_JIT, 1, 9, "", ""},
						  {4, 1, MAPPING_FILE, 0, 9, "/lib/libwork.so", ""},
						  {5, 1, MAPPING_KERNEL, 0, 0, "[kernel]", ""}};
	static const struct frame frames[] = {
		{ENDS_START, FRAME_NATIVE, 1, 1, 0, 0, FRAME_FLAG_START},
		{ENDS_WORK, FRAME_NATIVE, 2, 2, 0, 0, 0},
		{ENDS_LEAF, FRAME_NATIVE, 1, 3, 0, 0, 0},
		{ENDS_KERNEL, FRAME_KERNEL, 5, 4, 0, 0, 0},
		{ENDS_GENERATED, FRAME_JIT, 3, 5, 0, 0, 0},
		/*
		 * The code of ENDS_WORK, in a mapping made after the recorder had forgotten the
		 * first.
		 */
		{ENDS_AGAIN, FRAME_NATIVE, 4, 2, 0, 0, 0}};

	scene_event(s, 1, 1, "cpu-clock", "ns", 1, 100);
	scene_process(s, .id = 1, .host = 1, .pid = 9, .comm = "ends");
	scene_thread(s, 1, 1, 9, 0, 0, "ends", 0, 0, "");
	SCENE_PUT_ALL(s, MAPPING, mappings);
	SCENE_PUT_ALL(s, FRAME, frames);
	for (uint64_t end = 0; end < RECORDED_ENDS; end++)
		scene_frame(s, ENDS_MARK + end, FRAME_END, 0, end, 0, 0, 0);
}

/* Put a path of frames, root first, which 0 ends, and its samples. */
static void ends_path(struct scene *s, uint64_t *last, const uint64_t *frames, uint64_t samples)
{
	uint64_t stack = 0;

	for (; *frames; frames++) {
		scene_stack(s, ++*last, stack, *frames);
		stack = *last;
	}
	scene_sum(s, 1, 1, stack, samples, samples, 0, 0);
}

/* Return whether the user part of a stack with this end has no frames by nature. */
static bool has_no_user_part(uint64_t end)
{
	return end == END_NO_MEMORY_MAP || end == END_OUTSIDE;
}

/* recorded: "user" or "kernel" for only that part of the stacks; NULL for both. */
static void ends_build(struct scene *s, const void *recorded)
{
	static const struct {
		uint64_t frames[4], samples;
	} others[] = {
		{{ENDS_AGAIN, ENDS_LEAF}, ENDS_NO_START},
		{{ENDS_KERNEL, ENDS_KERNEL}, ENDS_KERNEL_THREAD},
		{{ENDS_MARK + END_UNREADABLE, ENDS_KERNEL}, ENDS_ONLY_KERNEL},
		{{0}, ENDS_NO_STACK},
	};
	uint64_t last = 0;

	if (recorded)
		scene_info(s, 1, 1, "option.stacks", recorded);
	ends_entities(s);
	for (uint64_t end = 0; end < RECORDED_ENDS; end++) {
		uint64_t root = end == END_WALKED ? ENDS_START : ENDS_MARK + end;
		uint64_t next = end == END_GENERATED ? ENDS_GENERATED : ENDS_WORK;
		uint64_t whole[] = {root, next, ENDS_LEAF, 0}, bare[] = {root, 0};

		ends_path(s, &last, has_no_user_part(end) ? bare : whole, ENDS_OF(end));
	}
	for (size_t i = 0; i < SCENE_COUNT(others); i++)
		ends_path(s, &last, others[i].frames, others[i].samples);
}

DEFINE_SCENE(ends_source, ends_build)

static struct profile *ends_profile(const char *recorded)
{
	struct scene_source ends = SCENE_OF(ends_build, recorded);
	struct profile *p = NULL;
	struct error err = {""};

	ck_assert_msg(!profile_read(&p, &ends.source, NULL, &err), "%s", err.text);
	return p;
}

START_TEST(every_sample_is_counted_once)
{
	struct profile *p = ends_profile(NULL);
	struct completeness c;
	uint64_t broken = 0;

	completeness_of(&c, p, 0);
	ck_assert_uint_eq(c.complete, ENDS_OF(END_WALKED));
	ck_assert_uint_eq(c.no_stack, ENDS_NO_STACK);
	ck_assert_uint_eq(c.no_user[NO_USER_KERNEL_THREAD], ENDS_KERNEL_THREAD);
	ck_assert_uint_eq(c.no_user[NO_USER_NO_MEMORY_MAP], ENDS_OF(END_NO_MEMORY_MAP));
	ck_assert_uint_eq(c.no_user[NO_USER_OUTSIDE], ENDS_OF(END_OUTSIDE));
	ck_assert_uint_eq(c.no_user[NO_USER_NOT_RECORDED], 0);
	for (int end = 0; end < RECORDED_ENDS; end++) {
		uint64_t more = end == END_UNKNOWN_ROOT ? ENDS_NO_START
				: end == END_UNREADABLE ? ENDS_ONLY_KERNEL
							: 0;

		ck_assert_uint_eq(c.broken[end], stack_end_is_whole(end) ? 0 : ENDS_OF(end) + more);
		broken += c.broken[end];
	}
	ck_assert_uint_eq(c.due, c.complete + broken + c.no_stack);
	ck_assert_uint_eq(c.samples, c.due + ENDS_KERNEL_THREAD + ENDS_OF(END_NO_MEMORY_MAP) +
					     ENDS_OF(END_OUTSIDE));
	ck_assert_uint_eq(c.samples, totals_of(p).count);
	profile_free(p);
}
END_TEST

/* If only one part of stacks was recorded, the other part is not missing. */
START_TEST(what_was_not_asked_for_is_not_missing)
{
	struct profile *p = ends_profile("kernel");
	struct breakages broken;
	struct completeness c;

	completeness_of(&c, p, 0);
	ck_assert_uint_eq(c.due, 0);
	ck_assert_uint_eq(c.no_user[NO_USER_NOT_RECORDED], totals_of(p).count);
	ck_assert_int_eq(breakages_of(&broken, p, 0), 0);
	ck_assert_uint_eq(broken.list.count, 0);
	breakages_free(&broken);
	profile_free(p);

	p = ends_profile("user");
	completeness_of(&c, p, 0);
	ck_assert_uint_eq(c.no_stack, 0);
	ck_assert_uint_eq(c.no_user[NO_USER_KERNEL_THREAD], ENDS_KERNEL_THREAD + ENDS_NO_STACK);
	ck_assert_uint_eq(c.complete, ENDS_OF(END_WALKED));
	profile_free(p);
}
END_TEST

static void check_breakage(const struct breakages *b, const char *reason, const char *module,
			   uint64_t count)
{
	for (size_t i = 0; i < b->list.count; i++) {
		const struct breakage *one = &b->list.items[i];

		if (strcmp(one->reason, reason) || strcmp(one->module, module))
			continue;
		ck_assert_msg(one->count == count, "%s in %s: %llu", reason, module,
			      (unsigned long long)one->count);
		return;
	}
	ck_abort_msg("no %s in '%s'", reason, module);
}

START_TEST(reasons_stand_with_the_module_at_fault)
{
	struct profile *p = ends_profile(NULL);
	struct breakages b;
	struct completeness c;
	uint64_t count = 0;

	ck_assert_int_eq(breakages_of(&b, p, 0), 0);
	/* All broken ends, some of the unreadable ones in no module, and no stack. */
	ck_assert_uint_eq(b.list.count, RECORDED_ENDS - 3 + 2);
	for (int end = 0; end < RECORDED_ENDS; end++)
		if (!stack_end_is_whole(end))
			check_breakage(&b, stack_end_word(end),
				       end == END_GENERATED ? "[jit]" : "/lib/libwork.so",
				       ENDS_OF(end) +
					       (end == END_UNKNOWN_ROOT ? ENDS_NO_START : 0));
	check_breakage(&b, stack_end_word(END_UNREADABLE), "", ENDS_ONLY_KERNEL);
	check_breakage(&b, "no stack", "", ENDS_NO_STACK);
	for (size_t i = 0; i < b.list.count; i++) {
		count += b.list.items[i].count;
		ck_assert(!i || b.list.items[i - 1].count >= b.list.items[i].count);
	}
	completeness_of(&c, p, 0);
	ck_assert_uint_eq(count, c.due - c.complete);
	breakages_free(&b);
	/* Another event has no samples. */
	ck_assert_int_eq(breakages_of(&b, p, 1), 0);
	ck_assert_uint_eq(b.list.count, 0);
	profile_free(p);
}
END_TEST

/* Export the recording in a format; the caller frees the text. */
static char *ends_exported(const char *format, size_t *size)
{
	return exported(format, &(struct export_options){0}, ends_source(), size);
}

/* Write the mark of an end at the root as the formats show it. */
static const char *mark_of(uint64_t end, char *buf)
{
	sprintf(buf, has_no_user_part(end) ? "[%s]" : "[truncated: %s]", stack_end_word(end));
	return buf;
}

START_TEST(folded_marks_every_end)
{
	size_t size = 0;
	char *text = ends_exported("folded", &size), mark[64], line[256];

	for (int end = END_WALKED + 1; end < RECORDED_ENDS; end++) {
		uint64_t more = end == END_UNKNOWN_ROOT ? ENDS_NO_START : 0;

		snprintf(line, sizeof(line), "ends;%s%s %llu\n", mark_of(end, mark),
			 has_no_user_part(end)	? ""
			 : end == END_GENERATED ? ";[jit];[ends]"
						: ";[libwork.so];[ends]",
			 (unsigned long long)(ENDS_OF(end) + more));
		ck_assert_msg(strstr(text, line) != NULL, "%s in\n%s", line, text);
	}
	ck_assert_ptr_nonnull(strstr(text, "ends;[ends];[libwork.so];[ends] 100\n"));
	ck_assert_ptr_nonnull(strstr(text, "ends;[kernel];[kernel] 6\n"));
	ck_assert_ptr_null(strstr(text, "walked"));
	free(text);
}
END_TEST

static bool holds(const char *data, size_t size, const char *text)
{
	return memmem(data, size, text, strlen(text)) != NULL;
}

START_TEST(pprof_marks_every_end)
{
	size_t size = 0;
	char *data = ends_exported("pprof", &size), mark[64];

	for (int end = END_WALKED + 1; end < RECORDED_ENDS; end++)
		ck_assert_msg(holds(data, size, mark_of(end, mark)), "%s", mark);
	ck_assert(!holds(data, size, "walked"));
	ck_assert(holds(data, size, "complete stacks: 100 of 1"));
	ck_assert(holds(data, size, "broken stacks: 111 unknown root in /lib/libwork.so"));
	free(data);
}
END_TEST

/* Make a report of the recording as text or JSON; the caller frees it. */
static char *reported(const char *recorded, bool json)
{
	struct report_options o = {.json = json, .by = BY_FUNCTION, .limit = LIMIT_UNSET};
	struct scene_source ends = SCENE_OF(ends_build, recorded);

	return report_shown(&ends.source, &o, 1000, false);
}

static void check_report(const char *recorded, bool json, const char *wanted)
{
	char *text = reported(recorded, json);

	ck_assert_msg(strstr(text, wanted) != NULL, "no %s in %s", wanted, text);
	free(text);
}

/* The exact text is tested in tests/golden. */
START_TEST(reports_tell_the_top_reasons)
{
	struct profile *p = ends_profile(NULL);
	struct completeness c;
	char line[128];

	completeness_of(&c, p, 0);
	snprintf(line, sizeof(line), "%% complete (100 of 1,%03d); ", (int)c.due - 1000);
	check_report(NULL, false, line);
	check_report(NULL, false, "otherwise (--json lists all); no user stack: ");
	check_report(NULL, false, "% kernel threads, ");
	check_report(NULL, false, "% outside of this pid namespace\n");
	check_report(NULL, false, "% threads starting or ending, ");
	check_report("kernel", false, "Stacks     no user stack: 100.0 % not asked for\n");
	check_report("kernel", true, "\"share\": null");
	check_report(NULL, true, "\"unreadable stack\": 108");
	check_report(NULL, true, "\"threads starting or ending\": 102");
	profile_free(p);
}
END_TEST

/* skein query names every end like the profile does. */
START_TEST(sql_names_every_end)
{
	struct trace *t;
	char *text, mark[64], line[128];

	files_begin();
	trace_file_write("ends.skein", ends_source());
	t = trace_file_open("ends.skein");
	text = trace_file_query(t, "SELECT frame_name.id, name FROM frame_name"
				   " JOIN frame USING (id) JOIN frame_kind ON kind = frame_kind.id"
				   " WHERE word = 'end'");
	trace_close(t);
	for (int end = END_WALKED + 1; end < RECORDED_ENDS; end++) {
		snprintf(line, sizeof(line), "%d,%s", ENDS_MARK + end, mark_of(end, mark));
		ck_assert_msg(strstr(text, line) != NULL, "%s in\n%s", line, text);
	}
	free(text);
}
END_TEST

/* A forged trace with losses for every reason, in numbers that no line has room for. */
static void losses_build(struct scene *s, const void *unused)
{
	(void)unused;
	ends_build(s, NULL);
	for (uint64_t reason = 0; reason < LOSS_COUNT + 3; reason++)
		scene_loss(s, .id = reason + 1, .host = 1, .event = 1, .reason = reason, .time = 1,
			   .end = 2, .count = UINT64_MAX / 32);
}

DEFINE_SCENE(losses_source, losses_build)

START_TEST(many_losses_fit_into_every_text)
{
	static const char *const formats[] = {"svg", "html", "folded", "pprof", "speedscope"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		size_t size = 0;

		char *text =
			exported(formats[i], &(struct export_options){0}, losses_source(), &size);

		ck_assert_uint_gt(size, 0);
		ck_assert(strcmp(formats[i], "svg") || strstr(text, "; lost: 576,460,752,303,"));
		free(text);
	}
}
END_TEST

/* A damaged trace: a sample of no thread, and one of a thread whose process is missing. */
static void lost_build(struct scene *s, const void *unused)
{
	(void)unused;
	ends_build(s, NULL);
	scene_thread(s, .id = 7, .process = 99, .comm = "lost");
	scene_sample(s, .time = 1, .event = 1, .weight = 1);
	scene_sample(s, .time = 2, .event = 1, .weight = 1, .thread = 7);
	scene_sample(s, .time = 3, .event = 1, .weight = 1, .thread = 8);
}

DEFINE_SCENE(lost_source, lost_build)

START_TEST(samples_of_lost_threads_are_exported)
{
	static const char *const formats[] = {"speedscope", "firefox", "perf-script"};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		size_t size = 0;

		free(exported(formats[i], &(struct export_options){0}, lost_source(), &size));
		ck_assert_uint_gt(size, 0);
	}
}
END_TEST

SUITE("broken", samples_of_lost_threads_are_exported, many_losses_fit_into_every_text,
      every_sample_is_counted_once, what_was_not_asked_for_is_not_missing,
      reasons_stand_with_the_module_at_fault, folded_marks_every_end, pprof_marks_every_end,
      reports_tell_the_top_reasons, sql_names_every_end)
