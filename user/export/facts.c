// SPDX-License-Identifier: Apache-2.0
/* Describe the origin and the losses of a trace in words. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "export/facts.h"

char *facts_origin(const struct timeline *t, char *buf)
{
	const struct host *h = &t->profile->host;
	time_t start = (time_t)((int64_t)(h->start + (uint64_t)h->realtime_offset) / 1000000000);
	struct tm when;
	size_t used =
		(size_t)snprintf(buf, FACTS_SIZE, "%.64s, Linux %.64s %.64s, ",
				 *h->hostname ? h->hostname : "unknown host", h->kernel, h->arch);

	if (gmtime_r(&start, &when))
		strftime(buf + used, FACTS_SIZE - used, "%Y-%m-%d %H:%M:%S UTC", &when);
	return buf;
}

char *facts_losses(const struct timeline *t, char *buf)
{
	uint64_t by_reason[LOSS_COUNT] = {0};
	size_t used = 0;

	for (size_t i = 0; i < t->losses.count; i++) {
		const struct loss *l = &t->losses.items[i];

		by_reason[l->reason < LOSS_COUNT ? l->reason : LOSS_NONE] += l->count;
	}
	*buf = '\0';
	for (int reason = 0; reason < LOSS_COUNT && used < FACTS_SIZE; reason++)
		if (by_reason[reason])
			used = text_append(buf, FACTS_SIZE, used, "%s%" PRIu64 " %s",
					   used ? ", " : "lost: ", by_reason[reason],
					   reason ? loss_reason_word((uint64_t)reason) : "unknown");
	return buf;
}
