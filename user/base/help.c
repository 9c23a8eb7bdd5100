// SPDX-License-Identifier: Apache-2.0
/* Format the help text of a command from its table of options. */
#include <string.h>
#include <sys/ioctl.h>

#include "base/options.h"
#include "base/text.h"

#define LEGEND_COLUMN 12 /* where the meanings of words begin */
#define PURPOSE_COLUMN 42 /* where the purposes of examples begin */
#define WIDEST_LABEL 28 /* columns; below a wider label, the help begins on the next line */
#define LABEL_SIZE 128
#define WORDS_SIZE 512

static unsigned int terminal_width(FILE *out)
{
	struct winsize w;

	if (ioctl(fileno(out), TIOCGWINSZ, &w) < 0 || w.ws_col < 40)
		return 80;
	/* Lines of more than 100 columns are hard to read. */
	return w.ws_col < 100 ? w.ws_col : 100;
}

/* The output, and the position in the current line at which the next word is written. */
struct help_page {
	FILE *out;
	unsigned int width;
	unsigned int column; /* columns used in the current line */
};

static void help_put(struct help_page *p, const char *text)
{
	fputs(text, p->out);
	p->column += text_width(text);
}

static void help_end_line(struct help_page *p)
{
	fputc('\n', p->out);
	p->column = 0;
}

static void help_go_to_column(struct help_page *p, unsigned int column)
{
	if (p->column < column) {
		fprintf(p->out, "%*s", (int)(column - p->column), "");
		p->column = column;
	}
}

/*
 * Return the number of columns of part of a text. Help texts are constants of skein without wide
 * characters.
 */
static unsigned int help_text_width(const char *text, size_t length)
{
	unsigned int width = 0;

	for (size_t i = 0; i < length; i++)
		width += (text[i] & 0xc0) != 0x80;
	return width;
}

/* Put text into lines that start at column indent. A newline in the text starts a new line. */
static void help_put_filled(struct help_page *p, const char *text, size_t length,
			    unsigned int indent)
{
	const char *end = text + length;
	bool first = true; /* no word was put into the current line yet */

	for (;;) {
		size_t word = strcspn(text, " \n");

		if (word > (size_t)(end - text))
			word = (size_t)(end - text);
		if (!first && word && p->column + 1 + help_text_width(text, word) > p->width) {
			help_end_line(p);
			first = true;
		}
		if (word) {
			help_go_to_column(p, first ? indent : p->column + 1);
			fwrite(text, 1, word, p->out);
			p->column += help_text_width(text, word);
			first = false;
		}
		text += word;
		if (text == end)
			break;
		if (*text++ == '\n') {
			help_end_line(p);
			first = true;
		}
	}
	help_end_line(p);
}

/* Format the label of an option, such as "-o, --output FILE". */
static char *help_label_of(const struct option_spec *o, char label[static LABEL_SIZE])
{
	char letter[] = {'-', o->letter, ',', ' ', '\0'};
	bool optional = o->type == OPTION_OPTIONAL;
	const char *before = o->arg ? " " : "";

	if (optional)
		before = "[=";
	snprintf(label, LABEL_SIZE, "  %s--%s%s%s%s", o->letter ? letter : "    ", o->name, before,
		 o->arg ? o->arg : "", optional ? "]" : "");
	return label;
}

/* Return the column at which the help of all options begins. */
static unsigned int help_column(const struct option_spec *options)
{
	unsigned int column = 0;
	char label[LABEL_SIZE];

	for (const struct option_spec *o = options; o->name; o++) {
		unsigned int width = text_width(help_label_of(o, label));

		if (o->type != OPTION_HEADING && width <= WIDEST_LABEL && width > column)
			column = width;
	}
	return column < 12 ? 14 : column + 2;
}

static void help_put_pair(struct help_page *p, const char *left, const char *right,
			  unsigned int column)
{
	help_put(p, left);
	if (p->column + 2 > column)
		help_end_line(p);
	help_put_filled(p, right, strlen(right), column);
}

static void help_put_heading(struct help_page *p, const char *heading)
{
	help_end_line(p);
	help_put(p, heading);
	help_put(p, ":");
	help_end_line(p);
}

const struct option_spec *option_of_help(const struct option_spec *options)
{
	static const struct option_spec help = {
		.name = "help", .letter = 'h', .type = OPTION_FLAG, .help = "Show this help."};
	static const struct option_spec long_help = {
		.name = "help", .type = OPTION_FLAG, .help = "Show this help."};

	for (const struct option_spec *o = options; o->name; o++)
		if (o->letter == 'h')
			return &long_help;
	return &help;
}

char *option_words(const struct option_spec *o, char *buf, size_t size)
{
	const char *word;
	bool listed = true;
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; o->values && (word = o->values(i)) && used < size; i++) {
		used = text_append(buf, size, used, "%s%s", i ? ", " : "One of ", word);
		listed &= strstr(o->help, word) != NULL;
	}
	if (listed)
		buf[0] = '\0';
	else if (used < size)
		snprintf(buf + used, size - used, ".");
	return buf;
}

static void help_put_option(struct help_page *p, const struct option_spec *o, unsigned int column)
{
	char label[LABEL_SIZE], words[WORDS_SIZE];

	help_put_pair(p, help_label_of(o, label), o->help, column);
	if (*option_words(o, words, sizeof(words)))
		help_put_filled(p, words, strlen(words), column);
}

static void help_put_options(struct help_page *p, const struct option_spec *options)
{
	unsigned int column = help_column(options);
	bool headings = false;

	if (!options->name || options->type != OPTION_HEADING)
		help_put_heading(p, "Options");
	for (const struct option_spec *o = options; o->name; o++) {
		if (o->type == OPTION_HEADING) {
			help_put_heading(p, o->name);
			headings = true;
		} else {
			help_put_option(p, o, column);
		}
	}
	if (headings)
		help_put_heading(p, "Other");
	help_put_option(p, option_of_help(options), column);
}

/*
 * Print the examples, which are lines "command\tpurpose". The purpose is in a column of its own if
 * both fit there, else below the command. A command is never broken, because users copy it.
 */
static void help_put_examples(struct help_page *p, const char *examples)
{
	help_put_heading(p, "Examples");
	while (*examples) {
		size_t line = strcspn(examples, "\n"), command = strcspn(examples, "\t\n");
		const char *purpose = examples + command + 1;
		size_t length = command < line ? line - command - 1 : 0;
		bool beside = command + 4 <= PURPOSE_COLUMN &&
			      PURPOSE_COLUMN + help_text_width(purpose, length) <= p->width;

		fprintf(p->out, "  %.*s", (int)command, examples);
		p->column = 2 + help_text_width(examples, command);
		if (!beside)
			help_end_line(p);
		if (length)
			help_put_filled(p, purpose, length, beside ? PURPOSE_COLUMN : 6);
		else if (beside)
			help_end_line(p);
		examples += line + (examples[line] == '\n');
	}
}

/* Explain words of the output, which are lines "word\tmeaning". */
static void help_put_legend(struct help_page *p, const char *legend)
{
	help_put_heading(p, "What is shown");
	while (*legend) {
		size_t line = strcspn(legend, "\n"), word = strcspn(legend, "\t\n");

		help_put(p, "  ");
		fprintf(p->out, "%.*s", (int)word, legend);
		p->column += (unsigned int)word;
		help_put_filled(p, legend + word + 1, line - word - 1, LEGEND_COLUMN);
		legend += line + (legend[line] == '\n');
	}
}

void options_help(const struct command *c, FILE *out, unsigned int width)
{
	struct help_page p = {.out = out, .width = width ? width : terminal_width(out)};

	fprintf(out, "usage: skein %s %s\n\n", c->name, c->usage);
	help_put_filled(&p, c->description, strlen(c->description), 0);
	/* Before the options, which are many: most readers look for the command that they need. */
	if (c->examples)
		help_put_examples(&p, c->examples);
	help_put_options(&p, c->options);
	if (c->legend)
		help_put_legend(&p, c->legend);
}
