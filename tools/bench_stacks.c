// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks of a chosen depth through a chosen number of functions, for what the
 * walk of a stack costs: a chain of functions, each called by another that is
 * drawn at random, works at its bottom for a while and then begins anew.
 *
 *   bench_stacks DEPTH FUNCTIONS user     work in user space
 *   bench_stacks DEPTH FUNCTIONS kernel   in a system call
 *   bench_stacks DEPTH FUNCTIONS cold     read at random all over 64 MiB
 *
 * until killed. DEPTH counts every function of the stack, libc's included. Few
 * FUNCTIONS: every cache holds all that belongs to them. All of them: more
 * places to return to than skein's cache of rules has room for, as many rows
 * of call frame information as a large library has. Built with frame pointers
 * or without: every function has the frame of its build.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef FUNCTIONS
#define FUNCTIONS 262144
#endif
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define OUTSIDE 5 /* _start, __libc_start_main and its callee, main, and the leaf */
#define ARENA (64UL << 20)

#ifndef __x86_64__
#error "the functions below are x86-64's"
#endif

/* clang-format off */
#ifdef WITH_FRAME_POINTERS
#define ENTER                                                                                     \
	"push %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset 6, -16\n"                                 \
	"mov %rsp, %rbp\n.cfi_def_cfa_register 6\n"
#define LEAVE "pop %rbp\n.cfi_def_cfa 7, 8\n"
#else
#define ENTER "sub $40, %rsp\n.cfi_def_cfa_offset 48\n"
#define LEAVE "add $40, %rsp\n.cfi_def_cfa_offset 8\n"
#endif

/*
 * functions: FUNCTIONS of 64 bytes, with call frame information each. Their
 * arguments: rdi levels still to go, rsi what to call at the bottom, rdx the
 * state of the random numbers, rcx the mask of the functions. next_function
 * leaves no frame of its own: it jumps.
 */
asm(".text\n"
    ".balign 64\n"
    "functions:\n"
    ".rept " TEXT(FUNCTIONS) "\n"
    ".cfi_startproc\n" ENTER
    "call next_function\n" LEAVE
    "ret\n"
    ".cfi_endproc\n"
    ".balign 64\n"
    ".endr\n"
    ".cfi_startproc\n"
    "next_function:\n"
    "dec %rdi\n"
    "jz 1f\n"
    "movabs $6364136223846793005, %rax\n"
    "imul %rax, %rdx\n"
    "add $12345, %rdx\n"
    "mov %rdx, %rax\n"
    "shr $33, %rax\n"
    "and %rcx, %rax\n"
    "shl $6, %rax\n"
    "lea functions(%rip), %r8\n"
    "add %r8, %rax\n"
    "jmp *%rax\n"
    "1: mov %rdx, %rdi\n"
    "jmp *%rsi\n"
    ".cfi_endproc\n");
/* clang-format on */

typedef uint64_t work(uint64_t random);
extern uint64_t next_function(uint64_t levels, work *at_bottom, uint64_t random, uint64_t mask);

static unsigned char *arena;
static int zero;

static uint64_t compute(uint64_t random)
{
	for (int i = 0; i < 10000; i++)
		random = (random ^ random >> 31) * 0x9e3779b97f4a7c15ULL;
	return random;
}

static uint64_t call_kernel(uint64_t random)
{
	return random + (uint64_t)pread(zero, arena, 65536, 0);
}

/* The caches then hold this instead of what the last walk has read. */
static uint64_t read_around(uint64_t random)
{
	for (int i = 0; i < 5000; i++)
		random = random * 6364136223846793005ULL + 1 + arena[(random >> 20) % ARENA];
	return random;
}

static work *work_named(const char *name)
{
	if (!strcmp(name, "user"))
		return compute;
	if (!strcmp(name, "kernel"))
		return call_kernel;
	return strcmp(name, "cold") ? NULL : read_around;
}

int main(int argc, char **argv)
{
	work *at_bottom = argc == 4 ? work_named(argv[3]) : NULL;
	uint64_t depth = argc == 4 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t functions = argc == 4 ? strtoull(argv[2], NULL, 10) : 0, value = 1;

	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	arena = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!at_bottom || depth <= OUTSIDE || !functions || functions > FUNCTIONS ||
	    functions & (functions - 1) || zero < 0 || arena == MAP_FAILED)
		return 2;
	memset(arena, 1, ARENA);
	for (;;)
		value = next_function(depth - OUTSIDE + 1, at_bottom, value, functions - 1);
}
