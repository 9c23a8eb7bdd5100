// SPDX-License-Identifier: Apache-2.0
/* Runs the checks in their order, and contains the checks of the kernel itself. */
#include "capture/checkup.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/text.h"
#include "capture/cgroup.h"
#include "capture/checks.h"
#include "capture/cpus.h"
#include "capture/debuginfod.h"
#include "capture/order.h"
#include "capture/program.h"
#include "capture/sampler.h"
#include "capture/sideband.h"
#include "capture/switches.h"
#include "symbolizers/unwind/table_cache.h"

/* The oldest tested Linux; an older one may lack kernel functions that the BPF programs call. */
#define TESTED_MAJOR 6
#define TESTED_MINOR 1
#define RING_BYTES (512UL << 10)

static const struct {
	bool required;
	const char *name, *way, *lost;
} checks[CHECK_COUNT] = {
#define CHECK_ENTRY(NAME, required, name, way, lost) {required, name, way, lost},
	CHECKS(CHECK_ENTRY)};

const char *checkup_name(enum check c)
{
	return checks[c].name;
}

const char *checkup_method(enum check c)
{
	return checks[c].way;
}

const char *checkup_consequence(enum check c)
{
	return checks[c].lost;
}

bool checkup_required(enum check c)
{
	return checks[c].required;
}

__attribute__((format(printf, 2, 0))) static void format_finding(struct finding *f,
								 const char *format, va_list args)
{
	char raw[sizeof(f->found)];

	vsnprintf(raw, sizeof(raw), format, args);
	text_clean(raw, f->found, sizeof(f->found));
}

void finding_set_ok(struct finding *f, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	format_finding(f, format, args);
	va_end(args);
	f->verdict = VERDICT_OK;
}

void finding_set_missing(struct finding *f, uint64_t needs, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	format_finding(f, format, args);
	va_end(args);
	f->verdict = VERDICT_MISSING;
	f->needs = needs;
}

void finding_set_failed(struct finding *f, int code, const struct error *err)
{
	finding_set_missing(f, needs_refused(code), "%.*s", (int)strcspn(err->text, "\n"),
			    err->text);
}

static void check_kernel(struct finding *f)
{
	struct utsname names;
	unsigned int major = 0, minor = 0;

	if (uname(&names) < 0 || sscanf(names.release, "%u.%u", &major, &minor) != 2)
		finding_set_ok(f, "unknown");
	else if (major > TESTED_MAJOR || (major == TESTED_MAJOR && minor >= TESTED_MINOR))
		finding_set_ok(f, "Linux %s", names.release);
	else
		finding_set_ok(f, "Linux %s: untested, it begins with %d.%d", names.release,
			       TESTED_MAJOR, TESTED_MINOR);
}

static void check_namespace(struct finding *f)
{
	if (here_in_user_namespace())
		finding_set_missing(
			f, NEED_BIT(NEED_USER_NAMESPACE),
			"one of its own, as of a rootless container: recording cannot work, the "
			"kernel asks for capabilities of the machine's root");
	else
		finding_set_ok(f, "the machine's");
}

static void check_btf(struct finding *f)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (btf)
		finding_set_ok(f, "%u types", btf__type_cnt(btf));
	else
		finding_set_missing(f, NEED_BIT(NEED_BTF),
				    "cannot read /sys/kernel/btf/vmlinux: %s", strerror(errno));
	btf__free(btf);
}

static int count_task(void *context, const struct wire_task *t)
{
	(void)t;
	++*(size_t *)context;
	return 0;
}

/*
 * Load and attach the programs of the simplest recording. *by_loops: whether they walk stacks with
 * bpf_loop(). If sched is set, also load and attach the scheduler's programs, and add the number of
 * threads that a snapshot lists to *threads. Return 0 or a negative errno.
 */
static int load_programs(bool sched, struct error *err, bool *by_loops, size_t *threads)
{
	const struct program_options o = {.sample = true,
					  .kernel_stack = true,
					  .user_stack = true,
					  .clocked = true,
					  .ring_bytes = RING_BYTES};
	struct order *order = order_new();
	struct program *program = NULL;
	struct switches *switches = NULL;
	int ret = order ? program_load(&program, &o, order, err) : -ENOMEM;

	if (!ret)
		ret = program_attach(program, err);
	if (!ret)
		*by_loops = program_walks_by_loops(program);
	if (!ret && sched)
		ret = switches_load(&switches, program, 1 << 20,
				    (struct program_waits){WAIT_HOOK_NONE, false}, err);
	if (!ret && sched)
		ret = switches_attach(switches, err);
	if (!ret && sched)
		ret = switches_snapshot(switches, count_task, threads);
	switches_free(switches);
	program_free(program);
	order_free(order);
	return ret;
}

static void check_program(struct finding *f)
{
	struct error err = {""};
	bool by_loops;
	size_t threads;
	int ret = load_programs(false, &err, &by_loops, &threads);

	if (ret)
		finding_set_failed(f, ret, &err);
	else
		finding_set_ok(f, "loaded; stacks are walked by %s",
			       by_loops ? "bpf_loop()" : "tail calls");
}

static void check_sched(struct finding *f)
{
	struct error err = {""};
	bool by_loops;
	size_t threads = 0;
	int ret = load_programs(true, &err, &by_loops, &threads);

	if (ret)
		finding_set_failed(f, ret, &err);
	else
		finding_set_ok(f, "loaded; %zu threads listed", threads);
}

static int try_event(const char *name, struct error *err)
{
	struct sampled_event e;
	int ret = sampled_event_find(&e, name, 99, 0, err);

	return ret ? ret : sampled_event_try(&e, (unsigned int)sysconf(_SC_NPROCESSORS_CONF), err);
}

static void check_event(struct finding *f)
{
	struct error err = {""};
	int ret = try_event("cpu-clock", &err);

	if (ret)
		finding_set_failed(f, ret, &err);
	else
		finding_set_ok(f, "cpu-clock");
}

static void check_cycles(struct finding *f)
{
	struct error err = {""};
	int ret = try_event("cycles", &err);

	if (!ret)
		finding_set_ok(f, "cycles");
	else if (ret == -ENOENT || ret == -EOPNOTSUPP) {
		finding_set_missing(f, NEED_BIT(NEED_COUNTER),
				    "none here; only -e cycles asks for it");
		f->verdict = VERDICT_NOT_NEEDED;
	} else
		finding_set_failed(f, ret, &err);
}

static void check_sideband(struct finding *f)
{
	struct order *order = order_new();
	struct sideband *s = NULL;
	number_list online = {0};
	struct error err = {""};
	int ret = order ? sideband_new(&s, order, RING_BYTES, &err) : -ENOMEM;

	if (!ret)
		ret = cpus_online(&online, &err);
	for (size_t i = 0; !ret && i < online.count; i++)
		ret = sideband_open_cpu(s, online.items[i], &err);
	if (ret)
		finding_set_failed(f, ret, &err);
	/* If a cpu-clock event can be opened, the kernel refused the memory of the ring. */
	if (ret == -EPERM && !try_event("cpu-clock", &err))
		f->needs = NEED_BIT(NEED_RING_MEMORY);
	if (!ret)
		finding_set_ok(f, "on %zu CPUs, with a ring of %lu KiB each", online.count,
			       RING_BYTES >> 10);
	vector_free(&online);
	sideband_free(s);
	order_free(order);
}

static void check_kernel_names(struct finding *f)
{
	enum need lacking = here_kernel_names();

	if (lacking == NEED_COUNT)
		finding_set_ok(f, "addresses can be read");
	else if (lacking == NEED_CAP_SYSLOG)
		finding_set_missing(f, needs_missing() & NEED_BIT(NEED_CAP_SYSLOG),
				    "the kernel hides its addresses");
	else
		finding_set_missing(f, NEED_BIT(lacking), "%s", need_table[lacking].lacking);
}

static void check_priority(struct finding *f)
{
	int before = getpriority(PRIO_PROCESS, 0);

	if (setpriority(PRIO_PROCESS, 0, before - 1) < 0 && before > -20) {
		finding_set_missing(f, needs_missing() & NEED_BIT(NEED_CAP_SYS_NICE),
				    "the recorder waits for its turn as everybody does");
		return;
	}
	(void)setpriority(PRIO_PROCESS, 0, before);
	finding_set_ok(f, "the recorder goes before what it records");
}

static void check_cgroups(struct finding *f)
{
	struct cgroups *c = NULL;
	struct error err = {""};

	if (cgroups_new(&c, "/proc/self/mountinfo", &err) < 0)
		finding_set_missing(f, 0, "%s", err.text);
	else if (!cgroups_mount(c)[0])
		finding_set_missing(f, 0, "no cgroup file system is mounted");
	else
		finding_set_ok(f, "%s %s, at %s", cgroups_subsystem(c) ? "v1" : "v2",
			       cgroups_subsystem(c) ? cgroups_subsystem(c) : "hierarchy",
			       cgroups_mount(c));
	cgroups_free(c);
}

static void check_pids(struct finding *f)
{
	if (here_in_pid_namespace())
		finding_set_missing(f, NEED_BIT(NEED_PID_NAMESPACE), "one of its own");
	else
		finding_set_ok(f, "the machine's");
}

/*
 * Try to create a file in folder, without a name so that nothing remains. If the file system does
 * not support that, check the permission to write. Return 0 or a negative errno.
 */
static int try_writing(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0 && errno == EOPNOTSUPP)
		return access(folder, W_OK) < 0 ? -errno : 0;
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static void check_cache(struct finding *f, const struct checkup_options *o)
{
	struct table_cache *cache = NULL;
	int ret;

	if (!o->unwind_cache[0]) {
		finding_set_missing(f, NEED_BIT(NEED_CACHE),
				    "none of CACHE_DIRECTORY, XDG_CACHE_HOME and HOME is set");
		return;
	}
	ret = table_cache_open(&cache, o->unwind_cache, TABLE_CACHE_BUDGET);
	if (!ret)
		ret = try_writing(o->unwind_cache);
	if (ret)
		finding_set_missing(f, NEED_BIT(NEED_CACHE), "%s: %s", o->unwind_cache,
				    strerror(-ret));
	else
		finding_set_ok(f, "%s", o->unwind_cache);
	table_cache_close(cache);
}

/* The system calls of NEED_SECCOMP. Checks that make the first two need all of these. */
static const struct {
	long number;
	const char *name;
} filtered_calls[] = {
	{SYS_bpf, "bpf"},
	{SYS_perf_event_open, "perf_event_open"},
	{SYS_seccomp, "seccomp"},
	{SYS_open_by_handle_at, "open_by_handle_at"},
};

/* Return the first of some calls for which a seccomp filter ends processes, or NULL. */
static const char *first_deadly_call(size_t calls)
{
	for (size_t i = 0; i < calls; i++)
		if (here_killed_by(filtered_calls[i].number))
			return filtered_calls[i].name;
	return NULL;
}

static void check_restrictions(struct finding *f)
{
	char profile[256];
	bool confined = here_apparmor(profile, sizeof(profile));
	const char *deadly = first_deadly_call(sizeof(filtered_calls) / sizeof(*filtered_calls));

	if (here_locked_down())
		finding_set_missing(f, NEED_BIT(NEED_LOCKDOWN), "%s",
				    need_table[NEED_LOCKDOWN].lacking);
	else if (deadly)
		finding_set_missing(f, NEED_BIT(NEED_SECCOMP),
				    "a seccomp filter, which ends programs that call %s()", deadly);
	else
		finding_set_ok(f, "%s, %s%s",
			       here_filtered() ? "a seccomp filter" : "no seccomp filter",
			       confined ? "AppArmor profile " : "no AppArmor profile",
			       confined ? profile : "");
}

static void check_debuginfod(struct finding *f)
{
	if (debuginfod_is_installed()) {
		finding_set_ok(f, "debuginfod-find is installed; only --debuginfod uses it");
		return;
	}
	finding_set_missing(f, 0,
			    "debuginfod-find is not installed (" DEBUGINFOD_PACKAGES
			    "); only --debuginfod asks for it");
	f->verdict = VERDICT_NOT_NEEDED;
}

static void run_check(struct finding *f, const struct checkup_options *o)
{
	static void (*const plain[CHECK_COUNT])(struct finding *) = {
		[CHECK_KERNEL] = check_kernel,
		[CHECK_NAMESPACE] = check_namespace,
		[CHECK_BTF] = check_btf,
		[CHECK_PROGRAM] = check_program,
		[CHECK_EVENT] = check_event,
		[CHECK_SIDEBAND] = check_sideband,
		[CHECK_WORKER] = check_worker,
		[CHECK_HELPERS] = check_helpers,
		[CHECK_SCHED] = check_sched,
		[CHECK_CYCLES] = check_cycles,
		[CHECK_KERNEL_NAMES] = check_kernel_names,
		[CHECK_MAPPINGS] = check_mappings,
		[CHECK_ROOT] = check_root,
		[CHECK_MAP_FILES] = check_map_files,
		[CHECK_MEMORY] = check_memory,
		[CHECK_PRIORITY] = check_priority,
		[CHECK_CGROUPS] = check_cgroups,
		[CHECK_PIDS] = check_pids,
		[CHECK_RESTRICTIONS] = check_restrictions,
		[CHECK_DEBUGINFOD] = check_debuginfod,
	};

	if (plain[f->check])
		plain[f->check](f);
	else if (f->check == CHECK_CACHE)
		check_cache(f, o);
	else
		check_itself(f, o);
}

/* Report a check that would end this process. The worker ends by itself, which is noticed. */
static bool report_deadly(struct finding *f, const char *call)
{
	switch (f->check) {
	case CHECK_PROGRAM:
	case CHECK_EVENT:
	case CHECK_SIDEBAND:
	case CHECK_ITSELF:
	case CHECK_SCHED:
	case CHECK_CYCLES:
		finding_set_missing(f, NEED_BIT(NEED_SECCOMP),
				    "a system call filter (seccomp) ends programs that call %s()",
				    call);
		return true;
	default:
		return false;
	}
}

void checkup_run(const struct checkup_options *o,
		 void (*each)(void *context, const struct finding *f), void *context)
{
	const char *deadly = first_deadly_call(2);

	program_quiet_library();
	for (int c = 0; c < CHECK_COUNT; c++) {
		struct finding f = {.check = (enum check)c};

		if (!deadly || !report_deadly(&f, deadly))
			run_check(&f, o);
		if (f.verdict == VERDICT_MISSING && !f.needs && here_in_user_namespace())
			f.needs = NEED_BIT(NEED_USER_NAMESPACE);
		if (f.verdict == VERDICT_MISSING && !f.needs && here_hides_processes())
			f.needs = NEED_BIT(NEED_CAP_SYS_PTRACE);
		each(context, &f);
	}
}
