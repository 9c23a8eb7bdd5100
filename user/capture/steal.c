// SPDX-License-Identifier: Apache-2.0
/*
 * Locates the record of stolen time with the kernel's type information (BTF) about its per-CPU
 * variables. Only KVM on x86-64 is supported.
 */
#include "capture/steal.h"

#include <bpf/btf.h>
#include <string.h>

#ifdef __x86_64__
#include <cpuid.h>

/* CPUID leaves and bits: Linux Documentation/virt/kvm/x86/cpuid.rst. */
#define KVM_LEAF 0x40000000
#define KVM_FEATURES 0x40000001
#define KVM_STEAL_TIME (1U << 5)
#define HYPERVISOR (1U << 31) /* ecx of leaf 1 */

/*
 * Return nonzero if the host reports stolen time. This is checked before the kernel's types are
 * read, which takes 10 ms.
 */
static int host_reports_steal(void)
{
	unsigned int a, b, c, d, name[3];

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & HYPERVISOR))
		return 0;
	__cpuid(KVM_LEAF, a, name[0], name[1], name[2]);
	if (a < KVM_FEATURES || memcmp(name, "KVMKVMKVM\0\0\0", sizeof(name)))
		return 0;
	__cpuid(KVM_FEATURES, a, b, c, d);
	return a & KVM_STEAL_TIME;
}
#else
static int host_reports_steal(void)
{
	return 0;
}
#endif

static const struct btf_type *percpu_section(const struct btf *btf)
{
	/* Search from the end, since the section is one of the last types. */
	for (uint32_t id = btf__type_cnt(btf); --id;) {
		const struct btf_type *t = btf__type_by_id(btf, id);

		if (btf_is_datasec(t) &&
		    !strcmp(btf__name_by_offset(btf, t->name_off), ".data..percpu"))
			return t;
	}
	return NULL;
}

/*
 * Return a variable's offset in the section; 0 if the variable is not there. Neither variable that
 * is looked up has offset 0.
 */
static int64_t variable_offset(const struct btf *btf, const struct btf_type *section,
			       const char *name)
{
	const struct btf_var_secinfo *v = btf_var_secinfos(section);

	for (uint32_t i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *variable = btf__type_by_id(btf, v[i].type);

		if (!strcmp(btf__name_by_offset(btf, variable->name_off), name))
			return v[i].offset;
	}
	return 0;
}

int64_t steal_find(void)
{
	const struct btf_type *section;
	int64_t queue = 0, steal = 0;
	struct btf *btf;

	if (!host_reports_steal())
		return 0;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return 0;
	section = percpu_section(btf);
	if (section) {
		queue = variable_offset(btf, section, "runqueues");
		steal = variable_offset(btf, section, "steal_time");
	}
	btf__free(btf);
	return queue && steal ? steal - queue : 0;
}
