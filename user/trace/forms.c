// SPDX-License-Identifier: Apache-2.0
/*
 * Choose, write and read the forms of columns. A column of a trace repeats its values (state,
 * flags, weight), grows slowly (time), follows another column (end) or jumps among few values
 * (thread, stack). So a prediction from the neighbouring word or another column is subtracted from
 * each word, and bits that are never set are left out. The result, the "rest" of the word, is
 * written in runs, or as a varint; the bytes of varints are grouped by their position: the first
 * bytes of all varints are alike, and unlike the second bytes.
 *
 * docs/cost.md lists how much each of these saves. FORM_POSITIVE saves too little, so it is read
 * but not written.
 */
#include "trace/forms.h"

#include <string.h>

#define RUN_LEAST 8u /* minimum average number of words per run for which runs are chosen */

/* How the words of some columns are predicted. Other columns: see shorter_form(). */
#define COLUMN(kind, column) (offsetof(struct kind, column) / sizeof(uint64_t))
#define PREDICTED(KIND, kind, column, ...) \
	{KIND_##KIND, COLUMN(kind, column), {.scale = 0, __VA_ARGS__}}
#define FROM(how, kind, column) .bits = FORM_##how, .reference = COLUMN(kind, column)
#define AS_LAST_WITH(kind, column) .bits = FORM_AS_LAST, .context = COLUMN(kind, column)

static const struct {
	enum record_kind kind;
	unsigned int column;
	struct form form;
} predictions[] = {
	/* thread and cpu jump among few values, which are more alike than their differences */
	PREDICTED(SAMPLE, sample, thread, .bits = 0),
	PREDICTED(SAMPLE, sample, cpu, .bits = 0),
	PREDICTED(SAMPLE, sample, stack, .bits = FORM_DELTA),
	/* a CPU's slice begins where its previous slice ends; chunks are sorted by lane */
	PREDICTED(SLICE, slice, time, FROM(ROW_BEFORE, slice, end)),
	/*
	 * a thread mostly leaves the CPU in the same state as the last time, and threads that leave
	 * in the same state mostly wait for the same
	 */
	PREDICTED(SLICE, slice, left, AS_LAST_WITH(slice, value)),
	PREDICTED(SLICE, slice, wait, AS_LAST_WITH(slice, left)),
	PREDICTED(EDGE, edge, end, FROM(SAME_ROW, edge, time)),
	PREDICTED(SPAN, span, end, FROM(SAME_ROW, span, time)),
};

/*
 * Hash table from a word of the context column to the rest (see subtract_predicted()) of the last
 * record with that word. Words with the same hash share an entry, for the writer and the reader
 * alike, which only makes the differences larger; there are few different words.
 */
#define RECALL_BITS 8

struct last_rests {
	uint64_t last[1 << RECALL_BITS];
};

static inline uint64_t *last_rest_slot(struct last_rests *r, uint64_t word)
{
	return &r->last[word * 0x9e3779b97f4a7c15ULL >> (64 - RECALL_BITS)];
}

/* Set rest to the words less the words that the form predicts: none, previous ones, or others. */
static void subtract_predicted(const struct form_column *of, struct form f, uint64_t *rest)
{
	const uint64_t *words = columns_at(of->columns, of->column);
	const uint64_t *other =
		columns_at(of->columns, f.bits & FORM_DELTA ? of->column : f.reference);
	uint32_t count = of->columns->count;

	if (!(f.bits & FORM_DIFFERENCES)) {
		memcpy(rest, words, count * sizeof(*rest));
	} else if (f.bits & FORM_SAME_ROW) {
		for (uint32_t i = 0; i < count; i++)
			rest[i] = words[i] - other[i];
	} else {
		rest[0] = words[0];
		for (uint32_t i = 1; i < count; i++)
			rest[i] = words[i] - other[i - 1];
	}
}

/* Set the form's scale to the number of lowest bits that are 0 in all rests; 0 if all bits are. */
static void set_scale(struct form *f, const uint64_t *rest, uint32_t count)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < count; i++)
		any |= rest[i];
	f->scale = any ? (uint8_t)__builtin_ctzll(any) : 0;
	if (f->scale)
		f->bits |= FORM_SCALED;
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
 * Convert the rests to the words that are written: scaled, and in zigzag if signed. Return the
 * number of runs of equal words.
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

static bool is_constant_column(const struct form_column *of)
{
	const uint64_t *words = columns_at(of->columns, of->column);

	return !memcmp(words, words + 1, (of->columns->count - 1) * sizeof(*words));
}

/* Return the form that takes fewer bytes as varints: the words, or their differences. */
static struct form shorter_form(const struct form_column *of)
{
	const uint64_t *words = columns_at(of->columns, of->column);
	uint64_t plain = 0, delta = 0;

	for (uint32_t i = 1; i < of->columns->count; i++) {
		plain += varint_size(words[i]);
		delta += varint_size(zigzag(words[i] - words[i - 1]));
	}
	return (struct form){.bits = delta < plain ? FORM_DELTA : 0};
}

static struct form predict_column(const struct form_column *of)
{
	if (is_constant_column(of))
		return (struct form){0};
	for (size_t i = 0; i < sizeof(predictions) / sizeof(predictions[0]); i++) {
		const struct form *f = &predictions[i].form;

		if (predictions[i].kind == of->kind && predictions[i].column == of->column &&
		    f->reference < of->columns->width && f->context < of->columns->width)
			return *f;
	}
	return shorter_form(of);
}

struct form form_choose(const struct form_column *of, uint64_t *rest)
{
	uint32_t count = of->columns->count;
	struct form f = predict_column(of);
	uint32_t runs;

	subtract_predicted(of, f, rest);
	set_scale(&f, rest, count);
	if (f.bits & FORM_AS_LAST)
		subtract_last_rest(rest, columns_at(of->columns, f.context), count);
	runs = encode_rest(f, rest, count);
	f.bits |= runs <= count / RUN_LEAST ? FORM_RUNS : FORM_SPLIT;
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
 * Return whether the forms fit together. Columns with AS_LAST are completed in their order and
 * before linked columns, each after its context column. So a context column must not be linked, and
 * must come before the column if it has AS_LAST itself.
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

/* Two columns may refer to each other, so all columns are completed record by record. */
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
