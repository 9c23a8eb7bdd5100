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
/*
 * Most steps back in a segment map between two reads, and reads: 14 steps were seen for nmethods;
 * free blocks that join make more.
 */
#define HOTSPOT_HOPS_MAX 64
#define HOTSPOT_SEGMENT_READS_MAX 16
#define HOTSPOT_HOPS_OVER (1ULL << 63)
#define HOTSPOT_NO_BLOCK (~0ULL)
/* Entries of a segment map that are read at once, one byte each; at most HOTSPOT_HEADER_BYTES. */
#define HOTSPOT_SEGMENTS_READ 256
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
 * Read the entries of the segment map up to that of a segment: a hop mostly leads to one of them.
 * *first: number of the first one in w->java.header. Return 0 on success.
 */
static __always_inline int hotspot_read_segments(struct native_walk *w,
						 const struct hotspot_range *r, __u64 segment,
						 __u64 *first)
{
	__u64 begin = segment < HOTSPOT_SEGMENTS_READ ? 0 : segment - (HOTSPOT_SEGMENTS_READ - 1);
	__u32 bytes = segment + 1 - begin;

	*first = begin;
	keep_in_register(bytes);
	if (bytes > HOTSPOT_SEGMENTS_READ)
		return -1;
	return hotspot_read_part(w, w->java.header, bytes, HOTSPOT_SEGMENTS_READ,
				 r->segments + begin);
}

/*
 * Follow the segment map from a segment on, as far as its entries are in w->java.header, of which
 * the first one is first's. Return where that ends: the block's first segment | HOTSPOT_HOPS_OVER,
 * HOTSPOT_NO_BLOCK, or a segment before the first one.
 */
HOTSPOT_FUNCTION __u64 hotspot_follow_segments(struct native_walk *w, __u64 first, __u64 segment)
{
	if (!w)
		return HOTSPOT_NO_BLOCK;
	for (int i = 0; i < HOTSPOT_HOPS_MAX; i++) {
		__u64 at = segment - first;
		__u8 back;

		keep_in_register(at);
		back = w->java.header[at / 8 & (HOTSPOT_BUFFER_WORDS - 1)] >> (at & 7) * 8;
		if (!back)
			return segment | HOTSPOT_HOPS_OVER;
		if (back == HOTSPOT_SEGMENT_FREE || back > segment)
			return HOTSPOT_NO_BLOCK;
		segment -= back;
		if (segment < first)
			return segment;
	}
	return HOTSPOT_NO_BLOCK;
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
	__u64 segment = (pc - r->low) >> (r->shift & 31), first;

	for (int i = 0; i < HOTSPOT_SEGMENT_READS_MAX; i++) {
		if (hotspot_read_segments(w, r, segment, &first))
			return 0;
		segment = hotspot_follow_segments(w, first, segment);
		if (segment & HOTSPOT_HOPS_OVER)
			break;
	}
	if (!(segment & HOTSPOT_HOPS_OVER) || segment == HOTSPOT_NO_BLOCK)
		return 0;
	segment &= ~HOTSPOT_HOPS_OVER;
	return r->low + (segment << (r->shift & 31)) + l->block_bytes;
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

static __always_inline int hotspot_is_method(__u32 kind)
{
	return kind == HOTSPOT_NMETHOD || kind == HOTSPOT_NATIVE;
}

static __always_inline __u64 hotspot_cache_hash(const struct native_walk *w, __u64 pc)
{
	return (pc ^ w->hotspot * 0x9e3779b97f4a7c15ULL) * 0xff51afd7ed558ccdULL;
}

static __always_inline __u64 hotspot_cache_key(__u64 hash, const struct hotspot_cached *c)
{
	return hash ^ ((__u64)c->id << 32 | c->place) ^ c->rest * 0x9e3779b97f4a7c15ULL ^
	       c->checked * 0xc2b2ae3d27d4eb4fULL;
}

/* Load what was stored with a hash. Return 0 if it is there. */
static __always_inline int hotspot_cache_load(__u64 hash, struct hotspot_cached *out)
{
	const volatile struct hotspot_cached *c = hotspot_cache_entry(hash);

	if (!c)
		return -1;
	out->key = c->key;
	out->id = c->id;
	out->place = c->place;
	out->rest = c->rest;
	out->checked = c->checked;
	return out->key == hotspot_cache_key(hash, out) ? 0 : -1;
}

static __always_inline void hotspot_cache_store(__u64 hash, const struct hotspot_cached *from)
{
	volatile struct hotspot_cached *c = hotspot_cache_entry(hash);

	if (!c)
		return;
	c->key = hotspot_cache_key(hash, from);
	c->id = from->id;
	c->place = from->place;
	c->rest = from->rest;
	c->checked = from->checked;
}

/*
 * Return what distinguishes this walk's time from others in the cache; 0: it is not known whether
 * the JVM unloads classes, and the cache must be compared with its memory.
 */
static __always_inline __u32 hotspot_stamp(const struct native_walk *w)
{
	return w->unloads ? (w->period * 0x9e3779b1U) ^ w->unloads : 0;
}

/* Return whether what the cache has can be used without a look at the JVM's memory. */
static __always_inline int hotspot_was_checked(const struct native_walk *w,
					       const struct hotspot_cached *c)
{
	return c->checked && c->checked == hotspot_stamp(w) && !w->skip_cache;
}

/* Read the kind of the blob whose header was read, by its name. Return 0 on success. */
static __always_inline int hotspot_read_kind(struct native_walk *w, const struct hotspot_layout *l,
					     __u32 *kind)
{
	__u64 *name = w->java.method, at = hotspot_word(w, l->block_bytes + l->blob_name);
	__u64 hash = hotspot_cache_hash(w, ~at);
	struct hotspot_cached *c = &w->java.cached;

	if (!w->skip_cache && !hotspot_cache_load(hash, c)) {
		*kind = c->place;
		return 0;
	}
	/* shorter names are followed by other texts, in the read-only data of libjvm */
	if (hotspot_read(w, name, HOTSPOT_NAME_WORDS * sizeof(*name), at))
		return -1;
	*kind = hotspot_kind_of(name);
	c->id = 0;
	c->place = *kind;
	c->rest = 0;
	c->checked = 0;
	if (hotspot_is_method(*kind)) /* their names are constants of libjvm */
		hotspot_cache_store(hash, c);
	return 0;
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

/* Return the address of the blob of pc by its entry. */
static __always_inline __u64 hotspot_cached_address(const struct hotspot_cached *c, __u64 pc)
{
	return (pc & ~7ULL) - 8 * (__u64)(c->place >> 4);
}

/*
 * Take the blob of pc from the cache, and read its header again: the address may have another blob
 * by now. Return 0 on success.
 */
static __always_inline int hotspot_find_cached(struct native_walk *w,
					       const struct hotspot_layout *l, __u64 pc,
					       struct hotspot_blob *b)
{
	const struct hotspot_cached *c = &w->java.cached;

	if (hotspot_cache_load(hotspot_cache_hash(w, pc), &w->java.cached))
		return -1;
	b->address = hotspot_cached_address(c, pc);
	b->kind = c->place & 15;
	if (hotspot_read_header(w, l, b->address) || hotspot_take_header(w, l, b, pc))
		return -1;
	return b->id == c->id ? 0 : -1;
}

/* rest: HOTSPOT_CACHED_FRAME(), if that is valid as long as the blob is there; else 0. */
static __always_inline void hotspot_cache_blob(struct native_walk *w, __u64 pc,
					       const struct hotspot_blob *b, __u64 rest)
{
	__u64 words = (pc - b->address) / 8;
	struct hotspot_cached *c = &w->java.cached;

	c->id = b->id;
	c->place = (__u32)words << 4 | b->kind;
	c->rest = rest;
	c->checked = rest ? hotspot_stamp(w) : 0;
	if (!(words >> 28))
		hotspot_cache_store(hotspot_cache_hash(w, pc), c);
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
	hotspot_cache_blob(w, pc, b, 0);
	return 0;
}

#endif
