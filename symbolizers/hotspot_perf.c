// SPDX-License-Identifier: Apache-2.0
/* Read the counters in the PerfMemory of a JVM, which is hostile and may change meanwhile. */
#include "symbolizers/hotspot_perf.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PERF_BYTES_MAX (1u << 20) /* -XX:PerfDataMemorySize is 32 KiB */
#define PERF_MAGIC 0xc0c0feca /* the bytes ca fe c0 c0 in memory */
#define PERF_LITTLE_ENDIAN 1
#define PERF_MAJOR 2
#define PERF_LONG 'J' /* type of a 64-bit number, and of the elements of a text */
#define PERF_BYTE 'B'
#define PERF_COLLECTOR "sun.gc.collector."
#define PERF_GENERATION "sun.gc.generation."
#define PERF_SPACE "space."

/* Offsets in PerfDataPrologue and in PerfDataEntry. */
struct perf_offsets {
	uint16_t prologue_bytes, magic, order, major, accessible, first, number;
	uint16_t entry_bytes, length, name, vector, type, data;
};

#define PERF(member) offsetof(struct perf_offsets, member)

static const struct hotspot_wanted perf_entries[] = {
	{"PerfDataPrologue", NULL, NULL, PERF(prologue_bytes), false},
	{"PerfDataPrologue", "magic", NULL, PERF(magic), false},
	{"PerfDataPrologue", "byte_order", NULL, PERF(order), false},
	{"PerfDataPrologue", "major_version", NULL, PERF(major), false},
	{"PerfDataPrologue", "accessible", NULL, PERF(accessible), false},
	{"PerfDataPrologue", "entry_offset", NULL, PERF(first), false},
	{"PerfDataPrologue", "num_entries", NULL, PERF(number), false},
	{"PerfDataEntry", NULL, NULL, PERF(entry_bytes), false},
	{"PerfDataEntry", "entry_length", NULL, PERF(length), false},
	{"PerfDataEntry", "name_offset", NULL, PERF(name), false},
	{"PerfDataEntry", "vector_length", NULL, PERF(vector), false},
	{"PerfDataEntry", "data_type", NULL, PERF(type), false},
	{"PerfDataEntry", "data_offset", NULL, PERF(data), false},
};

/* One counter: all of it lies in the copy. */
struct perf_counter {
	const char *name; /* with a NUL */
	const uint8_t *data;
	size_t elements; /* of a text; 0: it is a number */
	uint8_t type;
};

/* A copy of PerfMemory, taken at once. */
struct perf_reader {
	struct perf_offsets at;
	uint64_t start; /* address in the process */
	uint8_t *bytes;
	size_t size;
	struct perf_counter cause; /* without elements: there is none */
	struct hotspot_perf *out;
	struct error *err;
};

static uint32_t word_at(const uint8_t *bytes, size_t offset)
{
	uint32_t word;

	memcpy(&word, bytes + offset, sizeof(word));
	return word;
}

static uint64_t number_of(const struct perf_counter *c)
{
	uint64_t number = 0;

	if (c->type == PERF_LONG && !c->elements)
		memcpy(&number, c->data, sizeof(number));
	return number;
}

/* Copy a text; the rest of out becomes 0. Characters that are not printable ASCII become '?'. */
static void copy_text(char out[HOTSPOT_PERF_TEXT_MAX], const struct perf_counter *c)
{
	size_t most = HOTSPOT_PERF_TEXT_MAX - 1, n = 0;

	memset(out, 0, HOTSPOT_PERF_TEXT_MAX);
	if (c->type != PERF_BYTE)
		return;
	for (; n < c->elements && n < most && c->data[n]; n++)
		out[n] = c->data[n] >= ' ' && c->data[n] < 0x7f ? (char)c->data[n] : '?';
}

/*
 * Return what follows a prefix, a number less than most, and a dot; NULL if the name begins
 * otherwise.
 */
static const char *after_number(const char *name, const char *prefix, unsigned int most,
				unsigned int *number)
{
	size_t length = strlen(prefix);
	const char *digit = name + length;

	if (strncmp(name, prefix, length) != 0 || *digit < '0' || *digit > '9' || digit[1] != '.')
		return NULL;
	*number = (unsigned int)(*digit - '0');
	return *number < most ? digit + 2 : NULL;
}

static void take_collector(struct hotspot_perf *out, const char *name, const struct perf_counter *c)
{
	unsigned int n;
	const char *rest = after_number(name, PERF_COLLECTOR, HOTSPOT_COLLECTORS_MAX, &n);

	if (!rest)
		return;
	if (!strcmp(rest, "name"))
		copy_text(out->collectors[n].name, c);
	else if (!strcmp(rest, "invocations"))
		out->collectors[n].invocations = number_of(c);
	else if (!strcmp(rest, "time"))
		out->collectors[n].time = number_of(c);
}

static void take_generation(struct hotspot_perf *out, const char *name,
			    const struct perf_counter *c)
{
	unsigned int n, space;
	const char *rest = after_number(name, PERF_GENERATION, HOTSPOT_GENERATIONS_MAX, &n);

	if (!rest)
		return;
	if (!strcmp(rest, "name"))
		copy_text(out->generations[n].name, c);
	rest = after_number(rest, PERF_SPACE, 10, &space);
	if (rest && !strcmp(rest, "used"))
		out->generations[n].used += number_of(c);
	else if (rest && !strcmp(rest, "capacity"))
		out->generations[n].capacity += number_of(c);
}

static void take_counter(struct hotspot_perf *out, const struct perf_counter *c)
{
#define PERF_COUNTER_NAME(NAME, counter, quantity) counter,
	static const char *const names[] = {HOTSPOT_COUNTERS(PERF_COUNTER_NAME)};

	for (unsigned int i = 0; i < HOTSPOT_COUNTER_COUNT; i++) {
		if (strcmp(c->name, names[i]) != 0)
			continue;
		out->values[i] = number_of(c);
		out->present |= 1ull << i;
		return;
	}
	take_collector(out, c->name, c);
	take_generation(out, c->name, c);
}

/*
 * Describe the entry of that size at an offset. Return false if a part of it lies outside of it,
 * as while the JVM is writing a new entry.
 */
static bool describe_counter(const struct perf_reader *r, size_t offset, size_t size,
			     struct perf_counter *out)
{
	const uint8_t *entry = r->bytes + offset;
	const uint32_t name = word_at(entry, r->at.name), data = word_at(entry, r->at.data);
	const uint32_t elements = word_at(entry, r->at.vector);
	const uint8_t type = entry[r->at.type];
	const size_t bytes = elements ? elements : 8; /* only texts of bytes are read */

	if (name < r->at.entry_bytes || name >= size || data >= size || bytes > size - data ||
	    !memchr(entry + name, '\0', size - name))
		return false;
	*out = (struct perf_counter){(const char *)entry + name, entry + data, elements, type};
	return type == PERF_LONG ? !elements : type == PERF_BYTE && elements;
}

/*
 * Take all counters. An entry without a size is one that the JVM is adding, behind the last
 * complete one. Return 0 or -EINVAL.
 */
static int take_counters(struct perf_reader *r)
{
	const uint32_t number = word_at(r->bytes, r->at.number);
	size_t offset = word_at(r->bytes, r->at.first);

	for (uint32_t i = 0; i < number; i++) {
		struct perf_counter c;
		uint32_t size;

		if (offset > r->size || r->at.entry_bytes > r->size - offset)
			return -EINVAL;
		size = word_at(r->bytes + offset, r->at.length);
		if (!size)
			return 0;
		if (size < r->at.entry_bytes || size > r->size - offset)
			return -EINVAL;
		if (describe_counter(r, offset, size, &c)) {
			take_counter(r->out, &c);
			if (!strcmp(c.name, "sun.gc.cause"))
				r->cause = c;
		}
		offset += size;
	}
	return 0;
}

static bool is_member(uint16_t offset, size_t bytes, uint16_t size)
{
	return offset + bytes <= size;
}

static bool are_offsets_valid(const struct perf_offsets *at)
{
	return is_member(at->magic, 4, at->prologue_bytes) &&
	       is_member(at->order, 1, at->prologue_bytes) &&
	       is_member(at->major, 1, at->prologue_bytes) &&
	       is_member(at->accessible, 1, at->prologue_bytes) &&
	       is_member(at->first, 4, at->prologue_bytes) &&
	       is_member(at->number, 4, at->prologue_bytes) && at->entry_bytes &&
	       is_member(at->length, 4, at->entry_bytes) &&
	       is_member(at->name, 4, at->entry_bytes) &&
	       is_member(at->vector, 4, at->entry_bytes) &&
	       is_member(at->type, 1, at->entry_bytes) && is_member(at->data, 4, at->entry_bytes);
}

/* Find the memory and its layout. Return 0 or an error, with its reason. */
static int find_memory(struct perf_reader *r, const struct hotspot_tables *t,
		       const struct hotspot_memory *memory)
{
	uint64_t start_at, end_at, end;
	int ret = hotspot_fill(&r->at, t, perf_entries,
			       sizeof(perf_entries) / sizeof(*perf_entries), r->err);

	if (ret)
		return ret;
	if (!are_offsets_valid(&r->at))
		return error_set(r->err, -EINVAL, "PerfMemory has members out of bounds");
	if (hotspot_field(t, "PerfMemory", "_start", &start_at) ||
	    hotspot_field(t, "PerfMemory", "_end", &end_at))
		return error_set(r->err, -ENOENT, "HotSpot's tables lack PerfMemory");
	ret = memory->read(memory->context, &r->start, 8, start_at);
	if (!ret)
		ret = memory->read(memory->context, &end, 8, end_at);
	if (ret)
		return error_errno(r->err, ret, "cannot read the JVM's memory");
	if (!r->start)
		return error_set(r->err, -ENOENT,
				 "the JVM has no counters: it runs with -XX:-UsePerfData");
	if (end < r->start || end - r->start > PERF_BYTES_MAX ||
	    end - r->start < r->at.prologue_bytes)
		return error_set(r->err, -EINVAL, "PerfMemory has an invalid size");
	r->size = (size_t)(end - r->start);
	return 0;
}

static int check_prologue(const struct perf_reader *r)
{
	if (!r->bytes[r->at.accessible])
		return error_set(r->err, -EAGAIN, "the JVM has not made its counters yet");
	if (word_at(r->bytes, r->at.magic) != PERF_MAGIC ||
	    r->bytes[r->at.order] != PERF_LITTLE_ENDIAN || r->bytes[r->at.major] != PERF_MAJOR)
		return error_set(r->err, -EINVAL, "PerfMemory has an unknown format");
	return 0;
}

/*
 * Read the cause once more: while the counters were being copied, a collection may have begun,
 * which some of them have counted. The copy has its cause before them.
 */
static int read_cause(const struct perf_reader *r, const struct hotspot_memory *memory)
{
	const struct perf_counter *c = &r->cause;
	size_t offset;
	int ret;

	if (!c->elements)
		return 0;
	offset = (size_t)(c->data - r->bytes);
	ret = memory->read(memory->context, r->bytes + offset, c->elements, r->start + offset);
	if (ret)
		return error_errno(r->err, ret, "cannot read PerfMemory");
	copy_text(r->out->cause, c);
	return 0;
}

int hotspot_perf_read(struct hotspot_perf *out, const struct hotspot_tables *t,
		      const struct hotspot_memory *memory, struct error *err)
{
	struct hotspot_perf perf;
	struct perf_reader r = {.out = &perf, .err = err};
	int ret = find_memory(&r, t, memory);

	if (ret)
		return ret;
	/* clear padding as well, since the struct is sent as it is */
	memset(&perf, 0, sizeof(perf));
	r.bytes = malloc(r.size);
	ret = r.bytes ? memory->read(memory->context, r.bytes, r.size, r.start) : -ENOMEM;
	if (ret)
		error_errno(err, ret, "cannot read PerfMemory");
	if (!ret)
		ret = check_prologue(&r);
	if (!ret) {
		ret = take_counters(&r);
		if (ret)
			error_set(err, ret, "PerfMemory has an invalid entry");
	}
	if (!ret)
		ret = read_cause(&r, memory);
	free(r.bytes);
	if (!ret)
		*out = perf;
	return ret;
}

static bool is_perf_text(const char text[HOTSPOT_PERF_TEXT_MAX])
{
	size_t length = strnlen(text, HOTSPOT_PERF_TEXT_MAX);

	if (length == HOTSPOT_PERF_TEXT_MAX)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (text[i] < ' ' || text[i] == 0x7f)
			return false;
	}
	return true;
}

bool hotspot_perf_check(const struct hotspot_perf *p)
{
	bool valid = is_perf_text(p->cause);

	for (int i = 0; i < HOTSPOT_COLLECTORS_MAX; i++)
		valid = valid && is_perf_text(p->collectors[i].name);
	for (int i = 0; i < HOTSPOT_GENERATIONS_MAX; i++)
		valid = valid && is_perf_text(p->generations[i].name);
	return valid && p->present < 1ull << HOTSPOT_COUNTER_COUNT;
}

const char *hotspot_counter_quantity(enum hotspot_counter counter)
{
#define PERF_QUANTITY(NAME, counter, quantity) quantity,
	static const char *const quantities[] = {HOTSPOT_COUNTERS(PERF_QUANTITY)};

	return counter < HOTSPOT_COUNTER_COUNT ? quantities[counter] : "";
}
