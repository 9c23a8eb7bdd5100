// SPDX-License-Identifier: Apache-2.0
/*
 * ask_sources MEMORY FILE...: let a worker for sources, limited to MEMORY bytes, open each file,
 * and request the places at the file offsets given on stdin in hexadecimal. Print one line per
 * file, "STATUS NEEDED ASKED FOUND FILE", where STATUS is an errno value, and at the end "restarts
 * N" and "resident N", the largest resident size of a worker in KiB.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/vector.h"
#include "symbolizers/client.h"

struct answers {
	struct source_facts facts;
	bool looked;
	uint64_t found;
};

static void on_sources(void *context, uint64_t object, const struct source_facts *f)
{
	struct answers *a = context;

	(void)object;
	a->facts = *f;
	a->looked = true;
}

static void on_places(void *context, uint64_t object, uint64_t address,
		      const struct source_place *p, unsigned int count)
{
	struct answers *a = context;

	(void)object;
	(void)address;
	(void)p;
	a->found += count > 0;
}

static void poll_once(struct symbolizer *s)
{
	struct pollfd p = {.fd = symbolizer_fd(s), .events = POLLIN};
	struct error err = {""};
	struct timespec now;

	poll(&p, 1, 100);
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (symbolizer_poll(s, (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec, &err))
		fprintf(stderr, "%s\n", err.text);
}

static void ask(struct symbolizer *s, struct answers *a, uint64_t object, const char *path,
		const uint64_t *offsets, size_t count)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t asked = 0;

	*a = (struct answers){.looked = false};
	if (symbolizer_add(s, object, OBJECT_ELF, fd) || symbolizer_request_sources(s, object))
		exit(2);
	while (!a->looked)
		poll_once(s);
	for (; !a->facts.status && asked < count; asked++)
		if (symbolizer_lookup(s, object, offsets[asked]))
			exit(2);
	symbolizer_flush(s);
	while (symbolizer_pending(s))
		poll_once(s);
	printf("%d %" PRIu64 " %zu %" PRIu64 " %s\n", -a->facts.status, a->facts.needed, asked,
	       a->found, path);
}

int main(int argc, char **argv)
{
	struct answers answers;
	struct rusage workers;
	const struct symbolizer_events events = {
		.sources = on_sources, .places = on_places, .context = &answers};
	VECTOR(uint64_t) offsets = {0};
	struct symbolizer *s = NULL;
	struct error err = {""};
	uint64_t offset;

	while (scanf("%" SCNx64, &offset) == 1)
		if (vector_push(&offsets, offset) < 0)
			return 2;
	if (argc < 3 || symbolizer_new_sources(&s, &events, strtoull(argv[1], NULL, 10), &err))
		return 2;
	for (int i = 2; i < argc; i++)
		ask(s, &answers, (uint64_t)i, argv[i], offsets.items, offsets.count);
	printf("restarts %" PRIu64 "\n", symbolizer_stats(s)->restarts);
	symbolizer_free(s);
	vector_free(&offsets);
	getrusage(RUSAGE_CHILDREN, &workers);
	printf("resident %ld\n", workers.ru_maxrss);
	return 0;
}
