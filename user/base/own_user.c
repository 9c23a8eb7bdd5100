// SPDX-License-Identifier: Apache-2.0
/*
 * Draw a random uid from a high range. Two helpers that draw at the same time get the same uid once
 * in 2^28.
 */
#include "base/own_user.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#define DRAWS_MAX 64
#define NOBODY 65534 /* used if every uid drawn is taken, or there are no random bytes */

bool own_user_has(int capability)
{
	cap_flag_value_t value = CAP_CLEAR;
	cap_t now = cap_get_proc();

	if (!now)
		return false;
	if (cap_get_flag(now, capability, CAP_EFFECTIVE, &value) < 0)
		value = CAP_CLEAR;
	cap_free(now);
	return value == CAP_SET;
}

bool own_user_possible(void)
{
	return own_user_has(CAP_SETUID) && own_user_has(CAP_SETGID) && own_user_has(CAP_KILL);
}

/* Return whether a file such as /etc/subuid assigns the number to a user's containers. */
static bool is_uid_assigned(const char *path, uint32_t number)
{
	FILE *f = fopen(path, "re");
	unsigned long long first, count;
	bool given = false;
	char line[512];

	while (f && !given && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, ':');

		given = at && sscanf(at, ":%llu:%llu", &first, &count) == 2 && number >= first &&
			number - first < count;
	}
	if (f)
		fclose(f);
	return given;
}

/* Return whether any process has that uid, which the kernel searches for. */
static bool is_uid_used(uint32_t number)
{
	errno = 0;
	(void)getpriority(PRIO_USER, number);
	return errno != ESRCH;
}

static uint32_t draw_uid(void)
{
	for (int i = 0; i < DRAWS_MAX; i++) {
		uint32_t number;

		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			break;
		number = OWN_USER_FIRST + number % OWN_USER_COUNT;
		if (!is_uid_used(number) && !is_uid_assigned("/etc/subuid", number) &&
		    !is_uid_assigned("/etc/subgid", number))
			return number;
	}
	return NOBODY;
}

int own_user_become(void)
{
	uint32_t number;

	/* The bounding set can only be emptied with CAP_SETPCAP; ignore failures. */
	for (cap_value_t c = 0; cap_get_bound(c) >= 0; c++)
		(void)cap_drop_bound(c);
	if (!own_user_possible())
		return 0;
	number = draw_uid();
	if (prctl(PR_SET_KEEPCAPS, 1) < 0)
		return -errno;
	/*
	 * In a user namespace without that number these calls fail; the remaining restrictions
	 * still hold.
	 */
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return -errno;
	if (setresgid(number, number, number) < 0 && errno != EPERM && errno != EINVAL)
		return -errno;
	if (setresuid(number, number, number) < 0 && errno != EPERM && errno != EINVAL)
		return -errno;
	return prctl(PR_SET_KEEPCAPS, 0) < 0 ? -errno : 0;
}

int own_user_keep(const int *capabilities, size_t count)
{
	cap_t now = cap_get_proc(), kept = cap_init();
	int ret = now && kept ? 0 : -ENOMEM;

	(void)cap_reset_ambient();
	for (size_t i = 0; !ret && i < count; i++) {
		cap_flag_value_t value = CAP_CLEAR;
		cap_value_t c = capabilities[i];

		if (cap_get_flag(now, c, CAP_PERMITTED, &value) < 0 || value != CAP_SET)
			continue;
		if (cap_set_flag(kept, CAP_PERMITTED, 1, &c, CAP_SET) < 0 ||
		    cap_set_flag(kept, CAP_EFFECTIVE, 1, &c, CAP_SET) < 0)
			ret = -errno;
	}
	if (!ret && cap_set_proc(kept) < 0)
		ret = -errno;
	cap_free(now);
	cap_free(kept);
	return ret;
}
