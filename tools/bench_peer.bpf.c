// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * The peer of skein's sampling program: the kernel's own walk of user stacks,
 * which goes by frame pointers and knows nothing else, sent to a ring as skein
 * sends its samples.
 */
#include <linux/bpf.h>
#include <linux/bpf_perf_event.h>

#include <bpf/bpf_helpers.h>

#define FRAMES 1024

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 24);
} ring SEC(".maps");

struct stacks {
	__u64 time;
	__u64 frames[2 * FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stacks);
} scratch SEC(".maps");

static __always_inline int take(struct bpf_perf_event_data *ctx, int with_kernel)
{
	__u32 zero = 0;
	struct stacks *s = bpf_map_lookup_elem(&scratch, &zero);
	long kernel = 0, user;

	if (!s)
		return 0;
	s->time = bpf_ktime_get_boot_ns();
	if (with_kernel)
		kernel = bpf_get_stack(ctx, s->frames, FRAMES * sizeof(__u64), 0);
	if (kernel < 0 || kernel > FRAMES * sizeof(__u64))
		kernel = 0;
	user = bpf_get_stack(ctx, (void *)s->frames + kernel, FRAMES * sizeof(__u64),
			     BPF_F_USER_STACK);
	if (user < 0 || user > FRAMES * sizeof(__u64))
		user = 0;
	bpf_ringbuf_output(&ring, s, sizeof(s->time) + kernel + user, BPF_RB_NO_WAKEUP);
	return 0;
}

SEC("perf_event")
int user_stack(struct bpf_perf_event_data *ctx)
{
	return take(ctx, 0);
}

SEC("perf_event")
int both_stacks(struct bpf_perf_event_data *ctx)
{
	return take(ctx, 1);
}
