// SPDX-License-Identifier: Apache-2.0
/* Send and receive messages: one packet each, with at most one descriptor. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/helper.h"
#include "symbolizers/protocol.h"

union control {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

/* Send the parts of a message; control: NULL without a descriptor. */
static int send_parts(int socket, struct iovec parts[2], union control *control, int flags)
{
	const struct msghdr packet = {
		.msg_iov = parts,
		.msg_iovlen = 2,
		.msg_control = control,
		.msg_controllen = control ? sizeof(*control) : 0,
	};
	ssize_t sent;

	do
		sent = sendmsg(socket, &packet, flags | MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

int message_send(int socket, const struct message *m, const void *payload, size_t size)
{
	struct iovec parts[2] = {{(void *)m, sizeof(*m)}, {(void *)payload, size}};

	return send_parts(socket, parts, NULL, 0);
}

int message_send_now(int socket, const struct message *m, const void *payload, size_t size, int fd)
{
	struct iovec parts[2] = {{(void *)m, sizeof(*m)}, {(void *)payload, size}};
	union control control = {.header = {.cmsg_len = CMSG_LEN(sizeof(int)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS}};

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	return send_parts(socket, parts, fd >= 0 ? &control : NULL, MSG_DONTWAIT);
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
	fd = helper_received_fd(&packet);
	if (got == 0 || (size_t)got < sizeof(*m) || (packet.msg_flags & MSG_TRUNC)) {
		if (fd >= 0)
			close(fd);
		return got == 0 ? -EPIPE : -EBADMSG;
	}
	*out_fd = fd;
	return (int)((size_t)got - sizeof(*m));
}
