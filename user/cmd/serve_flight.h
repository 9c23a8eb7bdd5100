/* SPDX-License-Identifier: Apache-2.0 */
/* The flight recorder of skein serve: its options, and its part of a run. */
#ifndef SKEIN_CMD_SERVE_FLIGHT_H
#define SKEIN_CMD_SERVE_FLIGHT_H

#include "cmd/record_events.h"
#include "cmd/recorder.h"
#include "cmd/serve_events.h"
#include "serve/flight.h"
#include "serve/window_sink.h"

struct flight_settings {
	uint64_t keep, after; /* ns; keep 0: there is no flight recorder */
	uint64_t memory; /* bytes */
	struct record_events events;
	trigger_list triggers;
	struct trigger_limits limits;
};

/* How the options of the command begin, so that the functions for its table find the settings. */
struct flight_prefix {
	struct targets targets;
	struct flight_settings flight;
};

#define FLIGHT_DEFAULTS \
	{ \
		.after = 2 * 1000000000ULL, .memory = 128ULL << 20, \
		.events.interrupt_min = RECORD_UNSET, \
		.limits = {{{1, 60 * 1000000000ULL}, {12, 3600 * 1000000000ULL}}, 2}, \
	}

/* Values of option_spec.set; the options must begin with a struct flight_prefix. */
int flight_set_events(void *options, const char *value, struct error *err);
int flight_set_trigger(void *options, const char *value, struct error *err);
int flight_set_limits(void *options, const char *value, struct error *err);

/* Rows of a table of options. in is the type of the options, member its struct flight_settings. */
#define FLIGHT_OPTIONS(in, member) \
	{.name = "Flight recorder: all of the last TIME, written when something happens", \
	 .type = OPTION_HEADING}, \
	{.name = "keep", .type = OPTION_DURATION, .arg = "TIME", \
	 .help = "Keep the last TIME, 1s to 10m, of what --keep-events names in memory. " \
		 "A trigger writes it as a trace of its own into the folder of windows. " \
		 "Default: 0, no flight recorder.", \
	 .offset = offsetof(in, member.keep)}, \
	{.name = "keep-events", .type = OPTION_CALL, .arg = "EVENTS", .set = flight_set_events, \
	 .values = record_events_word, .list = true, \
	 .help = "What the flight recorder records, as with 'skein record -e', besides the " \
		 "samples of windows. Default: all."}, \
	{.name = "keep-memory", .type = OPTION_BYTES, .arg = "SIZE", \
	 .help = "Memory that it may take: beyond, less than TIME is kept. Default: 128M.", \
	 .offset = offsetof(in, member.memory)}, \
	{.name = "after", .type = OPTION_DURATION, .arg = "TIME", \
	 .help = "How long after the trigger the trace goes on, up to 1m. Default: 2s.", \
	 .offset = offsetof(in, member.after)}, \
	{.name = "trigger", .type = OPTION_CALL, .arg = "CONDITION", .set = flight_set_trigger, \
	 .help = "When to write a trace; may be given several times.\n" TRIGGER_HELP}, \
	{.name = "trigger-limit", .type = OPTION_CALL, .arg = "RATES", .set = flight_set_limits, \
	 .help = "How many traces are written in a time at most, all rates together. Triggers " \
		 "beyond are counted. Default: 1/1m,12/1h."}

#define FLIGHT_ENVIRONMENT \
	"RUNTIME_DIRECTORY\tWhere --keep has its memory, in a unit with RuntimeDirectory=; else " \
	"/run/skein.\n"

/*
 * Check what belongs together; no_sums: why there are no sums of control groups, NULL if there are.
 * Return 0 or an exit status, after an error message.
 */
int flight_settings_check(const struct flight_settings *f, const char *no_sums);
/* Return what the flight recorder keeps; it points to what f does. */
struct record_events flight_settings_events(const struct flight_settings *f);
/* Print them as a sentence, if there is a flight recorder. */
void flight_settings_print(const struct flight_settings *f);
void flight_settings_free(struct flight_settings *f);
/* Compare what one of the options above set that has a function, by the option's name. */
bool flight_settings_equal(const char *name, const struct flight_settings *a,
			   const struct flight_settings *b);

/* Which lists the command line has; they take the place of those of the configuration. */
struct flight_given {
	bool events, triggers;
};
struct flight_given flight_settings_given(const struct flight_settings *f);
/* Remove the lists that are given elsewhere. */
void flight_settings_drop(struct flight_settings *f, struct flight_given given);

/* The flight recorder of a run. Zeroed memory: there is none. */
struct serve_flight {
	struct flight *flight; /* NULL: there is none */
	const trigger_list *triggers;
	char ring[PATH_MAX];
	struct flight_counts seen; /* what was logged */
	bool suppressed; /* logged since the last flight */
	bool without_sums; /* logged that a trigger lacks them */
};

/*
 * Open the flight recorder, if the settings want one, before the sink of windows *out, which it
 * then replaces; in any case, remove what an earlier one has left. Return 0 or a negative errno.
 */
int serve_flight_open(struct serve_flight *s, const struct flight_settings *f,
		      const struct window_options *windows, struct sink **out, struct error *err);
/* Free it and its memory. */
void serve_flight_close(struct serve_flight *s);
/* Do what is due, and log what has happened. */
void serve_flight_poll(struct serve_flight *s);
/*
 * The recording has no sums of control groups, which options do not decide alone: log it if a
 * trigger needs them.
 */
void serve_flight_lacks_sums(struct serve_flight *s);
/* SIGUSR1 has come. */
void serve_flight_signal(struct serve_flight *s);
bool serve_flight_wants_open_waits(struct serve_flight *s);

#endif
