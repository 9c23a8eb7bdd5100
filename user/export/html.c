// SPDX-License-Identifier: Apache-2.0
/*
 * Export the flame graph page: one HTML file that contains everything and fetches nothing. The
 * page is built from user/view/ when skein is built (tools/page). This file adds the data as JSON
 * in a script element that browsers do not execute. Every text is cleaned and escaped, and the
 * page only inserts data as text.
 *
 * For each profile (one, or two that the page compares), the data are a calling-context tree as
 * columns, and the sums of samples by node, thread and event, so that the page can merge, split,
 * hide and invert the tree.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/broken.h"
#include "analyze/functions.h"
#include "analyze/groups.h"
#include "analyze/runtimes.h"
#include "analyze/subject.h"
#include "analyze/tree.h"
#include "base/text.h"
#include "export/export.h"
#include "export/html_columns.h"
#include "export/html_named.h"
#include "export/html_page.h"
#include "export/page_parts.h"
#include "export/roots.h"
#include "export/wait_colours.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

#define BREAKAGES_MAX 20 /* most reasons for incomplete stacks written, per event */

_Static_assert(FRAME_NATIVE == 1 && FRAME_KERNEL == 2 && FRAME_JIT == 3 && FRAME_PYTHON == 4 &&
		       FRAME_JAVA == 5 && FRAME_END == 6,
	       "KIND in user/view/data.js says the same");
_Static_assert(STACKS_OF_SAMPLES == 0 && STACKS_OF_WAITS == 1 && STACKS_OF_WAKERS == 2 &&
		       STACKS_OF_WALL == 3 && STACKS_OF_HITS == 4,
	       "OF in user/view/data.js says the same");

uint32_t html_fail(struct html_page *p, int rc)
{
	if (rc < 0 && !p->error)
		p->error = rc;
	return 0;
}

/*
 * Return the number of a text in the page's table of strings, to which it is added if it is new; 0
 * after an error, which is kept in p->error.
 */
static uint32_t html_string(struct html_page *p, const char *text)
{
	size_t size = 3 * strlen(text) + 1; /* cleaning may turn one byte into three */
	char *clean = malloc(size);
	uint32_t ret = 0;

	if (!clean)
		return html_fail(p, -ENOMEM);
	text_clean(text, clean, size);
	html_fail(p, names_intern_text(&p->strings, clean, &ret));
	free(clean);
	return ret;
}

/* Write the number of a text in the table of strings. */
void html_put_string(struct html_page *p, const char *text)
{
	json_uint(&p->json, html_string(p, text));
}

/* Write a key with the number of a text in the table of strings as its value. */
static void html_put_text(struct html_page *p, const char *key, const char *text)
{
	json_key(&p->json, key);
	html_put_string(p, text);
}

static unsigned int html_prefix(const void *context, const struct profile_sum *s, uint32_t *labels)
{
	const struct html_side *side = context;
	enum stack_end end = profile_stack_end(side->profile, s->stack);

	labels[0] = s->stack == PROFILE_NONE ? side->no_stack : side->ends[end];
	return s->stack == PROFILE_NONE || end != END_WALKED;
}

/* Count the samples of a frame at its line, if that is known. */
static int html_count_line(struct html_side *side, uint32_t frame, uint64_t count)
{
	const struct profile_frame *f = &side->profile->frames[frame];
	uint32_t symbol = side->symbols.of_frame[frame], at;
	uint64_t key = (uint64_t)symbol << 32 | (uint32_t)f->f.line;
	struct html_line line = {symbol, (uint32_t)f->f.line, f->file ? f->file : "", count};

	if (f->f.kind == FRAME_END || !f->f.line)
		return 0;
	at = index_get(&side->line_of, key);
	if (at != INDEX_NONE) {
		side->lines.items[at].count += count;
		return 0;
	}
	at = side->lines.count;
	return vector_push(&side->lines, line) < 0 ? -ENOMEM : index_put(&side->line_of, key, at);
}

static int html_count_lines(struct html_side *side, const struct profile_sum *s)
{
	const struct profile *p = side->profile;
	int ret = 0;

	for (uint32_t at = s->stack; at != PROFILE_NONE && ret >= 0; at = p->stacks[at].parent)
		if (p->stacks[at].frame != PROFILE_NONE)
			ret = html_count_line(side, p->stacks[at].frame, s->count);
	return ret < 0 ? ret : 0;
}

static int on_html_sum(void *receiver, const struct profile_sum *s, uint32_t node)
{
	struct html_side *side = receiver;
	int ret = html_count_lines(side, s);
	uint32_t stacks = side->profile->count.stacks;
	uint32_t thread = s->thread == PROFILE_NONE ? side->profile->count.threads : s->thread;
	struct html_sum place = {
		.node = node,
		.thread = thread,
		.event = s->event,
		.wait = s->wait,
		.collecting = s->flags & SAMPLE_FLAG_COLLECTING,
		.count = s->count,
		.weight = s->weight,
	};

	side->node_of[s->stack == PROFILE_NONE ? stacks : s->stack] = node;
	return ret < 0 ? ret : vector_push(&side->sums, place);
}

static int by_html_sum_key(const void *a, const void *b)
{
	const struct html_sum *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->wait != y->wait)
		return x->wait < y->wait ? -1 : 1;
	return x->collecting - y->collecting;
}

/* Merge sums that differ only in count and weight, and sort them by everything else. */
static void merge_html_sums(struct html_side *side)
{
	struct html_sum *to = side->sums.items;

	if (!side->sums.count)
		return;
	qsort(to, side->sums.count, sizeof(*to), by_html_sum_key);
	for (size_t i = 1; i < side->sums.count; i++) {
		const struct html_sum *from = &side->sums.items[i];

		if (by_html_sum_key(to, from)) {
			*++to = *from;
			continue;
		}
		to->count += from->count;
		to->weight += from->weight;
	}
	side->sums.count = (size_t)(to - side->sums.items) + 1;
}

static int html_number_labels(struct html_side *side)
{
	size_t symbols = side->symbols.names.texts.count;
	int ret = 0;

	side->label_of = malloc(symbols * sizeof(uint32_t));
	if (!side->label_of)
		return -ENOMEM;
	memset(side->label_of, 0xff, symbols * sizeof(uint32_t));
	for (size_t i = 1; i < side->tree.nodes.count && !ret; i++) {
		uint32_t symbol = side->tree.nodes.items[i].label;

		if (side->label_of[symbol] != INDEX_NONE)
			continue;
		side->label_of[symbol] = side->labels.count;
		ret = vector_push(&side->labels, symbol);
	}
	return ret;
}

/*
 * Prepare one profile. common: use symbol names that also match those of another recording
 * (symbols_in_common()). Return 0 or a negative errno; call html_free_side() in both cases.
 */
static int html_make_side(struct html_side *side, const struct profile *p, bool common)
{
	struct tree_view view = {
		.prefix = html_prefix, .context = side, .placed = on_html_sum, .receiver = side};
	int ret = common ? symbols_in_common(&side->symbols, p) : symbols_of(&side->symbols, p);

	side->profile = p;
	side->node_of = malloc((p->count.stacks + 1ULL) * sizeof(uint32_t));
	if (!ret && !side->node_of)
		ret = -ENOMEM;
	if (!ret)
		memset(side->node_of, 0xff, (p->count.stacks + 1ULL) * sizeof(uint32_t));
	if (!ret)
		ret = symbols_add(&side->symbols, "[no stack]", &side->no_stack);
	for (int end = 0; end < END_COUNT && !ret; end++) {
		char text[PROFILE_END_SIZE];

		ret = symbols_add(&side->symbols, profile_end_name(end, text), &side->ends[end]);
	}
	view.frame_labels = side->symbols.of_frame;
	view.unknown_label = side->symbols.unknown;
	if (!ret)
		ret = tree_build(&side->tree, p, TREE_ALL_EVENTS, &view);
	if (!ret)
		ret = html_number_labels(side);
	merge_html_sums(side);
	return ret;
}

static void html_free_side(struct html_side *side)
{
	symbols_free(&side->symbols);
	tree_free(&side->tree);
	vector_free(&side->sums);
	vector_free(&side->lines);
	index_free(&side->line_of);
	vector_free(&side->labels);
	free(side->label_of);
	free(side->node_of);
}

/*
 * Return the number of hosts that the processes ran on, of which a merged trace may have several.
 * Processes without a host are not counted.
 */
static uint64_t html_count_hosts(const struct profile *profile)
{
	struct index seen = {0};
	uint64_t count = 0;

	for (uint32_t i = 0; i < profile->count.processes; i++) {
		uint64_t host = profile->processes[i].p.host;

		if (!host || index_get(&seen, host) != INDEX_NONE)
			continue;
		count++;
		if (index_put(&seen, host, 1) < 0)
			break; /* out of memory; the count is a lower bound */
	}
	index_free(&seen);
	return count;
}

static void html_write_host(struct html_page *p, const struct profile *profile)
{
	const struct host *h = &profile->host;
	struct json *j = &p->json;

	json_key(j, "host");
	json_object(j);
	html_put_text(p, "name", h->hostname);
	html_put_text(p, "kernel", h->kernel);
	html_put_text(p, "arch", h->arch);
	json_key_uint(j, "hosts", html_count_hosts(profile));
	json_key_uint(j, "cpus", h->cpus);
	json_key_int(j, "utc", (int64_t)(h->start + (uint64_t)h->realtime_offset));
	json_key_uint(j, "duration", h->end > h->start ? h->end - h->start : 0);
	json_object_end(j);
}

static void html_write_infos(struct html_page *p, const struct profile *profile)
{
	json_key(&p->json, "infos");
	json_array(&p->json);
	for (uint32_t i = 0; i < profile->count.infos; i++) {
		html_put_string(p, profile->infos[i].key);
		html_put_string(p, profile->infos[i].value);
	}
	json_array_end(&p->json);
}

/* Write how complete the stacks of an event are, and the most frequent reasons for others. */
static void html_write_stacks(struct html_page *p, const struct profile *profile, uint32_t event)
{
	struct json *j = &p->json;
	struct completeness c;
	struct breakages broken = {0};

	completeness_of(&c, profile, event);
	html_fail(p, breakages_of(&broken, profile, event));
	json_key_uint(j, "due", c.due);
	json_key_uint(j, "complete", c.complete);
	json_key(j, "broken");
	json_array(j);
	for (size_t i = 0; i < broken.list.count && i < BREAKAGES_MAX; i++) {
		html_put_string(p, broken.list.items[i].reason);
		html_put_string(p, module_short_name(broken.list.items[i].module));
		json_uint(j, broken.list.items[i].count);
	}
	json_array_end(j);
	breakages_free(&broken);
}

/* Write the runtimes that lack names as triples of name, what gives names, and samples. */
static void html_write_runtimes(struct html_page *p, const struct profile *profile, uint32_t event)
{
	struct runtime_shares shares = {0};
	uint64_t all, weight;
	bool any = false;

	profile_event_total(profile, event, &all, &weight);
	html_fail(p, runtime_shares_of(&shares, profile, event));
	for (int i = 0; i < RUNTIME_COUNT; i++) {
		if (!runtime_share_matters(shares.samples[i], all))
			continue;
		if (!any) {
			json_key(&p->json, "runtimes");
			json_array(&p->json);
		}
		any = true;
		html_put_string(p, runtime_table[i].name);
		html_put_string(p, runtime_table[i].names);
		json_uint(&p->json, shares.samples[i]);
	}
	if (any)
		json_array_end(&p->json);
}

static void html_write_loss(struct html_page *p, const char *word, const char *text, uint64_t count)
{
	if (!count)
		return;
	html_put_string(p, word);
	html_put_string(p, text);
	json_uint(&p->json, count);
}

/*
 * Return how many records of a loss fall into the page's part of the recording, rounded up: a loss
 * of some time is even over that time.
 */
static uint64_t html_lost_in_page(const struct html_page *p, const struct profile *profile,
				  const struct loss *l)
{
	uint64_t from = profile->host.start + p->from;
	uint64_t to = p->to ? profile->host.start + p->to : UINT64_MAX;
	uint64_t last = l->end > l->time ? l->end : l->time;
	uint64_t begin = l->time > from ? l->time : from, end = last < to ? last : to;

	if ((!p->from && !p->to) || (l->time >= from && last < to))
		return l->count;
	if (begin > end || l->time >= to || last <= l->time)
		return 0;
	return (uint64_t)ceil((double)l->count * (double)(end - begin) / (double)(last - l->time));
}

/* Return the page's share of the time of the recording; 1 if its end is not known. */
static double html_part_of_time(const struct html_page *p, const struct profile *profile)
{
	const struct host *h = &profile->host;
	uint64_t all = h->end > h->start ? h->end - h->start : 0;
	uint64_t to = p->to && p->to < all ? p->to : all;

	return !all ? 1 : to > p->from ? (double)(to - p->from) / (double)all : 0;
}

static uint64_t html_due_losses_in_page(const struct html_page *p, const struct profile *profile,
					uint64_t event)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < profile->count.losses; i++) {
		const struct loss *l = &profile->losses[i];

		if ((!l->event || l->event == event) && l->reason < LOSS_COUNT &&
		    l->reason != LOSS_STOLEN && loss_reason_is_due((int)l->reason))
			sum += html_lost_in_page(p, profile, l);
	}
	return sum;
}

/*
 * Write the account of an event: what became of the due samples of the whole machine, whatever
 * part of them the profile shows. The page compares losses with these numbers, because the
 * process of a lost sample is unknown. Of a page of a part of the time, due samples are taken as
 * even over the recording, because accounts have no times. Write nothing for a trace without
 * accounts.
 */
static void html_write_account(struct html_page *p, const struct profile *profile, uint32_t event)
{
	struct losses l;

	losses_of_event(&l, profile, event);
	if (!l.total.due)
		return;
	json_key(&p->json, "account");
	json_object(&p->json);
	json_key_uint(&p->json, "sampled",
		      (uint64_t)((double)(l.total.written + l.total.filtered) *
				 html_part_of_time(p, profile)));
	json_key_uint(&p->json, "lost",
		      html_due_losses_in_page(p, profile, profile->events[event].id));
	json_object_end(&p->json);
}

/*
 * Write losses as triples of reason, explanation and record count: losses of due samples, or all
 * others.
 */
static void html_write_lost(struct html_page *p, const char *key, const uint64_t *by_reason,
			    bool due)
{
	json_key(&p->json, key);
	json_array(&p->json);
	for (int reason = 1; reason < LOSS_COUNT; reason++) {
		/* time taken by the host is no sample of this machine, see losses_of_event() */
		if (reason != LOSS_STOLEN && loss_reason_is_due(reason) == due)
			html_write_loss(p, loss_reason_word(reason), loss_reason_text(reason),
					by_reason[reason]);
	}
	if (!due)
		html_write_loss(p, "unknown", "for a reason that this version does not know",
				by_reason[LOSS_NONE]);
	json_array_end(&p->json);
}

/* Write the losses of the event with this id, or, if it is 0, those that belong to no event. */
static void html_write_losses(struct html_page *p, const struct profile *profile, uint64_t event)
{
	/* LOSS_NONE stands for reasons unknown to this version */
	uint64_t by_reason[LOSS_COUNT] = {0};

	for (uint32_t i = 0; i < profile->count.losses; i++) {
		const struct loss *l = &profile->losses[i];

		if (l->event == event)
			by_reason[l->reason < LOSS_COUNT ? l->reason : LOSS_NONE] +=
				html_lost_in_page(p, profile, l);
	}
	html_write_lost(p, "losses", by_reason, true);
	html_write_lost(p, "others", by_reason, false);
}

static void html_write_events(struct html_page *p, const struct profile *profile)
{
	struct json *j = &p->json;

	json_key(j, "events");
	json_array(j);
	for (uint32_t i = 0; i < profile->count.events; i++) {
		const struct event *e = &profile->events[i];

		json_object(j);
		html_put_text(p, "name", e->name);
		html_put_text(p, "unit", e->unit);
		json_key_uint(j, "of", roots_stacks_of_event(e));
		json_key_uint(j, "period", e->period);
		json_key_uint(j, "frequency", e->frequency);
		html_write_stacks(p, profile, i);
		html_fail(p, html_put_named(&p->json, profile, i));
		html_write_runtimes(p, profile, i);
		html_write_account(p, profile, i);
		html_write_losses(p, profile, e->id);
		json_object_end(j);
	}
	json_array_end(j);
}

/*
 * Write six numbers per process: name, pid, container, control group, program, service. Texts are
 * numbers in the table of strings, here and below.
 */
static void html_write_processes(struct html_page *p, const struct profile *profile)
{
	json_key(&p->json, "processes");
	json_array(&p->json);
	for (uint32_t i = 0; i < profile->count.processes; i++) {
		const struct process *of = &profile->processes[i].p;

		html_put_string(p, process_name(of));
		json_uint(&p->json, of->pid);
		html_put_string(p, of->container);
		html_put_string(p, of->cgroup);
		html_put_string(p, of->exe);
		html_put_string(p, of->service);
	}
	json_array_end(&p->json);
}

/*
 * Write three numbers per thread: name, tid, index of the process (-1 if unknown). The last entry
 * is for samples whose thread is unknown.
 */
static void html_write_threads(struct html_page *p, const struct profile *profile)
{
	json_key(&p->json, "threads");
	json_array(&p->json);
	for (uint32_t i = 0; i < profile->count.threads; i++) {
		const struct profile_thread *t = &profile->threads[i];

		html_put_string(p, thread_display_name(&t->t));
		json_uint(&p->json, t->t.tid);
		json_int(&p->json, t->process == PROFILE_NONE ? -1 : (int64_t)t->process);
	}
	html_put_string(p, "[unknown]");
	json_uint(&p->json, 0);
	json_int(&p->json, -1);
	json_array_end(&p->json);
}

/* Write the nodes except the root. The parent of a node is written as node number less parent. */
static void html_write_nodes(struct html_page *p, const struct html_side *side)
{
	struct html_column parents = {0}, labels = {0};

	for (uint32_t i = 1; i < side->tree.nodes.count; i++) {
		const struct tree_node *n = &side->tree.nodes.items[i];

		html_column_put(&parents, i - n->parent);
		html_column_put(&labels, side->label_of[n->label]);
	}
	json_key(&p->json, "nodes");
	json_object(&p->json);
	json_key_uint(&p->json, "count", side->tree.nodes.count - 1);
	html_fail(p, html_column_end(&parents, &p->json, "parents"));
	html_fail(p, html_column_end(&labels, &p->json, "labels"));
	json_object_end(&p->json);
}

/*
 * Write the sums of samples. A weight is written as its difference from one period of the event per
 * sample, since that is usually 0. Without waits there is no column of their classes, and without
 * samples in collections none of these.
 */
static void html_write_sums(struct html_page *p, const struct html_side *side)
{
	struct html_column nodes = {0}, threads = {0}, events = {0}, counts = {0}, weights = {0},
			   waits = {0}, collecting = {0};
	bool waited = false, collected = false;

	for (size_t i = 0; i < side->sums.count; i++) {
		const struct html_sum *s = &side->sums.items[i];

		html_column_delta(&nodes, s->node);
		html_column_delta(&threads, s->thread);
		html_column_put(&events, s->event);
		html_column_put(&counts, s->count);
		weights.last = s->count * side->profile->events[s->event].period;
		html_column_delta(&weights, s->weight);
		html_column_put(&waits, s->wait);
		waited = waited || s->wait;
		html_column_put(&collecting, s->collecting);
		collected = collected || s->collecting;
	}
	json_key(&p->json, "sums");
	json_object(&p->json);
	json_key_uint(&p->json, "count", side->sums.count);
	html_fail(p, html_column_end(&nodes, &p->json, "nodes"));
	html_fail(p, html_column_end(&threads, &p->json, "threads"));
	html_fail(p, html_column_end(&events, &p->json, "events"));
	html_fail(p, html_column_end(&counts, &p->json, "counts"));
	html_fail(p, html_column_end(&weights, &p->json, "weights"));
	if (waited)
		html_fail(p, html_column_end(&waits, &p->json, "waits"));
	if (collected)
		html_fail(p, html_column_end(&collecting, &p->json, "collecting"));
	vector_free(&waits.bytes);
	vector_free(&collecting.bytes);
	json_object_end(&p->json);
}

/* Write the number of the text that says what was recorded. */
static void html_write_subject(struct html_page *p, const struct profile *profile)
{
	char subject[SUBJECT_SIZE];

	json_key(&p->json, "subject");
	html_put_string(p, profile_subject(profile, subject));
}

static void html_write_side(struct html_page *p, const struct profile *profile,
			    const struct html_samples *samples, bool common)
{
	struct html_side side = {0};

	html_fail(p, html_make_side(&side, profile, common));
	if (!p->error) {
		json_object(&p->json);
		html_write_host(p, profile);
		html_write_infos(p, profile);
		html_write_subject(p, profile);
		html_write_events(p, profile);
		html_write_losses(p, profile, 0);
		html_write_processes(p, profile);
		html_write_threads(p, profile);
		html_write_labels(p, &side, common);
		html_write_nodes(p, &side);
		html_write_sums(p, &side);
		if (samples)
			html_write_times(p, &side, samples, &p->samples);
		json_object_end(&p->json);
	}
	html_free_side(&side);
}

/* Write each class of wait: number, name, hue, saturation, and what a thread waits for. */
static void html_write_waits(struct json *j)
{
	json_key(j, "waits");
	json_array(j);
#define WRITE_WAIT(NAME, hue, saturation, colour, meaning) \
	json_array(j); \
	json_uint(j, WAIT_##NAME); \
	json_text(j, wait_class_word(WAIT_##NAME)); \
	json_uint(j, hue); \
	json_uint(j, saturation); \
	json_text(j, meaning); \
	json_array_end(j);
	WAIT_COLOURS(WRITE_WAIT)
#undef WRITE_WAIT
	json_array_end(j);
}

static void html_write_data(struct html_page *p, const struct profile *profile,
			    const struct profile *before, const struct export_options *o)
{
	struct json *j = &p->json;

	json_object(j);
	json_key_text(j, "skein", SKEIN_VERSION);
	json_key_uint(j, "from", o->from);
	json_key_uint(j, "to", o->to);
	if (o->timeline && o->timeline->json) {
		json_key(j, "timeline");
		json_raw(j, o->timeline->json);
	}
	if (o->part) {
		json_key(j, "part");
		json_raw(j, o->part);
	}
	html_write_waits(j);
	json_key(j, "profiles");
	json_array(j);
	html_write_side(p, profile, o->timeline ? o->timeline->samples : NULL, before != NULL);
	if (before)
		html_write_side(p, before, NULL, true);
	json_array_end(j);
	json_key(j, "strings");
	json_array(j);
	for (size_t i = 0; i < p->strings.texts.count; i++)
		json_text(j, p->strings.texts.items[i]);
	json_array_end(j);
	json_object_end(j);
}

/* Write columns of the timeline apart, so that the page can take them in pieces. */
static void html_write_columns(FILE *out, const char *id, const char *columns)
{
	fprintf(out, "</script>\n<script id=\"%s\" type=\"text/plain\">", id);
	fputs(columns, out);
}

int html_write(FILE *out, const struct profile *profile, const struct profile *before,
	       const struct export_options *o, struct error *err)
{
	struct html_page p = {.from = o->from, .to = o->to};

	json_begin(&p.json, out, false);
	fwrite(page_parts.head, 1, page_parts.head_size, out);
	html_write_data(&p, profile, before, o);
	names_free(&p.strings);
	if (o->timeline && o->timeline->columns)
		html_write_columns(out, "columns", o->timeline->columns);
	if (p.samples)
		html_write_columns(out, "samples", p.samples);
	free(p.samples);
	fwrite(page_parts.tail, 1, page_parts.tail_size, out);
	return p.error ? error_errno(err, p.error, "cannot write the page") : 0;
}

int html_write_profile(FILE *out, const struct profile *profile, const struct export_options *o,
		       struct error *err)
{
	struct html_page p = {.from = o->from, .to = o->to};

	json_begin(&p.json, out, false);
	html_write_data(&p, profile, NULL, o);
	names_free(&p.strings);
	return p.error ? error_errno(err, p.error, "cannot write the profile") : 0;
}

static int html_write_one(FILE *out, const struct profile *p, const struct export_options *o,
			  struct error *err)
{
	return html_write(out, p, NULL, o, err);
}

int html_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	return profile_export(out, html_write_one, file, o, err);
}
