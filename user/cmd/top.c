// SPDX-License-Identifier: Apache-2.0
/* skein top: keep a moving window of the samples of a live capture, and show it repeatedly. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "capture/clock.h"
#include "cmd/commands.h"
#include "cmd/record_summary.h"
#include "cmd/recorder.h"
#include "cmd/signals.h"
#include "cmd/symbolize.h"
#include "cmd/top_batch.h"
#include "cmd/top_screen.h"
#include "cmd/top_terminal.h"

#define DEFAULT_DELAY NSEC_PER_SEC
#define DEFAULT_WINDOW (10 * NSEC_PER_SEC)
#define DEFAULT_ROWS 20
#define DELAY_MIN (100 * NSEC_PER_MSEC)
/* Longest time (ns) until the first picture with numbers, except with -b. */
#define FIRST_DELAY (500 * NSEC_PER_MSEC)
/* A picture waits at most this long (ns) for pending names; the last one of -b longer. */
#define NAMES_TIMEOUT (300 * NSEC_PER_MSEC)
#define LAST_NAMES_TIMEOUT (3 * NSEC_PER_SEC)
/*
 * Least value of capture_options.keep (ns). After half of that time stacks and frames are forgotten
 * and looked up again; a shorter time costs more lookups, a longer time more memory.
 */
#define KEEP_MIN (30 * NSEC_PER_SEC)

struct top_options {
	struct targets targets;
	uint64_t delay, window, iterations, rows, buffer;
	const char *view, *sort, *unwind_cache, *servers;
	bool batch, off_cpu, full_names;
};

#define MEMBER(m) offsetof(struct top_options, m)

static const char *view_word(unsigned int i)
{
	return i < TOP_CALLERS ? top_view_word(i) : NULL;
}

static const char *sort_word(unsigned int i)
{
	return i < TOP_SORT_COUNT ? top_sort_word(i) : NULL;
}

static const struct option_spec top_options[] = {
	TARGET_OPTIONS("Every process on all CPUs. The default."),

	{.name = "How to sample", .type = OPTION_HEADING},
	FREQUENCY_OPTION,
	STACK_PART_OPTIONS,
	{.name = "buffer",
	 .type = OPTION_BYTES,
	 .arg = "SIZE",
	 .help = "Bytes of each sample ring. Default: half a second of samples.",
	 .offset = MEMBER(buffer)},
	{.name = "unwind-cache",
	 .type = OPTION_TEXT,
	 .arg = "DIR",
	 .help = "The folder of unwind tables, as for 'skein record'.",
	 .offset = MEMBER(unwind_cache)},
	DEBUGINFOD_OPTION(struct top_options, servers, "while it runs"),
	SERVICE_RULES_OPTION,

	{.name = "What to show", .type = OPTION_HEADING},
	{.name = "off-cpu",
	 .type = OPTION_FLAG,
	 .help = "Show where threads wait, not where they run, and who ends the waits: waits that "
		 "ended in the window, by stacks that are taken as with 'skein record -e off-cpu'. "
		 "Nothing is sampled then.",
	 .offset = MEMBER(off_cpu)},
	{.name = "window",
	 .letter = 'w',
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "Show the samples of the last TIME, such as 30s. Default: 10s, or as long as "
		 "the delay.",
	 .offset = MEMBER(window)},
	{.name = "delay",
	 .letter = 'd',
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "Time between two pictures. Default: 1s.",
	 .offset = MEMBER(delay)},
	{.name = "view",
	 .type = OPTION_TEXT,
	 .arg = "VIEW",
	 .values = view_word,
	 .help = "The view to begin with: processes, functions, 'call tree', programs, threads, "
		 "services, containers or modules. With --off-cpu, also classes (what for) and "
		 "wakers, and no modules. Default: processes; functions with --off-cpu, and of "
		 "a single process.",
	 .offset = MEMBER(view)},
	{.name = "sort",
	 .letter = 's',
	 .type = OPTION_TEXT,
	 .arg = "KEY",
	 .values = sort_word,
	 .help = "By self (of processes and other groups: by CPU use), total or name; or "
		 "processes by memory. Default: self.",
	 .offset = MEMBER(sort)},
	FULL_NAMES_OPTION(struct top_options, full_names),
	{.name = "batch",
	 .letter = 'b',
	 .type = OPTION_FLAG,
	 .help = "Write plain tables to stdout instead of using the whole terminal.",
	 .offset = MEMBER(batch)},
	{.name = "iterations",
	 .letter = 'n',
	 .type = OPTION_COUNT,
	 .arg = "COUNT",
	 .help = "End after so many pictures. Default: until q or Ctrl-C.",
	 .offset = MEMBER(iterations)},
	{.name = "rows",
	 .letter = 'l',
	 .type = OPTION_COUNT,
	 .arg = "COUNT",
	 .help = "Rows of each table of -b. Default: 20.",
	 .offset = MEMBER(rows)},
	{.name = NULL},
};

static int top_main(int argc, char **argv);

const struct command top_command = {
	.name = "top",
	.summary = "watch live where the time goes",
	.group = COMMANDS_RECORDING,
	.usage = "[OPTIONS]",
	.description =
		"Samples the machine, or a part of it, and shows what the samples of the last "
		"seconds hit: processes, functions, call tree, programs, threads, services, "
		"containers and modules. Enter goes from a process to its functions and from a "
		"function to its callers and callees, Esc back; P and M sort by CPU use and by "
		"memory; '/' filters by a regular expression; Space pauses; '?' lists all keys. "
		"Only what ran, or with --off-cpu waited, in the window has a row. Nothing is "
		"written to disk. Needs root, or CAP_BPF and CAP_PERFMON.",
	.examples = "sudo skein top\tthe whole machine\n"
		    "sudo skein top -p 4711 -F 999\tfunctions of one process, closely\n"
		    "sudo skein top --cgroup system.slice/nginx.service\ta service\n"
		    "sudo skein top --off-cpu\twhere threads wait, what for, who ends it\n"
		    "sudo skein top -b -n 1 -d 5s\tone table of five seconds, for a script\n",
#define LEGEND_ENTRY(word, meaning) word "\t" meaning "\n"
	.legend = TOP_LEGEND(LEGEND_ENTRY),
#undef LEGEND_ENTRY
	.options = top_options,
	.options_size = sizeof(struct top_options),
	.environment = DEBUGINFOD_ENVIRONMENT,
	.run = top_main,
};

/* One run of top: the state that its parts share. */
struct top {
	struct top_options options;
	struct top_ui ui;
	struct top_head head;
	struct screen plain; /* output of -b */
	struct sink *recent;
	struct progress_line progress;
	int signals, events; /* signalfd; epoll of the signalfd and of stdin */
	bool open; /* the terminal is taken over */
	bool ended; /* by the user or because of an error */
	int status;
	struct error err; /* the error, if status is not 0 */
	uint64_t next; /* when the next picture is due, ns; 0: now */
	uint64_t shown; /* number of pictures */
	uint64_t cost, cost_at; /* own CPU time and when it was read, ns */
	char unwind_cache[PATH_MAX], debug_cache[PATH_MAX];
	const char *urls; /* debuginfod servers, or NULL */
};

static int top_fail(struct top *t, int ret)
{
	t->ended = true;
	t->status = 1;
	if (!*t->err.text)
		error_errno(&t->err, ret, "top");
	return ret;
}

/* Handle user input: signals and keys. */

static void top_read_signals(struct top *t)
{
	struct signalfd_siginfo s;

	while (read(t->signals, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGWINCH && t->open)
			top_screen_resize();
		else if (s.ssi_signo == SIGTSTP && t->open)
			top_screen_suspend();
		else if (s.ssi_signo == SIGTSTP)
			raise(SIGSTOP);
		else if (s.ssi_signo != SIGWINCH)
			t->ended = true;
	}
}

static void top_read_keys(struct top *t)
{
	unsigned int key;
	bool code;
	int rc = 0;

	while (!rc && !t->ui.quit && top_screen_key(&key, &code)) {
		bool was_paused = t->ui.paused;

		rc = top_ui_key(&t->ui, key, code);
		if (!rc) /* the next key refers to the rows that this key produces */
			rc = top_ui_update(&t->ui);
		if (was_paused && !t->ui.paused)
			t->next = 0;
	}
	t->ended |= t->ui.quit;
	if (rc)
		top_fail(t, rc);
}

/* Handle pending user input; return whether there was any. */
static bool top_read_events(struct top *t)
{
	struct epoll_event events[2];
	int n = epoll_wait(t->events, events, 2, 0);

	for (int i = 0; i < n; i++) {
		if (events[i].data.fd == t->signals)
			top_read_signals(t);
		else if (events[i].events & EPOLLIN)
			top_read_keys(t);
		else /* the terminal is gone */
			t->ended = true;
	}
	return n > 0;
}

static int watch_input(struct top *t, int fd)
{
	struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

	return epoll_ctl(t->events, EPOLL_CTL_ADD, fd, &e) < 0 ? -errno : 0;
}

static int open_event_sources(struct top *t)
{
	static const int caught[] = {SIGINT, SIGTERM, SIGQUIT, SIGWINCH, SIGTSTP};
	int fd = signals_catch(caught, sizeof(caught) / sizeof(caught[0]));

	if (fd < 0)
		return fd;
	t->signals = fd;
	t->events = epoll_create1(EPOLL_CLOEXEC);
	if (t->events < 0)
		return -errno;
	return watch_input(t, t->signals);
}

/* Draw pictures. */

static int open_screen(struct top *t)
{
	int ret;

	progress_line_end(&t->progress);
	t->open = !t->options.batch;
	ret = t->open ? top_screen_open(&t->err) : 0;
	if (!ret && t->open)
		ret = watch_input(t, STDIN_FILENO);
	return ret;
}

/* Return the share of one CPU that skein and its helpers have used since the last call. */
static double cpu_share_since(struct top *t, uint64_t now)
{
	uint64_t cost = top_facts_own_cpu(), before = t->cost, at = t->cost_at;

	t->cost = cost;
	t->cost_at = now;
	return at && now > at && cost > before ? (double)(cost - before) / (double)(now - at) : 0;
}

/* Take the window that ends now into the model, and collect its facts. */
static int update_window(struct top *t, const struct capture_progress *progress, uint64_t now)
{
	struct recent_window w;
	int ret = recent_window(t->recent, now, &w, &t->err);

	if (ret)
		return ret;
	ret = top_model_take(&t->ui.model, &w);
	if (ret) {
		profile_free(w.profile);
		free(w.waits);
		return ret;
	}
	top_facts_title(&w, t->ui.model.event, t->head.title, sizeof(t->head.title));
	t->head.waiting = NULL;
	t->ui.stale = true;
	return top_facts_collect(&t->head.facts, &w, t->ui.model.event, cpu_share_since(t, now),
				 progress->pending.names > 0);
}

static int show_top(struct top *t)
{
	int ret = top_ui_update(&t->ui);

	if (ret || t->open) {
		if (!ret)
			top_draw(&t->ui, &t->head);
		return ret;
	}
	return top_batch(&t->plain, &t->ui, &t->head, t->options.rows);
}

static bool is_picture_due(const struct top *t, const struct capture_progress *p, uint64_t now)
{
	bool last = t->options.batch && t->shown + 1 == t->options.iterations;

	return now >= t->next &&
	       (!p->pending.names || now >= t->next + (last ? LAST_NAMES_TIMEOUT : NAMES_TIMEOUT));
}

static int next_picture(struct top *t, const struct capture_progress *p, uint64_t now)
{
	int ret = t->ui.paused ? 0 : update_window(t, p, now);

	t->next = now + t->options.delay;
	if (!ret)
		ret = show_top(t);
	t->shown++;
	if (t->options.iterations && t->shown >= t->options.iterations)
		t->ended = true;
	return ret;
}

/* Open the screen, and draw it without samples. Called when sampling has just begun. */
static int first_picture(struct top *t, uint64_t now)
{
	uint64_t delay = t->options.delay;
	int ret = open_screen(t);

	t->cost = top_facts_own_cpu();
	t->cost_at = now;
	t->next = now + (t->open && delay > FIRST_DELAY ? FIRST_DELAY : delay);
	t->head.waiting = "gathering samples ...";
	return ret || !t->open ? ret : show_top(t);
}

static bool top_continues(void *context, const struct capture_progress *p)
{
	struct top *t = context;
	uint64_t now = clock_boot_ns();
	bool touched = top_read_events(t);
	int rc = 0;

	if (t->ended || p->finishing)
		return false;
	if (p->preparing) {
		progress_line_print(&t->progress, p, 0);
		return true;
	}
	if (!t->next)
		rc = t->cost_at ? next_picture(t, p, now) : first_picture(t, now);
	else if (is_picture_due(t, p, now))
		rc = next_picture(t, p, now);
	else if (touched && t->open)
		rc = show_top(t);
	if (rc == -EPIPE)
		t->ended = true;
	else if (rc)
		top_fail(t, rc);
	return !t->ended;
}

/* Set up and run the capture. */

static struct capture_options top_capture_options(struct top *t)
{
	uint64_t window = t->options.window;
	struct capture_options o = {
		.sample = !t->options.off_cpu,
		.sched = t->options.off_cpu,
		.waits = {.stacks = t->options.off_cpu, .period = CAPTURE_WAIT_PERIOD},
		.memory.buffer = t->options.buffer,
		.keep = window > KEEP_MIN ? window : KEEP_MIN,
		.fds.release = -1,
		.fds.wake = t->events,
		.keep_going = top_continues,
		.context = t,
	};

	targets_apply(&t->options.targets, &o);
	recorder_choose_cache(t->options.unwind_cache, t->unwind_cache, sizeof(t->unwind_cache));
	o.files.unwind_cache = t->unwind_cache[0] ? t->unwind_cache : NULL;
	o.files.debuginfod_urls = t->urls;
	o.files.debuginfod_cache = t->debug_cache;
	return o;
}

/* Report errors, after the screen is closed. Return the exit status. */
static int top_report_end(struct top *t, int rc, const struct error *err, bool by_comm)
{
	if (t->status)
		return log_failure(t->status, &t->err);
	if (rc)
		return log_failure(1, err);
	if (by_comm)
		return log_error(1, "top: no running thread or process was called '%s'",
				 t->options.targets.comm);
	if (!t->ended)
		log_info("every process of -p has ended");
	return 0;
}

static int run_top_capture(struct top *t)
{
	struct capture_options o = top_capture_options(t);
	struct capture_summary summary = {.comm.known = true};
	struct source *source = NULL;
	struct error err = {""};
	int rc, priority = getpriority(PRIO_PROCESS, 0);

	recorder_raise_file_limit();
	recorder_return_memory();
	recorder_raise_priority(HELPERS_NICE);
	rc = capture_source(&source, &o, &err);
	if (rc) {
		limits_explain(&err, rc);
		log_failure(rc == -EINVAL ? 2 : 1, &err);
		t->status = rc == -EINVAL ? 2 : 1;
		goto out;
	}
	recorder_raise_priority(RECORDER_NICE);
	progress_line_begin(&t->progress, false, false);
	rc = recent_sink(&t->recent, t->options.window, &err);
	if (!rc)
		rc = pipe_join(source, t->recent, &err);
	progress_line_end(&t->progress);
	top_screen_close();
	if (!rc)
		capture_get_summary(source, &summary);
	t->status = top_report_end(t, rc, &err, o.targets.comm && !summary.comm.known);
out:
	source_free(source);
	sink_free(t->recent);
	(void)setpriority(PRIO_PROCESS, 0, priority);
	return t->status;
}

/* Set *out to the index of an option's word in the list of words. Return 0 or the exit status 2. */
static int find_option_word(const char *word, const char *(*words)(unsigned int),
			    const char *option, unsigned int *out)
{
	for (unsigned int i = 0; words(i); i++)
		if (!strcmp(words(i), word)) {
			*out = i;
			return 0;
		}
	return log_error(2, "top: there is no %s '%s': see 'skein top --help'", option, word);
}

static int check_top_times(struct top_options *o)
{
	if (o->delay < DELAY_MIN)
		return log_error(2, "top: --delay is at least 0.1s");
	if (!o->window)
		o->window = o->delay > DEFAULT_WINDOW ? o->delay : DEFAULT_WINDOW;
	if (o->window < NSEC_PER_SEC)
		return log_error(2, "top: --window is at least 1s");
	return 0;
}

/* Of a single process, and of waits, the functions are what is asked for. */
static enum top_view first_top_view(const struct top_options *o)
{
	const struct targets *t = &o->targets;

	return o->off_cpu || t->pids.count == 1 || t->tids.count ? TOP_FUNCTIONS : TOP_PROCESSES;
}

static int prepare_top(struct top *t)
{
	const struct top_options *o = &t->options;
	unsigned int view = first_top_view(o), sort = TOP_BY_SELF;
	struct error err = {""};

	if (targets_check(&o->targets, "top") || check_top_times(&t->options) ||
	    (o->view && find_option_word(o->view, view_word, "view", &view)) ||
	    (o->sort && find_option_word(o->sort, sort_word, "sort", &sort)))
		return 2;
	if (!top_view_is_available(view, o->off_cpu))
		return log_error(2, "top: the view '%s' is only there with%s --off-cpu", o->view,
				 o->off_cpu ? "out" : "");
	if (o->off_cpu && o->targets.frequency)
		return log_error(2, "top: --off-cpu and --frequency exclude each other: waits are "
				    "not sampled by a clock");
	t->ui.model.off_cpu = o->off_cpu;
	if (!o->batch && top_terminal_check(&err) < 0)
		return log_failure(1, &err);
	if (top_ui_begin(&t->ui, view, sort) < 0)
		return log_error(1, "out of memory");
	screen_open(&t->plain, stdout, NULL);
	t->plain.full_names = t->ui.full_names = o->full_names;
	return open_event_sources(t) < 0 ? log_error(1, "top: signals: %s", strerror(errno)) : 0;
}

static int top_main(int argc, char **argv)
{
	struct top t = {
		.options = {.delay = DEFAULT_DELAY, .rows = DEFAULT_ROWS},
		.signals = -1,
		.events = -1,
	};
	int first = command_parse(&top_command, argc, argv, &t.options), status;

	if (first < 0)
		return ~first;
	if (first < argc)
		return log_error(2, "top: '%s' is not expected: see 'skein top --help'",
				 argv[first]);
	status = symbolize_choose_servers(&t.urls, t.options.servers, t.debug_cache,
					  sizeof(t.debug_cache));
	if (!status)
		status = prepare_top(&t);
	if (!status)
		status = run_top_capture(&t);
	if (t.events >= 0)
		close(t.events);
	if (t.signals >= 0)
		close(t.signals);
	top_ui_free(&t.ui);
	targets_free(&t.options.targets);
	return status;
}
