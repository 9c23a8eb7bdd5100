/* SPDX-License-Identifier: Apache-2.0 */
/* What a thread that left the CPU asleep is waiting for. */
#ifndef SKEIN_CAPTURE_WAITS_H
#define SKEIN_CAPTURE_WAITS_H

#include <stdint.h>

#include "base/record.h"
#include "bpf/event.h"

/*
 * The state that a thread took on when it left a CPU, from enum wire_state and enum wire_left.
 * STATE_UNKNOWN for a value that is none.
 */
enum slice_state waits_state(unsigned int state, unsigned int flags);

/* What it waits for, then: call is the system call's number + 1 on this machine, 0 if in none. */
enum wait_class waits_class(unsigned int state, unsigned int flags, unsigned int call);

#endif
