// SPDX-License-Identifier: Apache-2.0
/* The worker: receive requests, send replies, and limit the memory of the objects' tables. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/helper.h"
#include "symbolizers/client.h"
#include "symbolizers/confine.h"
#include "symbolizers/demangle.h"
#include "symbolizers/elf.h"
#include "symbolizers/heartbeat.h"
#include "symbolizers/kernel.h"
#include "symbolizers/perfmap.h"
#include "symbolizers/protocol.h"
#include "symbolizers/worker.h"
#include "symbolizers/worker_java.h"
#include "symbolizers/worker_places.h"
#include "symbolizers/worker_probes.h"
#include "symbolizers/worker_python.h"
#include "symbolizers/worker_tables.h"

/*
 * Maximum bytes of symbol tables, unless the options have another number; above this, the least
 * recently used ones are dropped, and read again on request.
 */
#define TABLES_MAX (64u << 20)
/* What is kept of the memory of processes may take, of Python and Java each: a part of that. */
#define RUNTIME_PART 2
/*
 * elf_files.strings_most of a worker with a limit, which keeps names packed: a service. A recording
 * does not last, and saves the time that this takes.
 */
#define STRINGS_MOST (1u << 20)
/*
 * When one file alone has exceeded the memory of a worker of sources this many times, lookups do
 * not open the file again.
 */
#define OVERFLOWS_MAX 4

struct worker_object {
	uint64_t id;
	enum object_kind kind;
	struct elf_files files; /* only files.file is used for kinds other than OBJECT_ELF */
	/* the symbols were read into table, or that failed (bad); never set for a runtime */
	bool read;
	bool bad;
	struct object_facts facts; /* facts from the last time that the object was read */
	union {
		struct elf elf;
		struct kernel kernel;
		struct perfmap perfmap;
		struct code_process python;
		struct java_process java;
	} table;
	size_t bytes; /* bytes of the table */
	struct demangle_cost cost; /* cost of demangling the object's names */
	struct place_file places; /* used by a worker of sources */
	UT_hash_handle hh; /* worker.objects is in order of use, least recently used first */
};

/* Names of a process's code are read from its memory, for each request. */
static bool is_of_runtime(const struct worker_object *o)
{
	return o->kind == OBJECT_PYTHON || o->kind == OBJECT_JAVA;
}

struct worker {
	int socket;
	unsigned int files; /* number of open descriptors of objects and messages */
	struct worker_options options;
	size_t bytes; /* bytes of the tables of all objects, without codes and java_bytes */
	struct worker_object *objects;
	struct code_cache codes; /* of Python */
	size_t java_bytes; /* worker_java_bytes() of all JVMs */
	struct demangler *demangler;
	struct heartbeat heartbeat;
	struct demangle_cost unknown_cost; /* cost of demangling names without an object */
	size_t used; /* bytes in use in replies */
	uint32_t count; /* number of replies in replies */
	char replies[PAYLOAD_MAX];
	char payload[PAYLOAD_MAX];
};

static void worker_close_file(struct worker *w, int *fd)
{
	if (*fd < 0)
		return;
	close(*fd);
	w->files--;
	*fd = -1;
}

static void worker_close_files(struct worker *w, struct worker_object *o)
{
	worker_close_file(w, &o->files.file.fd);
	worker_close_file(w, &o->files.debug);
	worker_close_file(w, &o->files.common);
}

static void drop_table(struct worker *w, struct worker_object *o)
{
	switch (o->kind) {
	case OBJECT_ELF:
		elf_free(&o->table.elf);
		break;
	case OBJECT_KERNEL:
		kernel_free(&o->table.kernel);
		break;
	case OBJECT_PERFMAP:
		perfmap_free(&o->table.perfmap);
		break;
	case OBJECT_PYTHON:
		worker_python_end(&o->table.python, &w->codes);
		return;
	case OBJECT_JAVA:
		worker_java_end(&o->table.java);
		return;
	}
	memset(&o->table, 0, sizeof(o->table));
	w->bytes -= o->bytes;
	o->bytes = 0;
	o->read = false;
}

static void forget_object(struct worker *w, struct worker_object *o)
{
	HASH_DEL(w->objects, o);
	drop_table(w, o);
	worker_places_close(&o->places);
	worker_close_files(w, o);
	free(o);
}

static struct worker_object *worker_object_lookup(struct worker *w, uint64_t id)
{
	struct worker_object *o;

	HASH_FIND(hh, w->objects, &id, sizeof(id), o);
	return o;
}

/* Move an object to the end of the list, as the one most recently used. */
static void worker_object_touch(struct worker *w, struct worker_object *o)
{
	HASH_TO_END(hh, w->objects, o);
}

static uint64_t memory_limit(const struct worker *w)
{
	return w->options.memory ? w->options.memory : TABLES_MAX;
}

/*
 * While all tables together exceed their maximum, without the bytes that are about to be needed,
 * drop the least recently used table. The current object's table stays, and the kernel's, since its
 * added symbols are in no file. Code objects have a limit of their own, since they may not be
 * readable again.
 */
static void limit_symbol_tables(struct worker *w, const struct worker_object *current,
				uint64_t needed)
{
	const uint64_t limit = memory_limit(w), most = limit > needed ? limit - needed : 0;
	struct worker_object *o, *next;

	HASH_ITER (hh, w->objects, o, next) {
		if (w->bytes <= most)
			break;
		if (o != current && o->kind != OBJECT_KERNEL && !is_of_runtime(o))
			drop_table(w, o);
	}
}

/*
 * While tables and names of all JVMs exceed their maximum, drop those of the least recently used
 * JVM. Of one JVM, worker_java_find() drops the oldest names, too.
 */
static void limit_java_names(struct worker *w)
{
	const uint64_t most = memory_limit(w) / RUNTIME_PART;
	struct worker_object *o, *next;

	HASH_ITER (hh, w->objects, o, next) {
		struct java_process *p = &o->table.java;
		size_t rest;

		if (w->java_bytes <= most)
			break;
		if (o->kind != OBJECT_JAVA)
			continue;
		rest = w->java_bytes - worker_java_bytes(p);
		worker_java_trim(p, rest < most ? most - rest : 0);
		w->java_bytes = rest + worker_java_bytes(p);
	}
}

static void limit_memory(struct worker *w)
{
	limit_symbol_tables(w, NULL, 0);
	worker_python_limit(&w->codes, memory_limit(w) / RUNTIME_PART);
	limit_java_names(w);
}

static void account_symbol_table(struct worker *w, struct worker_object *o)
{
	w->bytes -= o->bytes;
	o->bytes = o->kind == OBJECT_ELF      ? elf_bytes(&o->table.elf)
		   : o->kind == OBJECT_KERNEL ? kernel_bytes(&o->table.kernel)
		   : is_of_runtime(o)	      ? 0
					      : perfmap_bytes(&o->table.perfmap);
	w->bytes += o->bytes;
}

/* Read the symbols of a file; a worker with a limit has room for that first. */
static int read_elf_object(struct worker *w, struct worker_object *o, struct object_facts *facts)
{
	drop_table(w, o);
	if (w->options.memory) {
		o->files.strings_most = STRINGS_MOST;
		limit_symbol_tables(w, o, elf_reading_bytes(&o->files));
	}
	return elf_read(&o->table.elf, &o->files, facts);
}

/*
 * Read the symbols of an object, for a perf map only those added since the last call, and set
 * o->facts and o->bad. A runtime has nothing to read before a lookup.
 */
static void read_object(struct worker *w, struct worker_object *o)
{
	struct object_facts facts = {0};
	int rc = -EBADF;

	if (o->files.file.fd >= 0) {
		switch (o->kind) {
		case OBJECT_ELF:
			rc = read_elf_object(w, o, &facts);
			break;
		case OBJECT_KERNEL:
			rc = kernel_read(&o->table.kernel, o->files.file.fd, &facts, &w->heartbeat);
			break;
		case OBJECT_PERFMAP:
			rc = perfmap_read(&o->table.perfmap, o->files.file.fd, &facts,
					  &w->heartbeat);
			break;
		case OBJECT_PYTHON:
		case OBJECT_JAVA: /* the memory of a process is read for each request */
			rc = 0;
			break;
		}
	}
	o->read = !is_of_runtime(o);
	o->bad = rc < 0;
	facts.bad = o->bad;
	o->facts = facts;
	if (o->bad && o->kind == OBJECT_ELF)
		elf_free(&o->table.elf);
	else if (w->options.memory && o->kind == OBJECT_KERNEL)
		(void)symtab_pack(&o->table.kernel.symbols);
	account_symbol_table(w, o);
	limit_symbol_tables(w, o, 0);
}

static bool find_function_of_object(struct worker_object *o, uint64_t address,
				    struct found_symbol *out)
{
	*out = (struct found_symbol){.name = ""};
	if (o->kind == OBJECT_ELF)
		return elf_find(&o->table.elf, address, out);
	if (o->kind == OBJECT_KERNEL)
		return kernel_find(&o->table.kernel, address, out);
	return perfmap_find(&o->table.perfmap, address, out);
}

static void worker_send_replies(struct worker *w, const struct message *request,
				enum message_type type)
{
	struct message m = *request;

	m.type = type;
	m.count = w->count;
	if (w->count && message_send(w->socket, &m, w->replies, w->used) < 0)
		_exit(1);
	w->used = 0;
	w->count = 0;
}

/*
 * Append a reply to w->replies, which must have room. The name is followed by the system name if
 * the name was demangled.
 */
static void worker_put_reply(struct worker *w, uint64_t address, const struct found_symbol *f)
{
	const char *demangled = demangler_get(w->demangler, f->name);
	struct message_reply a = {
		.address = address, .start = f->start, .size = f->size, .flags = f->flags};
	char *text = w->replies + w->used + sizeof(a);

	if (!demangled && demangler_refused(w->demangler))
		a.flags |= SYMBOL_MANGLED;
	a.name = (uint16_t)demangle_copy_cut(demangled ? demangled : f->name, text,
					     REPLY_NAME_MAX + 1);
	if (demangled)
		a.system_name =
			(uint16_t)demangle_copy_cut(f->name, text + a.name, REPLY_NAME_MAX + 1);
	memcpy(w->replies + w->used, &a, sizeof(a));
	w->used += sizeof(a) + a.name + a.system_name;
	w->count++;
}

static struct message_lookup lookup_at(const struct worker *w, uint32_t i)
{
	struct message_lookup q;

	memcpy(&q, w->payload + i * sizeof(q), sizeof(q));
	return q;
}

static void reply_with_code(struct worker *w, const struct message *m, struct worker_object *o)
{
	worker_object_touch(w, o);
	for (uint32_t i = 0; i < m->count; i++) {
		struct message_lookup q = lookup_at(w, i);

		if (sizeof(w->replies) - w->used < CODE_REPLY_MAX)
			worker_send_replies(w, m, MESSAGE_CODE_REPLIES);
		w->used += worker_python_reply(w->replies + w->used, &o->table.python, &w->codes,
					       o->files.file.fd, &q);
		w->count++;
		heartbeat_send(&w->heartbeat);
	}
	worker_send_replies(w, m, MESSAGE_CODE_REPLIES);
}

static void put_java_record(struct worker *w, const struct message *m, uint64_t address,
			    const struct hotspot_frame *f, uint32_t flags)
{
	if (sizeof(w->replies) - w->used < JAVA_PLACE_MAX)
		worker_send_replies(w, m, MESSAGE_PLACES);
	w->used += worker_java_write(w->replies + w->used, address, f, flags);
	w->count++;
}

static void reply_with_java(struct worker *w, const struct message *m, struct worker_object *o)
{
	struct hotspot_frame found[HOTSPOT_FRAMES_MAX];

	worker_object_touch(w, o);
	for (uint32_t i = 0; i < m->count; i++) {
		struct message_lookup q = lookup_at(w, i);
		uint32_t flags;
		unsigned int count =
			worker_java_find(found, &o->table.java, o->files.file.fd, &q, &flags);

		/* the outermost is the method whose code it is: it always has a name */
		for (unsigned int n = count > SOURCE_PLACES_MAX ? count - SOURCE_PLACES_MAX : 0;
		     n < count; n++)
			put_java_record(w, m, q.address, &found[n],
					flags | (n + 1 == count ? PLACE_LAST : 0));
		if (!count)
			put_java_record(w, m, q.address, NULL, flags | PLACE_LAST);
		heartbeat_send(&w->heartbeat);
	}
	worker_send_replies(w, m, MESSAGE_PLACES);
}

static void reply_with_jvm(struct worker *w, const struct message *m, struct worker_object *o)
{
	struct java_process *p = o && o->kind == OBJECT_JAVA ? &o->table.java : NULL;

	if (worker_reply_jvm(w->socket, m, p, p ? o->files.file.fd : -1) < 0)
		_exit(1);
}

static void reply_with_jvm_state(struct worker *w, const struct message *m, struct worker_object *o)
{
	struct java_process *p = o && o->kind == OBJECT_JAVA ? &o->table.java : NULL;
	int fd = p ? o->files.file.fd : -1;
	int ret = m->type == MESSAGE_JVM_PERF ? worker_reply_jvm_counters(w->socket, m, p, fd)
					      : worker_reply_jvm_threads(w->socket, m, p, fd);

	if (ret < 0)
		_exit(1);
}

static void reply_with_java_rows(struct worker *w, const struct message *m, struct worker_object *o)
{
	struct java_process *p = o && o->kind == OBJECT_JAVA ? &o->table.java : NULL;
	const struct message_lookup q = lookup_at(w, 0);

	if (worker_reply_java_rows(w->socket, m, p, p ? o->files.file.fd : -1, &q) < 0)
		_exit(1);
}

static void reply_with_probes(struct worker *w, const struct message *m,
			      const struct worker_object *o)
{
	const struct stamped_file none = {.fd = -1};
	const struct message_lookup q = lookup_at(w, 0);
	struct probe_wanted wanted = {.patterns = w->options.patterns,
				      .count = w->options.pattern_count};

	probe_query_unpack(&wanted, &q);
	if (worker_reply_probes(w->socket, m, &wanted,
				o && o->kind == OBJECT_ELF ? &o->files.file : &none) < 0)
		_exit(1);
}

static void reply_with_jvm_table(struct worker *w, const struct message *m, struct worker_object *o)
{
	if (worker_reply_jvm_table(w->socket, m, &o->table.java, o->files.file.fd) < 0)
		_exit(1);
}

static void reply_with_functions(struct worker *w, const struct message *m, struct worker_object *o)
{
	/* each text is written with a NUL, which the next text or reply overwrites */
	const size_t room = sizeof(struct message_reply) + 2 * (REPLY_NAME_MAX + 1);

	if (o)
		worker_object_touch(w, o);
	demangler_charge(w->demangler, o ? &o->cost : &w->unknown_cost);
	if (o && !o->read)
		read_object(w, o);
	for (uint32_t i = 0; i < m->count; i++) {
		struct found_symbol f = {.name = ""};
		uint64_t address = lookup_at(w, i).address;

		if (!o || (o->bad && o->kind == OBJECT_ELF))
			f.flags = SYMBOL_BAD_OBJECT;
		else if (!find_function_of_object(o, address, &f) && o->bad)
			f.flags |= SYMBOL_BAD_OBJECT;
		if (sizeof(w->replies) - w->used < room)
			worker_send_replies(w, m, MESSAGE_REPLIES);
		worker_put_reply(w, address, &f);
		heartbeat_send(&w->heartbeat);
	}
	if (o) /* a lookup may have taken memory: symtab_build() */
		account_symbol_table(w, o);
	worker_send_replies(w, m, MESSAGE_REPLIES);
}

static void send_source_facts(struct worker *w, const struct message *request,
			      const struct source_facts *f)
{
	if (message_reply(w->socket, request, MESSAGE_SOURCE_FACTS, f, sizeof(*f)) < 0)
		_exit(1);
}

/*
 * Count that one file alone took too much memory. At the OVERFLOWS_MAX-th time, report to the
 * client that places of the file can no longer be found.
 */
static void count_overflow(struct worker *w, const struct message *m, struct worker_object *o)
{
	if (++o->places.overflows < OVERFLOWS_MAX)
		return;
	o->places.facts.status = -ENOMEM;
	send_source_facts(w, m, &o->places.facts);
}

/*
 * While too much memory is in use, close the debugging information of the least recently used
 * object. The current object's is closed last, and counted.
 */
static void limit_place_memory(struct worker *w, const struct message *m,
			       struct worker_object *current)
{
	struct worker_object *o, *next;

	HASH_ITER (hh, w->objects, o, next) {
		if (!worker_places_full(w->options.memory))
			break;
		if (o == current && o->places.open)
			count_overflow(w, m, o);
		worker_places_close(&o->places);
	}
}

static void put_place(struct worker *w, const struct message *m, uint64_t address,
		      const struct dwarf_place *p, bool last)
{
	if (sizeof(w->replies) - w->used < PLACE_RECORD_MAX)
		worker_send_replies(w, m, MESSAGE_PLACES);
	w->used += worker_place_write(w->replies + w->used, address, p, last, w->demangler);
	w->count++;
}

static void reply_with_places(struct worker *w, const struct message *m, struct worker_object *o)
{
	struct dwarf_place found[SOURCE_PLACES_MAX];

	if (o)
		worker_object_touch(w, o);
	demangler_charge(w->demangler, o ? &o->cost : &w->unknown_cost);
	for (uint32_t i = 0; i < m->count; i++) {
		uint64_t address = lookup_at(w, i).address;
		unsigned int count = 0;

		if (o && !o->places.open && (!o->places.examined || !o->places.facts.status))
			worker_places_open(&o->places, &o->files, w->options.memory);
		if (o && o->places.open)
			count = dwarf_places_find(o->places.open, address, found);
		for (unsigned int n = 0; n < count; n++)
			put_place(w, m, address, &found[n], n + 1 == count);
		if (!count)
			put_place(w, m, address, NULL, true);
		heartbeat_send(&w->heartbeat);
		limit_place_memory(w, m, o);
	}
	worker_send_replies(w, m, MESSAGE_PLACES);
}

static void reply_with_source_facts(struct worker *w, const struct message *request,
				    struct worker_object *o)
{
	const struct source_facts none = {.status = -ENOENT};

	if (o) {
		worker_object_touch(w, o);
		worker_places_open(&o->places, &o->files, w->options.memory);
	}
	send_source_facts(w, request, o ? &o->places.facts : &none);
}

static void send_object_facts(struct worker *w, const struct message *request,
			      const struct worker_object *o)
{
	struct object_facts unknown = {.bad = true};

	if (message_reply(w->socket, request, MESSAGE_FACTS, o ? &o->facts : &unknown,
			  sizeof(unknown)) < 0)
		_exit(1);
}

/*
 * While there are options.files_max descriptors or more, close those of the least recently used
 * object but current: first of objects whose symbols were read (such an object becomes bad if its
 * table is dropped and needed again), then of the other objects.
 */
static void worker_limit_files(struct worker *w, const struct worker_object *current)
{
	struct worker_object *o, *next;

	for (int read = 1; read >= 0; read--) {
		HASH_ITER (hh, w->objects, o, next) {
			if (w->files < w->options.files_max)
				return;
			if (o == current || o->read != read)
				continue;
			worker_close_files(w, o);
		}
	}
}

static void replace_file(struct worker *w, int *old, int *fd)
{
	worker_close_file(w, old);
	*old = *fd;
	*fd = -1;
}

static void worker_add_object(struct worker *w, const struct message *m, size_t size, int *fd)
{
	struct worker_object *o = worker_object_lookup(w, m->object);

	if (o)
		forget_object(w, o);
	o = calloc(1, sizeof(*o));
	if (!o)
		_exit(1);
	o->id = m->object;
	o->kind = m->kind;
	o->files = (struct elf_files){{.fd = -1, .heartbeat = &w->heartbeat}, -1, -1, 0};
	if (o->kind == OBJECT_PYTHON ? worker_python_begin(&o->table.python, w->payload, size)
	    : o->kind == OBJECT_JAVA ? worker_java_begin(&o->table.java, w->payload, size)
				     : true)
		replace_file(w, &o->files.file.fd, fd);
	if (!is_of_runtime(o) && size == sizeof(o->files.file.stamp))
		memcpy(&o->files.file.stamp, w->payload, size);
	HASH_ADD(hh, w->objects, id, sizeof(o->id), o);
	if (!HASH_HAS(hh, o))
		_exit(1);
	worker_limit_files(w, o);
}

static void add_kernel_symbol(struct worker *w, struct worker_object *o, size_t size)
{
	struct message_symbol s;

	if (!o || o->kind != OBJECT_KERNEL || size < sizeof(s))
		return;
	memcpy(&s, w->payload, sizeof(s));
	(void)kernel_add(&o->table.kernel, s.address, s.size, w->payload + sizeof(s),
			 size - sizeof(s));
	account_symbol_table(w, o);
}

static void reply_about_file(struct worker *w, const struct message *m,
			     const struct worker_object *o)
{
	const struct stamped_file none = {.fd = -1};
	const struct stamped_file *file = o && o->kind == OBJECT_ELF ? &o->files.file : &none;
	int rc;

	if (m->type == MESSAGE_INSPECT)
		rc = worker_reply_inspect(w->socket, m, file);
	else if (m->type == MESSAGE_PAGES)
		rc = worker_reply_pages(w->socket, m, (const void *)w->payload, file);
	else
		rc = worker_reply_table(w->socket, m, file);
	if (rc < 0)
		_exit(1);
}

/* Process one message about an object, which may be NULL. */
static void handle_object_message(struct worker *w, struct worker_object *o,
				  const struct message *m, size_t size, int *fd)
{
	w->heartbeat.object = m->object;
	w->heartbeat.sequence = m->sequence;
	switch (m->type) {
	case MESSAGE_OBJECT:
		worker_add_object(w, m, size, fd);
		return;
	case MESSAGE_DEBUG:
		if (o) {
			replace_file(w, &o->files.debug, fd);
			o->read = false;
		}
		return;
	case MESSAGE_SYMBOL:
		add_kernel_symbol(w, o, size);
		return;
	case MESSAGE_FORGET:
		if (o)
			forget_object(w, o);
		return;
	case MESSAGE_REFRESH:
		if (o && *fd >= 0)
			replace_file(w, &o->files.file.fd, fd);
		/* fall through */
	case MESSAGE_READ:
		if (o)
			read_object(w, o);
		send_object_facts(w, m, o);
		return;
	case MESSAGE_COMMON:
		if (o)
			replace_file(w, &o->files.common, fd);
		return;
	case MESSAGE_JVM:
		reply_with_jvm(w, m, o);
		return;
	case MESSAGE_JVM_PERF:
	case MESSAGE_JVM_THREADS:
		reply_with_jvm_state(w, m, o);
		return;
	case MESSAGE_JAVA_CODE:
		reply_with_java_rows(w, m, o);
		return;
	case MESSAGE_PROBES:
		reply_with_probes(w, m, o);
		return;
	case MESSAGE_SOURCES:
		reply_with_source_facts(w, m, o);
		return;
	case MESSAGE_LOOKUP:
		if (w->options.kind == WORKER_SOURCES)
			reply_with_places(w, m, o);
		else if (o && o->kind == OBJECT_PYTHON)
			reply_with_code(w, m, o);
		else if (o && o->kind == OBJECT_JAVA)
			reply_with_java(w, m, o);
		else
			reply_with_functions(w, m, o);
		return;
	case MESSAGE_TABLE:
		if (o && o->kind == OBJECT_JAVA) {
			reply_with_jvm_table(w, m, o);
			return;
		}
		/* fall through */
	case MESSAGE_KEY:
	case MESSAGE_INSPECT:
	case MESSAGE_PAGES:
		reply_about_file(w, m, o);
		return;
	}
}

/*
 * AddressSanitizer has an allocator of its own; glibc's would only begin here, with calls that a
 * confined process may not make.
 */
static void return_free_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
	malloc_trim(0);
#endif
}

/* Return the bytes of an object that count for w->java_bytes; o may be NULL. */
static size_t java_bytes_of(const struct worker_object *o)
{
	return o && o->kind == OBJECT_JAVA ? worker_java_bytes(&o->table.java) : 0;
}

/* Process one message. A handler that keeps *fd sets it to -1. */
static void worker_handle_message(struct worker *w, const struct message *m, size_t size, int *fd)
{
	struct worker_object *o;

	if (m->type == MESSAGE_LIMIT) {
		w->options.memory = m->object;
		limit_memory(w);
		return_free_memory();
		return;
	}
	o = worker_object_lookup(w, m->object);
	w->java_bytes -= java_bytes_of(o);
	handle_object_message(w, o, m, size, fd);
	w->java_bytes += java_bytes_of(worker_object_lookup(w, m->object));
	limit_java_names(w);
}

/*
 * Bytes of address space of a worker of sources beyond its memory for files: for its stack,
 * messages and names, and for libdw and the allocator, which take memory in large blocks. Without
 * this, a worker with a small --inline-memory would be killed before it could report how much is
 * enough.
 */
#define SOURCES_OWN (16ULL << 20)

static int confine_worker(int socket, int parent, const struct worker_options *o)
{
	static const char *const names[] = {[WORKER_NAMES] = "skein-names",
					    [WORKER_MEMORY] = "skein-memory",
					    [WORKER_PAGES] = "skein-pages",
					    [WORKER_SOURCES] = "skein-lines"};
	const bool sources = o->kind == WORKER_SOURCES;
	const struct confine_limits c = {
		.name = names[o->kind],
		.files = o->files_max + WORKER_FILES_SPARE,
		.memory = sources ? o->memory + SOURCES_OWN : CONFINED_MEMORY,
		.refuse_links = sources,
	};

	return confine_within(socket, parent, &c);
}

void worker_main(int socket, int parent, const struct worker_options *options)
{
	struct worker *w = calloc(1, sizeof(*w));
	struct message m;
	int size, fd;

	helper_reset_signals();
	if (!w)
		_exit(1);
	/* The demangler's timer can only be made before the process is confined. */
	w->demangler = demangler_new();
	if (!w->demangler)
		_exit(1);
	if (confine_worker(socket, parent, options) < 0)
		_exit(HELPER_EXIT_UNCONFINED);
	w->options = *options;
	w->socket = 0;
	w->heartbeat.socket = 0;
	TAILQ_INIT(&w->codes.used);
	limit_memory(w);
	while ((size = message_receive(w->socket, &m, w->payload, &fd, 0)) >= 0) {
		if (fd >= 0)
			w->files++;
		worker_handle_message(w, &m, (size_t)size, &fd);
		worker_close_file(w, &fd);
	}
	_exit(0);
}
