// SPDX-License-Identifier: Apache-2.0
/* Export to Perfetto: the file, its packets, and the processes and threads of each machine. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "analyze/groups.h"
#include "base/text.h"
#include "export/export.h"
#include "export/perfetto.h"

#define FLUSH_BYTES (128 << 10) /* of the stream of general packets; a larger one is written */
#define DEFLATE_LEVEL 4

enum { TREE_PROCESS = 1, TREE_THREAD };
enum { TREE_PROCESS_PID = 1, TREE_PROCESS_PARENT, TREE_PROCESS_COMMAND };
enum { TREE_THREAD_TID = 1, TREE_THREAD_NAME, TREE_THREAD_PID };
enum { SYSTEM_UTSNAME = 1 };
enum { UTSNAME_SYSNAME = 1, UTSNAME_VERSION, UTSNAME_RELEASE, UTSNAME_MACHINE };
enum { SNAPSHOT_CLOCK = 1, SNAPSHOT_PRIMARY };
enum { CLOCK_ID = 1, CLOCK_STAMP };
enum { CLOCK_REALTIME_ID = 1, CLOCK_MONOTONIC_ID = 3, CLOCK_BOOTTIME_ID = 6 };

void perfetto_fail(struct perfetto *p, int rc)
{
	if (rc < 0 && !p->error)
		p->error = rc;
}

/* Write the packets of a buffer, compressed, as one packet. */
static void perfetto_write_deflated(struct perfetto *p, const struct protobuf *packets)
{
	uLongf size = compressBound(packets->size);
	unsigned char *data = malloc(size);
	size_t mark;

	if (!data || compress2(data, &size, packets->data, packets->size, DEFLATE_LEVEL) != Z_OK) {
		perfetto_fail(p, -ENOMEM);
	} else {
		protobuf_reset(&p->deflated);
		mark = protobuf_begin(&p->deflated, TRACE_PACKET);
		protobuf_bytes(&p->deflated, PACKET_COMPRESSED, data, size);
		protobuf_end(&p->deflated, mark);
		perfetto_fail(p, p->deflated.error);
		if (fwrite(p->deflated.data, 1, p->deflated.size, p->out) != p->deflated.size)
			perfetto_fail(p, errno ? -errno : -EIO);
	}
	free(data);
}

void perfetto_flush(struct perfetto *p, struct perfetto_stream *s)
{
	perfetto_fail(p, s->buf.error);
	if (s->buf.size && !p->error)
		perfetto_write_deflated(p, &s->buf);
	protobuf_reset(&s->buf);
}

size_t perfetto_begin_packet(struct perfetto *p, uint64_t time, unsigned int sequence)
{
	struct protobuf *buf = &p->packets.buf;
	size_t mark = protobuf_begin(buf, TRACE_PACKET);

	if (time)
		protobuf_varint(buf, PACKET_TIMESTAMP, time);
	protobuf_varint(buf, PACKET_SEQUENCE, sequence);
	return mark;
}

void perfetto_end_packet(struct perfetto *p, size_t mark)
{
	protobuf_end(&p->packets.buf, mark);
	if (p->packets.buf.size > FLUSH_BYTES)
		perfetto_flush(p, &p->packets);
}

void perfetto_text(struct perfetto *p, struct protobuf *buf, unsigned int field, const char *text)
{
	size_t size = 3 * strlen(text) + 1; /* cleaning may turn one byte into three */
	char small[256];
	char *clean = size <= sizeof(small) ? small : malloc(size);

	if (!clean) {
		perfetto_fail(p, -ENOMEM);
		return;
	}
	protobuf_text(buf, field, text_clean(text, clean, size));
	if (clean != small)
		free(clean);
}

/*
 * Return the kernel release, or a made-up one if it is missing: without a release the reader
 * interprets thread states as those of Linux 4.4.
 */
static const char *known_release(const char *kernel)
{
	size_t digits = strspn(kernel, "0123456789");

	return digits && kernel[digits] == '.' ? kernel : "5.0.0";
}

static void perfetto_write_system(struct perfetto *p, const struct host *h)
{
	struct protobuf *buf = &p->packets.buf;
	size_t packet = perfetto_begin_packet(p, 0, SEQUENCE_TRACKS);
	size_t system = protobuf_begin(buf, PACKET_SYSTEM_INFO);
	size_t utsname = protobuf_begin(buf, SYSTEM_UTSNAME);

	protobuf_text(buf, UTSNAME_SYSNAME, "Linux");
	perfetto_text(p, buf, UTSNAME_RELEASE, known_release(h->kernel));
	perfetto_text(p, buf, UTSNAME_MACHINE, h->arch);
	protobuf_end(buf, utsname);
	protobuf_end(buf, system);
	perfetto_end_packet(p, packet);
}

static void perfetto_write_clock(struct perfetto *p, unsigned int clock, uint64_t stamp)
{
	struct protobuf *buf = &p->packets.buf;
	size_t mark = protobuf_begin(buf, SNAPSHOT_CLOCK);

	protobuf_varint(buf, CLOCK_ID, clock);
	protobuf_varint(buf, CLOCK_STAMP, stamp);
	protobuf_end(buf, mark);
}

static void perfetto_write_clocks(struct perfetto *p, const struct host *h)
{
	struct protobuf *buf = &p->packets.buf;
	size_t packet = perfetto_begin_packet(p, h->start, SEQUENCE_TRACKS);
	size_t snapshot = protobuf_begin(buf, PACKET_CLOCK_SNAPSHOT);

	perfetto_write_clock(p, CLOCK_BOOTTIME_ID, h->start);
	perfetto_write_clock(p, CLOCK_MONOTONIC_ID, h->start + (uint64_t)h->monotonic_offset);
	perfetto_write_clock(p, CLOCK_REALTIME_ID, h->start + (uint64_t)h->realtime_offset);
	protobuf_varint(buf, SNAPSHOT_PRIMARY, CLOCK_BOOTTIME_ID);
	protobuf_end(buf, snapshot);
	perfetto_end_packet(p, packet);
}

/* Return time, or the start of the recording if that is later: nothing may begin before it. */
static uint64_t perfetto_clamp_to_start(const struct perfetto *p, uint64_t time)
{
	uint64_t start = p->timeline.profile->host.start;

	return time > start ? time : start;
}

/*
 * Find the programs that one process has run one after the other (exec), so that the process is
 * written once, under the name of the last program. The reader would take a second description for
 * a new process if the parent had died in between, and the first process would never end.
 */
static void join_programs(struct perfetto *p)
{
	const struct profile *profile = p->timeline.profile;
	struct index latest = {0}; /* pid -> index in the profile */

	for (uint32_t i = 0; i < profile->count.processes; i++) {
		uint64_t pid = timeline_pid(&p->timeline, i);
		uint32_t before = index_get(&latest, pid);

		p->processes[i].first = i;
		if (before != INDEX_NONE &&
		    profile->processes[before].p.end == profile->processes[i].p.start) {
			p->processes[i].first = p->processes[before].first;
			p->processes[before].goes_on = true;
		}
		perfetto_fail(p, index_put(&latest, pid, i));
	}
	index_free(&latest);
}

static void perfetto_write_process(struct perfetto *p, uint32_t index)
{
	const struct profile *profile = p->timeline.profile;
	const struct process *r = &profile->processes[index].p;
	const struct process *first = &profile->processes[p->processes[index].first].p;
	uint64_t pid = timeline_pid(&p->timeline, index);
	struct protobuf *buf = &p->packets.buf;
	size_t packet =
		perfetto_begin_packet(p, perfetto_clamp_to_start(p, first->start), SEQUENCE_TRACKS);
	size_t tree = protobuf_begin(buf, PACKET_PROCESS_TREE);
	size_t process = protobuf_begin(buf, TREE_PROCESS);

	protobuf_varint(buf, TREE_PROCESS_PID, pid & INT32_MAX);
	protobuf_varint(buf, TREE_PROCESS_PARENT,
			(first->parent ? first->parent + pid - r->pid : 0) & INT32_MAX);
	perfetto_text(p, buf, TREE_PROCESS_COMMAND, process_name(r));
	protobuf_end(buf, process);
	protobuf_end(buf, tree);
	perfetto_end_packet(p, packet);
}

static void perfetto_write_thread(struct perfetto *p, uint64_t time, uint64_t pid, uint64_t tid,
				  const char *name)
{
	struct protobuf *buf = &p->packets.buf;
	size_t packet = perfetto_begin_packet(p, time, SEQUENCE_TRACKS);
	size_t tree = protobuf_begin(buf, PACKET_PROCESS_TREE);
	size_t thread = protobuf_begin(buf, TREE_THREAD);

	protobuf_varint(buf, TREE_THREAD_TID, tid & INT32_MAX);
	perfetto_text(p, buf, TREE_THREAD_NAME, name);
	if (pid)
		protobuf_varint(buf, TREE_THREAD_PID, pid & INT32_MAX);
	protobuf_end(buf, thread);
	protobuf_end(buf, tree);
	perfetto_end_packet(p, packet);
}

static void perfetto_write_tree(struct perfetto *p)
{
	const struct profile *profile = p->timeline.profile;

	join_programs(p);
	for (uint32_t i = 0; i < profile->count.processes; i++)
		if (profile->processes[i].p.pid && !p->processes[i].goes_on)
			perfetto_write_process(p, i);
	for (uint32_t i = 0; i < profile->count.threads; i++) {
		struct timeline_identity identity = timeline_identity(&p->timeline, i);

		if (identity.tid)
			perfetto_write_thread(
				p, perfetto_clamp_to_start(p, profile->threads[i].t.start),
				identity.pid, identity.tid, identity.comm);
	}
	for (int i = 1; i < INTERRUPT_COUNT; i++) {
		char name[64];

		snprintf(name, sizeof(name), "interrupt: %s", interrupt_word(i));
		perfetto_write_thread(p, profile->host.start, 0, TID_INTERRUPT + i, name);
	}
}

static int perfetto_begin(struct timeline *t)
{
	struct perfetto *p = (struct perfetto *)t;
	size_t mark;

	p->lanes = calloc(t->lanes.count + 1, sizeof(*p->lanes));
	p->lane_count = p->lanes ? t->lanes.count : 0;
	p->events = calloc(t->profile->count.events + 1, sizeof(*p->events));
	p->processes = calloc(t->profile->count.processes + 1, sizeof(*p->processes));
	if (!p->lanes || !p->events || !p->processes)
		return -ENOMEM;
	mark = perfetto_begin_packet(p, 0, SEQUENCE_TRACKS);
	protobuf_varint(&p->packets.buf, PACKET_SEQUENCE_FLAGS, FLAG_SEQUENCE_BEGINS);
	perfetto_end_packet(p, mark);
	perfetto_write_system(p, &t->profile->host);
	perfetto_write_clocks(p, &t->profile->host);
	perfetto_write_tree(p);
	return p->error;
}

static int perfetto_finish(struct timeline *t)
{
	struct perfetto *p = (struct perfetto *)t;

	perfetto_waits_end(p);
	perfetto_sched_end(p);
	perfetto_write_spans(p);
	perfetto_write_losses(p);
	perfetto_write_concurrency(p);
	perfetto_flush(p, &p->packets);
	return p->error;
}

static void perfetto_free(struct timeline *t)
{
	struct perfetto *p = (struct perfetto *)t;

	for (size_t i = 0; i < p->lane_count; i++)
		protobuf_free(&p->lanes[i].events.buf);
	perfetto_stacks_free(p);
	free(p->lanes);
	free(p->processes);
	protobuf_free(&p->packets.buf);
	protobuf_free(&p->deflated);
	vector_free(&p->gaps);
	vector_free(&p->placeholders);
	vector_free(&p->path);
	vector_free(&p->waits);
}

static const struct timeline_ops perfetto_ops = {
	.what = "a Perfetto trace",
	.spans = true,
	.begin = perfetto_begin,
	.sample = perfetto_sample,
	.tile = perfetto_tile,
	.stretch = perfetto_stretch,
	.end = perfetto_finish,
	.free = perfetto_free,
};

int perfetto_sink(struct sink **out, FILE *file, const struct export_options *o, struct error *err)
{
	struct timeline *t;
	int ret = timeline_new(&t, sizeof(struct perfetto), &perfetto_ops, o, err);
	struct perfetto *p;

	if (ret < 0)
		return ret;
	p = (struct perfetto *)t;
	p->out = file;
	*out = &t->sink;
	return 0;
}
