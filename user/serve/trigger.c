// SPDX-License-Identifier: Apache-2.0
/* Parse triggers and their limits (trigger.h). */
#include "serve/trigger.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/text.h"

#define NSEC_PER_SEC 1000000000ULL
#define SHARE_OF_CORES_MAX 409600 /* percent of a core: 4,096 cores */
#define VALUE_SIZE 32 /* of a limit as text */

static const struct trigger_row {
	const char *word, *form;
} trigger_rows[] = {
#define TRIGGER_ROW(NAME, word, form, text) {word, form},
	TRIGGER_KINDS(TRIGGER_ROW)
#undef TRIGGER_ROW
};

const char *trigger_word(unsigned int kind)
{
	return kind < TRIGGER_KIND_COUNT ? trigger_rows[kind].word : NULL;
}

static int refuse_trigger(const char *text, struct error *err)
{
	char forms[320] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < TRIGGER_KIND_COUNT; i++)
		used = text_append(forms, sizeof(forms), used, "%s%s>%s", i ? ", " : "",
				   trigger_rows[i].word, trigger_rows[i].form);
	error_set(err, -EINVAL, "'%.60s' is no trigger; there are %s", text, forms);
	if (!strchr(text, '>'))
		error_hint(err, "in a shell, a trigger stands in quotes: '%.60s>...'", text);
	return -EINVAL;
}

/* Parse a positive time. */
static int parse_trigger_time(const char *text, uint64_t *out, struct error *err)
{
	int ret = parse_duration(text, out, err);

	return ret || *out ? ret : error_set(err, -EINVAL, "the time must be more than 0");
}

/* Parse a share below a limit and a time, such as 50%/10s. */
static int parse_share(struct trigger *t, const char *text, uint64_t below, struct error *err)
{
	char *end;

	t->limit = strtoull(text, &end, 10);
	if (text[0] < '0' || text[0] > '9' || strncmp(end, "%/", 2) != 0 || t->limit >= below)
		return error_set(err, -EINVAL,
				 "'%.40s': a share and a time are expected, such as "
				 "50%%/10s",
				 text);
	if (parse_trigger_time(end + 2, &t->time, err) < 0)
		return -EINVAL;
	if (t->time < NSEC_PER_SEC || t->time > TRIGGER_SHARE_TIME_MAX)
		return error_set(err, -EINVAL, "'%.40s': the time is 1s to 1m", text);
	return 0;
}

/* Parse the pattern behind service-cpu, up to the last ")>". Return what follows; NULL: wrong. */
static const char *parse_service(struct trigger *t, const char *text)
{
	const char *end = NULL;

	for (const char *at = text; (at = strstr(at, ")>")); at++)
		end = at;
	if (*text != '(' || !end || end == text + 1 || end - text > (int)sizeof(t->service))
		return NULL;
	snprintf(t->service, sizeof(t->service), "%.*s", (int)(end - text) - 1, text + 1);
	return end + 1;
}

/* Parse the word of a condition. Return what follows, from the > on; NULL: there is no such one. */
static const char *parse_trigger_word(struct trigger *t, const char *text)
{
	size_t length = strcspn(text, "(>");

	for (unsigned int i = 0; i < TRIGGER_KIND_COUNT; i++)
		if (strlen(trigger_rows[i].word) == length &&
		    !strncmp(trigger_rows[i].word, text, length))
			t->kind = (enum trigger_kind)i;
	text += length;
	if (t->kind == TRIGGER_SERVICE_CPU && *text == '(')
		return parse_service(t, text);
	return t->kind != TRIGGER_KIND_COUNT && *text == '>' ? text : NULL;
}

int trigger_parse(struct trigger *out, const char *text, struct error *err)
{
	struct trigger t = {.kind = TRIGGER_KIND_COUNT};
	const char *limit = parse_trigger_word(&t, text);
	int ret;

	if (!limit)
		return refuse_trigger(text, err);
	if (t.kind == TRIGGER_SERVICE_CPU)
		ret = parse_share(&t, limit + 1, SHARE_OF_CORES_MAX + 1, err);
	else if (t.kind >= TRIGGER_CPU_PRESSURE)
		ret = parse_share(&t, limit + 1, 100, err);
	else
		ret = parse_trigger_time(limit + 1, &t.limit, err);
	if (!ret)
		*out = t;
	return ret;
}

/* Write a time as parse_duration() reads it. */
static char *show_exact_time(uint64_t ns, char *buf, size_t size)
{
	static const struct {
		uint64_t ns;
		const char *unit;
	} units[] = {{NSEC_PER_SEC, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
	unsigned int i = 0;

	while (ns % units[i].ns)
		i++;
	snprintf(buf, size, "%llu%s", (unsigned long long)(ns / units[i].ns), units[i].unit);
	return buf;
}

char *trigger_show(const struct trigger *t, char *buf, size_t size)
{
	const char *word = trigger_word(t->kind);
	char time[VALUE_SIZE];

	if (t->kind >= TRIGGER_CPU_PRESSURE)
		snprintf(buf, size, "%s%s%s%s>%llu%%/%s", word, *t->service ? "(" : "", t->service,
			 *t->service ? ")" : "", (unsigned long long)t->limit,
			 show_exact_time(t->time, time, sizeof(time)));
	else
		snprintf(buf, size, "%s>%s", word, show_exact_time(t->limit, time, sizeof(time)));
	return buf;
}

/* Parse one rate, such as 12/1h, of that many bytes. */
static int parse_trigger_rate(struct trigger_rate *out, const char *text, size_t size,
			      struct error *err)
{
	char one[VALUE_SIZE], *end;

	snprintf(one, sizeof(one), "%.*s", (int)size, text);
	out->count = strtoull(one, &end, 10);
	if (size >= sizeof(one) || one[0] < '0' || one[0] > '9' || *end != '/')
		return error_set(err, -EINVAL,
				 "'%s': a number and a time are expected, such as "
				 "12/1h",
				 one);
	if (!out->count || out->count > TRIGGER_COUNT_MAX)
		return error_set(err, -EINVAL, "'%s': the number is 1 to %d", one,
				 TRIGGER_COUNT_MAX);
	return parse_trigger_time(end + 1, &out->time, err);
}

int trigger_limits_parse(struct trigger_limits *out, const char *text, struct error *err)
{
	struct trigger_limits l = {.count = 0};
	int ret;

	do {
		size_t size = strcspn(text, ",");

		if (l.count == TRIGGER_RATES_MAX)
			return error_set(err, -EINVAL, "at most %d rates", TRIGGER_RATES_MAX);
		ret = parse_trigger_rate(&l.rates[l.count++], text, size, err);
		text += size;
	} while (!ret && *text++);
	if (!ret)
		*out = l;
	return ret;
}

/* Forget the times to which no rate looks back. */
static void forget_old_times(const struct trigger_limits *l, struct trigger_times *t, uint64_t now)
{
	uint64_t longest = 0;
	size_t old = 0;

	for (unsigned int i = 0; i < l->count; i++)
		longest = l->rates[i].time > longest ? l->rates[i].time : longest;
	while (old < t->list.count && t->list.items[old] + longest <= now)
		old++;
	if (!old)
		return;
	t->list.count -= old;
	memmove(t->list.items, t->list.items + old, t->list.count * sizeof(*t->list.items));
}

bool trigger_limits_allow(const struct trigger_limits *l, struct trigger_times *t, uint64_t now)
{
	if (!l->count)
		return true;
	forget_old_times(l, t, now);
	for (unsigned int i = 0; i < l->count; i++) {
		const struct trigger_rate *r = &l->rates[i];

		if (t->list.count >= r->count &&
		    t->list.items[t->list.count - r->count] + r->time > now)
			return false;
	}
	return vector_push(&t->list, now) == 0;
}
