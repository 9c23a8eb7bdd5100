/* SPDX-License-Identifier: Apache-2.0 */
/* Merge stacks into a tree of named frames, of one profile or of two. */
#ifndef SKEIN_EXPORT_FLAME_H
#define SKEIN_EXPORT_FLAME_H

#include "analyze/names.h"
#include "base/vector.h"
#include "export/export.h"

#define FLAME_NONE UINT32_MAX

/* The kind of a frame, which decides its colour: X(NAME, "word in legends") */
#define FLAME_KINDS(X) \
	X(ROOT, "program or thread") X(NATIVE, "native") X(KERNEL, "kernel") X(JAVA, "Java") \
	X(JIT, "JIT") X(PYTHON, "Python") X(BROKEN, "truncated or unknown")

#define FLAME_ENUM(NAME, word) FLAME_##NAME,
enum flame_kind { FLAME_KINDS(FLAME_ENUM) FLAME_KIND_COUNT };
#undef FLAME_ENUM

const char *flame_kind_word(enum flame_kind kind);

/* Which of two profiles. */
enum flame_side { FLAME_NOW, FLAME_BEFORE, FLAME_SIDES };

/* A node; children have higher indexes than their parents. Node 0 is the root: all samples. */
struct flame_node {
	uint32_t label; /* number in flame.labels */
	/* FLAME_NONE if there is none; siblings are in the order of their names */
	uint32_t parent, first_child, next_sibling;
	uint32_t depth; /* 0 for the root */
	uint64_t count[FLAME_SIDES]; /* samples, or us, including everything below */
};

struct flame {
	bool microseconds; /* counts are us, not samples */
	bool hits; /* counts are hits of probes, not samples */
	struct names labels;
	VECTOR(struct flame_node) nodes;
};

/*
 * Build the tree of a profile. Below the root are the root frames that the options select (and
 * the event, if there are several), then the mark of an incomplete stack, then the stack. before
 * is NULL, or another profile; functions then have the names that both profiles have in common
 * (analyze/diff_names.h). Return 0 or a negative errno; free the tree with flame_free().
 */
int flame_build(struct flame *out, const struct profile *p, const struct profile *before,
		const struct export_options *o);
void flame_free(struct flame *f);

/* Write a count with its unit to buf: "1 sample", "1.2 s". Return buf. */
char *flame_show_count(const struct flame *f, uint64_t count, char *buf, size_t size);
/* Return the name of a node. text_clean() is not applied: it may hold control characters. */
const char *flame_name(const struct flame *f, uint32_t node);
/* Return the file name of a node's module without folders, or "" if it has none; not cleaned. */
const char *flame_module(const struct flame *f, uint32_t node);
enum flame_kind flame_kind(const struct flame *f, uint32_t node);

#endif
