// SPDX-License-Identifier: Apache-2.0
/* Parses lines "PATTERN NAME"; a line that begins with # is a comment. */
#include "capture/service_file.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES 1024
#define RULES_MAX 10000

/* Return the end of the placeholder that begins at text; NULL if it has no end or no name. */
static const char *placeholder_end(const char *text)
{
	size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_");

	return length && text[1 + length] == '}' ? text + 2 + length : NULL;
}

/* Return whether a pattern captures the placeholder at text, which ends before end. */
static bool is_captured(const char *pattern, const char *text, const char *end)
{
	size_t length = (size_t)(end - text);

	for (; (pattern = strchr(pattern, '{')); pattern++)
		if (!strncmp(pattern, text, length))
			return true;
	return false;
}

/* Return what is wrong with a pattern, NULL if nothing. */
static const char *pattern_fault(const char *pattern)
{
	unsigned int wildcards = 0;

	if (!pattern[strspn(pattern, "/")] || strstr(pattern, "//"))
		return "a directory in the pattern has no name";
	for (const char *at = pattern; *at;) {
		bool named = *at == '{';
		const char *end = named ? placeholder_end(at) : at + 1;

		if (!end)
			return "{ must begin a placeholder such as {name}";
		wildcards += named || *at == '*';
		at = end;
	}
	return wildcards > SERVICE_WILDCARDS_MAX ? "a pattern may have four of * and {} at most"
						 : NULL;
}

/* Return what is wrong with the name of a rule, NULL if nothing. */
static const char *name_fault(const char *pattern, const char *name)
{
	if (!*name)
		return "the name is missing: PATTERN NAME";
	for (const char *at = name; *at;) {
		const char *end = *at == '{' ? placeholder_end(at) : at + 1;

		if (!end)
			return "{ must begin a placeholder such as {name}";
		if (*at == '{' && strncmp(at, "{host}", 6) && strncmp(at, "{pod}", 5) &&
		    !is_captured(pattern, at, end))
			return "the name has a placeholder that is neither in the pattern nor "
			       "{host} or {pod}";
		at = end;
	}
	return NULL;
}

/* Add the rule of a line, which is modified. Return 0, -ENOMEM, or -EINVAL with *fault. */
static int add_rule(service_rule_list *rules, char *line, const char **fault)
{
	size_t length = strlen(line);
	char *pattern = line + strspn(line, " \t"), *name;
	struct service_rule r = {.manager = "file"};

	while (length && isspace((unsigned char)line[length - 1]))
		line[--length] = '\0';
	if (!*pattern || *pattern == '#')
		return 0;
	name = pattern + strcspn(pattern, " \t");
	if (*name)
		*name++ = '\0';
	name += strspn(name, " \t");
	*fault = pattern_fault(pattern);
	if (!*fault)
		*fault = name_fault(pattern, name);
	if (!*fault && rules->count >= RULES_MAX)
		*fault = "too many rules";
	if (*fault)
		return -EINVAL;
	r.pattern = strdup(pattern);
	r.name = strdup(name);
	if (r.pattern && r.name && !vector_push(rules, r))
		return 0;
	free((void *)r.pattern);
	free((void *)r.name);
	return -ENOMEM;
}

static int read_rules(service_rule_list *rules, FILE *f, const char *file, struct error *err)
{
	char line[LINE_MAX_BYTES];
	const char *fault = NULL;
	unsigned int number = 0;
	int ret = 0;

	while (!ret && fgets(line, sizeof(line), f)) {
		number++;
		if (strlen(line) == sizeof(line) - 1 && line[sizeof(line) - 2] != '\n') {
			fault = "the line is too long";
			ret = -EINVAL;
		} else {
			ret = add_rule(rules, line, &fault);
		}
	}
	if (ret == -EINVAL)
		return error_set(err, ret, "%s, line %u: %s", file, number, fault);
	if (!ret && ferror(f))
		ret = -EIO;
	return ret ? error_errno(err, ret, "cannot read %s", file) : 0;
}

int service_file_read(service_rule_list *out, const char *file, struct error *err)
{
	const char *path = file ? file : SERVICE_DEFAULT_FILE;
	FILE *f = fopen(path, "re");
	int ret;

	if (!f)
		return !file && errno == ENOENT ? 0
						: error_errno(err, -errno, "cannot read %s", path);
	ret = read_rules(out, f, path, err);
	fclose(f);
	if (ret)
		service_file_free(out);
	return ret;
}

void service_file_free(service_rule_list *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		free((void *)rules->items[i].pattern);
		free((void *)rules->items[i].name);
	}
	vector_free(rules);
}
