// SPDX-License-Identifier: Apache-2.0
/*
 * Has a live capture take less memory, when the user of the capture wants that. Recording goes on
 * meanwhile: what is forgotten is found again, by requests that the worker answers once more.
 */
#include <malloc.h>

#include "base/fork_server.h"
#include "capture/live.h"

_Static_assert(2 * SYMBOLIZER_WORKERS_MAX + 3 <= CAPTURE_HELPERS_MAX, "room for all helpers");

static unsigned int find_helpers(struct live *l, pid_t out[static CAPTURE_HELPERS_MAX])
{
	unsigned int count = symbolizer_pids(l->helpers.symbolizer, out);

	if (l->helpers.pager)
		count += symbolizer_pids(pager_symbolizer(l->helpers.pager), out + count);
	count += opener_pids(l->helpers.opener, out + count);
	if (fork_server_pid(l->helpers.forks) > 0)
		out[count++] = fork_server_pid(l->helpers.forks);
	return count;
}

int live_relieve_memory(struct live *l, struct error *err)
{
	const struct capture_memory *m = &l->options.memory;
	pid_t helpers[CAPTURE_HELPERS_MAX];
	struct capture_relief wanted;
	int ret = 0;

	if (!m->relieve)
		return 0;
	wanted = m->relieve(l->options.context, helpers, find_helpers(l, helpers));
	if (wanted.replace && !symbolizer_replace_worker(l->helpers.symbolizer, wanted.replace) &&
	    l->helpers.pager)
		symbolizer_replace_worker(pager_symbolizer(l->helpers.pager), wanted.replace);
	if (wanted.forget) {
		ret = live_forget(l, clock_boot_ns(), err);
		order_tidy(l->rings.order);
		malloc_trim(0);
	}
	return ret;
}
