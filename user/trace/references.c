// SPDX-License-Identifier: Apache-2.0
/* Which fields of a record refer to entities. */
#include "trace/references.h"

#include <stddef.h>

/* X(KIND, kind, field, KIND of its target): those of a kind follow each other. */
#define REFERENCES(X) \
	X(INFO, info, host, HOST) \
	X(EVENT, event, host, HOST) \
	X(PROCESS, process, host, HOST) \
	X(THREAD, thread, process, PROCESS) X(THREAD, thread, lane, LANE) \
	X(LANE, lane, host, HOST) X(LANE, lane, parent, LANE) \
	X(MAPPING, mapping, host, HOST) X(MAPPING, mapping, process, PROCESS) \
	X(FUNCTION, function, mapping, MAPPING) \
	X(FRAME, frame, mapping, MAPPING) X(FRAME, frame, function, FUNCTION) \
	X(INLINED, inlined, frame, FRAME) X(INLINED, inlined, function, FUNCTION) \
	X(STACK, stack, parent, STACK) X(STACK, stack, frame, FRAME) \
	X(SAMPLE, sample, event, EVENT) X(SAMPLE, sample, thread, THREAD) \
	X(SAMPLE, sample, stack, STACK) X(SAMPLE, sample, other, THREAD) \
	X(SUM, sum, event, EVENT) X(SUM, sum, thread, THREAD) X(SUM, sum, stack, STACK) \
	X(SLICE, slice, lane, LANE) \
	X(EDGE, edge, from, LANE) X(EDGE, edge, to, LANE) X(EDGE, edge, stack, STACK) \
	X(SPAN, span, lane, LANE) X(SPAN, span, name, NAME) X(SPAN, span, args, NAME) \
	X(COUNTER, counter, lane, LANE) X(COUNTER, counter, name, NAME) \
	X(ACCOUNT, account, event, EVENT) \
	X(HANDLER, handler, lane, LANE) \
	X(GROUP_TIME, group_time, host, HOST) \
	X(LOSS, loss, host, HOST) X(LOSS, loss, event, EVENT)

static const struct reference references[] = {
#define REFERENCE(KIND, kind, field, TO) {KIND_##KIND, KIND_##TO, offsetof(struct kind, field)},
	REFERENCES(REFERENCE)
#undef REFERENCE
		{KIND_COUNT, KIND_COUNT, 0}, /* ends the last kind */
};

const struct reference *references_of(enum record_kind kind)
{
	const struct reference *f = references;

	while (f->kind != kind && f->kind != KIND_COUNT)
		f++;
	return f->kind == kind ? f : NULL;
}
