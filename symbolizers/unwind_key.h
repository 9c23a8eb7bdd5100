/* SPDX-License-Identifier: Apache-2.0 */
/* The key of what is being read anyway. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_KEY_H
#define SKEIN_SYMBOLIZERS_UNWIND_KEY_H

#include "symbolizers/elf_image.h"
#include "symbolizers/unwind_table.h"

/* As unwind_key_read(). */
int unwind_key_of(struct unwind_key *ret, struct elf_image *image);

#endif
