// SPDX-License-Identifier: Apache-2.0
/*
 * make_trace FILE [SCENE]: write a scene as a .skein file, so that readers and golden tests have
 * the same trace everywhere. SCENE is one of: scene (tests/unit/scene.h), python (python_scene.h),
 * timeline or whole (timeline_scene.h, with or without losses), mixed or empty (mixed_scene.h, with
 * or without samples), flames or hostile (flame_scene.h), before or after (diff_scene.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "diff_scene.h"
#include "flame_scene.h"
#include "mixed_scene.h"
#include "python_scene.h"
#include "timeline_scene.h"
#include "trace/trace.h"

static struct source *scene_named(const char *name)
{
	if (!strcmp(name, "scene"))
		return scene_source();
	if (!strcmp(name, "python"))
		return python_scene_source();
	if (!strcmp(name, "timeline") || !strcmp(name, "whole"))
		return timeline_scene_source(!strcmp(name, "whole"));
	if (!strcmp(name, "mixed") || !strcmp(name, "empty"))
		return mixed_scene_source(!strcmp(name, "mixed"));
	if (!strcmp(name, "before") || !strcmp(name, "after"))
		return diff_source(!strcmp(name, "after"));
	return flame_source(name);
}

int main(int argc, char **argv)
{
	struct source *source =
		argc == 2 || argc == 3 ? scene_named(argc == 3 ? argv[2] : "scene") : NULL;
	struct error err = {""};
	struct sink *sink = NULL;
	int rc;

	if (!source)
		return log_error(2,
				 "usage: make_trace FILE [scene|python|timeline|whole|mixed|empty|"
				 "flames|hostile|before|after]");
	rc = trace_writer(&sink, argv[1], &err);
	if (!rc)
		rc = pipe_join(source, sink, &err);
	sink_free(sink);
	return rc < 0 ? log_failure(1, &err) : 0;
}
