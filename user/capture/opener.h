/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The opener is a child process that keeps only those capabilities of the recorder that it needs.
 * It does the work that a profiled process can make slow or hostile: it reads /proc and opens the
 * files of profiled processes. FUSE, a stuck network file system or a held mmap lock can hang the
 * opener; the recorder then kills and restarts the opener, and never waits for it. Open requests
 * that are likely to hang go to a second child like it (opener.c), which is started when it is
 * first needed.
 *
 * Requests are queued. Replies come through opener_poll(), not always in the order of the requests;
 * requests of different users take turns, and a scan of all processes is done between other
 * requests. Every request gets a reply, unless opener_free() drops it: a request that fails gets an
 * error.
 */
#ifndef SKEIN_CAPTURE_OPENER_H
#define SKEIN_CAPTURE_OPENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A file as the kernel identifies it in mmap events and in /proc/PID/maps. */
struct file_id {
	uint32_t major, minor;
	uint64_t inode;
	uint64_t generation; /* inode generation number; 0: not known (/proc does not show it) */
};

enum open_what {
	/* the file that a process has mapped at [start, end), identified by path and id */
	OPEN_MAPPED_FILE,
	/*
	 * /tmp/perf-NSPID.map in the root of the process; NSPID: its pid in its own pid namespace
	 */
	OPEN_PERF_MAP,
	OPEN_DEBUG, /* a separate debug file, by build-id or debuglink */
	/*
	 * /proc/PID/mem, read-only: the memory of the process as it is now, not after a later exec
	 */
	OPEN_MEMORY,
	/* debug data that dwz moved out of debug files: debuglink is its path below .dwz */
	OPEN_COMMON,
	/*
	 * the regular file that has this path now in the opener's own root; the caller finds out
	 * whether it is the right one
	 */
	OPEN_NAMED,
};

#define OPENER_PATH_MAX 4096
#define OPENER_DEBUG_MAX 4 /* maximum number of candidates for a debug file */

struct open_request {
	uint64_t token; /* chosen by the caller, and returned in the reply */
	enum open_what what;
	uint32_t pid; /* the process */
	/*
	 * Identifies the process together with pid: its start time in ns of CLOCK_BOOTTIME,
	 * compared at the 10 ms resolution of /proc; 0: any process with this pid.
	 */
	uint64_t born;
	/*
	 * Processes in whose roots the same path is tried next, the parent first; 0 ends the list.
	 */
	uint32_t fallback_pids[4];
	uint64_t start, end; /* address range of the mapping */
	struct file_id id; /* the mapped file; inode 0: not known, taken from the process's maps */
	/*
	 * Time at which the mapping existed: ns of CLOCK_BOOTTIME; 0: at the time of the call. A
	 * file made after that time is a different one with a reused inode number.
	 */
	uint64_t seen;
	const char *path; /* path of the mapping as its process sees it */
	const char *build_id; /* OPEN_DEBUG, OPEN_COMMON: lowercase hex */
	const char *debuglink; /* OPEN_DEBUG, OPEN_COMMON: file name */
};

struct open_reply {
	uint64_t token;
	int fd; /* owned by the receiver; negative errno if the file could not be opened */
	uint64_t device, inode, size; /* identity and size of the file, from fstat() */
	int64_t mtime_ns, ctime_ns;
	bool more; /* OPEN_DEBUG, OPEN_COMMON: further candidates follow */
	/* reading the file may hang: a program or another machine may serve its file system */
	bool suspicious;
};

/* One process found by a scan of /proc. Texts are valid during the callback. */
struct scanned_process {
	uint32_t pid, parent, ns_pid;
	uint64_t born; /* ns of CLOCK_BOOTTIME, from the clock ticks of /proc/PID/stat */
	bool kernel_thread;
	const char *comm;
	const char *exe; /* target of the link /proc/PID/exe; "" if it cannot be read */
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

/*
 * No callback may be NULL. Callbacks may send more requests, but must not free the opener. Apart
 * from opener_poll(), a request that drops another one from a full queue (-ENOBUFS) calls them,
 * too.
 */
struct opener_events {
	void (*opened)(void *context, const struct open_reply *a);
	/*
	 * For each process, process() is called, then thread() and mapping() for its threads and
	 * executable mappings, then scanned().
	 */
	void (*process)(void *context, const struct scanned_process *p);
	void (*thread)(void *context, const struct scanned_thread *t);
	void (*mapping)(void *context, const struct scanned_mapping *m);
	/*
	 * Called at the end of the scan of a process, also if opener_scan(pid) found no process or
	 * failed; pid 0: the scan of all processes is done or was given up. opener_cut_short()
	 * counts the processes that were reported in part.
	 */
	void (*scanned)(void *context, uint32_t pid);
	void *context;
	struct fork_server *forks; /* forks the openers; NULL: the caller is forked */
};

struct fork_server;
struct helper_cost;
struct opener;

/*
 * Return whether the opener can run as a user of its own (base/own_user.h), which it then does;
 * otherwise it keeps the caller's user. It keeps only few capabilities in both cases.
 */
bool opener_may_change_user(void);

/* Fork the opener. Call this before any thread is created. */
int opener_new(struct opener **out, const struct opener_events *events, struct error *err);
void opener_free(struct opener *o);
/*
 * Return a descriptor that polls readable when opener_poll() has work to do. The descriptor stays
 * the same while children are replaced.
 */
int opener_fd(const struct opener *o);

/*
 * Queue a request; its texts are copied, NULL means "". Return 0, or
 *   -ENOBUFS       the queue is full (8 MiB), and this user has the most bytes waiting in it
 *   -ENAMETOOLONG  a text is too long
 *   -ENOMEM
 * Errors in replies:
 *   -ESTALE     the file of that name is not (or no longer) the mapped one
 *   -ESRCH      the process is gone, and the file could not be found without it
 *   -ETIMEDOUT  the request hung the opener; or a request of the same process did in the last 30 s;
 *               or the file is on a suspect file system (suspects.h) that hung the second opener:
 *               its requests then fail for 4 s, and twice as long after each further hang
 *   -EIO        the opener died during the request, after an earlier death without a reply between
 *   -EBUSY      64 killed openers have not ended, so no other one can be started
 *   -EMFILE     no descriptor is left for the file (RLIMIT_NOFILE)
 *   -ENOBUFS    the request was dropped from the full queue to make room for another user's
 *   -EINVAL     not a regular file
 * Errors for perf maps: -ELOOP symbolic link, -EPERM wrong owner, -EACCES not readable by the
 * process, -EMLINK hard links, -EFBIG more than 256 MiB. All others come from system calls, mostly
 * open(2).
 */
int opener_open(struct opener *o, const struct open_request *r);
/*
 * Scan one process, or all processes (pid 0); the results go to the callbacks. Return 0, or
 * -ENOBUFS or -ENOMEM as opener_open() does. While a requested scan of all processes has not begun,
 * a further request for one has no effect.
 */
int opener_scan(struct opener *o, uint32_t pid);

/*
 * Return the user on whose behalf a process is looked at: its real uid, or that of its parent if
 * the process is gone; UINT32_MAX if both are gone. Requests of different users take turns.
 */
uint32_t opener_owner(struct opener *o, uint32_t pid, uint32_t parent);

/*
 * Send queued requests and process the replies that have arrived. Never blocks. An opener that
 * hangs (no message for 2 s; later if it uses CPU time, see helper_is_stuck()) is killed. Its
 * current request gets -ETIMEDOUT, or its scan leaves out the current process; the other requests
 * go to a new opener. So call this at least once a second while something is pending. now: ns of a
 * steady clock. An error means that no opener can be started now.
 */
int opener_poll(struct opener *o, uint64_t now, struct error *err);
uint64_t opener_pending(const struct opener *o);
uint64_t opener_restarts(const struct opener *o);
/*
 * Return the number of files that were not delivered (-EMFILE) because RLIMIT_NOFILE leaves no
 * descriptors for them.
 */
uint64_t opener_refused(const struct opener *o);
/*
 * Return the number of processes that a scan reported in part only, or not at all because their
 * scan failed. A scan of all processes that was given up counts as one.
 */
uint64_t opener_cut_short(const struct opener *o);
/* Add the cost of the openers so far to *out, including children that were killed. */
void opener_add_cost(struct opener *o, struct helper_cost *out);
/* Return the pid of the first child, not of the second opener, for tests; -1 without a child. */
int opener_pid(const struct opener *o);
/* Write the pids of the openers that run to out; return their number. */
unsigned int opener_pids(const struct opener *o, pid_t out[static 2]);

#endif
