// SPDX-License-Identifier: Apache-2.0
/* Name who ended a wait. */
#include "export/wait_end.h"

#include <inttypes.h>
#include <stdio.h>

char *wait_ended_by(const struct timeline *t, uint64_t other, uint64_t flags, char *buf)
{
	uint32_t thread = other ? index_get(&t->thread_of, other) : INDEX_NONE;
	struct timeline_identity by;

	*buf = '\0';
	if (thread != INDEX_NONE) {
		by = timeline_identity(t, thread);
		snprintf(buf, WAIT_END_SIZE, "%.64s (%" PRIu64 ")", by.comm, by.tid);
	}
	for (unsigned int kind = INTERRUPT_TIMER; kind < INTERRUPT_COUNT && !other; kind++)
		if (flags & (uint64_t)SAMPLE_FLAG_BY_TIMER << (kind - INTERRUPT_TIMER))
			snprintf(buf, WAIT_END_SIZE, "interrupt: %s", interrupt_word(kind));
	return buf;
}
