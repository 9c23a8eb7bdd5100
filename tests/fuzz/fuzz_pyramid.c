// SPDX-License-Identifier: Apache-2.0
/*
 * The blobs of the tables pyramid and checkpoint. The first byte chooses the blob, and whether the
 * rest is a blob, or content that is first packed by zstd: mutations never get past its checksum
 * otherwise.
 */
#include <string.h>

#include "fuzz.h"
#include "trace/checkpoint.h"
#include "trace/pyramid_row.h"

enum { PIECE, LANES, SLICES, DIFFERENCE, TARGETS };

#define PACKED 0x80

/* Writes outside these cells are found by the sanitizer. */
static struct cell cells[BLOCK_CELLS];

static struct cell *take_lane(void *context, uint64_t id, bool uncertain)
{
	(void)context;
	return uncertain || id % 3 == 0 ? NULL : cells;
}

static void read_difference(struct open_list *list)
{
	struct open_list base = {0};

	for (size_t i = 0; i < list->count / 2; i++)
		if (open_list_add(&base, &list->items[i]) < 0)
			abort();
	if (open_list_sort(list) < 0 || open_list_sort(&base) < 0 ||
	    open_list_apply(&base, list) < 0)
		abort();
	free(base.items);
}

static void read_blob(unsigned int target, const void *data, size_t size, unsigned int first)
{
	const struct pyramid_row_reader to = {
		.lane = take_lane, .first = first, .end = BLOCK_CELLS - first / 2};
	struct slice_list slices = {0};
	struct open_list lanes = {0};
	struct packer packer = {0};

	if (target == PIECE)
		(void)pyramid_row_decode(&packer, data, size, &to);
	else if (target == SLICES)
		(void)checkpoint_unpack_slices(&packer, data, size, &slices);
	else if (!checkpoint_unpack_open(&packer, data, size, &lanes) && target == DIFFERENCE)
		read_difference(&lanes);
	free(slices.items);
	free(lanes.items);
	packer_free(&packer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes packed = {0};
	struct packer packer = {0};
	struct error err;
	unsigned int target;

	if (size < 2)
		return 0;
	target = (data[0] & ~PACKED) % TARGETS;
	if (data[0] & PACKED) {
		const struct bytes raw = {.data = (uint8_t *)data + 2, .size = size - 2};

		if (pack_bytes(&packer, &raw, &packed, &err) < 0)
			abort();
		read_blob(target, packed.data, packed.size, data[1]);
	} else {
		read_blob(target, data + 2, size - 2, data[1]);
	}
	bytes_free(&packed);
	packer_free(&packer);
	return 0;
}
