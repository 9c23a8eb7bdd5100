// SPDX-License-Identifier: Apache-2.0
/* A window of recent samples (recent.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/buckets.h"
#include "analyze/entity_life.h"
#include "analyze/entity_marks.h"
#include "analyze/recent.h"

#define NSEC_PER_SEC 1000000000ULL
/*
 * Samples of at most the last 300 ms (here in ns) may be under way when the accounts are read, and
 * are not lost.
 */
#define UNDER_WAY (300 * NSEC_PER_SEC / 1000)

/* The flags of a sample that say which interrupt ended a wait. */
#define BY_INTERRUPT \
	(SAMPLE_FLAG_BY_TIMER | SAMPLE_FLAG_BY_NETWORK | SAMPLE_FLAG_BY_BLOCK | \
	 SAMPLE_FLAG_BY_IPI | SAMPLE_FLAG_BY_OTHER)
#define WAIT_SHIFT 32 /* the class of a wait is above its flags in the flags of a sum */

/* The sum of the accounts of all CPUs at a tick. */
struct snapshot {
	uint64_t time;
	struct account total;
};

struct recent {
	struct sink sink;
	struct source source; /* puts the contents of the window, for recent_window() */
	struct buckets buckets;
	/* waits once more, with who ended them as the event and their class among the flags */
	struct buckets waits;
	uint64_t wait_event; /* event.id of EVENT_OFF_CPU; 0: there is none */
	struct entity_store stores[KIND_COUNT];
	uint32_t epoch; /* number of times the source has forgotten its entities */
	uint64_t started, ticked; /* ns; 0: not yet */
	VECTOR(struct account) accounts; /* the last one of each CPU */
	VECTOR(struct snapshot) snapshots; /* oldest first; only the first may precede the window */
	VECTOR(struct loss) losses; /* losses whose time reaches into the window */
};

static struct recent *recent_of_source(struct source *s)
{
	return (struct recent *)((char *)s - offsetof(struct recent, source));
}

/* Mark all hosts and events, and everything to which samples of the window refer. */
static void mark_window(struct recent *r)
{
	entity_marks_begin(r->stores);
	for (unsigned int place = 0; place < BUCKETS; place++) {
		const struct bucket *b = buckets_at(&r->buckets, place);

		for (size_t i = 0; b && i < b->sums.count; i++) {
			entity_mark_thread(r->stores, b->sums.items[i].thread);
			entity_mark_stack(r->stores, b->sums.items[i].stack);
		}
		b = buckets_at(&r->waits, place);
		for (size_t i = 0; b && i < b->sums.count; i++)
			entity_mark_thread(r->stores, b->sums.items[i].event);
	}
}

/* The functions below keep accounts and losses. */

static int recent_take_account(struct recent *r, const struct account *a)
{
	for (size_t i = 0; i < r->accounts.count; i++)
		if (r->accounts.items[i].cpu == a->cpu && r->accounts.items[i].event == a->event) {
			r->accounts.items[i] = *a;
			return 0;
		}
	return vector_push(&r->accounts, *a);
}

/* Store a loss. A loss that continues is put again under its id, with larger numbers. */
static int recent_take_loss(struct recent *r, const struct loss *l)
{
	for (size_t i = 0; i < r->losses.count; i++)
		if (r->losses.items[i].id == l->id) {
			r->losses.items[i] = *l;
			return 0;
		}
	return vector_push(&r->losses, *l);
}

static int recent_take_snapshot(struct recent *r, uint64_t time)
{
	struct snapshot s = {.time = time};

	for (size_t i = 0; i < r->accounts.count; i++) {
		const struct account *a = &r->accounts.items[i];

		s.total.due += a->due;
		s.total.written += a->written;
		s.total.filtered += a->filtered;
		s.total.idle += a->idle;
		s.total.late += a->late;
		s.total.cut_off += a->cut_off;
	}
	return vector_push(&r->snapshots, s);
}

static void recent_drop_old(struct recent *r)
{
	uint64_t begin = buckets_begin(&r->buckets);
	struct snapshot *snapshots = r->snapshots.items;
	size_t kept = 0, old = 0;

	while (old + 1 < r->snapshots.count && snapshots[old + 1].time <= begin)
		old++;
	for (size_t i = old; i < r->snapshots.count; i++)
		snapshots[i - old] = snapshots[i];
	r->snapshots.count -= old;
	for (size_t i = 0; i < r->losses.count; i++)
		if (r->losses.items[i].end > begin)
			r->losses.items[kept++] = r->losses.items[i];
	r->losses.count = kept;
}

/*
 * Return the number of due samples that are neither in the account nor in a loss; 0 if so few are
 * missing that all may be under way.
 */
static uint64_t count_not_delivered(const struct recent_account *a)
{
	uint64_t known = a->total.written + a->total.filtered + a->total.idle + a->total.cut_off,
		 rest;
	uint64_t tolerated = a->span ? (uint64_t)((double)a->total.due * UNDER_WAY / a->span) : 0;

	for (uint64_t reason = 1; reason < LOSS_COUNT; reason++)
		if (loss_reason_is_due(reason) && reason != LOSS_NOT_DELIVERED)
			known += a->lost[reason];
	rest = a->total.due > known ? a->total.due - known : 0;
	return rest > tolerated ? rest : 0;
}

/*
 * Return the growth of a counter, 0 if it decreased: a counter may be corrected downwards a little,
 * and restarts when its CPU does.
 */
static uint64_t counter_growth(uint64_t before, uint64_t now)
{
	return now > before ? now - before : 0;
}

static void recent_fill_account(const struct recent *r, struct recent_account *out)
{
	const struct snapshot *first = r->snapshots.items;
	const struct snapshot *last = first + r->snapshots.count - 1;

	*out = (struct recent_account){.cpus = (unsigned int)r->accounts.count};
	for (size_t i = 0; i < r->losses.count; i++)
		if (r->losses.items[i].reason < LOSS_COUNT)
			out->lost[r->losses.items[i].reason] += r->losses.items[i].count;
	if (!r->snapshots.count)
		return;
	out->span = last->time - first->time;
	out->total = (struct account){
		.due = counter_growth(first->total.due, last->total.due),
		.written = counter_growth(first->total.written, last->total.written),
		.filtered = counter_growth(first->total.filtered, last->total.filtered),
		.idle = counter_growth(first->total.idle, last->total.idle),
		.late = counter_growth(first->total.late, last->total.late),
		.cut_off = counter_growth(first->total.cut_off, last->total.cut_off),
	};
	out->lost[LOSS_NOT_DELIVERED] += count_not_delivered(out);
}

/* The functions below implement the sink. */

/*
 * Add a wait. One that was chosen for certain counts in each bucket with its time there; shorter
 * ones, each of which stands for others, where they end.
 */
static int recent_take_wait(struct recent *r, const struct sample *s)
{
	uint64_t width = r->waits.width, time = s->time, since;
	struct sum wait = {
		.event = s->other,
		.thread = s->thread,
		.stack = s->stack,
		.count = 1,
		.weight = s->weight,
		.flags = s->wait << WAIT_SHIFT | (s->flags & BY_INTERRUPT),
	};
	int ret = 0;

	if (s->weight > s->length || s->length > s->time)
		return buckets_add_sum(&r->waits, time, &wait);
	since = s->time - s->length;
	since = since > r->started ? since : r->started;
	for (unsigned int i = 0; i < BUCKETS && !ret && (!i || time > since); i++) {
		uint64_t begin = time / width * width;

		wait.weight = time - (begin > since ? begin : since < time ? since : time);
		ret = buckets_add_sum(&r->waits, time, &wait);
		wait.count = 0;
		if (!begin)
			break;
		time = begin - 1; /* 1 ns less is nothing beside a bucket's width */
	}
	return ret;
}

static int recent_take_sample(struct recent *r, const struct sample *s)
{
	int ret = buckets_add(&r->buckets, s);

	if (!ret && r->wait_event && s->event == r->wait_event)
		ret = recent_take_wait(r, s);
	return ret;
}

static void recent_note_event(struct recent *r, const struct event *e)
{
	if (e->name && !strcmp(e->name, EVENT_OFF_CPU))
		r->wait_event = e->id;
}

static int recent_take(struct recent *r, enum record_kind kind, const void *record)
{
	if (kind == KIND_SAMPLE)
		return recent_take_sample(r, record);
	if (kind == KIND_EVENT)
		recent_note_event(r, record);
	if (kind == KIND_ACCOUNT)
		return recent_take_account(r, record);
	if (kind == KIND_LOSS)
		return recent_take_loss(r, record);
	return r->stores[kind].kind ? entity_store_put(&r->stores[kind], record, r->epoch) : 0;
}

static int recent_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	int ret = recent_take((struct recent *)s, kind, record);

	return ret < 0 ? error_errno(err, ret, "cannot keep what was sampled") : 0;
}

static int recent_tick(struct sink *s, uint64_t time, struct error *err)
{
	struct recent *r = (struct recent *)s;
	int ret;

	r->started = r->started ? r->started : time;
	r->ticked = time;
	buckets_advance(&r->buckets, time);
	buckets_advance(&r->waits, time);
	ret = recent_take_snapshot(r, time);
	recent_drop_old(r);
	mark_window(r);
	if (!ret)
		ret = entity_life_sweep(r->stores, r->epoch, r->ticked);
	return ret < 0 ? error_errno(err, ret, "cannot keep what was sampled") : 0;
}

static int recent_forget(struct sink *s, struct error *err)
{
	(void)err;
	((struct recent *)s)->epoch++;
	return 0;
}

static int recent_finish(struct sink *s, struct error *err)
{
	(void)s;
	(void)err;
	return 0;
}

static void recent_free(struct sink *s)
{
	struct recent *r = (struct recent *)s;

	for (int kind = 0; kind < KIND_COUNT; kind++)
		if (r->stores[kind].kind)
			entity_store_free(&r->stores[kind]);
	buckets_free(&r->buckets);
	buckets_free(&r->waits);
	vector_free(&r->accounts);
	vector_free(&r->snapshots);
	vector_free(&r->losses);
	free(r);
}

/* The functions below implement the source, which puts the contents of the window. */

static int recent_put_sums(struct recent *r, struct sink *to, struct error *err)
{
	int ret = 0;

	for (unsigned int place = 0; !ret && place < BUCKETS; place++) {
		const struct bucket *b = buckets_at(&r->buckets, place);

		for (size_t i = 0; !ret && b && i < b->sums.count; i++)
			ret = put_sum(to, &b->sums.items[i], err);
	}
	return ret;
}

static int recent_run(struct source *s, struct sink *to, struct error *err)
{
	struct recent *r = recent_of_source(s);
	int ret;

	mark_window(r);
	ret = entity_marks_put(r->stores, to, err);
	return ret ? ret : recent_put_sums(r, to, err);
}

static const struct sink_ops sink_ops = {
	.put = recent_put,
	.tick = recent_tick,
	.forget = recent_forget,
	.finish = recent_finish,
	.free = recent_free,
};

static const struct source_ops source_ops = {.run = recent_run};

int recent_sink(struct sink **out, uint64_t window, struct error *err)
{
	struct recent *r = calloc(1, sizeof(*r));

	if (!r)
		return error_errno(err, -ENOMEM, "cannot begin a window");
	r->sink = (struct sink){.ops = &sink_ops, .wants = WANTS(WANT(SAMPLE))};
	r->source = (struct source){.ops = &source_ops};
	buckets_init(&r->buckets, window);
	buckets_init(&r->waits, window);
#define INIT_STORE(KIND) \
	entity_store_init(&r->stores[KIND_##KIND], KIND_##KIND); \
	r->sink.wants |= WANT(KIND);
	ENTITY_MARK_KINDS(INIT_STORE)
#undef INIT_STORE
	*out = &r->sink;
	return 0;
}

/* Get the waits of the window. Return 0 or -ENOMEM. */
static int recent_get_waits(struct recent *r, struct recent_window *out)
{
	VECTOR(struct recent_wait) list = {0};

	for (unsigned int place = 0; place < BUCKETS; place++) {
		const struct bucket *b = buckets_at(&r->waits, place);

		for (size_t i = 0; b && i < b->sums.count; i++) {
			const struct sum *s = &b->sums.items[i];
			uint64_t wait = s->flags >> WAIT_SHIFT;
			const struct recent_wait w = {
				.thread = s->thread,
				.stack = s->stack,
				.other = s->event,
				.wait = wait < WAIT_COUNT ? (enum wait_class)wait : WAIT_NONE,
				.flags = (uint32_t)s->flags,
				.count = s->count,
				.weight = s->weight,
			};

			if (vector_push(&list, w) < 0) {
				vector_free(&list);
				return -ENOMEM;
			}
		}
	}
	out->waits = list.items;
	out->wait_count = list.count;
	return 0;
}

int recent_window(struct sink *s, uint64_t now, struct recent_window *out, struct error *err)
{
	struct recent *r = (struct recent *)s;
	struct recent_window w = {.profile = NULL};
	uint64_t begin;
	int ret;

	buckets_advance(&r->buckets, now);
	buckets_advance(&r->waits, now);
	recent_drop_old(r);
	begin = buckets_begin(&r->buckets);
	begin = r->started > begin ? r->started : begin;
	w.span = now > begin ? now - begin : 0;
	ret = profile_read(&w.profile, &r->source, NULL, err);
	if (ret)
		return ret;
	ret = recent_get_waits(r, &w);
	if (ret) {
		profile_free(w.profile);
		return error_errno(err, ret, "cannot show what was sampled");
	}
	recent_fill_account(r, &w.account);
	*out = w;
	return 0;
}
