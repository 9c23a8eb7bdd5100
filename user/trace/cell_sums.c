// SPDX-License-Identifier: Apache-2.0
/* Exact sums of one cell, and rounding them to a struct cell. */
#include "trace/cell_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 8u /* maximum number of threads in a linear list; more are in a hash table */

uint16_t cell_state_key(uint64_t state, uint64_t wait)
{
	if (state > UINT8_MAX || !state)
		return STATE_UNKNOWN << 8;
	return (uint16_t)(state << 8 | (wait > UINT8_MAX ? 0 : wait));
}

static struct cell_sums_more *need_sums_more(struct cell_sums *m)
{
	if (!m->more)
		m->more = calloc(1, sizeof(*m->more));
	return m->more;
}

static inline uint16_t key_at(const struct cell_sums *m, uint32_t i)
{
	return i < CELL_STATES_FIRST ? m->keys[i] : m->more->keys[i - CELL_STATES_FIRST];
}

static inline uint64_t ns_at(const struct cell_sums *m, uint32_t i)
{
	return i < CELL_STATES_FIRST ? m->ns[i] : m->more->ns[i - CELL_STATES_FIRST];
}

/* Add time to a state for which the arrays in struct cell_sums itself have no room. */
static int add_rare_state(struct cell_sums *m, uint16_t key, uint64_t ns)
{
	uint32_t i;

	if (!need_sums_more(m))
		return -ENOMEM;
	for (i = CELL_STATES_FIRST; i < m->states; i++)
		if (key_at(m, i) == key)
			break;
	if (i == CELL_STATES_MAX - 1 && key != STATE_UNKNOWN << 8)
		return add_rare_state(m, STATE_UNKNOWN << 8, ns);
	if (i == m->states) {
		m->more->keys[i - CELL_STATES_FIRST] = key;
		m->more->ns[i - CELL_STATES_FIRST] = 0;
		m->states++;
	}
	m->more->ns[i - CELL_STATES_FIRST] += ns;
	return 0;
}

static inline int add_state(struct cell_sums *m, uint16_t key, uint64_t ns)
{
	uint32_t known = m->states < CELL_STATES_FIRST ? m->states : CELL_STATES_FIRST, i;

	for (i = 0; i < known; i++) {
		if (m->keys[i] != key)
			continue;
		m->ns[i] += ns;
		return 0;
	}
	if (i == CELL_STATES_FIRST)
		return add_rare_state(m, key, ns);
	m->keys[i] = key;
	m->ns[i] = ns;
	m->states++;
	return 0;
}

static uint32_t thread_slot(uint64_t thread, uint32_t capacity)
{
	return (uint32_t)(thread * 0x9e3779b97f4a7c15ULL >> 32) & (capacity - 1);
}

/*
 * Return the thread's slot, or the free slot where the thread belongs; NULL if the threads form a
 * list and the list is full.
 */
static struct cell_thread_sum *find_thread_sum(const struct cell_sums_more *m, uint64_t thread)
{
	uint32_t at;

	if (m->thread_capacity <= LIST_MAX) {
		for (at = 0; at < m->thread_count; at++)
			if (m->threads[at].thread == thread)
				return &m->threads[at];
		return at < m->thread_capacity ? &m->threads[at] : NULL;
	}
	at = thread_slot(thread, m->thread_capacity);
	while (m->threads[at].thread && m->threads[at].thread != thread)
		at = (at + 1) & (m->thread_capacity - 1);
	return &m->threads[at];
}

static int grow_threads(struct cell_sums_more *m)
{
	struct cell_sums_more bigger;

	bigger.thread_count = 0;
	bigger.thread_capacity = m->thread_capacity ? 2 * m->thread_capacity : LIST_MAX / 4;
	if (m->thread_capacity == LIST_MAX)
		bigger.thread_capacity = 4 * LIST_MAX;
	bigger.threads = calloc(bigger.thread_capacity, sizeof(*bigger.threads));
	if (!bigger.threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->thread_capacity; i++)
		if (m->threads[i].thread) {
			*find_thread_sum(&bigger, m->threads[i].thread) = m->threads[i];
			bigger.thread_count++;
		}
	free(m->threads);
	m->threads = bigger.threads;
	m->thread_capacity = bigger.thread_capacity;
	return 0;
}

static bool is_thread_table_full(const struct cell_sums_more *m)
{
	if (m->thread_capacity <= LIST_MAX)
		return m->thread_count == m->thread_capacity;
	return m->thread_count >= m->thread_capacity / 2;
}

static int add_thread_sum(struct cell_sums_more *m, uint64_t thread, uint64_t ns)
{
	struct cell_thread_sum *t;

	if (!m)
		return -ENOMEM;
	t = m->thread_capacity ? find_thread_sum(m, thread) : NULL;
	if (t && t->thread) {
		t->ns += ns;
		return 0;
	}
	if (m->thread_count == CELL_THREADS_MAX) {
		m->others += ns;
		return 0;
	}
	if (is_thread_table_full(m)) {
		if (grow_threads(m) < 0)
			return -ENOMEM;
		t = find_thread_sum(m, thread);
	}
	*t = (struct cell_thread_sum){thread, ns};
	m->thread_count++;
	return 0;
}

int cell_sums_add(struct cell_sums *m, uint16_t key, uint64_t thread, uint64_t ns)
{
	m->total += ns;
	if (add_state(m, key, ns) < 0)
		return -ENOMEM;
	return thread && key >> 8 == STATE_RUNNING ? add_thread_sum(need_sums_more(m), thread, ns)
						   : 0;
}

int cell_sums_merge(struct cell_sums *m, const struct cell_sums *from)
{
	const struct cell_sums_more *more = from->more;

	if (!more && !m->more && !m->total) {
		*m = *from;
		return 0;
	}
	m->total += from->total;
	for (uint32_t i = 0; i < from->states; i++)
		if (add_state(m, key_at(from, i), ns_at(from, i)) < 0)
			return -ENOMEM;
	if (!more || !more->thread_count)
		return 0;
	if (!need_sums_more(m))
		return -ENOMEM;
	m->more->others += more->others;
	for (uint32_t i = 0; i < more->thread_capacity; i++)
		if (more->threads[i].thread &&
		    add_thread_sum(m->more, more->threads[i].thread, more->threads[i].ns) < 0)
			return -ENOMEM;
	return 0;
}

/* Return the number of slots that threads may be in. */
static uint32_t thread_slots(const struct cell_sums_more *m)
{
	return m->thread_capacity <= LIST_MAX ? m->thread_count : m->thread_capacity;
}

void cell_sums_clear(struct cell_sums *m)
{
	m->total = 0;
	m->states = 0;
	if (!m->more || !m->more->thread_count)
		return;
	memset(m->more->threads, 0, sizeof(*m->more->threads) * thread_slots(m->more));
	m->more->thread_count = 0;
	m->more->others = 0;
}

void cell_sums_free(struct cell_sums *m)
{
	if (m->more)
		free(m->more->threads);
	free(m->more);
	*m = (struct cell_sums){0};
}

static uint64_t ns_of_state(const struct cell_sums *m, uint8_t state)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < m->states; i++)
		if (key_at(m, i) >> 8 == state)
			ns += ns_at(m, i);
	return ns;
}

/*
 * Return the state that lasted longest, adding up all its wait classes; of equally long states the
 * one with the lower number.
 */
static uint8_t longest_state(const struct cell_sums *m)
{
	uint64_t most = 0, ns;
	uint8_t best = 0, state;

	if (m->states == 1)
		return (uint8_t)(m->keys[0] >> 8);
	for (uint32_t i = 0; i < m->states; i++) {
		state = (uint8_t)(key_at(m, i) >> 8);
		ns = ns_of_state(m, state);
		if (ns > most || (ns == most && state < best)) {
			most = ns;
			best = state;
		}
	}
	return best;
}

static uint8_t longest_wait(const struct cell_sums *m, uint8_t state)
{
	uint64_t most = 0;
	uint8_t best = 0;

	for (uint32_t i = 0; i < m->states; i++) {
		uint16_t key = key_at(m, i);
		uint64_t ns = ns_at(m, i);

		if (key >> 8 != state || ns < most || (ns == most && (uint8_t)key >= best))
			continue;
		most = ns;
		best = (uint8_t)key;
	}
	return best;
}

/*
 * Return the thread that ran longest, of equals the one with the lower id; 0 if no thread ran.
 * Also 0 if the time of the threads without a sum of their own could make another thread equal to
 * or longer than the longest one.
 */
static uint64_t longest_thread(const struct cell_sums_more *m)
{
	struct cell_thread_sum best = {0}, next = {0};

	if (!m || !m->thread_count)
		return 0;
	if (m->thread_count == 1 && m->thread_capacity <= LIST_MAX)
		return m->threads->thread;
	for (uint32_t i = 0, slots = thread_slots(m); i < slots; i++) {
		const struct cell_thread_sum *t = &m->threads[i];

		if (!t->thread)
			continue;
		if (t->ns > best.ns || (t->ns == best.ns && t->thread < best.thread)) {
			next = best;
			best = *t;
		} else if (t->ns > next.ns) {
			next = *t;
		}
	}
	return m->others && best.ns <= next.ns + m->others ? 0 : best.thread;
}

static uint8_t activity_of_ns(uint64_t ran, unsigned int shift)
{
	uint64_t ns = 1ULL << shift, share;

	if (!ran || ran >= ns)
		return ran ? CELL_FULL : 0;
	/* This does not overflow, because cells are at most 1 << 52 ns. */
	share = (ran * CELL_FULL + ns / 2) >> shift;
	return share < 1 ? 1 : share >= CELL_FULL ? CELL_FULL - 1 : (uint8_t)share;
}

/* Return whether the sums are of two states, each with one wait: those of most cells are. */
static bool is_of_two_states(const struct cell_sums *m)
{
	return m->states == 2 && m->keys[0] >> 8 != m->keys[1] >> 8;
}

/* Round the sums of two states, as cell_sums_round() does those of any number. */
static struct cell round_two_states(const struct cell_sums *m, unsigned int shift)
{
	unsigned int longest =
		m->ns[1] > m->ns[0] || (m->ns[1] == m->ns[0] && m->keys[1] >> 8 < m->keys[0] >> 8);
	uint64_t ran = (m->keys[0] >> 8 == STATE_RUNNING ? m->ns[0] : 0) +
		       (m->keys[1] >> 8 == STATE_RUNNING ? m->ns[1] : 0);

	return (struct cell){.activity = activity_of_ns(ran, shift),
			     .state = (uint8_t)(m->keys[longest] >> 8),
			     .wait = (uint8_t)m->keys[longest],
			     .thread = longest_thread(m->more)};
}

struct cell cell_sums_round(const struct cell_sums *m, unsigned int shift)
{
	struct cell c = {0};

	if (!m->total)
		return c;
	if (is_of_two_states(m))
		return round_two_states(m, shift);
	c.activity = activity_of_ns(ns_of_state(m, STATE_RUNNING), shift);
	c.state = longest_state(m);
	c.wait = longest_wait(m, c.state);
	c.thread = longest_thread(m->more);
	return c;
}

struct cell cell_of_state(uint16_t key, uint64_t thread)
{
	bool runs = key >> 8 == STATE_RUNNING;

	return (struct cell){.activity = runs ? CELL_FULL : 0,
			     .state = (uint8_t)(key >> 8),
			     .wait = (uint8_t)key,
			     .thread = runs ? thread : 0};
}
