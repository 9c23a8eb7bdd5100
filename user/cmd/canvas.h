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
#include <stdio.h>

#include "cmd/table.h"
#include "lanes/fills.h"

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

#endif
