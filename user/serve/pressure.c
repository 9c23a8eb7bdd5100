// SPDX-License-Identifier: Apache-2.0
/* Read /proc/pressure (pressure.h). */
#include "serve/pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NSEC_PER_USEC 1000ULL
#define READINGS_PER_TIME 32 /* fewer than PRESSURE_READINGS, as rounds come late */

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
	*p = (struct pressure){.file = fd, .time = time};
	return 0;
}

void pressure_close(struct pressure *p)
{
	if (p->file >= 0)
		close(p->file);
	p->file = -1;
}

/* Add a reading: the time now, and the total of waiting, ns. */
static bool pressure_add(struct pressure *p, uint64_t now, uint64_t total, uint64_t percent)
{
	uint64_t i = p->count, oldest = i > PRESSURE_READINGS ? i - PRESSURE_READINGS : 0;
	bool above = false, was = p->above;

	if (i && now < p->readings[(i - 1) % PRESSURE_READINGS].at + p->time / READINGS_PER_TIME)
		return false;
	while (i > oldest && p->readings[(i - 1) % PRESSURE_READINGS].at + p->time > now)
		i--;
	if (i > oldest) { /* the latest reading that is old enough */
		uint64_t at = p->readings[(i - 1) % PRESSURE_READINGS].at;
		uint64_t before = p->readings[(i - 1) % PRESSURE_READINGS].total;

		above = total > before && (total - before) > (now - at) / 100 * percent;
	}
	p->readings[p->count % PRESSURE_READINGS].at = now;
	p->readings[p->count++ % PRESSURE_READINGS].total = total;
	p->above = above;
	return above && !was;
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
	return pressure_add(p, now, total * NSEC_PER_USEC, percent);
}
