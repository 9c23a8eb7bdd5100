/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the page's data about how much of the self time of an event is named. */
#ifndef SKEIN_EXPORT_HTML_NAMED_H
#define SKEIN_EXPORT_HTML_NAMED_H

#include "analyze/profile.h"
#include "base/json.h"

/*
 * Write the members self, named, nameless (triples of build-id, module and weight) and, if little
 * is named, advice. Return 0 or -ENOMEM.
 */
int html_put_named(struct json *j, const struct profile *p, uint32_t event);

#endif
