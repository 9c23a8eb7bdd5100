// SPDX-License-Identifier: Apache-2.0
/*
 * Export tracks of skein's own to Perfetto: the waits of threads, losses, and counts of
 * simultaneous threads.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/text.h"
#include "export/perfetto.h"
#include "export/wait_end.h"

enum { THREAD_OF_PID = 1, THREAD_OF_TID };
enum { ANNOTATION_UINT = 3, ANNOTATION_TEXT = 6, ANNOTATION_POINTER = 7, ANNOTATION_NAME = 10 };
enum { INTERNED_EVENT_NAMES = 2 };
enum { NAME_IID = 1, NAME_NAME };

size_t perfetto_begin_track(struct perfetto *p, uint64_t track, const char *name, size_t *packet)
{
	size_t mark;

	*packet = perfetto_begin_packet(p, 0, SEQUENCE_TRACKS);
	mark = protobuf_begin(&p->packets.buf, PACKET_TRACK_DESCRIPTOR);
	protobuf_varint(&p->packets.buf, TRACK_UUID, track);
	if (name)
		protobuf_text(&p->packets.buf, TRACK_NAME, name);
	return mark;
}

void perfetto_end_track(struct perfetto *p, size_t mark, size_t packet)
{
	protobuf_end(&p->packets.buf, mark);
	perfetto_end_packet(p, packet);
}

size_t perfetto_begin_event(struct perfetto *p, uint64_t time, uint64_t track, unsigned int type,
			    size_t *packet)
{
	size_t mark;

	*packet = perfetto_begin_packet(p, time, SEQUENCE_TRACKS);
	protobuf_varint(&p->packets.buf, PACKET_SEQUENCE_FLAGS, FLAG_SEQUENCE_GOES_ON);
	mark = protobuf_begin(&p->packets.buf, PACKET_TRACK_EVENT);
	protobuf_varint(&p->packets.buf, EVENT_TYPE, type);
	protobuf_varint(&p->packets.buf, EVENT_TRACK, track);
	return mark;
}

void perfetto_end_event(struct perfetto *p, size_t mark, size_t packet)
{
	protobuf_end(&p->packets.buf, mark);
	perfetto_end_packet(p, packet);
}

void perfetto_declare_thread(struct perfetto *p, const struct timeline_lane *lane)
{
	struct timeline_identity identity = timeline_identity(&p->timeline, lane->thread);
	struct perfetto_lane *own = &p->lanes[lane - p->timeline.lanes.items];
	struct protobuf *buf = &p->packets.buf;
	size_t packet, mark, thread;

	if (own->has_track)
		return;
	own->has_track = true;
	mark = perfetto_begin_track(p, TRACK(THREAD, lane->lane.id), NULL, &packet);
	thread = protobuf_begin(buf, TRACK_THREAD_OF);
	protobuf_varint(buf, THREAD_OF_PID, identity.pid & INT32_MAX);
	protobuf_varint(buf, THREAD_OF_TID, identity.tid & INT32_MAX);
	protobuf_end(buf, thread);
	perfetto_end_track(p, mark, packet);
}

/* Declare two tracks: the thread's own, and below it the track of the thread's waits. */
static void begin_waits(struct perfetto *p, const struct timeline_lane *lane)
{
	struct protobuf *buf = &p->packets.buf;
	size_t packet, mark;

	perfetto_declare_thread(p, lane);
	mark = perfetto_begin_track(p, TRACK(WAITS, lane->lane.id), "waits for", &packet);
	protobuf_varint(buf, TRACK_PARENT, TRACK(THREAD, lane->lane.id));
	perfetto_end_track(p, mark, packet);
}

/* Intern the name of a wait class once. */
static void perfetto_intern_wait(struct perfetto *p, enum wait_class wait)
{
	struct protobuf *buf = &p->packets.buf;
	size_t packet, interned, name;

	if (p->names_interned & 1ULL << wait)
		return;
	p->names_interned |= 1ULL << wait;
	packet = perfetto_begin_packet(p, 0, SEQUENCE_TRACKS);
	protobuf_varint(buf, PACKET_SEQUENCE_FLAGS, FLAG_SEQUENCE_GOES_ON);
	interned = protobuf_begin(buf, PACKET_INTERNED_DATA);
	name = protobuf_begin(buf, INTERNED_EVENT_NAMES);
	protobuf_varint(buf, NAME_IID, wait);
	protobuf_text(buf, NAME_NAME, wait_class_word(wait));
	protobuf_end(buf, name);
	protobuf_end(buf, interned);
	perfetto_end_packet(p, packet);
}

static void annotate(struct perfetto *p, const char *name, unsigned int kind, uint64_t value)
{
	struct protobuf *buf = &p->packets.buf;
	size_t mark = protobuf_begin(buf, EVENT_ANNOTATION);

	protobuf_text(buf, ANNOTATION_NAME, name);
	protobuf_varint(buf, kind, value);
	protobuf_end(buf, mark);
}

static void annotate_text(struct perfetto *p, const char *name, const char *text)
{
	struct protobuf *buf = &p->packets.buf;
	size_t mark = protobuf_begin(buf, EVENT_ANNOTATION);

	protobuf_text(buf, ANNOTATION_NAME, name);
	perfetto_text(p, buf, ANNOTATION_TEXT, text);
	protobuf_end(buf, mark);
}

/*
 * Begin the slice of a wait whose stack was taken, in the sequence of its event, which has the
 * stack.
 */
static void begin_wait_with_stack(struct perfetto *p, const struct timeline_lane *lane,
				  const struct stretch *s, const struct perfetto_wait *kept)
{
	struct perfetto_event *e = &p->events[kept->event];
	const struct sample *sample = &kept->sample;
	struct protobuf *buf = &p->packets.buf;
	uint64_t stack = perfetto_intern_stack(
		p, e, profile_stack_by_id(p->timeline.profile, sample->stack));
	size_t packet = perfetto_begin_packet(p, s->time, perfetto_sequence_of(p, e));
	char by[WAIT_END_SIZE];
	size_t mark;

	protobuf_varint(buf, PACKET_SEQUENCE_FLAGS, FLAG_SEQUENCE_GOES_ON);
	mark = protobuf_begin(buf, PACKET_TRACK_EVENT);
	protobuf_varint(buf, EVENT_TYPE, TYPE_BEGIN);
	protobuf_varint(buf, EVENT_TRACK, TRACK(WAITS, lane->lane.id));
	protobuf_text(buf, EVENT_NAME, wait_class_word(s->wait));
	protobuf_varint(buf, EVENT_CALLSTACK_IID, stack);
	annotate(p, "length_ns", ANNOTATION_UINT, sample->length);
	annotate(p, "weight_ns", ANNOTATION_UINT, sample->weight);
	if (sample->address)
		annotate(p, "futex", ANNOTATION_POINTER, sample->address);
	if (*wait_ended_by(&p->timeline, sample->other, sample->flags, by))
		annotate_text(p, "ended by", by);
	perfetto_end_event(p, mark, packet);
}

void perfetto_write_wait(struct perfetto *p, struct timeline_lane *lane, const struct stretch *s,
			 const struct perfetto_wait *kept)
{
	struct perfetto_lane *own = &p->lanes[lane - p->timeline.lanes.items];
	uint64_t track = TRACK(WAITS, lane->lane.id);
	size_t packet, mark;

	if (!own->has_waits)
		begin_waits(p, lane);
	own->has_waits = true;
	if (kept) {
		begin_wait_with_stack(p, lane, s, kept);
	} else {
		perfetto_intern_wait(p, s->wait);
		mark = perfetto_begin_event(p, s->time, track, TYPE_BEGIN, &packet);
		protobuf_varint(&p->packets.buf, EVENT_NAME_IID, s->wait);
		perfetto_end_event(p, mark, packet);
	}
	mark = perfetto_begin_event(p, s->end, track, TYPE_END, &packet);
	perfetto_end_event(p, mark, packet);
}

static void begin_counter(struct perfetto *p, uint64_t track, const char *name)
{
	size_t packet, mark = perfetto_begin_track(p, track, name, &packet);

	protobuf_end(&p->packets.buf, protobuf_begin(&p->packets.buf, TRACK_COUNTER));
	perfetto_end_track(p, mark, packet);
}

static void perfetto_write_loss(struct perfetto *p, const struct loss *l)
{
	size_t packet, mark;
	char name[160], where[48] = "";

	if (l->cpu)
		snprintf(where, sizeof(where), " on CPU %" PRIu64, l->cpu - 1);
	snprintf(name, sizeof(name), "%s: %" PRIu64 " lost%s", loss_reason_word(l->reason),
		 l->count, where);
	mark = perfetto_begin_event(p, l->time, TRACK(LOSSES, 0), TYPE_INSTANT, &packet);
	protobuf_text(&p->packets.buf, EVENT_NAME, name);
	annotate(p, "records", ANNOTATION_UINT, l->count);
	annotate(p, "weight", ANNOTATION_UINT, l->weight);
	annotate(p, "duration_ns", ANNOTATION_UINT, l->end > l->time ? l->end - l->time : 0);
	perfetto_end_event(p, mark, packet);
}

static void perfetto_write_count(struct perfetto *p, uint64_t time, uint64_t lost)
{
	size_t packet, mark = perfetto_begin_event(p, time, TRACK(LOST, 0), TYPE_COUNTER, &packet);

	protobuf_varint(&p->packets.buf, EVENT_COUNTER_INT, lost);
	perfetto_end_event(p, mark, packet);
}

/*
 * Write each loss as an instant with its reason, count and CPU, and the number of records lost so
 * far as a counter.
 */
void perfetto_write_losses(struct perfetto *p)
{
	uint64_t lost = 0;
	size_t packet, mark;

	if (!p->timeline.losses.count)
		return;
	mark = perfetto_begin_track(p, TRACK(LOSSES, 0), "losses", &packet);
	perfetto_end_track(p, mark, packet);
	begin_counter(p, TRACK(LOST, 0), "lost records");
	perfetto_write_count(p, p->timeline.from, 0);
	for (size_t i = 0; i < p->timeline.losses.count; i++) {
		const struct loss *l = &p->timeline.losses.items[i];

		lost += l->count;
		perfetto_write_loss(p, l);
		perfetto_write_count(p, l->time, lost);
	}
}

struct concurrency_track {
	struct perfetto *p;
	uint64_t track;
};

static int perfetto_write_number(void *context, uint64_t time, double number)
{
	const struct concurrency_track *c = context;
	size_t packet, mark = perfetto_begin_event(c->p, time, c->track, TYPE_COUNTER, &packet);

	protobuf_double(&c->p->packets.buf, EVENT_COUNTER_REAL, number);
	perfetto_end_event(c->p, mark, packet);
	return c->p->error;
}

void perfetto_write_concurrency(struct perfetto *p)
{
	for (int i = 0; i < CONCURRENCY_COUNT && p->timeline.slices; i++) {
		struct concurrency_track c = {p, TRACK(CONCURRENCY, (uint64_t)i + 1)};

		if (!p->timeline.concurrencies[i].used)
			continue;
		begin_counter(p, c.track, concurrency_names[i]);
		perfetto_fail(p, concurrency_each(&p->timeline.concurrencies[i], p->timeline.end,
						  perfetto_write_number, &c));
	}
}
