// SPDX-License-Identifier: Apache-2.0
/*
 * Attaches a BPF program to sites of a file: to many at once by a link (Linux 6.6), or one by one
 * by perf events. libbpf 1.1 knows the second way only, and only by paths.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/probes_private.h"

#define DETACH_THREADS_MAX 16
#define DESCRIPTORS_MAX 65536 /* that the recorder may have open */

/* The part of union bpf_attr for BPF_LINK_CREATE, of Linux 6.6. */
struct link_many {
	uint32_t program, target, type, flags;
	uint64_t path, offsets, semaphores, cookies;
	uint32_t count, many_flags, pid, unused;
};

static int create_link_many(int program, const char *path, const struct probe_batch *b)
{
	struct link_many a = {
		.program = (uint32_t)program,
		.type = ATTACH_UPROBE_MULTI,
		.path = (uintptr_t)path,
		.offsets = (uintptr_t)b->offsets,
		.cookies = (uintptr_t)b->cookies,
		.count = b->count,
	};
	int fd;

	for (unsigned int i = 0; i < b->count; i++)
		if (b->semaphores[i])
			a.semaphores = (uintptr_t)b->semaphores;
	fd = (int)syscall(__NR_bpf, BPF_LINK_CREATE, &a, offsetof(struct link_many, unused));
	return fd < 0 ? -errno : fd;
}

bool probe_links_many(int program)
{
	/* The kernel looks at the path, which is no file, only if it knows the type of the link. */
	struct probe_batch *one = calloc(1, sizeof(*one));
	int ret = -ENOMEM;

	if (!one)
		return false;
	one->count = 1;
	ret = create_link_many(program, "/", one);
	if (ret >= 0)
		close(ret);
	free(one);
	return ret == -EBADF;
}

/* Return the number of the perf event type of uprobes, or a negative errno. */
static int event_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/uprobe/type", "re");
	int type = -ENOENT;

	if (!f)
		return -errno;
	if (fscanf(f, "%d", &type) != 1)
		type = -ENOENT;
	fclose(f);
	return type;
}

static int open_event(const char *path, uint64_t offset, uint64_t semaphore)
{
	int type = event_type(), fd;
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = (uint32_t)type,
		.config = semaphore << 32, /* format/ref_ctr_offset: config:32-63 */
		.config1 = (uintptr_t)path,
		.config2 = offset,
	};

	if (type < 0)
		return type;
	if (semaphore > UINT32_MAX)
		return -EOVERFLOW;
	fd = (int)syscall(__NR_perf_event_open, &a, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Attach one site by a perf event. The event of CPU 0 stands for all CPUs: programs run before. */
static int attach_event(struct probe_link *out, int program, const char *path,
			const struct probe_batch *b, unsigned int at)
{
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = b->cookies[at]);
	int event = open_event(path, b->offsets[at], b->semaphores[at]), fd;

	if (event < 0)
		return event;
	fd = bpf_link_create(program, event, BPF_PERF_EVENT, &opts);
	if (fd < 0 || ioctl(event, PERF_EVENT_IOC_ENABLE, 0) < 0) {
		int ret = -errno;

		if (fd >= 0)
			close(fd);
		close(event);
		return ret;
	}
	*out = (struct probe_link){.file = *b->file, .fd = fd, .event = event};
	return 0;
}

/* Attach one site by a link of its own, since the kernel has refused all together. */
static int attach_alone(struct probe_link *out, int program, const char *path,
			const struct probe_batch *b, unsigned int at)
{
	struct probe_batch *one = calloc(1, sizeof(*one));
	int fd;

	if (!one)
		return -ENOMEM;
	one->count = 1;
	one->offsets[0] = b->offsets[at];
	one->semaphores[0] = b->semaphores[at];
	one->cookies[0] = b->cookies[at];
	fd = create_link_many(program, path, one);
	free(one);
	if (fd < 0)
		return fd;
	*out = (struct probe_link){.file = *b->file, .fd = fd, .event = -1};
	return 0;
}

int probe_links_attach(probe_link_list *links, int program, bool many, struct probe_batch *b)
{
	struct probe_link link = {.file = *b->file, .fd = -1, .event = -1};
	char path[32];

	if (vector_reserve(links, b->count) < 0)
		return -ENOMEM;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->fd);
	if (many)
		link.fd = create_link_many(program, path, b);
	if (link.fd >= 0) {
		memset(b->errors, 0, sizeof(b->errors));
		links->items[links->count++] = link;
		return 0;
	}
	for (unsigned int i = 0; i < b->count; i++) {
		b->errors[i] = many ? attach_alone(&link, program, path, b, i)
				    : attach_event(&link, program, path, b, i);
		if (!b->errors[i])
			links->items[links->count++] = link;
	}
	return 0;
}

static void close_link(struct probe_link *l)
{
	if (l->fd >= 0)
		close(l->fd);
	if (l->event >= 0)
		close(l->event);
	l->fd = l->event = -1;
}

void probe_links_detach(probe_link_list *links, const struct file_id *file)
{
	size_t left = 0;

	for (size_t i = 0; i < links->count; i++) {
		struct probe_link *l = &links->items[i];

		if (file && memcmp(&l->file, file, FILE_KEY_SIZE) != 0)
			links->items[left++] = *l;
		else
			close_link(l);
	}
	links->count = left;
}

struct probe_detacher {
	probe_link_list *links;
	size_t next; /* index of the next link to be closed */
	pthread_t threads[DETACH_THREADS_MAX];
	unsigned int count; /* of threads */
};

static void *detach_links(void *context)
{
	struct probe_detacher *d = context;
	size_t at;

	while ((at = __atomic_fetch_add(&d->next, 1, __ATOMIC_RELAXED)) < d->links->count)
		close_link(&d->links->items[at]);
	return NULL;
}

static bool is_of_events(const probe_link_list *links, int fd)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->items[i].event == fd || links->items[i].fd == fd)
			return true;
	return false;
}

/* Keep only the links and the events open, wait until gate is closed elsewhere, and end. */
static __attribute__((noreturn)) void detach_and_exit(const probe_link_list *links, int gate)
{
	char byte;

	(void)prctl(PR_SET_NAME, "skein-detach");
	/* whoever reads the recorder's output waits until all that can write it have ended */
	for (int fd = 0; fd < 3; fd++)
		close(fd);
	for (int fd = 3; fd < DESCRIPTORS_MAX; fd++)
		if (fd != gate && !is_of_events(links, fd))
			close(fd);
	while (read(gate, &byte, 1) > 0)
		;
	_exit(0);
}

/*
 * Leave perf events to a process of its own, whose end detaches them: the kernel takes 0.1 s for
 * each, one after the other, however many threads close them. Return whether there is one.
 */
static bool leave_to_process(probe_link_list *links)
{
	int gate[2];
	pid_t pid;

	if (!links->count || pipe2(gate, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (!pid) {
		close(gate[1]);
		detach_and_exit(links, gate[0]);
	}
	/* the last to close an event waits */
	for (size_t i = 0; pid > 0 && i < links->count; i++)
		close_link(&links->items[i]);
	close(gate[0]);
	close(gate[1]);
	return pid > 0;
}

struct probe_detacher *probe_detacher_start(probe_link_list *links, bool many)
{
	struct probe_detacher *d = calloc(1, sizeof(*d));

	if (!d || (!many && leave_to_process(links)))
		return d;
	d->links = links;
	for (size_t i = 0; i < links->count && d->count < DETACH_THREADS_MAX; i++) {
		if (pthread_create(&d->threads[d->count], NULL, detach_links, d))
			break;
		d->count++;
	}
	return d;
}

void probe_detacher_join(struct probe_detacher *d)
{
	if (!d)
		return;
	for (unsigned int i = 0; i < d->count; i++)
		pthread_join(d->threads[i], NULL);
	free(d);
}
