/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export formats. Each has one line in EXPORT_FORMATS and a sink in a file of this folder; a format
 * and its compressed variant share the sink.
 */
#ifndef SKEIN_EXPORT_EXPORT_H
#define SKEIN_EXPORT_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyze/profile.h"
#include "base/pipe.h"

struct html_samples;
/* The timeline of a page, see html_timeline_make(). */
struct export_timeline {
	char *json; /* what it shows; NULL: there is none */
	char *columns; /* base64; NULL: there are none */
	struct html_samples *samples; /* NULL: the page has no times of samples */
};

/* Options of an export; each format uses those that apply to it. */
struct export_options {
	bool threads; /* a root frame per thread, not only per process */
	bool pids; /* distinguish processes of the same name */
	bool containers; /* a root frame per container or cgroup */
	bool services; /* a root frame per service */
	bool annotate; /* folded: suffixes of frames that show their kind, such as _[k] */
	bool normalize; /* folded, two profiles: scale the old one to the total of the new one */
	bool icicle; /* svg: put the root at the top */
	bool wall; /* folded, svg, speedscope, firefox, pprof: time on CPUs and of waiting as one
		      event */
	uint64_t width; /* svg: width of the picture in px; 0 means the default */
	struct profile_view view; /* for formats that show stacks */
	/* For formats that show time: ns since the start of the recording; to 0 means the end. */
	uint64_t from, to;
	const struct export_timeline *timeline; /* html; NULL: the page has none */
	/* html_write_profile(): NULL, or JSON that says of what part of the samples it is */
	const char *part;
};

/*
 * X(name, "name of the format", ".suffix of its files", flags, "description"). The function
 * name_sink() makes the sink. Two formats may share a sink.
 */
#define EXPORT_FORMATS(X) \
	X(folded, "folded", ".folded", EXPORT_DIVIDED, \
	  "stacks as lines, with numbers of samples (of waits: us), for flame graphs") \
	X(html, "html", ".html", EXPORT_DIVIDED | EXPORT_TIMELINE, \
	  "a page for any browser: flame graph, and the timeline of the scheduler's records") \
	X(svg, "svg", ".svg", EXPORT_DIVIDED, \
	  "a flame graph as one static picture, for a page or a mail") \
	X(pprof, "pprof", ".pb.gz", EXPORT_GZIP | EXPORT_DIVIDED, \
	  "for pprof and everything that reads profile.proto") \
	X(perfetto, "perfetto", ".pftrace", EXPORT_BINARY, \
	  "CPUs, states of threads, who woke whom, and samples, for ui.perfetto.dev") \
	X(speedscope, "speedscope", ".speedscope.json", 0, \
	  "each thread's samples in the order of time, for www.speedscope.app") \
	X(firefox, "firefox", ".firefox.json", 0, \
	  "each sample with its time, and losses, for profiler.firefox.com") \
	X(firefox, "firefox.gz", ".firefox.json.gz", EXPORT_GZIP, \
	  "the same as firefox, compressed") \
	X(perf_script, "perf-script", ".perf.txt", 0, \
	  "each sample as text, for tools that read the output of perf script") \
	X(json, "json", ".skein.json", 0, \
	  "the profile for scripts: stacks, sums, accounts, losses") \
	X(chrome, "chrome", ".json", EXPORT_ONLY_SCHED, \
	  "CPUs, states of threads, who woke whom, as JSON for other viewers of timelines") \
	X(chrome, "chrome.gz", ".json.gz", EXPORT_GZIP | EXPORT_ONLY_SCHED, \
	  "the same as chrome, compressed")

enum {
	EXPORT_BINARY = 1, /* the sink does not write text; not for a terminal */
	EXPORT_ONLY_SCHED = 2, /* the format shows only the scheduler's records */
	EXPORT_GZIP = 4, /* the file is gzip (RFC 1952) of what the sink writes */
	/* the format shows sums, so that those of waits can add up to exact times */
	EXPORT_DIVIDED = 8,
	EXPORT_TIMELINE = 16, /* the format takes export_options.timeline */
};

struct export_format {
	const char *name;
	const char *suffix; /* file suffix that selects the format, such as ".folded" */
	const char *summary;
	bool binary; /* the file is not text, also if only gzip makes it so */
	bool only_sched;
	bool gzip;
	bool divided;
	bool timeline;
	/* Make a sink that has written to file when it is finished; the caller owns file. */
	int (*sink)(struct sink **out, FILE *file, const struct export_options *o,
		    struct error *err);
};

/* The last entry of the table has a NULL name. */
extern const struct export_format export_formats[];

/*
 * Make a sink for a format that writes a whole profile: the sink builds the profile, and calls
 * write() when the sink is finished. write() need not check out for write errors. The caller owns
 * file. Both return 0, or a negative errno with the cause in *err.
 */
typedef int profile_writer(FILE *out, const struct profile *p, const struct export_options *o,
			   struct error *err);
int profile_export(struct sink **out, profile_writer *write, FILE *file,
		   const struct export_options *o, struct error *err);

/*
 * Return the format with this name, or the format with the longest suffix that the path ends with;
 * ".gz" may follow the suffix. NULL if there is none.
 */
const struct export_format *export_format_named(const char *name);
const struct export_format *export_format_for_path(const char *path);

#define EXPORT_SINK(name, word, suffix, flags, summary) \
	int name##_sink(struct sink **out, FILE *file, const struct export_options *o, \
			struct error *err);
EXPORT_FORMATS(EXPORT_SINK)
#undef EXPORT_SINK

/*
 * Write the flame graph page. before is NULL, or the profile that p is compared with, both as
 * shares of their totals. Return 0, or a negative errno with the cause in *err; write errors are
 * only kept in out (ferror()).
 */
int html_write(FILE *out, const struct profile *p, const struct profile *before,
	       const struct export_options *o, struct error *err);

/* Write only the data of such a page, as JSON: what skein view sends to a page that is shown. */
int html_write_profile(FILE *out, const struct profile *p, const struct export_options *o,
		       struct error *err);

/* A page without data, which asks the server that it came from. */
struct html_shell {
	char *page; /* size bytes */
	size_t size;
	char *policy; /* its Content-Security-Policy, for a header */
};

/*
 * Make the page; html_shell_free() frees it. Return 0, -ENOMEM, or -EINVAL if the page that skein
 * was built with has no policy to extend.
 */
int html_shell_make(struct html_shell *out);
void html_shell_free(struct html_shell *s);

/*
 * Write a flame graph as an SVG picture. before is NULL, or the profile that p is compared with;
 * colours then show the frames whose share of all samples grew (red) or shrank (blue).
 */
int svg_write(FILE *out, const struct profile *p, const struct profile *before,
	      const struct export_options *o, struct error *err);

#endif
