/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of /proc. Names in them are chosen by the processes they describe:
 * a comm may hold parentheses, blanks and newlines, a path anything but NUL,
 * and a line may be longer than any buffer.
 */
#ifndef SKEIN_CAPTURE_PROCFS_H
#define SKEIN_CAPTURE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCFS_COMM_MAX 64 /* of a kernel worker; 16 of a user thread, NUL included */
#define PROCFS_LINE_MAX 32768

/* What is used of /proc/PID/stat. */
struct procfs_stat {
	uint32_t pid, parent;
	char state;
	bool kernel_thread;
	uint64_t threads;
	uint64_t born; /* ns of CLOCK_BOOTTIME, rounded down to a clock tick */
	char comm[PROCFS_COMM_MAX];
};

/* What is used of /proc/PID/status. */
struct procfs_status {
	uint32_t pid;	 /* of the process, also where a thread's status was read */
	uint32_t ns_pid; /* the same in the innermost pid namespace */
	uint32_t uid;	 /* real: who started it */
	uint32_t fsuid;	 /* what it creates files as */
};

/* A line of /proc/PID/maps. */
struct procfs_mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool executable;
	char *path; /* inside the parsed line, unescaped; "" if there is none */
};

/* Length of a clock tick of /proc in ns; two births within one tick look the same. */
uint64_t procfs_tick(void);

/* Parse the NUL-terminated text of a stat file: 0 or -EINVAL. */
int procfs_parse_stat(const char *text, struct procfs_stat *ret);
/* Take what a line of a status file says, if it is one of interest. */
void procfs_parse_status(const char *line, struct procfs_status *ret);
/* Parse a line of a maps file in place: false if it is none. */
bool procfs_parse_mapping(char *line, struct procfs_mapping *ret);
/* Undo \012 and the like, which the kernel writes for newlines in paths. In place. */
void procfs_unescape(char *text);
/* Length of a path without the " (deleted)" that the kernel puts behind unlinked files. */
size_t procfs_without_deleted(const char *path);

/* Read up to size-1 bytes of a file and end them with NUL: their number or a negative errno. */
int procfs_read(int dir, const char *name, char *buf, size_t size);
/* Read and parse stat or status below an open /proc/PID. -ESRCH if the process is gone. */
int procfs_stat_of(int dir, struct procfs_stat *ret);
int procfs_status_of(int dir, struct procfs_status *ret);

/*
 * Open /proc/PID of the process born at that time (0: any), or -ESRCH. The
 * descriptor belongs to the process, not to the number: once the process is
 * gone nothing can be opened through it, whoever has the number then.
 */
int procfs_open_main(uint32_t pid, uint64_t born);
/*
 * Where the main thread has exited and left neither mappings nor a root to see,
 * give the directory of a living thread for that of the process. Takes process,
 * closes it where it is not the result, or on failure (-ESRCH).
 */
int procfs_living(int process, const struct procfs_stat *stat);
/* Both in one. */
int procfs_open(uint32_t pid, uint64_t born);

/* Lines of a file of any length; lines beyond PROCFS_LINE_MAX are cut. */
struct procfs_lines {
	int fd;
	bool ended, cut; /* cut: the rest of a cut line is still to be skipped */
	int error;	 /* negative errno of the read that ended it, or 0 */
	size_t start, end;
	char buf[PROCFS_LINE_MAX];
};

void procfs_lines_init(struct procfs_lines *l, int fd);
/* The next line, without its newline; valid until the next call. NULL at the end. */
char *procfs_line(struct procfs_lines *l);

#endif
