// SPDX-License-Identifier: Apache-2.0
/* How long the threads of each service ran and waited (service_waits.h). */
#include "serve/service_waits.h"

#include <errno.h>
#include <string.h>

int service_waits_add(struct service_waits *w, struct cpu_times *services,
		      const struct group_times *window)
{
	int ret = 0;

	for (size_t i = 0; i < window->rows.count && !ret; i++) {
		const struct group_time *r = &window->rows.items[i];
		const char *service = r->service && *r->service ? r->service : CPU_TIMES_NO_SERVICE;
		uint32_t at;

		if (r->state >= STATE_COUNT || r->wait >= WAIT_COUNT || !r->ns)
			continue;
		ret = cpu_times_find_service(services, service, &at);
		while (!ret && w->rows.count <= at)
			ret = vector_push(&w->rows, (struct service_time){.name = NULL});
		if (!ret)
			w->rows.items[at].ns[r->state][r->wait] += r->ns;
	}
	return ret;
}

int service_waits_copy(struct service_waits *to, const struct service_waits *from)
{
	*to = (struct service_waits){0};
	if (!from->rows.count)
		return 0;
	if (vector_reserve(&to->rows, from->rows.count) < 0)
		return -ENOMEM;
	memcpy(to->rows.items, from->rows.items, from->rows.count * sizeof(*to->rows.items));
	to->rows.count = from->rows.count;
	return 0;
}

void service_waits_free(struct service_waits *w)
{
	vector_free(&w->rows);
}
