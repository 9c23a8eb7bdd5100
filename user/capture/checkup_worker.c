// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that the worker starts, confines itself, makes an unwind table and resolves names, and
 * whether helpers run as users of their own.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/own_user.h"
#include "capture/checks.h"
#include "capture/clock.h"
#include "capture/needs.h"
#include "capture/opener.h"
#include "capture/procfs.h"
#include "symbolizers/client.h"

#define TRIAL_TIMEOUT (10 * NSEC_PER_SEC)

struct trial {
	bool tabled, named;
	int status; /* status of the reply with the unwind table: 0 or a negative errno */
	char name[128];
};

static void on_trial_symbol(void *context, uint64_t object, uint64_t address,
			    const struct symbol *s)
{
	struct trial *t = context;

	(void)object, (void)address;
	t->named = true;
	snprintf(t->name, sizeof(t->name), "%s", s->name);
}

static void on_trial_table(void *context, uint64_t object, int status, const struct unwind_table *t)
{
	struct trial *trial = context;

	(void)object, (void)t;
	trial->tabled = true;
	trial->status = status;
}

/*
 * Open the file that contains libc's qsort(), and store the file offset of qsort() in *offset.
 * Returns the descriptor or a negative errno.
 */
static int open_libc(uint64_t *offset)
{
	uint64_t address = (uint64_t)(uintptr_t)qsort;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), ret = -ENOENT;
	struct procfs_lines lines;
	struct procfs_mapping m;
	char *line;

	if (fd < 0)
		return -errno;
	procfs_lines_init(&lines, fd);
	while (ret == -ENOENT && (line = procfs_line(&lines))) {
		if (!procfs_parse_mapping(line, &m) || address < m.start || address >= m.end)
			continue;
		*offset = address - m.start + m.offset;
		ret = open(m.path, O_RDONLY | O_CLOEXEC);
		ret = ret < 0 ? -errno : ret;
	}
	close(fd);
	return ret;
}

/* Return whether the worker has dropped its privileges. user gets the worker's real uid as text. */
static bool is_confined(int pid, char *user, size_t size)
{
	char path[64], text[4096], uid[32] = "?";
	const char *at;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (procfs_read(AT_FDCWD, path, text, sizeof(text)) < 0)
		return false;
	at = strstr(text, "\nUid:");
	if (at)
		sscanf(at, "\nUid: %31s", uid);
	snprintf(user, size, "%s", uid);
	return strstr(text, "\nCapPrm:\t0000000000000000") && strstr(text, "\nNoNewPrivs:\t1") &&
	       strstr(text, "\nSeccomp:\t2");
}

static int run_trial(struct symbolizer *s, struct trial *t, struct error *err)
{
	uint64_t began = clock_boot_ns(), offset = 0;
	int fd = open_libc(&offset), ret;

	if (fd < 0)
		return error_errno(err, fd, "cannot open libc");
	ret = symbolizer_add(s, 1, OBJECT_ELF, fd);
	if (!ret)
		ret = symbolizer_request_table(s, 1);
	if (!ret)
		ret = symbolizer_lookup(s, 1, offset);
	if (!ret)
		ret = symbolizer_flush(s);
	while (!ret && !(t->tabled && t->named)) {
		struct pollfd p = {.fd = symbolizer_fd(s), .events = POLLIN};

		if (clock_boot_ns() - began > TRIAL_TIMEOUT)
			return error_set(err, -ETIMEDOUT, "the worker does not answer");
		(void)poll(&p, 1, 100);
		ret = symbolizer_poll(s, clock_boot_ns(), err);
	}
	return ret;
}

void check_worker(struct finding *f)
{
	struct trial t = {0};
	const struct symbolizer_events events = {
		.symbol = on_trial_symbol, .table = on_trial_table, .context = &t};
	struct symbolizer *s = NULL;
	struct error err = {""};
	char user[32] = "?";
	int ret = symbolizer_new(&s, &events, &err);

	if (!ret)
		ret = run_trial(s, &t, &err);
	if (ret)
		finding_set_missing(f,
				    ret == -EPERM && here_filtered() ? NEED_BIT(NEED_SECCOMP) : 0,
				    "%s", err.text);
	else if (t.status || !t.name[0])
		finding_set_missing(f, 0, "libc has no %s", t.status ? "unwind table" : "names");
	else if (is_confined(symbolizer_worker_pid(s), user, sizeof(user)))
		finding_set_ok(
			f, "libc's %s() named, its table made; worker: user %s, no capabilities",
			t.name, user);
	else if (here_hides_processes())
		finding_set_missing(f, NEED_BIT(NEED_CAP_SYS_PTRACE),
				    "/proc hides the worker, as all processes (hidepid=)");
	else
		finding_set_missing(f, 0, "the worker could not give up its rights");
	symbolizer_free(s);
}

void check_helpers(struct finding *f)
{
	if (!own_user_possible())
		finding_set_missing(f, NEED_BIT(NEED_OWN_USER), "%u, as this process has",
				    geteuid());
	else if (!opener_may_change_user())
		finding_set_missing(
			f, NEED_BIT(NEED_CAP_SYS_PTRACE) | NEED_BIT(NEED_CAP_DAC_READ_SEARCH),
			"the process that opens files keeps %u, without which it would see less",
			geteuid());
	else
		finding_set_ok(f, "each runs as a user of its own that has no other process");
}
