// SPDX-License-Identifier: Apache-2.0
/* Reads host names of other UTS namespaces by a BPF iterator, one thread at a time. */
#include "capture/host_name.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/event.h"
#include "bpf/host_name.skel.h"
#include "capture/process.h"
#include "capture/program.h"

#define INITIAL_UTS_NAMESPACE 0xEFFFFFFEU /* PROC_UTS_INIT_INO of include/linux/proc_ns.h */
#define KNOWN_NAMES 1024 /* a power of two */

struct known_name {
	uint64_t cgroup; /* 0: unused */
	char name[sizeof(((struct wire_host_name *)0)->name)];
};

struct host_names {
	struct host_name_bpf *skeleton; /* NULL: not loaded yet */
	int error; /* of loading; negative errno */
	bool inside; /* the recorder's UTS namespace is not the initial one */
	/*
	 * The machine's name, "" if the recorder does not see it. A namespace begins with the name
	 * of the one that it was made from, and containers are made from the machine's.
	 */
	char machine[sizeof(((struct wire_host_name *)0)->name)];
	struct known_name known[KNOWN_NAMES]; /* indexed by the low bits of the id */
};

struct host_names *host_names_new(void)
{
	struct host_names *h = calloc(1, sizeof(*h));
	struct stat st;

	if (!h)
		return NULL;
	h->inside = !stat("/proc/self/ns/uts", &st) && st.st_ino != INITIAL_UTS_NAMESPACE;
	if (!h->inside)
		(void)gethostname(h->machine, sizeof(h->machine) - 1);
	return h;
}

void host_names_free(struct host_names *h)
{
	if (!h)
		return;
	host_name_bpf__destroy(h->skeleton);
	free(h);
}

static int load_reader(struct host_names *h)
{
	if (h->skeleton || h->error)
		return h->error;
	program_quiet_library();
	h->skeleton = host_name_bpf__open();
	h->error = h->skeleton ? host_name_bpf__load(h->skeleton) : -ENOMEM;
	if (h->error) {
		host_name_bpf__destroy(h->skeleton);
		h->skeleton = NULL;
	}
	return h->error;
}

/* Read the name that a thread sees. Return 0 or a negative errno: -ESRCH if the thread is gone. */
static int read_name_of(struct host_names *h, uint32_t tid, struct wire_host_name *out)
{
	union bpf_iter_link_info thread = {.task = {.tid = tid}};
	LIBBPF_OPTS(bpf_iter_attach_opts, o, .link_info = &thread, .link_info_len = sizeof(thread));
	struct bpf_link *link;
	ssize_t got = 0;
	int fd;

	link = bpf_program__attach_iter(h->skeleton->progs.read_host_name, &o);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd >= 0) {
		got = read(fd, out, sizeof(*out));
		close(fd);
	}
	bpf_link__destroy(link);
	return got == sizeof(*out) ? 0 : -ESRCH;
}

const char *host_names_find(struct host_names *h, uint64_t cgroup, uint32_t pid, uint64_t born)
{
	struct known_name *k = &h->known[cgroup % KNOWN_NAMES];
	struct wire_host_name n;

	if (!cgroup || !pid)
		return "";
	if (k->cgroup == cgroup)
		return k->name;
	if (load_reader(h) || read_name_of(h, pid, &n))
		return "";
	if (!process_same_birth(n.born, born)) /* another process has the number by now */
		return "";
	n.name[sizeof(n.name) - 1] = '\0';
	if (n.inode == INITIAL_UTS_NAMESPACE || !strcmp(n.name, h->machine))
		return "";
	k->cgroup = cgroup;
	memcpy(k->name, n.name, sizeof(k->name));
	return k->name;
}

bool host_names_inside(const struct host_names *h)
{
	return h->inside;
}

int host_names_error(const struct host_names *h)
{
	return h->error;
}
