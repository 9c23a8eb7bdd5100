/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Give a helper process a uid that no other process has: then only root can signal or trace the
 * helper, and no file belongs to that uid. With the uid of the user "nobody" (65534), the helper
 * would share its uid with every program that gave up its rights in that way.
 */
#ifndef SKEIN_BASE_OWN_USER_H
#define SKEIN_BASE_OWN_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The range of the uids: above the range that systemd assigns to containers (up to 0x6fffffff),
 * below 2^31, because some programs take larger values for negative ones.
 */
#define OWN_USER_FIRST 0x70000000u
#define OWN_USER_COUNT 0x0ffffffeu

/*
 * Return whether this process can give its helpers uids of their own: CAP_SETUID and CAP_SETGID are
 * needed to change them, and without CAP_KILL this process could not kill a helper that hangs.
 */
bool own_user_possible(void);

/* Return whether this process has a capability in effect. */
bool own_user_has(int capability);

/*
 * Take a uid that no process has and that neither /etc/subuid nor /etc/subgid assigns to a user's
 * containers, and the same number as gid; drop supplementary groups, and empty the bounding set of
 * capabilities as far as possible. The capabilities of this process stay permitted; own_user_keep()
 * puts some of them into effect again. Where changing the uid is not possible, it stays. Return 0
 * or a negative errno.
 */
int own_user_become(void);

/*
 * Drop all capabilities except those of the list that this process is permitted, and put these into
 * effect. Return 0 or a negative errno.
 */
int own_user_keep(const int *capabilities, size_t count);

#endif
