// SPDX-License-Identifier: Apache-2.0
/* Some pages of a table, found by .eh_frame_hdr, compared with those of the whole table. */
#include <elf.h>
#include <errno.h>
#include <link.h>

#include "files.h"
#include "suite.h"
#include "symbolizers/unwind/table.h"

#define ROUNDS 40
#define PAGES_OF_ROUND 3
#define LARGE 4 /* pages */

struct subject {
	int fd;
	struct stamp stamp;
	void *bytes;
	struct unwind_table table;
};

static struct subject subject_of(int fd)
{
	struct subject s = {.fd = fd};
	size_t size;

	ck_assert_int_eq(stamp_of(fd, &s.stamp), 0);
	ck_assert_int_eq(unwind_table_make(&s.bytes, &size, NULL,
					   &(struct stamped_file){.fd = fd, .stamp = s.stamp}),
			 0);
	ck_assert_int_eq(unwind_table_check(&s.table, s.bytes, size), 0);
	return s;
}

static void subject_close(struct subject *s)
{
	free(s->bytes);
	close(s->fd);
}

static bool same_rows(const struct unwind_table *a, const struct unwind_page *x,
		      const struct unwind_table *b, const struct unwind_page *y)
{
	if (x->count != y->count)
		return false;
	for (uint32_t i = 0; i < x->count; i++) {
		uint32_t p = a->rows[x->first + i], q = b->rows[y->first + i];

		if (UNWIND_ROW_LOW(p) != UNWIND_ROW_LOW(q) ||
		    memcmp(&a->rules[UNWIND_ROW_RULE(p)], &b->rules[UNWIND_ROW_RULE(q)],
			   sizeof(*a->rules)) != 0)
			return false;
	}
	return true;
}

static int ask(const struct subject *s, const uint64_t *pages, size_t count, void **ret,
	       size_t *ret_size)
{
	const struct unwind_page_list q = {pages, count};

	return unwind_pages_make(ret, ret_size,
				 &(struct stamped_file){.fd = s->fd, .stamp = s->stamp}, &q);
}

static bool is_one_of(uint64_t page, const uint64_t *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pages[i] == page)
			return true;
	return false;
}

/* Check that the requested pages equal those of the whole table, and that no others are made. */
static void compare(const struct subject *s, const uint64_t *pages, size_t count)
{
	struct unwind_table some;
	void *bytes;
	size_t size;

	ck_assert_int_eq(ask(s, pages, count, &bytes, &size), 0);
	ck_assert_int_eq(unwind_pages_check(&some, bytes, size), 0);
	ck_assert_int_eq(unwind_table_check(&some, bytes, size), -EBADMSG);
	for (uint32_t i = 0; i < some.header->pages; i++) {
		uint64_t page = some.header->first_page + i;
		uint64_t at = page - s->table.header->first_page;

		if (!is_one_of(page, pages, count))
			ck_assert_uint_eq(some.pages[i].count, UNWIND_PAGE_UNMADE);
		else if (at >= s->table.header->pages)
			ck_assert_uint_eq(some.pages[i].count, 0);
		else if (!same_rows(&s->table, &s->table.pages[at], &some, &some.pages[i]))
			ck_abort_msg("page %lu is another", (unsigned long)page);
	}
	free(bytes);
}

static void compare_many(struct subject *s)
{
	const struct unwind_header *h = s->table.header;

	for (int round = 0; round < ROUNDS; round++) {
		uint64_t pages[PAGES_OF_ROUND];

		for (int i = 0; i < PAGES_OF_ROUND; i++)
			pages[i] = h->first_page + (uint64_t)rand() % h->pages;
		compare(s, pages, PAGES_OF_ROUND);
	}
	for (uint32_t page = 0; page < h->pages && page < 64; page++)
		compare(s, (const uint64_t[]){h->first_page + page}, 1);
	subject_close(s);
}

static int each_library(struct dl_phdr_info *info, size_t size, void *context)
{
	unsigned int *seen = context;
	struct subject s;

	(void)size;
	if (info->dlpi_name[0] != '/')
		return 0;
	s = subject_of(file_open(info->dlpi_name));
	/* no pages are requested of files with few functions */
	if (s.table.header->pages < LARGE) {
		subject_close(&s);
		return 0;
	}
	compare_many(&s);
	++*seen;
	return 0;
}

START_TEST(pages_are_those_of_the_table)
{
	unsigned int seen = 0;

	dl_iterate_phdr(each_library, &seen);
	ck_assert_uint_ge(seen, 3);
}
END_TEST

START_TEST(pages_of_a_program_are_those_of_its_table)
{
	struct subject s = subject_of(file_open("/proc/self/exe"));

	compare_many(&s);
}
END_TEST

/* Return a copy of the C library, and its .eh_frame_hdr. */
static struct subject copy_of_libc(Elf64_Phdr *ret)
{
	Elf64_Ehdr header;
	struct subject s;

	files_begin();
	shell("cp \"$(ldconfig -p | sed -n 's/.*libc\\.so\\.6 (libc6,x86-64.*=> //p' | head -1)\""
	      " lib");
	s = subject_of(open("lib", O_RDWR | O_CLOEXEC));
	ck_assert_int_eq(pread(s.fd, &header, sizeof(header), 0), sizeof(header));
	for (int i = 0; i < header.e_phnum; i++) {
		off_t at = (off_t)(header.e_phoff + (unsigned int)i * sizeof(*ret));

		ck_assert_int_eq(pread(s.fd, ret, sizeof(*ret), at), sizeof(*ret));
		if (ret->p_type == PT_GNU_EH_FRAME)
			return s;
	}
	ck_abort_msg("no .eh_frame_hdr");
}

static void overwrite(struct subject *s, uint64_t at, const void *bytes, size_t size)
{
	ck_assert_int_eq(pwrite(s->fd, bytes, size, (off_t)at), (ssize_t)size);
	ck_assert_int_eq(stamp_of(s->fd, &s->stamp), 0);
}

/* Check that requests for all of the first 1024 pages are refused. */
static void expect_refusal(const struct subject *s, int status)
{
	uint64_t first = s->table.header->first_page, pages[1024];
	size_t count = s->table.header->pages < 1024 ? s->table.header->pages : 1024, size;
	void *bytes;

	for (size_t i = 0; i < count; i++)
		pages[i] = first + i;
	ck_assert_int_eq(ask(s, pages, count, &bytes, &size), status);
}

START_TEST(a_file_without_an_index_is_refused)
{
	const uint8_t wrong[] = {2, 0xff};
	struct subject s;
	Elf64_Phdr p;

	s = copy_of_libc(&p);
	for (unsigned int i = 0; i < 4; i++) { /* version and encodings */
		uint8_t was;

		ck_assert_int_eq(pread(s.fd, &was, 1, (off_t)(p.p_offset + i)), 1);
		overwrite(&s, p.p_offset + i, &wrong[i > 0], 1);
		expect_refusal(&s, -ENOENT);
		overwrite(&s, p.p_offset + i, &was, 1);
	}
	overwrite(&s, p.p_offset + 4, "\1\2\3\4", 4); /* the address of .eh_frame */
	expect_refusal(&s, -ENOENT);
	subject_close(&s);
}
END_TEST

START_TEST(an_index_that_lies_is_refused)
{
	const int32_t nowhere = INT32_MAX / 2;
	int32_t entries[4], swapped[4];
	struct subject s;
	Elf64_Phdr p;

	s = copy_of_libc(&p);
	ck_assert_int_eq(pread(s.fd, entries, sizeof(entries), (off_t)p.p_offset + 12 + 800),
			 sizeof(entries));
	/* in another order */
	memcpy(swapped, entries + 2, 8);
	memcpy(swapped + 2, entries, 8);
	overwrite(&s, p.p_offset + 12 + 800, swapped, sizeof(swapped));
	expect_refusal(&s, -EBADMSG);
	/* another function's description, and none */
	memcpy(swapped, entries, sizeof(entries));
	swapped[1] = entries[3];
	overwrite(&s, p.p_offset + 12 + 800, swapped, sizeof(swapped));
	expect_refusal(&s, -EBADMSG);
	swapped[1] = nowhere;
	overwrite(&s, p.p_offset + 12 + 800, swapped, sizeof(swapped));
	expect_refusal(&s, -EBADMSG);
	overwrite(&s, p.p_offset + 12 + 800, entries, sizeof(entries));
	compare(&s, (const uint64_t[]){s.table.header->first_page}, 1);
	subject_close(&s);
}
END_TEST

START_TEST(noise_in_an_index_is_survived)
{
	struct subject s;
	Elf64_Phdr p;

	s = copy_of_libc(&p);
	for (int round = 0; round < 300; round++) {
		uint64_t at = p.p_offset + (uint64_t)rand() % p.p_filesz;
		uint64_t page =
			s.table.header->first_page + (uint64_t)rand() % s.table.header->pages;
		uint8_t noise = (uint8_t)rand();
		struct unwind_table some;
		void *bytes;
		size_t size;

		overwrite(&s, at, &noise, 1);
		if (ask(&s, &page, 1, &bytes, &size))
			continue;
		ck_assert_int_eq(unwind_pages_check(&some, bytes, size), 0);
		free(bytes);
	}
	subject_close(&s);
}
END_TEST

START_TEST(what_is_no_code_is_not_made)
{
	struct subject s;
	Elf64_Phdr p;

	s = copy_of_libc(&p);
	for (uint64_t page = UINT64_MAX; page > UINT64_MAX - 3; page--) {
		size_t size;
		void *bytes;

		ck_assert_int_eq(ask(&s, &page, 1, &bytes, &size), -ENOENT);
	}
	overwrite(&s, 0, "\177ELF", 4);
	s.stamp.mtime--;
	expect_refusal(&s, -ESTALE);
	subject_close(&s);
}
END_TEST

SUITE("unwind_asked", pages_are_those_of_the_table, pages_of_a_program_are_those_of_its_table,
      a_file_without_an_index_is_refused, an_index_that_lies_is_refused,
      noise_in_an_index_is_survived, what_is_no_code_is_not_made)
