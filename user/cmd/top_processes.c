// SPDX-License-Identifier: Apache-2.0
/* Read the memory and the commands of processes from /proc (top_processes.h). */
#include "cmd/top_processes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/procfs.h"

/*
 * Most processes that are read in a window, at about 30 us each: a machine with more would cost its
 * user more than the numbers are worth.
 */
#define READS_MAX 1000
#define COMMAND_SIZE 512

/*
 * Join the words of a command line by blanks, without the folder of the program. Some programs
 * replace their command line by a title, in one word: "sshd: root@pts/0".
 */
static char *join_command(char *words, size_t size)
{
	char *slash;

	while (size && !words[size - 1])
		size--;
	words[size] = '\0';
	for (size_t i = 0; i < size; i++)
		if (!words[i])
			words[i] = ' ';
	slash = memrchr(words, '/', strcspn(words, " "));
	return strdup(slash ? slash + 1 : words);
}

/* Read how a process was called; keep what was known if that cannot be read any more. */
static void read_process_command(struct top_process *t, int dir)
{
	char words[COMMAND_SIZE], *command;
	int size = procfs_read(dir, "cmdline", words, sizeof(words));

	command = size > 0 ? join_command(words, (size_t)size) : NULL;
	if (!command)
		return;
	free(t->command);
	t->command = command;
}

static void read_process(struct top_process *t, const struct process *p)
{
	/*
	 * A program that has ended may have been replaced by another in the same process (exec).
	 * The pid of a process outside of this pid namespace is one that /proc does not know.
	 */
	int dir = !p->end && p->pid <= INT32_MAX ? procfs_open_main((uint32_t)p->pid, p->born)
						 : -ESRCH;

	if (dir < 0)
		return;
	if (procfs_read_resident(dir, &t->resident) < 0)
		t->resident = TOP_RESIDENT_UNKNOWN;
	read_process_command(t, dir);
	close(dir);
}

static struct top_process *find_process(const struct top_processes *t, uint64_t id)
{
	uint32_t at = index_get(&t->by_id, id);

	return at == INDEX_NONE ? NULL : &t->list.items[at];
}

/* Add a process to a new window, and move what the window before knows of it. */
static int add_process(struct top_processes *to, struct top_processes *from, uint64_t id)
{
	struct top_process *before = find_process(from, id);
	const struct top_process t = {
		.resident = TOP_RESIDENT_UNKNOWN,
		.command = before ? before->command : NULL,
	};

	if (vector_push(&to->list, t) < 0)
		return -ENOMEM;
	if (before)
		before->command = NULL;
	return index_put(&to->by_id, id, (uint32_t)to->list.count - 1);
}

int top_processes_begin(struct top_processes *t, const struct profile *p)
{
	struct top_processes next = {.reads = 0};
	int ret = 0;

	for (uint32_t i = 0; i < p->count.processes && !ret; i++)
		ret = add_process(&next, t, p->processes[i].p.id);
	top_processes_free(t);
	*t = next;
	return ret;
}

const struct top_process *top_processes_get(struct top_processes *t, const struct process *p)
{
	static const struct top_process unknown = {.resident = TOP_RESIDENT_UNKNOWN};
	struct top_process *found = find_process(t, p->id);

	if (!found)
		return &unknown;
	if (!found->read && t->reads < READS_MAX) {
		found->read = true;
		t->reads++;
		read_process(found, p);
	}
	return found;
}

void top_processes_free(struct top_processes *t)
{
	for (size_t i = 0; i < t->list.count; i++)
		free(t->list.items[i].command);
	vector_free(&t->list);
	index_free(&t->by_id);
	*t = (struct top_processes){.reads = 0};
}
