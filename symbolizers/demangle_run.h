/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of libiberty's demanglers, which is aborted when it takes too long or writes too much: a
 * name of 100 bytes can expand to gigabytes, or take days of work without any output.
 *
 * libiberty has no way to stop a call, so siglongjmp() aborts it: from the callback that receives
 * the output when the buffer is full, from a signal handler when the time is up. This is safe
 * because a call holds nothing that outlives it: the demangler of C++ allocates on its stack, and
 * malloc() in libiberty's objects is bound to an arena here (Makefile), which is emptied as a
 * whole.
 */
#ifndef SKEIN_SYMBOLIZERS_DEMANGLE_RUN_H
#define SKEIN_SYMBOLIZERS_DEMANGLE_RUN_H

#include <stddef.h>
#include <stdint.h>

/*
 * CPU time of the calling thread is counted in ticks of this many ns (or of the kernel's clock, if
 * that is coarser). A call is aborted at its second tick, that is, after 4 to 8 ms.
 */
#define DEMANGLE_TICK_NS 4000000
#define DEMANGLE_TICKS 2
/*
 * Bytes of heap for one call: decoding an identifier in punycode takes 8 bytes for each of its
 * bytes.
 */
#define DEMANGLE_ARENA_BYTES (16u << 10)

enum demangle_end {
	DEMANGLE_NONE, /* libiberty does not demangle the name; the buffer is unspecified */
	DEMANGLE_WHOLE, /* the buffer holds the whole name */
	DEMANGLE_CUT, /* the buffer holds as much of the name as it has room for */
	DEMANGLE_REFUSED, /* the name takes too much time or memory */
};

struct demangle_run;

/*
 * Make a run. It uses SIGVTALRM and a timer of the calling thread, which must be the thread that
 * demangles. Return 0; -EBUSY: the process has a run already; -ENOMEM; or an error of
 * timer_create(2).
 */
int demangle_run_new(struct demangle_run **out);
void demangle_run_free(struct demangle_run *r);

/*
 * Demangle name into buf of size bytes, with a NUL, and add the ticks of this call to *ticks.
 * This makes no system call.
 */
enum demangle_end demangle_run(struct demangle_run *r, const char *name, char *buf, size_t size,
			       uint32_t *ticks);

#endif
