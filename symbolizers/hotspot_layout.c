// SPDX-License-Identifier: Apache-2.0
/* Make the BPF walker's layout of a JVM, and find its code cache. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "symbolizers/hotspot_layout.h"

#define SHIFT_MAX 16
#define CACHE_MAX (1ull << 32) /* bytes of a heap; HotSpot's limit for all of them is 2 GiB */
#define FLAGS_MAX 8192
#define FLAG_BYTES_MAX 64
#define COUNTERS_MAX 4096 /* JDK 17 to 25 have about 250 */
#define COUNTER_BYTES_MAX 4096

#define LAYOUT(member) offsetof(struct hotspot_layout, member)

static const struct hotspot_wanted layout_entries[] = {
	{"HeapBlock", NULL, NULL, LAYOUT(block_bytes), false},
	{"HeapBlock::Header", "_used", NULL, LAYOUT(block_used), false},
	{"CodeBlob", "_name", NULL, LAYOUT(blob_name), false},
	{"CodeBlob", "_size", NULL, LAYOUT(blob_size), false},
	{"CodeBlob", "_frame_size", NULL, LAYOUT(blob_frame_size), false},
	{"CodeBlob", "_frame_complete_offset", NULL, LAYOUT(blob_frame_complete), false},
	{"CodeBlob", "_code_begin", "_code_offset", LAYOUT(blob_code), false},
	{"CodeBlob", "_code_end", "_data_offset", LAYOUT(blob_data), false},
	{"nmethod", "_method", NULL, LAYOUT(nmethod_method), false},
	{"nmethod", "_compile_id", NULL, LAYOUT(nmethod_compile_id), false},
	{"nmethod", "_orig_pc_offset", NULL, LAYOUT(nmethod_original_pc), false},
	{"nmethod", "_deopt_handler_begin", "_deopt_handler_offset", LAYOUT(nmethod_deopt), false},
	{"nmethod", "_deopt_mh_handler_begin", "_deopt_mh_handler_offset", LAYOUT(nmethod_deopt_mh),
	 false},
	{"Method", "_constMethod", NULL, LAYOUT(method_const), false},
	{"ConstMethod", NULL, NULL, LAYOUT(const_bytes), false},
	{"ConstMethod", "_constants", NULL, LAYOUT(const_constants), false},
	{"ConstMethod", "_code_size", NULL, LAYOUT(const_code_size), false},
	{"ConstMethod", "_name_index", NULL, LAYOUT(const_name), false},
	{"ConstMethod", "_signature_index", NULL, LAYOUT(const_signature), false},
	{"ConstMethod", "_method_idnum", NULL, LAYOUT(const_number), false},
	{"ConstantPool", NULL, NULL, LAYOUT(pool_bytes), false},
	{"ConstantPool", "_pool_holder", NULL, LAYOUT(pool_holder), false},
	{"InstanceKlass", "_name", NULL, LAYOUT(class_name), false},
	{"Symbol", "_hash_and_refcount", NULL, LAYOUT(symbol_references), false},
};

/* Return the end of the blob's members that the walker reads. */
static uint32_t header_end(const struct hotspot_layout *l)
{
	const uint32_t place = l->place == HOTSPOT_PLACE_POINTER ? 8 : 4;
	const uint32_t ends[] = {
		l->blob_name + 8u,
		l->blob_size + 4u,
		l->blob_frame_size + 4u,
		l->blob_frame_complete + (uint32_t)l->frame_complete_bytes,
		l->blob_code + place,
		l->blob_data + place,
		l->nmethod_method + 8u,
		l->nmethod_compile_id + 4u,
		l->nmethod_original_pc + 4u,
		l->nmethod_deopt + place,
		l->nmethod_deopt_mh + place,
	};
	uint32_t end = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		end = ends[i] > end ? ends[i] : end;
	return (end + 7) & ~7u;
}

static bool is_method_valid(const struct hotspot_layout *l)
{
	return l->const_bytes <= HOTSPOT_METHOD_BYTES &&
	       l->const_constants + 8u <= l->const_bytes &&
	       l->const_code_size + 2u <= l->const_bytes && l->const_name + 2u <= l->const_bytes &&
	       l->const_signature + 2u <= l->const_bytes &&
	       l->const_number + 2u <= l->const_bytes && l->method_const < HOTSPOT_ABSENT &&
	       l->pool_holder + 8u <= l->pool_bytes && l->class_name < HOTSPOT_ABSENT &&
	       l->symbol_references < HOTSPOT_ABSENT;
}

static bool is_layout_valid(const struct hotspot_layout *l)
{
	return l->place <= HOTSPOT_PLACE_OFFSET &&
	       (l->frame_complete_bytes == 2 || l->frame_complete_bytes == 4) &&
	       l->header_bytes == header_end(l) && l->block_used < l->block_bytes &&
	       l->block_bytes <= 64 && l->block_bytes % 8 == 0 &&
	       l->block_bytes + l->header_bytes <= HOTSPOT_HEADER_BYTES && is_method_valid(l);
}

/* Set how the header stores places: all of them in the same way. */
static int find_place(struct hotspot_layout *l, const struct hotspot_tables *t)
{
	static const char *const pointers[] = {"_code_begin", "_code_end", "_deopt_handler_begin",
					       "_deopt_mh_handler_begin"};
	const unsigned int count = sizeof(pointers) / sizeof(*pointers);
	unsigned int found = 0, bytes = 0;
	uint64_t offset;

	for (unsigned int i = 0; i < count; i++)
		found += hotspot_class_field(t, "nmethod", pointers[i], &offset, NULL) == 0;
	l->place = found ? HOTSPOT_PLACE_POINTER : HOTSPOT_PLACE_OFFSET;
	(void)hotspot_class_field(t, "CodeBlob", "_frame_complete_offset", &offset, &bytes);
	l->frame_complete_bytes = (uint8_t)bytes;
	return found == 0 || found == count ? 0 : -EINVAL;
}

/*
 * Make the layout. Return 0, or -ENOENT: the tables lack an entry, which the message names; -EINVAL
 * if the result is not valid. On failure *out is untouched.
 */
static int make_layout(struct hotspot_layout *out, const struct hotspot_tables *t,
		       struct error *err)
{
	struct hotspot_layout l;
	int ret;

	/* clear padding as well: layouts are compared as bytes */
	memset(&l, 0, sizeof(l));
	ret = hotspot_fill(&l, t, layout_entries, sizeof(layout_entries) / sizeof(*layout_entries),
			   err);
	if (!ret)
		ret = find_place(&l, t);
	if (ret)
		return ret;
	l.header_bytes = (uint16_t)header_end(&l);
	if (!is_layout_valid(&l))
		return error_set(err, -EINVAL, "HotSpot's tables have members out of bounds");
	*out = l;
	return 0;
}

/* Offsets for the way from CodeCache::_heaps to the heaps. */
struct cache_offsets {
	uint16_t length, data; /* in GrowableArray */
	uint16_t memory, segments, shift; /* in CodeHeap */
	uint16_t low, high; /* in VirtualSpace, of the reserved range */
	uint16_t stubs, limit; /* in StubQueue */
	uint16_t flag_bytes, flag_name, flag_address; /* size of JVMFlag, and its members */
	/* int: in PerfDataPrologue, the first entry and their number; in PerfDataEntry */
	uint16_t counters_first, counters_number, counter_bytes, counter_name, counter_value;
};

#define CACHE(member) offsetof(struct cache_offsets, member)

static const struct hotspot_wanted cache_entries[] = {
	{"GrowableArrayBase", "_len", NULL, CACHE(length), false},
	{"GrowableArray<int>", "_data", NULL, CACHE(data), false},
	{"CodeHeap", "_memory", NULL, CACHE(memory), false},
	{"CodeHeap", "_segmap", NULL, CACHE(segments), false},
	{"CodeHeap", "_log2_segment_size", NULL, CACHE(shift), false},
	{"VirtualSpace", "_low_boundary", NULL, CACHE(low), false},
	{"VirtualSpace", "_high_boundary", NULL, CACHE(high), false},
	{"StubQueue", "_stub_buffer", NULL, CACHE(stubs), false},
	{"StubQueue", "_buffer_limit", NULL, CACHE(limit), false},
	{"JVMFlag", NULL, NULL, CACHE(flag_bytes), true},
	{"JVMFlag", "_name", NULL, CACHE(flag_name), true},
	{"JVMFlag", "_addr", NULL, CACHE(flag_address), true},
	{"PerfDataPrologue", "entry_offset", NULL, CACHE(counters_first), true},
	{"PerfDataPrologue", "num_entries", NULL, CACHE(counters_number), true},
	{"PerfDataEntry", "entry_length", NULL, CACHE(counter_bytes), true},
	{"PerfDataEntry", "name_offset", NULL, CACHE(counter_name), true},
	{"PerfDataEntry", "data_offset", NULL, CACHE(counter_value), true},
};

struct facts_reader {
	const struct hotspot_tables *tables;
	const struct hotspot_memory *memory;
	struct cache_offsets at;
	struct error *err;
	int status; /* the first error of a read */
};

/* Read an integer of a process; 0 after an error, which r->status has. */
static uint64_t read_fact(struct facts_reader *r, uint64_t address, size_t bytes)
{
	uint64_t value = 0;
	int ret = r->status ? 0 : r->memory->read(r->memory->context, &value, bytes, address);

	if (ret)
		r->status = error_errno(r->err, ret, "cannot read the JVM's memory");
	return r->status ? 0 : value;
}

/* Read the word at a static field; a missing field is an error. */
static uint64_t read_static(struct facts_reader *r, const char *type, const char *field)
{
	uint64_t address = 0;

	if (hotspot_field(r->tables, type, field, &address) == 0)
		return read_fact(r, address, 8);
	if (!r->status)
		r->status =
			error_set(r->err, -ENOENT, "HotSpot's tables lack %s of %s", field, type);
	return 0;
}

static void read_heap(struct facts_reader *r, struct hotspot_range *out, uint64_t heap)
{
	*out = (struct hotspot_range){
		.low = read_fact(r, heap + r->at.memory + r->at.low, 8),
		.high = read_fact(r, heap + r->at.memory + r->at.high, 8),
		.segments = read_fact(r, heap + r->at.segments + r->at.low, 8),
		.shift = (uint32_t)read_fact(r, heap + r->at.shift, 4),
	};
	if (!r->status && (!heap || !out->low || !out->high || !out->segments))
		r->status = error_set(r->err, -EAGAIN, "the JVM has no code cache yet");
}

static void sort_heap_ranges(struct hotspot_facts *f)
{
	for (uint32_t i = 1; i < f->range_count; i++) {
		for (uint32_t k = i; k && f->ranges[k].low < f->ranges[k - 1].low; k--) {
			struct hotspot_range moved = f->ranges[k];

			f->ranges[k] = f->ranges[k - 1];
			f->ranges[k - 1] = moved;
		}
	}
}

static void read_heaps(struct facts_reader *r, struct hotspot_facts *f)
{
	uint64_t heaps = read_static(r, "CodeCache", "_heaps"), count, data;

	count = heaps ? read_fact(r, heaps + r->at.length, 4) : 0;
	data = heaps ? read_fact(r, heaps + r->at.data, 8) : 0;
	if (!r->status && (!count || !data))
		r->status = error_set(r->err, -EAGAIN, "the JVM has no code cache yet");
	if (!r->status && count > HOTSPOT_RANGES_MAX)
		r->status = error_set(r->err, -EINVAL, "the JVM's code cache has too many heaps");
	for (uint32_t i = 0; !r->status && i < count; i++)
		read_heap(r, &f->ranges[i], read_fact(r, data + i * 8ull, 8));
	f->range_count = r->status ? 0 : (uint32_t)count;
	sort_heap_ranges(f);
}

/*
 * Find the interpreter. The JVM makes it after all heaps of the code cache: while there is none,
 * heaps may be missing.
 */
static void read_interpreter(struct facts_reader *r, struct hotspot_facts *f)
{
	uint64_t queue = read_static(r, "AbstractInterpreter", "_code"), bytes;

	f->interpreter_low = queue ? read_fact(r, queue + r->at.stubs, 8) : 0;
	bytes = queue ? read_fact(r, queue + r->at.limit, 4) : 0;
	f->interpreter_high = f->interpreter_low + bytes;
	if (!r->status && (!f->interpreter_low || !bytes))
		r->status = error_set(r->err, -EAGAIN, "the JVM has no interpreter yet");
}

/* Return the address of a flag's value; 0 if there is no such flag, or it cannot be found. */
static uint64_t find_flag(const struct facts_reader *r, uint64_t flags, uint64_t count,
			  const char *name)
{
	struct hotspot_blocks blocks = {.read = r->memory->read, .context = r->memory->context};
	uint64_t text, address = 0;
	char other[HOTSPOT_TEXT_MAX];

	for (uint64_t i = 0; !address && i < count && i < FLAGS_MAX; i++) {
		uint64_t at = flags + i * r->at.flag_bytes;

		if (hotspot_blocks_read(&blocks, &text, 8, at + r->at.flag_name))
			break;
		if (text && hotspot_blocks_read_text(&blocks, other, sizeof(other), text) == 0 &&
		    strcmp(other, name) == 0 &&
		    hotspot_blocks_read(&blocks, &address, 8, at + r->at.flag_address))
			address = 0;
	}
	hotspot_blocks_free(&blocks);
	return address;
}

static uint32_t read_block_int(struct hotspot_blocks *b, uint64_t address)
{
	uint32_t value;

	return hotspot_blocks_read(b, &value, sizeof(value), address) ? 0 : value;
}

/* Return the address of the counter of that name; 0 if there is none. start: a PerfDataPrologue. */
static uint64_t find_counter(const struct facts_reader *r, uint64_t start, const char *name)
{
	struct hotspot_blocks blocks = {.read = r->memory->read, .context = r->memory->context};
	uint32_t count = read_block_int(&blocks, start + r->at.counters_number);
	uint64_t at = start + read_block_int(&blocks, start + r->at.counters_first), found = 0;
	char other[HOTSPOT_TEXT_MAX];

	for (uint32_t i = 0; !found && i < count && i < COUNTERS_MAX; i++) {
		uint32_t bytes = read_block_int(&blocks, at + r->at.counter_bytes);
		uint32_t text = read_block_int(&blocks, at + r->at.counter_name);
		uint32_t value = read_block_int(&blocks, at + r->at.counter_value);

		if (!bytes || bytes > COUNTER_BYTES_MAX || text >= bytes || value >= bytes)
			break;
		if (hotspot_blocks_read_text(&blocks, other, sizeof(other), at + text) == 0 &&
		    strcmp(other, name) == 0)
			found = at + value;
		at += bytes;
	}
	hotspot_blocks_free(&blocks);
	return found;
}

/*
 * Find the JVM's own counter of unloaded classes, in the data for jstat. Without it (with
 * -XX:-UsePerfData, and until the JVM has made it), walks take more time.
 */
static void find_unloads(const struct facts_reader *r, struct hotspot_facts *f)
{
	struct error ignored;
	struct facts_reader own = *r;
	uint64_t start;

	own.err = &ignored;
	start = read_static(&own, "PerfMemory", "_start");
	if (own.status || !start || own.at.counters_first == HOTSPOT_ABSENT ||
	    own.at.counters_number == HOTSPOT_ABSENT || own.at.counter_bytes == HOTSPOT_ABSENT ||
	    own.at.counter_name == HOTSPOT_ABSENT || own.at.counter_value == HOTSPOT_ABSENT)
		return;
	f->unloads = find_counter(&own, start, "java.cls.unloadedClasses");
}

/*
 * Read the flag and the version, which people see and nothing depends on: what cannot be read is 0
 * or "".
 */
static void read_extras(const struct facts_reader *r, struct hotspot_facts *f)
{
	struct error ignored;
	struct facts_reader own = *r;
	uint64_t address, count;

	own.err = &ignored;
	address = read_static(&own, "JVMFlag", "flags");
	count = read_static(&own, "JVMFlag", "numFlags");
	if (r->at.flag_bytes <= FLAG_BYTES_MAX && address)
		address = find_flag(&own, address, count, "DebugNonSafepoints");
	f->debug_non_safepoints = !own.status && address && read_fact(&own, address, 1) == 1;
	own.status = 0;
	address = read_static(&own, "Abstract_VM_Version", "_s_vm_release");
	if (own.status || !address ||
	    own.memory->read(own.memory->context, f->version, sizeof(f->version) - 1, address))
		f->version[0] = '\0';
	memset(f->version + strlen(f->version), 0, sizeof(f->version) - strlen(f->version));
}

static bool is_range_valid(const struct hotspot_range *range)
{
	return range->low < range->high && range->high - range->low <= CACHE_MAX &&
	       range->high <= INT64_MAX && range->shift && range->shift <= SHIFT_MAX &&
	       range->segments && !range->unused;
}

bool hotspot_facts_check(const struct hotspot_facts *f)
{
	if (!is_layout_valid(&f->layout) || !f->range_count ||
	    f->range_count > HOTSPOT_RANGES_MAX || f->debug_non_safepoints > 1 ||
	    f->interpreter_low > f->interpreter_high || f->interpreter_high > INT64_MAX ||
	    f->version[sizeof(f->version) - 1])
		return false;
	for (uint32_t i = 0; i < f->range_count; i++) {
		if (!is_range_valid(&f->ranges[i]) ||
		    (i && f->ranges[i].low < f->ranges[i - 1].high))
			return false;
	}
	return true;
}

int hotspot_facts_read(struct hotspot_facts *out, const struct hotspot_tables *t,
		       const struct hotspot_memory *memory, struct error *err)
{
	struct facts_reader r = {.tables = t, .memory = memory, .err = err};
	struct hotspot_facts f;

	/* clear padding as well, since the struct is sent as it is */
	memset(&f, 0, sizeof(f));
	r.status = make_layout(&f.layout, t, err);
	if (!r.status)
		r.status = hotspot_fill(&r.at, t, cache_entries,
					sizeof(cache_entries) / sizeof(*cache_entries), err);
	read_heaps(&r, &f);
	read_interpreter(&r, &f);
	if (r.status)
		return r.status;
	find_unloads(&r, &f);
	read_extras(&r, &f);
	if (!hotspot_facts_check(&f))
		return error_set(err, -EINVAL, "the JVM's code cache is invalid");
	*out = f;
	return 0;
}

uint64_t hotspot_place_in(const struct hotspot_layout *l, const uint8_t *header, uint16_t offset,
			  uint64_t blob)
{
	int64_t place;
	int32_t from;

	if (l->place == HOTSPOT_PLACE_POINTER) {
		memcpy(&place, header + offset, sizeof(place));
		return (uint64_t)place;
	}
	memcpy(&from, header + offset, sizeof(from));
	return blob + (uint64_t)(int64_t)from;
}
