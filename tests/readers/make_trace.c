// SPDX-License-Identifier: Apache-2.0
/*
 * make_trace FILE [timeline]: the scene of tests/unit/scene.h (or timeline_scene.h) as a .skein
 * file, so that readers and golden tests have a trace that is the same everywhere.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "scene.h"
#include "timeline_scene.h"
#include "trace/trace.h"

int main(int argc, char **argv)
{
	struct error err = {""};
	struct sink *sink = NULL;
	int rc;

	if (argc < 2 || argc > 3 || (argc == 3 && strcmp(argv[2], "timeline")))
		return log_error(2, "usage: make_trace FILE [timeline]");
	rc = trace_writer(&sink, argv[1], &err);
	if (!rc)
		rc = pipe_join(argc == 3 ? timeline_scene_source() : scene_source(), sink, &err);
	sink_free(sink);
	return rc < 0 ? log_failure(1, &err) : 0;
}
