/* SPDX-License-Identifier: Apache-2.0 */
/* The CPU budget of skein serve: its governor between measurements and messages. */
#ifndef SKEIN_CMD_SERVE_BUDGET_H
#define SKEIN_CMD_SERVE_BUDGET_H

#include "capture/capture.h"
#include "serve/governor.h"

#define SERVE_CPU_BUDGET 10000000ULL /* default: 1 % of a core, ns per second */

struct serve_budget {
	struct governor governor;
	char text[32]; /* the limit, such as "1 %" */
	/* what the last message was about, and when it was, ns; 0: there was none */
	unsigned int logged_rate;
	bool logged_exceeded;
	uint64_t logged;
};

/*
 * Prepare a budget (ns per second; 0: no limit), and set the rates of a capture by it. memory:
 * there is a budget of memory, which may want a lower rate, too.
 */
void serve_budget_begin(struct serve_budget *b, uint64_t limit, bool memory,
			struct capture_options *o);
/*
 * Return the index of the rate from now on. Changes are logged, at most once in a minute: the last
 * state of a minute is logged at its end.
 */
unsigned int serve_budget_choose(struct serve_budget *b, const struct capture_progress *p);
/* Write the rate and the cost for the status, such as "19 Hz, 0.21 % of a core". Return buf. */
char *serve_budget_status(const struct serve_budget *b, char *buf, size_t size);
/* Write a limit for people: "1 % of a core", "any CPU time". Return buf. */
char *serve_budget_show(uint64_t limit, char *buf, size_t size);

#endif
