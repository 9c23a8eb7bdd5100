/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints: what was known of every lane at one place between two chunks, so
 * that reading can begin there. Layout of the blobs: docs/trace-format.md.
 */
#ifndef SKEIN_TRACE_CHECKPOINT_H
#define SKEIN_TRACE_CHECKPOINT_H

#include "analyze/states.h"
#include "base/vector.h"
#include "trace/pack.h"

/* What states_each() tells. */
struct open_list {
	struct stretch *items;
	size_t count, capacity;
};

struct slice_list {
	struct slice *items;
	size_t count, capacity;
};

/* By lane, stable: what is told of one lane stays in its order. 0 or -ENOMEM. */
int open_list_sort(struct open_list *list);

/*
 * What has changed of base since: lanes that are in now as they are there, and lanes that are not
 * as one DEAD stretch. Both are sorted.
 */
int open_list_difference(const struct open_list *base, const struct open_list *now,
			 struct open_list *ret);
/* Undo that: base becomes what it was then. */
int open_list_apply(struct open_list *base, const struct open_list *difference);

/* Both append a blob to ret. scratch is working memory. */
int checkpoint_pack_open(struct packer *p, struct bytes *scratch, const struct open_list *list,
			 struct bytes *ret, struct error *err);
int checkpoint_pack_slices(struct packer *p, struct bytes *scratch, const struct slice_list *list,
			   struct bytes *ret, struct error *err);

/* Both append to ret what a blob holds that may be hostile: 0, -EBADMSG or -ENOMEM. */
int checkpoint_unpack_open(struct packer *p, const void *data, size_t size, struct open_list *ret);
int checkpoint_unpack_slices(struct packer *p, const void *data, size_t size,
			     struct slice_list *ret);

/* states_each() into a list: its context is a struct open_list. */
int open_list_add(void *context, const struct stretch *s);

#endif
