// SPDX-License-Identifier: Apache-2.0
/*
 * Export a flame graph as one static picture for a page or a mail: no script, nothing to load,
 * names as tooltips. The widths of frames are the sample counts of the format folded.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/name.h"
#include "base/outfile.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xml.h"
#include "export/svg.h"

#define DEFAULT_WIDTH 1200
#define WIDTH_MIN 400
#define WIDTH_MAX 20000
#define TITLE_SIZE 14 /* px of letters */
#define TEXT_SIZE 11
#define NAME_BYTES 4200 /* of a name with its module in a tooltip, cleaned */
#define NAME_COLUMNS_MIN 3 /* letters; a frame with room for fewer shows no name */
#define GONE_ROWS 8 /* lines for frames that are gone; the rest is summed */
#define GONE_COLUMNS 60 /* of a name in such a line */
#define GONE_MIN 0.1 /* percent of the old samples; smaller frames are summed */

struct picture {
	FILE *out;
	const struct profile *profile, *before;
	const struct export_options *options;
	const struct flame *flame;
	struct svg_layout layout;
	struct svg_scale scale;
	unsigned int width; /* px of the whole picture */
	double y; /* baseline of the next text line, or top of the next part */
	uint32_t *gone; /* nodes with samples only in before, largest first; see svg_find_gone() */
	size_t gone_count;
};

static unsigned int svg_picture_width(const struct export_options *o)
{
	uint64_t width = o->width ? o->width : DEFAULT_WIDTH;

	return width < WIDTH_MIN ? WIDTH_MIN : width > WIDTH_MAX ? WIDTH_MAX : width;
}

/* Return how many characters have room in a width in px. */
static unsigned int svg_columns(double px, unsigned int size)
{
	return (unsigned int)(px / (size * SVG_CHARACTER));
}

/* Write a name, short and made to fit into a width in px, as content of an element. */
static void svg_put_name(FILE *out, const char *name, double px)
{
	char clean[4096], shorter[4096], fitted[4096];

	text_clean(name, clean, sizeof(clean));
	name_short(clean, shorter, sizeof(shorter));
	xml_put(out, name_fit(shorter, svg_columns(px, TEXT_SIZE), fitted, sizeof(fitted)));
}

/* Write cleaned text, cut to a width in px, as content of an element. */
static void svg_put_fitted(FILE *out, const char *text, double px, unsigned int size)
{
	char clean[4096], fitted[4096];

	text_clean(text, clean, sizeof(clean));
	xml_put(out, text_fit(clean, svg_columns(px, size), false, fitted, sizeof(fitted)));
}

static void svg_put_line(struct picture *p, const char *class, unsigned int size, const char *text)
{
	p->y += size + 5;
	fprintf(p->out, "<text class=\"%s\" x=\"%d\" y=\"%.0f\">", class, SVG_MARGIN, p->y);
	svg_put_fitted(p->out, text, p->width - 2 * SVG_MARGIN, size);
	fputs("</text>\n", p->out);
}

/* Write where a recording was made, then its samples and losses. */
static void svg_put_recording(struct picture *p, const struct profile *of, const char *label)
{
	char part[SVG_LINE], line[2 * SVG_LINE];
	int used = snprintf(line, sizeof(line), "%s", label);

	svg_show_host(of, part);
	snprintf(line + used, sizeof(line) - used, "%s", part);
	svg_put_line(p, "t", TITLE_SIZE, line);
	svg_show_samples(of, p->options, part);
	used = snprintf(line, sizeof(line), "%s; ", part);
	svg_show_missing(of, part);
	snprintf(line + used, sizeof(line) - used, "%s", part);
	svg_put_line(p, "s", TEXT_SIZE, line);
}

static void svg_put_caption(struct picture *p)
{
	svg_put_recording(p, p->profile, p->before ? "After: " : "");
	if (!p->before)
		return;
	svg_put_recording(p, p->before, "Before: ");
	svg_put_line(
		p, "s", TEXT_SIZE,
		"Widths are shares of the samples after. Red: a larger share than before, blue: a "
		"smaller one.");
}

/* Write that there are no samples, or how many frames are not drawn, if that is so. */
static void svg_put_omitted(struct picture *p)
{
	uint64_t all = p->flame->nodes.items[0].count[FLAME_NOW];
	char frames[32], cut[64], share[16], text[256];

	if (!all)
		svg_put_line(p, "s", TEXT_SIZE, "There are no samples.");
	if (!p->layout.omitted)
		return;
	snprintf(text, sizeof(text),
		 "%s small frames are not drawn: there the stacks of %s (%s) go on.",
		 show_count(p->layout.omitted, frames, sizeof(frames)),
		 flame_show_count(p->flame, p->layout.cut, cut, sizeof(cut)),
		 show_percent(p->layout.cut, all, share, sizeof(share)));
	svg_put_line(p, "s", TEXT_SIZE, text);
}

/*
 * Format "name (module)", cleaned; only the name if the module is no file. columns: make the name
 * fit into so many, if it is not 0.
 */
static char *svg_show_name(const struct flame *f, uint32_t node, unsigned int columns,
			   char buf[static NAME_BYTES])
{
	const char *module = flame_module(f, node);
	char name[NAME_BYTES - 100], whole[NAME_BYTES - 100], clean[96];

	text_clean(flame_name(f, node), name, sizeof(name));
	if (columns)
		name_fit(name_short(name, whole, sizeof(whole)), columns, name, sizeof(name));
	if (*module && *module != '[')
		snprintf(buf, NAME_BYTES, "%s (%s)", name,
			 text_clean(module, clean, sizeof(clean)));
	else
		snprintf(buf, NAME_BYTES, "%s", name);
	return buf;
}

static void svg_put_tooltip(struct picture *p, uint32_t node)
{
	const struct flame_node *n = &p->flame->nodes.items[node];
	double now = 100 * svg_share(p->flame, node, FLAME_NOW);
	double before = 100 * svg_share(p->flame, node, FLAME_BEFORE);
	char name[NAME_BYTES], count[64];

	fputs("<title>", p->out);
	xml_put(p->out, svg_show_name(p->flame, node, 0, name));
	fprintf(p->out, ": %s, %.2f %%",
		flame_show_count(p->flame, n->count[FLAME_NOW], count, sizeof(count)), now);
	if (p->before)
		fprintf(p->out, "; before %.2f %%, change %+.2f points", before, now - before);
	fputs("</title>", p->out);
}

static void svg_put_frame(struct picture *p, uint32_t node)
{
	const struct flame_node *n = &p->flame->nodes.items[node];
	double x = SVG_MARGIN + (double)p->layout.begins[node] * p->layout.scale;
	double width = svg_width(&p->layout, node);
	uint32_t row = p->options->icicle ? n->depth : p->layout.deepest - n->depth;
	double y = p->y + (double)row * SVG_ROW;
	char class[8];

	svg_class(p->flame, node, p->before ? &p->scale : NULL, class);
	fprintf(p->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\">",
		class, x, y, width, SVG_BOX);
	svg_put_tooltip(p, node);
	fputs("</rect>", p->out);
	if (width > 6 && svg_columns(width - 6, TEXT_SIZE) >= NAME_COLUMNS_MIN) {
		fprintf(p->out, "<text x=\"%.2f\" y=\"%.0f\">", x + 3, y + SVG_BOX - 4);
		svg_put_name(p->out, flame_name(p->flame, node), width - 6);
		fputs("</text>", p->out);
	}
	fputc('\n', p->out);
}

static void svg_put_frames(struct picture *p)
{
	p->y += 8;
	fputs("<g class=\"f\">\n", p->out);
	for (size_t i = 0; i < p->flame->nodes.count; i++)
		if (p->layout.drawn[i])
			svg_put_frame(p, i);
	fputs("</g>\n", p->out);
	if (p->flame->nodes.items[0].count[FLAME_NOW])
		p->y += ((double)p->layout.deepest + 1) * SVG_ROW;
}

static int by_count_before(const void *a, const void *b, void *flame)
{
	const struct flame_node *nodes = ((const struct flame *)flame)->nodes.items;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = nodes[i].count[FLAME_BEFORE], y = nodes[k].count[FLAME_BEFORE];

	if (x != y)
		return x < y ? 1 : -1;
	return (i > k) - (i < k);
}

/* Find the frames that occur only in the old profile and whose caller still has samples. */
static int svg_find_gone(struct picture *p)
{
	const struct flame_node *nodes = p->flame->nodes.items;
	size_t count = p->flame->nodes.count;

	p->gone = calloc(count, sizeof(*p->gone));
	if (!p->gone)
		return -ENOMEM;
	for (size_t i = 1; i < count; i++)
		if (!nodes[i].count[FLAME_NOW] && nodes[nodes[i].parent].count[FLAME_NOW])
			p->gone[p->gone_count++] = i;
	if (p->gone_count)
		qsort_r(p->gone, p->gone_count, sizeof(*p->gone), by_count_before,
			(void *)p->flame);
	return 0;
}

static void svg_put_gone(struct picture *p)
{
	char name[NAME_BYTES], caller[NAME_BYTES], text[2 * NAME_BYTES + 64];
	size_t others = 0;
	double rest = 0;

	if (!p->gone_count)
		return;
	p->y += 4;
	svg_put_line(p, "t", TITLE_SIZE, "Gone: what was there before and is not any more");
	for (size_t i = 0; i < p->gone_count; i++) {
		double share = 100 * svg_share(p->flame, p->gone[i], FLAME_BEFORE);

		if (i >= GONE_ROWS || share < GONE_MIN) {
			others++;
			rest += share;
			continue;
		}
		snprintf(text, sizeof(text), "-%.2f %%  %s, called by %s", share,
			 svg_show_name(p->flame, p->gone[i], GONE_COLUMNS, name),
			 svg_show_name(p->flame, p->flame->nodes.items[p->gone[i]].parent,
				       GONE_COLUMNS, caller));
		svg_put_line(p, "s", TEXT_SIZE, text);
	}
	if (others) {
		snprintf(text, sizeof(text), "-%.2f %%  in %zu %sframes", rest, others,
			 others < p->gone_count ? "other " : "small ");
		svg_put_line(p, "s", TEXT_SIZE, text);
	}
}

/* Write the head. The picture has a background, so that it is readable on a page of any colour. */
static void svg_put_head(FILE *out, unsigned int width, double height)
{
	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%.0f\" "
		"viewBox=\"0 0 %u %.0f\" font-size=\"%d\" font-family=\"ui-monospace,"
		"'DejaVu Sans Mono',Menlo,Consolas,monospace\">\n",
		width, height, width, height, TEXT_SIZE);
	fputs("<style>\n"
	      ".c{fill:#fff;stroke:#d0d7de}\n"
	      "text{fill:#1f2328;white-space:pre}\n"
	      ".t{font-size:14px;font-weight:bold}\n"
	      ".f rect{stroke:#fff;stroke-width:.4}\n"
	      ".f text{pointer-events:none}\n",
	      out);
	svg_put_style(out);
	fputs("@media (prefers-color-scheme:dark){.c{fill:#1c2128;stroke:#444c56}"
	      ".f rect{stroke:#1c2128}.t,.s{fill:#dde3ea}}\n"
	      "</style>\n",
	      out);
	fprintf(out,
		"<rect class=\"c\" x=\".5\" y=\".5\" width=\"%u\" height=\"%.0f\" rx=\"6\"/>\n",
		width - 1, height - 1);
}

/* Write everything except the head, which contains the height. */
static void svg_put_body(struct picture *p)
{
	p->y = SVG_MARGIN - 4;
	svg_put_caption(p);
	svg_put_omitted(p);
	svg_put_frames(p);
	p->y += 6;
	svg_put_legend(p->out, &p->layout, p->before ? &p->scale : NULL, p->y);
	p->y += 14;
	svg_put_gone(p);
	p->y += SVG_MARGIN;
}

/* Write the body to memory first, because its height is needed in the head. */
static int svg_put_picture(struct picture *p)
{
	FILE *out = p->out;
	char *body = NULL;
	size_t size = 0;
	int ret;

	p->out = open_memstream(&body, &size);
	if (!p->out)
		return -ENOMEM;
	svg_put_body(p);
	ret = outfile_close_memory(p->out, &body);
	p->out = out;
	if (!ret) {
		svg_put_head(out, p->width, p->y);
		fwrite(body, 1, size, out);
		fputs("</svg>\n", out);
	}
	free(body);
	return ret;
}

static int svg_draw(struct picture *p)
{
	int ret = svg_layout_choose(&p->layout, p->flame, p->width - 2 * SVG_MARGIN);

	if (ret < 0)
		return ret;
	p->scale = svg_scale_of(&p->layout);
	if (p->before)
		ret = svg_find_gone(p);
	if (!ret)
		ret = svg_put_picture(p);
	free(p->gone);
	svg_layout_free(&p->layout);
	return ret;
}

int svg_write(FILE *out, const struct profile *p, const struct profile *before,
	      const struct export_options *o, struct error *err)
{
	struct flame flame = {0};
	struct picture picture = {.out = out,
				  .profile = p,
				  .before = before,
				  .options = o,
				  .flame = &flame,
				  .width = svg_picture_width(o)};
	int ret = flame_build(&flame, p, before, o);

	if (!ret)
		ret = svg_draw(&picture);
	flame_free(&flame);
	return ret < 0 ? error_errno(err, ret, "cannot draw the flame graph") : 0;
}

static int svg_write_one(FILE *out, const struct profile *p, const struct export_options *o,
			 struct error *err)
{
	return svg_write(out, p, NULL, o, err);
}

int svg_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	return profile_export(out, svg_write_one, file, o, err);
}
