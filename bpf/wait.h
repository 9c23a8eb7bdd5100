/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * Chooses the waits of which a stack is taken. The choice is made when the thread is woken, because
 * the length of the wait is known then, and its probability is length / T, at most 1. The stack is
 * taken when the thread runs again, before it continues: until then its registers and its stack do
 * not change.
 *
 * Each thread has a slot of 8 bytes, found by the low bits of its number: when it left the CPU to
 * wait, or that it was chosen. From its lowest bit on, a slot has a time or a length in ns (48
 * bits), a state (2 bits), the high bits of the thread's number (3 bits), and the number of the
 * period T with which the wait was chosen (WIRE_PERIOD_BITS).
 */
#ifndef SKEIN_BPF_WAIT_H
#define SKEIN_BPF_WAIT_H

#ifndef __bpf__
#include <stdbool.h>
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#endif

#include "bpf/event.h"

#define WAIT_SLOT_BITS 19 /* of a thread's number, for the place of its slot: 4 MiB of slots */
#define WAIT_TIME_MASK ((1ULL << 48) - 1)
#define WAIT_STATE_SHIFT 48
#define WAIT_TAG_SHIFT 50
#define WAIT_PERIOD_SHIFT 54
#define WAIT_TAG_MASK ((1ULL << WAIT_PERIOD_SHIFT) - (1ULL << WAIT_TAG_SHIFT))

enum wait_slot_state {
	WAIT_NEVER_SEEN, /* the thread has not left a CPU since the recording began */
	WAIT_RUNS, /* it runs, or waits only for a CPU, and is not chosen */
	WAIT_LEFT, /* it waits since the time in the slot */
	WAIT_CHOSEN, /* it was woken after the length in the slot; 0: the length is not known */
};

static __always_inline __u64 wait_slot_word(enum wait_slot_state state, __u32 tid, __u64 number)
{
	return number | (__u64)state << WAIT_STATE_SHIFT |
	       (__u64)(tid >> WAIT_SLOT_BITS) << WAIT_TAG_SHIFT;
}

static __always_inline enum wait_slot_state wait_slot_state(__u64 slot)
{
	return slot >> WAIT_STATE_SHIFT & 3;
}

static __always_inline bool wait_slot_is_of(__u64 slot, __u32 tid)
{
	return (slot & WAIT_TAG_MASK) == (__u64)(tid >> WAIT_SLOT_BITS) << WAIT_TAG_SHIFT;
}

#endif
