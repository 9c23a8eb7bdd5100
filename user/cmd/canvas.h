/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draw the lanes of a timeline as text. A lane is a row of strokes, two of them in each character.
 * On a terminal with colours and UTF-8, two strokes that are each in one state throughout are drawn
 * as the halves of the character; otherwise the character is a bar whose height is the busy share
 * of both, before the colour of their other state. On other terminals the character is a letter or
 * a shade. A character is the sign for unknown if either of its strokes is unknown.
 */
#ifndef SKEIN_CMD_CANVAS_H
#define SKEIN_CMD_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cmd/table.h"

/*
 * All states and programs that a stroke can show: X(NAME, shape, letter on terminals without
 * colours or UTF-8, colour of 256, colour of 16, "word in the legend"). The colours have middle
 * lightness, so that they are visible on black and on white; running and runnable threads are
 * brighter than waiting ones.
 */
#define FILLS(X) \
	X(NONE, EMPTY, ' ', 0, 0, "") \
	X(IDLE, DOTS, '.', 245, 8, "idle") \
	X(RUNNING, SOLID, '#', 77, 10, "running") \
	X(RUNNABLE, SOLID, 'r', 220, 11, "runnable") \
	X(LOCK, SOLID, 'l', 131, 1, "lock") \
	X(IO, SOLID, 'i', 67, 4, "I/O") \
	X(FAULT, SOLID, 'f', 133, 5, "page fault") \
	X(PIPE, SOLID, 'p', 66, 6, "pipe or socket") \
	X(CHILD, SOLID, 'c', 101, 7, "child") \
	X(THROTTLED, SOLID, 't', 166, 9, "throttled") \
	X(STOPPED, SOLID, 's', 96, 13, "stopped") \
	X(MONITOR, SOLID, 'm', 161, 9, "Java monitor") \
	X(OBJECT_WAIT, SOLID, 'w', 103, 4, "Object.wait") \
	X(PARK, SOLID, 'k', 95, 5, "park") \
	X(SAFEPOINT, SOLID, 'x', 199, 13, "safepoint") \
	X(GIL, SOLID, 'g', 172, 3, "GIL") \
	X(OTHER, SOLID, 'o', 243, 8, "other wait") \
	X(SLEEP, LINE, '-', 245, 8, "sleep") \
	X(POLL, DOTS, '.', 245, 8, "poll") \
	X(UNKNOWN, HATCH, '?', 203, 9, "unknown") \
	X(PROGRAM_A, SOLID, 'a', 74, 4, "") \
	X(PROGRAM_B, SOLID, 'b', 173, 3, "") \
	X(PROGRAM_C, SOLID, 'c', 140, 5, "") \
	X(PROGRAM_D, SOLID, 'd', 107, 2, "") \
	X(PROGRAM_E, SOLID, 'e', 168, 1, "") \
	X(PROGRAM_F, SOLID, 'f', 79, 6, "") \
	X(PROGRAM_G, SOLID, 'g', 179, 11, "") \
	X(PROGRAM_H, SOLID, 'h', 105, 12, "") \
	X(OTHERS, SOLID, 'z', 246, 8, "others") \
	/* of rows of runtimes; their safepoints are drawn as the waits of threads for them */ \
	X(COLLECTION, SOLID, 'j', 160, 9, "stopped for a collection") \
	X(REACHING, SOLID, 'u', 214, 11, "reaching a safepoint") \
	X(PHASE, SOLID, 'n', 71, 2, "concurrent phase") \
	X(GIL_HELD, SOLID, 'y', 137, 3, "GIL held, others waited")

#define FILL_ENUM(NAME, shape, letter, rich, basic, word) FILL_##NAME,
enum fill { FILLS(FILL_ENUM) FILL_COUNT };
#undef FILL_ENUM

#define PROGRAM_FILLS (FILL_OTHERS - FILL_PROGRAM_A)

#define STROKE_FULL 127

/* A short part of a lane, half a character wide. */
struct stroke {
	uint8_t level; /* 0: not busy at all; STROKE_FULL: busy throughout */
	uint8_t bar; /* enum fill of the busy part */
	uint8_t ground; /* enum fill of the rest */
};

enum canvas_colors { COLORS_NONE, COLORS_16, COLORS_256 };

struct canvas {
	FILE *out;
	enum canvas_colors colors;
	bool utf8; /* the locale in the environment is a UTF-8 one */
};

/* Set up the canvas of a screen, from the terminal and the locale in the environment. */
void canvas_open(struct canvas *c, const struct screen *s);

/* Draw a lane of the given number of columns, with two strokes per column. */
void canvas_draw_lane(const struct canvas *c, const struct stroke *strokes, unsigned int columns);

/*
 * Draw a swatch of the colour or letter of a fill, for titles and legends. A swatch is
 * canvas_swatch_width() columns wide: 2, or 1 without colours or without UTF-8.
 */
void canvas_draw_swatch(const struct canvas *c, enum fill fill);
unsigned int canvas_swatch_width(const struct canvas *c);

/* Return whether a fill is drawn under a bar that is less high than the lane. */
bool canvas_fill_is_solid(enum fill fill);
/* Return the word of a fill in FILLS, static; "" if the fill has none. */
const char *canvas_fill_word(enum fill fill);

#endif
