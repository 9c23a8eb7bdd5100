// SPDX-License-Identifier: Apache-2.0
/*
 * end_early FROM TO: copy a trace as if its walker had stopped one frame early: the outermost frame
 * of every user stack is missing.
 */
#include <errno.h>

#include "analyze/index.h"
#include "base/log.h"
#include "trace/trace.h"

struct early {
	struct sink sink;
	struct sink *to;
	struct index native; /* ids of native frames */
	struct index left_out; /* ids of stacks that had one native frame only */
};

static bool has(const struct index *set, uint64_t id)
{
	return id && index_get(set, id) != INDEX_NONE;
}

static int put_early(struct early *e, struct stack s, struct error *err)
{
	if (!s.parent && has(&e->native, s.frame))
		return index_put(&e->left_out, s.id, 0);
	if (has(&e->left_out, s.parent))
		s.parent = 0;
	return put_stack(e->to, &s, err);
}

static int early_put(struct sink *sink, enum record_kind kind, const void *record,
		     struct error *err)
{
	struct early *e = (struct early *)sink;
	struct sample sample;

	if (kind == KIND_STACK)
		return put_early(e, *(const struct stack *)record, err);
	if (kind == KIND_FRAME && ((const struct frame *)record)->kind == FRAME_NATIVE &&
	    index_put(&e->native, ((const struct frame *)record)->id, 0) < 0)
		return -ENOMEM;
	if (kind != KIND_SAMPLE)
		return sink_put(e->to, kind, record, err);
	sample = *(const struct sample *)record;
	if (has(&e->left_out, sample.stack))
		sample.stack = 0;
	return put_sample(e->to, &sample, err);
}

static int early_finish(struct sink *sink, struct error *err)
{
	struct sink *to = ((struct early *)sink)->to;

	return to->ops->finish(to, err);
}

static const struct sink_ops early_ops = {.put = early_put, .finish = early_finish};

static int copy(const char *from, const char *to, struct error *err)
{
	struct early early = {.sink = {.ops = &early_ops}};
	struct source *source = NULL;
	struct trace *trace = NULL;
	int rc = trace_open(&trace, from, err);

	if (!rc)
		rc = trace_source(&source, trace, err);
	if (!rc)
		rc = trace_writer(&early.to, to, err);
	if (!rc) {
		early.sink.wants = early.to->wants;
		rc = pipe_join(source, &early.sink, err);
	}
	sink_free(early.to);
	source_free(source);
	trace_close(trace);
	index_free(&early.native);
	index_free(&early.left_out);
	return rc;
}

int main(int argc, char **argv)
{
	struct error err = {""};

	if (argc != 3)
		return log_error(2, "usage: end_early FROM TO");
	return copy(argv[1], argv[2], &err) < 0 ? log_failure(1, &err) : 0;
}
