/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instance fields of Java classes, by the table that each class has of its own. Sources:
 * OpenJDK, fieldInfo.hpp of JDK 17 (an array of u16) and of 21 and later (a stream of integers).
 */
#ifndef SKEIN_SYMBOLIZERS_HOTSPOT_FIELDS_H
#define SKEIN_SYMBOLIZERS_HOTSPOT_FIELDS_H

#include "symbolizers/hotspot_layout.h"

/*
 * Get the offset of a field in the objects of a class, an InstanceKlass at address class. Return 0;
 * -ENOENT: it has no such field, or the tables lack an entry; -EINVAL: its table is invalid; or the
 * error of memory->read. On failure *offset is untouched.
 */
int hotspot_java_field(uint32_t *offset, const struct hotspot_tables *t,
		       const struct hotspot_memory *memory, uint64_t class, const char *name);

#endif
