// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the interpreters that run, with the helper processes of a recording: the opener lists
 * mappings and opens files, and the worker inspects the files, and the memory of JVMs.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/runtimes.h"
#include "base/vector.h"
#include "capture/checkup.h"
#include "capture/clock.h"
#include "capture/jvms.h"
#include "capture/opener.h"
#include "symbolizers/client.h"
#include "symbolizers/hotspot_tables.h"
#include "symbolizers/python_file.h"

#define RUNTIMES_TIMEOUT (5 * NSEC_PER_SEC)
#define RUNTIME_FILES_MAX 64 /* maximum number of distinct files that are inspected */
/* maximum number of processes whose perf maps or JVMs are looked for */
#define RUNTIME_PROCESSES_MAX 512
/* Tokens of a request for a process, whose index is in the lower bits; others are of files. */
#define TOKEN_PERF_MAP (1ULL << 16)
#define TOKEN_MEMORY (2ULL << 16)
#define TOKEN_INDEX(token) ((token) & (TOKEN_PERF_MAP - 1))

struct runtime_file {
	struct file_id id;
	char *path;
	enum runtime_kind kind;
	uint64_t processes;
	uint32_t last_pid; /* the last process seen that maps the file */
	bool inspected, is_jvm;
	struct python_file facts;
	struct hotspot_file hotspot; /* if it is a libjvm */
};

/* A process of a runtime other than Python. */
struct runtime_process {
	size_t file; /* index in runtime_search.files */
	uint32_t pid;
	uint64_t start, offset; /* of the mapping of the file */
	bool read; /* the frames of its JVM are read */
	bool perf_map; /* it has written one */
	char jvm[256]; /* jvms_describe(); "": not known */
};

struct runtime_search {
	struct opener *opener;
	struct symbolizer *symbolizer;
	VECTOR(struct runtime_file) files;
	VECTOR(struct runtime_process) processes;
	bool scanned;
	/* number of requests to the opener; of these, those whose result is known */
	size_t requested, replied;
	int error;
};

static struct runtime_file *find_runtime_file(struct runtime_search *s, const struct file_id *id)
{
	for (size_t i = 0; i < s->files.count; i++) {
		const struct file_id *known = &s->files.items[i].id;

		if (known->inode == id->inode && known->major == id->major &&
		    known->minor == id->minor)
			return &s->files.items[i];
	}
	return NULL;
}

static void request_of_runtime(struct runtime_search *s, const struct open_request *r)
{
	if (opener_open(s->opener, r) == 0)
		s->requested++;
}

/* Keep a process of a runtime other than Python. */
static void add_runtime_process(struct runtime_search *s, const struct runtime_file *f,
				const struct scanned_mapping *m)
{
	const struct runtime_process new = {.file = (size_t)(f - s->files.items),
					    .pid = m->pid,
					    .start = m->start,
					    .offset = m->offset};

	if (f->kind == RUNTIME_PYTHON || s->processes.count == RUNTIME_PROCESSES_MAX)
		return;
	if (vector_push(&s->processes, new) < 0)
		s->error = -ENOMEM;
}

/* Keep a file, and have it opened if it is to be inspected. */
static struct runtime_file *add_runtime_file(struct runtime_search *s, enum runtime_kind kind,
					     const struct scanned_mapping *m)
{
	const struct runtime_file new = {.id = m->id, .path = strdup(m->path), .kind = kind};

	if (!new.path || vector_push(&s->files, new) < 0) {
		free(new.path);
		s->error = -ENOMEM;
		return NULL;
	}
	if (kind == RUNTIME_PYTHON || kind == RUNTIME_JAVA)
		request_of_runtime(s, &(struct open_request){.token = s->files.count,
							     .what = OPEN_MAPPED_FILE,
							     .pid = m->pid,
							     .start = m->start,
							     .end = m->end,
							     .id = m->id,
							     .path = m->path});
	return &s->files.items[s->files.count - 1];
}

static void on_runtime_mapping(void *context, const struct scanned_mapping *m)
{
	enum runtime_kind kind = runtime_of_file(m->path);
	struct runtime_search *s = context;
	struct runtime_file *f = find_runtime_file(s, &m->id);

	if (!f && kind != RUNTIME_COUNT && s->files.count < RUNTIME_FILES_MAX)
		f = add_runtime_file(s, kind, m);
	if (!f || f->last_pid == m->pid)
		return;
	f->processes++;
	f->last_pid = m->pid;
	add_runtime_process(s, f, m);
}

static void on_perf_map_opened(struct runtime_search *s, const struct open_reply *a)
{
	s->replied++;
	if (a->fd < 0)
		return;
	close(a->fd);
	s->processes.items[TOKEN_INDEX(a->token)].perf_map = true;
}

static void on_jvm_memory_opened(struct runtime_search *s, const struct open_reply *a)
{
	const struct runtime_process *p = &s->processes.items[TOKEN_INDEX(a->token)];
	struct hotspot_file f = s->files.items[p->file].hotspot;

	jvms_locate(&f, p->start, p->offset);
	if (a->fd < 0 || symbolizer_add_java(s->symbolizer, a->token, a->fd, &f.objects) ||
	    symbolizer_request_jvm(s->symbolizer, a->token))
		s->replied++;
}

static void on_runtime_opened(void *context, const struct open_reply *a)
{
	struct runtime_search *s = context;

	if (a->token & TOKEN_PERF_MAP)
		on_perf_map_opened(s, a);
	else if (a->token & TOKEN_MEMORY)
		on_jvm_memory_opened(s, a);
	else if (a->fd < 0 || symbolizer_add(s->symbolizer, a->token, OBJECT_ELF, a->fd) ||
		 symbolizer_inspect(s->symbolizer, a->token))
		s->replied++; /* the worker has nothing to inspect */
}

static void on_libjvm_inspected(void *context, uint64_t object, const struct hotspot_file *file)
{
	struct runtime_search *s = context;
	struct runtime_file *f = &s->files.items[object - 1];

	f->hotspot = *file;
	f->is_jvm = true;
}

static void on_jvm_read(void *context, uint64_t object, int status, const struct jvm_facts *facts,
			const char *reason)
{
	struct runtime_search *s = context;
	struct runtime_process *p = &s->processes.items[TOKEN_INDEX(object)];

	p->read = !status;
	jvms_describe(p->jvm, sizeof(p->jvm), status, facts, reason);
	s->replied++;
}

static void on_runtime_inspected(void *context, uint64_t object, const struct python_file *facts)
{
	struct runtime_search *s = context;
	struct runtime_file *f = &s->files.items[object - 1];

	f->facts = *facts;
	f->inspected = true;
	s->replied++;
}

static void on_runtimes_scanned(void *context, uint32_t pid)
{
	((struct runtime_search *)context)->scanned |= pid == 0;
}

static void ignore_process(void *context, const struct scanned_process *p)
{
	(void)context, (void)p;
}

static void ignore_thread(void *context, const struct scanned_thread *t)
{
	(void)context, (void)t;
}

/* Wait until all results are known, or until a time. Return 0 or a negative errno. */
static int await_runtimes(struct runtime_search *s, uint64_t end, struct error *err)
{
	int ret = 0;

	while (!ret && !(s->scanned && s->replied == s->requested) && clock_boot_ns() < end) {
		struct pollfd p[] = {{.fd = opener_fd(s->opener), .events = POLLIN},
				     {.fd = symbolizer_fd(s->symbolizer), .events = POLLIN}};

		(void)poll(p, 2, 100);
		ret = opener_poll(s->opener, clock_boot_ns(), err);
		if (!ret)
			ret = symbolizer_poll(s->symbolizer, clock_boot_ns(), err);
	}
	return ret ? ret : s->error;
}

/* The memory of a JVM can be read when the symbols of its libjvm are known. */
static void request_jvms(struct runtime_search *s)
{
	for (size_t i = 0; i < s->processes.count; i++) {
		const struct runtime_process *p = &s->processes.items[i];

		if (s->files.items[p->file].is_jvm)
			request_of_runtime(s, &(struct open_request){.token = TOKEN_MEMORY | i,
								     .what = OPEN_MEMORY,
								     .pid = p->pid});
	}
}

static void request_perf_map(struct runtime_search *s, size_t i)
{
	request_of_runtime(s, &(struct open_request){.token = TOKEN_PERF_MAP | i,
						     .what = OPEN_PERF_MAP,
						     .pid = s->processes.items[i].pid});
}

/* Look for perf maps, which may name what the frames of a runtime do not. */
static void request_perf_maps(struct runtime_search *s)
{
	for (size_t i = 0; i < s->processes.count; i++)
		if (!s->processes.items[i].read)
			request_perf_map(s, i);
}

static int search_runtimes(struct runtime_search *s, struct error *err)
{
	uint64_t end = clock_boot_ns() + RUNTIMES_TIMEOUT;
	int ret = opener_scan(s->opener, 0);

	if (!ret)
		ret = await_runtimes(s, end, err);
	if (!ret)
		request_jvms(s);
	if (!ret)
		ret = await_runtimes(s, end, err);
	if (!ret)
		request_perf_maps(s);
	return ret ? ret : await_runtimes(s, end, err);
}

struct runtime_receiver {
	void (*each)(void *context, const struct runtime_found *r);
	void *context;
};

/* Report a Python interpreter, unless the worker found that the file contains none. */
static void report_python(const struct runtime_file *f, const struct runtime_receiver *to)
{
	const struct python_file *p = &f->facts;
	struct runtime_found found = {.path = f->path, .processes = f->processes};
	char name[64] = "Python";

	found.name = name;
	if (!f->inspected) {
		found.support = "its file could not be opened";
	} else if (p->support == PYTHON_NONE) {
		return;
	} else {
		snprintf(name, sizeof(name), "Python %u.%u.%u", p->major, p->minor, p->micro);
		found.support = python_support_text(p->support);
		found.tested = p->support == PYTHON_READABLE;
		found.readable = found.tested;
	}
	to->each(to->context, &found);
}

static bool is_reported_alike(const struct runtime_process *a, const struct runtime_process *b)
{
	return a->file == b->file && a->read == b->read && a->perf_map == b->perf_map &&
	       !strcmp(a->jvm, b->jvm);
}

/* Report the processes that are like process i, unless one before it was. */
static void report_processes(const struct runtime_search *s, size_t i,
			     const struct runtime_receiver *to)
{
	const struct runtime_process *p = &s->processes.items[i];
	const struct runtime_file *f = &s->files.items[p->file];
	const struct runtime *of = &runtime_table[f->kind];
	char text[512];
	struct runtime_found found = {.name = of->name,
				      .path = f->path,
				      .support = text,
				      .readable = p->read || p->perf_map,
				      .tested = p->read || p->perf_map};

	for (size_t k = 0; k < s->processes.count; k++) {
		if (!is_reported_alike(p, &s->processes.items[k]))
			continue;
		if (k < i)
			return;
		found.processes++;
	}
	if (p->read)
		snprintf(text, sizeof(text), "%s", p->jvm);
	else
		snprintf(text, sizeof(text), "%s%s%s", p->jvm, *p->jvm ? "; " : "",
			 p->perf_map ? "names from its perf map" : of->unread);
	to->each(to->context, &found);
}

static void report_runtimes(const struct runtime_search *s, const struct runtime_receiver *to)
{
	for (size_t i = 0; i < s->files.count; i++)
		if (s->files.items[i].kind == RUNTIME_PYTHON)
			report_python(&s->files.items[i], to);
	for (size_t i = 0; i < s->processes.count; i++)
		report_processes(s, i, to);
}

int checkup_runtimes(void (*each)(void *context, const struct runtime_found *r), void *context,
		     struct error *err)
{
	struct runtime_search s = {0};
	const struct opener_events opened = {.opened = on_runtime_opened,
					     .process = ignore_process,
					     .thread = ignore_thread,
					     .mapping = on_runtime_mapping,
					     .scanned = on_runtimes_scanned,
					     .context = &s};
	const struct symbolizer_events replies = {.python = on_runtime_inspected,
						  .hotspot = on_libjvm_inspected,
						  .jvm = on_jvm_read,
						  .context = &s};
	int ret = opener_new(&s.opener, &opened, err);

	if (!ret)
		ret = symbolizer_new(&s.symbolizer, &replies, err);
	if (!ret)
		ret = search_runtimes(&s, err);
	symbolizer_free(s.symbolizer);
	opener_free(s.opener);
	if (!ret)
		report_runtimes(&s, &(struct runtime_receiver){each, context});
	for (size_t i = 0; i < s.files.count; i++)
		free(s.files.items[i].path);
	vector_free(&s.files);
	vector_free(&s.processes);
	return ret;
}
