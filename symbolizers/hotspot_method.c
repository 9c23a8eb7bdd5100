// SPDX-License-Identifier: Apache-2.0
/* Read one Method of a JVM while it runs: its class, name, signature, source file and lines. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/hotspot_names_private.h"

#define HEAD_BYTES 128 /* of a ConstMethod, or of a ConstantPool */
/* Bytes of a ConstantPool that are read at once: of most pools, the slots that are needed. */
#define POOL_BYTES 4096
#define CLASS_BYTES 1024 /* of an InstanceKlass, up to the members that are read */
#define SYMBOL_BYTES 128 /* read at first; few are longer */
#define LINES_BYTES_MAX (128u << 10) /* a method has at most 64 KiB of bytecodes */
#define HAS_LINES 1 /* in the flags of ConstMethod */
#define REFERENCES_MASK 0xffff /* the other half of the word is a random number */
#define REFERENCES_PERMANENT 0xffff /* the Symbol is never freed */

#define OFFSET(member) offsetof(struct hotspot_method_offsets, member)

static const struct hotspot_wanted entries[] = {
	{"Method", "_constMethod", NULL, OFFSET(const_method), false},
	{"ConstMethod", NULL, NULL, OFFSET(const_bytes), false},
	{"ConstMethod", "_constants", NULL, OFFSET(constants), false},
	{"ConstMethod", "_constMethod_size", NULL, OFFSET(const_size), false},
	{"ConstMethod", "_flags", "_flags._flags", OFFSET(flags), false},
	{"ConstMethod", "_code_size", NULL, OFFSET(code_size), false},
	{"ConstMethod", "_name_index", NULL, OFFSET(name), false},
	{"ConstMethod", "_signature_index", NULL, OFFSET(signature), false},
	{"ConstMethod", "_method_idnum", NULL, OFFSET(number), false},
	{"ConstantPool", NULL, NULL, OFFSET(pool_bytes), false},
	{"ConstantPool", "_pool_holder", NULL, OFFSET(holder), false},
	{"ConstantPool", "_source_file_name_index", NULL, OFFSET(source), false},
	{"InstanceKlass", "_name", NULL, OFFSET(class_name), false},
	{"InstanceKlass", "_constants", NULL, OFFSET(class_pool), false},
	{"Symbol", "_hash_and_refcount", NULL, OFFSET(symbol_references), false},
	{"Symbol", "_length", NULL, OFFSET(symbol_length), false},
	{"Symbol", "_body", "_body[0]", OFFSET(symbol_body), false},
};

int hotspot_method_fill(struct hotspot_method_offsets *out, const struct hotspot_tables *t,
			struct error *err)
{
	int ret = hotspot_fill(out, t, entries, sizeof(entries) / sizeof(*entries), err);

	if (ret)
		return ret;
	if (out->const_bytes > HEAD_BYTES || out->constants + 8u > out->const_bytes ||
	    out->const_size + 4u > out->const_bytes || out->flags + 2u > out->const_bytes ||
	    out->code_size + 2u > out->const_bytes || out->name + 2u > out->const_bytes ||
	    out->signature + 2u > out->const_bytes || out->number + 2u > out->const_bytes ||
	    out->pool_bytes > HEAD_BYTES || out->holder + 8u > out->pool_bytes ||
	    out->source + 2u > out->pool_bytes || out->class_name + 8u > CLASS_BYTES ||
	    out->class_pool + 8u > CLASS_BYTES || out->symbol_references + 4u > SYMBOL_BYTES / 2 ||
	    out->symbol_length + 2u > SYMBOL_BYTES / 2 || out->symbol_body > SYMBOL_BYTES / 2)
		return error_set(err, -EINVAL, "HotSpot's tables have members out of bounds");
	return 0;
}

int hotspot_reader_read(const struct hotspot_reader *r, void *to, size_t bytes, uint64_t address)
{
	if (address + bytes <= address || !r->memory)
		return -EFAULT;
	return r->memory->read(r->memory->context, to, bytes, address) ? -EFAULT : 0;
}

static uint64_t get_word(const uint8_t *bytes, size_t offset)
{
	uint64_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint32_t get_number(const uint8_t *bytes, uint16_t offset, size_t size)
{
	uint32_t number = 0;

	memcpy(&number, bytes + offset, size);
	return number;
}

/* The head of a Method, by which it is recognized. */
struct method_head {
	uint64_t const_method;
	uint8_t bytes[HEAD_BYTES]; /* of the ConstMethod */
};

static uint64_t pool_of(const struct hotspot_reader *r, const struct method_head *h)
{
	return get_word(h->bytes, r->method.constants);
}

static uint32_t index_of(const struct method_head *h, uint16_t offset)
{
	return get_number(h->bytes, offset, 2);
}

static int read_method_head(struct method_head *out, const struct hotspot_reader *r,
			    uint64_t address)
{
	int ret = hotspot_reader_read(r, &out->const_method, 8, address + r->method.const_method);

	return ret ? ret
		   : hotspot_reader_read(r, out->bytes, r->method.const_bytes, out->const_method);
}

/* Read the symbols that are a part of the method's id. */
static int read_symbols(struct hotspot_method_symbols *out, const struct hotspot_reader *r,
			const struct method_head *h)
{
	const struct hotspot_method_offsets *o = &r->method;
	const uint64_t pool = pool_of(r, h);
	uint64_t class;
	int ret = hotspot_reader_read(r, &class, 8, pool + o->holder);

	if (!ret)
		ret = hotspot_reader_read(r, &out->class_name, 8, class + o->class_name);
	if (!ret)
		ret = hotspot_reader_read(r, &out->references, 4,
					  out->class_name + o->symbol_references);
	return ret ? ret
		   : hotspot_reader_read(r, &out->name, 8,
					 pool + o->pool_bytes + 8ull * index_of(h, o->name));
}

/* Get the id of a method, with its symbols if wanted has them. */
static int get_id(uint32_t *out, const struct hotspot_reader *r, const struct method_head *h,
		  uint32_t wanted)
{
	const struct hotspot_method_offsets *o = &r->method;
	struct hotspot_method_numbers numbers = {
		.code_size = (uint16_t)index_of(h, o->code_size),
		.name = (uint16_t)index_of(h, o->name),
		.signature = (uint16_t)index_of(h, o->signature),
		.number = (uint16_t)index_of(h, o->number),
	};
	struct hotspot_method_symbols symbols;
	const bool all = wanted & HOTSPOT_ID_HAS_SYMBOLS;
	int ret = all ? read_symbols(&symbols, r, h) : 0;

	if (!ret)
		*out = hotspot_method_id(h->const_method, pool_of(r, h), &numbers,
					 all ? &symbols : NULL);
	return ret;
}

/* Read a Symbol as UTF-8, in malloc()ed memory. A Symbol without references is a freed one. */
static int read_symbol(char **out, size_t room, const struct hotspot_reader *r, uint64_t address)
{
	const struct hotspot_method_offsets *o = &r->method;
	uint8_t bytes[SYMBOL_BYTES + HOTSPOT_CLASS_MAX];
	char text[HOTSPOT_CLASS_MAX];
	size_t had = SYMBOL_BYTES, length;
	bool cut;
	int ret = hotspot_reader_read(r, bytes, had, address);

	if (ret) {
		/* the memory may end soon after the symbol */
		had = o->symbol_body;
		ret = hotspot_reader_read(r, bytes, had, address);
	}
	if (ret)
		return ret;
	if (!(get_number(bytes, o->symbol_references, 4) & REFERENCES_MASK))
		return -ESTALE;
	length = get_number(bytes, o->symbol_length, 2);
	cut = length > HOTSPOT_CLASS_MAX;
	if (cut)
		length = HOTSPOT_CLASS_MAX;
	if (o->symbol_body + length > had)
		ret = hotspot_reader_read(r, bytes + had, o->symbol_body + length - had,
					  address + had);
	if (ret)
		return ret;
	if (cut)
		length = hotspot_text_whole(bytes + o->symbol_body, length);
	/* the JVM checks the names of classes that it loads */
	if (!hotspot_text_convert(text, room, bytes + o->symbol_body, length))
		return -ESTALE;
	*out = strdup(text);
	return *out ? 0 : -ENOMEM;
}

/* Return 0 if a Symbol has this random number, or if it is 0, is never freed; else -ESTALE. */
static int check_symbol(const struct hotspot_reader *r, uint64_t address, uint64_t number)
{
	uint32_t word = 0;
	int ret = hotspot_reader_read(r, &word, 4, address + r->method.symbol_references);

	if (ret)
		return ret;
	if (!number)
		return (word & REFERENCES_MASK) == REFERENCES_PERMANENT ? 0 : -ESTALE;
	return word & REFERENCES_MASK && word >> 16 == number ? 0 : -ESTALE;
}

/* Return the name of the type of an array's elements; NULL: it is a class, or makes no sense. */
static const char *primitive_name(char letter)
{
	static const char *const names[][2] = {
		{"Z", "boolean"}, {"B", "byte"}, {"C", "char"},	 {"S", "short"},
		{"I", "int"},	  {"J", "long"}, {"F", "float"}, {"D", "double"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (*names[i][0] == letter)
			return names[i][1];
	return NULL;
}

/*
 * Convert the name of a class, or the descriptor of an array, to the name that Java writes. Return
 * -ESTALE if it is neither. Source: JVM Specification, sections 4.2.1 and 4.3.2.
 */
static int show_class(char out[HOTSPOT_CLASS_MAX], char *name)
{
	const size_t dimensions = strspn(name, "["), length = strlen(name + dimensions);
	char *element = name + dimensions;
	const char *shown = element;

	if (dimensions && length == 1) {
		shown = primitive_name(*element);
	} else if (dimensions && *element == 'L' && element[length - 1] == ';') {
		element[length - 1] = '\0';
		shown = ++element;
	} else if (dimensions) {
		return -ESTALE;
	}
	if (!shown || !*element || strpbrk(element, ".;[") ||
	    strlen(shown) + 2 * dimensions >= HOTSPOT_CLASS_MAX)
		return -ESTALE;
	hotspot_class_shown(element);
	strcpy(out, shown);
	for (size_t i = 0; i < dimensions; i++)
		strcat(out, "[]");
	return 0;
}

int hotspot_class_read(char out[HOTSPOT_CLASS_MAX], const struct hotspot_reader *r,
		       uint64_t address, uint64_t number)
{
	char *name = NULL;
	int ret = check_symbol(r, address, number);

	if (!ret)
		ret = read_symbol(&name, HOTSPOT_CLASS_MAX, r, address);
	if (!ret)
		ret = check_symbol(r, address, number);
	if (!ret)
		ret = show_class(out, name);
	free(name);
	return ret;
}

/* A constant pool, with as much of its beginning as could be read at once. */
struct pool {
	uint64_t address;
	size_t size; /* bytes read */
	uint8_t bytes[POOL_BYTES];
};

static int read_pool(struct pool *p, const struct hotspot_reader *r, uint64_t address)
{
	p->address = address;
	p->size = POOL_BYTES;
	if (hotspot_reader_read(r, p->bytes, p->size, address) == 0)
		return 0;
	/* the memory may end before */
	p->size = r->method.pool_bytes;
	return hotspot_reader_read(r, p->bytes, p->size, address);
}

/* Read the Symbol in a slot of the constant pool. */
static int read_pool_symbol(char **out, size_t room, const struct hotspot_reader *r,
			    const struct pool *p, uint32_t index)
{
	const size_t offset = r->method.pool_bytes + index * 8u;
	uint64_t symbol;
	int ret = index ? 0 : -EBADMSG;

	if (!ret && offset + 8 <= p->size)
		symbol = get_word(p->bytes, offset);
	else if (!ret)
		ret = hotspot_reader_read(r, &symbol, 8, p->address + offset);
	return ret ? ret : read_symbol(out, room, r, symbol);
}

/* Read the name of the source file that a class's constant pool has; "" if it has none. */
static int read_source_file(struct hotspot_named_method *m, const struct hotspot_reader *r,
			    const struct pool *p)
{
	uint32_t index = get_number(p->bytes, r->method.source, 2);

	if (index)
		return read_pool_symbol(&m->file, HOTSPOT_FILE_MAX, r, p, index);
	m->file = strdup("");
	return m->file ? 0 : -ENOMEM;
}

/*
 * Return whether the method is one of those that the JVM makes for method handles (linkToStatic and
 * so on). Their pools are not those of their class, which is never unloaded, and have no source
 * file. Source: OpenJDK, Method::make_method_handle_intrinsic().
 */
static bool is_linker(const struct hotspot_reader *r, const struct method_head *h)
{
	return index_of(h, r->method.name) == 1 && index_of(h, r->method.signature) == 2 &&
	       index_of(h, r->method.code_size) == 0;
}

/*
 * Read the class's name and source file. The class must have the method's constant pool: memory
 * that was freed and used again hardly has the two point to each other.
 */
static int read_method_class(struct hotspot_named_method *m, const struct hotspot_reader *r,
			     const struct method_head *h, const struct pool *pool)
{
	const struct hotspot_method_offsets *o = &r->method;
	const size_t size = (o->class_name > o->class_pool ? o->class_name : o->class_pool) + 8u;
	uint8_t bytes[CLASS_BYTES];
	struct pool own;
	int ret = hotspot_reader_read(r, bytes, size, get_word(pool->bytes, o->holder));

	if (ret)
		return ret;
	if (get_word(bytes, o->class_pool) != pool->address) {
		ret = is_linker(r, h) ? read_pool(&own, r, get_word(bytes, o->class_pool))
				      : -ESTALE;
		pool = &own;
	}
	if (!ret)
		ret = read_symbol(&m->class_name, HOTSPOT_CLASS_MAX, r,
				  get_word(bytes, o->class_name));
	if (ret)
		return ret;
	hotspot_class_shown(m->class_name);
	return read_source_file(m, r, pool);
}

/* Decode a table of lines with integers of one form. Return as hotspot_lines_decode(). */
static int decode_lines(struct hotspot_line *out, const uint8_t *bytes, size_t size,
			enum hotspot_integers integers, uint32_t code_size)
{
	struct hotspot_stream s = {.bytes = bytes, .size = size, .integers = integers};

	return hotspot_lines_decode(out, &s, code_size);
}

/*
 * Decode the table with integers of the known form. If it is not known yet, a table that is valid
 * in one form alone shows it; a table that has both meanings has no lines, unless they are the
 * same. out has room for twice as many elements as bytes.
 */
static int decode_lines_of_method(struct hotspot_line *out, struct hotspot_reader *r,
				  const uint8_t *bytes, size_t size, uint32_t code_size)
{
	struct hotspot_line *other = out + size;
	int plain, no_zero;

	if (r->integers)
		return decode_lines(out, bytes, size, r->integers, code_size);
	plain = decode_lines(other, bytes, size, HOTSPOT_INTEGERS_PLAIN, code_size);
	no_zero = decode_lines(out, bytes, size, HOTSPOT_INTEGERS_NO_ZERO, code_size);
	if (no_zero == plain && plain > 0 && memcmp(out, other, (size_t)plain * sizeof(*out)) == 0)
		return plain;
	if (plain >= 0 && no_zero >= 0)
		return -1;
	if (plain < 0 && no_zero < 0)
		return -1;
	r->integers = plain >= 0 ? HOTSPOT_INTEGERS_PLAIN : HOTSPOT_INTEGERS_NO_ZERO;
	if (plain >= 0)
		memcpy(out, other, (size_t)plain * sizeof(*out));
	return plain >= 0 ? plain : no_zero;
}

/* Keep the lines that were decoded. */
static int keep_lines(struct hotspot_named_method *m, const struct hotspot_line *lines, int count)
{
	const size_t size = count > 0 ? (size_t)count * sizeof(*lines) : 0;

	if (!size)
		return 0;
	m->lines = malloc(size);
	if (!m->lines)
		return -ENOMEM;
	memcpy(m->lines, lines, size);
	m->line_count = (uint32_t)count;
	return 0;
}

/*
 * Read the table of lines, which follows the bytecodes, and which only the end of the ConstMethod
 * bounds. Return 0, also if there is none or it cannot be read, since names are useful without
 * lines; or -ENOMEM.
 */
static int read_lines(struct hotspot_named_method *m, struct hotspot_reader *r,
		      const struct method_head *h)
{
	const struct hotspot_method_offsets *o = &r->method;
	uint64_t whole = get_number(h->bytes, o->const_size, 4) * 8ull;
	uint64_t before = o->const_bytes + (uint64_t)m->code_size;
	struct hotspot_line *lines;
	uint8_t *bytes;
	size_t size;
	int ret = 0;

	if (!(index_of(h, o->flags) & HAS_LINES) || whole <= before)
		return 0;
	size = whole - before < LINES_BYTES_MAX ? (size_t)(whole - before) : LINES_BYTES_MAX;
	bytes = malloc(size);
	lines = malloc(2 * size * sizeof(*lines));
	if (!bytes || !lines)
		ret = -ENOMEM;
	else if (hotspot_reader_read(r, bytes, size, h->const_method + before) == 0)
		ret = keep_lines(m, lines,
				 decode_lines_of_method(lines, r, bytes, size, m->code_size));
	free(bytes);
	free(lines);
	return ret;
}

/*
 * Return whether these may be names of a class file: what is read from freed memory mostly is not.
 * Source: JVM Specification, sections 4.2 and 4.3.
 */
static bool has_legal_names(const struct hotspot_named_method *m)
{
	return *m->class_name && !strpbrk(m->class_name, ";[") && *m->name &&
	       !strpbrk(m->name, ".;[/") && *m->signature == '(';
}

static int read_method_parts(struct hotspot_named_method *m, struct hotspot_reader *r,
			     const struct method_head *h)
{
	const struct hotspot_method_offsets *o = &r->method;
	struct pool pool;
	int ret = read_pool(&pool, r, pool_of(r, h));

	if (!ret)
		ret = read_method_class(m, r, h, &pool);
	if (!ret)
		ret = read_pool_symbol(&m->name, HOTSPOT_NAME_MAX, r, &pool, index_of(h, o->name));
	if (!ret)
		ret = read_pool_symbol(&m->signature, HOTSPOT_SIGNATURE_MAX, r, &pool,
				       index_of(h, o->signature));
	if (!ret && !has_legal_names(m))
		ret = -ESTALE;
	return ret ? ret : read_lines(m, r, h);
}

/* Return 0 if the Method still has this id. */
static int check_method(const struct hotspot_reader *r, const struct hotspot_named_method *m)
{
	struct method_head h;
	uint32_t id;
	int ret = read_method_head(&h, r, m->address);

	if (!ret)
		ret = get_id(&id, r, &h, m->id);
	return ret ? ret : id == m->id ? 0 : -ESTALE;
}

int hotspot_method_read(struct hotspot_named_method *out, struct hotspot_reader *r,
			uint64_t address, const uint32_t *id)
{
	const enum hotspot_integers known = r->integers;
	struct hotspot_named_method m = {.address = address};
	struct method_head h;
	int ret = read_method_head(&h, r, address), late;

	if (!ret)
		ret = get_id(&m.id, r, &h, id ? *id : HOTSPOT_ID_HAS_SYMBOLS);
	if (ret)
		return ret;
	m.code_size = index_of(&h, r->method.code_size);
	if (id && m.id != *id)
		return -ESTALE;
	ret = read_method_parts(&m, r, &h);
	/* its error comes first: the parts that were read may belong to another method */
	late = id ? check_method(r, &m) : 0;
	if (late)
		ret = late;
	if (!ret) {
		*out = m;
		return 0;
	}
	/* freed memory shows nothing about the form of integers */
	r->integers = known;
	hotspot_method_free(&m);
	return ret;
}

void hotspot_method_free(struct hotspot_named_method *m)
{
	free(m->class_name);
	free(m->name);
	free(m->signature);
	free(m->file);
	free(m->lines);
	*m = (struct hotspot_named_method){0};
}

/* Add the overhead of five allocations. */
size_t hotspot_method_bytes(const struct hotspot_named_method *m)
{
	return sizeof(*m) + strlen(m->class_name) + strlen(m->name) + strlen(m->signature) +
	       strlen(m->file) + m->line_count * sizeof(*m->lines) + 5 * 16;
}
