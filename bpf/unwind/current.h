/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* Memory of the current thread, for walkers that run in its context. */
#ifndef SKEIN_BPF_UNWIND_CURRENT_H
#define SKEIN_BPF_UNWIND_CURRENT_H

/*
 * Read memory of the walked thread, as far as it is present: bytes, which are at most a constant.
 * Return 0 on success.
 */
static __always_inline int user_read(void *to, __u32 bytes, __u32 most, __u64 address)
{
	return bpf_probe_read_user(to, bytes, (const void *)address) != 0;
}

#endif
