// SPDX-License-Identifier: Apache-2.0
/*
 * A recorder whose trace runs out of space: by a full disk, a quota, or RLIMIT_FSIZE. For each CPU,
 * the stored records and those counted as not stored add up to the records put, and the trace has
 * the reason of its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "suite.h"
#include "synthetic.h"
#include "trace/unstored.h"
#include "trace_file.h"

#define CPUS 4
#define PER_TICK 700
#define TICKS_MAX 2000

static const char disk[] = "disk";
static char path[64];

/* A recording, and the counts of the records put. */
struct recorder {
	struct sink sink; /* comes before the writer, and counts */
	struct sink *writer;
	struct synthetic s;
	uint64_t put[CPUS], ticks, committed; /* committed: time of the last stored tick */
};

static int count_put(struct sink *sink, enum record_kind kind, const void *record,
		     struct error *err)
{
	struct recorder *r = (struct recorder *)sink;

	if (kind == KIND_SAMPLE)
		r->put[((const struct sample *)record)->cpu]++;
	return sink_put(r->writer, kind, record, err);
}

static const struct sink_ops counting = {.put = count_put};

/* The content of a trace. */
struct found {
	struct sink sink;
	uint64_t samples[CPUS], last, losses, accounts, events;
	struct host host;
	char why[128];
	uint64_t ended_at;
};

static int find(struct sink *sink, enum record_kind kind, const void *record, struct error *err)
{
	struct found *f = (struct found *)sink;
	const struct sample *s = record;
	const struct info *i = record;

	(void)err;
	if (kind == KIND_SAMPLE) {
		f->samples[s->cpu]++;
		f->last = s->time > f->last ? s->time : f->last;
	}
	if (kind == KIND_HOST)
		f->host = *(const struct host *)record;
	if (kind == KIND_INFO && !strcmp(i->key, TRACE_ENDED))
		snprintf(f->why, sizeof(f->why), "%s", i->value);
	if (kind == KIND_INFO && !strcmp(i->key, TRACE_ENDED_AT))
		f->ended_at = strtoull(i->value, NULL, 10);
	f->losses += kind == KIND_LOSS;
	f->accounts += kind == KIND_ACCOUNT;
	f->events += kind == KIND_EVENT;
	return 0;
}

static void read_trace(struct found *f)
{
	static const struct sink_ops ops = {.put = find};

	*f = (struct found){
		.sink = {&ops, WANTS(WANT(HOST) | WANT(INFO) | WANT(EVENT) | WANT(SAMPLE))}};
	trace_file_read(path, &f->sink);
}

static void begin(struct recorder *r)
{
	struct error err = {""};

	*r = (struct recorder){.sink = {&counting, WANT_ALL}};
	ck_assert_msg(!trace_writer(&r->writer, path, &err), "%s", err.text);
	ck_assert_msg(!trace_writer_reserve(r->writer, &err), "%s", err.text);
	ck_assert_int_eq(synthetic_begin(&r->s, &r->sink), 0);
}

/* Record one second, with a loss and an account as a recorder puts them. */
static void record_tick(struct recorder *r, uint64_t samples)
{
	struct error err = {""};
	struct loss loss = {.id = r->ticks + 1, .reason = LOSS_SKIPPED, .event = 1, .count = 1};
	struct account account = {.event = 1};
	uint64_t before = r->s.time;

	ck_assert_int_eq(synthetic_samples(&r->s, samples, 1000 + r->s.samples), 0);
	loss.time = loss.end = r->s.time;
	ck_assert_int_eq(put_loss(&r->sink, &loss, &err), 0);
	ck_assert_int_eq(put_account(&r->sink, &account, &err), 0);
	ck_assert_msg(!sink_tick(r->writer, r->s.time, &err), "%s", err.text);
	r->ticks++;
	if (!trace_writer_is_short(r->writer))
		r->committed = r->s.time;
	else if (!r->committed)
		r->committed = before;
}

/* End the recording as a recorder does that notices the shortage, and close the trace. */
static void end(struct recorder *r, int code, const char *words)
{
	struct host host = {.id = 1,
			    .hostname = "machine",
			    .cpus = CPUS,
			    .start = SYNTHETIC_START,
			    .end = r->s.time};
	struct error err = {""};

	ck_assert_int_eq(synthetic_samples(&r->s, PER_TICK, 1000), 0);
	host.end = r->s.time;
	ck_assert_int_eq(put_host(&r->sink, &host, &err), 0);
	for (uint64_t cpu = 0; cpu < CPUS; cpu++) {
		struct loss l = {
			.id = 1000000 + cpu,
			.event = 1,
			.cpu = cpu + 1,
			.reason = LOSS_NOT_STORED,
			.time = r->s.time,
			.end = r->s.time,
			.count = sink_unstored(r->writer, KIND_SAMPLE, sample_place(1, cpu))};

		ck_assert_int_eq(put_loss(&r->sink, &l, &err), 0);
	}
	ck_assert_int_eq(sink_tick(r->writer, r->s.time, &err), 0);
	ck_assert_int_eq(r->writer->ops->finish(r->writer, &err), code);
	ck_assert_msg(strstr(err.text, words) && strstr(err.text, path), "%s", err.text);
}

static void check(struct recorder *r, bool some)
{
	struct found f;
	uint64_t all = 0, unstored;

	read_trace(&f);
	for (uint64_t cpu = 0; cpu < CPUS; cpu++) {
		unstored = sink_unstored(r->writer, KIND_SAMPLE, sample_place(1, cpu));
		/* at least those of the last tick */
		ck_assert_uint_gt(unstored, PER_TICK / CPUS / 2);
		ck_assert_uint_eq(f.samples[cpu] + unstored, r->put[cpu]);
		all += f.samples[cpu];
	}
	ck_assert_int_eq(all > 0, some);
	ck_assert_uint_eq(f.host.id, 1);
	ck_assert_uint_eq(f.host.start, SYNTHETIC_START);
	ck_assert_uint_eq(f.host.end, some ? r->committed : SYNTHETIC_START);
	ck_assert_uint_le(f.last, f.host.end);
	ck_assert_uint_eq(f.ended_at, r->s.time);
	ck_assert_str_ne(f.why, "");
	/* including those of the failed transaction */
	ck_assert_uint_eq(f.losses, r->ticks + CPUS);
	ck_assert_uint_eq(f.accounts, 1);
	ck_assert_uint_eq(f.events, 1);
	sink_free(r->writer);
	read_trace(&f); /* freeing the writer does not change the trace */
	ck_assert_uint_eq(f.ended_at, r->s.time);
}

/* Record until the disk is full; at least so many ticks are stored. */
static void run_short(struct recorder *r, uint64_t least, int code, const char *words)
{
	while (!trace_writer_is_short(r->writer)) {
		record_tick(r, PER_TICK);
		ck_assert_uint_lt(r->ticks, TICKS_MAX);
	}
	ck_assert_uint_gt(r->ticks, least);
	end(r, code, words);
}

/* Mount a small file system. Without the right to mount, print a message and return false. */
static bool mount_disk(const char *size)
{
	char options[32];

	snprintf(options, sizeof(options), "size=%s", size);
	mkdir(disk, 0700);
	if (mount("none", disk, "tmpfs", 0, options) < 0) {
		fprintf(stderr, "no right to mount a tmpfs: a full disk is not tested\n");
		return false;
	}
	strcpy(path, "disk/x.skein");
	return true;
}

START_TEST(full_disk)
{
	struct recorder r;

	if (!mount_disk("400k"))
		return;
	begin(&r);
	run_short(&r, 3, -ENOSPC, "no space left");
	check(&r, true);
}
END_TEST

/* Not even the first transaction fits: the trace still has its host and the reason of its end. */
START_TEST(full_at_the_first_commit)
{
	struct recorder r;

	if (!mount_disk("400k"))
		return;
	begin(&r);
	record_tick(&r, 100000);
	ck_assert(trace_writer_is_short(r.writer));
	end(&r, -ENOSPC, "no space left");
	check(&r, false);
}
END_TEST

/*
 * Other files have filled the disk: only the reserve is left, no space even for the trace's
 * journal.
 */
START_TEST(filled_by_another)
{
	char filler[80], block[4096] = {1};
	struct recorder r;
	int fd;

	if (!mount_disk("2m"))
		return;
	begin(&r);
	for (int i = 0; i < 3; i++)
		record_tick(&r, PER_TICK);
	snprintf(filler, sizeof(filler), "%s/filler", disk);
	fd = open(filler, O_WRONLY | O_CREAT, 0600);
	while (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		;
	ck_assert_int_eq(errno, ENOSPC);
	record_tick(&r, PER_TICK);
	ck_assert(trace_writer_is_short(r.writer));
	while (write(fd, block, sizeof(block)) == (ssize_t)sizeof(block))
		; /* also fill the space that the rollback freed */
	end(&r, -ENOSPC, "no space left");
	check(&r, true);
	close(fd);
}
END_TEST

START_TEST(limit_on_files)
{
	const struct rlimit limit = {300 << 10, 300 << 10};
	struct recorder r;
	struct stat st;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	begin(&r);
	run_short(&r, 3, -EFBIG, "RLIMIT_FSIZE");
	check(&r, true);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_gt(st.st_size, 200 << 10);
	ck_assert_int_le(st.st_size, 300 << 10);
}
END_TEST

static size_t quota; /* bytes that may still be written */

static ssize_t write_within_quota(int fd, const void *data, size_t size, off_t at)
{
	if (size > quota) {
		errno = EDQUOT;
		return -1;
	}
	quota -= size;
	return pwrite(fd, data, size, at);
}

/* Replace SQLite's write calls: tests cannot set quotas on the file systems here. */
START_TEST(quota_used_up)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	sqlite3_syscall_ptr call = (sqlite3_syscall_ptr)write_within_quota;
	struct recorder r;

	quota = 600 << 10;
	ck_assert_int_eq(vfs->xSetSystemCall(vfs, "pwrite", call), SQLITE_OK);
	ck_assert_int_eq(vfs->xSetSystemCall(vfs, "pwrite64", call), SQLITE_OK);
	begin(&r);
	while (!trace_writer_is_short(r.writer))
		record_tick(&r, PER_TICK);
	quota = 64 << 10; /* space that the reserve frees */
	end(&r, -EDQUOT, "quota");
	check(&r, true);
}
END_TEST

/*
 * With a limited time span, the trace begins later; an uncommitted tick does not move the
 * beginning.
 */
START_TEST(of_the_last_while)
{
	struct error err = {""};
	struct recorder r;
	struct found f;

	if (!mount_disk("400k"))
		return;
	begin(&r);
	ck_assert_int_eq(trace_writer_retain(r.writer, 100000000, &err), 0);
	while (!trace_writer_is_short(r.writer)) {
		record_tick(&r, r.ticks < 20 ? PER_TICK : 40 * PER_TICK);
		ck_assert_uint_lt(r.ticks, TICKS_MAX);
	}
	end(&r, -ENOSPC, "no space left");
	read_trace(&f);
	ck_assert_uint_gt(f.host.start, SYNTHETIC_START);
	ck_assert_uint_eq(f.host.end, r.committed);
	ck_assert_uint_gt(f.samples[0], 0);
	sink_free(r.writer);
}
END_TEST

/* Without space for the end of the trace: fails before anything is recorded, and leaves no file. */
START_TEST(no_room_for_the_reserve)
{
	struct error err = {""};
	struct sink *w;

	if (!mount_disk("68k"))
		return;
	ck_assert_msg(!trace_writer(&w, path, &err), "%s", err.text);
	ck_assert_int_eq(trace_writer_reserve(w, &err), -ENOSPC);
	ck_assert_msg(strstr(err.text, path) && strstr(err.text, "No space left"), "%s", err.text);
	sink_free(w);
	ck_assert_int_eq(access(path, F_OK), -1);
}
END_TEST

/* CPUs beyond the table are counted as one, for any number in a hostile record. */
START_TEST(high_cpus)
{
	struct unstored u = {0};
	struct sample s = {.cpu = UINT64_MAX};

	ck_assert_int_eq(unstored_put(&u, KIND_SAMPLE, &s), 0);
	s.cpu = SAMPLE_CPUS - 1;
	ck_assert_int_eq(unstored_put(&u, KIND_SAMPLE, &s), 0);
	ck_assert_uint_eq(unstored_count(&u, KIND_SAMPLE, SAMPLE_CPUS), 0);
	unstored_given_up(&u);
	ck_assert_uint_eq(unstored_count(&u, KIND_SAMPLE, SAMPLE_CPUS), 1);
	ck_assert_uint_eq(unstored_count(&u, KIND_SAMPLE, SAMPLE_CPUS - 1), 1);
	ck_assert_uint_eq(unstored_count(&u, KIND_SAMPLE, 0), 0);
	unstored_free(&u);
}
END_TEST

static void clean_up(void)
{
	umount2(disk, MNT_DETACH); /* fails if the test did not mount it */
	shell("rm -rf *");
	strcpy(path, "x.skein");
}

int main(void)
{
	const TTest *const tests[] = {
		full_disk,     full_at_the_first_commit, filled_by_another,	  limit_on_files,
		quota_used_up, of_the_last_while,	 no_room_for_the_reserve, high_cpus,
	};
	TCase *t = suite_case("shortage", tests, sizeof(tests) / sizeof(tests[0]));
	int status;

	tcase_add_unchecked_fixture(t, files_begin, NULL);
	tcase_add_checked_fixture(t, clean_up, clean_up);
	status = suite_run_case("shortage", t);
	umount2(disk, MNT_DETACH); /* fails if no test has left it mounted */
	return status;
}
