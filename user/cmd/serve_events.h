/* SPDX-License-Identifier: Apache-2.0 */
/* What 'skein serve' records: for its windows, and for its flight recorder. */
#ifndef SKEIN_CMD_SERVE_EVENTS_H
#define SKEIN_CMD_SERVE_EVENTS_H

#include "cmd/record_events.h"
#include "serve/record_choice.h"

/* A row of a table of options whose set() is SET. */
#define SERVE_EVENTS_OPTION(SET) \
	{.name = "events", .letter = 'e', .type = OPTION_CALL, .arg = "EVENTS", .set = (SET), \
	 .values = record_events_word, .list = true, \
	 .help = "What windows have besides samples, as with 'skein record -e': sched (which " \
		 "thread had each CPU, and which woke which), off-cpu (also stacks of waits), " \
		 "gc, jvm, python, runtime, interrupts and so on. Default: samples alone."}

/*
 * Check the events of windows and of flights. Return 0 or an exit status, after an error message.
 */
int serve_events_check(const struct record_events *windows, const struct record_events *flights);
/* Return what windows or flights with these events get. */
struct record_choice serve_events_choice(const struct record_events *e);
/*
 * Let a capture record what either wants; flights is NULL if there is no flight recorder. o must
 * record samples already. *both is what o points to, and points to what the other two do.
 */
void serve_events_apply(const struct record_events *windows, const struct record_events *flights,
			struct record_events *both, struct capture_options *o);
/* Print what windows have, as a sentence, if it is more than samples. */
void serve_events_print(const struct record_events *windows);

#endif
