// SPDX-License-Identifier: Apache-2.0
/* Write the completion script for fish: one line for each command, option and kind of operand. */
#include "cmd/commands.h"
#include "cmd/completions.h"

static const char head[] =
	"# fish completion for skein, made by 'skein completions fish'\n\n"
	"# Whether the command is $argv[1]; without it, whether there is none yet.\n"
	"function __skein_using\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest \"$words[2]\" = \"$argv[1]\"; and not contains -- -- $words\n"
	"end\n\n"
	"# Behind --: a command line of its own.\n"
	"function __skein_runs\n"
	"\tset -l words (commandline -opc)\n"
	"\ttest \"$words[2]\" = \"$argv[1]\"; and contains -- -- $words\n"
	"end\n\n"
	"function __skein_command_line\n"
	"\tset -l words (commandline -opc)\n"
	"\tset -l at (contains --index -- -- $words)\n"
	"\tset -l line (string escape -- $words[(math $at + 1)..]) (commandline -ct)\n"
	"\tcomplete -C (string join ' ' -- $line)\n"
	"end\n\n"
	"complete -c skein -f\n"
	"complete -c skein -n '__skein_using' -s h -l help -d 'List the commands'\n"
	"complete -c skein -n '__skein_using' -l version -d 'Tell which skein this is'\n";

/* Write text in single quotes, escaped for fish. */
static void fish_put_quoted(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

/* Write the options of fish's "complete" that offer an argument or operand. */
static void fish_put_offer(FILE *out, enum completion_kind kind,
			   const char *(*values)(unsigned int index), bool list)
{
	static const char *const offers[] = {
		[COMPLETE_NOTHING] = "",
		[COMPLETE_TEXT] = "",
		[COMPLETE_FILES] = " -F",
		[COMPLETE_FOLDERS] = " -a '(__fish_complete_directories)'",
		[COMPLETE_TRACES] = " -k -a '(__fish_complete_suffix .skein)'",
		[COMPLETE_PIDS] = " -a '(__fish_append , (__fish_complete_pids))'",
		[COMPLETE_COMMAND] = " -a '(__fish_complete_command)'",
	};

	if (kind != COMPLETE_WORDS) {
		fputs(offers[kind], out);
		return;
	}
	fprintf(out, " -a '%s", list ? "(__fish_append , " : "");
	completions_put_words(out, values);
	fputs(list ? ")'" : "'", out);
}

static void fish_put_option(FILE *out, const char *command, const struct option_spec *o)
{
	enum completion_kind kind = completions_option_kind(o);
	char summary[4 * COMPLETION_SUMMARY];

	fprintf(out, "complete -c skein -n '__skein_using %s'", command);
	if (o->letter)
		fprintf(out, " -s %c", o->letter);
	fprintf(out, " -l %s", o->name);
	if (kind != COMPLETE_NOTHING)
		fputs(kind == COMPLETE_FILES ? " -r" : " -x", out);
	fish_put_offer(out, kind, o->values, o->list);
	fputs(" -d ", out);
	fish_put_quoted(out, completions_summary(o, summary));
	fputc('\n', out);
}

static void fish_put_command(FILE *out, const struct command *c)
{
	enum completion_kind operands = completions_operand_kind(c);
	const struct option_spec *o = NULL;

	fprintf(out, "\ncomplete -c skein -n '__skein_using' -a %s -d ", c->name);
	fish_put_quoted(out, c->summary);
	fputc('\n', out);
	while ((o = completions_next_option(c, o)))
		fish_put_option(out, c->name, o);
	if (operands != COMPLETE_NOTHING) {
		fprintf(out, "complete -c skein -n '__skein_using %s'", c->name);
		fish_put_offer(out, operands, c->values, false);
		fputc('\n', out);
	}
	if (operands == COMPLETE_COMMAND)
		fprintf(out, "complete -c skein -n '__skein_runs %s' -a '(__skein_command_line)'\n",
			c->name);
}

void completions_fish(FILE *out)
{
	fputs(head, out);
	for (size_t i = 0; commands[i]; i++)
		fish_put_command(out, commands[i]);
}
