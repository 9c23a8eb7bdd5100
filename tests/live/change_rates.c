// SPDX-License-Identifier: Apache-2.0
/*
 * Records this machine through the library, and changes the rate of the clock again and again, in
 * an order and at times by chance. Prints "begun" when it samples, and at its end what it did, as
 * JSON. It ends after so many changes, when its input has ended.
 *
 *   change_rates FILE CHANGES RATE RATE...
 *
 * The rates are in Hz, from high to low. Between two changes are 10 to 20 ms.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "capture/capture.h"
#include "trace/trace.h"

#define LEAST_MS 10
#define MOST_MS 20
#define MS 1000000L

struct change_run {
	unsigned long changes; /* so far, and how many there are to be */
	unsigned long wanted;
	unsigned int rates, seed;
	int timer; /* readable when the next change is due */
	uint64_t since, elapsed[CAPTURE_LOWER_RATES_MAX + 1]; /* ns at each rate */
};

static void set_change_timer(struct change_run *c)
{
	const long ms = LEAST_MS + rand_r(&c->seed) % (MOST_MS - LEAST_MS + 1);
	const struct itimerspec t = {.it_value.tv_nsec = ms * MS};

	timerfd_settime(c->timer, 0, &t, NULL);
}

static unsigned int choose_other_rate(void *context, const struct capture_progress *p)
{
	struct change_run *c = context;
	uint64_t expired;

	if (read(c->timer, &expired, sizeof(expired)) != sizeof(expired))
		return p->rate;
	set_change_timer(c);
	c->elapsed[p->rate] += p->elapsed - c->since;
	c->since = p->elapsed;
	if (!c->changes++) {
		printf("begun\n");
		fflush(stdout);
	}
	return (p->rate + 1 + rand_r(&c->seed) % (c->rates - 1)) % c->rates;
}

static bool more_changes(void *context, const struct capture_progress *p)
{
	struct change_run *c = context;
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	if (p->finishing || c->changes < c->wanted)
		return true;
	return poll(&input, 1, 0) == 0;
}

static int record_changes(struct change_run *c, struct capture_options *o, const char *path,
			  struct error *err)
{
	struct source *source = NULL;
	struct sink *sink = NULL;
	int ret = capture_source(&source, o, err);

	if (!ret)
		ret = trace_writer(&sink, path, err);
	set_change_timer(c);
	if (!ret)
		ret = pipe_join(source, sink, err);
	source_free(source);
	sink_free(sink);
	return ret;
}

int main(int argc, char **argv)
{
	struct change_run c = {.seed = (unsigned int)getpid()};
	struct capture_options o = {
		.sample = true,
		.fds.release = -1,
		.wait_names = CAPTURE_WAIT_NAMES,
		.keep_going = more_changes,
		.when.rates.choose = choose_other_rate,
		.context = &c,
	};
	struct error err = {""};

	if (argc < 5 || argc > 4 + CAPTURE_LOWER_RATES_MAX)
		return 2;
	c.wanted = strtoul(argv[2], NULL, 10);
	c.rates = (unsigned int)argc - 3;
	o.frequency = strtoull(argv[3], NULL, 10);
	o.when.rates.count = c.rates - 1;
	for (int i = 4; i < argc; i++)
		o.when.rates.lower[i - 4] = strtoull(argv[i], NULL, 10);
	c.timer = o.fds.wake = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (c.timer < 0 || record_changes(&c, &o, argv[1], &err) < 0) {
		fprintf(stderr, "change_rates: %s\n", err.text);
		return 1;
	}
	printf("{\"changes\": %lu, \"elapsed\": [", c.changes);
	for (unsigned int i = 0; i < c.rates; i++)
		printf("%s%llu", i ? ", " : "", (unsigned long long)c.elapsed[i]);
	printf("]}\n");
	return 0;
}
