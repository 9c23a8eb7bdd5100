// SPDX-License-Identifier: Apache-2.0
/*
 * LD_PRELOAD library that lets one call of a kind fail, as on a machine without resources. It
 * intercepts allocations at malloc() and its relatives, and system calls in the kernel: a seccomp
 * filter traps those that come from the C library into this library, so that it also sees the calls
 * made by stdio, SQLite or libbpf. The plan and the results are in a file that the test maps:
 * struct fault_plan.
 *
 * A call is identified by its site, a hash of its callers: one failure of each site takes far fewer
 * runs than one failure of each call, and finds nearly as much.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef __x86_64__
#error "the shim knows the registers of x86-64 only"
#endif

#define SITES 8192
#define DEPTH 8 /* callers in a site's hash */
#define CALLS 16 /* most system calls in a plan */

/* tests/lib/faults.py has the same layouts. */
struct fault_site {
	uint64_t key, count;
	uint64_t callers[DEPTH]; /* offsets in their files; innermost first */
	char files[DEPTH][24];
};

struct fault_plan {
	/* set by the test */
	uint64_t error; /* errno */
	uint64_t memory; /* malloc() and its relatives */
	uint64_t calls[CALLS]; /* numbers of system calls, plus 1; 0: none */
	uint64_t helpers; /* fail in forked processes, not in the first process */
	uint64_t site; /* fail at this site's first call; 0: use nth */
	uint64_t nth; /* fail at the n-th call of all; 0: never fail, record the sites */
	/* results */
	uint64_t pid, met, counted, sites_used;
	uint64_t blocks; /* allocations not freed when the first process ended */
	struct fault_site sites[SITES];
};

static struct fault_plan *plan; /* NULL: no plan for this process */
static struct fault_plan wanted; /* a copy of the plan: helpers unmap shared memory */
static bool first = true; /* this process was started by the test */
static uint64_t counted; /* calls in this process */
static int64_t blocks; /* changed by all threads, without a lock */
static char noting; /* a lock: one thread at a time writes to the plan */
static __thread bool inside;

/* Return an address as the offset in its file, and the file's name. */
static uint64_t place(void *address, const char **file)
{
	struct dl_find_object found;

	*file = "";
	if (_dl_find_object(address, &found))
		return 0;
	if (found.dlfo_link_map->l_name[0])
		*file = strrchr(found.dlfo_link_map->l_name, '/') ?: "/";
	return (uint64_t)address - found.dlfo_link_map->l_addr;
}

static uint64_t mix(uint64_t key, uint64_t value)
{
	key = (key ^ value) * 0x9E3779B97F4A7C15ULL;
	return key ^ key >> 29;
}

/* Record the callers, from the frame at "at" outwards. */
static void look(void *at, struct fault_site *ret)
{
	void *frames[DEPTH + 8];
	int n = backtrace(frames, DEPTH + 8), i = 0;

	*ret = (struct fault_site){0};
	while (i < n && frames[i] != at)
		i++;
	for (int to = 0; i < n && to < DEPTH; i++, to++) {
		const char *file;

		ret->callers[to] = place(frames[i], &file);
		strncpy(ret->files[to], file, sizeof(ret->files[to]) - 1);
		ret->key = mix(ret->key, ret->callers[to]);
	}
	ret->key |= 1;
}

static void note_locked(const struct fault_site *s)
{
	struct fault_site *to = plan->sites;

	while (to < plan->sites + plan->sites_used && to->key != s->key)
		to++;
	if (to == plan->sites + SITES)
		return;
	if (to == plan->sites + plan->sites_used) {
		plan->sites_used++;
		*to = *s;
	}
	to->count++;
}

/*
 * Count a call from here. Return whether it is to fail: the plan selects it, and none has failed
 * yet.
 */
static bool is_the_one(const struct fault_site *here)
{
	bool result;

	while (__atomic_test_and_set(&noting, __ATOMIC_ACQUIRE))
		;
	counted++;
	result = !wanted.met && (wanted.site ? here->key == wanted.site : counted == wanted.nth);
	wanted.met |= result;
	if (first) {
		plan->counted = counted;
		plan->met |= result;
		if (!wanted.site && !wanted.nth)
			note_locked(here);
	}
	__atomic_clear(&noting, __ATOMIC_RELEASE);
	return result;
}

/* Return whether this call is to fail. at: its return address. */
static bool fails(void *at)
{
	struct fault_site here = {0};
	bool result;

	if (!plan || inside || first == (bool)wanted.helpers || wanted.met)
		return false;
	inside = true;
	if (wanted.site || !wanted.nth)
		look(at, &here);
	result = is_the_one(&here);
	inside = false;
	return result;
}

/* --- memory --- */

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);

/* Memory for dlsym(), which may allocate while it looks up the allocator. */
static _Alignas(16) char early[16384];
static size_t early_used;

static void *early_block(size_t size)
{
	void *result = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	return early_used <= sizeof(early) ? result : NULL;
}

static bool is_early(const void *p)
{
	return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

static bool find_next(void)
{
	static bool busy;

	if (next_free)
		return true;
	if (busy)
		return false;
	busy = true;
	next_malloc = dlsym(RTLD_NEXT, "malloc");
	next_calloc = dlsym(RTLD_NEXT, "calloc");
	next_realloc = dlsym(RTLD_NEXT, "realloc");
	next_free = dlsym(RTLD_NEXT, "free");
	busy = false;
	return true;
}

static bool no_memory(void *at)
{
	if (!wanted.memory || !fails(at))
		return false;
	errno = ENOMEM;
	return true;
}

static void count_blocks(int64_t more)
{
	__atomic_add_fetch(&blocks, more, __ATOMIC_RELAXED);
}

static void *allocated(void *p)
{
	count_blocks(p != NULL);
	return p;
}

void *malloc(size_t size)
{
	if (!find_next())
		return early_block(size);
	return no_memory(__builtin_return_address(0)) ? NULL : allocated(next_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	if (!find_next())
		return early_block(count * size);
	return no_memory(__builtin_return_address(0)) ? NULL : allocated(next_calloc(count, size));
}

void *realloc(void *p, size_t size)
{
	void *result;

	if (!find_next() || is_early(p) || no_memory(__builtin_return_address(0)))
		return NULL;
	result = next_realloc(p, size);
	count_blocks((!p && result) - (p && !size && !result));
	return result;
}

int posix_memalign(void **ret, size_t alignment, size_t size)
{
	void *p;

	if (!find_next() || no_memory(__builtin_return_address(0)))
		return ENOMEM;
	p = aligned_alloc(alignment, size);
	if (!p)
		return ENOMEM;
	*ret = allocated(p);
	return 0;
}

void free(void *p)
{
	if (!p || is_early(p) || !find_next())
		return;
	count_blocks(-1);
	next_free(p);
}

/* --- system calls --- */

static long make_call(long number, const greg_t *g)
{
	register long r10 __asm__("r10") = g[REG_R10];
	register long r8 __asm__("r8") = g[REG_R8];
	register long r9 __asm__("r9") = g[REG_R9];
	long result = number;

	__asm__ volatile("syscall"
			 : "+a"(result)
			 : "D"(g[REG_RDI]), "S"(g[REG_RSI]), "d"(g[REG_RDX]), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static void on_call(int number, siginfo_t *info, void *context)
{
	greg_t *g = ((ucontext_t *)context)->uc_mcontext.gregs;
	int saved = errno;

	(void)number;
	if (fails((void *)g[REG_RIP]))
		g[REG_RAX] = -(greg_t)wanted.error;
	else
		g[REG_RAX] = make_call(info->si_syscall, g);
	errno = saved;
}

/* Find the executable part of the C library, by a function that no sanitizer replaces. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *context)
{
	uintptr_t *range = context, inside_libc = (uintptr_t)&gnu_get_libc_version;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uintptr_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || inside_libc < start ||
		    inside_libc >= start + p->p_memsz)
			continue;
		range[0] = start;
		range[1] = start + p->p_memsz;
		return 1;
	}
	return 0;
}

#define DATA(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IP_LOW DATA(instruction_pointer)
#define IP_HIGH BPF_STMT(BPF_LD | BPF_W | BPF_ABS, \
			 offsetof(struct seccomp_data, instruction_pointer) + 4)
#define ANSWER(what) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_##what)

/*
 * Helpers reset all signals; without this override of signal(), SIGSYS would kill them at their
 * next call.
 */
sighandler_t signal(int number, sighandler_t handler)
{
	static sighandler_t (*next)(int, sighandler_t);

	if (number == SIGSYS && plan)
		return SIG_DFL;
	if (!next)
		next = dlsym(RTLD_NEXT, "signal");
	return next(number, handler);
}

/* Install the seccomp filter. An executed program maps its C library elsewhere: unaffected. */
static bool catch_calls(void)
{
	struct sigaction action = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO | SA_NODEFER};
	uintptr_t libc[2] = {0};
	struct sock_filter code[CALLS + 8], *c = code;
	int count = 0;

	while (count < CALLS && wanted.calls[count])
		count++;
	if (!count)
		return true;
	dl_iterate_phdr(find_libc, libc);
	if (!libc[1] || libc[0] >> 32 != libc[1] >> 32)
		return false;
	*c++ = (struct sock_filter)IP_HIGH;
	*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(libc[0] >> 32), 0,
					    (uint8_t)(4 + count));
	*c++ = (struct sock_filter)IP_LOW;
	*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)libc[0], 0,
					    (uint8_t)(2 + count));
	*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)libc[1],
					    (uint8_t)(1 + count), 0);
	*c++ = (struct sock_filter)DATA(nr);
	for (int i = 0; i < count; i++)
		*c++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						    (uint32_t)wanted.calls[i] - 1,
						    (uint8_t)(count - i), 0);
	*c++ = (struct sock_filter)ANSWER(ALLOW);
	*c++ = (struct sock_filter)ANSWER(TRAP);
	if (sigaction(SIGSYS, &action, NULL) < 0)
		return false;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
		     &(struct sock_fprog){.len = (unsigned short)(c - code), .filter = code}) == 0;
}

/* --- the process --- */

static void in_child(void)
{
	first = false;
	counted = 0;
}

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAULT_PLAN");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	void *shared =
		fd < 0 ? MAP_FAILED
		       : mmap(NULL, sizeof(*plan), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	void *frame;

	unsetenv("LD_PRELOAD"); /* commands that skein runs are not tested */
	unsetenv("FAULT_PLAN");
	if (fd >= 0)
		close(fd);
	if (shared == MAP_FAILED || ((struct fault_plan *)shared)->pid)
		return;
	backtrace(&frame, 1); /* loads what backtrace() needs */
	pthread_atfork(NULL, NULL, in_child);
	memcpy(&wanted, shared, offsetof(struct fault_plan, sites));
	((struct fault_plan *)shared)->pid = (uint64_t)getpid();
	if (!catch_calls())
		abort();
	plan = shared;
}

__attribute__((destructor)) static void end(void)
{
	if (plan && first)
		plan->blocks = (uint64_t)blocks;
}
