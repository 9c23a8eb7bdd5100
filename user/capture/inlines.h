/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets lines and inlined functions while recording (--inlines): finds the debugging information of
 * files, in themselves or in separate files, and queries a symbolizer of sources, which reads that
 * information. This symbolizer has a worker of its own, so that reading debugging information
 * neither kills nor delays the worker that resolves names.
 */
#ifndef SKEIN_CAPTURE_INLINES_H
#define SKEIN_CAPTURE_INLINES_H

#include "capture/objects.h"
#include "capture/opener.h"
#include "symbolizers/client.h"

struct inlines;

/* Bit in the tokens of requests to the opener, set if the reply is for inlines_handle_opened(). */
#define INLINES_TOKEN (1ULL << 63)

struct inlines_context {
	struct opener *opener;
	/* the symbolizer of names; the descriptors of its files are duplicated */
	struct symbolizer *names;
	/*
	 * Called with the reply to inlines_request(), innermost place first; count 0: nothing is
	 * known.
	 */
	void (*placed)(void *context, uint64_t object, uint64_t address,
		       const struct source_place *p, unsigned int count);
	void *context;
};

/* A file whose debugging information could not be read, and the reason. */
struct inlines_refusal {
	char path[256]; /* the end of a longer path */
	int status; /* negative errno, see struct source_facts */
	uint64_t needed; /* bytes of debugging information; 0: unknown */
};

#define INLINES_REFUSALS_MAX 8

struct inlines_summary {
	uint64_t requested, found; /* addresses requested, and those with a non-empty reply */
	/* addresses not requested, for lack of room, or without a reply at the end */
	uint64_t unrequested;
	uint64_t files, bare; /* files with debugging information, and without any */
	uint64_t split; /* units whose information is in .dwo files */
	uint64_t restarts; /* restarts of the worker */
	uint64_t mangled; /* names left mangled because demangling would have taken too much */
	uint64_t refused; /* files whose debugging information cannot be read */
	struct inlines_refusal refusals[INLINES_REFUSALS_MAX]; /* the first ones */
};

/* Fork the worker. memory: bytes that the worker may use. Returns 0 or a negative errno. */
int inlines_new(struct inlines **out, uint64_t memory, struct error *err);
void inlines_free(struct inlines *in);
/* Set the context. Call this before the first request. */
void inlines_set_context(struct inlines *in, const struct inlines_context *c,
			 struct objects *objects);

/*
 * Request the functions and lines ("places") at an address of an object, a file offset;
 * inlines_context.placed() gets the reply, during this call if the file is known to have no
 * debugging information. Returns 0, -ENOBUFS if too many requests are pending, or another negative
 * errno, mostly -ENOMEM; after an error there is no reply.
 */
int inlines_request(struct inlines *in, uint64_t object, uint64_t address);
/* Count an address that the caller could not request for lack of memory. */
void inlines_count_unrequested(struct inlines *in);
/* Handle a reply of the opener whose token has INLINES_TOKEN. Takes ownership of a->fd. */
void inlines_handle_opened(struct inlines *in, const struct open_reply *a);

/*
 * Like symbolizer_fd(), symbolizer_poll() and symbolizer_pending(), for the worker that reads
 * debugging information.
 */
int inlines_fd(const struct inlines *in);
int inlines_poll(struct inlines *in, uint64_t now, struct error *err);
uint64_t inlines_pending(const struct inlines *in);
/* Add the resources that the worker has used so far to *out. */
void inlines_add_cost(struct inlines *in, struct helper_cost *out);

/* Fill *out with the counts so far; pending requests count as unrequested. */
void inlines_get_summary(const struct inlines *in, struct inlines_summary *out);

#endif
