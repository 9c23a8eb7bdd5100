/* SPDX-License-Identifier: Apache-2.0 */
/* Determines what a thread that left the CPU waits for. */
#ifndef SKEIN_CAPTURE_WAITS_H
#define SKEIN_CAPTURE_WAITS_H

#include <stdint.h>

#include "base/record.h"
#include "bpf/event.h"

/*
 * Return the state in which a thread left a CPU, from enum wire_state and the flags of enum
 * wire_prev_flag; STATE_UNKNOWN for an invalid value.
 */
enum slice_state waits_state(unsigned int state, unsigned int flags);

/*
 * Return what the thread waits for; WAIT_NONE if it was runnable or ended. state and flags as for
 * waits_state(). word: WIRE_CALL() of its system call on this machine.
 */
enum wait_class waits_class(unsigned int state, unsigned int flags, unsigned int word);

/* Return what its runtime says of a wait, from its WIRE_CALL(); a larger value has no meaning. */
enum wire_lock waits_lock(unsigned int word);

#endif
