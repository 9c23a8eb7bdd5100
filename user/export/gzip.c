// SPDX-License-Identifier: Apache-2.0
/* Compress with zlib, streaming to a FILE. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "export/gzip.h"

int gzip_begin(struct gzip *g, FILE *out)
{
	*g = (struct gzip){.out = out};
	/* 16 selects a gzip header, which zlib writes without a name and a time */
	return deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			    Z_DEFAULT_STRATEGY) == Z_OK
		       ? 0
		       : -ENOMEM;
}

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
			g->error = errno ? -errno : -EIO;
		if (g->z.avail_out && (flush != Z_FINISH || status != Z_OK))
			break;
	}
	return g->error;
}

int gzip_write(struct gzip *g, const void *data, size_t size)
{
	const unsigned char *from = data;
	int ret = 0;

	while (size && !ret) {
		size_t part = size < INT_MAX ? size : INT_MAX;

		g->z.next_in = (unsigned char *)from;
		g->z.avail_in = part;
		ret = gzip_deflate(g, Z_NO_FLUSH);
		from += part;
		size -= part;
	}
	return ret;
}

int gzip_end(struct gzip *g)
{
	return gzip_deflate(g, Z_FINISH);
}

void gzip_free(struct gzip *g)
{
	deflateEnd(&g->z);
}

static ssize_t gzip_stream_write(void *cookie, const char *data, size_t size)
{
	int ret = gzip_write(cookie, data, size);

	if (ret < 0)
		errno = -ret;
	return ret < 0 ? 0 : (ssize_t)size;
}

static int gzip_stream_close(void *cookie)
{
	int ret = gzip_end(cookie);

	gzip_free(cookie);
	free(cookie);
	if (ret < 0)
		errno = -ret;
	return ret < 0 ? EOF : 0;
}

FILE *gzip_stream(FILE *out)
{
	static const cookie_io_functions_t functions = {.write = gzip_stream_write,
							.close = gzip_stream_close};
	struct gzip *g = calloc(1, sizeof(*g));
	FILE *stream = NULL;

	if (g && !gzip_begin(g, out)) {
		stream = fopencookie(g, "w", functions);
		if (!stream)
			gzip_free(g);
	}
	if (!stream)
		free(g);
	return stream;
}
