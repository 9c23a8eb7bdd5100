// SPDX-License-Identifier: Apache-2.0
/*
 * make_trace FILE [SCENE]: write a scene as a .skein file, so that readers and golden tests have
 * the same trace everywhere. SCENE is one of: scene (tests/unit/sample_scene.h), python
 * (python_scene.h), sched (sched_scene.h), timeline or whole (timeline_scene.h, with or without
 * losses), server (server_scene.h), mixed or empty (mixed_scene.h, with or without samples), flames
 * or hostile (flame_scene.h), waits (waits_scene.h), before or after (diff_scene.h), runtime
 * (runtime_scene.h), chain (chain_scene.h), handlers (handler_scene.h), counters
 * (counters_scene.h).
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "chain_scene.h"
#include "counters_scene.h"
#include "diff_scene.h"
#include "flame_scene.h"
#include "handler_scene.h"
#include "mixed_scene.h"
#include "python_scene.h"
#include "runtime_scene.h"
#include "sched_scene.h"
#include "server_scene.h"
#include "timeline_scene.h"
#include "trace/trace.h"
#include "waits_scene.h"

static struct source *scene_named(const char *name)
{
	const struct {
		const char *name;
		struct source *source;
	} all[] = {
		{"scene", scene_source()},
		{"python", python_scene_source()},
		{"sched", sched_scene_source()},
		{"timeline", timeline_scene_source(false)},
		{"whole", timeline_scene_source(true)},
		{"server", server_scene_source()},
		{"mixed", mixed_scene_source(true)},
		{"empty", mixed_scene_source(false)},
		{"flames", flames_source()},
		{"hostile", hostile_source()},
		{"waits", waits_source()},
		{"before", diff_source(false)},
		{"after", diff_source(true)},
		{"runtime", runtime_scene_source()},
		{"chain", chain_scene_source()},
		{"handlers", handler_scene_source()},
		{"counters", counters_scene_source()},
	};

	for (size_t i = 0; i < SCENE_COUNT(all); i++)
		if (!strcmp(name, all[i].name))
			return all[i].source;
	return NULL;
}

int main(int argc, char **argv)
{
	struct source *source =
		argc == 2 || argc == 3 ? scene_named(argc == 3 ? argv[2] : "scene") : NULL;
	struct error err = {""};
	struct sink *sink = NULL;
	int rc;

	if (!source)
		return log_error(2, "usage: make_trace FILE [scene|python|sched|timeline|whole|"
				    "server|mixed|empty|flames|hostile|waits|before|after|"
				    "runtime|chain|handlers|counters]");
	rc = trace_writer(&sink, argv[1], &err);
	if (!rc)
		rc = pipe_join(source, sink, &err);
	sink_free(sink);
	return rc < 0 ? log_failure(1, &err) : 0;
}
