// SPDX-License-Identifier: Apache-2.0
/* skein open: show the flame graph page of a trace in a browser. */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/export.h"
#include "cmd/filters.h"
#include "cmd/open.h"

#define PAGE_NAME_MAX 100 /* most characters of the trace's name in the name of its page */

struct open_options {
	struct export_arguments export;
	bool print;
};

static const struct option_spec open_specs[] = {
	{.name = "print",
	 .letter = 'n',
	 .type = OPTION_FLAG,
	 .help = "Only print the address of the page; start no browser.",
	 .offset = offsetof(struct open_options, print)},
	{.name = "How stacks are shown", .type = OPTION_HEADING},
	VIEW_OPTIONS(struct open_options, export.how.view),
	FILTER_OPTIONS(struct open_options, export.filter),
	{.name = NULL},
};

/*
 * Return the name of the page of a trace, which the caller frees: the same for the same name, so
 * that a page replaces the one before. Only characters stay that mean nothing to a shell or in an
 * address.
 */
static char *page_name(const char *trace)
{
	const char *slash = strrchr(trace, '/'), *name = slash ? slash + 1 : trace;
	size_t length = strlen(name), ending = strlen(".skein");
	char *text;

	if (length > ending && !strcmp(name + length - ending, ".skein"))
		length -= ending;
	if (length > PAGE_NAME_MAX)
		length = PAGE_NAME_MAX;
	if (asprintf(&text, "skein-%.*s.html", (int)length, name) < 0)
		return NULL;
	for (char *c = text; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.",
			    *c))
			*c = '_';
	return text;
}

/* Return the address of a file, which the caller frees; NULL if memory ran out. */
static char *page_address(const char *folder, const char *name)
{
	size_t size = sizeof("file://") + 3 * strlen(folder) + 1 + strlen(name);
	char *address = malloc(size), *to = address;

	if (!address)
		return NULL;
	to = stpcpy(to, "file://");
	for (const unsigned char *c = (const unsigned char *)folder; *c; c++) {
		bool plain = strchr("/-._~", *c) || (*c >= '0' && *c <= '9') ||
			     ((*c | 32) >= 'a' && (*c | 32) <= 'z');

		to += sprintf(to, plain ? "%c" : "%%%02X", *c);
	}
	sprintf(to, "/%s", name);
	return address;
}

/* Write the page into the folder, by its descriptor: its name may lead elsewhere by now. */
static int write_page(const struct open_folder *folder, const char *name, const char *trace,
		      const struct export_arguments *o, struct error *err)
{
	char *path;
	int ret;

	if (asprintf(&path, "/proc/self/fd/%d/%s", folder->fd, name) < 0)
		return error_errno(err, -ENOMEM, "cannot name the page");
	ret = export_trace_file(trace, path, export_format_named("html"), o, err);
	free(path);
	return ret;
}

static int show_page(const struct open_user *user, const char *address, bool print)
{
	int ret = print ? -ENOENT : open_browser(user, address);

	if (!ret) {
		log_info("%s is open in the browser", address);
		return 0;
	}
	if (ret != -ENOENT)
		log_warn("the browser could not be started; open the page yourself:");
	else if (!print)
		log_info("there is no browser here ($BROWSER, or xdg-open and a display); open the "
			 "page yourself:");
	puts(address);
	return command_finish("the address");
}

static int run_open(const char *trace, const struct open_options *o)
{
	struct open_user user = open_user_find();
	struct open_folder folder = {0};
	struct error err = {""};
	char *name = page_name(trace), *address = NULL;
	int status, ret = -ENOMEM;

	if (name)
		ret = open_folder_find(&folder, &user, &err);
	if (!ret)
		ret = write_page(&folder, name, trace, &o->export, &err);
	if (!ret) {
		address = page_address(folder.path, name);
		ret = address ? 0 : -ENOMEM;
	}
	status = ret < 0 ? log_failure(1, &err) : show_page(&user, address, o->print);
	open_folder_close(&folder);
	free(name);
	free(address);
	return status;
}

static int open_main(int argc, char **argv)
{
	struct open_options o = {0};
	struct error err = {""};
	int first = command_parse(&open_command, argc, argv, &o);

	if (first < 0)
		return ~first;
	if (argc - first > 1)
		return log_error(2, "open: one trace at a time; '%s' is too many", argv[first + 1]);
	if (filter_check(&o.export.filter, &err) < 0)
		return log_failure(2, &err);
	return run_open(first < argc ? argv[first] : DEFAULT_TRACE, &o);
}

const struct command open_command = {
	.name = "open",
	.summary = "show the flame graph page of a trace in a browser",
	.usage = "[OPTIONS] [FILE]",
	.description =
		"Write the flame graph page of a trace (skein.skein when none is named) and open "
		"it in the browser: $BROWSER, else xdg-open. Where there is none, print the "
		"page's address.\n\n"
		"The page is one file that only its user can read, in the user's runtime folder, "
		"where it goes with the session; opening the trace again replaces it. With sudo, "
		"page and browser belong to the user who called sudo. To keep a page or to "
		"send it, use skein export -o FILE.html.",
	.examples = "skein open\tthe recording in skein.skein\n"
		    "skein open run.skein --comm java --from 10s\tpart of it\n"
		    "skein open -n run.skein\tonly the address\n",
	.options = open_specs,
	.options_size = sizeof(struct open_options),
	.environment = "BROWSER\tThe command that shows a page, or several with colons between; %s "
		       "is the page.\n"
		       "XDG_RUNTIME_DIR\tThe folder for the page.\n"
		       "TMPDIR\tWhere a folder skein-UID takes its place (default /tmp).\n"
		       "SUDO_UID, SUDO_GID\tThe user of page and browser, for root.\n",
	.files = "skein.skein\tThe trace that is read when none is named.\n"
		 "$XDG_RUNTIME_DIR/skein-NAME.html\tThe page of NAME.skein.",
	.run = open_main,
};
