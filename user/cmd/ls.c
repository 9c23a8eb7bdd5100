// SPDX-License-Identifier: Apache-2.0
/* skein ls: list the windows of the service. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/log.h"
#include "base/units.h"
#include "capture/clock.h"
#include "cmd/commands.h"
#include "cmd/table.h"
#include "cmd/window_choice.h"

struct ls_options {
	struct window_choice windows;
	bool json, paths, flights;
};

static const struct option_spec ls_specs[] = {
	{.name = "Output", .type = OPTION_HEADING},
	{.name = "paths",
	 .type = OPTION_FLAG,
	 .help = "Only the paths of the files, one a line, for other commands: of windows, or with "
		 "--flights of flights.",
	 .offset = offsetof(struct ls_options, paths)},
	{.name = "flights",
	 .type = OPTION_FLAG,
	 .help = "Only the traces of the flight recorder.",
	 .offset = offsetof(struct ls_options, flights)},
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "As JSON, for programs.",
	 .offset = offsetof(struct ls_options, json)},
	WINDOW_OPTIONS(struct ls_options, windows),
	{.name = NULL},
};

static int ls_main(int argc, char **argv);

const struct command ls_command = {
	.name = "ls",
	.summary = "list the windows of skein serve",
	.usage = "[OPTIONS]",
	.description = "Lists the windows that 'skein serve' keeps, oldest first: when each began, "
		       "how long it is, and its file, an ordinary trace. Among them are the traces "
		       "of its flight recorder, with the trigger that each was written for.",
	.examples = "skein ls\tall windows\n"
		    "skein ls --last 1h\tthose of the last hour\n"
		    "skein report $(skein ls --paths --at 14:30)\tthe report of one window\n"
		    "skein ls --flights\twhat triggers have kept\n",
	.options = ls_specs,
	.options_size = sizeof(struct ls_options),
	.environment = "TZ\tThe time zone of the dates.",
	.files = WINDOW_FOLDER "\tThe windows, unless --folder names another folder.",
	.run = ls_main,
};

static void print_window_paths(const char *folder, const struct window_files *w)
{
	for (size_t i = 0; i < w->list.count; i++)
		printf("%s/%s\n", folder, w->list.items[i].name);
}

/* Keep of a list what is to be shown. Return 0, or a negative errno if nothing of it is chosen. */
static int choose_listed(const struct ls_options *o, struct window_files *w, struct error *err)
{
	if (o->flights)
		window_files_leave_windows(w);
	else if (o->paths)
		window_files_leave_flights(w);
	/* Having no flights is no error. */
	return o->flights && !w->list.count ? 0 : window_choice_filter(&o->windows, w, err);
}

static void print_windows_json(const char *folder, const struct window_files *w)
{
	char path[PATH_MAX + NAME_MAX];
	struct json j;

	json_begin(&j, stdout, true);
	json_array(&j);
	for (size_t i = 0; i < w->list.count; i++) {
		const struct window_file *f = &w->list.items[i];

		snprintf(path, sizeof(path), "%s/%s", folder, f->name);
		json_object(&j);
		json_key_text(&j, "path", path);
		json_key_uint(&j, "begin", f->begin);
		json_key_uint(&j, "end", f->end);
		json_key_uint(&j, "bytes", f->bytes);
		if (f->reason[0])
			json_key_text(&j, "trigger", f->reason);
		json_object_end(&j);
	}
	json_array_end(&j);
	json_end(&j);
}

static size_t count_flights(const struct window_files *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->list.count; i++)
		count += w->list.items[i].reason[0] != '\0';
	return count;
}

/* Print how many windows and flights there are, and their size. */
static void print_sum_of_windows(const struct window_files *w, uint64_t bytes)
{
	size_t flights = count_flights(w), windows = w->list.count - flights;
	char size[32];

	printf("%zu window%s, ", windows, windows == 1 ? "" : "s");
	if (flights)
		printf("%zu flight%s, ", flights, flights == 1 ? "" : "s");
	printf("%s\n", show_bytes(bytes, size, sizeof(size)));
}

static int print_windows(const struct window_files *w)
{
	static const struct column columns[] = {
		{.title = "began"},
		{.title = "length", .right = true},
		{.title = "size", .right = true},
		{.title = "file"},
		{.title = "trigger"},
	};
	struct table t = {.columns = columns, .column_count = count_flights(w) ? 5 : 4};
	char began[32], length[32], size[32];
	uint64_t bytes = 0;
	struct screen s;

	screen_open(&s, stdout, NULL);
	for (size_t i = 0; i < w->list.count; i++) {
		const struct window_file *f = &w->list.items[i];
		time_t time = (time_t)f->begin;
		struct tm local;

		strftime(began, sizeof(began), "%F %T", localtime_r(&time, &local));
		table_cell(&t, began);
		table_cell(&t, show_duration((f->end - f->begin) * NSEC_PER_SEC, length,
					     sizeof(length)));
		table_cell(&t, show_bytes(f->bytes, size, sizeof(size)));
		table_cell(&t, f->name);
		if (t.column_count > 4)
			table_cell(&t, f->reason);
		bytes += f->bytes;
	}
	if (table_finish(&t, &s, w->list.count, w->list.count) < 0)
		return log_error(1, "out of memory");
	print_sum_of_windows(w, bytes);
	return 0;
}

static int ls_main(int argc, char **argv)
{
	struct ls_options o = {.json = false};
	struct window_files w = {0};
	struct error err = {""};
	int first = command_parse(&ls_command, argc, argv, &o), status = 0;
	const char *folder;

	if (first < 0)
		return ~first;
	if (first < argc)
		return log_error(2, "ls: '%s' is not expected: --folder names the folder",
				 argv[first]);
	folder = window_choice_folder(&o.windows);
	if (window_files_list(&w, folder, &err) < 0 || choose_listed(&o, &w, &err) < 0)
		return log_failure(1, &err);
	if (o.json)
		print_windows_json(folder, &w);
	else if (o.paths)
		print_window_paths(folder, &w);
	else
		status = print_windows(&w);
	window_files_free(&w);
	return status ? status : command_finish("the list of windows");
}
