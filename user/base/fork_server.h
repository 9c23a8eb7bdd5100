/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that forks the children of helpers (helper.h) for its owner, from memory that stays as
 * small as the owner's was when it was started. A child that the owner forked itself would keep a
 * copy of the owner's heap of that moment: memory that nobody needs, and names of other users in a
 * process that reads hostile files. The children are those of the owner, which waits for them.
 */
#ifndef SKEIN_BASE_FORK_SERVER_H
#define SKEIN_BASE_FORK_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct fork_server;
struct helper_cost;
struct helper_kind;

#define FORK_CONTEXT_MAX 256 /* most bytes of helper_kind.context that a child can get */

/*
 * Start the server; its owner has one thread. It ends with its owner. Return 0 or a negative errno.
 */
int fork_server_open(struct fork_server **out, struct error *err);
/* End the server; the children go on. Does nothing if s is NULL. */
void fork_server_close(struct fork_server *s);
/*
 * Fork a child that has socket, and that runs kind->run with a copy of kind->context. Pointers in
 * the context must be valid since before the server was started. Return the child's pid; a negative
 * errno if the server is gone or does not reply within two seconds. It is ended then, and all
 * later calls fail at once.
 */
pid_t fork_server_fork(struct fork_server *s, const struct helper_kind *kind, int socket);
/* Return the server's pid; -1 if it is gone or s is NULL. */
pid_t fork_server_pid(const struct fork_server *s);
/* Add the cost of the server, while it runs, to *out. Does nothing if s is NULL. */
void fork_server_add_cost(const struct fork_server *s, struct helper_cost *out);

#endif
