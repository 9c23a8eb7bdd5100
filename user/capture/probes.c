// SPDX-License-Identifier: Apache-2.0
/* Loads the program of probes, keeps the table of its sites, and drains its rings. */
#include "capture/probes.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/probe.skel.h"
#include "capture/buffers.h"
#include "capture/clock.h"
#include "capture/needs.h"
#include "capture/probes_private.h"

/* Number of hits after which the batch of one ring ends and the next ring has its turn. */
#define PROBE_BATCH 32768

_Static_assert((int)WIRE_PROBE_TEXT_BYTES == (int)PROBE_TEXT_BYTES &&
		       (int)WIRE_PROBE_TEXTS_MAX == (int)PROBE_TEXTS_MAX &&
		       (int)WIRE_HIT_EVENTS == (int)HIT_EVENTS,
	       "one number in two rooms");

struct probes_ring {
	struct probes *probes;
	struct ring_buffer *buffer;
	int fd; /* of the map; -1: none */
	int number; /* in the order */
	uint64_t last; /* time of the last hit, ns */
	unsigned int taken; /* in this batch */
	int error;
};

/* A place, and what it points to: the row has as many arguments as the site. */
struct kept_place {
	struct probes_place place;
	struct probe_row row;
	unsigned int pattern; /* number of the user's probe; of the table: more than there are */
	char label[PROBE_LABEL_BYTES];
};

struct probes {
	struct probe_bpf *skeleton;
	struct probes_options options;
	unsigned int cpus; /* possible CPUs */
	struct wire_probe_cpu *states; /* mapped from the kernel */
	uint64_t lost; /* as far as probes_take_lost() has returned it */
	VECTOR(struct probes_ring *) rings;
	uint64_t ring_bytes; /* of each */
	VECTOR(struct kept_place *) places; /* by number of the site */
	probe_link_list links;
	struct probe_detacher *detacher;
	bool more;
};

/* Pass on a hit with which the user begins or ends the recording. */
static void pass_cue(const struct probes *p, const struct wire_probe *hit)
{
	const struct probes_place *at = probes_place(p, hit->site);

	if (at && probe_wakes(at->row->meaning) && hit->time >= at->since)
		p->options.cue(p->options.context, at->row->meaning, hit->time);
}

static int on_hit(void *context, void *data, size_t size)
{
	struct probes_ring *r = context;
	const struct wire_probe *hit = data;

	if (size < sizeof(*hit))
		return 0;
	pass_cue(r->probes, hit);
	r->error = order_push(r->probes->options.order, r->number, hit->time, data, (uint32_t)size);
	r->last = hit->time;
	r->taken++;
	return r->error || r->taken >= PROBE_BATCH ? -ECANCELED : 0;
}

static int add_probe_ring(struct probes *p, uint32_t index, struct error *err)
{
	int outer = bpf_map__fd(p->skeleton->maps.probe_rings), fd, ret;
	struct probes_ring *r = calloc(1, sizeof(*r));

	if (!r || vector_push(&p->rings, r) < 0) {
		free(r);
		return error_errno(err, -ENOMEM, "probe rings");
	}
	r->probes = p;
	r->fd = -1;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "skein_probes", 0, 0, (__u32)p->ring_bytes, NULL);
	if (fd < 0)
		return error_errno(err, -errno, "probe ring of %llu bytes",
				   (unsigned long long)p->ring_bytes);
	ret = bpf_map_update_elem(outer, &index, &fd, 0) ? -errno : 0;
	if (!ret) {
		r->buffer = ring_buffer__new(fd, on_hit, r, NULL);
		ret = r->buffer ? 0 : -errno;
	}
	r->fd = fd;
	r->number = ret ? -1 : order_add_ring(p->options.order);
	if (!ret && r->number < 0)
		ret = r->number;
	return ret ? error_errno(err, ret, "probe ring") : 0;
}

static int configure_probes(struct probes *p)
{
	struct probe_bpf *k = p->skeleton;
	const struct program *program = p->options.program;
	unsigned int per_ring = buffers_cpus_per_ring(p->cpus);
	int ret;

	k->rodata->probe_cpus_per_ring = per_ring;
	memcpy((void *)&k->rodata->wanted, program_selection(program),
	       sizeof(struct wire_selection));
	bpf_program__set_autoload(k->progs.probe_hit, true);
	bpf_program__set_autoload(k->progs.probe_hit_multi, !p->options.one_by_one);
	bpf_program__set_expected_attach_type(k->progs.probe_hit_multi, ATTACH_UPROBE_MULTI);
	ret = bpf_map__set_max_entries(k->maps.probe_rings, (p->cpus + per_ring - 1) / per_ring);
	if (!ret)
		ret = bpf_map__set_max_entries(k->maps.probe_cpus, p->cpus);
	if (!ret)
		ret = bpf_map__reuse_fd(k->maps.selected_pids, program_selected_fd(program, false));
	if (!ret)
		ret = bpf_map__reuse_fd(k->maps.selected_tids, program_selected_fd(program, true));
	return ret;
}

/* Have the programs for JVMs, which are loaded later, take the stacks of hits. */
static void connect_hits(const struct probes *p)
{
	const struct probe_bpf *k = p->skeleton;
	const bool many = !p->options.one_by_one;
	const struct program_hits h = {
		.cpus = bpf_map__fd(k->maps.probe_cpus),
		.sites = bpf_map__fd(k->maps.probe_sites),
		.takers = bpf_map__fd(many ? k->maps.hit_taker_multi : k->maps.hit_taker),
		.attach_type = many ? ATTACH_UPROBE_MULTI : 0,
	};

	program_set_hits(p->options.program, &h);
}

static int load_probes(struct probes *p, struct error *err)
{
	int ret;

	p->skeleton = probe_bpf__open();
	if (!p->skeleton)
		return error_errno(err, -ENOMEM, "the program of probes");
	ret = configure_probes(p);
	if (ret)
		return error_errno(err, ret, "the program of probes");
	ret = probe_bpf__load(p->skeleton);
	if (ret)
		return need_failed(err, ret, NEED_COUNT,
				   "the kernel refused the program of probes");
	ret = program_map_array(bpf_map__fd(p->skeleton->maps.probe_cpus),
				p->cpus * sizeof(*p->states), &p->states);
	if (ret)
		return error_errno(err, ret, "memory shared with the kernel");
	if (!p->options.one_by_one)
		p->options.one_by_one =
			!probe_links_many(bpf_program__fd(p->skeleton->progs.probe_hit_multi));
	if (p->options.stacks)
		connect_hits(p);
	return 0;
}

int probes_load(struct probes **out, const struct probes_options *o, struct error *err)
{
	struct probes *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return error_errno(err, -ENOMEM, "probes");
	p->options = *o;
	p->cpus = program_cpus(o->program);
	p->ring_bytes = buffers_probes_bytes(p->cpus);
	ret = load_probes(p, err);
	for (uint32_t i = 0; !ret && i < bpf_map__max_entries(p->skeleton->maps.probe_rings); i++)
		ret = add_probe_ring(p, i, err);
	if (ret)
		probes_free(p);
	else
		*out = p;
	return ret;
}

void probes_free(struct probes *p)
{
	if (!p)
		return;
	probe_detacher_join(p->detacher);
	probe_links_detach(&p->links, NULL);
	vector_free(&p->links);
	for (size_t i = 0; i < p->places.count; i++)
		free(p->places.items[i]);
	vector_free(&p->places);
	for (size_t i = 0; i < p->rings.count; i++) {
		ring_buffer__free(p->rings.items[i]->buffer);
		if (p->rings.items[i]->fd >= 0)
			close(p->rings.items[i]->fd);
		free(p->rings.items[i]);
	}
	vector_free(&p->rings);
	program_unmap_array(p->states, p->cpus * sizeof(*p->states));
	probe_bpf__destroy(p->skeleton);
	free(p);
}

bool probes_one_by_one(const struct probes *p)
{
	return p->options.one_by_one;
}

static const struct probe_row *row_of_site(const struct probes *p, const struct probe_site *s)
{
	return s->row < probe_row_count ? &probe_rows[s->row]
					: &p->options.rows[s->row - probe_row_count];
}

/*
 * Return whether the end of what a probe of the user begins is not known: its pattern comes next,
 * and has no site that can be attached, or none of the same function.
 */
static bool lacks_end(const struct probe_sites *sites, const struct probe_site *begin,
		      enum probe_origin origin)
{
	for (uint32_t i = 0; i < sites->count; i++) {
		const struct probe_site *s = &sites->sites[i];

		if (s->row == begin->row + 1 && !s->refused &&
		    (origin == PROBE_NOTE || !strcmp(s->label, begin->label)))
			return false;
	}
	return true;
}

/* Return the place of a site, for the caller to free; NULL without memory. */
static struct kept_place *new_place(const struct probes *p, const struct probe_sites *sites,
				    const struct probe_site *s)
{
	const bool of_user = s->row >= probe_row_count;
	struct kept_place *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->row = *row_of_site(p, s);
	kept->pattern = of_user ? s->row - probe_row_count : PROBE_PATTERNS_MAX;
	if (kept->row.arguments > s->count)
		kept->row.arguments = s->count;
	snprintf(kept->label, sizeof(kept->label), "%s", s->label);
	/* the end of a note belongs to its begin, which is the pattern before */
	if (of_user && kept->row.meaning == PROBE_END && kept->row.origin == PROBE_NOTE)
		snprintf(kept->label, sizeof(kept->label), "%s:%s", kept->row.provider,
			 p->options.rows[s->row - probe_row_count - 1].name);
	if (of_user && kept->row.meaning == PROBE_BEGIN && lacks_end(sites, s, kept->row.origin))
		kept->row.meaning = PROBE_INSTANT;
	kept->place = (struct probes_place){.row = &kept->row,
					    .label = of_user ? kept->label : NULL,
					    .offset = s->offset,
					    .count = s->count};
	return kept;
}

/* Return whether an operand is memory at a fixed distance from a register. */
static bool is_beside(const struct probe_operand *o, const struct probe_operand *first)
{
	return o->kind == PROBE_OPERAND_MEMORY && o->index == PROBE_NO_REGISTER &&
	       o->base != PROBE_NO_REGISTER && o->value >= INT32_MIN && o->value <= INT32_MAX &&
	       (!first || o->base == first->base);
}

/* Have operands in memory that lie beside each other read at once. */
static void read_beside_at_once(struct wire_probe_site *wire)
{
	const struct probe_operand *first = NULL;
	int64_t low = INT64_MAX, high = INT64_MIN;
	unsigned int found = 0;

	for (unsigned int i = 0; i < wire->count; i++) {
		const struct probe_operand *o = &wire->operands[i];

		if (!is_beside(o, first))
			continue;
		first = first ? first : o;
		low = o->value < low ? o->value : low;
		high = o->value + o->bytes > high ? o->value + o->bytes : high;
		found++;
	}
	if (found < 2 || high - low > PROBE_WINDOW_BYTES)
		return;
	wire->window = (struct probe_window){
		.value = low, .base = first->base, .bytes = (uint8_t)(high - low)};
	for (unsigned int i = 0; i < wire->count; i++) {
		struct probe_operand *o = &wire->operands[i];

		if (!is_beside(o, first))
			continue;
		o->kind = PROBE_OPERAND_WINDOW;
		o->value -= low;
	}
}

static struct wire_probe_site wire_of_site(const struct probe_site *s, const struct probe_row *row,
					   bool stacks)
{
	struct wire_probe_site wire = {.place = (uint32_t)s->offset,
				       .count = s->count,
				       .wakes = probe_wakes(row->meaning),
				       .event = stacks ? row->stacks : 0};

	memcpy(wire.operands, s->operands, sizeof(wire.operands));
	for (unsigned int i = 0; i < PROBE_TEXTS_MAX; i++) {
		if (row->texts[i].address > s->count || row->texts[i].length > s->count)
			continue;
		wire.texts[i].address = row->texts[i].address;
		wire.texts[i].length = row->texts[i].length;
	}
	read_beside_at_once(&wire);
	return wire;
}

/* Give a site a number, and pass it to the program. Return the number or a negative errno. */
static int add_place(struct probes *p, const struct probe_sites *sites, const struct probe_site *s)
{
	const uint32_t number = (uint32_t)p->places.count;
	struct wire_probe_site wire;
	struct kept_place *kept;

	if (number == WIRE_PROBE_SITES_MAX)
		return -ENOSPC;
	kept = new_place(p, sites, s);
	if (!kept || vector_push(&p->places, kept) < 0) {
		free(kept);
		return -ENOMEM;
	}
	wire = wire_of_site(s, &kept->row, p->options.stacks);
	kept->place.texts = wire.texts[0].address;
	return bpf_map_update_elem(bpf_map__fd(p->skeleton->maps.probe_sites), &number, &wire,
				   BPF_ANY)
		       ? -errno
		       : (int)number;
}

/* Fill a batch with the sites that are not refused; indices: of these sites. */
static int fill_batch(struct probes *p, struct probe_batch *b, uint32_t *indices,
		      const struct probe_sites *sites)
{
	for (uint32_t i = 0; i < sites->count; i++) {
		const struct probe_site *s = &sites->sites[i];
		int number;

		if (s->refused)
			continue;
		number = add_place(p, sites, s);
		if (number < 0)
			return number;
		b->offsets[b->count] = s->offset;
		b->semaphores[b->count] = s->semaphore;
		b->cookies[b->count] = (uint64_t)number;
		indices[b->count++] = i;
	}
	return 0;
}

static void note_results(const struct probe_batch *b, const uint32_t *indices,
			 struct probe_sites *sites, struct probes_attached *out)
{
	for (unsigned int i = 0; i < b->count; i++) {
		struct probe_site *s = &sites->sites[indices[i]];

		if (b->errors[i]) {
			s->refused = PROBE_REFUSED_KERNEL;
			out->error = out->error ? out->error : b->errors[i];
			continue;
		}
		out->attached++;
		out->slow += probe_instruction_is_slow(s->instruction);
	}
	out->refused = sites->count - out->attached;
}

/* The kernel attaches one site after the other, each at once: until now hits lack their others. */
static void note_attached(struct probes *p, const struct probe_batch *b)
{
	const uint64_t now = clock_boot_ns();

	for (unsigned int i = 0; i < b->count; i++)
		if (!b->errors[i])
			p->places.items[b->cookies[i]]->place.since = now;
}

int probes_attach(struct probes *p, int fd, const struct file_id *file, struct probe_sites *sites,
		  struct probes_attached *out)
{
	const struct probe_bpf *k = p->skeleton;
	uint32_t indices[PROBE_SITES_MAX];
	struct probe_batch *b = calloc(1, sizeof(*b));
	bool many = !p->options.one_by_one;
	int ret;

	*out = (struct probes_attached){0};
	if (!b)
		return -ENOMEM;
	b->fd = fd;
	b->file = file;
	probe_links_detach(&p->links, file);
	ret = fill_batch(p, b, indices, sites);
	if (!ret && b->count)
		ret = probe_links_attach(
			&p->links,
			bpf_program__fd(many ? k->progs.probe_hit_multi : k->progs.probe_hit), many,
			b);
	if (!ret) {
		note_attached(p, b);
		note_results(b, indices, sites, out);
	}
	free(b);
	return ret;
}

int probes_drain(struct probes *p, uint64_t now)
{
	p->more = false;
	for (size_t i = 0; i < p->rings.count; i++) {
		struct probes_ring *r = p->rings.items[i];
		bool full;

		r->taken = 0;
		ring_buffer__consume(r->buffer);
		if (r->error)
			return r->error;
		full = r->taken >= PROBE_BATCH;
		p->more |= full;
		order_set_passed(p->options.order, r->number,
				 (full ? r->last : now) - ORDER_MARGIN);
	}
	return 0;
}

bool probes_has_pattern(const struct probes *p, unsigned int row)
{
	for (size_t i = 0; i < p->places.count; i++)
		if (p->places.items[i]->pattern == row && p->places.items[i]->place.since)
			return true;
	return false;
}

int probes_ring_fd(const struct probes *p, size_t ring)
{
	return ring < p->rings.count ? p->rings.items[ring]->fd : -1;
}

bool probes_has_more(const struct probes *p)
{
	return p->more;
}

bool probes_owns_ring(const struct probes *p, int ring)
{
	for (size_t i = 0; i < p->rings.count; i++)
		if (p->rings.items[i]->number == ring)
			return true;
	return false;
}

const struct probes_place *probes_place(const struct probes *p, uint32_t site)
{
	return site < p->places.count ? &p->places.items[site]->place : NULL;
}

uint64_t probes_take_lost(struct probes *p)
{
	uint64_t lost = 0, before = p->lost;

	for (unsigned int i = 0; i < p->cpus; i++)
		lost += __atomic_load_n(&p->states[i].lost, __ATOMIC_RELAXED);
	p->lost = lost;
	return lost - before;
}

void probes_take_stacks(const struct probes *p, bool wanted)
{
	p->skeleton->bss->hits_wanted = wanted;
}

uint64_t probes_time_spent(const struct probes *p)
{
	uint64_t spent = 0;

	for (size_t i = 0; i < p->cpus; i++)
		spent += __atomic_load_n(&p->states[i].hits_spent, __ATOMIC_RELAXED);
	return spent;
}

const struct wire_probe_cpu *probes_cpu(const struct probes *p, unsigned int cpu)
{
	return &p->states[cpu];
}

uint32_t probes_lost(const struct probes *p)
{
	return __atomic_load_n(&p->skeleton->bss->hits_lost, __ATOMIC_RELAXED);
}

uint64_t probes_ring_bytes(const struct probes *p)
{
	return 2 * p->ring_bytes * p->rings.count;
}

void probes_stop(struct probes *p)
{
	p->skeleton->bss->probes_stopped = true;
	p->detacher = probe_detacher_start(&p->links, !p->options.one_by_one);
}
