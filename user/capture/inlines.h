/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines and inlined functions while recording (--inlines): which files have
 * debugging information, in themselves or elsewhere, and questions for the
 * symbolizer that reads it. That is a second one, with a worker of its own: the
 * worker of names is never lost over a file's debugging information, nor does it
 * keep anybody waiting for it.
 */
#ifndef SKEIN_CAPTURE_INLINES_H
#define SKEIN_CAPTURE_INLINES_H

#include "capture/objects.h"
#include "capture/opener.h"
#include "symbolizers/client.h"

struct inlines;

/* Bit of the tokens of requests to the opener whose answers are for inlines_opened(). */
#define INLINES_TOKEN (1ULL << 63)

struct inlines_context {
	struct opener *opener;
	struct symbolizer *names; /* of which files are had */
	/* An answer to inlines_ask(), innermost first; count 0: nothing is known. */
	void (*placed)(void *context, uint64_t object, uint64_t address,
		       const struct source_place *p, unsigned int count);
	void *context;
};

/* A file without answers, and why. */
struct inlines_refusal {
	char path[256]; /* the end of it, if it is longer */
	int status; /* negative errno, as in source_facts */
	uint64_t needed; /* bytes of debugging information; 0 unknown */
};

#define INLINES_REFUSALS_MAX 8

struct inlines_summary {
	uint64_t asked, found; /* addresses; those of which something is known */
	uint64_t unasked; /* for want of room, or of time at the end */
	uint64_t files, bare; /* with debugging information; without any */
	uint64_t split; /* units whose information is in .dwo files */
	uint64_t restarts; /* of the worker */
	uint64_t mangled; /* names that would have taken too much to demangle */
	uint64_t refused; /* files whose information cannot be read */
	struct inlines_refusal refusals[INLINES_REFUSALS_MAX]; /* the first of those */
};

/* Fork the worker; memory: bytes that it may take. */
int inlines_new(struct inlines **ret, uint64_t memory, struct error *err);
void inlines_free(struct inlines *in);
/* To be called before anything is asked. */
void inlines_begin(struct inlines *in, const struct inlines_context *c, struct objects *objects);

/* Ask for the places at an address of a file. -ENOBUFS: too much is unanswered; -ENOMEM. */
int inlines_ask(struct inlines *in, uint64_t object, uint64_t address);
/* An address that should have been asked for, and was not. */
void inlines_refuse(struct inlines *in);
/* An answer of the opener whose token has INLINES_TOKEN. */
void inlines_opened(struct inlines *in, const struct open_answer *a);

/* As those of the symbolizer. */
int inlines_fd(const struct inlines *in);
int inlines_poll(struct inlines *in, uint64_t now, struct error *err);
uint64_t inlines_pending(const struct inlines *in);
/* What its worker has cost so far. Adds to *ret. */
void inlines_add_cost(struct inlines *in, struct helper_cost *ret);

/* What is pending counts as not asked. */
void inlines_summary(const struct inlines *in, struct inlines_summary *ret);

#endif
