// SPDX-License-Identifier: Apache-2.0
/* Counts the files that the recorder looks at for each user, and the files that were refused. */
#include "capture/file_quotas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cache.h"
#include "base/text.h"
#include "base/units.h"
#include "capture/clock.h"
#include "capture/owners.h"

/*
 * Maximum number of files of a user that may be opened at once. A desktop has mapped a thousand
 * files when the recording begins; most of their tables come from the cache.
 */
#define AT_ONCE 1024
/* Number of files of a user that may be opened each second after these. */
#define PER_SECOND 32
/* Maximum number of files of a user that are remembered at a time, in use or not. */
#define FILES_MOST 4096
/* Maximum number of users that have a quota of their own. */
#define USERS_MOST 400
/* Bits of file_quotas.counted: 1 MiB. */
#define COUNTED_BITS (8u << 20)
/* First id of info rows about quotas: above the ids of describe.c, below those of objects.c. */
#define FIRST_INFO 500

static const char *const reasons[REFUSAL_COUNT] = {
	[REFUSED_QUOTA] = "more than its share",
	[REFUSED_SILENT] = "its file system did not answer",
};

static struct file_quota *quota_of_others(struct file_quotas *s)
{
	if (s->others.uid != OWNER_SHARED)
		s->others = (struct file_quota){.uid = OWNER_SHARED, .left = AT_ONCE};
	return &s->others;
}

struct file_quota *file_quotas_get(struct file_quotas *s, uint32_t uid)
{
	struct file_quota *found = NULL;

	HASH_FIND(hh, s->all, &uid, sizeof(uid), found);
	if (found || HASH_COUNT(s->all) >= USERS_MOST)
		return found ? found : quota_of_others(s);
	found = calloc(1, sizeof(*found));
	if (!found)
		return quota_of_others(s);
	found->uid = uid;
	found->unbounded = !uid;
	found->left = AT_ONCE;
	HASH_ADD(hh, s->all, uid, sizeof(found->uid), found);
	if (HASH_HAS(hh, found))
		return found;
	free(found);
	return quota_of_others(s);
}

void file_quota_refuse(struct file_quota *quota, enum refusal why)
{
	quota->refused[why]++;
	quota->reported = false;
}

static void refill_quota(struct file_quota *quota, uint64_t now)
{
	uint64_t earned = (now - quota->since) * PER_SECOND / NSEC_PER_SEC;

	if (!quota->since || now < quota->since) {
		quota->since = now;
	} else if (earned) {
		/*
		 * Advance since only by the time of whole files, so that the rest counts later.
		 */
		quota->since += earned * (NSEC_PER_SEC / PER_SECOND);
		quota->left = quota->left + earned < AT_ONCE ? quota->left + earned : AT_ONCE;
	}
}

bool file_quota_take_open(struct file_quota *quota, uint64_t now)
{
	refill_quota(quota, now);
	if (quota->left || quota->unbounded) {
		quota->left -= quota->left > 0;
		return true;
	}
	return false;
}

bool file_quota_take_kept(struct file_quota *quota)
{
	if (quota->files < FILES_MOST || quota->unbounded) {
		quota->files++;
		return true;
	}
	return false;
}

void file_quotas_refuse_file(struct file_quotas *s, uint32_t uid, const void *key, size_t size)
{
	uint64_t bit = cache_hash(key, size).low % COUNTED_BITS;

	if (!s->counted)
		s->counted = calloc(COUNTED_BITS / 8, 1);
	if (s->counted && s->counted[bit / 8] & 1 << bit % 8)
		return;
	if (s->counted)
		s->counted[bit / 8] |= (uint8_t)(1 << bit % 8);
	file_quota_refuse(file_quotas_get(s, uid), REFUSED_QUOTA);
}

static uint64_t refused_files_of(const struct file_quota *quota)
{
	uint64_t sum = 0;

	for (int why = 0; why < REFUSAL_COUNT; why++)
		sum += quota->refused[why];
	return sum;
}

const struct file_quota *file_quotas_largest(const struct file_quotas *s)
{
	const struct file_quota *found = NULL;

	for (const struct file_quota *one = s->all; one; one = one->hh.next)
		if (!found || one->files > found->files)
			found = one;
	return found;
}

/* Insert one into out, which has count quotas, worst first; return the new count. */
static unsigned int insert_worst(const struct file_quota **out, unsigned int count,
				 unsigned int most, const struct file_quota *one)
{
	unsigned int at;

	if (!refused_files_of(one) ||
	    (count == most && refused_files_of(out[most - 1]) >= refused_files_of(one)))
		return count;
	at = count < most ? count++ : most - 1;
	for (; at && refused_files_of(out[at - 1]) < refused_files_of(one); at--)
		out[at] = out[at - 1];
	out[at] = one;
	return count;
}

unsigned int file_quotas_worst(const struct file_quotas *s, const struct file_quota **out,
			       unsigned int most)
{
	unsigned int count = insert_worst(out, 0, most, &s->others);

	for (const struct file_quota *one = s->all; one; one = one->hh.next)
		count = insert_worst(out, count, most, one);
	return count;
}

static void format_user(const struct file_quota *quota, char *buf, size_t size)
{
	switch (quota->uid) {
	case OWNER_UNKNOWN:
		snprintf(buf, size, "users who are not known");
		break;
	case OWNER_SHARED:
		snprintf(buf, size, "several users together");
		break;
	default:
		snprintf(buf, size, "uid %" PRIu32, quota->uid);
	}
}

char *file_quota_format(const struct file_quota *quota, char *buf, size_t size)
{
	char count[32], user[32];
	size_t at;

	format_user(quota, user, sizeof(user));
	at = (size_t)snprintf(buf, size, "to %s", user);
	for (int why = 0, terms = 0; why < REFUSAL_COUNT && at < size; why++) {
		uint64_t files = quota->refused[why];

		if (files)
			at = text_append(buf, size, at, "%s%s file%s (%s)", terms++ ? ", " : ": ",
					 show_count(files, count, sizeof(count)),
					 files == 1 ? "" : "s", reasons[why]);
	}
	return buf;
}

static int report_quota(struct file_quota *quota, uint64_t host, uint64_t number, struct sink *sink,
			struct error *err)
{
	char key[32], value[192];
	const struct info i = {.id = FIRST_INFO + number, .host = host, .key = key, .value = value};

	if (quota->reported || !refused_files_of(quota))
		return 0;
	quota->reported = true;
	snprintf(key, sizeof(key), "refused.%" PRIu32, quota->uid);
	file_quota_format(quota, value, sizeof(value));
	return put_info(sink, &i, err);
}

int file_quotas_report(struct file_quotas *s, uint64_t host, struct sink *sink, struct error *err)
{
	uint64_t number = 0;
	int ret = report_quota(&s->others, host, USERS_MOST, sink, err);

	for (struct file_quota *one = s->all; one && !ret; one = one->hh.next)
		ret = report_quota(one, host, number++, sink, err);
	return ret;
}

void file_quotas_free(struct file_quotas *s)
{
	struct file_quota *one, *next;

	HASH_ITER (hh, s->all, one, next) {
		HASH_DEL(s->all, one);
		free(one);
	}
	free(s->counted);
}
