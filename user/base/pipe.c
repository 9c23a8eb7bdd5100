// SPDX-License-Identifier: Apache-2.0
/* Joining a source to a sink. */
#include "base/pipe.h"

int pipe_join(struct source *source, struct sink *sink, struct error *err)
{
	int r = source->ops->run(source, sink, err);

	return r < 0 ? r : sink->ops->finish(sink, err);
}

void sink_free(struct sink *s)
{
	if (s)
		s->ops->free(s);
}

void source_free(struct source *s)
{
	if (s)
		s->ops->free(s);
}
