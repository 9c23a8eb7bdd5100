/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of python_file_read(): what kind of interpreter is in an ELF file. */
#ifndef SKEIN_SYMBOLIZERS_PYTHON_FILE_PRIVATE_H
#define SKEIN_SYMBOLIZERS_PYTHON_FILE_PRIVATE_H

#include "symbolizers/python_symbols.h"

struct python_version {
	uint8_t major, minor, micro;
	bool debug; /* built with Py_DEBUG, which moves members of structs */
	bool free_threaded; /* according to the file's name (DT_SONAME) */
};

/*
 * Find the version: at least two places in the file must give the same version, and none another
 * one. runtime: address of _PyRuntime, or 0. Return false, with *out untouched, otherwise.
 */
bool python_version_find(struct python_version *out, const struct elf_image *image,
			 const struct python_symbols *symbols, uint64_t runtime);

/*
 * Find the evaluation loop: set loop[], loops and code_delta of *out. Return 0; -ENOENT: the loop,
 * or a part of it, cannot be found; -ENOMEM or another negative errno. On failure *out is
 * untouched.
 */
int python_loops_find(struct python_file *out, struct elf_image *image,
		      const struct python_symbols *symbols);

#endif
