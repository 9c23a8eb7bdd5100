/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options and process settings shared by the commands that capture: the processes and threads to
 * sample, priority, limits.
 */
#ifndef SKEIN_CMD_RECORDER_H
#define SKEIN_CMD_RECORDER_H

#include <stddef.h>

#include "base/number_list.h"
#include "base/options.h"
#include "capture/capture.h"
#include "capture/service.h"

/*
 * The targets to sample, from the command line. The struct must be the first member of the
 * command's options.
 */
struct targets {
	bool all;
	number_list pids, tids;
	const char *comm, *cgroup, *cpus;
	uint64_t frequency; /* Hz; 0 if not given */
	bool user_only, kernel_only;
	bool whole_host, pod;
	const char *service_rules;
};

/* Values of option_spec.set; the options must begin with a struct targets. */
int targets_set_pids(void *options, const char *value, struct error *err);
int targets_set_tids(void *options, const char *value, struct error *err);
int targets_set_frequency(void *options, const char *value, struct error *err);

/* Rows of a table of options. */
#define TARGET_OPTIONS(all_help) \
	{.name = "Which processes (all that is given must hold)", .type = OPTION_HEADING}, \
	{.name = "all-cpus", .letter = 'a', .type = OPTION_FLAG, .help = all_help, \
	 .offset = offsetof(struct targets, all)}, \
	{.name = "pid", .letter = 'p', .type = OPTION_CALL, .arg = "PIDS", \
	 .set = targets_set_pids, \
	 .help = "These processes with all their threads and children, those born later too."}, \
	{.name = "tid", .letter = 't', .type = OPTION_CALL, .arg = "TIDS", \
	 .set = targets_set_tids, .help = "These threads only."}, \
	{.name = "comm", .type = OPTION_TEXT, .arg = "GLOB", \
	 .help = "Threads whose name, or whose process's name, fits the pattern.", \
	 .offset = offsetof(struct targets, comm)}, \
	{.name = "cgroup", .type = OPTION_TEXT, .arg = "PATH", \
	 .help = "A control group and all below it: its directory under /sys/fs/cgroup, or its " \
		 "path as /proc/PID/cgroup shows it.", \
	 .offset = offsetof(struct targets, cgroup)}, \
	{.name = "pod", .type = OPTION_FLAG, \
	 .help = "The pod in which skein itself runs, by its control group. For a sidecar that " \
		 "shares the host's pid namespace.", \
	 .offset = offsetof(struct targets, pod)}, \
	{.name = "host", .type = OPTION_FLAG, \
	 .help = "In a pid namespace of its own, such as a container's: also the processes " \
		 "outside of it, by name and with their kernel frames.", \
	 .offset = offsetof(struct targets, whole_host)}, \
	{.name = "cpu", .letter = 'C', .type = OPTION_TEXT, .arg = "CPUS", \
	 .help = "These CPUs only, such as 0,2-3.", .offset = offsetof(struct targets, cpus)}

#define FREQUENCY_OPTION \
	{.name = "freq", .letter = 'F', .type = OPTION_CALL, .arg = "HZ", \
	 .set = targets_set_frequency, .help = "Samples per second and CPU. Default: 99."}

#define SERVICE_RULES_OPTION \
	{.name = "service-rules", .type = OPTION_TEXT, .arg = "FILE", \
	 .help = "A file with lines PATTERN NAME that name services by their control groups, " \
		 "before the built-in rules, which 'skein doctor --services' prints. " \
		 "Default: " SERVICE_DEFAULT_FILE ", if it exists.", \
	 .offset = offsetof(struct targets, service_rules)}

#define STACK_PART_OPTIONS \
	{.name = "user-stacks", .letter = 'U', .type = OPTION_FLAG, \
	 .help = "Leave kernel frames out of the stacks.", \
	 .offset = offsetof(struct targets, user_only)}, \
	{.name = "kernel-stacks", .letter = 'K', .type = OPTION_FLAG, \
	 .help = "Leave user frames out of the stacks.", \
	 .offset = offsetof(struct targets, kernel_only)}

/* Report options that exclude each other. Return 0, or the exit status 2. */
int targets_check(const struct targets *t, const char *command);
/*
 * Set the capture options that follow from the targets, except targets.command; without a given
 * frequency, 99 Hz. The targets must outlive o.
 */
void targets_apply(const struct targets *t, struct capture_options *o);
void targets_free(struct targets *t);

/*
 * Parse a frequency or period of at least 1. Return 0, or -EINVAL with the cause in *err. 0 is
 * refused, because in *out it means that the option is not given.
 */
int recorder_parse_rate(uint64_t *out, const char *value, struct error *err);

/*
 * Choose the directory of cached unwind tables and write its path to buf: the given one; else
 * $CACHE_DIRECTORY, which systemd sets in units with CacheDirectory=; else /var/cache/skein for
 * root, or skein in $XDG_CACHE_HOME or ~/.cache, which is created if it does not exist. "" means no
 * cache: it was given, or the environment names no directory. Return buf.
 */
char *recorder_choose_cache(const char *given, char *buf, size_t size);

/*
 * Choose the folder of files from debuginfod servers, below that of unwind tables, which is made if
 * it does not exist. Return 0, or -ENOENT if the environment names no folder.
 */
int recorder_choose_debug_cache(char *buf, size_t size, struct error *err);

/*
 * Raise the priority of the process (setpriority(2) with a negative nice value). On a machine
 * with more runnable threads than CPUs, a recorder that waits for its turn reads neither the
 * mappings of new processes nor the samples in time, and loses both. The recorder needs little
 * CPU time. Its helpers come next: while tables are late, samples wait with copies of their stacks,
 * which costs more CPU time and memory than the helpers need. (Of 40 runnable threads on 2 CPUs at
 * 999 Hz, 12 to 28 % of the stacks were given up with a nice value of -5, none with -10.) The
 * recorder gets about four times the share of a helper, because a hostile file can keep helpers
 * busy for long, and rings fill while several make tables. Without CAP_SYS_NICE the priority stays
 * as it is.
 */
#define RECORDER_NICE (-15)
#define HELPERS_NICE (-9) /* set while the helpers are forked in capture_source() */
void recorder_raise_priority(int nice);

/*
 * Make malloc() return large blocks to the system when they are freed, also in the forked
 * helpers. By default malloc() takes them from its heap after the first one was freed, and small
 * long-lived blocks then keep the heap large. Tables of files come and go during a whole
 * recording.
 */
void recorder_return_memory(void);

/* Return how many context switches the machine has made since it started; 0: not known. */
uint64_t recorder_switches(void);

/* Print a warning for each missing capability or setting that makes a recording incomplete. */
void recorder_warn_of_needs(void);

/*
 * Raise the soft limit of open files to the hard limit, because symbols are read from open files.
 * A command that was forked before keeps its limit.
 */
void recorder_raise_file_limit(void);

#endif
