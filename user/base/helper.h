/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A helper process: a forked child at the other end of a socket pair that does what may hang, die
 * or be attacked, and that can be killed and started anew at any time. Here is what all of them
 * need: the pair, the epoll set that their owner waits on, the deadline, the kill that does not
 * wait, the pause before the next start, and what each has cost. What is said over the socket, and
 * which request is to blame, is the owner's business.
 *
 * The owner's poll function: helper_pass(); receive, with helper_heard() for every word;
 * helper_lose() if the child is dead or helper_is_stuck(); helper_revive(); send;
 * helper_expect().
 */
#ifndef SKEIN_BASE_HELPER_H
#define SKEIN_BASE_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct helper_kind {
	const char *name; /* in messages: "the opener" */
	/* The child's life. parent: who must still be its parent, or it has to exit. */
	void (*run)(void *context, int socket, pid_t parent) __attribute__((noreturn));
	void *context;
	int stands_back;      /* added to the nice value that its owner has now */
	unsigned int attempts; /* children in a row that may end and be of no use; 0: any number */
};

#define HELPER_LINGER_MAX 64 /* killed children that the kernel does not let go yet */

struct helper_cost {
	uint64_t cpu;	 /* ns, of all its children so far */
	uint64_t memory; /* bytes, the most that one of them had resident */
};

/* Members are for helper.c, and for tests that take the child's place. */
struct helper {
	struct helper_kind kind;
	int poll;	 /* epoll over the three others: stays the same when the socket does not */
	int wake;	 /* eventfd: the owner has something to do */
	int timer;	 /* timerfd: the time of restart_at has come */
	int socket;	 /* -1: there is no child */
	int priority;	 /* nice value of the children, whatever their owner's becomes */
	pid_t pid;	 /* 0: there is no child */
	bool wants_room; /* the socket is watched for room to send, too */
	bool expecting;	 /* an answer, since the last poll */
	bool cpu_known;	 /* silent_cpu has been read in this silence */
	bool woken;	 /* wake has been written to, and not read since */
	bool timed;	 /* timer has been set, and was not seen to end since */
	uint64_t now;	 /* ns of the owner's clock, at the last poll */
	uint64_t silence;    /* ns for which it has owed a word */
	uint64_t silent_cpu; /* ns of CPU that it had used when half of the patience was over */
	uint64_t generation; /* children ever started */
	uint64_t restarts;   /* children lost */
	uint64_t restart_at;
	unsigned int deaths; /* in a row, without anything useful in between */
	unsigned int lingering;
	pid_t linger[HELPER_LINGER_MAX];
	struct helper_cost dead; /* of children that were waited for */
};

/* Make one and start its child. 0 or a negative errno; then it is as closed. */
int helper_open(struct helper *h, const struct helper_kind *kind, struct error *err);
/* Kill the child; waits for at most a tenth of a second. Also for one that is closed or zeroed. */
void helper_close(struct helper *h);

/* Have the owner's epoll report the helper at once. */
void helper_wake(struct helper *h);

/* Time goes on: now in ns of a steady clock. A pause of the owner's own is not held against it. */
void helper_pass(struct helper *h, uint64_t now);
/* It has said something; useful: it has brought something to its end, too. */
void helper_heard(struct helper *h, bool useful);
/*
 * Has it been silent for too long? One that sleeps (a file that does not answer) or was stopped
 * has two seconds. One that wants to run on a busy machine has until it has had CPU enough.
 */
bool helper_is_stuck(struct helper *h);
/* Kill the child, without waiting for its end. The next one comes soon, or ever later. */
void helper_lose(struct helper *h);
/*
 * Start a child if there is none and its time has come. An error means that none can be started
 * now. 0 and no child: later, or when one of those that the kernel keeps has gone.
 */
int helper_revive(struct helper *h, struct error *err);
/* What the owner waits for until the next poll: an answer, room to send. */
void helper_expect(struct helper *h, bool answer, bool room);

static inline bool helper_lives(const struct helper *h)
{
	return h->socket >= 0;
}

/* There is no child, and none can be started for now: the kernel keeps too many killed ones. */
static inline bool helper_is_exhausted(const struct helper *h)
{
	return h->socket < 0 && h->lingering == HELPER_LINGER_MAX;
}

/* What its children have cost so far, the killed ones included. Adds to *ret. */
void helper_add_cost(struct helper *h, struct helper_cost *ret);

/* Most resident memory of a process, bytes; 0 if it is gone. */
uint64_t process_peak_memory(pid_t pid);

#endif
