// SPDX-License-Identifier: Apache-2.0
/* Opens the side-band events, one per CPU, and drains their rings. */
#include "capture/sideband.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/vector.h"
#include "capture/clock.h"
#include "capture/life.h"
#include "capture/needs.h"
#include "capture/pulse.h"

struct channel {
	int fd;
	int ring; /* number in the order, kept when the channel is reopened; -1: none yet */
	struct pulse pulse;
	struct perf_event_mmap_page *page;
};

struct sideband {
	VECTOR(struct channel) channels; /* by CPU; fd -1: the CPU has no channel */
	struct order *order;
	uint64_t bytes; /* bytes of a ring, without its first page */
	uint64_t lost, malformed;
	bool quiet;
	sideband_prefetcher prefetch;
	void *prefetch_context;
	/* buffer in which the parts of a record that wraps around are joined */
	char record[UINT16_MAX + 1];
};

int sideband_new(struct sideband **out, struct order *order, uint64_t bytes, struct error *err)
{
	struct sideband *s = calloc(1, sizeof(*s));

	if (!s)
		return error_errno(err, -ENOMEM, "side-band");
	s->order = order;
	s->bytes = bytes;
	*out = s;
	return 0;
}

static size_t mapping_bytes(const struct sideband *s)
{
	return s->bytes + (size_t)sysconf(_SC_PAGESIZE);
}

static void close_channel(struct sideband *s, struct channel *c)
{
	if (c->page)
		munmap(c->page, mapping_bytes(s));
	if (c->fd >= 0)
		close(c->fd);
	c->page = NULL;
	c->fd = -1;
}

void sideband_free(struct sideband *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->channels.count; i++)
		close_channel(s, &s->channels.items[i]);
	vector_free(&s->channels);
	free(s);
}

/*
 * Open the event of a CPU; return its descriptor, or -1 with errno. Mapping records identify files
 * by device and inode instead of build-id, since anybody who links a file chooses its build-id.
 */
static int open_sideband_event(const struct sideband *s, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = PULSE_FORMAT,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.ksymbol = 1,
		.use_clockid = 1,
		.clockid = CLOCK_BOOTTIME,
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(s->bytes / 4),
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int grow_to(struct sideband *s, unsigned int cpu)
{
	while (s->channels.count <= cpu) {
		struct channel none = {.fd = -1, .ring = -1};

		if (vector_push(&s->channels, none) < 0)
			return -ENOMEM;
	}
	return 0;
}

/*
 * Set an error for a ring that could not be mapped. -EPERM: other rings of this user have used up
 * the memory that may be locked without CAP_IPC_LOCK.
 */
static int explain_ring(int ret, unsigned int cpu, struct error *err)
{
	if (ret == -EPERM)
		return need_failed(err, ret, NEED_RING_MEMORY, "the side-band ring");
	return error_errno(err, ret, "side-band ring of CPU %u", cpu);
}

int sideband_open_cpu(struct sideband *s, unsigned int cpu, struct error *err)
{
	struct channel *c;
	void *page;
	int ret;

	if (grow_to(s, cpu) < 0)
		return error_errno(err, -ENOMEM, "side-band of CPU %u", cpu);
	c = &s->channels.items[cpu];
	if (c->fd >= 0)
		return 0;
	c->fd = open_sideband_event(s, cpu);
	if (c->fd < 0 && (errno == EPERM || errno == EACCES))
		return need_failed(err, -errno, NEED_COUNT,
				   "the kernel refused the side-band event");
	if (c->fd < 0)
		return error_errno(err, -errno, "side-band event of CPU %u", cpu);
	page = mmap(NULL, mapping_bytes(s), PROT_READ | PROT_WRITE, MAP_SHARED, c->fd, 0);
	if (page == MAP_FAILED) {
		ret = explain_ring(-errno, cpu, err);
		close_channel(s, c);
		return ret;
	}
	c->page = page;
	c->pulse = (struct pulse){0};
	/* Earlier records of this CPU may still be in the order, under the same ring number. */
	if (c->ring >= 0) {
		order_reopen_ring(s->order, c->ring);
		return 0;
	}
	ret = order_add_ring(s->order);
	if (ret < 0) {
		close_channel(s, c);
		return error_errno(err, ret, "side-band of CPU %u", cpu);
	}
	c->ring = ret;
	return 0;
}

int sideband_fd(const struct sideband *s, unsigned int cpu)
{
	return cpu < s->channels.count ? s->channels.items[cpu].fd : -1;
}

/* Return the record at tail, contiguous in memory. */
static const struct perf_event_header *record_at(struct sideband *s, const char *ring,
						 uint64_t tail)
{
	uint64_t offset = tail & (s->bytes - 1);
	const struct perf_event_header *h = (const void *)(ring + offset);
	uint64_t first = s->bytes - offset;

	if (h->size <= first)
		return h;
	memcpy(s->record, ring + offset, first);
	memcpy(s->record + first, ring, h->size - first);
	return (const void *)s->record;
}

void sideband_set_prefetcher(struct sideband *s, sideband_prefetcher f, void *context)
{
	s->prefetch = f;
	s->prefetch_context = context;
}

static int prefetch_mapping(const struct sideband *s, const struct perf_event_header *h,
			    uint64_t time)
{
	struct life_record life;

	if (life_decode(&life, h, h->size) < 0 || life.kind != LIFE_MMAP)
		return 0;
	return s->prefetch(s->prefetch_context, &life, time);
}

static int push_life_record(struct sideband *s, struct channel *c,
			    const struct perf_event_header *h, uint64_t now)
{
	uint64_t time;
	int ret = 0;

	/*
	 * A record with a time in the future would stay in the order until that time, and keep its
	 * ring's memory in use.
	 */
	if (life_time(&time, h) < 0 || (time > now && time > clock_boot_ns())) {
		s->malformed++;
		return 0;
	}
	if (h->type == PERF_RECORD_LOST &&
	    h->size >= sizeof(*h) + 16 + sizeof(struct life_trailer)) {
		uint64_t lost;

		memcpy(&lost, (const char *)(h + 1) + 8, sizeof(lost));
		s->lost += lost;
		return 0;
	}
	if (h->type == PERF_RECORD_MMAP2 && s->prefetch)
		ret = prefetch_mapping(s, h, time);
	return ret ? ret : order_push(s->order, c->ring, time, h, h->size);
}

static int drain_channel(struct sideband *s, struct channel *c, uint64_t now)
{
	const char *ring = (const char *)c->page + sysconf(_SC_PAGESIZE);
	uint64_t head = __atomic_load_n(&c->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = c->page->data_tail;
	int ret = 0;

	s->quiet &= tail == head;
	while (!ret && tail < head) {
		const struct perf_event_header *h = record_at(s, ring, tail);

		/* Malformed: a size of 0 would make this loop endless. */
		if (h->size < sizeof(*h)) {
			s->malformed++;
			tail = head;
			break;
		}
		ret = push_life_record(s, c, h, now);
		tail += h->size;
	}
	__atomic_store_n(&c->page->data_tail, tail, __ATOMIC_RELEASE);
	/* All records stamped before that time were visible when data_head was read. */
	order_set_passed(s->order, c->ring, now - ORDER_MARGIN);
	return ret;
}

int sideband_drain(struct sideband *s, uint64_t now)
{
	int ret = 0;

	s->quiet = true;
	for (size_t i = 0; !ret && i < s->channels.count; i++)
		if (s->channels.items[i].fd >= 0)
			ret = drain_channel(s, &s->channels.items[i], now);
	return ret;
}

bool sideband_is_quiet(const struct sideband *s)
{
	return s->quiet;
}

bool sideband_stopped(struct sideband *s, unsigned int cpu, bool ticked, uint64_t now)
{
	struct channel *c;

	if (cpu >= s->channels.count || s->channels.items[cpu].fd < 0)
		return false;
	c = &s->channels.items[cpu];
	return pulse_stopped(&c->pulse, c->fd, ticked, now);
}

void sideband_close_cpu(struct sideband *s, unsigned int cpu)
{
	struct channel *c;

	if (cpu >= s->channels.count || s->channels.items[cpu].fd < 0)
		return;
	c = &s->channels.items[cpu];
	drain_channel(s, c, clock_boot_ns());
	order_drop_ring(s->order, c->ring);
	close_channel(s, c);
}

void sideband_take_losses(struct sideband *s, uint64_t *out_lost, uint64_t *out_malformed)
{
	*out_lost = s->lost;
	*out_malformed = s->malformed;
	s->lost = s->malformed = 0;
}
