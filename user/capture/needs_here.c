// SPDX-License-Identifier: Apache-2.0
/*
 * Determines which capabilities this process has, in which setting it runs, which restrictions
 * apply to it, and why the kernel refused an operation.
 */
#include <ctype.h>
#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/needs.h"

/* Inode numbers of the initial namespaces (include/linux/proc_ns.h). */
#define FIRST_IPC_NAMESPACE 0xEFFFFFFFU
#define FIRST_UTS_NAMESPACE 0xEFFFFFFEU
#define FIRST_USER_NAMESPACE 0xEFFFFFFDU
#define FIRST_PID_NAMESPACE 0xEFFFFFFCU

#define SYMBOLS_TRIED 1000 /* lines of /proc/kallsyms that here_kernel_hidden() reads at most */

/* Read at most size - 1 bytes of a file as text; "" if it cannot be read. Returns buf. */
static const char *read_small_file(const char *path, char *buf, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(buf, 1, size - 1, f) : 0;

	buf[n] = '\0';
	if (f)
		fclose(f);
	return buf;
}

static uint64_t effective_capabilities(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (syscall(SYS_capget, &head, data) < 0)
		return 0;
	return (uint64_t)data[1].effective << 32 | data[0].effective;
}

uint64_t needs_missing(void)
{
	uint64_t held = effective_capabilities(), missing = 0;

	if (held & 1ULL << CAP_SYS_ADMIN)
		held |= 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_CHECKPOINT_RESTORE;
	if (held & 1ULL << CAP_DAC_OVERRIDE)
		held |= 1ULL << CAP_DAC_READ_SEARCH;
	for (unsigned int i = 0; i < NEED_COUNT && need_table[i].capability >= 0; i++)
		if (!(held & 1ULL << need_table[i].capability))
			missing |= NEED_BIT(i);
	return missing;
}

static bool in_namespace(const char *path, ino_t first)
{
	struct stat st;

	return stat(path, &st) == 0 && st.st_ino != first;
}

bool here_in_user_namespace(void)
{
	return in_namespace("/proc/self/ns/user", FIRST_USER_NAMESPACE);
}

bool here_in_pid_namespace(void)
{
	return in_namespace("/proc/self/ns/pid", FIRST_PID_NAMESPACE);
}

bool here_hides_processes(void)
{
	FILE *f = needs_missing() & NEED_BIT(NEED_CAP_SYS_PTRACE)
			  ? fopen("/proc/self/mountinfo", "re")
			  : NULL;
	char line[4096];
	bool hides = false;

	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, " /proc ")) /* the last one covers the others */
			hides = strstr(line, "hidepid=");
	if (f)
		fclose(f);
	return hides;
}

bool here_locked_down(void)
{
	char text[128];

	return strstr(read_small_file("/sys/kernel/security/lockdown", text, sizeof(text)),
		      "[confidentiality]");
}

bool here_filtered(void)
{
	char text[4096];

	return strstr(read_small_file("/proc/self/status", text, sizeof(text)), "\nSeccomp:\t2");
}

bool here_killed_by(long call)
{
	int status = 0;
	pid_t child = here_filtered() ? fork() : -1;

	if (child == 0) {
		(void)prctl(PR_SET_DUMPABLE, 0); /* a death that is expected leaves no core file */
		(void)syscall(call, -1, 0, 0, -1, 0, 0);
		_exit(0);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

bool here_apparmor(char *profile, size_t size)
{
	struct stat st;

	profile[0] = '\0';
	if (stat("/sys/kernel/security/apparmor", &st) && stat("/proc/self/attr/apparmor", &st))
		return false;
	read_small_file("/proc/self/attr/current", profile, size);
	profile[strcspn(profile, "\n")] = '\0';
	return profile[0] && strcmp(profile, "unconfined");
}

static bool has_btf(void)
{
	return access("/sys/kernel/btf/vmlinux", R_OK) == 0;
}

/* Return whether /proc/kallsyms shows an address, and in *read whether it has any symbol. */
static bool shows_kernel_addresses(bool *read)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0;
	char line[1024];

	*read = false;
	/*
	 * Look at several symbols, since the first ones may have the address 0 for everybody:
	 * addresses of per-CPU symbols are offsets that begin at 0.
	 */
	for (int i = 0; i < SYMBOLS_TRIED && f && !address && fgets(line, sizeof(line), f); i++)
		*read |= sscanf(line, "%llx", &address) == 1;
	if (f)
		fclose(f);
	return address;
}

/*
 * Return the value of a numeric setting below /proc/sys, such as kernel/kptr_restrict; -1: unknown.
 */
static long here_sysctl(const char *name)
{
	char path[128], text[32], *end;
	long value;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	read_small_file(path, text, sizeof(text));
	value = strtol(text, &end, 10);
	return end == text ? -1 : value;
}

enum need here_kernel_names(void)
{
	bool read;

	if (shows_kernel_addresses(&read))
		return NEED_COUNT;
	/* a unit's ProtectKernelTunables= covers the file with one that is empty or closed */
	if (!read)
		return NEED_KALLSYMS;
	return here_sysctl("kernel/kptr_restrict") > 1 ? NEED_KPTR : NEED_CAP_SYSLOG;
}

static bool in_kubernetes(void)
{
	char text[4096];

	return getenv("KUBERNETES_SERVICE_HOST") ||
	       strstr(read_small_file("/proc/self/cgroup", text, sizeof(text)), "kubepods");
}

/*
 * Return whether this process runs in a container, which has a namespace of its own. Marks of
 * container images alone do not count, since virtual machines are made of such images, too.
 */
static bool in_container(void)
{
	char text[4096];

	if (!here_in_pid_namespace() && !here_in_user_namespace() &&
	    !in_namespace("/proc/self/ns/uts", FIRST_UTS_NAMESPACE) &&
	    !in_namespace("/proc/self/ns/ipc", FIRST_IPC_NAMESPACE))
		return false;
	if (access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 ||
	    getenv("container"))
		return true;
	read_small_file("/proc/self/cgroup", text, sizeof(text));
	return strstr(text, "/docker") || strstr(text, "libpod-") || strstr(text, "cri-containerd");
}

/* Return whether this process belongs to a service of the system's systemd, not of a user's. */
static bool in_unit(void)
{
	char text[4096];

	read_small_file("/proc/self/cgroup", text, sizeof(text));
	return getenv("INVOCATION_ID") && strstr(text, ".service") && !strstr(text, "user.slice");
}

enum setting setting_here(void)
{
	if (in_kubernetes())
		return SETTING_KUBERNETES;
	if (in_container())
		return SETTING_CONTAINER;
	if (in_unit())
		return SETTING_SYSTEMD;
	return geteuid() == 0 ? SETTING_ROOT : SETTING_USER;
}

uint64_t needs_refused(int code)
{
	uint64_t missing = needs_missing() & NEEDS_REQUIRED;
	bool permission = code == -EPERM || code == -EACCES;
	char profile[256];

	if (permission && here_in_user_namespace())
		return NEED_BIT(NEED_USER_NAMESPACE);
	if (!has_btf())
		return NEED_BIT(NEED_BTF);
	if (permission && missing)
		return missing;
	if (here_locked_down())
		return NEED_BIT(NEED_LOCKDOWN);
	if (permission && here_sysctl("kernel/perf_event_paranoid") > 2 &&
	    !(effective_capabilities() & 1ULL << CAP_SYS_ADMIN))
		return NEED_BIT(NEED_PARANOID);
	if ((permission || code == -ENOSYS) && here_filtered())
		return NEED_BIT(NEED_SECCOMP);
	if (permission && here_apparmor(profile, sizeof(profile)))
		return NEED_BIT(NEED_APPARMOR);
	return 0;
}

/* Return a text for the lack of needs: "CAP_BPF is missing", or the error text of another need. */
static const char *lacking_text(uint64_t needs, char *buf, size_t size)
{
	char names[128];

	for (unsigned int i = 0; i < NEED_COUNT; i++)
		if (needs & NEED_BIT(i) && need_table[i].lacking)
			return need_table[i].lacking;
	snprintf(buf, size, "%s %s missing", need_names(needs, names, sizeof(names)),
		 needs & (needs - 1) ? "are" : "is");
	return buf;
}

int need_failed(struct error *err, int code, enum need need, const char *act)
{
	uint64_t needs = need < NEED_COUNT ? NEED_BIT(need) : needs_refused(code);
	char why[192], fix[512];

	/* The commands treat -EINVAL as a usage error, which a refusal by the kernel is not. */
	if (code == -EINVAL)
		code = -EOPNOTSUPP;
	if (needs) {
		error_set(err, code, "%s: %s", act, lacking_text(needs, why, sizeof(why)));
		error_hint(err, "to fix it%s: %s", setting_place(setting_here()),
			   need_fix(needs, setting_here(), fix, sizeof(fix)));
	} else {
		error_errno(err, code, "%s", act);
	}
	error_hint(err, "'skein doctor' shows more");
	return code;
}
