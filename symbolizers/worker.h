/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The worker process, which has no privileges, since it parses hostile input: files, and the memory
 * of profiled processes.
 */
#ifndef SKEIN_SYMBOLIZERS_WORKER_H
#define SKEIN_SYMBOLIZERS_WORKER_H

#include <stdint.h>

struct probe_pattern;

/*
 * Number of descriptors that the worker may have in addition to the files that it keeps open to
 * read objects again.
 */
#define WORKER_FILES_SPARE 16

enum worker_kind {
	WORKER_NAMES, /* reads symbols, unwind tables and interpreters */
	WORKER_MEMORY, /* the same, for the memory of processes */
	WORKER_PAGES, /* the same, for a client that requests only pages of unwind tables */
	WORKER_SOURCES, /* reads lines and inlined functions */
};

struct worker_options {
	enum worker_kind kind;
	unsigned int files_max; /* the most files to keep open */
	/*
	 * bytes that a worker of sources may use; of another worker, bytes that it keeps of symbol
	 * tables, and of names from the memory of processes, 0: as many as for a recording
	 */
	uint64_t memory;
	/* the user's probes; the child that is forked has a copy of them */
	const struct probe_pattern *patterns;
	unsigned int pattern_count;
};

/*
 * Run the worker: confine the process and reply to requests on socket until the other end is
 * closed, then exit. Call this in a freshly forked child; parent is the pid of its parent. The
 * process exits with 1 if it cannot be confined, runs out of memory, or cannot send a reply.
 */
void worker_main(int socket, int parent, const struct worker_options *options)
	__attribute__((noreturn));

#endif
