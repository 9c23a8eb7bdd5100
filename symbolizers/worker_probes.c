// SPDX-License-Identifier: Apache-2.0
/* Send the sites of probes to the client. The worker keeps nothing of them. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbolizers/worker_probes.h"

static size_t probes_message_size(const struct message_probes *m)
{
	return offsetof(struct message_probes, found.sites) +
	       m->found.count * sizeof(m->found.sites[0]);
}

int worker_reply_probes(int socket, const struct message *request, const struct probe_wanted *w,
			const struct stamped_file *file)
{
	/* cleared, padding as well, since the struct is sent as it is */
	struct message_probes *m = calloc(1, sizeof(*m));
	int ret = -EBADF;

	if (!m)
		return -ENOMEM;
	if (file->fd >= 0)
		ret = probe_sites_find(&m->found, w, file->fd, file->heartbeat);
	if (!ret)
		ret = stamp_check(file->fd, &file->stamp);
	if (ret)
		memset(m, 0, sizeof(*m));
	m->status = ret;
	ret = message_reply(socket, request, MESSAGE_PROBE_SITES, m, probes_message_size(m));
	free(m);
	return ret;
}
