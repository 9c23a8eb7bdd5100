/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks as one tree of named frames, of one profile or of two laid over each other. */
#ifndef SKEIN_EXPORT_FLAME_H
#define SKEIN_EXPORT_FLAME_H

#include "analyze/names.h"
#include "base/vector.h"
#include "export/export.h"

#define FLAME_NONE UINT32_MAX

/* What a frame is, which is how pictures colour it. X(NAME, "word of legends") */
#define FLAME_KINDS(X) \
	X(ROOT, "program or thread") X(NATIVE, "native") X(KERNEL, "kernel") X(JAVA, "Java") \
	X(JIT, "JIT") X(PYTHON, "Python") X(BROKEN, "truncated or unknown")

#define FLAME_ENUM(NAME, word) FLAME_##NAME,
enum flame_kind { FLAME_KINDS(FLAME_ENUM) FLAME_KIND_COUNT };
#undef FLAME_ENUM

const char *flame_kind_word(enum flame_kind kind);

/* Which of two profiles. */
enum flame_side { FLAME_NOW, FLAME_BEFORE, FLAME_SIDES };

/* Children have higher indexes than their parents. Node 0 is the root: all samples. */
struct flame_node {
	uint32_t label;
	uint32_t parent, first_child, next_sibling; /* siblings by name; FLAME_NONE: none */
	uint32_t depth; /* of the root 0 */
	uint64_t count[FLAME_SIDES]; /* samples, with everything below */
};

struct flame {
	struct names labels;
	VECTOR(struct flame_node) nodes;
};

/*
 * The tree of a profile: below the root stand the frames that options ask for above the stacks
 * (and the event, where there are several), then what a stack that is not whole begins with.
 * before: NULL, or another profile; functions then go by the names that both have in common
 * (analyze/diff_names.h). 0 or a negative errno; free it with flame_free().
 */
int flame_build(struct flame *ret, const struct profile *p, const struct profile *before,
		const struct export_options *o);
void flame_free(struct flame *f);

/* Of a node: as raw as it came from whoever was profiled. */
const char *flame_name(const struct flame *f, uint32_t node);
const char *flame_module(const struct flame *f, uint32_t node); /* without folders; or "" */
enum flame_kind flame_kind(const struct flame *f, uint32_t node);

#endif
