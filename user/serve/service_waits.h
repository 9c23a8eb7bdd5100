/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the threads of each service ran, waited for a CPU and were blocked since the service
 * began: the sums of control groups (window_groups.h) of all windows, by service.
 */
#ifndef SKEIN_SERVE_SERVICE_WAITS_H
#define SKEIN_SERVE_SERVICE_WAITS_H

#include "analyze/group_times.h"
#include "serve/cpu_times.h"

/* Zeroed memory is empty. Rows are by the number of a service in a struct cpu_times. */
struct service_waits {
	VECTOR(struct service_time) rows; /* name and group are not set */
};

/* Add the sums of a window to those of its services. Return 0 or -ENOMEM. */
int service_waits_add(struct service_waits *w, struct cpu_times *services,
		      const struct group_times *window);
/* Set *to to a copy. Return 0 or -ENOMEM, with *to empty. */
int service_waits_copy(struct service_waits *to, const struct service_waits *from);
void service_waits_free(struct service_waits *w);

#endif
