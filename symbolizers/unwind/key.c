// SPDX-License-Identifier: Apache-2.0
/*
 * Compute the key of a file's unwind table. A table is made by reading parts of the file; the key
 * is made by reading the same parts, through the same functions, which then decode the call frame
 * instructions of a function only up to its first row.
 */
#include <errno.h>
#include <string.h>

#include "symbolizers/elf.h"
#include "symbolizers/go_table.h"
#include "symbolizers/unwind/bare.h"
#include "symbolizers/unwind/cfi.h"
#include "symbolizers/unwind/crt.h"
#include "symbolizers/unwind/key.h"
#include "symbolizers/unwind/paths.h"
#include "symbolizers/unwind/plt.h"
#include "symbolizers/unwind/starts.h"
#include "symbolizers/unwind/table.h"

_Static_assert(sizeof(((struct unwind_key *)0)->build_id) ==
		       sizeof(((struct object_facts *)0)->build_id),
	       "copied as they are");

static void hash_headers(const struct unwind_source *s)
{
	const GElf_Ehdr *h = &s->image->header;
	const uint64_t facts[] = {
		UNWIND_TABLE_VERSION,	 h->e_machine,	    h->e_entry,
		elf_has_entry(s->image), s->segments.count,
	};

	unwind_source_hash(s, facts, sizeof(facts) / sizeof(*facts));
	XXH3_128bits_update(s->hash, s->segments.items,
			    s->segments.count * sizeof(*s->segments.items));
}

static int hash_cfi_header(const struct unwind_source *s, bool eh)
{
	struct unwind_cfi_section section = {0};
	int ret = unwind_cfi_find(s, eh, &section);
	const uint64_t facts[] = {eh, section.address, section.size, section.open_ended};

	if (ret && ret != -ENOENT)
		return ret;
	unwind_source_hash(s, facts, sizeof(facts) / sizeof(*facts));
	return 0;
}

static int hash_code(const struct unwind_source *s)
{
	uint8_t code[1 << 16];
	int ret = 0;

	for (size_t i = 0; i < s->segments.count; i++) {
		uint64_t at = s->segments.items[i].offset;
		uint64_t end = at + s->segments.items[i].size;

		while (!ret && at < end) {
			size_t size = end - at < sizeof(code) ? end - at : sizeof(code);

			ret = unwind_source_read(s, at, code, size);
			at += size;
		}
	}
	return ret;
}

/*
 * Hash a Go program: its table depends on the code of every function. Return 1 if the file was
 * hashed; 0 if the file is no Go program or Go's table is invalid; or a negative errno.
 */
static int hash_go(const struct unwind_source *s)
{
	struct go_table table;
	int ret = go_table_open(&table, s->image);

	if (!ret) {
		/* table.text comes from another place in the file than table.bytes. */
		XXH3_128bits_update(s->hash, &table.text, sizeof(table.text));
		XXH3_128bits_update(s->hash, table.bytes, table.size);
		ret = hash_code(s);
		ret = ret ? ret : 1;
	} else if (ret == -ENOENT || ret == -EBADMSG) {
		ret = 0;
	}
	go_table_close(&table);
	return ret;
}

static int hash_parts(const struct unwind_source *s)
{
	struct unwind_rows rows;
	bool any = false;
	int ret = unwind_rows_init(&rows), go = 0;

	if (!ret)
		ret = unwind_cfi_read(&rows, s);
	if (!ret)
		ret = unwind_plt_add(&rows, s);
	if (!ret)
		ret = go = hash_go(s);
	if (!ret)
		ret = unwind_crt_add(&rows, s);
	if (!ret)
		ret = unwind_starts_add(&rows, s);
	if (!ret)
		ret = unwind_paths_add(&rows, s);
	if (!ret)
		ret = unwind_bare_add(&rows, s);
	for (int i = 0; i < UNWIND_LAYERS; i++)
		any = any || rows.layers[i].count;
	unwind_rows_free(&rows);
	if (ret < 0)
		return ret;
	return any || go ? 0 : -ENOENT;
}

static int make_unwind_key(struct unwind_source *s, struct unwind_key *out)
{
	struct object_facts facts = {0};
	XXH128_hash_t hash;
	int ret;

	hash_headers(s);
	ret = hash_cfi_header(s, true);
	if (!ret)
		ret = hash_cfi_header(s, false);
	if (!ret)
		ret = hash_parts(s);
	if (ret)
		return ret;
	elf_image_identity(s->image, &facts);
	hash = XXH3_128bits_digest(s->hash);
	*out = (struct unwind_key){
		.size = s->image->size,
		.hash = {hash.low64, hash.high64},
	};
	memcpy(out->build_id, facts.build_id, sizeof(out->build_id));
	return 0;
}

int unwind_key_of(struct unwind_key *out, struct elf_image *image)
{
	struct unwind_source source = {0};
	int ret = unwind_source_open(&source, image);

	source.hash = XXH3_createState();
	if (!ret && (!source.hash || XXH3_128bits_reset(source.hash) != XXH_OK))
		ret = -ENOMEM;
	if (!ret)
		ret = make_unwind_key(&source, out);
	XXH3_freeState(source.hash);
	unwind_source_free(&source);
	return ret;
}

int unwind_key_read(struct unwind_key *out, const struct stamped_file *file)
{
	struct elf_image image;
	struct unwind_key key;
	int ret = elf_image_open(&image, file->fd, file->heartbeat);

	if (!ret)
		ret = unwind_key_of(&key, &image);
	if (!ret)
		ret = stamp_check(file->fd, &file->stamp);
	elf_image_close(&image);
	if (!ret)
		*out = key;
	return ret;
}
