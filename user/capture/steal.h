/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Locates the memory in which a virtual machine's host reports how long it ran other work
 * (bpf/steal.h).
 */
#ifndef SKEIN_CAPTURE_STEAL_H
#define SKEIN_CAPTURE_STEAL_H

#include <stdint.h>

/*
 * Return the offset in bytes from a CPU's run queue to the host's record for that CPU; 0 if there
 * is no such record, as on real hardware, or the kernel's types do not locate it.
 */
int64_t steal_find(void);

#endif
