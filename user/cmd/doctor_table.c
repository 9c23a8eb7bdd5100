// SPDX-License-Identifier: Apache-2.0
/*
 * Write the needs of a recording as Markdown, for docs/privileges.md. These are lists and not
 * tables, so that the text can be read in a terminal, too.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cmd/doctor.h"

#define PAGE_COLUMNS 100
#define CODE_INDENT 6 /* columns: a block of code that belongs to an item of a list */
#define SETTING_COLUMNS 16 /* for the words of setting_text() */

static void doctor_table_item(FILE *out, const struct need_entry *need)
{
	const struct screen page = {.out = out, .width = PAGE_COLUMNS};
	char text[1024];

	fputs("- ", out);
	snprintf(text, sizeof(text), "**%s**: %s.", need->name, need->what);
	screen_put_wrapped(&page, 2, NULL, text);
	fputs("  ", out);
	snprintf(text, sizeof(text), "Without it: %s.", need->lost);
	screen_put_wrapped(&page, 2, NULL, text);
}

static void doctor_table_capabilities(FILE *out)
{
	fputs("**Capabilities**: what each is for, and what is lost without it.\n\n", out);
	for (unsigned int i = 0; i < NEED_COUNT && need_table[i].capability >= 0; i++)
		doctor_table_item(out, &need_table[i]);
}

/* Write a line as code: filled into lines that end with more if another one follows. */
static void doctor_table_code(FILE *out, const char *text, const char *more)
{
	const size_t room = PAGE_COLUMNS - strlen(more);
	size_t column = CODE_INDENT;

	fprintf(out, "%*s", CODE_INDENT, "");
	while (*text) {
		size_t size = strcspn(text, " ");

		if (column > CODE_INDENT && column + 1 + size > room) {
			column = CODE_INDENT + 4;
			fprintf(out, "%s\n%*s", more, (int)column, "");
		} else if (column > CODE_INDENT) {
			column++;
			fputc(' ', out);
		}
		fprintf(out, "%.*s", (int)size, text);
		column += size;
		text += size;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

/*
 * Write the commands that give all capabilities to the program's file. setcap takes them as one
 * word, which is wider than the page.
 */
static void doctor_table_setcap(FILE *out)
{
	size_t column = 0;

	for (unsigned int i = 0; i < NEED_COUNT && need_table[i].capability >= 0; i++) {
		if (column + 1 + strlen(need_table[i].name) > PAGE_COLUMNS - 10)
			column = 0;
		if (column)
			column += (size_t)fprintf(out, ",");
		else
			column = (size_t)fprintf(out, "%s%*scaps=%s", i ? "\n" : "", CODE_INDENT,
						 "", i ? "$caps," : "");
		for (const char *c = need_table[i].name; *c; c++, column++)
			fputc(tolower((unsigned char)*c), out);
	}
	fprintf(out, "\n%*ssudo setcap $caps=ep $(command -v skein)\n", CODE_INDENT, "");
}

/* Write, for each setting, the line that gives all capabilities at once. */
static void doctor_table_sets(FILE *out)
{
	char fix[1024];

	fputs("\n**All capabilities at once**:\n\n"
	      "- in a user's shell, run it with sudo, or once:\n\n",
	      out);
	doctor_table_setcap(out);
	for (int s = SETTING_SYSTEMD; s < SETTING_COUNT; s++) {
		fprintf(out, "\n- in %s:\n\n", setting_text((enum setting)s));
		need_fix(NEEDS_CAPABILITIES, (enum setting)s, fix, sizeof(fix));
		doctor_table_code(out, fix, s == SETTING_KUBERNETES ? "" : " \\");
	}
}

/* Write the line that fixes the lack of a need in each setting; once, if all are the same. */
static void doctor_table_fixes(FILE *out, const struct need_entry *need)
{
	bool same = true;

	for (int s = 1; s < SETTING_COUNT; s++)
		same = same && !strcmp(need->fixes[s], need->fixes[0]);
	fputc('\n', out);
	for (int s = 0; s < (same ? 1 : SETTING_COUNT); s++)
		fprintf(out, "%*s%-*s%s\n", CODE_INDENT, "", SETTING_COLUMNS,
			same ? "everywhere" : setting_text((enum setting)s), need->fixes[s]);
	fputc('\n', out);
}

static void doctor_table_features(FILE *out)
{
	fputs("\n**What else is needed**, and the line that fixes it, by the place where skein "
	      "runs:\n\n",
	      out);
	for (unsigned int i = 0; i < NEED_COUNT; i++) {
		if (need_table[i].capability >= 0)
			continue;
		doctor_table_item(out, &need_table[i]);
		doctor_table_fixes(out, &need_table[i]);
	}
}

void doctor_table(FILE *out)
{
	doctor_table_capabilities(out);
	doctor_table_sets(out);
	doctor_table_features(out);
}
