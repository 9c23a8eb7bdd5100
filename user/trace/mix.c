// SPDX-License-Identifier: Apache-2.0
/* Exact sums of one cell, and what is left of them when it is rounded. */
#include "trace/mix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LIST_MAX 8u /* threads that are searched one by one */

uint16_t mix_key(uint64_t state, uint64_t wait)
{
	if (state > UINT8_MAX || !state)
		return STATE_UNKNOWN << 8;
	return (uint16_t)(state << 8 | (wait > UINT8_MAX ? 0 : wait));
}

static struct mix_state *new_state(struct mix *m, uint16_t key)
{
	struct mix_state *bigger;
	uint16_t capacity;

	if (m->state_count == m->state_capacity) {
		capacity = m->state_capacity ? (uint16_t)(2 * m->state_capacity) : 2;
		bigger = realloc(m->states, sizeof(*bigger) * capacity);
		if (!bigger)
			return NULL;
		m->states = bigger;
		m->state_capacity = capacity;
	}
	m->states[m->state_count] = (struct mix_state){0, key};
	return &m->states[m->state_count++];
}

static int add_state(struct mix *m, uint16_t key, uint64_t ns)
{
	struct mix_state *s;

	for (uint16_t i = 0; i < m->state_count; i++) {
		if (m->states[i].key != key)
			continue;
		m->states[i].ns += ns;
		return 0;
	}
	if (m->state_count >= MIX_STATES_MAX - 1 && key != STATE_UNKNOWN << 8)
		return add_state(m, STATE_UNKNOWN << 8, ns);
	s = new_state(m, key);
	if (!s)
		return -ENOMEM;
	s->ns = ns;
	return 0;
}

static uint32_t slot_of(uint64_t thread, uint32_t capacity)
{
	return (uint32_t)(thread * 0x9e3779b97f4a7c15ULL >> 32) & (capacity - 1);
}

/* The thread's slot, or the free one where it belongs. In a list that may be none. */
static struct mix_thread *find_thread(const struct mix *m, uint64_t thread)
{
	uint32_t at;

	if (m->thread_capacity <= LIST_MAX) {
		for (at = 0; at < m->thread_capacity; at++)
			if (m->threads[at].thread == thread || !m->threads[at].thread)
				return &m->threads[at];
		return NULL;
	}
	at = slot_of(thread, m->thread_capacity);
	while (m->threads[at].thread && m->threads[at].thread != thread)
		at = (at + 1) & (m->thread_capacity - 1);
	return &m->threads[at];
}

static int grow_threads(struct mix *m)
{
	struct mix bigger = {.thread_capacity = m->thread_capacity ? 2 * m->thread_capacity
								   : LIST_MAX / 4};

	if (m->thread_capacity == LIST_MAX)
		bigger.thread_capacity = 4 * LIST_MAX;
	bigger.threads = calloc(bigger.thread_capacity, sizeof(*bigger.threads));
	if (!bigger.threads)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->thread_capacity; i++)
		if (m->threads[i].thread)
			*find_thread(&bigger, m->threads[i].thread) = m->threads[i];
	free(m->threads);
	m->threads = bigger.threads;
	m->thread_capacity = bigger.thread_capacity;
	return 0;
}

static bool is_full(const struct mix *m)
{
	if (m->thread_capacity <= LIST_MAX)
		return m->thread_count == m->thread_capacity;
	return m->thread_count >= m->thread_capacity / 2;
}

static int add_thread(struct mix *m, uint64_t thread, uint64_t ns)
{
	struct mix_thread *t = m->thread_capacity ? find_thread(m, thread) : NULL;

	if (t && t->thread) {
		t->ns += ns;
		return 0;
	}
	if (m->thread_count == MIX_THREADS_MAX) {
		m->others += ns;
		return 0;
	}
	if (is_full(m)) {
		if (grow_threads(m) < 0)
			return -ENOMEM;
		t = find_thread(m, thread);
	}
	*t = (struct mix_thread){thread, ns};
	m->thread_count++;
	return 0;
}

int mix_add(struct mix *m, uint16_t key, uint64_t thread, uint64_t ns)
{
	m->told += ns;
	if (add_state(m, key, ns) < 0)
		return -ENOMEM;
	return thread && key >> 8 == STATE_RUNNING ? add_thread(m, thread, ns) : 0;
}

int mix_merge(struct mix *m, const struct mix *from)
{
	m->told += from->told;
	m->others += from->others;
	for (uint16_t i = 0; i < from->state_count; i++)
		if (add_state(m, from->states[i].key, from->states[i].ns) < 0)
			return -ENOMEM;
	for (uint32_t i = 0; i < from->thread_capacity; i++)
		if (from->threads[i].thread &&
		    add_thread(m, from->threads[i].thread, from->threads[i].ns) < 0)
			return -ENOMEM;
	return 0;
}

void mix_clear(struct mix *m)
{
	if (m->thread_count)
		memset(m->threads, 0, sizeof(*m->threads) * m->thread_capacity);
	m->told = m->others = 0;
	m->state_count = 0;
	m->thread_count = 0;
}

void mix_free(struct mix *m)
{
	free(m->states);
	free(m->threads);
	*m = (struct mix){0};
}

/* The state that lasted longest, all its waits together; of two the lower. */
static uint8_t longest_state(const struct mix *m)
{
	uint64_t ns[UINT8_MAX + 1] = {0};
	uint8_t best = 0;

	if (m->state_count == 1)
		return (uint8_t)(m->states[0].key >> 8);
	for (uint16_t i = 0; i < m->state_count; i++)
		ns[m->states[i].key >> 8] += m->states[i].ns;
	for (uint16_t i = 0; i < m->state_count; i++) {
		uint8_t state = (uint8_t)(m->states[i].key >> 8);

		if (ns[state] > ns[best] || (ns[state] == ns[best] && state < best))
			best = state;
	}
	return best;
}

static uint8_t longest_wait(const struct mix *m, uint8_t state)
{
	const struct mix_state *best = NULL;

	for (uint16_t i = 0; i < m->state_count; i++) {
		const struct mix_state *s = &m->states[i];

		if (s->key >> 8 == state &&
		    (!best || s->ns > best->ns || (s->ns == best->ns && s->key < best->key)))
			best = s;
	}
	return best ? (uint8_t)best->key : 0;
}

/* Certain only if no thread among the others, nor the next one with all of theirs, ran longer. */
static uint64_t longest_thread(const struct mix *m)
{
	struct mix_thread best = {0}, next = {0};

	for (uint32_t i = 0; i < m->thread_capacity; i++) {
		const struct mix_thread *t = &m->threads[i];

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

static uint64_t running(const struct mix *m)
{
	uint64_t ns = 0;

	for (uint16_t i = 0; i < m->state_count; i++)
		if (m->states[i].key >> 8 == STATE_RUNNING)
			ns += m->states[i].ns;
	return ns;
}

static uint8_t activity(uint64_t ran, uint64_t ns)
{
	uint64_t share;

	if (!ran || ran >= ns)
		return ran ? CELL_FULL : 0;
	share = (uint64_t)(((unsigned __int128)ran * CELL_FULL * 2 + ns) / ((unsigned __int128)ns * 2));
	return share < 1 ? 1 : share >= CELL_FULL ? CELL_FULL - 1 : (uint8_t)share;
}

struct cell mix_cell(const struct mix *m, uint64_t ns)
{
	struct cell c = {0};

	if (!m->told)
		return c;
	c.activity = activity(running(m), ns);
	c.state = longest_state(m);
	c.wait = longest_wait(m, c.state);
	c.thread = longest_thread(m);
	return c;
}

struct cell mix_whole(uint16_t key, uint64_t thread)
{
	bool runs = key >> 8 == STATE_RUNNING;

	return (struct cell){.activity = runs ? CELL_FULL : 0,
			     .state = (uint8_t)(key >> 8),
			     .wait = (uint8_t)key,
			     .thread = runs ? thread : 0};
}
