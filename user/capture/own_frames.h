/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the frames at the inner end of a kernel stack that skein itself has added: its BPF program
 * and what called it.
 */
#ifndef SKEIN_CAPTURE_OWN_FRAMES_H
#define SKEIN_CAPTURE_OWN_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#define OWN_PROGRAMS_MAX 4
#define OWN_CALLERS 2

struct code_range {
	uint64_t start, end;
};

struct own_frames {
	struct code_range programs[OWN_PROGRAMS_MAX]; /* code of the programs that take stacks */
	unsigned int count;
	/*
	 * Functions that call the programs of a tracepoint in turn. The kernel leaves them out
	 * where there is only one program, so frames of them depend on what else uses the
	 * tracepoint.
	 */
	struct code_range callers[OWN_CALLERS];
	struct code_range
		interrupted; /* function that a requested interrupt interrupts; may be 0 */
};

/*
 * Find the code of programs, by their descriptors; interrupts: also the function at whose end the
 * kernel lets interrupts in after a switch. What the kernel does not show (CAP_SYSLOG is missing)
 * is left out: the frames then stay, without names.
 */
void own_frames_find(struct own_frames *out, const int *fds, unsigned int count, bool interrupts);

/*
 * Return how many of the frames, leaf first, are skein's own. wait: the stack is that of a thread
 * that has waited.
 */
unsigned int own_frames_count(const struct own_frames *o, const uint64_t *frames,
			      unsigned int count, bool wait);

#endif
