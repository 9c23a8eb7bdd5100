// SPDX-License-Identifier: Apache-2.0
/* Loads the programs of handler.bpf.c, and reads their sums and rings. */
#include "capture/handlers.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "bpf/handler.skel.h"
#include "capture/buffers.h"
#include "capture/clock.h"
#include "capture/needs.h"

/* Number of records after which the batch of one ring ends and the next ring has its turn. */
#define HANDLED_BATCH 32768

struct handled_ring {
	struct handlers *of;
	struct ring_buffer *buffer;
	int number; /* in the order */
	uint64_t last; /* time of the last record, ns */
	unsigned int taken; /* in this batch */
	int error;
};

struct handlers {
	struct handler_bpf *skeleton;
	struct order *order;
	unsigned int cpus; /* possible CPUs */
	struct wire_handlers *states; /* mapped from the kernel */
	struct wire_handler_name *names; /* mapped from the kernel */
	VECTOR(struct handled_ring *) rings;
	uint64_t ring_bytes; /* of each */
	bool more;
};

static int on_handled(void *context, void *data, size_t size)
{
	struct handled_ring *r = context;
	const struct wire_handled *record = data;

	if (size < sizeof(*record))
		return 0;
	r->error = order_push(r->of->order, r->number, record->end, data, sizeof(*record));
	r->last = record->end;
	r->taken++;
	return r->error || r->taken >= HANDLED_BATCH ? -ECANCELED : 0;
}

static int add_handled_ring(struct handlers *h, uint32_t index)
{
	int outer = bpf_map__fd(h->skeleton->maps.handled_rings), fd, ret = 0;
	struct handled_ring *r = calloc(1, sizeof(*r));

	if (!r || vector_push(&h->rings, r) < 0) {
		free(r);
		return -ENOMEM;
	}
	r->of = h;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "skein_handled", 0, 0, (__u32)h->ring_bytes,
			    NULL);
	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(outer, &index, &fd, 0))
		ret = -errno;
	if (!ret) {
		r->buffer = ring_buffer__new(fd, on_handled, r, NULL);
		ret = r->buffer ? 0 : -errno;
	}
	close(fd); /* the outer map and the mapping keep the ring */
	r->number = ret ? -1 : order_add_ring(h->order);
	return ret ? ret : r->number < 0 ? r->number : 0;
}

/* Disable the hooks whose tracepoints this kernel does not have. */
static int choose_handler_hooks(struct handlers *h)
{
	struct btf *btf = btf__load_vmlinux_btf();
	struct bpf_program *p;

	if (!btf)
		return -errno;
	bpf_object__for_each_program(p, h->skeleton->obj)
	{
		char type[128];

		snprintf(type, sizeof(type), "btf_trace_%s",
			 strchr(bpf_program__section_name(p), '/') + 1);
		bpf_program__set_autoload(p,
					  btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF) > 0);
	}
	btf__free(btf);
	return 0;
}

static int configure_handlers(struct handlers *h, uint64_t least)
{
	struct handler_bpf *k = h->skeleton;
	unsigned int per_ring = buffers_cpus_per_ring(h->cpus);
	int ret = choose_handler_hooks(h);

	k->rodata->handled_least = least;
	k->rodata->handler_cpus_per_ring = per_ring;
	if (!ret)
		ret = bpf_map__set_max_entries(k->maps.handlers, h->cpus);
	return ret ? ret
		   : bpf_map__set_max_entries(k->maps.handled_rings,
					      (h->cpus + per_ring - 1) / per_ring);
}

static int map_handlers(struct handlers *h)
{
	int ret = program_map_array(bpf_map__fd(h->skeleton->maps.handlers),
				    h->cpus * sizeof(*h->states), &h->states);

	return ret ? ret
		   : program_map_array(bpf_map__fd(h->skeleton->maps.handler_names),
				       WIRE_HANDLERS * sizeof(*h->names), &h->names);
}

static int load_handlers(struct handlers *h, uint64_t least, struct error *err)
{
	int ret;

	program_quiet_library();
	h->skeleton = handler_bpf__open();
	ret = h->skeleton ? configure_handlers(h, least) : -ENOMEM;
	if (ret)
		return error_errno(err, ret, "the programs of interrupts");
	ret = handler_bpf__load(h->skeleton);
	if (ret)
		return need_failed(err, ret, NEED_COUNT,
				   "the kernel refused the programs of interrupts");
	ret = map_handlers(h);
	for (uint32_t i = 0; !ret && i < bpf_map__max_entries(h->skeleton->maps.handled_rings); i++)
		ret = add_handled_ring(h, i);
	return ret ? error_errno(err, ret, "memory for records of interrupts") : 0;
}

int handlers_load(struct handlers **out, struct order *order, unsigned int cpus, uint64_t least,
		  struct error *err)
{
	struct handlers *h = calloc(1, sizeof(*h));
	int ret;

	if (!h)
		return error_errno(err, -ENOMEM, "the programs of interrupts");
	h->order = order;
	h->cpus = cpus;
	h->ring_bytes = buffers_handled_bytes(cpus);
	ret = load_handlers(h, least, err);
	if (ret)
		handlers_free(h);
	else
		*out = h;
	return ret;
}

void handlers_free(struct handlers *h)
{
	if (!h)
		return;
	for (size_t i = 0; i < h->rings.count; i++) {
		ring_buffer__free(h->rings.items[i]->buffer);
		free(h->rings.items[i]);
	}
	vector_free(&h->rings);
	program_unmap_array(h->states, h->cpus * sizeof(*h->states));
	program_unmap_array(h->names, WIRE_HANDLERS * sizeof(*h->names));
	handler_bpf__destroy(h->skeleton);
	free(h);
}

int handlers_attach(struct handlers *h, struct error *err)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, h->skeleton->obj)
		bpf_program__set_autoattach(p, bpf_program__autoload(p));
	return handler_bpf__attach(h->skeleton)
		       ? error_errno(err, -errno, "attaching to the tracepoints of interrupts")
		       : 0;
}

void handlers_set_wanted(struct handlers *h, unsigned int cpu, bool wanted)
{
	__atomic_store_n(&h->states[cpu].wanted, wanted, __ATOMIC_RELAXED);
}

int handlers_drain(struct handlers *h, uint64_t now)
{
	h->more = false;
	for (size_t i = 0; i < h->rings.count; i++) {
		struct handled_ring *r = h->rings.items[i];
		bool full;

		r->taken = 0;
		ring_buffer__consume(r->buffer);
		if (r->error)
			return r->error;
		full = r->taken >= HANDLED_BATCH;
		h->more |= full;
		order_set_passed(h->order, r->number, (full ? r->last : now) - ORDER_MARGIN);
	}
	return 0;
}

bool handlers_has_more(const struct handlers *h)
{
	return h->more;
}

bool handlers_owns_ring(const struct handlers *h, int ring)
{
	for (size_t i = 0; i < h->rings.count; i++)
		if (h->rings.items[i]->number == ring)
			return true;
	return false;
}

uint64_t handlers_ring_bytes(const struct handlers *h)
{
	return 2 * h->ring_bytes * h->rings.count;
}

uint64_t handlers_time_spent(const struct handlers *h)
{
	uint64_t spent = 0;

	for (unsigned int i = 0; i < h->cpus; i++)
		spent += __atomic_load_n(&h->states[i].spent, __ATOMIC_RELAXED);
	return spent;
}

const struct wire_handlers *handlers_cpu(const struct handlers *h, unsigned int cpu)
{
	return &h->states[cpu];
}

uint64_t handlers_take_longest(struct handlers *h, unsigned int cpu, uint32_t slot)
{
	/* A run that ends in this moment is in the next call, or was not longer than this one. */
	return __atomic_exchange_n(&h->states[cpu].slots[slot].longest, 0, __ATOMIC_RELAXED);
}

bool handlers_uses_slot(const struct handlers *h, uint32_t slot)
{
	return slot < WIRE_DEVICES || slot == WIRE_HANDLERS - 1 || h->names[slot].text[0];
}

/* Words of enum softirq and enum wire_vector, as close to /proc as they can be. */
static const char *const softirq_words[WIRE_VECTORS] = {
	"hi",	    "timer",   "net_tx", "net_rx",  "block",
	"irq_poll", "tasklet", "sched",	 "hrtimer", "rcu",
};

static const char *const vector_words[WIRE_DEVICES - WIRE_VECTORS] = {
	[WIRE_LOCAL_TIMER] = "local timer",
	[WIRE_RESCHEDULE] = "reschedule",
	[WIRE_CALL_FUNCTION] = "call function",
	[WIRE_CALL_FUNCTION_SINGLE] = "call function single",
	[WIRE_IRQ_WORK] = "irq work",
	[WIRE_IPI] = "from another CPU",
};

char *handlers_name(const struct handlers *h, uint32_t slot, char buf[static HANDLERS_NAME])
{
	const char *word = slot < WIRE_VECTORS	 ? softirq_words[slot]
			   : slot < WIRE_DEVICES ? vector_words[slot - WIRE_VECTORS]
						 : NULL;

	if (slot < WIRE_VECTORS)
		snprintf(buf, HANDLERS_NAME, "softirq %s", word ? word : "?");
	else if (slot < WIRE_DEVICES)
		snprintf(buf, HANDLERS_NAME, "%s", word ? word : "?");
	else if (slot >= WIRE_HANDLERS - 1)
		snprintf(buf, HANDLERS_NAME, "irq %d and above", WIRE_HANDLERS - 1 - WIRE_DEVICES);
	else
		snprintf(buf, HANDLERS_NAME, "irq %u %.*s", slot - WIRE_DEVICES,
			 WIRE_HANDLER_NAME - 1, h->names[slot].text);
	return buf;
}
