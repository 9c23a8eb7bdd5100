// SPDX-License-Identifier: Apache-2.0
/*
 * Build the tree of a flame graph. A label is a kind (one byte), a name, a NUL and a module.
 * Two profiles share their labels, so that equal frames of both become one node.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/index.h"
#include "analyze/tree.h"
#include "base/units.h"
#include "export/flame.h"
#include "export/roots.h"

#define ALL "all"

const char *flame_kind_word(enum flame_kind kind)
{
	static const char *const words[] = {
#define WORD(NAME, word) [FLAME_##NAME] = word,
		FLAME_KINDS(WORD)
#undef WORD
	};

	return words[kind];
}

static enum flame_kind flame_frame_kind(const struct profile_frame *f)
{
	if (f->function == PROFILE_NONE && f->mapping == PROFILE_NONE)
		return FLAME_BROKEN; /* nothing is known of the frame */
	switch (f->f.kind) {
	case FRAME_KERNEL:
		return FLAME_KERNEL;
	case FRAME_JAVA:
		return FLAME_JAVA;
	case FRAME_JIT:
		return FLAME_JIT;
	case FRAME_PYTHON:
		return FLAME_PYTHON;
	case FRAME_NATIVE:
		return FLAME_NATIVE;
	default:
		return FLAME_BROKEN;
	}
}

static uint32_t flame_intern(struct stack_labels *l, const struct profile_frame *f,
			     const char *name, const char *suffix)
{
	const char *module = f ? profile_module_name(l->profile, f->mapping) : "";
	const char *rest = suffix ? suffix : "";
	size_t size = 1 + strlen(name) + strlen(rest) + 1 + strlen(module);
	char *bytes = malloc(size + 1);
	uint32_t ret = 0;
	int rc = -ENOMEM;

	if (bytes) {
		*bytes = (char)(f ? flame_frame_kind(f) : suffix ? FLAME_ROOT : FLAME_BROKEN);
		strcpy(stpcpy(stpcpy(bytes + 1, name), rest) + 1, module);
		rc = names_intern(l->names, bytes, size, &ret);
	}
	free(bytes);
	if (rc < 0)
		l->error = rc;
	return ret;
}

/* Get the child of a node with a label; create the child if there is none. */
static int flame_get_child(struct flame *f, struct index *children, uint32_t parent, uint32_t label,
			   uint32_t *out)
{
	uint64_t key = (uint64_t)parent << 32 | label;
	struct flame_node fresh = {.label = label, .parent = parent, .first_child = FLAME_NONE};

	*out = index_get(children, key);
	if (*out != INDEX_NONE)
		return 0;
	*out = f->nodes.count;
	fresh.depth = f->nodes.items[parent].depth + 1;
	fresh.next_sibling = f->nodes.items[parent].first_child;
	if (vector_push(&f->nodes, fresh) < 0)
		return -ENOMEM;
	f->nodes.items[parent].first_child = *out;
	return index_put(children, key, *out);
}

/* Add the nodes of a tree that are not in f yet, and the counts of all, as those of side. */
static int flame_add_tree(struct flame *f, struct index *children, const struct tree *t,
			  enum flame_side side)
{
	/* the flame node of each node of the tree */
	uint32_t *place = calloc(t->nodes.count, sizeof(*place));
	int ret = place ? 0 : -ENOMEM;

	for (size_t i = 0; i < t->nodes.count && !ret; i++) {
		const struct tree_node *n = &t->nodes.items[i];

		if (i)
			ret = flame_get_child(f, children, place[n->parent], n->label, &place[i]);
		if (!ret)
			f->nodes.items[place[i]].count[side] += n->count;
	}
	free(place);
	return ret;
}

static int flame_add_profile(struct flame *f, struct index *children, struct stack_labels *l,
			     enum flame_side side)
{
	struct tree tree = {0};
	int ret = stack_labels_tree(&tree, l);

	if (!ret)
		ret = flame_add_tree(f, children, &tree, side);
	tree_free(&tree);
	return ret;
}

static int by_flame_name(const void *a, const void *b, void *flame)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = strcmp(flame_name(flame, x), flame_name(flame, y));

	if (!order)
		order = strcmp(flame_module(flame, x), flame_module(flame, y));
	return order ? order : (int)flame_kind(flame, x) - (int)flame_kind(flame, y);
}

/* Link the children of a node in the order of their names; list is working memory. */
static int flame_sort_children(struct flame *f, uint32_t node, uint32_t **list, size_t *capacity)
{
	struct flame_node *nodes = f->nodes.items;
	size_t count = 0;

	for (uint32_t at = nodes[node].first_child; at != FLAME_NONE; at = nodes[at].next_sibling) {
		if (vector_grow(list, capacity, count, 1, sizeof(**list)) < 0)
			return -ENOMEM;
		(*list)[count++] = at;
	}
	if (!count)
		return 0;
	qsort_r(*list, count, sizeof(**list), by_flame_name, f);
	nodes[node].first_child = (*list)[0];
	for (size_t i = 0; i < count; i++)
		nodes[(*list)[i]].next_sibling = i + 1 < count ? (*list)[i + 1] : FLAME_NONE;
	return 0;
}

static int flame_sort_all(struct flame *f)
{
	uint32_t *list = NULL;
	size_t capacity = 0;
	int ret = 0;

	for (size_t i = 0; i < f->nodes.count && !ret; i++)
		ret = flame_sort_children(f, i, &list, &capacity);
	free(list);
	return ret;
}

static int flame_add_root(struct flame *f, struct stack_labels *l)
{
	struct flame_node root = {
		.parent = FLAME_NONE, .first_child = FLAME_NONE, .next_sibling = FLAME_NONE};

	root.label = flame_intern(l, NULL, ALL, "");
	return l->error ? l->error : vector_push(&f->nodes, root);
}

int flame_build(struct flame *out, const struct profile *p, const struct profile *before,
		const struct export_options *o)
{
	enum stacks_of of = roots_stacks_of(p, o);
	struct flame f = {.microseconds = of != STACKS_OF_SAMPLES && of != STACKS_OF_HITS,
			  .hits = of == STACKS_OF_HITS};
	struct index children = {0};
	bool several = roots_need_events(p, of) || (before && roots_need_events(before, of));
	struct stack_labels now = {.names = &f.labels,
				   .intern = flame_intern,
				   .profile = p,
				   .options = o,
				   .of = of,
				   .common = before != NULL,
				   .several_events = several};
	struct stack_labels then = now;
	int ret = flame_add_root(&f, &now);

	then.profile = before;
	if (!ret)
		ret = flame_add_profile(&f, &children, &now, FLAME_NOW);
	if (!ret && before)
		ret = flame_add_profile(&f, &children, &then, FLAME_BEFORE);
	if (!ret)
		ret = flame_sort_all(&f);
	index_free(&children);
	if (ret < 0)
		flame_free(&f);
	else
		*out = f;
	return ret;
}

void flame_free(struct flame *f)
{
	names_free(&f->labels);
	vector_free(&f->nodes);
}

char *flame_show_count(const struct flame *f, uint64_t count, char *buf, size_t size)
{
	char text[64];

	if (f->microseconds)
		return show_duration(1000 * count, buf, size);
	snprintf(buf, size, "%s %s%s", show_count(count, text, sizeof(text)),
		 f->hits ? "time" : "sample", count == 1 ? "" : "s");
	return buf;
}

static const char *flame_label_bytes(const struct flame *f, uint32_t node)
{
	return names_text(&f->labels, f->nodes.items[node].label);
}

const char *flame_name(const struct flame *f, uint32_t node)
{
	return flame_label_bytes(f, node) + 1;
}

const char *flame_module(const struct flame *f, uint32_t node)
{
	const char *name = flame_name(f, node);

	return name + strlen(name) + 1;
}

enum flame_kind flame_kind(const struct flame *f, uint32_t node)
{
	return (enum flame_kind)flame_label_bytes(f, node)[0];
}
