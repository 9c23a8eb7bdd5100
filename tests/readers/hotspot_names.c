// SPDX-License-Identifier: Apache-2.0
/*
 * Print the names of all code of a JVM's code cache, as skein's own reader finds them, for tests
 * and for debugging. The process should be stopped (SIGSTOP).
 *
 *   hotspot_names PID		print each blob: address, compile id, and its name; and each
 *				compiled method as if it were interpreted
 *   hotspot_names --pcs PID	also print each described address of each method, with the methods
 *				that are inlined there, innermost first
 *   hotspot_names --time PID	print only how much CPU time methods took
 *   hotspot_names --churn PID SECONDS	read all of it again and again while the process runs, also
 *				what was there up to 100 ms before, and print each name that has
 *				changed
 */
#include <time.h>

#include "../unit/hotspot_process.h"
#include "symbolizers/hotspot_names_private.h"

enum mode { MODE_CODES, MODE_PCS, MODE_TIME, MODE_CHURN };

struct reading {
	struct hotspot_subject *subject;
	struct hotspot_memory memory; /* of subject */
	struct hotspot_facts facts;
	struct hotspot_names *names;
	struct hotspot_reader reader; /* of nmethods, for their addresses */
	uint64_t length, length_bytes; /* of HeapBlock::Header._length */
	enum mode mode;
	unsigned long found, stale, failed, reads;
	uint64_t nanoseconds;
};

static struct hotspot_frame frames[HOTSPOT_FRAMES_MAX];

/* Frames of earlier rounds of --churn, each with the name that it had. */
#define REMEMBERED_MAX 8192
#define REMEMBERED_TEXT 160
/* A recorder reads a name at most so long (ns) after the sample. */
#define REMEMBERED_TIME 100000000u

static struct remembered {
	struct hotspot_lookup q;
	uint64_t time; /* ns */
	char text[REMEMBERED_TEXT];
} remembered[REMEMBERED_MAX];
static unsigned int remembered_count;
static unsigned long checked; /* names that were there again */

static uint64_t clock_read(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t read_number(struct reading *g, uint64_t address, size_t bytes)
{
	uint64_t value = 0;

	return subject_read(g->subject, &value, bytes, address) ? 0 : value;
}

static int find_names(struct reading *g, uint32_t kind, uint64_t address, uint64_t place)
{
	const struct hotspot_lookup q = {kind, address, place};
	uint64_t start = clock_read(CLOCK_THREAD_CPUTIME_ID);
	unsigned int reads = g->subject->reads;
	int count = hotspot_names_find(g->names, &g->memory, &q, frames);

	g->nanoseconds += clock_read(CLOCK_THREAD_CPUTIME_ID) - start;
	g->reads += g->subject->reads - reads;
	g->found += count > 0;
	g->stale += count == -ESTALE || count == -EFAULT;
	g->failed += count < 0 && count != -ESTALE && count != -EFAULT;
	return count;
}

static void print_frames(int count)
{
	if (count < 0)
		printf("\t[%s]", strerror(-count));
	for (int i = 0; i < count; i++)
		printf("\t%s%s%s%s %s:%u@%d%s%s", frames[i].class_name,
		       *frames[i].class_name ? "." : "", frames[i].method, frames[i].signature,
		       frames[i].file, frames[i].line, frames[i].bci,
		       frames[i].inlined ? " inlined" : "", frames[i].inferred ? " inferred" : "");
	putchar('\n');
}

/* Remember a frame that was found; the oldest is forgotten. */
static void remember(uint32_t kind, uint64_t address, uint64_t place)
{
	struct remembered *r = &remembered[remembered_count++ % REMEMBERED_MAX];

	r->q = (struct hotspot_lookup){kind, address, place};
	r->time = clock_read(CLOCK_MONOTONIC);
	snprintf(r->text, sizeof(r->text), "%s.%s", frames[0].class_name, frames[0].method);
	puts(r->text);
}

/*
 * Look the Method of compiled code up as the frame of an interpreter. Its id is that of a living
 * Method only if the code is alive after the id was computed.
 */
static void print_method(struct reading *g, uint64_t code, uint32_t id)
{
	uint64_t address = read_number(g, code + g->facts.layout.nmethod_method, 8);
	struct hotspot_code c;
	struct hotspot_named_method m;
	int count;

	if (!address || hotspot_method_read(&m, &g->reader, address, NULL))
		return;
	if (hotspot_code_read(&c, &g->reader, code, id)) {
		hotspot_method_free(&m);
		return;
	}
	hotspot_code_free(&c);
	count = find_names(g, HOTSPOT_FRAME_INTERPRETED, address,
			   HOTSPOT_INTERPRETED_PLACE(m.id, 0));
	if (g->mode == MODE_CHURN && count > 0)
		remember(HOTSPOT_FRAME_INTERPRETED, address, HOTSPOT_INTERPRETED_PLACE(m.id, 0));
	if (g->mode != MODE_CHURN) {
		printf("method\t%#" PRIx64 "\t%u", address, m.id);
		print_frames(count);
		if (find_names(g, HOTSPOT_FRAME_INTERPRETED, address,
			       HOTSPOT_INTERPRETED_PLACE(m.id ^ 1, 0)) != -ESTALE)
			printf("# another id was accepted\n");
		g->stale--; /* that one was expected */
	}
	hotspot_method_free(&m);
}

static void print_pcs(struct reading *g, uint64_t address, uint32_t id)
{
	struct hotspot_code c;

	if (hotspot_code_read(&c, &g->reader, address, id))
		return;
	for (uint32_t i = 0; i < c.pc_count; i++) {
		if (!c.pcs[i].scope || c.pcs[i].pc < 0)
			continue;
		printf("pc\t%#" PRIx64 "\t%d", address, c.pcs[i].pc);
		print_frames(find_names(g, HOTSPOT_FRAME_COMPILED, address,
					HOTSPOT_COMPILED_PLACE(id, c.pcs[i].pc)));
	}
	hotspot_code_free(&c);
}

/* The place of a blob that is no method is 0. An offset of 1 MiB is behind every address. */
static void print_blob(struct reading *g, uint64_t address)
{
	uint64_t name = read_number(g, address + g->facts.layout.blob_name, 8);
	uint32_t id = (uint32_t)read_number(g, address + g->facts.layout.nmethod_compile_id, 4);
	char text[16] = "";
	bool method;
	int count;

	(void)subject_read(g->subject, text, sizeof(text) - 1, name);
	method = !strcmp(text, "nmethod") || !strncmp(text, "native nmethod", 14);
	if (!method && (g->mode == MODE_TIME || g->mode == MODE_CHURN))
		return;
	count = method ? find_names(g, HOTSPOT_FRAME_COMPILED, address,
				    HOTSPOT_COMPILED_PLACE(id, 64u << 20))
		       : find_names(g, HOTSPOT_FRAME_BLOB, address, 0);
	if (g->mode == MODE_TIME)
		return;
	if (g->mode == MODE_CHURN) {
		if (count > 0)
			remember(HOTSPOT_FRAME_COMPILED, address,
				 HOTSPOT_COMPILED_PLACE(id, 64u << 20));
		print_method(g, address, id);
		return;
	}
	if (method)
		printf("code\t%#" PRIx64 "\t%u", address, id);
	else
		printf("blob\t%#" PRIx64 "\t", address);
	print_frames(count);
	if (method)
		print_method(g, address, id);
	if (method && g->mode == MODE_PCS)
		print_pcs(g, address, id);
}

static void walk_heap(struct reading *g, const struct hotspot_range *range)
{
	const struct hotspot_layout *l = &g->facts.layout;
	uint64_t at = range->low, length;

	while (at < range->high) {
		length = read_number(g, at + g->length, g->length_bytes);
		if (!length || length > (range->high - at) >> range->shift)
			return;
		if (read_number(g, at + l->block_used, 1) == 1)
			print_blob(g, at + l->block_bytes);
		at += length << range->shift;
	}
}

static int begin_reading(struct reading *g)
{
	const struct hotspot_tables *t = g->subject->tables;
	struct error err = {.text = ""};
	int ret;

	g->memory = (struct hotspot_memory){subject_read, g->subject};
	g->reader.memory = &g->memory;
	ret = hotspot_facts_read(&g->facts, t, &g->memory, &err);

	if (!ret)
		ret = hotspot_names_new(&g->names, t, &err);
	if (!ret)
		ret = hotspot_nmethod_fill(&g->reader.nmethod, t, &err);
	if (!ret)
		ret = hotspot_method_fill(&g->reader.method, t, &err);
	if (!ret)
		ret = hotspot_field(t, "HeapBlock::Header", "_length", &g->length);
	g->length_bytes = hotspot_field_bytes(t, "HeapBlock::Header", "_length");
	if (ret)
		fprintf(stderr, "%s (%s)\n", err.text, strerror(-ret));
	return ret;
}

static void read_all(struct reading *g)
{
	for (uint32_t i = 0; i < g->facts.range_count; i++)
		walk_heap(g, &g->facts.ranges[i]);
}

/* Look up what was found lately, with a reader that has kept nothing. */
static int check_remembered(struct reading *g)
{
	unsigned int count = remembered_count < REMEMBERED_MAX ? remembered_count : REMEMBERED_MAX;
	struct error err;
	char text[REMEMBERED_TEXT];

	hotspot_names_free(g->names);
	g->names = NULL;
	if (hotspot_names_new(&g->names, g->subject->tables, &err))
		return -EIO;
	for (unsigned int i = 0; i < count; i++) {
		const struct remembered *r = &remembered[i];

		if (clock_read(CLOCK_MONOTONIC) - r->time > REMEMBERED_TIME ||
		    find_names(g, r->q.kind, r->q.address, r->q.place) <= 0)
			continue;
		checked++;
		snprintf(text, sizeof(text), "%s.%s", frames[0].class_name, frames[0].method);
		if (strcmp(text, r->text))
			printf("# wrong %s: %s instead of %s\n",
			       r->q.kind == HOTSPOT_FRAME_COMPILED ? "compiled" : "interpreted",
			       text, r->text);
	}
	return 0;
}

static int read_process_code(struct reading *g, const char *seconds)
{
	uint64_t end = clock_read(CLOCK_MONOTONIC) + strtoull(seconds, NULL, 10) * 1000000000u;
	int ret = begin_reading(g);

	if (ret)
		return ret;
	do
		read_all(g);
	while (g->mode == MODE_CHURN && clock_read(CLOCK_MONOTONIC) < end && !check_remembered(g));
	printf("# %lu checked\n", checked);
	printf("# %lu found, %lu stale, %lu failed, %.1f us and %.1f reads each, %zu bytes kept\n",
	       g->found, g->stale, g->failed,
	       (double)g->nanoseconds / 1e3 / (double)(g->found ? g->found : 1),
	       (double)g->reads / (double)(g->found ? g->found : 1), hotspot_names_bytes(g->names));
	hotspot_names_free(g->names);
	return 0;
}

int main(int argc, char **argv)
{
	static const char *const modes[] = {"", "--pcs", "--time", "--churn"};
	struct hotspot_subject s;
	struct reading g = {.subject = &s};
	int ret;

	for (int i = 1; argc > 1 && i < 4; i++) {
		if (strcmp(argv[1], modes[i]))
			continue;
		g.mode = (enum mode)i;
		argv++;
		argc--;
		break;
	}
	if (argc < 2 || atoi(argv[1]) <= 0) {
		fprintf(stderr, "usage: hotspot_names [--pcs|--time|--churn] PID [SECONDS]\n");
		return 2;
	}
	ret = subject_begin(&s, atoi(argv[1]));
	if (!ret)
		ret = read_process_code(&g, argc > 2 ? argv[2] : "0");
	subject_end(&s);
	return ret != 0;
}
