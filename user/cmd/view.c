// SPDX-License-Identifier: Apache-2.0
/* skein view: serve the timeline and the flame graph of a trace to a browser on this machine. */
#include <errno.h>
#include <grp.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/own_user.h"
#include "cmd/commands.h"
#include "cmd/signals.h"
#include "cmd/view.h"
#include "cmd/view_browser.h"
#include "cmd/window_choice.h"

#define PROGRAM_CELLS 512 /* of each CPU, to find the programs that get a colour */

struct view_options {
	uint64_t port;
	bool print;
	enum lanes_by lanes;
	struct window_choice windows;
};

static int view_set_lanes(void *options, const char *value, struct error *err)
{
	return timeline_set_lanes(value, &((struct view_options *)options)->lanes, err);
}

static const struct option_spec view_specs[] = {
	{.name = "print",
	 .letter = 'n',
	 .type = OPTION_FLAG,
	 .help = "Only print the address; start no browser.",
	 .offset = offsetof(struct view_options, print)},
	{.name = "port",
	 .type = OPTION_COUNT,
	 .arg = "NUMBER",
	 .help = "The port of 127.0.0.1 to listen on; 0, the default: any that is free.",
	 .offset = offsetof(struct view_options, port)},
	{.name = "lanes",
	 .type = OPTION_CALL,
	 .arg = "WHAT",
	 .set = view_set_lanes,
	 .values = lanes_by_word,
	 .help = TIMELINE_LANES_HELP " The page can choose another."},
	WINDOW_OPTIONS(struct view_options, windows),
	{.name = NULL},
};

/* Keep what the profile says of the recording as a whole. */
static int keep_about(struct view_server *v, const struct profile *p)
{
	const struct host *h = p->count.hosts ? &p->hosts[0] : NULL;
	bool known =
		p->count.hosts == 1 && h->machine_id && *h->machine_id && h->boot_id && *h->boot_id;

	profile_subject(p, v->subject);
	v->utc = h ? (int64_t)h->start + h->realtime_offset : 0;
	v->realtime = h ? h->realtime_offset : 0;
	v->kernel = strdup(h && h->kernel ? h->kernel : "");
	if (asprintf(&v->boot, "%s%s", known ? h->machine_id : "", known ? h->boot_id : "") < 0)
		v->boot = NULL;
	return v->kernel && v->boot ? 0 : -ENOMEM;
}

/* Read the entities of the trace: what the recording is of, and all names. */
static int read_about(struct view_server *v, struct error *err)
{
	bool damaged = false;
	int ret = view_read_profile(v, NULL, &v->names, &damaged, err);

	if (!ret && keep_about(v, v->names) < 0)
		ret = error_errno(err, -ENOMEM, "cannot read %s", v->path);
	if (!ret && damaged) {
		v->warning = strdup("the trace is damaged: parts of it are missing");
		ret = v->warning ? 0 : error_errno(err, -ENOMEM, "cannot read %s", v->path);
	}
	return ret;
}

/* Read the lanes; a trace without the scheduler's records has none, which is no error. */
static int read_lanes(struct view_server *v, struct error *err)
{
	const struct lanes_limits limits = {.everything = true};
	struct lanes *l = &v->input.lanes;
	int ret = timeline_input_open(&v->input, v->path, &v->everything, err);

	if (ret == -ENODATA) {
		l->time = l->entities.host.start;
		l->end = l->entities.host.end > l->time ? l->entities.host.end : l->time + 1;
		return 0;
	}
	v->lanes_known = !ret;
	if (!ret)
		ret = lanes_choose(l, &limits, err);
	if (!ret)
		ret = lanes_join_all(l, err);
	return ret ? ret : lanes_choose_programs(l, PROGRAM_CELLS, err);
}

static int open_view(struct view_server *v, struct error *err)
{
	int ret = read_about(v, err);

	if (!ret)
		ret = read_lanes(v, err);
	if (ret)
		return ret;
	v->folds = view_folds_new();
	return v->folds ? 0 : error_errno(err, -ENOMEM, "cannot begin to serve");
}

/*
 * If the second trace cannot be read, the first one is shown alone; that its file is missing is an
 * error.
 */
static int open_second(struct view_traces *t, struct error *err)
{
	struct error why = {""};

	if (access(t->items[1].path, R_OK) < 0)
		return error_errno(err, -errno, "cannot open %s", t->items[1].path);
	if (open_view(&t->items[1], &why) < 0)
		view_leave_second(t, why.text);
	return 0;
}

static int open_views(struct view_traces *t, struct error *err)
{
	int ret = open_view(&t->items[0], err);

	if (!ret && t->count > 1)
		ret = open_second(t, err);
	if (ret < 0)
		return ret;
	ret = html_shell_make(&t->shell);
	if (ret == -EINVAL)
		return error_set(err, ret,
				 "cannot make the page: the one that this skein was "
				 "built with lacks the policy that a server needs");
	return ret ? error_errno(err, ret, "cannot make the page") : 0;
}

void view_close(struct view_server *v)
{
	timeline_input_close(&v->input);
	v->input = (struct timeline_input){0};
	free(v->kernel);
	free(v->boot);
	free(v->warning);
	v->kernel = v->boot = v->warning = NULL;
	profile_free(v->names);
	view_folds_free(v->folds);
	v->names = NULL;
	v->folds = NULL;
}

static void close_views(struct view_traces *t)
{
	for (unsigned int i = 0; i < VIEW_TRACES; i++)
		view_close(&t->items[i]);
	html_shell_free(&t->shell);
	pthread_mutex_destroy(&t->reading);
}

static int wait_for_end(int signals)
{
	struct pollfd fd = {.fd = signals, .events = POLLIN};

	while (poll(&fd, 1, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

/*
 * Drop all capabilities, in this thread, before there are others. Without them root cannot read the
 * trace of another user, so root becomes the trace's owner.
 */
static int become_reader(const char *path)
{
	struct stat st;

	if (geteuid() || stat(path, &st) < 0 || !st.st_uid)
		return own_user_keep(NULL, 0);
	if (setgroups(0, NULL) < 0 || setresgid(st.st_gid, st.st_gid, st.st_gid) < 0 ||
	    setresuid(st.st_uid, st.st_uid, st.st_uid) < 0)
		return -errno;
	return 0;
}

static void say_what_is_missing(const struct view_traces *t)
{
	for (unsigned int i = 0; i < t->count; i++)
		if (!t->items[i].lanes_known)
			log_info("%s has no scheduler records, so there is no timeline: record "
				 "with -e all",
				 t->items[i].path);
}

/* Show the address in the browser, or print it; then wait for the end. Return an exit status. */
static int serve(const struct view_traces *t, const struct http_server *http, int signals,
		 struct view_browser *browser)
{
	bool two = t->count > 1;
	char *address;
	int ret;

	if (asprintf(&address, "http://127.0.0.1:%u/#token=%s", http_server_port(http),
		     http_server_token(http)) < 0)
		return log_error(1, "out of memory");
	say_what_is_missing(t);
	ret = browser ? view_browser_show(browser, address) : -ENOENT;
	if (ret < 0)
		puts(address);
	free(address);
	log_info("%s%s%s %s shown %s; Ctrl-C ends it", t->items[0].path, two ? " and " : "",
		 two ? t->items[1].path : "", two ? "are" : "is",
		 ret < 0 ? "at this address" : "in the browser");
	ret = command_finish("the address");
	return ret ? ret : wait_for_end(signals) < 0;
}

/* Serve what was read; browser is NULL if none is wanted. Return an exit status. */
static int run_view_server(struct view_traces *t, const struct view_options *o, int signals,
			   struct view_browser *browser)
{
	const struct http_config config = {.port = (uint16_t)o->port,
					   .routes = view_routes,
					   .route_count = view_route_count,
					   .context = t,
					   .context_of = view_trace_of_request};
	struct http_server *http = NULL;
	struct error err = {""};
	int status, ret = become_reader(t->items[0].path);

	/* its flame graphs are read again for each request */
	if (!ret && t->count > 1 && access(t->items[1].path, R_OK) < 0)
		view_leave_second(t, "the user of the first trace may not read it");
	if (ret < 0)
		error_errno(&err, ret, "cannot drop privileges");
	else
		ret = http_server_start(&http, &config, &err);
	status = ret < 0 ? log_failure(1, &err) : serve(t, http, signals, browser);
	http_server_stop(http);
	return status;
}

/*
 * Let all threads share one heap: they read one at a time, and each would keep the memory of its
 * largest answer in a heap of its own. Must be called before there are other threads.
 */
static void share_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
}

static void begin_views(struct view_traces *t, const char *const *paths,
			const struct view_options *o)
{
	for (unsigned int i = 0; i < VIEW_TRACES; i++)
		t->items[i] = (struct view_server){.path = paths[i],
						   .lanes = o->lanes,
						   .shell = &t->shell,
						   .above = i ? &t->items[0] : NULL,
						   .traces = t->count,
						   .reading = &t->reading};
}

/* paths: of which the second one may be NULL. */
static int run_view(const char *const paths[VIEW_TRACES], const struct view_options *o)
{
	static const int ends[] = {SIGINT, SIGTERM};
	struct view_traces t = {.count = paths[1] ? 2 : 1, .reading = PTHREAD_MUTEX_INITIALIZER};
	struct view_browser browser;
	struct error err = {""};
	int status, signals = signals_catch(ends, sizeof(ends) / sizeof(ends[0]));
	int ret = signals < 0 ? error_errno(&err, signals, "cannot wait for signals") : 0;
	bool shown = !o->print;

	share_heap();
	begin_views(&t, paths, o);
	if (!ret)
		ret = open_views(&t, &err);
	if (!ret && shown && view_browser_prepare(&browser, &err) < 0) {
		log_warn("no browser is started: %s", err.text);
		view_browser_end(&browser);
		shown = false;
	}
	status = ret < 0 ? log_failure(1, &err)
			 : run_view_server(&t, o, signals, shown ? &browser : NULL);
	if (!ret && shown)
		view_browser_end(&browser);
	close_views(&t);
	if (signals >= 0)
		close(signals);
	return status;
}

static int view_main(int argc, char **argv)
{
	struct view_options o = {0};
	const char *paths[VIEW_TRACES] = {NULL};
	int first = command_parse(&view_command, argc, argv, &o), status;

	if (first < 0)
		return ~first;
	if (argc - first > VIEW_TRACES)
		return log_error(2, "view: two traces at most; '%s' is too many",
				 argv[first + VIEW_TRACES]);
	for (int i = 0; i < argc - first; i++)
		paths[i] = argv[first + i];
	if (o.port > UINT16_MAX)
		return log_error(2, "view: --port is at most %u", UINT16_MAX);
	status = window_choice_path(&o.windows, "view", paths[0], &paths[0]);
	return status ? status : run_view(paths, &o);
}

const struct command view_command = {
	.name = "view",
	.summary = "the timeline of a trace, and the flame graph of any part of it",
	.usage = "[OPTIONS] [FILE [FILE2]]",
	.description =
		"Show who ran when, and why nothing else did: a page with a lane for each CPU, "
		"process and thread of a trace (skein.skein when none is named), from the whole "
		"recording to a microsecond. Select a range, a process or a thread, and the "
		"flame graph below is of exactly that.\n\n"
		"The lanes of a second trace stand below those of the first, on one axis: by the "
		"clock if both were recorded at the same time, as on two machines, else both from "
		"their start, as before and after a change. The flame graph then shows what "
		"changed from FILE to FILE2, in all of the time or in the selected part.\n\n"
		"The page comes from a small server on 127.0.0.1, which ends with Ctrl-C. Its "
		"address has a secret, so that only its user can read the trace. To look from "
		"another machine: ssh -L PORT:127.0.0.1:PORT, and the address that -n prints.",
	.examples = "skein view\tthe recording in skein.skein\n"
		    "skein view before.skein after.skein\ttwo recordings below each other\n"
		    "skein view -n --port 8123 run.skein\tonly the address, for ssh -L\n",
	.options = view_specs,
	.options_size = sizeof(struct view_options),
	.environment = "BROWSER\tThe command that shows a page, or several with colons between; %s "
		       "is the page.\n"
		       "XDG_RUNTIME_DIR\tThe folder of the file that leads the browser to the "
		       "page.\n"
		       "TMPDIR\tWhere a folder skein-UID takes its place (default /tmp).\n"
		       "SUDO_UID, SUDO_GID\tThe user of file and browser, for root.\n",
	.files = "skein.skein\tThe trace that is read when none is named.\n",
	.run = view_main,
};
