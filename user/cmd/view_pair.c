// SPDX-License-Identifier: Apache-2.0
/* The two traces that skein view shows below each other: which one is meant, and their clocks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/view.h"

void *view_trace_of_request(void *traces, const struct http_request *q, struct http_answer *a)
{
	struct view_traces *t = traces;
	uint64_t number = 1;
	int ret = http_request_number(q, "trace", &number);

	if ((ret && ret != -ENOENT) || !number || number > t->count) {
		/* without memory for the text there is no answer to refuse with but a status */
		if (http_answer_text(a, 400, "trace: a number, 1 to %u", t->count) < 0)
			a->status = 503;
		return NULL;
	}
	return &t->items[number - 1];
}

bool view_begins_after(const struct view_server *first, const struct view_server *second,
		       int64_t *after)
{
	uint64_t begins = second->input.lanes.time - first->input.lanes.time;
	bool one_boot = *first->boot && strcmp(first->boot, second->boot) == 0;

	if (!one_boot && (!first->realtime || !second->realtime))
		return false;
	/* each recording of a boot measures the offset anew, but the clock of its stamps is one */
	if (!one_boot)
		begins += (uint64_t)second->realtime - (uint64_t)first->realtime;
	*after = (int64_t)begins;
	return true;
}

void view_leave_second(struct view_traces *t, const char *reason)
{
	struct view_server *first = &t->items[0], *second = &t->items[1];
	char *text = NULL;

	log_warn("%s is not shown: %s", second->path, reason);
	if (asprintf(&text, "%s%s%s is not shown: %.*s", first->warning ? first->warning : "",
		     first->warning ? ". " : "", second->path, (int)strcspn(reason, "\n"),
		     reason) < 0)
		text = NULL; /* the terminal has it */
	if (text) {
		free(first->warning);
		first->warning = text;
	}
	view_close(second);
	first->traces = t->count = 1;
}
