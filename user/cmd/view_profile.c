// SPDX-License-Identifier: Apache-2.0
/*
 * The profile of a range, in parts: each answer has all samples up to some time, and what it took
 * to read them is kept for the next one. So a page shows something soon, every request stays short,
 * and nothing is read for a page that has gone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/view_range.h"
#include "cmd/view_samples.h"
#include "trace/sums.h"

#define FOLDS 2 /* that are kept: a page has one, and two pages may be open */
#define FOLD_SUMS_KEPT 200000 /* sums of a fold that is kept after its end, for the memory */
/* CPU time (ns) that reading takes for the first part, for any, and what all of them grow by. */
#define FIRST_NS 200000000ULL
#define MOST_NS 1200000000ULL
#define GROWS 3

/* The samples of a selection that were read so far, added up. */
struct view_fold {
	struct view_samples samples;
	struct sums sums;
	VECTOR(struct sum) more; /* for which the table of sums had no room */
	VECTOR(struct loss) losses; /* of chunks of samples */
	uint64_t count; /* samples */
	uint64_t spent, until; /* CPU time, ns: of all parts, and of the thread at which to stop */
	const struct http_request *asked;
};

struct view_folds {
	pthread_mutex_t lock;
	struct view_fold *kept[FOLDS]; /* the newest first; NULL: none */
};

struct view_folds *view_folds_new(void)
{
	struct view_folds *all = calloc(1, sizeof(*all));

	if (all)
		pthread_mutex_init(&all->lock, NULL);
	return all;
}

static void fold_free(struct view_fold *f)
{
	if (!f)
		return;
	sums_free(&f->sums);
	vector_free(&f->more);
	vector_free(&f->losses);
	free(f);
}

void view_folds_free(struct view_folds *all)
{
	for (size_t i = 0; all && i < FOLDS; i++)
		fold_free(all->kept[i]);
	if (all)
		pthread_mutex_destroy(&all->lock);
	free(all);
}

static uint64_t cpu_of_thread(void)
{
	struct timespec used = {0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

/* Move the sums of the table to the list, so that the table has room again. */
static int fold_empty_table(struct view_fold *f)
{
	if (vector_reserve(&f->more, f->sums.count) < 0)
		return -ENOMEM;
	memcpy(&f->more.items[f->more.count], f->sums.items,
	       f->sums.count * sizeof(*f->sums.items));
	f->more.count += f->sums.count;
	sums_clear(&f->sums);
	return 0;
}

static int fold_take(void *context, const struct sample *s, const struct lane_thread *thread)
{
	struct view_fold *f = context;

	(void)thread;
	f->count++;
	if (sums_add(&f->sums, s))
		return 0;
	if (fold_empty_table(f) < 0)
		return -ENOMEM;
	sums_add(&f->sums, s);
	return 0;
}

static bool fold_stops(void *context)
{
	const struct view_fold *f = context;

	return cpu_of_thread() >= f->until || http_request_abandoned(f->asked);
}

/* Without memory for it, a loss of samples adds to the last one. */
static void fold_lost(void *context, enum record_kind kind, uint64_t time, uint64_t end,
		      uint64_t records)
{
	struct view_fold *f = context;
	const struct loss l = {
		/* no other loss has such an id */
		.id = UINT64_MAX - f->losses.count,
		.reason = LOSS_UNREADABLE_CHUNK,
		.time = time,
		.end = end,
		.count = records,
	};

	(void)kind;
	if (vector_push(&f->losses, l) < 0 && f->losses.count)
		f->losses.items[f->losses.count - 1].count += records;
}

static struct view_fold *fold_new(const struct view_server *v, const struct view_choice *c)
{
	struct view_fold *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->samples = (struct view_samples){
		.view = v,
		.choice = *c,
		.columns = VIEW_COLUMN(stack) | VIEW_COLUMN(flags) | VIEW_COLUMN(weight) |
			   VIEW_COLUMN(wait),
		.take = fold_take,
		.stop = fold_stops,
		.lost = fold_lost,
		.context = f,
	};
	if (!sums_init(&f->sums))
		return f;
	fold_free(f);
	return NULL;
}

static bool is_fold_of(const struct view_fold *f, const struct view_choice *c)
{
	const struct view_choice *of = &f->samples.choice;

	return of->from == c->from && of->to == c->to && of->by_pid == c->by_pid &&
	       of->by_tid == c->by_tid && of->pid == c->pid && of->tid == c->tid;
}

/*
 * Return the fold of a choice, kept or new, which belongs to the caller then; so two requests for
 * one choice read it twice, and none waits. NULL without memory.
 */
static struct view_fold *take_fold(const struct view_server *v, const struct view_choice *c)
{
	struct view_folds *all = v->folds;
	struct view_fold *found = NULL;

	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < FOLDS && !found; i++) {
		if (!all->kept[i] || !is_fold_of(all->kept[i], c))
			continue;
		found = all->kept[i];
		all->kept[i] = NULL;
	}
	pthread_mutex_unlock(&all->lock);
	return found ? found : fold_new(v, c);
}

/* Keep a fold for the next part, or for when it is selected again, instead of the oldest one. */
static void keep_fold(const struct view_server *v, struct view_fold *f)
{
	struct view_folds *all = v->folds;

	if (f->samples.done && f->sums.count + f->more.count > FOLD_SUMS_KEPT) {
		fold_free(f);
		return;
	}
	pthread_mutex_lock(&all->lock);
	for (size_t i = 0; i < FOLDS; i++) {
		struct view_fold *older = all->kept[i];

		all->kept[i] = f;
		f = older;
		if (!f)
			break;
	}
	pthread_mutex_unlock(&all->lock);
	fold_free(f);
}

/* Read more of the samples: at first little, so that something is shown soon. */
static int read_more(struct view_fold *f, const struct http_request *q, struct error *err)
{
	uint64_t begun = cpu_of_thread(), most = GROWS * f->spent;
	int ret;

	if (f->samples.done)
		return 0;
	f->asked = q;
	f->until = begun + (most < FIRST_NS ? FIRST_NS : most > MOST_NS ? MOST_NS : most);
	ret = view_samples_read(&f->samples, err);
	f->asked = NULL;
	f->spent += cpu_of_thread() - begun;
	return ret;
}

/* The records of a trace with the samples of a fold. */
struct fold_source {
	struct source source;
	struct source *inner;
	const struct view_fold *fold; /* NULL: without samples */
};

static int put_fold(const struct view_fold *f, struct sink *sink, struct error *err)
{
	int ret = sink_put_many(sink, KIND_SUM, f->more.items, f->more.count, err);

	if (!ret)
		ret = sink_put_many(sink, KIND_SUM, f->sums.items, f->sums.count, err);
	for (size_t i = 0; i < f->losses.count && !ret; i++)
		ret = put_loss(sink, &f->losses.items[i], err);
	return ret;
}

static int fold_source_run(struct source *source, struct sink *sink, struct error *err)
{
	const struct fold_source *s = (const struct fold_source *)source;
	uint64_t wants = sink->wants;
	int ret;

	sink->wants = wants & ~WANT(SUM);
	ret = s->inner->ops->run(s->inner, sink, err);
	sink->wants = wants;
	return ret || !s->fold ? ret : put_fold(s->fold, sink, err);
}

static const struct source_ops fold_source_ops = {.run = fold_source_run};

int view_read_profile(const struct view_server *v, const struct view_fold *fold,
		      struct profile **out, bool *damaged, struct error *err)
{
	const struct profile_view view = {0};
	struct filtered_input in = {0};
	struct fold_source all = {.source.ops = &fold_source_ops, .fold = fold};
	int ret = filtered_input_open(&in, v->path, &v->everything, err);

	all.inner = in.source;
	if (!ret)
		ret = profile_read(out, &all.source, &view, err);
	if (!ret && damaged)
		*damaged = trace_left_out(in.trace);
	filtered_input_close(&in);
	return ret;
}

/* Write the profile of what was read, which says what part of the samples it has. */
static int write_fold(const struct view_server *v, const struct view_fold *f, FILE *out,
		      struct error *err)
{
	const struct view_choice *c = &f->samples.choice;
	struct export_options o = {.from = c->from, .to = c->to};
	struct profile *p = NULL;
	char part[96];
	int ret = view_read_profile(v, f, &p, NULL, err);

	snprintf(part, sizeof(part), "{\"share\":%.4f,\"samples\":%" PRIu64 ",\"ms\":%" PRIu64 "}",
		 view_samples_share(&f->samples), f->count, f->spent / 1000000);
	o.part = part;
	if (!ret)
		ret = html_write_profile(out, p, &o, err);
	profile_free(p);
	return ret;
}

static int answer_part(const struct view_server *v, const struct view_fold *f,
		       struct http_answer *a, struct error *err)
{
	FILE *out = open_memstream(&a->body, &a->size);
	int ret = out ? write_fold(v, f, out, err) : -ENOMEM;

	if (out && fclose(out) && !ret)
		ret = error_errno(err, -ENOMEM, "cannot answer");
	a->type = "application/json";
	return ret;
}

int view_answer_profile(void *context, const struct http_request *q, struct http_answer *a)
{
	const struct view_server *v = context;
	struct view_choice c;
	struct error err = {""};
	struct view_fold *f;
	int ret;

	if (view_read_choice(v, q, &c) < 0)
		return http_answer_text(a, 400, VIEW_RANGE_SENSELESS);
	f = take_fold(v, &c);
	if (!f)
		return -ENOMEM;
	ret = read_more(f, q, &err);
	if (ret < 0) {
		fold_free(f);
		return view_answer_error(a, ret, &err);
	}
	ret = http_request_abandoned(q) ? -ECANCELED : answer_part(v, f, a, &err);
	keep_fold(v, f);
	return ret < 0 ? view_answer_error(a, ret, &err) : 0;
}
