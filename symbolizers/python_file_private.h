/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts that look for a Python interpreter in an ELF file share. */
#ifndef SKEIN_SYMBOLIZERS_PYTHON_FILE_PRIVATE_H
#define SKEIN_SYMBOLIZERS_PYTHON_FILE_PRIVATE_H

#include "symbolizers/elf_image.h"
#include "symbolizers/python_file.h"

enum python_name {
	PYTHON_NAME_LOOP,     /* _PyEval_EvalFrameDefault, from 3.6 */
	PYTHON_NAME_OLD_LOOP, /* PyEval_EvalFrameEx, in all versions */
	PYTHON_NAME_RUNTIME,
	PYTHON_NAME_CODE_TYPE,
	PYTHON_NAME_VERSION, /* Py_Version, from 3.11 */
	PYTHON_NAME_GET_VERSION,
	PYTHON_NAME_DEBUG, /* only in builds with Py_DEBUG */
	PYTHON_NAMES
};

/* Addresses are those of the file's symbols. */
struct python_extent {
	uint64_t start, end; /* the same: the symbol has no size */
};

struct python_symbols {
	bool found[PYTHON_NAMES];
	struct python_extent at[PYTHON_NAMES];
	/* what compilers split off the loop; only what .symtab has */
	struct python_extent parts[PYTHON_LOOPS_MAX];
	uint32_t parts_count; /* more than PYTHON_LOOPS_MAX: there were more than fit */
	bool section;	      /* there is a .PyRuntime */
	uint64_t section_address;
};

/* Look for the symbols. 0, also if there are none; -EBADMSG; -ENOMEM or another negative errno. */
int python_symbols_read(struct python_symbols *ret, const struct elf_image *image);

/* Whether there is an interpreter at all, of whatever version. */
bool python_symbols_any(const struct python_symbols *s);

/* Read exactly size bytes at an address of the file: false if they are not (all) in it. */
bool python_bytes_at(const struct elf_image *image, uint64_t address, void *buf, size_t size);

struct python_version {
	uint8_t major, minor, micro;
	bool debug;	    /* built with Py_DEBUG, which moves things */
	bool free_threaded; /* says its name */
};

/*
 * The version, if two places in the file tell it and none another. runtime: address of _PyRuntime,
 * or 0. false: it is not known.
 */
bool python_version_find(struct python_version *ret, const struct elf_image *image,
			 const struct python_symbols *symbols, uint64_t runtime);

/*
 * Fill loop[], loops and code_delta. 0; -ENOENT: where the loop is cannot be told, or not wholly;
 * -ENOMEM or another negative errno.
 */
int python_loops_find(struct python_file *ret, struct elf_image *image,
		      const struct python_symbols *symbols);

#endif
