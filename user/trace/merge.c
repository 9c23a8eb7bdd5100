// SPDX-License-Identifier: Apache-2.0
/*
 * Merge several traces. Tables are read kind by kind, each of all traces; so are stacks, so that
 * every entity has a new id before a record refers to it. Streams are merged by time: each trace
 * has one current record, and the earliest of these records is passed on.
 */
#include "trace/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/group_times.h"
#include "base/text.h"
#include "trace/chunks.h"
#include "trace/merge_hosts.h"
#include "trace/merge_stream.h"

#define PROGRESS_RECORDS 65536
#define ORIGIN_HOSTS 4 /* maximum number of hosts that the info row of a part names */
#define CPUS_MAX 8192 /* maximum of Linux (NR_CPUS); files with more are damaged */

struct merged_part {
	struct trace *trace;
	const char *name;
	/* source of the part, for the kinds that are not merged as streams */
	struct source *source;
	struct source_hosts hosts;
	struct merge_map map;
	struct merge_stream stream; /* the current stream of the part */
	uint64_t cpus; /* highest CPU number + 1 */
	uint64_t unreadable; /* about how many records cannot be read */
};

struct merge_source {
	struct source source;
	struct merged_part *parts;
	size_t count;
	struct merge_progress progress;
	uint64_t done, all; /* numbers of stream records read and to read, for progress */
	struct merge_hosts hosts;
	struct merge_ids ids;
	struct names info_keys, info_words; /* (host, key), and (host, key, value) */
	VECTOR(uint32_t) info_turns; /* number of different values, by number in info_keys */
	struct names inlined_keys; /* (frame, depth) */
	struct group_times groups; /* of all parts, which may be of one host */
	VECTOR(struct loss) losses; /* losses for the parts of the traces that could not be read */
	struct sink *to; /* the sink of the current run */
	bool refused; /* the sink refused a record, so the current error is not that of a part */
};

/* The sink into which a part is read, kind by kind. */
struct part_sink {
	struct sink sink;
	struct merge_source *merge;
	struct merged_part *part;
	enum record_kind kind;
};

static int merge_no_memory(int ret, struct error *err)
{
	return ret < 0 ? error_errno(err, ret, "cannot merge") : 0;
}

static int pass_merged_record(struct merge_source *m, enum record_kind kind, const void *record,
			      struct error *err)
{
	int ret = sink_put(m->to, kind, record, err);

	m->refused = ret < 0;
	return ret;
}

/* Add the name of the part to an error, unless the error is the sink's. */
static int name_part_in_error(const struct merge_source *m, const struct merged_part *p, int ret,
			      struct error *err)
{
	return ret < 0 && !m->refused ? error_wrap(err, ret, "%s", p->name) : ret;
}

/* Add a loss for records of a part that could not be read, under the part's first host. */
static int add_part_loss(struct merge_source *m, struct merged_part *p, struct loss l)
{
	p->unreadable += l.count;
	l.id = 0;
	l.host = p->hosts.list.count ? p->hosts.list.items[0].unified + 1 : 0;
	l.time += l.time ? p->map.shift : 0;
	l.end += l.end ? p->map.shift : 0;
	return vector_push(&m->losses, l);
}

/* Set *number to the number of a text, and *first if the text is new. Return 0 or -ENOMEM. */
static int is_first_text(struct names *seen, const char *text, bool *first, uint32_t *number)
{
	uint32_t known = (uint32_t)seen->texts.count;
	int ret = names_intern_text(seen, text, number);

	*first = !ret && *number == known;
	return ret;
}

/*
 * Set *out to how many different values the host has had under the key, including this one, or to 0
 * if it has had this value before. Return 0 or -ENOMEM.
 */
static int count_info_value(struct merge_source *m, const struct info *i, uint32_t *out)
{
	char *word = NULL, *key = NULL;
	uint32_t number;
	bool fresh = false, first;
	int ret = -ENOMEM;

	*out = 0;
	if (asprintf(&key, "%llu %s", (unsigned long long)i->host, i->key) < 0) {
		key = NULL;
		goto end;
	}
	if (asprintf(&word, "%s\n%s", key, i->value ? i->value : "") < 0) {
		word = NULL;
		goto end;
	}
	ret = is_first_text(&m->info_words, word, &fresh, &number);
	if (ret < 0 || !fresh)
		goto end;
	ret = is_first_text(&m->info_keys, key, &first, &number);
	if (!ret && first)
		ret = vector_push(&m->info_turns, 0);
	if (!ret)
		*out = ++m->info_turns.items[number];
end:
	free(key);
	free(word);
	return ret;
}

/*
 * Put each info row of a host once; another value under the same key gets a number appended to the
 * key. Rows that concern only the file (CHUNKS_DROPPED, MERGED_INFO) are left out.
 */
static int put_info_once(struct merge_source *m, struct info *i, struct error *err)
{
	char key[256];
	uint32_t turn;
	int ret;

	if (!i->key || !strcmp(i->key, CHUNKS_DROPPED) ||
	    !strncmp(i->key, MERGED_INFO, strlen(MERGED_INFO)))
		return 0;
	ret = count_info_value(m, i, &turn);
	if (ret < 0)
		return merge_no_memory(ret, err);
	if (turn > 1) {
		snprintf(key, sizeof(key), "%.200s (%u)", i->key, turn);
		i->key = key;
	}
	i->id = 0;
	return turn ? pass_merged_record(m, KIND_INFO, i, err) : 0;
}

/* Put one row per (frame, depth): traces that share a frame have equal rows for it. */
static int put_inlined_once(struct merge_source *m, const struct inlined *i, struct error *err)
{
	uint64_t key[] = {i->frame, i->depth};
	uint32_t known = (uint32_t)m->inlined_keys.texts.count, number;
	int ret = names_intern(&m->inlined_keys, key, sizeof(key), &number);

	if (ret < 0)
		return merge_no_memory(ret, err);
	return number < known ? 0 : pass_merged_record(m, KIND_INLINED, i, err);
}

static int put_merged_entity(struct part_sink *in, union merge_record *r, struct error *err)
{
	bool known;
	int ret = merge_ids_assign(&in->merge->ids, &in->part->map, in->kind, r, &known);

	if (ret < 0)
		return merge_no_memory(ret, err);
	return known ? 0 : pass_merged_record(in->merge, in->kind, r, err);
}

/*
 * Process a record of the current kind, or a loss for records that the reader of the file cannot
 * read: such a loss has the reason UNREADABLE_CHUNK and no host.
 */
static int part_sink_put(struct sink *s, enum record_kind kind, const void *record,
			 struct error *err)
{
	struct part_sink *in = (struct part_sink *)s;
	struct merge_source *m = in->merge;
	const struct loss *loss = record;
	union merge_record r;
	int ret;

	if (kind == KIND_LOSS && loss->reason == LOSS_UNREADABLE_CHUNK && !loss->host)
		return merge_no_memory(add_part_loss(m, in->part, *loss), err);
	if (kind != in->kind)
		return 0;
	memcpy(&r, record, kinds[kind].size);
	ret = merge_ids_convert(&m->ids, &in->part->map, kind, &r);
	if (ret < 0)
		return merge_no_memory(ret, err);
	if (kind == KIND_INFO)
		return put_info_once(m, &r.info, err);
	if (kind == KIND_INLINED)
		return put_inlined_once(m, &r.inlined, err);
	if (kind == KIND_GROUP_TIME)
		return merge_no_memory(group_times_add(&m->groups, &r.group_time), err);
	if (kind == KIND_LOSS)
		r.id = 0;
	if (kind == KIND_LOSS || kind == KIND_ACCOUNT || kind == KIND_HANDLER)
		return pass_merged_record(m, kind, &r, err);
	return put_merged_entity(in, &r, err);
}

static const struct sink_ops part_sink_ops = {.put = part_sink_put};

/* Read one kind of all parts, one after the other. */
static int read_kind_of_parts(struct merge_source *m, enum record_kind kind, struct error *err)
{
	int ret = 0;

	for (struct merged_part *p = m->parts; p < m->parts + m->count && !ret; p++) {
		struct part_sink in = {
			.sink = {.ops = &part_sink_ops, .wants = 1ULL << kind},
			.merge = m,
			.part = p,
			.kind = kind,
		};

		ret = name_part_in_error(m, p, p->source->ops->run(p->source, &in.sink, err), err);
	}
	return ret;
}

static void report_merge_progress(struct merge_source *m)
{
	if (m->progress.report && ++m->done % PROGRESS_RECORDS == 0)
		m->progress.report(m->progress.context, m->done, m->all);
}

struct part_losses {
	struct merge_source *merge;
	struct merged_part *part;
	int rc;
};

static void lose_part_records(void *context, enum record_kind kind, uint64_t time, uint64_t end,
			      uint64_t records)
{
	struct part_losses *of = context;
	int rc = add_part_loss(of->merge, of->part,
			       (struct loss){.reason = LOSS_UNREADABLE_CHUNK,
					     .time = time,
					     .end = end,
					     .count = records});

	(void)kind;
	of->rc = of->rc ? of->rc : rc;
}

/*
 * Return the part whose current record is the earliest; at equal times, slices come before edges.
 * NULL if all streams have ended.
 */
static struct merged_part *earliest_part(struct merge_source *m)
{
	struct merged_part *first = NULL;

	for (struct merged_part *p = m->parts; p < m->parts + m->count; p++) {
		uint64_t order = p->stream.order + p->map.shift, least;

		if (p->stream.end)
			continue;
		least = first ? first->stream.order + first->map.shift : 0;
		if (!first || order < least ||
		    (order == least && p->stream.kind < first->stream.kind))
			first = p;
	}
	return first;
}

static int put_part_record(struct merge_source *m, struct merged_part *p, struct error *err)
{
	int ret = merge_ids_convert(&m->ids, &p->map, p->stream.kind, &p->stream.record);

	if (ret < 0)
		return merge_no_memory(ret, err);
	ret = pass_merged_record(m, p->stream.kind, &p->stream.record, err);
	if (ret < 0)
		return ret;
	report_merge_progress(m);
	return name_part_in_error(m, p, merge_stream_next(&p->stream, err), err);
}

/* Put one stream of all parts merged by time, or slices and edges together. */
static int merge_streams(struct merge_source *m, uint64_t mask, struct error *err)
{
	struct part_losses *of = calloc(m->count, sizeof(*of));
	struct merged_part *p;
	int ret = of ? 0 : merge_no_memory(-ENOMEM, err);
	size_t opened = 0;

	for (; opened < m->count && !ret; opened++) {
		/* Losses of unknown streams were reported when stacks were read. */
		struct chunk_losses losses = {lose_part_records, &of[opened], true};

		p = &m->parts[opened];
		of[opened] = (struct part_losses){m, p, 0};
		ret = name_part_in_error(
			m, p, merge_stream_open(&p->stream, p->trace, mask, &losses, err), err);
	}
	while (!ret && (p = earliest_part(m)))
		ret = put_part_record(m, p, err);
	for (size_t i = 0; i < opened; i++) {
		merge_stream_close(&m->parts[i].stream);
		ret = !ret && of[i].rc ? merge_no_memory(of[i].rc, err) : ret;
	}
	free(of);
	return ret;
}

static int put_hosts(struct merge_source *m, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < m->hosts.list.count && !ret; i++)
		ret = pass_merged_record(m, KIND_HOST, &m->hosts.list.items[i], err);
	return ret;
}

static int put_merged_losses(struct merge_source *m, struct error *err)
{
	int ret = read_kind_of_parts(m, KIND_LOSS, err);

	for (size_t i = 0; i < m->losses.count && !ret; i++)
		ret = pass_merged_record(m, KIND_LOSS, &m->losses.items[i], err);
	return ret;
}

/* Put an info row such as "web-1.skein: web-1, CPUs 0 to 3". */
static int put_origin(struct merge_source *m, size_t index, struct error *err)
{
	const struct merged_part *p = &m->parts[index];
	const char *slash = strrchr(p->name, '/');
	char key[32], value[512];
	size_t used = (size_t)snprintf(value, 256, "%.200s: ", slash ? slash + 1 : p->name);
	struct info i = {.host = 1, .key = key, .value = value};

	for (size_t h = 0; h < p->hosts.list.count && h < ORIGIN_HOSTS; h++)
		used = text_append(value, sizeof(value), used, "%.40s, ",
				   p->hosts.list.items[h].host.hostname);
	snprintf(value + used, sizeof(value) - used, "CPUs %llu to %llu",
		 (unsigned long long)p->map.cpus,
		 (unsigned long long)(p->map.cpus + p->cpus - (p->cpus > 0)));
	snprintf(key, sizeof(key), MERGED_INFO "%zu", index + 1);
	return pass_merged_record(m, KIND_INFO, &i, err);
}

/* Put the info rows of all traces, and the names of the traces. */
static int put_infos(struct merge_source *m, struct error *err)
{
	int ret = read_kind_of_parts(m, KIND_INFO, err);

	for (size_t i = 0; i < m->count && m->count > 1 && !ret; i++)
		ret = put_origin(m, i, err);
	return ret;
}

#define TIMELINE (WANT(SLICE) | WANT(EDGE))

static int put_merged_groups(struct merge_source *m, struct error *err)
{
	int ret = read_kind_of_parts(m, KIND_GROUP_TIME, err);

	return ret ? ret : group_times_put(&m->groups, m->to, err);
}

static int merge_kind(struct merge_source *m, enum record_kind kind, struct error *err)
{
	switch (kind) {
	case KIND_HOST:
		return put_hosts(m, err);
	case KIND_INFO:
		return put_infos(m, err);
	case KIND_SAMPLE:
	case KIND_SPAN:
	case KIND_COUNTER:
		return merge_streams(m, 1ULL << kind, err);
	case KIND_SLICE:
		return merge_streams(m, TIMELINE, err);
	case KIND_EDGE: /* merged with slices */
	case KIND_SUM: /* readers make sums from samples */
		return 0;
	case KIND_LOSS:
		return put_merged_losses(m, err);
	case KIND_GROUP_TIME:
		return put_merged_groups(m, err);
	default:
		return read_kind_of_parts(m, kind, err);
	}
}

/*
 * Read all kinds, also those that the sink does not want: the new ids depend on everything read
 * before.
 */
static int merge_run(struct source *s, struct sink *to, struct error *err)
{
	struct merge_source *m = (struct merge_source *)s;
	int ret = 0;

	m->to = to;
	for (int kind = 0; kind < KIND_COUNT && !ret; kind++)
		ret = merge_kind(m, (enum record_kind)kind, err);
	return ret;
}

static void merge_free(struct source *s)
{
	struct merge_source *m = (struct merge_source *)s;

	for (size_t i = 0; m->parts && i < m->count; i++) {
		source_free(m->parts[i].source);
		vector_free(&m->parts[i].hosts.list);
		merge_map_free(&m->parts[i].map);
	}
	free(m->parts);
	merge_hosts_free(&m->hosts);
	merge_ids_free(&m->ids);
	names_free(&m->info_keys);
	names_free(&m->info_words);
	vector_free(&m->info_turns);
	names_free(&m->inlined_keys);
	group_times_free(&m->groups);
	vector_free(&m->losses);
	free(m);
}

static const struct source_ops merge_ops = {.run = merge_run, .free = merge_free};

/* Add the stream records of a part, without stacks, to m->all. */
static int count_records(struct merge_source *m, struct merged_part *p, struct error *err)
{
	static const enum record_kind streams[] = {KIND_SAMPLE, KIND_SLICE, KIND_EDGE, KIND_SPAN,
						   KIND_COUNTER};
	uint64_t records = 0;
	int ret = 0;

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]) && !ret; i++) {
		ret = trace_count(p->trace, streams[i], &records, err);
		m->all += records;
	}
	return ret;
}

/*
 * Collect the facts that must be known of a part before it is read: its hosts and its number of
 * CPUs.
 */
static int plan_put(struct sink *s, enum record_kind kind, const void *record, struct error *err)
{
	struct part_sink *in = (struct part_sink *)s;
	const struct lane *lane = record;
	uint64_t *cpus = &in->part->cpus, cpu = 0;

	if (kind == KIND_HOST)
		cpu = ((const struct host *)record)->cpus;
	else if (kind == KIND_ACCOUNT)
		cpu = ((const struct account *)record)->cpu + 1;
	else if (kind == KIND_LANE && lane_traits(lane->kind)->number == LANE_REFERENCE_CPU)
		cpu = lane->number + 1;
	if (cpu > *cpus && cpu <= CPUS_MAX)
		*cpus = cpu;
	return kind == KIND_HOST
		       ? merge_no_memory(
				 merge_hosts_add(&in->merge->hosts, &in->part->hosts, record), err)
		       : 0;
}

static int plan_part(struct merge_source *m, struct merged_part *p, struct error *err)
{
	static const struct sink_ops plan_ops = {.put = plan_put};
	struct part_sink in = {
		.sink = {.ops = &plan_ops, .wants = WANT(HOST) | WANT(LANE) | WANT(ACCOUNT)},
		.merge = m,
		.part = p,
	};

	return p->source->ops->run(p->source, &in.sink, err);
}

/*
 * Unify the hosts, and number the CPUs: the CPUs of a part come after those of the earlier parts.
 */
static int unify_parts(struct merge_source *m)
{
	uint64_t cpus = 0;
	struct source_hosts **sources = calloc(m->count, sizeof(*sources));
	struct merge_map **maps = calloc(m->count, sizeof(*maps));
	int ret = sources && maps ? 0 : -ENOMEM;

	for (size_t i = 0; i < m->count && !ret; i++) {
		sources[i] = &m->parts[i].hosts;
		maps[i] = &m->parts[i].map;
		maps[i]->cpus = cpus;
		cpus += m->parts[i].cpus;
	}
	if (!ret)
		ret = merge_hosts_unify(&m->hosts, sources, maps, m->count);
	free(sources);
	free(maps);
	return ret;
}

static int open_parts(struct merge_source *m, const struct merge_part *parts, struct error *err)
{
	int ret = 0;

	for (size_t i = 0; i < m->count && !ret; i++) {
		struct merged_part *p = &m->parts[i];

		p->trace = parts[i].trace;
		p->name = parts[i].name;
		ret = trace_source(&p->source, p->trace, err);
		if (!ret)
			ret = count_records(m, p, err);
		if (!ret)
			ret = plan_part(m, p, err);
		ret = name_part_in_error(m, p, ret, err);
	}
	return ret ? ret : merge_no_memory(unify_parts(m), err);
}

int merge_source(struct source **out, const struct merge_part *parts, size_t count,
		 const struct merge_progress *progress, struct error *err)
{
	struct merge_source *m = calloc(1, sizeof(*m));
	int ret;

	if (!m)
		return merge_no_memory(-ENOMEM, err);
	m->source.ops = &merge_ops;
	m->count = count;
	if (progress)
		m->progress = *progress;
	m->parts = calloc(count + 1, sizeof(*m->parts));
	ret = m->parts ? open_parts(m, parts, err) : merge_no_memory(-ENOMEM, err);
	if (ret < 0)
		merge_free(&m->source);
	else
		*out = &m->source;
	return ret;
}

bool merge_overlaps(const struct source *s, size_t a, size_t b)
{
	const struct merge_source *m = (const struct merge_source *)s;

	return merge_hosts_overlap(&m->parts[a].hosts, &m->parts[b].hosts);
}

uint64_t merge_unreadable(const struct source *s, size_t part)
{
	return ((const struct merge_source *)s)->parts[part].unreadable;
}
