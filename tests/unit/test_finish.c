// SPDX-License-Identifier: Apache-2.0
/* Test the walker with made-up stacks and code: every kind of rule, every way to end. */
#include <stdarg.h>

#include "world.h"

#define CODE 0x400000ULL
#define FUNCTION 0x100 /* bytes of each function; rule n holds in function n */
#define MOST_RULES 16
#define STACK 0x7ffd00000000ULL
#define STACK_WORDS_MOST (2 * WIRE_STACK_BYTES / 8)
#define NOWHERE 0x700000ULL /* not mapped */
#define TEXT_SIZE 0x10000

enum { R10 = 10, R12 = 12 };

static struct {
	struct world *world;
	struct finish_world view;
	uint32_t slot;
	uint64_t stack[STACK_WORDS_MOST];
	struct unfinished_stack u;
	struct finished_stack f;
} s;

static const struct unwind_rule end_rule = {.kind = UNWIND_END};
/* push rbp; mov rbp, rsp */
static const struct unwind_rule rbp_rule = {
	.kind = UNWIND_CFA,
	.reg = UNWIND_REG_FP,
	.cfa_offset = 16,
	.second = -8,
	.fp_offset = -16,
	.saved = UNWIND_FP_AT_CFA,
};

static struct unwind_rule cfa_rule(uint8_t reg, int32_t offset)
{
	return (struct unwind_rule){
		.kind = UNWIND_CFA, .reg = reg, .cfa_offset = offset, .second = -8};
}

static uint64_t code(unsigned int function)
{
	return CODE + function * FUNCTION + 8;
}

/*
 * Make a thread in function 0, whose frame and those of its callers are described by rules:
 * rules[n] holds in function n.
 */
static void stand(const struct unwind_rule *rules, uint32_t count)
{
	const struct unwind_mapping m = {.start = CODE, .end = CODE + TEXT_SIZE, .table = 2};
	struct row rows[MOST_RULES];
	struct unwind_table t;

	memset(&s, 0, sizeof(s));
	s.world = world_new(8 << 20);
	s.slot = tables_add(s.world->tables);
	ck_assert_uint_eq(s.slot, m.table);
	for (uint32_t i = 0; i < count; i++)
		rows[i] = (struct row){i * FUNCTION, (uint16_t)i};
	t = build_table(rows, count, rules, count);
	ck_assert_int_eq(tables_put(s.world->tables, s.slot, &t, 1), 0);
	free((void *)t.header);
	s.view = world_view(s.world, &m, 1);
	s.u.stack = s.stack;
	s.u.frames = s.f.frames; /* s.u.count is 0: no frames yet */
	s.u.at = (struct wire_unfinished){
		.stack = STACK,
		.bytes = sizeof(s.stack),
		.pc = code(0),
		.sp = STACK,
		.exact = 1,
		.known = 1,
	};
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		s.u.at.registers[i] = NOWHERE + (unsigned int)i;
}

#define STAND(...) \
	do { \
		const struct unwind_rule rules_[] = {__VA_ARGS__}; \
\
		stand(rules_, sizeof(rules_) / sizeof(rules_[0])); \
	} while (0)

/* Walk, and compare the end, then the frames up to a zero. */
static void expect(enum stack_end end, ...)
{
	va_list frames;
	uint64_t frame;
	uint32_t i = 0;

	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), 0);
	va_start(frames, end);
	while ((frame = va_arg(frames, uint64_t))) {
		ck_assert_uint_lt(i, s.f.count);
		ck_assert_uint_eq(s.f.frames[i++], frame);
	}
	va_end(frames);
	ck_assert_uint_eq(s.f.count, i);
	ck_assert_str_eq(stack_end_word(s.f.end), stack_end_word(end));
}

#define NO_MORE ((uint64_t)0)

static void leave(void)
{
	world_free(s.world);
}

START_TEST(cfa_from_the_stack_pointer)
{
	STAND(cfa_rule(UNWIND_REG_SP, 16), cfa_rule(UNWIND_REG_SP, 8), end_rule);
	s.stack[1] = code(1);
	s.stack[2] = code(2);
	expect(END_WALKED, code(0), code(1), code(2), NO_MORE);
	leave();
}
END_TEST

START_TEST(frame_pointers_are_restored)
{
	STAND(cfa_rule(UNWIND_REG_SP, 8), rbp_rule, rbp_rule, end_rule);
	s.stack[0] = code(1);
	s.u.at.fp = STACK + 10 * 8;
	s.stack[10] = STACK + 20 * 8;
	s.stack[11] = code(2);
	s.stack[20] = 0;
	s.stack[21] = code(3);
	expect(END_WALKED, code(0), code(1), code(2), code(3), NO_MORE);
	leave();
}
END_TEST

START_TEST(other_registers_hold_where_the_thread_stood)
{
	STAND(cfa_rule(R12, 8), cfa_rule(R12, 8), end_rule);
	s.u.at.registers[R12] = STACK + 32;
	s.stack[4] = code(1);
	s.stack[5] = code(2);
	/* No function restores them for the caller. */
	expect(END_BAD_ROW, code(0), code(1), NO_MORE);
	s.u.at.known = 0;
	expect(END_BAD_ROW, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(other_registers_last_as_long_as_nobody_saves_any)
{
	STAND(cfa_rule(UNWIND_REG_SP, 8), cfa_rule(R12, 8), end_rule, cfa_rule(UNWIND_REG_SP, 16));
	s.u.at.registers[R12] = STACK + 32;
	s.stack[0] = code(1);
	s.stack[4] = code(2);
	expect(END_WALKED, code(0), code(1), code(2), NO_MORE);
	s.u.at.pc = code(3);
	s.stack[1] = code(1);
	expect(END_BAD_ROW, code(3), code(1), NO_MORE);
	leave();
}
END_TEST

START_TEST(the_base_register_is_followed)
{
	struct unwind_rule keeps = cfa_rule(UNWIND_REG_SP, 24);
	struct unwind_rule loses = cfa_rule(UNWIND_REG_SP, 8);

	keeps.base_offset = -16;
	loses.base_offset = UNWIND_BASE_LOST;
	STAND(keeps, cfa_rule(UNWIND_REG_BASE, 16), loses, end_rule);
	s.stack[1] = STACK + 160;
	s.stack[2] = code(1);
	s.stack[21] = code(2);
	s.stack[22] = code(1);
	expect(END_BAD_ROW, code(0), code(1), code(2), code(1), NO_MORE);
	s.u.at.pc = code(1);
	s.u.at.base = STACK + 80;
	s.stack[11] = code(3);
	expect(END_WALKED, code(1), code(3), NO_MORE);
	leave();
}
END_TEST

START_TEST(cfa_read_from_memory)
{
	const struct unwind_rule deref = {
		.kind = UNWIND_DEREF, .reg = UNWIND_REG_FP, .cfa_offset = -8, .second = 16};
	const struct unwind_rule indexed = {
		.kind = UNWIND_INDEXED, .reg = R12, .index = R10, .cfa_offset = 24, .second = -32};

	STAND(deref, end_rule, indexed);
	s.u.at.fp = STACK + 80;
	s.stack[9] = STACK + 160;
	s.stack[21] = code(1); /* the CFA is STACK + 176 */
	expect(END_WALKED, code(0), code(1), NO_MORE);
	s.u.at.pc = code(2);
	s.u.at.registers[R12] = STACK;
	s.u.at.registers[R10] = 5;
	s.stack[8] = STACK + 160 + 32;
	s.stack[19] = code(1);
	expect(END_WALKED, code(2), code(1), NO_MORE);
	leave();
}
END_TEST

START_TEST(plt_entries_push_one_word_on_their_way)
{
	const struct unwind_rule plt = {.kind = UNWIND_PLT, .cfa_offset = 8, .second = 11};

	STAND(plt, end_rule);
	s.stack[0] = code(1);
	s.u.at.pc = CODE + 32 + 10;
	expect(END_WALKED, s.u.at.pc, code(1), NO_MORE);
	s.stack[0] = NOWHERE;
	s.stack[1] = code(1);
	s.u.at.pc = CODE + 32 + 11;
	expect(END_WALKED, s.u.at.pc, code(1), NO_MORE);
	leave();
}
END_TEST

START_TEST(return_address_in_a_register)
{
	struct unwind_rule vfork = cfa_rule(UNWIND_REG_SP, 0);

	vfork.index = 5;
	vfork.saved = UNWIND_SAVED(UNWIND_FP_SAME, UNWIND_RA_IN_REGISTER);
	STAND(vfork, cfa_rule(UNWIND_REG_SP, 16), end_rule);
	s.u.at.registers[5] = code(1);
	s.stack[1] = code(2);
	expect(END_WALKED, code(0), code(1), code(2), NO_MORE);
	leave();
}
END_TEST

/* The return address after a call that ends its function is the first byte of the next function. */
START_TEST(return_addresses_belong_to_the_call)
{
	STAND(cfa_rule(UNWIND_REG_SP, 8), end_rule, (struct unwind_rule){.kind = UNWIND_BAD});
	s.stack[0] = CODE + 2 * FUNCTION;
	expect(END_WALKED, code(0), CODE + 2 * FUNCTION, NO_MORE);
	leave();
}
END_TEST

#if defined(__x86_64__)
START_TEST(signals_bring_all_registers_and_an_exact_place)
{
	const struct unwind_rule signal = {.kind = UNWIND_SIGNAL, .cfa_offset = 40};
	struct unwind_rule by_r10 = cfa_rule(R10, 8);
	uint64_t *context = &s.stack[6], exact = (uint64_t)WIRE_TAG_EXACT << WIRE_TAG_SHIFT;

	by_r10.fp_offset = 8;
	by_r10.saved = UNWIND_FP_AT_FP;
	STAND(cfa_rule(UNWIND_REG_SP, 8), signal, (struct unwind_rule){.kind = UNWIND_BAD}, by_r10,
	      rbp_rule, end_rule);
	s.stack[0] = code(1); /* then sp is STACK + 8 */
	context[2] = STACK + 800; /* r10 */
	context[10] = STACK + 1600; /* rbp */
	context[15] = STACK + 640; /* rsp */
	context[16] = CODE + 3 * FUNCTION; /* rip: the first byte of the function */
	s.stack[100] = code(4);
	s.stack[201] = STACK + 2400;
	s.stack[300] = NOWHERE;
	s.stack[301] = code(5);
	expect(END_WALKED, code(0), code(1), exact | (CODE + 3 * FUNCTION), code(4), code(5),
	       NO_MORE);
	leave();
}
END_TEST

START_TEST(a_signal_frame_cut_off_is_no_frame)
{
	const struct unwind_rule signal = {.kind = UNWIND_SIGNAL, .cfa_offset = 0};

	STAND(signal);
	s.u.at.bytes = 16 * 8; /* rip is missing */
	expect(END_UNREADABLE, code(0), NO_MORE);
	leave();
}
END_TEST
#endif

START_TEST(a_frame_pointer_may_lead_to_another_stack)
{
	STAND((struct unwind_rule){.kind = UNWIND_FRAME}, cfa_rule(UNWIND_REG_SP, 8), end_rule);
	s.u.at.sp = STACK + 8000;
	s.u.at.fp = STACK + 80;
	s.stack[10] = NOWHERE;
	s.stack[11] = code(1);
	s.stack[12] = code(2);
	expect(END_WALKED, code(0), code(1), code(2), NO_MORE);
	s.u.at.fp = STACK + 81;
	expect(END_UNREADABLE, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(clone_returns_to_the_parent_only)
{
	STAND((struct unwind_rule){.kind = UNWIND_CLONE, .cfa_offset = 8}, end_rule,
	      cfa_rule(UNWIND_REG_SP, 8));
	s.stack[0] = code(1);
	s.u.at.registers[0] = 4711;
	expect(END_WALKED, code(0), code(1), NO_MORE);
	s.u.at.registers[0] = 0;
	expect(END_WALKED, code(0), NO_MORE);
	/* A function called by clone() belongs to the child. */
	s.u.at.registers[0] = 4711;
	s.u.at.pc = code(2);
	s.stack[0] = code(0);
	s.stack[1] = code(1);
	expect(END_WALKED, code(2), code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(frame_pointers_that_are_lost_are_not_believed)
{
	struct unwind_rule lost = cfa_rule(UNWIND_REG_SP, 8);

	lost.saved = UNWIND_FP_UNKNOWN;
	STAND(lost, (struct unwind_rule){.kind = UNWIND_GAP}, end_rule);
	s.u.at.fp = STACK + 80;
	s.stack[0] = code(1);
	s.stack[11] = code(2);
	expect(END_WALKED, code(0), code(1), NO_MORE); /* 0: taken to be the outermost */
	leave();
}
END_TEST

START_TEST(gaps_are_left_by_frame_pointer)
{
	const uint64_t bad[] = {STACK - 8,
				STACK + 4,
				STACK + 84,
				STACK + (1 << 20) + 8,
				STACK + sizeof(s.stack) - 8,
				UINT64_MAX - 7,
				8};

	STAND((struct unwind_rule){.kind = UNWIND_GAP}, end_rule);
	s.u.at.fp = STACK + 80;
	s.stack[11] = code(1);
	expect(END_WALKED, code(0), code(1), NO_MORE);
	s.u.at.fp = 0;
	expect(END_WALKED, code(0), NO_MORE);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		s.u.at.fp = bad[i];
		expect(END_NO_TABLE, code(0), NO_MORE);
	}
	/* A frame of more than 1 MiB is not accepted, even if there is memory. */
	s.u.at.stack = STACK + (1 << 20);
	s.stack[1] = code(1);
	s.stack[2] = code(1);
	s.u.at.fp = STACK + (1 << 20);
	expect(END_WALKED, code(0), code(1), NO_MORE);
	s.u.at.fp += 8;
	expect(END_NO_TABLE, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(code_without_a_table_has_a_reason)
{
	struct unwind_slot *slot;

	STAND(end_rule);
	slot = &s.world->slots[s.slot];
	s.u.at.fp = 8;
	slot->state = UNWIND_TABLE_EVICTED;
	expect(END_EVICTED, code(0), NO_MORE);
	ck_assert_uint_ne(slot->used, 1); /* the use of the table is recorded */
	slot->state = UNWIND_TABLE_NONE;
	expect(END_NO_TABLE, code(0), NO_MORE);
	slot->state = UNWIND_TABLE_GENERATED;
	expect(END_GENERATED, code(0), NO_MORE);
	s.u.at.fp = STACK + 80;
	s.stack[11] = code(0);
	s.stack[10] = 8;
	expect(END_GENERATED, code(0), code(0), NO_MORE);
	slot->state = 77;
	s.u.at.fp = 8;
	expect(END_NO_TABLE, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(bad_rules_end_the_walk)
{
	STAND((struct unwind_rule){.kind = UNWIND_BAD});
	expect(END_BAD_ROW, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(stacks_have_1024_frames_at_most)
{
	STAND(cfa_rule(UNWIND_REG_SP, 8), end_rule);
	for (unsigned int i = 0; i < STACK_WORDS_MOST; i++)
		s.stack[i] = code(0);
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), 0);
	ck_assert_uint_eq(s.f.count, WIRE_MAX_USER);
	ck_assert_int_eq(s.f.end, END_DEPTH);
	s.stack[1023] = code(1); /* frame 1,025 */
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), 0);
	ck_assert_int_eq(s.f.end, END_DEPTH);
	s.stack[1022] = code(1);
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), 0);
	ck_assert_int_eq(s.f.end, END_WALKED);
	ck_assert_uint_eq(s.f.count, WIRE_MAX_USER);
	leave();
}
END_TEST

START_TEST(a_stack_that_does_not_get_shorter_ends)
{
	struct unwind_rule same = cfa_rule(UNWIND_REG_SP, 0);

	STAND(same, cfa_rule(UNWIND_REG_FP, 8), cfa_rule(UNWIND_REG_SP, 8), same,
	      (struct unwind_rule){.kind = UNWIND_FRAME});
	/* A leaf may have pushed nothing; its caller must have. */
	s.u.at.sp = STACK + 8;
	s.stack[0] = code(0);
	expect(END_BAD_ROW, code(0), code(0), NO_MORE);
	/* The CFA moves backwards. */
	s.u.at.sp = STACK + 80;
	s.u.at.fp = STACK + 8;
	s.u.at.pc = code(1);
	s.stack[1] = code(1);
	expect(END_BAD_ROW, code(1), NO_MORE);
	/* The frames form a cycle, which only the depth ends. */
	s.u.at.pc = code(4);
	s.u.at.fp = STACK + 160;
	s.stack[20] = STACK + 160;
	s.stack[21] = code(4);
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), 0);
	ck_assert_int_eq(s.f.end, END_DEPTH);
	leave();
}
END_TEST

START_TEST(numbers_that_wrap_around_are_bounded)
{
	const struct unwind_rule deref = {
		.kind = UNWIND_DEREF, .reg = R12, .cfa_offset = INT32_MAX, .second = INT32_MIN};
	const struct unwind_rule indexed = {
		.kind = UNWIND_INDEXED, .reg = R12, .index = R10, .second = INT32_MAX};

	STAND(cfa_rule(UNWIND_REG_SP, INT32_MIN), cfa_rule(UNWIND_REG_SP, INT32_MAX), deref,
	      indexed, cfa_rule(UNWIND_REG_SP, 16));
	expect(END_BAD_ROW, code(0), NO_MORE);
	s.u.at.pc = code(1);
	expect(END_UNREADABLE, code(1), NO_MORE);
	s.u.at.pc = code(2);
	s.u.at.registers[R12] = UINT64_MAX - 100;
	expect(END_UNREADABLE, code(2), NO_MORE);
	/* 8 * index wraps around 2^64 */
	s.u.at.pc = code(3);
	s.u.at.registers[R12] = STACK + 8;
	s.u.at.registers[R10] = 1ULL << 61;
	s.stack[1] = UINT64_MAX - 5;
	expect(END_BAD_ROW, code(3), NO_MORE);
	s.u.at.pc = code(4);
	s.u.at.sp = UINT64_MAX - 7;
	expect(END_BAD_ROW, code(4), NO_MORE);
	leave();
}
END_TEST

START_TEST(what_is_not_mapped_is_no_frame)
{
	const uint64_t places[] = {NOWHERE,
				   CODE,
				   CODE + TEXT_SIZE + 1,
				   1,
				   UINT64_MAX,
				   1ULL << 63,
				   (1ULL << 63) + CODE + 8,
				   (1ULL << 56) | (CODE + 8),
				   0xffffffffff600000ULL};

	STAND(cfa_rule(UNWIND_REG_SP, 8), end_rule);
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		s.stack[0] = places[i];
		expect(END_UNMAPPED, code(0), NO_MORE);
	}
	s.stack[0] = CODE + TEXT_SIZE; /* a call at the end of its mapping */
	expect(END_WALKED, code(0), CODE + TEXT_SIZE, NO_MORE);
	/* The innermost frame is reported even if it is in no mapping. */
	s.u.at.pc = NOWHERE;
	expect(END_UNMAPPED, NOWHERE, NO_MORE);
	s.view.mapping_count = 0;
	s.u.at.pc = code(0);
	expect(END_UNMAPPED, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(a_return_address_of_zero_is_the_outermost)
{
	STAND(cfa_rule(UNWIND_REG_SP, 8));
	expect(END_WALKED, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(tables_that_are_not_ready_are_told)
{
	struct unwind_mapping m[2] = {{.start = CODE, .end = CODE + TEXT_SIZE, .table = 2},
				      {.start = NOWHERE, .end = NOWHERE + 4096, .table = 3}};

	STAND(cfa_rule(UNWIND_REG_SP, 8), end_rule);
	ck_assert_uint_eq(tables_add(s.world->tables), 3);
	s.view = world_view(s.world, m, 2);
	s.stack[0] = NOWHERE + 8;
	s.f.count = 99;
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), -EAGAIN);
	ck_assert_uint_eq(s.f.slot, 3);
	ck_assert_uint_eq(s.f.count, 99);
	tables_set_state(s.world->tables, 3, UNWIND_TABLE_NONE, 2);
	s.u.at.fp = STACK + 80;
	s.stack[11] = code(1);
	expect(END_WALKED, code(0), NOWHERE + 8, code(1), NO_MORE);
	leave();
}
END_TEST

/* The walk waits for a page that is not made like for a table, and takes it for no gap. */
START_TEST(pages_that_are_not_made_are_waited_for)
{
	struct unwind_mapping m[2] = {{.start = CODE, .end = CODE + TEXT_SIZE, .table = 2},
				      {.start = NOWHERE, .end = NOWHERE + 4096, .table = 3}};
	struct row row = {0, 0};
	struct unwind_table t;

	STAND(cfa_rule(UNWIND_REG_SP, 8), end_rule);
	ck_assert_uint_eq(tables_add(s.world->tables), 3);
	t = build_table(&row, 1, (const struct unwind_rule[]){cfa_rule(UNWIND_REG_SP, 16)}, 1);
	((struct unwind_page *)t.pages)->count = UNWIND_PAGE_UNMADE;
	ck_assert_int_eq(tables_put_pages(s.world->tables, 3, &t, 1), 0);
	s.view = world_view(s.world, m, 2);
	s.stack[0] = NOWHERE + 8;
	s.stack[2] = code(1);
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), -EAGAIN);
	ck_assert_uint_eq(s.f.slot, 3);
	ck_assert_uint_eq(s.f.waits_at, NOWHERE + 7);
	((struct unwind_page *)t.pages)->count = 1;
	ck_assert_int_eq(tables_put_pages(s.world->tables, 3, &t, 1), 0);
	expect(END_WALKED, code(0), NOWHERE + 8, code(1), NO_MORE);
	free((void *)t.header);
	leave();
}
END_TEST

/* One frame is larger than the copy, but the other end of the stack was copied, too. */
START_TEST(the_other_end_of_the_stack_is_read)
{
	const int32_t large = 20 << 20;
	uint64_t *outer = s.stack + 512;

	STAND(cfa_rule(UNWIND_REG_SP, large), cfa_rule(UNWIND_REG_SP, 16), end_rule);
	s.u.at.bytes = 512 * 8;
	s.u.at.outer = STACK + (uint64_t)large - 64;
	s.u.at.outer_bytes = 128;
	outer[7] = code(1);
	outer[9] = code(2);
	expect(END_WALKED, code(0), code(1), code(2), NO_MORE);
	s.u.at.outer_bytes = 72; /* the last words are missing */
	expect(END_UNREADABLE, code(0), code(1), NO_MORE);
	s.u.at.outer = UINT64_MAX - 7; /* hostile */
	expect(END_UNREADABLE, code(0), NO_MORE);
	leave();
}
END_TEST

START_TEST(the_copy_may_be_too_short)
{
	const uint32_t most = WIRE_STACK_BYTES;

	STAND(cfa_rule(UNWIND_REG_SP, WIRE_STACK_BYTES - 8), end_rule, cfa_rule(UNWIND_REG_SP, 8),
	      cfa_rule(UNWIND_REG_SP, 1 << 22));
	/* The copy has its maximum size: the stack beyond it is not known. */
	s.u.at.bytes = most - 0x10;
	expect(END_COPY_END, code(0), NO_MORE);
	s.u.at.bytes = most - 0xc; /* half of the word */
	expect(END_COPY_END, code(0), NO_MORE);
	s.u.at.bytes = most - 8;
	s.stack[(most - 0x10) / 8] = code(1);
	expect(END_WALKED, code(0), code(1), NO_MORE);
	/* Less was copied because the stack ended. */
	s.u.at.bytes = most - 0x1000;
	expect(END_UNREADABLE, code(0), NO_MORE);
	s.u.at.bytes = 0;
	expect(END_UNREADABLE, code(0), NO_MORE);
	/* before the copy, and far after it */
	s.u.at.bytes = most - 0x10;
	s.u.at.stack = STACK + 8;
	s.u.at.pc = code(2);
	expect(END_UNREADABLE, code(2), NO_MORE);
	s.u.at.pc = code(3);
	expect(END_UNREADABLE, code(3), NO_MORE);
	leave();
}
END_TEST

START_TEST(frames_of_the_kernel_side_are_kept)
{
	const uint64_t frames[] = {NOWHERE, code(3), NOWHERE + 1};
	uint64_t many[WIRE_MAX_USER], exact = (uint64_t)WIRE_TAG_EXACT << WIRE_TAG_SHIFT;

	STAND(cfa_rule(UNWIND_REG_SP, 8), end_rule);
	s.u.frames = frames;
	s.u.count = 3;
	s.stack[0] = code(1);
	expect(END_WALKED, NOWHERE, code(3), NOWHERE + 1, exact | code(0), code(1), NO_MORE);
	s.u.at.exact = 0;
	expect(END_WALKED, NOWHERE, code(3), NOWHERE + 1, code(0), code(1), NO_MORE);
	s.u.at.pc = NOWHERE; /* a caller in no code */
	expect(END_UNMAPPED, NOWHERE, code(3), NOWHERE + 1, NO_MORE);
	for (unsigned int i = 0; i < WIRE_MAX_USER; i++)
		many[i] = code(i % 2);
	s.u.frames = many;
	s.u.count = WIRE_MAX_USER;
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), -EBADMSG);
	s.u.count = WIRE_MAX_USER - 1;
	s.u.at.pc = code(0);
	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), 0);
	ck_assert_int_eq(s.f.end, END_DEPTH);
	ck_assert_mem_eq(s.f.frames, many, (WIRE_MAX_USER - 1) * sizeof(many[0]));
	leave();
}
END_TEST

static uint64_t any_number(void)
{
	switch (rand() % 8) {
	case 0:
		return (uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand();
	case 1:
		return UINT64_MAX - (uint64_t)rand() % 300;
	case 2:
		return (uint64_t)rand() % 300;
	case 3:
	case 4:
		return STACK + (uint64_t)rand() % (sizeof(s.stack) + 64);
	case 5:
		return STACK + (uint64_t)rand() % (sizeof(s.stack) / 8) * 8;
	default:
		return CODE + (uint64_t)rand() % (MOST_RULES * FUNCTION);
	}
}

static struct unwind_rule any_rule(void)
{
	return (struct unwind_rule){
		.kind = (uint8_t)(rand() % UNWIND_KIND_COUNT),
		.reg = (uint8_t)(rand() % 32),
		.index = (uint8_t)(rand() % 32),
		.saved = (uint8_t)UNWIND_SAVED(rand() % UNWIND_FP_COUNT, rand() % UNWIND_RA_COUNT),
		.cfa_offset = rand() % 4 ? rand() % 128 : rand() - RAND_MAX / 2,
		.second = rand() % 4 ? -8 : rand() - RAND_MAX / 2,
		.fp_offset = (int16_t)(rand() % 4 ? -16 : rand()),
		.base_offset = (int16_t)(rand() % 4 ? rand() % 2 : rand()),
	};
}

/* Check that only addresses in code are frames, and that the walk ends with a known reason. */
static void check_walk(void)
{
	uint64_t address = (1ULL << WIRE_TAG_SHIFT) - 1;

	ck_assert_int_eq(finish_stack(&s.f, &s.view, &s.u), 0);
	ck_assert_uint_ge(s.f.count, 1);
	ck_assert_uint_le(s.f.count, WIRE_MAX_USER);
	ck_assert_int_lt(s.f.end, END_COUNT);
	for (uint32_t i = 1; i < s.f.count; i++) {
		ck_assert_uint_ge(s.f.frames[i] & address, CODE);
		ck_assert_uint_le(s.f.frames[i] & address, CODE + TEXT_SIZE);
		ck_assert_uint_le(s.f.frames[i] >> WIRE_TAG_SHIFT, WIRE_TAG_EXACT);
	}
}

START_TEST(walks_over_noise_end)
{
	for (unsigned int seed = 1; seed <= 60; seed++) {
		struct unwind_rule rules[MOST_RULES];

		srand(seed);
		for (int i = 0; i < MOST_RULES; i++)
			rules[i] = any_rule();
		stand(rules, MOST_RULES);
		for (unsigned int i = 0; i < STACK_WORDS_MOST; i++)
			s.stack[i] = any_number();
		for (int walk = 0; walk < 300; walk++) {
			s.u.at.pc = any_number();
			s.u.at.sp = any_number();
			s.u.at.fp = any_number();
			s.u.at.base = any_number();
			s.u.at.stack = s.u.at.sp & ~7ULL;
			s.u.at.bytes = (uint32_t)rand() % sizeof(s.stack);
			s.u.at.exact = rand() % 2;
			s.u.at.known = rand() % 2;
			check_walk();
		}
		leave();
	}
}
END_TEST

SUITE("finish", cfa_from_the_stack_pointer, frame_pointers_are_restored,
      other_registers_hold_where_the_thread_stood, the_base_register_is_followed,
      other_registers_last_as_long_as_nobody_saves_any, cfa_read_from_memory,
      plt_entries_push_one_word_on_their_way, return_address_in_a_register,
      return_addresses_belong_to_the_call,
#if defined(__x86_64__)
      signals_bring_all_registers_and_an_exact_place, a_signal_frame_cut_off_is_no_frame,
#endif
      a_frame_pointer_may_lead_to_another_stack, clone_returns_to_the_parent_only,
      frame_pointers_that_are_lost_are_not_believed, gaps_are_left_by_frame_pointer,
      code_without_a_table_has_a_reason, bad_rules_end_the_walk, stacks_have_1024_frames_at_most,
      a_stack_that_does_not_get_shorter_ends, numbers_that_wrap_around_are_bounded,
      what_is_not_mapped_is_no_frame, a_return_address_of_zero_is_the_outermost,
      tables_that_are_not_ready_are_told, pages_that_are_not_made_are_waited_for,
      the_other_end_of_the_stack_is_read, the_copy_may_be_too_short,
      frames_of_the_kernel_side_are_kept, walks_over_noise_end)
