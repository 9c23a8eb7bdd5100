// SPDX-License-Identifier: Apache-2.0
/*
 * Write the completion script for zsh: the option tables become specs of its function _arguments.
 */
#include <string.h>

#include "cmd/commands.h"
#include "cmd/completions.h"

static const char head[] = "#compdef skein\n"
			   "# zsh completion for skein, made by 'skein completions zsh'\n\n"
			   "_skein_traces() {\n"
			   "\t_files -g '*.skein(-.)'\n"
			   "}\n\n"
			   "_skein_pids() {\n"
			   "\tcompadd \"$@\" -- /proc/<->(/:t)\n"
			   "}\n\n";

static const char body[] = "_skein() {\n"
			   "\tlocal curcontext=$curcontext state line\n"
			   "\ttypeset -A opt_args\n"
			   "\tinteger ret=1\n"
			   "\t_arguments -C \\\n"
			   "\t\t'(- *)'{-h,--help}'[list the commands]' \\\n"
			   "\t\t'(- *)--version[print the version]' \\\n"
			   "\t\t'1:command:_skein_commands' \\\n"
			   "\t\t'*::argument:->arguments' && ret=0\n"
			   "\tif [[ $state == arguments ]]; then\n"
			   "\t\tcurcontext=${curcontext%:*}-$words[1]:\n"
			   "\t\t_skein_arguments $words[1] && ret=0\n"
			   "\tfi\n"
			   "\treturn ret\n"
			   "}\n\n"
			   "if [[ $funcstack[1] == _skein ]]; then\n"
			   "\t_skein \"$@\"\n"
			   "else\n"
			   "\tcompdef _skein skein\n"
			   "fi\n";

/*
 * Write text for use inside single quotes; special lists the characters that the surrounding spec
 * interprets and that need a backslash.
 */
static void zsh_put_escaped(FILE *out, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\'", out);
		else if (strchr(special, *text))
			fputc('\\', out);
		fputc(*text, out);
	}
}

static void zsh_put_commands(FILE *out)
{
	fputs("_skein_commands() {\n\tlocal -a list=(\n", out);
	for (size_t i = 0; commands[i]; i++) {
		fprintf(out, "\t\t'%s:", commands[i]->name);
		zsh_put_escaped(out, commands[i]->summary, "\\");
		fputs("'\n", out);
	}
	fputs("\t)\n\t_describe -t commands command list\n}\n\n", out);
}

/* Write the action of a spec, its last part: how zsh completes the argument. */
static void zsh_put_action(FILE *out, enum completion_kind kind,
			   const char *(*values)(unsigned int index), bool list)
{
	static const char *const actions[] = {
		[COMPLETE_TEXT] = " ",
		[COMPLETE_FILES] = "_files",
		[COMPLETE_FOLDERS] = "_files -/",
		[COMPLETE_TRACES] = "_skein_traces",
		[COMPLETE_PIDS] = "_sequence _skein_pids",
	};

	if (kind != COMPLETE_WORDS) {
		fputs(actions[kind], out);
		return;
	}
	fputs(list ? "_sequence compadd - " : "(", out);
	completions_put_words(out, values);
	fputs(list ? "" : ")", out);
}

static void zsh_put_option(FILE *out, const struct option_spec *o)
{
	enum completion_kind kind = completions_option_kind(o);
	const char *equals = kind == COMPLETE_NOTHING ? "" : "=";
	char summary[4 * COMPLETION_SUMMARY];

	fputs("\t\t\t", out);
	if (o->letter)
		fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}'", o->letter, o->name, o->letter,
			*equals ? "+" : "", o->name, equals);
	else
		fprintf(out, "'--%s%s", o->name, equals);
	fputc('[', out);
	zsh_put_escaped(out, completions_summary(o, summary), "[]\\");
	fputc(']', out);
	if (kind != COMPLETE_NOTHING) {
		fprintf(out, ":%s:", o->arg);
		zsh_put_action(out, kind, o->values, o->list);
	}
	fputs("' \\\n", out);
}

static void zsh_put_operands(FILE *out, const struct command *c)
{
	enum completion_kind kind = completions_operand_kind(c);

	if (kind == COMPLETE_COMMAND)
		fputs("\t\t\t'(-)1:program: _command_names -e' '*::arguments: _normal'\n", out);
	else if (kind == COMPLETE_NOTHING)
		fputs("\t\t\t&& return\n", out);
	else {
		fprintf(out, "\t\t\t'%s:%s:", kind == COMPLETE_WORDS ? "1" : "*",
			kind == COMPLETE_WORDS ? "word" : "trace");
		zsh_put_action(out, kind, c->values, false);
		fputs("'\n", out);
	}
}

static void zsh_put_command(FILE *out, const struct command *c)
{
	const struct option_spec *o = NULL;

	fprintf(out, "\t%s)\n\t\t_arguments -s -S \\\n", c->name);
	while ((o = completions_next_option(c, o)))
		zsh_put_option(out, o);
	zsh_put_operands(out, c);
	fputs("\t\t;;\n", out);
}

void completions_zsh(FILE *out)
{
	fputs(head, out);
	zsh_put_commands(out);
	fputs("_skein_arguments() {\n\tcase $1 in\n", out);
	for (size_t i = 0; commands[i]; i++)
		zsh_put_command(out, commands[i]);
	fputs("\t*) return 1 ;;\n\tesac\n}\n\n", out);
	fputs(body, out);
}
