// SPDX-License-Identifier: Apache-2.0
/*
 * A 32-bit program without C library and headers, which needs only the kernel. It computes in
 * narrow_leaf(), called by narrow_outer(), alternating with reads from /dev/zero by the system call
 * of the vDSO, as C libraries make it, until it has used the given CPU time.
 *
 *   narrow SECONDS-OF-CPU
 */
typedef unsigned int u32;
typedef unsigned long long u64;

#define SYS_EXIT 1
#define SYS_READ 3
#define SYS_OPEN 5
#define SYS_CLOCK_GETTIME 265
#define CLOCK_THREAD 3
#define AT_SYSINFO 32
#define NSEC_PER_SEC 1000000000ULL
#define NOINLINE __attribute__((noinline, noclone))

static char zeros[1 << 16];
static u32 system_call_entry;
static volatile u32 sink;

static long system_call(long number, long a, const void *b, long c)
{
	long result;

	__asm__ volatile("call *%1"
			 : "=a"(result)
			 : "m"(system_call_entry), "0"(number), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return result;
}

static u64 thread_ns(void)
{
	int time[2];

	system_call(SYS_CLOCK_GETTIME, CLOCK_THREAD, time, 0);
	return (u32)time[0] * NSEC_PER_SEC + (u32)time[1];
}

NOINLINE void narrow_leaf(u32 rounds);
NOINLINE void narrow_leaf(u32 rounds)
{
	for (u32 i = 0; i < rounds; i++)
		sink += i;
}

NOINLINE void narrow_outer(int zero);
NOINLINE void narrow_outer(int zero)
{
	narrow_leaf(1000000);
	for (int i = 0; i < 100; i++)
		system_call(SYS_READ, zero, zeros, sizeof(zeros));
}

/* Parse a number of seconds into hundredths of a second. */
static u32 number(const char *text)
{
	u32 whole = 0, scale = 100;

	for (; *text >= '0' && *text <= '9'; text++)
		whole = whole * 10 + (u32)(*text - '0');
	whole *= scale;
	for (text += *text == '.'; *text >= '0' && *text <= '9' && scale > 1; text++) {
		scale /= 10;
		whole += (u32)(*text - '0') * scale;
	}
	return whole;
}

/* Run the program. stack: by the kernel: argc, argv, 0, environment, 0, auxiliary vector. */
__attribute__((used)) static void run(u32 *stack)
{
	u32 *p = stack + 1 + stack[0] + 1;
	u64 end;
	int zero;

	while (*p++)
		;
	for (; *p; p += 2) {
		if (*p == AT_SYSINFO)
			system_call_entry = p[1];
	}
	end = thread_ns() + number((const char *)stack[2]) * (NSEC_PER_SEC / 100);
	zero = (int)system_call(SYS_OPEN, (long)"/dev/zero", (const void *)0, 0);
	while (thread_ns() < end)
		narrow_outer(zero);
	system_call(SYS_EXIT, 0, (const void *)0, 0);
}

__asm__(".globl _start\n_start:\n\tmov %esp, %eax\n\tand $-16, %esp\n\tsub $12, %esp\n\t"
	"push %eax\n\tcall run\n");
