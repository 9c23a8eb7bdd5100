// SPDX-License-Identifier: Apache-2.0
/* Write the tables of needs as Markdown, for docs/privileges.md. */
#include <stdio.h>
#include <string.h>

#include "cmd/doctor.h"

static void doctor_table_capabilities(FILE *out)
{
	fputs("| capability | for | without it |\n|---|---|---|\n", out);
	for (unsigned int i = 0; i < NEED_COUNT && need_table[i].capability >= 0; i++)
		fprintf(out, "| %s | %s | %s |\n", need_table[i].name, need_table[i].what,
			need_table[i].lost);
}

static void doctor_table_features(FILE *out)
{
	fputs("\n| what else is needed | for | without it |\n|---|---|---|\n", out);
	for (unsigned int i = 0; i < NEED_COUNT; i++)
		if (need_table[i].capability < 0)
			fprintf(out, "| %s | %s | %s |\n", need_table[i].name, need_table[i].what,
				need_table[i].lost);
}

static void doctor_table_mends(FILE *out)
{
	char fix[1024];

	fputs("\n| what is missing |", out);
	for (int s = 0; s < SETTING_COUNT; s++)
		fprintf(out, " in %s |", setting_text((enum setting)s));
	fputs("\n|---|", out);
	for (int s = 0; s < SETTING_COUNT; s++)
		fputs("---|", out);
	for (unsigned int i = 0; i < NEED_COUNT; i++) {
		if (need_table[i].capability >= 0)
			continue;
		fprintf(out, "\n| %s |", need_table[i].name);
		for (int s = 0; s < SETTING_COUNT; s++)
			fprintf(out, " `%s` |",
				need_fix(NEED_BIT(i), (enum setting)s, fix, sizeof(fix)));
	}
	fputc('\n', out);
}

/* Write, for each setting, the line that gives all capabilities at once. */
static void doctor_table_sets(FILE *out)
{
	char fix[1024], *path;

	fputs("\n| all capabilities, in | line |\n|---|---|\n", out);
	for (int s = SETTING_USER; s < SETTING_COUNT; s++) {
		need_fix(NEEDS_CAPABILITIES, (enum setting)s, fix, sizeof(fix));
		/* make the text independent of the path where skein is installed */
		path = strstr(fix, "=ep ");
		if (path)
			snprintf(path, fix + sizeof(fix) - path, "=ep $(command -v skein)");
		fprintf(out, "| %s | `%s` |\n", setting_text((enum setting)s), fix);
	}
}

void doctor_table(FILE *out)
{
	doctor_table_capabilities(out);
	doctor_table_sets(out);
	doctor_table_features(out);
	doctor_table_mends(out);
}
