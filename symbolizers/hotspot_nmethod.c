// SPDX-License-Identifier: Apache-2.0
/*
 * Read what describes the code of one compiled method (nmethod): its addresses with scopes
 * (PcDesc), the scopes, and the metadata that they refer to. Up to JDK 22 these follow the code;
 * then they moved into memory of their own. Source: OpenJDK, nmethod.hpp.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/hotspot_names_private.h"

#define HEADER_BYTES 512 /* of a HeapBlock and an nmethod, up to the members that are read */
#define PC_BYTES_MAX 64 /* of a PcDesc; JDK 17 to 25 have 16 */
#define PCS_MAX (256u << 10)
#define SCOPES_BYTES_MAX (8u << 20)
#define METADATA_MAX (64u << 10)
/*
 * nmethod::_state: -1 not installed, so nothing has run it; 0 in use, 1 and 2 not entered any more;
 * up to JDK 19, 3 and 4 are dead methods, whose Method may have been freed. No table has these
 * numbers.
 */
#define STATE_ALIVE_MAX 2

#define OFFSET(member) offsetof(struct hotspot_nmethod_offsets, member)

static const struct hotspot_wanted entries[] = {
	{"HeapBlock", NULL, NULL, OFFSET(block_bytes), false},
	{"HeapBlock::Header", "_used", NULL, OFFSET(block_used), false},
	{"CodeBlob", "_size", NULL, OFFSET(size), false},
	{"CodeBlob", "_name", NULL, OFFSET(name), false},
	{"nmethod", "_method", NULL, OFFSET(method), false},
	{"nmethod", "_compile_id", NULL, OFFSET(compile_id), false},
	{"nmethod", "_state", NULL, OFFSET(state), false},
	{"nmethod", "_scopes_pcs_offset", NULL, OFFSET(pcs), false},
	{"nmethod", "_scopes_data_offset", NULL, OFFSET(scopes), true},
	{"nmethod", "_metadata_offset", NULL, OFFSET(metadata), true},
	{"nmethod", "_scopes_data_begin", NULL, OFFSET(scopes_pointer), true},
	{"nmethod", "_dependencies_offset", NULL, OFFSET(pcs_end), true},
	{"nmethod", "_immutable_data", NULL, OFFSET(immutable), true},
	{"nmethod", "_immutable_data_size", NULL, OFFSET(immutable_size), true},
	{"nmethod", "_mutable_data", NULL, OFFSET(mutable_data), true},
	{"nmethod", "_mutable_data_size", NULL, OFFSET(mutable_size), true},
	{"nmethod", "_relocation_size", NULL, OFFSET(relocation_size), true},
	{"PcDesc", NULL, NULL, OFFSET(pc_bytes), false},
	{"PcDesc", "_pc_offset", NULL, OFFSET(pc_offset), false},
	{"PcDesc", "_scope_decode_offset", NULL, OFFSET(pc_scope), false},
};

static bool has(uint16_t offset)
{
	return offset != HOTSPOT_ABSENT;
}

/* Return whether the members of one of the known arrangements are all there. */
static bool is_arrangement_known(const struct hotspot_nmethod_offsets *o)
{
	bool pcs = has(o->immutable) ? has(o->scopes) && has(o->immutable_size)
				     : has(o->scopes_pointer) && has(o->pcs_end);
	bool metadata = has(o->metadata) ||
			(has(o->mutable_data) && has(o->mutable_size) && has(o->relocation_size));

	return pcs && metadata;
}

int hotspot_nmethod_fill(struct hotspot_nmethod_offsets *out, const struct hotspot_tables *t,
			 struct error *err)
{
	int ret = hotspot_fill(out, t, entries, sizeof(entries) / sizeof(*entries), err);

	if (ret)
		return ret;
	if (!is_arrangement_known(out))
		return error_set(err, -ENOENT, "HotSpot's tables lack where nmethods have scopes");
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		uint16_t offset;

		memcpy(&offset, (const char *)out + entries[i].to, sizeof(offset));
		if (has(offset) && offset > HEADER_BYTES - 64 - 8)
			return error_set(err, -EINVAL,
					 "HotSpot's tables have members out of bounds");
	}
	if (out->block_bytes > 64 || out->block_used >= out->block_bytes || out->pc_bytes < 8 ||
	    out->pc_bytes > PC_BYTES_MAX || out->pc_offset + 4u > out->pc_bytes ||
	    out->pc_scope + 4u > out->pc_bytes)
		return error_set(err, -EINVAL, "HotSpot's tables have members out of bounds");
	return 0;
}

/* The header of a blob, with its HeapBlock before it. */
struct blob_header {
	uint64_t address;
	const struct hotspot_nmethod_offsets *at;
	uint8_t bytes[HEADER_BYTES];
};

static const uint8_t *member(const struct blob_header *h, uint16_t offset)
{
	return h->bytes + h->at->block_bytes + offset;
}

static uint64_t header_word(const struct blob_header *h, uint16_t offset)
{
	uint64_t word;

	memcpy(&word, member(h, offset), sizeof(word));
	return word;
}

static uint32_t header_number(const struct blob_header *h, uint16_t offset)
{
	uint32_t number;

	memcpy(&number, member(h, offset), sizeof(number));
	return number;
}

/* Return the bytes of an nmethod's header that end behind all members. */
static size_t header_size(const struct hotspot_nmethod_offsets *o)
{
	size_t end = 0;

	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		uint16_t offset;

		memcpy(&offset, (const char *)o + entries[i].to, sizeof(offset));
		if (has(offset) && offset + 8u > end)
			end = offset + 8u;
	}
	return o->block_bytes + end;
}

static int read_header(struct blob_header *out, const struct hotspot_reader *r, uint64_t address,
		       size_t size)
{
	int ret;

	out->address = address;
	out->at = &r->nmethod;
	ret = hotspot_reader_read(r, out->bytes, size, address - out->at->block_bytes);
	return ret ? ret : out->bytes[out->at->block_used] == 1 ? 0 : -ESTALE;
}

static int read_nmethod_header(struct blob_header *out, const struct hotspot_reader *r,
			       uint64_t address, uint32_t id)
{
	int ret = read_header(out, r, address, header_size(&r->nmethod));
	int8_t state;

	if (ret)
		return ret;
	state = (int8_t)*member(out, out->at->state);
	if (header_number(out, out->at->compile_id) != id || state < 0 || state > STATE_ALIVE_MAX ||
	    !header_word(out, out->at->method))
		return -ESTALE;
	return 0;
}

int hotspot_code_check(const struct hotspot_reader *r, const struct hotspot_code *c)
{
	struct blob_header h;
	int ret = read_nmethod_header(&h, r, c->address, c->id);

	return ret ? ret : header_word(&h, h.at->method) == c->method ? 0 : -ESTALE;
}

/* A part of the data, in the process. */
struct nmethod_range {
	uint64_t start, end;
};

/* Where the three parts are. */
struct nmethod_parts {
	struct nmethod_range pcs, scopes, metadata;
};

static void find_parts(struct nmethod_parts *p, const struct blob_header *h)
{
	const struct hotspot_nmethod_offsets *o = h->at;
	uint64_t base = h->address;

	if (has(o->immutable)) {
		base = header_word(h, o->immutable);
		p->pcs.end = base + header_number(h, o->scopes);
		p->scopes.start = p->pcs.end;
		p->scopes.end = base + header_number(h, o->immutable_size);
	} else {
		p->pcs.end = base + header_number(h, o->pcs_end);
		p->scopes.start = header_word(h, o->scopes_pointer);
		p->scopes.end = base + header_number(h, o->pcs);
	}
	p->pcs.start = base + header_number(h, o->pcs);
	if (has(o->metadata)) {
		p->metadata.start = h->address + header_number(h, o->metadata);
		p->metadata.end = has(o->immutable) ? h->address + header_number(h, o->size)
						    : p->scopes.start;
	} else {
		base = header_word(h, o->mutable_data);
		p->metadata.start = base + header_number(h, o->relocation_size);
		p->metadata.end = base + header_number(h, o->mutable_size);
	}
}

/* Bytes of a part; 0 if it is empty, or ends before it begins. */
static uint64_t part_bytes(const struct nmethod_range *range)
{
	return range->end > range->start ? range->end - range->start : 0;
}

static bool are_parts_bounded(const struct nmethod_parts *p,
			      const struct hotspot_nmethod_offsets *o)
{
	uint64_t pcs = part_bytes(&p->pcs), scopes = part_bytes(&p->scopes),
		 metadata = part_bytes(&p->metadata);

	return pcs >= o->pc_bytes && pcs <= (uint64_t)PCS_MAX * o->pc_bytes && scopes &&
	       scopes <= SCOPES_BYTES_MAX && metadata >= 8 && metadata <= METADATA_MAX * 8ull;
}

/* Keep two members of each PcDesc. Return false if they are not sorted. */
static bool keep_pcs(struct hotspot_code *c, const struct hotspot_nmethod_offsets *o,
		     const uint8_t *bytes)
{
	for (uint32_t i = 0; i < c->pc_count; i++) {
		memcpy(&c->pcs[i].pc, bytes + i * o->pc_bytes + o->pc_offset, 4);
		memcpy(&c->pcs[i].scope, bytes + i * o->pc_bytes + o->pc_scope, 4);
		if (i && c->pcs[i].pc < c->pcs[i - 1].pc)
			return false;
	}
	return true;
}

static void drop_parts(struct hotspot_code *c)
{
	free(c->pcs);
	free(c->scopes);
	free(c->metadata);
	c->pcs = NULL;
	c->scopes = NULL;
	c->metadata = NULL;
	c->pc_count = c->scopes_size = c->metadata_count = 0;
}

/*
 * Read the parts into a buffer, one after the other. Parts that follow each other in memory, as
 * most do, take one read.
 */
static bool read_part_bytes(uint8_t *to, const struct hotspot_reader *r,
			    const struct nmethod_range *const parts[3])
{
	struct nmethod_range run = *parts[0];

	for (int i = 1; i <= 3; i++) {
		if (i < 3 && parts[i]->start == run.end) {
			run.end = parts[i]->end;
			continue;
		}
		if (hotspot_reader_read(r, to, run.end - run.start, run.start))
			return false;
		to += run.end - run.start;
		if (i < 3)
			run = *parts[i];
	}
	return true;
}

/* Split the bytes that were read. Return false if they are invalid, or there is no memory. */
static bool keep_parts(struct hotspot_code *c, const struct hotspot_nmethod_offsets *o,
		       const struct nmethod_parts *p, const uint8_t *bytes,
		       const struct nmethod_range *const order[3])
{
	const uint8_t *at[3] = {bytes};

	at[1] = at[0] + part_bytes(order[0]);
	at[2] = at[1] + part_bytes(order[1]);
	c->pc_count = (uint32_t)(part_bytes(&p->pcs) / o->pc_bytes);
	c->scopes_size = (uint32_t)part_bytes(&p->scopes);
	c->metadata_count = (uint32_t)(part_bytes(&p->metadata) / 8);
	c->pcs = malloc(c->pc_count * sizeof(*c->pcs));
	c->scopes = malloc(c->scopes_size);
	c->metadata = malloc(c->metadata_count * sizeof(*c->metadata));
	if (!c->pcs || !c->scopes || !c->metadata)
		return false;
	for (int i = 0; i < 3; i++) {
		if (order[i] == &p->scopes)
			memcpy(c->scopes, at[i], c->scopes_size);
		else if (order[i] == &p->metadata)
			memcpy(c->metadata, at[i], c->metadata_count * sizeof(*c->metadata));
		else if (!keep_pcs(c, o, at[i]))
			return false;
	}
	return true;
}

/* Read the three parts. Return false if one is missing or invalid. */
static bool read_parts(struct hotspot_code *c, const struct hotspot_reader *r,
		       const struct nmethod_parts *p)
{
	const bool scopes_first = p->scopes.start < p->pcs.start;
	const struct nmethod_range *const order[3] = {
		&p->metadata,
		scopes_first ? &p->scopes : &p->pcs,
		scopes_first ? &p->pcs : &p->scopes,
	};
	uint8_t *bytes;
	bool valid;

	if (!are_parts_bounded(p, &r->nmethod))
		return false;
	bytes = malloc(part_bytes(&p->pcs) + part_bytes(&p->scopes) + part_bytes(&p->metadata));
	valid = bytes && read_part_bytes(bytes, r, order) &&
		keep_parts(c, &r->nmethod, p, bytes, order);
	free(bytes);
	return valid;
}

/*
 * Return whether the scopes of one address are valid: all methods are in the metadata, and the
 * outermost is the compiled method itself.
 */
static bool are_scopes_valid(const struct hotspot_code *c, const struct hotspot_scope *scopes,
			     unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (scopes[i].method > c->metadata_count || !c->metadata[scopes[i].method - 1])
			return false;
	}
	return count && c->metadata[scopes[count - 1].method - 1] == c->method;
}

unsigned int hotspot_code_scopes(struct hotspot_scope out[HOTSPOT_FRAMES_MAX],
				 const struct hotspot_code *c, enum hotspot_integers integers,
				 uint32_t offset, bool *exact)
{
	const struct hotspot_stream s = {
		.bytes = c->scopes, .size = c->scopes_size, .integers = integers};
	const struct hotspot_pc *pc = hotspot_pc_find(c->pcs, c->pc_count, offset);
	unsigned int count = 0;

	if (pc && integers)
		count = hotspot_scopes_decode(out, &s, pc->scope);
	if (!are_scopes_valid(c, out, count))
		return 0;
	*exact = pc->pc == (int32_t)offset;
	return count;
}

/* Return whether the scopes of all addresses are valid in this form. */
static bool is_form_valid(const struct hotspot_code *c, enum hotspot_integers integers)
{
	const struct hotspot_stream s = {
		.bytes = c->scopes, .size = c->scopes_size, .integers = integers};
	struct hotspot_scope scopes[HOTSPOT_FRAMES_MAX];
	bool any = false;

	for (uint32_t i = 0; i < c->pc_count; i++) {
		if (!c->pcs[i].scope)
			continue;
		any = true;
		if (!are_scopes_valid(c, scopes,
				      hotspot_scopes_decode(scopes, &s, c->pcs[i].scope)))
			return false;
	}
	return any;
}

/* The most addresses by which the form of integers is decided, which bounds the work. */
#define FORM_PCS_MAX 4096

/*
 * Return whether the metadata have the nmethod's Method, which the outermost scopes name. If they
 * lack it, an nmethod is just being made in the place of a freed one, which has left its compile
 * id. Methods of a few instructions have no scopes.
 */
static bool has_own_method(const struct hotspot_code *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->metadata_count; i++) {
		if (c->metadata[i] == c->method)
			return true;
	}
	for (uint32_t i = 0; i < c->pc_count; i++)
		any |= c->pcs[i].scope != 0;
	return !any;
}

static void find_form(struct hotspot_reader *r, const struct hotspot_code *c)
{
	bool plain, no_zero;

	if (r->integers || c->pc_count > FORM_PCS_MAX)
		return;
	plain = is_form_valid(c, HOTSPOT_INTEGERS_PLAIN);
	no_zero = is_form_valid(c, HOTSPOT_INTEGERS_NO_ZERO);
	if (plain != no_zero)
		r->integers = plain ? HOTSPOT_INTEGERS_PLAIN : HOTSPOT_INTEGERS_NO_ZERO;
}

int hotspot_code_read(struct hotspot_code *out, struct hotspot_reader *r, uint64_t address,
		      uint32_t id)
{
	struct hotspot_code c = {.address = address, .id = id};
	struct blob_header h;
	struct nmethod_parts parts;
	int ret = read_nmethod_header(&h, r, address, id);

	if (ret)
		return ret;
	c.method = header_word(&h, h.at->method);
	find_parts(&parts, &h);
	if (!read_parts(&c, r, &parts))
		drop_parts(&c);
	ret = has_own_method(&c) ? hotspot_code_check(r, &c) : -ESTALE;
	if (ret) {
		drop_parts(&c);
		return ret;
	}
	find_form(r, &c);
	*out = c;
	return 0;
}

void hotspot_code_free(struct hotspot_code *c)
{
	drop_parts(c);
	*c = (struct hotspot_code){0};
}

/* Add the overhead of three allocations. */
size_t hotspot_code_bytes(const struct hotspot_code *c)
{
	return sizeof(*c) + c->pc_count * sizeof(*c->pcs) + c->scopes_size +
	       c->metadata_count * sizeof(*c->metadata) + 3 * 16;
}

int hotspot_blob_read(char to[HOTSPOT_NAME_MAX], const struct hotspot_reader *r, uint64_t address)
{
	static const char *const methods[] = {"nmethod", "native nmethod"};
	const uint16_t name = r->nmethod.name;
	uint8_t text[HOTSPOT_NAME_MAX] = {0};
	struct blob_header h;
	uint64_t at;
	size_t size = 0;
	int ret = read_header(&h, r, address, r->nmethod.block_bytes + name + 8u);

	if (ret)
		return ret;
	at = header_word(&h, name);
	/* most names are short, and the memory may end soon after one */
	while (size < sizeof(text) && hotspot_reader_read(r, text + size, 16, at + size) == 0 &&
	       !memchr(text + size, '\0', 16))
		size += 16;
	size = strnlen((const char *)text, size < sizeof(text) ? size + 16 : size);
	(void)hotspot_text_convert(to, HOTSPOT_NAME_MAX, text, size);
	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++) {
		if (strcmp(to, methods[i]) == 0)
			return -ESTALE;
	}
	return *to ? 0 : -EBADMSG;
}
