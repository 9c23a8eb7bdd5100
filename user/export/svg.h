/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a flame graph picture; for svg*.c only. */
#ifndef SKEIN_EXPORT_SVG_H
#define SKEIN_EXPORT_SVG_H

#include "export/flame.h"

#define SVG_MARGIN 10 /* px around everything */
#define SVG_ROW 17 /* px from frame to frame */
#define SVG_BOX 16 /* px of a frame's height */
#define SVG_CHARACTER 0.602 /* width of a character in monospace fonts, relative to the font size \
			     */

/* Which frames are drawn, and where. */
struct svg_layout {
	const struct flame *flame;
	double scale; /* px per sample */
	uint64_t *begins; /* by node: number of samples to the left of the node */
	bool *drawn; /* by node; the ancestors of a drawn node are drawn, too */
	uint32_t deepest; /* depth of the row farthest from the root */
	uint64_t omitted; /* number of frames that have samples and are not drawn */
	uint64_t cut; /* number of samples whose stacks continue into omitted frames */
};

/*
 * Compute the layout; width is the width of the root in px. Return 0 or -ENOMEM. Free *out with
 * svg_layout_free(), which accepts zeroed memory.
 */
int svg_layout_choose(struct svg_layout *out, const struct flame *f, double width);
void svg_layout_free(struct svg_layout *l);
/* Return the width of a frame in px. */
double svg_width(const struct svg_layout *l, uint32_t node);

/* Return the share of a node in all samples of a profile, 0 to 1; 0 if there are no samples. */
double svg_share(const struct flame *f, uint32_t node, enum flame_side side);

/* Scale of the colours by which changes of shares are shown. */
struct svg_scale {
	double most; /* largest change of a share among the drawn frames; 0 if none */
};

struct svg_scale svg_scale_of(const struct svg_layout *l);

/* Write the content of the style element: a class for each colour. */
void svg_put_style(FILE *out);
/* Write the class of a frame to buf: by its kind, or with a scale by its change. Return buf. */
const char *svg_class(const struct flame *f, uint32_t node, const struct svg_scale *scale,
		      char buf[static 8]);
/* Write one row of boxes with texts, its top at y. scale is NULL, or the scale of changes. */
void svg_put_legend(FILE *out, const struct svg_layout *l, const struct svg_scale *scale, double y);

/* Write lines about a profile, each into a buffer: origin and time; samples; what is missing. */
#define SVG_LINE 512
void svg_show_host(const struct profile *p, char buf[static SVG_LINE]);
void svg_show_samples(const struct profile *p, const struct export_options *o,
		      char buf[static SVG_LINE]);
void svg_show_missing(const struct profile *p, char buf[static SVG_LINE]);

#endif
