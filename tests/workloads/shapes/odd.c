// SPDX-License-Identifier: Apache-2.0
/*
 * Frames that compilers rarely produce: of a size known only at run time, aligned to more than the
 * ABI's 16 bytes, left by a call that never returns, longer than a page of the unwind table,
 * entered through the PLT.
 *
 *   odd SECONDS-OF-CPU alloca|aligned|noreturn|long|plt
 */
#include <alloca.h>
#include <setjmp.h>
#include <string.h>

#include "shape.h"

LEAF(odd_leaf)

/* Compilers omit writes to unused memory unless its address escapes. */
static void *volatile escape;

OWN void alloca_inner(int bytes, uint64_t ns);
OWN void alloca_outer(uint64_t ns);
OWN void aligned_inner(int bytes, uint64_t ns, int a, int b, int c, int d, int e);
OWN void aligned_outer(uint64_t ns);

OWN void alloca_inner(int bytes, uint64_t ns)
{
	escape = memset(alloca(bytes), 1, bytes);
	odd_leaf(ns);
	shape_after++;
}

OWN void alloca_outer(uint64_t ns)
{
	for (int bytes = 1; bytes < 4096; bytes *= 2)
		alloca_inner(bytes, ns / 12);
	shape_after++;
}

/* Because of alloca() and stack arguments, the frame is found through a saved pointer only. */
OWN void aligned_inner(int bytes, uint64_t ns, int a, int b, int c, int d, int e)
{
	char wide[64] __attribute__((aligned(64)));

	escape = memset(alloca(bytes), a, bytes);
	escape = memset(wide, b + c + d + e, sizeof(wide));
	odd_leaf(ns);
	shape_after += wide[0];
}

OWN void aligned_outer(uint64_t ns)
{
	char wide[64] __attribute__((aligned(64)));

	escape = memset(wide, 1, sizeof(wide));
	aligned_inner(33, ns, 1, 2, 3, 4, wide[3]);
	shape_after += wide[5];
}

static jmp_buf back;

OWN __attribute__((noreturn)) void noreturn_inner(uint64_t ns);
OWN __attribute__((noreturn)) void noreturn_outer(uint64_t ns);
OWN void noreturn_next(void);

OWN void noreturn_inner(uint64_t ns)
{
	odd_leaf(ns);
	longjmp(back, 1);
}

/* The call is the last instruction: the return address lies in the next function. */
OWN void noreturn_outer(uint64_t ns)
{
	shape_after++;
	noreturn_inner(ns);
}

OWN void noreturn_next(void)
{
	shape_after += 3;
}

OWN void noreturn_start(uint64_t ns);
OWN void noreturn_start(uint64_t ns)
{
	noreturn_next();
	if (!setjmp(back))
		noreturn_outer(ns);
	shape_after++;
}

OWN void long_function(uint64_t ns);
OWN void long_outer(uint64_t ns);

/* 200,000 bytes of code that does not change the frame, and a call at the end. */
OWN void long_function(uint64_t ns)
{
	for (uint64_t end = thread_ns() + ns; thread_ns() < end;) {
		for (volatile int i = 0; i < 100; i++)
			asm volatile(".rept 200000\n\tnop\n\t.endr");
		odd_leaf(MS);
	}
	shape_after++;
}

OWN void long_outer(uint64_t ns)
{
	long_function(ns);
	shape_after++;
}

OWN void plt_caller(uint64_t ns);

OWN void plt_caller(uint64_t ns)
{
	volatile long sum = 0;

	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		for (int i = 0; i < BURN_LOOP; i++)
			sum += labs(i);
	shape_after += (int)sum;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(uint64_t ns);
	} shapes[] = {
		{"alloca", alloca_outer}, {"aligned", aligned_outer}, {"noreturn", noreturn_start},
		{"long", long_outer},	  {"plt", plt_caller},
	};

	for (unsigned int i = 0; argc > 2 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(argv[2], shapes[i].name))
			return shapes[i].run(shape_ns(argc, argv)), 0;
	return 2;
}
