// SPDX-License-Identifier: Apache-2.0
/* Runs the programs of bpf/self.bpf.c. */
#include "capture/self.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>

#include "bpf/self.skel.h"
#include "capture/needs.h"
#include "capture/program.h"

/* Run a loaded program in the context of the caller; return its non-negative result or an errno. */
static int run_program(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int ret = bpf_prog_test_run_opts(bpf_program__fd(program), &run);

	return ret ? ret : (int)run.retval;
}

static struct self_bpf *open_programs(bool cgroups)
{
	struct self_bpf *s;

	program_quiet_library();
	s = self_bpf__open();
	if (!s)
		return NULL;
	bpf_program__set_autoload(s->progs.own_pid_level, !cgroups);
	bpf_program__set_autoload(s->progs.find_own_cgroups, cgroups);
	return s;
}

static int explain_failure(int ret, struct error *err)
{
	return need_failed(err, ret, NEED_COUNT,
			   "the kernel refused the program that looks at its namespaces");
}

int self_find_pid_level(uint32_t *out, struct error *err)
{
	struct self_bpf *s = open_programs(false);
	int ret = s ? self_bpf__load(s) : -ENOMEM;

	if (!ret)
		ret = run_program(s->progs.own_pid_level);
	if (ret >= 0)
		*out = (uint32_t)ret;
	self_bpf__destroy(s);
	return ret < 0 ? explain_failure(ret, err) : 0;
}

int self_find_cgroups(struct self_cgroups *out, const char *subsystem, struct error *err)
{
	struct self_bpf *s = open_programs(true);
	int ret = s ? 0 : error_errno(err, -ENOMEM, "control groups"), number;

	if (!ret)
		ret = program_cgroup_subsystem(&number, subsystem, err);
	if (ret)
		goto end;
	s->rodata->wanted.cgroup_subsys = number;
	ret = self_bpf__load(s);
	if (!ret)
		ret = run_program(s->progs.find_own_cgroups);
	if (ret < 0) {
		ret = explain_failure(ret, err);
		goto end;
	}
	out->count =
		(uint32_t)ret + 1 < WIRE_CGROUP_LEVELS ? (uint32_t)ret + 1 : WIRE_CGROUP_LEVELS;
	memcpy(out->levels, s->bss->own_cgroups, sizeof(out->levels));
	ret = 0;
end:
	self_bpf__destroy(s);
	return ret;
}
