// SPDX-License-Identifier: Apache-2.0
/* Fold Python's import system in a call tree (python_imports.h). */
#include "analyze/python_imports.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/python.h"

#define PYTHON_MODULE "[python]" /* the module of functions of Python */
/* What the file of a Python function of importlib is called, in every version since 3.3. */
#define IMPORTLIB_FILE "(<frozen importlib._bootstrap"

/* First characters of C functions of the interpreter that begin an import. */
#define IMPORT_ENTRIES(X) \
	X("PyImport_") X("_PyImport_") X("import_") X("builtin___import__") X("imp_")
/*
 * First characters of C functions through which importlib runs a module, beside those that pass on
 * any call. Functions of a stripped interpreter have its file as their name.
 */
#define IMPORT_CALLS(X) \
	X("builtin_exec") X("builtin_eval") X("cfunction_") X("run_mod") X("run_eval_code_obj") \
	X("[python2") X("[python3") X("[libpython")

enum import_role { IMPORT_NONE, IMPORT_CALL, IMPORT_ENTRY, IMPORT_LIB };

struct import_folding {
	const struct tree *from;
	struct symbols *symbols;
	uint8_t *roles; /* enum import_role by symbol */
	bool *leads; /* by node: it, or the first other node below it, is of importlib */
	bool *folded; /* by node of from */
	uint32_t *moved; /* node of the new tree, by node of from */
	uint32_t *depth; /* frames above a folded node that are folded with it, and itself */
};

static bool begins_with(const char *name, const char *const *beginnings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strncmp(name, beginnings[i], strlen(beginnings[i])))
			return true;
	return false;
}

static enum import_role import_role_of(const char *name, const char *module)
{
#define BEGINNING(text) text,
	static const char *const entries[] = {IMPORT_ENTRIES(BEGINNING)};
	static const char *const calls[] = {IMPORT_CALLS(BEGINNING)};
#undef BEGINNING

	if (!strcmp(module, PYTHON_MODULE))
		return strstr(name, IMPORTLIB_FILE) ? IMPORT_LIB : IMPORT_NONE;
	if (begins_with(name, entries, sizeof(entries) / sizeof(*entries)))
		return IMPORT_ENTRY;
	return python_is_trampoline(name) ||
			       begins_with(name, calls, sizeof(calls) / sizeof(*calls))
		       ? IMPORT_CALL
		       : IMPORT_NONE;
}

static enum import_role role_at(const struct import_folding *f, uint32_t node)
{
	return node ? f->roles[f->from->nodes.items[node].label] : IMPORT_NONE;
}

static bool is_python(const struct import_folding *f, uint32_t node)
{
	return node &&
	       !strcmp(symbol_module(f->symbols, f->from->nodes.items[node].label), PYTHON_MODULE);
}

/* Decide which nodes are folded: children have higher numbers than their parents. */
static void choose_folded(struct import_folding *f)
{
	const struct tree_node *nodes = f->from->nodes.items;
	uint32_t count = (uint32_t)f->from->nodes.count;

	for (uint32_t i = count; i-- > 1;) {
		f->leads[i] |= role_at(f, i) == IMPORT_LIB;
		f->leads[nodes[i].parent] |=
			f->leads[i] && role_at(f, nodes[i].parent) != IMPORT_NONE;
	}
	for (uint32_t i = 1; i < count; i++) {
		enum import_role role = role_at(f, i);

		f->folded[i] =
			role == IMPORT_LIB || (role && f->folded[nodes[i].parent]) ||
			(f->leads[i] && (role == IMPORT_ENTRY || is_python(f, nodes[i].parent)));
		f->depth[i] = f->folded[i] ? f->depth[nodes[i].parent] + 1 : 0;
	}
}

/* Move the nodes, with their own weights, to a new tree. */
static int move_nodes(struct import_folding *f, struct tree_maker *to, uint32_t label)
{
	const struct tree_node *nodes = f->from->nodes.items;
	int ret = 0;

	for (uint32_t i = 0; i < f->from->nodes.count && !ret; i++) {
		uint32_t parent = i ? nodes[i].parent : 0, at = i ? f->moved[parent] : 0;
		struct tree_node *n;

		if (i && !(f->folded[i] && f->folded[parent]))
			ret = tree_descend(to, &at, f->folded[i] ? label : nodes[i].label);
		if (ret)
			break;
		f->moved[i] = at;
		n = &to->tree.nodes.items[at];
		n->self_count += nodes[i].self_count;
		n->self_weight += nodes[i].self_weight;
	}
	return ret;
}

/* Return the weight of a folded node without that of the nodes below that are folded with it. */
static uint64_t weight_leaving(const struct import_folding *f, uint32_t node)
{
	const struct tree_node *nodes = f->from->nodes.items;
	uint64_t weight = nodes[node].weight;

	for (uint32_t at = nodes[node].first_child; at != TREE_NONE; at = nodes[at].next_sibling)
		weight -= f->folded[at] ? nodes[at].weight : 0;
	return weight;
}

/* What is known of a node of the new tree into which nodes were folded. */
struct fold {
	uint32_t nodes, last; /* how many; the last of them */
	uint32_t frames; /* on the path on which most samples leave it */
	uint64_t most; /* the weight of these samples */
};

static void add_to_fold(const struct import_folding *f, struct fold *to, uint32_t node)
{
	uint64_t weight = weight_leaving(f, node);

	to->last = node;
	if (to->nodes++ && weight <= to->most)
		return;
	to->frames = f->depth[node];
	to->most = weight;
}

/* Name each folded node by its number of frames; a single one keeps its name. */
static int name_folded(const struct import_folding *f, struct tree *to)
{
	struct fold *folds = calloc(to->nodes.count, sizeof(*folds));
	int ret = folds ? 0 : -ENOMEM;

	for (uint32_t i = 1; i < f->from->nodes.count && !ret; i++)
		if (f->folded[i])
			add_to_fold(f, &folds[f->moved[i]], i);
	for (uint32_t i = 1; i < to->nodes.count && !ret; i++) {
		uint32_t *label = &to->nodes.items[i].label;
		char name[64];

		snprintf(name, sizeof(name), PYTHON_IMPORTS_FOLDED "%u frame%s]", folds[i].frames,
			 folds[i].frames == 1 ? "" : "s");
		if (folds[i].nodes == 1)
			*label = f->from->nodes.items[folds[i].last].label;
		else if (folds[i].nodes)
			ret = symbols_add(f->symbols, name, label);
	}
	free(folds);
	return ret;
}

static int fold_tree(struct import_folding *f, struct tree *out)
{
	struct tree_maker made = {.children = {0}};
	struct tree to;
	uint32_t label;
	int ret = symbols_add(f->symbols, "[importlib]", &label);

	if (!ret)
		ret = tree_begin(&made);
	if (!ret)
		ret = move_nodes(f, &made, label);
	ret = tree_end(&made, ret, &to);
	if (ret < 0)
		return ret;
	ret = name_folded(f, &to);
	tree_free(ret < 0 ? &to : out);
	if (!ret)
		*out = to;
	return ret;
}

int python_fold_imports(struct tree *t, struct symbols *s)
{
	size_t nodes = t->nodes.count + 1, symbols = s->names.texts.count;
	struct import_folding f = {.from = t, .symbols = s};
	bool any = false;
	int ret = 0;

	f.roles = calloc(symbols + 1, sizeof(*f.roles));
	for (uint32_t i = 0; i < symbols && f.roles; i++) {
		f.roles[i] = import_role_of(symbol_name(s, i), symbol_module(s, i));
		any |= f.roles[i] == IMPORT_LIB;
	}
	if (f.roles && !any)
		goto out;
	f.leads = calloc(nodes, sizeof(*f.leads));
	f.folded = calloc(nodes, sizeof(*f.folded));
	f.moved = calloc(nodes, sizeof(*f.moved));
	f.depth = calloc(nodes, sizeof(*f.depth));
	ret = f.roles && f.leads && f.folded && f.moved && f.depth ? 0 : -ENOMEM;
	if (ret)
		goto out;
	choose_folded(&f);
	ret = fold_tree(&f, t);
out:
	free(f.roles);
	free(f.leads);
	free(f.folded);
	free(f.moved);
	free(f.depth);
	return ret;
}
