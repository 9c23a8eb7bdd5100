// SPDX-License-Identifier: Apache-2.0
/*
 * The column codec: columns in their forms, one after the other, compressed by zstd as one frame.
 * Large groups of similar bytes get zstd blocks of their own, because zstd makes one entropy code
 * per block.
 */
#include "trace/codec.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/forms.h"

#define CODEC_VERSION 2 /* version 1 has only FORM_OLD; readers accept it */
#define ZSTD_LEVEL 1 /* higher levels gain little once columns are in their forms */
#define OWN_BLOCK 1024 /* bytes of the smallest group that gets a zstd block of its own */

void codec_free(struct codec *c)
{
	ZSTD_freeCCtx(c->pack);
	ZSTD_freeDCtx(c->unpack);
	free(c->raw.at);
	free(c->packed.at);
	free(c->rest.at);
	*c = (struct codec){0};
}

/* Grow the buffer to size bytes; its contents are lost. */
static int reserve_codec_buffer(struct codec_buffer *b, size_t size)
{
	void *bigger;

	if (size <= b->capacity)
		return 0;
	bigger = malloc(size);
	if (!bigger)
		return -ENOMEM;
	free(b->at);
	*b = (struct codec_buffer){bigger, size};
	return 0;
}

/* Maximum bytes of a column in addition to its words: form, scale, reference, context, length. */
#define COLUMN_HEADER (4 + VARINT_MAX)

/*
 * Bytes of the number that holds the length of a column's words. The number stands before the words
 * but is known only after they are written, so it always takes 4 bytes.
 */
#define LENGTH_BYTES 4

static void put_length(uint8_t *p, size_t length)
{
	for (int i = 0; i < LENGTH_BYTES; i++, length >>= 7)
		p[i] = (uint8_t)((length & 0x7f) | (i + 1 < LENGTH_BYTES) << 7);
}

_Static_assert(CODEC_RECORDS_MAX *VARINT_MAX < 1 << 7 * LENGTH_BYTES, "LENGTH_BYTES");

/* The ends of zstd blocks, as offsets in c->raw. */
struct cuts {
	size_t at[CODEC_COLUMNS_MAX * 2 * VARINT_MAX + 1];
	unsigned int count;
};

static void add_cut(struct cuts *cuts, size_t at)
{
	if (at > (cuts->count ? cuts->at[cuts->count - 1] : 0))
		cuts->at[cuts->count++] = at;
}

/* Add a cut before and after each large group. */
static void cut_groups(struct cuts *cuts, const uint8_t *raw, const uint8_t *from,
		       const struct form_groups *groups)
{
	for (unsigned int i = 0; i < groups->count; from = groups->end[i++]) {
		if (groups->end[i] - from < OWN_BLOCK)
			continue;
		add_cut(cuts, (size_t)(from - raw));
		add_cut(cuts, (size_t)(groups->end[i] - raw));
	}
}

/* Write a column at p, and add the cuts of its groups. Return the end of the column. */
static uint8_t *encode_column(struct codec *c, uint8_t *p, const struct form_column *of,
			      struct cuts *cuts)
{
	struct form f = form_choose(of, c->rest.at);
	struct form_groups groups;
	uint8_t *length, *words;

	*p++ = f.bits;
	if (f.bits & FORM_SCALED)
		*p++ = f.scale;
	if (f.bits & FORM_LINKED)
		*p++ = f.reference;
	if (f.bits & FORM_AS_LAST)
		*p++ = f.context;
	length = p;
	words = p + LENGTH_BYTES;
	p = form_put(words, f, c->rest.at, of->columns->count, &groups);
	put_length(length, (size_t)(p - words));
	cut_groups(cuts, c->raw.at, words, &groups);
	return p;
}

/* Write the columns into c->raw. */
static int encode_raw(struct codec *c, const struct columns *in, enum record_kind kind,
		      struct cuts *cuts)
{
	size_t most =
		1 + 2 * VARINT_MAX + in->width * (COLUMN_HEADER + (size_t)in->count * VARINT_MAX);
	uint8_t *p;

	if (reserve_codec_buffer(&c->raw, most) < 0 ||
	    reserve_codec_buffer(&c->rest, sizeof(uint64_t) * in->count) < 0)
		return -ENOMEM;
	p = c->raw.at;
	*p++ = CODEC_VERSION;
	p = varint_put(p, in->count);
	p = varint_put(p, in->width);
	for (unsigned int i = 0; i < in->width; i++)
		p = encode_column(c, p, &(struct form_column){in, i, kind}, cuts);
	add_cut(cuts, (size_t)(p - (uint8_t *)c->raw.at));
	return 0;
}

static int need_codec_context(struct codec *c)
{
	if (c->pack)
		return 0;
	c->pack = ZSTD_createCCtx();
	if (!c->pack)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(c->pack, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(c->pack, ZSTD_c_checksumFlag, 1);
	return 0;
}

/* Compress c->raw to one frame with blocks ending at the cuts. Return zstd's result. */
static size_t compress_raw(struct codec *c, const struct cuts *cuts)
{
	ZSTD_inBuffer in = {c->raw.at, 0, 0};
	ZSTD_outBuffer out = {c->packed.at, c->packed.capacity, 0};
	size_t left = 0;

	ZSTD_CCtx_reset(c->pack, ZSTD_reset_session_only);
	ZSTD_CCtx_setPledgedSrcSize(c->pack, cuts->at[cuts->count - 1]);
	for (unsigned int i = 0; i < cuts->count && !left; i++) {
		in.size = cuts->at[i];
		left = ZSTD_compressStream2(c->pack, &out, &in,
					    i + 1 < cuts->count ? ZSTD_e_flush : ZSTD_e_end);
	}
	/* Bytes are left if the output is too small, which BLOCK_OVERHEAD rules out. */
	if (left && !ZSTD_isError(left))
		return (size_t)-1;
	return left ? left : out.pos;
}

/* Bytes beyond ZSTD_compressBound(), for the header of each extra block. */
#define BLOCK_OVERHEAD 64

int codec_encode(struct codec *c, enum record_kind kind, const struct columns *in,
		 struct codec_blob *out, struct error *err)
{
	struct cuts cuts = {0};
	size_t packed;

	if (!in->count || in->count > CODEC_RECORDS_MAX || in->width > CODEC_COLUMNS_MAX)
		return error_set(err, -EINVAL, "a chunk cannot have %u records", in->count);
	if (need_codec_context(c) < 0 || encode_raw(c, in, kind, &cuts) < 0 ||
	    reserve_codec_buffer(&c->packed, ZSTD_compressBound(cuts.at[cuts.count - 1]) +
						     cuts.count * BLOCK_OVERHEAD) < 0)
		return error_set(err, -ENOMEM, "out of memory");
	packed = compress_raw(c, &cuts);
	if (ZSTD_isError(packed))
		return error_set(err, -EIO, "zstd: %s", ZSTD_getErrorName(packed));
	*out = (struct codec_blob){c->packed.at, packed, in->count, cuts.at[cuts.count - 1]};
	return 0;
}

/* The layout of a blob, read from the headers of its columns. */
struct blob_layout {
	unsigned int width; /* number of columns that both the blob has and the caller knows */
	struct form forms[CODEC_COLUMNS_MAX];
	struct blob_reader words[CODEC_COLUMNS_MAX];
};

static bool get_form(struct blob_reader *in, uint8_t version, struct form *out)
{
	return blob_reader_byte(in, &out->bits) && (version > 1 || !(out->bits & ~FORM_OLD)) &&
	       (!(out->bits & FORM_SCALED) || blob_reader_byte(in, &out->scale)) &&
	       (!(out->bits & FORM_LINKED) || blob_reader_byte(in, &out->reference)) &&
	       (!(out->bits & FORM_AS_LAST) || blob_reader_byte(in, &out->context));
}

static bool read_layout(struct blob_reader in, uint32_t records, unsigned int width,
			struct blob_layout *out)
{
	uint64_t count, columns, bytes;
	struct blob_reader words;
	uint8_t version;

	if (!blob_reader_byte(&in, &version) || !version || version > CODEC_VERSION ||
	    !blob_reader_varint(&in, &count) || count != records ||
	    !blob_reader_varint(&in, &columns))
		return false;
	out->width = columns < width ? (unsigned int)columns : width;
	for (uint64_t i = 0; i < columns; i++) {
		struct form f = {0};

		if (!get_form(&in, version, &f) || !blob_reader_varint(&in, &bytes) ||
		    !blob_reader_part(&in, bytes, &words))
			return false;
		if (i >= out->width)
			continue;
		if (!form_is_valid(f, (unsigned int)i, out->width))
			return false;
		out->forms[i] = f;
		out->words[i] = words;
	}
	return in.at == in.end && forms_are_valid(out->forms, out->width);
}

/* Return the mask extended by all columns to which its columns refer, directly or indirectly. */
static uint64_t needed_columns(const struct blob_layout *l, uint64_t mask)
{
	uint64_t before;

	mask &= (1ULL << l->width) - 1;
	do {
		before = mask;
		for (unsigned int i = 0; i < l->width; i++) {
			if (mask & 1ULL << i && l->forms[i].bits & FORM_LINKED)
				mask |= 1ULL << l->forms[i].reference;
			if (mask & 1ULL << i && l->forms[i].bits & FORM_AS_LAST)
				mask |= 1ULL << l->forms[i].context;
		}
	} while (mask != before);
	return mask;
}

/* Decode the columns in mask from the first raw bytes of c->raw. Return 0, -ENOMEM or -EBADMSG. */
static int decode_raw(struct codec *c, size_t raw, uint32_t records, uint64_t mask,
		      struct columns *out)
{
	struct blob_layout l = {0};

	if (reserve_codec_buffer(&c->rest, sizeof(uint32_t) * records) < 0)
		return -ENOMEM;
	if (!read_layout((struct blob_reader){c->raw.at, (uint8_t *)c->raw.at + raw}, records,
			 out->width, &l))
		return -EBADMSG;
	mask = needed_columns(&l, mask);
	for (unsigned int i = 0; i < l.width; i++)
		if (mask & 1ULL << i &&
		    !form_get(l.forms[i], l.words[i], columns_at(out, i), records, c->rest.at))
			return -EBADMSG;
	for (unsigned int i = 0; i < l.width; i++)
		if (mask & 1ULL << i && l.forms[i].bits & FORM_AS_LAST)
			form_recall(out, i, l.forms[i], records);
	form_link(out, l.forms, mask, records);
	for (unsigned int i = l.width; i < out->width; i++)
		memset(columns_at(out, i), 0, sizeof(*out->words) * records);
	return 0;
}

/*
 * Decompress into c->raw; *out is the size in bytes. A frame is refused if its declared size
 * exceeds the size that any writer could make of that many records; the limit leaves room for the
 * columns of newer writers. Return 0, -EBADMSG or -ENOMEM.
 */
static int decompress_raw(struct codec *c, const struct codec_blob *in, size_t *out)
{
	unsigned long long declared = ZSTD_getFrameContentSize(in->data, in->size);
	size_t raw;

	if (!declared || declared == ZSTD_CONTENTSIZE_UNKNOWN ||
	    declared == ZSTD_CONTENTSIZE_ERROR ||
	    declared > (in->records + 16) * VARINT_MAX * 2 * CODEC_COLUMNS_MAX)
		return -EBADMSG;
	if (!c->unpack)
		c->unpack = ZSTD_createDCtx();
	if (!c->unpack || reserve_codec_buffer(&c->raw, declared) < 0)
		return -ENOMEM;
	raw = ZSTD_decompressDCtx(c->unpack, c->raw.at, declared, in->data, in->size);
	if (ZSTD_isError(raw) || raw != declared)
		return -EBADMSG;
	*out = raw;
	return 0;
}

int codec_decode(struct codec *c, const struct codec_blob *in, struct codec_choice choice,
		 struct columns *out, struct error *err)
{
	uint32_t records = (uint32_t)in->records;
	size_t raw;
	int ret;

	if (!in->data || !in->records || in->records > CODEC_RECORDS_MAX ||
	    choice.width > CODEC_COLUMNS_MAX)
		return error_set(err, -EBADMSG, "an impossible count of records");
	ret = decompress_raw(c, in, &raw);
	if (ret == 0 && columns_reserve(out, choice.width, records) < 0)
		ret = -ENOMEM;
	if (ret == 0)
		ret = decode_raw(c, raw, records, choice.mask, out);
	if (ret < 0)
		return error_set(err, ret, ret == -ENOMEM ? "out of memory" : "a damaged chunk");
	out->count = records;
	return 0;
}
