/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of a window as a whole, above its rows: words of trust and of Python's lock. */
#ifndef SKEIN_CMD_TOP_FACTS_H
#define SKEIN_CMD_TOP_FACTS_H

#include "cmd/top_model.h"

#define TOP_FACTS_MAX 8

struct top_fact {
	char text[96];
	bool warning;
};

struct top_facts {
	struct top_fact list[TOP_FACTS_MAX]; /* most important first */
	unsigned int count;
};

/* cost: the part of one CPU that skein itself takes, with its helpers. 0 or -ENOMEM. */
int top_facts_of(struct top_facts *ret, const struct recent_window *w, uint32_t event,
		 double cost);

/* CPU time of this process and its children so far, ns. */
uint64_t top_own_cpu(void);

/* "host, 99 Hz, last 10 s" */
char *top_title(const struct recent_window *w, uint32_t event, char *buf, size_t size);

/* What the rows are narrowed to, such as "process python3 4711, 12 % of all"; "" nothing. */
char *top_focus_text(const struct top_focus *foci, size_t count, uint64_t all, char *buf,
		     size_t size);

#endif
