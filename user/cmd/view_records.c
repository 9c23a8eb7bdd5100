// SPDX-License-Identifier: Apache-2.0
/* Read records for a request of skein view, as long as the request may take. */
#include "cmd/view.h"

#define ROUND 4096 /* records that are read before looking whether the request has expired */

int view_read_records(const struct view_records *r, struct error *err)
{
	struct trace_timeline *timeline;
	enum record_kind kind;
	const void *record;
	uint64_t count = 0;
	bool expired = false;
	int ret = trace_timeline_open(&timeline, r->view->input.input.trace, &r->query, err);

	if (ret < 0)
		return ret;
	while (!expired && (ret = trace_timeline_next(timeline, &kind, &record, err)) > 0) {
		ret = r->take(r->context, kind, record);
		if (ret < 0)
			error_errno(err, ret, "cannot read the records");
		if (ret)
			break;
		expired = ++count % ROUND == 0 && http_request_expired(r->asked);
	}
	trace_timeline_close(timeline);
	return ret < 0 ? ret : expired;
}
