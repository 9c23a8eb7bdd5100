// SPDX-License-Identifier: Apache-2.0
/* Read the options of a command from a file (options_file.h). */
#include "base/options_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"

#define BLANKS " \t\r"

struct options_reader {
	const struct options_file *file;
	unsigned int line; /* from 1 */
	void *options;
};

/* Remove blanks at both ends of a text. Return where it begins. */
static char *trim_blanks(char *text)
{
	char *end;

	text += strspn(text, BLANKS);
	end = text + strlen(text);
	while (end > text && strchr(BLANKS, end[-1]))
		end--;
	*end = '\0';
	return text;
}

static bool is_excepted(const struct options_reader *r, const char *name)
{
	for (size_t i = 0; r->file->except[i]; i++)
		if (!strcmp(r->file->except[i], name))
			return true;
	return false;
}

/* Return the option of that name that a file can set; NULL with an error if there is none. */
static const struct option_spec *find_option_of_file(const struct options_reader *r,
						     const char *name, struct error *err)
{
	struct nearest near = {.word = name, .length = strlen(name)};

	for (const struct option_spec *o = r->file->command->options; o->name; o++) {
		if (o->type == OPTION_HEADING || is_excepted(r, o->name))
			continue;
		if (!strcmp(o->name, name))
			return o;
		nearest_try(&near, o->name);
	}
	error_set(err, -EINVAL, "%s:%u: there is no key '%.40s'%s%s%s", r->file->path, r->line,
		  name, near.best ? "; is '" : "; 'skein help ",
		  near.best ? near.best : r->file->command->name,
		  near.best ? "' meant?" : "' lists them");
	return NULL;
}

static int set_option_of_file(const struct options_reader *r, const char *name, const char *value,
			      struct error *err)
{
	const struct option_spec *o = find_option_of_file(r, name, err);
	bool yes;

	if (!o)
		return -EINVAL;
	yes = !strcmp(value, "yes");
	if (o->type == OPTION_FLAG && !yes && strcmp(value, "no") != 0)
		return error_set(err, -EINVAL, "%s:%u: %s: yes or no expected, not '%.40s'",
				 r->file->path, r->line, name, value);
	if (o->type == OPTION_FLAG) {
		*(bool *)((char *)r->options + o->offset) = yes;
		return 0;
	}
	if (!*value)
		return error_set(err, -EINVAL, "%s:%u: %s: a value is expected: %s", r->file->path,
				 r->line, name, o->arg);
	if (option_set(o, r->options, value, err) < 0)
		return error_wrap(err, -EINVAL, "%s:%u: %s", r->file->path, r->line, name);
	return 0;
}

static int read_option_line(const struct options_reader *r, char *line, struct error *err)
{
	char *equals;

	line = trim_blanks(line);
	if (!*line || *line == '#')
		return 0;
	equals = strchr(line, '=');
	if (!equals)
		return error_set(err, -EINVAL, "%s:%u: 'KEY = VALUE' expected, not '%.40s'",
				 r->file->path, r->line, line);
	*equals = '\0';
	return set_option_of_file(r, trim_blanks(line), trim_blanks(equals + 1), err);
}

/* Read a file of at most OPTIONS_FILE_MAX bytes into *out, which the caller frees. */
static int load_options_file(const char *path, char **out, struct error *err)
{
	FILE *in = fopen(path, "re");
	char *text = malloc(OPTIONS_FILE_MAX + 2);
	size_t size = 0;
	int ret = 0;

	if (!in || !text)
		ret = error_errno(err, in ? -ENOMEM : -errno, "%s", path);
	if (!ret) {
		size = fread(text, 1, OPTIONS_FILE_MAX + 1, in);
		text[size] = '\0';
		if (ferror(in))
			ret = error_errno(err, -EIO, "%s", path);
		else if (size > OPTIONS_FILE_MAX || strlen(text) != size)
			ret = error_set(err, -EINVAL, "%s: not a text file of at most %d bytes",
					path, OPTIONS_FILE_MAX);
	}
	if (in)
		fclose(in);
	if (ret)
		free(text);
	else
		*out = text;
	return ret;
}

int options_read_file(struct options_file *f, void *options, struct error *err)
{
	struct options_reader r = {.file = f, .options = options};
	char *rest, *line;
	int ret = load_options_file(f->path, &f->text, err);

	rest = ret ? NULL : f->text;
	while (!ret && (line = strsep(&rest, "\n"))) {
		r.line++;
		ret = read_option_line(&r, line, err);
	}
	return ret;
}
