/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what probes.c and probes_attach.c share. */
#ifndef SKEIN_CAPTURE_PROBES_PRIVATE_H
#define SKEIN_CAPTURE_PROBES_PRIVATE_H

#include "base/vector.h"
#include "capture/probes.h"

#define ATTACH_UPROBE_MULTI 48 /* BPF_TRACE_UPROBE_MULTI: include/uapi/linux/bpf.h of Linux 6.6 */

/* An attachment of one or more sites of a file. */
struct probe_link {
	struct file_id file;
	int fd; /* the link; -1: closed */
	int event; /* the perf event of a site that is attached alone; -1: none */
};

typedef VECTOR(struct probe_link) probe_link_list;

/* The sites of one file that are to be attached together. */
struct probe_batch {
	int fd; /* the file */
	const struct file_id *file;
	unsigned int count;
	uint64_t offsets[PROBE_SITES_MAX];
	uint64_t semaphores[PROBE_SITES_MAX];
	uint64_t cookies[PROBE_SITES_MAX];
	int errors[PROBE_SITES_MAX]; /* 0: attached */
};

/*
 * probes_attach.c: return whether a program can be attached to many sites at once. program: of the
 * type for that.
 */
bool probe_links_many(int program);
/*
 * Attach a program to all sites of a batch: at once, or, if many is false or that fails, one by
 * one. Sets errors. Return 0 or -ENOMEM.
 */
int probe_links_attach(probe_link_list *links, int program, bool many, struct probe_batch *b);
/* Detach the sites of a file; NULL: of all files. */
void probe_links_detach(probe_link_list *links, const struct file_id *file);

/*
 * Detach all sites beside the caller, since the kernel takes long: on threads, for which
 * probe_detacher_join() waits; those that were attached one by one (many is false) by a process
 * that may outlive this one. Return NULL without memory: nothing has begun.
 */
struct probe_detacher;
struct probe_detacher *probe_detacher_start(probe_link_list *links, bool many);
void probe_detacher_join(struct probe_detacher *d);

#endif
