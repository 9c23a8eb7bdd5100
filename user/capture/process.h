/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process table holds the processes and threads that are alive or have just ended, with their
 * names and address spaces. It is fed by side-band records and by scans of /proc. It emits a
 * process or thread entity (base/record.h) when the process or thread is first seen in a sample or
 * switch.
 */
#ifndef SKEIN_CAPTURE_PROCESS_H
#define SKEIN_CAPTURE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/pipe.h"
#include "capture/life.h"
#include "capture/numbers.h"
#include "capture/objects.h"
#include "capture/opener.h"
#include "capture/space.h"

#define COMM_SIZE 16 /* TASK_COMM_LEN */

/* Source and precision of a process's birth. */
enum birth {
	/* the time of its first record, mostly its fork record, slightly later than the birth */
	BIRTH_GUESSED,
	BIRTH_SCANNED, /* from /proc, in ticks of 10 ms */
	BIRTH_EXACT, /* start_boottime, from a sample */
};

struct process_birth {
	uint64_t ns;
	enum birth precision;
};

/* The name of a process or thread. */
struct task_name {
	char comm[COMM_SIZE];
	bool selected; /* by the comm glob */
};

/* State of the scan of a process for its mappings; an exec sets it back to SCAN_NONE. */
enum scan {
	SCAN_NONE,
	SCAN_RUNNING, /* requested: mappings may be missing */
	SCAN_OVER,
};

/* State of the copy of a process's address space that the BPF walkers have. */
struct walker_state {
	bool unsent; /* the mappings or the end of the process must still be sent */
	/* version of the space that the walkers have, 0: none; time at which it was sent, ns */
	uint64_t sent, sent_at;
	/* version of the space for which unmapped addresses are known not to be code; 0: none */
	uint64_t settled;
};

/* Objects with code of a process. */
struct process_code {
	/*
	 * The file of exe, without a reference: valid only while it is in the mappings. NULL: not
	 * known.
	 */
	struct object *program;
	/* code that the process generated; NULL until a frame is in such code */
	struct object *jit;
	/*
	 * memory of the process, with the names of Python code; NULL until a Python frame is seen
	 */
	struct object *python;
	struct object *java; /* memory of the process, which runs a JVM; NULL: it maps none */
};

/* Further numbers of a process; 0: unknown. */
struct process_numbers {
	uint32_t ns; /* in its innermost pid namespace */
	/* in the first one, of the first entity: pid may later be another process's */
	uint32_t global;
};

struct process_entry {
	uint32_t pid;
	uint32_t parent;
	struct process_numbers numbers;
	struct process_birth born;
	uint64_t id; /* process.id of the current program; 0 until first seen in a sample */
	uint64_t start; /* time at which the current program began, ns */
	uint64_t ended; /* exit time, ns, 0: alive; the entry is kept for 2 s, for late samples */
	struct task_name name;
	char *exe; /* NULL until known */
	uint64_t cgroup; /* id; 0 until a sample reports it */
	uint32_t threads; /* number of threads that are known to be alive */
	bool executed; /* an exec was recorded */
	bool kernel; /* kernel thread */
	bool changed; /* the entity must be emitted again */
	bool outside; /* the process is not selected, so its mappings are not recorded */
	enum scan scan;
	struct space *space;
	struct walker_state walkers;
	struct process_code code;
	UT_hash_handle hh;
};

/* The last wait of a thread, by the records of switches; kept only for stacks of waits. */
struct thread_wait {
	uint64_t epoch; /* of the schedule in which left was set; another one makes it invalid */
	uint64_t left; /* time at which it left the CPU, or was found waiting, ns; 0: not known */
	uint64_t woken; /* time at which it was woken, ns; 0: not yet */
	uint64_t waker; /* thread.id; 0: an interrupt */
	uint8_t wait; /* enum wait_class */
	uint8_t interrupt; /* enum interrupt that ended it */
	uint16_t cpu; /* number of the CPU that it left, or on which it was last */
};

/* What a thread does about the lock of its Python interpreter; kept by runtime_gil.c. */
struct thread_gil {
	uint64_t epoch; /* of the schedule in which it was set; another one makes it invalid */
	uint64_t since; /* time at which its state below began, ns */
	uint64_t ran; /* for how long it had a CPU since then, ns, up to running */
	uint64_t running; /* time since which it has a CPU, ns; 0: it has none */
	uint8_t state; /* enum gil_state */
};

/* That a thread sleeps to enter a monitor of a JVM; kept by live_monitors.c. */
struct thread_monitor {
	uint64_t epoch; /* of the schedule in which it was set; another one makes it invalid */
	uint64_t since; /* time at which it left the CPU, ns; 0: it does not sleep for one */
	uint64_t class; /* of the monitor's object, WIRE_CLASS(); 0: not known */
};

struct thread_entry {
	uint32_t tid;
	uint32_t pid;
	uint32_t global_tid; /* as process_numbers.global */
	uint64_t id; /* thread.id under its current name; 0 until first seen in a sample */
	uint64_t process; /* process.id of the process entity to which this thread entity belongs */
	/* lane.id, the same under all names of the thread; 0: none yet, or no lanes are wanted */
	uint64_t lane;
	uint64_t seen; /* epoch of the schedule in which a record last gave the thread's state */
	uint64_t start; /* time at which the thread got its current name, ns */
	uint64_t ended;
	struct thread_wait wait;
	struct thread_gil gil;
	struct thread_monitor monitor;
	struct task_name name;
	char *runtime_name; /* the name that its runtime gave it; NULL: none is known */
	UT_hash_handle hh;
};

struct process_table;

/* What a process belongs to; "" if nothing. The texts are valid until the next call. */
struct process_place {
	const char *container; /* id */
	const char *service; /* name */
};

struct process_context {
	struct objects *objects;
	struct sink *sink;
	uint64_t host; /* host.id */
	struct arena *arena; /* for the walkers' views of address spaces; NULL: no views */
	/* open the files of processes that are found by a scan, too: probes are looked for */
	bool opens_files;
	uint64_t *last_lane; /* last lane.id given; NULL if threads have no lanes */
	const char *comm_glob; /* pattern of the names that are selected; NULL: all */
	/* returns whether a process with an unknown parent may be sampled; NULL: all may */
	bool (*selected)(void *context, uint32_t pid);
	/* called once for each program file, when a process ends whose files were all known */
	void (*calm)(void *context, const struct object *program);
	/*
	 * returns the number of the JVM of a process that is sent to the walkers; 0: none, or not
	 * known yet. NULL: no JVMs are looked for
	 */
	uint32_t (*jvm)(void *context, struct process_entry *p);
	/* returns the path of a cgroup id, "" if unknown; valid until the next call */
	const char *(*cgroup_path)(void *context, uint64_t id);
	/* names the place of a process with this path of its cgroup */
	struct process_place (*place)(void *context, const struct process_entry *p,
				      const char *path);
	/* returns the number of a pid or tid in the initial pid namespace; 0 if unknown */
	uint32_t (*global_number)(void *context, uint32_t own);
	/*
	 * returns the name of a thread that side-band records do not name: one outside of the
	 * recorder's pid namespace, or one that was just forked from outside; "" if unknown
	 */
	const char *(*unrecorded_comm)(void *context, uint32_t tid);
	void *context;
};

int process_table_new(struct process_table **out, const struct process_context *c,
		      struct error *err);
void process_table_free(struct process_table *t);

/*
 * Process a side-band record of mmap, comm, fork or exit; time: ns. Return 0, 1 if the process must
 * be scanned for its mappings, or a negative errno.
 */
int process_table_life(struct process_table *t, const struct life_record *l, uint64_t time,
		       struct error *err);

/*
 * Add the facts of a scan of /proc to the table: a process, a thread that the table does not have
 * or has without a name, or a mapping. now: ns. Return 0 or a negative errno;
 * process_table_scanned_mapping() returns 1 if the process has too many mappings (space_map()).
 */
int process_table_scanned(struct process_table *t, const struct scanned_process *s);
int process_table_scanned_thread(struct process_table *t, const struct scanned_thread *s,
				 uint64_t now);
int process_table_scanned_mapping(struct process_table *t, const struct scanned_mapping *m,
				  uint64_t now);

void process_table_scan_over(struct process_table *t, uint32_t pid);

/* The task of a sample. Times in ns. */
struct sampled_task {
	uint32_t pid, tid, ns_pid;
	uint64_t born, cgroup, time;
	bool kernel;
};

struct resolved_task {
	struct process_entry *process;
	struct thread_entry *thread;
	bool unknown; /* a scan is needed, because the table did not know the task */
};

/*
 * Find or add the process and thread of a sample, and emit those that are new. out->unknown: the
 * table did not know the process or its mappings; mappings may be missing until
 * process_table_scan_over(). Return 0 or a negative errno.
 */
int process_table_resolve(struct process_table *t, const struct sampled_task *task,
			  struct resolved_task *out, struct error *err);

/*
 * The same for a thread of which only the numbers are known; of.pid may be 0, if it is not known.
 * time: ns. out->unknown: the table did not know the thread or its process, so the tid must be
 * scanned.
 */
int process_table_resolve_thread(struct process_table *t, struct own_numbers of, uint64_t time,
				 struct resolved_task *out, struct error *err);
/*
 * Call each for every thread that is alive, as far as the table knows. Return 0, or the first
 * non-zero result of each, which must not change the table.
 */
int process_table_each_thread(const struct process_table *t,
			      int (*each)(void *context, struct thread_entry *thread),
			      void *context);
/* Return a number that changes whenever a thread may have got another id. */
uint64_t process_table_generation(const struct process_table *t);

/*
 * Call send for every process whose address space is new or has changed since the last call. For a
 * process that has ended, p is NULL; the call is left out if the BPF programs forget the process by
 * themselves. A process for which send returns -EAGAIN comes again in the next call. now: ns.
 * Return 0, or the first error: -ENOSPC if the arena has no room for an address space, or an error
 * of send.
 */
typedef int (*process_sender)(void *context, uint32_t pid, const struct unwind_process *p);
int process_table_send(struct process_table *t, process_sender send, void *context, uint64_t now);

/*
 * process_table_mark_unsent(): have the mappings of a process sent to the walkers again, because
 * the walkers did not have the current mappings. process_table_mark_settled(): record that the
 * walkers have all mappings that user space knows, so that an unmapped address is not code.
 */
void process_table_mark_unsent(struct process_table *t, struct process_entry *p);
void process_table_mark_settled(struct process_table *t, struct process_entry *p);

/*
 * Have the mappings of all processes that map an object sent to the walkers again, because the
 * object has changed in a way that concerns the walkers.
 */
void process_table_remapped(struct process_table *t, const struct object *o);

/*
 * Emit process entities that have changed; forget processes and threads that ended more than 2 s
 * ago. now: ns. Return 0 or a negative errno.
 */
int process_table_tick(struct process_table *t, uint64_t now, struct error *err);

/* Return the process of a pid if it still runs the program with this process.id; else NULL. */
struct process_entry *process_table_find(const struct process_table *t, uint32_t pid, uint64_t id);

/*
 * Return the thread that has the tid now, or had it last; NULL: none is known. It is valid until
 * the next call that changes the table.
 */
struct thread_entry *process_table_thread_of_tid(const struct process_table *t, uint32_t tid);

/*
 * Give a thread the name that its runtime (a JVM) has for it, of which comm has the first 15 bytes,
 * and emit the thread again. The thread loses the name when it gets a comm that does not begin it.
 * Names longer than 255 bytes are cut. Return 0 or a negative errno.
 */
int process_table_name_thread(struct process_table *t, struct thread_entry *thread,
			      const char *name, struct error *err);

/*
 * Give a thread that has no lane one with the id after *last_lane, and emit both. Return 0 or a
 * negative errno.
 */
int process_table_need_lane(struct process_table *t, struct thread_entry *thread,
			    uint64_t *last_lane, struct error *err);

/* Return the process that has the pid now, or had it last; NULL: none is known. */
struct process_entry *process_table_of_pid(const struct process_table *t, uint32_t pid);

/*
 * Return the place of an object that belongs to the process alone, such as its generated code; the
 * place has no addresses (0).
 */
struct mapped_place process_entry_place(const struct process_entry *p);

/* Return whether the comm glob ever matched a name, sampled or not. */
bool process_table_comm_known(const struct process_table *t);
/* Return whether the comm glob ever matched the name of a sampled process or thread. */
bool process_table_comm_matched(const struct process_table *t);

/*
 * Return whether two births, ns, may be the same (less than 100 ms apart): /proc counts births in
 * ticks of 10 ms, and a fork record comes slightly later.
 */
bool process_same_birth(uint64_t a, uint64_t b);

#endif
