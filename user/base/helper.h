/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A helper process is a forked child at the other end of a socket pair. It does work that may hang
 * or die or that may be attacked, and it can be killed and restarted at any time. This file
 * provides the parts that all helpers need: the socket pair, the epoll set on which the owner
 * waits, the timeout, the kill that does not wait, the back-off before the next start, and the cost
 * of the helper. The owner implements the protocol on the socket, and finds the request at fault.
 *
 * The owner's poll function calls helper_begin_poll(); receives, with helper_received() for every
 * message; calls helper_kill() if the child is dead or helper_is_stuck(); calls helper_restart();
 * sends; calls helper_expect().
 */
#ifndef SKEIN_BASE_HELPER_H
#define SKEIN_BASE_HELPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/error.h"

struct fork_server;

struct helper_kind {
	const char *name; /* used in messages, such as "the opener" */
	/* Run the child. The child must exit when parent is no longer its parent. */
	void (*run)(void *context, int socket, pid_t parent) __attribute__((noreturn));
	void *context;
	/* NULL: the owner forks the child itself, which then has a copy of all of its memory */
	struct fork_server *forks;
	size_t context_size; /* bytes at context that a child of forks gets; 0: none */
	int niceness; /* added to the nice value that the owner has in helper_open() */
	/* how many useless children in a row are replaced before giving up; 0: no limit */
	unsigned int attempts;
};

/*
 * Exit status of a child that could not give up its privileges, for example because a system call
 * filter forbids it to install one of its own. If no child was ever useful, helper_restart() gives
 * up after some such children.
 */
#define HELPER_EXIT_UNCONFINED 3

struct helper_cost {
	uint64_t cpu; /* ns, of all children so far */
	uint64_t memory; /* bytes; the largest resident size of any one child */
	bool time_only; /* memory is not wanted: set by the caller of helper_add_cost() */
};

#define HELPER_LINGER_MAX 64 /* no child is started while so many killed ones have not ended */

struct helper_killed {
	pid_t pids[HELPER_LINGER_MAX]; /* of the children that have not ended yet */
	unsigned int count; /* of pids */
	struct helper_cost cost; /* of the children that have ended */
	bool refused; /* one ended with HELPER_EXIT_UNCONFINED, or was killed by SIGSYS */
	bool served; /* one of them, or the present child, has sent a useful message */
};

/* The members are for helper.c, and for tests that play the child. */
struct helper {
	struct helper_kind kind;
	int poll; /* epoll over wake, timer and socket; stays the same when socket changes */
	int wake; /* eventfd, written by helper_wake() */
	int timer; /* timerfd, expires at restart_at */
	int socket; /* -1 if there is no child */
	int priority; /* nice value of the children, even if the owner's changes */
	pid_t pid; /* 0 if there is no child */
	bool wants_room; /* epoll also reports when the socket has room to send */
	bool expecting; /* a reply has been pending since the last poll */
	bool cpu_known; /* silent_cpu has been read during this silence */
	bool woken; /* wake has been written and not been read since */
	bool timed; /* timer has been set and not been read since */
	uint64_t now; /* ns of the owner's clock at the last poll */
	uint64_t silence; /* ns without a message while a reply was pending */
	uint64_t silent_cpu; /* CPU time (ns) of the child after a second of the present silence */
	uint64_t generation; /* number of children started */
	uint64_t restarts; /* number of calls of helper_kill() */
	uint64_t restart_at;
	unsigned int deaths; /* in a row, without a useful message in between */
	struct helper_killed killed;
};

/*
 * Initialise a helper and start its child. Return 0 or a negative errno; after an error the helper
 * is closed.
 */
int helper_open(struct helper *h, const struct helper_kind *kind, struct error *err);
/*
 * Run the helper, and those that replace it, at the priority of another one: that of the caller may
 * have changed since the other was opened.
 */
void helper_follow_priority(struct helper *h, const struct helper *other);
/*
 * Kill the child, and wait for at most a tenth of a second. Does nothing to a closed or zeroed
 * helper.
 */
void helper_close(struct helper *h);

/* Make the owner's epoll report the helper at once. */
void helper_wake(struct helper *h);

/*
 * Begin a poll at the time now (ns of a steady clock). If a reply is pending, the time since the
 * last poll counts as silence of the child, but at most a second of it, because a longer time is a
 * pause of the owner.
 */
void helper_begin_poll(struct helper *h, uint64_t now);
/*
 * Called when the child has sent a message; useful means that the child has also completed
 * something.
 */
void helper_received(struct helper *h, bool useful);
/*
 * Return whether the child has been silent for too long. A child that sleeps (for a file system
 * that does not reply) or was stopped has 2 s. A child that runs or waits for a CPU has until it
 * has used 4 s of CPU time in the silence, but at most 30 s.
 */
bool helper_is_stuck(struct helper *h);
/*
 * Kill the child without waiting for its end. The back-off before the next child is 0.5 ms at first
 * and doubles with each useless child, up to 1 s.
 */
void helper_kill(struct helper *h);
/*
 * Start a child if there is none and the back-off is over. Return 0 or a negative errno: -EIO after
 * too many useless children in a row, -EPERM if the first children could not give up their
 * privileges, otherwise the error of starting one. After a return of 0 without a child, a later
 * call starts one: when the back-off is over, and enough of the killed children have ended.
 */
int helper_restart(struct helper *h, struct error *err);
/*
 * Set what the owner waits for until the next poll: a pending reply, so that silence counts, and
 * room to send, which epoll then reports.
 */
void helper_expect(struct helper *h, bool reply, bool room);

/*
 * Return the descriptor that came with a packet of recvmsg(), -1 if none did. The room for one
 * descriptor is padded and may hold two, and a hijacked child may send as many: others are closed.
 */
int helper_received_fd(struct msghdr *packet);

/* Room for one descriptor in a packet of sendmsg(). */
union helper_descriptor {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

/* Have a packet carry a descriptor in *room, which must outlive it; none if fd is negative. */
void helper_attach_fd(struct msghdr *packet, union helper_descriptor *room, int fd);

/*
 * Undo signal handlers and masks inherited from the owner, in a child. Ignore the signals that a
 * terminal or a service manager sends to all processes: the owner handles them, and needs its
 * helpers after that.
 */
void helper_reset_signals(void);

static inline bool helper_is_running(const struct helper *h)
{
	return h->socket >= 0;
}

/*
 * Return whether there is no child and none can be started now, because too many killed ones have
 * not ended.
 */
static inline bool helper_is_exhausted(const struct helper *h)
{
	return h->socket < 0 && h->killed.count == HELPER_LINGER_MAX;
}

/* Add the cost of all children so far, the killed ones included, to *out. */
void helper_add_cost(struct helper *h, struct helper_cost *out);

/* Return the CPU time (ns) that a process, also a zombie, has used; 0 if the process is gone. */
uint64_t process_cpu_time(pid_t pid);
/* Return the largest resident size of a process so far, in bytes; 0 if the process is gone. */
uint64_t process_peak_memory(pid_t pid);

#endif
