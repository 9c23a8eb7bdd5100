// SPDX-License-Identifier: Apache-2.0
/* needs.c: the table is complete, and every need has a remedy for every setting. */
#include <errno.h>
#include <linux/capability.h>

#include "capture/needs.h"
#include "suite.h"

START_TEST(every_need_has_a_fix_in_every_setting)
{
	char fix[1024];

	for (unsigned int i = 0; i < NEED_COUNT; i++) {
		const struct need_entry *n = &need_table[i];

		ck_assert(n->name && n->name[0] && n->what[0] && n->lost[0]);
		ck_assert_int_eq(n->capability < 0, n->lacking != NULL);
		for (int s = 0; s < SETTING_COUNT; s++) {
			need_fix(NEED_BIT(i), (enum setting)s, fix, sizeof(fix));
			ck_assert_msg(fix[0] && strlen(fix) < 300 && !strchr(fix, '\n'), "%s: %s",
				      n->name, fix);
		}
	}
	ck_assert_int_eq(need_table[NEED_CAP_BPF].capability, CAP_BPF);
	ck_assert_int_lt(need_table[NEED_KERNEL].capability, 0);
}
END_TEST

static const char *fix_in(uint64_t needs, enum setting s)
{
	static char text[1024];

	return need_fix(needs, s, text, sizeof(text));
}

START_TEST(capabilities_are_fixed_together)
{
	uint64_t both = NEED_BIT(NEED_CAP_BPF) | NEED_BIT(NEED_CAP_SYS_PTRACE);
	char names[128];

	ck_assert_str_eq(fix_in(both, SETTING_SYSTEMD),
			 "AmbientCapabilities=CAP_BPF CAP_SYS_PTRACE");
	ck_assert_str_eq(fix_in(both, SETTING_CONTAINER),
			 "--user 0 --cap-add BPF --cap-add SYS_PTRACE");
	ck_assert_str_eq(fix_in(both, SETTING_KUBERNETES),
			 "securityContext: {runAsUser: 0, capabilities: {add: [BPF, SYS_PTRACE]}}");
	/* the capabilities of a file are replaced as a whole, so the command lists all of them */
	ck_assert(strstr(fix_in(both, SETTING_USER), "cap_bpf,cap_perfmon,cap_sys_ptrace,") !=
		  NULL);
	ck_assert(strstr(fix_in(both, SETTING_USER), "cap_sys_nice=ep /") != NULL);
	ck_assert_str_eq(need_names(both, names, sizeof(names)), "CAP_BPF and CAP_SYS_PTRACE");
	ck_assert_str_eq(need_names(both | NEED_BIT(NEED_CAP_PERFMON), names, sizeof(names)),
			 "CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE");
	ck_assert_str_eq(fix_in(0, SETTING_USER), "");
}
END_TEST

START_TEST(small_buffers_are_not_overrun)
{
	char text[64];

	for (size_t size = 1; size < sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		need_fix(NEEDS_CAPABILITIES, SETTING_USER, text, size);
		ck_assert_uint_lt(strlen(text), size);
		ck_assert_int_eq(text[size], 'x');
		need_names(NEEDS_CAPABILITIES, text, size);
		ck_assert_uint_lt(strlen(text), size);
		ck_assert_int_eq(text[size], 'x');
	}
}
END_TEST

START_TEST(a_failure_says_how_to_fix_it)
{
	struct error err = {""};
	char *fix, *more;

	ck_assert_int_eq(need_failed(&err, -ENOENT, NEED_BTF, "reading"), -ENOENT);
	fix = strchr(err.text, '\n');
	ck_assert_ptr_nonnull(fix);
	more = strchr(fix + 1, '\n');
	ck_assert_ptr_nonnull(more);
	ck_assert(!strncmp(err.text, "reading: this kernel has no type information", 44));
	ck_assert(!strncmp(fix, "\nto fix it", 10));
	ck_assert_str_eq(more, "\n'skein doctor' shows more");
	/* a kernel error must not give the exit status of a wrong command line */
	ck_assert_int_eq(need_failed(&err, -EINVAL, NEED_COUNT, "loading"), -EOPNOTSUPP);
	ck_assert(strstr(err.text, "\n'skein doctor' shows more") != NULL);
}
END_TEST

SUITE("needs", every_need_has_a_fix_in_every_setting, capabilities_are_fixed_together,
      small_buffers_are_not_overrun, a_failure_says_how_to_fix_it)
