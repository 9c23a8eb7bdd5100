// SPDX-License-Identifier: Apache-2.0
/* Convert the strokes of timeline lanes to terminal characters (canvas.h). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/canvas.h"

enum shape { SHAPE_EMPTY, SHAPE_DOTS, SHAPE_LINE, SHAPE_SOLID, SHAPE_HATCH };

static const struct paint_look {
	enum shape shape;
	char letter;
	uint8_t rich, basic;
	const char *word;
} looks[PAINT_COUNT] = {
#define PAINT_LOOK(NAME, shape, letter, rich, basic, word) \
	[PAINT_##NAME] = {SHAPE_##shape, letter, rich, basic, word},
	PAINTS(PAINT_LOOK)
#undef PAINT_LOOK
};

/* A character and its colours; PAINT_NONE is the terminal's default colour. */
struct glyph {
	char text[8];
	uint8_t front, back; /* enum paint */
};

static struct glyph glyph_of(const char *text, enum paint front, enum paint back)
{
	struct glyph g = {.front = front, .back = back};

	snprintf(g.text, sizeof(g.text), "%s", text);
	return g;
}

static struct glyph letter_of(char letter, enum paint front)
{
	return (struct glyph){.text = {letter}, .front = front};
}

static bool says_utf8(const char *locale)
{
	return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

static bool locale_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (unsigned int i = 0; i < 3; i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return says_utf8(value);
	}
	return false;
}

/* Terminals with only 16 colours are rare and old; recognize them by their names. */
static bool has_256_colors(void)
{
	static const char *const old[] = {"ansi",  "linux",  "vt100",
					  "vt220", "cygwin", "xterm-16color"};
	const char *term = getenv("TERM"), *depth = getenv("COLORTERM");

	for (unsigned int i = 0; term && i < sizeof(old) / sizeof(old[0]); i++)
		if (!strcmp(term, old[i]))
			return depth && *depth;
	return true;
}

void canvas_open(struct canvas *c, const struct screen *s)
{
	c->out = s->out;
	c->utf8 = locale_is_utf8();
	c->colors = !s->color ? COLORS_NONE : has_256_colors() ? COLORS_256 : COLORS_16;
}

static enum paint shown(const struct stroke *s)
{
	return s->level ? s->bar : s->ground;
}

static bool pure(const struct stroke *s)
{
	return !s->level || s->level == STROKE_FULL;
}

/*
 * Merge two strokes into one: its level is the mean of both, but it is neither quite idle nor
 * quite busy unless both strokes are.
 */
static struct stroke merged(const struct stroke *a, const struct stroke *b)
{
	const struct stroke *busy = a->level >= b->level ? a : b, *calm = busy == a ? b : a;
	unsigned int level = (a->level + b->level + 1u) / 2;

	if (level == STROKE_FULL && calm->level < STROKE_FULL)
		level--;
	return (struct stroke){level, busy->bar,
			       calm->ground != PAINT_NONE ? calm->ground : busy->ground};
}

static uint8_t solid_or_none(enum paint p)
{
	return looks[p].shape == SHAPE_SOLID ? p : PAINT_NONE;
}

/* Draw a bar whose height is the level in eighths, over the ground. */
static struct glyph bar(const struct stroke *s)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇"};
	unsigned int height = (s->level * 8u + STROKE_FULL / 2) / STROKE_FULL;

	height = height < 1 ? 1 : height > 7 ? 7 : height;
	return glyph_of(eighths[height - 1], s->bar, solid_or_none(s->ground));
}

static struct glyph one_paint(enum paint p)
{
	static const char *const fills[] = {
		[SHAPE_EMPTY] = " ", [SHAPE_DOTS] = "┈",  [SHAPE_LINE] = "─",
		[SHAPE_SOLID] = "█", [SHAPE_HATCH] = "░",
	};

	return glyph_of(fills[looks[p].shape], p, PAINT_NONE);
}

static struct glyph two_halves(enum paint left, enum paint right)
{
	if (looks[left].shape == SHAPE_SOLID)
		return glyph_of("▌", left, solid_or_none(right));
	if (looks[right].shape == SHAPE_SOLID)
		return glyph_of("▐", right, PAINT_NONE);
	return one_paint(looks[left].shape >= looks[right].shape ? left : right);
}

static struct glyph in_blocks(const struct stroke *s)
{
	enum paint left = shown(&s[0]), right = shown(&s[1]);
	struct stroke both = merged(&s[0], &s[1]);

	if (pure(&s[0]) && pure(&s[1]))
		return left == right ? one_paint(left) : two_halves(left, right);
	return bar(&both);
}

/* Show running without colours, by shades; the full block means running throughout. */
static struct glyph shade(const struct canvas *c, const struct stroke *s)
{
	static const char *const shades[][2] = {{":", "░"}, {"+", "▒"}, {"*", "▓"}, {"#", "█"}};
	unsigned int quarter = s->level == STROKE_FULL ? 3 : s->level * 3u / STROKE_FULL;

	return glyph_of(shades[quarter][c->utf8], s->bar, PAINT_NONE);
}

/*
 * Return a letter for the state; a capital means busy: more than half of the time for a program
 * on a CPU lane, at any time for a waiting thread.
 */
static struct glyph in_letters(const struct canvas *c, const struct stroke *s)
{
	struct stroke both = merged(&s[0], &s[1]);
	bool mostly = both.level > STROKE_FULL / 2, solid = looks[both.ground].shape == SHAPE_SOLID;

	if (!both.level && c->utf8 && !solid)
		return one_paint(both.ground);
	if (!both.level)
		return letter_of(looks[both.ground].letter, both.ground);
	if (both.bar == PAINT_RUNNING && solid && !mostly)
		return letter_of((char)toupper(looks[both.ground].letter), both.ground);
	if (both.bar == PAINT_RUNNING)
		return shade(c, &both);
	return letter_of(mostly ? (char)toupper(looks[both.bar].letter) : looks[both.bar].letter,
			 both.bar);
}

static bool hatched(const struct stroke *s)
{
	return looks[shown(s)].shape == SHAPE_HATCH;
}

static struct glyph glyph_for(const struct canvas *c, const struct stroke *s)
{
	bool blocks = c->utf8 && c->colors != COLORS_NONE;

	/* Draw a cell with any lost time as lost, so that losses are never understated. */
	if (hatched(&s[0]) || hatched(&s[1]))
		return blocks ? one_paint(PAINT_UNKNOWN)
			      : letter_of(looks[PAINT_UNKNOWN].letter, PAINT_UNKNOWN);
	return blocks ? in_blocks(s) : in_letters(c, s);
}

/* Write the SGR parameters of one colour. */
static void put_color(const struct canvas *c, enum paint p, bool back)
{
	unsigned int basic = looks[p].basic;

	if (p == PAINT_NONE)
		fprintf(c->out, "%u", back ? 49 : 39);
	else if (c->colors == COLORS_256)
		fprintf(c->out, "%u;5;%u", back ? 48 : 38, looks[p].rich);
	else
		fprintf(c->out, "%u", basic + (back ? 40 : 30) + (basic >= 8 ? 60 - 8 : 0));
}

/* Change the colours from those of one glyph to those of the next. */
static void change_colors(const struct canvas *c, const struct glyph *from, const struct glyph *to)
{
	bool front = from->front != to->front, back = from->back != to->back;

	if (c->colors == COLORS_NONE || (!front && !back))
		return;
	fputs("\033[", c->out);
	if (front)
		put_color(c, to->front, false);
	if (front && back)
		fputc(';', c->out);
	if (back)
		put_color(c, to->back, true);
	fputc('m', c->out);
}

void canvas_lane(const struct canvas *c, const struct stroke *strokes, unsigned int columns)
{
	static const struct glyph none;
	struct glyph last = none;

	for (unsigned int i = 0; i < columns; i++) {
		struct glyph g = glyph_for(c, &strokes[2 * i]);

		/* A blank has no visible foreground, so keep the last one. */
		if (!strcmp(g.text, " "))
			g.front = last.front;
		change_colors(c, &last, &g);
		fputs(g.text, c->out);
		last = g;
	}
	change_colors(c, &last, &none);
}

/* The sample is less high than a lane, so that a legend does not merge visually with a lane. */
void canvas_key(const struct canvas *c, enum paint paint)
{
	bool busy = paint == PAINT_RUNNING;
	struct stroke both[] = {
		{busy ? STROKE_FULL : 0, paint, busy ? PAINT_NONE : paint},
		{busy ? STROKE_FULL : 0, paint, busy ? PAINT_NONE : paint},
	};
	struct glyph none = glyph_of("", PAINT_NONE, PAINT_NONE), g = glyph_for(c, both);

	if (canvas_key_width(c) == 2 && looks[paint].shape == SHAPE_SOLID)
		g = glyph_of("▆", paint, PAINT_NONE);
	change_colors(c, &none, &g);
	for (unsigned int i = 0; i < canvas_key_width(c); i++)
		fputs(g.text, c->out);
	change_colors(c, &g, &none);
}

unsigned int canvas_key_width(const struct canvas *c)
{
	return c->colors == COLORS_NONE || !c->utf8 ? 1 : 2;
}

const char *paint_word(enum paint paint)
{
	return looks[paint].word;
}
