/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table: who is alive, under which names, with which address
 * space. It is fed by the side-band and by scans of /proc, and produces the
 * process and thread entities, each when the first sample meets it.
 */
#ifndef SKEIN_CAPTURE_PROCESS_H
#define SKEIN_CAPTURE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"
#include "capture/objects.h"
#include "capture/opener.h"
#include "capture/sideband.h"
#include "capture/space.h"

#define COMM_SIZE 16 /* TASK_COMM_LEN */

/* How the birth of a process is known. */
enum birth {
	BIRTH_GUESSED, /* the time of its fork record, a little behind */
	BIRTH_SCANNED, /* from /proc, in ticks of 10 ms */
	BIRTH_EXACT, /* start_boottime, told by a sample */
};

struct process_entry {
	uint32_t pid;
	uint32_t ns_pid, parent;
	uint64_t born; /* ns, as exactly as birth says */
	enum birth birth;
	uint64_t id; /* process.id of the program it runs; 0 until a sample met it */
	uint64_t start; /* of that program */
	uint64_t ended; /* exited at that time; kept a while for late samples */
	char comm[COMM_SIZE];
	char *exe; /* NULL until known */
	uint64_t cgroup; /* id, 0 until a sample told it */
	uint32_t threads; /* alive, as far as is known */
	bool executed; /* it has executed a program since we know it */
	bool kernel; /* kernel threads */
	bool changed; /* the entity is to be put again */
	bool comm_selected;
	bool outside; /* nothing of it is sampled: what it maps is of no interest */
	bool scanned; /* a scan of what it has mapped was asked for */
	bool scanning; /* it is not over: mappings may be missing */
	bool untold; /* the walkers have yet to be told of its mappings, or its end */
	uint64_t told, told_at; /* version that they know, and since when, ns; 0: none */
	uint64_t settled; /* version of the space of which is known that it lacks nothing */
	struct space *space;
	struct object *program; /* the file of exe, as long as it is mapped; NULL: not known */
	struct object *jit; /* its generated code, NULL until met */
	struct object *python; /* its memory, with the names of Python's code; NULL until met */
	UT_hash_handle hh;
};

struct thread_entry {
	uint32_t tid;
	uint32_t pid;
	uint64_t id; /* thread.id under its present name; 0 until a sample met it */
	uint64_t process; /* process.id that this id belongs to */
	uint64_t lane; /* lane.id under all its names; 0: none yet, or lanes are not wanted */
	uint64_t seen; /* epoch of the schedule in which a record last told of its state */
	uint64_t start; /* under this name */
	uint64_t ended;
	char comm[COMM_SIZE];
	bool comm_selected;
	UT_hash_handle hh;
};

struct process_table;

struct process_context {
	struct objects *objects;
	struct sink *sink;
	uint64_t host; /* host.id */
	struct arena *arena; /* for the walkers' views of address spaces; NULL: there are none */
	uint64_t *last_lane; /* lane.id given last, if threads are to have lanes; else NULL */
	const char *comm_glob; /* which names are selected; NULL: every one */
	/* whether a process of whose parent nothing is known may be sampled; NULL: every one is */
	bool (*selected)(void *context, uint32_t pid);
	/* a program has ended of which every file was known; once for each file of a program */
	void (*calm)(void *context, const struct object *program);
	/* the path of a cgroup id, "" if unknown; valid until the next call */
	const char *(*cgroup_path)(void *context, uint64_t id);
	/* the container of a cgroup path; "" if none */
	const char *(*container)(void *context, const char *path);
	void *context;
};

int process_table_new(struct process_table **ret, const struct process_context *c,
		      struct error *err);
void process_table_free(struct process_table *t);

/*
 * A side-band record of mmap, comm, fork or exit, at its time. 0, 1 if a scan must
 * tell what its process has mapped, or a negative errno.
 */
int process_table_life(struct process_table *t, const struct life *l, uint64_t time,
		       struct error *err);

/* What a scan of /proc tells; it adds what the table does not know. */
int process_table_scanned(struct process_table *t, const struct scanned_process *s);
int process_table_scanned_thread(struct process_table *t, const struct scanned_thread *s,
				 uint64_t now);
int process_table_scanned_mapping(struct process_table *t, const struct scanned_mapping *m,
				  uint64_t now);

void process_table_scan_over(struct process_table *t, uint32_t pid);

/* Who a sample is of. */
struct sampled_task {
	uint32_t pid, tid, ns_pid;
	uint64_t born, cgroup, time;
	bool kernel;
};

/*
 * The process and thread of a sample, put into the sink if they are met for
 * the first time. unknown: a scan must tell of the process, of which the table has never
 * heard, or not what it has mapped; it is so until process_table_scan_over().
 */
int process_table_meet(struct process_table *t, const struct sampled_task *task,
		       struct process_entry **process, struct thread_entry **thread, bool *unknown,
		       struct error *err);

/*
 * The same of a thread of which only the number is known. unknown: nobody has told of it, so that
 * a scan of its number must.
 */
int process_table_thread(struct process_table *t, uint32_t tid, uint64_t time,
			 struct process_entry **process, struct thread_entry **thread,
			 bool *unknown, struct error *err);
/* A number that changes whenever a thread may have got another id than it had. */
uint64_t process_table_generation(const struct process_table *t);

/*
 * Tell the walkers of every address space that is new or has changed since the last call, by
 * process; p is NULL for one that has ended. now: ns. One for which tell returns -EAGAIN comes
 * again the next time. 0, -ENOSPC if there is no room for all, or what tell returned.
 */
typedef int (*process_teller)(void *context, uint32_t pid, const struct unwind_process *p);
int process_table_tell(struct process_table *t, process_teller tell, void *context, uint64_t now);

/* A process whose walkers did not know its present mappings, or knew all that there are. */
void process_table_untold(struct process_table *t, struct process_entry *p);
void process_table_settled(struct process_table *t, struct process_entry *p);

/* What is known of an object has changed in a way that walkers have to know. */
void process_table_remapped(struct process_table *t, const struct object *o);

/* Put entities that have changed; forget what exited long ago. now: ns. */
int process_table_tick(struct process_table *t, uint64_t now, struct error *err);

/* The process of a pid, if it still runs the program with that process.id; else NULL. */
struct process_entry *process_table_find(const struct process_table *t, uint32_t pid, uint64_t id);

/* The process that has the pid now, or had it last; NULL: none is known. */
struct process_entry *process_table_of_pid(const struct process_table *t, uint32_t pid);

/* Processes and threads held now. */
size_t process_table_size(const struct process_table *t);

/* Whether the comm glob ever fitted a sampled name. */
bool process_table_comm_matched(const struct process_table *t);

#endif
