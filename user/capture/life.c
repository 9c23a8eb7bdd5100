// SPDX-License-Identifier: Apache-2.0
/* Decodes side-band records. Layouts: perf_event_open(2). */
#include "capture/life.h"

#include <errno.h>
#include <string.h>

/* The beginning of a PERF_RECORD_KSYMBOL; the name follows. */
struct ksymbol {
	uint64_t address;
	uint32_t length;
	uint16_t type, flags;
};

int life_time(uint64_t *out, const struct perf_event_header *h)
{
	size_t at = h->size - sizeof(struct life_trailer),
	       name = sizeof(*h) + sizeof(struct ksymbol);
	struct life_trailer t;

	if (h->size < sizeof(*h) + sizeof(t))
		return -EBADMSG;
	if (h->type == PERF_RECORD_KSYMBOL && name < at) {
		/* The name ends with a NUL, and is padded to a multiple of 8 bytes with NULs. */
		size_t end = name + (strnlen((const char *)h + name, at - name) / 8 + 1) * 8;

		at = end < at ? end : at;
	}
	memcpy(&t, (const char *)h + at, sizeof(t));
	*out = t.time;
	return 0;
}

/* Get the text at offset of the record. Return 0, or -EBADMSG if no NUL ends it in the record. */
static int record_text(const struct perf_event_header *h, size_t offset, const char **out)
{
	size_t end = h->size - sizeof(struct life_trailer);

	if (offset >= end || !memchr((const char *)h + offset, 0, end - offset))
		return -EBADMSG;
	*out = (const char *)h + offset;
	return 0;
}

static int decode_mmap2(struct life_record *l, const struct perf_event_header *h)
{
	struct {
		uint32_t pid, tid;
		uint64_t address, length, offset;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t protection, flags;
	} m;

	if (h->size < sizeof(*h) + sizeof(m) + sizeof(struct life_trailer))
		return -EBADMSG;
	memcpy(&m, h + 1, sizeof(m));
	if (m.address + m.length < m.address)
		return -EBADMSG;
	*l = (struct life_record){
		.kind = LIFE_MMAP,
		.pid = m.pid,
		.tid = m.tid,
		.start = m.address,
		.end = m.address + m.length,
		.offset = m.offset,
		.file = {m.major, m.minor, m.inode, m.generation},
	};
	return record_text(h, sizeof(*h) + sizeof(m), &l->text);
}

static int decode_comm(struct life_record *l, const struct perf_event_header *h)
{
	uint32_t ids[2];

	if (h->size < sizeof(*h) + sizeof(ids) + sizeof(struct life_trailer))
		return -EBADMSG;
	memcpy(ids, h + 1, sizeof(ids));
	*l = (struct life_record){
		.kind = LIFE_COMM,
		.pid = ids[0],
		.tid = ids[1],
		.exec = !!(h->misc & PERF_RECORD_MISC_COMM_EXEC),
	};
	return record_text(h, sizeof(*h) + sizeof(ids), &l->text);
}

static int decode_task(struct life_record *l, const struct perf_event_header *h)
{
	uint32_t ids[4]; /* pid, ppid, tid, ptid */

	if (h->size < sizeof(*h) + sizeof(ids) + sizeof(struct life_trailer))
		return -EBADMSG;
	memcpy(ids, h + 1, sizeof(ids));
	*l = (struct life_record){
		.kind = h->type == PERF_RECORD_FORK ? LIFE_FORK : LIFE_EXIT,
		.pid = ids[0],
		.parent_pid = ids[1],
		.tid = ids[2],
		.parent_tid = ids[3],
	};
	return 0;
}

static int decode_ksymbol(struct life_record *l, const struct perf_event_header *h)
{
	struct ksymbol k;

	if (h->size < sizeof(*h) + sizeof(k) + sizeof(struct life_trailer))
		return -EBADMSG;
	memcpy(&k, h + 1, sizeof(k));
	*l = (struct life_record){
		.kind = LIFE_KSYMBOL,
		.start = k.address,
		.end = k.address + k.length,
		.unregistered = !!(k.flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER),
	};
	return record_text(h, sizeof(*h) + sizeof(k), &l->text);
}

int life_decode(struct life_record *out, const void *data, uint32_t size)
{
	const struct perf_event_header *h = data;

	if (size < sizeof(*h) + sizeof(struct life_trailer) || h->size != size)
		return -EBADMSG;
	switch (h->type) {
	case PERF_RECORD_MMAP2:
		return decode_mmap2(out, h);
	case PERF_RECORD_COMM:
		return decode_comm(out, h);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return decode_task(out, h);
	case PERF_RECORD_KSYMBOL:
		return decode_ksymbol(out, h);
	default:
		*out = (struct life_record){.kind = LIFE_OTHER};
		return 0;
	}
}
