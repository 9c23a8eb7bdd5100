// SPDX-License-Identifier: Apache-2.0
/* The table of own and global numbers of threads, with one hash table for each direction. */
#include "capture/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/vector.h"
#include "capture/clock.h"

/* Time (ns) for which freed threads are kept, as ended processes are (process.c). */
#define FREED_KEEP_TIME (2 * NSEC_PER_SEC)

struct numbered_thread {
	uint32_t tid; /* global */
	struct own_numbers own;
	char comm[16]; /* kept up to date for threads outside of the namespace only */
	uint64_t confirmed; /* time of the last record that it is alive, ns */
	uint64_t freed; /* ns; 0: alive */
	bool is_owner; /* it is the thread found by own.tid */
	UT_hash_handle hh; /* by tid */
	UT_hash_handle hh_own; /* by own.tid */
};

struct numbers {
	struct numbered_thread *by_tid, *by_own;
	VECTOR(uint32_t) freed; /* global tids, in the order in which they were freed */
	uint64_t generation;
};

struct numbers *numbers_new(void)
{
	return calloc(1, sizeof(struct numbers));
}

static struct numbered_thread *find_global(const struct numbers *n, uint32_t tid)
{
	struct numbered_thread *t = NULL;

	HASH_FIND(hh, n->by_tid, &tid, sizeof(tid), t);
	return t;
}

static struct numbered_thread *find_own(const struct numbers *n, uint32_t own_tid)
{
	struct numbered_thread *t = NULL;

	HASH_FIND(hh_own, n->by_own, &own_tid, sizeof(own_tid), t);
	return t;
}

static void disown(struct numbers *n, struct numbered_thread *t)
{
	if (t->is_owner)
		HASH_DELETE(hh_own, n->by_own, t);
	t->is_owner = false;
}

static void forget_numbered(struct numbers *n, struct numbered_thread *t)
{
	disown(n, t);
	HASH_DELETE(hh, n->by_tid, t);
	free(t);
	n->generation++;
}

void numbers_free(struct numbers *n)
{
	struct numbered_thread *t, *next;

	if (!n)
		return;
	HASH_ITER (hh, n->by_tid, t, next)
		forget_numbered(n, t);
	vector_free(&n->freed);
	free(n);
}

/* Let a thread be found by its own tid, which an earlier thread may have had. */
static int claim_own_tid(struct numbers *n, struct numbered_thread *t)
{
	struct numbered_thread *before = find_own(n, t->own.tid);

	if (before)
		disown(n, before);
	t->hh_own = (UT_hash_handle){0};
	HASH_ADD(hh_own, n->by_own, own.tid, sizeof(t->own.tid), t);
	t->is_owner = HASH_HAS(hh_own, t);
	return t->is_owner ? 0 : -ENOMEM;
}

static struct own_numbers own_numbers_of(const struct wire_number *r)
{
	if (r->own_pid && r->own_tid)
		return (struct own_numbers){.pid = r->own_pid, .tid = r->own_tid};
	return (struct own_numbers){.pid = NUMBER_OUTSIDE | r->pid, .tid = NUMBER_OUTSIDE | r->tid};
}

static void set_comm(struct numbered_thread *t, const struct wire_number *r)
{
	memcpy(t->comm, r->comm, sizeof(t->comm) - 1);
}

static int add_thread(struct numbers *n, const struct wire_number *r)
{
	struct numbered_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->tid = r->tid;
	t->own = own_numbers_of(r);
	t->confirmed = r->time;
	set_comm(t, r);
	HASH_ADD(hh, n->by_tid, tid, sizeof(t->tid), t);
	if (!HASH_HAS(hh, t)) {
		free(t);
		return -ENOMEM;
	}
	n->generation++;
	if (claim_own_tid(n, t) == 0)
		return 0;
	forget_numbered(n, t);
	return -ENOMEM;
}

static int apply_alive(struct numbers *n, const struct wire_number *r)
{
	struct numbered_thread *t = find_global(n, r->tid);

	struct own_numbers own = own_numbers_of(r);

	if (t && t->own.tid == own.tid && t->own.pid == own.pid && !t->freed) {
		bool renamed = number_is_outside(own.tid) && strncmp(t->comm, r->comm, 15);

		set_comm(t, r);
		t->confirmed = r->time > t->confirmed ? r->time : t->confirmed;
		return t->is_owner ? renamed : claim_own_tid(n, t);
	}
	if (t) /* the global tid belongs to another thread now */
		forget_numbered(n, t);
	return add_thread(n, r);
}

/* Without memory for the list, the thread is forgotten at once. */
static void free_thread_at(struct numbers *n, struct numbered_thread *t, uint64_t time)
{
	if (t->freed)
		return;
	t->freed = time;
	if (vector_push(&n->freed, t->tid) < 0)
		forget_numbered(n, t);
}

/* Add the main thread of a thread outside of the namespace, which may sleep throughout. */
static int add_main_thread(struct numbers *n, const struct wire_number *r)
{
	struct wire_number main = *r;

	if (r->own_tid || r->tid == r->pid || find_global(n, r->pid))
		return 0;
	main.tid = r->pid;
	memcpy(main.comm, r->process_comm, sizeof(main.comm));
	return add_thread(n, &main);
}

int numbers_apply(struct numbers *n, const struct wire_number *r)
{
	struct numbered_thread *t;
	int ret;

	if (r->kind == WIRE_NUMBER_ALIVE) {
		ret = add_main_thread(n, r);
		return ret ? ret : apply_alive(n, r);
	}
	t = find_global(n, r->tid);
	if (t)
		free_thread_at(n, t, r->time);
	return 0;
}

void numbers_tidy(struct numbers *n, uint64_t now)
{
	size_t done = 0;

	for (; done < n->freed.count; done++) {
		struct numbered_thread *t = find_global(n, n->freed.items[done]);

		if (t && t->freed && t->freed + FREED_KEEP_TIME > now)
			break;
		if (t && t->freed)
			forget_numbered(n, t);
	}
	n->freed.count -= done;
	for (size_t i = 0; i < n->freed.count; i++)
		n->freed.items[i] = n->freed.items[i + done];
}

void numbers_sweep(struct numbers *n, uint64_t time)
{
	struct numbered_thread *t, *next;

	HASH_ITER (hh, n->by_tid, t, next)
		if (t->confirmed < time)
			free_thread_at(n, t, time);
}

struct own_numbers numbers_own(const struct numbers *n, uint32_t tid)
{
	const struct numbered_thread *t = find_global(n, tid);

	return t ? t->own : (struct own_numbers){0};
}

uint32_t numbers_global(const struct numbers *n, uint32_t own)
{
	const struct numbered_thread *t = find_own(n, own);

	return t ? t->tid : 0;
}

const char *numbers_comm(const struct numbers *n, uint32_t tid)
{
	const struct numbered_thread *t = find_global(n, tid);

	return t ? t->comm : "";
}

uint64_t numbers_generation(const struct numbers *n)
{
	return n->generation;
}
