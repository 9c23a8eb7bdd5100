// SPDX-License-Identifier: Apache-2.0
/* How long connections may stay open (connections.h). */
#include "http/connections.h"

#include <limits.h>
#include <stddef.h>
#include <sys/socket.h>
#include <time.h>

static uint64_t monotonic_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void shut_connection(struct http_connections *all, struct http_connection *c)
{
	shutdown(c->fd, SHUT_RDWR);
	c->shut = true;
	atomic_fetch_add(&all->shut, 1);
}

static void shut_surplus(struct http_connections *all)
{
	struct http_connection *oldest = NULL;
	unsigned int open = 0;

	for (size_t i = 0; i < HTTP_CONNECTIONS_SLOTS; i++) {
		struct http_connection *c = &all->slots[i];

		if (!c->used || c->shut)
			continue;
		open++;
		if (c->phase == HTTP_WAITING && (!oldest || c->since < oldest->since))
			oldest = c;
	}
	if (open > HTTP_CONNECTIONS_MAX && oldest)
		shut_connection(all, oldest);
}

struct http_connection *http_connection_open(struct http_connections *all, int fd)
{
	for (size_t i = 0; i < HTTP_CONNECTIONS_SLOTS; i++) {
		struct http_connection *c = &all->slots[i];

		if (c->used)
			continue;
		*c = (struct http_connection){.used = true, .fd = fd};
		http_connection_begin(all, c, HTTP_WAITING);
		shut_surplus(all);
		return c;
	}
	shutdown(fd, SHUT_RDWR);
	atomic_fetch_add(&all->shut, 1);
	return NULL;
}

void http_connection_begin(struct http_connections *all, struct http_connection *c,
			   enum http_phase phase)
{
	c->phase = phase;
	c->since = all->phases++;
	c->ends = UINT64_MAX;
	if (phase != HTTP_BUSY)
		c->ends = monotonic_ms() + (phase == HTTP_WAITING ? all->header_ms : HTTP_SEND_MS);
}

void http_connection_close(struct http_connection *c)
{
	if (c)
		c->used = false;
}

int http_connections_close_late(struct http_connections *all)
{
	uint64_t now = monotonic_ms(), next = UINT64_MAX;

	for (size_t i = 0; i < HTTP_CONNECTIONS_SLOTS; i++) {
		struct http_connection *c = &all->slots[i];

		if (!c->used || c->shut)
			continue;
		if (c->ends <= now)
			shut_connection(all, c);
		else if (c->ends < next)
			next = c->ends;
	}
	if (next == UINT64_MAX)
		return -1;
	return next - now > INT_MAX ? INT_MAX : (int)(next - now);
}
