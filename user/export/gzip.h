/* SPDX-License-Identifier: Apache-2.0 */
/* Compress with gzip (RFC 1952). Equal input always gives equal output. */
#ifndef SKEIN_EXPORT_GZIP_H
#define SKEIN_EXPORT_GZIP_H

#include <stdio.h>

/*
 * Return a stream that compresses to out. Closing the stream fails if a write to out has failed;
 * the error then also stays in out, which the caller keeps. NULL if memory ran out.
 */
FILE *gzip_stream(FILE *out);

#endif
