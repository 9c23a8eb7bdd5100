/* SPDX-License-Identifier: Apache-2.0 */
/* Where a trace comes from and what is missing in it, in a few words. */
#ifndef SKEIN_EXPORT_FACTS_H
#define SKEIN_EXPORT_FACTS_H

#include <stddef.h>

#include "export/timeline.h"

#define FACTS_SIZE 512

/* "web-1, Linux 6.1.0 x86_64, 2023-11-14 22:13:21 UTC"; raw bytes. Returns buf, of FACTS_SIZE. */
char *facts_origin(const struct timeline *t, char *buf);
/* "lost: 7 ring full, 7 not delivered", or "" if nothing is; once the timeline has ended. */
char *facts_losses(const struct timeline *t, char *buf);

#endif
