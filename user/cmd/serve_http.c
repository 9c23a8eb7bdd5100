// SPDX-License-Identifier: Apache-2.0
/* How skein serve is asked over HTTP (serve_http.h). */
#include "cmd/serve_http.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "capture/clock.h"
#include "serve/metrics.h"
#include "serve/waits_sink.h"

#define TOKEN_LEAST 16 /* bytes */
#define TOKEN_MOST 255 /* bytes */
#define FUNCTIONS_MOST 100
#define REACHED \
	"can be reached from other machines, and profiles show what runs here: it needs " \
	"--token-file"

/* Read the first line of the token's file. */
static int read_token(struct serve_http *h)
{
	FILE *in = fopen(h->options.token_file, "re");
	char line[TOKEN_MOST + 2] = "";
	size_t length;

	if (!in)
		return log_error(1, "serve: %s: %s", h->options.token_file, strerror(errno));
	if (!fgets(line, sizeof(line), in))
		line[0] = '\0';
	fclose(in);
	length = strcspn(line, "\r\n");
	line[length] = '\0';
	if (length < TOKEN_LEAST || length > TOKEN_MOST || strspn(line, " \t") ||
	    strcspn(line, " \t") != length)
		return log_error(2,
				 "serve: the first line of %s is no token: %d to %d bytes without "
				 "blanks, such as 'openssl rand -hex 16' gives",
				 h->options.token_file, TOKEN_LEAST, TOKEN_MOST);
	h->token = strdup(line);
	return h->token ? 0 : log_error(1, "out of memory");
}

int serve_http_prepare(struct serve_http *h, const struct serve_http_options *o)
{
	struct error err = {""};

	h->options = *o;
	h->demand.top = o->functions ? (unsigned int)o->functions : CPU_TIMES_TOP;
	if (o->functions > FUNCTIONS_MOST)
		return log_error(2, "serve: --functions is at most %d", FUNCTIONS_MOST);
	if (listen_parse(&h->address, o->listen ? o->listen : LISTEN_DEFAULT, &err) < 0)
		return log_failure(2, &err);
	if (h->address.size && !h->address.local && !o->token_file)
		return log_error(2, "serve: --listen %s " REACHED, h->address.text);
	return o->token_file ? read_token(h) : 0;
}

/* Have the list of windows up to date. Return whether there is one. */
static bool update_window_list(struct serve_http *h)
{
	struct window_counts windows = {.written = 0};
	struct flight_counts flights = {.written = 0};
	struct error err = {""};

	if (h->windows)
		window_sink_counts(h->windows, &windows);
	if (h->flight)
		flight_get_counts(h->flight, &flights);
	return window_list_update(&h->list, h->demand.folder,
				  windows.written + windows.removed + windows.failed +
					  flights.written + flights.failed,
				  clock_boot_ns(), &err) == 0;
}

static void write_window_lines(void *context, FILE *out)
{
	struct serve_http *h = context;

	if (update_window_list(h))
		fwrite(h->list.text, 1, h->list.size, out);
}

static void write_own_cost(const struct serve_http *h, const struct metrics_page *m)
{
	const struct capture_progress *p = &h->progress;
	const struct {
		const char *name;
		uint64_t ns;
	} parts[] = {
		{"core", p->cost.own},
		{"helpers", p->cost.helpers},
		{"network", network_cpu(h->network)},
		{"kernel", p->cost.kernel},
		{"hooks", p->cost.apart},
	};

	metric_begin(m, "skein_own_cpu_seconds", "counter",
		     "CPU time of skein's own processes, and of its BPF programs (kernel, hooks).");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fprintf(m->out, "skein_own_cpu_seconds_total{process=\"%s\"} %.6f\n", parts[i].name,
			(double)parts[i].ns / 1e9);
	metric_gauge(m, "skein_sampling_hertz", "Samples per second and CPU, now.",
		     (double)p->frequency);
}

static void write_budgets(const struct serve_http *h, const struct metrics_page *m)
{
	const struct serve_memory_use *u = &h->memory->use;
	const struct {
		const char *name;
		uint64_t bytes;
	} parts[] = {{"core", u->core}, {"helpers", u->helpers}, {"network", u->network}};

	metric_begin(m, "skein_own_memory_bytes", "gauge",
		     "Memory of skein's own processes, without buffers and BPF maps.");
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		fprintf(m->out, "skein_own_memory_bytes{process=\"%s\"} %" PRIu64 "\n",
			parts[i].name, parts[i].bytes);
	metric_begin(m, "skein_budget_clamps", "counter",
		     "Steps that were taken to stay within a budget: lower rates, and for memory "
		     "what was forgotten and replaced.");
	fprintf(m->out,
		"skein_budget_clamps_total{budget=\"cpu\"} %" PRIu64 "\n"
		"skein_budget_clamps_total{budget=\"memory\"} %" PRIu64 "\n",
		h->governor->clamps, h->memory->budget.clamps);
}

static void write_flights(const struct serve_http *h, const struct metrics_page *m)
{
	struct flight_counts counts;

	if (!h->flight)
		return;
	flight_get_counts(h->flight, &counts);
	metric_count(m, "skein_flights_written", "Traces that the flight recorder has written.",
		     counts.written);
	metric_count(m, "skein_flights_suppressed", "Triggers that the limits did not allow.",
		     counts.suppressed);
	metric_count(m, "skein_flights_failed", "Traces that could not be written.", counts.failed);
}

static int trigger_flight(void *context, const char *reason)
{
	const struct serve_http *h = context;

	return h->flight ? flight_trigger(h->flight, reason) : -ENODEV;
}

static void write_core_metrics(void *context, FILE *out, bool open_metrics)
{
	struct serve_http *h = context;
	struct metrics_page m = {.out = out, .open = open_metrics};
	struct window_counts counts;
	struct error err = {""};

	if (on_demand_count(&h->demand, clock_boot_ns(), &err) < 0)
		log_warn("serve: %s", err.text);
	if (open_metrics && update_window_list(h) && h->list.last.name[0]) {
		m.window = h->list.last.name;
		m.window_end = h->list.last.end;
	}
	metric_begin(&m, "skein_build_info", "gauge", "The version of skein.");
	fprintf(out, "skein_build_info{version=\"%s\"} 1\n", SKEIN_VERSION);
	metrics_write_waits(&m, &h->demand);
	metrics_write_times(&m, &h->demand);
	pauses_write(&m, &h->demand.pauses);
	if (h->windows) {
		window_sink_counts(h->windows, &counts);
		metrics_write_windows(&m, &counts);
	}
	write_own_cost(h, &m);
	if (h->memory)
		write_budgets(h, &m);
	write_flights(h, &m);
}

/* Make h->wake, which reports signals and questions. */
static int make_wake(struct serve_http *h, int signals)
{
	struct epoll_event event = {.events = EPOLLIN};

	h->wake = epoll_create1(EPOLL_CLOEXEC);
	if (h->wake < 0 || epoll_ctl(h->wake, EPOLL_CTL_ADD, signals, &event) < 0)
		return -errno;
	if (h->network && epoll_ctl(h->wake, EPOLL_CTL_ADD, network_fd(h->network), &event) < 0)
		return -errno;
	return 0;
}

/* Get the listening socket: that of systemd, or one of our own. Return 0 or a negative errno. */
static int get_listener(struct serve_http *h, struct error *err)
{
	char where[160];
	int ret;

	h->listener = listen_inherited();
	h->inherited = h->listener >= 0;
	if (!h->inherited)
		h->listener = listen_open(&h->address, err);
	if (h->listener < 0)
		return h->listener;
	h->bound = true;
	ret = listen_address_of(&h->address, h->listener);
	if (ret)
		return error_errno(err, ret, "serve: the socket of systemd");
	if (!h->address.local && !h->token)
		return error_set(err, -EACCES, "serve: the socket %s " REACHED,
				 listen_show(&h->address, where, sizeof(where)));
	return 0;
}

static int start_network(struct serve_http *h, struct error *err)
{
	struct network_options o = {
		.token = h->token,
		.folder = h->demand.folder,
		.demand = &h->demand,
		.write_metrics = write_core_metrics,
		.write_windows = write_window_lines,
		.trigger = trigger_flight,
		.context = h,
	};
	int ret = get_listener(h, err);

	if (ret < 0 && h->listener < 0 && !h->options.listen) {
		/* Nobody chose this address, and windows are worth more than an answer. */
		log_warn("serve: %s; nothing is answered over HTTP", err->text);
		return 0;
	}
	if (ret < 0)
		return ret;
	o.listener = h->listener;
	o.any_host = h->token || h->address.at.any.sa_family == AF_UNIX;
	return network_open(&h->network, &o, err);
}

int serve_http_start(struct serve_http *h, const char *folder, int signals)
{
	struct error err = {""};
	char where[160];
	int ret = 0;

	h->demand.folder = folder;
	on_demand_clean(folder);
	if (h->address.size)
		ret = start_network(h, &err);
	if (!ret) {
		ret = make_wake(h, signals);
		if (ret)
			error_errno(&err, ret, "serve: cannot wait for requests");
	}
	if (ret < 0)
		return log_failure(1, &err);
	if (h->network)
		log_info("serve: listens on %s", listen_show(&h->address, where, sizeof(where)));
	return 0;
}

void serve_http_use_waits(struct serve_http *h, const struct serve_waits_calls *calls,
			  struct capture_options *o)
{
	struct session_waits *w = &h->demand.wall;

	if (!h->network)
		return;
	w->always = o->waits.stacks;
	w->refused = o->sched && !o->waits.stacks ? -ENODEV : 0;
	if (w->always || w->refused)
		return;
	o->waits.wanted = calls->wanted;
	o->waits.recorded = calls->recorded;
	o->waits.period = CAPTURE_WAIT_PERIOD;
}

int serve_http_open_waits(struct serve_http *h, struct sink **out, struct error *err)
{
	const struct session_waits *w = &h->demand.wall;
	int ret;

	if (!h->network || w->refused)
		return 0;
	ret = waits_sink(&h->waits, *out, &h->demand, w->always, err);
	if (!ret)
		*out = h->waits;
	return ret;
}

void serve_http_close_waits(struct serve_http *h)
{
	sink_free(h->waits);
	h->waits = NULL;
}

void serve_http_waits_recorded(struct serve_http *h, int status, const char *reason)
{
	if (status < 0)
		log_warn("serve: waits cannot be recorded, and so no wall time: %s", reason);
	on_demand_waits_recorded(&h->demand, status, clock_boot_ns());
}

bool serve_http_wants_open_waits(struct serve_http *h, bool flight)
{
	bool session = on_demand_wants_open_waits(&h->demand, clock_boot_ns());

	h->demand.wall.open_alone = session && !flight;
	return session || flight;
}

void serve_http_poll(struct serve_http *h, const struct capture_progress *p)
{
	struct error err = {""};
	bool recording = h->windows && !p->preparing && !p->finishing;

	h->progress = *p;
	h->demand.wall.over_budget = p->rate > 0;
	if (h->network && network_poll(h->network, clock_boot_ns(), recording, &err) < 0) {
		log_warn("serve: %s: nothing is answered any more, windows are still written",
			 err.text);
		epoll_ctl(h->wake, EPOLL_CTL_DEL, network_fd(h->network), NULL);
		network_close(h->network);
		h->network = NULL;
		close(h->listener); /* clients are refused then, and do not wait */
		h->listener = -1;
	}
}

void serve_http_end(struct serve_http *h)
{
	network_close(h->network);
	on_demand_free(&h->demand);
	window_list_free(&h->list);
	if (h->wake >= 0)
		close(h->wake);
	if (h->listener >= 0)
		close(h->listener);
	if (h->address.size && !h->inherited && h->bound)
		listen_remove(&h->address);
	free(h->token);
}
