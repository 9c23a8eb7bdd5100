/* SPDX-License-Identifier: Apache-2.0 */
/* Write a gzip stream (RFC 1952) to a FILE. Equal input always gives equal output. */
#ifndef SKEIN_EXPORT_GZIP_H
#define SKEIN_EXPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>
#include <zlib.h>

struct gzip {
	z_stream z;
	FILE *out;
	int error; /* the first error; nothing is written after it */
};

/* Begin, continue and end a stream. Each returns 0, -ENOMEM, or the write error of out. */
int gzip_begin(struct gzip *g, FILE *out);
int gzip_write(struct gzip *g, const void *data, size_t size);
int gzip_end(struct gzip *g);
/* Release the stream at any point after gzip_begin(), also after gzip_end(). */
void gzip_free(struct gzip *g);

/*
 * Return a stream that compresses to out; closing it fails if out has a write error. NULL if
 * memory ran out; the caller keeps out.
 */
FILE *gzip_stream(FILE *out);

#endif
