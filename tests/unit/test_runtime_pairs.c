// SPDX-License-Identifier: Apache-2.0
/*
 * runtime_events.c: spans of Python, of the user's probes and of rows without a meaning of their
 * own; what ends, and what is forgotten (runtime_run.h).
 */
#include "runtime_run.h"

/* Pass an event of a probe of the user at a stack pointer. */
static void user(uint64_t us, uint32_t tid, enum probe_origin origin, enum probe_meaning meaning,
		 const char *label, uint64_t stack_pointer)
{
	const struct probe_row row = {.origin = origin, .name = "", .meaning = meaning};

	probe(us, tid,
	      (struct probe_event){.row = &row, .label = label, .stack_pointer = stack_pointer});
}

static void python(uint64_t us, enum probe_origin origin, enum probe_meaning meaning,
		   uint64_t first, uint64_t second)
{
	const struct probe_row row = {.origin = origin,
				      .name = "gc_collect_main",
				      .meaning = meaning,
				      .arguments = origin == PROBE_FUNCTION ? 2 : 1};

	probe(us, WORKER, (struct probe_event){.row = &row, .arguments = {first, second}});
}

/* The generation is the note's only argument, or the function's second or first one. */
START_TEST(pythons_collections)
{
	const uint64_t state = 0x7f0012345670;

	begin();
	python(1, PROBE_NOTE, PROBE_PYTHON_COLLECTION_BEGIN, 0, 0);
	python(2, PROBE_NOTE, PROBE_PYTHON_COLLECTION_END, 17, 0);
	python(3, PROBE_FUNCTION, PROBE_PYTHON_COLLECTION_BEGIN, state, 2);
	python(4, PROBE_RETURN, PROBE_PYTHON_COLLECTION_END, 5, 0);
	python(5, PROBE_FUNCTION, PROBE_PYTHON_COLLECTION_BEGIN, 1, state);
	python(6, PROBE_RETURN, PROBE_PYTHON_COLLECTION_END, 0, 0);
	python(7, PROBE_FUNCTION, PROBE_PYTHON_COLLECTION_BEGIN, state, state);
	python(8, PROBE_FUNCTION, PROBE_PYTHON_COLLECTION_BEGIN, state, UINT32_MAX);
	end(100);
	ck_assert_str_eq(spans(), "thread 1 1-2 collection \"collection, generation 0\" "
				  "{\"generation\":0,\"collected\":17}\n"
				  "thread 1 3-4 collection \"collection, generation 2\" "
				  "{\"generation\":2,\"collected\":5}\n"
				  "thread 1 5-6 collection \"collection, generation 1\" "
				  "{\"generation\":1,\"collected\":0}\n"
				  "thread 1 8 collection \"collection, automatic\"\n");
	ck_assert_uint_eq(kept.lost, 1);
	over();
}
END_TEST

/* Where the notes lie inside of the function, a collection is one span. */
START_TEST(pythons_notes_and_functions_count_once)
{
	begin();
	python(1, PROBE_FUNCTION, PROBE_PYTHON_COLLECTION_BEGIN, 0x7f0012345670, 2);
	python(2, PROBE_NOTE, PROBE_PYTHON_COLLECTION_BEGIN, 2, 0);
	python(3, PROBE_NOTE, PROBE_PYTHON_COLLECTION_END, 5, 0);
	python(4, PROBE_RETURN, PROBE_PYTHON_COLLECTION_END, 6, 0);
	end(100);
	ck_assert_str_eq(spans(), "thread 1 1-4 collection \"collection, generation 2\" "
				  "{\"generation\":2,\"collected\":6}\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

START_TEST(users_probes_pair_per_thread)
{
	begin();
	user(1, WORKER, PROBE_NOTE, PROBE_BEGIN, "app:request", 1000);
	user(2, VM, PROBE_NOTE, PROBE_BEGIN, "app:request", 5000);
	user(3, WORKER, PROBE_NOTE, PROBE_INSTANT, "app:tick", 900);
	user(4, WORKER, PROBE_NOTE, PROBE_END, "app:request", 1000);
	user(5, VM, PROBE_NOTE, PROBE_END, "app:request", 5000);
	user(6, VM, PROBE_NOTE, PROBE_END, "app:request", 5000);
	end(100);
	ck_assert_str_eq(spans(), "thread 1 3-3 probe \"app:tick\"\n"
				  "thread 1 1-4 probe \"app:request\"\n"
				  "thread 2 2-5 probe \"app:request\"\n");
	ck_assert_uint_eq(kept.lost, 1);
	over();
}
END_TEST

START_TEST(recursion_is_a_stack)
{
	begin();
	for (unsigned int i = 0; i < 3; i++)
		user(i, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "f", 1000 - 100 * i);
	for (unsigned int i = 0; i < 3; i++)
		user(10 + i, WORKER, PROBE_RETURN, PROBE_END, "f", 800 + 100 * i);
	end(100);
	ck_assert_str_eq(spans(), "thread 1 2-10 probe \"f\"\n"
				  "thread 1 1-11 probe \"f\"\n"
				  "thread 1 0-12 probe \"f\"\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* Deeper recursion than the bound: what is too deep is counted, and the rest is right. */
START_TEST(deep_recursion_is_bounded)
{
	begin();
	for (unsigned int i = 0; i < 1000; i++)
		user(i, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "f", 100000 - 8 * i);
	for (unsigned int i = 1000; i > 0; i--)
		user(2000 - i, WORKER, PROBE_RETURN, PROBE_END, "f", 100000 - 8 * (i - 1));
	end(3000);
	ck_assert_uint_eq(kept.span_count, 128);
	ck_assert_uint_eq(kept.lost, 1000 - 128);
	for (size_t i = 0; i < kept.span_count; i++)
		ck_assert_uint_eq((kept.spans[i].end + kept.spans[i].time - 2 * BEGIN) / 1000,
				  1999);
	over();
}
END_TEST

/* longjmp() and exceptions leave frames without an end. */
START_TEST(a_frame_that_is_gone_ends_its_span)
{
	begin();
	user(1, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "outer", 1000);
	user(2, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "inner", 900);
	user(3, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "leaf", 800);
	/* longjmp() to outer, which calls inner again */
	user(4, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "inner", 900);
	user(5, WORKER, PROBE_RETURN, PROBE_END, "inner", 900);
	user(6, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "inner", 900);
	/* an exception through inner */
	user(7, WORKER, PROBE_RETURN, PROBE_END, "outer", 1000);
	end(100);
	ck_assert_str_eq(spans(), "thread 1 3-4 probe \"leaf\" {\"cut_off\":true}\n"
				  "thread 1 2-4 probe \"inner\" {\"cut_off\":true}\n"
				  "thread 1 4-5 probe \"inner\"\n"
				  "thread 1 6-7 probe \"inner\" {\"cut_off\":true}\n"
				  "thread 1 1-7 probe \"outer\"\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* A note may lie in a helper function; only the same note shows that its frame is gone. */
START_TEST(notes_may_begin_in_a_helper)
{
	begin();
	user(1, WORKER, PROBE_NOTE, PROBE_BEGIN, "wait", 500);
	user(2, WORKER, PROBE_NOTE, PROBE_BEGIN, "io", 900);
	user(3, WORKER, PROBE_NOTE, PROBE_END, "io", 900);
	user(4, WORKER, PROBE_NOTE, PROBE_END, "wait", 480);
	user(5, WORKER, PROBE_NOTE, PROBE_BEGIN, "wait", 500);
	user(6, WORKER, PROBE_NOTE, PROBE_BEGIN, "wait", 500);
	user(7, WORKER, PROBE_NOTE, PROBE_END, "wait", 500);
	/* another stack of the same thread, such as that of a coroutine */
	user(8, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "f", 1000);
	user(9, WORKER, PROBE_FUNCTION, PROBE_BEGIN, "g", 1ULL << 40);
	user(10, WORKER, PROBE_RETURN, PROBE_END, "f", 1000);
	user(11, WORKER, PROBE_RETURN, PROBE_END, "g", 1ULL << 40);
	end(100);
	ck_assert_str_eq(spans(), "thread 1 2-3 probe \"io\"\n"
				  "thread 1 1-4 probe \"wait\"\n"
				  "thread 1 5-6 probe \"wait\" {\"cut_off\":true}\n"
				  "thread 1 6-7 probe \"wait\"\n"
				  "thread 1 8-10 probe \"f\"\n"
				  "thread 1 9-11 probe \"g\"\n");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* Rows without a meaning of their own pair by their names; texts stand for their addresses. */
START_TEST(rows_pair_by_their_names)
{
	const struct probe_row begins = {.origin = PROBE_NOTE,
					 .provider = "postgresql",
					 .name = "query__start",
					 .meaning = PROBE_BEGIN,
					 .arguments = 2,
					 .texts = {{1, 0}}};
	const struct probe_row ends = {.origin = PROBE_NOTE,
				       .provider = "postgresql",
				       .name = "query__done",
				       .meaning = PROBE_END};

	begin();
	probe(1, WORKER,
	      (struct probe_event){.row = &begins,
				   .arguments = {4711, (uint64_t)-3},
				   .texts = {"SELECT \"1\""}});
	probe(2, WORKER, (struct probe_event){.row = &ends});
	end(100);
	ck_assert_str_eq(spans(), "thread 1 1-2 probe \"postgresql:query\" "
				  "{\"arguments\":[\"SELECT \\\"1\\\"\",-3]}\n");
	over();
}
END_TEST

/* Many threads: what ended is forgotten, and its open spans are put. */
START_TEST(threads_that_end_are_forgotten)
{
	struct life_record exit = {.kind = LIFE_EXIT, .pid = PID};

	begin();
	task(PID, BEGIN);
	for (uint32_t i = 0; i < 20000; i++) {
		user(i, 1000 + i, PROBE_NOTE, PROBE_BEGIN, "x", 100);
		exit.tid = 1000 + i;
		ck_assert_int_eq(process_table_life(run.table, &exit, stamp(i), NULL), 0);
		if (i % 1000 == 999)
			ck_assert_int_eq(runtime_events_tick(run.events, stamp(i), NULL), 0);
	}
	ck_assert_uint_eq(kept.span_count, 20000);
	ck_assert_uint_eq(kept.spans[0].end, 0);
	end(30000);
	ck_assert_uint_eq(kept.span_count, 20000);
	over();
}
END_TEST

/* A process that ends leaves what is open as it is; the next program of its pid begins anew. */
START_TEST(an_exec_ends_what_is_open)
{
	struct life_record exec = {
		.kind = LIFE_COMM, .pid = PID, .tid = PID, .exec = true, .text = "next"};

	begin();
	task(PID, BEGIN);
	vm(1, PROBE_STOP_BEGIN, NULL);
	ck_assert_int_eq(process_table_life(run.table, &exec, stamp(2), NULL), 0);
	ck_assert_int_eq(runtime_events_tick(run.events, stamp(3), NULL), 0);
	ck_assert_str_eq(spans(), "JVM 1 stopped for a collection \"stopped for a collection\"\n");
	vm(4, PROBE_STOP_END, NULL);
	end(100);
	ck_assert_str_eq(spans(), "");
	ck_assert_uint_eq(kept.lost, 0);
	over();
}
END_TEST

/* Names are put once, and again after the sink has forgotten them. */
START_TEST(names_are_put_again)
{
	uint64_t last;

	begin();
	vm(1, PROBE_STOP_BEGIN, NULL);
	vm(2, PROBE_STOP_END, NULL);
	last = run.last_name;
	vm(3, PROBE_STOP_BEGIN, NULL);
	vm(4, PROBE_STOP_END, NULL);
	ck_assert_uint_eq(run.last_name, last);
	runtime_events_forget(run.events);
	vm(5, PROBE_STOP_BEGIN, NULL);
	vm(6, PROBE_STOP_END, NULL);
	ck_assert_uint_eq(run.last_name, last + 1);
	ck_assert_uint_eq(kept.spans[2].name, last + 1);
	over();
}
END_TEST

SUITE("runtime pairs", pythons_collections, pythons_notes_and_functions_count_once,
      users_probes_pair_per_thread, recursion_is_a_stack, deep_recursion_is_bounded,
      a_frame_that_is_gone_ends_its_span, notes_may_begin_in_a_helper, rows_pair_by_their_names,
      threads_that_end_are_forgotten, an_exec_ends_what_is_open, names_are_put_again)
