// SPDX-License-Identifier: Apache-2.0
/*
 * make_timeline FILE SLICES [CPUS THREADS SEED [LOSSES EARLY DEATHS]]: write the trace of a
 * simulated machine (tests/unit/machine.h; the last three numbers are per million switches), and
 * print its cost as JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "base/log.h"
#include "machine.h"
#include "trace/trace.h"

#define TICK_NS 1000000000ULL /* as in a recorder */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int write_slices(struct machine *m, uint64_t slices, struct sink *sink, struct error *err)
{
	uint64_t tick = m->now + TICK_NS;
	int result = 0;

	while (!result && m->slices < slices) {
		result = machine_step(m);
		if (result || m->now < tick)
			continue;
		result = sink_tick(sink, m->now, err);
		tick = m->now + TICK_NS;
	}
	return result < 0 ? result : machine_end(m);
}

/* A sink that drops everything, to measure the CPU time of the simulation without a writer. */
static int swallow(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	(void)s;
	(void)kind;
	(void)record;
	(void)err;
	return 0;
}

static int run(const struct machine_options *o, uint64_t slices, struct sink *sink,
	       struct machine *m, double *cpu, struct error *err)
{
	double begun = seconds();
	int result = machine_begin(m, o, sink, err);

	if (!result)
		result = write_slices(m, slices, sink, err);
	if (!result && sink->ops->finish)
		result = sink->ops->finish(sink, err);
	*cpu = seconds() - begun;
	machine_free(m);
	return result;
}

static void report(const struct machine *m, const struct trace_stats *stats, double writing,
		   double making)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	printf("{\"slices\": %" PRIu64 ", \"edges\": %" PRIu64 ", \"seconds\": %.3f, "
	       "\"chunk_bytes\": %" PRIu64 ", \"file_bytes\": %" PRIu64 ", \"peak_kib\": %ld, "
	       "\"cpu\": %.3f, \"cpu_without_writer\": %.3f}\n",
	       m->slices, m->edges, (double)(m->now - MACHINE_START) / 1e9, stats->chunk_bytes,
	       stats->file_bytes, usage.ru_maxrss, writing, making);
}

static uint64_t number(const char *text)
{
	return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
	static const struct sink_ops nothing = {.put = swallow};
	struct sink idle = {.ops = &nothing, .wants = WANT_ALL}, *sink = NULL;
	struct machine_options o = {.cpus = 64, .threads = 2000, .seed = 1, .ends = true};
	struct trace_stats stats;
	struct error err = {""};
	struct machine m;
	double writing, making;
	uint64_t slices;
	int result;

	if (argc != 3 && argc != 6 && argc != 9)
		return log_error(2, "usage: make_timeline FILE SLICES [CPUS THREADS SEED "
				    "[LOSSES EARLY DEATHS]]");
	slices = number(argv[2]);
	if (argc >= 6) {
		o.cpus = (unsigned int)number(argv[3]);
		o.threads = (unsigned int)number(argv[4]);
		o.seed = number(argv[5]);
	}
	if (argc == 9) {
		o.losses = (unsigned int)number(argv[6]);
		o.early = (unsigned int)number(argv[7]);
		o.deaths = (unsigned int)number(argv[8]);
	}
	run(&o, slices < 4000000 ? slices : 4000000, &idle, &m, &making, &err);
	making *= slices < 4000000 ? 1 : (double)slices / 4000000;
	result = trace_writer(&sink, argv[1], &err);
	if (!result)
		result = run(&o, slices, sink, &m, &writing, &err);
	if (!result) {
		trace_writer_stats(sink, &stats);
		report(&m, &stats, writing, making);
	}
	sink_free(sink);
	return result < 0 ? log_failure(1, &err) : 0;
}
