// SPDX-License-Identifier: Apache-2.0
/* Configures, loads and attaches the scheduler hooks, and reads their arrays. */
#include "capture/switches.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"
#include "bpf/sched.skel.h"
#include "bpf/wait.h"
#include "capture/buffers.h"
#include "capture/clock.h"
#include "capture/needs.h"

/*
 * Bytes of the ring by which a CPU interrupts itself. Each request takes 16 bytes until user space
 * has passed it, which it does every 100 ms: room for 160,000 requests a second, more than there
 * can be, since each takes some 10 us. A quarter of that was too little for --all-stacks.
 */
#define INTERRUPT_RING 262144
#define SLOTS_MIN 64
/* maximum number of records of one CPU; those of all CPUs have indices of 32 bits */
#define SLOTS_MAX (1UL << 26)

struct switches {
	struct sched_bpf *skeleton;
	unsigned int cpus; /* possible CPUs */
	uint64_t slots; /* number of records in each CPU's array */
	struct wire_switch *records; /* mapped from the kernel */
	struct wire_cpu *states; /* mapped from the kernel */
	struct wire_runtimes *runtimes; /* mapped from the kernel */
	uint64_t *taken; /* by CPU: number of records copied or overwritten so far */
	struct program_waits waits;
	/* with WAIT_HOOK_INTERRUPT: the rings through which CPUs interrupt themselves, by CPU */
	VECTOR(struct ring_buffer *) interrupts;
};

static uint64_t slots_per_cpu(uint64_t bytes, unsigned int cpus)
{
	uint64_t wanted = bytes ? bytes : buffers_switches_bytes(cpus), slots = SLOTS_MIN;

	wanted /= sizeof(struct wire_switch);
	while (slots < wanted && slots < SLOTS_MAX && 2 * slots * cpus <= UINT32_MAX)
		slots *= 2;
	return slots;
}

/*
 * Return how many parameters a tracepoint has, without the first (context), which all tracepoints
 * have; -1 if the kernel does not have the tracepoint.
 */
static int tracepoint_parameters(const struct btf *btf, const char *name)
{
	const struct btf_type *t;
	char type[128];
	int id;

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	id = btf__find_by_name_kind(btf, type, BTF_KIND_TYPEDEF);
	if (id <= 0)
		return -1;
	t = btf__type_by_id(btf, btf__type_by_id(btf, (__u32)id)->type);
	t = btf_is_ptr(t) ? btf__type_by_id(btf, t->type) : NULL;
	return t && btf_is_func_proto(t) ? btf_vlen(t) - 1 : -1;
}

bool switches_pass_state(const struct btf *btf)
{
	return tracepoint_parameters(btf, "sched_switch") >= 4;
}

/*
 * Disable the hooks whose tracepoints this kernel does not have; less is then known of the threads.
 */
static void choose_hooks(struct sched_bpf *s, const struct btf *btf)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, s->obj)
	{
		const char *section = bpf_program__section_name(p);
		const char *name = strchr(section, '/');
		bool hook = strstr(section, "tp_btf/") != NULL;

		bpf_program__set_autoload(p, !hook || tracepoint_parameters(btf, name + 1) >= 0);
	}
	s->rodata->switch_passes_state = switches_pass_state(btf);
}

static int share_maps(struct sched_bpf *k, const struct switches *s, const struct program *program)
{
	int ret = bpf_map__reuse_fd(k->maps.selected_pids, program_selected_fd(program, false));

	if (!ret)
		ret = bpf_map__reuse_fd(k->maps.selected_tids, program_selected_fd(program, true));
	if (!ret && s->waits.hook)
		ret = bpf_map__reuse_fd(k->maps.switch_cpus, program_switch_cpus_fd(program));
	return ret;
}

/* Size the maps for stacks of waits. */
static int configure_waits(struct switches *s)
{
	struct sched_bpf *k = s->skeleton;
	bool interrupts = s->waits.hook == WAIT_HOOK_INTERRUPT;
	int ret = 0;

	k->rodata->with_waits = s->waits.hook != WAIT_HOOK_NONE;
	k->rodata->with_wakers = !s->waits.on_demand;
	k->rodata->with_interrupts = interrupts;
	bpf_map__set_autocreate(k->maps.wait_slots, s->waits.hook != WAIT_HOOK_NONE);
	if (interrupts)
		ret = bpf_map__set_max_entries(k->maps.interrupt_rings, s->cpus);
	return ret;
}

static int configure_switches(struct switches *s, const struct program *program, struct error *err)
{
	struct sched_bpf *k = s->skeleton;
	struct btf *btf = btf__load_vmlinux_btf();
	int ret;

	if (!btf)
		return need_failed(err, -errno, NEED_BTF, "reading the kernel's types");
	choose_hooks(k, btf);
	btf__free(btf);
	k->rodata->slots = (uint32_t)s->slots;
	memcpy((void *)&k->rodata->wanted, program_selection(program),
	       sizeof(struct wire_selection));
	ret = bpf_map__set_max_entries(k->maps.switches, (uint32_t)(s->cpus * s->slots));
	if (!ret)
		ret = bpf_map__set_max_entries(k->maps.switch_cpus, s->cpus);
	if (!ret)
		ret = configure_waits(s);
	if (!ret)
		ret = share_maps(k, s, program);
	return ret ? error_errno(err, ret, "the scheduler's programs") : 0;
}

/* The records of these rings are all discarded. */
static int on_interrupt_record(void *context, void *data, size_t size)
{
	(void)context, (void)data, (void)size;
	return 0;
}

static int add_interrupt_ring(struct switches *s, uint32_t cpu)
{
	int outer = bpf_map__fd(s->skeleton->maps.interrupt_rings), ret = 0;
	int fd =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "skein_interrupt", 0, 0, INTERRUPT_RING, NULL);
	struct ring_buffer *ring = NULL;

	if (fd < 0)
		return -errno;
	if (bpf_map_update_elem(outer, &cpu, &fd, 0))
		ret = -errno;
	if (!ret)
		ring = ring_buffer__new(fd, on_interrupt_record, s, NULL);
	if (!ret && !ring)
		ret = -errno;
	close(fd); /* the outer map and the mapping keep the ring */
	if (!ret && vector_push(&s->interrupts, ring) < 0) {
		ring_buffer__free(ring);
		ret = -ENOMEM;
	}
	return ret;
}

/* Prepare what the loaded programs need to choose waits, before they are attached. */
static int begin_choosing_waits(struct switches *s, const struct program *program)
{
	uint32_t zero = 0;
	int waker = s->waits.on_demand ? -1 : program_waker_fd(program), ret = 0;

	for (unsigned int cpu = 0; cpu < s->cpus; cpu++)
		s->states[cpu].waits.random = 0x9e3779b97f4a7c15ULL * (cpu + 1) ^ clock_boot_ns();
	if (waker >= 0 &&
	    bpf_map_update_elem(bpf_map__fd(s->skeleton->maps.waker_program), &zero, &waker, 0))
		return -errno;
	for (uint32_t i = 0; !ret && s->waits.hook == WAIT_HOOK_INTERRUPT && i < s->cpus; i++)
		ret = add_interrupt_ring(s, i);
	return ret;
}

uint64_t switches_time_spent(const struct switches *s)
{
	uint64_t spent = 0;

	for (unsigned int cpu = 0; cpu < s->cpus; cpu++)
		spent += s->states[cpu].spent + s->states[cpu].waits.spent;
	return spent;
}

uint64_t switches_bytes(const struct switches *s)
{
	return s->cpus * s->slots * sizeof(struct wire_switch);
}

static int load_switches(struct switches *s, const struct program *program, struct error *err)
{
	int ret;

	s->skeleton = sched_bpf__open();
	s->taken = calloc(s->cpus, sizeof(*s->taken));
	if (!s->skeleton || !s->taken)
		return error_errno(err, -ENOMEM, "the scheduler's programs");
	ret = configure_switches(s, program, err);
	if (ret)
		return ret;
	ret = sched_bpf__load(s->skeleton);
	if (ret)
		return need_failed(err, ret, NEED_COUNT,
				   "the kernel refused the scheduler's programs");
	ret = program_map_array(bpf_map__fd(s->skeleton->maps.switches), switches_bytes(s),
				&s->records);
	if (!ret)
		ret = program_map_array(bpf_map__fd(s->skeleton->maps.switch_cpus),
					s->cpus * sizeof(*s->states), &s->states);
	if (!ret)
		ret = program_map_array(bpf_map__fd(s->skeleton->maps.runtimes),
					sizeof(*s->runtimes), &s->runtimes);
	if (!ret && s->waits.hook)
		ret = begin_choosing_waits(s, program);
	return ret ? error_errno(err, ret, "memory shared with the kernel") : 0;
}

int switches_load(struct switches **out, const struct program *program, uint64_t bytes,
		  struct program_waits waits, struct error *err)
{
	struct switches *s = calloc(1, sizeof(*s));
	int ret;

	if (!s)
		return error_errno(err, -ENOMEM, "the scheduler's programs");
	s->cpus = program_cpus(program);
	s->waits = waits;
	s->slots = slots_per_cpu(bytes, s->cpus);
	ret = load_switches(s, program, err);
	if (ret)
		switches_free(s);
	else
		*out = s;
	return ret;
}

void switches_free(struct switches *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->interrupts.count; i++)
		ring_buffer__free(s->interrupts.items[i]);
	vector_free(&s->interrupts);
	program_unmap_array(s->records, switches_bytes(s));
	program_unmap_array(s->runtimes, sizeof(*s->runtimes));
	program_unmap_array(s->states, s->cpus * sizeof(*s->states));
	sched_bpf__destroy(s->skeleton);
	free(s->taken);
	free(s);
}

int switches_attach(struct switches *s, struct error *err)
{
	struct bpf_program *p;

	/* Do not attach the program snapshot, which is opened on demand. */
	bpf_object__for_each_program(p, s->skeleton->obj) if (p != s->skeleton->progs.snapshot)
		bpf_program__set_autoattach(p, bpf_program__autoload(p));
	bpf_program__set_autoattach(s->skeleton->progs.snapshot, false);
	if (sched_bpf__attach(s->skeleton))
		return error_errno(err, -errno, "attaching to the scheduler's tracepoints");
	return 0;
}

void switches_detach(struct switches *s)
{
	sched_bpf__detach(s->skeleton);
}

unsigned int switches_cpus(const struct switches *s)
{
	return s->cpus;
}

void switches_set_wanted(struct switches *s, unsigned int cpu, bool wanted)
{
	__atomic_store_n(&s->states[cpu].wanted, wanted, __ATOMIC_RELAXED);
}

const struct wire_cpu *switches_cpu(const struct switches *s, unsigned int cpu)
{
	return &s->states[cpu];
}

int switches_forget_waits(struct switches *s, struct error *err)
{
	const struct bpf_map *map = s->skeleton->maps.wait_slots;
	uint32_t zero = 0;
	void *none;
	int ret = 0;

	if (s->waits.hook == WAIT_HOOK_NONE)
		return 0;
	none = calloc(1, bpf_map__value_size(map));
	if (!none || bpf_map_update_elem(bpf_map__fd(map), &zero, none, BPF_ANY) < 0)
		ret = error_errno(err, none ? -errno : -ENOMEM, "waits of threads");
	free(none);
	return ret;
}

void switches_set_wait_period(struct switches *s, uint64_t word)
{
	__atomic_store_n(&s->skeleton->bss->wait_period, word, __ATOMIC_RELAXED);
}

struct wire_runtimes *switches_runtimes(const struct switches *s)
{
	return s->runtimes;
}

void switches_use_runtimes(struct switches *s, bool use)
{
	__atomic_store_n(&s->skeleton->bss->with_runtimes, use, __ATOMIC_RELAXED);
}

static uint64_t records_written(const struct switches *s, unsigned int cpu)
{
	return __atomic_load_n(&s->states[cpu].written, __ATOMIC_ACQUIRE);
}

/*
 * Return the number of the oldest complete record in an array with head records written: the record
 * that is being written may already overwrite the record that is s->slots before it.
 */
static uint64_t oldest_complete(const struct switches *s, uint64_t head)
{
	return head < s->slots ? 0 : head - s->slots + 1;
}

void switches_take(struct switches *s, unsigned int cpu, size_t most, struct switch_batch *out)
{
	const struct wire_switch *array = s->records + cpu * s->slots;
	uint64_t head = records_written(s, cpu), from = s->taken[cpu], count, whole;

	if (cpu < s->interrupts.count)
		ring_buffer__consume(s->interrupts.items[cpu]);
	out->lost = 0;
	if (from < oldest_complete(s, head)) {
		out->lost = oldest_complete(s, head) - from;
		from += out->lost;
	}
	count = head - from < most ? head - from : most;
	for (uint64_t i = 0; i < count; i++)
		out->records[i] = array[(from + i) & (s->slots - 1)];
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* Drop the records that the BPF programs may have overwritten during the copy. */
	whole = oldest_complete(s, records_written(s, cpu));
	if (whole > from) {
		uint64_t gone = whole - from < count ? whole - from : count;

		memmove(out->records, out->records + gone, (count - gone) * sizeof(*array));
		out->lost += gone;
		from += gone;
		count -= gone;
	}
	s->taken[cpu] = from + count;
	out->more = head > from + count;
	out->count = count;
}

static int read_tasks(int fd, int (*each)(void *context, const struct wire_task *t), void *context)
{
	struct wire_task tasks[64];
	size_t held = 0;
	ssize_t n;
	int ret = 0;

	while (!ret && (n = read(fd, (char *)tasks + held, sizeof(tasks) - held)) != 0) {
		size_t count;

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return -errno;
		held += (size_t)n;
		count = held / sizeof(tasks[0]);
		for (size_t i = 0; !ret && i < count; i++)
			ret = each(context, &tasks[i]);
		held %= sizeof(tasks[0]);
		memmove(tasks, tasks + count, held);
	}
	return ret;
}

int switches_snapshot(struct switches *s, int (*each)(void *context, const struct wire_task *t),
		      void *context)
{
	struct bpf_link *link = bpf_program__attach_iter(s->skeleton->progs.snapshot, NULL);
	int fd, ret;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	ret = fd < 0 ? -errno : read_tasks(fd, each, context);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return ret;
}
