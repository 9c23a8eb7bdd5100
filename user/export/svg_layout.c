// SPDX-License-Identifier: Apache-2.0
/*
 * Choose the frames of a flame graph that are drawn. Viewers and mail servers limit the size of a
 * picture, so frames too small to see are left out, as are the ends of deep stacks with few
 * samples; of the others, the largest are drawn until the limit is reached.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/xml.h"
#include "export/svg.h"

#define FRAME_WIDTH_MIN 0.5 /* px of a frame */
#define BYTES_MAX 900000 /* approximate size of all frames in the file */
#define FRAME_BYTES 150 /* of a frame without its name */
#define LOW_ROWS 30 /* rows drawn even if they are nearly empty */
/*
 * Least share of all samples in a row at a depth of more than LOW_ROWS. Rows with less would leave
 * most of the picture blank.
 */
#define ROW_SHARE_MIN 0.02
#define DEPTH_MAX 2000 /* rows that browsers still draw */

double svg_share(const struct flame *f, uint32_t node, enum flame_side side)
{
	uint64_t all = f->nodes.items[0].count[side];

	return all ? (double)f->nodes.items[node].count[side] / (double)all : 0;
}

double svg_width(const struct svg_layout *l, uint32_t node)
{
	return (double)l->flame->nodes.items[node].count[FLAME_NOW] * l->scale;
}

/* Set begins of all frames; parents come before their children in nodes. */
static void place_frames(struct svg_layout *l)
{
	const struct flame_node *nodes = l->flame->nodes.items;

	for (size_t i = 0; i < l->flame->nodes.count; i++) {
		uint64_t begin = l->begins[i];

		for (uint32_t at = nodes[i].first_child; at != FLAME_NONE;
		     at = nodes[at].next_sibling) {
			l->begins[at] = begin;
			begin += nodes[at].count[FLAME_NOW];
		}
	}
}

/*
 * Order larger nodes first, and among equal ones those nearer to the root, so that parents
 * precede their children.
 */
static int by_samples_and_depth(const void *a, const void *b, void *flame)
{
	const struct flame_node *nodes = ((const struct flame *)flame)->nodes.items;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct flame_node *x = &nodes[i], *y = &nodes[k];

	if (x->count[FLAME_NOW] != y->count[FLAME_NOW])
		return x->count[FLAME_NOW] < y->count[FLAME_NOW] ? 1 : -1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (i > k) - (i < k);
}

/* Estimate the size of a frame; its name is in the tooltip and, if there is room, on the frame. */
static size_t estimate_frame_bytes(const struct flame *f, uint32_t node)
{
	return FRAME_BYTES + 2 * xml_size(flame_name(f, node)) + xml_size(flame_module(f, node));
}

static void draw_largest(struct svg_layout *l, const uint32_t *order, size_t count)
{
	size_t bytes = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t node = order[i];

		if (l->flame->nodes.items[node].depth > l->deepest)
			continue;
		bytes += estimate_frame_bytes(l->flame, node);
		if (bytes > BYTES_MAX)
			break;
		l->drawn[node] = true;
	}
}

/*
 * Return the depth of the deepest row to draw. Deeper rows have too few samples: a row never has
 * more samples than the row of the callers.
 */
static uint32_t deepest_row(const struct svg_layout *l, const uint32_t *order, size_t count)
{
	uint64_t rows[DEPTH_MAX + 1] = {0};
	const struct flame_node *nodes = l->flame->nodes.items;
	double least = ROW_SHARE_MIN * (double)nodes[0].count[FLAME_NOW];
	uint32_t deepest = 0;

	for (size_t i = 0; i < count; i++)
		if (nodes[order[i]].depth <= DEPTH_MAX)
			rows[nodes[order[i]].depth] += nodes[order[i]].count[FLAME_NOW];
	while (deepest < DEPTH_MAX && rows[deepest + 1] &&
	       (deepest < LOW_ROWS || (double)rows[deepest + 1] >= least))
		deepest++;
	return deepest;
}

static void count_omitted(struct svg_layout *l)
{
	const struct flame_node *nodes = l->flame->nodes.items;

	for (size_t i = 1; i < l->flame->nodes.count; i++) {
		if (l->drawn[i] || !nodes[i].count[FLAME_NOW])
			continue;
		l->omitted++;
		if (l->drawn[nodes[i].parent])
			l->cut += nodes[i].count[FLAME_NOW];
	}
}

static int choose_frames(struct svg_layout *l)
{
	size_t count = l->flame->nodes.count, candidates = 0;
	uint32_t *order = calloc(count, sizeof(*order));

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		if (l->flame->nodes.items[i].count[FLAME_NOW] && svg_width(l, i) >= FRAME_WIDTH_MIN)
			order[candidates++] = i;
	qsort_r(order, candidates, sizeof(*order), by_samples_and_depth, (void *)l->flame);
	l->deepest = deepest_row(l, order, candidates);
	draw_largest(l, order, candidates);
	free(order);
	count_omitted(l);
	return 0;
}

int svg_layout_choose(struct svg_layout *out, const struct flame *f, double width)
{
	uint64_t all = f->nodes.items[0].count[FLAME_NOW];
	struct svg_layout l = {.flame = f, .scale = all ? width / (double)all : 0};
	int ret;

	l.begins = calloc(f->nodes.count, sizeof(*l.begins));
	l.drawn = calloc(f->nodes.count, sizeof(*l.drawn));
	ret = l.begins && l.drawn ? 0 : -ENOMEM;
	if (!ret) {
		place_frames(&l);
		ret = choose_frames(&l);
	}
	if (ret < 0)
		svg_layout_free(&l);
	else
		*out = l;
	return ret;
}

void svg_layout_free(struct svg_layout *l)
{
	free(l->begins);
	free(l->drawn);
}
