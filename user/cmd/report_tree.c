// SPDX-License-Identifier: Apache-2.0
/*
 * Show the call tree on a terminal. Only lines at which paths part are indented: the callee of a
 * function with a single shown callee is directly below that function, so that deep stacks fit in
 * 80 columns.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/python_imports.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/report.h"

#define NUMBER_COLUMNS 18 /* total and self in front of every line */
#define NAME_COLUMNS_MIN 24
#define UNCUT_COLUMNS 16384 /* more than a name of 4 KiB and the lines before it take */

/* A node to be printed. */
struct tree_line {
	uint32_t node;
	size_t before; /* bytes of the prefix in front of the node */
	bool last; /* last of its siblings */
	bool alone; /* no sibling is shown, and the node is not a program */
};

struct tree_printer {
	const struct report *report;
	const struct screen *screen;
	VECTOR(struct tree_line) lines; /* lines to print; the last element is printed next */
	VECTOR(char) prefix; /* the vertical lines that pass the current line */
	nodes_t children;
	/* the last node that -n leaves, in the order of heavier_first(); TREE_NONE: all are left */
	uint32_t limit;
	size_t left_out; /* nodes that -n leaves out */
	bool imports; /* a line stands for several frames of importlib */
};

static int append_to_prefix(struct tree_printer *p, const char *text)
{
	size_t size = strlen(text);

	if (vector_reserve(&p->prefix, size + 1) < 0)
		return -ENOMEM;
	memcpy(p->prefix.items + p->prefix.count, text, size + 1);
	p->prefix.count += size;
	return 0;
}

static void print_tree_numbers(const struct tree_printer *p, const struct tree_node *n)
{
	char total[16], self[16], text[64];

	show_percent(n->weight, p->report->weight, total, sizeof(total));
	show_percent(n->self_weight, p->report->weight, self, sizeof(self));
	snprintf(text, sizeof(text), "%7s  ", total);
	screen_put(p->screen, n->weight * 10 >= p->report->weight * 3 ? STYLE_HOT : STYLE_PLAIN,
		   text);
	snprintf(text, sizeof(text), "%7s  ", n->self_weight ? self : "");
	screen_put(p->screen, STYLE_PLAIN, text);
}

/*
 * Print the name of a function; then, as far as there is room, whether it is inlined, and its
 * module.
 */
static void print_tree_name(const struct tree_printer *p, const struct tree_node *n,
			    unsigned int room, bool program)
{
	static const char inlined[] = " (inlined)";
	char clean[4096], fitted[4096];
	const char *module = symbol_module(&p->report->symbols, n->label);

	screen_name(p->screen, symbol_name(&p->report->symbols, n->label), room, fitted,
		    sizeof(fitted));
	screen_put(p->screen, program ? STYLE_BOLD : STYLE_PLAIN, fitted);
	room -= text_width(fitted);
	if (symbol_is_inlined(&p->report->symbols, n->label) && room >= strlen(inlined)) {
		screen_put(p->screen, STYLE_DIM, inlined);
		room -= (unsigned int)strlen(inlined);
	}
	text_clean(module_short_name(module), clean, sizeof(clean));
	if (*module && *clean != '[' && text_width(clean) + 2 <= room) {
		fputs("  ", p->screen->out);
		screen_put(p->screen, STYLE_DIM, clean);
	}
	fputc('\n', p->screen->out);
}

static bool is_imports(const struct report *r, uint32_t node)
{
	const char *name = symbol_name(&r->symbols, r->tree.nodes.items[node].label);

	return !strncmp(name, PYTHON_IMPORTS_FOLDED, strlen(PYTHON_IMPORTS_FOLDED));
}

static int print_tree_line(struct tree_printer *p, const struct tree_line *l)
{
	const struct tree_node *n = &p->report->tree.nodes.items[l->node];
	unsigned int width = p->screen->uncut ? UNCUT_COLUMNS : p->screen->width - NUMBER_COLUMNS;
	bool program = n->parent == 0;
	const char *branch = program || l->alone ? "" : l->last ? "└─ " : "├─ ";
	char shown[4096];

	p->prefix.count = l->before;
	if (append_to_prefix(p, branch) < 0)
		return -ENOMEM;
	print_tree_numbers(p, n);
	text_fit(p->prefix.items, width > NAME_COLUMNS_MIN ? width - NAME_COLUMNS_MIN : 1, true,
		 shown, sizeof(shown));
	screen_put(p->screen, STYLE_DIM, shown);
	print_tree_name(p, n, width - text_width(shown), program);
	p->prefix.count = l->before;
	if (program)
		return append_to_prefix(p, "  ");
	return l->alone ? 0 : append_to_prefix(p, l->last ? "   " : "│  ");
}

/* Heavier nodes first; of nodes that weigh the same, callers, which were added earlier. */
static int heavier_first(const void *a, const void *b, void *context)
{
	const struct tree_node *nodes = context;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (nodes[x].weight != nodes[y].weight)
		return nodes[x].weight < nodes[y].weight ? 1 : -1;
	return x < y ? -1 : x > y;
}

/* Find the last node that is shown with -n: the heaviest ones are, with all their callers. */
static int find_tree_limit(struct tree_printer *p)
{
	const uint64_t limit = p->report->options->limit;
	struct tree_node *nodes = p->report->tree.nodes.items;
	nodes_t all = {0};
	int ret = 0;

	p->limit = TREE_NONE;
	if (!limit || limit == LIMIT_UNSET)
		return 0;
	for (uint32_t i = 1; i < p->report->tree.nodes.count && !ret; i++)
		if (report_shows_node(p->report, i))
			ret = vector_push(&all, i);
	if (!ret && limit < all.count) {
		qsort_r(all.items, all.count, sizeof(*all.items), heavier_first, nodes);
		p->limit = all.items[limit - 1];
		p->left_out = all.count - limit;
	}
	vector_free(&all);
	return ret;
}

static void drop_children_after_limit(struct tree_printer *p)
{
	size_t left = 0;

	for (size_t i = 0; i < p->children.count && p->limit != TREE_NONE; i++)
		if (heavier_first(&p->children.items[i], &p->limit, p->report->tree.nodes.items) <=
		    0)
			p->children.items[left++] = p->children.items[i];
	if (p->limit != TREE_NONE)
		p->children.count = left;
}

static int push_tree_lines(struct tree_printer *p, uint32_t node)
{
	int ret;

	p->children.count = 0;
	ret = report_children(p->report, node, &p->children);
	drop_children_after_limit(p);
	for (size_t i = p->children.count; i-- > 0 && !ret;) {
		struct tree_line l = {p->children.items[i], p->prefix.count,
				      i + 1 == p->children.count, node && p->children.count == 1};

		ret = vector_push(&p->lines, l);
	}
	return ret;
}

int report_tree_text(const struct report *r, const struct screen *s)
{
	struct tree_printer p = {.report = r, .screen = s};
	int ret = find_tree_limit(&p);

	if (!ret)
		ret = push_tree_lines(&p, 0);
	screen_put(s, STYLE_DIM, "  total     self  call tree");
	fputc('\n', s->out);
	while (p.lines.count && !ret && !ferror(s->out)) {
		struct tree_line l = p.lines.items[--p.lines.count];

		ret = print_tree_line(&p, &l);
		p.imports |= is_imports(r, l.node);
		if (!ret)
			ret = push_tree_lines(&p, l.node);
	}
	if (p.left_out)
		fprintf(s->out, "... and %zu more (--limit 0 shows all)\n", p.left_out);
	if (p.imports)
		screen_put(s, STYLE_DIM, "--full-names shows the frames of importlib\n");
	vector_free(&p.lines);
	vector_free(&p.prefix);
	vector_free(&p.children);
	return ret;
}
