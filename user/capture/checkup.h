/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks for `skein doctor` which parts of skein work on this machine, mostly by trying them:
 * programs are loaded, events opened, a child is sampled, files of other users' processes are
 * opened. Capabilities and sysctls are read only where nothing can be tried, and to explain a
 * failure.
 */
#ifndef SKEIN_CAPTURE_CHECKUP_H
#define SKEIN_CAPTURE_CHECKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/needs.h"

/* X(NAME, required for recording, "name", "how it is checked", "what is lost without it") */
#define CHECKS(X) \
	X(KERNEL, true, "kernel", "uname(2)", "no recording") \
	X(NAMESPACE, true, "user namespace", "the number of /proc/self/ns/user", "no recording") \
	X(BTF, true, "kernel types", "the types in /sys/kernel/btf/vmlinux are read", \
	  "no recording") \
	X(PROGRAM, true, "sampling program", \
	  "the programs that sample, walk stacks and follow processes are loaded", "no recording") \
	X(EVENT, true, "sampling event", "a cpu-clock event is opened on a CPU", "no recording") \
	X(SIDEBAND, true, "process life", \
	  "the event that reports processes and mappings is opened on every CPU, with its ring", \
	  "no recording") \
	X(WORKER, true, "names and tables", \
	  "the worker is started, confines itself, makes libc's unwind table and names a " \
	  "function", \
	  "no names, no whole stacks") \
	X(ITSELF, true, "its own samples", \
	  "a child process is recorded; its stacks must be complete and named", \
	  "no names, no whole stacks") \
	X(SCHED, false, "context switches", \
	  "the scheduler's programs are loaded, and the threads that there are listed by a task " \
	  "iterator", \
	  "no -e sched") \
	X(CYCLES, false, "hardware counter", "a cycles event is opened on a CPU", \
	  "no -e cycles; cpu-clock, the default, works without") \
	X(KERNEL_NAMES, false, "kernel names", "an address is read from /proc/kallsyms", \
	  "kernel functions without names") \
	X(MAPPINGS, false, "others' mappings", "/proc/PID/maps of another user's process is read", \
	  "stacks of other users' processes that ran before the recording end at once") \
	X(ROOT, false, "others' files", "/proc/PID/root of another user's process is opened", \
	  "programs that only their own root directory holds have no names") \
	X(MAP_FILES, false, "deleted files", \
	  "a mapped file of another user's process is opened through /proc/PID/map_files", \
	  "deleted and replaced binaries have no names, and stacks end in them") \
	X(MEMORY, false, "others' memory", "/proc/PID/mem of another user's process is opened", \
	  "no Python names of other users' processes") \
	X(PRIORITY, false, "priority", "the own nice value is lowered for a moment", \
	  "on an overloaded machine more samples are lost, which is counted") \
	X(CGROUPS, false, "control groups", "their hierarchies are looked for", \
	  "no --cgroup, no containers in reports") \
	X(PIDS, false, "pid namespace", "the number of /proc/self/ns/pid", \
	  "only processes of the own pid namespace are recorded") \
	X(CACHE, false, "cache folder", "the folder for unwind tables is opened for writing", \
	  "unwind tables are made anew for every recording") \
	X(DEBUGINFOD, false, "debuginfod", "debuginfod-find is looked for in $PATH", \
	  "no --debuginfod: files without symbols have names only from debug files here") \
	X(HELPERS, false, "helpers' user", \
	  "the capabilities to give helper processes a user of their own, and to end them then", \
	  "other programs of this user can stop and kill the helpers, which costs names") \
	X(RESTRICTIONS, false, "restrictions", \
	  "lockdown of the kernel, seccomp filter and AppArmor profile of this process", \
	  "what the lines above say")

#define CHECK_ENUM(NAME, ...) CHECK_##NAME,
enum check { CHECKS(CHECK_ENUM) CHECK_COUNT };

enum check_verdict { VERDICT_OK, VERDICT_MISSING, VERDICT_NOT_NEEDED };

struct finding {
	enum check check;
	enum check_verdict verdict;
	uint64_t needs; /* NEED_BIT()s of the needs that would fix the failure; 0: unknown */
	/* text that says what was found or what failed, without control characters */
	char found[384];
};

/*
 * Return a static text of CHECKS: the name of a check, how it is done, and what is lost if the
 * checked part does not work. checkup_required() returns whether recording needs that part.
 */
const char *checkup_name(enum check c);
const char *checkup_method(enum check c);
const char *checkup_consequence(enum check c);
bool checkup_required(enum check c);

struct checkup_options {
	/* directory for unwind tables that `skein record` would use; "": none */
	const char *unwind_cache;
};

/*
 * Run the checks in the order of CHECKS and pass each finding to each() when it is known. Usually
 * takes a second or two; the timeouts of single checks are up to 10 s.
 */
void checkup_run(const struct checkup_options *o,
		 void (*each)(void *context, const struct finding *f), void *context);

/*
 * A file of a language runtime that some process has mapped. A file is reported once, or once for
 * each group of its processes that differ in their support. Texts are valid during the callback.
 */
struct runtime_found {
	const char *name; /* such as "Python 3.11.2" */
	const char *path;
	uint64_t processes; /* number of processes that have the file mapped */
	const char *support; /* how far skein supports it, or what gives names */
	bool readable; /* frames of its code get names */
	bool tested; /* as readable, and the names are known to be right for this version */
};

/*
 * Report the runtimes that run and that this process may look at: at most 64 files and 512
 * processes, found within 5 s. Returns 0 or a negative errno.
 */
int checkup_runtimes(void (*each)(void *context, const struct runtime_found *r), void *context,
		     struct error *err);

#endif
