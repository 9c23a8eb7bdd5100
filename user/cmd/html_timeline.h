/* SPDX-License-Identifier: Apache-2.0 */
/* Make the timeline that a page of export -f html holds, for the commands export and record. */
#ifndef SKEIN_CMD_HTML_TIMELINE_H
#define SKEIN_CMD_HTML_TIMELINE_H

#include "analyze/filter.h"
#include "export/export.h"

/*
 * Set *out, which must be zeroed and is freed with html_timeline_free() also after an error, to the
 * timeline of a trace; nothing if the trace has no scheduler records. If there are too many for a
 * page, or they are damaged, the JSON says so, and so does a warning. shown: the path of the trace
 * as the user knows it; NULL: it is not kept. Return 0, or a negative errno with the cause in *err.
 */
int html_timeline_make(struct export_timeline *out, const char *path, const char *shown,
		       const struct filter *f, struct error *err);
void html_timeline_free(struct export_timeline *t);

#endif
