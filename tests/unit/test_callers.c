// SPDX-License-Identifier: Apache-2.0
/* Test callers and callees of one function of a small tree. */
#include "analyze/callers.h"
#include "suite.h"

enum { MAIN = 1, PARSE, READ, COPY, WALK };

/* The paths of the tree, with weights. */
struct path {
	uint32_t labels[8]; /* root first, ends with 0 */
	uint64_t weight;
};

static const struct path paths[] = {
	{{MAIN, PARSE, READ, COPY}, 1},
	{{MAIN, PARSE, COPY}, 2},
	{{MAIN, READ}, 4},
	{{PARSE, READ, COPY}, 8},
	{{MAIN, WALK, WALK, COPY, WALK}, 16},
	{{MAIN}, 32},
};

static struct tree make_tree(void)
{
	struct tree_maker m = {0};
	struct tree t;

	ck_assert_int_eq(tree_begin(&m), 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		uint32_t node = 0;

		for (const uint32_t *l = paths[i].labels; *l; l++)
			ck_assert_int_eq(tree_descend(&m, &node, *l), 0);
		m.tree.nodes.items[node].self_count++;
		m.tree.nodes.items[node].self_weight += paths[i].weight;
	}
	ck_assert_int_eq(tree_end(&m, 0, &t), 0);
	return t;
}

/* Return the node at the end of a path of labels that ends with 0; NULL if there is none. */
static const struct tree_node *at(const struct tree *t, const uint32_t *labels)
{
	uint32_t node = 0;

	for (; *labels && node != TREE_NONE; labels++) {
		node = t->nodes.items[node].first_child;
		while (node != TREE_NONE && t->nodes.items[node].label != *labels)
			node = t->nodes.items[node].next_sibling;
	}
	return node == TREE_NONE ? NULL : &t->nodes.items[node];
}

#define PATH(...) ((const uint32_t[]){__VA_ARGS__, 0})

START_TEST(who_calls)
{
	struct tree t = make_tree(), up;

	ck_assert_int_eq(callers_of(&up, &t, COPY), 0);
	ck_assert_uint_eq(up.nodes.items[0].weight, 1 + 2 + 8 + 16);
	ck_assert_uint_eq(at(&up, PATH(READ))->weight, 1 + 8);
	ck_assert_uint_eq(at(&up, PATH(READ, PARSE))->weight, 1 + 8);
	ck_assert_uint_eq(at(&up, PATH(READ, PARSE))->self_weight, 8); /* a stack begins there */
	ck_assert_uint_eq(at(&up, PATH(READ, PARSE, MAIN))->self_weight, 1);
	ck_assert_uint_eq(at(&up, PATH(PARSE, MAIN))->weight, 2);
	ck_assert_uint_eq(at(&up, PATH(WALK, WALK, MAIN))->weight, 16);
	ck_assert_ptr_null(at(&up, PATH(COPY)));
	tree_free(&up);
	tree_free(&t);
}
END_TEST

START_TEST(what_is_called)
{
	struct tree t = make_tree(), down;

	ck_assert_int_eq(callees_of(&down, &t, READ), 0);
	ck_assert_uint_eq(down.nodes.items[0].weight, 1 + 4 + 8);
	ck_assert_uint_eq(down.nodes.items[0].self_weight, 4);
	ck_assert_uint_eq(at(&down, PATH(COPY))->weight, 1 + 8);
	ck_assert_uint_eq(at(&down, PATH(COPY))->count, 2);
	ck_assert_ptr_null(at(&down, PATH(READ)));
	tree_free(&down);
	tree_free(&t);
}
END_TEST

START_TEST(recursion_counts_once)
{
	struct tree t = make_tree(), up, down;

	ck_assert_int_eq(callers_of(&up, &t, WALK), 0);
	ck_assert_int_eq(callees_of(&down, &t, WALK), 0);
	ck_assert_uint_eq(up.nodes.items[0].weight, 16);
	ck_assert_uint_eq(up.nodes.count, 2);
	ck_assert_uint_eq(down.nodes.items[0].weight, 16);
	ck_assert_uint_eq(at(&down, PATH(WALK, COPY, WALK))->self_weight, 16);
	tree_free(&up);
	tree_free(&down);
	tree_free(&t);
}
END_TEST

START_TEST(nobody)
{
	struct tree t = make_tree(), up, down;

	ck_assert_int_eq(callers_of(&up, &t, 99), 0);
	ck_assert_int_eq(callees_of(&down, &t, 99), 0);
	ck_assert_uint_eq(up.nodes.count, 1);
	ck_assert_uint_eq(down.nodes.items[0].count, 0);
	tree_free(&up);
	tree_free(&down);
	tree_free(&t);
}
END_TEST

SUITE("callers", who_calls, what_is_called, recursion_counts_once, nobody)
