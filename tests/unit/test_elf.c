// SPDX-License-Identifier: Apache-2.0
/* Compare elf.c with nm, objdump and readelf, on files that gcc and binutils make in the test. */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/elf.h"

static const char source[] =
	"#include <stdio.h>\n"
	"#include <stdlib.h>\n"
	"__attribute__((noinline)) static int inner(int x) { return rand() % (x + 1); }\n"
	"int outer(int x) { return inner(x) + 1; }\n"
	"int _alias(int x) __attribute__((alias(\"outer\")));\n"
	"int weaker(int x) __attribute__((weak, alias(\"outer\")));\n"
	"static int longer_local(int) __attribute__((alias(\"outer\"), used));\n"
	"__asm__(\".text\\nno_size:\\n nop\\n nop\\n nop\\n nop\\n\"\n"
	"        \".globl sized_behind\\n.type sized_behind, @function\\nsized_behind:\\n\"\n"
	"        \" ret\\n.size sized_behind, .-sized_behind\\n .skip 64, 0x90\\n\");\n"
	"int main(int argc, char **argv) { printf(\"%d\\n\", outer(argc)); return !argv[0]; }\n";

static struct object_facts facts;

static void build(const char *flags)
{
	files_begin();
	file_write("a.c", source, sizeof(source) - 1);
	shell("gcc -O1 -g %s -o prog a.c", flags);
}

static int try_read_with(struct elf *e, const char *path, const char *debug, uint64_t strings_most)
{
	int fd = file_open(path), debug_fd = debug ? file_open(debug) : -1, rc;
	struct elf_files files = {{.fd = fd}, debug_fd, -1, strings_most};

	facts = (struct object_facts){0};
	ck_assert_int_eq(stamp_of(fd, &files.file.stamp), 0);
	rc = elf_read(e, &files, &facts);
	close(fd);
	if (debug)
		close(debug_fd);
	return rc;
}

static int try_read(struct elf *e, const char *path, const char *debug)
{
	return try_read_with(e, path, debug, 0);
}

/* Read a file twice: the symbols are the same if all strings stay in it until they are packed. */
static struct elf read_elf(const char *path, const char *debug)
{
	struct elf e, packed;
	struct object_facts before;

	ck_assert_int_eq(try_read_with(&packed, path, debug, 1), 0);
	before = facts;
	ck_assert_int_eq(try_read(&e, path, debug), 0);
	ck_assert_uint_eq(before.symbols, facts.symbols);
	ck_assert_uint_eq(packed.symbols.spans.count, e.symbols.spans.count);
	ck_assert(!e.symbols.spans.count || packed.symbols.packed);
	for (size_t i = 0; i < e.symbols.spans.count; i++) {
		struct found_symbol a, b;

		ck_assert(symtab_find(&e.symbols, e.symbols.spans.items[i].start, &a));
		ck_assert(symtab_find(&packed.symbols, packed.symbols.spans.items[i].start, &b));
		ck_assert_str_eq(a.name, b.name);
		ck_assert(a.start == b.start && a.size == b.size);
	}
	elf_free(&packed);
	return e;
}

/* The inverse of elf_find(). */
static bool to_offset(const struct elf *e, uint64_t address, uint64_t *ret)
{
	for (size_t i = 0; i < e->segments.count; i++) {
		const struct elf_segment *s = &e->segments.items[i];

		if (address < s->address || address - s->address >= s->size)
			continue;
		*ret = address - s->address + s->offset;
		return true;
	}
	return false;
}

static struct found_symbol find_address(const struct elf *e, uint64_t address)
{
	struct found_symbol f = {.name = "-"};
	uint64_t offset;

	ck_assert(to_offset(e, address, &offset));
	(void)elf_find(e, offset, &f);
	return f;
}

/* Return the first line that a command prints, as a hexadecimal number. */
static uint64_t number_of(const char *command)
{
	FILE *f = popen(command, "re");
	unsigned long value;

	ck_assert_ptr_nonnull(f);
	ck_assert_msg(fscanf(f, "%lx", &value) == 1, "%s", command);
	ck_assert_int_eq(pclose(f), 0);
	return value;
}

/*
 * Check that every function that nm lists with a size is found at its first and last byte, with its
 * extent and one of its names. Return the number of functions.
 */
static unsigned int agrees_with_nm(const struct elf *e, const char *path)
{
	char command[256], name[4096];
	unsigned long start, size;
	unsigned int count = 0;
	FILE *f;

	/* one line per address and size, with all names */
	snprintf(command, sizeof(command),
		 "nm --defined-only -S %s | awk '$3 ~ /^[tTwWi]$/ {k = $1 \" \" $2; "
		 "n[k] = n[k] \"|\" $4} END {for (k in n) print k, n[k] \"|\"}'",
		 path);
	f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	while (fscanf(f, "%lx %lx %4095s", &start, &size, name) == 3) {
		struct found_symbol first = find_address(e, start);
		struct found_symbol last = find_address(e, start + size - 1);
		char wanted[1024];

		snprintf(wanted, sizeof(wanted), "|%s|", first.name);
		ck_assert_msg(strstr(name, wanted), "%lx: %s, not %s", start, first.name, name);
		ck_assert_str_eq(first.name, last.name);
		ck_assert_uint_eq(first.size, size);
		count++;
	}
	ck_assert_int_eq(pclose(f), 0);
	return count;
}

static void check_build(const char *flags)
{
	struct found_symbol f;
	struct elf e;

	build(flags);
	e = read_elf("prog", NULL);
	ck_assert_uint_ge(agrees_with_nm(&e, "prog"), 5);
	ck_assert(!facts.wants_debug);
	f = find_address(&e, number_of("nm prog | grep ' main$'"));
	ck_assert_str_eq(f.name, "main");
	ck_assert_uint_eq(f.flags, SYMBOL_FOUND);
	f = find_address(&e, number_of("nm prog | grep ' _start$'") + 5);
	ck_assert_str_eq(f.name, "_start");
	ck_assert_uint_eq(f.flags, SYMBOL_FOUND | SYMBOL_START);
	elf_free(&e);
}

START_TEST(a_program_agrees_with_nm)
{
	check_build("");
}
END_TEST

START_TEST(a_program_at_a_fixed_address_agrees_with_nm)
{
	check_build("-no-pie -Wl,-z,noseparate-code");
}
END_TEST

START_TEST(a_static_program_agrees_with_nm)
{
	check_build("-static");
}
END_TEST

START_TEST(a_static_pie_agrees_with_nm)
{
	check_build("-static-pie");
}
END_TEST

START_TEST(aliases_are_chosen_and_holes_stay_holes)
{
	struct elf e;
	uint64_t at;

	build("");
	e = read_elf("prog", NULL);
	/*
	 * Global names come before weak ones, these before local ones, then names with fewer
	 * underscores.
	 */
	ck_assert_str_eq(find_address(&e, number_of("nm prog | grep ' outer$'")).name, "outer");
	at = number_of("nm prog | grep ' no_size$'");
	ck_assert_str_eq(find_address(&e, at + 3).name, "no_size");
	ck_assert_str_eq(find_address(&e, at + 4).name, "sized_behind");
	ck_assert_uint_eq(find_address(&e, at + 5).flags, 0);
	ck_assert_uint_eq(find_address(&e, at + 30).flags, 0);
	elf_free(&e);
}
END_TEST

static void strip(void)
{
	shell("cp prog full && strip -s prog");
}

START_TEST(a_stripped_program_says_so)
{
	struct found_symbol f;
	struct elf e;

	build("");
	strip();
	e = read_elf("prog", NULL);
	ck_assert(facts.wants_debug);
	ck_assert_str_eq(find_address(&e, number_of("nm full | grep ' inner$'")).name, "");
	f = find_address(&e, number_of("nm full | grep ' _start$'") + 0x20);
	ck_assert_str_eq(f.name, "");
	ck_assert_uint_eq(f.flags, SYMBOL_FOUND | SYMBOL_START);
	elf_free(&e);
}
END_TEST

/* Stripping leaves .eh_frame: functions are found where nm found them, without their names. */
START_TEST(functions_without_a_symbol_are_found)
{
	static const char *const names[] = {"inner", "outer", "main", "_start"};
	uint64_t starts[4], offset;
	struct found_symbol f, last;
	struct elf e;

	build("");
	for (int i = 0; i < 4; i++) {
		char command[64];

		snprintf(command, sizeof(command), "nm prog | grep ' %s$'", names[i]);
		starts[i] = number_of(command);
	}
	shell("strip prog");
	e = read_elf("prog", NULL);
	for (int i = 0; i < 4; i++) {
		ck_assert(to_offset(&e, starts[i], &offset));
		f = find_address(&e, starts[i] + 3);
		ck_assert_str_eq(f.name, "");
		ck_assert_uint_eq(f.start, offset);
		ck_assert_uint_eq(f.flags, i == 3 ? SYMBOL_FOUND | SYMBOL_START : SYMBOL_FOUND);
		last = find_address(&e, starts[i] + f.size - 1);
		ck_assert_uint_eq(last.start, offset);
	}
	ck_assert(facts.wants_debug);
	elf_free(&e);
}
END_TEST

START_TEST(an_export_table_is_better_than_nothing)
{
	struct elf e;

	build("-shared -fPIC");
	strip();
	e = read_elf("prog", NULL);
	ck_assert(facts.wants_debug);
	ck_assert_str_eq(find_address(&e, number_of("nm full | grep ' outer$'")).name, "outer");
	ck_assert_str_eq(find_address(&e, number_of("nm full | grep ' inner$'")).name, "");
	elf_free(&e);
}
END_TEST

/*
 * Add .gnu_debugdata like rpm's find-debuginfo: the functions that .dynsym lacks, compressed with
 * LZMA.
 */
static void add_debugdata(void)
{
	shell("objcopy --only-keep-debug full prog.debug");
	shell("nm -D full --format=posix --defined-only | awk '{print $1}' | sort > dynsyms");
	shell("nm full --format=posix --defined-only |"
	      " awk '{if ($2 == \"T\" || $2 == \"t\") print $1}' | sort > funcsyms");
	shell("comm -13 dynsyms funcsyms > keep");
	shell("objcopy -S --remove-section .comment --keep-symbols=keep prog.debug mini");
	shell("xz mini && objcopy --add-section .gnu_debugdata=mini.xz prog");
}

START_TEST(debugdata_is_read_together_with_the_export_table)
{
	struct elf e;

	build("-rdynamic");
	strip();
	add_debugdata();
	e = read_elf("prog", NULL);
	ck_assert(!facts.wants_debug);
	ck_assert_str_eq(find_address(&e, number_of("nm full | grep ' inner$'")).name, "inner");
	ck_assert_str_eq(find_address(&e, number_of("nm full | grep ' outer$'")).name, "outer");
	elf_free(&e);
}
END_TEST

START_TEST(a_debugdata_bomb_leaves_the_export_table)
{
	struct elf e;

	build("-rdynamic");
	strip();
	shell("head -c 300M /dev/zero | xz -0 > bomb.xz");
	shell("objcopy --add-section .gnu_debugdata=bomb.xz prog");
	e = read_elf("prog", NULL);
	ck_assert(facts.wants_debug);
	ck_assert_str_eq(find_address(&e, number_of("nm full | grep ' outer$'")).name, "outer");
	elf_free(&e);
	shell("objcopy --remove-section .gnu_debugdata prog");
	shell("objcopy --add-section .gnu_debugdata=a.c prog");
	e = read_elf("prog", NULL);
	ck_assert_str_eq(find_address(&e, number_of("nm full | grep ' outer$'")).name, "outer");
	elf_free(&e);
}
END_TEST

START_TEST(a_debug_file_is_used_if_it_belongs)
{
	struct elf e;
	uint64_t inner;

	build("-Wl,--build-id=0x0123456789abcdef");
	strip();
	inner = number_of("nm full | grep ' inner$'");
	shell("objcopy --only-keep-debug full prog.debug");
	e = read_elf("prog", "prog.debug");
	ck_assert_str_eq(facts.build_id, "0123456789abcdef");
	ck_assert_str_eq(facts.debuglink, "");
	ck_assert(!facts.wants_debug);
	ck_assert_str_eq(find_address(&e, inner).name, "inner");
	elf_free(&e);
	/* a debug file with another build-id */
	shell("gcc -O1 -g -Wl,--build-id=0x0123456789abcdee -o other a.c");
	e = read_elf("prog", "other");
	ck_assert(facts.wants_debug);
	ck_assert_str_eq(find_address(&e, inner).name, "");
	elf_free(&e);
	/* no ELF file at all */
	e = read_elf("prog", "a.c");
	ck_assert_str_eq(find_address(&e, inner).name, "");
	elf_free(&e);
}
END_TEST

/* A CRC is easily forged, so it does not stand in for a build-id. */
START_TEST(a_file_with_a_build_id_wants_no_other_proof)
{
	struct elf e;
	uint64_t inner;

	build("-Wl,--build-id=0x0123456789abcdef");
	shell("cp prog full && objcopy --only-keep-debug full prog.debug && strip -s prog");
	shell("objcopy --remove-section=.note.gnu.build-id prog.debug");
	shell("objcopy --add-gnu-debuglink=prog.debug prog");
	inner = number_of("nm full | grep ' inner$'");
	e = read_elf("prog", "prog.debug");
	ck_assert_str_eq(facts.debuglink, "prog.debug");
	ck_assert(facts.wants_debug);
	ck_assert_str_eq(find_address(&e, inner).name, "");
	elf_free(&e);
}
END_TEST

START_TEST(a_debuglink_is_checked_by_its_crc)
{
	struct elf e;
	uint64_t inner;

	build("-Wl,--build-id=none");
	shell("cp prog full && objcopy --only-keep-debug full prog.debug && strip -s prog");
	shell("objcopy --add-gnu-debuglink=prog.debug prog");
	inner = number_of("nm full | grep ' inner$'");
	e = read_elf("prog", "prog.debug");
	ck_assert_str_eq(facts.build_id, "");
	ck_assert_str_eq(facts.debuglink, "prog.debug");
	ck_assert_str_eq(find_address(&e, inner).name, "inner");
	elf_free(&e);
	shell("printf x >> prog.debug");
	e = read_elf("prog", "prog.debug");
	ck_assert_str_eq(find_address(&e, inner).name, "");
	ck_assert(facts.wants_debug);
	elf_free(&e);
}
END_TEST

/* Check all "<x@plt>:" that objdump prints. */
static unsigned int agrees_on_stubs(const struct elf *e)
{
	unsigned int count = 0;
	unsigned long at;
	char name[256];
	FILE *f = popen("objdump -d prog | sed -n 's/^\\([0-9a-f]*\\) <\\(.*@plt\\)>:$/\\1 \\2/p'",
			"re");

	ck_assert_ptr_nonnull(f);
	while (fscanf(f, "%lx %255s", &at, name) == 2) {
		ck_assert_str_eq(find_address(e, at).name, name);
		ck_assert_str_eq(find_address(e, at + 7).name, name);
		count++;
	}
	ck_assert_int_eq(pclose(f), 0);
	return count;
}

START_TEST(stubs_are_named)
{
	static const char *const ways[] = {"-Wl,-z,lazy", "-Wl,-z,now",
					   "-Wl,-z,lazy -fcf-protection -Wl,-z,ibtplt",
					   "-no-pie -Wl,-z,lazy"};
	struct elf e;

	build("");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		shell("gcc -O1 %s -fplt -o prog a.c && strip prog", ways[i]);
		e = read_elf("prog", NULL);
		ck_assert_uint_ge(agrees_on_stubs(&e), 2);
		elf_free(&e);
	}
}
END_TEST

/* There are more sections than are kept in memory, so some are read from the file. */
START_TEST(sections_are_found_by_name)
{
	struct elf_image image;
	char name[32];
	GElf_Shdr s;
	int fd;

	files_begin();
	shell("for i in $(seq 100 299); do echo \".section section_number_$i; .byte 0\"; done > b.s"
	      " && gcc -c b.s");
	fd = file_open("b.o");
	ck_assert_int_eq(elf_image_open(&image, fd, NULL), 0);
	ck_assert_uint_gt(image.names.sh_size, 2 * SECTION_NAMES_KEPT);
	for (int i = 100; i < 300; i++) {
		snprintf(name, sizeof(name), "section_number_%d", i);
		ck_assert_msg(elf_section_named(&image, name, &s), "%s", name);
		ck_assert_uint_eq(s.sh_size, 1);
	}
	ck_assert(!elf_section_named(&image, "section_number_", &s));
	ck_assert(!elf_section_named(&image, "section_number_300", &s));
	elf_image_close(&image);
	close(fd);
}
END_TEST

static bool starts_at(const struct elf *e, uint64_t address)
{
	for (size_t i = 0; i < e->starts.count; i++) {
		if (e->starts.items[i].start == address)
			return true;
	}
	return false;
}

/* clone3 is a local symbol, which Debian's libc lacks, but its frame description has no caller. */
START_TEST(threads_begin_in_a_stripped_libc)
{
	char path[256];
	unsigned int count = 0;
	unsigned long at;
	struct elf e;
	FILE *f = popen("ldd /bin/sh | awk '/libc.so/ {print $3}'", "re");

	files_begin();
	ck_assert_int_eq(fscanf(f, "%255s", path), 1);
	pclose(f);
	shell("readelf --debug-dump=frames %s | awk '/ FDE /{sub(/.*pc=/, \"\"); pc = $1}"
	      " /DW_CFA_undefined: r(16|30)/ {print pc}' > starts",
	      path);
	e = read_elf(path, NULL);
	f = fopen("starts", "re");
	while (fscanf(f, "%lx..%*x", &at) == 1) {
		ck_assert(starts_at(&e, at));
		ck_assert(find_address(&e, at).flags & SYMBOL_START);
		count++;
	}
	fclose(f);
	ck_assert_uint_ge(count, 1);
	elf_free(&e);
}
END_TEST

START_TEST(an_old_library_has_no_beginning)
{
	struct elf e;

	build("-shared -fPIC -nostartfiles -Wl,-e,outer");
	e = read_elf("prog", NULL);
	ck_assert_uint_eq(e.starts.count, 0);
	elf_free(&e);
	e = read_elf("/lib64/ld-linux-x86-64.so.2", NULL);
	ck_assert_uint_ge(e.starts.count, 1);
	elf_free(&e);
}
END_TEST

START_TEST(what_is_no_elf_file_is_refused)
{
	struct stamp stamp = {0};
	struct elf e;
	int ends[2];

	files_begin();
	ck_assert_int_eq(try_read(&e, "/dev/zero", NULL), -EBADMSG);
	elf_free(&e);
	ck_assert_int_eq(try_read(&e, "/etc/passwd", NULL), -EBADMSG);
	elf_free(&e);
	ck_assert_int_eq(try_read(&e, "/", NULL), -EBADMSG);
	elf_free(&e);
	ck_assert_int_eq(pipe(ends), 0);
	ck_assert_int_eq(elf_read(&e,
				  &(struct elf_files){{.fd = ends[0], .stamp = stamp}, -1, -1, 0},
				  &facts),
			 -EBADMSG);
	elf_free(&e);
	file_write("empty", "", 0);
	ck_assert_int_eq(try_read(&e, "empty", NULL), -EBADMSG);
	elf_free(&e);
	shell("printf '!<arch>\\n' > archive");
	ck_assert_int_eq(try_read(&e, "archive", NULL), -EBADMSG);
	elf_free(&e);
}
END_TEST

/* Read a file of any contents; the reads stay within bounds, and the results do not matter. */
static void swallow(const char *bytes, size_t size)
{
	int fd = file_of(bytes, size);
	struct stamp stamp;
	struct elf e;
	struct found_symbol f;

	facts = (struct object_facts){0};
	ck_assert_int_eq(stamp_of(fd, &stamp), 0);
	(void)elf_read(&e, &(struct elf_files){{.fd = fd, .stamp = stamp}, fd, -1, 0}, &facts);
	for (uint64_t offset = 0; offset < size; offset += size / 16 + 1)
		(void)elf_find(&e, offset, &f);
	(void)elf_find(&e, UINT64_MAX, &f);
	elf_free(&e);
	close(fd);
}

static void lie(char *bytes, size_t size, size_t at, size_t width)
{
	static const uint64_t lies[] = {0,
					1,
					0x7f,
					0xfff,
					0xffff,
					0x7fffffff,
					0xffffffff,
					0x7fffffffffffffff,
					0xffffffffffffffff,
					0xfffffffffffff000};
	char saved[8];

	if (at + width > size)
		return;
	memcpy(saved, bytes + at, width);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		memcpy(bytes + at, &lies[i], width);
		swallow(bytes, size);
	}
	memcpy(bytes + at, saved, width);
}

START_TEST(headers_may_lie)
{
	GElf_Ehdr header;
	size_t size, table;
	char *bytes;

	build("-rdynamic -s");
	bytes = file_read("prog", &size);
	memcpy(&header, bytes, sizeof(header));
	for (size_t at = 4; at < sizeof(header); at += at < 24 || at >= 52 ? 2 : 8)
		lie(bytes, size, at, at < 24 || at >= 52 ? 2 : 8);
	for (size_t i = 0; i < header.e_phnum; i++) {
		for (size_t at = 0; at < sizeof(Elf64_Phdr); at += 8)
			lie(bytes, size, header.e_phoff + i * sizeof(Elf64_Phdr) + at, 8);
	}
	table = header.e_shoff;
	for (size_t i = 0; i < header.e_shnum; i++) {
		for (size_t at = 0; at < sizeof(Elf64_Shdr); at += 4)
			lie(bytes, size, table + i * sizeof(Elf64_Shdr) + at, at < 8 ? 4 : 8);
	}
	free(bytes);
}
END_TEST

START_TEST(contents_may_be_garbage)
{
	unsigned int seed = 1;
	size_t size;
	char *bytes, *copy;

	build("-rdynamic");
	strip();
	add_debugdata();
	bytes = file_read("prog", &size);
	copy = malloc(size);
	for (int round = 0; round < 1500; round++) {
		memcpy(copy, bytes, size);
		for (int i = rand_r(&seed) % 200; i >= 0; i--)
			copy[(size_t)rand_r(&seed) % size] = (char)rand_r(&seed);
		memcpy(copy, bytes, 64); /* otherwise it soon is no ELF file */
		swallow(copy, size);
		swallow(bytes, (size_t)rand_r(&seed) % size);
	}
	free(copy);
	free(bytes);
}
END_TEST

/* 40 million symbols in a sparse file, and a string table of one GiB. */
START_TEST(a_giant_is_refused)
{
	Elf64_Ehdr header;
	Elf64_Shdr s;
	struct elf e;
	uint64_t before, inner;
	size_t size;
	char *bytes;
	int fd;

	build("-no-pie");
	inner = number_of("nm prog | grep ' inner$'");
	bytes = file_read("prog", &size);
	memcpy(&header, bytes, sizeof(header));
	fd = open("prog", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 4ll << 30), 0);
	for (size_t i = 0; i < header.e_shnum; i++) {
		off_t at = (off_t)(header.e_shoff + i * sizeof(s));

		memcpy(&s, bytes + at, sizeof(s));
		if (s.sh_type == SHT_SYMTAB)
			s.sh_size = 40000000ull * sizeof(Elf64_Sym);
		else if (s.sh_type == SHT_STRTAB && !(s.sh_flags & SHF_ALLOC) &&
			 i != header.e_shstrndx)
			s.sh_size = 1 << 30;
		else
			continue;
		ck_assert_int_eq(pwrite(fd, &s, sizeof(s), at), sizeof(s));
	}
	close(fd);
	free(bytes);
	before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	e = read_elf("prog", NULL);
	ck_assert_uint_lt(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before, 5000000000ull);
	ck_assert_uint_lt(facts.symbols, 100);
	ck_assert_str_eq(find_address(&e, inner).name, "");
	ck_assert_uint_lt(elf_bytes(&e), 1 << 20);
	elf_free(&e);
}
END_TEST

static void vandalize(const char *bytes, size_t size)
{
	int fd = open("prog", O_RDWR | O_CLOEXEC);

	for (unsigned int seed = 1;; seed++) {
		if (ftruncate(fd, rand_r(&seed) % (int)size) < 0 ||
		    pwrite(fd, bytes, size, 0) < 0 ||
		    fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192) < 0)
			_exit(1);
	}
}

START_TEST(a_file_that_changes_is_an_error_and_no_signal)
{
	unsigned int failed = 0;
	size_t size;
	char *bytes;
	pid_t pid;

	build("-rdynamic");
	bytes = file_read("prog", &size);
	pid = fork();
	if (!pid)
		vandalize(bytes, size);
	for (int i = 0; i < 2000; i++) {
		struct elf e;

		failed += try_read(&e, "prog", "prog") < 0;
		elf_free(&e);
	}
	kill(pid, SIGKILL);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_gt(failed, 0);
	free(bytes);
}
END_TEST

/* Make a library with many functions, whose names have 1,000 bytes each. */
static void build_long_names(unsigned int functions)
{
	FILE *f;

	files_begin();
	f = fopen("long.s", "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, ".text\n");
	for (unsigned int i = 0; i < functions; i++)
		fprintf(f, ".type f%0999u, @function\nf%0999u: nop\n.size f%0999u, 1\n", i, i, i);
	ck_assert_int_eq(fclose(f), 0);
	shell("gcc -c -o long.o long.s && gcc -shared -nostdlib -o long.so long.o");
}

/*
 * Without room for the table of strings, its names are read if it may stay in the file. A sanitizer
 * takes memory itself, so under one there is room.
 */
START_TEST(long_names_need_little_memory)
{
	const unsigned int functions = 20000; /* the table has 20 MB */
	struct elf_files files = {{.fd = -1}, -1, -1, 0};
	struct found_symbol f;
	struct elf e;

	build_long_names(functions);
	files.file.fd = file_open("long.so");
	ck_assert_int_eq(stamp_of(files.file.fd, &files.file.stamp), 0);
	ck_assert_uint_lt(elf_reading_bytes(&files) / 1000000, 30);
	ck_assert_uint_ge(elf_reading_bytes(&files) / 1000000, 20);
#ifndef __SANITIZE_ADDRESS__
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_DATA, &limit), 0);
	limit.rlim_cur = 12 << 20;
	ck_assert_int_eq(setrlimit(RLIMIT_DATA, &limit), 0);
	facts = (struct object_facts){0};
	ck_assert_int_eq(elf_read(&e, &files, &facts), 0); /* there is an empty .dynsym, too */
	ck_assert_uint_eq(facts.symbols, 0);
	elf_free(&e);
#endif
	files.strings_most = 1 << 20;
	ck_assert_uint_lt(elf_reading_bytes(&files) / 1000000, 5);
	facts = (struct object_facts){0};
	ck_assert_int_eq(elf_read(&e, &files, &facts), 0);
	ck_assert_uint_eq(facts.symbols, functions);
	ck_assert(symtab_find(&e.symbols, e.symbols.spans.items[1234].start, &f));
	ck_assert_uint_eq(strlen(f.name), 1000);
	ck_assert_str_eq(f.name + 1000 - 6, "001234");
	elf_free(&e);
	close(files.file.fd);
}
END_TEST

SUITE("elf", a_program_agrees_with_nm, a_program_at_a_fixed_address_agrees_with_nm,
      a_static_program_agrees_with_nm, a_static_pie_agrees_with_nm,
      aliases_are_chosen_and_holes_stay_holes, a_stripped_program_says_so,
      functions_without_a_symbol_are_found, an_export_table_is_better_than_nothing,
      debugdata_is_read_together_with_the_export_table, a_debugdata_bomb_leaves_the_export_table,
      a_debug_file_is_used_if_it_belongs, a_file_with_a_build_id_wants_no_other_proof,
      a_debuglink_is_checked_by_its_crc, stubs_are_named, sections_are_found_by_name,
      threads_begin_in_a_stripped_libc, an_old_library_has_no_beginning,
      what_is_no_elf_file_is_refused, headers_may_lie, contents_may_be_garbage, a_giant_is_refused,
      long_names_need_little_memory, a_file_that_changes_is_an_error_and_no_signal)
