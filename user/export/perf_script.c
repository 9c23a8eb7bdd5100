// SPDX-License-Identifier: Apache-2.0
/*
 * Export the text format of perf script, which many tools read: for each sample a line with its
 * thread, one line for each frame, innermost first, and an empty line. The number before the event
 * (perf calls it the period) is the weight of the sample.
 *
 *	worker  100/110 [000]     1.020000:   10000000 cpu-clock:
 *	                1200 fib (/usr/bin/worker)
 *
 * Readers split lines by regular expressions, so the parts of a line contain no separators: names
 * of threads, events and objects have no white space and no parentheses, and do not begin with '#',
 * which begins a comment. The output has no comments, because Perfetto refuses them, and so has no
 * place for losses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/groups.h"
#include "base/outfile.h"
#include "base/text.h"
#include "export/timeline.h"

struct perf_script {
	struct timeline timeline;
	FILE *out;
	struct names texts;
	uint32_t *comms; /* number in texts + 1, by thread index; 0 until made */
	uint32_t *symbols, *objects; /* number in texts + 1, by frame index; 0 until made */
};

static int perf_script_check(const struct perf_script *s)
{
	return ferror(s->out) ? outfile_flush(s->out, "samples", NULL) : 0;
}

/*
 * Return the bytes of the white space character at s, which may be non-ASCII; 0 if there is none.
 */
static size_t white_space_size(const char *s)
{
	const char *end = s;
	uint32_t c = text_next(&end);

	return c == ' ' || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
			       c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f ||
			       c == 0x3000
		       ? (size_t)(end - s)
		       : 0;
}

/*
 * Turn clean text into one word, in place: white space and parentheses, which separate the parts of
 * a line, and a leading '#' become '_'.
 */
static void make_word(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		size_t space = white_space_size(from);

		*to = space || *from == '(' || *from == ')' ? '_' : *from;
		from += space ? space : 1;
	}
	*to = '\0';
	if (*text == '#')
		*text = '_';
}

/* Skip leading white space of a clean text, which readers would take for a separator. */
static char *skip_space(char *text)
{
	for (size_t space; *text && (space = white_space_size(text)) > 0;)
		text += space;
	return text;
}

/*
 * Replace the '+' of "+0x" in a name, because readers would cut the name off there as at an offset.
 */
static void keep_offset(char *text)
{
	for (char *at = text; (at = strstr(at, "+0x"));)
		*at = '_';
}

/*
 * Return a text, cleaned and, if word is set, as one word; "[unknown]" for an empty text; NULL
 * without memory. Store its number + 1 in *known.
 */
static const char *perf_script_text(struct perf_script *s, const char *text, bool word,
				    uint32_t *known)
{
	size_t size = 3 * strlen(text) + 1; /* cleaning may turn one byte into three */
	char *clean = malloc(size), *begin;
	uint32_t number;
	int rc;

	if (!clean)
		return NULL;
	begin = skip_space(text_clean(text, clean, size));
	if (word)
		make_word(begin);
	else
		keep_offset(begin);
	rc = names_intern_text(&s->texts, *begin ? begin : "[unknown]", &number);
	free(clean);
	if (rc < 0)
		return NULL;
	*known = number + 1;
	return names_text(&s->texts, number);
}

static const char *perf_script_comm(struct perf_script *s, uint32_t thread)
{
	const struct profile *p = s->timeline.profile;
	const struct profile_thread *t;

	if (thread == PROFILE_NONE)
		return "[unknown]";
	if (s->comms[thread])
		return names_text(&s->texts, s->comms[thread] - 1);
	t = &p->threads[thread];
	return perf_script_text(s,
				*thread_display_name(&t->t) || t->process == PROFILE_NONE
					? thread_display_name(&t->t)
					: process_name(&p->processes[t->process].p),
				true, &s->comms[thread]);
}

/* Return the name of a frame's object in the form that readers know, in buf if it is composed. */
static const char *perf_script_object_name(const struct profile *p, const struct profile_frame *f,
					   char *buf, size_t size)
{
	const struct profile_mapping *m =
		f->mapping == PROFILE_NONE ? NULL : &p->mappings[f->mapping];
	uint64_t kind = m ? m->m.kind : MAPPING_NONE;

	if (f->f.kind == FRAME_PYTHON && f->function != PROFILE_NONE)
		return p->functions[f->function].f.file;
	if (!m)
		return "";
	if (kind == MAPPING_KERNEL && (!*m->m.path || !strcmp(m->m.path, "[kernel]")))
		return "[kernel.kallsyms]";
	if (kind == MAPPING_KERNEL && *m->m.path != '[')
		snprintf(buf, size, "[%.128s]", m->m.path);
	else if (kind == MAPPING_JIT && m->process != PROFILE_NONE)
		snprintf(buf, size, "/tmp/perf-%" PRIu64 ".map", p->processes[m->process].p.pid);
	else
		return m->m.path;
	return buf;
}

static const char *perf_script_symbol_name(const struct profile *p, uint32_t frame, char *buf,
					   size_t size)
{
	const char *name = profile_function_name(p, frame);

	return name ? name : profile_frame_name(p, frame, buf, size);
}

static int perf_script_write_frame(struct perf_script *s, uint32_t frame)
{
	const struct profile *p = s->timeline.profile;
	const struct profile_frame *f = &p->frames[frame];
	char buf[512];

	if ((!s->symbols[frame] &&
	     !perf_script_text(s, perf_script_symbol_name(p, frame, buf, sizeof(buf)), false,
			       &s->symbols[frame])) ||
	    (!s->objects[frame] &&
	     !perf_script_text(s, perf_script_object_name(p, f, buf, sizeof(buf)), true,
			       &s->objects[frame])))
		return -ENOMEM;
	fprintf(s->out, "\t%16" PRIx64 " %s (%s)\n", f->f.address,
		names_text(&s->texts, s->symbols[frame] - 1),
		names_text(&s->texts, s->objects[frame] - 1));
	return 0;
}

static void perf_script_write_mark(struct perf_script *s, const char *mark)
{
	fprintf(s->out, "\t%16x %s ([unknown])\n", 0, mark);
}

/*
 * Write the frames of a stack, innermost first. An incomplete stack has its mark (such as
 * "[truncated: reason]") as the outermost frame.
 */
static int perf_script_write_stack(struct perf_script *s, uint32_t stack)
{
	const struct profile *p = s->timeline.profile;
	enum stack_end end = profile_stack_end(p, stack);
	char text[PROFILE_END_SIZE];
	int ret = 0;

	if (stack == PROFILE_NONE) {
		perf_script_write_mark(s, "[no stack]");
		return 0;
	}
	for (; stack != PROFILE_NONE && !ret; stack = p->stacks[stack].parent) {
		uint32_t frame = p->stacks[stack].frame;

		if (frame == PROFILE_NONE)
			perf_script_write_mark(s, "[unknown]");
		else if (p->frames[frame].f.kind != FRAME_END)
			ret = perf_script_write_frame(s, frame);
	}
	if (end != END_WALKED)
		perf_script_write_mark(s, profile_end_name(end, text));
	return ret;
}

static int perf_script_sample(struct timeline *t, const struct sample *sample)
{
	struct perf_script *s = (struct perf_script *)t;
	uint32_t thread = index_get(&t->thread_of, sample->thread);
	uint32_t event = index_get(&t->event_of, sample->event), known;
	struct timeline_identity identity = {0};
	const char *comm = perf_script_comm(s, thread);
	const char *name = perf_script_text(
		s, event == INDEX_NONE ? "" : t->profile->events[event].name, true, &known);
	int ret;

	if (!comm || !name)
		return -ENOMEM;
	if (thread != PROFILE_NONE)
		identity = timeline_identity(t, thread);
	fprintf(s->out,
		"%s  %" PRIu64 "/%" PRIu64 " [%03" PRIu64 "] %5" PRIu64 ".%06" PRIu64 ": %10" PRIu64
		" %s:\n",
		comm, identity.pid, identity.tid, sample->cpu, sample->time / 1000000000,
		sample->time / 1000 % 1000000, sample->weight, name);
	ret = perf_script_write_stack(s, profile_stack_by_id(t->profile, sample->stack));
	fputc('\n', s->out);
	return ret ? ret : perf_script_check(s);
}

static int perf_script_begin(struct timeline *t)
{
	struct perf_script *s = (struct perf_script *)t;

	s->comms = calloc(t->profile->count.threads + 1, sizeof(uint32_t));
	s->symbols = calloc(t->profile->count.frames + 1, sizeof(uint32_t));
	s->objects = calloc(t->profile->count.frames + 1, sizeof(uint32_t));
	if (!s->comms || !s->symbols || !s->objects)
		return -ENOMEM;
	return 0;
}

static int perf_script_end(struct timeline *t)
{
	struct perf_script *s = (struct perf_script *)t;

	return outfile_flush(s->out, "samples", NULL);
}

static void perf_script_free(struct timeline *t)
{
	struct perf_script *s = (struct perf_script *)t;

	names_free(&s->texts);
	free(s->comms);
	free(s->symbols);
	free(s->objects);
}

static const struct timeline_ops perf_script_ops = {
	.what = "the text of perf script",
	.no_lanes = true,
	.begin = perf_script_begin,
	.sample = perf_script_sample,
	.end = perf_script_end,
	.free = perf_script_free,
};

int perf_script_sink(struct sink **out, FILE *file, const struct export_options *o,
		     struct error *err)
{
	struct timeline *t;
	int ret = timeline_new(&t, sizeof(struct perf_script), &perf_script_ops, o, err);
	struct perf_script *s;

	if (ret < 0)
		return ret;
	s = (struct perf_script *)t;
	s->out = file;
	*out = &t->sink;
	return 0;
}
