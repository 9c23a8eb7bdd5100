/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands that capture share: whom they sample, and how they treat the machine. */
#ifndef SKEIN_CMD_RECORDER_H
#define SKEIN_CMD_RECORDER_H

#include <stddef.h>

#include "base/options.h"
#include "base/vector.h"
#include "capture/capture.h"

typedef VECTOR(uint32_t) number_list;

/* Whom to sample, as the command line says it. The first member of the command's options. */
struct targets {
	bool all;
	number_list pids, tids;
	const char *comm, *cgroup, *cpus;
	uint64_t frequency; /* Hz; 0: not given */
	bool user_only, kernel_only;
};

/* For option_spec.set: the options begin with a struct targets. */
int targets_set_pids(void *options, const char *value, struct error *err);
int targets_set_tids(void *options, const char *value, struct error *err);
int targets_set_frequency(void *options, const char *value, struct error *err);

/* Rows of a table of options. */
#define TARGET_OPTIONS(all_help) \
	{.name = "Whom to sample (all that is given must hold)", .type = OPTION_HEADING}, \
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
	{.name = "cpu", .letter = 'C', .type = OPTION_TEXT, .arg = "CPUS", \
	 .help = "These CPUs only, such as 0,2-3.", .offset = offsetof(struct targets, cpus)}

#define FREQUENCY_OPTION \
	{.name = "freq", .letter = 'F', .type = OPTION_CALL, .arg = "HZ", \
	 .set = targets_set_frequency, .help = "Samples per second and CPU. Default: 99."}

#define STACK_PART_OPTIONS \
	{.name = "user-stacks", .letter = 'U', .type = OPTION_FLAG, \
	 .help = "Leave kernel frames out of the stacks.", \
	 .offset = offsetof(struct targets, user_only)}, \
	{.name = "kernel-stacks", .letter = 'K', .type = OPTION_FLAG, \
	 .help = "Leave user frames out of the stacks.", \
	 .offset = offsetof(struct targets, kernel_only)}

/* Options that exclude each other are told: 0, or the exit status 2. */
int targets_check(const struct targets *t, const char *command);
/* What they mean for the capture; the targets must outlive it. */
void targets_apply(const struct targets *t, struct capture_options *o);
void targets_free(struct targets *t);

/* A count of at least 1: 0 stands for "not given", so it cannot be given. */
int take_rate(uint64_t *ret, const char *value, struct error *err);

/*
 * Where unwind tables are kept: as given, or by the user and the environment; "" nowhere. Makes
 * the user's folder of caches if there is none. Returns buf.
 */
char *choose_unwind_cache(const char *given, char *buf, size_t size);

/*
 * On a machine with more to run than CPUs, a recorder that waits for its turn gets neither the
 * mappings of new processes nor the samples in time, and loses both: it goes before them, for the
 * little that it needs. Its helpers do less so, since what they work on may be made to take long.
 * Whoever may not (CAP_SYS_NICE) takes part as all do.
 */
#define RECORDER_NICE (-10)
#define HELPERS_NICE (-5) /* while they are forked: in capture_source() */
void go_first(int nice);

/*
 * Large blocks go back to the system when they are freed, in the helpers that are forked, too. By
 * itself malloc() takes them from its heap after the first one was freed, and what is small and
 * stays keeps a heap large. Tables of files come and go as long as a recording lasts.
 */
void give_memory_back(void);

/* Say what a recording that is possible will lack for want of capabilities. */
void warn_of_needs(void);

/*
 * Open files are what symbols are read from: take as many as the system allows. A command that
 * was forked before keeps the limit that it was given.
 */
void raise_file_limit(void);

#endif
