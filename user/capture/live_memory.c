// SPDX-License-Identifier: Apache-2.0
/*
 * Has a live capture take less memory, when the user of the capture wants that. Recording goes on
 * meanwhile: what is forgotten is found again, by requests that the worker answers once more.
 */
#include <malloc.h>

#include "base/fork_server.h"
#include "capture/live.h"

_Static_assert(2 * SYMBOLIZER_WORKERS_MAX + 3 <= CAPTURE_HELPERS_MAX, "room for all helpers");

static unsigned int add_helpers(struct capture_helper *to, const pid_t *pids, unsigned int count,
				bool keep_names)
{
	for (unsigned int i = 0; i < count; i++)
		to[i] = (struct capture_helper){pids[i], keep_names};
	return count;
}

static unsigned int find_helpers(struct live *l, struct capture_helper out[CAPTURE_HELPERS_MAX])
{
	pid_t pids[CAPTURE_HELPERS_MAX];
	unsigned int count =
		add_helpers(out, pids, symbolizer_pids(l->helpers.symbolizer, pids), true);

	if (l->helpers.pager)
		count += add_helpers(out + count, pids,
				     symbolizer_pids(pager_symbolizer(l->helpers.pager), pids),
				     false);
	count += add_helpers(out + count, pids, opener_pids(l->helpers.opener, pids), false);
	pids[0] = fork_server_pid(l->helpers.forks);
	return count + add_helpers(out + count, pids, pids[0] > 0, false);
}

static void limit_names(struct live *l, const struct capture_helper *helpers,
			const struct capture_relief *wanted)
{
	for (unsigned int i = 0; i < CAPTURE_HELPERS_MAX; i++)
		if (wanted->keep[i])
			symbolizer_limit_worker(l->helpers.symbolizer, helpers[i].pid,
						wanted->keep[i]);
}

int live_relieve_memory(struct live *l, struct error *err)
{
	const struct capture_memory *m = &l->options.memory;
	struct capture_helper helpers[CAPTURE_HELPERS_MAX];
	struct capture_relief wanted;
	int ret = 0;

	if (!m->relieve)
		return 0;
	wanted = m->relieve(l->options.context, helpers, find_helpers(l, helpers));
	limit_names(l, helpers, &wanted);
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
