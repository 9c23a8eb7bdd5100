// SPDX-License-Identifier: Apache-2.0
/*
 * Read a code object at the beginning of a memory, and what it points to. The input is a byte that
 * chooses the version, then the memory. The type and id of the object are always the expected ones.
 */
#include "fuzz.h"
#include "python_memory.h"
#include "symbolizers/python_file.h"

static uint64_t word_at(const struct memory *m, uint32_t offset)
{
	uint64_t word = 0;

	if (offset + sizeof(word) <= m->size)
		memcpy(&word, m->bytes + offset, sizeof(word));
	return word;
}

static uint32_t id_of(const struct memory *m, const struct python_layout *l)
{
	__u64 words[PYTHON_ID_WORDS];

	for (int i = 0; i < PYTHON_ID_WORDS; i++)
		words[i] = word_at(m, l->code_id[i]);
	return python_code_id(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory fake = {.bytes = data + 1, .size = size - 1};
	const struct python_memory memory = {.read = memory_read, .context = &fake};
	const struct python_layout *layout;
	struct python_code c = {0};

	if (!size)
		return 0;
	layout = python_layout_of(3, 8 + data[0] % 5);
	if (python_code_read(
		    &c, &memory,
		    &(struct python_interpreter){*layout, word_at(&fake, PYTHON_OBJECT_TYPE)},
		    MEMORY_BASE, id_of(&fake, layout)) < 0) {
		if (c.name || c.file || c.lines)
			abort();
		return 0;
	}
	(void)memory_check_text(c.name, PYTHON_NAME_MAX);
	(void)memory_check_text(c.file, PYTHON_FILE_MAX);
	for (uint32_t unit = 0; unit < 64; unit++)
		(void)python_code_line(&c, layout, unit);
	(void)python_code_line(&c, layout, UINT32_MAX);
	python_code_free(&c);
	return 0;
}
