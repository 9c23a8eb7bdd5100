/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of Python's code objects, out of the memory of the process that
 * has them. The memory is hostile, and changes while it is read: everything is
 * bounded, and what is found counts only if it still has the id under which a
 * walker met it.
 */
#ifndef SKEIN_SYMBOLIZERS_PYTHON_CODE_H
#define SKEIN_SYMBOLIZERS_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind/python_layout.h"

/* Longer names are cut, and end with U+2026; longer tables of lines are not read at all. */
#define PYTHON_NAME_MAX 512 /* bytes of UTF-8, NUL included */
#define PYTHON_FILE_MAX 1024
#define PYTHON_LINES_MAX (1u << 20)

/*
 * Memory of the process; returns whether all of it could be read. For tests too, so no descriptor.
 */
struct python_memory {
	bool (*read)(void *context, void *to, size_t size, uint64_t address);
	void *context;
};

/* What is known of one code object. Free with python_code_free(). */
struct python_code {
	uint32_t id;
	uint32_t first_line;
	char *name; /* UTF-8: co_qualname where there is one and it ends with co_name */
	char *file; /* as the interpreter has it */
	uint8_t *lines; /* of the layout's kind; NULL: none */
	size_t lines_size;
};

/*
 * Read the code object at address. 0; -ESTALE: it has not that id (any more), or is no code
 * object; -EFAULT: the memory cannot be read; -EBADMSG: it makes no sense; -ENOMEM. Names that
 * cannot be read are errors; a table of lines that cannot be read is left out.
 */
int python_code_read(struct python_code *ret, const struct python_memory *memory,
		     const struct python_layout *layout, uint64_t code_type, uint64_t address,
		     uint32_t id);
void python_code_free(struct python_code *c);

/* Line of a place (code units of 2 bytes; ~0: before the first); 0 if it has none. */
uint32_t python_code_line(const struct python_code *c, const struct python_layout *layout,
			  uint32_t unit);

/*
 * python_lines.c: the same from a table alone, as traceback has it. kind: enum python_lines.
 */
uint32_t python_line_of(uint8_t kind, const uint8_t *lines, size_t size, uint32_t first_line,
			uint32_t unit);

/*
 * python_text.c: a str object as UTF-8 with a NUL, what is no character as U+FFFD; cut where room
 * ends, with U+2026. 0, -EFAULT, or -EBADMSG: not a str.
 */
int python_text_read(char *to, size_t room, const struct python_memory *memory,
		     const struct python_layout *layout, uint64_t address);
/* Whether python_text_read() cut a text at that room. One that just fits and ends so counts too. */
bool python_text_is_cut(const char *text, size_t room);

#endif
