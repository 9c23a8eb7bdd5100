/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Finds the code blob of a pc in the code cache of a JVM, and reads its header. The file that
 * includes this one must define these primitives before:
 *
 *   int hotspot_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
 *                                   read the process's memory; 0 on success
 *   int hotspot_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most, __u64 address)
 *                                   the same for a number of bytes that is not constant, but at
 *                                   most a constant
 *   const struct hotspot_process *hotspot_find_process(const struct native_walk *w)
 *                                   return the JVM of w->hotspot; NULL: there is none
 *   const struct hotspot_layout *hotspot_find_layout(const struct hotspot_process *p)
 *   const struct hotspot_code_rows *hotspot_find_code_rows(const struct native_walk *w)
 *                                   return the rows of the blob w->java.blob; NULL: it has none
 *   struct hotspot_cached *hotspot_cache_entry(__u64 hash)
 *                                   return an entry of the pc -> blob cache; NULL: no cache
 */
#ifndef SKEIN_BPF_UNWIND_HOTSPOT_BLOB_H
#define SKEIN_BPF_UNWIND_HOTSPOT_BLOB_H

#include "bpf/unwind/walk.h"

#define HOTSPOT_SEGMENT_FREE 255
/* Most steps back in a segment map: 14 were seen for nmethods; free blocks that join make more. */
#define HOTSPOT_HOPS_MAX 64
#define HOTSPOT_FRAME_WORDS_MAX (1 << 16)

static __always_inline __u64 hotspot_word(const struct native_walk *w, __u32 offset)
{
	return w->java.header[offset / 8 & (HOTSPOT_BUFFER_WORDS - 1)];
}

static __always_inline __s32 hotspot_int(const struct native_walk *w, __u32 offset)
{
	return (__s32)(hotspot_word(w, offset) >> (offset & 4) * 8);
}

static __always_inline __s32 hotspot_short(const struct native_walk *w, __u32 offset)
{
	return (__s16)(hotspot_word(w, offset) >> (offset & 6) * 8);
}

/* Return the address that a blob's header has at offset, by the layout's way to store places. */
static __always_inline __u64 hotspot_place(const struct native_walk *w,
					   const struct hotspot_layout *l, __u64 blob, __u32 offset)
{
	offset += l->block_bytes;
	if (l->place == HOTSPOT_PLACE_POINTER)
		return hotspot_word(w, offset);
	return blob + (__s64)hotspot_int(w, offset);
}

/* Find the heap that contains pc; its index is then in w->java.index. Return 0 if there is one. */
static __always_inline int hotspot_find_range(struct native_walk *w,
					      const struct hotspot_process *p, __u64 pc)
{
	__u32 found = HOTSPOT_RANGES_MAX;

	for (__u32 i = 0; i < HOTSPOT_RANGES_MAX; i++) {
		__u32 inside =
			mask_if_less(pc, p->ranges[i].high) & ~mask_if_less(pc, p->ranges[i].low);

		found = (found & ~inside) | (i & inside);
	}
	w->java.index = found;
	return found == HOTSPOT_RANGES_MAX ? -1 : 0;
}

/*
 * Find the blob of pc by the segment map of the heap w->java.index. Return its address; 0: pc lies
 * in no block, or the map cannot be read.
 */
static __always_inline __u64 hotspot_search_segments(struct native_walk *w,
						     const struct hotspot_process *p,
						     const struct hotspot_layout *l, __u64 pc)
{
	__u32 index = *(volatile __u32 *)&w->java.index & (HOTSPOT_RANGES_MAX - 1);
	const struct hotspot_range *r = &p->ranges[index];
	__u64 segment = (pc - r->low) >> (r->shift & 31);
	__u8 back = 0;

	for (int i = 0; i < HOTSPOT_HOPS_MAX; i++) {
		if (hotspot_read(w, &back, 1, r->segments + segment) ||
		    back == HOTSPOT_SEGMENT_FREE || back > segment)
			return 0;
		if (!back)
			return r->low + (segment << (r->shift & 31)) + l->block_bytes;
		segment -= back;
	}
	return 0;
}

/* Read the header of the blob at an address. Return 0 if the block there is in use. */
static __always_inline int hotspot_read_header(struct native_walk *w,
					       const struct hotspot_layout *l, __u64 blob)
{
	__u32 bytes = l->header_bytes + l->block_bytes, used = l->block_used;

	keep_in_register(bytes);
	if (bytes > HOTSPOT_HEADER_BYTES ||
	    hotspot_read_part(w, w->java.header, bytes, HOTSPOT_HEADER_BYTES,
			      blob - l->block_bytes))
		return -1;
	return (hotspot_word(w, used) >> (used & 7) * 8 & 0xff) == 1 ? 0 : -1;
}

/* name: HOTSPOT_NAME_WORDS words. */
static __always_inline enum hotspot_kind hotspot_kind_of(const __u64 *name)
{
	switch (name[0]) {
	case HOTSPOT_NAME_NMETHOD:
		return HOTSPOT_NMETHOD;
	case HOTSPOT_NAME_NATIVE:
		return HOTSPOT_NATIVE;
	case HOTSPOT_NAME_INTERPRETER:
		return HOTSPOT_INTERPRETER;
	case HOTSPOT_NAME_STUBS:
		return name[1] == HOTSPOT_NAME_CONTINUATION_1 &&
				       name[2] == HOTSPOT_NAME_CONTINUATION_2
			       ? HOTSPOT_CONTINUATION
			       : HOTSPOT_STUBS;
	case HOTSPOT_NAME_ADAPTER:
		return HOTSPOT_ADAPTER;
	case HOTSPOT_NAME_VTABLE:
	case HOTSPOT_NAME_CACHE:
	case HOTSPOT_NAME_SIGNATURES:
		return HOTSPOT_BARE;
	case HOTSPOT_NAME_LINKERS:
		return HOTSPOT_LINKERS;
	default:
		return HOTSPOT_OTHER;
	}
}

/* Read the kind of the blob whose header was read, by its name. Return 0 on success. */
static __always_inline int hotspot_read_kind(struct native_walk *w, const struct hotspot_layout *l,
					     __u32 *kind)
{
	__u64 *name = w->java.method;

	/* shorter names are followed by other texts, in the read-only data of libjvm */
	if (hotspot_read(w, name, HOTSPOT_NAME_WORDS * sizeof(*name),
			 hotspot_word(w, l->block_bytes + l->blob_name)))
		return -1;
	*kind = hotspot_kind_of(name);
	return 0;
}

static __always_inline int hotspot_is_method(__u32 kind)
{
	return kind == HOTSPOT_NMETHOD || kind == HOTSPOT_NATIVE;
}

/* Set the members of b from the header that was read; its address and kind are set. */
static __always_inline int hotspot_take_header(const struct native_walk *w,
					       const struct hotspot_layout *l,
					       struct hotspot_blob *b, __u64 pc)
{
	b->code = hotspot_place(w, l, b->address, l->blob_code);
	b->end = hotspot_place(w, l, b->address, l->blob_data);
	b->frame_size = hotspot_int(w, l->block_bytes + l->blob_frame_size);
	b->id = hotspot_is_method(b->kind)
			? (__u32)hotspot_int(w, l->block_bytes + l->nmethod_compile_id)
			: 0;
	return pc >= b->code && pc < b->end ? 0 : -1;
}

static __always_inline __u64 hotspot_cache_hash(const struct native_walk *w, __u64 pc)
{
	return (pc ^ w->hotspot * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
}

static __always_inline __u64 hotspot_cache_key(__u64 hash, __u32 id, __u32 place)
{
	return hash ^ ((__u64)id << 32 | place);
}

/* Load what was stored with a hash. Return 0 if it is there. */
static __always_inline int hotspot_cache_load(__u64 hash, __u32 *id, __u32 *place)
{
	const volatile struct hotspot_cached *c = hotspot_cache_entry(hash);
	__u64 key;

	if (!c)
		return -1;
	key = c->key;
	*id = c->id;
	*place = c->place;
	return key == hotspot_cache_key(hash, *id, *place) ? 0 : -1;
}

static __always_inline void hotspot_cache_store(__u64 hash, __u32 id, __u32 place)
{
	volatile struct hotspot_cached *c = hotspot_cache_entry(hash);

	if (!c)
		return;
	c->key = hotspot_cache_key(hash, id, place);
	c->id = id;
	c->place = place;
}

/*
 * Take the blob of pc from the cache, and read its header again: the address may have another blob
 * by now. Return 0 on success.
 */
static __always_inline int hotspot_find_cached(struct native_walk *w,
					       const struct hotspot_layout *l, __u64 pc,
					       struct hotspot_blob *b)
{
	__u32 id, place;

	if (hotspot_cache_load(hotspot_cache_hash(w, pc), &id, &place))
		return -1;
	b->address = (pc & ~7ULL) - 8 * (__u64)(place >> 4);
	b->kind = place & 15;
	if (hotspot_read_header(w, l, b->address) || hotspot_take_header(w, l, b, pc))
		return -1;
	return b->id == id ? 0 : -1;
}

static __always_inline void hotspot_cache_blob(const struct native_walk *w, __u64 pc,
					       const struct hotspot_blob *b)
{
	__u64 words = (pc - b->address) / 8;

	if (!(words >> 28))
		hotspot_cache_store(hotspot_cache_hash(w, pc), b->id, (__u32)words << 4 | b->kind);
}

/*
 * Find the blob that contains pc. It is then w->java.blob. Return 0 on success; WALK_UNMAPPED if pc
 * lies in no heap of code.
 */
HOTSPOT_FUNCTION int hotspot_find_blob(struct native_walk *w, __u64 pc)
{
	const struct hotspot_process *p = w ? hotspot_find_process(w) : NULL;
	const struct hotspot_layout *l = p ? hotspot_find_layout(p) : NULL;
	struct hotspot_blob *b;

	if (!w || !l)
		return -1;
	b = &w->java.blob;
	w->java.fresh = 0;
	if (!hotspot_find_cached(w, l, pc, b))
		return 0;
	/* after the cache, since a look at all heaps takes as long as reading the header */
	if (hotspot_find_range(w, p, pc))
		return WALK_UNMAPPED;
	w->java.fresh = 1;
	b->address = hotspot_search_segments(w, p, l, pc);
	if (!b->address || hotspot_read_header(w, l, b->address) ||
	    hotspot_read_kind(w, l, &b->kind) || hotspot_take_header(w, l, b, pc))
		return -1;
	hotspot_cache_blob(w, pc, b);
	return 0;
}

#endif
