// SPDX-License-Identifier: Apache-2.0
/*
 * unwind/go.c: its rules are compared with programs executed instruction by instruction, with the
 * .debug_frame that Go's linker makes, and between stripped and unstripped programs; then crafted
 * tables are read. Programs are built with every Go toolchain of this machine; without one, only
 * crafted tables are tested.
 */
#include <errno.h>
#include <glob.h>

#include "gotable.h"
#include "stepping.h"
#include "suite.h"
#include "symbolizers/elf.h"
#include "symbolizers/go_table.h"
#include "symbolizers/unwind/go.h"

#define STEPS 12000 /* instructions; each takes about 60 us */

static const char go_source[] =
	"package main\n"
	"import (\"fmt\"; \"os\"; \"sort\"; \"strings\"; \"time\")\n"
	"//go:noinline\n"
	"func deep(n int, s []string) int { if n == 0 { return len(fmt.Sprint(s)) }\n"
	"	var room [40]int; room[n % 40] = deep(n - 1, s); return room[n % 40] + 1 }\n"
	"func main() {\n"
	"	done := make(chan int); var s []string\n"
	"	go func() { done <- deep(100, []string{\"a\"}) }()\n"
	"	<-done\n"
	"	for i := 0; i < 50; i++ { s = append(s, fmt.Sprint(time.Now().UnixNano() % 1000)) "
	"}\n"
	"	sort.Strings(s); fmt.Fprintln(os.Stderr, strings.Join(s[:1], \",\")[:0])\n"
	"}\n";

static const char cgo_source[] = "package main\n"
				 "// int down(int x);\n"
				 "import \"C\"\n"
				 "//export goback\n"
				 "func goback(x C.int) C.int { return C.down(x) }\n"
				 "func main() { for i := 0; i < 50; i++ { C.down(5) } }\n";

static const char cgo_part[] = "package main\n"
			       "// extern int goback(int);\n"
			       "// int down(int x) { return x ? goback(x - 1) + 1 : 0; }\n"
			       "import \"C\"\n";

/* The toolchains of this machine; "" ends the list. */
static char toolchains[8][64];

static void find_toolchains(void)
{
	static const char *const places[] = {"/usr/lib/go-*/bin/go", "/usr/local/go/bin/go",
					     "/usr/lib/go/bin/go", "/usr/lib/golang/bin/go"};
	size_t count = 0;
	glob_t g;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		if (glob(places[i], 0, NULL, &g) != 0)
			continue;
		for (size_t n = 0; n < g.gl_pathc && count < 7; n++)
			snprintf(toolchains[count++], 64, "%s", g.gl_pathv[n]);
		globfree(&g);
	}
	if (!count)
		fprintf(stderr, "SKIPPED: no Go toolchain here, only tables made here are read\n");
}

static void build(const char *go, const char *name, const char *flags, const char *sources)
{
	shell("HOME=${HOME:-$PWD} GO111MODULE=off GOFLAGS= GOTOOLCHAIN=local %s build %s -o %s %s",
	      go, flags, name, sources);
}

/* The table of a file, made by unwind/go.c alone. */
struct made {
	struct elf_image image;
	struct unwind_source source;
	struct unwind_table table;
	void *bytes;
	size_t size;
};

static int make_of(struct made *m, int fd)
{
	struct unwind_rows rows;
	int rc;

	*m = (struct made){.bytes = NULL};
	ck_assert_int_eq(elf_image_open(&m->image, fd, NULL), 0);
	ck_assert_int_eq(unwind_source_open(&m->source, &m->image), 0);
	ck_assert_int_eq(unwind_rows_init(&rows), 0);
	rc = unwind_go_add(&rows, &m->source);
	if (!rc)
		rc = unwind_rows_finish(&rows, &m->bytes, &m->size);
	unwind_rows_free(&rows);
	if (!rc)
		ck_assert_int_eq(unwind_table_check(&m->table, m->bytes, m->size), 0);
	return rc;
}

static void make_from(struct made *m, const char *path)
{
	int fd = file_open(path);

	ck_assert_msg(make_of(m, fd) == 0, "%s", path);
	ck_assert_uint_eq(m->table.header->refused, 0);
	ck_assert_uint_gt(m->table.header->rows, 1000);
}

static void unmake(struct made *m)
{
	free(m->bytes);
	unwind_source_free(&m->source);
	close(m->image.fd);
	elf_image_close(&m->image);
}

/* Return the address of a function in Go's own table; 0: not found. */
static uint64_t address_of(const struct made *m, const char *name)
{
	struct go_function f;
	struct go_table t;
	uint64_t ret = 0;

	ck_assert_int_eq(go_table_open(&t, &m->image), 0);
	for (uint64_t i = 0; i < t.functions && !ret; i++) {
		if (go_table_function(&t, i, &f) == 0 && strcmp(go_table_name(&t, &f), name) == 0)
			ret = f.start;
	}
	go_table_close(&t);
	return ret;
}

static const struct unwind_rule *rule_at(const struct made *m, uint64_t address)
{
	uint64_t offset;

	ck_assert(unwind_source_offset(&m->source, address, &offset, NULL));
	return unwind_table_find(&m->table, offset);
}

/* Check that stripping does not change the rows. */
static void same_rows(const char *a, const char *b)
{
	struct made x, y;

	make_from(&x, a);
	make_from(&y, b);
	ck_assert_msg(x.size == y.size && memcmp(x.bytes, y.bytes, x.size) == 0, "%s %s", a, b);
	unmake(&x);
	unmake(&y);
}

/* Check that a readable .debug_frame does not change the table. */
static void same_tables(const char *a, const char *b)
{
	const char *const paths[] = {a, b};
	size_t sizes[2];
	void *tables[2];

	for (int i = 0; i < 2; i++) {
		int fd = file_open(paths[i]);
		struct stamp stamp;

		ck_assert_int_eq(stamp_of(fd, &stamp), 0);
		ck_assert_int_eq(
			unwind_table_make(&tables[i], &sizes[i], NULL,
					  &(struct stamped_file){.fd = fd, .stamp = stamp}),
			0);
		close(fd);
	}
	ck_assert_uint_eq(sizes[0], sizes[1]);
	ck_assert(memcmp(tables[0], tables[1], sizes[0]) == 0);
	free(tables[0]);
	free(tables[1]);
}

/* Functions that switch stacks, which .debug_frame, made from the same table, does not show. */
static bool is_special(const char *name)
{
	static const char *const special[] = {
		"runtime.rt0_go",
		"runtime.mcall",
		"runtime.mstart",
		"runtime.goexit",
		"runtime.morestack",
		"gogo",
		"runtime.clone",
		"runtime.sigreturn",
		"runtime.nanotime1",
		"time.now",
		"runtime.systemstack",
		"runtime.asmcgocall",
		"runtime.callCgo",
		"runtime.vgetrandom1",
		"runtime.switchToCrashStack0",
		"runtime.cgocallback",
		"_rt0_amd64",
	};

	for (size_t i = 0; i < sizeof(special) / sizeof(*special); i++) {
		if (strncmp(name, special[i], strlen(special[i])) == 0)
			return true;
	}
	return false;
}

/* Compare a line of an FDE: the address, and the CFA there. */
static size_t compare_row(const struct made *m, const struct go_table *t, const char *line)
{
	unsigned long long address;
	struct go_table names = *t;
	const struct unwind_rule *r;
	struct go_function f;
	long offset;

	/* The row of a CIE has address 0. */
	if (sscanf(line, "%16llx rsp%ld", &address, &offset) != 2 || !address)
		return 0;
	r = rule_at(m, address);
	ck_assert_ptr_nonnull(r);
	if (r->kind == UNWIND_CFA && r->reg == UNWIND_REG_SP && r->cfa_offset == offset)
		return 1;
	names.end = 0;
	for (uint64_t i = 0; i < t->functions; i++) {
		if (go_table_function(&names, i, &f) == 0 && address >= f.start && address < f.end)
			break;
	}
	ck_assert_msg(is_special(go_table_name(t, &f)), "%s at %#llx: kind %d reg %d + %d, not %ld",
		      go_table_name(t, &f), address, r->kind, r->reg, r->cfa_offset, offset);
	return 0;
}

static void compare_debug_frame(const char *path)
{
	char command[128], line[512];
	struct go_table t;
	size_t same = 0;
	struct made m;
	FILE *pipe;

	make_from(&m, path);
	ck_assert_int_eq(go_table_open(&t, &m.image), 0);
	snprintf(command, sizeof(command), "readelf --debug-dump=frames-interp %s", path);
	pipe = popen(command, "r");
	ck_assert_ptr_nonnull(pipe);
	while (fgets(line, sizeof(line), pipe))
		same += compare_row(&m, &t, line);
	ck_assert_int_eq(pclose(pipe), 0);
	ck_assert_uint_gt(same, 5000);
	go_table_close(&t);
	unmake(&m);
}

/* Return the offset that the process adds to addresses: its first mapping is the program's. */
static uint64_t bias_of(const struct made *m, pid_t pid)
{
	unsigned long long start;
	char path[64];
	GElf_Phdr p;
	FILE *maps;

	if (m->image.header.e_type != ET_DYN)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	ck_assert_ptr_nonnull(maps);
	ck_assert_int_eq(fscanf(maps, "%llx", &start), 1);
	fclose(maps);
	ck_assert_ptr_nonnull(gelf_getphdr(m->image.elf, 0, &p));
	return start - (p.p_vaddr - p.p_offset);
}

/*
 * Execute steps instructions from a function on. Return how many frames were found by the frame
 * pointer.
 */
static size_t run(const char *path, const char *from, size_t steps)
{
	static struct stepping s;
	struct made m;

	make_from(&m, path);
	memset(&s, 0, sizeof(s));
	stepping_begin(&s, path);
	s.table = &m.table;
	s.offset = m.source.segments.items[0].offset;
	s.size = m.source.segments.items[0].size;
	s.address = m.source.segments.items[0].address + bias_of(&m, s.pid);
	stepping_run_to(&s, address_of(&m, from) + bias_of(&m, s.pid));
	for (size_t i = 0; i < steps && stepping_step(&s); i++) {
		stepping_check(&s, i % 37 == 0);
		ck_assert_msg(!s.wrong[0], "%s, step %zu: %s", path, i, s.wrong);
	}
	ck_assert_uint_gt(s.checked, steps / 2);
	/* The other walks end in C, of which this table has no rules. */
	ck_assert_uint_gt(s.complete, s.walks / 4);
	stepping_end(&s);
	unmake(&m);
	return s.pointers;
}

static void check_roles(const char *path)
{
	struct made m;
	uint64_t at;

	make_from(&m, path);
	ck_assert_int_eq(rule_at(&m, address_of(&m, "runtime.goexit"))->kind, UNWIND_END);
	ck_assert_int_eq(rule_at(&m, address_of(&m, "runtime.mstart"))->kind, UNWIND_END);
	ck_assert_int_eq(rule_at(&m, m.image.header.e_entry)->kind, UNWIND_END);
	/* Before mcall leaves the goroutine's stack, it has a caller; afterwards it has none. */
	at = address_of(&m, "runtime.mcall");
	ck_assert_int_eq(rule_at(&m, at)->kind, UNWIND_CFA);
	ck_assert_int_eq(rule_at(&m, at + 0x50)->kind, UNWIND_END);
	at = address_of(&m, "runtime.sigreturn__sigaction");
	at = at ? at : address_of(&m, "runtime.sigreturn");
	ck_assert_int_eq(rule_at(&m, at)->kind, UNWIND_SIGNAL);
	ck_assert_int_eq(rule_at(&m, at - 1)->kind, UNWIND_SIGNAL);
	ck_assert_int_eq(rule_at(&m, at)->cfa_offset, 40);
	at = address_of(&m, "runtime.clone");
	ck_assert_int_eq(rule_at(&m, at + 0x51)->kind, UNWIND_CFA);
	ck_assert_int_eq(rule_at(&m, at + 0x52)->kind, UNWIND_CLONE);
	ck_assert_int_eq(rule_at(&m, at + 0x60)->kind, UNWIND_END);
	unmake(&m);
}

static void read_names(struct elf *e, const char *path)
{
	struct object_facts facts = {.symbols = 0};
	int fd = file_open(path);
	struct stamp stamp;

	ck_assert_int_eq(stamp_of(fd, &stamp), 0);
	ck_assert_int_eq(
		elf_read(e, &(struct elf_files){{.fd = fd, .stamp = stamp}, -1, -1, 0}, &facts), 0);
	close(fd);
}

/*
 * Return whether two names are equal, apart from the calling convention that the linker adds to
 * some.
 */
static bool same_name(const char *with, const char *without)
{
	size_t length = strlen(without);

	return strncmp(with, without, length) == 0 &&
	       (!with[length] || strcmp(with + length, ".abi0") == 0);
}

/* Check that a stripped program has the same names and the same first functions of threads. */
static void check_names(const char *path, const char *stripped)
{
	size_t starts = 0, differ = 0;
	struct found_symbol a, b;
	struct go_table t;
	struct elf x, y;
	struct made m;

	read_names(&x, path);
	read_names(&y, stripped);
	make_from(&m, stripped);
	ck_assert_int_eq(go_table_open(&t, &m.image), 0);
	for (uint64_t i = 0; i < t.functions; i++) {
		struct go_function f;
		uint64_t at;

		if (go_table_function(&t, i, &f))
			continue;
		ck_assert(unwind_source_offset(&m.source, f.start, &at, NULL));
		ck_assert(elf_find(&y, at, &b));
		ck_assert_str_eq(b.name, go_table_name(&t, &f));
		ck_assert_uint_eq(b.start, at);
		ck_assert(elf_find(&x, at, &a));
		ck_assert_uint_eq(a.flags, b.flags);
		starts += (b.flags & SYMBOL_START) != 0;
		differ += !same_name(a.name, b.name);
	}
	ck_assert_uint_ge(starts, 8);
	/* Two tables may choose different ones of several symbols at one address. */
	ck_assert_uint_le(differ, 5);
	go_table_close(&t);
	unmake(&m);
	elf_free(&x);
	elf_free(&y);
}

START_TEST(plain)
{
	files_begin();
	file_write("a.go", go_source, sizeof(go_source) - 1);
	for (size_t i = 0; toolchains[i][0]; i++) {
		setenv("CGO_ENABLED", "0", 1);
		build(toolchains[i], "prog", "-ldflags -compressdwarf=false", "a.go");
		build(toolchains[i], "stripped", "-ldflags '-s -w'", "a.go");
		same_rows("prog", "stripped");
		same_tables("prog", "stripped");
		check_roles("stripped");
		check_names("prog", "stripped");
		compare_debug_frame("prog");
		run("stripped", "runtime.rt0_go", STEPS / 2);
		/* depends on which of its threads Go continues */
		ck_assert_uint_gt(run("stripped", "main.main", STEPS), 25);
	}
}
END_TEST

START_TEST(position_independent)
{
	files_begin();
	file_write("a.go", go_source, sizeof(go_source) - 1);
	for (size_t i = 0; toolchains[i][0]; i++) {
		setenv("CGO_ENABLED", "0", 1);
		build(toolchains[i], "pie", "-buildmode=pie", "a.go");
		build(toolchains[i], "stripped", "-buildmode=pie -ldflags '-s -w'", "a.go");
		same_rows("pie", "stripped");
		check_roles("stripped");
		run("stripped", "main.main", STEPS / 2);
	}
}
END_TEST

/* From C to Go and back, in programs linked by gcc, where the table has no section of its own. */
START_TEST(with_c)
{
	files_begin();
	file_write("a.go", cgo_source, sizeof(cgo_source) - 1);
	file_write("b.go", cgo_part, sizeof(cgo_part) - 1);
	for (size_t i = 0; toolchains[i][0]; i++) {
		setenv("CGO_ENABLED", "1", 1);
		build(toolchains[i], "prog", "-ldflags '-s -w'", "a.go b.go");
		build(toolchains[i], "pie", "-buildmode=pie", "a.go b.go");
		build(toolchains[i], "bare", "-buildmode=pie -ldflags '-s -w'", "a.go b.go");
		same_rows("pie", "bare");
		ck_assert_uint_gt(run("prog", "main.main", STEPS), 200);
		ck_assert_uint_gt(run("bare", "main.main", STEPS / 2), 100);
	}
}
END_TEST

static int make_crafted(struct made *m, const struct gotable *g, size_t size)
{
	return make_of(m, file_of(g->bytes, size));
}

static void check_crafted(const struct made *m)
{
	const uint64_t text = GOTABLE_BASE + GOTABLE_TEXT;
	static const struct {
		uint32_t at;
		enum unwind_kind kind;
		int cfa;
		enum unwind_fp fp;
	} rules[] = {
		{0x00, UNWIND_END, 0, UNWIND_FP_SAME},	  {0x1f, UNWIND_END, 0, UNWIND_FP_SAME},
		{0x20, UNWIND_CFA, 8, UNWIND_FP_SAME},	  {0x21, UNWIND_CFA, 16, UNWIND_FP_AT_CFA},
		{0x28, UNWIND_CFA, 40, UNWIND_FP_AT_CFA}, {0x37, UNWIND_CFA, 40, UNWIND_FP_AT_CFA},
		{0x38, UNWIND_CFA, 16, UNWIND_FP_AT_CFA}, {0x39, UNWIND_CFA, 8, UNWIND_FP_SAME},
		{0x40, UNWIND_CFA, 8, UNWIND_FP_SAME},	  {0x4b, UNWIND_CFA, 16, UNWIND_FP_AT_CFA},
		{0x4c, UNWIND_END, 0, UNWIND_FP_SAME},	  {0x7f, UNWIND_END, 0, UNWIND_FP_SAME},
		{0x80, UNWIND_CFA, 8, UNWIND_FP_SAME},	  {0x9f, UNWIND_CFA, 8, UNWIND_FP_SAME},
	};

	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++) {
		const struct unwind_rule *r = rule_at(m, text + rules[i].at);

		ck_assert_ptr_nonnull(r);
		ck_assert_msg(r->kind == rules[i].kind && r->cfa_offset == rules[i].cfa &&
				      UNWIND_SAVED_FP(r->saved) == (int)rules[i].fp,
			      "%#x: kind %d cfa %d fp %d", rules[i].at, r->kind, r->cfa_offset,
			      UNWIND_SAVED_FP(r->saved));
	}
}

START_TEST(headers)
{
	for (int v = GOTABLE_1_16; v <= GOTABLE_1_26; v++) {
		struct gotable g;
		struct made m;

		gotable_make(&g, v);
		ck_assert_int_eq(make_crafted(&m, &g, sizeof(g.bytes)), 0);
		ck_assert_uint_eq(m.table.header->refused, 0);
		check_crafted(&m);
		unmake(&m);
	}
}
END_TEST

/* A wrong value at an offset in the crafted file, and the expected result. */
struct lie {
	const char *what;
	uint32_t at, size;
	uint64_t value;
	int rc;
	uint32_t refused;
};

static void check_lie(const struct gotable *good, const struct lie *lie)
{
	struct gotable g = *good;
	struct made m;
	int rc;

	memcpy(g.bytes + lie->at, &lie->value, lie->size);
	rc = make_crafted(&m, &g, sizeof(g.bytes));
	ck_assert_msg(rc == lie->rc, "%s: %d", lie->what, rc);
	if (!rc)
		ck_assert_msg(m.table.header->refused == lie->refused, "%s: %u refused", lie->what,
			      m.table.header->refused);
	unmake(&m);
}

START_TEST(lies)
{
	struct gotable g;

	gotable_make(&g, GOTABLE_1_20);
	{
		const uint32_t table = GOTABLE_AT, first = g.index + 36;
		const struct lie all[] = {
			{"magic", table, 4, 0xfffffffb, -ENOENT, 0},
			{"pointers of 4 bytes", table + 7, 1, 4, -ENOENT, 0},
			{"no functions", table + 8, 8, 0, -ENOENT, 0},
			{"too many functions", table + 8, 8, 1u << 20, -ENOENT, 0},
			{"functions that overflow", table + 8, 8, UINT64_MAX / 2, -ENOENT, 0},
			{"text elsewhere", table + 24, 8, 0x900000, -ENOENT, 0},
			{"names elsewhere", table + 32, 8, 1u << 20, -ENOENT, 0},
			{"names that do not end", table + 40, 8, 90, -ENOENT, 0},
			{"deltas elsewhere", table + 56, 8, UINT64_MAX, -ENOENT, 0},
			{"index elsewhere", table + 64, 8, UINT64_MAX - 3, -ENOENT, 0},
			{"a function that goes back", g.index + 16, 4, 0x10, 0, 2},
			{"a description elsewhere", g.index + 12, 4, 0xfffffff0, 0, 1},
			{"a name elsewhere", first + 56 + 4, 4, 4000, 0, 1},
			{"deltas of one elsewhere", first + 56 + 16, 4, 0x7fffffff, 0, 1},
			{"a step of no bytes", g.deltas + 4, 1, 0, 0, 1},
			{"a varint without end", g.deltas + 3, 8, UINT64_MAX, 0, 1},
			{"negative depth", g.deltas + 3, 1, 31, 0, 0},
			{"odd depth", g.deltas + 3, 1, 14, 0, 0},
		};

		for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
			check_lie(&g, &all[i]);
	}
}
END_TEST

/* Every byte of header and index is inverted; then the file is cut at every length. */
START_TEST(damage)
{
	for (int v = GOTABLE_1_16; v <= GOTABLE_1_26; v++) {
		struct gotable g;
		struct made m;

		gotable_make(&g, v);
		for (uint32_t at = GOTABLE_AT; at < GOTABLE_MODULE; at++) {
			g.bytes[at] ^= 0xff;
			(void)make_crafted(&m, &g, sizeof(g.bytes));
			unmake(&m);
			g.bytes[at] ^= 0xff;
		}
		/* A file that ends within its segments is refused before its table is searched. */
		for (size_t size = GOTABLE_AT; size < GOTABLE_MODULE; size += 7) {
			gotable_put64(g.bytes + 64 + 32, size);
			(void)make_crafted(&m, &g, sizeof(g.bytes));
			unmake(&m);
		}
	}
}
END_TEST

/* In a program of Go 1.26 only the module's description has the address of the code. */
START_TEST(module)
{
	static const uint32_t words[] = {0, 8, 160, 176};
	struct gotable g;
	struct made m;

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		gotable_make(&g, GOTABLE_1_26);
		g.bytes[GOTABLE_MODULE + words[i]] ^= 1;
		ck_assert_int_eq(make_crafted(&m, &g, sizeof(g.bytes)), -ENOENT);
		unmake(&m);
	}
}
END_TEST

static void key_of(struct unwind_key *key, const struct gotable *g)
{
	int fd = file_of(g->bytes, sizeof(g->bytes));
	struct stamp stamp;

	ck_assert_int_eq(stamp_of(fd, &stamp), 0);
	ck_assert_int_eq(unwind_key_read(key, &(struct stamped_file){.fd = fd, .stamp = stamp}), 0);
	close(fd);
}

/* The table depends on the module's description, so the description is part of the key. */
START_TEST(key)
{
	struct unwind_key a, b;
	struct gotable g;

	gotable_make(&g, GOTABLE_1_26);
	key_of(&a, &g);
	gotable_put64(g.bytes + GOTABLE_MODULE + 160, GOTABLE_BASE + GOTABLE_TEXT + 16);
	gotable_put64(g.bytes + GOTABLE_MODULE + 176, GOTABLE_BASE + GOTABLE_TEXT + 16);
	key_of(&b, &g);
	ck_assert_mem_ne(a.hash, b.hash, sizeof(a.hash));
}
END_TEST

START_TEST(not_go)
{
	struct made m;

	ck_assert_int_eq(make_of(&m, file_open("/proc/self/exe")), -ENOENT);
	unmake(&m);
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		plain, position_independent, with_c, headers, lies, damage, module, key, not_go};

	find_toolchains();
	return suite_run("unwind_go", tests, sizeof(tests) / sizeof(*tests));
}
