// SPDX-License-Identifier: Apache-2.0
/*
 * Read the names of Java threads from the Java heap. How references and classes are stored depends
 * on options of the JVM: each form is tried, and the one that leads to an object of the expected
 * class is right.
 */
#include "symbolizers/hotspot_oops.h"

#include <errno.h>
#include <string.h>

#include "symbolizers/hotspot_decode.h"
#include "symbolizers/hotspot_fields.h"

#define CLASS_OF(name) "_klasses[static_cast<int>(vmClassID::" name "_klass_knum)]"
#define SUPERCLASSES_MAX 16
#define NAME_BYTES_MAX 512 /* of a name that are read; the rest would be cut */
#define SHIFT_MAX 16
#define MARK_CLASS_SHIFT 42 /* of HOTSPOT_HEAD_COMPACT */

static int read_java(const struct hotspot_oops *o, void *to, size_t bytes, uint64_t address)
{
	if (!address || address + bytes < address)
		return -EFAULT;
	return o->memory->read(o->memory->context, to, bytes, address);
}

static uint64_t word_in(const struct hotspot_memory *memory, const struct hotspot_tables *t,
			const char *type, const char *field, size_t bytes)
{
	uint64_t at, word = 0;

	if (hotspot_field(t, type, field, &at) || memory->read(memory->context, &word, bytes, at))
		return 0;
	return word;
}

/* Read a static field that got another name in JDK 25. */
static uint64_t renamed_word(const struct hotspot_memory *memory, const struct hotspot_tables *t,
			     const char *type, const char *fields[2], size_t bytes)
{
	uint64_t at;

	return word_in(memory, t, type,
		       hotspot_field(t, type, fields[0], &at) ? fields[1] : fields[0], bytes);
}

static void read_encodings(struct hotspot_oops *o, const struct hotspot_tables *t)
{
	static const char *heap_base[] = {"_base", "_narrow_oop._base"};
	static const char *heap_shift[] = {"_shift", "_narrow_oop._shift"};
	static const char *class_base[] = {"_base", "_narrow_klass._base"};
	static const char *class_shift[] = {"_shift", "_narrow_klass._shift"};
	static const char heap[] = "CompressedOops", classes[] = "CompressedKlassPointers";

	o->heap_base = renamed_word(o->memory, t, heap, heap_base, 8);
	o->heap_shift = (uint32_t)renamed_word(o->memory, t, heap, heap_shift, 4) % SHIFT_MAX;
	o->class_base = renamed_word(o->memory, t, classes, class_base, 8);
	o->class_shift = (uint32_t)renamed_word(o->memory, t, classes, class_shift, 4) % SHIFT_MAX;
}

void hotspot_oops_begin(struct hotspot_oops *out, const struct hotspot_tables *t,
			const struct hotspot_memory *memory)
{
	struct hotspot_oops o = {.memory = memory};
	uint64_t thread, super = 0;

	read_encodings(&o, t);
	thread = word_in(memory, t, "vmClasses", CLASS_OF("Thread"), 8);
	o.string_class = word_in(memory, t, "vmClasses", CLASS_OF("String"), 8);
	if (thread && o.string_class && !hotspot_field(t, "Klass", "_super", &super) &&
	    super < HOTSPOT_ABSENT &&
	    !hotspot_java_field(&o.thread_name, t, memory, thread, "name") &&
	    !hotspot_java_field(&o.string_value, t, memory, o.string_class, "value") &&
	    !hotspot_java_field(&o.string_coder, t, memory, o.string_class, "coder"))
		o.thread_class = thread;
	o.super = (uint16_t)super;
	o.aligned_arrays = !!hotspot_field(t, "CompressedOops", "_base", &super);
	*out = o;
}

/* Return whether a class is another one, or one of its subclasses. */
static bool is_class(const struct hotspot_oops *o, uint64_t class, uint64_t wanted)
{
	for (int i = 0; class && class != wanted && i < SUPERCLASSES_MAX; i++) {
		if (read_java(o, &class, 8, class + o->super))
			return false;
	}
	return class == wanted;
}

/* Return the head of the object at an address; HOTSPOT_HEAD_UNKNOWN: it is not of that class. */
static enum hotspot_head object_head(const struct hotspot_oops *o, uint64_t address,
				     uint64_t wanted)
{
	uint64_t words[2];

	if (address % 8 || read_java(o, words, sizeof(words), address))
		return HOTSPOT_HEAD_UNKNOWN;
	if (is_class(o, o->class_base + ((words[1] & UINT32_MAX) << o->class_shift), wanted))
		return HOTSPOT_HEAD_NARROW;
	if (is_class(o, words[1], wanted))
		return HOTSPOT_HEAD_WIDE;
	if (is_class(o, o->class_base + (words[0] >> MARK_CLASS_SHIFT << o->class_shift), wanted))
		return HOTSPOT_HEAD_COMPACT;
	return HOTSPOT_HEAD_UNKNOWN;
}

/*
 * Forms of a reference, in the order in which they are tried: two narrow ones, the second of them
 * null, look like a wide one. ZGC without generations maps an address under each of its colors.
 */
enum reference_form { FORM_NARROW, FORM_WIDE, FORM_COLORED, FORM_COUNT };

static uint64_t decode_reference(const struct hotspot_oops *o, uint64_t word,
				 enum reference_form form)
{
	if (form == FORM_NARROW)
		return o->heap_base + ((word & UINT32_MAX) << o->heap_shift);
	return form == FORM_COLORED ? hotspot_without_color(word) : word;
}

/* The place of a string's characters. */
struct java_string {
	uint64_t bytes; /* address of its byte[] */
	enum hotspot_head head; /* of every object of this JVM */
	uint8_t coder; /* 0: Latin-1; 1: UTF-16 */
};

static bool find_string(const struct hotspot_oops *o, uint64_t thread, struct java_string *out)
{
	uint64_t word = 0, string, value = 0;

	/* the last bytes of a heap may be those of a narrow reference */
	if (read_java(o, &word, 8, thread + o->thread_name) &&
	    read_java(o, &word, 4, thread + o->thread_name))
		return false;
	for (int form = 0; form < FORM_COUNT; form++) {
		string = decode_reference(o, word, form);
		out->head = object_head(o, string, o->string_class);
		if (out->head == HOTSPOT_HEAD_UNKNOWN)
			continue;
		if (read_java(o, &value, form == FORM_NARROW ? 4 : 8, string + o->string_value) ||
		    read_java(o, &out->coder, 1, string + o->string_coder))
			return false;
		out->bytes = decode_reference(o, value, form);
		return out->bytes && out->coder <= 1;
	}
	return false;
}

/*
 * Convert UTF-16 or Latin-1 to "modified UTF-8", in which each unit is a character of its own.
 * Return the bytes written.
 */
static size_t units_to_symbol(uint8_t *to, const uint8_t *from, size_t size, uint8_t coder)
{
	size_t at = 0;

	for (size_t i = 0; i + coder < size; i += 1u + coder) {
		uint32_t unit = coder ? from[i] | (uint32_t)from[i + 1] << 8 : from[i];

		if (unit && unit < 0x80) {
			to[at++] = (uint8_t)unit;
		} else if (unit < 0x800) {
			to[at++] = (uint8_t)(0xc0 | unit >> 6);
			to[at++] = (uint8_t)(0x80 | (unit & 0x3f));
		} else {
			to[at++] = (uint8_t)(0xe0 | unit >> 12);
			to[at++] = (uint8_t)(0x80 | (unit >> 6 & 0x3f));
			to[at++] = (uint8_t)(0x80 | (unit & 0x3f));
		}
	}
	return at;
}

/*
 * Read the characters of a string. The elements of a byte[] follow its length; up to JDK 22 they
 * are aligned to 8 bytes.
 */
static bool read_string(const struct hotspot_oops *o, const struct java_string *s,
			char name[HOTSPOT_THREAD_NAME_MAX])
{
	uint8_t bytes[NAME_BYTES_MAX], symbol[3 * NAME_BYTES_MAX];
	uint64_t from = s->bytes + s->head + 4;
	uint32_t length = 0;

	if (read_java(o, &length, 4, s->bytes + s->head))
		return false;
	if (!length || length > INT32_MAX)
		return false;
	if (s->head == HOTSPOT_HEAD_WIDE && o->aligned_arrays)
		from += 4;
	if (length > sizeof(bytes))
		length = sizeof(bytes);
	if (read_java(o, bytes, length, from))
		return false;
	hotspot_text_convert(name, HOTSPOT_THREAD_NAME_MAX, symbol,
			     units_to_symbol(symbol, bytes, length, s->coder));
	return true;
}

/*
 * Decode the reference to a thread, and note the forms in which it leads to an object. Return its
 * address; 0: it is not one of the forms.
 */
static uint64_t decode_thread(struct hotspot_oops *o, uint64_t word)
{
	for (int form = FORM_WIDE; form < FORM_COUNT; form++) {
		const uint64_t thread = decode_reference(o, word, form);

		o->colored = form == FORM_COLORED;
		o->head = object_head(o, thread, o->thread_class);
		if (o->head != HOTSPOT_HEAD_UNKNOWN)
			return thread;
	}
	return 0;
}

void hotspot_thread_name(struct hotspot_oops *o, uint64_t handle,
			 char name[HOTSPOT_THREAD_NAME_MAX])
{
	uint64_t slot = 0, word = 0, after = 0, thread;
	struct java_string s;

	memset(name, 0, HOTSPOT_THREAD_NAME_MAX);
	o->head = HOTSPOT_HEAD_UNKNOWN;
	if (!o->thread_class || read_java(o, &slot, 8, handle) || read_java(o, &word, 8, slot))
		return;
	thread = decode_thread(o, word);
	if (!thread || !find_string(o, thread, &s) || !read_string(o, &s, name))
		return;
	/* a collector may have moved the objects meanwhile */
	if (read_java(o, &after, 8, slot) || after != word)
		memset(name, 0, HOTSPOT_THREAD_NAME_MAX);
}
