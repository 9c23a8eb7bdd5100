/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/* The numbers of threads in one pid namespace below the initial one, that of the recorder. */
#ifndef SKEIN_BPF_NAMESPACE_H
#define SKEIN_BPF_NAMESPACE_H

/*
 * Return the number of a pid in the namespace, 0 if it has none there. The number at the level of
 * the namespace counts only if it was given by this namespace, and not by a sibling.
 */
static __always_inline __u32 pid_number_in(struct pid *pid, const volatile struct wire_namespace *n)
{
	/* Linux 6.1's verifier refuses to add a variable to a typed pointer: use untyped reads. */
	char *at = (char *)pid + bpf_core_field_offset(struct pid, numbers) +
		   n->level * bpf_core_type_size(struct upid);
	struct pid_namespace *namespace = NULL;
	int number = 0;

	if (!pid || BPF_CORE_READ(pid, level) < n->level)
		return 0;
	bpf_probe_read_kernel(&namespace, sizeof(namespace),
			      at + bpf_core_field_offset(struct upid, ns));
	if (!namespace || BPF_CORE_READ(namespace, ns.inum) != n->inode)
		return 0;
	bpf_probe_read_kernel(&number, sizeof(number), at + bpf_core_field_offset(struct upid, nr));
	return number;
}

#endif
