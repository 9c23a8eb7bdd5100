// SPDX-License-Identifier: Apache-2.0
/* Writes the slots of processes and threads of runtimes. */
#include "capture/runtime_locks.h"

#include <string.h>

/* Threads of HotSpot that run no Java code of the program, by the beginnings of their names. */
static const char *const own_threads[] = {
	"C1 CompilerThread",
	"C2 CompilerThread",
	"Sweeper thread",
	/* it waits inside of the JVM for work from the collector, not for a safepoint */
	"Reference Handler",
	"Service Thread",
	"Monitor Deflation",
	"Signal Dispatcher",
	"Attach Listener",
	"DestroyJavaVM",
	"Notification Thread",
};

static bool is_own_thread(const char *name)
{
	for (size_t i = 0; i < sizeof(own_threads) / sizeof(*own_threads); i++) {
		if (!strncmp(name, own_threads[i], strlen(own_threads[i])))
			return true;
	}
	return false;
}

static void set_pid(uint32_t *to, uint32_t pid)
{
	__atomic_store_n(to, pid, __ATOMIC_SEQ_CST);
}

bool runtime_locks_set(struct wire_runtimes *r, uint32_t pid, const struct wire_range *gil,
		       bool java)
{
	struct wire_runtime *p = &r->processes[pid & (WIRE_RUNTIMES - 1)];

	if (!pid || (p->pid && p->pid != pid))
		return false;
	set_pid(&p->pid, 0);
	p->gil = gil ? *gil : (struct wire_range){0};
	p->java = java;
	set_pid(&p->pid, pid);
	return true;
}

void runtime_locks_add_thread(struct wire_runtimes *r, const struct java_thread_list *list,
			      const struct hotspot_thread *t)
{
	const struct hotspot_thread_layout *l = list->layout;
	const uint16_t first = l->os_tid < l->os_state ? l->os_tid : l->os_state;
	const uint32_t bytes = (l->os_tid < l->os_state ? l->os_state : l->os_tid) - first + 4u;
	struct wire_java_thread *to = &r->threads[wire_java_slot(list->pid, t->tid)];
	struct wire_java_thread new = {
		.os_thread = t->os_thread + first,
		.thread = t->address,
		.thread_bytes = l->thread_bytes,
		.os_tid = (uint16_t)(l->os_tid - first),
		.os_state = (uint16_t)(l->os_state - first),
		.thread_state = l->thread_state,
		.os_bytes = (uint16_t)bytes,
		.monitor = l->monitor,
		.pid = list->pid,
		.tid = t->tid,
		.list = to->list,
	};

	if (is_own_thread(t->name) || !list->pid || bytes > WIRE_OS_THREAD_MAX || bytes % 4)
		return;
	if (memcmp(to, &new, sizeof(new)) != 0) {
		set_pid(&to->pid, 0);
		new.pid = 0;
		*to = new;
		set_pid(&to->pid, list->pid);
	}
	to->list = list->number;
}

void runtime_locks_end_list(struct wire_runtimes *r, const struct java_thread_list *list)
{
	for (unsigned int i = 0; i < 1U << WIRE_JAVA_SLOT_BITS; i++) {
		struct wire_java_thread *t = &r->threads[i];

		if (t->pid == list->pid && t->list != list->number)
			set_pid(&t->pid, 0);
	}
}

unsigned int runtime_locks_sweep(struct wire_runtimes *r,
				 bool (*alive)(void *context, uint32_t pid), void *context)
{
	unsigned int left = 0, gone = 0;

	for (unsigned int i = 0; i < WIRE_RUNTIMES; i++) {
		struct wire_runtime *p = &r->processes[i];

		if (p->pid && !alive(context, p->pid)) {
			gone += p->java;
			set_pid(&p->pid, 0);
		}
		left += p->pid != 0;
	}
	for (unsigned int i = 0; gone && i < 1U << WIRE_JAVA_SLOT_BITS; i++) {
		struct wire_java_thread *t = &r->threads[i];

		if (t->pid && r->processes[t->pid & (WIRE_RUNTIMES - 1)].pid != t->pid)
			set_pid(&t->pid, 0);
	}
	return left;
}
