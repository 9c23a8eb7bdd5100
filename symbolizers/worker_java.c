// SPDX-License-Identifier: Apache-2.0
/* Read the tables of a JVM in the worker, and answer for the names of its frames. */
#include "symbolizers/worker_java.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbolizers/hotspot_rows.h"
#include "symbolizers/worker_tables.h"

/* Most bytes of the names of one process that are kept. */
#define NAMES_BYTES_MAX (16u << 20)

bool worker_java_begin(struct java_process *p, const void *payload, size_t size)
{
	*p = (struct java_process){0};
	if (size != sizeof(p->objects))
		return false;
	memcpy(&p->objects, payload, size);
	return true;
}

static void forget_once(struct java_process *p)
{
	if (p->once)
		hotspot_once_free(p->once);
	free(p->once);
	p->once = NULL;
}

void worker_java_end(struct java_process *p)
{
	forget_once(p);
	hotspot_names_free(p->names);
	hotspot_tables_free(p->tables);
	*p = (struct java_process){0};
}

static int read_java_memory(void *context, void *to, size_t bytes, uint64_t address)
{
	const int *fd = context;
	char *p = to;
	ssize_t got;

	/* If one page cannot be read, pread() ends before that page, and the next pread() fails. */
	for (; bytes; bytes -= (size_t)got, p += got, address += (uint64_t)got) {
		got = pread(*fd, p, bytes, (off_t)address);
		if (got <= 0)
			return -EFAULT;
	}
	return 0;
}

static int read_tables(struct java_process *p, int fd, struct error *err)
{
	struct hotspot_tables *t;
	int ret;

	if (p->tables)
		return 0;
	ret = hotspot_tables_read(&t, &p->objects, read_java_memory, &fd, err);
	if (ret)
		return ret;
	if (!p->names)
		ret = hotspot_names_new(&p->names, t, err);
	if (ret)
		hotspot_tables_free(t);
	else
		p->tables = t;
	return ret;
}

/* Read what walkers need of a JVM, but for the code that is made once. */
static int read_facts(struct java_process *p, struct hotspot_facts *f, int fd, struct error *err)
{
	const struct hotspot_memory memory = {.read = read_java_memory, .context = &fd};
	int ret = read_tables(p, fd, err);

	if (!ret)
		ret = hotspot_facts_read(f, p->tables, &memory, err);
	if (!ret)
		p->layout = f->layout;
	return ret;
}

/* Describe the code that is made once. Without that, the walker leaves it by its frame sizes. */
static int read_once(struct java_process *p, const struct hotspot_memory *memory,
		     struct jvm_facts *f, struct error *err)
{
	int ret;

	forget_once(p);
	p->once = calloc(1, sizeof(*p->once));
	if (!p->once)
		return -ENOMEM;
	ret = hotspot_once_read(p->once, p->tables, &f->facts, memory, err);
	if (ret) {
		free(p->once);
		p->once = NULL;
		return ret == -EAGAIN ? ret : 0;
	}
	f->row_count = p->once->row_count;
	memcpy(f->rows, p->once->rows, sizeof(f->rows));
	f->has_table = p->once->table != NULL;
	f->base = p->once->base;
	return 0;
}

/*
 * The requests below may come to a worker that has not read the JVM: another one had, in whose
 * place this one is. Such a JVM is read then.
 */
static int read_jvm(struct java_process *p, struct jvm_facts *f, int fd, struct error *err)
{
	const struct hotspot_memory memory = {.read = read_java_memory, .context = &fd};
	int ret = p && fd >= 0 ? read_facts(p, &f->facts, fd, err) : -EBADF;

	return ret ? ret : read_once(p, &memory, f, err);
}

int worker_reply_jvm_table(int socket, const struct message *request, struct java_process *p,
			   int fd)
{
	struct jvm_facts *f = p->once ? NULL : calloc(1, sizeof(*f));
	struct error err;
	int ret;

	if (f)
		(void)read_jvm(p, f, fd, &err);
	free(f);
	ret = worker_reply_made_table(socket, request, p->once ? p->once->table : NULL,
				      p->once ? p->once->table_bytes : 0);
	forget_once(p); /* if it is requested again, it is read again */
	return ret;
}

int worker_reply_jvm(int socket, const struct message *request, struct java_process *p, int fd)
{
	struct message_jvm m;
	struct error err = {0};
	int ret;

	/* clear padding as well, since the struct is sent as it is */
	memset(&m, 0, sizeof(m));
	ret = read_jvm(p, &m.jvm, fd, &err);
	m.status = ret;
	if (ret)
		snprintf(m.reason, sizeof(m.reason), "%.*s", (int)sizeof(m.reason) - 1, err.text);
	return message_reply(socket, request, MESSAGE_JVM_FACTS, &m, sizeof(m));
}

/* Get the layout of a JVM in p->layout. Return 0 if it is known. */
static int get_layout(struct java_process *p, int fd)
{
	struct hotspot_facts f;
	struct error err;

	if (!p || fd < 0)
		return -EBADF;
	return p->layout.header_bytes ? 0 : read_facts(p, &f, fd, &err);
}

int worker_reply_java_rows(int socket, const struct message *request, struct java_process *p,
			   int fd, const struct message_lookup *q)
{
	const struct hotspot_memory memory = {.read = read_java_memory, .context = &fd};
	const struct hotspot_code_place place = {
		.blob = q->address,
		.id = HOTSPOT_PLACE_ID(q->place),
		.offset = HOTSPOT_PLACE_OFFSET_OF(q->place),
	};
	struct message_java_rows m = {.lookup = *q};

	m.status = get_layout(p, fd);
	if (!m.status)
		m.status = hotspot_rows_read(&m.rows, &p->layout, &memory, &place);
	return message_reply(socket, request, MESSAGE_JAVA_ROWS, &m, sizeof(m));
}

static void copy_reason(char *to, size_t size, int status, const struct error *err)
{
	if (status)
		snprintf(to, size, "%.*s", (int)size - 1, err->text);
}

int worker_reply_jvm_counters(int socket, const struct message *request, struct java_process *p,
			      int fd)
{
	const struct hotspot_memory memory = {.read = read_java_memory, .context = &fd};
	struct message_jvm_counters m;
	struct timespec now;
	struct error err = {0};

	/* clear padding as well, since the struct is sent as it is */
	memset(&m, 0, sizeof(m));
	m.status = p && fd >= 0 ? read_tables(p, fd, &err) : -EBADF;
	clock_gettime(CLOCK_BOOTTIME, &now);
	if (!m.status)
		m.status = hotspot_perf_read(&m.perf, p->tables, &memory, &err);
	m.perf.time = (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
	copy_reason(m.reason, sizeof(m.reason), m.status, &err);
	return message_reply(socket, request, MESSAGE_JVM_COUNTERS, &m, sizeof(m));
}

/* The next part of a list of threads, as it is sent. */
struct thread_part {
	int socket;
	const struct message *request;
	struct hotspot_threads list;
	uint32_t count;
	struct {
		struct message_thread_list head;
		struct hotspot_thread threads[THREADS_PER_MESSAGE];
	} payload;
};

static int send_threads(struct thread_part *part)
{
	struct message m = *part->request;
	size_t size = sizeof(part->payload.head) + part->count * sizeof(*part->payload.threads);
	int ret;

	part->payload.head.layout = part->list.layout;
	m.type = MESSAGE_THREAD_LIST;
	m.count = part->count;
	ret = message_send(part->socket, &m, &part->payload, size);
	part->count = 0;
	return ret;
}

static int put_thread(void *context, const struct hotspot_thread *t)
{
	struct thread_part *part = context;

	part->payload.threads[part->count++] = *t;
	return part->count == THREADS_PER_MESSAGE ? send_threads(part) : 0;
}

int worker_reply_jvm_threads(int socket, const struct message *request, struct java_process *p,
			     int fd)
{
	const struct hotspot_memory memory = {.read = read_java_memory, .context = &fd};
	struct thread_part *part = calloc(1, sizeof(*part));
	struct message_thread_list *head;
	struct error err = {0};
	int ret;

	if (!part)
		return -ENOMEM;
	*part = (struct thread_part){.socket = socket, .request = request};
	part->list.each = put_thread;
	part->list.context = part;
	head = &part->payload.head;
	ret = p && fd >= 0 ? read_tables(p, fd, &err) : -EBADF;
	if (!ret)
		ret = hotspot_threads_read(&part->list, p->tables, &memory, &err);
	head->status = ret;
	head->last = 1;
	if (ret) /* the threads that were sent before stay valid */
		part->count = 0;
	copy_reason(head->reason, sizeof(head->reason), ret, &err);
	ret = send_threads(part);
	free(part);
	return ret;
}

static bool describe_lookup(struct hotspot_lookup *out, const struct message_lookup *q)
{
	static const uint32_t kinds[] = {
		[WIRE_TAG_JAVA_COMPILED] = HOTSPOT_FRAME_COMPILED,
		[WIRE_TAG_JAVA_INTERPRETED] = HOTSPOT_FRAME_INTERPRETED,
		[WIRE_TAG_JAVA_BLOB] = HOTSPOT_FRAME_BLOB,
		[WIRE_TAG_JAVA_CLASS] = HOTSPOT_FRAME_CLASS,
	};
	uint64_t tag = q->address >> WIRE_TAG_SHIFT;

	if (tag >= sizeof(kinds) / sizeof(*kinds) || !kinds[tag])
		return false;
	out->kind = kinds[tag];
	out->address = q->address & ((1ULL << WIRE_TAG_SHIFT) - 1);
	out->place = q->place;
	return true;
}

unsigned int worker_java_find(struct hotspot_frame out[HOTSPOT_FRAMES_MAX], struct java_process *p,
			      int fd, const struct message_lookup *q, uint32_t *flags)
{
	const struct hotspot_memory memory = {.read = read_java_memory, .context = &fd};
	struct hotspot_lookup lookup;
	struct error err;
	int count;

	*flags = 0;
	if (!p->names && fd >= 0)
		(void)read_tables(p, fd, &err);
	if (!p->names || !describe_lookup(&lookup, q))
		return 0;
	count = hotspot_names_find(p->names, fd >= 0 ? &memory : NULL, &lookup, out);
	hotspot_names_trim(p->names, NAMES_BYTES_MAX);
	if (count == -ESTALE || count == -EFAULT)
		*flags = PLACE_FREED;
	if (count <= 0)
		return 0;
	*flags = PLACE_KNOWN | (out[0].inferred ? PLACE_INFERRED : 0);
	return (unsigned int)count;
}

static void drop_tables(struct java_process *p)
{
	hotspot_tables_free(p->tables);
	p->tables = NULL;
}

size_t worker_java_bytes(const struct java_process *p)
{
	return (p->names ? hotspot_names_bytes(p->names) : 0) +
	       (p->tables ? hotspot_tables_bytes(p->tables) : 0);
}

void worker_java_trim(struct java_process *p, size_t limit)
{
	const size_t tables = p->tables ? hotspot_tables_bytes(p->tables) : 0;

	if (p->names)
		hotspot_names_trim(p->names, limit > tables ? limit - tables : 0);
	if (worker_java_bytes(p) > limit)
		drop_tables(p);
}

static uint16_t put_java_text(char **at, const char *text)
{
	size_t size = strlen(text);

	memcpy(*at, text, size);
	*at += size;
	return (uint16_t)size;
}

/* Write "package.Class.method" and a signature, which may be ""; of a class, only its name. */
static uint16_t put_java_name(char **at, const struct hotspot_frame *f, const char *signature)
{
	const char *begin = *at;

	put_java_text(at, f->class_name);
	if (*f->class_name && *f->method)
		put_java_text(at, ".");
	put_java_text(at, f->method);
	put_java_text(at, signature);
	return (uint16_t)(*at - begin);
}

size_t worker_java_write(char to[JAVA_PLACE_MAX], uint64_t address, const struct hotspot_frame *f,
			 uint32_t flags)
{
	char *at = to + sizeof(struct message_place);
	struct message_place m;

	memset(&m, 0, sizeof(m));
	m.address = address;
	m.flags = flags;
	if (f) {
		m.line = f->line;
		m.name = put_java_name(&at, f, "");
		m.system_name = *f->signature ? put_java_name(&at, f, f->signature) : 0;
		m.declared = put_java_text(&at, f->file);
	}
	memcpy(to, &m, sizeof(m));
	return (size_t)(at - to);
}
