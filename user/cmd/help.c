// SPDX-License-Identifier: Apache-2.0
/* skein help: show the commands, typical tasks, and each command as text or as a manual page. */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/man.h"

struct help_options {
	bool man;
};

static const struct option_spec help_specs[] = {
	{.name = "man",
	 .type = OPTION_FLAG,
	 .help = "Print a manual page in the language of man: skein(1), or that of COMMAND. Its "
		 "date is today's, or that of $SOURCE_DATE_EPOCH.",
	 .offset = offsetof(struct help_options, man)},
	{.name = NULL},
};

/* Groups in the order in which the help shows them. */
const struct group_title group_titles[] = {
	{COMMANDS_RECORDING, "Record"},
	{COMMANDS_READING, "Read what was recorded"},
	{COMMANDS_OTHER, "More"},
	{0, NULL},
};

const struct task tasks[] = {
	{"Where does this machine's time go?",
	 "sudo skein record -d 10s\tsample everything for ten seconds\n"
	 "skein report\tread the answer\n"
	 "skein open\tsee it as a flame graph, in the browser\n"
	 "sudo skein top\tor watch it live\n"},
	{"Why is this program slow?",
	 "sudo skein record -- make -j4\trun it, sample it and its children\n"
	 "skein report --tree\twho calls what\n"},
	{"What does it wait for?",
	 "sudo skein record -e all -d 10s\trecord every switch and stacks of waits, too\n"
	 "skein report --sched\twho ran, who waited, who woke whom\n"
	 "skein report --off-cpu\twhere they waited, with stacks\n"},
	{"What happened just before?",
	 "sudo skein record -e all --keep 30s\trecord endlessly, keep the last 30 s\n"},
	{"What has become slower?",
	 "skein diff before.skein after.skein\teach change, with its significance\n"},
	{"See it elsewhere", "skein export -o out.html\ta flame graph page, for any browser\n"
			     "skein export -o out.pftrace\ta timeline, for ui.perfetto.dev\n"
			     "skein query skein.skein\ta database: what can be asked in SQL\n"},
	{"Will it work here?", "sudo skein doctor\tand if not, how to fix it\n"},
	{NULL, NULL},
};

/* Print lines of the form "command\tpurpose" in two columns. */
static void help_put_lines(FILE *out, const char *lines)
{
	while (*lines) {
		int command = (int)strcspn(lines, "\t"), rest = (int)strcspn(lines, "\n");

		fprintf(out, "  %-36.*s %.*s\n", command, lines, rest - command - 1,
			lines + command + 1);
		lines += rest + 1;
	}
}

void help_overview(FILE *out)
{
	fprintf(out, "skein: where did the time go, on this whole Linux machine?\n\n"
		     "usage: skein COMMAND [OPTIONS]\n");
	for (const struct group_title *g = group_titles; g->title; g++) {
		fprintf(out, "\n%s:\n", g->title);
		for (size_t i = 0; commands[i]; i++)
			if (commands[i]->group == g->group)
				fprintf(out, "  %-12s %s\n", commands[i]->name,
					commands[i]->summary);
	}
	for (const struct task *t = tasks; t->title; t++) {
		fprintf(out, "\n%s\n", t->title);
		help_put_lines(out, t->lines);
	}
	fprintf(out, "\n'skein COMMAND --help' explains a command; 'skein --version' shows which "
		     "skein this is.\n");
}

static const char *command_words(unsigned int index)
{
	return commands[index] ? commands[index]->name : NULL;
}

static int show_help(const char *name, bool man)
{
	const struct command *c = name ? commands_find(name) : NULL;

	if (name && !c)
		return commands_report_unknown(name);
	if (man && c)
		man_command(c, stdout);
	else if (man)
		man_overview(stdout);
	else if (c)
		options_help(c, stdout, 0);
	else
		help_overview(stdout);
	return command_finish("the help");
}

static int help_main(int argc, char **argv)
{
	struct help_options o = {0};
	int first = command_parse(&help_command, argc, argv, &o);

	if (first < 0)
		return ~first;
	if (argc - first > 1)
		return log_error(2, "help: about one command at a time; '%s' is too many",
				 argv[first + 1]);
	return show_help(first < argc ? argv[first] : NULL, o.man);
}

const struct command help_command = {
	.name = "help",
	.summary = "explain a command",
	.usage = "[OPTIONS] [COMMAND]",
	.description = "Explain a command, as its --help does; without one, list all and show what "
		       "they are good for.",
	.examples = "skein help record\tall about recording\n"
		    "skein help record --man | man -l -\tthe same as a manual page\n",
	.options = help_specs,
	.options_size = sizeof(struct help_options),
	.group = COMMANDS_OTHER,
	.values = command_words,
	.environment = "SOURCE_DATE_EPOCH\tThe date of manual pages, in seconds since 1970.",
	.run = help_main,
};
