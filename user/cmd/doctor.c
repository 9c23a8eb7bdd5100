// SPDX-License-Identifier: Apache-2.0
/* skein doctor: show what works on this machine, what does not, and the command that fixes it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/doctor.h"
#include "cmd/doctor_probes.h"
#include "cmd/recorder.h"

struct doctor_options {
	bool json, verbose, table, services, probes;
	const char *color, *cache;
};

#define MEMBER(m) offsetof(struct doctor_options, m)

static const struct option_spec doctor_specs[] = {
	{.name = "json",
	 .type = OPTION_FLAG,
	 .help = "Print the findings as JSON.",
	 .offset = MEMBER(json)},
	{.name = "verbose",
	 .letter = 'v',
	 .type = OPTION_FLAG,
	 .help = "Show how each thing is tried, and what the kernel says of programs that it "
		 "refuses.",
	 .offset = MEMBER(verbose)},
	{.name = "table",
	 .type = OPTION_FLAG,
	 .help = "Try nothing: print which privileges skein uses, for what, and where they are "
		 "given.",
	 .offset = MEMBER(table)},
	{.name = "services",
	 .type = OPTION_FLAG,
	 .help = "Try nothing: print the built-in rules that name services, as lines for a file of "
		 "--service-rules.",
	 .offset = MEMBER(services)},
	{.name = "probes",
	 .type = OPTION_FLAG,
	 .help = "Attach nothing: list the probes that skein knows, and those of the language "
		 "runtimes that run. With PATH: those of a file, all USDT notes among them, at how "
		 "many sites each, and whether probes can be attached there.",
	 .offset = MEMBER(probes)},
	{.name = "unwind-cache",
	 .type = OPTION_TEXT,
	 .arg = "DIR",
	 .help = "The folder for unwind tables that is tried. Default: as for record.",
	 .offset = MEMBER(cache)},
	{.name = "color",
	 .type = OPTION_TEXT,
	 .arg = "WHEN",
	 .help = "auto, always or never. Default: auto, on a terminal.",
	 .offset = MEMBER(color)},
	{.name = NULL},
};

bool doctor_is_healthy(const struct diagnosis *d)
{
	for (int c = 0; c < CHECK_COUNT; c++)
		if (checkup_required((enum check)c) && d->findings[c].verdict == VERDICT_MISSING)
			return false;
	return true;
}

struct doctor_progress {
	struct diagnosis *diagnosis;
	bool shown;
};

static void show_next_check(const struct doctor_progress *p, int check)
{
	if (!p->shown)
		return;
	if (check < CHECK_COUNT)
		fprintf(stderr, "\r\033[Ktrying: %s", checkup_name((enum check)check));
	else
		fputs("\r\033[K", stderr);
	fflush(stderr);
}

static void on_finding(void *context, const struct finding *f)
{
	struct doctor_progress *p = context;

	p->diagnosis->findings[f->check] = *f;
	show_next_check(p, (int)f->check + 1);
}

static void on_runtime(void *context, const struct runtime_found *r)
{
	struct diagnosis *d = ((struct doctor_progress *)context)->diagnosis;
	struct doctor_runtime new = {.name = strdup(r->name),
				     .path = strdup(r->path),
				     .processes = r->processes,
				     .support = strdup(r->support),
				     .readable = r->readable,
				     .tested = r->tested};

	if (!new.name || !new.path || !new.support || vector_push(&d->runtimes, new) < 0) {
		free(new.name);
		free(new.path);
		free(new.support);
	}
}

static void run_checks(struct diagnosis *d, const struct doctor_options *o)
{
	char cache[PATH_MAX];
	const struct checkup_options options = {
		.unwind_cache = recorder_choose_cache(o->cache, cache, sizeof(cache))};
	struct doctor_progress p = {.diagnosis = d, .shown = isatty(STDERR_FILENO)};
	struct error err = {""};
	int ret;

	d->setting = setting_here();
	show_next_check(&p, 0);
	checkup_run(&options, on_finding, &p);
	ret = checkup_runtimes(on_runtime, &p, &err);
	/* -EPERM: helper processes cannot confine themselves, which a check has reported. */
	if (ret < 0 && ret != -EPERM)
		log_failure(0, &err);
}

static void free_diagnosis(struct diagnosis *d)
{
	for (size_t i = 0; i < d->runtimes.count; i++) {
		free(d->runtimes.items[i].name);
		free(d->runtimes.items[i].path);
		free(d->runtimes.items[i].support);
	}
	vector_free(&d->runtimes);
}

static int diagnose(const struct doctor_options *o, const struct screen *s)
{
	struct diagnosis d = {0};
	int ret, status;

	if (o->verbose) /* show the verifier's log of programs that the kernel rejects */
		setenv("SKEIN_DEBUG_BPF", "1", true);
	run_checks(&d, o);
	ret = o->json ? doctor_json(&d, stdout) : doctor_text(&d, s, o->verbose);
	status = doctor_is_healthy(&d) ? 0 : 1;
	free_diagnosis(&d);
	return ret ? log_error(1, "doctor: cannot write: %s", strerror(-ret)) : status;
}

static int doctor_main(int argc, char **argv)
{
	struct doctor_options o = {0};
	struct screen screen;
	int first = command_parse(&doctor_command, argc, argv, &o);

	if (first < 0)
		return ~first;
	if (argv[first] && (!o.probes || argv[first + 1]))
		return log_error(2, "doctor: '%s' is not expected: only --probes takes a path",
				 argv[first + (o.probes && argv[first + 1])]);
	if (screen_open(&screen, stdout, o.color) < 0)
		return log_error(2, "doctor: --color is auto, always or never");
	if (o.probes)
		return doctor_probes(argv[first], o.json, &screen);
	if (!o.table && !o.services)
		return diagnose(&o, &screen);
	if (o.table)
		doctor_table(stdout);
	if (o.services)
		doctor_services(stdout);
	return command_finish("the table");
}

const struct command doctor_command = {
	.name = "doctor",
	.summary = "show what works on this machine, and how to fix the rest",
	.usage = "[OPTIONS] [--probes [PATH]]",
	.group = COMMANDS_RECORDING,
	.description = "Tries everything that a recording needs by doing it: loads the programs, "
		       "opens the "
		       "events, records a child for a moment, opens files of other users' "
		       "processes, lists the "
		       "interpreters that run. For what is missing it says what is lost, and the "
		       "line that "
		       "fixes it where skein runs: a command, or a line of a unit or manifest.\n"
		       "\n"
		       "The exit status is 0 if everything works that a recording needs, else 1. "
		       "Anything else that is missing makes a recording less complete, and the "
		       "output says how.",
	.examples = "sudo skein doctor\tas the user that will record\n"
		    "skein doctor -v\thow each thing was tried\n"
		    "skein doctor --services\trules that name services\n"
		    "skein doctor --probes $(command -v postgres)\tits USDT probes\n"
		    "skein doctor --table\twhich privileges are for what",
	.options = doctor_specs,
	.options_size = sizeof(struct doctor_options),
	.run = doctor_main,
};
