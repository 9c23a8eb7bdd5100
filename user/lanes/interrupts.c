// SPDX-License-Identifier: Apache-2.0
/* The rows of what served interrupts on each CPU. */
#include <errno.h>

#include "lanes/lanes.h"

/* Largest number of acts that are kept, 40 bytes each. */
#define HANDLED_MAX (1u << 19)
/* Least length (ns) by which acts are left out, if there are more. */
#define HANDLED_LEAST 16384

static bool is_handled(const struct lane_act *a)
{
	return a->fill == FILL_INTERRUPT || a->fill == FILL_SOFTIRQ;
}

/* Leave out acts shorter than a length that is doubled until half of the room is free. */
static void thin_handled(struct lanes_entities *c)
{
	while (c->handled > HANDLED_MAX / 2) {
		size_t kept = 0;

		c->handled_least = c->handled_least ? 2 * c->handled_least : HANDLED_LEAST;
		c->handled = 0;
		for (size_t i = 0; i < c->acts.count; i++) {
			const struct lane_act a = c->acts.items[i];
			bool handled = is_handled(&a);

			if (handled && a.end - a.time < c->handled_least)
				continue;
			c->handled += handled;
			c->acts.items[kept++] = a;
		}
		c->acts.count = kept;
	}
}

int lanes_add_handled(struct lanes_entities *c, const struct lane_act *a, uint64_t name)
{
	struct lane_act kept = *a;
	int ret;

	if (a->end - a->time < c->handled_least)
		return 0;
	/* name.id, until lanes_name_acts() */
	kept.name = name < LANES_NONE ? (uint32_t)name : LANES_NONE;
	ret = vector_push(&c->acts, kept);
	if (!ret && ++c->handled >= HANDLED_MAX)
		thin_handled(c);
	return ret;
}

/* Takes the texts of the names that are wanted. */
struct act_names {
	struct sink sink;
	struct lanes_entities *entities;
	struct index wanted; /* name.id -> number in entities->names + 1; 0: not found yet */
};

static int take_act_name(struct sink *sink, enum record_kind kind, const void *record,
			 struct error *err)
{
	struct act_names *n = (struct act_names *)sink;
	const struct name *name = record;
	uint32_t number;
	int ret;

	if (kind != KIND_NAME || index_get(&n->wanted, name->id) == INDEX_NONE)
		return 0;
	ret = names_intern_text(&n->entities->names, name->text ? name->text : "", &number);
	if (!ret)
		ret = index_put(&n->wanted, name->id, number + 1);
	return ret < 0 ? error_errno(err, ret, "cannot read who has lanes") : 0;
}

int lanes_name_acts(struct lanes_entities *c, struct source *source, struct error *err)
{
	static const struct sink_ops ops = {.put = take_act_name};
	struct act_names n = {.sink = {.ops = &ops, .wants = WANTS(WANT(NAME))}, .entities = c};
	int ret = 0;

	for (size_t i = 0; i < c->acts.count && !ret; i++)
		if (is_handled(&c->acts.items[i]))
			ret = index_put(&n.wanted, c->acts.items[i].name, 0);
	if (ret < 0)
		ret = error_errno(err, ret, "cannot read who has lanes");
	else if (c->handled)
		ret = source->ops->run(source, &n.sink, err);
	for (size_t i = 0; i < c->acts.count && !ret; i++) {
		struct lane_act *a = &c->acts.items[i];
		uint32_t number = is_handled(a) ? index_get(&n.wanted, a->name) : 0;

		a->name = number && number != INDEX_NONE ? number - 1 : LANES_NONE;
	}
	index_free(&n.wanted);
	return ret;
}

const struct lane_act *lanes_act_at(const struct lanes *l, uint64_t lane, uint64_t time,
				    const struct lane_act **next)
{
	const struct lanes_entities *c = &l->entities;
	size_t at = lanes_first_act(c, lane, time);
	const struct lane_act *a = &c->acts.items[at];

	*next = NULL;
	if (at < c->acts.count && a->lane == lane && a->time > time) {
		*next = a;
	} else if (at < c->acts.count && a->lane == lane) {
		*next = at + 1 < c->acts.count && a[1].lane == lane ? a + 1 : NULL;
		return a;
	}
	return at && a[-1].lane == lane ? a - 1 : NULL;
}

const struct lane_row *lanes_interrupts_of(const struct lanes *l, uint64_t cpu)
{
	for (size_t i = l->runtimes.count; i > 0; i--) {
		const struct lane_row *row = &l->runtimes.items[i - 1];

		if (row->runtime->kind == LANE_HANDLERS && row->runtime->number == cpu)
			return row;
	}
	return NULL;
}

const char *lanes_act_text(const struct lanes *l, const struct lane_act *a)
{
	return a->name == LANES_NONE ? fill_look(a->fill)->word
				     : names_text(&l->entities.names, a->name);
}
