/* SPDX-License-Identifier: Apache-2.0 */
/* Compute the key of an ELF image that is already open. */
#ifndef SKEIN_SYMBOLIZERS_UNWIND_KEY_H
#define SKEIN_SYMBOLIZERS_UNWIND_KEY_H

#include "symbolizers/elf_image.h"
#include "symbolizers/unwind/table.h"

/* Like unwind_key_read(), for an open image, and without the check of the stamp. */
int unwind_key_of(struct unwind_key *out, struct elf_image *image);

#endif
