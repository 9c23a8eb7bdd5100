// SPDX-License-Identifier: Apache-2.0
/* A table of suspects by device or user, in the order in which they were added. */
#include "capture/suspects.h"

#include <stdlib.h>

#define SECOND 1000000000ULL
#define SUSPECTED_FOR (600 * SECOND)
#define AVOIDED_FIRST (4 * SECOND)
/* The time without requests, AVOIDED_FIRST, doubles at most this often, to 17 minutes. */
#define DOUBLINGS 8
/* Maximum number of suspects; a further one replaces the one that was added first. */
#define SUSPECTS_MAX 1024

static struct suspect *find_suspect(const struct suspects *s, uint64_t key)
{
	struct suspect *found = NULL;

	HASH_FIND(hh, s->all, &key, sizeof(key), found);
	return found;
}

bool suspects_has(const struct suspects *s, uint64_t key, uint64_t now)
{
	const struct suspect *found = find_suspect(s, key);

	return found && now < found->until;
}

bool suspects_avoids(const struct suspects *s, uint64_t key, uint64_t now)
{
	const struct suspect *found = find_suspect(s, key);

	return found && now < found->avoided;
}

static struct suspect *find_or_add_suspect(struct suspects *s, uint64_t key)
{
	struct suspect *found = find_suspect(s, key);

	if (found)
		return found;
	if (HASH_COUNT(s->all) >= SUSPECTS_MAX) {
		struct suspect *oldest = s->all;

		HASH_DEL(s->all, oldest);
		free(oldest);
	}
	found = calloc(1, sizeof(*found));
	if (!found)
		return NULL;
	found->key = key;
	HASH_ADD(hh, s->all, key, sizeof(found->key), found);
	if (HASH_HAS(hh, found))
		return found;
	free(found);
	return NULL;
}

void suspects_add(struct suspects *s, uint64_t key, uint64_t now)
{
	struct suspect *found = find_or_add_suspect(s, key);

	if (found)
		found->until = now + SUSPECTED_FOR;
}

void suspects_strike(struct suspects *s, uint64_t key, uint64_t now)
{
	struct suspect *found = find_or_add_suspect(s, key);

	if (!found)
		return;
	found->avoided = now + (AVOIDED_FIRST << found->strikes);
	found->until = found->avoided + SUSPECTED_FOR;
	if (found->strikes < DOUBLINGS)
		found->strikes++;
}

unsigned int suspects_users(const struct suspects *s, uint64_t now, uint32_t *out,
			    unsigned int most)
{
	const struct suspect *one;
	unsigned int count = 0;

	for (one = s->all; one && count < most; one = one->hh.next)
		if (one->key && one->key <= UINT32_MAX && now < one->until)
			out[count++] = (uint32_t)one->key;
	return count;
}

void suspects_free(struct suspects *s)
{
	struct suspect *one, *next;

	HASH_ITER (hh, s->all, one, next) {
		HASH_DEL(s->all, one);
		free(one);
	}
}
