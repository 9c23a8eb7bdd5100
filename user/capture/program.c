// SPDX-License-Identifier: Apache-2.0
/* Configures, loads and attaches the BPF programs, and drains their rings. */
#include "capture/program.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/record.h"
#include "bpf/unwind/state.h"
#include "capture/buffers.h"
#include "capture/clock.h"
#include "capture/needs.h"
#include "capture/program_private.h"
#include "capture/steal.h"

#define SLOTS_BYTES (UNWIND_SLOTS_MAX * sizeof(struct unwind_slot))
#define RULES_BYTES (UNWIND_RULES_MAX * sizeof(struct unwind_rule))
/*
 * Number of records and of bytes after which the batch of one ring ends and the next ring has its
 * turn.
 */
#define RING_BATCH 8192
#define RING_BATCH_BYTES (4U << 20)

#define SAME_END(N) _Static_assert((int)END_##N == (int)WALK_END_##N, "one list in two places")
SAME_END(WALKED);
SAME_END(DEPTH);
SAME_END(NO_MEMORY_MAP);
SAME_END(UNREADABLE);
SAME_END(UNMAPPED);
SAME_END(NO_TABLE);
SAME_END(EVICTED);
SAME_END(BAD_ROW);
SAME_END(GENERATED);
SAME_END(COPY_END);
SAME_END(PYTHON);
SAME_END(CODE_32_BIT);
SAME_END(NO_TIME);

/*
 * Upper bound (ns) of the time from the mapping of a new program to the record of its exec. No
 * interpreter starts and executes another program in this time.
 */
#define EXEC_TAKES (2 * NSEC_PER_MSEC)

/*
 * Print callback of libbpf, which prints to stderr by default: print warnings, and only if
 * requested. Among them are the verifier's messages about a failure.
 */
static int keep_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN && getenv("SKEIN_DEBUG_BPF") ? vfprintf(stderr, format, args)
								 : 0;
}

void program_quiet_library(void)
{
	libbpf_set_print(keep_quiet);
}

static size_t page_size(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t round_up_to_pages(size_t bytes)
{
	return (bytes + page_size() - 1) / page_size() * page_size();
}

int program_map_array(int fd, size_t bytes, void *out)
{
	void *memory =
		mmap(NULL, round_up_to_pages(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	memcpy(out, &memory, sizeof(memory));
	return 0;
}

void program_unmap_array(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, round_up_to_pages(bytes));
}

/*
 * Return the kernel's number of a v1 controller; -1 if controller is NULL, for the unified
 * hierarchy; less than -1 for an error.
 */
static int subsys_number(const struct btf *btf, const char *controller, struct error *err)
{
	char wanted[64];
	int id;

	if (!controller)
		return -1;
	snprintf(wanted, sizeof(wanted), "%s_cgrp_id", controller);
	id = btf__find_by_name_kind(btf, "cgroup_subsys_id", BTF_KIND_ENUM);
	if (id > 0) {
		const struct btf_type *t = btf__type_by_id(btf, (__u32)id);
		const struct btf_enum *e = btf_enum(t);

		for (int i = 0; i < btf_vlen(t); i++)
			if (!strcmp(btf__name_by_offset(btf, e[i].name_off), wanted))
				return e[i].val;
	}
	return error_set(err, -ENOENT, "this kernel has no cgroup controller '%s'", controller);
}

int program_cgroup_subsystem(int *out, const char *controller, struct error *err)
{
	struct btf *btf = controller ? btf__load_vmlinux_btf() : NULL;
	int number;

	if (controller && !btf)
		return need_failed(err, -errno, NEED_BTF, "reading the kernel's types");
	number = subsys_number(btf, controller, err);
	btf__free(btf);
	if (number < -1)
		return number;
	*out = number;
	return 0;
}

/*
 * Translate the options of the selection; names of cgroup controllers become the kernel's numbers.
 */
static int choose_selection(struct wire_selection *out, const struct program_options *o,
			    struct error *err)
{
	struct btf *btf = NULL;
	int ret = 0;

	*out = (struct wire_selection){
		.cgroup = o->selected_cgroup,
		.level = o->selected_level,
		.cgroup_subsys = -1,
		.shown_subsys = -1,
		.conditions = (o->select_pids ? WIRE_IF_PID : 0U) |
			      (o->select_tids ? WIRE_IF_TID : 0U) |
			      (o->select_cgroup ? WIRE_IF_CGROUP : 0U) |
			      (o->select_namespace ? WIRE_IF_NAMESPACE : 0U),
		.namespace = o->namespace,
	};
	if (!o->cgroup_subsys && !o->selected_subsys)
		return 0;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		return need_failed(err, -errno, NEED_BTF, "reading the kernel's types");
	out->shown_subsys = subsys_number(btf, o->cgroup_subsys, err);
	if (out->shown_subsys >= -1)
		out->cgroup_subsys = subsys_number(btf, o->selected_subsys, err);
	if (out->shown_subsys < -1 || out->cgroup_subsys < -1)
		ret = out->shown_subsys < -1 ? out->shown_subsys : out->cgroup_subsys;
	btf__free(btf);
	return ret;
}

static uint64_t ring_size(uint64_t bytes)
{
	uint64_t size = page_size();

	while (size < bytes && size < 1ULL << 30)
		size *= 2;
	return size;
}

bool program_has_loops(void)
{
	program_quiet_library();
	return libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, BPF_FUNC_loop, NULL) != 0;
}

static void configure_wait_stacks(struct program *p, const struct program_options *o)
{
	struct sample_bpf *s = p->skeleton;
	const enum wait_hook hook = o->waits.hook;
	const bool wakers = hook != WAIT_HOOK_NONE && !o->waits.on_demand;

	s->rodata->first_wait_scratch = p->cpus;
	bpf_map__set_max_entries(s->maps.switch_cpus, p->cpus);
	bpf_map__set_autocreate(s->maps.switch_cpus, hook != WAIT_HOOK_NONE);
	bpf_program__set_autoload(s->progs.wait_ended, hook == WAIT_HOOK_TRACEPOINT);
	bpf_program__set_autoload(s->progs.wait_ended_interrupt, hook == WAIT_HOOK_INTERRUPT);
	bpf_program__set_autoattach(s->progs.wait_ended, !o->waits.on_demand);
	bpf_program__set_autoattach(s->progs.wait_ended_interrupt, !o->waits.on_demand);
	bpf_program__set_autoload(s->progs.waker, wakers);
	bpf_map__set_autocreate(s->maps.java_wait, hook != WAIT_HOOK_NONE);
	bpf_map__set_autocreate(s->maps.java_waker, wakers);
	/* the scheduler's program enters it by a tail call */
	bpf_program__set_autoattach(s->progs.waker, false);
}

static void configure_programs(struct program *p, const struct program_options *o)
{
	struct sample_bpf *s = p->skeleton;
	unsigned int per_ring = buffers_cpus_per_ring(p->cpus);
	bool walked;

	s->rodata->cpus_per_ring = per_ring;
	s->rodata->wake_bytes = (uint32_t)(ring_size(o->ring_bytes) / 4);
	s->rodata->with_kernel_stack = o->kernel_stack;
	s->rodata->with_user_stack = o->user_stack;
	s->rodata->with_idle = o->idle;
	s->rodata->steal_offset = o->clocked ? steal_find() : 0;
	/* Shrink unused maps, since the kernel clears the buckets of a large map at every start. */
	if (!o->select_pids)
		bpf_map__set_max_entries(s->maps.selected_pids, 1);
	if (!o->select_tids)
		bpf_map__set_max_entries(s->maps.selected_tids, 1);
	bpf_map__set_max_entries(s->maps.clocks, p->cpus);
	/* for samples, stacks of waits, and last those of hits */
	bpf_map__set_max_entries(s->maps.sample_scratch,
				 p->cpus * (1U + (o->waits.hook != WAIT_HOOK_NONE) + o->hits));
	configure_wait_stacks(p, o);
	bpf_map__set_max_entries(s->maps.rings, (p->cpus + per_ring - 1) / per_ring);
	s->rodata->save_all = o->save_all;
	s->rodata->stop_sampled = o->debug.stop_sampled;
	p->no_python = o->debug.no_python;
	p->by_tail_calls = o->sample && (o->debug.tail_calls || !program_has_loops());
	bpf_program__set_autoload(s->progs.sample, o->sample && !p->by_tail_calls);
	bpf_program__set_autoload(s->progs.sample_by_tail_calls, p->by_tail_calls);
	bpf_program__set_autoload(s->progs.continue_native, p->by_tail_calls);
	bpf_program__set_autoload(s->progs.continue_python, p->by_tail_calls);
	bpf_map__set_autocreate(s->maps.walk_programs, p->by_tail_calls);
	bpf_program__set_autoload(s->progs.idle, o->sample && o->clocked && !o->idle);
	walked = (o->sample || o->waits.hook || o->hits) && o->user_stack;
	bpf_program__set_autoload(s->progs.follow_fork, walked || o->select_pids);
	bpf_program__set_autoload(s->progs.forget_process, walked || o->select_pids);
	bpf_program__set_autoload(s->progs.follow_exec, walked || o->starts);
}

static bool is_batch_full(const struct program_ring *r)
{
	return r->taken >= RING_BATCH || r->bytes >= RING_BATCH_BYTES;
}

/* Return whether a sample needs something that may soon be gone, or that walkers wait for. */
static bool must_prefetch(const struct wire_sample *s)
{
	return s->python & WIRE_PYTHON_NEW || s->java & WIRE_JAVA_NEW ||
	       (s->java && (s->user_end || s->flags & WIRE_UNFINISHED));
}

static int on_ring_record(void *context, void *data, size_t size)
{
	struct program_ring *r = context;
	const struct wire_sample *s = data;

	if (size < sizeof(*s))
		return 0;
	r->error = order_push(r->program->order, r->number, s->time, data, (uint32_t)size);
	r->last = s->time;
	r->program->urgent |= s->flags & WIRE_PENDING || s->python & WIRE_PYTHON_NEW;
	if (!r->error && r->program->prefetch && must_prefetch(s))
		r->error = r->program->prefetch(r->program->prefetch_context, s, (uint32_t)size);
	r->taken++;
	r->bytes += size;
	return r->error || is_batch_full(r) ? -ECANCELED : 0;
}

static int add_ring(struct program *p, uint32_t index, uint64_t bytes, struct error *err)
{
	int outer = bpf_map__fd(p->skeleton->maps.rings), fd, ret;
	struct program_ring *r = calloc(1, sizeof(*r));

	if (!r || vector_push(&p->rings, r) < 0) {
		free(r);
		return error_errno(err, -ENOMEM, "sample rings");
	}
	r->program = p;
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "skein_samples", 0, 0, (__u32)bytes, NULL);
	if (fd < 0)
		return error_errno(err, -errno, "sample ring of %llu bytes",
				   (unsigned long long)bytes);
	ret = bpf_map_update_elem(outer, &index, &fd, 0);
	if (!ret) {
		r->buffer = ring_buffer__new(fd, on_ring_record, r, NULL);
		ret = r->buffer ? 0 : -errno;
	}
	close(fd); /* the outer map and the mapping keep the ring */
	if (ret)
		return error_errno(err, ret, "sample ring");
	r->number = order_add_ring(p->order);
	return r->number < 0 ? error_errno(err, r->number, "sample ring") : 0;
}

static int add_rings(struct program *p, uint64_t bytes, struct error *err)
{
	uint32_t count = bpf_map__max_entries(p->skeleton->maps.rings);
	int ret = 0;

	p->ring_bytes = ring_size(bytes);
	for (uint32_t i = 0; !ret && i < count; i++)
		ret = add_ring(p, i, p->ring_bytes, err);
	return ret;
}

static int map_arrays(struct program *p, struct error *err)
{
	struct sample_bpf *s = p->skeleton;
	int ret = program_map_array(bpf_map__fd(s->maps.clocks), p->cpus * sizeof(*p->clocks),
				    &p->clocks);

	if (!ret)
		ret = program_map_array(bpf_map__fd(s->maps.unwind_slots), SLOTS_BYTES, &p->slots);
	if (!ret)
		ret = program_map_array(bpf_map__fd(s->maps.unwind_rules), RULES_BYTES, &p->rules);
	return ret ? error_errno(err, ret, "memory shared with the kernel") : 0;
}

/* Fill the map of tail calls, in the order of enum walk_program. */
static int fill_tail_calls(struct program *p, struct error *err)
{
	const struct bpf_program *walks[] = {p->skeleton->progs.continue_native,
					     p->skeleton->progs.continue_python};
	int programs = bpf_map__fd(p->skeleton->maps.walk_programs);

	for (uint32_t i = 0; i < sizeof(walks) / sizeof(*walks); i++) {
		uint32_t fd = (uint32_t)bpf_program__fd(walks[i]);

		if (bpf_map_update_elem(programs, &i, &fd, BPF_ANY))
			return error_errno(err, -errno, "the program that walks stacks");
	}
	return 0;
}

/*
 * Set an error for a load that the kernel refused: the missing need (needs.h), or, if no need
 * explains the refusal, the text of the errno.
 */
static int explain_load(int ret, struct error *err)
{
	return need_failed(err, ret, NEED_COUNT, "the kernel refused the sampling program");
}

static int open_skeleton(struct program *p, struct error *err)
{
	int cpus;

	program_quiet_library();
	cpus = libbpf_num_possible_cpus();
	if (cpus < 0)
		return error_errno(err, cpus, "how many CPUs there may be");
	p->cpus = (unsigned int)cpus;
	p->skeleton = sample_bpf__open();
	if (p->skeleton)
		return 0;
	/*
	 * Use -ENOEXEC for libbpf's own error numbers, which stand for failures without an errno.
	 */
	return error_errno(err, errno < __LIBBPF_ERRNO__START ? -errno : -ENOEXEC, "BPF programs");
}

static int load_skeleton(struct program *p, struct error *err)
{
	int ret = sample_bpf__load(p->skeleton);

	if (ret)
		return explain_load(ret, err);
	/*
	 * If libbpf's test of mmap fails for any reason, libbpf assumes a kernel without mappable
	 * maps, and bss is NULL.
	 */
	if (!p->skeleton->bss)
		return error_errno(err, -ENOMEM, "memory shared with the kernel");
	return p->by_tail_calls ? fill_tail_calls(p, err) : 0;
}

int program_load(struct program **out, const struct program_options *o, struct order *order,
		 struct error *err)
{
	struct program *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return error_errno(err, -ENOMEM, "BPF programs");
	p->order = order;
	p->java.status = -ENOENT;
	ret = open_skeleton(p, err);
	if (ret)
		goto end;
	configure_programs(p, o);
	ret = choose_selection(&p->selection, o, err);
	if (ret)
		goto end;
	memcpy((void *)&p->skeleton->rodata->wanted, &p->selection, sizeof(p->selection));
	ret = load_skeleton(p, err);
	if (!ret)
		ret = map_arrays(p, err);
	if (!ret && (o->sample || o->waits.hook || o->hits || o->starts))
		ret = add_rings(p, o->ring_bytes, err);
end:
	if (ret)
		program_free(p);
	else
		*out = p;
	return ret;
}

void program_free(struct program *p)
{
	if (!p)
		return;
	program_free_java(p);
	program_detach_waits(p);
	for (size_t i = 0; i < p->rings.count; i++) {
		ring_buffer__free(p->rings.items[i]->buffer);
		free(p->rings.items[i]);
	}
	vector_free(&p->rings);
	for (size_t i = 0; i < p->chunks.count; i++)
		program_unmap_array(p->chunks.items[i], sizeof(struct arena_chunk));
	vector_free(&p->chunks);
	program_unmap_array(p->clocks, p->cpus * sizeof(*p->clocks));
	program_unmap_array(p->slots, SLOTS_BYTES);
	program_unmap_array(p->rules, RULES_BYTES);
	sample_bpf__destroy(p->skeleton);
	free(p);
}

int program_attach(struct program *p, struct error *err)
{
	/* Attach all loaded programs; the perf_event program has no attach point of its own. */
	int ret = sample_bpf__attach(p->skeleton);

	return ret ? need_failed(err, ret, NEED_COUNT, "attaching to the kernel's tracepoints") : 0;
}

int program_fd(const struct program *p)
{
	return bpf_program__fd(p->by_tail_calls ? p->skeleton->progs.sample_by_tail_calls
						: p->skeleton->progs.sample);
}

bool program_walks_by_loops(const struct program *p)
{
	return !p->by_tail_calls;
}

struct unwind_slot *program_slots(const struct program *p)
{
	return p->slots;
}

struct unwind_rule *program_rules(const struct program *p)
{
	return p->rules;
}

int program_add_chunk(void *program, uint32_t number, uint32_t **out)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct program *p = program;
	struct arena_chunk *chunk = NULL;
	int fd, ret;

	if (vector_reserve(&p->chunks, 1) < 0)
		return -ENOMEM;
	fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "skein_arena", sizeof(__u32), sizeof(*chunk), 1,
			    &opts);
	if (fd < 0)
		return -errno;
	ret = program_map_array(fd, sizeof(*chunk), &chunk);
	if (!ret && bpf_map_update_elem(bpf_map__fd(p->skeleton->maps.arena), &number, &fd, 0))
		ret = -errno;
	close(fd); /* the outer map and the mapping keep the chunk */
	if (ret) {
		program_unmap_array(chunk, sizeof(*chunk));
		return ret;
	}
	p->chunks.items[p->chunks.count++] = chunk;
	*out = chunk->words;
	return 0;
}

int program_set_process(struct program *p, uint32_t pid, const struct unwind_process *process,
			uint64_t time)
{
	int fd = bpf_map__fd(p->skeleton->maps.unwind_processes);
	struct unwind_process known, new = *process;

	if (!bpf_map_lookup_elem(fd, &pid, &known)) {
		if (known.executed > time)
			return -EAGAIN;
		/*
		 * Keep a known interpreter: only an exec removes it, and the BPF programs handle
		 * the exec.
		 */
		if (!new.python.layout)
			new.python = known.python;
	}
	if (p->no_python)
		new.python.layout = 0;
	return bpf_map_update_elem(fd, &pid, &new, BPF_ANY) ? -errno : 0;
}

int program_set_python(struct program *p, uint32_t pid, const struct python_process *python,
		       uint64_t time)
{
	int fd = bpf_map__fd(p->skeleton->maps.unwind_processes);
	struct unwind_process known;

	if (p->no_python)
		return 0;
	if (bpf_map_lookup_elem(fd, &pid, &known))
		/*
		 * Do not add an entry: the process may be gone, and nothing would remove the entry.
		 */
		return -errno;
	if (known.executed > time + EXEC_TAKES)
		return -EAGAIN;
	known.python = *python;
	return bpf_map_update_elem(fd, &pid, &known, BPF_EXIST) ? -errno : 0;
}

int program_set_layout(struct program *p, uint32_t number, const struct python_layout *l)
{
	int fd = bpf_map__fd(p->skeleton->maps.python_layouts);

	return bpf_map_update_elem(fd, &number, l, BPF_ANY) ? -errno : 0;
}

void program_set_prefetcher(struct program *p, program_prefetcher prefetch, void *context)
{
	p->prefetch = prefetch;
	p->prefetch_context = context;
}

void program_forget_process(struct program *p, uint32_t pid)
{
	(void)bpf_map_delete_elem(bpf_map__fd(p->skeleton->maps.unwind_processes), &pid);
}

bool program_saw_urgent(const struct program *p)
{
	return p->urgent;
}

void program_set_sleep(struct program *p, enum wire_sleep sleep)
{
	__atomic_store_n(&p->skeleton->data_consumer->consumer_sleeps, sleep, __ATOMIC_RELAXED);
}

void program_set_calm(struct program *p, const struct wire_file *file)
{
	const uint8_t yes = 1;

	(void)bpf_map_update_elem(bpf_map__fd(p->skeleton->maps.calm_programs), file, &yes,
				  BPF_ANY);
}

const struct wire_selection *program_selection(const struct program *p)
{
	return &p->selection;
}

/* Return whether interrupts are threads, which an interrupt for one switch would come too late. */
static bool is_realtime_kernel(void)
{
	struct utsname name;

	return !uname(&name) && strstr(name.version, "PREEMPT_RT");
}

int program_choose_wait_hook(enum wait_hook *out, bool by_interrupt, struct error *err)
{
	if (!program_has_loops())
		return error_set(
			err, -ENOTSUP,
			"stacks of waits need bpf_loop(), which Linux 5.17 and later have");
	if (!by_interrupt && libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0) {
		*out = WAIT_HOOK_TRACEPOINT;
		return 0;
	}
	if (is_realtime_kernel())
		return error_set(
			err, -ENOTSUP,
			"stacks of waits need the tracepoint sched_exit_tp on a kernel with "
			"PREEMPT_RT; this one has none (Linux 6.15 and later do)");
	*out = WAIT_HOOK_INTERRUPT;
	return 0;
}

int program_switch_cpus_fd(const struct program *p)
{
	return bpf_map__fd(p->skeleton->maps.switch_cpus);
}

int program_waker_fd(const struct program *p)
{
	return bpf_program__fd(p->skeleton->progs.waker);
}

static struct bpf_program *wait_program(const struct program *p)
{
	struct bpf_program *by_tracepoint = p->skeleton->progs.wait_ended;

	return bpf_program__autoload(by_tracepoint) ? by_tracepoint
						    : p->skeleton->progs.wait_ended_interrupt;
}

int program_wait_fd(const struct program *p)
{
	return bpf_program__fd(wait_program(p));
}

int program_attach_waits(struct program *p, struct error *err)
{
	p->waits = bpf_program__attach(wait_program(p));
	return p->waits ? 0 : need_failed(err, -errno, NEED_COUNT, "attaching to switches");
}

void program_detach_waits(struct program *p)
{
	bpf_link__destroy(p->waits); /* accepts NULL */
	p->waits = NULL;
}

int program_map_fd(const struct program *p, const char *name)
{
	return bpf_object__find_map_fd_by_name(p->skeleton->obj, name);
}

int program_selected_fd(const struct program *p, bool threads)
{
	return bpf_map__fd(threads ? p->skeleton->maps.selected_tids
				   : p->skeleton->maps.selected_pids);
}

static int add_selected(const struct bpf_map *map, uint32_t id)
{
	uint64_t born = 0; /* not known */

	if (!bpf_map_update_elem(bpf_map__fd(map), &id, &born, BPF_NOEXIST))
		return 1;
	return errno == EEXIST ? 0 : -errno;
}

int program_select_pid(struct program *p, uint32_t pid)
{
	return add_selected(p->skeleton->maps.selected_pids, pid);
}

bool program_selects_pid(const struct program *p, uint32_t pid)
{
	uint64_t born;

	return !bpf_map_lookup_elem(bpf_map__fd(p->skeleton->maps.selected_pids), &pid, &born);
}

bool program_selection_over(const struct program *p)
{
	uint32_t first;

	return bpf_map_get_next_key(bpf_map__fd(p->skeleton->maps.selected_pids), NULL, &first) &&
	       errno == ENOENT;
}

int program_select_tid(struct program *p, uint32_t tid)
{
	return add_selected(p->skeleton->maps.selected_tids, tid);
}

struct wire_clock *program_clock(const struct program *p, unsigned int cpu)
{
	return cpu < p->cpus ? &p->clocks[cpu] : NULL;
}

uint64_t program_time_spent(const struct program *p)
{
	uint64_t spent = 0;

	for (unsigned int cpu = 0; cpu < p->cpus; cpu++)
		spent += p->clocks[cpu].spent;
	return spent;
}

unsigned int program_cpus(const struct program *p)
{
	return p->cpus;
}

int program_drain(struct program *p, uint64_t now)
{
	p->more = p->urgent = false;
	for (size_t i = 0; i < p->rings.count; i++) {
		struct program_ring *r = p->rings.items[i];

		r->taken = 0;
		r->bytes = 0;
		ring_buffer__consume(r->buffer);
		if (r->error)
			return r->error;
		if (is_batch_full(r)) {
			p->more = true;
			order_set_passed(p->order, r->number, r->last - ORDER_MARGIN);
		} else {
			order_set_passed(p->order, r->number, now - ORDER_MARGIN);
		}
	}
	return 0;
}

bool program_owns_ring(const struct program *p, int ring)
{
	for (size_t i = 0; i < p->rings.count; i++)
		if (p->rings.items[i]->number == ring)
			return true;
	return false;
}

size_t program_ring_count(const struct program *p)
{
	return p->rings.count;
}

uint64_t program_ring_bytes(const struct program *p)
{
	return 2 * p->ring_bytes * p->rings.count;
}

int program_ring_fd(const struct program *p, size_t ring)
{
	return ring_buffer__epoll_fd(p->rings.items[ring]->buffer);
}

bool program_has_more(const struct program *p)
{
	return p->more;
}

uint64_t program_unselected(const struct program *p)
{
	return p->skeleton->bss->unselected_children;
}
