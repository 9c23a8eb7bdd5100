// SPDX-License-Identifier: Apache-2.0
/* Test the rules that name containers and services, with paths of control groups. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/service.h"
#include "suite.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod6f1e_2a.slice"

/* Make rules with a file of this text; NULL: the built-in rules only. Return the error's code. */
static int make_rules(struct services **out, const char *text, struct error *err)
{
	char path[] = "/tmp/skein-services-XXXXXX";
	int fd, ret;

	if (!text)
		return services_new(out, "/dev/null", err);
	fd = mkstemp(path);
	ck_assert_int_eq(write(fd, text, strlen(text)), (int)strlen(text));
	close(fd);
	ret = services_new(out, path, err);
	unlink(path);
	return ret;
}

static struct services *rules_of(const char *text)
{
	struct services *s = NULL;
	struct error err = {""};

	ck_assert_msg(make_rules(&s, text, &err) == 0, "%s", err.text);
	return s;
}

START_TEST(containers)
{
	static const struct {
		const char *path, *id;
	} cases[] = {
		{"", ""},
		{"/", ""},
		{"/user.slice/user-1000.slice/session-1.scope", ""},
		{"/system.slice/docker-" ID ".scope", ID},
		{"/system.slice/docker-" ID ".scope/init.scope", ID},
		{"/system.slice/docker-" ID "0.scope", ""},
		{"/system.slice/docker.service", ""},
		{"/docker/" ID, ID},
		{"/docker/" ID "/", ID},
		{"//docker//" ID "//x", ID},
		{"/docker/0123", ""},
		{"/docker", ""},
		{"/" ID, ""},
		{"/garden/" ID, ""},
		{"/process_api/27323a0f73ea52674535b6e42c78d8dc", ""},
		{"/kubepods/burstable/pod1-2-3/" ID, ID},
		{"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID ".scope", ID},
		{"/kubepods.slice/kubepods-pod1.slice/crio-" ID ".scope", ID},
		{"/kubepods.slice/kubepods-pod1.slice/crio-conmon-" ID ".scope", ""},
		{"/system.slice/kubelet.slice/kubepods-pod1.slice:cri-containerd:" ID, ID},
		{"/machine.slice/libpod-" ID ".scope/container", ID},
		{"/machine.slice/libpod-conmon-" ID ".scope", ""},
		{"/libpod_parent/libpod-" ID, ID},
		{"/lxc/web", "web"},
		{"/lxc/web/system.slice", "web"},
		{"/lxc.payload.web/init.scope", "web"},
		{"/lxc.monitor.web", ""},
		{"/lxc/web/docker/" ID, ID},
		{"/lxc", ""},
		{"/lxc/", ""},
		{"../../docker/" ID, ID},
		{"/machine.slice/machine-deb\\x2d12.scope/payload/init.scope", "deb-12"},
		{"/machine.slice/machine-qemu\\x2d1\\x2dweb.scope", ""},
	};
	struct services *s = rules_of(NULL);
	struct service_names n;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		services_find_container(s, cases[i].path, &n);
		ck_assert_msg(!strcmp(n.container, cases[i].id), "%s: '%s'", cases[i].path,
			      n.container);
	}
	services_free(s);
}
END_TEST

struct named {
	const char *path, *host, *name;
};

static void expect_names(const struct services *s, const struct named *cases, size_t count)
{
	struct service_names n;

	for (size_t i = 0; i < count; i++) {
		const struct named *c = &cases[i];

		services_find_container(s, c->path, &n);
		services_find_name(s, c->path, c->host, &n);
		ck_assert_msg(!strcmp(n.service, c->name), "%s of '%s': '%s'", c->path, c->host,
			      n.service);
	}
}

#define EXPECT_NAMES(s, cases) expect_names(s, cases, sizeof(cases) / sizeof((cases)[0]))

START_TEST(units)
{
	static const struct named cases[] = {
		{"", "", ""},
		{"/", "", ""},
		{"/system.slice/nginx.service", "", "nginx"},
		{"/system.slice/nginx.service/worker", "", "nginx"},
		{"/system.slice/system-getty.slice/getty@tty1.service", "", "getty"},
		{"/system.slice/dev-disk-by\\x2duuid.service", "", "dev-disk-by-uuid"},
		{"/system.slice/.service", "", ""},
		{"/system.slice", "", ""},
		{"/init.scope", "", "init"},
		{"/x/init.scope", "", ""},
		{"/user.slice/user-1000.slice/session-3.scope", "", "user-1000"},
		{"/user.slice/user-1000.slice/user@1000.service/init.scope", "", "user-1000"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/sync.service", "",
		 "sync"},
		{"/user.slice/u/app.slice/app-gnome-org.gnome.Maps-4242.scope", "",
		 "org.gnome.Maps"},
		{"/user.slice/u/app.slice/app-firefox@5f1a.service", "", "firefox"},
		{"/user.slice/u/app.slice/app-gnome-fire\\x2dfox@5f1a.service", "", "fire-fox"},
		{"/user.slice/u/app.slice/snap.firefox.firefox-12.scope", "", "firefox"},
		{"/system.slice/run-r0123abcd.scope", "", "systemd-run"},
		{"/system.slice/run-u12.service", "", "systemd-run"},
		{"/system.slice/run-backup.service", "", "run-backup"},
	};
	struct services *s = rules_of(NULL);

	EXPECT_NAMES(s, cases);
	services_free(s);
}
END_TEST

START_TEST(engines)
{
	static const struct named cases[] = {
		{"/system.slice/docker-" ID ".scope", "web", "web"},
		/* the default host name is the beginning of the id */
		{"/system.slice/docker-" ID ".scope", "0123456789ab", "0123456789ab"},
		{"/system.slice/docker-" ID ".scope", "", "0123456789ab"},
		{"/system.slice/docker-" ID ".scope/system.slice/ssh.service", "web", "ssh"},
		{"/docker/" ID, "web-1", "web-1"},
		{"/machine.slice/libpod-" ID ".scope/container", "db", "db"},
		{"/system.slice/web.service/libpod-payload-" ID, "0123456789ab", "web"},
		{POD "/cri-containerd-" ID ".scope", "web-7d4b9c6f5d-x2x9q", "web"},
		{POD "/cri-containerd-" ID ".scope", "my-web-x2x9q", "my-web"},
		{POD "/docker-" ID ".scope", "db-0", "db"},
		{POD "/crio-" ID ".scope", "backup-28391040-x2x9q", "backup"},
		{POD "/cri-containerd-" ID ".scope", "my-store", "my-store"},
		{POD "/cri-containerd-" ID ".scope", "x2x9q", "x2x9q"},
		{POD "/cri-containerd-" ID ".scope", "", "0123456789ab"},
		{"/kubepods/burstable/pod1-2-3/" ID, "api-7d4b9c6f5d-x2x9q", "api"},
		{"/lxc/101", "mail", "mail"},
		{"/lxc.payload.mail", "", "mail"},
		{"/machine.slice/machine-deb.scope/payload", "", "deb"},
		{"/machine.slice/machine-deb.scope/payload/system.slice/x.service", "", "x"},
		{"/machine.slice/machine-qemu\\x2d1\\x2dweb.scope/emulator", "", "web"},
		{"/system.slice/apptainer-4711.scope", "", "apptainer"},
		{"/system.slice/slurmstepd.scope/job_17/step_0/user/task_0", "", "slurm-job-17"},
		{"/slurm/uid_1000/job_17/step_batch/task_0", "", "slurm-job-17"},
		{"/jobs/job_17", "", ""},
		{"/", "api-7d4b9c6f5d-x2x9q", "api"},
		{"", "api-0", "api"},
	};
	struct services *s = rules_of(NULL);

	EXPECT_NAMES(s, cases);
	services_free(s);
}
END_TEST

START_TEST(file)
{
	static const struct named cases[] = {
		{"/batch/build-17/x", "", "builds"},
		{"/system.slice/nginx.service", "", "proxy"},
		{"/system.slice/web@2.service", "", "web/2"},
		{"/system.slice/db.service", "", "db"},
		{"/top/a", "", "first"},
		{"/x/top/a", "", ""},
		{"/farm/blue/cell", "", "cell of blue"},
		{"/docker/" ID, "box", "docker box"},
	};
	struct services *s = rules_of("# comment\n"
				      "\n"
				      "build-{number}\tbuilds\n"
				      "  nginx.service  proxy  \n"
				      "{name}@{instance}.service {name}/{instance}\n"
				      "/top/a first\n"
				      "farm/{colour}/{name} {name} of {colour}\n"
				      "docker/{id} docker {host}");

	EXPECT_NAMES(s, cases);
	services_free(s);
}
END_TEST

/* A wrong line is refused with its number, and so is a file that does not exist. */
START_TEST(refused)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"x y\nnginx.service\n", "line 2: the name is missing"},
		{"{name x\n", "line 1: { must begin"},
		{"{} x\n", "line 1: { must begin"},
		{"a {b\n", "line 1: { must begin"},
		{"{name} {nam}\n", "line 1: the name has a placeholder"},
		{"a//b c\n", "line 1: a directory"},
		{"/ c\n", "line 1: a directory"},
		{"*-*-*-*-* c\n", "line 1: a pattern may have four"},
	};
	struct services *s = NULL;
	struct error err;
	char longest[1100];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ck_assert_int_eq(make_rules(&s, cases[i].text, &err), -EINVAL);
		ck_assert_msg(strstr(err.text, cases[i].why) != NULL, "%s", err.text);
	}
	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_int_eq(make_rules(&s, longest, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.text, "too long"));
	ck_assert_int_eq(services_new(&s, "/nonexistent", &err), -ENOENT);
	ck_assert_ptr_null(s);
}
END_TEST

/* Names that a user chose to make matching slow cost less than a second, and no memory. */
START_TEST(hostile)
{
	static const struct named cases[] = {{"/a\\x", "", ""}, {"/{name}", "", ""}};
	struct services *s = rules_of("*a*a*a*b c\n");
	struct service_names n;
	char path[4096];

	memset(path, 'a', sizeof(path));
	for (size_t i = 0; i < sizeof(path); i += 256)
		path[i] = '/';
	path[sizeof(path) - 1] = '\0';
	services_find_container(s, path, &n);
	services_find_name(s, path, "", &n);
	ck_assert_str_eq(n.container, "");
	ck_assert_str_eq(n.service, "");
	memset(path, '-', sizeof(path) - 1);
	memcpy(path, "/app-", 5);
	services_find_name(s, path, "", &n);
	EXPECT_NAMES(s, cases);
	services_free(s);
}
END_TEST

SUITE("service", containers, units, engines, file, refused, hostile)
