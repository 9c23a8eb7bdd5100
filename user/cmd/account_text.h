/* SPDX-License-Identifier: Apache-2.0 */
/* What became of every sample that was due, as a sum that a reader can check. */
#ifndef SKEIN_CMD_ACCOUNT_TEXT_H
#define SKEIN_CMD_ACCOUNT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The terms of the sum, in samples. */
struct account_terms {
	uint64_t due, written, idle, filtered;
	uint64_t stolen; /* time that the host of a virtual machine took: nobody's samples */
	uint64_t lost;
	/*
	 * Parts of a period where a recording starts and ends, or a CPU comes and goes: at most one
	 * sample per CPU and interval.
	 */
	uint64_t cut_off;
	int64_t unexplained; /* what is left; 0 unless the recorder was killed or a trace is damaged */
};

/* "1,980 samples due = 1,975 written + 4 lost + 1 cut off"; terms that are 0 are left out. */
char *account_show(const struct account_terms *t, char *buf, size_t size);

/*
 * By how much losses may have moved shares: "0.2 % are lost: no share is off by more". "" without
 * losses. Whose samples they were is not known, so the worst case is that all were of one function.
 */
char *account_show_error(const struct account_terms *t, char *buf, size_t size);

#endif
