/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a sink of a live source keeps entities (entity_store.h): until no later record can refer
 * to them.
 */
#ifndef SKEIN_ANALYZE_ENTITY_LIFE_H
#define SKEIN_ANALYZE_ENTITY_LIFE_H

#include "analyze/entity_store.h"

/*
 * Drop, from the stores of all kinds, what is not used (entity_store_item.used) and is at its end:
 * stacks, frames, functions, mappings and names that the source has forgotten (sink_ops.forget),
 * which were put in an epoch before this one; processes and threads some time after their end, and
 * lanes with them. now: ns. Kinds that are not kept have zeroed stores.
 * Return 0 or -ENOMEM: the stores can only be freed then.
 */
int entity_life_sweep(struct entity_store stores[static KIND_COUNT], uint32_t epoch, uint64_t now);

#endif
