// SPDX-License-Identifier: Apache-2.0
/* Requests pages of unwind tables, and keeps one bit for each requested page of each file. */
#include "capture/pager.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "capture/clock.h"

/* Maximum number of pages of a file that can be requested: 4 GiB of code. */
#define FILE_PAGES_MAX 65536
/*
 * Maximum number of pages of a file in one request. A small number makes the first pages of a stack
 * arrive before the last ones are made. An urgent request also waits for the request in work, so
 * that one must be short; a request may take some milliseconds.
 */
#define PAGE_BATCH 4
/*
 * Maximum number of pages requested for one stack: a hostile stack has thousands of words that are
 * addresses of code.
 */
#define STACK_PAGES_MAX 64
/*
 * While so many requests of all files are pending, no page that a walk may need later is requested,
 * and at twice this number no page at all.
 */
#define PENDING_REQUESTS_MAX 64

struct paged_file {
	uint64_t id; /* object.id */
	bool refused; /* its pages cannot be made */
	uint64_t batch[PAGE_BATCH];
	size_t batched;
	uint64_t pending; /* requests without a reply */
	size_t words; /* number of words of each bitmap */
	/*
	 * One bit for each page: requested: the page was requested; urged: it was requested with
	 * urgency, because a walk stopped there.
	 */
	uint64_t *requested, *urged;
	UT_hash_handle hh;
};

struct pager {
	struct pager_context context;
	struct symbolizer *maker;
	struct paged_file *files;
	uint64_t pending; /* requests of all files without a reply */
};

static struct paged_file *find_paged_file(const struct pager *g, uint64_t id)
{
	struct paged_file *f = NULL;

	HASH_FIND(hh, g->files, &id, sizeof(id), f);
	return f;
}

static void forget_paged_file(struct pager *g, struct paged_file *f)
{
	symbolizer_forget(g->maker, f->id);
	g->pending -= f->pending;
	HASH_DEL(g->files, f);
	free(f->requested);
	free(f->urged);
	free(f);
}

static void on_pages(void *context, uint64_t id, int status, const struct unwind_table *t)
{
	struct pager *g = context;
	struct paged_file *f = find_paged_file(g, id);
	const struct object *o = objects_by_id(g->context.objects, id);

	if (!f)
		return;
	f->pending--;
	g->pending--;
	f->refused |= status != 0;
	if (!o || status)
		return;
	/* If there is no room for a page, walks wait for the whole table. */
	(void)tables_put_pages(g->context.tables, o->table, t, clock_boot_ns());
	g->context.made(g->context.context);
}

int pager_new(struct pager **out, struct fork_server *forks, struct error *err)
{
	struct pager *g = calloc(1, sizeof(*g));
	const struct symbolizer_events events = {.pages = on_pages, .context = g, .forks = forks};
	int ret;

	if (!g)
		return error_errno(err, -ENOMEM, "pages of unwind tables");
	ret = symbolizer_new(&g->maker, &events, err);
	if (ret < 0) {
		free(g);
		return ret;
	}
	*out = g;
	return 0;
}

void pager_free(struct pager *g)
{
	struct paged_file *f, *next;

	if (!g)
		return;
	HASH_ITER (hh, g->files, f, next)
		forget_paged_file(g, f);
	symbolizer_free(g->maker);
	free(g);
}

void pager_set_context(struct pager *g, const struct pager_context *c)
{
	g->context = *c;
}

/* Give the worker that makes pages a descriptor of the file. Return 0 or a negative errno. */
static int give_file_to_maker(struct pager *g, uint64_t id)
{
	int fd = symbolizer_dup(g->context.names, id);

	return fd < 0 ? fd : symbolizer_add(g->maker, id, OBJECT_ELF, fd);
}

/*
 * Return the entry of a file, which is added if necessary; NULL: the pages of the file cannot be
 * made, or there is no memory.
 */
static struct paged_file *get_paged_file(struct pager *g, const struct object *o)
{
	struct paged_file *f = find_paged_file(g, o->id);

	if (f || o->state != OBJECT_KNOWN)
		return f && !f->refused ? f : NULL;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->id = o->id;
	f->words = (o->opened.size >> UNWIND_PAGE_SHIFT) / 64 + 1;
	if (f->words > FILE_PAGES_MAX / 64)
		f->words = FILE_PAGES_MAX / 64;
	f->requested = calloc(f->words, sizeof(*f->requested));
	f->urged = calloc(f->words, sizeof(*f->urged));
	if (f->requested && f->urged)
		HASH_ADD(hh, g->files, id, sizeof(f->id), f);
	if (!HASH_HAS(hh, f)) {
		free(f->requested);
		free(f->urged);
		free(f);
		return NULL;
	}
	f->refused = give_file_to_maker(g, o->id) < 0;
	return f->refused ? NULL : f;
}

static void request_batch(struct pager *g, struct paged_file *f, bool urgent)
{
	const struct unwind_page_list q = {f->batch, f->batched};

	if (!f->batched)
		return;
	f->batched = 0;
	if (symbolizer_request_pages(g->maker, f->id, &q, urgent) < 0) {
		f->refused = true;
		return;
	}
	f->pending++;
	g->pending++;
}

/*
 * Request the page of an address if a walk would wait for this page and it was not requested
 * before. A page that was requested only because it may be needed is requested again with urgency
 * when a walk waits for it, since its turn may be far off. Pages that are not urgent are gathered
 * in batch[] for request_batch(). Return whether the page is newly requested.
 */
static bool request_page(struct pager *g, const struct space_mapping *m, uint64_t pc, bool urgent)
{
	uint64_t page = (pc - m->start + m->offset) >> UNWIND_PAGE_SHIFT, bit = 1ULL << page % 64;
	uint64_t *requested;
	struct paged_file *f;

	if (!m->object ||
	    g->pending >= (urgent ? 2 * PENDING_REQUESTS_MAX : PENDING_REQUESTS_MAX) ||
	    !tables_page_is_pending(g->context.tables, m->object->table, page))
		return false;
	f = get_paged_file(g, m->object);
	if (!f || page >= f->words * 64)
		return false;
	requested = urgent ? f->urged : f->requested;
	if (requested[page / 64] & bit)
		return false;
	requested[page / 64] |= bit;
	f->requested[page / 64] |= bit;
	f->batch[f->batched++] = page;
	if (urgent || f->batched == PAGE_BATCH)
		request_batch(g, f, urgent);
	return true;
}

/*
 * Request the pages of the words of the stack that may be return addresses. Words below or above
 * all mappings are skipped without a search among the mappings, since most words are not addresses
 * of code. The space has at least one mapping.
 */
static void request_stack_pages(struct pager *g, const struct pager_walk *w)
{
	const struct space_mapping *all = w->space->mappings.items;
	uint64_t low = all[0].start, high = all[w->space->mappings.count - 1].end;
	unsigned int found = 0;

	for (size_t i = 0; i < w->words && found < STACK_PAGES_MAX; i++) {
		const struct space_mapping *m;
		uint64_t pc = w->stack[i] - 1;

		if (pc < low || pc >= high)
			continue;
		m = space_find(w->space, pc);
		found += m && request_page(g, m, pc, false);
	}
}

void pager_request(struct pager *g, const struct pager_walk *w)
{
	const struct space_mapping *m = space_find(w->space, w->pc);
	struct paged_file *f, *next;

	if (!m || !request_page(g, m, w->pc, true))
		return;
	request_stack_pages(g, w);
	HASH_ITER (hh, g->files, f, next)
		request_batch(g, f, false);
}

void pager_done(struct pager *g, uint64_t object)
{
	struct paged_file *f = find_paged_file(g, object);

	if (f)
		forget_paged_file(g, f);
}

void pager_tidy(struct pager *g)
{
	struct paged_file *f, *next;

	HASH_ITER (hh, g->files, f, next)
		if (!objects_by_id(g->context.objects, f->id))
			forget_paged_file(g, f);
}

int pager_fd(const struct pager *g)
{
	return symbolizer_fd(g->maker);
}

int pager_poll(struct pager *g, uint64_t now, struct error *err)
{
	return symbolizer_poll(g->maker, now, err);
}

void pager_add_cost(struct pager *g, struct helper_cost *out)
{
	symbolizer_add_cost(g->maker, out);
}

struct symbolizer *pager_symbolizer(struct pager *g)
{
	return g->maker;
}
