/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to a recording: end it, pause and resume it, copy its trace. */
#ifndef SKEIN_CMD_RECORD_SIGNALS_H
#define SKEIN_CMD_RECORD_SIGNALS_H

#include <stdbool.h>

struct record_signals {
	int fd; /* signalfd; -1: none */
	int stopped_by; /* number of the signal that ended the recording, 0 if none did */
	bool copy; /* SIGUSR2 has requested a copy of the trace; cleared by the caller */
	bool paused; /* changed by SIGUSR1 */
};

/* Block the signals, to be read between the rounds of the capture. Return 0 or a negative errno. */
int record_signals_catch(struct record_signals *s);
/* Read the signals that have come. After one that ends the recording, the next one kills. */
void record_signals_read(struct record_signals *s);
/* Let a further signal kill the recorder, because the user has already requested the end once. */
void record_signals_release(void);

#endif
