// SPDX-License-Identifier: Apache-2.0
/* The page as tools/page makes it of user/view/: the text before its data, and the text after. */
#ifndef SKEIN_PAGE_PARTS_H
#define SKEIN_PAGE_PARTS_H

#include <stddef.h>

struct page_parts {
	const char *head; /* neither text ends with a zero */
	size_t head_size; /* bytes */
	const char *tail;
	size_t tail_size; /* bytes */
};

extern const struct page_parts page_parts;

#endif
