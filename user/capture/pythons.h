/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines which address spaces have a Python interpreter, and describes the interpreter for the
 * BPF walkers.
 */
#ifndef SKEIN_CAPTURE_PYTHONS_H
#define SKEIN_CAPTURE_PYTHONS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/space.h"
#include "symbolizers/python_file.h"

/*
 * The layouts that the walkers know; all interpreters of one version share a layout. Start with
 * zeroed memory.
 */
struct pythons {
	struct python_layout layouts[PYTHON_LAYOUTS_MAX];
	uint32_t count;
	/* sends a new layout to the walkers under a number; returns 0 or a negative errno */
	int (*send)(void *context, uint32_t number, const struct python_layout *l);
	void *context;
};

/*
 * Return the number of a layout, plus 1. A new layout is sent to the walkers first; 0 if there are
 * too many layouts, or sending failed.
 */
uint32_t pythons_layout(struct pythons *p, const struct python_layout *l);

/*
 * Describe for the walkers the interpreter in object o, mapped at address start from the file
 * offset `offset` on. o must have an interpreter whose frames can be read.
 */
struct python_process pythons_at(const struct object *o, uint64_t start, uint64_t offset);

/*
 * Describe the interpreter of a space for the walkers; zeroed if there is none with readable
 * frames. Of several interpreters, that at the lowest address is used.
 */
struct python_process pythons_of(const struct space *s);
/*
 * Return the facts of the file of the interpreter that pythons_of() describes; NULL if there is
 * none.
 */
const struct python_file *pythons_file_of(const struct space *s);

#endif
