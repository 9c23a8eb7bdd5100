// SPDX-License-Identifier: Apache-2.0
/* Put names into a complete trace: the work of skein symbolize. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/text.h"
#include "base/units.h"
#include "cmd/package.h"
#include "cmd/recorder.h"
#include "cmd/symbolize.h"
#include "trace/create.h"

#define MODULES_SHOWN 10

/* One run: what its callbacks share. */
struct symbolizing {
	const struct symbolize_request *request;
	struct symbolize_result *result;
	struct late_names names;
	bool shown; /* a progress line is on the terminal */
};

/* Store the name of an address, for the frame of the same index. */
static int store_late_name(void *context, size_t module, size_t index, const struct function *f,
			   uint64_t flags)
{
	struct symbolizing *s = context;
	const struct nameless_module *m = &s->result->nameless.modules.items[module];
	struct function own = *f;
	struct frame frame = {.id = m->frames.items[index], .flags = flags};
	int ret;

	own.mapping = m->mapping;
	ret = late_names_add_function(&s->names, &own, &frame.function);
	return ret ? ret : vector_push(&s->names.frames, frame);
}

static void show_search(struct symbolizing *s, const struct late_progress *p)
{
	char clean[256], fit[128];

	if (!s->request->progress || !isatty(STDERR_FILENO))
		return;
	s->shown = true;
	fprintf(stderr, "\r\033[Knames: %zu of %zu files", p->done, p->modules);
	if (p->fetching) {
		text_clean(p->fetching, clean, sizeof(clean));
		fprintf(stderr, ", fetching %s", text_fit(clean, 40, true, fit, sizeof(fit)));
	}
	fflush(stderr);
}

static void end_search_line(struct symbolizing *s)
{
	if (s->shown)
		fputs("\r\033[K", stderr);
	s->shown = false;
}

static volatile sig_atomic_t search_stopped;

static void on_stop(int signal_number)
{
	(void)signal_number;
	search_stopped = 1;
}

static bool search_continues(void *context, const struct late_progress *p)
{
	struct symbolizing *s = context;

	show_search(s, p);
	s->result->cut_short = search_stopped;
	return !search_stopped;
}

/* How the process takes signals outside of a search. */
struct search_signals {
	struct sigaction before[3];
	sigset_t mask;
};

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};

/* The first signal ends the search, the next one the process. */
static void begin_signals(struct search_signals *s)
{
	const struct sigaction stop = {.sa_handler = on_stop, .sa_flags = (int)SA_RESETHAND};
	sigset_t set;

	search_stopped = 0;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(*stop_signals); i++) {
		sigaddset(&set, stop_signals[i]);
		sigaction(stop_signals[i], NULL, &s->before[i]);
		if (s->before[i].sa_handler != SIG_IGN)
			sigaction(stop_signals[i], &stop, NULL);
	}
	sigprocmask(SIG_UNBLOCK, &set, &s->mask);
}

static void end_signals(const struct search_signals *s)
{
	sigprocmask(SIG_SETMASK, &s->mask, NULL);
	for (size_t i = 0; i < sizeof(stop_signals) / sizeof(*stop_signals); i++)
		sigaction(stop_signals[i], &s->before[i], NULL);
}

int symbolize_choose_servers(const char **urls, const char *given, char *cache, size_t size)
{
	struct error err = {""};

	*urls = NULL;
	if (!given)
		return 0;
	if (debuginfod_choose_urls(urls, given, &err) < 0)
		return log_failure(2, &err);
	if (!debuginfod_is_installed()) {
		error_set(&err, -ENOENT, "--debuginfod: " DEBUGINFOD_PROGRAM " is not installed");
		error_hint(&err, DEBUGINFOD_PACKAGES);
		return log_failure(1, &err);
	}
	return recorder_choose_debug_cache(cache, size, &err) < 0 ? log_failure(1, &err) : 0;
}

static int list_late_modules(struct symbolize_result *r)
{
	for (size_t i = 0; i < r->nameless.modules.count; i++) {
		const struct nameless_module *m = &r->nameless.modules.items[i];
		const struct late_module late = {.path = m->path,
						 .build_id = m->build_id,
						 .addresses = m->addresses.items,
						 .count = m->addresses.count};

		if (vector_push(&r->modules, late) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int search_names(struct symbolizing *s, struct error *err)
{
	struct search_signals signals;
	struct late_options o = {
		.urls = s->request->urls,
		.cache = s->request->cache,
		.named = store_late_name,
		.keep_going = search_continues,
		.context = s,
	};
	struct symbolize_result *r = s->result;
	int ret;

	begin_signals(&signals);
	ret = late_symbols_find(r->modules.items, r->modules.count, &o, err);
	end_signals(&signals);
	end_search_line(s);
	r->counts = o.counts;
	r->named = s->names.frames.count;
	return ret;
}

/* Give the new file the owner and the mode of the one that it replaces, as far as possible. */
static void keep_owner(const char *made, const struct stat *st)
{
	int fd = open(made, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return;
	/* failure leaves the file to the user who runs skein, and to nobody else */
	if (fchown(fd, st->st_uid, st->st_gid) == 0)
		(void)fchmod(fd, st->st_mode & 0777);
	close(fd);
}

static int replace_trace(const char *made, const char *real, const struct stat *st,
			 struct error *err)
{
	keep_owner(made, st);
	return rename(made, real) < 0 ? error_errno(err, -errno, "cannot replace %s", real) : 0;
}

/* Write the trace with the names beside its final name, which it then gets. */
static int store_names(struct symbolizing *s, struct trace *t, struct error *err)
{
	const char *output = s->request->output;
	char *real = output ? NULL : realpath(s->request->path, NULL), *made = NULL;
	struct stat st = {0};
	int ret = 0;

	if (output)
		ret = resolve_trace_path(&real, output, err);
	else if (!real)
		ret = error_errno(err, -errno, "cannot write %s", s->request->path);
	if (!ret)
		ret = check_trace_name(real, err);
	if (!ret && asprintf(&made, "%s.names-%d", real, (int)getpid()) < 0) {
		made = NULL;
		ret = error_errno(err, -ENOMEM, "cannot write %s", real);
	}
	if (!ret && !output && stat(real, &st) < 0)
		ret = error_errno(err, -errno, "cannot read %s", real);
	if (!ret)
		ret = late_names_write(&s->names, t, made, err);
	if (!ret) {
		ret = output ? publish_trace_file(made, real, err)
			     : replace_trace(made, real, &st, err);
		if (ret < 0)
			unlink(made);
	}
	free(made);
	free(real);
	return ret;
}

int symbolize_trace(struct symbolize_result *out, const struct symbolize_request *r,
		    struct error *err)
{
	struct symbolizing s = {.request = r, .result = out};
	struct trace *t = NULL;
	int ret;

	*out = (struct symbolize_result){0};
	ret = trace_open(&t, r->path, err);
	if (!ret)
		ret = nameless_find(&out->nameless, t, err);
	if (!ret && list_late_modules(out) < 0)
		ret = error_errno(err, -ENOMEM, "%s", r->path);
	if (!ret)
		ret = search_names(&s, err);
	if (!ret && (out->named || r->output))
		ret = store_names(&s, t, err);
	trace_close(t);
	late_names_free(&s.names);
	return ret;
}

void symbolize_result_free(struct symbolize_result *r)
{
	vector_free(&r->modules);
	nameless_free(&r->nameless);
}

/* Modules by the number of frames that still have no name, most first. */
static int by_nameless(const void *a, const void *b)
{
	const struct late_module *x = *(const struct late_module *const *)a;
	const struct late_module *y = *(const struct late_module *const *)b;
	uint64_t i = x->count - x->named, j = y->count - y->named;

	return i != j ? (i < j) - (i > j) : strcmp(x->path, y->path);
}

static void print_module(const struct late_module *m)
{
	char count[32], command[512] = "";
	const char *more = m->outcome == LATE_SERVERS ? m->why : command;

	/* the module is the file that has this path now, so its package is that of the module */
	if (m->outcome == LATE_BARE)
		(void)package_debug_command(m->path, command, sizeof(command));
	log_info("  %s: %s frame%s: %s%s%s", m->path,
		 show_count(m->count - m->named, count, sizeof(count)),
		 m->count - m->named == 1 ? "" : "s", late_module_reason(m), *more ? ": " : "",
		 more);
}

static void print_modules(const struct symbolize_result *r)
{
	const struct late_module **all = calloc(r->modules.count + 1, sizeof(*all));
	size_t count = 0;

	for (size_t i = 0; all && i < r->modules.count; i++)
		if (r->modules.items[i].named < r->modules.items[i].count)
			all[count++] = &r->modules.items[i];
	if (count) {
		qsort(all, count, sizeof(*all), by_nameless);
		log_info("files with frames that have no name:");
	}
	for (size_t i = 0; i < count && i < MODULES_SHOWN; i++)
		print_module(all[i]);
	if (count > MODULES_SHOWN)
		log_info("  ... and %zu more files", count - MODULES_SHOWN);
	free(all);
}

void symbolize_print(const struct symbolize_result *r, const char *path)
{
	char named[32], all[32], native[32];

	if (r->cut_short)
		log_info("the search for names was ended early");
	if (!r->nameless.frames) {
		log_info("%s: each of its %s native frames has a name", path,
			 show_count(r->nameless.native, native, sizeof(native)));
		return;
	}
	log_info("%s: %s of %s frames that had no name are named now (of %s native frames)", path,
		 show_count(r->named, named, sizeof(named)),
		 show_count(r->nameless.frames, all, sizeof(all)),
		 show_count(r->nameless.native, native, sizeof(native)));
	print_modules(r);
}
