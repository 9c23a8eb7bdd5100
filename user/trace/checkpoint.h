/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encode and decode checkpoints: the state of every lane at one place between two chunks, so that
 * reading can begin there. Layout of the blobs: docs/trace-format.md.
 */
#ifndef SKEIN_TRACE_CHECKPOINT_H
#define SKEIN_TRACE_CHECKPOINT_H

#include "analyze/states.h"
#include "base/vector.h"
#include "trace/pack.h"

/* Open stretches, as passed by states_each(). */
struct open_list {
	struct stretch *items;
	size_t count, capacity;
};

/* Return how many consecutive stretches belong to the lane at that place. */
size_t lane_stretch_count(const struct open_list *list, size_t at);

/* The slices that cross a checkpoint. */
struct slice_list {
	struct slice *items;
	size_t count, capacity;
};

/* Sort by lane, stably: stretches of one lane keep their order. Return 0 or -ENOMEM. */
int open_list_sort(struct open_list *list);

/*
 * Append to out the changes from base to now, both sorted by open_list_sort(): all stretches of
 * each lane that is new or differs, and for each lane that is only in base one DEAD stretch. Return
 * 0 or -ENOMEM.
 */
int open_list_difference(const struct open_list *base, const struct open_list *now,
			 struct open_list *out);
/*
 * Apply changes made by open_list_difference() to their base, which becomes equal to the list now
 * of that call. Return 0, or -ENOMEM with an incomplete base.
 */
int open_list_apply(struct open_list *base, const struct open_list *difference);

/*
 * Both functions append a blob to out, and overwrite the contents of p. Return 0 or a negative
 * errno.
 */
int checkpoint_pack_open(struct packer *p, const struct open_list *list, struct bytes *out,
			 struct error *err);
int checkpoint_pack_slices(struct packer *p, const struct slice_list *list, struct bytes *out,
			   struct error *err);

/*
 * Decode a blob that may be hostile, and append its items to out; stretches with an unknown state
 * or wait are left out. Return 0, -EBADMSG or -ENOMEM.
 */
int checkpoint_unpack_open(struct packer *p, const void *data, size_t size, struct open_list *out);
int checkpoint_unpack_slices(struct packer *p, const void *data, size_t size,
			     struct slice_list *out);

/* Callback for states_each() that appends to the struct open_list given as context. */
int open_list_add(void *context, const struct stretch *s);

#endif
