// SPDX-License-Identifier: Apache-2.0
/* Finds the frames at the inner end of a kernel stack that skein itself has added. */
#include "capture/own_frames.h"

#include <bpf/bpf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Most frames between a stack's end and what interrupts or calls skein's program. */
#define DEPTH_MAX 16
/* Most functions of one program: its main function and the callbacks of its loops. */
#define FUNCTIONS_MAX 16
#define SWITCH_END "finish_task_switch"

/* Add the code of a program, which is one block: from its first function to the end of its last. */
static void add_program(struct own_frames *o, int fd)
{
	uint64_t starts[FUNCTIONS_MAX];
	uint32_t sizes[FUNCTIONS_MAX], length;
	struct bpf_prog_info info = {
		.nr_jited_ksyms = FUNCTIONS_MAX,
		.jited_ksyms = (uintptr_t)starts,
		.nr_jited_func_lens = FUNCTIONS_MAX,
		.jited_func_lens = (uintptr_t)sizes,
	};

	length = sizeof(info);
	if (o->count == OWN_PROGRAMS_MAX || bpf_obj_get_info_by_fd(fd, &info, &length))
		return;
	/* The stack has a frame of the main function, which is the first one. */
	if (info.nr_jited_ksyms && info.nr_jited_func_lens && starts[0])
		o->programs[o->count++] = (struct code_range){starts[0], starts[0] + sizes[0]};
}

/* A function of the kernel that is looked for. */
struct wanted_function {
	const char *name; /* its beginning: compilers append a suffix, such as .isra.0 */
	struct code_range *out;
};

/* Note one symbol of /proc/kallsyms. A function ends where the next symbol begins. */
static void note_symbol(const struct wanted_function *wanted, unsigned int count, uint64_t address,
			const char *name)
{
	for (unsigned int i = 0; i < count; i++) {
		struct code_range *r = wanted[i].out;
		size_t length = strlen(wanted[i].name);

		if (r->start && !r->end && address > r->start)
			r->end = address;
		else if (!r->start && !strncmp(name, wanted[i].name, length) &&
			 strchr(".\n", name[length]))
			r->start = address;
	}
}

static void find_kernel_functions(const struct wanted_function *wanted, unsigned int count)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		const char *symbol = strchr(line, ' ');

		if (symbol && symbol[1] && symbol[2] == ' ')
			note_symbol(wanted, count, strtoull(line, NULL, 16), symbol + 3);
	}
	if (f)
		fclose(f);
}

void own_frames_find(struct own_frames *out, const int *fds, unsigned int count, bool interrupts)
{
	const struct wanted_function wanted[] = {
		{"__traceiter_sched_exit_tp", &out->callers[0]},
		{"__traceiter_sched_waking", &out->callers[1]},
		{SWITCH_END, &out->interrupted},
	};

	*out = (struct own_frames){0};
	for (unsigned int i = 0; i < count; i++)
		add_program(out, fds[i]);
	if (out->count)
		find_kernel_functions(wanted, interrupts ? 3 : 2);
}

static bool is_in_code(const struct code_range *r, uint64_t address)
{
	return address >= r->start && address < r->end;
}

static bool is_in_callers(const struct own_frames *o, uint64_t address)
{
	for (unsigned int i = 0; i < OWN_CALLERS; i++)
		if (is_in_code(&o->callers[i], address))
			return true;
	return false;
}

unsigned int own_frames_count(const struct own_frames *o, const uint64_t *frames,
			      unsigned int count, bool wait)
{
	unsigned int own = 0;

	for (unsigned int i = 0; i < count && i < DEPTH_MAX; i++) {
		for (unsigned int n = 0; n < o->count; n++)
			if (is_in_code(&o->programs[n], frames[i]))
				own = i + 2; /* bpf_trace_run1() or the like calls the program */
		if (wait && own && is_in_code(&o->interrupted, frames[i]))
			own = i + 1;
	}
	while (own && own < count && is_in_callers(o, frames[own]))
		own++;
	return own < count ? own : count;
}
