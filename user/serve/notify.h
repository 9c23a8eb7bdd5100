/* SPDX-License-Identifier: Apache-2.0 */
/* Messages to systemd about a service's state, by the protocol of sd_notify(3). */
#ifndef SKEIN_SERVE_NOTIFY_H
#define SKEIN_SERVE_NOTIFY_H

#include <stdint.h>

struct notifier {
	int socket; /* -1: the program was not started by systemd, or not with Type=notify */
	uint64_t
		watchdog; /* ns between two messages that the service is alive; 0: none is wanted */
	uint64_t alive; /* time of the last one, ns */
};

/*
 * Set up from $NOTIFY_SOCKET and $WATCHDOG_USEC, and remove these, so that children do not have
 * them. Without a usable socket, the functions below do nothing.
 */
void notifier_open(struct notifier *n);
/* Send lines such as "READY=1\nSTATUS=recording". A message that cannot be sent is left out. */
void notifier_send(const struct notifier *n, const char *lines);
/* Send that the service is alive at now, ns, if it is time. Call this from the main loop only. */
void notifier_alive(struct notifier *n, uint64_t now);
void notifier_close(struct notifier *n);

#endif
