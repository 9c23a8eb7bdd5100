// SPDX-License-Identifier: Apache-2.0
/*
 * Print HotSpot's tables of a live JVM, one entry per line, how many reads they took, and what the
 * walker is given of the JVM, for tests and for debugging.
 *
 *   hotspot_tables PID
 */
#include "../unit/hotspot_process.h"
#include "symbolizers/hotspot_layout.h"

static const char *const kinds[] = {"field", "static", "type", "int", "long"};

static int print_facts(struct hotspot_subject *s)
{
	const struct hotspot_memory memory = {subject_read, s};
	struct error err = {.text = ""};
	struct hotspot_facts f;
	int ret;

	s->reads = 0;
	ret = hotspot_facts_read(&f, s->tables, &memory, &err);
	if (ret) {
		fprintf(stderr, "%s (%s)\n", err.text, strerror(-ret));
		return ret;
	}
	printf("# version %s, DebugNonSafepoints %d, header %d bytes, %u reads\n", f.version,
	       f.debug_non_safepoints, f.layout.header_bytes, s->reads);
	for (uint32_t i = 0; i < f.range_count; i++)
		printf("# heap %#llx to %#llx, segments of %d bytes, map at %#llx\n",
		       f.ranges[i].low, f.ranges[i].high, 1 << f.ranges[i].shift,
		       f.ranges[i].segments);
	printf("# interpreter %#" PRIx64 " to %#" PRIx64 "\n", f.interpreter_low,
	       f.interpreter_high);
	return 0;
}

int main(int argc, char **argv)
{
	struct hotspot_subject s;
	int ret;

	if (argc != 2 || atoi(argv[1]) <= 0) {
		fprintf(stderr, "usage: hotspot_tables PID\n");
		return 2;
	}
	ret = subject_begin(&s, atoi(argv[1]));
	for (size_t i = 0; !ret && i < hotspot_tables_count(s.tables); i++) {
		const struct hotspot_entry *e = hotspot_tables_entry(s.tables, i);

		printf("%s\t%s\t%s\t%s\t%" PRIu64 "\n", kinds[e->kind], e->type, e->name, e->text,
		       e->value);
	}
	if (!ret) {
		printf("# %zu entries, %u reads\n", hotspot_tables_count(s.tables), s.reads);
		ret = print_facts(&s);
	}
	subject_end(&s);
	return ret != 0;
}
