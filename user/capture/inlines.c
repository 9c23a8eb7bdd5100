// SPDX-License-Identifier: Apache-2.0
/*
 * Gets lines and inlined functions from debugging information. The worker first inspects the file
 * of an object itself. If that has no debugging information, the worker inspects the debug files
 * that the opener finds, one by one. Last comes the common part that dwz moved out of the file or
 * its debug file. Requested addresses wait until then.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/inlines.h"

/* Maximum number of pending addresses. */
#define PENDING_PLACES_MAX (1u << 16)
/*
 * When there are more files than this, files whose objects have been forgotten are forgotten too.
 */
#define INLINED_FILES_MAX 1024
/* The directory of dwz's files, within the path given by the debugging information. */
#define COMMON_FOLDER "/.dwz/"

/*
 * Stages of a file. LOOKING: the worker inspects the file or another one. OPENING: the opener
 * searches for debug files or the common part. READY: places can be requested. NONE: no places can
 * be found.
 */
enum stage { STAGE_LOOKING, STAGE_OPENING, STAGE_READY, STAGE_NONE };

/* The search for another file than the object itself: a debug file, or dwz's common file. */
struct debug_file_search {
	bool begun;
	unsigned int count, next;
	/* descriptors of candidates; the search owns those from fds[next] on */
	int fds[OPENER_DEBUG_MAX];
};

struct inlined_file {
	uint64_t id; /* id of the object */
	enum stage stage;
	struct source_facts facts;
	struct debug_file_search debug, common;
	VECTOR(uint64_t) waiting; /* addresses to be requested once the stage is STAGE_READY */
	UT_hash_handle hh;
};

struct inlines {
	struct inlines_context context;
	struct objects *objects;
	struct symbolizer *symbolizer;
	struct inlined_file *files;
	uint64_t waiting; /* number of waiting addresses in all files */
	struct inlines_summary summary;
	int error; /* first error of the opener or the symbolizer in a callback */
};

static void reply_with_nothing(struct inlines *in, struct inlined_file *f)
{
	for (size_t i = 0; i < f->waiting.count; i++)
		in->context.placed(in->context.context, f->id, f->waiting.items[i], NULL, 0);
	in->waiting -= f->waiting.count;
	vector_free(&f->waiting);
}

static void note_inlines_refusal(struct inlines *in, const struct inlined_file *f)
{
	const struct object *o = objects_by_id(in->objects, f->id);
	uint64_t number = in->summary.refused++;
	struct inlines_refusal *r;
	const char *path = o ? o->path : "";
	size_t size = strlen(path);

	if (number >= INLINES_REFUSALS_MAX)
		return;
	r = &in->summary.refusals[number];
	if (size >= sizeof(r->path))
		path += size - sizeof(r->path) + 1;
	snprintf(r->path, sizeof(r->path), "%s", path);
	r->status = f->facts.status;
	r->needed = f->facts.needed;
}

/* Set the stage of a file to STAGE_NONE, and reply to its waiting addresses with no places. */
static void give_up_inlined_file(struct inlines *in, struct inlined_file *f)
{
	f->stage = STAGE_NONE;
	if (f->facts.status == -ENOENT)
		in->summary.bare++;
	else
		note_inlines_refusal(in, f);
	in->summary.split += f->facts.split;
	reply_with_nothing(in, f);
}

static int request_place(struct inlines *in, struct inlined_file *f, uint64_t address)
{
	int ret = symbolizer_lookup(in->symbolizer, f->id, address);

	in->summary.requested += !ret;
	return ret;
}

static void request_waiting_places(struct inlines *in, struct inlined_file *f)
{
	f->stage = STAGE_READY;
	in->summary.files++;
	in->summary.split += f->facts.split;
	for (size_t i = 0; i < f->waiting.count; i++)
		if (request_place(in, f, f->waiting.items[i]) < 0)
			in->context.placed(in->context.context, f->id, f->waiting.items[i], NULL,
					   0);
	in->waiting -= f->waiting.count;
	vector_free(&f->waiting);
}

static void request_debug_file(struct inlines *in, struct inlined_file *f, enum open_what what)
{
	const struct object *o = objects_by_id(in->objects, f->id);
	bool common = what == OPEN_COMMON;
	const char *folder = strstr(f->facts.common, COMMON_FOLDER);
	struct open_request r = {
		.token = INLINES_TOKEN | f->id << 1 | common,
		.what = what,
		.build_id = common ? f->facts.common_id : f->facts.build_id,
		.debuglink = !common  ? f->facts.debuglink
			     : folder ? folder + strlen(COMMON_FOLDER)
				      : "",
	};

	(common ? &f->common : &f->debug)->begun = true;
	f->stage = STAGE_OPENING;
	if (o) {
		r.pid = o->mapped.pid;
		r.born = o->mapped.born;
		r.path = o->path;
		r.id = o->file.id;
	}
	if (!o || opener_open(in->context.opener, &r) < 0)
		f->stage = STAGE_LOOKING;
}

/* Pass the next candidate of a search to the worker. Returns false if no candidate is left. */
static bool try_next_debug_file(struct inlines *in, struct inlined_file *f,
				struct debug_file_search *s)
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

static void close_debug_files(struct debug_file_search *s)
{
	while (s->next < s->count)
		close(s->fds[s->next++]);
}

/* Choose the next step after the worker has inspected a file, or the opener's search has ended. */
static void advance_inlined_file(struct inlines *in, struct inlined_file *f)
{
	if (f->facts.wants_debug) {
		if (!f->debug.begun)
			request_debug_file(in, f, OPEN_DEBUG);
		if (f->stage == STAGE_OPENING || try_next_debug_file(in, f, &f->debug))
			return;
	}
	if (!f->facts.status && f->facts.wants_common) {
		if (!f->common.begun)
			request_debug_file(in, f, OPEN_COMMON);
		if (f->stage == STAGE_OPENING || try_next_debug_file(in, f, &f->common))
			return;
	}
	close_debug_files(&f->debug);
	close_debug_files(&f->common);
	if (f->facts.status)
		give_up_inlined_file(in, f);
	else
		request_waiting_places(in, f);
}

static struct inlined_file *find_inlined_file(const struct inlines *in, uint64_t id)
{
	struct inlined_file *f = NULL;

	HASH_FIND(hh, in->files, &id, sizeof(id), f);
	return f;
}

void inlines_handle_opened(struct inlines *in, const struct open_reply *a)
{
	struct inlined_file *f = find_inlined_file(in, (a->token & ~INLINES_TOKEN) >> 1);
	struct debug_file_search *s = !f ? NULL : a->token & 1 ? &f->common : &f->debug;

	if (a->fd >= 0 && (!f || f->stage != STAGE_OPENING || s->count == OPENER_DEBUG_MAX))
		close(a->fd);
	else if (a->fd >= 0)
		s->fds[s->count++] = a->fd;
	if (!f || f->stage != STAGE_OPENING || a->more)
		return;
	f->stage = STAGE_LOOKING;
	advance_inlined_file(in, f);
}

static void on_source_facts(void *context, uint64_t object, const struct source_facts *facts)
{
	struct inlines *in = context;
	struct inlined_file *f = find_inlined_file(in, object);

	if (!f || (f->stage != STAGE_LOOKING && f->stage != STAGE_READY))
		return;
	f->facts = *facts;
	if (f->stage == STAGE_LOOKING)
		advance_inlined_file(in, f);
	else if (facts->status)
		give_up_inlined_file(in, f);
}

static void on_source_places(void *context, uint64_t object, uint64_t address,
			     const struct source_place *p, unsigned int count)
{
	struct inlines *in = context;

	in->summary.found += count > 0;
	in->context.placed(in->context.context, object, address, p, count);
}

int inlines_new(struct inlines **out, uint64_t memory, struct error *err)
{
	struct inlines *in = calloc(1, sizeof(*in));
	const struct symbolizer_events events = {
		.sources = on_source_facts,
		.places = on_source_places,
		.context = in,
	};
	int ret;

	if (!in)
		return error_errno(err, -ENOMEM, "inlined functions");
	ret = symbolizer_new_sources(&in->symbolizer, &events, memory, err);
	if (ret < 0)
		inlines_free(in);
	else
		*out = in;
	return ret;
}

static void inlined_file_free(struct inlines *in, struct inlined_file *f)
{
	HASH_DEL(in->files, f);
	close_debug_files(&f->debug);
	close_debug_files(&f->common);
	vector_free(&f->waiting);
	free(f);
}

void inlines_free(struct inlines *in)
{
	struct inlined_file *f, *next;

	if (!in)
		return;
	symbolizer_free(in->symbolizer);
	HASH_ITER (hh, in->files, f, next)
		inlined_file_free(in, f);
	free(in);
}

void inlines_set_context(struct inlines *in, const struct inlines_context *c,
			 struct objects *objects)
{
	in->context = *c;
	in->objects = objects;
}

static void trim_inlined_files(struct inlines *in)
{
	struct inlined_file *f, *next;

	HASH_ITER (hh, in->files, f, next) {
		if (f->stage < STAGE_READY || objects_by_id(in->objects, f->id))
			continue;
		symbolizer_forget(in->symbolizer, f->id);
		inlined_file_free(in, f);
	}
}

/*
 * Add a file, and have the worker inspect it. If the file cannot be passed to the worker, its stage
 * is STAGE_NONE at once. Returns 0 or -ENOMEM.
 */
static int inlined_file_new(struct inlines *in, uint64_t id, struct inlined_file **out)
{
	struct inlined_file *f = calloc(1, sizeof(*f));
	int fd, rc;

	if (HASH_COUNT(in->files) > INLINED_FILES_MAX)
		trim_inlined_files(in);
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
		give_up_inlined_file(in, f);
	}
	*out = f;
	return 0;
}

int inlines_request(struct inlines *in, uint64_t object, uint64_t address)
{
	struct inlined_file *f = find_inlined_file(in, object);
	int ret = inlines_pending(in) >= PENDING_PLACES_MAX ? -ENOBUFS : 0;

	if (!ret && !f)
		ret = inlined_file_new(in, object, &f);
	if (!ret && f->stage == STAGE_READY) {
		ret = request_place(in, f, address);
	} else if (!ret && f->stage == STAGE_NONE) {
		in->context.placed(in->context.context, object, address, NULL, 0);
	} else if (!ret) {
		ret = vector_push(&f->waiting, address);
		in->waiting += !ret;
	}
	in->summary.unrequested += ret < 0;
	return ret;
}

void inlines_count_unrequested(struct inlines *in)
{
	in->summary.unrequested++;
}

int inlines_fd(const struct inlines *in)
{
	return symbolizer_fd(in->symbolizer);
}

int inlines_poll(struct inlines *in, uint64_t now, struct error *err)
{
	int ret = symbolizer_flush(in->symbolizer);

	return ret ? error_errno(err, ret, "inlined functions")
		   : symbolizer_poll(in->symbolizer, now, err);
}

uint64_t inlines_pending(const struct inlines *in)
{
	return in->waiting + symbolizer_pending(in->symbolizer);
}

void inlines_add_cost(struct inlines *in, struct helper_cost *out)
{
	symbolizer_add_cost(in->symbolizer, out);
}

void inlines_get_summary(const struct inlines *in, struct inlines_summary *out)
{
	*out = in->summary;
	out->unrequested += inlines_pending(in);
	out->restarts = symbolizer_stats(in->symbolizer)->restarts;
	out->mangled = symbolizer_stats(in->symbolizer)->mangled;
}
