// SPDX-License-Identifier: Apache-2.0
/*
 * python_file.c and its parts: this machine's Pythons, complete, truncated and damaged; layouts,
 * and the offsets that 3.13 has in its own memory. tests/tools/test_python_file.py and
 * test_python_layouts.py test more with gcc and gdb.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "suite.h"
#include "symbolizers/python_file.h"
#include "table_find.h"

#define DAMAGES 120

/* Paths of possible Pythons; the test prints which versions are missing and not tested. */
static const char *const places[] = {
	"/usr/bin/python3.?",
	"/usr/bin/python3.??",
	"/root/.pyenv/versions/*/lib/libpython*.so.1.0",
	"/usr/lib/x86_64-linux-gnu/libpython3*.so.1.0",
};

static glob_t found;

/* Add those of newer Debians, which tools/python unpacks. */
static void find_fetched(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char pattern[1024];

	snprintf(pattern, sizeof(pattern), "%s%s/skein/pythons/*/usr/bin/python3.[0-9][0-9]",
		 cache	? cache
		 : home ? home
			: "/root",
		 cache ? "" : "/.cache");
	(void)glob(pattern, GLOB_APPEND, NULL, &found);
}

static void find_pythons(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		(void)glob(places[i], i ? GLOB_APPEND : 0, NULL, &found);
	find_fetched();
	for (int minor = 8; minor <= 14; minor++) {
		char name[32];
		bool has = false;

		snprintf(name, sizeof(name), "python3.%d", minor);
		for (size_t i = 0; i < found.gl_pathc; i++)
			has |= strstr(found.gl_pathv[i], name) != NULL;
		if (!has)
			printf("no %s here: not tested\n", name);
	}
}

static int read_path(struct python_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	ck_assert_int_ge(fd, 0);
	rc = python_file_read(f, fd, NULL);
	close(fd);
	return rc;
}

/* Read the minor version from a file's name, such as "python3.8". */
static bool minor_of(const char *path, unsigned int *minor)
{
	const char *p = strrchr(path, '/');

	p = p ? strstr(p, "python3.") : NULL;
	return p && sscanf(p, "python3.%u", minor) == 1;
}

/*
 * Return the size of all parts: compilers may move most of the loop to cold parts, as in Debian's
 * 3.14.
 */
static uint64_t bytes_of_loops(const struct python_file *f)
{
	uint64_t bytes = 0;

	for (int i = 0; i < f->loops; i++)
		bytes += f->loop[i].end - f->loop[i].start;
	return bytes;
}

START_TEST(test_installed)
{
	struct python_file f;
	unsigned int minor;

	for (size_t i = 0; i < found.gl_pathc; i++) {
		const char *path = found.gl_pathv[i];

		ck_assert_int_eq(read_path(&f, path), 0);
		if (!minor_of(path, &minor) || f.support == PYTHON_NONE)
			continue;
		ck_assert_msg(f.major == 3 && f.minor == minor, "%s: %u.%u", path, f.major,
			      f.minor);
		ck_assert_msg(f.support == (minor < 8	  ? PYTHON_OLD
					    : minor <= 14 ? PYTHON_READABLE
							  : PYTHON_UNKNOWN),
			      "%s: %s", path, python_support_text(f.support));
		if (f.support != PYTHON_READABLE)
			continue;
		ck_assert_uint_eq(f.layout.version, PYTHON_VERSION(3, minor));
		ck_assert(python_layout_check(&f.layout));
		ck_assert_uint_gt(f.runtime, 0);
		ck_assert_uint_gt(f.code_type, 0);
		ck_assert_uint_ge(f.loops, 1);
		ck_assert_uint_gt(bytes_of_loops(&f), 20000);
	}
}
END_TEST

static bool same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	return a && b && memcmp(a, b, sizeof(*a)) == 0;
}

/*
 * Check the parts split off from the loop by the unwind table, which did not find them: they keep
 * the loop's frame, so their first rule is also one of the loop, but not that of its entry.
 */
static void check_parts(const struct python_file *f, const struct unwind_table *t, const char *path)
{
	const struct unwind_rule *entry = unwind_table_find(t, f->loop[0].start);

	for (int i = 1; i < f->loops; i++) {
		const struct unwind_rule *first = unwind_table_find(t, f->loop[i].start);
		bool shared = false;

		for (uint64_t at = f->loop[0].start; !shared && at < f->loop[0].end; at++)
			shared = same_rule(unwind_table_find(t, at), first);
		ck_assert_msg(shared && !same_rule(first, entry), "%s: part %d", path, i);
	}
}

START_TEST(test_parts)
{
	struct unwind_table t;
	struct stamp stamp = {0};
	struct python_file f;
	void *bytes;
	size_t size;

	for (size_t i = 0; i < found.gl_pathc; i++) {
		int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC);

		ck_assert_int_eq(python_file_read(&f, fd, NULL), 0);
		(void)stamp_of(fd, &stamp);
		if (f.loops > 1) {
			ck_assert_int_eq(
				unwind_table_make(&bytes, &size, NULL,
						  &(struct stamped_file){.fd = fd, .stamp = stamp}),
				0);
			ck_assert_int_eq(unwind_table_check(&t, bytes, size), 0);
			check_parts(&f, &t, found.gl_pathv[i]);
			free(bytes);
		}
		close(fd);
	}
}
END_TEST

/* Debian's Python is stripped: its part of 14 kB has no name. */
START_TEST(test_debian)
{
	static const char path[] = "/usr/bin/python3.11";
	struct python_file f;
	struct utsname system;

	ck_assert_int_eq(uname(&system), 0);
	if (access(path, R_OK) != 0 || strcmp(system.machine, "x86_64") != 0) {
		printf("no %s of x86-64: not tested\n", path);
		return;
	}
	ck_assert_int_eq(read_path(&f, path), 0);
	ck_assert_uint_eq(f.support, PYTHON_READABLE);
	ck_assert_uint_eq(f.loops, 2);
	ck_assert_uint_gt(f.loop[1].end - f.loop[1].start, 4096);
}
END_TEST

START_TEST(test_no_python)
{
	static const char *const paths[] = {"/bin/sh", "/proc/self/exe"};
	struct python_file f;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		memset(&f, 0xff, sizeof(f));
		ck_assert_int_eq(read_path(&f, paths[i]), 0);
		ck_assert_uint_eq(f.support, PYTHON_NONE);
		ck_assert_uint_eq(f.loops, 0);
		ck_assert_uint_eq(f.runtime, 0);
	}
}
END_TEST

START_TEST(test_no_elf)
{
	struct python_file f = {.support = 77};

	ck_assert_int_eq(read_path(&f, "/etc/passwd"), -EBADMSG);
	ck_assert_int_eq(read_path(&f, "/dev/null"), -EBADMSG);
	ck_assert_uint_eq(f.support, 77);
}
END_TEST

/* A private copy of a file, as a file and in memory. */
struct copy {
	int fd;
	uint8_t *bytes;
	size_t size;
};

static bool copy_file(struct copy *c, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	c->size = (size_t)st.st_size;
	c->fd = memfd_create("python", MFD_CLOEXEC);
	ck_assert_int_eq(ftruncate(c->fd, st.st_size), 0);
	c->bytes = mmap(NULL, c->size, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	ck_assert_ptr_ne(c->bytes, MAP_FAILED);
	for (size_t at = 0; at < c->size;) {
		ssize_t n = pread(fd, c->bytes + at, c->size - at, (off_t)at);

		ck_assert_int_gt(n, 0);
		at += (size_t)n;
	}
	close(fd);
	return true;
}

static void free_copy(struct copy *c)
{
	munmap(c->bytes, c->size);
	close(c->fd);
}

/* Check that the result for any file is consistent. */
static void check_told(const struct python_file *f, int rc)
{
	if (rc) {
		ck_assert_int_eq(rc, -EBADMSG);
		return;
	}
	ck_assert_uint_lt(f->support, PYTHON_SUPPORT_COUNT);
	ck_assert_uint_le(f->loops, PYTHON_LOOPS_MAX);
	if (f->support != PYTHON_READABLE) {
		ck_assert_uint_eq(f->loops, 0);
		ck_assert_uint_eq(f->layout.version, 0);
		return;
	}
	ck_assert(python_layout_check(&f->layout));
	ck_assert_uint_ge(f->loops, 1);
	for (int i = 0; i < f->loops; i++)
		ck_assert_uint_lt(f->loop[i].start, f->loop[i].end);
}

/* Return the path of a readable Python of less than 16 MiB; NULL: none. */
static const char *small_python(void)
{
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct python_file f;
		struct stat st;

		if (stat(found.gl_pathv[i], &st) == 0 && read_path(&f, found.gl_pathv[i]) == 0 &&
		    f.support == PYTHON_READABLE && st.st_size < 16 << 20)
			return found.gl_pathv[i];
	}
	printf("no Python at all: hostile files not tested\n");
	return NULL;
}

START_TEST(test_truncated)
{
	const char *path = small_python();
	struct python_file f;
	struct copy c;

	if (!path || !copy_file(&c, path))
		return;
	for (size_t i = 0; i < 40; i++) {
		ck_assert_int_eq(ftruncate(c.fd, (off_t)(c.size / 40 * (39 - i))), 0);
		check_told(&f, python_file_read(&f, c.fd, NULL));
	}
	free_copy(&c);
}
END_TEST

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525 + 1013904223;
	return *state >> 8;
}

static Elf64_Shdr *section_of(const struct copy *c, uint32_t type)
{
	const Elf64_Ehdr *header = (void *)c->bytes;
	Elf64_Shdr *s = (void *)(c->bytes + header->e_shoff);

	for (int i = 0; i < header->e_shnum; i++) {
		if (s[i].sh_type == type)
			return &s[i];
	}
	return NULL;
}

/* Damaged bytes where they matter most: headers, the hash table, symbols, frames, the state. */
START_TEST(test_damaged)
{
	const char *path = small_python();
	uint32_t state = 1;
	struct python_file f;
	struct copy c;

	if (!path || !copy_file(&c, path))
		return;
	for (int i = 0; i < DAMAGES; i++) {
		static const uint32_t types[] = {SHT_GNU_HASH, SHT_DYNSYM, SHT_DYNAMIC, SHT_STRTAB};
		const Elf64_Shdr *s = section_of(&c, types[i % 4]);
		uint64_t offset = s ? s->sh_offset : 0, size = s ? s->sh_size : 64;
		uint8_t saved[64], *at;

		if (i % 8 >= 4) {
			offset = i % 8 == 4 ? 0 : ((Elf64_Ehdr *)(void *)c.bytes)->e_shoff;
			size = 2048;
		}
		at = c.bytes + offset + next_random(&state) % (size - sizeof(saved) + 1);
		memcpy(saved, at, sizeof(saved));
		for (size_t j = 0; j < sizeof(saved); j += 1 + next_random(&state) % 16)
			at[j] = (uint8_t)next_random(&state);
		check_told(&f, python_file_read(&f, c.fd, NULL));
		memcpy(at, saved, sizeof(saved));
	}
	ck_assert_int_eq(python_file_read(&f, c.fd, NULL), 0);
	ck_assert_uint_eq(f.support, PYTHON_READABLE);
	free_copy(&c);
}
END_TEST

/* Symbols with wrong addresses and sizes. */
START_TEST(test_lying_symbols)
{
	const uint64_t lies[] = {0, 1, 0x1000, UINT64_MAX, UINT64_MAX - 4096, 1ULL << 47};
	const char *path = small_python();
	const Elf64_Shdr *table;
	struct python_file f;
	Elf64_Sym *symbols;
	struct copy c;

	if (!path || !copy_file(&c, path))
		return;
	ck_assert_int_eq(python_file_read(&f, c.fd, NULL), 0);
	table = section_of(&c, SHT_DYNSYM);
	ck_assert_ptr_nonnull(table);
	symbols = (void *)(c.bytes + table->sh_offset);
	for (size_t i = 0; i < table->sh_size / sizeof(*symbols); i++) {
		Elf64_Sym *s = &symbols[i], was = *s;

		if (was.st_value != f.runtime && was.st_value != f.code_type &&
		    was.st_value != f.loop[0].start + f.code_delta)
			continue;
		for (size_t j = 0; j < sizeof(lies) / sizeof(*lies); j++) {
			struct python_file g;

			s->st_value = lies[j];
			check_told(&g, python_file_read(&g, c.fd, NULL));
			*s = was;
			s->st_size = lies[j];
			check_told(&g, python_file_read(&g, c.fd, NULL));
			*s = was;
		}
	}
	free_copy(&c);
}
END_TEST

START_TEST(test_layouts)
{
	for (uint8_t minor = 0; minor < 20; minor++) {
		const struct python_layout *l = python_layout_of(3, minor);

		ck_assert_msg(!l == (minor < 8 || minor > 12), "3.%u", minor);
		if (!l)
			continue;
		ck_assert_uint_eq(l->version, PYTHON_VERSION(3, minor));
		ck_assert_msg(python_layout_check(l), "3.%u", minor);
	}
	ck_assert_ptr_null(python_layout_of(2, 8));
	ck_assert_ptr_null(python_layout_of(0, 0));
}
END_TEST

/* Every member with an invalid value is detected. */
START_TEST(test_layout_bounds)
{
	const struct python_layout *good = python_layout_of(3, 12);
	const size_t first = offsetof(struct python_layout, runtime_interpreters);
	struct python_layout l;

	for (size_t at = first; at < sizeof(l); at += sizeof(uint32_t)) {
		const uint32_t wrong[] = {PYTHON_ABSENT - 1, 1u << 20};

		for (int i = 0; i < 2; i++) {
			l = *good;
			memcpy((char *)&l + at, &wrong[i], sizeof(wrong[i]));
			ck_assert_msg(!python_layout_check(&l), "byte %zu", at);
		}
	}
	for (size_t at = 0; at < first; at++) {
		l = *good;
		((uint8_t *)&l)[at] = 0xff;
		ck_assert_msg(!python_layout_check(&l) ||
				      at == offsetof(struct python_layout, version) ||
				      at == offsetof(struct python_layout, shim_owner),
			      "byte %zu", at);
	}
	l = *good;
	l.code_id[3] = 8;
	ck_assert(!python_layout_check(&l));
	l = *good;
	l.frame_bytes = PYTHON_FRAME_BYTES + 8;
	ck_assert(!python_layout_check(&l));
	memset(&l, 0, sizeof(l));
	ck_assert(!python_layout_check(&l));
}
END_TEST

/* Copy the first bytes of the _PyRuntime of a real 3.13. */
static bool real_offsets(uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct python_file f;
		const uint8_t *at;
		struct copy c;

		if (!strstr(found.gl_pathv[i], "python3.13") || read_path(&f, found.gl_pathv[i]) ||
		    f.support != PYTHON_READABLE || !copy_file(&c, found.gl_pathv[i]))
			continue;
		at = memmem(c.bytes, c.size, "xdebugpy\xf0", 9);
		if (at)
			memcpy(bytes, at, size);
		free_copy(&c);
		return at;
	}
	printf("no Python 3.13: its offsets not tested\n");
	return false;
}

START_TEST(test_offsets)
{
	struct python_layout l, other;
	uint8_t bytes[1024], changed[1024];

	if (!real_offsets(bytes, sizeof(bytes)))
		return;
	ck_assert_int_eq(python_layout_from_offsets(&l, bytes, sizeof(bytes)), 0);
	ck_assert_uint_eq(l.version, PYTHON_VERSION(3, 13));
	ck_assert_uint_eq(l.thread_frame, 72);
	ck_assert_uint_eq(l.gil_holder, 8);
	ck_assert_uint_eq(l.interpreter_collecting, 7600);
	ck_assert_int_eq(python_layout_from_offsets(&l, bytes, 73 * 8), 0);
	for (size_t size = 0; size < 73 * 8; size++)
		ck_assert_int_eq(python_layout_from_offsets(&l, bytes, size), -EBADMSG);
	for (size_t word = 0; word < 73; word++) {
		static const uint64_t wrong[] = {UINT64_MAX, 1ULL << 32, 1u << 20, 3};

		for (int i = 0; i < 4; i++) {
			memcpy(changed, bytes, sizeof(bytes));
			memcpy(changed + word * 8, &wrong[i], 8);
			other = l;
			if (python_layout_from_offsets(&other, changed, sizeof(changed)))
				ck_assert_mem_eq(&other, &l, sizeof(l));
			else
				ck_assert(python_layout_check(&other));
		}
	}
	memcpy(changed, bytes, sizeof(bytes));
	changed[16] = 1; /* free_threaded */
	ck_assert_int_eq(python_layout_from_offsets(&l, changed, sizeof(changed)), -ENOTSUP);
}
END_TEST

/* Put a str, as in an interpreter's _PyRuntime, at offset at of bytes. */
static void put_str(uint8_t *bytes, size_t at, const char *text, uint32_t state)
{
	const struct python_layout *l = python_layout_of(3, 12);
	uint64_t length = strlen(text);

	memcpy(bytes + at + l->text_length, &length, sizeof(length));
	memcpy(bytes + at + l->text_state, &state, sizeof(state));
	memcpy(bytes + at + l->text_ascii, text, length + 1);
}

START_TEST(test_state_of_texts)
{
	const struct python_layout *l = python_layout_of(3, 12);
	uint8_t bytes[512] = {0};

	ck_assert_uint_eq(python_text_shift(l, bytes, sizeof(bytes)), 0);
	put_str(bytes, 256, "__main__", 0x39 << 2); /* not one of the strings searched */
	ck_assert_uint_eq(python_text_shift(l, bytes, sizeof(bytes)), 0);
	for (uint32_t shift = 1; shift <= PYTHON_TEXT_SHIFT_MAX; shift++) {
		put_str(bytes, 64, "__init__", 0x39u << shift);
		ck_assert_uint_eq(python_text_shift(l, bytes, sizeof(bytes)), shift);
	}
	put_str(bytes, 64, "__init__", 0x39 << 16);
	put_str(bytes, 128, "__name__", 0x39 << 16);
	ck_assert_uint_eq(python_text_shift(l, bytes, sizeof(bytes)), 16);
	for (size_t size = 0; size < 64 + l->text_ascii + 9; size++)
		ck_assert_uint_eq(python_text_shift(l, bytes, size), 0);
	ck_assert_uint_eq(python_text_shift(l, bytes, 64 + l->text_ascii + 9), 16);
	/* another shift, wider characters, not static, an unknown bit, no bits, all bits */
	static const uint32_t wrong[] = {0x39 << 2, 0x3a << 16, 0x19 << 16, 0x79 << 16, 0, ~0u};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		put_str(bytes, 128, "__name__", wrong[i]);
		ck_assert_uint_eq(python_text_shift(l, bytes, sizeof(bytes)), 0);
	}
	put_str(bytes, 128, "__name_", wrong[0]);
	ck_assert_uint_eq(python_text_shift(l, bytes, sizeof(bytes)), 16);
}
END_TEST

START_TEST(test_texts)
{
	ck_assert_str_eq(python_support_text(PYTHON_NONE), "no Python");
	ck_assert_str_eq(python_support_text(PYTHON_SUPPORT_COUNT), "?");
	ck_assert_str_eq(python_support_text(UINT32_MAX), "?");
}
END_TEST

int main(void)
{
	const TTest *const tests[] = {
		test_installed,	     test_parts,	 test_debian,  test_no_python,
		test_no_elf,	     test_truncated,	 test_damaged, test_lying_symbols,
		test_layouts,	     test_layout_bounds, test_offsets, test_texts,
		test_state_of_texts,
	};

	find_pythons();
	return suite_run("python_file", tests, sizeof(tests) / sizeof(*tests));
}
