// SPDX-License-Identifier: Apache-2.0
/*
 * Burns MS milliseconds of CPU time in code whose frames depend on memory below the stack pointer:
 * a register that was popped and is still there by the CFI, or the caller's stack pointer, kept
 * there as libcrypto's SHA-512 does.
 *
 *   redzone MS
 */
#include <stdlib.h>

#include "burn.h"

#ifdef __x86_64__
void popped(void);
void kept_below(void);

__asm__(".text\n"
	".type popped, @function\n"
	"popped:\n"
	".cfi_startproc\n"
	"	push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"	pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"	mov $100000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	ret\n"
	".cfi_endproc\n"
	".size popped, . - popped\n"
	".type kept_below, @function\n"
	"kept_below:\n"
	".cfi_startproc\n"
	"	mov %rsp, %rax\n"
	".cfi_def_cfa %rax, 8\n"
	"	and $-64, %rsp\n"
	"	mov %rax, -8(%rsp)\n"
	/* *(rsp - 8) + 8 */
	".cfi_escape 0x0f, 5, 0x77, 0x78, 0x06, 0x23, 8\n"
	"	mov $100000, %ecx\n"
	"1:	dec %ecx\n"
	"	jnz 1b\n"
	"	mov -8(%rsp), %rsp\n"
	".cfi_def_cfa %rsp, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size kept_below, . - kept_below\n");
#else /* arm64 has no red zone */
static void popped(void)
{
	for (volatile int i = 0; i < 100000; i++)
		;
}

#define kept_below popped
#endif

int main(int argc, char **argv)
{
	uint64_t end = (argc > 1 ? (uint64_t)atoi(argv[1]) : 10) * MS;

	while (thread_ns() < end) {
		popped();
		kept_below();
	}
	return 0;
}
