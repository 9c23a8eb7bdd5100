/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a transaction would take with it: how many records were put since the last commit, of
 * samples CPU by CPU, and copies of the few rows that describe the recording and its losses.
 * When there is no room for the transaction, the records are counted as not stored, and the rows
 * are written by themselves.
 */
#ifndef SKEIN_TRACE_UNSTORED_H
#define SKEIN_TRACE_UNSTORED_H

#include <stdbool.h>

#include "base/record.h"
#include "base/vector.h"

#define UNSTORED_CPUS 4096 /* those with higher numbers are counted as one */

/* A copy of a record, with its texts, in one block. */
struct unstored_row {
	enum record_kind kind;
	void *record;
};

/* Records put since the last commit, and those of transactions that were given up. */
struct unstored_count {
	uint64_t put, lost;
};

struct unstored {
	VECTOR(struct unstored_count) samples; /* by CPU */
	struct unstored_count records[KIND_COUNT];
	VECTOR(struct unstored_row) rows; /* since the last commit */
};

/* Any record that is put. 0 or -ENOMEM. */
int unstored_put(struct unstored *u, enum record_kind kind, const void *record);
/* A commit: nothing of what was put so far can be lost any more. */
void unstored_committed(struct unstored *u);
/* The transaction was given up: its records are lost, its rows stay. */
void unstored_given_up(struct unstored *u);
/* How many records are lost: of samples those of a CPU, of other streams (cpu is ignored) all. */
uint64_t unstored_count(const struct unstored *u, enum record_kind kind, uint64_t cpu);
void unstored_free(struct unstored *u);

#endif
