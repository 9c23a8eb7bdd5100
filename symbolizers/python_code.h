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
#define PYTHON_FILE_MAX 1024 /* as PYTHON_NAME_MAX, for the name of the source file */
#define PYTHON_LINES_MAX (1u << 20) /* bytes */

/*
 * The memory of a process. read returns whether all size bytes at address could be read. It is a
 * function instead of a descriptor so that tests can replace it.
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
	uint32_t id; /* computed from the object's members, see bpf/unwind/python_layout.h */
	uint32_t first_line; /* co_firstlineno */
	char *name; /* UTF-8: co_qualname if there is one, unless the program changed co_name */
	char *file; /* UTF-8: co_filename */
	/* table of lines, in the format that the layout names; NULL: there is none */
	uint8_t *lines;
	size_t lines_size;
};

/*
 * Read the code object at address. Return 0; -ESTALE: the object there has another id, or is no
 * code object; -EFAULT: the memory cannot be read; -EBADMSG: its contents are invalid; -ENOMEM.
 * It is an error if the name to show or the file name cannot be read. A table of lines that cannot
 * be read or has more than PYTHON_LINES_MAX bytes is left out.
 */
int python_code_read(struct python_code *out, const struct python_memory *memory,
		     const struct python_interpreter *python, uint64_t address, uint32_t id);
void python_code_free(struct python_code *c);

/*
 * Return the line of a place in the code, or 0 if it has no line. unit: index of the code unit (2
 * bytes), or ~0 for a place before the first, which has the first line of the function.
 */
uint32_t python_code_line(const struct python_code *c, const struct python_layout *layout,
			  uint32_t unit);

/*
 * python_lines.c: as python_code_line(), for a table of size bytes at lines. The line is the one
 * that Python's traceback shows. kind: enum python_lines, the format of the table.
 */
uint32_t python_line_of(uint8_t kind, const uint8_t *lines, size_t size, uint32_t first_line,
			uint32_t unit);

/*
 * python_text.c: read the str object at address as UTF-8 with a NUL, room bytes at most. NUL and
 * invalid characters become U+FFFD; a text that does not fit is cut and ends with U+2026. Return 0;
 * -EFAULT: the memory cannot be read; -EBADMSG: not a str. On failure the bytes at to are
 * undefined.
 */
int python_text_read(char *to, size_t room, const struct python_memory *memory,
		     const struct python_layout *layout, uint64_t address);
/*
 * Return whether python_text_read() with this room has cut a text. Also true for a text that only
 * just fits and itself ends with U+2026.
 */
bool python_text_is_cut(const char *text, size_t room);

#endif
