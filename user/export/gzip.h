/* SPDX-License-Identifier: Apache-2.0 */
/* A gzip stream (RFC 1952) onto a FILE. The same bytes always give the same file. */
#ifndef SKEIN_EXPORT_GZIP_H
#define SKEIN_EXPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
	z_stream z;
	FILE *out;
	int error; /* the first; nothing is written after it */
};

/* Each: 0, -ENOMEM, or why out takes no more. */
int gzip_begin(struct gzip *g, FILE *out);
int gzip_write(struct gzip *g, const void *data, size_t size);
int gzip_end(struct gzip *g);
/* Release it at any point after gzip_begin(), also after gzip_end(). */
void gzip_free(struct gzip *g);

/*
 * A stream that compresses what is written to it onto out, until it is closed, which fails when
 * out takes no more. NULL without memory; out stays the caller's.
 */
FILE *gzip_stream(FILE *out);

#endif
