// SPDX-License-Identifier: Apache-2.0
/*
 * Stacks through signal handlers: a timer interrupts a function anywhere, including its prologue
 * and libc's system calls; with "alt" the handler runs on an alternate stack.
 *
 *   signals SECONDS-OF-CPU [alt]
 */
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "shape.h"

LEAF(signal_leaf)

OWN void signal_handler(int number);
OWN void interrupted_inner(int turns);
OWN void interrupted_outer(uint64_t ns);

OWN void signal_handler(int number)
{
	signal_leaf(MS / 2);
	shape_after += number;
}

OWN void interrupted_inner(int turns)
{
	for (volatile int i = 0; i < turns; i++)
		;
	shape_after++;
}

OWN void interrupted_outer(uint64_t ns)
{
	for (uint64_t end = thread_ns() + ns; thread_ns() < end;)
		for (int i = 0; i < 100; i++)
			interrupted_inner(20);
	shape_after++;
}

int main(int argc, char **argv)
{
	const struct itimerval every = {.it_interval.tv_usec = 1500, .it_value.tv_usec = 1500};
	const struct itimerval never = {.it_value.tv_usec = 0};
	struct sigaction action = {.sa_handler = signal_handler, .sa_flags = SA_RESTART};
	stack_t stack = {.ss_size = 1 << 16, .ss_sp = malloc(1 << 16)};

	if (argc > 2 && !strcmp(argv[2], "alt")) {
		sigaltstack(&stack, NULL);
		action.sa_flags |= SA_ONSTACK;
	}
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every, NULL);
	interrupted_outer(shape_ns(argc, argv));
	setitimer(ITIMER_REAL, &never, NULL);
	return 0;
}
