// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the interpreters that run, with the helper processes of a recording: the opener lists
 * mappings and opens files, and the worker inspects the files.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/runtimes.h"
#include "base/vector.h"
#include "capture/checkup.h"
#include "capture/clock.h"
#include "capture/opener.h"
#include "symbolizers/client.h"
#include "symbolizers/python_file.h"

#define RUNTIMES_TIMEOUT (5 * NSEC_PER_SEC)
#define RUNTIME_FILES_MAX 64 /* maximum number of distinct files that are inspected */

struct runtime_file {
	struct file_id id;
	char *path;
	enum runtime_kind kind;
	uint64_t processes;
	uint32_t last_pid; /* the last process seen that maps the file */
	bool inspected;
	struct python_file facts;
};

struct runtime_search {
	struct opener *opener;
	struct symbolizer *symbolizer;
	VECTOR(struct runtime_file) files;
	bool scanned;
	/* number of files requested from the opener; of these, inspected or failed ones */
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

static void on_runtime_mapping(void *context, const struct scanned_mapping *m)
{
	enum runtime_kind kind = runtime_of_file(m->path);
	struct runtime_search *s = context;
	struct runtime_file *known = find_runtime_file(s, &m->id), new;

	if (known && known->last_pid != m->pid) {
		known->processes++;
		known->last_pid = m->pid;
	}
	if (kind == RUNTIME_COUNT || known || s->files.count == RUNTIME_FILES_MAX)
		return;
	new = (struct runtime_file){.id = m->id,
				    .path = strdup(m->path),
				    .kind = kind,
				    .processes = 1,
				    .last_pid = m->pid};
	if (!new.path || vector_push(&s->files, new) < 0) {
		free(new.path);
		s->error = -ENOMEM;
		return;
	}
	if (opener_open(s->opener, &(struct open_request){.token = s->files.count,
							  .what = OPEN_MAPPED_FILE,
							  .pid = m->pid,
							  .start = m->start,
							  .end = m->end,
							  .id = m->id,
							  .path = m->path}) == 0)
		s->requested++;
}

static void on_runtime_opened(void *context, const struct open_reply *a)
{
	struct runtime_search *s = context;

	if (a->fd < 0 || symbolizer_add(s->symbolizer, a->token, OBJECT_ELF, a->fd) ||
	    symbolizer_inspect(s->symbolizer, a->token))
		s->replied++; /* the worker has nothing to inspect */
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

static int search_runtimes(struct runtime_search *s, struct error *err)
{
	uint64_t end = clock_boot_ns() + RUNTIMES_TIMEOUT;
	int ret = opener_scan(s->opener, 0);

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

/* Report a file, unless the worker found that it contains no Python interpreter. */
static void report_runtime(const struct runtime_file *f,
			   void (*each)(void *context, const struct runtime_found *r),
			   void *context)
{
	const struct python_file *p = &f->facts;
	struct runtime_found found = {.path = f->path, .processes = f->processes};
	char name[64];

	snprintf(name, sizeof(name), "%s", runtime_table[f->kind].name);
	found.name = name;
	if (f->kind != RUNTIME_PYTHON) {
		found.support = runtime_table[f->kind].unread;
	} else if (!f->inspected) {
		found.support = "its file could not be opened";
	} else if (p->support == PYTHON_NONE) {
		return;
	} else {
		snprintf(name, sizeof(name), "Python %u.%u.%u", p->major, p->minor, p->micro);
		found.support = python_support_text(p->support);
		found.tested = p->support == PYTHON_READABLE;
		found.readable = found.tested;
	}
	each(context, &found);
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
	const struct symbolizer_events replies = {.python = on_runtime_inspected, .context = &s};
	int ret = opener_new(&s.opener, &opened, err);

	if (!ret)
		ret = symbolizer_new(&s.symbolizer, &replies, err);
	if (!ret)
		ret = search_runtimes(&s, err);
	symbolizer_free(s.symbolizer);
	opener_free(s.opener);
	for (size_t i = 0; i < s.files.count; i++) {
		if (!ret)
			report_runtime(&s.files.items[i], each, context);
		free(s.files.items[i].path);
	}
	vector_free(&s.files);
	return ret;
}
