/* SPDX-License-Identifier: Apache-2.0 */
/* The options of 'skein serve', and how they change while it runs. */
#ifndef SKEIN_CMD_SERVE_H
#define SKEIN_CMD_SERVE_H

#include "base/pipe.h"
#include "cmd/recorder.h"
#include "cmd/serve_flight.h"
#include "cmd/serve_http.h"
#include "serve/notify.h"

struct serve_options {
	struct targets targets;
	struct flight_settings flight; /* see struct flight_prefix */
	struct record_events events; /* of windows */
	const char *config, *folder, *unwind_cache;
	uint64_t window, disk, age, cpu, memory;
	struct serve_http_options http;
	bool check, no_sums;
};

/* The command line of the service, and the text of its configuration, to which options point. */
struct serve_source {
	int argc;
	char **argv;
	char *text; /* freed with serve_options_free() */
};

/*
 * Fill *o from the command line and the configuration, whose text is stored in *from, and check it.
 * Return 0; or the complement (~) of an exit status, after a message or the command's help. Free
 * both with serve_options_free() in any case.
 */
int serve_options_read(struct serve_options *o, struct serve_source *from);
void serve_options_free(struct serve_options *o, struct serve_source *from);

/*
 * Read the configuration again. A wrong one is refused, with a message, and changes nothing. What a
 * running service can change is changed in *o and in the sink of windows; of all other options that
 * differ, a message names those that need a restart. systemd gets messages about it all.
 */
void serve_reload(struct serve_options *o, const struct serve_source *from, struct sink *windows,
		  const struct notifier *n);

#endif
