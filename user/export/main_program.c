// SPDX-License-Identifier: Apache-2.0
/*
 * Find the program with the most weight; all processes that run the same file count as one
 * program.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "export/main_program.h"

struct weighed_program {
	uint64_t weight;
	uint32_t mapping; /* index; PROFILE_NONE if no mapping is of the program's file */
};

struct weighed_programs {
	const struct profile *profile;
	struct names paths; /* of programs: number = index in list; then of other files */
	VECTOR(struct weighed_program) list;
	uint32_t *of_process; /* program number by process index */
};

/* List all programs, and set of_process for each process; PROFILE_NONE if its file is unknown. */
static int number_programs(struct weighed_programs *s)
{
	const struct weighed_program none = {0, PROFILE_NONE};
	const struct profile *p = s->profile;
	int ret = 0;

	s->of_process = malloc((p->count.processes + 1) * sizeof(*s->of_process));
	if (!s->of_process)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->count.processes && !ret; i++) {
		const char *exe = p->processes[i].p.exe;

		s->of_process[i] = PROFILE_NONE;
		if (*exe)
			ret = names_intern_text(&s->paths, exe, &s->of_process[i]);
		if (!ret && s->paths.texts.count > s->list.count)
			ret = vector_push(&s->list, none);
	}
	return ret;
}

static void weigh_programs(struct weighed_programs *s, uint32_t event)
{
	const struct profile *p = s->profile;

	for (uint32_t i = 0; i < p->count.sums; i++) {
		uint32_t thread = p->sums[i].thread, process;

		if (p->sums[i].event != event || thread == PROFILE_NONE)
			continue;
		process = p->threads[thread].process;
		if (process != PROFILE_NONE && s->of_process[process] != PROFILE_NONE)
			s->list.items[s->of_process[process]].weight += p->sums[i].weight;
	}
}

static int find_program_mappings(struct weighed_programs *s, const uint32_t *preferred)
{
	const struct profile *p = s->profile;

	for (uint32_t i = 0; i < p->count.mappings; i++) {
		uint32_t known = s->paths.texts.count, number;
		struct weighed_program *of;

		if (p->mappings[i].m.kind != MAPPING_FILE)
			continue;
		if (names_intern_text(&s->paths, p->mappings[i].m.path, &number) < 0)
			return -ENOMEM;
		if (number >= known || number >= s->list.count)
			continue;
		of = &s->list.items[number];
		if (of->mapping == PROFILE_NONE ||
		    (preferred[of->mapping] == PROFILE_NONE && preferred[i] != PROFILE_NONE))
			of->mapping = i;
	}
	return 0;
}

static uint32_t heaviest_program(const struct weighed_programs *s)
{
	const struct weighed_program *best = NULL;

	for (size_t i = 0; i < s->list.count; i++) {
		const struct weighed_program *at = &s->list.items[i];

		if (at->mapping != PROFILE_NONE && at->weight &&
		    (!best || at->weight > best->weight))
			best = at;
	}
	return best ? best->mapping : PROFILE_NONE;
}

int main_program_find(uint32_t *out, const struct profile *p, uint32_t event,
		      const uint32_t *preferred)
{
	struct weighed_programs s = {.profile = p};
	int ret = number_programs(&s);

	if (!ret) {
		weigh_programs(&s, event);
		ret = find_program_mappings(&s, preferred);
	}
	if (!ret)
		*out = heaviest_program(&s);
	names_free(&s.paths);
	vector_free(&s.list);
	free(s.of_process);
	return ret;
}
