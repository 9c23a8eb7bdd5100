// SPDX-License-Identifier: Apache-2.0
/*
 * Choose the colours of a flame graph: by the kind of a frame, in shades that distinguish
 * neighbours (with the hues of the page, user/view/colours.js), or by the change of a frame. All
 * colours are light, with dark text on them, for light and dark pages.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "export/svg.h"

#define SHADES 3
#define STEPS 4 /* colours for growth, and as many for shrinking */
#define STILL 0.0625 /* changes of less than this part of the largest one count as none */
#define LEGEND_BOX 12 /* px */

static const char *const fills[FLAME_KIND_COUNT][SHADES] = {
	[FLAME_ROOT] = {"#d6d8e0", "#ced1da", "#dfe0e7"},
	[FLAME_NATIVE] = {"#fac580", "#f9b371", "#fad58e"},
	[FLAME_KERNEL] = {"#96bfee", "#89bfec", "#a3c0f0"},
	[FLAME_JAVA] = {"#b2de9c", "#afda90", "#b6e2a7"},
	[FLAME_JIT] = {"#d8aeea", "#cca2e6", "#e2bbed"},
	[FLAME_PYTHON] = {"#9adfc6", "#8fdcb9", "#a6e3d2"},
	[FLAME_BROKEN] = {"#c2c2c2", "#bababa", "#c9c9c9"},
};

/* Colours from the largest decrease to the largest increase; no change in the middle. */
static const char *const changes[2 * STEPS + 1] = {
	"#5596cf", "#82b4de", "#b3d2ec", "#dbe9f6", "#f1f1f1",
	"#fde0d5", "#fbbfa8", "#f5957a", "#ea6a52",
};

void svg_put_style(FILE *out)
{
	for (int kind = 0; kind < FLAME_KIND_COUNT; kind++)
		for (int shade = 0; shade < SHADES; shade++)
			fprintf(out, ".k%d%d{fill:%s}\n", kind, shade, fills[kind][shade]);
	for (int step = 0; step < 2 * STEPS + 1; step++)
		fprintf(out, ".d%d{fill:%s}\n", step, changes[step]);
}

/* FNV-1a hash, so that a function has the same shade in every picture. */
static unsigned int svg_shade(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash >> 8) % SHADES;
}

static double svg_share_change(const struct flame *f, uint32_t node)
{
	return svg_share(f, node, FLAME_NOW) - svg_share(f, node, FLAME_BEFORE);
}

struct svg_scale svg_scale_of(const struct svg_layout *l)
{
	struct svg_scale scale = {0};

	for (size_t i = 0; i < l->flame->nodes.count; i++)
		if (l->drawn[i])
			scale.most = fmax(scale.most, fabs(svg_share_change(l->flame, i)));
	return scale;
}

/* Return the lower bound of step 1 to 4 as a part of the largest change: 1/16, 1/8, 1/4, 1/2. */
static double svg_step_bound(int step)
{
	return STILL * (double)(1 << (step - 1));
}

const char *svg_class(const struct flame *f, uint32_t node, const struct svg_scale *scale,
		      char buf[static 8])
{
	double change;
	int step = 0;

	if (!scale) {
		snprintf(buf, 8, "k%u%u", flame_kind(f, node), svg_shade(flame_name(f, node)));
		return buf;
	}
	change = svg_share_change(f, node);
	while (step < STEPS && scale->most > 0 &&
	       fabs(change) >= svg_step_bound(step + 1) * scale->most)
		step++;
	snprintf(buf, 8, "d%d", change < 0 ? STEPS - step : STEPS + step);
	return buf;
}

/* Write a box with a text; return the px to the start of the next box. */
static double svg_put_box(FILE *out, const char *class, const char *words, double x, double y)
{
	fprintf(out, "<rect class=\"%s\" x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\"/>", class,
		x, y, LEGEND_BOX, LEGEND_BOX);
	fprintf(out, "<text class=\"s\" x=\"%.0f\" y=\"%.0f\">%s</text>\n", x + LEGEND_BOX + 4,
		y + LEGEND_BOX - 2, words);
	return LEGEND_BOX + 20 + 11 * SVG_CHARACTER * (double)strlen(words);
}

static void svg_put_change_legend(FILE *out, const struct svg_scale *scale, double y)
{
	double x = SVG_MARGIN;

	for (int step = 0; step < 2 * STEPS + 1; step++) {
		int size = step < STEPS ? STEPS - step : step - STEPS;
		double points = 100 * scale->most * (size ? svg_step_bound(size) : 0);
		char class[8], words[48];

		if (size)
			snprintf(words, sizeof(words), "%s%.*f", step < STEPS ? "-" : "+",
				 points < 0.995 ? 2 : 1, points);
		else
			snprintf(words, sizeof(words), "same");
		if (step == 0)
			strcat(words, " and more");
		if (step == 2 * STEPS)
			strcat(words, " and more percentage points of all samples");
		snprintf(class, sizeof(class), "d%d", step);
		x += svg_put_box(out, class, words, x, y);
	}
}

/* Write the legend of the steps of change, or without a scale of the kinds that are drawn. */
void svg_put_legend(FILE *out, const struct svg_layout *l, const struct svg_scale *scale, double y)
{
	bool drawn[FLAME_KIND_COUNT] = {false};
	double x = SVG_MARGIN;

	if (scale) {
		svg_put_change_legend(out, scale, y);
		return;
	}
	for (size_t i = 0; i < l->flame->nodes.count; i++)
		if (l->drawn[i])
			drawn[flame_kind(l->flame, i)] = true;
	for (int kind = 0; kind < FLAME_KIND_COUNT; kind++) {
		char class[8];

		if (!drawn[kind])
			continue;
		snprintf(class, sizeof(class), "k%d0", kind);
		x += svg_put_box(out, class, flame_kind_word(kind), x, y);
	}
}
