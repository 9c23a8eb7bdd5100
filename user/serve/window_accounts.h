/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divide accounts among windows. A source counts from its beginning; a window has what was added in
 * it, so that due = written + filtered + idle + cut off + losses holds in every window.
 */
#ifndef SKEIN_SERVE_WINDOW_ACCOUNTS_H
#define SKEIN_SERVE_WINDOW_ACCOUNTS_H

#include "base/record.h"
#include "base/vector.h"

/* Numbers of samples of an event on a CPU since the beginning. */
struct window_account {
	struct account now, begun; /* the last account, and that when the window began */
	/* due samples that were lost, and those that this file found to be missing */
	uint64_t lost, lost_begun, missing, missing_begun;
	struct account put; /* what the file of the window has; zeroed: nothing */
};

struct window_accounts {
	VECTOR(struct window_account) list;
};

/* Take an account of the source. Return 0 or -ENOMEM. */
int window_accounts_take(struct window_accounts *w, const struct account *a);
/*
 * Take a loss of the source, and reduce it by what was counted as missing before. Returns false if
 * nothing of it remains.
 */
bool window_accounts_take_loss(struct window_accounts *w, struct loss *l);

/*
 * Set *out to what account number i (below w->list.count) has for the window so far. Samples that
 * may be under way are due in the next window. Return whether it is new since the last call for the
 * same file.
 */
bool window_accounts_get(struct window_accounts *w, size_t i, struct account *out);
/*
 * Call this for each account at the end of a window of span ns, before window_accounts_get():
 * return how many of its samples count as not delivered from now on: due, but in no account and no
 * loss, and more than may be under way.
 */
uint64_t window_accounts_find_missing(struct window_accounts *w, size_t i, uint64_t span);
/* Begin the next window. */
void window_accounts_next(struct window_accounts *w);
/* Begin a file of the window, which has nothing yet. */
void window_accounts_again(struct window_accounts *w);
void window_accounts_free(struct window_accounts *w);

#endif
