// SPDX-License-Identifier: Apache-2.0
/* Messages to systemd, by the protocol of sd_notify(3): datagrams of lines. */
#include "serve/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NSEC_PER_USEC 1000ULL

/* Connect to a socket: a path, or "@" and an abstract name. Return its descriptor, or -1. */
static int connect_notifier(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t length = strlen(name);
	int fd;

	if ((name[0] != '/' && name[0] != '@') || length >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, name, length);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address,
			       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

void notifier_open(struct notifier *n)
{
	const char *name = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC");
	const char *pid = getenv("WATCHDOG_PID");

	*n = (struct notifier){.socket = name ? connect_notifier(name) : -1};
	/* systemd wants at least one message in that time; two are sent. */
	if (usec && (!pid || strtol(pid, NULL, 10) == getpid()))
		n->watchdog = strtoull(usec, NULL, 10) * NSEC_PER_USEC / 2;
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notifier_send(const struct notifier *n, const char *lines)
{
	if (n->socket >= 0)
		(void)!send(n->socket, lines, strlen(lines), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void notifier_alive(struct notifier *n, uint64_t now)
{
	if (!n->watchdog || now < n->alive + n->watchdog)
		return;
	n->alive = now;
	notifier_send(n, "WATCHDOG=1");
}

void notifier_close(struct notifier *n)
{
	if (n->socket >= 0)
		close(n->socket);
	n->socket = -1;
}
