/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A made-up JVM for tests: its tables, a code cache, classes, methods and nmethods. Offsets are not
 * those of any JDK; arrangement and form of integers are those up to JDK 19 (old), or those of 25.
 */
#ifndef SKEIN_TESTS_HOTSPOT_SCENE_H
#define SKEIN_TESTS_HOTSPOT_SCENE_H

#include "hotspot_image.h"
#include "symbolizers/hotspot_names.h"

#define SCENE_BLOCK 16 /* bytes of a HeapBlock */
#define SCENE_NMETHOD 256 /* bytes of an nmethod */
#define SCENE_CONST 56
#define SCENE_POOL 72
#define SCENE_ID 4711 /* compile id of scene.code */

struct hotspot_scene {
	struct hotspot_image image;
	bool old;
	struct hotspot_tables *tables;
	struct hotspot_names *names;
	uint64_t outer, inner; /* Methods */
	uint64_t code, native, stub; /* blobs */
	uint64_t scopes; /* address of the scopes of code */
	uint64_t metadata; /* address of the metadata of code */
	uint64_t heaps; /* address of CodeCache::_heaps' array */
	uint64_t counters; /* address of the PerfDataPrologue */
	uint64_t unloads; /* of the value of the counter of unloaded classes */
};

/* What only JDK 17 to 21 have. */
static const struct hotspot_entry scene_older[] = {
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_frame_complete_offset", "int", 16},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_code_begin", "address", 24},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_code_end", "address", 32},
	{HOTSPOT_ENTRY_FIELD, "CompiledMethod", "_method", "Method*", 40},
	{HOTSPOT_ENTRY_FIELD, "CompiledMethod", "_deopt_handler_begin", "address", 104},
	{HOTSPOT_ENTRY_FIELD, "CompiledMethod", "_deopt_mh_handler_begin", "address", 112},
	{HOTSPOT_ENTRY_FIELD, "CompiledMethod", "_scopes_data_begin", "address", 72},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_metadata_offset", "int", 64},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_dependencies_offset", "int", 68},
	{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_flags", "u2", 28},
};

/* What newer ones have in its place. */
static const struct hotspot_entry scene_newer[] = {
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_frame_complete_offset", "int16_t", 16},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_code_offset", "int", 24},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_data_offset", "int", 32},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_mutable_data", "address", 88},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_mutable_data_size", "int", 96},
	{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_relocation_size", "int", 100},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_method", "Method*", 40},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_deopt_handler_offset", "int", 104},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_deopt_mh_handler_offset", "int", 112},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_immutable_data", "address", 72},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_immutable_data_size", "int", 64},
	{HOTSPOT_ENTRY_FIELD, "nmethod", "_scopes_data_offset", "int", 68},
	{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_flags._flags", "u4", 28},
};

/* statics: address of the words CodeCache::_heaps, AbstractInterpreter::_code, PerfMemory::_start.
 */
static inline size_t scene_entries(struct hotspot_entry out[128], bool old, uint64_t statics)
{
	const struct hotspot_entry common[] = {
		{HOTSPOT_ENTRY_TYPE, "HeapBlock", "", NULL, SCENE_BLOCK},
		{HOTSPOT_ENTRY_TYPE, "ConstMethod", "", NULL, SCENE_CONST},
		{HOTSPOT_ENTRY_TYPE, "ConstantPool", "", NULL, SCENE_POOL},
		{HOTSPOT_ENTRY_TYPE, "PcDesc", "", NULL, 16},
		{HOTSPOT_ENTRY_TYPE, "int", "", NULL, 4},
		{HOTSPOT_ENTRY_TYPE, "int16_t", "", NULL, 2},
		{HOTSPOT_ENTRY_TYPE, "nmethod", "", old ? "CompiledMethod" : "CodeBlob", 256},
		{HOTSPOT_ENTRY_TYPE, "CompiledMethod", "", "CodeBlob", 128},
		{HOTSPOT_ENTRY_TYPE, "CodeBlob", "", NULL, 96},
		{HOTSPOT_ENTRY_TYPE, "InstanceKlass", "", "Klass", 400},
		{HOTSPOT_ENTRY_TYPE, "Klass", "", NULL, 200},
		{HOTSPOT_ENTRY_FIELD, "HeapBlock::Header", "_used", "bool", 8},
		{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_name", "char*", 0},
		{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_size", "int", 8},
		{HOTSPOT_ENTRY_FIELD, "CodeBlob", "_frame_size", "int", 12},
		{HOTSPOT_ENTRY_FIELD, "nmethod", "_compile_id", "int", 48},
		{HOTSPOT_ENTRY_FIELD, "nmethod", "_state", "volatile signed char", 52},
		{HOTSPOT_ENTRY_FIELD, "nmethod", "_orig_pc_offset", "int", 56},
		{HOTSPOT_ENTRY_FIELD, "nmethod", "_scopes_pcs_offset", "int", 60},
		{HOTSPOT_ENTRY_FIELD, "Method", "_constMethod", "ConstMethod*", 8},
		{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_constants", "ConstantPool*", 8},
		{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_constMethod_size", "int", 24},
		{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_code_size", "u2", 34},
		{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_name_index", "u2", 36},
		{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_signature_index", "u2", 38},
		{HOTSPOT_ENTRY_FIELD, "ConstMethod", "_method_idnum", "u2", 40},
		{HOTSPOT_ENTRY_FIELD, "ConstantPool", "_pool_holder", "InstanceKlass*", 24},
		{HOTSPOT_ENTRY_FIELD, "ConstantPool", "_source_file_name_index", "u2", 54},
		{HOTSPOT_ENTRY_FIELD, "Klass", "_name", "Symbol*", 24},
		{HOTSPOT_ENTRY_FIELD, "InstanceKlass", "_constants", "ConstantPool*", 224},
		{HOTSPOT_ENTRY_FIELD, "Symbol", "_hash_and_refcount", "unsigned int", 0},
		{HOTSPOT_ENTRY_FIELD, "Symbol", "_length", "u2", 4},
		{HOTSPOT_ENTRY_FIELD, "Symbol", "_body", "", 6},
		{HOTSPOT_ENTRY_FIELD, "PcDesc", "_pc_offset", "int", 0},
		{HOTSPOT_ENTRY_FIELD, "PcDesc", "_scope_decode_offset", "int", 4},
		{HOTSPOT_ENTRY_FIELD, "GrowableArrayBase", "_len", "int", 0},
		{HOTSPOT_ENTRY_FIELD, "GrowableArray<int>", "_data", "int*", 8},
		{HOTSPOT_ENTRY_FIELD, "CodeHeap", "_memory", "VirtualSpace", 0},
		{HOTSPOT_ENTRY_FIELD, "CodeHeap", "_segmap", "VirtualSpace", 32},
		{HOTSPOT_ENTRY_FIELD, "CodeHeap", "_log2_segment_size", "int", 64},
		{HOTSPOT_ENTRY_FIELD, "VirtualSpace", "_low_boundary", "char*", 0},
		{HOTSPOT_ENTRY_FIELD, "VirtualSpace", "_high_boundary", "char*", 8},
		{HOTSPOT_ENTRY_FIELD, "StubQueue", "_stub_buffer", "address", 8},
		{HOTSPOT_ENTRY_FIELD, "StubQueue", "_buffer_limit", "int", 20},
		{HOTSPOT_ENTRY_STATIC, "CodeCache", "_heaps", "", statics},
		{HOTSPOT_ENTRY_STATIC, "AbstractInterpreter", "_code", "StubQueue*", statics + 8},
		{HOTSPOT_ENTRY_STATIC, "PerfMemory", "_start", "char*", statics + 16},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "entry_offset", "jint", 24},
		{HOTSPOT_ENTRY_FIELD, "PerfDataPrologue", "num_entries", "jint", 28},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "entry_length", "jint", 0},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "name_offset", "jint", 4},
		{HOTSPOT_ENTRY_FIELD, "PerfDataEntry", "data_offset", "jint", 16},
		{HOTSPOT_ENTRY_INT, "", "InvocationEntryBci", NULL, -1u},
		{HOTSPOT_ENTRY_LONG, "", "markWord::age_mask", NULL, 15},
	};
	const size_t count = sizeof(common) / sizeof(*common);
	const size_t more = (old ? sizeof(scene_older) : sizeof(scene_newer)) / sizeof(*out);

	memcpy(out, common, sizeof(common));
	memcpy(out + count, old ? scene_older : scene_newer, more * sizeof(*out));
	return count + more;
}

static inline uint64_t scene_symbol(struct hotspot_image *image, const char *text)
{
	size_t length = strlen(text);
	uint64_t address = image_room(image, 6 + length);

	image_set(image, address, 0xabcd0001, 4);
	image_set(image, address + 4, length, 2);
	memcpy(image->bytes + (address + 6 - IMAGE_BASE), text, length);
	return address;
}

/*
 * Write a class with one method of 20 bytes of bytecodes, whose lines are first (from bci 0 on) and
 * first + 300 (from bci 10 on).
 */
static inline uint64_t scene_method(struct hotspot_scene *s, const char *class_name,
				    const char *name, uint16_t first)
{
	struct hotspot_image *image = &s->image;
	uint64_t method = image_room(image, 88), constants = image_room(image, SCENE_POOL + 4 * 8);
	uint64_t klass = image_room(image, 400), const_method;
	/* escape: bci + 0, line + first; escape: bci + 10, line + 300; end */
	const unsigned int add = s->old ? 0 : 1;
	const uint32_t values[] = {0, 2u * first, 20, 600};
	uint8_t table[32], *at = table;

	for (int i = 0; i < 4; i++) {
		if (i % 2 == 0)
			*at++ = 0xff;
		if (values[i] < 192 - add) {
			*at++ = (uint8_t)(values[i] + add);
			continue;
		}
		/* two bytes: the first has the lowest 6 bits in the codes from 192 on */
		*at = (uint8_t)(192 + (values[i] - 192 + add) % 64);
		at[1] = (uint8_t)((values[i] + add - *at) / 64 + add);
		at += 2;
	}
	*at++ = 0;
	const_method = image_room(image, SCENE_CONST + 20 + 32);
	image_set(image, method + 8, const_method, 8);
	image_set(image, const_method + 8, constants, 8);
	image_set(image, const_method + 24, (SCENE_CONST + 20 + 32) / 8, 4);
	image_set(image, const_method + 28, 1, 2);
	image_set(image, const_method + 34, 20, 2);
	image_set(image, const_method + 36, 1, 2);
	image_set(image, const_method + 38, 2, 2);
	image_set(image, const_method + 40, 7, 2);
	memcpy(image->bytes + (const_method + SCENE_CONST + 20 - IMAGE_BASE), table,
	       (size_t)(at - table));
	image_set(image, constants + 24, klass, 8);
	image_set(image, constants + 54, 3, 2);
	image_set(image, constants + SCENE_POOL + 8, scene_symbol(image, name), 8);
	image_set(image, constants + SCENE_POOL + 16, scene_symbol(image, "(I)V"), 8);
	image_set(image, constants + SCENE_POOL + 24, scene_symbol(image, "Scene.java"), 8);
	image_set(image, klass + 24, scene_symbol(image, class_name), 8);
	image_set(image, klass + 224, constants, 8);
	return method;
}

static inline uint64_t scene_blob(struct hotspot_image *image, const char *name, size_t bytes)
{
	uint64_t block = image_room(image, SCENE_BLOCK + bytes), blob = block + SCENE_BLOCK;

	image_set(image, block + 8, 1, 1);
	image_set(image, blob, image_text(image, name), 8);
	image_set(image, blob + 8, bytes, 4);
	return blob;
}

/* The places of the data of an nmethod, which begins at data. */
static inline void scene_place_parts(struct hotspot_scene *s, uint64_t data, size_t scopes_bytes,
				     size_t pcs_bytes)
{
	struct hotspot_image *image = &s->image;

	if (s->old) {
		/* metadata, scopes, addresses */
		s->metadata = data;
		s->scopes = data + 16;
		image_set(image, s->code + 64, s->metadata - s->code, 4);
		image_set(image, s->code + 72, s->scopes, 8);
		image_set(image, s->code + 60, s->scopes + scopes_bytes - s->code, 4);
		image_set(image, s->code + 68, s->scopes + scopes_bytes + pcs_bytes - s->code, 4);
		return;
	}
	/* addresses, scopes; metadata elsewhere, after 8 bytes */
	s->scopes = data + pcs_bytes;
	s->metadata = image_room(image, 24) + 8;
	image_set(image, s->code + 72, data, 8);
	image_set(image, s->code + 60, 0, 4);
	image_set(image, s->code + 68, pcs_bytes, 4);
	image_set(image, s->code + 64, pcs_bytes + scopes_bytes, 4);
	image_set(image, s->code + 88, s->metadata - 8, 8);
	image_set(image, s->code + 100, 8, 4);
	image_set(image, s->code + 96, 24, 4);
}

/*
 * The method outer is compiled, with inner inlined: at 16, in inner at bci 3, called at bci 12; at
 * 32, in outer at bci 5.
 */
static inline void scene_code(struct hotspot_scene *s)
{
	/* sender, method, bci + 1: outer at 12 from offset 1 on; inner at 3; outer at 5 */
	const uint8_t scopes[16] = {0xff, 0, 1, 13, 1, 2, 4, 0, 1, 6};
	const int32_t pcs[4][2] = {{-1, 0}, {16, 4}, {32, 7}, {INT32_MAX, 0}};
	struct hotspot_image *image = &s->image;
	uint64_t data, at;

	s->code = scene_blob(image, "nmethod", SCENE_NMETHOD);
	data = image_room(image, 16 + sizeof(scopes) + sizeof(pcs) * 2);
	image_set(image, s->code + 40, s->outer, 8);
	image_set(image, s->code + 48, SCENE_ID, 4);
	scene_place_parts(s, data, sizeof(scopes), 4 * 16);
	image_set(image, s->metadata, s->outer, 8);
	image_set(image, s->metadata + 8, s->inner, 8);
	for (size_t i = 0; i < sizeof(scopes); i++)
		image_set(image, s->scopes + i, scopes[i] + (!s->old && i && i < 10), 1);
	at = s->old ? s->scopes + sizeof(scopes) : data;
	for (int i = 0; i < 4; i++) {
		image_set(image, at + i * 16ull, (uint32_t)pcs[i][0], 4);
		image_set(image, at + i * 16ull + 4, (uint32_t)pcs[i][1], 4);
	}
}

static inline uint64_t scene_heap(struct hotspot_image *image, uint64_t low, uint64_t high)
{
	uint64_t heap = image_room(image, 72);

	image_set(image, heap, low, 8);
	image_set(image, heap + 8, high, 8);
	image_set(image, heap + 32, 0x7f0000400000, 8);
	image_set(image, heap + 64, 7, 4);
	return heap;
}

static inline void scene_cache(struct hotspot_scene *s, uint64_t statics)
{
	struct hotspot_image *image = &s->image;
	uint64_t queue = image_room(image, 32);

	s->heaps = image_room(image, 16);
	image_set(image, statics, s->heaps, 8);
	image_set(image, statics + 8, queue, 8);
	image_set(image, s->heaps, 2, 4);
	image_set(image, s->heaps + 8, image_room(image, 16 * 8), 8);
	image_set(image, s->heaps + 16, scene_heap(image, 0x7f0000200000, 0x7f0000300000), 8);
	image_set(image, s->heaps + 24, scene_heap(image, 0x7f0000100000, 0x7f0000200000), 8);
	image_set(image, queue + 8, 0x7f0000110000, 8);
	image_set(image, queue + 20, 0x20000, 4);
}

/* Write the JVM's counters, each of 64 bytes. */
static inline void scene_counters(struct hotspot_scene *s, uint64_t statics)
{
	static const char *const names[] = {"java.cls.loadedClasses", "java.cls.unloadedClasses"};
	struct hotspot_image *image = &s->image;

	s->counters = image_room(image, 32 + 2 * 64);
	image_set(image, statics + 16, s->counters, 8);
	image_set(image, s->counters + 24, 32, 4);
	image_set(image, s->counters + 28, 2, 4);
	for (uint64_t i = 0, at = s->counters + 32; i < 2; i++, at += 64) {
		image_set(image, at, 64, 4);
		image_set(image, at + 4, 20, 4);
		image_set(image, at + 16, 48, 4);
		memcpy(image->bytes + (at + 20 - IMAGE_BASE), names[i], strlen(names[i]) + 1);
		s->unloads = at + 48;
	}
}

/* Make a JVM. Return NULL if the library refuses it; the caller frees with scene_free(). */
static inline struct hotspot_scene *scene_make(bool old)
{
	struct hotspot_scene *s = calloc(1, sizeof(*s));
	struct hotspot_entry entries[128];
	uint64_t statics;

	if (!s)
		abort();
	s->old = old;
	(void)image_room(&s->image, 256); /* what lies before a blob can be read */
	statics = image_room(&s->image, 24);
	image_tables(&s->image, entries, scene_entries(entries, old, statics));
	scene_cache(s, statics);
	scene_counters(s, statics);
	s->outer = scene_method(s, "a/Scene", "outer", 40);
	s->inner = scene_method(s, "a/Scene$$Lambda$3+0x00007f0000c00800", "inner", 100);
	scene_code(s);
	s->native = scene_blob(&s->image, "native nmethod", SCENE_NMETHOD);
	image_set(&s->image, s->native + 40, s->inner, 8);
	image_set(&s->image, s->native + 48, SCENE_ID + 1, 4);
	s->stub = scene_blob(&s->image, "StubRoutines (1)", 512);
	if (hotspot_tables_read(&s->tables, &s->image.objects, image_read, &s->image, NULL) ||
	    hotspot_names_new(&s->names, s->tables, NULL))
		abort();
	s->image.reads = 0;
	return s;
}

static inline void scene_free(struct hotspot_scene *s)
{
	hotspot_names_free(s->names);
	hotspot_tables_free(s->tables);
	free(s);
}

#endif
