// SPDX-License-Identifier: Apache-2.0
/* Test that a recorder leaves all committed records when it is killed or its disk is full. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "suite.h"
#include "synthetic.h"
#include "trace_file.h"

static const char small[] = "small", tiny[] = "tiny";
static char path[64];

#define PER_TICK 700

/* AddressSanitizer keeps freed memory, so memory cannot be measured. */
#ifdef __SANITIZE_ADDRESS__
#define MEMORY_RUNS 0
#else
#define MEMORY_RUNS 2
#endif

/* Progress of a child: samples in committed ticks, and samples put. In shared memory. */
struct progress {
	volatile uint64_t committed, put;
};

static void record_forever(struct progress *p)
{
	struct error err = {0};
	struct synthetic s;
	struct sink *w;

	if (trace_writer(&w, path, &err) < 0 || synthetic_begin(&s, w) < 0)
		_exit(1);
	for (;;) {
		p->put = s.samples + PER_TICK;
		if (synthetic_samples(&s, PER_TICK, 1000 + s.samples) < 0 ||
		    sink_tick(w, s.time, &err) < 0)
			_exit(1);
		p->committed = s.samples;
	}
}

static void read_tally(struct tally *tally)
{
	tally_init(tally);
	trace_file_read(path, &tally->sink);
}

static void check_left(const struct progress *p)
{
	struct tally tally;

	read_tally(&tally);
	ck_assert_uint_ge(tally.counts[KIND_SAMPLE], p->committed);
	ck_assert_uint_le(tally.counts[KIND_SAMPLE], p->put);
	ck_assert_uint_eq(tally.counts[KIND_SAMPLE] % PER_TICK, 0);
	ck_assert_uint_eq(tally.sum_count, tally.counts[KIND_SAMPLE]);
	ck_assert_uint_eq(tally.lost, 0);
	read_tally(&tally); /* a second reading needs no rollback */
	ck_assert_uint_eq(tally.sum_count, tally.counts[KIND_SAMPLE]);
}

static struct progress *new_progress(void)
{
	void *shared = mmap(NULL, sizeof(struct progress), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(shared, MAP_FAILED);
	return shared;
}

START_TEST(killed)
{
	int rounds = getenv("SKEIN_LONG") ? 1000 : 60, hot = 0, status;
	struct progress *p = new_progress();
	uint64_t random = (uint64_t)getpid() << 20 | 1;
	char journal[320];
	struct stat st;
	pid_t child;

	snprintf(journal, sizeof(journal), "%s-journal", path);
	for (int i = 0; i < rounds; i++) {
		p->committed = p->put = 0;
		child = fork();
		if (!child)
			record_forever(p);
		while (!p->committed)
			usleep(200);
		usleep((useconds_t)(synthetic_random(&random) % 15000));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		ck_assert(WIFSIGNALED(status));
		hot += !stat(journal, &st) && st.st_size > 0;
		check_left(p);
	}
	ck_assert_int_gt(hot, 0); /* otherwise no kill hit a transaction */
	munmap(p, sizeof(*p));
}
END_TEST

START_TEST(two_recorders_and_a_reader)
{
	struct progress *p = new_progress();
	struct error err = {0};
	struct sink *w;
	struct trace *t;
	pid_t child = fork();

	if (!child)
		record_forever(p);
	while (!p->committed)
		usleep(200);
	ck_assert_int_eq(trace_writer(&w, path, &err), -EBUSY);
	ck_assert_msg(strstr(err.text, "another recording") != NULL, "%s", err.text);
	ck_assert_int_eq(trace_open(&t, path, &err), -EBUSY);
	ck_assert_msg(strstr(err.text, "being recorded") != NULL, "%s", err.text);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	check_left(p);
	munmap(p, sizeof(*p));
}
END_TEST

/* The trace of a killed recorder, with its journal, survives replacement by the next recorder's. */
START_TEST(old_one_with_its_journal)
{
	struct progress *p = new_progress();
	struct error err = {0};
	struct sink *w;
	pid_t child = fork();

	if (!child)
		record_forever(p);
	while (p->committed < 20 * PER_TICK)
		usleep(200);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert_msg(!trace_writer(&w, path, &err), "%s", err.text);
	ck_assert_int_eq(put_host(w, &(struct host){.id = 1}, &err), 0);
	ck_assert_int_eq(w->ops->finish(w, &err), 0);
	sink_free(w);
	strcpy(path, "trace.skein.old");
	check_left(p);
	munmap(p, sizeof(*p));
}
END_TEST

START_TEST(full_disk)
{
	struct error err = {0};
	struct synthetic s;
	struct tally tally;
	struct sink *w;
	uint64_t ticks = 0;
	int result;

	mkdir(small, 0700);
	if (mount("none", small, "tmpfs", 0, "size=1m") < 0) {
		fprintf(stderr, "no right to mount a tmpfs: full disk not tested\n");
		return;
	}
	strcpy(path, "small/x.skein");
	ck_assert_msg(!trace_writer(&w, path, &err), "%s", err.text);
	ck_assert_int_eq(synthetic_begin(&s, w), 0);
	do {
		ticks++;
		result = synthetic_samples(&s, PER_TICK, 1000 + s.samples);
		if (!result)
			result = sink_tick(w, s.time, &err);
	} while (!result && ticks < 10000);
	ck_assert_int_eq(result, -ENOSPC);
	ck_assert_msg(strstr(err.text, "No space left") && strstr(err.text, path), "%s", err.text);
	ck_assert_uint_gt(ticks, 3);
	memset(&err, 0, sizeof(err));
	ck_assert_int_eq(put_host(w, &(struct host){.id = 2}, &err), -ENOSPC);
	ck_assert_int_eq(sink_tick(w, 0, &err), -ENOSPC);
	ck_assert_int_eq(w->ops->finish(w, &err), -ENOSPC);
	ck_assert_str_ne(err.text, "");
	sink_free(w);
	read_tally(&tally);
	ck_assert_uint_eq(tally.counts[KIND_SAMPLE], (ticks - 1) * PER_TICK);
	ck_assert_uint_eq(tally.sum_count, tally.counts[KIND_SAMPLE]);
	ck_assert_uint_eq(tally.lost, 0);
}
END_TEST

/* Without room for an empty trace, no file is left. */
START_TEST(no_room_at_all)
{
	struct error err = {0};
	struct sink *w;

	mkdir(tiny, 0700);
	if (mount("none", tiny, "tmpfs", 0, "size=16k") < 0)
		return;
	strcpy(path, "tiny/x.skein");
	ck_assert_int_eq(trace_writer(&w, path, &err), -ENOSPC);
	ck_assert_msg(strstr(err.text, path) != NULL, "%s", err.text);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

/* Return resident memory, not virtual: the promise is about physical memory. */
static uint64_t resident_bytes(void)
{
	unsigned long all = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	ck_assert_int_eq(fscanf(f, "%lu %lu", &all, &resident), 2);
	fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Many distinct stacks, with ticks or without, take no more memory than the first ones. */
START_TEST(memory_is_bounded)
{
	uint64_t count = getenv("SKEIN_LONG") ? 2000000 : 800000, before = 0, after;
	struct error err = {0};
	struct synthetic s;
	struct sink *w;

	ck_assert_msg(!trace_writer(&w, path, &err), "%s", err.text);
	ck_assert_int_eq(synthetic_begin(&s, w), 0);
	for (uint64_t stacks = 100000; stacks <= count; stacks += 100000) {
		ck_assert_int_eq(synthetic_samples(&s, 50000, stacks), 0);
		if (stacks == 300000) /* every buffer has reached its limit */
			before = resident_bytes();
		if (_i)
			ck_assert_int_eq(sink_tick(w, s.time, &err), 0);
	}
	after = resident_bytes();
	ck_assert_msg(after < before + (8 << 20), "%lu to %lu bytes", before, after);
	ck_assert_int_eq(w->ops->finish(w, &err), 0);
	sink_free(w);
}
END_TEST

static void set_path(void)
{
	strcpy(path, "trace.skein");
}

int main(void)
{
	const TTest *const tests[] = {killed, two_recorders_and_a_reader, old_one_with_its_journal,
				      full_disk, no_room_at_all};
	TCase *t = suite_case("trace-crash", tests, sizeof(tests) / sizeof(tests[0]));
	int status;

	tcase_add_unchecked_fixture(t, files_begin, NULL);
	tcase_set_timeout(t, getenv("SKEIN_LONG") ? 3600 : 300);
	tcase_add_checked_fixture(t, set_path, NULL);
	tcase_add_loop_test(t, memory_is_bounded, 0, MEMORY_RUNS);
	status = suite_run_case("trace-crash", t);
	umount2(small, MNT_DETACH); /* fails if that test did not mount it */
	umount2(tiny, MNT_DETACH);
	return status;
}
