/* SPDX-License-Identifier: Apache-2.0 */
/* The .skein file: a writer (sink) and a reader (source). Format: docs/trace-format.md. */
#ifndef SKEIN_TRACE_TRACE_H
#define SKEIN_TRACE_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/pipe.h"

/*
 * A sink that writes a trace under its final name; a file of that name becomes
 * NAME.old. One transaction per tick. When the disk is full, what was
 * committed stays readable and the error says so. Ids of stacks must grow from
 * one to the next. Sums are not wanted: readers make them from samples. A writer
 * that is freed before anything was committed leaves no file, and NAME as it was.
 */
int trace_writer(struct sink **ret, const char *path, struct error *err);

struct trace_stats {
	uint64_t file_bytes;
	uint64_t chunk_bytes; /* of all streams, compressed */
	uint64_t records;     /* of all streams */
	bool full;	      /* one more transaction may exceed trace_writer_limit() */
};

/*
 * These are only for a sink of trace_writer(). Before anything is put into it: keep what is not
 * older than time (ns) at each tick; or say trace_stats.full when the file comes near so many
 * bytes.
 */
int trace_writer_keep(struct sink *s, uint64_t time, struct error *err);
void trace_writer_limit(struct sink *s, uint64_t bytes);

/*
 * For a recorder, before anything is put: take room for the end of the trace from the disk (and
 * from RLIMIT_FSIZE), so that a trace that runs out of it ends as one that tells so. From then on
 * put() and tick() succeed and store nothing, the records are counted (sink_ops.unstored), and
 * finish() writes how the recording ended (host, accounts, losses, TRACE_ENDED), and fails with
 * what was lacking: -ENOSPC, -EDQUOT or -EFBIG. host.end is then the end of what is stored.
 */
int trace_writer_reserve(struct sink *s, struct error *err);
/* Whether it has run out of room: nothing that is put from now on will be stored. */
bool trace_writer_is_short(const struct sink *s);

/* Keys of info, of a recording that ended for want of room: why, and when sampling ended, ns. */
#define TRACE_ENDED "trace.ended"
#define TRACE_ENDED_AT "trace.ended_at"

/*
 * What was put so far, as another trace beside this one, that ended now (ns): of NAME.skein,
 * NAME-MARK.skein, which must not exist. Its path goes to *ret and the caller.
 */
int trace_writer_copy(struct sink *s, const char *mark, uint64_t now, char **ret,
		      struct error *err);

/* What was written so far. */
void trace_writer_stats(const struct sink *s, struct trace_stats *ret);

/* A trace opened for reading. */
struct trace;

/*
 * Open defensively: an older skein's trace is read, a newer or foreign file
 * refused by name, a damaged one opened as far as it goes. A trace whose
 * recorder was killed while it committed is rolled back to its last
 * transaction first.
 */
int trace_open(struct trace **ret, const char *path, struct error *err);
void trace_close(struct trace *t);

/*
 * The trace as a source. It delivers the kinds in order of RECORD_KINDS, slices and edges
 * together, in the order of their times (see timeline.h).
 * Damaged chunks are left out and put as losses (UNREADABLE_CHUNK). Sums are
 * made from the samples, one key in several parts when there are many. The
 * trace must outlive the source.
 */
int trace_source(struct source **ret, struct trace *t, struct error *err);

/* About how many records its sources have left out so far, because they are damaged. */
uint64_t trace_left_out(const struct trace *t);

/* How many of a kind there are; of sums, how many keys. */
int trace_count(struct trace *t, enum record_kind kind, uint64_t *ret, struct error *err);

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

/*
 * Run one or more read-only SQL statements and print their rows; streams are
 * seen as tables. Cleaned for terminals unless JSON or CSV.
 */
int trace_query(struct trace *t, const char *sql, enum query_format format, FILE *out,
		struct error *err);

/* What can be asked: every table with its columns in words, and examples. */
void trace_describe(FILE *out);

#endif
