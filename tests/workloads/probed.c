// SPDX-License-Identifier: Apache-2.0
/*
 * A program with USDT notes of every form of argument, and functions to be probed. It runs COUNT
 * rounds, and prints how often each was passed:
 *
 *   app:step        instant: the round as a constant, register, memory, symbol(%rip)
 *   app:frame       instant: five arguments that lie beside each other in memory
 *   app:work__start a counter of its own: name and its length
 *   app:work__done
 *   descend()       recursive, 3 deep
 *   leave()         ends by longjmp in every tenth round, which has then no return
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ADDRESSES(label, counter) \
	".8byte " label ", _.stapsdt.base, " counter "\n"
#define NOTE(counter, provider, name, arguments) \
	"990: nop\n" \
	".pushsection .note.stapsdt, \"?\", \"note\"\n" \
	".balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n" \
	"993: " ADDRESSES("990b", counter) \
	".asciz \"" provider "\"\n.asciz \"" name "\"\n.asciz \"" arguments "\"\n" \
	"994: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n" \
	".popsection\n.endif\n"

unsigned short work_counter __attribute__((section(".probes"), used));
int shared_round __attribute__((used));
static jmp_buf back;

static void step(int round)
{
	long numbers[4] = {0, 0, -round, 0};

	shared_round = round;
#if defined(__x86_64__)
	__asm__ volatile(NOTE("0", "app", "step",
			      "4@$77 -4@%[r] 8@%c[two](%[n],%[i],8) -4@shared_round(%%rip) 1@%b[r]")
			 :
			 : [r] "r"(round), [n] "r"(numbers), [i] "r"(1L), [two] "i"(8),
			   "m"(numbers));
#else
	__asm__ volatile(NOTE("0", "app", "step", "4@77 -4@%w[r] 8@[%[n], 16] 4@0 1@%w[r]")
			 :
			 : [r] "r"(round), [n] "r"(numbers), "m"(numbers));
#endif
}

static void frame(int round)
{
	struct {
		long first;
		int second;
		unsigned char third;
		short fourth;
		long fifth;
	} f = {round, -round, (unsigned char)round, (short)-round, -round};

#if defined(__x86_64__)
	__asm__ volatile(
		NOTE("0", "app", "frame", "8@(%[f]) -4@8(%[f]) 1@12(%[f]) -2@14(%[f]) -8@16(%[f])")
		:
		: [f] "r"(&f), "m"(f));
#else
	__asm__ volatile(NOTE("0", "app", "frame",
			      "8@[%[f]] -4@[%[f], 8] 1@[%[f], 12] -2@[%[f], 14] -8@[%[f], 16]")
			 :
			 : [f] "r"(&f), "m"(f));
#endif
}

static void work(const char *name)
{
	long size = (long)strlen(name);

	if (work_counter == 0)
		return; /* nobody looks */
	__asm__ volatile(NOTE("work_counter", "app", "work__start", "8@%[t] 8@%[s]")
			 :
			 : [t] "r"(name), [s] "r"(size));
	__asm__ volatile(NOTE("work_counter", "app", "work__done", ""));
}

__attribute__((noinline)) int descend(int depth)
{
	volatile int sum = depth;

	if (depth)
		sum += descend(depth - 1);
	return sum;
}

__attribute__((noinline)) int leave(int round)
{
	volatile int result = round;

	if (round % 10 == 9)
		longjmp(back, 1);
	return result + 1;
}

/* A tail call and two returns: all leave the function. */
__attribute__((noinline)) int choose(int round)
{
	if (round % 3 == 0)
		return descend(0);
	return round % 3 == 1 ? 5 : round;
}

int main(int argc, char **argv)
{
	static int count, left; /* static: longjmp() may undo changes of locals */
	struct timespec pause = {0, 1000000L * (argc > 2 ? atoi(argv[2]) : 0)};

	count = argc > 1 ? atoi(argv[1]) : 100;
	nanosleep(&pause, NULL);
	for (volatile int i = 0; i < count; i++) {
		step(i);
		frame(i);
		work(i % 2 ? "an odd name" : "a name");
		(void)descend(2);
		(void)choose(i);
		if (setjmp(back) == 0)
			(void)leave(i);
		else
			left++;
	}
	printf("rounds %d, left by longjmp %d\n", count, left);
	return 0;
}
