// SPDX-License-Identifier: Apache-2.0
/*
 * Read a str: a byte that chooses the version, two for the size of the output buffer, then the
 * memory that holds the str.
 */
#include "fuzz.h"
#include "python_memory.h"
#include "symbolizers/python_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory fake = {.bytes = data + 3, .size = size - 3};
	const struct python_memory memory = {.read = memory_read, .context = &fake};
	struct python_layout layout;
	size_t room;
	char *text;
	int rc;

	if (size < 3)
		return 0;
	layout = *python_layout_of(3, 8 + data[0] % 5);
	if (data[0] & 0x80) {
		layout.version = PYTHON_VERSION(3, 14);
		layout.text_shift = 16;
	}
	room = 1 + (data[1] | (data[2] & 15) << 8);
	text = malloc(room);
	if (!text)
		abort();
	rc = python_text_read(text, room, &memory, &layout, MEMORY_BASE);
	if (!rc)
		(void)memory_check_text(text, room);
	/* The reads must be proportional to the buffer. */
	if (fake.read > 64 + 4 * room)
		abort();
	free(text);
	return 0;
}
