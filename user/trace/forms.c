// SPDX-License-Identifier: Apache-2.0
/*
 * Choose, write and read the forms of columns. A column of a trace repeats its values (state,
 * flags, weight), grows slowly (time), follows another column (end) or jumps among few values
 * (thread, stack). So a prediction from the neighbouring word or another column is subtracted from
 * each word, and bits that are never set are left out. The result, the "rest" of the word, is
 * written in runs, or as a varint; the bytes of varints are grouped by their position: the first
 * bytes of all varints are alike, and unlike the second bytes.
 *
 * The best form is found by estimating the entropy of the bytes of some of the words, because the
 * output of zstd comes close to the entropy.
 */
#include "trace/forms.h"

#include <string.h>

/* Words examined closely: SAMPLE_RUNS runs of SAMPLE_RUN_WORDS words. */
#define SAMPLE_RUNS 8u
#define SAMPLE_RUN_WORDS 128u
#define SAMPLED_WORDS (SAMPLE_RUNS * SAMPLE_RUN_WORDS)

/* bytes of a varint whose entropy is estimated; later bytes count as incompressible */
#define GROUPS_COUNTED 3u
#define TABLE_BYTES 64u /* overhead of zstd for a group of its own */
#define RUN_BYTES 2u /* about the size of an encoded run with a small value */
#define RUN_LEAST 2u /* minimum average of words per run for which runs are chosen */

/* Columns that are predicted from another column. */
#define FOLLOWS(KIND, kind, column, how, other) \
	{ \
		KIND_##KIND, offsetof(struct kind, column) / sizeof(uint64_t), FORM_##how, \
			offsetof(struct kind, other) / sizeof(uint64_t) \
	}

static const struct hint {
	enum record_kind kind;
	unsigned int column;
	uint8_t bits, reference;
} hints[] = {
	/* a slice of a CPU begins where its previous slice ends */
	FOLLOWS(SLICE, slice, time, ROW_BEFORE, end),
	FOLLOWS(SLICE, slice, end, SAME_ROW, time),
	FOLLOWS(EDGE, edge, end, SAME_ROW, time),
	FOLLOWS(SPAN, span, end, SAME_ROW, time),
};

/* Columns whose rest mostly repeats when the context column has the same word as before. */
#define DEPENDS(KIND, kind, column, other) \
	{ \
		KIND_##KIND, offsetof(struct kind, column) / sizeof(uint64_t), FORM_AS_LAST, \
			offsetof(struct kind, other) / sizeof(uint64_t) \
	}

static const struct hint contexts[] = {
	DEPENDS(SLICE, slice, end, value), /* a thread mostly runs as long as it did last time */
	DEPENDS(SLICE, slice, left, value),
	DEPENDS(SLICE, slice, wait, left),
	DEPENDS(EDGE, edge, value, to),
};

#define CONTEXTS (sizeof(contexts) / sizeof(contexts[0]))

/*
 * Hash table from a word of the context column to the last rest (see subtract_predicted()) with
 * that word. Words with the same hash share an entry, which only makes the result longer; there are
 * few different words.
 */
#define RECALL_BITS 8

struct last_rests {
	uint64_t last[1 << RECALL_BITS];
};

static inline uint64_t *last_rest_slot(struct last_rests *r, uint64_t word)
{
	return &r->last[word * 0x9e3779b97f4a7c15ULL >> (64 - RECALL_BITS)];
}

/* Subtract from count words, beginning at first, the words that the form compares them with. */
static void subtract_predicted(const struct form_column *of, struct form f, uint32_t first,
			       uint32_t count, uint64_t *rest)
{
	const uint64_t *words = columns_at(of->columns, of->column) + first;
	const uint64_t *other =
		columns_at(of->columns, f.bits & FORM_DELTA ? of->column : f.reference) + first;

	if (!(f.bits & FORM_DIFFERENCES)) {
		memcpy(rest, words, count * sizeof(*rest));
	} else if (f.bits & FORM_SAME_ROW) {
		for (uint32_t i = 0; i < count; i++)
			rest[i] = words[i] - other[i];
	} else {
		rest[0] = words[0] - (first ? other[-1] : 0);
		for (uint32_t i = 1; i < count; i++)
			rest[i] = words[i] - other[i - 1];
	}
}

/*
 * Set scale to the number of lowest bits that are never set, and FORM_POSITIVE if negative
 * differences are rare.
 */
static void fit_form(struct form *f, const uint64_t *rest, uint32_t count)
{
	uint64_t any = 0;
	uint32_t negative = 0;

	for (uint32_t i = 0; i < count; i++) {
		any |= rest[i];
		negative += rest[i] >> 63;
	}
	f->scale = any ? (uint8_t)__builtin_ctzll(any) : 0;
	f->bits &= (uint8_t) ~(FORM_SCALED | FORM_POSITIVE);
	if (f->scale)
		f->bits |= FORM_SCALED;
	if (f->bits & FORM_DIFFERENCES && !(f->bits & FORM_AS_LAST) && negative <= count / 64)
		f->bits |= FORM_POSITIVE;
}

static bool is_signed(struct form f)
{
	return f.bits & FORM_AS_LAST || (f.bits & FORM_DIFFERENCES && !(f.bits & FORM_POSITIVE));
}

/* Subtract from each rest the last rest for which the context column had the same word. */
static void subtract_last_rest(uint64_t *rest, const uint64_t *context, uint32_t count)
{
	struct last_rests r = {{0}};

	for (uint32_t i = 0; i < count; i++) {
		uint64_t *last = last_rest_slot(&r, context[i]), word = rest[i];

		rest[i] = word - *last;
		*last = word;
	}
}

/*
 * Convert rest to the words that are written: scaled, and in zigzag if signed. Return the number of
 * runs of equal words.
 */
static uint32_t encode_rest(struct form f, uint64_t *rest, uint32_t count)
{
	uint64_t before = 0;
	uint32_t runs = 0;
	bool with_sign = is_signed(f);

	for (uint32_t i = 0; i < count; i++) {
		rest[i] = with_sign ? zigzag((uint64_t)((int64_t)rest[i] >> f.scale))
				    : rest[i] >> f.scale;
		runs += !i || rest[i] != before;
		before = rest[i];
	}
	return runs;
}

/* Return log2(n) in 256ths, linear between powers of two. */
static uint32_t log2_of(uint32_t n)
{
	uint32_t whole = 31u - (uint32_t)__builtin_clz(n | 1);

	return whole << 8 | (uint32_t)(((uint64_t)n << 8 >> whole) & 255);
}

/*
 * Return the entropy of a group of total bytes, in 256ths of a bit; counts holds how often each
 * byte value occurs.
 */
static uint64_t entropy(const uint16_t *counts, uint32_t total)
{
	uint64_t bits = (uint64_t)total * log2_of(total);

	for (unsigned int i = 0; i < 256; i++)
		if (counts[i])
			bits -= (uint64_t)counts[i] * log2_of(counts[i]);
	return bits;
}

_Static_assert(SAMPLED_WORDS <= UINT16_MAX, "counts");

/*
 * Estimate how many bytes count words take when split into groups, from sampled of them (rest).
 */
static uint64_t estimate_bytes(const uint64_t *rest, uint32_t sampled, uint32_t count)
{
	uint16_t counts[GROUPS_COUNTED][256];
	uint32_t totals[GROUPS_COUNTED] = {0};
	uint64_t bits = 0, tables = 0, v;
	unsigned int group;

	memset(counts, 0, sizeof(counts));
	for (uint32_t i = 0; i < sampled; i++) {
		v = rest[i];
		for (group = 0; group < GROUPS_COUNTED && (v || !group); group++, v >>= 7) {
			counts[group][(v & 0x7f) | (v > 0x7f) << 7]++;
			totals[group]++;
		}
		for (; v; v >>= 7)
			bits += 7 << 8;
	}
	for (group = 0; group < GROUPS_COUNTED && totals[group]; group++) {
		bits += entropy(counts[group], totals[group]);
		tables += TABLE_BYTES;
	}
	return bits / (8 << 8) * count / sampled + tables;
}

/* Take parts of the column, spread evenly over all of it. Return the number of words. */
static uint32_t sample_column_words(const struct form_column *of, struct form f, uint64_t *rest)
{
	uint64_t count = of->columns->count;

	if (count <= SAMPLED_WORDS) {
		subtract_predicted(of, f, 0, (uint32_t)count, rest);
		return (uint32_t)count;
	}
	for (uint32_t i = 0; i < SAMPLE_RUNS; i++)
		subtract_predicted(of, f,
				   (uint32_t)((count - SAMPLE_RUN_WORDS) * i / (SAMPLE_RUNS - 1)),
				   SAMPLE_RUN_WORDS, rest + i * SAMPLE_RUN_WORDS);
	return SAMPLED_WORDS;
}

static uint64_t estimate_form_bytes(const struct form_column *of, struct form f)
{
	const struct form_column context_column = {of->columns, f.context, of->kind};
	uint64_t rest[SAMPLED_WORDS], context[SAMPLED_WORDS];
	uint32_t sampled = sample_column_words(of, f, rest);

	fit_form(&f, rest, sampled);
	if (f.bits & FORM_AS_LAST) {
		sample_column_words(&context_column, (struct form){0}, context);
		subtract_last_rest(rest, context, sampled);
	}
	encode_rest(f, rest, sampled);
	return estimate_bytes(rest, sampled, of->columns->count);
}

static bool is_constant_column(const struct form_column *of)
{
	const uint64_t *words = columns_at(of->columns, of->column);

	return !memcmp(words, words + 1, (of->columns->count - 1) * sizeof(*words));
}

static bool is_hint_for(const struct hint *h, const struct form_column *of)
{
	return h->kind == of->kind && h->column == of->column && h->reference < of->columns->width;
}

/* Choose the differences to take, if any; *bytes is their estimated size. */
static struct form choose_differences(const struct form_column *of, uint64_t *bytes)
{
	struct form candidates[2 + sizeof(hints) / sizeof(hints[0])] = {{0}, {.bits = FORM_DELTA}};
	unsigned int count = 2, best = 0;
	uint64_t guess;

	for (size_t i = 0; i < sizeof(hints) / sizeof(hints[0]); i++)
		if (is_hint_for(&hints[i], of))
			candidates[count++] = (struct form){.bits = hints[i].bits,
							    .reference = hints[i].reference};
	*bytes = UINT64_MAX;
	for (unsigned int i = 0; i < count; i++) {
		guess = estimate_form_bytes(of, candidates[i]);
		if (guess < *bytes) {
			*bytes = guess;
			best = i;
		}
	}
	return candidates[best];
}

/* Add a context column to the form if the words take fewer bytes with it. */
static struct form choose_context(const struct form_column *of, struct form f, uint64_t *bytes)
{
	struct form best = f;

	for (size_t i = 0; i < CONTEXTS; i++) {
		struct form with = f;
		uint64_t guess;

		if (!is_hint_for(&contexts[i], of))
			continue;
		with.bits |= FORM_AS_LAST;
		with.context = contexts[i].reference;
		guess = estimate_form_bytes(of, with);
		if (guess < *bytes) {
			*bytes = guess;
			best = with;
		}
	}
	return best;
}

struct form form_choose(const struct form_column *of, uint64_t *rest)
{
	uint32_t count = of->columns->count;
	struct form f = {0};
	uint64_t bytes = UINT64_MAX;
	uint32_t runs;

	if (!is_constant_column(of)) {
		f = choose_differences(of, &bytes);
		f = choose_context(of, f, &bytes);
	}
	subtract_predicted(of, f, 0, count, rest);
	fit_form(&f, rest, count);
	if (f.bits & FORM_AS_LAST)
		subtract_last_rest(rest, columns_at(of->columns, f.context), count);
	runs = encode_rest(f, rest, count);
	if (runs <= count / RUN_LEAST && (uint64_t)runs * RUN_BYTES < bytes)
		f.bits |= FORM_RUNS;
	else
		f.bits |= FORM_SPLIT;
	return f;
}

static uint8_t *put_word_runs(uint8_t *p, const uint64_t *rest, uint32_t count)
{
	uint32_t start = 0;

	for (uint32_t i = 1; i <= count; i++) {
		if (i < count && rest[i] == rest[start])
			continue;
		p = varint_put(p, rest[start]);
		p = varint_put(p, i - start);
		start = i;
	}
	return p;
}

static uint8_t *put_split_words(uint8_t *p, uint64_t *rest, uint32_t count,
				struct form_groups *groups)
{
	uint32_t longer;

	for (; count; count = longer) {
		longer = 0;
		for (uint32_t i = 0; i < count; i++) {
			uint64_t v = rest[i];

			*p++ = (uint8_t)((v & 0x7f) | (v > 0x7f) << 7);
			rest[longer] = v >> 7;
			longer += v > 0x7f;
		}
		groups->end[groups->count++] = p;
	}
	return p;
}

uint8_t *form_put(uint8_t *p, struct form f, uint64_t *rest, uint32_t count,
		  struct form_groups *groups)
{
	groups->count = 0;
	if (!(f.bits & FORM_RUNS))
		return put_split_words(p, rest, count, groups);
	p = put_word_runs(p, rest, count);
	groups->end[groups->count++] = p;
	return p;
}

bool form_is_valid(struct form f, unsigned int column, unsigned int width)
{
	unsigned int differences = f.bits & FORM_DIFFERENCES;

	if ((differences & (differences - 1)) || f.scale > 63)
		return false;
	if (f.bits & FORM_AS_LAST &&
	    (f.context >= width || f.context == column || f.bits & FORM_POSITIVE))
		return false;
	if ((f.bits & FORM_RUNS && f.bits & FORM_SPLIT) || (f.bits & FORM_POSITIVE && !differences))
		return false;
	if (f.bits & FORM_SAME_ROW)
		return f.reference < column;
	return !(f.bits & FORM_ROW_BEFORE) || f.reference < width;
}

/*
 * Return whether the forms fit together. A context must be complete before the columns that depend
 * on it, so a context is neither linked nor dependent on a later column.
 */
bool forms_are_valid(const struct form *forms, unsigned int width)
{
	for (unsigned int i = 0; i < width; i++) {
		const struct form *context = &forms[forms[i].context];

		if (forms[i].bits & FORM_AS_LAST &&
		    (context->bits & FORM_LINKED ||
		     (context->bits & FORM_AS_LAST && forms[i].context > i)))
			return false;
	}
	return true;
}

static bool get_single_words(struct blob_reader *in, uint64_t *words, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!blob_reader_varint(in, &words[i]))
			return false;
	return true;
}

static bool get_word_runs(struct blob_reader *in, uint64_t *words, uint32_t count)
{
	uint64_t v, run;
	uint32_t i = 0;

	while (i < count) {
		if (!blob_reader_varint(in, &v) || !blob_reader_varint(in, &run) || !run ||
		    run > count - i)
			return false;
		for (; run; run--)
			words[i++] = v;
	}
	return true;
}

/*
 * Read words whose bytes are grouped by position. later is memory for the numbers of the words that
 * have more bytes, in their order.
 */
static bool get_split_words(struct blob_reader *in, uint64_t *words, uint32_t count,
			    uint32_t *later)
{
	uint32_t left = count, longer = 0;

	if (count > (size_t)(in->end - in->at))
		return false;
	for (uint32_t i = 0; i < count; i++) {
		words[i] = in->at[i] & 0x7f;
		later[longer] = i;
		longer += in->at[i] >> 7;
	}
	in->at += count;
	for (unsigned int shift = 7; longer; shift += 7) {
		left = longer;
		longer = 0;
		if (shift > 63 || left > (size_t)(in->end - in->at))
			return false;
		for (uint32_t i = 0; i < left; i++) {
			uint8_t byte = in->at[i];

			if (shift == 63 && byte > 1)
				return false;
			words[later[i]] |= (uint64_t)(byte & 0x7f) << shift;
			later[longer] = later[i];
			longer += byte >> 7;
		}
		in->at += left;
	}
	return true;
}

static void decode_rest(struct form f, uint64_t *words, uint32_t count)
{
	if (is_signed(f))
		for (uint32_t i = 0; i < count; i++)
			words[i] = unzigzag(words[i]) << f.scale;
	else if (f.scale)
		for (uint32_t i = 0; i < count; i++)
			words[i] <<= f.scale;
	if (f.bits & FORM_DELTA)
		for (uint32_t i = 1; i < count; i++)
			words[i] += words[i - 1];
}

void form_recall(struct columns *c, unsigned int column, struct form f, uint32_t count)
{
	const uint64_t *context = columns_at(c, f.context);
	uint64_t *words = columns_at(c, column);
	struct last_rests r = {{0}};

	for (uint32_t i = 0; i < count; i++) {
		uint64_t *last = last_rest_slot(&r, context[i]);

		*last += unzigzag(words[i]) << f.scale;
		words[i] = *last;
	}
	if (f.bits & FORM_DELTA)
		for (uint32_t i = 1; i < count; i++)
			words[i] += words[i - 1];
}

bool form_get(struct form f, struct blob_reader in, uint64_t *words, uint32_t count,
	      uint32_t *later)
{
	bool good = f.bits & FORM_RUNS	  ? get_word_runs(&in, words, count)
		    : f.bits & FORM_SPLIT ? get_split_words(&in, words, count, later)
					  : get_single_words(&in, words, count);

	if (!good || in.at != in.end)
		return false;
	if (!(f.bits & FORM_AS_LAST))
		decode_rest(f, words, count);
	return true;
}

/* Columns may refer to each other, so they are completed record by record. */
void form_link(struct columns *c, const struct form *forms, uint64_t mask, uint32_t count)
{
	struct {
		uint64_t *words;
		const uint64_t *others;
		bool before;
	} links[CODEC_COLUMNS_MAX];
	unsigned int used = 0;

	for (unsigned int i = 0; i < c->width; i++) {
		if (!(mask & 1ULL << i) || !(forms[i].bits & FORM_LINKED))
			continue;
		links[used].words = columns_at(c, i);
		links[used].others = columns_at(c, forms[i].reference);
		links[used++].before = forms[i].bits & FORM_ROW_BEFORE;
	}
	for (uint32_t row = 0; row < count; row++)
		for (unsigned int i = 0; i < used; i++)
			if (!links[i].before)
				links[i].words[row] += links[i].others[row];
			else if (row)
				links[i].words[row] += links[i].others[row - 1];
}
