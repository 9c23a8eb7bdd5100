/* SPDX-License-Identifier: Apache-2.0 */
/* Show the account of all due samples as a sum that a reader can check. */
#ifndef SKEIN_CMD_ACCOUNT_TEXT_H
#define SKEIN_CMD_ACCOUNT_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The terms of the sum, in samples. */
struct account_terms {
	uint64_t due, written, idle, filtered;
	/* due while the host of a virtual machine had the CPU; no thread's samples */
	uint64_t stolen;
	uint64_t lost;
	/*
	 * Parts of a period at the start or end of a recording, or where a CPU goes online or
	 * offline: at most one sample per CPU and interval.
	 */
	uint64_t cut_off;
	/* the rest; 0 unless the recorder was killed or the trace is damaged */
	int64_t unexplained;
};

/*
 * Write the sum into buf and return buf: "1,980 samples due = 1,975 written + 4 lost + 1 cut
 * off"; terms that are 0 are left out.
 */
char *account_show(const struct account_terms *t, char *buf, size_t size);

/*
 * Write by how much losses may have changed shares, such as "0.2 % are lost: no share is off by
 * more", into buf and return buf; "" without losses. The threads that lost samples belong to are
 * unknown, so the bound assumes that all are of one function.
 */
char *account_show_error(const struct account_terms *t, char *buf, size_t size);

#endif
