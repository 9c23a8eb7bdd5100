/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the two sides of the opener say to each other, over a SOCK_SEQPACKET
 * pair. Both are the same program, so the public structs travel as they are;
 * their texts follow them, each ended by NUL, and the receiver points to them.
 */
#ifndef SKEIN_CAPTURE_OPENER_WIRE_H
#define SKEIN_CAPTURE_OPENER_WIRE_H

#include <stddef.h>
#include <string.h>
#include <sys/types.h>

#include "capture/opener.h"

/* The kernel splits longer packets of a SOCK_SEQPACKET socket (32 KiB plus a head). */
#define OPENER_MESSAGE_MAX 32768
#define OPENER_BUILD_ID_MAX 128
#define OPENER_NAME_MAX 255
#define OPENER_CGROUP_MAX 16384
#define OPENER_AVOIDED_MAX 16

enum opener_ask_kind { ASK_OPEN = 1, ASK_SCAN, ASK_SCAN_ALL };

struct opener_ask {
	uint32_t kind;
	uint32_t pid;		  /* ASK_SCAN: whom; ASK_SCAN_ALL: those behind this one */
	struct open_request open; /* texts: path, build_id, debuglink */
	bool anywhere;		  /* also where file systems may not answer; else -EREMOTE */
	/* ASK_SCAN_ALL: users whose mappings are left out, up to the first 0: root's never are */
	uint32_t avoided[OPENER_AVOIDED_MAX];
	char texts[];
};

enum opener_tell_kind {
	TELL_OPENED = 1, /* alone in its packet, with the descriptor if it has one */
	TELL_BEGIN,	 /* the scan of all begins with this process */
	TELL_PROCESS,	 /* texts: comm, exe, cgroup */
	TELL_THREAD,	 /* text: comm */
	TELL_MAPPING,	 /* text: path */
	TELL_END,	 /* of a process */
	TELL_DONE,	 /* of the scan of all */
};

/* A packet holds any number of these, one behind the other. */
struct opener_tell {
	uint32_t size; /* bytes with the texts, a multiple of 8 */
	uint8_t kind;
	bool all;      /* belongs to the scan of all */
	bool complete; /* TELL_END: the process was told of to its end */
	union {
		struct open_answer opened; /* fd: 0 if one comes along, or a negative errno */
		struct scanned_process process;
		struct scanned_thread thread;
		struct scanned_mapping mapping;
		uint32_t pid;
	};
	char texts[];
};

/* The next of the texts in [*at, end), or NULL if there is none. */
static inline const char *opener_text(const char **at, const char *end)
{
	const char *text = *at;
	size_t length = strnlen(text, (size_t)(end - text));

	if (length == (size_t)(end - text))
		return NULL;
	*at = text + length + 1;
	return text;
}

/* The child's side; never returns. */
_Noreturn void opener_child(int socket, pid_t parent);

/*
 * opener_confine.c: give up what only the recorder needs: its user, memory shared with it, most
 * capabilities, and every call that is not in a list. parent: who started this process, with which
 * it dies; it talks to the other end of socket only. 0 or a negative errno.
 */
int opener_confine(int socket, pid_t parent);

/*
 * opener_walk.c: open (O_PATH) what a path leads to whose "/" is root. links: follow symbolic links,
 * but none of /proc; else they are -ELOOP, as too many are. A descriptor or a negative errno.
 */
int opener_walk(int root, const char *path, bool links);

/*
 * opener_mounts.c: does the file system of a device answer by itself, as far as the process sees
 * it (0: we ourselves)?
 */
#define OPENER_MOUNTS_KNOWN 64

struct opener_mount {
	uint64_t device;
	int64_t until; /* s */
	bool local;
};

struct opener_mounts {
	uint64_t shared_memory; /* its device, which is mounted nowhere */
	struct opener_mount known[OPENER_MOUNTS_KNOWN];
};

void opener_mounts_begin(struct opener_mounts *m);
bool opener_is_local(struct opener_mounts *m, uint32_t pid, uint32_t major, uint32_t minor);

/* Open what the request asks for: a descriptor or a negative errno. */
int opener_open_mapped(const struct open_request *r);
int opener_open_perf_map(const struct open_request *r);
int opener_open_memory(const struct open_request *r);
/* Open what may be the debug file, likeliest first: how many descriptors were put in fds. */
unsigned int opener_open_debug(const struct open_request *r, int fds[OPENER_DEBUG_MAX]);

#endif
