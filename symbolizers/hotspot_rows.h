/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of compiled methods and adapters, made from their code in the process. */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_ROWS_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_ROWS_H

#include "symbolizers/hotspot_layout.h"

/* A place in code at which a thread was interrupted. */
struct hotspot_code_place {
	uint64_t blob; /* address */
	uint32_t id; /* compile id of an nmethod, else 0 */
	uint32_t offset; /* from the begin of the code; in an adapter: from blob */
};

/*
 * Make the rows around a place. Return 0; -ESTALE: the address has other code than that of the
 * place; -ENOENT: it is not known how to leave the code there, or it is no method or adapter;
 * -E2BIG; -ENOMEM; or the error of memory->read. On failure *out is untouched.
 */
int hotspot_rows_read(struct hotspot_code_rows *out, const struct hotspot_layout *l,
		      const struct hotspot_memory *memory, const struct hotspot_code_place *p);

#endif
