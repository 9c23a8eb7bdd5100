// SPDX-License-Identifier: Apache-2.0
/* Test control groups with literal mount tables and paths, and with the cgroups of this machine. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/cgroup.h"
#include "capture/pod.h"
#include "suite.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define V2 "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
#define OTHERS \
	"23 1 0:1 / / rw - ext4 /dev/vda rw\n" \
	"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n" \
	"40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n"

static struct cgroups *with_mounts(const char *text)
{
	char path[] = "/tmp/skein-cgroup-XXXXXX";
	struct error err = {""};
	struct cgroups *c = NULL;
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	ck_assert_msg(cgroups_new(&c, path, &err) == 0, "%s", err.text);
	close(fd);
	unlink(path);
	return c;
}

#define UID "6f1e2a10-1111-2222-3333-0123456789ab"
#define UNDERSCORES "6f1e2a10_1111_2222_3333_0123456789ab"
#define STATIC "0123456789abcdef0123456789abcdef"

START_TEST(pods)
{
	static const struct {
		const char *name;
		bool pod;
	} cases[] = {
		{"pod" UID, true},
		{"pod" STATIC, true},
		{"kubepods-burstable-pod" UNDERSCORES ".slice", true},
		{"kubepods-besteffort-pod" STATIC ".slice", true},
		{"kubepods-pod" UNDERSCORES ".slice", true},
		{"kubelet-kubepods-burstable-pod" UNDERSCORES ".slice", true},
		{"libpod_pod_" ID, true},
		{"machine-libpod_pod_" ID ".slice", true},
		{"", false},
		{"pod", false},
		{"pod" UID "x", false},
		{"podman-123.scope", false},
		{"pod1", false},
		{"kubepods.slice", false},
		{"kubepods-burstable.slice", false},
		{"libpod-" ID ".scope", false},
		{"libpod_pod_" STATIC, false},
		{"cri-containerd-" ID ".scope", false},
		{"my-podcast-" STATIC ".slice", false},
		{ID, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ck_assert_msg(pod_is_name(cases[i].name) == cases[i].pod, "%s", cases[i].name);
}
END_TEST

START_TEST(choice)
{
	static const struct {
		const char *mounts, *subsystem;
	} cases[] = {
		{"", NULL},
		{OTHERS, NULL},
		{OTHERS V2, NULL},
		{OTHERS V2 "1 2 0:3 / /c/net rw - cgroup x rw,net_cls\n", NULL},
		{OTHERS "1 2 0:3 / /c/net rw - cgroup x rw,net_cls\n"
			"1 2 0:4 / /c/f rw - cgroup x rw,freezer\n"
			"1 2 0:5 / /c/m rw - cgroup x rw,memory\n" V2,
		 "freezer"},
		{"1 2 0:5 /x /c/m rw - cgroup x rw,cpu,cpuacct\n" V2, "cpu"},
		{"1 2 0:5 / /c/m rw - cgroup x rw,memory\n", "memory"},
		{"1 2 0:5 / /c/m rw\n- cgroup\n1 2 3 4 5 - \n - cgroup2\n1 2 - cgroup x "
		 "rw,cpu\n" V2,
		 NULL},
	};
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cgroups *c = with_mounts(cases[i].mounts);
		const char *subsystem = cgroups_subsystem(c);

		ck_assert_msg(subsystem == cases[i].subsystem ||
				      (subsystem && cases[i].subsystem &&
				       !strcmp(subsystem, cases[i].subsystem)),
			      "case %zu: %s", i, subsystem ? subsystem : "v2");
		cgroups_free(c);
	}
}
END_TEST

START_TEST(no_cgroups)
{
	struct cgroups *c = with_mounts(OTHERS);
	struct cgroup_place place = {.id = 5};
	struct error err = {""};

	ck_assert_str_eq(cgroups_path(c, 1), "");
	ck_assert_int_eq(cgroups_find(c, "/x", &place, &err), -ENOENT);
	ck_assert_ptr_nonnull(strstr(err.text, "no cgroup file system"));
	ck_assert_uint_eq(place.id, 5);
	cgroups_free(c);
	ck_assert_int_eq(cgroups_new(&c, "/nonexistent", &err), -ENOENT);
}
END_TEST

/* Create a cgroup three levels deep and find it by each of its names. */
START_TEST(find_and_back)
{
	char path[2 * PATH_MAX], mount[PATH_MAX], name[64];
	struct error err = {""};
	struct cgroup_place top, place;
	struct cgroups *c;
	struct stat st;

	ck_assert_msg(cgroups_new(&c, "/proc/self/mountinfo", &err) == 0, "%s", err.text);
	if (!cgroups_mount(c)[0]) {
		cgroups_free(c);
		return; /* this machine has no cgroups */
	}
	ck_assert_msg(cgroups_find(c, "/", &top, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(top.level, 0);
	ck_assert_str_eq(cgroups_path(c, top.id), "/");
	snprintf(mount, sizeof(mount), "%s", cgroups_mount(c));
	snprintf(name, sizeof(name), "/skein-test-%d", (int)getpid());
	snprintf(path, sizeof(path), "%s%s", mount, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s%s/a b", mount, name);
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(stat(path, &st), 0);

	ck_assert_msg(cgroups_find(c, path, &place, &err) == 0, "%s", err.text);
	ck_assert_uint_eq(place.id, st.st_ino);
	ck_assert_uint_eq(place.level, 2);
	ck_assert_ptr_eq(place.subsystem, cgroups_subsystem(c));
	memset(&place, 0, sizeof(place));
	ck_assert_int_eq(cgroups_find(c, path + strlen(mount), &place, &err), 0);
	ck_assert_uint_eq(place.id, st.st_ino);
	memset(&place, 0, sizeof(place));
	ck_assert_int_eq(cgroups_find(c, path + strlen(mount) + 1, &place, &err), 0);
	ck_assert_uint_eq(place.id, st.st_ino);
	ck_assert_str_eq(cgroups_path(c, place.id), path + strlen(mount));
	ck_assert_str_eq(cgroups_path(c, place.id), path + strlen(mount));
	ck_assert_int_eq(rmdir(path), 0);
	ck_assert_int_eq(cgroups_find(c, path, &place, &err), -ENOENT);
	ck_assert_str_eq(cgroups_path(c, place.id), path + strlen(mount));
	ck_assert_str_eq(cgroups_path(c, 0xdeadbeefcafe), "");
	*strrchr(path, '/') = '\0';
	rmdir(path);
	cgroups_free(c);
}
END_TEST

/* Without the right to open files by handle, the directories are searched. */
START_TEST(path_without_privilege)
{
	struct cgroup_place place;
	struct cgroups *c;
	char path[PATH_MAX];

	ck_assert_int_eq(cgroups_new(&c, "/proc/self/mountinfo", NULL), 0);
	if (!cgroups_mount(c)[0] || geteuid()) {
		cgroups_free(c);
		return;
	}
	snprintf(path, sizeof(path), "%s/skein-walk-%d", cgroups_mount(c), (int)getpid());
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(cgroups_find(c, path, &place, NULL), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_str_eq(cgroups_path(c, place.id), path + strlen(cgroups_mount(c)));
	ck_assert_str_eq(cgroups_path(c, place.id + 0x1234567), "");
	ck_assert_int_eq(seteuid(0), 0);
	rmdir(path);
	cgroups_free(c);
}
END_TEST

START_TEST(what_is_no_cgroup)
{
	static const char *const names[] = {
		"",	    "/tmp",	 "/nonexistent", "/etc/passwd",	 "..",
		"../../..", "/../../..", "tasks",	 "/cgroup.procs"};
	struct cgroup_place place;
	struct cgroups *c;
	size_t i;

	ck_assert_int_eq(cgroups_new(&c, "/proc/self/mountinfo", NULL), 0);
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct error err = {""};

		ck_assert_msg(cgroups_find(c, names[i], &place, &err) == -ENOENT, "%s", names[i]);
		ck_assert_ptr_nonnull(strstr(err.text, names[i]));
	}
	cgroups_free(c);
}
END_TEST

SUITE("cgroup", pods, choice, no_cgroups, find_and_back, path_without_privilege, what_is_no_cgroup)
