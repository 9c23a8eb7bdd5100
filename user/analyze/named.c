// SPDX-License-Identifier: Apache-2.0
/* Add up the self time that has names, and the modules of the rest (named.h). */
#include "analyze/named.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

static bool is_frame_named(const struct profile *p, const struct profile_frame *f)
{
	if (f->shown && *f->shown)
		return true;
	return f->function != PROFILE_NONE && *p->functions[f->function].f.name;
}

/* Add the weight of nameless frames to that of their mapping; the last item is of no mapping. */
static void add_self(struct named_share *out, uint64_t *mappings, const struct profile *p,
		     const struct profile_sum *s)
{
	uint32_t leaf = s->stack == PROFILE_NONE ? PROFILE_NONE : p->stacks[s->stack].frame;
	const struct profile_frame *f = leaf == PROFILE_NONE ? NULL : &p->frames[leaf];

	if (!f || f->f.kind == FRAME_END)
		return;
	out->self += s->weight;
	if (is_frame_named(p, f))
		out->named += s->weight;
	else
		mappings[f->mapping == PROFILE_NONE ? p->count.mappings : f->mapping] += s->weight;
}

static int by_path(const void *a, const void *b)
{
	const struct nameless_share *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : strcmp(x->build_id, y->build_id);
}

static int by_nameless_weight(const void *a, const void *b)
{
	const struct nameless_share *x = a, *y = b;

	return x->weight != y->weight ? (x->weight < y->weight) - (x->weight > y->weight)
				      : by_path(a, b);
}

/* Join mappings of one file, such as those of several recordings that were merged. */
static void join_modules(struct named_share *n)
{
	size_t kept = 0;

	if (!n->modules.count)
		return;
	qsort(n->modules.items, n->modules.count, sizeof(*n->modules.items), by_path);
	for (size_t i = 1; i < n->modules.count; i++) {
		if (!by_path(&n->modules.items[kept], &n->modules.items[i]))
			n->modules.items[kept].weight += n->modules.items[i].weight;
		else
			n->modules.items[++kept] = n->modules.items[i];
	}
	n->modules.count = kept + 1;
	qsort(n->modules.items, n->modules.count, sizeof(*n->modules.items), by_nameless_weight);
}

static int list_modules(struct named_share *out, const uint64_t *mappings, const struct profile *p)
{
	for (uint32_t i = 0; i < p->count.mappings; i++) {
		const struct mapping *m = &p->mappings[i].m;
		const struct nameless_share share = {.path = m->path,
						     .build_id = m->build_id,
						     .kind = (enum mapping_kind)m->kind,
						     .weight = mappings[i]};

		if (mappings[i] && vector_push(&out->modules, share) < 0)
			return -ENOMEM;
	}
	join_modules(out);
	return 0;
}

int named_share_of(struct named_share *out, const struct profile *p, uint32_t event)
{
	uint64_t *mappings = calloc((size_t)p->count.mappings + 1, sizeof(*mappings));
	int ret;

	*out = (struct named_share){0};
	if (!mappings)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.sums; i++)
		if (p->sums[i].event == event)
			add_self(out, mappings, p, &p->sums[i]);
	ret = list_modules(out, mappings, p);
	free(mappings);
	return ret;
}

void named_share_free(struct named_share *n)
{
	vector_free(&n->modules);
}

bool named_share_is_low(const struct named_share *n)
{
	return (double)n->named * 100 < (double)n->self * NAMED_ENOUGH;
}

char *named_share_text(const struct named_share *n, char *buf, size_t size)
{
	char share[16];

	*buf = '\0';
	if (n->self)
		snprintf(buf, size, "%s of self time named",
			 show_percent(n->named, n->self, share, sizeof(share)));
	return buf;
}
