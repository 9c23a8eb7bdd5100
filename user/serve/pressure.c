// SPDX-License-Identifier: Apache-2.0
/* Read /proc/pressure (pressure.h). */
#include "serve/pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NSEC_PER_USEC 1000ULL

int pressure_open(struct pressure *p, const char *resource, uint64_t time, struct error *err)
{
	char path[64], byte;
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/proc/pressure/%s", resource);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* A kernel that was booted without psi=1 has the file, and refuses to read it. */
	if (fd < 0 || pread(fd, &byte, 1, 0) < 0)
		ret = -errno;
	if (ret) {
		if (fd >= 0)
			close(fd);
		error_errno(err, ret, "%s", path);
		error_hint(err, "the kernel needs psi=1 on its command line");
		return ret;
	}
	*p = (struct pressure){.file = fd, .readings.time = time};
	return 0;
}

void pressure_close(struct pressure *p)
{
	if (p->file >= 0)
		close(p->file);
	p->file = -1;
}

bool pressure_read(struct pressure *p, uint64_t now, uint64_t percent)
{
	char text[256];
	unsigned long long total;
	ssize_t size;
	const char *at;

	if (p->file < 0)
		return false;
	size = pread(p->file, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return false;
	text[size] = '\0';
	at = strstr(text, "total="); /* of the line "some", the first one */
	if (!at || sscanf(at, "total=%llu", &total) != 1)
		return false;
	return readings_add(&p->readings, now, total * NSEC_PER_USEC, percent);
}
