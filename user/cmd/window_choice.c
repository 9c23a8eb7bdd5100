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

/* The temporary trace; its folder has nothing else. "": there is none. */
static char joined_folder[PATH_MAX], joined_path[PATH_MAX], joined_journal[PATH_MAX];

static void remove_joined(void)
{
	if (!*joined_folder)
		return;
	unlink(joined_path);
	unlink(joined_journal);
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

int window_choice_filter(const struct window_choice *c, struct window_files *list,
			 struct error *err)
{
	time_t now = time(NULL), from = 0, at = 0;
	const struct window_files all = *list;
	size_t kept = 0;

	if (c->at && parse_moment(c->at, now, &at) < 0)
		return error_set(err, -EINVAL,
				 "'%s' is no moment: 14:30 or '2026-11-27 14:30' is expected",
				 c->at);
	if (c->last / NSEC_PER_SEC < (uint64_t)now)
		from = now - (time_t)(c->last / NSEC_PER_SEC);
	for (size_t i = 0; i < list->list.count; i++) {
		const struct window_file *w = &list->list.items[i];

		if ((!c->last || (time_t)w->end > from) &&
		    (!c->at || ((time_t)w->begin <= at && at < (time_t)w->end)))
			list->list.items[kept++] = *w;
	}
	if (!kept)
		return explain_no_window(c, &all, err);
	list->list.count = kept;
	return 0;
}

static int make_joined_file(struct error *err)
{
	const char *temporary = getenv("TMPDIR");
	char folder[PATH_MAX - 32];

	if (snprintf(folder, sizeof(folder), "%s/skein-XXXXXX", temporary ? temporary : "/tmp") >=
	    (int)sizeof(folder))
		return error_errno(err, -ENAMETOOLONG, "TMPDIR");
	if (!mkdtemp(folder))
		return error_errno(err, -errno, "%s", folder);
	snprintf(joined_path, sizeof(joined_path), "%s/windows.skein", folder);
	snprintf(joined_journal, sizeof(joined_journal), "%s/windows.skein-journal", folder);
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

/* Set *out to the paths of the windows, which the caller frees. Return 0 or -ENOMEM. */
static int list_window_paths(const char *folder, const struct window_files *list, char ***out)
{
	char **paths = calloc(list->list.count + 1, sizeof(*paths));

	for (size_t i = 0; paths && i < list->list.count; i++)
		if (asprintf(&paths[i], "%s/%s", folder, list->list.items[i].name) < 0) {
			paths[i] = NULL;
			free_window_paths(paths, list->list.count);
			return -ENOMEM;
		}
	*out = paths;
	return paths ? 0 : -ENOMEM;
}

/* Add the windows of a list up, into the temporary trace. */
static int join_windows(const struct window_choice *c, const struct window_files *list,
			struct error *err)
{
	struct source *source = NULL;
	struct sink *sink = NULL;
	char **paths = NULL;
	int ret = list_window_paths(window_choice_folder(c), list, &paths);

	if (ret)
		return error_errno(err, ret, "cannot add windows up");
	ret = sequence_source(&source, (const char *const *)paths, list->list.count, err);
	if (!ret)
		ret = make_joined_file(err);
	if (!ret)
		ret = trace_writer(&sink, joined_path, err);
	if (!ret)
		ret = pipe_join(source, sink, err);
	if (!ret && !sequence_count(source))
		ret = error_set(err, -ENOENT, "the windows were removed meanwhile");
	sink_free(sink);
	source_free(source);
	free_window_paths(paths, list->list.count);
	return ret;
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
		ret = join_windows(c, &list, &err);
	window_files_free(&list);
	*path = joined_path;
	return ret < 0 ? log_failure(ret == -EINVAL ? 2 : 1, &err) : 0;
}
