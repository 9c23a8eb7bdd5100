// SPDX-License-Identifier: Apache-2.0
/* Readings of a total (readings.h). */
#include "serve/readings.h"

#define READINGS_PER_TIME 32 /* fewer than READINGS_MAX, as rounds come late */

bool readings_add(struct readings *r, uint64_t now, uint64_t total, uint64_t percent)
{
	uint64_t i = r->count, oldest = i > READINGS_MAX ? i - READINGS_MAX : 0;
	bool above = false, was = r->above;

	if (i && now < r->list[(i - 1) % READINGS_MAX].at + r->time / READINGS_PER_TIME)
		return false;
	while (i > oldest && r->list[(i - 1) % READINGS_MAX].at + r->time > now)
		i--;
	if (i > oldest) { /* the latest reading that is old enough */
		uint64_t at = r->list[(i - 1) % READINGS_MAX].at;
		uint64_t before = r->list[(i - 1) % READINGS_MAX].total;

		above = total > before && (total - before) > (now - at) / 100 * percent;
	}
	r->list[r->count % READINGS_MAX].at = now;
	r->list[r->count++ % READINGS_MAX].total = total;
	r->above = above;
	return above && !was;
}
