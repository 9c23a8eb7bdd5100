/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Format the account of all due samples as a sum that a reader can check. A sample is due whenever
 * the event has counted one period on a CPU.
 */
#ifndef SKEIN_CMD_ACCOUNT_TEXT_H
#define SKEIN_CMD_ACCOUNT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The terms of the sum, in samples. */
struct account_terms {
	uint64_t due, written, idle, filtered;
	/* due while the host of a virtual machine had the CPU, so that no thread ran */
	uint64_t stolen;
	uint64_t lost; /* due samples that were lost for any other reason */
	/*
	 * Parts of a period at the start or end of a recording, or where a CPU goes online or
	 * offline: at most one sample for each time that the event ran on a CPU.
	 */
	uint64_t cut_off;
	/*
	 * due minus the other terms; 0 if they explain it (struct losses), negative if more samples
	 * were recorded than were due
	 */
	int64_t unexplained;
};

/* Return the number of samples due while a thread ran, of which losses are a share. */
uint64_t account_running(const struct account_terms *t);

/* Return whether so many lost samples are 1 % or more, so that a reader must know. */
bool account_loss_matters(const struct account_terms *t, uint64_t lost);

/*
 * Write the sum into buf and return buf: "1,980 samples due = 1,975 written + 4 lost + 1 cut
 * off". The terms written and lost always appear, the others only if they are not 0.
 */
char *account_show(const struct account_terms *t, char *buf, size_t size);

/*
 * Write into buf by how much the lost samples may have changed the share of a function or thread,
 * and return buf: "0.2 % of the samples are lost: no share is off by more", or "" if none are lost.
 * It is not known which threads the lost samples belong to, so the bound holds even if all of them
 * belong to one function.
 */
char *account_show_error(const struct account_terms *t, char *buf, size_t size);

#endif
