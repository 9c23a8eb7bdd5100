// SPDX-License-Identifier: Apache-2.0
/*
 * Compare cache.c with a plain array: every value found is right, and only old entries are missing.
 */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cache.h"
#include "suite.h"

#define KEYS 3000

static struct cache_key key_of(uint64_t n)
{
	return cache_hash(&n, sizeof(n));
}

START_TEST(remembers_and_replaces)
{
	struct cache *c = cache_new(16);
	uint64_t value = 99;

	ck_assert(!cache_get(c, key_of(1), &value));
	ck_assert_uint_eq(value, 99);
	cache_put(c, key_of(1), 10);
	ck_assert(cache_get(c, key_of(1), &value));
	ck_assert_uint_eq(value, 10);
	cache_put(c, key_of(1), 11);
	ck_assert(cache_get(c, key_of(1), &value));
	ck_assert_uint_eq(value, 11);
	cache_clear(c);
	ck_assert(!cache_get(c, key_of(1), &value));
	cache_free(c);
	cache_free(NULL);
}
END_TEST

START_TEST(what_is_used_stays_and_the_rest_goes)
{
	struct cache *c = cache_new(64);
	uint64_t value;

	cache_put(c, key_of(0), 7);
	cache_put(c, key_of(1), 8);
	for (uint64_t n = 2; n < 1000; n++) {
		cache_put(c, key_of(n), n);
		if (n % 32 == 0)
			ck_assert(cache_get(c, key_of(0), &value));
	}
	ck_assert_uint_eq(value, 7);
	ck_assert(!cache_get(c, key_of(1), &value));
	cache_free(c);
}
END_TEST

START_TEST(nothing_is_forgotten_while_it_grows)
{
	const size_t entries = 1 << 14;
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
	struct cache *c = cache_new(entries);
	uint64_t value;

	/* Unused slots take no memory. (The allocator of a sanitizer reports no use at all.) */
	ck_assert_uint_lt(mallinfo2().uordblks + mallinfo2().hblkhd, before + entries);
	for (uint64_t n = 0; n < entries; n++)
		cache_put(c, key_of(n), n);
	for (uint64_t n = 0; n < entries; n++) {
		ck_assert(cache_get(c, key_of(n), &value));
		ck_assert_uint_eq(value, n);
	}
	cache_free(c);
}
END_TEST

START_TEST(a_value_replaced_in_the_young_generation_hides_the_old_one)
{
	struct cache *c = cache_new(4);
	uint64_t value;

	cache_put(c, key_of(0), 1);
	for (uint64_t n = 1; n < 5; n++) /* key 0 is in the old generation now */
		cache_put(c, key_of(n), n);
	cache_put(c, key_of(0), 2);
	for (uint64_t n = 5; n < 8; n++) {
		ck_assert(cache_get(c, key_of(0), &value));
		ck_assert_uint_eq(value, 2);
		cache_put(c, key_of(n), n);
	}
	cache_free(c);
}
END_TEST

/*
 * Put and get random keys. A hit must return the last value put. A key must be found if it was used
 * less than a generation of distinct keys ago, since each use of another key takes at most one slot
 * of a generation.
 */
static void compare_with_a_map(size_t entries)
{
	uint64_t values[KEYS] = {0}, used[KEYS] = {0};
	struct cache *c = cache_new(entries);
	size_t hits = 0, misses = 0;

	srand(3);
	for (uint64_t now = 1; now < 200000; now++) {
		/* Use some keys more often than others. */
		uint64_t k = (uint64_t)(rand() % KEYS) * (uint64_t)(rand() % KEYS) / KEYS, got = 0;

		if (rand() % 3 == 0) {
			values[k] = (uint64_t)rand();
			cache_put(c, key_of(k), values[k]);
			used[k] = now;
		} else if (cache_get(c, key_of(k), &got)) {
			ck_assert_uint_ne(used[k], 0);
			ck_assert_uint_eq(got, values[k]);
			used[k] = now;
			hits++;
		} else {
			ck_assert(!used[k] || now - used[k] >= entries);
			misses++;
		}
	}
	ck_assert_uint_gt(hits, 10000);
	ck_assert_uint_gt(misses, 1000);
	cache_free(c);
}

START_TEST(agrees_with_a_map)
{
	compare_with_a_map(256);
}
END_TEST

START_TEST(agrees_with_a_map_while_it_grows)
{
	compare_with_a_map(1024);
}
END_TEST

START_TEST(any_size_works_and_impossible_ones_are_refused)
{
	for (size_t entries = 0; entries < 40; entries++) {
		struct cache *c = cache_new(entries);
		uint64_t value;

		for (uint64_t n = 0; n < 200; n++) {
			cache_put(c, key_of(n), n);
			ck_assert(cache_get(c, key_of(n), &value));
			ck_assert_uint_eq(value, n);
		}
		for (uint64_t n = 200 - (entries ? entries : 1); n < 200; n++)
			ck_assert(cache_get(c, key_of(n), &value));
		cache_free(c);
	}
	ck_assert_ptr_null(cache_new(SIZE_MAX));
	ck_assert_ptr_null(cache_new(SIZE_MAX / 64));
}
END_TEST

START_TEST(hashes_tell_contexts_and_lengths_apart)
{
	char zeros[300] = "";
	struct cache_key seen[300];

	for (size_t n = 0; n < 300; n++) {
		seen[n] = cache_hash(zeros, n);
		ck_assert(seen[n].low || seen[n].high);
		for (size_t i = 0; i < n; i++)
			ck_assert(memcmp(&seen[i], &seen[n], sizeof(seen[n])) != 0);
	}
	for (uint64_t context = 0; context < 300; context++) {
		seen[context] = cache_hash_in(context, "abc", 3);
		for (size_t i = 0; i < context; i++)
			ck_assert(memcmp(&seen[i], &seen[context], sizeof(seen[i])) != 0);
	}
	seen[1] = cache_hash_in(0, "abc", 3);
	ck_assert_mem_eq(&seen[0], &seen[1], sizeof(seen[0]));
}
END_TEST

static uint64_t hash_in_a_new_process(void)
{
	uint64_t hash = 0;
	int ends[2], status;

	ck_assert_int_eq(pipe(ends), 0);
	if (!fork()) {
		hash = cache_hash("x", 1).low;
		_exit(write(ends[1], &hash, sizeof(hash)) != sizeof(hash));
	}
	ck_assert_int_eq(read(ends[0], &hash, sizeof(hash)), sizeof(hash));
	wait(&status);
	ck_assert_int_eq(status, 0);
	close(ends[0]);
	close(ends[1]);
	return hash;
}

START_TEST(every_process_has_its_own_seed)
{
	ck_assert_uint_ne(hash_in_a_new_process(), hash_in_a_new_process());
}
END_TEST

SUITE("cache", remembers_and_replaces, what_is_used_stays_and_the_rest_goes,
      nothing_is_forgotten_while_it_grows,
      a_value_replaced_in_the_young_generation_hides_the_old_one, agrees_with_a_map,
      agrees_with_a_map_while_it_grows, any_size_works_and_impossible_ones_are_refused,
      hashes_tell_contexts_and_lengths_apart, every_process_has_its_own_seed)
