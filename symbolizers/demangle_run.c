// SPDX-License-Identifier: Apache-2.0
/* Run libiberty's demanglers with bounds on time, output and heap. */
#include "symbolizers/demangle_run.h"

#include <errno.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO)
#define ALIGNMENT 16

struct demangle_run {
	timer_t timer;
	struct sigaction before; /* previous action of SIGVTALRM */
	sigjmp_buf leave;
	volatile sig_atomic_t running; /* true between sigsetjmp() and the end of the call */
	volatile sig_atomic_t ticks; /* number of ticks during this call */
	char *buf;
	size_t size, used;
	bool exhausted; /* whether the arena is exhausted */
	size_t taken; /* bytes of the arena in use */
	_Alignas(ALIGNMENT) char arena[DEMANGLE_ARENA_BYTES];
};

/*
 * The run of the current call. It is global, since neither a signal handler nor malloc() takes a
 * context.
 */
static struct demangle_run *current;

/*
 * Replacements for malloc(), realloc() and free() in libiberty's objects, whose symbols the
 * Makefile renames.
 */
void *demangle_malloc(size_t size);
void *demangle_realloc(void *old, size_t size);
void demangle_free(void *block);

/* Allocate from the arena. A block begins with a word that holds its size. */
void *demangle_malloc(size_t size)
{
	struct demangle_run *r = current;
	size_t whole = (size + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	char *block;

	if (size > sizeof(r->arena) || whole > sizeof(r->arena) - r->taken) {
		r->exhausted = true;
		return NULL;
	}
	block = r->arena + r->taken;
	memcpy(block, &size, sizeof(size));
	r->taken += whole;
	return block + ALIGNMENT;
}

void *demangle_realloc(void *old, size_t size)
{
	size_t before = 0;
	void *block;

	if (old)
		memcpy(&before, (char *)old - ALIGNMENT, sizeof(before));
	if (old && size <= before)
		return old;
	block = demangle_malloc(size);
	if (block && old)
		memcpy(block, old, before);
	return block;
}

/*
 * Free a block if it is the last one of the arena; any other block stays until the end of the call.
 * Identifiers are decoded one after the other, so most freed blocks are the last one.
 */
void demangle_free(void *block)
{
	struct demangle_run *r = current;
	size_t size;

	if (!block)
		return;
	memcpy(&size, (char *)block - ALIGNMENT, sizeof(size));
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if ((char *)block + size == r->arena + r->taken)
		r->taken -= size + ALIGNMENT;
}

/*
 * Signal handler: count a tick, and abort the call of libiberty at its time limit. SIGVTALRM stays
 * unblocked in the handler (SA_NODEFER), so siglongjmp() need not restore a signal mask.
 */
static void handle_demangle_tick(int signal)
{
	struct demangle_run *r = current;

	(void)signal;
	if (r && r->running && ++r->ticks >= DEMANGLE_TICKS)
		siglongjmp(r->leave, DEMANGLE_REFUSED);
}

static void append_demangled(const char *text, size_t length, void *context)
{
	struct demangle_run *r = context;
	size_t room = r->size - 1 - r->used;

	memcpy(r->buf + r->used, text, length < room ? length : room);
	r->used += length < room ? length : room;
	if (length > room)
		siglongjmp(r->leave, DEMANGLE_CUT);
}

/* Try Rust first, as cplus_demangle() does, since Rust's older names look like C++ names. */
static bool call_demanglers(struct demangle_run *r, const char *name)
{
	if (rust_demangle_callback(name, OPTIONS, append_demangled, r))
		return true;
	r->used = 0;
	return !r->exhausted && cplus_demangle_v3_callback(name, OPTIONS, append_demangled, r);
}

enum demangle_end demangle_run(struct demangle_run *r, const char *name, char *buf, size_t size,
			       uint32_t *ticks)
{
	int end;

	r->buf = buf;
	r->size = size;
	r->used = r->taken = 0;
	r->exhausted = false;
	r->ticks = 0;
	end = sigsetjmp(r->leave, 0);
	if (!end) {
		r->running = true;
		end = call_demanglers(r, name) ? DEMANGLE_WHOLE : DEMANGLE_NONE;
	}
	r->running = false;
	if (end == DEMANGLE_NONE && r->exhausted)
		end = DEMANGLE_REFUSED;
	*ticks += (uint32_t)r->ticks;
	r->buf[r->used] = '\0';
	return (enum demangle_end)end;
}

static int start_demangle_timer(struct demangle_run *r)
{
	const struct sigaction action = {.sa_handler = handle_demangle_tick,
					 .sa_flags = SA_RESTART | SA_NODEFER};
	const struct timespec period = {.tv_nsec = DEMANGLE_TICK_NS};
	const struct itimerspec ticks = {.it_interval = period, .it_value = period};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};

	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &r->timer) < 0)
		return -errno;
	(void)sigaction(SIGVTALRM, &action, &r->before);
	if (timer_settime(r->timer, 0, &ticks, NULL) < 0) {
		int ret = -errno;

		(void)timer_delete(r->timer);
		(void)sigaction(SIGVTALRM, &r->before, NULL);
		return ret;
	}
	return 0;
}

int demangle_run_new(struct demangle_run **out)
{
	struct demangle_run *r;
	int ret;

	if (current)
		return -EBUSY;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	ret = start_demangle_timer(r);
	if (ret < 0) {
		free(r);
		return ret;
	}
	*out = current = r;
	return 0;
}

void demangle_run_free(struct demangle_run *r)
{
	if (!r)
		return;
	(void)timer_delete(r->timer);
	(void)sigaction(SIGVTALRM, &r->before, NULL);
	current = NULL;
	free(r);
}
