/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Count the samples of a live source as CPU time by service and function (cpu_times.h). A
 * sample waits for some seconds until it is counted, for names that are still being looked up.
 */
#ifndef SKEIN_SERVE_FUNCTION_TIMES_H
#define SKEIN_SERVE_FUNCTION_TIMES_H

#include "analyze/entity_store.h"
#include "base/error.h"
#include "base/pipe.h"
#include "serve/cpu_times.h"

/* Zeroed memory is empty. */
struct function_times {
	struct cpu_times table;
	VECTOR(struct sample) waiting;
};

/* The entities of the samples that wait, marked in stores by kind (entity_marks.h). */
void function_times_mark(const struct function_times *f, struct entity_store *stores);
/*
 * Count the samples before a time, ns, with the names that are known now; the marks in stores
 * change. Return 0 or a negative errno.
 */
int function_times_count(struct function_times *f, struct entity_store *stores, uint64_t until,
			 struct error *err);
void function_times_free(struct function_times *f);

#endif
