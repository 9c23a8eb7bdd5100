// SPDX-License-Identifier: Apache-2.0
/* Add up the sums of control groups by their paths (group_totals.h). */
#include "capture/group_totals.h"

#include <errno.h>
#include <string.h>

static void free_group_total(struct group_total *t)
{
	if (!t)
		return;
	free(t->path);
	free(t->service);
	free(t);
}

static struct group_total *find_group_total(const struct group_totals *t, const char *path)
{
	for (size_t i = 0; i < t->list.count; i++)
		if (!strcmp(t->list.items[i]->path, path))
			return t->list.items[i];
	return NULL;
}

static struct group_total *get_group_total(struct group_totals *t, const char *path,
					   const char *service)
{
	struct group_total *found = find_group_total(t, path), *fresh;

	if (found)
		return found;
	fresh = calloc(1, sizeof(*fresh));
	if (!fresh)
		return NULL;
	fresh->path = strdup(path);
	fresh->service = strdup(service);
	if (fresh->path && fresh->service && !vector_push(&t->list, fresh))
		return fresh;
	free_group_total(fresh);
	return NULL;
}

int group_totals_begin(struct group_totals *t, uint32_t row, const struct group_row *begun,
		       const char *path, const char *service)
{
	struct group_row *r = calloc(1, sizeof(*r));
	struct group_total *of = r ? get_group_total(t, path, service) : NULL;

	if (!of) {
		free(r);
		return -ENOMEM;
	}
	*r = *begun;
	r->of = of;
	of->rows++;
	t->rows[row] = r;
	return 0;
}

/* Add what a number has grown by, and return whether it has. */
static bool add_group_growth(__u64 *to, __u64 *seen, __u64 now)
{
	if (now <= *seen)
		return false;
	*to += now - *seen;
	*seen = now;
	return true;
}

void group_totals_take(struct group_totals *t, uint32_t row,
		       const struct group_sum sums[GROUP_COLUMN_COUNT], uint64_t now)
{
	struct group_row *r = t->rows[row];
	bool grown = false;

	for (int i = 0; i < GROUP_COLUMN_COUNT; i++) {
		struct group_sum *to = &r->of->now[i], *seen = &r->seen[i];

		grown |= add_group_growth(&to->ns, &seen->ns, sums[i].ns);
		grown |= add_group_growth(&to->count, &seen->count, sums[i].count);
	}
	if (grown)
		r->grown = now;
}

void group_totals_forget(struct group_totals *t)
{
	for (size_t i = 0; i < t->list.count; i++)
		memset(t->list.items[i]->now, 0, sizeof(t->list.items[i]->now));
}

void group_totals_end(struct group_totals *t, uint32_t row)
{
	struct group_row *r = t->rows[row];

	t->rows[row] = NULL;
	r->of->rows--;
	free(r);
}

static struct group_time group_time_of(const struct group_total *of, uint64_t host, int column)
{
#define GROUP_COLUMN_NAME(N, state, wait) [GROUP_##N] = {STATE_##state, WAIT_##wait},
	static const struct {
		enum slice_state state;
		enum wait_class wait;
	} columns[] = {GROUP_COLUMNS(GROUP_COLUMN_NAME)};
#undef GROUP_COLUMN_NAME

	return (struct group_time){
		.host = host,
		.cgroup = of->path,
		.state = columns[column].state,
		.wait = columns[column].wait,
		.service = of->service,
		.ns = of->now[column].ns,
		.count = of->now[column].count,
	};
}

static int put_group_total(struct group_total *of, uint64_t host, struct sink *to,
			   struct error *err)
{
	int ret = 0;

	if (!of->rows)
		memset(of->now, 0, sizeof(of->now));
	for (int i = 0; i < GROUP_COLUMN_COUNT && !ret; i++) {
		struct group_time record = group_time_of(of, host, i);

		if (!memcmp(&of->now[i], &of->put[i], sizeof(of->now[i])))
			continue;
		ret = put_group_time(to, &record, err);
		of->put[i] = of->now[i];
	}
	return ret;
}

int group_totals_put(struct group_totals *t, uint64_t host, struct sink *to, struct error *err)
{
	size_t kept = 0;
	int ret = 0;

	for (size_t i = 0; i < t->list.count && !ret; i++)
		ret = put_group_total(t->list.items[i], host, to, err);
	for (size_t i = 0; i < t->list.count && !ret; i++)
		if (t->list.items[i]->rows)
			t->list.items[kept++] = t->list.items[i];
		else
			free_group_total(t->list.items[i]);
	if (!ret)
		t->list.count = kept;
	return ret;
}

void group_totals_free(struct group_totals *t)
{
	for (uint32_t row = 0; row < GROUP_ROWS; row++)
		free(t->rows[row]);
	for (size_t i = 0; i < t->list.count; i++)
		free_group_total(t->list.items[i]);
	vector_free(&t->list);
}
