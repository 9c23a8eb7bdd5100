// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * Programs that do nothing where skein's scheduler programs are hooked in:
 * what they cost is what being there costs, for whoever it is.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("tp_btf/sched_switch")
int empty_switch(void *ctx)
{
	(void)ctx;
	return 0;
}

SEC("tp_btf/sched_waking")
int empty_waking(void *ctx)
{
	(void)ctx;
	return 0;
}

SEC("tp_btf/sched_exit_tp")
int empty_exit(void *ctx)
{
	(void)ctx;
	return 0;
}
