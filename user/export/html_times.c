// SPDX-License-Identifier: Apache-2.0
/* Write when the samples of a page were taken (html_page.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "export/gzip.h"
#include "export/html_columns.h"
#include "export/html_page.h"
#include "export/html_samples.h"

/* Of each sample its time after the one before, what it is a sample of, its count and weight. */
struct html_times {
	const struct html_side *side;
	struct index events, threads; /* index in the profile by id */
	struct names keys; /* different things that are samples, as struct html_sum without sums */
	struct html_column times, numbers, counts, weights;
};

static int begin_html_times(struct html_times *t)
{
	const struct profile *p = t->side->profile;
	int ret = 0;

	for (uint32_t i = 0; i < p->count.events && !ret; i++)
		ret = index_put(&t->events, p->events[i].id, i);
	for (uint32_t i = 0; i < p->count.threads && !ret; i++)
		ret = index_put(&t->threads, p->threads[i].t.id, i);
	return ret;
}

/* Add a sample. Return 0 or a negative errno: -ENOENT if the page has no node or event for it. */
static int add_html_time(struct html_times *t, const struct html_sample *s)
{
	const struct profile *p = t->side->profile;
	uint32_t stack = profile_stack_by_id(p, s->stack), number;
	uint32_t event = index_get(&t->events, s->event);
	uint32_t thread = s->thread ? index_get(&t->threads, s->thread) : INDEX_NONE;
	uint64_t key[] = {t->side->node_of[stack == PROFILE_NONE ? p->count.stacks : stack],
			  thread == INDEX_NONE ? p->count.threads : thread, event, s->wait,
			  s->flags};

	if (key[0] == INDEX_NONE || event == INDEX_NONE)
		return -ENOENT;
	if (names_intern(&t->keys, key, sizeof(key), &number) < 0)
		return -ENOMEM;
	html_column_put(&t->times, s->time - t->times.last);
	t->times.last = s->time;
	html_column_put(&t->numbers, number);
	html_column_put(&t->counts, s->count);
	t->weights.last = s->count * p->events[event].period;
	html_column_delta(&t->weights, s->weight);
	return t->times.error | t->numbers.error | t->counts.error | t->weights.error;
}

/* Write what samples there are, by their numbers: five numbers each, in columns. */
static int write_html_keys(const struct html_times *t, struct json *j)
{
	static const char *const words[] = {"nodes", "threads", "events", "waits", "collecting"};
	int ret = 0;

	json_key(j, "keys");
	json_object(j);
	json_key_uint(j, "count", t->keys.texts.count);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !ret; i++) {
		struct html_column c = {0};

		for (size_t n = 0; n < t->keys.texts.count; n++) {
			uint64_t key[sizeof(words) / sizeof(*words)];

			memcpy(key, t->keys.texts.items[n], sizeof(key));
			html_column_put(&c, key[i]);
		}
		ret = html_column_end(&c, j, words[i]);
	}
	json_object_end(j);
	return ret;
}

static char *pack_html_times(const struct html_times *t)
{
	const struct html_column *all[] = {&t->times, &t->numbers, &t->counts, &t->weights};
	char *packed = NULL, *text = NULL;
	size_t size;
	FILE *to = open_memstream(&packed, &size), *out = to ? gzip_stream(to) : NULL;
	bool failed = !out;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && out; i++)
		fwrite(all[i]->bytes.items, 1, all[i]->bytes.count, out);
	failed = (out && fclose(out)) || failed;
	failed = (to && fclose(to)) || failed;
	if (!failed)
		text = html_base64((const uint8_t *)packed, size);
	free(packed);
	return text;
}

static int write_html_times(const struct html_times *t, const struct html_samples *s,
			    struct json *j, char **columns)
{
	int ret;

	*columns = pack_html_times(t);
	if (!*columns)
		return -ENOMEM;
	json_key(j, "samples");
	json_object(j);
	json_key_uint(j, "slot", s->slot);
	json_key_uint(j, "count", s->list.count);
	json_key_uint(j, "size",
		      t->times.bytes.count + t->numbers.bytes.count + t->counts.bytes.count +
			      t->weights.bytes.count);
	ret = write_html_keys(t, j);
	json_object_end(j);
	return ret;
}

void html_write_times(struct html_page *p, const struct html_side *side,
		      const struct html_samples *s, char **columns)
{
	struct html_times t = {.side = side};
	int ret = begin_html_times(&t);

	for (size_t i = 0; i < s->list.count && !ret; i++)
		ret = add_html_time(&t, &s->list.items[i]);
	if (!ret)
		ret = write_html_times(&t, s, &p->json, columns);
	html_fail(p, ret == -ENOENT ? 0 : ret);
	index_free(&t.events);
	index_free(&t.threads);
	names_free(&t.keys);
	vector_free(&t.times.bytes);
	vector_free(&t.numbers.bytes);
	vector_free(&t.counts.bytes);
	vector_free(&t.weights.bytes);
}
