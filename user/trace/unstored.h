/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Account for the records of a transaction that may fail: the number of records put since the last
 * commit (of samples per event and CPU), and copies of the few rows that describe the recording and
 * its losses. When there is no room for the transaction, its records are counted as not stored, and
 * these rows are written on their own.
 */
#ifndef SKEIN_TRACE_UNSTORED_H
#define SKEIN_TRACE_UNSTORED_H

#include <stdbool.h>

#include "base/record.h"
#include "base/vector.h"

/* A copy of a record and its texts, in one allocation. */
struct unstored_row {
	enum record_kind kind;
	void *record;
};

/* Numbers of records: put since the last commit, and lost in transactions that were given up. */
struct unstored_count {
	uint64_t put, lost;
};

struct unstored {
	VECTOR(struct unstored_count) samples; /* by sample_place() */
	VECTOR(uint64_t) touched; /* the places that changed since the last commit */
	struct unstored_count records[KIND_COUNT];
	VECTOR(struct unstored_row) rows; /* rows put since the last commit */
};

/* Count a record that is put, and copy a row that is to be kept. Return 0 or -ENOMEM. */
int unstored_put(struct unstored *u, enum record_kind kind, const void *record);
/* Call this after a commit: the records put so far are stored. */
void unstored_committed(struct unstored *u);
/* Call this when the transaction was given up: its records are lost, its rows are kept. */
void unstored_given_up(struct unstored *u);
/*
 * Return how many records are lost: for samples those of one sample_place(), for other streams
 * (which ignore place) all of them.
 */
uint64_t unstored_count(const struct unstored *u, enum record_kind kind, uint64_t place);
void unstored_free(struct unstored *u);

#endif
