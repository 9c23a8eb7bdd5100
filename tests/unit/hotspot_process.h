/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of a live JVM, for readers: the process is found by its mapped libjvm. */
#ifndef SKEIN_TESTS_HOTSPOT_PROCESS_H
#define SKEIN_TESTS_HOTSPOT_PROCESS_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbolizers/hotspot_tables.h"

struct hotspot_subject {
	int memory; /* descriptor of /proc/PID/mem */
	unsigned int reads;
	struct hotspot_objects objects; /* in the process */
	uint64_t bias;
	struct hotspot_tables *tables;
};

static inline int subject_open(int pid, const char *what)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static inline int subject_read(void *context, void *to, size_t bytes, uint64_t address)
{
	struct hotspot_subject *s = context;
	ssize_t got;

	s->reads++;
	if (address > INT64_MAX)
		return -EFAULT;
	got = pread(s->memory, to, bytes, (off_t)address);
	return got < 0 ? -errno : got == (ssize_t)bytes ? 0 : -EFAULT;
}

/* Look for libjvm in a mapped file. */
static inline int subject_look_into(struct hotspot_subject *s, int pid, const uint64_t range[3])
{
	uint64_t delta;
	char name[96];
	int fd, ret;

	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, range[0], range[1]);
	fd = subject_open(pid, name);
	if (fd < 0)
		return -errno;
	ret = hotspot_file_read(&s->objects, &delta, fd, NULL);
	close(fd);
	if (ret)
		return ret;
	s->bias = range[0] - range[2] - delta;
	for (int i = 0; i < HOTSPOT_OBJECTS; i++)
		s->objects.address[i] += s->bias;
	return 0;
}

/* Find libjvm in a process and open its memory. Return 0, -ENOENT or another negative errno. */
static inline int subject_find(struct hotspot_subject *s, int pid)
{
	int fd = subject_open(pid, "maps"), ret = -ENOENT;
	FILE *in = fd < 0 ? NULL : fdopen(fd, "r");
	char line[8192], rights[8];
	uint64_t range[3];

	*s = (struct hotspot_subject){.memory = subject_open(pid, "mem")};
	while (in && ret && fgets(line, sizeof(line), in))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &range[0], &range[1],
			   rights, &range[2]) == 4 &&
		    rights[2] == 'x' && strstr(line, "libjvm"))
			ret = subject_look_into(s, pid, range);
	if (in)
		fclose(in);
	return s->memory < 0 ? -EACCES : ret;
}

/* Also read the tables; a person's message is printed on failure. */
static inline int subject_begin(struct hotspot_subject *s, int pid)
{
	struct error err = {.text = ""};
	int ret = subject_find(s, pid);

	if (ret) {
		fprintf(stderr, "process %d has no libjvm: %s\n", pid, strerror(-ret));
		return ret;
	}
	ret = hotspot_tables_read(&s->tables, &s->objects, subject_read, s, &err);
	if (ret)
		fprintf(stderr, "%s (%s)\n", err.text, strerror(-ret));
	return ret;
}

static inline void subject_end(struct hotspot_subject *s)
{
	hotspot_tables_free(s->tables);
	if (s->memory >= 0)
		close(s->memory);
}

#endif
