// SPDX-License-Identifier: Apache-2.0
/* Add up what the threads of control groups did (group_times.h). */
#include "analyze/group_times.h"

#include <errno.h>
#include <string.h>

/* Write the key of a record into t->key. */
static int write_group_key(struct group_times *t, const struct group_time *r)
{
	const uint64_t numbers[] = {r->host, r->state, r->wait};
	const char *path = r->cgroup ? r->cgroup : "";
	size_t length = strlen(path);

	t->key.count = 0;
	if (vector_reserve(&t->key, sizeof(numbers) + length) < 0)
		return -ENOMEM;
	memcpy(t->key.items, numbers, sizeof(numbers));
	memcpy(t->key.items + sizeof(numbers), path, length);
	t->key.count = sizeof(numbers) + length;
	return 0;
}

static int copy_group_text(struct group_times *t, const char **text)
{
	uint32_t number;
	int ret = names_intern_text(&t->texts, *text ? *text : "", &number);

	if (!ret)
		*text = names_text(&t->texts, number);
	return ret;
}

int group_times_find(struct group_times *t, const struct group_time *r, uint32_t *out)
{
	struct group_time fresh = *r;
	uint32_t number;
	int ret = write_group_key(t, r);

	/* Room first: a key without a row would shift all later ones. */
	if (!ret)
		ret = vector_reserve(&t->rows, 1);
	if (!ret)
		ret = copy_group_text(t, &fresh.cgroup);
	if (!ret)
		ret = copy_group_text(t, &fresh.service);
	if (!ret)
		ret = names_intern(&t->keys, t->key.items, t->key.count, &number);
	if (ret < 0)
		return -ENOMEM;
	fresh.ns = fresh.count = 0;
	if (number == t->rows.count)
		t->rows.items[t->rows.count++] = fresh;
	*out = number;
	return 0;
}

int group_times_add(struct group_times *t, const struct group_time *r)
{
	uint32_t number;
	int ret = group_times_find(t, r, &number);

	if (ret)
		return ret;
	t->rows.items[number].ns += r->ns;
	t->rows.items[number].count += r->count;
	return 0;
}

int group_times_put(const struct group_times *t, struct sink *to, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < t->rows.count && !ret; i++)
		if (t->rows.items[i].ns || t->rows.items[i].count)
			ret = put_group_time(to, &t->rows.items[i], err);
	return ret;
}

void group_times_free(struct group_times *t)
{
	names_free(&t->keys);
	names_free(&t->texts);
	vector_free(&t->rows);
	vector_free(&t->key);
}

struct service_sink {
	struct sink sink;
	struct group_times groups;
};

static int service_sink_put(struct sink *sink, enum record_kind kind, const void *record,
			    struct error *err)
{
	struct service_sink *s = (struct service_sink *)sink;
	const struct group_time *r = record;

	if (kind != KIND_GROUP_TIME || r->state >= STATE_COUNT || r->wait >= WAIT_COUNT)
		return 0;
	return group_times_add(&s->groups, r) < 0
		       ? error_errno(err, -ENOMEM, "adding up control groups")
		       : 0;
}

/* Add a row to that of its service. by: names of services and groups -> number of the row. */
static int add_service_time(struct service_times *s, struct names *by, const struct group_time *r)
{
	const bool group = !r->service[0];
	const char *name = group ? r->cgroup : r->service;
	struct service_time fresh = {.name = name, .group = group};
	uint32_t number;
	int ret = vector_reserve(&s->rows, 1);

	if (!ret)
		ret = names_intern_text(by, name, &number);
	if (ret < 0)
		return -ENOMEM;
	if (number == s->rows.count)
		s->rows.items[s->rows.count++] = fresh;
	s->rows.items[number].ns[r->state][r->wait] += r->ns;
	s->rows.items[number].count[r->state][r->wait] += r->count;
	s->ran += r->state == STATE_RUNNING ? r->ns : 0;
	return 0;
}

static int by_service_run(const void *a, const void *b)
{
	const struct service_time *x = a, *y = b;
	const uint64_t ran[] = {x->ns[STATE_RUNNING][0], y->ns[STATE_RUNNING][0]};

	if (ran[0] != ran[1])
		return ran[0] < ran[1] ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int make_service_times(struct service_times *s)
{
	struct names by = {0};
	int ret = 0;

	for (size_t i = 0; i < s->groups.rows.count && !ret; i++)
		ret = add_service_time(s, &by, &s->groups.rows.items[i]);
	names_free(&by);
	if (s->rows.count)
		qsort(s->rows.items, s->rows.count, sizeof(*s->rows.items), by_service_run);
	return ret;
}

int service_times_read(struct service_times **out, struct source *source, struct error *err)
{
	static const struct sink_ops ops = {.put = service_sink_put};
	struct service_sink sink = {.sink = {&ops, WANTS(WANT(GROUP_TIME))}};
	struct service_times *s = calloc(1, sizeof(*s));
	int ret = s ? source->ops->run(source, &sink.sink, err)
		    : error_errno(err, -ENOMEM, "adding up control groups");

	if (!s || ret) {
		group_times_free(&sink.groups);
		free(s);
		return ret;
	}
	s->groups = sink.groups;
	ret = make_service_times(s);
	if (ret || !s->rows.count) {
		service_times_free(s);
		s = NULL;
	}
	if (ret)
		return error_errno(err, ret, "adding up control groups");
	*out = s;
	return 0;
}

void service_times_free(struct service_times *s)
{
	if (!s)
		return;
	group_times_free(&s->groups);
	vector_free(&s->rows);
	free(s);
}

uint64_t service_time_queued(const struct service_time *s)
{
	return s->ns[STATE_RUNNABLE][WAIT_NONE] + s->ns[STATE_PREEMPTED][WAIT_NONE] +
	       s->ns[STATE_THROTTLED][WAIT_THROTTLED];
}

uint64_t service_time_blocked(const struct service_time *s, enum wait_class wait)
{
	uint64_t ns = 0;

	for (int state = STATE_SLEEPING; state < STATE_COUNT; state++)
		if (state != STATE_THROTTLED && state != STATE_UNKNOWN)
			ns += s->ns[state][wait];
	return ns;
}
