/* SPDX-License-Identifier: Apache-2.0 */
/* Put names into a complete trace: shared by skein symbolize and skein record --debuginfod. */
#ifndef SKEIN_CMD_SYMBOLIZE_H
#define SKEIN_CMD_SYMBOLIZE_H

#include "base/vector.h"
#include "capture/late_symbols.h"
#include "trace/late_names.h"

/* A row of a table of options. in is the type of the options, member a const char *. */
#define DEBUGINFOD_OPTION(in, member, when) \
	{.name = "debuginfod", .type = OPTION_OPTIONAL, .arg = "URLS", \
	 .help = "Ask debuginfod servers for missing symbols, " when ". They get the build-ids " \
		 "of files. Without a value: the servers of $DEBUGINFOD_URLS. Needs the " \
		 "program debuginfod-find. Nobody is asked without this option.", \
	 .offset = offsetof(in, member)}

#define DEBUGINFOD_ENVIRONMENT \
	"DEBUGINFOD_URLS\tThe servers of --debuginfod without a value.\n" \
	"DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME\tSeconds that a server may take for 100 KiB " \
	"(20) and for a file (600), at most.\n" \
	"DEBUGINFOD_MAXSIZE\tLargest file that is taken from a server, in bytes (4 GiB at most).\n"

struct symbolize_request {
	const char *path;
	const char *output; /* NULL: the trace is replaced */
	const char *urls; /* debuginfod servers, or NULL */
	const char *cache; /* the folder of their files */
	bool progress; /* show on a terminal how far the search is */
};

/*
 * Choose the servers of --debuginfod, NULL if the option was not given, and the folder of their
 * files. Return 0, or an exit status after an error message.
 */
int symbolize_choose_servers(const char **urls, const char *given, char *cache, size_t size);

struct symbolize_result {
	struct nameless nameless; /* as found before */
	VECTOR(struct late_module) modules; /* those of nameless, in the order of it */
	uint64_t named; /* number of nameless frames that have a name now */
	struct debuginfod_counts counts;
	bool cut_short; /* a signal ended the search */
};

/*
 * Find names for the frames of a trace that have none, and store them. SIGINT, SIGTERM and SIGHUP
 * end the search, and what was found until then is stored. Return 0 or a negative errno; after an
 * error the trace is as it was. The result is to be freed in both cases.
 */
int symbolize_trace(struct symbolize_result *out, const struct symbolize_request *r,
		    struct error *err);
void symbolize_result_free(struct symbolize_result *r);

/* Print what was named, and which files still lack names and why. */
void symbolize_print(const struct symbolize_result *r, const char *path);

#endif
