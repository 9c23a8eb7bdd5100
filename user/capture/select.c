// SPDX-License-Identifier: Apache-2.0
/* Selecting processes with their children, and threads. */
#include "capture/select.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"

struct kin {
	uint32_t pid, parent;
	bool selected;
};

typedef VECTOR(struct kin) kin_list;

static bool exists(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return access(path, F_OK) == 0;
}

int select_check(const struct capture_options *o, struct error *err)
{
	for (size_t i = 0; i < o->pid_count; i++)
		if (!exists(o->pids[i]))
			return error_set(err, -ESRCH, "there is no process %u", o->pids[i]);
	for (size_t i = 0; i < o->tid_count; i++)
		if (!exists(o->tids[i]))
			return error_set(err, -ESRCH, "there is no thread %u", o->tids[i]);
	return 0;
}

/* Field 4 of /proc/PID/stat; the name before it may hold anything, so look behind its end. */
static uint32_t parent_of(uint32_t pid)
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
		k.parent = parent_of(k.pid);
		ret = vector_push(list, k);
	}
	closedir(proc);
	return ret;
}

/* Select the children of what is selected in the list; how many were new. */
static size_t select_children(kin_list *list)
{
	size_t found = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct kin *child = &list->items[i];

		for (size_t j = 0; !child->selected && j < list->count; j++)
			if (list->items[j].selected && list->items[j].pid == child->parent) {
				child->selected = true;
				found++;
			}
	}
	return found;
}

static bool is_asked_for(const struct capture_options *o, uint32_t pid)
{
	for (size_t i = 0; i < o->pid_count; i++)
		if (o->pids[i] == pid)
			return true;
	return false;
}

static int select_pids(struct program *p, const struct capture_options *o, struct error *err)
{
	kin_list list = {0};
	int ret = list_processes(&list);

	if (ret) {
		ret = error_errno(err, ret, "/proc");
		goto out;
	}
	for (size_t i = 0; i < list.count; i++)
		list.items[i].selected = is_asked_for(o, list.items[i].pid);
	while (select_children(&list))
		;
	for (size_t i = 0; !ret && i < list.count; i++)
		if (list.items[i].selected)
			ret = program_select_pid(p, list.items[i].pid);
	if (ret)
		error_errno(err, ret, "selecting processes");
out:
	vector_free(&list);
	return ret;
}

int select_targets(struct program *p, const struct capture_options *o, struct error *err)
{
	int ret = o->pid_count ? select_pids(p, o, err) : 0;

	for (size_t i = 0; !ret && i < o->tid_count; i++) {
		ret = program_select_tid(p, o->tids[i]);
		if (ret)
			error_errno(err, ret, "selecting thread %u", o->tids[i]);
	}
	return ret;
}
