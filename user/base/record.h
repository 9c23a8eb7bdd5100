/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that skein records about time is one of five kinds of record (sample, slice, edge,
 * span, counter). In addition there are the entities that records refer to, and losses (data that
 * could not be recorded). Each kind is one list of fields in this file; its struct, SQL table,
 * codec, JSON form and documentation are made from that list.
 *
 * Time stamps are ns of CLOCK_BOOTTIME. Ids start at 1, grow, and are never reused within a trace;
 * 0 means "none". A text is a NUL-terminated byte string that comes from a hostile process and must
 * be escaped when it is printed. NULL is the same as "".
 */
#ifndef SKEIN_BASE_RECORD_H
#define SKEIN_BASE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Entities come first, then records: a source that reads a file delivers the kinds in this order
 * (slices and edges together), so that every item comes after the items to which it refers, except
 * that threads come before their lanes. A live source may deliver an entity again when more is
 * known about it (the later one replaces the earlier), and may deliver the name of a frame after
 * the first sample that refers to the frame.
 *
 * X(kind, KIND, storage, summary), where storage is how a trace stores the kind:
 *   TABLE   One row each; of several with the same key the last one stays.
 *   STREAM  Columns in chunks, without texts. The records are ordered by the first field: the
 *           time (slices by slice_order(), spans by span_order()), or for stacks the id, which
 *           must grow.
 *   DERIVED Not stored: the reader makes the records from other kinds. Sums are made from
 *           samples; one key may come several times, and the reader's sink adds them up.
 */
#define RECORD_KINDS(X) \
	X(host, HOST, TABLE, "a machine: the owner of every lane and process") \
	X(info, INFO, TABLE, "other facts about the recording itself: options, environment") \
	X(event, EVENT, TABLE, "what was sampled, in which unit and how often") \
	X(process, PROCESS, TABLE, "one program run by a pid; an exec ends it and begins " \
				   "the next") \
	X(thread, THREAD, TABLE, "a thread under one name; renaming itself begins the next") \
	X(lane, LANE, TABLE, "a row of a timeline: a CPU, process, thread or actor") \
	X(name, NAME, TABLE, "a text that spans and counters point to") \
	X(mapping, MAPPING, TABLE, "an object whose code was seen running: file, kernel, JIT " \
				   "region") \
	X(function, FUNCTION, TABLE, "a function, from which frames have their names") \
	X(frame, FRAME, TABLE, "one address in one mapping") \
	X(inlined, INLINED, TABLE, "functions that the compiler inlined into that of a " \
				   "native frame, and that one itself, at the frame's " \
				   "address; only with --inlines") \
	X(stack, STACK, STREAM, "a path in the calling-context tree, as parent and frame") \
	X(sample, SAMPLE, STREAM, "at a time, a thread was at a stack, with a weight") \
	X(slice, SLICE, STREAM, "from one time to another, a lane was in a state") \
	X(edge, EDGE, STREAM, "from one lane to another: a wake-up, a message") \
	X(span, SPAN, STREAM, "from one time to another, something with a name went on in a lane") \
	X(counter, COUNTER, STREAM, "at a time, a quantity of a lane had a value") \
	X(sum, SUM, DERIVED, "samples of one thread at one stack, added up") \
	X(account, ACCOUNT, TABLE, "what became of the samples that were due on one CPU") \
	X(handler, HANDLER, TABLE, "runs of what served interrupts on one CPU, all added up; " \
				   "only with -e interrupts") \
	X(group_time, GROUP_TIME, TABLE, "what the threads of one control group did, for how " \
					 "long and how often; only of skein serve") \
	X(loss, LOSS, TABLE, "what could not be recorded: where, when, how much, why")

/* I: uint64_t, S: int64_t, T: text. */
#define HOST_FIELDS(I, S, T) \
	I(id, "") \
	T(hostname, "node name of uname") \
	T(machine_id, "/etc/machine-id") \
	T(boot_id, "kernel boot id, a UUID") \
	T(kernel, "release of the kernel") \
	T(arch, "machine of uname") \
	I(cpus, "CPUs online when the recording began") \
	I(memory, "bytes of RAM") \
	S(realtime_offset, "ns to add to a stamp to get UTC since 1970, at start") \
	S(monotonic_offset, "ns to add to a stamp to get CLOCK_MONOTONIC, at start") \
	I(start, "when the recording began, ns") \
	I(end, "when it ended, ns; 0 while it runs or when it was killed")

#define INFO_FIELDS(I, S, T) \
	I(id, "") \
	I(host, "host.id") \
	T(key, "the name of the fact, such as options or skein.version") \
	T(value, "its value as text")

/* Keys of the info records about the command that was recorded. */
#define INFO_COMMAND "command.program" /* name of its file */
#define INFO_ARGUMENTS "command.arguments" /* number of them */
#define INFO_PAUSED "recording.paused" /* ns in which nothing was recorded, on request */
#define INFO_CPU_BUDGET "budget.cpu" /* of one core, for which the rate of the clock goes down */
#define INFO_MEMORY_BUDGET "budget.memory" /* for which steps were taken, or the rate is lower */
#define INFO_FLIGHT "flight.trigger" /* why the flight recorder has written the trace */
#define INFO_FLIGHT_AT "flight.at" /* when that happened, ns */
#define INFO_COMMAND_LINE "command.line" /* all of it, only with record --store-arguments */

#define EVENT_FIELDS(I, S, T) \
	I(id, "") \
	I(host, "host.id") \
	T(name, "such as cpu-clock or cycles") \
	T(unit, "of every weight: ns or count") \
	I(period, "in that unit: the weight of one sample; of waits the largest period T, 0: all " \
		  "were chosen; of exceptions and allocations 1, the least weight") \
	I(frequency, "samples per second and CPU as asked for; 0 if a period was asked for")

#define PROCESS_FIELDS(I, S, T) \
	I(id, "") \
	I(host, "host.id") \
	I(pid, "in the pid namespace of the recorder; of a process outside of it, 2^30 more " \
	       "than its global pid") \
	I(ns_pid, "in the innermost pid namespace of the process; 0 unknown") \
	I(parent, "pid of the parent when last seen; 0 unknown") \
	I(born, "when the pid was forked, ns: with pid, the identity of the process") \
	I(start, "when this program began (fork or exec), or the recording, ns") \
	I(end, "when it ended (exec or exit), ns; 0 if it outlived the recording") \
	T(comm, "name of the main thread") \
	T(exe, "path of the program as the process sees it; empty if unknown") \
	T(cgroup, "path of the control group") \
	T(container, "id of the container, from the cgroup path; empty if none") \
	I(global_pid, "in the initial pid namespace; 0 unknown") \
	T(service, "name of the service, by rules for its control group; empty if none")

#define THREAD_FIELDS(I, S, T) \
	I(id, "") \
	I(process, "process.id") \
	I(tid, "in the pid namespace of the recorder, as process.pid") \
	I(start, "when it began under this name, or the recording, ns") \
	I(end, "when it ended or took another name, ns; 0 if it outlived the recording") \
	T(comm, "its name") \
	I(lane, "lane.id of its timeline, the same under all its names; 0 if it has none") \
	I(global_tid, "in the initial pid namespace; 0 unknown") \
	T(runtime_name, "the name that its runtime (a JVM) has given it; empty if unknown")

#define LANE_FIELDS(I, S, T) \
	I(id, "") \
	I(host, "host.id") \
	I(parent, "lane.id of the lane it belongs to; 0 at the top") \
	I(kind, "enum lane_kind") \
	I(number, "CPU number, process.id, thread.id (of its first name), enum interrupt, or for " \
		  "an actor its number in the runtime") \
	T(name, "as shown")

#define NAME_FIELDS(I, S, T) \
	I(id, "") \
	T(text, "a name, or the typed arguments of a span as one JSON object")

#define MAPPING_FIELDS(I, S, T) \
	I(id, "") \
	I(host, "host.id") \
	I(kind, "enum mapping_kind") \
	I(process, "process.id for a region of one process (JIT, anonymous), else 0") \
	I(size, "bytes of the file or the region; 0 unknown") \
	T(path, "as the process that mapped it first sees it, or [kernel], [vdso], [jit], " \
		"[python], [java]") \
	T(build_id, "lowercase hex; chosen by whoever linked the file, so no identity")

#define FUNCTION_FIELDS(I, S, T) \
	I(id, "") \
	I(mapping, "mapping.id") \
	T(name, "demangled; empty if only its begin is known") \
	T(system_name, "as in the symbol table; empty if the same as name") \
	T(file, "source file; empty if unknown") \
	I(line, "line of its start; 0 unknown") \
	I(address, "where it begins, counted as frame.address; 0 unknown")

#define FRAME_FIELDS(I, S, T) \
	I(id, "") \
	I(kind, "enum frame_kind") \
	I(mapping, "mapping.id; 0 if the address lay in no known mapping") \
	I(address, "offset in the file; for kernel and JIT code the address itself; for Python " \
		   "that of the code object, for Java that of the nmethod, method or stub") \
	I(function, "function.id; 0 if not even its begin is known") \
	I(line, "source line of the address, in that function; 0 unknown") \
	I(flags, "enum frame_flag")

#define INLINED_FIELDS(I, S, T) \
	I(frame, "frame.id") \
	I(depth, "0 the innermost; each is called by the next, and the last is the frame's own") \
	I(function, "function.id") \
	T(file, "source file of the line") \
	I(line, "that runs there, or that calls the function of the depth before; 0 unknown")

#define STACK_FIELDS(I, S, T) \
	I(id, "") \
	I(parent, "stack.id of the caller; 0 at the root") \
	I(frame, "frame.id")

#define SAMPLE_FIELDS(I, S, T) \
	I(time, "ns") \
	I(event, "event.id") \
	I(thread, "thread.id") \
	I(cpu, "number of the CPU") \
	I(stack, "stack.id of the innermost frame; 0 if there was no stack") \
	I(weight, "in the unit of the event") \
	I(flags, "enum sample_flag") \
	I(length, "ns: of a wait, how long it was (so far, if it had not ended); of its waker, " \
		  "the same; else 0") \
	I(wait, "of a wait and its waker, enum wait_class; else 0") \
	I(address, "of a wait for a futex, its address; else 0") \
	I(other, "thread.id: of a wait, who ended it (0: an interrupt, or it had not ended); of " \
		 "a waker, who waited")

#define SLICE_FIELDS(I, S, T) \
	I(time, "ns, first") \
	I(end, "ns, last; 0 open") \
	I(lane, "lane.id") \
	I(state, "enum slice_state") \
	I(value, "on a CPU or actor lane thread.id of who ran; 0 who was not asked for, and " \
		 "idle. On a thread lane the time (ns) since when its state is not known; 0: it " \
		 "is") \
	I(left, "on a CPU lane enum slice_state that the thread took on then; 0 unknown") \
	I(wait, "enum wait_class: what it waits for, then or in this state; 0 for nothing")

#define EDGE_FIELDS(I, S, T) \
	I(time, "ns, where it left") \
	I(end, "ns, where it arrived; 0 open") \
	I(from, "lane.id") \
	I(to, "lane.id; 0 until known") \
	I(kind, "enum edge_kind") \
	I(value, "by kind") \
	I(stack, "stack.id; 0 none")

#define SPAN_FIELDS(I, S, T) \
	I(time, "ns, first") \
	I(end, "ns, last; 0 open") \
	I(lane, "lane.id") \
	I(name, "name.id") \
	I(args, "name.id of a JSON object with the typed arguments; 0 none") \
	I(kind, "enum span_kind") \
	I(origin, "enum span_origin: how it is known")

#define COUNTER_FIELDS(I, S, T) \
	I(time, "ns") \
	I(lane, "lane.id") \
	I(name, "name.id") \
	S(value, "")

#define SUM_FIELDS(I, S, T) \
	I(event, "event.id") \
	I(thread, "thread.id") \
	I(stack, "stack.id; 0 if there was no stack") \
	I(count, "samples") \
	I(weight, "their weights added up, in the unit of the event") \
	I(flags, "those of their enum sample_flag that concern a runtime") \
	I(wait, "of waits and their wakers, enum wait_class; else 0")

#define ACCOUNT_FIELDS(I, S, T) \
	I(event, "event.id") \
	I(cpu, "number of the CPU") \
	I(due, "samples due: the event's own count over its period") \
	I(written, "samples in this trace") \
	I(filtered, "samples of threads that were not asked for") \
	I(idle, "due while the CPU had nothing to run") \
	I(late, "of those written: processed after the watermark had passed their time") \
	I(cut_off, "parts of a period where the clock started and stopped: each due, none sampled")

#define HANDLER_FIELDS(I, S, T) \
	I(lane, "lane.id of the interrupts of its CPU") \
	I(number, "of the handler, the same on all CPUs") \
	T(name, "of its spans: softirq net_rx, local timer, irq 24 nvme0q1") \
	I(kind, "enum span_kind of its spans") \
	I(count, "how often it ran, however short") \
	I(time, "ns that it ran, without what interrupted it") \
	I(longest, "ns of its longest run, with what interrupted it") \
	I(without, "runs that were long enough for a span, and have none: the buffer was full")

/*
 * A source puts one again when it has grown, with all since the beginning, as an account. If it is
 * less than before, the source has forgotten the group, and counts again from 0.
 */
#define GROUP_TIME_FIELDS(I, S, T) \
	I(host, "host.id") \
	T(cgroup, "path of the control group; [other]: those that had no room, [unknown]: those " \
		  "whose paths could not be read") \
	I(state, "enum slice_state: running; runnable: was woken, or is new; preempted: left a " \
		 "CPU and could go on; throttled; unknown: not seen; others: blocked") \
	I(wait, "enum wait_class: what it was blocked by, or throttled; else 0") \
	T(service, "name of the service, as process.service") \
	I(ns, "ns in that state, of threads that have left it; running: of all") \
	I(count, "how often a thread has left that state")

#define LOSS_FIELDS(I, S, T) \
	I(id, "") \
	I(host, "host.id") \
	I(event, "event.id; 0 if it concerns no event") \
	I(cpu, "number of the CPU + 1; 0 if it concerns no single CPU") \
	I(reason, "enum loss_reason") \
	I(time, "ns, first") \
	I(end, "ns, last") \
	I(count, "how many records") \
	I(weight, "how much, in the unit of the event; 0 if it has none")

#define RECORD_MEMBER_I(name, doc) uint64_t name;
#define RECORD_MEMBER_S(name, doc) int64_t name;
#define RECORD_MEMBER_T(name, doc) const char *name;
#define RECORD_STRUCT(kind, KIND, storage, summary) \
	struct kind { \
		KIND##_FIELDS(RECORD_MEMBER_I, RECORD_MEMBER_S, RECORD_MEMBER_T) \
	};
RECORD_KINDS(RECORD_STRUCT)
#undef RECORD_STRUCT

#define RECORD_ENUM(kind, KIND, storage, summary) KIND_##KIND,
enum record_kind { RECORD_KINDS(RECORD_ENUM) KIND_COUNT };
#undef RECORD_ENUM

/*
 * How the scheduler's records are stored. Slices on CPU lanes tile the time of their CPU: a thread
 * ran (RUNNING), no thread ran (IDLE), the CPU did not exist (OFFLINE), or this is not known
 * (UNKNOWN). A slice on a thread lane is open: the thread was seen in that state at that time, when
 * the recording began or after a loss, and stays in that state until another record changes it.
 * Edges say which thread woke which. All other states of threads are derived from slices and edges
 * (analyze/states.h). Slices on actor lanes have ends and do not overlap; between them nothing is
 * known.
 *
 * UNKNOWN on a CPU lane has one of two meanings. With value 0, records are lost, and the state of
 * every thread that does not run on another CPU in that time is unknown. With a value (a
 * thread.id), the kernel did not report a switch, and only that thread and the threads for which
 * thread lanes have open slices at that time are concerned.
 *
 * The records come in the order of slice_order() and edge.time. Of equal times, slices come before
 * edges.
 */

/*
 * Spans come in the order of span_order(): a span is put when its end is known, so an outer span
 * comes after those inside of it, and begins go back in time. (One whose times the runtime itself
 * took, such as a pause of a JVM, may come some us late.) Open spans (end 0) come last of their
 * process: something did not end before the process or the recording did, or what ended it was not
 * reported. So readers that need begins in order must sort, and all of a time range [a, b] are
 * those with time <= b and (end >= a or end = 0). An instant is a span whose end equals its time.
 *
 * Spans of a lane nest, except those of probes of the user (PROBE), which may overlap. Spans of a
 * thread's own work are on the thread's lane. What a JVM does while all threads stand still is on
 * the RUNTIME lane "JVM" below the PROCESS lane; its concurrent phases, which overlap, are on as
 * many further RUNTIME lanes as are needed at a time. What served interrupts on a CPU is on the
 * HANDLERS lane below that of the CPU, but only runs of a least length; the records "handler" have
 * the sums of all. Counters come in the order of time.
 */

/* Enumerations are append-only because their values are stored in files. X(NAME, "text"). */

/*
 * X(NAME, "word", where the lane's states come from (enum lane_states), what lane.number refers to,
 * what slice.value refers to (both enum lane_reference))
 */
#define LANE_KINDS(X) \
	X(CPU, "cpu", TILES, CPU, THREAD) \
	X(PROCESS, "process", NONE, PROCESS, NOTHING) \
	X(THREAD, "thread", DERIVED, THREAD, TIME) \
	X(ACTOR, "actor", SLICES, NOTHING, THREAD) \
	/* wakes threads on a CPU but is no thread; below the CPU */ \
	X(INTERRUPT, "interrupt", NONE, NOTHING, NOTHING) \
	/* spans of a runtime that belong to no thread; below the process */ \
	X(RUNTIME, "runtime", NONE, NOTHING, NOTHING) \
	/* spans of what served interrupts on a CPU; below the CPU */ \
	X(HANDLERS, "handlers", NONE, CPU, NOTHING)

#define MAPPING_KINDS(X) \
	X(FILE, "file") /* an ELF file; frame addresses are file offsets */ \
	X(KERNEL, "kernel") /* kernel text, modules and BPF programs */ \
	X(VDSO, "vdso") /* addresses are offsets into the vDSO image */ \
	X(JIT, "jit") /* generated code of one process; addresses are virtual */ \
	X(PYTHON, "python") /* code objects of one process; addresses are virtual */ \
	X(JAVA, "java") /* code of one JVM; addresses are virtual */

#define FRAME_KINDS(X) \
	X(NATIVE, "native") X(KERNEL, "kernel") X(JIT, "jit") X(PYTHON, "python") X(JAVA, "java") \
	X(END, "end") /* marks a root that was not reached; address is enum stack_end */

#define FRAME_FLAGS(X) \
	X(START, "start", 1) /* a thread begins here: a stack with this root is complete */ \
	X(LOOKED_UP, "asked", 2) /* the symbolizer has looked; without a function, it \
				    found none */ \
	X(INTERPRETER, "interpreter", 4) /* native frame of an evaluation loop; the frames that it \
					    runs, if any, follow towards the leaf */ \
	X(FREED, "freed", 8) /* Python or Java frame without a function: the code was freed, or \
				the process ended, before the name was read */ \
	X(UNREADY, "unready", 16) /* its name was still being read when the recording ended */ \
	X(INFERRED, "inferred", 32) /* Java frame: which methods are inlined at its address is not \
				       known; those are shown of the next address where it is */

#define SAMPLE_FLAGS(X) \
	X(KERNEL, "kernel", 1) /* the sample hit the kernel */ \
	X(IDLE, "idle", 2) /* sample of the idle thread */ \
	X(LATE, "late", 4) /* processed after the watermark had passed its time */ \
	X(PYTHON, "python", 8) /* thread of a Python interpreter whose state could be read */ \
	X(GIL, "gil", 16) /* the thread held the interpreter's lock */ \
	/* the thread was collecting garbage, or its JVM had stopped all threads for that */ \
	X(COLLECTING, "collecting", 32) \
	X(UNREAD, "unread", 64) /* the thread ran Python; its frames could not be read yet */ \
	/* of a wait: the interrupt that ended it, in the order of INTERRUPTS */ \
	X(BY_TIMER, "by timer", 1 << 12) \
	X(BY_NETWORK, "by network", 1 << 13) \
	X(BY_BLOCK, "by block device", 1 << 14) \
	X(BY_IPI, "by another CPU", 1 << 15) \
	X(BY_OTHER, "by other interrupt", 1 << 16) \
	X(NOT_ENDED, "had not ended", 1 << 17) /* the wait had not ended at the end of the trace */

/* Samples are added up separately for each combination of these flags. */
#define SAMPLE_FLAGS_OF_RUNTIME \
	(SAMPLE_FLAG_PYTHON | SAMPLE_FLAG_GIL | SAMPLE_FLAG_COLLECTING | SAMPLE_FLAG_UNREAD)

/*
 * How the walk of the user part of a stack ended, if that is known. A thread without an address
 * space, or outside of the recorder's pid namespace, has no user part: its stack is whole.
 */
#define STACK_ENDS(X) \
	X(WALKED, "walked") /* to a thread's begin; complete if the root frame is a START */ \
	X(DEPTH, "too deep") /* the stack has more frames than the walker handles */ \
	X(NO_MEMORY_MAP, "no address space") /* the thread was exiting or calling exec */ \
	X(UNREADABLE, "unreadable stack") \
	X(UNKNOWN_ROOT, "unknown root") /* a stack finished in user space has no START root */ \
	X(UNMAPPED, "left mapped code") /* the next return address lay in no code */ \
	X(NO_TABLE, "no unwind table") /* nor frame pointers: the file describes no frames */ \
	X(EVICTED, "unwind table evicted") /* for want of --unwind-memory */ \
	X(BAD_ROW, "bad unwind row") /* the file's description of the frame makes no sense */ \
	X(GENERATED, "generated code") /* code of a JIT without frame pointers */ \
	X(COPY_END, "longer than the copied stack") /* in a stack finished in user space */ \
	X(NOT_READY, "unwind table not ready") /* before the recording ended */ \
	X(PYTHON, "Python frames unreadable") /* some of them, independent of the native frames */ \
	X(CODE_32_BIT, "32-bit code") /* the thread runs it; only its innermost frame is known */ \
	X(OUTSIDE, "outside of this namespace") /* of the recorder's pid namespace */ \
	X(NO_TIME, "no time to read it") /* of too many threads that had not ended to wait */ \
	X(JAVA, "Java frame unreadable") /* code of a JVM whose caller is not certain */ \
	X(NOT_TAKEN, "no stack taken") /* in no trace: in exports, of time of waits */ \
	X(NO_WALKER, "runtime without a walker") /* in no trace: its own frames may be missing */

#define SLICE_STATES(X) \
	X(RUNNING, "running") X(RUNNABLE, "runnable") X(PREEMPTED, "preempted") \
	X(SLEEPING, "sleeping") X(DISK, "disk") X(STOPPED, "stopped") X(DEAD, "dead") \
	X(IDLE, "idle") \
	X(UNKNOWN, "unknown") /* records are lost: nothing is known of this time */ \
	X(THROTTLED, "throttled") /* the cgroup of the thread has used up its quota of CPU time */ \
	X(PARKED, "parked") /* a parked kernel thread */ \
	X(UNUSED, "unused") /* a kernel thread with nothing to do */ \
	X(OFFLINE, "offline") /* the CPU did not exist */

/* The cause for which a thread waits that is neither running nor runnable. */
#define WAIT_CLASSES(X) \
	X(LOCK, "lock") /* futex */ \
	X(IO, "I/O") \
	X(SLEEP, "sleep") \
	X(POLL, "poll") \
	X(FAULT, "page fault") \
	X(PIPE, "pipe or socket") \
	X(CHILD, "child") \
	X(THROTTLED, "throttled") /* cgroup quota */ \
	X(OTHER, "other") \
	/* of threads of a JVM */ \
	X(MONITOR, "Java monitor") /* to enter a synchronized block */ \
	X(OBJECT_WAIT, "Object.wait") \
	X(PARK, "park") /* LockSupport.park: locks and queues of java.util.concurrent */ \
	X(SAFEPOINT, "safepoint") /* until the JVM lets its threads continue */ \
	X(GIL, "GIL") /* the lock of a Python interpreter */

/* Numbers of INTERRUPT lanes. */
#define INTERRUPTS(X) \
	X(TIMER, "timer") X(NETWORK, "network") X(BLOCK, "block device") \
	X(IPI, "another CPU") X(OTHER, "other interrupt")

/*
 * The value of WAKEUP and FORK is the number + 1 of the CPU on which the thread is to run; 0 if
 * unknown.
 */
#define EDGE_KINDS(X) \
	X(WAKEUP, "wake-up") X(MONITOR, "monitor") X(MESSAGE, "message") \
	X(FORK, "fork") /* from the parent thread to its new thread */ \
	X(MIGRATION, "migration") /* between CPU lanes, not at a wake-up; value: thread.id */

/* What went on in a span. X(NAME, "word") */
#define SPAN_KINDS(X) \
	X(COLLECTION, "collection") /* of garbage, by one memory manager, or one generation */ \
	X(PAUSE, "pause") /* a named part of a collection in which all threads stand still */ \
	X(PHASE, "concurrent phase") /* of a collection, beside the program's threads */ \
	X(SAFEPOINT, "safepoint") /* from the request that threads stop until they may run */ \
	X(REACHING, "reaching the safepoint") /* until all threads have stopped */ \
	X(LEAVING, "leaving the safepoint") /* from the end of the last operation in it */ \
	X(OPERATION, "VM operation") \
	X(GC_STOP, "stopped for a collection") /* gc__begin to gc__end: may hold collections */ \
	X(THREAD, "Java thread") /* its life, as the JVM reports it */ \
	X(MONITOR, "contended monitor") \
	X(GIL, "GIL") /* a thread held the lock of a Python interpreter, others waited */ \
	X(CLASS, "class") X(COMPILATION, "compilation") \
	X(PROBE, "probe") /* of the user: -e usdt: and func: */ \
	X(MARK, "mark") /* of the user: --mark, --start-at, --stop-at */ \
	/* instants of a Java thread */ \
	X(EXCEPTION, "exception") X(DEOPTIMIZATION, "deoptimization") \
	X(ALLOCATION, "allocation") \
	/* a pause of the recording, on a lane without a process */ \
	X(NOT_RECORDED, "not recorded") \
	/* \
	 * A Java thread sleeps to enter a monitor, until it runs again; the name is the class of \
	 * the monitor's object. One contended monitor may be several of these, or none. \
	 */ \
	X(MONITOR_WAIT, "wait for a monitor") \
	/* of what served interrupts on a CPU, on a HANDLERS lane */ \
	X(INTERRUPT, "interrupt") X(SOFTIRQ, "softirq")

/* How a span is known. X(NAME, "word") */
#define SPAN_ORIGINS(X) \
	X(NOTE, "note") /* a USDT probe of the runtime */ \
	X(FUNCTION, "function") /* a probe at a function of the runtime */ \
	X(MEMORY, "memory") /* read from the memory of the process */ \
	X(SCHEDULER, "scheduler") /* derived from switches and wake-ups */ \
	X(KERNEL, "kernel") /* tracepoints of the kernel */

/*
 * X(NAME, "word for tables", whether the lost data are samples that were due, "what happened, and
 * what to do about it")
 */
#define LOSS_REASONS(X) \
	X(RING_FULL, "ring full", true, "the sample ring was full: raise --buffer or lower -F") \
	X(NOT_DELIVERED, "not delivered", true, "no tick came; the cause was not measured") \
	X(LIFE_LOST, "side-band full", false, \
	  "records of process life were lost; /proc was read again") \
	X(BAD_RECORD, "bad record", false, "a record of the kernel could not be understood") \
	X(CPU_GONE, "CPU offline", false, "the CPU went offline while recording") \
	X(WRITE_FAILED, "write failed", false, "the trace could not be written: disk full?") \
	X(UNREADABLE_CHUNK, "unreadable chunk", false, \
	  "a damaged part of the trace was left out") \
	X(SWITCHES_LOST, "switches lost", false, \
	  "the buffer of switches and wake-ups was full: raise --switch-buffer") \
	X(OUT_OF_ORDER, "out of order", false, \
	  "a time stamp is earlier than the one before: the clock jumped") \
	X(UNREPORTED, "switches not reported", false, \
	  "the kernel did not report a switch: which thread ran until the next is not known") \
	X(STOLEN, "stolen", true, "the host ran something else on this CPU") \
	X(LATE_TICK, "late tick", true, \
	  "interrupts were off, or the host delivered the timer's interrupt late") \
	X(SKIPPED, "skipped", true, \
	  "the kernel did not run the sampling program: inside bpf() calls, or when throttled") \
	X(NOT_STORED, "not stored", true, \
	  "the trace had no room left: make some, or bound it by --max-size or --keep") \
	X(SWITCHES_NOT_STORED, "switches not stored", false, \
	  "slices and edges for which the trace had no room left") \
	X(WAIT_MISSED, "wait missed", true, \
	  "the thread had left the CPU again before its stack could be taken") \
	X(WAIT_DISPLACED, "wait displaced", true, \
	  "two waiting threads have numbers that share one place; one of them was noted") \
	X(WAIT_UNKNOWN, "wait unknown", true, \
	  "the records of switches do not say when the wait began") \
	X(WAIT_NOT_READ, "wait not read", true, \
	  "the wait had not ended, and its stack could not be read in time") \
	X(PROBES_LOST, "probe events lost", false, \
	  "the buffer of probe events was full: probe less, or raise --buffer") \
	X(NOT_ATTACHED, "probe not attached", false, \
	  "a probe that was asked for could not be attached: skein doctor --probes says why") \
	X(UNPAIRED, "unpaired", false, \
	  "a probe reported the begin or the end of something, and none the other") \
	X(NOT_SEEN, "not seen", false, \
	  "the runtime itself counted more of these events than were recorded") \
	X(SPANS_NOT_STORED, "spans not stored", false, \
	  "spans and counters for which the trace had no room left") \
	X(STACK_MISSED, "stack missed", true, \
	  "a preempted thread's stack was being taken, or the walker was not loaded yet") \
	X(INTERRUPTS_LOST, "interrupts lost", false, \
	  "the buffer of long interrupts was full: raise --interrupt-min; " \
	  "their sums are complete") \
	X(SUSPENDED, "suspended", false, \
	  "the machine was suspended: nothing ran on it, and no sample was due")

/*
 * Libraries and interpreters through which programs wait, by the first characters of their file's
 * name: X("first characters"). Where a program waits is its innermost function outside of these and
 * of the kernel.
 */
#define WAITING_LIBRARIES(X) \
	X("libc.so") X("libc-") X("libpthread") X("ld-linux") X("ld-musl") X("libc.musl") \
	X("libpython") X("python3") X("_queue.") X("_thread.") X("select.") X("_socket.") \
	X("[vdso]")

#define ENUM_LANE(N, text, states, number, value) LANE_##N,
enum lane_kind { LANE_NONE, LANE_KINDS(ENUM_LANE) LANE_KIND_COUNT };
#define ENUM_MAPPING(N, text) MAPPING_##N,
enum mapping_kind { MAPPING_NONE, MAPPING_KINDS(ENUM_MAPPING) MAPPING_KIND_COUNT };
#define ENUM_FRAME(N, text) FRAME_##N,
enum frame_kind { FRAME_NONE, FRAME_KINDS(ENUM_FRAME) FRAME_KIND_COUNT };
#define ENUM_FRAME_FLAG(N, text, bit) FRAME_FLAG_##N = bit,
enum frame_flag { FRAME_FLAGS(ENUM_FRAME_FLAG) };
#define ENUM_SAMPLE_FLAG(N, text, bit) SAMPLE_FLAG_##N = bit,
enum sample_flag { SAMPLE_FLAGS(ENUM_SAMPLE_FLAG) };
#define ENUM_END(N, text) END_##N,
enum stack_end { STACK_ENDS(ENUM_END) END_COUNT };
#define ENUM_STATE(N, text) STATE_##N,
enum slice_state { STATE_NONE, SLICE_STATES(ENUM_STATE) STATE_COUNT };
#define ENUM_WAIT(N, text) WAIT_##N,
enum wait_class { WAIT_NONE, WAIT_CLASSES(ENUM_WAIT) WAIT_COUNT };
#define ENUM_INTERRUPT(N, text) INTERRUPT_##N,
enum interrupt { INTERRUPT_NONE, INTERRUPTS(ENUM_INTERRUPT) INTERRUPT_COUNT };
#define ENUM_EDGE(N, text) EDGE_##N,
enum edge_kind { EDGE_NONE, EDGE_KINDS(ENUM_EDGE) EDGE_KIND_COUNT };
#define ENUM_SPAN(N, text) SPAN_##N,
enum span_kind { SPAN_NONE, SPAN_KINDS(ENUM_SPAN) SPAN_KIND_COUNT };
#define ENUM_ORIGIN(N, text) ORIGIN_##N,
enum span_origin { ORIGIN_NONE, SPAN_ORIGINS(ENUM_ORIGIN) ORIGIN_COUNT };
#define ENUM_LOSS(N, word, due, text) LOSS_##N,
enum loss_reason { LOSS_NONE, LOSS_REASONS(ENUM_LOSS) LOSS_COUNT };

/* Return the static word or text for a value of the enumerations above; "?" if it is invalid. */
const char *lane_kind_word(uint64_t kind);
const char *frame_kind_word(uint64_t kind);
const char *stack_end_word(uint64_t end);
/* Name of the event whose samples are taken by the clocks of the CPUs. */
#define EVENT_CPU_CLOCK "cpu-clock"
/* Names of the events whose samples are stacks of waits and of the threads that ended them. */
#define EVENT_OFF_CPU "off-cpu"
#define EVENT_OFF_CPU_WAKERS "off-cpu-wakers"
/* Names of the events whose samples are stacks of hits of probes: where a JVM made something. */
#define EVENT_EXCEPTIONS "exceptions"
#define EVENT_ALLOCATIONS "allocations"
/* A name for all events whose weights are times on a CPU or of waiting, without wakers. */
#define EVENT_WALL "wall"
/* Return whether the weights of an event with this name (may be NULL) are times of waiting. */
bool event_is_of_waits(const char *name);
/*
 * Return whether the samples of an event with this name (may be NULL) are stacks of hits of probes,
 * whose weights count hits.
 */
bool event_is_of_hits(const char *name);
/* Return whether each sample of an event with this name (may be NULL) has a weight of its own. */
bool event_is_weighted(const char *name);
/* Return the event.id to which a record belongs, or of which it is; 0: none. */
uint64_t event_of_record(enum record_kind kind, const void *record);
/* Return the sum of one sample alone. */
struct sum sum_of_sample(const struct sample *s);
/* Return whether a stack with that end is whole, even without a START root (see STACK_ENDS). */
bool stack_end_is_whole(uint64_t end);
const char *slice_state_word(uint64_t state);
const char *wait_class_word(uint64_t wait);
const char *interrupt_word(uint64_t interrupt);
const char *span_kind_word(uint64_t kind);
const char *span_origin_word(uint64_t origin);
const char *loss_reason_word(uint64_t reason);
const char *loss_reason_text(uint64_t reason);
/*
 * Return whether losses with that reason are samples that were due, and so a term of an account's
 * sum.
 */
bool loss_reason_is_due(uint64_t reason);

/*
 * Return the time by which slices are ordered: the end if it is known, else (for an open slice, or
 * one that stands for lost records) the start.
 */
static inline uint64_t slice_order(const struct slice *s)
{
	return s->end && (s->state != STATE_UNKNOWN || s->value) ? s->end : s->time;
}

/* Return the time by which spans are ordered: the end; for an open span it is not known. */
static inline uint64_t span_order(const struct span *s)
{
	return s->end ? s->end : s->time;
}

/* The lists above as data, for code that treats all kinds alike. */
enum field_type { FIELD_INT, FIELD_SIGNED, FIELD_TEXT };
enum storage { STORAGE_TABLE, STORAGE_STREAM, STORAGE_DERIVED };

struct field {
	const char *name;
	const char *doc;
	enum field_type type;
	size_t offset; /* of the member in the kind's struct */
};

struct kind {
	const char *name;
	const char *doc;
	const struct field *fields;
	unsigned int field_count;
	size_t size; /* of the struct */
	enum storage storage; /* the third word of its line in RECORD_KINDS */
};

extern const struct kind kinds[KIND_COUNT];

/* Where the states of a lane come from. */
enum lane_states {
	LANE_STATES_NONE, /* the lane has no states */
	LANE_STATES_TILES, /* from its slices, which have no gaps between them */
	LANE_STATES_DERIVED, /* from the slices of CPU lanes and from wake-ups; see states.h */
	/*
	 * from its slices, which have ends and do not overlap; between them nothing is known. There
	 * may be hundreds of thousands of such lanes, and a slice comes only when it ends, so their
	 * cells are not stored but rendered from the slices.
	 */
	LANE_STATES_SLICES,
};

/* What a number in a lane or in its slices refers to. */
enum lane_reference {
	LANE_REFERENCE_NOTHING,
	LANE_REFERENCE_CPU, /* number of a CPU */
	LANE_REFERENCE_PROCESS, /* process.id */
	LANE_REFERENCE_THREAD, /* thread.id */
	LANE_REFERENCE_TIME, /* ns */
};

/* A line of LANE_KINDS. */
struct lane_traits {
	enum lane_states states;
	enum lane_reference number, value;
};

/* Return the traits of an enum lane_kind; those of an invalid kind are all 0. */
const struct lane_traits *lane_traits(uint64_t kind);

/* Return whether a trace stores cells (trace/pyramid.h) of lanes of that enum lane_kind. */
static inline bool lane_kind_has_cells(uint64_t kind)
{
	enum lane_states states = lane_traits(kind)->states;

	return states == LANE_STATES_TILES || states == LANE_STATES_DERIVED;
}

static inline uint64_t field_int(const struct field *f, const void *record)
{
	return *(const uint64_t *)((const char *)record + f->offset);
}

static inline const char *field_text(const struct field *f, const void *record)
{
	const char *text = *(const char *const *)((const char *)record + f->offset);

	return text ? text : "";
}

#endif
