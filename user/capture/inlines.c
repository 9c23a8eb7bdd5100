// SPDX-License-Identifier: Apache-2.0
/*
 * Get lines and inlined functions from debugging information. The file of an object goes through
 * stages: the worker inspects the file itself; if the file has no debugging information, the debug
 * files that the opener finds, one by one; then the common part that dwz moved out of the file or
 * its debug file. Requested addresses wait until the last stage.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/inlines.h"

/* Maximum number of pending addresses. */
#define PENDING_MAX (1u << 16)
/*
 * When there are more files than this, files whose objects have been forgotten are forgotten too.
 */
#define FILES_MAX 1024
/* The directory of dwz's files, within the path given by the debugging information. */
#define COMMON_FOLDER "/.dwz/"

enum stage { STAGE_LOOKING, STAGE_OPENING, STAGE_READY, STAGE_NONE };

/* The search for another file than the object itself: a debug file, or dwz's common file. */
struct search {
	bool begun;
	unsigned int count, next;
	/* descriptors of candidates; the search owns those from fds[next] on */
	int fds[OPENER_DEBUG_MAX];
};

struct file {
	uint64_t id; /* object number */
	enum stage stage;
	struct source_facts facts;
	struct search debug, common;
	VECTOR(uint64_t) waiting; /* addresses to be requested */
	UT_hash_handle hh;
};

struct inlines {
	struct inlines_context context;
	struct objects *objects;
	struct symbolizer *symbolizer;
	struct file *files;
	uint64_t waiting; /* number of waiting addresses in all files */
	struct inlines_summary summary;
	int error; /* first error of the opener or the symbolizer in a callback */
};

static void answer_none(struct inlines *in, struct file *f)
{
	for (size_t i = 0; i < f->waiting.count; i++)
		in->context.placed(in->context.context, f->id, f->waiting.items[i], NULL, 0);
	in->waiting -= f->waiting.count;
	vector_free(&f->waiting);
}

static void note_refusal(struct inlines *in, const struct file *f)
{
	const struct object *o = objects_by_id(in->objects, f->id);
	struct inlines_refusal *r = &in->summary.refusals[in->summary.refused];
	const char *path = o ? o->path : "";
	size_t size = strlen(path);

	if (in->summary.refused++ >= INLINES_REFUSALS_MAX)
		return;
	if (size >= sizeof(r->path))
		path += size - sizeof(r->path) + 1;
	snprintf(r->path, sizeof(r->path), "%s", path);
	r->status = f->facts.status;
	r->needed = f->facts.needed;
}

/* Reply to all waiting addresses of a file that nothing is known, because no reply is possible. */
static void give_up(struct inlines *in, struct file *f)
{
	f->stage = STAGE_NONE;
	if (f->facts.status == -ENOENT)
		in->summary.bare++;
	else
		note_refusal(in, f);
	in->summary.split += f->facts.split;
	answer_none(in, f);
}

static int ask(struct inlines *in, struct file *f, uint64_t address)
{
	int rc = symbolizer_lookup(in->symbolizer, f->id, address);

	in->summary.asked += !rc;
	return rc;
}

static void begin_answers(struct inlines *in, struct file *f)
{
	f->stage = STAGE_READY;
	in->summary.files++;
	in->summary.split += f->facts.split;
	for (size_t i = 0; i < f->waiting.count; i++)
		if (ask(in, f, f->waiting.items[i]) < 0)
			in->context.placed(in->context.context, f->id, f->waiting.items[i], NULL,
					   0);
	in->waiting -= f->waiting.count;
	vector_free(&f->waiting);
}

static void open_beside(struct inlines *in, struct file *f, enum open_what what)
{
	const struct object *o = objects_by_id(in->objects, f->id);
	bool common = what == OPEN_COMMON;
	const char *folder = strstr(f->facts.common, COMMON_FOLDER);
	struct open_request r = {
		.token = INLINES_TOKEN | f->id << 1 | common,
		.what = what,
		.build_id = common ? f->facts.common_id : f->facts.build_id,
		.debuglink = !common ? f->facts.debuglink
			     : folder ? folder + strlen(COMMON_FOLDER) : "",
	};

	(common ? &f->common : &f->debug)->begun = true;
	f->stage = STAGE_OPENING;
	if (o) {
		r.pid = o->pid;
		r.born = o->born;
		r.path = o->path;
		r.id = (struct file_id){o->key.major, o->key.minor, o->key.inode, o->generation};
	}
	if (!o || opener_open(in->context.opener, &r) < 0)
		f->stage = STAGE_LOOKING;
}

/* Pass the next candidate of a search to the worker. Returns false if there is none. */
static bool try_next(struct inlines *in, struct file *f, struct search *s)
{
	bool common = s == &f->common;

	while (s->next < s->count) {
		int fd = s->fds[s->next++];
		int rc = common ? symbolizer_add_common(in->symbolizer, f->id, fd)
				: symbolizer_add_debug(in->symbolizer, f->id, fd);

		if (!rc) {
			f->stage = STAGE_LOOKING;
			return true;
		}
	}
	return false;
}

static void end_search(struct search *s)
{
	while (s->next < s->count)
		close(s->fds[s->next++]);
}

/* Choose the next step after the worker has inspected a file, or the opener has found files. */
static void go_on(struct inlines *in, struct file *f)
{
	if (f->facts.wants_debug) {
		if (!f->debug.begun)
			open_beside(in, f, OPEN_DEBUG);
		if (f->stage == STAGE_OPENING || try_next(in, f, &f->debug))
			return;
	}
	if (!f->facts.status && f->facts.wants_common) {
		if (!f->common.begun)
			open_beside(in, f, OPEN_COMMON);
		if (f->stage == STAGE_OPENING || try_next(in, f, &f->common))
			return;
	}
	end_search(&f->debug);
	end_search(&f->common);
	if (f->facts.status)
		give_up(in, f);
	else
		begin_answers(in, f);
}

static struct file *find(const struct inlines *in, uint64_t id)
{
	struct file *f = NULL;

	HASH_FIND(hh, in->files, &id, sizeof(id), f);
	return f;
}

void inlines_opened(struct inlines *in, const struct open_answer *a)
{
	struct file *f = find(in, (a->token & ~INLINES_TOKEN) >> 1);
	struct search *s = !f ? NULL : a->token & 1 ? &f->common : &f->debug;

	if (a->fd >= 0 && (!f || f->stage != STAGE_OPENING || s->count == OPENER_DEBUG_MAX))
		close(a->fd);
	else if (a->fd >= 0)
		s->fds[s->count++] = a->fd;
	if (!f || f->stage != STAGE_OPENING || a->more)
		return;
	f->stage = STAGE_LOOKING;
	go_on(in, f);
}

static void on_sources(void *context, uint64_t object, const struct source_facts *facts)
{
	struct inlines *in = context;
	struct file *f = find(in, object);

	if (!f || (f->stage != STAGE_LOOKING && f->stage != STAGE_READY))
		return;
	f->facts = *facts;
	if (f->stage == STAGE_LOOKING)
		go_on(in, f);
	else if (facts->status)
		give_up(in, f);
}

static void on_places(void *context, uint64_t object, uint64_t address,
		      const struct source_place *p, unsigned int count)
{
	struct inlines *in = context;

	in->summary.found += count > 0;
	in->context.placed(in->context.context, object, address, p, count);
}

int inlines_new(struct inlines **ret, uint64_t memory, struct error *err)
{
	struct inlines *in = calloc(1, sizeof(*in));
	const struct symbolizer_events events = {
		.sources = on_sources,
		.places = on_places,
		.context = in,
	};
	int rc;

	if (!in)
		return error_errno(err, -ENOMEM, "inlined functions");
	rc = symbolizer_new_sources(&in->symbolizer, &events, memory, err);
	if (rc < 0)
		inlines_free(in);
	else
		*ret = in;
	return rc;
}

static void file_free(struct inlines *in, struct file *f)
{
	HASH_DEL(in->files, f);
	end_search(&f->debug);
	end_search(&f->common);
	vector_free(&f->waiting);
	free(f);
}

void inlines_free(struct inlines *in)
{
	struct file *f, *next;

	if (!in)
		return;
	symbolizer_free(in->symbolizer);
	HASH_ITER (hh, in->files, f, next)
		file_free(in, f);
	free(in);
}

void inlines_begin(struct inlines *in, const struct inlines_context *c, struct objects *objects)
{
	in->context = *c;
	in->objects = objects;
}

static void trim(struct inlines *in)
{
	struct file *f, *next;

	HASH_ITER (hh, in->files, f, next) {
		if (f->stage < STAGE_READY || objects_by_id(in->objects, f->id))
			continue;
		symbolizer_forget(in->symbolizer, f->id);
		file_free(in, f);
	}
}

/* Add a file. The first request for it makes the worker inspect the file. */
static int file_new(struct inlines *in, uint64_t id, struct file **ret)
{
	struct file *f = calloc(1, sizeof(*f));
	int fd, rc;

	if (HASH_COUNT(in->files) > FILES_MAX)
		trim(in);
	if (!f)
		return -ENOMEM;
	f->id = id;
	HASH_ADD(hh, in->files, id, sizeof(id), f);
	if (!HASH_HAS(hh, f)) {
		free(f);
		return -ENOMEM;
	}
	fd = symbolizer_dup(in->context.names, id);
	rc = fd < 0 ? fd : symbolizer_add(in->symbolizer, id, OBJECT_ELF, fd);
	if (!rc)
		rc = symbolizer_request_sources(in->symbolizer, id);
	if (rc < 0) {
		f->facts.status = rc;
		give_up(in, f);
	}
	*ret = f;
	return 0;
}

int inlines_ask(struct inlines *in, uint64_t object, uint64_t address)
{
	struct file *f = find(in, object);
	int rc = inlines_pending(in) >= PENDING_MAX ? -ENOBUFS : 0;

	if (!rc && !f)
		rc = file_new(in, object, &f);
	if (!rc && f->stage == STAGE_READY) {
		rc = ask(in, f, address);
	} else if (!rc && f->stage == STAGE_NONE) {
		in->context.placed(in->context.context, object, address, NULL, 0);
	} else if (!rc) {
		rc = vector_push(&f->waiting, address);
		in->waiting += !rc;
	}
	in->summary.unasked += rc < 0;
	return rc;
}

void inlines_refuse(struct inlines *in)
{
	in->summary.unasked++;
}

int inlines_fd(const struct inlines *in)
{
	return symbolizer_fd(in->symbolizer);
}

int inlines_poll(struct inlines *in, uint64_t now, struct error *err)
{
	int rc = symbolizer_flush(in->symbolizer);

	return rc ? error_errno(err, rc, "inlined functions")
		  : symbolizer_poll(in->symbolizer, now, err);
}

uint64_t inlines_pending(const struct inlines *in)
{
	return in->waiting + symbolizer_pending(in->symbolizer);
}

void inlines_add_cost(struct inlines *in, struct helper_cost *ret)
{
	symbolizer_add_cost(in->symbolizer, ret);
}

void inlines_summary(const struct inlines *in, struct inlines_summary *ret)
{
	*ret = in->summary;
	ret->unasked += inlines_pending(in);
	ret->restarts = symbolizer_stats(in->symbolizer)->restarts;
	ret->mangled = symbolizer_stats(in->symbolizer)->mangled;
}
