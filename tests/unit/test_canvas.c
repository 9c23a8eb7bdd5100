// SPDX-License-Identifier: Apache-2.0
/* Test strokes as characters: with 256 and 16 colours, without colours, and in ASCII. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cmd/canvas.h"
#include "suite.h"

#define FULL(fill) \
	{ \
		STROKE_FULL, FILL_##fill, FILL_NONE \
	}
#define ONLY(fill) \
	{ \
		0, FILL_NONE, FILL_##fill \
	}
#define PART(level, bar, ground) \
	{ \
		level, FILL_##bar, FILL_##ground \
	}

static char *drawn(enum canvas_colors colors, bool utf8, const struct stroke *strokes,
		   unsigned int columns)
{
	char *text = NULL;
	size_t size = 0;
	struct canvas c = {open_memstream(&text, &size), colors, utf8};

	canvas_draw_lane(&c, strokes, columns);
	fclose(c.out);
	return text;
}

static void expect(enum canvas_colors colors, bool utf8, const struct stroke *strokes,
		   unsigned int columns, const char *expected)
{
	char *text = drawn(colors, utf8, strokes, columns);

	ck_assert_str_eq(text, expected);
	free(text);
}

/*
 * A thread: ran, ran and slept, slept, lock and I/O, a little running and I/O, polled, did not
 * exist, runnable.
 */
static const struct stroke thread[] = {
	FULL(RUNNING),	FULL(RUNNING), FULL(RUNNING),
	ONLY(SLEEP),	ONLY(SLEEP),   ONLY(SLEEP),
	ONLY(LOCK),	ONLY(IO),      PART(10, RUNNING, IO),
	ONLY(IO),	ONLY(POLL),    ONLY(POLL),
	ONLY(NONE),	ONLY(NONE),    ONLY(NONE),
	ONLY(RUNNABLE),
};
/* A CPU: one program, two programs, one for part of the time, idle. */
static const struct stroke cpu[] = {
	FULL(PROGRAM_A),	   FULL(PROGRAM_A),	      FULL(PROGRAM_A), FULL(PROGRAM_B),
	PART(64, PROGRAM_B, IDLE), PART(20, PROGRAM_C, IDLE), ONLY(IDLE),      ONLY(IDLE),
};

START_TEST(colours)
{
	expect(COLORS_256, true, thread, 8,
	       "\033[38;5;77m█▌\033[38;5;245m─\033[38;5;131;48;5;67m▌\033[38;5;77m▁"
	       "\033[38;5;245;49m┈ \033[38;5;220m▐\033[39m");
	expect(COLORS_16, true, thread, 8,
	       "\033[92m█▌\033[90m─\033[31;44m▌\033[92m▁\033[90;49m┈ \033[93m▐\033[39m");
	expect(COLORS_256, true, cpu, 4,
	       "\033[38;5;74m█\033[48;5;173m▌\033[38;5;173;49m▃\033[38;5;245m┈\033[39m");
}
END_TEST

START_TEST(letters)
{
	expect(COLORS_NONE, true, thread, 8, "█▒─iI┈ r");
	expect(COLORS_NONE, false, thread, 8, "#+-iI. r");
	expect(COLORS_NONE, true, cpu, 4, "AAb┈");
	expect(COLORS_NONE, false, cpu, 4, "AAb.");
	/* letters for a terminal with colours but without block characters */
	expect(COLORS_16, false, cpu, 4, "\033[34mAA\033[33mb\033[90m.\033[39m");
}
END_TEST

/* A nearly idle lane is not drawn as idle, and a nearly busy lane not as busy. */
START_TEST(nothing_rounds_away)
{
	static const struct stroke little[] = {PART(1, RUNNING, SLEEP), ONLY(SLEEP)};
	static const struct stroke much[] = {PART(126, RUNNING, NONE), FULL(RUNNING)};

	expect(COLORS_NONE, true, little, 1, "░");
	expect(COLORS_NONE, true, much, 1, "▓");
	expect(COLORS_256, true, little, 1, "\033[38;5;77m▁\033[39m");
	expect(COLORS_256, true, much, 1, "\033[38;5;77m▇\033[39m");
}
END_TEST

START_TEST(what_is_lost_is_hatched)
{
	static const struct stroke lost[] = {ONLY(UNKNOWN), FULL(RUNNING), FULL(RUNNING),
					     ONLY(UNKNOWN)};

	expect(COLORS_NONE, true, lost, 2, "??");
	expect(COLORS_NONE, false, lost, 2, "??");
	expect(COLORS_256, true, lost, 2, "\033[38;5;203m░░\033[39m");
}
END_TEST

/* Any two strokes make one character of one column, which is ASCII in the plain mode. */
START_TEST(every_pair)
{
	static const uint8_t levels[] = {0, 1, 63, 64, 126, STROKE_FULL};
	const unsigned int all = sizeof(levels) * FILL_COUNT;

	for (unsigned int i = 0; i < all * all; i++) {
		unsigned int a = i / all, b = i % all;
		struct stroke pair[] = {
			{levels[a / FILL_COUNT], a % FILL_COUNT, b % FILL_COUNT},
			{levels[b / FILL_COUNT], b % FILL_COUNT, a % FILL_COUNT},
		};
		char *plain = drawn(COLORS_NONE, false, pair, 1);
		char *blocks = drawn(COLORS_NONE, true, pair, 1);

		ck_assert_uint_eq(strlen(plain), 1);
		ck_assert(*plain >= ' ' && *plain < 0x7f);
		ck_assert_uint_eq(text_width(blocks), 1);
		free(plain);
		free(blocks);
	}
}
END_TEST

static struct canvas opened(const char *locale, const char *term)
{
	struct screen s = {.out = stdout, .width = 80, .color = true};
	struct canvas c;

	unsetenv("LC_ALL");
	unsetenv("LC_CTYPE");
	unsetenv("COLORTERM");
	setenv("LANG", locale, 1);
	setenv("TERM", term, 1);
	canvas_open(&c, &s);
	return c;
}

START_TEST(the_environment_decides)
{
	ck_assert(opened("de_DE.UTF-8", "xterm").utf8);
	ck_assert(opened("C.utf8", "xterm").utf8);
	ck_assert(!opened("C", "xterm").utf8);
	ck_assert(!opened("", "xterm").utf8);
	ck_assert_int_eq(opened("C", "xterm").colors, COLORS_256);
	ck_assert_int_eq(opened("C", "linux").colors, COLORS_16);
}
END_TEST

SUITE("canvas", colours, letters, nothing_rounds_away, what_is_lost_is_hatched, every_pair,
      the_environment_decides)
