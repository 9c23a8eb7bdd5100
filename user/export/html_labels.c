// SPDX-License-Identifier: Apache-2.0
/*
 * Write the labels of the nodes of a flame graph page: functions with their modules, their names in
 * other forms, and the lines at which they stood.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff_names.h"
#include "base/name.h"
#include "export/html_page.h"

#define LINES_MAX 10 /* most lines written, per function */

_Static_assert(NAME_FORMS == 3, "FORMS in user/view/data.js says the same");

/*
 * Return an array, which the caller frees, with the first frame of each symbol that has one, else
 * INDEX_NONE, to get the symbol's kind and source position. NULL if memory ran out.
 */
static uint32_t *html_frames_of_symbols(const struct html_side *side)
{
	size_t symbols = side->symbols.names.texts.count;
	uint32_t *frames = malloc(symbols * sizeof(uint32_t));

	if (!frames)
		return NULL;
	memset(frames, 0xff, symbols * sizeof(uint32_t));
	for (uint32_t i = side->profile->count.frames; i-- > 0;)
		if (side->profile->frames[i].f.kind != FRAME_END)
			frames[side->symbols.of_frame[i]] = i;
	return frames;
}

/* Write five numbers of a label: name, module, enum frame_kind, source file, first line. */
static void html_write_label(struct html_page *p, const struct html_side *side, uint32_t symbol,
			     uint32_t frame)
{
	const struct profile *profile = side->profile;
	uint32_t function = frame == INDEX_NONE ? PROFILE_NONE : profile->frames[frame].function;
	const struct function *f =
		function == PROFILE_NONE ? NULL : &profile->functions[function].f;

	html_put_string(p, symbol_name(&side->symbols, symbol));
	html_put_string(p, symbol_module(&side->symbols, symbol));
	json_uint(&p->json, frame == INDEX_NONE ? FRAME_END : profile->frames[frame].f.kind);
	html_put_string(p, f ? f->file : "");
	json_uint(&p->json, f ? f->line : 0);
}

static void html_write_label_list(struct html_page *p, const struct html_side *side,
				  const uint32_t *frames)
{
	json_key(&p->json, "labels");
	json_array(&p->json);
	for (size_t i = 0; i < side->labels.count; i++)
		html_write_label(p, side, side->labels.items[i], frames[side->labels.items[i]]);
	json_array_end(&p->json);
}

/* Write what distinguishes the build of the file of a function without a name; else "". */
static void html_put_build(struct html_page *p, const struct profile *profile, uint32_t frame)
{
	uint32_t mapping = frame == INDEX_NONE ? PROFILE_NONE : profile->frames[frame].mapping;
	const struct mapping *m = mapping == PROFILE_NONE ? NULL : &profile->mappings[mapping].m;
	char size[32] = "";

	if (!m || m->kind != MAPPING_FILE || profile_function_name(profile, frame)) {
		html_put_string(p, "");
		return;
	}
	snprintf(size, sizeof(size), "%" PRIu64, m->size);
	html_put_string(p, *m->build_id ? m->build_id : size);
}

/*
 * Write three numbers of each label: name and module as they are in other recordings, too (see
 * symbols_in_common()), and the build of its file, if its name depends on that. The page compares
 * another page's profile with its own by these.
 */
static void html_write_common_names(struct html_page *p, const struct html_side *side,
				    const uint32_t *frames, bool common)
{
	const struct profile *profile = side->profile;

	json_key(&p->json, "commonNames");
	json_array(&p->json);
	for (size_t i = 0; i < side->labels.count; i++) {
		uint32_t symbol = side->labels.items[i], frame = frames[symbol];
		bool own = common || frame == INDEX_NONE;
		char *name = own ? NULL : diff_frame_name(profile, frame);

		if (!own && !name)
			html_fail(p, -ENOMEM);
		html_put_string(p, name ? name : symbol_name(&side->symbols, symbol));
		html_put_string(p,
				own ? symbol_module(&side->symbols, symbol)
				    : profile_module_name(profile, profile->frames[frame].mapping));
		html_put_build(p, profile, frame);
		free(name);
	}
	json_array_end(&p->json);
}

static int by_html_symbol_and_count(const void *a, const void *b)
{
	const struct html_line *x = a, *y = b;

	if (x->symbol != y->symbol)
		return x->symbol < y->symbol ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->line < y->line ? -1 : x->line > y->line;
}

/*
 * Write four numbers for each of the most frequent lines of each label: label, line, source file
 * (0 or another text that is empty: the function's own), samples. Nothing if no line is known.
 */
static void html_write_lines(struct html_page *p, struct html_side *side)
{
	uint32_t written = 0;

	if (!side->lines.count)
		return;
	qsort(side->lines.items, side->lines.count, sizeof(*side->lines.items),
	      by_html_symbol_and_count);
	json_key(&p->json, "lines");
	json_array(&p->json);
	for (size_t i = 0; i < side->lines.count; i++) {
		const struct html_line *l = &side->lines.items[i];

		written = i && l[-1].symbol == l->symbol ? written + 1 : 0;
		if (written >= LINES_MAX || side->label_of[l->symbol] == INDEX_NONE)
			continue;
		json_uint(&p->json, side->label_of[l->symbol]);
		json_uint(&p->json, l->line);
		html_put_string(p, l->file);
		json_uint(&p->json, l->count);
	}
	json_array_end(&p->json);
}

/*
 * Write for each label the numbers of the forms of its short name: the page draws the one that
 * fits, and shows, finds and compares full names.
 */
static void html_write_short_names(struct html_page *p, const struct html_side *side)
{
	json_key(&p->json, "shortNames");
	json_array(&p->json);
	for (size_t i = 0; i < side->labels.count; i++) {
		char name[4096], form[4096];

		name_short(symbol_name(&side->symbols, side->labels.items[i]), name, sizeof(name));
		for (int of = 0; of < NAME_FORMS; of++)
			html_put_string(p, name_form(name, of, form, sizeof(form)));
	}
	json_array_end(&p->json);
}

void html_write_labels(struct html_page *p, struct html_side *side, bool common)
{
	uint32_t *frames = html_frames_of_symbols(side);

	if (!frames) {
		html_fail(p, -ENOMEM);
		return;
	}
	html_write_label_list(p, side, frames);
	html_write_lines(p, side);
	html_write_short_names(p, side);
	html_write_common_names(p, side, frames, common);
	free(frames);
}
