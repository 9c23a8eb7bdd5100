// SPDX-License-Identifier: Apache-2.0
/*
 * make_sched FILE: write the scene of tests/unit/sched_scene.h as a .skein file, so that readers
 * and golden tests have the same trace everywhere.
 */
#include <stdio.h>

#include "base/log.h"
#include "sched_scene.h"
#include "trace/trace.h"

int main(int argc, char **argv)
{
	struct error err = {""};
	struct sink *sink = NULL;
	int rc;

	if (argc != 2)
		return log_error(2, "usage: make_sched FILE");
	rc = trace_writer(&sink, argv[1], &err);
	if (!rc)
		rc = pipe_join(sched_scene_source(), sink, &err);
	sink_free(sink);
	return rc < 0 ? log_failure(1, &err) : 0;
}
