// SPDX-License-Identifier: Apache-2.0
/* Counts the files that the recorder looks at for each user, and the files that were refused. */
#include "capture/shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/units.h"
#include "capture/clock.h"
#include "capture/owners.h"

/*
 * Maximum number of files of a user that may be opened at once. A desktop has mapped a thousand
 * files when the recording begins; most of their tables come from the cache.
 */
#define AT_ONCE 1024
#define PER_SECOND 32
/* Maximum number of files of a user that are remembered at a time, in use or not. */
#define FILES_MOST 4096
#define USERS_MOST 400
#define COUNTED_BITS (8u << 20)
/* First id of info rows about shares; above the ids of describe.c, below those of interpreters. */
#define FIRST_INFO 500

static const char *const reasons[REFUSAL_COUNT] = {
	[REFUSED_SHARE] = "more than its share",
	[REFUSED_SILENT] = "its file system did not answer",
};

static struct share *others_of(struct shares *s)
{
	s->others.uid = OWNER_SHARED;
	return &s->others;
}

struct share *shares_of(struct shares *s, uint32_t uid)
{
	struct share *found = NULL;

	HASH_FIND(hh, s->all, &uid, sizeof(uid), found);
	if (found || HASH_COUNT(s->all) >= USERS_MOST)
		return found ? found : others_of(s);
	found = calloc(1, sizeof(*found));
	if (!found)
		return others_of(s);
	found->uid = uid;
	found->unbounded = !uid;
	found->left = AT_ONCE;
	HASH_ADD(hh, s->all, uid, sizeof(found->uid), found);
	if (HASH_HAS(hh, found))
		return found;
	free(found);
	return others_of(s);
}

void share_refuse(struct share *share, enum refusal why)
{
	share->refused[why]++;
	share->told = false;
}

static void earn(struct share *share, uint64_t now)
{
	uint64_t earned = (now - share->since) * PER_SECOND / NSEC_PER_SEC;

	if (!share->since || now < share->since) {
		share->since = now;
	} else if (earned) {
		/*
		 * advance only by the time of whole files, so that the remaining time counts later
		 */
		share->since += earned * (NSEC_PER_SEC / PER_SECOND);
		share->left = share->left + earned < AT_ONCE ? share->left + earned : AT_ONCE;
	}
}

bool share_take(struct share *share, uint64_t now)
{
	earn(share, now);
	if (share->left || share->unbounded) {
		share->left -= share->left > 0;
		return true;
	}
	return false;
}

bool share_keep(struct share *share)
{
	if (share->files < FILES_MOST || share->unbounded) {
		share->files++;
		return true;
	}
	return false;
}

void shares_refuse_file(struct shares *s, uint32_t uid, const void *key, size_t size)
{
	uint64_t bit = cache_hash(key, size).low % COUNTED_BITS;

	if (!s->counted)
		s->counted = calloc(COUNTED_BITS / 8, 1);
	if (s->counted && s->counted[bit / 8] & 1 << bit % 8)
		return;
	if (s->counted)
		s->counted[bit / 8] |= (uint8_t)(1 << bit % 8);
	share_refuse(shares_of(s, uid), REFUSED_SHARE);
}

static uint64_t refused_to(const struct share *share)
{
	uint64_t sum = 0;

	for (int why = 0; why < REFUSAL_COUNT; why++)
		sum += share->refused[why];
	return sum;
}

const struct share *shares_largest(const struct shares *s)
{
	const struct share *found = NULL;

	for (const struct share *one = s->all; one; one = one->hh.next)
		if (!found || one->files > found->files)
			found = one;
	return found;
}

uint64_t shares_refused(const struct shares *s)
{
	uint64_t sum = refused_to(&s->others);

	for (const struct share *one = s->all; one; one = one->hh.next)
		sum += refused_to(one);
	return sum;
}

unsigned int shares_worst(const struct shares *s, const struct share **ret, unsigned int most)
{
	unsigned int count = 0, at;

	for (const struct share *one = s->all; one; one = one->hh.next) {
		if (!refused_to(one) ||
		    (count == most && refused_to(ret[most - 1]) >= refused_to(one)))
			continue;
		at = count < most ? count++ : most - 1;
		for (; at && refused_to(ret[at - 1]) < refused_to(one); at--)
			ret[at] = ret[at - 1];
		ret[at] = one;
	}
	return count;
}

static void show_user(const struct share *share, char *buf, size_t size)
{
	switch (share->uid) {
	case OWNER_UNKNOWN:
		snprintf(buf, size, "users who are not known");
		break;
	case OWNER_SHARED:
		snprintf(buf, size, "several users together");
		break;
	default:
		snprintf(buf, size, "uid %" PRIu32, share->uid);
	}
}

char *share_show(const struct share *share, char *buf, size_t size)
{
	char count[32], user[32];
	size_t at;

	show_user(share, user, sizeof(user));
	at = (size_t)snprintf(buf, size, "to %s", user);
	for (int why = 0, terms = 0; why < REFUSAL_COUNT && at < size; why++) {
		uint64_t files = share->refused[why];

		if (files)
			at += (size_t)snprintf(buf + at, size - at, "%s%s file%s (%s)",
					       terms++ ? ", " : ": ",
					       show_count(files, count, sizeof(count)),
					       files == 1 ? "" : "s", reasons[why]);
	}
	return buf;
}

static int tell(struct share *share, uint64_t host, uint64_t number, struct sink *sink,
		struct error *err)
{
	char key[32], value[192];
	const struct info i = {.id = FIRST_INFO + number, .host = host, .key = key,
			       .value = value};

	if (share->told || !refused_to(share))
		return 0;
	share->told = true;
	snprintf(key, sizeof(key), "refused.%" PRIu32, share->uid);
	share_show(share, value, sizeof(value));
	return put_info(sink, &i, err);
}

int shares_tell(struct shares *s, uint64_t host, struct sink *sink, struct error *err)
{
	uint64_t number = 0;
	int rc = tell(&s->others, host, USERS_MOST, sink, err);

	for (struct share *one = s->all; one && !rc; one = one->hh.next)
		rc = tell(one, host, number++, sink, err);
	return rc;
}

void shares_free(struct shares *s)
{
	struct share *one, *next;

	HASH_ITER (hh, s->all, one, next) {
		HASH_DEL(s->all, one);
		free(one);
	}
	free(s->counted);
}
