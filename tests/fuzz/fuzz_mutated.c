// SPDX-License-Identifier: Apache-2.0
/*
 * A real trace of samples and switches (-e cpu,sched), changed by unit/mutate.h and read in every
 * way that is not an export: as a profile, as scheduler sums, as windows, merged, and by SQL. The
 * first byte chooses the trace. libFuzzer limits time and memory (tests/run).
 */
#include <errno.h>

#include "../unit/mutate.h"
#include "analyze/profile.h"
#include "analyze/sched.h"
#include "fuzz.h"
#include "tests/unit/totals.h"
#include "trace/merge.h"
#include "trace/window.h"

static char directory[] = "/tmp/skein-fuzz-XXXXXX", path[64], out[64];
static struct mutate_base bases[2];
static FILE *nowhere;

static void clean_up(void)
{
	unlink(path);
	unlink(out);
	rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	nowhere = fopen("/dev/null", "we");
	mutate_check(nowhere && mkdtemp(directory) != NULL, directory);
	atexit(clean_up);
	snprintf(path, sizeof(path), "%s/a.skein", directory);
	snprintf(out, sizeof(out), "%s/out.skein", directory);
	mutate_bases(path, bases);
	return 0;
}

static void read_profile(struct trace *t, bool whole)
{
	struct source *source = NULL;
	struct profile *p = NULL;
	struct error err;

	if (trace_source(&source, t, &err) == 0)
		(void)profile_read(&p, source, NULL, &err);
	mutate_check(!whole || (p && totals_of(p).count), "a whole trace has samples");
	profile_free(p);
	source_free(source);
}

static void read_sched(struct trace *t, bool whole)
{
	const struct sched_query everything = {0};
	struct source *source = NULL;
	struct sched *s = NULL;
	struct error err;

	if (trace_source(&source, t, &err) == 0)
		(void)sched_read(&s, source, &everything, &err);
	mutate_check(!whole || (s && s->slices), "a whole trace has slices");
	sched_free(s);
	source_free(source);
}

static void read_windows(struct trace *t)
{
	static const uint64_t lanes[] = {1, 2, 3, 4, 5, 6, 7, 8};
	uint64_t first = 0, last = 0;
	struct error err;

	if (trace_span(t, &first, &last, &err) < 0 || first >= last)
		return;
	for (unsigned int zoom = 0; zoom < 64 && (last - first) >> zoom; zoom += 5) {
		struct window_query q = {first, first + ((last - first) >> zoom), 80, lanes, 8};
		struct window *w = NULL;

		if (trace_window(t, &q, &w, &err) == 0)
			window_free(w);
	}
}

static void merge(struct trace *t)
{
	const struct merge_part parts[] = {{t, "a"}};
	struct source *source = NULL;
	struct sink *sink = NULL;
	struct error err;

	unlink(out);
	if (merge_source(&source, parts, 1, NULL, &err) == 0 && trace_writer(&sink, out, &err) == 0)
		(void)pipe_join(source, sink, &err);
	sink_free(sink);
	source_free(source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool whole = size < 1 + MUTATION_BYTES;
	struct trace *t = NULL;
	struct error err;

	mutate(path, &bases[size ? data[0] & 1 : 0], data + (size > 0), size ? size - 1 : 0);
	if (trace_open(&t, path, &err) < 0) {
		mutate_check(!whole, err.text);
		return 0;
	}
	read_profile(t, whole);
	read_sched(t, whole);
	read_windows(t);
	merge(t);
	trace_query(t,
		    "SELECT count(id) FROM sample LEFT JOIN stack ON id = stack; SELECT count(*)"
		    " FROM slice JOIN edge ON slice.time = edge.time",
		    QUERY_CSV, nowhere, &err);
	trace_close(t);
	return 0;
}
