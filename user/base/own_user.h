/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A user of its own for a helper process, of whom there is no other process: nobody but root can
 * signal or trace the helper then, and it has no file. As nobody (65534) it would share its user
 * with every program that gave up its rights in the same way.
 */
#ifndef SKEIN_BASE_OWN_USER_H
#define SKEIN_BASE_OWN_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Where users are drawn from: above what systemd gives to containers (up to 0x6fffffff), below
 * 2^31, which some programs take for negative.
 */
#define OWN_USER_FIRST 0x70000000u
#define OWN_USER_COUNT 0x0ffffffeu

/*
 * Whether this process can give its helpers users of their own: CAP_SETUID and CAP_SETGID make
 * them, and without CAP_KILL it could not end a helper that hangs.
 */
bool own_user_possible(void);

/* Whether this process has a capability in effect. */
bool own_user_has(int capability);

/*
 * Become a user and group that no process has and that /etc/subuid and /etc/subgid give to nobody,
 * without further groups, and empty the bounding set of capabilities. Those that this process has are
 * permitted as before; own_user_keep() puts some of them in effect again. Where it is not possible
 * the user stays. 0 or a negative errno.
 */
int own_user_become(void);

/*
 * Give up all capabilities but these, of which only those stay that there are. 0 or a
 * negative errno.
 */
int own_user_keep(const int *capabilities, size_t count);

#endif
