// SPDX-License-Identifier: Apache-2.0
/* Parses the texts of /proc. Layouts: proc(5) and fs/proc/array.c, task_mmu.c of Linux. */
#include "capture/procfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S 1000000000ULL
#define PF_KTHREAD 0x00200000 /* source: include/linux/sched.h */

/* Field numbers of /proc/PID/stat, as in proc(5). */
enum stat_field {
	STAT_STATE = 3,
	STAT_PARENT = 4,
	STAT_FLAGS = 9,
	STAT_THREADS = 20,
	STAT_BORN = 22,
};

uint64_t procfs_tick(void)
{
	return NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
}

static void take_stat_field(struct procfs_stat *s, unsigned int field, uint64_t value)
{
	switch (field) {
	case STAT_PARENT:
		s->parent = (uint32_t)value;
		break;
	case STAT_FLAGS:
		s->kernel_thread = value & PF_KTHREAD;
		break;
	case STAT_THREADS:
		s->threads = value;
		break;
	case STAT_BORN:
		s->born = value * procfs_tick();
		break;
	}
}

int procfs_parse_stat(const char *text, struct procfs_stat *out)
{
	struct procfs_stat s = {0};
	/* comm is not escaped, and may have ')'; the fields after it have none. */
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	char *at, *next;
	unsigned int field;

	if (!open || !close || close < open || close[1] != ' ' || !close[2])
		return -EINVAL;
	s.pid = (uint32_t)strtoul(text, NULL, 10);
	s.state = close[2];
	snprintf(s.comm, sizeof(s.comm), "%.*s", (int)(close - open - 1), open + 1);
	at = (char *)close + 3;
	for (field = STAT_STATE + 1; field <= STAT_BORN; field++, at = next) {
		uint64_t value = strtoull(at, &next, 10);

		if (next == at)
			return -EINVAL;
		take_stat_field(&s, field, value);
	}
	*out = s;
	return 0;
}

void procfs_parse_status(const char *line, struct procfs_status *out)
{
	const char *last;

	if (!strncmp(line, "Tgid:", 5)) {
		out->pid = (uint32_t)strtoul(line + 5, NULL, 10);
	} else if (!strncmp(line, "NStgid:", 7)) {
		/* The line has one number per pid namespace, the innermost last. */
		last = strrchr(line, '\t');
		out->ns_pid = last ? (uint32_t)strtoul(last, NULL, 10) : 0;
	} else if (!strncmp(line, "Uid:", 4)) {
		/* The line has the real, effective, saved and file system uid. */
		last = strrchr(line, '\t');
		out->uid = (uint32_t)strtoul(line + 4, NULL, 10);
		out->fsuid = last ? (uint32_t)strtoul(last, NULL, 10) : UINT32_MAX;
	}
}

void procfs_unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && text[1] >= '0' && text[1] <= '3' && text[2] >= '0' &&
		    text[2] <= '7' && text[3] >= '0' && text[3] <= '7') {
			*to++ = (char)((text[1] - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0');
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/*
 * Undo only \012: in a maps file the kernel escapes newlines and nothing else, so \040 is part of a
 * name.
 */
static void unescape_newlines(char *text)
{
	char *to = text;

	while (*text) {
		if (!strncmp(text, "\\012", 4)) {
			*to++ = '\n';
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = '\0';
}

/*
 * Read a number, and the byte after it, which must equal terminator. Return false if there is no
 * such number.
 */
static bool parse_maps_number(char **at, int base, char terminator, uint64_t *out)
{
	char *end;

	*out = strtoull(*at, &end, base);
	if (end == *at || *end != terminator)
		return false;
	*at = end + 1;
	return true;
}

bool procfs_parse_mapping(char *line, struct procfs_mapping *out)
{
	struct procfs_mapping m = {0};
	uint64_t major, minor;
	char *at = line;

	if (!parse_maps_number(&at, 16, '-', &m.start) ||
	    !parse_maps_number(&at, 16, ' ', &m.end) || strnlen(at, 5) < 5 || at[4] != ' ')
		return false;
	m.executable = at[2] == 'x';
	at += 5;
	if (!parse_maps_number(&at, 16, ' ', &m.offset) ||
	    !parse_maps_number(&at, 16, ':', &major) || !parse_maps_number(&at, 16, ' ', &minor))
		return false;
	m.inode = strtoull(at, &at, 10);
	m.major = (uint32_t)major;
	m.minor = (uint32_t)minor;
	m.path = at + strspn(at, " ");
	unescape_newlines(m.path);
	*out = m;
	return true;
}

size_t procfs_without_deleted(const char *path)
{
	static const char suffix[] = " (deleted)";
	size_t length = strlen(path), n = sizeof(suffix) - 1;

	return length > n && !strcmp(path + length - n, suffix) ? length - n : length;
}

int procfs_read(int dir, const char *name, char *buf, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC), ret = 0;
	size_t used = 0;

	if (fd < 0)
		return -errno;
	while (used < size - 1) {
		ssize_t n = read(fd, buf + used, size - 1 - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ret = -errno;
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	buf[used] = '\0';
	close(fd);
	return ret ? ret : (int)used;
}

int procfs_read_stat(int dir, struct procfs_stat *out)
{
	char text[2048];

	if (procfs_read(dir, "stat", text, sizeof(text)) <= 0)
		return -ESRCH;
	return procfs_parse_stat(text, out);
}

int procfs_read_status(int dir, struct procfs_status *out)
{
	struct procfs_status s = {.uid = UINT32_MAX, .fsuid = UINT32_MAX};
	struct procfs_lines lines;
	int fd = openat(dir, "status", O_RDONLY | O_CLOEXEC);
	char *line;

	if (fd < 0)
		return -ESRCH;
	procfs_lines_init(&lines, fd);
	while ((line = procfs_line(&lines)))
		procfs_parse_status(line, &s);
	close(fd);
	if (!s.pid || !s.ns_pid)
		return -ESRCH;
	*out = s;
	return 0;
}

static int open_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -ESRCH : fd;
}

/* Open the directory of a thread that is still alive, or return -ESRCH. */
static int open_living_thread(int process)
{
	char path[sizeof("/proc/") + NAME_MAX];
	int fd = openat(process, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC), found = -ESRCH;
	struct procfs_stat stat;
	struct dirent *entry;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -ESRCH;
	}
	while (found < 0 && (entry = readdir(dir))) {
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		/* Do not use task/TID: only /proc/TID has map_files. */
		snprintf(path, sizeof(path), "/proc/%s", entry->d_name);
		found = open_directory(path);
		if (found >= 0 &&
		    (procfs_read_stat(found, &stat) < 0 || strchr("ZX", stat.state))) {
			close(found);
			found = -ESRCH;
		}
	}
	closedir(dir);
	return found;
}

int procfs_read_resident(int dir, uint64_t *bytes)
{
	uint64_t all, resident;
	char text[256];

	if (procfs_read(dir, "statm", text, sizeof(text)) < 0)
		return -ESRCH;
	if (sscanf(text, "%" SCNu64 " %" SCNu64, &all, &resident) != 2)
		return -EINVAL;
	*bytes = resident * (uint64_t)sysconf(_SC_PAGESIZE);
	return 0;
}

int procfs_open_main(uint32_t pid, uint64_t born)
{
	char path[32];
	struct procfs_stat stat;
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	fd = open_directory(path);
	if (fd < 0)
		return fd;
	if (procfs_read_stat(fd, &stat) < 0 ||
	    (born && born / procfs_tick() != stat.born / procfs_tick())) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

int procfs_open_living(int process, const struct procfs_stat *stat)
{
	struct procfs_stat now;
	int thread;

	if (stat->state != 'Z' || stat->threads < 2)
		return process;
	thread = open_living_thread(process);
	/* Check that the process still exists: otherwise the tid may have been reused. */
	if (thread >= 0 && procfs_read_stat(process, &now) < 0) {
		close(thread);
		thread = -ESRCH;
	}
	close(process);
	return thread;
}

int procfs_open(uint32_t pid, uint64_t born)
{
	int process = procfs_open_main(pid, born);
	struct procfs_stat stat;

	if (process < 0)
		return process;
	if (procfs_read_stat(process, &stat) < 0) {
		close(process);
		return -ESRCH;
	}
	return procfs_open_living(process, &stat);
}

void procfs_lines_init(struct procfs_lines *l, int fd)
{
	l->fd = fd;
	l->ended = l->cut = false;
	l->error = 0;
	l->start = l->end = 0;
}

/* Move the unread bytes to the front of the buffer, and read more. */
static void fill_line_buffer(struct procfs_lines *l)
{
	ssize_t n;

	memmove(l->buf, l->buf + l->start, l->end - l->start);
	l->end -= l->start;
	l->start = 0;
	do
		n = read(l->fd, l->buf + l->end, sizeof(l->buf) - 1 - l->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		l->error = -errno;
	if (n <= 0)
		l->ended = true;
	else
		l->end += (size_t)n;
}

/*
 * Take the bytes of the buffer up to newline (NULL: all of them). Return them as a line, or as the
 * beginning of a line that is cut; NULL if they are the rest of a line that was cut before.
 */
static char *take_line(struct procfs_lines *l, char *newline)
{
	char *line = l->buf + l->start;
	bool rest = l->cut;

	l->cut = !newline;
	if (newline) {
		*newline = '\0';
		l->start = (size_t)(newline + 1 - l->buf);
	} else {
		l->buf[l->end] = '\0';
		l->start = l->end;
	}
	return rest ? NULL : line;
}

char *procfs_line(struct procfs_lines *l)
{
	char *line = NULL;

	while (!line) {
		size_t left = l->end - l->start;
		char *newline = memchr(l->buf + l->start, '\n', left);

		if (newline || left == sizeof(l->buf) - 1 || (l->ended && left))
			line = take_line(l, newline);
		else if (l->ended)
			break;
		else
			fill_line_buffer(l);
	}
	return line;
}
