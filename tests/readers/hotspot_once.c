// SPDX-License-Identifier: Apache-2.0
/*
 * Describe the code that a live JVM has made once: print how much there is and what that costs, and
 * the interpreter's rows.
 *
 *   hotspot_once PID
 */
#include <time.h>

#include "../unit/hotspot_process.h"
#include "symbolizers/hotspot_once.h"
#include "symbolizers/unwind/table.h"

static double milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int print_once(struct hotspot_subject *s)
{
	const struct hotspot_memory memory = {subject_read, s};
	struct hotspot_once *o = calloc(1, sizeof(*o));
	struct error err = {.text = ""};
	struct hotspot_facts facts;
	int ret = o ? hotspot_facts_read(&facts, s->tables, &memory, &err) : -ENOMEM;
	double before = milliseconds();

	s->reads = 0;
	if (!ret)
		ret = hotspot_once_read(o, s->tables, &facts, &memory, &err);
	if (ret) {
		fprintf(stderr, "%s (%s)\n", err.text, strerror(-ret));
		free(o);
		return ret;
	}
	printf("%s\t%u codelets\t%u rows\t%u blobs\t%zu bytes of table\t%u reads\t%.1f ms\n",
	       facts.version, o->codelets, o->row_count, o->blobs, o->table_bytes, s->reads,
	       milliseconds() - before);
	for (uint32_t n = 0; n < o->row_count; n++) {
		const struct hotspot_row *r = &o->rows[n];

		printf("%#x\t%u\t%u\t%u\t%u\n", r->offset, r->state, r->return_register,
		       r->sender_register, r->method_register);
	}
	hotspot_once_free(o);
	free(o);
	return 0;
}

int main(int argc, char **argv)
{
	struct hotspot_subject s;
	int ret;

	if (argc != 2 || atoi(argv[1]) <= 0) {
		fprintf(stderr, "usage: hotspot_once PID\n");
		return 2;
	}
	ret = subject_begin(&s, atoi(argv[1]));
	if (!ret)
		ret = print_once(&s);
	subject_end(&s);
	return ret != 0;
}
