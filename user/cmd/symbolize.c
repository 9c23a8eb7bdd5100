// SPDX-License-Identifier: Apache-2.0
/* skein symbolize: name the frames of a trace that have no name. */
#include "cmd/symbolize.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>

#include "base/json.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/filters.h"

struct symbolize_options {
	const char *output, *servers;
	bool json;
};

#define MEMBER(m) offsetof(struct symbolize_options, m)

static const struct option_spec symbolize_specs[] = {
	DEBUGINFOD_OPTION(struct symbolize_options, servers, "after this machine's own files"),
	{.name = "output",
	 .letter = 'o',
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "Write the trace with its names to FILE; a file of that name becomes FILE.old. "
		 "Default: the trace itself is replaced, in one step.",
	 .offset = MEMBER(output)},
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "Print what was named as JSON.",
	 .offset = MEMBER(json)},
	{.name = NULL},
};

static void put_servers(struct json *j, const struct debuginfod_counts *c)
{
	json_key(j, "debuginfod");
	json_object(j);
	json_key_uint(j, "requested", c->requested);
	json_key_uint(j, "found", c->outcomes[DEBUGINFOD_FOUND]);
	json_key_uint(j, "cached", c->cached);
	json_key_uint(j, "none", c->outcomes[DEBUGINFOD_NONE]);
	json_key_uint(j, "silent", c->outcomes[DEBUGINFOD_SILENT]);
	json_key_uint(j, "large", c->outcomes[DEBUGINFOD_LARGE]);
	json_key_uint(j, "other_build", c->outcomes[DEBUGINFOD_OTHER]);
	json_key_uint(j, "failed",
		      c->outcomes[DEBUGINFOD_FAILED] + c->outcomes[DEBUGINFOD_NO_PROGRAM]);
	json_key_uint(j, "bytes", c->bytes);
	json_object_end(j);
}

static void put_modules(struct json *j, const struct symbolize_result *r)
{
	json_key(j, "modules");
	json_array(j);
	for (size_t i = 0; i < r->modules.count; i++) {
		const struct late_module *m = &r->modules.items[i];

		json_object(j);
		json_key_text(j, "path", m->path);
		json_key_text(j, "build_id", m->build_id);
		json_key_uint(j, "nameless", m->count);
		json_key_uint(j, "named", m->named);
		json_key(j, "fetched");
		json_bool(j, m->fetched);
		json_key_text(j, "reason", m->named < m->count ? late_module_reason(m) : "");
		json_key_text(j, "why", m->outcome == LATE_SERVERS ? m->why : "");
		json_object_end(j);
	}
	json_array_end(j);
}

static int print_names_json(const struct symbolize_result *r, const struct symbolize_request *q)
{
	struct json j;

	json_begin(&j, stdout, true);
	json_object(&j);
	json_key_text(&j, "trace", q->output ? q->output : q->path);
	json_key_uint(&j, "native_frames", r->nameless.native);
	json_key_uint(&j, "nameless_frames", r->nameless.frames);
	json_key_uint(&j, "named_frames", r->named);
	json_key(&j, "cut_short");
	json_bool(&j, r->cut_short);
	if (q->urls)
		put_servers(&j, &r->counts);
	put_modules(&j, r);
	json_object_end(&j);
	(void)json_end(&j);
	return command_finish("the names");
}

static int run_symbolize(const struct symbolize_request *q, bool json)
{
	struct symbolize_result r;
	struct error err = {""};
	int status = 0;

	if (symbolize_trace(&r, q, &err) < 0)
		status = log_failure(1, &err);
	else if (json)
		status = print_names_json(&r, q);
	else
		symbolize_print(&r, q->output ? q->output : q->path);
	symbolize_result_free(&r);
	return status;
}

static int symbolize_main(int argc, char **argv)
{
	struct symbolize_options o = {0};
	char cache[PATH_MAX] = "";
	struct symbolize_request q = {.path = DEFAULT_TRACE, .cache = cache, .progress = true};
	int first = command_parse(&symbolize_command, argc, argv, &o), status;

	if (first < 0)
		return ~first;
	if (argc - first > 1)
		return log_error(2, "symbolize: one trace at a time, not also '%s'",
				 argv[first + 1]);
	if (first < argc)
		q.path = argv[first];
	q.output = o.output;
	status = symbolize_choose_servers(&q.urls, o.servers, cache, sizeof(cache));
	return status ? status : run_symbolize(&q, o.json);
}

const struct command symbolize_command = {
	.name = "symbolize",
	.summary = "name the functions of a trace that have no name",
	.usage = "[OPTIONS] [FILE]",
	.description =
		"Functions without a name are shown by their file, such as [cc1+0x4a1f20]: the "
		"symbols of the file were removed, and its debug file was not installed while "
		"recording. Install the package with the debug file, or give --debuginfod, and "
		"this command names them afterwards: in the trace (skein.skein when none is "
		"named), by the build-ids of the files and the offsets in them.\n\n"
		"Symbols are taken from the file itself, from its debug file below /usr/lib/debug, "
		"and from servers if that is asked for; never from a file of another build. "
		"Ctrl-C ends the search, and stores what was found. Names of Java, Python and "
		"other generated code, and of the kernel, are known only while recording.",
	.examples = "skein symbolize\tafter the debug packages were installed\n"
		    "skein symbolize --debuginfod=https://debuginfod.debian.net web.skein\t"
		    "from a server\n"
		    "skein symbolize web.skein -o named.skein\tkeep the trace as it is\n",
	.options = symbolize_specs,
	.options_size = sizeof(struct symbolize_options),
	.environment = DEBUGINFOD_ENVIRONMENT
	"XDG_CACHE_HOME, HOME\tWhere files from servers are kept, except for root.",
	.files = "skein.skein\tThe trace that is named when none is given.\n"
		 "/usr/lib/debug\tDebug files of this machine.\n"
		 "/var/cache/skein/debuginfod\tFiles from servers; other users than root have them "
		 "in their own cache.",
	.run = symbolize_main,
};
