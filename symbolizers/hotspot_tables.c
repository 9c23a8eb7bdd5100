// SPDX-License-Identifier: Apache-2.0
/* Read HotSpot's tables from a process's memory, and search them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"
#include "symbolizers/hotspot_tables.h"

#define STRIDE_MAX 256 /* bytes of one entry; JDK 17 to 25 have 16 to 48 */

/* Texts stand one after the other in blocks, since there are thousands, most of them short. */
#define TEXT_BLOCK (16u << 10)

_Static_assert(HOTSPOT_TEXT_MAX <= TEXT_BLOCK, "a block has room for a text");

struct hotspot_tables {
	VECTOR(struct hotspot_entry) entries; /* sorted by compare_entries() */
	VECTOR(char *) texts; /* blocks */
	size_t used; /* bytes of the last block */
};

/* Texts that were added of late, by a hash: names of types stand in many entries. */
#define RECENT_TEXTS 1024

/* Reads the tables; the objects' values are here. */
struct table_reader {
	struct hotspot_blocks memory;
	uint64_t value[HOTSPOT_OBJECTS];
	struct hotspot_tables *out;
	const char *recent[RECENT_TEXTS];
	struct error *err;
};

/* One of the four tables: enum hotspot_object of its address, stride and members; -1: none. */
struct table_shape {
	const char *name;
	enum hotspot_entry_kind kind;
	int base, stride;
	int type, field, text; /* members that point to texts */
	int is_static; /* int: the value is at address instead of at offset */
	int value, address;
	unsigned int value_bytes;
};

static const struct table_shape shapes[] = {
	{"gHotSpotVMStructs", HOTSPOT_ENTRY_FIELD, HOTSPOT_STRUCTS, HOTSPOT_STRUCT_STRIDE,
	 HOTSPOT_STRUCT_TYPE, HOTSPOT_STRUCT_FIELD, HOTSPOT_STRUCT_TEXT, HOTSPOT_STRUCT_STATIC,
	 HOTSPOT_STRUCT_OFFSET, HOTSPOT_STRUCT_ADDRESS, 8},
	{"gHotSpotVMTypes", HOTSPOT_ENTRY_TYPE, HOTSPOT_TYPES, HOTSPOT_TYPE_STRIDE,
	 HOTSPOT_TYPE_NAME, -1, HOTSPOT_TYPE_SUPERCLASS, -1, HOTSPOT_TYPE_SIZE, -1, 8},
	{"gHotSpotVMIntConstants", HOTSPOT_ENTRY_INT, HOTSPOT_INTS, HOTSPOT_INT_STRIDE, -1,
	 HOTSPOT_INT_NAME, -1, -1, HOTSPOT_INT_VALUE, -1, 4},
	{"gHotSpotVMLongConstants", HOTSPOT_ENTRY_LONG, HOTSPOT_LONGS, HOTSPOT_LONG_STRIDE, -1,
	 HOTSPOT_LONG_NAME, -1, -1, HOTSPOT_LONG_VALUE, -1, 8},
};

const char *hotspot_object_name(enum hotspot_object object)
{
#define HOTSPOT_OBJECT_TEXT(NAME, symbol) symbol,
	static const char *const names[] = {HOTSPOT_OBJECT_NAMES(HOTSPOT_OBJECT_TEXT)};

	return names[object];
}

/* One entry as it is in memory. */
struct raw_entry {
	unsigned char bytes[STRIDE_MAX];
};

/* Return a member of an entry; its bounds were checked by check_shape(). */
static uint64_t raw_member(const struct table_reader *r, const struct raw_entry *raw, int member,
			   size_t bytes)
{
	uint64_t value = 0;

	memcpy(&value, raw->bytes + r->value[member], bytes);
	return value;
}

static int invalid_table(struct table_reader *r, const struct table_shape *s, const char *what)
{
	return error_set(r->err, -EINVAL, "HotSpot's table %s is invalid: %s", s->name, what);
}

static bool fits_stride(const struct table_reader *r, const struct table_shape *s, int member,
			size_t bytes)
{
	uint64_t stride = r->value[s->stride];

	return member < 0 || (bytes <= stride && r->value[member] <= stride - bytes);
}

static int check_shape(struct table_reader *r, const struct table_shape *s)
{
	if (r->value[s->stride] > STRIDE_MAX || !fits_stride(r, s, s->type, 8) ||
	    !fits_stride(r, s, s->field, 8) || !fits_stride(r, s, s->text, 8) ||
	    !fits_stride(r, s, s->is_static, 4) || !fits_stride(r, s, s->value, s->value_bytes) ||
	    !fits_stride(r, s, s->address, 8))
		return invalid_table(r, s, "members lie outside of its entries");
	return 0;
}

static const char *add_table_text(struct hotspot_tables *t, const char *text, size_t size)
{
	char *block = t->texts.count ? t->texts.items[t->texts.count - 1] : NULL, *at;

	if (!block || size > TEXT_BLOCK - t->used) {
		block = malloc(TEXT_BLOCK);
		if (!block || vector_push(&t->texts, block) < 0) {
			free(block);
			return NULL;
		}
		t->used = 0;
	}
	at = block + t->used;
	memcpy(at, text, size);
	t->used += size;
	return at;
}

/* Return a text in the tables that is the same. Return NULL without memory. */
static const char *keep_text(struct table_reader *r, const char *text)
{
	const size_t size = strlen(text) + 1;
	const char **recent;
	unsigned int hash;

	HASH_VALUE(text, size, hash);
	recent = &r->recent[hash % RECENT_TEXTS];
	if (!*recent || strcmp(*recent, text) != 0)
		*recent = add_table_text(r->out, text, size);
	return *recent;
}

/* Read the text that a member points to. No member and a null pointer are the empty text. */
static int read_member_text(struct table_reader *r, const struct raw_entry *raw, int member,
			    const char **out)
{
	uint64_t address = member < 0 ? 0 : raw_member(r, raw, member, 8);
	char text[HOTSPOT_TEXT_MAX] = "";
	int ret = 0;

	if (address)
		ret = hotspot_blocks_read_text(&r->memory, text, sizeof(text), address);
	if (ret)
		return ret == -ENOMEM ? ret : -EINVAL;
	*out = keep_text(r, text);
	return *out ? 0 : -ENOMEM;
}

static int make_entry(struct table_reader *r, const struct table_shape *s,
		      const struct raw_entry *raw, struct hotspot_entry *out)
{
	const char *type = NULL, *name = NULL, *text = NULL;
	bool is_static = s->is_static >= 0 && raw_member(r, raw, s->is_static, 4);
	int ret = read_member_text(r, raw, s->type, &type);

	if (!ret)
		ret = read_member_text(r, raw, s->field, &name);
	if (!ret)
		ret = read_member_text(r, raw, s->text, &text);
	*out = (struct hotspot_entry){s->kind, type, name, text, 0};
	if (is_static)
		out->kind = HOTSPOT_ENTRY_STATIC;
	out->value = is_static ? raw_member(r, raw, s->address, 8)
			       : raw_member(r, raw, s->value, s->value_bytes);
	return ret;
}

static int add_entry(struct table_reader *r, const struct table_shape *s,
		     const struct raw_entry *raw)
{
	struct hotspot_entry e;
	int ret = make_entry(r, s, raw, &e);

	if (!ret)
		ret = vector_push(&r->out->entries, e);
	return ret == -EINVAL ? invalid_table(r, s, "a name cannot be read") : ret;
}

/* A table ends with an entry without a name. */
static int read_table(struct table_reader *r, const struct table_shape *s)
{
	uint64_t at = r->value[s->base], stride = r->value[s->stride];
	int key = s->type >= 0 ? s->type : s->field;
	struct raw_entry raw;
	int ret = check_shape(r, s);

	for (unsigned int i = 0; !ret && i < HOTSPOT_ENTRIES_MAX; i++, at += stride) {
		ret = hotspot_blocks_read(&r->memory, raw.bytes, stride, at);
		if (ret)
			return ret == -ENOMEM ? ret
					      : invalid_table(r, s, "an entry cannot be read");
		if (!raw_member(r, &raw, key, 8))
			return i ? 0 : invalid_table(r, s, "it is empty");
		ret = add_entry(r, s, &raw);
	}
	return ret ? ret : invalid_table(r, s, "it has no end");
}

/*
 * Read the words at the objects. The strides of the four tables are the last words that the
 * constructor sets: while one is 0, entries may lack their offsets.
 */
static int read_objects(struct table_reader *r, const struct hotspot_objects *objects)
{
	for (int i = 0; i < HOTSPOT_OBJECTS; i++) {
		int ret = objects->address[i] ? 0 : -ENOENT;

		if (ret)
			return error_set(r->err, ret, "libjvm has no symbol %s",
					 hotspot_object_name(i));
		ret = hotspot_blocks_read(&r->memory, &r->value[i], 8, objects->address[i]);
		if (ret)
			return error_errno(r->err, ret, "cannot read %s", hotspot_object_name(i));
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		if (!r->value[shapes[i].stride] || !r->value[shapes[i].base])
			return error_set(r->err, -EAGAIN, "%s is not filled yet", shapes[i].name);
	}
	return 0;
}

static int compare_names(const struct hotspot_entry *a, const struct hotspot_entry *b)
{
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	if (!order)
		order = strcmp(a->type, b->type);
	return order ? order : strcmp(a->name, b->name);
}

/* Entries of the same name are in the order of their values, so that the result is always one. */
static int compare_entries(const void *a, const void *b)
{
	const struct hotspot_entry *x = a, *y = b;
	int order = compare_names(x, y);

	return order ? order : (x->value > y->value) - (x->value < y->value);
}

int hotspot_tables_read(struct hotspot_tables **out, const struct hotspot_objects *objects,
			hotspot_read_fn *read, void *context, struct error *err)
{
	struct table_reader r = {.memory = {.read = read, .context = context}, .err = err};
	int ret;

	r.out = calloc(1, sizeof(*r.out));
	if (!r.out)
		return -ENOMEM;
	ret = read_objects(&r, objects);
	for (size_t i = 0; !ret && i < sizeof(shapes) / sizeof(*shapes); i++)
		ret = read_table(&r, &shapes[i]);
	hotspot_blocks_free(&r.memory);
	if (ret) {
		hotspot_tables_free(r.out);
		return ret;
	}
	qsort(r.out->entries.items, r.out->entries.count, sizeof(*r.out->entries.items),
	      compare_entries);
	vector_fit(&r.out->entries);
	*out = r.out;
	return 0;
}

void hotspot_tables_free(struct hotspot_tables *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->texts.count; i++)
		free(t->texts.items[i]);
	vector_free(&t->texts);
	vector_free(&t->entries);
	free(t);
}

size_t hotspot_tables_bytes(const struct hotspot_tables *t)
{
	return sizeof(*t) + t->entries.capacity * sizeof(*t->entries.items) +
	       t->texts.count * TEXT_BLOCK;
}

size_t hotspot_tables_count(const struct hotspot_tables *t)
{
	return t->entries.count;
}

const struct hotspot_entry *hotspot_tables_entry(const struct hotspot_tables *t, size_t number)
{
	return &t->entries.items[number];
}

/* Return the first entry of that name, or NULL. */
static const struct hotspot_entry *find_entry(const struct hotspot_tables *t,
					      enum hotspot_entry_kind kind, const char *type,
					      const char *name)
{
	const struct hotspot_entry key = {.kind = kind, .type = type, .name = name};
	size_t low = 0, high = t->entries.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_names(&t->entries.items[middle], &key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == t->entries.count || compare_names(&t->entries.items[low], &key) != 0)
		return NULL;
	return &t->entries.items[low];
}

static const struct hotspot_entry *find_field(const struct hotspot_tables *t, const char *type,
					      const char *field)
{
	const struct hotspot_entry *e = find_entry(t, HOTSPOT_ENTRY_FIELD, type, field);

	return e ? e : find_entry(t, HOTSPOT_ENTRY_STATIC, type, field);
}

static int entry_value(const struct hotspot_entry *e, uint64_t *out)
{
	if (!e)
		return -ENOENT;
	*out = e->value;
	return 0;
}

int hotspot_field(const struct hotspot_tables *t, const char *type, const char *field,
		  uint64_t *offset)
{
	return entry_value(find_field(t, type, field), offset);
}

int hotspot_type_size(const struct hotspot_tables *t, const char *type, uint64_t *size)
{
	return entry_value(find_entry(t, HOTSPOT_ENTRY_TYPE, type, ""), size);
}

const char *hotspot_superclass(const struct hotspot_tables *t, const char *type)
{
	const struct hotspot_entry *e = find_entry(t, HOTSPOT_ENTRY_TYPE, type, "");

	return e ? e->text : "";
}

unsigned int hotspot_field_bytes(const struct hotspot_tables *t, const char *type,
				 const char *field)
{
	const struct hotspot_entry *e = find_field(t, type, field);
	const char *text = e ? e->text : "";
	size_t length = strlen(text);
	uint64_t size = 0;

	if ((length && text[length - 1] == '*') || strcmp(text, "address") == 0)
		return 8;
	(void)hotspot_type_size(t, text, &size);
	return size == 1 || size == 2 || size == 4 || size == 8 ? (unsigned int)size : 0;
}
