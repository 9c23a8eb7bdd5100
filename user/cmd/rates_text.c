// SPDX-License-Identifier: Apache-2.0
/* Show the rates of a profile (rates_text.h). */
#include "cmd/rates_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyze/subject.h"
#include "base/json.h"
#include "base/text.h"
#include "base/units.h"

char *rates_show(const struct profile *p, uint32_t event, char *buf, size_t size)
{
	const uint64_t asked = event < p->count.events ? p->events[event].frequency : 0;
	struct sampled_rates rates;
	uint64_t high, low;

	rates_of_event(&rates, p, event);
	high = rates.count ? rates.list[0].frequency : asked;
	low = rates.count ? rates.list[rates.count - 1].frequency : asked;
	*buf = '\0';
	if (high && low && high != low)
		snprintf(buf, size, "%" PRIu64 " to %" PRIu64 " Hz", high, low);
	else if (high && low)
		snprintf(buf, size, "%" PRIu64 " Hz", high);
	return buf;
}

/* Append why rates changed, as far as the trace has it. */
static void append_budgets(char *text, size_t size, size_t used, const struct profile *p)
{
	const char *cpu = profile_info(p, INFO_CPU_BUDGET);
	const char *memory = profile_info(p, INFO_MEMORY_BUDGET);

	if (!cpu && !memory)
		return;
	used = text_append(text, size, used, ": ");
	if (cpu)
		used = text_append(text, size, used, "the CPU budget of %.32s%s", cpu,
				   memory ? " or " : "");
	if (memory)
		used = text_append(text, size, used, "the memory budget of %.32s", memory);
	text_append(text, size, used, " was reached");
}

/* The service has forgotten names, to find them again, or replaced a helper process. */
static void put_memory_budget(const struct report *r, const struct screen *s)
{
	const char *budget = profile_info(r->profile, INFO_MEMORY_BUDGET);
	char text[128];

	if (!budget)
		return;
	snprintf(text, sizeof(text), "the budget of %.32s was reached: names may be missing",
		 budget);
	screen_put_paragraph(s, "Memory", STYLE_PLAIN, text);
}

void report_put_rates(const struct report *r, const struct screen *s)
{
	struct sampled_rates rates;
	char text[512], time[32];
	size_t used;

	put_memory_budget(r, s);
	rates_of_event(&rates, r->profile, r->event_index);
	if (rates.count < 2 || strcmp(r->event->unit, "ns"))
		return;
	used = (size_t)snprintf(text, sizeof(text), "sampled");
	for (unsigned int i = 0; i < rates.count; i++)
		used = text_append(
			text, sizeof(text), used, "%s at %" PRIu64 " Hz for %s", i ? "," : "",
			rates.list[i].frequency,
			show_duration(rates.list[i].time / rates.cpus, time, sizeof(time)));
	append_budgets(text, sizeof(text), used, r->profile);
	screen_put_paragraph(s, "Rates", STYLE_PLAIN, text);
}

void report_json_put_rates(struct json *j, const struct report *r)
{
	struct sampled_rates rates;

	rates_of_event(&rates, r->profile, r->event_index);
	if (profile_info(r->profile, INFO_MEMORY_BUDGET))
		json_key_text(j, "memory_budget", profile_info(r->profile, INFO_MEMORY_BUDGET));
	json_key(j, "rates");
	json_array(j);
	for (unsigned int i = 0; i < rates.count; i++) {
		json_object(j);
		json_key_uint(j, "frequency", rates.list[i].frequency);
		json_key_uint(j, "period", rates.list[i].period);
		json_key_uint(j, "due", rates.list[i].due);
		json_object_end(j);
	}
	json_array_end(j);
}
