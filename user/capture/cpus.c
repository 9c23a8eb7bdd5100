// SPDX-License-Identifier: Apache-2.0
/* Parses lists of CPUs, from the user and from the kernel. */
#include "capture/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int cpus_parse(number_list *out, const char *text, struct error *err)
{
	return number_list_parse(out, text, "CPUs", "", err);
}

int cpus_online(number_list *out, struct error *err)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	char line[4096];
	FILE *f = fopen(path, "re");
	int ret;

	if (!f)
		return error_errno(err, -errno, "%s", path);
	ret = fgets(line, sizeof(line), f) ? 0 : -EIO;
	fclose(f);
	if (ret)
		return error_errno(err, ret, "%s", path);
	line[strcspn(line, "\n")] = '\0';
	return cpus_parse(out, line, err);
}
