/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes the flight recorder (flight.h) write a trace: conditions such as runqueue>20ms, and
 * how often that may be. The table below is the only place that names the conditions: parser, help
 * and manual page are made from it, and a test compares it with docs/serve.md.
 */
#ifndef SKEIN_SERVE_TRIGGER_H
#define SKEIN_SERVE_TRIGGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vector.h"

/*
 * X(NAME, "word", "form of what follows the >", "what it means"). The word is the reason in the
 * name of the trace.
 */
#define TRIGGER_KINDS(X) \
	X(RUNQUEUE, "runqueue", "TIME", \
	  "a thread that could run got no CPU for longer than TIME") \
	X(PAUSE, "pause", "TIME", \
	  "a collection or a safepoint has stopped a program of Java or Python for longer") \
	X(CPU_PRESSURE, "cpu-pressure", "SHARE%/TIME", \
	  "some thread waited for a CPU in more than SHARE of the last TIME, 1s to 1m") \
	X(IO_PRESSURE, "io-pressure", "SHARE%/TIME", "the same for input and output") \
	X(MEMORY_PRESSURE, "memory-pressure", "SHARE%/TIME", "the same for memory") \
	X(SERVICE_CPU, "service-cpu", "SHARE%/TIME", \
	  "a service used more than SHARE of one core; service-cpu(GLOB): one of that name")

#define TRIGGER_HELP_LINE(NAME, word, form, text) word ">" form ": " text ".\n"
/* A line for each condition, and a last one for what needs no condition. */
#define TRIGGER_HELP \
	TRIGGER_KINDS(TRIGGER_HELP_LINE) \
	"Without a condition: the signal SIGUSR1."

#define ENUM_TRIGGER(NAME, word, form, text) TRIGGER_##NAME,
enum trigger_kind { TRIGGER_KINDS(ENUM_TRIGGER) TRIGGER_KIND_COUNT };
#undef ENUM_TRIGGER

/* Reason of a trace that a signal asked for. */
#define TRIGGER_SIGNAL "signal"

#define TRIGGER_SERVICE_SIZE 128 /* bytes of a pattern of services, with the NUL */
/* Bytes that trigger_show() writes at most, and the name of a service in addition. */
#define TRIGGER_TEXT_SIZE (2 * TRIGGER_SERVICE_SIZE)
#define TRIGGER_SHARE_TIME_MAX ((uint64_t)60 * 1000000000) /* ns */

struct trigger {
	enum trigger_kind kind;
	uint64_t limit; /* ns; of pressure and of CPU time a share, percent */
	uint64_t time; /* ns, of those only */
	char service[TRIGGER_SERVICE_SIZE]; /* of TRIGGER_SERVICE_CPU: a pattern; "": any */
};

typedef VECTOR(struct trigger) trigger_list;

/* Return the word of a kind; NULL for TRIGGER_KIND_COUNT and above. */
const char *trigger_word(unsigned int kind);
/* Parse a condition such as runqueue>20ms. Return 0, or -EINVAL with what was expected. */
int trigger_parse(struct trigger *out, const char *text, struct error *err);
/* Write a condition as trigger_parse() reads it. Return buf. */
char *trigger_show(const struct trigger *t, char *buf, size_t size);

/* So many times in so long (ns) at most. */
struct trigger_rate {
	uint64_t count, time;
};

#define TRIGGER_RATES_MAX 4
#define TRIGGER_COUNT_MAX 1000 /* largest count of a rate */

/* How often a trace may be written: all rates hold. Without rates there is no limit. */
struct trigger_limits {
	struct trigger_rate rates[TRIGGER_RATES_MAX];
	unsigned int count;
};

/* Parse rates such as 1/1m,12/1h. Return 0 or -EINVAL. */
int trigger_limits_parse(struct trigger_limits *out, const char *text, struct error *err);

/* When traces were written, as far as the limits need that. */
struct trigger_times {
	VECTOR(uint64_t) list; /* ns, in order */
};

/*
 * Return whether the limits allow a trace at now (ns), which is noted then. Without memory it is
 * not allowed.
 */
bool trigger_limits_allow(const struct trigger_limits *l, struct trigger_times *t, uint64_t now);

#endif
