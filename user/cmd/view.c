// SPDX-License-Identifier: Apache-2.0
/* skein view: serve the timeline and the flame graph of a trace to a browser on this machine. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/own_user.h"
#include "cmd/commands.h"
#include "cmd/open.h"
#include "cmd/signals.h"
#include "cmd/view.h"

#define PROGRAM_CELLS 512 /* of each CPU, to find the programs that get a colour */

struct view_options {
	uint64_t port;
	bool print;
};

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
	{.name = NULL},
};

/* Keep what the profile says of the recording as a whole. */
static int keep_about(struct view_server *v, const struct profile *p)
{
	profile_subject(p, v->subject);
	if (!p->count.hosts)
		return 0;
	v->utc = (int64_t)p->hosts[0].start + p->hosts[0].realtime_offset;
	v->kernel = strdup(p->hosts[0].kernel ? p->hosts[0].kernel : "");
	return v->kernel ? 0 : -ENOMEM;
}

/* Read the entities of the trace, for what the recording is of. */
static int read_about(struct view_server *v, struct error *err)
{
	const struct profile_view view = {0};
	struct filtered_input in = {0};
	struct profile *p = NULL;
	int ret = filtered_input_open(&in, v->path, &v->everything, err);

	if (!ret)
		ret = filtered_input_read_profile(&p, &in, &view, err);
	if (!ret && keep_about(v, p) < 0)
		ret = error_errno(err, -ENOMEM, "cannot read %s", v->path);
	if (!ret)
		v->damaged = trace_left_out(in.trace);
	profile_free(p);
	filtered_input_close(&in);
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
	return ret ? ret : lanes_choose_programs(l, PROGRAM_CELLS, err);
}

static int open_view(struct view_server *v, struct error *err)
{
	int ret = read_about(v, err);

	if (!ret)
		ret = read_lanes(v, err);
	if (!ret && html_shell_make(&v->shell) < 0)
		ret = error_errno(err, -ENOMEM, "cannot make the page");
	return ret;
}

static void close_view(struct view_server *v)
{
	timeline_input_close(&v->input);
	html_shell_free(&v->shell);
	free(v->kernel);
	pthread_mutex_destroy(&v->reading);
}

/*
 * Write a page that leads to the address, and that only the user can read: the command line of a
 * browser is public, and the token in the address must not be.
 */
static int write_door(const struct open_folder *folder, const struct open_user *user,
		      const char *name, const char *address)
{
	int fd = openat(folder->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
			0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

	if (!out)
		return -errno;
	fprintf(out,
		"<!DOCTYPE html><meta charset=\"utf-8\"><title>skein view</title>"
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\">"
		"<p>The page of skein view: <a href=\"%s\">open it</a>.\n",
		address, address);
	if (user->by_sudo && fchown(fd, user->uid, user->gid) < 0)
		log_warn("cannot give the page to its user: %s", strerror(errno));
	return fclose(out) ? -errno : 0;
}

/* Show the address in a browser, by way of a page of the folder. Return 0 or a negative errno. */
static int show_in_browser(const char *address, const char *name, struct open_folder *folder)
{
	struct open_user user = open_user_find();
	struct error err = {""};
	char *door;
	int ret = open_folder_find(folder, &user, &err);

	if (!ret)
		ret = write_door(folder, &user, name, address);
	if (ret < 0)
		return ret;
	if (asprintf(&door, "file://%s/%s", folder->path, name) < 0)
		return -ENOMEM;
	ret = open_browser(&user, door);
	free(door);
	return ret;
}

static int wait_for_end(int signals)
{
	struct pollfd fd = {.fd = signals, .events = POLLIN};

	while (poll(&fd, 1, -1) < 0)
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int serve(struct view_server *v, const struct http_server *http, int signals, bool print)
{
	struct open_folder folder = {.fd = -1};
	char *address, *name = NULL;
	int ret = asprintf(&address, "http://127.0.0.1:%u/#token=%s", http_server_port(http),
			   http_server_token(http));

	if (ret < 0 || asprintf(&name, "skein-view-%d.html", (int)getpid()) < 0)
		return log_error(1, "out of memory");
	if (!v->lanes_known)
		log_info("%s has no scheduler records, so there is no timeline: record with "
			 "-e all",
			 v->path);
	ret = print ? -ENOENT : show_in_browser(address, name, &folder);
	if (ret < 0)
		puts(address);
	log_info("%s is shown %s; Ctrl-C ends it", v->path,
		 ret < 0 ? "at this address" : "in the browser");
	ret = command_finish("the address");
	if (!ret)
		ret = wait_for_end(signals) < 0;
	if (folder.fd >= 0)
		unlinkat(folder.fd, name, 0);
	if (folder.path)
		open_folder_close(&folder);
	free(address);
	free(name);
	return ret;
}

static int run_view(const char *path, const struct view_options *o)
{
	static const int ends[] = {SIGINT, SIGTERM};
	struct view_server v = {.path = path, .reading = PTHREAD_MUTEX_INITIALIZER};
	const struct http_config config = {.port = (uint16_t)o->port,
					   .routes = view_routes,
					   .route_count = view_route_count,
					   .context = &v};
	struct http_server *http = NULL;
	struct error err = {""};
	int status, signals = signals_catch(ends, sizeof(ends) / sizeof(ends[0]));
	int ret = signals < 0 ? error_errno(&err, signals, "cannot wait for signals") : 0;

	if (!ret)
		ret = open_view(&v, &err);
	if (!ret)
		ret = http_server_start(&http, &config, &err);
	/* what root may read it can read without any capability: the trace is root's own */
	if (!ret && own_user_keep(NULL, 0) < 0)
		log_warn("the capabilities could not be dropped");
	status = ret < 0 ? log_failure(1, &err) : serve(&v, http, signals, o->print);
	http_server_stop(http);
	close_view(&v);
	if (signals >= 0)
		close(signals);
	return status;
}

static int view_main(int argc, char **argv)
{
	struct view_options o = {0};
	int first = command_parse(&view_command, argc, argv, &o);

	if (first < 0)
		return ~first;
	if (argc - first > 1)
		return log_error(2, "view: one trace at a time; '%s' is too many", argv[first + 1]);
	if (o.port > UINT16_MAX)
		return log_error(2, "view: --port is at most %u", UINT16_MAX);
	return run_view(first < argc ? argv[first] : DEFAULT_TRACE, &o);
}

const struct command view_command = {
	.name = "view",
	.summary = "the timeline of a trace, and the flame graph of any part of it",
	.usage = "[OPTIONS] [FILE]",
	.description =
		"Show who ran when, and why nothing else did: a page with a lane for each CPU, "
		"process and thread of a trace (skein.skein when none is named), from the whole "
		"recording to a microsecond. Select a range, a process or a thread, and the "
		"flame graph below is of exactly that.\n\n"
		"The page comes from a small server on 127.0.0.1, which ends with Ctrl-C. Its "
		"address has a secret, so that only its user can read the trace. To look from "
		"another machine: ssh -L PORT:127.0.0.1:PORT, and the address that -n prints.",
	.examples = "skein view\tthe recording in skein.skein\n"
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
