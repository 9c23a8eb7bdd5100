// SPDX-License-Identifier: Apache-2.0
/*
 * Export the profile as JSON for scripts: entities, stacks as a tree, sums, accounts and losses,
 * with the names that docs/export.md describes. References are positions in the array of the
 * target's kind; null means none or unknown.
 */
#include "base/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export/export.h"
#include "export/stacks.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

#define FORMAT_VERSION 1 /* increased for incompatible changes */

/* A sum as it is written; sums that differ only in count and weight are merged. */
struct shown_sum {
	uint32_t event, thread, node, flags, wait;
	uint64_t count, weight;
};

struct json_export {
	const struct profile *profile;
	struct json json;
	struct stacks stacks;
	struct names keys; /* a sum up to its count; number = index in sums */
	VECTOR(struct shown_sum) sums;
};

static void json_export_position(struct json *j, const char *key, uint32_t index)
{
	json_key(j, key);
	if (index == PROFILE_NONE)
		json_null(j);
	else
		json_uint(j, index);
}

static uint32_t host_index(const struct profile *p, uint64_t id)
{
	for (uint32_t i = 0; i < p->count.hosts; i++)
		if (p->hosts[i].id == id)
			return i;
	return PROFILE_NONE;
}

static uint32_t event_index(const struct profile *p, uint64_t id)
{
	for (uint32_t i = 0; i < p->count.events; i++)
		if (p->events[i].id == id)
			return i;
	return PROFILE_NONE;
}

/* Return false for fields that are written differently, or have no meaning outside the trace. */
static bool is_plain_field(const char *name)
{
	static const char *const others[] = {"id", "host", "event", "process", "lane", "reason"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(name, others[i]))
			return false;
	return true;
}

/*
 * Write the plain fields of a record. The CPU of a loss is not one of them: it is stored as its
 * number + 1, since a loss may have no CPU.
 */
static void json_export_fields(struct json *j, enum record_kind kind, const void *record)
{
	for (unsigned int i = 0; i < kinds[kind].field_count; i++) {
		const struct field *f = &kinds[kind].fields[i];

		if (is_plain_field(f->name) && !(kind == KIND_LOSS && !strcmp(f->name, "cpu")))
			json_key_field(j, f, record);
	}
}

static void json_export_begin_list(struct json_export *w, const char *name)
{
	json_key(&w->json, name);
	json_array(&w->json);
}

static void json_export_hosts(struct json_export *w)
{
	const struct profile *p = w->profile;
	struct json *j = &w->json;

	json_export_begin_list(w, "hosts");
	for (uint32_t i = 0; i < p->count.hosts; i++) {
		json_object(j);
		json_export_fields(j, KIND_HOST, &p->hosts[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_export_begin_list(w, "infos");
	for (uint32_t i = 0; i < p->count.infos; i++) {
		json_object(j);
		json_export_position(j, "host", host_index(p, p->infos[i].host));
		json_export_fields(j, KIND_INFO, &p->infos[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_export_events(struct json_export *w)
{
	const struct profile *p = w->profile;
	struct json *j = &w->json;
	uint64_t count, weight;

	json_export_begin_list(w, "events");
	for (uint32_t i = 0; i < p->count.events; i++) {
		profile_event_total(p, i, &count, &weight);
		json_object(j);
		json_export_position(j, "host", host_index(p, p->events[i].host));
		json_export_fields(j, KIND_EVENT, &p->events[i]);
		json_key_uint(j, "samples", count);
		json_key_uint(j, "weight", weight);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_export_processes(struct json_export *w)
{
	const struct profile *p = w->profile;
	struct json *j = &w->json;

	json_export_begin_list(w, "processes");
	for (uint32_t i = 0; i < p->count.processes; i++) {
		json_object(j);
		json_export_position(j, "host", host_index(p, p->processes[i].p.host));
		json_export_fields(j, KIND_PROCESS, &p->processes[i].p);
		json_object_end(j);
	}
	json_array_end(j);
	json_export_begin_list(w, "threads");
	for (uint32_t i = 0; i < p->count.threads; i++) {
		json_object(j);
		json_export_position(j, "process", p->threads[i].process);
		json_export_fields(j, KIND_THREAD, &p->threads[i].t);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Write "flags": an array with the names of the flags of samples that are set. */
static void json_export_flags(struct json *j, uint64_t flags)
{
	json_key(j, "flags");
	json_array(j);
#define WRITE_FLAG(NAME, text, bit) \
	if (flags & (bit)) \
		json_text(j, text);
	SAMPLE_FLAGS(WRITE_FLAG)
#undef WRITE_FLAG
	json_array_end(j);
}

static int json_export_add_sum(struct json_export *w, const struct profile_sum *s)
{
	struct shown_sum shown = {
		.event = s->event, .thread = s->thread, .flags = s->flags, .wait = s->wait};
	uint32_t number;
	int ret = stacks_node(&w->stacks, s->stack, &shown.node);

	if (!ret)
		ret = names_intern(&w->keys, &shown, offsetof(struct shown_sum, count), &number);
	if (!ret && number == w->sums.count)
		ret = vector_push(&w->sums, shown);
	if (ret < 0)
		return ret;
	w->sums.items[number].count += s->count;
	w->sums.items[number].weight += s->weight;
	return 0;
}

static void json_export_frames(struct json_export *w)
{
	const struct stacks *s = &w->stacks;
	struct json *j = &w->json;

	json_export_begin_list(w, "frames");
	for (uint32_t i = 0; i < s->frames.texts.count; i++) {
		struct shown_frame f = stacks_frame(s, i);

		json_object(j);
		json_key_text(j, "name", stacks_text(s, f.name));
		json_key_text(j, "kind", f.kind ? frame_kind_word(f.kind) : "unknown");
		json_key_text(j, "module", stacks_text(s, f.module));
		json_key_text(j, "file", stacks_text(s, f.file));
		json_key_uint(j, "line", f.at ? f.at : f.line);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_export_stacks(struct json_export *w)
{
	struct json *j = &w->json;

	json_export_begin_list(w, "stacks");
	for (size_t i = 0; i < w->stacks.nodes.count; i++) {
		json_object(j);
		json_export_position(j, "parent", w->stacks.nodes.items[i].parent);
		json_key_uint(j, "frame", w->stacks.nodes.items[i].frame);
		json_object_end(j);
	}
	json_array_end(j);
}

static int json_export_sums(struct json_export *w)
{
	struct json *j = &w->json;
	int ret = 0;

	for (uint32_t i = 0; i < w->profile->count.sums && !ret; i++)
		ret = json_export_add_sum(w, &w->profile->sums[i]);
	if (ret < 0)
		return ret;
	json_export_frames(w);
	json_export_stacks(w);
	json_export_begin_list(w, "sums");
	for (size_t i = 0; i < w->sums.count; i++) {
		const struct shown_sum *s = &w->sums.items[i];

		json_object(j);
		json_export_position(j, "event", s->event);
		json_export_position(j, "thread", s->thread);
		json_key_uint(j, "stack", s->node);
		json_key_uint(j, "samples", s->count);
		json_key_uint(j, "weight", s->weight);
		json_export_flags(j, s->flags);
		json_key(j, "wait");
		if (s->wait)
			json_text(j, wait_class_word(s->wait));
		else
			json_null(j);
		json_object_end(j);
	}
	json_array_end(j);
	return 0;
}

static void json_export_losses(struct json_export *w)
{
	const struct profile *p = w->profile;
	struct json *j = &w->json;

	json_export_begin_list(w, "accounts");
	for (uint32_t i = 0; i < p->count.accounts; i++) {
		json_object(j);
		json_export_position(j, "event", event_index(p, p->accounts[i].event));
		json_export_fields(j, KIND_ACCOUNT, &p->accounts[i]);
		json_object_end(j);
	}
	json_array_end(j);
	json_export_begin_list(w, "losses");
	for (uint32_t i = 0; i < p->count.losses; i++) {
		const struct loss *l = &p->losses[i];

		json_object(j);
		json_export_position(j, "host", host_index(p, l->host));
		json_export_position(j, "event", event_index(p, l->event));
		json_key_text(j, "reason", loss_reason_word(l->reason));
		json_key(j, "cpu");
		if (l->cpu)
			json_uint(j, l->cpu - 1);
		else
			json_null(j);
		json_export_fields(j, KIND_LOSS, l);
		json_object_end(j);
	}
	json_array_end(j);
}

static int json_export_all(struct json_export *w)
{
	struct json *j = &w->json;
	int ret;

	json_object(j);
	json_key_text(j, "format", "skein profile");
	json_key_uint(j, "version", FORMAT_VERSION);
	json_key_text(j, "producer", "skein " SKEIN_VERSION);
	json_key_uint(j, "missing", w->profile->missing);
	json_export_hosts(w);
	json_export_events(w);
	json_export_processes(w);
	ret = json_export_sums(w);
	if (ret < 0)
		return ret;
	json_export_losses(w);
	json_object_end(j);
	return json_end(j);
}

static int json_export_profile(FILE *out, const struct profile *p, const struct export_options *o,
			       struct error *err)
{
	struct json_export w = {.profile = p};
	int ret = stacks_begin(&w.stacks, p, o->view.lines);

	json_begin(&w.json, out, false);
	if (!ret)
		ret = json_export_all(&w);
	stacks_free(&w.stacks);
	names_free(&w.keys);
	vector_free(&w.sums);
	return ret < 0 ? error_errno(err, ret, "cannot write a profile as JSON") : 0;
}

int json_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	return profile_export(out, json_export_profile, file, o, err);
}
