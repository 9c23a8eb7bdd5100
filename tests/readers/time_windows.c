// SPDX-License-Identifier: Apache-2.0
/*
 * time_windows FILE WINDOWS LANES WIDTH KIND [SEED]: open a trace and read windows of it, at random
 * places and of all lengths; print the time that each took, as JSON. KIND of lanes: cpu, thread or
 * all.
 */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/log.h"
#include "machine.h"
#include "trace/window.h"

struct lanes {
	uint64_t *items;
	size_t count, capacity;
};

static double milliseconds(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int read_lanes(const char *path, const char *kind, struct lanes *ret)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);

	if (rc == SQLITE_OK)
		rc = sqlite3_prepare_v2(db,
					"SELECT lane.id FROM lane"
					" JOIN lane_kind ON lane_kind.id = kind WHERE word = ?1"
					" OR (?1 = 'all' AND word IN ('cpu', 'thread'))",
					-1, &stmt, NULL);
	sqlite3_bind_text(stmt, 1, kind, -1, SQLITE_STATIC);
	while (rc == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		rc = vector_push(ret, (uint64_t)sqlite3_column_int64(stmt, 0)) ? SQLITE_NOMEM : rc;
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return rc == SQLITE_OK && ret->count ? 0 : -1;
}

/* Choose neighbouring lanes, as a viewer shows them. */
static void choose_lanes(struct machine *random, const struct lanes *all, struct lanes *ret,
			 size_t count)
{
	size_t first = machine_random(random) % all->count;

	ret->count = 0;
	for (size_t i = 0; i < count && i < all->count; i++)
		ret->items[ret->count++] = all->items[(first + i) % all->count];
}

static int time_window(struct trace *t, struct machine *random, const struct lanes *lanes,
		       unsigned int width, struct error *err)
{
	struct window_query q = {.lanes = lanes->items, .lane_count = lanes->count, .width = width};
	uint64_t time, end, length;
	struct window *w = NULL;
	unsigned int bits = 1;
	double begun, cpu;
	int result = trace_span(t, &time, &end, err);

	while ((end - time) >> bits)
		bits++;
	length = machine_spread(random, 20, bits);
	q.time = length < end - time ? time + machine_random(random) % (end - time - length) : time;
	q.end = length < end - time ? q.time + length : end;
	begun = milliseconds(CLOCK_MONOTONIC);
	cpu = milliseconds(CLOCK_PROCESS_CPUTIME_ID);
	if (!result)
		result = trace_window(t, &q, &w, err);
	if (!result)
		printf("{\"length\": %" PRIu64 ", \"cell\": %" PRIu64
		       ", \"width\": %u, \"ms\": %.3f, \"cpu_ms\": %.3f}\n",
		       q.end - q.time, w->cell, w->width, milliseconds(CLOCK_MONOTONIC) - begun,
		       milliseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu);
	window_free(w);
	return result;
}

static int time_windows(char **argv, struct error *err)
{
	struct machine random = {.random = (argv[6] ? strtoull(argv[6], NULL, 10) : 1) * 2 + 1};
	unsigned int width = (unsigned int)strtoul(argv[4], NULL, 10);
	size_t count = strtoull(argv[3], NULL, 10);
	struct lanes all = {0}, chosen = {0};
	double begun = milliseconds(CLOCK_MONOTONIC);
	struct rusage usage;
	struct trace *t;
	int result = trace_open(&t, argv[1], err);

	if (result)
		return result;
	printf("{\"open_ms\": %.3f}\n", milliseconds(CLOCK_MONOTONIC) - begun);
	result = read_lanes(argv[1], argv[5], &all) || vector_reserve(&chosen, count)
			 ? error_set(err, -1, "no lanes")
			 : 0;
	for (uint64_t i = strtoull(argv[2], NULL, 10); i && !result; i--) {
		choose_lanes(&random, &all, &chosen, count);
		result = time_window(t, &random, &chosen, width, err);
	}
	getrusage(RUSAGE_SELF, &usage);
	printf("{\"peak_kib\": %ld}\n", usage.ru_maxrss);
	vector_free(&all);
	vector_free(&chosen);
	trace_close(t);
	return result;
}

int main(int argc, char **argv)
{
	struct error err = {""};

	if (argc != 6 && argc != 7)
		return log_error(2, "usage: time_windows FILE WINDOWS LANES WIDTH KIND [SEED]");
	return time_windows(argv, &err) ? log_failure(1, &err) : 0;
}
