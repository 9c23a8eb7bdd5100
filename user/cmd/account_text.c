// SPDX-License-Identifier: Apache-2.0
/* Format the account of all due samples as a sum (account_text.h). */
#include "cmd/account_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "base/units.h"

char *account_show(const struct account_terms *t, char *buf, size_t size)
{
	const struct {
		uint64_t count;
		const char *word;
		int always;
	} terms[] = {
		{t->written, "written", 1}, {t->idle, "idle", 0}, {t->filtered, "filtered", 0},
		{t->stolen, "stolen", 0},   {t->lost, "lost", 1}, {t->cut_off, "cut off", 0},
	};
	const char *sign = "=";
	char count[32];
	size_t used = (size_t)snprintf(buf, size, "%s samples due",
				       show_count(t->due, count, sizeof(count)));

	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms) && used < size; i++) {
		if (!terms[i].count && !terms[i].always)
			continue;
		used = text_append(buf, size, used, " %s %s %s", sign,
				   show_count(terms[i].count, count, sizeof(count)), terms[i].word);
		sign = "+";
	}
	if (t->unexplained && used < size)
		snprintf(buf + used, size - used, " + %" PRId64 " unexplained", t->unexplained);
	return buf;
}

uint64_t account_running(const struct account_terms *t)
{
	return t->written + t->filtered + t->lost;
}

bool account_loss_matters(const struct account_terms *t, uint64_t lost)
{
	return lost >= 2 && lost >= account_running(t) / 100;
}

char *account_show_error(const struct account_terms *t, char *buf, size_t size)
{
	char share[32];

	*buf = '\0';
	if (t->lost)
		snprintf(buf, size, "%s of the samples are lost: no share is off by more",
			 show_percent(t->lost, account_running(t), share, sizeof(share)));
	return buf;
}
