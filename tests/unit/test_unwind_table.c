// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind tables made from crafted call frame information: what assemblers write, what only
 * attackers write, and invalid tables.
 */
#include <dwarf.h>
#include <errno.h>

#include "elf_maker.h"
#include "files.h"
#include "suite.h"
#include "table_find.h"

#define CODE_SIZE 0x30000

/* The contents of .eh_frame, and the file and table made from it. */
struct craft {
	uint8_t frames[1 << 16];
	size_t size;
	uint16_t machine;
	const void *code;
	int fd;
	void *bytes;
	size_t bytes_size;
	struct unwind_table table;
};

static void put(struct craft *c, const void *bytes, size_t size)
{
	ck_assert_uint_le(c->size + size, sizeof(c->frames));
	memcpy(c->frames + c->size, bytes, size);
	c->size += size;
}

static void put32(struct craft *c, uint32_t value)
{
	put(c, &value, sizeof(value));
}

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static void close_entry(struct craft *c, size_t start)
{
	uint32_t length;

	while ((c->size - start) % 8)
		put(c, BYTES(DW_CFA_nop));
	length = (uint32_t)(c->size - start - 4);
	memcpy(c->frames + start, &length, sizeof(length));
}

/* Put a CIE with an augmentation (including its NUL) and its data. Return the CIE's offset. */
static size_t put_cie(struct craft *c, const char *letters, size_t letters_size,
		      const uint8_t *data, size_t data_size, const uint8_t *run, size_t run_size)
{
	size_t start = c->size;

	put32(c, 0);
	put32(c, 0);
	put(c, BYTES(1));
	put(c, letters, letters_size);
	put(c, BYTES(1, 0x78)); /* alignments: 1, -8 */
	put(c, BYTES(c->machine == EM_AARCH64 ? 30 : 16));
	put(c, data, data_size);
	put(c, run, run_size);
	close_entry(c, start);
	return start;
}

/* Put a CIE as gcc does: pcrel sdata4; CFA = rsp + 8, return address at CFA - 8. */
static size_t put_plain_cie(struct craft *c)
{
	return put_cie(c, "zR", 3, BYTES(1, DW_EH_PE_pcrel | DW_EH_PE_sdata4),
		       BYTES(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1));
}

/* Put the FDE of a function at an offset in the code. */
static void put_fde(struct craft *c, size_t cie, uint32_t at, uint32_t size, const uint8_t *run,
		    size_t run_size)
{
	size_t start = c->size;

	put32(c, 0);
	put32(c, (uint32_t)(c->size - cie));
	put32(c, (uint32_t)(at - (CODE_SIZE + c->size)));
	put32(c, size);
	put(c, BYTES(0));
	put(c, run, run_size);
	close_entry(c, start);
}

static int try_make(struct craft *c)
{
	struct made m = made_elf(c->machine ? c->machine : EM_X86_64, c->code, CODE_SIZE, c->frames,
				 c->size);
	struct unwind_key key;
	struct stamp stamp;
	int rc;

	c->fd = file_of(m.bytes, m.size);
	free(m.bytes);
	ck_assert_int_eq(stamp_of(c->fd, &stamp), 0);
	rc = unwind_table_make(&c->bytes, &c->bytes_size, NULL,
			       &(struct stamped_file){.fd = c->fd, .stamp = stamp});
	ck_assert_int_eq(unwind_key_read(&key, &(struct stamped_file){.fd = c->fd, .stamp = stamp}),
			 rc);
	close(c->fd);
	return rc;
}

static void make(struct craft *c, uint32_t refused)
{
	ck_assert_int_eq(try_make(c), 0);
	ck_assert_int_eq(unwind_table_check(&c->table, c->bytes, c->bytes_size), 0);
	ck_assert_uint_eq(c->table.header->refused, refused);
}

static void done(struct craft *c)
{
	free(c->bytes);
	*c = (struct craft){0};
}

/* Return the rule at an offset; its kind is UNWIND_KIND_COUNT if there is none. */
static const struct unwind_rule *rule_at(const struct craft *c, uint32_t at)
{
	static const struct unwind_rule none = {.kind = UNWIND_KIND_COUNT};
	const struct unwind_rule *r = unwind_table_find(&c->table, MADE_CODE + at);

	return r ? r : &none;
}

static int kind_at(const struct craft *c, uint32_t at)
{
	return rule_at(c, at)->kind;
}

static const uint8_t *const nothing = (const uint8_t *)"";

START_TEST(instructions_are_run)
{
	static struct craft c;
	const struct unwind_rule *r;
	size_t cie = put_plain_cie(&c);

	put_fde(&c, cie, 0x100, 0x1000,
		BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16, DW_CFA_offset | 6, 2,
		      DW_CFA_advance_loc1, 3, DW_CFA_def_cfa_register, 6, DW_CFA_remember_state,
		      DW_CFA_advance_loc2, 0x10, 0, DW_CFA_def_cfa, 7, 8, DW_CFA_restore | 6,
		      DW_CFA_advance_loc4, 0x10, 0, 0, 0, DW_CFA_restore_state,
		      DW_CFA_advance_loc | 1, DW_CFA_offset_extended_sf, 6, 0x7d,
		      DW_CFA_def_cfa_offset_sf, 0x7c, DW_CFA_advance_loc | 1, DW_CFA_val_offset, 6,
		      1, DW_CFA_GNU_args_size, 0x80, 1, DW_CFA_advance_loc | 1, DW_CFA_register, 16,
		      5, DW_CFA_same_value, 6, DW_CFA_advance_loc | 1, DW_CFA_undefined, 16));
	make(&c, 0);
	r = rule_at(&c, 0x100);
	ck_assert(r->kind == UNWIND_CFA && r->reg == 7 && r->cfa_offset == 8 && r->second == -8);
	ck_assert_int_eq(UNWIND_SAVED_FP(r->saved), UNWIND_FP_SAME);
	r = rule_at(&c, 0x101);
	ck_assert(r->cfa_offset == 16 && r->fp_offset == -16);
	ck_assert_int_eq(UNWIND_SAVED_FP(r->saved), UNWIND_FP_AT_CFA);
	r = rule_at(&c, 0x104);
	ck_assert(r->reg == 6 && r->cfa_offset == 16);
	r = rule_at(&c, 0x114);
	ck_assert(r->reg == 7 && r->cfa_offset == 8 && r->saved == 0);
	r = rule_at(&c, 0x124);
	ck_assert(r->reg == 6 && r->cfa_offset == 16 && r->fp_offset == -16);
	r = rule_at(&c, 0x125);
	ck_assert(r->reg == 6 && r->cfa_offset == 32 && r->fp_offset == 24);
	r = rule_at(&c, 0x126);
	ck_assert_int_eq(UNWIND_SAVED_FP(r->saved), UNWIND_FP_UNKNOWN);
	r = rule_at(&c, 0x127);
	ck_assert(UNWIND_SAVED_RA(r->saved) == UNWIND_RA_IN_REGISTER && r->index == 5);
	ck_assert_int_eq(kind_at(&c, 0x128), UNWIND_END);
	ck_assert_int_eq(kind_at(&c, 0x10ff), UNWIND_END);
	done(&c);
}
END_TEST

START_TEST(expressions_of_the_known_kinds)
{
	static struct craft c;
	const struct unwind_rule *r;
	size_t cie = put_plain_cie(&c);

	put_fde(&c, cie, 0, 0x100,
		BYTES(DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 10, 0x18, DW_CFA_advance_loc | 1,
		      DW_CFA_def_cfa_expression, 3, DW_OP_breg0 + 6, 0x78, DW_OP_deref,
		      DW_CFA_expression, 6, 2, DW_OP_breg0 + 6, 0, DW_CFA_advance_loc | 1,
		      DW_CFA_def_cfa_expression, 5, DW_OP_breg0 + 7, 0x10, DW_OP_deref,
		      DW_OP_plus_uconst, 8, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 10,
		      DW_OP_breg0 + 7, 8, DW_OP_breg0 + 9, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus,
		      DW_OP_deref, DW_OP_plus_uconst, 8, DW_CFA_advance_loc | 1,
		      DW_CFA_def_cfa_expression, 11, DW_OP_breg0 + 7, 8, DW_OP_breg0 + 16, 0,
		      DW_OP_lit15, DW_OP_and, DW_OP_lit10, DW_OP_ge, DW_OP_lit3, DW_OP_shl,
		      DW_OP_plus, DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 3,
		      DW_OP_breg0 + 7, 8, DW_OP_dup));
	make(&c, 0);
	r = rule_at(&c, 0);
	ck_assert(r->kind == UNWIND_CFA && r->reg == 10 && r->cfa_offset == 24 && r->second == -8);
	r = rule_at(&c, 1);
	ck_assert(r->kind == UNWIND_DEREF && r->reg == 6 && r->cfa_offset == -8 && !r->second);
	ck_assert(UNWIND_SAVED_FP(r->saved) == UNWIND_FP_AT_FP && r->fp_offset == 0);
	r = rule_at(&c, 2);
	ck_assert(r->kind == UNWIND_DEREF && r->reg == 7 && r->cfa_offset == 16 && r->second == 8);
	r = rule_at(&c, 3);
	ck_assert(r->kind == UNWIND_INDEXED && r->reg == 7 && r->index == 9);
	ck_assert(r->cfa_offset == 8 && r->second == 8);
	r = rule_at(&c, 4);
	ck_assert(r->kind == UNWIND_PLT && r->cfa_offset == 8 && r->second == 10);
	ck_assert_int_eq(kind_at(&c, 5), UNWIND_BAD);
	done(&c);
}
END_TEST

/* Check that an invalid function does not affect the ones before and after it. */
static void check_refused(const uint8_t *run, size_t run_size)
{
	static struct craft c;
	size_t cie = put_plain_cie(&c);

	put_fde(&c, cie, 0x100, 0x100, nothing, 0);
	put_fde(&c, cie, 0x200, 0x100, run, run_size);
	put_fde(&c, cie, 0x300, 0x100, nothing, 0);
	make(&c, 1);
	ck_assert_int_eq(kind_at(&c, 0x1ff), UNWIND_CFA);
	ck_assert_int_eq(kind_at(&c, 0x200), UNWIND_BAD);
	ck_assert_int_eq(kind_at(&c, 0x2ff), UNWIND_BAD);
	ck_assert_int_eq(kind_at(&c, 0x300), UNWIND_CFA);
	done(&c);
}

START_TEST(instructions_that_make_no_sense_spoil_their_function)
{
	static const uint8_t deep[9] = {
		[0 ... 8] = DW_CFA_remember_state,
	};

	check_refused(BYTES(0x17));
	check_refused(BYTES(DW_CFA_advance_loc | 1, 0x3f));
	check_refused(BYTES(DW_CFA_restore_state));
	check_refused(deep, sizeof(deep));
	/* an endless number, and one that is too long */
	check_refused(BYTES(DW_CFA_def_cfa_offset, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
			    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff));
	check_refused(BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 100, DW_OP_breg7));
	/* moves the location backwards */
	check_refused(BYTES(DW_CFA_advance_loc | 9, DW_CFA_set_loc, 0, 0xf1, 0xfc, 0xff));
}
END_TEST

START_TEST(what_cannot_be_said_is_bad_from_there_on)
{
	static struct craft c;
	size_t cie = put_plain_cie(&c);

	/* an offset of 4 GiB, an invalid register, a computed return address */
	put_fde(&c, cie, 0x000, 0x100,
		BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 0x80, 0x80, 0x80, 0x80, 0x10));
	put_fde(&c, cie, 0x100, 0x100,
		BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_register, 17, DW_CFA_advance_loc | 1,
		      DW_CFA_def_cfa, 0xff, 0xff, 0x7f, 8));
	put_fde(&c, cie, 0x200, 0x100, BYTES(DW_CFA_advance_loc | 1, DW_CFA_val_offset, 16, 1));
	put_fde(&c, cie, 0x300, 0x100,
		BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_expression, 2, DW_OP_breg0 + 31, 0));
	make(&c, 0);
	for (uint32_t at = 0; at < 0x400; at += 0x100) {
		ck_assert_int_eq(kind_at(&c, at), UNWIND_CFA);
		ck_assert_int_eq(kind_at(&c, at + 2), UNWIND_BAD);
	}
	done(&c);
}
END_TEST

/* Entries of every bad kind, each followed by a good CIE and function. */
START_TEST(bad_entries_do_not_harm_others)
{
	static struct craft c;
	size_t bad, good;

	/* an FDE that is its own CIE, and one whose CIE is outside */
	put_fde(&c, 4, 0x000, 0x10, nothing, 0);
	put_fde(&c, 0x40000000, 0x010, 0x10, nothing, 0);
	/* garbage as augmentation, and an unterminated one */
	bad = put_cie(&c, "z\xffR?", 5, BYTES(1, 0x1b), BYTES(DW_CFA_def_cfa, 7, 8));
	put_fde(&c, bad, 0x020, 0x10, nothing, 0);
	bad = put_cie(&c, "zRRR", 4, BYTES(0x52, 0x52, 0x52), BYTES(0x52, 0x52));
	put_fde(&c, bad, 0x030, 0x10, nothing, 0);
	/* augmentation data larger than the section */
	bad = put_cie(&c, "zR", 3, BYTES(0xff, 0x7f, 0x1b), BYTES(DW_CFA_def_cfa, 7, 8));
	put_fde(&c, bad, 0x040, 0x10, nothing, 0);
	/* addresses read from memory, or relative to an unknown base */
	bad = put_cie(&c, "zR", 3, BYTES(1, 0x9b), BYTES(DW_CFA_def_cfa, 7, 8));
	put_fde(&c, bad, 0x050, 0x10, nothing, 0);
	bad = put_cie(&c, "zR", 3, BYTES(1, 0x2b), BYTES(DW_CFA_def_cfa, 7, 8));
	put_fde(&c, bad, 0x060, 0x10, nothing, 0);
	/* a CIE that ends within an instruction, and one that advances the location */
	bad = put_cie(&c, "zR", 3, BYTES(1, 0x1b), BYTES(DW_CFA_def_cfa, 7, 8, 0x3f));
	put_fde(&c, bad, 0x070, 0x10, nothing, 0);
	bad = put_cie(&c, "zR", 3, BYTES(1, 0x1b), BYTES(DW_CFA_advance_loc | 1));
	put_fde(&c, bad, 0x080, 0x10, nothing, 0);
	good = put_plain_cie(&c);
	put_fde(&c, good, 0x7fffffff, 0x10, nothing, 0); /* outside of the code */
	put_fde(&c, good, 0x090, CODE_SIZE, nothing, 0); /* ends outside of the code */
	put_fde(&c, good, 0x0a0, 0, nothing, 0); /* empty, which is valid */
	put_fde(&c, good, 0x200, 0x10, nothing, 0);
	/* out of order */
	put_fde(&c, good, 0x100, 0x10, nothing, 0);
	ck_assert_int_eq(try_make(&c), 0);
	ck_assert_int_eq(unwind_table_check(&c.table, c.bytes, c.bytes_size), 0);
	ck_assert_uint_ge(c.table.header->refused, 11);
	for (uint32_t at = 0; at < 0x100; at += 0x10)
		ck_assert_int_ne(kind_at(&c, at), UNWIND_CFA);
	ck_assert_int_eq(kind_at(&c, 0x10f), UNWIND_CFA);
	ck_assert_int_eq(kind_at(&c, 0x20f), UNWIND_CFA);
	done(&c);
}
END_TEST

START_TEST(a_terminator_in_the_middle_ends_nothing)
{
	static struct craft c;
	size_t cie = put_plain_cie(&c);

	put_fde(&c, cie, 0x100, 0x10, nothing, 0);
	put32(&c, 0);
	put32(&c, 0);
	put_fde(&c, cie, 0x200, 0x10, nothing, 0);
	make(&c, 0);
	ck_assert_int_eq(kind_at(&c, 0x100), UNWIND_CFA);
	ck_assert_int_eq(kind_at(&c, 0x200), UNWIND_CFA);
	done(&c);
}
END_TEST

START_TEST(an_entry_longer_than_the_section_is_the_last)
{
	static struct craft c;
	size_t cie = put_plain_cie(&c);

	put_fde(&c, cie, 0x100, 0x10, nothing, 0);
	put32(&c, 0x7ffffff0);
	put_fde(&c, cie, 0x200, 0x10, nothing, 0);
	make(&c, 1);
	ck_assert_int_eq(kind_at(&c, 0x100), UNWIND_CFA);
	ck_assert_int_ne(kind_at(&c, 0x200), UNWIND_CFA);
	done(&c);
}
END_TEST

/* If every function read its CIE again, this would take 10^11 steps. */
START_TEST(a_huge_cie_is_refused)
{
	static struct craft c;
	static uint8_t nops[20000];
	size_t cie = put_cie(&c, "zR", 3, BYTES(1, 0x1b), nops, sizeof(nops));

	for (uint32_t i = 0; i < 1000; i++)
		put_fde(&c, cie, 0x100 + 16 * i, 0x10, nothing, 0);
	ck_assert_int_eq(try_make(&c), -ENOENT);
	done(&c);
}
END_TEST

START_TEST(arm64_has_its_own_registers)
{
	static struct craft c = {.machine = EM_AARCH64};
	const struct unwind_rule *r;
	size_t cie = put_cie(&c, "zR", 3, BYTES(1, 0x1b), BYTES(DW_CFA_def_cfa, 31, 0));

	put_fde(&c, cie, 0x100, 0x100,
		BYTES(DW_CFA_advance_loc | 4, 0x2d /* pointer authentication */,
		      DW_CFA_def_cfa_offset, 32, DW_CFA_offset | 29, 4, DW_CFA_offset | 30, 3,
		      DW_CFA_advance_loc | 4, DW_CFA_def_cfa_register, 29));
	make(&c, 0);
	r = rule_at(&c, 0x100);
	ck_assert(r->kind == UNWIND_CFA && r->reg == 31 && r->cfa_offset == 0 && r->index == 30);
	ck_assert_int_eq(UNWIND_SAVED_RA(r->saved), UNWIND_RA_IN_REGISTER);
	r = rule_at(&c, 0x104);
	ck_assert(r->cfa_offset == 32 && r->fp_offset == -32 && r->second == -24);
	ck_assert_int_eq(r->saved, UNWIND_SAVED(UNWIND_FP_AT_CFA, UNWIND_RA_AT_CFA));
	ck_assert_int_eq(rule_at(&c, 0x108)->reg, 29);
	done(&c);
}
END_TEST

/* The kernel's vDSO does not describe these two functions any more. */
START_TEST(arm64_signal_frames_and_clone_are_known_by_their_code)
{
	static const uint32_t restorer[] = {0xd2801168, 0xd4000001};
	static const uint32_t clone[] = {0xd4000001, 0xb4000040, 0xd65f03c0, 0xa8c10001};
	static uint8_t code[CODE_SIZE];
	static struct craft c = {.machine = EM_AARCH64, .code = code};
	size_t cie = put_cie(&c, "zR", 3, BYTES(1, 0x1b), BYTES(DW_CFA_def_cfa, 31, 0));

	put_fde(&c, cie, 0x100, 0x100, nothing, 0);
	memcpy(code + 0x1000, restorer, sizeof(restorer));
	memcpy(code + 0x1fffc, clone, sizeof(clone));
	make(&c, 0);
	ck_assert_int_eq(kind_at(&c, 0xfff), UNWIND_SIGNAL);
	ck_assert_int_eq(rule_at(&c, 0x1007)->cfa_offset, 304);
	ck_assert_int_eq(kind_at(&c, 0x1fffc), UNWIND_CFA);
	ck_assert_int_eq(kind_at(&c, 0x20000), UNWIND_CLONE);
	ck_assert_int_eq(kind_at(&c, 0x20008), UNWIND_END);
	done(&c);
}
END_TEST

START_TEST(other_machines_and_no_files_have_no_table)
{
	static struct craft c = {.machine = EM_RISCV};
	struct stamp stamp = {0};
	void *bytes;
	size_t size;
	int fd;

	ck_assert_int_eq(try_make(&c), -ENOENT);
	c.machine = EM_X86_64;
	ck_assert_int_eq(try_make(&c), -ENOENT); /* no description */
	fd = file_of("text", 4);
	ck_assert_int_eq(unwind_table_make(&bytes, &size, NULL,
					   &(struct stamped_file){.fd = fd, .stamp = stamp}),
			 -EBADMSG);
	close(fd);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(unwind_table_make(&bytes, &size, NULL,
					   &(struct stamped_file){.fd = fd, .stamp = stamp}),
			 -EBADMSG);
	close(fd);
}
END_TEST

START_TEST(a_file_that_changed_has_no_table)
{
	struct made m = made_elf(EM_X86_64, NULL, CODE_SIZE, NULL, 0);
	int fd = file_of(m.bytes, m.size);
	struct stamp stamp;
	struct unwind_key key;
	void *bytes;
	size_t size;

	ck_assert_int_eq(stamp_of(fd, &stamp), 0);
	/* mov $15,%rax; syscall: code that gets a rule */
	ck_assert_int_eq(pwrite(fd, "\x48\xc7\xc0\x0f\0\0\0\x0f\x05", 9, MADE_CODE + 99), 9);
	stamp.mtime--;
	ck_assert_int_eq(unwind_table_make(&bytes, &size, NULL,
					   &(struct stamped_file){.fd = fd, .stamp = stamp}),
			 -ESTALE);
	ck_assert_int_eq(unwind_key_read(&key, &(struct stamped_file){.fd = fd, .stamp = stamp}),
			 -ESTALE);
	close(fd);
	free(m.bytes);
}
END_TEST

static struct unwind_key key_of(const struct made *m)
{
	int fd = file_of(m->bytes, m->size);
	struct unwind_key key;
	struct stamp stamp;

	ck_assert_int_eq(stamp_of(fd, &stamp), 0);
	ck_assert_int_eq(unwind_key_read(&key, &(struct stamped_file){.fd = fd, .stamp = stamp}),
			 0);
	close(fd);
	return key;
}

static bool same_key(const struct unwind_key *a, const struct unwind_key *b)
{
	return a->size == b->size && a->hash[0] == b->hash[0] && a->hash[1] == b->hash[1];
}

/* Forged files that give other tables have other keys. */
START_TEST(keys_tell_apart_what_makes_other_tables)
{
	static struct craft c;
	struct unwind_key key, other;
	size_t cie = put_plain_cie(&c);
	struct made m;

	put_fde(&c, cie, 0x100, 0x100, BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16));
	m = made_elf(EM_X86_64, NULL, CODE_SIZE, c.frames, c.size);
	key = key_of(&m);
	other = key_of(&m);
	ck_assert(same_key(&key, &other));
	/* code with a description is not part of the key */
	m.bytes[MADE_CODE + 0x180] ^= 1;
	other = key_of(&m);
	ck_assert(same_key(&key, &other));
	m.bytes[MADE_CODE + 0x1000] ^= 1;
	other = key_of(&m);
	ck_assert(!same_key(&key, &other));
	m.bytes[MADE_CODE + 0x1000] ^= 1;
	/* the last instruction */
	m.bytes[m.frames + c.size - 8] ^= 1;
	other = key_of(&m);
	ck_assert(!same_key(&key, &other));
	m.bytes[m.frames + c.size - 8] ^= 1;
	((Elf64_Phdr *)(m.bytes + sizeof(Elf64_Ehdr)))->p_vaddr += 16;
	other = key_of(&m);
	ck_assert(!same_key(&key, &other));
	free(m.bytes);
}
END_TEST

/* Return whether a valid table is still valid with one value changed. */
static bool still_good(const struct craft *c, size_t at, uint32_t value)
{
	struct unwind_table t;
	char *copy = malloc(c->bytes_size);
	int rc;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, c->bytes, c->bytes_size);
	memcpy(copy + at, &value, sizeof(value));
	rc = unwind_table_check(&t, copy, c->bytes_size);
	ck_assert(rc == 0 || rc == -EBADMSG);
	free(copy);
	return !rc;
}

#define HEADER(field) offsetof(struct unwind_header, field)

START_TEST(tables_that_are_none_are_told)
{
	static struct craft c;
	struct unwind_table t;
	size_t cie = put_plain_cie(&c), rules, pages, rows;

	put_fde(&c, cie, 0x100, 0x100, BYTES(DW_CFA_advance_loc | 1, DW_CFA_def_cfa_offset, 16));
	make(&c, 0);
	rules = sizeof(struct unwind_header);
	pages = rules + c.table.header->rules * sizeof(struct unwind_rule);
	rows = pages + c.table.header->pages * sizeof(struct unwind_page);
	ck_assert(still_good(&c, HEADER(refused), 7));
	ck_assert(!still_good(&c, HEADER(magic), 7));
	ck_assert(!still_good(&c, HEADER(version), 7777));
	ck_assert(!still_good(&c, HEADER(first_page) + 4, UINT32_MAX));
	for (uint32_t n = 0; n < 70000; n += n ? 9999 : 1) {
		ck_assert(n == c.table.header->pages || !still_good(&c, HEADER(pages), n));
		ck_assert(n == c.table.header->rules || !still_good(&c, HEADER(rules), n));
		ck_assert(n == c.table.header->rows || !still_good(&c, HEADER(rows), n));
	}
	ck_assert(!still_good(&c, HEADER(rows), UINT32_MAX));
	ck_assert(!still_good(&c, rules + offsetof(struct unwind_rule, kind), UNWIND_KIND_COUNT));
	ck_assert(!still_good(&c, rules + offsetof(struct unwind_rule, kind), 32 << 8));
	ck_assert(!still_good(&c, rules + offsetof(struct unwind_rule, kind), 32 << 16));
	ck_assert(!still_good(&c, rules + offsetof(struct unwind_rule, kind), 4u << 24));
	ck_assert(!still_good(&c, rules + offsetof(struct unwind_rule, kind), 2u << 28));
	ck_assert(!still_good(&c, pages, 1));
	ck_assert(!still_good(&c, pages, UINT32_MAX));
	ck_assert(!still_good(&c, pages + 4, c.table.header->rows + 1));
	ck_assert(!still_good(&c, pages + 4, UINT32_MAX));
	ck_assert(!still_good(&c, rows, UNWIND_ROW(1, 0)));
	ck_assert(!still_good(&c, rows, UNWIND_ROW(0, c.table.header->rules)));
	ck_assert(!still_good(&c, rows + 8, UNWIND_ROW(0, 0)));
	ck_assert(!still_good(&c, rows + 8, UNWIND_ROW(UNWIND_ROW_LOW(c.table.rows[1]), 0)));
	for (size_t size = 0; size < c.bytes_size; size++)
		ck_assert_int_eq(unwind_table_check(&t, c.bytes, size), -EBADMSG);
	done(&c);
}
END_TEST

SUITE("unwind_table", instructions_are_run, expressions_of_the_known_kinds,
      instructions_that_make_no_sense_spoil_their_function,
      what_cannot_be_said_is_bad_from_there_on, bad_entries_do_not_harm_others,
      a_terminator_in_the_middle_ends_nothing, an_entry_longer_than_the_section_is_the_last,
      a_huge_cie_is_refused, arm64_has_its_own_registers,
      arm64_signal_frames_and_clone_are_known_by_their_code,
      other_machines_and_no_files_have_no_table, a_file_that_changed_has_no_table,
      keys_tell_apart_what_makes_other_tables, tables_that_are_none_are_told)
