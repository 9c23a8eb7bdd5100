// SPDX-License-Identifier: Apache-2.0
/* Parse the command line by the table of a command. help.c makes the help from the same table. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/options.h"

/*
 * getopt_long() returns the letter of a short option, and LONG_BASE plus the index in the table for
 * a long one.
 */
#define LONG_BASE 256

/* The tables that getopt_long() needs, made from an array of struct option_spec. */
struct getopt_tables {
	const struct command *command;
	char *letters;
	struct option *names;
	size_t count; /* number of specs; names has two more entries: --help and the end */
};

static size_t count_option_specs(const struct option_spec *specs)
{
	size_t n = 0;

	while (specs[n].name)
		n++;
	return n;
}

bool option_takes_argument(const struct option_spec *o)
{
	if (o->type == OPTION_CALL)
		return o->arg != NULL;
	return o->type != OPTION_FLAG && o->type != OPTION_OPTIONAL;
}

/* Return what getopt_long() calls the three kinds of options. */
static int has_argument(const struct option_spec *o)
{
	if (o->type == OPTION_OPTIONAL)
		return optional_argument;
	return option_takes_argument(o) ? required_argument : no_argument;
}

static int getopt_tables_make(struct getopt_tables *t)
{
	const struct option_spec *specs = t->command->options;
	size_t count = count_option_specs(specs), names = 0;
	char *letter;

	t->count = count;
	t->letters = calloc(count + 3, 2);
	t->names = calloc(count + 2, sizeof(*t->names));
	if (!t->letters || !t->names)
		return -ENOMEM;
	/* '+': the first operand ends the options; ':': return ':' for a missing argument */
	letter = stpcpy(t->letters, t->command->stop_at_operand ? "+:" : ":");
	for (size_t i = 0; i < count; i++) {
		const struct option_spec *o = &specs[i];

		if (o->type == OPTION_HEADING)
			continue;
		t->names[names++] = (struct option){
			.name = o->name,
			.has_arg = has_argument(o),
			.val = LONG_BASE + (int)i,
		};
		if (!o->letter)
			continue;
		*letter++ = o->letter;
		if (option_takes_argument(o))
			*letter++ = ':';
	}
	t->names[names] = (struct option){.name = "help", .val = LONG_BASE + (int)count};
	/*
	 * If the command has another option with the letter 'h', getopt_long() finds that option
	 * first, and this letter has no effect.
	 */
	*letter = 'h';
	return 0;
}

static void getopt_tables_free(struct getopt_tables *t)
{
	free(t->letters);
	free(t->names);
}

/* Return the option that getopt_long() found; NULL for --help, -h and unknown letters. */
static const struct option_spec *option_spec_of(const struct getopt_tables *t, int found)
{
	const struct option_spec *specs = t->command->options;

	if (found >= LONG_BASE)
		return (size_t)(found - LONG_BASE) < t->count ? &specs[found - LONG_BASE] : NULL;
	for (size_t i = 0; i < t->count; i++)
		if (specs[i].type != OPTION_HEADING && specs[i].letter == found)
			return &specs[i];
	return NULL;
}

/* Set the error for a long option that getopt_long() did not accept. */
static int bad_long_option(const struct getopt_tables *t, const char *word, struct error *err)
{
	const struct command *c = t->command;
	int length = (int)strcspn(word, "=");
	struct nearest near = {.word = word + 2, .length = (size_t)length - 2};
	size_t matches = 0;
	char list[256] = "";

	for (const struct option *o = t->names; o->name; o++) {
		size_t used = strlen(list);

		nearest_try(&near, o->name);
		if (strncmp(o->name, word + 2, (size_t)length - 2) != 0)
			continue;
		matches++;
		snprintf(list + used, sizeof(list) - used, "%s--%s", used ? ", " : "", o->name);
	}
	if (matches > 1)
		return error_set(err, -EINVAL, "%s: '%.*s' could be each of %s", c->name, length,
				 word, list);
	if (near.best)
		return error_set(err, -EINVAL, "%s: there is no option '%.*s'; is '--%s' meant?",
				 c->name, length, word, near.best);
	return error_set(err, -EINVAL,
			 "%s: there is no option '%.*s'; 'skein %s --help' lists them", c->name,
			 length, word, c->name);
}

static int bad_option(const struct getopt_tables *t, int found, const char *word, struct error *err)
{
	const struct command *c = t->command;
	const struct option_spec *o = optopt ? option_spec_of(t, optopt) : NULL;

	if (found == ':' && o)
		return error_set(err, -EINVAL, "%s: option '%s%s' needs an argument: %s", c->name,
				 optopt >= LONG_BASE ? "--" : "-",
				 optopt >= LONG_BASE ? o->name : (char[]){o->letter, 0}, o->arg);
	if (optopt >= LONG_BASE)
		return error_set(err, -EINVAL, "%s: option '--%s' takes no argument", c->name,
				 o ? o->name : "help");
	if (optopt)
		return error_set(err, -EINVAL,
				 "%s: there is no option '-%c'; 'skein %s --help' lists them",
				 c->name, optopt, c->name);
	return bad_long_option(t, word, err);
}

int option_set(const struct option_spec *o, void *options, const char *value, struct error *err)
{
	void *member = (char *)options + o->offset;

	switch (o->type) {
	case OPTION_FLAG:
		*(bool *)member = true;
		return 0;
	case OPTION_TEXT:
		*(const char **)member = value;
		return 0;
	case OPTION_OPTIONAL:
		*(const char **)member = value ? value : "";
		return 0;
	case OPTION_COUNT:
		return parse_count(value, member, err);
	case OPTION_BYTES:
		return parse_bytes(value, member, err);
	case OPTION_DURATION:
		return parse_duration(value, member, err);
	case OPTION_PERCENT:
		return parse_percent(value, member, err);
	case OPTION_CALL:
		return o->set(options, value, err);
	case OPTION_HEADING:
		break;
	}
	return -EINVAL;
}

static int parse_arguments(const struct getopt_tables *t, int argc, char **argv, void *options,
			   struct error *err)
{
	const struct command *c = t->command;
	int found, ret;

	optind = 0; /* Restart getopt_long(), even inside a cluster of letters (a GNU extension). */
	opterr = 0;
	for (;;) {
		const struct option_spec *o;

		optopt = 0;
		found = getopt_long(argc, argv, t->letters, t->names, NULL);
		if (found == -1)
			return optind;
		if (found == '?' || found == ':')
			return bad_option(t, found, argv[optind - 1], err);
		o = option_spec_of(t, found);
		if (!o) {
			options_help(c, stdout, 0);
			if (fflush(stdout) || ferror(stdout))
				return error_errno(err, errno ? -errno : -EIO,
						   "cannot write the help");
			return -ECANCELED;
		}
		ret = option_set(o, options, optarg, err);
		if (ret < 0)
			return error_wrap(err, -EINVAL, "%s: option '--%s'", c->name, o->name);
	}
}

int options_parse(const struct command *c, int argc, char **argv, void *options, struct error *err)
{
	struct getopt_tables t = {.command = c};
	int ret = getopt_tables_make(&t);

	if (!ret)
		ret = parse_arguments(&t, argc, argv, options, err);
	else
		error_errno(err, ret, "%s", c->name);
	getopt_tables_free(&t);
	return ret;
}

int option_find_word(const char *word, const char *(*words)(unsigned int), struct error *err)
{
	char list[256] = "";

	for (unsigned int i = 0; words(i); i++) {
		if (!strcmp(word, words(i)))
			return (int)i;
		strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
		strncat(list, words(i), sizeof(list) - strlen(list) - 1);
	}
	return error_set(err, -EINVAL, "'%s' is not one of %s", word, list);
}
