// SPDX-License-Identifier: Apache-2.0
/* Checks what skein may read of a process that belongs to another user. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/checks.h"
#include "capture/opener_wire.h"
#include "capture/procfs.h"

#define NEEDS_OF_OTHERS (NEED_BIT(NEED_CAP_SYS_PTRACE) | NEED_BIT(NEED_CAP_DAC_READ_SEARCH))

/*
 * Return whether the process (its open /proc/PID) belongs to another user and has user memory. The
 * files in the folder of a process that made itself undumpable, as skein's helpers do, belong to
 * root instead: what root may read there, it may not read of others.
 */
static bool is_other(int process)
{
	struct stat files;
	struct procfs_status status = {0};
	struct procfs_stat stat;

	return procfs_read_stat(process, &stat) == 0 && !stat.kernel_thread && stat.state != 'Z' &&
	       procfs_read_status(process, &status) == 0 && status.fsuid != geteuid() &&
	       fstatat(process, "maps", &files, 0) == 0 && files.st_uid == status.fsuid;
}

/*
 * Open /proc/PID if is_other() is true for the process. Return a descriptor; -1: is_other() is
 * false, or the process has exited.
 */
static int open_if_other(uint32_t pid)
{
	int process = procfs_open_main(pid, 0);

	if (process >= 0 && !is_other(process)) {
		close(process);
		process = -1;
	}
	return process < 0 ? -1 : process;
}

/*
 * Find a process of another user. Return a descriptor of its /proc/PID and store its pid in *pid;
 * -1: there is none. Use pid 1 only if there is no other, since pid 1 is often better protected.
 */
static int open_other(uint32_t *pid)
{
	DIR *all = opendir("/proc");
	struct dirent *entry;
	int found = -1;

	while (all && found < 0 && (entry = readdir(all))) {
		*pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		if (*pid > 1)
			found = open_if_other(*pid);
	}
	if (all)
		closedir(all);
	if (found >= 0)
		return found;
	*pid = 1;
	return open_if_other(1);
}

/*
 * Report whether this process has the needed capabilities, because no other user has a process on
 * which the access could be tried.
 */
static void report_untried(struct finding *f, uint64_t needs)
{
	if (needs_missing() & needs)
		finding_set_missing(f, needs_missing() & needs, "%s",
				    here_hides_processes()
					    ? "/proc hides the processes of others (hidepid=)"
					    : "no other user has a process to try it on now");
	else
		finding_set_ok(f, "allowed; no other user has a process to try it on now");
}

static void report_refused(struct finding *f, uint64_t needs, uint32_t pid, int error)
{
	uint64_t missing = needs_missing() & needs;
	char profile[256];

	if (!missing && here_apparmor(profile, sizeof(profile)))
		missing = NEED_BIT(NEED_APPARMOR);
	finding_set_missing(f, missing, "those of process %" PRIu32 ": %s", pid, strerror(error));
}

/*
 * Check access to another user's process. at() tries the access; it gets the open /proc/PID and the
 * pid of that process, and returns 0 or a positive errno.
 */
static void check_access(struct finding *f, uint64_t needs, int (*at)(int process, uint32_t pid))
{
	uint32_t pid;
	int process = open_other(&pid), error;

	if (process < 0) {
		report_untried(f, needs);
		return;
	}
	error = at(process, pid);
	close(process);
	if (error)
		report_refused(f, needs, pid, error);
	else
		finding_set_ok(f, "those of process %" PRIu32, pid);
}

static int try_mappings(int process, uint32_t pid)
{
	char text[256];
	int n = procfs_read(process, "maps", text, sizeof(text));

	(void)pid;
	return n < 0 ? -n : 0;
}

void check_mappings(struct finding *f)
{
	check_access(f, NEED_BIT(NEED_CAP_SYS_PTRACE), try_mappings);
}

static int try_to_open(int process, const char *name, int flags)
{
	int fd = openat(process, name, flags | O_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int try_root(int process, uint32_t pid)
{
	(void)pid;
	return try_to_open(process, "root", O_PATH | O_DIRECTORY);
}

void check_root(struct finding *f)
{
	check_access(f, NEED_BIT(NEED_CAP_SYS_PTRACE), try_root);
}

/*
 * Open the first mapped file of a process through map_files. Returns 0 or a positive errno, also if
 * maps cannot be read; ENOENT if no file is mapped.
 */
static int try_map_file(int process, uint32_t pid)
{
	struct procfs_lines lines;
	struct procfs_mapping m = {0};
	int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
	char name[64], *line;

	(void)pid;
	if (fd < 0)
		return errno;
	procfs_lines_init(&lines, fd);
	while (!m.inode && (line = procfs_line(&lines)))
		if (!procfs_parse_mapping(line, &m))
			m.inode = 0;
	close(fd);
	if (!m.inode)
		return ENOENT;
	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, m.start, m.end);
	return try_to_open(process, name, O_PATH);
}

void check_map_files(struct finding *f)
{
	check_access(f, NEEDS_OF_OTHERS | NEED_BIT(NEED_CAP_CHECKPOINT_RESTORE), try_map_file);
}

static int try_memory(int process, uint32_t pid)
{
	const struct open_request r = {.what = OPEN_MEMORY, .pid = pid};
	int fd = opener_open_memory(&r);

	(void)process;
	if (fd < 0)
		return -fd;
	close(fd);
	return 0;
}

void check_memory(struct finding *f)
{
	check_access(f, NEEDS_OF_OTHERS, try_memory);
}
