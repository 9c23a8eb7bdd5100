// SPDX-License-Identifier: Apache-2.0
/*
 * Write manual pages in roff, with the macros of man(7). Texts of the tables go through
 * man_put_text(), because roff interprets dots, quotes, backslashes and dashes.
 */
#include "cmd/man.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "cmd/commands.h"

#define WORDS_SIZE 512
#define LINE 64 /* characters of filled text in a line; escapes make the line longer */

static void man_put_character(FILE *out, uint32_t c, bool line_begins)
{
	switch (c) {
	case '\\':
		fputs("\\e", out);
		break;
	case '-':
		fputs("\\-", out);
		break;
	case '^':
		fputs("\\(ha", out);
		break;
	case '~':
		fputs("\\(ti", out);
		break;
	case '`':
		fputs("\\(ga", out);
		break;
	case '\'':
		fputs("\\(aq", out);
		break;
	case '"':
		fputs("\\(dq", out);
		break;
	case '.':
		fputs(line_begins ? "\\&." : ".", out);
		break;
	default:
		if (c < 0x80)
			fputc((int)c, out);
		else
			fprintf(out, "\\[u%04X]", c);
	}
}

/* Where the next text goes. */
struct man_position {
	FILE *out;
	unsigned int column; /* characters in this line */
	bool filled; /* lines may be broken at blanks */
};

/* Return the number of characters up to the next blank or end of line. */
static size_t man_word_size(const char *at, const char *end)
{
	size_t size = strcspn(at, " \n");

	return size < (size_t)(end - at) ? size : (size_t)(end - at);
}

/*
 * Write the white space at a blank or newline, which may become a line or paragraph break; return
 * the position after it.
 */
static const char *man_put_space(struct man_position *p, const char *at, const char *end)
{
	const char *next = at + strspn(at, " ");

	if (*next == '\n' && next < end) {
		size_t breaks = strspn(next, "\n");

		next += breaks;
		if (next < end)
			fprintf(p->out, "\n.%s\n", breaks > 1 ? "PP" : "br");
		p->column = 0;
	} else if (p->filled && next < end && p->column + man_word_size(next, end) >= LINE) {
		fputc('\n', p->out);
		p->column = 0;
	} else {
		next = at + 1;
		fputc(' ', p->out);
		p->column++;
	}
	return next;
}

/*
 * Write text of a given size, at the beginning of a line or continuing one. A newline in the text
 * ends the line, an empty line ends the paragraph, and blanks before a newline are dropped.
 */
static void man_put_text(struct man_position *p, const char *text, size_t size)
{
	const char *at = text, *end = text + size;

	while (at < end) {
		if (*at == ' ' || *at == '\n') {
			at = man_put_space(p, at, end);
			continue;
		}
		man_put_character(p->out, text_next(&at), !p->column);
		p->column++;
	}
}

/* Write text inside a line, without breaking the line at blanks. */
static void man_put_inline(FILE *out, const char *text, size_t size)
{
	struct man_position p = {.out = out, .column = 1};

	man_put_text(&p, text, size);
}

/* Write text as lines of its own. */
static void man_put_lines(FILE *out, const char *text, size_t size, bool filled)
{
	struct man_position p = {.out = out, .filled = filled};

	man_put_text(&p, text, size);
	fputc('\n', out);
}

static void man_put_line(FILE *out, const char *text)
{
	man_put_lines(out, text, strlen(text), true);
}

static void man_put_section(FILE *out, const char *title)
{
	fprintf(out, ".SH %s\n", title);
}

static void man_put_date(FILE *out)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	struct tm tm = {0};

	gmtime_r(&now, &tm);
	fprintf(out, "%d-%02d-%02d", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday);
}

/* Write the head of a page. name is "skein" or, for example, "skein-record". */
static void man_put_head(FILE *out, const char *name, const char *summary)
{
	fputs(".\\\" Made by 'skein help --man' from the tables of options.\n.TH ", out);
	for (const char *c = name; *c; c++)
		fputc(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c, out);
	fputs(" 1 ", out);
	man_put_date(out);
	fprintf(out, " \"skein %s\" \"User Commands\"\n", SKEIN_VERSION);
	man_put_section(out, "NAME");
	man_put_inline(out, name, strlen(name));
	fputs(" \\- ", out);
	man_put_inline(out, summary, strlen(summary));
	fputc('\n', out);
}

/* Write an entry: a bold name, and its text indented below. */
static void man_put_entry(FILE *out, const char *name, size_t name_size, const char *text,
			  size_t size)
{
	fputs(".TP\n\\fB", out);
	man_put_inline(out, name, name_size);
	fputs("\\fR\n", out);
	man_put_lines(out, text, size, true);
}

/* Write entries from lines of the form "name\ttext". */
static void man_put_entries(FILE *out, const char *lines)
{
	while (lines && *lines) {
		size_t line = strcspn(lines, "\n"), name = strcspn(lines, "\t\n");

		man_put_entry(out, lines, name, lines + name + (name < line),
			      line - name - (name < line));
		lines += line + (lines[line] == '\n');
	}
}

static void man_put_option(FILE *out, const struct option_spec *o)
{
	char words[WORDS_SIZE];

	fputs(".TP\n", out);
	if (o->letter)
		fprintf(out, "\\fB\\-%c\\fR, ", o->letter);
	fputs("\\fB\\-\\-", out);
	man_put_inline(out, o->name, strlen(o->name));
	fputs("\\fR", out);
	if (o->arg) {
		bool optional = o->type == OPTION_OPTIONAL;

		fputs(optional ? "[=\\fI" : " \\fI", out);
		man_put_inline(out, o->arg, strlen(o->arg));
		fputs(optional ? "\\fR]" : "\\fR", out);
	}
	fputc('\n', out);
	man_put_line(out, o->help);
	if (*option_words(o, words, sizeof(words)))
		man_put_line(out, words);
}

static void man_put_options(FILE *out, const struct option_spec *options)
{
	bool headings = false;

	man_put_section(out, "OPTIONS");
	for (const struct option_spec *o = options; o->name; o++) {
		if (o->type != OPTION_HEADING) {
			man_put_option(out, o);
			continue;
		}
		headings = true;
		fputs(".SS ", out);
		man_put_line(out, o->name);
	}
	if (headings)
		fputs(".SS Other\n", out);
	man_put_option(out, option_of_help(options));
}

/* Write example commands, each with its purpose. */
static void man_put_examples(FILE *out, const char *lines)
{
	for (const char *first = lines; *lines;) {
		size_t line = strcspn(lines, "\n"), command = strcspn(lines, "\t\n");

		fprintf(out, "%s.nf\n.RS 4\n", lines == first ? "" : ".PP\n");
		man_put_lines(out, lines, command, false);
		fputs(".RE\n.fi\n", out);
		if (command < line) {
			fputs(".RS 8\n", out);
			man_put_lines(out, lines + command + 1, line - command - 1, true);
			fputs(".RE\n", out);
		}
		lines += line + (lines[line] == '\n');
	}
}

static void man_put_exits(FILE *out, const char *own)
{
	man_put_section(out, "EXIT STATUS");
	man_put_entries(out, "0\tAll went well.\n"
			     "1\tIt did not; one line on stderr says what and why.\n"
			     "2\tThe options or operands make no sense.");
	man_put_entries(out, own);
}

static void man_put_optional(FILE *out, const char *title, const char *lines)
{
	if (!lines)
		return;
	man_put_section(out, title);
	man_put_entries(out, lines);
}

static void man_put_reference(FILE *out, const char *name, bool last)
{
	fputs(".BR skein", out);
	if (*name)
		fputs("\\-", out);
	man_put_inline(out, name, strlen(name));
	fprintf(out, " (1)%s\n", last ? "" : ",");
}

/*
 * Write the references of a page: for a command, the other commands that record or read traces, and
 * skein(1); for skein(1) itself (c is NULL), other programs.
 */
static void man_put_see_also(FILE *out, const struct command *c)
{
	man_put_section(out, "SEE ALSO");
	if (!c) {
		fputs(".BR perf (1),\n.BR sqlite3 (1),\n.BR bpf (2),\n.BR perf_event_open (2)\n",
		      out);
		return;
	}
	for (size_t i = 0; commands[i]; i++)
		if (commands[i] != c && commands[i]->group != COMMANDS_OTHER)
			man_put_reference(out, commands[i]->name, false);
	man_put_reference(out, "", true);
}

void man_command(const struct command *c, FILE *out)
{
	char name[64];

	snprintf(name, sizeof(name), "skein-%s", c->name);
	man_put_head(out, name, c->summary);
	man_put_section(out, "SYNOPSIS");
	fprintf(out, ".B skein %s\n", c->name);
	man_put_line(out, c->usage);
	man_put_section(out, "DESCRIPTION");
	man_put_line(out, c->description);
	man_put_options(out, c->options);
	man_put_optional(out, "OUTPUT", c->legend);
	man_put_exits(out, c->exits);
	man_put_optional(out, "ENVIRONMENT", c->environment);
	man_put_optional(out, "FILES", c->files);
	if (c->examples) {
		man_put_section(out, "EXAMPLES");
		man_put_examples(out, c->examples);
	}
	man_put_see_also(out, c);
}

static void man_put_commands(FILE *out)
{
	man_put_section(out, "COMMANDS");
	for (const struct group_title *g = group_titles; g->title; g++) {
		fputs(".SS ", out);
		man_put_line(out, g->title);
		for (size_t i = 0; commands[i]; i++) {
			if (commands[i]->group != g->group)
				continue;
			fputs(".TP\n", out);
			man_put_reference(out, commands[i]->name, true);
			man_put_line(out, commands[i]->summary);
		}
	}
}

void man_overview(FILE *out)
{
	man_put_head(out, "skein", "where did the time go, on this whole Linux machine?");
	man_put_section(out, "SYNOPSIS");
	fputs(".B skein\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR]\n", out);
	man_put_section(out, "DESCRIPTION");
	man_put_line(out,
		     "skein samples the stacks of everything that runs (kernel, native programs, "
		     "generated code, Python) through eBPF, and records every context switch "
		     "and wake-up if asked to, without an agent, a restart or a recompilation. "
		     "It writes one file, a trace, that holds all names and so can be read on "
		     "any machine.\n\n"
		     "Nothing is lost in silence: every sample that was due is accounted for, "
		     "and every stack that does not reach the first function of its thread "
		     "says so.");
	man_put_commands(out);
	man_put_exits(out, NULL);
	man_put_section(out, "FILES");
	man_put_entries(out,
			"skein.skein\tThe trace that is written and read when none is named. It "
			"is an SQLite database.\n"
			"/var/cache/skein\tUnwind tables, kept between recordings.");
	man_put_section(out, "EXAMPLES");
	for (const struct task *t = tasks; t->title; t++) {
		fputs(".SS ", out);
		man_put_line(out, t->title);
		man_put_examples(out, t->lines);
	}
	man_put_see_also(out, NULL);
}
