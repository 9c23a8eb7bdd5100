// SPDX-License-Identifier: Apache-2.0
/* Name what a recording is of (subject.h), from its info records. */
#include "analyze/subject.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const char *profile_info(const struct profile *p, const char *key)
{
	for (uint32_t i = 0; i < p->count.infos; i++)
		if (!strcmp(p->infos[i].key, key))
			return p->infos[i].value;
	return NULL;
}

uint64_t profile_paused(const struct profile *p)
{
	const char *text = profile_info(p, INFO_PAUSED);

	return text ? strtoull(text, NULL, 10) : 0;
}

const char *profile_trigger(const struct profile *p, uint64_t *at)
{
	const char *why = profile_info(p, INFO_FLIGHT), *when = profile_info(p, INFO_FLIGHT_AT);

	if (!why || !when)
		return NULL;
	*at = strtoull(when, NULL, 10);
	return why;
}

/* Name the last program that a process ran, "nginx (pid 4711)"; or only its pid. */
static void show_process(const struct profile *p, const char *pid, char *buf)
{
	uint64_t number = strtoull(pid, NULL, 10);
	const char *name = NULL;

	for (uint32_t i = 0; i < p->count.processes; i++)
		if (p->processes[i].p.pid == number && *p->processes[i].p.comm)
			name = p->processes[i].p.comm;
	if (name)
		snprintf(buf, SUBJECT_SIZE, "%s (pid %" PRIu64 ")", name, number);
	else
		snprintf(buf, SUBJECT_SIZE, "pid %" PRIu64, number);
}

/* Name the processes of -p: the first by its name, and how many more there are. */
static void show_processes(const struct profile *p, const char *pids, char *buf)
{
	const char *rest = strchr(pids, ',');
	unsigned int more = 0;

	show_process(p, pids, buf);
	for (; rest; rest = strchr(rest + 1, ','))
		more++;
	if (more)
		text_append(buf, SUBJECT_SIZE, strlen(buf), " and %u more", more);
}

static void show_command(const struct profile *p, const char *program, char *buf)
{
	const char *line = profile_info(p, INFO_COMMAND_LINE);
	const char *count = profile_info(p, INFO_ARGUMENTS);

	if (line)
		snprintf(buf, SUBJECT_SIZE, "%s", line);
	else if (count)
		snprintf(buf, SUBJECT_SIZE, "%.128s (%.20s argument%s)", program, count,
			 strcmp(count, "1") ? "s" : "");
	else
		snprintf(buf, SUBJECT_SIZE, "%s", program);
}

char *profile_subject(const struct profile *p, char buf[static SUBJECT_SIZE])
{
	const char *tids = profile_info(p, "option.tids"),
		   *group = profile_info(p, "option.cgroup");
	const char *command = profile_info(p, INFO_COMMAND);
	const char *comm = profile_info(p, "option.comm"), *pids = profile_info(p, "option.pids");

	*buf = '\0';
	if (p->count.hosts > 1)
		return buf;
	if (command && pids)
		show_command(p, command, buf);
	else if (command) /* with -a */
		snprintf(buf, SUBJECT_SIZE, "everything during %.128s", command);
	else if (pids)
		show_processes(p, pids, buf);
	else if (tids)
		snprintf(buf, SUBJECT_SIZE, "thread%s %.200s", strchr(tids, ',') ? "s" : "", tids);
	else if (group)
		snprintf(buf, SUBJECT_SIZE, "%s", group);
	if (comm)
		text_append(buf, SUBJECT_SIZE, strlen(buf), "%sthreads '%.64s'", *buf ? ", " : "",
			    comm);
	return buf;
}
