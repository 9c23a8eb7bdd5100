// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps process memories that were opened before the records of their processes are in order, by
 * pid.
 */
#include "capture/memories.h"

#include <errno.h>
#include <stdlib.h>

#include "capture/clock.h"

/*
 * Time (ns) for which the memory of a process is kept for records that are not in order yet. If the
 * process is sampled at all, its records are in order long before.
 */
#define KEEP_TIME (3 * NSEC_PER_SEC)
/*
 * Maximum number of process memories that are kept here. The oldest is dropped when there would be
 * more, as when many interpreters start at once.
 */
#define EARLY_MAX 1024

static struct early_memory *find_early_memory(const struct memories *m, uint32_t pid)
{
	struct early_memory *e = NULL;

	HASH_FIND(hh, m->early, &pid, sizeof(pid), e);
	return e;
}

static void forget_early_memory(struct memories *m, struct early_memory *e)
{
	HASH_DEL(m->early, e);
	objects_unuse(e->memory);
	free(e);
}

int memories_prefetch(struct memories *m, struct objects *o, const struct mapped_place *at,
		      const struct python_file *f, uint64_t code_type)
{
	struct early_memory *e = find_early_memory(m, at->pid);
	struct object *memory;

	if (e && e->memory->python.code_type == code_type)
		return 0;
	if (e)
		forget_early_memory(m, e);
	if (HASH_COUNT(m->early) >= EARLY_MAX)
		forget_early_memory(m, m->early);
	memory = objects_new_python(o, at, f, code_type);
	e = memory ? calloc(1, sizeof(*e)) : NULL;
	/* The object, which is in use nowhere, is freed by objects_trim() later. */
	if (!e)
		return -ENOMEM;
	e->pid = at->pid;
	e->memory = memory;
	e->since = at->seen;
	HASH_ADD(hh, m->early, pid, sizeof(e->pid), e);
	if (!HASH_HAS(hh, e)) {
		free(e);
		return -ENOMEM;
	}
	objects_use(memory);
	objects_need(o, memory);
	return 0;
}

struct object *memories_find(const struct memories *m, uint32_t pid)
{
	struct early_memory *e = find_early_memory(m, pid);

	return e ? e->memory : NULL;
}

struct object *memories_take(struct memories *m, uint32_t pid, uint64_t code_type)
{
	struct early_memory *e = find_early_memory(m, pid);
	struct object *memory;

	if (!e || e->memory->python.code_type != code_type)
		return NULL;
	memory = e->memory;
	objects_use(memory);
	forget_early_memory(m, e);
	return memory;
}

void memories_tick(struct memories *m, uint64_t now)
{
	struct early_memory *e, *next;

	HASH_ITER (hh, m->early, e, next) {
		if (e->since + KEEP_TIME > now)
			break;
		forget_early_memory(m, e);
	}
}

void memories_free(struct memories *m)
{
	struct early_memory *e, *next;

	HASH_ITER (hh, m->early, e, next)
		forget_early_memory(m, e);
}
