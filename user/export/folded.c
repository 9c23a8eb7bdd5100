// SPDX-License-Identifier: Apache-2.0
/*
 * Export folded stacks: one line per path, "root;...;leaf COUNT", for flame graphs. COUNT is a
 * number of samples, because viewers add up and label the numbers as samples; of stacks of waits,
 * whose samples have weights of their own, it is us, as in the output of offcputime.
 *
 * The lines follow the rules that all readers accept: sorted, unique, UTF-8, at least two frames,
 * an integer. ';' separates frames and has no escape, so a ';' in a name becomes ':'.
 * flamegraph.pl reads a second number at the end of a line as a differential column, so no name
 * ends with a space and a number: the space becomes '_'.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export/folded.h"
#include "export/roots.h"

/*
 * Return the length in bytes of the non-ASCII white space character at s, 0 if there is none. \s in
 * the regular expressions of flamegraph.pl matches these characters.
 */
static size_t wide_space(const char *s)
{
	static const char *const spaces[] = {"\u00a0", "\u1680", "\u2000", "\u2001", "\u2002",
					     "\u2003", "\u2004", "\u2005", "\u2006", "\u2007",
					     "\u2008", "\u2009", "\u200a", "\u2028", "\u2029",
					     "\u202f", "\u205f", "\u3000"};

	if ((unsigned char)*s < 0x80)
		return 0;
	for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++)
		if (!strncmp(s, spaces[i], strlen(spaces[i])))
			return strlen(spaces[i]);
	return 0;
}

/*
 * Make a text that was cleaned valid as a frame, in place. no_spaces: replace all spaces by '_'.
 */
static void make_folded_frame(char *text, bool no_spaces)
{
	char *to = text, *digits;

	for (const char *from = text; *from; to++) {
		size_t wide = wide_space(from);

		*to = wide || (no_spaces && *from == ' ') ? '_' : *from;
		from += wide ? wide : 1;
	}
	*to = '\0';
	for (digits = to; digits > text && strchr("0123456789.", digits[-1]);)
		digits--;
	if (*digits && digits > text && digits[-1] == ' ')
		digits[-1] = '_';
}

/*
 * Return the suffix by which palettes of flame graphs recognize the kind of a frame; "" if the kind
 * has none or the options do not request suffixes.
 */
static const char *frame_annotation(const struct export_options *o, const struct profile_frame *f)
{
	if (!o->annotate)
		return "";
	return f->inlined					   ? "_[i]"
	       : f->f.kind == FRAME_KERNEL			   ? "_[k]"
	       : f->f.kind == FRAME_JIT || f->f.kind == FRAME_JAVA ? "_[j]"
								   : "";
}

/* The function stack_labels.intern: intern a name in the form in which lines have it. */
static uint32_t folded_intern(struct stack_labels *l, const struct profile_frame *f,
			      const char *name, const char *suffix)
{
	const char *rest = f ? frame_annotation(l->options, f) : suffix ? suffix : "";
	/* cleaning may turn one byte into three */
	size_t size = 3 * strlen(name) + strlen(rest) + 2;
	char *clean = malloc(size);
	uint32_t ret = 0;
	int rc = -ENOMEM;

	if (clean) {
		text_clean_but(name, ";", ':', clean, size - strlen(rest));
		make_folded_frame(clean, suffix != NULL);
		strcat(*clean ? clean : strcpy(clean, "?"), rest);
		rc = names_intern_text(l->names, clean, &ret);
	}
	free(clean);
	if (rc < 0)
		l->error = rc;
	return ret;
}

/*
 * A part of the file still to be written: the line of a node itself, or all lines below the node.
 * An item without a name marks the end of the lines below a node.
 */
struct folded_item {
	const char *name;
	size_t name_size;
	char suffix[24]; /* follows the name: " COUNT" or ";" */
	uint32_t node;
};

struct folded_items {
	VECTOR(struct folded_item) list;
};

struct folded_writer {
	FILE *out;
	const struct names *names;
	const struct tree *tree;
	struct folded_items items; /* a stack: the last item is written next */
	VECTOR(char) path; /* names from the root to the node whose children are being written */
	VECTOR(size_t) sizes; /* length of path before each of those names was appended */
};

static unsigned char folded_byte_at(const struct folded_item *i, size_t at)
{
	return at < i->name_size ? i->name[at] : i->suffix[at - i->name_size];
}

/*
 * Order items by the bytes of their lines, descending because the items are pushed on a stack. No
 * name contains ';', so all lines below a node stay together, and comparing up to the ';' is
 * enough.
 */
static int by_line_descending(const void *a, const void *b)
{
	const struct folded_item *x = a, *y = b;
	size_t at = 0;

	while (folded_byte_at(x, at) == folded_byte_at(y, at) && folded_byte_at(x, at))
		at++;
	return folded_byte_at(y, at) - folded_byte_at(x, at);
}

static int folded_push_item(struct folded_writer *w, uint32_t node, bool below)
{
	const struct tree_node *n = &w->tree->nodes.items[node];
	struct folded_item item = {.name = names_text(w->names, n->label), .node = node};

	item.name_size = strlen(item.name);
	if (below)
		strcpy(item.suffix, ";");
	else
		snprintf(item.suffix, sizeof(item.suffix), " %" PRIu64, n->self_count);
	return vector_push(&w->items.list, item);
}

/* Push the items of all children of a node on the stack. */
static int folded_push_children(struct folded_writer *w, uint32_t parent)
{
	const struct tree_node *nodes = w->tree->nodes.items;
	size_t first = w->items.list.count;
	int ret = 0;

	for (uint32_t at = nodes[parent].first_child; at != TREE_NONE && !ret;
	     at = nodes[at].next_sibling) {
		if (nodes[at].self_count)
			ret = folded_push_item(w, at, false);
		if (!ret && nodes[at].first_child != TREE_NONE)
			ret = folded_push_item(w, at, true);
	}
	if (!ret && w->items.list.count > first)
		qsort(w->items.list.items + first, w->items.list.count - first,
		      sizeof(struct folded_item), by_line_descending);
	return ret;
}

/* Enter a node: append its name to the path, and push an end mark that removes the name again. */
static int folded_enter_node(struct folded_writer *w, const struct folded_item *item)
{
	struct folded_item end = {.name = NULL};

	if (vector_push(&w->sizes, w->path.count) < 0 ||
	    vector_reserve(&w->path, item->name_size + 1) < 0 ||
	    vector_push(&w->items.list, end) < 0)
		return -ENOMEM;
	memcpy(w->path.items + w->path.count, item->name, item->name_size);
	w->path.count += item->name_size;
	w->path.items[w->path.count++] = ';';
	return folded_push_children(w, item->node);
}

static int folded_write_lines(struct folded_writer *w)
{
	int ret = folded_push_children(w, 0);

	while (!ret && w->items.list.count && !ferror(w->out)) {
		struct folded_item item = w->items.list.items[--w->items.list.count];

		if (!item.name) {
			w->path.count = w->sizes.items[--w->sizes.count];
		} else if (*item.suffix == ';') {
			ret = folded_enter_node(w, &item);
		} else {
			fwrite(w->path.items, 1, w->path.count, w->out);
			fprintf(w->out, "%s%s\n", item.name, item.suffix);
		}
	}
	vector_free(&w->items.list);
	vector_free(&w->path);
	vector_free(&w->sizes);
	return ret;
}

int folded_write_one(FILE *out, const struct profile *p, bool common,
		     const struct export_options *o, struct error *err)
{
	struct names names = {0};
	enum stacks_of of = roots_stacks_of(p, o);
	struct stack_labels labels = {.profile = p,
				      .options = o,
				      .of = of,
				      .several_events = roots_need_events(p, of),
				      .common = common,
				      .intern = folded_intern,
				      .names = &names};
	struct tree whole = {0};
	struct folded_writer w = {.out = out, .names = &names, .tree = &whole};
	int ret = stack_labels_tree(&whole, &labels);

	if (!ret)
		ret = folded_write_lines(&w);
	tree_free(&whole);
	names_free(&names);
	return ret < 0 ? error_errno(err, ret, "cannot write folded stacks") : 0;
}

static int folded_write_profile(FILE *out, const struct profile *p, const struct export_options *o,
				struct error *err)
{
	return folded_write_one(out, p, false, o, err);
}

int folded_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	return profile_export(out, folded_write_profile, file, o, err);
}
