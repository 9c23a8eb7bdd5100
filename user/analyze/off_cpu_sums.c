// SPDX-License-Identifier: Apache-2.0
/* Add up waits by stack, group, lock, waker, class of wait and function (off_cpu.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/off_cpu_private.h"

/* Two numbers that occur together, such as a site and a waker, and their weight. */
struct shared {
	uint32_t from, to;
	uint64_t weight; /* ns */
};

/* The pairs of one kind. */
struct shares {
	struct names keys; /* struct shared.from and .to, as bytes; the number is the index */
	VECTOR(struct shared) list;
};

enum shares_kind { SITE_WAKER, LOCK_WAKER, LOCK_SITE, LOCK_THREAD, WAKER_PATH, SHARES_KINDS };

struct off_cpu_builder {
	struct off_cpu *out;
	const struct off_cpu_query *query;
	uint32_t *node_of; /* by index of the stack in the profile; OFF_CPU_NONE: not made yet */
	struct names nodes, groups, wakers; /* keys; the number is the index */
	struct names keys[OFF_CPU_KINDS];
	struct shares shares[SHARES_KINDS];
	struct index functions; /* symbol -> index */
	uint64_t *seen; /* by number of the symbol: number + 1 of the site that counted it last */
};

static int add_share(struct shares *s, uint32_t from, uint32_t to, uint64_t weight)
{
	const uint32_t key[] = {from, to};
	const struct shared fresh = {.from = from, .to = to};
	uint32_t at;

	if (names_intern(&s->keys, key, sizeof(key), &at) < 0)
		return -ENOMEM;
	if (at == s->list.count && vector_push(&s->list, fresh) < 0)
		return -ENOMEM;
	s->list.items[at].weight += weight;
	return 0;
}

/* Get the node of a frame below the node of its caller. */
static int find_node(struct off_cpu_builder *s, uint32_t caller, uint32_t frame, uint32_t *out)
{
	const struct symbols *names = s->query->symbols;
	const struct off_cpu_node node = {
		.caller = caller,
		.symbol = frame == PROFILE_NONE ? names->unknown : names->of_frame[frame],
		.frame = frame,
	};
	const uint32_t key[] = {node.caller, node.symbol};

	if (names_intern(&s->nodes, key, sizeof(key), out) < 0)
		return -ENOMEM;
	return *out < s->out->nodes.count ? 0 : vector_push(&s->out->nodes, node);
}

/* Get the node of a stack's innermost frame. The callers' nodes are made on the way. */
static int node_of_stack(struct off_cpu_builder *s, uint32_t stack, uint32_t *out)
{
	const struct profile *p = s->query->profile;
	VECTOR(uint32_t) path = {0};
	uint32_t node = OFF_CPU_NONE;
	int ret = 0;

	for (; stack != PROFILE_NONE && !ret; stack = p->stacks[stack].parent) {
		node = s->node_of[stack];
		if (node != OFF_CPU_NONE)
			break;
		ret = vector_push(&path, stack);
	}
	for (size_t i = path.count; i-- && !ret;) {
		ret = find_node(s, node, p->stacks[path.items[i]].frame, &node);
		s->node_of[path.items[i]] = ret ? OFF_CPU_NONE : node;
	}
	vector_free(&path);
	*out = node;
	return ret;
}

/* Get the number of the group of a thread; a new one gets a name. */
static int group_of(struct off_cpu_builder *s, uint64_t thread, struct names *keys, uint32_t *out,
		    const char **name)
{
	const struct sched_names *n = s->query->names;
	const struct thread *t = sched_names_thread(n, thread);

	*name = group_number(keys, s->query->by, sched_names_process(n, t ? t->process : 0), t,
			     out);
	return *name ? 0 : -ENOMEM;
}

static int number_of_group(struct off_cpu_builder *s, uint64_t thread, uint32_t *out)
{
	const char *name;

	if (group_of(s, thread, &s->groups, out, &name) < 0)
		return -ENOMEM;
	return *out < s->out->groups.count ? 0 : vector_push(&s->out->groups, name);
}

uint32_t off_cpu_interrupt(uint32_t flags)
{
	for (uint32_t kind = INTERRUPT_TIMER; kind < INTERRUPT_COUNT; kind++)
		if (flags & (uint32_t)SAMPLE_FLAG_BY_TIMER << (kind - INTERRUPT_TIMER))
			return SCHED_INTERRUPT + kind;
	return SCHED_INTERRUPT + INTERRUPT_NONE;
}

/* Get the number that stands for the waker of waits that had not ended. */
static int not_ended_number(struct off_cpu_builder *s, uint32_t *out)
{
	const uint32_t key = SCHED_INTERRUPT + INTERRUPT_COUNT; /* that of no interrupt */

	if (names_intern(&s->wakers, &key, sizeof(key), out) < 0)
		return -ENOMEM;
	s->out->not_ended = *out;
	return *out < s->out->wakers.count ? 0 : vector_push(&s->out->wakers, OFF_CPU_NOT_ENDED);
}

int off_cpu_waker_number(struct off_cpu_builder *s, uint64_t thread, uint32_t interrupt,
			 uint32_t *out)
{
	const char *name = sched_interrupt_name(interrupt);
	int ret;

	if (thread)
		ret = group_of(s, thread, &s->wakers, out, &name);
	else
		ret = names_intern(&s->wakers, &interrupt, sizeof(interrupt), out);
	if (ret < 0)
		return ret;
	return *out < s->out->wakers.count ? 0 : vector_push(&s->out->wakers, name);
}

static const struct process *process_of(const struct off_cpu_builder *s, uint64_t thread)
{
	const struct thread *t = sched_names_thread(s->query->names, thread);

	return sched_names_process(s->query->names, t ? t->process : 0);
}

/* Add a wait to the row of a table with the key of *fresh; get its number. */
static int add_to_row(struct off_cpu_builder *s, enum off_cpu_kind kind,
		      const struct off_cpu_row *fresh, const struct read_wait *w, uint32_t *out)
{
	const uint64_t process = kind == OFF_CPU_LOCKS ? fresh->process->id : 0;
	const uint64_t key[] = {
		(uint64_t)fresh->group << 32 | fresh->node,
		(uint64_t)fresh->wait << 32 | fresh->waker,
		fresh->address,
		process,
	};
	struct off_cpu_table *t = &s->out->tables[kind];

	if (names_intern(&s->keys[kind], key, sizeof(key), out) < 0)
		return -ENOMEM;
	if (*out == t->list.count && vector_push(&t->list, *fresh) < 0)
		return -ENOMEM;
	wait_sum_add(&t->list.items[*out].sum, w->length, w->weight);
	if (w->flags & SAMPLE_FLAG_NOT_ENDED)
		t->list.items[*out].not_ended += w->weight;
	return 0;
}

static int add_lock(struct off_cpu_builder *s, const struct read_wait *w, uint32_t site,
		    uint32_t waker)
{
	struct off_cpu_row row = {.address = w->address, .process = process_of(s, w->thread)};
	uint32_t lock;
	int ret;

	if (!w->address)
		return 0;
	ret = add_to_row(s, OFF_CPU_LOCKS, &row, w, &lock);
	if (!ret)
		ret = add_share(&s->shares[LOCK_SITE], lock, site, w->weight);
	if (!ret)
		ret = add_share(&s->shares[LOCK_WAKER], lock, waker, w->weight);
	/* Ids of threads grow by 1, so that 32 bits hold them. */
	if (!ret)
		ret = add_share(&s->shares[LOCK_THREAD], lock, (uint32_t)w->thread, w->weight);
	return ret;
}

static int add_waker(struct off_cpu_builder *s, const struct read_wait *w, uint32_t group,
		     uint32_t waker)
{
	struct off_cpu_row row = {
		.group = group, .waker = waker, .process = process_of(s, w->thread)};
	uint32_t number, node;
	int ret = add_to_row(s, OFF_CPU_WAKERS, &row, w, &number);

	if (ret || w->waker_stack == PROFILE_NONE)
		return ret;
	ret = node_of_stack(s, w->waker_stack, &node);
	return ret ? ret : add_share(&s->shares[WAKER_PATH], number, node, w->weight);
}

static int add_wait(struct off_cpu_builder *s, struct read_wait *w)
{
	struct off_cpu_row row = {
		.process = process_of(s, w->thread),
		.thread = sched_names_thread(s->query->names, w->thread),
	};
	struct off_cpu_row of_class = {.wait = (enum wait_class)w->wait};
	uint32_t waker, ignored;
	int ret = number_of_group(s, w->thread, &row.group);

	wait_sum_add(&s->out->sum, w->length, w->weight);
	if (!ret && w->flags & SAMPLE_FLAG_NOT_ENDED)
		ret = not_ended_number(s, &waker);
	else if (!ret)
		ret = off_cpu_waker_number(s, w->waker, off_cpu_interrupt(w->flags), &waker);
	if (!ret)
		ret = add_to_row(s, OFF_CPU_GROUPS, &row, w, &ignored);
	if (!ret)
		ret = add_to_row(s, OFF_CPU_CLASSES, &of_class, w, &ignored);
	if (!ret)
		ret = node_of_stack(s, w->stack, &row.node);
	row.wait = of_class.wait;
	if (!ret)
		ret = add_to_row(s, OFF_CPU_SITES, &row, w, &w->site);
	if (!ret)
		ret = add_share(&s->shares[SITE_WAKER], w->site, waker, w->weight);
	if (!ret)
		ret = add_lock(s, w, w->site, waker);
	return ret ? ret : add_waker(s, w, row.group, waker);
}

bool off_cpu_is_of_system(const struct profile *p, uint32_t frame)
{
#define LIBRARY(name) name,
	static const char *const libraries[] = {WAITING_LIBRARIES(LIBRARY)};
#undef LIBRARY
	const char *module;

	if (frame == PROFILE_NONE || p->frames[frame].f.kind == FRAME_KERNEL ||
	    p->frames[frame].f.kind == FRAME_END)
		return true;
	if (p->frames[frame].f.kind == FRAME_PYTHON)
		return false;
	module = profile_module_name(p, p->frames[frame].mapping);
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (!strncmp(module, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

uint32_t off_cpu_own_symbol(const struct off_cpu_builder *s, uint32_t site)
{
	uint32_t at = s->out->tables[OFF_CPU_SITES].list.items[site].node;

	for (; at != OFF_CPU_NONE; at = s->out->nodes.items[at].caller)
		if (!off_cpu_is_of_system(s->query->profile, s->out->nodes.items[at].frame))
			return s->out->nodes.items[at].symbol;
	return OFF_CPU_NONE;
}

static int find_waiting_function(struct off_cpu_builder *s, uint32_t symbol, uint32_t *out)
{
	const struct off_cpu_function fresh = {.symbol = symbol};

	*out = index_get(&s->functions, symbol);
	if (*out != INDEX_NONE)
		return 0;
	*out = (uint32_t)s->out->functions.count;
	if (vector_push(&s->out->functions, fresh) < 0)
		return -ENOMEM;
	return index_put(&s->functions, symbol, *out);
}

static void add_own_wait(struct off_cpu_function *f, const struct off_cpu_row *site)
{
	wait_sum_merge(&f->own, &site->sum);
	wait_sum_merge(&f->own_by[site->wait], &site->sum);
}

/* Add the sum of a site to all functions of its stack, once to each. */
static int add_site_to_functions(struct off_cpu_builder *s, uint32_t site)
{
	const struct off_cpu_row *row = &s->out->tables[OFF_CPU_SITES].list.items[site];
	bool owned = false;

	for (uint32_t at = row->node; at != OFF_CPU_NONE; at = s->out->nodes.items[at].caller) {
		const struct off_cpu_node *node = &s->out->nodes.items[at];
		uint32_t function;

		if (find_waiting_function(s, node->symbol, &function) < 0)
			return -ENOMEM;
		if (!owned && !off_cpu_is_of_system(s->query->profile, node->frame)) {
			add_own_wait(&s->out->functions.items[function], row);
			owned = true;
		}
		if (s->seen[node->symbol] == site + 1)
			continue; /* a recursion */
		s->seen[node->symbol] = site + 1;
		wait_sum_merge(&s->out->functions.items[function].total, &row->sum);
	}
	if (!owned)
		add_own_wait(&s->out->system, row);
	return 0;
}

/*
 * Set the symbol of the innermost function of each stack that is not of the system; OFF_CPU_NONE if
 * there is none. Callers come before the functions that they call.
 */
static uint32_t *own_symbols_of_stacks(const struct off_cpu_builder *s)
{
	const struct profile *p = s->query->profile;
	uint32_t *own = malloc(((size_t)p->count.stacks + 1) * sizeof(*own));

	for (uint32_t i = 0; own && i < p->count.stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];

		if (!off_cpu_is_of_system(p, stack->frame))
			own[i] = s->query->symbols->of_frame[stack->frame];
		else
			own[i] = stack->parent == PROFILE_NONE ? OFF_CPU_NONE : own[stack->parent];
	}
	return own;
}

/* Add times on CPUs to the functions that have them, or whose calls to the system have. */
static int add_running(struct off_cpu_builder *s)
{
	const struct profile *p = s->query->profile;
	uint32_t event = profile_main_event(p);
	uint32_t *own;
	int ret = 0;

	if (event >= p->count.events || event_is_of_waits(p->events[event].name) ||
	    strcmp(p->events[event].unit, "ns"))
		return 0;
	own = own_symbols_of_stacks(s);
	if (!own)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.sums && !ret; i++) {
		const struct profile_sum *sum = &p->sums[i];
		uint32_t symbol = sum->stack == PROFILE_NONE ? OFF_CPU_NONE : own[sum->stack], at;

		if (sum->event != event)
			continue;
		if (symbol == OFF_CPU_NONE) {
			s->out->system.running += sum->weight;
			continue;
		}
		ret = find_waiting_function(s, symbol, &at);
		if (!ret)
			s->out->functions.items[at].running += sum->weight;
	}
	free(own);
	return ret;
}

/* Set the largest part of each row: of those with one number, or the number of parts. */
static void set_parts(struct off_cpu_table *t, const struct shares *s, size_t member)
{
	for (size_t i = 0; i < s->list.count; i++) {
		const struct shared *one = &s->list.items[i];
		struct off_cpu_row *row = &t->list.items[one->from];
		struct off_cpu_part *part = (void *)((char *)row + member);

		if (one->weight > part->weight)
			*part = (struct off_cpu_part){one->to, one->weight};
	}
}

static void set_all_parts(struct off_cpu_builder *s)
{
	struct off_cpu_table *tables = s->out->tables;
	const struct shares *threads = &s->shares[LOCK_THREAD];

	for (int kind = 0; kind < OFF_CPU_KINDS; kind++)
		for (size_t i = 0; i < tables[kind].list.count; i++) {
			struct off_cpu_row *row = &tables[kind].list.items[i];

			row->by.number = row->site.number = row->path.number = OFF_CPU_NONE;
			row->chain.number = OFF_CPU_NONE;
		}
	set_parts(&tables[OFF_CPU_SITES], &s->shares[SITE_WAKER], offsetof(struct off_cpu_row, by));
	set_parts(&tables[OFF_CPU_LOCKS], &s->shares[LOCK_WAKER], offsetof(struct off_cpu_row, by));
	set_parts(&tables[OFF_CPU_LOCKS], &s->shares[LOCK_SITE],
		  offsetof(struct off_cpu_row, site));
	set_parts(&tables[OFF_CPU_WAKERS], &s->shares[WAKER_PATH],
		  offsetof(struct off_cpu_row, path));
	for (size_t i = 0; i < threads->list.count; i++)
		tables[OFF_CPU_LOCKS].list.items[threads->list.items[i].from].threads++;
}

/* Compare sums, the larger one first. */
static int compare_sums(const struct wait_sum *x, const struct wait_sum *y)
{
	double a = wait_sum_total(x), b = wait_sum_total(y);

	return (a < b) - (a > b);
}

/* Equal sums are ordered by what makes the keys differ, so that a report is always the same. */
static int compare_off_cpu_rows(const void *a, const void *b)
{
	const struct off_cpu_row *x = a, *y = b;
	int by = compare_sums(&x->sum, &y->sum);

	if (!by)
		by = (x->group > y->group) - (x->group < y->group);
	if (!by)
		by = (x->node > y->node) - (x->node < y->node);
	if (!by)
		by = (x->waker > y->waker) - (x->waker < y->waker);
	return by ? by : (x->address > y->address) - (x->address < y->address);
}

static int compare_off_cpu_functions(const void *a, const void *b)
{
	const struct off_cpu_function *x = a, *y = b;
	int by = compare_sums(&x->own, &y->own);

	if (!by)
		by = (x->running < y->running) - (x->running > y->running);
	if (!by)
		by = compare_sums(&x->total, &y->total);
	return by ? by : (x->symbol > y->symbol) - (x->symbol < y->symbol);
}

/* Sites are sorted last, since locks refer to them by number: update the numbers. */
static int sort_sites(struct off_cpu *o)
{
	struct off_cpu_table *t = &o->tables[OFF_CPU_SITES], *locks = &o->tables[OFF_CPU_LOCKS];
	uint32_t *moved = calloc(t->list.count + 1, sizeof(*moved));

	if (!moved)
		return -ENOMEM;
	for (size_t i = 0; i < t->list.count; i++)
		t->list.items[i].site.number = (uint32_t)i;
	qsort(t->list.items, t->list.count, sizeof(struct off_cpu_row), compare_off_cpu_rows);
	for (size_t i = 0; i < t->list.count; i++) {
		moved[t->list.items[i].site.number] = (uint32_t)i;
		t->list.items[i].site.number = (uint32_t)i;
	}
	for (size_t i = 0; i < locks->list.count; i++)
		locks->list.items[i].site.number = moved[locks->list.items[i].site.number];
	free(moved);
	return 0;
}

static int sort_tables(struct off_cpu *o)
{
	for (int kind = OFF_CPU_GROUPS; kind < OFF_CPU_KINDS; kind++)
		if (o->tables[kind].list.count)
			qsort(o->tables[kind].list.items, o->tables[kind].list.count,
			      sizeof(struct off_cpu_row), compare_off_cpu_rows);
	if (o->functions.count)
		qsort(o->functions.items, o->functions.count, sizeof(struct off_cpu_function),
		      compare_off_cpu_functions);
	return o->tables[OFF_CPU_SITES].list.count ? sort_sites(o) : 0;
}

static int sums_begin(struct off_cpu_builder *s)
{
	size_t stacks = (size_t)s->query->profile->count.stacks + 1;
	size_t symbols = s->query->symbols->names.texts.count + 1;

	s->node_of = malloc(stacks * sizeof(*s->node_of));
	s->seen = calloc(symbols, sizeof(*s->seen));
	if (!s->node_of || !s->seen)
		return -ENOMEM;
	memset(s->node_of, 0xff, stacks * sizeof(*s->node_of)); /* OFF_CPU_NONE */
	return 0;
}

static void sums_end(struct off_cpu_builder *s)
{
	free(s->node_of);
	free(s->seen);
	names_free(&s->nodes);
	names_free(&s->groups);
	names_free(&s->wakers);
	for (int kind = 0; kind < OFF_CPU_KINDS; kind++)
		names_free(&s->keys[kind]);
	for (int kind = 0; kind < SHARES_KINDS; kind++) {
		names_free(&s->shares[kind].keys);
		vector_free(&s->shares[kind].list);
	}
	index_free(&s->functions);
}

int off_cpu_add_up(struct off_cpu *out, const struct off_cpu_query *q, struct read_waits *from)
{
	struct off_cpu_builder s = {.out = out, .query = q};
	int ret = sums_begin(&s);

	out->not_ended = OFF_CPU_NONE;
	for (size_t i = 0; i < from->waits.count && !ret; i++)
		ret = add_wait(&s, &from->waits.items[i]);
	for (uint32_t i = 0; i < out->tables[OFF_CPU_SITES].list.count && !ret; i++)
		ret = add_site_to_functions(&s, i);
	if (!ret && q->running)
		ret = add_running(&s);
	if (!ret)
		set_all_parts(&s);
	if (!ret && !q->no_chains)
		ret = off_cpu_add_chains(&s, out, q, from);
	if (!ret)
		ret = sort_tables(out);
	sums_end(&s);
	return ret;
}
