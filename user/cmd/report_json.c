// SPDX-License-Identifier: Apache-2.0
/*
 * Write a report as JSON. Records have the fields that base/record.h lists; weights are in the
 * unit of the event. All rows are written unless --limit is given; the tree has only the nodes with
 * at least the share of --min (1 % by default).
 */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "cmd/rates_text.h"
#include "cmd/report_ended.h"
#include "cmd/report_handlers.h"
#include "cmd/report_named.h"
#include "cmd/report_off_cpu.h"
#include "cmd/report_runtime.h"
#include "cmd/report_sched.h"
#include "cmd/report_services.h"

#ifndef SKEIN_VERSION
#define SKEIN_VERSION "unknown"
#endif

/* Write a record with all its fields. */
static void report_json_put_record(struct json *j, enum record_kind kind, const void *record)
{
	const struct kind *k = &kinds[kind];

	json_object(j);
	for (unsigned int i = 0; i < k->field_count; i++)
		json_key_field(j, &k->fields[i], record);
	json_object_end(j);
}

static size_t report_json_row_limit(const struct report *r, size_t count)
{
	uint64_t limit = r->options->limit == LIMIT_UNSET ? 0 : r->options->limit;

	return limit && limit < count ? limit : count;
}

static void report_json_put_functions(struct json *j, const struct report *r, const char *key,
				      const struct functions *all)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < report_json_row_limit(r, all->list.count); i++) {
		const struct function_cost *f = &all->list.items[i];

		json_object(j);
		json_key_text(j, "name", symbol_name(&r->symbols, f->symbol));
		json_key_text(j, "module", symbol_module(&r->symbols, f->symbol));
		json_key_uint(j, "self_samples", f->self_count);
		json_key_uint(j, "self", f->self_weight);
		json_key_uint(j, "total_samples", f->total_count);
		json_key_uint(j, "total", f->total_weight);
		json_object_end(j);
	}
	json_array_end(j);
}

static void report_json_put_group(struct json *j, const struct group *g, enum group_by by)
{
	bool place = by >= GROUP_SERVICE;

	json_object(j);
	json_key_text(j, "name", g->name);
	json_key_uint(j, "samples", g->count);
	json_key_uint(j, "weight", g->weight);
	json_key_uint(j, "processes", g->processes);
	if (g->thread)
		json_key_uint(j, "tid", g->thread->tid);
	if (!place && g->processes == 1) {
		json_key_uint(j, "pid", g->process->pid);
		json_key_uint(j, "born", g->process->born);
		json_key_text(j, "comm", g->process->comm);
		json_key_text(j, "exe", g->process->exe);
		json_key_text(j, "cgroup", g->process->cgroup);
	}
	if (!place) {
		json_key_text(j, "container", g->process->container);
		json_key_text(j, "service", g->process->service);
	}
	json_object_end(j);
}

static void report_json_put_groups(struct json *j, const struct report *r)
{
	static const char *const keys[] = {
		[GROUP_PROGRAM] = "programs",	  [GROUP_PROCESS] = "processes",
		[GROUP_THREAD] = "threads",	  [GROUP_SERVICE] = "services",
		[GROUP_CONTAINER] = "containers", [GROUP_CGROUP] = "cgroups",
		[GROUP_MODULE] = "modules",
	};

	for (int by = 0; by < GROUP_KIND_COUNT; by++) {
		const struct groups *g = &r->groups[by];

		json_key(j, keys[by]);
		json_array(j);
		for (size_t i = 0; i < report_json_row_limit(r, g->list.count); i++)
			report_json_put_group(j, &g->list.items[i], by);
		json_array_end(j);
	}
}

static void report_json_put_breakages(struct json *j, const struct report *r)
{
	json_key(j, "broken");
	json_array(j);
	for (size_t i = 0; i < report_json_row_limit(r, r->stacks.breakages.list.count); i++) {
		const struct breakage *b = &r->stacks.breakages.list.items[i];

		json_object(j);
		json_key_text(j, "reason", b->reason);
		json_key_text(j, "module", b->module);
		json_key_uint(j, "samples", b->count);
		json_key_real(j, "share", (double)b->count / (double)r->stacks.completeness.due);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Without samples that should have a user stack, the share is 0 / 0, which is written as null. */
static void report_json_put_stacks(struct json *j, const struct report *r)
{
	const struct completeness *c = &r->stacks.completeness;

	json_key(j, "stacks");
	json_object(j);
	json_key_uint(j, "due", c->due);
	json_key_uint(j, "complete", c->complete);
	json_key_real(j, "share", (double)c->complete / (double)c->due);
	json_key_uint(j, "none", c->no_stack);
	json_key(j, "truncated");
	json_object(j);
	for (int end = 0; end < END_COUNT; end++)
		if (!stack_end_is_whole(end))
			json_key_uint(j, stack_end_word(end), c->broken[end]);
	json_object_end(j);
	json_key(j, "no_user");
	json_object(j);
	for (int why = 0; why < NO_USER_COUNT; why++)
		json_key_uint(j, no_user_word(why), c->no_user[why]);
	json_object_end(j);
	report_json_put_breakages(j, r);
	json_object_end(j);
}

static void report_json_put_python(struct json *j, const struct report *r)
{
	const struct python_share *p = &r->python;

	json_key(j, "python");
	json_object(j);
	json_key_uint(j, "samples", p->samples);
	json_key_uint(j, "gil", p->gil);
	json_key_uint(j, "no_gil", p->no_gil);
	json_key_uint(j, "collecting", p->collecting);
	json_key_uint(j, "unread", p->unread);
	json_key_uint(j, "frames", p->frames);
	json_key_uint(j, "frames_named", p->named);
	json_key_uint(j, "frames_freed", p->freed);
	json_object_end(j);
}

/* Write the runtimes that lack names, if any does. */
static void report_json_put_runtimes(struct json *j, const struct report *r)
{
	bool any = false;

	for (int i = 0; i < RUNTIME_COUNT; i++) {
		if (!r->names.runtimes.samples[i])
			continue;
		if (!any) {
			json_key(j, "unnamed_runtimes");
			json_array(j);
		}
		any = true;
		json_object(j);
		json_key_text(j, "name", runtime_table[i].name);
		json_key_uint(j, "samples", r->names.runtimes.samples[i]);
		json_key_real(j, "share", (double)r->names.runtimes.samples[i] / (double)r->count);
		json_key_text(j, "names", runtime_table[i].names);
		json_object_end(j);
	}
	if (any)
		json_array_end(j);
}

static void report_json_put_accounts(struct json *j, const struct report *r)
{
	const struct account *a = &r->losses.total;

	json_key(j, "account");
	json_object(j);
	json_key_uint(j, "due", a->due);
	json_key_uint(j, "written", a->written);
	json_key_uint(j, "filtered", a->filtered);
	json_key_uint(j, "idle", a->idle);
	json_key_uint(j, "late", a->late);
	json_key_uint(j, "stolen", r->losses.by_reason[LOSS_STOLEN]);
	json_key_uint(j, "lost", r->losses.due);
	json_key_uint(j, "cut_off", r->losses.cut_off);
	json_key_int(j, "unexplained", r->losses.unexplained);
	json_key(j, "cpus");
	json_array(j);
	for (uint32_t i = 0; i < r->profile->count.accounts; i++)
		report_json_put_record(j, KIND_ACCOUNT, &r->profile->accounts[i]);
	json_array_end(j);
	json_object_end(j);
	json_key(j, "losses");
	json_array(j);
	for (int reason = 1; reason < LOSS_COUNT; reason++) {
		if (!r->losses.by_reason[reason])
			continue;
		json_object(j);
		json_key_text(j, "reason", loss_reason_word(reason));
		json_key_text(j, "text", loss_reason_text(reason));
		json_key_uint(j, "count", r->losses.by_reason[reason]);
		if (reason == LOSS_SUSPENDED)
			json_key_uint(j, "ns", r->losses.suspended);
		json_object_end(j);
	}
	json_array_end(j);
	json_key_uint(j, "missing", r->profile->missing);
}

static void report_json_begin_node(struct json *j, const struct report *r, uint32_t node)
{
	const struct tree_node *n = &r->tree.nodes.items[node];

	json_object(j);
	json_key_text(j, "name", node ? symbol_name(&r->symbols, n->label) : "all");
	json_key_text(j, "module", node ? symbol_module(&r->symbols, n->label) : "");
	json_key_uint(j, "self", n->self_weight);
	json_key_uint(j, "total", n->weight);
	json_key(j, "children");
	json_array(j);
}

/*
 * Push an end mark and the children of a node; todo is popped from its end, so the heaviest child
 * is pushed last.
 */
static int report_json_push_node(const struct report *r, uint32_t node, nodes_t *todo)
{
	size_t first;
	int ret = vector_push(todo, TREE_NONE);

	first = todo->count;
	if (!ret)
		ret = report_children(r, node, todo);
	for (size_t i = first, k = todo->count; i + 1 < k; i++) {
		uint32_t swapped = todo->items[--k];

		todo->items[k] = todo->items[i];
		todo->items[i] = swapped;
	}
	return ret;
}

/* Write the tree without recursion, because a sampled program may make stacks of any depth. */
static int report_json_put_tree(struct json *j, const struct report *r)
{
	nodes_t todo = {0};
	int ret;

	json_key(j, "tree");
	report_json_begin_node(j, r, 0);
	ret = report_json_push_node(r, 0, &todo);
	while (todo.count && !ret) {
		uint32_t node = todo.items[--todo.count];

		if (node == TREE_NONE) {
			json_array_end(j);
			json_object_end(j);
			continue;
		}
		report_json_begin_node(j, r, node);
		ret = report_json_push_node(r, node, &todo);
	}
	vector_free(&todo);
	return ret;
}

static void report_json_put_recording(struct json *j, const struct report *r)
{
	const struct profile *p = r->profile;

	json_key_text(j, "skein", SKEIN_VERSION);
	json_key_text(j, "file", r->path);
	json_key(j, "host");
	report_json_put_record(j, KIND_HOST, &p->host);
	json_key(j, "finished");
	json_bool(j, p->host.end != 0);
	report_json_ended(j, r);
	json_key(j, "info");
	json_object(j);
	for (uint32_t i = 0; i < p->count.infos; i++)
		json_key_text(j, p->infos[i].key, p->infos[i].value);
	json_object_end(j);
	json_key(j, "events");
	json_array(j);
	for (uint32_t i = 0; i < p->count.events; i++)
		report_json_put_record(j, KIND_EVENT, &p->events[i]);
	json_array_end(j);
}

int report_json(const struct report *r, FILE *out, struct error *err)
{
	struct json j;
	int ret = 0, end;

	json_begin(&j, out, true);
	json_object(&j);
	report_json_put_recording(&j, r);
	json_key_text(&j, "event", r->event ? r->event->name : "");
	json_key_text(&j, "unit", r->event ? r->event->unit : "");
	json_key_uint(&j, "samples", r->count);
	json_key_uint(&j, "weight", r->weight);
	report_json_put_rates(&j, r);
	report_json_put_stacks(&j, r);
	report_json_put_named(&j, r);
	json_key_uint(&j, "samples_with_names_not_ready", r->names.unready);
	report_json_put_python(&j, r);
	report_json_put_runtimes(&j, r);
	report_json_put_accounts(&j, r);
	report_json_put_functions(&j, r, "functions", &r->functions);
	report_json_put_functions(&j, r, "python_functions", &r->python_functions);
	report_json_put_groups(&j, r);
	if (r->sched)
		ret = report_sched_json(&j, r->sched);
	if (!ret && r->off_cpu && r->options->off_cpu)
		ret = report_off_cpu_json(&j, r);
	if (r->events.handlers)
		report_handlers_json(&j, r);
	if (r->events.services)
		report_services_json(&j, r);
	if (r->events.runtime)
		report_runtime_json(&j, r);
	if (!ret && r->options->tree)
		ret = report_json_put_tree(&j, r);
	json_object_end(&j);
	end = json_end(&j);
	if (ret < 0)
		return error_errno(err, ret, "cannot show the report");
	return end < 0 ? error_errno(err, end, "cannot write the report") : 0;
}
