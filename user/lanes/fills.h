/* SPDX-License-Identifier: Apache-2.0 */
/* How the states of lanes are drawn, in a terminal and on the page. */
#ifndef SKEIN_LANES_FILLS_H
#define SKEIN_LANES_FILLS_H

#include <stdbool.h>
#include <stdint.h>

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
	X(GIL_HELD, SOLID, 'y', 137, 3, "GIL held, others waited") \
	/* of rows of interrupts */ \
	X(INTERRUPT, SOLID, 'v', 202, 9, "interrupt") \
	X(SOFTIRQ, SOLID, 'q', 38, 6, "softirq") \
	X(COUNTER, SOLID, '+', 37, 6, "") /* the line of a counter */

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

/* How a fill is drawn where nothing else of the lane is in its way. */
enum fill_shape { SHAPE_EMPTY, SHAPE_DOTS, SHAPE_LINE, SHAPE_SOLID, SHAPE_HATCH };

struct fill_look {
	enum fill_shape shape;
	char letter;
	uint8_t rich, basic; /* colours of terminals that have 256, or 16 */
	const char *word; /* in the legend; "" if the fill has none */
};

/* Return the row of a fill in FILLS, static. */
const struct fill_look *fill_look(enum fill fill);
/* Return whether a fill is drawn under a bar that is less high than the lane. */
bool fill_is_solid(enum fill fill);
/* Return the colour of a fill as 0xrrggbb: that of terminals with 256 colours. */
uint32_t fill_rgb(enum fill fill);

#endif
