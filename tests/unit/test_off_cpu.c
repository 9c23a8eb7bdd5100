// SPDX-License-Identifier: Apache-2.0
/* Sums of waits by stack, lock, waker, class and function, compared with sums made by hand. */
#include <string.h>

#include "analyze/off_cpu.h"
#include "suite.h"
#include "waits_scene.h"

/*
 * Threads 11, 12 and 13 with lanes 101 to 103. 11 waits from 10 to 40 ms for 12, which waits from
 * 15 to 35 ms for 13, which a timer woke at 20 ms. 12 had woken 13 at 5 ms, before that wait began.
 */
#define TIMER_LANE 200
#define WOKEN(at, from, to) \
	{ \
		SCENE_START + (at)*MS, SCENE_START + (at)*MS, from, to, EDGE_WAKEUP, 1, 0 \
	}

static const struct edge wakes[] = {
	WOKEN(35, 103, 102),
	WOKEN(5, 102, 103),
	WOKEN(20, TIMER_LANE, 103),
	WOKEN(40, 102, 101),
};

static const struct sample linked_waits[] = {
	WAIT(36, 12, 3, 20 * MS, 0, 20 * MS, WAIT_PIPE, 0, 13),
	WAIT(40, 11, 8, 30 * MS, 0, 30 * MS, WAIT_PIPE, 0, 12),
};

static void build_chain(struct scene *s, const void *unused)
{
	scene_build(s, unused);
	scene_lane(s, .id = TIMER_LANE, .host = 1, .kind = LANE_INTERRUPT,
		   .number = INTERRUPT_TIMER);
	for (uint64_t i = 1; i <= 3; i++)
		scene_thread(s, .id = 10 + i, .process = 6, .tid = 300 + i, .comm = "link",
			     .lane = 100 + i);
	SCENE_PUT_ALL(s, EVENT, wait_events);
	SCENE_PUT_ALL(s, SAMPLE, linked_waits);
	SCENE_PUT_ALL(s, EDGE, wakes);
}

DEFINE_SCENE(chain_source, build_chain)

struct read {
	struct profile *profile;
	struct symbols symbols;
	struct sched_names names;
	struct off_cpu *all;
};

static bool is_main_thread(const void *context, const struct thread *t)
{
	(void)context;
	return t->id == 1;
}

static void read_source(struct read *r, struct source *source, uint64_t from, uint64_t to,
			bool selected)
{
	struct off_cpu_query q = {
		.names = &r->names,
		.symbols = &r->symbols,
		.by = GROUP_PROGRAM,
		.from = from,
		.to = to,
		.selected = selected ? is_main_thread : NULL,
	};
	struct error err = {""};

	*r = (struct read){0};
	ck_assert_int_eq(profile_read(&r->profile, source, NULL, &err), 0);
	ck_assert_int_eq(symbols_of(&r->symbols, r->profile), 0);
	ck_assert_int_eq(sched_names_of(&r->names, r->profile), 0);
	q.profile = r->profile;
	ck_assert_msg(!off_cpu_read(&r->all, source, &q, &err), "%s", err.text);
}

static void read_waits(struct read *r, uint64_t from, uint64_t to, bool selected)
{
	read_source(r, waits_source(), from, to, selected);
}

static void free_read(struct read *r)
{
	off_cpu_free(r->all);
	sched_names_free(&r->names);
	symbols_free(&r->symbols);
	profile_free(r->profile);
}

static const struct off_cpu_row *row(const struct read *r, enum off_cpu_kind kind, size_t i)
{
	ck_assert_uint_lt(i, r->all->tables[kind].list.count);
	return &r->all->tables[kind].list.items[i];
}

static const char *node_name(const struct read *r, uint32_t node)
{
	return symbol_name(&r->symbols, r->all->nodes.items[node].symbol);
}

static void check_sum(const struct wait_sum *s, uint64_t count, uint64_t ms)
{
	ck_assert_uint_eq(s->count, count);
	ck_assert(wait_sum_total(s) == (double)(ms * MS));
}

START_TEST(by_stack)
{
	struct read r;

	read_waits(&r, 0, 0, false);
	check_sum(&r.all->sum, 6, 107);
	ck_assert_uint_eq(r.all->largest, T);
	ck_assert_uint_eq(r.all->tables[OFF_CPU_SITES].list.count, 5);
	check_sum(&row(&r, OFF_CPU_SITES, 0)->sum, 1, 40);
	ck_assert_str_eq(node_name(&r, row(&r, OFF_CPU_SITES, 0)->node), "kthread");
	/* two of one sum: one wait in main, two in fib */
	check_sum(&row(&r, OFF_CPU_SITES, 1)->sum, 1, 30);
	check_sum(&row(&r, OFF_CPU_SITES, 2)->sum, 2, 30);
	ck_assert_str_eq(r.all->wakers.items[row(&r, OFF_CPU_SITES, 0)->by.number],
			 "[another CPU]");
	ck_assert_uint_eq(row(&r, OFF_CPU_SITES, 1)->by.weight +
				  row(&r, OFF_CPU_SITES, 2)->by.weight,
			  (20 + 30) * MS);
	ck_assert(off_cpu_half_width(r.all, &row(&r, OFF_CPU_SITES, 0)->sum) < 4 * (double)T);
	free_read(&r);
}
END_TEST

START_TEST(by_class_and_group)
{
	struct read r;

	read_waits(&r, 0, 0, false);
	check_sum(&row(&r, OFF_CPU_CLASSES, 0)->sum, 4, 62);
	ck_assert_int_eq(row(&r, OFF_CPU_CLASSES, 0)->wait, WAIT_LOCK);
	check_sum(&row(&r, OFF_CPU_CLASSES, 1)->sum, 1, 40);
	check_sum(&row(&r, OFF_CPU_CLASSES, 2)->sum, 1, 5);
	check_sum(&row(&r, OFF_CPU_GROUPS, 0)->sum, 5, 67);
	ck_assert_str_eq(r.all->groups.items[row(&r, OFF_CPU_GROUPS, 0)->group], "worker 3");
	free_read(&r);
}
END_TEST

START_TEST(locks)
{
	struct read r;
	const struct off_cpu_row *lock;

	read_waits(&r, 0, 0, false);
	ck_assert_uint_eq(r.all->tables[OFF_CPU_LOCKS].list.count, 1);
	lock = row(&r, OFF_CPU_LOCKS, 0);
	check_sum(&lock->sum, 4, 62);
	ck_assert_uint_eq(lock->address, LOCK_A);
	ck_assert_uint_eq(lock->threads, 2);
	ck_assert_uint_eq(lock->process->pid, 100);
	check_sum(&row(&r, OFF_CPU_SITES, lock->site.number)->sum,
		  row(&r, OFF_CPU_SITES, lock->site.number)->sum.count, 30);
	free_read(&r);
}
END_TEST

START_TEST(wakers_with_their_stacks)
{
	struct read r;
	bool evil = false;

	read_waits(&r, 0, 0, false);
	for (size_t i = 0; i < r.all->tables[OFF_CPU_WAKERS].list.count; i++) {
		const struct off_cpu_row *w = row(&r, OFF_CPU_WAKERS, i);
		const char *name = r.all->wakers.items[w->waker];

		if (name[0] == '[') {
			ck_assert_uint_eq(w->path.number, OFF_CPU_NONE);
		} else if (!strncmp(name, "we\x1b", 3) || !strncmp(name, "a;b", 3)) {
			evil = true;
			/* the stack of the certain wait; the other stack is of another wait */
			ck_assert_uint_eq(w->path.weight, 20 * MS);
			ck_assert_str_eq(node_name(&r, w->path.number), "LMain;::run\t\xc3\x28 42");
		} else {
			ck_assert_str_eq(node_name(&r, w->path.number), "main");
		}
	}
	ck_assert(evil);
	free_read(&r);
}
END_TEST

/* fib calls itself: its time counts once. main has it in its calls. */
START_TEST(functions)
{
	struct read r;
	unsigned int seen = 0;

	read_waits(&r, 0, 0, false);
	for (size_t i = 0; i < r.all->functions.count; i++) {
		const struct off_cpu_function *f = &r.all->functions.items[i];
		const char *name = symbol_name(&r.symbols, f->symbol);

		if (!strcmp(name, "fib")) {
			check_sum(&f->own, 3, 32);
			check_sum(&f->own_by[WAIT_LOCK], 3, 32);
			check_sum(&f->own_by[WAIT_SLEEP], 0, 0);
			check_sum(&f->total, 3, 32);
			seen++;
		} else if (!strcmp(name, "main")) {
			check_sum(&f->own, 2, 35); /* write is of the C library */
			check_sum(&f->total, 5, 67);
			seen++;
		}
	}
	ck_assert_uint_eq(seen, 2);
	/* the kernel thread has no other function */
	check_sum(&r.all->system.own, 1, 40);
	check_sum(&r.all->system.own_by[WAIT_OTHER], 1, 40);
	ck_assert_uint_eq(r.all->system.running, 0);
	free_read(&r);
}
END_TEST

START_TEST(selected_threads_and_times)
{
	struct read r;

	read_waits(&r, 0, 0, true);
	check_sum(&r.all->sum, 3, 32);
	free_read(&r);
	read_waits(&r, 41 * MS, 61 * MS, false);
	check_sum(&r.all->sum, 3, 52);
	free_read(&r);
}
END_TEST

START_TEST(chains_of_wakers)
{
	struct read r;
	const struct off_cpu_chain *chain;
	const struct off_cpu_row *site;

	read_source(&r, chain_source(), 0, 0, false);
	site = row(&r, OFF_CPU_SITES, 0);
	check_sum(&site->sum, 1, 30);
	ck_assert_uint_eq(site->chain.weight, 30 * MS);
	chain = &r.all->chains.items[site->chain.number];
	ck_assert_uint_eq(chain->count, 3);
	ck_assert(chain->links[0].woken && chain->links[0].sampled);
	ck_assert_str_eq(symbol_name(&r.symbols, chain->links[0].symbol),
			 "std::vector<int, std::allocator<int> >::push_back(int&&)");
	ck_assert(chain->links[1].woken && !chain->links[1].sampled);
	ck_assert(!chain->links[2].woken);
	ck_assert_str_eq(r.all->wakers.items[chain->links[2].waker], "[timer]");
	/* the wait of 12 began after 13's wake-up at 5 ms, but before that by the timer */
	site = row(&r, OFF_CPU_SITES, 1);
	ck_assert_uint_eq(r.all->chains.items[site->chain.number].count, 2);
	free_read(&r);
}
END_TEST

SUITE("off_cpu", by_stack, by_class_and_group, locks, wakers_with_their_stacks, functions,
      selected_threads_and_times, chains_of_wakers)
