// SPDX-License-Identifier: Apache-2.0
/* Explain resource limits to the user (limits.h). */
#include "base/limits.h"

#include <errno.h>
#include <sys/resource.h>

#include "base/units.h"

#define SPARE_DESCRIPTORS 32 /* for files opened later: CPUs, journals, /proc */

static void explain_files(struct error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	error_hint(err,
		   "the limit on open files, RLIMIT_NOFILE, is %llu: raise it by 'ulimit -n "
		   "65536' in the shell that starts skein, or by LimitNOFILE=65536 in its "
		   "systemd unit",
		   (unsigned long long)limit.rlim_cur);
}

static void explain_size(struct error *err)
{
	struct rlimit limit;
	char size[32];

	if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return;
	error_hint(err,
		   "the limit on the size of files, RLIMIT_FSIZE, is %s: raise it by 'ulimit "
		   "-f unlimited' in the shell that starts skein, or by LimitFSIZE=infinity "
		   "in its systemd unit",
		   show_bytes(limit.rlim_cur, size, sizeof(size)));
}

void limits_explain(struct error *err, int code)
{
	if (code == -EMFILE)
		explain_files(err);
	else if (code == -EFBIG)
		explain_size(err);
	else if (code == -ENFILE)
		error_hint(err, "the system's table of open files is full: 'sysctl fs.file-max' "
				"shows its size");
}

uint64_t limits_first_spare(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur > SPARE_DESCRIPTORS ? limit.rlim_cur - SPARE_DESCRIPTORS : 0;
}
