// SPDX-License-Identifier: Apache-2.0
/* Join traces of several machines or recordings, so that views show them as one. */
#include "analyze/profile_hosts.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/*
 * Join the different values of a text field of all hosts: "web-1, web-2". A long list is cut, since
 * users need only a few of the values.
 */
static int join_host_texts(const struct profile *p, struct names *texts, const struct field *f,
			   struct host *all)
{
	char text[256];
	size_t used = 0;

	for (uint32_t i = 0; i < p->count.hosts && used < sizeof(text); i++) {
		const char *one = field_text(f, &p->hosts[i]);
		bool seen = !one[0];

		for (uint32_t k = 0; k < i && !seen; k++)
			seen = !strcmp(one, field_text(f, &p->hosts[k]));
		if (!seen)
			used = text_append(text, sizeof(text), used, "%s%s", used ? ", " : "", one);
	}
	*(const char **)((char *)all + f->offset) = names_keep(texts, text, strlen(text));
	return field_text(f, all) ? 0 : -ENOMEM;
}

int profile_join_hosts(struct profile *p, struct names *texts)
{
	struct host all;
	int ret = 0;

	if (!p->count.hosts)
		return 0;
	all = p->hosts[0];
	for (uint32_t i = 1; i < p->count.hosts; i++) {
		const struct host *h = &p->hosts[i];

		all.end = !all.end || !h->end ? 0 : h->end > all.end ? h->end : all.end;
		all.cpus += h->cpus;
		all.memory += h->memory;
	}
	for (unsigned int i = 0; i < kinds[KIND_HOST].field_count && !ret; i++)
		if (kinds[KIND_HOST].fields[i].type == FIELD_TEXT && p->count.hosts > 1)
			ret = join_host_texts(p, texts, &kinds[KIND_HOST].fields[i], &all);
	p->host = all;
	return ret;
}

uint32_t profile_event_like(const struct profile *p, uint32_t event)
{
	for (uint32_t i = 0; i < event; i++)
		if (!strcmp(p->events[i].name, p->events[event].name) &&
		    !strcmp(p->events[i].unit, p->events[event].unit))
			return i;
	return event;
}

void profile_join_events(struct profile *p)
{
	for (uint32_t i = 1; i < p->count.events; i++) {
		uint32_t like = profile_event_like(p, i);

		if (like == i)
			continue;
		for (uint32_t k = 0; k < p->count.sums; k++)
			if (p->sums[k].event == i)
				p->sums[k].event = like;
		for (uint32_t k = 0; k < p->count.losses; k++)
			if (p->losses[k].event == p->events[i].id)
				p->losses[k].event = p->events[like].id;
	}
}

const struct host *profile_host_of(const struct profile *p, const struct process *process)
{
	for (uint32_t i = 0; i < p->count.hosts && p->count.hosts > 1; i++)
		if (p->hosts[i].id == process->host)
			return &p->hosts[i];
	return NULL;
}
