// SPDX-License-Identifier: Apache-2.0
/* Write differential flame graphs: pictures of two traces in one. */
#include <errno.h>
#include <string.h>

#include "base/outfile.h"
#include "cmd/diff.h"
#include "export/folded.h"

static int diff_write_folded(FILE *out, const struct comparison *c, struct error *err)
{
	struct export_options how = c->options->how;

	how.normalize = c->options->compare.measure == DIFF_SHARE ||
			c->options->compare.measure == DIFF_MEASURE_COUNT;
	return folded_write_two(out, c->traces[1].profile, c->traces[0].profile, &how, err);
}

static int diff_write_svg(FILE *out, const struct comparison *c, struct error *err)
{
	return svg_write(out, c->traces[1].profile, c->traces[0].profile, &c->options->how, err);
}

static int diff_write_html(FILE *out, const struct comparison *c, struct error *err)
{
	return html_write(out, c->traces[1].profile, c->traces[0].profile, &c->options->how, err);
}

static const struct diff_format {
	const char *name;
	int (*write)(FILE *out, const struct comparison *c, struct error *err);
} formats[] = {
	{"html", diff_write_html},
	{"svg", diff_write_svg},
	{"folded", diff_write_folded},
};

#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const char *diff_format_word(unsigned int index)
{
	return index < FORMATS ? formats[index].name : NULL;
}

int diff_picture(const struct comparison *c, struct error *err)
{
	const struct diff_format *format = formats;
	struct outfile file = {0};
	int ret;

	if (c->count[BEFORE] != 1 || c->count[AFTER] != 1)
		return error_set(err, -EINVAL, "a picture shows one trace of each side");
	while (strcmp(format->name, c->options->format))
		format++;
	ret = outfile_open(&file, c->options->out ? c->options->out : "-", false, err);
	if (ret < 0)
		return ret;
	ret = format->write(file.stream, c, err);
	if (!ret)
		ret = outfile_commit(&file, err);
	outfile_abort(&file);
	return ret;
}
