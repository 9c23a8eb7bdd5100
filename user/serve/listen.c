// SPDX-License-Identifier: Apache-2.0
/* The socket on which the service is asked over HTTP (listen.h). */
#include "serve/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNIX_PREFIX "unix:"
#define INHERITED_FIRST 3 /* SD_LISTEN_FDS_START */

/* Return whether only this machine can connect to an address. */
static bool is_local(const struct listen_address *a)
{
	if (a->at.any.sa_family == AF_INET)
		return ntohl(a->at.v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	if (a->at.any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&a->at.v6.sin6_addr);
	return a->at.any.sa_family == AF_UNIX;
}

/* Parse HOST:PORT, divided at the last colon; a number alone is a port. Return whether it fits. */
static bool parse_host_and_port(const char *text, struct listen_address *a)
{
	const char *colon = strrchr(text, ':'), *port = colon ? colon + 1 : text;
	char host[INET6_ADDRSTRLEN + 2] = "127.0.0.1", *end;
	unsigned long number = strtoul(port, &end, 10);
	size_t length = colon ? (size_t)(colon - text) : 0;

	if (*port < '0' || *port > '9' || *end || number > 65535 || length >= sizeof(host))
		return false;
	if (colon)
		snprintf(host, sizeof(host), "%.*s", (int)length, text);
	if (host[0] == '[' && length && host[length - 1] == ']') {
		host[length - 1] = '\0';
		a->at.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6,
						 .sin6_port = htons((uint16_t)number)};
		a->size = sizeof(a->at.v6);
		return inet_pton(AF_INET6, host + 1, &a->at.v6.sin6_addr) == 1;
	}
	a->at.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)number)};
	a->size = sizeof(a->at.v4);
	return inet_pton(AF_INET, host, &a->at.v4.sin_addr) == 1;
}

static bool parse_socket_path(const char *path, struct listen_address *a)
{
	if (path[0] != '/' || strlen(path) >= sizeof(a->at.path.sun_path))
		return false;
	a->at.path = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(a->at.path.sun_path, sizeof(a->at.path.sun_path), "%s", path);
	a->size = sizeof(a->at.path);
	return true;
}

int listen_parse(struct listen_address *out, const char *text, struct error *err)
{
	struct listen_address a = {.text = text};
	bool fits = !strcmp(text, "none");

	if (!strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX)))
		fits = parse_socket_path(text + strlen(UNIX_PREFIX), &a);
	else if (!fits)
		fits = parse_host_and_port(text, &a);
	if (!fits)
		return error_set(err, -EINVAL,
				 "'%s' is no address: " LISTEN_DEFAULT
				 ", [::1]:7117, a port, unix:/PATH or none is expected",
				 text);
	a.local = is_local(&a);
	*out = a;
	return 0;
}

/* Return whether a socket has that path and nobody listens on it. */
static bool is_abandoned(const struct sockaddr_un *address)
{
	struct stat st;
	int fd, ret;

	if (lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	ret = connect(fd, (const struct sockaddr *)address, sizeof(*address));
	ret = ret < 0 ? errno : 0;
	close(fd);
	return ret == ECONNREFUSED;
}

static int bind_address(int fd, const struct listen_address *a)
{
	const bool path = a->at.any.sa_family == AF_UNIX;
	mode_t before;
	int on = 1, ret = 0;

	if (path && is_abandoned(&a->at.path))
		unlink(a->at.path.sun_path);
	if (!path && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0)
		return -errno;
	before = umask(0117);
	if (bind(fd, &a->at.any, a->size) < 0)
		ret = -errno;
	umask(before);
	return ret;
}

int listen_open(const struct listen_address *a, struct error *err)
{
	int fd = socket(a->at.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int ret = fd < 0 ? -errno : bind_address(fd, a);

	if (!ret && listen(fd, SOMAXCONN) < 0)
		ret = -errno;
	if (!ret)
		return fd;
	if (fd >= 0)
		close(fd);
	error_errno(err, ret, "cannot listen on %s", a->text);
	if (ret == -EADDRINUSE)
		error_hint(err, "choose another address with --listen, or --listen none");
	return ret;
}

int listen_address_of(struct listen_address *out, int fd)
{
	struct listen_address a = {.size = sizeof(a.at)};

	if (getsockname(fd, &a.at.any, &a.size) < 0)
		return -errno;
	a.local = is_local(&a);
	*out = a;
	return 0;
}

char *listen_show(const struct listen_address *a, char *buf, size_t size)
{
	char host[INET6_ADDRSTRLEN] = "";

	switch (a->at.any.sa_family) {
	case AF_UNIX:
		snprintf(buf, size, UNIX_PREFIX "%s", a->at.path.sun_path);
		break;
	case AF_INET:
		inet_ntop(AF_INET, &a->at.v4.sin_addr, host, sizeof(host));
		snprintf(buf, size, "%s:%u", host, ntohs(a->at.v4.sin_port));
		break;
	case AF_INET6:
		inet_ntop(AF_INET6, &a->at.v6.sin6_addr, host, sizeof(host));
		snprintf(buf, size, "[%s]:%u", host, ntohs(a->at.v6.sin6_port));
		break;
	default:
		snprintf(buf, size, "a socket");
	}
	return buf;
}

void listen_remove(const struct listen_address *a)
{
	if (a->at.any.sa_family == AF_UNIX)
		unlink(a->at.path.sun_path);
}

int listen_inherited(void)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	bool mine =
		pid && count && strtol(pid, NULL, 10) == getpid() && strtol(count, NULL, 10) >= 1;
	int fd = INHERITED_FIRST;

	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	if (!mine || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return -1;
	return fd;
}
