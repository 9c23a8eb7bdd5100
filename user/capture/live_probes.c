// SPDX-License-Identifier: Apache-2.0
/*
 * Probes of a live capture: has the worker find the sites of files, attaches to them, and passes
 * hits on in the order of all records. A file is looked at when it is first mapped, those of the
 * user's probes at the start.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "bpf/event.h"
#include "capture/live.h"
#include "symbolizers/probe_sites.h"

/* Objects of the symbolizer for the files of the user's probes: beyond all of objects.c. */
#define USER_FILES (1ULL << 61)
/* info.id of the first file with probes; beyond those of describe.c, objects.c and quotas. */
#define FIRST_PROBES_INFO (1ULL << 40)

int live_probes_prepare(struct live *l, struct error *err)
{
	const struct capture_probes *o = &l->options.probes;
	struct live_probes *p = &l->probes;

	if (!o->count)
		return 0;
	p->patterns = calloc(o->count, sizeof(*p->patterns));
	p->rows = calloc(o->count, sizeof(*p->rows));
	p->files = calloc(o->count, sizeof(*p->files));
	if (!p->patterns || !p->rows || !p->files)
		return error_errno(err, -ENOMEM, "probes");
	for (unsigned int i = 0; i < o->count; i++) {
		p->rows[i] = o->list[i].row;
		p->patterns[i] = (struct probe_pattern){.origin = p->rows[i].origin,
							.provider = p->rows[i].provider,
							.name = p->rows[i].name};
		p->files[i] = -1;
	}
	return 0;
}

static void on_cue(void *context, enum probe_meaning meaning, uint64_t time)
{
	live_note_cue(context, meaning == PROBE_START, time);
}

int live_probes_load(struct live *l, struct error *err)
{
	const struct probes_options o = {
		.program = l->program,
		.order = l->rings.order,
		.rows = l->probes.rows,
		.row_count = l->options.probes.count,
		.one_by_one = getenv("SKEIN_DEBUG_PROBES") != NULL,
		.cue = on_cue,
		.context = l,
		.stacks = l->probes.stacks,
	};

	return live_probes(l) ? probes_load(&l->probes.attached, &o, err) : 0;
}

static void request_sites(struct live *l, uint64_t object, const struct probe_wanted *w)
{
	if (symbolizer_request_probes(l->helpers.symbolizer, object, w) == 0)
		l->probes.awaited++;
}

/* Request the sites of one of the user's files, of all patterns with the same path. */
static int begin_user_file(struct live *l, unsigned int first, struct error *err)
{
	const struct capture_probes *o = &l->options.probes;
	const char *path = o->list[first].path;
	struct probe_wanted w = {.mask = 0};
	int ret;

	for (unsigned int i = 0; i < o->count; i++) {
		if (strcmp(o->list[i].path, path) != 0)
			continue;
		if (i < first)
			return 0; /* a pattern before had the same file */
		w.mask |= 1ULL << i;
	}
	l->probes.files[first] = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (l->probes.files[first] < 0)
		return error_errno(err, -errno, "%s", path);
	ret = dup(l->probes.files[first]);
	if (ret < 0)
		return error_errno(err, -errno, "%s", path);
	ret = symbolizer_add(l->helpers.symbolizer, USER_FILES + first, OBJECT_ELF, ret);
	if (ret)
		return error_errno(err, ret, "%s", path);
	request_sites(l, USER_FILES + first, &w);
	return 0;
}

int live_probes_begin(struct live *l, struct error *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < l->options.probes.count; i++)
		ret = begin_user_file(l, i, err);
	return ret;
}

int live_probes_check(const struct live *l, struct error *err)
{
	for (unsigned int i = 0; i < l->options.probes.count; i++) {
		const struct capture_probe *c = &l->options.probes.list[i];

		if (!probe_is_cue(c->row.meaning))
			continue;
		if (!probes_has_pattern(l->probes.attached, i))
			return error_set(
				err, -EINVAL,
				"%s: '%s%s%s' is not in it, or cannot be probed; 'skein "
				"doctor --probes %s' shows its notes",
				c->path, c->row.origin == PROBE_NOTE ? c->row.provider : "",
				c->row.origin == PROBE_NOTE ? ":" : "", c->row.name, c->path);
	}
	return 0;
}

void live_probes_request(struct live *l, const struct object *o, enum probe_runtime runtime)
{
	const struct probe_wanted w = {.parts = l->options.probes.parts, .runtime = runtime};

	if (w.parts)
		request_sites(l, o->id, &w);
}

void live_probes_request_others(struct live *l, uint64_t object)
{
	const struct object *o = objects_by_id(l->objects, object);

	if (l->options.probes.parts & PROBE_PART_OTHERS && o && !o->java.file)
		live_probes_request(l, o, PROBE_RUNTIME_NONE);
}

/* The file of a reply: its descriptor, and what identifies it. */
struct found_file {
	const char *path;
	struct file_id id;
	int fd; /* to be closed; or a negative errno */
	bool expected; /* it should have probes */
};

static struct found_file file_of_reply(struct live *l, uint64_t object)
{
	struct found_file f = {.path = "?", .fd = -ENOENT};
	const struct object *o;

	if (object >= USER_FILES && object - USER_FILES < l->options.probes.count) {
		struct stat st;

		f.path = l->options.probes.list[object - USER_FILES].path;
		f.fd = dup(l->probes.files[object - USER_FILES]);
		f.expected = true;
		/* an identity of its own: the probes of a runtime in the same file stay */
		f.id = (struct file_id){.inode = object};
		if (f.fd >= 0 && fstat(f.fd, &st) == 0 && !S_ISREG(st.st_mode)) {
			close(f.fd);
			f.fd = -EINVAL;
		}
		return f;
	}
	o = objects_by_id(l->objects, object);
	if (!o)
		return f;
	f.path = o->path;
	f.id = o->file.id;
	f.expected = o->python.file || o->java.file;
	f.fd = symbolizer_dup(l->helpers.symbolizer, object);
	return f;
}

static const char *first_refusal(const struct probe_sites *s)
{
	for (uint32_t i = 0; i < s->count; i++)
		if (s->sites[i].refused)
			return probe_refusal_text(s->sites[i].refused);
	return "";
}

/* Keep what became of the sites of a file, for the trace. */
static void describe_attached(struct live *l, const char *path, const struct probe_sites *s,
			      const struct probes_attached *a)
{
	char text[OPENER_PATH_MAX + 512], *kept;
	size_t used = text_append(text, sizeof(text), 0, "%s: %u probes", path, a->attached);

	if (a->slow)
		used = text_append(text, sizeof(text), used, ", %u of them slow", a->slow);
	if (a->refused)
		used = text_append(text, sizeof(text), used, "; %u not attached: %s", a->refused,
				   first_refusal(s));
	if (a->error)
		used = text_append(text, sizeof(text), used, " (%s)", strerror(-a->error));
	if (s->dropped)
		text_append(text, sizeof(text), used, "; %u more left out", s->dropped);
	kept = strdup(text);
	if (kept && vector_push(&l->probes.described, kept) < 0)
		free(kept);
}

static void attach_found(struct live *l, const struct found_file *f, const struct probe_sites *s)
{
	struct capture_probed *sum = &l->summary.probed;
	struct probe_sites *sites = malloc(sizeof(*sites));
	struct probes_attached a = {.error = -ENOMEM};
	int ret = -ENOMEM;

	if (sites) {
		*sites = *s;
		ret = f->fd < 0 ? f->fd
				: probes_attach(l->probes.attached, f->fd, &f->id, sites, &a);
	}
	if (ret)
		a = (struct probes_attached){.refused = s->count, .error = ret};
	sum->attached += a.attached;
	sum->refused += a.refused + s->dropped;
	ledger_count_lost(l->ledger, LOSS_NOT_ATTACHED, a.refused + s->dropped);
	describe_attached(l, f->path, sites ? sites : s, &a);
	free(sites);
}

void live_probes_found(struct live *l, uint64_t object, int status, const struct probe_sites *s)
{
	static const struct probe_sites none;
	struct found_file f;

	l->probes.awaited -= l->probes.awaited > 0;
	if (!l->probes.attached || !l->ledger)
		return;
	f = file_of_reply(l, object);
	if (!status && s->count) {
		attach_found(l, &f, s);
	} else if (f.expected && (status || object >= USER_FILES)) {
		const struct probes_attached a = {.error = status ? status : -ENOENT};

		ledger_count_lost(l->ledger, LOSS_NOT_ATTACHED, 1);
		l->summary.probed.refused++;
		describe_attached(l, f.path, &none, &a);
	}
	if (f.fd >= 0)
		close(f.fd);
}

int live_probes_report(struct live *l, struct error *err)
{
	int ret = 0;

	while (!ret && l->probes.reported < l->probes.described.count) {
		char key[32];
		const struct info i = {.id = FIRST_PROBES_INFO + l->probes.reported,
				       .host = HOST_ID,
				       .key = key,
				       .value = l->probes.described.items[l->probes.reported]};

		snprintf(key, sizeof(key), "probes.%zu", l->probes.reported);
		l->probes.reported++;
		ret = put_info(l->sink, &i, err);
	}
	return ret;
}

/* Return whether a hit of a ring is well-formed. */
static bool is_hit(const struct probes_place *at, uint32_t size)
{
	return at &&
	       size >= (at->texts ? sizeof(struct wire_probe_texts) : sizeof(struct wire_probe));
}

static int pass_hit(struct live *l, const struct wire_probe *hit, const struct probes_place *at,
		    const struct resolved_task *of, struct error *err)
{
	const struct wire_probe_texts *with = (const struct wire_probe_texts *)hit;
	struct probe_event e = {
		.time = hit->time,
		.row = at->row,
		.process = of->process,
		.thread = of->thread,
		.texts = {"", ""},
		.stack_pointer = hit->stack_pointer,
		.lost = hit->lost,
		.label = at->label,
		.argument_count = at->count,
	};

	memcpy(e.arguments, hit->arguments, at->count * sizeof(e.arguments[0]));
	for (unsigned int i = 0; at->texts && i < PROBE_TEXTS_MAX; i++)
		if (memchr(with->texts[i], '\0', sizeof(with->texts[i])))
			e.texts[i] = with->texts[i];
	l->summary.probed.hits++;
	return runtime_events_probe(l->probes.events, &e, err);
}

/*
 * Return whether a hit is the same as the one before of its thread. Two overlay file systems may
 * show one file as two, to which probes are then attached twice; the kernel runs both at once.
 */
static bool is_hit_again(struct live *l, const struct wire_probe *hit,
			 const struct probes_place *at)
{
	struct last_hit *last = &l->probes.last[hit->tid % LIVE_LAST_HITS];
	const struct probes_place *before = probes_place(l->probes.attached, last->site);
	const bool again = last->tid == hit->tid && last->site != hit->site && before &&
			   before->offset == at->offset && before->row->name == at->row->name &&
			   last->stack_pointer == hit->stack_pointer &&
			   hit->time - last->time < WIRE_HIT_AGAIN;

	/* the next hit comes by the first of the two sites again, and is another one */
	if (!again)
		*last = (struct last_hit){hit->tid, hit->site, hit->time, hit->stack_pointer};
	return again;
}

bool live_is_recorded(const struct live *l, uint64_t time)
{
	const uint64_t pause = l->times.pause.since;

	return l->times.started && time >= l->times.resumed && (!pause || time < pause);
}

int live_probes_hit(struct live *l, const struct ordered_record *r, struct error *err)
{
	const struct wire_probe *hit = r->data;
	const struct probes_place *at =
		r->size >= sizeof(*hit) ? probes_place(l->probes.attached, hit->site) : NULL;
	struct own_numbers numbers;
	struct resolved_task of;
	int ret;

	if (!is_hit(at, r->size)) {
		ledger_count_lost(l->ledger, LOSS_BAD_RECORD, 1);
		return 0;
	}
	if (!live_is_recorded(l, hit->time) || hit->time < at->since || is_hit_again(l, hit, at))
		return 0;
	numbers = namespace_own(l->selection.namespace, hit->pid, hit->tid);
	if (numbers.tid == NUMBER_OUTSIDE)
		return 0;
	ret = process_table_resolve(l->processes,
				    &(struct sampled_task){.pid = numbers.pid,
							   .tid = numbers.tid,
							   .ns_pid = hit->ns_pid,
							   .born = hit->born,
							   .cgroup = hit->cgroup,
							   .time = hit->time},
				    &of, err);
	if (ret)
		return ret;
	if (of.unknown && opener_scan(l->helpers.opener, numbers.pid) < 0)
		process_table_scan_over(l->processes, numbers.pid);
	return live_selects_thread(l, of.process, of.thread) ? pass_hit(l, hit, at, &of, err) : 0;
}

void live_probes_forget(struct live *l)
{
	l->probes.reported = 0;
	runtime_events_forget(l->probes.events);
}

int live_probes_drain(struct live *l, uint64_t now)
{
	int ret = probes_drain(l->probes.attached, now);
	uint64_t lost = l->ledger ? probes_take_lost(l->probes.attached) : 0;

	if (lost) {
		ledger_count_lost(l->ledger, LOSS_PROBES_LOST, lost);
		runtime_events_lost(l->probes.events, probes_lost(l->probes.attached));
	}
	return ret;
}

void live_probes_free(struct live *l)
{
	struct live_probes *p = &l->probes;

	probes_free(p->attached);
	runtime_events_free(p->events);
	hit_stacks_free(p->hits);
	for (unsigned int i = 0; p->files && i < l->options.probes.count; i++)
		if (p->files[i] >= 0)
			close(p->files[i]);
	for (size_t i = 0; i < p->described.count; i++)
		free(p->described.items[i]);
	vector_free(&p->described);
	free(p->files);
	free(p->rows);
	free(p->patterns);
}
