// SPDX-License-Identifier: Apache-2.0
/* Parses lists of CPUs, from the user and from the kernel. */
#include "capture/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int cpus_parse(number_list *out, const char *text, struct error *err)
{
	return number_list_parse(out, text, "CPUs", "", err);
}

static const char online_path[] = "/sys/devices/system/cpu/online";

int cpus_open_online(struct error *err)
{
	int fd = open(online_path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? error_errno(err, -errno, "%s", online_path) : fd;
}

int cpus_read_online(number_list *out, int fd, struct error *err)
{
	char line[4096];
	ssize_t size = pread(fd, line, sizeof(line) - 1, 0);

	if (size <= 0)
		return error_errno(err, size < 0 ? -errno : -EIO, "%s", online_path);
	line[size] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return cpus_parse(out, line, err);
}

int cpus_online(number_list *out, struct error *err)
{
	int fd = cpus_open_online(err), ret;

	if (fd < 0)
		return fd;
	ret = cpus_read_online(out, fd, err);
	close(fd);
	return ret;
}
