// SPDX-License-Identifier: Apache-2.0
/* Join a source to a sink. */
#include "base/pipe.h"

#include <string.h>

int pipe_join(struct source *source, struct sink *sink, struct error *err)
{
	int ret = source->ops->run(source, sink, err);

	if (ret >= 0)
		ret = sink->ops->finish(sink, err);
	if (ret < 0 && err && !err->text[0]) /* -ENOMEM often comes without a message */
		error_set(err, ret, "%s", strerror(-ret));
	return ret;
}

int sink_put_many(struct sink *s, enum record_kind kind, const void *records, size_t count,
		  struct error *err)
{
	const char *at = records;
	int ret = 0;

	if (s->ops->put_many && s->wants & 1ULL << kind)
		return s->ops->put_many(s, kind, records, count, err);
	for (size_t i = 0; i < count && !ret; i++)
		ret = sink_put(s, kind, at + i * kinds[kind].size, err);
	return ret;
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
