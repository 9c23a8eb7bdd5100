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
#define SWITCH_END "finish_task_switch" /* compilers append a suffix, such as .isra.0 */

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

/* Find a function by the beginning of its name in /proc/kallsyms; its end is the next symbol. */
static void find_kernel_function(struct code_range *out, const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	char line[512];
	size_t length = strlen(name);

	while (f && !out->end && fgets(line, sizeof(line), f)) {
		char *symbol = strchr(line, ' ');
		uint64_t address = strtoull(line, NULL, 16);

		if (out->start && address > out->start)
			out->end = address;
		else if (!out->start && symbol && symbol[1] && symbol[2] == ' ' &&
			 !strncmp(symbol + 3, name, length) && strchr(".\n", symbol[3 + length]))
			out->start = address;
	}
	if (f)
		fclose(f);
}

void own_frames_find(struct own_frames *out, const int *fds, unsigned int count, bool interrupts)
{
	*out = (struct own_frames){0};
	for (unsigned int i = 0; i < count; i++)
		add_program(out, fds[i]);
	if (interrupts && out->count)
		find_kernel_function(&out->interrupted, SWITCH_END);
}

static bool is_in_code(const struct code_range *r, uint64_t address)
{
	return address >= r->start && address < r->end;
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
	return own < count ? own : count;
}
