/* SPDX-License-Identifier: Apache-2.0 */
/* Export formats: one file each in this folder, one line each in format.c. */
#ifndef SKEIN_EXPORT_EXPORT_H
#define SKEIN_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/profile.h"
#include "base/pipe.h"

/* What may be asked of a format, beside the choice of samples. */
struct export_options {
	bool threads; /* a root frame per thread, not only per process */
	bool pids; /* tell processes of one name apart */
	bool containers; /* a root frame per container or cgroup */
	bool annotate; /* folded: _[k], _[j] suffixes */
	bool icicle; /* svg: the root stands at the top */
	uint64_t width; /* svg: px; 0: what suits */
	struct profile_view view; /* of formats that show stacks */
	/* Of formats that show time, ns since the recording began; to 0: to the end. */
	uint64_t from, to;
};

/*
 * X(name, "as it is called", ".ending of files that are in it", flags, "what is in it").
 * name_sink() makes its sink.
 */
#define EXPORT_FORMATS(X) \
	X(folded, "folded", ".folded", 0, "stacks as lines, with numbers of samples, for flame graphs") \
	X(html, "html", ".html", 0, "a flame graph page that needs nothing but a browser") \
	X(svg, "svg", ".svg", 0, "a flame graph as one static picture, for a page or a mail") \
	X(pprof, "pprof", ".pb.gz", EXPORT_BINARY, "for pprof and everything that reads profile.proto") \
	X(perfetto, "perfetto", ".pftrace", EXPORT_BINARY, \
	  "CPUs, states of threads, who woke whom, and samples, for ui.perfetto.dev") \
	X(speedscope, "speedscope", ".speedscope.json", 0, \
	  "each thread's samples in the order of time, for www.speedscope.app") \
	X(firefox, "firefox", ".firefox.json", 0, \
	  "each sample with its time, and losses, for profiler.firefox.com") \
	X(firefox_gz, "firefox.gz", ".firefox.json.gz", EXPORT_BINARY, \
	  "the same as firefox, compressed") \
	X(perf_script, "perf-script", ".perf.txt", 0, \
	  "each sample as text, for what reads the output of perf script") \
	X(json, "json", ".skein.json", 0, \
	  "the profile for scripts: stacks, sums, accounts, losses") \
	X(chrome, "chrome", ".json", EXPORT_ONLY_SCHED, \
	  "CPUs, states of threads, who woke whom, as JSON for other viewers of timelines") \
	X(chrome_gz, "chrome.gz", ".json.gz", EXPORT_BINARY | EXPORT_ONLY_SCHED, \
	  "the same as chrome, compressed")

enum {
	EXPORT_BINARY = 1,
	EXPORT_ONLY_SCHED = 2, /* it shows the scheduler's records and nothing else */
};

struct export_format {
	const char *name;
	const char *suffix; /* file ending that chooses it, such as ".folded" */
	const char *summary;
	bool binary;
	bool only_sched;
	/* a sink that writes to out when it is finished (or before); out stays the caller's */
	int (*sink)(struct sink **ret, FILE *out, const struct export_options *o,
		    struct error *err);
};

/* Ends with a NULL name. */
extern const struct export_format export_formats[];

/*
 * A sink for formats that show a profile as a whole: it builds the profile and
 * has write() put it on out when it is finished. write() need not check out
 * for errors.
 */
typedef int profile_writer(FILE *out, const struct profile *p, const struct export_options *o,
			   struct error *err);
int profile_export(struct sink **ret, profile_writer *write, FILE *out,
		   const struct export_options *o, struct error *err);

/* By name, or by the ending of a path (the longest that fits); NULL if there is none. */
const struct export_format *export_format_named(const char *name);
const struct export_format *export_format_for_path(const char *path);

#define EXPORT_SINK(name, word, suffix, flags, summary) \
	int name##_sink(struct sink **ret, FILE *out, const struct export_options *o, \
			struct error *err);
EXPORT_FORMATS(EXPORT_SINK)
#undef EXPORT_SINK

/*
 * The flame graph page. before: NULL, or the profile that p is compared with, each as shares of
 * its own total. Errors of out stay with it.
 */
int html_write(FILE *out, const struct profile *p, const struct profile *before,
	       const struct export_options *o, struct error *err);

/*
 * A flame graph as an SVG picture. before: NULL, or the profile that it is compared with: colours
 * then tell whose share of all samples grew (red) or shrank (blue).
 */
int svg_write(FILE *out, const struct profile *p, const struct profile *before,
	      const struct export_options *o, struct error *err);

#endif
