/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF side, loaded: the only file of user space that knows the skeleton. */
#ifndef SKEIN_CAPTURE_PROGRAM_H
#define SKEIN_CAPTURE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "bpf/event.h"
#include "bpf/unwind/world.h"
#include "capture/order.h"

struct program_options {
	bool sample; /* else there are the hooks that follow a selection, and no more */
	bool kernel_stack, user_stack, idle;
	bool clocked; /* the event is a clock: count what falls due while idle */
	bool select_pids, select_tids;
	bool select_cgroup;
	const char *selected_subsys; /* v1 controller of the selected cgroup, NULL: unified */
	uint64_t selected_cgroup; /* id */
	uint32_t selected_level;
	const char *cgroup_subsys; /* v1 controller that samples carry, NULL: unified */
	uint64_t ring_bytes; /* of each ring; rounded up to a power of two of pages */
	bool save_all; /* send registers and stack with every sample that has a user stack */
	bool stop_sampled; /* SIGSTOP to every thread whose walk is finished in the kernel */
	bool tail_calls; /* walk as before Linux 5.17, also where that is not needed */
	bool no_python; /* the walkers are told of no interpreter */
};

struct program;

/* Load and verify. -EPERM and the like name the capability that is missing. */
int program_load(struct program **ret, const struct program_options *o, struct order *order,
		 struct error *err);
void program_free(struct program *p);

/*
 * Attach the hooks (idle, fork, exec, exit). The sampling program is attached to events by its
 * descriptor.
 */
int program_attach(struct program *p, struct error *err);
int program_fd(const struct program *p);
/* Whether stacks are walked by bpf_loop(), else by tail calls. */
bool program_walks_by_loops(const struct program *p);

/* Select a process or thread. 1, 0 if it was selected already, or a negative errno. */
int program_select_pid(struct program *p, uint32_t pid);
/* Whether a process is selected now, as one of those or a child of theirs. */
bool program_selects_pid(const struct program *p, uint32_t pid);
int program_select_tid(struct program *p, uint32_t tid);
/* Which threads are recorded, and the map of those selected: for other programs to share. */
const struct wire_selection *program_selection(const struct program *p);
int program_selected_fd(const struct program *p, bool threads);
/* Whether every selected process, and every child selected with it, has ended. */
bool program_selection_over(const struct program *p);

/*
 * What libbpf has to say goes to stderr only if SKEIN_DEBUG_BPF is set. Before anything else of
 * libbpf is called by somebody else.
 */
void program_quiet_library(void);

/* The account of a CPU, shared with the kernel; NULL beyond the possible CPUs. */
struct wire_account *program_account(const struct program *p, unsigned int cpu);
unsigned int program_cpus(const struct program *p);

/* Move what is in the sample rings into the order, a bounded batch each. 0 or -ENOMEM. */
int program_drain(struct program *p, uint64_t now);
/* Whether a ring of the order is one of these. */
bool program_owns(const struct program *p, int ring);
/* Descriptors that poll readable when rings fill up. */
size_t program_ring_count(const struct program *p);
/* Bytes of all rings as they are mapped: each twice in a row, so that no record is in two parts. */
uint64_t program_ring_bytes(const struct program *p);
int program_ring_fd(const struct program *p, size_t ring);
/* Whether more is left in a ring than one batch took. */
bool program_has_more(const struct program *p);

/*
 * What the walkers look things up in (bpf/unwind/world.h), shared with the
 * kernel: UNWIND_SLOTS_MAX slots, UNWIND_RULES_MAX rules, chunks of the arena.
 */
struct unwind_slot *program_slots(const struct program *p);
struct unwind_rule *program_rules(const struct program *p);
/* A new chunk of the arena: an arena_chunk_maker (arena.h) with the program as its context. */
int program_add_chunk(void *program, uint32_t number, uint32_t **ret);
/*
 * The mappings of a process, as they were at a time (ns). 0; -EAGAIN: it has executed another
 * program since; or another negative errno.
 */
int program_set_process(struct program *p, uint32_t pid, const struct unwind_process *process,
			uint64_t time);
/*
 * The interpreter that a process has mapped, at a time (ns), before the mappings themselves are
 * told. 0; -ENOENT: the walkers know nothing of that process; -EAGAIN as above.
 */
int program_set_python(struct program *p, uint32_t pid, const struct python_process *python,
		       uint64_t time);
/* Tell the walkers of a layout, under a number below PYTHON_LAYOUTS_MAX. 0 or a negative errno. */
int program_set_layout(struct program *p, uint32_t number, const struct python_layout *l);
/*
 * Have foresee called for samples with Python code that was not met before, as soon as they are
 * drained, before they are in order: what they need may soon be gone.
 */
typedef void (*program_foresight)(void *context, const struct wire_sample *s, uint32_t size);
void program_foresee(struct program *p, program_foresight foresee, void *context);
void program_forget_process(struct program *p, uint32_t pid);
/*
 * Whether the last drain has taken stacks that could not be finished in the kernel, or Python code
 * that was not met before: what they lack may be had for a short time only.
 */
bool program_saw_urgent(const struct program *p);
/*
 * For how long the caller sleeps: a sample that lacks something, or a program that is executed,
 * wakes it by the first sample ring, once, after which the kernel side takes it to be awake. Who
 * sleeps briefly is not woken by samples that only lack their process's mappings.
 */
void program_wants_waking(struct program *p, enum wire_sleep sleep);
/* Programs from that file wake nobody from now on, as far as there is room for it. */
void program_calm(struct program *p, const struct wire_file *file);

/* Children that could not be selected since the start. */
uint64_t program_unselected(const struct program *p);

#endif
