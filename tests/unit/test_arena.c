// SPDX-License-Identifier: Apache-2.0
/*
 * Compare the arena with a model that records for every unit of memory whether it is in use, and
 * since when it is free.
 */
#include "capture/clock.h"
#include "world.h"

#define UNIT ARENA_UNIT
#define UNITS (ARENA_CHUNK_WORDS / UNIT)
#define GRACE (2 * NSEC_PER_SEC)
#define CHUNK_BYTES ((uint64_t)sizeof(struct arena_chunk))
#define MOST_PIECES 4096

/* State of each unit: in use (UINT64_MAX), free since a time, or never used (0). */
static uint64_t units[WORLD_CHUNKS][UNITS];

static struct {
	struct world chunks;
	struct arena *arena;
	struct {
		uint32_t place, words;
	} pieces[MOST_PIECES];
	uint32_t count;
	uint64_t used; /* words */
	uint64_t now;
} m;

static void begin(uint64_t most)
{
	memset(&m, 0, sizeof(m));
	memset(units, 0, sizeof(units));
	m.arena = arena_new(most, world_chunk, &m.chunks);
	ck_assert_ptr_nonnull(m.arena);
	m.now = 5 * NSEC_PER_SEC;
}

static void end(void)
{
	arena_free(m.arena);
	for (uint32_t i = 0; i < m.chunks.count; i++)
		free(m.chunks.chunks[i]);
}

static uint32_t rounded(uint32_t words)
{
	return (words + UNIT - 1) / UNIT * UNIT;
}

/* Check that the memory lies in one chunk and was free for the grace time, and mark it as used. */
static void check_taken(uint32_t place, uint32_t words)
{
	uint32_t chunk = place >> ARENA_CHUNK_SHIFT, first = place % ARENA_CHUNK_WORDS;
	bool rested = true;

	ck_assert_uint_ne(place, 0);
	ck_assert_uint_eq(place % UNIT, 0);
	ck_assert_uint_lt(chunk, m.chunks.count);
	ck_assert_uint_le(first + words, ARENA_CHUNK_WORDS);
	ck_assert_ptr_eq(arena_at(m.arena, place), m.chunks.chunks[chunk] + first);
	for (uint32_t unit = first / UNIT; unit < (first + words) / UNIT; unit++) {
		uint64_t since = units[chunk][unit];

		rested &= since != UINT64_MAX && (!since || since + GRACE < m.now);
		units[chunk][unit] = UINT64_MAX;
	}
	ck_assert(rested);
}

static uint32_t take(uint32_t words)
{
	uint32_t place = arena_allocate(m.arena, words, m.now);

	if (!place)
		return 0;
	words = rounded(words);
	check_taken(place, words);
	m.used += words;
	ck_assert_uint_le(m.used * 4, arena_limit(m.arena));
	ck_assert_uint_eq(m.used * 4, arena_used(m.arena));
	return place;
}

static void give(uint32_t place, uint32_t words)
{
	uint32_t chunk = place >> ARENA_CHUNK_SHIFT, first = place % ARENA_CHUNK_WORDS;

	arena_release(m.arena, place, words, m.now);
	words = rounded(words);
	for (uint32_t unit = first / UNIT; unit < (first + words) / UNIT; unit++)
		units[chunk][unit] = m.now;
	m.used -= words;
	ck_assert_uint_eq(m.used * 4, arena_used(m.arena));
}

static void take_some(uint32_t most)
{
	uint32_t words = 1 + (uint32_t)rand() % most, place = take(words);

	if (!place || m.count == MOST_PIECES)
		return;
	m.pieces[m.count].place = place;
	m.pieces[m.count++].words = words;
}

static void give_some(void)
{
	uint32_t i = m.count ? (uint32_t)rand() % m.count : 0;

	if (!m.count)
		return;
	give(m.pieces[i].place, m.pieces[i].words);
	m.pieces[i] = m.pieces[--m.count];
}

static void give_all(void)
{
	while (m.count)
		give_some();
}

START_TEST(agrees_with_a_model)
{
	static const uint32_t sizes[] = {40, 3000, 20000, 100000};

	for (unsigned int seed = 1; seed <= 12; seed++) {
		srand(seed);
		begin((1 + seed % 4) * CHUNK_BYTES);
		for (int i = 0; i < 3000; i++) {
			if (rand() % 5 < 3)
				take_some(sizes[(unsigned int)rand() % 4]);
			else
				give_some();
			m.now += (uint64_t)rand() % (NSEC_PER_SEC / 20);
		}
		give_all();
		ck_assert_uint_eq(arena_used(m.arena), 0);
		/* Split memory is whole again: each chunk is one piece. */
		m.now += GRACE + 1;
		for (uint64_t i = 0; i < arena_limit(m.arena) / CHUNK_BYTES; i++)
			ck_assert_uint_ne(take(ARENA_ALLOCATE_MAX), 0);
		ck_assert_uint_le(arena_size(m.arena),
				  arena_limit(m.arena) / 4 * 5 + 2 * CHUNK_BYTES);
		end();
	}
}
END_TEST

START_TEST(the_budget_is_counted_in_what_is_used)
{
	begin(3 * 64);
	ck_assert_uint_eq(arena_limit(m.arena), 3 * 64);
	ck_assert_uint_ne(take(1), 0); /* 32 bytes */
	ck_assert_uint_ne(take(40), 0);
	ck_assert_uint_eq(arena_allocate(m.arena, 1, m.now), 0);
	ck_assert_uint_eq(arena_used(m.arena), 3 * 64);
	end();
}
END_TEST

START_TEST(what_is_given_back_rests_for_two_seconds)
{
	uint32_t place;

	begin(CHUNK_BYTES);
	place = take(100);
	give(place, 100);
	m.now += GRACE;
	ck_assert_uint_ne(take(100), place);
	m.now++;
	ck_assert_uint_eq(take(100), place);
	end();
}
END_TEST

START_TEST(what_does_not_fit_is_refused)
{
	begin(4 * CHUNK_BYTES);
	ck_assert_uint_eq(arena_allocate(m.arena, 0, m.now), 0);
	ck_assert_uint_eq(arena_allocate(m.arena, ARENA_CHUNK_WORDS + 1, m.now), 0);
	ck_assert_uint_eq(arena_allocate(m.arena, UINT32_MAX, m.now), 0);
	ck_assert_uint_eq(arena_allocate(m.arena, UINT32_MAX - 3, m.now), 0);
	ck_assert_uint_eq(arena_size(m.arena), 0);
	ck_assert_uint_ne(take(ARENA_ALLOCATE_MAX), 0);
	arena_release(m.arena, 0, 100, m.now); /* has no effect */
	ck_assert_uint_eq(arena_used(m.arena), CHUNK_BYTES - UNIT * 4);
	end();
}
END_TEST

START_TEST(the_maker_of_chunks_may_fail)
{
	begin(4 * CHUNK_BYTES);
	m.chunks.refuse = -ENOMEM;
	ck_assert_uint_eq(arena_allocate(m.arena, 8, m.now), 0);
	ck_assert_uint_eq(arena_used(m.arena), 0);
	ck_assert_uint_eq(arena_size(m.arena), 0);
	m.chunks.refuse = 0;
	ck_assert_uint_ne(take(ARENA_CHUNK_WORDS - 2 * UNIT), 0);
	m.chunks.refuse = -EPERM;
	ck_assert_uint_ne(take(UNIT), 0); /* the rest of the first chunk */
	ck_assert_uint_eq(arena_allocate(m.arena, UNIT, m.now), 0);
	m.chunks.refuse = 0;
	ck_assert_uint_ne(take(UNIT), 0);
	end();
}
END_TEST

static bool give_one(void *context, uint64_t now)
{
	ck_assert_ptr_eq(context, &m);
	ck_assert_uint_eq(now, m.now);
	give_some();
	return m.count > 0;
}

START_TEST(others_are_asked_to_give_something_back)
{
	begin(CHUNK_BYTES);
	arena_set_reclaimer(m.arena, give_one, &m);
	for (int i = 0; i < 4; i++) {
		m.pieces[m.count].words = ARENA_CHUNK_WORDS / 4;
		m.pieces[m.count].place = take(ARENA_CHUNK_WORDS / 4);
		ck_assert_uint_ne(m.pieces[m.count++].place, 0);
	}
	ck_assert_uint_ne(take(100000), 0); /* two of the pieces are reclaimed for this */
	ck_assert_uint_eq(m.count, 2);
	ck_assert_uint_eq(arena_allocate(m.arena, ARENA_ALLOCATE_MAX, m.now), 0);
	ck_assert_uint_eq(m.count, 0);
	end();
}
END_TEST

START_TEST(neighbours_in_two_chunks_do_not_join)
{
	uint32_t first, second;

	begin(2 * CHUNK_BYTES);
	first = take(ARENA_ALLOCATE_MAX);
	second = take(ARENA_ALLOCATE_MAX);
	ck_assert_uint_eq(second, ARENA_CHUNK_WORDS);
	give(second, ARENA_ALLOCATE_MAX);
	give(first, ARENA_ALLOCATE_MAX);
	m.now += GRACE + 1;
	for (int i = 0; i < 4; i++) /* no piece crosses the border of a chunk */
		ck_assert_uint_ne(take(ARENA_CHUNK_WORDS / 2 - UNIT), 0);
	end();
}
END_TEST

SUITE("arena", agrees_with_a_model, the_budget_is_counted_in_what_is_used,
      what_is_given_back_rests_for_two_seconds, what_does_not_fit_is_refused,
      the_maker_of_chunks_may_fail, others_are_asked_to_give_something_back,
      neighbours_in_two_chunks_do_not_join)
