// SPDX-License-Identifier: Apache-2.0
/*
 * Parse texts of /proc, chosen by the first byte: any user controls names, paths and control
 * groups.
 */
#include <stdio.h>
#include <string.h>

#include "capture/cgroup.h"
#include "capture/procfs.h"
#include "capture/service.h"
#include "fuzz.h"

static void check(int ok)
{
	if (!ok)
		abort();
}

static void read_stat(const char *text)
{
	struct procfs_stat stat;

	if (!procfs_parse_stat(text, &stat))
		check(strnlen(stat.comm, sizeof(stat.comm)) < sizeof(stat.comm));
}

static void read_lines(int fd, int status)
{
	static struct procfs_lines lines;
	struct procfs_status s = {0};
	struct procfs_mapping m;
	char *line;

	procfs_lines_init(&lines, fd);
	while ((line = procfs_line(&lines))) {
		check(strlen(line) < PROCFS_LINE_MAX);
		if (status)
			procfs_parse_status(line, &s);
		else if (procfs_parse_mapping(line, &m))
			check(procfs_without_deleted(m.path) <= strlen(m.path));
	}
	check(!lines.error);
}

static void read_cgroups(int fd, const char *text)
{
	static struct services *rules;
	struct service_names names;
	char path[64];
	struct cgroups *c = NULL;
	struct error err;

	if (!rules)
		check(!services_new(&rules, "/dev/null", &err));
	services_find_container(rules, text, &names);
	check(strlen(names.container) < sizeof(names.container));
	services_find_name(rules, text, text, &names);
	check(strlen(names.service) < sizeof(names.service));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (cgroups_new(&c, path, &err) < 0)
		return;
	cgroups_free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text;
	int fd;

	if (!size)
		return 0;
	fd = fuzz_file(data + 1, size - 1);
	text = strndup((const char *)data + 1, size - 1);
	check(text != NULL);
	switch (data[0] % 5) {
	case 0:
		read_stat(text);
		break;
	case 1:
	case 2:
		read_lines(fd, data[0] % 5 == 1);
		break;
	case 3:
		read_cgroups(fd, text);
		break;
	case 4:
		procfs_unescape(text);
		break;
	}
	free(text);
	close(fd);
	return 0;
}
