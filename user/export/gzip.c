// SPDX-License-Identifier: Apache-2.0
/* Compress with zlib, streaming to a FILE. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

#include "export/gzip.h"

struct gzip {
	z_stream z;
	FILE *out;
	int error; /* errno of the first failed write; nothing is written after it */
};

static int gzip_deflate(struct gzip *g, int flush)
{
	unsigned char buf[32768];
	int status;

	while (!g->error) {
		size_t made;

		g->z.next_out = buf;
		g->z.avail_out = sizeof(buf);
		status = deflate(&g->z, flush);
		made = sizeof(buf) - g->z.avail_out;
		errno = 0;
		if (fwrite(buf, 1, made, g->out) != made)
			g->error = errno ? errno : EIO;
		if (g->z.avail_out && (flush != Z_FINISH || status != Z_OK))
			break;
	}
	errno = g->error;
	return g->error ? -1 : 0;
}

static ssize_t gzip_stream_write(void *cookie, const char *data, size_t size)
{
	struct gzip *g = cookie;

	for (size_t done = 0, part; done < size; done += part) {
		part = size - done < INT_MAX ? size - done : INT_MAX;
		g->z.next_in = (unsigned char *)data + done;
		g->z.avail_in = (unsigned int)part;
		if (gzip_deflate(g, Z_NO_FLUSH) < 0)
			return 0;
	}
	return (ssize_t)size;
}

static int gzip_stream_close(void *cookie)
{
	struct gzip *g = cookie;
	int ret = gzip_deflate(g, Z_FINISH);

	deflateEnd(&g->z);
	free(g);
	return ret;
}

FILE *gzip_stream(FILE *out)
{
	static const cookie_io_functions_t functions = {.write = gzip_stream_write,
							.close = gzip_stream_close};
	struct gzip *g = calloc(1, sizeof(*g));
	FILE *stream = NULL;

	if (!g)
		return NULL;
	g->out = out;
	/* 15: largest window; 16 more: gzip header, without the name and the time of a file */
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) == Z_OK)
		stream = fopencookie(g, "w", functions);
	if (!stream) {
		deflateEnd(&g->z);
		free(g);
	}
	return stream;
}
