// SPDX-License-Identifier: Apache-2.0
/*
 * Runs generated code, as a JIT compiler does: a compiled function copied into anonymous executable
 * memory, and named in /tmp/perf-PID.map. The first slot is reused for other code later; names have
 * spaces, and one line has 0x before its numbers. Prints when each phase ended.
 *
 *   jit SECONDS-OF-CPU-PER-PHASE PREFIX
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "burn.h"

#define SLOT 4096
/* factor of the last phase's length, so that a periodic reader of the map sees it */
#define LAST_PHASE 5
#define TEMPLATE_SIZE 128 /* larger than the template; what follows the template never runs */

typedef void code(uint64_t turns);

/* Position-independent code: no calls, no data. */
static void template_code(uint64_t turns)
{
	for (volatile uint64_t i = 0; i < turns; i++)
		;
}

static void run_phase(code *generated, uint64_t ns)
{
	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		generated(200000);
}

static code *place(char *slot)
{
	code *template = template_code, *ret;

	memcpy(slot, *(void **)&template, TEMPLATE_SIZE);
	__builtin___clear_cache(slot, slot + TEMPLATE_SIZE);
	*(void **)&ret = slot;
	return ret;
}

int main(int argc, char **argv)
{
	uint64_t ns = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 300 * MS;
	const char *prefix = argc > 2 ? argv[2] : "jit";
	char path[64];
	FILE *map;
	char *memory = mmap(NULL, 2 * SLOT, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (!map || memory == MAP_FAILED)
		return 1;
	setlinebuf(map);
	fprintf(map, "%lx %x %s never shown\n", (unsigned long)memory, SLOT, prefix);
	fprintf(map, "%lx %x %s first (a b)\n", (unsigned long)memory, SLOT, prefix);
	run_phase(place(memory), ns);
	printf("{\"first\": %llu", (unsigned long long)boot_ns());
	fprintf(map, "0x%lx 0x%x %s second\n", (unsigned long)(memory + SLOT), SLOT, prefix);
	run_phase(place(memory + SLOT), ns);
	printf(", \"second\": %llu", (unsigned long long)boot_ns());
	fprintf(map, "%lx %x %s third\n", (unsigned long)memory, SLOT, prefix);
	run_phase(place(memory), LAST_PHASE * ns);
	printf(", \"third\": %llu}\n", (unsigned long long)boot_ns());
	fclose(map);
	return 0;
}
