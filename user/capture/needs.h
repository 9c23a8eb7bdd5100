/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the requirements ("needs") of a recording on the machine, in one table from which
 * `skein doctor`, error messages and docs/privileges.md are made.
 */
#ifndef SKEIN_CAPTURE_NEEDS_H
#define SKEIN_CAPTURE_NEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * X(NAME, "for what", "what is lost without it"): capabilities, in the order in which documents and
 * messages list them. NEEDS_REQUIRED has those without which nothing is recorded.
 */
#define NEED_CAPABILITIES(X) \
	X(BPF, "loading the programs that take samples and switches", "no recording") \
	X(PERFMON, "events on all CPUs, and programs that read the kernel's memory", \
	  "no recording") \
	X(SYS_PTRACE, "mappings, memory and files of other users' processes", \
	  "no Python names in other users' processes, no names of deleted binaries and of " \
	  "programs that only their own root directory holds; on older kernels, which do not " \
	  "take CAP_PERFMON for it, no whole stacks of those that ran before the recording") \
	X(DAC_READ_SEARCH, "files and memory that only their owners may read", \
	  "no Python names in other users' processes, no names of deleted binaries and of " \
	  "programs that not everybody may read, and no whole stacks through these") \
	X(SYSLOG, "addresses of kernel symbols", "kernel functions without names") \
	X(CHECKPOINT_RESTORE, "/proc/PID/map_files: binaries that were deleted or replaced", \
	  "no names of deleted and replaced binaries, and no whole stacks through these") \
	X(SYS_NICE, "going before what is recorded", \
	  "on an overloaded machine more samples are lost, which is counted")

/*
 * X(NAME, "name", "for what", "what is lost without it", "text of an error", and for each setting
 * the line that fixes it: as root, as another user, in a systemd unit, for a container engine, in a
 * Kubernetes manifest)
 */
#define NEED_FEATURES(X) \
	X(KERNEL, "Linux 6.1 or newer", "what the programs ask of the kernel", "no recording", \
	  "this kernel cannot run the programs", "boot a newer kernel", "boot a newer kernel", \
	  "boot a newer kernel", "boot a newer kernel on the host", \
	  "nodeSelector: a node with a newer kernel") \
	X(BTF, "/sys/kernel/btf/vmlinux", "the layout of the kernel's structures", "no recording", \
	  "this kernel has no type information: /sys/kernel/btf/vmlinux is missing", \
	  "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as those of distributions are", \
	  "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as those of distributions are", \
	  "boot a kernel with CONFIG_DEBUG_INFO_BTF=y, as those of distributions are", \
	  "--volume /sys/kernel/btf:/sys/kernel/btf:ro", \
	  "hostPath: {path: /sys/kernel/btf}, mounted there with readOnly: true") \
	X(LOCKDOWN, "lockdown below confidentiality", "programs that read the kernel's memory", \
	  "no recording", \
	  "the kernel is locked down (confidentiality): it lets no program read its memory", \
	  "boot with lockdown=integrity, or without lockdown", \
	  "boot with lockdown=integrity, or without lockdown", \
	  "boot with lockdown=integrity, or without lockdown", \
	  "boot the host with lockdown=integrity, or without lockdown", \
	  "boot the node with lockdown=integrity, or without lockdown") \
	X(PARANOID, "kernel.perf_event_paranoid below 3", \
	  "events without CAP_SYS_ADMIN, on kernels that know such levels", "no recording", \
	  "kernel.perf_event_paranoid lets only CAP_SYS_ADMIN open events on this kernel", \
	  "sysctl kernel.perf_event_paranoid=2", "sudo sysctl kernel.perf_event_paranoid=2", \
	  "ExecStartPre=+sysctl kernel.perf_event_paranoid=2", \
	  "on the host: sysctl kernel.perf_event_paranoid=2", \
	  "on the node: sysctl kernel.perf_event_paranoid=2") \
	X(USER_NAMESPACE, "the initial user namespace", "capabilities that count", \
	  "no recording: a rootless container cannot work", \
	  "recording cannot work in a user namespace of its own, such as a rootless container", \
	  "sudo skein record, outside of this namespace", \
	  "sudo skein record, outside of this namespace", "PrivateUsers=no", \
	  "--userns=host, with a container engine that runs as root", "hostUsers: true") \
	X(SECCOMP, "the system calls bpf, perf_event_open, seccomp and open_by_handle_at", \
	  "loading programs, opening events, confining helper processes, names of control " \
	  "groups", \
	  "no recording", "a system call filter (seccomp) forbids it", \
	  "start skein outside of that filter", "start skein outside of that filter", \
	  "SystemCallFilter=@system-service bpf perf_event_open seccomp open_by_handle_at", \
	  "--security-opt seccomp=unconfined", "seccompProfile: {type: Unconfined}") \
	X(APPARMOR, "no AppArmor profile that forbids it", \
	  "files and memory of processes under other profiles", \
	  "names and Python frames of other processes", "an AppArmor profile forbids it", \
	  "aa-exec -p unconfined skein record", "aa-exec -p unconfined skein record", \
	  "AppArmorProfile=unconfined", "--security-opt apparmor=unconfined", \
	  "appArmorProfile: {type: Unconfined}") \
	X(RING_MEMORY, "memory for rings", "records of processes and mappings", "no recording", \
	  "the memory that events may lock is used up", "sysctl kernel.perf_event_mlock_kb=4096", \
	  "sudo sysctl kernel.perf_event_mlock_kb=4096", "LimitMEMLOCK=infinity", \
	  "--ulimit memlock=-1", "capabilities: {add: [IPC_LOCK]}") \
	X(KPTR, "kernel.kptr_restrict below 2", "addresses of kernel symbols", \
	  "kernel functions without names", "the kernel hides its addresses from everybody", \
	  "sysctl kernel.kptr_restrict=1", "sudo sysctl kernel.kptr_restrict=1", \
	  "ExecStartPre=+sysctl kernel.kptr_restrict=1", \
	  "on the host: sysctl kernel.kptr_restrict=1", \
	  "on the node: sysctl kernel.kptr_restrict=1") \
	X(KALLSYMS, "/proc/kallsyms", "names of kernel functions", \
	  "kernel functions without names", "/proc/kallsyms is hidden from this process", \
	  "start skein where /proc/kallsyms is not covered by a mount", \
	  "start skein where /proc/kallsyms is not covered by a mount", \
	  "ProtectKernelTunables=no, and ReadOnlyPaths=/proc/sys in its stead", \
	  "--security-opt unmask=/proc/kallsyms", "procMount: Unmasked") \
	X(PID_NAMESPACE, "the machine's pid namespace", "processes outside of the own container", \
	  "only processes of the own pid namespace; with --host others, too, by name and with " \
	  "their kernel frames", \
	  "this is a pid namespace of its own", "run skein outside of it", \
	  "run skein outside of it", "PrivatePIDs=no", "--pid=host", "hostPID: true") \
	X(COUNTER, "a hardware counter", "-e cycles", \
	  "no -e cycles; cpu-clock, the default, works without", \
	  "this machine has no hardware counter for cycles", \
	  "leave -e cycles out, or give the virtual machine a PMU", \
	  "leave -e cycles out, or give the virtual machine a PMU", \
	  "leave -e cycles out, or give the virtual machine a PMU", \
	  "leave -e cycles out, or give the virtual machine a PMU", \
	  "leave -e cycles out, or give the virtual machine a PMU") \
	X(CACHE, "a folder for unwind tables", "tables that are made once", \
	  "unwind tables are made anew for every recording", "the cache cannot be used", \
	  "install -d -m 700 /var/cache/skein", "mkdir -p -m 700 ~/.cache", \
	  "CacheDirectory=skein", \
	  "--volume skein-cache:/var/cache/skein", \
	  "emptyDir: {}, mounted at /var/cache/skein") \
	X(OWN_USER, "changing users (CAP_SETUID, CAP_SETGID, CAP_KILL)", \
	  "helper processes with a user of their own", \
	  "other programs of the recorder's user can stop and kill the helpers, which costs " \
	  "names until these are started again", "the helpers have the recorder's user", \
	  "start it from a root shell that has CAP_SETUID, CAP_SETGID and CAP_KILL", \
	  "run it with sudo", "AmbientCapabilities=CAP_SETUID CAP_SETGID CAP_KILL", \
	  "--cap-add SETUID --cap-add SETGID --cap-add KILL", \
	  "securityContext: {capabilities: {add: [SETUID, SETGID, KILL]}}")

#define NEED_OF_CAPABILITY(NAME, what, lost) NEED_CAP_##NAME,
#define NEED_OF_FEATURE(NAME, ...) NEED_##NAME,
enum need { NEED_CAPABILITIES(NEED_OF_CAPABILITY) NEED_FEATURES(NEED_OF_FEATURE) NEED_COUNT };

/* X(NAME, "where skein runs", "where the line that fixes something goes") */
#define NEED_SETTINGS(X) \
	X(ROOT, "a root shell", "") \
	X(USER, "a user's shell", "") \
	X(SYSTEMD, "a systemd unit", ", in the unit") \
	X(CONTAINER, "a container", ", as options of docker run or podman run") \
	X(KUBERNETES, "Kubernetes", ", in the manifest")
#define NEED_SETTING_ENUM(NAME, text, place) SETTING_##NAME,
enum setting { NEED_SETTINGS(NEED_SETTING_ENUM) SETTING_COUNT };

struct need_entry {
	const char *name; /* CAP_BPF, or the feature's name */
	int capability; /* number of the capability; -1: not a capability */
	const char *what, *lost; /* what the need is for; what is lost without it */
	const char *lacking; /* error text if the need is missing; NULL for a capability */
	/* the line that fixes the need, by setting; NULL: made from the capability */
	const char *fixes[SETTING_COUNT];
};

extern const struct need_entry need_table[NEED_COUNT];

#define NEED_BIT(need) (1ULL << (need))
/*
 * Masks of the capabilities without which nothing is recorded, and of all capabilities of the
 * table.
 */
#define NEEDS_REQUIRED (NEED_BIT(NEED_CAP_BPF) | NEED_BIT(NEED_CAP_PERFMON))
#define NEEDS_CAPABILITIES (NEED_BIT(NEED_KERNEL) - 1)

const char *setting_text(enum setting s);
const char *setting_place(enum setting s);

/*
 * Write the line that fixes the lack of some capabilities, or of another need: a command, or a line
 * of a unit or manifest. If needs has needs that are not capabilities, the line is for the first of
 * these only. "" if needs is 0. Returns buf.
 */
const char *need_fix(uint64_t needs, enum setting s, char *buf, size_t size);

/* Write the names of needs, such as "CAP_BPF and CAP_PERFMON". Returns buf. */
const char *need_names(uint64_t needs, char *buf, size_t size);

/* needs_here.c: return the setting in which this process seems to run. */
enum setting setting_here(void);
/*
 * Return the capabilities of the table that are not effective in this process, as NEED_BIT()s. A
 * capability that a greater one includes (CAP_SYS_ADMIN, CAP_DAC_OVERRIDE) is not missing.
 */
uint64_t needs_missing(void);

/*
 * Return the missing needs that are the likeliest reason why the kernel refused to load programs or
 * open events with that error code (negative errno), as NEED_BIT()s; 0: no known reason.
 */
uint64_t needs_refused(int code);

/*
 * Return whether a restriction applies to this process. If that cannot be determined, return false,
 * but here_kernel_hidden() returns true.
 */
bool here_in_user_namespace(void);
bool here_in_pid_namespace(void);
bool here_hides_processes(void); /* from those without CAP_SYS_PTRACE, by hidepid= of /proc */
bool here_locked_down(void); /* lockdown=confidentiality */
bool here_filtered(void); /* by seccomp */
/*
 * Return whether a seccomp filter ends those that make a system call, instead of refusing it. Where
 * there is a filter, a child process tries the call, without valid arguments.
 */
bool here_killed_by(long call);
bool here_apparmor(char *profile, size_t size); /* by an AppArmor profile, named in profile */
/*
 * Return the need for the lack of which this process sees no addresses of kernel symbols:
 * NEED_KALLSYMS, NEED_KPTR or NEED_CAP_SYSLOG; NEED_COUNT: it sees them.
 */
enum need here_kernel_names(void);

/*
 * Set *err after an operation (act) that failed with code (negative errno). The first line names
 * the missing need, the second has the line that fixes it, the third refers to `skein doctor`.
 * need: the need; or NEED_COUNT for those of needs_refused(). Without a known need, the first line
 * is "ACT: strerror", and there is no line that fixes it. Returns code, or -EOPNOTSUPP for -EINVAL.
 */
int need_failed(struct error *err, int code, enum need need, const char *act);

#endif
