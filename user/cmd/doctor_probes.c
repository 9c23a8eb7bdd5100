// SPDX-License-Identifier: Apache-2.0
/* Shows the table of probes, and which of them files have, as text and as JSON. */
#include "cmd/doctor_probes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "capture/checkup_probes.h"
#include "cmd/record_events.h"

#define PROBE_WORD_COLUMNS 8
#define PROBE_NAME_COLUMNS 46
#define PROBE_TEXT_COLUMN 12

static const char *const origin_words[] = {
	[PROBE_NOTE] = "note",
	[PROBE_FUNCTION] = "function",
	[PROBE_RETURN] = "return of a function",
};

/* What is known of a probe in a file: all sites of a row, or of one label of another note. */
struct probe_summary {
	const char *name;
	const struct probe_row *row; /* NULL: it is not in the table */
	unsigned int sites, attachable, slow;
	unsigned int instruction; /* of the first site that can be attached */
	unsigned int refusal; /* of the first one that cannot */
};

static bool is_same_probe(const struct probe_site *a, const struct probe_site *b)
{
	return a->row == b->row && (a->row < probe_row_count || !strcmp(a->label, b->label));
}

/* Return whether a note of a pattern is also one of the table. */
static bool is_in_table(const struct probe_sites *s, const struct probe_site *site)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->sites[i].row < probe_row_count && s->sites[i].offset == site->offset)
			return true;
	return false;
}

/* Add up the sites of the probe of site first. Return false if they were added up before. */
static bool summarize_probe(struct probe_summary *out, const struct probe_sites *s, uint32_t first)
{
	const struct probe_site *of = &s->sites[first];

	*out = (struct probe_summary){.name = of->label};
	if (of->row < probe_row_count)
		out->row = &probe_rows[of->row];
	else if (is_in_table(s, of))
		return false;
	for (uint32_t i = 0; i < s->count; i++) {
		const struct probe_site *site = &s->sites[i];

		if (!is_same_probe(of, site))
			continue;
		if (i < first)
			return false;
		out->sites++;
		if (site->refused && !out->refusal)
			out->refusal = site->refused;
		if (site->refused)
			continue;
		if (!out->attachable++)
			out->instruction = site->instruction;
		out->slow += probe_instruction_is_slow(site->instruction);
	}
	return true;
}

static const char *summary_word(const struct probe_summary *p)
{
	return !p->attachable ? "refused" : p->slow ? "slow" : "ok";
}

/* A line with the facts of a probe, and what it reports below. */
struct probe_lines {
	const char *word, *style; /* the verdict */
	const char *name, *facts, *text;
};

static void put_probe(const struct screen *s, const struct probe_lines *p)
{
	fputs("  ", s->out);
	screen_put(s, p->style, p->word);
	fprintf(s->out, "%*s%-*s%s", PROBE_WORD_COLUMNS - (int)strlen(p->word), "",
		*p->facts ? PROBE_NAME_COLUMNS : 0, p->name, *p->facts ? " " : "");
	screen_put_wrapped(s, 2 + PROBE_WORD_COLUMNS + PROBE_NAME_COLUMNS + 1, STYLE_PLAIN,
			   p->facts);
	if (!*p->text)
		return;
	fprintf(s->out, "%*s", PROBE_TEXT_COLUMN, "");
	screen_put_wrapped(s, PROBE_TEXT_COLUMN, STYLE_DIM, p->text);
}

/* Write "hotspot:gc__begin" or "GCTimer::register_gc_pause_start()". */
static const char *name_of_row(const struct probe_row *row, char *buf, size_t size)
{
	if (row->origin == PROBE_NOTE)
		snprintf(buf, size, "%s:%s", row->provider, row->name);
	else
		snprintf(buf, size, "%s()%s", row->name,
			 row->origin == PROBE_RETURN ? " returns" : "");
	return buf;
}

static void put_summary(const struct screen *s, const struct probe_summary *p)
{
	const char *word = summary_word(p);
	char name[128], words[128], facts[384], text[384] = "";
	size_t used;

	if (p->row)
		name_of_row(p->row, name, sizeof(name));
	else
		screen_name(s, p->name, sizeof(name) - 1, name, sizeof(name));
	used = text_append(facts, sizeof(facts), 0, "%u site%s", p->sites,
			   p->sites == 1 ? "" : "s");
	if (p->attachable)
		used = text_append(facts, sizeof(facts), used, ", %s",
				   probe_instruction_text(p->instruction));
	if (p->refusal)
		text_append(facts, sizeof(facts), used, "; %u refused: %s",
			    p->sites - p->attachable, probe_refusal_text(p->refusal));
	if (p->row)
		snprintf(text, sizeof(text), "-e %s: %s",
			 record_events_show_parts(p->row->parts, words, sizeof(words)),
			 p->row->reports);
	put_probe(s, &(struct probe_lines){word, !strcmp(word, "ok") ? STYLE_GOOD : STYLE_WARM,
					   name, facts, text});
}

/* Return whether a file of a runtime has no site of a row of the table. */
static bool is_absent(const struct probes_found *f, unsigned int row)
{
	if (!f->runtime || f->status || probe_row_runtime(&probe_rows[row]) != f->runtime)
		return false;
	for (uint32_t i = 0; i < f->sites->count; i++)
		if (f->sites->sites[i].row == row)
			return false;
	return true;
}

static void put_absent(const struct screen *s, const struct probes_found *f)
{
	char name[128];

	for (unsigned int i = 0; i < probe_row_count; i++)
		if (is_absent(f, i))
			put_probe(s,
				  &(struct probe_lines){
					  "absent", STYLE_DIM,
					  name_of_row(&probe_rows[i], name, sizeof(name)), "", ""});
}

static const char *why_not_searched(int status)
{
	return status == -EBADMSG ? "it is no program or library that this machine executes"
				  : strerror(-status);
}

/* Where doctor shows files, and whether one could not be searched. */
struct probes_view {
	const struct screen *screen;
	struct json *json;
	bool failed;
	bool above; /* something was printed before */
};

static void put_file(void *context, const struct probes_found *f)
{
	struct probes_view *v = context;
	const struct screen *s = v->screen;
	struct probe_summary p;
	unsigned int count = 0;
	char processes[64] = "", path[1024];

	v->failed |= f->status != 0;
	if (f->processes)
		snprintf(processes, sizeof(processes), ", %" PRIu64 " process%s", f->processes,
			 f->processes == 1 ? "" : "es");
	fprintf(s->out, "%sprobes of %s%s\n", v->above ? "\n" : "",
		screen_name(s, f->path, sizeof(path) - 1, path, sizeof(path)), processes);
	for (uint32_t i = 0; !f->status && i < f->sites->count; i++) {
		if (!summarize_probe(&p, f->sites, i))
			continue;
		put_summary(s, &p);
		count++;
	}
	put_absent(s, f);
	if (f->status)
		fprintf(s->out, "  cannot be searched: %s\n", why_not_searched(f->status));
	else if (!count)
		fputs("  it has no notes, and no functions of the table\n", s->out);
	v->above = true;
	if (f->sites->dropped || f->sites->malformed)
		fprintf(s->out, "  %u more sites, and %u notes that cannot be understood\n",
			f->sites->dropped, f->sites->malformed);
}

static void put_table(const struct screen *s)
{
	char name[128], words[128], text[512];

	fputs("the probes that skein knows\n", s->out);
	for (unsigned int i = 0; i < probe_row_count; i++) {
		const struct probe_row *row = &probe_rows[i];

		snprintf(text, sizeof(text), "-e %s: %s; %s",
			 record_events_show_parts(row->parts, words, sizeof(words)), row->reports,
			 row->rate);
		fprintf(s->out, "  %s\n%*s", name_of_row(row, name, sizeof(name)), 6, "");
		screen_put_wrapped(s, 6, STYLE_DIM, text);
	}
}

static void json_row(struct json *j, const struct probe_row *row)
{
	char words[128];

	json_key_text(j, "provider", row->provider);
	json_key_text(j, "name", row->name);
	json_key_text(j, "origin", origin_words[row->origin]);
	json_key_text(j, "events", record_events_show_parts(row->parts, words, sizeof(words)));
	json_key_text(j, "reports", row->reports);
	json_key_text(j, "rate", row->rate);
}

static void json_summary(struct json *j, const struct probe_summary *p)
{
	json_object(j);
	if (p->row)
		json_row(j, p->row);
	else
		json_key_text(j, "name", p->name);
	json_key_uint(j, "sites", p->sites);
	json_key_uint(j, "attachable", p->attachable);
	json_key_uint(j, "slow", p->slow);
	if (p->attachable)
		json_key_text(j, "instruction", probe_instruction_text(p->instruction));
	if (p->refusal)
		json_key_text(j, "refused", probe_refusal_text(p->refusal));
	json_object_end(j);
}

static void json_file(void *context, const struct probes_found *f)
{
	struct probes_view *v = context;
	struct json *j = v->json;
	struct probe_summary p;

	v->failed |= f->status != 0;
	json_object(j);
	json_key_text(j, "path", f->path);
	json_key_uint(j, "processes", f->processes);
	json_key_text(j, "error", f->status ? why_not_searched(f->status) : "");
	json_key_uint(j, "more_sites", f->sites->dropped);
	json_key_uint(j, "malformed_notes", f->sites->malformed);
	json_key(j, "probes");
	json_array(j);
	for (uint32_t i = 0; !f->status && i < f->sites->count; i++)
		if (summarize_probe(&p, f->sites, i))
			json_summary(j, &p);
	for (unsigned int i = 0; i < probe_row_count; i++) {
		if (!is_absent(f, i))
			continue;
		json_object(j);
		json_row(j, &probe_rows[i]);
		json_key_uint(j, "sites", 0);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

static void json_table(struct json *j)
{
	json_key(j, "table");
	json_array(j);
	for (unsigned int i = 0; i < probe_row_count; i++) {
		json_object(j);
		json_row(j, &probe_rows[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static int probes_as_json(struct probes_view *v, const char *path, struct error *err)
{
	struct json j;
	int ret, written;

	v->json = &j;
	json_begin(&j, v->screen->out, true);
	json_object(&j);
	if (!path)
		json_table(&j);
	json_key(&j, "files");
	json_array(&j);
	ret = checkup_probes(path, json_file, v, err);
	json_array_end(&j);
	json_object_end(&j);
	written = json_end(&j);
	return ret ? ret : written;
}

int doctor_probes(const char *path, bool json, const struct screen *s)
{
	struct probes_view v = {.screen = s, .above = !path};
	struct error err = {""};
	int ret;

	if (!json && !path)
		put_table(s);
	ret = json ? probes_as_json(&v, path, &err) : checkup_probes(path, put_file, &v, &err);
	return ret ? log_failure(1, &err) : path && v.failed;
}
