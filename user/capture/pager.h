/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of unwind tables that are asked for before the table is there: a large file's takes
 * seconds where the CPUs are busy, and walks wait for it. The pages are made by a second
 * symbolizer with a worker of its own, which the making of whole tables never keeps waiting.
 * Every page is asked for once. When the table comes it replaces what was made of it.
 */
#ifndef SKEIN_CAPTURE_PAGER_H
#define SKEIN_CAPTURE_PAGER_H

#include "capture/objects.h"
#include "capture/space.h"

struct pager;

struct pager_context {
	struct symbolizer *names; /* of which files are had */
	struct tables *tables;
	struct objects *objects;
	/* walks that wait may go on */
	void (*made)(void *context);
	void *context;
};

/* Fork the worker. 0 or a negative errno. */
int pager_new(struct pager **ret, struct error *err);
void pager_free(struct pager *g);
/* To be called before anything is asked. */
void pager_begin(struct pager *g, const struct pager_context *c);

/* A walk that waits: where it stands, and the stack that was copied from there on. */
struct pager_walk {
	const struct space *space;
	uint64_t pc;
	const uint64_t *stack;
	size_t words;
};

/*
 * Ask for the page that the walk waits for, unless that was done before, and for those that it
 * may come to: every word of the stack that lies in code may be a return address.
 */
void pager_want(struct pager *g, const struct pager_walk *w);

/* The table of an object is there, or there will be none. */
void pager_done(struct pager *g, uint64_t object);
/* Forget the files that are no objects any more. */
void pager_tidy(struct pager *g);

/* As those of the symbolizer. */
int pager_fd(const struct pager *g);
int pager_poll(struct pager *g, uint64_t now, struct error *err);
void pager_add_cost(struct pager *g, struct helper_cost *ret);
/* Pages made, ever. */
uint64_t pager_made(const struct pager *g);

#endif
