// SPDX-License-Identifier: Apache-2.0
/* Options and process settings that the capturing commands share. */
#include "cmd/recorder.h"

#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/needs.h"

int targets_set_pids(void *options, const char *value, struct error *err)
{
	return number_list_parse(&((struct targets *)options)->pids, value, "processes", HINT_COMM,
				 err);
}

int targets_set_tids(void *options, const char *value, struct error *err)
{
	return number_list_parse(&((struct targets *)options)->tids, value, "threads", HINT_COMM,
				 err);
}

int recorder_parse_rate(uint64_t *out, const char *value, struct error *err)
{
	int ret = parse_count(value, out, err);

	if (!ret && !*out)
		ret = error_set(err, -EINVAL, "'%s' samples nothing: at least 1", value);
	return ret;
}

int targets_set_frequency(void *options, const char *value, struct error *err)
{
	return recorder_parse_rate(&((struct targets *)options)->frequency, value, err);
}

int targets_check(const struct targets *t, const char *command)
{
	if (t->user_only && t->kernel_only)
		return log_error(2, "%s: -U and -K exclude each other", command);
	if (t->all && (t->pids.count || t->tids.count))
		return log_error(2, "%s: -a excludes -p and -t", command);
	if (t->pod && (t->cgroup || t->whole_host))
		return log_error(2, "%s: --pod excludes --cgroup and --host", command);
	return 0;
}

void targets_apply(const struct targets *t, struct capture_options *o)
{
	o->frequency = t->frequency ? t->frequency : 99;
	o->targets.cpus = t->cpus;
	o->targets.pids = t->pids.items;
	o->targets.pid_count = t->pids.count;
	o->targets.tids = t->tids.items;
	o->targets.tid_count = t->tids.count;
	o->targets.comm = t->comm;
	o->targets.cgroup = t->cgroup;
	o->targets.whole_host = t->whole_host;
	o->targets.pod = t->pod;
	o->files.service_rules = t->service_rules;
	o->user_only = t->user_only;
	o->kernel_only = t->kernel_only;
}

void targets_free(struct targets *t)
{
	vector_free(&t->pids);
	vector_free(&t->tids);
}

/*
 * Make the parent of path, the user's cache directory. The XDG base directory specification lets
 * the program that needs the directory create it.
 */
static void make_parent_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *parent = slash ? strndup(path, (size_t)(slash - path)) : NULL;

	if (parent)
		(void)mkdir(parent, 0700);
	free(parent);
}

/*
 * Write the first of a unit's cache folders, between which there are colons. With DynamicUser=yes
 * it is a link that root made, which the cache does not follow.
 */
static void choose_cache_of_unit(const char *unit, char *buf, size_t size)
{
	char *real;

	snprintf(buf, size, "%.*s", (int)strcspn(unit, ":"), unit);
	real = realpath(buf, NULL);
	if (real)
		snprintf(buf, size, "%s", real);
	free(real);
}

char *recorder_choose_cache(const char *given, char *buf, size_t size)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	const char *unit = getenv("CACHE_DIRECTORY");

	if (given)
		snprintf(buf, size, "%s", given);
	else if (unit && unit[0] == '/')
		choose_cache_of_unit(unit, buf, size);
	else if (geteuid() == 0) /* not $HOME, which may be that of the user who called sudo */
		snprintf(buf, size, "/var/cache/skein");
	else if (cache && cache[0] == '/')
		snprintf(buf, size, "%s/skein", cache);
	else if (home && home[0] == '/')
		snprintf(buf, size, "%s/.cache/skein", home);
	else
		buf[0] = '\0';
	if (!given && geteuid())
		make_parent_folder(buf);
	return buf;
}

int recorder_choose_debug_cache(char *buf, size_t size, struct error *err)
{
	char tables[PATH_MAX];

	recorder_choose_cache(NULL, tables, sizeof(tables));
	if (!*tables)
		return error_set(err, -ENOENT,
				 "there is no folder for files from servers: set HOME or "
				 "XDG_CACHE_HOME");
	(void)mkdir(tables, 0700); /* a failure shows when the folder below is made */
	if (snprintf(buf, size, "%s/debuginfod", tables) >= (int)size)
		return error_errno(err, -ENAMETOOLONG, "%s", tables);
	return 0;
}

void recorder_raise_priority(int nice)
{
	if (getpriority(PRIO_PROCESS, 0) > nice)
		(void)setpriority(PRIO_PROCESS, 0, nice);
}

void recorder_return_memory(void)
{
	mallopt(M_MMAP_THRESHOLD, 128 << 10);
}

void recorder_raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

uint64_t recorder_switches(void)
{
	unsigned long long count = 0;
	FILE *in = fopen("/proc/stat", "re");
	char *line = NULL;
	size_t size = 0;

	while (in && getline(&line, &size, in) > 0 && sscanf(line, "ctxt %llu", &count) != 1)
		;
	free(line);
	if (in)
		fclose(in);
	return count;
}

/*
 * Return the missing needs of which a recording warns. Without a required one the recording has
 * failed already; CAP_SYS_NICE matters only on an overloaded machine; CAP_SYSLOG is missing only if
 * the kernel hides its addresses.
 */
static uint64_t find_missing_needs(void)
{
	const uint64_t kernel = NEED_BIT(NEED_CAP_SYSLOG), comfort = NEED_BIT(NEED_CAP_SYS_NICE);
	const enum need names = here_kernel_names();
	uint64_t lacking = needs_missing() & ~(NEEDS_REQUIRED | kernel | comfort);

	if (names != NEED_COUNT)
		lacking |= NEED_BIT(names);
	return lacking;
}

void recorder_warn_of_needs(void)
{
	uint64_t lacking = find_missing_needs();

	for (unsigned int i = 0; i < NEED_COUNT; i++)
		if (lacking & NEED_BIT(i))
			log_warn("%s is missing: %s", need_table[i].name, need_table[i].lost);
	if (lacking)
		log_warn("'skein doctor' shows how to fix it");
}
