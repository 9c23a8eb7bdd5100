// SPDX-License-Identifier: Apache-2.0
/* Choose windows of 'skein serve', and add them up in a temporary trace (window_choice.h). */
#include "cmd/window_choice.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/clock.h"
#include "cmd/filters.h"
#include "trace/sequence.h"

#define DAY 86400

/* Moments in s since 1970. */
struct moments {
	time_t from, to; /* windows that end after from and until to */
	time_t at; /* 0: also all others that fit; else that of this moment */
};

/* The temporary traces; their folder has nothing else. "": there are none. */
static char joined_folder[PATH_MAX - 32], joined_paths[2 * WINDOW_PARTS][PATH_MAX];
static size_t joined_count;

static void remove_joined(void)
{
	if (!*joined_folder)
		return;
	for (size_t i = 0; i < joined_count; i++) {
		unlink(joined_paths[i]);
		/* the program ends: the path may be changed */
		strcat(joined_paths[i], "-journal");
		unlink(joined_paths[i]);
	}
	rmdir(joined_folder);
}

static void on_joined_signal(int signal)
{
	remove_joined();
	_exit(128 + signal);
}

bool window_choice_given(const struct window_choice *c)
{
	return c->last || c->at;
}

const char *window_choice_folder(const struct window_choice *c)
{
	return c->folder ? c->folder : WINDOW_FOLDER;
}

/* Parse the rest of a moment: 14:30, 14:30:10, and Z for UTC, into *t; return whether it fits. */
static bool parse_time_of_day(const char *text, struct tm *t, bool *utc)
{
	const char *rest = strptime(text, "%H:%M:%S", t);

	if (!rest)
		rest = strptime(text, "%H:%M", t);
	if (!rest)
		return false;
	*utc = *rest == 'Z';
	return !rest[*utc];
}

static time_t time_of(struct tm *t, bool utc)
{
	t->tm_isdst = -1;
	return utc ? timegm(t) : mktime(t);
}

/* Parse a moment into s since 1970; a time of day is the last such moment before now. */
static int parse_moment(const char *text, time_t now, time_t *out)
{
	struct tm t = {0};
	const char *rest = strptime(text, "%Y-%m-%d", &t);
	bool utc = text[0] && text[strlen(text) - 1] == 'Z', day = !rest;

	if (day && !(utc ? gmtime_r(&now, &t) : localtime_r(&now, &t)))
		return -EINVAL;
	t.tm_sec = 0;
	if (rest && *rest != ' ' && *rest != 'T')
		return -EINVAL;
	if (!parse_time_of_day(rest ? rest + 1 : text, &t, &utc))
		return -EINVAL;
	*out = time_of(&t, utc);
	if (day && *out > now)
		*out -= DAY;
	return *out < 0 ? -EINVAL : 0;
}

static int explain_no_window(const struct window_choice *c, const struct window_files *all,
			     struct error *err)
{
	char first[32] = "", last[32] = "";
	struct tm t;
	time_t begin, end;

	if (!all->list.count)
		error_set(err, -ENOENT,
			  "%s has no windows: does 'skein serve' run, for a minute or "
			  "more?",
			  window_choice_folder(c));
	else {
		begin = (time_t)all->list.items[0].begin;
		end = (time_t)all->list.items[all->list.count - 1].end;
		strftime(first, sizeof(first), "%F %T", localtime_r(&begin, &t));
		strftime(last, sizeof(last), "%F %T", localtime_r(&end, &t));
		error_set(err, -ENOENT,
			  "%s has no window of that time: its windows are of %s to %s",
			  window_choice_folder(c), first, last);
	}
	return -ENOENT;
}

static int no_moment(const char *text, const char *expected, struct error *err)
{
	return error_set(err, -EINVAL,
			 "'%s' is no moment: 14:30 or '2026-11-27 14:30' is expected%s", text,
			 expected);
}

static int find_moments(const struct window_choice *c, struct moments *out, struct error *err)
{
	time_t now = time(NULL), last = (time_t)(c->last / NSEC_PER_SEC);

	*out = (struct moments){.to = c->last ? now : INT64_MAX};
	if (c->at && parse_moment(c->at, now, &out->at) < 0)
		return no_moment(c->at, "", err);
	if (c->last && last < now)
		out->from = now - last;
	return 0;
}

static bool is_of_moments(const struct window_file *w, const struct moments *m)
{
	return (time_t)w->end > m->from && (time_t)w->end <= m->to &&
	       (!m->at || ((time_t)w->begin <= m->at && m->at < (time_t)w->end));
}

/* Keep of a list the windows of those moments. Return 0, or -ENOENT with the list unchanged. */
static int keep_windows_of(const struct window_choice *c, const struct moments *m,
			   struct window_files *list, struct error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->list.count; i++)
		kept += is_of_moments(&list->list.items[i], m);
	if (!kept)
		return explain_no_window(c, list, err);
	kept = 0;
	for (size_t i = 0; i < list->list.count; i++)
		if (is_of_moments(&list->list.items[i], m))
			list->list.items[kept++] = list->list.items[i];
	list->list.count = kept;
	return 0;
}

int window_choice_filter(const struct window_choice *c, struct window_files *list,
			 struct error *err)
{
	struct moments m;
	int ret = find_moments(c, &m, err);

	return ret ? ret : keep_windows_of(c, &m, list, err);
}

static int make_joined_folder(struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	char folder[sizeof(joined_folder)];

	if (*joined_folder)
		return 0;
	if (snprintf(folder, sizeof(folder), "%s/skein-XXXXXX", temporary ? temporary : "/tmp") >=
	    (int)sizeof(folder))
		return error_errno(err, -ENAMETOOLONG, "TMPDIR");
	if (!mkdtemp(folder))
		return error_errno(err, -errno, "%s", folder);
	strcpy(joined_folder, folder);
	atexit(remove_joined);
	signal(SIGINT, on_joined_signal);
	signal(SIGTERM, on_joined_signal);
	signal(SIGHUP, on_joined_signal);
	return 0;
}

static void free_window_paths(char **paths, size_t count)
{
	for (size_t i = 0; paths && i < count; i++)
		free(paths[i]);
	free(paths);
}

/* Set *out to the paths of windows, which the caller frees. Return 0 or -ENOMEM. */
static int list_window_paths(const char *folder, const struct window_file *windows, size_t count,
			     char ***out)
{
	char **paths = calloc(count + 1, sizeof(*paths));

	for (size_t i = 0; paths && i < count; i++)
		if (asprintf(&paths[i], "%s/%s", folder, windows[i].name) < 0) {
			paths[i] = NULL;
			free_window_paths(paths, count);
			return -ENOMEM;
		}
	*out = paths;
	return paths ? 0 : -ENOMEM;
}

/* Add windows up, into one more temporary trace, whose path is stored in *path. */
static int join_windows(const char *folder, const struct window_file *windows, size_t count,
			const char **path, struct error *err)
{
	char *joined = joined_paths[joined_count];
	struct source *source = NULL;
	struct sink *sink = NULL;
	char **paths = NULL;
	int ret = list_window_paths(folder, windows, count, &paths);

	if (ret)
		return error_errno(err, ret, "cannot add windows up");
	ret = sequence_source(&source, (const char *const *)paths, count, err);
	if (!ret)
		ret = make_joined_folder(err);
	if (ret)
		goto out;
	snprintf(joined, PATH_MAX, "%s/windows-%zu.skein", joined_folder, ++joined_count);
	*path = joined;
	ret = trace_writer(&sink, joined, err);
	if (!ret)
		ret = pipe_join(source, sink, err);
	if (!ret && !sequence_count(source))
		ret = error_set(err, -ENOENT, "the windows were removed meanwhile");
out:
	sink_free(sink);
	source_free(source);
	free_window_paths(paths, count);
	return ret;
}

/* Set *out to the moments that are compared with m. */
static int find_other_moments(const struct window_choice *c, const struct moments *m,
			      struct moments *out, struct error *err)
{
	const char *against = c->against;
	time_t now = time(NULL), earlier = (time_t)(c->last / NSEC_PER_SEC), moment;
	uint64_t duration;

	if (against && parse_duration(against, &duration, &(struct error){""}) == 0)
		earlier = (time_t)(duration / NSEC_PER_SEC);
	else if (against && parse_moment(against, now, &moment) == 0)
		earlier = (c->at ? m->at : m->to) - moment;
	else if (against)
		return no_moment(against, ", or a time such as 24h", err);
	else if (c->at)
		return error_set(err, -EINVAL, "--at wants --against: 24h, or a moment");
	*out = *m;
	out->from = m->from > earlier ? m->from - earlier : 0;
	if (c->at)
		out->at = m->at - earlier;
	else
		out->to = m->to - earlier;
	return 0;
}

/* Add the windows of those moments up, in *count parts at most. */
static int join_window_parts(const struct window_choice *c, const struct moments *m,
			     const char *paths[WINDOW_PARTS], size_t *count, struct error *err)
{
	const char *folder = window_choice_folder(c);
	struct window_files list = {0};
	size_t begin = 0;
	int ret = window_files_list(&list, folder, err);

	if (!ret)
		ret = keep_windows_of(c, m, &list, err);
	if (list.list.count < *count)
		*count = list.list.count;
	for (size_t i = 0; i < *count && !ret; i++) {
		size_t end = (i + 1) * list.list.count / *count;

		ret = join_windows(folder, list.list.items + begin, end - begin, &paths[i], err);
		begin = end;
	}
	window_files_free(&list);
	return ret;
}

int window_choice_pair(const struct window_choice *c, size_t parts,
		       const char *paths[2][WINDOW_PARTS], size_t count[2], struct error *err)
{
	struct moments after, before;
	int ret = find_moments(c, &after, err);

	if (!ret)
		ret = find_other_moments(c, &after, &before, err);
	count[0] = count[1] = parts;
	if (!ret)
		ret = join_window_parts(c, &before, paths[0], &count[0], err);
	return ret ? ret : join_window_parts(c, &after, paths[1], &count[1], err);
}

int window_choice_path(const struct window_choice *c, const char *command, const char *operand,
		       const char **path)
{
	struct window_files list = {0};
	struct error err = {""};
	int ret;

	*path = operand ? operand : DEFAULT_TRACE;
	if (!window_choice_given(c))
		return c->folder ? log_error(2, "%s: --folder is for --last and --at", command) : 0;
	if (operand)
		return log_error(2, "%s: --last and --at choose windows, so '%s' is too many",
				 command, operand);
	ret = window_files_list(&list, window_choice_folder(c), &err);
	if (!ret)
		window_files_leave_flights(&list);
	if (!ret)
		ret = window_choice_filter(c, &list, &err);
	if (!ret)
		ret = join_windows(window_choice_folder(c), list.list.items, list.list.count, path,
				   &err);
	window_files_free(&list);
	return ret < 0 ? log_failure(ret == -EINVAL ? 2 : 1, &err) : 0;
}
