// SPDX-License-Identifier: Apache-2.0
/* Show the findings of doctor as text and as JSON. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/json.h"
#include "base/outfile.h"
#include "base/text.h"
#include "cmd/doctor.h"

#define WORD_COLUMNS 11
#define NAME_COLUMNS 17

#define FIX_MAX 1024

static const struct {
	const char *word, *style;
} verdicts[] = {
	[VERDICT_OK] = {"ok", STYLE_GOOD},
	[VERDICT_MISSING] = {"missing", STYLE_WARM},
	[VERDICT_NOT_NEEDED] = {"not needed", STYLE_DIM},
};

static void doctor_put_row(const struct screen *s, const char *word, const char *style,
			   const char *name, const char *text)
{
	fputs("  ", s->out);
	screen_put(s, style, word);
	fprintf(s->out, "%*s%-*s ", WORD_COLUMNS - (int)strlen(word), "", NAME_COLUMNS, name);
	screen_put_wrapped(s, 2 + WORD_COLUMNS + NAME_COLUMNS + 1, STYLE_PLAIN, text);
}

static void doctor_put_finding(const struct screen *s, const struct finding *f, bool verbose)
{
	bool missing = f->verdict == VERDICT_MISSING;
	bool grave = missing && checkup_required(f->check);
	char text[1024], names[256];

	snprintf(text, sizeof(text), "%s%s%s", f->found, missing ? "; lost: " : "",
		 missing ? checkup_consequence(f->check) : "");
	need_names(f->needs, names, sizeof(names));
	if (missing && names[0] && !strstr(f->found, names))
		snprintf(text + strlen(text), sizeof(text) - strlen(text), " (%s)", names);
	doctor_put_row(s, verdicts[f->verdict].word, grave ? STYLE_HOT : verdicts[f->verdict].style,
		       checkup_name(f->check), text);
	if (verbose) {
		snprintf(text, sizeof(text), "(tried: %s)", checkup_method(f->check));
		doctor_put_row(s, "", STYLE_PLAIN, "", text);
	}
}

static void doctor_put_runtime(const struct screen *s, const struct doctor_runtime *r)
{
	const char *word = r->tested ? "ok" : "missing";
	char path[1024], text[1280];

	snprintf(text, sizeof(text), "%s; %" PRIu64 " process%s of %s", r->support, r->processes,
		 r->processes == 1 ? "" : "es", text_clean(r->path, path, sizeof(path)));
	doctor_put_row(s, word, r->tested ? STYLE_GOOD : STYLE_WARM, r->name, text);
}

static void doctor_put_head(const struct diagnosis *d, const struct screen *s)
{
	struct utsname u = {0};
	char head[512];

	(void)uname(&u);
	snprintf(head, sizeof(head), "skein %s on Linux %s %s, from %s", SKEIN_VERSION, u.release,
		 u.machine, setting_text(d->setting));
	screen_put(s, STYLE_BOLD, head);
	fputs("\n\n", s->out);
}

/*
 * Print the lines that fix the missing needs (a mask of NEED_BIT()), unwrapped so that they can be
 * copied. One line adds all missing capabilities.
 */
static void doctor_put_mends(const struct diagnosis *d, const struct screen *s, uint64_t needs)
{
	char fix[FIX_MAX], names[512];
	uint64_t capabilities = needs & NEEDS_CAPABILITIES;

	if (!needs)
		return;
	fprintf(s->out, "\nTo fix it%s:\n", setting_place(d->setting));
	if (capabilities)
		fprintf(s->out, "  %s:\n    %s\n", need_names(capabilities, names, sizeof(names)),
			need_fix(capabilities, d->setting, fix, sizeof(fix)));
	for (unsigned int i = 0; i < NEED_COUNT; i++)
		if (needs & ~NEEDS_CAPABILITIES & NEED_BIT(i))
			fprintf(s->out, "  %s:\n    %s\n", need_table[i].name,
				need_fix(NEED_BIT(i), d->setting, fix, sizeof(fix)));
}

static void doctor_put_verdict(const struct diagnosis *d, const struct screen *s)
{
	const char *text = "Everything works.";
	uint64_t needs = 0;

	for (int c = 0; c < CHECK_COUNT; c++) {
		if (d->findings[c].verdict != VERDICT_MISSING)
			continue;
		text = "Recording works, without what is missing above.";
		needs |= d->findings[c].needs;
	}
	if (!doctor_is_healthy(d))
		text = "Recording does not work here.";
	fputc('\n', s->out);
	screen_put(s, STYLE_BOLD, text);
	fputc('\n', s->out);
	doctor_put_mends(d, s, needs);
}

int doctor_text(const struct diagnosis *d, const struct screen *s, bool verbose)
{
	doctor_put_head(d, s);
	for (int c = 0; c < CHECK_COUNT; c++)
		doctor_put_finding(s, &d->findings[c], verbose);
	for (size_t i = 0; i < d->runtimes.count; i++)
		doctor_put_runtime(s, &d->runtimes.items[i]);
	doctor_put_verdict(d, s);
	return outfile_flush(s->out, "the diagnosis", NULL);
}

static void doctor_json_finding(const struct diagnosis *d, struct json *j, const struct finding *f)
{
	char text[FIX_MAX];

	json_object(j);
	json_key_text(j, "check", checkup_name(f->check));
	json_key_text(j, "verdict", verdicts[f->verdict].word);
	json_key(j, "required");
	json_bool(j, checkup_required(f->check));
	json_key_text(j, "found", f->found);
	json_key_text(j, "tried", checkup_method(f->check));
	if (f->verdict == VERDICT_MISSING) {
		json_key_text(j, "lost", checkup_consequence(f->check));
		json_key_text(j, "needs", need_names(f->needs, text, sizeof(text)));
		json_key_text(j, "mend", need_fix(f->needs, d->setting, text, sizeof(text)));
	}
	json_object_end(j);
}

static void doctor_json_runtime(struct json *j, const struct doctor_runtime *r)
{
	json_object(j);
	json_key_text(j, "name", r->name);
	json_key_text(j, "path", r->path);
	json_key_uint(j, "processes", r->processes);
	json_key_text(j, "support", r->support);
	json_key(j, "readable");
	json_bool(j, r->readable);
	json_key(j, "tested");
	json_bool(j, r->tested);
	json_object_end(j);
}

int doctor_json(const struct diagnosis *d, FILE *out)
{
	struct json j;

	json_begin(&j, out, true);
	json_object(&j);
	json_key_text(&j, "version", SKEIN_VERSION);
	json_key_text(&j, "setting", setting_text(d->setting));
	json_key(&j, "works");
	json_bool(&j, doctor_is_healthy(d));
	json_key(&j, "checks");
	json_array(&j);
	for (int c = 0; c < CHECK_COUNT; c++)
		doctor_json_finding(d, &j, &d->findings[c]);
	json_array_end(&j);
	json_key(&j, "runtimes");
	json_array(&j);
	for (size_t i = 0; i < d->runtimes.count; i++)
		doctor_json_runtime(&j, &d->runtimes.items[i]);
	json_array_end(&j);
	json_object_end(&j);
	return json_end(&j);
}
