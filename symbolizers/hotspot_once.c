// SPDX-License-Identifier: Apache-2.0
/* Read the code that a JVM makes once, and describe how to leave it. */
#include "symbolizers/hotspot_once.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/unwind/hotspot_paths.h"

#define SEGMENTS_MAX (4u << 20) /* of a heap that are looked at; 240 MB have 1.9 million */
#define BLOBS_MAX 65536 /* that are looked at */
#define CODE_MAX (4u << 20) /* bytes of all code that is followed; JDK 25 has 0.5 MiB */
#define INTERPRETER_MAX (1u << 20) /* bytes; JDK 25 has 0.1 MiB */
#define CODELETS_MAX 4096
#define NAME_MAX_BYTES 64
#define CODE_ALIGNMENT 16 /* codelets begin at multiples; HotSpot's CodeEntryAlignment is more */
#define METHOD_ENTRY "method entry point"

/*
 * Beginnings of the names of blobs that are not followed: what is made while the program runs, what
 * is no code that runs, and the interpreter, whose codelets are followed.
 */
static const char *const other_blobs[] = {
	"nmethod",	     "native nmethod", "adapters",     "vtable chunks",
	"InlineCacheBuffer", "Interpreter",    "C1 temporary", "Signature Handler",
	"native signature",  "UpcallStub",
};

struct codelet_offsets {
	uint16_t bytes, size, description; /* of InterpreterCodelet, and its members */
};

#define CODELET(member) offsetof(struct codelet_offsets, member)

static const struct hotspot_wanted codelet_entries[] = {
	{"InterpreterCodelet", NULL, NULL, CODELET(bytes), false},
	{"InterpreterCodelet", "_size", NULL, CODELET(size), false},
	{"InterpreterCodelet", "_description", NULL, CODELET(description), false},
};

struct once_reader {
	const struct hotspot_facts *facts;
	const struct hotspot_range *heap; /* that holds the interpreter */
	struct hotspot_blocks blocks;
	struct codelet_offsets at;
	struct hotspot_paths_rows rows;
	struct unwind_rows table;
	uint8_t *code; /* CODE_MAX bytes at most */
	size_t code_left; /* bytes that may still be followed */
	bool at_end; /* no more blocks follow */
	uint64_t last_name; /* address of the name of a blob that is not followed */
	uint32_t blobs, codelets;
};

static int read_memory(struct once_reader *r, void *to, size_t bytes, uint64_t address)
{
	return r->blocks.read(r->blocks.context, to, bytes, address);
}

/* Follow a codelet of which bytes have been read. Return 0 or -ENOMEM. */
static int follow_codelet(struct once_reader *r, const uint8_t *code, size_t from, size_t end,
			  uint64_t description)
{
	static const uint8_t none[CODE_ALIGNMENT];
	char text[HOTSPOT_TEXT_MAX];
	int ret;

	/* the header is followed by padding, which was never written */
	while (from + CODE_ALIGNMENT <= end && !memcmp(code + from, none, CODE_ALIGNMENT))
		from += CODE_ALIGNMENT;
	if (from >= end || hotspot_blocks_read_text(&r->blocks, text, sizeof(text), description))
		return 0;
	ret = hotspot_paths_append(&r->rows, &(struct hotspot_once_code){
						     .bytes = code + from,
						     .size = end - from,
						     .offset = from,
						     .kind = strstr(text, METHOD_ENTRY)
								     ? HOTSPOT_ONCE_ENTRY
								     : HOTSPOT_ONCE_CODELET,
					     });
	r->codelets++;
	return ret == -ENOMEM ? ret : 0;
}

/* Follow all codelets. Return 0, -EINVAL or -ENOMEM. */
static int follow_interpreter(struct once_reader *r)
{
	const uint64_t low = r->facts->interpreter_low;
	const size_t size = r->facts->interpreter_high - low;
	int ret = size > INTERPRETER_MAX ? -EINVAL : read_memory(r, r->code, size, low);
	size_t at = 0;

	while (!ret && at + r->at.bytes <= size && r->codelets < CODELETS_MAX) {
		uint64_t begin = low + at + r->at.bytes, description;
		uint32_t bytes;

		memcpy(&bytes, r->code + at + r->at.size, sizeof(bytes));
		memcpy(&description, r->code + at + r->at.description, sizeof(description));
		if (bytes < r->at.bytes || bytes > size - at)
			break; /* what follows the last codelet */
		begin = (begin + CODE_ALIGNMENT - 1) & ~(uint64_t)(CODE_ALIGNMENT - 1);
		ret = follow_codelet(r, r->code, begin - low, at + bytes, description);
		at += bytes;
	}
	if (!ret && !r->codelets)
		ret = -EINVAL;
	return ret;
}

/* A blob's header, with what is needed of it. */
struct once_blob {
	uint64_t begin, end; /* of its code */
	char name[NAME_MAX_BYTES];
};

/* Read the header of the block at an address. Return whether it is a blob to be followed. */
static bool read_blob(struct once_reader *r, struct once_blob *out, uint64_t block)
{
	const struct hotspot_layout *l = &r->facts->layout;
	static const uint8_t none[HOTSPOT_HEADER_BYTES];
	uint8_t bytes[HOTSPOT_HEADER_BYTES], *header = bytes + l->block_bytes;
	const uint64_t blob = block + l->block_bytes;
	uint64_t name;
	size_t most = sizeof(out->name) - 1;

	if (read_memory(r, bytes, l->block_bytes + (size_t)l->header_bytes, block))
		return false;
	/* behind the last block, the segment map is 0 and the memory was never written */
	r->at_end = !memcmp(bytes, none, l->block_bytes);
	if (!bytes[l->block_used])
		return false;
	memcpy(&name, header + l->blob_name, sizeof(name));
	if (name == r->last_name)
		return false;
	out->begin = hotspot_place_in(l, header, l->blob_code, blob);
	out->end = hotspot_place_in(l, header, l->blob_data, blob);
	*out->name = '\0';
	if (hotspot_blocks_read(&r->blocks, out->name, most, name))
		return false;
	out->name[most] = '\0';
	for (size_t n = 0; n < sizeof(other_blobs) / sizeof(*other_blobs); n++) {
		if (!strncmp(out->name, other_blobs[n], strlen(other_blobs[n]))) {
			r->last_name = name;
			return false;
		}
	}
	return out->begin >= blob && out->begin < out->end && out->end <= r->heap->high;
}

static enum hotspot_once_kind kind_of_blob(const char *name)
{
	static const struct {
		const char *begin;
		enum hotspot_once_kind kind;
	} kinds[] = {
		{"StubRoutines", HOTSPOT_ONCE_FUNCTIONS},
		{"MethodHandles", HOTSPOT_ONCE_LINKERS},
		{"I2C/C2I", HOTSPOT_ONCE_ADAPTER},
		{"ExceptionBlob", HOTSPOT_ONCE_EXCEPTION},
		{"Deoptimization", HOTSPOT_ONCE_UNPACKING},
		{"UncommonTrap", HOTSPOT_ONCE_UNPACKING},
	};

	for (size_t n = 0; n < sizeof(kinds) / sizeof(*kinds); n++) {
		if (!strncmp(name, kinds[n].begin, strlen(kinds[n].begin)))
			return kinds[n].kind;
	}
	return HOTSPOT_ONCE_FUNCTION;
}

/* Follow the blob in the block at an address, if it is made once. Return 0 or -ENOMEM. */
static int follow_block(struct once_reader *r, uint64_t block)
{
	struct once_blob b;
	size_t size;
	int ret;

	if (!read_blob(r, &b, block))
		return 0;
	size = b.end - b.begin;
	if (size > r->code_left || read_memory(r, r->code, size, b.begin))
		return 0;
	r->code_left -= size;
	ret = hotspot_paths_add(&r->table, &(struct hotspot_once_code){
						   .bytes = r->code,
						   .size = size,
						   .offset = b.begin - r->heap->low,
						   .kind = kind_of_blob(b.name),
					   });
	r->blobs++;
	return ret == -ENOMEM ? ret : 0;
}

/* Follow the blobs whose blocks begin in a part of the segment map. Return 0 or -ENOMEM. */
static int follow_segments(struct once_reader *r, const uint8_t *map, size_t count, size_t first,
			   uint32_t *blocks)
{
	int ret = 0;

	for (size_t n = 0; !ret && !r->at_end && n < count && *blocks < BLOBS_MAX; n++) {
		if (map[n])
			continue;
		++*blocks;
		ret = follow_block(r, r->heap->low + ((uint64_t)(first + n) << r->heap->shift));
	}
	return ret;
}

/* Follow all blobs of the heap. The segment map is readable as far as the heap is used. */
static int follow_blobs(struct once_reader *r)
{
	const uint64_t segments = (r->heap->high - r->heap->low) >> r->heap->shift;
	uint32_t blocks = 0;
	uint8_t map[4096];
	int ret = 0;

	for (uint64_t at = 0; !ret && !r->at_end && at < segments && at < SEGMENTS_MAX;) {
		size_t room = sizeof(map) - (r->heap->segments + at) % sizeof(map);
		size_t count = segments - at < room ? segments - at : room;

		if (read_memory(r, map, count, r->heap->segments + at))
			break;
		ret = follow_segments(r, map, count, at, &blocks);
		at += count;
	}
	return ret;
}

/* Find the heap that holds the interpreter. */
static int find_heap(struct once_reader *r)
{
	const struct hotspot_facts *f = r->facts;

	for (uint32_t n = 0; n < f->range_count; n++) {
		if (f->interpreter_low >= f->ranges[n].low &&
		    f->interpreter_high <= f->ranges[n].high)
			r->heap = &f->ranges[n];
	}
	return r->heap && f->interpreter_low < f->interpreter_high ? 0 : -EINVAL;
}

static int finish_once(struct hotspot_once *out, struct once_reader *r)
{
	size_t count =
		r->rows.items.count < HOTSPOT_ROWS_MAX ? r->rows.items.count : HOTSPOT_ROWS_MAX;
	int ret = unwind_rows_finish(&r->table, &out->table, &out->table_bytes);

	if (ret == -ENOENT) /* no other code */
		ret = 0;
	if (ret)
		return ret;
	memcpy(out->rows, r->rows.items.items, count * sizeof(*out->rows));
	if (count < r->rows.items.count)
		out->rows[count - 1].state = HOTSPOT_UNKNOWN; /* the rest */
	out->row_count = (uint32_t)count;
	out->blobs = r->blobs;
	out->codelets = r->codelets;
	out->base = r->heap->low;
	return 0;
}

int hotspot_once_read(struct hotspot_once *out, const struct hotspot_tables *t,
		      const struct hotspot_facts *facts, const struct hotspot_memory *memory,
		      struct error *err)
{
	struct once_reader r = {.facts = facts,
				.code_left = CODE_MAX,
				.blocks = {.read = memory->read, .context = memory->context}};
	struct hotspot_once *o = calloc(1, sizeof(*o));
	int ret = hotspot_fill(&r.at, t, codelet_entries,
			       sizeof(codelet_entries) / sizeof(*codelet_entries), err);

	r.code = malloc(CODE_MAX);
	if (!ret)
		ret = r.code && o ? unwind_rows_init(&r.table) : -ENOMEM;
	if (!ret)
		ret = find_heap(&r);
	if (!ret && (r.at.size + 4u > r.at.bytes || r.at.description + 8u > r.at.bytes))
		ret = -EINVAL;
	if (!ret)
		ret = follow_interpreter(&r);
	if (!ret)
		ret = follow_blobs(&r);
	if (!ret)
		ret = finish_once(o, &r);
	if (ret && ret != -ENOENT)
		error_errno(err, ret, "cannot follow the code of the JVM's interpreter");
	if (!ret)
		*out = *o;
	free(o);
	free(r.code);
	vector_free(&r.rows.items);
	unwind_rows_free(&r.table);
	hotspot_blocks_free(&r.blocks);
	return ret;
}

void hotspot_once_free(struct hotspot_once *o)
{
	free(o->table);
	o->table = NULL;
}
