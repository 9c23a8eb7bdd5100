// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks made to mislead walkers: registers and memory are set to values that no compiler produces,
 * then the thread loops until a timer ends it. "blind" code has no CFI, so that walkers follow
 * frame pointers; the CFI of "told" code places the return address on top of the stack; the CFI of
 * the other functions is invalid.
 *
 *   crafted SECONDS-OF-CPU ATTACK
 *   crafted list
 */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>

#include "shape.h"

#define PAGE 4096
#define WORDS (1 << 17) /* size of the memory: more frames than any walker follows */
#define KERNEL 0xffffffff81000000ULL
#define NOWHERE 0x8000000000000000ULL

/* Define a function NAME(sp, fp) that sets both registers and loops. cfi: its description. */
#define SPINNER(name, cfi) \
	void name(uint64_t sp, uint64_t fp); \
	asm(".text\n\t.globl " #name "\n\t.type " #name ", @function\n" #name ":\n\t" cfi \
	    "mov %rdi, %rsp\n\tmov %rsi, %rbp\n1:\tpause\n\tjmp 1b\n\t" \
	    ".fill 32, 1, 0x90\n\t.size " #name ", . - " #name "\n")
#define SAYS(what) ".cfi_startproc\n\t" what "\n\t"
#define SPINNER_THAT_SAYS(name, what) \
	SPINNER(name, SAYS(what)); \
	asm(".text\n\t.cfi_endproc\n")

SPINNER(blind, "");
SPINNER_THAT_SAYS(told, "");
SPINNER_THAT_SAYS(stays, ".cfi_def_cfa rsp, 0");
SPINNER_THAT_SAYS(sinks, ".cfi_def_cfa rsp, -64");
SPINNER_THAT_SAYS(leaps, ".cfi_def_cfa rsp, 0x7ffffff0");
SPINNER_THAT_SAYS(by_rbx, ".cfi_def_cfa rbx, 8");
SPINNER_THAT_SAYS(is_root, ".cfi_undefined rip");
/* DW_CFA_def_cfa_expression: lit0, deref; then one that loops for ever: skip -3 */
SPINNER_THAT_SAYS(derefs, ".cfi_escape 0x0f, 0x02, 0x30, 0x06");
SPINNER_THAT_SAYS(circles, ".cfi_escape 0x0f, 0x03, 0x2f, 0xfd, 0xff");
SPINNER_THAT_SAYS(no_opcode, ".cfi_escape 0x3f, 0x3f, 0x3f");
SPINNER_THAT_SAYS(signals, ".cfi_signal_frame\n\t.cfi_def_cfa rsp, 0");

typedef void (*spinner)(uint64_t sp, uint64_t fp);

static uint64_t *memory; /* WORDS, then an inaccessible page */

#define AT(word) ((uint64_t)&memory[word])
#define MIDDLE (WORDS / 2)
#define LAST AT(WORDS)

static void fill(uint64_t value)
{
	for (int i = 0; i < WORDS; i++)
		memory[i] = value;
}

/* Fill the memory with a chain of frame pointers that lead upwards without end. */
static void fill_chain(spinner code)
{
	for (int i = 0; i + 4 < WORDS; i += 2) {
		memory[i] = AT(i + 2);
		memory[i + 1] = (uint64_t)code + 8;
	}
}

/* Make one frame with a frame pointer in the middle of the memory. */
static void frame(uint64_t next, uint64_t pc)
{
	memory[MIDDLE] = next;
	memory[MIDDLE + 1] = pc;
}

static spinner generated(void)
{
	char *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	/* mov %rdi,%rsp; mov %rsi,%rbp; 1: pause; jmp 1b */
	memcpy(code, "\x48\x89\xfc\x48\x89\xf5\xf3\x90\xeb\xfc", 10);
	return (spinner)(uintptr_t)code;
}

/* X(ATTACK, preparation, looping function, sp, fp) */
#define ATTACKS(X) \
	X(fp_itself, frame(AT(MIDDLE), (uint64_t)blind + 8), blind, AT(MIDDLE - 9), AT(MIDDLE)) \
	X(fp_back, frame(AT(MIDDLE - 8), (uint64_t)blind + 8), blind, AT(MIDDLE - 9), AT(MIDDLE)) \
	X(fp_endless, fill_chain(blind), blind, AT(0), AT(0)) \
	X(fp_misaligned, fill(AT(MIDDLE)), blind, AT(0), AT(9) + 3) \
	X(fp_kernel, (void)0, blind, AT(0), KERNEL) \
	X(fp_nowhere, (void)0, blind, AT(0), NOWHERE) \
	X(fp_low, (void)0, blind, 8, 16) \
	X(fp_untouchable, (void)0, blind, AT(WORDS - 8), LAST) \
	X(fp_at_the_end, (void)0, blind, AT(WORDS - 8), LAST - 8) \
	X(fp_wraps, (void)0, blind, AT(0), -16ULL) \
	X(sp_kernel, (void)0, blind, KERNEL, KERNEL + 16) \
	X(sp_nowhere, (void)0, blind, NOWHERE, AT(0)) \
	X(ra_kernel, frame(AT(MIDDLE + 8), KERNEL), blind, AT(0), AT(MIDDLE)) \
	X(ra_data, frame(AT(MIDDLE + 8), AT(7)), blind, AT(0), AT(MIDDLE)) \
	X(ra_all_ones, frame(AT(MIDDLE + 8), -1ULL), blind, AT(0), AT(MIDDLE)) \
	X(ra_tagged, frame(AT(MIDDLE + 8), 1ULL << 56 | (uint64_t)blind), blind, AT(0), \
	  AT(MIDDLE)) \
	X(told_endless, fill((uint64_t)told + 8), told, AT(0), 0) \
	X(told_kernel, (void)0, told, KERNEL, KERNEL) \
	X(told_nowhere, (void)0, told, NOWHERE, NOWHERE) \
	X(told_low, (void)0, told, 8, 0) \
	X(told_misaligned, fill((uint64_t)told + 8), told, AT(0) + 3, 0) \
	X(told_at_the_end, (void)0, told, LAST, 0) \
	X(told_to_the_end, fill((uint64_t)told + 8), told, LAST - 80, 0) \
	X(told_wraps, (void)0, told, -8ULL, 0) \
	X(told_ra_kernel, fill(KERNEL), told, AT(0), 0) \
	X(stays, fill((uint64_t)stays + 8), stays, AT(MIDDLE), 0) \
	X(sinks, fill((uint64_t)sinks + 8), sinks, AT(MIDDLE), 0) \
	X(leaps, fill((uint64_t)leaps + 8), leaps, AT(0), 0) \
	X(by_rbx, fill((uint64_t)by_rbx + 8), by_rbx, AT(0), 0) \
	X(is_root, fill((uint64_t)is_root + 8), is_root, AT(0), 0) \
	X(derefs, fill((uint64_t)derefs + 8), derefs, AT(0), 0) \
	X(circles, fill((uint64_t)circles + 8), circles, AT(0), 0) \
	X(no_opcode, fill((uint64_t)no_opcode + 8), no_opcode, AT(0), 0) \
	X(signals, fill((uint64_t)signals + 8), signals, AT(0), 0) \
	X(jit_itself, frame(AT(MIDDLE), (uint64_t)blind + 8), generated(), AT(MIDDLE - 9), \
	  AT(MIDDLE)) \
	X(jit_kernel, (void)0, generated(), KERNEL, KERNEL)

#define NAME(attack, before, code, sp, fp) #attack,
static const char *const names[] = {ATTACKS(NAME)};

#define CASE(attack, before, code, sp, fp) \
	if (!strcmp(name, #attack)) { \
		before; \
		(code)(sp, fp); \
	}

static void attack(const char *name)
{
	ATTACKS(CASE)
}

static int list(void)
{
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++)
		puts(names[i]);
	return 0;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 0;
	struct itimerval end = {
		.it_value = {(time_t)seconds, (suseconds_t)(1e6 * (seconds - (time_t)seconds))},
	};

	if (argc == 2 && !strcmp(argv[1], "list"))
		return list();
	memory = mmap(NULL, WORDS * sizeof(*memory) + PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (argc < 3 || memory == MAP_FAILED ||
	    mprotect((char *)memory + WORDS * sizeof(*memory), PAGE, PROT_NONE))
		return 2;
	prctl(PR_SET_NAME, argv[2]);
	signal(SIGPROF, SIG_DFL); /* without a handler, which would need the stack */
	setitimer(ITIMER_PROF, &end, NULL);
	attack(argv[2]);
	return 2;
}
