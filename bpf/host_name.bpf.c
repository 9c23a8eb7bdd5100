// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * The host name that a thread sees. A container usually has one of its own, which /proc does not
 * show from outside of the container.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/event.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* User space attaches this iterator to one thread, whose number it gives. */
SEC("iter/task")
int read_host_name(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task; /* read once: the verifier checks each reading */
	struct wire_host_name n = {};
	struct uts_namespace *uts;

	if (!task)
		return 0;
	uts = BPF_CORE_READ(task, nsproxy, uts_ns); /* NULL if the thread is ending */
	if (!uts)
		return 0;
	n.born = task->start_boottime;
	n.inode = BPF_CORE_READ(uts, ns.inum);
	BPF_CORE_READ_STR_INTO(&n.name, uts, name.nodename);
	bpf_seq_write(ctx->meta->seq, &n, sizeof(n));
	return 0;
}
