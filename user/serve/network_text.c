// SPDX-License-Identifier: Apache-2.0
/* Texts from the core (network_text.h). */
#include "serve/network_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/units.h"

#define WINDOWS_TEXT_MAX (8 << 20) /* bytes: more than 50,000 windows */
#define SHOWN_MAX 200 /* windows in the page */

/* Read a whole descriptor into a text with a NUL at its end. Return 0 or a negative errno. */
static int read_core_text(int fd, size_t most, struct network_text *out)
{
	struct stat st;
	char *text;
	size_t done = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size < 0 || (uint64_t)st.st_size > most)
		return -EFBIG;
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return -ENOMEM;
	while (done < (size_t)st.st_size) {
		ssize_t bytes = pread(fd, text + done, (size_t)st.st_size - done, (off_t)done);

		if (bytes <= 0) {
			free(text);
			return -EIO;
		}
		done += (size_t)bytes;
	}
	text[done] = '\0';
	*out = (struct network_text){text, done};
	return 0;
}

int network_ask_text(struct asker *a, struct network_question *question,
		     const struct http_request *q, size_t most, struct network_text *out)
{
	int fd, ret = ask_core(a, question, q, &fd);

	if (!ret)
		ret = fd < 0 ? -EIO : read_core_text(fd, most, out);
	if (fd >= 0)
		close(fd);
	return ret;
}

int network_windows_get(struct asker *a, const struct http_request *q, struct network_windows *out)
{
	struct network_question question = {.kind = ASK_WINDOWS};
	struct network_windows w = {0};
	struct network_text text = {NULL, 0};
	int ret = network_ask_text(a, &question, q, WINDOWS_TEXT_MAX, &text);
	char *rest = text.text;

	for (char *line; !ret && (line = strsep(&rest, "\n")) && *line;) {
		struct window_file f = {.bytes = 0};
		char *space = strrchr(line, ' ');

		line[strcspn(line, " ")] = '\0';
		if (!space || !window_files_parse(line, &f))
			continue;
		f.bytes = strtoull(space + 1, NULL, 10);
		ret = vector_push(&w.list, f);
	}
	free(text.text);
	if (ret)
		vector_free(&w.list);
	else
		*out = w;
	return ret;
}

void network_windows_write(const struct network_windows *w, FILE *out)
{
	fputs("[", out);
	for (size_t i = 0; i < w->list.count; i++) {
		const struct window_file *f = &w->list.items[i];

		/* Names of windows are digits, letters and signs that JSON does not escape. */
		fprintf(out,
			"%s\n{\"name\":\"%s\",\"begin\":%" PRIu64 ",\"end\":%" PRIu64
			",\"bytes\":%" PRIu64 "}",
			i ? "," : "", f->name, f->begin, f->end, f->bytes);
	}
	fputs("]\n", out);
}

static const char index_head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
	"<title>skein serve</title>\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<style>:root{color-scheme:light dark}"
	"body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:46rem;padding:0 1rem}"
	"table{border-collapse:collapse}"
	"td,th{padding:.15rem 1.2rem .15rem 0;text-align:left;font-variant-numeric:tabular-nums;"
	"white-space:nowrap}"
	"td.n,th.n{text-align:right}code{font-size:.95em;overflow-wrap:anywhere}"
	/* names of files do not fit onto a phone, and say again what is in the row */
	"@media(max-width:36rem){td:last-child,th:last-child{display:none}}"
	"</style></head><body>\n<h1>skein serve</h1>\n"
	"<p>Flame graph of <a href=\"/flamegraph?last=5m\">the last 5 minutes</a>, "
	"<a href=\"/flamegraph?last=1h\">the last hour</a>, "
	"<a href=\"/flamegraph?seconds=10\">the next 10 seconds</a>, "
	"<a href=\"/flamegraph?seconds=10&amp;event=wall\">the next 10 seconds of wall time</a>. "
	"<a href=\"/metrics\">Metrics</a>. "
	"Stacks as text: <a href=\"/folded?last=5m\">/folded</a>.\n"
	"<p>pprof: <code>go tool pprof http://ADDRESS/debug/pprof/profile?seconds=30</code>, "
	"wall time: <code>http://ADDRESS/debug/pprof/wall?seconds=10</code>\n";

static void write_window_row(const struct window_file *f, FILE *out)
{
	char begin[32] = "", bytes[32];
	time_t time = (time_t)f->begin;
	struct tm utc;

	if (gmtime_r(&time, &utc))
		strftime(begin, sizeof(begin), "%F %T", &utc);
	fprintf(out,
		"<tr><td><a href=\"/flamegraph?window=%s\">%s</a></td><td class=\"n\">%" PRIu64
		" s</td><td class=\"n\">%s</td><td><code>%s</code></td></tr>\n",
		f->name, begin, f->end - f->begin, show_bytes(f->bytes, bytes, sizeof(bytes)),
		f->name);
}

void network_index_write(const struct network_windows *w, FILE *out)
{
	size_t count = w->list.count;

	fputs(index_head, out);
	if (!count)
		fputs("<p>No window is complete yet.\n", out);
	else
		fprintf(out,
			"<p>%zu windows%s:\n<table><tr><th>begin (UTC)</th>"
			"<th class=\"n\">length</th><th class=\"n\">size</th><th>file</th></tr>\n",
			count, count > SHOWN_MAX ? ", the last 200 of them" : "");
	for (size_t i = count; i-- > 0 && count - i <= SHOWN_MAX;)
		write_window_row(&w->list.items[i], out);
	fputs(count ? "</table></body></html>\n" : "</body></html>\n", out);
}
