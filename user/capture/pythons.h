/* SPDX-License-Identifier: Apache-2.0 */
/* Which address spaces have a Python interpreter, and what the walkers are told of it. */
#ifndef SKEIN_CAPTURE_PYTHONS_H
#define SKEIN_CAPTURE_PYTHONS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/space.h"
#include "symbolizers/python_file.h"

/* The layouts that the walkers know: every interpreter of one version shares one. Zeroed: none. */
struct pythons {
	struct python_layout layouts[PYTHON_LAYOUTS_MAX];
	uint32_t count;
	/* tell the walkers of a new one; 0 or a negative errno */
	int (*tell)(void *context, uint32_t number, const struct python_layout *l);
	void *context;
};

/* The number + 1 of a layout; 0 if there are too many, or the walkers cannot be told. */
uint32_t pythons_layout(struct pythons *p, const struct python_layout *l);

/* The interpreter of an object that has one whose frames can be read, mapped there. */
struct python_process pythons_at(const struct object *o, uint64_t start, uint64_t offset);

/*
 * The interpreter of a space as walkers see it, zeroed if there is none whose frames can be read.
 * Of several the first mapped counts.
 */
struct python_process pythons_of(const struct space *s);
/* The same as its file tells; NULL: none. */
const struct python_file *pythons_file_of(const struct space *s);

#endif
