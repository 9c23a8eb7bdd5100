// SPDX-License-Identifier: Apache-2.0
/* options.c, quantity.c and help.c: every type of option, every kind of wrong value, the help. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/options.h"
#include "suite.h"

struct settings {
	bool all, kernel;
	const char *output, *server;
	uint64_t frequency, buffer, duration;
	int calls;
	const char *event;
};

static int set_event(void *options, const char *value, struct error *err)
{
	struct settings *s = options;

	if (!strcmp(value, "bad"))
		return error_set(err, -ENOENT, "there is no event '%s'", value);
	s->event = value;
	return 0;
}

static int set_call(void *options, const char *value, struct error *err)
{
	(void)err;
	((struct settings *)options)->calls += value ? 100 : 1;
	return 0;
}

static const char *event_word(unsigned int index)
{
	static const char *const words[] = {"cpu", "cycles", NULL};

	return words[index];
}

#define AT(member) offsetof(struct settings, member)
#define MORE "Text that is long enough to be wrapped at the right edge of the page, twice or so."

static const struct option_spec specs[] = {
	{.name = "What", .type = OPTION_HEADING},
	{.name = "all",
	 .letter = 'a',
	 .type = OPTION_FLAG,
	 .help = "Everything.",
	 .offset = AT(all)},
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = MORE,
	 .offset = AT(output)},
	{.name = "event",
	 .letter = 'e',
	 .type = OPTION_CALL,
	 .arg = "NAME",
	 .set = set_event,
	 .values = event_word,
	 .help = "Which event."},
	{.name = "How", .type = OPTION_HEADING},
	{.name = "frequency",
	 .letter = 'F',
	 .type = OPTION_COUNT,
	 .arg = "HZ",
	 .help = "How often.",
	 .offset = AT(frequency)},
	{.name = "buffer", .type = OPTION_BYTES, .arg = "SIZE", .help = MORE, .offset = AT(buffer)},
	{.name = "duration",
	 .letter = 'd',
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "How long.",
	 .offset = AT(duration)},
	{.name = "kernel",
	 .letter = 'K',
	 .type = OPTION_FLAG,
	 .help = "The kernel's side.",
	 .offset = AT(kernel)},
	{.name = "server",
	 .type = OPTION_OPTIONAL,
	 .arg = "URL",
	 .help = "Ask it.",
	 .offset = AT(server)},
	{.name = "call", .type = OPTION_CALL, .set = set_call, .help = "Counts."},
	{.name = "something-with-a-long-name",
	 .type = OPTION_TEXT,
	 .arg = "ARGUMENT",
	 .help = MORE,
	 .offset = AT(output)},
	{.name = NULL},
};

static const struct command command = {
	.name = "record",
	.summary = "record",
	.usage = "[OPTIONS] [-- CMD ARGS]",
	.description = MORE " " MORE "\n\nA second paragraph.",
	.legend = "SELF\t" MORE "\nTOTAL\tall of it",
	.examples = "sudo skein record -d 10s\t" MORE "\nskein record -- make\ta command",
	.options = specs,
	.options_size = sizeof(struct settings),
};

static struct settings settings;
static struct error err;
static int argc;
static char *argv[16];

/* Split words at spaces and parse them; return the result of options_parse(). */
static int parse(const char *words, bool stop_at_operand)
{
	static char line[256];
	struct command c = command;

	snprintf(line, sizeof(line), "record %s", words);
	settings = (struct settings){.frequency = 99};
	err.text[0] = '\0';
	argc = 0;
	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	c.stop_at_operand = stop_at_operand;
	return options_parse(&c, argc, argv, &settings, &err);
}

START_TEST(every_type)
{
	const char *words = "-a --output x -e cpu -F 2k --buffer 4M --duration=1.5m --call";

	ck_assert_int_eq(parse(words, false), argc);
	ck_assert(settings.all && !settings.kernel);
	ck_assert_str_eq(settings.output, "x");
	ck_assert_str_eq(settings.event, "cpu");
	ck_assert_uint_eq(settings.frequency, 2000);
	ck_assert_uint_eq(settings.buffer, 4 << 20);
	ck_assert_uint_eq(settings.duration, 90000000000);
	ck_assert_int_eq(settings.calls, 1);
}
END_TEST

START_TEST(all_the_ways_to_write_them)
{
	ck_assert_int_eq(parse("-aKox -F7 --dur 3 --f=8", false), argc);
	ck_assert(settings.all && settings.kernel);
	ck_assert_str_eq(settings.output, "x");
	ck_assert_uint_eq(settings.duration, 3000000000);
	ck_assert_uint_eq(settings.frequency, 8); /* the last value wins */
	ck_assert_int_eq(parse("", false), 1);
	ck_assert_uint_eq(settings.frequency, 99);
	ck_assert_int_eq(parse("--output=", false), 2);
	ck_assert_str_eq(settings.output, "");
}
END_TEST

START_TEST(an_optional_argument_comes_after_an_equals_sign)
{
	ck_assert_int_eq(parse("", false), 1);
	ck_assert_ptr_null(settings.server);
	ck_assert_int_eq(parse("--server=http://x", false), 2);
	ck_assert_str_eq(settings.server, "http://x");
	/* the next word is an operand, not the argument */
	ck_assert_int_eq(parse("--server file", false), argc - 1);
	ck_assert_str_eq(settings.server, "");
	ck_assert_str_eq(argv[argc - 1], "file");
}
END_TEST

START_TEST(operands)
{
	int first = parse("file -a other -- -K", false);

	ck_assert_int_eq(argc - first, 3);
	ck_assert_str_eq(argv[first], "file");
	ck_assert_str_eq(argv[first + 1], "other");
	ck_assert_str_eq(argv[first + 2], "-K");
	ck_assert(settings.all && !settings.kernel);
	first = parse("-a ls -K --foo", true);
	ck_assert_int_eq(first, 2);
	ck_assert_str_eq(argv[first], "ls");
	ck_assert(!settings.kernel);
	ck_assert_str_eq(argv[parse("-a -- -K", true)], "-K");
	ck_assert_str_eq(argv[parse("-a -", true)], "-");
}
END_TEST

static void expect_error(const char *words, const char *text)
{
	ck_assert_int_eq(parse(words, false), -EINVAL);
	ck_assert_str_eq(err.text, text);
}

START_TEST(errors_name_the_option)
{
	expect_error("--foo",
		     "record: there is no option '--foo'; 'skein record --help' lists them");
	expect_error("x --foo=3 y",
		     "record: there is no option '--foo'; 'skein record --help' lists them");
	expect_error("--otuput=x", "record: there is no option '--otuput'; is '--output' meant?");
	expect_error("-ax", "record: there is no option '-x'; 'skein record --help' lists them");
	expect_error("-a -F", "record: option '-F' needs an argument: HZ");
	expect_error("--freq", "record: option '--frequency' needs an argument: HZ");
	expect_error("--all=yes", "record: option '--all' takes no argument");
	expect_error("--help=x", "record: option '--help' takes no argument");
	expect_error("--e= --=3", "record: '--' could be each of --all, --output, --event, "
				  "--frequency, --buffer, --duration, --kernel, --server, --call, "
				  "--something-with-a-long-name, --help");
	expect_error("-e bad", "record: option '--event': there is no event 'bad'");
	expect_error("-F -5", "record: option '--frequency': '-5' is not a whole number, with k, M "
			      "or G for more");
	ck_assert_int_eq(
		options_parse(&command, 2, (char *[]){"record", "--x", NULL}, &settings, NULL),
		-EINVAL);
}
END_TEST

START_TEST(hostile_words_stay_in_one_line)
{
	ck_assert_int_eq(parse("--\n\x1b[2J", false), -EINVAL);
	ck_assert_ptr_null(strpbrk(err.text, "\n\x1b"));
	ck_assert_int_eq(parse("-\xff", false), -EINVAL);
	ck_assert_int_eq(parse("-:", false), -EINVAL);
	ck_assert_str_eq(err.text,
			 "record: there is no option '-:'; 'skein record --help' lists them");
	ck_assert_int_eq(parse("-d \n", false), -EINVAL);
	ck_assert_ptr_null(strpbrk(err.text, "\n\x1b"));
}
END_TEST

static uint64_t parsed;

static bool refuses(int (*parser)(const char *, uint64_t *, struct error *), const char *text)
{
	parsed = 77;
	return parser(text, &parsed, &err) == -EINVAL && parsed == 77 && strstr(err.text, text);
}

static uint64_t value_of(int (*parser)(const char *, uint64_t *, struct error *), const char *text)
{
	parsed = 77;
	if (parser(text, &parsed, &err))
		ck_abort_msg("%s", err.text);
	return parsed;
}

START_TEST(quantities)
{
	ck_assert_uint_eq(value_of(parse_count, "0"), 0);
	ck_assert_uint_eq(value_of(parse_count, "18446744073709551615"), UINT64_MAX);
	ck_assert_uint_eq(value_of(parse_count, "1.5k"), 1500);
	ck_assert_uint_eq(value_of(parse_count, "0.0000000001G"), 0);
	ck_assert_uint_eq(value_of(parse_bytes, "1.25K"), 1280);
	ck_assert_uint_eq(value_of(parse_bytes, "0.333KiB"), 340);
	ck_assert_uint_eq(value_of(parse_bytes, "17179869183G"), 17179869183ULL << 30);
	ck_assert_uint_eq(value_of(parse_percent, "1%"), 10000000);
	ck_assert_uint_eq(value_of(parse_percent, "0.5 %"), 5000000);
	ck_assert_uint_eq(value_of(parse_percent, "0"), 0);
	ck_assert_uint_eq(value_of(parse_percent, "250"), 2500000000);
	ck_assert_uint_eq(value_of(parse_duration, "10"), 10000000000);
	ck_assert_uint_eq(value_of(parse_duration, "1.000000001s"), 1000000001);
	ck_assert_uint_eq(value_of(parse_duration, "200ms"), 200000000);
	ck_assert_uint_eq(value_of(parse_duration, "3us"), 3000);
	ck_assert_uint_eq(value_of(parse_duration, "7ns"), 7);
	ck_assert_uint_eq(value_of(parse_duration, "5m"), 300000000000);
	ck_assert_uint_eq(value_of(parse_duration, "1h"), 3600000000000);
	ck_assert_uint_eq(value_of(parse_duration, "0.5d"), 43200000000000);
}
END_TEST

START_TEST(no_quantities)
{
	static const char *const bad[] = {"",	  " 1",	 "1 ",	"-1",	  "+1",	     "1e5",
					  "0x10", "1.",	 ".5",	"k",	  "1kk",     "1T",
					  "1.5",  "nan", "1,5", "1.2.3k", "\xc2\xb2"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_msg(refuses(parse_count, bad[i]), "%s", bad[i]);
		ck_assert_msg(refuses(parse_bytes, bad[i]), "%s", bad[i]);
		if (strcmp(bad[i], "1.5") != 0)
			ck_assert_msg(refuses(parse_duration, bad[i]), "%s", bad[i]);
	}
	ck_assert(refuses(parse_duration, "0.5ns"));
	ck_assert(refuses(parse_count, "18446744073709551616"));
	ck_assert(refuses(parse_count, "18446744073709551615k"));
	ck_assert(refuses(parse_bytes, "17179869184G"));
	ck_assert(refuses(parse_count, "99999999999999999999999999999999999999999999999999"));
	ck_assert(refuses(parse_duration, "18446744073.709551616s"));
}
END_TEST

static char *help_of(const struct command *c, unsigned int width)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	options_help(c, out, width);
	fclose(out);
	return text;
}

START_TEST(help_keeps_to_the_width)
{
	for (unsigned int width = 60; width <= 120; width += 20) {
		char *text = help_of(&command, width);
		size_t longest = 0;

		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
			size_t length = strlen(line);

			ck_assert_msg(length <= width, "%zu > %u: %s", length, width, line);
			ck_assert_msg(line[length - 1] != ' ', "ends in a space: %s", line);
			longest = length > longest ? length : longest;
		}
		ck_assert_uint_gt(longest, width - 12);
		free(text);
	}
}
END_TEST

START_TEST(help_tells_everything)
{
	char *text = help_of(&command, 80);

	ck_assert_ptr_eq(strstr(text, "usage: skein record [OPTIONS] [-- CMD ARGS]\n\n"), text);
	ck_assert_ptr_nonnull(strstr(text, "\n\nA second paragraph.\n\nExamples:\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n\nWhat:\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n\nHow:\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  -a, --all            Everything.\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n      --buffer SIZE    Text"));
	ck_assert_ptr_nonnull(strstr(text, "\n      --something-with-a-long-name ARGUMENT\n"
					   "                       Text"));
	ck_assert_ptr_nonnull(strstr(text, "\n\nOther:\n  -h, --help           Show this help.\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n\nWhat is shown:\n  SELF      Text"));
	ck_assert_ptr_nonnull(strstr(text, "\n  TOTAL     all of it\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n\nExamples:\n"
					   "  sudo skein record -d 10s\n      Text"));
	ck_assert_ptr_nonnull(
		strstr(text, "\n  skein record -- make                    a command\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n  -e, --event NAME     Which event.\n"
					   "                       One of cpu, cycles.\n"));
	for (const struct option_spec *o = specs; o->name; o++)
		ck_assert_ptr_nonnull(strstr(text, o->name));
	free(text);
}
END_TEST

START_TEST(words_are_told_unless_the_help_does)
{
	struct option_spec o = {.name = "event", .help = "Which.", .values = event_word};
	char words[64], few[8];

	ck_assert_str_eq(option_words(&o, words, sizeof(words)), "One of cpu, cycles.");
	ck_assert_str_eq(option_words(&o, few, sizeof(few)), "One of ");
	o.help = "cpu or cycles.";
	ck_assert_str_eq(option_words(&o, words, sizeof(words)), "");
	o.values = NULL;
	ck_assert_str_eq(option_words(&o, words, sizeof(words)), "");
}
END_TEST

static const struct option_spec plain_specs[] = {
	{.name = "height",
	 .letter = 'h',
	 .type = OPTION_TEXT,
	 .arg = "N",
	 .help = "How high.",
	 .offset = AT(output)},
	{.name = NULL},
};

static const struct command plain = {
	.name = "plain",
	.usage = "FILE",
	.description = "Do it.",
	.options = plain_specs,
};

START_TEST(a_letter_of_the_command_goes_before_help)
{
	char *words[] = {"plain", "-h", "3", NULL};
	char *text = help_of(&plain, 80);

	ck_assert_str_eq(text, "usage: skein plain FILE\n\nDo it.\n\nOptions:\n"
			       "  -h, --height N  How high.\n      --help      Show this help.\n");
	free(text);
	ck_assert_int_eq(options_parse(&plain, 3, words, &settings, &err), 3);
	ck_assert_str_eq(settings.output, "3");
}
END_TEST

static void expect_help_for(const char *words)
{
	FILE *file = tmpfile();
	int saved = dup(1), r;
	char got[128] = "";

	fflush(stdout);
	dup2(fileno(file), 1);
	r = parse(words, true);
	dup2(saved, 1);
	close(saved);
	rewind(file);
	ck_assert_ptr_nonnull(fgets(got, sizeof(got), file));
	fclose(file);
	ck_assert_int_eq(r, -ECANCELED);
	ck_assert_str_eq(got, "usage: skein record [OPTIONS] [-- CMD ARGS]\n");
}

START_TEST(help_is_an_option_of_every_command)
{
	expect_help_for("--help");
	expect_help_for("-a -h");
	expect_help_for("--he --foo");
	ck_assert_int_eq(parse("ls --help", true), 1);
}
END_TEST

SUITE("options", every_type, an_optional_argument_comes_after_an_equals_sign,
      all_the_ways_to_write_them, operands, errors_name_the_option, hostile_words_stay_in_one_line,
      quantities, no_quantities, help_keeps_to_the_width, help_tells_everything,
      words_are_told_unless_the_help_does, a_letter_of_the_command_goes_before_help,
      help_is_an_option_of_every_command)
