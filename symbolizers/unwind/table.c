// SPDX-License-Identifier: Apache-2.0
/* Make and check unwind tables. */
#include <errno.h>

#include "symbolizers/unwind/bare.h"
#include "symbolizers/unwind/cfi.h"
#include "symbolizers/unwind/crt.h"
#include "symbolizers/unwind/go.h"
#include "symbolizers/unwind/key.h"
#include "symbolizers/unwind/paths.h"
#include "symbolizers/unwind/plt.h"
#include "symbolizers/unwind/starts.h"
#include "symbolizers/unwind/table.h"

/* Maximum number of rules, which rows can number, and of registers of any supported machine. */
#define RULES_MAX 65536
#define REGISTERS_MAX 32

static int make_image_table(struct elf_image *image, void **out, size_t *out_size)
{
	struct unwind_source source = {0};
	struct unwind_rows rows;
	int ret = unwind_rows_init(&rows);

	if (!ret)
		ret = unwind_source_open(&source, image);
	if (!ret)
		ret = unwind_go_add(&rows, &source);
	if (!ret)
		ret = unwind_cfi_read(&rows, &source);
	if (!ret)
		ret = unwind_crt_add(&rows, &source);
	if (!ret)
		ret = unwind_plt_add(&rows, &source);
	if (!ret)
		ret = unwind_starts_add(&rows, &source);
	if (!ret)
		ret = unwind_paths_add(&rows, &source);
	if (!ret)
		ret = unwind_bare_add(&rows, &source);
	if (!ret)
		ret = unwind_rows_finish(&rows, out, out_size);
	unwind_rows_free(&rows);
	unwind_source_free(&source);
	return ret;
}

int unwind_table_make(void **out, size_t *out_size, struct unwind_key *out_key,
		      const struct stamped_file *file)
{
	struct unwind_key key = {0};
	struct elf_image image;
	void *table = NULL;
	size_t size = 0;
	int ret = elf_image_open(&image, file->fd, file->heartbeat);

	if (!ret && out_key) {
		elf_image_begin_snapshot(&image);
		ret = unwind_key_of(&key, &image);
	}
	if (!ret)
		ret = make_image_table(&image, &table, &size);
	if (!ret)
		ret = stamp_check(file->fd, &file->stamp);
	if (!elf_image_is_whole(&image))
		key = (struct unwind_key){0};
	elf_image_close(&image);
	if (ret) {
		free(table);
		return ret;
	}
	*out = table;
	*out_size = size;
	if (out_key)
		*out_key = key;
	return 0;
}

/*
 * Find the parts of a table, which follow one another without a gap. None of these products
 * overflows 64 bits.
 */
static int lay_out_table(struct unwind_table *t, const uint8_t *bytes, size_t size, uint32_t magic)
{
	const struct unwind_header *h = (const struct unwind_header *)bytes;
	uint64_t rules, pages, rows;

	if (size < sizeof(*h) || (uintptr_t)bytes % _Alignof(struct unwind_header) ||
	    h->magic != magic || h->version != UNWIND_TABLE_VERSION || !h->rules ||
	    h->rules > RULES_MAX || h->first_page > UINT64_MAX >> UNWIND_PAGE_SHIFT)
		return -EBADMSG;
	rules = h->rules * (uint64_t)sizeof(struct unwind_rule);
	pages = h->pages * (uint64_t)sizeof(struct unwind_page);
	rows = h->rows * (uint64_t)sizeof(uint32_t);
	if (size - sizeof(*h) != rules + pages + rows)
		return -EBADMSG;
	*t = (struct unwind_table){
		.header = h,
		.rules = (const void *)(bytes + sizeof(*h)),
		.pages = (const void *)(bytes + sizeof(*h) + rules),
		.rows = (const void *)(bytes + sizeof(*h) + rules + pages),
		.size = size,
	};
	return 0;
}

static bool rule_is_good(const struct unwind_rule *r)
{
	return r->kind < UNWIND_KIND_COUNT && r->reg < REGISTERS_MAX && r->index < REGISTERS_MAX &&
	       UNWIND_SAVED_FP(r->saved) < UNWIND_FP_COUNT &&
	       UNWIND_SAVED_RA(r->saved) < UNWIND_RA_COUNT;
}

/*
 * Return whether the rows of a page are valid: the first row is at the page's first byte, offsets
 * increase from row to row, and every row has the number of an existing rule.
 */
static bool page_is_good(const struct unwind_table *t, const struct unwind_page *page)
{
	const uint32_t *rows;

	if (!page->count)
		return true;
	if (page->first > t->header->rows || page->count > t->header->rows - page->first)
		return false;
	rows = t->rows + page->first;
	if (UNWIND_ROW_LOW(rows[0]) != 0)
		return false;
	for (uint32_t i = 0; i < page->count; i++) {
		if (UNWIND_ROW_RULE(rows[i]) >= t->header->rules ||
		    (i && UNWIND_ROW_LOW(rows[i]) <= UNWIND_ROW_LOW(rows[i - 1])))
			return false;
	}
	return true;
}

/*
 * Check a table. All pages together must not have more rows than the table, so that the time to
 * check is bounded by the size of the table.
 */
static int check_table(struct unwind_table *out, const void *bytes, size_t size, uint32_t magic)
{
	struct unwind_table t;
	uint64_t used = 0;

	if (lay_out_table(&t, bytes, size, magic))
		return -EBADMSG;
	for (uint32_t i = 0; i < t.header->rules; i++) {
		if (!rule_is_good(&t.rules[i]))
			return -EBADMSG;
	}
	for (uint32_t i = 0; i < t.header->pages; i++) {
		if (magic == UNWIND_PAGES_MAGIC && t.pages[i].count == UNWIND_PAGE_UNMADE)
			continue;
		used += t.pages[i].count;
		if (used > t.header->rows || !page_is_good(&t, &t.pages[i]))
			return -EBADMSG;
	}
	*out = t;
	return 0;
}

int unwind_table_check(struct unwind_table *out, const void *bytes, size_t size)
{
	return check_table(out, bytes, size, UNWIND_TABLE_MAGIC);
}

int unwind_pages_check(struct unwind_table *out, const void *bytes, size_t size)
{
	return check_table(out, bytes, size, UNWIND_PAGES_MAGIC);
}
