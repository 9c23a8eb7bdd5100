/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read the names of Python's code objects from the memory of their process. The memory is hostile
 * and changes while it is read: everything is bounded, and a result is only used if the code object
 * still has the id that the BPF walker computed.
 */
#ifndef SKEIN_SYMBOLIZERS_PYTHON_CODE_H
#define SKEIN_SYMBOLIZERS_PYTHON_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind/python_layout.h"

/* Maximum sizes: longer names are cut, and end with U+2026; longer tables of lines are not read. */
#define PYTHON_NAME_MAX 512 /* bytes of UTF-8, NUL included */
#define PYTHON_FILE_MAX 1024
#define PYTHON_LINES_MAX (1u << 20)

/*
 * The memory of a process. read returns whether all bytes could be read. It is a function, not a
 * descriptor, so that tests can replace it.
 */
struct python_memory {
	bool (*read)(void *context, void *to, size_t size, uint64_t address);
	void *context;
};

/* The interpreter in a process. */
struct python_interpreter {
	struct python_layout layout;
	uint64_t code_type; /* address of PyCode_Type, the type of all code objects */
};

/* Facts about one code object. Free with python_code_free(). */
struct python_code {
	uint32_t id;
	uint32_t first_line;
	char *name; /* UTF-8; co_qualname if there is one and it ends with co_name */
	char *file; /* co_filename */
	/* table of lines, in the format that the layout names; NULL: there is none */
	uint8_t *lines;
	size_t lines_size;
};

/*
 * Read the code object at address. Return 0; -ESTALE: the object there has another id, or is no
 * code object; -EFAULT: the memory cannot be read; -EBADMSG: its contents are invalid; -ENOMEM.
 * Names that cannot be read are errors; a table of lines that cannot be read is left out.
 */
int python_code_read(struct python_code *out, const struct python_memory *memory,
		     const struct python_interpreter *python, uint64_t address, uint32_t id);
void python_code_free(struct python_code *c);

/*
 * Return the line of a place; unit: code units of 2 bytes, ~0 before the first. 0 if the place has
 * no line.
 */
uint32_t python_code_line(const struct python_code *c, const struct python_layout *layout,
			  uint32_t unit);

/*
 * python_lines.c: return the line of a place from a table, as Python's traceback shows it. kind:
 * enum python_lines.
 */
uint32_t python_line_of(uint8_t kind, const uint8_t *lines, size_t size, uint32_t first_line,
			uint32_t unit);

/*
 * python_text.c: read a str object as UTF-8 with a NUL. Invalid characters become U+FFFD; a longer
 * text is cut to room bytes and ends with U+2026. Return 0, -EFAULT, or -EBADMSG: not a str.
 */
int python_text_read(char *to, size_t room, const struct python_memory *memory,
		     const struct python_layout *layout, uint64_t address);
/*
 * Return whether python_text_read() has cut a text to room bytes. Also true for a text that just
 * fits and ends with U+2026.
 */
bool python_text_is_cut(const char *text, size_t room);

#endif
