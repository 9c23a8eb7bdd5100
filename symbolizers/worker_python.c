// SPDX-License-Identifier: Apache-2.0
/*
 * Read a code object when it is first requested, and keep it under its address and id: before the
 * next request the process may end, or reuse the address for another code object.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "bpf/unwind/python_layout.h"
#include "symbolizers/client.h"
#include "symbolizers/python_file.h"
#include "symbolizers/worker_python.h"

struct code_key {
	uint64_t address, id;
};

/*
 * Processes that fork share code objects at the same addresses, and an interpreter at the same
 * address. Since addresses are randomized, unrelated processes hardly ever have both in common.
 */
struct shared_code_key {
	uint64_t code_type, address, id;
};

struct cached_code {
	struct code_key key;
	struct shared_code_key shared_key;
	struct code_process *process;
	struct python_code code;
	size_t bytes; /* code_bytes_of() this object */
	UT_hash_handle hh, shared;
	TAILQ_ENTRY(cached_code) use;
};

bool worker_python_begin(struct code_process *p, const void *payload, size_t size)
{
	struct python_interpreter python;

	*p = (struct code_process){0};
	if (size != sizeof(python))
		return false;
	memcpy(&python, payload, size);
	if (!python_layout_check(&python.layout))
		return false;
	p->python = python;
	return true;
}

static void forget_code(struct code_cache *all, struct cached_code *c)
{
	HASH_DEL(c->process->codes, c);
	if (HASH_HAS(shared, c))
		HASH_DELETE(shared, all->shared, c);
	TAILQ_REMOVE(&all->used, c, use);
	all->bytes -= c->bytes;
	python_code_free(&c->code);
	free(c);
}

void worker_python_end(struct code_process *p, struct code_cache *all)
{
	struct cached_code *c, *next;

	HASH_ITER (hh, p->codes, c, next)
		forget_code(all, c);
}

static bool read_process_memory(void *context, void *to, size_t size, uint64_t address)
{
	const int *fd = context;
	char *p = to;
	ssize_t got;

	/* If one page cannot be read, pread() ends before that page, and the next pread() fails. */
	for (; size; size -= (size_t)got, p += got, address += (uint64_t)got) {
		got = pread(*fd, p, size, (off_t)address);
		if (got <= 0)
			return false;
	}
	return true;
}

/* Return the approximate bytes that a cached code object takes on the heap. */
static size_t code_bytes_of(const struct cached_code *c)
{
	return sizeof(*c) + strlen(c->code.name) + strlen(c->code.file) + c->code.lines_size + 64;
}

static struct cached_code *find_shared_code(const struct code_process *p,
					    const struct code_cache *all,
					    const struct code_key *key)
{
	const struct shared_code_key k = {p->python.code_type, key->address, key->id};
	struct cached_code *c;

	HASH_FIND(shared, all->shared, &k, sizeof(k), c);
	return c;
}

static void share_code(struct code_process *p, struct code_cache *all, struct cached_code *c)
{
	c->shared_key = (struct shared_code_key){p->python.code_type, c->key.address, c->key.id};
	if (!find_shared_code(p, all, &c->key))
		HASH_ADD(shared, all->shared, shared_key, sizeof(c->shared_key), c);
}

/*
 * Read and keep a code object. Return NULL on failure; then *freed is whether the address no longer
 * has this code object, or cannot be read.
 */
static struct cached_code *read_code_object(struct code_process *p, struct code_cache *all, int fd,
					    const struct code_key *key, bool *freed)
{
	const struct python_memory memory = {.read = read_process_memory, .context = &fd};
	struct cached_code *c = calloc(1, sizeof(*c));
	int rc = -ENOMEM;

	if (c)
		rc = python_code_read(&c->code, &memory, &p->python, key->address,
				      (uint32_t)key->id);
	*freed = rc == -ESTALE || rc == -EFAULT;
	if (!rc) {
		c->key = *key;
		HASH_ADD(hh, p->codes, key, sizeof(c->key), c);
		if (!HASH_HAS(hh, c)) {
			python_code_free(&c->code);
			rc = -ENOMEM;
		}
	}
	if (rc < 0) {
		free(c);
		return NULL;
	}
	c->process = p;
	c->bytes = code_bytes_of(c);
	TAILQ_INSERT_TAIL(&all->used, c, use);
	all->bytes += c->bytes;
	share_code(p, all, c);
	return c;
}

static struct cached_code *find_code_object(struct code_process *p, struct code_cache *all, int fd,
					    const struct code_key *key, bool *freed)
{
	struct cached_code *c;

	HASH_FIND(hh, p->codes, key, sizeof(*key), c);
	/*
	 * Fall back to a related process's code object: a process that has executed another program
	 * since its fork no longer has the memory with its code objects.
	 */
	if (!c)
		c = find_shared_code(p, all, key);
	if (!c)
		return fd >= 0 ? read_code_object(p, all, fd, key, freed) : NULL;
	TAILQ_REMOVE(&all->used, c, use);
	TAILQ_INSERT_TAIL(&all->used, c, use);
	return c;
}

static void limit_code_cache(struct code_cache *all, const struct cached_code *current)
{
	struct cached_code *c;

	while (all->bytes > all->most && (c = TAILQ_FIRST(&all->used)) && c != current)
		forget_code(all, c);
}

void worker_python_limit(struct code_cache *all, size_t most)
{
	all->most = most;
	limit_code_cache(all, NULL);
}

static size_t put_code_text(char *to, const char *text)
{
	size_t size = strlen(text);

	memcpy(to, text, size);
	return size;
}

size_t worker_python_reply(char to[CODE_REPLY_MAX], struct code_process *p, struct code_cache *all,
			   int fd, const struct message_lookup *q)
{
	const struct code_key key = {q->address, PYTHON_PLACE_ID(q->place)};
	bool freed = false;
	struct cached_code *c = find_code_object(p, all, fd, &key, &freed);
	struct message_code_reply a = {.lookup = *q};
	char *texts = to + sizeof(a);

	if (c) {
		a.flags = SYMBOL_FOUND;
		a.first_line = c->code.first_line <= INT32_MAX ? c->code.first_line : 0;
		a.line = python_code_line(&c->code, &p->python.layout, PYTHON_PLACE_UNIT(q->place));
		a.name = (uint16_t)put_code_text(texts, c->code.name);
		a.file = (uint16_t)put_code_text(texts + a.name, c->code.file);
		limit_code_cache(all, c);
	} else if (fd < 0) {
		a.flags = SYMBOL_BAD_OBJECT;
	} else if (freed) {
		a.flags = SYMBOL_FREED;
	}
	memcpy(to, &a, sizeof(a));
	return sizeof(a) + a.name + a.file;
}

int worker_reply_inspect(int socket, const struct message *request, const struct stamped_file *file)
{
	struct inspected_file f;
	int rc = -EBADF;

	/* clear padding as well, since the struct is sent as it is */
	memset(&f, 0, sizeof(f));
	if (file->fd >= 0)
		rc = python_file_read(&f.python, file->fd, file->heartbeat);
	/* on failure, f.hotspot stays zeroed: no libjvm */
	if (file->fd >= 0 && f.python.support == PYTHON_NONE)
		(void)hotspot_file_read(&f.hotspot.objects, &f.hotspot.code_delta, file->fd,
					file->heartbeat);
	if (!rc)
		rc = stamp_check(file->fd, &file->stamp);
	if (rc < 0)
		memset(&f, 0, sizeof(f));
	return message_reply(socket, request, MESSAGE_INSPECTED, &f, sizeof(f));
}
