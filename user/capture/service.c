// SPDX-License-Identifier: Apache-2.0
/*
 * Matches patterns with the directories of a path, from the innermost one outwards, and makes names
 * of what the patterns captured.
 */
#include "capture/service.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/service_file.h"
#include "capture/service_rules.h"

#define DIRECTORIES_MAX 32 /* of a path, the innermost ones */
#define ID_LENGTH 64 /* hex digits of a container's id */
#define SHORT_ID 12 /* digits that engines show, and use as the default host name */

/* A part of a text, not NUL-terminated. */
struct span {
	const char *at;
	size_t length;
};

struct capture {
	struct span name, text;
};

struct rule_match {
	struct capture captures[SERVICE_WILDCARDS_MAX];
	size_t count;
};

struct services {
	service_rule_list added; /* from the file */
};

static const struct service_rule builtin_rules[] = {
#define SERVICE_RULE(manager, pattern, name) {manager, pattern, name},
	SERVICE_RULES(SERVICE_RULE)
#undef SERVICE_RULE
		{NULL, NULL, NULL},
};

#define BUILTIN_RULES (sizeof(builtin_rules) / sizeof(*builtin_rules) - 1)

struct service_rule service_builtin_rule(size_t index)
{
	return builtin_rules[index];
}

int services_new(struct services **out, const char *file, struct error *err)
{
	struct services *s = calloc(1, sizeof(*s));
	int ret = s ? service_file_read(&s->added, file, err)
		    : error_errno(err, -ENOMEM, "names of services");

	if (ret)
		services_free(s);
	else
		*out = s;
	return ret;
}

void services_free(struct services *s)
{
	if (!s)
		return;
	service_file_free(&s->added);
	free(s);
}

static bool span_is(struct span s, const char *text)
{
	return s.length == strlen(text) && !memcmp(s.at, text, s.length);
}

static struct span span_from(struct span s, size_t n)
{
	return (struct span){s.at + n, s.length - n};
}

/* Split a path; return the number of its innermost directories in out, outermost first. */
static size_t split_directories(const char *path, struct span *out, size_t most, bool *whole)
{
	const char *end = path + strlen(path);
	size_t count = 0;

	while (end > path && count < most) {
		const char *at;

		while (end > path && end[-1] == '/')
			end--;
		for (at = end; at > path && at[-1] != '/'; at--)
			;
		if (at < end)
			out[most - ++count] = (struct span){at, (size_t)(end - at)};
		end = at;
	}
	*whole = end == path || strspn(path, "/") >= (size_t)(end - path);
	memmove(out, out + most - count, count * sizeof(*out));
	return count;
}

/* Patterns */

/* Return the length of the wildcard that a pattern begins with ("*" or "{name}"), 0 if none. */
static size_t wildcard_length(struct span pattern)
{
	const char *end;

	if (!pattern.length || (*pattern.at != '*' && *pattern.at != '{'))
		return 0;
	end = *pattern.at == '{' ? memchr(pattern.at, '}', pattern.length) : pattern.at;
	return end ? (size_t)(end - pattern.at) + 1 : 0;
}

/* Return the name in a wildcard, empty for "*". */
static struct span wildcard_name(struct span pattern, size_t length)
{
	return length > 2 ? (struct span){pattern.at + 1, length - 2}
			  : (struct span){pattern.at, 0};
}

/* Return whether the wildcard of this name may stand for a text whose last character is c. */
static bool wildcard_has(struct span name, char c)
{
	if (span_is(name, "id"))
		return isdigit((unsigned char)c) || (c >= 'a' && c <= 'f');
	if (span_is(name, "hex"))
		return isxdigit((unsigned char)c);
	return !span_is(name, "number") || isdigit((unsigned char)c);
}

static bool wildcard_may_end(struct span name, size_t length)
{
	return !name.length || (span_is(name, "id") ? length == ID_LENGTH : length > 0);
}

/* Return whether a wildcard of this name may stand for every text. */
static bool wildcard_has_all(struct span name)
{
	return !span_is(name, "id") && !span_is(name, "hex") && !span_is(name, "number");
}

/* HOPELESS: not even if the wildcards before this place stood for other texts. */
enum fit { FITS, FITS_NOT, HOPELESS };

static enum fit match_text(struct span pattern, struct span text, struct rule_match *m);

/*
 * Let the wildcard that the pattern begins with stand for the shortest text with which it fits. If
 * it has all characters and does not fit, wildcards before it need not be tried with longer texts:
 * this one could stand for the difference. So the time is at most quadratic, not exponential.
 */
static enum fit match_wildcard(struct span pattern, size_t length, struct span text,
			       struct rule_match *m)
{
	struct span name = wildcard_name(pattern, length), rest = span_from(pattern, length);
	size_t before = m->count;
	enum fit fit = FITS_NOT;

	for (size_t n = 0; n <= text.length && fit == FITS_NOT; n++) {
		if (n && !wildcard_has(name, text.at[n - 1]))
			break;
		if (!wildcard_may_end(name, n))
			continue;
		m->count = before;
		if (name.length && before < SERVICE_WILDCARDS_MAX)
			m->captures[m->count++] =
				(struct capture){.name = name, .text = {text.at, n}};
		fit = match_text(rest, span_from(text, n), m);
	}
	if (fit != FITS)
		m->count = before;
	return fit == FITS_NOT && wildcard_has_all(name) ? HOPELESS : fit;
}

/* Match a pattern without a slash with one directory's name; add what it captured to m. */
static enum fit match_text(struct span pattern, struct span text, struct rule_match *m)
{
	while (pattern.length) {
		size_t wildcard = wildcard_length(pattern);

		if (wildcard)
			return match_wildcard(pattern, wildcard, text, m);
		if (!text.length || *text.at != *pattern.at)
			return FITS_NOT;
		pattern = span_from(pattern, 1);
		text = span_from(text, 1);
	}
	return text.length ? FITS_NOT : FITS;
}

struct split_path {
	struct span directories[DIRECTORIES_MAX]; /* outermost first */
	size_t count;
	bool whole; /* no outer directories were left out */
};

/* Return whether a rule fits a path whose last directory is the one with this index. */
static bool match_rule(const struct service_rule *r, const struct split_path *p, size_t last,
		       struct rule_match *m)
{
	const char *end = r->pattern + strlen(r->pattern), *at;
	size_t left = last + 1;

	m->count = 0;
	while (end > r->pattern) {
		for (at = end; at > r->pattern && at[-1] != '/'; at--)
			;
		if (at == end) /* a slash at the beginning: nothing may be above */
			return !left && p->whole;
		if (!left-- || match_text((struct span){at, (size_t)(end - at)},
					  p->directories[left], m) != FITS)
			return false;
		end = at - (at > r->pattern + 1);
	}
	return true;
}

/* Names */

/*
 * Characters of the random parts that Kubernetes appends to names (source: SafeEncodeString of its
 * apimachinery).
 */
#define KUBERNETES_RANDOM "bcdfghjklmnpqrstvwxz2456789"

/* Cut a last part "-TEXT" of least to most of these characters from a name, unless it is all. */
static bool cut_last_part(struct span *name, const char *of, size_t least, size_t most)
{
	const char *dash = memrchr(name->at, '-', name->length);
	size_t length = dash ? (size_t)(name->at + name->length - dash) - 1 : 0;

	if (!dash || dash == name->at || length < least || length > most)
		return false;
	for (size_t i = 1; i <= length; i++)
		if (!strchr(of, dash[i]))
			return false;
	name->length = (size_t)(dash - name->at);
	return true;
}

/*
 * Return the name of the workload that a pod's host name was made from: NAME-HASH-RANDOM of a
 * deployment, NAME-TIME-RANDOM of a cron job, NAME-RANDOM, NAME-NUMBER of a stateful set.
 */
static struct span workload_of_pod(const char *host)
{
	struct span name = {host, strlen(host)};

	if (!cut_last_part(&name, KUBERNETES_RANDOM, 5, 5))
		(void)cut_last_part(&name, "0123456789", 1, 5);
	else if (!cut_last_part(&name, KUBERNETES_RANDOM, 8, 10))
		(void)cut_last_part(&name, "0123456789", 8, 10);
	return name;
}

/* Return the text for {name} in the name of a rule; empty if there is none. */
static struct span placeholder_text(struct span name, const struct rule_match *m, const char *host)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->captures[i].name.length == name.length &&
		    !memcmp(m->captures[i].name.at, name.at, name.length))
			return m->captures[i].text;
	if (span_is(name, "pod"))
		return workload_of_pod(host);
	return span_is(name, "host") ? (struct span){host, strlen(host)} : (struct span){host, 0};
}

/* Append a text, with systemd's \xNN undone for printable characters (systemd.unit(5)). */
static size_t append_unescaped(char *buf, size_t size, size_t used, struct span text)
{
	for (size_t i = 0; i < text.length && used + 1 < size; i++) {
		unsigned int c;

		if (text.length - i >= 4 && !memcmp(text.at + i, "\\x", 2) &&
		    sscanf(text.at + i + 2, "%2x", &c) == 1 && isprint((int)c)) {
			buf[used++] = (char)c;
			i += 3;
		} else {
			buf[used++] = text.at[i];
		}
	}
	buf[used] = '\0';
	return used;
}

/* Make the name of a rule that fits. Return false if a part of it is not known. */
static bool expand_name(const struct service_rule *r, const struct rule_match *m, const char *host,
			char *buf, size_t size)
{
	struct span left = {r->name, strlen(r->name)};
	size_t used = 0;

	buf[0] = '\0';
	while (left.length) {
		size_t wildcard = wildcard_length(left);
		struct span text = {left.at, 1};

		if (wildcard)
			text = placeholder_text(wildcard_name(left, wildcard), m, host);
		if (!text.length)
			return false;
		used = append_unescaped(buf, size, used, text);
		left = span_from(left, wildcard ? wildcard : 1);
	}
	return used > 0;
}

/* Write the captured id of a container to buf; return whether there is one. */
static bool container_captured(const struct rule_match *m, char *buf, size_t size)
{
	for (size_t i = 0; i < m->count; i++) {
		if (!span_is(m->captures[i].name, "id") &&
		    !span_is(m->captures[i].name, "container"))
			continue;
		append_unescaped(buf, size, 0, m->captures[i].text);
		return true;
	}
	return false;
}

static void split(struct split_path *p, const char *text)
{
	p->count = split_directories(text, p->directories, DIRECTORIES_MAX, &p->whole);
}

/* Rules to try in turn. */
struct rule_range {
	const struct service_rule *first;
	size_t count;
};

/* The rules of the file, then the built-in ones. */
#define RULE_RANGES 2

static void all_rules(const struct services *s, struct rule_range out[RULE_RANGES])
{
	out[0] = (struct rule_range){s->added.items, s->added.count};
	out[1] = (struct rule_range){builtin_rules, BUILTIN_RULES};
}

/*
 * Find the container in the directory with index last; return whether there is one. Of each range,
 * only the first rule that fits counts.
 */
static bool container_by_rules(struct rule_range rules, const struct split_path *p, size_t last,
			       char out[SERVICE_NAME_MAX])
{
	struct rule_match m;

	for (size_t i = 0; i < rules.count; i++)
		if (match_rule(&rules.first[i], p, last, &m))
			return container_captured(&m, out, SERVICE_NAME_MAX);
	return false;
}

void services_find_container(const struct services *s, const char *path, struct service_names *n)
{
	struct rule_range rules[RULE_RANGES];
	struct split_path p;

	split(&p, path);
	all_rules(s, rules);
	n->container[0] = '\0';
	for (size_t last = p.count; last-- > 0;)
		for (int i = 0; i < RULE_RANGES; i++)
			if (container_by_rules(rules[i], &p, last, n->container))
				return;
}

/* Find the innermost directory for which one of the rules makes a name. */
static bool name_by_rules(struct rule_range rules, const struct split_path *p, const char *host,
			  char out[SERVICE_NAME_MAX])
{
	struct rule_match m;

	for (size_t last = p->count; last-- > 0;)
		for (size_t i = 0; i < rules.count; i++)
			if (match_rule(&rules.first[i], p, last, &m) &&
			    expand_name(&rules.first[i], &m, host, out, SERVICE_NAME_MAX))
				return true;
	return false;
}

/* Return whether a text is the id of a container, not a name that its owner gave. */
static bool is_container_id(const char *text)
{
	return strlen(text) == ID_LENGTH && strspn(text, "0123456789abcdef") == ID_LENGTH;
}

void services_find_name(const struct services *s, const char *path, const char *host,
			struct service_names *n)
{
	bool id = is_container_id(n->container);
	struct span workload;
	struct rule_range rules[RULE_RANGES];
	struct split_path p;

	split(&p, path);
	all_rules(s, rules);
	/* engines use the beginning of the id as the host name of a container without one */
	if (id && !strncmp(host, n->container, SHORT_ID))
		host = "";
	for (int i = 0; i < RULE_RANGES; i++)
		if (name_by_rules(rules[i], &p, host, n->service))
			return;
	workload = workload_of_pod(host);
	if (*n->container)
		snprintf(n->service, sizeof(n->service), "%.*s", id ? SHORT_ID : SERVICE_NAME_MAX,
			 n->container);
	else
		snprintf(n->service, sizeof(n->service), "%.*s", (int)workload.length, workload.at);
}
