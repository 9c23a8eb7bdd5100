// SPDX-License-Identifier: Apache-2.0
/* Load the programs that add up the time of control groups, and read their sums (group_sums.h). */
#include "capture/group_sums.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/group_time.skel.h"
#include "capture/clock.h"
#include "capture/group_totals.h"
#include "capture/needs.h"
#include "capture/switches.h"
#include "capture/waits.h"

#define HOST_OF_GROUPS 1 /* host.id of a live capture */
/* A group that did nothing for so long, ns, and has no directory any more, leaves its row. */
#define GROUP_QUIET (600 * NSEC_PER_SEC)

_Static_assert(sizeof(struct group_slots) + sizeof(struct group_rows) +
			       GROUP_SHARDS_MAX * sizeof(struct group_shard) +
			       4096 * sizeof(struct group_cpu) + 65536 <
		       GROUP_MAPS_MAX,
	       "the maps with 4,096 CPUs, and the constants");
_Static_assert(GROUP_COLUMN_COUNT <= GROUP_COLUMN_ROOM, "columns have room");
_Static_assert(GROUP_SHARDS_MAX == 8, "a power of two");

struct group_sums {
	struct group_time_bpf *skeleton;
	unsigned int cpus, shards;
	struct group_rows *rows; /* these three are shared with the kernel */
	struct group_shard *sums;
	struct group_cpu *states;
	uint64_t *running; /* group_cpu.runs when reading began, by CPU */
	bool leaving[GROUP_ROWS]; /* the row has no writer any more, and is free after a tick */
	struct group_totals totals;
};

/* Return the column of a wait whose class is known. */
static enum group_column column_of_class(enum slice_state state, enum wait_class wait)
{
#define GROUP_COLUMN_CASE(N, s, w) \
	if (state == STATE_##s && wait == WAIT_##w) \
		return GROUP_##N;
	GROUP_COLUMNS(GROUP_COLUMN_CASE)
#undef GROUP_COLUMN_CASE
	return GROUP_OTHER;
}

/* Fill the table by which the kernel's side finds the column of a wait. */
static void fill_group_columns(struct group_time_bpf *k)
{
	static const struct {
		unsigned int state, flags;
	} kinds_of_waits[GROUP_WAIT_KINDS] = {
		[GROUP_WAIT_SLEEPING] = {WIRE_SLEEPING, 0},
		[GROUP_WAIT_IO] = {WIRE_SLEEPING, WIRE_PREV_IOWAIT},
		[GROUP_WAIT_DISK] = {WIRE_DISK, 0},
	};
	uint8_t *columns = (uint8_t *)k->rodata->group_column_of_wait;

	for (unsigned int kind = 0; kind < GROUP_WAIT_KINDS; kind++)
		for (unsigned int call = 0; call <= GROUP_CALL_FOREIGN; call++) {
			unsigned int state = kinds_of_waits[kind].state;
			unsigned int flags = kinds_of_waits[kind].flags;
			bool foreign = call == GROUP_CALL_FOREIGN;
			enum wait_class class;

			flags |= foreign ? WIRE_PREV_KTHREAD : 0;
			class = waits_class(state, flags, foreign ? 0 : call);
			columns[kind * GROUP_CALLS + call] =
				(uint8_t)column_of_class(waits_state(state, flags), class);
		}
}

static int configure_group_sums(struct group_sums *g, const struct program *p)
{
	struct group_time_bpf *k = g->skeleton;
	struct btf *btf = btf__load_vmlinux_btf();
	int ret;

	if (!btf)
		return -errno;
	for (g->shards = 1; g->shards < g->cpus && g->shards < GROUP_SHARDS_MAX;)
		g->shards *= 2;
	k->rodata->group_switch_passes_state = switches_pass_state(btf);
	btf__free(btf);
	k->rodata->group_subsys = program_selection(p)->shown_subsys;
	k->rodata->group_shards = g->shards;
	k->rodata->group_shards_shared = g->shards < g->cpus;
	fill_group_columns(k);
	ret = bpf_map__set_max_entries(k->maps.group_shards_of_cpus, g->shards);
	return ret ? ret : bpf_map__set_max_entries(k->maps.group_cpus, g->cpus);
}

static int map_group_sums(struct group_sums *g)
{
	struct group_time_bpf *k = g->skeleton;
	int ret = program_map_array(bpf_map__fd(k->maps.group_rows), sizeof(*g->rows), &g->rows);

	if (!ret)
		ret = program_map_array(bpf_map__fd(k->maps.group_shards_of_cpus),
					g->shards * sizeof(*g->sums), &g->sums);
	return ret ? ret
		   : program_map_array(bpf_map__fd(k->maps.group_cpus),
				       g->cpus * sizeof(*g->states), &g->states);
}

static int load_group_sums(struct group_sums *g, const struct program *p, struct error *err)
{
	int ret;

	program_quiet_library();
	g->cpus = program_cpus(p);
	g->running = calloc(g->cpus, sizeof(*g->running));
	g->skeleton = g->running ? group_time_bpf__open() : NULL;
	ret = g->skeleton ? configure_group_sums(g, p) : -ENOMEM;
	if (ret)
		return error_errno(err, ret, "the sums of control groups");
	ret = group_time_bpf__load(g->skeleton);
	if (ret)
		return need_failed(err, ret, NEED_COUNT,
				   "the kernel refused the sums of control groups");
	ret = map_group_sums(g);
	return ret ? error_errno(err, ret, "memory for sums of control groups") : 0;
}

int group_sums_load(struct group_sums **out, const struct program *p, struct error *err)
{
	struct group_sums *g = calloc(1, sizeof(*g));
	int ret = g ? load_group_sums(g, p, err) : error_errno(err, -ENOMEM, "sums");

	if (ret)
		group_sums_free(g);
	else
		*out = g;
	return ret;
}

void group_sums_free(struct group_sums *g)
{
	if (!g)
		return;
	program_unmap_array(g->rows, sizeof(*g->rows));
	program_unmap_array(g->sums, g->shards * sizeof(*g->sums));
	program_unmap_array(g->states, g->cpus * sizeof(*g->states));
	group_time_bpf__destroy(g->skeleton);
	group_totals_free(&g->totals);
	free(g->running);
	free(g);
}

int group_sums_attach(struct group_sums *g, struct error *err)
{
	g->skeleton->bss->group_attached = clock_ns(CLOCK_MONOTONIC);
	return group_time_bpf__attach(g->skeleton)
		       ? error_errno(err, -errno, "attaching the sums of control groups")
		       : 0;
}

uint64_t group_sums_time_spent(const struct group_sums *g)
{
	uint64_t spent = 0;

	for (unsigned int cpu = 0; cpu < g->cpus; cpu++)
		spent += g->states[cpu].spent;
	return spent;
}

static struct group_sum *group_cells(struct group_sums *g, unsigned int shard, uint32_t row)
{
	return &g->sums[shard].sums[row * GROUP_COLUMN_ROOM];
}

static void read_group_cells(struct group_sums *g, uint32_t row, struct group_sum *out)
{
	memset(out, 0, GROUP_COLUMN_COUNT * sizeof(*out));
	for (unsigned int shard = 0; shard < g->shards; shard++) {
		const struct group_sum *cells = group_cells(g, shard, row);

		for (int i = 0; i < GROUP_COLUMN_COUNT; i++) {
			out[i].ns += __atomic_load_n(&cells[i].ns, __ATOMIC_RELAXED);
			out[i].count += __atomic_load_n(&cells[i].count, __ATOMIC_RELAXED);
		}
	}
}

static uint64_t load_group_run(const struct group_sums *g, unsigned int cpu)
{
	return __atomic_load_n(&g->states[cpu].runs, __ATOMIC_ACQUIRE);
}

/*
 * Add what the threads of a row that have a CPU now have run so far, unless they had left it when
 * the sums were read.
 */
static void add_running_groups(struct group_sums *g, uint32_t row, uint64_t now,
			       struct group_sum *out)
{
	for (unsigned int cpu = 0; cpu < g->cpus; cpu++) {
		uint64_t runs = g->running[cpu], since = runs & ~(GROUP_ROWS - 1ULL);

		if (runs && (runs & (GROUP_ROWS - 1)) == row && since < now &&
		    load_group_run(g, cpu) == runs)
			out[GROUP_RUNS].ns += now - since;
	}
}

/* Find the path and the service of the group of a row that has come into use. */
static int begin_group_row(struct group_sums *g, uint32_t row, uint64_t now,
			   const struct group_naming *by)
{
	const struct group_row begun = {.id = g->rows->ids[row], .grown = now};
	const char *path = cgroups_path(by->cgroups, begun.id);
	struct service_names names = {"", ""};

	if (row == GROUP_ROW_OTHER)
		path = GROUP_PATH_OTHER;
	else if (!path[0])
		path = GROUP_PATH_UNKNOWN;
	if (path[0] == '/') {
		services_find_container(by->services, path, &names);
		services_find_name(by->services, path, "", &names);
	}
	return group_totals_begin(&g->totals, row, &begun, path, names.service);
}

/*
 * A row whose group has gone is freed in two steps, one tick apart. After the first one, threads
 * that were of the group when they fell asleep count as those of no group.
 */
static void free_group_row(struct group_sums *g, uint32_t row)
{
	if (!g->leaving[row]) {
		g->rows->turns[row]++;
		g->leaving[row] = true;
		return;
	}
	for (unsigned int shard = 0; shard < g->shards; shard++)
		memset(group_cells(g, shard, row), 0, GROUP_COLUMN_ROOM * sizeof(struct group_sum));
	__atomic_store_n(&g->rows->ids[row], 0, __ATOMIC_RELEASE);
	g->leaving[row] = false;
	group_totals_end(&g->totals, row);
}

static bool is_group_gone(const struct group_sums *g, uint32_t row, uint64_t now,
			  const struct group_naming *by)
{
	const struct group_row *r = g->totals.rows[row];

	return row != GROUP_ROW_OTHER && r->grown + GROUP_QUIET < now &&
	       !cgroups_exists(by->cgroups, r->of->path, r->id);
}

static int read_group_row(struct group_sums *g, uint32_t row, uint64_t now,
			  const struct group_naming *by)
{
	struct group_sum sums[GROUP_COLUMN_COUNT];
	int ret = 0;

	if (!g->totals.rows[row])
		ret = begin_group_row(g, row, now, by);
	if (ret)
		return ret;
	read_group_cells(g, row, sums);
	add_running_groups(g, row, now, sums);
	group_totals_take(&g->totals, row, sums, now);
	if (g->leaving[row] || is_group_gone(g, row, now, by))
		free_group_row(g, row);
	return 0;
}

static int read_group_rows(struct group_sums *g, uint64_t now, const struct group_naming *by,
			   struct error *err)
{
	int ret = 0;

	for (unsigned int cpu = 0; cpu < g->cpus; cpu++)
		g->running[cpu] = load_group_run(g, cpu);
	for (uint32_t row = 0; row < GROUP_ROWS && !ret; row++)
		if (row == GROUP_ROW_OTHER || __atomic_load_n(&g->rows->ids[row], __ATOMIC_ACQUIRE))
			ret = read_group_row(g, row, now, by);
	return ret ? error_errno(err, ret, "the sums of control groups") : 0;
}

int group_sums_begin(struct group_sums *g, uint64_t now, const struct group_naming *by,
		     struct error *err)
{
	int ret = read_group_rows(g, now, by, err);

	if (!ret)
		group_totals_forget(&g->totals);
	return ret;
}

int group_sums_put(struct group_sums *g, uint64_t now, const struct group_naming *by,
		   struct sink *to, struct error *err)
{
	int ret = read_group_rows(g, now, by, err);

	if (ret)
		return ret;
	return group_totals_put(&g->totals, HOST_OF_GROUPS, to, err);
}
