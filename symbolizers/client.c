// SPDX-License-Identifier: Apache-2.0
/*
 * The client: objects and requests. Lookups are gathered until symbolizer_flush(). Requests wait in
 * a queue per user (struct fair), are sent a few at a time, and are complete when their reply has
 * arrived. The worker replies in order, so it is working on the first sent request. If the worker
 * dies, its sent requests return to the queues of their users. An object is sent to a worker before
 * the first request about the object, so a restart need not send all objects again.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "symbolizers/client_private.h"

/* Maximum number of pending addresses; each takes 16 bytes. */
#define PENDING_MAX (4u << 20)
#define FILES_MAX 4096
/* For a symbolizer of sources: divisor of files_limit(), and increase of the nice value. */
#define SOURCES_FILES 4
#define SOURCES_NICE 5
#define KERNEL_SYMBOLS_MAX (1u << 16)
/* Most requests for the rows of code of one JVM that are pending; each takes up to some ms. */
#define JAVA_CODE_MAX 16

struct client_object *client_object_lookup(const struct symbolizer *s, uint64_t id)
{
	struct client_object *o;

	HASH_FIND(hh, s->objects, &id, sizeof(id), o);
	return o && !o->forgotten ? o : NULL;
}

void request_free(struct request *r)
{
	if (!r)
		return;
	r->object->requests.count--;
	if (r->object->lookups.queued == r)
		r->object->lookups.queued = NULL;
	vector_free(&r->lookups);
	vector_free(&r->places.bytes);
	free(r->table);
	free(r);
}

struct request *request_new(struct client_object *o, enum message_type type)
{
	struct request *r = calloc(1, sizeof(*r));

	if (r) {
		r->object = o;
		r->type = type;
		o->requests.count++;
	}
	return r;
}

int request_submit(struct symbolizer *s, struct client_object *o, enum message_type type)
{
	struct request *r = request_new(o, type);

	if (!r)
		return -ENOMEM;
	o->lookups.queued = NULL; /* later lookups must not overtake this request */
	request_schedule(s, r);
	helper_wake(&s->worker);
	return 0;
}

/*
 * While requests are delayed, later ones are delayed as well, so that the order stays: a FORGET
 * must be the last request about its object.
 */
void request_schedule(struct symbolizer *s, struct request *r)
{
	if (s->delayed.first ||
	    fair_put(&s->waiting, r->object->owner, request_rank(r), &r->item, sizeof(*r)) < 0)
		request_enqueue(&s->delayed, r);
}

static void close_fd(struct symbolizer *s, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	*fd = -1;
	s->files--;
}

/* Close a descriptor that the symbolizer owns also on failure. Return reason, an errno. */
static int refuse_fd(int fd, int reason)
{
	if (fd >= 0)
		close(fd);
	return reason;
}

static bool may_close_object(const struct client_object *o, bool read)
{
	if (o->file.fd < 0)
		return false;
	/* a worker needs /proc/PID/mem for every request about a runtime */
	return read ? o->read && (!object_is_of_runtime(o) || o->bad) : !o->requests.count;
}

static void close_object_files(struct symbolizer *s, struct client_object *o)
{
	close_fd(s, &o->file.fd);
	close_fd(s, &o->debug.fd);
	close_fd(s, &o->common.fd);
}

/*
 * Close the files of the least recently used objects while too many files are open: first those of
 * objects whose symbols were read, then those of objects without pending requests. The files of
 * current stay open.
 */
static void limit_open_files(struct symbolizer *s, const struct client_object *current)
{
	struct client_object *o, *next;

	for (int read = 1; read >= 0; read--) {
		HASH_ITER (hh, s->objects, o, next) {
			if (s->files <= s->options.files_max)
				return;
			if (o == current || !may_close_object(o, read))
				continue;
			close_object_files(s, o);
		}
	}
}

void client_object_free(struct symbolizer *s, struct client_object *o)
{
	HASH_DEL(s->objects, o);
	close_object_files(s, o);
	for (size_t i = 0; i < o->symbols.count; i++)
		free(o->symbols.items[i].name);
	vector_free(&o->symbols);
	free(o->runtime.data);
	free(o);
}

static unsigned int files_limit(void)
{
	struct rlimit l;

	if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur == RLIM_INFINITY ||
	    l.rlim_cur / 2 > FILES_MAX)
		return FILES_MAX;
	return (unsigned int)(l.rlim_cur / 2);
}

/* Run the worker in the forked child, which has a copy of the options. */
static __attribute__((noreturn)) void run_worker(void *context, int socket, pid_t parent)
{
	worker_main(socket, parent, context);
}

static int new_symbolizer(struct symbolizer **out, const struct symbolizer_events *events,
			  const struct worker_options *options, struct error *err)
{
	struct symbolizer *s = calloc(1, sizeof(*s));
	struct helper_kind kind = {
		.name = "the symbolizer's worker",
		.run = run_worker,
		.context_size = sizeof(s->options),
		.forks = events->forks,
		.niceness = options->kind == WORKER_SOURCES ? SOURCES_NICE : 0,
	};
	int ret;

	if (!s)
		return error_errno(err, -ENOMEM, "cannot start the symbolizer");
	s->events = *events;
	s->options = *options;
	s->options.files_max =
		options->kind == WORKER_SOURCES ? files_limit() / SOURCES_FILES : files_limit();
	kind.context = &s->options;
	ret = helper_open(&s->worker, &kind, err);
	if (ret < 0)
		symbolizer_free(s);
	else
		*out = s;
	return ret;
}

int symbolizer_new(struct symbolizer **out, const struct symbolizer_events *events,
		   struct error *err)
{
	/* a caller that requests pages has a symbolizer for them alone */
	const struct worker_options options = {
		.kind = events->pages ? WORKER_PAGES : WORKER_NAMES,
		.memory = events->memory,
		.patterns = events->patterns,
		.pattern_count = events->pattern_count,
	};

	return new_symbolizer(out, events, &options, err);
}

int symbolizer_new_sources(struct symbolizer **out, const struct symbolizer_events *events,
			   uint64_t memory, struct error *err)
{
	const struct worker_options options = {.kind = WORKER_SOURCES, .memory = memory};

	return new_symbolizer(out, events, &options, err);
}

static void free_requests(struct queue *q)
{
	struct request *r;

	while ((r = request_dequeue(q)))
		request_free(r);
}

void symbolizer_free(struct symbolizer *s)
{
	struct symbolizer *other;
	struct client_object *o, *next;
	struct request *r;

	if (!s)
		return;
	FOR_EACH_OTHER (s, other)
		symbolizer_free(other);
	helper_close(&s->worker);
	free_requests(&s->sent);
	free_requests(&s->gathering);
	free_requests(&s->delayed);
	while ((r = (struct request *)fair_drain(&s->waiting)))
		request_free(r);
	HASH_ITER (hh, s->objects, o, next)
		client_object_free(s, o);
	if (!s->is_other)
		table_cache_close(s->cache);
	free(s);
}

int symbolizer_fd(const struct symbolizer *s)
{
	return s->worker.poll;
}

/*
 * Add an object, as symbolizer_add(). The object owns runtime.data from now on, and it is freed on
 * failure.
 */
static int add_object(struct symbolizer *s, uint64_t id, enum object_kind kind, int fd,
		      struct runtime_data runtime)
{
	struct client_object *o = NULL;
	int ret = fd < 0 ? -EBADF : -EEXIST;

	HASH_FIND(hh, s->objects, &id, sizeof(id), o);
	if (ret == -EBADF || o)
		goto out;
	ret = -ENOMEM;
	o = calloc(1, sizeof(*o));
	if (!o)
		goto out;
	*o = (struct client_object){.id = id,
				    .kind = kind,
				    .file.fd = fd,
				    .debug.fd = -1,
				    .common.fd = -1,
				    .runtime = runtime};
	ret = stamp_of(fd, &o->stamp);
	if (ret < 0) {
		free(o);
		goto out;
	}
	HASH_ADD(hh, s->objects, id, sizeof(o->id), o);
	if (!HASH_HAS(hh, o)) {
		free(o);
		ret = -ENOMEM;
		goto out;
	}
	s->files++;
	limit_open_files(s, o);
	return 0;
out:
	free(runtime.data);
	return refuse_fd(fd, ret);
}

int symbolizer_add(struct symbolizer *s, uint64_t object, enum object_kind kind, int fd)
{
	if (kind != OBJECT_PYTHON && kind != OBJECT_JAVA)
		return add_object(s, object, kind, fd, (struct runtime_data){0});
	/* these need more: symbolizer_add_python(), symbolizer_add_java() */
	return refuse_fd(fd, -EINVAL);
}

/* Set *out to one of s->others, which is started if that is necessary. Return 0 on success. */
static int other_symbolizer(struct symbolizer **out, struct symbolizer *s,
			    enum other_symbolizer which)
{
	struct worker_options options = s->options;
	struct epoll_event event = {.events = EPOLLIN};
	struct symbolizer *other = s->others[which];
	int ret;

	*out = other;
	if (other)
		return 0;
	if (which == OTHER_MEMORY)
		options.kind = WORKER_MEMORY;
	ret = new_symbolizer(&other, &s->events, &options, NULL);
	if (ret < 0)
		return ret;
	helper_follow_priority(&other->worker, &s->worker);
	other->is_other = true;
	other->cache = s->cache;
	if (epoll_ctl(s->worker.poll, EPOLL_CTL_ADD, other->worker.poll, &event) < 0) {
		ret = -errno;
		symbolizer_free(other);
		return ret;
	}
	*out = s->others[which] = other;
	return 0;
}

/* Add the memory of a process, as add_object(). runtime.data may be NULL: there was no memory. */
static int add_memory(struct symbolizer *s, uint64_t id, enum object_kind kind, int fd,
		      struct runtime_data runtime)
{
	struct symbolizer *of;
	int ret = runtime.data ? other_symbolizer(&of, s, OTHER_MEMORY) : -ENOMEM;

	if (!ret)
		return add_object(of, id, kind, fd, runtime);
	free(runtime.data);
	return refuse_fd(fd, ret);
}

int symbolizer_add_python(struct symbolizer *s, uint64_t object, int fd,
			  const struct python_layout *layout, uint64_t code_type)
{
	struct python_interpreter *python = calloc(1, sizeof(*python));

	if (python) {
		python->layout = *layout;
		python->code_type = code_type;
	}
	return add_memory(s, object, OBJECT_PYTHON, fd,
			  (struct runtime_data){python, sizeof(*python)});
}

int symbolizer_add_java(struct symbolizer *s, uint64_t object, int fd,
			const struct hotspot_objects *objects)
{
	struct hotspot_objects *java = malloc(sizeof(*java));

	if (java)
		*java = *objects;
	return add_memory(s, object, OBJECT_JAVA, fd, (struct runtime_data){java, sizeof(*java)});
}

static bool is_request_about(const struct queue_item *item, const void *object)
{
	return ((const struct request *)item)->object == object;
}

int symbolizer_add_suspicious(struct symbolizer *s, uint64_t object, enum object_kind kind, int fd)
{
	struct symbolizer *of;
	int ret = other_symbolizer(&of, s, OTHER_SUSPICIOUS);

	return ret ? refuse_fd(fd, ret) : symbolizer_add(of, object, kind, fd);
}

void symbolizer_set_owner(struct symbolizer *s, uint64_t object, uint32_t uid)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);
	struct queue theirs;
	struct fair_owner *w;

	if (!o || o->owner == uid)
		return;
	w = o->requests.count ? fair_owner_of(&s->waiting, o->owner) : NULL;
	o->owner = uid;
	if (!w)
		return;
	theirs = fair_pick(&s->waiting, w, is_request_about, o);
	for (struct request *r; (r = request_dequeue(&theirs));)
		request_schedule(s, r);
}

int symbolizer_dup(const struct symbolizer *s, uint64_t object)
{
	const struct client_object *o = client_object_lookup(s, object);
	int fd;

	if (!o || o->file.fd < 0)
		return o ? -EBADF : -ENOENT;
	fd = fcntl(o->file.fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -errno;
	if ((uint64_t)fd < limits_first_spare())
		return fd;
	close(fd);
	return -EMFILE;
}

bool symbolizer_is_unchanged(const struct symbolizer *s, uint64_t object)
{
	const struct client_object *o = client_object_lookup(s, object);

	return o && o->file.fd >= 0 && stamp_check(o->file.fd, &o->stamp) == 0;
}

int symbolizer_read(struct symbolizer *s, uint64_t object)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);

	if (!o)
		return -ENOENT;
	client_object_touch(s, o);
	return request_submit(s, o, MESSAGE_READ);
}

/*
 * Add a debug or common file to an object, and request that the object is read again. o may be
 * NULL: -ENOENT. to: the member of o for that file.
 */
static int add_object_file(struct symbolizer *s, struct client_object *o, int fd,
			   struct client_file *to)
{
	int ret = -ENOENT;

	if (o && o->kind == OBJECT_ELF && fd >= 0 && o->file.fd >= 0)
		ret = request_submit(
			s, o, s->options.kind == WORKER_SOURCES ? MESSAGE_SOURCES : MESSAGE_READ);
	if (ret < 0)
		return refuse_fd(fd, ret);
	close_fd(s, &to->fd);
	*to = (struct client_file){.fd = fd};
	s->files++;
	limit_open_files(s, o);
	return 0;
}

int symbolizer_add_debug(struct symbolizer *s, uint64_t object, int fd)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);

	return add_object_file(s, o, fd, o ? &o->debug : NULL);
}

int symbolizer_add_common(struct symbolizer *s, uint64_t object, int fd)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);

	return add_object_file(s, o, fd, o ? &o->common : NULL);
}

int symbolizer_request_sources(struct symbolizer *s, uint64_t object)
{
	struct client_object *o = client_object_lookup(s, object);

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	client_object_touch(s, o);
	return request_submit(s, o, MESSAGE_SOURCES);
}

int symbolizer_inspect(struct symbolizer *s, uint64_t object)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);
	int ret;

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	if (o->requests.inspection)
		return 0;
	client_object_touch(s, o);
	ret = request_submit(s, o, MESSAGE_INSPECT);
	o->requests.inspection = !ret;
	s->inspections += !ret;
	return ret;
}

bool symbolizer_inspecting(const struct symbolizer *s)
{
	return s->inspections > 0;
}

static int request_of_jvm(struct symbolizer *s, uint64_t object, enum message_type type)
{
	struct client_object *o;
	bool *pending;
	int ret;

	s = symbolizer_of_object(s, object);
	o = client_object_lookup(s, object);
	if (!o || o->kind != OBJECT_JAVA)
		return -ENOENT;
	pending = object_pending_flag(o, type);
	if (*pending)
		return 0;
	client_object_touch(s, o);
	ret = request_submit(s, o, type);
	*pending = !ret;
	return ret;
}

int symbolizer_request_jvm(struct symbolizer *s, uint64_t object)
{
	return request_of_jvm(s, object, MESSAGE_JVM);
}

int symbolizer_request_jvm_counters(struct symbolizer *s, uint64_t object)
{
	return request_of_jvm(s, object, MESSAGE_JVM_PERF);
}

int symbolizer_request_jvm_threads(struct symbolizer *s, uint64_t object)
{
	return request_of_jvm(s, object, MESSAGE_JVM_THREADS);
}

uint64_t symbolizer_jvm_pending(const struct symbolizer *s)
{
	const struct symbolizer *memory = s->others[OTHER_MEMORY];
	uint64_t count = 0;

	for (const struct client_object *o = memory ? memory->objects : NULL; o; o = o->hh.next)
		count += (uint64_t)o->requests.counters + o->requests.threads;
	return count;
}

int symbolizer_request_java_code(struct symbolizer *s, uint64_t object, uint64_t blob,
				 uint64_t place)
{
	const struct message_lookup q = {.address = blob, .place = place};
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);
	struct request *r;

	if (!o || o->kind != OBJECT_JAVA)
		return -ENOENT;
	if (o->requests.code >= JAVA_CODE_MAX)
		return -ENOBUFS;
	r = request_new(o, MESSAGE_JAVA_CODE);
	if (!r || vector_push(&r->lookups, q) < 0) {
		request_free(r);
		return -ENOMEM;
	}
	o->requests.code++;
	request_schedule(s, r);
	helper_wake(&s->worker);
	return 0;
}

int symbolizer_request_probes(struct symbolizer *s, uint64_t object, const struct probe_wanted *w)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);
	struct request *r;

	if (!o || o->kind != OBJECT_ELF)
		return -ENOENT;
	client_object_touch(s, o);
	r = request_new(o, MESSAGE_PROBES);
	if (!r || vector_push(&r->lookups, probe_query_packed(w)) < 0) {
		request_free(r);
		return -ENOMEM;
	}
	request_schedule(s, r);
	helper_wake(&s->worker);
	return 0;
}

int symbolizer_refresh(struct symbolizer *s, uint64_t object, int fd)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);
	int ret = -ENOENT;

	if (o && o->kind != OBJECT_ELF && (fd >= 0 || o->file.fd >= 0))
		ret = request_submit(s, o, MESSAGE_REFRESH);
	if (ret < 0)
		return refuse_fd(fd, ret);
	if (fd >= 0) {
		close_fd(s, &o->file.fd);
		o->file.fd = fd;
		o->strikes = 0;
		o->bad = o->struck = false;
		s->files++;
		limit_open_files(s, o);
	}
	return 0;
}

int symbolizer_add_kernel_symbol(struct symbolizer *s, uint64_t object, uint64_t address,
				 uint64_t size, const char *name)
{
	struct client_object *o = client_object_lookup(s, object);
	struct kernel_symbol symbol = {.address = address, .size = size};
	int rc = 0;

	if (!o || o->kind != OBJECT_KERNEL)
		return -ENOENT;
	if (o->symbols.count >= KERNEL_SYMBOLS_MAX)
		return -E2BIG;
	symbol.name = strndup(name, REPLY_NAME_MAX);
	if (symbol.name)
		rc = vector_push(&o->symbols, symbol);
	if (!symbol.name || rc < 0) {
		free(symbol.name);
		return -ENOMEM;
	}
	return 0;
}

void symbolizer_forget(struct symbolizer *s, uint64_t object)
{
	struct client_object *o = client_object_lookup(s = symbolizer_of_object(s, object), object);

	if (!o)
		return;
	(void)symbolizer_flush(s);
	o->forgotten = true;
	/* If there is no memory for the request, the object is kept until symbolizer_free(). */
	(void)request_submit(s, o, MESSAGE_FORGET);
}

void client_object_touch(struct symbolizer *s, struct client_object *o)
{
	HASH_TO_END(hh, s->objects, o);
}

/* Add a lookup, as symbolizer_lookup(). o may be NULL: -ENOENT. */
static int gather_lookup(struct symbolizer *s, struct client_object *o,
			 const struct message_lookup *q)
{
	if (!o)
		return -ENOENT;
	if (s->pending >= PENDING_MAX)
		return -ENOBUFS;
	if (!o->lookups.gathering) {
		o->lookups.gathering = request_new(o, MESSAGE_LOOKUP);
		if (!o->lookups.gathering)
			return -ENOMEM;
		request_enqueue(&s->gathering, o->lookups.gathering);
		client_object_touch(s, o);
	}
	if (vector_push(&o->lookups.gathering->lookups, *q) < 0)
		return -ENOMEM;
	s->pending++;
	s->gathered++;
	s->stats.requested++;
	return o->lookups.gathering->lookups.count < LOOKUPS_MAX ? 0 : symbolizer_flush(s);
}

int symbolizer_lookup(struct symbolizer *s, uint64_t object, uint64_t address)
{
	const struct message_lookup q = {.address = address};

	s = symbolizer_of_object(s, object);
	return gather_lookup(s, client_object_lookup(s, object), &q);
}

static int lookup_of_runtime(struct symbolizer *s, uint64_t object, enum object_kind kind,
			     const struct message_lookup *q)
{
	struct client_object *o;

	s = symbolizer_of_object(s, object);
	o = client_object_lookup(s, object);
	return gather_lookup(s, o && o->kind == kind ? o : NULL, q);
}

int symbolizer_lookup_python(struct symbolizer *s, uint64_t object, uint64_t address,
			     uint64_t place)
{
	const struct message_lookup q = {.address = address, .place = place};

	return lookup_of_runtime(s, object, OBJECT_PYTHON, &q);
}

int symbolizer_lookup_java(struct symbolizer *s, uint64_t object, uint64_t address, uint64_t place)
{
	const struct message_lookup q = {.address = address, .place = place};

	return lookup_of_runtime(s, object, OBJECT_JAVA, &q);
}

/*
 * Move the lookups of r into a request for the same object that still waits for its turn, and free
 * r. This saves work: a worker whose memory does not hold the symbols of two large files may have
 * to read a file again for each request. Without lookups, r is only freed: there was no memory for
 * its first lookup. Return false, with both requests unchanged, if there is no such request (to is
 * NULL), no room in it or no memory.
 */
static bool merge_lookups(struct request *to, struct request *r)
{
	if (r->lookups.count && (!to || to->lookups.count + r->lookups.count > LOOKUPS_MAX))
		return false;
	for (size_t i = 0; i < r->lookups.count; i++) {
		if (vector_push(&to->lookups, r->lookups.items[i]) < 0) {
			to->lookups.count -= i;
			return false;
		}
	}
	request_free(r);
	return true;
}

static void queue_lookups(struct symbolizer *s, struct request *r)
{
	struct client_object *o = r->object;

	o->lookups.gathering = NULL;
	if (merge_lookups(o->lookups.queued, r))
		return;
	o->lookups.queued = r;
	request_schedule(s, r);
}

int symbolizer_flush(struct symbolizer *s)
{
	struct symbolizer *other;
	struct request *r;

	FOR_EACH_OTHER (s, other)
		(void)symbolizer_flush(other);
	if (!s->gathering.first)
		return 0;
	while ((r = request_dequeue(&s->gathering)))
		queue_lookups(s, r);
	s->gathered = 0;
	helper_wake(&s->worker);
	return 0;
}

int symbolizer_flush_transient(struct symbolizer *s)
{
	struct symbolizer *other;
	struct queue all = s->gathering;
	struct request *r;
	bool sent = false;

	FOR_EACH_OTHER (s, other)
		(void)symbolizer_flush_transient(other);
	s->gathering = (struct queue){0};
	while ((r = request_dequeue(&all))) {
		if (!object_is_of_runtime(r->object) && r->object->kind != OBJECT_PERFMAP) {
			request_enqueue(&s->gathering, r);
			continue;
		}
		s->gathered -= r->lookups.count;
		queue_lookups(s, r);
		sent = true;
	}
	if (sent)
		helper_wake(&s->worker);
	return 0;
}

uint64_t symbolizer_gathered(const struct symbolizer *s)
{
	struct symbolizer *other;
	uint64_t all = s->gathered;

	FOR_EACH_OTHER (s, other)
		all += other->gathered;
	return all;
}

uint64_t symbolizer_pending(const struct symbolizer *s)
{
	struct symbolizer *other;
	uint64_t all = s->pending;

	FOR_EACH_OTHER (s, other)
		all += other->pending;
	return all;
}

void symbolizer_add_cost(struct symbolizer *s, struct helper_cost *out)
{
	struct symbolizer *other;

	helper_add_cost(&s->worker, out);
	FOR_EACH_OTHER (s, other)
		helper_add_cost(&other->worker, out);
}

int symbolizer_worker_pid(const struct symbolizer *s)
{
	return s->worker.pid;
}
