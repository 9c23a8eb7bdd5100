// SPDX-License-Identifier: Apache-2.0
/* Names, list and budget of the windows in a folder (window_files.h). */
#include "serve/window_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/trace.h"

#define NSEC_PER_SEC 1000000000ULL
#define STAMP "%Y%m%dT%H%M%SZ" /* for strftime() and strptime() */
#define STAMP_SIZE 32
#define OPEN_PREFIX "open-"
#define FLIGHT_PART "flight.part" /* the flight that is being written */
#define SUFFIX ".skein"
#define LENGTH_MAX 100000000ULL /* s; a name with a longer window is not of the service */
/* windows that may begin and end in the same seconds: after a clock jump */
#define SAME_NAMES 1000

static void write_stamp(char *out, uint64_t time)
{
	time_t t = (time_t)time;
	struct tm utc;

	if (!gmtime_r(&t, &utc) || !strftime(out, STAMP_SIZE, STAMP, &utc))
		out[0] = '\0';
}

/* Parse a stamp into s since 1970; return what follows it, or NULL. */
static const char *parse_stamp(const char *text, uint64_t *out)
{
	struct tm utc = {0};
	const char *rest = strptime(text, STAMP, &utc);
	time_t t = rest ? timegm(&utc) : -1;

	if (t < 0)
		return NULL;
	*out = (uint64_t)t;
	return rest;
}

bool flight_reason_is_valid(const char *reason)
{
	size_t length = strspn(reason, "abcdefghijklmnopqrstuvwxyz-");

	return length && length < FLIGHT_REASON_SIZE && !reason[length] && reason[0] != '-' &&
	       reason[length - 1] != '-';
}

/* Take the reason of a flight, as in "-signal.skein" or "-signal-2.skein". Return what follows. */
static const char *parse_flight_reason(const char *text, struct window_file *out)
{
	size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz-");

	if (length && text[length] == '-')
		length--;
	if (!length || length >= sizeof(out->reason))
		return text;
	memcpy(out->reason, text + 1, length);
	return text + 1 + length;
}

bool window_files_parse(const char *name, struct window_file *out)
{
	unsigned long long length;
	const char *rest = parse_stamp(name, &out->begin), *at;
	char *end;

	if (!rest || rest[0] != '-' || rest[1] < '0' || rest[1] > '9')
		return false;
	length = strtoull(rest + 1, &end, 10);
	if (*end++ != 's' || length > LENGTH_MAX)
		return false;
	at = *end == '-' ? parse_flight_reason(end, out) : end;
	if (*at == '-')
		at += 1 + strspn(at + 1, "0123456789");
	if (strcmp(at, SUFFIX) || strlen(name) > NAME_MAX)
		return false;
	out->end = out->begin + length;
	memcpy(out->name, name, strlen(name) + 1);
	return true;
}

/* By begin; of equal names but for a number at the end, the longer one is the later one. */
static int compare_window_files(const void *a, const void *b)
{
	const struct window_file *x = a, *y = b;
	size_t lx = strlen(x->name), ly = strlen(y->name);

	if (x->begin != y->begin)
		return x->begin > y->begin ? 1 : -1;
	return lx != ly ? (lx > ly) - (lx < ly) : strcmp(x->name, y->name);
}

static int open_window_folder(const char *folder, DIR **out, struct error *err)
{
	*out = opendir(folder);
	return *out ? 0 : error_errno(err, -errno, "%s", folder);
}

int window_files_list(struct window_files *out, const char *folder, struct error *err)
{
	struct window_files found = {0};
	const struct dirent *e;
	DIR *dir;
	int ret = open_window_folder(folder, &dir, err);

	while (!ret && (e = readdir(dir))) {
		struct window_file w = {.bytes = 0};
		struct stat st;

		if (!window_files_parse(e->d_name, &w) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		w.bytes = (uint64_t)st.st_size;
		ret = vector_push(&found.list, w);
		if (ret)
			error_errno(err, ret, "%s", folder);
	}
	if (dir)
		closedir(dir);
	if (ret) {
		window_files_free(&found);
		return ret;
	}
	if (found.list.count)
		qsort(found.list.items, found.list.count, sizeof(struct window_file),
		      compare_window_files);
	*out = found;
	return 0;
}

void window_files_free(struct window_files *w)
{
	vector_free(&w->list);
}

static void keep_files_of_kind(struct window_files *w, bool flights)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->list.count; i++)
		if ((w->list.items[i].reason[0] != '\0') == flights)
			w->list.items[kept++] = w->list.items[i];
	w->list.count = kept;
}

void window_files_leave_flights(struct window_files *w)
{
	keep_files_of_kind(w, false);
}

void window_files_leave_windows(struct window_files *w)
{
	keep_files_of_kind(w, true);
}

/* Return whether a window is too old or one too many. kept: bytes of it and all after it. */
static bool is_beyond_budget(const struct window_budget *budget, const struct window_file *w,
			     uint64_t kept, const struct window_now *now)
{
	uint64_t early = now->wall < now->steady ? now->wall : now->steady;
	uint64_t late = now->wall > now->steady ? now->wall : now->steady;

	return (budget->bytes && kept > budget->bytes) ||
	       (budget->age && (w->end + budget->age < early || w->begin > late + budget->age));
}

/* Return how many windows, the first ones of the list, are not of the future. */
static size_t count_past_windows(const struct window_files *w, uint64_t now)
{
	size_t count = w->list.count;

	while (count && w->list.items[count - 1].begin > now)
		count--;
	return count;
}

/* Return whether a name is that of a window that is being written, or of a file beside it. */
static bool is_open_window(const char *name)
{
	return !strncmp(name, OPEN_PREFIX, strlen(OPEN_PREFIX));
}

/*
 * Return the bytes of the windows and sessions that are being written and of their journals. least:
 * what a window may have when it is complete.
 */
static uint64_t bytes_of_open_windows(DIR *dir, uint64_t least)
{
	const struct dirent *e;
	uint64_t sum = 0;

	while ((e = readdir(dir))) {
		size_t length = strlen(e->d_name), end = strlen(SUFFIX);
		bool window = is_open_window(e->d_name);
		bool whole = window && length > end && !strcmp(e->d_name + length - end, SUFFIX);
		struct stat st;
		uint64_t bytes;

		if ((!window && strncmp(e->d_name, SESSION_PREFIX, strlen(SESSION_PREFIX))) ||
		    fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		bytes = (uint64_t)st.st_size;
		sum += whole && bytes < least ? least : bytes;
	}
	return sum;
}

/* A folder whose windows or flights are being removed. */
struct pruning {
	const char *folder;
	DIR *dir;
	const struct window_files *files;
	const struct window_now *now;
	uint64_t *removed;
};

/* Return a file by its number from the newest to the oldest; then follow those of the future. */
static const struct window_file *file_by_age(const struct window_files *w, size_t past, size_t i)
{
	return &w->list.items[i < past ? past - 1 - i : w->list.count - 1 - (i - past)];
}

/*
 * Remove windows, or flights, beyond the budget. *kept: bytes that are taken already, to which the
 * bytes of those that stay are added. Return 0, or the negative errno of the first that could not
 * be removed.
 */
static int prune_kind(const struct pruning *p, bool flights, const struct window_budget *budget,
		      uint64_t *kept, struct error *err)
{
	size_t past = count_past_windows(p->files, p->now->wall);
	uint64_t bytes = *kept;
	int ret = 0;

	for (size_t i = 0; i < p->files->list.count; i++) {
		const struct window_file *w = file_by_age(p->files, past, i);

		if ((w->reason[0] != '\0') != flights)
			continue;
		bytes += w->bytes; /* of it and all that stay before it */
		if (!is_beyond_budget(budget, w, bytes, p->now)) {
			*kept = bytes;
			continue;
		}
		if (unlinkat(dirfd(p->dir), w->name, 0) == 0)
			(*p->removed)++;
		else if (errno != ENOENT && !ret)
			ret = error_errno(err, -errno, "%s/%s", p->folder, w->name);
	}
	return ret;
}

/* Return the bytes of the last window that is complete and not of the future. */
static uint64_t bytes_of_last_window(const struct window_files *w, uint64_t now)
{
	for (size_t i = count_past_windows(w, now); i-- > 0;)
		if (!w->list.items[i].reason[0])
			return w->list.items[i].bytes;
	return 0;
}

/* Return the bytes that flights may take; 0: no limit. */
static uint64_t bytes_of_flights(const struct window_budget *budget)
{
	uint64_t part = budget->bytes / FLIGHTS_PART;

	return budget->bytes && !part ? 1 : part;
}

int window_files_prune(const char *folder, const struct window_budget *budget,
		       const struct window_now *now, uint64_t *removed, struct error *err)
{
	struct window_budget b = {bytes_of_flights(budget), budget->age};
	struct window_files w;
	struct pruning p = {folder, NULL, &w, now, removed};
	uint64_t kept = 0, open;
	int ret = open_window_folder(folder, &p.dir, err), rc;

	if (ret < 0)
		return ret;
	ret = window_files_list(&w, folder, err);
	if (ret < 0)
		goto out;
	open = bytes_of_open_windows(p.dir, bytes_of_last_window(&w, now->wall));
	ret = prune_kind(&p, true, &b, &kept, err);
	b.bytes = budget->bytes > kept ? budget->bytes - kept : budget->bytes;
	rc = prune_kind(&p, false, &b, &open, ret ? NULL : err);
	ret = ret ? ret : rc;
	window_files_free(&w);
out:
	closedir(p.dir);
	return ret;
}

int window_files_open_path(char *out, size_t size, const char *folder, uint64_t begin,
			   struct error *err)
{
	char stamp[STAMP_SIZE];

	write_stamp(stamp, begin);
	for (unsigned int i = 1; i < SAME_NAMES; i++) {
		if (snprintf(out, size, "%s/" OPEN_PREFIX "%s-%u" SUFFIX, folder, stamp, i) >=
		    (int)size)
			return error_errno(err, -ENAMETOOLONG, "%s", folder);
		if (access(out, F_OK) < 0)
			return 0;
	}
	return error_errno(err, -EEXIST, "%s", out);
}

/* Write what was written to a path to the disk. Return 0 or a negative errno. */
static int sync_path(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | flags), ret = 0;

	if (fd < 0)
		return -errno;
	if (fsync(fd) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * Give a file a name that no other file has; write its path to path, of PATH_MAX bytes. An empty
 * reason is that of a window. Return 0 or a negative errno.
 */
static int link_window(char *path, const struct flight_name *name, const char *from)
{
	char stamp[STAMP_SIZE], turn[16] = "";
	unsigned long long length = name->end > name->begin ? name->end - name->begin : 0;

	write_stamp(stamp, name->begin);
	for (unsigned int i = 2; i < SAME_NAMES; i++) {
		if (snprintf(path, PATH_MAX, "%s/%s-%llus%s%s%s" SUFFIX, name->folder, stamp,
			     length, name->reason[0] ? "-" : "", name->reason, turn) >= PATH_MAX)
			return -ENAMETOOLONG;
		if (renameat2(AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
		snprintf(turn, sizeof(turn), "-%u", i);
	}
	return -EEXIST;
}

int window_files_publish(const char *folder, const char *open_path, uint64_t begin, uint64_t end,
			 struct error *err)
{
	const struct flight_name name = {folder, "", begin, end};
	char path[PATH_MAX];
	int ret = sync_path(open_path, 0);

	if (!ret)
		ret = link_window(path, &name, open_path);
	if (!ret)
		ret = sync_path(folder, O_DIRECTORY);
	return ret ? error_errno(err, ret, "%s", open_path) : 0;
}

int flight_files_open_path(char *out, size_t size, const char *folder, struct error *err)
{
	char journal[PATH_MAX + 16], *real = realpath(folder, NULL);
	int length;

	if (!real)
		return error_errno(err, -errno, "%s", folder);
	length = snprintf(out, size, "%s/" FLIGHT_PART, real);
	free(real);
	if (length >= (int)size)
		return error_errno(err, -ENAMETOOLONG, "%s", folder);
	snprintf(journal, sizeof(journal), "%s-journal", out);
	unlink(journal);
	return unlink(out) == 0 || errno == ENOENT ? 0 : error_errno(err, -errno, "%s", out);
}

int flight_files_publish(char *out, const struct flight_name *name, const char *open_path,
			 const struct window_budget *budget, struct error *err)
{
	uint64_t most = bytes_of_flights(budget);
	struct stat st;
	int ret = stat(open_path, &st) < 0 ? -errno : 0;

	if (!ret && most && (uint64_t)st.st_size > most)
		ret = -EFBIG;
	if (!ret)
		ret = sync_path(open_path, 0);
	if (!ret)
		ret = link_window(out, name, open_path);
	if (!ret)
		ret = sync_path(name->folder, O_DIRECTORY);
	if (!ret)
		return 0;
	unlink(open_path);
	if (ret == -EFBIG)
		return error_set(err, ret,
				 "a trace of the flight recorder has %llu bytes, more "
				 "than its part of --disk: %llu",
				 (unsigned long long)st.st_size, (unsigned long long)most);
	return error_errno(err, ret, "%s", open_path);
}

/* Remove the journal that a killed writer left beside a file, after it was rolled back. */
static void remove_journal(const char *path)
{
	char journal[PATH_MAX + 16];

	snprintf(journal, sizeof(journal), "%s-journal", path);
	unlink(journal);
}

/*
 * Publish one window that was left open. It is opened once, which rolls back what was not
 * committed; it ends with the last time that is in it. One without a readable trace is removed.
 */
static int recover_window(const char *folder, const char *name, uint64_t *count, struct error *err)
{
	char path[PATH_MAX];
	struct trace *t = NULL;
	uint64_t begin, start, last, length;

	if (!parse_stamp(name + strlen(OPEN_PREFIX), &begin) ||
	    snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return 0;
	if (trace_open(&t, path, NULL) < 0 || trace_times(t, &start, &last, NULL) < 0) {
		trace_close(t);
		unlink(path);
		remove_journal(path);
		return 0;
	}
	trace_close(t);
	remove_journal(path);
	(*count)++;
	length = last > start ? (last - start + NSEC_PER_SEC / 2) / NSEC_PER_SEC : 0;
	length = length < LENGTH_MAX ? length : LENGTH_MAX; /* the file may be damaged */
	return window_files_publish(folder, path, begin, begin + length, err);
}

int window_files_recover(const char *folder, uint64_t *count, struct error *err)
{
	char part[PATH_MAX];
	const struct dirent *e;
	DIR *dir;
	int ret = open_window_folder(folder, &dir, err);

	*count = 0;
	if (!ret)
		ret = flight_files_open_path(part, sizeof(part), folder, err);
	while (!ret && (e = readdir(dir))) {
		size_t length = strlen(e->d_name), end = strlen(SUFFIX);

		if (is_open_window(e->d_name) && length > end &&
		    !strcmp(e->d_name + length - end, SUFFIX))
			ret = recover_window(folder, e->d_name, count, err);
	}
	if (dir)
		closedir(dir);
	return ret;
}
