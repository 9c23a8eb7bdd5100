/* SPDX-License-Identifier: Apache-2.0 */
/* The .skein file: a writer (sink) and a reader (source). Format: docs/trace-format.md. */
#ifndef SKEIN_TRACE_TRACE_H
#define SKEIN_TRACE_TRACE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/pipe.h"

/*
 * Make a sink that writes a trace under its final name; an existing file of that name becomes
 * NAME.old. Each tick commits a transaction; many records between two ticks are committed earlier.
 * When the disk is full, the committed part stays readable and the error reports the cause. Ids of
 * stacks must grow from record to record. The sink does not want sums: readers compute them from
 * the samples. Freeing a writer that has committed nothing and was not finished removes the new
 * file, and renames NAME.old back to NAME.
 */
int trace_writer(struct sink **out, const char *path, struct error *err);

struct trace_stats {
	uint64_t file_bytes;
	uint64_t chunk_bytes; /* bytes of the chunks of all streams, compressed */
	uint64_t records; /* number of records of all streams */
	/* one more transaction as large as the last may exceed trace_writer_limit(); stays set */
	bool full;
};

/*
 * For a sink of trace_writer() only, before any record is put. trace_writer_retain(): keep about
 * the last time ns of the recording, by deleting older records at each tick. trace_writer_limit():
 * set trace_stats.full when the size of the file comes close to that many bytes.
 */
int trace_writer_retain(struct sink *s, uint64_t time, struct error *err);
void trace_writer_limit(struct sink *s, uint64_t bytes);
/*
 * After trace_writer_retain(): keep less than that time while the kept part takes more than so many
 * bytes. The file may be larger by what is put in a few ticks.
 */
void trace_writer_retain_at_most(struct sink *s, uint64_t bytes);
/* Return the start of the part that is kept, ns; 0: nothing was deleted so far. */
uint64_t trace_writer_kept_start(const struct sink *s);

/*
 * For a recorder, before any record is put: reserve disk space (also within RLIMIT_FSIZE) for the
 * end of the trace, so that a trace that runs out of space still records that it did. When the
 * space has run out, put() and tick() succeed and store nothing, the records are counted
 * (sink_ops.unstored), and finish() writes how the recording ended (host, infos, events, accounts,
 * losses, TRACE_ENDED) and fails with the cause: -ENOSPC, -EDQUOT or -EFBIG. host.end is then the
 * end of the stored part.
 */
int trace_writer_reserve(struct sink *s, struct error *err);
/*
 * For a sink of trace_writer() only: samples of waits that have not ended (SAMPLE_FLAG_NOT_ENDED)
 * go into the next copy of trace_writer_copy(), or into the trace when its host has ended.
 */
void trace_writer_hold_open_waits(struct sink *s);
/* Return whether the writer has run out of space: no record put from now on is stored. */
bool trace_writer_is_short(const struct sink *s);

/*
 * Keys of info rows in a recording that ended because space ran out: the reason, and the time when
 * sampling ended, ns.
 */
#define TRACE_ENDED "trace.ended"
#define TRACE_ENDED_AT "trace.ended_at"

/*
 * Commit all records put so far, and copy the file NAME.skein to NAME-MARK.skein in the same
 * folder, which must not exist. The copy is a trace that ended at now (ns). *out becomes the path
 * of the copy, which the caller frees.
 */
int trace_writer_copy(struct sink *s, const char *mark, uint64_t now, char **out,
		      struct error *err);

struct frozen_trace;
/*
 * Commit all records put so far, and leave the file as it is until trace_writer_thaw(), so that
 * another thread can copy it meanwhile (copy.h): a trace that ended at now (ns). Records can be
 * put, and take memory until they can be committed, but there must be no tick. *out is for
 * frozen_trace_free() on success only.
 */
int trace_writer_freeze(struct sink *s, uint64_t now, struct frozen_trace *out, struct error *err);
void trace_writer_thaw(struct sink *s);

/* Set *out to the sizes written so far, and the number of records put so far. */
void trace_writer_stats(const struct sink *s, struct trace_stats *out);

/* A trace opened for reading. */
struct trace;

/*
 * Open a trace that may be hostile. A trace of an older skein is accepted; a trace of a newer skein
 * and a file of another program are refused, with an error that says which; a damaged trace is
 * accepted if its list of tables can be read. A trace whose recorder was killed during a commit is
 * first rolled back to the commit before.
 */
int trace_open(struct trace **out, const char *path, struct error *err);
/*
 * Open the trace that a descriptor is, which must stay open as long as the trace, for a process
 * that may open no files. Nobody may be writing to it, and nothing is rolled back. name: for
 * messages.
 */
int trace_open_fd(struct trace **out, int fd, const char *name, struct error *err);
void trace_close(struct trace *t);

/*
 * Find when the recording began, and the last time that is in the trace, by its records and by its
 * accounts, which idle CPUs have, too: for the trace of a recorder that was killed. ns. Return 0 or
 * a negative errno.
 */
int trace_times(struct trace *t, uint64_t *start, uint64_t *last, struct error *err);

/*
 * Make a source that reads the trace. It delivers the kinds in the order of RECORD_KINDS, but
 * slices and edges together, in the order of their times (see trace_timeline.h). Rows and chunks
 * that damage makes unreadable are left out and put as losses (UNREADABLE_CHUNK), even to a sink
 * that does not want losses. Sums are computed from the samples; with many keys, one key may come
 * several times, and the sink must add its parts up. The trace must outlive the source.
 */
int trace_source(struct source **out, struct trace *t, struct error *err);

/*
 * Return about how many records the sources and windows of this trace have left out so far because
 * of damage; 0 only if none.
 */
uint64_t trace_left_out(const struct trace *t);

/*
 * Count the records of a kind; for sums, the distinct keys. *out is 0 if the trace lacks the table.
 * Return 0 or a negative errno.
 */
int trace_count(struct trace *t, enum record_kind kind, uint64_t *out, struct error *err);

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_TSV, QUERY_JSON };

/*
 * Run one or more read-only SQL statements and print their rows; streams appear as tables. Text is
 * cleaned for terminals unless the format is JSON, CSV or TSV. Return 0 or a negative errno: -EPERM
 * if a statement would write, -EBADMSG if rows are missing because of damage.
 */
int trace_query(struct trace *t, const char *sql, enum query_format format, FILE *out,
		struct error *err);

/* Print every table with its columns and a description, and example queries. */
void trace_describe(FILE *out);

#endif
