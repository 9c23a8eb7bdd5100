// SPDX-License-Identifier: Apache-2.0
/*
 * Export to speedscope: https://www.speedscope.app/file-format-schema.json. There is one profile
 * per event, which contains thread after thread, each below a frame of its own, so that every
 * sample occurs once. The stacks of a thread are in the order of time; equal consecutive stacks
 * are merged and their weights added.
 *
 * The format has no place for losses, so they are a part of the name of the whole file.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "export/facts.h"
#include "export/gather.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

struct speedscope {
	struct timeline timeline;
	struct gather gather;
	struct json json;
	bool lines;
	uint32_t track_frames; /* number of the frame that names the first track; others follow */
	uint32_t waiting_frame; /* with --event wall, number of the frame above stacks of waits */
	VECTOR(uint32_t) path;
};

static int speedscope_begin(struct timeline *t)
{
	struct speedscope *s = (struct speedscope *)t;

	return gather_begin(&s->gather, t, s->lines);
}

static int speedscope_sample(struct timeline *t, const struct sample *sample)
{
	return gather_sample(&((struct speedscope *)t)->gather, t, sample);
}

static void speedscope_write_frame(struct speedscope *s, const struct shown_frame *f)
{
	const struct stacks *stacks = &s->gather.stacks;
	const char *file = stacks_text(stacks, f->file);
	uint32_t line = f->at ? f->at : f->line;

	json_object(&s->json);
	json_key_text(&s->json, "name", stacks_text(stacks, f->name));
	if (!*file)
		file = stacks_text(stacks, f->module);
	if (*file)
		json_key_text(&s->json, "file", file);
	if (line)
		json_key_uint(&s->json, "line", line);
	json_object_end(&s->json);
}

/* Get the cleaned name of a track (a thread under all its names) by its index. */
static int speedscope_track_string(struct speedscope *s, size_t track, const char **out)
{
	char name[TRACK_NAME_SIZE];
	uint32_t string;
	int ret = stacks_string(
		&s->gather.stacks,
		gather_track_name(s->timeline.profile, &s->gather.tracks.items[track], name),
		&string);

	if (!ret)
		*out = stacks_text(&s->gather.stacks, string);
	return ret;
}

static int speedscope_write_frames(struct speedscope *s)
{
	const struct stacks *stacks = &s->gather.stacks;
	const char *name = "";
	int ret = 0;

	s->track_frames = (uint32_t)stacks->frames.texts.count;
	json_key(&s->json, "shared");
	json_object(&s->json);
	json_key(&s->json, "frames");
	json_array(&s->json);
	for (uint32_t i = 0; i < s->track_frames; i++) {
		struct shown_frame f = stacks_frame(stacks, i);

		speedscope_write_frame(s, &f);
	}
	for (size_t i = 0; i < s->gather.tracks.count && !ret; i++) {
		ret = speedscope_track_string(s, i, &name);
		if (ret < 0)
			break;
		json_object(&s->json);
		json_key_text(&s->json, "name", name);
		json_object_end(&s->json);
	}
	s->waiting_frame = s->track_frames + (uint32_t)s->gather.tracks.count;
	if (s->gather.wall) {
		json_object(&s->json);
		json_key_text(&s->json, "name", "[waiting]");
		json_object_end(&s->json);
	}
	json_array_end(&s->json);
	json_object_end(&s->json);
	return ret;
}

/* Write a stack, outermost frame first, below the frame of its track. */
static int speedscope_write_stack(struct speedscope *s, const struct gathered *g)
{
	const struct stack_node *nodes = s->gather.stacks.nodes.items;

	s->path.count = 0;
	for (uint32_t at = g->node; at != STACKS_NONE; at = nodes[at].parent)
		if (vector_push(&s->path, nodes[at].frame) < 0)
			return -ENOMEM;
	json_array(&s->json);
	json_uint(&s->json, s->track_frames + g->track);
	if (s->gather.wall && g->waiting)
		json_uint(&s->json, s->waiting_frame);
	while (s->path.count)
		json_uint(&s->json, s->path.items[--s->path.count]);
	json_array_end(&s->json);
	return 0;
}

static bool is_same(const struct gathered *a, const struct gathered *b)
{
	return a->node == b->node && a->track == b->track && a->waiting == b->waiting;
}

/*
 * Write one profile of the samples with indexes in [from, to), with equal neighbours merged; an
 * empty profile if there are none.
 */
static int speedscope_write_profile(struct speedscope *s, const char *name, size_t from, size_t to)
{
	const struct gathered *samples = s->gather.samples.items;
	uint64_t total = 0;
	int ret = 0;

	json_object(&s->json);
	json_key_text(&s->json, "type", "sampled");
	json_key_text(&s->json, "name", name);
	json_key_text(&s->json, "unit",
		      from < to && strcmp(gather_event(&s->timeline, &samples[from])->unit, "ns")
			      ? "none"
			      : "nanoseconds");
	json_key(&s->json, "samples");
	json_array(&s->json);
	for (size_t i = from; i < to && !ret; i++)
		if (i == from || !is_same(&samples[i], &samples[i - 1]))
			ret = speedscope_write_stack(s, &samples[i]);
	json_array_end(&s->json);
	json_key(&s->json, "weights");
	json_array(&s->json);
	for (size_t i = from; i < to;) {
		uint64_t weight = 0;
		size_t first = i;

		for (; i < to && is_same(&samples[i], &samples[first]); i++)
			weight += samples[i].weight;
		json_uint(&s->json, weight);
		total += weight;
	}
	json_array_end(&s->json);
	json_key_uint(&s->json, "startValue", 0);
	json_key_uint(&s->json, "endValue", total);
	json_object_end(&s->json);
	return ret;
}

/* Write the profile of an event; the profile's name includes the event's if there are several. */
static int speedscope_write_event(struct speedscope *s, bool several, size_t from, size_t to)
{
	const struct event *e = gather_event(&s->timeline, &s->gather.samples.items[from]);
	char name[128], clean[3 * sizeof(name)];

	const char *event = s->gather.wall ? EVENT_WALL : several ? e->name : "";

	snprintf(name, sizeof(name), "all threads, one after the other%s%.64s", *event ? ", " : "",
		 event);
	return speedscope_write_profile(s, text_clean(name, clean, sizeof(clean)), from, to);
}

static int speedscope_write_profiles(struct speedscope *s)
{
	const struct gathered *samples;
	size_t count = s->gather.samples.count;
	bool several;
	int ret = 0;

	gather_sort(&s->gather);
	samples = s->gather.samples.items;
	several = count && samples[0].event != samples[count - 1].event;
	if (!count)
		ret = speedscope_write_profile(s, "no samples", 0, 0);
	for (size_t from = 0, to = 0; from < count && !ret; from = to) {
		while (to < count && samples[to].event == samples[from].event)
			to++;
		ret = speedscope_write_event(s, several, from, to);
	}
	return ret;
}

static void speedscope_write_facts(struct speedscope *s)
{
	char origin[FACTS_SIZE], losses[FACTS_SIZE], text[2 * FACTS_SIZE + 4];
	char clean[3 * sizeof(text)];

	facts_origin(&s->timeline, origin);
	facts_losses(&s->timeline, losses);
	snprintf(text, sizeof(text), "%s%s%s", origin, *losses ? "; " : "", losses);
	json_key_text(&s->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_key_text(&s->json, "exporter", "skein@" SKEIN_VERSION);
	json_key_text(&s->json, "name", text_clean(text, clean, sizeof(clean)));
	json_key_uint(&s->json, "activeProfileIndex", 0);
}

static int speedscope_end(struct timeline *t)
{
	struct speedscope *s = (struct speedscope *)t;
	int ret;

	json_object(&s->json);
	speedscope_write_facts(s);
	ret = speedscope_write_frames(s);
	json_key(&s->json, "profiles");
	json_array(&s->json);
	if (!ret)
		ret = speedscope_write_profiles(s);
	json_array_end(&s->json);
	json_object_end(&s->json);
	return ret ? ret : json_end(&s->json);
}

static void speedscope_free(struct timeline *t)
{
	struct speedscope *s = (struct speedscope *)t;

	gather_free(&s->gather);
	vector_free(&s->path);
}

static const struct timeline_ops speedscope_ops = {
	.what = "a profile for speedscope",
	.no_lanes = true,
	.begin = speedscope_begin,
	.sample = speedscope_sample,
	.end = speedscope_end,
	.free = speedscope_free,
};

int speedscope_sink(struct sink **out, FILE *file, const struct export_options *o,
		    struct error *err)
{
	struct timeline *t;
	int ret = timeline_new(&t, sizeof(struct speedscope), &speedscope_ops, o, err);
	struct speedscope *s;

	if (ret < 0)
		return ret;
	s = (struct speedscope *)t;
	s->lines = o->view.lines;
	s->gather.wall = o->wall;
	json_begin(&s->json, file, false);
	*out = &t->sink;
	return 0;
}
