/* SPDX-License-Identifier: Apache-2.0 */
/* Texts from the core, for the network process: the metrics, and the list of windows. */
#ifndef SKEIN_SERVE_NETWORK_TEXT_H
#define SKEIN_SERVE_NETWORK_TEXT_H

#include <stdio.h>

#include "base/vector.h"
#include "serve/network_child.h"
#include "serve/window_files.h"

struct network_text {
	char *text; /* ends with a NUL */
	size_t size; /* bytes before that */
};

/*
 * Ask the core for a text of at most so many bytes. The caller frees out->text. Return 0 or a
 * negative errno.
 */
int network_ask_text(struct asker *a, struct network_question *question,
		     const struct http_request *q, size_t most, struct network_text *out);

/* The windows that there are, oldest first. Free the list with vector_free(). */
struct network_windows {
	VECTOR(struct window_file) list;
};

int network_windows_get(struct asker *a, const struct http_request *q, struct network_windows *out);
/* Write the list as JSON. */
void network_windows_write(const struct network_windows *w, FILE *out);

/* Write a page with links to what there is. Its policy allows its own style, and nothing else. */
#define NETWORK_INDEX_POLICY "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"
void network_index_write(const struct network_windows *w, FILE *out);

#endif
