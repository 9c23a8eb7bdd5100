/* SPDX-License-Identifier: Apache-2.0 */
/* Make the timeline that a page of export -f html holds, for the commands export and record. */
#ifndef SKEIN_CMD_HTML_TIMELINE_H
#define SKEIN_CMD_HTML_TIMELINE_H

#include "analyze/filter.h"

/*
 * Set *out to the JSON of the timeline of a trace, which the caller frees: for
 * export_options.timeline. NULL if the trace has no scheduler records. If there are too many for a
 * page, or they are damaged, the JSON says so, and so does a warning. shown: the path of the trace
 * as the user knows it; NULL: it is not kept. Return 0, or a negative errno with the cause in *err.
 */
int html_timeline_make(char **out, const char *path, const char *shown, const struct filter *f,
		       struct error *err);

#endif
