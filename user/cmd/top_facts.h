/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about the whole window, shown above its rows, such as load, losses and whole stacks. */
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

/*
 * Collect the facts of a window. cost is the part of one CPU that skein itself uses, including
 * its helpers. pending: names are still being read. Return 0 or -ENOMEM.
 */
int top_facts_collect(struct top_facts *out, const struct recent_window *w, uint32_t event,
		      double cost, bool pending);

/* Return the CPU time (ns) of this process and of its living children, the helper processes. */
uint64_t top_facts_own_cpu(void);

/* Write a title such as "host, 99 Hz, last 10 s" into buf and return buf. */
char *top_facts_title(const struct recent_window *w, uint32_t event, char *buf, size_t size);

/*
 * Describe the foci that restrict the rows, such as "process python3 4711 > function main: 12.0 %
 * of all"; "" for none. all is the weight without any focus. Return buf.
 */
char *top_focus_text(const struct top_focus *foci, size_t count, uint64_t all, char *buf,
		     size_t size);

#endif
