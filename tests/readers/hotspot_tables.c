// SPDX-License-Identifier: Apache-2.0
/*
 * Print HotSpot's tables of a live JVM, one entry per line, and how many reads they took, for tests
 * and for debugging.
 *
 *   hotspot_tables PID
 */
#include "../unit/hotspot_process.h"

static const char *const kinds[] = {"field", "static", "type", "int", "long"};

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
	if (!ret)
		printf("# %zu entries, %u reads\n", hotspot_tables_count(s.tables), s.reads);
	subject_end(&s);
	return ret != 0;
}
