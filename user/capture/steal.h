/* SPDX-License-Identifier: Apache-2.0 */
/* Where a virtual machine's host writes how long it has run something else (bpf/steal.h). */
#ifndef SKEIN_CAPTURE_STEAL_H
#define SKEIN_CAPTURE_STEAL_H

#include <stdint.h>

/*
 * Bytes from a CPU's run queue to what the host writes for that CPU; 0 if the host writes nothing,
 * as on real hardware, or the kernel does not say where.
 */
int64_t steal_find(void);

#endif
