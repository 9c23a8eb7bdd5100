/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core's side of the network process, which answers clients over HTTP. That process has no
 * capabilities and can open no files; it gets descriptors of complete windows and of sessions, for
 * reading, and texts. If it dies, it is replaced, and its sessions end.
 */
#ifndef SKEIN_SERVE_NETWORK_H
#define SKEIN_SERVE_NETWORK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "serve/on_demand.h"

struct network_options {
	int listener; /* a listening socket, which stays the caller's */
	const char *token; /* that requests must have (RFC 6750); NULL: none */
	bool any_host; /* a Host of another machine is accepted */
	const char *folder; /* of windows */
	struct on_demand *demand;
	/* Write the core's part of the metrics. */
	void (*write_metrics)(void *context, FILE *out, bool open_metrics);
	/* Write a line for each window and flight: name, begin, end, bytes. */
	void (*write_windows)(void *context, FILE *out);
	/* Have the flight recorder write a trace. Return 0 or a negative errno (ASK_FLIGHT). */
	int (*trigger)(void *context, const char *reason);
	void *context;
};

struct network;

/*
 * Start the network process. The strings must outlive it. Return 0 or a negative errno; free it
 * with network_close().
 */
int network_open(struct network **out, const struct network_options *o, struct error *err);
void network_close(struct network *n); /* NULL is allowed */

/* Return a descriptor that is readable when there is something to do for network_poll(). */
int network_fd(const struct network *n);
/*
 * Answer what was asked, at the time now, ns. recording: whether windows are being written. Return
 * 0, or a negative errno if no network process can be started any more.
 */
int network_poll(struct network *n, uint64_t now, bool recording, struct error *err);

/* Return the CPU time of the network processes and the process that forks them, so far, ns. */
uint64_t network_cpu(struct network *n);
#define NETWORK_PROCESSES 2
/* Store the pids of those two, and return how many there are now: none if n is NULL. */
unsigned int network_pids(const struct network *n, pid_t out[NETWORK_PROCESSES]);

#endif
