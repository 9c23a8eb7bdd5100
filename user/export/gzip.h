/* SPDX-License-Identifier: Apache-2.0 */
/* Compress with gzip (RFC 1952). With the same zlib, equal input gives equal output. */
#ifndef SKEIN_EXPORT_GZIP_H
#define SKEIN_EXPORT_GZIP_H

#include <stdio.h>

/*
 * Return a stream that compresses to out; NULL if memory ran out. Closing the stream writes the
 * rest, and fails if any write to out has failed; then ferror(out) is also set. The caller owns
 * out, which stays open.
 */
FILE *gzip_stream(FILE *out);

#endif
