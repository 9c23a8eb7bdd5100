// SPDX-License-Identifier: Apache-2.0
/* What a recording records: the words of -e. */
#include "cmd/record_events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "capture/clock.h"

#define WAIT_PERIOD_MAX (4 * NSEC_PER_SEC) /* maximum of --off-cpu-period */

#define GC PROBE_PART_GC
#define JVM PROBE_PART_JVM
#define PYTHON PROBE_PART_PYTHON

static const struct event_word {
	const char *word, *event; /* event is the sampled event, NULL if none */
	bool sched, waits, interrupts;
	unsigned int probes; /* enum probe_part */
} event_words[] = {
	{"cpu", "cpu-clock", false, false, false, 0},
	{"cpu-clock", "cpu-clock", false, false, false, 0},
	{"cycles", "cycles", false, false, false, 0},
	{"sched", NULL, true, false, false, 0},
	{"off-cpu", NULL, true, true, false, 0},
	{"interrupts", NULL, false, false, true, 0},
	{"all", "cpu-clock", true, true, false, 0},
	{"gc", NULL, false, false, false, GC},
	{"jvm", NULL, false, false, false, JVM},
	{"python", NULL, false, false, false, PYTHON},
	{"runtime", NULL, false, false, false, GC | JVM | PYTHON | PROBE_PART_OTHERS},
	{"classes", NULL, false, false, false, PROBE_PART_CLASSES},
	{"jit", NULL, false, false, false, PROBE_PART_JIT},
	{"exceptions", NULL, false, false, false, PROBE_PART_EXCEPTIONS},
	{"deopt", NULL, false, false, false, PROBE_PART_DEOPT},
	{"alloc", NULL, false, false, false, PROBE_PART_ALLOC},
	{"monitors", NULL, false, false, false, PROBE_PART_MONITORS},
	{NULL, NULL, false, false, false, 0},
};

const char *record_events_word(unsigned int index)
{
	return event_words[index].word;
}

/* Refuse a word of -e, and name those that there are. */
static int refuse_event_word(const char *word, size_t size, struct error *err)
{
	char words[256];
	size_t used = 0;

	for (const struct event_word *w = event_words; w->word; w++)
		used = text_append(words, sizeof(words), used, "%s%s", w == event_words ? "" : ", ",
				   w->word);
	return error_set(err, -EINVAL,
			 "there is no event '%.*s'; there are %s, usdt:PATH:PROVIDER:NAME and "
			 "func:PATH:SYMBOL",
			 (int)size, word, words);
}

static struct capture_probe *add_user_probe(struct record_events *o, struct error *err)
{
	if (o->user_probes.count < PROBE_PATTERNS_MAX)
		return &o->user_probes.list[o->user_probes.count++];
	error_set(err, -E2BIG,
		  "there are too many probes: at most %d, and those with an end count "
		  "twice",
		  PROBE_PATTERNS_MAX);
	return NULL;
}

/* Add a probe of the user, and one for its end unless end is NULL. */
static int add_user_probes(struct record_events *o, const char *path, const struct probe_row *begin,
			   const struct probe_row *end, struct error *err)
{
	struct capture_probe *first = add_user_probe(o, err);
	struct capture_probe *second = first && end ? add_user_probe(o, err) : NULL;

	if (!first || (end && !second))
		return -E2BIG;
	*first = (struct capture_probe){path, *begin};
	if (second)
		*second = (struct capture_probe){path, *end};
	return 0;
}

/*
 * Parse PATH:PROVIDER:NAME or PATH:PROVIDER:NAME/END; the text is cut into its parts. meaning: of a
 * probe without an end; PROBE_BEGIN: it may have one.
 */
static int parse_usdt(struct record_events *o, char *text, enum probe_meaning meaning,
		      struct error *err)
{
	char *name = strrchr(text, ':'), *provider, *slash;
	struct probe_row begin = {.origin = PROBE_NOTE,
				  .meaning = meaning == PROBE_BEGIN ? PROBE_INSTANT : meaning,
				  .arguments = PROBE_ARGUMENTS_MAX},
			 end;

	if (name)
		*name++ = '\0';
	provider = name ? strrchr(text, ':') : NULL;
	if (!provider || provider == text || !provider[1] || !*name)
		return error_set(
			err, -EINVAL,
			"a USDT probe is usdt:PATH:PROVIDER:NAME, or .../END with the name "
			"of the probe at its end");
	*provider++ = '\0';
	slash = strchr(name, '/');
	if (slash && meaning != PROBE_BEGIN)
		return error_set(err, -EINVAL, "only a probe of -e has an end: %s:%s", provider,
				 name);
	if (slash && (strpbrk(provider, "*?[") || strpbrk(name, "*?[")))
		return error_set(err, -EINVAL,
				 "a probe with an end has names and no patterns: %s:%s", provider,
				 name);
	begin.provider = provider;
	begin.name = name;
	if (!slash)
		return add_user_probes(o, text, &begin, NULL, err);
	*slash = '\0';
	begin.meaning = PROBE_BEGIN;
	end = begin;
	end.name = slash + 1;
	end.meaning = PROBE_END;
	return add_user_probes(o, text, &begin, &end, err);
}

/*
 * Cut "(N)" from a symbol, and return the number of arguments that are recorded; -1 if it is no
 * number from 0 to 6, as many as are passed in registers.
 */
static int take_argument_count(char *symbol)
{
	char *at = strrchr(symbol, '(');
	int count = 0;

	if (!at)
		return 0;
	if (at[1] < '0' || at[1] > '6' || strcmp(at + 2, ")") != 0)
		return -1;
	count = at[1] - '0';
	*at = '\0';
	return count;
}

/* Parse PATH:SYMBOL or PATH:SYMBOL(N); a symbol of C++ has colons, too. */
static int parse_function(struct record_events *o, char *text, enum probe_meaning meaning,
			  struct error *err)
{
	char *symbol = strchr(text, ':');
	int arguments = symbol ? take_argument_count(symbol) : 0;
	struct probe_row begin = {.origin = PROBE_FUNCTION, .provider = "func", .meaning = meaning},
			 end;

	if (!symbol || symbol == text || !symbol[1] || arguments < 0)
		return error_set(
			err, -EINVAL,
			"a probe of a function is func:PATH:SYMBOL, or SYMBOL(N) with its first "
			"N arguments, up to 6");
	*symbol = '\0';
	begin.name = symbol + 1;
	begin.arguments = (uint8_t)arguments;
	end = begin;
	end.origin = PROBE_RETURN;
	end.arguments = 0;
	end.meaning = PROBE_END;
	return add_user_probes(o, text, &begin, meaning == PROBE_BEGIN ? &end : NULL, err);
}

static const struct {
	const char *prefix;
	int (*parse)(struct record_events *o, char *text, enum probe_meaning meaning,
		     struct error *err);
} user_probe_kinds[] = {{"usdt:", parse_usdt}, {"func:", parse_function}};

/*
 * Parse a word that is a probe of the user; meaning: see parse_usdt(). Return 1 if it is none; else
 * 0 or a negative errno.
 */
static int parse_user_probe(struct record_events *o, const char *word, size_t size,
			    enum probe_meaning meaning, struct error *err)
{
	for (size_t i = 0; i < sizeof(user_probe_kinds) / sizeof(*user_probe_kinds); i++) {
		size_t prefix = strlen(user_probe_kinds[i].prefix);
		char *text;

		if (size < prefix || strncmp(word, user_probe_kinds[i].prefix, prefix) != 0)
			continue;
		text = strndup(word + prefix, size - prefix);
		if (!text || vector_push(&o->user_probes.texts, text) < 0) {
			free(text);
			return error_errno(err, -ENOMEM, "probes");
		}
		return user_probe_kinds[i].parse(o, text, meaning, err);
	}
	return 1;
}

int record_events_add_cue(struct record_events *o, const char *value, enum probe_meaning meaning,
			  struct error *err)
{
	int ret = parse_user_probe(o, value, strlen(value), meaning, err);

	return ret <= 0 ? ret
			: error_set(err, -EINVAL,
				    "'%s' is no probe: usdt:PATH:PROVIDER:NAME or func:PATH:SYMBOL",
				    value);
}

bool record_events_has_cue(const struct record_events *o, enum probe_meaning meaning)
{
	for (unsigned int i = 0; i < o->user_probes.count; i++)
		if (o->user_probes.list[i].row.meaning == meaning)
			return true;
	return false;
}

/* Parse one word of -e, of the given size in bytes. */
static int parse_event_word(struct record_events *o, const char *word, size_t size,
			    struct error *err)
{
	int ret = parse_user_probe(o, word, size, PROBE_BEGIN, err);

	if (ret <= 0)
		return ret;
	for (const struct event_word *w = event_words; w->word; w++) {
		if (strlen(w->word) != size || strncmp(w->word, word, size))
			continue;
		if (w->event)
			o->event = w->event;
		o->sample |= w->event != NULL;
		o->sched |= w->sched;
		o->waits |= w->waits;
		o->interrupts |= w->interrupts;
		o->waits_needed |= w->waits && !w->event;
		o->parts |= w->probes;
		return 0;
	}
	return refuse_event_word(word, size, err);
}

int record_events_parse(struct record_events *o, const char *value, struct error *err)
{
	const char *at = value;
	int ret;

	o->given = true;
	do {
		size_t size = strcspn(at, ",");

		ret = parse_event_word(o, at, size, err);
		at += size;
	} while (!ret && *at++);
	return ret;
}

int record_events_check(const struct record_events *o)
{
	if ((o->wait_period || o->all_stacks) && !o->waits)
		return log_error(2, "record: --off-cpu-period and --all-stacks need -e off-cpu");
	if (o->wait_period && o->all_stacks)
		return log_error(2, "record: --off-cpu-period and --all-stacks exclude each other");
	if (o->interrupt_min != RECORD_UNSET && !o->interrupts)
		return log_error(2, "record: --interrupt-min needs -e interrupts");
	if (o->wait_period > WAIT_PERIOD_MAX)
		return log_error(2, "record: --off-cpu-period is at most 4s");
	return 0;
}

struct capture_waits record_events_waits(const struct record_events *o)
{
	return (struct capture_waits){
		.stacks = o->waits,
		.optional = !o->waits_needed,
		.all = o->all_stacks,
		.period = o->wait_period ? o->wait_period : CAPTURE_WAIT_PERIOD,
	};
}

struct capture_probes record_events_probes(const struct record_events *o)
{
	return (struct capture_probes){
		.parts = o->parts,
		.list = o->user_probes.list,
		.count = o->user_probes.count,
		.interrupts = {.wanted = o->interrupts,
			       .least = o->interrupt_min == RECORD_UNSET ? CAPTURE_INTERRUPT_MIN
									 : o->interrupt_min},
	};
}

/* Return whether -e asks for probes; --mark, --start-at and --stop-at do not count. */
static bool has_event_probes(const struct record_events *o)
{
	for (unsigned int i = 0; i < o->user_probes.count; i++)
		if (!probe_is_cue(o->user_probes.list[i].row.meaning))
			return true;
	return o->parts;
}

bool record_events_sample(const struct record_events *o)
{
	return o->sample || (!o->sched && !o->interrupts && !has_event_probes(o));
}

const char *record_events_show_parts(unsigned int parts, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (const struct event_word *w = event_words; w->word; w++)
		if (w->probes & parts)
			used = text_append(buf, size, used, "%s%s", used ? ", " : "", w->word);
	return buf;
}

void record_events_free(struct record_events *o)
{
	for (size_t i = 0; i < o->user_probes.texts.count; i++)
		free(o->user_probes.texts.items[i]);
	vector_free(&o->user_probes.texts);
}

static bool equal_probe_texts(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool has_user_probe(const struct record_events *o, const struct capture_probe *p)
{
	for (unsigned int i = 0; i < o->user_probes.count; i++) {
		const struct capture_probe *q = &o->user_probes.list[i];

		if (q->row.meaning == p->row.meaning && q->row.origin == p->row.origin &&
		    q->row.arguments == p->row.arguments && equal_probe_texts(q->path, p->path) &&
		    equal_probe_texts(q->row.provider, p->row.provider) &&
		    equal_probe_texts(q->row.name, p->row.name))
			return true;
	}
	return false;
}

bool record_events_join(struct record_events *out, const struct record_events *a,
			const struct record_events *b)
{
	*out = *a;
	out->given |= b->given;
	out->event = a->event ? a->event : b->event;
	out->sample |= b->sample;
	out->sched |= b->sched;
	out->waits |= b->waits;
	out->waits_needed |= b->waits_needed;
	out->interrupts |= b->interrupts;
	out->parts |= b->parts;
	for (unsigned int i = 0; i < b->user_probes.count; i++) {
		if (has_user_probe(out, &b->user_probes.list[i]))
			continue;
		if (out->user_probes.count == PROBE_PATTERNS_MAX)
			return false;
		out->user_probes.list[out->user_probes.count++] = b->user_probes.list[i];
	}
	return true;
}

bool record_events_equal(const struct record_events *a, const struct record_events *b)
{
	return a->given == b->given && a->sample == b->sample && a->sched == b->sched &&
	       a->waits == b->waits && a->interrupts == b->interrupts && a->parts == b->parts &&
	       !a->user_probes.count && !b->user_probes.count;
}
