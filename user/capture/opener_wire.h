/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages between the recorder and its opener, over a SOCK_SEQPACKET pair. Both ends are the
 * same program, so the public structs are sent as they are; their texts follow them, each ended by
 * NUL, and the receiver sets the pointers.
 */
#ifndef SKEIN_CAPTURE_OPENER_WIRE_H
#define SKEIN_CAPTURE_OPENER_WIRE_H

#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#include "capture/opener.h"

/* Size of the largest packet, in bytes. */
#define OPENER_MESSAGE_MAX 32768
#define OPENER_BUILD_ID_MAX 128
#define OPENER_NAME_MAX 255
#define OPENER_AVOIDED_MAX 16

enum opener_request_kind { OPENER_REQUEST_OPEN = 1, OPENER_REQUEST_SCAN, OPENER_REQUEST_SCAN_ALL };

struct opener_request {
	uint32_t kind;
	uint32_t pid; /* OPENER_REQUEST_SCAN: the process; OPENER_REQUEST_SCAN_ALL: only pids above
			 this one */
	struct open_request open; /* texts: path, build_id, debuglink */
	bool anywhere; /* also open files of file systems that are not local; else reply -EREMOTE */
	/*
	 * OPENER_REQUEST_SCAN_ALL: uids whose mappings are left out, ended by a 0; root's mappings
	 * are never left out
	 */
	uint32_t avoided[OPENER_AVOIDED_MAX];
	char texts[];
};

enum opener_reply_kind {
	OPENER_REPLY_OPENED = 1, /* alone in its packet, with the descriptor if there is one */
	OPENER_REPLY_BEGIN, /* the scan of all processes starts on the process pid */
	OPENER_REPLY_PROCESS, /* texts: comm, exe */
	OPENER_REPLY_THREAD, /* text: comm */
	OPENER_REPLY_MAPPING, /* text: path */
	OPENER_REPLY_END, /* the scan of the process pid has ended */
	OPENER_REPLY_DONE, /* the scan of all processes has ended */
};

/* A packet holds any number of these records, one after the other. */
struct opener_reply {
	uint32_t size; /* bytes including the texts, a multiple of 8 */
	uint8_t kind;
	bool all; /* the record is part of the scan of all processes */
	bool complete; /* OPENER_REPLY_END: the process was reported completely */
	union {
		/* opened.fd: 0 if a descriptor comes with the packet, or a negative errno */
		struct open_reply opened;
		struct scanned_process process;
		struct scanned_thread thread;
		struct scanned_mapping mapping;
		uint32_t pid;
	};
	char texts[];
};

/*
 * Return the next text in [*at, end) and move *at past its NUL; NULL if no text with a NUL is left.
 */
static inline const char *opener_text(const char **at, const char *end)
{
	const char *text = *at;
	size_t length = strnlen(text, (size_t)(end - text));

	if (length == (size_t)(end - text))
		return NULL;
	*at = text + length + 1;
	return text;
}

/* Run the opener in the child; never returns. */
_Noreturn void opener_child(int socket, pid_t parent);

/*
 * opener_confine.c: give up what only the recorder needs: the recorder's user, the memory shared
 * with it, most capabilities, and every system call that is not on a list. parent: the process that
 * started this one; this process dies with it. Only socket may be used to communicate. Return 0 or
 * a negative errno.
 */
int opener_confine(int socket, pid_t parent);

/*
 * opener_walk.c: open (O_PATH) the target of a path with root as "/". links: follow symbolic links,
 * except those of /proc. A link that is not followed is -ELOOP, as are too many links. Return a
 * descriptor or a negative errno.
 */
int opener_walk(int root, const char *path, bool links);

/*
 * opener_mounts.c: return whether the file system of a device is local, so that the kernel itself
 * serves it and no request to it hangs. The device is looked up in the mounts of process pid, then
 * in the opener's own. Results are cached in m for 10 s.
 */
#define OPENER_MOUNTS_KNOWN 64

struct opener_mount {
	uint64_t device;
	int64_t until; /* s of CLOCK_MONOTONIC */
	bool local;
};

struct opener_mounts {
	uint64_t shared_memory; /* device of anonymous shared memory, which is mounted nowhere */
	struct opener_mount known[OPENER_MOUNTS_KNOWN];
};

void opener_mounts_init(struct opener_mounts *m);
bool opener_is_local(struct opener_mounts *m, uint32_t pid, uint32_t major, uint32_t minor);

/* Open the file of a request. Return a descriptor or a negative errno. */
int opener_open_mapped(const struct open_request *r);
int opener_open_perf_map(const struct open_request *r);
int opener_open_memory(const struct open_request *r);
int opener_open_named(const struct open_request *r);
/*
 * Open the candidates for a debug file, most likely first, and store their descriptors in fds.
 * Return their number.
 */
unsigned int opener_open_debug(const struct open_request *r, int fds[OPENER_DEBUG_MAX]);

#endif
