/* SPDX-License-Identifier: Apache-2.0 */
/* Run the walker of Python frames (bpf/unwind/python.h) over memory that a function reads. */
#ifndef SKEIN_TESTS_PYTHON_WALKER_H
#define SKEIN_TESTS_PYTHON_WALKER_H

#include <string.h>

#include "bpf/unwind/python_state.h"
#include "symbolizers/python_code.h"

/* ns from one walk to the next: longer than the walker trusts what it remembers unchecked. */
#define WALKER_PAUSE 1000000000

struct python_walker {
	const struct python_memory *memory;
	struct python_thread *remembered; /* NULL: the walker remembers nothing */
	uint64_t unreadable; /* an address whose reads fail; 0: none */
	uint64_t reads, steps; /* counted by walker_walk() */
	struct python_walk walk;
	__u64 words[PYTHON_WORDS];
};

static inline struct python_walker *walker_of(const struct python_walk *w)
{
	return (struct python_walker *)((char *)w - offsetof(struct python_walker, walk));
}

static inline int python_read(struct python_walk *w, void *to, __u32 bytes, __u64 address)
{
	struct python_walker *walker = walker_of(w);

	walker->reads++;
	if ((!walker->unreadable || address != walker->unreadable) &&
	    walker->memory->read(walker->memory->context, to, bytes, address))
		return 0;
	memset(to, 0, bytes); /* like the kernel's helper */
	return -1;
}

static inline int python_read_part(struct python_walk *w, void *to, __u32 bytes, __u32 most,
				   __u64 address)
{
	return bytes > most || python_read(w, to, bytes, address);
}

static inline int python_is_new_code(const struct python_walk *w, __u64 code, __u32 id)
{
	(void)w;
	(void)code;
	(void)id;
	return 0;
}

static inline struct python_thread *python_cache_entry(const struct python_walk *w)
{
	return walker_of(w)->remembered;
}

#include "bpf/unwind/python.h"

/*
 * Walk the frames of the thread with that pthread_self() and these registers (NULL: all 0). The
 * result is in w->words and w->walk.
 */
static inline void walker_walk(struct python_walker *w, const struct python_layout *layout,
			       const struct python_process *process, uint64_t self,
			       const uint64_t *registers)
{
	w->reads = w->steps = 0;
	w->walk.layout = *layout;
	w->walk.process = *process;
	w->walk.self = self;
	w->walk.stack_end = registers && registers[UNWIND_REG_SP] < self ? self : ~0ULL;
	for (int i = 0; i < UNWIND_REGISTERS; i++)
		w->walk.registers.values[i] = registers ? registers[i] : 0;
	w->walk.born = w->walk.tid = 1;
	w->walk.now += WALKER_PAUSE;
	if (python_walk_begin(&w->walk, 0))
		return;
	for (int over = 0; !over && w->steps < PYTHON_STEPS_MAX; w->steps++)
		over = python_walk_step(&w->walk, w->words);
}

/* Return the id of the code object at an address, as a walk computes it; 0 if it cannot be read. */
static inline uint32_t walker_code_id(struct python_walker *w, const struct python_memory *memory,
				      const struct python_layout *layout, uint64_t code_type,
				      uint64_t address)
{
	w->memory = memory;
	w->walk.layout = *layout;
	w->walk.process.code_type = code_type;
	w->walk.memory.file = w->walk.memory.file_id = 0;
	return python_read_code(&w->walk, address) ? 0 : python_read_code_id(&w->walk);
}

#endif
