/* SPDX-License-Identifier: Apache-2.0 */
/* Find the symbols of a Python interpreter in an ELF file. */
#ifndef SKEIN_SYMBOLIZERS_PYTHON_SYMBOLS_H
#define SKEIN_SYMBOLIZERS_PYTHON_SYMBOLS_H

#include "symbolizers/elf_image.h"
#include "symbolizers/python_file.h"

enum python_name {
	PYTHON_NAME_LOOP, /* _PyEval_EvalFrameDefault, from 3.6 */
	PYTHON_NAME_OLD_LOOP, /* PyEval_EvalFrameEx, in all versions */
	PYTHON_NAME_RUNTIME, /* _PyRuntime, from 3.7 */
	PYTHON_NAME_CODE_TYPE, /* PyCode_Type */
	PYTHON_NAME_VERSION, /* Py_Version, from 3.11 */
	PYTHON_NAME_GET_VERSION, /* Py_GetVersion */
	PYTHON_NAME_DEBUG, /* _Py_NegativeRefcount, only in builds with Py_DEBUG */
	PYTHON_NAMES
};

/* Addresses are those of the file's symbols. */
struct python_extent {
	uint64_t start, end; /* equal if the symbol has no size */
};

struct python_symbols {
	bool found[PYTHON_NAMES];
	struct python_extent at[PYTHON_NAMES];
	/* parts that the compiler split off from the loop; only .symtab has their symbols */
	struct python_extent parts[PYTHON_LOOPS_MAX];
	uint32_t parts_count; /* at most PYTHON_LOOPS_MAX + 1, which means that some did not fit */
	bool section; /* there is a section .PyRuntime */
	uint64_t section_address;
};

/*
 * Search for the symbols. Return 0, also if there are none; -EBADMSG: the file is invalid; -ENOMEM
 * or another negative errno. On failure *out is untouched.
 */
int python_symbols_read(struct python_symbols *out, const struct elf_image *image);

/* Return whether the file has an interpreter of any version. */
bool python_symbols_any(const struct python_symbols *s);

/*
 * Read exactly size bytes at an address, as the file's symbols have it. Return false if one segment
 * does not have all of them in the file, or they cannot be read.
 */
bool python_bytes_at(const struct elf_image *image, uint64_t address, void *buf, size_t size);

#endif
