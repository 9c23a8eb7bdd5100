// SPDX-License-Identifier: Apache-2.0
/* Follow the memory budget of the service (serve_memory.h). */
#include "cmd/serve_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/process_memory.h"
#include "base/text.h"
#include "base/units.h"
#include "capture/clock.h"

/*
 * Time between two measurements, ns. One takes 0.1 ms of CPU time, and 3 ms near the budget (2
 * CPUs, 60 MiB): then pages that processes share are divided among them.
 */
#define MEASURE_TIME (10 * NSEC_PER_SEC)
#define NEAR_BUDGET MEMORY_MARGIN /* % */
/*
 * The part of the budget that a worker may keep of names until the first measurement. Two compilers
 * in a loop (clang, gcc) needed 34 MiB before names were packed; a worker with less than it needs
 * reads the tables of their libraries again and again, 0.1 s each: with 16 and 24 MiB it took 12
 * and 10 % of a core, with 64 0.1 %.
 */
#define FIRST_NAMES_PART 2

_Static_assert(CAPTURE_HELPERS_MAX <= MEMORY_HELPERS_MAX, "room for all helpers");

void serve_memory_begin(struct serve_memory *m, uint64_t limit, struct governor *g,
			struct capture_options *o)
{
	const uint64_t names = limit / FIRST_NAMES_PART;

	*m = (struct serve_memory){.measured = 0};
	memory_budget_init(&m->budget, limit, g->count);
	show_bytes(limit, m->text, sizeof(m->text));
	if (limit)
		o->memory.symbols = names > MEMORY_NAMES_LEAST ? names : MEMORY_NAMES_LEAST;
}

/* What a process takes, with its part of pages that it shares; without the right to see, all. */
static uint64_t divided_memory(pid_t pid)
{
	uint64_t bytes = process_memory_share(pid);

	return bytes ? bytes : process_memory(pid);
}

/* Make m->helpers those that run now, and keep when each was seen first. */
static void note_helpers(struct serve_memory *m, const struct capture_helper *helpers,
			 unsigned int count, uint64_t now)
{
	struct memory_helper next[CAPTURE_HELPERS_MAX];

	for (unsigned int i = 0; i < count; i++) {
		/* those of the first measurement have been there from the start */
		next[i] = (struct memory_helper){.pid = helpers[i].pid,
						 .keeps_names = helpers[i].keeps_names,
						 .since = m->helper_count ? now : 0};
		for (unsigned int k = 0; k < m->helper_count; k++)
			if (m->helpers[k].pid == next[i].pid)
				next[i] = m->helpers[k];
	}
	memcpy(m->helpers, next, count * sizeof(*next));
	m->helper_count = count;
}

/* Measure all processes. Return their bytes. */
static uint64_t measure_processes(struct serve_memory *m, uint64_t (*measure)(pid_t pid),
				  const struct network *network)
{
	struct serve_memory_use *u = &m->use;
	pid_t pids[NETWORK_PROCESSES];
	unsigned int count = network_pids(network, pids);

	*u = (struct serve_memory_use){.core = measure(getpid())};
	for (unsigned int i = 0; i < m->helper_count; i++) {
		m->helpers[i].bytes = measure(m->helpers[i].pid);
		u->helpers += m->helpers[i].bytes;
	}
	for (unsigned int i = 0; i < count; i++)
		u->network += measure(pids[i]);
	return u->core + u->helpers + u->network;
}

static void log_memory_step(struct serve_memory *m, const struct memory_measured *now,
			    enum memory_step step)
{
	static const char *const done[] = {
		[MEMORY_FORGET] = "what can be found again is forgotten",
		[MEMORY_REPLACE] = "a helper process that holds much is replaced",
		[MEMORY_SLOWER] = "the next lower rate",
	};
	const struct memory_budget *b = &m->budget;
	char bytes[32];

	show_bytes(now->bytes, bytes, sizeof(bytes));
	if (step == MEMORY_FASTER)
		log_info("serve: one rate higher again, within the memory budget of %s", m->text);
	else if (step != MEMORY_NOTHING)
		log_warn("serve: %s of memory, the budget is %s: %s", bytes, m->text, done[step]);
	else if (b->exceeded && !m->logged_exceeded)
		log_warn("serve: the memory budget of %s is exceeded at the lowest rate: %s",
			 m->text, bytes);
	m->logged_exceeded = b->exceeded || (m->logged_exceeded && now->bytes > b->bytes);
}

struct capture_relief serve_memory_relieve(struct serve_memory *m,
					   const struct capture_helper *helpers, unsigned int count,
					   const struct network *network, struct governor *g)
{
	struct memory_measured now = {.time = clock_boot_ns()};
	struct capture_relief relief = {.forget = false};
	const struct memory_helper *helper;
	enum memory_step step;

	if (m->measured && now.time < m->measured + MEASURE_TIME)
		return relief;
	m->measured = now.time;
	note_helpers(m, helpers, count, now.time);
	now.bytes = measure_processes(m, process_memory, network);
	if (m->budget.bytes && now.bytes / NEAR_BUDGET * 100 > m->budget.bytes)
		now.bytes = measure_processes(m, divided_memory, network);
	helper = memory_budget_choose(&m->budget, m->helpers, m->helper_count, now.time);
	now.helper = helper ? helper->bytes : 0;
	step = memory_budget_step(&m->budget, &now);
	log_memory_step(m, &now, step);
	governor_hold(g, m->budget.slower);
	relief.forget = step == MEMORY_FORGET;
	relief.replace = step == MEMORY_REPLACE ? helper->pid : 0;
	memory_budget_share(&m->budget, m->helpers, m->helper_count, m->use.core + m->use.network,
			    relief.keep);
	return relief;
}

bool serve_memory_is_clamped(const struct serve_memory *m)
{
	const struct memory_budget *b = &m->budget;

	return b->slower || (b->acted && b->acted == m->measured);
}

void serve_memory_status(const struct serve_memory *m, char *buf, size_t size, size_t used)
{
	const struct serve_memory_use *u = &m->use;
	const struct memory_budget *b = &m->budget;
	char bytes[32];

	used = text_append(buf, size, used, "; %s of memory",
			   show_bytes(u->core + u->helpers + u->network, bytes, sizeof(bytes)));
	if (b->exceeded || b->slower || b->clamps)
		text_append(buf, size, used, ": budget of %s %s, %" PRIu64 " steps so far", m->text,
			    b->exceeded ? "exceeded" : "reached", b->clamps);
}

char *serve_memory_show(uint64_t limit, char *buf, size_t size)
{
	char bytes[32];

	if (limit)
		snprintf(buf, size, "%s of memory", show_bytes(limit, bytes, sizeof(bytes)));
	else
		snprintf(buf, size, "any memory");
	return buf;
}
