// SPDX-License-Identifier: Apache-2.0
/* What keys lead to, without a terminal: two programs, their functions, and a way in and back. */
#include <ncurses.h>
#include <string.h>
#include <unistd.h>

#include "analyze/recent.h"
#include "cmd/top_draw.h"
#include "cmd/top_ui.h"
#include "suite.h"

#define SECOND 1000000000ULL
#define START (1000 * SECOND)

static struct sink *recent;
static struct top_ui ui;
static struct error err;
static uint64_t dog_pid = 42;
static const char *dog_name = "dog";

#define PUT(kind, ...) ck_assert_int_eq(put_##kind(recent, &(struct kind){__VA_ARGS__}, &err), 0)

static void put_samples(uint64_t thread, uint64_t stack, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		PUT(sample, .time = START + i, .event = 1, .thread = thread, .stack = stack,
		    .weight = SECOND / 100);
}

static void take(void)
{
	struct recent_window w;

	ck_assert_int_eq(recent_window(recent, START + SECOND, &w, &err), 0);
	ck_assert_int_eq(top_model_take(&ui.model, &w), 0);
	ui.stale = true;
	ck_assert_int_eq(top_ui_update(&ui), 0);
}

/* main calls parse and write; parse calls itself. mapped: the module is known. */
static void begin(bool mapped)
{
	static const char *const names[] = {"main", "parse", "parse", "write"};
	static const uint64_t parents[] = {0, 1, 2, 1};

	memset(&ui, 0, sizeof(ui));
	ck_assert_int_eq(recent_sink(&recent, 10 * SECOND, &err), 0);
	ck_assert_int_eq(sink_tick(recent, START, &err), 0);
	PUT(host, .id = 1, .hostname = "machine", .cpus = 1, .start = START);
	PUT(event, .id = 1, .host = 1, .name = "cpu-clock", .unit = "ns");
	for (uint64_t id = 1; id <= 2; id++) {
		/* no process of this machine has the first pid */
		PUT(process, .id = id, .host = 1, .pid = id == 1 ? 1 << 30 : dog_pid,
		    .comm = id == 1 ? "cat" : dog_name, .exe = "/bin/pet");
		PUT(thread, .id = id, .process = id, .tid = 40 + id, .comm = "main");
	}
	if (mapped)
		PUT(mapping, .id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/pets");
	for (uint64_t id = 1; id <= 4; id++) {
		PUT(function, .id = id, .mapping = 1, .name = names[id - 1]);
		PUT(frame, .id = id, .kind = FRAME_NATIVE, .mapping = 1, .address = id,
		    .function = id);
		PUT(stack, .id = id, .parent = parents[id - 1], .frame = id);
	}
	put_samples(1, 3, 60);
	put_samples(1, 4, 10);
	put_samples(2, 4, 30);
	ck_assert_int_eq(top_ui_begin(&ui, TOP_FUNCTIONS, TOP_BY_SELF), 0);
	take();
}

static void end(void)
{
	top_ui_free(&ui);
	sink_free(recent);
}

static void press(unsigned int key, bool code)
{
	ck_assert_int_eq(top_ui_key(&ui, key, code), 0);
	ck_assert_int_eq(top_ui_update(&ui), 0);
}

static void type(const char *text)
{
	while (*text)
		press((unsigned char)*text++, false);
}

/* The names of all rows. */
static void check_rows(const char *expected)
{
	char all[512] = "";

	for (size_t i = 0; i < ui.model.rows.count; i++)
		snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s", i ? " | " : "",
			 ui.model.rows.items[i].name);
	ck_assert_str_eq(all, expected);
}

START_TEST(sorted)
{
	begin(true);
	check_rows("parse | write | main");
	ck_assert_uint_eq(ui.model.rows.items[0].self, 60 * SECOND / 100);
	ck_assert_uint_eq(ui.model.rows.items[0].total, 60 * SECOND / 100); /* once */
	type("t");
	check_rows("main | parse | write");
	type("n");
	check_rows("main | parse | write");
	type("r");
	check_rows("write | parse | main");
	end();
}
END_TEST

START_TEST(filtered)
{
	begin(true);
	type("/^p.r");
	check_rows("parse");
	type("(");
	ck_assert(ui.bad_pattern);
	check_rows("parse"); /* the last pattern that was one */
	press(KEY_BACKSPACE, true);
	press('\n', false);
	ck_assert(!ui.typing);
	check_rows("parse");
	press(27, false);
	check_rows("parse | write | main");
	type("/PARSE\n"); /* capitals are meant */
	check_rows("");
	end();
}
END_TEST

START_TEST(into_a_process_and_back)
{
	begin(true);
	type("1");
	check_rows("cat | dog");
	press(KEY_DOWN, true);
	press('\n', false);
	check_rows("write | main");
	ck_assert_uint_eq(ui.foci.items[0].weight, 30 * SECOND / 100);
	press(KEY_BACKSPACE, true);
	check_rows("cat | dog");
	ck_assert_str_eq(top_ui_row(&ui)->name, "dog"); /* where the cursor was */
	press(KEY_BACKSPACE, true);
	check_rows("cat | dog"); /* there is no way further back */
	end();
}
END_TEST

/* This process, which lives, has memory; the other one, which used more CPU time, has none. */
START_TEST(processes_by_memory)
{
	dog_pid = (uint64_t)getpid();
	begin(true);
	type("M");
	check_rows("dog | cat");
	ck_assert_uint_gt(ui.model.rows.items[0].resident, 100 << 10);
	ck_assert_uint_eq(ui.model.rows.items[1].resident, TOP_RESIDENT_UNKNOWN);
	ck_assert_str_eq(ui.model.rows.items[1].module, "/bin/pet");
	type("P");
	check_rows("cat | dog");
	type("2");
	check_rows("parse | write | main");
	type("M"); /* functions have no memory */
	check_rows("dog | cat");
	type("4");
	check_rows("cat | dog"); /* programs have none, either: by CPU use */
	type("2/^p\n");
	check_rows("parse");
	dog_pid = 42;
	end();
}
END_TEST

/* Processes with one name differ by their command, which stays when the process has ended. */
START_TEST(processes_with_one_name)
{
	const char *command;

	dog_pid = (uint64_t)getpid();
	dog_name = "cat";
	begin(true);
	type("1");
	check_rows("cat | cat");
	command = ui.model.rows.items[1].module;
	ck_assert_msg(!strncmp(command, "test_top_model", 14), "%s", command);
	ck_assert_str_eq(ui.model.rows.items[0].module, "/bin/pet");
	PUT(process, .id = 2, .host = 1, .pid = dog_pid, .comm = "cat", .exe = "/bin/pet",
	    .end = START + 1);
	take();
	command = ui.model.rows.items[1].module;
	ck_assert_msg(!strncmp(command, "test_top_model", 14), "%s", command);
	ck_assert_uint_eq(ui.model.rows.items[1].resident, TOP_RESIDENT_UNKNOWN);
	dog_pid = 42;
	dog_name = "dog";
	end();
}
END_TEST

/* Functions that only the path of their module distinguishes have that path. */
START_TEST(functions_with_one_name)
{
	char text[64] = "";

	begin(true);
	PUT(mapping, .id = 2, .host = 1, .kind = MAPPING_FILE, .path = "/opt/pets");
	PUT(function, .id = 5, .mapping = 2, .name = "parse");
	PUT(frame, .id = 5, .kind = FRAME_NATIVE, .mapping = 2, .address = 5, .function = 5);
	PUT(stack, .id = 5, .parent = 1, .frame = 5);
	put_samples(2, 5, 5);
	take();
	check_rows("parse | write | parse | main");
	for (size_t i = 0; i < 3; i++) {
		const char *more = top_more_text(TOP_FUNCTIONS, &ui.model.rows.items[i], text, 64);

		ck_assert_str_eq(more, i == 0 ? "/bin/pets" : i == 1 ? "pets" : "/opt/pets");
	}
	end();
}
END_TEST

START_TEST(callers_and_callees)
{
	begin(true);
	press('\n', false);
	check_rows("called by | main | itself, and what it calls | parse | parse");
	ck_assert_str_eq(top_ui_row(&ui)->name, "parse");
	press(KEY_UP, true); /* the heading is stepped over */
	ck_assert_str_eq(top_ui_row(&ui)->name, "main");
	type("4");
	check_rows("cat"); /* the only program with it on a stack */
	end();
}
END_TEST

START_TEST(tree_is_opened_and_closed)
{
	begin(true);
	type("3");
	check_rows("program cat | main | parse | parse | write | program dog | main | write");
	press(KEY_LEFT, true);
	check_rows("program cat | program dog | main | write");
	press(KEY_RIGHT, true);
	type("c");
	check_rows("program cat | program dog");
	type("e");
	check_rows("program cat | main | parse | parse | write | program dog | main | write");
	end();
}
END_TEST

/* The module of a function may become known after the function was chosen. */
START_TEST(modules_come_late)
{
	begin(false);
	press('\n', false);
	ck_assert_uint_eq(ui.foci.items[0].weight, 60 * SECOND / 100);
	PUT(mapping, .id = 1, .host = 1, .kind = MAPPING_FILE, .path = "/bin/pets");
	take();
	ck_assert_uint_eq(ui.foci.items[0].weight, 60 * SECOND / 100);
	ck_assert_str_eq(top_ui_row(&ui)->name, "parse");
	end();
}
END_TEST

START_TEST(any_keys)
{
	static const unsigned int codes[] = {KEY_UP,	KEY_DOWN, KEY_PPAGE,	KEY_NPAGE,
					     KEY_HOME,	KEY_END,  KEY_LEFT,	KEY_RIGHT,
					     KEY_ENTER, KEY_BTAB, KEY_BACKSPACE};
	unsigned int seed = 1;

	begin(true);
	for (unsigned int i = 0; i < 20000; i++) {
		unsigned int r = (unsigned int)rand_r(&seed);

		if (r % 3)
			press(codes[r / 3 % (sizeof(codes) / sizeof(codes[0]))], true);
		else
			press(r / 3 % 128, false);
		if (ui.model.rows.count)
			ck_assert_ptr_nonnull(top_ui_row(&ui));
		ck_assert_uint_eq(ui.levels.count, ui.foci.count + 1);
	}
	end();
}
END_TEST

SUITE("top model", sorted, filtered, into_a_process_and_back, processes_by_memory,
      processes_with_one_name, functions_with_one_name, callers_and_callees,
      tree_is_opened_and_closed, modules_come_late, any_keys)
