// SPDX-License-Identifier: Apache-2.0
/* Describes the machine and the options of the recording in records of the trace. */
#include "capture/describe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "capture/clock.h"
#include "capture/schedule.h"

/* Read the first line of a small system file into buf, without the newline; "" on failure. */
static void read_first_line(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");

	buf[0] = '\0';
	if (!f)
		return;
	if (fgets(buf, (int)size, f))
		buf[strcspn(buf, "\n")] = '\0';
	fclose(f);
}

/*
 * Return the ns to add to CLOCK_BOOTTIME to get the other clock. The other clock is read several
 * times between two reads of CLOCK_BOOTTIME; the reading with the shortest interval is used.
 */
static int64_t clock_offset(clockid_t clock)
{
	uint64_t least = UINT64_MAX;
	int64_t offset = 0;

	for (int i = 0; i < 16; i++) {
		uint64_t before = clock_boot_ns(), time = clock_ns(clock), after = clock_boot_ns();

		if (after - before >= least)
			continue;
		least = after - before;
		offset = (int64_t)(time - before - least / 2);
	}
	return offset;
}

int describe_host(struct sink *sink, uint64_t id, uint64_t start, uint64_t end, struct error *err)
{
	char machine[64], boot[64];
	struct utsname names;
	struct host h = {.id = id, .start = start, .end = end};

	if (uname(&names) < 0)
		return error_errno(err, -errno, "uname");
	read_first_line("/etc/machine-id", machine, sizeof(machine));
	read_first_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot));
	h.hostname = names.nodename;
	h.machine_id = machine;
	h.boot_id = boot;
	h.kernel = names.release;
	h.arch = names.machine;
	h.cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	h.memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	h.realtime_offset = clock_offset(CLOCK_REALTIME);
	h.monotonic_offset = clock_offset(CLOCK_MONOTONIC);
	return put_host(sink, &h, err);
}

struct described {
	struct sink *sink;
	uint64_t host, id;
};

static int describe_value(struct described *d, const char *key, const char *value,
			  struct error *err)
{
	struct info i = {.id = ++d->id, .host = d->host, .key = key, .value = value};

	return value && value[0] ? put_info(d->sink, &i, err) : 0;
}

static int describe_numbers(struct described *d, const char *key, const uint32_t *numbers,
			    size_t count, struct error *err)
{
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < count && used < sizeof(text) - 12; i++)
		used = text_append(text, sizeof(text), used, "%s%u", i ? "," : "", numbers[i]);
	return describe_value(d, key, text, err);
}

/* Describe the command, for the titles of its recording (analyze/subject.h). */
static int describe_command(struct described *d, const struct capture_command *c, struct error *err)
{
	char count[16];
	int ret;

	if (!c->program)
		return 0;
	snprintf(count, sizeof(count), "%u", c->arguments);
	ret = describe_value(d, INFO_COMMAND, c->program, err);
	if (!ret)
		ret = describe_value(d, INFO_ARGUMENTS, count, err);
	return ret ? ret : describe_value(d, INFO_COMMAND_LINE, c->line, err);
}

int describe_pauses(struct sink *sink, uint64_t host, uint64_t paused, struct error *err)
{
	char text[32];
	/* the writer takes the next free id */
	const struct info i = {.host = host, .key = INFO_PAUSED, .value = text};

	snprintf(text, sizeof(text), "%llu", (unsigned long long)paused);
	return paused ? put_info(sink, &i, err) : 0;
}

int describe_options(struct sink *sink, uint64_t host, const struct capture_options *o,
		     struct error *err)
{
	struct described d = {.sink = sink, .host = host};
	char buffer[32];
	int ret;

	snprintf(buffer, sizeof(buffer), "%llu", (unsigned long long)o->memory.buffer);
	ret = describe_value(&d, "skein.version", SKEIN_VERSION, err);
	if (!ret)
		ret = describe_command(&d, &o->targets.launched, err);
	if (!ret)
		ret = describe_value(&d, "option.cpus", o->targets.cpus, err);
	if (!ret)
		ret = describe_value(&d, "option.comm", o->targets.comm, err);
	if (!ret)
		ret = describe_value(&d, "option.cgroup",
				     o->targets.pod ? "(own pod)" : o->targets.cgroup, err);
	if (!ret && o->targets.whole_host)
		ret = describe_value(&d, "option.host", "yes", err);
	if (!ret)
		ret = describe_numbers(&d, "option.pids", o->targets.pids, o->targets.pid_count,
				       err);
	if (!ret)
		ret = describe_numbers(&d, "option.tids", o->targets.tids, o->targets.tid_count,
				       err);
	if (!ret && (o->user_only || o->kernel_only))
		ret = describe_value(&d, "option.stacks", o->user_only ? "user" : "kernel", err);
	if (!ret && o->sample)
		ret = describe_value(&d, "option.buffer", buffer, err);
	if (!ret)
		ret = describe_value(&d, INFO_CPU_BUDGET, o->when.rates.budget, err);
	if (!ret && o->sched) {
		snprintf(buffer, sizeof(buffer), "%u ns", SCHEDULE_RESOLUTION);
		ret = describe_value(&d, "sched.resolution", buffer, err);
	}
	return ret;
}
