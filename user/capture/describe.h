/* SPDX-License-Identifier: Apache-2.0 */
/* Puts a description of the machine and of the recording into the sink. */
#ifndef SKEIN_CAPTURE_DESCRIBE_H
#define SKEIN_CAPTURE_DESCRIBE_H

#include "base/pipe.h"
#include "capture/capture.h"
#include "capture/sampler.h"

/*
 * Put the host entity with this id, for a recording from start to end (ns of CLOCK_BOOTTIME; end 0:
 * not ended yet). Return 0 or a negative errno.
 */
int describe_host(struct sink *sink, uint64_t id, uint64_t start, uint64_t end, struct error *err);
/*
 * Put skein's version and the options of the recording as info records, with ids from 1 on. host:
 * host.id. Return 0 or a negative errno.
 */
int describe_options(struct sink *sink, uint64_t host, const struct capture_options *o,
		     struct error *err);
/* Put how long the recording was paused, ns, if it was. Return 0 or a negative errno. */
int describe_pauses(struct sink *sink, uint64_t host, uint64_t paused, struct error *err);

#endif
