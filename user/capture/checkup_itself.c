// SPDX-License-Identifier: Apache-2.0
/* Checks a whole recording: records a child of this process, and counts its useful stacks. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/capture.h"
#include "capture/checks.h"
#include "capture/clock.h"

/* The recording ends after ENOUGH samples, but lasts from LEAST to MOST ns. */
#define ENOUGH 20
#define LEAST (300 * NSEC_PER_MSEC)
#define MOST (5 * NSEC_PER_SEC)

/* A sink that keeps frames, stacks and samples: so few that a linear search by id suffices. */
struct kept_records {
	struct sink sink;
	VECTOR(struct frame) frames;
	VECTOR(struct stack) stacks;
	VECTOR(uint64_t) samples; /* stack ids */
};

static int keep_record(struct sink *sink, enum record_kind kind, const void *entity,
		       struct error *err)
{
	struct kept_records *k = (struct kept_records *)sink;
	const struct sample *s = entity;
	int ret = 0;

	if (kind == KIND_FRAME)
		ret = vector_push(&k->frames, *(const struct frame *)entity);
	else if (kind == KIND_STACK)
		ret = vector_push(&k->stacks, *(const struct stack *)entity);
	else if (kind == KIND_SAMPLE && s->stack)
		ret = vector_push(&k->samples, s->stack);
	return ret < 0 ? error_errno(err, -ENOMEM, "samples") : 0;
}

static const struct sink_ops kept_ops = {.put = keep_record};

/* Return the last version of a frame: the source emits a frame again once it has a name. */
static const struct frame *find_kept_frame(const struct kept_records *k, uint64_t id)
{
	for (size_t i = k->frames.count; i-- > 0;)
		if (k->frames.items[i].id == id)
			return &k->frames.items[i];
	return NULL;
}

static const struct stack *find_kept_stack(const struct kept_records *k, uint64_t id)
{
	for (size_t i = 0; i < k->stacks.count; i++)
		if (k->stacks.items[i].id == id)
			return &k->stacks.items[i];
	return NULL;
}

/*
 * Number of samples whose frames are all known; of these, how many stacks end where threads begin,
 * and how many have a native frame with a name.
 */
struct judgement {
	size_t samples, complete, named;
};

static void judge_stack(const struct kept_records *k, uint64_t id, struct judgement *j)
{
	const struct frame *root = NULL;
	bool named = false;

	while (id) {
		const struct stack *s = find_kept_stack(k, id);
		const struct frame *f = s ? find_kept_frame(k, s->frame) : NULL;

		if (!f)
			return;
		named |= f->kind == FRAME_NATIVE && f->function;
		root = f;
		id = s->parent;
	}
	j->samples++;
	j->complete += root && root->flags & FRAME_FLAG_START;
	j->named += named;
}

static int compare_child_numbers(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/*
 * Use CPU time in the child until its parent kills it or exits. The child works in libc, which has
 * symbols even if skein itself is stripped.
 */
static _Noreturn void spin(pid_t parent)
{
	int numbers[256];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "skein-itself");
	for (unsigned int seed = 1; getppid() == parent;) {
		for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			numbers[i] = (int)((seed = seed * 1103515245 + 12345) >> 16);
		qsort(numbers, sizeof(numbers) / sizeof(numbers[0]), sizeof(numbers[0]),
		      compare_child_numbers);
	}
	_exit(0);
}

static bool wants_more_samples(void *context, const struct capture_progress *p)
{
	(void)context;
	return p->finishing || p->preparing || p->samples < ENOUGH || p->elapsed < LEAST;
}

static int record_child(uint32_t pid, const char *cache, struct kept_records *k, struct error *err)
{
	const struct capture_options o = {
		.sample = true,
		.frequency = 199,
		.targets = {.pids = &pid, .pid_count = 1},
		.when.duration = MOST,
		.wait_names = CAPTURE_WAIT_NAMES,
		.files.unwind_cache = cache[0] ? cache : NULL,
		.fds.release = -1,
		.fds.wake = -1,
		.keep_going = wants_more_samples,
	};
	struct source *source = NULL;
	int ret = capture_source(&source, &o, err);

	if (!ret)
		ret = source->ops->run(source, &k->sink, err);
	source_free(source);
	return ret;
}

static void report_child_stacks(struct finding *f, const struct kept_records *k)
{
	struct judgement j = {0};

	for (size_t i = 0; i < k->samples.count; i++)
		judge_stack(k, k->samples.items[i], &j);
	if (!j.samples)
		finding_set_missing(f, 0, "no sample came");
	else if (j.complete * 2 < j.samples || j.named * 2 < j.samples)
		finding_set_missing(f, 0, "of %zu samples %zu were complete, and %zu had names",
				    j.samples, j.complete, j.named);
	else
		finding_set_ok(f, "%zu samples of a child: %zu whole, %zu with names", j.samples,
			       j.complete, j.named);
}

void check_itself(struct finding *f, const struct checkup_options *o)
{
	struct kept_records k = {
		.sink = {.ops = &kept_ops, .wants = WANTS(WANT_ENTITIES | WANT(SAMPLE))}};
	struct error err = {""};
	pid_t parent = getpid(), child = fork();
	int ret;

	if (child == 0)
		spin(parent);
	if (child < 0) {
		finding_set_missing(f, 0, "cannot fork: %s", strerror(errno));
		return;
	}
	ret = record_child((uint32_t)child, o->unwind_cache, &k, &err);
	if (ret)
		finding_set_failed(f, ret, &err);
	else
		report_child_stacks(f, &k);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	vector_free(&k.frames);
	vector_free(&k.stacks);
	vector_free(&k.samples);
}
