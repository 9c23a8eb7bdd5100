// SPDX-License-Identifier: Apache-2.0
/*
 * Replies of a worker that a hostile file has taken over: the client must trust nothing in them. No
 * process is started: fork(), kill() and waitpid() are replaced here. The first byte chooses the
 * requests; then come packets of 2 bytes of kind (message type, 6 bits; which header fields are
 * wrong), 2 of count, 2 of length, and the payload.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "fuzz.h"
#include "symbolizers/client_private.h"
#include "tests/unit/table_find.h"

#define NOBODY_PID 0x3fffffff /* above the kernel's largest pid */

static uint64_t sum; /* sum over all replies, so that they are read */

pid_t fork(void)
{
	return NOBODY_PID;
}

int kill(pid_t pid, int number)
{
	(void)number;
	return pid == NOBODY_PID ? 0 : -1;
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	(void)status;
	(void)options;
	return pid;
}

static void read_text(const char *text, size_t most)
{
	size_t length = strlen(text);

	if (length > most)
		abort();
	sum += length;
}

static void on_symbol(void *context, uint64_t object, uint64_t address, const struct symbol *s)
{
	(void)context;
	(void)object;
	read_text(s->name, REPLY_NAME_MAX);
	read_text(s->system_name, REPLY_NAME_MAX);
	read_text(s->file, REPLY_NAME_MAX);
	sum += address + s->start + s->line;
}

static void on_facts(void *context, uint64_t object, const struct object_facts *f)
{
	(void)context;
	(void)object;
	read_text(f->build_id, sizeof(f->build_id) - 1);
	read_text(f->debuglink, sizeof(f->debuglink) - 1);
	if (strchr(f->debuglink, '/'))
		abort();
	sum += f->bad + f->hidden + f->wants_debug;
}

static void on_table(void *context, uint64_t object, int status, const struct unwind_table *t)
{
	(void)context;
	(void)object;
	if ((status == 0) != (t != NULL))
		abort();
	for (uint64_t at = 0; t && at < 1 << 20; at += 4099)
		sum += unwind_table_find(t, at) != NULL;
}

static void on_python(void *context, uint64_t object, const struct python_file *f)
{
	(void)context;
	(void)object;
	sum += f->support;
}

static void on_sources(void *context, uint64_t object, const struct source_facts *f)
{
	(void)context;
	(void)object;
	read_text(f->build_id, sizeof(f->build_id) - 1);
	read_text(f->debuglink, sizeof(f->debuglink) - 1);
	read_text(f->common, sizeof(f->common) - 1);
	read_text(f->common_id, sizeof(f->common_id) - 1);
}

static void on_places(void *context, uint64_t object, uint64_t address,
		      const struct source_place *p, unsigned int count)
{
	(void)context;
	(void)object;
	sum += address;
	if (count > SOURCE_PLACES_MAX)
		abort();
	for (unsigned int i = 0; i < count; i++) {
		read_text(p[i].name, REPLY_NAME_MAX);
		read_text(p[i].system_name, REPLY_NAME_MAX);
		read_text(p[i].declared, REPLY_NAME_MAX);
		read_text(p[i].file, REPLY_NAME_MAX);
	}
}

static struct symbolizer *begin(bool sources, int *ret_worker)
{
	const struct symbolizer_events events = {
		.symbol = on_symbol,
		.facts = on_facts,
		.table = on_table,
		.python = on_python,
		.sources = on_sources,
		.places = on_places,
	};
	struct epoll_event event = {.events = EPOLLIN};
	struct symbolizer *s = NULL;
	struct error err;
	int pair[2], rc;

	rc = sources ? symbolizer_new_sources(&s, &events, 1 << 20, &err)
		     : symbolizer_new(&s, &events, &err);
	if (rc < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	epoll_ctl(s->worker.poll, EPOLL_CTL_DEL, s->worker.socket, NULL);
	if (dup2(pair[0], s->worker.socket) < 0 ||
	    epoll_ctl(s->worker.poll, EPOLL_CTL_ADD, s->worker.socket, &event) < 0)
		abort();
	close(pair[0]);
	*ret_worker = pair[1];
	return s;
}

static void ask(struct symbolizer *s, uint8_t what)
{
	const uint8_t nothing = 0;

	(void)symbolizer_add(s, 1, OBJECT_ELF, fuzz_file(&nothing, 1));
	(void)symbolizer_add(s, 2, OBJECT_KERNEL, fuzz_file(&nothing, 1));
	if (what & 1)
		(void)symbolizer_request_table(s, 1);
	if (what & 2) {
		(void)symbolizer_inspect(s, 1);
		(void)symbolizer_request_probes(s, 1, &(struct probe_wanted){.parts = 1});
	}
	if (what & 4)
		(void)symbolizer_read(s, 1);
	if (what & 8)
		(void)symbolizer_request_sources(s, 1);
	for (uint64_t address = 0; what & 16 && address < 4; address++)
		(void)symbolizer_lookup(s, 1, address);
	if (what & 32)
		(void)symbolizer_lookup(s, 2, 0xffffffff81000000);
	(void)symbolizer_flush(s);
}

/* Send the packet at data, of which size bytes are left. Return how many bytes it took. */
static size_t say(const struct symbolizer *s, int worker, const uint8_t *data, size_t size)
{
	const struct request *r = request_first(&s->sent);
	size_t length = (size_t)data[4] | (size_t)data[5] << 8;
	struct message m = {
		.type = MESSAGE_HEARTBEAT + (data[0] & 63),
		.count = (uint32_t)data[2] | (uint32_t)data[3] << 8,
		.object = data[1] & 1 ? data[1] : r->object->id,
		.sequence = data[1] & 2 ? data[1] : r->sequence,
	};

	length = length < size - 6 ? length : size - 6;
	(void)message_send_now(worker, &m, data + 6, length, -1);
	return 6 + length;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbolizer *s;
	struct error err;
	uint64_t now = 1;
	size_t at = 1;
	int worker;

	if (!size)
		return 0;
	s = begin(data[0] & 64, &worker);
	ask(s, data[0]);
	(void)symbolizer_poll(s, now, &err);
	while (s->worker.socket >= 0 && s->sent.first && size - at >= 6) {
		at += say(s, worker, data + at, size - at);
		(void)symbolizer_poll(s, ++now, &err);
	}
	symbolizer_free(s);
	close(worker);
	return 0;
}
