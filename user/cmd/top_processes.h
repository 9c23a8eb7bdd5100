/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc says of the processes in a window of `skein top`: their memory, and how they were
 * called. The texts come from the processes and are not cleaned.
 */
#ifndef SKEIN_CMD_TOP_PROCESSES_H
#define SKEIN_CMD_TOP_PROCESSES_H

#include "analyze/index.h"
#include "analyze/profile.h"
#include "base/vector.h"

#define TOP_RESIDENT_UNKNOWN UINT64_MAX

struct top_process {
	/* bytes in RAM; TOP_RESIDENT_UNKNOWN if the process has ended, or is one of too many */
	uint64_t resident;
	/*
	 * The file name of the program, and its arguments: "python3 serve.py". Kept after the end
	 * of the process. NULL: not known.
	 */
	char *command;
	bool read; /* in this window */
};

/* Zeroed memory has none. */
struct top_processes {
	VECTOR(struct top_process) list;
	struct index by_id; /* process.id -> index in list */
	unsigned int reads; /* processes that were read in this window */
};

/* Begin a new window with the processes of p, each of which is read again. Return 0 or -ENOMEM. */
int top_processes_begin(struct top_processes *t, const struct profile *p);
/* Return what is known of a process, valid until the next call of top_processes_begin(). */
const struct top_process *top_processes_get(struct top_processes *t, const struct process *p);
void top_processes_free(struct top_processes *t);

#endif
