// SPDX-License-Identifier: Apache-2.0
/* The walker's own step out of a Java method, in the memory of a made-up JVM. */
#include <stdbool.h>
#include <string.h>

#include "suite.h"

#include "bpf/unwind/state.h"

#define HEAP 0x7f0000000000ULL /* of code, segments of 128 bytes */
#define BLOCK 16
#define BLOB (HEAP + BLOCK)
#define CODE (HEAP + 256)
#define CODE_BYTES 256
#define STACK (HEAP + 8192)
#define SEGMENTS (HEAP + 12288)
#define NAME (HEAP + 12416)
#define ID 4711
#define FRAME_WORDS 6
#define SP (STACK + 512)
#define CALLER 0x7fff12345678ULL /* return address of the method */
#define ADAPTER (CODE + 100000)

static uint8_t memory[16384];
static struct hotspot_code_rows rows;
static struct hotspot_cached cache[64];
static bool has_cache;
static unsigned int reads; /* of memory that is no stack */

static const struct hotspot_layout layout = {
	.block_bytes = BLOCK,
	.block_used = 8,
	.header_bytes = 128,
	.blob_frame_size = 12,
	.blob_frame_complete = 16,
	.blob_code = 24,
	.blob_data = 32,
	.nmethod_compile_id = 48,
	.nmethod_original_pc = 56,
	.nmethod_deopt = 64,
	.nmethod_deopt_mh = HOTSPOT_ABSENT,
	.place = HOTSPOT_PLACE_OFFSET,
	.frame_complete_bytes = 2,
};

static const struct hotspot_process process = {
	.layout = 1,
	.range_count = 1,
	.number = 1,
	.ranges = {{.low = HEAP, .high = HEAP + 4096, .segments = SEGMENTS, .shift = 7}},
};

static inline int walk_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
{
	(void)w;
	if (address < HEAP || address - HEAP > sizeof(memory) ||
	    bytes > sizeof(memory) - (address - HEAP))
		return -1;
	memcpy(to, memory + (address - HEAP), bytes);
	reads += address < STACK || address >= SEGMENTS;
	return 0;
}

static inline int walk_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most,
				 __u64 address)
{
	ck_assert_uint_le(bytes, most);
	return walk_read(w, to, bytes, address);
}

static inline int hotspot_read(struct native_walk *w, void *to, __u32 bytes, __u64 address)
{
	return walk_read(w, to, bytes, address);
}

static inline int hotspot_read_part(struct native_walk *w, void *to, __u32 bytes, __u32 most,
				    __u64 address)
{
	ck_assert_uint_le(bytes, most);
	return walk_read(w, to, bytes, address);
}

static inline const struct hotspot_process *hotspot_find_process(const struct native_walk *w)
{
	return w->hotspot == process.number ? &process : NULL;
}

static inline const struct hotspot_layout *hotspot_find_layout(const struct hotspot_process *p)
{
	return p->layout == 1 ? &layout : NULL;
}

static inline const struct hotspot_code_rows *hotspot_find_code_rows(const struct native_walk *w)
{
	return w->java.blob.address == BLOB && rows.count ? &rows : NULL;
}

static inline struct hotspot_cached *hotspot_cache_entry(__u64 hash)
{
	return has_cache ? &cache[hash % (sizeof(cache) / sizeof(*cache))] : NULL;
}

/* There are no tables, and no cache of their rules. */

static inline const struct arena_chunk *walk_chunk(const struct native_walk *w, __u32 number)
{
	(void)w, (void)number;
	return NULL;
}

static inline struct unwind_slot *walk_slot(const struct native_walk *w, __u32 number)
{
	(void)w, (void)number;
	return NULL;
}

static inline const struct unwind_rule *walk_rule(const struct native_walk *w, __u32 number)
{
	(void)w, (void)number;
	return NULL;
}

static inline __u64 walk_now(void)
{
	return 0;
}

static inline int walk_cache_lookup(const struct native_walk *w, __u64 pc, __u32 *rule)
{
	(void)w, (void)pc, (void)rule;
	return -1;
}

static inline void walk_cache_store(const struct native_walk *w, __u64 pc, __u32 rule)
{
	(void)w, (void)pc, (void)rule;
}

#include "bpf/unwind/hotspot.h"

static void put(uint64_t address, uint64_t value, size_t bytes)
{
	memcpy(memory + (address - HEAP), &value, bytes);
}

/* Write mov $value,%rbx; jmp to. */
static void put_stub(uint64_t at, uint64_t to)
{
	put(at, 0xbb48, 2);
	put(at + 2, HEAP + 64, 8);
	put(at + 10, 0xe9, 1);
	put(at + 11, to - (at + 15), 4);
}

/* An nmethod with a frame of FRAME_WORDS, whose prologue ends at offset 8; its code is all nops. */
static void make_method(void)
{
	memset(memory, 0, sizeof(memory));
	memset(&rows, 0, sizeof(rows));
	memset(cache, 0, sizeof(cache));
	has_cache = false;
	for (int i = 0; i < 32; i++)
		put(SEGMENTS + i, i, 1);
	put(HEAP + 8, 1, 1);
	put(BLOB, NAME, 8);
	put(NAME, HOTSPOT_NAME_NMETHOD, 8);
	put(BLOB + 12, FRAME_WORDS, 4);
	put(BLOB + 16, 8, 2);
	put(BLOB + 24, CODE - BLOB, 4);
	put(BLOB + 32, CODE + CODE_BYTES - BLOB, 4);
	put(BLOB + 48, ID, 4);
	memset(memory + (CODE - HEAP), 0x90, CODE_BYTES);
}

/* Write the method's frame at sp: only its return address has this value. */
static void make_frame(uint64_t sp)
{
	put(sp + 8 * (FRAME_WORDS - 1), CALLER, 8);
}

static struct native_walk interrupted(uint64_t pc, uint64_t sp)
{
	return (struct native_walk){
		.pc = pc,
		.sp = sp,
		.exact = 1,
		.known = 1,
		.settled = 1,
		.hotspot = 1,
		.window.at = WALK_NO_WINDOW,
	};
}

/* Leave one frame, of the method with pc at this offset, and come to its caller. */
static void check_left(struct native_walk w, uint32_t offset, uint64_t sp)
{
	ck_assert_int_eq(hotspot_walk_step(&w), WALK_CALLER);
	ck_assert_uint_eq(w.java.found, 1);
	ck_assert_uint_eq(w.java.words[0],
			  (uint64_t)WIRE_TAG_JAVA_COMPILED << WIRE_TAG_SHIFT | BLOB);
	ck_assert_uint_eq(w.java.words[1], HOTSPOT_COMPILED_PLACE(ID, offset));
	ck_assert_uint_eq(w.pc, CALLER);
	ck_assert_uint_eq(w.sp, sp);
	ck_assert_uint_eq(w.exact, 0);
}

static void check_ends(struct native_walk w)
{
	ck_assert_int_eq(hotspot_walk_step(&w), WALK_FINISHED);
	ck_assert_uint_eq(w.end, WALK_END_JAVA);
}

START_TEST(whole_frame)
{
	make_method();
	make_frame(SP);
	check_left(interrupted(CODE + 40, SP), 40, SP + 8 * FRAME_WORDS);
}
END_TEST

/* What is taken for the return address is 0: the walk has gone wrong, and is not complete. */
START_TEST(no_caller)
{
	make_method();
	check_ends(interrupted(CODE + 40, SP));
}
END_TEST

/*
 * The method at offset 40 has called its stub, which calls an interpreted one: there is one frame,
 * the method's, and its place is the call's.
 */
static void call_stub(void)
{
	make_method();
	put_stub(CODE + 200, ADAPTER);
	put(SP, CODE + 40, 8);
	make_frame(SP + 8);
}

START_TEST(stub_of_a_call)
{
	call_stub();
	check_left(interrupted(CODE + 200, SP), 40, SP + 8 + 8 * FRAME_WORDS);
	check_left(interrupted(CODE + 210, SP), 40, SP + 8 + 8 * FRAME_WORDS);
}
END_TEST

/* Rows that were made of the code describe the stub as a function. */
START_TEST(stub_of_a_call_with_rows)
{
	const struct hotspot_code_row first = {
		.depth = FRAME_WORDS,
		.return_word = 1,
		.return_register = HOTSPOT_NO_REGISTER,
		.sender_register = HOTSPOT_NO_REGISTER,
	};

	call_stub();
	rows.count = 2;
	rows.end = CODE_BYTES;
	rows.rows[0] = rows.rows[1] = first;
	rows.rows[1].offset = 200;
	rows.rows[1].depth = 1;
	check_left(interrupted(CODE + 200, SP), 40, SP + 8 + 8 * FRAME_WORDS);
	check_left(interrupted(CODE + 210, SP), 40, SP + 8 + 8 * FRAME_WORDS);
}
END_TEST

/* The method's own code has such instructions, too: there, the jump leads to itself. */
START_TEST(constant_and_jump)
{
	make_method();
	put_stub(CODE + 200, CODE + 60);
	put(SP, CODE + 40, 8);
	make_frame(SP);
	check_left(interrupted(CODE + 200, SP), 200, SP + 8 * FRAME_WORDS);
	check_left(interrupted(CODE + 210, SP), 210, SP + 8 * FRAME_WORDS);
}
END_TEST

START_TEST(stub_of_nobody)
{
	call_stub();
	put(SP, CODE + CODE_BYTES, 8);
	check_ends(interrupted(CODE + 200, SP));
	put(SP, CODE, 8);
	check_ends(interrupted(CODE + 210, SP));
	check_ends(interrupted(CODE + 210, 4096));
}
END_TEST

/* The caller of a Java frame, in a JVM that has unloaded two classes. */
static struct native_walk calling(void)
{
	struct native_walk w = interrupted(CODE + 40, SP);

	w.exact = 0;
	w.known = 0;
	w.java_left = SP;
	w.unloads = 1u << 31 | 2;
	w.period = 7;
	return w;
}

static void check_unknown(struct native_walk w)
{
	ck_assert_int_eq(hotspot_leave_known(&w), WALK_JAVA);
}

/* A frame that was left before is left without a read of anything but its stack. */
START_TEST(known_frame)
{
	struct native_walk w = calling();

	make_method();
	make_frame(SP);
	has_cache = true;
	check_unknown(w);
	check_left(w, 40, SP + 8 * FRAME_WORDS);
	reads = 0;
	ck_assert_int_eq(hotspot_leave_known(&w), WALK_CALLER);
	ck_assert_uint_eq(reads, 0);
	ck_assert_uint_eq(w.java.words[0],
			  (uint64_t)WIRE_TAG_JAVA_COMPILED << WIRE_TAG_SHIFT | BLOB);
	ck_assert_uint_eq(w.java.words[1], HOTSPOT_COMPILED_PLACE(ID, 40));
	ck_assert_uint_eq(w.pc, CALLER);
	ck_assert_uint_eq(w.sp, SP + 8 * FRAME_WORDS);
	ck_assert_uint_eq(w.java_left, w.sp);
}
END_TEST

/* The JVM's memory is looked at again when it may have changed, and where sp may be elsewhere. */
START_TEST(frame_that_is_not_known_any_more)
{
	struct native_walk known = calling(), w;

	make_method();
	make_frame(SP);
	has_cache = true;
	check_left(known, 40, SP + 8 * FRAME_WORDS);
	w = known, w.unloads++, check_unknown(w);
	w = known, w.unloads = 0, check_unknown(w);
	w = known, w.period++, check_unknown(w);
	w = known, w.skip_cache = 1, check_unknown(w);
	w = known, w.exact = 1, check_unknown(w);
	w = known, w.java_left |= HOTSPOT_LEFT_STUB, check_unknown(w);
	w = known, w.java_left -= 8, check_unknown(w);
	w = known, w.hotspot = 2, check_unknown(w);
	ck_assert_int_eq(hotspot_leave_known(&known), WALK_CALLER);
}
END_TEST

SUITE("hotspot_walk", known_frame, frame_that_is_not_known_any_more, whole_frame, no_caller,
      stub_of_a_call, stub_of_a_call_with_rows, constant_and_jump, stub_of_nobody)
