// SPDX-License-Identifier: Apache-2.0
/*
 * Loads the programs for processes with a JVM when the first JVM is seen, so that others do not pay
 * for their verification, and on a thread, so that the rings are read meanwhile.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>

#include "bpf/event.h"
#include "bpf/java.skel.h"
#include "capture/program_private.h"

void program_set_hits(struct program *p, const struct program_hits *h)
{
	p->java.hits = *h;
	p->java.takes_hits = true;
}

/* Share all maps of the other programs that they have. */
static int share_java_maps(const struct program *p, struct java_bpf *j)
{
	struct bpf_map *map;
	int ret = 0;

	bpf_object__for_each_map(map, j->obj)
	{
		int fd = program_map_fd(p, bpf_map__name(map));

		if (map == j->maps.probe_cpus && p->java.takes_hits)
			fd = p->java.hits.cpus;
		if (map == j->maps.probe_sites && p->java.takes_hits)
			fd = p->java.hits.sites;

		if (fd >= 0)
			ret = bpf_map__reuse_fd(map, fd);
		else if (!bpf_map__is_internal(map))
			ret = bpf_map__set_autocreate(map, false);
		if (ret)
			return ret;
	}
	return 0;
}

/* The last entries of the work areas are for stacks of hits. */
static void configure_java_hits(const struct program *p, struct java_bpf *j)
{
	bpf_program__set_autoload(j->progs.hit_taken, p->java.takes_hits);
	if (!p->java.takes_hits)
		return;
	j->rodata->first_hit_scratch =
		bpf_map__max_entries(p->skeleton->maps.sample_scratch) - p->cpus;
	bpf_program__set_expected_attach_type(j->progs.hit_taken,
					      (enum bpf_attach_type)p->java.hits.attach_type);
}

static void configure_java(const struct program *p, struct java_bpf *j)
{
	const struct sample_bpf *s = p->skeleton;

	j->rodata->cpus_per_ring = s->rodata->cpus_per_ring;
	j->rodata->wake_bytes = s->rodata->wake_bytes;
	j->rodata->first_wait_scratch = s->rodata->first_wait_scratch;
	j->rodata->save_all = s->rodata->save_all;
	j->rodata->stop_sampled = s->rodata->stop_sampled;
	bpf_program__set_autoload(j->progs.sample_java, bpf_program__autoload(s->progs.sample));
	bpf_program__set_autoload(j->progs.wait_ended_java,
				  bpf_program__autoload(s->progs.wait_ended));
	bpf_program__set_autoload(j->progs.wait_ended_interrupt_java,
				  bpf_program__autoload(s->progs.wait_ended_interrupt));
	bpf_program__set_autoload(j->progs.waker_java, bpf_program__autoload(s->progs.waker));
	configure_java_hits(p, j);
}

/* Have the other programs enter a program, if it is loaded. */
static int enter_java_program(int map, const struct bpf_program *program)
{
	int fd = bpf_program__fd(program);
	uint32_t zero = 0;

	if (!bpf_program__autoload(program))
		return 0;
	return bpf_map_update_elem(map, &zero, &fd, BPF_ANY) ? -errno : 0;
}

static int enter_java_programs(const struct program *p)
{
	const struct java_bpf *j = p->java.skeleton;
	const struct sample_bpf *s = p->skeleton;
	int wait = bpf_map__fd(s->maps.java_wait);
	int ret = enter_java_program(bpf_map__fd(s->maps.java_sample), j->progs.sample_java);

	if (!ret)
		ret = enter_java_program(wait, j->progs.wait_ended_java);
	if (!ret)
		ret = enter_java_program(wait, j->progs.wait_ended_interrupt_java);
	if (!ret)
		ret = enter_java_program(bpf_map__fd(s->maps.java_waker), j->progs.waker_java);
	return ret ? ret : enter_java_program(p->java.hits.takers, j->progs.hit_taken);
}

static int load_java_programs(struct program *p)
{
	int ret;

	p->java.skeleton = java_bpf__open();
	if (!p->java.skeleton)
		return -ENOMEM;
	configure_java(p, p->java.skeleton);
	ret = share_java_maps(p, p->java.skeleton);
	if (!ret)
		ret = java_bpf__load(p->java.skeleton);
	return ret ? ret : enter_java_programs(p);
}

static void *run_java_loader(void *context)
{
	struct program *p = context;
	int ret = load_java_programs(p);

	/* -EAGAIN of the kernel is final, too */
	__atomic_store_n(&p->java.status, ret == -EAGAIN ? -EBUSY : ret, __ATOMIC_RELEASE);
	/* if it fails, its stacks end at generated code, as without a JVM */
	if (!ret && p->java.also)
		__atomic_store_n(&p->java.also_status, p->java.also(p->java.also_context),
				 __ATOMIC_RELEASE);
	return NULL;
}

void program_set_java_loader(struct program *p, program_java_loader also, void *context)
{
	program_join_java(p); /* it looks at these */
	p->java.also = also;
	p->java.also_context = context;
	if (also && p->java.skeleton && !p->java.status)
		p->java.also_status = also(context);
}

int program_java_loader_status(const struct program *p)
{
	return __atomic_load_n(&p->java.also_status, __ATOMIC_ACQUIRE);
}

bool program_is_loading_java(const struct program *p)
{
	return __atomic_load_n(&p->java.status, __ATOMIC_ACQUIRE) == -EAGAIN;
}

/* The programs that walk by tail calls have the walker of Java frames. */
void program_expect_java(struct program *p)
{
	static const int own[] = {SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP};
	sigset_t all, before;

	if (p->java.status != -ENOENT)
		return;
	p->java.status = p->by_tail_calls ? 0 : -EAGAIN;
	if (p->by_tail_calls)
		return;
	/* signals are for the other thread, but for those of what a thread does itself */
	sigfillset(&all);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&all, own[i]);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	p->java.threaded = !pthread_create(&p->java.thread, NULL, run_java_loader, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!p->java.threaded)
		run_java_loader(p);
}

void program_join_java(struct program *p)
{
	if (!p || !p->java.threaded)
		return;
	pthread_join(p->java.thread, NULL);
	p->java.threaded = false;
}

int program_wait_for_java(struct program *p, struct error *err)
{
	int ret;

	program_expect_java(p);
	program_join_java(p);
	ret = p->java.status ? p->java.status : p->java.also_status;
	return ret ? error_errno(err, ret, "the programs for JVMs") : 0;
}

void program_free_java(struct program *p)
{
	program_join_java(p);
	java_bpf__destroy(p->java.skeleton);
}

/* Return 0 if the programs for JVMs are loaded. */
static int java_status(struct program *p)
{
	program_expect_java(p);
	return __atomic_load_n(&p->java.status, __ATOMIC_ACQUIRE);
}

int program_set_jvm_layout(struct program *p, uint32_t index, const struct hotspot_layout *l)
{
	int fd = bpf_map__fd(p->skeleton->maps.hotspot_layouts), ret = java_status(p);

	if (ret)
		return ret;
	return bpf_map_update_elem(fd, &index, l, BPF_ANY) ? -errno : 0;
}

int program_set_jvm(struct program *p, uint32_t index, const struct hotspot_process *jvm)
{
	int fd = bpf_map__fd(p->skeleton->maps.hotspot_processes);

	return bpf_map_update_elem(fd, &index, jvm, BPF_ANY) ? -errno : 0;
}

int program_set_java_code(struct program *p, const struct hotspot_code_key *key,
			  const struct hotspot_code_rows *rows)
{
	int fd = bpf_map__fd(p->skeleton->maps.hotspot_codes);

	return bpf_map_update_elem(fd, key, rows, BPF_ANY) ? -errno : 0;
}
