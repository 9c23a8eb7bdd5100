// SPDX-License-Identifier: Apache-2.0
/* Selects processes with their children, and single threads. */
#include "capture/select.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/clock.h"
#include "capture/procfs.h"

struct kin {
	uint32_t pid, parent;
	bool selected;
};

typedef VECTOR(struct kin) kin_list;

/*
 * Return the process of a thread, 0 if there is no such thread. /proc/TID exists, although /proc
 * does not list it.
 */
static uint32_t process_of_tid(uint32_t tid)
{
	struct procfs_status status;
	char path[64];
	int dir, ret;

	snprintf(path, sizeof(path), "/proc/%u", tid);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return 0;
	ret = procfs_read_status(dir, &status);
	close(dir);
	return ret ? 0 : status.pid;
}

static int check_pid(uint32_t pid, struct error *err)
{
	uint32_t process = process_of_tid(pid);

	if (!process)
		return error_set(err, -ESRCH, "there is no process %u", pid);
	if (process != pid)
		return error_set(err, -ESRCH, "%u is a thread of process %u: use -t", pid, process);
	return 0;
}

int select_check(const struct capture_targets *o, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < o->pid_count; i++)
		ret = check_pid(o->pids[i], err);
	for (size_t i = 0; !ret && i < o->tid_count; i++)
		if (!process_of_tid(o->tids[i]))
			ret = error_set(err, -ESRCH, "there is no thread %u", o->tids[i]);
	return ret;
}

/*
 * Return the parent of a process, which is field 4 of /proc/PID/stat; 0 if the process is gone. The
 * name, which is field 2, may have any character, so search from its end.
 */
static uint32_t parent_of_pid(uint32_t pid)
{
	char path[64], line[1024];
	unsigned int parent = 0;
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	line[fread(line, 1, sizeof(line) - 1, f)] = '\0';
	fclose(f);
	end = strrchr(line, ')');
	if (!end || sscanf(end + 1, " %*c %u", &parent) != 1)
		return 0;
	return parent;
}

static int list_processes(kin_list *list)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	int ret = 0;

	if (!proc)
		return -errno;
	while (!ret && (entry = readdir(proc))) {
		struct kin k = {.selected = false};

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		k.pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		k.parent = parent_of_pid(k.pid);
		ret = vector_push(list, k);
	}
	closedir(proc);
	return ret;
}

static int compare_pids(const void *a, const void *b)
{
	const struct kin *x = a, *y = b;

	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/*
 * Select the children of selected processes in the list, which is sorted by pid; return how many
 * were new.
 */
static size_t select_children(kin_list *list)
{
	size_t found = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct kin *child = &list->items[i];
		const struct kin wanted = {.pid = child->parent};
		const struct kin *parent =
			bsearch(&wanted, list->items, list->count, sizeof(wanted), compare_pids);

		if (!child->selected && parent && parent->selected) {
			child->selected = true;
			found++;
		}
	}
	return found;
}

static bool is_requested_pid(const struct capture_targets *o, uint32_t pid)
{
	for (size_t i = 0; i < o->pid_count; i++)
		if (o->pids[i] == pid)
			return true;
	return false;
}

/* A process without a global number has just ended. */
static int select_pid(struct program *p, const struct namespace *n, uint32_t pid)
{
	uint32_t global = namespace_global(n, pid);

	return global ? program_select_pid(p, global) : 0;
}

/*
 * Select those of the requested processes that are in /proc now, and their descendants; return how
 * many were not selected before, or a negative errno.
 */
static int select_living(struct program *p, struct namespace *n, const struct capture_targets *o)
{
	kin_list list = {0};
	int ret = list_processes(&list), found = 0;

	if (ret)
		goto out;
	qsort(list.items, list.count, sizeof(struct kin), compare_pids);
	for (size_t i = 0; i < list.count; i++)
		list.items[i].selected = is_requested_pid(o, list.items[i].pid);
	while (select_children(&list))
		;
	for (size_t i = 0; ret >= 0 && i < list.count; i++)
		if (list.items[i].selected) {
			ret = select_pid(p, n, list.items[i].pid);
			found += ret > 0;
		}
out:
	vector_free(&list);
	return ret < 0 ? ret : found;
}

/*
 * Select the requested processes and their descendants. /proc is read again until no process is
 * new: while it was read, a parent that was not selected yet may have had a child.
 */
static int select_pids(struct program *p, struct namespace *n, const struct capture_targets *o,
		       struct error *err)
{
	int ret;

	do {
		ret = namespace_drain(n, clock_boot_ns());
		if (!ret)
			ret = select_living(p, n, o);
	} while (ret > 0);
	return ret ? error_errno(err, ret, "selecting processes") : 0;
}

int select_targets(struct program *p, struct namespace *n, const struct capture_targets *o,
		   struct error *err)
{
	int ret = o->pid_count ? select_pids(p, n, o, err) : 0;

	for (size_t i = 0; ret >= 0 && i < o->tid_count; i++) {
		ret = program_select_tid(p, namespace_global(n, o->tids[i]));
		if (ret < 0)
			error_errno(err, ret, "selecting thread %u", o->tids[i]);
	}
	return ret < 0 ? ret : 0;
}
