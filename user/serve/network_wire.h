/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the network process asks the service's core, and the replies: one packet each, on a socket
 * pair. A reply may come with a descriptor that can only be read. The first one, which answers no
 * question, comes with the socket on which the process listens.
 */
#ifndef SKEIN_SERVE_NETWORK_WIRE_H
#define SKEIN_SERVE_NETWORK_WIRE_H

#include <stdint.h>

#define NETWORK_WALL_SECONDS 60 /* the longest session of wall time */
#define NETWORK_NAME_MAX 128 /* bytes of the name of a window, NUL included */

enum network_question_kind {
	ASK_STATE, /* status 0: it records; -EAGAIN: not yet */
	ASK_METRICS, /* with a text in Prometheus' format, without its last line */
	ASK_SESSION, /* with a trace of the next ns, when it is complete */
	/*
	 * as ASK_SESSION, of wall time; also -ENODEV: the configuration records switches without
	 * stacks of waits; -ENOTSUP: the kernel can take none; -EDQUOT: the CPU budget is used up
	 */
	ASK_WALL,
	ASK_CANCEL, /* nobody waits for the session of that number any more; has no reply */
	ASK_WINDOWS, /* with a text: a line for each window: name, begin, end (s since 1970), bytes
		      */
	ASK_WINDOW, /* with the window of that name; -ENOENT: there is none */
	/*
	 * a trace by the flight recorder, with that name as its reason; -ENODEV: there is none;
	 * -EINVAL: no such reason; -EAGAIN: the limits do not allow it
	 */
	ASK_FLIGHT,
};

struct network_question {
	uint64_t number; /* of the question; of a session to be cancelled, that of its question */
	uint32_t kind; /* enum network_question_kind */
	uint32_t open_metrics; /* of metrics: in the OpenMetrics form */
	uint64_t ns; /* of a session: its length */
	char name[NETWORK_NAME_MAX]; /* of a window; of a flight its reason */
};

struct network_reply {
	uint64_t number; /* of the question */
	int64_t status; /* 0 or a negative errno */
};

#endif
