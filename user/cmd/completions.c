// SPDX-License-Identifier: Apache-2.0
/* skein completions: print scripts that teach a shell skein's commands and options. */
#include "cmd/completions.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "cmd/commands.h"

/* Completion kinds by the name of an option's argument in the help; other names mean text. */
static const struct {
	const char *arg;
	enum completion_kind kind;
} argument_kinds[] = {
	{"FILE", COMPLETE_FILES},
	{"DIR", COMPLETE_FOLDERS},
	{"PATH", COMPLETE_FOLDERS},
	{"PIDS", COMPLETE_PIDS},
};

enum completion_kind completions_option_kind(const struct option_spec *o)
{
	if (!option_takes_argument(o))
		return COMPLETE_NOTHING;
	if (o->values)
		return COMPLETE_WORDS;
	for (size_t i = 0; i < sizeof(argument_kinds) / sizeof(argument_kinds[0]); i++)
		if (!strcmp(o->arg, argument_kinds[i].arg))
			return argument_kinds[i].kind;
	return COMPLETE_TEXT;
}

enum completion_kind completions_operand_kind(const struct command *c)
{
	if (c->values)
		return COMPLETE_WORDS;
	if (strstr(c->usage, "COMMAND"))
		return COMPLETE_COMMAND;
	return strcmp(c->usage, "[OPTIONS]") ? COMPLETE_TRACES : COMPLETE_NOTHING;
}

/* Return the bytes of the text up to mark or the end of the line, without a final full stop. */
static size_t phrase_size(const char *text, const char *mark)
{
	const char *end = strstr(text, mark);
	size_t size = strcspn(text, "\n");

	if (end && (size_t)(end - text) < size)
		size = (size_t)(end - text);
	return size && text[size - 1] == '.' ? size - 1 : size;
}

char *completions_summary(const struct option_spec *o, char buf[static 4 * COMPLETION_SUMMARY])
{
	size_t size = phrase_size(o->help, ". "), clause = phrase_size(o->help, ": ");
	char sentence[1024];

	if (size > COMPLETION_SUMMARY && clause < size)
		size = clause;
	snprintf(sentence, sizeof(sentence), "%.*s", (int)size, o->help);
	return text_fit(sentence, COMPLETION_SUMMARY, false, buf, 4 * COMPLETION_SUMMARY);
}

void completions_put_words(FILE *out, const char *(*values)(unsigned int index))
{
	const char *word;

	for (unsigned int i = 0; (word = values(i)); i++)
		fprintf(out, "%s%s", i ? " " : "", word);
}

const struct option_spec *completions_next_option(const struct command *c,
						  const struct option_spec *o)
{
	const struct option_spec *help = option_of_help(c->options);

	if (o == help)
		return NULL;
	o = o ? o + 1 : c->options;
	while (o->name && o->type == OPTION_HEADING)
		o++;
	return o->name ? o : help;
}

static const struct option_spec completions_specs[] = {
	{.name = NULL},
};

static const struct shell {
	const char *name;
	void (*write)(FILE *out);
} shells[] = {
	{"bash", completions_bash},
	{"zsh", completions_zsh},
	{"fish", completions_fish},
};

#define SHELL_COUNT (sizeof(shells) / sizeof(shells[0]))

static const char *shell_words(unsigned int index)
{
	return index < SHELL_COUNT ? shells[index].name : NULL;
}

static int write_shell_script(const char *name)
{
	for (size_t i = 0; i < SHELL_COUNT; i++) {
		if (strcmp(name, shells[i].name))
			continue;
		shells[i].write(stdout);
		return command_finish("the completions");
	}
	return log_error(2, "completions: '%s' is not one of bash, zsh, fish", name);
}

static int completions_main(int argc, char **argv)
{
	int first = command_parse(&completions_command, argc, argv, NULL);

	if (first < 0)
		return ~first;
	if (argc - first != 1)
		return log_error(2, "completions: for which shell? bash, zsh or fish");
	return write_shell_script(argv[first]);
}

const struct command completions_command = {
	.name = "completions",
	.summary = "teach a shell to complete skein's words",
	.usage = "bash|zsh|fish",
	.description = "Print a script that makes the shell complete skein's commands, options and "
		       "their values, and traces. Packages install it; otherwise see the examples.",
	.examples = "source <(skein completions bash)\tin ~/.bashrc\n"
		    "source <(skein completions zsh)\tin ~/.zshrc, after compinit\n"
		    "skein completions fish | source\tin ~/.config/fish/config.fish\n",
	.options = completions_specs,
	.group = COMMANDS_OTHER,
	.values = shell_words,
	.run = completions_main,
};
