// SPDX-License-Identifier: Apache-2.0
/* Show the recordings that ended for lack of space, from the infos in the trace. */
#include "cmd/report_ended.h"

#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "trace/trace.h"

#define ENDED_MAX 256 /* most recordings that are shown; a malicious trace may hold any number */

struct ended_recording {
	const struct host *host;
	const char *why;
	uint64_t recorded, stored; /* duration of sampling, and of the part in the trace, ns */
};

static const struct host *find_recorded_host(const struct profile *p, uint64_t id)
{
	for (uint32_t i = 0; i < p->count.hosts; i++)
		if (p->hosts[i].id == id)
			return &p->hosts[i];
	return &p->host;
}

static uint64_t recording_end(const struct profile *p, uint64_t host)
{
	for (uint32_t i = 0; i < p->count.infos; i++)
		if (p->infos[i].host == host && !strcmp(p->infos[i].key, TRACE_ENDED_AT))
			return strtoull(p->infos[i].value, NULL, 10);
	return 0;
}

/* Get the next ended recording from info *at on, and move *at after it; false if there is none. */
static bool next_ended_recording(const struct profile *p, uint32_t *at, struct ended_recording *out)
{
	for (; *at < p->count.infos; ++*at) {
		const struct info *info = &p->infos[*at];
		const struct host *h;
		uint64_t end;

		if (strcmp(info->key, TRACE_ENDED))
			continue;
		h = find_recorded_host(p, info->host);
		end = recording_end(p, info->host);
		*out = (struct ended_recording){.host = h, .why = info->value};
		out->stored = h->end > h->start ? h->end - h->start : 0;
		out->recorded = end > h->start ? end - h->start : out->stored;
		++*at;
		return true;
	}
	return false;
}

void report_put_ended(const struct report *r, const struct screen *s)
{
	struct ended_recording e;
	uint32_t at = 0;

	for (int shown = 0; shown < ENDED_MAX && next_ended_recording(r->profile, &at, &e);
	     shown++) {
		bool many = r->profile->count.hosts > 1;
		char text[512], recorded[32], stored[32];

		snprintf(text, sizeof(text),
			 "for want of space: %.128s%s%.64s; %s were recorded, %s of it is in the "
			 "trace. Record to another disk, or bound the trace by --max-size or "
			 "--keep",
			 e.why, many ? ", on " : "", many ? e.host->hostname : "",
			 show_duration(e.recorded, recorded, sizeof(recorded)),
			 show_duration(e.stored, stored, sizeof(stored)));
		screen_put_paragraph(s, "Ended", STYLE_WARM, text);
	}
}

void report_json_ended(struct json *j, const struct report *r)
{
	struct ended_recording e;
	uint32_t at = 0;

	json_key(j, "ended");
	json_array(j);
	for (int shown = 0; shown < ENDED_MAX && next_ended_recording(r->profile, &at, &e);
	     shown++) {
		json_object(j);
		json_key_uint(j, "host", e.host->id);
		json_key_text(j, "why", e.why);
		json_key_uint(j, "recorded", e.recorded);
		json_key_uint(j, "in_trace", e.stored);
		json_object_end(j);
	}
	json_array_end(j);
}
