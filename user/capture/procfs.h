/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses the texts of /proc. The processes that they describe choose the names in them: a comm may
 * have parentheses, blanks and newlines, a path anything but NUL, and a line may be longer than any
 * buffer.
 */
#ifndef SKEIN_CAPTURE_PROCFS_H
#define SKEIN_CAPTURE_PROCFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROCFS_COMM_MAX 64 /* bytes for a kernel worker; 16 for a user thread, with the NUL */
#define PROCFS_LINE_MAX 32768

/* The fields of /proc/PID/stat that are used. */
struct procfs_stat {
	uint32_t pid, parent;
	char state;
	bool kernel_thread;
	uint64_t threads;
	uint64_t born; /* ns of CLOCK_BOOTTIME, rounded down to a clock tick */
	char comm[PROCFS_COMM_MAX];
};

/* The fields of /proc/PID/status that are used. */
struct procfs_status {
	uint32_t pid; /* the process, also in a thread's status */
	uint32_t ns_pid; /* pid in the innermost pid namespace */
	uint32_t uid; /* real uid: the user who started the process */
	uint32_t fsuid; /* file system uid: owner of the files that it creates */
};

/* A line of /proc/PID/maps. */
struct procfs_mapping {
	uint64_t start, end, offset, inode;
	uint32_t major, minor;
	bool executable;
	char *path; /* points into the parsed line, unescaped; "" if there is none */
};

/* Return the length of a clock tick of /proc in ns; two births within one tick look the same. */
uint64_t procfs_tick(void);

/* Parse the NUL-terminated text of a stat file. Return 0 or -EINVAL. */
int procfs_parse_stat(const char *text, struct procfs_stat *out);
/* Parse a line of a status file; lines of other fields are ignored. */
void procfs_parse_status(const char *line, struct procfs_status *out);
/* Parse a line of a maps file in place. Return false if it is malformed. */
bool procfs_parse_mapping(char *line, struct procfs_mapping *out);
/*
 * Undo octal escapes such as \012 and \040, which the kernel writes for newlines and blanks in
 * /proc/PID/mountinfo. In place.
 */
void procfs_unescape(char *text);
/*
 * Return the length of a path without the " (deleted)" that the kernel appends for unlinked files.
 */
size_t procfs_without_deleted(const char *path);

/*
 * Read up to size - 1 bytes of a file below the directory dir, and end them with NUL. Return their
 * number or a negative errno.
 */
int procfs_read(int dir, const char *name, char *buf, size_t size);
/*
 * Read and parse stat or status below an open /proc/PID. Return 0; -ESRCH if the file cannot be
 * read, as when the process is gone; -EINVAL if the text of stat is malformed.
 */
int procfs_read_stat(int dir, struct procfs_stat *out);
int procfs_read_status(int dir, struct procfs_status *out);
/*
 * Get the resident memory of a process in bytes from its statm; 0 of a kernel thread. Return as
 * procfs_read_stat() does.
 */
int procfs_read_resident(int dir, uint64_t *bytes);

/*
 * Open /proc/PID of the process that was born at that time (ns; 0: any), or return -ESRCH. The
 * descriptor refers to the process, not to the pid: once the process is gone, nothing can be opened
 * through it, even if the pid is reused.
 */
int procfs_open_main(uint32_t pid, uint64_t born);
/*
 * Return the directory of a living thread if the main thread has exited, since the main thread then
 * has neither mappings nor a root; else return process. Takes ownership of process, and closes it
 * unless it is the result; -ESRCH on failure.
 */
int procfs_open_living(int process, const struct procfs_stat *stat);
/* Call procfs_open_main() and procfs_open_living(). Return a descriptor or -ESRCH. */
int procfs_open(uint32_t pid, uint64_t born);

/*
 * Reads a file line by line. A line may have any length; the part beyond PROCFS_LINE_MAX is left
 * out. The caller closes fd.
 */
struct procfs_lines {
	int fd;
	bool ended, cut; /* cut: the rest of a cut line must be skipped */
	int error; /* negative errno of the read that ended the file, or 0 */
	size_t start, end;
	char buf[PROCFS_LINE_MAX];
};

void procfs_lines_init(struct procfs_lines *l, int fd);
/* Return the next line without its newline, or NULL at the end; valid until the next call. */
char *procfs_line(struct procfs_lines *l);

#endif
