/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded BPF programs: program.c is the only file of user space that knows the skeleton. */
#ifndef SKEIN_CAPTURE_PROGRAM_H
#define SKEIN_CAPTURE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/event.h"
#include "bpf/unwind/world.h"
#include "capture/order.h"

/* Where the stacks of waits are taken. */
enum wait_hook {
	WAIT_HOOK_NONE, /* they are not */
	WAIT_HOOK_TRACEPOINT, /* sched_exit_tp, in newer kernels */
	WAIT_HOOK_INTERRUPT, /* an interrupt that the CPU sends itself after a switch */
};

/* Stacks of waits. */
struct program_waits {
	enum wait_hook hook;
	/* attached by program_attach_waits(), not program_attach(), and without stacks of wakers */
	bool on_demand;
};

/* Switches for tests and for debugging. */
struct program_debugging {
	/* send SIGSTOP to every thread whose walk is finished by the BPF programs */
	bool stop_sampled;
	bool tail_calls; /* walk by tail calls, as before Linux 5.17, even if bpf_loop() exists */
	bool no_python; /* hide interpreters from the walkers */
};

struct program_options {
	/* also load the sampling program; false: only the hooks that follow a selection */
	bool sample;
	bool kernel_stack, user_stack, idle;
	bool clocked; /* the event is a clock: also count idle and stolen periods */
	bool select_pids, select_tids;
	bool select_cgroup;
	/* name of the v1 controller of the selected cgroup; NULL: unified hierarchy */
	const char *selected_subsys;
	uint64_t selected_cgroup; /* id */
	uint32_t selected_level;
	struct wire_namespace namespace; /* the recorder's own; level 0: the initial one */
	bool select_namespace; /* only threads of that namespace */
	/* name of the v1 controller of the cgroup in samples; NULL: unified hierarchy */
	const char *cgroup_subsys;
	/* bytes of each sample ring; rounded up to a power of two of pages, at most 1 GiB */
	uint64_t ring_bytes;
	bool save_all; /* send registers and stack with every sample that has a user stack */
	struct program_waits waits;
	bool hits; /* stacks of hits of probes are taken */
	bool starts; /* also wake the caller at starts of programs if nothing is sampled */
	struct program_debugging debug;
};

struct program;

/*
 * Load and verify the programs; order, which gets the samples, must outlive them. Return 0 or a
 * negative errno. Errors such as -EPERM name the missing capability.
 */
int program_load(struct program **out, const struct program_options *o, struct order *order,
		 struct error *err);
void program_free(struct program *p);

/*
 * Attach the hooks (idle, fork, exec, exit). The sampling program is not among them: it is attached
 * to perf events by its descriptor, program_fd().
 */
int program_attach(struct program *p, struct error *err);
int program_fd(const struct program *p);
/* Return whether stacks are walked with bpf_loop(); otherwise with tail calls. */
bool program_walks_by_loops(const struct program *p);
/*
 * Return whether the kernel has bpf_loop(), which came with Linux 5.17 and was backported to some
 * older kernels. Stacks of waits and of hits need it.
 */
bool program_has_loops(void);

/*
 * Select a process (program_select_pid()) or a thread (program_select_tid()). Return 1, 0 if it was
 * already selected, or a negative errno.
 */
int program_select_pid(struct program *p, uint32_t pid);
/* Return whether a process is selected now, by itself or as a child. */
bool program_selects_pid(const struct program *p, uint32_t pid);
int program_select_tid(struct program *p, uint32_t tid);
/*
 * Return the selection of threads, and the descriptor of the map of selected processes or threads,
 * which other BPF programs share.
 */
const struct wire_selection *program_selection(const struct program *p);
int program_selected_fd(const struct program *p, bool threads);
/* Return the descriptor of a map of the sampling program, by its name in bpf/. */
int program_map_fd(const struct program *p, const char *name);
/*
 * Choose the hook for stacks of waits; by_interrupt: even if the kernel has the tracepoint. Return
 * 0, or -ENOTSUP if the kernel can take none, with the reason in *err.
 */
int program_choose_wait_hook(enum wait_hook *out, bool by_interrupt, struct error *err);
/*
 * With stacks of waits: return the descriptor of the map of all CPUs (struct wire_cpu), which the
 * scheduler's programs share, and of the program that takes the stack of a waker.
 */
int program_switch_cpus_fd(const struct program *p);
int program_waker_fd(const struct program *p);
/* Return the descriptor of the program that takes the stack of a thread that has waited. */
int program_wait_fd(const struct program *p);
/*
 * With program_waits.on_demand: attach the program that takes the stacks of waits, or detach it if
 * it is attached.
 */
int program_attach_waits(struct program *p, struct error *err);
void program_detach_waits(struct program *p);
/*
 * Return whether every selected process, and every child selected with it, has ended; also true if
 * no process was selected.
 */
bool program_selection_over(const struct program *p);

/*
 * Get the kernel's number of a v1 controller, -1 for NULL, the unified hierarchy. Return 0 or a
 * negative errno.
 */
int program_cgroup_subsystem(int *out, const char *controller, struct error *err);

/*
 * Make libbpf silent, or, if SKEIN_DEBUG_BPF is set, have it print only warnings, to stderr. Call
 * this before any other function of libbpf.
 */
void program_quiet_library(void);

/*
 * Return the sampling clock of a CPU, in memory shared with the kernel; NULL for a number beyond
 * the possible CPUs, whose number program_cpus() returns.
 */
struct wire_clock *program_clock(const struct program *p, unsigned int cpu);
/* Return how long the programs of sample.bpf.c have run so far, stacks of waits apart, ns. */
uint64_t program_time_spent(const struct program *p);
unsigned int program_cpus(const struct program *p);

/*
 * Move records of the sample rings into the order, a bounded batch per ring. now: ns. Return 0 or
 * -ENOMEM (also from the callback of program_set_prefetcher()).
 */
int program_drain(struct program *p, uint64_t now);
/* Return whether a ring of the order belongs to this program. */
bool program_owns_ring(const struct program *p, int ring);
/*
 * Return the number of sample rings; program_ring_fd() returns the descriptor of one, which polls
 * readable when a quarter of the ring is full or the BPF programs wake the caller
 * (program_set_sleep()).
 */
size_t program_ring_count(const struct program *p);
/* Return the bytes of all rings as mapped: each ring twice in a row, so that no record is split. */
uint64_t program_ring_bytes(const struct program *p);
int program_ring_fd(const struct program *p, size_t ring);
/* Return whether the last program_drain() left records because it took a full batch from a ring. */
bool program_has_more(const struct program *p);

/*
 * Return the tables for the walkers (bpf/unwind/world.h), shared with the kernel: UNWIND_SLOTS_MAX
 * slots, UNWIND_RULES_MAX rules.
 */
struct unwind_slot *program_slots(const struct program *p);
struct unwind_rule *program_rules(const struct program *p);
/*
 * Map the memory of an array map, bytes rounded up to pages, and store its address in the pointer
 * at out. Return 0 or a negative errno.
 */
int program_map_array(int fd, size_t bytes, void *out);
/* Unmap memory that program_map_array() mapped; memory may be NULL. */
void program_unmap_array(void *memory, size_t bytes);
/* Make a chunk of the arena: an arena_chunk_maker (arena.h) with the program as its context. */
int program_add_chunk(void *program, uint32_t number, uint32_t **out);
/*
 * Set the mappings of a process for the walkers, as of time (ns). Return 0; -EAGAIN: the process
 * has executed another program since then; or another negative errno.
 */
int program_set_process(struct program *p, uint32_t pid, const struct unwind_process *process,
			uint64_t time);
/*
 * Set the Python interpreter that a process mapped at time (ns), before its mappings are set.
 * Return 0; -ENOENT: the walkers do not know the process; -EAGAIN as for program_set_process(); or
 * another negative errno.
 */
int program_set_python(struct program *p, uint32_t pid, const struct python_process *python,
		       uint64_t time);
/*
 * Send a layout to the walkers, under a number below PYTHON_LAYOUTS_MAX. Return 0 or a negative
 * errno.
 */
int program_set_layout(struct program *p, uint32_t number, const struct python_layout *l);
/*
 * Begin to load the programs for processes with a JVM, on a thread: one may come. Then also, which
 * returns 0 or a negative errno, is called there; if they are loaded already, it is called at once.
 * program_join_java() waits for that thread, if there is one; accepts NULL.
 */
typedef int (*program_java_loader)(void *context);
void program_set_java_loader(struct program *p, program_java_loader also, void *context);
/* Return what also has returned, 0 before that. */
int program_java_loader_status(const struct program *p);
/* Return whether the thread is at work: a layout cannot be sent yet. */
bool program_is_loading_java(const struct program *p);
void program_expect_java(struct program *p);
void program_join_java(struct program *p);
/*
 * Have them take the stacks of hits of probes, too. Call this before they are loaded. cpus, sites:
 * the maps of struct wire_probe_cpu and wire_probe_site; takers: the map through which the program
 * of probes, which is attached as attach_type says, enters them.
 */
struct program_hits {
	int cpus, sites, takers; /* descriptors */
	unsigned int attach_type;
};
void program_set_hits(struct program *p, const struct program_hits *h);
/* Load them now (for tests). Return 0 or a negative errno. */
int program_wait_for_java(struct program *p, struct error *err);
/*
 * Set a layout of a libjvm, or a JVM, under an index (jvms.h). Return 0 or a negative errno; of a
 * layout -EAGAIN as long as the programs for JVMs are being loaded.
 */
int program_set_jvm_layout(struct program *p, uint32_t index, const struct hotspot_layout *l);
int program_set_jvm(struct program *p, uint32_t index, const struct hotspot_process *jvm);
/* Set the rows of a method's code. Return 0 or a negative errno. */
int program_set_java_code(struct program *p, const struct hotspot_code_key *key,
			  const struct hotspot_code_rows *rows);
/*
 * Set a callback for samples with Python or Java code that the BPF programs had not seen before, or
 * with Java frames whose walk has ended before its time. The callback is called when such a sample
 * is drained, before the sample is in order, since the names of the code may soon be gone. The
 * callback returns 0 or -ENOMEM.
 */
typedef int (*program_prefetcher)(void *context, const struct wire_sample *s, uint32_t size);
void program_set_prefetcher(struct program *p, program_prefetcher prefetch, void *context);
void program_forget_process(struct program *p, uint32_t pid);
/*
 * Return whether the last drain took stacks whose walks wait for a table, or new Python code. The
 * data that such samples need may exist for a short time only.
 */
bool program_saw_urgent(const struct program *p);
/*
 * Announce how long the caller is going to sleep. The first sample that lacks data, or start of a
 * selected program, wakes the caller: a sample through its ring, a program through the first ring.
 * After that, the BPF programs assume that the caller is awake. In a brief sleep, samples that lack
 * only their process's mappings do not wake the caller.
 */
void program_set_sleep(struct program *p, enum wire_sleep sleep);
/*
 * Have starts of programs from a file no longer wake the caller. Does nothing if the map is full.
 */
void program_set_calm(struct program *p, const struct wire_file *file);

/*
 * Return how many children could not be selected so far because the map of selected processes was
 * full.
 */
uint64_t program_unselected(const struct program *p);

#endif
