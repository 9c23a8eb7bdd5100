/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes side-band records about the life of processes: mappings, names, forks, exits, and kernel
 * symbols.
 */
#ifndef SKEIN_CAPTURE_LIFE_H
#define SKEIN_CAPTURE_LIFE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "capture/opener.h"

/* The end of every record, because perf_event_attr.sample_id_all is set. */
struct life_trailer {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
};

/* A decoded record. Texts point into the record. */
enum life_kind { LIFE_MMAP, LIFE_COMM, LIFE_FORK, LIFE_EXIT, LIFE_KSYMBOL, LIFE_OTHER };

struct life_record {
	enum life_kind kind;
	uint32_t pid, tid;
	uint32_t parent_pid, parent_tid; /* fork, exit */
	uint64_t start, end, offset; /* mmap; ksymbol: start and end */
	struct file_id file;
	int exec; /* comm: the name belongs to a new program */
	int unregistered; /* ksymbol: the symbol was removed */
	const char *text; /* path, name or symbol */
};

/*
 * Return whether the record is about a process of the recorder's pid namespace: the pid is 0 for
 * processes outside of it, UINT32_MAX for those that are ending, and for mappings of the kernel.
 */
static inline bool life_has_process(const struct life_record *l)
{
	return l->pid && l->pid != UINT32_MAX;
}

/*
 * Get the time at which a record was written, in ns of the event's clock. Return 0, or -EBADMSG if
 * the record is too short. The time is in the trailer at the record's end, except in records of
 * kernel symbols: for each further event that gets the same record, Linux adds the size of the
 * trailer to the record's size again, so old contents of the ring follow the trailer.
 */
int life_time(uint64_t *out, const struct perf_event_header *h);

/* Decode a record. Return 0, or -EBADMSG if it is malformed. */
int life_decode(struct life_record *out, const void *data, uint32_t size);

#endif
