// SPDX-License-Identifier: Apache-2.0
/* skein serve: record without an end, as windows within a budget of disk space. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/options_file.h"
#include "base/units.h"
#include "capture/clock.h"
#include "cmd/commands.h"
#include "cmd/recorder.h"
#include "cmd/serve.h"
#include "cmd/serve_budget.h"
#include "cmd/serve_flight.h"
#include "cmd/serve_http.h"
#include "cmd/serve_memory.h"
#include "cmd/signals.h"
#include "serve/window_sink.h"

#define DEFAULT_CONFIG "/etc/skein/serve.conf"
#define DEFAULT_FREQUENCY 19
#define DEFAULT_WINDOW (60 * NSEC_PER_SEC)
#define WINDOW_MIN (1 * NSEC_PER_SEC)
#define WINDOW_MAX (24 * 3600 * NSEC_PER_SEC)
#define DEFAULT_DISK (1ULL << 30)
#define DEFAULT_AGE (7 * 24 * 3600 * NSEC_PER_SEC)
/*
 * capture_options.keep (ns): stacks and frames are forgotten after half of that time, and looked up
 * again. A shorter time costs more lookups, a longer one more memory.
 */
#define SERVE_KEEP (300 * NSEC_PER_SEC)

/*
 * capture_when.tick (ns): a killed service loses what came since the last tick, which is to be at
 * most a second, with the time that a tick takes and that of its records' order.
 */
#define SERVE_TICK (920000000ULL)

#define STATUS_TIME (10 * NSEC_PER_SEC) /* between two messages about the state to systemd */

#define MEMBER(m) offsetof(struct serve_options, m)

_Static_assert(MEMBER(flight) == offsetof(struct flight_prefix, flight), "see flight_prefix");

static int serve_set_events(void *options, const char *value, struct error *err)
{
	return record_events_parse(&((struct serve_options *)options)->events, value, err);
}

static const struct option_spec serve_specs[] = {
	{.name = "What is kept", .type = OPTION_HEADING},
	{.name = "folder",
	 .type = OPTION_TEXT,
	 .arg = "DIR",
	 .help = "The folder of windows. Default: $STATE_DIRECTORY, which systemd sets, or "
		 "/var/lib/skein, which is made if it does not exist.",
	 .offset = MEMBER(folder)},
	{.name = "window",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "The length of a window, a trace of its own: 1s to 24h. Default: 60s.",
	 .offset = MEMBER(window)},
	{.name = "disk",
	 .type = OPTION_BYTES,
	 .arg = "SIZE",
	 .help = "Bytes that all windows may take, the open one included: the oldest are "
		 "removed. 0: no limit. Default: "
		 "1G.",
	 .offset = MEMBER(disk)},
	{.name = "age",
	 .type = OPTION_DURATION,
	 .arg = "TIME",
	 .help = "How long a window is kept after its end. 0: no limit. Default: 168h, a week.",
	 .offset = MEMBER(age)},

	{.name = "What is recorded", .type = OPTION_HEADING},
	SERVE_EVENTS_OPTION(serve_set_events),
	{.name = "freq",
	 .letter = 'F',
	 .type = OPTION_CALL,
	 .arg = "HZ",
	 .set = targets_set_frequency,
	 .help = "Samples per second and CPU, the highest rate. Default: 19."},
	{.name = "cpu-budget",
	 .type = OPTION_PERCENT,
	 .arg = "SHARE",
	 .help = "CPU time that skein may take, helper processes and BPF programs included, as a "
		 "share of one core: when a load would take more, it samples at 7 or 3 Hz until "
		 "that fits again. 0: no limit. Default: 1%.",
	 .offset = MEMBER(cpu)},
	{.name = "memory",
	 .type = OPTION_BYTES,
	 .arg = "SIZE",
	 .help = "Memory that the processes of skein may take together, without buffers and BPF "
		 "maps: beyond, they forget what they can find again, the largest helper process "
		 "is replaced, and samples are taken at a lower rate. 0: no limit. Default: 64M.",
	 .offset = MEMBER(memory)},
	STACK_PART_OPTIONS,
	{.name = "no-sums",
	 .type = OPTION_FLAG,
	 .help = "Do not add up, for each control group, how long its threads ran, waited for a "
		 "CPU and were blocked. The default adds this up in the kernel, for the whole "
		 "machine, unless options select a part of it.",
	 .offset = MEMBER(no_sums)},
	{.name = "unwind-cache",
	 .type = OPTION_TEXT,
	 .arg = "DIR",
	 .help = "The folder of unwind tables, as for 'skein record'.",
	 .offset = MEMBER(unwind_cache)},
	SERVICE_RULES_OPTION,
	TARGET_OPTIONS("Every process on all CPUs. The default."),
	FLIGHT_OPTIONS(struct serve_options, flight),

	SERVE_HTTP_OPTIONS(MEMBER(http)),

	{.name = "Configuration", .type = OPTION_HEADING},
	{.name = "config",
	 .type = OPTION_TEXT,
	 .arg = "FILE",
	 .help = "A file with lines 'KEY = VALUE', where a key is an option above without its "
		 "dashes, and a flag is yes or no. Options of the command line take the place of "
		 "its own. Default: /etc/skein/serve.conf, if it exists.",
	 .offset = MEMBER(config)},
	{.name = "check-config",
	 .type = OPTION_FLAG,
	 .help = "Only check the configuration: print what holds, or the line at fault.",
	 .offset = MEMBER(check)},
	{.name = NULL},
};

static const struct serve_options serve_defaults = {
	.flight = FLIGHT_DEFAULTS,
	.events.interrupt_min = RECORD_UNSET,
	.window = DEFAULT_WINDOW,
	.disk = DEFAULT_DISK,
	.age = DEFAULT_AGE,
	.cpu = SERVE_CPU_BUDGET,
	.memory = SERVE_MEMORY_BUDGET,
};

static int serve_main(int argc, char **argv);

const struct command serve_command = {
	.name = "serve",
	.summary = "record always, as windows of a minute",
	.group = COMMANDS_RECORDING,
	.usage = "[OPTIONS]",
	.description =
		"Samples the machine without an end, and writes windows: traces of a minute each, "
		"in a folder that stays within its budget. 'skein ls' lists them; report, export, "
		"view and query read them with --last and --at, and each is an ordinary trace. "
		"SIGTERM and Ctrl-C complete the window and end it; SIGHUP reads the configuration "
		"again. A service that was killed "
		"loses at most the last second. Needs root, or CAP_BPF and CAP_PERFMON.",
	.examples = "sudo skein serve\tuntil Ctrl-C, into /var/lib/skein\n"
		    "sudo skein serve --window 10s --disk 100M --folder /tmp/windows\t"
		    "short windows, elsewhere\n"
		    "sudo skein serve -e sched\tand windows with a timeline of threads\n"
		    "sudo skein serve --keep 30s --trigger 'runqueue>20ms'\t"
		    "and all of the half minute before a thread waited for a CPU\n"
		    "skein serve --check-config\twhat the configuration says\n"
		    "skein report --last 1h\tthe last hour\n",
	.options = serve_specs,
	.options_size = sizeof(struct serve_options),
	.environment = FLIGHT_ENVIRONMENT
	"STATE_DIRECTORY\tWhere --folder is, in a unit with StateDirectory=.\n"
	"CACHE_DIRECTORY\tWhere --unwind-cache is, in a unit with CacheDirectory=.",
	.files =
		DEFAULT_CONFIG "\tThe configuration, unless --config names another.\n" WINDOW_FOLDER
			       "\tThe windows, unless --folder names another folder.",
	.run = serve_main,
};

/* One run of the service. */
struct service_run {
	struct serve_options options;
	struct record_events events; /* of windows and of flights */
	struct serve_source from; /* what the options were read from */
	char folder[PATH_MAX], unwind_cache[PATH_MAX];
	int lock; /* descriptor of the folder's lock; -1: none */
	int signals; /* signalfd; -1: none */
	bool ended; /* by a signal */
	bool reload; /* a signal wants the configuration to be read again */
	struct sink *windows;
	struct serve_http http;
	struct serve_flight flight;
	struct notifier notifier; /* to systemd */
	struct serve_budget budget;
	struct serve_memory memory;
	bool ready; /* systemd knows that it records */
	uint64_t status; /* when the status was sent last, ns */
	uint64_t failed; /* windows that failed, as logged so far */
	uint64_t suspended; /* ns in which the machine was suspended, as logged so far */
};

static void serve_read_signals(struct service_run *s)
{
	struct signalfd_siginfo one;

	while (read(s->signals, &one, sizeof(one)) == sizeof(one)) {
		s->ended |= one.ssi_signo != SIGHUP && one.ssi_signo != SIGUSR1;
		s->reload |= one.ssi_signo == SIGHUP;
		if (one.ssi_signo == SIGUSR1)
			serve_flight_signal(&s->flight);
	}
}

/* Report windows that could not be written, once each. */
static void warn_of_failed_windows(struct service_run *s)
{
	struct window_counts counts;

	window_sink_counts(s->windows, &counts);
	if (counts.failed == s->failed)
		return;
	s->failed = counts.failed;
	log_warn("serve: a window could not be written, what it had is counted as lost: %s",
		 counts.problem);
}

static void log_suspend(struct service_run *s, const struct capture_progress *p)
{
	char text[32];

	if (p->suspended == s->suspended)
		return;
	log_info("serve: the machine was suspended for %s",
		 show_duration(p->suspended - s->suspended, text, sizeof(text)));
	s->suspended = p->suspended;
}

/* Report to systemd that it records, how it is, and that it is alive. */
static void notify_progress(struct service_run *s, const struct capture_progress *p)
{
	uint64_t now = clock_boot_ns();
	struct window_counts counts;
	char text[512], samples[32], lost[32], budget[256];

	notifier_alive(&s->notifier, now);
	if (p->preparing || p->finishing || (s->ready && now < s->status + STATUS_TIME))
		return;
	window_sink_counts(s->windows, &counts);
	serve_budget_status(&s->budget, budget, sizeof(budget));
	serve_memory_status(&s->memory, budget, sizeof(budget), strlen(budget));
	snprintf(text, sizeof(text),
		 "%sSTATUS=%llu windows written, %llu failed; %s samples, %s lost; %s",
		 s->ready ? "" : "READY=1\n", (unsigned long long)counts.written,
		 (unsigned long long)counts.failed,
		 show_count(p->samples, samples, sizeof(samples)),
		 show_count(p->lost, lost, sizeof(lost)), budget);
	notifier_send(&s->notifier, text);
	s->ready = true;
	s->status = now;
}

static struct window_budget budget_of_folder(const struct serve_options *o)
{
	return (struct window_budget){o->disk, o->age / NSEC_PER_SEC};
}

static void read_config_again(struct service_run *s)
{
	struct window_budget budget;

	s->reload = false;
	serve_reload(&s->options, &s->from, s->windows, &s->notifier);
	budget = budget_of_folder(&s->options);
	if (s->flight.flight)
		flight_change_budget(s->flight.flight, &budget);
}

static bool serve_continues(void *context, const struct capture_progress *p)
{
	struct service_run *s = context;

	serve_read_signals(s);
	serve_http_poll(&s->http, p);
	serve_flight_poll(&s->flight);
	if (!p->preparing && !p->sums)
		serve_flight_lacks_sums(&s->flight);
	if (s->windows) {
		warn_of_failed_windows(s);
		log_suspend(s, p);
		notify_progress(s, p);
		if (s->reload && s->ready)
			read_config_again(s);
	}
	if (s->ended && !p->finishing)
		notifier_send(&s->notifier, "STOPPING=1");
	return !s->ended || p->finishing;
}

static unsigned int serve_choose_rate(void *context, const struct capture_progress *p)
{
	struct service_run *s = context;

	return serve_budget_choose(&s->budget, p);
}

static bool serve_wants_open_waits(void *context, const struct capture_progress *p)
{
	struct service_run *s = context;

	(void)p;
	return serve_http_wants_open_waits(&s->http, serve_flight_wants_open_waits(&s->flight));
}

static bool serve_wants_waits(void *context)
{
	return on_demand_wants_waits(&((struct service_run *)context)->http.demand);
}

static void serve_waits_recorded(void *context, int status, const char *reason)
{
	serve_http_waits_recorded(&((struct service_run *)context)->http, status, reason);
}

static struct capture_relief
serve_relieve_memory(void *context, const struct capture_helper *helpers, unsigned int count)
{
	struct service_run *s = context;
	struct capture_relief relief = serve_memory_relieve(&s->memory, helpers, count,
							    s->http.network, &s->budget.governor);

	if (s->windows && serve_memory_is_clamped(&s->memory))
		window_sink_note(s->windows, INFO_MEMORY_BUDGET, s->memory.text);
	return relief;
}

static struct capture_options serve_capture_options(struct service_run *s)
{
	const struct record_events flights = flight_settings_events(&s->options.flight);
	struct capture_options o = {
		.sample = true,
		.keep = SERVE_KEEP,
		.fds.release = -1,
		.fds.wake = s->http.wake,
		.wait_names = CAPTURE_WAIT_NAMES,
		.keep_going = serve_continues,
		.when.rates.choose = serve_choose_rate,
		.memory.relieve = serve_relieve_memory,
		.when.tick = SERVE_TICK,
		.context = s,
	};

	targets_apply(&s->options.targets, &o);
	serve_events_apply(&s->options.events, s->options.flight.keep ? &flights : NULL, &s->events,
			   &o);
	o.probes.groups = !s->options.no_sums;
	o.waits.wants_open = serve_wants_open_waits;
	serve_http_use_waits(
		&s->http, &(struct serve_waits_calls){serve_wants_waits, serve_waits_recorded}, &o);
	if (!s->options.targets.frequency)
		o.frequency = DEFAULT_FREQUENCY;
	serve_budget_begin(&s->budget, s->options.cpu, s->options.memory, &o);
	serve_memory_begin(&s->memory, s->options.memory, &s->budget.governor, &o);
	recorder_choose_cache(s->options.unwind_cache, s->unwind_cache, sizeof(s->unwind_cache));
	o.files.unwind_cache = s->unwind_cache[0] ? s->unwind_cache : NULL;
	return o;
}

/*
 * Open the sink of windows, with the flight recorder and the sink of waits before it; *out gets
 * what is recorded.
 */
static int open_service_sink(struct service_run *s, struct sink **out, struct error *err)
{
	const struct window_options o = {
		.folder = s->folder,
		.length = s->options.window,
		.budget = budget_of_folder(&s->options),
		.records = serve_events_choice(&s->options.events),
		.demand = s->http.network ? &s->http.demand : NULL,
	};
	int ret = window_sink(&s->windows, &o, err);

	*out = s->windows;
	if (!ret)
		ret = serve_flight_open(&s->flight, &s->options.flight, &o, out, err);
	return ret ? ret : serve_http_open_waits(&s->http, out, err);
}

/* Sample into windows until a signal. Return the exit status. */
static int serve_windows(struct service_run *s)
{
	struct capture_options o = serve_capture_options(s);
	struct source *source = NULL;
	struct sink *sink = NULL;
	struct window_counts counts;
	struct error err = {""};
	int ret;

	recorder_raise_file_limit();
	recorder_return_memory();
	recorder_raise_priority(HELPERS_NICE);
	ret = capture_source(&source, &o, &err);
	if (ret) {
		limits_explain(&err, ret);
		return log_failure(ret == -EINVAL ? 2 : 1, &err);
	}
	recorder_raise_priority(RECORDER_NICE);
	recorder_warn_of_needs();
	ret = open_service_sink(s, &sink, &err);
	if (!ret) {
		s->http.windows = s->windows;
		s->http.memory = &s->memory;
		s->http.governor = &s->budget.governor;
		s->http.flight = s->flight.flight;
		log_info("serve: windows go to %s", s->folder);
		ret = pipe_join(source, sink, &err);
	}
	if (!ret) {
		warn_of_failed_windows(s);
		window_sink_counts(s->windows, &counts);
		log_info("serve: ended after %llu windows", (unsigned long long)counts.written);
	}
	source_free(source);
	serve_http_close_waits(&s->http);
	s->http.windows = NULL;
	s->http.flight = NULL;
	serve_flight_close(&s->flight);
	sink_free(s->windows);
	return ret ? log_failure(1, &err) : 0;
}

/* Only one service may write to a folder: it holds a lock in it. */
static int lock_window_folder(struct service_run *s)
{
	char path[PATH_MAX];

	if (mkdir(s->folder, 0700) < 0 && errno != EEXIST)
		return log_error(1, "serve: %s: %s", s->folder, strerror(errno));
	if (snprintf(path, sizeof(path), "%s/lock", s->folder) >= (int)sizeof(path))
		return log_error(1, "serve: %s: %s", s->folder, strerror(ENAMETOOLONG));
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->lock < 0)
		return log_error(1, "serve: %s: %s", path, strerror(errno));
	if (flock(s->lock, LOCK_EX | LOCK_NB) < 0)
		return log_error(1,
				 "serve: another 'skein serve' writes to %s: choose another "
				 "folder with --folder",
				 s->folder);
	return 0;
}

/* Keep what a killed service has left. */
static int recover_windows(const struct service_run *s)
{
	struct error err = {""};
	uint64_t count;

	if (window_files_recover(s->folder, &count, &err) < 0)
		return log_failure(1, &err);
	if (count)
		log_info("serve: %llu window%s of a service that was killed %s kept",
			 (unsigned long long)count, count == 1 ? "" : "s",
			 count == 1 ? "is" : "are");
	return 0;
}

static void choose_window_folder(struct service_run *s)
{
	const char *unit = getenv("STATE_DIRECTORY");

	if (s->options.folder)
		snprintf(s->folder, sizeof(s->folder), "%s", s->options.folder);
	else if (unit && unit[0] == '/')
		snprintf(s->folder, sizeof(s->folder), "%.*s", (int)strcspn(unit, ":"), unit);
	else
		snprintf(s->folder, sizeof(s->folder), "%s", WINDOW_FOLDER);
}

/* Return why there are no sums of control groups; NULL if there are, as far as options decide. */
static const char *why_no_sums(const struct serve_options *o)
{
	const struct targets *t = &o->targets;

	if (o->no_sums)
		return "--no-sums";
	return t->pids.count || t->tids.count || t->comm || t->cgroup || t->cpus || t->pod
		       ? "options select a part of the machine"
		       : NULL;
}

static int check_serve_options(const struct serve_options *o)
{
	if (o->window < WINDOW_MIN || o->window > WINDOW_MAX)
		return log_error(2, "serve: --window is 1s to 24h");
	if (flight_settings_check(&o->flight, why_no_sums(o)) ||
	    serve_events_check(&o->events, &o->flight.events))
		return 2;
	return targets_check(&o->targets, "serve");
}

static void show_config(const struct service_run *s)
{
	const struct serve_options *o = &s->options;
	char window[32], disk[32], age[32], cpu[32], memory[32];

	printf("%s%s\n", o->config ? o->config : "no configuration file",
	       o->config ? " is right" : "");
	printf("folder %s, windows of %s, at most %s and %s, %llu Hz, ", s->folder,
	       show_duration(o->window, window, sizeof(window)),
	       o->disk ? show_bytes(o->disk, disk, sizeof(disk)) : "any size",
	       o->age ? show_duration(o->age, age, sizeof(age)) : "any age",
	       (unsigned long long)(o->targets.frequency ? o->targets.frequency
							 : DEFAULT_FREQUENCY));
	if (o->targets.pids.count || o->targets.tids.count)
		printf("%zu processes and %zu threads\n", o->targets.pids.count,
		       o->targets.tids.count);
	else
		printf("all processes that fit\n");
	printf("%s and %s for the service itself\n", serve_budget_show(o->cpu, cpu, sizeof(cpu)),
	       serve_memory_show(o->memory, memory, sizeof(memory)));
	serve_events_print(&o->events);
	flight_settings_print(&o->flight);
}

/*
 * Read the configuration and then the command line again, whose options take the place of those of
 * the configuration. Return 0 or an exit status.
 */
static int read_serve_config(struct serve_options *o, struct serve_source *from)
{
	const bool pids = o->targets.pids.count, tids = o->targets.tids.count;
	const struct flight_given given = flight_settings_given(&o->flight);
	const bool events = o->events.given;
	static const char *const except[] = {"config", "check-config", NULL};
	struct options_file f = {.command = &serve_command, .except = except};
	struct error err = {""};
	int ret;

	if (!o->config && access(DEFAULT_CONFIG, F_OK) < 0)
		return 0;
	if (!o->config)
		o->config = DEFAULT_CONFIG;
	f.path = o->config;
	targets_free(&o->targets);
	flight_settings_free(&o->flight);
	record_events_free(&o->events);
	*o = serve_defaults;
	o->config = f.path;
	ret = options_read_file(&f, o, &err);
	from->text = f.text;
	if (ret < 0)
		return log_failure(2, &err);
	/* A list of the command line would be added to that of the configuration. */
	if (pids)
		vector_free(&o->targets.pids);
	if (tids)
		vector_free(&o->targets.tids);
	flight_settings_drop(&o->flight, given);
	if (events) {
		record_events_free(&o->events);
		o->events = serve_defaults.events;
	}
	return command_parse(&serve_command, from->argc, from->argv, o) < 0 ? 2 : 0;
}

int serve_options_read(struct serve_options *o, struct serve_source *from)
{
	int first, status;

	*o = serve_defaults;
	first = command_parse(&serve_command, from->argc, from->argv, o);
	if (first < 0)
		return first;
	if (first < from->argc)
		return ~log_error(2, "serve: '%s' is not expected: see 'skein serve --help'",
				  from->argv[first]);
	status = read_serve_config(o, from);
	if (!status)
		status = check_serve_options(o);
	return status ? ~status : 0;
}

void serve_options_free(struct serve_options *o, struct serve_source *from)
{
	targets_free(&o->targets);
	flight_settings_free(&o->flight);
	record_events_free(&o->events);
	free(from->text);
	from->text = NULL;
}

static int run_service(struct service_run *s)
{
	/* SIGHUP also under nohup(1): it does not end the service */
	static const int caught[] = {SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGHUP};
	int status = lock_window_folder(s);

	if (!status)
		status = recover_windows(s);
	if (status)
		return status;
	notifier_open(&s->notifier);
	s->signals = signals_catch(caught, sizeof(caught) / sizeof(caught[0]));
	if (s->signals < 0)
		return log_error(1, "serve: signals: %s", strerror(-s->signals));
	status = serve_http_start(&s->http, s->folder, s->signals);
	return status ? status : serve_windows(s);
}

static int serve_main(int argc, char **argv)
{
	struct service_run s = {
		.from = {.argc = argc, .argv = argv},
		.lock = -1,
		.signals = -1,
		.http = {.listener = -1, .wake = -1},
		.notifier.socket = -1,
	};
	int ret = serve_options_read(&s.options, &s.from), status = ret < 0 ? ~ret : 0;

	if (!ret)
		status = serve_http_prepare(&s.http, &s.options.http);
	choose_window_folder(&s);
	if (!ret && !status && s.options.check)
		show_config(&s);
	else if (!ret && !status)
		status = run_service(&s);
	serve_http_end(&s.http);
	if (s.signals >= 0)
		close(s.signals);
	if (s.lock >= 0)
		close(s.lock);
	notifier_close(&s.notifier);
	serve_options_free(&s.options, &s.from);
	return status;
}
