/* SPDX-License-Identifier: Apache-2.0 */
/* Short descriptions of where a trace comes from and what is missing in it. */
#ifndef SKEIN_EXPORT_FACTS_H
#define SKEIN_EXPORT_FACTS_H

#include <stddef.h>

#include "export/timeline.h"

#define FACTS_SIZE 512

/*
 * Write, for example, "web-1, Linux 6.1.0 x86_64, 2023-11-14 22:13:21 UTC" into buf, of
 * FACTS_SIZE bytes. text_clean() is not applied: names may hold control characters. Return buf.
 */
char *facts_origin(const struct timeline *t, char *buf);
/*
 * Write, for example, "lost: 7 ring full, 7 not delivered", or "" without losses, into buf, of
 * FACTS_SIZE bytes. Call this in timeline_ops.end() or later, when all losses are known. Return
 * buf.
 */
char *facts_losses(const struct timeline *t, char *buf);

#endif
