/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a flame graph as one picture: for svg*.c only. */
#ifndef SKEIN_EXPORT_SVG_H
#define SKEIN_EXPORT_SVG_H

#include "export/flame.h"

#define SVG_MARGIN 10 /* px around everything */
#define SVG_ROW 17 /* px from frame to frame */
#define SVG_BOX 16 /* px of a frame's height */
#define SVG_CHARACTER 0.602 /* width of one in fonts of fixed width, of their size */

/* Which frames are drawn, and where. */
struct svg_layout {
	const struct flame *flame;
	double scale; /* px per sample */
	uint64_t *begins; /* by node: samples to the left of it */
	bool *drawn; /* by node; those above a drawn one are drawn, too */
	uint32_t deepest; /* depth of the topmost row */
	uint64_t omitted; /* frames that are too small */
	uint64_t cut; /* samples whose stack goes on into one of these */
};

/* width: px of the root. 0 or -ENOMEM; free it with svg_layout_free(). */
int svg_layout(struct svg_layout *ret, const struct flame *f, double width);
void svg_layout_free(struct svg_layout *l);
/* How wide a frame is, px. */
double svg_width(const struct svg_layout *l, uint32_t node);

/* The part of all samples that a node has on a side, 0 to 1; 0 where there are none. */
double svg_share(const struct flame *f, uint32_t node, enum flame_side side);

/* How changes are coloured. */
struct svg_scale {
	double most; /* the largest change of a share among the frames that are drawn; 0: none */
};

struct svg_scale svg_scale_of(const struct svg_layout *l);

/* The words for the style element: a class for each colour. */
void svg_put_style(FILE *out);
/* The class of a frame: by what it is, or with a scale by how it changed. */
const char *svg_class(const struct flame *f, uint32_t node, const struct svg_scale *scale,
		      char buf[static 8]);
/* One row of boxes with words, its top at y; scale: NULL, or that of changes. */
void svg_put_legend(FILE *out, const struct svg_layout *l, const struct svg_scale *scale, double y);

/*
 * Lines about a profile, each in a buffer: who, when and where; how much of what; what is
 * missing.
 */
#define SVG_LINE 512
void svg_show_host(const struct profile *p, char buf[static SVG_LINE]);
void svg_show_samples(const struct profile *p, const struct export_options *o,
		      char buf[static SVG_LINE]);
void svg_show_missing(const struct profile *p, char buf[static SVG_LINE]);

#endif
