// SPDX-License-Identifier: Apache-2.0
/*
 * Threads that wake each other in a known way:
 *
 *   wakers spin SECONDS      "spinner" burns beside "sleeper", which a timer wakes each ms
 *   wakers tcp SECONDS       "ping" and "pong" send one another a byte over loopback TCP
 *   wakers pipe SECONDS      the same through pipes
 *   wakers sleep SECONDS     "sleeper" alone sleeps once, for all of the time
 *
 * Prints the begin and end (CLOCK_BOOTTIME), and of each thread its id, the number of its rounds,
 * and its voluntary context switches by the kernel's count.
 */
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burn.h"

struct side {
	const char *name;
	void (*work)(struct side *s);
	int in, out; /* descriptors */
	bool first; /* this side sends first */
	pid_t tid;
	uint64_t rounds;
	long switches; /* voluntary, of its whole life */
};

static uint64_t finish; /* boot_ns() */
static uint64_t length; /* ns, of the whole run */

static void spin(struct side *s)
{
	do {
		BURN_HERE(MS);
		s->rounds++;
	} while (boot_ns() < finish);
}

static void sleep_often(struct side *s)
{
	struct timespec rest = {0, MS};

	do {
		nanosleep(&rest, NULL);
		s->rounds++;
	} while (boot_ns() < finish);
}

static void sleep_once(struct side *s)
{
	struct timespec rest = {(time_t)(length / 1000000000), (long)(length % 1000000000)};

	nanosleep(&rest, NULL);
	s->rounds++;
}

/*
 * Send a byte back and forth. The byte says whether another round follows: the side that sends
 * first requests the end.
 */
static void bounce(struct side *s)
{
	char c = 'x';

	if (s->first && write(s->out, &c, 1) != 1)
		exit(1);
	while (c == 'x' && read(s->in, &c, 1) == 1 && c == 'x') {
		s->rounds++;
		if (s->first && boot_ns() >= finish)
			c = '.';
		if (write(s->out, &c, 1) != 1)
			exit(1);
	}
}

static void connect_pair(int ends[2])
{
	struct sockaddr_in here = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(here);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	ends[1] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&here, size) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&here, &size) ||
	    connect(ends[1], (struct sockaddr *)&here, size))
		exit(1);
	ends[0] = accept(listener, NULL, NULL);
	for (int i = 0; i < 2; i++)
		setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	close(listener);
}

static void *run(void *argument)
{
	struct side *s = argument;
	struct rusage usage;

	s->tid = (pid_t)syscall(SYS_gettid);
	prctl(PR_SET_NAME, s->name);
	s->work(s);
	getrusage(RUSAGE_THREAD, &usage);
	s->switches = usage.ru_nvcsw;
	return NULL;
}

static void print(const struct side *sides, unsigned int count, uint64_t begin)
{
	printf("{\"begin\": %lu, \"end\": %lu, \"threads\": [", begin, boot_ns());
	for (unsigned int i = 0; i < count; i++)
		printf("%s{\"tid\": %d, \"rounds\": %lu, \"switches\": %ld}", i ? ", " : "",
		       sides[i].tid, sides[i].rounds, sides[i].switches);
	printf("]}\n");
}

static unsigned int prepare(const char *mode, struct side sides[2])
{
	int a[2], b[2];

	sides[0] = (struct side){.name = "sleeper", .work = sleep_often};
	sides[1] = (struct side){.name = "spinner", .work = spin};
	if (!strcmp(mode, "spin"))
		return 2;
	sides[0].work = sleep_once;
	if (!strcmp(mode, "sleep"))
		return 1;
	sides[0] = (struct side){.name = "ping", .work = bounce, .first = true};
	sides[1] = (struct side){.name = "pong", .work = bounce};
	if (!strcmp(mode, "tcp")) {
		connect_pair(a);
		sides[0].in = sides[0].out = a[0];
		sides[1].in = sides[1].out = a[1];
		return 2;
	}
	if (strcmp(mode, "pipe") || pipe(a) || pipe(b))
		return 0;
	sides[0].in = b[0], sides[0].out = a[1];
	sides[1].in = a[0], sides[1].out = b[1];
	return 2;
}

int main(int argc, char **argv)
{
	struct side sides[2];
	pthread_t ids[2];
	unsigned int count = argc > 2 ? prepare(argv[1], sides) : 0;
	uint64_t begin = boot_ns();

	if (!count)
		return 2;
	length = (uint64_t)(atof(argv[2]) * 1e9);
	finish = begin + length;
	for (unsigned int i = 0; i < count; i++)
		if (pthread_create(&ids[i], NULL, run, &sides[i]))
			return 1;
	for (unsigned int i = 0; i < count; i++)
		pthread_join(ids[i], NULL);
	print(sides, count, begin);
	return 0;
}
