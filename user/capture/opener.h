/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opener: a child process with what it needs of the recorder's capabilities that touches
 * what a profiled process can make slow or hostile: it reads /proc and opens
 * the files of profiled processes. FUSE, a stuck network file system or a
 * held mmap lock can hang it; it is then killed and started anew, and the
 * recorder itself never waits.
 *
 * Requests are queued; answers arrive through opener_poll(), in the order asked
 * except that a scan of all is done between other requests. What cannot be
 * answered is answered with an error: nothing is left open.
 */
#ifndef SKEIN_CAPTURE_OPENER_H
#define SKEIN_CAPTURE_OPENER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* A file as the kernel names it in mmap events and in /proc/PID/maps. */
struct file_id {
	uint32_t major, minor;
	uint64_t inode;
	uint64_t generation; /* 0: not known (from /proc) */
};

enum open_what {
	OPEN_MAPPED_FILE, /* the file behind [start, end) of a process, known as path and id */
	OPEN_PERF_MAP,	  /* /tmp/perf-NSPID.map of a process, through its root */
	OPEN_DEBUG,	  /* a separate debug file, by build-id or debuglink */
	OPEN_MEMORY,	  /* /proc/PID/mem, for reading: its own memory, whatever it executes later */
	OPEN_COMMON,	  /* what dwz took out of debug files: debuglink is its path below .dwz */
};

#define OPENER_PATH_MAX 4096
#define OPENER_DEBUG_MAX 4 /* candidates for a debug file */

struct open_request {
	uint64_t token; /* chosen by the caller, handed back */
	enum open_what what;
	uint32_t pid; /* whose */
	/* With pid, who: ns of CLOCK_BOOTTIME, compared at the 10 ms of /proc; 0: whoever has pid. */
	uint64_t born;
	/* Processes to try the same path through, such as the parent; 0 ends. */
	uint32_t fallback_pids[4];
	uint64_t start, end; /* mapping */
	struct file_id id; /* inode 0: not known, the process's own maps must tell */
	/*
	 * When the mapping was there: ns, CLOCK_BOOTTIME; 0: at the time of the
	 * call. A file made later is another one with a used inode number.
	 */
	uint64_t seen;
	const char *path; /* of the mapping as its process sees it */
	const char *build_id; /* OPEN_DEBUG, OPEN_COMMON: lowercase hex */
	const char *debuglink; /* the same: file name */
};

struct open_answer {
	uint64_t token;
	int fd; /* owned by the receiver; negative errno if it could not be opened */
	uint64_t device, inode, size; /* of fstat */
	int64_t mtime_ns, ctime_ns;
	bool more; /* OPEN_DEBUG, OPEN_COMMON: further candidates follow */
	bool suspicious; /* what is read of it may hang its reader: a program answers, or a net */
};

/* What a scan of /proc tells of one process. Texts are valid during the callback. */
struct scanned_process {
	uint32_t pid, parent, ns_pid;
	uint64_t born; /* ns of CLOCK_BOOTTIME, from the clock ticks of /proc/PID/stat */
	bool kernel_thread;
	const char *comm;
	const char *exe;    /* as readlink gives it; "" if unreadable */
	const char *cgroup; /* whole text of /proc/PID/cgroup */
};

struct scanned_thread {
	uint32_t pid, tid;
	const char *comm;
};

struct scanned_mapping {
	uint32_t pid;
	uint64_t start, end, offset;
	struct file_id id;
	const char *path;
};

/* None may be NULL. They may ask for more, but not free the opener. */
struct opener_events {
	void (*opened)(void *context, const struct open_answer *a);
	/* one process: the process, then its threads and executable mappings, then the end */
	void (*process)(void *context, const struct scanned_process *p);
	void (*thread)(void *context, const struct scanned_thread *t);
	void (*mapping)(void *context, const struct scanned_mapping *m);
	/*
	 * End of a process, also if opener_scan(pid) found none; pid 0: the scan
	 * of all is done. opener_cut_short() counts those told of in part.
	 */
	void (*scanned)(void *context, uint32_t pid);
	void *context;
};

struct helper_cost;
struct opener;

/*
 * Whether the opener can do its work as a user of its own (base/own_user.h), which it then is;
 * else it keeps the caller's. It keeps few capabilities in both cases.
 */
bool opener_may_change_user(void);

/* Fork the opener. Before threads exist. */
int opener_new(struct opener **ret, const struct opener_events *events, struct error *err);
void opener_free(struct opener *o);
/* Polls readable when opener_poll() has something to do; the same for the opener's whole life. */
int opener_fd(const struct opener *o);

/*
 * Queue a request; its texts are copied, NULL is "". -ENOBUFS: the queue is full
 * (8 MiB), most of it with that user's requests; -ENAMETOOLONG; -ENOMEM. Answers:
 *   -ESTALE     the file of that name is not (or no longer) the mapped one
 *   -ESRCH      the process is gone, and the file could not be found without it
 *   -ETIMEDOUT  it hung the opener, or the same process did in the last 30 s, or its file system
 *               has hung it twice: that is left alone for 4 s, and twice as long each time
 *   -EIO        it killed the opener
 *   -EBUSY      too many hung openers that the kernel cannot end
 *   -EINVAL     not a regular file
 * and of perf maps: -ELOOP a symbolic link, -EPERM owner, -EACCES not readable by
 * the process, -EMLINK hard links, -EFBIG above 256 MiB; others are open(2)'s.
 */
int opener_open(struct opener *o, const struct open_request *r);
/*
 * Tell of one process, or of all (pid 0). All while a scan of all has yet to
 * begin is that scan.
 */
int opener_scan(struct opener *o, uint32_t pid);

/*
 * The user for whose sake a process is looked at: its real uid, or that of its parent where it is
 * gone; UINT32_MAX: nobody knows. Users' requests take turns.
 */
uint32_t opener_owner(struct opener *o, uint32_t pid, uint32_t parent);

/*
 * Send what is queued, take the answers that are there. Never blocks. No sign of
 * life for 2 s: the opener is killed, the request (or process of a scan) that it
 * was busy with answered with -ETIMEDOUT, the rest goes on in a new one. So call
 * it at least once a second while something is pending. now: ns of a steady
 * clock. An error means that no opener can be started now.
 */
int opener_poll(struct opener *o, uint64_t now, struct error *err);
uint64_t opener_pending(const struct opener *o);
uint64_t opener_restarts(const struct opener *o);
/* Files that were not taken (-EMFILE), since RLIMIT_NOFILE leaves no descriptors for them. */
uint64_t opener_refused(const struct opener *o);
/* Processes that a scan told of in part only, or not at all because they hung it. */
uint64_t opener_cut_short(const struct opener *o);
/* What it has cost so far, children that were killed included. Adds to *ret. */
void opener_add_cost(struct opener *o, struct helper_cost *ret);
/* pid of the child, for tests; -1 without one. */
int opener_pid(const struct opener *o);

#endif
