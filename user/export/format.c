// SPDX-License-Identifier: Apache-2.0
/* The table of export formats, and the sink of all formats that write a whole profile. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"

const struct export_format export_formats[] = {
#define EXPORT_ROW(id, word, ending, flags, what) \
	{ \
		.name = word, \
		.suffix = ending, \
		.summary = what, \
		.binary = (flags) & (EXPORT_BINARY | EXPORT_GZIP), \
		.only_sched = (flags) & EXPORT_ONLY_SCHED, \
		.gzip = (flags) & EXPORT_GZIP, \
		.divided = (flags) & EXPORT_DIVIDED, \
		.timeline = (flags) & EXPORT_TIMELINE, \
		.sink = id##_sink, \
	},
	EXPORT_FORMATS(EXPORT_ROW)
#undef EXPORT_ROW
		{0},
};

const struct export_format *export_format_named(const char *name)
{
	for (const struct export_format *f = export_formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

const struct export_format *export_format_for_path(const char *path)
{
	const char *at = path;

	while (*at && (at = strchr(at + 1, '.')))
		for (const struct export_format *f = export_formats; f->name; f++) {
			size_t size = strlen(f->suffix);

			if (!strncmp(at, f->suffix, size) &&
			    (!at[size] || !strcmp(at + size, ".gz")))
				return f;
		}
	return NULL;
}

/* A sink that passes records to a profile_sink() (inner) and holds the output and its options. */
struct profile_exporter {
	struct sink sink;
	struct sink *inner;
	profile_writer *write;
	FILE *out;
	struct export_options options;
};

static int exporter_write_profile(void *context, const struct profile *p, struct error *err)
{
	struct profile_exporter *e = context;

	return e->write(e->out, p, &e->options, err);
}

static int exporter_put(struct sink *s, enum record_kind kind, const void *record,
			struct error *err)
{
	return sink_put(((struct profile_exporter *)s)->inner, kind, record, err);
}

static int exporter_finish(struct sink *s, struct error *err)
{
	struct sink *inner = ((struct profile_exporter *)s)->inner;

	return inner->ops->finish(inner, err);
}

static void exporter_free(struct sink *s)
{
	sink_free(((struct profile_exporter *)s)->inner);
	free(s);
}

static const struct sink_ops exporter_ops = {
	.put = exporter_put,
	.finish = exporter_finish,
	.free = exporter_free,
};

int profile_export(struct sink **out, profile_writer *write, FILE *file,
		   const struct export_options *o, struct error *err)
{
	struct profile_exporter *e = calloc(1, sizeof(*e));
	int ret = e ? profile_sink(&e->inner, &o->view, exporter_write_profile, e, err)
		    : error_errno(err, -ENOMEM, "cannot export");

	if (ret < 0) {
		free(e);
		return ret;
	}
	e->sink = (struct sink){.ops = &exporter_ops, .wants = e->inner->wants};
	e->write = write;
	e->out = file;
	e->options = *o;
	*out = &e->sink;
	return 0;
}
