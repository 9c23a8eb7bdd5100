/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pager requests pages of unwind tables before the whole table exists, because the table of a
 * large file takes seconds to make when the CPUs are busy, and walks wait for it. A second
 * symbolizer with a worker of its own makes the pages, so that they never wait for whole tables.
 * Every page is requested at most twice: when a walk may need it, and when a walk waits for it. The
 * whole table replaces its pages when it arrives.
 */
#ifndef SKEIN_CAPTURE_PAGER_H
#define SKEIN_CAPTURE_PAGER_H

#include "capture/objects.h"
#include "capture/space.h"

struct fork_server;
struct pager;

struct pager_context {
	struct symbolizer *names; /* the symbolizer that has the files open */
	struct tables *tables;
	struct objects *objects;
	/* called when pages have arrived: walks that wait for them may continue */
	void (*made)(void *context);
	void *context;
};

/* Create a pager and its worker, which forks (or NULL) forks. Return 0 or a negative errno. */
int pager_new(struct pager **out, struct fork_server *forks, struct error *err);
void pager_free(struct pager *g);
/* Set the context; call this before all other functions. */
void pager_set_context(struct pager *g, const struct pager_context *c);

/*
 * A walk that waits for a table: its pc, and words of the copied stack from its stack pointer on.
 */
struct pager_walk {
	const struct space *space;
	uint64_t pc;
	const uint64_t *stack;
	size_t words;
};

/*
 * Request the page that a walk waits for, unless it was requested for a walk before. With a newly
 * requested page, also request the pages that the walk may need next: every word of the stack that
 * lies in code may be a return address.
 */
void pager_request(struct pager *g, const struct pager_walk *w);

/* Forget the file of an object whose table has arrived or will never arrive. */
void pager_done(struct pager *g, uint64_t object);
/* Forget files whose objects no longer exist. */
void pager_tidy(struct pager *g);

/*
 * Like symbolizer_fd(), symbolizer_poll() and symbolizer_add_cost(), for the worker that makes
 * pages.
 */
int pager_fd(const struct pager *g);
int pager_poll(struct pager *g, uint64_t now, struct error *err);
void pager_add_cost(struct pager *g, struct helper_cost *out);
/* The symbolizer whose worker makes the pages. */
struct symbolizer *pager_symbolizer(struct pager *g);

#endif
