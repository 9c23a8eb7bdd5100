// SPDX-License-Identifier: Apache-2.0
/* The process table: applies side-band records and scans of /proc. */
#include "capture/process_private.h"
#include "capture/pythons.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "capture/clock.h"

/* Time (ns) for which ended processes and threads are kept, for late samples. */
#define ENDED_KEEP_TIME (2 * NSEC_PER_SEC)
#define NOBODY UINT32_MAX /* pid of a thread whose process is not known */

int process_table_new(struct process_table **out, const struct process_context *c,
		      struct error *err)
{
	struct process_table *t = calloc(1, sizeof(*t));

	if (!t)
		return error_errno(err, -ENOMEM, "process table");
	t->context = *c;
	t->spaces.arena = c->arena;
	*out = t;
	return 0;
}

struct process_entry *process_table_of_pid(const struct process_table *t, uint32_t pid)
{
	struct process_entry *p = NULL;

	HASH_FIND(hh, t->processes, &pid, sizeof(pid), p);
	return p;
}

struct thread_entry *process_table_thread_of_tid(const struct process_table *t, uint32_t tid)
{
	struct thread_entry *thread = NULL;

	HASH_FIND(hh, t->threads, &tid, sizeof(tid), thread);
	return thread;
}

/* Count one thread less in the thread's process. */
static void leave_process(const struct process_table *t, const struct thread_entry *thread)
{
	struct process_entry *p = thread->ended ? NULL : process_table_of_pid(t, thread->pid);

	if (p && p->threads)
		p->threads--;
}

static void free_thread(struct process_table *t, struct thread_entry *thread)
{
	leave_process(t, thread);
	t->generation++;
	HASH_DEL(t->threads, thread);
	free(thread->runtime_name);
	free(thread);
}

/*
 * Detach those threads of a freed process that have no exit record: they may belong to another
 * process by now.
 */
static void disown_threads(struct process_table *t, const struct process_entry *p)
{
	struct thread_entry *thread, *next;

	HASH_ITER (hh, t->threads, thread, next)
		if (thread->pid == p->pid && !thread->ended) {
			thread->pid = NOBODY;
			thread->ended = 1; /* ns: long ago */
		}
}

/* Drop the objects that belong to the process alone: its generated code and its memory. */
static void forget_generated(struct process_entry *p)
{
	if (p->code.jit)
		objects_unuse(p->code.jit);
	if (p->code.python)
		objects_unuse(p->code.python);
	if (p->code.java)
		objects_unuse(p->code.java);
	p->code = (struct process_code){0};
}

static void free_process(struct process_table *t, struct process_entry *p)
{
	if (p->threads)
		disown_threads(t, p);
	HASH_DEL(t->processes, p);
	space_drop(p->space);
	forget_generated(p);
	free(p->exe);
	free(p);
}

void process_table_free(struct process_table *t)
{
	struct process_entry *p, *next_p;
	struct thread_entry *thread, *next_t;

	if (!t)
		return;
	HASH_ITER (hh, t->threads, thread, next_t)
		free_thread(t, thread);
	HASH_ITER (hh, t->processes, p, next_p)
		free_process(t, p);
	vector_free(&t->unsent);
	free(t);
}

void process_table_mark_unsent(struct process_table *t, struct process_entry *p)
{
	if (p->walkers.unsent || p->outside || !t->spaces.arena)
		return;
	/*
	 * If memory runs out, the process's stacks are finished in user space until its next
	 * change.
	 */
	p->walkers.unsent = vector_push(&t->unsent, p->pid) == 0;
}

void process_table_remapped(struct process_table *t, const struct object *o)
{
	struct process_entry *p, *next;

	HASH_ITER (hh, t->processes, p, next) {
		for (size_t i = 0; i < p->space->mappings.count; i++) {
			if (p->space->mappings.items[i].object != o)
				continue;
			process_table_mark_unsent(t, p);
			break;
		}
	}
}

void process_table_mark_settled(struct process_table *t, struct process_entry *p)
{
	if (p->walkers.settled == p->space->version)
		return;
	p->walkers.settled = p->space->version;
	process_table_mark_unsent(t, p);
}

/*
 * Remove an ended process from the BPF programs, if necessary. The BPF programs forget a process by
 * themselves when the kernel frees it, which happens after its end. A process that was last sent
 * only after its end may have been freed before, and so must be removed here.
 */
static int send_end(struct process_entry *p, process_sender send, void *context)
{
	if (!p->walkers.sent || p->walkers.sent_at < p->ended)
		return 0;
	p->walkers.sent = 0;
	return send(context, p->pid, NULL);
}

static int send_mappings(const struct process_table *t, struct process_entry *p,
			 process_sender send, void *context, uint64_t now)
{
	struct unwind_process r = {.born = p->born.precision == BIRTH_EXACT ? p->born.ns : 0};
	int ret;

	if (p->ended)
		return send_end(p, send, context);
	ret = p->kernel ? 0 : space_publish(p->space, now);
	if (ret || p->kernel)
		return ret;
	r.version = p->space->version;
	r.mappings = p->space->view;
	r.count = p->space->view_count;
	r.settled = p->walkers.settled == p->space->version;
	r.python = pythons_of(p->space);
	r.hotspot = t->context.jvm ? t->context.jvm(t->context.context, p) : 0;
	ret = send(context, p->pid, &r);
	if (!ret) {
		p->walkers.sent = r.version;
		p->walkers.sent_at = clock_boot_ns();
	}
	return ret;
}

int process_table_send(struct process_table *t, process_sender send, void *context, uint64_t now)
{
	size_t left = 0;
	int ret = 0;

	for (size_t i = 0; i < t->unsent.count; i++) {
		struct process_entry *p = process_table_of_pid(t, t->unsent.items[i]);
		int one;

		if (!p || !p->walkers.unsent)
			continue;
		one = send_mappings(t, p, send, context, now);
		p->walkers.unsent = one == -EAGAIN;
		if (p->walkers.unsent)
			t->unsent.items[left++] = p->pid;
		else
			ret = ret ? ret : one;
	}
	t->unsent.count = left;
	return ret;
}

static bool is_outside(const struct process_table *t, uint32_t pid)
{
	return pid && t->context.selected && !t->context.selected(t->context.context, pid);
}

/*
 * Copy a name. snprintf() would take a fortieth of the recorder's CPU time where programs are
 * short-lived.
 */
static void copy_comm(char to[COMM_SIZE], const char *comm)
{
	size_t length = strnlen(comm, COMM_SIZE - 1);

	memmove(to, comm, length);
	to[length] = '\0';
}

static void set_task_name(struct process_table *t, struct task_name *name, const char *comm)
{
	const char *glob = t->context.comm_glob;

	copy_comm(name->comm, comm);
	name->selected = !glob || fnmatch(glob, name->comm, 0) == 0;
	t->comm_known = t->comm_known || name->selected;
}

static void set_process_name(struct process_table *t, struct process_entry *p, const char *comm)
{
	set_task_name(t, &p->name, comm);
	p->changed = true;
}

static const char *unrecorded_comm(const struct process_table *t, uint32_t tid)
{
	const struct process_context *c = &t->context;

	return c->unrecorded_comm ? c->unrecorded_comm(c->context, tid) : "";
}

static const char *first_name(const struct process_table *t, uint32_t pid)
{
	if (number_is_outside(pid))
		return unrecorded_comm(t, pid);
	return pid ? "" : "swapper";
}

struct process_entry *process_add(struct process_table *t, uint32_t pid, uint64_t born)
{
	struct process_entry *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->pid = pid;
	p->born.ns = born;
	p->start = born;
	p->outside = is_outside(t, pid);
	p->space = space_new(&t->spaces);
	if (!p->space) {
		free(p);
		return NULL;
	}
	set_process_name(t, p, first_name(t, pid));
	HASH_ADD(hh, t->processes, pid, sizeof(p->pid), p);
	if (HASH_HAS(hh, p))
		return p;
	space_drop(p->space);
	free(p);
	return NULL;
}

struct thread_entry *process_add_thread(struct process_table *t, uint32_t pid, uint32_t tid,
					uint64_t start, const char *comm)
{
	struct thread_entry *thread = calloc(1, sizeof(*thread));
	struct process_entry *p;

	if (!thread)
		return NULL;
	thread->tid = tid;
	thread->pid = pid;
	thread->start = start;
	HASH_ADD(hh, t->threads, tid, sizeof(thread->tid), thread);
	if (!HASH_HAS(hh, thread)) {
		free(thread);
		return NULL;
	}
	p = process_table_of_pid(t, pid);
	if (p)
		p->threads++;
	set_task_name(t, &thread->name, comm);
	return thread;
}

void process_join(const struct process_table *t, struct thread_entry *thread,
		  struct process_entry *p)
{
	if (!thread->ended && thread->pid == p->pid)
		return;
	leave_process(t, thread);
	thread->ended = 0;
	thread->pid = p->pid;
	p->threads++;
	p->ended = 0;
}

/*
 * Return the number in the first namespace, and keep it: when a process that has ended is emitted
 * again, its own number may already belong to another one.
 */
static uint32_t global_number(const struct process_context *c, uint32_t number, uint32_t *kept)
{
	if (number_is_outside(number))
		return number & ~NUMBER_OUTSIDE;
	if (!*kept)
		*kept = c->global_number ? c->global_number(c->context, number) : number;
	return *kept;
}

int process_put(struct process_table *t, struct process_entry *p, struct error *err)
{
	const struct process_context *c = &t->context;
	const char *cgroup = p->cgroup ? c->cgroup_path(c->context, p->cgroup) : "";
	const struct process_place place = c->place(c->context, p, cgroup);
	struct process r = {
		.id = p->id,
		.host = c->host,
		.pid = p->pid,
		.ns_pid = p->numbers.ns,
		.parent = p->parent,
		.born = p->born.ns,
		.start = p->start,
		.end = p->ended,
		.comm = p->name.comm,
		.exe = p->exe,
		.cgroup = cgroup,
		.container = place.container,
		.global_pid = global_number(c, p->pid, &p->numbers.global),
		.service = place.service,
	};

	p->changed = false;
	return put_process(c->sink, &r, err);
}

int process_put_thread(struct process_table *t, struct thread_entry *thread, uint64_t process,
		       struct error *err)
{
	struct thread r = {
		.id = thread->id,
		.process = process,
		.tid = thread->tid,
		.start = thread->start,
		.end = thread->ended,
		.comm = thread->name.comm,
		.lane = thread->lane,
		.global_tid = global_number(&t->context, thread->tid, &thread->global_tid),
		.runtime_name = thread->runtime_name,
	};

	return put_thread(t->context.sink, &r, err);
}

/*
 * End the thread's current name; the thread gets another entity when it is next seen in a sample.
 */
static int end_thread_name(struct process_table *t, struct thread_entry *thread, uint64_t time,
			   struct error *err)
{
	struct process_entry *p = process_table_of_pid(t, thread->pid);
	int ret = 0;

	if (thread->id && p && p->id) {
		thread->ended = time;
		ret = process_put_thread(t, thread, p->id, err);
		thread->ended = 0;
	}
	thread->id = 0;
	thread->start = time;
	return ret;
}

/*
 * End the program that the process runs; the process gets another entity when it is next seen in a
 * sample.
 */
static int end_program(struct process_table *t, struct process_entry *p, uint64_t time,
		       struct error *err)
{
	int ret = 0;

	if (p->id) {
		p->ended = time;
		ret = process_put(t, p, err);
		p->ended = 0;
	}
	p->id = 0;
	p->start = time;
	return ret;
}

int process_replace(struct process_table *t, uint32_t pid, uint64_t time, struct error *err)
{
	struct process_entry *old = process_table_of_pid(t, pid);
	int ret = 0;

	if (!old)
		return 0;
	if (!old->ended)
		ret = end_program(t, old, time, err);
	free_process(t, old);
	return ret;
}

static int replace_thread(struct process_table *t, uint32_t tid, uint64_t time, struct error *err)
{
	struct thread_entry *old = process_table_thread_of_tid(t, tid);
	int ret = 0;

	if (!old)
		return 0;
	t->generation++;
	if (!old->ended)
		ret = end_thread_name(t, old, time, err);
	free_thread(t, old);
	return ret;
}

/*
 * Return whether the BPF programs already have the child's mappings because they copied those of
 * its parent. Sending the mappings again would also be wrong: if the child has executed another
 * program by then, the walkers would use the old program's mappings for the new program.
 */
static bool has_sent_mappings(const struct process_entry *parent, uint64_t forked)
{
	return !parent->walkers.unsent && parent->walkers.sent == parent->space->version &&
	       parent->walkers.sent_at < forked;
}

static int inherit_process(struct process_table *t, struct process_entry *child,
			   const struct process_entry *parent)
{
	child->parent = parent->pid;
	child->kernel = parent->kernel;
	child->outside = parent->outside;
	child->cgroup = parent->cgroup;
	set_process_name(t, child, parent->name.comm);
	if (parent->exe) {
		child->exe = strdup(parent->exe);
		if (!child->exe)
			return -ENOMEM;
	}
	space_drop(child->space);
	child->space = space_share(parent->space);
	child->walkers = parent->walkers;
	child->walkers.unsent = false;
	if (!has_sent_mappings(parent, child->born.ns))
		process_table_mark_unsent(t, child);
	return 0;
}

static int on_fork(struct process_table *t, const struct life_record *l, uint64_t time,
		   struct error *err)
{
	/* a parent outside of the recorder's pid namespace has the number 0 */
	const struct thread_entry *by =
		l->parent_tid ? process_table_thread_of_tid(t, l->parent_tid) : NULL;
	struct process_entry *parent, *child;
	char comm[COMM_SIZE];
	int ret;

	copy_comm(comm, by ? by->name.comm : unrecorded_comm(t, l->tid));
	ret = replace_thread(t, l->tid, time, err);
	if (!ret && l->pid != l->parent_pid)
		ret = process_replace(t, l->pid, time, err);
	if (ret)
		return ret;
	if (l->pid != l->parent_pid) {
		parent = l->parent_pid ? process_table_of_pid(t, l->parent_pid) : NULL;
		child = process_add(t, l->pid, time);
		if (!child || (parent && inherit_process(t, child, parent) < 0))
			return error_errno(err, -ENOMEM, "process table");
		if (!parent)
			set_process_name(t, child, comm);
	}
	if (!process_add_thread(t, l->pid, l->tid, time, comm))
		return error_errno(err, -ENOMEM, "process table");
	return 0;
}

/*
 * Age (ns) from which a file's table is old enough for all other facts of the file to be known too,
 * above all whether the file has an interpreter.
 */
#define CALM_AGE (2 * NSEC_PER_SEC)

static bool is_calm_mapping(const struct object *o, uint64_t now)
{
	return o &&
	       (o->kind == MAPPING_VDSO || (o->file.settled && o->file.settled + CALM_AGE < now &&
					    !o->python.layout && !o->python.file));
}

/*
 * Report the program of an ended process (context.calm) if all its files were known: its next start
 * is no reason for the recorder to wake up early.
 */
static void note_calm(const struct process_table *t, const struct process_entry *p, uint64_t now)
{
	const struct space *s = p->space;
	bool mapped = false;

	if (!t->context.calm || !p->code.program || p->code.jit || p->code.python || p->code.java)
		return;
	for (size_t i = 0; i < s->mappings.count; i++) {
		if (!is_calm_mapping(s->mappings.items[i].object, now))
			return;
		mapped |= s->mappings.items[i].object == p->code.program;
	}
	if (!mapped || p->code.program->file.calm)
		return;
	p->code.program->file.calm = true;
	t->context.calm(t->context.context, p->code.program);
}

static int on_exit_record(struct process_table *t, const struct life_record *l, uint64_t time,
			  struct error *err)
{
	struct thread_entry *thread = process_table_thread_of_tid(t, l->tid);
	struct process_entry *p = process_table_of_pid(t, l->pid);
	int ret = 0;

	if (thread && !thread->ended) {
		leave_process(t, thread);
		thread->ended = time;
		if (thread->id && p && p->id)
			ret = process_put_thread(t, thread, p->id, err);
	}
	/* Other threads may outlive the main one: the exit of the last thread ends the process. */
	if (!ret && p && !p->threads && !p->ended) {
		p->ended = time;
		note_calm(t, p, time);
		process_table_mark_unsent(t, p);
		if (p->id)
			ret = process_put(t, p, err);
	}
	return ret;
}

/*
 * End all other threads at an exec. If a thread other than the main one called it, no record
 * reports the end of that thread: it continues under the tid of the main thread.
 */
static int end_other_threads(struct process_table *t, struct process_entry *p, uint32_t tid,
			     uint64_t time, struct error *err)
{
	struct thread_entry *thread, *next;
	int ret = 0;

	if (p->threads < 2)
		return 0;
	HASH_ITER (hh, t->threads, thread, next) {
		if (ret || thread->pid != p->pid || thread->tid == tid || thread->ended)
			continue;
		leave_process(t, thread);
		thread->ended = time;
		if (thread->id && p->id)
			ret = process_put_thread(t, thread, p->id, err);
	}
	return ret;
}

static int new_program(struct process_table *t, struct process_entry *p, uint64_t time,
		       struct error *err)
{
	struct space *empty = space_new(&t->spaces);
	int ret;

	if (!empty)
		return error_errno(err, -ENOMEM, "process table");
	ret = end_program(t, p, time, err);
	p->executed = true;
	p->scan = SCAN_NONE;
	space_drop(p->space);
	p->space = empty;
	free(p->exe);
	p->exe = NULL;
	forget_generated(p);
	return ret;
}

/* Return whether the name that the runtime gave to a thread begins with its comm. */
static bool is_begin_of_name(const struct thread_entry *thread)
{
	return thread->runtime_name &&
	       !strncmp(thread->runtime_name, thread->name.comm, strlen(thread->name.comm));
}

void process_forget_runtime_name(struct thread_entry *thread)
{
	free(thread->runtime_name);
	thread->runtime_name = NULL;
}

static int on_comm(struct process_table *t, const struct life_record *l, uint64_t time,
		   struct error *err)
{
	struct thread_entry *thread = process_table_thread_of_tid(t, l->tid);
	struct process_entry *p = process_table_of_pid(t, l->pid);
	int ret = 0;

	t->generation++;
	if (!p)
		p = process_add(t, l->pid, time);
	if (!thread)
		thread = process_add_thread(t, l->pid, l->tid, time, l->text);
	if (!p || !thread)
		return error_errno(err, -ENOMEM, "process table");
	process_join(t, thread, p);
	/* The thread's old name belongs to the old program: end the name first. */
	if (l->exec || strncmp(thread->name.comm, l->text, COMM_SIZE))
		ret = end_thread_name(t, thread, time, err);
	if (!ret && l->exec)
		ret = end_other_threads(t, p, l->tid, time, err);
	if (!ret && l->exec)
		ret = new_program(t, p, time, err);
	set_task_name(t, &thread->name, l->text);
	if (l->exec || !is_begin_of_name(thread))
		process_forget_runtime_name(thread);
	if (l->pid == l->tid)
		set_process_name(t, p, l->text);
	return ret;
}

int process_table_life(struct process_table *t, const struct life_record *l, uint64_t time,
		       struct error *err)
{
	switch (l->kind) {
	case LIFE_MMAP:
		return process_map(t, l, time, err);
	case LIFE_COMM:
		return on_comm(t, l, time, err);
	case LIFE_FORK:
		return on_fork(t, l, time, err);
	case LIFE_EXIT:
		return on_exit_record(t, l, time, err);
	default:
		return 0;
	}
}

int process_table_scanned(struct process_table *t, const struct scanned_process *s)
{
	struct process_entry *p = process_table_of_pid(t, s->pid);

	if (p && p->born.ns && !p->ended && !process_same_birth(p->born.ns, s->born)) {
		/*
		 * The exit of the old process and the fork of this one were lost. Ignore errors: a
		 * sink that fails will fail again.
		 */
		(void)process_replace(t, s->pid, s->born, NULL);
		p = NULL;
	}
	if (!p)
		p = process_add(t, s->pid, s->born);
	if (!p)
		return -ENOMEM;
	if (p->born.precision < BIRTH_SCANNED)
		p->born = (struct process_birth){s->born, BIRTH_SCANNED};
	p->parent = s->parent;
	p->numbers.ns = s->ns_pid;
	p->kernel = s->kernel_thread;
	if (strncmp(p->name.comm, s->comm, COMM_SIZE - 1))
		set_process_name(t, p, s->comm);
	if (!p->exe && s->exe[0])
		p->exe = strdup(s->exe);
	p->changed = true;
	return 0;
}

int process_table_scanned_thread(struct process_table *t, const struct scanned_thread *s,
				 uint64_t now)
{
	struct thread_entry *thread = process_table_thread_of_tid(t, s->tid);

	if (!thread)
		return process_add_thread(t, s->pid, s->tid, now, s->comm) ? 0 : -ENOMEM;
	if (thread->name.comm[0] || !s->comm[0])
		return 0;
	set_task_name(t, &thread->name,
		      s->comm); /* The thread was seen in a sample before its name was known. */
	return thread->id ? process_put_thread(t, thread, thread->process, NULL) : 0;
}

void process_table_scan_over(struct process_table *t, uint32_t pid)
{
	struct process_entry *p = process_table_of_pid(t, pid);

	if (p && p->scan == SCAN_RUNNING)
		p->scan = SCAN_OVER;
}

int process_table_tick(struct process_table *t, uint64_t now, struct error *err)
{
	struct process_entry *p, *next_p;
	struct thread_entry *th, *next_t;
	int ret = 0;

	HASH_ITER (hh, t->processes, p, next_p) {
		if (p->changed && p->id)
			ret = process_put(t, p, err);
		if (ret)
			return ret;
		if (p->ended && p->ended + ENDED_KEEP_TIME < now)
			free_process(t, p);
	}
	HASH_ITER (hh, t->threads, th, next_t)
		if (th->ended && th->ended + ENDED_KEEP_TIME < now)
			free_thread(t, th);
	return 0;
}

struct process_entry *process_table_find(const struct process_table *t, uint32_t pid, uint64_t id)
{
	struct process_entry *p = process_table_of_pid(t, pid);

	return p && p->id == id ? p : NULL;
}

bool process_table_comm_known(const struct process_table *t)
{
	return t->comm_known;
}

bool process_table_comm_matched(const struct process_table *t)
{
	return t->comm_matched;
}

int process_table_each_thread(const struct process_table *t,
			      int (*each)(void *context, struct thread_entry *thread),
			      void *context)
{
	struct thread_entry *thread, *next;
	int ret;

	HASH_ITER (hh, t->threads, thread, next) {
		ret = thread->ended ? 0 : each(context, thread);
		if (ret)
			return ret;
	}
	return 0;
}
