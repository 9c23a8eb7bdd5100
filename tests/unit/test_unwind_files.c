// SPDX-License-Identifier: Apache-2.0
/*
 * Unwind tables of real files, compared row by row with libdw's own reader of call frame
 * information. Rules that libdw cannot know (where threads begin, signal frames without
 * description) are recognized and checked separately.
 */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <sys/auxv.h>

#include "files.h"
#include "suite.h"
#include "table_find.h"

#define RBX 3
#define RBP 6
#define RSP 7
#define RIP 16
#define PADDING_MAX 15
#define ENTRY_MAX 64

static const char source[] =
	"#include <alloca.h>\n"
	"#include <stdio.h>\n"
	"#include <string.h>\n"
	"int sink(void *, ...);\n"
	"__attribute__((noinline)) int leaf(int x) { return x * x; }\n"
	"__attribute__((noinline)) int grows(int n)\n"
	"{ char *p = alloca(n); memset(p, 1, n); return leaf(p[n / 2]) + 1; }\n"
	"__attribute__((noinline)) int aligned(int n)\n"
	"{ char big[256] __attribute__((aligned(64))); char *p = alloca(n); memset(big, n, 256);\n"
	"  memset(p, n, n); return grows(big[n & 255] + p[0] + 1); }\n"
	"__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g)\n"
	"{ int x = leaf(a) + leaf(b), y = leaf(c) * x, z = leaf(d) - y;\n"
	"  for (int i = 0; i < e; i++) { x += leaf(y + i); y ^= leaf(z); z += leaf(x) * f; }\n"
	"  return x + y + z + g; }\n"
	"int main(int argc, char **argv)\n"
	"{ printf(\"%d\\n\", aligned(argc) + many(1, 2, 3, 4, argc, 6, 7)); return !argv[0]; }\n";

/* A file, its table, and libdw's data of it. */
struct subject {
	const char *name;
	int fd;
	Elf *elf;
	Dwarf_CFI *cfi;
	void *bytes;
	size_t size;
	struct unwind_table table;
	uint64_t entry;
	/* number of rows compared, and of those that libdw cannot know */
	unsigned long compared, special;
};

static void make_table(struct subject *s)
{
	struct stamp stamp;
	int rc;

	ck_assert_int_eq(stamp_of(s->fd, &stamp), 0);
	rc = unwind_table_make(&s->bytes, &s->size, NULL,
			       &(struct stamped_file){.fd = s->fd, .stamp = stamp});
	ck_assert_msg(!rc, "%s: %d", s->name, rc);
	ck_assert_int_eq(unwind_table_check(&s->table, s->bytes, s->size), 0);
}

static void subject_close(struct subject *s)
{
	if (s->cfi)
		dwarf_cfi_end(s->cfi);
	elf_end(s->elf);
	free(s->bytes);
	close(s->fd);
}

static struct subject subject_open(const char *name, int fd)
{
	struct subject s = {.name = name, .fd = fd};
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	s.elf = elf_begin(s.fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(gelf_getehdr(s.elf, &header));
	s.entry = header.e_entry;
	s.cfi = dwarf_getcfi_elf(s.elf);
	make_table(&s);
	return s;
}

static const struct unwind_rule gap = {.kind = UNWIND_GAP};

static const struct unwind_rule *rule_at(const struct subject *s, uint64_t offset)
{
	const struct unwind_rule *r = unwind_table_find(&s->table, offset);

	return r ? r : &gap;
}

/* Return an upper bound of the end of the row at offset. */
static uint64_t row_end(const struct subject *s, uint64_t offset)
{
	const struct unwind_table *t = &s->table;
	uint64_t page = offset >> UNWIND_PAGE_SHIFT, end = (page + 1) << UNWIND_PAGE_SHIFT;
	const struct unwind_page *p;
	uint32_t low = 0, high;

	if (page < t->header->first_page || page - t->header->first_page >= t->header->pages)
		return end;
	p = &t->pages[page - t->header->first_page];
	for (high = p->count; low < high;) {
		uint32_t middle = (low + high) / 2;

		if (UNWIND_ROW_LOW(t->rows[p->first + middle]) <= (offset & 0xffff))
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->count ? page << UNWIND_PAGE_SHIFT | UNWIND_ROW_LOW(t->rows[p->first + low])
			      : end;
}

static bool is_breg(const Dwarf_Op *op, int32_t *reg, int32_t *offset)
{
	if (op->atom == DW_OP_bregx) {
		*reg = (int32_t)op->number;
		*offset = (int32_t)op->number2;
		return true;
	}
	*reg = op->atom - DW_OP_breg0;
	*offset = (int32_t)op->number;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static bool has_atoms(const Dwarf_Op *ops, size_t count, const uint8_t *atoms, size_t n)
{
	for (size_t i = 0; i < count && i < n; i++) {
		if (atoms[i] && ops[i].atom != atoms[i])
			return false;
	}
	return count == n;
}

#define HAS_ATOMS(ops, count, ...) \
	has_atoms(ops, count, (const uint8_t[]){__VA_ARGS__}, \
		  sizeof((const uint8_t[]){__VA_ARGS__}))

static struct unwind_rule expected_cfa(const Dwarf_Op *ops, size_t count)
{
	struct unwind_rule r = {.kind = UNWIND_BAD};
	int32_t reg, index, unused;

	if (!count || !is_breg(ops, &reg, &r.cfa_offset))
		return r;
	r.reg = (uint8_t)reg;
	if (count == 1) {
		r.kind = UNWIND_CFA;
	} else if (HAS_ATOMS(ops, count, 0, DW_OP_deref)) {
		r.kind = UNWIND_DEREF;
	} else if (HAS_ATOMS(ops, count, 0, DW_OP_deref, DW_OP_plus_uconst)) {
		r.kind = UNWIND_DEREF;
		r.second = (int32_t)ops[2].number;
	} else if (HAS_ATOMS(ops, count, 0, 0, DW_OP_lit8, DW_OP_mul, DW_OP_plus, DW_OP_deref,
			     DW_OP_plus_uconst) &&
		   is_breg(&ops[1], &index, &unused)) {
		r.kind = UNWIND_INDEXED;
		r.index = (uint8_t)index;
		r.second = (int32_t)ops[6].number;
	} else if (HAS_ATOMS(ops, count, DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
			     DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus)) {
		r.kind = UNWIND_PLT;
		r.second = ops[4].atom - DW_OP_lit0;
	}
	return r;
}

struct place {
	Dwarf_Op memory[3], *ops;
	size_t count;
};

/*
 * Check a condition of every range of code; an assertion of the check library would write to a file
 * each time, which takes long.
 */
static void must(bool what)
{
	if (!what)
		ck_abort_msg("libdw: %s", dwarf_errmsg(-1));
}

static void find_place(struct place *p, Dwarf_Frame *frame, int reg)
{
	must(dwarf_frame_register(frame, reg, p->memory, &p->ops, &p->count) == 0);
}

static bool is_undefined(const struct place *p)
{
	return p->ops && !p->count;
}

static bool at_cfa(const struct place *p, int32_t *offset)
{
	*offset = p->count == 2 ? (int32_t)p->ops[1].number : 0;
	return p->count && p->ops[0].atom == DW_OP_call_frame_cfa &&
	       (p->count == 1 || (p->count == 2 && p->ops[1].atom == DW_OP_plus_uconst));
}

static void expect_ra(struct unwind_rule *r, const struct place *ra)
{
	int32_t offset;

	if (at_cfa(ra, &offset)) {
		if (r->kind == UNWIND_CFA)
			r->second = offset;
		else if (offset != -8)
			r->kind = UNWIND_BAD;
	} else if (ra->count == 1 && ra->ops[0].atom == DW_OP_regx && r->kind == UNWIND_CFA) {
		r->index = (uint8_t)ra->ops[0].number;
		r->saved = UNWIND_SAVED(0, UNWIND_RA_IN_REGISTER);
	} else {
		r->kind = UNWIND_BAD;
	}
}

static void expect_fp(struct unwind_rule *r, const struct place *fp)
{
	unsigned int kind = UNWIND_FP_UNKNOWN;
	int32_t offset, reg;

	if (!fp->ops) {
		kind = UNWIND_FP_SAME;
	} else if (at_cfa(fp, &offset)) {
		kind = UNWIND_FP_AT_CFA;
		r->fp_offset = (int16_t)offset;
	} else if (fp->count == 2 && is_breg(&fp->ops[1], &reg, &offset) && reg == RBP) {
		kind = UNWIND_FP_AT_FP;
		r->fp_offset = (int16_t)offset;
	}
	r->saved = (uint8_t)(r->saved | kind);
}

static void expect_base(struct unwind_rule *r, const struct place *base)
{
	int32_t offset;

	r->base_offset = UNWIND_BASE_LOST;
	/* libdw takes rbx for undefined without a description; by the ABI it is preserved. */
	if (!base->ops || is_undefined(base))
		r->base_offset = UNWIND_BASE_SAME;
	else if (at_cfa(base, &offset) && offset && offset == (int16_t)offset)
		r->base_offset = (int16_t)offset;
}

static struct unwind_rule expected(Dwarf_Frame *frame)
{
	struct unwind_rule r;
	struct place ra, fp, base;
	bool is_signal;
	Dwarf_Op *ops;
	size_t count;

	find_place(&ra, frame, RIP);
	find_place(&fp, frame, RBP);
	find_place(&base, frame, RBX);
	must(dwarf_frame_info(frame, NULL, NULL, &is_signal) == RIP);
	if (is_signal)
		return (struct unwind_rule){.kind = UNWIND_SIGNAL, .cfa_offset = 40};
	if (is_undefined(&ra))
		return (struct unwind_rule){.kind = UNWIND_END};
	must(dwarf_frame_cfa(frame, &ops, &count) == 0);
	r = expected_cfa(ops, count);
	if (r.kind != UNWIND_BAD)
		expect_ra(&r, &ra);
	if (r.kind == UNWIND_BAD)
		return (struct unwind_rule){.kind = UNWIND_BAD};
	expect_fp(&r, &fp);
	expect_base(&r, &base);
	return r;
}

static const char *describe(const struct unwind_rule *r, char *buf, size_t size)
{
	snprintf(buf, size, "kind %d reg %d %d %d index %d saved %x fp %d base %d", r->kind, r->reg,
		 r->cfa_offset, r->second, r->index, r->saved, r->fp_offset, r->base_offset);
	return buf;
}

static void agree(const struct subject *s, uint64_t address, const struct unwind_rule *r,
		  const struct unwind_rule *e)
{
	char found[128], wanted[128];

	if (memcmp(r, e, sizeof(*r)) != 0)
		ck_abort_msg("%s, %lx: %s, not %s", s->name, (unsigned long)address,
			     describe(r, found, sizeof(found)),
			     describe(e, wanted, sizeof(wanted)));
}

static bool in_entry(const struct subject *s, uint64_t address)
{
	return address >= s->entry && address - s->entry < ENTRY_MAX;
}

/* Compare one range of code in which neither description changes. Return its end. */
static uint64_t compare_at(struct subject *s, uint64_t address, uint64_t offset,
			   uint64_t *described)
{
	const struct unwind_rule *r = rule_at(s, offset);
	Dwarf_Addr start = 0, end = 0;
	Dwarf_Frame *frame = NULL;
	struct unwind_rule e;

	if (!s->cfi || dwarf_cfi_addrframe(s->cfi, address, &frame) != 0) {
		bool padding = address - *described < PADDING_MAX;

		if (r->kind != UNWIND_GAP && !padding)
			s->special++;
		return address + (r->kind == UNWIND_GAP ? 4 : 1);
	}
	must(dwarf_frame_info(frame, &start, &end, NULL) == RIP);
	e = expected(frame);
	if (r->kind == UNWIND_END && in_entry(s, address))
		s->special++;
	else
		agree(s, address, r, &e);
	s->compared++;
	free(frame);
	*described = end;
	return end;
}

/* Compare every byte of code, range by range. */
static void compare(struct subject *s)
{
	size_t count;
	GElf_Phdr p;

	ck_assert_int_eq(elf_getphdrnum(s->elf, &count), 0);
	for (size_t i = 0; i < count; i++) {
		uint64_t at, described = 0;

		ck_assert_ptr_nonnull(gelf_getphdr(s->elf, (int)i, &p));
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		for (at = 0; at < p.p_filesz;) {
			uint64_t row = row_end(s, p.p_offset + at) - p.p_offset;
			uint64_t next = compare_at(s, p.p_vaddr + at, p.p_offset + at, &described) -
					p.p_vaddr;

			at = next < row ? next : row;
		}
	}
	ck_assert_uint_eq(s->table.header->refused, 0);
}

/*
 * Compare a file with at least so many ranges; libdw lacks rules for a few instructions only: those
 * of start-up code, and of libjvm's functions of assembly language.
 */
static void compare_file(const char *path, unsigned long pieces)
{
	struct subject s = subject_open(path, file_open(path));

	compare(&s);
	ck_assert_msg(s.compared >= pieces, "%s: %lu", path, s.compared);
	ck_assert_msg(s.special < 2000, "%s: %lu", path, s.special);
	subject_close(&s);
}

static void build(const char *compiler, const char *flags)
{
	if (!files_dir[0])
		files_begin();
	file_write("a.c", source, sizeof(source) - 1);
	shell("%s %s -o prog a.c", compiler, flags);
}

START_TEST(libraries_agree_with_libdw)
{
	compare_file("/lib/x86_64-linux-gnu/libc.so.6", 20000);
	compare_file("/lib64/ld-linux-x86-64.so.2", 1000);
	compare_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 20000);
	compare_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 50000);
}
END_TEST

START_TEST(a_large_library_agrees_with_libdw)
{
	static const char path[] = "/usr/lib/jvm/temurin-25-jdk-amd64/lib/server/libjvm.so";

	compare_file(access(path, R_OK) == 0 ? path : "/usr/bin/python3.11", 50000);
}
END_TEST

START_TEST(the_vdso_agrees_with_libdw)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	struct subject s;
	GElf_Ehdr h;

	ck_assert_ptr_nonnull(image);
	memcpy(&h, image, sizeof(h));
	s = subject_open("vdso",
			 file_of(image, h.e_shoff + (size_t)h.e_shnum * sizeof(Elf64_Shdr)));
	compare(&s);
	ck_assert_uint_ge(s.compared, 10);
	subject_close(&s);
}
END_TEST

static void compare_build(const char *compiler, const char *flags)
{
	build(compiler, flags);
	compare_file("prog", 10);
}

START_TEST(programs_agree_with_libdw)
{
	compare_build("gcc", "-O2");
	compare_build("gcc", "-O0 -no-pie -Wl,-z,noseparate-code");
	compare_build("gcc", "-O2 -fno-omit-frame-pointer -mstackrealign");
	compare_build("gcc", "-O1 -static");
	compare_build("gcc", "-O1 -static-pie");
	compare_build("gcc", "-Os -m64 -Wl,--hash-style=gnu -s");
	compare_build("clang-16", "-O2");
}
END_TEST

static struct subject subject_of(const char *path)
{
	return subject_open(path, file_open(path));
}

static uint64_t symbol(const char *path, const char *name)
{
	char command[512];
	unsigned long value = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "{ nm %s; nm -D %s; } 2>/dev/null | "
		 "sed -n 's/^\\([0-9a-f]*\\) . %s\\(@.*\\)*$/\\1/p' | head -1",
		 path, path, name);
	f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_msg(fscanf(f, "%lx", &value) == 1, "%s", command);
	pclose(f);
	return value;
}

static uint64_t section(const char *path, const char *name)
{
	char command[512];
	unsigned long value = 0;
	FILE *f;

	snprintf(command, sizeof(command),
		 "readelf -SW %s | sed -n 's/.* \\%s  *PROGBITS  *\\([0-9a-f]*\\) .*/\\1/p'", path,
		 name);
	f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_msg(fscanf(f, "%lx", &value) == 1, "%s", command);
	pclose(f);
	return value;
}

static uint64_t offset_of(const struct subject *s, uint64_t address)
{
	size_t count;
	GElf_Phdr p;

	ck_assert_int_eq(elf_getphdrnum(s->elf, &count), 0);
	for (size_t i = 0; i < count; i++) {
		ck_assert_ptr_nonnull(gelf_getphdr(s->elf, (int)i, &p));
		if (p.p_type == PT_LOAD && address >= p.p_vaddr && address - p.p_vaddr < p.p_filesz)
			return address - p.p_vaddr + p.p_offset;
	}
	ck_abort_msg("%s: %lx", s->name, (unsigned long)address);
}

/* Return the offset of the first occurrence of code from an offset on, within so many bytes. */
static uint64_t find_code(const struct subject *s, uint64_t from, size_t within, const char *code,
			  size_t size)
{
	char *buf = malloc(within);
	const char *at;

	ck_assert_ptr_nonnull(buf);
	ck_assert_int_gt(pread(s->fd, buf, within, (off_t)from), (ssize_t)size);
	at = memmem(buf, within, code, size);
	ck_assert_ptr_nonnull(at);
	from += (uint64_t)(at - buf);
	free(buf);
	return from;
}

#define SYSCALL "\x0f\x05"
#define RESTORER "\x48\xc7\xc0\x0f\0\0\0\x0f\x05"

/* Check clone(): the child runs from xor %ebp,%ebp on and has no caller. */
static void check_clone(const struct subject *s, uint64_t start)
{
	uint64_t call = find_code(s, start, 64, SYSCALL, 2);
	uint64_t child = find_code(s, call, 64, "\x31\xed", 2);
	const struct unwind_rule *r = rule_at(s, start);

	ck_assert_int_eq(r->kind, UNWIND_CFA);
	ck_assert_int_eq(r->cfa_offset, 8);
	ck_assert_int_eq(rule_at(s, call - 1)->kind, UNWIND_CFA);
	r = rule_at(s, call + 2);
	ck_assert_int_eq(r->kind, UNWIND_CLONE);
	ck_assert_int_eq(r->cfa_offset, 8);
	ck_assert_int_eq(rule_at(s, child - 1)->kind, UNWIND_CLONE);
	ck_assert_int_eq(rule_at(s, child)->kind, UNWIND_END);
	ck_assert_int_eq(rule_at(s, child + 8)->kind, UNWIND_END);
	/* the parent, after an error (glibc) or always (musl) */
	ck_assert_int_eq(rule_at(s, find_code(s, child, 64, "\xc3", 1))->kind, UNWIND_CFA);
}

START_TEST(glibc_clone_begins_threads_and_returns)
{
	struct subject s = subject_of("/lib/x86_64-linux-gnu/libc.so.6");
	uint64_t clone3;

	check_clone(&s, offset_of(&s, symbol(s.name, "clone")));
	/* clone3 has no symbol: search mov $435,%eax before its system call */
	clone3 = find_code(&s, offset_of(&s, symbol(s.name, "clone")), 4096, "\xb8\xb3\x01\0\0", 5);
	check_clone(&s, clone3);
	subject_close(&s);
}
END_TEST

START_TEST(vfork_keeps_its_return_address_in_a_register)
{
	struct subject s = subject_of("/lib/x86_64-linux-gnu/libc.so.6");
	uint64_t vfork = offset_of(&s, symbol(s.name, "vfork"));
	const struct unwind_rule *r = rule_at(&s, find_code(&s, vfork, 64, SYSCALL, 2) + 2);

	ck_assert_int_eq(UNWIND_SAVED_RA(r->saved), UNWIND_RA_IN_REGISTER);
	ck_assert_int_eq(r->index, 5); /* rdi */
	ck_assert_int_eq(r->cfa_offset, 0);
	subject_close(&s);
}
END_TEST

/* Check that the rule also covers the byte before the code, and no more. */
static void check_restorer(const struct subject *s, uint64_t from, size_t within)
{
	uint64_t at = find_code(s, from, within, RESTORER, 9);

	for (uint64_t i = at - 1; i < at + 9; i++) {
		ck_assert_int_eq(rule_at(s, i)->kind, UNWIND_SIGNAL);
		ck_assert_int_eq(rule_at(s, i)->cfa_offset, 40);
	}
	ck_assert_int_ne(rule_at(s, at - 2)->kind, UNWIND_SIGNAL);
}

START_TEST(signal_frames_are_found_one_byte_early)
{
	struct subject s;

	build("gcc", "-O1 -static");
	s = subject_of("prog");
	check_restorer(&s, offset_of(&s, symbol("prog", "__restore_rt")) - 16, 64);
	subject_close(&s);
	s = subject_of("/lib/x86_64-linux-gnu/libc.so.6");
	check_restorer(&s, offset_of(&s, symbol(s.name, "abort")) & ~0xffffull, 1 << 18);
	subject_close(&s);
}
END_TEST

static void check_entry(const char *path)
{
	struct subject s = subject_of(path);
	uint64_t entry = offset_of(&s, s.entry);

	for (uint64_t i = 0; i < 20; i++)
		ck_assert_msg(rule_at(&s, entry + i)->kind == UNWIND_END, "%s", path);
	ck_assert_int_ne(rule_at(&s, entry + ENTRY_MAX)->kind, UNWIND_END);
	subject_close(&s);
}

START_TEST(programs_end_where_they_begin)
{
	static const char *const flags[] = {"-O1", "-static", "-static-pie", "-no-pie -s"};

	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
		build("gcc", flags[i]);
		check_entry("prog");
	}
	check_entry("/lib64/ld-linux-x86-64.so.2");
}
END_TEST

/*
 * Check the rule of a PLT stub: at a multiple of 16, it pushes its number between its bytes 6 and
 * 11.
 */
static void check_plt_rule(const struct unwind_rule *r)
{
	ck_assert(r->kind == UNWIND_PLT && r->reg == RSP && r->cfa_offset == 8 && r->second == 11);
}

/* glibc selects memcpy() and others by CPU, through PLT stubs even in static programs. */
START_TEST(stubs_of_static_programs_have_rules)
{
	struct subject s;
	uint64_t stub;

	build("gcc", "-O1 -static");
	s = subject_of("prog");
	stub = find_code(&s, 0x1000, 4096, "\xff\x25", 2);
	for (uint64_t i = 0; i < 16; i++) {
		const struct unwind_rule *r = rule_at(&s, stub + i);

		ck_assert(r->kind == UNWIND_CFA && r->reg == RSP && r->cfa_offset == 8);
	}
	subject_close(&s);
}
END_TEST

/* Rust's linker is lld, which emits no description of stubs, unlike GNU ld. */
START_TEST(stubs_of_lld_have_rules)
{
	static const char text[] = "fn main() { println!(\"{:?}\", std::env::args()); }\n";
	struct subject s;
	uint64_t head;

	if (system("command -v rustc > /dev/null") != 0)
		return;
	files_begin();
	file_write("a.rs", text, sizeof(text) - 1);
	shell("rustc -O -o prog a.rs");
	/* Debian's rustc uses GNU ld */
	if (system("readelf -p .comment prog | grep -q LLD") != 0)
		return;
	s = subject_of("prog");
	head = offset_of(&s, section("prog", ".plt"));
	ck_assert_int_eq(rule_at(&s, head)->cfa_offset, 16);
	ck_assert_int_eq(rule_at(&s, head + 6)->cfa_offset, 24);
	check_plt_rule(rule_at(&s, head + 16));
	check_plt_rule(rule_at(&s, head + 31));
	subject_close(&s);
}
END_TEST

/* musl has no descriptions of its functions, and symbols only where it is linked statically. */
START_TEST(musl_is_known_by_its_code)
{
	static const char text[] =
		"#include <pthread.h>\n#include <signal.h>\nint main(void)\n"
		"{ pthread_t t; signal(2, SIG_DFL); return pthread_create(&t, 0, 0, 0); }\n";
	struct subject s;
	uint64_t start;

	if (system("command -v musl-gcc > /dev/null") != 0)
		return;
	files_begin();
	file_write("t.c", text, sizeof(text) - 1);
	shell("musl-gcc -static -o prog t.c");
	s = subject_of("prog");
	check_clone(&s, offset_of(&s, symbol("prog", "__clone")));
	check_restorer(&s, offset_of(&s, symbol("prog", "__restore_rt")) - 8, 64);
	ck_assert_int_eq(rule_at(&s, offset_of(&s, symbol("prog", "_start")))->kind, UNWIND_END);
	start = offset_of(&s, symbol("prog", "_start_c"));
	ck_assert_int_eq(rule_at(&s, start)->kind, UNWIND_CFA);
	subject_close(&s);
	/* the dynamic linker, which is also the C library */
	check_entry("/lib/ld-musl-x86_64.so.1");
}
END_TEST

/* Compare the rules of two files. _init() and _fini() are known by their sections only. */
static void check_same(const struct subject *a, const struct subject *b)
{
	unsigned int described = 0, differ = 0;

	for (uint64_t offset = 0; offset < 0x10000; offset++) {
		const struct unwind_rule *x = rule_at(a, offset), *y = rule_at(b, offset);

		described += y->kind != UNWIND_GAP;
		differ += memcmp(x, y, sizeof(*x)) != 0;
		if (y->kind != UNWIND_GAP && memcmp(x, y, sizeof(*x)) != 0)
			ck_abort_msg("%lx", (unsigned long)offset);
	}
	ck_assert_uint_ge(described, 200);
	ck_assert_uint_le(differ, 64);
}

START_TEST(without_section_headers_it_is_the_same)
{
	static const Elf64_Ehdr none;
	struct subject a, b;
	int fd;

	build("gcc", "-O2");
	a = subject_of("prog");
	shell("cp prog bare");
	fd = open("bare", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, &none, 8, offsetof(Elf64_Ehdr, e_shoff)), 8);
	ck_assert_int_eq(pwrite(fd, &none, 4, offsetof(Elf64_Ehdr, e_shnum)), 4);
	b = subject_open("bare", fd);
	check_same(&a, &b);
	subject_close(&a);
	subject_close(&b);
}
END_TEST

START_TEST(debug_frame_serves_where_eh_frame_does_not)
{
	struct subject s;

	build("gcc", "-O2 -g -fno-asynchronous-unwind-tables -fno-unwind-tables");
	s = subject_of("prog");
	dwarf_cfi_end(s.cfi);
	s.cfi = NULL;
	ck_assert_int_eq(rule_at(&s, offset_of(&s, symbol("prog", "leaf")))->kind, UNWIND_CFA);
	ck_assert_int_eq(rule_at(&s, offset_of(&s, symbol("prog", "many")) + 40)->kind, UNWIND_CFA);
	ck_assert_int_eq(rule_at(&s, offset_of(&s, symbol("prog", "_start")))->kind, UNWIND_END);
	subject_close(&s);
}
END_TEST

SUITE("unwind_files", libraries_agree_with_libdw, a_large_library_agrees_with_libdw,
      the_vdso_agrees_with_libdw, programs_agree_with_libdw, glibc_clone_begins_threads_and_returns,
      vfork_keeps_its_return_address_in_a_register, signal_frames_are_found_one_byte_early,
      programs_end_where_they_begin, stubs_of_static_programs_have_rules, stubs_of_lld_have_rules,
      musl_is_known_by_its_code, without_section_headers_it_is_the_same,
      debug_frame_serves_where_eh_frame_does_not)
