// SPDX-License-Identifier: Apache-2.0
/* skein report --timeline: from slices and edges in a trace to the text on the terminal. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/commands.h"
#include "files.h"
#include "scene.h"
#include "suite.h"
#include "trace/trace.h"

#define MS 1000000ULL
#define START 5000000000ULL
#define AT(ms) (START + (ms)*MS)

static const struct host whole_host = {
	.id = 1, .hostname = "web-1", .cpus = 2, .start = START, .end = AT(80)};
static const struct process processes[] = {
	{.id = 1, .host = 1, .pid = 100, .comm = "web"},
	{.id = 2, .host = 1, .pid = 200, .comm = "cat"},
};
static const struct thread threads[] = {
	{1, 1, 100, START, 0, "web", 11, 0, ""},
	{2, 1, 101, START, 0, "helper", 12, 0, ""},
	{3, 2, 200, AT(30), 0, "cat", 13, 0, ""},
};
static const struct lane lanes[] = {
	{1, 1, 0, LANE_CPU, 0, "CPU 0"},   {2, 1, 0, LANE_CPU, 1, "CPU 1"},
	{11, 1, 0, LANE_THREAD, 1, "web"}, {12, 1, 0, LANE_THREAD, 2, "helper"},
	{13, 1, 0, LANE_THREAD, 3, "cat"},
};
/* Sorted by slice_order(): web runs, then waits for a lock; helper reads; cat waits to run. */
static const struct slice slices[] = {
	{START, 0, 12, STATE_DISK, 0, 0, WAIT_IO},
	{START, AT(20), 2, STATE_IDLE, 0, 0, 0},
	{AT(20), AT(30), 2, STATE_RUNNING, 2, STATE_SLEEPING, WAIT_SLEEP},
	{START, AT(40), 1, STATE_RUNNING, 1, STATE_SLEEPING, WAIT_LOCK},
	{AT(40), AT(60), 1, STATE_IDLE, 0, 0, 0},
	{AT(60), AT(80), 1, STATE_RUNNING, 3, 0, 0},
	{AT(30), AT(80), 2, STATE_IDLE, 0, 0, 0},
};
static const struct edge edges[] = {
	{AT(20), AT(20), 11, 12, EDGE_WAKEUP, 2, 0},
	{AT(30), AT(30), 12, 13, EDGE_FORK, 1, 0},
};

/* Write a trace of the above, with or without the scheduler's records. */
static void write_trace(const char *path, const struct host *host, bool scheduled)
{
	struct error err = {""};
	struct scene s = {NULL, &err, 0};

	ck_assert_msg(!trace_writer(&s.to, path, &err), "%s", err.text);
	scene_put(&s, KIND_HOST, host);
	SCENE_PUT_ALL(&s, PROCESS, processes);
	SCENE_PUT_ALL(&s, THREAD, threads);
	if (scheduled) {
		SCENE_PUT_ALL(&s, LANE, lanes);
		SCENE_PUT_ALL(&s, SLICE, slices);
		SCENE_PUT_ALL(&s, EDGE, edges);
	}
	ck_assert_msg(!s.ret && !s.to->ops->finish(s.to, &err), "%s", err.text);
	sink_free(s.to);
}

#define ARGUMENTS 8

/* Run the command. Return its output of both streams, and its status in *status. */
static char *printed(int *status, char *const *args)
{
	char *argv[ARGUMENTS + 3] = {"report", "t.skein"};
	static char text[65536];
	int argc = 2;
	FILE *f;

	while (args[argc - 2]) {
		argv[argc] = args[argc - 2];
		argc++;
	}
	setenv("LC_ALL", "C.UTF-8", 1);
	setenv("COLUMNS", "70", 1);
	setenv("TERM", "xterm-256color", 1);
	ck_assert_ptr_nonnull(freopen("out", "w", stdout));
	ck_assert_ptr_nonnull(freopen("out", "a", stderr));
	*status = report_command.run(argc, argv);
	fflush(stdout);
	fflush(stderr);
	f = fopen("out", "r");
	text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
	fclose(f);
	return text;
}

#define PRINTED(status, ...) printed(status, (char *const[]){"--timeline", __VA_ARGS__, NULL})

/* Return the line that contains words, as far as it fits. */
static const char *line_of(const char *text, const char *words)
{
	static char line[1024];
	const char *at = strstr(text, words);

	ck_assert_msg(at != NULL, "no '%s' in:\n%s", words, text);
	while (at > text && at[-1] != '\n')
		at--;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
	return line;
}

static void begin(void)
{
	files_begin();
	write_trace("t.skein", &whole_host, true);
}

START_TEST(whole)
{
	int status;
	char *text;

	begin();
	text = PRINTED(&status, "--color", "never");
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(line_of(text, "Timeline"),
			 "Timeline   web-1, 80 ms; a character is 1.54 ms");
	ck_assert_str_eq(line_of(text, "CPU 0"),
			 "CPU 0         75% AAAAAAAAAAAAAAAAAAAAAAAAAAa┈┈┈┈┈┈┈┈┈┈┈bBBBBBBBBBBBBB");
	ck_assert_str_eq(line_of(text, "CPU 1"),
			 "CPU 1         13% ┈┈┈┈┈┈┈┈┈┈┈┈aAAAAAAA┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈┈");
	ck_assert_str_eq(line_of(text, "  web 100"),
			 "  web 100     50% ▓████████████████████████▓Llllllllllllllllllllllllll");
	ck_assert_str_eq(line_of(text, "helper"),
			 "  helper 101  13% iiiiiiiiiiiiI▓█████▒────────────────────────────────");
	ck_assert_str_eq(line_of(text, "cat 200"),
			 "b cat 200     25%                    rrrrrrrrrrrrrrrrrrrR▓███████████▓");
}
END_TEST

/* Return whether a text has a character as a word, a letter as a capital or not. */
static bool has_sign(const char *text, const char *sign, size_t size)
{
	for (; *text; text++)
		if (*text == ' ' && !strncasecmp(text + 1, sign, size) &&
		    strchr(" :", text[1 + size]))
			return true;
	return false;
}

/* Check that each character on the lanes is in the legends or the line of signs. */
static void check_signs(const char *text)
{
	unsigned int found = 0;
	char legend[8192] = "";

	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		if (strncmp(line, "Timeline", 8) != 0 &&
		    (!memmem(line, strcspn(line, "\n"), "% ", 2) || !strncmp(line, "Signs", 5)))
			strncat(legend, line, strcspn(line, "\n") + 1);
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1) {
		size_t length = strcspn(line, "\n");
		const char *at = memmem(line, length, "% ", 2);

		for (at = at && *line != 'S' ? at + 2 : line + length; at < line + length;) {
			size_t size = (*at & 0x80) ? 3 : 1; /* U+2500 and the like */

			ck_assert_msg(
				has_sign(*at == ' ' ? strstr(legend, "blank") : legend, at, size),
				"no '%.*s' in:\n%s", (int)size, at, text);
			at += size;
			found++;
		}
	}
	ck_assert_uint_gt(found, 100);
}

START_TEST(every_sign_is_explained)
{
	int status;
	char *text;

	begin();
	text = PRINTED(&status, "--color", "never");
	check_signs(text);
	ck_assert_str_eq(line_of(text, "b cat  "), "                  a web  b cat  ┈ idle");
	ck_assert_ptr_nonnull(strstr(text, "letter before a name: its program; small letter of "));
	ck_assert_ptr_nonnull(strstr(text, "░ ▒ ▓: ran for"));
	text = PRINTED(&status, "--color", "always");
	ck_assert_ptr_nonnull(strstr(text, "height of a bar"));
	ck_assert_ptr_null(strstr(text, "capital"));
}
END_TEST

START_TEST(zoomed)
{
	int status;
	char *text;

	begin();
	text = PRINTED(&status, "--from", "19ms", "--to", "31ms");
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(line_of(text, "Timeline"),
			 "Timeline   web-1, 19 ms to 31 ms of 80 ms; a character is 231 us");
	ck_assert_str_eq(line_of(text, "CPU 0"),
			 "CPU 0        100% AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
	ck_assert_str_eq(line_of(text, "helper"),
			 "  helper 101  83% iiii▓██████████████████████████████████████████▓────");
	ck_assert_str_eq(line_of(text, "cat 200"),
			 "  cat 200      0%                                                rrrrr");
}
END_TEST

START_TEST(coloured)
{
	int status;
	char *text;

	begin();
	text = PRINTED(&status, "--color", "always", "--pid", "200");
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(line_of(text, "CPU 0"),
			 "CPU 0       75% \033[38;5;246m▇█████████████████████████▇▁"
			 "\033[38;5;245m┈┈┈┈┈┈┈┈┈┈┈┈\033[38;5;74m▄████████████▇\033[39m");
	ck_assert_str_eq(line_of(text, "cat 200"),
			 "\033[38;5;74m▆▆\033[39m \033[1mcat 200\033[0m  25%                     "
			 "\033[38;5;220m████████████████████\033[38;5;77;48;5;220m▄\033[49m"
			 "████████████▇\033[39m");
	ck_assert_ptr_null(strstr(text, "web 100"));
}
END_TEST

/* The trace of a killed recorder has no end; the report takes the last record's. */
START_TEST(unfinished)
{
	struct host killed = whole_host;
	int status;
	char *text;

	files_begin();
	killed.end = 0;
	write_trace("t.skein", &killed, true);
	text = PRINTED(&status, "--from", "19ms", "--to", "31ms");
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(line_of(text, "Timeline"),
			 "Timeline   web-1, 19 ms to 31 ms of 80 ms; a character is 231 us");
	line_of(text, "Unfinished the recording still runs, or its recorder was killed");
}
END_TEST

static void expect_failure(int expected, const char *words, char *const *args)
{
	int status;
	char *text = printed(&status, args);

	ck_assert_int_eq(status, expected);
	ck_assert_msg(strstr(text, words) != NULL, "%s", text);
	/* one line, and no drawing */
	ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}

#define FAILS(status, words, ...) \
	expect_failure(status, words, (char *const[]){"--timeline", __VA_ARGS__, NULL})

START_TEST(mistakes_are_named)
{
	begin();
	FAILS(1, "over after 80 ms", "--from", "80ms");
	FAILS(2, "--timeline", "--by", "thread");
	FAILS(2, "--timeline", "--tree");
	FAILS(2, "--timeline", "--sched");
	FAILS(2, "--to lies before", "--from", "2ms", "--to", "1ms");
	FAILS(1, "are the same", "--from", "2ms", "--to", "2ms");
	FAILS(1, "4711", "--pid", "4711");
	write_trace("t.skein", &whole_host, false);
	FAILS(1, "the trace has no scheduler records", "--color", "never");
}
END_TEST

SUITE("report timeline", whole, every_sign_is_explained, zoomed, coloured, unfinished,
      mistakes_are_named)
