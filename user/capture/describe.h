/* SPDX-License-Identifier: Apache-2.0 */
/* What is told of the machine and of the recording itself. */
#ifndef SKEIN_CAPTURE_DESCRIBE_H
#define SKEIN_CAPTURE_DESCRIBE_H

#include "base/pipe.h"
#include "capture/capture.h"
#include "capture/sampler.h"

/* Put the host (with this id) as the recording goes from start to end (0: it runs). */
int describe_host(struct sink *sink, uint64_t id, uint64_t start, uint64_t end,
		  struct error *err);
/* Put the options of the recording as infos. */
int describe_options(struct sink *sink, uint64_t host, const struct capture_options *o,
		     struct error *err);

#endif
