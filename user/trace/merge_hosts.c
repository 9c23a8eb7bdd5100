// SPDX-License-Identifier: Apache-2.0
/* Unify the hosts of several traces, and their clocks. */
#include "trace/merge_hosts.h"

#include <errno.h>
#include <string.h>

static int copy_host_text(struct merge_hosts *hosts, const char **text)
{
	const char *from = *text ? *text : "";

	*text = names_keep(&hosts->texts, from, strlen(from));
	return *text ? 0 : -ENOMEM;
}

int merge_hosts_add(struct merge_hosts *hosts, struct source_hosts *sources, const struct host *h)
{
	struct source_host copied = {.host = *h};

	if (copy_host_text(hosts, &copied.host.hostname) < 0 ||
	    copy_host_text(hosts, &copied.host.machine_id) < 0 ||
	    copy_host_text(hosts, &copied.host.boot_id) < 0 ||
	    copy_host_text(hosts, &copied.host.kernel) < 0 ||
	    copy_host_text(hosts, &copied.host.arch) < 0)
		return -ENOMEM;
	return vector_push(&sources->list, copied);
}

/* Return whether two hosts are the same boot of a machine. A boot without ids equals no other. */
static bool same_boot(const struct host *a, const struct host *b)
{
	return *a->machine_id && *a->boot_id && !strcmp(a->machine_id, b->machine_id) &&
	       !strcmp(a->boot_id, b->boot_id);
}

/*
 * Return the ns to add to the stamps of a trace to get UTC. Traces of one boot share one clock, but
 * each has measured the offset anew, so the offset in the first of these traces is used. This holds
 * only for traces of one host: a merged trace of several hosts may have another machine's clock.
 */
static int64_t utc_offset(struct source_hosts *const *sources, size_t which)
{
	const struct source_hosts *t = sources[which];

	if (!t->list.count)
		return 0;
	for (size_t i = 0; i < which; i++)
		if (t->list.count == 1 && sources[i]->list.count == 1 &&
		    same_boot(&t->list.items[0].host, &sources[i]->list.items[0].host))
			return sources[i]->list.items[0].host.realtime_offset;
	return t->list.items[0].host.realtime_offset;
}

/*
 * Set the shift of every trace that converts its stamps to the clock of the machine that booted
 * first. No shift is below 0, so no stamp becomes negative.
 */
static void find_clock_shifts(struct source_hosts *const *sources, struct merge_map *const *maps,
			      size_t count)
{
	int64_t earliest = INT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (sources[i]->list.count && utc_offset(sources, i) < earliest)
			earliest = utc_offset(sources, i);
	for (size_t i = 0; i < count; i++)
		maps[i]->shift = sources[i]->list.count
					 ? (uint64_t)utc_offset(sources, i) - (uint64_t)earliest
					 : 0;
}

static struct host shifted_host(const struct host *h, uint64_t shift)
{
	struct host fresh = *h;

	fresh.start += shift;
	fresh.end += h->end ? shift : 0;
	fresh.realtime_offset = (int64_t)((uint64_t)h->realtime_offset - shift);
	fresh.monotonic_offset = (int64_t)((uint64_t)h->monotonic_offset - shift);
	return fresh;
}

/* Extend a host by another recording of the same host; it has an end only if both have an end. */
static void extend_host(struct host *to, const struct host *h)
{
	if (h->start < to->start) {
		to->start = h->start;
		to->realtime_offset = h->realtime_offset;
		to->monotonic_offset = h->monotonic_offset;
	}
	to->end = !to->end || !h->end ? 0 : h->end > to->end ? h->end : to->end;
	to->cpus = h->cpus > to->cpus ? h->cpus : to->cpus;
	to->memory = h->memory > to->memory ? h->memory : to->memory;
}

/*
 * Set *out to the index of the unified host for a host: of the same boot, whose recording is
 * extended, or else a new one. Return 0 or -ENOMEM.
 */
static int unify_host(struct merge_hosts *hosts, struct host h, size_t *out)
{
	size_t i = 0;

	while (i < hosts->list.count && !same_boot(&hosts->list.items[i], &h))
		i++;
	*out = i;
	if (i < hosts->list.count) {
		extend_host(&hosts->list.items[i], &h);
		return 0;
	}
	h.id = i; /* old index, used by sort_hosts() */
	return vector_push(&hosts->list, h);
}

static int compare_host_starts(const void *a, const void *b)
{
	const struct host *x = a, *y = b;

	return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
				    : (x->id > y->id) - (x->id < y->id);
}

/* Sort the hosts by start; (*where)[old index] becomes the new index. */
static int sort_hosts(struct merge_hosts *hosts, size_t **where)
{
	size_t count = hosts->list.count;

	*where = calloc(count + 1, sizeof(**where));
	if (!*where)
		return -ENOMEM;
	if (count)
		qsort(hosts->list.items, count, sizeof(struct host), compare_host_starts);
	for (size_t i = 0; i < count; i++) {
		(*where)[hosts->list.items[i].id] = i;
		hosts->list.items[i].id = i + 1;
	}
	return 0;
}

int merge_hosts_unify(struct merge_hosts *hosts, struct source_hosts *const *sources,
		      struct merge_map *const *maps, size_t count)
{
	size_t *where = NULL;
	int ret = 0;

	find_clock_shifts(sources, maps, count);
	for (size_t i = 0; i < count && !ret; i++)
		for (size_t h = 0; h < sources[i]->list.count && !ret; h++) {
			struct source_host *t = &sources[i]->list.items[h];

			ret = unify_host(hosts, shifted_host(&t->host, maps[i]->shift),
					 &t->unified);
		}
	if (!ret)
		ret = sort_hosts(hosts, &where);
	for (size_t i = 0; i < count && !ret; i++)
		for (size_t h = 0; h < sources[i]->list.count && !ret; h++) {
			struct source_host *t = &sources[i]->list.items[h];

			t->unified = where[t->unified];
			ret = merge_ids_set(maps[i], KIND_HOST, t->host.id,
					    (uint32_t)t->unified + 1);
		}
	free(where);
	return ret;
}

/*
 * Return the end of a recording, or its start if it has no end because the recorder was killed.
 */
static uint64_t host_end(const struct host *h)
{
	return h->end > h->start ? h->end : h->start;
}

bool merge_hosts_overlap(const struct source_hosts *a, const struct source_hosts *b)
{
	for (size_t i = 0; i < a->list.count; i++)
		for (size_t j = 0; j < b->list.count; j++) {
			const struct host *x = &a->list.items[i].host, *y = &b->list.items[j].host;

			if (a->list.items[i].unified == b->list.items[j].unified &&
			    x->start <= host_end(y) && y->start <= host_end(x))
				return true;
		}
	return false;
}

void merge_hosts_free(struct merge_hosts *hosts)
{
	names_free(&hosts->texts);
	vector_free(&hosts->list);
}
