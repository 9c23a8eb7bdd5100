// SPDX-License-Identifier: Apache-2.0
/* Convert the strokes of timeline lanes to terminal characters (canvas.h). */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/canvas.h"

/* A character and its colours; FILL_NONE is the terminal's default colour. */
struct glyph {
	char text[8];
	uint8_t front, back; /* enum fill */
};

static struct glyph make_glyph(const char *text, enum fill front, enum fill back)
{
	struct glyph g = {.front = front, .back = back};

	snprintf(g.text, sizeof(g.text), "%s", text);
	return g;
}

static struct glyph make_letter_glyph(char letter, enum fill front)
{
	return (struct glyph){.text = {letter}, .front = front};
}

static bool names_utf8(const char *locale)
{
	return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
}

static bool locale_is_utf8(void)
{
	static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (unsigned int i = 0; i < 3; i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return names_utf8(value);
	}
	return false;
}

/*
 * Return whether the terminal has 256 colours: all have, except a few old ones, known by the name
 * in $TERM. $COLORTERM overrides that name.
 */
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

static enum fill stroke_fill(const struct stroke *s)
{
	return s->level ? s->bar : s->ground;
}

static bool is_uniform_stroke(const struct stroke *s)
{
	return !s->level || s->level == STROKE_FULL;
}

/*
 * Merge two strokes into one. Its level is the mean of both levels, but 0 or STROKE_FULL only if
 * both levels are. The bar is that of the busier stroke, the ground that of the other.
 */
static struct stroke merge_strokes(const struct stroke *a, const struct stroke *b)
{
	const struct stroke *busy = a->level >= b->level ? a : b, *calm = busy == a ? b : a;
	unsigned int level = (a->level + b->level + 1u) / 2;

	if (level == STROKE_FULL && calm->level < STROKE_FULL)
		level--;
	return (struct stroke){level, busy->bar,
			       calm->ground != FILL_NONE ? calm->ground : busy->ground};
}

static uint8_t solid_fill_or_none(enum fill p)
{
	return fill_look(p)->shape == SHAPE_SOLID ? p : FILL_NONE;
}

/* Return a bar whose height is the level in eighths (1 to 7), before the colour of the ground. */
static struct glyph bar_glyph(const struct stroke *s)
{
	static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇"};
	unsigned int height = (s->level * 8u + STROKE_FULL / 2) / STROKE_FULL;

	height = height < 1 ? 1 : height > 7 ? 7 : height;
	return make_glyph(eighths[height - 1], s->bar, solid_fill_or_none(s->ground));
}

static struct glyph fill_glyph(enum fill p)
{
	static const char *const shape_texts[] = {
		[SHAPE_EMPTY] = " ", [SHAPE_DOTS] = "┈",  [SHAPE_LINE] = "─",
		[SHAPE_SOLID] = "█", [SHAPE_HATCH] = "░",
	};

	return make_glyph(shape_texts[fill_look(p)->shape], p, FILL_NONE);
}

static struct glyph halves_glyph(enum fill left, enum fill right)
{
	if (fill_look(left)->shape == SHAPE_SOLID)
		return make_glyph("▌", left, solid_fill_or_none(right));
	if (fill_look(right)->shape == SHAPE_SOLID)
		return make_glyph("▐", right, FILL_NONE);
	return fill_glyph(fill_look(left)->shape >= fill_look(right)->shape ? left : right);
}

static struct glyph block_glyph(const struct stroke *s)
{
	enum fill left = stroke_fill(&s[0]), right = stroke_fill(&s[1]);
	struct stroke both = merge_strokes(&s[0], &s[1]);

	if (is_uniform_stroke(&s[0]) && is_uniform_stroke(&s[1]))
		return left == right ? fill_glyph(left) : halves_glyph(left, right);
	return bar_glyph(&both);
}

/* Return the shade of a running thread, by level; the densest shade means running throughout. */
static struct glyph shade_glyph(const struct canvas *c, const struct stroke *s)
{
	static const char *const shades[][2] = {{":", "░"}, {"+", "▒"}, {"*", "▓"}, {"#", "█"}};
	unsigned int quarter = s->level == STROKE_FULL ? 3 : s->level * 3u / STROKE_FULL;

	return make_glyph(shades[quarter][c->utf8], s->bar, FILL_NONE);
}

/*
 * Return the character for two strokes where colours or UTF-8 are missing. A program on a CPU is
 * its letter, a capital if the CPU was busy for more than half of the time. A thread that ran for
 * more than half of the time is a shade. Other threads are the letter of their state, a capital if
 * they ran, too; states without a solid shape are a shade if the thread ran, else a line or dots
 * where the terminal has UTF-8.
 */
static struct glyph letter_glyph(const struct canvas *c, const struct stroke *s)
{
	struct stroke both = merge_strokes(&s[0], &s[1]);
	bool mostly = both.level > STROKE_FULL / 2,
	     solid = fill_look(both.ground)->shape == SHAPE_SOLID;

	if (!both.level && c->utf8 && !solid)
		return fill_glyph(both.ground);
	if (!both.level)
		return make_letter_glyph(fill_look(both.ground)->letter, both.ground);
	if (both.bar == FILL_RUNNING && solid && !mostly)
		return make_letter_glyph((char)toupper(fill_look(both.ground)->letter),
					 both.ground);
	if (both.bar == FILL_RUNNING)
		return shade_glyph(c, &both);
	return make_letter_glyph(mostly ? (char)toupper(fill_look(both.bar)->letter)
					: fill_look(both.bar)->letter,
				 both.bar);
}

static bool is_hatched_stroke(const struct stroke *s)
{
	return fill_look(stroke_fill(s))->shape == SHAPE_HATCH;
}

static struct glyph stroke_glyph(const struct canvas *c, const struct stroke *s)
{
	bool blocks = c->utf8 && c->colors != COLORS_NONE;

	/* One unknown stroke makes the character unknown, so that short losses stay visible. */
	if (is_hatched_stroke(&s[0]) || is_hatched_stroke(&s[1]))
		return blocks ? fill_glyph(FILL_UNKNOWN)
			      : make_letter_glyph(fill_look(FILL_UNKNOWN)->letter, FILL_UNKNOWN);
	return blocks ? block_glyph(s) : letter_glyph(c, s);
}

/* Write the SGR parameters of one colour. */
static void canvas_put_color(const struct canvas *c, enum fill p, bool back)
{
	unsigned int basic = fill_look(p)->basic;

	if (p == FILL_NONE)
		fprintf(c->out, "%u", back ? 49 : 39);
	else if (c->colors == COLORS_256)
		fprintf(c->out, "%u;5;%u", back ? 48 : 38, fill_look(p)->rich);
	else
		fprintf(c->out, "%u", basic + (back ? 40 : 30) + (basic >= 8 ? 60 - 8 : 0));
}

/* Change the colours from those of one glyph to those of the next. */
static void canvas_change_colors(const struct canvas *c, const struct glyph *from,
				 const struct glyph *to)
{
	bool front = from->front != to->front, back = from->back != to->back;

	if (c->colors == COLORS_NONE || (!front && !back))
		return;
	fputs("\033[", c->out);
	if (front)
		canvas_put_color(c, to->front, false);
	if (front && back)
		fputc(';', c->out);
	if (back)
		canvas_put_color(c, to->back, true);
	fputc('m', c->out);
}

void canvas_draw_lane(const struct canvas *c, const struct stroke *strokes, unsigned int columns)
{
	static const struct glyph none;
	struct glyph last = none;

	for (unsigned int i = 0; i < columns; i++) {
		struct glyph g = stroke_glyph(c, &strokes[2 * i]);

		/* A blank shows no foreground colour, so do not change that colour for it. */
		if (!strcmp(g.text, " "))
			g.front = last.front;
		canvas_change_colors(c, &last, &g);
		fputs(g.text, c->out);
		last = g;
	}
	canvas_change_colors(c, &last, &none);
}

/* A swatch of two blocks is less high than a lane, so that it does not look like part of one. */
void canvas_draw_swatch(const struct canvas *c, enum fill fill)
{
	bool busy = fill == FILL_RUNNING;
	struct stroke both[] = {
		{busy ? STROKE_FULL : 0, fill, busy ? FILL_NONE : fill},
		{busy ? STROKE_FULL : 0, fill, busy ? FILL_NONE : fill},
	};
	struct glyph none = make_glyph("", FILL_NONE, FILL_NONE), g = stroke_glyph(c, both);

	if (canvas_swatch_width(c) == 2 && fill_look(fill)->shape == SHAPE_SOLID)
		g = make_glyph("▆", fill, FILL_NONE);
	canvas_change_colors(c, &none, &g);
	for (unsigned int i = 0; i < canvas_swatch_width(c); i++)
		fputs(g.text, c->out);
	canvas_change_colors(c, &g, &none);
}

unsigned int canvas_swatch_width(const struct canvas *c)
{
	return c->colors == COLORS_NONE || !c->utf8 ? 1 : 2;
}
