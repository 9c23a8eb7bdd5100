// SPDX-License-Identifier: Apache-2.0
/* Loads the programs that send the numbers of threads, and keeps the table of these numbers. */
#include "capture/namespace.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/namespace.skel.h"
#include "capture/clock.h"
#include "capture/needs.h"
#include "capture/program.h"
#include "capture/self.h"

struct namespace
{
	struct wire_namespace wire; /* level 0: the initial namespace; all below is unused then */
	struct namespace_bpf *skeleton;
	struct ring_buffer *ring;
	struct numbers *numbers;
	uint64_t lost; /* records lost when the threads were listed last */
	int error; /* of the ring's callback, which cannot return it; negative errno */
	bool with_outside;
	namespace_renamed renamed;
	void *context;
};

/* Return whether numbers differ from those of the initial namespace. NULL: they do not. */
static bool translates(const struct namespace *n)
{
	return n && n->wire.level;
}

/*
 * Return whether /proc belongs to the recorder's pid namespace: /proc/self is a link to the
 * reader's number in the namespace of the mount, and dangling where the reader has none.
 */
static bool proc_is_own(void)
{
	char text[32];
	ssize_t length = readlink("/proc/self", text, sizeof(text) - 1);

	if (length < 0)
		return false;
	text[length] = '\0';
	return strtol(text, NULL, 10) == getpid();
}

static int check_proc(struct error *err)
{
	if (proc_is_own())
		return 0;
	if (access("/proc/uptime", F_OK))
		return error_set(err, -ENOENT, "/proc is not mounted");
	error_set(err, -EXDEV, "/proc shows the processes of another pid namespace than skein's");
	error_hint(err, "to fix it: start skein with a /proc of its own (unshare --mount-proc), "
			"or in the namespace of /proc (nsenter --pid)");
	return -EXDEV;
}

static int apply_number(struct namespace *n, const struct wire_number *r)
{
	int ret = numbers_apply(n->numbers, r);

	if (ret <= 0 || !n->renamed)
		return ret < 0 ? ret : 0;
	return n->renamed(n->context, numbers_own(n->numbers, r->tid), r->time,
			  numbers_comm(n->numbers, r->tid));
}

static int on_number(void *context, void *data, size_t size)
{
	struct namespace *n = context;

	if (size >= sizeof(struct wire_number) && !n->error)
		n->error = apply_number(n, data);
	return 0;
}

static int load_namespace_programs(struct namespace *n, struct error *err)
{
	int ret;

	program_quiet_library();
	n->skeleton = namespace_bpf__open();
	if (!n->skeleton)
		return error_errno(err, -ENOMEM, "the program for pid namespaces");
	memcpy((void *)&n->skeleton->rodata->own, &n->wire, sizeof(n->wire));
	n->skeleton->rodata->with_outside = n->with_outside;
	bpf_program__set_autoload(n->skeleton->progs.outside_renamed, n->with_outside);
	bpf_program__set_autoload(n->skeleton->progs.outside_runs, n->with_outside);
	bpf_map__set_autocreate(n->skeleton->maps.sent_outside, n->with_outside);
	ret = namespace_bpf__load(n->skeleton);
	if (ret)
		return need_failed(err, ret, NEED_COUNT,
				   "the kernel refused the program for pid namespaces");
	n->numbers = numbers_new();
	n->ring = ring_buffer__new(bpf_map__fd(n->skeleton->maps.numbers), on_number, n, NULL);
	if (!n->numbers || !n->ring)
		return error_errno(err, -ENOMEM, "numbers of processes");
	return 0;
}

int namespace_new(struct namespace **out, struct error *err)
{
	struct namespace *n = calloc(1, sizeof(*n));
	struct stat st;
	int ret;

	if (!n)
		return error_errno(err, -ENOMEM, "pid namespace");
	ret = check_proc(err);
	if (ret || !here_in_pid_namespace())
		goto end;
	if (stat("/proc/self/ns/pid", &st)) {
		ret = error_errno(err, -errno, "/proc/self/ns/pid");
		goto end;
	}
	n->wire.inode = (uint32_t)st.st_ino;
	ret = self_find_pid_level(&n->wire.level, err);
end:
	if (ret)
		namespace_free(n);
	else
		*out = n;
	return ret;
}

void namespace_free(struct namespace *n)
{
	if (!n)
		return;
	ring_buffer__free(n->ring);
	numbers_free(n->numbers);
	namespace_bpf__destroy(n->skeleton);
	free(n);
}

int namespace_load(struct namespace *n, struct error *err)
{
	return translates(n) ? load_namespace_programs(n, err) : 0;
}

struct wire_namespace namespace_wire(const struct namespace *n)
{
	return n->wire;
}

/* Apply the listed threads. Return 0 or a negative errno. */
static int read_list(struct namespace *n, int fd)
{
	struct wire_number batch[128];
	size_t held = 0, count;
	ssize_t got;
	int ret = 0;

	while (!ret && (got = read(fd, (char *)batch + held, sizeof(batch) - held)) != 0) {
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got < 0)
			return -errno;
		held += (size_t)got;
		count = held / sizeof(*batch);
		for (size_t i = 0; !ret && i < count; i++)
			ret = apply_number(n, &batch[i]);
		held %= sizeof(*batch);
		memmove(batch, batch + count, held);
	}
	return ret;
}

/* List all living threads. Those that are known and not found have been freed unnoticed. */
static int list_threads(struct namespace *n)
{
	struct bpf_link *link = bpf_program__attach_iter(n->skeleton->progs.list_numbers, NULL);
	uint64_t began = clock_boot_ns();
	int fd, ret;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	ret = fd < 0 ? -errno : read_list(n, fd);
	if (!ret)
		numbers_sweep(n->numbers, began);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return ret;
}

void namespace_include_outside(struct namespace *n, namespace_renamed renamed, void *context)
{
	n->with_outside = true;
	n->renamed = renamed;
	n->context = context;
}

int namespace_attach(struct namespace *n, struct error *err)
{
	int ret;

	if (!translates(n))
		return 0;
	bpf_program__set_autoattach(n->skeleton->progs.list_numbers, false);
	ret = namespace_bpf__attach(n->skeleton);
	if (ret)
		return need_failed(err, ret, NEED_COUNT, "attaching to the kernel's tracepoints");
	ret = list_threads(n);
	return ret ? error_errno(err, ret, "the threads of this pid namespace") : 0;
}

int namespace_drain(struct namespace *n, uint64_t now)
{
	uint64_t lost;

	if (!translates(n))
		return 0;
	ring_buffer__consume(n->ring);
	if (n->error)
		return n->error;
	numbers_tidy(n->numbers, now);
	lost = __atomic_load_n(&n->skeleton->bss->unsent, __ATOMIC_RELAXED);
	if (lost == n->lost)
		return 0;
	n->lost = lost;
	return list_threads(n);
}

struct own_numbers namespace_own(const struct namespace *n, uint32_t pid, uint32_t tid)
{
	struct own_numbers own = {.pid = pid, .tid = tid};

	if (!translates(n) || !tid)
		return own;
	own = numbers_own(n->numbers, tid);
	if (own.tid)
		return own;
	if (!n->with_outside)
		return (struct own_numbers){.pid = NUMBER_OUTSIDE, .tid = NUMBER_OUTSIDE};
	return (struct own_numbers){.pid = NUMBER_OUTSIDE | (pid ? pid : tid),
				    .tid = NUMBER_OUTSIDE | tid};
}

const char *namespace_comm(const struct namespace *n, uint32_t own)
{
	if (own == NUMBER_OUTSIDE)
		return "[outside]";
	return translates(n) ? numbers_comm(n->numbers, numbers_global(n->numbers, own)) : "";
}

uint32_t namespace_global(const struct namespace *n, uint32_t own)
{
	return translates(n) ? numbers_global(n->numbers, own) : own;
}

uint64_t namespace_generation(const struct namespace *n)
{
	return translates(n) ? numbers_generation(n->numbers) : 0;
}
