// SPDX-License-Identifier: Apache-2.0
/* Send and receive messages: one packet each, with at most one descriptor. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/helper.h"
#include "symbolizers/protocol.h"

/* Send the parts of a message, with a descriptor unless fd is negative. */
static int send_parts(int socket, struct iovec parts[2], int fd, int flags)
{
	struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
	union helper_descriptor room;
	ssize_t sent;

	helper_attach_fd(&packet, &room, fd);
	do
		sent = sendmsg(socket, &packet, flags | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int message_send(int socket, const struct message *m, const void *payload, size_t size)
{
	struct iovec parts[2] = {{(void *)m, sizeof(*m)}, {(void *)payload, size}};

	return send_parts(socket, parts, -1, 0);
}

int message_send_now(int socket, const struct message *m, const void *payload, size_t size, int fd)
{
	struct iovec parts[2] = {{(void *)m, sizeof(*m)}, {(void *)payload, size}};

	return send_parts(socket, parts, fd, MSG_DONTWAIT);
}

int message_receive(int socket, struct message *m, void *payload, int *out_fd, int flags)
{
	union helper_descriptor room = {.room = ""};
	struct iovec parts[2] = {
		{.iov_base = m, .iov_len = sizeof(*m)},
		{.iov_base = payload, .iov_len = PAYLOAD_MAX},
	};
	struct msghdr packet = {
		.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = &room,
		.msg_controllen = sizeof(room),
	};
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &packet, flags | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	fd = helper_received_fd(&packet);
	if (got == 0 || (size_t)got < sizeof(*m) || (packet.msg_flags & MSG_TRUNC)) {
		if (fd >= 0)
			close(fd);
		return got == 0 ? -EPIPE : -EBADMSG;
	}
	*out_fd = fd;
	return (int)((size_t)got - sizeof(*m));
}
