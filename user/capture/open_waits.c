// SPDX-License-Identifier: Apache-2.0
/* Loads the iterator over waits that have not ended, and runs it in a child process. */
#include "capture/open_waits.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/helper.h"
#include "bpf/open_waits.skel.h"
#include "capture/needs.h"

#define READ_WAIT 20 /* ms */
#define READ_BYTES 65536
/*
 * CPU time (ns), and time (ns), in which stacks are read. Of the remaining threads only the
 * innermost frames are.
 */
#define OPEN_WAITS_CPU 1000000000ULL
#define OPEN_WAITS_WALL (5 * OPEN_WAITS_CPU)
/* After so many readers that hang, stacks are not read any more. */
#define HUNG_MAX 3

struct open_waits {
	struct open_waits_bpf *skeleton;
	struct open_waits_bpf *with_java; /* takes its place once it is loaded; atomic */
	const struct program *program;
	struct open_waits_parts parts;
	struct helper reader;
	int iterator; /* descriptor, while the reader is started */
	unsigned int hung; /* readers that were given up */
	uint64_t budget; /* ns of CPU time for stacks */
	size_t held; /* bytes in buffer */
	char buffer[READ_BYTES + WIRE_OPEN_WAIT_BYTES];
};

/* Share the maps of the sampling program, which keeps the unwind tables and mappings up to date. */
static int share_walker_maps(struct open_waits_bpf *s, const struct program *program)
{
	static const char *const shared[] = {
		"selected_pids",  "selected_tids",    "arena",		 "unwind_slots",
		"unwind_rules",	  "unwind_processes", "rule_cache",	 "python_layouts",
		"python_threads", "python_seen",      "hotspot_layouts", "hotspot_processes",
		"hotspot_cache",  "hotspot_codes",
	};
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(shared) / sizeof(*shared); i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(s->obj, shared[i]);

		if (map)
			ret = bpf_map__reuse_fd(map, program_map_fd(program, shared[i]));
	}
	return ret;
}

static int load_iterator(struct open_waits *o, struct open_waits_bpf *s, bool with_java)
{
	int ret;

	bpf_program__set_autoload(s->progs.open_waits, true);
	s->rodata->with_kernel_stack = o->parts.kernel;
	s->rodata->with_user_stack = o->parts.user;
	s->rodata->with_java = with_java;
	memcpy((void *)&s->rodata->wanted, program_selection(o->program),
	       sizeof(struct wire_selection));
	ret = share_walker_maps(s, o->program);
	return ret ? ret : open_waits_bpf__load(s);
}

static int load_first_iterator(struct open_waits *o, struct error *err)
{
	int ret;

	program_quiet_library();
	o->skeleton = open_waits_bpf__open();
	if (!o->skeleton)
		return error_errno(err, -ENOMEM, "the program that reads stacks of waits");
	ret = load_iterator(o, o->skeleton, false);
	if (ret)
		return need_failed(err, ret, NEED_COUNT,
				   "the kernel refused the program that reads stacks of waits");
	return o->skeleton->bss ? 0 : error_errno(err, -ENOMEM, "memory shared with the kernel");
}

int open_waits_load(struct open_waits **out, const struct program *program,
		    const struct open_waits_parts *parts, struct error *err)
{
	struct open_waits *o = calloc(1, sizeof(*o));
	int ret;

	if (!o)
		return error_errno(err, -ENOMEM, "stacks of waits");
	o->program = program;
	o->parts = *parts;
	o->budget = parts->hurry ? 0 : OPEN_WAITS_CPU;
	ret = load_first_iterator(o, err);
	if (ret)
		open_waits_free(o);
	else
		*out = o;
	return ret;
}

int open_waits_load_java(void *open_waits)
{
	struct open_waits *o = open_waits;
	struct open_waits_bpf *s = open_waits_bpf__open();
	int ret = !s ? -ENOMEM : o->parts.no_java ? -EACCES : load_iterator(o, s, true);

	if (!ret && !s->bss)
		ret = -ENOMEM;
	if (ret)
		open_waits_bpf__destroy(s);
	else
		__atomic_store_n(&o->with_java, s, __ATOMIC_RELEASE);
	return ret;
}

void open_waits_free(struct open_waits *o)
{
	if (!o)
		return;
	helper_close(&o->reader);
	open_waits_bpf__destroy(o->skeleton);
	open_waits_bpf__destroy(o->with_java);
	free(o);
}

/*
 * The child: run the iterator, and send its output in parts. A child that hangs must not hold the
 * recorder's other descriptors, such as links, which would keep programs attached.
 */
static void __attribute__((noreturn)) run_reader(void *context, int socket, pid_t parent)
{
	static char data[READ_BYTES];
	const struct open_waits *o = context;
	ssize_t n;

	prctl(PR_SET_NAME, "skein-waits");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || dup2(o->iterator, 0) < 0 || dup2(socket, 1) < 0)
		_exit(1);
	syscall(SYS_close_range, 3, ~0U, 0);
	/* What ends the recording is for the recorder alone. */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while ((n = read(0, data, sizeof(data))) != 0) {
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0 || send(1, data, (size_t)n, MSG_NOSIGNAL) != n)
			_exit(1);
	}
	_exit(0);
}

static int start_reader(struct open_waits *o, const struct open_waits_bpf *s)
{
	const struct helper_kind kind = {
		.name = "the reader of stacks of waits", .run = run_reader, .context = o};
	struct bpf_link *link = bpf_program__attach_iter(s->progs.open_waits, NULL);
	struct error err;
	int ret;

	if (!link)
		return -errno;
	o->iterator = bpf_iter_create(bpf_link__fd(link));
	ret = o->iterator < 0 ? -errno : helper_open(&o->reader, &kind, &err);
	if (o->iterator >= 0)
		close(o->iterator);
	bpf_link__destroy(link);
	return ret;
}

int open_waits_begin(struct open_waits *o, uint64_t now)
{
	const struct open_waits_bpf *s = __atomic_load_n(&o->with_java, __ATOMIC_ACQUIRE);
	int ret;

	if (o->hung >= HUNG_MAX)
		return -EBUSY;
	if (!s)
		s = o->skeleton;
	o->held = 0;
	s->bss->open_waits_deadline = now + OPEN_WAITS_WALL;
	s->bss->open_waits_budget = o->budget;
	ret = start_reader(o, s);
	if (ret)
		return ret;
	helper_begin_poll(&o->reader, now);
	helper_expect(&o->reader, true, false);
	return 0;
}

/* Call each for the records that are complete. Return 0, or the first non-zero result of each. */
static int take_open_wait_records(struct open_waits *o, open_waits_each each, void *context)
{
	size_t at = 0;
	int ret = 0;

	while (!ret && o->held - at >= sizeof(struct wire_sample)) {
		struct wire_sample *s = (void *)(o->buffer + at);

		if (s->bytes < sizeof(*s) || s->bytes > WIRE_OPEN_WAIT_BYTES || s->bytes % 8)
			return -EBADMSG;
		if (s->bytes > o->held - at)
			break;
		ret = each(context, s, s->bytes);
		at += s->bytes;
	}
	o->held -= at;
	memmove(o->buffer, o->buffer + at, o->held);
	return ret;
}

/* Receive a part of the output, if there is one. Return 1 if there may be more. */
static int receive_open_waits(struct open_waits *o, open_waits_each each, void *context)
{
	ssize_t n = recv(o->reader.socket, o->buffer + o->held, READ_BYTES, MSG_DONTWAIT);
	int ret;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 1 : -errno;
	if (!n)
		return o->held ? -EBADMSG : 0;
	helper_received(&o->reader, true);
	o->held += (size_t)n;
	ret = take_open_wait_records(o, each, context);
	return ret ? ret : 1;
}

int open_waits_read(struct open_waits *o, uint64_t now, open_waits_each each, void *context)
{
	struct pollfd poll_for = {.fd = o->reader.socket, .events = POLLIN};
	int ret = 1;

	helper_begin_poll(&o->reader, now);
	if (poll(&poll_for, 1, READ_WAIT) > 0)
		ret = receive_open_waits(o, each, context);
	else if (helper_is_stuck(&o->reader))
		ret = -ETIMEDOUT;
	o->hung += ret == -ETIMEDOUT;
	if (ret != 1)
		helper_close(&o->reader);
	return ret;
}
