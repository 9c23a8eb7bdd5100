/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares data and functions shared by the files of live capture, live*.c. No other file includes
 * this header; capture.h is for the users of live capture.
 */
#ifndef SKEIN_CAPTURE_LIVE_H
#define SKEIN_CAPTURE_LIVE_H

#include "base/vector.h"
#include "capture/arena.h"
#include "capture/capture.h"
#include "capture/cgroup.h"
#include "capture/clock.h"
#include "capture/cpus.h"
#include "capture/debuginfod.h"
#include "capture/finish.h"
#include "capture/group_sums.h"
#include "capture/handlers.h"
#include "capture/hit_stacks.h"
#include "capture/inlines.h"
#include "capture/intern.h"
#include "capture/jvms.h"
#include "capture/ledger.h"
#include "capture/monitor_classes.h"
#include "capture/namespace.h"
#include "capture/open_waits.h"
#include "capture/opener.h"
#include "capture/order.h"
#include "capture/own_frames.h"
#include "capture/pace.h"
#include "capture/pager.h"
#include "capture/probes.h"
#include "capture/process.h"
#include "capture/program.h"
#include "capture/pythons.h"
#include "capture/runtime_events.h"
#include "capture/sampler.h"
#include "capture/saver.h"
#include "capture/schedule.h"
#include "capture/service.h"
#include "capture/sideband.h"
#include "capture/suspend.h"
#include "capture/tables.h"
#include "capture/wait_stacks.h"
#include "symbolizers/client.h"

enum { HOST_ID = 1, EVENT_ID = 1, WAIT_EVENT_ID, WAKER_EVENT_ID };
/* those of the stacks of hits, in the order of enum hit_event */
enum { EXCEPTIONS_EVENT_ID = WAKER_EVENT_ID + 1, ALLOCATIONS_EVENT_ID };
/* those of the clock: EVENT_ID at its first rate, and these at the others */
enum { LOWER_EVENT_ID = ALLOCATIONS_EVENT_ID + 1 };

#define LIVE_TICK (NSEC_PER_SEC)

/* The CPUs and processes to record. */
struct live_selection {
	number_list cpus; /* empty means all */
	int online; /* descriptor, see cpus_read_online() */
	struct cgroups *cgroups;
	struct namespace *namespace; /* translates numbers of processes and threads */
	struct services *services;
	struct host_names *host_names; /* of containers */
	struct service_names names; /* what place_of_process() found last */
	/* number of children that BPF programs could not select, as far as reported as losses */
	uint64_t unselected;
	bool over; /* every selected process has exited */
};

/* Rings of records, and their order. */
struct live_rings {
	struct order *order;
	struct sideband *sideband;
	int tasks; /* ring of the order for threads found by snapshots */
	int epoll; /* waits for the rings, and for all helpers */
	uint64_t mark; /* all records up to this time, ns, have been handled */
	bool unknown; /* the last drain had an urgent mapping (live_prefetch_mapping()) */
};

/* Stacks of waits that have not ended. */
struct live_open_waits {
	struct open_waits *reader; /* NULL: no stacks of waits are taken */
	int ring; /* ring of the order for the stacks read */
	VECTOR(struct sample) taken; /* length: so far, at the time of the sample */
	uint64_t begun; /* time at which reading began, ns */
	bool copied; /* the sink has those of a copy, which end with the next tick */
};

/* Waits that are recorded on demand (capture_waits.wanted). */
struct live_demand {
	struct program_waits waits; /* as the programs were loaded, also without demand */
	bool on; /* they are being recorded */
	uint64_t ended; /* when they stopped, ns; 0: all records of before have been handled */
	bool failed; /* they were wanted, and could not be recorded: that was reported */
};

/* All pointers are NULL if switches are not recorded. */
struct live_switches {
	struct switches *array;
	struct switch_order *order;
	struct schedule *schedule;
	struct own_frames own; /* to be cut off from stacks of waits */
	struct live_open_waits open;
	struct monitor_classes *classes;
	struct wait_stacks *waits; /* NULL: no stacks of waits are taken */
	char no_waits[192]; /* as wait_stacks_summary.refused */
	uint64_t last_lane; /* last lane.id in use; also without switches */
	struct schedule_counts reported; /* counts of the schedule as far as reported as losses */
	bool begun; /* sampling has begun, and the schedule has got its CPUs */
	struct live_demand demand;
};

/* The last hit of a thread. */
struct last_hit {
	uint32_t tid, site;
	uint64_t time, stack_pointer;
};

#define LIVE_LAST_HITS 256

/* What was put of the sums of a slot: ns, but for counts of runs. */
struct handler_sums_put {
	uint64_t count, time, longest, without;
};

/* All pointers are NULL if interrupts are not recorded. */
struct live_handlers {
	struct handlers *attached;
	uint64_t *lanes; /* lane.id by CPU; 0: none yet */
	struct handler_sums_put (*put)[WIRE_HANDLERS]; /* by CPU and slot */
	uint64_t names[WIRE_HANDLERS]; /* name.id by slot; 0: none yet */
	uint64_t lost, unpaired; /* as far as they were counted */
};

/* All pointers are NULL if nothing is probed. */
struct live_probes {
	struct probes *attached;
	struct runtime_events *events;
	bool stacks; /* the stacks of hits are taken */
	struct hit_stacks *hits; /* NULL: they are not */
	struct probe_pattern *patterns; /* of the user, for the symbolizer */
	struct probe_row *rows; /* of the user */
	int *files; /* of the user's probes, by number; -1: the same file as one before, or closed
		     */
	unsigned int awaited; /* replies of the symbolizer that are awaited */
	uint64_t last_name; /* last name.id in use; also without probes */
	VECTOR(char *) described; /* what became of the sites of each file */
	struct last_hit last[LIVE_LAST_HITS]; /* by the low bits of tid */
	size_t reported; /* number of texts of described that were put */
	struct live_handlers handlers; /* of interrupts, which are probed without sites */
	struct group_sums *groups; /* NULL: time of control groups is not added up */
};

struct live_helpers {
	struct fork_server *forks; /* forks all others but inlines and debuginfod */
	struct opener *opener;
	struct symbolizer *symbolizer;
	struct pager *pager; /* NULL: no stacks are walked */
	struct inlines *inlines; /* NULL: lines and inlined functions are not requested */
	struct debuginfod *debuginfod; /* NULL: no servers are asked for debug files */
	uint64_t last_request; /* time at which names of code in files were last requested, ns */
	bool scanned; /* the first scan of /proc is over */
	int failed; /* first error of a callback, which cannot return it; negative errno */
};

/* A mapping that may turn out to be of an interpreter's file; its record is not in order yet. */
struct prefetched_mapping {
	uint64_t object; /* object.id */
	uint32_t pid;
	uint64_t start, offset, time; /* address; file offset; ns */
};

#define LIVE_PREFETCHED_MAX 64
#define LIVE_JAVA_PLACES 1024

/* Data for the BPF walkers. */
struct live_walkers {
	struct arena *arena;
	struct tables *tables;
	struct pythons pythons;
	struct jvms jvms;
	/* hashes of places in Java code whose rows were requested, by their low bits */
	uint64_t java_places[LIVE_JAVA_PLACES];
	VECTOR(uint64_t) jvms_followed; /* object.id of the memories of JVMs (live_jvms.c) */
	VECTOR(uint64_t) jvms_starting; /* object.id of memories whose facts are requested again */
	unsigned int jvms_awaited; /* number of JVMs without a final reply yet */
	struct prefetched_mapping
		prefetched[LIVE_PREFETCHED_MAX]; /* the most recent ones; object 0: unused */
	unsigned int prefetched_count; /* number of entries made so far; wraps around */
	bool remapped; /* the BPF walkers need new mappings before the next drain */
};

struct parked;

/* Stacks that the BPF walkers did not finish. */
struct live_stacks {
	VECTOR(struct parked *) parked; /* waiting samples, oldest first */
	size_t bytes; /* memory of the parked samples */
	size_t most; /* maximum of bytes; above this the oldest samples are put as they are */
	/* retry the parked stacks: a table, page or scan that they may wait for has arrived */
	bool retry;
	bool put_open; /* stacks of waits that have not ended are put, finished or not */
	struct finished_stack finished; /* result of the last walk in user space (8 KiB) */
	struct saver *saver; /* NULL: no stacks are saved */
};

/* Times in which nothing is recorded, at the user's request. */
struct live_pause {
	uint64_t since; /* begin of the pause, ns; 0: there is none now */
	/* time of the last hit of a probe that begins or ends the recording, ns; 0: passed on */
	uint64_t cue;
	bool starts; /* that probe begins it */
	bool closed; /* all records before it have been handled, and slices have ended there */
	uint64_t lane; /* lane.id of the spans of pauses; 0: none yet */
	uint64_t total; /* ns of all pauses */
};

struct live_times {
	uint64_t started, ended; /* times at which sampling began and ended, ns; 0: not yet */
	uint64_t resumed; /* time since which it is not paused, ns */
	uint64_t last_tick, last_forget, last_tidy, helpers_measured; /* ns */
	uint64_t next_tick; /* ns; may be exceeded unless options.when.tick is set */
	struct pace pace;
	struct live_pause pause;
	struct suspend_watch suspends;
};

/* What is sampled, at one rate or several. */
struct live_clock {
	struct sampled_event rates[WIRE_RATES];
	unsigned int count;
	unsigned int described; /* mask of the rates whose events were put into the sink */
};

struct live {
	struct source source;
	struct capture_options options;
	struct live_clock clock;
	struct live_selection selection;
	struct program *program;
	struct sampler *sampler;
	struct live_rings rings;
	struct live_switches switches;
	struct live_probes probes;
	struct live_helpers helpers;
	struct live_walkers walkers;
	struct objects *objects;
	struct process_table *processes;
	struct intern *intern;
	struct live_stacks stacks;
	struct ledger *ledger;
	struct sink *sink;
	struct live_times times;
	struct capture_progress progress;
	struct capture_summary summary;
};

/* Return whether user stacks are walked. */
static inline bool live_walks_stacks(const struct live *l)
{
	return (l->options.sample || l->options.waits.stacks || l->probes.stacks) &&
	       !l->options.kernel_only;
}

/* Return the words of frames of a sample: kernel, user and Python part. */
static inline const uint64_t *live_sample_frames(const struct wire_sample *s)
{
	return (const uint64_t *)(s + 1) + (s->kind == WIRE_SAMPLE ? 0
					    : s->kind == WIRE_HIT  ? WIRE_HIT_WORDS
								   : WIRE_WAIT_WORDS);
}

/* Return how many of the first words are frames of skein's own programs. */
static inline unsigned int live_own_frames(const struct live *l, const struct wire_sample *s)
{
	return s->kind == WIRE_WAIT || s->kind == WIRE_WAKER
		       ? own_frames_count(&l->switches.own, live_sample_frames(s), s->kernel_frames,
					  s->kind == WIRE_WAIT)
		       : 0;
}

/*
 * Functions return 0 or a negative errno, unless a comment says otherwise.
 *
 * live.c: implements source_ops.run.
 */
int live_run(struct source *source, struct sink *sink, struct error *err);
/* Push a record with the state of every thread into the order. */
int live_snapshot_threads(struct live *l, struct error *err);
/* Drain the rings, and handle all records that are in order. */
int live_drain(struct live *l, struct error *err);
/* Wake the recorder when the side-band ring of a CPU fills up. Return 0 or a negative errno. */
int live_watch_sideband(struct live *l, unsigned int cpu);

/* Wait for replies of helpers and records of mappings, for 10 ms at most, and handle them. */
int live_await_helpers(struct live *l, struct error *err);

/* live_pause.c: return whether the user wants nothing to be recorded now. */
bool live_wants_pause(const struct live *l);
/* Note that a probe of the user was hit at a time, ns, which begins or ends the recording. */
void live_note_cue(struct live *l, bool starts, uint64_t time);
/* Pass the last of these on to the user of the capture. */
void live_pass_cue(struct live *l);
/* Begin a pause if one is wanted, or end it if none is; call this after each drain. */
int live_follow_pause(struct live *l, struct error *err);
/* Put the span of a pause that lasts until the end of the recording, now (ns). */
int live_end_pause(struct live *l, uint64_t now, struct error *err);

/*
 * live_demand.c: begin to record waits if they are wanted on demand, or stop; call this after each
 * drain. The functions of live_begin.c load and make what that needs, also without demand.
 */
int live_follow_demand(struct live *l, struct error *err);
/* Return whether stacks of waits are being recorded. */
bool live_records_waits(const struct live *l);
int live_load_open_waits(struct live *l, struct program_waits waits, struct error *err);
int live_begin_schedule(struct live *l, struct error *err);
int live_describe_waits(struct live *l, struct error *err);

/* live_rates.c: find the event and its rates in the options. */
int live_find_rates(struct live *l, struct error *err);
/* Return the id of the event of a rate; the rate of an event, or -1 if that is none of the clock.
 */
uint64_t live_event_of_rate(unsigned int rate);
int live_rate_of_event(uint64_t event);
/* Fill in the rates of a ledger. */
void live_set_ledger_rates(const struct live *l, struct ledger_context *c);
/* Put the events of all rates that were used. */
int live_describe_rates(struct live *l, struct error *err);
/* Bring the cost of the capture up to date. */
void live_measure_cost(struct live *l);
/* Note whether the machine was suspended since the last call. */
int live_follow_suspend(struct live *l, struct error *err);
/* Change the rate if another one is wanted. */
int live_follow_rate(struct live *l, struct error *err);

/* Return the source for pace_start(); switches: whether the arrays of switches are in use. */
enum pace_source live_pace_source(const struct live *l, bool switches);
/* Begin to choose when the rings are read (pace.h), from times.started on. */
void live_start_pace(struct live *l);

/* live_memory.c: ask whether to take less memory, and do so; for each tick. */
int live_relieve_memory(struct live *l, struct error *err);
/* live.c: forget stacks and frames, and have the sink forget old records. now: ns. */
int live_forget(struct live *l, uint64_t now, struct error *err);

/* live_begin.c: create the parts that need a sink: processes, stacks, accounts, switches. */
int live_begin_tables(struct live *l, struct error *err);
/* Put what is recorded, when the recording begins (end: 0) and when it has ended (ns). */
int live_describe_recording(struct live *l, uint64_t end, struct error *err);

/*
 * live_cpus.c: parse the list of CPUs in the options, and check that every CPU of the list exists
 * and that at least one is online.
 */
int live_check_cpus(struct live *l, struct error *err);
/*
 * Open the events of CPUs that came online, and close those of CPUs that went offline. Until
 * sampling begins, only the side-band events are opened.
 */
int live_follow_cpus(struct live *l, struct error *err);
/* Stop sampling and the recording of switches. */
void live_stop_cpus(struct live *l);

/* live_helpers.c: fork the helper processes. */
int live_start_helpers(struct live *l, struct error *err);
/* Connect the helpers with the tables, objects and stacks, which are made after the helpers. */
void live_connect_helpers(struct live *l);
/*
 * Return whether to send requests for names of code in files now: many are gathered, or some, and
 * the last ones were sent half a tick ago.
 */
bool live_may_request_names(const struct live *l, uint64_t now);
/*
 * Send requests to the helpers, and handle their replies. all: also send the requests for names of
 * code in files, which otherwise wait until live_may_request_names() is true.
 */
int live_poll_helpers(struct live *l, bool all, struct error *err);

/* live_java.c: implements process_context.jvm. */
uint32_t live_jvm_of(void *context, struct process_entry *p);
/* Request the facts of a JVM when its memory has been opened; for every updated object. */
void live_java_updated(struct live *l, struct object *o);
/* Handle the reply, of the event jvm. */
void live_java_facts(struct live *l, uint64_t object, int status, const struct jvm_facts *f,
		     const char *reason);
/* Return whether the walkers will soon get a JVM that they have no facts or no table of yet. */
bool live_java_pending(const struct live *l);
/* Request the facts of starting JVMs again, whose time has come. now: ns. */
void live_java_poll(struct live *l, uint64_t now);
/* Return the time of the next such request, ns; UINT64_MAX: none is due. */
uint64_t live_java_next(const struct live *l);
/* Free the numbers of JVMs whose processes are forgotten. */
void live_java_tidy(struct live *l);
/*
 * Request the rows of the code in which a sample's walk has ended before its time, and pass them to
 * the walkers when they arrive, for later samples. s: a valid sample of the process p.
 */
void live_java_request_rows(struct live *l, const struct process_entry *p,
			    const struct wire_sample *s);
void live_java_rows(struct live *l, uint64_t object, const struct hotspot_code_key *key,
		    const struct hotspot_code_rows *rows);

/*
 * live_jvms.c: follow the memory of a JVM, which may not be open yet; at each tick, all of them.
 * live_jvms_known(): the memory is open, or the JVM is now known.
 */
void live_jvms_add(struct live *l, const struct object *o);
void live_jvms_known(struct live *l, struct object *o);
void live_jvms_tick(struct live *l);
/* Handle the replies, of the events jvm_counters and jvm_threads. */
int live_jvm_counters(struct live *l, uint64_t object, int status, const struct hotspot_perf *p,
		      const char *reason);
int live_jvm_threads(struct live *l, uint64_t object, const struct jvm_thread_list *list);
/* Called when a process was sent to the walkers. global: its pid in the initial pid namespace. */
void live_runtime_sent(struct live *l, uint32_t global, const struct unwind_process *p);
/* Read the counters a last time, while everything is still recorded. */
int live_jvms_last(struct live *l, struct error *err);
/* Count the collections that were not seen as lost, after all records have been handled. */
void live_jvms_compare(struct live *l);

/* live_monitors.c: prepare for threads that enter monitors. */
int live_monitors_begin(struct live *l, struct error *err);
/* Handle an event of the schedule. */
int live_monitors_event(struct live *l, const struct schedule_event *event, struct error *err);
/* Handle the reply with the name of a class, of the event java. */
int live_monitors_class(struct live *l, uint64_t object, const struct java_places *p);
/* Put the spans of threads that still sleep, after all records have been handled. */
int live_monitors_end(struct live *l);

/* live_prefetch.c: callbacks of program_set_prefetcher() and sideband_set_prefetcher(). */
int live_prefetch(void *context, const struct wire_sample *s, uint32_t size);
int live_prefetch_mapping(void *context, const struct life_record *mapping, uint64_t time);
/*
 * Called when the worker has inspected an object; passes the prefetched mappings of the object to
 * the BPF walkers if the object has an interpreter.
 */
int live_send_prefetched(struct live *l, const struct object *o);

/* live_probes.c: return whether anything is probed. */
static inline bool live_probes(const struct live *l)
{
	return capture_has_probes(&l->options.probes);
}
/* Return whether files are probed that are found while they are mapped. */
static inline bool live_probes_files(const struct live *l)
{
	return l->options.probes.parts != 0;
}
/* Make what the symbolizer needs of the user's probes, before it is started. */
int live_probes_prepare(struct live *l, struct error *err);
/* Load the program of probes. */
int live_probes_load(struct live *l, struct error *err);
/* Request the sites of the user's probes. */
int live_probes_begin(struct live *l, struct error *err);
/* Return -EINVAL if a probe that means something for the recording could not be attached. */
int live_probes_check(const struct live *l, struct error *err);
/* Request the sites of a file that has turned out to be of a runtime. */
void live_probes_request(struct live *l, const struct object *o, enum probe_runtime runtime);
/* Request those of a file without Python, unless it is a libjvm, which has been requested. */
void live_probes_request_others(struct live *l, uint64_t object);
/* Attach to the sites of a file: the event probes of the symbolizer. */
void live_probes_found(struct live *l, uint64_t object, int status, const struct probe_sites *s);
/* Handle a hit at its place in the order. */
int live_probes_hit(struct live *l, const struct ordered_record *r, struct error *err);
/* Put what became of the sites of files, as info records. */
int live_probes_report(struct live *l, struct error *err);
/* Have put again what the sink forgets. */
void live_probes_forget(struct live *l);
/* Move hits into the order, and count lost ones, before those in the order are handled. now: ns. */
int live_probes_drain(struct live *l, uint64_t now);
void live_probes_free(struct live *l);

/* Return whether a time, ns, is in the recording, and in no pause of it. */
bool live_is_recorded(const struct live *l, uint64_t time);

/* live_hits.c: return whether stacks of hits of probes are asked for. */
bool live_wants_hits(const struct live *l);
/* Return whether a record of that kind has all that such a stack has before its frames. */
bool live_is_hit(const struct wire_sample *s, uint32_t size);
/* Begin their account, if they are taken. */
int live_begin_hits(struct live *l, struct error *err);
/* Put their events. */
int live_describe_hits(struct live *l, struct error *err);
/* Take them from now on, or not. */
void live_follow_hits(struct live *l, bool wanted);
/*
 * Set the event and the weight of a sample that is one of them; else count it: it is not of the
 * time that is recorded. Return whether it is.
 */
bool live_describe_hit(struct live *l, const struct wire_sample *s, struct sample *r);
/* Count what became of one: of a record, or of a sample that is put. */
void live_count_hit(struct live *l, const struct wire_sample *s, enum hit_outcome outcome);
void live_count_written_hit(struct live *l, const struct sample *r);
/* Put their accounts and losses: hit_stacks_report(). */
int live_report_hits(struct live *l, uint64_t now, bool final, struct error *err);

/* live_handlers.c: load the programs of interrupts, if they are recorded. */
int live_handlers_load(struct live *l, struct error *err);
void live_handlers_free(struct live *l);
int live_handlers_attach(struct live *l, struct error *err);
int live_handlers_drain(struct live *l, uint64_t now);
/* Record the interrupts of a CPU from now on, or not. */
void live_handlers_follow(struct live *l, unsigned int cpu, bool wanted);
/* Call this when the sink forgets names. */
void live_handlers_forget(struct live *l);
/* Put a span for a record of their rings. */
int live_handlers_record(struct live *l, const struct ordered_record *r, struct error *err);
/* Put the sums, and count what was lost; for each tick. */
int live_handlers_tick(struct live *l, struct error *err);

/* live_groups.c: load the programs that add up the time of control groups, if it is asked for. */
int live_groups_load(struct live *l, struct error *err);
int live_groups_attach(struct live *l, struct error *err);
/* Have the sums begin now. */
int live_groups_begin(struct live *l, struct error *err);
/* Put the sums that have grown; for each tick. */
int live_groups_tick(struct live *l, struct error *err);

/* live_records.c: handle a record of a ring at its place in the order. */
int live_handle_record(struct live *l, const struct ordered_record *r, struct error *err);
/* Return whether a record of a sample ring is a well-formed sample: all parts lie within size. */
bool live_is_sample(const struct wire_sample *s, uint32_t size);
/*
 * Return the state of the walk that a sample with WIRE_SAVED has: the interrupted walk, or with
 * WIRE_INITIAL_STATE the initial state. Its pointers point into the sample.
 */
struct unfinished_stack live_unfinished_stack(const struct wire_sample *s);
/*
 * Return whether a process is selected now, by its pid or as a child of a selected process; always
 * true if no pids were given. Implements process_context.selected.
 */
bool live_selects_process(void *context, uint32_t pid);
/* Return whether a thread is selected by name; implements schedule_context.wanted. */
bool live_selects_thread(void *context, const struct process_entry *p,
			 const struct thread_entry *t);

/*
 * live_waits.c: set the event, weight and wait of a sample that is a stack of a wait or of a waker.
 * known: whether the records of switches say when the wait began; else *r is not changed. Return 0
 * or a negative errno.
 */
int live_describe_wait(struct live *l, const struct wire_sample *s, struct sample *r, bool *known,
		       struct error *err);
/* Why a sample of a ring is not put. */
enum live_outcome { LIVE_FILTERED, LIVE_UNKNOWN_WAIT };
/* Count such a stack of a wait or of a waker. */
void live_count_wait(struct live *l, const struct wire_sample *s, enum live_outcome outcome);

/*
 * live_open_waits.c: read the stacks of all threads that wait. Records of threads are handled in
 * their order, by live_keep_open_wait() at last.
 */
int live_read_open_waits(struct live *l, struct error *err);
/* Keep a sample of a wait that has not ended until it is known which ones have not. */
int live_keep_open_wait(struct live *l, const struct sample *r, struct error *err);
/* Put the waits that have not ended by a time (ns), and count those without a stack. */
int live_put_open_waits(struct live *l, uint64_t time, struct error *err);
/* Do both for a copy that is made after the next tick. */
int live_copy_open_waits(struct live *l, struct error *err);
/* Call this before each tick. */
void live_drop_open_waits(struct live *l);
void live_free_open_waits(struct live *l);

/*
 * live_stacks.c: handle a sample whose stack the BPF programs could not finish: put it, or park it
 * until its stack can be finished.
 */
int live_put_unfinished(struct live *l, struct process_entry *p, const struct wire_sample *s,
			const struct sample *r, struct error *err);
/*
 * Retry the parked stacks, and put those that can be finished. last: put all stacks, as they are if
 * they cannot be finished. With stacks.put_open also those of waits that have not ended.
 */
int live_retry_stacks(struct live *l, bool last, struct error *err);
void live_free_stacks(struct live *l);
/* Request the pages of tables that a walk may need; at pc, the walk waits for a table. */
void live_request_pages(struct live *l, const struct space *space, uint64_t pc,
			const struct unfinished_stack *u);
/*
 * Save a stack if it ended badly (saver_offer()). Call this only if there is a saver. begin: the
 * initial state of its walk.
 */
int live_save_bad_stack(struct live *l, struct space *space, const struct raw_stack *raw,
			const struct unfinished_stack *begin, struct error *err);
/*
 * Put a sample whose stack is complete, or cannot become more complete. Sets r->stack, and
 * SAMPLE_FLAG_UNREAD if the native frames run Python, but its frames were not read.
 */
int live_put_sample(struct live *l, const struct raw_stack *raw, struct sample *r,
		    struct error *err);

/* live_summary.c: fill the summary at the end of the recording. */
void live_fill_summary(struct live *l);
/* Add the cost of all helper processes, killed ones included, to *cost. */
void live_add_helper_cost(struct live *l, struct helper_cost *cost);

#endif
