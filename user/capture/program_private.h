/* SPDX-License-Identifier: Apache-2.0 */
/* Declares what program.c and program_java.c share. */
#ifndef SKEIN_CAPTURE_PROGRAM_PRIVATE_H
#define SKEIN_CAPTURE_PROGRAM_PRIVATE_H

#include <bpf/libbpf.h>
#include <pthread.h>

#include "base/vector.h"
#include "bpf/event.h"
#include "bpf/sample.skel.h"
#include "capture/program.h"

/* The programs for processes with a JVM, which a thread loads. */
struct program_java {
	struct java_bpf *skeleton;
	pthread_t thread;
	bool threaded; /* the thread is to be joined */
	/* -ENOENT: not requested; -EAGAIN: being loaded; 0; or why there are none. Atomic. */
	int status;
	program_java_loader also;
	void *also_context;
	int also_status; /* its result; 0 before. Atomic. */
	bool takes_hits; /* hits is set */
	struct program_hits hits;
};

struct program_ring {
	struct ring_buffer *buffer;
	struct program *program;
	int number; /* number of the ring in the order */
	unsigned int taken; /* number of records taken in this batch */
	size_t bytes; /* bytes in this batch */
	uint64_t last; /* time of the last record, ns */
	int error;
};

struct program {
	struct sample_bpf *skeleton;
	struct order *order;
	struct wire_selection selection;
	struct wire_clock *clocks; /* by CPU, mapped from the kernel */
	unsigned int cpus; /* possible CPUs */
	VECTOR(struct program_ring *) rings;
	uint64_t ring_bytes; /* bytes of each ring */
	VECTOR(void *) chunks; /* chunks of the arena, mapped from the kernel */
	struct unwind_slot *slots; /* mapped from the kernel */
	struct unwind_rule *rules;
	program_prefetcher prefetch;
	void *prefetch_context;
	bool by_tail_calls; /* stacks are walked by tail calls instead of bpf_loop() */
	bool no_python; /* see struct program_options */
	bool more, urgent; /* results of the last drain */
	struct program_java java;
	struct bpf_link *waits; /* with program_attach_waits(); NULL: it is not attached */
};

/* program_java.c: free the programs for processes with a JVM; p is otherwise whole. */
void program_free_java(struct program *p);

#endif
