// SPDX-License-Identifier: Apache-2.0
/* Memory for the records of one stream kind, stored column by column. */
#include "trace/columns.h"

#include <errno.h>
#include <stdlib.h>

#include "base/record.h"

/* Check that each stream record is an array of words, as columns_push() requires. */
#define ONE_WORD(name, doc) +1
#define NO_TEXT(name, doc) +sizeof(struct texts_do_not_fit_a_stream)
#define WORDS(KIND) (0 KIND##_FIELDS(ONE_WORD, ONE_WORD, NO_TEXT))
#define LAYOUT_TABLE(kind, KIND)
#define LAYOUT_DERIVED(kind, KIND)
#define LAYOUT_STREAM(kind, KIND) \
	_Static_assert(sizeof(struct kind) == sizeof(uint64_t) * WORDS(KIND), "words in a row"); \
	_Static_assert(WORDS(KIND) <= CODEC_COLUMNS_MAX, "CODEC_COLUMNS_MAX");
#define CHECK_LAYOUT(kind, KIND, storage, summary) LAYOUT_##storage(kind, KIND)
RECORD_KINDS(CHECK_LAYOUT)

int columns_reserve(struct columns *c, unsigned int width, uint32_t records)
{
	uint64_t *words;

	if (c->width != width || c->capacity < records) {
		words = malloc(sizeof(*words) * width * (records ? records : 1));
		if (!words)
			return -ENOMEM;
		free(c->words);
		c->words = words;
		c->width = width;
		c->capacity = records;
	}
	c->count = 0;
	return 0;
}

void columns_free(struct columns *c)
{
	free(c->words);
	*c = (struct columns){0};
}
