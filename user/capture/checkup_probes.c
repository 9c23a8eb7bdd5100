// SPDX-License-Identifier: Apache-2.0
/* Finds the probes of files: the worker inspects each and looks for its sites, as for a recording.
 */
#include "capture/checkup_probes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/checkup.h"
#include "capture/clock.h"
#include "symbolizers/client.h"
#include "symbolizers/hotspot_tables.h"
#include "symbolizers/python_file.h"

#define PROBES_TIMEOUT (10 * NSEC_PER_SEC)
#define ONLY_OBJECT 1

struct probe_search {
	struct symbolizer *symbolizer;
	enum probe_runtime runtime;
	bool inspected, searched;
	int status;
	struct probe_sites sites;
};

static void on_searched_libjvm(void *context, uint64_t object, const struct hotspot_file *f)
{
	(void)object, (void)f;
	((struct probe_search *)context)->runtime = PROBE_RUNTIME_HOTSPOT;
}

static void on_searched_python(void *context, uint64_t object, const struct python_file *f)
{
	struct probe_search *s = context;

	(void)object;
	s->inspected = true;
	if (f->support != PYTHON_NONE)
		s->runtime = PROBE_RUNTIME_PYTHON;
}

static void on_searched_sites(void *context, uint64_t object, int status,
			      const struct probe_sites *found)
{
	struct probe_search *s = context;

	(void)object;
	s->searched = true;
	s->status = status;
	if (!status)
		s->sites = *found;
}

static int await_reply(struct probe_search *s, const bool *done, uint64_t end, struct error *err)
{
	int ret = 0;

	while (!ret && !*done && clock_boot_ns() < end) {
		struct pollfd p = {.fd = symbolizer_fd(s->symbolizer), .events = POLLIN};

		(void)poll(&p, 1, 100);
		ret = symbolizer_poll(s->symbolizer, clock_boot_ns(), err);
	}
	return ret;
}

/* Search a file, which the symbolizer owns from now on. */
static int search_open_file(struct probe_search *s, int fd, struct error *err)
{
	const uint64_t end = clock_boot_ns() + PROBES_TIMEOUT;
	struct probe_wanted w = {.parts = UINT32_MAX, .mask = 1};
	int ret = symbolizer_add(s->symbolizer, ONLY_OBJECT, OBJECT_ELF, fd);

	if (!ret)
		ret = symbolizer_inspect(s->symbolizer, ONLY_OBJECT);
	if (!ret)
		ret = await_reply(s, &s->inspected, end, err);
	w.runtime = s->runtime;
	if (!ret)
		ret = symbolizer_request_probes(s->symbolizer, ONLY_OBJECT, &w);
	if (!ret)
		ret = await_reply(s, &s->searched, end, err);
	if (!s->searched)
		s->status = -ETIMEDOUT;
	return ret;
}

static int search_file(struct probe_search *s, const char *path, struct error *err)
{
	static const struct probe_pattern notes = {
		.origin = PROBE_NOTE, .provider = "*", .name = "*"};
	const struct symbolizer_events events = {.hotspot = on_searched_libjvm,
						 .python = on_searched_python,
						 .probes = on_searched_sites,
						 .context = s,
						 .patterns = &notes,
						 .pattern_count = 1};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), ret;

	if (fd < 0) {
		s->status = -errno;
		return 0;
	}
	ret = symbolizer_new(&s->symbolizer, &events, err);
	if (ret)
		close(fd);
	else
		ret = search_open_file(s, fd, err);
	symbolizer_free(s->symbolizer);
	return ret;
}

struct probes_receiver {
	void (*each)(void *context, const struct probes_found *f);
	void *context;
};

static int report_file(const char *path, uint64_t processes, const struct probes_receiver *to,
		       struct error *err)
{
	struct probe_search *s = calloc(1, sizeof(*s));
	struct probes_found found = {.path = path, .processes = processes};
	int ret;

	if (!s)
		return error_errno(err, -ENOMEM, "probes");
	ret = search_file(s, path, err);
	found.runtime = s->runtime;
	found.status = s->status;
	found.sites = &s->sites;
	if (!ret)
		to->each(to->context, &found);
	free(s);
	return ret;
}

/* A file of a runtime that runs. */
struct running_file {
	char *path;
	uint64_t processes;
};

typedef VECTOR(struct running_file) running_list;

static void keep_running_file(void *context, const struct runtime_found *r)
{
	running_list *list = context;
	struct running_file new = {strdup(r->path), r->processes};

	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].path, r->path) != 0)
			continue;
		list->items[i].processes += r->processes;
		free(new.path);
		return;
	}
	if (!new.path || vector_push(list, new) < 0)
		free(new.path);
}

int checkup_probes(const char *path, void (*each)(void *context, const struct probes_found *f),
		   void *context, struct error *err)
{
	const struct probes_receiver to = {each, context};
	running_list running = {0};
	int ret;

	if (path)
		return report_file(path, 0, &to, err);
	ret = checkup_runtimes(keep_running_file, &running, err);
	for (size_t i = 0; i < running.count; i++) {
		if (!ret)
			ret = report_file(running.items[i].path, running.items[i].processes, &to,
					  err);
		free(running.items[i].path);
	}
	vector_free(&running);
	return ret;
}
