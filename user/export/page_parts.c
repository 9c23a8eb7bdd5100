// SPDX-License-Identifier: Apache-2.0
#include "export/page_parts.h"

#include "view/page.h"

const struct page_parts page_parts = {
	.head = (const char *)page_head,
	.head_size = sizeof(page_head),
	.tail = (const char *)page_tail,
	.tail_size = sizeof(page_tail),
};
