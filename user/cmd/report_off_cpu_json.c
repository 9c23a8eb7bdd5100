// SPDX-License-Identifier: Apache-2.0
/* Write the part of a report about waits as JSON. Times are in ns, estimates with their interval.
 */
#include <stdlib.h>

#include "cmd/report_off_cpu.h"

void report_off_cpu_json_sum(struct json *j, const struct off_cpu *o, const struct wait_sum *s)
{
	struct wait_interval in = wait_sum_interval(s, (double)o->largest);

	json_key_uint(j, "stacks", s->count);
	json_key_uint(j, "waited", (uint64_t)wait_sum_total(s));
	json_key_uint(j, "low", (uint64_t)in.low);
	json_key_uint(j, "high", (uint64_t)in.high);
}

static void json_put_exact(struct json *j, const struct off_cpu *o, const struct wait_sum *s,
			   uint64_t exact)
{
	json_key_uint(j, "exact", exact);
	json_key_uint(j, "no_stack_taken", off_cpu_without_stack(o, s, exact));
}

static void json_put_stack(struct json *j, const struct report *r, const char *key, uint32_t node)
{
	const struct off_cpu *o = r->off_cpu->all;

	json_key(j, key);
	json_array(j);
	for (; node != OFF_CPU_NONE; node = o->nodes.items[node].caller)
		json_text(j, symbol_name(&r->symbols, o->nodes.items[node].symbol));
	json_array_end(j);
}

static void json_put_part(struct json *j, const struct off_cpu *o, const struct off_cpu_part *by)
{
	if (by->number == OFF_CPU_NONE)
		return;
	json_key_text(j, "main_waker", o->wakers.items[by->number]);
	json_key_uint(j, "main_waker_waited", by->weight);
}

/* Write the chain of wakers; "function" is that in which the waker had waited, if it was sampled.
 */
static void json_put_chain(struct json *j, const struct report *r, const struct off_cpu_part *main)
{
	const struct off_cpu *o = r->off_cpu->all;

	if (main->number == OFF_CPU_NONE)
		return;
	json_key_uint(j, "main_chain_waited", main->weight);
	json_key(j, "main_chain");
	json_array(j);
	for (uint32_t i = 0; i < o->chains.items[main->number].count; i++) {
		const struct off_cpu_link *l = &o->chains.items[main->number].links[i];

		json_object(j);
		json_key_text(j, "waker", o->wakers.items[l->waker]);
		json_key(j, "waited");
		json_bool(j, l->woken);
		json_key(j, "sampled");
		json_bool(j, l->sampled);
		if (l->symbol != OFF_CPU_NONE)
			json_key_text(j, "function", symbol_name(&r->symbols, l->symbol));
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_put_process(struct json *j, const struct process *p)
{
	json_key_text(j, "program", process_name(p));
	json_key_uint(j, "pid", p->pid);
}

static void json_put_row(struct json *j, const struct report *r, enum off_cpu_kind kind,
			 const struct off_cpu_row *row)
{
	const struct off_cpu *o = r->off_cpu->all;

	if (kind == OFF_CPU_CLASSES || kind == OFF_CPU_SITES)
		json_key_text(j, "class", wait_class_word(row->wait));
	if (kind != OFF_CPU_CLASSES && kind != OFF_CPU_LOCKS)
		json_key_text(j, "group", o->groups.items[row->group]);
	if (kind == OFF_CPU_WAKERS)
		json_key_text(j, "waker", o->wakers.items[row->waker]);
	if (kind == OFF_CPU_LOCKS) {
		json_put_process(j, row->process);
		json_key_uint(j, "address", row->address);
		json_key_uint(j, "threads", row->threads);
	}
	json_put_part(j, o, &row->by);
	if (kind == OFF_CPU_SITES) {
		json_put_stack(j, r, "stack", row->node);
		json_put_chain(j, r, &row->chain);
	}
	if (kind == OFF_CPU_LOCKS)
		json_put_stack(j, r, "main_stack",
			       o->tables[OFF_CPU_SITES].list.items[row->site.number].node);
	if (kind == OFF_CPU_WAKERS)
		json_put_stack(j, r, "main_stack", row->path.number);
}

static void json_put_table(struct json *j, const struct report *r, enum off_cpu_kind kind,
			   const struct exact_waits *exact)
{
	static const char *const keys[OFF_CPU_KINDS] = {[OFF_CPU_SITES] = "sites",
							[OFF_CPU_GROUPS] = "groups",
							[OFF_CPU_LOCKS] = "locks",
							[OFF_CPU_WAKERS] = "wakers",
							[OFF_CPU_CLASSES] = "classes"};
	const struct off_cpu *o = r->off_cpu->all;
	const struct off_cpu_table *t = &o->tables[kind];

	json_key(j, keys[kind]);
	json_array(j);
	for (size_t i = 0; i < report_row_limit(r, t->list.count, 0); i++) {
		const struct off_cpu_row *row = &t->list.items[i];

		json_object(j);
		report_off_cpu_json_sum(j, o, &row->sum);
		json_key_uint(j, "not_ended", row->not_ended);
		if (kind == OFF_CPU_CLASSES)
			json_put_exact(j, o, &row->sum, exact->of_class[row->wait]);
		if (kind == OFF_CPU_GROUPS)
			json_put_exact(j, o, &row->sum, exact->of_group[i]);
		json_put_row(j, r, kind, row);
		json_object_end(j);
	}
	json_array_end(j);
}

static void json_put_off_cpu_functions(struct json *j, const struct report *r)
{
	const struct off_cpu *o = r->off_cpu->all;

	json_key(j, "functions");
	json_array(j);
	for (size_t i = 0; i < report_row_limit(r, o->functions.count, 0); i++) {
		const struct off_cpu_function *f = &o->functions.items[i];

		json_object(j);
		json_key_text(j, "name", symbol_name(&r->symbols, f->symbol));
		json_key_text(j, "module", symbol_module(&r->symbols, f->symbol));
		json_key(j, "own");
		json_object(j);
		report_off_cpu_json_sum(j, o, &f->own);
		json_object_end(j);
		json_key(j, "total");
		json_object(j);
		report_off_cpu_json_sum(j, o, &f->total);
		json_object_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

int report_off_cpu_json(struct json *j, const struct report *r)
{
	const struct off_cpu *o = r->off_cpu->all;
	struct exact_waits exact;
	int ret = report_exact_waits(&exact, r);

	if (ret)
		return ret;
	json_key(j, "off_cpu");
	json_object(j);
	report_off_cpu_json_sum(j, o, &o->sum);
	json_key_uint(j, "largest_period", o->largest);
	json_put_exact(j, o, &o->sum, exact.all);
	for (int kind = 0; kind < OFF_CPU_KINDS; kind++)
		json_put_table(j, r, (enum off_cpu_kind)kind, &exact);
	json_put_off_cpu_functions(j, r);
	json_object_end(j);
	free(exact.of_group);
	return 0;
}
