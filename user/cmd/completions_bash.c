// SPDX-License-Identifier: Apache-2.0
/*
 * Write the completion script for bash. The script needs only bash builtins; for the arguments of a
 * profiled command it calls _command_offset() of bash-completion if that function is defined. The
 * tables of commands and options become shell functions that print words, or a kind in angle
 * brackets; the rest of the script is constant.
 */
#include "cmd/commands.h"
#include "cmd/completions.h"

static const char head[] = "# bash completion for skein, made by 'skein completions bash'\n"
			   "# shellcheck shell=bash\n\n";

/* Names in the script of the kinds whose words do not come from the tables. */
static const char *const kind_names[] = {
	[COMPLETE_TEXT] = "<text>",	  [COMPLETE_FILES] = "<files>",
	[COMPLETE_FOLDERS] = "<folders>", [COMPLETE_TRACES] = "<traces>",
	[COMPLETE_PIDS] = "<pids>",	  [COMPLETE_COMMAND] = "<command>",
};

static const char body[] =
	"# Offer those of the words $1 that go on as the word at the cursor does.\n"
	"_skein_offer() {\n"
	"\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$current\")\n"
	"}\n\n"
	"# The same of a list with commas: its last word.\n"
	"_skein_offer_list() {\n"
	"\tlocal before=\n"
	"\t[[ $current != *,* ]] || before=${current%,*},\n"
	"\tmapfile -t COMPREPLY < <(compgen -P \"$before\" -W \"$1\" -- \"${current##*,}\")\n"
	"}\n\n"
	"_skein_offer_files() {\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$current\")\n"
	"}\n\n"
	"# Offer what $1 stands for: words, or a kind.\n"
	"_skein_offer_kind() {\n"
	"\tcase $1 in\n"
	"\t'' | '<text>') ;;\n"
	"\t'<files>') _skein_offer_files -f ;;\n"
	"\t'<folders>') _skein_offer_files -d ;;\n"
	"\t'<traces>')\n"
	"\t\t_skein_offer_files -f -X '!*.skein'\n"
	"\t\tlocal traces=(\"${COMPREPLY[@]}\")\n"
	"\t\t_skein_offer_files -d\n"
	"\t\tCOMPREPLY=(\"${traces[@]}\" \"${COMPREPLY[@]}\")\n"
	"\t\t;;\n"
	"\t'<pids>') _skein_offer_list \"$(cd /proc && echo [0-9]*)\" ;;\n"
	"\t'<list>'*) _skein_offer_list \"${1#<list>}\" ;;\n"
	"\t*) _skein_offer \"$1\" ;;\n"
	"\tesac\n"
	"}\n\n"
	"# The index of command $1's first operand before the cursor; nothing: there is none.\n"
	"_skein_first_operand() {\n"
	"\tlocal i\n"
	"\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n"
	"\t\t--) echo $((i + 1)) && return ;;\n"
	"\t\t-*)\n"
	"\t\t\tif [[ ${COMP_WORDS[i + 1]} == = ]]; then\n"
	"\t\t\t\t((i += 2))\n"
	"\t\t\telif [[ $(_skein_argument \"$1\" \"${COMP_WORDS[i]}\") ]]; then\n"
	"\t\t\t\t((i++))\n"
	"\t\t\tfi\n"
	"\t\t\t;;\n"
	"\t\t*) echo $i && return ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"}\n\n"
	"# A command line of its own that begins at word $1.\n"
	"_skein_offer_command() {\n"
	"\tif ((COMP_CWORD == $1)); then\n"
	"\t\t_skein_offer_files -c\n"
	"\telif declare -F _command_offset >/dev/null; then\n"
	"\t\t_command_offset \"$1\"\n"
	"\telse\n"
	"\t\t_skein_offer_files -f\n"
	"\tfi\n"
	"}\n\n"
	"_skein() {\n"
	"\tlocal current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}\n"
	"\tlocal command=${COMP_WORDS[1]} first kind operands\n"
	"\tCOMPREPLY=()\n"
	"\tif ((COMP_CWORD == 1)); then\n"
	"\t\t_skein_offer \"$(_skein_commands) --help --version\"\n"
	"\t\treturn\n"
	"\tfi\n"
	"\toperands=$(_skein_operands \"$command\")\n"
	"\tfirst=$(_skein_first_operand \"$command\")\n"
	"\tif [[ $operands == '<command>' && $first ]]; then\n"
	"\t\t_skein_offer_command \"$first\"\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t# bash makes words of their own of --option, = and its argument\n"
	"\tif [[ $current == = ]]; then\n"
	"\t\tcurrent=\n"
	"\telif [[ $before == = ]]; then\n"
	"\t\tbefore=${COMP_WORDS[COMP_CWORD - 2]}\n"
	"\tfi\n"
	"\tkind=$(_skein_argument \"$command\" \"$before\")\n"
	"\tif [[ $kind && \" ${COMP_WORDS[*]:2:COMP_CWORD - 2} \" != *' -- '* ]]; then\n"
	"\t\t_skein_offer_kind \"$kind\"\n"
	"\telif [[ $current == -* ]]; then\n"
	"\t\t_skein_offer \"$(_skein_options \"$command\")\"\n"
	"\telif [[ $operands == '<command>' ]]; then\n"
	"\t\t_skein_offer_files -c\n"
	"\telse\n"
	"\t\t_skein_offer_kind \"$operands\"\n"
	"\tfi\n"
	"}\n\n"
	"complete -F _skein skein\n";

static void bash_put_commands(FILE *out)
{
	fputs("_skein_commands() {\n\techo '", out);
	for (size_t i = 0; commands[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", commands[i]->name);
	fputs("'\n}\n\n", out);
}

static void bash_put_options(FILE *out)
{
	fputs("_skein_options() {\n\tcase $1 in\n", out);
	for (size_t i = 0; commands[i]; i++) {
		const struct option_spec *o = NULL;

		fprintf(out, "\t%s) echo '", commands[i]->name);
		while ((o = completions_next_option(commands[i], o)))
			fprintf(out, "%s--%s",
				o == completions_next_option(commands[i], NULL) ? "" : " ",
				o->name);
		fputs("' ;;\n", out);
	}
	fputs("\tesac\n}\n\n", out);
}

static void bash_put_kind(FILE *out, enum completion_kind kind,
			  const char *(*values)(unsigned int index), bool list)
{
	if (list)
		fputs("<list>", out);
	if (kind == COMPLETE_WORDS)
		completions_put_words(out, values);
	else
		fputs(kind_names[kind], out);
}

static void bash_put_arguments(FILE *out)
{
	fputs("# What option $2 of command $1 takes; nothing: no argument.\n"
	      "_skein_argument() {\n\tcase \"$1 $2\" in\n",
	      out);
	for (size_t i = 0; commands[i]; i++) {
		const struct option_spec *o = NULL;

		while ((o = completions_next_option(commands[i], o))) {
			enum completion_kind kind = completions_option_kind(o);

			if (kind == COMPLETE_NOTHING)
				continue;
			fputs("\t", out);
			if (o->letter)
				fprintf(out, "'%s -%c' | ", commands[i]->name, o->letter);
			fprintf(out, "'%s --%s') echo '", commands[i]->name, o->name);
			bash_put_kind(out, kind, o->values, o->list);
			fputs("' ;;\n", out);
		}
	}
	fputs("\tesac\n}\n\n", out);
}

static void bash_put_operands(FILE *out)
{
	fputs("_skein_operands() {\n\tcase $1 in\n", out);
	for (size_t i = 0; commands[i]; i++) {
		enum completion_kind kind = completions_operand_kind(commands[i]);

		if (kind == COMPLETE_NOTHING)
			continue;
		fprintf(out, "\t%s) echo '", commands[i]->name);
		bash_put_kind(out, kind, commands[i]->values, false);
		fputs("' ;;\n", out);
	}
	fputs("\tesac\n}\n\n", out);
}

void completions_bash(FILE *out)
{
	fputs(head, out);
	bash_put_commands(out);
	bash_put_options(out);
	bash_put_arguments(out);
	bash_put_operands(out);
	fputs(body, out);
}
