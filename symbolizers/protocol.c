// SPDX-License-Identifier: Apache-2.0
/* Send and receive messages: one packet each, with at most one descriptor. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "symbolizers/protocol.h"

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

int message_send(int socket, const struct message *m, const void *payload, size_t size, int fd,
		 int flags)
{
	union control control = {0};
	struct iovec parts[2] = {
		{.iov_base = (void *)m, .iov_len = sizeof(*m)},
		{.iov_base = (void *)payload, .iov_len = size},
	};
	struct msghdr packet = {.msg_iov = parts, .msg_iovlen = 2};
	ssize_t sent;

	if (fd >= 0) {
		packet.msg_control = &control;
		packet.msg_controllen = sizeof(control);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	}
	do
		sent = sendmsg(socket, &packet, flags | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

static int received_fd(struct msghdr *packet)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(packet);
	int fd;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS ||
	    c->cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

int message_receive(int socket, struct message *m, void *payload, int *out_fd, int flags)
{
	union control control = {0};
	struct iovec parts[2] = {
		{.iov_base = m, .iov_len = sizeof(*m)},
		{.iov_base = payload, .iov_len = PAYLOAD_MAX},
	};
	struct msghdr packet = {
		.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &packet, flags | MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	fd = received_fd(&packet);
	if (got == 0 || (size_t)got < sizeof(*m) || (packet.msg_flags & MSG_TRUNC)) {
		if (fd >= 0)
			close(fd);
		return got == 0 ? -EPIPE : -EBADMSG;
	}
	*out_fd = fd;
	return (int)((size_t)got - sizeof(*m));
}
