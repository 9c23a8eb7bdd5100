// SPDX-License-Identifier: Apache-2.0
/* Read the code of a compiled method or an adapter, and describe how to leave it. */
#include "symbolizers/hotspot_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/unwind/hotspot_paths.h"

#define ROWS_CODE_MAX (256u << 10) /* bytes of code that are followed, a few ms at most */

/* What is needed of a blob's header. No padding: headers are compared as bytes. */
struct rows_header {
	uint64_t begin, end, name; /* of the code; address of the name */
	uint32_t id;
	int32_t frame_words, complete;
	uint32_t used;
};

static int read_code_header(struct rows_header *out, const struct hotspot_layout *l,
			    const struct hotspot_memory *memory, uint64_t blob)
{
	uint8_t bytes[HOTSPOT_HEADER_BYTES];
	const uint8_t *header = bytes + l->block_bytes;
	int16_t complete;
	int ret = memory->read(memory->context, bytes, l->block_bytes + (size_t)l->header_bytes,
			       blob - l->block_bytes);

	if (ret)
		return ret;
	out->begin = hotspot_place_in(l, header, l->blob_code, blob);
	out->end = hotspot_place_in(l, header, l->blob_data, blob);
	memcpy(&out->name, header + l->blob_name, sizeof(out->name));
	memcpy(&out->id, header + l->nmethod_compile_id, sizeof(out->id));
	memcpy(&out->frame_words, header + l->blob_frame_size, sizeof(out->frame_words));
	memcpy(&complete, header + l->blob_frame_complete, sizeof(complete));
	out->complete = complete;
	if (l->frame_complete_bytes == sizeof(out->complete))
		memcpy(&out->complete, header + l->blob_frame_complete, sizeof(out->complete));
	out->used = bytes[l->block_used];
	return 0;
}

/* Get the kind of a blob by its name. Return 0, -ENOENT or an error of reading. */
static int read_kind(enum hotspot_compiled_kind *out, const struct hotspot_memory *memory,
		     uint64_t name)
{
	uint64_t begin;
	int ret = memory->read(memory->context, &begin, sizeof(begin), name);

	if (ret)
		return ret;
	if (begin == HOTSPOT_NAME_NMETHOD)
		*out = HOTSPOT_COMPILED_METHOD;
	else if (begin == HOTSPOT_NAME_NATIVE)
		*out = HOTSPOT_COMPILED_NATIVE;
	else if (begin == HOTSPOT_NAME_ADAPTER)
		*out = HOTSPOT_COMPILED_ADAPTER;
	else
		return -ENOENT;
	return 0;
}

/*
 * Get the offset of a place from the begin of the code of which h is the header. Return 0; -ESTALE:
 * the place lies in other code; -E2BIG: the code is too long.
 */
static int find_offset(uint32_t *out, const struct rows_header *h, enum hotspot_compiled_kind kind,
		       const struct hotspot_code_place *p)
{
	const bool adapter = kind == HOTSPOT_COMPILED_ADAPTER;
	const uint64_t offset = p->offset - (adapter ? h->begin - p->blob : 0);

	if (h->used != 1 || (!adapter && h->id != p->id))
		return -ESTALE;
	if (h->end <= h->begin || offset >= h->end - h->begin)
		return -ESTALE;
	if (h->end - h->begin > ROWS_CODE_MAX)
		return -E2BIG;
	*out = (uint32_t)offset;
	return 0;
}

/* The header is read again after the code: then the code was that method's all the time. */
int hotspot_rows_read(struct hotspot_code_rows *out, const struct hotspot_layout *l,
		      const struct hotspot_memory *memory, const struct hotspot_code_place *p)
{
	struct hotspot_compiled m = {0};
	struct rows_header before = {0}, after = {0};
	uint8_t *code = NULL;
	uint32_t offset = 0;
	int ret = read_code_header(&before, l, memory, p->blob);

	if (!ret)
		ret = read_kind(&m.kind, memory, before.name);
	if (!ret)
		ret = find_offset(&offset, &before, m.kind, p);
	if (ret)
		return ret;
	m.size = before.end - before.begin;
	m.frame_words = before.frame_words;
	m.complete = before.complete;
	m.code = code = malloc(m.size);
	ret = code ? memory->read(memory->context, code, m.size, before.begin) : -ENOMEM;
	if (!ret)
		ret = read_code_header(&after, l, memory, p->blob);
	if (!ret && memcmp(&before, &after, sizeof(before)) != 0)
		ret = -ESTALE;
	if (!ret)
		ret = hotspot_compiled_rows(out, &m, offset);
	free(code);
	return ret;
}
