// SPDX-License-Identifier: Apache-2.0
/* Parses sets of CPU numbers and looks CPUs up in them. */
#include "capture/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Larger than any kernel's limit for CPUs. */
#define CPU_SET_MAX 65536

static int add_range(struct cpu_set *s, unsigned long first, unsigned long last)
{
	bool *in;

	if (last < first || last >= CPU_SET_MAX)
		return -EINVAL;
	if (last >= s->count) {
		in = realloc(s->in, last + 1);
		if (!in)
			return -ENOMEM;
		memset(in + s->count, 0, last + 1 - s->count);
		s->in = in;
		s->count = (unsigned int)last + 1;
	}
	for (unsigned long i = first; i <= last; i++)
		s->in[i] = true;
	return 0;
}

/* Parse "3" or "3-5" at *text, and advance *text past it. */
static int take_range(struct cpu_set *s, const char **text)
{
	unsigned long first, last;
	char *end;

	if (!isdigit((unsigned char)**text))
		return -EINVAL;
	first = last = strtoul(*text, &end, 10);
	if (*end == '-') {
		if (!isdigit((unsigned char)end[1]))
			return -EINVAL;
		last = strtoul(end + 1, &end, 10);
	}
	*text = end;
	return add_range(s, first, last);
}

int cpu_set_parse(struct cpu_set *out, const char *list, struct error *err)
{
	struct cpu_set s = {0};
	const char *at = list;
	int ret;

	for (;;) {
		ret = take_range(&s, &at);
		if (ret || *at != ',')
			break;
		at++;
	}
	if (!ret && *at && *at != '\n')
		ret = -EINVAL;
	if (ret) {
		cpu_set_free(&s);
		return error_set(err, ret, "'%s' is no list of CPUs such as 0,2-3", list);
	}
	*out = s;
	return 0;
}

int cpu_set_online(struct cpu_set *out, struct error *err)
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
	return cpu_set_parse(out, line, err);
}

bool cpu_set_has(const struct cpu_set *s, unsigned int cpu)
{
	return cpu < s->count && s->in[cpu];
}

void cpu_set_free(struct cpu_set *s)
{
	free(s->in);
	*s = (struct cpu_set){0};
}
