// SPDX-License-Identifier: Apache-2.0
/* Python's import system is one line in call trees. */
#include <stdio.h>
#include <string.h>

#include "analyze/python_imports.h"
#include "suite.h"

#define FIND "@_find_and_load (<frozen importlib._bootstrap>:1165)"
#define LOAD "@_load_unlocked (<frozen importlib._bootstrap>:666)"
#define EXEC "@exec_module (<frozen importlib._bootstrap_external>:934)"
#define ENTRY "PyImport_ImportModuleLevelObject"

/* Paths with weights: frames root first; those with @ are of Python. */
struct path {
	const char *frames[10];
	uint64_t weight;
};

static struct symbols symbols;

static uint32_t symbol_of(const char *frame)
{
	char bytes[128];
	bool python = *frame == '@';
	int size = snprintf(bytes, sizeof(bytes), "%s%c%s%c", frame + python, 0,
			    python ? "[python]" : "", 0);
	uint32_t number;

	ck_assert_int_eq(names_intern(&symbols.names, bytes, (size_t)size, &number), 0);
	return number;
}

static struct tree tree_of(const struct path *paths, size_t count)
{
	struct tree_maker m = {0};
	struct tree t;

	memset(&symbols, 0, sizeof(symbols));
	ck_assert_int_eq(tree_begin(&m), 0);
	for (size_t i = 0; i < count; i++) {
		uint32_t node = 0;

		for (const char *const *f = paths[i].frames; *f; f++)
			ck_assert_int_eq(tree_descend(&m, &node, symbol_of(*f)), 0);
		m.tree.nodes.items[node].self_count++;
		m.tree.nodes.items[node].self_weight += paths[i].weight;
	}
	ck_assert_int_eq(tree_end(&m, 0, &t), 0);
	return t;
}

/* Show each node as "total/self name", children in parentheses, newest first. */
static void show(const struct tree *t, uint32_t node, char *out)
{
	const struct tree_node *n = &t->nodes.items[node];

	if (node)
		sprintf(out + strlen(out), "%d/%d %s", (int)n->weight, (int)n->self_weight,
			symbol_name(&symbols, n->label));
	if (n->first_child == TREE_NONE)
		return;
	strcat(out, node ? " (" : "");
	for (uint32_t at = n->first_child; at != TREE_NONE; at = t->nodes.items[at].next_sibling) {
		show(t, at, out);
		strcat(out, t->nodes.items[at].next_sibling == TREE_NONE ? "" : ", ");
	}
	strcat(out, node ? ")" : "");
}

static void check(const struct path *paths, size_t count, const char *expected)
{
	struct tree t = tree_of(paths, count);
	char text[4096] = "";

	ck_assert_int_eq(python_fold_imports(&t, &symbols), 0);
	show(&t, 0, text);
	ck_assert_str_eq(text, expected);
	tree_free(&t);
	symbols_free(&symbols);
}

#define CHECK(expected, ...) \
	do { \
		static const struct path paths[] = {__VA_ARGS__}; \
\
		check(paths, sizeof(paths) / sizeof(*paths), expected); \
	} while (0)

START_TEST(between_two_modules)
{
	CHECK("16/0 main (16/0 a (16/3 [importlib: 6 frames] (3/3 marshal_loads, 10/10 b)))",
	      {{"main", "@a", ENTRY, FIND, LOAD, EXEC, "cfunction_vectorcall_O",
		"builtin_exec.cold", "@b"},
	       10},
	      {{"main", "@a", ENTRY, FIND, LOAD, "marshal_loads"}, 3},
	      {{"main", "@a", ENTRY, FIND, LOAD}, 1}, {{"main", "@a", ENTRY}, 2});
}
END_TEST

/* Each of two modules that import each other's needs has a line of its own. */
START_TEST(nested)
{
	CHECK("1/0 a (1/0 [importlib: 3 frames] (1/0 b (1/0 [importlib: 2 frames] (1/1 c))))",
	      {{"@a", ENTRY, FIND, LOAD, "@b", FIND, LOAD, "@c"}, 1});
}
END_TEST

/* In a stripped interpreter, functions have no names; freed code has none in Python. */
START_TEST(without_names)
{
	CHECK("2/0 a (2/0 [importlib: 5 frames] (2/0 [python: code freed] (2/2 x)))",
	      {{"@a", "[python3.11+0x517d5]", "PyObject_CallMethodObjArgs", FIND, LOAD,
		"[libpython3.11.so.1.0]", "@[python: code freed]", "x"},
	       2});
}
END_TEST

START_TEST(what_is_no_import_stays)
{
	CHECK("9/0 main (4/0 a (4/4 _find_and_load (<frozen importlib._bootstrap>:1165)), "
	      "5/0 builtin_exec (5/0 PyImport_Import (5/5 b)))",
	      {{"main", "builtin_exec", "PyImport_Import", "@b"}, 5}, {{"main", "@a", FIND}, 4});
	/* the names of a program's own functions may be those of the interpreter */
	CHECK("1/0 a (1/0 [importlib: 2 frames] (1/1 import_all))",
	      {{"@a", FIND, LOAD, "@import_all"}, 1});
	/* what native code calls is not taken for a part of an import */
	CHECK("1/0 main (1/0 PyObject_Vectorcall (1/1 [importlib: 2 frames]))",
	      {{"main", "PyObject_Vectorcall", FIND, LOAD}, 1});
}
END_TEST

START_TEST(no_python)
{
	CHECK("3/1 main (2/2 x)", {{"main"}, 1}, {{"main", "x"}, 2});
	check(NULL, 0, "");
}
END_TEST

SUITE("python imports", between_two_modules, nested, without_names, what_is_no_import_stays,
      no_python)
