/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a file with rules that name services: docs/services.md. */
#ifndef SKEIN_CAPTURE_SERVICE_FILE_H
#define SKEIN_CAPTURE_SERVICE_FILE_H

#include "base/error.h"
#include "base/vector.h"
#include "capture/service.h"

#define SERVICE_WILDCARDS_MAX 4 /* of a pattern; a bound for the time that matching takes */

typedef VECTOR(struct service_rule) service_rule_list;

/*
 * Read the rules of a file; NULL: of SERVICE_DEFAULT_FILE, if it exists. *out must be zeroed; it is
 * for service_file_free() only after success. Return 0, or a negative errno with the cause in
 * *err; -EINVAL: a line, which *err names, is no rule.
 */
int service_file_read(service_rule_list *out, const char *file, struct error *err);
void service_file_free(service_rule_list *rules);

#endif
