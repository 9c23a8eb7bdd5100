/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose, from the stores of a sink of a live source (entity_store.h), the entities to which some
 * samples refer: mark them (entity_store_item.used), and put them.
 */
#ifndef SKEIN_ANALYZE_ENTITY_MARKS_H
#define SKEIN_ANALYZE_ENTITY_MARKS_H

#include "analyze/entity_store.h"
#include "base/pipe.h"

/* The kinds that samples need; each comes after the kinds that it refers to. X(KIND) */
#define ENTITY_MARK_KINDS(X) \
	X(HOST) X(EVENT) X(PROCESS) X(THREAD) X(MAPPING) X(FUNCTION) X(FRAME) X(STACK)

/* In the functions below, stores are by kind; a kind without a store is left out. */

/* Mark all hosts and events, and nothing else. */
void entity_marks_begin(struct entity_store *stores);
/* Mark the thread of a sample with its process, and its stack with all that it consists of. */
void entity_mark_thread(struct entity_store *stores, uint64_t id);
void entity_mark_stack(struct entity_store *stores, uint64_t id);
/* Put what is marked, of ENTITY_MARK_KINDS. Return 0 or the sink's error. */
int entity_marks_put(struct entity_store *stores, struct sink *to, struct error *err);

#endif
